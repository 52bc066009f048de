//! Paths: is this key a safe path below a root?
//!
//! In: a key, as the response writes it.
//! Out: why it is not safe, or `None`.
//! Never: accesses a disk.

use super::Slice;
use super::is_bidi_control;
use std::borrow::Cow;

/// Names that some systems reserve for devices, in any case and with any extension.
const RESERVED: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Reserved names that are followed by a digit.
const NUMBERED: &[&str] = &["com", "lpt"];

/// The folder in which Git keeps hooks and settings that it executes, and its short name on Windows.
const REPOSITORY: &[&str] = &[".git", "git~1"];

/// Why the key of a file is not a safe path below a root on every system; `None` if it is safe. The keys in an outcome
/// are safe: this is for hosts that take keys from elsewhere, or remember them.
pub fn unsafe_because(key: &str) -> Option<&'static str> {
    if key.trim().is_empty() {
        return Some("it is empty");
    }
    if key.len() > 1024 {
        return Some("it is longer than 1024 bytes");
    }
    // Fast path: most keys are ASCII, whose bytes need no decoding.
    let is_control = |c: char| c.is_control() || is_bidi_control(c);
    let bytes = key.as_bytes();
    if if key.is_ascii() { bytes.iter().any(u8::is_ascii_control) } else { key.chars().any(is_control) } {
        return Some("it contains a control character");
    }
    if matches!(bytes.first(), Some(b'/' | b'\\')) {
        return Some("it is absolute");
    }
    if bytes.iter().any(|byte| matches!(byte, b'\\' | b':' | b'*' | b'?' | b'"' | b'<' | b'>' | b'|')) {
        return Some("not every system allows `\\ : * ? \" < > |` in a path");
    }
    key.split('/').find_map(|part| {
        if part.is_empty() {
            Some("it has an empty part")
        } else if part.bytes().all(|byte| byte == b'.') {
            Some("it has a part of dots alone")
        } else if matches!(part.as_bytes().last(), Some(b'.' | b' ')) {
            Some("a part of it ends in a dot or a space")
        } else if part.len() > 255 {
            Some("a part of it is longer than 255 bytes")
        } else if is_device(part.split('.').next().unwrap_or_default().trim_end()) {
            Some("a part of it is the name of a device")
        } else if REPOSITORY.iter().any(|name| is_read_as(part, name)) {
            Some("a part of it is where a repository keeps its own files")
        } else {
            None
        }
    })
}

/// Whether some system treats a file with this name, without its extension, as a device.
fn is_device(stem: &str) -> bool {
    let is_number = |rest: &str| rest.chars().count() == 1 && rest.chars().all(|c| "0123456789¹²³".contains(c));
    let numbered =
        stem.split_at_checked(3).filter(|(name, _)| NUMBERED.iter().any(|one| one.eq_ignore_ascii_case(name)));
    RESERVED.iter().any(|name| name.eq_ignore_ascii_case(stem)) || numbered.is_some_and(|(_, rest)| is_number(rest))
}

/// The path in its portable form: `./a` is `a`, and `a\b` is `a/b`, because no file that every system can store has a
/// backslash in its name.
pub(crate) fn portable(path: &str) -> Cow<'_, str> {
    let path = match path.contains('\\') {
        true => Cow::Owned(path.replace('\\', "/")),
        false => Cow::Borrowed(path),
    };
    match path {
        Cow::Borrowed(path) => Cow::Borrowed(without_dots(path)),
        Cow::Owned(path) => Cow::Owned(without_dots(&path).to_owned()),
    }
}

/// The path without each `./` at its start.
fn without_dots(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

/// The path relative to one of the folders in `roots`, each of which ends in a slash, if it is below one of them; in
/// its portable form. The result is below none of them, so that it is read as itself.
pub(crate) fn below<'p>(roots: &[String], path: &'p str) -> Cow<'p, str> {
    let mut path = portable(path);
    while let Some(root) = roots.iter().find(|root| !root.is_empty() && path.starts_with(root.as_str())) {
        path = match path {
            Cow::Borrowed(path) => portable(path.slice(root.len()..)),
            Cow::Owned(path) => Cow::Owned(portable(path.slice(root.len()..)).into_owned()),
        };
    }
    path
}

/// Whether some system treats `part` as `name`: HFS+ ignores a few invisible characters, and most systems ignore the
/// case.
fn is_read_as(part: &str, name: &str) -> bool {
    let is_ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let read = part.chars().filter(|c| !is_ignored(c)).map(|c| c.to_ascii_lowercase());
    read.eq(name.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_alike_on_every_system() {
        assert_eq!(portable("./src/a b.ts"), "src/a b.ts");
        assert_eq!(portable(".\\src\\a.ts"), "src/a.ts");
        assert_eq!(portable(".github/x"), ".github/x");
    }

    #[test]
    fn keys_that_could_leave_a_root_are_refused() {
        for key in [
            "", " ", "/a", "\\a", "a/../b", "..", "...", "C:a", "\\\\x\\y", "a\0", "a\n", "a.", "a /b", "NUL.txt",
            "nul .txt", "a\u{202e}gpj.exe", "com1", "a//b", ".git/hooks/x", "a/.GIT/x", ".g\u{200c}it/x",
            "a/\u{feff}.Git/x",
        ] {
            assert!(unsafe_because(key).is_some(), "{key:?}");
        }
        for key in [
            "a",
            "src/a b.ts",
            "A0. Master List.md",
            "a&b (1).md",
            "com/x",
            "console.log",
            ".env",
            ".github/x",
            "👩\u{200d}💻.md",
        ] {
            assert_eq!(unsafe_because(key), None, "{key:?}");
        }
    }
}
