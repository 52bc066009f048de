//! Typing: which values do fields or JSON have once the schema gives them types?
//!
//! In: a payload that was read, and the JSON Schema of its action.
//! Out: parameters, undeclared keys, repeated fields, and text between fields.
//! Never: decides whether the parameters are valid: a field that cannot be converted to its type remains a text.

use super::converting::is_null_text;
use crate::document::payload::{Field, Fields, PayloadSource, ValueForm, unmarked};
use crate::document::{TextEncoding, is_cdata};
use crate::json::{self, Context, Grade, Json, JsonFault, Rounded};
use crate::program::{BlockNames, Types, ValueKind};
use crate::text::{Span, same};
use crate::value::{Members, Object, Value, nearest, number};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

/// One field of a payload, wherever it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldEntry<'t> {
    pub(super) name: &'t str,
    /// The span of the whole field.
    pub(super) span: Span,
    /// The span of its value.
    pub(super) body: Span,
    /// The form of the value that the opener declares.
    pub(super) form: ValueForm,
}

/// Parameters, with what has to be reported about them.
#[derive(Debug, Default)]
pub(super) struct TypedParams {
    pub(super) params: Members<Value>,
    /// Whether all of them are texts that the schema declares, so that there is nothing to [`conform`].
    pub(super) plain: bool,
    /// Repeated fields for a parameter that is not a list.
    pub(super) repeated: Vec<(String, Span)>,
    /// Keys that are repeated in an object inside a field, each with the span of the field's value.
    pub(super) keys: Vec<(String, Span)>,
    /// The number of such keys beyond the limit, which are not listed.
    pub(super) left_out: usize,
    /// Text that is neither a field nor inside one.
    pub(super) between: Vec<Span>,
    /// Tags of fields with more than a name.
    pub(super) verbose: Vec<Span>,
    /// Faults of the JSON in fields.
    pub(super) faults: Vec<JsonFault>,
    /// Numbers that are rounded to the nearest double.
    pub(super) rounded: Vec<Span>,
    /// Openers inside fields that are never closed, and closers there that close nothing.
    pub(super) unclosed: Vec<Span>,
    pub(super) stray: Vec<Span>,
}

impl TypedParams {
    /// Adds what has to be reported about the fields inside a field.
    fn add_unread(&mut self, fields: &Fields) {
        self.between.extend(&fields.between);
        self.verbose.extend(&fields.verbose);
        self.unclosed.extend(&fields.unclosed);
        self.stray.extend(&fields.stray);
    }
}

/// Most payloads have at most this many fields.
const FEW_FIELDS: usize = 4;

/// The fields with one name.
struct Group<'g> {
    name: &'g str,
    /// The name as the schema declares it.
    declared: Option<&'g Arc<str>>,
    types: &'g Types,
    first: Span,
    /// The bodies of all of them, including the first, if there are several.
    further: Vec<Span>,
    /// The span of the last one, and the form that its opener declares.
    last: Span,
    form: ValueForm,
}

