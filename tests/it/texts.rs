//! Texts: what might a model or an attacker write?
//!
//! Pieces of every dialect, valid and malformed, are combined at random and then cut, broken or doubled.

use proptest::prelude::*;
use proptest::sample::select;
use rulebook::{Checked, Folder, Outcome, Program, Severity};
use rulebook_fs::read_pack;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// The packs for which every property is checked.
pub(crate) const PACKS: &[&str] = &[
    "rules/couple-ai",
    "rules/dce",
    "rules/roundtable",
    "rules/writers-factory",
    "tests/packs/fenced-answers",
    "tests/packs/own-grammar",
    "tests/packs/quotation-marks",
    "tests/packs/side-by-side",
    "tests/packs/tool-calls",
];

/// A pack of this repository, loaded once.
pub(crate) fn program(path: &'static str) -> &'static Program {
    static LOADED: OnceLock<Mutex<BTreeMap<&'static str, &'static Program>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    loaded.entry(path).or_insert_with(|| {
        let files = read_pack(&crate::root().join(path)).unwrap();
        Box::leak(Box::new(Program::load(&files.folder).value.unwrap()))
    })
}

/// How much a test tries: so many times the usual as the environment variable `THOROUGH` says, which is 10 every night.
pub(crate) fn thorough(usual: usize) -> usize {
    let times = std::env::var("THOROUGH").ok().and_then(|times| times.parse().ok());
    usual * times.unwrap_or(1)
}

/// The program of a pack that consists of this `pack.toml`.
pub(crate) fn program_of(pack: impl Into<Vec<u8>>) -> Program {
    program_with([("pack.toml", pack)])
}

/// The program of a pack of these files.
pub(crate) fn program_with(files: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>) -> Program {
    Program::load(&Folder::new("p", files)).into_result().unwrap()
}

/// A finding as its reader sees it: `word` is the marked text; without a place or a help, that text is empty.
#[derive(Debug)]
pub(crate) struct Reported {
    pub(crate) severity: Severity,
    pub(crate) code: String,
    pub(crate) word: String,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// The findings of `check` for a pack of these files.
pub(crate) fn reviewed(files: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>) -> Vec<Reported> {
    reported(&rulebook::check::review(&Folder::new("p", files)))
}

/// The findings that keep a pack of these files from being used, and the warnings beside them.
pub(crate) fn faults(files: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>) -> Vec<Reported> {
    reported(&rulebook::check::faults(&Folder::new("p", files)))
}

/// The findings of a check.
pub(crate) fn reported<T>(checked: &Checked<T>) -> Vec<Reported> {
    let word = |at: rulebook::text::Location| at.span.of(checked.sources.get(at.source).unwrap().text()).to_owned();
    let reported = checked.diagnostics.iter().map(|one| Reported {
        severity: one.severity,
        code: one.code.to_string(),
        word: one.at.map(word).unwrap_or_default(),
        message: one.message.to_string(),
        help: one.help.as_ref().map(ToString::to_string).unwrap_or_default(),
    });
    reported.collect()
}

/// Checks that every byte of the response is in the ledger once.
#[track_caller]
pub(crate) fn ledger_is_exact(outcome: &Outcome, response: &str) {
    let ledger = serde_json::to_value(outcome.ledger).unwrap();
    let parts = ledger.as_object().unwrap().iter().filter(|(name, _)| *name != "bytes");
    let sum: u64 = parts.map(|(_, bytes)| bytes.as_u64().unwrap()).sum();
    assert_eq!((outcome.ledger.bytes, sum), (response.len(), response.len() as u64), "{ledger}");
}

/// Bytes that a failed test prints as text.
#[derive(Clone)]
pub(crate) struct Answer(pub(crate) Vec<u8>);

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl std::ops::Deref for Answer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// A pack, one of its modes, and bytes that might be an answer.
pub(crate) fn cases() -> impl Strategy<Value = (&'static str, String, Answer)> {
    select(PACKS).prop_flat_map(|pack| {
        let modes: Vec<String> = program(pack).modes().map(str::to_owned).collect();
        (Just(pack), select(modes), bytes(pack))
    })
}

/// Bytes that might be an answer in one of the pack's dialects.
pub(crate) fn bytes(pack: &'static str) -> impl Strategy<Value = Answer> {
    let change = prop_oneof![
        6 => Just(Change::None),
        2 => any::<prop::sample::Index>().prop_map(Change::Cut),
        1 => any::<prop::sample::Index>().prop_map(Change::Behead),
        1 => (any::<prop::sample::Index>(), select(BROKEN)).prop_map(|(at, bytes)| Change::Break(at, bytes)),
        1 => select(&["```\n", "```xml\n", "~~~\n", "\u{feff}```\n", " ```` md\n"][..]).prop_map(Change::Wrap),
        1 => Just(Change::LineBreaks),
    ];
    (prop::collection::vec(piece(pack), 0..14), change).prop_map(|(pieces, change)| Answer(change.of(pieces.concat())))
}

#[derive(Debug, Clone)]
enum Change {
    None,
    Cut(prop::sample::Index),
    Behead(prop::sample::Index),
    Break(prop::sample::Index, &'static [u8]),
    Wrap(&'static str),
    LineBreaks,
}

const BROKEN: &[&[u8]] = &[b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80\x80", b"\xed\xa0\x80", b"\0"];

impl Change {
    fn of(self, text: String) -> Vec<u8> {
        let mut bytes = text.into_bytes();
        let length = bytes.len() + 1;
        match self {
            Change::None => {}
            Change::Cut(at) => bytes.truncate(at.index(length)),
            Change::Behead(at) => drop(bytes.drain(..at.index(length))),
            Change::Break(at, broken) => {
                let at = at.index(length);
                bytes.splice(at..at, broken.iter().copied());
            }
            Change::Wrap(opener) => {
                let fence: Vec<u8> = opener.bytes().filter(|byte| matches!(byte, b'`' | b'~')).collect();
                bytes = [opener.as_bytes(), &bytes, b"\n", &fence, b"\n"].concat();
            }
            Change::LineBreaks => {
                bytes = bytes.split_inclusive(|byte| *byte == b'\n').fold(Vec::new(), |mut all, line| {
                    let (body, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
                    all.extend_from_slice(body);
                    all.extend_from_slice(if end.is_empty() { b"" } else { b"\r\n" });
                    all
                });
            }
        }
        bytes
    }
}

fn piece(pack: &'static str) -> BoxedStrategy<String> {
    let brackets = prop_oneof![bracket_call(&BRACKET_ACTIONS), select(BRACKETS).prop_map(str::to_owned)].boxed();
    let own = match pack {
        "rules/couple-ai" => bracket_call(&BRACKET_ACTIONS).boxed(),
        "rules/dce" => select(FILES).prop_map(str::to_owned).boxed(),
        "rules/roundtable" => select(LINES).prop_map(str::to_owned).boxed(),
        "rules/writers-factory" => tags(&WRITERS).boxed(),
        "tests/packs/fenced-answers" => {
            prop_oneof![2 => select(FENCED).prop_map(str::to_owned), 1 => tags(&DESK)].boxed()
        }
        "tests/packs/own-grammar" => select(BRACES).prop_map(str::to_owned).boxed(),
        "tests/packs/quotation-marks" => select(MENTIONED).prop_map(str::to_owned).boxed(),
        "tests/packs/tool-calls" => select(TOOLS).prop_map(str::to_owned).boxed(),
        _ => prop_oneof![3 => tags(&SIDES), 1 => bracket_call(&["DO_ADD", "DO_NOTHING"])].boxed(),
    };
    let noise = match pack {
        "rules/couple-ai" => brackets,
        "tests/packs/own-grammar" => select(BRACES).prop_map(str::to_owned).boxed(),
        _ => prop_oneof![4 => select(TAG_NOISE).prop_map(str::to_owned), 1 => brackets].boxed(),
    };
    prop_oneof![
        4 => own,
        3 => noise,
        3 => select(PROSE).prop_map(str::to_owned),
        1 => payload(),
        1 => "[ -~\n]{0,12}",
    ]
    .boxed()
}

/// Pieces of answers with files.
const FILES: &[&str] = &[
    "<summary>\nWhat I did.\n</summary>\n",
    "<summary>What I did.</summary>\n",
    "<course_of_action>\n1. **One** `</file>`\n</course_of_action>\n",
    "<Course_Of_Action>",
    "</course_of_action>\n",
    "<file path=\"src/a.ts\">\n",
    "<file path='src/b.ts'>\n```ts\nlet x = `<file path=\"c\">`;\n```\n</file_artifact>\n",
    "<file path=\"README.md\">\n# T\n```sh\nls\n```\n</file>\n",
    "</file>",
    "\n</file>\n",
    "</file_path><summary>",
    "\n```</file>\n",
    "<src/a/b c.ts>\n",
    "</src/a/b c.ts>\n",
    "\n</b c.ts>\n",
    "<A0. Master List (1).md>\nx\n</A0. Master List (1).md>\n",
    "<deploy.js>\n<motion.div>\n</motion.div>\n",
    "### Course of Action\n",
    "## **course of action:**\n",
    "### Files Updated This Cycle:\n",
    "**Files updated**\n",
    "* `src/a.ts` (Updated)\n",
    "- README.md (New)\n",
    "```xml\n",
    "\n``````xml\n",
    "\n```\n",
    "\n***\n",
    "***```xml\n",
    "<response a>\n",
    "\n</response a>\n",
    "analysisWe think. ",
    "So.assistantfinal]",
    "    ",
];

/// Pieces of answers in code fences.
const FENCED: &[&str] = &[
    "```\n",
    "\n```\n",
    "```xml\n",
    "~~~~ xml\n",
    "\n~~~~\n",
    "```\n<message>Hello.</message>\n```\n",
    "```xml\n<message>One\n",
    "```\n<message a=\"",
    "\"></message>\n",
    "```\nSee:\n<action type=\"note\"><text>Milk</text></action>\n```\n",
    "`<message>span</message>`",
    "`` <outline>span</outline> ``",
    "<thinking>So.</thinking>\n",
    "</thinking>\n",
    "<message>Hello.</message>\n",
    "<outline>One</outline>\n",
    "<file path=\"a.md\">\n# A\n</file>\n",
    "- ```\n  <message>In a list.</message>\n  ```\n",
    "   ",
];

/// Pieces of text in quotation marks, some of them incomplete.
const MENTIONED: &[&str] = &[
    "\"<action type=\"note\"><text>Milk</text></action>\"",
    "“<action type=\"note\"><text>Milk</text></action>”",
    "„<message>Hello.</message>“ ",
    "<action type=\"note\"><text>Milk</text></action>",
    "'<ping/>'",
    "<ping/>",
    "«<message>",
    "<message>",
    "</message>",
    "</message>»",
    "</action>\"",
    "\"[NOTE]{\"text\": \"Milk\"}\"",
    "`[NOTE]{\"text\": \"Milk\"}`",
    "[NOTE]{\"text\": \"Milk\"}",
    "\"{\"say\": \"x\"}\"",
    "{\"say\": \"Noted.\", \"calls\": [{\"action\": \"note\", \"params\": {\"text\": \"Milk\"}}]}",
    "\"",
    "'",
    "`",
    "«",
    "”",
    "\n\n",
    "\n",
    "Words. ",
];

static DESK: Names = Names {
    blocks: &["message", "thinking", "outline", "action", "file"],
    call: ("action", "type"),
    actions: &["note", "fly"],
    fields: &[("text", &["Milk", ""]), ("extra", &["e"])],
};

/// Lines of a transcript, valid and malformed.
const LINES: &[&str] = &[
    "Maya Chen (Business Analyst): Who benefits from this?\n\n",
    "Alex Rivera (Solutions Architect): I agree with Maya that\nit is risky.\n\nReally.\n",
    "\nJordan Park (System Designer): sync(state) -> Result\n",
    "Maya Chen (System Designer): hm\n",
    "Maya Chen (Business Analyst):no space\n",
    "Maya Chen (Business Analyst):   three\n",
    "Maya Chen (Business Analyst):\n",
    "  Alex Rivera (Solutions Architect): indented\n",
    "```\nAlex Rivera (Solutions Architect): quoted\n```\n",
    "Guest Star (Critic): hello\n",
    "Maya (BA): short\n",
    "Maya Chen (): none\n",
    "Maya Chen (Business Analyst) no colon\n",
    "A B C D E F G H I (too many words): x\n",
    "é́mile Öz (x): y\n",
];

/// The names in a dialect of tags.
struct Names {
    blocks: &'static [&'static str],
    call: (&'static str, &'static str),
    actions: &'static [&'static str],
    fields: &'static [(&'static str, &'static [&'static str])],
}

static WRITERS: Names = Names {
    blocks: &["message", "thinking", "content_update", "action"],
    call: ("action", "type"),
    actions: &[
        "query_notebook", "save_decision", "write_template", "update_status", "start_tournament", "select_winner",
        "generate_bundle", "generate_scaffold", "write_scene", "run_health_check", "apply_edit", "fly",
        "SAVE_DECISION",
    ],
    fields: &[
        ("notebook_id", &["n1", ""]),
        ("query", &["who?", "a &lt; b"]),
        ("category", &["world", "nothing"]),
        ("key", &["k", "k", ""]),
        ("value", &["v", "<b>v</b>"]),
        ("template", &["theme", "plot"]),
        ("content", &["{\"a\": 1}", "<fatal_flaw>x</fatal_flaw>", "text"]),
        ("status", &["complete", "done"]),
        ("missing", &["a, b", "[]"]),
        ("passage", &["p"]),
        ("agent", &["x"]),
        ("locked", &["true", "yes"]),
        ("chapter", &["1", "-1", "007", "3.0"]),
        ("scene", &["2", "two"]),
        ("title", &["t"]),
        ("text", &["She ran."]),
        ("scope", &["act", "book"]),
        ("target", &["ch1"]),
        ("replacement", &["r"]),
    ],
};

static SIDES: Names = Names {
    blocks: &["reply", "plan", "summary", "file", "do", "say"],
    call: ("do", "what"),
    actions: &["add", "note", "wipe", "fly", "DO_ADD"],
    fields: &[
        ("n", &["1", "2", "7", "-1", "x", " 3 "]),
        ("unit", &["m", "S", "km"]),
        ("text", &["t", ""]),
        ("extra", &["e"]),
    ],
};

fn tags(names: &'static Names) -> impl Strategy<Value = String> {
    let (name, key) = names.call;
    let call = (cased(name), attribute(key, names.actions), fields(names), any::<bool>()).prop_map(
        |(name, attribute, fields, closed)| {
            let closer = if closed { format!("</{name}>") } else { String::new() };
            format!("<{name} {attribute}>{fields}{closer}")
        },
    );
    let json = (attribute(key, names.actions), payload())
        .prop_map(move |(attribute, payload)| format!("<{name} {attribute}>{payload}</{name}>"));
    let block =
        (select(names.blocks).prop_flat_map(cased), inline(names), any::<bool>()).prop_map(|(name, body, closed)| {
            let closer = if closed { format!("</{name}>") } else { String::new() };
            format!("<{name}>{body}{closer}\n")
        });
    let content =
        (select(&["content_update", "file"][..]), attribute("target", &["ch1", "../x", "a/b.md"]), inline(names))
            .prop_map(|(name, attribute, body)| {
                let attribute = if name == "file" { attribute.replacen("target", "path", 1) } else { attribute };
                format!("\n<{name} {attribute}>{body}</{name}>\n")
            });
    let loose = (select(names.blocks).prop_flat_map(cased), select(LOOSE))
        .prop_map(|(name, loose)| loose.replace("NAME", &name));
    // Most fields are in an action that has them, so that some calls are accepted.
    let good = select(GOOD_CALLS).prop_map(str::to_owned);
    prop_oneof![3 => call, 1 => json, 3 => block, 1 => content, 2 => loose, 3 => good]
}

fn inline(names: &'static Names) -> impl Strategy<Value = String> {
    let call = (attribute(names.call.1, names.actions), fields(names))
        .prop_map(move |(attribute, fields)| format!("<{0} {attribute}>{fields}</{0}>", names.call.0));
    let text = select(PROSE).prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![4 => text, 1 => call, 1 => select(TAG_NOISE).prop_map(str::to_owned)], 0..3)
        .prop_map(|pieces| pieces.concat())
}

