//! Reading: which strategy answers the defects that the reader found?
//!
//! In: the findings of the document, in order.
//! Out: remarks unchanged; defects answered by strategies.
//! Never: looks for defects of its own.

use super::speakers::MISLABELLED;
use super::{Fate, Judgement, Subject, defect};
use crate::diagnostic::{Code, Defect, Diagnostic, Message, Remark, Strategy, fault_words, message, quote};
use crate::document::{Block, BodyEncoding, Enclosing, Ended, FindingKind, ReaderFinding};
use crate::grammar::{Machine, RuleId};
use crate::json;
use crate::program::{self, Closer, Family, NameSource};
use crate::surface::{self, Role};
use crate::text::{Location, Slice, Span};

impl<'r> Judgement<'r> {
    pub(super) fn judge_reading(&mut self) {
        self.reasoning = self.reasoning_outside();
        self.uncounted.unfinished = self.unfinished();
        self.unclosed = self.unclosed();
        self.uncounted.closed_again = self.closed_again();
        // Fast path: the reader finds nothing wrong in most answers.
        if !self.document.found.is_empty() {
            self.judge_all_found();
        } else {
            self.judge_fenced();
        }
        self.judge_truncated();
    }

    fn judge_all_found(&mut self) {
        // Nested blocks first: a block that remains text of the block around it has no defects of its own, nor has
        // anything inside it.
        self.judge_nested();
        self.judge_fenced();
        let (mut closers, mut openers) = (Strategy::Keep, Strategy::Keep);
        let (mut faults, mut reported) = (0, Vec::new());
        for (number, found) in self.document.found.iter().enumerate() {
            if found.block().is_some_and(|block| !self.counts(block)) {
                continue;
            }
            match found.what {
                FindingKind::Defect(Defect::NestedBlock) => {}
                FindingKind::Defect(Defect::StrayCloser) if found.around().is_none() => {
                    closers = self.judge_found(Defect::StrayCloser, found);
                }
                FindingKind::Defect(Defect::MalformedOpener) if found.block().is_none() => {
                    openers = self.judge_found(Defect::MalformedOpener, found);
                }
                FindingKind::Defect(defect) => {
                    self.judge_found(defect, found);
                }
                // A model that omits quotes once does so in the whole object: each kind of fault is reported once.
                FindingKind::Fault(rule) if self.reads_members() => {
                    if !reported.contains(&rule) {
                        reported.push(rule);
                        let times = self.document.found.iter().filter(|one| one.what == found.what).count();
                        self.judge_fault(rule, found, times);
                    }
                }
                FindingKind::Fault(rule) => self.judge_fault(rule, found, 1),
                FindingKind::PayloadFault(fault) => {
                    // A fault that several consecutive findings have is reported once.
                    if number >= faults {
                        let rest = self.document.found.iter().skip(number);
                        // The two ends of a code fence are at different places, so each is reported.
                        let same = |one: &&ReaderFinding| one.what == found.what && fault.name() != json::CODE_FENCE;
                        let times = rest.take_while(same).count().max(1);
                        faults = number + times;
                        self.payload_fault(fault.name(), found.span(), times, self.place_of(found));
                    }
                }
                FindingKind::Remark(Remark::FieldForm) if self.is_beside(found) => {
                    let beside = self.payloads.beside.entry(found.block().unwrap_or_default()).or_default();
                    beside.push(found.span());
                }
                FindingKind::Remark(remark) => {
                    let message = self.remark_text(remark, found);
                    self.remark(remark, found.span(), message, self.place_of(found));
                }
            }
        }
        self.remove_unreported_marks(closers, openers);
    }

    /// Whether the finding is about a member beside the name and the parameters of a call. Whether a parameter is
    /// missing because of that is known only when the call is judged.
    fn is_beside(&self, found: &ReaderFinding) -> bool {
        let call = found.block().and_then(|block| self.block(block));
        let beside = |(block, bound): (&Block, &program::BlockBinding)| {
            bound.named_within().is_some() && block.span() != found.span() && !self.is_around(found)
        };
        call.is_some_and(beside)
    }

