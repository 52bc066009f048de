//! Quick: what does an expression of plain parts give, without an engine?
//!
//! In: the syntax tree that is lowered, and a scope.
//! Out: [`Quick`], which gives the value where nothing unusual happens, and nothing where the engine has to say.
//! Never: fails, or differs from the engine: kinds that do not fit, odd numbers and large lists are left to it.
//!
//! The engine converts all that an expression reads, which costs more than most expressions do. Here values are borrowed.

use super::engine;
use super::lower::{Lowered, Read};
use super::{Scope, is_true};
use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, UnaryOpKind};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cell::Cell;

/// An expression of plain parts.
#[derive(Debug)]
pub(super) enum Quick {
    Read(usize),
    Constant(Json),
    List(Vec<Quick>),
    Member(Box<Quick>, String),
    Not(Box<Quick>),
    And(Box<Quick>, Box<Quick>),
    Or(Box<Quick>, Box<Quick>),
    If(Box<Quick>, Box<Quick>, Box<Quick>),
    Sum(Sum, Box<Quick>, Box<Quick>),
    Test(Test, Box<Quick>, Box<Quick>),
    IsNone(Box<Quick>),
    Default(Box<Quick>, Box<Quick>),
    Items(Box<Quick>),
    Keys(Box<Quick>),
    First(Box<Quick>),
    Length(Box<Quick>),
    Text(Box<Quick>),
    /// Items of which a member passes a test, or counts as true; or does not.
    Select(Box<Quick>, Path, Option<(Test, Box<Quick>)>, bool),
    /// A member of each item.
    Map(Box<Quick>, Path),
}

/// The way to a member of an item; empty for the item itself.
type Path = Vec<String>;

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

/// Items that one evaluation may look at before the engine takes over, which has bounds of its own.
const ITEMS: usize = 20_000;

