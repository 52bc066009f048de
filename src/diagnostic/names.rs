//! Nearest names: which declared name was probably meant?
//!
//! In: a name as typed and the names that exist.
//! Out: the nearest one, or a sentence of help.
//! Never: corrects anything by itself.

/// The declared name nearest to `typed`, if one is near enough to be meant.
pub fn nearest<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = typed.to_lowercase();
    declared
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&folded, &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0).then_with(|| other.1.cmp(one.1)))
        .map(|(_, name)| name)
}

/// Help for a name that does not exist: the nearest declared name, else at most five that are declared.
pub fn alternatives<'n>(typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = declared.into_iter().collect();
    if let Some(name) = nearest(typed, names.iter().copied()) {
        return Some(format!("did you mean `{name}`?"));
    }
    if names.is_empty() {
        return None;
    }
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    let more = names.len() - shown.len();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("there is {}{rest}", shown.join(", ")))
}
