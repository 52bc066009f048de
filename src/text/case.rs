//! Case: how is a text changed to capitalized or title case?
//!
//! In: a text.
//! Out: the same text, with its first letter or those of its words in upper case and all others in lower case.
//! Never: knows a language.

/// `text` with its first letter in upper case.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.collect::<String>() + &chars.as_str().to_lowercase()
}

/// `text` with the first letter of each word in upper case.
pub(crate) fn titled(text: &str) -> String {
    let (mut out, mut starts) = (String::with_capacity(text.len()), true);
    for c in text.chars() {
        let between = matches!(c, '-' | '(' | '{' | '[' | '<') || c.is_whitespace();
        match (between, starts) {
            (true, _) => out.push(c),
            (_, true) => out.extend(c.to_uppercase()),
            (_, false) => out.extend(c.to_lowercase()),
        }
        starts = between;
    }
    out
}
