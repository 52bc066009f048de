//! Saved text: what does a file say, however it was saved?
//!
//! In: the text of a file, with its byte order mark and its kind of line breaks.
//! Out: the text that its author wrote, and another one saved as that was.
//! Never: reads or writes a file.

use std::borrow::Cow;

/// What stands in a file that somebody wrote, however it was saved: without a byte order mark, and where all of its lines
/// end as those of Windows do, with a line feed for each line break. So a file means the same on every machine, and one
/// that has both on purpose still says what it says.
pub(crate) fn authored(saved: &str) -> Cow<'_, str> {
    let text = saved.strip_prefix(BYTE_ORDER_MARK).unwrap_or(saved);
    if has_wide_breaks(text) { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// `text` as the file was `saved` in whose place it comes: with its byte order mark, and its kind of line breaks.
#[cfg(feature = "cli")]
pub(crate) fn saved_like(saved: &str, text: &str) -> String {
    let body = saved.strip_prefix(BYTE_ORDER_MARK);
    let text = if has_wide_breaks(saved) { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text.to_owned() };
    if body.is_some() { format!("{BYTE_ORDER_MARK}{text}") } else { text }
}

/// Where a text begins: behind a byte order mark, which is none of it.
pub(crate) fn beginning(text: &str) -> usize {
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
            #[cfg(feature = "cli")]
            assert_eq!(saved_like(saved, "a\nb\n"), saved);
        }
        for mixed in ["a\nb\r\n", "a\r\nb\n", "a"] {
            assert_eq!(authored(mixed), mixed);
        }
    }
}
