//! Invalid values: how is each value corrected that is not valid against its schema?
//!
//! In: the parameters of a call, or the value of a section, with its schema; the strategies for this defect, in
//! order.
//! Out: the value with every part corrected that could be; a finding for each wrong part, with the strategy that
//! answered it.
//! Never: changes a valid part, or accepts a value that is not valid as a whole.
//!
//! `coerce`, `interpret`, `default` and `omit` act on each wrong part separately, and the next strategy sees only
//! what is still wrong. Any other strategy acts once, on the whole call or section.

use super::{Judgement, Subject, defect, strategy, typing};
use crate::diagnostic::{Argument, Defect, Message, Strategy, quote};
use crate::json::{self, Context};
use crate::program::{BlockNames, ResolvedStrategy, Schema, Types, ValueKind};
use crate::surface::Role;
use crate::text::{Location, Slice, Span, excerpt};
use crate::value::{Object, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The path from a value to a part of it.
pub(super) type ValuePath = Vec<String>;

/// A path, and the replacement of the part there; `None` leaves the part out.
pub(super) type Replacement = (ValuePath, Option<Value>);

/// A value that is checked against a schema.
pub(super) struct JudgedValue<'s> {
    /// The call or section to which the value belongs.
    pub(super) subject: Subject,
    pub(super) value: Value,
    pub(super) schema: &'s Schema,
    /// The start of the message, which names the value; what is wrong with it is appended.
    pub(super) message: Message,
    /// Returns the place of a part in the response.
    pub(super) at: &'s dyn Fn(&[String]) -> Span,
    pub(super) rule: Location,
}

/// A part of a value that is not valid, or is absent.
pub(super) struct MisfitPart<'p> {
    pub(super) pointer: &'p [String],
    pub(super) value: Option<&'p Value>,
    pub(super) types: &'p Types,
    /// The schema of the whole value.
    pub(super) schema: &'p Schema,
    /// Whether the position of the part in a list gives it its meaning.
    pub(super) is_in_tuple: bool,
}

/// The path to a part that is not valid, or is absent, and what is wrong there.
struct Wrong {
    pointer: ValuePath,
    is_missing: bool,
    is_in_tuple: bool,
    why: Vec<MisfitReason>,
}

/// What is wrong: the path, unless it is that of the whole value, and the text before, in and after a quotation from
/// the value.
struct MisfitReason {
    path: Option<Argument>,
    words: (String, String, String),
}

impl Judgement<'_> {
    /// Answers everything in a value that is not valid against its schema; returns whether the value is valid in the
    /// end.
    pub(super) fn judge_fit(&mut self, typed: JudgedValue<'_>) -> bool {
        let JudgedValue { subject, mut value, schema, message, at, rule } = typed;
        if schema.validator().is_ok_and(|validator| validator.is_valid(&value)) {
            return true;
        }
        let answer = |judgement: &mut Self, chosen: ResolvedStrategy, parts: Vec<&Wrong>| {
            let groups =
                parts.chunk_by(|one, other| one.is_missing && other.is_missing && one.outer() == other.outer());
            for (index, group) in groups.enumerate() {
                // Beyond the limit, findings are only counted.
                if index >= judgement.program.limits.diagnostics {
                    judgement.findings.left_out += 1;
                    continue;
                }
                let place = group.first().map(|part| at(&part.pointer)).unwrap_or_default();
                let finding = defect(Defect::InvalidPayload, place, about(&message, group)).with_rule(Some(rule));
                judgement.record(chosen, &subject, finding);
            }
        };
        let mut wrong = wrong_parts(schema, &value);
        for chosen in self.answers(Defect::InvalidPayload, &subject) {
            let (strategy, _) = chosen;
            if strategy.corrects() && !self.takes_value(&subject) {
                continue;
            }
            if strategy.corrects() {
                let (corrected, better) = self.corrected(strategy, &value, &wrong, schema);
                answer(self, chosen, wrong.iter().filter(|part| corrected.contains(&part.pointer)).collect());
                value = better;
                self.put_value(&subject, value.clone());
                wrong = wrong_parts(schema, &value);
                if wrong.is_empty() {
                    return true;
                }
            } else if strategy::apply(strategy, self, &subject) {
                answer(self, chosen, wrong.iter().collect());
                return false;
            }
        }
        false
    }

    /// Whether a corrected value takes effect. The text of a block other than a section is always taken as it is
    /// written.
    fn takes_value(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Block(block) => self.has_role(*block, Role::Section),
            _ => true,
        }
    }

    fn put_value(&mut self, subject: &Subject, value: Value) {
        match subject {
            Subject::Call(call) => self.with_call(*call, |call| call.params = value),
            Subject::Block(block) => _ = self.computed.section_values.borrow_mut().insert(*block, Some(value)),
            _ => {}
        }
    }

    /// Applies a strategy to the wrong parts of a value: the paths to the parts that are valid now, and the whole
    /// value.
    fn corrected(
        &self,
        strategy: Strategy,
        value: &Value,
        wrong: &[Wrong],
        schema: &Schema,
    ) -> (BTreeSet<ValuePath>, Value) {
        let mut changes: BTreeMap<ValuePath, Option<Value>> = BTreeMap::new();
        for Wrong { pointer, is_in_tuple, .. } in wrong {
            let (here, types) = part_at(value, schema.types(), pointer);
            let part = MisfitPart { pointer, value: here, types, schema, is_in_tuple: *is_in_tuple };
            changes.extend(strategy::replace(strategy, self, &part));
        }
        // A change counts only if nothing is wrong at its place afterwards. If leaving a part out does not help, try
        // to leave out the part around it.
        loop {
            let tried = wrong_parts(schema, &changed(value, &changes, schema));
            let tried: BTreeSet<ValuePath> =
                tried.into_iter().map(|part| pointer_before(part.pointer, &changes)).collect();
            let is_wrong = |pointer: &ValuePath| {
                tried.range(pointer.clone()..).next().is_some_and(|part| part.starts_with(pointer))
            };
            let failing: Vec<ValuePath> = changes.keys().filter(|pointer| is_wrong(pointer)).cloned().collect();
            changes.retain(|pointer, _| !is_wrong(pointer));
            if failing.is_empty() || strategy != Strategy::Omit {
                break;
            }
            let outer =
                failing.iter().filter_map(|pointer| pointer.split_last()).filter(|(_, outer)| !outer.is_empty());
            changes.extend(outer.map(|(_, outer)| (outer.to_vec(), None)));
        }
        if changes.is_empty() {
            return (BTreeSet::new(), value.clone());
        }
        let value = changed(value, &changes, schema);
        let left = wrong_parts(schema, &value).into_iter();
        let left: BTreeSet<ValuePath> = left.map(|part| pointer_before(part.pointer, &changes)).collect();
        let is_mended = |part: &&Wrong| {
            let mut around = (0..=part.pointer.len()).filter_map(|length| part.pointer.get(..length));
            !left.contains(&part.pointer) && around.any(|pointer| changes.contains_key(pointer))
        };
        (wrong.iter().filter(is_mended).map(|part| part.pointer.clone()).collect(), value)
    }

    /// Calls `then` with a function that parses JSON in quotes, or returns `None` if a part would be dropped or
    /// guessed.
    pub(super) fn reading_quoted_json<T>(&self, then: impl FnOnce(&dyn Fn(&str) -> Option<Value>) -> T) -> T {
        let context = Context::new(self.program.limits.depth, &self.payloads.values);
        let parse = |text: &str| {
            let read = json::read(text, Span::new(0, text.len()), context).ok()?;
            (!read.is_lossy()).then_some(read.value)
        };
        then(&parse)
    }
}

