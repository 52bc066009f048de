//! Remaining: what remains of a text after parts of it are removed?
//!
//! In: a range of a text, and the holes in it.
//! Out: the spans that remain.
//! Never: changes a character.
//!
//! If a hole covers everything on its lines, the white space on these lines and the line break after them are removed
//! as well, so that a removed action leaves no empty line.

use crate::text::{Slice, Span};

/// The spans of a range that remain without its holes. A hole that covers everything on its lines also removes their
/// spaces and tabs, and the line break after them.
pub(super) fn remaining_spans(text: &str, region: Span, holes: &[Span]) -> Vec<Span> {
    let bytes = text.as_bytes();
    let blank = |from: usize, to: usize| bytes.slice(from..to).iter().all(|byte| matches!(byte, b' ' | b'\t'));
    let mut spans = Vec::with_capacity(holes.len() + 1);
    let mut at = region.start;
    let mut holes = holes.iter().peekable();
    while let Some(first) = holes.next() {
        let start = first.start;
        // Holes on one line with only spaces and tabs between them fill it together.
        let mut end = first.end;
        let mut between = Vec::new();
        while let Some(next) = holes.next_if(|next| blank(end, next.start)) {
            between.push(Span::new(end, next.start));
            end = next.end;
        }
        let before = bytes.slice(at.min(start)..start);
        let indent = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line = start - indent;
        let opens = line == region.start || bytes.get(line.wrapping_sub(1)) == Some(&b'\n');
        let after = bytes.slice(end.min(region.end)..region.end);
        let spaces = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line_end = match after.get(spaces..) {
            Some([] | [b'\r']) => Some(end + spaces),
            Some([b'\n', ..]) => Some(end + spaces + 1),
            Some([b'\r', b'\n', ..]) => Some(end + spaces + 2),
            _ => None,
        };
        match line_end.filter(|_| opens) {
            Some(line_end) => {
                spans.push(Span::new(at, line.max(at)));
                at = line_end;
            }
            None => {
                spans.push(Span::new(at, start));
                spans.append(&mut between);
                at = end;
            }
        }
    }
    spans.push(Span::new(at, region.end));
    spans.retain(|span| !span.is_empty());
    spans
}

/// Removes white space from the start of the first span and the end of the last.
pub(super) fn trim_ends(text: &str, mut spans: Vec<Span>) -> Vec<Span> {
    while let Some(first) = spans.first_mut() {
        let body = first.of(text);
        first.start += body.len() - body.trim_start().len();
        if !first.is_empty() {
            break;
        }
        spans.remove(0);
    }
    while let Some(last) = spans.last_mut() {
        last.end = last.start + last.of(text).trim_end().len();
        if !last.is_empty() {
            break;
        }
        spans.pop();
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let holes: Vec<Span> = text.match_indices("[X]").map(|(at, hole)| Span::new(at, at + hole.len())).collect();
        let spans = trim_ends(text, remaining_spans(text, Span::new(0, text.len()), &holes));
        assert_eq!(spans.iter().map(|span| span.of(text)).collect::<String>(), expected, "{text:?}");
    }

    #[test]
    fn a_removed_part_takes_the_lines_that_it_fills() {
        check("Hi!\n[X]\nDone!", "Hi!\nDone!");
        check("Hi!\r\n [X]\t\r\nDone!", "Hi!\r\nDone!");
        check("Hi!\n\n[X]\n\nDone!", "Hi!\n\n\nDone!");
        check("Hi [X] there", "Hi  there");
        check("[X] [X]\nDone", "Done");
        check("Hi[X] [X]\t[X]there", "Hi \tthere");
        check("Hi\n[X]\r[X]\nthere", "Hi\n\r\nthere");
        check("Hi\n[X]", "Hi");
        check("[X]", "");
    }
}
