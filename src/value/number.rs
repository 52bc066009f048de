//! Numbers: which number does a text write, and can it be stored exactly?
//!
//! In: the text of a number, or of JSON.
//! Out: [`Number`]; `None` if it cannot be stored exactly.
//! Never: returns a number other than the one written.
//!
//! One rule applies to all numbers: a number is accepted if printing it with as many digits gives the same number. So
//! `0.1` and `1e22` are accepted, `9007199254740993.0` and `2.9999999999999999999` are not.

use serde::{Serialize, Serializer};
use std::fmt;

/// Up to this many significant digits always round-trip through a double, unless the number is too small.
const EXACT_DIGITS: usize = f64::DIGITS as usize;
/// The most significant digits that a finite IEEE 754 double can have.
const MAX_DIGITS: usize = 767;

/// A JSON number: an integer if it is written without fraction and exponent and has at most 64 bits, otherwise a finite
/// double.
///
/// It is not the number of `serde_json`, because the features that a host chooses for that crate change which numbers
/// such a type can represent, and which it considers equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(NumberKind);

#[derive(Debug, Clone, Copy, PartialEq)]
enum NumberKind {
    Whole(u64),
    /// INVARIANT: below 0.
    Negative(i64),
    /// INVARIANT: finite.
    Float(f64),
}

impl Number {
    /// The number, unless it is infinite or NaN.
    #[doc(hidden)]
    pub fn from_f64(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(NumberKind::Float(number)))
    }

    /// The number, if it is an integer within the range of `i64`.
    #[doc(hidden)]
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            NumberKind::Whole(number) => number.try_into().ok(),
            NumberKind::Negative(number) => Some(number),
            NumberKind::Float(_) => None,
        }
    }

    /// The number, if it is an integer and not negative.
    #[doc(hidden)]
    pub fn as_u64(self) -> Option<u64> {
        if let NumberKind::Whole(number) = self.0 { Some(number) } else { None }
    }

    /// The nearest double.
    #[doc(hidden)]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            NumberKind::Whole(number) => number as f64,
            NumberKind::Negative(number) => number as f64,
            NumberKind::Float(number) => number,
        }
    }

    /// Whether it is the same number, however it is written: 1 equals 1.0.
    pub(crate) fn equals(self, other: Self) -> bool {
        match (self.0, other.0) {
            (NumberKind::Float(float), NumberKind::Whole(_) | NumberKind::Negative(_)) => other.is_float(float),
            (NumberKind::Whole(_) | NumberKind::Negative(_), NumberKind::Float(float)) => self.is_float(float),
            (one, other) => one == other,
        }
    }

    /// Whether an integer is this double, without rounding.
    fn is_float(self, float: f64) -> bool {
        let whole = match self.0 {
            NumberKind::Whole(number) => i128::from(number),
            NumberKind::Negative(number) => i128::from(number),
            NumberKind::Float(_) => return false,
        };
        float.fract() == 0.0 && float as i128 == whole
    }

    /// Whether it is a double, such as `1.0`, and not an integer.
    #[doc(hidden)]
    pub fn is_f64(self) -> bool {
        matches!(self.0, NumberKind::Float(_))
    }

    /// The number that a JSON text writes, or the double nearest to it; `None` if it is out of range.
    pub(super) fn nearest(raw: &str) -> Option<Self> {
        is_number(raw).then_some(())?;
        let whole = || raw.parse().ok().map(|number: u64| Self(NumberKind::Whole(number)));
        let negative =
            || raw.parse().ok().filter(|number| *number < 0).map(|number| Self(NumberKind::Negative(number)));
        whole().or_else(negative).or_else(|| Self::from_f64(raw.parse().ok()?))
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {
        $(impl From<$type> for Number {
            fn from(number: $type) -> Self {
                // Never a float: each of these types is within the range of `u64` or of `i64`.
                let negative = || i64::try_from(number).map_or(NumberKind::Float(number as f64), NumberKind::Negative);
                Self(u64::try_from(number).map_or_else(|_| negative(), NumberKind::Whole))
            }
        })*
    };
}

whole_numbers!(i32 i64 u32 u64 usize);

impl From<&serde_json::Number> for Number {
    /// With the feature `arbitrary_precision` of `serde_json`, a number may be longer or larger than a double.
    fn from(number: &serde_json::Number) -> Self {
        if let Some(whole) = number.as_u64() {
            return whole.into();
        }
        match number.as_i64().filter(|number| *number < 0) {
            Some(negative) => negative.into(),
            None => Self::nearest(&number.to_string())
                .unwrap_or(Self(NumberKind::Float(number.as_f64().unwrap_or_default()))),
        }
    }
}

impl From<Number> for serde_json::Number {
    fn from(number: Number) -> Self {
        match number.0 {
            NumberKind::Whole(number) => number.into(),
            NumberKind::Negative(number) => number.into(),
            NumberKind::Float(number) => Self::from_f64(number).unwrap_or_else(|| 0.into()),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            NumberKind::Whole(number) => serializer.serialize_u64(number),
            NumberKind::Negative(number) => serializer.serialize_i64(number),
            NumberKind::Float(number) => serializer.serialize_f64(number),
        }
    }
}

