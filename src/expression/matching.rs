//! Matching: does a pattern match in a text?
//!
//! In: a pattern that an author writes in quotes, or as a constant of the pack, and texts.
//! Out: [`MatchPattern`], validated when the expression is parsed; [`ConstantPatterns`], compiled at their first use.
//! Never: compiles a pattern that a model or a user wrote.

use super::SyntaxFault;
use super::item::Item;
use super::token::{Syntax, Token, tokens};
use super::tree::ExprTree;
use crate::diagnostic::{Code, bad_pattern_words};
use crate::text::{LazyRegex, pattern};
use std::sync::OnceLock;

/// The name of the test.
pub(super) const TEST: &str = "matching";

/// The size limit of a compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A pattern of the `regex` crate; it may match anywhere.
#[derive(Debug, Clone)]
pub(crate) struct MatchPattern(LazyRegex);

impl MatchPattern {
    /// The pattern that is written in quotes at `tree`.
    pub(super) fn of(tree: &ExprTree, source: &str) -> Result<Self, SyntaxFault> {
        if tree.text().is_none() {
            return Err(SyntaxFault::new(tree.span, "a pattern is written in quotes, or is one of `data`"));
        }
        let mut text = String::new();
        for (token, _) in tokens(tree.span.of(source), Syntax::Expression)? {
            if let Token::Quoted(quoted) = token {
                text.push_str(&pattern(quoted));
            }
        }
        let bad = |message: String, help: String| SyntaxFault {
            code: Code::PACK_PATTERN,
            ..SyntaxFault::new(tree.span, message).help(help)
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
        Self::new(&text).map_err(|(message, help)| bad(message, help.to_owned()))
    }

    /// The pattern in a text, or the message and the help for an invalid one.
    pub(crate) fn new(text: &str) -> Result<Self, (String, &'static str)> {
        LazyRegex::new(text, MAX_PATTERN_BYTES).map(Self).map_err(|error| bad_pattern_words(&error))
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The patterns in a constant of the pack: one text, or a list of texts. They are compiled once, at the first match,
/// since a constant never changes; `check` validates each of them before that.
#[derive(Debug, Default)]
pub(crate) struct ConstantPatterns(OnceLock<Result<Vec<MatchPattern>, String>>);

impl ConstantPatterns {
    pub(super) fn of(&self, constant: &Item<'_>) -> Result<&[MatchPattern], String> {
        let compiled = self.0.get_or_init(|| {
            let items = constant.items().unwrap_or_else(|| vec![constant.clone()]);
            let pattern = |item: &Item<'_>| match item.text() {
                Some(text) => MatchPattern::new(text).map_err(|(message, _)| message),
                None => Err(format!("a pattern is a text, not {}", item.noun())),
            };
            items.iter().map(pattern).collect()
        });
        compiled.as_deref().map_err(Clone::clone)
    }
}