fn cased(name: &'static str) -> impl Strategy<Value = String> {
    select(vec![
        name.to_owned(),
        name.to_owned(),
        name.to_owned(),
        name.to_uppercase(),
        format!("{}{}", name[..1].to_uppercase(), &name[1..]),
    ])
}

fn attribute(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    let form = select(
        &[
            "K=\"V\"",
            "K='V'",
            "K=V",
            "K = \"V\"",
            "K\n=\n'V'",
            "a=1 K=\"V\" b='2'",
            "K=\"V",
            "K=",
            "V",
            "k=\"<action type='fly'>\" K=\"V\"",
        ][..],
    );
    let form = prop_oneof![3 => Just("K=\"V\""), 1 => form];
    (form, select(values)).prop_map(move |(form, value)| form.replace('K', key).replace('V', value))
}

fn fields(names: &'static Names) -> impl Strategy<Value = String> {
    let field = select(names.fields).prop_flat_map(|(name, values)| (Just(name), select(values), 0..10u8)).prop_map(
        |(name, value, form)| match form {
            0 => format!("<{name}>{value}"),
            1 => format!("<{name}/>"),
            2 => format!("<{}>{value}</{name}>", name.to_uppercase()),
            3 => format!("{value}</{name}>"),
            _ => format!("<{name}>{value}</{name}>\n"),
        },
    );
    prop::collection::vec(field, 0..5).prop_map(|fields| fields.concat())
}

