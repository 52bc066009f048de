//! Globs: does this name match that pattern?
//!
//! In: a pattern in which `*` stands for any number of bytes and `?` for one, and a name.
//! Out: yes or no.
//! Never: interprets the name.
use super::Slice;

/// Whether `name` matches `pattern`, in which `*` stands for any number of bytes and `?` for one. Takes linear time for
/// one `*`, and never more than the product of both lengths.
pub(crate) fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || Some(byte) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    p = after;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.slice(p..).iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, name: &str, expected: bool) {
        assert_eq!(glob(pattern, name), expected, "{pattern} {name}");
    }

    #[test]
    fn a_star_matches_any_run() {
        check("*", "", true);
        check("A?*", "A", false);
        check("A?*", "AB", true);
        check("A_*", "A_B", true);
        check("A_*", "B_A_", false);
        check("*/*.*", "src/a.ts", true);
        check("*/*.*", "a.ts", false);
        check("*.md", "a.md.txt", false);
    }
}
