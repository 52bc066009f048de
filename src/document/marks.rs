//! Marks: where may a block open or close?
//!
//! In: the response so far, the families of one dialect, and its masks.
//! Out: every opener and closer with a declared name, in order, whatever is around it.
//! Never: decides which of them count: a mark depends only on the masks and on the text from its first byte on.

use super::ChunkedVec;
use super::budget::{Arrived, StepBudget};
use super::mark::{Mark, MarkKind, Opener, StartOf, opener};
use super::masks::{Masks, Quotes};
use crate::grammar::{Machine, Progress, RuleId};
use crate::program::{BlockId, Dialect, Family, Limits, Margin, Prefilter, Prefix};
use crate::text::{Slice, Span, is_margin};
use std::collections::{BTreeMap, VecDeque};

/// The most openers that are stored; others are read again when their blocks begin.
const MAX_OPENERS: usize = 512;

/// The most bytes of a failing opener that are read after its name.
const MAX_BYTES_AFTER_NAME: usize = 200;

/// Finds the marks of a response, from its start to its end.
#[derive(Debug)]
pub(super) struct MarkScanner {
    /// Everything before this offset has been examined.
    pub(super) at: usize,
    marks: ChunkedVec<Mark>,
    /// The number of marks that are certain. Later ones are in a code span whose end has not been reached, and which
    /// may turn out not to be one.
    certain: usize,
    pub(super) spent: bool,
    machine: Machine,
    budget: StepBudget,
    /// The current attempt at `at`: a family, whether as a closer, and whether the machine has started.
    attempt: Option<(usize, bool, bool)>,
    /// A broken opener at `at`, with its family and its name: it counts unless another rule matches at `at`.
    broken: Option<(BlockId, usize, Span)>,
    mask_cursor: usize,
    /// How far the text has been searched for line breaks.
    lines: usize,
    /// From this offset on, the line contains only text that may come before a mark at its start; [`SPOILED`] if it
    /// contains any other text.
    clean: usize,
    /// Whether the text before the first mark on this line includes a code fence.
    fenced: bool,
    /// Whether `at` counts as the start of its line.
    at_line_start: bool,
    /// The name of the last opener at the start of this line.
    leader: Option<Span>,
    /// The white space before the offset that was last asked about.
    gap: Gap,
    /// The code span being read.
    span: Option<Span>,
    /// The number of openers in the span that it has not closed, and whether it has a closer without an opener.
    depth: usize,
    cut: bool,
    quote: BlockQuote,
    /// Spans that turned out not to be code spans.
    pub(super) void: Vec<Span>,
    /// Openers with more than a name, and their offsets.
    openers: VecDeque<(usize, Opener)>,
    /// Whether the end of the text has been examined.
    ended: bool,
}

/// The value of `clean` for a line on which no mark can be at the start.
const SPOILED: usize = usize::MAX;

/// The text to examine.
pub(super) struct ExaminedText<'l> {
    pub(super) dialect: &'l Dialect,
    pub(super) text: &'l str,
    pub(super) masks: &'l Masks,
    pub(super) complete: bool,
    /// Nothing after this offset is examined.
    pub(super) limit: usize,
}

impl ExaminedText<'_> {
    /// The text, and whether all of it has arrived.
    fn so_far(&self) -> (&str, bool) {
        (self.text, self.complete)
    }

    fn arrived(&self) -> Arrived {
        Arrived { bytes: self.text.len(), complete: self.complete }
    }
}

/// The result of an attempt.
enum Attempt {
    Mark(MarkKind, Span, Span),
    /// The start of an opener, with its name; the rest cannot be read.
    Broken(BlockId, Span),
    /// The text starts like the rule, but does not match.
    Failed,
    Nothing,
    /// More text is needed. The flag says whether the machine has started.
    Pending(bool),
    Spent,
}

