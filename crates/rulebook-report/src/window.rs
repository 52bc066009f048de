//! Windows: which part of a source is drawn around its marks?
//!
//! In: a source, and the bytes in it that are marked.
//! Out: the lines of the marks; of a very long line only the parts around the ends of marks, with `…` for what was left
//! out; characters that control a terminal or change the direction of text are escaped.
//! Never: draws, or changes a line or column that is reported.

use rulebook::text::{Place, Source, Span, boundary, is_bidi_control};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The longest line that is drawn as a whole, in bytes.
const MAX_WHOLE_LINE_BYTES: usize = 4096;
/// How many bytes of a longer line are drawn on each side of an edge: more than the width of a screen.
const BYTES_PER_SIDE: usize = 512;
/// The character for what was left out.
const LEFT_OUT: char = '…';

/// A part of a source, as it is drawn.
#[derive(Debug)]
pub(super) struct Window<'s> {
    pub(super) text: Cow<'s, str>,
    /// The number of its first line.
    pub(super) line: usize,
    /// The offset of each end of a mark in the source, with its offset in the window's text.
    edges: BTreeMap<usize, usize>,
    /// Whether columns in the window's text differ from those in the source.
    pub(super) shifted: bool,
}

impl<'s> Window<'s> {
    /// The window of the marks, which must start and end at character boundaries.
    pub(super) fn of(source: &'s Source, marks: impl Iterator<Item = Span>) -> Self {
        let text = source.text();
        let mut edges: BTreeMap<usize, usize> = marks.flat_map(|mark| [(mark.start, 0), (mark.end, 0)]).collect();
        let first = edges.keys().next().copied().unwrap_or_default();
        let last = edges.keys().next_back().copied().unwrap_or_default();
        // A text that ends with a line break has no line after it, so a mark at the end of the text is drawn on the
        // last line.
        let first = if first == text.len() && text.ends_with('\n') { first - 1 } else { first };
        let line_break = |at: usize| memchr::memchr(b'\n', text.as_bytes().get(at..).unwrap_or_default());
        let start = memchr::memrchr(b'\n', text.as_bytes().get(..first).unwrap_or_default()).map_or(0, |at| at + 1);
        let end = line_break(last).map_or(text.len(), |at| last + at + 1);
        let span = Span::new(start, end);
        let body = span.of(text);
        let line = source.place(start).line;
        let stretches = stretches(text, span, &edges.keys().copied().collect::<Vec<_>>());
        let plain = stretches == [span] && !body.contains(hidden);
        let text = if plain {
            edges.iter_mut().for_each(|(at, drawn)| *drawn = at - start);
            Cow::Borrowed(body)
        } else {
            Cow::Owned(drawn(text, span, &stretches, &mut edges))
        };
        Self { text, line, edges, shifted: !plain }
    }

    /// The span of a mark in the window's text.
    pub(super) fn span(&self, mark: Span) -> Span {
        let at = |edge| self.edges.get(&edge).copied().unwrap_or_default();
        Span::new(at(mark.start), at(mark.end))
    }
}

/// The place of the first mark.
pub(super) fn place_of(source: &Source, marks: impl Iterator<Item = Span>) -> Place {
    source.place(marks.map(|mark| mark.start).min().unwrap_or_default())
}

/// Whether the character is escaped. The renderer draws ASCII control characters as symbols, but not these.
fn hidden(c: char) -> bool {
    is_bidi_control(c) || (c.is_control() && !c.is_ascii())
}

