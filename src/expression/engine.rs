//! The engine: what does lowered source give in a scope?
//!
//! In: what [`super::lower`] made, and a scope.
//! Out: JSON, text or a [`Failure`]; the filters and tests that there are.
//! Never: reads a clock, rolls dice, loads anything, or goes on when a bound is reached.
//!
//! minijinja's fuel counts instructions, and one of them may copy a megabyte. So every evaluation also has a [`WEIGHT`]:
//! what is converted, made, compared or searched is weighed as it would be written out, each time anew. Filters whose
//! result can be much larger than what they are given are weighed before they run, all others after.

use super::lower::{Lowered, Read, Step};
use super::scope::Named;
use super::{Failure, Scope};
use minijinja::value::{Kwargs, Object, ObjectRepr, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value, filters, functions, tests};
use serde_json::{Map, Number, Value as Json};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// Instructions of one evaluation.
pub const FUEL: u64 = 50_000;
/// Bytes that one evaluation may convert, make or look through, each value with its overhead.
pub const WEIGHT: usize = 8 << 20;
/// Bytes of text that one template may give.
pub const OUTPUT: usize = 4 << 20;
/// Levels to which values may be nested.
const DEPTH: usize = 64;
/// What a value weighs besides its text.
const NODE: usize = 32;

/// In alphabetical order.
static FILTERS: [&str; 43] = [
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "first",
    "float",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "xml",
    "zip",
];

/// For operands that are gone through.
pub(super) const EACH: &str = "|each";

/// What stands between a filter and its operand, for `none` is an empty collection and going through a text is dear.
pub(super) fn guard_of(filter: &str) -> &'static str {
    match filter {
        "batch" | "chain" | "join" | "list" | "map" | "max" | "min" | "reject" | "rejectattr" | "select"
        | "selectattr" | "slice" | "sort" | "sum" | "unique" | "zip" => EACH,
        "count" | "first" | "last" | "length" | "reverse" => "|some",
        "dictsort" | "items" => "|pairs",
        _ => "",
    }
}

static TESTS: [&str; 37] = [
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "even",
    "false",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sequence",
    "startingwith",
    "string",
    "true",
    "undefined",
    "upper",
];

pub(super) fn filters() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().copied()
}

pub(super) fn predicates() -> impl Iterator<Item = &'static str> {
    TESTS.iter().copied()
}

/// A compiled expression.
pub(super) type Code = minijinja::Expression<'static, 'static>;

pub(super) fn compile_expression(source: &str) -> Result<Code, Error> {
    ENVIRONMENT.compile_expression_owned(source.to_owned())
}

/// A template lives in an environment of its own, which shares its filters with all others.
pub(super) fn compile_template(source: &str) -> Result<Environment<'static>, Error> {
    let mut environment = ENVIRONMENT.clone();
    environment.add_template_owned("", source.to_owned())?;
    Ok(environment)
}

/// The value of a read, borrowed; what is absent is `none`.
pub(super) fn resolve<'j>(reads: &[Read], index: usize, scope: &'j Scope<'_>) -> Result<Cow<'j, Json>, Failure> {
    let Some(read) = reads.get(index) else { return Ok(Cow::Owned(Json::Null)) };
    let Some(named) = scope.find(&read.name) else {
        return Err(Failure::new(format!("nothing is called `{}` here", read.name)));
    };
    let mut steps = read.steps.iter();
    let mut value = match (named, steps.as_slice().first()) {
        (Named::Value(value), _) => Cow::Borrowed(value),
        (Named::Shared(value), _) => Cow::Borrowed(&**value),
        // Of a record, one member is borrowed; as a whole it is copied.
        (Named::Record(record), Some(step @ (Step::Key(_) | Step::Of(_)))) => {
            steps.next();
            let key = match step {
                Step::Of(other) => resolve(reads, *other, scope)?,
                _ => Cow::Owned(Json::Null),
            };
            let key = if let Step::Key(key) = step { Some(key.as_str()) } else { key.as_str() };
            key.and_then(|key| record.get(key)).map_or(Cow::Owned(Json::Null), Cow::Borrowed)
        }
        (Named::Record(record), _) => Cow::Owned(record.to_json()),
    };
    for step in steps {
        let found = match step {
            Step::Key(key) => within(value, |value| match value {
                // The most common step takes no key of its own.
                Json::Object(members) => members.get(key.as_str()).map(Cow::Borrowed),
                other => member(other, &Json::from(key.as_str())),
            }),
            Step::Place(place) => within(value, |value| member(value, &Json::from(*place))),
            Step::Of(other) => {
                let key = resolve(reads, *other, scope)?;
                within(value, |value| member(value, &key))
            }
            Step::Length => Some(Cow::Owned(length(&value)?)),
        };
        value = found.unwrap_or(Cow::Owned(Json::Null));
    }
    Ok(value)
}

