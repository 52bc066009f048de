//! Patterns: what results from inserting values of `data` into a pattern?
//!
//! In: the text of a pattern, with `{{ … }}` for values of `data`.
//! Out: the compiled [`Pattern`], with the words of its named groups; a diagnostic for one that cannot be used.
//! Never: lets a value act as a pattern: special characters in it are escaped.

use super::PackCompiler;
use super::name_scope::{NameScope, PATTERN_NAMES};
use crate::diagnostic::{Code, Diagnostic, Label, bad_pattern_place, bad_pattern_words};
use crate::expression::Scope;
use crate::program::Pattern;
use crate::text::{Spanned, excerpt};
use crate::value::Value;

impl PackCompiler<'_> {
    /// Compiles a pattern with the values of `data` inserted.
    pub(super) fn pattern(&mut self, text: &Spanned<String>) -> Option<Pattern> {
        if let Some(control) = text.value.chars().find(|one| one.is_control() && !one.is_whitespace()) {
            let message = format!("the pattern holds the control character U+{:04X}", u32::from(control));
            let help = "write it in single quotes, '…', where a backslash is a backslash; in double quotes `\\b` is a backspace";
            self.diagnostics.push(Diagnostic::new(Code::PACK_PATTERN, text.at, message).with_help(help));
            return None;
        }
        let verbose = may_be_verbose(&text.value);
        let mut spelt = String::new();
        let mut words = Vec::new();
        let mut rest = text.value.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((inside, after)) = after.split_once("}}") else { break };
            spelt.push_str(before);
            let values = self.values(&Spanned::new(inside.trim().to_owned(), text.at))?;
            if let Some(group) = group_name(before).filter(|_| after.starts_with(')')) {
                words.push((group.to_owned(), values.clone()));
            }
            spelt.push_str(&alternatives(values, verbose));
            rest = after;
        }
        spelt.push_str(rest);
        if let Some(flags) = slashes(&spelt) {
            let message = "the slashes around this pattern are part of it: it matches only where both are";
            let help = match flags {
                "" => "leave them out".to_owned(),
                flags => format!("leave them out, and say its flags as `(?{})` in front", flags.replace('g', "")),
            };
            let finding = Diagnostic::new(Code::PACK_PATTERN, text.at, message).with_help(help);
            self.diagnostics.push(finding.into_warning());
        }
        match Pattern::new(&spelt) {
            Ok(pattern) => Some(pattern.with_words(words)),
            Err(error) => {
                let (message, help) = bad_pattern_words(&error);
                // The place inside the pattern is right only if no value of `data` was inserted.
                let at = if spelt == text.value { bad_pattern_place(text) } else { text.at };
                self.diagnostics.push(Diagnostic::new(Code::PACK_PATTERN, at, message).with_help(help));
                None
            }
        }
    }

    /// The text of an expression over `data`, or the texts of a list.
    fn values(&mut self, expression: &Spanned<String>) -> Option<Vec<String>> {
        let before = self.diagnostics.len();
        let parsed = self.expression(Some(expression), &NameScope::of(PATTERN_NAMES))?;
        // An expression that reads unknown names has been reported: its value does not matter.
        if self.diagnostics.len() > before {
            return None;
        }
        let value = match parsed.value(&Scope::new().with("data", &self.data)) {
            Ok(value) => value,
            Err(failure) => {
                let message = format!("this fails: {}", excerpt(&failure.message, 160));
                self.report_once(Diagnostic::new(Code::PACK_FAILS, expression.at, message));
                return None;
            }
        };
        let text = |value: &Value| match value {
            Value::String(text) => Some((**text).to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let texts = match &value {
            Value::Array(items) => items.iter().map(text).collect(),
            one => text(one).map(|text| vec![text]),
        };
        let texts: Option<Vec<String>> = texts.filter(|texts: &Vec<String>| !texts.is_empty());
        if texts.is_none() {
            let message = format!("`{}` gives no text that a pattern could look for", excerpt(&expression.value, 60));
            self.report_once(
                Diagnostic::new(Code::PACK_PATTERN, expression.at, message)
                    .with_help("a text or a number means itself, a list any of its texts"),
            );
        }
        texts
    }

    /// Reports a fault only at the first of several places.
    pub(super) fn report_once(&mut self, fault: Diagnostic) {
        let mut known = self.diagnostics.iter_mut();
        match (known.find(|known| (&known.code, &known.message) == (&fault.code, &fault.message)), fault.at) {
            (Some(known), Some(at)) => known.labels.push(Label { at, text: "and here".to_owned() }),
            _ => self.diagnostics.push(fault),
        }
    }
}

/// The flags of a pattern written between slashes, as in other languages. A text with more slashes is a path.
fn slashes(pattern: &str) -> Option<&str> {
    let (inside, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    let are_flags = flags.chars().all(|flag| matches!(flag, 'g' | 'i' | 'm' | 's' | 'u' | 'x'));
    let is_pattern = inside.contains(|c: char| "\\|()[]?*+^$ ".contains(c));
    (are_flags && is_pattern && !inside.contains('/')).then_some(flags)
}

/// The name of the group that opens at the end of `before`.
fn group_name(before: &str) -> Option<&str> {
    let open = before.strip_suffix('>')?;
    let (start, name) = open.rsplit_once('<')?;
    (start.ends_with("(?") || start.ends_with("(?P")).then_some(name)
}

/// A pattern for any of these texts. The longest comes first, so that it wins over its own prefixes.
fn alternatives(mut texts: Vec<String>, verbose: bool) -> String {
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let escape = |text: &String| match verbose {
        true => with_blanks(&regex::escape(text)),
        false => regex::escape(text),
    };
    let escaped: Vec<String> = texts.iter().map(escape).collect();
    format!("(?:{})", escaped.join("|"))
}

/// Whether a flag of the pattern, such as `(?x)`, may make white space meaningless.
fn may_be_verbose(pattern: &str) -> bool {
    let flags =
        |group: &str| group.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').any(|flag| flag == 'x');
    pattern.split("(?").skip(1).any(flags)
}

/// The text with its white space escaped, so that it also counts under `(?x)`.
fn with_blanks(escaped: &str) -> String {
    let mut spelt = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        match c.is_whitespace() {
            true => spelt.push_str(&format!("\\x{{{:x}}}", u32::from(c))),
            false => spelt.push(c),
        }
    }
    spelt
}
