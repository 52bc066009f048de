//! Quick: which expressions need no engine?
//!
//! In: the syntax tree being lowered.
//! Out: [`Quick`], the same as a tree of simple parts; none if a part is not simple.
//! Never: evaluates; [`run`](super::run) does.

use super::matching::{self, Pattern};
use super::scale::plain;
use crate::value::{Object, Value};
use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, Filter, UnaryOpKind};
use std::sync::Arc;

/// An expression with only simple parts.
#[derive(Debug)]
pub(super) enum Quick {
    Read(usize),
    /// The value of a name bound by a statement, by its number.
    Local(usize),
    Loop(Loop),
    Constant(Value),
    List(Vec<Quick>),
    Table(Vec<(Arc<str>, Quick)>),
    Member(Box<Quick>, String),
    Item(Box<Quick>, Box<Quick>),
    Not(Box<Quick>),
    And(Box<Quick>, Box<Quick>),
    Or(Box<Quick>, Box<Quick>),
    If(Box<Quick>, Box<Quick>, Box<Quick>),
    Sum(Sum, Box<Quick>, Box<Quick>),
    Test(Test, Box<Quick>, Box<Quick>),
    Matches(Box<Quick>, Pattern),
    IsNone(Box<Quick>),
    Is(Kind, Box<Quick>),
    Default(Box<Quick>, Box<Quick>),
    Items(Box<Quick>),
    Keys(Box<Quick>),
    First(Box<Quick>),
    Length(Box<Quick>),
    Text(Box<Quick>),
    Trimmed(Box<Quick>),
    Lines(Box<Quick>),
    Whole(Box<Quick>),
    Joined(Box<Quick>, String),
    /// Whole numbers in ascending order, or in descending order if true.
    Sorted(Box<Quick>, bool),
    Shows(Box<Quick>, Box<Quick>),
    /// The items whose member passes a test, or those whose member does not.
    Select(Box<Quick>, Path, Asked, bool),
    /// A member of each item.
    Map(Box<Quick>, Path),
    /// Each item as a whole number.
    Wholes(Box<Quick>),
    /// Something that only the engine can evaluate; it may turn out not to be needed.
    Engine,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Table,
    List,
    Text,
}

/// The test for a member.
#[derive(Debug)]
pub(super) enum Asked {
    /// Whether it is true.
    True,
    Test(Test, Box<Quick>),
    Matches(Pattern),
}

/// The path to a member of an item; empty for the item itself.
pub(super) type Path = Vec<String>;

/// A member of `loop`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loop {
    Index,
    Index0,
    First,
    Last,
    Length,
}

