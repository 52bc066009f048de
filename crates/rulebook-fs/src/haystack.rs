//! Haystack: where do the lines of a file start, whichever line breaks it has?
//!
//! In: the text of a file.
//! Out: [`Haystack`]: the text with `\n` at the end of every line, its lines, and the mapping back to bytes of the
//! file.
//! Never: changes the file's text.

use std::borrow::Cow;
use std::ops::Range;

/// The text of a file in the form in which edits are compared with it.
#[derive(Debug)]
pub(super) struct Haystack<'t> {
    original: &'t str,
    /// The text with `\n` at the end of every line, including the last one.
    text: Cow<'t, str>,
    /// The offsets in `text` of the line breaks that are `\r\n` in the file, in order.
    returns: Vec<usize>,
    /// Whether the last line has no line break in the file.
    unended: bool,
    /// The offsets in `text` at which lines start.
    starts: Vec<usize>,
}

impl<'t> Haystack<'t> {
    pub(super) fn new(original: &'t str) -> Self {
        let unended = !original.is_empty() && !original.ends_with('\n');
        let (mut text, mut returns) = (Cow::Borrowed(original), Vec::new());
        if unended || original.contains("\r\n") {
            let mut plain = String::with_capacity(original.len() + 1);
            for line in original.split_inclusive('\n') {
                match line.strip_suffix("\r\n") {
                    Some(line) => {
                        plain += line;
                        returns.push(plain.len());
                        plain.push('\n');
                    }
                    None => plain += line,
                }
            }
            plain.extend(unended.then_some('\n'));
            text = Cow::Owned(plain);
        }
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let starts = std::iter::once(0).chain(ends).filter(|start| *start < text.len()).collect();
        Self { original, text, returns, unended, starts }
    }

    /// The text, with `\n` at the end of every line.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the last line has no line break in the file.
    pub(super) fn is_unended(&self) -> bool {
        self.unended
    }

    /// The end of the text without the last line break, if the file does not have that.
    pub(super) fn end(&self) -> usize {
        self.text.len() - usize::from(self.unended)
    }

    /// The number of lines.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The offset at which the line with this number, from 0, starts; the end of the text for a number after the last
    /// line.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The number, from 0, of the line that contains this offset.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The line with this number, from 0, without its line break.
    pub(super) fn line(&self, line: usize) -> &str {
        self.text.get(self.start(line)..self.start(line + 1).saturating_sub(1)).unwrap_or_default()
    }

    /// All lines, without their line breaks.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        (0..self.count()).map(|line| self.line(line))
    }

    /// The bytes of the file for a range of the text.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let before = self.returns.partition_point(|own| *own < offset);
            (offset + before).min(self.original.len())
        };
        at(range.start)..at(range.end)
    }

    /// The line break to use in a range of the text: that of most lines in the range, or else in the file.
    pub(super) fn line_break(&self, range: &Range<usize>) -> &'static str {
        let within = self.original.get(self.original(range)).and_then(line_break);
        within.or_else(|| line_break(self.original)).unwrap_or("\n")
    }
}

/// The line break of most lines of the text; `None` if it has no line break.
pub(super) fn line_break(text: &str) -> Option<&'static str> {
    let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let returns = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
    match all {
        0 => None,
        _ if returns * 2 >= all => Some("\r\n"),
        _ => Some("\n"),
    }
}

/// The text with `\n` in place of every `\r\n`.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The text with this line break in place of every `\n`.
pub(super) fn broken(text: &str, line_break: &str) -> String {
    if line_break == "\n" { text.to_owned() } else { text.replace('\n', line_break) }
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test cuts texts that it has made")]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[&str]) {
        let haystack = Haystack::new(text);
        assert_eq!(haystack.lines().collect::<Vec<_>>(), lines);
        // Each line of the haystack maps to the same line of the file.
        let own: Vec<&str> = text.split_inclusive('\n').collect();
        for (number, own) in own.iter().enumerate() {
            let range = haystack.start(number)..haystack.start(number + 1);
            assert_eq!(&&text[haystack.original(&range)], own);
            assert_eq!(haystack.line_of(range.start), number);
            assert_eq!(haystack.line_of(range.end - 1), number);
        }
    }

    #[test]
    fn a_line_is_a_line_whatever_ends_it() {
        check("", &[]);
        check("\n", &[""]);
        check("a", &["a"]);
        check("a\nb\n", &["a", "b"]);
        check("a\r\nb", &["a", "b"]);
        check("a\r\n\r\n\nb\rc\n", &["a", "", "", "b\rc"]);
    }

    #[test]
    fn a_line_break_is_that_of_its_neighbours() {
        let haystack = Haystack::new("a\nb\r\nc\nd");
        assert_eq!([0..2, 2..4, 3..3].map(|range| haystack.line_break(&range)), ["\n", "\r\n", "\n"]);
        assert_eq!(line_break("none"), None);
        assert_eq!(line_break("a\r\nb\n"), Some("\r\n"));
    }
}
