//! Places: where in a payload is a parameter?
//!
//! In: the payload of a call, the form in which it was read, and paths to its parameters and their members.
//! Out: the span of the field, member or entry; if it does not exist, that of the nearest one.
//! Never: reads a payload unless a place in it is needed.

use super::typing::FieldEntry;
use crate::document::Block;
use crate::document::payload::{Field, Fields, PayloadSource};
use crate::json::JsonTape;
use crate::program::{BlockNames, Types, ValueKind};
use crate::text::Span;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The places in one payload.
pub(super) struct PayloadPlaces<'t> {
    source: PayloadSource<'t>,
    types: &'t Types,
    body: Span,
    /// The attributes of the opener, if they are the payload or part of it.
    entries: Vec<FieldEntry<'t>>,
    /// The whole payload, or the opener if it is empty.
    whole: Span,
    tape: OnceCell<Option<JsonTape>>,
    /// The fields of each body that has been read, by its start.
    fields: RefCell<BTreeMap<usize, Rc<Fields>>>,
}

impl<'t> PayloadPlaces<'t> {
    pub(super) fn new(
        source: PayloadSource<'t>,
        types: &'t Types,
        block: &Block,
        entries: Vec<FieldEntry<'t>>,
    ) -> Self {
        let body = block.body();
        let whole = whole(block);
        Self { source, types, body, entries, whole, tape: OnceCell::new(), fields: RefCell::default() }
    }

    /// The span to point at for a fault at the end of a path, in a payload that was read in this form.
    pub(super) fn at(&self, form: &str, pointer: &[String]) -> Span {
        let found = match form {
            "json" if !pointer.is_empty() => {
                let body = self.body.trimmed(self.source.text);
                let tape = self.tape.get_or_init(|| self.source.tape(body));
                tape.as_ref().and_then(|tape| {
                    tape.place(pointer, self.source.text, &|pointer, key| self.is_called(pointer, key))
                })
            }
            "tags" => self.field(self.body, self.types, pointer),
            _ => None,
        };
        let known_entries = || {
            let name = pointer.first()?;
            let is_it = |entry: &&FieldEntry<'_>| spells(self.types, name, entry.name, &self.source.dialect.names);
            self.entries.iter().find(is_it).map(|entry| entry.span)
        };
        found.or_else(known_entries).unwrap_or(self.whole)
    }

    /// Whether a key in a payload is a spelling of the last step of a path.
    fn is_called(&self, pointer: &[String], key: &str) -> bool {
        let Some((name, outer)) = pointer.split_last() else { return false };
        let types = outer.iter().fold(self.types, |types, step| match types.kind {
            ValueKind::Array => types.items(),
            _ => types.of_member(step),
        });
        spells(types, name, key, &self.source.dialect.names)
    }

    /// The field at the end of a path, by the rules of typing: of several fields of one name that are not a list, the
    /// last.
    fn field(&self, body: Span, types: &Types, pointer: &[String]) -> Option<Span> {
        let (name, rest) = pointer.split_first()?;
        let fields = self.fields_in(body);
        let is_it = |field: &&Field| spells(types, name, field.name.of(self.source.text), &self.source.dialect.names);
        let mut named = fields.list.iter().filter(is_it);
        let declared = types.of_member(name);
        let last = named.clone().next_back()?;
        let (field, types, rest) = match rest.split_first() {
            Some((nth, rest)) if declared.kind == ValueKind::Array => {
                let nth = nth.parse().ok()?;
                let inner = self.fields_in(last.body);
                let is_one = named.clone().count() == 1 && self.source.is_one(last.body, &inner, declared.items());
                if is_one {
                    return self.field(last.body, declared.items(), rest).or(Some(last.span));
                }
                let entry = if named.clone().count() > 1 { named.nth(nth) } else { inner.list.get(nth) };
                (entry.copied().unwrap_or(*last), declared.items(), rest)
            }
            _ => (*last, declared, rest),
        };
        self.field(field.body, types, rest).or(Some(field.span))
    }

    fn fields_in(&self, body: Span) -> Rc<Fields> {
        let mut known = self.fields.borrow_mut();
        let fields = || if body == self.body { self.source.fields_of(body) } else { self.source.fields_in(body) };
        Rc::clone(known.entry(body.start).or_insert_with(|| Rc::new(fields())))
    }
}

/// Whether a key in a response is a spelling of the name of a member.
pub(super) fn spells(types: &Types, member: &str, key: &str, names: &BlockNames) -> bool {
    names.same(key, member) || types.called(key, names).is_some_and(|(declared, _)| **declared == *member)
}

/// The span to point at for a whole payload: the opener, if it is empty.
pub(super) fn whole(block: &Block) -> Span {
    if block.body().is_empty() { block.opener() } else { block.body() }
}
