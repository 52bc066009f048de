//! Expressions: which source does the engine run for an expression?
//!
//! In: the syntax tree of an expression, or of a template that contains some.
//! Out: [`Lowered`]: the same in Jinja, with every read and constant numbered and every operand guarded.
//! Never: copies a word of the author into that source, except for known filters and tests.

use super::{Code, Lower, bounded, member_of_entries, span};
use crate::diagnostic::{self, alternatives, bad_pattern_words};
use crate::expression::Fault;
use crate::expression::filters;
use crate::expression::lowered::{Form, Lowered, Piece};
use crate::expression::matching::{self, Pattern};
use crate::expression::quick::{self, Loop, Quick};
use crate::expression::resolve::{Read, Step};
use crate::text::Span;
use minijinja::Value as Jinja;
use minijinja::machinery;
use minijinja::machinery::ast::{
    BinOp, BinOpKind, Call, CallArg, Compare, CompareOpKind, Expr, Filter, Slice, Stmt, Test, UnaryOpKind,
};
use std::fmt::Write as _;

/// Lowers an expression.
pub(in crate::expression) fn expression(source: &str) -> Result<Lowered, Fault> {
    bounded(source, true)?;
    let tree = machinery::parse_expr(source).map_err(|error| Fault::of(&error, source))?;
    let mut lower = Lower::new(source);
    let form = lower.value(&tree)?;
    Ok(Lowered { path: lower.leads(&tree), ..lower.finish(form) })
}

/// Lowers a template.
pub(in crate::expression) fn template(source: &str) -> Result<Lowered, Fault> {
    bounded(source, false)?;
    let tree = machinery::parse(source, "template", filters::syntax());
    let tree = tree.map_err(|error| Fault::of_template(&error, source))?;
    let Stmt::Template(tree) = &tree else { return Err(Fault::new(0..source.len(), "this is not a template")) };
    let mut lower = Lower::new(source);
    let form = match tree.children.as_slice() {
        [Stmt::EmitExpr(only)] => {
            let form = lower.value(&only.expr)?;
            return Ok(Lowered { path: lower.leads(&only.expr), ..lower.finish(form) });
        }
        children => match lower.pieces(children)? {
            Some(pieces) => Form::Plain(pieces),
            None => {
                let mut out = String::new();
                let page = lower.statements(children, &mut out)?;
                Form::Text(out, page)
            }
        },
    };
    Ok(lower.finish(form))
}

impl<'s> Lower<'s> {
    fn value(&mut self, tree: &Expr<'s>) -> Result<Form, Fault> {
        Ok(match self.read(tree) {
            Some(read) => Form::Read(read),
            None => {
                let code = self.expr(tree)?;
                Form::Value(code, self.quick(tree))
            }
        })
    }

    fn pieces(&mut self, children: &[Stmt<'s>]) -> Result<Option<Vec<Piece>>, Fault> {
        let piece = |child: &Stmt<'s>| match child {
            Stmt::EmitRaw(raw) => Some(Piece::Text(raw.raw.to_owned())),
            Stmt::EmitExpr(emit) => self.read(&emit.expr).map(Piece::Read),
            _ => None,
        };
        Ok(children.iter().map(piece).collect())
    }

    /// The quick form of an expression, if it has one.
    pub(super) fn quick(&mut self, tree: &Expr<'s>) -> Option<Quick> {
        Quick::of(tree, &mut |tree| match tree {
            Expr::Var(var) if var.id == "loop" => None,
            Expr::Var(var) if self.is_local(var.id) => Some(Quick::Local(self.name(var.id))),
            Expr::GetAttr(get) if matches!(&get.expr, Expr::Var(var) if var.id == "loop") => {
                Loop::of(get.name).map(Quick::Loop)
            }
            other => self.read(other).map(Quick::Read),
        })
    }

    /// The number of a read, if `tree` is a path whose keys are constants, or paths themselves.
    pub(super) fn read(&mut self, tree: &Expr<'s>) -> Option<usize> {
        let read = self.path(tree)?;
        Some(self.number(read))
    }

