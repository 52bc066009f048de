//! Flow: does everything exist that inputs, rules, exits and messages name?
//!
//! In: the tables.
//! Out: a diagnostic for each undeclared mode, class or message, and for each `say` whose names differ from its
//! message's.
//! Never: checks whether a mode can be reached.

use super::files::wrong_text;
use super::names::{names_of, needs_other, undeclared, undeclared_mode};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::surface::{Effect, Event, Message, Surface};
use crate::text::{Location, Spanned};

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mut names = FlowNames { surface, diagnostics };
    for mode in surface.modes.values() {
        for exit in &mode.value.exits {
            names.mode(&exit.to);
            let gated = exit.gate.is_some() || surface.torn.contains(&exit.at);
            names.diagnostics.extend(needs_other("shut", exit.shut.as_ref(), "gate", gated));
            exit.shut.iter().for_each(|shut| names.plain_message(shut));
        }
    }
    for input in &surface.inputs {
        input.modes.0.iter().for_each(|mode| names.mode(mode));
        input.ask.iter().for_each(|ask| names.plain_message(ask));
    }
    for rule in &surface.rules {
        rule.modes.0.iter().for_each(|mode| names.mode(mode));
        if rule.on.0.is_empty() && !surface.torn.contains(&rule.at) {
            let message = format!("nothing says on which event the rule `{}` follows", rule.id.value);
            let words = Event::WORDS.join("`, `");
            names.diagnostics.push(
                Diagnostic::new(Code::PACK_MISSING_KEY, rule.id.at, message)
                    .with_help(format!("add `on = …`: `{words}`, or a list of them")),
            );
        }
        rule.on.0.iter().for_each(|on| names.event(on));
    }
    for (name, message) in &surface.messages {
        names.words(name, message);
    }
    surface.effects().into_iter().for_each(|effect| names.effect(effect));
}

struct FlowNames<'n> {
    surface: &'n Surface,
    diagnostics: &'n mut Vec<Diagnostic>,
}

impl<'n> FlowNames<'n> {
    fn mode(&mut self, name: &Spanned<String>) {
        self.diagnostics.extend(undeclared_mode(self.surface, name));
    }

    fn event(&mut self, on: &Spanned<String>) {
        let unknown = |what: String| Diagnostic::new(Code::PACK_UNKNOWN_EVENT, on.at, what);
        let diagnostic = match Event::parse(&on.value) {
            Some(Event::Enter(mode) | Event::Leave(mode)) => {
                return self.mode(&Spanned::new(mode.to_owned(), on.at));
            }
            Some(Event::Input(class)) => {
                let classes = || self.surface.inputs.iter().map(|input| input.class.value.as_str());
                if self.lacks_input() || classes().any(|known| known == class) {
                    return;
                }
                unknown(format!("no input has the class `{class}`")).with_nearest(class, classes())
            }
            Some(Event::Start | Event::Utterance | Event::Reply) => return,
            None => {
                let mut classes = self.surface.inputs.iter().map(|input| &input.class.value);
                let help = match (Event::meant(&on.value), on.value.split_once('.')) {
                    (_, None) if classes.any(|class| *class == on.value) => {
                        format!("did you mean `input.{}`?", on.value)
                    }
                    (_, None) if self.surface.modes.contains_key(&on.value) => {
                        format!("did you mean `enter.{}` or `leave.{}`?", on.value, on.value)
                    }
                    (Some(meant), Some((_, inside))) => format!("did you mean `{meant}.{inside}`?"),
                    (Some(meant), None) => format!("did you mean `{meant}`?"),
                    (None, _) => format!("the events are `{}`", Event::WORDS.join("`, `")),
                };
                unknown(format!("there is no event `{}`", on.value)).with_help(help)
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Whether some input could not be read: it may have any class.
    fn lacks_input(&self) -> bool {
        let surface = self.surface;
        let is_header = |at: &&Location| {
            surface.sources.get(at.source).is_some_and(|file| at.span.of(file.text()).starts_with("[[inputs"))
        };
        let is_read = |at: &Location| surface.inputs.iter().any(|input| input.at == *at);
        surface.torn.iter().filter(is_header).any(|at| !is_read(at))
    }

    fn message(&mut self, name: &Spanned<String>) -> Option<&'n Spanned<Message>> {
        let declared = names_of(&self.surface.messages);
        let reported =
            undeclared(&self.surface.unreadable, Code::PACK_UNKNOWN_MESSAGE, "message", &name.value, name.at, declared);
        let help = "this is the name of a message: its words are in `[messages.NAME]`, under `says`";
        self.diagnostics
            .extend(reported.map(|reported| if reported.help.is_none() { reported.with_help(help) } else { reported }));
        self.surface.messages.get(&name.value)
    }

    /// Checks a message that is emitted without values for its names.
    fn plain_message(&mut self, name: &Spanned<String>) {
        let Some(message) = self.message(name) else { return };
        if let Some(takes) = message.value.takes.first() {
            let text = format!("the message `{}` takes `{}`, which is not given here", name.value, takes.value);
            self.diagnostics.push(
                Diagnostic::new(Code::PACK_EFFECT, name.at, text)
                    .with_place(takes.at, "taken here")
                    .with_help("let it read the state instead, or say it by a rule"),
            );
        }
    }

    /// Checks that a message has its text either in the table or in a file.
    fn words(&mut self, name: &str, message: &Spanned<Message>) {
        match (&message.value.says, &message.value.template) {
            // The key with the text may be misspelt.
            (None, None) if self.surface.torn.contains(&message.at) => {}
            (None, None) => self.diagnostics.push(
                Diagnostic::new(Code::PACK_MISSING_KEY, message.at, format!("the message `{name}` has no words"))
                    .with_help("add `says = …`, or `template = …` for a file"),
            ),
            (Some(_), Some(template)) => self.diagnostics.push(
                Diagnostic::new(Code::PACK_DUPLICATE, template.at, format!("the message `{name}` has its words twice"))
                    .with_help("keep `says` or `template`"),
            ),
            (None, Some(template)) => {
                self.diagnostics.extend(wrong_text(self.surface, &template.value, template.at));
            }
            (Some(_), None) => {}
        }
    }

    fn effect(&mut self, effect: &Effect) {
        if let Some(go) = &effect.go {
            self.mode(go);
        }
        if let Some(say) = &effect.say
            && let Some(message) = self.message(say)
        {
            let (torn, known) = (&self.surface.torn, || message.value.takes.iter().map(|takes| takes.value.as_str()));
            let lacks = |name: &str| !effect.with.contains_key(name);
            let unknown = || effect.with.keys().filter(|name| !known().any(|known| known == **name));
            let meant: Vec<&str> =
                unknown().filter_map(|name| nearest(name, known().filter(|known| lacks(known)))).collect();
            let whole = !torn.contains(&effect.at) && !torn.contains(&message.at);
            let reported = |name: &str| whole && lacks(name) && !meant.contains(&name);
            for takes in message.value.takes.iter().filter(|takes| reported(&takes.value)) {
                let text = format!("the message `{}` takes `{}`", say.value, takes.value);
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_EFFECT, say.at, text)
                        .with_place(takes.at, "taken here")
                        .with_help(format!("add `with = {{ {} = … }}`", takes.value)),
                );
            }
            for (name, given) in &effect.with {
                if !known().any(|known| known == *name) && !torn.contains(&message.at) {
                    let text = format!("the message `{}` takes no `{name}`", say.value);
                    let fault = Diagnostic::new(Code::PACK_EFFECT, given.at, text);
                    self.diagnostics.push(fault.with_nearest(name, known()));
                }
            }
        }
    }
}