/// The value of a read that is a shared one as a whole.
pub(super) fn shared<'j>(reads: &[Read], index: usize, scope: &'j Scope<'_>) -> Option<&'j Arc<Json>> {
    let read = reads.get(index).filter(|read| read.steps.is_empty())?;
    match scope.find(&read.name)? {
        Named::Shared(value) => Some(value),
        Named::Value(_) | Named::Record(_) => None,
    }
}

/// What `find` finds in a value, borrowed where the value is.
fn within<'j>(value: Cow<'j, Json>, find: impl Fn(&Json) -> Option<Cow<'_, Json>>) -> Option<Cow<'j, Json>> {
    match value {
        Cow::Borrowed(value) => find(value),
        Cow::Owned(value) => find(&value).map(|found| Cow::Owned(found.into_owned())),
    }
}

fn length(value: &Json) -> Result<Json, Failure> {
    Ok(Json::from(match value {
        Json::Null => 0,
        Json::String(text) => text.chars().count(),
        Json::Array(items) => items.len(),
        Json::Object(members) => members.len(),
        Json::Bool(_) | Json::Number(_) => return Err(Failure::new(format!("{value} has no length"))),
    }))
}

/// A member by its name, or an item or character by its place; negative ones count from the end.
fn member<'j>(holder: &'j Json, key: &Json) -> Option<Cow<'j, Json>> {
    let place = |len: usize| {
        let place = key.as_i64().or_else(|| i64::from_str(key.as_str()?).ok())?;
        usize::try_from(if place < 0 { place.checked_add_unsigned(len as u64)? } else { place }).ok()
    };
    match holder {
        Json::Object(members) => members.get(key.as_str()?).map(Cow::Borrowed),
        Json::Array(items) => items.get(place(items.len())?).map(Cow::Borrowed),
        Json::String(text) => {
            let char = text.chars().nth(place(text.chars().count())?)?;
            Some(Cow::Owned(Json::from(String::from(char))))
        }
        _ => None,
    }
}

pub(super) fn evaluate(code: &Code, lowered: &Arc<Lowered>, scope: &Scope<'_>) -> Result<(Value, Scale), Failure> {
    let (names, scale) = Names::new(lowered, scope)?;
    let names = Arc::new(names);
    let value = code.eval(Value::from_dyn_object(names.clone())).map_err(|error| failure(error, &names.reads))?;
    Ok((value, scale))
}

pub(super) fn render(
    environment: &Environment<'static>,
    lowered: &Arc<Lowered>,
    scope: &Scope<'_>,
) -> Result<String, Failure> {
    let (names, _) = Names::new(lowered, scope)?;
    let mut out = Capped::default();
    let template = environment.get_template("").map_err(Failure::of)?;
    let names = Arc::new(names);
    let done = template.render_captured_to(Value::from_dyn_object(names.clone()), &mut out).map(drop);
    out.finish(done.map_err(|error| failure(error, &names.reads)))
}

/// A text that grows to [`OUTPUT`] bytes and no further.
#[derive(Default)]
pub(super) struct Capped {
    bytes: Vec<u8>,
    full: bool,
}

impl Capped {
    /// Writes `value` as minijinja does.
    pub(super) fn print(&mut self, value: &Json) -> Result<(), Failure> {
        let written = match value {
            Json::String(text) => self.write_all(text.as_bytes()),
            other => match to_value(other, &Scale::new(), DEPTH) {
                Ok(value) => write!(self, "{value}"),
                Err(error) => return Err(Failure::of(error)),
            },
        };
        written.map_err(|_| Failure::new("the text is too long"))
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.write_all(text.as_bytes()).map_err(|_| Failure::new("the text is too long"))
    }

