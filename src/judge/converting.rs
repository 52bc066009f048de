//! Converting: which value of the declared type does a value mean?
//!
//! In: a value that is not valid, and the types that its schema declares.
//! Out: from [`coerced`], the value without any loss; from [`interpreted`], what most readers would take a text to
//! mean.
//! Never: decides whether the converted value is valid.

use crate::program::{Types, ValueKind};
use crate::value::{Value, number};

/// Converts a value to the types of the schema where nothing is lost. `parse` reads JSON in quotes.
pub(super) fn coerced(value: &Value, types: &Types, parse: &dyn Fn(&str) -> Option<Value>) -> Value {
    let allows = |kind| types.scalars().contains(&kind);
    match (types.kind, value) {
        (_, Value::String(text)) if !allows(ValueKind::String) && allows(ValueKind::Null) && is_null_word(text) => {
            Value::Null
        }
        (ValueKind::Object, Value::Object(members)) => {
            let member = |(name, value): (&str, &Value)| {
                let types = types.of_member(name);
                let value = coerced(value, types, parse);
                (!means_absent(&value, types)).then(|| (name.to_owned(), value))
            };
            Value::Object(members.iter().filter_map(member).collect())
        }
        (ValueKind::Array, Value::Array(items)) => {
            items.iter().map(|item| coerced(item, types.items(), parse)).collect()
        }
        // JSON in quotes. A text that starts with a bracket and cannot be read is a broken list, not the only item of
        // one.
        (ValueKind::Object | ValueKind::Array, Value::String(text)) if text.trim_start().starts_with(['{', '[']) => {
            let is_wanted = |inner: &Value| {
                matches!((types.kind, inner), (ValueKind::Array, Value::Array(_)) | (_, Value::Object(_)))
            };
            match parse(text).filter(|inner| !allows(ValueKind::String) && is_wanted(inner)) {
                Some(inner) => coerced(&inner, types, parse),
                None => value.clone(),
            }
        }
        (ValueKind::Array, single) if !means_absent(single, types) => {
            vec![coerced(single, types.items(), parse)].into()
        }
        (ValueKind::Integer | ValueKind::Number, Value::String(text)) => {
            number(text).map(Value::Number).unwrap_or_else(|| value.clone())
        }
        (ValueKind::String, Value::Number(_) | Value::Bool(_)) => value.to_string().into(),
        (ValueKind::Boolean, Value::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" => Value::Bool(true),
            "false" | "no" => Value::Bool(false),
            _ => value.clone(),
        },
        (ValueKind::String, Value::String(text)) => {
            types.word(text).map_or_else(|| value.clone(), |word| word.clone().into())
        }
        _ => value.clone(),
    }
}

/// Whether a value means that there is none: `null`, or its word, where the schema requires another type.
pub(super) fn means_absent(value: &Value, types: &Types) -> bool {
    types.wants_value && (value.is_null() || value.as_str().is_some_and(|text| is_null_text(text, types)))
}

/// Whether a text is a word for `null`, and neither a text that the schema allows nor the only entry of a list: one of
/// its closed list of words, or the English word `none`.
pub(super) fn is_null_text(text: &str, types: &Types) -> bool {
    let allows = |types: &Types| types.takes_text(text.trim());
    let is_entry = || text.trim() == "none" || (types.items().has_words() && allows(types.items()));
    is_null_word(text) && !allows(types) && !(types.kind == ValueKind::Array && is_entry())
}

fn is_null_word(text: &str) -> bool {
    matches!(text.trim(), "null" | "None" | "none" | "NULL")
}

