//! Prompts: what does the model read?
//!
//! In: a program, a session, the turns so far, the message of the user, and the name of the model.
//! Out: [`Assembled`]: messages, the same prompt as one text, and a ledger with a line for each layer.
//! Never: cuts a text of the author, leaves anything out without reporting it, or lets a value become markup.
//!
//! Whatever templates print about the rules, the actions of the mode and the form of an answer is derived from the
//! rules themselves.
//!
//! Each layer becomes a [draft], which is first shortened to its own budget. Then the whole is [fitted](fit) into the
//! context of the model. Each strategy that shortens a layer has a file in [`trim`].

mod actions;
mod answer;
mod ask_again;
mod calls;
mod count;
mod draft;
#[cfg(feature = "tokens")]
mod exact;
mod export;
mod fields;
mod fit;
mod form;
mod history;
mod least;
mod ledger;
mod object;
mod past;
mod shorten;
mod spelling;
mod strict;
mod target;
mod trim;
mod turn;
mod verdicts;
mod visible_texts;

pub use crate::surface::Speaker;
#[cfg(feature = "unstable")]
pub use actions::{ActionForm, ParamForm};
pub use count::Counter;
pub use export::Export;
#[cfg(feature = "unstable")]
pub use form::{AnswerForm, BlockForm};
#[cfg(not(feature = "unstable"))]
pub(crate) use form::{AnswerForm, BlockForm};
pub use ledger::{Layer, PromptMessage, TokenLedger};
#[cfg(not(feature = "unstable"))]
pub(crate) use turn::History;
#[cfg(feature = "unstable")]
pub use turn::{History, read_history};
pub use turn::{PastOutcome, Turn};

pub(crate) use ask_again::{Corrected, ReportedDefect, in_words_for_a_model};
pub(crate) use past::{MessagePiece, Rewriter, pieces};
pub(crate) use turn::{Line, Omitted, PastAnswer, PastCall, PastSection, PastUtterance, RefusedCall};
pub(crate) use visible_texts::PromptText;

use crate::diagnostic::{Code, Diagnostic};
use crate::expression::Scope;
use crate::program::{LayerSource, ModeId, Program, PromptFile, Prompts, TargetPatterns};
use crate::session::Session;
use crate::value::{ByteBudget, Object, Value};
use draft::{Conversation, LayerDraft, PromptScope};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use target::PromptTarget;
use verdicts::Verdicts;

/// The request of a host for a prompt.
#[derive(Clone, Default)]
pub struct Request {
    /// The name of the prompt; by default the first of the pack.
    pub prompt: Option<String>,
    /// The name of the model; by default, one that is not declared, of the default tier.
    pub model: Option<String>,
    /// The turns so far, the oldest first, without the current message of the user. No answer among them is parsed
    /// again.
    pub history: Vec<Turn>,
    /// The current message of the user.
    pub message: Option<String>,
    /// Counts the tokens, instead of the counter that the pack declares for the model.
    pub counter: Option<Arc<dyn Counter>>,
}

/// A prompt, or why there is none.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) messages: Vec<PromptMessage>,
    /// The same prompt as one text.
    pub(crate) text: String,
    /// The text of each layer, in the order of the ledger.
    pub(crate) texts: Vec<String>,
    pub(crate) ledger: TokenLedger,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Assembles a prompt. `read` parses the text of a past answer.
pub(crate) fn assemble(
    program: &Program,
    session: &Session,
    request: &Request,
    read: &dyn Fn(&Session, &str) -> PastAnswer,
) -> Assembled {
    let mut diagnostics = Vec::new();
    let guarded = guarded(program, session, request, &mut diagnostics);
    let target = PromptTarget::of(&program.prompts, &guarded, &mut diagnostics);
    assemble_for(&target, program, session, &guarded, read, diagnostics)
}

