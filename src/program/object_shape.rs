//! Object shapes: which values of an object are which blocks?
//!
//! In: a grammar whose members are blocks, and the names of a dialect's blocks, which are paths.
//! Out: [`ObjectShape`]: the rules that read an answer, and the levels of its values.
//! Never: reads a response.

use super::block::{BlockBinding, BlockId, NameSource};
use crate::grammar::{Grammar, RuleId};
use crate::pack::has_members;
use crate::surface::{ENTRIES, WHOLE};
use crate::text::{Present, SearchState, Slice, glob};
use std::sync::Arc;

/// The most bytes of a key, and of white space behind it, in which its colon is searched for.
const MAX_BLANK: usize = 1024;

/// How an answer that is one object is read.
#[derive(Debug)]
pub(crate) struct ObjectShape {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) open: RuleId,
    pub(crate) close: Option<RuleId>,
    pub(crate) name: RuleId,
    pub(crate) text: RuleId,
    pub(crate) scalar: RuleId,
    pub(crate) space: RuleId,
    pub(crate) faults: FaultRules,
    /// The first level is the object itself.
    levels: Vec<ShapeLevel>,
    insensitive: bool,
    /// Whether an answer is a list of such objects.
    pub(crate) entries: bool,
    /// The names of members at the first level, if all are words: the first block cannot start before one of them.
    names: Option<Vec<String>>,
}

/// The rules for faults that the reader tolerates; a fault without a rule in the grammar is not tolerated.
#[derive(Debug)]
pub(crate) struct FaultRules {
    pub(crate) extra_brace: Option<RuleId>,
    pub(crate) missing_brace: Option<RuleId>,
    pub(crate) extra_bracket: Option<RuleId>,
    pub(crate) missing_bracket: Option<RuleId>,
    pub(crate) bare_newline: Option<RuleId>,
    pub(crate) escape: Option<RuleId>,
    pub(crate) surrogate: Option<RuleId>,
    pub(crate) stray_quote: Option<RuleId>,
    pub(crate) bare_quote: Option<RuleId>,
    pub(crate) missing_comma: Option<RuleId>,
    pub(crate) extra_comma: Option<RuleId>,
    pub(crate) trailing_comma: Option<RuleId>,
    pub(crate) missing_value: Option<RuleId>,
    pub(crate) missing_quote: Option<RuleId>,
    pub(crate) missing_colon: Option<RuleId>,
    pub(crate) extra_colon: Option<RuleId>,
    pub(crate) triple_quotes: Option<RuleId>,
    pub(crate) blank: Option<RuleId>,
}

/// What a value at one place of the answer can be.
#[derive(Debug, Default)]
pub(crate) struct ShapeLevel {
    /// The block that the value is, if it is one.
    pub(crate) block: Option<BlockId>,
    /// The level of the entries, if the value is a list.
    pub(crate) each: Option<LevelId>,
    /// The levels of the members, by name, with `*` and `?` as in the names of blocks.
    members: Vec<(String, LevelId)>,
    /// Whether the value is the body of the block around it.
    pub(crate) body: bool,
}

impl ShapeLevel {
    /// Whether some block or body may be inside the value.
    pub(crate) fn looks_inside(&self) -> bool {
        self.each.is_some() || !self.members.is_empty()
    }
}

/// The index of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelId(usize);

impl LevelId {
    /// A bit for this level; 0 for a level whose index is 64 or more.
    pub(crate) fn bit(self) -> u64 {
        u32::try_from(self.0).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or_default()
    }
}

impl ObjectShape {
    /// Whether the blocks of a grammar are members of an object.
    pub(crate) fn fit(grammar: &Grammar) -> bool {
        has_members(grammar)
    }

