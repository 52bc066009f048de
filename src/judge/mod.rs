//! Judge: what in a document counts, and which strategy answers each defect?
//!
//! In: a [`Document`], the program, and the session that the prompt of the response showed.
//! Out: [`Judgement`]: the fate of each block, the calls with their parameters, and the findings.
//! Never: reads the response again, or performs an effect.
//!
//! Finding and deciding are separate: each file here finds defects of one kind and passes them to
//! [`Judgement::answer`], which looks for strategies in the degradation tables, nearest first, and lets one of them
//! act.

mod byte_ledger;
mod calls;
mod closed_again;
mod condition_parts;
mod contents;
mod converting;
mod enclosing_wrapper;
mod fenced;
mod guardrails;
mod inline;
mod input;
mod invalid_values;
mod lists;
mod native_findings;
mod outside;
mod params;
mod paths;
mod payloads;
mod permits;
mod places;
mod reading;
mod reasoning;
mod redacting;
mod redactions;
mod remaining;
mod reply;
mod ruling;
mod shape;
mod speakers;
mod steps;
mod strategy;
mod texts;
mod truncated;
mod typing;
mod unclosed;

pub use byte_ledger::Leaf;
pub(crate) use calls::JudgedCall;
pub(crate) use input::Guarded;
use redactions::Redactions;
pub(crate) use ruling::Ruling;
pub use steps::StepKind;
pub(crate) use steps::{JudgeStep, Steps};
pub(crate) use texts::{Composed, ComposedTexts};

use outside::OutsideFate;
use reasoning::Reasoning;
use speakers::Speaker;
use unclosed::Unclosed;

use crate::diagnostic::{Code, Defect, Diagnostic, Findings, Message, Remark, Strategy};
use crate::document::{Attribute, AttributeKey, Block, Document, OpenerView};
use crate::expression::Scope;
use crate::json::Json;
use crate::program::{self, Action, ActionId, DeclarationContext, Dialect, Mode, ModeId, Program, ResolvedStrategy};
use crate::session::{PendingCall, Session};
use crate::surface::Role;
use crate::text::{Location, Present, SourceId, Span};
use crate::value::{ByteBudget, Object, Record, Value};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// What the judge decides about a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It counts as its role.
    Counts,
    /// It is inside another block, and counts as if it were outside.
    Lifted,
    /// It stays text of the block around it.
    Inner,
    /// It is shown raw, as part of the message.
    Text,
    /// It is removed.
    Dropped,
}

impl Fate {
    /// The fate in words, as the trace writes it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Fate::Counts => "counts",
            Fate::Lifted => "is lifted",
            Fate::Inner => "stays text of the block around it",
            Fate::Text => "is shown as text",
            Fate::Dropped => "is dropped",
        }
    }
}

/// What a defect is about.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// A place that is neither a block nor a piece of text, and the block around it, if any.
    Place(Option<usize>, Span),
    /// One block.
    Block(usize),
    /// Blocks of one name, in order, and how many of them may count.
    Blocks(Vec<usize>, usize),
    /// One call.
    Call(usize),
    /// Accepted calls, in order, and how many of them may count.
    Calls(Vec<usize>, usize),
    /// The parameters of a call that its action does not declare.
    Params(usize),
    /// Text outside every block, by the index of the piece.
    Outside(usize),
    /// The message as a whole if it is more than one block, with its first block.
    Message(Option<usize>),
    /// The whole answer, if no dialect could read it.
    Unread,
    /// The reply as a whole.
    Reply,
}

