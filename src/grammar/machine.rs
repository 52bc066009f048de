//! Machine: does a rule match here, and what does it capture?
//!
//! In: a grammar, one of its rules, a text that may still grow, a budget of steps.
//! Out: [`Progress`], and the [`Capture`]s of a match.
//! Never: recurses on the text, reads a byte twice without counting a step, or returns a result that more text could
//! change.

use super::code::{CharSet, Instruction, RuleCode, Short, StopTexts, Stops};
use super::{Grammar, RuleId};
use crate::text::{Present, Slice, Span, eights};
use smallvec::SmallVec;
use std::fmt;

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The rule matches up to this byte; more text cannot change that.
    Matched(usize),
    /// The rule does not match; more text cannot change that.
    Failed,
    /// The result depends on text that has not arrived. Run again when the text has grown, or is complete.
    Pending,
    /// The rule is nested more deeply than the machine can follow.
    TooDeep,
    /// All steps are spent. Run again with more steps to continue.
    Spent,
}

/// A part of a match, consumed by one rule.
///
/// Captures are listed in the order of their starts, an outer one before those inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    // Packed into two words: a struct of four fields is not passed in registers, and every rule that matches in an
    // opener makes a capture.
    /// The end in the upper half, the start in the lower.
    span: u64,
    /// The next capture in the upper half, the rule in the lower.
    order: u64,
}

impl Capture {
    fn new(rule: u16, start: usize, end: u32, next: u32) -> Self {
        Self { span: halves(end, start as u32), order: halves(next, rule.into()) }
    }

    /// The rule of the capture.
    pub fn rule(&self) -> RuleId {
        RuleId(self.order as u16)
    }

    /// The bytes of the capture.
    pub fn span(&self) -> Span {
        Span::new(self.span as u32 as usize, (self.span >> 32) as usize)
    }

    /// The index of the first capture after this one that is not inside it.
    pub fn next(&self) -> usize {
        (self.order >> 32) as usize
    }

    /// Ends the capture, with the index of the `next` one; returns the index that was stored in its place before.
    fn close(&mut self, end: usize, next: u32) -> u32 {
        let before = self.next() as u32;
        *self = Self::new(self.rule().0, self.span as u32 as usize, end as u32, next);
        before
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} until {}", self.rule(), self.span(), self.next())
    }
}

