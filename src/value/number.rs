//! Numbers: which number is written here, and can all of it be kept?
//!
//! In: the text of a number, or of JSON.
//! Out: the number, as JSON has it.
//! Never: keeps another number than what is written: a whole one of which digits would be lost is none.

use serde_json::Number;
use std::ops::Range;

/// From here on a number may be a whole one that lost digits.
const LARGE: f64 = 9_000_000_000_000_000_000.0;

/// The number that is written here; none where it cannot be kept.
pub(crate) fn number(raw: &str) -> Option<Number> {
    let raw = raw.trim();
    let number: Number = serde_json::from_str(raw).ok()?;
    let is_whole = || raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let lost = number.is_f64() && is_whole() && number.as_f64().is_some_and(|float| format!("{float:.0}") != raw);
    (!lost).then_some(number)
}

/// Whether a number in JSON of this value may have lost digits.
pub(crate) fn may_have_lost(float: f64) -> bool {
    float.abs() >= LARGE
}

/// The first number in this JSON that cannot be kept.
pub(crate) fn first_lost(json: &str) -> Option<Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..)?;
        let length = match byte {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = rest.iter().take_while(|byte| is_part(byte)).count();
                // No shorter one is too long.
                if length >= 19 && number(json.get(at..at + length)?).is_none() {
                    return Some(at..at + length);
                }
                length
            }
            _ => 1,
        };
        at += length;
    }
    None
}

/// How long the string is that starts here, with its quotes.
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
    fn a_whole_number_is_kept_whole_or_not_at_all() {
        for raw in ["0", "-0", "18446744073709551615", "-9223372036854775808", "100000000000000000000", "1e20", "0.1"] {
            assert!(number(raw).is_some(), "{raw}");
        }
        for raw in ["18446744073709551617", "-9223372036854775809", "1e999", "x"] {
            assert!(number(raw).is_none(), "{raw}");
        }
    }

    #[test]
    fn what_a_string_holds_is_no_number() {
        let json = r#"{"18446744073709551617": "a\"18446744073709551617", "b": [1e20, 18446744073709551617]}"#;
        assert_eq!(first_lost(json).and_then(|range| json.get(range.end..)), Some("]}"));
        assert_eq!(first_lost(r#"["18446744073709551617", 18446744073709551615"#), None);
    }
}
