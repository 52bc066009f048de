//! Drafts: what is the text of a layer, and what has been left out of it so far?
//!
//! In: a layer of the program, and the values that its texts read.
//! Out: [`LayerDraft`], whose text always follows from its choices: which variant, how many items, which turns.
//! Never: makes the next choice; the strategies in [`super::trim`] do.

use super::history::{Window, WrittenTurn, line, of_one};
use super::ledger;
use super::target::PromptTarget;
use super::verdicts::{Detail, Verdicts};
use crate::expression::{Failure, FailureKind, Scope};
use crate::markup::TemplateDocument;
use crate::program::{FileContent, LayerPlan, LayerSource, ModeId, Program, PromptFile, Variant};
use crate::surface::{Speaker, Trimming};
use crate::text::Present;
use crate::value::{ByteBudget, Record, Value, to_value};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The values that the texts of one prompt read, and the limits for them.
pub(super) struct PromptScope<'s> {
    pub(super) program: &'s Program,
    pub(super) state: &'s Record,
    /// All values but the state: the number of items in the state differs from layer to layer.
    pub(super) scope: Scope<'s>,
    pub(super) mode: ModeId,
    pub(super) target: &'s PromptTarget<'s>,
    /// The most that all texts of the prompt may use together.
    pub(super) budget: &'s ByteBudget,
    /// Whether a condition could not be evaluated within the budget.
    pub(super) starved: Cell<bool>,
}

impl PromptScope<'_> {
    /// The text of a template with this `state`.
    pub(super) fn render(&self, document: &TemplateDocument, state: &Record) -> Result<String, Failure> {
        let mut scope = Scope::inside(&self.scope);
        scope.add_record("state", state);
        let program = self.program;
        if let Some(mode_views) = program.views.get(self.mode.0) {
            let mode = program.mode_name(self.mode);
            let asks = |name: &str| document.reads().first_of(name).is_some();
            if asks("actions") {
                scope
                    .add("actions", mode_views.actions.get_or_init(|| to_value(&program.action_forms(mode)).present()));
            }
            if asks("forms") {
                scope.add("forms", mode_views.forms.get_or_init(|| to_value(&program.forms(mode)).present()));
            }
        }
        let text = document.render(&scope)?;
        self.budget.take(text.len()).map_err(Failure::exceeded)?;
        Ok(text)
    }
}

/// The conversation so far, for the layers that are not files.
#[derive(Clone, Copy)]
pub(super) struct Conversation<'d> {
    /// The current message of the user.
    pub(super) message: &'d str,
    pub(super) history: &'d Window<'d>,
    /// What it reads about its calls.
    pub(super) verdicts: &'d Verdicts<'d>,
}

/// A layer while the prompt is being assembled.
#[derive(Clone)]
pub(super) struct LayerDraft<'d> {
    pub(super) layer: &'d LayerPlan,
    /// Its text in a message.
    pub(super) text: String,
    /// Its tokens, including its lead.
    pub(super) tokens: usize,
    pub(super) choice: Choice<'d>,
    /// What was left out and why, by the name of the strategy.
    pub(super) notes: IndexMap<&'static str, String>,
    /// Why its template could not be rendered.
    failure: Option<(&'d TemplateDocument, Failure)>,
    /// The shortened turns, by their number.
    pub(super) short: BTreeMap<usize, WrittenTurn>,
    /// The bytes that its text takes from the budget of the prompt.
    taken: usize,
}

/// What a layer contains; strategies change it.
#[derive(Clone)]
pub(super) enum Choice<'d> {
    /// Nothing: the layer does not apply, or was dropped.
    Absent,
    Message,
    /// A file: which variant, and how many items of each list it contains.
    File {
        variant: usize,
        counts: Vec<usize>,
    },
    /// What is reported about calls, and how much of it is printed.
    Verdicts {
        calls: &'d Verdicts<'d>,
        detail: Detail,
    },
    /// The turns from this one on.
    History {
        window: &'d Window<'d>,
        from: usize,
    },
}