fn halves(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The captures directly inside the one at `outer`, or the outermost ones, each with its index.
pub fn inside(captures: &[Capture], outer: Option<usize>) -> impl Iterator<Item = (usize, &Capture)> {
    let (mut at, end) = match outer {
        Some(outer) => (outer + 1, captures.get(outer).map_or(0, Capture::next)),
        None => (0, captures.len()),
    };
    std::iter::from_fn(move || {
        let capture = captures.get(at).filter(|_| at < end)?;
        // Guarantee progress even if `next` points backwards.
        let here = at;
        at = capture.next().max(at + 1);
        Some((here, capture))
    })
}

/// A frame of the stack: where to continue after a failure or at the end of a rule.
#[derive(Debug, Clone, Copy)]
struct ReturnFrame {
    to: u32,
    at: u32,
    /// The number of captures when the frame was pushed, or [`CALL`].
    captures: u32,
    open: u32,
}

/// The number of captures in a frame to return to at the end of a rule.
const CALL: u32 = u32::MAX;
/// The index that means no capture.
const NONE: u32 = u32::MAX;
/// The default limit on the number of frames: 64 KiB.
const MAX_FRAMES: usize = 4096;
/// Most matches have at most this many captures.
const FEW_CAPTURES: usize = 8;
/// The room for frames that is reserved when a match first needs one.
const FIRST_FRAMES: usize = 16;
/// The bytes of a run over a set that cost one step.
const BYTES_PER_STEP: usize = 16;

/// Runs a rule. A machine reuses its memory from run to run.
#[derive(Debug)]
pub struct Machine {
    frames: Vec<ReturnFrame>,
    captures: SmallVec<[Capture; FEW_CAPTURES]>,
    most: usize,
    most_captures: usize,
    op: u32,
    at: usize,
    open: u32,
    /// The rule before whose next capture the run stops.
    stop: Option<RuleId>,
    /// The rule to match, if it has a short form and no instruction has been executed yet.
    started: Option<RuleId>,
    done: Option<Progress>,
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

/// The next step after an instruction. Small enough for a register.
#[derive(Debug, Clone, Copy)]
enum Advance {
    /// Continue with the next instruction.
    On,
    /// Continue with this instruction.
    To(u32),
    Fail,
    /// Stop here until more text has arrived.
    Wait,
    TooDeep,
    Matched,
}

impl Machine {
    /// A machine with nothing to run.
    pub fn new() -> Self {
        Self::with_depth(MAX_FRAMES)
    }

    /// A machine whose stack can have `most` frames of 16 bytes each.
    pub fn with_depth(most: usize) -> Self {
        let done = Some(Progress::Failed);
        Self {
            frames: Vec::new(),
            captures: SmallVec::new(),
            most,
            most_captures: NONE as usize,
            op: 0,
            at: 0,
            open: NONE,
            stop: None,
            started: None,
            done,
        }
    }

    /// The machine, limited to `most` captures at a time; a match with more ends in [`Progress::TooDeep`].
    pub fn capturing(self, most: usize) -> Self {
        Self { most_captures: most, ..self }
    }

    /// Prepares to match `rule` at byte `at` of a text. Drops the state of the last run.
    pub fn start(&mut self, grammar: &Grammar, rule: RuleId, at: usize) {
        self.frames.clear();
        self.captures.clear();
        let entry = grammar.code.entries.get(usize::from(rule.0));
        self.op = entry.map_or(0, |entry| entry.op);
        self.at = at;
        self.open = NONE;
        self.stop = None;
        self.done = if entry.is_none() { Some(Progress::Failed) } else { None };
        self.started = entry.is_some_and(|entry| entry.short.is_some()).then_some(rule);
    }

    /// The captures of a match or, while it is pending, of the text so far.
    pub fn captures(&self) -> &[Capture] {
        &self.captures
    }

    /// Continues where the machine stopped. `text` is the text of the last run, to which more may have been appended;
    /// if it is `complete`, nothing will be appended. The grammar must be that of [`start`](Self::start).
    ///
    /// Each instruction costs one of the `steps`, and so do every 16 bytes of a run over characters of one class. The
    /// steps are the same whether the text arrives at once or in chunks. The last instruction may cost more than are
    /// left, so that `steps` becomes negative. A text of 4 GiB or more spends all steps.
    pub fn run(&mut self, grammar: &Grammar, text: &str, complete: bool, steps: &mut i64) -> Progress {
        if let Some(done) = self.done {
            return done;
        }
        if text.len() >= NONE as usize {
            *steps = 0;
            return Progress::Spent;
        }
        if self.at <= text.len() && !text.is_char_boundary(self.at) {
            return self.finish(Progress::Failed);
        }
        let short = self.started.take().and_then(|rule| self.short(rule, &grammar.code, text, steps));
        let progress = match short {
            Some(end) => Progress::Matched(end),
            None => self.execute(&grammar.code, text, complete, steps),
        };
        match progress {
            Progress::Pending | Progress::Spent => progress,
            done => self.finish(done),
        }
    }

    /// Like [`run`](Self::run), but stops where the next capture of `rule` starts, and returns that offset.
    pub(crate) fn run_to(
        &mut self,
        rule: RuleId,
        grammar: &Grammar,
        text: &str,
        complete: bool,
        steps: &mut i64,
    ) -> Result<usize, Progress> {
        self.stop = Some(rule);
        let progress = self.run(grammar, text, complete, steps);
        match self.stop.take() {
            None => Ok(self.at),
            Some(_) => Err(progress),
        }
    }

    /// Where a match of `rule` at byte `at` ends, if it is found within the `steps`. The text must be complete.
    #[inline]
    pub fn match_at(
        &mut self,
        grammar: &Grammar,
        rule: RuleId,
        text: &str,
        at: usize,
        steps: &mut i64,
    ) -> Option<usize> {
        self.start(grammar, rule, at);
        match self.run(grammar, text, true, steps) {
            Progress::Matched(end) => Some(end),
            _ => None,
        }
    }

    /// Like [`match_at`](Self::match_at), for a rule with a name in it: returns the spans of the match and of the name.
    /// If the rule has a short form, nothing else is captured.
    #[inline]
    pub(crate) fn match_named(
        &mut self,
        grammar: &Grammar,
        (rule, name): (RuleId, RuleId),
        text: &str,
        at: usize,
        steps: &mut i64,
    ) -> Option<(Span, Option<Span>)> {
        if text.len() < NONE as usize
            && let Some((short, named)) = shortest(rule, &grammar.code, text, at, steps)
            && short.name == name.0
        {
            self.captures.clear();
            return Some((Span::new(at, named.end + 1), Some(named)));
        }
        self.start(grammar, rule, at);
        self.started = None;
        let Progress::Matched(end) = self.run(grammar, text, true, steps) else { return None };
        let named = self.captures.iter().find(|capture| capture.rule() == name);
        Some((Span::new(at, end), named.map(|named| named.span())))
    }

    fn finish(&mut self, done: Progress) -> Progress {
        if !matches!(done, Progress::Matched(_)) {
            self.captures.clear();
        }
        self.done = Some(done);
        done
    }

    fn execute(&mut self, code: &RuleCode, text: &str, complete: bool, steps: &mut i64) -> Progress {
        let bytes = text.as_bytes();
        let mut op = self.op;
        let mut at = self.at;
        let mut left = *steps;
        let progress = loop {
            if left <= 0 {
                break Progress::Spent;
            }
            left -= 1;
            let Some(current) = code.ops.get(op as usize) else { break Progress::Failed };
            let next = bytes.get(at).copied();
            // At the end of the text: fail if the text is complete, suspend otherwise.
            let at_end = if complete { Advance::Fail } else { Advance::Wait };
            let step = match *current {
                Instruction::Byte(byte) => match next {
                    Some(next) if next == byte => {
                        at += 1;
                        Advance::On
                    }
                    Some(_) => Advance::Fail,
                    None => at_end,
                },
                Instruction::One(set) => match (next, code.set(set)) {
                    (Some(next), Some(set)) => match taken(set, text, at, next) {
                        0 => Advance::Fail,
                        length => {
                            at += length;
                            Advance::On
                        }
                    },
                    _ => at_end,
                },
                Instruction::Span(set) => {
                    let start = at;
                    if let Some(set) = code.set(set) {
                        at = run_over(set, text, at);
                    }
                    left -= steps_over(start, at);
                    if at >= bytes.len() && !complete { Advance::Wait } else { Advance::On }
                }
                Instruction::TryIf { set, to: after } => match next {
                    Some(next) if code.set(set).is_some_and(|set| set.contains(next)) => self.attempt(after, at),
                    None if !complete => at_end,
                    _ => Advance::To(after),
                },
                Instruction::SpanTryIf { run, set, to: after } => {
                    let start = at;
                    if let Some(run) = code.set(run) {
                        at = run_over(run, text, at);
                    }
                    left -= steps_over(start, at);
                    match bytes.get(at) {
                        Some(next) if code.set(set).is_some_and(|set| set.contains(*next)) => self.attempt(after, at),
                        None if !complete => at_end,
                        _ => Advance::To(after),
                    }
                }
                Instruction::Try { to: after } => self.attempt(after, at),
                Instruction::Commit { to: after } => {
                    self.frames.pop();
                    Advance::To(after)
                }
                Instruction::Open(rule) if self.stop == Some(RuleId(rule)) => {
                    self.stop = None;
                    Advance::Wait
                }
                Instruction::Open(_) if self.captures.len() >= self.most_captures => Advance::TooDeep,
                Instruction::Open(rule) => {
                    self.open_capture(rule, at);
                    Advance::On
                }
                Instruction::Close => {
                    self.close_capture(at);
                    Advance::On
                }
                Instruction::Call { to: callee } => {
                    match self.push(ReturnFrame { to: op + 1, at: 0, captures: CALL, open: NONE }) {
                        Advance::On => Advance::To(callee),
                        step => step,
                    }
                }
                Instruction::End => match self.frames.pop() {
                    Some(frame) => Advance::To(frame.to),
                    None => Advance::Matched,
                },
                Instruction::Switch(switch) => match (next, code.switches.get(switch as usize)) {
                    (Some(next), Some(switch)) => switch.target(next).map_or(Advance::Fail, Advance::To),
                    _ => at_end,
                },
                Instruction::Text(literal) => {
                    let literal = code.literal(literal);
                    let rest = bytes.slice(at..);
                    if rest.starts_with(literal) {
                        at += literal.len();
                        Advance::On
                    } else if !complete && literal.starts_with(rest) {
                        Advance::Wait
                    } else {
                        Advance::Fail
                    }
                }
                Instruction::AnyCase(literal) => {
                    let literal = code.literal(literal);
                    let rest = bytes.slice(at..);
                    let common = rest.len().min(literal.len());
                    if !rest.iter().zip(literal).all(|(one, other)| one.eq_ignore_ascii_case(other)) {
                        Advance::Fail
                    } else if common == literal.len() {
                        at += common;
                        Advance::On
                    } else {
                        at_end
                    }
                }
                Instruction::Maybe(set) => match (next, code.set(set)) {
                    (Some(next), Some(set)) => {
                        at += taken(set, text, at, next);
                        Advance::On
                    }
                    _ if complete => Advance::On,
                    _ => at_end,
                },
                Instruction::Is(set) => match (next, code.set(set)) {
                    (Some(next), Some(set)) if taken(set, text, at, next) > 0 => Advance::On,
                    (Some(_), _) => Advance::Fail,
                    _ => at_end,
                },
                Instruction::IsNot(set) => match (next, code.set(set)) {
                    (Some(next), Some(set)) if taken(set, text, at, next) > 0 => Advance::Fail,
                    (None, _) if !complete => at_end,
                    _ => Advance::On,
                },
                Instruction::Until(until) => {
                    let start = at;
                    let stopped = match code.untils.get(until as usize) {
                        Some(until) => run_until(until, code, text, &mut at, complete),
                        None => true,
                    };
                    left -= steps_over(start, at);
                    if stopped { Advance::On } else { Advance::Wait }
                }
                Instruction::Return { to: after } => {
                    if let Some(frame) = self.frames.pop() {
                        at = self.back_to(frame);
                    }
                    Advance::To(after)
                }
                Instruction::Refuse => {
                    self.frames.pop();
                    Advance::Fail
                }
                Instruction::Fail => Advance::Fail,
                Instruction::Jump { to: after } => Advance::To(after),
            };
            match step {
                Advance::On => op += 1,
                Advance::To(next) => op = next,
                Advance::Wait => {
                    // The instruction will be executed again, and count then.
                    left += 1;
                    break Progress::Pending;
                }
                Advance::TooDeep => break Progress::TooDeep,
                Advance::Matched => break Progress::Matched(at),
                Advance::Fail => {
                    let frame = loop {
                        match self.frames.pop() {
                            Some(frame) if frame.captures == CALL => {}
                            frame => break frame,
                        }
                    };
                    let Some(frame) = frame else { break Progress::Failed };
                    op = frame.to;
                    at = self.back_to(frame);
                }
            }
        };
        (self.op, self.at) = (op, at);
        *steps = left;
        progress
    }

    /// The end of the rule that starts here, if it has the short form and all of it has arrived.
    fn short(&mut self, rule: RuleId, code: &RuleCode, text: &str, steps: &mut i64) -> Option<usize> {
        let (short, name) = shortest(rule, code, text, self.at, steps)?;
        if self.stop.is_some() || self.most_captures < 2 {
            return None;
        }
        self.captures.push(Capture::new(short.rule, self.at, name.end as u32 + 1, 2));
        self.captures.push(Capture::new(short.name, name.start, name.end as u32, 2));
        Some(name.end + 1)
    }

    /// Pushes a frame to continue with the instruction `to` at byte `at` after a failure.
    fn attempt(&mut self, to: u32, at: usize) -> Advance {
        self.push(ReturnFrame { to, at: at as u32, captures: self.captures.len() as u32, open: self.open })
    }

    /// Drops the captures made since the frame was pushed; returns the frame's offset in the text.
    fn back_to(&mut self, frame: ReturnFrame) -> usize {
        self.open = frame.open;
        self.captures.truncate(frame.captures as usize);
        frame.at as usize
    }

    fn open_capture(&mut self, rule: u16, at: usize) {
        let capture = Capture::new(rule, at, NONE, self.open);
        self.open = self.captures.len() as u32;
        self.captures.push(capture);
    }

    fn close_capture(&mut self, at: usize) {
        let count = self.captures.len() as u32;
        if let Some(capture) = self.captures.get_mut(self.open as usize) {
            self.open = capture.close(at, count);
        }
    }

    fn push(&mut self, frame: ReturnFrame) -> Advance {
        if self.frames.len() >= self.most {
            return Advance::TooDeep;
        }
        if self.frames.capacity() == 0 {
            self.frames.reserve(FIRST_FRAMES);
        }
        self.frames.push(frame);
        Advance::On
    }
}

/// The steps that a run over the bytes from `start` to `end` costs. Splitting the run does not change the sum.
fn steps_over(start: usize, end: usize) -> i64 {
    (end / BYTES_PER_STEP - start / BYTES_PER_STEP) as i64
}

/// The steps that executing a rule for its short form costs, besides those for a long name.
pub(super) fn steps_of_short(code: &RuleCode, op: u32, short: &Short) -> i64 {
    let first = code.set(short.first).and_then(|set| (0..0x80).find(|byte| set.contains(*byte))).present();
    let shortest = format!("{}{}{}", short.literal, char::from(first), char::from(short.end));
    let mut machine = Machine { op, ..Machine::new() };
    let mut left = i64::MAX;
    machine.execute(code, &shortest, false, &mut left);
    i64::MAX - left - steps_over(short.literal.len() + 1, shortest.len() - 1)
}

/// The short form of a rule, and the span of its name, if the rule starts at `at` and all of it has arrived; the match
/// ends one byte after the name. It costs the same steps as executing the rule.
fn shortest<'c>(rule: RuleId, code: &'c RuleCode, text: &str, at: usize, steps: &mut i64) -> Option<(&'c Short, Span)> {
    let short = code.entries.get(usize::from(rule.0))?.short.as_ref()?;
    let bytes = text.as_bytes();
    let start = at + short.literal.len();
    let here = bytes.get(at..start)?;
    // Most literals are one or two bytes: comparing them in place avoids a call of `memcmp`.
    let starts = here.iter().zip(short.literal.bytes()).all(|(one, other)| *one == other);
    if !starts || !code.set(short.first)?.contains(*bytes.get(start)?) {
        return None;
    }
    let end = run_over(code.set(short.rest)?, text, start + 1);
    if bytes.get(end) != Some(&short.end) {
        return None;
    }
    let taken = short.steps + steps_over(start + 1, end);
    if *steps < taken {
        return None;
    }
    *steps -= taken;
    Some((short, Span::new(start, end)))
}

/// The length of the character at `at`, whose first byte is `first`, if it is in `set`; otherwise 0.
fn taken(set: &CharSet, text: &str, at: usize, first: u8) -> usize {
    if !set.contains(first) {
        return 0;
    }
    match (first, &set.wide) {
        (..0x80, _) => 1,
        (_, None) => width(first),
        (_, Some(wide)) => match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(character) if wide.contains(character) => character.len_utf8(),
            _ => 0,
        },
    }
}

