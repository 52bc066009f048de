//! Binding: which parts of an object are which blocks?
//!
//! In: the tape of an object, and the levels of names.
//! Out: blocks in the order of the response, and the findings about them.
//! Never: drops a part without a block: it is text outside every block.

use super::tape::{MemberNode, MemberNodeKind, bare, is_null};
use super::{ObjectReader, ReadObject};
use crate::diagnostic::{Defect, Remark};
use crate::document::decode::is_escaped_twice;
use crate::document::{Attribute, AttributeKey, Attributes, Block, BodyEncoding, Ended, FindingKind, ReaderFinding};
use crate::json::{self, Context, Grade, decode_string, has_doubtful_escapes, has_lone_surrogate};
use crate::program::{self, BlockId, LevelId, NameSource, ObjectShape, Schema};
use crate::surface::Role;
use crate::text::Span;
use crate::value::Value;
use std::collections::BTreeSet;

/// A value and the names around it.
#[derive(Clone, Copy)]
struct ValuePlace {
    /// The index of the value on the tape.
    at: usize,
    level: LevelId,
    /// The key of the value, without quotes.
    name: Span,
    /// The span of the member or list entry that contains the value.
    whole: Span,
}

/// A block being collected.
struct PendingBlock<'p> {
    id: BlockId,
    bound: &'p program::BlockBinding,
    name: Span,
    span: Span,
    attributes: Attributes,
    /// The index of its body on the tape.
    body: Option<usize>,
    /// The end of the last of its members.
    reach: usize,
    cut: bool,
    /// Whether its name or attributes had to be repaired.
    repaired: bool,
}

/// The known properties of a block before any of its members is read.
#[derive(Clone, Copy)]
struct BlockTemplate<'p> {
    id: BlockId,
    bound: &'p program::BlockBinding,
    /// Whether its name or attributes had to be repaired.
    repaired: bool,
}

impl<'p> BlockTemplate<'p> {
    /// Starts such a block under a key.
    fn begin(self, name: Span, span: Span) -> PendingBlock<'p> {
        let Self { id, bound, repaired } = self;
        let attributes = Attributes::new();
        PendingBlock { id, bound, name, span, attributes, body: None, reach: span.start, cut: false, repaired }
    }
}

impl<'p> ObjectReader<'p> {
    /// Collects the blocks of an object, and adds the spans that belong to no block to `outside`.
    pub(super) fn bind(&mut self, object: &ReadObject, outside: &mut Vec<Span>) {
        let Some(id) = self.outline.level(ObjectShape::ROOT).block else {
            return self.bind_object(object, 0, ObjectShape::ROOT, outside);
        };
        let Some(node) = object.tape.get(0).copied() else { return };
        let (whole, level) = (node.span(), ObjectShape::ROOT);
        self.take(object, ValuePlace { at: 0, level, name: Span::new(whole.start, whole.start), whole }, id, node);
    }

    /// Whether an object has a member with a name that the dialect declares at the top level.
    pub(super) fn is_bound(&self, object: &ReadObject) -> bool {
        let keys = object.tape.members(0).filter_map(|(key, _)| object.tape.get(key));
        let mut names = keys.map(|key| bare(key.span(), self.text));
        names.any(|name| self.outline.member(ObjectShape::ROOT, &decode_string(name.of(self.text))).is_some())
    }