/// The value that a text means if it has a number, a boolean or a word of a closed list among other words. `None` if
/// the text is ambiguous.
pub(super) fn interpreted(value: &Value, types: &Types) -> Option<Value> {
    let text = value.as_str()?;
    match types.kind {
        _ if types.has_words() => {
            let found = types.word_in(text).filter(|_| !is_negated(text))?;
            (!is_compound(text, found)).then(|| Value::String(found.clone()))
        }
        ValueKind::Integer | ValueKind::Number => number_in(text, types.kind == ValueKind::Integer),
        ValueKind::Boolean => {
            let says = |list| words(text).any(|word| is_one_of(word, list));
            match (says(&["true", "yes"]), says(&["false", "no"])) {
                (true, false) if !is_negated(text) => Some(Value::Bool(true)),
                // "No" itself is a negation, and may be the only one.
                (false, true) if !is_negated(&without_word(text, "no")) => Some(Value::Bool(false)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Words that may turn a text into the opposite of another word in it.
const NEGATIONS: &[&str] = &[
    "not", "no", "non", "never", "neither", "nor", "without", "except", "cannot", "cant", "dont", "isnt", "wont",
    "hardly", "barely", "scarcely", "instead", "than", "far", "but", "unlike", "un", "anti", "stop", "avoid",
];
/// Words that change the value of a number before them, or make a number after them a bound.
const CHANGING: &[&str] = &[
    "k", "m", "mn", "mio", "mil", "mln", "b", "bn", "mrd", "g", "t", "tn", "tsd", "x", "grand", "dozen", "dozens",
    "hundred", "hundreds", "thousand", "thousands", "million", "millions", "billion", "billions", "trillion",
    "trillions", "lakh", "lakhs", "crore", "crores", "minus", "negative", "least", "most", "more", "less", "over",
    "under", "above", "below", "up", "until", "till", "almost", "nearly", "max", "minimum", "maximum", "half",
    "quarter", "twice", "double",
];

/// Whether a text negates or asks what it says: `isn't`, `far from`, `Is it true?`.
fn is_negated(text: &str) -> bool {
    let contracted = |mark: char| text.split(mark).skip(1).any(|behind| behind.starts_with(['t', 'T']));
    text.contains(['?', '？'])
        || contracted('\'')
        || contracted('’')
        || words(text).any(|word| is_one_of(word, NEGATIONS))
}

/// Whether a word is a part of a longer one with a hyphen in the text: `bug-free`, `un-delete`.
fn is_compound(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let Some((before, behind)) = text.split_once(&word) else { return false };
    before.ends_with(is_dash) || behind.starts_with(is_dash)
}

/// The text without one word, wherever it is.
fn without_word(text: &str, word: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_alphabetic());
    words.filter(|one| !one.trim_end_matches(|c: char| !c.is_alphabetic()).eq_ignore_ascii_case(word)).collect()
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '−' | '‐'..='―' | '﹣' | '－')
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|one| one.eq_ignore_ascii_case(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}

/// The only number in a text, with its separators: `$12,500.00`, `5 km`. `None` if there are several, if a word, a
/// sign or a letter next to the number may change it, or if it cannot be stored as it is written: `1/5`, `12k`, `< 3`,
/// `v2`, `- 5`, `40+`, `(5)`.
fn number_in(text: &str, is_whole: bool) -> Option<Value> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let length = text.get(start..)?.find(|c: char| !c.is_ascii_digit() && !is_separator(c));
    let rest = text.get(start..)?;
    let digits = rest.get(..length.unwrap_or(rest.len()))?.trim_end_matches(is_separator);
    let (before, behind) = (text.get(..start)?, rest.get(digits.len()..)?);
    let is_plain = |c: char| !c.is_numeric() && !matches!(c, '/' | '<' | '>' | '≤' | '≥' | '^' | '*' | '=' | '\\');
    let mut around = before.chars().chain(behind.chars());
    let (before, is_negative) = match before.strip_suffix(['-', '−', '–', '﹣', '－']) {
        Some(before) => (before, true),
        None => (before.strip_suffix('+').unwrap_or(before), false),
    };
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '_' | '(') || is_dash(c);
    let is_apart = !before.ends_with(joins)
        && !before.trim_end().ends_with(is_dash)
        && !behind.starts_with(|c: char| matches!(c, '+' | ')') || is_dash(c));
    let changes = is_negated(text) || words(text).any(|word| is_one_of(word, CHANGING));
    if changes || !is_apart || !around.all(is_plain) {
        return None;
    }
    let plain = without_separators(digits, is_whole)?;
    let signed = if is_negative { format!("-{plain}") } else { plain };
    number(&signed).map(Value::Number)
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '_' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Rewrites a number as digits with at most one decimal point. The last point or comma starts the decimals if it is
/// the only one of its kind. But a lone comma before three digits groups them, as in `12,500`; so does a lone point
/// if the number has to be an integer.
fn without_separators(digits: &str, is_whole: bool) -> Option<String> {
    let marks: Vec<char> = digits.chars().filter(|c| is_separator(*c)).collect();
    let last = marks.last().copied();
    let is_decimal = |mark: char| {
        let alone = marks.iter().filter(|one| **one == mark).count() == 1;
        let behind = digits.rsplit(mark).next().map_or(0, str::len);
        let whole = digits.split(mark).next().unwrap_or_default();
        let may_group = marks.len() == 1 && behind == 3 && whole.len() <= 3 && whole != "0";
        match mark {
            '.' => alone && !(is_whole && may_group),
            ',' => alone && !may_group,
            _ => false,
        }
    };
    let (whole, decimals) = match last.filter(|mark| is_decimal(*mark)) {
        Some(mark) => digits.rsplit_once(mark)?,
        None => (digits, ""),
    };
    let groups: Vec<&str> = whole.split(is_separator).collect();
    let kinds = whole.chars().filter(|c| is_separator(*c));
    let one_kind = kinds.clone().all(|mark| kinds.clone().next() == Some(mark));
    let (first, further) = groups.split_first()?;
    let are_groups = further.iter().all(|group| group.len() == 3) && (further.is_empty() || first.len() <= 3);
    let whole = groups.concat();
    match (one_kind && are_groups, decimals) {
        (false, _) => None,
        (true, "") => Some(whole),
        (true, decimals) => Some(format!("{whole}.{decimals}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Schema;
    use crate::value::value;

    #[track_caller]
    fn check(schema: Value, text: &str, expected: Value) {
        let schema = Schema::new(schema);
        assert_eq!(interpreted(&text.into(), schema.types()).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn a_number_may_have_separators_units_and_words_around_it() {
        for (text, expected) in [
            ("12,500", value!(12500)),
            ("$12,500.00", value!(12500.0)),
            ("1.234,56 EUR", value!(1234.56)),
            ("12’500", value!(12500)),
            ("12\u{202f}500", value!(12500)),
            ("1.234.567", value!(1234567)),
            ("3,5", value!(3.5)),
            ("0,125", value!(0.125)),
            ("about 5 minutes", value!(5)),
            ("-4 °C", value!(-4)),
            ("50%", value!(50)),
            ("5km", value!(5)),
            ("1_000", value!(1000)),
            ("1.200", value!(1.2)),
            ("30 min", value!(30)),
        ] {
            check(value!({ "type": "number" }), text, expected);
        }
        check(value!({ "type": "integer" }), "1.200 Stück", 1200.into());
    }

    #[test]
    fn a_text_that_may_mean_another_number_is_not_converted() {
        for text in [
            "1/5", "5-10", "12k", "2 million", "v2", "2026-11-26", "5:30", "< 3", "at least 3", "not 5", "1.2.3",
            "1,2,3", "12 500", "COVID-19", "2x", "x = 5", "", "five", "3?", "is it 3?", "never 3", "all but 3",
            "up to 3",
        ] {
            check(value!({ "type": "number" }), text, Value::Null);
        }
    }

    #[test]
    fn a_word_of_a_list_or_a_boolean_may_have_others_around_it() {
        let list = || value!({ "enum": ["low", "high", "very high"] });
        check(list(), "I would say: high.", "high".into());
        check(list(), "very high", "very high".into());
        check(list(), "low or high", Value::Null);
        check(list(), "not high", Value::Null);
        check(list(), "highest", Value::Null);
        check(value!({ "type": "boolean" }), "Yes, please", true.into());
        check(value!({ "type": "boolean" }), "yes and no", Value::Null);
        check(value!({ "type": "boolean" }), "not true", Value::Null);
    }
}
