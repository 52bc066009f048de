//! Faults: where is a text not strict JSON, and does that change the value?
//!
//! In: names of faults.
//! Out: [`JsonFault`]s. Their names are those of the rules in `grammar/json.pest`.
//! Never: finds a fault: the readers do.

use crate::text::{Present, Span};

/// Something that strict JSON does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonFault {
    /// The name of its rule, such as `fault_missing_comma`.
    pub(crate) name: &'static str,
    pub(crate) span: Span,
    pub(crate) grade: Grade,
}

/// The effect of a fault on the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// Every interpretation of the text gives this value.
    Certain,
    /// A part is dropped or guessed.
    Lossy,
}

macro_rules! names {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $grade:ident;)*) => {
        $($(#[$doc])* pub(crate) const $constant: &str = $name;)*

        /// All faults, each with its usual grade.
        const TABLE: &[(&str, Grade)] = &[$(($name, Grade::$grade)),*];
    };
}

names! {
    /// `[1, 2,]`
    TRAILING_COMMA = "fault_trailing_comma", Certain;
    /// `[1,, 2]`
    EXTRA_COMMA = "fault_extra_comma", Certain;
    /// `[1 2]`
    MISSING_COMMA = "fault_missing_comma", Certain;
    /// `{"a" 1}`
    MISSING_COLON = "fault_missing_colon", Certain;
    /// `{"a":: 1}`
    EXTRA_COLON = "fault_extra_colon", Certain;
    /// `// words`, `/* words */`, `# words`
    COMMENT = "fault_comment", Certain;
    /// `'words'`
    SINGLE_QUOTES = "fault_single_quotes", Certain;
    /// `“words”`, `` `words` ``
    OTHER_QUOTES = "fault_other_quotes", Certain;
    /// `"""words"""`
    TRIPLE_QUOTES = "fault_triple_quotes", Certain;
    /// A line break or another control character inside a string.
    BARE_NEWLINE = "fault_bare_newline", Certain;
    /// `{a: 1}`
    UNQUOTED_KEY = "fault_unquoted_key", Certain;
    /// `True`, `None`, `NULL`
    CONSTANT = "fault_constant", Certain;
    /// `NaN`, `Infinity`, `undefined`
    NO_VALUE = "fault_no_value", Lossy;
    /// `"\d"`: the backslash remains. `"\x41"`: the character.
    ESCAPE = "fault_escape", Certain;
    /// `"\ud83d"`: half of a surrogate pair.
    SURROGATE = "fault_surrogate", Lossy;
    /// A byte order mark or white space of Unicode between tokens.
    BLANK = "fault_blank", Certain;
    /// `，`, `：` and other full-width punctuation.
    WIDE_MARK = "fault_wide_mark", Certain;
    /// A code fence around the value.
    CODE_FENCE = "fault_code_fence", Certain;
    /// `"a" "b"`, `"a" + "b"`
    SPLIT_STRING = "fault_split_string", Certain;
    /// `(1, 2)`
    TUPLE = "fault_tuple", Certain;
    /// `.5`, `+5`, `5.`, `0x1F`
    NUMBER = "fault_number", Certain;
    /// Words around the whole value.
    TEXT_AROUND = "fault_text_around", Certain;
    /// `{\"a\": 1}` as a whole.
    ESCAPED_QUOTES = "fault_escaped_quotes", Certain;
    /// `{"a": some words}`
    UNQUOTED_TEXT = "fault_unquoted_text", Lossy;
    /// `{"a": }`
    MISSING_VALUE = "fault_missing_value", Lossy;
    /// Text in or between values that is part of none.
    SKIPPED_TEXT = "fault_skipped_text", Lossy;
    /// `[1, ...]`
    DOTS = "fault_dots", Lossy;
    /// `{"a": 1`
    MISSING_BRACE = "fault_missing_brace", Lossy;
    /// `[1, 2`
    MISSING_BRACKET = "fault_missing_bracket", Lossy;
    /// `{"a": 1}}`
    EXTRA_BRACE = "fault_extra_brace", Lossy;
    /// `[1]]`
    EXTRA_BRACKET = "fault_extra_bracket", Lossy;
    /// A quote that neither opens nor closes a string.
    STRAY_QUOTE = "fault_stray_quote", Lossy;
    /// `"he said "yes" to me"`
    BARE_QUOTE = "fault_bare_quote", Lossy;
    /// `{"a": "b, "c": 1}`
    MISSING_QUOTE = "fault_missing_quote", Lossy;
    /// `{"a": 1, "a": 2}` in a text with other faults.
    REPEATED_KEY = "fault_repeated_key", Lossy;
}

/// The name of a fault in one byte, because an answer may have very many findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FaultId(u8);

impl JsonFault {
    pub(crate) fn id(&self) -> FaultId {
        let place = TABLE.iter().position(|(name, _)| *name == self.name);
        FaultId(place.and_then(|place| u8::try_from(place).ok()).present())
    }
}

/// The fault of this name at `span`, with its usual grade; `None` if JSON has no fault of this name.
pub(crate) fn named(name: &str, span: Span) -> Option<JsonFault> {
    TABLE.iter().find(|(known, _)| *known == name).map(|(name, grade)| JsonFault { name, span, grade: *grade })
}

impl FaultId {
    pub(crate) fn name(self) -> &'static str {
        TABLE.get(usize::from(self.0)).map_or("", |(name, _)| name)
    }
}

/// Whether a fault of this name usually leaves the value certain.
pub(crate) fn is_certain(name: &str) -> bool {
    TABLE.iter().any(|(known, grade)| *known == name && *grade == Grade::Certain)
}

/// The name of a fault in a pack, such as `trailing-comma`.
fn word(name: &str) -> String {
    name.trim_start_matches("fault_").replace('_', "-")
}

/// The names in a pack of the faults that leave the value certain.
pub(crate) fn certain_words() -> Vec<String> {
    TABLE.iter().filter(|(_, grade)| *grade == Grade::Certain).map(|(name, _)| word(name)).collect()
}

/// The name of the fault that is called `wording` in a pack.
pub(crate) fn worded(wording: &str) -> Option<&'static str> {
    TABLE.iter().find(|(name, _)| word(name) == wording).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The normative grammar notes the usual grade of each fault.
    #[test]
    fn the_grammar_lists_the_same_faults() {
        let lines: Vec<&str> = include_str!("../../grammar/json.pest").lines().collect();
        let rules = lines.windows(2).filter(|pair| pair.last().is_some_and(|line| line.starts_with("fault_")));
        let listed = rules.filter_map(|pair| {
            let [comment, rule] = pair else { return None };
            let grade = if comment.starts_with("/// Certain. ") { Grade::Certain } else { Grade::Lossy };
            (grade == Grade::Certain || comment.starts_with("/// Lossy. "))
                .then_some((rule.split_whitespace().next()?, grade))
        });
        let known: BTreeMap<&str, Grade> = TABLE.iter().copied().collect();
        assert_eq!(listed.collect::<BTreeMap<_, _>>(), known);
    }
}
