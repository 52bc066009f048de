//! Exact: how many tokens does a text have in a vocabulary of OpenAI?
//!
//! In: a text.
//! Out: its number of tokens.
//! Never: counts a paragraph twice, as long as it remembers it: from one prompt to the next, most of them stay.

use super::count::Counter;
use bpe_openai::Tokenizer;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The most bytes of paragraphs that are remembered for a vocabulary.
const MAX_REMEMBERED_BYTES: usize = 1 << 20;

/// Counts by a vocabulary. It is loaded when it first counts.
pub(super) struct Exact {
    vocabulary: fn() -> &'static Tokenizer,
    counted: OnceLock<Mutex<Counted>>,
}

/// Paragraphs, with the number of tokens in each.
#[derive(Default)]
struct Counted {
    tokens: HashMap<Box<str>, usize>,
    bytes: usize,
}

impl Exact {
    pub(super) const fn new(vocabulary: fn() -> &'static Tokenizer) -> Self {
        Self { vocabulary, counted: OnceLock::new() }
    }
}

impl Counter for Exact {
    fn count(&self, text: &str) -> usize {
        let counted = self.counted.get_or_init(Mutex::default);
        let mut new = Vec::new();
        let known: usize = {
            let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
            let known = paragraphs(text).filter_map(|paragraph| {
                let tokens = counted.tokens.get(paragraph).copied();
                new.extend(tokens.is_none().then_some(paragraph));
                tokens
            });
            known.sum()
        };
        if new.is_empty() {
            return known;
        }
        // Counted without the lock, so that threads count at the same time.
        let vocabulary = (self.vocabulary)();
        let new: Vec<(&str, usize)> =
            new.into_iter().map(|paragraph| (paragraph, vocabulary.count(paragraph))).collect();
        let total = known + new.iter().map(|(_, tokens)| tokens).sum::<usize>();
        counted.lock().unwrap_or_else(PoisonError::into_inner).remember(new);
        total
    }
}

impl Counted {
    fn remember(&mut self, new: Vec<(&str, usize)>) {
        for (paragraph, tokens) in new.into_iter().filter(|(paragraph, _)| paragraph.len() <= MAX_REMEMBERED_BYTES / 16)
        {
            if self.bytes + paragraph.len() > MAX_REMEMBERED_BYTES {
                *self = Self::default();
            }
            if self.tokens.insert(paragraph.into(), tokens).is_none() {
                self.bytes += paragraph.len();
            }
        }
    }
}

/// The text in parts, whose tokens add up to those of the text. A part ends with a line break before a character at
/// which a token always starts: in the patterns of both vocabularies, only white space and `/` may continue the token
/// of a line break.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut breaks = memchr::memmem::find_iter(rest.as_bytes(), b"\n\n").map(|at| at + 2);
        let starts = |at: &usize| rest.as_bytes().get(*at).is_some_and(|byte| byte.is_ascii_graphic() && *byte != b'/');
        let (paragraph, after) = rest.split_at(breaks.find(starts).unwrap_or(rest.len()));
        rest = after;
        (!paragraph.is_empty()).then_some(paragraph)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_have_as_many_tokens_as_the_text() {
        let mut texts: Vec<String> = [
            include_str!("../../tests/corpus/dce/045.txt"),
            include_str!("../../tests/corpus/dce/049.txt"),
            include_str!("../../README.md"),
            include_str!("../../docs/models.md"),
        ]
        .map(str::to_owned)
        .to_vec();
        for space in ["\n\n", "\n\n\n", " \n\n", "\r\n\r\n", "\n\n ", "\n\n/", "\n\n//"] {
            for mark in [".", "a", "/", "!/", "\u{e9}", " ", "```", "'", "1", "\u{2014}"] {
                texts.push(format!("{mark}{space}{mark}b{space}'s {mark}{mark}{space}{space}{mark}"));
            }
        }
        for vocabulary in [bpe_openai::o200k_base, bpe_openai::cl100k_base] {
            let counter = Exact::new(vocabulary);
            for text in texts.iter().chain(&texts) {
                assert_eq!(counter.count(text), vocabulary().count(text), "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let counter = Exact::new(bpe_openai::o200k_base);
        for number in 0..200 {
            let text = format!("{number}{}", " word".repeat(2_000));
            assert_eq!(counter.count(&text), bpe_openai::o200k_base().count(&text));
        }
        let counted = counter.counted.get().unwrap().lock().unwrap();
        assert!(counted.bytes <= MAX_REMEMBERED_BYTES && counted.bytes > MAX_REMEMBERED_BYTES / 2, "{}", counted.bytes);
    }
}
