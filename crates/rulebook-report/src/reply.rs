//! Replies for people: how does a reply in parts become one text?
//!
//! In: a reply and its outcome, whose places are relative to the parts of the reply.
//! Out: the reply as one text, with each call on lines of its own, after the name of its tool; and the outcome with its
//! places in that text.
//! Never: changes anything of an outcome but places.

use rulebook::text::Lines;
use rulebook::{Extent, Outcome, Reply, ReplyPart};

/// The reply as one text, and the outcome with its places in that text.
pub fn flattened(reply: &Reply, outcome: &Outcome) -> (String, Outcome) {
    let mut text = reply.text();
    let mut starts = vec![0];
    let mut add = |before: &str, part: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(before);
        starts.push(text.len());
        text.push_str(part);
    };
    for part in &reply.parts {
        if let ReplyPart::Call { name, arguments, .. } = part {
            add(&format!("{name} "), arguments);
        }
    }
    for part in &reply.parts {
        if let ReplyPart::Thinking { text } = part {
            add("", text);
        }
    }
    let mut outcome = outcome.clone();
    let place = |extent: &mut Extent| {
        let start = starts.get(extent.part as usize).copied().unwrap_or_default();
        (extent.part, extent.start, extent.end) = (0, start + extent.start, start + extent.end);
    };
    let lines = Lines::new(&text);
    outcome.calls.iter_mut().for_each(|call| place(&mut call.span));
    outcome.redacted.iter_mut().for_each(place);
    outcome.trace.iter_mut().flatten().for_each(|step| place(&mut step.span));
    for found in &mut outcome.diagnostics {
        place(&mut found.span);
        let at = lines.place(found.span.start);
        (found.line, found.column) = (at.line, at.column);
    }
    (text, outcome)
}