fn bracket_call(actions: &'static [&'static str]) -> impl Strategy<Value = String> {
    let payload = prop_oneof![2 => select(GOOD_PAYLOADS).prop_map(str::to_owned), 1 => payload()];
    (select(actions), select(&["", "", "", " ", "\n", " x "][..]), payload)
        .prop_map(|(action, between, payload)| format!("[{action}]{between}{payload}"))
}

/// JSON, valid and malformed.
fn payload() -> BoxedStrategy<String> {
    let scalar = select(
        &[
            "1", "-1", "3.0", "1e2", "1.5", "\"x\"", "\"\"", "\" \"", "\"[ACTION_X]{\"", "\"</action>\"", "\"\\\"}\"",
            "'x'", "null", "true", "True", "\"é日🙂\"", "{", "", "// c", "\"open",
        ][..],
    )
    .prop_map(str::to_owned);
    let value = scalar.prop_recursive(3, 12, 4, |inner| {
        let key = select(
            &["\"docId\"", "\"title\"", "\"n\"", "\"text\"", "\"page\"", "n", "'key'", "\"key\"", "\"sections\""][..],
        );
        prop_oneof![
            (prop::collection::vec((key, inner.clone()), 0..4), select(&["}", "}", "}", ",}", ""][..])).prop_map(
                |(members, end)| {
                    let members: Vec<String> =
                        members.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
                    format!("{{{}{end}", members.join(", "))
                }
            ),
            (prop::collection::vec(inner, 0..4), select(&["]", "]", ",]", ""][..]))
                .prop_map(|(items, end)| format!("[{}{end}", items.join(","))),
        ]
    });
    value.boxed()
}

