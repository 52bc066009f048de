//! Quoted: which text does a string literal denote, where does it end, and how is a text quoted?
//!
//! In: the inside of a string literal with its escapes, or a text to quote.
//! Out: the other one, or the length of the literal.
//! Never: knows where the text is, or whether it is JSON, which has fewer escapes.

use std::fmt::Write as _;

/// The text that a literal denotes; `None` if it has an unknown or broken escape.
pub(crate) fn unescaped(quoted: &str) -> Option<String> {
    let (mut out, mut chars, mut high) = (String::with_capacity(quoted.len()), quoted.chars(), None);
    while let Some(c) = chars.next() {
        let escape = if c == '\\' { chars.next()? } else { c };
        let hex = |chars: &mut std::str::Chars<'_>, digits| {
            let text = chars.as_str().get(..digits)?;
            chars.nth(digits - 1);
            u32::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'))
        };
        let decoded = match (c, escape) {
            ('\\', 'u') => match (high.take(), hex(&mut chars, 4)?) {
                (None, unit @ 0xd800..=0xdbff) => {
                    high = Some(unit);
                    continue;
                }
                (Some(high), low @ 0xdc00..=0xdfff) => {
                    char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?
                }
                (None, unit) => char::from_u32(unit)?,
                (Some(_), _) => return None,
            },
            ('\\', 'x') => char::from_u32(hex(&mut chars, 2)?)?,
            ('\\', first @ '0'..='7') => {
                let more = chars.as_str().bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                let digits = chars.as_str().get(..more)?;
                let code = u8::from_str_radix(&format!("{first}{digits}"), 8).ok()?;
                chars.by_ref().take(more).for_each(drop);
                char::from(code)
            }
            ('\\', 'b') => '\u{8}',
            ('\\', 'f') => '\u{c}',
            ('\\', 'n') => '\n',
            ('\\', 'r') => '\r',
            ('\\', 't') => '\t',
            ('\\', '"' | '\\' | '/' | '\'') => escape,
            ('\\', other) => {
                out.push('\\');
                other
            }
            _ => c,
        };
        if high.is_some() {
            return None;
        }
        out.push(decoded);
    }
    high.is_none().then_some(out)
}

/// The pattern that a literal denotes: a backslash is written as it is, as in a raw string, except that one before a
/// backslash or a quotation mark escapes it, as in other literals.
pub(crate) fn pattern(quoted: &str) -> String {
    let (mut out, mut chars) = (String::with_capacity(quoted.len()), quoted.chars());
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('\\', Some(next @ ('\\' | '\'' | '"'))) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// The length of the text in double quotes at the start, with both of them; `None` if its end is not there.
pub fn quoted_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|end| end + 2)
}

/// Appends a text in quotes, as `repr` of Python prints it.
pub(crate) fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = match c as u32 {
                    code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                    code => write!(out, "\\u{code:04x}"),
                };
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}