    pub(super) fn finish(self, done: Result<(), Failure>) -> Result<String, Failure> {
        if self.full {
            return Err(Failure::new(format!("the text is longer than {OUTPUT} bytes")));
        }
        done?;
        String::from_utf8(self.bytes).map_err(|_| Failure::new("the text is not UTF-8"))
    }
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.full |= self.bytes.len() + bytes.len() > OUTPUT;
        if self.full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is left of the weight of one evaluation.
#[derive(Debug, Clone)]
pub(super) struct Scale(Arc<Left>);

#[derive(Debug)]
struct Left(AtomicUsize);

impl Object for Left {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

impl Scale {
    fn new() -> Self {
        Self(Arc::new(Left(AtomicUsize::new(WEIGHT))))
    }
}

/// Takes `weight` off what is left.
fn take(left: &Left, weight: usize) -> Result<(), Error> {
    match left.0.load(Relaxed).checked_sub(weight) {
        Some(rest) => {
            left.0.store(rest, Relaxed);
            Ok(())
        }
        None => {
            left.0.store(0, Relaxed);
            Err(wrong(format!("an expression may take {WEIGHT} bytes of memory, and this would take more")))
        }
    }
}

/// What lowered source sees: numbered reads and constants.
#[derive(Debug)]
struct Names {
    lowered: Arc<Lowered>,
    reads: Vec<Value>,
    scale: Scale,
}

impl Names {
    /// Converts all that is read, and nothing else of the scope. A name that is not there fails when it is used.
    fn new(lowered: &Arc<Lowered>, scope: &Scope<'_>) -> Result<(Self, Scale), Failure> {
        let scale = Scale::new();
        let mut reads = Vec::with_capacity(lowered.reads.len());
        for index in 0..lowered.reads.len() {
            reads.push(match resolve(&lowered.reads, index, scope) {
                Ok(json) => to_value(&json, &scale, DEPTH).map_err(Failure::of)?,
                Err(failure) => Value::from(wrong(failure.message)),
            });
        }
        Ok((Self { lowered: lowered.clone(), reads, scale: scale.clone() }, scale))
    }
}

impl Object for Names {
    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Value> {
        let (kind, number) = name.split_at_checked(1)?;
        match kind {
            "r" => self.reads.get(number.parse::<usize>().ok()?).cloned(),
            "c" => self.lowered.constants.get(number.parse::<usize>().ok()?).cloned(),
            "$" => Some(Value::from_dyn_object(self.scale.0.clone())),
            _ => None,
        }
    }

    fn get_value(self: &Arc<Self>, name: &Value) -> Option<Value> {
        self.get_value_by_str(name.as_str()?)
    }
}

/// The value as `string` writes it.
pub(super) fn written(json: &Json) -> Option<String> {
    Some(to_value(json, &Scale::new(), DEPTH).ok()?.to_string())
}

/// A constant that is the same in JSON.
pub(super) fn plain(value: &Value) -> Option<Json> {
    let plain = match value.kind() {
        ValueKind::Number => value.is_integer(),
        kind => matches!(kind, ValueKind::None | ValueKind::Bool | ValueKind::String),
    };
    to_json(value, &Scale::new(), DEPTH).ok().filter(|_| plain)
}

fn wrong(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message).with_source(Why { absence: false })
}

/// Of a kind that does not fit: `value` may be absent.
fn unfit(value: &Value, message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message).with_source(Why { absence: is_none(value) })
}

/// What an error of these guards is about; minijinja's own errors have none.
#[derive(Debug)]
struct Why {
    absence: bool,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.absence { "a value is not there" } else { "a value does not fit" })
    }
}

impl std::error::Error for Why {}

/// The failure that an error means, for an expression with these reads.
fn failure(error: Error, reads: &[Value]) -> Failure {
    let why = std::error::Error::source(&error).and_then(|why| why.downcast_ref::<Why>());
    let absence = why.map_or_else(|| reads.iter().any(is_none), |why| why.absence);
    Failure { absence, ..Failure::of(error) }
}