impl MarkScanner {
    pub(super) fn new(most_captures: usize, limits: &Limits) -> Self {
        Self {
            at: 0,
            marks: ChunkedVec::default(),
            certain: 0,
            spent: false,
            machine: Machine::new().capturing(most_captures),
            budget: StepBudget::new(limits),
            attempt: None,
            broken: None,
            mask_cursor: 0,
            lines: 0,
            clean: 0,
            fenced: false,
            at_line_start: false,
            leader: None,
            gap: Gap::START,
            span: None,
            depth: 0,
            cut: false,
            quote: BlockQuote::default(),
            void: Vec::new(),
            openers: VecDeque::new(),
            ended: false,
        }
    }

    /// The number of marks.
    pub(super) fn count(&self) -> usize {
        self.certain
    }

    /// The mark with this number.
    pub(super) fn mark(&self, number: usize) -> Option<Mark> {
        self.marks.get(number).filter(|_| number < self.certain).copied()
    }

    /// Everything before this offset has been examined, and every mark in it is certain.
    pub(super) fn certain_until(&self) -> usize {
        self.marks.get(self.certain).map_or(self.at, |mark| mark.start().min(self.at))
    }

    /// The index of the first mark at or after the offset `at`; the search begins with the mark `first`.
    pub(super) fn first_at(&self, first: usize, at: usize) -> usize {
        self.marks.partition_point(first, |mark| mark.start() < at).min(self.certain.max(first))
    }

    /// Examines the text that has arrived since the last call, as far as masks are certain, until there are `most`
    /// marks.
    pub(super) fn advance(&mut self, look: &ExaminedText<'_>, most: usize) {
        self.examine(look, most);
        let is_over = self.at >= look.text.len() && look.limit >= look.text.len() && !self.spent;
        if look.complete && is_over && !std::mem::replace(&mut self.ended, true) {
            self.close_at_end(look);
        }
    }

    /// Adds a closer at the end of the answer, if its rule can match without consuming text.
    fn close_at_end(&mut self, look: &ExaminedText<'_>) {
        let families = look.dialect.families.iter().enumerate();
        let may = |family: &Family| family.close.is_some_and(|close| family.grammar.first(close).empty);
        for (index, _) in families.filter(|(_, family)| may(family)) {
            self.at = look.text.len();
            if look.dialect.by_line {
                self.at_line_start = self.at_line_start(look.text.as_bytes());
            }
            if let Attempt::Mark(kind, span, name) = self.close(look, index, false) {
                return self.push(look, kind, span, name);
            }
        }
    }

    fn examine(&mut self, look: &ExaminedText<'_>, most: usize) {
        let bytes = look.text.as_bytes();
        let limit = look.masks.decided().min(bytes.len()).min(look.limit);
        while self.at < limit && !self.spent && self.certain < most {
            if self.attempt.is_none() && !self.find(bytes.slice(..limit), &look.dialect.starts) {
                self.at = limit;
                self.leave_span(look.text);
                return;
            }
            self.leave_span(look.text);
            let from = self.attempt.take();
            if from.is_none() && look.dialect.by_line {
                self.at_line_start = self.at_line_start(bytes);
            }
            if !self.attempts(look, from) {
                if self.spent {
                    self.at = bytes.len();
                    self.leave_span(look.text);
                }
                return;
            }
            self.at += 1;
        }
        self.leave_span(look.text);
    }

    /// Moves to the next byte at which a mark may start. Of bytes that only count at the start of a line, only the
    /// first after the margin of the line is examined.
    fn find(&mut self, bytes: &[u8], starts: &Prefilter) -> bool {
        loop {
            if starts.by_line && self.clean <= self.at {
                match self.pass_margin(bytes, starts) {
                    Some(true) => return true,
                    Some(false) => self.clean = SPOILED,
                    None => return false,
                }
            }
            let end = if starts.by_line { bytes.len().min(self.clean) } else { bytes.len() };
            match starts.elsewhere.find(bytes.slice(self.at..end)) {
                Some(offset) => self.at += offset,
                None if end == bytes.len() => return false,
                None => {
                    self.at = end;
                    continue;
                }
            }
            if starts.by_line && bytes.get(self.at) == Some(&b'\n') {
                self.begin_line(self.at + 1);
            } else if starts.may_go_on(bytes.slice(self.at..)) {
                return true;
            } else {
                self.at += 1;
            }
        }
    }

