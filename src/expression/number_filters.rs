//! Number filters: how is a value converted to a number, or rounded?
//!
//! In: an item, most often a number or a text, and the arguments of the filter.
//! Out: a number.
//! Never: makes a number that is not finite from one that is.

use super::evaluator::{Evaluator, Made};
use super::filters::{arg, whole, word};
use super::item::Item;
use super::limits::Halt;
use super::number::Num;

pub(super) fn abs<'v>(_: &Evaluator<'v>, base: Item<'v>, _: &[Item<'v>]) -> Made<'v> {
    let number = base.number().and_then(|number| match number {
        Num::Whole(whole) => whole.checked_abs().map(Num::Whole),
        Num::Float(float) => Some(Num::Float(float.abs())),
    });
    number.map(Item::from).ok_or_else(|| Halt::failed(format!("{} has no absolute value", base.noun())))
}

pub(super) fn round<'v>(_: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (digits, method) = (whole::<i32>(args, 0)?.unwrap_or(0), word(args, 1)?.unwrap_or("common"));
    if !matches!(method, "common" | "ceil" | "floor") {
        return Err(Halt::failed("method must be common, ceil or floor"));
    }
    let unfit = || Halt::failed(format!("{} cannot be rounded", base.noun()));
    let number = base.number().ok_or_else(unfit)?;
    let failed = || Halt::failed("rounded value is too large to represent");
    number.rounded(digits, method).map(Item::from).ok_or_else(failed)
}

fn finite<'v>(float: f64, number: impl Fn(f64) -> Item<'v>) -> Made<'v> {
    if float.is_finite() { Ok(number(float)) } else { Err(Halt::new("a number is not finite")) }
}

/// The argument `default`, which replaces a value that is no number.
fn other<'v>(args: &[Item<'v>]) -> Option<Item<'v>> {
    Some(arg(args, 0)).filter(|other| !other.is_none()).cloned()
}

/// The number that a text spells.
fn parsed(text: &str) -> Result<f64, Halt> {
    text.parse().map_err(|_| Halt::failed("this text is no number"))
}

pub(super) fn float<'v>(_: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let float = match (base.numeric(), base.text()) {
        (Some(number), _) => Ok(number.float()),
        (_, Some(text)) => parsed(text),
        _ if base.is_none() => return Ok(other(args).unwrap_or_else(|| 0.0.into())),
        _ => Err(Halt::failed(format!("{} is no number", base.noun()))),
    };
    float.and_then(|float| finite(float, Item::from)).or_else(|halt| other(args).ok_or(halt))
}

pub(super) fn int<'v>(_: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let radix = whole::<u32>(args, 1)?.unwrap_or(10);
    let truncated = |float: f64| finite(float, |float| Num::Whole(float as i128).into());
    let int = match (base.numeric(), base.text()) {
        (Some(Num::Float(float)), _) => truncated(float),
        (Some(whole), _) => return Ok(whole.into()),
        (_, Some(text)) => match whole_of(text, radix) {
            Some(whole) => Ok(Num::Whole(whole).into()),
            None => parsed(text).and_then(truncated),
        },
        _ if base.is_none() => return Ok(other(args).unwrap_or_else(|| 0.into())),
        _ => Err(Halt::failed(format!("{} is no number", base.noun()))),
    };
    int.or_else(|halt| other(args).ok_or(halt))
}

/// The integer that a text spells in this base, with or without the prefix of the base, such as `0x`.
fn whole_of(text: &str, radix: u32) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefix = match radix {
        2 => "0b",
        8 => "0o",
        16 => "0x",
        3..=36 => "",
        _ => return None,
    };
    let digits = match digits.split_at_checked(prefix.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(prefix) => rest,
        _ => digits,
    };
    let whole = i128::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-']))?;
    Some(if negative { -whole } else { whole })
}