    fn path(&mut self, tree: &Expr<'s>) -> Option<Read> {
        match tree {
            Expr::Var(var) if self.is_local(var.id) => None,
            Expr::Var(var) => {
                Some(Read { at: span(tree), file: self.own_file(), name: var.id.to_owned(), steps: Vec::new() })
            }
            Expr::GetAttr(get) => {
                let mut read = self.path(&get.expr)?;
                read.at = read.at.to(span(tree));
                read.steps.push(Step::Key(get.name.to_owned()));
                Some(read)
            }
            Expr::GetItem(get) => {
                let mut read = self.path(&get.expr)?;
                read.at = read.at.to(span(tree));
                read.steps.push(match &get.subscript_expr {
                    Expr::Const(key) => match key.value.as_str() {
                        Some(key) => Step::Key(key.to_owned()),
                        None if key.value.is_integer() => Step::Place(i64::try_from(key.value.clone()).ok()?),
                        None => return None,
                    },
                    other => Step::Of(self.read(other)?),
                });
                Some(read)
            }
            Expr::Filter(filter) if matches!(filter.name, "length" | "count") && filter.args.is_empty() => {
                let mut read = self.path(filter.expr.as_ref()?)?;
                read.steps.push(Step::Length);
                Some(read)
            }
            _ => None,
        }
    }

    /// The code of an expression: a primary, maybe with filters, so that `|` and `is` may follow.
    pub(super) fn expr(&mut self, tree: &Expr<'s>) -> Code {
        if let Some(read) = self.read(tree) {
            // Outside of loops, a read is evaluated once, and weighed when it is converted; in a loop, weigh it each time.
            return Ok(if self.locals.len() > 1 { format!("r{read}|weigh") } else { format!("r{read}") });
        }
        self.look(tree, tree, None);
        Ok(match tree {
            Expr::Var(var) if var.id == "loop" => "loop".to_owned(),
            Expr::Var(var) => format!("l_{}|weigh", var.id),
            Expr::Const(value) => self.constant(value.value.clone()),
            Expr::GetAttr(get) => {
                let key = self.constant(get.name.parse::<u32>().map_or_else(|_| get.name.into(), Jinja::from));
                format!("({})[{key}]|weigh", self.holder(&get.expr)?)
            }
            Expr::GetItem(get) => format!("({})[{}]|weigh", self.holder(&get.expr)?, self.expr(&get.subscript_expr)?),
            Expr::Slice(slice) => self.slice(slice)?,
            Expr::UnaryOp(unary) => match unary.op {
                UnaryOpKind::Not => format!("(not {})", self.expr(&unary.expr)?),
                UnaryOpKind::Neg => format!("(-({}|number))", self.expr(&unary.expr)?),
            },
            Expr::BinOp(op) => self.operation(op)?,
            Expr::Compare(compare) => self.comparisons(compare)?,
            Expr::IfExpr(choice) => {
                let then = self.expr(&choice.true_expr)?;
                let test = self.expr(&choice.test_expr)?;
                let other = match &choice.false_expr {
                    Some(other) => self.expr(other)?,
                    None => "none".to_owned(),
                };
                format!("({then} if {test} else {other})")
            }
            Expr::Filter(filter) => self.filter(tree, filter)?,
            Expr::Test(test) => self.test(tree, test)?,
            Expr::Call(call) => self.call(tree, call)?,
            Expr::List(list) => format!("[{}]|weigh", self.all(&list.items)?),
            Expr::Tuple(tuple) => format!("[{}]|weigh", self.all(&tuple.items)?),
            Expr::Map(map) => {
                let mut code = String::from("{");
                for (key, value) in map.keys.iter().zip(&map.values) {
                    let _ = write!(code, "({}): ({}),", self.expr(key)?, self.expr(value)?);
                }
                code + "}|weigh"
            }
        })
    }

