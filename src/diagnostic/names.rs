//! Nearest names: which declared name was probably meant?
//!
//! In: a name as typed, and the names that exist.
//! Out: the nearest one, or a sentence that helps.
//! Never: corrects a name by itself.

use super::lookalikes;
use std::collections::HashSet;

/// The declared name nearest to `typed`, if it is near enough. A common beginning alone is not enough.
pub fn nearest<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = typed.to_lowercase();
    let score = |name: &'n str| {
        let lower = name.to_lowercase();
        // Two letters the wrong way round are the commonest slip, and the most that short names can bear.
        if is_swapped(&folded, &lower) {
            return Some((SWAPPED, name));
        }
        if !may_be_alike(&folded, &lower) {
            return None;
        }
        let score = Some(strsim::jaro_winkler(&folded, &lower)).filter(|score| *score > 0.8)?;
        // Counting edits takes longer than comparing, and few names come so far.
        let length = folded.chars().count().max(lower.chars().count());
        let near = lower.starts_with(&folded) || 2 * strsim::osa_distance(&folded, &lower) <= length;
        near.then_some((score, name))
    };
    declared
        .into_iter()
        .filter_map(score)
        .max_by(|one, other| one.0.total_cmp(&other.0).then_with(|| other.1.cmp(one.1)))
        .map(|(_, name)| name)
}

/// Words that authors know from elsewhere, and the words of a pack for the same thing.
const OTHERWISE: &[(&str, &str)] = &[
    ("action", "call"),
    ("tool", "call"),
    ("tool_call", "call"),
    ("function", "call"),
    ("text", "message"),
    ("reply", "message"),
    ("answer", "message"),
    ("reasoning", "thinking"),
    ("thought", "thinking"),
    ("thoughts", "thinking"),
    ("file", "content"),
    ("document", "content"),
    ("speaker", "utterance"),
    ("speech", "utterance"),
    ("container", "wrapper"),
    ("developer", "system"),
    ("model", "assistant"),
    ("human", "user"),
    ("turns", "history"),
    ("assistant", "message"),
    ("output", "message"),
    ("float", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("dict", "object"),
    ("map", "object"),
    ("list", "array"),
    ("say", "ask"),
    ("says", "ask"),
    ("end", "final"),
    ("last", "final"),
    ("terminal", "final"),
    ("xml", "tags"),
    ("html", "tags"),
    ("xml", "markup"),
    ("markdown", "headers"),
    ("block", "refuse"),
    ("reject", "refuse"),
    ("deny", "refuse"),
    ("exception", "refuse"),
    ("fail", "refuse"),
    ("retry", "ask-again"),
    ("reask", "ask-again"),
    ("re-ask", "ask-again"),
    ("fix", "repair"),
    ("fix", "coerce"),
    ("remove", "drop"),
    ("filter", "drop"),
    ("ignore", "drop"),
    ("skip", "drop"),
    ("noop", "keep"),
    ("allow", "keep"),
    ("mask", "redact"),
    ("critical", "error"),
    ("fatal", "error"),
    ("high", "error"),
    ("warn", "warning"),
    ("medium", "warning"),
    ("note", "info"),
    ("low", "info"),
    ("notice", "info"),
    ("application", "host"),
    ("when", "gate"),
    ("condition", "gate"),
    ("condition", "when"),
    ("if", "when"),
    ("pattern", "matches"),
    ("regex", "matches"),
    ("description", "about"),
    ("parameters", "params"),
    ("arguments", "params"),
    ("args", "params"),
    ("allow", "permits"),
    ("allows", "permits"),
    ("actions", "permits"),
    ("deny", "denies"),
    ("forbid", "denies"),
    ("forbids", "denies"),
    ("disallow", "denies"),
    ("blocked", "denies"),
    ("name", "action"),
    ("tool", "action"),
    ("transitions", "exits"),
    ("max", "most"),
    ("limit", "most"),
    ("file", "text"),
    ("path", "text"),
    ("modes", "in"),
    ("text", "says"),
    ("order", "layers"),
    ("max_tokens", "budget"),
    ("context_window", "context"),
];

/// The one of `words` that means what `typed` means elsewhere, if any.
pub(crate) fn meant(typed: &str, words: &[&str]) -> Option<&'static str> {
    let folded = typed.to_lowercase();
    let (_, word) = OTHERWISE.iter().find(|(other, word)| *other == folded && words.contains(word))?;
    Some(word)
}

/// The similarity of two names that differ by two swapped letters: higher than that of most pairs, lower than that of
/// names that differ only in case.
const SWAPPED: f64 = 0.98;

