//! Release: which text of an answer that is still arriving is final?
//!
//! In: what has become certain of the document, and what each text waits for.
//! Out: stream events. The joined texts of a role are a prefix of what the outcome has for that role.
//! Never: judges: where a strategy, a guardrail or another block may still change a text, it waits for the outcome.

use super::contract::Outcome;
use crate::diagnostic::{Defect, Strategy};
use crate::document::{EventDraft, StreamEvent};
use crate::json;
use crate::program::{
    BlockId, DeclarationContext, Dialect, Guardrail, Mode, ModeId, Program, TextRole, Wait, WaitReason, WaitsUntil,
    Watching,
};
use crate::provider::PartKey;
use crate::session::Session;
use crate::surface::{Hold, Role};
use crate::text::{Slice, unsafe_because};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The roles that have texts, in the order in which a stream emits the rest of them at the end.
const ROLES: [Role; 5] = [Role::Thinking, Role::Message, Role::Section, Role::Content, Role::Utterance];
/// The maximum number of guardrail matches that a stream replaces in one text; after that, the text waits for the
/// outcome.
const MAX_MATCHES: usize = 64;

/// The texts of one answer, as far as they have been emitted.
#[derive(Debug)]
pub(super) struct Release {
    hold: Hold,
    mode: Option<ModeId>,
    /// By role, in the order of [`ROLES`].
    channels: [Channel; ROLES.len()],
    /// The blocks that are open, inner ones last.
    open: Vec<StreamedBlock>,
    /// How often each block has opened.
    opened: BTreeMap<BlockId, usize>,
    /// Whether a call has opened.
    calls: bool,
    /// Whether something before was cut off, or may be, so that all that follows may be part of it.
    may_be_inside: bool,
    /// Where the last block outside all others ended.
    behind: usize,
    /// How many bytes of text have been emitted.
    emitted_so_far: usize,
    /// The piece of reasoning that is arriving, if an API returns reasoning separately from the text.
    thinking: Option<PartKey>,
}

#[derive(Debug)]
struct StreamedBlock {
    /// The role as which its text is emitted; `None` if it has no text.
    role: Option<Role>,
    /// Whether it is a wrapper: a block inside it is not a nested block.
    wraps: bool,
    /// Whether nothing of it is emitted before it has ended.
    by_block: bool,
}

/// The texts of one role.
#[derive(Debug, Default)]
struct Channel {
    /// How many bytes have been emitted.
    emitted: usize,
    /// Whether everything that follows waits for the outcome.
    waits: bool,
    /// The text that is arriving, as it was written: that of the open block; for the message, all of it.
    text: String,
    /// How much of it has been emitted.
    done: usize,
    /// Where the current part starts in `text`; `None` before that part has any text.
    part: Option<usize>,
    /// The block of that part; `None` for text outside every block.
    from: Option<usize>,
    /// White space that counts only if more text follows.
    space: String,
    /// The guardrails that act on the text; `None` before they are known.
    guards: Option<Vec<TextGuard>>,
    /// How much of the text these guardrails have read.
    read: usize,
    /// The last place in it that is inside no match of any of them, however the text continues.
    free: usize,
    /// How many matches have been replaced.
    matches: usize,
}

/// A guardrail that acts on a text.
#[derive(Debug)]
struct TextGuard {
    rule: usize,
    refuses: bool,
    watching: Watching,
}

/// What is known about the answer.
#[derive(Clone, Copy)]
pub(super) struct ReleaseContext<'c> {
    pub(super) program: &'c Program,
    pub(super) session: &'c Session,
    /// The dialect that reads the answer.
    pub(super) dialect: Option<&'c Dialect>,
    pub(super) text: &'c str,
    /// The place from which on a strategy may still remove text outside every block.
    pub(super) doubtful: Option<usize>,
}

