//! Redactions: which text of a response is replaced, or may not be quoted?
//!
//! In: what guardrails matched, and what each match is replaced with.
//! Out: [`Redactions`]: the pieces of a text with replacements for the rest; whether something that is printed quotes
//! hidden text.
//! Never: changes the response, or the places in it.

use crate::diagnostic::Diagnostic;
use crate::text::{Slice, Span, boundary};
use crate::value::Value;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is printed in place of hidden text.
const HIDDEN: &str = "[…]";
/// The minimum length of a hidden text for which the engine's own sentences are searched: a shorter one occurs there
/// by chance.
const MIN_HIDDEN_BYTES: usize = 4;
/// At most this many bytes of a hidden text are searched for: a text that contains all of it contains its start.
const MAX_HIDDEN_BYTES: usize = 256;

/// What guardrails removed from the texts of a response.
#[derive(Debug, Default)]
pub(crate) struct Redactions {
    /// The places whose text is replaced, disjoint and in order, each with its replacement.
    replaced: Vec<(Span, Arc<str>)>,
    /// The places that may not be quoted: the replaced ones, those of values redacted in parameters, and the matches
    /// for which a text or the whole answer was removed.
    hidden: Vec<Span>,
    /// The texts at these places, after decoding, and as JSON has them if that differs.
    texts: BTreeSet<String>,
}

/// A piece of a text.
pub(super) enum RedactionPiece<'r> {
    /// As it was written.
    Written(Span),
    /// The replacement of the text there.
    Instead(Span, &'r str),
}

impl Redactions {
    pub(crate) fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Adds a place whose text is replaced. Overlapping places are merged.
    pub(super) fn replace(&mut self, span: Span, with: &Arc<str>) {
        let touches = |other: Span| span.start < other.end && other.start < span.end;
        let first = self.replaced.partition_point(|(other, _)| other.end <= span.start);
        let known = self.replaced.slice(first..).iter();
        let count = known.clone().take_while(|(other, _)| touches(*other)).count();
        let mut whole = (span, Arc::clone(with));
        if let (Some((start, with)), Some((end, _))) = (known.clone().next(), known.clone().take(count).next_back())
            && count > 0
        {
            let with = if start.start <= span.start { with } else { &whole.1 };
            whole = (Span::new(span.start.min(start.start), span.end.max(end.end)), Arc::clone(with));
        }
        self.replaced.splice(first..first + count, [whole]);
    }

    /// Adds a place and its text, which nothing that is printed may quote.
    pub(super) fn hide(&mut self, span: Span, text: &str) {
        self.hidden.push(span);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        // Messages quote values as JSON.
        let escaped = Value::from(text).to_string();
        if let Some(escaped) = escaped.get(1..escaped.len() - 1).filter(|escaped| *escaped != text) {
            self.texts.insert(escaped.to_owned());
        }
        self.texts.insert(text.to_owned());
    }

    /// Sorts the hidden places, and merges those that overlap.
    pub(super) fn merge_hidden(&mut self) {
        self.hidden.sort_unstable_by_key(|span| (span.start, span.end));
        let mut apart: Vec<Span> = Vec::with_capacity(self.hidden.len());
        for span in self.hidden.drain(..).filter(|span| !span.is_empty()) {
            match apart.last_mut().filter(|last| span.start < last.end) {
                Some(last) => last.end = last.end.max(span.end),
                None => apart.push(span),
            }
        }
        self.hidden = apart;
    }

    /// The hidden places, in order.
    pub(crate) fn hidden(&self) -> &[Span] {
        &self.hidden
    }

