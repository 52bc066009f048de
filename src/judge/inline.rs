//! Inline: does a call or a content open in the middle of a line, where the dialect counts none?
//!
//! In: the text outside every block, and the grammars of the dialect.
//! Out: a remark for each such opener that nothing quotes, up to a limit.
//! Never: makes a block of it: it stays text.

use super::Judgement;
use crate::diagnostic::{Remark, message, quote};
use crate::document::is_masked;
use crate::grammar::Machine;
use crate::program::{BlockBinding, Dialect, Family, NameSource};
use crate::surface::{Anchor, Role};
use crate::text::Span;

/// The maximum number of remarks.
const MAX_REMARKS: usize = 8;
/// The maximum number of places that are tried.
const MAX_PLACES: usize = 100;
/// The maximum length of an opener, in bytes.
const MAX_OPENER: usize = 400;

impl Judgement<'_> {
    /// Reports what would be a call or a content at the start of its line.
    pub(super) fn judge_inline(&mut self) {
        let Some(dialect) = self.dialect.filter(|dialect| dialect.outline.is_none()) else { return };
        if !dialect.blocks.iter().any(is_by_line) {
            return;
        }
        let families = || dialect.families.iter().enumerate();
        let literals = families().map(|(_, family)| family.open_prefix.literal.as_str());
        let mut literals: Vec<&str> = literals.filter(|literal| !literal.is_empty()).collect();
        literals.sort_unstable();
        // Where a text that starts with another one is, that one is, too.
        literals.dedup_by(|next, shorter| next.starts_with(*shorter));
        let mut found = Vec::new();
        for literal in literals {
            for at in self.candidates(literal) {
                let started = families().filter(|(_, family)| family.open_prefix.literal.starts_with(literal));
                found.extend(started.filter_map(|family| self.opener_at(dialect, family, at)));
            }
        }
        found.sort_by_key(|(span, _)| span.start);
        for (span, bound) in found.into_iter().take(MAX_REMARKS) {
            let opener = quote(span.of(self.text), 40);
            let message = message!("`{}` is in the middle of a line, so it is text", opener);
            self.remark(Remark::QuotedBlock, span, message, Some(bound.at));
        }
    }

    /// The places outside blocks, but not at the start of a line, where an opener that starts with this text may be.
    fn candidates(&self, literal: &str) -> Vec<usize> {
        let (text, opener) = (self.text, memchr::memmem::Finder::new(literal));
        let mut places = Vec::new();
        // The start of the line of the last place; all text is searched for line breaks once.
        let (mut line, mut searched) = (0, 0);
        for gap in self.gaps() {
            for offset in opener.find_iter(gap.of(text).as_bytes()) {
                let at = gap.start + offset;
                line = Span::new(searched, at).of(text).rfind('\n').map_or(line, |offset| searched + offset + 1);
                searched = at;
                if !Span::new(line, at).of(text).trim_start().is_empty() && !is_masked(&self.document.masks, at) {
                    places.push(at);
                }
                if places.len() == MAX_PLACES {
                    return places;
                }
            }
        }
        places
    }

    /// The opener at a place, with its block, if that is a call of an action, or a content, which counts only at the
    /// start of a line.
    fn opener_at<'d>(
        &self,
        dialect: &'d Dialect,
        (number, family): (usize, &Family),
        at: usize,
    ) -> Option<(Span, &'d BlockBinding)> {
        let end = crate::text::boundary(self.text, (at + MAX_OPENER).min(self.text.len()));
        let within = self.text.get(..end)?;
        let mut steps = self.program.limits.steps(MAX_OPENER);
        let end = Machine::new().match_at(&family.grammar, family.open, within, at, &mut steps)?;
        let span = Span::new(at, end);
        let name = self.name_at(family, family.open, span)?;
        let bound = dialect.block(dialect.names.find(name, Some(number))?).filter(|bound| is_by_line(bound))?;
        let names_action =
            || bound.sources().all(|source| *source != NameSource::Own) || self.action_called(name).is_some();
        (bound.role == Role::Content || names_action()).then_some((span, bound))
    }
}

/// Whether a block is a call or a content that counts only at the start of a line.
fn is_by_line(bound: &BlockBinding) -> bool {
    matches!(bound.role, Role::Call | Role::Content) && matches!(bound.anchor, Anchor::Line | Anchor::Paragraph)
}