impl Release {
    /// With `strict`, the host asks to hold everything back, whatever the pack says.
    pub(super) fn new(program: &Program, session: &Session, strict: bool) -> Self {
        let mode = program.mode_id(&session.mode);
        let hold = mode.map_or(Hold::Settled, |mode| program.hold_in(mode).hold);
        Self {
            hold: if strict { Hold::Answer } else { hold },
            mode,
            channels: Default::default(),
            open: Vec::new(),
            opened: BTreeMap::new(),
            calls: false,
            may_be_inside: false,
            behind: 0,
            emitted_so_far: 0,
            thinking: None,
        }
    }

    /// The mode of the session; `None` if the pack does not have it.
    pub(super) fn mode<'p>(&self, program: &'p Program) -> Option<&'p Mode> {
        self.mode.and_then(|mode| program.modes.get_index(mode.0)).map(|(_, mode)| mode)
    }

    /// Whether nothing is emitted before the answer has been judged.
    pub(super) fn is_whole(&self) -> bool {
        self.hold == Hold::Answer
    }

    /// Whether text is emitted as a draft, as it arrives.
    pub(super) fn is_draft(&self) -> bool {
        self.hold == Hold::None
    }

    /// How many bytes of text have been emitted.
    pub(super) fn emitted_bytes(&self) -> usize {
        self.emitted_so_far
    }

    /// Emits what is final. Text that only the end of the answer made certain waits for the outcome.
    pub(super) fn emit(
        &mut self,
        context: ReleaseContext<'_>,
        drafts: Vec<EventDraft>,
        complete: bool,
    ) -> Vec<StreamEvent> {
        let mut events = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            if self.may_hide(context.program, &draft.event)
                && let StreamEvent::Opened { called, .. } = &mut draft.event
            {
                *called = None;
            }
            match (&draft.event, self.hold) {
                (StreamEvent::Text { text, .. }, Hold::None) => self.emitted_so_far += text.len(),
                (StreamEvent::Text { .. }, _) => {
                    if !complete && self.hold == Hold::Settled {
                        self.add(context, &draft, &mut events);
                    }
                    continue;
                }
                (StreamEvent::Opened { block, role, called, .. }, Hold::Settled) if !complete => {
                    self.begin(context, *block, *role, called.as_deref(), &draft);
                }
                (StreamEvent::Closed { .. }, Hold::Settled) if !complete => self.end(context, &draft, &mut events),
                _ => {}
            }
            events.push(draft.event);
        }
        events
    }

    /// Emits what is final of reasoning that an API returns separately from the text: each piece is a text of its
    /// own.
    pub(super) fn think(
        &mut self,
        context: ReleaseContext<'_>,
        key: PartKey,
        more: &str,
        events: &mut Vec<StreamEvent>,
    ) {
        let program = context.program;
        let native = program.native_block(BlockId::THINKING);
        let (Some(mode), Some(block)) = (self.mode, native) else { return };
        match self.hold {
            Hold::Answer => return,
            Hold::None => {
                self.emitted_so_far += more.len();
                let (role, text) = (Some(Role::Thinking), more.to_owned());
                return events.push(StreamEvent::Text { block: None, role, text });
            }
            Hold::Settled => {}
        }
        if self.thinking != Some(key) {
            self.release(context, Role::Thinking, true, events);
            // The outcome has earlier reasoning first, before what may have been emitted already.
            let is_early = self.thinking.is_some_and(|last| key < last);
            self.thinking = Some(key);
            let waits = program.waits(mode, &program.native, Some(block));
            let Some(channel) = self.channel(Role::Thinking) else { return };
            channel.waits |= is_early || channel.done < channel.text.len();
            channel.waits |= waits.iter().any(|wait| wait.until == WaitsUntil::Answer);
            channel.start(Role::Thinking, None);
            channel.guard(program, &waits);
        }
        self.channel(Role::Thinking).into_iter().for_each(|channel| channel.push(more, true, None));
        self.release(context, Role::Thinking, false, events);
    }

    /// The texts of the outcome that have not been emitted yet.
    pub(super) fn rest(&self, program: &Program, outcome: &Outcome) -> Vec<StreamEvent> {
        if self.hold == Hold::None {
            return Vec::new();
        }
        let shows = self.mode(program).and_then(|mode| mode.reply.shows.as_deref());
        let mut events = Vec::new();
        for (role, channel) in ROLES.into_iter().zip(&self.channels) {
            let mut emitted = channel.emitted;
            for text in texts_of(outcome, role, shows) {
                let skipped = emitted.min(text.len());
                emitted -= skipped;
                // INVARIANT: what has been emitted is a prefix of what the outcome has, so it ends with a character.
                debug_assert!(text.is_char_boundary(skipped), "{role:?}");
                if let Some(rest) = text.get(skipped..).filter(|rest| !rest.is_empty()) {
                    events.push(StreamEvent::Text { block: None, role: Some(role), text: rest.to_owned() });
                }
            }
        }
        events
    }

    /// Whether a guardrail may keep what an opener calls its block out of the outcome. A name of the pack is no secret.
    fn may_hide(&self, program: &Program, opened: &StreamEvent) -> bool {
        let StreamEvent::Opened { name: block, role, called: Some(called), .. } = opened else { return false };
        let is_written_freely = matches!(role, Role::Content | Role::Call | Role::Utterance | Role::Section);
        if !is_written_freely || program.actions.keys().chain([block]).any(|known| known.eq_ignore_ascii_case(called)) {
            return false;
        }
        let path = program.below_root(called);
        let is_key = *role == Role::Content;
        program.guardrails.of_answers(self.mode).any(|rule| {
            let trips = || [called.as_str(), &*path].into_iter().any(|key| rule.may_trip(key));
            rule.matches_from(called, 0).next().is_some() || (is_key && rule.checks_keys() && trips())
        })
    }

    fn channel(&mut self, role: Role) -> Option<&mut Channel> {
        self.channels.get_mut(ROLES.iter().position(|known| *known == role)?)
    }

    /// Makes all further text of a role wait for the outcome.
    fn wait(&mut self, role: Role) {
        self.channel(role).into_iter().for_each(|channel| channel.waits = true);
    }

    /// Handles the opening of a block.
    fn begin(
        &mut self,
        context: ReleaseContext<'_>,
        number: usize,
        role: Role,
        called: Option<&str>,
        draft: &EventDraft,
    ) {
        let ReleaseContext { program, dialect, .. } = context;
        let mode = self.mode.zip(self.mode(program));
        let bound = draft.id.zip(dialect).and_then(|(id, dialect)| Some((id, dialect, dialect.block(id)?)));
        let (Some((mode_id, mode)), Some((id, dialect, block))) = (mode, bound) else {
            self.open.push(StreamedBlock { role: None, wraps: false, by_block: false });
            return;
        };
        // A nested block may be removed from the block around it, or turn out to be its text.
        let is_nested = self.open.last().is_some_and(|outer| !outer.wraps);
        if let Some(outer) = self.open.last().and_then(|outer| outer.role) {
            self.wait(outer);
        }
        if is_nested || program.may_be_text(mode, dialect, block) {
            self.wait(Role::Message);
        }
        let emitted_as = block.streamed_role(mode);
        let is_outside = dialect.text == TextRole::Message && self.open.iter().all(|outer| outer.role.is_none());
        if is_outside
            && emitted_as != Role::Message
            && self.channel(Role::Message).is_some_and(|one| one.part.is_some())
        {
            // What remains of a line around the block is known only once the line has ended.
            self.wait(Role::Message);
        }
        let opened = self.opened.entry(id).or_default();
        *opened += 1;
        let count = mode.reply.count_of(dialect.id, id);
        let of_count = |other: &BlockId| count.is_some_and(|count| count.blocks.contains(&(dialect.id, *other)));
        let times: usize = self.opened.iter().filter(|(other, _)| of_count(other)).map(|(_, times)| times).sum();
        let near = DeclarationContext { block: Some(block), mode: Some(mode), ..DeclarationContext::default() };
        let is_beyond = count.and_then(|count| count.most).is_some_and(|most| times > most)
            && program.moving(Defect::DuplicateBlock, near).next().is_some();
        // Data that is still open where a call starts may have all that follows in it.
        if role == Role::Call && self.open.is_empty() {
            let between = context.text.get(self.behind..draft.start);
            self.may_be_inside |= between.is_some_and(json::awaits_value);
        }
        let may_be_taken = self.may_be_inside && program.taken_if_inside(near).is_some();
        // A block after a call may be after the last call.
        self.calls |= role == Role::Call;
        let is_late =
            self.calls && mode.reply.calls_last.is_some() && program.moving(Defect::OutOfOrder, near).next().is_some();
        let waits = program.waits(mode_id, dialect, Some(block));
        let is_unsafe = role == Role::Content
            && program.moving(Defect::UnsafePath, near).next().is_some()
            && !called.is_some_and(|key| is_safe_as_written(context.text.slice(draft.start..), key));
        let waits_for = |until: WaitsUntil| waits.iter().any(|wait| wait.until == until);
        let (at_end, by_block) = (waits_for(WaitsUntil::Answer), waits_for(WaitsUntil::Block));
        let Some(channel) = self.channel(emitted_as) else {
            self.open.push(StreamedBlock { role: None, wraps: role == Role::Wrapper, by_block: false });
            return;
        };
        channel.waits |= is_nested || is_beyond || is_late || is_unsafe || may_be_taken || at_end;
        channel.start(emitted_as, Some(number));
        channel.guard(program, &waits);
        self.open.push(StreamedBlock { role: Some(emitted_as), wraps: false, by_block });
    }

    /// Handles text of the open block, or text outside every block.
    fn add(&mut self, context: ReleaseContext<'_>, draft: &EventDraft, events: &mut Vec<StreamEvent>) {
        let ReleaseContext { program, dialect, .. } = context;
        let StreamEvent::Text { block, role, text } = &draft.event else { return };
        let mode = self.mode.zip(self.mode(program));
        let (Some((mode_id, mode)), Some(dialect)) = (mode, dialect) else { return };
        let mut text = text.as_str();
        match (role, block) {
            (None, _) => {
                // Such text is part of the message if a strategy says so, or if it is in a wrapper that turns out to
                // be unclosed, and text outside blocks is the message.
                let near = DeclarationContext { mode: Some(mode), ..DeclarationContext::default() };
                let may_be_message = dialect.text == TextRole::Message
                    || program.answers(Defect::StrayText, near).any(|(one, _)| one == Strategy::KeepAsText);
                if may_be_message && !text.trim().is_empty() {
                    self.wait(Role::Message);
                }
            }
            (Some(role), Some(_)) => {
                let by_block = self.open.last().is_some_and(|open| open.by_block);
                let Some(channel) = self.channel(*role) else { return };
                channel.push(text, false, mode.reply.separator.as_deref());
                if !by_block {
                    self.release(context, *role, false, events);
                }
            }
            (Some(Role::Message), None) if dialect.text == TextRole::Message => {
                let cut = context.doubtful.and_then(|at| at.checked_sub(draft.start)).filter(|at| *at < text.len());
                let is_past = context.doubtful.is_some_and(|at| at < draft.start)
                    || (self.calls && mode.reply.calls_last.is_some());
                text = cut.and_then(|cut| text.get(..cut)).unwrap_or(text);
                let waits = program.waits(mode_id, dialect, None);
                let Some(channel) = self.channel(Role::Message) else { return };
                // A fence around the whole answer is not part of its text.
                let is_framed =
                    dialect.masks.around && channel.text.is_empty() && text.trim_start().starts_with(['`', '~', '<']);
                channel.waits |= is_past || is_framed || waits.iter().any(|wait| wait.until > WaitsUntil::Match);
                if channel.from.is_some() || (channel.part.is_none() && channel.guards.is_none()) {
                    channel.start(Role::Message, None);
                    channel.guard(program, &waits);
                }
                channel.push(text, true, mode.reply.separator.as_deref());
                self.release(context, Role::Message, false, events);
                if cut.is_some() {
                    self.wait(Role::Message);
                }
            }
            // Text outside every block is a section only if no block has that name.
            (Some(role), None) => self.wait(*role),
        }
    }

    /// Handles the end of the open block.
    fn end(&mut self, context: ReleaseContext<'_>, draft: &EventDraft, events: &mut Vec<StreamEvent>) {
        let popped = self.open.pop();
        if let StreamEvent::Closed { span, .. } = &draft.event {
            self.behind = self.behind.max(span.end);
        }
        self.may_be_inside |= draft.cut && popped.as_ref().is_some_and(|block| !block.wraps);
        let Some(StreamedBlock { role: Some(role), by_block, .. }) = popped else { return };
        if by_block && !draft.whole {
            self.wait(role);
        }
        self.channel(role).into_iter().for_each(Channel::complete);
        self.release(context, role, role != Role::Message, events);
        let Some(channel) = self.channel(role) else { return };
        channel.waits |= channel.done < channel.text.len();
    }

    /// Emits the text of a role as far as no guardrail can act on it any more, or all of it if it is complete.
    fn release(&mut self, context: ReleaseContext<'_>, role: Role, is_complete: bool, events: &mut Vec<StreamEvent>) {
        let Some(channel) = self.channel(role).filter(|channel| !channel.waits) else { return };
        let Some(emitted) = channel.take(context, is_complete) else {
            // A guardrail refuses the answer: nothing more of it is emitted.
            self.channels.iter_mut().for_each(|channel| channel.waits = true);
            return;
        };
        if !emitted.is_empty() {
            channel.emitted += emitted.len();
            let block = channel.from;
            self.emitted_so_far += emitted.len();
            events.push(StreamEvent::Text { block, role: Some(role), text: emitted });
        }
    }
}