/// Prints the number as JSON.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            NumberKind::Whole(number) => number.fmt(f),
            NumberKind::Negative(number) => number.fmt(f),
            NumberKind::Float(_) => serde_json::Number::from(*self).fmt(f),
        }
    }
}

/// Whether the whole text is a JSON number.
pub(crate) fn is_number(raw: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let raw = raw.strip_prefix('-').unwrap_or(raw);
    let (mantissa, exponent) = raw.split_once(['e', 'E']).map_or((raw, None), |(raw, exponent)| (raw, Some(exponent)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// The number that `raw` writes; `None` if it cannot be stored exactly.
pub fn number(raw: &str) -> Option<Number> {
    let raw = raw.trim();
    let number = Number::nearest(raw)?;
    (!number.is_f64() || is_exact(number.as_f64(), raw)).then_some(number)
}

/// The double nearest to the number that `raw` writes; `None` if it is out of range.
pub(crate) fn nearest(raw: &str) -> Option<Number> {
    Number::nearest(raw)
}

/// Whether `float`, printed with as many digits as `raw` has, is the number that `raw` writes.
fn is_exact(float: f64, raw: &str) -> bool {
    let (mantissa, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let mantissa = mantissa.trim_start_matches('-');
    let whole = mantissa.find('.').unwrap_or(mantissa.len());
    let digits = || mantissa.bytes().filter(u8::is_ascii_digit);
    let zeros = digits().take_while(|digit| *digit == b'0').count();
    let after = digits().rev().take_while(|digit| *digit == b'0').count();
    let count = digits().count().saturating_sub(zeros + after);
    if count == 0 {
        return float == 0.0;
    }
    if count <= EXACT_DIGITS && float.is_normal() {
        return true;
    }
    // No double has more significant digits.
    if count > MAX_DIGITS {
        return false;
    }
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let written = format!("{:.*e}", count - 1, float.abs());
    let Some((significand, power)) = written.split_once('e') else { return false };
    power.parse() == Ok(exponent.saturating_add(whole as i64 - 1 - zeros as i64))
        && significand.bytes().filter(u8::is_ascii_digit).eq(digits().skip(zeros).take(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn a_number_is_kept_as_it_is_written_or_not_at_all() {
        let significand =
            ["0", "-0", "0.000", "0e9", "18446744073709551615", "-9223372036854775808", "100000000000000000000"];
        for raw in
            significand.into_iter().chain(["1e20", "1E+22", "0.1", "-1.50", "0.30000000000000004", "5e-324", "10e-1"])
        {
            assert!(number(raw).is_some(), "{raw}");
        }
        let whole = ["18446744073709551617", "-9223372036854775809", "9007199254740993.0", "9007199254740993e0"];
        let other = ["2.9999999999999999999", "0.99999999999999999999", "1e999", "1e-400", "12345678901234567890123.0"];
        for raw in whole.into_iter().chain(other).chain(["x", "0.3333333333333333333"]) {
            assert!(number(raw).is_none(), "{raw}");
        }
        // The number of digits does not matter.
        assert!(number(&format!("0.{}", "1".repeat(70_000))).is_none());
        assert!(number(&format!("0.1{}", "0".repeat(70_000))).is_some());
        assert!(number(&format!("1{}.0", "0".repeat(300))).is_some());
    }

    /// A number of `serde_json` must become the same number here, whatever features that crate is built with.
    #[test]
    fn a_number_is_what_serde_json_makes_of_it() {
        let written = ["0", "-0", "-0.0", "1.0", "1E5", "1e+5", "-7", "18446744073709551616", "-9223372036854775809"];
        let wrong =
            ["", "-", "01", "1.", ".5", "1e", "+1", "0x1", "1_0", "NaN", "inf", "1e400", "-1e400", " 1", "1.e2"];
        for raw in written.into_iter().chain(wrong).chain(["0.1", "5e-324", "1e-400", "2.2250738585072011e-308"]) {
            let read: Option<serde_json::Number> = serde_json::from_str(raw).ok().filter(|_| raw == raw.trim());
            let number = Number::nearest(raw);
            match (number, read) {
                (Some(number), Some(read)) => {
                    assert_eq!(Number::from(&read), number, "{raw}");
                    assert_eq!((read.as_u64(), read.as_f64()), (number.as_u64(), Some(number.as_f64())), "{raw}");
                    assert_eq!(serde_json::to_string(&number).unwrap(), number.to_string(), "{raw}");
                    assert_eq!(serde_json::from_str::<Value>(raw).unwrap(), Value::Number(number), "{raw}");
                }
                // With `arbitrary_precision`, `serde_json` reads numbers that no double can represent.
                (None, read) => assert!(read.is_none_or(|read| read.as_f64().is_none()), "{raw}"),
                (Some(_), None) => panic!("{raw}"),
            }
        }
    }
}