const BRACKET_ACTIONS: [&str; 5] =
    ["ACTION_INGEST_DOC", "ACTION_CREATE_CRITIQUE_PAGE", "ACTION_PREPARE_PUBLICATION", "ACTION_FLY", "ACTION_"];

const BRACKETS: &[&str] = &[
    "[ACTION_",
    "[ACTION_X",
    "[action_x]{}",
    "[ACTION_INGEST_DOC]",
    "[ACTION_X]{\"a\": \"",
    "[ACTION_X]{",
    "]",
    "}",
    "{",
    "\"",
    "\\",
    "[DO_ADD]{\"n\": 1}",
    "[DO_ADD]{\"n\": 7}",
    "[DO_",
];

/// Payloads that match the actions of the packs.
const GOOD_PAYLOADS: &[&str] = &[
    r#"{"docId":"d","title":"T","summary":"S","totalChapters":3,"writingStyle":"w","authorHabits":["h"],"lastAnalyzedChapter":1e0}"#,
    r#"{"docId":"e","title":"T","summary":"[ACTION_X]{}","totalChapters":3,"writingStyle":"w","authorHabits":["h"],"lastAnalyzedChapter":1,"more":1}"#,
    r#"{"page":{"title":"T","content":"C"}}"#,
    r#"{"page":{"title":"T","content":"C"},"profileId":"profile-1"}"#,
    r#"{"platform":"P","storyUrl":"https://x.y/z","chapterTitle":"C","contentSourcePageId":"page-1"}"#,
    r#"{"n": 1}"#,
    r#"{"n": 2, "n": 9}"#,
];