impl Wrong {
    /// The path to the object or list that contains the part.
    fn outer(&self) -> &[String] {
        self.pointer.split_last().map_or(&[], |(_, outer)| outer)
    }
}

/// The message about parts that are wrong in the same way, with at most three faults.
fn about(what: &Message, parts: &[&Wrong]) -> Message {
    const MAX_FAULTS: usize = 3;
    let mut message = what.clone();
    let faults = || parts.iter().flat_map(|part| &part.why);
    for (index, fault) in faults().take(MAX_FAULTS).enumerate() {
        message.push(if index == 0 { ": " } else { "; " }, []);
        if let Some(path) = &fault.path {
            message.push("`{}`: ", [path.clone()]);
        }
        let (before, value, behind) = fault.words.clone();
        let value = if value.is_empty() { Argument::whole(value) } else { quote(value, 160) };
        message.push("{}{}{}", [Argument::whole(before), value, Argument::whole(behind)]);
    }
    if faults().nth(MAX_FAULTS).is_some() {
        message.push("; and more", []);
    }
    message
}

/// The parts of a value that are not valid, each once, in the order of the faults.
fn wrong_parts(schema: &Schema, value: &Value) -> Vec<Wrong> {
    let validator = match schema.validator() {
        Ok(validator) => validator,
        // Deny by default: no value is valid against a schema that cannot be compiled.
        Err(error) => {
            let words = format!("the schema itself cannot be used: {}", excerpt(error, 120));
            let why = vec![MisfitReason { path: None, words: (words, String::new(), String::new()) }];
            return vec![Wrong { pointer: ValuePath::new(), is_missing: false, is_in_tuple: false, why }];
        }
    };
    let mut wrong: Vec<Wrong> = Vec::new();
    let mut places: BTreeMap<ValuePath, usize> = BTreeMap::new();
    for fault in validator.faults(value) {
        let mut pointer = fault.pointer.clone();
        pointer.extend(fault.missing().map(str::to_owned));
        let why = MisfitReason { path: path_of(&fault.pointer, schema.types()), words: fault.in_parts() };
        match places.get(&pointer).and_then(|place| wrong.get_mut(*place)) {
            Some(part) => part.why.push(why),
            None => {
                places.insert(pointer.clone(), wrong.len());
                let (is_missing, is_in_tuple) = (fault.missing().is_some(), fault.is_in_tuple());
                wrong.push(Wrong { pointer, is_missing, is_in_tuple, why: vec![why] });
            }
        }
    }
    wrong
}

