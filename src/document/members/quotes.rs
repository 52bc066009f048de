//! Quotes: where does a string with ambiguous quotes end?
//!
//! In: the start of a string in a faulty object, and the open containers around it.
//! Out: the string as a node of the tape, its faults, and the part of it that looks like a member.
//! Never: goes back further than over the punctuation before a key.
//!
//! A model that quotes code may forget to escape a quote, or to write the last one. A string ends at the first quote
//! after which the object can continue, or where the punctuation and key that follow show that its closing quote is
//! missing.

use super::cursor::Cursor;
use super::keys;
use super::quote_end::{self, StringContext};
use super::tape::MemberNodeKind;
use crate::grammar::RuleId;
use crate::text::{Slice, Span};

/// A string that has been read.
pub(super) struct QuotedText {
    pub(super) kind: MemberNodeKind,
    pub(super) span: Span,
    /// Whether the response ends inside the string.
    pub(super) cut: bool,
    /// The first part of the string that looks like a member but is text.
    pub(super) nested: Option<Span>,
}

/// Reads the string that starts here, with its opening quote if `opened`.
pub(super) fn read(cursor: &mut Cursor<'_, '_>, around: StringContext<'_>, opened: bool) -> QuotedText {
    let start = cursor.at;
    let from = start + usize::from(opened);
    let known = cursor.faults.len();
    let mut nested = None;
    cursor.at = from;
    // Find where the text ends: at its closing quote, or where the object continues without one.
    let (end, cut) = loop {
        cursor.at = cursor.run(cursor.outline.text).unwrap_or(cursor.bytes.len());
        let faults = &cursor.outline.faults;
        let fault = match cursor.bytes.get(cursor.at) {
            None => break (None, true),
            Some(b'"')
                if faults.bare_quote.is_none() || quote_end::ends(cursor.outline, cursor.text, cursor.at, around) =>
            {
                let end = (!opened).then_some(cursor.at);
                cursor.at += 1;
                break (end, false);
            }
            Some(b'"') => {
                if let Some(end) = end_without_quote(cursor, from, known, around) {
                    break (Some(end), false);
                }
                nested = nested.or_else(|| member(cursor));
                faults.bare_quote
            }
            Some(b'\\') => faults.surrogate.filter(|rule| cursor.run(*rule).is_some()).or(faults.escape),
            Some(_) => faults.bare_newline,
        };
        match fault.and_then(|rule| Some((rule, cursor.run(rule)?))).filter(|(_, end)| *end > cursor.at) {
            Some((rule, end)) => {
                // Each kind of fault is reported once per string.
                if !cursor.faults.iter().skip(known).any(|(found, _)| *found == rule) {
                    cursor.record(Some(rule), Span::new(cursor.at, end));
                }
                cursor.at = end;
            }
            // A backslash at the very end starts no escape.
            None => {
                cursor.at = cursor.bytes.len();
                break (None, true);
            }
        }
    };
    let (kind, span) = match end {
        Some(end) => (MemberNodeKind::Torn, Span::new(from, end)),
        None => (if opened { MemberNodeKind::String } else { MemberNodeKind::Torn }, Span::new(start, cursor.at)),
    };
    QuotedText { kind, span, cut, nested }
}

/// The end of the text from `from`, if the quote here starts the next key. Moves back to that end, and removes the
/// faults after it, except for the first `known` faults.
fn end_without_quote(
    cursor: &mut Cursor<'_, '_>,
    from: usize,
    known: usize,
    around: StringContext<'_>,
) -> Option<usize> {
    let rule = cursor.outline.faults.missing_quote?;
    let missed = quote_end::missed(cursor.outline, cursor.text, from, cursor.at, around)?;
    // These faults are outside the string.
    let outside = |(_, span): &mut (RuleId, Span)| span.start >= missed;
    while cursor.faults.len() > known && cursor.faults.pop_if(outside).is_some() {}
    cursor.at = missed;
    cursor.miss(Some(rule));
    Some(from + cursor.text.slice(from..missed).trim_end().len())
}

/// The known key of a member here, if there is one.
fn member(cursor: &Cursor<'_, '_>) -> Option<Span> {
    let key = keys::any(cursor.text, cursor.at).filter(|key| cursor.outline.knows(key.name))?;
    Some(Span::new(cursor.at, key.value))
}

/// Whether words without quotes, up to `end`, are a string whose opening quote is missing: the text after them cannot
/// follow a value, but the next quote ends a string.
pub(super) fn lack_first(cursor: &mut Cursor<'_, '_>, end: usize, around: StringContext<'_>) -> bool {
    if quote_end::goes_on(cursor.outline, cursor.text, end, around) {
        return false;
    }
    let quote = cursor.find_quote();
    cursor.byte_at(quote) == b'"' && quote_end::ends(cursor.outline, cursor.text, quote, around)
}
