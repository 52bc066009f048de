//! Announcements: what can be told before the response has ended?
//!
//! In: a [`Scanner`] after each piece of the response.
//! Out: [`Announcement`]s: facts of the document that no continuation can change, each once, in order.
//! Never: tells a verdict: those come with the outcome.

use super::Given;
use super::edges::{first_marks, frames};
use super::reader::Scanner;
use crate::program::{BlockId, Called, Outside};
use crate::surface::{Ending, Role, Trim};
use crate::text::{Span, boundary};

/// A fact of the document that no continuation of the response can change.
///
/// Facts come in the order of the response: a block's text and the blocks inside it stand between its opening and its closing,
/// which comes for each that opened, unless the response turns out to be too large. What counts of it is the outcome's to say:
/// text that is shown already is a draft of [`Outcome::message`](crate::Outcome).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Announcement {
    /// A block opened.
    Opened {
        /// Its number; blocks count from 0 in the order of their openers.
        block: usize,
        /// The name that the pack binds.
        name: String,
        /// What the block is.
        role: Role,
        /// Where its opener starts, in the bytes of [`Reader::text`](crate::Reader::text).
        start: usize,
    },
    /// Text of a block, as it stands in the response, with entities and escapes; adjacent pieces belong together.
    Text {
        /// The block; none outside every block.
        block: Option<usize>,
        /// What it belongs to. [`Role::Message`] is what a user may read already: text of the section that is the message
        /// (`[reply]` `shows`), too. None outside every block, unless the dialect takes what stands there for the message
        /// or, before the first block of the answer, for a section.
        role: Option<Role>,
        /// The text.
        text: String,
    },
    /// A block is closed.
    Closed {
        /// Its number.
        block: usize,
        /// The whole block.
        span: Span,
    },
}

/// What has been announced.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Blocks whose closing has been told.
    blocks: usize,
    opened: bool,
    /// Whether a block opened that is part of an answer.
    answers: bool,
    at: usize,
    /// Up to where only white space stands that may yet be trimmed.
    blank: usize,
}

impl Given<'_> {
    /// What text of a block is told to be.
    pub(super) fn role_of(&self, id: BlockId) -> Option<Role> {
        let block = self.block(id)?;
        let name = match &block.called {
            Called::Own => Some(&block.name),
            Called::Word(word) => Some(word),
            Called::Attribute(_) | Called::Around(..) | Called::Payload { .. } => None,
        };
        Some(match block.role {
            Role::Section => self.section(name.map(String::as_str)),
            role => role,
        })
    }

    /// The same of text outside every block, before or behind the first one of an answer.
    pub(super) fn role_outside(&self, behind: bool) -> Option<Role> {
        match &self.dialect.text {
            Outside::Message => Some(Role::Message),
            Outside::Section(name) if !behind => Some(self.section(Some(name))),
            Outside::Section(_) | Outside::Stray => None,
        }
    }

    /// A section that is shown is the message.
    fn section(&self, name: Option<&str>) -> Role {
        if self.shows.is_some() && self.shows == name { Role::Message } else { Role::Section }
    }
}

impl Scanner {
    /// Adds what became certain since the last call.
    pub(super) fn announce(&mut self, given: &Given<'_>, complete: bool, out: &mut Vec<Announcement>) {
        while let Some(block) = self.blocks.get(self.told.blocks) {
            if block.parent().is_none() {
                let (id, span) = (block.id, block.span());
                self.tell_whole(given, self.told.blocks, id, span, out);
                self.told.opened = false;
            }
            self.told.blocks += 1;
        }
        match &self.open {
            Some(open) if !complete => {
                let (id, opener, first) = (open.id, open.opener, open.first);
                self.tell_so_far(given, id, opener, first, out);
            }
            _ => {
                let end = if complete { given.text.len() } else { self.outside_until() };
                self.tell(given, None, end.max(self.told.at), out);
            }
        }
    }

