//! Inputs: what do these words of a user mean?
//!
//! In: the words, and the mode in which they were said.
//! Out: [`Words`]: their class, and what its pattern captured.
//! Never: lets a rule follow, or guesses: the first input that matches counts.

use crate::program::{Input, ModeId, Program, Spelled};
use serde_json::{Map, Value};

/// What some words of a user mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Words {
    /// The number of the input.
    pub(crate) input: usize,
    /// The number of its class.
    pub(crate) class: usize,
    pub(crate) captures: Map<String, Value>,
}

/// The class of the words, if any input of the mode has one for them.
pub(crate) fn classify(program: &Program, mode: &str, text: &str) -> Option<Words> {
    let mode = program.modes.get_index_of(mode).map(ModeId);
    let tried = |input: &Input| input.modes.is_empty() || mode.is_some_and(|mode| input.modes.contains(&mode));
    program.flows.inputs.iter().enumerate().filter(|(_, input)| tried(input)).find_map(|(number, input)| {
        let captures = captures(input, text)?;
        Some(Words { input: number, class: input.class, captures })
    })
}

/// What the match that starts first captures; none where no pattern matches, or one of `unless` does.
fn captures(input: &Input, text: &str) -> Option<Map<String, Value>> {
    let found = input.matches.iter().filter_map(|spelled| Some((spelled.pattern.find(text)?.start(), spelled)));
    let first = found.min_by_key(|(start, _)| *start);
    if first.is_none() && !input.matches.is_empty() {
        return None;
    }
    if input.unless.iter().any(|pattern| pattern.find(text).is_some()) {
        return None;
    }
    Some(first.map(|(_, spelled)| named(spelled, text)).unwrap_or_default())
}

/// The named groups of a pattern: words of the pack as it declares them, anything else as it was said.
fn named(spelled: &Spelled, text: &str) -> Map<String, Value> {
    let mut members = Map::new();
    if spelled.pattern.groups().next().is_none() {
        return members;
    }
    let Some(captures) = spelled.pattern.captures(text) else { return members };
    for name in spelled.pattern.groups() {
        let Some(said) = captures.name(name) else { continue };
        let words = spelled.words.iter().find(|(group, _)| group == name).map(|(_, words)| words.as_slice());
        let same = |word: &&String| word.to_lowercase() == said.as_str().to_lowercase();
        let declared = words.unwrap_or_default().iter().find(same).map(String::as_str);
        members.insert(name.to_owned(), declared.unwrap_or(said.as_str()).into());
    }
    members
}
