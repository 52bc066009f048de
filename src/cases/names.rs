//! Names: is this file a case?
//!
//! In: the path of a file below its pack, and its text if the name is not enough.
//! Out: whether it is read as a case; `case/overlooked` for a file that is not, but has a similar name or text.
//! Never: opens the file.

use crate::diagnostic::{Code, Diagnostic};

/// Extensions of files that an editor or a merge left behind.
const LEFT_BEHIND: [&str; 5] = ["bak", "orig", "rej", "swp", "tmp"];

/// Whether the file at this path below a pack is a case.
pub fn is_case(below: &str) -> bool {
    below.starts_with("tests/") && below.ends_with(".case")
}

/// The diagnostic for a file that looks like a case but is not read as one.
pub fn overlooked(below: &str) -> Option<Diagnostic> {
    let message = format!("`{below}` looks like a case, but is not read as one");
    (looks(below) && !is_case(below)).then(|| Diagnostic::new(Code::CASE_OVERLOOKED, None, message).with_help(HELP))
}

/// Whether a file in the folder of cases may be a case with a wrong extension, which only its text can tell.
pub fn may_be_case(below: &str) -> bool {
    below.starts_with("tests/") && [".toml", ".txt", ".md"].iter().any(|end| below.ends_with(end)) && !looks(below)
}

/// Whether a text is written like a case: several of its lines mark a response or an expectation.
pub fn is_written_like_case(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| [b"=== response ===".as_slice(), b"=== expect ==="].contains(line)).count() > 1
}

/// The diagnostics for such files, each with the path of the file or of the first. Several in one folder that is not
/// for cases are reported once.
pub fn overlooked_files(below: &[String]) -> Vec<(String, Diagnostic)> {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let mut found = Vec::new();
    let mut reported = Vec::new();
    for path in below {
        let own = folder(path);
        // In a folder for cases, each file has a wrong name of its own; elsewhere, the folder is wrong.
        let beside = below.iter().filter(|other| folder(other) == own).count();
        if beside < 2 || is_case(&format!("{own}/a.case")) {
            let message = format!("`{path}` looks like a case, but is not read as one");
            found.push((path.clone(), Diagnostic::new(Code::CASE_OVERLOOKED, None, message).with_help(rename(path))));
        } else if !reported.contains(&own) {
            let place = if own.is_empty() { "the folder of the pack".to_owned() } else { format!("`{own}`") };
            let message = format!("{place} holds {beside} files that look like cases, but none is read as one");
            found.push((path.clone(), Diagnostic::new(Code::CASE_OVERLOOKED, None, message).with_help(HELP)));
            reported.push(own);
        }
    }
    found
}

/// The diagnostic for a folder with the name of a case.
pub fn overlooked_folder(below: &str) -> Option<Diagnostic> {
    let message = format!("`{below}` is a folder, and a case is a file");
    looks(below).then(|| Diagnostic::new(Code::CASE_OVERLOOKED, None, message).with_help(HELP))
}

/// Advice on how the file at this path becomes a case.
fn rename(path: &str) -> String {
    let stem = path.strip_prefix("tests/").and_then(|name| name.split('.').next()).filter(|stem| !stem.is_empty());
    stem.map_or(HELP.to_owned(), |stem| format!("{HELP}: call it `tests/{stem}.case`"))
}

const HELP: &str = "the cases of a pack are `tests/CLAIM.case`";

/// Whether the name at the end of this path looks like that of a case.
fn looks(below: &str) -> bool {
    let file = below.rsplit('/').next().unwrap_or(below);
    let mut parts = file.split('.').skip(1);
    let is_hidden = file.starts_with('.');
    let is_left = file.ends_with('~') || file.rsplit('.').next().is_some_and(|end| LEFT_BEHIND.contains(&end));
    let looks = parts.any(|part| ["case", "cases"].iter().any(|word| part.eq_ignore_ascii_case(word)));
    looks && !is_hidden && !is_left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_meant_for_a_case_is_pointed_at() {
        for name in ["tests/a.cases", "tests/a.case.txt", "tests/a.CASE", "tests/b/a.Case", "test/a.case", "a.case"] {
            assert!(overlooked(name).is_some(), "{name}");
        }
        for name in
            ["tests/a.case", "tests/a.case~", "tests/a.case.orig", "tests/.a.case.swp", "tests/case.md", "a.tsx"]
        {
            assert!(overlooked(name).is_none(), "{name}");
        }
        assert!(overlooked_folder("tests/a.case").is_some());
        assert!(overlooked_folder("tests/case").is_none());
    }
}