    /// Whether the finding is about a tag around the text of a block that the reader removed.
    fn is_around(&self, found: &ReaderFinding) -> bool {
        let block = found.block().and_then(|block| self.block(block)).filter(|(_, bound)| Enclosing::counts(bound));
        block.is_some_and(|(block, _)| {
            found.span() != block.span() && found.span().start <= block.inner().trimmed(self.text).start
        })
    }

    /// Removes the marks beyond the limit of findings if the strategies removed those that were reported.
    fn remove_unreported_marks(&mut self, closers: Strategy, openers: Strategy) {
        let left_out = &self.document.left_out;
        let mut places: Vec<Span> = Vec::new();
        if closers == Strategy::Drop {
            places.extend(left_out.closers.iter().map(|closer| closer.span()));
        }
        if openers == Strategy::Drop {
            places.extend(left_out.openers.iter().map(|opener| self.broken_opener(opener.span())));
        }
        places.sort_unstable_by_key(|place| place.start);
        for place in places {
            self.take_out(place);
        }
    }

    fn judge_nested(&mut self) {
        let document = self.document;
        let is_nested = |found: &&ReaderFinding| found.what == FindingKind::Defect(Defect::NestedBlock);
        let mut nested: Vec<&ReaderFinding> = document.found.iter().filter(is_nested).collect();
        nested.sort_by_key(|found| found.span().start);
        let mut text = 0;
        for found in nested {
            if found.span().end <= text {
                continue;
            }
            if !matches!(self.judge_found(Defect::NestedBlock, found), Strategy::Lift | Strategy::Drop) {
                text = found.span().end;
            }
        }
    }

    fn judge_found(&mut self, what: Defect, found: &ReaderFinding) -> Strategy {
        let subject = match (what, found.block()) {
            (_, Some(block)) => Subject::Block(block),
            (Defect::NoDialect, None) => Subject::Unread,
            (Defect::TooLarge | Defect::TooCostly, None) => Subject::Reply,
            (Defect::MalformedOpener, None) => Subject::Place(found.around(), self.broken_opener(found.span())),
            _ => Subject::Place(found.around(), found.span()),
        };
        // A member without a value has nothing to repair.
        if let Some(block) = found.block().filter(|_| what == Defect::MalformedPayload && self.reads_members()) {
            self.payloads.readable.insert(block, false);
        }
        let (message, help) = self.defect_text(what, found);
        let span = if let Subject::Place(_, span) = &subject { *span } else { found.span() };
        let mut finding = defect(what, span, message);
        finding.help = help.or_else(|| self.withheld(what, found.block())).or_else(|| self.ended(what, found.block()));
        finding.help = finding.help.or_else(|| self.own_closer(what, found.block()));
        let bound = found.block().and_then(|block| self.block(block));
        finding.rule = bound.map(|(_, bound)| bound.at).filter(|_| what != Defect::NestedBlock);
        let chosen = self.answer(what, &subject, finding);
        let moves = matches!(chosen, Strategy::Lift | Strategy::Drop | Strategy::KeepAsText);
        if let Some(block) = found.block().filter(|_| what == Defect::NestedBlock && !moves) {
            self.set_fate(block, Fate::Inner);
        }
        chosen
    }