    /// Tells a block that has ended, and those inside it.
    fn tell_whole(&mut self, given: &Given<'_>, number: usize, id: BlockId, span: Span, out: &mut Vec<Announcement>) {
        if !self.told.opened {
            self.tell(given, None, span.start, out);
            self.tell_opened(given, number, id, span.start, out);
        }
        let children: Vec<(usize, BlockId, Span, Span)> = self
            .blocks
            .from(number)
            .take_while(|(child, block)| *child == number || block.parent().is_some())
            .map(|(child, block)| (child, block.id, block.span(), block.inner()))
            .collect();
        let mut stack: Vec<(usize, Span, Span)> = Vec::new();
        for (child, id, span, inner) in children {
            while let Some((parent, outer, body)) = stack.pop_if(|(_, outer, _)| outer.end <= span.start) {
                self.tell_closed(given, parent, outer, body, out);
            }
            if child != number {
                self.tell(given, stack.last().map(|(parent, _, _)| *parent), span.start, out);
                self.tell_opened(given, child, id, span.start, out);
            }
            self.told.at = self.told.at.max(inner.start);
            stack.push((child, span, inner));
        }
        while let Some((parent, outer, body)) = stack.pop() {
            self.tell_closed(given, parent, outer, body, out);
        }
    }

    /// Tells of the block that is open what is its text whichever rung ends it; `first` is the first mark behind its opener.
    fn tell_so_far(&mut self, given: &Given<'_>, id: BlockId, opener: Span, first: usize, out: &mut Vec<Announcement>) {
        let Some(block) = given.block(id) else { return };
        let number = self.blocks.len();
        if !self.told.opened {
            self.tell(given, None, opener.start, out);
        }
        // How many calls a list holds is known at its end.
        if block.named_within().is_some_and(|(_, each)| each) {
            return;
        }
        if !self.told.opened {
            self.tell_opened(given, number, id, opener.start, out);
            self.told.opened = true;
            self.told.at = opener.end;
        }
        if block.role == Role::Call {
            return;
        }
        let certain = self.marker.mark(first).map_or(self.marker.at.min(self.masks.decided()), |mark| mark.start());
        // A fence may end it where it stands, and what frames the next block is none of its text.
        let framed =
            block.trim.contains(&Trim::WrappingFence) || block.ends.iter().flatten().any(|end| *end == Ending::Fence);
        let from = self.told.at.max(self.told.blank.saturating_sub(2));
        let rest = given.text.as_bytes().get(from..certain).filter(|_| framed);
        let certain = rest.and_then(first_marks).map_or(certain, |fence| from + fence);
        let from = self.told.at.max(self.told.blank);
        if let Some(fresh) = given.text.get(from..certain) {
            self.told.blank = certain;
            let shown = fresh.trim_end_matches(|c: char| c.is_whitespace() || (framed && frames(c))).len();
            if shown > 0 {
                self.tell(given, Some(number), from + shown, out);
            }
        }
    }

    /// Up to where it is known that nothing opens.
    fn outside_until(&self) -> usize {
        // A block may yet turn out to have opened where the answer starts.
        if self.prelude.is_some() {
            return 0;
        }
        let next = self.marker.mark(self.next).map_or(usize::MAX, |mark| mark.start());
        next.min(self.marker.at).min(self.masks.decided())
    }

    fn tell(&mut self, given: &Given<'_>, block: Option<usize>, end: usize, out: &mut Vec<Announcement>) {
        let text = given.text;
        let end = boundary(text, end);
        if block.is_none() && !self.markup.is_empty() && self.told.at < end {
            let gaps = Span::new(self.told.at, end).without(&self.markup);
            let role = given.role_outside(self.told.answers);
            out.extend(gaps.map(|gap| Announcement::Text { block: None, role, text: gap.of(text).to_owned() }));
            self.told.at = end;
            return;
        }
        if let Some(piece) = text.get(self.told.at..end).filter(|piece| !piece.is_empty()) {
            let role = match block {
                Some(number) => {
                    let id = self.blocks.get(number).map(|block| block.id).or(self.open.as_ref().map(|open| open.id));
                    id.and_then(|id| given.role_of(id))
                }
                None => given.role_outside(self.told.answers),
            };
            out.push(Announcement::Text { block, role, text: piece.to_owned() });
            self.told.at = end;
        }
    }

    fn tell_opened(&mut self, given: &Given<'_>, block: usize, id: BlockId, start: usize, out: &mut Vec<Announcement>) {
        if let Some((name, role)) = given.block(id).map(|block| (block.name.clone(), block.role)) {
            self.told.answers |= role.is_answer();
            out.push(Announcement::Opened { block, name, role, start });
        }
    }

    fn tell_closed(&mut self, given: &Given<'_>, block: usize, span: Span, inner: Span, out: &mut Vec<Announcement>) {
        self.tell(given, Some(block), inner.end, out);
        self.told.at = self.told.at.max(span.end);
        out.push(Announcement::Closed { block, span });
    }
}
