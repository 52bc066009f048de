//! Nearest names: which declared name was probably meant?
//!
//! In: a name as typed, and the names that exist.
//! Out: the nearest name, or a sentence of help.
//! Never: replaces a name.

use super::lookalikes;
use super::name_list::{NameList, bit};
use std::collections::HashSet;

/// The declared name nearest to `typed`, if it is similar enough. A common prefix alone is not enough.
pub fn nearest<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = typed.to_lowercase();
    let alike = declared.into_iter().filter_map(|name| Some((likeness(&folded, name)?, name)));
    alike.max_by(|one, other| one.0.total_cmp(&other.0).then_with(|| other.1.cmp(one.1))).map(|(_, name)| name)
}

/// How similar a name is to one that was typed, in lower case; none if it is not similar enough.
pub(super) fn likeness(folded: &str, name: &str) -> Option<f64> {
    let lower = name.to_lowercase();
    // Two swapped letters are the most frequent typing mistake, and the only one accepted for short names.
    if is_swapped(folded, &lower) {
        return Some(SWAPPED);
    }
    if !may_be_alike(folded, &lower) {
        return None;
    }
    let score = Some(strsim::jaro_winkler(folded, &lower)).filter(|score| *score > ENOUGH)?;
    // Counting edits takes longer than the comparison above, and few names pass that.
    let length = folded.chars().count().max(lower.chars().count());
    let near = lower.starts_with(folded) || 2 * strsim::osa_distance(folded, &lower) <= length;
    near.then_some(score)
}

/// Two names count as similar only if their similarity is above this.
pub(super) const ENOUGH: f64 = 0.8;
/// The most letters at the start of two names that count again if they are equal.
pub(super) const MAX_COMMON_START: usize = 4;

/// The most that [`strsim::jaro_winkler`] can return for two names of these lengths that share this many letters,
/// `first` of them at the start of both.
pub(super) fn most_alike(shared: usize, one: usize, other: usize, first: usize) -> f64 {
    let (shared, first) = (shared as f64, first as f64);
    let most = (shared / one as f64 + shared / other as f64 + 1.0) / 3.0;
    most + 0.1 * first * (1.0 - most)
}

/// Words that authors know from other systems, and the words of a pack for the same thing.
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

/// The one of `words` that has the meaning which `typed` has in other systems, if any.
pub(crate) fn meant(typed: &str, words: &[&str]) -> Option<&'static str> {
    let folded = typed.to_lowercase();
    let (_, word) = OTHERWISE.iter().find(|(other, word)| *other == folded && words.contains(word))?;
    Some(word)
}

/// More than rounding can change a similarity by.
pub(super) const MARGIN: f64 = 1e-9;

/// The similarity of two names that differ by two swapped letters: higher than that of most pairs, and lower than that
/// of names that differ only in case.
const SWAPPED: f64 = 0.98;

/// Whether two names differ only by two adjacent letters that are swapped.
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

/// The letters and the length of a name, which rule out most names that it cannot be a typing mistake for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letters {
    letters: u64,
    length: usize,
}

impl Letters {
    pub(crate) fn of(name: &str) -> Self {
        Self::of_all(name.chars())
    }

    fn of_all(letters: impl Iterator<Item = char>) -> Self {
        letters.fold(Self { letters: 0, length: 0 }, |all, letter| Self {
            letters: all.letters | bit(letter),
            length: all.length + 1,
        })
    }

    /// Whether [`is_slip`] may be true for names with these letters: an edit changes two letters at most.
    pub(crate) fn may_be_slip(&self, other: &Self) -> bool {
        let most = if self.length < 8 { 1 } else { 2 };
        self.length.abs_diff(other.length) <= most && (self.letters ^ other.letters).count_ones() as usize <= 2 * most
    }
}

/// Whether one name may have been written for the other: they differ by a typing mistake, or in how words are joined,
/// as `maxResults` and `max_results` do.
pub(crate) fn is_misspelt(one: &str, other: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    // Fast path: most pairs share too few letters, which needs no copy of either.
    if !Letters::of_all(letters(one)).may_be_slip(&Letters::of_all(letters(other))) {
        return false;
    }
    let (one, other): (String, String) = (letters(one).collect(), letters(other).collect());
    // Names of two or three letters differ from each other on purpose.
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
    let shared = other.chars().filter(take).count();
    let first = one.chars().zip(other.chars()).take(MAX_COMMON_START).take_while(|(one, other)| one == other).count();
    most_alike(shared, one.chars().count(), other.chars().count(), first) > ENOUGH
}

