//! Tape: where are the parts of an object?
//!
//! In: parts in the order of their starts.
//! Out: [`ObjectTape`]: a tree as one list, and the JSON value of any part of it.
//! Never: knows which names are declared.

use crate::json::{self, Context, decode_string};
use crate::program::Limits;
use crate::text::{Present, Span};
use crate::value::{Object, Value, number};
use serde::de::IgnoredAny;
use std::cell::Cell;
use std::sync::Arc;

/// A tree of parts as a list: each node has the index of the first node after its contents.
#[derive(Debug, Default)]
pub(super) struct ObjectTape {
    pub(super) nodes: Vec<MemberNode>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct MemberNode {
    pub(super) kind: MemberNodeKind,
    /// Whether the part was cut off.
    pub(super) cut: bool,
    /// Whether something directly inside the part had to be repaired.
    repaired: bool,
    start: u32,
    end: u32,
    next: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberNodeKind {
    Object,
    List,
    /// The key of a member, with its quotes if it has any; the next node is its value.
    Key,
    /// A string with its quotes, or with only the first if it was cut off.
    String,
    /// A string without one of its quotes; its span excludes the other one, too.
    Torn,
    /// A number, a constant, or words without quotes.
    Scalar,
    /// Valid JSON whose contents are not on the tape.
    Sealed,
    /// A missing value.
    Absent,
}

impl MemberNode {
    pub(super) fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }

    /// The index of the first node after this one and its contents.
    pub(super) fn ends_at(&self) -> usize {
        self.next as usize
    }

    /// The text of a string, without its quotes.
    pub(super) fn inner(&self, text: &str) -> Span {
        let Span { start, end } = self.span();
        match (self.kind, self.span().of(text).as_bytes()) {
            (MemberNodeKind::String, [_, ..]) if self.cut => Span::new(start + 1, end),
            (MemberNodeKind::String, [_, .., _]) => Span::new(start + 1, end - 1),
            _ => self.span(),
        }
    }
}

/// A key of an object, whose value comes next, and its place.
type PendingKey = (String, Span);

impl ObjectTape {
    /// Adds a node without contents.
    pub(super) fn leaf(&mut self, kind: MemberNodeKind, span: Span, cut: bool) -> usize {
        let at = self.nodes.len();
        let (start, end) = (span.start as u32, span.end as u32);
        self.nodes.push(MemberNode { kind, cut, repaired: false, start, end, next: at as u32 + 1 });
        at
    }

    /// Extends the last node over adjacent text that has no declared names either.
    pub(super) fn extend_last(&mut self, end: usize) {
        if let Some(node) = self.nodes.last_mut() {
            node.kind = MemberNodeKind::Sealed;
            node.end = end as u32;
        }
    }

    /// Ends a node: every node added since it was added is inside it.
    pub(super) fn close(&mut self, at: usize, end: usize, cut: bool) {
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(at) {
            node.end = end as u32;
            node.next = next;
            node.cut = cut;
        }
    }