fn to_value(json: &Json, scale: &Scale, depth: usize) -> Result<Value, Error> {
    take(&scale.0, NODE)?;
    let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
    Ok(match json {
        Json::Null => Value::from(()),
        Json::Bool(truth) => Value::from(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Value::from(int),
            (_, Some(int)) => Value::from(int),
            _ => Value::from(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => {
            take(&scale.0, text.len())?;
            Value::from(text.as_str())
        }
        Json::Array(items) => {
            let depth = deeper()?;
            let items = items.iter().map(|item| to_value(item, scale, depth));
            Value::from_object(items.collect::<Result<Vec<_>, _>>()?)
        }
        Json::Object(members) => {
            let depth = deeper()?;
            let mut pairs = Vec::with_capacity(members.len());
            for (key, value) in members {
                take(&scale.0, 2 * NODE + key.len())?;
                pairs.push((Value::from(key.as_str()), to_value(value, scale, depth)?));
            }
            Value::from_pairs(pairs)
        }
    })
}

fn too_deep() -> Error {
    wrong(format!("values are nested at most {DEPTH} deep"))
}

/// The same value as JSON.
pub(super) fn to_json(value: &Value, scale: &Scale, depth: usize) -> Result<Json, Error> {
    take(&scale.0, NODE)?;
    let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
    Ok(match value.kind() {
        ValueKind::Undefined | ValueKind::None => Json::Null,
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number if value.is_integer() => match (i64::try_from(value.clone()), u64::try_from(value.clone())) {
            (Ok(int), _) => Json::from(int),
            (_, Ok(int)) => Json::from(int),
            _ => return Err(wrong("a number is too large for 64 bits")),
        },
        ValueKind::Number => match Number::from_f64(f64::try_from(value.clone())?) {
            Some(number) => Json::Number(number),
            None => return Err(wrong("a number is not finite")),
        },
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            take(&scale.0, text.len())?;
            Json::from(text)
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let depth = deeper()?;
            let items = value.try_iter()?.map(|item| to_json(&item, scale, depth));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let depth = deeper()?;
            let mut members = Map::new();
            for key in value.try_iter()? {
                take(&scale.0, NODE)?;
                let name = key.as_str().ok_or_else(|| wrong("keys of a map are texts"))?;
                members.insert(name.to_owned(), to_json(&value.get_item(&key)?, scale, depth)?);
            }
            Json::Object(members)
        }
        kind => return Err(wrong(format!("{kind} is no value that JSON has"))),
    })
}

pub(super) fn json(value: &Value, scale: &Scale) -> Result<Json, Failure> {
    to_json(value, scale, DEPTH).map_err(Failure::of)
}

/// Takes off what `value` weighs, written out in full.
fn weigh(left: &Left, value: &Value, depth: usize) -> Result<(), Error> {
    let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
    match value.kind() {
        ValueKind::String => take(left, NODE + value.as_str().map_or(0, str::len)),
        ValueKind::Seq | ValueKind::Iterable => {
            take(left, NODE)?;
            let depth = deeper()?;
            value.try_iter()?.try_for_each(|item| weigh(left, &item, depth))
        }
        ValueKind::Map => {
            take(left, NODE)?;
            let depth = deeper()?;
            let pairs = value.as_object().and_then(|object| object.try_iter_pairs());
            pairs.into_iter().flatten().try_for_each(|(key, value)| {
                weigh(left, &key, depth)?;
                take(left, NODE)?;
                weigh(left, &value, depth)
            })
        }
        ValueKind::Invalid => Err(wrong(value.to_string())),
        _ => take(left, NODE),
    }
}

/// Runs `act` on the scale of this evaluation.
fn on_scale<T>(state: &State<'_, '_>, act: impl FnOnce(&Left) -> Result<T, Error>) -> Result<T, Error> {
    let held = state.lookup("$").ok_or_else(|| wrong("an evaluation without a scale"))?;
    act(held.downcast_object_ref::<Left>().ok_or_else(|| wrong("an evaluation without a scale"))?)
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut e = bare();
    for name in FILTERS {
        if let Some(cost) = cost_of(name) {
            e.add_filter(name, move |state: &State<'_, '_>, args: Rest<ValueOrKwargs>| {
                let args = args.into_values();
                on_scale(state, |left| cost(left, &args))?;
                BUILTIN.empty_state().apply_filter(name, &args)
            });
        }
    }
    e.add_filter("abs", filters::abs);
    e.add_filter("attr", filters::attr);
    e.add_filter("bool", filters::bool);
    e.add_filter("capitalize", filters::capitalize);
    e.add_filter("chain", filters::chain);
    e.add_filter("count", filters::length);
    e.add_filter("first", filters::first);
    e.add_filter("float", filters::float);
    e.add_filter("int", filters::int);
    e.add_filter("items", filters::items);
    e.add_filter("last", filters::last);
    e.add_filter("length", filters::length);
    e.add_filter("lower", filters::lower);
    e.add_filter("map", filters::map);
    e.add_filter("reject", filters::reject);
    e.add_filter("rejectattr", filters::rejectattr);
    e.add_filter("reverse", filters::reverse);
    e.add_filter("round", filters::round);
    e.add_filter("select", filters::select);
    e.add_filter("selectattr", filters::selectattr);
    e.add_filter("sum", filters::sum);
    e.add_filter("title", filters::title);
    e.add_filter("upper", filters::upper);
    e.add_filter("zip", filters::zip);
    for name in ["d", "default"] {
        e.add_filter(name, |value: &Value, other: Option<Value>, lax: Option<bool>, named: Kwargs| {
            let other = other.or(named.get("default_value")?);
            let lax = lax.or(named.get("boolean")?).unwrap_or(false);
            named.assert_all_used()?;
            let absent = is_none(value) || (lax && !value.is_true());
            Ok::<_, Error>(if absent { other.unwrap_or_else(|| Value::from("")) } else { value.clone() })
        });
    }
    e.add_filter("tojson", |state: &State<'_, '_>, value: &Value| {
        let json = on_scale(state, |left| to_json(value, &Scale(Arc::new(Left(left.0.load(Relaxed).into()))), DEPTH))?;
        on_scale(state, |left| weigh(left, value, DEPTH))?;
        Ok::<_, Error>(json.to_string())
    });
    e.add_filter("xml", |state: &State<'_, '_>, value: &Value| {
        on_scale(state, |left| weigh(left, value, DEPTH))?;
        let text = value.to_string();
        on_scale(state, |left| take(left, 6 * text.len()))?;
        Ok::<_, Error>(xml(&text))
    });
    guards(&mut e);
    predicates_of(&mut e);
    e.add_function("range", |lower: isize, upper: Option<isize>, step: Option<isize>| {
        let (from, to) = upper.map_or((0, lower), |upper| (lower, upper));
        if from.abs_diff(to) / step.map_or(1, isize::unsigned_abs).max(1) > 10_000 {
            return Err(wrong("a range has at most 10000 items"));
        }
        functions::range(lower, upper, step)
    });
    e
});

