//! Idle comparisons: which value is compared with something that it never is?
//!
//! In: a constant that a pack compares with a value, and all that the value can be.
//! Out: [`IdleComparison`], which says that they are never equal, and what the value can be instead.
//! Never: finds one: that takes knowledge of what names mean.

use crate::diagnostic::Diagnostic;
use crate::expression::Constant;
use crate::text::{Spanned, excerpt};

/// A comparison of a value with a constant that it can never equal.
#[derive(Debug)]
pub(crate) struct IdleComparison {
    /// The path of the value, as a pack would write it.
    pub(crate) path: String,
    pub(crate) constant: Spanned<Constant>,
    pub(crate) why: Never,
}

impl IdleComparison {
    /// The message: the two are never equal.
    pub(crate) fn message(&self) -> String {
        match &self.constant.value {
            Constant::Text(text) => format!("`{}` is never `{}`", self.path, excerpt(text, 60)),
            Constant::Number(number) => format!("`{}` is never {number}", self.path),
            Constant::Truth(truth) => format!("`{}` is never {truth}", self.path),
        }
    }

    /// Adds to a finding what the value can be.
    pub(crate) fn explain(&self, finding: Diagnostic) -> Diagnostic {
        let (kind, constant) = match (&self.why, &self.constant.value) {
            (Never::Texts(known), Constant::Text(text)) => {
                return finding.with_nearest(text, known.iter().map(String::as_str));
            }
            (Never::Texts(_), _) => ("string", &self.constant.value),
            (Never::Kind(kind), constant) => (*kind, constant),
        };
        let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
        finding.with_help(match (kind, constant) {
            ("string", Constant::Number(number)) => format!("it is a text: say `'{number}'`"),
            ("string", _) => "it is a text".to_owned(),
            ("integer" | "number", Constant::Text(text)) if is_number(text) => {
                format!("it is a number: say `{}`, without quotes", excerpt(text, 60))
            }
            ("integer" | "number", _) => "it is a number".to_owned(),
            ("boolean", Constant::Text(text)) if matches!(text.as_str(), "true" | "false") => {
                format!("it is a truth value: say `{text}`, without quotes")
            }
            ("boolean", _) => "it is `true` or `false`".to_owned(),
            ("array", _) => format!("it is a list: say `… in {}` for one of its entries", self.path),
            _ => "it is a table: compare one of its members".to_owned(),
        })
    }
}

/// Why a value never equals the constant.
#[derive(Debug, Clone)]
pub(crate) enum Never {
    /// It can only be one of these texts.
    Texts(Vec<String>),
    /// It has another type, this one of JSON Schema.
    Kind(&'static str),
}