impl Channel {
    /// Starts a part of the text: for the message one of several, for other roles a text of its own.
    fn start(&mut self, role: Role, from: Option<usize>) {
        self.part = None;
        self.from = from;
        self.space.clear();
        if role != Role::Message {
            self.text.clear();
            self.done = 0;
            self.matches = 0;
            self.guards = None;
            self.read = 0;
            self.free = 0;
        }
    }

    /// Sets the guardrails for which the text waits. If they differ from those set before, the message waits for the
    /// outcome.
    fn guard(&mut self, program: &Program, waits: &[Wait]) {
        let acting = waits.iter().filter(|wait| wait.until == WaitsUntil::Match).filter_map(|wait| match wait.why {
            WaitReason::Guardrail(rule) => Some((rule, wait.strategy.is_some_and(Strategy::refuses))),
            _ => None,
        });
        let acting: Vec<(usize, bool)> = acting.collect();
        if let Some(guards) = &self.guards {
            self.waits |= !guards.iter().map(|guard| (guard.rule, guard.refuses)).eq(acting);
            return;
        }
        let mut guards = Vec::with_capacity(acting.len());
        for (rule, refuses) in acting {
            match program.guardrails.rules.get(rule).and_then(Guardrail::watch) {
                Some(watch) => guards.push(TextGuard { rule, refuses, watching: watch.start() }),
                None => self.waits = true,
            }
        }
        self.guards = Some(guards);
    }