    /// Skips the margin of a line, which may come before a mark at its start, and lines without other text. Returns
    /// whether a mark may start next, if that is known.
    fn pass_margin(&mut self, bytes: &[u8], starts: &Prefilter) -> Option<bool> {
        let mut at = self.at;
        let starts_here = loop {
            at += starts.indent(bytes.slice(at..));
            let Some(byte) = bytes.get(at) else { break None };
            match starts.margin(*byte) {
                Margin::Start => break Some(true),
                Margin::Text if !self.fenced => break Some(false),
                Margin::Break => self.begin_line(at + 1),
                Margin::Mark => self.fenced = true,
                Margin::Blank | Margin::Text => {}
            }
            at += 1;
        };
        self.at = at;
        starts_here
    }

    fn begin_line(&mut self, at: usize) {
        self.at = at;
        self.lines = at;
        self.clean = at;
        self.fenced = false;
        self.leader = None;
    }

    /// Ends a code span. Its content is quoted, unless a stray backtick in one block was paired with one in a later
    /// block: then the span has several lines, and contains closers of earlier and openers of later blocks.
    fn leave_span(&mut self, text: &str) {
        let Some(span) = self.span.filter(|span| self.at >= span.end) else { return };
        let void = self.cut && self.depth > 0 && span.of(text).contains('\n');
        if void {
            self.void.push(span);
        }
        for number in self.certain..self.marks.len() {
            if let Some(mark) = self.marks.get_mut(number) {
                mark.masked = !void;
            }
        }
        self.certain = self.marks.len();
        self.span = None;
        self.depth = 0;
        self.cut = false;
    }

    /// Tries all rules that may match here; false if more text is needed.
    fn attempts(&mut self, look: &ExaminedText<'_>, mut resumed: Option<(usize, bool, bool)>) -> bool {
        let families = &look.dialect.families;
        let inside = is_inside_word(look.text.as_bytes(), self.at);
        if inside && !families.iter().any(|family| family.inside_words) {
            return true;
        }
        let first = resumed.map_or(0, |(family, closing, _)| 2 * family + usize::from(closing));
        let rest = look.text.as_bytes().slice(self.at..);
        let numbers = look.dialect.starts.with(rest, self.at_line_start).map(usize::from);
        let mut in_paragraph = None;
        for number in numbers.skip_while(|number| *number < first) {
            let (index, closing) = (number / 2, number % 2 == 1);
            if inside && families.get(index).is_none_or(|family| !family.inside_words) {
                continue;
            }
            // A quoted opener is reported wherever it is, so only others must be at the start of a paragraph.
            if !closing
                && families.get(index).is_some_and(|family| family.starts_paragraph)
                && *in_paragraph.get_or_insert_with(|| self.is_in_paragraph(look))
            {
                continue;
            }
            if !look.complete && !look.dialect.starts.is_certain(number as u8, rest) {
                self.attempt = Some((index, closing, false));
                return false;
            }
            // With more text, an attempt may start with another rule than the one that was suspended.
            let resume = resumed.take().is_some_and(|(_, _, started)| started && number == first);
            let attempt = match closing {
                false => self.open(look, index, resume),
                true => self.close(look, index, resume),
            };
            match attempt {
                Attempt::Nothing | Attempt::Failed => {}
                Attempt::Broken(id, name) => {
                    self.broken.get_or_insert((id, index, name));
                }
                Attempt::Mark(kind, span, name) => {
                    self.broken = None;
                    self.push(look, kind, span, name);
                    return true;
                }
                Attempt::Pending(started) => {
                    self.attempt = Some((index, closing, started));
                    return false;
                }
                Attempt::Spent => {
                    self.spent = true;
                    return false;
                }
            }
        }
        if let Some((id, index, name)) = self.broken.take()
            && let Some(family) = look.dialect.families.get(index)
        {
            let stops = self.stops(look.text, family, name.end);
            self.push(look, MarkKind::Broken { id }, Span::new(self.at, stops), name);
        }
        true
    }