    /// Reports a `fault_…` rule of a grammar that matched in the opener of a block, or anywhere if blocks are members.
    fn judge_fault(&mut self, rule: RuleId, found: &ReaderFinding, times: usize) {
        let block = found.block().and_then(|block| self.block(block));
        let family = block.map_or(0, |(block, _)| block.family());
        let Some(grammar) = self.dialect.and_then(|dialect| dialect.grammar(family)) else { return };
        let name = grammar.rule_name(rule);
        // If the pack checks speakers, this fault is reported as a defect instead.
        let speaks =
            self.program.flows.speakers.is_some() && block.is_some_and(|(_, bound)| bound.role == Role::Utterance);
        if speaks && name == MISLABELLED {
            return;
        }
        let what = fault_words(name);
        let message = match block {
            Some((block, _)) => {
                let end = if found.span().start < block.inner().end { "opener" } else { "closer" };
                message!("the {} of `{}` has a fault: {}", end, quote(block.name().of(self.text), 40), &what)
            }
            None if times > 1 => message!("not as it should be written: {}, {} times", &what, &times),
            None => message!("not as it should be written: {}", &what),
        };
        let diagnostic = Diagnostic::new(Code::fault(name), Location::response(found.span()), message);
        self.find(diagnostic.with_rule(self.place_of(found)));
    }

    /// Reports the tolerated faults of one payload: each kind once, with the number of its faults.
    pub(super) fn payload_faults(&mut self, faults: &[json::JsonFault], rule: Location) {
        let mut kinds: Vec<(&json::JsonFault, usize)> = Vec::new();
        for fault in faults {
            let same = |first: &json::JsonFault| first.name == fault.name && fault.name != json::CODE_FENCE;
            match kinds.iter_mut().find(|(first, _)| same(first)) {
                Some((_, times)) => *times += 1,
                None => kinds.push((fault, 1)),
            }
        }
        kinds.into_iter().for_each(|(first, times)| self.payload_fault(first.name, first.span, times, Some(rule)));
    }

    /// Reports a tolerated fault of JSON that occurs `times` times.
    pub(super) fn payload_fault(&mut self, name: &str, span: Span, times: usize, rule: Option<Location>) {
        let words = fault_words(name);
        let message = match times {
            0 | 1 => message!("the payload is no strict JSON: {}", &words),
            _ => message!("the payload is no strict JSON: {}, {} times", &words, &times),
        };
        let mut diagnostic = Diagnostic::new(Code::fault(name), Location::response(span), message);
        if name == json::CODE_FENCE {
            diagnostic.help = Some("write it without a code fence around it".into());
        }
        self.find(diagnostic.with_rule(rule));
    }

    /// The declaration to which a finding belongs: that of its block, or else of the dialect.
    fn place_of(&self, found: &ReaderFinding) -> Option<Location> {
        let block = found.block().and_then(|block| self.block(block)).map(|(_, bound)| bound.at);
        block.or_else(|| self.dialect.map(|dialect| dialect.at))
    }

    /// Whether the answer is one object whose members are the blocks.
    pub(super) fn reads_members(&self) -> bool {
        self.dialect.is_some_and(|dialect| dialect.outline.is_some())
    }

