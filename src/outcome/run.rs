//! Running: how does one response become one outcome?
//!
//! In: a program, a session, a response, whole or in pieces.
//! Out: [`Outcome`].
//! Never: reads, judges or performs anything itself: it calls the floors above in their order.

use super::contract::{
    Call, ContentBlock, EffectRecord, Finding, Ledger, Origin, Outcome, Section, Status, Utterance, VERSION, Verdict,
    Withheld,
};
use super::reader::Broken;
use super::trace::trace;
use crate::diagnostic::{Code, Defect, Diagnostic, Findings, Remark, Strategy};
use crate::document::{Document, Readers};
use crate::flow::{Flow, Flowed, Performed};
use crate::judge::{AfterCall, Circumstances, Judgement, Leaf, Occasion, Steps, judge, judge_parts};
use crate::program::{ActionId, BlockId, DeclarationContext, Dialect, Program, RuleEvent};
use crate::prompt::Corrected;
use crate::session::Session;
use crate::surface::Role;
use crate::text::{Lines, Location, Present, Slice, Span, excerpt};
use crate::value::{ByteBudget, Object, Record, Value};
use smallvec::SmallVec;
use std::cell::LazyCell;
use std::sync::Arc;

/// The maximum number of calls whose form a correction text shows.
const MAX_CALLS: usize = 3;

/// What a host may specify for one run, besides the response itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Reads with this dialect only. A dialect that the pack does not have reads nothing, and a diagnostic reports
    /// that.
    pub dialect: Option<String>,
    /// Adds the trace to the outcome.
    pub trace: bool,
    /// Feeds a response that is given whole in pieces of this many bytes. The outcome does not depend on it.
    pub chunk: Option<usize>,
    /// Whether the host knows that the model ran out of tokens.
    pub truncated: bool,
    /// How often the model has already been asked again about this answer; the host counts.
    pub attempts: usize,
    /// Whether the prompt left reasoning open, so that the response continues it; `None` if the host does not know.
    /// It matters if a dialect has reasoning that `starts` an answer: with `true`, the response is reasoning up to
    /// its closer, or to its end. With `false`, it starts with reasoning only if it has the opener, so that a stream
    /// need not wait for a closer.
    pub thinking: Option<bool>,
    /// Whether a stream holds all of the response back until it has been judged, even if the pack does not ask for
    /// that.
    pub hold: bool,
    /// Whether the outcome of a refused response has what was read of it, in `withheld`. It must not be displayed.
    pub withheld: bool,
}

impl Program {
    /// Implements [`Program::run`].
    pub(crate) fn judge_text(&self, session: &Session, response: &str) -> Outcome {
        let options = Options::default();
        let mut readers = self.readers(session, &options);
        self.outcome(session, response, &readers.finish(&self.dialects, response), &options, &Broken::default())
    }

    /// Implements [`Program::run_with`].
    pub(crate) fn judge_bytes(&self, session: &Session, response: &[u8], options: &Options) -> Outcome {
        let mut reader = self.reader(session, options);
        for piece in response.chunks(options.chunk.unwrap_or(response.len()).max(1)) {
            reader.push(piece);
        }
        reader.finish().0
    }

    /// Reads a response without judging it, and returns the number of its blocks. Also used for measurements.
    #[doc(hidden)]
    pub fn read_only(&self, session: &Session, response: &str) -> usize {
        let mut readers = self.readers(session, &Options::default());
        readers.finish(&self.dialects, response).blocks.len()
    }

    /// What is read of a text: judged by everything but guardrails, and without effects.
    pub(super) fn read_parts(&self, session: &Session, text: &str) -> Withheld {
        let mut readers = self.readers(session, &Options::default());
        let document = readers.finish(&self.dialects, text);
        let (current, budget) = self.occasion(self.up_to_date(session), document.bytes);
        let circumstances =
            Circumstances { truncated: false, attempts: 0, budget, after_call: None, occasion: Occasion::Answer };
        parts(&mut judge_parts(self, &current, text, &document, Steps::new(false), circumstances))
    }

