//! Diagnostics: what is said about a pack, a case or a response?
//!
//! In: places and facts from every floor below.
//! Out: [`Diagnostic`], [`Severity`], and the closed tables of codes, defects, strategies and remarks.
//! Never: decides what is wrong, or lays out text for people.

mod codes;
mod defects;
mod faults;
mod findings;
mod names;
mod pages;
mod patterns;

#[cfg(feature = "report")]
pub(crate) use codes::bare;
pub(crate) use codes::fault_words;
pub use codes::{Code, CodeRow, is_fault, rows};
pub use defects::{Defect, Remark, Strategy};
pub use faults::Faults;
pub(crate) use findings::Findings;
pub(crate) use names::is_slip;
pub(crate) use names::meant;
pub use names::{alternatives, nearest};
pub use pages::{Page, page, pages};
pub(crate) use patterns::{bad_pattern_place, bad_pattern_words};

use crate::text::{Location, one_line};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing was decided because of it.
    Info,
    /// Something was wrong and a strategy answered it.
    Warning,
    /// The pack cannot be used, or the response had no effect.
    Error,
}

impl Severity {
    /// The word for it: `info`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A second place that explains the first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub at: Location,
    /// What stands there, such as `declared here`.
    pub text: String,
}

/// One coded sentence about a pack, a case or a response.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Which kind of fault it is; `rulebook explain CODE` tells more.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong: one line, lower case, user text in backticks.
    pub message: String,
    /// Where it is, as narrowly as possible.
    pub at: Option<Location>,
    /// A few words beside the place.
    pub label: Option<String>,
    /// Other places that matter.
    pub labels: Vec<Label>,
    /// How to mend it.
    pub help: Option<String>,
    /// The name of the guardrail behind it.
    pub id: Option<String>,
    /// The declaration in the pack that it rests on.
    pub rule: Option<Location>,
    /// What was done about it in a response.
    pub strategy: Option<Strategy>,
    /// The word of the pack that chose the strategy; none for a default.
    pub answered_by: Option<Location>,
    /// The name in it that nothing declares, if a declared one is near.
    pub(crate) misnamed: Option<Misnamed>,
}

/// A name that nothing declares, and the nearest that something does: either of the two may be misspelt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Misnamed {
    pub(crate) typed: String,
    pub(crate) declared: String,
}

impl Diagnostic {
    /// A diagnostic with the usual severity of its code; its message is one line, whatever names it quotes.
    pub fn new(code: Code, at: impl Into<Option<Location>>, message: impl Into<String>) -> Self {
        let message = message.into();
        let message = match one_line(&message) {
            Cow::Borrowed(_) => message,
            Cow::Owned(line) => line,
        };
        Self {
            severity: code.severity(),
            code,
            message,
            at: at.into(),
            label: None,
            labels: Vec::new(),
            help: None,
            id: None,
            rule: None,
            strategy: None,
            answered_by: None,
            misnamed: None,
        }
    }

    /// Whether it is an error: then there is no program, no prompt, no export.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The same as a warning, whatever is usual for its code.
    pub(crate) fn into_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// Adds advice on how to mend it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the alternatives nearest to `typed` as help: `did you mean …?`, else what is declared.
    pub fn with_nearest<'n>(mut self, typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Self {
        let (nearest, help) = names::advice(typed, declared);
        self.misnamed = nearest.map(|near| Misnamed { typed: typed.to_owned(), declared: near.to_owned() });
        self.help = help.or(self.help);
        self
    }

    /// Adds a few words beside the place.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a second place.
    pub fn with_place(mut self, at: Location, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Names the declaration that it rests on.
    pub fn with_rule(mut self, rule: Option<Location>) -> Self {
        self.rule = rule;
        self
    }
}

/// In one line, without its place: for a host's log. The command line shows the lines of the source, too.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

/// A value with everything worth saying about it; `value` is absent only after an error.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked<T> {
    /// The value, if no error stood in its way.
    pub value: Option<T>,
    /// What was found, in the order in which it was found.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Checked<T> {
    /// `value`, unless one of the `diagnostics` is an error.
    pub fn new(value: Option<T>, diagnostics: Vec<Diagnostic>) -> Self {
        let broken = diagnostics.iter().any(Diagnostic::is_error);
        Self { value: value.filter(|_| !broken), diagnostics }
    }
}
