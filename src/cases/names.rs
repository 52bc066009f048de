//! Names: is this file a case?
//!
//! In: the path of a file below its pack.
//! Out: whether it is read as a case; and of one that is not, but bears a name as if, `case/overlooked`.
//! Never: looks into the file.

use crate::diagnostic::{Code, Diagnostic};

/// What stands at the end of the names of files that an editor or a merge left behind.
const LEFT_BEHIND: [&str; 5] = ["bak", "orig", "rej", "swp", "tmp"];

/// Whether the file at this path below a pack is a case.
pub fn is_case(below: &str) -> bool {
    below.starts_with("tests/") && below.ends_with(".case")
}

/// What is to be said of a file that is no case, but looks like one.
pub fn overlooked(below: &str) -> Option<Diagnostic> {
    let file = below.rsplit('/').next().unwrap_or(below);
    let mut parts = file.split('.').skip(1);
    let is_hidden = file.starts_with('.');
    let is_left = file.ends_with('~') || file.rsplit('.').next().is_some_and(|end| LEFT_BEHIND.contains(&end));
    let looks = parts.any(|part| ["case", "cases"].iter().any(|word| part.eq_ignore_ascii_case(word)));
    if !looks || is_hidden || is_left || is_case(below) {
        return None;
    }
    let message = format!("`{below}` looks like a case, but is not read as one");
    Some(Diagnostic::new(Code::CASE_OVERLOOKED, None, message).with_help("the cases of a pack are `tests/CLAIM.case`"))
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
    }
}