    /// The declared block of each block that one dialect finds in a response.
    pub(crate) fn blocks_read(&self, session: &Session, dialect: &str, response: &str) -> Vec<BlockId> {
        let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
        let mut readers = self.readers(session, &options);
        readers.finish(&self.dialects, response).blocks.iter().map(|block| block.id).collect()
    }

    pub(super) fn readers(&self, session: &Session, options: &Options) -> Readers {
        Readers::new(self.dialects_read(session, options).into_iter(), self.limits, options.thinking)
    }

    /// The dialects that may read an answer.
    pub(super) fn dialects_read(&self, session: &Session, options: &Options) -> SmallVec<[&Dialect; 2]> {
        match options.dialect.as_deref() {
            Some(only) => self.dialects.iter().filter(|dialect| dialect.name == only).collect(),
            None => self.modes.get(&session.mode).into_iter().flat_map(|mode| self.dialects_of(mode)).collect(),
        }
    }

    /// The outcome of a response that has been read.
    pub(super) fn outcome(
        &self,
        session: &Session,
        text: &str,
        document: &Document,
        options: &Options,
        broken: &Broken,
    ) -> Outcome {
        self.outcome_on(Occasion::Answer, session, text, document, options, broken)
    }

    /// Like [`Program::outcome`], for an answer or for a pending call that was confirmed or declined.
    pub(super) fn outcome_on(
        &self,
        occasion: Occasion<'_>,
        session: &Session,
        text: &str,
        document: &Document,
        options: &Options,
        broken: &Broken,
    ) -> Outcome {
        let (current, budget) = self.occasion(self.up_to_date(session), text.len());
        let session = &*current;
        let steps = Steps::new(options.trace);
        let after_call = self.in_turn.then(|| self.after_call(&budget));
        let circumstances =
            Circumstances { truncated: options.truncated, attempts: options.attempts, budget, after_call, occasion };
        let mut judged = judge(self, session, text, document, steps, circumstances);
        for offset in broken.first.iter().take(self.limits.diagnostics) {
            let span = Span::new(*offset, *offset + char::REPLACEMENT_CHARACTER.len_utf8());
            judged.remark(Remark::NotUtf8, span, "this is not UTF-8 and was replaced", None);
        }
        judged.findings.left_out += broken.count - broken.first.len().min(self.limits.diagnostics);
        if let Some(unread) = self.unread(session, options, &judged) {
            judged.find(unread);
        }
        let flowed = self.flow(&mut judged, occasion);
        if judged.budget.report() {
            let message = format!("something is left out: {}", ByteBudget::EXCEEDED);
            judged.find(Diagnostic::new(Code::Defect(Defect::TooCostly), Location::response(Span::default()), message));
        }
        let refused = judged.ruling.is_refused();
        // Redacted text is quoted nowhere: from here on, only messages about the response are made.
        if let Some(quote_filter) = judged.redactions.quote_filter() {
            judged.findings.list.iter_mut().for_each(|found| quote_filter.over(found));
        }
        let ask_again = judged.ruling.asks_again().then(|| self.correction_of(&judged));
        if refused {
            judged.findings.list.iter_mut().for_each(Diagnostic::hide_quotes);
        }
        let trace = options.trace.then(|| trace(&mut judged, &flowed));
        let ledger = ledger(&judged);
        let read = parts(&mut judged);
        let found = std::mem::replace(&mut judged.findings, Findings::new(0, 0));
        let mut outcome = Outcome {
            version: VERSION,
            status: match (judged.ruling.is_refused(), judged.ruling.is_degraded()) {
                (true, _) => Status::Refused,
                (false, true) => Status::Degraded,
                (false, false) => Status::Clean,
            },
            dialect: judged.dialect.filter(|dialect| !dialect.is_native()).map(|dialect| dialect.name.clone()),
            mode: session.mode.clone(),
            message: read.message,
            thinking: read.thinking,
            sections: read.sections,
            contents: read.contents,
            utterances: read.utterances,
            calls: read.calls,
            effects: self.records(flowed.done, judged.text),
            diagnostics: self.findings(found, judged.text),
            ask_again,
            ledger,
            redacted: judged.redactions.hidden().iter().map(|span| (*span).into()).collect(),
            session: flowed.session,
            withheld: None,
            trace,
        };
        if let Some(natives) = &judged.document.natives {
            outcome.place(natives, judged.text);
        }
        self.pend(&mut outcome, occasion);
        if refused {
            withhold(&mut outcome, options.withheld);
            let words = judged.mode.and_then(|mode| mode.reply.refused.as_ref());
            // If the template fails, the message is empty, as it is without a template.
            outcome.message = words.and_then(|words| words.text(&judged.scope()).ok()).unwrap_or_default();
        }
        outcome
    }

