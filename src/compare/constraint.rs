//! Constraint: which values of a path does a comparison accept?
//!
//! In: a part of a condition, parsed, and its text.
//! Out: [`Constraint`], if the part compares a path with literal numbers, texts or booleans.
//! Never: resolves the path, or knows its possible values.

use crate::expression::{Constant, ExprTree, Operation, Relation};

/// A comparison of a path with constants.
#[derive(Debug, PartialEq)]
pub(super) struct Constraint<'s> {
    /// The path as typed, maybe with a filter for its length.
    pub(super) path: &'s str,
    pub(super) through: Through,
}

/// The values that a comparison accepts.
#[derive(Debug, PartialEq)]
pub(super) enum Through {
    /// Numbers below this one, and also the number itself if `within`.
    UpTo {
        number: f64,
        within: bool,
    },
    /// Numbers above this one, and also the number itself if `within`.
    From {
        number: f64,
        within: bool,
    },
    Among(Vec<Constant>),
    /// All values but these.
    Besides(Vec<Constant>),
}

impl<'s> Constraint<'s> {
    /// The constraint of a part of a condition, if it is a simple comparison.
    pub(super) fn of(part: &ExprTree, source: &'s str) -> Option<Self> {
        match (&part.op, &*part.parts) {
            (Operation::Comparison(relation), [left, right]) => Self::of_comparison(*relation, left, right, source),
            (Operation::Not, [ExprTree { op: Operation::Comparison(Relation::In), parts, .. }]) => {
                let [left, right] = &**parts else { return None };
                let Self { path, through } = Self::of_comparison(Relation::In, left, right, source)?;
                match through {
                    Through::Among(all) => Some(Self { path, through: Through::Besides(all) }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn of_comparison(relation: Relation, left: &ExprTree, right: &ExprTree, source: &'s str) -> Option<Self> {
        let path = matches!(&left.op, Operation::Read(read) if read.is_fixed()).then(|| left.span.of(source))?;
        let only = || Some(vec![constant(right)?]);
        let through = match relation {
            Relation::Less | Relation::AtMost => {
                Through::UpTo { number: number(right)?, within: relation == Relation::AtMost }
            }
            Relation::More | Relation::AtLeast => {
                Through::From { number: number(right)?, within: relation == Relation::AtLeast }
            }
            Relation::Equal => Through::Among(only()?),
            Relation::Unequal => Through::Besides(only()?),
            Relation::In if matches!(right.op, Operation::List) => {
                Through::Among(right.parts.iter().map(constant).collect::<Option<_>>()?)
            }
            Relation::In | Relation::NotIn => return None,
        };
        Some(Self { path, through })
    }
}

impl Through {
    /// Whether this constraint accepts every value that `other` does.
    pub(super) fn includes(&self, other: &Self) -> bool {
        let all = |these: &[Constant], those: &[Constant]| these.iter().all(|one| those.contains(one));
        match (self, other) {
            (Through::UpTo { number, within }, Through::UpTo { number: least, within: with_least }) => {
                number > least || (number == least && (*within || !with_least))
            }
            (Through::From { number, within }, Through::From { number: most, within: with_most }) => {
                number < most || (number == most && (*within || !with_most))
            }
            (Through::Among(these), Through::Among(those)) => all(those, these),
            (Through::Besides(these), Through::Besides(those)) => all(these, those),
            (Through::Besides(these), Through::Among(those)) => {
                those.iter().all(|one| these.iter().all(|other| differ(one, other)))
            }
            _ => false,
        }
    }
}

fn number(tree: &ExprTree) -> Option<f64> {
    match (&tree.op, &*tree.parts) {
        (Operation::Constant(number), _) => number.as_f64(),
        (Operation::Negate, [inner]) => number(inner).map(|number| -number),
        _ => None,
    }
}

fn constant(tree: &ExprTree) -> Option<Constant> {
    tree.constant().and_then(Constant::of)
}

/// Whether no value can equal both.
fn differ(one: &Constant, other: &Constant) -> bool {
    match (one, other) {
        // The same number may be written in several forms.
        (Constant::Number(one), Constant::Number(other)) => one.parse::<f64>().ok() != other.parse::<f64>().ok(),
        (Constant::Number(_), Constant::Truth(_)) | (Constant::Truth(_), Constant::Number(_)) => false,
        (one, other) => one != other,
    }
}
