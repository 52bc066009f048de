//! Families: which rules of a grammar open, close and fill blocks?
//!
//! In: a grammar.
//! Out: [`Family`]: the rules that the reader uses, each with its [`Prefix`].
//! Never: knows what a block means.

use super::block::{BlockBinding, BlockId};
use super::builders::Builders;
use crate::grammar::{Capture, First, Grammar, Machine, RuleId, SpelledCapture, shipped};
use crate::surface::{Anchor, Ending, Role};
use crate::text::{Slice, SourceId};
use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// A limit that no opener written by a prompt reaches.
const MAX_SPELLED_CAPTURES: usize = 1024;
/// A limit that reading such an opener does not reach.
const MAX_SPELLED_STEPS: i64 = 1 << 20;

/// A grammar of a dialect, with the rules that the reader uses.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) open: RuleId,
    pub(crate) close: Option<RuleId>,
    pub(crate) payload: Option<RuleId>,
    pub(crate) name: RuleId,
    pub(crate) attribute: Option<RuleId>,
    /// The default places where its blocks may end, and those where its contents may.
    ends: Vec<Vec<Ending>>,
    content_ends: Vec<Vec<Ending>>,
    pub(crate) empty: Option<RuleId>,
    /// Whether every block that it may open counts only at the start of a line.
    pub(crate) starts_line: bool,
    /// Whether every block that it may open counts only at the start of a paragraph, and nothing elsewhere counts as a
    /// broken opener.
    pub(crate) starts_paragraph: bool,
    /// Whether every block that its closers may close counts only at the start of a line.
    pub(crate) closers_start_line: bool,
    /// Whether the pack declares of one of its blocks that it counts anywhere: then even in the middle of a word.
    pub(crate) inside_words: bool,
    /// Its block that may open the answer, even without its opener.
    pub(crate) leading: Option<BlockId>,
    /// The texts that its closers start with, if it has a block that opens at the start of an answer.
    pub(crate) closer_starts: Option<CloserStarts>,
    /// Whether its closers can have names.
    pub(crate) closes_by_name: bool,
    /// Whether a closer may have faults in it.
    pub(crate) closes_with_faults: bool,
    /// The rule for the part of a payload that is read, if not the whole payload is.
    pub(crate) body: Option<RuleId>,
    /// Whether the start of an opener, up to the name, counts as a broken opener if the rest cannot be read.
    pub(crate) may_break: bool,
    /// The rules `json` and `text`, where an opener may contain them: they define how a field is written.
    pub(crate) json: Option<RuleId>,
    pub(crate) text: Option<RuleId>,
    /// The rules that build values, if its openers or payloads have any.
    pub(crate) builders: Option<Builders>,
    /// The rules called `fault_…`: what they match in an opener is reported as a remark.
    pub(crate) faults: Vec<RuleId>,
    /// What every opener starts with; up to the name, if the name comes next.
    pub(crate) open_prefix: Prefix,
    pub(crate) close_prefix: Prefix,
    /// Whether an opener may contain a code fence, but does not start with one.
    pub(crate) holds_fences: bool,
    /// Whether the same text may be an opener and a closer.
    pub(crate) may_be_both: bool,
}

impl Family {
    /// The family of a grammar, if it has the rules that every dialect needs.
    pub(crate) fn new(grammar: Arc<Grammar>) -> Option<Self> {
        let (open, name) = (grammar.rule("open")?, grammar.rule("name")?);
        let close = grammar.rule("close");
        let prefix = |rule| Prefix {
            literal: grammar.literal_before(rule, name).unwrap_or_default().to_owned(),
            name_follows: grammar.literal_before(rule, name).is_some(),
            name_first: grammar.begins_with(rule, name),
            holds_name: grammar.contains_one(rule, name),
        };
        let opening = grammar.called_from(|rule| rule == "open");
        let within = |name: &str| grammar.rule(name).filter(|rule| opening.contains(rule));
        let payload = grammar.rule("payload");
        let ends = match (close, payload) {
            (Some(_), _) => vec![vec![Ending::Closer], vec![Ending::NextBlock], vec![Ending::End]],
            (None, Some(_)) => vec![vec![Ending::Payload], vec![Ending::NextBlock], vec![Ending::End]],
            // Without closers, the next block or the end is the regular end of a block.
            (None, None) => vec![vec![Ending::NextBlock, Ending::End]],
        };
        let mut content_ends = ends.clone();
        // A document may contain the dialect's own tags: such a content ends where openers and closers balance.
        if let Some(first) = content_ends.first_mut().filter(|_| close.is_some()) {
            first.insert(0, Ending::BalancedCloser);
        }
        Some(Self {
            open,
            close,
            name,
            ends,
            content_ends,
            payload,
            body: payload
                .and(grammar.rule("body"))
                .filter(|body| grammar.called_from(|rule| rule == "payload").contains(body)),
            closes_with_faults: grammar
                .called_from(|rule| rule == "close")
                .into_iter()
                .any(|rule| grammar.is_fault(rule)),
            attribute: grammar.rule("attribute"),
            empty: grammar.rule("empty"),
            starts_line: false,
            starts_paragraph: false,
            inside_words: false,
            leading: None,
            closers_start_line: false,
            closer_starts: None,
            json: within("json"),
            text: within("text"),
            builders: Builders::of(&grammar),
            closes_by_name: grammar.called_from(|rule| rule == "close").contains(&name),
            may_break: grammar.starts_up_to(open, name),
            faults: grammar.rules().filter(|rule| grammar.is_fault(*rule)).collect(),
            holds_fences: !grammar.first(open).is_fence() && grammar.contains_text(open, is_fence),
            may_be_both: close
                .is_some_and(|close| may_be_both(&grammar, (open, &prefix(open)), (close, &prefix(close)), name)),
            open_prefix: prefix(open),
            close_prefix: close.map(prefix).unwrap_or_default(),
            grammar,
        })
    }

