//! Decoding: what does a text say once its entities are resolved?
//!
//! In: a raw text.
//! Out: the same text with the five entities of XML and character references resolved, once.
//! Never: touches an entity that it does not know, or decodes twice.

use std::borrow::Cow;

/// The longest reference that is looked for, from `&` to `;`.
const LONGEST: usize = 12;

/// Resolves `&lt; &gt; &amp; &quot; &apos;` and `&#…;`. Anything else stays as it is.
pub(crate) fn decode_entities(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut at = first;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        if let Some((length, character)) = reference(rest) {
            out.push_str(text.get(from..at).unwrap_or_default());
            out.push(character);
            from = at + length;
        }
        let next = from.max(at + 1);
        match memchr::memchr(b'&', text.as_bytes().get(next..).unwrap_or_default()) {
            Some(offset) => at = next + offset,
            None => break,
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// The length and the character of the reference that `text` starts with.
fn reference(text: &str) -> Option<(usize, char)> {
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok()?,
                None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
                _ => return None,
            };
            // XML has no NUL.
            char::from_u32(number).filter(|character| *character != '\0')?
        }
    };
    Some((end + 1, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(decode_entities(text), expected);
    }

    #[test]
    fn entities_are_resolved_once() {
        check("a &lt;b&gt; &amp;lt; &quot;&apos;", "a <b> &lt; \"'");
        check("&#65;&#x42;&#X43;", "ABC");
        check("&nbsp; &; & &#; &#x; &#0; &#+1; &#xD800; &lt", "&nbsp; &; & &#; &#x; &#0; &#+1; &#xD800; &lt");
    }
}
