//! Bullets: which things does a Markdown list name?
//!
//! In: the body of a section.
//! Out: the name in each item: its first code span, or else its text without a remark in parentheses.
//! Never: reads prose around the list, or checks whether the things named exist.

use crate::value::Value;

/// The items of a list, at most `most`.
pub(super) fn read(text: &str, most: usize) -> Value {
    text.lines().filter_map(item).map(Value::from).take(most).collect()
}

/// The name in a line, if the line is an item of a list.
fn item(line: &str) -> Option<&str> {
    let item = unmarked(line)?;
    let quoted = item.split_once('`').and_then(|(_, rest)| rest.split_once('`')).map(|(quoted, _)| quoted);
    let named = quoted.unwrap_or_else(|| without_note(item).trim_matches('*')).trim();
    (!named.is_empty()).then_some(named)
}

/// The text after the bullet or number of a line.
pub(crate) fn unmarked(line: &str) -> Option<&str> {
    let line = line.trim();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let item = match line.strip_prefix(['*', '-', '+', '\u{2022}']) {
        Some(item) => item,
        // A number with more digits is a year.
        None if (1..4).contains(&(line.len() - numbered.len())) => numbered.strip_prefix(['.', ')'])?,
        None => return None,
    };
    let item = item.strip_prefix([' ', '\t'])?.trim_start();
    Some(["[ ]", "[x]", "[X]"].iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item).trim_start())
}

/// The item without a remark in parentheses at its end.
fn without_note(item: &str) -> &str {
    let note = item.strip_suffix(')').and_then(|item| item.rsplit_once(" ("));
    note.map_or(item, |(item, _)| item).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value as json;

    #[test]
    fn a_bullet_names_its_code_span_or_its_text() {
        let text =
            "Here:\n\n*   `src/a.ts` (Updated)\n- **src/b c.md** (New)\n 1. [x] src/d (1).md\n* * *\n---\nthe end";
        assert_eq!(read(text, 10), json!(["src/a.ts", "src/b c.md", "src/d (1).md"]));
        assert_eq!(read(text, 1), json!(["src/a.ts"]));
        assert_eq!(read("100. one\n1984. A novel.", 10), json!(["one"]));
    }
}
