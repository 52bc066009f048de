//! Generated packs: does one that passes `check --strict` never cause an internal error, or a session that it cannot
//! resume?

use crate::dice::Dice;
use proptest::prelude::*;
use rulebook::prompt::Request;
use rulebook::{Code, Folder, Options, Program, Severity};
use std::cell::Cell;
use std::fmt::Write as _;

/// The number of packs, and of answers for each: ten thousand pairs.
const PACKS: u32 = 100;
const ANSWERS: usize = 100;

/// Up to `most` of these texts, joined.
fn some(dice: &mut Dice, of: &[&str], most: usize) -> String {
    (0..dice.below(most + 1)).map(|_| dice.pick(of)).collect()
}

const DIALECTS: &[&str] = &[
    "grammar = 'tags'\ntext = 'message'\nmasks = ['code-fence', 'code-span']\nwrapper = 'code-fence'\n[dialects.d.blocks]\n\
     message = { role = 'message', decode = 'entities', holds = ['action'] }\nthinking = { role = 'thinking' }\n\
     action = { role = 'call', name = '@type', payload = ['tags', 'json'], decode = 'entities' }\nfile = { role = 'content', key = '@path' }\n",
    "grammar = 'brackets'\ntext = 'message'\n[dialects.d.blocks]\n'A*' = { role = 'call', name = '@name', payload = 'json', ends = ['payload', ['next-block', 'blank-line'], 'end'] }\n",
    "grammar = ['headers', 'tags']\ntext = 'section:summary'\nanchor = 'line'\n[dialects.d.blocks]\n\
     plan = { role = 'section', grammar = 'headers', payload = 'bullets' }\nmessage = { role = 'message', grammar = 'tags' }\n\
     action = { role = 'call', grammar = 'tags', name = '@type', payload = 'tags' }\n\
     file = { role = 'content', grammar = 'tags', key = '@path', ends = ['closer', 'quoted-closer', 'last-loose-closer', 'fence', 'next-block', 'end'], trim = ['blank-lines', 'wrapping-fence'] }\n",
    "grammar = 'json'\n[dialects.d.blocks]\nmessage = { role = 'message' }\n'calls[]' = { role = 'call', name = '@action', body = 'params' }\n\
     'files[]' = { role = 'content', name = 'file', key = 'path', body = 'text' }\n",
    "grammar = 'transcript'\nanchor = 'line'\ntext = 'message'\n[dialects.d.blocks]\n'*' = { role = 'utterance' }\n",
];
const TYPES: &[&str] = &[
    "type = 'string', minLength = 1",
    "type = 'integer', minimum = 0",
    "type = 'number'",
    "type = 'boolean'",
    "type = 'array', items = { type = 'string' }",
    "type = 'object', properties = { a = { type = 'string', required = true } }",
    "enum = ['one', 'two'], type = 'string'",
];
const EFFECTS: &[&str] = &[
    "{ append = 'list', value = '{{ params }}' }",
    "{ append = 'list', unique = ['p'], value = { p = '{{ params.p }}' } }",
    "{ set = 'count', value = '{{ state.count + 1 }}' }",
    "{ set = 'table.x', value = '{{ params.p }}', when = 'params.p is not none' }",
    "{ remove = 'table.x' }",
    "{ remove = 'list' }",
    "{ set = 'count', value = '{{ params.p }}' }",
    "{ set = 'list.0', value = '{{ params.p }}', when = 'state.list' }",
    "{ emit = 'done', value = '{{ params.p | string | upper }}' }",
    "{ emit = 'done-{{ mode }}', each = 'state.list', value = '{{ item }}' }",
    "{ write = 'out/{{ state.count }}.txt', value = '{{ params.p }}' }",
    "{ new = 'page', effects = [{ append = 'list', value = '{{ ids.page }}' }] }",
    "{ remark = 'note', text = '{{ params.p | default(1) }}' }",
    "{ say = 'hello', when = 'state.count > 2' }",
];
const CONDITIONS: &[&str] =
    &["state.count < 3", "state.list | length == 0", "params.p == 'one' or params.p is none", "mode == 'a'"];
