//! Filters and tests: what can be done with a value, and what does it cost?
//!
//! In: the engine's values.
//! Out: the names of filters and tests, and the environment that provides them.
//! Never: reads a clock, uses randomness, loads anything, or goes on beyond a limit.
//!
//! Filters whose result can be much larger than their input are weighed before they run, all others afterwards.

use super::matching::{self, Pattern};
use super::scale::{DEPTH, FUEL, Left, NODE, WEIGHT, from_jinja, is_none, on_scale, take, unfit, weigh, wrong};
use crate::text::entity;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, UndefinedBehavior, Value as Jinja, filters, functions, tests};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// In alphabetical order.
static FILTERS: [&str; 44] = [
    "abs", "attr", "batch", "bool", "capitalize", "chain", "count", "d", "default", "dictsort", "first", "float",
    "indent", "int", "items", "join", "last", "length", "lines", "list", "lower", "map", "max", "min", "reject",
    "rejectattr", "replace", "reverse", "round", "select", "selectattr", "shows", "slice", "sort", "split", "string",
    "sum", "title", "tojson", "trim", "unique", "upper", "xml", "zip",
];

/// The guard for operands that are iterated over.
pub(super) const EACH: &str = "|each";
const PAIRS: &str = "|pairs";

/// The guard between a filter and its operand: it turns `none` into an empty collection, and charges for iterating over
/// a text.
pub(super) fn guard_of(filter: &str) -> &'static str {
    match filter {
        "batch" | "chain" | "join" | "list" | "map" | "max" | "min" | "reject" | "rejectattr" | "select"
        | "selectattr" | "slice" | "sort" | "sum" | "unique" | "zip" => EACH,
        "count" | "first" | "last" | "length" | "reverse" => "|some",
        "dictsort" | "items" => PAIRS,
        _ => "",
    }
}

/// Which part of its input a filter returns.
pub(super) enum Kept {
    /// Entries, unchanged.
    Entries,
    /// One entry.
    Entry,
}

/// The part of its input that a filter returns unchanged; none if it makes something else.
pub(super) fn kept_by(filter: &str) -> Option<Kept> {
    match filter {
        "d" | "default" | "list" | "reject" | "rejectattr" | "reverse" | "select" | "selectattr" | "sort"
        | "unique" => Some(Kept::Entries),
        "first" | "last" | "max" | "min" => Some(Kept::Entry),
        _ => None,
    }
}

/// Whether a filter returns the members of a table as pairs of name and value.
pub(super) fn gives_pairs(filter: &str) -> bool {
    guard_of(filter) == PAIRS
}

/// What a text filter makes of `none`: an empty text, or an empty list.
fn of_nothing(filter: &str) -> Option<Jinja> {
    match filter {
        "capitalize" | "indent" | "lower" | "replace" | "string" | "title" | "trim" | "upper" => Some(Jinja::from("")),
        "lines" | "split" => Some(empty()),
        _ => None,
    }
}

static TESTS: [&str; 38] = [
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
    matching::TEST,
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

/// The largest index or number of a range; beyond it, arithmetic in the engine might overflow.
const FARTHEST: u64 = 1 << 53;

pub(super) fn filters() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().copied()
}

pub(super) fn predicates() -> impl Iterator<Item = &'static str> {
    TESTS.iter().copied()
}

