//! Verdicts: what does a model read about the calls of its last answer that were not executed?
//!
//! In: the calls, with the reasons for a model.
//! Out: a line for each call, within as many lines as there is room for.
//! Never: quotes what was redacted or withheld, or lets a quotation form a block.

use super::turn::{RefusedCall, Turn};
use crate::markup::Escape;
use crate::surface::Speaker;

/// The text before the lines.
const WORDS: &str = "Of your last answer, this was not carried out:";

/// The calls of the last answer of a history that were not executed.
pub(super) fn of_last(history: &[Turn]) -> &[RefusedCall] {
    let last = history.iter().rev().find(|turn| turn.role == Speaker::Assistant);
    last.and_then(|turn| turn.outcome.as_ref()).map(|past| past.refused.as_slice()).unwrap_or_default()
}

/// How much is printed about the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Detail {
    /// How many calls have a line.
    pub(super) calls: usize,
    /// Whether the lines include advice.
    pub(super) helps: bool,
}

/// The text for these calls; empty if there are none.
pub(super) fn text(calls: &[RefusedCall], detail: Detail, escape: &Escape) -> String {
    let listed = calls.get(..detail.calls).unwrap_or(calls);
    if listed.is_empty() {
        return String::new();
    }
    let mut lines = vec![WORDS.to_owned()];
    for call in listed {
        let help = call.help.as_ref().filter(|_| detail.helps);
        let help = help.map(|help| format!("; {}", escape.framed(help))).unwrap_or_default();
        lines.push(format!("- {}: {}{help}", escape.framed(&call.action), escape.framed(&call.message)));
    }
    match calls.len() - listed.len() {
        0 => {}
        more => lines.push(format!("- and {more} more")),
    }
    escape.unframed(&lines.join("\n"))
}
