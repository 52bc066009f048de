//! Number filters: which number is a value, or near it?
//!
//! In: an item, most often a number or a text, and the arguments of the filter.
//! Out: a number.
//! Never: a number that is not finite.

use super::filters::{arg, whole, word};
use super::item::Item;
use super::limits::Halt;
use super::number::Num;
use super::run::{Made, Run};

pub(super) fn abs<'v>(_: &Run<'v>, base: Item<'v>, _: &[Item<'v>]) -> Made<'v> {
    let number = match base.number() {
        Some(Num::Whole(whole)) => whole.checked_abs().map(Num::Whole),
        Some(Num::Float(float)) => Some(Num::Float(float.abs())),
        None => None,
    };
    number.map(Item::from).ok_or_else(|| Halt::failed(format!("{} has no absolute value", base.noun())))
}

pub(super) fn round<'v>(_: &Run<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (digits, method) = (whole::<i32>(args, 0)?.unwrap_or(0), word(args, 1)?.unwrap_or("common"));
    if !matches!(method, "common" | "ceil" | "floor") {
        return Err(Halt::failed("method must be common, ceil or floor"));
    }
    let unfit = || Halt::failed(format!("{} cannot be rounded", base.noun()));
    let number = base.number().ok_or_else(unfit)?;
    let failed = || Halt::failed("rounded value is too large to represent");
    number.rounded(digits, method).map(Item::from).ok_or_else(failed)
}

fn not_finite() -> Halt {
    Halt::new("a number is not finite")
}

pub(super) fn float<'v>(_: &Run<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let float = match (base.number(), base.truth(), base.text()) {
        (Some(number), ..) => Ok(number.float()),
        (_, Some(truth), _) => Ok(f64::from(truth)),
        (.., Some(text)) => text.parse().map_err(|_| Halt::failed("this text is no number")),
        _ if base.is_none() => {
            return Ok(Some(arg(args, 0)).filter(|other| !other.is_none()).cloned().unwrap_or_else(|| 0.0.into()));
        }
        _ => Err(Halt::failed(format!("{} is no number", base.noun()))),
    };
    let finite = float.and_then(|float: f64| if float.is_finite() { Ok(float.into()) } else { Err(not_finite()) });
    finite.or_else(|halt| Some(arg(args, 0)).filter(|other| !other.is_none()).cloned().ok_or(halt))
}

pub(super) fn int<'v>(_: &Run<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let other = Some(arg(args, 0)).filter(|other| !other.is_none()).cloned();
    let radix = whole::<u32>(args, 1)?.unwrap_or(10);
    let truncated =
        |float: f64| if float.is_finite() { Ok(Num::Whole(float as i128).into()) } else { Err(not_finite()) };
    let int = match (base.number(), base.truth(), base.text()) {
        (Some(Num::Whole(_)), ..) => return Ok(base),
        (Some(Num::Float(float)), ..) => truncated(float),
        (_, Some(truth), _) => return Ok(i64::from(truth).into()),
        (.., Some(text)) => match whole_of(text, radix) {
            Some(whole) => Ok(Num::Whole(whole).into()),
            None => text.parse().map_err(|_| Halt::failed("this text is no number")).and_then(truncated),
        },
        _ if base.is_none() => return Ok(other.unwrap_or_else(|| 0.into())),
        _ => Err(Halt::failed(format!("{} is no number", base.noun()))),
    };
    int.or_else(|halt| other.ok_or(halt))
}

/// The whole number that a text writes with this base, maybe with the sign of the base before.
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