impl Loop {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "index" => Loop::Index,
            "index0" => Loop::Index0,
            "first" => Loop::First,
            "last" => Loop::Last,
            "length" => Loop::Length,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Sum {
    Plus,
    Minus,
    Times,
    Whole,
    Rest,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    Equal,
    Unequal,
    Less,
    AtMost,
    In,
    StartingWith,
}

impl Quick {
    /// The quick form of an expression, if it has one. `named` returns that of a name, or of a path that is already
    /// lowered.
    pub(super) fn of<'s>(tree: &Expr<'s>, named: &mut impl FnMut(&Expr<'s>) -> Option<Quick>) -> Option<Quick> {
        if let Some(named) = named(tree) {
            return Some(named);
        }
        let mut boxed = |tree: &Expr<'s>| Quick::of(tree, named).map(Box::new);
        Some(match tree {
            Expr::Const(value) => Quick::Constant(plain(&value.value)?),
            Expr::List(list) => {
                Quick::List(list.items.iter().map(|item| Quick::of(item, named)).collect::<Option<_>>()?)
            }
            Expr::Map(map) if map.keys.is_empty() => Quick::Constant(Value::Object(Object::new())),
            Expr::Map(map) => {
                let members = map.keys.iter().zip(&map.values).map(|(key, value)| match key {
                    Expr::Const(key) => Some((key.value.as_str()?.into(), Quick::of(value, named)?)),
                    _ => None,
                });
                Quick::Table(members.collect::<Option<_>>()?)
            }
            Expr::GetAttr(get) if get.name.parse::<u32>().is_err() => {
                Quick::Member(boxed(&get.expr)?, get.name.to_owned())
            }
            Expr::GetItem(get) => Quick::Item(boxed(&get.expr)?, boxed(&get.subscript_expr)?),
            Expr::UnaryOp(unary) if matches!(unary.op, UnaryOpKind::Not) => Quick::Not(boxed(&unary.expr)?),
            Expr::BinOp(op) if matches!(op.op, BinOpKind::ScAnd | BinOpKind::ScOr) => {
                let (left, right) = (boxed(&op.left)?, boxed(&op.right).unwrap_or_else(|| Box::new(Quick::Engine)));
                match op.op {
                    BinOpKind::ScAnd => Quick::And(left, right),
                    _ => Quick::Or(left, right),
                }
            }
            Expr::BinOp(op) => {
                let (left, right) = (boxed(&op.left)?, boxed(&op.right)?);
                match (op.op, comparison(op.op)) {
                    (_, Some(kind)) => Quick::compared(kind, left, right),
                    (BinOpKind::Add, _) => Quick::Sum(Sum::Plus, left, right),
                    (BinOpKind::Sub, _) => Quick::Sum(Sum::Minus, left, right),
                    (BinOpKind::Mul, _) => Quick::Sum(Sum::Times, left, right),
                    (BinOpKind::FloorDiv, _) => Quick::Sum(Sum::Whole, left, right),
                    (BinOpKind::Rem, _) => Quick::Sum(Sum::Rest, left, right),
                    _ => return None,
                }
            }
            Expr::Compare(compare) => {
                let [only] = compare.ops.as_slice() else { return None };
                Quick::compared(only.op, boxed(&compare.expr)?, boxed(&only.expr)?)
            }
            Expr::IfExpr(choice) => {
                let test = boxed(&choice.test_expr)?;
                let mut branch = |tree| boxed(tree).unwrap_or_else(|| Box::new(Quick::Engine));
                let then = branch(&choice.true_expr);
                let other = choice.false_expr.as_ref().map(branch);
                let other = other.unwrap_or_else(|| Box::new(Quick::Constant(Value::Null)));
                Quick::If(test, then, other)
            }
            Expr::Test(test) => match (test.name, test.args.as_slice()) {
                ("none" | "undefined", []) => Quick::IsNone(boxed(&test.expr)?),
                ("defined", []) => Quick::Not(Box::new(Quick::IsNone(boxed(&test.expr)?))),
                ("mapping", []) => Quick::Is(Kind::Table, boxed(&test.expr)?),
                ("sequence", []) => Quick::Is(Kind::List, boxed(&test.expr)?),
                ("string", []) => Quick::Is(Kind::Text, boxed(&test.expr)?),
                (matching::TEST, [CallArg::Pos(pattern)]) => Quick::Matches(boxed(&test.expr)?, Pattern::of(pattern)?),
                (name, [CallArg::Pos(other)]) => Quick::Test(two_sided(name)?, boxed(&test.expr)?, boxed(other)?),
                _ => return None,
            },
            Expr::Filter(filter) => Quick::filtered(filter, named)?,
            _ => return None,
        })
    }

    /// The quick form of a comparison; `>` and `>=` are turned around.
    fn compared(kind: CompareOpKind, left: Box<Quick>, right: Box<Quick>) -> Quick {
        match kind {
            CompareOpKind::Eq => Quick::Test(Test::Equal, left, right),
            CompareOpKind::Ne => Quick::Test(Test::Unequal, left, right),
            CompareOpKind::Lt => Quick::Test(Test::Less, left, right),
            CompareOpKind::Gt => Quick::Test(Test::Less, right, left),
            CompareOpKind::Lte => Quick::Test(Test::AtMost, left, right),
            CompareOpKind::Gte => Quick::Test(Test::AtMost, right, left),
            CompareOpKind::In => Quick::Test(Test::In, left, right),
            CompareOpKind::NotIn => Quick::Not(Box::new(Quick::Test(Test::In, left, right))),
        }
    }