impl<'t> PayloadSource<'t> {
    fn decoded(&self, span: Span) -> Cow<'t, str> {
        let raw = span.of(self.text);
        if is_cdata(span, self.text, self.spelled.trim) { Cow::Borrowed(raw) } else { self.decode(raw) }
    }

    fn decode(&self, raw: &'t str) -> Cow<'t, str> {
        self.spelling.decode(raw)
    }

    /// Counts one more value; returns false at the limit on the values of all payloads.
    fn takes(&self) -> bool {
        let left = self.values.get();
        self.values.set(left.saturating_sub(1));
        left > 0
    }

    /// The JSON value in a field: strict, or with faults that lose nothing.
    fn json_of(&self, text: &str, types: &Types, body: Span, outer: &mut TypedParams) -> Option<Value> {
        let before = self.values.get();
        let declares = |name: &str| self.declares(name);
        let context = Context { declares: &declares, ..self.context() };
        // If the raw text is JSON already, escapes belong to the strings in it: do not decode them first.
        let raw = Some(body.of(self.text).trim()).filter(|_| self.spelling == TextEncoding::Escapes);
        let is_json = |raw: &&str| json::strict(raw, Context::new(self.limits.depth, &Cell::new(before))).is_ok();
        let source = raw.filter(is_json).unwrap_or(text);
        let read = json::read(source, Span::new(0, source.len()), context).ok();
        let is_exact = |json: &Json| {
            !json.is_lossy() && !json.rounded.iter().any(|one| loses_digits(one, source, types, &self.dialect.names))
        };
        let read = read.filter(is_exact);
        let Some(json) = read else {
            if self.values.get() > 0 {
                self.values.set(before);
            }
            return None;
        };
        // Offsets in a decoded text are not offsets in the response.
        let trimmed = body.trimmed(self.text);
        let place = |at: Span| match trimmed.of(self.text) == source {
            true => Span::new(trimmed.start + at.start, trimmed.start + at.end),
            false => trimmed,
        };
        outer.faults.extend(json.faults.iter().map(|fault| JsonFault { span: place(fault.span), ..*fault }));
        outer.rounded.extend(json.rounded.iter().map(|one| place(one.span)));
        outer.keys.extend(json.repeated.into_iter().map(|key| (key, body)));
        outer.left_out += json.left_out;
        Some(json.value)
    }

    /// The number, boolean or `null` in a field, as JSON or Python writes it, if its schema allows that and does not
    /// prefer a text. If the dialect writes values as JSON literals, `null` is preferred to a text, because chat
    /// templates write it for a missing text.
    fn scalar(&self, text: &str, types: &Types, body: Span, outer: &mut TypedParams) -> Option<Value> {
        let is_null = self.spelled.literals && text.trim() == "null" && types.scalars().contains(&ValueKind::Null);
        if let Some(value) = is_null.then_some(Value::Null).or_else(|| scalar(text, types)) {
            let rounded = matches!(&value, Value::Number(number) if number.is_f64()) && number(text).is_none();
            outer.rounded.extend(rounded.then_some(body));
            return Some(value);
        }
        let value = python(text.trim(), types, self.spelled.literals)?;
        outer.faults.push(JsonFault { name: json::CONSTANT, span: body.trimmed(self.text), grade: Grade::Certain });
        Some(value)
    }

    /// The value of a field whose text is strict JSON.
    fn literal(&self, body: Span, outer: &mut TypedParams) -> Option<Value> {
        let text = self.decoded(body);
        let tried = Cell::new(self.values.get());
        json::strict(text.trim(), Context::new(self.limits.depth, &tried)).ok()?;
        self.json_of(text.trim(), Types::unknown(), body, outer)
    }

    /// The members in the fields, typed by the schema's properties.
    pub(super) fn members(&self, fields: &Fields, types: &Types, depth: usize) -> TypedParams {
        let mut typed = self.typed(fields.list.iter().map(|field| self.entry(field)), types, depth);
        typed.between.extend(&fields.between);
        typed.verbose.extend(&fields.verbose);
        typed
    }

    fn entry(&self, field: &Field) -> FieldEntry<'t> {
        FieldEntry { name: field.name.of(self.text), span: field.span, body: field.body, form: field.form }
    }

    /// The object whose members are the fields inside a field.
    fn object(&self, fields: &Fields, types: &Types, depth: usize, outer: &mut TypedParams) -> Value {
        let inner = self.typed(fields.list.iter().map(|field| self.entry(field)), types, depth);
        outer.repeated.extend(inner.repeated);
        outer.keys.extend(inner.keys);
        outer.left_out += inner.left_out;
        outer.faults.extend(inner.faults);
        outer.rounded.extend(inner.rounded);
        outer.between.extend(inner.between);
        outer.verbose.extend(inner.verbose);
        outer.unclosed.extend(inner.unclosed);
        outer.stray.extend(inner.stray);
        outer.add_unread(fields);
        Value::Object(inner.params.into())
    }

    /// The parameters from entries, whether they are fields of a payload or attributes of an opener.
    pub(super) fn typed<'e>(
        &self,
        entries: impl ExactSizeIterator<Item = FieldEntry<'e>>,
        types: &'e Types,
        depth: usize,
    ) -> TypedParams {
        let mut typed =
            TypedParams { params: Members::with_capacity(entries.len()), plain: true, ..TypedParams::default() };
        let mut groups: SmallVec<[Group<'_>; FEW_FIELDS]> = SmallVec::new();
        for field in entries {
            let raw = field.name;
            let declared = types.called(raw, &self.dialect.names);
            let name = declared.map_or(raw, |(name, _)| name);
            let is_same = |group: &&mut Group<'_>| match declared {
                Some(_) => same(group.name, name),
                None => self.dialect.names.same(group.name, name),
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => {
                    if group.further.is_empty() {
                        group.further.push(group.first);
                    }
                    group.further.push(field.body);
                    group.last = field.span;
                    group.form = field.form;
                }
                None => {
                    let types = declared.map(|(_, types)| types).or(types.others()).unwrap_or(Types::unknown());
                    let declared = declared.map(|(name, _)| name);
                    let (first, last, form) = (field.body, field.span, field.form);
                    groups.push(Group { name, declared, types, first, further: Vec::new(), last, form });
                }
            }
        }
        for group in groups {
            let bodies = if group.further.is_empty() { std::slice::from_ref(&group.first) } else { &group.further };
            // A declared name is spelled as in the schema; any other is folded as the dialect compares names.
            let name = group.declared.map_or_else(|| self.dialect.names.fold(group.name).as_ref().into(), Arc::clone);
            if bodies.len() > 1 && group.types.kind != ValueKind::Array {
                typed.repeated.push((name.to_string(), group.last));
            }
            let literal = match group.form {
                ValueForm::Typed => self.spelled.literals && group.types.kind == ValueKind::Unknown,
                form => form == ValueForm::Json,
            };
            let last = bodies.last().copied().unwrap_or_default();
            let value = match group.form {
                ValueForm::Text if self.takes() => Some(self.decoded(last).into()),
                _ if literal => self.literal(last, &mut typed),
                _ => None,
            };
            let value = value.unwrap_or_else(|| self.value(bodies, group.types, depth, &mut typed));
            typed.plain &= group.declared.is_some() && value.is_string();
            typed.params.insert(name, value);
        }
        typed
    }

    /// The value of a field that occurs once for each of `bodies`.
    fn value(&self, bodies: &[Span], types: &Types, depth: usize, outer: &mut TypedParams) -> Value {
        let Some(last) = bodies.last().copied().filter(|_| self.takes()) else { return Value::Null };
        let text = || if types.verbatim { last.of(self.text).into() } else { self.decoded(last) };
        match types.kind {
            ValueKind::Array => self.items(bodies, types, depth, outer),
            ValueKind::Object => {
                let text = text();
                if text.trim().is_empty() {
                    return Object::new().into();
                }
                if let Some(none) = self.scalar(&text, types, last, outer) {
                    return none;
                }
                if text.trim_start().starts_with(['{', '`'])
                    && let Some(object @ Value::Object(_)) = self.json_of(text.trim(), types, last, outer)
                {
                    return object;
                }
                let fields = self.fields_in(last);
                if fields.list.is_empty() || depth == 0 {
                    return text.into();
                }
                self.object(&fields, types, depth - 1, outer)
            }
            ValueKind::Integer | ValueKind::Number | ValueKind::Boolean | ValueKind::Null => {
                let text = text();
                self.scalar(&text, types, last, outer).unwrap_or_else(|| text.into())
            }
            // If the type is unknown, a text of nothing but fields is an object, or a list if all of them have the
            // same name; tags within a sentence are text.
            ValueKind::Unknown => {
                let fields = self.fields_in(last);
                if !fields.is_only_fields() || depth == 0 {
                    return text().into();
                }
                if self.are_entries(&fields) {
                    return self.entries(&fields, types, depth - 1, outer);
                }
                self.object(&fields, types, depth - 1, outer)
            }
            // The schema allows only some texts, and other types: any other text may be a value of one of those
            // types.
            ValueKind::String if types.scalars().len() > 1 => {
                let text = text();
                self.scalar(&text, types, last, outer).unwrap_or_else(|| text.into())
            }
            _ => text().into(),
        }
    }

    /// Whether the fields of a list are one item that has no tag of its own: an object, or the members of one.
    pub(super) fn is_one(&self, body: Span, fields: &Fields, item: &Types) -> bool {
        let names = |field: &Field| item.called(field.name.of(self.text), &self.dialect.names).is_some();
        item.kind == ValueKind::Object
            && match fields.list.is_empty() {
                true => body.of(self.text).trim_start().starts_with('{'),
                false => fields.list.iter().all(names),
            }
    }

    /// Whether the fields all have one name, and there are several: `<rule>…</rule><rule>…</rule>`.
    fn are_entries(&self, fields: &Fields) -> bool {
        let mut names = fields.list.iter().map(|field| field.name.of(self.text));
        let first = names.next().unwrap_or_default();
        fields.list.len() > 1 && names.all(|name| self.dialect.names.same(first, name))
    }

    /// A list whose items are fields.
    fn entries(&self, fields: &Fields, item: &Types, depth: usize, outer: &mut TypedParams) -> Value {
        outer.add_unread(fields);
        fields.list.iter().map(|field| self.value(&[field.body], item, depth, outer)).collect()
    }

    /// A word of a list, typed by its schema.
    fn word(&self, word: &'t str, types: &Types) -> Value {
        let word = self.decode(word);
        scalar(&word, types).unwrap_or_else(|| word.into())
    }

    /// Reads a list: a JSON array, fields inside one field, a bullet or number on each line, words separated by
    /// commas, or the same field several times.
    fn items(&self, bodies: &[Span], types: &Types, depth: usize, outer: &mut TypedParams) -> Value {
        let item = types.items();
        if let [only] = bodies {
            let text = self.decoded(*only);
            if let Some(none) = self.scalar(&text, types, *only, outer) {
                return none;
            }
            // A lone `null` is no list of words, but no list at all.
            if is_null_text(&text, types) {
                return text.into();
            }
            let is_json = looks_like_list(&text);
            if is_json && let Some(items @ Value::Array(_)) = self.json_of(text.trim(), types, *only, outer) {
                return items;
            }
            let fields = self.fields_in(*only);
            if depth > 0 && self.is_one(*only, &fields, item) {
                return std::iter::once(self.value(bodies, item, depth - 1, outer)).collect();
            }
            if !fields.list.is_empty() && depth > 0 {
                return self.entries(&fields, item, depth - 1, outer);
            }
            // A broken array is not split at its commas: the brackets would end up in the words.
            if is_json {
                return text.into();
            }
            // Split the raw text: a comma that is written as an entity is part of its word.
            let raw = only.of(self.text);
            let lines = raw.lines().filter(|line| !line.trim().is_empty());
            let words: &mut dyn Iterator<Item = &'t str> = match lines.clone().all(|line| unmarked(line).is_some()) {
                true => &mut lines.filter_map(unmarked),
                false => &mut raw.split(',').map(str::trim),
            };
            let words = words.filter(|word| !word.is_empty()).take_while(|_| self.takes());
            return words.map(|word| self.word(word, item)).collect();
        }
        bodies.iter().map(|body| self.value(&[*body], item, depth.saturating_sub(1), outer)).collect()
    }
}