/// The environment in which every expression and template is compiled.
pub(super) static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut e = bare();
    e.set_formatter(print);
    for name in FILTERS {
        let (cost, nothing) = (cost_of(name), of_nothing(name));
        if cost.is_none() && nothing.is_none() {
            continue;
        }
        e.add_filter(name, move |state: &State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            if let (Some(nothing), true) = (&nothing, args.first().is_some_and(is_none)) {
                return Ok(nothing.clone());
            }
            if let Some(cost) = cost {
                on_scale(state, |left| cost(left, &args))?;
            }
            BUILTIN.empty_state().apply_filter(name, &args)
        });
    }
    e.add_filter("abs", filters::abs);
    e.add_filter("attr", filters::attr);
    e.add_filter("bool", filters::bool);
    e.add_filter("chain", filters::chain);
    e.add_filter("count", filters::length);
    e.add_filter("first", filters::first);
    e.add_filter("float", |state: &State<'_, '_>, value: &Jinja, other: Option<Jinja>, named: Kwargs| {
        let other = other.or(named.get("default")?);
        if is_finite(value) { filters::float(state, value, other, named) } else { other.ok_or_else(not_finite) }
    });
    e.add_filter("int", |state: &State<'_, '_>, value: &Jinja, other: Option<Jinja>, base, named: Kwargs| {
        let other = other.or(named.get("default")?);
        if is_finite(value) { filters::int(state, value, other, base, named) } else { other.ok_or_else(not_finite) }
    });
    e.add_filter("items", filters::items);
    e.add_filter("last", filters::last);
    e.add_filter("length", filters::length);
    e.add_filter("map", filters::map);
    e.add_filter("reject", filters::reject);
    e.add_filter("rejectattr", filters::rejectattr);
    e.add_filter("reverse", filters::reverse);
    e.add_filter("round", filters::round);
    e.add_filter("select", filters::select);
    e.add_filter("selectattr", filters::selectattr);
    e.add_filter("sum", filters::sum);
    e.add_filter("zip", filters::zip);
    for name in ["d", "default"] {
        e.add_filter(name, |value: &Jinja, other: Option<Jinja>, lax: Option<bool>, named: Kwargs| {
            let other = other.or(named.get("default_value")?);
            let lax = lax.or(named.get("boolean")?).unwrap_or(false);
            named.assert_all_used()?;
            let absent = is_none(value) || (lax && !value.is_true());
            Ok::<_, Error>(if absent { other.unwrap_or_else(|| Jinja::from("")) } else { value.clone() })
        });
    }
    e.add_filter("tojson", |state: &State<'_, '_>, value: &Jinja| {
        let json = on_scale(state, |left| from_jinja(value, &left.as_scale(), DEPTH))?;
        on_scale(state, |left| weigh(left, value, DEPTH))?;
        Ok::<_, Error>(json.to_string())
    });
    e.add_filter("xml", |state: &State<'_, '_>, value: &Jinja| {
        on_scale(state, |left| weigh(left, value, DEPTH))?;
        let text = if is_none(value) { String::new() } else { value.to_string() };
        on_scale(state, |left| take(left, 6 * text.len()))?;
        Ok::<_, Error>(xml(&text))
    });
    e.add_filter("shows", |state: &State<'_, '_>, section: &Jinja, held: &Jinja| match section.as_str() {
        Some("always") => Ok(true),
        Some("hidden") => Ok(false),
        _ => on_scale(state, |left| weigh(left, held, DEPTH)).map(|()| holds_something(held)),
    });
    guards(&mut e);
    predicates_of(&mut e);
    e.add_function("range", |lower: isize, upper: Option<isize>, step: Option<isize>| {
        if [Some(lower), upper, step].into_iter().flatten().any(|bound| bound.unsigned_abs() as u64 > FARTHEST) {
            return Err(wrong("the bounds of this range are too large"));
        }
        let (from, to) = upper.map_or((0, lower), |upper| (lower, upper));
        if from.abs_diff(to) / step.map_or(1, isize::unsigned_abs).max(1) > 10_000 {
            return Err(wrong("a range has at most 10000 items"));
        }
        functions::range(lower, upper, step)
    });
    e
});

/// The built-in filters of minijinja that are wrapped here, to weigh them first or to handle `none`.
static BUILTIN: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut e = bare();
    e.add_filter("batch", filters::batch);
    e.add_filter("capitalize", filters::capitalize);
    e.add_filter("dictsort", filters::dictsort);
    e.add_filter("indent", filters::indent);
    e.add_filter("join", filters::join);
    e.add_filter("lines", filters::lines);
    e.add_filter("list", filters::list);
    e.add_filter("lower", filters::lower);
    e.add_filter("max", filters::max);
    e.add_filter("min", filters::min);
    e.add_filter("replace", filters::replace);
    e.add_filter("slice", filters::slice);
    e.add_filter("sort", filters::sort);
    e.add_filter("split", filters::split);
    e.add_filter("string", filters::string);
    e.add_filter("title", filters::title);
    e.add_filter("trim", filters::trim);
    e.add_filter("unique", filters::unique);
    e.add_filter("upper", filters::upper);
    e
});

/// Standard Jinja syntax; a line break at the end of a text is kept.
pub(super) fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

fn bare() -> Environment<'static> {
    let mut e = Environment::empty();
    e.set_undefined_behavior(UndefinedBehavior::Chainable);
    e.set_debug(false);
    e.set_fuel(Some(FUEL));
    e.set_recursion_limit(DEPTH);
    e.set_syntax(syntax());
    e
}

type Cost = fn(&Left, &[Jinja]) -> Result<(), Error>;