const GOOD_CALLS: &[&str] = &[
    "<action type=\"query_notebook\"><notebook_id>n</notebook_id><query>who?</query></action>",
    "<action type='save_decision'><category>world</category><key>k</key><value>a &amp; b</value></action>\n",
    "<action type=update_status><template>theme</template><status>complete</status></action>",
    "<action type=\"start_tournament\">{\"passage\": \"p\", \"agents\": [\"a\"]}</action>",
    "<ACTION TYPE=\"write_scene\"><chapter>1</chapter><scene>2</scene><text>She ran.</text></ACTION>",
    "<action type=\"apply_edit\"><target>c</target><replacement>r</replacement></action>",
    "<action type=\"run_health_check\"/>",
    "<do what=\"add\"><n>1</n></do>",
    "<do what=\"add\"><n>5</n><unit>s</unit></do>\n",
    "<do what=\"add\">{\"n\": 2,}</do>",
    "<do what=\"note\"><text>t</text></do>",
    "<do what=\"wipe\"/>",
    "[DO_ADD]{\"n\": 2}",
    "<message>Hello.</message>\n",
    "<reply>Hello.</reply>\n",
];

const LOOSE: &[&str] = &[
    "<NAME>",
    "</NAME>",
    "<NAME/>",
    "<NAME",
    "<NAME ",
    "</NAME",
    "< NAME>",
    "<NAME a=>",
    "<NAME a=\"x>",
    "</ NAME>",
    "<NAMEs>",
    "<NAME\n>",
    "`<NAME>`",
    "```\n<NAME>\n```\n",
    "<NAME a=\"</NAME>\">",
    "<NAME a='<NAME>'>",
    "</NAME >",
];