/// Whether a text is meant as a JSON list, even if it is broken: it starts with a bracket or a fence, or has a bracket
/// and quotes.
fn looks_like_list(text: &str) -> bool {
    text.trim_start().starts_with(['[', '`'])
        || (text.contains('"') && text.contains(['[', ']']) && !text.contains('<'))
}

/// The number, boolean or `null` in a text, if its schema allows that and does not prefer a text.
fn scalar(text: &str, types: &Types) -> Option<Value> {
    let kinds = types.scalars().iter().take_while(|kind| **kind != ValueKind::String || !types.takes_text(text.trim()));
    let read = |kind: &ValueKind| match (kind, text.trim()) {
        (ValueKind::Integer, _) => number_of(text),
        (ValueKind::Number, _) => nearest(text.trim()).map(Value::Number),
        (ValueKind::Boolean, "true") => Some(Value::Bool(true)),
        (ValueKind::Boolean, "false") => Some(Value::Bool(false)),
        (ValueKind::Null, "null") if !types.takes_text("null") => Some(Value::Null),
        _ => None,
    };
    kinds.filter_map(read).next()
}

/// The constant of Python in a text, if its schema allows its value and no text. With `literals`, `None` counts even if
/// it allows a text.
fn python(text: &str, types: &Types, literals: bool) -> Option<Value> {
    let allows = |kind| types.scalars().contains(&kind);
    let (kind, value) = match text {
        "True" => (ValueKind::Boolean, Value::Bool(true)),
        "False" => (ValueKind::Boolean, Value::Bool(false)),
        "None" => (ValueKind::Null, Value::Null),
        _ => return None,
    };
    let is_none = literals && kind == ValueKind::Null;
    (allows(kind) && (is_none || !types.takes_text(text))).then_some(value)
}

