//! Contracts: can the JSON of each be read back, does it match its schema, and may it get new members?

use crate::texts::{cases, program};
use proptest::prelude::*;
use rulebook::diagnostic::Row;
use rulebook::outcome::{Heard, Prompt};
use rulebook::prompt::Request;
use rulebook::schemas;
use rulebook::text::Source;
use rulebook::{Code, Defect, Options, Outcome, Reader, Session, Strategy, StreamEvent};
use rulebook_report::Pen;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Reads a value back from its JSON, and checks that the value and its JSON are the same as before. Returns the JSON.
fn returns<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> Result<Value, TestCaseError> {
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&read, value);
    prop_assert_eq!(serde_json::to_string(&read).unwrap(), text.as_str());
    Ok(serde_json::from_str(&text).unwrap())
}

fn fits(validator: &jsonschema::Validator, json: &Value) -> Result<(), TestCaseError> {
    let faults: Vec<String> = validator.iter_errors(json).map(|error| error.to_string()).collect();
    prop_assert!(faults.is_empty(), "{faults:?}\n{json:#}");
    Ok(())
}

fn validator(name: &str) -> jsonschema::Validator {
    let schema = serde_json::to_value(schemas::of(name).unwrap().schema().unwrap()).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

static OUTCOME: LazyLock<jsonschema::Validator> = LazyLock::new(|| validator("outcome"));
static HEARD: LazyLock<jsonschema::Validator> = LazyLock::new(|| validator("heard"));
static PROMPT: LazyLock<jsonschema::Validator> = LazyLock::new(|| validator("prompt"));

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_contract_is_read_as_it_is_written((pack, mode, response) in cases(), trace: bool) {
        let program = program(pack);
        let mut session = program.session();
        session.mode = mode;
        let options = Options { trace, ..Options::default() };
        let mut reader = Reader::new(program, &session, &options);
        let mut events = reader.push(&response);
        let (outcome, last) = reader.finish();
        events.extend(last);
        fits(&OUTCOME, &returns::<Outcome>(&outcome)?)?;
        for event in &events {
            returns::<StreamEvent>(event)?;
        }
        returns::<Session>(&outcome.session)?;
        let source = Source::new("answer", String::from_utf8_lossy(&response));
        for finding in &outcome.diagnostics {
            let mut row = Pen::default().finding_row(&source, finding);
            row.context = String::new();
            returns::<Row>(&row)?;
        }
        let heard = program.hear(&outcome.session, &String::from_utf8_lossy(&response), &options);
        fits(&HEARD, &returns::<Heard>(&heard)?)?;
        // The texts of a prompt are not part of its JSON, unlike its messages.
        let prompt = program.prompt(&heard.session, &Request::default());
        let text = serde_json::to_string(&prompt).unwrap();
        let read: Prompt = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text.as_str());
        fits(&PROMPT, &serde_json::from_str(&text).unwrap())?;
    }
}

#[test]
fn a_reader_of_today_reads_what_a_later_version_adds() {
    let program = program("rules/writers-factory");
    let answer = "<message>Hi.</message><action type=\"none\"/>";
    let outcome = program.run(&program.session(), answer);
    let mut json = serde_json::to_value(&outcome).unwrap();
    json["later"] = json!({ "any": 1 });
    json["calls"][0]["id"] = json!("call_1");
    json["calls"][0]["verdict"] = json!("pending");
    json["calls"][0]["span"] = json!([0, 4, 1]);
    json["diagnostics"][0]["code"] = json!("response/of-a-later-version");
    let read: Outcome = serde_json::from_value(json.clone()).unwrap();
    assert_eq!((read.calls[0].id.as_deref(), read.calls[0].span.part), (Some("call_1"), 1));
    assert_eq!(read.diagnostics[0].code, "response/of-a-later-version");
    json.as_object_mut().unwrap().remove("later");
    assert_eq!(serde_json::to_value(&read).unwrap(), json);
    assert!(validator("outcome").is_valid(&json));
}

#[test]
fn codes_and_strategies_are_types_behind_their_names() {
    for defect in Defect::ALL {
        let code = Code::Defect(*defect);
        assert_eq!(Code::from(code.as_str()), code);
        assert_eq!(serde_json::to_value(&code).unwrap(), json!(format!("response/{defect}")));
    }
    for row in rulebook::diagnostic::rows() {
        assert!(matches!(Code::from(row.name), Code::Row(found) if found == row), "{}", row.name);
    }
    for strategy in Strategy::ALL {
        let json = serde_json::to_value(strategy).unwrap();
        assert_eq!(
            (json.as_str(), serde_json::from_value(json.clone()).ok()),
            (Some(strategy.name()), Some(*strategy))
        );
    }
    let unknown = serde_json::from_value::<Strategy>(json!("shrug")).unwrap_err().to_string();
    assert!(unknown.contains("`shrug` is none of `keep`, `drop`"), "{unknown}");
}
