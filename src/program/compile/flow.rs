//! Flow: what do inputs, rules, messages, speakers and exits compile to?
//!
//! In: their tables.
//! Out: [`Flows`], [`CannedMessage`]s and [`Exit`]s, referring to each other by id.
//! Never: fails for an undeclared name: the pack's checks have reported it.

use super::PackCompiler;
use super::name_scope::{COMPUTE_NAMES, INPUT_NAMES, NameScope, RULE_NAMES, UTTERANCE_NAMES};
use crate::program::{
    CannedMessage, ClassId, EventRule, Exit, Flows, Input, MessageId, ModeId, Modes, RuleEvent, Speakers,
};
use crate::surface::{self, Surface};
use crate::text::{Location, Span, Spanned};
use crate::value::Table;
use indexmap::IndexSet;

impl PackCompiler<'_> {
    pub(super) fn compile_flows(&mut self) -> Flows {
        let surface = self.surface;
        let mut classes = IndexSet::new();
        let mut inputs = Vec::new();
        for input in &surface.inputs {
            let (class, _) = classes.insert_full(input.class.value.clone());
            inputs.push(Input {
                class: ClassId(class),
                modes: modes_of(surface, &input.modes.0),
                matches: input.matches.0.iter().filter_map(|text| self.pattern(text)).collect(),
                unless: input.unless.0.iter().filter_map(|text| self.pattern(text)).collect(),
                ask: input.ask.as_ref().and_then(|ask| message_id(surface, &ask.value)),
                at: input.class.at,
            });
        }
        let rules = surface.rules.iter().map(|rule| self.compile_rule(rule, &classes, &inputs)).collect();
        let scope = NameScope::of(COMPUTE_NAMES);
        let speakers = surface.speakers.as_ref().map(|speakers| Speakers {
            from: self.expression(Some(&speakers.from), &scope),
            order: self.expression(speakers.order.as_ref(), &scope),
            limit: self.expression(speakers.limit.as_ref(), &scope),
            at: speakers.at,
        });
        Flows { classes, inputs, rules, speakers }
    }

    fn compile_rule(&mut self, rule: &surface::Rule, classes: &IndexSet<String>, inputs: &[Input]) -> EventRule {
        let mut scope = NameScope::of(RULE_NAMES);
        let unknown = |word: &Spanned<String>| surface::Event::parse(&word.value).is_none();
        scope.open(rule.on.0.is_empty() || rule.on.0.iter().any(unknown) || self.surface.torn.contains(&rule.at));
        let mut on = Vec::new();
        for event in rule.on.0.iter().filter_map(|word| surface::Event::parse(&word.value)) {
            let (event, own) = match event {
                surface::Event::Start => (Some(RuleEvent::Start), &[][..]),
                surface::Event::Input(class) => {
                    (classes.get_index_of(class).map(ClassId).map(RuleEvent::Input), INPUT_NAMES)
                }
                surface::Event::Utterance => (Some(RuleEvent::Utterance), UTTERANCE_NAMES),
                surface::Event::Reply => (Some(RuleEvent::Reply), &[][..]),
                surface::Event::Enter(mode) => (mode_id(self.surface, mode).map(RuleEvent::Enter), &[][..]),
                surface::Event::Leave(mode) => (mode_id(self.surface, mode).map(RuleEvent::Leave), &[][..]),
            };
            if let Some(RuleEvent::Input(class)) = event {
                let typed = inputs.iter().zip(&self.surface.inputs).filter(|(input, _)| input.class == class);
                // If a pattern could not be read, its captures are unknown: then allow any name.
                if typed.clone().all(|(input, typed)| input.matches.len() == typed.matches.0.len()) {
                    scope.capture(typed.flat_map(|(input, _)| &input.matches));
                }
            }
            on.extend(event);
            scope.add(own);
        }
        EventRule {
            id: rule.id.value.clone(),
            on,
            modes: modes_of(self.surface, &rule.modes.0),
            when: self.condition(rule.when.as_ref(), &scope),
            effects: self.effects(&rule.effects, &scope),
            at: rule.id.at,
        }
    }

    pub(super) fn compile_messages(&mut self) -> Table<String, CannedMessage> {
        let surface = self.surface;
        let mut messages = Table::default();
        for (name, message) in &surface.messages {
            let takes: Vec<String> = message.value.takes.iter().map(|takes| takes.value.clone()).collect();
            let mut scope = NameScope::of(COMPUTE_NAMES);
            takes.iter().for_each(|name| scope.bind(name, None));
            scope.open(surface.torn.contains(&message.at));
            let words = message.value.says.clone().or_else(|| {
                let path = message.value.template.as_ref()?;
                let source = surface.files.text(&path.value, path.at.source).source()?;
                let text = surface.sources.get(source)?.text();
                // The line break at the end of a file is not part of the message.
                let text = text.strip_suffix('\n').unwrap_or(text);
                let span = Span::new(0, text.len());
                Some(Spanned::new(text.to_owned(), Location { source, span }))
            });
            if let Some(text) = self.template(words.as_ref(), &scope) {
                messages.insert(name.clone(), CannedMessage { text, takes, at: message.at });
            }
        }
        messages
    }

    pub(super) fn compile_exits(&mut self, mode: &surface::Mode) -> Vec<Exit> {
        let surface = self.surface;
        let scope = NameScope::of(COMPUTE_NAMES);
        let mut exits = Vec::new();
        for exit in &mode.exits {
            let gate = self.condition(exit.gate.as_ref(), &scope);
            let shut = exit.shut.as_ref().and_then(|shut| message_id(surface, &shut.value));
            exits.extend(mode_id(surface, &exit.to.value).map(|to| Exit { to, gate, shut, at: exit.to.at }));
        }
        exits
    }
}

/// The id that a mode will have: modes are compiled in order.
pub(super) fn mode_id(surface: &Surface, name: &str) -> Option<ModeId> {
    surface.modes.get_index_of(name).map(ModeId)
}

/// The id that a message will have: messages are compiled in order.
pub(super) fn message_id(surface: &Surface, name: &str) -> Option<MessageId> {
    surface.messages.get_index_of(name).map(MessageId)
}

pub(super) fn modes_of(surface: &Surface, names: &[Spanned<String>]) -> Modes {
    Modes(names.iter().filter_map(|name| mode_id(surface, &name.value)).collect())
}