const TAG_NOISE: &[&str] = &[
    "<", ">", "</", "<b>bold</b>", "<div class='a'>", "<br/>", "&lt;", "&amp;lt;", "&#65;", "&#xD800;", "&bogus;", "&",
    "a < b", "<!-- x -->", "<thought>", "</thought>", "</plan>", "\"", "'", "<![CDATA[x]]>", "<?xml?>",
];

const BRACES: &[&str] = &[
    "{{",
    "}}",
    "{{/tool}}",
    "{{#note path=\"a\"}}text{{/note}}",
    "{{#note path=../x}}\n\ntext\n{{/note}}\n",
    "{{#aside}}hm{{/aside}}",
    "{{#tool type=remind}}{\"day\": \"mon\", \"text\": \"x\"}{{/tool}}",
    "{{#tool type=remind}}{\"day\": \"m\"}{{/tool}}\n",
    "{{#tool type=fly}}{}{{/tool}}",
    "{{#tool type=\"rem\n",
    "{{#tool type=remind}}",
    "{{#TOOL}}",
    "{{#note a={{#tool}}}}",
    "{{/aside }}",
];

const TOOLS: &[&str] = &[
    "<tool_call>{\"name\": \"light_on\", \"arguments\": {\"room\": \"kitchen\"}}</tool_call>",
    "<tool_call>{\"name\": \"refund\", \"arguments\": \"{\\\"order\\\": \\\"A-1\\\", \\\"amount\\\": 1}\"}</tool_call>",
    "<tool_call>{\"name\": 'refund', \"arguments\": {\"order\": \"A-1\",}}</tool_call>\n",
    "<tool_call>[{\"name\": 1}]",
    "\n## Reply\nDone. # Actions\n",
    "\n## Actions\n```json\n[{\"action\": \"light_on\", \"room\": \"kitchen\"}, {\"action\": \"fly\"}]\n```\n",
    "\n## Actions\n[{\"action\": \"light_on\", \"room\": \"attic\"},, \"x\", {'action': \"light_on\"},]\n",
    "\n## Actions\n[]\n",
    "\n## actions:\n{\"action\": \"refund\", \"order\": \"A-1\", \"amount\": 2}",
    "\n## Actions\n[{\"action\": \"light_on\"",
    "<<light_on room=kitchen, level=\"50\">>",
    "<<light_on room=kitchen room=bedroom>>",
    "<<refund order=\"A-1\" amount=1 for=me>>",
    "`<<light_on room=kitchen>>`",
    "<<light_on",
    "<<fly>>",
];

const PROSE: &[&str] = &[
    "", " ", "Hello. ", "A line\n", "\n", "\n\n", "\r\n", " \t\n", "é", "日本語", "🙂", "\u{feff}", "\u{2028}",
    "\u{a0}", "`", "``", "```", "```\n", "\n```rust\n", "~~~\n", "\n````\n", "`code`", "`` ` ``", "*", "# Title\n",
    "- item\n", "    ```\n", "It's \"so\". ",
];
