//! Constraint: which values of a path does a comparison let through?
//!
//! In: a part of a condition, as typed.
//! Out: [`Constraint`], if the part compares a path with literal numbers, texts or booleans.
//! Never: follows the path, or knows its possible values.

use super::lowered::Constant;
use super::parts::text;
use minijinja::machinery::ast::{BinOp, BinOpKind, Expr, UnaryOpKind};
use minijinja::machinery::parse_expr;
use minijinja::value::{Value, ValueKind};

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
        let tree = parse_expr(part).ok()?;
        match &tree {
            Expr::BinOp(op) => Self::of_comparison(op, part),
            Expr::UnaryOp(not) if matches!(not.op, UnaryOpKind::Not) => match &not.expr {
                Expr::BinOp(op) if matches!(op.op, BinOpKind::In) => {
                    let Self { path, through } = Self::of_comparison(op, part)?;
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

    fn of_comparison(op: &BinOp<'_>, part: &'s str) -> Option<Self> {
        let path = text(&op.left, part).filter(|_| is_measured(&op.left))?;
        let only = || Some(vec![constant(&op.right)?]);
        let through = match op.op {
            BinOpKind::Lt | BinOpKind::Lte => {
                Through::UpTo { number: number(&op.right)?, within: matches!(op.op, BinOpKind::Lte) }
            }
            BinOpKind::Gt | BinOpKind::Gte => {
                Through::From { number: number(&op.right)?, within: matches!(op.op, BinOpKind::Gte) }
            }
            BinOpKind::Eq => Through::Among(only()?),
            BinOpKind::Ne => Through::Besides(only()?),
            BinOpKind::In => match &op.right {
                Expr::List(list) => Through::Among(list.items.iter().map(constant).collect::<Option<_>>()?),
                _ => return None,
            },
            _ => return None,
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
    match tree {
        Expr::Var(_) => true,
        Expr::GetAttr(get) => is_measured(&get.expr),
        Expr::GetItem(get) => is_measured(&get.expr) && matches!(get.subscript_expr, Expr::Const(_)),
        Expr::Filter(filter) => {
            matches!(filter.name, "length" | "count") && filter.expr.as_ref().is_some_and(is_measured)
        }
        _ => false,
    }
}

fn number(tree: &Expr<'_>) -> Option<f64> {
    match tree {
        Expr::Const(number) if number.value.is_number() => f64::try_from(number.value.clone()).ok(),
        Expr::UnaryOp(unary) if matches!(unary.op, UnaryOpKind::Neg) => number(&unary.expr).map(|number| -number),
        _ => None,
    }
    .filter(|number| number.is_finite())
}

fn constant(tree: &Expr<'_>) -> Option<Constant> {
    match tree {
        Expr::Const(constant) => Constant::of(&constant.value),
        _ => None,
    }
}

impl Constant {
    /// The constant, if the value is a text, number or boolean.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value.kind() {
            ValueKind::String => Some(Constant::Text(value.as_str().unwrap_or_default().to_owned())),
            ValueKind::Number => Some(Constant::Number(value.to_string())),
            ValueKind::Bool => Some(Constant::Truth(value.is_true())),
            _ => None,
        }
    }

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