    /// The quick form of a filter with its operand.
    fn filtered<'s>(filter: &Filter<'s>, named: &mut impl FnMut(&Expr<'s>) -> Option<Quick>) -> Option<Quick> {
        let mut boxed = |tree: &Expr<'s>| Quick::of(tree, named).map(Box::new);
        let base = boxed(filter.expr.as_ref()?)?;
        let constant = |tree: &Expr<'s>| match tree {
            Expr::Const(value) => value.value.as_str().map(path),
            _ => None,
        };
        Some(match (filter.name, filter.args.as_slice()) {
            ("default" | "d", []) => Quick::Default(base, Box::new(Quick::Constant("".into()))),
            ("default" | "d", [CallArg::Pos(other)]) => Quick::Default(base, boxed(other)?),
            ("items", []) => Quick::Items(base),
            ("list", []) => Quick::Keys(base),
            ("first", []) => Quick::First(base),
            ("length" | "count", []) => Quick::Length(base),
            ("string", []) => Quick::Text(base),
            ("lines", []) => Quick::Lines(base),
            ("trim", []) => Quick::Trimmed(base),
            ("int", []) => Quick::Whole(base),
            ("join", []) => Quick::Joined(base, String::new()),
            ("join", [CallArg::Pos(Expr::Const(by))]) => Quick::Joined(base, by.value.as_str()?.to_owned()),
            ("sort", []) => Quick::Sorted(base, false),
            ("sort", [CallArg::Kwarg("reverse", Expr::Const(reverse))]) => {
                Quick::Sorted(base, plain(&reverse.value)?.as_bool()?)
            }
            ("shows", [CallArg::Pos(held)]) => Quick::Shows(base, boxed(held)?),
            ("selectattr" | "rejectattr", [CallArg::Pos(at)]) => {
                Quick::Select(base, constant(at)??, Asked::True, filter.name == "selectattr")
            }
            ("selectattr" | "rejectattr", [CallArg::Pos(at), CallArg::Pos(Expr::Const(test)), CallArg::Pos(other)]) => {
                let asked = Asked::of(test.value.as_str()?, other, boxed)?;
                Quick::Select(base, constant(at)??, asked, filter.name == "selectattr")
            }
            ("select" | "reject", [CallArg::Pos(Expr::Const(test)), CallArg::Pos(other)]) => {
                let asked = Asked::of(test.value.as_str()?, other, boxed)?;
                Quick::Select(base, Path::new(), asked, filter.name == "select")
            }
            ("map", [CallArg::Kwarg("attribute", at)]) => Quick::Map(base, constant(at)??),
            ("map", [CallArg::Pos(Expr::Const(filter))]) if filter.value.as_str() == Some("int") => Quick::Wholes(base),
            _ => return None,
        })
    }
}

impl Asked {
    /// The test of this name, with its argument.
    fn of<'s>(test: &str, other: &Expr<'s>, boxed: impl FnOnce(&Expr<'s>) -> Option<Box<Quick>>) -> Option<Self> {
        Some(match test {
            matching::TEST => Asked::Matches(Pattern::of(other)?),
            test => Asked::Test(two_sided(test)?, boxed(other)?),
        })
    }
}

/// The comparison of a binary operator, if it is one.
pub(super) fn comparison(op: BinOpKind) -> Option<CompareOpKind> {
    Some(match op {
        BinOpKind::Eq => CompareOpKind::Eq,
        BinOpKind::Ne => CompareOpKind::Ne,
        BinOpKind::Lt => CompareOpKind::Lt,
        BinOpKind::Lte => CompareOpKind::Lte,
        BinOpKind::Gt => CompareOpKind::Gt,
        BinOpKind::Gte => CompareOpKind::Gte,
        BinOpKind::In => CompareOpKind::In,
        _ => return None,
    })
}

/// The steps of a dotted path of names and indexes.
fn path(text: &str) -> Option<Path> {
    let steps: Path = text.split('.').map(str::to_owned).collect();
    steps.iter().all(|step| !step.is_empty() && !step.contains(['-', '+'])).then_some(steps)
}

/// The test of this name, if it takes two values.
pub(super) fn two_sided(name: &str) -> Option<Test> {
    Some(match name {
        "eq" | "equalto" | "==" => Test::Equal,
        "ne" | "!=" => Test::Unequal,
        "lt" | "lessthan" | "<" => Test::Less,
        "le" | "<=" => Test::AtMost,
        "in" => Test::In,
        "startingwith" => Test::StartingWith,
        _ => return None,
    })
}
