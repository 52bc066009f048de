//! Inputs: which class does a user's message have?
//!
//! In: the message, and the mode of the session.
//! Out: [`ClassifiedMessage`]: the class of the message, and what the pattern captured.
//! Never: runs a rule, or guesses: the first input that matches counts.

use crate::program::{ClassId, Input, Pattern, Program};
use crate::value::Object;

/// The class of a user's message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassifiedMessage {
    /// The index of the input.
    pub(crate) input: usize,
    pub(crate) class: ClassId,
    pub(crate) captures: Object,
}

/// The class of a message, if an input of the mode matches it.
pub(crate) fn classify(program: &Program, mode: &str, text: &str) -> Option<ClassifiedMessage> {
    tried(program, mode).find_map(|(number, input)| {
        let captures = captures(input, text)?;
        Some(ClassifiedMessage { input: number, class: input.class, captures })
    })
}

/// Later inputs of the mode that would also match the message.
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

/// The inputs that are tried in a mode, with their indexes.
fn tried<'p>(program: &'p Program, mode: &str) -> impl Iterator<Item = (usize, &'p Input)> {
    let mode = program.mode_id(mode);
    program.flows.inputs.iter().enumerate().filter(move |(_, input)| input.modes.include(mode))
}

/// The captures of the first match; `None` if there is no match. Matches that overlap a match of `unless` do not
/// count.
fn captures(input: &Input, text: &str) -> Option<Object> {
    if input.matches.is_empty() {
        return input.unless.iter().all(|pattern| pattern.find(text).is_none()).then(Object::new);
    }
    let mut first: Option<(usize, &Pattern)> = None;
    for pattern in &input.matches {
        if let Some(found) = pattern.find_apart(text, 0, &input.unless).next()
            && first.is_none_or(|(start, _)| found.start < start)
        {
            first = Some((found.start, pattern));
        }
    }
    first.map(|(start, pattern)| pattern.captured(text, start))
}