    fn bind_object(&mut self, object: &ReadObject, at: usize, level: LevelId, outside: &mut Vec<Span>) {
        let mut seen = BTreeSet::new();
        let mut beside = false;
        let mut reach = 0;
        for (key, at) in object.tape.members(at) {
            let (Some(key), Some(value)) = (object.tape.get(key), object.tape.get(at)) else { return };
            // If a key has several values, only the first of them is directly after the key.
            let start = if key.span().start < reach { value.span().start } else { key.span().start };
            let (name, whole) = (bare(key.span(), self.text), Span::new(start, value.span().end));
            reach = whole.end;
            let says = decode_string(name.of(self.text));
            let Some(level) = self.outline.member(level, &says) else {
                // Adjacent members that no name binds are one span of text.
                match outside.last_mut().filter(|_| beside) {
                    Some(before) => before.end = whole.end,
                    None => outside.push(whole),
                }
                beside = true;
                continue;
            };
            beside = false;
            let first = self.blocks.len();
            self.bind_value(object, ValuePlace { at, level, name, whole }, outside);
            if !seen.insert(self.dialect.names.fold(&says).into_owned()) {
                let again = FindingKind::Remark(Remark::DuplicateKey);
                let is_block = self.outline.level(level).block.is_some() && self.blocks.len() > first;
                self.find(if is_block {
                    ReaderFinding::of(again, name, first)
                } else {
                    ReaderFinding::new(again, name)
                });
            }
        }
    }

    fn bind_value(&mut self, object: &ReadObject, place: ValuePlace, outside: &mut Vec<Span>) {
        let Some(node) = object.tape.get(place.at).copied() else { return };
        let level = self.outline.level(place.level);
        if let Some(id) = level.block {
            return self.take(object, place, id, node);
        }
        match (node.kind, level.each) {
            (MemberNodeKind::List, Some(each)) => {
                for at in object.tape.inside(place.at) {
                    let whole = object.tape.get(at).map_or(place.whole, MemberNode::span);
                    self.bind_value(object, ValuePlace { at, level: each, whole, ..place }, outside);
                }
            }
            // The members of an object may be list entries by their names, if the dialect allows that.
            (MemberNodeKind::Object, Some(each)) if self.is_map(object, place, each) => {
                self.bind_object(object, place.at, place.level, outside);
            }
            // A single entry may be written without its list.
            (MemberNodeKind::Object, Some(each)) => {
                self.find(ReaderFinding::new(Remark::FieldForm, place.name));
                self.bind_value(object, ValuePlace { level: each, ..place }, outside);
            }
            (MemberNodeKind::Object, None) => self.bind_object(object, place.at, place.level, outside),
            (MemberNodeKind::Absent, _) => {}
            _ if is_null(node.span().of(self.text)) => {}
            _ => outside.push(place.whole),
        }
    }

    /// Whether each member of an object in place of a declared list is a block with its own name, and none is the key
    /// or the body of a single entry.
    fn is_map(&self, object: &ReadObject, place: ValuePlace, each: LevelId) -> bool {
        let keys = object.tape.members(place.at).filter_map(|(key, _)| object.tape.get(key));
        let mut names = keys.map(|key| decode_string(bare(key.span(), self.text).of(self.text))).peekable();
        let entry = self.outline.level(each).block.and_then(|id| self.dialect.block(id));
        let is_key = |name: &str| match entry.and_then(|entry| entry.key.as_ref()) {
            Some(NameSource::Attribute(key)) => self.outline.same(key, name),
            _ => false,
        };
        names.peek().is_some()
            && names.all(|name| {
                self.outline.member(place.level, &name).is_some()
                    && self.outline.member(each, &name).is_none()
                    && !is_key(&name)
            })
    }

    /// Collects the block of a value: the value itself, or an object whose members are its body and attributes.
    fn take(&mut self, object: &ReadObject, place: ValuePlace, id: BlockId, node: MemberNode) {
        let Some(bound) = self.dialect.block(id) else { return };
        let blank =
            BlockTemplate { id, bound, repaired: bound.role == Role::Call && object.tape.is_repaired(place.at) };
        if node.kind == MemberNodeKind::Object && self.outline.level(place.level).looks_inside() {
            self.take_members(object, place, blank, node.cut);
        } else if node.kind != MemberNodeKind::Absent || node.cut {
            // A key without a value makes no block.
            let body = Some(place.at);
            self.push(object, PendingBlock { body, cut: node.cut, ..blank.begin(place.name, place.whole) });
        }
    }