/// minijinja's own filters, for those that are weighed before they run.
static BUILTIN: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut e = bare();
    e.add_filter("batch", filters::batch);
    e.add_filter("dictsort", filters::dictsort);
    e.add_filter("indent", filters::indent);
    e.add_filter("join", filters::join);
    e.add_filter("lines", filters::lines);
    e.add_filter("list", filters::list);
    e.add_filter("max", filters::max);
    e.add_filter("min", filters::min);
    e.add_filter("replace", filters::replace);
    e.add_filter("slice", filters::slice);
    e.add_filter("sort", filters::sort);
    e.add_filter("split", filters::split);
    e.add_filter("string", filters::string);
    e.add_filter("trim", filters::trim);
    e.add_filter("unique", filters::unique);
    e
});

fn bare() -> Environment<'static> {
    let mut e = Environment::empty();
    e.set_undefined_behavior(UndefinedBehavior::Chainable);
    e.set_debug(false);
    e.set_fuel(Some(FUEL));
    e.set_recursion_limit(DEPTH);
    e.set_syntax(super::lower::syntax());
    e
}

type Cost = fn(&Left, &[Value]) -> Result<(), Error>;

/// What a filter weighs before it runs.
fn cost_of(name: &str) -> Option<Cost> {
    fn text(args: &[Value], nth: usize) -> &str {
        args.get(nth).and_then(Value::as_str).unwrap_or_default()
    }
    fn count(args: &[Value]) -> usize {
        args.iter().skip(1).filter_map(Value::as_usize).max().unwrap_or(0)
    }
    let all: Cost = |left, args| args.iter().try_for_each(|arg| weigh(left, arg, DEPTH));
    Some(match name {
        "string" => all,
        "max" | "min" | "unique" => all,
        "dictsort" | "sort" => {
            |left, args| (0..4).try_for_each(|_| weigh(left, args.first().unwrap_or(&Value::UNDEFINED), DEPTH))
        }
        "list" => |left, args| take(left, NODE * text(args, 0).len()),
        "lines" => |left, args| take(left, 2 * NODE * text(args, 0).matches('\n').count()),
        "split" => |left, args| {
            let (text, by) = (text(args, 0), text(args, 1));
            let parts = if by.is_empty() { text.len() } else { text.matches(by).count() };
            take(left, NODE.saturating_mul(parts))
        },
        "trim" => |left, args| take(left, text(args, 0).len().saturating_mul(text(args, 1).len().max(1))),
        "replace" => |left, args| {
            let found = text(args, 0).matches(text(args, 1)).count();
            take(left, found.saturating_mul(text(args, 2).len().max(1)))
        },
        "join" => |left, args| {
            let joints = args.first().and_then(Value::len).unwrap_or(0);
            take(left, joints.saturating_mul(text(args, 1).len()))?;
            args.first().map_or(Ok(()), |list| weigh(left, list, DEPTH))
        },
        "batch" | "slice" => |left, args| take(left, 2 * NODE * count(args).min(WEIGHT)),
        "indent" => |left, args| {
            let width = args
                .iter()
                .skip(1)
                .filter_map(|width| width.as_usize().or_else(|| width.get_attr("width").ok()?.as_usize()));
            let lines = text(args, 0).matches('\n').count() + 2;
            take(left, lines.saturating_mul(width.max().unwrap_or(4)))
        },
        _ => return None,
    })
}