    /// Where a block of this family may end, in order of preference.
    pub(crate) fn ladder<'f>(&'f self, block: &'f BlockBinding) -> &'f [Vec<Ending>] {
        match block.role {
            _ if !block.ends.is_empty() => &block.ends,
            Role::Content => &self.content_ends,
            _ => &self.ends,
        }
    }

    /// Records what the blocks that it may open have in common.
    pub(super) fn bind<'b>(&mut self, blocks: impl Iterator<Item = (BlockId, &'b BlockBinding)> + Clone) {
        // A block anchored in a wrapper does not count as one at the start of a line: it may also directly follow
        // another block.
        let at_line = |block: &BlockBinding| matches!(block.anchor, Anchor::Line | Anchor::Paragraph);
        self.starts_line = blocks.clone().all(|(_, block)| block.starts || at_line(block));
        self.starts_paragraph = !self.may_break && blocks.clone().all(|(_, block)| block.anchor == Anchor::Paragraph);
        self.closers_start_line = blocks.clone().all(|(_, block)| block.anchor != Anchor::Anywhere);
        self.inside_words = blocks.clone().any(|(_, block)| block.inside_words);
        let leading = { blocks }.find(|(_, block)| block.starts).map(|(id, _)| id);
        self.leading = leading.filter(|_| self.close.is_some());
        let close = self.close.filter(|_| self.leading.is_some());
        self.closer_starts = close.and_then(|close| CloserStarts::new(self.grammar.first(close)));
    }

    /// Whether an opener may start with `bytes`, judged by the first bytes of openers and of names; none if that
    /// depends on the bytes that follow.
    pub(crate) fn may_open(&self, bytes: &[u8]) -> Option<bool> {
        let starts = self.grammar.first(self.open).starts(bytes);
        let name = self.grammar.first(self.name);
        if starts == Some(false) || name.empty || !self.open_prefix.name_follows {
            return starts;
        }
        let byte = bytes.get(self.open_prefix.literal.len())?;
        if name.bytes.get(usize::from(*byte)) == Some(&true) { starts } else { Some(false) }
    }

    /// Whether every opener is the first line of a code fence.
    pub(crate) fn opens_fences(&self) -> bool {
        self.grammar.first(self.open).is_fence()
    }

    /// The part of an opener that its attributes take; empty without any.
    pub(crate) fn attributes_in<'o>(&self, opener: &'o str) -> Option<&'o str> {
        let mut machine = Machine::new().capturing(MAX_SPELLED_CAPTURES);
        machine.start(&self.grammar, self.open, 0);
        machine.run(&self.grammar, opener, true, &mut MAX_SPELLED_STEPS.clone());
        let is_one = |capture: &&Capture| Some(capture.rule()) == self.attribute;
        let spans = || machine.captures().iter().filter(is_one).map(|capture| capture.span());
        let (start, end) = (spans().map(|span| span.start).min(), spans().map(|span| span.end).max());
        opener.get(start.unwrap_or_default()..end.unwrap_or_default())
    }

    /// An opener with this name and these attributes, as it is written before a body.
    pub(crate) fn spell_opener(
        &self,
        name: &str,
        attributes: &[(&str, &str)],
        empty: Option<RuleId>,
        body: &str,
    ) -> Option<String> {
        let grammar = &self.grammar;
        // A payload directly follows the opener; any other body may start on the next line.
        let behind: &[&str] = if self.payload.is_some() && !body.is_empty() { &[body] } else { &["", "\n", body] };
        let typed = |key, value| {
            Some(SpelledCapture::Whole(self.attribute?, vec![SpelledCapture::Next(key), SpelledCapture::Next(value)]))
        };
        let spelled = |named: bool, name_first: bool| {
            let mut parts = Vec::new();
            let called = SpelledCapture::Text(self.name, name);
            parts.extend(Some(&called).filter(|_| name_first).cloned());
            for (key, value) in attributes {
                parts.push(match grammar.rule(key).filter(|rule| named && !grammar.is_silent(*rule)) {
                    Some(rule) => SpelledCapture::Text(rule, value),
                    None => typed(key, value)?,
                });
            }
            parts.extend(Some(called).filter(|_| !name_first));
            parts.extend(empty.map(|rule| SpelledCapture::Whole(rule, Vec::new())));
            grammar.spell(self.open, &parts, behind)
        };
        // A rule of the same name may spell something else, and an attribute may come before the name: try all four
        // orders.
        let orders = [(true, true), (false, true), (true, false), (false, false)];
        orders.into_iter().find_map(|(named, name_first)| spelled(named, name_first))
    }
}