    fn defect_text(&self, what: Defect, found: &ReaderFinding) -> (Message, Option<Message>) {
        let whole = found.span().of(self.text);
        let quoted = || quote(whole, 40);
        let block = found.block().and_then(|block| self.document.blocks.get(block));
        // If the opener gives no name, or there is no opener, the block has its declared name.
        let name = || {
            let written = block.map_or(whole, |block| block.name().of(self.text));
            let declared = || block.and_then(|block| self.bound(block)).map_or("", |bound| bound.name.as_str());
            quote(if written.is_empty() { declared() } else { written }, 40)
        };
        let limits = &self.program.limits;
        match what {
            Defect::NoDialect => ("no dialect of this mode recognises a block".into(), None),
            Defect::UnclosedBlock if block.is_some_and(Block::is_native) => {
                (message!("the arguments of `{}` are cut off", name()), None)
            }
            Defect::UnclosedBlock if block.is_some_and(|block| block.ended == Ended::Unsure) => (
                message!("any of several fences may have closed `{}`", name()),
                Some("a longer fence around a text that holds fences says where it ends".into()),
            ),
            Defect::UnclosedBlock => (message!("`{}` is never closed", name()), None),
            Defect::MalformedPayload
                if block.is_some_and(|block| {
                    matches!(block.written, BodyEncoding::String | BodyEncoding::Twice) && !block.body().is_empty()
                }) =>
            {
                if block.is_some_and(|block| json::has_lone_surrogate(block.span().of(self.text))) {
                    return (message!("`{}` contains half of a surrogate pair, which is no character", name()), None);
                }
                let message = message!("the escapes of `{}` may be backslashes and letters", name());
                (message, Some("a backslash in a string of JSON is written as two".into()))
            }
            Defect::MalformedPayload if self.is_content(found.block()) || self.reads_members() => {
                (message!("`{}` has no body", name()), None)
            }
            Defect::MalformedPayload => (
                message!("the payload of `{}` is nested too deeply", name()),
                Some(message!("a payload has at most {} levels", &limits.depth)),
            ),
            Defect::WrongCloser => (message!("`{}` closes `{}`", quoted(), name()), None),
            Defect::StrayCloser => (message!("`{}` closes nothing", quoted()), None),
            Defect::MalformedOpener => {
                let span = self.broken_opener(found.span());
                let (opener, rest) = (quote(span.of(self.text), 40), self.text.slice(span.end..));
                let message = match rest.split_whitespace().next() {
                    None => message!("`{}` starts like a block, but its opener is incomplete: the answer ends", opener),
                    Some(_) if rest.starts_with(['\n', '\r']) => {
                        message!("`{}` starts like a block, but its opener is incomplete: the line ends", opener)
                    }
                    Some(word) => message!(
                        "`{}` starts like a block, but its opener cannot be read: unexpected `{}`",
                        opener,
                        quote(word, 16)
                    ),
                };
                (message, self.own_opener(span).map(|opener| message!("write such an opener as `{}`", &opener)))
            }
            Defect::ForbiddenBlock => (
                message!("the answer is one object, and `{}` is in another", name()),
                Some("write everything in one object".into()),
            ),
            Defect::NestedBlock if found.block().is_some() => (message!("`{}` is inside another block", name()), None),
            Defect::NestedBlock => (
                message!("`{}` is inside another block, so it is text of that block", quoted()),
                Some("a block inside this one is carried out only if its `holds` says so".into()),
            ),
            Defect::TooLarge if self.text.len() > limits.input => {
                (message!("the response is longer than {} bytes", &limits.input), None)
            }
            Defect::TooLarge => (
                message!(
                    "more than {} blocks, {} calls or {} values in all payloads together: the rest is text",
                    &limits.blocks,
                    &limits.calls,
                    &limits.values
                ),
                None,
            ),
            Defect::TooCostly => ("reading this takes too many steps: the rest is text".into(), None),
            other => (message!("`{}` at `{}`", &other, quoted()), None),
        }
    }

    /// The part of a broken opener before the next block or mark.
    fn broken_opener(&self, span: Span) -> Span {
        let document = self.document;
        let block = document.blocks.partition_point(0, |block| block.span().start <= span.start);
        let block = document.blocks.get(block).map(|block| block.span().start);
        let is_mark = |what| matches!(what, FindingKind::Defect(Defect::StrayCloser | Defect::MalformedOpener));
        let reported = self.computed.marks.get_or_init(|| {
            let found = document.found.iter().filter(|other| is_mark(other.what));
            let mut starts: Vec<usize> = found.map(|other| other.span().start).collect();
            starts.sort_unstable();
            starts
        });
        let reported = reported.get(reported.partition_point(|start| *start <= span.start)).copied();
        let unreported = [&document.left_out.closers, &document.left_out.openers].map(|marks| {
            let next = marks.partition_point(0, |mark| mark.span().start <= span.start);
            marks.get(next).map(|mark| mark.span().start)
        });
        let next = unreported.into_iter().flatten().chain(reported).chain(block).min();
        let core = Span::new(span.start, span.end.min(next.unwrap_or(span.end)));
        Span::new(span.start, span.start + core.of(self.text).trim_end().len())
    }

