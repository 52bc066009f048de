//! Shortening: what remains of a turn that is too long?
//!
//! In: a turn, and the most bytes of a text.
//! Out: the turn without the middle of each longer text, and without parts that cannot be cut.
//! Never: cuts a value: parameters stay whole, or their call is listed and not repeated.

use super::turn::{Omitted, PastAnswer, Turn};
use crate::text::Slice;

/// The mark for what is left out.
const GAP: &str = " […] ";
/// The longest word, in bytes, that is left out because a part of it is.
const MAX_OMITTED_WORD_BYTES: usize = 20;

impl Turn {
    /// The turn without the middle of each text that has more than `most` bytes.
    pub(super) fn shortened(&self, most: usize) -> Self {
        let mut turn = self.clone();
        cut(&mut turn.content, most);
        if let Some(answer) = turn.outcome.as_mut().and_then(|past| past.answer.as_mut()) {
            answer.shorten(most);
        }
        turn
    }
}

impl PastAnswer {
    /// The lengths of its parts in bytes.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        let calls = self.calls.iter().map(|call| call.params.to_string().len());
        let message = self.message.iter().map(String::len);
        self.texts().map(str::len).chain(message).chain(calls)
    }

    fn shorten(&mut self, most: usize) {
        if let Some(message) = &mut self.message {
            cut(message, most);
        }
        self.utterances.iter_mut().for_each(|utterance| cut(&mut utterance.text, most));
        let omitted = &mut self.omitted;
        let mut is_short = |name: &str, length: usize| {
            if length > most {
                omitted.push(Omitted { name: name.to_owned(), key: String::new() });
            }
            length <= most
        };
        self.sections.retain_mut(|section| match &section.value {
            // A value cannot be cut.
            Some(value) => is_short(&section.name, value.to_string().len()),
            None => {
                cut(&mut section.text, most);
                true
            }
        });
        self.calls.retain(|call| is_short(&call.action, call.params.to_string().len()));
    }
}

/// Removes the middle of a text with more than `most` bytes: the start tells what the text is, and the end how it ends.
fn cut(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let room = most.saturating_sub(GAP.len());
    let (mut head, mut tail) = (room - room / 3, text.len() - room / 3);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let (start, end) = (text.slice(..head), text.slice(tail..));
    // Do not cut words, unless that would leave out a long one.
    let is_word = |word: &str| word.len() <= MAX_OMITTED_WORD_BYTES;
    let start =
        start.rsplit_once(char::is_whitespace).filter(|(_, word)| is_word(word)).map_or(start, |(rest, _)| rest);
    let end = end.split_once(char::is_whitespace).filter(|(word, _)| is_word(word)).map_or(end, |(_, rest)| rest);
    let (start, end) = (start.trim_end(), end.trim_start());
    *text = format!("{start}{GAP}{end}").trim().to_owned();
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(text: &str, most: usize, expected: &str) {
        let mut cut = text.to_owned();
        super::cut(&mut cut, most);
        assert_eq!(cut, expected);
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        check("one two three four", 18, "one two three four");
        check("one two three four five", 22, "one two […] five");
        check("éééééééééééééééé", 20, "éééé […] éé");
        check("one two three", 3, "[…]");
    }
}
