//! Unified diffs: what does a diff change, as Git and `diff -u` write it?
//!
//! In: its lines.
//! Out: a [`FilePatch`] for each file, in order.
//! Never: ignores a change that no effect can make, such as one to a binary file or to a file's mode, or chooses
//! between headers that name different files: each is a fault.

use super::{FileChange, FilePatch, Hunk, PatchFault, PatchLines, hunk};
use crate::text::quoted_length;

/// The name of a file that does not exist, before it is added or after it is deleted.
const NOWHERE: &str = "/dev/null";

/// Why nobody can say which file is meant.
const DISAGREE: &str = "its headers do not agree about the names of the file, or about what happens to it";

/// A file of the diff, filled while its headers and hunks are read.
#[derive(Default)]
struct DiffFile {
    /// The line of its first header.
    at: usize,
    /// Its names in `diff --git`, as they are written.
    git: Option<String>,
    /// Its names in `---` and `+++`.
    names: Option<(String, String)>,
    /// Its names in `rename from` and `rename to`.
    from: Option<String>,
    to: Option<String>,
    /// The mode of a new file.
    new: Option<String>,
    is_deleted: bool,
    hunks: Vec<Hunk>,
    /// How many lines the hunks so far add to the file.
    longer: i64,
}

/// Reads a diff. Hunks before the header of a file belong to `file`.
pub(super) fn parse(lines: &mut PatchLines<'_>, file: Option<&str>) -> Result<Vec<FilePatch>, PatchFault> {
    let mut files = Vec::new();
    let of_path = |at: usize| {
        file.map(|file| DiffFile { at, names: Some((file.to_owned(), file.to_owned())), ..DiffFile::default() })
    };
    let mut current: Option<DiffFile> = None;
    while let Some(line) = lines.peek() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            finish(current.take(), lines, &mut files)?;
            current = Some(DiffFile { at: lines.next, git: Some(names.trim_end().to_owned()), ..DiffFile::default() });
            lines.advance();
        } else if let Some(names) = headers(lines) {
            if current.as_ref().is_none_or(|file| file.names.is_some()) {
                finish(current.take(), lines, &mut files)?;
                current = Some(DiffFile { at: lines.next, ..DiffFile::default() });
            }
            current.iter_mut().for_each(|file| file.names = Some(names.clone()));
            lines.advance();
            lines.advance();
        } else if line.starts_with("@@") {
            let at = lines.next;
            if current.is_none() {
                current = of_path(at);
            }
            let Some(file) = &mut current else {
                return Err(lines.fault("a hunk comes before the `---` and `+++` of its file"));
            };
            file.hunk(lines)?;
        } else if line.starts_with(['+', '-']) && line != "---" {
            return Err(lines.fault("this line is outside every hunk: an `@@` is missing before it"));
        } else {
            // Everything else before a hunk is a header of Git, or text around the diff.
            if let Some(file) = &mut current {
                file.header(line).map_err(|why| lines.fault(why))?;
            }
            lines.advance();
        }
    }
    finish(current, lines, &mut files)?;
    Ok(files)
}

/// The names in `---` and `+++`, if the next two lines have them.
fn headers(lines: &PatchLines<'_>) -> Option<(String, String)> {
    let old = lines.peek()?.strip_prefix("--- ")?;
    let new = lines.ahead(1)?.strip_prefix("+++ ")?;
    Some((name(old), name(new)))
}

/// Whether a hunk ends before the next line because another file begins. A removed line may begin with `-- `, so the
/// whole header must be there, and a hunk after it.
fn is_next_file(lines: &PatchLines<'_>) -> bool {
    let is_header = || headers(lines).is_some() && lines.ahead(2).is_some_and(|line| line.starts_with("@@"));
    lines.peek().is_some_and(|line| line.starts_with("diff --git ")) || is_header()
}

