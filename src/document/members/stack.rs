//! Stack: which containers are open around an offset in a faulty object?
//!
//! In: objects, lists and values in the order of their starts, and their ends.
//! Out: the tape of the object, and the containers that are still open, innermost first.
//! Never: reads the response, or recurses on it.

use super::tape::{MemberNodeKind, ObjectTape};
use crate::program::{LevelId, ObjectShape};
use crate::text::Span;

#[derive(Default)]
pub(super) struct ContainerStack {
    pub(super) tape: ObjectTape,
    frames: Vec<OpenContainer>,
}

/// An open object or list.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenContainer {
    pub(super) node: usize,
    pub(super) list: bool,
    pub(super) level: Option<LevelId>,
    /// The comma after the last member or entry.
    pub(super) comma: Option<usize>,
    pub(super) filled: bool,
    /// The last key of an object.
    pub(super) key: Option<Span>,
    /// The members that it already has, with one bit for each level.
    pub(super) present: u64,
}

/// An open object or list, as its members or entries need to know it.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenLevel {
    pub(super) list: bool,
    /// The level of its members, or for a list of its entries.
    pub(super) level: Option<LevelId>,
    /// The members that it already has, with one bit for each level.
    pub(super) present: u64,
}

/// The known levels around the innermost open object or list.
pub(super) fn outer(open: &[OpenLevel]) -> impl Iterator<Item = LevelId> {
    open.iter().skip(1).filter_map(|open| open.level)
}

impl ContainerStack {
    /// The innermost open object or list.
    pub(super) fn innermost(&self) -> Option<OpenContainer> {
        self.frames.last().copied()
    }

    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Whether the innermost object is an entry of a list.
    pub(super) fn is_entry(&self) -> bool {
        self.frames.iter().rev().nth(1).is_some_and(|frame| frame.list)
    }

    /// The open objects and lists, innermost first.
    pub(super) fn open(&self, outline: &ObjectShape) -> Vec<OpenLevel> {
        let open = |frame: &OpenContainer| match frame.list {
            true => OpenLevel { list: true, level: outline.each(frame.level), present: 0 },
            false => OpenLevel { list: false, level: frame.level, present: frame.present },
        };
        self.frames.iter().rev().map(open).collect()
    }

    /// Notes that the innermost open object or list had to be repaired.
    pub(super) fn repair(&mut self) {
        if let Some(frame) = self.frames.last() {
            self.tape.repair(frame.node);
        }
    }

    /// Opens an object or a list.
    pub(super) fn push(&mut self, kind: MemberNodeKind, at: usize, level: Option<LevelId>) {
        let node = self.tape.leaf(kind, Span::new(at, at), false);
        let list = kind == MemberNodeKind::List;
        self.frames.push(OpenContainer { node, list, level, comma: None, filled: false, key: None, present: 0 });
    }

    /// Ends the innermost object or list.
    pub(super) fn pop(&mut self, end: usize, cut: bool) {
        if let Some(frame) = self.frames.pop() {
            self.tape.close(frame.node, end, cut);
        }
    }

    /// Removes the innermost list, but retains its contents.
    pub(super) fn unwrap(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.tape.unwrap(frame.node);
        }
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut OpenContainer)) {
        if let Some(frame) = self.frames.last_mut() {
            change(frame);
        }
    }
}
