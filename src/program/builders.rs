//! Builders: which rules of a grammar build values, and how do they write one?
//!
//! In: the rules of a grammar that are named like the parts of JSON.
//! Out: [`Builders`]; a value, written by them.
//! Never: reads an answer.

use crate::grammar::{Grammar, INSIDE, RuleId, SpelledCapture};
use crate::value::Value;

/// The rules of a grammar whose captures build a value, as those of JSON do.
#[derive(Debug)]
pub(crate) struct Builders {
    pub(crate) object: Option<RuleId>,
    pub(crate) member: Option<RuleId>,
    pub(crate) key: Option<RuleId>,
    pub(crate) array: Option<RuleId>,
    pub(crate) string: Option<RuleId>,
    /// The content of a string or a key, without its quotes.
    pub(crate) text: Option<RuleId>,
    pub(crate) number: Option<RuleId>,
    pub(crate) literal: Option<RuleId>,
}

impl Builders {
    /// The rules that build values in the attributes or the payload of a grammar; none if the grammar has neither
    /// objects with members nor lists.
    pub(super) fn of(grammar: &Grammar) -> Option<Self> {
        let within = grammar.called_from(|name| matches!(name, "payload" | "attribute"));
        let rule = |name: &str| grammar.rule(name).filter(|rule| within.contains(rule) && !grammar.is_silent(*rule));
        let all = Self {
            object: rule("object"),
            member: rule("member"),
            key: rule("key"),
            array: rule("array"),
            string: rule("string"),
            text: rule("text"),
            number: rule("number"),
            literal: rule("literal"),
        };
        let builds = all.array.is_some() || (all.object.is_some() && all.member.is_some() && all.key.is_some());
        builds.then_some(all)
    }

    /// Whether this rule builds a value.
    pub(crate) fn build(&self, rule: RuleId) -> bool {
        [self.object, self.array, self.string, self.number, self.literal].contains(&Some(rule))
    }

    /// The value as the rules write it; none if they cannot.
    pub(crate) fn spell(&self, grammar: &Grammar, value: &Value) -> Option<String> {
        let next = |rule: Option<RuleId>, parts: &[String]| {
            let parts: Vec<SpelledCapture<'_>> = parts.iter().map(|part| SpelledCapture::Next(part)).collect();
            grammar.spell(rule?, &parts, INSIDE)
        };
        let reads = |rule: Option<RuleId>, texts: &[&str]| {
            let text = texts.iter().find(|text| rule.is_some_and(|rule| grammar.reads_inside(rule, text)));
            text.map(|text| (*text).to_owned())
        };
        // If a grammar reads both spellings, the one that it names first is its own.
        let words = |json: &'static str, python: &'static str| {
            let first = self.literal.and_then(|rule| grammar.spell(rule, &[], INSIDE));
            let is_python = first.is_some_and(|first| first.starts_with(|one: char| one.is_ascii_uppercase()));
            reads(self.literal, &if is_python { [python, json] } else { [json, python] })
        };
        match value {
            Value::Object(members) => {
                let member = |(name, value): (&str, &Value)| {
                    let bare = self.key.filter(|key| grammar.reads_inside(*key, name)).map(|_| name.to_owned());
                    let key = bare.or_else(|| self.spell_text(grammar, self.key?, name))?;
                    next(self.member, &[key, self.spell_inside(grammar, value)?])
                };
                next(self.object, &members.iter().map(member).collect::<Option<Vec<_>>>()?)
            }
            Value::Array(items) => next(
                self.array,
                &items.iter().map(|item| self.spell_inside(grammar, item)).collect::<Option<Vec<_>>>()?,
            ),
            Value::String(text) => self.spell_text(grammar, self.string?, text),
            Value::Number(number) => reads(self.number, &[&number.to_string()]),
            Value::Bool(true) => words("true", "True"),
            Value::Bool(false) => words("false", "False"),
            Value::Null => words("null", "None"),
        }
    }

    /// A value inside another, or as an attribute: an object or a list is plain JSON where the rules read that.
    pub(crate) fn spell_inside(&self, grammar: &Grammar, value: &Value) -> Option<String> {
        let rule = match value {
            Value::Object(_) => self.object,
            Value::Array(_) => self.array,
            _ => None,
        };
        let json = rule.map(|rule| (rule, value.on_one_line())).filter(|(rule, json)| grammar.reads(*rule, json));
        json.map(|(_, json)| json).or_else(|| self.spell(grammar, value))
    }

    /// A text as a string or a key.
    fn spell_text(&self, grammar: &Grammar, rule: RuleId, text: &str) -> Option<String> {
        let within = self.text.and_then(|inner| grammar.spell(rule, &[SpelledCapture::Text(inner, text)], &[""]));
        let quoted = Value::from(text).to_string();
        let single = format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
        let candidates = [quoted, single, text.to_owned()];
        within.or_else(|| candidates.into_iter().find(|text| grammar.reads(rule, text)))
    }
}