    /// How the broken opener at `span` should be written; `None` if `MAX_OPENERS` such findings have been reported already.
    fn own_opener(&self, span: Span) -> Option<String> {
        const MAX_OPENERS: usize = 8;
        let dialect = self.dialect?;
        let malformed = self.findings.list.iter().filter(|found| found.code == Code::Defect(Defect::MalformedOpener));
        if malformed.count() >= MAX_OPENERS {
            return None;
        }
        dialect.families.iter().enumerate().filter(|(_, family)| family.may_break).find_map(|(number, family)| {
            let name = self.name_at(family, family.open, span)?;
            let block = dialect.block(dialect.names.find(name, Some(number))?)?;
            if let Some(spelled) = &block.spelled {
                return Some(spelled.replace("@name", name));
            }
            let named = [Some(&block.called), block.key.as_ref()].into_iter().flatten();
            let mut keys: Vec<&str> = named
                .filter_map(|called| match called {
                    NameSource::Attribute(key) => Some(key.as_str()),
                    _ => None,
                })
                .collect();
            let action = match &block.called {
                NameSource::Own => self.program.actions.get(name),
                NameSource::Word(word) => self.program.actions.get(word),
                _ => None,
            };
            let action = action.filter(|_| block.payload.contains(&surface::Payload::Attributes));
            let required = action.and_then(|action| action.schema.json().get("required")?.as_array());
            keys.extend(required.into_iter().flatten().filter_map(|key| key.as_str()));
            let attributes: Vec<(&str, &str)> = keys.into_iter().map(|key| (key, "...")).collect();
            // An opener with all parameters has no closer, if the grammar has such a form.
            let forms = if block.payload == [surface::Payload::Attributes] {
                [family.empty, None]
            } else {
                [None, family.empty]
            };
            forms.into_iter().find_map(|empty| family.spell_opener(name, &attributes, empty, ""))
        })
    }

