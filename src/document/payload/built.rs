//! Built: which values do the rules of a pack's own grammar build?
//!
//! In: the captures of an opener or of a payload, in a grammar whose rules build values ([`Builders`]).
//! Out: [`Built`]: a value like that of JSON, the keys that an object in it repeats, and the faults that the grammar
//! names.
//! Never: reads a text that the grammar does not match, or types a value: a schema decides whether the value is valid.

use super::PayloadSource;
use crate::document::call_list::CallLayout;
use crate::document::mark::{most_captures, parts_of};
use crate::document::unquoted;
use crate::grammar::{Capture, Machine, RuleId, inside};
use crate::json::{self, Context, Json, JsonFault, decode_quoted, has_lone_surrogate};
use crate::program::{Builders, Family};
use crate::text::Span;
use crate::value::{Object, Value};

/// A value that rules of a grammar build.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) value: Value,
    /// The keys that an object in the value repeats; the last value counts.
    pub(crate) repeated: Vec<String>,
    /// The matches of `fault_…` rules in the value, by the names of the rules.
    pub(crate) faults: Vec<(String, Span)>,
}

impl Built {
    /// The value as a payload. A fault that JSON also has gets the grade that it has in JSON.
    pub(super) fn into_json(self) -> Json {
        let (faults, own_faults): (Vec<_>, Vec<_>) =
            self.faults.into_iter().partition(|(name, span)| json::named(name, *span).is_some());
        let faults: Vec<_> = faults.iter().filter_map(|(name, span)| json::named(name, *span)).collect();
        let forgiven = (!faults.is_empty()).then_some(json::FORGIVEN);
        Json { faults, own_faults, repeated: self.repeated, forgiven, ..Json::whole(self.value) }
    }
}

impl PayloadSource<'_> {
    /// The family of the block and its building rules, if its grammar builds values.
    fn builders(&self) -> Option<(&Family, &Builders)> {
        let family = self.dialect.families.get(self.spelled.family)?;
        Some((family, family.builders.as_ref()?))
    }

    /// The value that the rule `payload` of the block's grammar, or the `body` in it, builds from all of `body`. If the
    /// payload names its call, the body is a part of the payload: an object, or a list.
    pub(super) fn built(&self, body: Span) -> Option<Built> {
        self.with_builder(body, |builder| builder.built(builder.outermost(0)?))?
    }

    /// The result of `then` for the places of the values that the block's grammar builds from all of `body`; `None` if
    /// the grammar builds none.
    pub(in crate::document) fn with_layout<T>(&self, body: Span, then: impl FnOnce(&dyn CallLayout) -> T) -> Option<T> {
        self.with_builder(body, |builder| builder.outermost(0).map(|_| then(builder)))?
    }

    fn with_builder<T>(&self, body: Span, then: impl FnOnce(&PayloadBuilder<'_>) -> T) -> Option<T> {
        let (family, builders) = self.builders()?;
        let payload = family.payload?;
        let parts = [builders.object, builders.array].into_iter().flatten();
        let parts = family.body.into_iter().chain(parts.filter(|_| self.bound.named_within().is_some()));
        let within = self.text.get(..body.end)?;
        let mut machine = self.machine();
        let mut reads = |rule: RuleId| {
            let mut steps = self.limits.steps(body.len());
            machine.match_at(&family.grammar, rule, within, body.start, &mut steps) == Some(body.end)
        };
        std::iter::once(payload).chain(parts).find(|rule| reads(*rule))?;
        Some(then(&PayloadBuilder { source: self, family, builders, captures: machine.captures() }))
    }

    /// The values that the attributes of an opener build, each with the span of its attribute's value.
    pub(crate) fn built_by_opener(&self, opener: Span) -> Vec<(Span, Built)> {
        let Some((family, builders)) = self.builders() else { return Vec::new() };
        let mut machine = self.machine();
        // No limit is needed: the opener has matched before, within the budget.
        machine.match_at(&family.grammar, family.open, self.text, opener.start, &mut i64::MAX.clone());
        let captures = machine.captures();
        let builder = PayloadBuilder { source: self, family, builders, captures };
        let attributes = inside(captures, Some(0)).filter(|(_, one)| Some(one.rule()) == family.attribute);
        let values = attributes.filter_map(|(index, _)| parts_of(family, captures, index).nth(1));
        values.filter_map(|(at, value)| Some((value.span(), builder.built(builder.outermost(at)?)?))).collect()
    }

    /// A machine that captures as much as the reader does.
    fn machine(&self) -> Machine {
        Machine::new().capturing(most_captures(self.dialect, self.limits))
    }
}

