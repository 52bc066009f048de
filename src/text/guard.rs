//! Guards: how is a line that looks like markup marked as plain text?
//!
//! In: a text, the bytes that markup can start with, and a test for lines that look like markup.
//! Out: the text with a backslash before each such line, or with these backslashes removed.
//! Never: changes other lines; removing the guards restores the text.

use super::Slice;
use super::Span;
use std::borrow::Cow;

/// The ASCII bytes that a line of markup can start with, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guard(u128);

impl Guard {
    /// A guard for markup that starts with one of these bytes, possibly after the opening of code fences.
    pub(crate) fn new(bytes: impl IntoIterator<Item = u8>) -> Self {
        let bytes = bytes.into_iter().chain(*b"`~").filter(u8::is_ascii_punctuation);
        Self(bytes.filter(|byte| *byte != b'\\').fold(0, |set, byte| set | 1 << byte))
    }

    /// `text` with a backslash before each line for which `shaped` is true. A line that already starts with a guard
    /// gets one more, so that removing one restores it.
    pub(crate) fn put_on(self, text: &str, shaped: impl Fn(&str) -> bool) -> Cow<'_, str> {
        let mut out = String::new();
        let mut from = 0;
        for line in lines(text) {
            let start = self.start(line.of(text));
            let guarded = start.is_some_and(|(_, guarded)| guarded);
            let shaped = || shaped(text.slice(line.start..));
            if let Some((at, _)) = start.filter(|_| guarded || shaped()) {
                out.push_str(text.slice(from..line.start + at));
                out.push('\\');
                from = line.start + at;
            }
        }
        finish(text, from, out)
    }

    /// `text` with one backslash removed from each guarded line.
    pub(crate) fn take_off(self, text: &str) -> Cow<'_, str> {
        let mut out = String::new();
        let mut from = 0;
        for at in self.guards(text) {
            out.push_str(text.slice(from..at));
            from = at + 1;
        }
        finish(text, from, out)
    }

    /// The offset in the guarded `text` for an `offset` in the text without guards.
    pub(crate) fn raw_offset(self, text: &str, offset: usize) -> usize {
        let before = self.guards(text).enumerate().take_while(|(count, at)| at - count <= offset);
        offset + before.count()
    }

    /// The offsets of the guards in a text.
    fn guards(self, text: &str) -> impl Iterator<Item = usize> {
        lines(text).filter_map(move |line| match self.start(line.of(text)) {
            Some((at, true)) => Some(line.start + at),
            _ => None,
        })
    }

    /// Where the text of a line starts after its white space and whether backslashes come before it, if its first byte
    /// is one of the set.
    fn start(self, line: &str) -> Option<(usize, bool)> {
        let inner = line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let first = inner.trim_start_matches('\\');
        let byte = first.bytes().next().filter(u8::is_ascii)?;
        (self.0 >> byte & 1 == 1).then_some((line.len() - inner.len(), first.len() < inner.len()))
    }
}

fn lines(text: &str) -> impl Iterator<Item = Span> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = end;
        end += line.len();
        Span::new(start, end)
    })
}

fn finish(text: &str, from: usize, mut out: String) -> Cow<'_, str> {
    if from == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(text.slice(from..));
    Cow::Owned(out)
}

/// Whether the text before a mark on its line is only white space and the openings of code fences, so that the mark
/// still counts as at the start of the line.
pub(crate) fn is_margin(part: &[u8]) -> bool {
    let mut rest = part.strip_prefix("\u{feff}".as_bytes()).unwrap_or(part);
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b' ' | b'\t' | b'\r' => after,
            b'`' | b'~' => {
                let marks = rest.iter().take_while(|byte| *byte == first).count();
                if marks < 3 {
                    return false;
                }
                let info = rest.slice(marks..);
                let word = info.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                info.slice(word..)
            }
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, guarded: &str) {
        let guard = Guard::new(*b"<");
        let on = guard.put_on(text, |rest| rest.lines().next().is_some_and(|line| line.contains("<a>")));
        assert_eq!(on, guarded);
        assert_eq!(guard.take_off(&on), text);
        for (offset, c) in text.char_indices() {
            assert!(
                on.get(guard.raw_offset(&on, offset)..).is_some_and(|rest| rest.starts_with(c)),
                "{text:?} {offset}"
            );
        }
    }

    #[test]
    fn a_guard_precedes_only_lines_of_structure() {
        check("x\n<a>\n  <a>\r\n<b>\nan <a>\n```<a>", "x\n\\<a>\n  \\<a>\r\n<b>\nan <a>\n\\```<a>");
        check("\\<b>\n\\\\<a>\n\\x\n\\", "\\\\<b>\n\\\\\\<a>\n\\x\n\\");
        check("", "");
        check("é\n<a>é", "é\n\\<a>é");
    }
}