    /// The name in an opener or closer that this rule reads, or in one that is broken after its name.
    pub(super) fn name_at(&self, family: &Family, rule: RuleId, span: Span) -> Option<&'r str> {
        let (mut machine, mut steps) = (Machine::new(), self.program.limits.steps(span.len()));
        machine.start(&family.grammar, rule, span.start);
        let at = machine.run_to(family.name, &family.grammar, self.text, true, &mut steps).ok()?;
        let end = machine.match_at(&family.grammar, family.name, self.text, at, &mut steps)?;
        Some(Span::new(at, end).of(self.text))
    }

    /// The block that a broken opener would open, or a closer would close, if its declaration has strategies for that
    /// defect.
    pub(super) fn meant_at(&self, defect: Defect, span: Span) -> Option<&'r program::BlockBinding> {
        let dialect = self.dialect?;
        let has_word = |block: &&'r program::BlockBinding| block.degradation.declares(defect);
        if !dialect.blocks.iter().any(|block| has_word(&block)) {
            return None;
        }
        dialect
            .families
            .iter()
            .enumerate()
            .find_map(|(number, family)| {
                let rule = match defect {
                    Defect::MalformedOpener => Some(family.open).filter(|_| family.may_break),
                    Defect::StrayCloser => family.close,
                    _ => None,
                };
                let name = self.name_at(family, rule?, span)?;
                let closes = |block: &&'r program::BlockBinding| {
                    block
                        .close
                        .iter()
                        .any(|closer| matches!(closer, Closer::Word(word) if dialect.names.same(word, name)))
                };
                let meant = dialect.names.find(name, Some(number)).and_then(|id| dialect.block(id));
                meant.or_else(|| dialect.blocks.iter().find(closes).filter(|_| defect == Defect::StrayCloser))
            })
            .filter(has_word)
    }

    /// Why a content that counts has no effect.
    pub(super) fn withheld(&self, what: Defect, block: Option<usize>) -> Option<Message> {
        let (found, bound) = self.block(block?)?;
        let ends = || self.text.get(found.span().end..).is_some_and(|rest| rest.trim().is_empty());
        let why = match (what, found.ended) {
            (Defect::StrayCloser, _) => "it may only be part of the reasoning",
            (Defect::UnclosedBlock, Ended::Open) if ends() => "only the end of the answer ended it",
            (Defect::UnclosedBlock, Ended::Open) => "only the end of what is around it ended it",
            (Defect::UnclosedBlock, Ended::Alike) => "it may show the block that ended it",
            (Defect::UnclosedBlock, Ended::Unsure) => "it may hold text that follows it",
            (Defect::UnclosedBlock, _) if self.may_be_unclosed(found) => {
                "it may be part of what is never closed before it"
            }
            (Defect::UnclosedBlock, _) => "the answer was cut off, and no closer ends it",
            _ => return None,
        };
        if bound.role != Role::Content || self.has_effect(block?) {
            return None;
        }
        let never = what == Defect::UnclosedBlock && (self.is_cut(block?) || self.may_be_unclosed(found));
        Some(match never {
            true => message!("{}, so it has no effect", why),
            false => message!("{}, so it has no effect unless the pack itself says `{} = \"keep\"`", why, &what),
        })
    }

    /// A help text: where the reader took an unclosed block to end.
    fn ended(&self, what: Defect, block: Option<usize>) -> Option<Message> {
        let (block, _) = self.block(block?).filter(|_| what == Defect::UnclosedBlock)?;
        Some(match self.text.get(block.span().end..)?.trim_start() {
            "" => "it is read to the end of the answer".into(),
            rest => message!("it is read up to `{}`", quote(rest, 24)),
        })
    }

    /// A help text: the name of a block's own closer, if another one closed it.
    fn own_closer(&self, what: Defect, block: Option<usize>) -> Option<Message> {
        let (block, bound) = self.block(block?).filter(|_| what == Defect::WrongCloser)?;
        let malformed = bound.close.iter().find_map(|closer| match closer {
            Closer::Own => Some(block.name().of(self.text).into()),
            Closer::Word(word) => Some(word.into()),
            Closer::Attribute(name) => self.attribute(block, name),
            Closer::Pattern(_) => None,
        })?;
        Some(message!("its own closer is called `{}`", quote(&malformed, 40)))
    }

    fn is_content(&self, block: Option<usize>) -> bool {
        block.and_then(|block| self.block(block)).is_some_and(|(_, bound)| bound.role == Role::Content)
    }

    fn remark_text(&self, remark: Remark, found: &ReaderFinding) -> Message {
        let span = found.span();
        let block = found.block().and_then(|block| self.document.blocks.get(block));
        match remark {
            Remark::QuotedBlock => {
                // Some openers have no text of their own, such as that of a call that is an object.
                let span = if span.is_empty() { self.line_from(span.start) } else { span };
                message!("`{}` is quoted, so it is text", quote(span.of(self.text), 40))
            }
            Remark::DuplicateKey => {
                let counts = match block {
                    Some(_) if self.reads_members() => "; each one is used",
                    Some(_) => "; the first one is used",
                    None => "",
                };
                message!("the key `{}` occurs several times{}", quote(span.of(self.text), 40), counts)
            }
            Remark::FieldForm if self.is_around(found) => {
                message!("`{}` is around the whole text, and no part of it", quote(span.of(self.text), 40))
            }
            Remark::FieldForm if block.is_some() && self.reads_members() => {
                "the answer is one object, and this is another".into()
            }
            Remark::FieldForm => {
                message!("`{}` is an object where a list of them is declared", quote(span.of(self.text), 40))
            }
            Remark::Unescaped => "this was escaped twice, and is read as if it were escaped once".into(),
            other => other.name().into(),
        }
    }
}
