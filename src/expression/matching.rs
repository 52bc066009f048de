//! Matching: does a pattern match in a text?
//!
//! In: a pattern that an author writes in quotes, and texts.
//! Out: [`Pattern`], which is compiled when the expression is read.
//! Never: compiles a pattern while an expression is evaluated.

use super::Fault;
use super::token::{Syntax, Token, tokens};
use super::tree::Tree;
use crate::diagnostic::{Code, bad_pattern_words};
use crate::text::pattern;
use regex::{Regex, RegexBuilder};

/// The name of the test.
pub(super) const TEST: &str = "matching";

/// The size limit of a compiled pattern, in bytes.
const LARGEST: usize = 1 << 20;

/// A pattern of the `regex` crate; it may match anywhere.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// The pattern that is written in quotes at `tree`.
    pub(super) fn of(tree: &Tree, source: &str) -> Result<Self, Fault> {
        if tree.text().is_none() {
            return Err(Fault::new(tree.span, "a pattern is written in quotes"));
        }
        let mut text = String::new();
        for (token, _) in tokens(tree.span.of(source), Syntax::Expression)? {
            if let Token::Quoted(quoted) = token {
                text.push_str(&pattern(quoted));
            }
        }
        let bad = |message: String, help: String| Fault {
            code: Code::PACK_PATTERN,
            ..Fault::new(tree.span, message).help(help)
        };
        // `\b` in a TOML text in double quotes is a backspace, which no text has: such a pattern never matches.
        if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
            let escape = match c {
                '\u{8}' => "\\b".to_owned(),
                '\u{c}' => "\\f".to_owned(),
                c => format!("\\u{{{:x}}}", c as u32),
            };
            let message = format!("the pattern has a control character (U+{:04X})", c as u32);
            let help =
                format!("for `{escape}`, write the condition in single quotes: TOML reads `{escape}` in double quotes");
            return Err(bad(message, help));
        }
        RegexBuilder::new(&text).size_limit(LARGEST).build().map(Self).map_err(|error| {
            let (message, help) = bad_pattern_words(&error);
            bad(message, help.to_owned())
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}
