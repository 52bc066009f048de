//! Saved text: which text did the author of a file write, however it was saved?
//!
//! In: the text of a file, with its byte order mark and its line breaks.
//! Out: the text as its author wrote it, or a new text saved in the same way.
//! Never: reads or writes a file.

use std::borrow::Cow;

/// The text of a file without its byte order mark and, if all its lines end with CR LF, with LF instead. So a file
/// means the same on every machine, and one that mixes both on purpose is left as it is.
pub fn authored(saved: &str) -> Cow<'_, str> {
    let text = saved.strip_prefix(BYTE_ORDER_MARK).unwrap_or(saved);
    if has_wide_breaks(text) { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// `text` with the byte order mark and line breaks of the file `saved`, which it replaces.
pub fn saved_like(saved: &str, text: &str) -> String {
    let body = saved.strip_prefix(BYTE_ORDER_MARK);
    let text = if has_wide_breaks(saved) { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text.to_owned() };
    if body.is_some() { format!("{BYTE_ORDER_MARK}{text}") } else { text }
}

/// Where the text of a file begins: after its byte order mark, if it has one.
pub fn beginning(text: &str) -> usize {
    text.len() - text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).len()
}

const BYTE_ORDER_MARK: char = '\u{feff}';

fn has_wide_breaks(text: &str) -> bool {
    text.contains('\n') && text.split_inclusive('\n').all(|line| !line.ends_with('\n') || line.ends_with("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_means_the_same_however_it_was_saved() {
        for saved in ["a\nb\n", "\u{feff}a\nb\n", "a\r\nb\r\n", "\u{feff}a\r\nb\r\n"] {
            assert_eq!(authored(saved), "a\nb\n");
            assert_eq!(saved_like(saved, "a\nb\n"), saved);
        }
        for mixed in ["a\nb\r\n", "a\r\nb\n", "a"] {
            assert_eq!(authored(mixed), mixed);
        }
    }
}