    /// Adds text. White space at the start of text `outside` every block is not part of the message.
    fn push(&mut self, text: &str, outside: bool, separator: Option<&str>) {
        if self.waits {
            return;
        }
        let mut text = text;
        if self.part.is_none() {
            text = if outside { text.trim_start() } else { text };
            if text.is_empty() {
                return;
            }
            if !self.text.is_empty() {
                self.text.push_str(separator.unwrap_or("\n\n"));
            }
            self.part = Some(self.text.len());
        }
        let core = text.trim_end();
        if !core.is_empty() {
            self.text.push_str(&std::mem::take(&mut self.space));
            self.text.push_str(core);
        }
        self.space.push_str(text.slice(core.len()..));
    }

    /// The text of a block is complete: white space at its end is part of it.
    fn complete(&mut self) {
        self.text.push_str(&std::mem::take(&mut self.space));
    }

    /// Takes the text that no guardrail can act on any more, redacted; `None` if a guardrail refuses the answer.
    fn take(&mut self, context: ReleaseContext<'_>, is_complete: bool) -> Option<String> {
        let ReleaseContext { program, session, .. } = context;
        let until = if is_complete { self.text.len() } else { self.free_place(program) };
        let mut ranges: Vec<(Range<usize>, Arc<str>)> = Vec::new();
        if until <= self.done {
            return Some(String::new());
        }
        for guard in self.guards.as_deref().unwrap_or_default() {
            let Some(rule) = program.guardrails.rules.get(guard.rule) else { continue };
            for found in rule.matches_from(&self.text, self.done).take_while(|found| found.start < until) {
                if found.is_empty() || !program.trips(rule, session, &self.text, Some(&found)) {
                    continue;
                }
                self.matches += 1;
                let is_astride = self.part.is_some_and(|part| found.start < part);
                if guard.refuses || is_astride || self.matches > MAX_MATCHES {
                    self.waits = true;
                    return (!guard.refuses).then(String::new);
                }
                ranges.push((found, Arc::clone(&rule.with)));
            }
        }
        let from = std::mem::replace(&mut self.done, until);
        // If several matches start at the same place, the replacement of the first guardrail counts.
        ranges.sort_by_key(|(found, _)| found.start);
        let (mut emitted, mut at) = (String::with_capacity(until - from), from);
        for (found, with) in &ranges {
            if found.start >= at {
                emitted.push_str(self.text.slice(at..found.start));
                emitted.push_str(with);
            }
            at = at.max(found.end);
        }
        emitted.push_str(self.text.slice(at..until.max(at)));
        Some(emitted)
    }