const DEGRADATION: &[&str] = &[
    "unknown-action = 'drop'\n",
    "stray-text = 'keep-as-text'\n",
    "unclosed-block = 'keep'\n",
    "malformed-payload = ['repair', 'drop']\n",
    "invalid-payload = ['coerce', 'default', 'drop']\n",
    "forbidden-call = 'refuse'\n",
    "duplicate-block = 'join'\n",
    "missing-message = 'take-stray-text'\n",
    "guardrail = 'ask-again'\n",
    "unknown-param = 'ask-again'\n",
    "nested-block = 'lift'\n",
];
const RULES: &[&str] = &[
    "on = 'start'\neffects = [{ say = 'hello' }]\n",
    "on = 'reply'\nwhen = 'reply.message != none'\neffects = [{ set = 'count', value = '{{ reply.message | length }}' }]\n",
    "on = 'utterance'\neffects = [{ append = 'list', value = '{{ speaker }}: {{ text }}' }]\n",
    "on = 'input.any'\neffects = [{ append = 'list', value = '{{ text }}' }]\n",
];
const PIECES: &[&str] = &[
    "<message>",
    "</message>",
    "<thinking>",
    "</thinking>",
    "<action type=\"act0\">",
    "<action type='act1'/>",
    "</action>",
    "<p>one</p>",
    "<p>7</p>",
    "<p>",
    "</p>",
    "<file path=\"a/b.txt\">",
    "<file path='../x'>",
    "</file>",
    "[ACT0]{\"p\": \"one\"}",
    "[ACT1]",
    "{\"p\": 1,}",
    "[A",
    "### Plan\n",
    "- a.txt\n",
    "```xml\n",
    "```\n",
    "`",
    "\n",
    "\n\n",
    " ",
    "Hello",
    "loud!!!",
    "Maya (Lead): hi\n",
    "Bob: ",
    "&lt;",
    "&#0;",
    "\u{0}",
    "\u{1f600}",
    "{\"message\": \"hi\"",
    "\"calls\": [{\"action\": \"act0\", \"params\": {\"p\": \"one\"}}]",
    "\"files\": [{\"path\": \"a\", \"text\": \"b\"}]",
    ",",
    "{",
    "}",
    "]",
    "\"",
    "\\n",
    "{{ params }}",
    "{% if %}",
];

fn pack(dice: &mut Dice) -> String {
    let kind = dice.below(DIALECTS.len());
    let names: &[&str] = if kind == 1 { &["ACT0", "ACT1"] } else { &["act0", "act1"] };
    let mut text = format!(
        "[pack]\nname = 'g'\n[check]\nallow = ['pack/unread-state', 'pack/unset-state']\n[dialects.d]\n{}[state]\ncount = {{ type = 'integer', default = 0, maximum = 9 }}\n\
         list = {{ type = 'array', default = [], items = {{ maxLength = 20 }}{} }}\ntable = {{ type = 'object', default = {{}}, properties = {{ x = {{ maxLength = 3 }} }} }}\n[messages.hello]\nsays = 'Hello {{{{ state.count }}}}'\n",
        DIALECTS[kind],
        dice.pick(&["", ", maxItems = 3"])
    );
    for name in names {
        let required = dice.pick(&["", ", required = true"]);
        _ = write!(text, "[actions.{name}]\nparams = {{ p = {{ {}{required} }} }}\neffects = [", dice.pick(TYPES));
        for _ in 0..dice.below(4) {
            _ = write!(text, "{}, ", dice.pick(EFFECTS));
        }
        text += "]\n";
    }
    for mode in ["a", "b"].iter().take(1 + dice.below(2)) {
        _ = write!(text, "[modes.{mode}]\npermits = [");
        for name in names {
            match dice.below(3) {
                0 => _ = write!(text, "{{ action = '{name}', when = \"{}\" }}, ", dice.pick(CONDITIONS)),
                _ => _ = write!(text, "'{name}', "),
            }
        }
        text += "]\n";
    }
    let mut words: Vec<&str> = (0..dice.below(5)).map(|_| dice.pick(DEGRADATION)).collect();
    words.sort_unstable();
    words.dedup();
    _ = write!(text, "[degradation]\n{}", words.concat());
    if dice.one_in(2) {
        text += "[[inputs]]\nclass = 'any'\nmatches = '(?P<word>\\w+)'\n";
    }
    for number in 0..dice.below(3) {
        _ = write!(text, "[[rules]]\nid = 'r{number}'\n{}", dice.pick(RULES));
    }
    if dice.one_in(2) {
        text += "[[guardrails]]\nid = 'loud'\non = 'message'\nmatches = '!{2}'\n";
    }
    text
}