    /// An error if no dialect could read at all: the host named an unknown dialect or mode, or it passed a text in a
    /// mode that has no dialects.
    fn unread(&self, session: &Session, options: &Options, judged: &Judgement<'_>) -> Option<Diagnostic> {
        let misfit = |message: String| Diagnostic::new(Code::SESSION_MISFIT, None, message);
        let misfit = match (&options.dialect, judged.mode) {
            (Some(only), _) if self.dialects().any(|name| name == only) => return None,
            (Some(only), _) => {
                misfit(format!("the pack has no dialect `{}`", excerpt(only, 60))).with_nearest(only, self.dialects())
            }
            (None, None) => self.no_mode(&session.mode),
            (None, Some(mode)) => {
                let is_text = judged.document.natives.is_none() && !judged.text.trim().is_empty();
                if !is_text || self.dialects_of(mode).next().is_some() {
                    return None;
                }
                let help =
                    "what an API returned is judged as its message (`--from`); for a text, declare `[dialects.NAME]`";
                misfit(format!("the mode `{}` has no dialect: nothing reads a text", excerpt(&session.mode, 60)))
                    .with_help(help)
            }
        };
        let (code, at) = (Code::Defect(Defect::NoDialect), Location::response(Span::default()));
        Some(Diagnostic { code, at: Some(at), strategy: Some(Strategy::Keep), ..misfit })
    }

    /// Performs the effects of everything accepted, in the order of the response, and runs the rules.
    fn flow(&self, judged: &mut Judgement<'_>, occasion: Occasion<'_>) -> Flowed {
        if judged.ruling.is_refused() {
            let (reply, steps) = (Record::default(), Steps::default());
            let mut flowed = Flow::new(self, judged.session, reply, steps, &judged.budget).finish();
            std::mem::take(&mut flowed.findings).into_iter().for_each(|finding| judged.find(finding));
            return flowed;
        }
        judged.prepare_reply(&self.effects_read);
        let steps = Steps::new(judged.steps.are_wanted());
        let flow = Flow::new(self, judged.session, judged.reply.clone(), steps, &judged.budget);
        let mut flow = flow.asking(judged.may_ask_again);
        let mut dropped = false;
        let order = order(judged);
        for place in 0..judged.document.blocks.len() {
            let index = order.as_ref().and_then(|order| order.get(place)).copied().unwrap_or(place);
            if let Ok(call) = judged.calls.binary_search_by_key(&index, |call| call.block) {
                self.perform_call(&mut flow, judged, call);
            } else if let Some(index) = judged.reported_at(index)
                && !self.perform_content(&mut flow, judged, index)
            {
                dropped |= self.hear_utterance(&mut flow, judged, index);
            }
        }
        if dropped {
            judged.reply = Record::default();
            judged.prepare_reply(&self.effects_read);
            flow.see(judged.reply.clone());
        }
        flow.answered();
        if occasion == Occasion::Answer {
            flow.handle_event(RuleEvent::Reply, &[], Span::new(0, judged.document.bytes));
        }
        let mut flowed = flow.finish();
        for finding in std::mem::take(&mut flowed.findings) {
            judged.find(finding);
        }
        judged.ruling.and(flowed.ruling);
        if judged.ruling.is_refused() {
            flowed.session = judged.session.clone();
            flowed.session.state.end_occasion();
            flowed.done.clear();
        }
        flowed
    }

