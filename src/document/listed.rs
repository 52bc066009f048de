//! Listed: which calls are in a payload that names them itself?
//!
//! In: a payload that is one JSON object, a list of them, or fields, and the paths to the name and to the parameters of
//! a call.
//! Out: [`Listed`]: for each call its place, its name, its parameters and its other members; and the faults between
//! calls.
//! Never: reads a parameter: the judge does, as strictly as in any payload.

use super::payload::{Field, Layout, Source};
use super::{Attribute, Key, Written};
use crate::grammar::RuleId;
use crate::program::{Block, Limits};
use crate::text::Span;

/// The calls of a payload.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) calls: Vec<ListedCall>,
    /// Whether they are the entries of a list.
    pub(super) is_list: bool,
    /// The faults outside their parameters that strict JSON refuses.
    pub(super) faults: Vec<(RuleId, Span)>,
}

/// One call in a payload.
#[derive(Debug)]
pub(super) struct ListedCall {
    pub(super) span: Span,
    /// Its name, with quotes.
    pub(super) name: Option<Span>,
    pub(super) params: Span,
    /// Members that are neither on the path to its name nor on that to its parameters.
    pub(super) beside: Vec<Span>,
    /// Repeated keys on the path to its name or parameters: the last of each counts.
    pub(super) repeated: Vec<Span>,
    /// Whether it has a fault outside its parameters that strict JSON refuses.
    pub(super) mended: bool,
}

impl ListedCall {
    /// Its name, as an attribute of its block.
    pub(super) fn named(&self) -> Option<Attribute> {
        self.name.map(|name| Attribute { key: Key::Payload, value: name.into() })
    }

    /// How it is written. A call with a tolerated fault runs only if the pack says so, as with faulty parameters.
    pub(super) fn written(&self) -> Written {
        if self.mended { Written::Mended } else { Written::Bound }
    }
}

/// The one call in `body`, whose name and parameters are fields. It always exists: if its fields are incomplete, the
/// whole body stays its payload, and reading that reports what is wrong.
pub(super) fn of_fields(source: &Source<'_>, body: Span, block: &Block) -> Option<Listed> {
    let (name, _) = block.named_within()?;
    let fields = source.fields_in(body);
    let is_whole = fields.unclosed.is_empty() && fields.stray.is_empty() && !fields.too_many;
    let is_called = |field: &Field, key: &str| source.dialect.names.same(field.name.of(source.text), key);
    let at = |way: &[&str]| {
        let last = |list: &[Field], key: &str| list.iter().rfind(|field| is_called(field, key)).map(|field| field.body);
        let (first, inner) = way.split_first()?;
        inner.iter().try_fold(last(&fields.list, first)?, |outer, key| last(&source.fields_in(outer).list, key))
    };
    let name: Vec<&str> = name.iter().map(String::as_str).collect();
    let named = at(&name);
    let mut call =
        ListedCall { span: body, name: named, params: body, beside: Vec::new(), repeated: Vec::new(), mended: false };
    if let Some(way) = block.body.as_deref().filter(|_| is_whole) {
        let way: Vec<&str> = way.split('.').collect();
        let keys = [name.first(), way.first()];
        let is_read = |field: &Field| keys.iter().flatten().any(|key| is_called(field, key));
        let is_repeated = |key: &str, field: &Field, later: &[Field]| {
            is_called(field, key) && later.iter().any(|other| is_called(other, key))
        };
        call.params = at(&way).unwrap_or(Span::new(body.end, body.end));
        call.beside = fields.list.iter().filter(|field| !is_read(field)).map(|field| field.span).collect();
        call.beside.extend(&fields.between);
        call.beside.sort_unstable_by_key(|span| span.start);
        for (index, field) in fields.list.iter().enumerate() {
            let later = fields.list.get(index + 1..).unwrap_or_default();
            let is_repeated = keys.iter().flatten().any(|key| is_repeated(key, field, later));
            call.repeated.extend(is_repeated.then_some(field.span));
        }
    }
    Some(Listed { calls: vec![call], is_list: false, faults: Vec::new() })
}

/// The calls in `body`, if it can be read and has the shape that its block declares.
pub(super) fn read(text: &str, body: Span, block: &Block, limits: &Limits) -> Option<Listed> {
    let (name, each) = block.named_within()?;
    let params: Option<Vec<&str>> = block.body.as_deref().map(|way| way.split('.').collect());
    let layout = Layout::whole(text, body.trimmed(text), limits)?;
    let root = layout.root()?;
    let is_list = each && layout.is_list(root);
    let entries = if is_list { layout.entries(root) } else { vec![root] };
    let mut calls: Vec<ListedCall> = entries
        .into_iter()
        .filter_map(|entry| {
            let span = layout.span(entry)?;
            let at = |way: &[&str]| layout.value(entry, way);
            let name: Vec<&str> = name.iter().map(String::as_str).collect();
            let Some(way) = params.as_ref().filter(|_| layout.is_object(entry)) else {
                let (name, beside, repeated) = (at(&name), Vec::new(), Vec::new());
                return Some(ListedCall { span, name, params: span, beside, repeated, mended: false });
            };
            let params = at(way).unwrap_or(Span::new(span.end, span.end));
            let read = |key: &str| name.first() == Some(&key) || way.first() == Some(&key);
            let beside = layout.members(entry).filter(|(key, _)| !read(key)).map(|(_, member)| member).collect();
            let mut repeated = layout.repeated(entry, &name);
            repeated.extend(layout.repeated(entry, way));
            repeated.sort_unstable_by_key(|key| key.start);
            repeated.dedup();
            Some(ListedCall { span, name: at(&name), params, beside, repeated, mended: false })
        })
        .collect();
    let holds = |span: Span, at: &Span| span.start <= at.start && at.end <= span.end;
    let outside = |at: &Span| !calls.iter().any(|call| holds(call.params, at));
    let faults: Vec<(RuleId, Span)> = layout.faults().filter(|(_, at)| outside(at)).collect();
    for call in &mut calls {
        call.mended = faults.iter().any(|(_, at)| holds(call.span, at));
    }
    Some(Listed { calls, is_list, faults })
}
