//! Layout: where is each member of a JSON payload?
//!
//! In: a body, strict or faulty, and paths to its members.
//! Out: [`Layout`]: the place of the value at the end of a path.
//! Never: reads a value. It is only made for a fault that needs a place, and for a payload that names its calls.

use super::json::{is_value, pieces, unquote};
use crate::grammar::{Grammar, Machine, RuleId, inside};
use crate::program::Limits;
use crate::text::Span;

/// Bodies with more values are pointed at as a whole: nobody reads them, and their pieces take memory.
const MOST: usize = 1_000;
/// The most faults that are listed.
const MOST_FAULTS: usize = 100;

/// A body that is JSON, in pieces.
#[derive(Debug)]
pub(crate) struct Layout<'t> {
    text: &'t str,
    grammar: &'static Grammar,
    machine: Machine,
}

impl<'t> Layout<'t> {
    /// The pieces of a body, if it is JSON and nothing else.
    pub(crate) fn of(text: &'t str, body: Span, limits: &Limits) -> Option<Self> {
        let (grammar, machine) = pieces(text, body, limits, limits.values.min(MOST))?;
        Some(Self { text, grammar, machine })
    }

    /// The same, for a body with any number of values.
    pub(crate) fn whole(text: &'t str, body: Span, limits: &Limits) -> Option<Self> {
        let (grammar, machine) = pieces(text, body, limits, limits.values)?;
        Some(Self { text, grammar, machine })
    }

    /// The index of the value that the body is.
    pub(crate) fn root(&self) -> Option<usize> {
        self.values(0).next()
    }

    pub(crate) fn is_list(&self, value: usize) -> bool {
        self.rule(value) == Some("array")
    }

    pub(crate) fn is_object(&self, value: usize) -> bool {
        self.rule(value) == Some("object")
    }

    /// The entries of a list.
    pub(crate) fn entries(&self, list: usize) -> Vec<usize> {
        self.values(list).collect()
    }

    pub(crate) fn span(&self, value: usize) -> Option<Span> {
        self.machine.captures().get(value).map(|capture| capture.span())
    }

    /// The members of an object, with their keys.
    pub(crate) fn members(&self, object: usize) -> impl Iterator<Item = (std::borrow::Cow<'t, str>, Span)> {
        self.inside(object).filter_map(|member| Some((self.key(member)?, self.span(member)?)))
    }

    /// The value at the end of a path through objects.
    pub(crate) fn value(&self, from: usize, way: &[&str]) -> Option<Span> {
        let step = |at: usize, step: &&str| {
            let members = self.inside(at).filter(|_| self.rule(at) == Some("object"));
            let member = members.filter(|member| self.key(*member).is_some_and(|key| key == **step)).last()?;
            self.values(member).next()
        };
        self.span(way.iter().try_fold(from, step)?)
    }

    /// The repeated keys on a path through objects.
    pub(crate) fn repeated(&self, from: usize, way: &[&str]) -> Vec<Span> {
        let (mut at, mut repeated) = (Some(from), Vec::new());
        for step in way {
            let Some(object) = at.filter(|at| self.is_object(*at)) else { break };
            let named = || self.inside(object).filter(|member| self.key(*member).is_some_and(|key| key == **step));
            let keys = named().skip(1).filter_map(|member| self.key_span(member));
            repeated.extend(keys.map(|key| unquoted(key, self.text)));
            at = named().last().and_then(|member| self.values(member).next());
        }
        repeated
    }

    /// The faults that strict JSON does not allow.
    pub(crate) fn faults(&self) -> impl Iterator<Item = (RuleId, Span)> {
        self.grammar.faults(self.machine.captures()).take(MOST_FAULTS)
    }

    /// The member at the end of the path, with its key, or the list entry; otherwise the nearest one that exists.
    pub(crate) fn place(&self, way: &[String]) -> Option<Span> {
        let captures = self.machine.captures();
        let mut at = self.values(0).next()?;
        let mut found = None;
        for step in way {
            // Of a repeated key the last counts.
            let next = match self.rule(at)? {
                "object" => self.inside(at).filter(|member| self.key(*member).is_some_and(|key| key == *step)).last(),
                "array" => step.parse().ok().and_then(|nth| self.values(at).nth(nth)),
                _ => None,
            };
            let Some(next) = next else { break };
            found = captures.get(next).map(|capture| capture.span());
            at = if self.rule(next)? == "member" { self.values(next).next()? } else { next };
        }
        found
    }

    fn rule(&self, at: usize) -> Option<&'static str> {
        Some(self.grammar.rule_name(self.machine.captures().get(at)?.rule()))
    }

    fn inside(&self, outer: usize) -> impl Iterator<Item = usize> {
        inside(self.machine.captures(), Some(outer)).map(|(at, _)| at)
    }

    fn values(&self, outer: usize) -> impl Iterator<Item = usize> {
        let values = inside(self.machine.captures(), Some(outer));
        values.filter(|(_, capture)| is_value(self.grammar, capture)).map(|(at, _)| at)
    }

    fn key(&self, member: usize) -> Option<std::borrow::Cow<'t, str>> {
        Some(unquote(self.key_span(member)?.of(self.text)))
    }

    fn key_span(&self, member: usize) -> Option<Span> {
        let key = self.inside(member).find(|piece| self.rule(*piece) == Some("key"))?;
        self.span(key)
    }
}

/// A key without its quotes.
fn unquoted(key: Span, text: &str) -> Span {
    let quoted = key.of(text).starts_with(['"', '\'']) && key.len() > 1;
    if quoted { Span::new(key.start + 1, key.end - 1) } else { key }
}