impl CallLayout for PayloadBuilder<'_> {
    fn root(&self) -> Option<usize> {
        self.outermost(0)
    }

    fn is_list(&self, at: usize) -> bool {
        self.captures.get(at).is_some_and(|one| Some(one.rule()) == self.builders.array)
    }

    fn is_object(&self, at: usize) -> bool {
        self.captures.get(at).is_some_and(|one| Some(one.rule()) == self.builders.object)
    }

    fn entries(&self, list: usize) -> Vec<usize> {
        inside(self.captures, Some(list)).filter_map(|(at, _)| self.outermost(at)).collect()
    }

    fn span(&self, at: usize) -> Option<Span> {
        self.captures.get(at).map(Capture::span)
    }

    fn value(&self, from: usize, pointer: &[&str]) -> Option<Span> {
        let at =
            pointer.iter().try_fold(from, |at, step| self.member_values(at, step).last().map(|(_, value)| value))?;
        // Of a text, the part without its quotation marks.
        let inner = self.builders.text.and_then(|rule| self.of_rule(at, Some(rule)).next());
        Some(inner.map_or(self.captures.get(at)?, |(_, inner)| inner).span())
    }

    fn members(&self, object: usize) -> Vec<(String, Span)> {
        let members = self.of_rule(object, self.builders.member);
        let named = members.filter_map(|(at, one)| Some((self.text(self.key(at)?), one.span())));
        named.collect()
    }

    fn repeated(&self, from: usize, pointer: &[&str]) -> Vec<Span> {
        let (mut at, mut repeated) = (Some(from), Vec::new());
        for step in pointer {
            let Some(object) = at else { break };
            let named: Vec<(usize, usize)> = self.member_values(object, step).collect();
            repeated.extend(named.iter().skip(1).filter_map(|(key, _)| self.span(*key)));
            at = named.last().map(|(_, value)| *value);
        }
        repeated
    }

    fn faults(&self) -> Vec<JsonFault> {
        let faults = self.family.grammar.faults(self.captures);
        faults.filter_map(|(rule, span)| json::named(self.family.grammar.rule_name(rule), span)).collect()
    }
}

struct PayloadBuilder<'b> {
    source: &'b PayloadSource<'b>,
    family: &'b Family,
    builders: &'b Builders,
    captures: &'b [Capture],
}