/// A response being judged.
pub(crate) struct Judgement<'r> {
    pub(crate) program: &'r Program,
    pub(crate) session: &'r Session,
    pub(crate) text: &'r str,
    pub(crate) document: &'r Document,
    pub(crate) dialect: Option<&'r Dialect>,
    pub(crate) mode: Option<&'r Mode>,
    mode_id: Option<ModeId>,
    /// Whether the host reports that the model ran out of tokens.
    truncated: bool,
    /// Where reasoning may be outside its blocks.
    reasoning: Vec<Reasoning>,
    /// Ranges that unclosed reasoning and unclosed quotations may cover.
    unclosed: Vec<Unclosed>,
    fates: Vec<Fate>,
    pub(crate) calls: Vec<JudgedCall<'r>>,
    pub(crate) texts: ComposedTexts,
    /// What guardrails have redacted.
    pub(crate) redactions: Redactions,
    /// Groups of blocks that are joined into one, in order.
    joined: Vec<Vec<usize>>,
    /// For a content that a later one with the same key replaces, the later one; for the later one `None`, because it
    /// is reported at the position of the first.
    replaced_contents: BTreeMap<usize, Option<usize>>,
    pub(crate) findings: Findings,
    pub(crate) steps: Steps,
    /// The defect that dropped a block or changed its fate; recorded only if a trace is wanted.
    pub(crate) causes: BTreeMap<usize, Code>,
    payloads: PayloadReadings,
    /// What was decided about the reply as a whole.
    pub(crate) ruling: Ruling,
    /// Whether the model may be asked again.
    pub(crate) may_ask_again: bool,
    computed: ComputedOnce,
    uncounted: UncountedCalls,
    turn: CallTurns<'r>,
    /// What conditions see as `reply`; each member is computed when it is first read.
    pub(crate) reply: Record,
    mode_name: Value,
    now: Value,
    occasion: Occasion<'r>,
    /// How many bytes everything that is made of the answer may take in total.
    pub(crate) budget: Arc<ByteBudget>,
}

/// What the reading of payloads has found.
struct PayloadReadings {
    /// For each section that could not be read without a loss, whether it has a value.
    readable: BTreeMap<usize, bool>,
    /// How many more values payloads may have in total.
    values: Rc<Cell<usize>>,
    /// By section: the JSON whose tolerated faults have not been reported yet.
    pending_faults: RefCell<BTreeMap<usize, Json>>,
    /// By block of a call that its payload names: the members that are neither the name nor the parameters.
    beside: BTreeMap<usize, Vec<Span>>,
}

/// What is computed when it is first needed.
#[derive(Default)]
struct ComputedOnce {
    /// The texts of contents, shared by conditions, effects and the outcome.
    content_texts: RefCell<BTreeMap<usize, Arc<str>>>,
    section_values: RefCell<BTreeMap<usize, Option<Value>>>,
    /// The places of reported marks that belong to no block, in order.
    marks: OnceCell<Vec<usize>>,
    /// The last closer of each name that closes nothing.
    strays: OnceCell<BTreeMap<String, usize>>,
    /// The wrapper around each block.
    wrappers: OnceCell<Vec<Option<usize>>>,
    /// The speakers of utterances, by block.
    speakers: RefCell<BTreeMap<usize, Speaker>>,
    /// The declared speakers.
    known_speakers: OnceCell<Option<Arc<Vec<Value>>>>,
}

/// Calls that do not count because of where they are.
#[derive(Default)]
struct UncountedCalls {
    /// Where the last call ends, if the mode allows no text after it.
    after: Option<usize>,
    /// The calls that are only quoted.
    quoted: BTreeSet<usize>,
    /// The calls and contents that a truncated answer may have left unfinished.
    unfinished: BTreeSet<usize>,
    /// The calls and contents whose closer comes again, and where it does.
    closed_again: BTreeMap<usize, Span>,
}

/// With `calls = "in-turn"`: the session as the accepted calls so far leave it, by which the permits of the next call are
/// judged.
struct CallTurns<'r> {
    /// Applies the effects of a call to a session.
    after_call: Option<Box<AfterCall<'r>>>,
    /// The session after the calls before.
    session: Option<Session>,
    /// How many calls have been applied to it.
    applied: usize,
}

/// What is being judged.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Occasion<'r> {
    /// An answer of the model.
    #[default]
    Answer,
    /// A call that a person has confirmed, as it waited; `None` if no such call waits. The requirements on the shape of
    /// an answer do not apply to it.
    Confirmed(Option<&'r PendingCall>),
    /// A call that a person has declined.
    Declined,
}

