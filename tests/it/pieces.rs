//! Pieces: is an answer read in the same way however it is cut, and is every emitted text in the outcome?

use super::texts::{ledger_is_exact, program};
use rulebook::{Options, Role, StreamEvent};
use serde_json::json;

/// Every case of these packs, cut into pieces.
#[test]
fn every_case_is_read_alike_in_pieces() {
    let mut cases = 0;
    for pack in ["tests/packs/fenced-answers", "tests/packs/quotation-marks", "tests/packs/last-calls"] {
        let program = program(pack);
        for entry in std::fs::read_dir(crate::root().join(pack).join("tests")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            // The message of a provider is not cut.
            let Some((_, behind)) = text.split_once("=== response ===\n") else { continue };
            let answer = behind.split_once("\n=== expect").unwrap().0;
            for mode in program.modes() {
                let session = program.resume(json!({ "mode": mode })).unwrap();
                let whole = program.run(&session, answer);
                ledger_is_exact(&whole, answer);
                for chunk in [1, 2, 3, 7] {
                    let options = Options { chunk: Some(chunk), ..Options::default() };
                    assert_eq!(program.run_with(&session, answer.as_bytes(), &options), whole, "{answer}");
                }
            }
            cases += 1;
        }
    }
    assert!(cases > 55);
}

/// The text after the last call may be dropped, and only the end of the answer decides which call is the last.
#[test]
fn words_that_may_stand_behind_the_last_call_are_held() {
    let program = program("tests/packs/last-calls");
    let answer = "I will.\n<tool_call>{\"name\": \"dim\", \"arguments\": {\"level\": 1}}</tool_call>\nIt is dim.";
    for mode in ["chat", "kept", "free"] {
        let session = program.resume(json!({ "mode": mode })).unwrap();
        let mut reader = program.reader(&session, &Options::default());
        let mut reported: Vec<StreamEvent> = answer.as_bytes().chunks(3).flat_map(|piece| reader.push(piece)).collect();
        // The text before the call is emitted as it arrives.
        assert!(message(&reported).starts_with("I will."), "{reported:#?}");
        assert!(mode == "free" || !message(&reported).contains("dim"), "{reported:#?}");
        let (outcome, last) = reader.finish();
        reported.extend(last);
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(plain(&message(&reported)), plain(&outcome.message), "{mode}");
    }
}

fn message(events: &[StreamEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        StreamEvent::Text { role: Some(Role::Message), text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// A place in an answer is always at a character boundary.
#[test]
fn an_escape_that_json_does_not_have_ends_with_its_character() {
    let program = program("tests/packs/tool-calls");
    let session = program.resume(json!({ "mode": "open" })).unwrap();
    let answer = r#"<tool_call>{"name": "refund", "arguments": "{\"order\é": \"A-1\"}"}</tool_call>"#;
    let outcome = program.run(&session, answer);
    let escape = outcome.diagnostics.iter().find(|one| one.code.as_str() == "response/fault-escape").unwrap();
    assert_eq!(answer.get(escape.span.start..escape.span.end), Some("\\é"));
}