fn number_of(text: &str) -> Option<Value> {
    number(text).map(Value::Number)
}

/// The path from a payload to one of its members.
#[derive(Clone, Copy)]
pub(super) struct PayloadPath<'w> {
    pub(super) step: &'w dyn std::fmt::Display,
    pub(super) before: Option<&'w PayloadPath<'w>>,
}

impl PayloadPath<'_> {
    pub(super) fn path(&self) -> Vec<String> {
        let mut path = self.before.map(PayloadPath::path).unwrap_or_default();
        path.push(self.step.to_string());
        path
    }
}

/// Members of a payload that its schema does not declare.
#[derive(Default)]
pub(super) struct Undeclared {
    /// The paths to the first of them.
    pub(super) paths: Vec<Vec<String>>,
    pub(super) count: usize,
}

/// Types a value as the schema declares: `3.0` becomes the integer 3. Returns the members that the schema does not
/// declare: how many, and the paths of at most `most`.
pub(super) fn conform(value: &mut Value, types: &Types, most: usize) -> Undeclared {
    let mut undeclared = Undeclared::default();
    conform_at(value, types, None, &mut undeclared, most);
    undeclared
}

fn conform_at(
    value: &mut Value,
    types: &Types,
    before: Option<&PayloadPath<'_>>,
    undeclared: &mut Undeclared,
    most: usize,
) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let payload_path = PayloadPath { step: &name, before };
                match types.member(name) {
                    Some((_, types)) => conform_at(member, types, Some(&payload_path), undeclared, most),
                    None if types.is_closed() => {
                        if undeclared.count < most {
                            undeclared.paths.push(payload_path.path());
                        }
                        undeclared.count += 1;
                    }
                    None => {
                        if let Some(types) = types.others() {
                            conform_at(member, types, Some(&payload_path), undeclared, most);
                        }
                    }
                }
            }
        }
        Value::Array(items) => {
            let types = types.items();
            for (index, item) in Arc::make_mut(items).iter_mut().enumerate() {
                conform_at(item, types, Some(&PayloadPath { step: &index, before }), undeclared, most);
            }
        }
        Value::Number(number) if number.is_f64() && types.kind == ValueKind::Integer => {
            let is_whole = |float: &f64| float.fract() == 0.0 && (i64::MIN as f64..i64::MAX as f64).contains(float);
            let whole = Some(number.as_f64()).filter(is_whole);
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
            }
        }
        _ => {}
    }
}

