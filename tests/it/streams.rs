//! Streams: do the events before the end of an answer agree with its outcome?

use crate::dice::Dice;
use crate::texts::{PACKS, cases, program_of, thorough};
use proptest::prelude::*;
use rulebook::outcome::Status;
use rulebook::{Folder, Options, Outcome, Program, Role, Session, StreamEvent};
use rulebook_fs::{cases_below, packs_below, read_pack};
use serde_json::json;
use std::path::Path;
use std::sync::OnceLock;

const ROLES: [Role; 5] = [Role::Thinking, Role::Message, Role::Section, Role::Content, Role::Utterance];

/// The texts of a role in an outcome, joined.
fn texts(outcome: &Outcome, role: Role, shows: Option<&str>) -> String {
    match role {
        Role::Message => outcome.message.clone(),
        Role::Thinking => outcome.thinking.concat(),
        Role::Section => {
            let sections = outcome.sections.iter().filter(|one| Some(one.name.as_str()) != shows);
            sections.map(|one| one.text.as_str()).collect()
        }
        Role::Content => outcome.contents.iter().map(|one| &*one.text).collect(),
        _ => outcome.utterances.iter().map(|one| one.text.as_str()).collect(),
    }
}

/// The texts of a role in events, joined.
fn emitted(events: &[StreamEvent], role: Role) -> String {
    let texts = events.iter().filter_map(|event| match event {
        StreamEvent::Text { role: Some(its), text, .. } if *its == role => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The events before the end of the response, all events, and the outcome.
fn stream(
    program: &Program,
    session: &Session,
    response: &[u8],
    cuts: &[usize],
) -> (Vec<StreamEvent>, Vec<StreamEvent>, Outcome) {
    let mut reader = program.reader(session, &Options::default());
    let (mut events, mut from) = (Vec::new(), 0);
    for cut in cuts.iter().copied().chain([response.len()]) {
        events.extend(reader.push(&response[from..cut]));
        from = cut;
    }
    let (outcome, last) = reader.finish();
    let before = events.clone();
    events.extend(last);
    (before, events, outcome)
}

/// The pack with `hold = "settled"`, which emits text early even if an answer may be refused; and the name of the
/// section that is its message.
fn settled(pack: &Path) -> (Program, Option<String>) {
    let mut folder = read_pack(pack).unwrap().folder;
    folder.files.insert("zz-hold.toml".to_owned(), b"[reply]\nhold = \"settled\"\n".to_vec());
    let texts = || folder.files.values().filter_map(|text| std::str::from_utf8(text).ok());
    let shows = texts().flat_map(str::lines).find_map(|line| line.trim().strip_prefix("shows"));
    let shows = shows.and_then(|rest| rest.split('"').nth(1)).map(str::to_owned);
    (Program::load(&folder).into_result().unwrap(), shows)
}

/// One of the packs for random answers, loaded once.
fn settled_once(pack: &str) -> &'static (Program, Option<String>) {
    static LOADED: OnceLock<Vec<(Program, Option<String>)>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| PACKS.iter().map(|pack| settled(&crate::root().join(pack))).collect());
    &loaded[PACKS.iter().position(|known| *known == pack).unwrap()]
}

/// Checks that the texts emitted early are a prefix of those in the outcome, and that all of them are emitted in the
/// end.
fn agree(before: &[StreamEvent], whole: &[StreamEvent], outcome: &Outcome, shows: Option<&str>) -> Result<(), String> {
    for role in ROLES {
        let (early, all, shown) = (emitted(before, role), emitted(whole, role), texts(outcome, role, shows));
        if !shown.starts_with(&early) {
            return Err(format!("{role:?}: {early:?}\nis no start of {shown:?}"));
        }
        if all != shown {
            return Err(format!("{role:?}: {all:?}\nis not {shown:?}"));
        }
    }
    Ok(())
}

/// A multiple of the usual number of texts, which `PROPTEST_CASES` raises for a long run.
fn cases_of(times: u32) -> u32 {
    ProptestConfig::default().cases * times
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases_of(16), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts_are_emitted_as_the_outcome_has_them(
        (pack, mode, response) in cases(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let (program, shows) = settled_once(pack);
        let session = program.resume(json!({ "mode": mode })).unwrap();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(response.len() + 1)).collect();
        places.sort_unstable();
        let (before, whole, outcome) = stream(program, &session, &response, &places);
        let each: Vec<usize> = (0..response.len()).collect();
        let (bytes, ..) = stream(program, &session, &response, &each);
        for role in ROLES {
            prop_assert_eq!(emitted(&before, role), emitted(&bytes, role), "{:?} of any cutting", role);
        }
        if outcome.status != Status::Refused {
            let agrees = agree(&before, &whole, &outcome, shows.as_deref());
            prop_assert!(agrees.is_ok(), "{}", agrees.unwrap_err());
        }
    }
}

/// An attribute that is not closed may quote what follows it, so reading waits; how long it waits does not depend on
/// the pieces in which the answer arrives.
#[test]
fn an_open_attribute_waits_alike_in_all_pieces() {
    let (program, _) = settled_once("tests/packs/side-by-side");
    for response in ["<do what=\"add\"></do><say a=\"x><reply><b>bold</b>\n", "<say a=\"é><reply>some more text"] {
        let early = |size: usize| {
            let cuts: Vec<usize> = (0..response.len()).step_by(size).collect();
            emitted(&stream(program, &program.session(), response.as_bytes(), &cuts).0, Role::Message)
        };
        for size in 2..=response.len() {
            assert_eq!(early(size), early(1), "{response} in pieces of {size}");
        }
    }
}

/// Each case is read at once, and in pieces of 1, 2, 3 or 7 bytes; the cases of the pack for promises in all of these
/// ways.
#[test]
fn every_case_is_emitted_as_its_outcome_has_it() {
    let root = crate::root();
    let packs = ["rules", "tests/packs"].into_iter().flat_map(|group| packs_below(&root.join(group)).unwrap());
    let (mut early, mut all, mut number) = (0, 0, 0);
    for pack in packs {
        let (program, shows) = settled(&pack);
        let thorough = pack.ends_with("closed-by-default");
        for file in cases_below(&pack).unwrap() {
            let text = String::from_utf8(file.bytes).unwrap();
            let Some((_, rest)) = text.split_once("=== response ===\n") else { continue };
            let response = rest.split("\n=== ").next().unwrap();
            number += 1;
            for mode in program.modes() {
                let session = program.resume(json!({ "mode": mode })).unwrap();
                let expected = program.run(&session, response);
                let sizes = [1, 2, 3, 7].into_iter().enumerate().filter(|(index, _)| thorough || *index == number % 4);
                for (_, size) in sizes {
                    let cuts: Vec<usize> = (0..response.len()).step_by(size).collect();
                    let (before, whole, outcome) = stream(&program, &session, response.as_bytes(), &cuts);
                    assert_eq!(outcome, expected, "{} in pieces of {size}", file.path.display());
                    if outcome.status == Status::Refused {
                        continue;
                    }
                    let agrees = agree(&before, &whole, &outcome, shows.as_deref());
                    assert!(agrees.is_ok(), "{} in {mode}: {}", file.path.display(), agrees.unwrap_err());
                    let (at_once, ..) = stream(&program, &session, response.as_bytes(), &[]);
                    for role in ROLES {
                        let texts = [&before, &at_once].map(|events| emitted(events, role));
                        assert_eq!(texts[0], texts[1], "{} in {mode}, in pieces of {size}", file.path.display());
                    }
                    early += ROLES.iter().map(|role| emitted(&before, *role).len()).sum::<usize>();
                    all += ROLES.iter().map(|role| emitted(&whole, *role).len()).sum::<usize>();
                }
            }
        }
    }
    assert!(early > all / 10, "{early} of {all} bytes are emitted early");
}

/// Guardrails and strategies that any pack might have besides its own.
const PATTERNS: [&str; 12] = [
    "[a-e]+ ?[n-z]", "(?i)the [a-z]+", "\\w+\\s*$", "e", "(?m)^.", "[.]\\s", "\\A\\w+", "\\b[A-Z]\\w*", "(?s)o.*?n",
    "\\d+( \\d+){2,}", "sk-[a-z0-9]+", "(?i)[aeiou]{2}",
];
const STRATEGIES: [&str; 10] = [
    "stray-text = \"keep-as-text\"",
    "unclosed-block = \"keep\"",
    "unclosed-block = \"drop\"",
    "nested-block = \"lift\"",
    "nested-block = \"keep-as-text\"",
    "duplicate-block = \"join\"",
    "duplicate-block = \"keep-last\"",
    "forbidden-call = \"keep-as-text\"",
    "missing-message = \"take-stray-text\"",
    "wrong-closer = \"drop\"",
];
/// What a model, or a bad connection, might insert into an answer.
const INSERTED: [&str; 20] = [
    "</think>", "<think>", "```\n", "`", "\n\n", "\n", " ", "</message>", "\"", "}", "{", "]", "<!--", "-->", "&amp;",
    "<", ">", "~~~\n", "é", "\r\n",
];

/// The pack with guardrails and strategies besides its own; `None` if they do not suit it.
fn guarded(folder: &Folder, dice: &mut Dice) -> Option<Program> {
    let written: String = folder.files.values().map(|file| String::from_utf8_lossy(file)).collect();
    let contents = written.lines().filter_map(|line| line.trim().strip_prefix("[contents.")?.strip_suffix(']'));
    let contents: Vec<&str> = contents.collect();
    let (mut rules, mut roles) = (String::from("[reply]\nhold = \"settled\"\n"), vec!["message"]);
    let others = ["thinking", "section", "content", "utterance"];
    roles.extend(others.into_iter().filter(|role| written.contains(&format!("\"{role}\"")) && !dice.one_in(3)));
    for number in 0..1 + dice.below(2) {
        let with = dice.pick(&["", "x", "[gone]", "a longer replacement"]);
        let acts = if dice.one_in(4) { "\"drop\"".into() } else { format!("\"redact\"\nwith = \"{with}\"") };
        rules += &format!(
            "[[guardrails]]\nid = \"zz{number}\"\non = {roles:?}\nmatches = '{}'\nstrategy = {acts}\n",
            dice.pick(&PATTERNS)
        );
    }
    if !contents.is_empty() && dice.one_in(2) {
        let key = format!("{}.key", dice.pick(&contents));
        let pattern = dice.pick(&PATTERNS);
        rules +=
            &format!("[[guardrails]]\nid = \"zz-key\"\non = {key:?}\nmatches = '{pattern}'\nstrategy = \"drop\"\n");
    }
    if dice.one_in(2) {
        rules += &format!("[degradation]\n{}\n", dice.pick(&STRATEGIES));
    }
    let mut folder = folder.clone();
    folder.files.insert("zz-guarded.toml".to_owned(), rules.into_bytes());
    Program::load(&folder).value
}

/// An answer of a case, with up to three changes.
fn changed(answers: &[String], dice: &mut Dice) -> String {
    let mut text = answers[dice.below(answers.len())].clone();
    for _ in 0..dice.below(4) {
        let from = boundary(&text, dice.below(text.len() + 1));
        let until = boundary(&text, text.len().min(from + 1 + dice.below(40))).max(from);
        match dice.below(5) {
            0 => text.truncate(from),
            1 => text.insert_str(from, dice.pick(&INSERTED)),
            2 => drop(text.drain(from..until)),
            3 => {
                let again = text[from..until].to_owned();
                let place = boundary(&text, dice.below(text.len() + 1));
                text.insert_str(place, &again);
            }
            _ => {
                let other = &answers[dice.below(answers.len())];
                let place = boundary(other, dice.below(other.len() + 1));
                text.replace_range(from.., &other[place..]);
            }
        }
    }
    text
}

/// The first place at or before an offset that is between two characters.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first name in the events that a guardrail has kept out of the outcome.
fn hidden_name(events: &[StreamEvent], outcome: &Outcome, response: &str) -> Option<String> {
    let json = serde_json::to_string(outcome).unwrap();
    let names = events.iter().filter_map(|event| match event {
        // Other blocks have names of the pack.
        StreamEvent::Opened {
            role: Role::Content | Role::Call | Role::Utterance | Role::Section,
            called: Some(called),
            start,
            ..
        } => Some((called, *start)),
        _ => None,
    });
    let hides = |called: &str, start: usize| {
        outcome.redacted.iter().any(|place| {
            // A short text occurs in a name by chance.
            let text = response[place.start..place.end].trim();
            (text.len() > 3 && called.contains(text)) || (place.start <= start && start < place.end)
        })
    };
    let is_absent = |called: &str| !json.contains(serde_json::to_string(called).unwrap().trim_matches('"'));
    let mut hidden = names.filter(|(called, start)| hides(called, *start) && is_absent(called));
    hidden.next().map(|(called, _)| called.clone())
}

/// The answers of all cases, changed, in their packs with guardrails and strategies besides their own.
#[test]
fn changed_answers_are_emitted_as_their_outcomes_have_them() {
    let root = crate::root();
    let packs = ["rules", "tests/packs"].into_iter().flat_map(|group| packs_below(&root.join(group)).unwrap());
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(5);
    let mut dice = Dice(seed);
    let (mut early, mut all, mut acted, mut number) = (0, 0, 0, 0);
    for pack in packs {
        let folder = read_pack(&pack).unwrap().folder;
        let (_, shows) = settled(&pack);
        let answer = |case: Vec<u8>| {
            let text = String::from_utf8(case).unwrap();
            let (_, rest) = text.split_once("=== response ===\n")?;
            rest.split("\n=== ").next().map(str::to_owned)
        };
        let answers: Vec<String> =
            cases_below(&pack).unwrap().into_iter().filter_map(|case| answer(case.bytes)).collect();
        for _ in 0..if answers.is_empty() { 0 } else { thorough(2) } {
            let Some(program) = guarded(&folder, &mut dice) else { continue };
            let modes: Vec<&str> = program.modes().collect();
            for _ in 0..10 {
                let response = changed(&answers, &mut dice);
                let session = program.resume(json!({ "mode": dice.pick(&modes) })).unwrap();
                let cuts: Vec<usize> = (0..response.len()).step_by(dice.pick(&[1, 1, 3, 7, 50])).collect();
                let (before, whole, outcome) = stream(&program, &session, response.as_bytes(), &cuts);
                number += 1;
                acted += usize::from(!outcome.redacted.is_empty());
                if outcome.status == Status::Refused {
                    continue;
                }
                let place = || format!("{} in {}: {response:?}", pack.display(), session.mode);
                let agrees = agree(&before, &whole, &outcome, shows.as_deref());
                assert!(agrees.is_ok(), "{}\n{}", place(), agrees.unwrap_err());
                assert_eq!(hidden_name(&whole, &outcome, &response), None, "{}", place());
                early += ROLES.iter().map(|role| emitted(&before, *role).len()).sum::<usize>();
                all += ROLES.iter().map(|role| emitted(&whole, *role).len()).sum::<usize>();
            }
        }
    }
    assert!(early > all / 10 && acted > number / 5, "{early} of {all} bytes early, {acted} of {number} redacted");
}

/// Guardrails of every kind over random texts: text that is emitted early has passed them.
#[test]
fn guardrails_act_on_what_is_emitted() {
    let patterns = [
        r"\b\d{4}\b", r"S\d+", "(?i)secret", r"card\s+\w+", r"\A\s*no", "a.c", r"(?:\d[ -]?){6,8}", "x+y", "é+",
        r"\bend$", r"(?m)^- .*$", r"[\s\S]{3}!",
    ];
    let strategies = ["redact", "redact", "redact", "drop", "keep", "refuse", "ask-again"];
    let pieces = [
        "a ", "S12", "3", " 4", "1234", "12-34", "56 78 ", "sec", "ret", "SECRET", "card ", " no", "abc", "xxy", "x",
        "é", "\n- item\n", " end", "!", ". ", "&amp;", "\n\n", "`", "ok", "<b>", "</say>", "<say>", "<think>",
        "</think>", "<do what=\"note\">", "</do>", "<list>", "</list>",
    ];
    let tries = std::env::var("STREAMS").ok().and_then(|tries| tries.parse().ok()).unwrap_or(10_000);
    let mut dice = Dice(7);
    let (mut early, mut all, mut acted, mut number) = (0, 0, 0, 0);
    while number < tries {
        let mut rules = String::new();
        for rule in 0..1 + dice.below(3) {
            let target = dice.pick(&[
                "\"message\"",
                "[\"message\", \"thinking\", \"section\"]",
                "\"say\"",
                "\"list\"",
                "\"thinking\"",
            ]);
            let unless = if dice.one_in(4) { format!("unless = '{}'\n", dice.pick(&patterns)) } else { String::new() };
            let when = dice.pick(&[
                "",
                "",
                "",
                "when = \"mode == 'x'\"\n",
                "when = \"captures | length == 0\"\n",
                "when = \"reply.calls | length > 0\"\n",
            ]);
            rules += &format!(
                "[[guardrails]]\nid = \"g{rule}\"\non = {target}\nmatches = '{}'\n{unless}{when}strategy = \"{}\"\nwith = \"{}\"\n",
                dice.pick(&patterns),
                dice.pick(&strategies),
                dice.pick(&["", "#", "[gone]"])
            );
        }
        rules = rules
            .replace("strategy = \"drop\"\nwith", "strategy = \"drop\"\n#")
            .replace("strategy = \"keep\"\nwith", "strategy = \"keep\"\n#");
        rules = rules
            .replace("strategy = \"refuse\"\nwith", "strategy = \"refuse\"\n#")
            .replace("strategy = \"ask-again\"\nwith", "strategy = \"ask-again\"\n#");
        let outside = dice.pick(&["message", "stray"]);
        let unclosed = dice.pick(&["keep", "drop"]);
        let program = program_of(format!(
            r#"
[pack]
name = "p"
[dialects.tagged]
grammar = "tags"
text = "{outside}"
[dialects.tagged.blocks]
say = {{ role = "message", decode = "entities" }}
think = {{ role = "thinking" }}
list = {{ role = "section" }}
do = {{ role = "call", name = "@what", payload = "tags" }}
[actions.note]
[reply]
hold = "settled"
[modes.default]
permits = ["*"]
[degradation]
unclosed-block = "{unclosed}"
{rules}"#
        ));
        for _ in 0..50 {
            let text: String = (0..dice.below(24)).map(|_| dice.pick(&pieces)).collect();
            let text = if dice.one_in(2) { format!("<say>{text}</say>") } else { text };
            let step = 1 + dice.below(7);
            let cuts: Vec<usize> = (0..text.len()).step_by(step).collect();
            let (before, whole, outcome) = stream(&program, &program.session(), text.as_bytes(), &cuts);
            number += 1;
            acted += usize::from(!outcome.redacted.is_empty());
            let shown: usize = ROLES.iter().map(|role| emitted(&before, *role).len()).sum();
            if outcome.status == Status::Refused {
                let last = StreamEvent::Refused { emitted: shown };
                assert_eq!(whole.last(), Some(&last), "{text}");
                continue;
            }
            let agrees = agree(&before, &whole, &outcome, None);
            assert!(agrees.is_ok(), "{text:?}: {}\n{rules}", agrees.unwrap_err());
            early += shown;
            all += ROLES.iter().map(|role| emitted(&whole, *role).len()).sum::<usize>();
        }
    }
    assert!(
        early > all / 4 && acted > tries / 20,
        "{early} of {all} bytes are told early, {acted} of {tries} redacted"
    );
}

/// A host knows whether its prompt ends with the opener of reasoning, and can pass that in.
#[test]
fn reasoning_that_the_prompt_left_open_is_no_message() {
    let dialects = [
        "grammar = \"tags\"\ntext = \"message\"\nblocks.think = { role = \"thinking\", starts = true }\nblocks.note = { role = \"call\", payload = \"json\" }",
        "grammar = [\"json\", \"tags\"]\nblocks.think = { role = \"thinking\", grammar = \"tags\", starts = true }\nblocks.say = { role = \"message\" }\nblocks.note = { role = \"call\" }",
    ];
    let load = |dialect: &str| {
        program_of(format!(
            "[pack]\nname = \"p\"\n[actions.note]\n[modes.default]\npermits = [\"*\"]\n[dialects.d]\n{dialect}\n"
        ))
    };
    let read = |program: &Program, thinking: Option<bool>, text: &str| {
        let mut reader = program.reader(&program.session(), &Options { thinking, ..Options::default() });
        let before: Vec<StreamEvent> = text.as_bytes().chunks(2).flat_map(|piece| reader.push(piece)).collect();
        (emitted(&before, Role::Message), reader.finish().0)
    };
    let [prose, object] = dialects.map(load);
    let (early, outcome) = read(&prose, Some(true), "I could <note>{}</note> do.\n</think>\nHello");
    assert_eq!((early.as_str(), outcome.message.as_str()), ("Hello", "Hello"));
    assert_eq!(outcome.thinking, ["I could <note>{}</note> do."]);
    assert!(outcome.calls.is_empty());
    // The answer was cut off within the reasoning, so it has no message.
    let (early, outcome) = read(&prose, Some(true), "I could <note>{}</note> do");
    assert_eq!((early.as_str(), outcome.message.as_str(), outcome.status), ("", "", Status::Degraded));
    assert!(outcome.calls.is_empty() && outcome.thinking.len() == 1);
    // The prompt left nothing open, so text is emitted as it arrives.
    let (early, outcome) = read(&prose, Some(false), "Hello there");
    assert_eq!((early.as_str(), outcome.message.as_str()), ("Hello there", "Hello there"));
    let (early, outcome) = read(&prose, None, "Hello there");
    assert_eq!((early.as_str(), outcome.message.as_str()), ("", "Hello there"));
    let (_, outcome) = read(&object, Some(true), "{\"note\": {}} is too much\n</think>\n{\"say\": \"Hello\"}");
    assert_eq!((outcome.message.as_str(), outcome.calls.len()), ("Hello", 0));
    let (_, outcome) = read(&object, Some(true), "{\"say\": \"Hello\", \"note\": {}}");
    assert!(outcome.calls.iter().all(|call| call.verdict == rulebook::outcome::Verdict::Dropped), "{outcome:#?}");
    let (_, outcome) = read(&object, None, "<think>{\"say\": \"Hello\", \"note\": {}}");
    assert!(outcome.calls.iter().all(|call| call.verdict == rulebook::outcome::Verdict::Dropped), "{outcome:#?}");
}

/// Held text is the exception: an ordinary answer is emitted as it arrives.
#[test]
fn an_ordinary_answer_is_emitted_as_it_comes() {
    let message =
        "Before we pick names, what does your protagonist want more than anything? What lie does she believe?";
    let check = |pack: &str, mode: &str, response: String| {
        let (program, _) = settled(&crate::root().join(pack));
        let session = program.resume(json!({ "mode": mode })).unwrap();
        let mut reader = program.reader(&session, &Options::default());
        let events: Vec<StreamEvent> = response.as_bytes().chunks(3).flat_map(|piece| reader.push(piece)).collect();
        let early = emitted(&events, Role::Message);
        assert!(early.len() + 20 > message.len() && message.starts_with(&early), "{pack}: {early:?}");
    };
    check("rules/writers-factory", "architect", format!("<thinking>Ask first.</thinking>\n<message>{message}"));
    check("rules/couple-ai", "chat", format!("{message}\n"));
    check("tests/packs/redactions", "desk", format!("<say>{message}"));
}