    /// Collects the members of an object: one block, or several if a key that names the block is repeated.
    fn take_members(&mut self, object: &ReadObject, place: ValuePlace, blank: BlockTemplate<'p>, cut: bool) {
        let bound = blank.bound;
        let key_name = match &bound.key {
            Some(NameSource::Attribute(name)) if bound.body.is_some() => Some(name.as_str()),
            _ => None,
        };
        let mut open: Option<PendingBlock<'p>> = None;
        let mut repeated = Vec::new();
        for (key, at) in object.tape.members(place.at) {
            let (Some(key), Some(value)) = (object.tape.get(key), object.tape.get(at)) else { break };
            let (start, name) = (key.span().start, bare(key.span(), self.text));
            let says = decode_string(name.of(self.text));
            // A repeated key starts another block: the punctuation between the two is missing.
            let again = key_name.is_some_and(|key| self.outline.same(key, &says))
                && open.as_ref().is_some_and(|open| self.has(open, &says));
            if let Some(mut before) = open.take_if(|_| again) {
                before.span.end = before.reach;
                self.find(ReaderFinding::new(Remark::DuplicateKey, name));
                self.push(object, before);
            }
            let fresh = Span::new(if again { start } else { place.whole.start }, place.whole.end);
            let open = open.get_or_insert_with(|| blank.begin(place.name, fresh));
            open.reach = value.span().end;
            let level = self.outline.member(place.level, &says);
            if level.is_some_and(|level| self.outline.level(level).body) {
                if open.body.replace(at).is_some() {
                    repeated.push(name);
                }
            } else if let Some(before) = self.attribute_before(open, &says) {
                // Of a repeated key, the last value counts. If the members are the parameters, repeated keys are
                // reported for all of them later.
                before.value = value.span().into();
                repeated.extend(bound.body.is_some().then_some(name));
            } else if value.kind != MemberNodeKind::Absent && open.attributes.len() < self.limits.fields {
                open.attributes.push(Attribute { key: AttributeKey::Typed(name.into()), value: value.span().into() });
            }
        }
        for name in repeated {
            self.find(ReaderFinding::new(Remark::DuplicateKey, name));
        }
        // An empty object is no block.
        if let Some(mut last) = open {
            last.cut = cut;
            if bound.body.is_none() {
                last.body = Some(place.at);
            }
            self.push(object, last);
        }
    }

    /// The existing attribute that names the block in the same way.
    fn attribute_before<'a>(&self, piece: &'a mut PendingBlock<'_>, name: &str) -> Option<&'a mut Attribute> {
        if !piece.bound.naming().any(|called| self.outline.same(called, name)) {
            return None;
        }
        piece.attributes.iter_mut().find(|attribute| self.is_called(attribute, name))
    }

    fn has(&self, piece: &PendingBlock<'_>, name: &str) -> bool {
        piece.attributes.iter().any(|attribute| self.is_called(attribute, name))
    }

    fn is_called(&self, attribute: &Attribute, name: &str) -> bool {
        match attribute.key {
            AttributeKey::Typed(key) => self.outline.same(name, &decode_string(key.span().of(self.text))),
            AttributeKey::Rule(_) | AttributeKey::Payload => false,
        }
    }

