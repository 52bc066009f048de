//! Matching: is the outcome what was expected?
//!
//! In: an expectation with its places, and the outcome as JSON.
//! Out: one [`CaseFailure`] for each place that does not match.
//! Never: tolerates differences: tables match as subsets, lists as a whole and in order, everything else exactly.

use super::expectation::Expectation;
use crate::diagnostic::nearest;
use crate::surface::Tree;
use crate::text::Location;
use crate::value::{Object, Value};
use std::fmt;

/// One expectation that was not met.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CaseFailure {
    /// The index of the result that it is about; none if it is about a prompt.
    pub step: Option<usize>,
    /// The place of the key in the case.
    pub at: Location,
    /// The path in the outcome, such as `calls[0].verdict`.
    pub path: String,
    /// What was expected.
    pub expected: Value,
    /// The place of the expected value in the case, if it may be replaced by the actual value.
    pub value: Option<Location>,
    /// The actual value; for tables, only the members that the expectation names. None if there is no value.
    pub got: Option<Value>,
    /// If the member does not exist: the one that was probably meant.
    pub meant: Option<String>,
    /// If the member does not exist: the members that do.
    pub beside: Vec<String>,
}

impl CaseFailure {
    /// A failure whose expected value may not be replaced.
    pub(super) fn new(at: Location, path: String, expected: Value, got: Option<Value>) -> Self {
        Self { step: None, at, path, expected, value: None, got, meant: None, beside: Vec::new() }
    }

    /// Whether the failure is that something exists which should not.
    #[doc(hidden)]
    pub fn is_unwanted(&self) -> bool {
        self.got.as_ref() == Some(&self.expected)
    }
}

/// One line without the place, for a host's log.
impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, got, .. } = self;
        match got {
            Some(got) if self.is_unwanted() => {
                write!(f, "`{path}` is not as expected: it should not contain {got}")
            }
            Some(got) => write!(f, "`{path}` is not as expected: expected {expected}, got {got}"),
            None => write!(f, "`{path}` is not as expected: expected {expected}, got nothing"),
        }
    }
}

/// Compares the expectations with the outcome of the part with the index `step`.
pub(super) fn compare(step: usize, expected: &[Expectation], outcome: &Value) -> Vec<CaseFailure> {
    let mut failures = Vec::new();
    for Expectation { key, value } in expected {
        let got = match key.value.as_str() {
            "codes" => Some(codes(outcome, |severity| severity != "info")),
            "remarks" => Some(codes(outcome, |severity| severity == "info")),
            name => outcome.get(name).cloned(),
        };
        descend(value, got.as_ref(), key.value.clone(), key.at, &mut failures);
    }
    for failure in &mut failures {
        failure.step = Some(step);
    }
    failures
}

/// The codes of the outcome's diagnostics whose severity `wanted` accepts.
fn codes(outcome: &Value, wanted: impl Fn(&str) -> bool) -> Value {
    let findings = outcome.get("diagnostics").and_then(Value::as_array);
    findings
        .into_iter()
        .flatten()
        .filter(|finding| finding.get("severity").and_then(Value::as_str).is_some_and(&wanted))
        .filter_map(|finding| finding.get("code").cloned())
        .collect()
}

pub(super) fn descend(
    expected: &Tree,
    got: Option<&Value>,
    path: String,
    at: Location,
    failures: &mut Vec<CaseFailure>,
) {
    let matches = match (expected, got) {
        (Tree::Table(members, _), Some(Value::Object(object))) => {
            for (key, value) in members {
                let (got, before) = (object.get(&key.value), failures.len());
                descend(value, got, format!("{path}.{}", key.value), key.at, failures);
                if let (None, [failure]) = (got, failures.get_mut(before..).unwrap_or_default()) {
                    failure.meant = nearest(&key.value, object.keys()).map(str::to_owned);
                    failure.beside = object.keys().map(str::to_owned).collect();
                }
            }
            true
        }
        (Tree::List(items, _), Some(Value::Array(found))) if items.len() == found.len() => {
            for (index, (item, found)) in items.iter().zip(&**found).enumerate() {
                descend(item, Some(found), format!("{path}[{index}]"), item.at(), failures);
            }
            true
        }
        // TOML has no null: a case writes it as the empty text.
        (Tree::Text(text), Some(Value::Null)) => text.value.is_empty(),
        (Tree::Text(text), Some(Value::String(found))) => *text.value == **found,
        (Tree::Constant(value, _), Some(found)) => equal(value, found),
        _ => false,
    };
    if !matches {
        let got = got.map(|got| likeness(expected, got));
        failures
            .push(CaseFailure { value: Some(expected.at()), ..CaseFailure::new(at, path, expected.to_json(), got) });
    }
}

/// Whether two values without members are equal; `1` equals `1.0`.
fn equal(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && other.is_number() && one.as_f64() == other.as_f64())
}

/// The parts of `got` that the expectation is about: for tables, the members that it names.
fn likeness(expected: &Tree, got: &Value) -> Value {
    match (expected, got) {
        (Tree::Table(members, _), Value::Object(object)) => members
            .iter()
            .filter_map(|(key, value)| Some((key.value.clone(), likeness(value, object.get(&key.value)?))))
            .collect::<Object>()
            .into(),
        (Tree::List(items, _), Value::Array(found)) => {
            let rest = items.last();
            let wanted = items.iter().map(Some).chain(std::iter::repeat(rest));
            found
                .iter()
                .zip(wanted)
                .map(|(found, item)| item.map_or(found.clone(), |item| likeness(item, found)))
                .collect()
        }
        _ => got.clone(),
    }
}
