//! Begin Patch: what does the body of a `*** Begin Patch` change?
//!
//! In: its lines, from the first on.
//! Out: a [`FilePatch`] for each `*** Add File`, `*** Delete File` and `*** Update File`, in order.
//! Never: accepts a body without its last line, because the body may be cut off.

use super::{FileChange, FilePatch, PatchFault, PatchLines, hunk};

/// The first line of such a patch.
pub(super) const FIRST: &str = "*** Begin Patch";
const LAST: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

pub(super) fn parse(lines: &mut PatchLines<'_>) -> Result<Vec<FilePatch>, PatchFault> {
    lines.advance();
    let mut files = Vec::new();
    while let Some(line) = lines.peek() {
        let line = line.trim_end();
        let is = |word: &str| line.strip_prefix(word).map(|path| path.trim().to_owned());
        if line == LAST {
            lines.advance();
            return match lines.peek() {
                Some(_) => Err(lines.fault(format!("nothing follows `{LAST}`"))),
                None => Ok(files),
            };
        }
        if let Some(key) = is("*** Add File:") {
            lines.advance();
            let text = added(lines)?;
            files.push(FilePatch { key, change: FileChange::Add { text, executable: false }, to: None });
        } else if let Some(key) = is("*** Delete File:") {
            lines.advance();
            files.push(FilePatch { key, change: FileChange::Delete { text: None }, to: None });
        } else if let Some(key) = is("*** Update File:") {
            lines.advance();
            files.push(updated(lines, key)?);
        } else if line.is_empty() {
            lines.advance();
        } else {
            let heads = "`*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`";
            return Err(lines.fault(format!("{heads} comes before the lines of a file")));
        }
    }
    Err(lines.fault(format!("it has no `{LAST}`: its end may be missing")))
}

/// The text of a new file.
fn added(lines: &mut PatchLines<'_>) -> Result<String, PatchFault> {
    let (mut text, mut blank) = (String::new(), 0);
    while let Some(line) = lines.peek().filter(|line| !line.starts_with("*** ")) {
        match line.strip_prefix('+') {
            Some(line) => {
                text.extend(std::iter::repeat_n('\n', std::mem::take(&mut blank)));
                text += line;
                text.push('\n');
            }
            None if line.is_empty() => blank += 1,
            None => return Err(lines.fault("a line of a new file begins with `+`")),
        }
        lines.advance();
    }
    Ok(text)
}

fn updated(lines: &mut PatchLines<'_>, key: String) -> Result<FilePatch, PatchFault> {
    let head = lines.next.saturating_sub(1);
    let to = lines.peek().and_then(|line| line.strip_prefix("*** Move to:")).map(|to| to.trim().to_owned());
    if to.is_some() {
        lines.advance();
    }
    let mut hunks = Vec::new();
    while let Some(line) = lines.peek() {
        if line.is_empty() {
            lines.advance();
            continue;
        }
        if line.starts_with("*** ") {
            break;
        }
        let place = hunk::place(lines);
        let mut hunk = hunk::read(lines, place, |lines| lines.peek().is_some_and(|line| line.starts_with("*** ")))?;
        // The format has no line numbers: ignore what looks like one.
        hunk.line = None;
        if lines.peek().is_some_and(|line| line.trim_end() == END_OF_FILE) {
            lines.advance();
            hunk.end = true;
        }
        hunks.push(hunk);
    }
    if hunks.is_empty() && to.is_none() {
        return Err(lines.fault_at(head, "the file is to be updated, but no lines follow"));
    }
    Ok(FilePatch { key, change: FileChange::Update(hunks), to })
}
