//! Cycles: is the session restored from the prompt of `rules/dce` that contains all cycles?

use proptest::prelude::*;
use rulebook::outcome::Prompt;
use rulebook::prompt::Request;
use rulebook::{Outcome, Program};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::LazyLock;

static DCE: LazyLock<Program> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/dce");
    let loaded = Program::load(&rulebook_fs::read_pack(&path).unwrap().folder);
    loaded.value.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
});

fn written(cycles: &Value) -> Prompt {
    let session = DCE.resume(json!({ "state": { "cycles": cycles } })).unwrap();
    let prompt = DCE.prompt(&session, &Request { prompt: Some("cycles".into()), ..Request::default() });
    assert!(prompt.texts.iter().all(|text| !text.is_empty()), "{:?}", prompt.diagnostics);
    prompt
}

/// The text of the prompt, for any model.
fn text(cycles: &Value) -> String {
    written(cycles).texts.join("\n\n")
}

fn read(text: &str) -> Outcome {
    DCE.run(&DCE.resume(json!({ "mode": "cycles" })).unwrap(), text)
}

fn cycles_of(outcome: &Outcome) -> Value {
    outcome.session.state.get("cycles").unwrap().into()
}

/// The messages of the findings about a text.
fn said(outcome: &Outcome) -> Vec<&str> {
    outcome.diagnostics.iter().map(|one| one.message.as_str()).collect()
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,20}",
        r"[ \t]{0,2}\\{0,3}</?(Cycle [0-9]{1,2}|Cycle Context|Ephemeral Context|Static Context|M6\. Cycles|M2\. cycle overview|Previous Cycle [0-9] Summary of Actions)>[ \t]{0,2}",
        "(```|~~~)(xml)? ?<(/)?Cycle Context>",
        r"\\{1,2}[<`a]b?",
        Just("<file path=\"src/a.ts\">".to_owned()),
        Just("\u{feff}<Cycle 3>".to_owned()),
        Just("é\u{85}\u{2028}\0".to_owned()),
        Just(String::new()),
    ]
}

/// A text with more than white space.
fn stored() -> impl Strategy<Value = String> {
    let ends = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let lines = prop::collection::vec((line(), ends), 1..6);
    lines.prop_map(|lines| {
        let text: String = lines.into_iter().map(|(line, end)| line + end).collect();
        if text.trim().is_empty() { text + "x" } else { text }
    })
}

fn cycle() -> impl Strategy<Value = Map<String, Value>> {
    let maybe = || prop::option::of(stored());
    ("[ -~é<&]{0,20}", maybe(), prop::option::of(prop_oneof![stored(), Just(String::new())])).prop_map(
        |(title, context, answer)| {
            let mut cycle = Map::from_iter([("title".to_owned(), Value::from(title))]);
            cycle.extend(context.map(|context| ("context".to_owned(), context.into())));
            cycle.extend(answer.map(|answer| ("answer".to_owned(), answer.into())));
            cycle
        },
    )
}