    pub(crate) fn new(grammar: Arc<Grammar>, blocks: &[BlockBinding], insensitive: bool) -> Option<Self> {
        let fault = |name| grammar.rule(name);
        let faults = FaultRules {
            extra_brace: fault("fault_extra_brace"),
            missing_brace: fault("fault_missing_brace"),
            extra_bracket: fault("fault_extra_bracket"),
            missing_bracket: fault("fault_missing_bracket"),
            bare_newline: fault("fault_bare_newline"),
            escape: fault("fault_escape"),
            surrogate: fault("fault_surrogate"),
            stray_quote: fault("fault_stray_quote"),
            bare_quote: fault("fault_bare_quote"),
            missing_comma: fault("fault_missing_comma"),
            extra_comma: fault("fault_extra_comma"),
            trailing_comma: fault("fault_trailing_comma"),
            missing_value: fault("fault_missing_value"),
            missing_quote: fault("fault_missing_quote"),
            missing_colon: fault("fault_missing_colon"),
            extra_colon: fault("fault_extra_colon"),
            triple_quotes: fault("fault_triple_quotes"),
            blank: fault("fault_blank"),
        };
        let mut members = Self {
            open: grammar.rule("open")?,
            close: grammar.rule("close"),
            name: grammar.rule("name")?,
            text: grammar.rule("text")?,
            scalar: grammar.rule("scalar")?,
            space: grammar.rule("ws")?,
            faults,
            grammar,
            levels: vec![ShapeLevel::default()],
            insensitive,
            entries: false,
            names: None,
        };
        // Blocks before the object, such as reasoning, are not members of it.
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| !block.starts) {
            members.bind(BlockId(index as u16), block);
        }
        let root = members.level(Self::ROOT);
        let names: Vec<String> = root.members.iter().map(|(name, _)| name.clone()).collect();
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let are_words = names.iter().all(|name| !name.is_empty() && name.bytes().all(is_word));
        members.names = Some(names).filter(|_| are_words && root.block.is_none());
        Some(members)
    }

    pub(crate) const ROOT: LevelId = LevelId(0);

    pub(crate) fn level(&self, id: LevelId) -> &ShapeLevel {
        const NONE: &ShapeLevel = &ShapeLevel { block: None, each: None, members: Vec::new(), body: false };
        self.levels.get(id.0).unwrap_or(NONE)
    }

    /// The level of the entries, for a list at this level.
    pub(crate) fn each(&self, list: Option<LevelId>) -> Option<LevelId> {
        list.and_then(|level| self.level(level).each)
    }

    /// Whether the value at a level is the body of a block.
    pub(crate) fn is_body(&self, level: Option<LevelId>) -> bool {
        level.is_some_and(|level| self.level(level).body)
    }

    /// Whether the value at a level is an object with names of its own.
    pub(crate) fn is_entry(&self, level: Option<LevelId>) -> bool {
        let level = level.map(|level| self.level(level));
        level.is_some_and(|level| level.looks_inside() && level.each.is_none())
    }

    /// The level of an object found where `id` is expected: where a list is expected, the object counts as an entry.
    pub(crate) fn of_object(&self, id: LevelId) -> LevelId {
        let level = self.level(id);
        level.each.filter(|_| level.block.is_none()).unwrap_or(id)
    }

    /// The level of the member `name`: exact names precede names with `*`, and of the latter the first counts.
    pub(crate) fn member(&self, of: LevelId, name: &str) -> Option<LevelId> {
        let members = &self.level(of).members;
        let exact = members.iter().find(|(known, _)| self.same(known, name));
        exact.or_else(|| members.iter().find(|(known, _)| self.matches_key(known, name))).map(|(_, level)| *level)
    }

    /// Whether `inside`, the text inside an object, starts with a key of the first level, even if its quotes or colon
    /// are damaged. The reader tolerates just as much.
    pub(super) fn may_name(&self, inside: &str) -> bool {
        let quoted = inside.trim_start_matches([' ', '\t', '\r', '\n']);
        let inner = quoted.trim_start_matches('"');
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
        let rest = inner.trim_start_matches(is_word);
        let name = inner.strip_suffix(rest).present();
        (inner.len() < quoted.len() || rest.starts_with('"')) && self.member(Self::ROOT, name).is_some()
    }

    /// The offset in an incomplete text where the first key of the first level may start, judged by the colons: texts
    /// have few of them.
    pub(crate) fn find_member(&self, text: &[u8]) -> SearchState {
        let Some(names) = &self.names else { return SearchState::FoundAt(0) };
        // The start of the key that ends here: its quote, or the byte before its name.
        let key_before = |end: usize| {
            let key = text.slice(..end).trim_ascii_end();
            let key = key.strip_suffix(b"\"").or(key.strip_suffix(b"'")).unwrap_or(key);
            let start_of = |name: &String| {
                let start = key.len().checked_sub(name.len())?;
                let (one, other) = (key.slice(start..), name.as_bytes());
                let is_same = if self.insensitive { one.eq_ignore_ascii_case(other) } else { one == other };
                is_same.then_some(start.saturating_sub(1))
            };
            names.iter().filter_map(start_of).min()
        };
        // The start of a key of which a part may be before this offset.
        let longest = names.iter().map(String::len).max().unwrap_or_default();
        let part_before = |end: usize| end.saturating_sub(longest + 1);
        for at in memchr::memchr2_iter(b':', b'\\', text) {
            // An escape may encode any character of a name.
            let is_escape = text.get(at) == Some(&b'\\');
            let start = if is_escape { Some(part_before(at)) } else { key_before(at) };
            if let Some(start) = start {
                return SearchState::FoundAt(start);
            }
        }
        match key_before(text.len()) {
            // What is behind a key is read again with each piece of the answer: not if it is long.
            Some(start) if text.len() - start > MAX_BLANK => SearchState::FoundAt(start),
            Some(start) => SearchState::NotBefore(start),
            None => SearchState::NotBefore(part_before(text.len())),
        }
    }

    /// Whether a member at any level has this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.levels.iter().flat_map(|level| &level.members).any(|(known, _)| self.same(known, name))
    }

    pub(crate) fn same(&self, one: &str, other: &str) -> bool {
        if self.insensitive { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    fn matches_key(&self, pattern: &str, name: &str) -> bool {
        if self.insensitive {
            glob(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase())
        } else {
            glob(pattern, name)
        }
    }

    /// Adds the levels down to a block, under each of its names.
    fn bind(&mut self, id: BlockId, block: &BlockBinding) {
        for name in &block.names {
            self.bind_name(id, block, name);
        }
    }

    /// Adds the levels down to a block: `data.files[]` is each entry of the list `files` in the object `data`.
    fn bind_name(&mut self, id: BlockId, block: &BlockBinding, name: &str) {
        let mut at = Self::ROOT;
        let pointer = match name {
            WHOLE | ENTRIES => "",
            name => name.strip_prefix("[].").unwrap_or(name),
        };
        self.entries |= name.starts_with(ENTRIES);
        for part in pointer.split('.').filter(|part| !part.is_empty()) {
            let name = part.trim_end_matches("[]");
            at = self.down(at, name);
            for _ in 0..(part.len() - name.len()) / 2 {
                at = match self.level(at).each {
                    Some(each) => each,
                    None => {
                        let each = self.add();
                        self.change(at, |level| level.each = Some(each));
                        each
                    }
                };
            }
        }
        self.change(at, |level| level.block = Some(id));
        let named = block.sources().chain(&block.key);
        let named: Vec<String> = named
            .filter_map(|called| match called {
                NameSource::Attribute(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        for name in named {
            self.down(at, &name);
        }
        for body in block.bodies() {
            let body = self.down(at, body);
            self.change(body, |level| level.body = true);
        }
    }

    fn down(&mut self, at: LevelId, name: &str) -> LevelId {
        if let Some((_, level)) = self.level(at).members.iter().find(|(known, _)| self.same(known, name)) {
            return *level;
        }
        let below = self.add();
        self.change(at, |level| level.members.push((name.to_owned(), below)));
        below
    }

    fn add(&mut self) -> LevelId {
        self.levels.push(ShapeLevel::default());
        LevelId(self.levels.len() - 1)
    }

    fn change(&mut self, id: LevelId, change: impl FnOnce(&mut ShapeLevel)) {
        if let Some(level) = self.levels.get_mut(id.0) {
            change(level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::shipped;
    use crate::text::SourceId;

    #[track_caller]
    fn check(text: &str, expected: &SearchState) {
        let grammar = shipped("json").and_then(|text| Grammar::parse(SourceId::RESPONSE, text).value);
        let names = Some(["message", "message_id"].map(str::to_owned).to_vec());
        let shape = grammar.and_then(|grammar| ObjectShape::new(Arc::new(grammar), &[], true));
        let shape = shape.map(|shape| ObjectShape { names, ..shape });
        assert_eq!(shape.map(|shape| shape.find_member(text.as_bytes())).as_ref(), Some(expected), "{text:?}");
    }

    #[test]
    fn a_key_is_found_by_its_colon() {
        check("Note: a {\"Message\" : 1", &SearchState::FoundAt(9));
        check("{message_id: 1, message: 2", &SearchState::FoundAt(0));
        check("of a message, and: ", &SearchState::NotBefore(8));
        check("{ \"message\"  ", &SearchState::NotBefore(2));
        check("{ \"mes\\u0073age\"", &SearchState::FoundAt(0));
        check(&format!("message{}", " ".repeat(2000)), &SearchState::FoundAt(0));
    }
}