/// What a filter costs, charged before it runs.
fn cost_of(name: &str) -> Option<Cost> {
    fn text(args: &[Jinja], nth: usize) -> &str {
        args.get(nth).and_then(Jinja::as_str).unwrap_or_default()
    }
    fn count(args: &[Jinja]) -> usize {
        args.iter().skip(1).filter_map(Jinja::as_usize).max().unwrap_or(0)
    }
    let all: Cost = |left, args| args.iter().try_for_each(|arg| weigh(left, arg, DEPTH));
    Some(match name {
        "string" => all,
        "max" | "min" | "unique" => all,
        "dictsort" | "sort" => {
            |left, args| (0..4).try_for_each(|_| weigh(left, args.first().unwrap_or(&Jinja::UNDEFINED), DEPTH))
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
            let joints = args.first().and_then(Jinja::len).unwrap_or(0);
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

/// The filters that lowering puts between operators and their operands.
fn guards(e: &mut Environment<'static>) {
    e.add_filter("weigh", |state: &State<'_, '_>, value: Jinja| match value.kind() {
        ValueKind::Undefined => Ok(Jinja::from(())),
        ValueKind::None | ValueKind::Bool | ValueKind::Number => Ok(value),
        _ => {
            on_scale(state, |left| weigh(left, &value, DEPTH))?;
            let lazy = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
                && value.downcast_object_ref::<Vec<Jinja>>().is_none();
            // What was gone through once is kept as a list: going through layers of lazy ones costs a call for each.
            Ok(if lazy { Jinja::from_object(value.try_iter()?.collect::<Vec<_>>()) } else { value })
        }
    });
    e.add_filter("number", |value: Jinja| match value.kind() {
        ValueKind::Number => Ok(value),
        _ => Err(unfit(&value, format!("this calculation takes numbers, not {}", noun(&value)))),
    });
    // Engines differ in what a step backwards leaves out, and minijinja fails at some.
    e.add_filter("stride", |value: Jinja| match isize::try_from(value.clone()) {
        Ok(step) if step > 0 && step.unsigned_abs() as u64 <= FARTHEST => Ok(value),
        _ => Err(unfit(
            &value,
            "the step of a slice is a whole number above 0; `| reverse` turns a list around".to_owned(),
        )),
    });
    e.add_filter("bound", |value: Jinja| match isize::try_from(value.clone()) {
        _ if is_none(&value) => Ok(value),
        Ok(bound) if bound.unsigned_abs() as u64 <= FARTHEST => Ok(value),
        _ => Err(unfit(&value, "the bounds of a slice are whole numbers".to_owned())),
    });
    e.add_filter("plus", |state: &State<'_, '_>, value: Jinja| match value.kind() {
        ValueKind::Number => Ok(value),
        ValueKind::String | ValueKind::Seq | ValueKind::Iterable => {
            on_scale(state, |left| weigh(left, &value, DEPTH)).map(|()| value)
        }
        _ => Err(unfit(&value, format!("`+` takes numbers, texts or lists, not {}", noun(&value)))),
    });
    e.add_filter("each", |state: &State<'_, '_>, value: Jinja| match value.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(empty()),
        ValueKind::String => {
            on_scale(state, |left| take(left, NODE * value.as_str().map_or(0, str::len))).map(|()| value)
        }
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => {
            on_scale(state, |left| weigh(left, &value, DEPTH)).map(|()| value)
        }
        _ => Err(unfit(&value, format!("{} has no items", noun(&value)))),
    });
    e.add_filter("some", |value: Jinja| if is_none(&value) { empty() } else { value });
    e.add_filter("pairs", |value: Jinja| match is_none(&value) {
        true => Jinja::from_pairs(Vec::<(Jinja, Jinja)>::new()),
        false => value,
    });
}

fn predicates_of(e: &mut Environment<'static>) {
    e.add_test("boolean", tests::is_boolean);
    e.add_test("divisibleby", is_divisible);
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
    e.add_test("iterable", |value: &Jinja| !is_none(value) && tests::is_iterable(value));
    e.add_test("defined", |value: &Jinja| !is_none(value));
    e.add_test("none", is_none);
    e.add_test("undefined", is_none);
    e.add_test("endingwith", |one: &Jinja, end: &Jinja| pair(one, end).is_some_and(|(one, end)| one.ends_with(end)));
    e.add_test("startingwith", |one: &Jinja, start: &Jinja| {
        pair(one, start).is_some_and(|(one, start)| one.starts_with(start))
    });
    e.add_test("in", contains);
    e.add_test(matching::TEST, matches);
    for name in ["eq", "equalto", "=="] {
        e.add_test(name, equal);
    }
    for name in ["ne", "!="] {
        e.add_test(name, |state: &State<'_, '_>, one: &Jinja, other: &Jinja| {
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
            e.add_test(*name, move |state: &State<'_, '_>, one: &Jinja, other: &Jinja| {
                order(state, one, other).map(holds)
            });
        }
    }
}

/// Whether a value, or anything in it, is not empty.
fn holds_something(value: &Jinja) -> bool {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().is_ok_and(|mut items| items.any(|item| holds_something(&item)))
        }
        ValueKind::Map => {
            let pairs = value.as_object().and_then(|object| object.try_iter_pairs());
            pairs.into_iter().flatten().any(|(_, value)| holds_something(&value))
        }
        _ => value.is_true(),
    }
}

fn equal(state: &State<'_, '_>, one: &Jinja, other: &Jinja) -> Result<bool, Error> {
    if is_none(one) || is_none(other) {
        return Ok(is_none(one) && is_none(other));
    }
    on_scale(state, |left| weigh(left, one, DEPTH).and_then(|()| weigh(left, other, DEPTH)))?;
    Ok(one == other)
}

/// The order of two numbers or two texts; other values have none.
fn order(state: &State<'_, '_>, one: &Jinja, other: &Jinja) -> Result<Ordering, Error> {
    if one.kind() != other.kind() || !matches!(one.kind(), ValueKind::Number | ValueKind::String) {
        let absent = if is_none(one) { one } else { other };
        return Err(unfit(absent, format!("{} and {} have no order", noun(one), noun(other))));
    }
    on_scale(state, |left| weigh(left, one, DEPTH).and_then(|()| weigh(left, other, DEPTH)))?;
    if one.kind() == ValueKind::Number && !(is_finite(one) && is_finite(other)) {
        return Err(not_finite());
    }
    Ok(one.cmp(other))
}

/// Whether a number is finite, or the number that a text would be read as. With any other a limit could be passed: no
/// sum is greater than `nan`, and as a whole number it would be 0.
fn is_finite(value: &Jinja) -> bool {
    let number = value.as_str().map_or_else(|| f64::try_from(value.clone()).ok(), |text| text.parse().ok());
    number.is_none_or(f64::is_finite)
}

fn not_finite() -> Error {
    wrong("a number is not finite")
}

/// Whether a number is a multiple of another; other values never are.
fn is_divisible(value: &Jinja, by: &Jinja) -> Result<bool, Error> {
    if f64::try_from(by.clone()).is_ok_and(|by| by == 0.0) {
        return Err(wrong("nothing is divisible by 0"));
    }
    let is_one = |by: &Jinja| i128::try_from(by.clone()).is_ok_and(|by| by.unsigned_abs() == 1);
    let numbers = [value, by].iter().all(|one| one.kind() == ValueKind::Number);
    // Dividing the least number by -1 overflows, and `false` divides like 0, which minijinja does not expect.
    Ok(numbers && if is_one(by) && value.is_integer() { true } else { tests::is_divisibleby(value, by) })
}

fn contains(state: &State<'_, '_>, value: &Jinja, holder: &Jinja) -> Result<bool, Error> {
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

/// Whether a pattern matches in a text, or in the JSON of another value; never in `none`.
fn matches(state: &State<'_, '_>, value: &Jinja, pattern: &Jinja) -> Result<bool, Error> {
    let Some(pattern) = pattern.downcast_object_ref::<Pattern>() else {
        return Err(wrong("a pattern is written in quotes"));
    };
    if is_none(value) {
        return Ok(false);
    }
    on_scale(state, |left| weigh(left, value, DEPTH))?;
    let text = match value.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(on_scale(state, |left| from_jinja(value, &left.as_scale(), DEPTH))?.to_string()),
    };
    on_scale(state, |left| take(left, text.len()))?;
    Ok(pattern.is_match(&text))
}

fn pair<'v>(one: &'v Jinja, other: &'v Jinja) -> Option<(&'v str, &'v str)> {
    one.as_str().zip(other.as_str())
}

fn empty() -> Jinja {
    Jinja::from_object(Vec::<Jinja>::new())
}

/// The word for a value in messages.
fn noun(value: &Jinja) -> &'static str {
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

/// Prints a value into text: an absent value as nothing, and anything but texts and numbers as JSON.
pub(super) fn print(out: &mut minijinja::Output<'_>, state: &mut State<'_, '_>, value: &Jinja) -> Result<(), Error> {
    let json = match value.kind() {
        ValueKind::Undefined | ValueKind::None => return Ok(()),
        ValueKind::Number | ValueKind::String => return write!(out, "{value}").map_err(Error::from),
        _ => {
            let scale = on_scale(state, |left| Ok(left.as_scale()))?;
            on_scale(state, |left| weigh(left, value, DEPTH))?;
            from_jinja(value, &scale, DEPTH)?
        }
    };
    write!(out, "{json}").map_err(Error::from)
}

/// `text` with the five special characters of XML as entities.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
    out
}
