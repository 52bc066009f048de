//! Constraint: which values of a path does a comparison let through?
//!
//! In: a part of a condition, as typed.
//! Out: [`Constraint`], if the part compares a path with literal numbers, texts or booleans.
//! Never: follows the path, or knows its possible values.

use super::code::Constant;
use super::parse;
use super::syntax::{Expr, Kind, Relation};

/// A comparison of a path with constants.
#[derive(Debug, PartialEq)]
pub(crate) struct Constraint<'s> {
    /// The path as typed, maybe with a filter for its length.
    pub(crate) path: &'s str,
    pub(crate) through: Through,
}

/// The values that a comparison lets through.
#[derive(Debug, PartialEq)]
pub(crate) enum Through {
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
    pub(crate) fn of(part: &'s str) -> Option<Self> {
        let tree = parse::expression(part).ok()?;
        match &tree.kind {
            Kind::Comparison(relation, sides) => Self::of_comparison(*relation, sides, part),
            Kind::Not(inner) => match &inner.kind {
                Kind::Comparison(Relation::In, sides) => {
                    let Self { path, through } = Self::of_comparison(Relation::In, sides, part)?;
                    match through {
                        Through::Among(all) => Some(Self { path, through: Through::Besides(all) }),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn of_comparison(relation: Relation, [left, right]: &[Expr<'s>; 2], part: &'s str) -> Option<Self> {
        let path = Some(left.of(part)).filter(|_| is_measured(left))?;
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
            Relation::In => match &right.kind {
                Kind::List(items) => Through::Among(items.iter().map(constant).collect::<Option<_>>()?),
                _ => return None,
            },
            Relation::NotIn => return None,
        };
        Some(Self { path, through })
    }
}

impl Through {
    /// Whether this lets through every value that `other` does.
    pub(crate) fn holds(&self, other: &Self) -> bool {
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
                those.iter().all(|one| these.iter().all(|other| one.differs_from(other)))
            }
            _ => false,
        }
    }
}

/// Whether this is a path, or the length of the value at one.
fn is_measured(tree: &Expr<'_>) -> bool {
    match &tree.kind {
        Kind::Name(_) => true,
        Kind::Member(base, _) => is_measured(base),
        Kind::Item(parts) => {
            let [base, key] = &**parts;
            is_measured(base) && key.constant().is_some()
        }
        Kind::Filter(call) => matches!(call.name.text, "length" | "count") && is_measured(&call.base),
        _ => false,
    }
}

fn number(tree: &Expr<'_>) -> Option<f64> {
    match &tree.kind {
        Kind::Const(number) => number.as_f64(),
        Kind::Negative(inner) => number(inner).map(|number| -number),
        _ => None,
    }
}

fn constant(tree: &Expr<'_>) -> Option<Constant> {
    tree.constant().and_then(Constant::of)
}

impl Constant {
    /// Whether no value can equal both.
    fn differs_from(&self, other: &Self) -> bool {
        match (self, other) {
            // A number may be typed in several ways.
            (Constant::Number(one), Constant::Number(other)) => one.parse::<f64>().ok() != other.parse::<f64>().ok(),
            (Constant::Number(_), Constant::Truth(_)) | (Constant::Truth(_), Constant::Number(_)) => false,
            (one, other) => one != other,
        }
    }
}
