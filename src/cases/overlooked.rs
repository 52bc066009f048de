//! Overlooked: which files look like cases, but are not read as cases?
//!
//! In: the paths in the folder of a pack.
//! Out: `case/overlooked` for each file or folder with such a name, or for a folder of several.
//! Never: opens a file.

use crate::diagnostic::{Code, Diagnostic};
use crate::surface::Folder;
use crate::text::Sources;

/// Extensions of files that an editor or a merge left behind.
const LEFT_BEHIND: [&str; 5] = ["bak", "orig", "rej", "swp", "tmp"];

/// The folder in which the cases of a pack are.
const TESTS: &str = "tests/";

/// The findings about files and folders that look like cases but are not read as cases. Several files in one folder
/// that is not for cases are reported once. The files are added to `sources`, with empty texts.
pub fn overlooked_cases(folder: &Folder, sources: &mut Sources) -> Vec<Diagnostic> {
    let named = folder.files.keys().filter(|path| names_a_case(path) && !is_case(path));
    let unread = folder.unread.iter().filter(|path| names_a_case(path) || is_meant(path));
    let paths: Vec<&str> = named.chain(unread).map(String::as_str).collect();
    let mut found = Vec::new();
    let mut reported = Vec::new();
    for path in &paths {
        let own = parent(path);
        // In a folder for cases, each file has a wrong name of its own; elsewhere, the folder is wrong.
        let beside = paths.iter().filter(|other| !other.ends_with('/') && parent(other) == own).count();
        let (message, help) = if let Some(path) = path.strip_suffix('/') {
            (format!("`{path}` is a folder, and a case is a file"), HELP.to_owned())
        } else if beside < 2 || format!("{own}/").starts_with(TESTS) {
            (format!("`{path}` looks like a case, but is not read as one"), rename(path))
        } else if !reported.contains(&own) {
            reported.push(own);
            let place = if own.is_empty() { "the folder of the pack".to_owned() } else { format!("`{own}`") };
            (format!("{place} holds {beside} files that look like cases, but none is read as one"), HELP.to_owned())
        } else {
            continue;
        };
        let at = folder.place_unread(path, sources);
        found.push(Diagnostic::new(Code::CASE_OVERLOOKED, at, message).with_help(help));
    }
    found
}

/// Whether the file at this path below a pack is a case.
fn is_case(below: &str) -> bool {
    below.starts_with(TESTS) && below.ends_with(".case")
}

/// Whether the file is among the tests: if it is listed as unread, it is named or written like a case.
fn is_meant(below: &str) -> bool {
    below.starts_with(TESTS) && !below.ends_with('/') && !is_left_behind(below)
}

/// The path of the folder of a file, below the pack.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Advice on how the file at this path becomes a case.
fn rename(path: &str) -> String {
    let stem = path.strip_prefix(TESTS).and_then(|name| name.split('.').next()).filter(|stem| !stem.is_empty());
    stem.map_or(HELP.to_owned(), |stem| format!("{HELP}: call it `tests/{stem}.case`"))
}

const HELP: &str = "the cases of a pack are `tests/CLAIM.case`";

/// Whether the name at the end of this path looks like that of a case.
fn names_a_case(below: &str) -> bool {
    let file = below.trim_end_matches('/').rsplit('/').next().unwrap_or(below);
    let mut parts = file.split('.').skip(1);
    let is_named = parts.any(|part| ["case", "cases"].iter().any(|word| part.eq_ignore_ascii_case(word)));
    is_named && !is_left_behind(file)
}

/// Whether the file is hidden, or an editor or a merge left it behind.
fn is_left_behind(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.starts_with('.')
        || file.ends_with('~')
        || file.rsplit('.').next().is_some_and(|end| LEFT_BEHIND.contains(&end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages about these files, of which none is read.
    fn found(unread: &[&str]) -> Vec<String> {
        let folder = Folder { unread: unread.iter().map(|path| (*path).to_owned()).collect(), ..Folder::default() };
        let found = overlooked_cases(&folder, &mut Sources::default());
        found.iter().map(|finding| finding.message.to_string()).collect()
    }

    #[test]
    fn only_files_that_look_like_cases_are_reported() {
        for name in [
            "tests/a.cases", "tests/a.case.txt", "tests/a.CASE", "tests/b/a.Case", "test/a.case", "a.case", "tests/a",
            "tests/a.yaml",
        ] {
            assert_eq!(found(&[name]), [format!("`{name}` looks like a case, but is not read as one")]);
        }
        for name in [
            "a.case~", "a.case.orig", ".a.case.swp", "case.md", "a.tsx", "b/case/", "tests/b/", "tests/a.case.orig",
            "tests/.a.swp",
        ] {
            assert!(found(&[name]).is_empty(), "{name}");
        }
        assert_eq!(found(&["tests/a.case/"]), ["`tests/a.case` is a folder, and a case is a file"]);
        assert_eq!(
            found(&["test/a.case", "test/b.case"]),
            ["`test` holds 2 files that look like cases, but none is read as one"]
        );
        let is_read = Folder::new("p", [("tests/a.case", "")]);
        assert!(overlooked_cases(&is_read, &mut Sources::default()).is_empty());
    }
}