/// The length in bytes of a character with this first byte.
fn width(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// The end of the run of characters of `set` that starts at `at`.
fn run_over(set: &CharSet, text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let Some(rest) = bytes.get(at..).filter(|rest| rest.first().is_some_and(|first| set.contains(*first))) else {
        return at;
    };
    let found = match (&set.wide, set.stops) {
        (Some(_), _) => {
            let mut end = at;
            // Fast path: most characters are ASCII, for which the byte decides.
            while let Some(rest) = bytes.get(end..).filter(|rest| !rest.is_empty()) {
                end += rest.iter().take_while(|byte| byte.is_ascii() && set.contains(**byte)).count();
                match bytes.get(end).map_or(0, |first| taken(set, text, end, *first)) {
                    0 => break,
                    length => end += length,
                }
            }
            return end;
        }
        (None, Stops::Many) => run_length(set, rest),
        (None, Stops::Below(limit, one, two)) => {
            let places = |eight| eights::below(limit, eight) | eights::equal(one, eight) | eights::equal(two, eight);
            eights::first(rest, places, |byte| !set.contains(byte))
        }
        (None, Stops::None) => None,
        (None, Stops::One(one)) => {
            let far = |far: &[u8]| memchr::memchr(one, far);
            eights::near_or_far(rest, |eight| eights::equal(one, eight), far)
        }
        (None, Stops::Two(one, two)) => {
            let far = |far: &[u8]| memchr::memchr2(one, two, far);
            eights::near_or_far(rest, |eight| eights::equal(one, eight) | eights::equal(two, eight), far)
        }
        (None, Stops::Three(one, two, three)) => {
            let far = |far: &[u8]| memchr::memchr3(one, two, three, far);
            let near = |eight| eights::equal(one, eight) | eights::equal(two, eight) | eights::equal(three, eight);
            eights::near_or_far(rest, near, far)
        }
    };
    found.map_or(bytes.len(), |found| at + found)
}

/// The number of bytes before the first one that is not in `set`.
fn run_length(set: &CharSet, bytes: &[u8]) -> Option<usize> {
    // Eight at a time without a branch in between: runs are short, being names or parts of strings.
    let (eights, rest) = bytes.as_chunks::<8>();
    for (number, eight) in eights.iter().enumerate() {
        let outside = (0..).zip(eight).fold(0_u8, |all, (place, byte)| all | u8::from(!set.contains(*byte)) << place);
        if outside != 0 {
            return Some(8 * number + outside.trailing_zeros() as usize);
        }
    }
    rest.iter().position(|byte| !set.contains(*byte)).map(|found| bytes.len() - rest.len() + found)
}

/// Moves `at` to the next of the texts, or to the end. Returns whether that is final; if not, continue at `at` when
/// more text has arrived.
fn run_until(until: &StopTexts, code: &RuleCode, text: &str, at: &mut usize, complete: bool) -> bool {
    let bytes = text.as_bytes();
    let Some(others) = code.set(until.others) else { return true };
    loop {
        *at = run_over(others, text, *at);
        let rest = bytes.slice(*at..);
        let Some(first) = rest.first() else { return complete };
        if until.texts.iter().any(|text| rest.starts_with(text.as_bytes())) {
            return true;
        }
        if !complete && until.texts.iter().any(|text| text.as_bytes().starts_with(rest)) {
            return false;
        }
        *at += width(*first);
    }
}