/// What lowering puts between operators and their operands.
fn guards(e: &mut Environment<'static>) {
    e.add_filter("weigh", |state: &State<'_, '_>, value: Value| match value.kind() {
        ValueKind::Undefined => Ok(Value::from(())),
        ValueKind::None | ValueKind::Bool | ValueKind::Number => Ok(value),
        _ => {
            on_scale(state, |left| weigh(left, &value, DEPTH))?;
            let lazy = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
                && value.downcast_object_ref::<Vec<Value>>().is_none();
            // What was gone through once is kept as a list: going through layers of lazy ones costs a call for each.
            Ok(if lazy { Value::from_object(value.try_iter()?.collect::<Vec<_>>()) } else { value })
        }
    });
    e.add_filter("number", |value: Value| match value.kind() {
        ValueKind::Number => Ok(value),
        _ => Err(unfit(&value, format!("this sum wants numbers, not {}", noun(&value)))),
    });
    e.add_filter("plus", |state: &State<'_, '_>, value: Value| match value.kind() {
        ValueKind::Number => Ok(value),
        ValueKind::String | ValueKind::Seq | ValueKind::Iterable => {
            on_scale(state, |left| weigh(left, &value, DEPTH)).map(|()| value)
        }
        _ => Err(unfit(&value, format!("`+` wants numbers, texts or lists, not {}", noun(&value)))),
    });
    e.add_filter("each", |state: &State<'_, '_>, value: Value| match value.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(empty()),
        ValueKind::String => {
            on_scale(state, |left| take(left, NODE * value.as_str().map_or(0, str::len))).map(|()| value)
        }
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => {
            on_scale(state, |left| weigh(left, &value, DEPTH)).map(|()| value)
        }
        _ => Err(unfit(&value, format!("{} has no items", noun(&value)))),
    });
    e.add_filter("some", |value: Value| if is_none(&value) { empty() } else { value });
    e.add_filter("pairs", |value: Value| match is_none(&value) {
        true => Value::from_pairs(Vec::<(Value, Value)>::new()),
        false => value,
    });
}

