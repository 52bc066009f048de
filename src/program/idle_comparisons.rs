//! Idle comparisons: which value is compared with a constant that it never equals?
//!
//! In: a constant that a pack compares with a value, and every value that the latter can have.
//! Out: [`IdleComparison`], which explains why the comparison never succeeds, and what the value can be instead.
//! Never: searches for such comparisons: that requires knowing what each name means.

use crate::diagnostic::Diagnostic;
use crate::expression::{Constant, Relation};
use crate::text::{Spanned, excerpt};

/// A comparison of a value with a constant that is false, or fails, for every possible value.
#[derive(Debug)]
pub(crate) struct IdleComparison {
    /// The path of the value, as a pack would write it.
    pub(crate) path: String,
    /// The relation of the value to the constant.
    pub(crate) relation: Relation,
    pub(crate) constant: Spanned<Constant>,
    pub(crate) why: IdleReason,
}

impl IdleComparison {
    /// Whether the comparison fails for every value, instead of being false: the two have no order.
    pub(crate) fn fails(&self) -> bool {
        self.relation.is_order() && matches!(self.why, IdleReason::Kind(_) | IdleReason::Texts(_))
    }

    /// The message: the two are never equal, or never in this order.
    pub(crate) fn message(&self) -> String {
        let constant = match &self.constant.value {
            Constant::Text(text) => format!("`{}`", excerpt(text, 60)),
            Constant::Number(number) => number.clone(),
            Constant::Truth(truth) => truth.to_string(),
        };
        if self.fails() {
            return format!("`{}` and {constant} have no order: this fails for every value", self.path);
        }
        let relation = match self.relation {
            Relation::Less => "less than ",
            Relation::AtMost => "at most ",
            Relation::More => "more than ",
            Relation::AtLeast => "at least ",
            _ => "",
        };
        format!("`{}` is never {relation}{constant}", self.path)
    }

    /// Adds to a finding what the value can be.
    pub(crate) fn explain(&self, finding: Diagnostic) -> Diagnostic {
        let (kind, constant) = match (&self.why, &self.constant.value) {
            (IdleReason::Texts(known), Constant::Text(text)) => {
                return finding.with_nearest(text, known.iter().map(String::as_str));
            }
            (IdleReason::Bound(bound), _) => {
                return finding.with_help(format!("its schema says `{bound}`: fix one of the two"));
            }
            (IdleReason::Texts(_), _) => ("string", &self.constant.value),
            (IdleReason::Kind(kind), constant) => (*kind, constant),
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
                format!("it is a boolean: say `{text}`, without quotes")
            }
            ("boolean", _) => "it is `true` or `false`".to_owned(),
            ("array", _) => format!("it is a list: say `… in {}` for one of its entries", self.path),
            _ => "it is a table: compare one of its members".to_owned(),
        })
    }
}

/// Why the comparison never succeeds.
#[derive(Debug, Clone)]
pub(crate) enum IdleReason {
    /// The value can only be one of these texts.
    Texts(Vec<String>),
    /// The value has another type: this one of JSON Schema.
    Kind(&'static str),
    /// The schema of the value has this bound, as the author writes it.
    Bound(String),
}
