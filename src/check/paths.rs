//! Paths: can the key of an effect be a path below a root?
//!
//! In: the effects of a program that change files.
//! Out: a finding for each effect whose key goes out of the root, whatever its templates render to.
//! Never: guesses what a template renders to, or checks whether a file exists.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Program, Verb};
use crate::text::excerpt;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for (_, effect) in program.effects() {
        let files = effect.verb.as_ref().map(Verb::files).unwrap_or_default().into_iter();
        let mut outside = files.filter_map(|(verb, key)| Some((verb, key, why_outside(key.source())?)));
        let Some((verb, key, why)) = outside.next() else { continue };
        let message =
            format!("this effect would `{verb}` outside of every root: `{}` {why}", excerpt(key.source(), 60));
        let help = "write a path below the root, such as `notes/today.md`; the host decides which folder the root is";
        // Only a warning: a host may store the text somewhere other than in files.
        found.push(Diagnostic::new(Code::PACK_EFFECT, key.at(), message).with_help(help).into_warning());
    }
}

/// What is wrong with a path, judged by the text before its first template.
fn why_outside(path: &str) -> Option<&'static str> {
    let words = path.split(['{', '\n']).next().unwrap_or_default();
    let mut letters = words.chars();
    let drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.next() == Some(':');
    let drive = drive && letters.next().is_some_and(|sign| matches!(sign, '/' | '\\'));
    if words.starts_with(['/', '\\']) || drive {
        return Some("is absolute");
    }
    let whole = words.len() == path.len();
    let mut parts: Vec<&str> = words.split(['/', '\\']).collect();
    // A template may continue the last segment.
    if !whole {
        parts.pop();
    }
    parts.contains(&"..").then_some("leaves the folder by `..`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(why_outside(path), expected, "{path}");
    }

    #[test]
    fn paths_that_certainly_leave_the_root_are_recognised() {
        for path in ["/etc/x", "/{{ key }}", "\\\\server\\x", "C:\\x", "c:/x"] {
            check(path, Some("is absolute"));
        }
        for path in ["..", "../x", "a/../x", "../{{ key }}", "a\\..\\x"] {
            check(path, Some("leaves the folder by `..`"));
        }
        for path in ["", "a/b.md", "{{ key }}", "..{{ key }}", "a..b/c", "{{ a }}/../x", "kv:x", "a/...", "x:1"] {
            check(path, None);
        }
    }
}