    /// Applies the effects of a single call to a session, without those that the host would carry out.
    fn after_call<'p>(&'p self, budget: &Arc<ByteBudget>) -> Box<AfterCall<'p>> {
        let budget = Arc::clone(budget);
        Box::new(move |session, (action, name), params, span| {
            let Some((_, action)) = self.action(action) else { return session.clone() };
            let mut flow = Flow::new(self, session, Record::default(), Steps::default(), &budget);
            let near = DeclarationContext { action: Some(action), ..DeclarationContext::default() };
            flow.perform(&action.effects, &[("action", &name.into()), ("params", params)], span, near);
            flow.into_session()
        })
    }

    fn perform_call<'p>(&'p self, flow: &mut Flow<'p>, judged: &Judgement<'p>, call: usize) {
        let Some(call) = judged.calls.get(call) else { return };
        let action = call.action.filter(|_| call.is_carried_out()).and_then(|id| self.action(id));
        if let (Some((_, action)), Some(block)) = (action, judged.document.blocks.get(call.block)) {
            let near = DeclarationContext { action: Some(action), block: judged.bound(block), mode: None };
            let name = Value::from(&*call.name);
            flow.perform(&action.effects, &[("action", &name), ("params", &call.params)], block.span(), near);
        }
    }

    /// Performs the effects of the content in block `index`; returns whether there were any.
    fn perform_content<'p>(&'p self, flow: &mut Flow<'p>, judged: &Judgement<'p>, index: usize) -> bool {
        let declared = judged.content_name(index).and_then(|name| self.contents.get(&*name));
        if let Some(content) = declared.filter(|content| !content.effects.is_empty() && judged.has_effect(index))
            && let Some((name, key, text)) = judged.content(index)
            && let Some(block) = judged.document.blocks.get(index)
        {
            let (name, key, text) = (name.into(), key.into(), text.into());
            let reads = self.effects_read.iter().any(|path| path.first().is_some_and(|name| name == "attributes"));
            let attributes = if reads { judged.attributes(index) } else { Value::Null };
            let names = [("name", &name), ("key", &key), ("text", &text), ("attributes", &attributes)];
            let near = DeclarationContext { block: judged.bound(block), ..DeclarationContext::default() };
            flow.perform(&content.effects, &names, block.span(), near);
            return true;
        }
        false
    }

    /// Runs the rules for the utterance in block `index`. Returns whether the utterance exceeded the turn limit and
    /// was dropped.
    fn hear_utterance(&self, flow: &mut Flow<'_>, judged: &mut Judgement<'_>, index: usize) -> bool {
        if !self.flows.listen_to_utterances() || judged.speaker(index).is_none() {
            return false;
        }
        if flow.is_beyond_limit() {
            judged.judge_beyond_limit(index);
        }
        if !judged.counts(index) {
            return true;
        }
        if let (Some(speaker), Some(block)) = (judged.speaker(index), judged.document.blocks.get(index)) {
            let text = judged.body(index).into_owned();
            let [speaker, label] = [speaker.name, speaker.label].map(Value::from);
            let text = Value::from(text);
            let names = [("speaker", &speaker), ("label", &label), ("text", &text)];
            flow.handle_event(RuleEvent::Utterance, &names, block.span());
        }
        false
    }

    /// The correction text for the model, for a response answered by `ask-again`.
    fn correction_of(&self, judged: &Judgement<'_>) -> String {
        let mut findings = judged.findings.list.clone();
        findings.sort_by_key(|found| found.at.map(|at| at.span.start));
        let mut calls: Vec<ActionId> = Vec::new();
        // A faulty call may still count as accepted: the whole answer is refused because of it.
        let start = |found: &Diagnostic| found.at.map(|at| at.span.start);
        let is_faulty = |span: Span| {
            let first = findings.partition_point(|found| start(found) < Some(span.start));
            let mut inside = findings.iter().skip(first).take_while(|found| start(found) < Some(span.end));
            inside.any(|found| matches!(found.code, Code::Defect(_)))
        };
        for call in &judged.calls {
            let block = judged.document.blocks.get(call.block);
            if !call.accepted || block.is_some_and(|block| is_faulty(block.span())) {
                calls.extend(call.action.filter(|id| !calls.contains(id)));
            }
        }
        // An opener that cannot be read may still name the call that was meant.
        let broken = findings.iter().filter(|found| found.code == Code::Defect(Defect::MalformedOpener));
        for found in broken {
            let opener = found.at.map_or("", |at| at.span.of(judged.text));
            let action = judged.dialect.and_then(|dialect| self.action_of_opener(dialect, opener));
            calls.extend(action.filter(|id| !calls.contains(id)));
        }
        calls.truncate(MAX_CALLS);
        let lines = Lines::new(judged.text.slice(..judged.document.bytes));
        let answer = Corrected { dialect: judged.dialect, natives: judged.document.natives.as_deref(), lines };
        let faults = answer.faults(&findings);
        self.ask_again(judged.session, answer.dialect, answer.is_native(), &calls, &faults, &judged.budget)
    }

    /// The action whose name follows the start of an opener that cannot be read.
    fn action_of_opener(&self, dialect: &Dialect, opener: &str) -> Option<ActionId> {
        let mut prefixes =
            dialect.families.iter().map(|family| &family.open_prefix).filter(|prefix| prefix.name_follows);
        let name = prefixes.find_map(|prefix| opener.strip_prefix(prefix.literal.as_str()))?;
        let spells = |known: &str| dialect.names.same(known, name);
        let spelled = || {
            let mut actions = self.actions_by_id();
            actions.find(|(_, declared, action)| action.spellings(declared).any(spells)).map(|(id, ..)| id)
        };
        let id = self.action_id(name).or_else(spelled)?;
        dialect.blocks.iter().any(|block| dialect.may_be_called(block, name)).then_some(id)
    }

    /// The performed effects; those that may fail on a file have their origin, as a place in the text.
    fn records(&self, done: Vec<Performed>, text: &str) -> Vec<EffectRecord> {
        let lines = LazyCell::new(|| Lines::new(text));
        let record = |done: Performed| {
            let span = done.span;
            let mut record = self.record(done);
            if record.effect.may_miss() {
                let place = lines.place(span.start);
                record.origin = Some(Origin { span: span.into(), line: place.line, column: place.column });
            }
            record
        };
        done.into_iter().map(record).collect()
    }

    pub(super) fn record(&self, done: Performed) -> EffectRecord {
        EffectRecord { effect: done.effect, cause: self.place(done.cause), origin: None }
    }

    /// The findings, ordered by place, then by code.
    pub(super) fn findings(&self, found: Findings, text: &str) -> Vec<Finding> {
        let mut found = found.into_list(text.len());
        if found.is_empty() {
            return Vec::new();
        }
        found.sort_by_key(|found| found.at.map(|at| at.span.start));
        let lines = Lines::new(text);
        let mut findings: Vec<Finding> = found.into_iter().map(|found| self.finding(found, &lines)).collect();
        findings.sort_by(|one, other| {
            let key = |one: &'_ Finding| (one.span.start, one.span.end);
            let ((start, end), (other_start, other_end)) = (key(one), key(other));
            start.cmp(&other_start).then_with(|| one.code.as_str().cmp(other.code.as_str())).then(end.cmp(&other_end))
        });
        findings
    }

    fn finding(&self, found: Diagnostic, lines: &Lines<'_>) -> Finding {
        let span = found.at.map(|at| at.span).unwrap_or_default();
        let place = lines.place(span.start);
        Finding {
            span: span.into(),
            line: place.line,
            column: place.column,
            rule: found.rule.and_then(|rule| self.place(rule)),
            ..Finding::of(found)
        }
    }
}

