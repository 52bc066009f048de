//! Call list: which calls are in a payload that names them itself?
//!
//! In: a payload that is one JSON object, a list of them, or fields, and the paths to the name and to the parameters of
//! a call.
//! Out: [`CallList`]: for each call its place, its name, its parameters and its other members; and the faults between
//! calls.
//! Never: reads a parameter: the judge does, as strictly as in any payload.

use super::payload::{Field, PayloadSource};
use super::{Attribute, AttributeKey, BodyEncoding};
use crate::json::{self, Context, Grade, JsonFault, JsonTape};
use crate::program::BlockBinding;
use crate::text::{Slice, Span};

/// The calls of a payload.
#[derive(Debug)]
pub(super) struct CallList {
    pub(super) calls: Vec<ListedCall>,
    /// Whether the calls are the entries of a list.
    pub(super) is_list: bool,
    /// The faults outside the parameters that strict JSON refuses.
    pub(super) faults: Vec<JsonFault>,
}

/// One call in a payload.
#[derive(Debug)]
pub(super) struct ListedCall {
    pub(super) span: Span,
    /// Its name, with the quotes.
    pub(super) name: Option<Span>,
    pub(super) params: Span,
    /// Members that are neither on the path to its name nor on that to its parameters.
    pub(super) beside: Vec<Span>,
    /// Repeated keys on the path to its name or parameters; of each, the last counts.
    pub(super) repeated: Vec<Span>,
    /// The worst fault outside its parameters that strict JSON refuses.
    pub(super) worst: Option<Grade>,
}

impl ListedCall {
    /// The name of the call, as an attribute of its block.
    pub(super) fn named(&self) -> Option<Attribute> {
        self.name.map(|name| Attribute { key: AttributeKey::Payload, value: name.into() })
    }

    /// How the call is encoded. A call with a tolerated fault runs only if the pack says so, as with faulty parameters.
    pub(super) fn written(&self) -> BodyEncoding {
        match self.worst {
            None => BodyEncoding::Bound,
            Some(Grade::Certain) => BodyEncoding::Repaired,
            Some(Grade::Lossy) => BodyEncoding::Salvaged,
        }
    }
}

/// The one call in `body`, whose name and parameters are fields. There is always one: if its fields are incomplete, the
/// whole body remains its payload, and reading the payload reports the faults.
pub(super) fn of_fields(source: &PayloadSource<'_>, body: Span, block: &BlockBinding) -> Option<CallList> {
    block.named_within()?;
    let fields = source.fields_in(body);
    let is_whole = fields.unclosed.is_empty() && fields.stray.is_empty() && !fields.too_many;
    let is_called = |field: &Field, key: &str| source.dialect.names.same(field.name.of(source.text), key);
    let at = |pointer: &[&str]| {
        let last = |list: &[Field], key: &str| list.iter().rfind(|field| is_called(field, key)).map(|field| field.body);
        let (first, inner) = pointer.split_first()?;
        inner.iter().try_fold(last(&fields.list, first)?, |outer, key| last(&source.fields_in(outer).list, key))
    };
    let name = first_pointer(block, false, |pointer| at(pointer).is_some());
    let named = at(&name);
    let mut call =
        ListedCall { span: body, name: named, params: body, beside: Vec::new(), repeated: Vec::new(), worst: None };
    let paths: Vec<Vec<&str>> = block.bodies().map(|pointer| pointer.split('.').collect()).collect();
    if let Some(pointer) = paths.iter().find(|pointer| at(pointer).is_some()).or(paths.first()).filter(|_| is_whole) {
        let keys = [name.first(), pointer.first()];
        let is_read = |field: &Field| keys.iter().flatten().any(|key| is_called(field, key));
        let is_repeated = |key: &str, field: &Field, later: &[Field]| {
            is_called(field, key) && later.iter().any(|other| is_called(other, key))
        };
        call.params = at(pointer).unwrap_or(Span::new(body.end, body.end));
        call.beside = fields.list.iter().filter(|field| !is_read(field)).map(|field| field.span).collect();
        call.beside.extend(&fields.between);
        call.beside.sort_unstable_by_key(|span| span.start);
        for (index, field) in fields.list.iter().enumerate() {
            let later = fields.list.slice(index + 1..);
            let is_repeated = keys.iter().flatten().any(|key| is_repeated(key, field, later));
            call.repeated.extend(is_repeated.then_some(field.span));
        }
    }
    Some(CallList { calls: vec![call], is_list: false, faults: Vec::new() })
}

/// The first of the paths to a call's name at which there is a name, or else the first path. In a list, the paths of
/// list entries are tried first; elsewhere, those of a single call.
fn first_pointer(block: &BlockBinding, in_list: bool, is_there: impl Fn(&[&str]) -> bool) -> Vec<&str> {
    let named = |of_list: bool| block.name_pointers().filter(move |(_, each)| *each == of_list);
    let paths: Vec<Vec<&str>> = named(in_list)
        .chain(named(!in_list))
        .map(|(pointer, _)| pointer.iter().map(String::as_str).collect())
        .collect();
    let found = paths.iter().find(|pointer| is_there(pointer)).or(paths.first());
    found.cloned().unwrap_or_default()
}

/// A payload whose values have places: JSON, or the values that rules of a grammar build.
pub(super) trait CallLayout {
    fn root(&self) -> Option<usize>;
    fn is_list(&self, at: usize) -> bool;
    fn is_object(&self, at: usize) -> bool;
    fn entries(&self, list: usize) -> Vec<usize>;
    fn span(&self, at: usize) -> Option<Span>;
    /// The value at the end of a path through objects.
    fn value(&self, from: usize, pointer: &[&str]) -> Option<Span>;
    /// The members of an object: each name with the span of the key and its value.
    fn members(&self, object: usize) -> Vec<(String, Span)>;
    /// The repeated keys on a path through objects.
    fn repeated(&self, from: usize, pointer: &[&str]) -> Vec<Span>;
    fn faults(&self) -> Vec<JsonFault>;
}