impl<'d> LayerDraft<'d> {
    /// The draft of a layer before any strategy. The texts of files and turns are not written yet.
    pub(super) fn new(layer: &'d LayerPlan, prompt_scope: &PromptScope<'d>, conversation: Conversation<'d>) -> Self {
        let mut draft = LayerDraft {
            layer,
            text: String::new(),
            tokens: 0,
            choice: Choice::Absent,
            notes: IndexMap::new(),
            failure: None,
            short: BTreeMap::new(),
            taken: 0,
        };
        if layer.modes.get(prompt_scope.mode.0) != Some(&true) {
            draft.notes.insert("in", "not in this mode".to_owned());
            return draft;
        }
        if let Some(when) = &layer.when {
            let mut scope = Scope::inside(&prompt_scope.scope);
            scope.add_record("state", prompt_scope.state);
            let holds = when.holds(&scope);
            if !matches!(holds, Ok(true)) {
                if holds.as_ref().is_err_and(|failure| failure.kind == FailureKind::Budget) {
                    prompt_scope.starved.set(true);
                }
                let why = holds.err().map(|failure| format!(", {failure}")).unwrap_or_default();
                draft.notes.insert("when", format!("does not hold{why}"));
                return draft;
            }
        }
        match &layer.source {
            LayerSource::Message => {
                draft.choice = Choice::Message;
                // A message without text is left out, as such turns are: no model accepts an empty message.
                let is_silent = conversation.message.trim().is_empty();
                if is_silent && !conversation.message.is_empty() {
                    draft.notes.insert("message", "left out, as nothing is said in it".to_owned());
                }
                let message = if is_silent { "" } else { conversation.message };
                draft.text = prompt_scope.program.prompts.escape.spoken(&layer.lead, message);
                draft.count(prompt_scope);
            }
            LayerSource::History => {
                draft.choice = Choice::History { window: conversation.history, from: 0 };
            }
            LayerSource::Verdicts { .. } => {
                let detail = Detail { calls: conversation.verdicts.len(), helps: true };
                draft.choice = Choice::Verdicts { calls: conversation.verdicts, detail };
            }
            LayerSource::Files { variants, .. } => {
                let own =
                    variants.iter().position(|variant| variant.tier == Some(prompt_scope.target.tier)).unwrap_or(0);
                draft.choice = Choice::File { variant: own, counts: Vec::new() };
            }
        }
        draft
    }

    /// Whether its template could not be rendered.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Restores the draft as it was before.
    pub(super) fn undo(&mut self, before: Self, prompt_scope: &PromptScope<'d>) {
        prompt_scope.budget.give_back(self.taken);
        // This cannot exceed the budget: the newer text has been given back.
        let _ = prompt_scope.budget.take(before.taken);
        *self = before;
    }

    /// Takes the reason why its template could not be rendered, if there is one. The layer stays empty.
    pub(super) fn take_failure(&mut self) -> Option<(&'d TemplateDocument, Failure)> {
        let failure = self.failure.take()?;
        self.tokens = 0;
        Some(failure)
    }

    pub(super) fn note(&mut self, strategy: Trimming, what: String) {
        self.notes.insert(strategy.word(), what);
    }

    /// Writes the text after a choice has changed.
    pub(super) fn write(&mut self, prompt_scope: &PromptScope<'d>) {
        self.failure = None;
        prompt_scope.budget.give_back(std::mem::take(&mut self.taken));
        let Some((_, text)) = self.file(prompt_scope) else { return };
        match &text.body {
            FileContent::Plain(conversation) => {
                self.text.clone_from(conversation);
                self.count(prompt_scope);
            }
            FileContent::Template(document) => match prompt_scope.render(document, &self.state(prompt_scope)) {
                Ok(conversation) => {
                    self.taken = conversation.len();
                    conversation.trim_matches(['\n', '\r']).clone_into(&mut self.text);
                    self.count(prompt_scope);
                }
                Err(failure) => {
                    // A shorter form may still succeed.
                    self.text.clear();
                    self.tokens = usize::MAX;
                    self.failure = Some((document, failure));
                }
            },
        }
    }

    pub(super) fn count(&mut self, prompt_scope: &PromptScope<'_>) {
        self.tokens = prompt_scope.target.count(&self.text_with_lead());
    }