/// Renames the members of a value to the names that its schema declares, if the dialect compares them as equal or the
/// schema declares other spellings; values in another declared spelling are replaced likewise. If several members get
/// the same name, the last counts, and the name is added to `repeated` for each of the others.
pub(super) fn respelled(value: Value, types: &Types, names: &BlockNames, repeated: &mut Vec<String>) -> Value {
    if !names.in_any_case() && !types.respells() {
        return value;
    }
    match value {
        Value::Object(members) => {
            let mut respelt = Members::with_capacity(members.len());
            for (name, value) in &members {
                let found = types.called(name, names);
                let inner = found.map_or(types.of_member(name), |(_, types)| types);
                let value = respelled(value.clone(), inner, names, repeated);
                let name = found.map_or_else(|| name.into(), |(declared, _)| Arc::clone(declared));
                match respelt.get_mut(&name) {
                    None => respelt.push(name, value),
                    Some(before) => {
                        *before = value;
                        repeated.push(name.to_string());
                    }
                }
            }
            Value::Object(respelt.into())
        }
        Value::Array(items) => {
            items.iter().map(|item| respelled(item.clone(), types.items(), names, repeated)).collect()
        }
        Value::String(text) => types.value_called(&text, names).cloned().unwrap_or(Value::String(text)),
        value => value,
    }
}

/// Whether rounding a number loses digits that matter. The type `number` means a double, but an integer needs all of
/// its digits. Members that a schema neither declares nor allows do not matter.
pub(super) fn loses_digits(one: &Rounded, text: &str, types: &Types, names: &BlockNames) -> bool {
    let mut types = types;
    for step in &one.pointer {
        types = match (types.kind, types.called(step, names)) {
            (ValueKind::Array, _) => types.items(),
            (_, Some((_, member))) => member,
            (_, None) if types.is_closed() => return false,
            (_, None) => types.of_member(step),
        };
    }
    match types.kind {
        _ if !one.is_near => true,
        ValueKind::Number => false,
        ValueKind::Integer => true,
        _ => !one.span.of(text).contains(['.', 'e', 'E']),
    }
}

/// Removes the members that the schema does not declare.
pub(super) fn remove_undeclared(value: &mut Value, types: &Types) {
    match value {
        Value::Object(members) => members.retain(|name, member| {
            let stays = types.member(name).is_some() || !types.is_closed();
            if stays {
                remove_undeclared(member, types.of_member(name));
            }
            stays
        }),
        Value::Array(items) => {
            Arc::make_mut(items).iter_mut().for_each(|item| remove_undeclared(item, types.items()));
        }
        _ => {}
    }
}
