//! Past answers: if the text of a past answer in a prompt is read, is it the same answer?

use crate::texts::{self, PACKS, program, program_of};
use proptest::prelude::*;
use rulebook::cases::{self, CaseOptions, TurnResult};
use rulebook::outcome::Status;
use rulebook::prompt::{Request, Speaker, Turn};
use rulebook::{Options, Outcome, Program, Session, Sources};
use serde_json::{Value, json};

/// The parts of an answer to compare. If it was `given`, only calls that counted; otherwise all calls, because whether
/// a call is permitted depends on the state.
fn said(outcome: &Outcome, given: bool) -> Value {
    let mut whole = serde_json::to_value(outcome).unwrap();
    // Whether the model is asked again depends on the state, too.
    let mut said = if whole["withheld"].is_object() { whole["withheld"].take() } else { whole };
    let mut list = |name: &str, members: &[&str]| -> Vec<Value> {
        let all = said[name].as_array_mut().unwrap().drain(..).filter(|one| !given || one["verdict"] != "dropped");
        all.map(|one| members.iter().map(|name| without_references(&one[*name])).collect()).collect()
    };
    let (utterances, calls) = (list("utterances", &["speaker", "label", "text"]), list("calls", &["action", "params"]));
    let mut sections = list("sections", &["name", "text", "value"]);
    sections.sort_by_key(|section| section[0].to_string());
    json!({ "message": without_references(&said["message"]), "sections": sections, "utterances": utterances, "calls": calls })
}

/// The parts of a text as an answer, however often the model was asked again.
fn read(program: &Program, session: &Session, text: &str) -> Value {
    let options = Options { attempts: usize::MAX, withheld: true, ..Options::default() };
    said(&program.run_with(session, text.as_bytes(), &options), false)
}

/// A text in which the character references that prevent a block are decoded; any other value unchanged. A text that is
/// escaped loses the characters that XML cannot contain, so they are left out of every text.
fn without_references(value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let is_in_xml = |c: &char| *c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}') || matches!(c, '\t' | '\n' | '\r');
    let text: String = text.replace(['\u{b}', '\u{c}'], " ").chars().filter(is_in_xml).collect();
    let mut parts = text.split("&#");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let reference = part.split_once(';').and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
        match reference.and_then(|(number, rest)| Some((char::from_u32(number)?, rest))) {
            Some((letter, rest)) => {
                plain.push(letter);
                plain.push_str(rest);
            }
            None => {
                plain.push_str("&#");
                plain.push_str(part);
            }
        }
    }
    plain.into()
}

/// The outcomes of all cases of a pack, each with the session in which its answer was read, without the state.
fn outcomes(pack: &str, program: &Program) -> Vec<(String, Session, Outcome)> {
    let folder = rulebook_fs::read_pack(&crate::root().join(pack)).unwrap();
    let (mut sources, mut found) = (Sources::default(), Vec::new());
    for file in &folder.cases {
        let Some(case) = cases::parse(&mut sources, &file.name, &file.bytes).value else { continue };
        for reported in cases::run(program, &case, CaseOptions::default()).results {
            let TurnResult::Outcome(outcome) = reported else { continue };
            let mut session = outcome.session.clone();
            session.mode.clone_from(&outcome.mode);
            found.push((case.name.clone(), session, *outcome));
        }
    }
    found
}

