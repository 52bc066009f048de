//! Prompts in cases: is the prompt as expected?
//!
//! In: expectations with their places, and a prompt.
//! Out: one [`CaseFailure`] for each place that does not match.
//! Never: compares more of a prompt than the case expects.

use super::expectation::Expectation;
use super::matching::{CaseFailure, descend};
use crate::diagnostic::Severity;
use crate::outcome::Prompt;
use crate::surface::Tree;
use crate::text::{Location, Present};
use crate::value::{Value, to_value};

/// Compares what is expected with a prompt.
pub(super) fn compare(expected: &[Expectation], prompt: &Prompt) -> Vec<CaseFailure> {
    let mut failures = Vec::new();
    let json = to_value(prompt).present();
    for Expectation { key, value } in expected {
        let got = match key.value.as_str() {
            "text" => Some(prompt.text.as_str().into()),
            name @ ("contains" | "lacks") => {
                texts(value, key.value.clone(), key.at, &prompt.text, name == "contains", &mut failures);
                continue;
            }
            "layers" => Some(layers(value, &json)),
            "tokens_at_most" => Some(prompt.ledger.tokens)
                .filter(|tokens| !within(value, *tokens))
                .map_or_else(|| Some(value.to_json()), |tokens| Some(tokens.into())),
            "codes" => {
                let reported = prompt.diagnostics.iter().filter(|finding| finding.severity != Severity::Info);
                Some(reported.map(|finding| Value::from(finding.code.as_str())).collect())
            }
            name => json.get(name).cloned(),
        };
        descend(value, got.as_ref(), key.value.clone(), key.at, &mut failures);
    }
    failures
}

/// Whether a case says which findings it expects of a prompt.
pub(super) fn expects_findings(expected: &[Expectation]) -> bool {
    expected.iter().any(|one| matches!(one.key.value.as_str(), "codes" | "diagnostics"))
}

/// Checks a text or a list of texts that the prompt should contain if `wanted`, or lack if not.
fn texts(expected: &Tree, path: String, at: Location, prompt: &str, wanted: bool, failures: &mut Vec<CaseFailure>) {
    let got = match expected {
        Tree::List(items, _) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, format!("{path}[{index}]"), item.at(), prompt, wanted, failures);
            }
            return;
        }
        Tree::Text(text) if prompt.contains(&text.value) == wanted => return,
        Tree::Text(text) if !wanted => Some(text.value.as_str().into()),
        _ => None,
    };
    failures.push(CaseFailure::new(at, path, expected.to_json(), got));
}

/// The layers with text: the whole layer where a table is expected, otherwise its name.
fn layers(expected: &Tree, prompt: &Value) -> Value {
    let all = prompt.pointer("/ledger/layers").and_then(Value::as_array);
    let is_present = |layer: &&Value| layer.get("tokens").and_then(Value::as_u64).is_some_and(|tokens| tokens > 0);
    let whole = |number: usize| match expected {
        Tree::List(items, _) => matches!(items.get(number), Some(Tree::Table(..))),
        _ => false,
    };
    let present = all.into_iter().flatten().filter(is_present).enumerate();
    present
        .map(|(number, layer)| if whole(number) { layer.clone() } else { layer.get("id").cloned().unwrap_or_default() })
        .collect()
}

fn within(expected: &Tree, tokens: usize) -> bool {
    matches!(expected, Tree::Constant(most, _) if most.as_u64().is_some_and(|most| tokens as u64 <= most))
}
