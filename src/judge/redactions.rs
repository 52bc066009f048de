//! Redactions: what is replaced, or may not be quoted, of a response?
//!
//! In: what guardrails matched, and what each match is replaced with.
//! Out: [`Redactions`]: the pieces of a text with replacements for the rest; whether something that is printed quotes
//! hidden text.
//! Never: changes the response, or the places in it.

use crate::diagnostic::Diagnostic;
use crate::text::Span;
use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is printed in place of something that no one may see.
const HIDDEN: &str = "[…]";
/// A sentence of our own that holds something this short holds it by accident.
const SHORTEST: usize = 4;

/// What guardrails took out of the texts of a response.
#[derive(Debug, Default)]
pub(crate) struct Redactions {
    /// The places whose text is replaced, apart from each other and in order, each with its replacement.
    replaced: Vec<(Span, Arc<str>)>,
    /// The places that no one may see: those, what was taken out of parameters, and what made the whole answer or a
    /// text of it go.
    hidden: Vec<Span>,
    /// What is there, as texts have it.
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

    /// Adds a place whose text is replaced. Places that overlap are one.
    pub(super) fn replace(&mut self, span: Span, with: &Arc<str>) {
        let touches = |other: Span| span.start < other.end && other.start < span.end;
        let first = self.replaced.partition_point(|(other, _)| other.end <= span.start);
        let known = self.replaced.get(first..).unwrap_or_default().iter();
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

    /// Adds a place, and what is there, that nothing which is printed may quote.
    pub(super) fn hide(&mut self, span: Span, text: &str) {
        self.hidden.push(span);
        if !text.trim().is_empty() {
            self.texts.insert(text.trim().to_owned());
        }
    }

    /// Puts the hidden places in order, as one where they overlap.
    pub(super) fn settle(&mut self) {
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

    /// The places that no one may see, in order.
    pub(crate) fn hidden(&self) -> &[Span] {
        &self.hidden
    }

    /// A part of the response in pieces.
    pub(super) fn pieces(&self, part: Span) -> impl Iterator<Item = RedactionPiece<'_>> {
        let first = self.replaced.partition_point(|(span, _)| span.end <= part.start);
        let inside = self.replaced.get(first..).unwrap_or_default().iter();
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
                // What goes on from a piece before has been replaced there.
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

    /// The text of a part of the response that is not decoded.
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

    /// Splits a part of the response at the hidden places, and says of each piece whether it is one.
    pub(super) fn split(&self, part: Span, mut then: impl FnMut(Span, bool)) {
        let first = self.hidden.partition_point(|span| span.end <= part.start);
        let mut at = part.start;
        for span in self.hidden.get(first..).unwrap_or_default().iter().take_while(|span| span.start < part.end) {
            let (start, end) = (span.start.max(part.start), span.end.min(part.end));
            then(Span::new(at, start), false);
            then(Span::new(start, end), true);
            at = end;
        }
        then(Span::new(at, part.end), false);
    }

    /// Removes hidden text from what is printed; none if nothing is hidden.
    pub(crate) fn veil(&self) -> Option<Veil<'_>> {
        if self.is_empty() {
            return None;
        }
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        Some(Veil { hidden: &self.hidden, texts: AhoCorasick::new(texts).ok() })
    }
}

/// Removes the hidden text of a response from what is printed about it.
pub(crate) struct Veil<'r> {
    hidden: &'r [Span],
    /// None if there are too many texts to look for: then nothing is quoted.
    texts: Option<AhoCorasick>,
}

impl Veil<'_> {
    /// Hides what a finding quotes, if it is about a hidden place, and whatever in it holds a hidden text.
    pub(crate) fn over(&self, found: &mut Diagnostic) {
        let span = found.at.map(|at| at.span).unwrap_or_default();
        let first = self.hidden.partition_point(|hidden| hidden.end <= span.start);
        let touches = self.hidden.get(first).is_some_and(|hidden| hidden.start < span.end.max(span.start + 1));
        if touches {
            found.hide_quotes();
        }
        let holds = |text: &str, is_ours: bool| self.holds(text, if is_ours { SHORTEST } else { 1 });
        found.message.conceal(&holds, HIDDEN);
        found.help.iter_mut().chain(found.to_model.as_deref_mut()).for_each(|text| text.conceal(&holds, HIDDEN));
        if found.label.as_ref().is_some_and(|label| self.holds(label, SHORTEST)) {
            found.label = None;
        }
    }

    /// Hides a text that holds a hidden one.
    pub(crate) fn over_text(&self, text: &mut String) {
        if self.holds(text, SHORTEST) {
            HIDDEN.clone_into(text);
        }
    }

    fn holds(&self, text: &str, least: usize) -> bool {
        match &self.texts {
            Some(texts) => texts.find_overlapping_iter(text).any(|found| found.len() >= least),
            None => true,
        }
    }
}