/// The session after a call: of the session before it, the action and its name, the parameters, and the call's place.
pub(crate) type AfterCall<'r> = dyn Fn(&Session, (ActionId, &str), &Value, Span) -> Session + 'r;

/// What is known about an answer besides its text.
pub(crate) struct Circumstances<'r> {
    /// Whether the host reports that the model ran out of tokens.
    pub(crate) truncated: bool,
    /// How often the model has already been asked again.
    pub(crate) attempts: usize,
    /// How many bytes everything that is made of the answer may take in total.
    pub(crate) budget: Arc<ByteBudget>,
    /// Applies the effects of a call to a session, if the pack sets `calls = "in-turn"`.
    pub(crate) after_call: Option<Box<AfterCall<'r>>>,
    pub(crate) occasion: Occasion<'r>,
}

/// Judges a document. There is a judgement for every document.
pub(crate) fn judge<'r>(
    program: &'r Program,
    session: &'r Session,
    text: &'r str,
    document: &'r Document,
    steps: Steps,
    circumstances: Circumstances<'r>,
) -> Judgement<'r> {
    let mut judgement = judge_parts(program, session, text, document, steps, circumstances);
    judgement.judge_guardrails();
    judgement.judge_permits_again();
    judgement
}

/// Judges a document by everything except guardrails.
pub(crate) fn judge_parts<'r>(
    program: &'r Program,
    session: &'r Session,
    text: &'r str,
    document: &'r Document,
    steps: Steps,
    circumstances: Circumstances<'r>,
) -> Judgement<'r> {
    let Circumstances { truncated, attempts, budget, after_call, occasion } = circumstances;
    let mode_id = program.mode_id(&session.mode);
    let dialect = document.dialect.and_then(|id| id.of(&program.dialects));
    // In a structured reply, text that no dialect reads is the message.
    let is_read = document.natives.as_ref().is_some_and(|natives| natives.is_read) && mode_id.is_some();
    let dialect = dialect.or_else(|| is_read.then_some(&program.native));
    let mut judgement = Judgement {
        program,
        session,
        text,
        document,
        dialect,
        mode: mode_id.and_then(|mode| program.modes.get_index(mode.0)).map(|(_, mode)| mode),
        mode_id,
        truncated,
        reasoning: Vec::new(),
        unclosed: Vec::new(),
        fates: vec![Fate::Counts; document.blocks.len()],
        calls: Vec::new(),
        texts: ComposedTexts::default(),
        redactions: Redactions::default(),
        joined: Vec::new(),
        replaced_contents: BTreeMap::new(),
        findings: Findings::new(program.limits.diagnostics, document.left_out.count),
        steps,
        causes: BTreeMap::new(),
        payloads: PayloadReadings {
            readable: BTreeMap::new(),
            values: Rc::new(Cell::new(program.limits.values)),
            pending_faults: RefCell::default(),
            beside: BTreeMap::new(),
        },
        ruling: Ruling::default(),
        may_ask_again: attempts < program.ask_again.most,
        computed: ComputedOnce::default(),
        uncounted: UncountedCalls::default(),
        turn: CallTurns { after_call, session: None, applied: 0 },
        occasion,
        reply: Record::default(),
        mode_name: session.mode.as_str().into(),
        now: session.now.as_deref().into(),
        budget,
    };
    judgement.judge_natives();
    judgement.judge_reading();
    judgement.judge_values();
    judgement.make_texts();
    if occasion == Occasion::Answer {
        judgement.judge_shape();
    }
    judgement.judge_calls();
    judgement.judge_contents();
    judgement.judge_content_permits();
    judgement.judge_lists();
    judgement.judge_speakers();
    judgement.judge_outside();
    judgement.judge_inline();
    judgement.judge_unclosed_alone();
    judgement.compose();
    judgement
}