impl PayloadBuilder<'_> {
    /// The capture at `at` or the first inside it that builds a value; `None` if no rule does.
    fn outermost(&self, at: usize) -> Option<usize> {
        let next = self.captures.get(at)?.next();
        (at..next).find(|at| self.captures.get(*at).is_some_and(|one| self.builders.build(one.rule())))
    }

    fn built(&self, at: usize) -> Option<Built> {
        let mut repeated = Vec::new();
        let value = self.value(at, self.source.limits.depth, &mut repeated)?;
        let inner = self.captures.get(at..self.captures.get(at)?.next())?;
        let faults = self.family.grammar.faults(inner);
        let faults = faults.map(|(rule, span)| (self.family.grammar.rule_name(rule).to_owned(), span));
        let faults = faults.chain(self.torn(inner).map(|span| (json::SURROGATE.to_owned(), span))).collect();
        Some(Built { value, repeated, faults })
    }

    /// The strings and keys of JSON or Python with half of a surrogate pair, whatever the grammar says about escapes.
    fn torn<'c>(&'c self, captures: &'c [Capture]) -> impl Iterator<Item = Span> + use<'c> {
        let texts = captures.iter().filter(|one| [self.builders.string, self.builders.key].contains(&Some(one.rule())));
        let spans = texts.map(Capture::span);
        spans.filter(|span| self.builders.text.is_none() && has_lone_surrogate(span.of(self.source.text)))
    }

    /// The value of a capture; `None` if it is nested too deeply, or if payloads have too many values.
    fn value(&self, at: usize, depth: usize, repeated: &mut Vec<String>) -> Option<Value> {
        let left = self.source.values.get();
        self.source.values.set(left.checked_sub(1)?);
        let capture = self.captures.get(at)?;
        let text = capture.span().of(self.source.text);
        let rule = Some(capture.rule());
        let deeper = || depth.checked_sub(1);
        Some(match self.builders {
            one if rule == one.object && one.member.is_some() => self.object(at, deeper()?, repeated)?,
            one if rule == one.array => {
                let items = inside(self.captures, Some(at)).filter_map(|(at, _)| self.outermost(at));
                items.map(|at| self.value(at, deeper()?, repeated)).collect::<Option<Vec<Value>>>()?.into()
            }
            one if rule == one.string => self.text(at).into(),
            one if rule == one.literal => match text.trim() {
                word if word.eq_ignore_ascii_case("true") => true.into(),
                word if word.eq_ignore_ascii_case("false") => false.into(),
                word if ["null", "none"].iter().any(|none| word.eq_ignore_ascii_case(none)) => Value::Null,
                word => word.into(),
            },
            // A number, or an object whose contents the grammar does not describe.
            _ => {
                let context = Context::new(deeper()?, self.source.values);
                json::strict(text.trim(), context).map_or_else(|_| text.trim().into(), |json| json.value)
            }
        })
    }

    fn object(&self, at: usize, depth: usize, repeated: &mut Vec<String>) -> Option<Value> {
        let mut object = Object::new();
        for (member, _) in self.of_rule(at, self.builders.member) {
            let key = self.key(member)?;
            let name = self.text(key);
            let value = self.value(self.value_behind(key, member)?, depth, repeated)?;
            if object.insert(name.as_str(), value).is_some() {
                repeated.push(name);
            }
        }
        Some(object.into())
    }

    fn key(&self, member: usize) -> Option<usize> {
        self.of_rule(member, self.builders.key).next().map(|(key, _)| key)
    }

    /// The value after the key of a member.
    fn value_behind(&self, key: usize, member: usize) -> Option<usize> {
        let (behind, end) = (self.captures.get(key)?.next(), self.captures.get(member)?.next());
        (behind..end).find(|at| self.captures.get(*at).is_some_and(|one| self.builders.build(one.rule())))
    }

    /// The members of this name, each with its key and its value.
    fn member_values(&self, object: usize, name: &str) -> impl Iterator<Item = (usize, usize)> {
        let keys = self.of_rule(object, self.builders.member).filter_map(|(at, _)| Some((at, self.key(at)?)));
        let named = keys.filter(move |(_, key)| self.text(*key) == name);
        named.filter_map(|(member, key)| Some((key, self.value_behind(key, member)?)))
    }

    /// The captures of this rule directly inside another one.
    fn of_rule(&self, outer: usize, rule: Option<RuleId>) -> impl Iterator<Item = (usize, &Capture)> {
        inside(self.captures, Some(outer)).filter(move |(_, one)| Some(one.rule()) == rule)
    }

    /// The text of a string or a key: the capture of a rule `text` inside it. Without such a rule, it is a string of
    /// JSON or Python, or a word.
    fn text(&self, at: usize) -> String {
        let text = self.source.text;
        let inner = |rule: RuleId| self.of_rule(at, Some(rule)).next();
        if let Some((_, one)) = self.builders.text.and_then(inner) {
            return self.source.spelling.decode(one.span().of(text)).into_owned();
        }
        if let Some((string, _)) = self.builders.string.and_then(inner) {
            return self.text(string);
        }
        let whole = self.captures.get(at).map_or("", |one| one.span().of(text));
        match whole.chars().next().filter(|first| matches!(first, '"' | '\'')) {
            Some(quote) => decode_quoted(unquoted(whole), quote).into_owned(),
            None => whole.to_owned(),
        }
    }
}