/// The codes of internal errors.
fn ours<'c>(codes: impl Iterator<Item = &'c Code>) -> Vec<&'c Code> {
    codes.filter(|code| code.as_str().starts_with("internal/")).collect()
}

fn examine(program: &Program, dice: &mut Dice) -> Result<(), TestCaseError> {
    let mut session = program.session();
    for _ in 0..ANSWERS {
        let answer = some(dice, PIECES, 16);
        let options = Options { truncated: dice.one_in(8), trace: dice.one_in(4), ..Options::default() };
        let outcome = program.run_with(&session, answer.as_bytes(), &options);
        prop_assert!(
            ours(outcome.diagnostics.iter().map(|one| &one.code)).is_empty(),
            "{answer:?}: {:#?}",
            outcome.diagnostics
        );
        let heard = program.hear(&outcome.session, &answer, &Options::default());
        prop_assert!(
            ours(heard.diagnostics.iter().map(|one| &one.code)).is_empty(),
            "{answer:?}: {:#?}",
            heard.diagnostics
        );
        let kept = serde_json::to_value(&heard.session).unwrap();
        prop_assert_eq!(program.resume(&kept), Ok(heard.session.clone()));
        session = if dice.one_in(10) { program.session() } else { heard.session };
    }
    let prompt = program.prompt(&session, &Request::default());
    prop_assert!(ours(prompt.diagnostics.iter().map(|one| &one.code)).is_empty());
    Ok(())
}

#[test]
fn a_pack_that_passes_check_causes_no_fault_of_ours() {
    let (passed, tried) = (Cell::new(0), Cell::new(0));
    let config =
        ProptestConfig { cases: PACKS, failure_persistence: None, max_shrink_iters: 100, ..ProptestConfig::default() };
    let checked = proptest::test_runner::TestRunner::new(config).run(&any::<u64>(), |seed| {
        let dice = &mut Dice(seed);
        // A random pack that does not pass is replaced by another one.
        for _ in 0..50 {
            let text = pack(dice);
            tried.set(tried.get() + 1);
            let loaded = rulebook::check::review(&Folder::new("g", [("pack.toml", text.as_str())]));
            let clean = loaded.diagnostics.iter().all(|one| one.severity == Severity::Info);
            if let Some(program) = loaded.value.filter(|_| clean) {
                passed.set(passed.get() + 1);
                return examine(&program, dice).map_err(|error| match error {
                    TestCaseError::Fail(why) => TestCaseError::fail(format!("{why}\n{text}")),
                    other => other,
                });
            }
        }
        Err(TestCaseError::fail(format!("none of fifty packs passes, such as\n{}", pack(dice))))
    });
    assert!(checked.is_ok(), "{}", checked.unwrap_err());
    assert!(passed.get() >= PACKS as usize, "{} of {} packs", passed.get(), tried.get());
}