/// The request without the parts of user messages that guardrails on the input remove. If they refuse the current
/// message, there is no prompt; earlier messages that they refuse are left out.
fn guarded<'r>(
    program: &Program,
    session: &Session,
    request: &'r Request,
    diagnostics: &mut Vec<Diagnostic>,
) -> Cow<'r, Request> {
    let applies = |set: &TargetPatterns| set.target == crate::program::GuardrailTarget::Input;
    if !program.guardrails.sets.iter().any(applies) {
        return Cow::Borrowed(request);
    }
    let mut guarded = request.clone();
    if let Some(message) = &request.message {
        let input = program.guard_input(session, message);
        let refused = input.ruling.is_refused();
        // Places in the user's message are useless to a reader of findings about a prompt.
        diagnostics.extend(input.findings.into_iter().map(|finding| Diagnostic { at: None, ..finding }));
        guarded.message = Some(input.text.into_owned()).filter(|_| !refused);
    }
    let turns = request.history.iter();
    guarded.history = turns
        .filter_map(|turn| match turn.role {
            Speaker::User => {
                let input = program.guard_input(session, &turn.content);
                let content = input.text.into_owned();
                (!input.ruling.is_refused()).then(|| Turn { content, ..turn.clone() })
            }
            _ => Some(turn.clone()),
        })
        .collect();
    Cow::Owned(guarded)
}

fn assemble_for(
    target: &PromptTarget<'_>,
    program: &Program,
    session: &Session,
    request: &Request,
    read: &dyn Fn(&Session, &str) -> PastAnswer,
    mut diagnostics: Vec<Diagnostic>,
) -> Assembled {
    let prompts = &program.prompts;
    // The rules of one mode must not be printed for another mode.
    let Some(mode) = program.modes.get(&session.mode) else {
        diagnostics.push(program.no_mode(&session.mode));
        return nothing(target, diagnostics);
    };
    let named = match &request.prompt {
        Some(name) => prompts.prompts.get_key_value(name),
        None => prompts.prompts.first(),
    };
    let Some((name, prompt)) = named else {
        diagnostics.push(unknown(prompts, request.prompt.as_deref()));
        return nothing(target, diagnostics);
    };
    let history_length = request.history.iter().map(|turn| turn.content.len()).sum::<usize>();
    let length = history_length + request.message.as_ref().map_or(0, String::len);
    let (current, budget) = match session.state.has_all_values() {
        true => {
            (Cow::Borrowed(session), Arc::new(ByteBudget::new(length, session.state.clone(), program.data.clone())))
        }
        false => program.occasion(Cow::Borrowed(session), length),
    };
    let session = &*current;
    let values = Values::of(program, session, target);
    let prompt_scope = values.scope(program, session, target, &budget);
    let read_back = |text: &str| read(session, text);
    let history = history::Window::of(request, past::Rewriter { program, session, mode, read: &read_back });
    let verdicts = Verdicts::of(session, &request.history);
    let conversation = Conversation {
        message: request.message.as_deref().unwrap_or_default(),
        history: &history,
        verdicts: &verdicts,
    };
    let mut drafts: Vec<LayerDraft<'_>> = Vec::with_capacity(prompt.layers.len());
    for layer in &prompt.layers {
        let mut draft = LayerDraft::new(layer, &prompt_scope, conversation);
        trim::open(&mut draft, &prompt_scope);
        trim::keep_to_budget(&mut draft, &prompt_scope, &mut diagnostics);
        drafts.push(draft);
    }
    let whole = fit::fit(prompt, name, &mut drafts, &prompt_scope, &mut diagnostics);
    if session.state.is_too_costly() || prompt_scope.starved.get() {
        let message = format!("something is left out: {}", ByteBudget::EXCEEDED);
        diagnostics.push(Diagnostic::new(Code::FAILING_TEMPLATE, None, message).into_warning());
    }
    let broken = diagnostics.iter().any(Diagnostic::is_error);
    Assembled {
        messages: if broken { Vec::new() } else { messages(&drafts, &prompt.separator) },
        texts: drafts.iter().map(|draft| draft.text.clone()).collect(),
        ledger: target.ledger(whole.tokens, drafts.iter().map(|draft| draft.entry(&prompt_scope)).collect()),
        text: if broken { String::new() } else { whole.text },
        diagnostics,
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prompt, model, history, message, counter } = self;
        f.debug_struct("Request")
            .field("prompt", prompt)
            .field("model", model)
            .field("history", history)
            .field("message", message)
            .field("counter", &counter.as_ref().map(|_| "Counter"))
            .finish()
    }
}