    /// Its text, with its lead, in a prompt printed as one text.
    pub(super) fn text_with_lead(&self) -> Cow<'_, str> {
        let lead = self.layer.lead.as_str();
        let text = match self.layer.source {
            LayerSource::Message => of_one(lead, &self.text),
            LayerSource::History | LayerSource::Verdicts { .. } | LayerSource::Files { .. } => {
                Cow::Borrowed(self.text.as_str())
            }
        };
        if lead.is_empty() || text.is_empty() { text } else { Cow::Owned(format!("{lead}{text}")) }
    }

    /// The state with as many items of each list as the layer contains. Counts and sums over a list are those of the
    /// whole list.
    fn state(&self, prompt_scope: &PromptScope<'d>) -> Cow<'d, Record> {
        let Choice::File { counts, .. } = &self.choice else { return Cow::Borrowed(prompt_scope.state) };
        let mut state = Cow::Borrowed(prompt_scope.state);
        for ((path, _), most) in self.layer.entries.iter().zip(counts) {
            let Some((head, inside)) = path.split_first() else { continue };
            if let Some(listed_items) = state.get(head).filter(|_| length(prompt_scope.state, path) > *most) {
                let seen = newest(listed_items, inside, *most);
                state.to_mut().put(head, seen);
            }
        }
        if let Cow::Owned(state) = &mut state {
            // A sum over fewer items would be wrong information for the model.
            let computed = prompt_scope.program.slots.iter().filter(|(_, slot)| slot.compute.is_some());
            for (name, _) in computed {
                if let Some(whole @ (Value::Number(_) | Value::Bool(_))) = prompt_scope.state.get(name) {
                    state.put(name, whole.clone());
                }
            }
        }
        state
    }

    /// Limits each list to this many of its newest items.
    pub(super) fn show(&mut self, count: Vec<usize>, prompt_scope: &PromptScope<'d>) {
        if let Choice::File { counts, .. } = &mut self.choice {
            *counts = count;
        }
        self.write(prompt_scope);
    }

    /// Prints this much about calls.
    pub(super) fn write_verdicts(&mut self, new: Detail, prompt_scope: &PromptScope<'d>) {
        let Choice::Verdicts { calls, detail } = &mut self.choice else { return };
        *detail = new;
        self.text = calls.text(new, &prompt_scope.program.prompts.escape);
        self.count(prompt_scope);
    }

    /// Writes the turns that are included.
    pub(super) fn write_turns(&mut self, prompt_scope: &PromptScope<'d>) {
        let (mut text, mut values) = (String::new(), Vec::new());
        for (role, conversation, is_form) in self.turns() {
            text.push_str(if text.is_empty() { "" } else { "\n\n" });
            let label = line(role, "");
            let conversation = of_one(&label, conversation);
            text.push_str(&label);
            // The blocks of an answer in the form of the mode must not be escaped.
            values.extend(Some(text.len()..text.len() + conversation.len()).filter(|_| !is_form));
            text.push_str(&conversation);
        }
        self.text = prompt_scope.program.prompts.escape.apart(text, values);
        self.count(prompt_scope);
    }

    /// Leaves the layer out.
    pub(super) fn give_up(&mut self) {
        self.choice = Choice::Absent;
        self.text.clear();
        (self.tokens, self.failure) = (0, None);
    }

    pub(super) fn variants(&self) -> &'d [Variant] {
        match &self.layer.source {
            LayerSource::Files { variants, .. } => variants,
            _ => &[],
        }
    }

    /// The variant and its text; the first variant if the layer is left out.
    pub(super) fn file(&self, prompt_scope: &PromptScope<'d>) -> Option<(&'d Variant, &'d PromptFile)> {
        let variant = match &self.choice {
            Choice::File { variant, .. } => self.variants().get(*variant)?,
            _ => self.variants().first()?,
        };
        let number = variant.texts.get(prompt_scope.mode.0).copied().flatten()?;
        Some((variant, prompt_scope.program.prompts.texts.get(number)?))
    }

    /// The text of a turn, shortened or not.
    pub(super) fn turn_text(&self, window: &'d Window<'d>, number: usize) -> &str {
        self.short.get(&number).map_or_else(|| window.turn_text(number), |turn| turn.text.as_str())
    }

    /// The turns that are included: the speaker, the text, and whether it is an answer in the form of the mode.
    pub(super) fn turns(&self) -> impl Iterator<Item = (Speaker, &str, bool)> {
        let (window, from) = match &self.choice {
            Choice::History { window, from } => (Some(*window), *from),
            _ => (None, 0),
        };
        let numbers = from..window.map_or(0, Window::len);
        numbers.filter_map(move |number| {
            let window = window?;
            let turn = self.short.get(&number).or_else(|| window.turn(number))?;
            Some((window.role(number)?, turn.text.as_str(), turn.is_form))
                .filter(|(_, conversation, _)| !conversation.is_empty())
        })
    }

    /// Its line in the ledger.
    pub(super) fn entry(&self, prompt_scope: &PromptScope<'d>) -> ledger::Layer {
        let file = self.file(prompt_scope);
        let tier = file.and_then(|(variant, _)| prompt_scope.program.prompts.tiers.get_index(variant.tier?));
        let own = match &self.layer.source {
            LayerSource::History => Some("history".to_owned()),
            LayerSource::Message => Some("message".to_owned()),
            LayerSource::Verdicts { .. } => Some("verdicts".to_owned()),
            LayerSource::Files { .. } => file.map(|(_, text)| text.path.clone()),
        };
        let notes: Vec<String> = self.notes.iter().map(|(word, what)| format!("{word}: {what}")).collect();
        ledger::Layer {
            id: self.layer.id.clone(),
            source: own,
            variant: tier.map(|(name, _)| name.clone()),
            tokens: self.tokens,
            budget: prompt_scope.target.of_tier(&self.layer.budget),
            trimmed: Some(notes.join("; ")).filter(|notes| !notes.is_empty()),
        }
    }
}

/// The length of the list at this path of the state.
pub(super) fn length(state: &Record, path: &[String]) -> usize {
    let list = path
        .split_first()
        .and_then(|(head, inside)| inside.iter().try_fold(state.get(head)?, |value, key| value.get(key)));
    list.and_then(Value::as_array).map_or(0, <[Value]>::len)
}

/// `value` with only the newest `most` items of the list at this path.
fn newest(value: &Value, path: &[String], most: usize) -> Value {
    match (value, path.split_first()) {
        (Value::Object(members), Some((head, inside))) => {
            let member = |(name, value): (&str, &Value)| {
                let value = if name == head { newest(value, inside, most) } else { value.clone() };
                (name.to_owned(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        (Value::Array(items), None) => items.iter().skip(items.len().saturating_sub(most)).cloned().collect(),
        (other, _) => other.clone(),
    }
}
