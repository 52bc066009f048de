//! Past answers: is what a prompt shows of an answer read as the same answer?

use crate::texts::{self, PACKS, program};
use proptest::prelude::*;
use rulebook::cases::{self, CaseOptions, TurnResult};
use rulebook::outcome::{Options, Outcome, Status};
use rulebook::prompt::Turn;
use rulebook::text::Sources;
use rulebook::{Program, Session};
use serde_json::{Value, json};

/// What an answer says: of the one that was given the calls that counted, and of the other all, since whether a call is
/// permitted depends on the state.
fn said(outcome: &Outcome, given: bool) -> Value {
    let mut whole = serde_json::to_value(outcome).unwrap();
    // Whether it is asked for again depends on the state, too.
    let mut said = if whole["withheld"].is_object() { whole["withheld"].take() } else { whole };
    let mut list = |name: &str, members: &[&str]| -> Vec<Value> {
        let all = said[name].as_array_mut().unwrap().drain(..).filter(|one| !given || one["verdict"] != "dropped");
        all.map(|one| members.iter().map(|name| without_references(&one[*name])).collect()).collect()
    };
    let (utterances, calls) = (list("utterances", &["speaker", "label", "text"]), list("calls", &["action", "params"]));
    let mut sections = list("sections", &["name", "text", "value"]);
    sections.sort_by_key(|section| section[0].to_string());
    let message = without_references(&said["message"]);
    json!({ "message": message, "sections": sections, "utterances": utterances, "calls": calls })
}

/// What a text says as an answer, however often it was asked for.
fn read(program: &Program, session: &Session, text: &str) -> Value {
    let options = Options { attempts: usize::MAX, withheld: true, ..Options::default() };
    said(&program.run_with(session, text.as_bytes(), &options), false)
}

/// A text without the character references that keep it from opening a block; any other value as it is.
fn without_references(value: &Value) -> Value {
    let Some(text) = value.as_str().filter(|text| text.contains("&#")) else { return value.clone() };
    let mut text = text.to_owned();
    for byte in b'!'..=b'~' {
        text = text.replace(&format!("&#{byte};"), &char::from(byte).to_string());
    }
    text.into()
}

/// The outcomes of all cases of a pack, each with the session in which its answer was read, but for the state.
fn outcomes(pack: &str, program: &Program) -> Vec<(String, Session, Outcome)> {
    let folder = rulebook_fs::read_pack(&crate::root().join(pack)).unwrap();
    let (mut sources, mut found) = (Sources::default(), Vec::new());
    for file in &folder.cases {
        let Some(case) = cases::parse(&mut sources, &file.name, &file.bytes).value else { continue };
        for told in cases::run(program, &case, CaseOptions::default()).told {
            let TurnResult::Outcome(outcome) = told else { continue };
            let mut session = outcome.session.clone();
            session.mode.clone_from(&outcome.mode);
            found.push((case.name.clone(), session, *outcome));
        }
    }
    found
}

/// The answers that are shown as their user saw them, with the reason.
const AS_SEEN: &[(&str, &str)] = &[
    // The title of a synthesis is a heading that names a step and its topic, which an outcome does not have.
    ("rules/roundtable", "title"),
    // In a field that nothing declares, a list of one text would be read as that text, and a text loses its margins.
    ("rules/writers-factory", "write_template"),
];

#[test]
fn an_answer_that_is_shown_in_its_form_is_read_as_the_same_answer() {
    for pack in PACKS {
        let program = program(pack);
        let (mut in_form, mut as_seen) = (0, 0);
        for (case, session, outcome) in outcomes(pack, program) {
            let turn = Turn::answer(&outcome);
            let Some(text) = program.rewritten(&session, &turn) else {
                if outcome.dialect.is_some() && outcome.status != Status::Refused && !turn.content.is_empty() {
                    let has = |name: &str| {
                        outcome.sections.iter().any(|section| section.name == name)
                            || outcome.calls.iter().any(|call| call.action == name)
                    };
                    assert!(AS_SEEN.iter().any(|(own, part)| own == pack && has(part)), "{pack} {case}: {turn:#?}");
                    as_seen += 1;
                }
                continue;
            };
            in_form += 1;
            assert_eq!(read(program, &session, &text), said(&outcome, true), "{pack} {case}:\n{text}");
        }
        assert!(in_form >= as_seen, "{pack}: {in_form} {as_seen}");
    }
}

#[test]
fn whatever_an_answer_says_forms_nothing_else_in_any_mode() {
    let config = ProptestConfig { cases: 500, ..ProptestConfig::default() };
    proptest!(config, |((pack, mode, answer) in texts::cases())| {
        let program = program(pack);
        let mut session = program.session();
        session.mode = mode;
        let outcome = program.run_with(&session, &answer, &Options::default());
        let turn = Turn::answer(&outcome);
        prop_assert_eq!(&serde_json::from_str::<Turn>(&serde_json::to_string(&turn).unwrap()).unwrap(), &turn);
        for mode in program.modes() {
            session.mode = mode.to_owned();
            if let Some(text) = program.rewritten(&session, &turn) {
                prop_assert_eq!(read(program, &session, &text), said(&outcome, true), "{} {}:\n{}", pack, mode, text);
            }
        }
    });
}