/// The parts of a span that are drawn, in order: short lines as a whole, and of a long line the parts around the edges.
fn stretches(text: &str, span: Span, edges: &[usize]) -> Vec<Span> {
    let mut stretches = vec![Span::new(span.start, span.start)];
    let mut keep = |from: usize, to: usize| match stretches.last_mut() {
        Some(last) if from <= last.end => last.end = last.end.max(to),
        _ => stretches.push(Span::new(from, to)),
    };
    let mut end = span.start;
    for line in span.of(text).split_inclusive('\n') {
        let start = end;
        end += line.len();
        if line.len() <= MAX_WHOLE_LINE_BYTES {
            keep(start, end);
            continue;
        }
        let body = start + line.trim_end_matches(['\r', '\n']).len();
        let on_it = |edge: &&usize| (start..end).contains(edge) || (**edge == end && end == span.end);
        let mut any = false;
        for edge in edges.iter().filter(on_it) {
            any = true;
            keep(
                boundary(text, edge.saturating_sub(BYTES_PER_SIDE).max(start)),
                boundary(text, (edge + BYTES_PER_SIDE).min(body)),
            );
        }
        if !any {
            keep(start, boundary(text, start + BYTES_PER_SIDE));
        }
        keep(body, end);
    }
    stretches
}

/// The text of these parts; records the new offset of each edge.
fn drawn(text: &str, span: Span, stretches: &[Span], edges: &mut BTreeMap<usize, usize>) -> String {
    let mut out = String::new();
    let mut done = span.start;
    let mut waiting = edges.iter_mut().peekable();
    for stretch in stretches.iter().filter(|stretch| !stretch.is_empty()) {
        if stretch.start > done {
            out.push(LEFT_OUT);
        }
        for (offset, c) in stretch.of(text).char_indices() {
            while let Some((_, drawn)) = waiting.next_if(|(at, _)| **at <= stretch.start + offset) {
                *drawn = out.len();
            }
            if hidden(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
        }
        done = stretch.end;
    }
    waiting.for_each(|(_, drawn)| *drawn = out.len());
    if done < span.end {
        out.push(LEFT_OUT);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, mark: &str, line: usize, shown: &str) {
        let source = Source::new("t", text);
        let start = text.find(mark).unwrap();
        let span = Span::new(start, start + mark.len());
        let window = Window::of(&source, [span].into_iter());
        assert_eq!((window.line, window.text.as_ref()), (line, shown));
        let drawn = window.span(span);
        if mark.len() <= BYTES_PER_SIDE {
            let escaped: String =
                mark.chars().map(|c| if hidden(c) { c.escape_unicode().collect() } else { String::from(c) }).collect();
            assert_eq!(drawn.of(&window.text), escaped);
        }
        assert_eq!(window.shifted, !text.contains(shown));
    }

    #[test]
    fn only_the_lines_of_a_mark_are_drawn() {
        check("a\nbc\r\nd\n", "bc", 2, "bc\r\n");
        check("a\nbc\nd\ne", "c\nd", 2, "bc\nd\n");
        check("a\nb\n", "", 1, "a\n");
        let source = Source::new("t", "a\nb\n");
        let window = Window::of(&source, [Span::new(4, 4)].into_iter());
        assert_eq!((window.line, window.text.as_ref(), window.span(Span::new(4, 4))), (2, "b\n", Span::new(2, 2)));
    }

    #[test]
    fn a_long_line_says_where_something_was_left_out() {
        let long = "x".repeat(MAX_WHOLE_LINE_BYTES);
        let room = "x".repeat(BYTES_PER_SIDE);
        check(&format!("a\n{long}here{long}\nb"), "here", 2, &format!("…{room}here{room}…\n"));
        check(&format!("{long}here"), "here", 1, &format!("…{room}here"));
        check(&format!("here{long}"), "here", 1, &format!("here{room}…"));
        // Of a long mark, the start and the end are drawn.
        check(&long.repeat(2), &long.repeat(2), 1, &format!("{room}…{room}"));
        // Characters are not split.
        let long = "ä".repeat(MAX_WHOLE_LINE_BYTES);
        let room = "ä".repeat(BYTES_PER_SIDE / 2);
        check(&format!("x{long}here{long}"), "here", 1, &format!("…{room}here{room}…"));
    }

    #[test]
    fn bidirectional_control_characters_are_escaped() {
        check("a\u{202e}b", "b", 1, "a\\u{202e}b");
        check("a \u{2066}b\u{9b}c", "b\u{9b}", 1, "a \\u{2066}b\\u{9b}c");
    }
}