/// The blocks in the order in which the model wrote them, if that is not their order in the document: the calls of a
/// structured reply may be between its texts.
fn order(judged: &Judgement<'_>) -> Option<Vec<usize>> {
    let natives = judged.document.natives.as_ref()?;
    let mut order: Vec<usize> = (0..judged.document.blocks.len()).collect();
    order.sort_by_key(|index| natives.order(*index, judged.span_of(*index).start));
    Some(order)
}

/// What was read of a response: its parts, from the blocks that count.
fn parts(judged: &mut Judgement<'_>) -> Withheld {
    let mut read = Withheld::default();
    let reported = (0..judged.document.blocks.len()).filter_map(|index| judged.reported_at(index));
    for (index, block) in reported.filter_map(|index| Some((index, judged.document.blocks.get(index)?))) {
        let Some(bound) = judged.bound(block).filter(|_| judged.counts(index)) else { continue };
        match bound.role {
            Role::Message | Role::Call | Role::Wrapper => {}
            Role::Thinking => read.thinking.extend(judged.body_joined(index).map(|(text, _)| text.into_owned())),
            Role::Section => {
                let Some((text, whole)) = judged.body_joined(index) else { continue };
                let name = judged.content_name(index).unwrap_or_default().into_owned();
                let value = judged.section_value(index);
                read.sections.push(Section { name, text: text.into_owned(), value, span: whole.into() });
            }
            Role::Content => {
                if let Some((name, key, text)) = judged.content(index) {
                    let (name, key) = (name.into_owned(), key.into_owned());
                    let attributes = judged.attributes(index);
                    read.contents.push(ContentBlock { name, key, attributes, text, span: block.span().into() });
                }
            }
            Role::Utterance => {
                let Some(speaker) = judged.speaker(index) else { continue };
                let [speaker, label] = [speaker.name, speaker.label].map(|one| one.as_ref().to_owned());
                let text = judged.body(index).into_owned();
                read.utterances.push(Utterance { speaker, label, text, offset: 0, span: block.span().into() });
            }
        }
    }
    if let Some((name, text)) = &judged.texts.section {
        let section = Section { name: name.clone(), text: text.text.clone(), value: None, span: text.span.into() };
        let at = read.sections.partition_point(|section| section.span.start < text.span.start);
        read.sections.insert(at, section);
    }
    read.calls.reserve_exact(judged.calls.len());
    for call in &mut judged.calls {
        let block = judged.document.blocks.get(call.block).map(|block| block.span()).present();
        read.calls.push(Call {
            id: judged.document.natives.as_ref().and_then(|natives| natives.id(call.block)).map(str::to_owned),
            action: call.name.to_string(),
            params: std::mem::take(&mut call.params),
            verdict: match () {
                () if judged.ruling.is_refused() || !call.accepted => Verdict::Dropped,
                () if call.confirm.is_some() => Verdict::Pending,
                () => Verdict::Accepted,
            },
            pending: call.confirm.take().filter(|_| call.accepted && !judged.ruling.is_refused()),
            span: block.into(),
        });
    }
    if !judged.texts.message_dropped {
        let message = std::mem::take(&mut judged.texts.message);
        for utterance in &mut read.utterances {
            utterance.offset = message.before(utterance.span.start);
        }
        read.message = message.text;
    }
    read
}