/// A path for a message; quoted if it has names that the schema does not declare, because these come from the
/// response. `None` if it is empty.
fn path_of(pointer: &[String], types: &Types) -> Option<Argument> {
    let path = excerpt(&pointer.join("."), 120).into_owned();
    let mut types = Some(types);
    let is_declared = pointer.iter().all(|step| {
        let inner = types.and_then(|types| types.member(step).map(|(_, types)| types));
        types = inner.or(types.filter(|types| types.kind == ValueKind::Array).map(Types::items));
        types.is_some()
    });
    match path.is_empty() {
        true => None,
        false if is_declared => Some(Argument::whole(path)),
        false => Some(quote(path, 120)),
    }
}

/// The path that a part had before items of lists were left out.
fn pointer_before(mut pointer: ValuePath, changes: &BTreeMap<ValuePath, Option<Value>>) -> ValuePath {
    for length in 0..pointer.len() {
        let Some(index) = pointer.get(length).and_then(|step| step.parse::<usize>().ok()) else { continue };
        let outer = pointer.slice(..length);
        let inside = changes.range(outer.to_vec()..).take_while(|(inner, _)| inner.starts_with(outer));
        let gone = inside.filter(|(inner, change)| inner.len() == length + 1 && change.is_none());
        let mut gone: Vec<usize> = gone.filter_map(|(inner, _)| inner.last()?.parse().ok()).collect();
        gone.sort_unstable();
        let before = gone.iter().enumerate().take_while(|(nth, gone)| **gone - nth <= index).count();
        if let Some(step) = pointer.get_mut(length).filter(|_| before > 0) {
            *step = (index + before).to_string();
        }
    }
    pointer
}

/// The part at the end of a path, if there is one, and its types.
pub(super) fn part_at<'v>(value: &'v Value, types: &'v Types, pointer: &[String]) -> (Option<&'v Value>, &'v Types) {
    pointer.iter().fold((Some(value), types), |(value, types), step| {
        let is_list = value.map_or(types.kind == ValueKind::Array, Value::is_array);
        let types = if is_list { types.items() } else { types.of_member(step) };
        (value.and_then(|value| value.part(step)), types)
    })
}

/// The value without these parts; `None` if one of them does not exist.
pub(super) fn without(value: &Value, paths: &[ValuePath], types: &Types, names: &BlockNames) -> Option<Value> {
    let mut changes: BTreeMap<ValuePath, Option<Value>> = BTreeMap::new();
    for pointer in paths {
        let (mut at, mut types) = (value, types);
        let mut exact = ValuePath::new();
        for step in pointer {
            let declared = types.called(step, names);
            let folded = || at.as_object()?.iter().map(|(name, _)| name).find(|name| names.same(name, step));
            let name = match declared {
                Some((name, _)) if at.part(name).is_some() => &**name,
                _ if at.part(step).is_some() => step,
                _ => folded()?,
            };
            let member = declared.map_or_else(|| types.of_member(name), |(_, inner)| inner);
            types = if at.is_array() { types.items() } else { member };
            (at, _) = (at.part(name)?, exact.push(name.to_owned()));
        }
        changes.insert(exact, None);
    }
    rebuilt(value, &mut ValuePath::new(), &changes)
}

/// The value with these changes, converted to the types of its schema.
fn changed(value: &Value, changes: &BTreeMap<ValuePath, Option<Value>>, schema: &Schema) -> Value {
    let mut value = rebuilt(value, &mut ValuePath::new(), changes).unwrap_or_default();
    typing::conform(&mut value, schema.types(), 0);
    value
}

/// The part at `pointer` with the changes at it and inside it; `None` if it is left out.
fn rebuilt(value: &Value, pointer: &mut ValuePath, changes: &BTreeMap<ValuePath, Option<Value>>) -> Option<Value> {
    if let Some(change) = changes.get(pointer) {
        return change.clone();
    }
    let inside = || changes.range(pointer.clone()..).take_while(|(inner, _)| inner.starts_with(pointer));
    if inside().next().is_none() {
        return Some(value.clone());
    }
    // A new member is added after the existing ones.
    let is_new = |(inner, _): &(&ValuePath, &Option<Value>)| inner.len() == pointer.len() + 1;
    let new: Vec<(String, Value)> = match value.is_object() {
        true => {
            inside().filter(is_new).filter_map(|(inner, new)| Some((inner.last()?.clone(), new.clone()?))).collect()
        }
        false => Vec::new(),
    };
    let mut at = |step: String, part: &Value| {
        pointer.push(step);
        let part = rebuilt(part, pointer, changes);
        pointer.pop();
        part
    };
    match value {
        Value::Object(members) => {
            let members_left =
                members.iter().filter_map(|(name, part)| Some((name.to_owned(), at(name.to_owned(), part)?)));
            let mut object: Object = members_left.collect();
            for (name, new) in new.into_iter().filter(|(name, _)| members.get(name).is_none()) {
                object.insert(name, new);
            }
            Some(Value::Object(object))
        }
        Value::Array(items) => {
            Some(items.iter().enumerate().filter_map(|(index, part)| at(index.to_string(), part)).collect())
        }
        value => Some(value.clone()),
    }
}