impl<'r> Judgement<'r> {
    /// The declaration of a block in the pack.
    pub(crate) fn bound(&self, block: &Block) -> Option<&'r program::BlockBinding> {
        match block.is_native() {
            true => self.program.native_block(block.id),
            false => self.dialect_of(block)?.block(block.id),
        }
    }

    /// The dialect that reads a block.
    fn dialect_of(&self, block: &Block) -> Option<&'r Dialect> {
        let of_reasoning = || self.document.reasoning_of.and_then(|id| id.of(&self.program.dialects));
        if block.is_native() { Some(&self.program.native) } else { self.dialect.or_else(of_reasoning) }
    }

    pub(crate) fn block(&self, index: usize) -> Option<(&'r Block, &'r program::BlockBinding)> {
        let block = self.document.blocks.get(index)?;
        Some((block, self.bound(block)?))
    }

    /// The span of a whole block.
    pub(crate) fn span_of(&self, index: usize) -> Span {
        self.document.blocks.get(index).map(Block::span).present()
    }

    pub(crate) fn fate(&self, index: usize) -> Fate {
        self.fates.get(index).copied().unwrap_or(Fate::Dropped)
    }

    fn set_fate(&mut self, index: usize, fate: Fate) {
        if let Some(slot) = self.fates.get_mut(index) {
            *slot = fate;
        }
        // Blocks inside lose their own fate: nothing inside a removed or quoted block counts, except what was lifted
        // out of a removed one.
        if matches!(fate, Fate::Dropped | Fate::Text | Fate::Inner) {
            let blocks = &self.document.blocks;
            let end = blocks.get(index).map_or(0, |block| block.span().end);
            let inside = (index + 1..self.fates.len())
                .take_while(|child| blocks.get(*child).is_some_and(|block| block.span().start <= end));
            for child in inside {
                if self.is_inside(child, index, fate == Fate::Dropped)
                    && let Some(slot) = self.fates.get_mut(child)
                {
                    *slot = Fate::Inner;
                }
            }
        }
    }

    /// Whether a block is inside another one. With `unless_lifted`, a block that was lifted out, or is inside one
    /// that was, is not.
    fn is_inside(&self, child: usize, around: usize, unless_lifted: bool) -> bool {
        let mut at = Some(child);
        while let Some(index) = at.filter(|index| !(unless_lifted && self.fate(*index) == Fate::Lifted)) {
            at = self.document.blocks.get(index).and_then(|block| block.parent());
            if at == Some(around) {
                return true;
            }
        }
        false
    }

    /// Whether a block counts as its role.
    pub(crate) fn counts(&self, index: usize) -> bool {
        matches!(self.fate(index), Fate::Counts | Fate::Lifted)
    }

    /// The strategies that may answer a defect of the subject, in order.
    fn answers(&self, defect: Defect, subject: &Subject) -> impl Iterator<Item = ResolvedStrategy> + Clone + use<'r> {
        let call = match subject {
            Subject::Call(call) | Subject::Params(call) => self.calls.get(*call),
            Subject::Calls(calls, _) => calls.last().and_then(|call| self.calls.get(*call)),
            _ => None,
        };
        let block = match subject {
            Subject::Place(around, _) | Subject::Message(around) => *around,
            // The block around a nested block declares how it is answered.
            Subject::Block(block) if defect == Defect::NestedBlock => {
                self.document.blocks.get(*block).and_then(|block| block.parent())
            }
            Subject::Block(block) => Some(*block),
            Subject::Blocks(blocks, _) => blocks.last().copied(),
            _ => call.map(|call| call.block),
        };
        let action = call.and_then(|call| self.action_of(call)).or_else(|| self.action_of_block(block?));
        let block = block.and_then(|block| self.block(block)).map(|(_, bound)| bound);
        // A mark without a block may still name one, whose declaration takes precedence over the block around the
        // mark.
        let meant = match subject {
            Subject::Place(_, span) => self.meant_at(defect, *span),
            _ => None,
        };
        let block = meant.or(block);
        self.program.answers(defect, DeclarationContext { action, block, mode: self.mode })
    }

    /// The action of a call, if the pack has one of its name.
    fn action_of(&self, call: &JudgedCall<'_>) -> Option<&'r Action> {
        self.program.action(call.action?).map(|(_, action)| action)
    }

    /// The action that the block of a call names, whether the call is judged yet or not.
    fn action_of_block(&self, block: usize) -> Option<&'r Action> {
        let (block, bound) = self.block(block).filter(|(_, bound)| bound.role == Role::Call)?;
        let name = self.name_of(block, bound)?;
        let (_, action) = self.program.action(self.action_called(&name)?)?;
        Some(action)
    }

    /// The name of a block, from the first declared source that the block has.
    pub(crate) fn name_of(&self, block: &Block, bound: &'r program::BlockBinding) -> Option<Cow<'r, str>> {
        bound.sources().find_map(|source| self.called(block, source))
    }

    /// A name of a block, from one declared source.
    pub(crate) fn called(&self, block: &Block, called: &'r program::NameSource) -> Option<Cow<'r, str>> {
        match called {
            program::NameSource::Around(wrapper, attribute) => self.attribute_around(block, wrapper, attribute),
            program::NameSource::Payload { .. } => Some(self.opener_view(block)?.value_of(named_within(block)?)),
            called => self.opener_view(block)?.called(called),
        }
    }

    /// The attributes in the opener of a block, by their names as the dialect compares them. If a name is repeated,
    /// the first attribute counts.
    pub(crate) fn attributes(&self, index: usize) -> Value {
        let (Some(block), Some(dialect)) = (self.document.blocks.get(index), self.dialect) else {
            return Value::Null;
        };
        let view = OpenerView::of(self.text, dialect, block);
        let mut attributes = Object::new();
        for one in &block.attributes {
            let key = view.key_of(one).map(|key| dialect.names.fold(key));
            if let Some(key) = key.filter(|key| !attributes.contains_key(key)) {
                attributes.insert(&*key, view.value_of(one).into());
            }
        }
        attributes.into()
    }

    /// The name and attributes that the opener of a block gives.
    pub(super) fn opener_view<'b>(&self, block: &'b Block) -> Option<OpenerView<'r, 'b>> {
        Some(OpenerView::of(self.text, self.dialect_of(block)?, block))
    }

    /// Answers a defect: the first strategy that applies acts, and the finding records it.
    pub(crate) fn answer(&mut self, defect: Defect, subject: &Subject, finding: Diagnostic) -> Strategy {
        self.answer_with(self.answers(defect, subject), subject, finding)
    }

    fn answer_with(
        &mut self,
        strategies: impl Iterator<Item = ResolvedStrategy> + Clone,
        subject: &Subject,
        finding: Diagnostic,
    ) -> Strategy {
        let applies = |(strategy, _): &ResolvedStrategy| strategy::apply(*strategy, self, subject);
        // `take-stray-text` may find no text to take. If no other strategy applies, the finding still records it, so
        // that the outcome counts as degraded.
        let takes = |(strategy, _): &ResolvedStrategy| *strategy == Strategy::TakeStrayText;
        let chosen = strategies.clone().find(applies).or_else(|| strategies.clone().find(takes));
        let chosen = chosen.unwrap_or((Strategy::Keep, None));
        self.record(chosen, subject, finding);
        chosen.0
    }

    /// Records a defect with the strategy that has answered it.
    fn record(&mut self, (strategy, view): ResolvedStrategy, subject: &Subject, mut finding: Diagnostic) {
        self.note_cause(subject, &finding.code);
        if let (Subject::Call(call), true) = (subject, strategy.refuses()) {
            self.with_call(*call, |call| call.accepted = false);
        }
        self.ruling.decide(strategy, view, &mut finding);
        // A rule whose place is in the response, such as that of a native call, is declared in no pack.
        let declared = finding.rule.filter(|rule| rule.source != SourceId::RESPONSE);
        finding.rule = declared.or(view).or_else(|| self.surroundings(subject));
        self.find(finding);
    }

    /// The declaration of the surroundings of a subject: the block around it, or else the dialect.
    fn surroundings(&self, subject: &Subject) -> Option<Location> {
        let around = match subject {
            Subject::Place(around, _) => *around,
            Subject::Block(block) => self.document.blocks.get(*block)?.parent(),
            _ => return None,
        };
        let block = around.and_then(|block| self.block(block)).map(|(_, bound)| bound.at);
        block.or_else(|| self.dialect.map(|dialect| dialect.at))
    }

    /// Records, for each of the subject's blocks whose fate has changed, the first defect that changed it.
    fn note_cause(&mut self, subject: &Subject, code: &Code) {
        if !self.steps.are_wanted() {
            return;
        }
        let of_call = |call: &usize| self.calls.get(*call).map(|call| call.block);
        let blocks: Vec<usize> = match subject {
            Subject::Block(block) => vec![*block],
            Subject::Blocks(blocks, _) => blocks.clone(),
            Subject::Call(call) => of_call(call).into_iter().collect(),
            Subject::Calls(calls, _) => calls.iter().filter_map(of_call).collect(),
            Subject::Place(..) | Subject::Params(_) | Subject::Outside(_) | Subject::Message(_) => Vec::new(),
            Subject::Unread | Subject::Reply => Vec::new(),
        };
        for block in blocks {
            if self.fate(block) != Fate::Counts {
                self.causes.entry(block).or_insert_with(|| code.clone());
            }
        }
    }

    /// The value of an attribute in the opener of a block.
    pub(crate) fn attribute(&self, block: &Block, name: &str) -> Option<Cow<'r, str>> {
        let view = self.opener_view(block)?;
        view.attribute(name).map(|attribute| view.value_of(attribute))
    }

    /// The value of an attribute in the opener of a block, including the white space around it.
    pub(super) fn whole_attribute(&self, block: &Block, name: &str) -> Option<Cow<'r, str>> {
        let view = self.opener_view(block)?;
        view.attribute(name).map(|attribute| view.whole_value_of(attribute))
    }

    /// The name, key and text of a content that counts.
    pub(crate) fn content(&self, index: usize) -> Option<(Cow<'r, str>, Cow<'r, str>, Arc<str>)> {
        let (name, key) = self.key(index)?;
        let mut shared = self.computed.content_texts.borrow_mut();
        let text = shared.entry(index).or_insert_with(|| self.body(index).into());
        Some((name, key, Arc::clone(text)))
    }

    pub(crate) fn find(&mut self, finding: Diagnostic) {
        self.findings.add(finding);
    }

    pub(crate) fn remark(&mut self, remark: Remark, span: Span, message: impl Into<Message>, rule: Option<Location>) {
        let diagnostic = Diagnostic::new(Code::Remark(remark), Location::response(span), message);
        self.find(diagnostic.with_rule(rule));
    }

    /// The variables that all conditions see; callers add those of their place.
    pub(crate) fn scope(&self) -> Scope<'_> {
        let mut scope = Scope::new();
        scope.limit(&self.budget);
        scope.add_record("state", &self.session.state);
        scope.add("data", &self.program.data);
        scope.add("mode", &self.mode_name);
        scope.add("now", &self.now);
        scope.add_record("reply", &self.reply);
        scope
    }
}

/// The attribute for the block's name in its payload.
fn named_within(block: &Block) -> Option<&Attribute> {
    block.attributes.iter().find(|attribute| matches!(attribute.key, AttributeKey::Payload))
}

/// The part of a block that names it: the name in its payload, or else its opener.
pub(crate) fn head(block: &Block) -> Span {
    let opener = if block.opener().is_empty() { block.span() } else { block.opener() };
    named_within(block).map_or(opener, |name| name.value.span())
}

/// The finding for a defect at a place in the response.
pub(crate) fn defect(defect: Defect, span: Span, message: impl Into<Message>) -> Diagnostic {
    Diagnostic::new(Code::Defect(defect), Location::response(span), message)
}