/// Moves what was read of a refused response out of its outcome, since it must not be displayed; to `withheld` if
/// `wanted`.
pub(super) fn withhold(outcome: &mut Outcome, wanted: bool) {
    let calls = outcome.calls.clone();
    for call in &mut outcome.calls {
        call.params = Object::new().into();
    }
    let withheld = Withheld {
        message: std::mem::take(&mut outcome.message),
        thinking: std::mem::take(&mut outcome.thinking),
        sections: std::mem::take(&mut outcome.sections),
        contents: std::mem::take(&mut outcome.contents),
        utterances: std::mem::take(&mut outcome.utterances),
        calls,
    };
    outcome.withheld = wanted.then_some(withheld);
}

fn ledger(judged: &Judgement<'_>) -> Ledger {
    let parts = judged.document.natives.as_ref().map(|natives| natives.parts.iter().map(|part| part.len()).sum());
    let mut ledger = Ledger { bytes: parts.unwrap_or(judged.text.len()), ..Ledger::default() };
    judged.leaves(|span, leaf| {
        let slot = match leaf {
            Leaf::Message => &mut ledger.message,
            Leaf::Thinking => &mut ledger.thinking,
            Leaf::Calls => &mut ledger.calls,
            Leaf::Contents => &mut ledger.contents,
            Leaf::Sections => &mut ledger.sections,
            Leaf::Utterances => &mut ledger.utterances,
            Leaf::Markup => &mut ledger.markup,
            Leaf::Stray => &mut ledger.stray,
            Leaf::Dropped => &mut ledger.dropped,
            Leaf::Blank => &mut ledger.blank,
        };
        *slot += span.len();
    });
    ledger
}
