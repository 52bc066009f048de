//! Matching: does a pattern match in a text?
//!
//! In: a pattern that an author writes in quotes, and texts.
//! Out: [`Pattern`], which is compiled when the expression is read.
//! Never: compiles a pattern while an expression is evaluated.

use minijinja::machinery::ast::Expr;
use minijinja::value::{Object, ObjectRepr};
use regex::{Regex, RegexBuilder};
use std::sync::Arc;

/// The name of the test.
pub(super) const TEST: &str = "matching";

/// The size limit of a compiled pattern, in bytes.
const LARGEST: usize = 1 << 20;

/// A pattern of the `regex` crate; it may match anywhere.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Regex);

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, regex::Error> {
        RegexBuilder::new(text).size_limit(LARGEST).build().map(Self)
    }

    /// The pattern in a quoted text.
    pub(super) fn of(tree: &Expr<'_>) -> Option<Self> {
        let Expr::Const(text) = tree else { return None };
        Self::new(text.value.as_str()?).ok()
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl Object for Pattern {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}
