//! Inputs: what do these words of a user mean?
//!
//! In: the words, and the mode in which they were said.
//! Out: [`Words`]: their class, and what its pattern captured.
//! Never: lets a rule follow, or guesses: the first input that matches counts.

use crate::program::{Input, Pattern, Program};
use crate::value::Object;

/// What some words of a user mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Words {
    /// The number of the input.
    pub(crate) input: usize,
    /// The number of its class.
    pub(crate) class: usize,
    pub(crate) captures: Object,
}

/// The class of the words, if any input of the mode has one for them.
pub(crate) fn classify(program: &Program, mode: &str, text: &str) -> Option<Words> {
    tried(program, mode).find_map(|(number, input)| {
        let captures = captures(input, text)?;
        Some(Words { input: number, class: input.class, captures })
    })
}

/// The later inputs of the mode that these words would match, too.
pub(crate) fn shadowed<'p>(
    program: &'p Program,
    mode: &str,
    text: &str,
    input: usize,
) -> impl Iterator<Item = &'p Input> {
    tried(program, mode)
        .skip_while(move |(number, _)| *number <= input)
        .map(|(_, input)| input)
        .filter(move |input| captures(input, text).is_some())
}

/// The inputs that are tried in a mode, each with its number.
fn tried<'p>(program: &'p Program, mode: &str) -> impl Iterator<Item = (usize, &'p Input)> {
    let mode = program.mode_id(mode);
    program.flows.inputs.iter().enumerate().filter(move |(_, input)| input.modes.include(mode))
}

/// What the match that starts first captures; none where nothing matches. What `unless` matches keeps every match away
/// that it overlaps.
fn captures(input: &Input, text: &str) -> Option<Object> {
    if input.matches.is_empty() {
        return input.unless.iter().all(|pattern| pattern.find(text).is_none()).then(Object::new);
    }
    let mut first: Option<(usize, &Pattern)> = None;
    for pattern in &input.matches {
        if let Some(found) = pattern.find_apart(text, &input.unless).next()
            && first.is_none_or(|(start, _)| found.start < start)
        {
            first = Some((found.start, pattern));
        }
    }
    first.map(|(start, pattern)| pattern.captured(text, start))
}