/// Cycles without a gap; the newest has no answer yet.
fn cycles() -> impl Strategy<Value = Value> {
    (prop::collection::vec(cycle(), 1..5), 0..3usize, prop::option::of(stored()), prop::option::of(stored())).prop_map(
        |(mut all, first, ephemeral, fixed)| {
            if let Some(newest) = all.last_mut() {
                newest.remove("answer");
                newest.extend(ephemeral.map(|text| ("ephemeral".to_owned(), text.into())));
            }
            if let Some(zero) = all.first_mut().filter(|_| first == 0) {
                zero.remove("answer");
                zero.extend(fixed.map(|text| ("static".to_owned(), text.into())));
            }
            let named =
                all.into_iter().enumerate().map(|(number, one)| ((first + number).to_string(), Value::Object(one)));
            Value::Object(named.collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_is_read_back(cycles in cycles()) {
        let text = text(&cycles);
        let outcome = read(&text);
        prop_assert_eq!(cycles_of(&outcome), cycles, "{}", text);
        // The oldest cycle may lack the summary of the one before it.
        prop_assert_eq!(said(&outcome), Vec::<&str>::new(), "{}", text);
    }
}

#[test]
fn a_recorded_history_is_read_and_written_again() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/dce/097.txt");
    let real = std::fs::read_to_string(path).unwrap();
    let outcome = read(&real);
    let cycles = cycles_of(&outcome);
    assert_eq!(cycles.as_object().unwrap().len(), 140);
    let count = |name: &str| outcome.contents.iter().filter(|content| content.name == name).count();
    assert_eq!(["context", "ephemeral", "previous", "static"].map(count), [139, 0, 138, 1]);
    assert_eq!(cycles["78"].get("answer").map(Value::is_string), Some(true));
    assert_eq!(cycles["79"].get("answer"), None, "no answer was selected");
    // Without the overview, only the section of the cycles is left.
    assert_eq!(said(&outcome), ["there is no overview of the cycles"]);
    assert_eq!(outcome.ledger.stray + outcome.ledger.dropped, 0);
    assert_eq!(written(&cycles).texts[1], real.trim_end());
}

#[test]
fn a_history_of_megabytes_is_written() {
    let answer = "<file path=\"a.ts\">\nlet a = `<Cycle 3>` & 1;\n<Cycle Context>\n</file>\n".repeat(300);
    let cycle = |number: u32| (number.to_string(), json!({ "title": "t", "context": answer, "answer": answer }));
    let cycles: Value = (1..=139).map(cycle).collect();
    let text = text(&cycles);
    assert!(text.len() > 4 << 20, "{}", text.len());
    assert_eq!(cycles_of(&read(&text))["138"], cycles["138"]);
}

#[track_caller]
fn breaks(text: &str, expected: &[&str]) {
    let overview = "<M2. cycle overview>\nCycle 3: c\nCycle 2: b\nCycle 1: a\n</M2. cycle overview>\n";
    let outcome = read(&format!("{overview}\n<M6. Cycles>\n{text}\n</M6. Cycles>"));
    assert_eq!(said(&outcome), expected, "{text}");
}

#[test]
fn each_rule_that_a_text_breaks_is_reported() {
    let cycle = |number: u32, parts: &str| {
        let before = number - 1;
        let previous =
            format!("<Previous Cycle {before} Summary of Actions>\nx\n</Previous Cycle {before} Summary of Actions>\n");
        let previous = if number > 1 { previous } else { String::new() };
        format!("<Cycle {number}>\n<Cycle Context>\nc\n</Cycle Context>\n{parts}{previous}</Cycle {number}>\n")
    };
    let (three, two, one) = (cycle(3, ""), cycle(2, ""), cycle(1, ""));
    breaks(&format!("{three}{two}{one}"), &[]);
    let ephemeral = "<Ephemeral Context>\ne\n</Ephemeral Context>\n";
    breaks(&format!("{}{two}{one}", cycle(3, ephemeral)), &[]);
    breaks(
        &format!("{three}{}{one}", cycle(2, ephemeral)),
        &["`<Ephemeral Context>` stands in cycle 2, which is not the current one"],
    );
    breaks(&format!("{two}{three}{one}"), &["the cycles do not stand newest first"]);
    let wrong = three.replace("Previous Cycle 2", "Previous Cycle 1");
    breaks(&format!("{wrong}{two}{one}"), &["cycle 3 has the summary of cycle 1 instead of the one before it"]);
    let bare = "<Cycle 3>\n<Cycle Context>\nc\n</Cycle Context>\n</Cycle 3>\n";
    breaks(&format!("{bare}{two}{one}"), &["cycle 3 has no summary of the cycle before it"]);
    let fixed = "<Static Context>\ns\n</Static Context>\n";
    breaks(&format!("{}{two}{one}", cycle(3, fixed)), &["`<Static Context>` stands in cycle 3; it belongs in cycle 0"]);
    breaks(&format!("{}{three}{two}{one}", cycle(4, "")), &["the overview lacks cycle 4"]);
    breaks(
        &format!("{three}{two}{one}<Cycle Context>\nc\n</Cycle Context>"),
        &["`context` stands outside every cycle", "the opener of `context` lacks its key"],
    );
}