/// How many bytes of a closer are searched for: with a fourth, the search takes a third longer.
const MAX_START_BYTES: usize = 3;

/// The texts that closers start with, searched for in one pass.
#[derive(Debug)]
pub(crate) struct CloserStarts {
    first: First,
    /// Searches for the first bytes of the texts.
    starts: AhoCorasick,
}

impl CloserStarts {
    /// How closers start: with these texts or, if they have too many or unknown beginnings, with these bytes.
    fn new(first: &First) -> Option<Self> {
        let is_first = |byte: &u8| first.bytes.get(usize::from(*byte)) == Some(&true);
        let bytes = (0..=u8::MAX).filter(|byte| first.literals.is_empty() && is_first(byte)).map(|byte| vec![byte]);
        let bytes: Vec<Vec<u8>> = bytes.collect();
        Self::build(first.literals.iter().cloned(), bytes)
    }

    /// How the closers of all families start, as far as that is known.
    pub(super) fn of_all(families: &[Family]) -> Option<Self> {
        let closers = families.iter().filter_map(|family| Some(family.grammar.first(family.close?)));
        Self::build(closers.flat_map(|first| first.literals.iter().cloned()), Vec::new())
    }

    fn build(literals: impl Iterator<Item = String>, bytes: Vec<Vec<u8>>) -> Option<Self> {
        let mut literals: Vec<String> = literals.collect();
        literals.sort_unstable();
        // Where a text that starts with another one is, that one is, too.
        literals.dedup_by(|next, shorter| next.starts_with(shorter.as_str()));
        let start = |literal: &String| literal.bytes().take(MAX_START_BYTES).collect();
        let starts: BTreeSet<Vec<u8>> = literals.iter().map(start).chain(bytes).collect();
        let starts = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(starts).ok()?;
        Some(Self { first: First::new(literals, [true; 256], false), starts })
    }

    /// The offsets of all of them in `bytes`.
    pub(crate) fn find_all(&self, bytes: &[u8]) -> impl Iterator<Item = usize> {
        let mut from = 0;
        let places = std::iter::from_fn(move || {
            let at = from + self.starts.find(bytes.slice(from..))?.start();
            from = at + 1;
            Some(at)
        });
        places.filter(|at| self.first.starts(bytes.slice(*at..)) == Some(true))
    }

    /// The length in bytes of the longest.
    pub(crate) fn longest(&self) -> usize {
        self.first.literals.iter().map(String::len).max().unwrap_or(1)
    }
}

/// The literal that a rule starts with, and whether the name directly follows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prefix {
    pub(crate) literal: String,
    pub(crate) name_follows: bool,
    /// Whether the rule starts with the name.
    pub(crate) name_first: bool,
    pub(crate) holds_name: bool,
}

/// Whether a text contains the delimiter of a code fence.
fn is_fence(text: &str) -> bool {
    ["```", "~~~"].iter().any(|marks| text.contains(marks))
}

/// Whether an opener and a closer may be the same text, judged by how they start.
fn may_be_both(grammar: &Grammar, open: (RuleId, &Prefix), close: (RuleId, &Prefix), name: RuleId) -> bool {
    let bytes_at = |(rule, prefix): (RuleId, &Prefix), place: usize| -> Box<dyn Fn(u8) -> bool> {
        let first = match prefix.literal.as_bytes().get(place) {
            Some(known) => {
                let known = *known;
                return Box::new(move |byte| byte == known);
            }
            None if place == 0 => grammar.first(rule),
            None if place == prefix.literal.len() && prefix.name_follows => grammar.first(name),
            None => return Box::new(|_| true),
        };
        let (empty, bytes) = (first.empty, first.bytes);
        Box::new(move |byte| empty || bytes.get(usize::from(byte)) == Some(&true))
    };
    let longest = open.1.literal.len().max(close.1.literal.len());
    (0..=longest).all(|place| {
        let (opens, closes) = (bytes_at(open, place), bytes_at(close, place));
        (0..=u8::MAX).any(|byte| opens(byte) && closes(byte))
    })
}

static TAGS: LazyLock<Option<Family>> = LazyLock::new(|| {
    let grammar = Grammar::parse(SourceId::RESPONSE, shipped("tags")?).value?;
    Family::new(Arc::new(grammar))
});

/// The shipped grammar `tags`, which defines how fields are written if a dialect has no closers.
pub(crate) fn tag_family() -> Option<&'static Family> {
    TAGS.as_ref()
}