/// A value on its way.
#[derive(Debug, Clone)]
enum Held<'j> {
    Json(Cow<'j, Json>),
    Text(&'j str),
    Pair(&'j str, &'j Json),
    List(Vec<Held<'j>>),
}

impl Quick {
    /// The quick form of an expression, if it has one. `read` gives the number of a path that was lowered.
    pub(super) fn of<'s>(tree: &Expr<'s>, read: &mut impl FnMut(&Expr<'s>) -> Option<usize>) -> Option<Quick> {
        if let Some(number) = read(tree) {
            return Some(Quick::Read(number));
        }
        let mut boxed = |tree: &Expr<'s>| Quick::of(tree, read).map(Box::new);
        Some(match tree {
            Expr::Const(value) => Quick::Constant(engine::plain(&value.value)?),
            Expr::List(list) => {
                Quick::List(list.items.iter().map(|item| Quick::of(item, read)).collect::<Option<_>>()?)
            }
            Expr::Map(map) if map.keys.is_empty() => Quick::Constant(Json::Object(serde_json::Map::new())),
            Expr::GetAttr(get) if get.name.parse::<u32>().is_err() => {
                Quick::Member(boxed(&get.expr)?, get.name.to_owned())
            }
            Expr::UnaryOp(unary) if matches!(unary.op, UnaryOpKind::Not) => Quick::Not(boxed(&unary.expr)?),
            Expr::BinOp(op) => {
                let (left, right) = (boxed(&op.left)?, boxed(&op.right)?);
                match op.op {
                    BinOpKind::ScAnd => Quick::And(left, right),
                    BinOpKind::ScOr => Quick::Or(left, right),
                    BinOpKind::Eq => Quick::Test(Test::Equal, left, right),
                    BinOpKind::Ne => Quick::Test(Test::Unequal, left, right),
                    BinOpKind::Lt => Quick::Test(Test::Less, left, right),
                    BinOpKind::Gt => Quick::Test(Test::Less, right, left),
                    BinOpKind::Lte => Quick::Test(Test::AtMost, left, right),
                    BinOpKind::Gte => Quick::Test(Test::AtMost, right, left),
                    BinOpKind::In => Quick::Test(Test::In, left, right),
                    BinOpKind::Add => Quick::Sum(Sum::Plus, left, right),
                    BinOpKind::Sub => Quick::Sum(Sum::Minus, left, right),
                    BinOpKind::Mul => Quick::Sum(Sum::Times, left, right),
                    BinOpKind::FloorDiv => Quick::Sum(Sum::Whole, left, right),
                    BinOpKind::Rem => Quick::Sum(Sum::Rest, left, right),
                    _ => return None,
                }
            }
            Expr::Compare(compare) => {
                let [only] = compare.ops.as_slice() else { return None };
                let (left, right) = (boxed(&compare.expr)?, boxed(&only.expr)?);
                match only.op {
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
            Expr::IfExpr(choice) => {
                let (test, then) = (boxed(&choice.test_expr)?, boxed(&choice.true_expr)?);
                let other = match &choice.false_expr {
                    Some(other) => boxed(other)?,
                    None => Box::new(Quick::Constant(Json::Null)),
                };
                Quick::If(test, then, other)
            }
            Expr::Test(test) => match (test.name, test.args.as_slice()) {
                ("none" | "undefined", []) => Quick::IsNone(boxed(&test.expr)?),
                ("defined", []) => Quick::Not(Box::new(Quick::IsNone(boxed(&test.expr)?))),
                (name, [CallArg::Pos(other)]) => Quick::Test(two_sided(name)?, boxed(&test.expr)?, boxed(other)?),
                _ => return None,
            },
            Expr::Filter(filter) => {
                let base = boxed(filter.expr.as_ref()?)?;
                let constant = |tree: &Expr<'s>| match tree {
                    Expr::Const(value) => value.value.as_str().map(path),
                    _ => None,
                };
                match (filter.name, filter.args.as_slice()) {
                    ("default" | "d", []) => Quick::Default(base, Box::new(Quick::Constant("".into()))),
                    ("default" | "d", [CallArg::Pos(other)]) => Quick::Default(base, boxed(other)?),
                    ("items", []) => Quick::Items(base),
                    ("list", []) => Quick::Keys(base),
                    ("first", []) => Quick::First(base),
                    ("length" | "count", []) => Quick::Length(base),
                    ("string", []) => Quick::Text(base),
                    ("selectattr" | "rejectattr", [CallArg::Pos(at)]) => {
                        Quick::Select(base, constant(at)??, None, filter.name == "selectattr")
                    }
                    (
                        "selectattr" | "rejectattr",
                        [CallArg::Pos(at), CallArg::Pos(Expr::Const(test)), CallArg::Pos(other)],
                    ) => {
                        let test = (two_sided(test.value.as_str()?)?, boxed(other)?);
                        Quick::Select(base, constant(at)??, Some(test), filter.name == "selectattr")
                    }
                    ("select" | "reject", [CallArg::Pos(Expr::Const(test)), CallArg::Pos(other)]) => {
                        let test = (two_sided(test.value.as_str()?)?, boxed(other)?);
                        Quick::Select(base, Path::new(), Some(test), filter.name == "select")
                    }
                    ("map", [CallArg::Kwarg("attribute", at)]) => Quick::Map(base, constant(at)??),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

/// The steps of a dotted path of names and places.
fn path(text: &str) -> Option<Path> {
    let steps: Path = text.split('.').map(str::to_owned).collect();
    steps.iter().all(|step| !step.is_empty() && !step.contains(['-', '+'])).then_some(steps)
}

fn two_sided(name: &str) -> Option<Test> {
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

/// The value of an expression; none where the engine has to say.
pub(super) fn value(lowered: &Lowered, scope: &Scope<'_>) -> Option<Json> {
    let quick = lowered.quick.as_ref()?;
    let run = Run { reads: &lowered.reads, scope, left: Cell::new(ITEMS) };
    Some(run.value(quick)?.into_json())
}

/// Whether an expression holds; none where the engine has to say.
pub(super) fn holds(lowered: &Lowered, scope: &Scope<'_>) -> Option<bool> {
    let quick = lowered.quick.as_ref()?;
    let run = Run { reads: &lowered.reads, scope, left: Cell::new(ITEMS) };
    Some(run.value(quick)?.is_true())
}

struct Run<'j> {
    reads: &'j [Read],
    scope: &'j Scope<'j>,
    left: Cell<usize>,
}

impl<'j> Run<'j> {
    fn take(&self, items: usize) -> Option<()> {
        self.left.set(self.left.get().checked_sub(items)?);
        Some(())
    }

    fn value(&self, quick: &'j Quick) -> Option<Held<'j>> {
        let truth = |truth: bool| Held::Json(Cow::Owned(Json::Bool(truth)));
        Some(match quick {
            Quick::Read(number) => Held::Json(engine::resolve(self.reads, *number, self.scope).ok()?),
            Quick::Constant(value) => Held::Json(Cow::Borrowed(value)),
            Quick::List(items) => Held::List(items.iter().map(|item| self.value(item)).collect::<Option<_>>()?),
            Quick::Member(base, key) => self.value(base)?.member(key)?,
            Quick::Not(base) => truth(!self.value(base)?.is_true()),
            Quick::And(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { self.value(right)? } else { left }
            }
            Quick::Or(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { left } else { self.value(right)? }
            }
            Quick::If(test, then, other) => self.value(if self.value(test)?.is_true() { then } else { other })?,
            Quick::Sum(sum, left, right) => {
                let (left, right) = (self.value(left)?.number()?, self.value(right)?.number()?);
                let positive = left >= 0 && right > 0;
                let sum = match sum {
                    Sum::Plus => left.checked_add(right),
                    Sum::Minus => left.checked_sub(right),
                    Sum::Times => left.checked_mul(right),
                    Sum::Whole => left.checked_div(right).filter(|_| positive),
                    Sum::Rest => left.checked_rem(right).filter(|_| positive),
                };
                Held::Json(Cow::Owned(sum?.into()))
            }
            Quick::Test(test, left, right) => truth(self.test(*test, &self.value(left)?, &self.value(right)?)?),
            Quick::IsNone(base) => truth(self.value(base)?.is_none()),
            Quick::Default(base, other) => {
                let base = self.value(base)?;
                // A default that is none itself is none given, which means an empty text.
                match base.is_none() {
                    true => Some(self.value(other)?).filter(|other| !other.is_none()).unwrap_or(Held::Text("")),
                    false => base,
                }
            }
            Quick::Items(base) => match self.value(base)? {
                Held::Json(Cow::Borrowed(Json::Object(members))) => {
                    self.take(members.len())?;
                    Held::List(members.iter().map(|(key, value)| Held::Pair(key, value)).collect())
                }
                none if none.is_none() => Held::List(Vec::new()),
                _ => return None,
            },
            Quick::Keys(base) => match self.value(base)? {
                Held::Json(Cow::Borrowed(Json::Object(members))) => {
                    self.take(members.len())?;
                    Held::List(members.keys().map(|key| Held::Text(key)).collect())
                }
                list => Held::List(self.items(list)?),
            },
            Quick::First(base) => self.items(self.value(base)?)?.into_iter().next().unwrap_or(NONE),
            Quick::Length(base) => {
                let length = match self.value(base)? {
                    Held::List(items) => items.len(),
                    none if none.is_none() => 0,
                    Held::Json(json) => match &*json {
                        Json::Array(items) => items.len(),
                        Json::Object(members) => members.len(),
                        _ => return None,
                    },
                    _ => return None,
                };
                Held::Json(Cow::Owned(length.into()))
            }
            Quick::Text(base) => match self.value(base)? {
                text if text.text().is_some() => text,
                Held::List(items) if items.is_empty() => Held::Text("[]"),
                // The engine writes a pair in a way of its own.
                Held::Pair(..) => return None,
                Held::List(items) if items.iter().any(|item| matches!(item, Held::Pair(..) | Held::List(_))) => {
                    return None;
                }
                other => Held::Json(Cow::Owned(engine::written(&other.into_json())?.into())),
            },
            Quick::Select(base, path, test, wanted) => {
                let mut items = self.items(self.value(base)?)?;
                let other = test.as_ref().map(|(test, other)| Some((*test, self.value(other)?)));
                let other = match other {
                    Some(other) => Some(other?),
                    None => None,
                };
                let mut sure = true;
                items.retain(|item| {
                    let passes = || {
                        let found = item.at(path)?;
                        match &other {
                            Some((test, other)) => self.test(*test, &found, other),
                            None => Some(found.is_true()),
                        }
                    };
                    let passes = passes();
                    sure &= passes.is_some();
                    passes == Some(*wanted)
                });
                if !sure {
                    return None;
                }
                Held::List(items)
            }
            Quick::Map(base, path) => {
                let items = self.items(self.value(base)?)?;
                Held::List(items.iter().map(|item| item.at(path)).collect::<Option<_>>()?)
            }
        })
    }

    /// The items of a list; none is an empty one.
    fn items(&self, list: Held<'j>) -> Option<Vec<Held<'j>>> {
        let items = match list {
            Held::List(items) => items,
            Held::Json(Cow::Borrowed(Json::Array(items))) => {
                items.iter().map(|item| Held::Json(Cow::Borrowed(item))).collect()
            }
            none if none.is_none() => Vec::new(),
            _ => return None,
        };
        self.take(items.len())?;
        Some(items)
    }

    fn test(&self, test: Test, one: &Held<'_>, other: &Held<'_>) -> Option<bool> {
        Some(match test {
            Test::Equal => one.equals(other)?,
            Test::Unequal => !one.equals(other)?,
            Test::Less => one.number()? < other.number()?,
            Test::AtMost => one.number()? <= other.number()?,
            Test::StartingWith => one.text()?.starts_with(other.text()?),
            Test::In => {
                if other.is_none() {
                    return Some(false);
                }
                match other {
                    Held::List(items) => {
                        self.take(items.len())?;
                        let text = one.text()?;
                        items.iter().any(|item| item.text() == Some(text))
                    }
                    Held::Text(held) => {
                        self.take(held.len() / 64)?;
                        held.contains(one.text()?)
                    }
                    Held::Pair(..) => return None,
                    Held::Json(json) => match &**json {
                        Json::Object(_) if one.is_none() => false,
                        Json::Object(members) => members.contains_key(one.text()?),
                        Json::Array(items) => {
                            self.take(items.len())?;
                            let text = one.text()?;
                            items.iter().any(|item| item.as_str() == Some(text))
                        }
                        Json::String(held) => {
                            self.take(held.len() / 64)?;
                            held.contains(one.text()?)
                        }
                        _ => return None,
                    },
                }
            }
        })
    }
}

const NONE: Held<'static> = Held::Json(Cow::Owned(Json::Null));

impl<'j> Held<'j> {
    fn is_none(&self) -> bool {
        matches!(self, Held::Json(json) if json.is_null())
    }

    fn is_true(&self) -> bool {
        match self {
            Held::Json(json) => is_true(json),
            Held::Text(text) => !text.is_empty(),
            Held::Pair(..) => true,
            Held::List(items) => !items.is_empty(),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Held::Json(json) => json.as_str(),
            Held::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whole numbers only: others have their own ways to compare.
    fn number(&self) -> Option<i64> {
        match self {
            Held::Json(json) => json.as_i64(),
            _ => None,
        }
    }

    /// None where the kinds are not plainly comparable.
    fn equals(&self, other: &Held<'_>) -> Option<bool> {
        if self.is_none() || other.is_none() {
            return Some(self.is_none() && other.is_none());
        }
        match (self.text(), other.text(), self.number(), other.number()) {
            (Some(one), Some(other), ..) => Some(one == other),
            (.., Some(one), Some(other)) => Some(one == other),
            (Some(_), _, _, Some(_)) | (_, Some(_), Some(_), _) => Some(false),
            _ => None,
        }
    }

    fn member(&self, key: &str) -> Option<Held<'j>> {
        match self {
            Held::Json(Cow::Borrowed(Json::Object(members))) => {
                Some(members.get(key).map_or(NONE, |member| Held::Json(Cow::Borrowed(member))))
            }
            none if none.is_none() => Some(NONE),
            _ => None,
        }
    }

    /// What stands at the end of a path; an absent member is none.
    fn at(&self, path: &[String]) -> Option<Held<'j>> {
        let Some((first, rest)) = path.split_first() else { return Some(self.clone()) };
        let next = match (self, first.parse::<usize>()) {
            (Held::Pair(key, _), Ok(0)) => Held::Text(key),
            (Held::Pair(_, value), Ok(1)) => Held::Json(Cow::Borrowed(*value)),
            (Held::Pair(..), _) => return None,
            (Held::Json(Cow::Borrowed(Json::Array(items))), Ok(place)) => Held::Json(Cow::Borrowed(items.get(place)?)),
            (_, Err(_)) => self.member(first)?,
            _ => return None,
        };
        next.at(rest)
    }

    fn into_json(self) -> Json {
        match self {
            Held::Json(json) => json.into_owned(),
            Held::Text(text) => text.into(),
            Held::Pair(key, value) => Json::Array(vec![key.into(), value.clone()]),
            Held::List(items) => Json::Array(items.into_iter().map(Held::into_json).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Expression, lower};
    use super::*;
    use crate::text::{Location, Span, Spanned};
    use serde_json::json;

    const EXPRESSIONS: &[&str] = &[
        "reply.message is none",
        "reply.calls | selectattr('form', 'eq', 'json') | list | length > 0",
        "'TBD' in (reply.calls | selectattr('action', 'eq', 'x') | map(attribute='params') | list | string)",
        "params.content | items",
        "(state.work[params.t] | default({})).status | default('no') == 'no'",
        "(state.work[params.t] | default({})).content | default({}) | items | selectattr('1') | map(attribute='0') | list",
        "data.names[params.t] | select('in', filled) | list",
        "data.names[params.t] | reject('in', filled) | list",
        "params.m if params.m is not none else [] if params.t == 'a' else (state.work[params.t] | default({})).m | default(data.names[params.t])",
        "state.work | items | selectattr('1.status', 'eq', params.t) | map(attribute='0') | first | default('')",
        "params.t if params.t in state.work else state.sel if state.sel in state.work else state.work | list | first | default('')",
        "filled | length // 2 + (n % 3) * 450 - 1",
        "n < 3 and n >= 1 or not (n > 5)",
        "n == '3'",
        "n == params",
        "params.t != n",
        "params.nope.deeper is none",
        "params.t is startingwith('a')",
        "state.work | items | rejectattr('1.content') | list | length",
        "filled | items",
        "n | length",
        "n in n",
        "nowhere == 1",
        "'a' in filled and 'b' in params.t",
        "params.t in 'cab'",
        "filled | string",
        "n | string",
        "state | string",
        "state.work | items | list | string",
        "none in state.work",
        "[n, params.t]",
        "filled | first",
        "params | list",
        "n.x.y",
        "(n | default(1)).x",
        "1.5 + n",
        "n // 0",
        "-7 % 3",
        "true == 1",
        "filled | map(attribute='x') | list",
        "state.work | selectattr('1') | list",
        "state.pairs | selectattr('0', 'eq', 'a') | map(attribute='1') | list",
        "state.pairs | map(attribute='5') | list",
    ];

    fn scopes() -> Vec<Json> {
        vec![
            json!({
                "reply": { "message": null, "calls": [] }, "n": 4, "filled": ["a", "c"],
                "params": { "t": "a", "content": { "x": "1", "y": "" }, "m": null },
                "state": {
                    "work": { "a": { "status": "a", "content": { "x": "", "y": [1], "z": "t" } }, "b": { "status": "no" } },
                    "sel": "b", "pairs": [["a", 1], ["b", 2], ["a", { "k": 3 }]]
                },
                "data": { "names": { "a": ["a", "b", "c"] } },
            }),
            json!({
                "reply": { "message": "hi", "calls": [{ "form": "json", "action": "x", "params": { "a": "TBD" } }, { "form": "tags" }] },
                "n": 0, "filled": [], "params": { "t": "zz", "m": ["q"] }, "state": { "work": {}, "sel": "", "pairs": [] },
                "data": { "names": {} },
            }),
            json!({
                "reply": null, "n": 2.5, "filled": null, "params": null, "data": null,
                "state": { "work": { "": { "status": 1 } }, "sel": 3, "pairs": [{ "0": "a" }, 3, "ab"] },
            }),
            json!({
                "reply": { "calls": 3 }, "n": true, "filled": [1, null, "a"], "params": { "t": 7, "content": [] }, "data": {},
                "state": { "work": [["k", { "status": 7 }]], "pairs": [[], ["a"]] },
            }),
            json!({
                "reply": { "message": "", "calls": [[]] }, "n": -3, "filled": "text", "params": { "t": true, "content": "c" },
                "state": {}, "data": { "names": { "a": "abc" } },
            }),
        ]
    }

    #[test]
    fn quick_values_are_those_of_the_engine() {
        let mut quick_ones = 0;
        for text in EXPRESSIONS {
            let at = Location::response(Span::new(0, text.len()));
            let Ok(expression) = Expression::parse(&Spanned::new((*text).to_owned(), at)) else { panic!("{text}") };
            let lowered = lower::expression(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            for names in scopes() {
                let mut scope = Scope::new();
                for (name, value) in names.as_object().into_iter().flatten() {
                    scope.add(name, value);
                }
                if let Some(quick) = value(&lowered, &scope) {
                    quick_ones += 1;
                    assert_eq!(Ok(&quick), expression.slow_value(&scope).as_ref(), "{text} in {names}");
                    assert_eq!(holds(&lowered, &scope), Some(is_true(&quick)), "{text} in {names}");
                }
            }
        }
        assert!(quick_ones > 60, "{quick_ones}");
    }
}