    /// Splits a part of the response into text as it was written and replacements.
    pub(super) fn pieces(&self, part: Span) -> impl Iterator<Item = RedactionPiece<'_>> {
        let first = self.replaced.partition_point(|(span, _)| span.end <= part.start);
        let inside = self.replaced.slice(first..).iter();
        let mut inside = inside.take_while(move |(span, _)| span.start < part.end).peekable();
        let mut at = part.start;
        std::iter::from_fn(move || {
            loop {
                let next = inside.peek().copied();
                let until = next.map_or(part.end, |(span, _)| span.start.max(at));
                if at < until {
                    let written = Span::new(at, until);
                    at = until;
                    return Some(RedactionPiece::Written(written));
                }
                let (span, with) = inside.next()?;
                let place = Span::new(span.start.max(part.start), span.end.min(part.end));
                at = place.end;
                // A place that starts before this part has its replacement in an earlier part.
                if span.start >= part.start {
                    return Some(RedactionPiece::Instead(place, with));
                }
            }
        })
    }

    /// Whether a part of the response has a place whose text is replaced.
    pub(super) fn touch(&self, part: Span) -> bool {
        let first = self.replaced.partition_point(|(span, _)| span.end <= part.start);
        self.replaced.get(first).is_some_and(|(span, _)| span.start < part.end)
    }

    /// A part of the response with replacements, without decoding.
    pub(super) fn text<'t>(&self, part: Span, response: &'t str) -> Cow<'t, str> {
        if !self.touch(part) {
            return Cow::Borrowed(part.of(response));
        }
        let pieces = self.pieces(part).map(|piece| match piece {
            RedactionPiece::Written(span) => span.of(response),
            RedactionPiece::Instead(_, with) => with,
        });
        Cow::Owned(pieces.collect::<Vec<_>>().concat())
    }

    /// Splits a part of the response at the hidden places; `then` gets each piece, and whether it is hidden.
    pub(super) fn split(&self, part: Span, mut then: impl FnMut(Span, bool)) {
        let first = self.hidden.partition_point(|span| span.end <= part.start);
        let mut at = part.start;
        for span in self.hidden.slice(first..).iter().take_while(|span| span.start < part.end) {
            let (start, end) = (span.start.max(part.start), span.end.min(part.end));
            then(Span::new(at, start), false);
            then(Span::new(start, end), true);
            at = end;
        }
        then(Span::new(at, part.end), false);
    }

    /// Removes hidden text from what is printed; `None` if nothing is hidden.
    pub(crate) fn quote_filter(&self) -> Option<QuoteFilter<'_>> {
        if self.is_empty() {
            return None;
        }
        let texts = self.texts.iter().map(|text| text.slice(..boundary(text, MAX_HIDDEN_BYTES)));
        // Not as a DFA: that takes quadratic time for texts that repeat themselves.
        let texts = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(texts);
        Some(QuoteFilter { hidden: &self.hidden, texts: texts.ok() })
    }
}

/// Removes the hidden text of a response from what is printed about it.
pub(crate) struct QuoteFilter<'r> {
    hidden: &'r [Span],
    /// `None` if there are too many texts to search for: then every text counts as containing a hidden one.
    texts: Option<AhoCorasick>,
}

impl QuoteFilter<'_> {
    /// Hides the quotations of a finding about a hidden place, and every part of a finding that contains a hidden
    /// text.
    pub(crate) fn over(&self, found: &mut Diagnostic) {
        let span = found.at.map(|at| at.span).unwrap_or_default();
        let first = self.hidden.partition_point(|hidden| hidden.end <= span.start);
        let touches = self.hidden.get(first).is_some_and(|hidden| hidden.start < span.end.max(span.start + 1));
        if touches {
            found.hide_quotes();
        }
        let holds = |text: &str, is_ours: bool| self.holds(text, if is_ours { MIN_HIDDEN_BYTES } else { 1 });
        found.message.redact(&holds, HIDDEN);
        found.help.iter_mut().chain(found.to_model.as_deref_mut()).for_each(|text| text.redact(&holds, HIDDEN));
        if found.label.as_ref().is_some_and(|label| self.holds(label, MIN_HIDDEN_BYTES)) {
            found.label = None;
        }
    }

    /// Replaces a text that contains a hidden one.
    pub(crate) fn over_text(&self, text: &mut String) {
        if self.holds(text, MIN_HIDDEN_BYTES) {
            HIDDEN.clone_into(text);
        }
    }

    /// The replacement of a value that contains a hidden text; `None` if it contains none.
    pub(super) fn instead_of(&self, value: &str) -> Option<String> {
        self.holds(value, 1).then(|| HIDDEN.to_owned())
    }

    fn holds(&self, text: &str, least: usize) -> bool {
        match &self.texts {
            Some(texts) => texts.find_overlapping_iter(text).any(|found| found.len() >= least),
            None => true,
        }
    }
}
