//! Predicates: what is true of a value, or of two?
//!
//! In: items.
//! Out: [`TESTS`]; whether two values are equal, and their order.
//! Never: converts a value in order to compare it.

use super::evaluator::Evaluator;
use super::item::{Item, SortClass};
use super::limits::Halt;
use super::matching;
use super::number::Num;
use super::tree::Relation;
use crate::value::Value;
use std::cmp::Ordering;

/// A test, which may take an argument.
#[derive(Debug)]
pub(crate) struct Test {
    pub(super) name: &'static str,
    /// The relation that it tests, if it compares two values.
    pub(super) relation: Option<Relation>,
    pub(super) takes_argument: bool,
    pub(super) test: TestFn,
}

type TestFn = for<'r, 'v> fn(&'r Evaluator<'v>, &Item<'v>, &Item<'v>) -> Result<bool, Halt>;

impl Test {
    /// The test of this name.
    pub(super) fn of(name: &str) -> Option<&'static Test> {
        TESTS.binary_search_by(|test| test.name.cmp(name)).ok().and_then(|place| TESTS.get(place))
    }
}

/// A test of one value.
const fn is(name: &'static str, holds: TestFn) -> Test {
    Test { name, relation: None, takes_argument: false, test: holds }
}

/// A test of two values.
const fn two(name: &'static str, holds: TestFn) -> Test {
    Test { name, relation: None, takes_argument: true, test: holds }
}

const fn compares(name: &'static str, relation: Relation, holds: TestFn) -> Test {
    Test { name, relation: Some(relation), takes_argument: true, test: holds }
}

/// In alphabetical order.
pub(super) static TESTS: [Test; 39] = [
    compares("!=", Relation::Unequal, |run, one, other| relate(run, Relation::Unequal, one, other)),
    compares("<", Relation::Less, |run, one, other| relate(run, Relation::Less, one, other)),
    compares("<=", Relation::AtMost, |run, one, other| relate(run, Relation::AtMost, one, other)),
    compares("==", Relation::Equal, |run, one, other| relate(run, Relation::Equal, one, other)),
    compares(">", Relation::More, |run, one, other| relate(run, Relation::More, one, other)),
    compares(">=", Relation::AtLeast, |run, one, other| relate(run, Relation::AtLeast, one, other)),
    is("boolean", |_, one, _| Ok(one.kind() == SortClass::Truth)),
    is("defined", |_, one, _| Ok(!one.is_none())),
    two("divisibleby", |_, one, by| divisible(one, by)),
    two("endingwith", |_, one, end| Ok(one.text().zip(end.text()).is_some_and(|(one, end)| one.ends_with(end)))),
    compares("eq", Relation::Equal, |run, one, other| relate(run, Relation::Equal, one, other)),
    compares("equalto", Relation::Equal, |run, one, other| relate(run, Relation::Equal, one, other)),
    is("even", |_, one, _| Ok(one.whole().is_some_and(|whole| whole % 2 == 0))),
    is("false", |_, one, _| Ok(one.truth() == Some(false))),
    is("float", |_, one, _| Ok(matches!(one.number(), Some(Num::Float(_))))),
    compares("ge", Relation::AtLeast, |run, one, other| relate(run, Relation::AtLeast, one, other)),
    compares("greaterthan", Relation::More, |run, one, other| relate(run, Relation::More, one, other)),
    compares("gt", Relation::More, |run, one, other| relate(run, Relation::More, one, other)),
    compares("in", Relation::In, |run, one, other| relate(run, Relation::In, one, other)),
    is("int", |_, one, _| Ok(matches!(one.number(), Some(Num::Whole(_))))),
    is("integer", |_, one, _| Ok(matches!(one.number(), Some(Num::Whole(_))))),
    is("iterable", |_, one, _| Ok(matches!(one.kind(), SortClass::Text | SortClass::List | SortClass::Table))),
    compares("le", Relation::AtMost, |run, one, other| relate(run, Relation::AtMost, one, other)),
    compares("lessthan", Relation::Less, |run, one, other| relate(run, Relation::Less, one, other)),
    is("lower", |run, one, _| is_cased(run, one, char::is_lowercase, char::is_uppercase)),
    compares("lt", Relation::Less, |run, one, other| relate(run, Relation::Less, one, other)),
    is("luhn", |run, one, _| {
        let Some(text) = one.text() else { return Ok(false) };
        run.search(text.len())?;
        Ok(has_check_digit(text))
    }),
    is("mapping", |_, one, _| Ok(one.kind() == SortClass::Table)),
    // Never called: the parser makes `Tested::Matches` or `Tested::MatchesAny` of it.
    is(matching::TEST, |_, _, _| Ok(false)),
    compares("ne", Relation::Unequal, |run, one, other| relate(run, Relation::Unequal, one, other)),
    is("none", |_, one, _| Ok(one.is_none())),
    is("number", |_, one, _| Ok(matches!(one.kind(), SortClass::Number | SortClass::Truth))),
    is("odd", |_, one, _| Ok(one.whole().is_some_and(|whole| whole % 2 != 0))),
    is("sequence", |_, one, _| Ok(one.kind() == SortClass::List)),
    two("startingwith", |_, one, start| {
        Ok(one.text().zip(start.text()).is_some_and(|(one, start)| one.starts_with(start)))
    }),
    is("string", |_, one, _| Ok(one.kind() == SortClass::Text)),
    is("true", |_, one, _| Ok(one.truth() == Some(true))),
    is("undefined", |_, one, _| Ok(one.is_none())),
    is("upper", |run, one, _| is_cased(run, one, char::is_uppercase, char::is_lowercase)),
];