    fn slice(&mut self, slice: &Slice<'s>) -> Code {
        let base = self.expr(&slice.expr)?;
        let mut bound = |bound: &Option<Expr<'s>>, filter: &str| match bound {
            Some(bound) => Ok(format!("({}|{filter})", self.expr(bound)?)),
            None => Ok(String::new()),
        };
        let start = bound(&slice.start, "bound")?;
        let stop = bound(&slice.stop, "bound")?;
        let step = bound(&slice.step, "stride")?;
        Ok(format!("({base})[{start}:{stop}:{step}]|weigh"))
    }

    /// The code of a chain such as `a < b < c`: each pair of neighbours is compared.
    fn comparisons(&mut self, compare: &Compare<'s>) -> Code {
        let (mut left, mut before) = (self.expr(&compare.expr)?, &compare.expr);
        let mut parts = Vec::new();
        for op in &compare.ops {
            let right = self.expr(&op.expr)?;
            parts.push(self.comparison(op.op, (before, &left), (&op.expr, &right)));
            (left, before) = (right, &op.expr);
        }
        Ok(format!("({})", parts.join(" and ")))
    }

    fn test(&mut self, tree: &Expr<'s>, test: &Test<'s>) -> Code {
        let Some(name) = filters::predicates().find(|known| *known == test.name) else {
            return Err(self.unknown(tree, test.name, "test", filters::predicates()));
        };
        if let [CallArg::Pos(other)] = test.args.as_slice() {
            self.compare_by(name, &test.expr, other);
        }
        let pattern = (name == matching::TEST).then_some(0);
        Ok(format!("({} is {name}({}))", self.expr(&test.expr)?, self.args(tree, &test.args, pattern)?))
    }

    /// The code of `range`, the only function; other calls are refused, with the filter to write instead.
    fn call(&mut self, tree: &Expr<'s>, call: &Call<'s>) -> Code {
        let args = call.args.iter().map(positional);
        match &call.expr {
            Expr::Var(var) if var.id == "range" => Ok(format!("range({})|weigh", self.args(tree, &call.args, None)?)),
            Expr::Var(var) => {
                let fault = self.unknown(tree, var.id, "function", ["range"]);
                let help = self.as_filter(var.id, args);
                Err(Fault { help: help.or(fault.help), ..fault })
            }
            method => {
                let help = match method {
                    Expr::GetAttr(get) => self.as_filter(get.name, std::iter::once(Some(&get.expr)).chain(args)),
                    _ => None,
                };
                let general = || "filters do what methods do elsewhere: `name | upper`".to_owned();
                Err(self.refuse(tree, "values have no methods").help(help.unwrap_or_else(general)))
            }
        }
    }

    fn operation(&mut self, op: &BinOp<'s>) -> Code {
        let (left, right) = (self.expr(&op.left)?, self.expr(&op.right)?);
        if let Some(kind) = quick::comparison(op.op) {
            return Ok(format!("({})", self.comparison(kind, (&op.left, &left), (&op.right, &right))));
        }
        Ok(match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let word = if matches!(op.op, BinOpKind::ScAnd) { "and" } else { "or" };
                // A long chain stays flat: each pair of parentheses is a level of the parser's.
                let flat = matches!(&op.left, Expr::BinOp(inner) if sign(inner.op) == word);
                let inner = left.strip_prefix('(').and_then(|left| left.strip_suffix(')')).filter(|_| flat);
                format!("({} {word} {right})", inner.unwrap_or(&left))
            }
            BinOpKind::Concat => format!("({left} ~ {right})|weigh"),
            BinOpKind::Add => format!("({left}|plus + {right}|plus)|weigh"),
            other => format!("({left}|number {} {right}|number)", sign(other)),
        })
    }

    /// The code of a comparison, given the code of both sides.
    fn comparison(
        &mut self,
        kind: CompareOpKind,
        (one, left): (&Expr<'s>, &str),
        (other, right): (&Expr<'s>, &str),
    ) -> String {
        match kind {
            CompareOpKind::Eq | CompareOpKind::Ne => self.compare(one, other),
            CompareOpKind::In | CompareOpKind::NotIn => self.compare_among(one, other),
            _ => {}
        }
        let test = match kind {
            CompareOpKind::Eq => "eq",
            CompareOpKind::Ne => "ne",
            CompareOpKind::Lt => "lt",
            CompareOpKind::Lte => "le",
            CompareOpKind::Gt => "gt",
            CompareOpKind::Gte => "ge",
            CompareOpKind::In => "in",
            CompareOpKind::NotIn => "not in",
        };
        format!("{left} is {test}({right})")
    }

    fn filter(&mut self, tree: &Expr<'s>, filter: &Filter<'s>) -> Code {
        let Some(before) = &filter.expr else { return Err(self.refuse(tree, "a filter needs something before it")) };
        let base = self.expr(before)?;
        let Some(known) = filters::filters().find(|known| *known == filter.name) else {
            return Err(self.unknown(tree, filter.name, "filter", filters::filters()));
        };
        let pattern = self.named(tree, known, &filter.args)?;
        if let Some((arg, member)) = member_of_entries(known, &filter.args) {
            self.look(before, arg, Some(member));
            self.compare_entries(before, member, &filter.args);
        }
        Ok(format!("{base}{}|{known}({})|weigh", filters::guard_of(known), self.args(tree, &filter.args, pattern)?))
    }

    /// The code of a value of which only a part is used: the part is weighed, not the whole value.
    fn holder(&mut self, tree: &Expr<'s>) -> Code {
        let code = self.expr(tree)?;
        let is_looked_into = matches!(tree, Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_));
        Ok(code.strip_suffix("|weigh").filter(|_| is_looked_into).map(str::to_owned).unwrap_or(code))
    }

    fn all(&mut self, items: &[Expr<'s>]) -> Code {
        let items: Result<Vec<_>, _> = items.iter().map(|item| self.expr(item)).collect();
        Ok(items?.join(", "))
    }

    /// The code of arguments; the one at index `pattern` is a pattern.
    fn args(&mut self, tree: &Expr<'s>, args: &[CallArg<'s>], pattern: Option<usize>) -> Code {
        if pattern.is_some_and(|place| place + 1 != args.len()) {
            return Err(self.refuse(tree, &format!("`{}` takes one pattern in quotes", matching::TEST)));
        }
        let mut codes = Vec::new();
        for (place, arg) in args.iter().enumerate() {
            codes.push(match arg {
                CallArg::Pos(value) if pattern == Some(place) => self.pattern(value)?,
                CallArg::Pos(value) => self.expr(value)?,
                CallArg::Kwarg(name, value) => format!("{name}={}", self.expr(value)?),
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                    return Err(self.refuse(tree, "arguments are written out one by one"));
                }
            });
        }
        Ok(codes.join(", "))
    }

    /// The code of a pattern, which is compiled now and not when it is evaluated.
    fn pattern(&mut self, tree: &Expr<'s>) -> Code {
        let text = match tree {
            Expr::Const(text) => text.value.as_str(),
            _ => None,
        };
        let Some(text) = text else { return Err(self.refuse(tree, "a pattern is written in quotes")) };
        match Pattern::new(text) {
            Ok(pattern) => Ok(self.constant(Jinja::from_object(pattern))),
            Err(error) => {
                let (message, help) = bad_pattern_words(&error);
                Err(Fault { code: diagnostic::Code::PACK_PATTERN, ..self.refuse(tree, &message).help(help.to_owned()) })
            }
        }
    }

    /// Checks the filters and tests whose names are arguments: each must exist, and must not iterate itself. Returns
    /// the index of the argument that is a pattern, if one is.
    fn named(&self, tree: &Expr<'s>, filter: &str, args: &[CallArg<'s>]) -> Result<Option<usize>, Fault> {
        let nth = match filter {
            "map" | "select" | "reject" => 0,
            "selectattr" | "rejectattr" => 1,
            _ => return Ok(None),
        };
        let name = match args.get(nth) {
            Some(CallArg::Pos(Expr::Const(name))) => name.value.as_str(),
            Some(CallArg::Pos(_)) => None,
            _ => return Ok(None),
        };
        match name {
            None => Err(self.refuse(tree, &format!("`{filter}` takes a name in quotes"))),
            Some(name) if filter != "map" => match filters::predicates().any(|known| known == name) {
                true => Ok((name == matching::TEST).then_some(nth + 1)),
                false => Err(self.unknown(tree, name, "test", filters::predicates())),
            },
            Some(name) => match filters::filters().find(|known| *known == name) {
                Some(known) if filters::guard_of(known) == filters::EACH => {
                    Err(self.refuse(tree, &format!("`map` cannot apply `{name}`, which goes through lists itself")))
                }
                Some(_) => Ok(None),
                None => Err(self.unknown(tree, name, "filter", filters::filters())),
            },
        }
    }

    /// The filter or other form to write instead of a function or method of this name in other languages.
    fn as_filter<'t>(&self, name: &str, args: impl Iterator<Item = Option<&'t Expr<'s>>>) -> Option<String>
    where
        's: 't,
    {
        const LONGEST: usize = 40;
        let typed = |tree: &'t Expr<'s>| whole(tree).of(self.source);
        let args: Option<Vec<&str>> = args.map(|arg| arg.map(typed).filter(|arg| arg.len() <= LONGEST)).collect();
        let args = args?;
        match (name, args.as_slice()) {
            ("now", []) => Some("say `now`, without parentheses".to_owned()),
            ("len" | "size", [value]) => Some(format!("say `{value} | length`")),
            ("str", [value]) => Some(format!("say `{value} | string`")),
            ("strip", [value]) => Some(format!("say `{value} | trim`")),
            ("toLowerCase" | "to_lower", [value]) => Some(format!("say `{value} | lower`")),
            ("toUpperCase" | "to_upper", [value]) => Some(format!("say `{value} | upper`")),
            ("contains" | "includes" | "has", [value, part]) => Some(format!("say `{part} in {value}`")),
            ("startswith" | "startsWith" | "starts_with", [value, part]) => {
                Some(format!("say `{value} is startingwith({part})`"))
            }
            ("endswith" | "endsWith" | "ends_with", [value, part]) => {
                Some(format!("say `{value} is endingwith({part})`"))
            }
            ("get", [value, key]) => Some(format!("say `{value}[{key}]`: it is `none` where there is no such member")),
            (_, [value, others @ ..]) => {
                let known = filters::filters().find(|known| *known == name)?;
                let others = if others.is_empty() { String::new() } else { format!("({})", others.join(", ")) };
                Some(format!("say `{value} | {known}{others}`"))
            }
            _ => None,
        }
    }

    pub(super) fn refuse(&self, tree: &Expr<'s>, message: &str) -> Fault {
        Fault::new(span(tree), message)
    }

    fn unknown<'n>(&self, tree: &Expr<'s>, name: &str, what: &str, known: impl IntoIterator<Item = &'n str>) -> Fault {
        let whole = span(tree);
        let found = whole.of(self.source).find(name).map(|at| whole.start + at);
        let span = found.map_or(whole, |at| Span::new(at, at + name.len()));
        let known: Vec<&str> = known.into_iter().filter(|name| !name.contains(['<', '>', '='])).collect();
        Fault::new(span, format!("there is no {what} `{name}`")).help(alternatives(name, known))
    }
}

fn positional<'t, 's>(arg: &'t CallArg<'s>) -> Option<&'t Expr<'s>> {
    match arg {
        CallArg::Pos(value) => Some(value),
        _ => None,
    }
}

/// The span of a tree, including everything before its last step.
fn whole(tree: &Expr<'_>) -> Span {
    match tree {
        Expr::GetAttr(get) => whole(&get.expr).to(span(tree)),
        Expr::GetItem(get) => whole(&get.expr).to(span(tree)),
        Expr::Filter(filter) => filter.expr.as_ref().map_or(span(tree), |before| whole(before).to(span(tree))),
        _ => span(tree),
    }
}

/// The sign of an operator.
pub(in crate::expression) fn sign(op: BinOpKind) -> &'static str {
    match op {
        BinOpKind::ScAnd => "and",
        BinOpKind::ScOr => "or",
        BinOpKind::Sub => "-",
        BinOpKind::Mul => "*",
        BinOpKind::Div => "/",
        BinOpKind::FloorDiv => "//",
        BinOpKind::Rem => "%",
        BinOpKind::Pow => "**",
        _ => "",
    }
}