/// JSON and its text.
struct JsonLayout<'t>(JsonTape, &'t str);

impl CallLayout for JsonLayout<'_> {
    fn root(&self) -> Option<usize> {
        self.0.root()
    }

    fn is_list(&self, at: usize) -> bool {
        self.0.is_list(at)
    }

    fn is_object(&self, at: usize) -> bool {
        self.0.is_object(at)
    }

    fn entries(&self, list: usize) -> Vec<usize> {
        self.0.entries(list)
    }

    fn span(&self, at: usize) -> Option<Span> {
        self.0.span(at)
    }

    fn value(&self, from: usize, pointer: &[&str]) -> Option<Span> {
        self.0.value(from, pointer, self.1)
    }

    fn members(&self, object: usize) -> Vec<(String, Span)> {
        self.0.members(object, self.1).map(|(name, at)| (name.into_owned(), at)).collect()
    }

    fn repeated(&self, from: usize, pointer: &[&str]) -> Vec<Span> {
        self.0.repeated(from, pointer, self.1)
    }

    fn faults(&self) -> Vec<JsonFault> {
        self.0.faults().to_vec()
    }
}

/// The calls in `body`, if it can be read and has the shape that its block declares.
pub(super) fn read(source: &PayloadSource<'_>, body: Span, block: &BlockBinding) -> Option<CallList> {
    let body = body.trimmed(source.text);
    if let Some(listed) = source.with_layout(body, |layout| calls(layout, block)) {
        return listed;
    }
    let declares = |name: &str| source.declares(name);
    let list = block.lists_calls() && body.of(source.text).starts_with('[');
    let envelopes =
        block.bodies().map(|pointer| pointer.split('.').count()).min().unwrap_or_default() + usize::from(list);
    let context =
        Context { declares: &declares, cut: source.cut, bounded: source.bounded, envelopes, ..source.context() };
    calls(&JsonLayout(json::tape(source.text, body, context)?, source.text), block)
}

fn calls(layout: &dyn CallLayout, block: &BlockBinding) -> Option<CallList> {
    let paths: Vec<Vec<&str>> = block.bodies().map(|pointer| pointer.split('.').collect()).collect();
    let root = layout.root()?;
    let is_list = block.lists_calls() && layout.is_list(root);
    let entries = if is_list { layout.entries(root) } else { vec![root] };
    let mut calls: Vec<ListedCall> = entries
        .into_iter()
        .filter_map(|entry| {
            let span = layout.span(entry)?;
            let at = |pointer: &[&str]| layout.value(entry, pointer);
            let name = first_pointer(block, is_list, |pointer| at(pointer).is_some());
            let pointer = paths.iter().find(|pointer| at(pointer).is_some()).or(paths.first());
            let Some(pointer) = pointer.filter(|_| layout.is_object(entry)) else {
                let (name, beside, repeated) = (at(&name), Vec::new(), Vec::new());
                return Some(ListedCall { span, name, params: span, beside, repeated, worst: None });
            };
            let params = at(pointer).unwrap_or(Span::new(span.end, span.end));
            let read = |key: &str| name.first() == Some(&key) || pointer.first() == Some(&key);
            let beside = layout.members(entry).into_iter().filter(|(key, _)| !read(key));
            let beside = beside.map(|(_, member)| member).collect();
            let mut repeated = layout.repeated(entry, &name);
            repeated.extend(layout.repeated(entry, pointer));
            repeated.sort_unstable_by_key(|key| key.start);
            repeated.dedup();
            Some(ListedCall { span, name: at(&name), params, beside, repeated, worst: None })
        })
        .collect();
    let all = layout.faults();
    let holds = |span: Span, at: &Span| span.start <= at.start && at.end <= span.end;
    let outside = |at: &Span| !calls.iter().any(|call| holds(call.params, at));
    let mut faults: Vec<JsonFault> = all.iter().filter(|fault| outside(&fault.span)).copied().collect();
    if let ([call], false) = (calls.as_slice(), is_list) {
        // Of the closers missing at the end of the parameters, the last ones belong to the objects around the
        // parameters.
        let is_missing = |fault: &&JsonFault| {
            matches!(fault.name, json::MISSING_BRACE | json::MISSING_BRACKET)
                && holds(call.params, &fault.span)
                && fault.span.end >= call.params.end
        };
        let depth = paths.iter().map(Vec::len).max().unwrap_or_default();
        faults.extend(all.iter().rev().filter(is_missing).take(depth));
    }
    for call in &mut calls {
        // A lossy fault around a call, or at its edges, may have dropped a part of the call.
        let around_all = |fault: &JsonFault| matches!(fault.name, json::CODE_FENCE | json::TEXT_AROUND);
        let of_call =
            |fault: &&JsonFault| holds(call.span, &fault.span) || fault.grade == Grade::Lossy || around_all(fault);
        let inside = all.iter().filter(|fault| holds(call.params, &fault.span));
        let lossy = inside.filter(|fault| fault.grade == Grade::Lossy);
        let forgiven = |fault: &&JsonFault| fault.grade == Grade::Certain && block.forgives.contains(&fault.name);
        let graver = faults.iter().filter(of_call).chain(lossy).filter(|fault| !forgiven(fault));
        call.worst = graver.map(|fault| fault.grade).max();
    }
    Some(CallList { calls, is_list, faults })
}
