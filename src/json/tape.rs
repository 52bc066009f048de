//! Tape: where is each value of a JSON text?
//!
//! In: values in the order of their starts.
//! Out: [`JsonTape`]: a tree as one list, and the places of members and entries.
//! Never: decodes a value.

use super::escape::decode_string;
use super::fault::{Grade, JsonFault, MISSING_BRACE, MISSING_BRACKET};
use crate::text::{Slice, Span};
use crate::value::Value;
use std::borrow::Cow;

/// The values of a text. A container is followed by its contents, and in an object each key by its value.
#[derive(Debug, Default)]
pub(crate) struct JsonTape {
    nodes: Vec<TapeNode>,
    /// Values and keys that the lenient reader had to decode or make up.
    made: Vec<Value>,
    pub(super) faults: Vec<JsonFault>,
    /// The number of faults that are not listed.
    pub(super) left_out: usize,
}

/// A value or key usually takes this many bytes.
const BYTES_PER_NODE: usize = 4;
/// A call usually has at most this many values and keys.
const FEW_NODES: usize = 32;

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TapeKind {
    Object,
    List,
    /// A string without escapes, with its quotes.
    Plain,
    /// A string with escapes, with its quotes.
    Escaped,
    Number,
    True,
    False,
    Null,
    /// A value that the reader has decoded or made up.
    Made,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TapeNode {
    pub(super) kind: TapeKind,
    /// Whether it is the key of the value after it.
    pub(super) is_key: bool,
    start: u32,
    end: u32,
    /// Of a container, the index of the first node after it; of a made value, its index in `made`.
    link: u32,
}

impl TapeNode {
    pub(super) fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl JsonTape {
    /// A tape with room for the values of a text of this length, up to [`FEW_NODES`]. Growing the list step by step
    /// adds 2 % to the cost of an answer whose calls are short JSON.
    pub(super) fn of_text(length: usize) -> Self {
        Self { nodes: Vec::with_capacity((length / BYTES_PER_NODE).clamp(1, FEW_NODES)), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn leaf(&mut self, kind: TapeKind, span: Span) {
        self.nodes.push(TapeNode { kind, is_key: false, start: span.start as u32, end: span.end as u32, link: 0 });
    }

    pub(super) fn key(&mut self, kind: TapeKind, span: Span) {
        self.nodes.push(TapeNode { kind, is_key: true, start: span.start as u32, end: span.end as u32, link: 0 });
    }

    /// Adds a value that the reader has decoded or made up.
    pub(super) fn make(&mut self, is_key: bool, value: Value, span: Span) {
        let link = self.made.len() as u32;
        self.made.push(value);
        self.nodes.push(TapeNode {
            kind: TapeKind::Made,
            is_key,
            start: span.start as u32,
            end: span.end as u32,
            link,
        });
    }

    /// Starts a container. Every node added until it is closed is inside it.
    pub(super) fn open(&mut self, kind: TapeKind, start: usize) -> usize {
        self.leaf(kind, Span::new(start, start));
        self.nodes.len() - 1
    }

    pub(super) fn close(&mut self, at: usize, end: usize) {
        let link = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(at) {
            (node.end, node.link) = (end as u32, link);
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<TapeNode> {
        self.nodes.get(at).copied()
    }

    pub(super) fn made(&self, node: TapeNode) -> Option<&Value> {
        self.made.get(node.link as usize)
    }

    /// The index of the first node after the one at `at` and its contents.
    pub(super) fn after(&self, at: usize) -> usize {
        match self.get(at) {
            Some(TapeNode { kind: TapeKind::Object | TapeKind::List, link, .. }) => (link as usize).max(at + 1),
            _ => at + 1,
        }
    }

    /// The indices of the nodes directly inside a container.
    pub(super) fn inside(&self, outer: usize) -> impl Iterator<Item = usize> {
        let end = self.after(outer);
        std::iter::successors(Some(outer + 1), |at| Some(self.after(*at))).take_while(move |at| *at < end)
    }

    /// The members of an object, each as the nodes of its key and its value.
    fn pairs(&self, object: usize) -> impl Iterator<Item = (usize, usize)> {
        let is_object = self.is_object(object);
        let keys = self.inside(object).filter(move |at| is_object && self.get(*at).is_some_and(|node| node.is_key));
        keys.map(|key| (key, key + 1))
    }

    /// The index of the whole value.
    pub(crate) fn root(&self) -> Option<usize> {
        (!self.nodes.is_empty()).then_some(0)
    }

    pub(crate) fn is_list(&self, value: usize) -> bool {
        self.get(value).is_some_and(|node| node.kind == TapeKind::List)
    }

    pub(crate) fn is_object(&self, value: usize) -> bool {
        self.get(value).is_some_and(|node| node.kind == TapeKind::Object)
    }

    /// The entries of a list.
    pub(crate) fn entries(&self, list: usize) -> Vec<usize> {
        self.inside(list).collect()
    }

    pub(crate) fn span(&self, value: usize) -> Option<Span> {
        self.get(value).map(TapeNode::span)
    }

    /// The places of keys, and of values that are not containers.
    #[cfg(test)]
    pub(super) fn leaves(&self) -> impl Iterator<Item = Span> {
        let is_leaf = |node: &&TapeNode| !matches!(node.kind, TapeKind::Object | TapeKind::List);
        self.nodes.iter().filter(is_leaf).map(|node| node.span())
    }

    pub(crate) fn faults(&self) -> &[JsonFault] {
        &self.faults
    }

    /// The decoded text of a key.
    pub(super) fn name<'t>(&'t self, key: usize, text: &'t str) -> Cow<'t, str> {
        let Some(node) = self.get(key) else { return Cow::Borrowed("") };
        match (node.kind, self.made(node)) {
            (TapeKind::Made, Some(Value::String(name))) => Cow::Borrowed(name),
            (TapeKind::Plain, _) => Cow::Borrowed(inner(node.span(), text)),
            _ => decode_string(inner(node.span(), text)),
        }
    }

    /// The members of an object, each with its name and the span from its key to the end of its value.
    pub(crate) fn members<'t>(&'t self, object: usize, text: &'t str) -> impl Iterator<Item = (Cow<'t, str>, Span)> {
        self.pairs(object).filter_map(move |(key, value)| {
            Some((self.name(key, text), Span::new(self.span(key)?.start, self.span(value)?.end)))
        })
    }

    /// The last member of an object with this name, as the nodes of its key and its value.
    fn member(&self, object: usize, name: &str, text: &str) -> Option<(usize, usize)> {
        self.pairs(object).filter(|(key, _)| self.name(*key, text) == name).last()
    }

    /// The value at the end of a path through objects.
    pub(crate) fn value(&self, from: usize, pointer: &[&str], text: &str) -> Option<Span> {
        let at = pointer.iter().try_fold(from, |at, step| Some(self.member(at, step, text)?.1))?;
        self.span(at)
    }

    /// The repeated keys on a path through objects, without their quotes.
    pub(crate) fn repeated(&self, from: usize, pointer: &[&str], text: &str) -> Vec<Span> {
        let (mut at, mut repeated) = (Some(from), Vec::new());
        for step in pointer {
            let Some(object) = at.filter(|at| self.is_object(*at)) else { break };
            at = None;
            for (key, value) in self.pairs(object).filter(|(key, _)| self.name(*key, text) == **step) {
                if at.replace(value).is_some() {
                    repeated.extend(self.span(key).map(|key| unquoted(key, text)));
                }
            }
        }
        repeated
    }

    /// The member at the end of the path, with its key, or the list entry; otherwise the nearest one that exists.
    /// `called` decides whether a key is a spelling of the last step of a path.
    pub(crate) fn place(
        &self,
        pointer: &[String],
        text: &str,
        called: &dyn Fn(&[String], &str) -> bool,
    ) -> Option<Span> {
        self.nearest(pointer, text, called).map(|(place, _)| place)
    }

    /// Like [`place`](Self::place), but of a member the value alone.
    pub(crate) fn value_place(&self, pointer: &[String], text: &str) -> Option<Span> {
        self.nearest(pointer, text, &|_, _| false).and_then(|(_, value)| self.span(value))
    }

    fn nearest(
        &self,
        pointer: &[String],
        text: &str,
        called: &dyn Fn(&[String], &str) -> bool,
    ) -> Option<(Span, usize)> {
        let (mut at, mut found) = (0, None);
        for (index, step) in pointer.iter().enumerate() {
            let next = if self.is_list(at) {
                let entry = step.parse().ok().and_then(|nth| self.inside(at).nth(nth));
                entry.and_then(|entry| Some((self.span(entry)?, entry)))
            } else {
                let pointer = pointer.slice(..=index);
                let is_it = |key: usize| self.name(key, text) == **step || called(pointer, &self.name(key, text));
                let member = self.pairs(at).filter(|(key, _)| is_it(*key)).last();
                member.and_then(|(key, value)| Some((Span::new(self.span(key)?.start, self.span(value)?.end), value)))
            };
            let Some((span, value)) = next else { break };
            (at, found) = (value, Some((span, value)));
        }
        found
    }

    /// The paths to the values that lossy faults affect: for each fault the smallest value around it, or the last value
    /// if the end of the text is missing. `None` if that is the whole value.
    pub(crate) fn losses(&self, text: &str) -> Option<Vec<Vec<String>>> {
        let end = self.nodes.first()?.span().end;
        let lossy = self.faults.iter().filter(|fault| fault.grade == Grade::Lossy);
        let mut paths: Vec<Vec<String>> = Vec::new();
        for fault in lossy {
            let around =
                |node: &TapeNode| node.start as usize <= fault.span.start && fault.span.end <= node.end as usize;
            let inner = self.nodes.iter().rposition(|node| !node.is_key && around(node));
            let is_missing_end = matches!(fault.name, MISSING_BRACE | MISSING_BRACKET) && fault.span.end >= end;
            let at = match is_missing_end {
                false => inner?,
                true => {
                    // A container or a string is complete if it is closed, but a number may be cut off.
                    let last = self.nodes.len() - 1;
                    let node = self.get(last)?;
                    let may_go_on =
                        !matches!(node.kind, TapeKind::Object | TapeKind::List | TapeKind::Plain | TapeKind::Escaped);
                    if !may_go_on || node.end as usize != end {
                        continue;
                    }
                    last
                }
            };
            let pointer = Some(self.pointer(at, text)).filter(|pointer| !pointer.is_empty())?;
            if !paths.contains(&pointer) {
                paths.push(pointer);
            }
        }
        (self.left_out == 0).then_some(paths)
    }

    /// The path to the node at `sought`.
    pub(super) fn pointer(&self, sought: usize, text: &str) -> Vec<String> {
        let (mut at, mut pointer) = (0, Vec::new());
        while at != sought {
            let (mut entry, mut below) = (0, None);
            for inner in self.inside(at) {
                if inner > sought {
                    break;
                }
                let is_key = self.get(inner).is_some_and(|node| node.is_key);
                let step = if is_key { self.name(inner, text).into_owned() } else { entry.to_string() };
                let value = if is_key { inner + 1 } else { inner };
                if !self.is_object(at) || is_key {
                    below = Some((value, step));
                }
                entry += 1;
            }
            let Some((value, step)) = below else { break };
            pointer.push(step);
            at = value;
        }
        pointer
    }
}

/// The text of a string without its quotes.
pub(super) fn inner(span: Span, text: &str) -> &str {
    text.slice(span.start + 1..span.end.saturating_sub(1))
}

/// A key without its quotes.
fn unquoted(key: Span, text: &str) -> Span {
    let quoted = key.of(text).starts_with(['"', '\'']) && key.len() > 1;
    if quoted { Span::new(key.start + 1, key.end - 1) } else { key }
}
