//! Scripts: which case describes this conversation?
//!
//! In: a program, the session in which a conversation started, its messages and answers, and the results.
//! Out: the text of a `.case` file that passes.
//! Never: returns a case that does not pass, or writes a file.

use super::expectation::PartKind;
use super::parse::parse;
use super::runner::{CaseOptions, CaseVerdict, run};
use super::talk::TurnResult;
use super::update::key;
use crate::diagnostic::Severity;
use crate::outcome::{EffectRecord, Finding};
use crate::program::Program;
use crate::session::Session;
use crate::text::Sources;
use crate::value::{Value, to_value};
use serde::Serialize;
use std::fmt::Write as _;

/// One message, answer or decision of a conversation, and its result.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The kind of part that it becomes.
    pub part: PartKind,
    /// Its text.
    pub text: String,
    /// The result.
    pub result: TurnResult,
}

/// The text of a case for a conversation that started in the session `start`.
///
/// # Errors
///
/// Why there is no case: a case cannot contain every text, or start in every session.
pub fn script(program: &Program, claim: &str, start: &Session, exchanges: &[Exchange]) -> Result<String, String> {
    let mut text = header(program, claim, start);
    let mut before = start;
    for one in exchanges {
        let line_break = if one.text.is_empty() { "" } else { "\n" };
        _ = write!(text, "\n=== {} ===\n{}{line_break}=== expect ===\n", one.part.word(), one.text);
        text += &expectation(before, &one.result);
        before = one.result.session();
    }
    proved(program, &text, exchanges).map(|()| text)
}

/// Checks that the case is parsed back to the same conversation, and passes.
fn proved(program: &Program, text: &str, exchanges: &[Exchange]) -> Result<(), String> {
    let parsed = parse(&mut Sources::default(), "talk.case", text.as_bytes());
    let case = parsed.value.filter(|_| parsed.diagnostics.is_empty());
    let same = |case: &super::Case| case.steps.iter().map(|step| &step.text).eq(exchanges.iter().map(|one| &one.text));
    let Some(case) = case.filter(same) else {
        return Err(match exchanges {
            [] => "nothing has been said yet".to_owned(),
            _ => "a text in it has a line that a case takes for a marker, such as `=== user ===`, or ends with a carriage return"
                .to_owned(),
        });
    };
    let run = run(program, &case, CaseOptions::default());
    if run.verdict == CaseVerdict::Passed {
        return Ok(());
    }
    let at = run.failures.first().map(|failure| failure.path.clone()).unwrap_or_default();
    Err(format!("the header of a case cannot express the session in which it began: `{at}` differs"))
}

fn header(program: &Program, claim: &str, start: &Session) -> String {
    let initial = program.session();
    let mut text = line("claim", claim);
    text += &line("mode", &start.mode);
    if let Some(now) = &start.now {
        text += &line("now", now);
    }
    let given = |name: &str| program.slots.get(name).is_some_and(|slot| slot.compute.is_none());
    let state: String =
        changes(&initial, start).filter(|(name, _)| given(name)).map(|(name, value)| line(name, value)).collect();
    if !state.is_empty() {
        _ = write!(text, "\n[state]\n{state}");
    }
    text
}

/// The expectation for one part: everything in its result except places and causes.
pub(super) fn expectation(before: &Session, turn_result: &TurnResult) -> String {
    let mut text = String::new();
    match turn_result {
        TurnResult::Heard(heard) => {
            text += &line("class", heard.class.as_deref().unwrap_or_default());
            if !heard.captures.is_empty() {
                text += &line("captures", &heard.captures);
            }
        }
        TurnResult::Outcome(outcome) => {
            text += &line("status", &outcome.status);
            if !outcome.message.is_empty() {
                text += &line("message", &outcome.message);
            }
            text += &lines("calls", &outcome.calls, &["action", "verdict"]);
            text += &lines("contents", &outcome.contents, &["name", "key"]);
            text += &lines("utterances", &outcome.utterances, &["speaker", "label"]);
        }
    }
    text += &effects(turn_result.effects());
    text += &codes(turn_result.diagnostics());
    let state: crate::value::Object =
        changes(before, turn_result.session()).map(|(name, value)| (name, value.clone())).collect();
    let mut session = crate::value::Object::new();
    session.insert("mode", turn_result.session().mode.clone().into());
    if !state.is_empty() {
        session.insert("state".to_owned(), state.into());
    }
    text + &line("session", &session)
}

/// The values of the state that changed.
fn changes<'s>(before: &'s Session, after: &'s Session) -> impl Iterator<Item = (&'s str, &'s crate::value::Value)> {
    after.state.iter().filter(|(name, value)| before.state.get(name) != Some(*value))
}

fn effects(effects: &[EffectRecord]) -> String {
    let effects: Vec<&crate::outcome::Effect> = effects.iter().map(|record| &record.effect).collect();
    lines("effects", &effects, &[])
}

fn codes(findings: &[Finding]) -> String {
    let of = |infos: bool| -> Vec<&str> {
        let those = findings.iter().filter(|finding| (finding.severity == Severity::Info) == infos);
        those.map(|finding| finding.code.as_str()).collect()
    };
    let remarks = of(true);
    line("codes", &of(false)) + &if remarks.is_empty() { String::new() } else { line("remarks", &remarks) }
}

/// `key = value`; empty if TOML has no such value.
fn line(key: &str, value: &(impl Serialize + ?Sized)) -> String {
    let value = to_value(value).as_ref().and_then(toml);
    value.map(|value| format!("{} = {value}\n", self::key(key))).unwrap_or_default()
}

/// A list with each entry on its own line, with only the `members` of each entry (all if none are named). Empty for an
/// empty list.
fn lines(key: &str, entries: &[impl Serialize], members: &[&str]) -> String {
    let entry = |entry| {
        let Value::Object(mut object) = to_value(entry)? else { return None };
        object.retain(|name, _| members.is_empty() || members.contains(&name));
        toml(&Value::Object(object))
    };
    let found: Option<Vec<String>> = entries.iter().map(entry).collect();
    match found {
        Some(found) if !found.is_empty() => {
            let found: String = found.iter().map(|entry| format!("  {entry},\n")).collect();
            format!("{key} = [\n{found}]\n")
        }
        _ => String::new(),
    }
}

/// The value as inline TOML, without null members. None if a list contains null, or a number is outside the range of
/// TOML.
fn toml(value: &Value) -> Option<String> {
    let scalar = |value: toml::Value| value.to_string();
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => scalar((*flag).into()),
        Value::Number(number) => match number.as_i64() {
            Some(number) => scalar(number.into()),
            None if number.is_f64() => scalar(number.as_f64().into()),
            None => return None,
        },
        Value::String(text) => scalar((**text).into()),
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Option<Vec<_>>>()?.join(", ")),
        Value::Object(members) => {
            let member = |(name, value): (&str, &Value)| Some(format!("{} = {}", self::key(name), toml(value)?));
            let members = members.iter().filter(|(_, value)| !value.is_null()).map(member);
            match members.collect::<Option<Vec<_>>>()? {
                members if members.is_empty() => "{}".to_owned(),
                members => format!("{{ {} }}", members.join(", ")),
            }
        }
    })
}
