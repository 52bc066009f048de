//! Structure: does this line open or close a block?
//!
//! In: the rules and names of a dialect, or of one whose answers are one object.
//! Out: whether a line looks like an opener or closer; any text with a guard before each such line; the ranges of
//! openers, closers and objects in a text.
//! Never: reads a response; the reader applies the same rules, but at every place.

use super::family::Family;
use super::names::BlockNames;
use super::object_shape::ObjectShape;
use crate::grammar::{Grammar, Machine, Progress, RuleId};
use crate::markup::{Guarding, Marking};
use crate::text::{Guard, Slice, is_margin};
use std::ops::Range;
use std::sync::Arc;

/// The steps for one line. A line that takes more counts as an opener or closer.
const STEPS_PER_LINE: i64 = 20_000;
/// The most captures in which a name is searched for.
const MAX_CAPTURES: usize = 16;

/// How the openers and closers of one dialect are recognised.
#[derive(Debug)]
pub(crate) struct Structure {
    families: Vec<Rules>,
    names: Arc<BlockNames>,
    /// The bytes that an opener or closer may start with.
    starts: [bool; 256],
    /// Whether one may start with a letter or digit. Escaping single bytes cannot prevent these.
    words: bool,
    pub(crate) guard: Guard,
}

#[derive(Debug)]
struct Rules {
    grammar: Arc<Grammar>,
    name: RuleId,
    /// The rules for openers and closers.
    marks: Vec<RuleId>,
    /// Whether they count only at the start of a line.
    by_line: bool,
}

impl Structure {
    pub(crate) fn new(families: &[Family], names: Arc<BlockNames>, by_line: bool) -> Self {
        let families: Vec<Rules> = families
            .iter()
            .map(|family| Rules {
                grammar: family.grammar.clone(),
                name: family.name,
                marks: std::iter::once(family.open).chain(family.close).collect(),
                // An unmatched closer of reasoning counts anywhere, not only at the start of a line.
                by_line: by_line || (family.starts_line && family.leading.is_none()),
            })
            .collect();
        let starts = std::array::from_fn(|byte| families.iter().any(|rules| rules.starts(byte as u8)));
        let with = |byte: &u8| starts.get(usize::from(*byte)) == Some(&true);
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        let guard = Guard::new((0..=u8::MAX).filter(with));
        let words = (0..=u8::MAX).filter(is_word).any(|byte| with(&byte));
        Self { families, names, starts, words, guard }
    }

    /// Whether a text starts with a line that opens or closes a block, or that may do so, depending on what follows.
    fn shapes(&self, text: &str) -> bool {
        let line = text.split('\n').next().unwrap_or_default().as_bytes();
        let mut machine = Machine::new().capturing(MAX_CAPTURES);
        line.iter().enumerate().any(|(at, byte)| {
            let mut families = self.families.iter().filter(|rules| rules.starts(*byte));
            let is_line_start = || line.get(..at).is_some_and(is_margin);
            families.any(|rules| {
                let mut marks = rules.marks.iter();
                is_line_start()
                    && marks.any(|mark| self.run(rules, *mark, (text, false), at, &mut machine) != Progress::Failed)
            })
        })
    }

    /// How far a rule matches a text from its start; fails at a name that no block has.
    fn run(
        &self,
        rules: &Rules,
        mark: RuleId,
        (text, complete): (&str, bool),
        at: usize,
        machine: &mut Machine,
    ) -> Progress {
        if !self.may_start(rules, mark, text.as_bytes().slice(at..)) {
            return Progress::Failed;
        }
        machine.start(&rules.grammar, mark, at);
        match machine.run(&rules.grammar, text, complete, &mut STEPS_PER_LINE.clone()) {
            Progress::Matched(end) => {
                let name = machine.captures().iter().find(|capture| capture.rule() == rules.name);
                let opens = rules.marks.first() == Some(&mark);
                let bound = name.map(|name| name.span().of(text)).is_none_or(|name| match opens {
                    true => self.names.find(name, None).is_some(),
                    false => self.names.closes(name, None),
                });
                if bound { Progress::Matched(end) } else { Progress::Failed }
            }
            Progress::TooDeep => Progress::Failed,
            other => other,
        }
    }

    /// Whether a rule may match these bytes, judged by its first bytes and by the names of blocks: most tags of a
    /// prompt are those of its template.
    fn may_start(&self, rules: &Rules, mark: RuleId, bytes: &[u8]) -> bool {
        let named =
            |prefix: &str| self.names.may_close(bytes.get(prefix.len()..).unwrap_or_default(), true) != Some(false);
        rules.grammar.first(mark).may_start(bytes) && rules.grammar.literal_before(mark, rules.name).is_none_or(named)
    }

    /// The range of each place where a rule is tried and `end` returns an end.
    fn all(
        &self,
        (text, complete): (&str, bool),
        end: impl Fn(Progress, usize) -> Option<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let mut found = Vec::new();
        let mut machine = Machine::new().capturing(MAX_CAPTURES);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let bytes = line.as_bytes();
            let mut places = line.char_indices().map(|(place, _)| place);
            while let Some(place) = places.find(|place| bytes.get(*place).is_some_and(|byte| self.starts_with(*byte))) {
                let Some((before, byte)) = bytes.get(..place).zip(bytes.get(place)) else { continue };
                let counts = |rules: &&Rules| rules.starts(*byte) && (!rules.by_line || is_margin(before));
                for rules in self.families.iter().filter(counts) {
                    let at = start + place;
                    let mut ends = rules.marks.iter().filter_map(|mark| {
                        let progress = self.run(rules, *mark, (text, complete), at, &mut machine);
                        end(progress, start + line.len())
                    });
                    found.extend(ends.next().map(|end| at..end));
                }
            }
            start += line.len();
        }
        found.into_iter()
    }

    fn starts_with(&self, byte: u8) -> bool {
        self.starts.get(usize::from(byte)) == Some(&true)
    }
}