/// Whether a number, written with or without spaces and dashes between its digits, ends in the check digit of Luhn's
/// formula (ISO/IEC 7812-1, annex B), as the numbers of payment cards do.
fn has_check_digit(text: &str) -> bool {
    let mut digits: Vec<u32> = Vec::new();
    for c in text.trim().chars() {
        match c.to_digit(10) {
            Some(digit) => digits.push(digit),
            None if matches!(c, ' ' | '-' | '\u{a0}' | '\u{202f}') => {}
            None => return false,
        }
    }
    let doubled = |(place, digit): (usize, &u32)| match (place % 2, digit * 2) {
        (0, _) => *digit,
        (_, twice) => twice / 10 + twice % 10,
    };
    digits.len() > 1 && digits.iter().rev().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

/// Whether two values are in a relation.
pub(super) fn relate<'v>(
    run: &Evaluator<'v>,
    relation: Relation,
    one: &Item<'v>,
    other: &Item<'v>,
) -> Result<bool, Halt> {
    Ok(match relation {
        Relation::Equal => same(run, one, other)?,
        Relation::Unequal => !same(run, one, other)?,
        Relation::Less => order(run, one, other)?.is_lt(),
        Relation::AtMost => order(run, one, other)?.is_le(),
        Relation::More => order(run, one, other)?.is_gt(),
        Relation::AtLeast => order(run, one, other)?.is_ge(),
        Relation::In => contains(run, one, other)?,
        Relation::NotIn => !contains(run, one, other)?,
    })
}