    /// Whether this offset is inside a paragraph, but not at its start, and not quoted.
    fn is_in_paragraph(&mut self, look: &ExaminedText<'_>) -> bool {
        !self.gap.ends_paragraph(look.text.as_bytes(), self.at)
            && look.masks.covering(self.at, &mut self.mask_cursor).is_none()
    }

    /// Whether there is an opener with a declared name at an offset of a complete text.
    pub(super) fn opens_at(&mut self, look: &ExaminedText<'_>, at: usize) -> bool {
        let before = (self.at, self.budget);
        (self.at, self.budget) = (at, self.budget.anew());
        let opens = |index| matches!(self.open(look, index, false), Attempt::Mark(MarkKind::Open { .. }, ..));
        let found = (0..look.dialect.families.len()).any(opens);
        (self.at, self.budget) = before;
        found
    }

    fn open(&mut self, look: &ExaminedText<'_>, index: usize, resume: bool) -> Attempt {
        let Some(family) = look.dialect.families.get(index) else { return Attempt::Nothing };
        let may_be = |bytes: &[u8]| look.dialect.names.may_open(bytes, index);
        match self.run(look, family, (family.open, &family.open_prefix), may_be, resume) {
            Ok(end) => {
                let Some(name) = self.capture(family.name) else { return Attempt::Nothing };
                match look.dialect.names.find(name.of(look.text), Some(index)) {
                    Some(id) => {
                        let kind = MarkKind::Open { family: index as u8, id, leaves: false };
                        Attempt::Mark(kind, Span::new(self.at, end), name)
                    }
                    None => Attempt::Nothing,
                }
            }
            Err(Attempt::Failed) => self.broken(look, index, family),
            Err(attempt) => attempt,
        }
    }

    /// Checks for a broken opener: it starts like an opener with a declared name, but does not match.
    fn broken(&mut self, look: &ExaminedText<'_>, index: usize, family: &Family) -> Attempt {
        if !family.may_break {
            return Attempt::Nothing;
        }
        // No limit is needed: the attempt at the opener has read as far within the budget.
        let mut steps = i64::MAX;
        let at = if family.open_prefix.name_follows {
            self.at + family.open_prefix.literal.len()
        } else {
            self.machine.start(&family.grammar, family.open, self.at);
            match self.machine.run_to(family.name, &family.grammar, look.text, true, &mut steps) {
                Ok(at) => at,
                Err(_) => return Attempt::Nothing,
            }
        };
        self.machine.start(&family.grammar, family.name, at);
        // The opener has failed, so its name is complete, or the text after it cannot complete it.
        match self.machine.run(&family.grammar, look.text, true, &mut steps) {
            Progress::Matched(end) => match look.dialect.names.find(Span::new(at, end).of(look.text), Some(index)) {
                Some(id) => Attempt::Broken(id, Span::new(at, end)),
                None => Attempt::Nothing,
            },
            _ => Attempt::Nothing,
        }
    }

    /// The end of the part of a broken opener that could be read: behind its name, and at most the end of its line.
    fn stops(&mut self, text: &str, family: &Family, name: usize) -> usize {
        let rest = text.slice(name..);
        self.machine.start(&family.grammar, family.open, self.at);
        // No limit is needed: the attempt at the opener has read as far within the budget.
        let mut steps = i64::MAX;
        let mut end = name;
        for (offset, next) in rest.char_indices().take_while(|(offset, _)| *offset < MAX_BYTES_AFTER_NAME) {
            let read = name + offset + next.len_utf8();
            let progress = self.machine.run(&family.grammar, text.get(..read).unwrap_or(text), false, &mut steps);
            if matches!(next, '\n' | '\r') || progress != Progress::Pending {
                break;
            }
            end = read;
        }
        end
    }

