//! Empty names: does every name consist of visible characters?
//!
//! In: the tables.
//! Out: `pack/wrong-value` for each name that is empty or only white space, or that contains invisible characters.
//! Never: checks whether a name is a good one, or whether the thing with that name exists.

use super::names::names_of;
use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Named, Surface};
use crate::text::{Location, Spanned, is_bidi_control};

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mut blanks = Blanks { diagnostics };
    if let Some(about) = &surface.about {
        blanks.text("the name of the pack", &about.name);
    }
    blanks.names("a dialect", &surface.dialects);
    blanks.names("an action", &surface.actions);
    blanks.names("a mode", &surface.modes);
    blanks.names("a content", &surface.contents);
    blanks.names("a message", &surface.messages);
    blanks.names("a prompt", &surface.prompts);
    blanks.names("a tier", &surface.tiers);
    blanks.names("a model", &surface.models);
    blanks.names("a value of the state", &surface.state);
    blanks.names("a value of the data", &surface.data);
    for name in surface.actions.values().flat_map(|action| &action.value.names) {
        blanks.text("a name of an action", name);
    }
    for dialect in surface.dialects.values() {
        blanks.names("a block", &dialect.value.blocks);
        let blocks = dialect.value.blocks.values().map(|block| &block.value);
        for block in blocks {
            block.names.iter().for_each(|name| blanks.text("a name that opens a block", name));
            block.name.0.iter().for_each(|name| blanks.text("the name of a block", name));
            block.key.iter().for_each(|key| blanks.text("the key of a block", key));
        }
    }
    for message in surface.messages.values() {
        message.value.takes.iter().for_each(|name| blanks.text("a name that a message takes", name));
    }
    for prompt in surface.prompts.values() {
        prompt.value.layers.iter().for_each(|layer| blanks.text("the id of a layer", &layer.id));
    }
    surface.guardrails.iter().for_each(|guardrail| blanks.text("the id of a guardrail", &guardrail.id));
    surface.inputs.iter().for_each(|input| blanks.text("the class of an input", &input.class));
    surface.rules.iter().for_each(|rule| blanks.text("the id of a rule", &rule.id));
    for effect in surface.effects() {
        blanks.names("what a `let` binds", &effect.lets);
        effect.new.iter().for_each(|kind| blanks.text("the kind of an id", kind));
        effect.emit.iter().for_each(|event| blanks.template("the name of an event", event));
        let keys =
            [&effect.write, &effect.amend, &effect.record, &effect.edit, &effect.delete, &effect.moves, &effect.to];
        keys.into_iter().flatten().for_each(|key| blanks.template("the key of a file", key));
    }
}

struct Blanks<'b> {
    diagnostics: &'b mut Vec<Diagnostic>,
}

impl Blanks<'_> {
    fn names<T>(&mut self, what: &str, table: &Named<T>) {
        let places = names_of(table).zip(table.values());
        places.for_each(|(name, entry)| self.check(&format!("the name of {what}"), name, entry.at));
    }

    fn text(&mut self, what: &str, text: &Spanned<String>) {
        self.check(what, &text.value, text.at);
    }

    /// Checks the name in a template, which may have several lines.
    fn template(&mut self, what: &str, text: &Spanned<String>) {
        if text.value.trim().is_empty() {
            self.text(what, text);
        }
    }

    fn check(&mut self, what: &str, name: &str, at: Location) {
        self.diagnostics.extend(empty_name(what, name, at));
    }
}

/// The finding for a name that is invisible, or contains an invisible character.
pub(super) fn empty_name(what: &str, name: &str, at: Location) -> Option<Diagnostic> {
    let (how, help) = if name.trim().is_empty() {
        ("is empty", "write a name that distinguishes it from others")
    } else if name.chars().any(|c| c.is_control() || is_bidi_control(c)) {
        ("contains an invisible character", "take it out: it breaks a line, or reverses the text around it")
    } else {
        return None;
    };
    let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, at, format!("{what} {how}"));
    Some(fault.with_help(help))
}