impl DiffFile {
    /// Reads a header between `diff --git` and the hunks.
    fn header(&mut self, line: &str) -> Result<(), &'static str> {
        let is = |word: &str| line.strip_prefix(word).map(name);
        if let Some(mode) = line.strip_prefix("new file mode ").map(str::trim) {
            if !mode.starts_with("100") {
                return Err("no effect makes a link or a submodule");
            }
            self.new = Some(mode.to_owned());
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(from) = is("rename from ") {
            if self.from.replace(from).is_some() {
                return Err(DISAGREE);
            }
        } else if let Some(to) = is("rename to ") {
            if self.to.replace(to).is_some() {
                return Err(DISAGREE);
            }
        } else if line.starts_with("old mode ") {
            return Err("no effect changes the mode of a file");
        } else if line.starts_with("copy from ") {
            return Err("no effect copies a file");
        } else if line.starts_with("GIT binary patch")
            || (line.starts_with("Binary files ") && line.ends_with(" differ"))
        {
            return Err("no effect changes a binary file");
        }
        Ok(())
    }

    fn hunk(&mut self, lines: &mut PatchLines<'_>) -> Result<(), PatchFault> {
        // A line break is missing at the end of a side only if that is the end of the file.
        let is_unended = |text: &str| !text.is_empty() && !text.ends_with('\n');
        if self.hunks.last().is_some_and(|last| is_unended(&last.find) || is_unended(&last.put)) {
            return Err(lines.fault(hunk::AFTER_THE_END));
        }
        let place = hunk::place(lines);
        let mut hunk = hunk::read(lines, place, is_next_file)?;
        let count = |text: &str| text.lines().count().try_into().unwrap_or(i64::MAX);
        hunk.line = hunk.line.and_then(|line| line.checked_add_signed(self.longer)).filter(|line| *line > 0);
        self.longer = self.longer.saturating_add(count(&hunk.put)).saturating_sub(count(&hunk.find));
        self.hunks.push(hunk);
        Ok(())
    }

    /// What the diff does to the file.
    fn finished(self) -> Result<FilePatch, &'static str> {
        let Self { git, names, from, to, new, is_deleted, hunks, .. } = self;
        let is_renamed = from.is_some() || to.is_some();
        let (old, key) = match (&names, from.zip(to)) {
            (_, Some(renamed)) => renamed,
            (_, None) if is_renamed => return Err("of `rename from` and `rename to`, one is missing"),
            (Some(names), None) => without_prefixes(names.clone()),
            (None, None) => {
                let name = git.as_deref().and_then(same_names).ok_or("its header names no file")?;
                (name.clone(), name)
            }
        };
        let is_new = new.is_some() || old == NOWHERE;
        let is_deleted = is_deleted || key == NOWHERE;
        if is_new && is_deleted {
            return Err("its header names no file");
        }
        // In `diff --git`, a file that is added or deleted has the same name twice.
        let (before, after) = (if is_new { &key } else { &old }, if is_deleted { &old } else { &key });
        let agrees = |(before_name, after_name): &(String, String)| {
            let (was, becomes) = (is_named(before_name, before), is_named(after_name, after));
            (if is_new { before_name == NOWHERE } else { was })
                && (if is_deleted { after_name == NOWHERE } else { becomes })
        };
        let is_clear = !(is_renamed && (is_new || is_deleted))
            && names.as_ref().is_none_or(agrees)
            && git.as_deref().is_none_or(|git| are_names(git, before, after));
        if !is_clear {
            return Err(DISAGREE);
        }
        if is_new {
            if hunks.iter().any(|hunk| !hunk.find.is_empty()) {
                return Err("every line of a new file begins with `+`");
            }
            let text = hunks.into_iter().map(|hunk| hunk.put).collect();
            let executable = new.is_some_and(|mode| mode == "100755");
            return Ok(FilePatch { key, change: FileChange::Add { text, executable }, to: None });
        }
        if is_deleted {
            if hunks.iter().any(|hunk| !hunk.put.is_empty()) {
                return Err("every line of a deleted file begins with `-`");
            }
            // Without a hunk, the file is empty.
            let text = Some(hunks.into_iter().map(|hunk| hunk.find).collect());
            return Ok(FilePatch { key: old, change: FileChange::Delete { text }, to: None });
        }
        let is_moved = old != key;
        if hunks.is_empty() && !is_moved {
            return Err("its header is there, but no hunk");
        }
        if hunks.iter().any(|hunk| hunk.find.is_empty() && hunk.after.is_empty()) {
            return Err("a hunk adds lines, but has no line of the file beside them: it is unknown where they belong");
        }
        Ok(FilePatch { key: old, change: FileChange::Update(hunks), to: is_moved.then_some(key) })
    }
}