    fn push(&mut self, object: &ReadObject, piece: PendingBlock<'_>) {
        let text = self.text;
        let call = piece.bound.role == Role::Call;
        if self.blocks.len() >= self.limits.blocks || (call && self.calls >= self.limits.calls) {
            if !self.stopped {
                self.found.push(ReaderFinding::new(Defect::TooLarge, piece.span));
            }
            self.stopped = true;
            return;
        }
        self.calls += usize::from(call);
        let index = self.blocks.len();
        let node = piece.body.and_then(|at| object.tape.get(at)).copied();
        let node = node.filter(|node| node.kind != MemberNodeKind::Absent && (call || !is_null(node.span().of(text))));
        let reach = piece.reach.max(piece.span.start);
        let mut body = node.map_or(Span::new(reach, reach), |node| node.span());
        let mut written = if piece.repaired { BodyEncoding::Repaired } else { BodyEncoding::Value };
        let cut = piece.cut || node.is_some_and(|node| node.cut);
        if cut {
            self.found.push(ReaderFinding::of(Defect::UnclosedBlock, piece.span, index));
        }
        if let Some(string) =
            node.filter(|node| matches!(node.kind, MemberNodeKind::String | MemberNodeKind::Torn) && !call)
        {
            body = string.inner(text);
            written = BodyEncoding::String;
            // The key may be the text with half of a character.
            let is_doubtful = || has_doubtful_escapes(body.of(text)) || has_lone_surrogate(piece.span.of(text));
            if piece.bound.role == Role::Content && is_doubtful() {
                self.found.push(ReaderFinding::of(Defect::MalformedPayload, piece.span, index));
            }
            if is_escaped_twice(body.of(text)) {
                written = BodyEncoding::Twice;
                self.found.push(ReaderFinding::of(Remark::Unescaped, body, index));
            }
        }
        // Texts are not decoded here, but when they are used.
        let takes_value =
            call || piece.bound.text.is_some() || matches!(written, BodyEncoding::Value | BodyEncoding::Repaired);
        let read = piece.body.filter(|_| node.is_some() && takes_value).map(|at| self.value(object, at, &piece));
        let (value, worst) = read.unwrap_or_default();
        if worst == Some(Grade::Lossy) {
            written = BodyEncoding::Salvaged;
        }
        // If the pack allows it, `null` is a value like any other; but it is no text that could be stored.
        let schema = piece.bound.schema.as_ref().filter(|_| piece.bound.role != Role::Content);
        let allowed = || schema.is_some_and(Schema::takes_null);
        let null = |at| object.tape.get(at).is_some_and(|node| is_null(node.span().of(text)));
        if node.is_none() && !call && !(piece.body.is_some_and(null) && allowed()) {
            self.found.push(ReaderFinding::of(Defect::MalformedPayload, piece.span, index));
        }
        self.blocks.push(Block {
            id: piece.id,
            family: 0,
            name: piece.name.into(),
            span: piece.span.into(),
            inner: body.into(),
            body: body.into(),
            attributes: piece.attributes,
            ended: if cut { Ended::Open } else { Ended::Whole },
            parent: None,
            written,
            value: value.map(Box::new),
        });
    }

    /// The value of a body, if it can be read. If no member of a call is its body, all members except its name are its
    /// parameters.
    fn value(&mut self, object: &ReadObject, at: usize, piece: &PendingBlock<'_>) -> (Option<Value>, Option<Grade>) {
        let (mut repeated, mut worst) = (None, None);
        let mut value = match object.tape.is_repaired(at) {
            false => object.tape.value(self.text, at, self.limits, &self.values, &mut repeated),
            true => self.faulty_value(object, at, &mut worst),
        };
        if self.values.get() == 0 && !self.stopped {
            self.stopped = true;
            self.found.push(ReaderFinding::new(Defect::TooLarge, piece.span));
        }
        if let Some(key) = repeated {
            self.find(ReaderFinding::new(Remark::DuplicateKey, key));
        }
        if let (Role::Call, None, Some(Value::Object(members))) = (piece.bound.role, &piece.bound.body, &mut value)
            && let Some(name) =
                piece.bound.naming().find(|name| members.iter().any(|(key, _)| self.outline.same(name, key)))
        {
            members.retain(|key, _| !self.outline.same(name, key));
        }
        (value, worst)
    }

    /// The value of a body with faults, read like any other JSON with faults.
    fn faulty_value(&mut self, object: &ReadObject, at: usize, worst: &mut Option<Grade>) -> Option<Value> {
        let node = object.tape.get(at)?;
        let declares = |name: &str| self.outline.knows(name) || self.dialect.params.contains(name);
        let context = Context { declares: &declares, cut: node.cut, ..Context::new(self.limits.depth, &self.values) };
        let json = json::read(self.text, node.span(), context).ok()?;
        *worst = json.faults.iter().map(|fault| fault.grade).max();
        self.left_out += json.left_out;
        self.reread.push((node.span(), json.faults));
        Some(json.value)
    }
}