/// Whether two values are equal. `false` equals 0, and `true` equals 1.
pub(super) fn same(run: &Evaluator<'_>, one: &Item<'_>, other: &Item<'_>) -> Result<bool, Halt> {
    run.step(1)?;
    if let (Some(one), Some(other)) = (one.text(), other.text()) {
        run.search(one.len().min(other.len()))?;
        return Ok(one == other);
    }
    Ok(match (one.kind(), other.kind()) {
        (SortClass::None, SortClass::None) => true,
        (SortClass::Number | SortClass::Truth, SortClass::Number | SortClass::Truth) => {
            one.numeric() == other.numeric()
        }
        (SortClass::List, SortClass::List) if one.len() == other.len() => {
            let pairs = one.items().into_iter().flatten().zip(other.items().into_iter().flatten());
            for (one, other) in pairs {
                if !same(run, &one, &other)? {
                    return Ok(false);
                }
            }
            true
        }
        (SortClass::Table, SortClass::Table) if one.len() == other.len() => {
            for (name, value) in one.members().into_iter().flatten() {
                let Some(second) = name.text().and_then(|name| other.member(name)) else { return Ok(false) };
                if !same(run, &value, &second)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => false,
    })
}

/// The order of two numbers or two texts; other values have none.
fn order(run: &Evaluator<'_>, one: &Item<'_>, other: &Item<'_>) -> Result<Ordering, Halt> {
    if let (Some(one), Some(other)) = (one.text(), other.text()) {
        run.search(one.len().min(other.len()))?;
        return Ok(one.cmp(other));
    }
    match (one.number(), other.number()) {
        // A comparison with NaN is always false: a limit such as `sum > 100` would never count as exceeded.
        (Some(one), Some(other)) if !one.is_finite() || !other.is_finite() => Err(Halt::new("a number is not finite")),
        (Some(one), Some(other)) => Ok(one.order(other)),
        _ => {
            let absent = if one.is_none() { one } else { other };
            Err(Halt::unfit(absent, format!("{} and {} have no order", one.noun(), other.noun())))
        }
    }
}

/// The order in which values are sorted: by kind, then by value. Texts are compared without their case unless `case`.
pub(super) fn rank(one: &Item<'_>, other: &Item<'_>, case: bool) -> Ordering {
    if let (Some(one), Some(other)) = (one.text(), other.text()) {
        let folded = |text: &str| text.bytes().map(|byte| byte.to_ascii_lowercase()).collect::<Vec<_>>();
        return if case { one.cmp(other) } else { folded(one).cmp(&folded(other)) };
    }
    match (one.kind(), other.kind()) {
        (SortClass::Number, SortClass::Number) => {
            one.number().zip(other.number()).map_or(Ordering::Equal, |(a, b)| a.order(b))
        }
        (SortClass::Truth, SortClass::Truth) => one.truth().cmp(&other.truth()),
        (SortClass::List, SortClass::List) => {
            let (one, other) = (one.items().unwrap_or_default(), other.items().unwrap_or_default());
            let mut parts = one.iter().zip(&other).map(|(one, other)| rank(one, other, true));
            parts.find(|order| order.is_ne()).unwrap_or(one.len().cmp(&other.len()))
        }
        (SortClass::Table, SortClass::Table) => {
            let (one, other) = (one.members().unwrap_or_default(), other.members().unwrap_or_default());
            let pair = |((a, b), (c, d)): (&(Item<'_>, Item<'_>), &(Item<'_>, Item<'_>))| {
                rank(a, c, true).then_with(|| rank(b, d, true))
            };
            one.iter().zip(&other).map(pair).find(|order| order.is_ne()).unwrap_or(one.len().cmp(&other.len()))
        }
        (one, other) => one.cmp(&other),
    }
}

/// Whether `holder` contains a value: as an item, a name of a member, or a part of a text.
fn contains<'v>(run: &Evaluator<'v>, item: &Item<'v>, holder: &Item<'v>) -> Result<bool, Halt> {
    match holder.kind() {
        SortClass::None => Ok(false),
        SortClass::Text => {
            let text = holder.text().unwrap_or_default();
            run.search(text.len())?;
            Ok(!item.is_none() && text.contains(&*run.written(item)?))
        }
        SortClass::List => match holder {
            Item::Ref(Value::Array(items)) => any(items.iter().map(|other| same(run, item, &Item::Ref(other)))),
            Item::List(list) => any(list.items.iter().map(|other| same(run, item, other))),
            other => any(other.items().into_iter().flatten().map(|other| same(run, item, &other))),
        },
        SortClass::Table => Ok(item.text().is_some_and(|name| holder.member(name).is_some())),
        _ => Err(Halt::unfit(holder, format!("nothing is in {}", holder.noun()))),
    }
}

/// Whether one of these is true; stops at the first that is true or fails.
fn any(mut all: impl Iterator<Item = Result<bool, Halt>>) -> Result<bool, Halt> {
    all.find(|holds| !matches!(holds, Ok(false))).unwrap_or(Ok(false))
}

/// Whether a number is a multiple of another; other values never are.
fn divisible(one: &Item<'_>, by: &Item<'_>) -> Result<bool, Halt> {
    let (Some(number), Some(by)) = (one.number(), by.number()) else { return Ok(false) };
    if by.float() == 0.0 {
        return Err(Halt::new("nothing is divisible by 0"));
    }
    Ok(match (number, by) {
        (Num::Whole(one), Num::Whole(by)) => one.checked_rem(by).is_none_or(|rest| rest == 0),
        (one, by) => one.float() % by.float() == 0.0,
    })
}

/// Whether a text has letters of this case, and none of another.
fn is_cased(run: &Evaluator<'_>, item: &Item<'_>, is: fn(char) -> bool, other: fn(char) -> bool) -> Result<bool, Halt> {
    let Some(text) = item.text() else { return Ok(false) };
    run.search(text.len())?;
    let has_case = |c: char| c.to_lowercase().any(|mapped| mapped != c) || c.to_uppercase().any(|mapped| mapped != c);
    let is_against = |c: char| other(c) || (!is(c) && has_case(c));
    Ok(text.chars().any(is) && !text.chars().any(is_against))
}

/// Whether a value, or anything in it, is not empty.
pub(super) fn holds_something(run: &Evaluator<'_>, item: &Item<'_>) -> Result<bool, Halt> {
    run.step(1)?;
    let inner: Vec<Item<'_>> = match item.kind() {
        SortClass::List => item.items().unwrap_or_default(),
        SortClass::Table => item.members().into_iter().flatten().map(|(_, item)| item).collect(),
        _ => return Ok(item.is_true()),
    };
    for item in &inner {
        if holds_something(run, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}