fn predicates_of(e: &mut Environment<'static>) {
    e.add_test("boolean", tests::is_boolean);
    e.add_test("divisibleby", tests::is_divisibleby);
    e.add_test("even", tests::is_even);
    e.add_test("false", tests::is_false);
    e.add_test("float", tests::is_float);
    e.add_test("int", tests::is_integer);
    e.add_test("integer", tests::is_integer);
    e.add_test("lower", tests::is_lower);
    e.add_test("mapping", tests::is_mapping);
    e.add_test("number", tests::is_number);
    e.add_test("odd", tests::is_odd);
    e.add_test("sequence", tests::is_sequence);
    e.add_test("string", tests::is_string);
    e.add_test("true", tests::is_true);
    e.add_test("upper", tests::is_upper);
    e.add_test("iterable", |value: &Value| !is_none(value) && tests::is_iterable(value));
    e.add_test("defined", |value: &Value| !is_none(value));
    e.add_test("none", is_none);
    e.add_test("undefined", is_none);
    e.add_test("endingwith", |one: &Value, end: &Value| pair(one, end).is_some_and(|(one, end)| one.ends_with(end)));
    e.add_test("startingwith", |one: &Value, start: &Value| {
        pair(one, start).is_some_and(|(one, start)| one.starts_with(start))
    });
    e.add_test("in", contains);
    for name in ["eq", "equalto", "=="] {
        e.add_test(name, equal);
    }
    for name in ["ne", "!="] {
        e.add_test(name, |state: &State<'_, '_>, one: &Value, other: &Value| {
            equal(state, one, other).map(|same| !same)
        });
    }
    type Holds = fn(Ordering) -> bool;
    let orders: [(&[&'static str], Holds); 4] = [
        (&["lt", "lessthan", "<"], Ordering::is_lt),
        (&["le", "<="], Ordering::is_le),
        (&["gt", "greaterthan", ">"], Ordering::is_gt),
        (&["ge", ">="], Ordering::is_ge),
    ];
    for (names, holds) in orders {
        for name in names {
            e.add_test(*name, move |state: &State<'_, '_>, one: &Value, other: &Value| {
                order(state, one, other).map(holds)
            });
        }
    }
}

fn equal(state: &State<'_, '_>, one: &Value, other: &Value) -> Result<bool, Error> {
    if is_none(one) || is_none(other) {
        return Ok(is_none(one) && is_none(other));
    }
    on_scale(state, |left| weigh(left, one, DEPTH).and_then(|()| weigh(left, other, DEPTH)))?;
    Ok(one == other)
}

/// Which comes first, of two numbers or two texts; nothing else has an order.
fn order(state: &State<'_, '_>, one: &Value, other: &Value) -> Result<Ordering, Error> {
    if one.kind() != other.kind() || !matches!(one.kind(), ValueKind::Number | ValueKind::String) {
        let absent = if is_none(one) { one } else { other };
        return Err(unfit(absent, format!("{} and {} have no order", noun(one), noun(other))));
    }
    on_scale(state, |left| weigh(left, one, DEPTH).and_then(|()| weigh(left, other, DEPTH)))?;
    Ok(one.cmp(other))
}

fn contains(state: &State<'_, '_>, value: &Value, holder: &Value) -> Result<bool, Error> {
    match holder.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(false),
        ValueKind::String => {
            on_scale(state, |left| weigh(left, holder, DEPTH))?;
            on_scale(state, |left| weigh(left, value, DEPTH))?;
            let held = holder.as_str().unwrap_or_default();
            Ok(match value.as_str() {
                Some(text) => held.contains(text),
                None => !is_none(value) && held.contains(&value.to_string()),
            })
        }
        ValueKind::Seq | ValueKind::Iterable => {
            on_scale(state, |left| weigh(left, holder, DEPTH))?;
            Ok(holder.try_iter()?.any(|item| item == *value || (is_none(&item) && is_none(value))))
        }
        ValueKind::Map => Ok(!holder.get_item(value)?.is_undefined()),
        _ => Err(unfit(holder, format!("nothing is in {}", noun(holder)))),
    }
}

fn pair<'v>(one: &'v Value, other: &'v Value) -> Option<(&'v str, &'v str)> {
    one.as_str().zip(other.as_str())
}

fn is_none(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::None | ValueKind::Undefined)
}

fn empty() -> Value {
    Value::from_object(Vec::<Value>::new())
}

/// What messages call a value.
fn noun(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => "none",
        ValueKind::Bool => "a truth",
        ValueKind::Number => "a number",
        ValueKind::String => "a text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "a map",
        _ => "this",
    }
}

/// `text` with the five characters that mean something in XML as entities.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
pub(super) fn value_of(json: &Json) -> Value {
    to_value(json, &Scale::new(), DEPTH).unwrap_or_default()
}

#[cfg(test)]
pub(super) fn json_of(value: &Value) -> Result<Json, Error> {
    to_json(value, &Scale::new(), DEPTH)
}
