//! Promises: which properties hold for every program, session and response?
//!
//! One property for each promise of the engine that any text could break: there is an outcome; the ledger counts every
//! byte once; every cutting has the same outcome; nothing forbidden has an effect; equal inputs have equal outputs.
//! `hostile.rs` tests how time and memory grow.

use super::model::Model;
use super::texts::{PACKS, bytes, cases, program, program_of, thorough};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use rulebook::outcome::{Ledger, Verdict};
use rulebook::{Extent, Options, Outcome, Program, Session, StreamEvent};
use serde_json::json;
use std::path::{Path, PathBuf};

fn session(program: &Program, mode: &str) -> Session {
    program.resume(json!({ "mode": mode })).unwrap()
}

fn run(program: &Program, mode: &str, response: &[u8]) -> Outcome {
    program.run_with(&session(program, mode), response, &Options::default())
}

fn printed(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

/// A multiple of the usual number of texts, which `PROPTEST_CASES` raises for a long run.
fn config(times: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let more = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: more.unwrap_or(usual.cases) * times, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn every_byte_is_in_the_ledger_once_and_every_text_is_of_the_response((pack, mode, response) in cases()) {
        let outcome = run(program(pack), &mode, &response);
        let text = String::from_utf8_lossy(&response);
        accounted(&outcome, &text)?;
        quoted(&outcome, &text)?;
        let spans = outcome.diagnostics.iter().map(|found| found.span);
        for Extent { start, end, .. } in spans.chain(outcome.calls.iter().map(|call| call.span)) {
            prop_assert!(text.get(start..end).is_some(), "{start}..{end} of {}", text.len());
        }
    }

    #[test]
    fn nothing_forbidden_has_an_effect((pack, mode, response) in cases()) {
        let program = program(pack);
        let outcome = run(program, &mode, &response);
        let faults = model(pack).faults(program, &outcome);
        prop_assert!(faults.is_empty(), "{faults:#?}\n{:#?}", outcome.calls);
        if !model(pack).has_rules() && !outcome.calls.iter().any(|call| call.verdict == Verdict::Accepted) && outcome.contents.is_empty() {
            prop_assert!(outcome.effects.is_empty());
            prop_assert_eq!(&outcome.session, &session(program, &mode));
        }
    }
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn any_cutting_gives_the_same_outcome_and_announcements(
        (pack, mode, response) in cases(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let program = program(pack);
        let session = session(program, &mode);
        let whole = program.run_with(&session, &response, &Options::default());
        let lossy = program.run(&session, &String::from_utf8_lossy(&response));
        if std::str::from_utf8(&response).is_ok() {
            prop_assert_eq!(printed(&whole), printed(&lossy));
        }
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(response.len() + 1)).collect();
        places.sort_unstable();
        let mut emitted = Vec::new();
        for places in [Vec::new(), (0..response.len()).collect(), places] {
            let (outcome, announcements) = pushed(program, &session, &response, places);
            prop_assert_eq!(printed(&outcome), printed(&whole));
            emitted.push(announcements);
        }
        prop_assert_eq!(&emitted[0], &emitted[1], "one push, and one for each byte");
        prop_assert_eq!(&emitted[0], &emitted[2], "one push, and several");
        balanced(drafts(&emitted[0], &whole), &String::from_utf8_lossy(&response))?;
        let mut reader = program.reader(&session, &Options::default());
        let prefix = joined(reader.push(&response[..cut.index(response.len() + 1)]));
        prop_assert!(stands(&prefix, &emitted[0]), "{prefix:#?}\nis no start of\n{:#?}", emitted[0]);
    }
}

proptest! {
    #![proptest_config(config(2))]

    #[test]
    fn the_same_in_gives_the_same_bytes_on_every_thread((pack, mode, response) in cases()) {
        let program = program(pack);
        let session = session(program, &mode);
        let options = Options { trace: true, ..Options::default() };
        let first = printed(&program.run_with(&session, &response, &options));
        let again = || printed(&program.run_with(&session, &response, &options));
        let all: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(again)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for other in all {
            prop_assert_eq!(&first, &other);
        }
    }
}

/// The outcome and the events of a response in pieces, cut at `places`.
fn pushed(program: &Program, session: &Session, response: &[u8], places: Vec<usize>) -> (Outcome, Vec<StreamEvent>) {
    let mut reader = program.reader(session, &Options::default());
    let mut announcements = Vec::new();
    let mut from = 0;
    for place in places.into_iter().chain([response.len()]) {
        announcements.extend(reader.push(&response[from..place]));
        from = place;
    }
    let (outcome, last) = reader.finish();
    announcements.extend(last);
    (outcome, joined(announcements))
}

#[test]
fn a_rule_before_the_next_block_is_never_emitted_as_the_text_of_this_one() {
    let program = program("rules/dce");
    let response = b"<file path=\"src/a.ts\">\n\n***\n<file path=\"src/a.ts\">\n";
    let session = session(program, "cycle");
    let (_, whole) = pushed(program, &session, response, Vec::new());
    let (_, bytes) = pushed(program, &session, response, (0..response.len()).collect());
    assert_eq!(whole, bytes);
}

#[test]
fn the_start_of_an_answer_in_a_fence_does_not_depend_on_cuts() {
    let program = program("rules/dce");
    let response = b"```\nanalysisWe think. \n```\n";
    let session = session(program, "cycle-zero");
    let whole = program.run(&session, std::str::from_utf8(response).unwrap());
    assert_eq!(whole.thinking, ["We think."]);
    for size in [1, 2, 7, response.len()] {
        let places = (0..response.len()).step_by(size).collect();
        assert_eq!(pushed(program, &session, response, places).0, whole, "{size}");
    }
}

/// Only the end of a code span decides whether the span quotes its contents.
#[test]
fn blocks_in_a_code_span_are_decided_where_the_span_ends() {
    let program = program("tests/packs/tool-tags");
    let response = "<artifact>\n<step type=\"run\" content=`\"ls\">pwd</step>\n<step type=\"run\" content=\"ls\"/>\n<step type=\"write_file\" path=\"`a.txt\">x";
    let session = session(program, "work");
    let (outcome, whole) = pushed(program, &session, response.as_bytes(), Vec::new());
    assert_eq!(outcome.effects.len(), 1, "{outcome:#?}");
    balanced(drafts(&whole, &outcome), response).unwrap();
    let (_, pieces) = pushed(program, &session, response.as_bytes(), (0..response.len()).collect());
    assert_eq!(whole, pieces);
}

/// Only the end of the answer decides which dialect reads it.
#[test]
fn an_answer_that_no_dialect_claims_is_announced_at_its_end() {
    let program = program("tests/packs/side-by-side");
    let response = "<file path=\"a.md\">\nx\n</file>\n";
    let session = session(program, "open");
    let (outcome, emitted) = pushed(program, &session, response.as_bytes(), vec![5, 12]);
    assert_eq!(outcome.contents.len(), 1);
    balanced(drafts(&emitted, &outcome), response).unwrap();
    let opened = matches!(&emitted[0], StreamEvent::Opened { name, start: 0, .. } if name == "file");
    assert!(opened && emitted.iter().any(|one| matches!(one, StreamEvent::Closed { .. })), "{emitted:#?}");
    let (outcome, emitted) = pushed(program, &session, b"Nothing to read", Vec::new());
    let message = StreamEvent::Text { block: None, role: Some(rulebook::Role::Message), text: outcome.message.clone() };
    assert_eq!((outcome.dialect, emitted), (None, vec![message]));
}

/// A call that must never run, and the texts around it that quote it.
const PLANT: &str =
    "<action type='save_decision'><category>world</category><key>PLANTED</key><value>v</value></action>";
const AROUND: &[(&str, &str)] = &[
    ("\n\n<thinking>", "</thinking>\n\n"),
    ("\n\n<thinking a='1'>If so: ", " and more</THINKING>\n\n"),
    ("\n\n```\n", "\n```\n\n"),
    ("\n\n~~~~ xml\n", "\n~~~~~\n\n"),
    ("\n\n`", "`\n\n"),
    ("\n\nAs in `` ", " `` or so.\n\n"),
    ("\n\n<message>See `", "`.</message>\n\n"),
    ("\n\n<message>See\n```xml\n", "\n```\n</message>\n\n"),
    ("\n\n<content_update target=\"c\">", "</content_update>\n\n"),
    ("\n\n<content_update target=\"c\">\n```\n", "\n```\n</content_update>\n\n"),
    ("\n\n<message a=\"", "\">Hello</message>\n\n"),
    ("\n\n<content_update target=\"", "\">x</content_update>\n\n"),
    ("\n\n<thinking b=\"", "\">x</thinking>\n\n"),
    ("\n\n<action type=\"run_health_check\" a=\"", "\"/>\n\n"),
    ("\n\n<action a=\"", "\" type=\"run_health_check\"></action>\n\n"),
    ("\n\n<action type='save_decision'><value>See ", " there.</value></action>\n\n"),
    ("\n\n<action type='x'><a>1</a><b><action type='y'><b>", "</b></action></b></action>\n\n"),
];

const BRACKET_PLANT: &str = r#"[ACTION_PREPARE_PUBLICATION]{\"platform\":\"PLANTED\",\"storyUrl\":\"https://x.y\",\"chapterTitle\":\"c\",\"contentSourcePageId\":\"p\"}"#;
const BRACKETS_AROUND: &[(&str, &str)] = &[
    (r#"[ACTION_CREATE_CRITIQUE_PAGE]{"page":{"title":"t","content":""#, r#""}}"#),
    (r#"[ACTION_CREATE_CRITIQUE_PAGE] {"page":{"title":""#, r#"","content":"\n}{"}}"#),
    (r#"[ACTION_FLY]{"a":["}",{"b":""#, r#""}]}"#),
    (r#"[ACTION_INGEST_DOC]{"docId":"\\\""#, r#"",}"#),
];

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn what_is_only_quoted_is_never_a_call(
        before in bytes("rules/writers-factory"), after in bytes("rules/writers-factory"),
        around in prop::sample::select(AROUND), mode in prop::sample::select(&["architect", "director"][..]),
    ) {
        let program = program("rules/writers-factory");
        // The text before must leave nothing open: an open fence or quote would pair with the ones around the call.
        let before: String = String::from_utf8_lossy(&before).replace(['`', '~', '"', '\''], "");
        let response = [before.as_bytes(), b">", around.0.as_bytes(), PLANT.as_bytes(), around.1.as_bytes(), &after].concat();
        never_runs(&run(program, mode, &response))?;
    }

    #[test]
    fn what_is_in_a_string_of_a_payload_is_never_a_call(
        before in "[a-z .,\n\"{}]{0,20}", after in bytes("rules/couple-ai"), around in prop::sample::select(BRACKETS_AROUND),
    ) {
        let program = program("rules/couple-ai");
        let response = [before.as_bytes(), around.0.as_bytes(), BRACKET_PLANT.as_bytes(), around.1.as_bytes(), &after].concat();
        never_runs(&run(program, "chat", &response))?;
    }
}

/// A call in reasoning that is never closed is listed as dropped, whatever quotes it there.
fn never_runs(outcome: &Outcome) -> TestCaseResult {
    let planted = |value: &rulebook::Value| value.as_str() == Some("PLANTED");
    for call in outcome.calls.iter().filter(|call| call.verdict != Verdict::Dropped) {
        let found = call.params.as_object().into_iter().flat_map(rulebook::Object::values).any(planted);
        prop_assert!(!found, "{call:?}");
    }
    for name in ["knowledge", "pages", "profiles"] {
        let state = outcome.session.state.get(name).map(rulebook::Value::to_string).unwrap_or_default();
        prop_assert!(!state.contains("\"PLANTED\""), "{state}");
    }
    Ok(())
}

#[test]
fn an_answer_that_breaks_off_anywhere_gives_an_outcome() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let files: Vec<PathBuf> = walkdir::WalkDir::new(corpus)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.into_path())
        .collect();
    assert!(files.len() > 50);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            breaks_off(path);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

/// Cuts a file at every byte; a long one at every byte near its ends and at many bytes between.
fn breaks_off(path: &Path) {
    let text = std::fs::read(path).unwrap();
    let length = text.len();
    let (ends, step) = match length {
        0..=512 => (length, 1),
        _ => (thorough(100), (length / thorough(100)).max(1)),
    };
    for cut in (0..=length).filter(|cut| *cut <= ends || *cut + ends >= length || cut % step == 0) {
        for pack in ["rules/couple-ai", "rules/writers-factory"] {
            let program = program(pack);
            let outcome = program.run_with(&program.session(), &text[..cut], &Options::default());
            let read = String::from_utf8_lossy(&text[..cut]);
            assert_eq!(sum(&outcome.ledger), read.len(), "{} cut at {cut}, read by {pack}", path.display());
        }
    }
}

fn model(pack: &'static str) -> &'static Model {
    static MODELS: std::sync::OnceLock<Vec<Model>> = std::sync::OnceLock::new();
    let models = MODELS.get_or_init(|| PACKS.iter().map(|pack| Model::new(pack)).collect());
    &models[PACKS.iter().position(|known| *known == pack).unwrap()]
}

fn sum(ledger: &Ledger) -> usize {
    let ledger = serde_json::to_value(ledger).unwrap();
    let parts = ledger.as_object().unwrap().iter().filter(|(name, _)| *name != "bytes");
    parts.map(|(_, part)| part.as_u64().unwrap() as usize).sum()
}

fn accounted(outcome: &Outcome, text: &str) -> TestCaseResult {
    prop_assert_eq!(outcome.ledger.bytes, text.len());
    prop_assert_eq!(sum(&outcome.ledger), text.len(), "{:?}", outcome.ledger);
    Ok(())
}

/// Checks that all displayed or stored text occurs in the response, character by character, in order.
fn quoted(outcome: &Outcome, text: &str) -> TestCaseResult {
    prop_assert!(in_order(&outcome.message, text), "{:?}", outcome.message);
    for thought in &outcome.thinking {
        prop_assert!(text.contains(thought.as_str()) || in_order(thought, text), "{thought:?}");
    }
    let sections = outcome.sections.iter().map(|section| (&section.text, section.span));
    let utterances = outcome.utterances.iter().map(|utterance| (&utterance.text, utterance.span));
    for (shown, Extent { start, end, .. }) in sections.chain(utterances) {
        let block = text.get(start..end);
        prop_assert!(block.is_some_and(|block| in_order(shown, block)), "{shown:?} of {block:?}");
    }
    for content in &outcome.contents {
        let block = text.get(content.span.start..content.span.end);
        prop_assert!(block.is_some_and(|block| block.contains(&*content.text)), "{content:?} of {block:?}");
    }
    Ok(())
}

/// Whether the characters of `shown`, except white space, occur in `text` in that order, as they are or as entities.
fn in_order(shown: &str, text: &str) -> bool {
    first_in_order(shown, text).is_some()
}

/// How many bytes of `text` have to be read to find them all.
fn first_in_order(shown: &str, text: &str) -> Option<usize> {
    let mut wanted = shown.chars().filter(|wanted| !wanted.is_whitespace()).peekable();
    for (at, character) in text.char_indices() {
        let Some(next) = wanted.peek().copied() else { return Some(at) };
        let entity = || match text[at..].split_once(';') {
            Some(("&lt", _)) => Some('<'),
            Some(("&gt", _)) => Some('>'),
            Some(("&quot", _)) => Some('"'),
            Some(("&apos", _)) => Some('\''),
            Some((number, _)) => char::from_u32(number.strip_prefix("&#")?.parse().ok()?),
            None => None,
        };
        if character == next || (character == '&' && entity() == Some(next)) {
            wanted.next();
        }
    }
    wanted.next().is_none().then_some(text.len())
}

/// Joins adjacent texts of the same block.
fn joined(announcements: Vec<StreamEvent>) -> Vec<StreamEvent> {
    let mut all: Vec<StreamEvent> = Vec::new();
    for announcement in announcements {
        match (all.last_mut(), announcement) {
            (
                Some(StreamEvent::Text { block, role, text }),
                StreamEvent::Text { block: same, role: its, text: more },
            ) if (*block, *role) == (same, its) => text.push_str(&more),
            (_, announcement) => all.push(announcement),
        }
    }
    all
}

/// Whether the events `told` are a prefix of `whole`; the last text may be longer there.
fn stands(emitted: &[StreamEvent], whole: &[StreamEvent]) -> bool {
    let Some((last, before)) = emitted.split_last() else { return true };
    let goes_on = match (last, whole.get(before.len())) {
        (StreamEvent::Text { block, role, text }, Some(StreamEvent::Text { block: same, role: its, text: more })) => {
            (block, role) == (same, its) && more.starts_with(text)
        }
        (last, same) => Some(last) == same,
    };
    goes_on && whole.starts_with(before)
}

/// The events without those that come last: the texts that were held until the answer had been judged, and the fields
/// of calls.
fn drafts<'t>(emitted: &'t [StreamEvent], outcome: &Outcome) -> &'t [StreamEvent] {
    let contents = outcome.contents.iter().map(|one| &*one.text);
    // A section that is shown as the message is only emitted as that.
    let sections = outcome.sections.iter().map(|one| one.text.as_str()).filter(|text| *text != outcome.message);
    let utterances = outcome.utterances.iter().map(|one| one.text.as_str());
    let thinking = outcome.thinking.iter().map(String::as_str);
    let texts: Vec<&str> =
        contents.chain(sections).chain(utterances).chain(thinking).chain([&*outcome.message]).collect();
    // Held texts of several blocks may have been joined.
    let all = texts.concat();
    let is_held = |event: &StreamEvent| match event {
        StreamEvent::Text { block: None, text, .. } => all.contains(text.as_str()),
        StreamEvent::Field { .. } => true,
        _ => false,
    };
    let held = emitted.iter().rev().take_while(|event| is_held(event)).count();
    &emitted[..emitted.len() - held]
}

/// Checks that each block that opens also closes, inner ones before outer ones, and that each text belongs to the
/// innermost block.
fn balanced(emitted: &[StreamEvent], response: &str) -> TestCaseResult {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut opened = 0;
    let mut reached = 0;
    for announcement in emitted {
        match announcement {
            StreamEvent::Opened { block, name, start, .. } => {
                prop_assert_eq!(*block, opened, "blocks count in the order of their openers");
                prop_assert!(!name.is_empty() && *start >= reached);
                opened += 1;
                reached = *start;
                open.push((*block, *start));
            }
            StreamEvent::Text { block, text, .. } => {
                prop_assert_eq!(*block, open.last().map(|(block, _)| *block));
                // Between the members of an object, or the calls of a list, there may be text that is not emitted.
                let behind = response.get(reached..).unwrap();
                // Entities are decoded in the emitted text.
                let until = first_in_order(text, behind);
                prop_assert!(until.is_some(), "{text:?} does not stand behind {reached}");
                reached += until.unwrap_or_default();
            }
            StreamEvent::Closed { block, span } => {
                prop_assert_eq!(open.pop(), Some((*block, span.start)));
                prop_assert!(span.end >= reached && span.end <= response.len());
                reached = span.end;
            }
            // The last event of a refused answer.
            StreamEvent::Refused { .. } => prop_assert_eq!(Some(announcement), emitted.last()),
            other => prop_assert!(false, "{other:?}"),
        }
    }
    prop_assert!(open.is_empty());
    Ok(())
}

/// Text outside blocks and the text of a message block are both part of the message, in order, without the object
/// around them.
#[test]
fn prose_and_messages_make_one_message() {
    let check = |grammar: &str, response: &str, expected: &str| {
        let blocks = "message = { role = \"message\" }\nnote = { role = \"section\" }";
        let pack = format!(
            "[pack]\nname = \"x\"\n[dialects.d]\n{grammar}\ntext = \"message\"\n[dialects.d.blocks]\n{blocks}\n"
        );
        let program = program_of(pack);
        let outcome = program.run(&program.session(), response);
        assert_eq!(outcome.message, expected);
        let shown = expected.split_whitespace().map(str::len).sum::<usize>();
        assert!(outcome.ledger.message >= shown, "{:?}", outcome.ledger);
    };
    check("grammar = \"tags\"\ndecode = \"entities\"", "<message>Hello</message>", "Hello");
    check(
        "grammar = \"tags\"\ndecode = \"entities\"",
        "First\n<message>a &lt; b</message>\n<note>n</note>\nthen &lt;\n<message>c</message>",
        "First\n\na < b\n\nthen &lt;\n\nc",
    );
    check("grammar = \"json\"", "Here:\n{\"note\": \"n\", \"message\": \"Hello\"}\nBye", "Here:\n\nHello\n\nBye");
}