impl Program {
    /// Renders one template of the pack's prompts and returns the length in bytes; for measurements.
    #[doc(hidden)]
    pub fn render_only(&self, session: &Session, path: &str) -> usize {
        let (request, mut diagnostics) = (Request::default(), Vec::new());
        let target = PromptTarget::of(&self.prompts, &request, &mut diagnostics);
        let values = Values::of(self, session, &target);
        let budget = ByteBudget::new(0, session.state.clone(), self.data.clone());
        let prompt_scope = values.scope(self, session, &target, &budget);
        let document = self.prompts.texts.iter().find(|text| text.path == path).and_then(PromptFile::template);
        document
            .and_then(|document| prompt_scope.render(document, prompt_scope.state).ok())
            .map_or(0, |text| text.len())
    }
}

/// The layers as messages: adjacent layers with the same role become one message, and each turn is one.
fn messages(drafts: &[LayerDraft<'_>], separator: &str) -> Vec<PromptMessage> {
    let mut messages: Vec<PromptMessage> = Vec::new();
    let mut merges = false;
    for draft in drafts.iter().filter(|draft| !draft.text.is_empty()) {
        match draft.layer.source {
            LayerSource::History => {
                messages.extend(
                    draft.turns().map(|(role, content, _)| PromptMessage { role, content: content.to_owned() }),
                );
                merges = false;
            }
            LayerSource::Message => {
                messages.push(PromptMessage { role: Speaker::User, content: draft.text.clone() });
                merges = false;
            }
            LayerSource::Files { role, .. } | LayerSource::Verdicts { role } => {
                match messages.last_mut().filter(|last| merges && last.role == role) {
                    Some(last) => last.content.extend([separator, &draft.text]),
                    None => {
                        messages.push(PromptMessage { role, content: draft.text.clone() });
                        merges = true;
                    }
                }
            }
        }
    }
    messages
}

/// The values that conditions and templates can read besides the state.
struct Values {
    mode: Value,
    tier: Value,
    model: Value,
    now: Value,
    mode_id: ModeId,
}

impl Values {
    fn of(program: &Program, session: &Session, target: &PromptTarget<'_>) -> Self {
        let mode_id = program.mode_id(&session.mode).unwrap_or(ModeId(0));
        Self {
            mode: program.mode_name(mode_id).into(),
            tier: target.tier_name.into(),
            model: Object::from_iter([
                ("id", target.id.into()),
                ("name", target.name.into()),
                ("traits", target.traits.clone()),
            ])
            .into(),
            now: session.now.as_deref().into(),
            mode_id,
        }
    }

    fn scope<'v>(
        &'v self,
        program: &'v Program,
        session: &'v Session,
        target: &'v PromptTarget<'v>,
        budget: &'v ByteBudget,
    ) -> PromptScope<'v> {
        let mut scope = Scope::new();
        scope.limit(budget);
        for (name, value) in [("mode", &self.mode), ("tier", &self.tier), ("model", &self.model), ("now", &self.now)] {
            scope.add(name, value);
        }
        scope.add("data", &program.data);
        if let Some((_, mode)) = program.modes.get_index(self.mode_id.0) {
            scope.add("title", &mode.title);
            scope.add("sections", &mode.sections);
        }
        let starved = Cell::new(false);
        PromptScope { program, state: &session.state, scope, mode: self.mode_id, target, budget, starved }
    }
}

fn unknown(prompts: &Prompts, name: Option<&str>) -> Diagnostic {
    let declared = prompts.prompts.keys().map(String::as_str);
    match name {
        Some(name) => {
            let message = format!("the pack has no prompt `{}`", crate::text::excerpt(name, 60));
            Diagnostic::new(Code::UNKNOWN_PROMPT, None, message).with_nearest(name, declared)
        }
        None => Diagnostic::new(Code::UNKNOWN_PROMPT, None, "the pack declares no prompt")
            .with_help("add `[[prompts.NAME.layers]]`, and a tier"),
    }
}

fn nothing(target: &PromptTarget<'_>, diagnostics: Vec<Diagnostic>) -> Assembled {
    Assembled {
        messages: Vec::new(),
        text: String::new(),
        texts: Vec::new(),
        ledger: target.ledger(0, Vec::new()),
        diagnostics,
    }
}
