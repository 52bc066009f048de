//! Enclosing wrapper: which wrapper is a block in?
//!
//! In: the blocks of a document, in order.
//! Out: for each block, the last wrapper that opened before it and is still open; the wrapper around that one
//! likewise.
//! Never: requires wrappers to close: a wrapper that opens again ends the one of its kind before it.

use super::Judgement;
use crate::document::{Block, ChunkedVec, Wrapping};
use crate::program::Dialect;
use crate::surface::Role;
use crate::text::Span;
use std::borrow::Cow;

/// For each block, the index of the wrapper around it.
pub(super) fn around(blocks: &ChunkedVec<Block>, dialect: Option<&Dialect>) -> Vec<Option<usize>> {
    let mut open = Wrapping::default();
    let wrappers = blocks.iter().enumerate().map(|(index, block)| {
        let bound = dialect.and_then(|dialect| dialect.block(block.id));
        if bound.is_none_or(|bound| bound.role != Role::Wrapper) {
            return open.innermost().copied();
        }
        open.leave(block.id);
        let outer = open.innermost().copied();
        open.pass(block, index);
        outer
    });
    wrappers.collect()
}

/// The span inside each outermost closed wrapper, with the span of its opener, in order.
pub(super) fn wrapped(blocks: &ChunkedVec<Block>, dialect: &Dialect) -> Vec<(Span, Span)> {
    let mut open = Wrapping::default();
    let mut found = Vec::new();
    for block in blocks.iter() {
        if dialect.block(block.id).is_none_or(|bound| bound.role != Role::Wrapper) {
            continue;
        }
        let ended = open.pass(block, block.opener());
        if let Some(opener) = ended.filter(|_| !block.wraps()) {
            let inner = Span::new(opener.end, block.span().start);
            while found.pop_if(|(other, _): &mut (Span, Span)| other.start >= inner.start).is_some() {}
            found.push((inner, opener));
        }
    }
    found
}

impl<'r> Judgement<'r> {
    /// The value of an attribute of the wrapper called `name` around a block.
    pub(super) fn attribute_around(&self, block: &Block, name: &str, attribute: &str) -> Option<Cow<'r, str>> {
        let dialect = self.dialect?;
        let blocks = &self.document.blocks;
        let around = self.computed.wrappers.get_or_init(|| around(blocks, Some(dialect)));
        let mut index = blocks.partition_point(0, |other| other.span().start < block.span().start);
        // This goes from wrapper to wrapper outwards: at most once for each kind of wrapper.
        while let Some(outer) = around.get(index).copied().flatten() {
            let found = blocks.get(outer)?;
            if dialect.block(found.id).is_some_and(|bound| bound.name == name) {
                return self.attribute(found, attribute);
            }
            index = outer;
        }
        None
    }
}
