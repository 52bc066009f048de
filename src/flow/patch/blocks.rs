//! Blocks: what do SEARCH/REPLACE blocks change, as coding assistants write them?
//!
//! In: their lines, and the file that they are about.
//! Out: one [`FilePatch`] with a hunk for each block; a block with nothing to find is a new file.
//! Never: guesses which of several lines of `=` divides a block.

use super::{FileChange, FilePatch, Hunk, PatchFault, PatchLines};
use crate::text::starts_fence;

/// The marks of a block: `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, or `------- SEARCH` and `+++++++ REPLACE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConflictMark {
    Search,
    Divider,
    Replace,
}

impl ConflictMark {
    /// The mark that a line is, if it is one. Models miscount its characters, so five to nine of them are accepted.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let first = line.chars().next()?;
        let rest = line.trim_start_matches(first);
        let is_long = (5..=9).contains(&(line.len() - rest.len()));
        match (first, rest) {
            ('<' | '-', " SEARCH" | " SEARCH>") if is_long => Some(ConflictMark::Search),
            ('=', "") if is_long => Some(ConflictMark::Divider),
            ('>' | '+', " REPLACE") if is_long => Some(ConflictMark::Replace),
            _ => None,
        }
    }
}

/// Whether a line begins a block.
pub(super) fn begin(line: &str) -> bool {
    ConflictMark::of(line) == Some(ConflictMark::Search)
}

pub(super) fn parse(lines: &mut PatchLines<'_>, file: Option<&str>) -> Result<Vec<FilePatch>, PatchFault> {
    let Some(file) = file else {
        return Err(lines.fault("nothing says which file these blocks are about"));
    };
    let mut hunks = Vec::new();
    while let Some(line) = lines.peek() {
        if begin(line) {
            hunks.push(block(lines)?);
        } else if line.trim().is_empty() || starts_fence(line.trim_start().as_bytes()) {
            lines.advance();
        } else {
            return Err(lines.fault("a block begins with `<<<<<<< SEARCH`, and nothing may come between two blocks"));
        }
    }
    let change = match hunks.as_mut_slice() {
        [hunk] if hunk.find.is_empty() => FileChange::Add { text: std::mem::take(&mut hunk.put), executable: false },
        _ => FileChange::Update(hunks),
    };
    Ok(vec![FilePatch { key: file.to_owned(), change, to: None }])
}

/// Reads one block, from its first mark to its last.
fn block(lines: &mut PatchLines<'_>) -> Result<Hunk, PatchFault> {
    let start = lines.next;
    lines.advance();
    let line = starting_line(lines);
    let find = side(lines, ConflictMark::Divider)?;
    let put = side(lines, ConflictMark::Replace)?;
    if find == put {
        return Err(lines.fault_at(start, "this block changes nothing"));
    }
    Ok(Hunk { find, put, line, after: Vec::new(), end: false })
}

/// The line at which a block starts, if lines such as `:start_line:12` and a line of dashes precede its text.
fn starting_line(lines: &mut PatchLines<'_>) -> Option<u64> {
    let is_note = |line: &str| line.starts_with(":start_line:") || line.starts_with(":end_line:");
    let notes = (0..).take_while(|count| lines.ahead(*count).is_some_and(is_note)).count();
    let is_rule = |line: &str| line.len() >= 5 && line.trim_end().bytes().all(|byte| byte == b'-');
    if notes == 0 || !lines.ahead(notes).is_some_and(is_rule) {
        return None;
    }
    let mut noted = (0..notes).filter_map(|count| lines.ahead(count)?.strip_prefix(":start_line:"));
    let line = noted.next().and_then(|number| number.trim().parse().ok()).filter(|line| *line > 0);
    (0..=notes).for_each(|_| lines.advance());
    line
}

/// The lines before the next mark, which has to be `end` and is skipped. After a backslash, a mark is text.
fn side(lines: &mut PatchLines<'_>, end: ConflictMark) -> Result<String, PatchFault> {
    let mut text = String::new();
    while let Some(line) = lines.peek() {
        match ConflictMark::of(line) {
            Some(mark) if mark == end => {
                lines.advance();
                return Ok(text);
            }
            Some(ConflictMark::Divider) => {
                return Err(lines.fault("a second line of `=`: which one divides the block?"));
            }
            Some(_) => break,
            None => {}
        }
        let is_text = |rest: &&str| ConflictMark::of(rest).is_some();
        text += line.strip_prefix('\\').filter(is_text).unwrap_or(line);
        text.push('\n');
        lines.advance();
    }
    let lacks = if end == ConflictMark::Divider { "=======" } else { ">>>>>>> REPLACE" };
    Err(lines.fault(format!("the block lacks its `{lacks}`")))
}