/// Whether two names differ only by two neighbouring letters that are swapped.
fn is_swapped(one: &str, other: &str) -> bool {
    let differing = one.chars().zip(other.chars()).enumerate().filter(|(_, (one, other))| one != other);
    let differing: Vec<(usize, (char, char))> = differing.take(3).collect();
    let same = one.chars().count() == other.chars().count();
    matches!(differing.as_slice(), [(at, (a, b)), (next, (c, d))] if same && at + 1 == *next && a == d && b == c)
}

/// Whether one name may be a typing mistake for the other: they differ by one edit, or by two if they have 8 letters or
/// more. Two swapped letters count as one edit.
pub(crate) fn is_slip(one: &str, other: &str) -> bool {
    let most = if one.chars().count() < 8 { 1 } else { 2 };
    strsim::osa_distance(one, other) <= most
}

/// Whether one name of a value may be written for the other: it differs by a typing mistake, or in how its words are joined,
/// as `maxResults` and `max_results` do.
pub(crate) fn is_misspelt(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let (one, other): (String, String) = (letters(one), letters(other));
    // One of two or three letters is a name of its own.
    let is_long = one.chars().count().min(other.chars().count()) > 3;
    one == other || is_long && is_slip(&one, &other)
}

/// Whether two names share enough letters for [`strsim::jaro_winkler`] to return more than 0.8. Most names do not, and
/// need not be compared.
fn may_be_alike(one: &str, other: &str) -> bool {
    let mut letters = [0_u32; 64];
    one.chars().for_each(|letter| letters.get_mut(letter as usize % 64).into_iter().for_each(|count| *count += 1));
    let take = |letter: &char| {
        let count = letters.get_mut(*letter as usize % 64).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    let shared = other.chars().filter(take).count() as f64;
    let most = (shared / one.chars().count() as f64 + shared / other.chars().count() as f64 + 1.0) / 3.0;
    let first = one.chars().zip(other.chars()).take(4).take_while(|(one, other)| one == other).count() as f64;
    most + 0.1 * first * (1.0 - most) > 0.8
}

/// The most characters of a list of names: what is more than a line is not read.
const LINE: usize = 100;

/// Help for a name that does not exist: the nearest declared name, or else as many declared names as make a line.
pub fn alternatives<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Option<String> {
    suggestion(typed, declared).1
}

/// The nearest declared name if there is one, and help as from [`alternatives`]. Two names that look the same differ by a
/// character that the help points at.
pub(super) fn advice<'n>(
    typed: &str,
    declared: impl IntoIterator<Item = &'n str>,
) -> (Option<&'n str>, Option<String>) {
    let (nearest, help) = suggestion(typed, declared);
    let odd = nearest.filter(|near| lookalikes::look_alike(typed, near)).and_then(|near| {
        lookalikes::odd(typed).or_else(|| lookalikes::odd(near)).or_else(|| lookalikes::foreign(typed))
    });
    (nearest, help.map(|help| odd.map_or(help.clone(), |odd| format!("{help} {odd}"))))
}

fn suggestion<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> (Option<&'n str>, Option<String>) {
    let mut seen = HashSet::new();
    let names: Vec<&str> = declared.into_iter().filter(|name| seen.insert(*name)).collect();
    if let Some(name) = nearest(typed, names.iter().copied()) {
        return (Some(name), Some(format!("did you mean `{name}`?")));
    }
    if names.is_empty() {
        return (None, None);
    }
    let mut length = 0;
    let is_within = |name: &&&str| {
        length += name.chars().count() + 4;
        length <= LINE
    };
    let shown: Vec<String> = names.iter().take_while(is_within).map(|name| format!("`{name}`")).collect();
    let shown = if shown.is_empty() { names.iter().take(1).map(|name| format!("`{name}`")).collect() } else { shown };
    let more = names.len() - shown.len();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    (None, Some(format!("there is {}{rest}", shown.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn names_that_are_not_compared_are_not_alike(one in "[a-cé_]{1,8}", other in "[a-cé_]{1,8}") {
            proptest::prop_assert!(may_be_alike(&one, &other) || strsim::jaro_winkler(&one, &other) <= 0.8);
        }
    }

    #[track_caller]
    fn check(typed: &str, declared: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(typed, declared.iter().copied()), expected, "{typed}");
    }

    #[test]
    fn only_what_may_be_meant_is_near() {
        check("open_windw", &["open_wide", "open_window"], Some("open_window"));
        check("int", &["string", "integer"], Some("integer"));
        check("CREATE_PAGE", &["create_page"], Some("create_page"));
        check("PREFIX_X", &["PREFIX_FETCH_ROW", "PREFIX_SUBMIT_ALL_FORMS"], None);
        check("noted", &["drop"], None);
        check("lte", &["set", "let"], Some("let"));
        check("form", &["format", "from"], Some("from"));
        check("ab", &["cd"], None);
    }
}
