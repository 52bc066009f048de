//! Numbers: which number is written here, and can it be kept exactly?
//!
//! In: the text of a number, or of JSON.
//! Out: the number; none if it cannot be kept.
//! Never: returns another number than the one written.
//!
//! One rule applies to all numbers: a number is kept if printing it with as many digits gives the same number. So `0.1`
//! and `1e22` are kept, `9007199254740993.0` and `2.9999999999999999999` are not.

use serde_json::Number;

/// Up to this many digits are always kept exactly, unless the number is too small.
const SURE: usize = f64::DIGITS as usize;
/// The most significant digits that a finite IEEE 754 double can have.
const MOST: usize = 767;

/// The number written in `raw`; none if it cannot be kept.
pub(crate) fn number(raw: &str) -> Option<Number> {
    let raw = raw.trim();
    let number: Number = serde_json::from_str(raw).ok()?;
    let kept = !number.is_f64() || number.as_f64().is_some_and(|float| says(float, raw));
    kept.then_some(number)
}

/// Whether `float` is the number that `raw` writes, to as many digits as `raw` has.
fn says(float: f64, raw: &str) -> bool {
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
    if count <= SURE && float.is_normal() {
        return true;
    }
    // No number that is kept has more of them.
    if count > MOST {
        return false;
    }
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let written = format!("{:.*e}", count - 1, float.abs());
    let Some((kept, power)) = written.split_once('e') else { return false };
    power.parse() == Ok(exponent.saturating_add(whole as i64 - 1 - zeros as i64))
        && kept.bytes().filter(u8::is_ascii_digit).eq(digits().skip(zeros).take(count))
}

/// Whether this JSON holds a number that cannot be kept.
pub(crate) fn loses_number(json: &str) -> bool {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        at += match byte {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = rest.iter().take_while(|byte| is_part(byte)).count();
                let raw = json.get(at..at + length).unwrap_or_default();
                // A shorter one has no more digits than are sure.
                if (length > SURE || raw.contains(['e', 'E'])) && number(raw).is_none() {
                    return true;
                }
                length
            }
            _ => 1,
        };
    }
    false
}

/// The length of the string that starts here, with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at + 1,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_kept_as_it_is_written_or_not_at_all() {
        let kept = ["0", "-0", "0.000", "0e9", "18446744073709551615", "-9223372036854775808", "100000000000000000000"];
        for raw in kept.into_iter().chain(["1e20", "1E+22", "0.1", "-1.50", "0.30000000000000004", "5e-324", "10e-1"]) {
            assert!(number(raw).is_some(), "{raw}");
        }
        let whole = ["18446744073709551617", "-9223372036854775809", "9007199254740993.0", "9007199254740993e0"];
        let other = ["2.9999999999999999999", "0.99999999999999999999", "1e999", "1e-400", "12345678901234567890123.0"];
        for raw in whole.into_iter().chain(other).chain(["x", "0.3333333333333333333"]) {
            assert!(number(raw).is_none(), "{raw}");
        }
        // However many digits there are.
        assert!(number(&format!("0.{}", "1".repeat(70_000))).is_none());
        assert!(number(&format!("0.1{}", "0".repeat(70_000))).is_some());
        assert!(number(&format!("1{}.0", "0".repeat(300))).is_some());
    }

    #[test]
    fn what_a_string_holds_is_no_number() {
        assert!(loses_number(r#"{"a": "b\"", "c": [1e20, 18446744073709551617]}"#));
        assert!(!loses_number(r#"{"18446744073709551617": "a\"18446744073709551617", "b": [1e20, 1.5]}"#));
        assert!(!loses_number(r#"["18446744073709551617", 18446744073709551615"#));
    }
}