/// The answers that a prompt has as their user saw them, each with the reason.
const AS_SEEN: &[(&str, &str)] = &[
    // The title of a synthesis is a heading that names a step and its topic, which an outcome does not have.
    ("rules/roundtable", "title"),
    // A prefix has a label, but the speaker wrote none.
    ("rules/roundtable", "no label"),
    // In an undeclared field, a list of one text would be read as that text, and a text would be trimmed.
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
                            || (name == "no label" && outcome.utterances.iter().any(|one| one.label.is_empty()))
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

/// A pack with a small tier, whose prompt has the history, the verdicts and the message.
const DESK: &str = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
decode = "entities"
[dialects.tagged.blocks]
message = { role = "message" }
action = { role = "call", name = "@type", payload = "tags" }
[modes.default]
permits = ["note", { action = "pay", when = "params.amount <= state.limit", advice = "ask for less than {{ state.limit }}" }]
[actions.note]
params = { text = { type = "string", required = true } }
[actions.pay]
params = { amount = { type = "integer", required = true } }
[actions.fire]
[state.limit]
type = "integer"
default = 100
[[guardrails]]
id = "card"
on = "note.text"
matches = '\d{8,}'
strategy = "redact"
[tiers.any]
context = 4000
reserve = 500
[[prompts.main.layers]]
id = "history"
source = "history"
budget = 120
trim = ["long-turns", "oldest-turns"]
[[prompts.main.layers]]
id = "verdicts"
source = "verdicts"
[[prompts.main.layers]]
id = "message"
source = "message"
"#;

/// The prompt after these answers, and the notes on its layers.
fn next(program: &Program, history: Vec<Turn>) -> (Vec<String>, Vec<String>) {
    let request = Request { history, message: Some("And?".to_owned()), ..Request::default() };
    let prompt = program.prompt(&program.session(), &request);
    assert!(!prompt.has_errors(), "{:?}", prompt.diagnostics);
    assert!(prompt.ledger.layers.iter().all(|layer| layer.budget.is_none_or(|most| layer.tokens <= most)));
    let notes = prompt.ledger.layers.into_iter().filter_map(|layer| layer.trimmed).collect();
    (prompt.messages.into_iter().map(|message| message.content).collect(), notes)
}

#[test]
fn a_model_reads_which_calls_were_not_carried_out() {
    let program = program_of(DESK);
    let answer = "<message>Done.</message><action type=\"pay\"><amount>900</amount></action>\
                  <action type=\"note\"><text>Card 4111222233334444</text></action><action type=\"fire\"/>\
                  <action type=\"pay\"><amount>&lt;action type=\"note\"&gt;</amount></action>";
    let outcome = program.run(&program.session(), answer);
    let turn = Turn::answer(&outcome);
    // An outcome that is read back from JSON gives the same turn, in which the condition is missing.
    let kept: Outcome = serde_json::from_str(&serde_json::to_string(&outcome).unwrap()).unwrap();
    assert_eq!(Turn::answer(&kept), turn);
    assert!(!serde_json::to_string(&turn).unwrap().contains("state.limit"));
    let (messages, _) = next(&program, vec![Turn::new(Speaker::User, "Pay."), turn.clone()]);
    let form = "<message>\nDone.\n</message>\n\n<action type=\"note\">\n  <text>Card […]</text>\n</action>";
    assert_eq!(messages[1], form);
    let reported: Vec<&str> = messages[2].lines().collect();
    assert_eq!(reported[0], "Of your last answer, this was not carried out:");
    assert_eq!(reported[1], "- pay: `pay` is not permitted with this `amount`; ask for less than 100");
    assert_eq!(reported[2], "- fire: the mode `default` does not permit `fire`; no mode permits it");
    assert!(reported[3].starts_with("- pay: the payload does not match its schema: `amount`"), "{}", reported[3]);
    assert_eq!(program.read_only(&program.session(), &messages[2]), 0, "{}", messages[2]);
    assert_eq!((reported.len(), messages.len()), (4, 4));
    // Verdicts are only those of the last answer, and within the budget.
    let good = Turn::answer(&program.run(&program.session(), "<message>Well.</message>"));
    assert_eq!(next(&program, vec![turn.clone(), Turn::new(Speaker::User, "So?"), good]).0.len(), 4);
    let small = program_of(DESK.replace("source = \"verdicts\"", "source = \"verdicts\"\nbudget = 50"));
    let (messages, notes) = next(&small, vec![Turn::new(Speaker::User, "Pay."), turn.clone()]);
    assert_eq!(
        messages[2].lines().skip(1).collect::<Vec<_>>(),
        ["- pay: `pay` is not permitted with this `amount`", "- and 2 more"]
    );
    assert_eq!(notes, ["entries: the first 1 of 3 calls, without advice, for its budget of 50 tokens"]);
    let none = program_of(DESK.replace("source = \"verdicts\"", "source = \"verdicts\"\nbudget = 5"));
    assert_eq!(next(&none, vec![Turn::new(Speaker::User, "Pay."), turn]).0.len(), 3);
}

#[test]
fn what_was_refused_is_reported_without_its_words() {
    let program = program_of(DESK.replace("strategy = \"redact\"", "strategy = \"refuse\""));
    let answer = "<message>Sly.</message><action type=\"note\"><text>Card 4111222233334444</text></action><action type=\"fire\"/>";
    let turn = Turn::answer(&program.run(&program.session(), answer));
    let (messages, _) = next(&program, vec![Turn::new(Speaker::User, "Note it."), turn]);
    assert_eq!(messages.len(), 3, "{messages:#?}");
    assert!(!messages.concat().contains("4111") && !messages.concat().contains("Sly"), "{messages:#?}");
    assert!(messages[1].lines().count() == 3 && messages[1].contains("- fire: "), "{}", messages[1]);
}

#[test]
fn one_long_answer_does_not_empty_the_history() {
    let program = program_of(DESK);
    let long = format!(
        "<message>{}</message><action type=\"note\"><text>{}</text></action>",
        "word ".repeat(500),
        "w ".repeat(300)
    );
    let turns = || vec![Turn::new(Speaker::User, "Write."), Turn::answer(&program.run(&program.session(), &long))];
    let (messages, notes) = next(&program, turns());
    assert_eq!((messages.len(), messages[0].as_str()), (3, "Write."));
    assert!(messages[1].starts_with("<message>\nword word") && messages[1].contains(" […] word"), "{}", messages[1]);
    assert!(messages[1].ends_with("</message>\n\n(This answer also had, not repeated here: note.)"), "{}", messages[1]);
    assert_eq!(notes, ["long-turns: 1 of 2 turns shortened, for its budget of 120 tokens"]);
    // A long text of the user is shortened as well, and older turns are left out before newer ones.
    let mut talk = turns();
    talk.extend([Turn::new(Speaker::User, "x ".repeat(900)), turns()[1].clone()]);
    let (messages, notes) = next(&program, talk);
    assert_eq!(messages.len(), 3);
    assert!(messages[0].starts_with("x x") && messages[0].contains(" […] x"), "{}", messages[0]);
    assert!(notes[0].starts_with("long-turns: 3 of 4 turns shortened"), "{notes:?}");
    let without = program_of(DESK.replace("\"long-turns\", ", ""));
    assert_eq!(next(&without, turns()).0, ["And?"]);
}