    fn close(&mut self, look: &ExaminedText<'_>, index: usize, resume: bool) -> Attempt {
        let Some(family) = look.dialect.families.get(index) else { return Attempt::Nothing };
        let Some(rule) = family.close else { return Attempt::Nothing };
        let at_line_start = self.at_line_start;
        let may_be = |bytes: &[u8]| look.dialect.names.may_close(bytes, at_line_start);
        match self.run(look, family, (rule, &family.close_prefix), may_be, resume) {
            Ok(end) => {
                let name = self.capture(family.name).unwrap_or(Span::new(end, end));
                let span = Span::new(self.at, end);
                match look.dialect.wrapper_closed_by(name.of(look.text), index) {
                    Some(id) => Attempt::Mark(MarkKind::Open { family: index as u8, id, leaves: true }, span, name),
                    None if name.is_empty() || look.dialect.names.closes(name.of(look.text), Some(index)) => {
                        Attempt::Mark(MarkKind::Close { family: index as u8 }, span, name)
                    }
                    None => Attempt::Nothing,
                }
            }
            Err(attempt) => attempt,
        }
    }

    /// Runs or continues one rule here: where it ends, or why it does not match. It is given up at a name for which
    /// `may_be` is false.
    fn run(
        &mut self,
        look: &ExaminedText<'_>,
        family: &Family,
        (rule, prefix): (RuleId, &Prefix),
        may_be: impl Fn(&[u8]) -> Option<bool>,
        resume: bool,
    ) -> Result<usize, Attempt> {
        let from = |at: usize| look.text.as_bytes().slice(at..);
        // While a name may still arrive, wait for it.
        let matches_name = |at: usize| may_be(from(at)).or(look.complete.then_some(false));
        if !resume {
            let rest = from(self.at);
            // Most literals are one or two bytes: comparing them in place avoids a call of `memcmp`.
            let starts = prefix.literal.bytes().zip(rest).all(|(one, other)| one == *other);
            let matches_name = match starts {
                true if !(prefix.name_follows || prefix.name_first) => {
                    family.grammar.first(rule).starts(rest).or(look.complete.then_some(true))
                }
                true if rest.len() < prefix.literal.len() => look.complete.then_some(false),
                true => matches_name(self.at + prefix.literal.len()),
                false => Some(false),
            };
            match matches_name {
                Some(true) => {}
                Some(false) => return Err(Attempt::Nothing),
                None => return Err(Attempt::Pending(false)),
            }
            self.machine.start(&family.grammar, rule, self.at);
        }
        let reached = match prefix.holds_name && !(prefix.name_follows || prefix.name_first) {
            true => self.budget.run_to_name(&mut self.machine, family, look.so_far(), look.arrived()).map(matches_name),
            false => Ok(Some(true)),
        };
        let progress = match reached {
            Ok(Some(true)) => self.budget.run(&mut self.machine, family, look.so_far(), look.arrived()),
            Ok(Some(false)) => return Err(Attempt::Nothing),
            Ok(None) => Progress::Pending,
            Err(progress) => progress,
        };
        match progress {
            Progress::Matched(end) => Ok(end),
            Progress::Failed | Progress::TooDeep => Err(Attempt::Failed),
            Progress::Pending => Err(Attempt::Pending(true)),
            Progress::Spent => Err(Attempt::Spent),
        }
    }

    /// The parts of a mark's opener besides its name, if they are stored. Drops those of earlier marks.
    pub(super) fn opener_of(&mut self, mark: &Mark) -> Option<Opener> {
        if mark.plain {
            return Some(Opener::default());
        }
        let before = self.openers.partition_point(|(start, _)| *start < mark.start());
        self.openers.drain(..before);
        self.openers.front().filter(|(start, _)| *start == mark.start())?;
        self.openers.pop_front().map(|(_, opener)| opener)
    }

    /// Drops the marks before this number.
    pub(super) fn forget(&mut self, first: usize) {
        self.marks.forget(first);
    }

