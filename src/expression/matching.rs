//! Matching: does a value hold a match of a pattern?
//!
//! In: a pattern as an author writes it in quotes, and values.
//! Out: [`Pattern`], which is compiled when the expression is read; the test that asks it.
//! Never: compiles a pattern while an expression is evaluated.

use super::scale::{DEPTH, from_jinja, is_none, on_scale, take, weigh, wrong};
use minijinja::machinery::ast::Expr;
use minijinja::value::{Object, ObjectRepr};
use minijinja::{Error, State, Value as Jinja};
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::sync::Arc;

/// The name of the test.
pub(super) const TEST: &str = "matching";

/// The largest automaton that a pattern may have, in bytes.
const LARGEST: usize = 1 << 20;

/// A pattern of the `regex` crate; it may match anywhere.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Regex);

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, regex::Error> {
        RegexBuilder::new(text).size_limit(LARGEST).build().map(Self)
    }

    /// The pattern that stands in quotes.
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

/// Whether a text, or the JSON of what is none, holds a match; nothing is in `none`.
pub(super) fn matches(state: &State<'_, '_>, value: &Jinja, pattern: &Jinja) -> Result<bool, Error> {
    let Some(pattern) = pattern.downcast_object_ref::<Pattern>() else {
        return Err(wrong("a pattern stands in quotes"));
    };
    if is_none(value) {
        return Ok(false);
    }
    on_scale(state, |left| weigh(left, value, DEPTH))?;
    let text = match value.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(on_scale(state, |left| from_jinja(value, &left.as_scale(), DEPTH))?.to_string()),
    };
    on_scale(state, |left| take(left, text.len()))?;
    Ok(pattern.is_match(&text))
}