    /// Notes that something directly inside a node had to be repaired.
    pub(super) fn repair(&mut self, at: usize) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.repaired = true;
        }
    }

    /// Whether something in a node had to be repaired, at any depth.
    pub(super) fn is_repaired(&self, at: usize) -> bool {
        let end = self.get(at).map_or(at, MemberNode::ends_at);
        self.nodes.get(at..end).is_some_and(|nodes| nodes.iter().any(|node| node.repaired))
    }

    /// Removes a node that contains just one other; the other one remains.
    pub(super) fn unwrap(&mut self, at: usize) {
        if at < self.nodes.len() {
            self.nodes.remove(at);
            self.nodes.iter_mut().skip(at).for_each(|node| node.next -= 1);
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&MemberNode> {
        self.nodes.get(at)
    }

    /// The nodes directly inside the one at `outer`.
    pub(super) fn inside(&self, outer: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.get(outer).map_or(0, |node| node.next as usize);
        let mut at = outer + 1;
        std::iter::from_fn(move || {
            let here = at;
            let node = self.get(here).filter(|_| here < end)?;
            at = (node.next as usize).max(here + 1);
            Some(here)
        })
    }

    /// The members of the object at `outer`: each key with its value.
    pub(super) fn members(&self, outer: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut pieces = self.inside(outer);
        std::iter::from_fn(move || Some((pieces.next()?, pieces.next()?)))
    }

    /// The value at `at`, and the place of the first repeated key of an object in it; `None` if something in it is not
    /// a value. Each value is deducted from the number of `values` that the response may still have, which becomes 0 if
    /// there are more.
    pub(super) fn value(
        &self,
        text: &str,
        at: usize,
        limits: &Limits,
        values: &Cell<usize>,
        repeated: &mut Option<Span>,
    ) -> Option<Value> {
        let mut open: Vec<(usize, Value, Option<PendingKey>)> = Vec::new();
        let last = self.get(at).map_or(at, |node| node.next as usize);
        let mut at = at;
        let mut whole = Value::Null;
        while at < last {
            let Some(node) = self.get(at).filter(|_| values.get() > 0) else { break };
            at += 1;
            let raw = node.span().of(text);
            let value = match node.kind {
                MemberNodeKind::Key => {
                    if let Some((.., key)) = open.last_mut() {
                        let name = bare(node.span(), text);
                        *key = Some((decode_string(name.of(text)).into_owned(), name));
                    }
                    continue;
                }
                MemberNodeKind::Object => Value::Object(Object::new()),
                MemberNodeKind::List => Vec::new().into(),
                MemberNodeKind::String | MemberNodeKind::Torn => decode_string(node.inner(text).of(text)).into(),
                MemberNodeKind::Scalar => scalar(raw)?,
                MemberNodeKind::Sealed => match json::strict(raw, Context::new(limits.depth, values)) {
                    Ok(json) => {
                        if let (None, Some(key)) = (&repeated, json.repeated.first()) {
                            let again = second_key(raw, key).unwrap_or(Span::new(0, raw.len()));
                            *repeated = Some(Span::new(node.span().start + again.start, node.span().start + again.end));
                        }
                        json.value
                    }
                    Err(_) if values.get() == 0 => Value::Null,
                    Err(_) => return None,
                },
                MemberNodeKind::Absent => Value::Null,
            };
            values.set(values.get().saturating_sub(1));
            open.push((node.next as usize, value, None));
            // Each container that ends here becomes a member or entry of the one around it.
            while let Some((_, value, _)) = open.pop_if(|(next, ..)| *next <= at) {
                match open.last_mut() {
                    Some((_, Value::Object(members), key)) => {
                        let (key, name) = key.take().present();
                        if members.contains_key(&key) {
                            repeated.get_or_insert(name);
                        }
                        members.insert(key, value);
                    }
                    Some((_, Value::Array(items), _)) => Arc::make_mut(items).push(value),
                    _ => whole = value,
                }
            }
        }
        Some(whole)
    }
}

/// The place in valid JSON where a key is repeated in one object, without its quotes.
fn second_key(raw: &str, key: &str) -> Option<Span> {
    let bytes = raw.as_bytes();
    // For each open object: whether it has had the key.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some(offset) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| matches!(b, b'"' | b'{' | b'}')))
    {
        at += offset + 1;
        match bytes.get(at - 1) {
            Some(b'{') => open.push(false),
            Some(b'}') => {
                open.pop();
            }
            _ => {
                let start = at;
                while let Some(offset) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
                    && bytes.get(at + offset) == Some(&b'\\')
                {
                    at += offset + 2;
                }
                let name = Span::new(start, at + memchr::memchr(b'"', bytes.get(at..)?)?);
                at = name.end + 1;
                let colon = bytes.get(at..).and_then(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace()));
                if colon == Some(&b':') && decode_string(name.of(raw)) == key {
                    match open.last_mut() {
                        Some(has) if !*has => *has = true,
                        _ => return Some(name),
                    }
                }
            }
        }
    }
    None
}

/// A key without its quotes.
pub(super) fn bare(span: Span, text: &str) -> Span {
    let raw = span.of(text);
    let start = span.start + raw.len() - raw.strip_prefix(QUOTES).unwrap_or(raw).len();
    Span::new(start, start + unquoted(raw).len())
}

/// The quotes that may be around a key.
pub(super) const QUOTES: [char; 5] = ['"', '\'', '“', '”', '„'];

/// A key without quotes of any kind that may be around it.
pub(super) fn unquoted(raw: &str) -> &str {
    let body = raw.strip_prefix(QUOTES);
    body.map_or(raw, |body| body.strip_suffix(QUOTES).unwrap_or(body))
}

/// The words without quotes that mean that there is no value.
pub(super) const NONE: [&str; 3] = ["null", "None", "NULL"];

/// Whether a value without quotes means that there is no value.
pub(super) fn is_null(raw: &str) -> bool {
    NONE.contains(&raw)
}

/// A constant, a number or bare words; a number that cannot be stored exactly is not a value.
fn scalar(raw: &str) -> Option<Value> {
    Some(match raw {
        "True" | "TRUE" => Value::Bool(true),
        "False" | "FALSE" => Value::Bool(false),
        "None" | "NULL" | "undefined" | "NaN" | "Infinity" => Value::Null,
        raw => match serde_json::from_str::<Value>(raw) {
            Ok(Value::Number(_)) => Value::Number(number(raw)?),
            Ok(value) => value,
            Err(_) if serde_json::from_str::<IgnoredAny>(raw).is_ok() => return None,
            Err(_) => raw.trim().into(),
        },
    })
}
