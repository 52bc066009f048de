//! History: which turns of the conversation does the model read?
//!
//! In: the turns so far.
//! Out: a [`Window`] of them that writes a turn only when needed: an answer in the form of the mode if that can express
//! it, and otherwise as its user saw it.
//! Never: cuts a block, or lets a turn that is not an answer contain a block.

use super::past::Rewriter;
use super::{Request, Turn};
use crate::markup::break_turn_labels;
use crate::surface::Speaker;
use std::borrow::Cow;
use std::cell::OnceCell;

/// The turns, each written when first needed.
pub(super) struct Window<'r> {
    turns: Vec<(&'r Turn, OnceCell<WrittenTurn>)>,
    rewriter: Rewriter<'r>,
}

/// The text of a turn.
#[derive(Debug, Clone)]
pub(super) struct WrittenTurn {
    pub(super) text: String,
    /// Whether it is an answer in the form of the mode, so that its blocks must not be escaped.
    pub(super) is_form: bool,
}

impl<'r> Window<'r> {
    pub(super) fn of(request: &'r Request, rewriter: Rewriter<'r>) -> Self {
        Self { turns: request.history.iter().map(|turn| (turn, OnceCell::new())).collect(), rewriter }
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn role(&self, number: usize) -> Option<Speaker> {
        self.turns.get(number).map(|(turn, _)| turn.role)
    }

    /// The text of a turn. Nothing in it can be read as a block, except the blocks of an answer in the form of the
    /// mode.
    pub(super) fn turn_text(&self, number: usize) -> &str {
        self.turn(number).map_or("", |turn| turn.text.as_str())
    }

    /// A turn as it is written.
    pub(super) fn turn(&self, number: usize) -> Option<&WrittenTurn> {
        let (turn, written) = self.turns.get(number)?;
        Some(written.get_or_init(|| self.write(turn)))
    }

    /// The length of the longest text of a turn, in bytes.
    pub(super) fn longest(&self, number: usize) -> usize {
        let Some((turn, _)) = self.turns.get(number) else { return 0 };
        let answer = turn.outcome.as_ref().and_then(|past| past.answer.as_ref());
        let parts = answer.into_iter().flat_map(|answer| answer.lengths());
        parts.chain([turn.content.len()]).max().unwrap_or_default()
    }

    /// A turn without the middle of each text that has more than `most` bytes.
    pub(super) fn shortened(&self, number: usize, most: usize) -> WrittenTurn {
        let turn = self.turns.get(number).map(|(turn, _)| turn.shortened(most));
        turn.map_or_else(|| WrittenTurn { text: String::new(), is_form: false }, |turn| self.write(&turn))
    }

    fn write(&self, turn: &Turn) -> WrittenTurn {
        let content = turn.content.trim();
        let past = turn.outcome.as_ref().filter(|_| turn.role == Speaker::Assistant);
        match past.and_then(|past| self.rewriter.rewrite(past, content)) {
            Some(text) => WrittenTurn { text, is_form: true },
            None => {
                let escape = &self.rewriter.program.prompts.escape;
                WrittenTurn { text: escape.spoken(&line(turn.role, ""), content), is_form: false }
            }
        }
    }
}

/// A turn as it is printed if all layers are one text.
pub(super) fn line(role: Speaker, words: &str) -> String {
    format!("{} {words}", role.turn_label())
}

/// The part `words` after `before`, for a prompt that is one text: no line of it looks like the start of a turn.
pub(super) fn of_one<'t>(before: &str, words: &'t str) -> Cow<'t, str> {
    break_turn_labels(Speaker::TURN_LABELS, words, || before.is_empty() || before.ends_with('\n'))
}