    fn capture(&self, rule: RuleId) -> Option<Span> {
        self.machine.captures().iter().find(|capture| capture.rule() == rule).map(|capture| capture.span())
    }

    /// Whether `at` counts as the start of its line. Afterwards no other offset of the line does, unless a closer is
    /// found at `at`.
    fn at_line_start(&mut self, bytes: &[u8]) -> bool {
        let between = bytes.slice(self.lines..self.at);
        if let Some(offset) = memchr::memrchr(b'\n', between) {
            self.clean = self.lines + offset + 1;
            self.leader = None;
        }
        self.lines = self.at;
        // The offset is inside a closer at the start of its line.
        if self.clean != SPOILED && self.clean > self.at {
            return false;
        }
        let at_line_start = bytes.get(self.clean..self.at).is_some_and(is_margin);
        self.clean = SPOILED;
        at_line_start
    }

    /// Continues at `at`, which counts as the start of a line.
    pub(super) fn jump(&mut self, at: usize) {
        self.begin_line(at);
        self.attempt = None;
        self.broken = None;
    }

    fn push(&mut self, look: &ExaminedText<'_>, kind: MarkKind, span: Span, name: Span) {
        let at_line_start = self.at_line_start;
        // After closers in a row, and after a whole block on one line, the line still counts as at its start.
        let named = |leader: Span| look.dialect.names.same(leader.of(look.text), name.of(look.text));
        if matches!(kind, MarkKind::Close { .. }) && (at_line_start || self.leader.is_some_and(named)) {
            self.clean = span.end;
            self.fenced = false;
        }
        if let MarkKind::Open { .. } = kind {
            self.leader = Some(name).filter(|_| at_line_start);
        }
        let (mut plain, mut needs_closer) = (true, false);
        if let MarkKind::Open { family, .. } = kind
            && let Some(rules) = look.dialect.families.get(usize::from(family))
        {
            let opener = opener(rules, self.machine.captures());
            plain = opener.attributes.is_empty() && !opener.empty;
            needs_closer = rules.close.is_some() && !opener.empty;
            if !plain && self.openers.len() < MAX_OPENERS {
                self.openers.push_back((span.start, opener));
            }
        }
        let mask = look.masks.covering(span.start, &mut self.mask_cursor);
        let masked = mask.is_some_and(|mask| {
            if mask.by != Quotes::Line {
                return true;
            }
            self.quote.enter(look.text, mask.span());
            let name = look.dialect.names.fold(name.of(look.text));
            match kind {
                MarkKind::Open { .. } if needs_closer => self.quote.open(name.into_owned()),
                MarkKind::Close { .. } => return self.quote.closes(&name),
                MarkKind::Open { .. } | MarkKind::Broken { .. } => {}
            }
            true
        });
        let at_line_start = match at_line_start {
            true if self.gap.ends_paragraph(look.text.as_bytes(), span.start) => StartOf::Paragraph,
            true => StartOf::Line,
            false => StartOf::Nothing,
        };
        self.marks.push(Mark { span: span.into(), name: name.into(), kind, masked, starts: at_line_start, plain });
        match mask.filter(|mask| mask.by == Quotes::Span) {
            Some(mask) => {
                self.span = Some(mask.span());
                match kind {
                    MarkKind::Open { .. } => self.depth += 1,
                    MarkKind::Close { .. } if self.depth > 0 => self.depth -= 1,
                    MarkKind::Close { .. } => self.cut = true,
                    MarkKind::Broken { .. } => {}
                }
            }
            None => self.certain = self.marks.len(),
        }
    }
}

/// The block quote that was read last. A closer in it is quoted only if it closes what was opened in the same block
/// quote: any other closes a block that began before.
#[derive(Debug, Default)]
struct BlockQuote {
    /// The end of its last line with a mark.
    end: usize,
    /// By name, the number of openers that it has not closed.
    open: BTreeMap<String, usize>,
}