/// The most characters of a list of names: more than a line is not read.
const MAX_LIST_CHARACTERS: usize = 100;

/// Help for an unknown name: the nearest declared name, or else as many declared names as a line has room for.
pub fn alternatives<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Option<String> {
    suggestion(typed, declared).1
}

/// The nearest declared name if there is one, and help as from [`alternatives`]. If two names look the same, the help
/// points at the character that differs.
pub(super) fn advice<'n>(
    typed: &str,
    declared: impl IntoIterator<Item = &'n str>,
) -> (Option<&'n str>, Option<String>) {
    let (nearest, help) = suggestion(typed, declared);
    (nearest, help.map(|help| pointed(typed, nearest, help)))
}

/// Like [`advice`], but only the help, for an indexed list of names.
pub(super) fn advice_of(typed: &str, declared: &NameList) -> Option<String> {
    let nearest = declared.nearest(typed);
    suggested(nearest, declared.iter()).map(|help| pointed(typed, nearest, help))
}

/// The help; if the two names look the same, with the character that differs.
fn pointed(typed: &str, nearest: Option<&str>, help: String) -> String {
    let odd = nearest.filter(|near| lookalikes::look_alike(typed, near)).and_then(|near| {
        lookalikes::odd(typed).or_else(|| lookalikes::odd(near)).or_else(|| lookalikes::foreign(typed))
    });
    odd.map_or(help.clone(), |odd| format!("{help} {odd}"))
}

fn suggestion<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> (Option<&'n str>, Option<String>) {
    let mut seen = HashSet::new();
    let names: Vec<&str> = declared.into_iter().filter(|name| seen.insert(*name)).collect();
    let nearest = nearest(typed, names.iter().copied());
    (nearest, suggested(nearest, names.iter().copied()))
}

/// Help with the nearest of some names, or else with as many of them as a line has room for.
fn suggested<'n>(nearest: Option<&str>, names: impl Iterator<Item = &'n str> + Clone) -> Option<String> {
    if let Some(name) = nearest {
        return Some(format!("did you mean `{name}`?"));
    }
    let mut length = 0;
    let is_within = |name: &&str| {
        length += name.chars().count() + 4;
        length <= MAX_LIST_CHARACTERS
    };
    let quoted = |name: &str| format!("`{name}`");
    let mut listed: Vec<String> = names.clone().take_while(is_within).map(quoted).collect();
    if listed.is_empty() {
        listed.push(names.clone().next().map(quoted)?);
    }
    let more = names.count() - listed.len();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("there is {}{rest}", listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Names of a few letters, many of which are similar.
    fn names() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab]{0,5}",
            "[a-cé_]{0,9}",
            "step_[0-9]{1,4}",
            "(get|set|list)_(page|pages|user)(_[ab])?",
            "[A-Ca-c]{3,6}"
        ]
    }

    proptest! {
        #[test]
        fn a_list_finds_the_name_that_comparing_all_of_them_finds(
            declared in prop::collection::vec(names(), 0..40),
            typed in names(),
        ) {
            let list: NameList = declared.iter().map(|name| Arc::from(name.as_str())).collect();
            let all = || declared.iter().map(String::as_str);
            prop_assert_eq!(list.nearest(&typed), nearest(&typed, all()));
            prop_assert_eq!(advice_of(&typed, &list), advice(&typed, all()).1);
        }

        #[test]
        fn the_letters_of_two_names_never_exclude_a_misspelling(one in names(), other in names()) {
            prop_assert!(Letters::of(&one).may_be_slip(&Letters::of(&other)) || !is_slip(&one, &other));
        }

        #[test]
        fn names_that_are_not_compared_are_not_alike(one in "[a-cé_]{1,8}", other in "[a-cé_]{1,8}") {
            prop_assert!(may_be_alike(&one, &other) || strsim::jaro_winkler(&one, &other) <= 0.8);
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
