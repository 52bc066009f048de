//! Diagnostics: what is reported about a pack, a case or a response?
//!
//! In: places and facts from every module.
//! Out: [`Diagnostic`], [`Severity`], and the closed tables of codes, defects, strategies and remarks.
//! Never: decides what is wrong, or formats text for users.

mod codes;
mod defects;
mod faults;
mod findings;
mod lookalikes;
mod message;
mod name_list;
mod names;
mod pages;
mod patterns;
mod row;

pub use codes::bare;
pub(crate) use codes::fault_words;
pub use codes::{Code, CodeRow, is_fault, rows};
pub use defects::{Defect, Remark, Strategy};
pub use faults::Faults;
pub(crate) use findings::Findings;
pub(crate) use lookalikes::{bones, foreign, is_plain, odd};
pub use message::{Argument, Message};
pub(crate) use message::{HoleFill, KnownNames, message, quote};
pub(crate) use name_list::NameList;
pub(crate) use names::meant;
pub(crate) use names::{Letters, is_misspelt, is_slip};
pub use names::{alternatives, nearest};
pub use pages::{Page, page, pages};
pub(crate) use patterns::{bad_pattern_place, bad_pattern_words};
pub use row::{Row, RowLabel};

use crate::text::{Location, Sources};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing was changed because of it.
    Info,
    /// Something was wrong and a strategy answered it.
    Warning,
    /// The pack cannot be used, or the response had no effect.
    Error,
}

impl Severity {
    /// The name: `info`, `warning` or `error`.
    #[doc(hidden)]
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
    /// What is at the place, such as `declared here`.
    pub text: String,
}

/// One finding about a pack, a prompt, a case or a response, with a code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its kind; `rulebook explain CODE` prints the page about it.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// What is wrong: one line, lower case, user text in backticks.
    pub message: Message,
    /// The place, as narrow as possible.
    pub at: Option<Location>,
    /// A few words to print at the place.
    pub label: Option<String>,
    /// Other places that explain the finding.
    pub labels: Vec<Label>,
    /// How to fix the fault.
    pub help: Option<Message>,
    /// The name of the guardrail that tripped, if one did.
    pub id: Option<String>,
    /// The declaration in the pack that caused it.
    pub rule: Option<Location>,
    /// The strategy that answered the defect, for a response.
    pub strategy: Option<Strategy>,
    /// Where the pack declares that strategy; none if it is the default.
    pub answered_by: Option<Location>,
    /// The message for a model, if the usual one contains conditions of the pack that a model must not read.
    pub(crate) to_model: Option<Box<Message>>,
    /// The unknown name in it, if a declared name is similar.
    pub(crate) misnamed: Option<Misnamed>,
}

/// An unknown name and the declared name nearest to it; either may be misspelt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Misnamed {
    pub(crate) typed: String,
    pub(crate) declared: String,
}

impl Diagnostic {
    /// Replaces the quotations in its texts by `…`.
    pub(crate) fn hide_quotes(&mut self) {
        self.message.hide_quotes();
        self.help.iter_mut().chain(self.to_model.as_deref_mut()).for_each(Message::hide_quotes);
    }

    /// A diagnostic with the usual severity of its code. The message is turned into one line, whatever names it quotes.
    #[doc(hidden)]
    pub fn new(code: Code, at: impl Into<Option<Location>>, message: impl Into<Message>) -> Self {
        Self {
            severity: code.severity(),
            code,
            message: message.into(),
            at: at.into(),
            label: None,
            labels: Vec::new(),
            help: None,
            id: None,
            rule: None,
            strategy: None,
            answered_by: None,
            to_model: None,
            misnamed: None,
        }
    }

    /// Whether it is an error. An error means no program, no prompt or no export.
    #[doc(hidden)]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// This diagnostic as a warning, whatever the usual severity of its code.
    pub(crate) fn into_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// Adds advice on how to fix the fault.
    #[doc(hidden)]
    pub fn with_help(mut self, help: impl Into<Message>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds help for an unknown name: `did you mean …?`, or the names that are declared.
    #[doc(hidden)]
    pub fn with_nearest<'n>(mut self, typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Self {
        let (nearest, help) = names::advice(typed, declared);
        self.misnamed = nearest.map(|near| Misnamed { typed: typed.to_owned(), declared: near.to_owned() });
        self.help = help.map(Message::from).or(self.help);
        self
    }

    /// Records which declared name may have been meant, and adds no help.
    pub(crate) fn misnaming<'n>(mut self, typed: &str, declared: impl IntoIterator<Item = &'n str>) -> Self {
        let (nearest, _) = names::advice(typed, declared);
        self.misnamed = nearest.map(|near| Misnamed { typed: typed.to_owned(), declared: near.to_owned() });
        self
    }

    /// Like [`with_nearest`](Self::with_nearest), for a name in a response: names are compared only when the help is
    /// read.
    pub(crate) fn with_nearest_of(mut self, typed: &str, names: &KnownNames) -> Self {
        if !names.is_empty() {
            self.help = Some(Message::nearest(typed, Arc::clone(names)));
        }
        self
    }

    /// This diagnostic at another place.
    #[doc(hidden)]
    pub fn placed(self, at: impl Into<Option<Location>>) -> Self {
        Self { at: at.into(), ..self }
    }

    /// Adds a few words to print at the place.
    #[doc(hidden)]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds another place.
    #[doc(hidden)]
    pub fn with_place(mut self, at: Location, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Adds the declaration that caused the finding.
    #[doc(hidden)]
    pub fn with_rule(mut self, rule: Option<Location>) -> Self {
        self.rule = rule;
        self
    }
}

/// One line without the place, for a host's log. The command line also prints the source lines.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

/// A result, all findings about it, and the sources that the findings point into. `value` is absent only if there is an
/// error.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked<T> {
    /// The value, unless there is an error.
    pub value: Option<T>,
    /// The findings, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the places of the diagnostics are in.
    pub sources: Sources,
}

impl<T> Checked<T> {
    /// Discards `value` if one of the `diagnostics` is an error.
    #[doc(hidden)]
    pub fn new(value: Option<T>, diagnostics: Vec<Diagnostic>, sources: Sources) -> Self {
        let broken = diagnostics.iter().any(Diagnostic::is_error);
        Self { value: value.filter(|_| !broken), diagnostics, sources }
    }

    /// The value, for hosts that do not use warnings.
    ///
    /// ```
    /// use rulebook::{Folder, Program};
    ///
    /// let pack = "[pack]\nname = \"lamp\"\n[modes.home]\npermits = [\"dim\"]\n";
    /// let faults = Program::load(&Folder::new("lamp", [("pack.toml", pack)])).into_result().unwrap_err();
    /// let last = faults.to_string().lines().last().unwrap().to_owned();
    /// let message = "no table declares the action `dim` (add `[actions.dim]`)";
    /// assert_eq!(last, format!("lamp/pack.toml:4:12: error[pack/unknown-action]: {message}"));
    /// ```
    ///
    /// # Errors
    ///
    /// The errors, if there are any.
    pub fn into_result(self) -> Result<T, Faults> {
        self.value.ok_or_else(|| Faults::new(self.diagnostics, self.sources))
    }
}
