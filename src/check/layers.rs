//! Layers: does each prompt contain what it needs, and is there room for it?
//!
//! In: the prompts of a program and their texts.
//! Out: a finding for each plain text that is written like a template, for each prompt without the message of the user,
//! and, for a new session, for each layer over its budget and each prompt too large for a tier.
//! Never: guesses how long a conversation will be.

use crate::diagnostic::{Code, Diagnostic, is_slip};
use crate::program::{FileContent, LayerSource, Program};
use crate::text::{Location, Span, excerpt};

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    found.extend(program.budgets_that_fail());
    unfilled(program, found);
    for (name, prompt) in &program.prompts.prompts {
        // The layer may be in another prompt, whose name is a misspelling of this one.
        let slip = program.prompts.prompts.keys().any(|other| other != name && is_slip(other, name));
        if slip || prompt.layers.iter().any(|layer| matches!(layer.source, LayerSource::Message)) {
            continue;
        }
        let history = prompt.layers.iter().find(|layer| matches!(layer.source, LayerSource::History));
        let text = format!("no layer of the prompt `{name}` contains the message of the user");
        let help = "add a last layer with `source = \"message\"`";
        let finding = Diagnostic::new(Code::PROMPT_NO_MESSAGE, history.map_or(prompt.at, |layer| layer.at), text);
        // A host may add all turns itself. If the prompt has the earlier ones, the message was probably forgotten.
        found.push(match history {
            Some(_) => finding.with_help(help).into_warning(),
            None => finding.with_help(format!("fine if the host adds it; else {help}")),
        });
    }
}

/// Reports plain texts that are written like templates: once for each layer, however many variants it has.
fn unfilled(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut reported: Vec<(Option<Location>, usize)> = Vec::new();
    for (number, text) in program.prompts.texts.iter().enumerate() {
        let FileContent::Plain(_) = &text.body else { continue };
        let Some(source) = program.sources().get(text.source) else { continue };
        let Some(span) = filled_in(source.text()) else { continue };
        let at = Location { source: text.source, span };
        let mut layers = program.prompts.prompts.values().flat_map(|prompt| &prompt.layers);
        let takes = |holds: &LayerSource| match holds {
            LayerSource::Files { variants, .. } => variants.iter().any(|variant| variant.texts.contains(&Some(number))),
            LayerSource::History | LayerSource::Message | LayerSource::Verdicts { .. } => false,
        };
        let layer = layers.find(|layer| takes(&layer.source));
        let place = layer.map(|layer| layer.at);
        let first = reported.iter().find(|(known, _)| place.is_some() && *known == place).map(|(_, number)| *number);
        if let Some(first) = first.and_then(|first| found.get_mut(first)) {
            *first = first.clone().with_place(at, "and here");
            continue;
        }
        reported.push((place, found.len()));
        let message =
            format!("`{}` is printed as it is: this text is not a template", excerpt(span.of(source.text()), 60));
        let finding = Diagnostic::new(Code::PROMPT_UNFILLED, at, message);
        let finding = match layer {
            Some(layer) => finding.with_place(layer.at, format!("the layer `{}` uses it as text", layer.id)),
            None => finding,
        };
        found.push(finding.with_help("name it in the layer's `template` instead of `text`"));
    }
}

/// The first place where a plain text looks like a template: the name of a value in braces, or a statement.
fn filled_in(text: &str) -> Option<Span> {
    const NAMES: [&str; 10] =
        ["mode", "title", "tier", "model", "state", "data", "now", "sections", "actions", "forms"];
    const STATEMENTS: [&str; 4] = ["if", "for", "set", "include"];
    let marks = [("{{", "}}", NAMES.as_slice()), ("{%", "%}", STATEMENTS.as_slice())];
    let places = marks.into_iter().flat_map(|(open, close, words)| {
        text.match_indices(open).filter_map(move |(start, _)| {
            let inside = text.get(start + open.len()..)?.split(close).next()?;
            let end = start + open.len() + inside.len() + close.len();
            let word = inside.trim_start_matches('-').trim_start();
            let word = word.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            (words.contains(&word) && end <= text.len()).then_some(Span::new(start, end))
        })
    });
    places.min_by_key(|span| span.start)
}