impl Marking for Structure {
    fn marks(&self, text: &str, _: &[Range<usize>]) -> Vec<Range<usize>> {
        let end = |progress, line| match progress {
            Progress::Matched(end) => Some(end),
            // More text could complete it, so guard the whole line.
            Progress::Pending | Progress::Spent => Some(line),
            Progress::Failed | Progress::TooDeep => None,
        };
        self.all((text, true), end).collect()
    }

    fn is_open(&self, words: &str) -> bool {
        let end = |progress, line| matches!(progress, Progress::Pending | Progress::Spent).then_some(line);
        // Whether a value is at the start of a line depends on the text before it, which may come from several values.
        let is_line_start = self.families.iter().any(|rules| rules.by_line);
        self.words || is_line_start || self.all((words, false), end).next().is_some()
    }
}

impl Rules {
    fn starts(&self, byte: u8) -> bool {
        self.marks.iter().any(|mark| self.grammar.first(*mark).bytes.get(usize::from(byte)) == Some(&true))
    }
}

impl Guarding for Structure {
    fn guarded(&self, text: &str) -> String {
        self.guard.put_on(text, |rest| self.shapes(rest)).into_owned()
    }
}

/// The places where an answer that is one object may start.
#[derive(Debug)]
pub(crate) struct ObjectStarts(pub(crate) Arc<ObjectShape>);

impl ObjectStarts {
    /// Whether an object starts at `rest`; `first` is whether only white space precedes it.
    fn opens(&self, rest: &str, first: bool) -> bool {
        // At the very start, the reader also accepts an object without `{` before a name in quotes.
        (rest.starts_with(['{', '`', '~']) && self.matches(self.0.open, (rest, true)))
            || rest.strip_prefix('{').is_some_and(|inside| self.0.may_name(inside) || self.is_cut(rest, inside))
            || (first && rest.starts_with(['"', '\'']) && self.matches(self.0.name, (rest, true)))
    }

    /// Whether the text ends within the first name of the object at `rest`: more text could complete it.
    fn is_cut(&self, rest: &str, inside: &str) -> bool {
        inside.trim_start().starts_with(['"', '\'']) && self.matches(self.0.open, (rest, false))
    }

    /// Where the object ends if it continues after `end`: the reader skips superfluous brackets and commas up to the
    /// quote of the next name.
    fn goes_on(&self, text: &str, end: usize) -> Option<usize> {
        let behind = text.get(end..)?;
        let rest = behind.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '}' | ']' | ','));
        let names = rest.starts_with(['"', '\'']) && self.matches(self.0.name, (rest, true));
        names.then(|| text.len() - rest.len() + 1)
    }

    fn matches(&self, rule: RuleId, (text, complete): (&str, bool)) -> bool {
        let mut machine = Machine::with_depth(16);
        machine.start(&self.0.grammar, rule, 0);
        !matches!(machine.run(&self.0.grammar, text, complete, &mut STEPS_PER_LINE.clone()), Progress::Failed)
    }
}

impl Marking for ObjectStarts {
    /// The ranges of objects, from their start to the closing brace. A value inside may be a member, or end the object.
    fn marks(&self, text: &str, values: &[Range<usize>]) -> Vec<Range<usize>> {
        // The text may directly follow an object.
        let start = text.len() - text.trim_start().len();
        let mut found: Vec<Range<usize>> = self.goes_on(text, start).map(|end| start..end).into_iter().collect();
        let is_valued = |at: usize| {
            let next = values.partition_point(|value| value.end <= at);
            values.get(next).is_some_and(|value| value.start <= at)
        };
        for (at, c) in text.char_indices().filter(|(_, c)| matches!(c, '{' | '`' | '~' | '"' | '\'')) {
            // White space before an object does not matter.
            let first = text.get(..at).is_some_and(|before| before.trim().is_empty());
            let known = found.last().is_some_and(|last| last.contains(&at));
            if known || !text.get(at..).is_some_and(|rest| self.opens(rest, first)) {
                continue;
            }
            if is_valued(at) {
                found.push(at..at + c.len_utf8());
                continue;
            }
            let mut depth = 0_usize;
            let authored = text.bytes().enumerate().skip(at).filter(|(at, _)| !is_valued(*at));
            let end = authored.into_iter().find_map(|(at, byte)| {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => return None,
                }
                (depth == 0).then_some(at + 1)
            });
            // A colon after the brace belongs to a damaged key.
            let rest = end.and_then(|end| text.get(end..)).unwrap_or_default();
            let behind = rest.trim_start().strip_prefix(':').unwrap_or(rest);
            let end = text.len() - behind.len();
            found.push(at..self.goes_on(text, end).unwrap_or(end));
        }
        found
    }

    fn is_open(&self, _: &str) -> bool {
        true
    }

    fn is_in_speech(&self) -> bool {
        false
    }
}
