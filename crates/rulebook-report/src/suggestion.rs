//! Suggestion: what may the author of a case have meant?
//!
//! In: an expectation that failed.
//! Out: help: the nearest word that exists, or the path that has the expected value.
//! Never: suggests anything if the expected value is possible.

use rulebook::Value;
use rulebook::cases::CaseFailure;
use rulebook::diagnostic::{alternatives, nearest, page, pages};
use rulebook::outcome::{Effect, Status, Verdict};

/// The words that exist in place of an expected one that does not.
pub(super) fn meant(failure: &CaseFailure) -> Option<String> {
    if let Some(meant) = &failure.meant {
        return Some(format!("did you mean `{meant}`?"));
    }
    if !failure.beside.is_empty() {
        return alternatives("", failure.beside.iter().map(String::as_str));
    }
    if failure.got.as_ref().is_some_and(Value::is_array) && !failure.expected.is_array() {
        return Some("it is a list: put it in brackets".to_owned());
    }
    let words = match &failure.expected {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut words = words.iter().filter_map(Value::as_str);
    let mut word_of = |all: &[&str]| alternatives(words.find(|word| !all.contains(word))?, all.iter().copied());
    match failure.path.split('[').next()? {
        "status" => word_of(&Status::ALL.map(Status::name)),
        "mode" => Some("this is the mode that it was judged in; where it leads is `session = { mode = … }`".to_owned()),
        "codes" | "remarks" => {
            let word = words.find(|word| page(word).is_none())?;
            // The author may have left out the area before the name, such as `response/`.
            let whole = |code: &&str| code.split_once('/').is_some_and(|(_, name)| name == word);
            let codes = || pages().iter().map(|page| page.code);
            let code =
                codes().filter(|code| code.starts_with("response/")).find(whole).or_else(|| nearest(word, codes()));
            code.map(|code| format!("did you mean `{code}`?"))
        }
        "calls" if failure.path.ends_with(".verdict") => {
            word_of(&[Verdict::Accepted, Verdict::Dropped, Verdict::Pending].map(Verdict::name))
        }
        "effects" if failure.path.ends_with(".kind") => word_of(&Effect::KINDS),
        _ => None,
    }
}
