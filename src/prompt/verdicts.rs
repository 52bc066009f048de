//! Verdicts: what does a model read about the calls of its last answer, and about calls that waited?
//!
//! In: the calls that were not executed, with the reasons for a model; what became of calls that waited.
//! Out: a line for each call, within as many lines as there is room for.
//! Never: quotes what was redacted or withheld, or lets a quotation form a block.

use super::turn::{RefusedCall, Turn};
use crate::markup::Escape;
use crate::session::{Resolution, Session};
use crate::surface::Speaker;

/// The text before the calls of the last answer that were not executed.
const REFUSED: &str = "Of your last answer, this was not carried out:";
/// The text before the calls that waited until now.
const RESOLVED: &str = "Of the calls that waited for a person:";
/// What is known of a call that waited in a session other than the current one.
const UNKNOWN: &str = "it no longer waits for a person";

/// What a model reads about calls, the calls of its last answer first.
#[derive(Debug, Default)]
pub(super) struct Verdicts<'h> {
    calls: Vec<VerdictLine<'h>>,
}

/// What a model reads about one call.
#[derive(Debug)]
struct VerdictLine<'h> {
    heading: &'static str,
    action: &'h str,
    message: &'h str,
    help: Option<&'h str>,
}

/// How much is printed about the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Detail {
    /// How many calls have a line.
    pub(super) calls: usize,
    /// Whether the lines include advice.
    pub(super) helps: bool,
}

impl<'h> Verdicts<'h> {
    /// The calls of the last answer of a history that were not executed, and the calls that no longer wait since then.
    pub(super) fn of(session: &'h Session, history: &'h [Turn]) -> Self {
        let last = history.iter().rev().find(|turn| turn.role == Speaker::Assistant);
        let refused = last.and_then(|turn| turn.outcome.as_ref()).map_or(&[][..], |past| &past.refused);
        let refused = refused.iter().filter_map(|call| VerdictLine::refused(session, call));
        let resolved = session.resolved.iter().filter(|(id, call)| !call.reported && !session.waits(id));
        let resolved = resolved.map(|(_, call)| VerdictLine {
            heading: RESOLVED,
            action: &call.action,
            message: words(call.resolution),
            help: None,
        });
        Self { calls: refused.chain(resolved).collect() }
    }

    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The text with this detail; empty if there are no calls.
    pub(super) fn text(&self, detail: Detail, escape: &Escape) -> String {
        let listed = self.calls.get(..detail.calls).unwrap_or(&self.calls);
        if listed.is_empty() {
            return String::new();
        }
        let (mut lines, mut heading) = (Vec::new(), "");
        for call in listed {
            if call.heading != heading {
                heading = call.heading;
                lines.push(String::from(heading));
            }
            let help = call.help.filter(|_| detail.helps);
            let help = help.map(|help| format!("; {}", escape.framed(help))).unwrap_or_default();
            lines.push(format!("- {}: {}{help}", escape.framed(call.action), escape.framed(call.message)));
        }
        match self.calls.len() - listed.len() {
            0 => {}
            more => lines.push(format!("- and {more} more")),
        }
        escape.unframed(&lines.join("\n"))
    }
}

impl<'h> VerdictLine<'h> {
    /// The line about a call of the last answer; none if the session has what became of it.
    fn refused(session: &Session, call: &'h RefusedCall) -> Option<Self> {
        let waited = call.pending.as_deref().filter(|id| !session.waits(id));
        if waited.is_some_and(|id| session.resolved.contains_key(id)) {
            return None;
        }
        let message = if waited.is_some() { UNKNOWN } else { &call.message };
        Some(Self { heading: REFUSED, action: &call.action, message, help: call.help.as_deref() })
    }
}

/// What became of a call, in words for a model.
fn words(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Confirmed => "a person confirmed it, and it was carried out",
        Resolution::Declined => "a person declined it, so it was not carried out",
        Resolution::Dropped => "a person confirmed it, but it was no longer allowed, so it was not carried out",
        Resolution::Lapsed => "no person confirmed it before your next answer, so it was not carried out",
    }
}