fn finish(file: Option<DiffFile>, lines: &PatchLines<'_>, files: &mut Vec<FilePatch>) -> Result<(), PatchFault> {
    let Some(file) = file else { return Ok(()) };
    let at = file.at;
    let is_renamed = file.from.is_some() && file.to.is_some();
    let patch = file.finished().map_err(|why| lines.fault_at(at, why))?;
    if patch.to.is_some() && !is_renamed {
        return Err(lines.fault_at(at, "`---` and `+++` name two files, but there is no `rename from` and `rename to`"));
    }
    files.push(patch);
    Ok(())
}

/// The names without the prefixes of Git, if they have them.
fn without_prefixes((old, new): (String, String)) -> (String, String) {
    let (a, b) = (old.strip_prefix("a/"), new.strip_prefix("b/"));
    match (a, b) {
        (Some(a), Some(b)) => (a.to_owned(), b.to_owned()),
        (None, Some(b)) if old == NOWHERE => (old, b.to_owned()),
        (Some(a), None) if new == NOWHERE => (a.to_owned(), new),
        _ => (old, new),
    }
}

/// The name of both files in `diff --git a/NAME b/NAME`. Names may have spaces, so only two that are the same are
/// certain.
fn same_names(names: &str) -> Option<String> {
    let names = names.trim_end();
    if names.starts_with('"') {
        let (old, new) = names.split_once("\" \"")?;
        let (old, new) = without_prefixes((name(&format!("{old}\"")), name(&format!("\"{new}"))));
        return (old == new).then_some(old);
    }
    let half = names.len().checked_sub(1)? / 2;
    let (old, new) = (names.get(..half)?, names.get(half..)?.strip_prefix(' ')?);
    let (old, new) = without_prefixes((old.to_owned(), new.to_owned()));
    (old == new).then_some(old)
}

/// Whether `diff --git` has these two names. Names may have spaces, so the length of the first one decides where the second
/// begins.
fn are_names(git: &str, old: &str, new: &str) -> bool {
    let lengths = match git.starts_with('"') {
        true => [quoted_length(git).unwrap_or(git.len()); 2],
        false => [old.len(), old.len() + 2],
    };
    lengths.into_iter().any(|length| {
        let halves = git.split_at_checked(length).and_then(|(first, rest)| Some((first, rest.strip_prefix(' ')?)));
        halves.is_some_and(|(first, second)| is_named(&name(first), old) && is_named(&name(second), new))
    })
}

/// Whether a header names the file: by its name, or with the prefix of one letter that Git puts before it.
fn is_named(written: &str, file: &str) -> bool {
    let without = written.strip_prefix(|c: char| c.is_ascii_lowercase()).and_then(|rest| rest.strip_prefix('/'));
    written == file || without == Some(file)
}

/// The name in a header: without a date after a tab, and without the quotes in which Git puts names with special
/// characters.
fn name(text: &str) -> String {
    let text = text.split('\t').next().unwrap_or_default().trim_end();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted).unwrap_or_else(|| text.to_owned()),
        None => text.to_owned(),
    }
}

/// A text in the quotes of Git, with escapes as in C; `None` if it is not valid.
fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            byte @ (b'"' | b'\\') => byte,
            first @ b'0'..=b'3' => {
                let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
                let (second, third) = (digit(rest.next()?)?, digit(rest.next()?)?);
                (first - b'0') * 64 + second * 8 + third
            }
            _ => return None,
        });
    }
    String::from_utf8(bytes).ok()
}