    /// Reads the new text. Returns the last place that is inside no match of any guardrail, however the text continues:
    /// what is free for one of them may be in the middle of a match of another.
    fn free_place(&mut self, program: &Program) -> usize {
        let guards = self.guards.as_deref_mut().unwrap_or_default();
        if guards.is_empty() {
            return self.text.len();
        }
        for (at, byte) in self.text.bytes().enumerate().skip(self.read) {
            let mut is_free = self.text.is_char_boundary(at + 1);
            for guard in guards.iter_mut() {
                let watch = program.guardrails.rules.get(guard.rule).and_then(Guardrail::watch);
                is_free &= watch.is_some_and(|watch| guard.watching.read(watch, byte));
            }
            if is_free {
                self.free = at + 1;
            }
        }
        self.read = self.text.len();
        self.free
    }
}

/// Whether a key is a safe path as the opener at the start of `text` writes it: white space after it would be part of
/// it.
fn is_safe_as_written(text: &str, key: &str) -> bool {
    let behind = text.find(key).and_then(|at| text.get(at + key.len()..)).and_then(|rest| rest.chars().next());
    !key.is_empty() && unsafe_because(key).is_none() && behind.is_some_and(|next| !next.is_whitespace())
}

/// The texts of a role in an outcome, in order; for sections, without the one that is the message.
fn texts_of<'o>(outcome: &'o Outcome, role: Role, shows: Option<&str>) -> Vec<&'o str> {
    match role {
        Role::Message => vec![outcome.message.as_str()],
        Role::Thinking => outcome.thinking.iter().map(String::as_str).collect(),
        Role::Section => {
            let sections = outcome.sections.iter().filter(|section| shows != Some(section.name.as_str()));
            sections.map(|section| section.text.as_str()).collect()
        }
        Role::Content => outcome.contents.iter().map(|content| &*content.text).collect(),
        Role::Utterance => outcome.utterances.iter().map(|one| one.text.as_str()).collect(),
        Role::Call | Role::Wrapper => Vec::new(),
    }
}
