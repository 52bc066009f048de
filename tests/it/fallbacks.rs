//! Fallbacks: what is emitted before it is known which dialect reads an answer?

use super::texts::{ledger_is_exact, program};
use rulebook::{Folder, Options, Outcome, Program, Role, Session, StreamEvent};
use serde_json::json;

const PACK: &str = "tests/packs/fenced-answers";

fn session(mode: &str) -> Session {
    program(PACK).resume(json!({ "mode": mode })).unwrap()
}

/// The events of an answer in pieces of this size: those before its end and those at its end; and the outcome.
fn streamed(mode: &str, answer: &str, size: usize) -> (Vec<StreamEvent>, Vec<StreamEvent>, Outcome) {
    let mut reader = program(PACK).reader(&session(mode), &Options::default());
    let before = answer.as_bytes().chunks(size).flat_map(|piece| reader.push(piece)).collect();
    let (outcome, behind) = reader.finish();
    (before, behind, outcome)
}

/// The texts of messages among these events.
fn message(events: &[StreamEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        StreamEvent::Text { role: Some(Role::Message), text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn opened(events: &[StreamEvent]) -> Vec<&str> {
    let names = events.iter().filter_map(|event| match event {
        StreamEvent::Opened { name, .. } => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

#[test]
fn an_answer_that_begins_with_a_fence_is_emitted_while_it_comes() {
    let answer = "```xml\n<message>Hello to you.</message>\n<outline>One";
    for size in [1, 2, 3, 7] {
        let (before, _, outcome) = streamed("desk", answer, size);
        assert_eq!((message(&before).as_str(), opened(&before)), ("Hello to you.", vec!["message", "outline"]));
        assert_eq!(outcome.message, "Hello to you.");
    }
}

#[test]
fn of_an_answer_behind_words_nothing_is_emitted_that_another_dialect_would_not_emit() {
    let answer = "<thinking>So.</thinking>\nHere:\n```\n<message>Hello.</message>\n```\n";
    for size in [1, 2, 3, 7] {
        let (before, behind, outcome) = streamed("desk", answer, size);
        assert_eq!((message(&before).as_str(), opened(&before)), ("", vec!["thinking"]));
        assert_eq!((message(&behind).as_str(), opened(&behind)), ("Hello.", vec!["message"]));
        assert_eq!(outcome.message, "Hello.");
    }
}

#[test]
fn a_message_of_words_is_emitted_while_it_comes() {
    let (before, _, outcome) = streamed("prose", "Good morning to you all. And more.", 3);
    assert!(message(&before).starts_with("Good morning to you all."), "{before:#?}");
    assert_eq!(outcome.dialect.as_deref(), Some("spoken"));
}

#[test]
fn what_another_dialect_reads_is_emitted_as_if_there_were_no_fallback() {
    let answer = "<message>Hello to you.</message>\n```\n<message>Quoted.</message>\n```\n";
    let (before, _, outcome) = streamed("desk", answer, 1);
    assert_eq!((message(&before).as_str(), opened(&before)), ("Hello to you.", vec!["message"]));
    assert_eq!(outcome.dialect.as_deref(), Some("tagged"));
}

/// A strategy may replace text that is only quoted, so that text is withheld until the answer has been judged.
#[test]
fn what_a_strategy_may_take_out_of_a_fence_is_held() {
    let (before, behind, outcome) = streamed("open", "```\n<message>Hello.</message>\n```\n", 1);
    assert_eq!(message(&before), "");
    assert_eq!(outcome.message, "<message>Hello.</message>");
    assert_eq!(message(&behind), outcome.message);
}

#[test]
fn a_host_may_read_with_a_fallback_alone() {
    let options = Options { dialect: Some("fenced".to_owned()), ..Options::default() };
    let answer = "```\n<message>Hello.</message>\n```\n<message>Bye.</message>";
    let outcome = program(PACK).run_with(&session("desk"), answer.as_bytes(), &options);
    let codes: Vec<&str> = outcome.diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert_eq!((outcome.message.as_str(), codes), ("Hello.\n\nBye.", vec!["response/fenced-block"]));
    ledger_is_exact(&outcome, answer);
}

/// The trace does not depend on how far the other dialects have read when the fallback takes the answer.
#[test]
fn the_trace_of_a_fenced_answer_does_not_depend_on_cuts() {
    let program: &Program = program(PACK);
    for answer in [
        "```\n<message>Hello.</message>\n```\n<message>Bye.</message>\n`<file>`",
        "So:\n```\n<message>Hello.</message>\n```\n",
        "<message>Hello.</message>\n```\n<message>\n```\n",
        "Words alone.",
    ] {
        let traced = |chunk| {
            let options = Options { trace: true, chunk, ..Options::default() };
            program.run_with(&session("desk"), answer.as_bytes(), &options)
        };
        let whole = traced(None);
        ledger_is_exact(&whole, answer);
        for size in [1, 2, 3, 7] {
            assert_eq!(traced(Some(size)), whole, "{answer:?} in pieces of {size}");
        }
    }
}

/// A fallback that can never read an answer is reported, with the word at fault and the help.
#[test]
fn a_fallback_that_never_reads_is_reported_at_its_word() {
    let check = |dialects: &str, fallback: &str, expected: &[(&str, &str)]| {
        let pack = format!(
            "[pack]\nname = \"p\"\n{dialects}\n[dialects.d]\ngrammar = \"tags\"\nblocks.say = {{ role = \"message\" }}\n\
             [dialects.f]\n{fallback}\n"
        );
        let found = Program::load(&Folder::new("p", [("pack.toml", pack.as_str())])).diagnostics;
        let emitted = found.iter().map(|one| {
            let at = one.at.unwrap().span;
            (&pack[at.start..at.end], one.help.as_ref().map(ToString::to_string).unwrap_or_default())
        });
        let expected: Vec<(&str, String)> = expected.iter().map(|(word, help)| (*word, (*help).to_owned())).collect();
        assert_eq!(emitted.collect::<Vec<_>>(), expected, "{found:#?}");
    };
    let fine = "like = \"d\"\nquoted = []\nfallback = true";
    check("", fine, &[]);
    check("", &format!("{fine}\nneeds = [\"say\"]"), &[]);
    check("", "like = \"d\"\nfallback = true", &[("true", "say `quoted = []`")]);
    let as_much = "leave out what it is to read, as in `quoted = []`";
    let all = "like = \"d\"\nquoted = [\"code-span\", \"block-quote\", \"code-fence\"]\nfallback = true";
    check("", all, &[("[\"code-span\", \"block-quote\", \"code-fence\"]", as_much)]);
    let without = "add `fallback = true`: it then reads what no other dialect can";
    check("", "like = \"d\"\nquoted = []", &[("[]", without)]);
    let like = "say which as `like`: a fallback differs from another dialect only in what is `quoted`";
    let own = "grammar = \"tags\"\nblocks.say = { role = \"message\" }\nfallback = true";
    check("", own, &[("true", like)]);
    let beside = "add `d`, which it is like: a fallback reads what no other dialect can";
    check("dialects = [\"f\"]", fine, &[("\"f\"", beside)]);
    let table = format!("{fine}\n[modes.m]\ndialects = [\"f\"]");
    check("", &table, &[("\"f\"", beside)]);
}