impl BlockQuote {
    /// Goes to the quoted `line`, which may belong to the same block quote. Lines are passed in order.
    fn enter(&mut self, text: &str, line: Span) {
        if line.end != self.end {
            let mut between = text.get(self.end..line.start).unwrap_or_default().split('\n').skip(1);
            if !self.open.is_empty() && !between.all(|line| line.trim_start().starts_with('>')) {
                self.open.clear();
            }
            self.end = line.end;
        }
    }

    fn open(&mut self, name: String) {
        *self.open.entry(name).or_default() += 1;
    }

    /// Whether a closer with this name closes something in the block quote.
    fn closes(&mut self, name: &str) -> bool {
        // A closer without a name closes whatever is open.
        let name = if name.is_empty() { self.open.keys().next().cloned() } else { Some(name.to_owned()) };
        let Some((name, mut count)) = name.and_then(|name| self.open.remove_entry(&name)) else { return false };
        count -= 1;
        if count > 0 {
            self.open.insert(name, count);
        }
        true
    }
}

/// Whether the letters or digits before this offset continue after it: then a match, such as `send(` in `resend(`,
/// would be the end of another word.
fn is_inside_word(bytes: &[u8], at: usize) -> bool {
    let is_of_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    is_of_word(at) && at.checked_sub(1).is_some_and(is_of_word)
}

/// The white space before an offset: a paragraph starts after two line breaks, or at the start of the text. Continues
/// from the offset of the last call, so that no white space is read twice.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// The offset of the last call.
    at: usize,
    /// The number of line breaks between that offset and the text before it, at most [`Gap::PARAGRAPH_BREAKS`].
    breaks: usize,
}

impl Gap {
    /// The number of line breaks that end a paragraph. The start of an answer counts as if it followed as many.
    const PARAGRAPH_BREAKS: usize = 2;

    /// The start of an answer.
    const START: Self = Self { at: 0, breaks: Self::PARAGRAPH_BREAKS };

    /// Whether a paragraph starts at `at`.
    fn ends_paragraph(&mut self, bytes: &[u8], at: usize) -> bool {
        if at < self.at {
            *self = Self::START;
        }
        let mark = if self.at == 0 && bytes.starts_with("\u{feff}".as_bytes()) { "\u{feff}".len() } else { 0 };
        let between = bytes.get(self.at.max(mark)..at).unwrap_or_default();
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let mut blanks = 0;
        let mut breaks = 0;
        for byte in between.iter().rev().take_while(is_blank) {
            breaks += usize::from(*byte == b'\n');
            if breaks == Self::PARAGRAPH_BREAKS {
                break;
            }
            blanks += 1;
        }
        let before = if blanks == between.len() { self.breaks } else { 0 };
        *self = Self { at, breaks: (before + breaks).min(Self::PARAGRAPH_BREAKS) };
        self.breaks == Self::PARAGRAPH_BREAKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same answer as [`Gap`], read anew from the start of the text.
    fn ends_paragraph(before: &str) -> bool {
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let (_, blank) = before.split_at(before.trim_end_matches([' ', '\t', '\r', '\n']).len());
        blank.len() == before.len() || blank.matches('\n').count() >= 2
    }

    #[track_caller]
    fn check(text: &str) {
        let places: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        for step in 1..4 {
            let mut gap = Gap::START;
            // Forwards, in the order of reading, and backwards.
            for at in places.iter().step_by(step).chain(places.iter().rev().step_by(step)) {
                let found = gap.ends_paragraph(text.as_bytes(), *at);
                assert_eq!(found, ends_paragraph(text.split_at(*at).0), "{text:?} at {at}, every {step}");
            }
        }
    }

    #[test]
    fn a_paragraph_starts_behind_an_empty_line_and_where_the_text_starts() {
        for text in ["", "a\nb\n\nc", "\n", " \t\r\n\r\n a", "a\r\n \r\nb\n c\n\t\n", "\u{feff}a", "\u{feff}\n a\n\nb"]
        {
            check(text);
        }
    }
}
