//! Compiling: which code does an expression become?
//!
//! In: the text of an expression or template.
//! Out: [`Compiled`]; a [`Fault`] for what does not exist, with the help for it.
//! Never: evaluates.

use super::code::{Asked, Body, Code, Compared, Compiled, Look, Select, TURNS};
use super::filters::{FILTERS, Filter, Takes};
use super::matching::{self, Pattern};
use super::pages::Paper;
use super::predicates::{TESTS, Test};
use super::resolve::{Read, Step};
use super::syntax::{Arg, Call, Expr, Kind, Relation, Stmt, Word};
use super::token::Syntax;
use super::{Fault, parse};
use crate::diagnostic::alternatives;
use crate::text::{SourceId, Span};
use crate::value::Value;

/// Compiles an expression.
pub(super) fn expression(source: &str) -> Result<Compiled, Fault> {
    let tree = parse::expression(source)?;
    let mut compiler = Compiler::new(source);
    let code = compiler.code(&tree)?;
    let path = compiler.origin(&tree);
    Ok(Compiled { path, ..compiler.finish(Body::Value(code)) })
}

/// Compiles a template.
pub(super) fn template(source: &str) -> Result<Compiled, Fault> {
    let statements = parse::statements(source, Syntax::Template)?;
    let mut compiler = Compiler::new(source);
    if let [Stmt::Print(only)] = statements.as_slice() {
        let code = compiler.code(only)?;
        let path = compiler.origin(only);
        return Ok(Compiled { path, ..compiler.finish(Body::Value(code)) });
    }
    let page = compiler.page(&statements)?;
    Ok(compiler.finish(Body::Text(page)))
}

/// A text being compiled.
pub(super) struct Compiler<'s> {
    pub(super) source: &'s str,
    reads: Vec<Read>,
    pub(super) looks: Vec<Look>,
    pub(super) compared: Vec<Compared>,
    /// The names bound by statements, one list per `for`.
    pub(super) locals: Vec<Vec<&'s str>>,
    /// Each bound name once.
    names: Vec<&'s str>,
    /// Every visible binding of a local name.
    pub(super) bindings: Vec<Binding<'s>>,
    /// What a document needs besides.
    pub(super) paper: Option<Paper<'s>>,
}

/// A name bound by a statement.
pub(super) struct Binding<'s> {
    pub(super) name: &'s str,
    /// Whether its value never comes from a user.
    pub(super) own: bool,
    /// The path of its value, if it has one.
    pub(super) path: Option<Vec<String>>,
}

type Coded = Result<Code, Fault>;

impl<'s> Compiler<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            reads: Vec::new(),
            looks: Vec::new(),
            compared: Vec::new(),
            locals: vec![Vec::new()],
            names: Vec::new(),
            bindings: Vec::new(),
            paper: None,
        }
    }

    pub(super) fn finish(self, body: Body) -> Compiled {
        let Self { reads, looks, compared, .. } = self;
        Compiled { body, reads, looks, compared, path: None }
    }

    /// The file being compiled, if it is not the current text.
    pub(super) fn own_file(&self) -> Option<SourceId> {
        self.paper.as_ref()?.file
    }

    /// The number of a name bound by a statement.
    pub(super) fn name(&mut self, name: &'s str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// Whether a statement around this place binds the name.
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.locals.iter().flatten().any(|local| *local == name)
    }

    /// The number of a read, if `tree` is a path whose keys are constants, or paths themselves. Equal reads share one.
    fn read(&mut self, tree: &Expr<'s>) -> Option<usize> {
        let read = self.path(tree)?;
        let known = self.reads.iter().position(|known| known.name == read.name && known.steps == read.steps);
        Some(known.unwrap_or_else(|| {
            self.reads.push(read);
            self.reads.len() - 1
        }))
    }

    fn path(&mut self, tree: &Expr<'s>) -> Option<Read> {
        let (inside, step) = match &tree.kind {
            Kind::Name(name) if self.is_local(name) => return None,
            Kind::Name(name) => {
                return Some(Read {
                    at: tree.span,
                    file: self.own_file(),
                    name: (*name).to_owned(),
                    steps: Vec::new(),
                });
            }
            Kind::Member(base, key) => (base, Step::Key(key.text.to_owned())),
            Kind::Item(parts) => {
                let [base, key] = &**parts;
                let mut read = self.path(base)?;
                read.at = read.at.to(tree.span);
                read.steps.push(match key.constant() {
                    Some(Value::String(key)) => Step::Key((**key).to_owned()),
                    Some(key) => Step::Place(key.as_i64()?),
                    None => Step::Of(self.read(key)?),
                });
                return Some(read);
            }
            Kind::Filter(call) if matches!(call.name.text, "length" | "count") && call.args.is_empty() => {
                let mut read = self.path(&call.base)?;
                read.steps.push(Step::Length);
                return Some(read);
            }
            _ => return None,
        };
        let mut read = self.path(inside)?;
        read.at = read.at.to(tree.span);
        read.steps.push(step);
        Some(read)
    }

    pub(super) fn code(&mut self, tree: &Expr<'s>) -> Coded {
        if let Some(read) = self.read(tree) {
            return Ok(Code::Read(read));
        }
        self.look(tree, tree.span, None);
        Ok(match &tree.kind {
            Kind::Name("loop") => {
                return Err(Fault::new(tree.span, "`loop` is used with one of its members")
                    .help(alternatives("", TURNS.map(|(name, _)| name).to_vec())));
            }
            Kind::Name(name) => Code::Local(self.name(name)),
            Kind::Const(value) => Code::Constant(value.clone()),
            Kind::Member(base, key) if base.name() == Some("loop") => {
                let known = TURNS.iter().find(|(name, _)| *name == key.text);
                let names = TURNS.map(|(name, _)| name);
                let turn = known.ok_or_else(|| unknown(*key, "member of `loop`", names))?;
                Code::Loop(turn.1)
            }
            Kind::Member(base, key) => Code::Item(Box::new([self.code(base)?, Code::Constant(key.text.into())])),
            Kind::Item(parts) => Code::Item(self.pair(parts)?),
            Kind::Slice(base, bounds) => {
                let base = Box::new(self.code(base)?);
                let mut codes = [None, None, None];
                for (code, bound) in codes.iter_mut().zip(bounds.iter()) {
                    *code = bound.as_ref().map(|bound| self.code(bound)).transpose()?;
                }
                Code::Slice(base, Box::new(codes))
            }
            Kind::Not(inner) => Code::Not(Box::new(self.code(inner)?)),
            Kind::Negative(inner) => Code::Negative(Box::new(self.code(inner)?)),
            Kind::And(parts) => Code::And(self.codes(parts)?),
            Kind::Or(parts) => Code::Or(self.codes(parts)?),
            Kind::Concat(parts) => Code::Concat(self.codes(parts)?),
            Kind::Calculation(operator, sides) => Code::Calculation(*operator, self.pair(sides)?),
            Kind::Comparison(relation, sides) => {
                let [one, other] = &**sides;
                self.compare(*relation, one, other);
                Code::Relation(*relation, self.pair(sides)?)
            }
            Kind::Chain(first, rest) => {
                let (start, mut before) = (Box::new(self.code(first)?), &**first);
                let mut codes = Vec::new();
                for (relation, next) in rest {
                    self.compare(*relation, before, next);
                    codes.push((*relation, self.code(next)?));
                    before = next;
                }
                Code::Chain(start, codes.into())
            }
            Kind::Choice(choice) => {
                let (then, test) = (self.code(&choice.then)?, self.code(&choice.test)?);
                let other = choice.other.as_ref().map(|other| self.code(other)).transpose()?;
                Code::Choice(Box::new([test, then, other.unwrap_or(Code::Constant(Value::Null))]))
            }
            Kind::Filter(call) => self.filter(tree, call)?,
            Kind::Test(call) => {
                let name = call.name;
                let Some(test) = Test::of(name.text) else { return Err(unknown(name, "test", tests())) };
                if let (Some(relation), [Arg { name: None, value }]) = (test.relation, call.args.as_slice()) {
                    self.compare(relation, &call.base, value);
                }
                let base = Box::new(self.code(&call.base)?);
                Code::Test(base, self.asked(test, &call.args, call.own(tree.span))?)
            }
            Kind::Call(base, args) => self.call(tree, base, args)?,
            Kind::List(items) => Code::List(self.codes(items)?),
            Kind::Table(members) => {
                let members = members.iter().map(|[key, value]| Ok([self.code(key)?, self.code(value)?]));
                Code::Table(members.collect::<Result<_, Fault>>()?)
            }
        })
    }

    fn codes(&mut self, parts: &[Expr<'s>]) -> Result<Box<[Code]>, Fault> {
        parts.iter().map(|part| self.code(part)).collect()
    }

    fn pair(&mut self, [one, other]: &[Expr<'s>; 2]) -> Result<Box<[Code; 2]>, Fault> {
        Ok(Box::new([self.code(one)?, self.code(other)?]))
    }

    fn filter(&mut self, tree: &Expr<'s>, call: &Call<'s>) -> Coded {
        let Some(filter) = Filter::of(call.name.text) else { return Err(unknown(call.name, "filter", filters())) };
        if let Some(arg) = member_of_entries(filter.name, &call.args)
            && let Some(member) = arg.text()
        {
            self.look(&call.base, arg.span, Some(member));
            self.compare_entries(&call.base, member, &call.args);
        }
        let own = call.own(tree.span);
        match filter.name {
            "map" => self.map(call, own),
            "select" | "reject" | "selectattr" | "rejectattr" => self.select(call, own),
            _ => {
                let base = Box::new(self.code(&call.base)?);
                Ok(Code::Filter(filter, base, self.bound(filter, &call.args, own)?))
            }
        }
    }

    /// The code of the arguments of a filter, in its order.
    fn bound(&mut self, filter: &'static Filter, args: &[Arg<'s>], own: Span) -> Result<Box<[Code]>, Fault> {
        let mut codes: Vec<Option<Code>> = filter.args.iter().map(|_| None).collect();
        let refuse = |at: Span, message: String| Err(Fault::new(at, message));
        for (number, arg) in args.iter().enumerate() {
            let place = match arg.name {
                None if filter.takes_many() => {
                    codes.push(None);
                    number
                }
                None if number < filter.ordered => number,
                None if filter.args.is_empty() => {
                    return refuse(arg.value.span, format!("`{}` takes no arguments", filter.name));
                }
                None if number < filter.args.len() => {
                    let message = format!("`{}` takes this argument with its name", filter.name);
                    let names = filter.args.join("=…`, `");
                    return Err(Fault::new(arg.value.span, message).help(format!("its arguments are `{names}=…`")));
                }
                None => return refuse(arg.value.span, format!("too many arguments for `{}`", filter.name)),
                Some(name) => match filter.args.iter().position(|known| *known == name.text) {
                    Some(place) => place,
                    None => return Err(unknown(name, "argument", filter.args.iter().copied())),
                },
            };
            let code = self.code(&arg.value)?;
            if let Some(slot) = codes.get_mut(place)
                && slot.replace(code).is_some()
            {
                return refuse(arg.value.span, "this argument is given twice".to_owned());
            }
        }
        if let Some(missing) = (0..filter.needs).find(|place| codes.get(*place).is_none_or(Option::is_none)) {
            let name = filter.args.get(missing).copied().unwrap_or_default();
            return refuse(own, format!("`{}` needs the argument `{name}`", filter.name));
        }
        Ok(codes.into_iter().map(|code| code.unwrap_or(Code::Constant(Value::Null))).collect())
    }

    fn map(&mut self, call: &Call<'s>, own: Span) -> Coded {
        let base = self.code(&call.base)?;
        let Some((first, rest)) = call.args.split_first().filter(|(first, _)| first.name.is_none()) else {
            let Some(map) = Filter::of("map") else { return Ok(base) };
            let names_one = |arg: &Arg<'s>| arg.name.is_some_and(|name| name.text == "attribute");
            if !call.args.iter().any(names_one) {
                return Err(Fault::new(own, "`map` takes the name of a filter, or `attribute`"));
            }
            let args = self.bound(map, &call.args, own)?;
            let mut args = args.into_vec().into_iter();
            let mut next = || args.next().unwrap_or(Code::Constant(Value::Null));
            return Ok(Code::Attribute(Box::new([base, next(), next()])));
        };
        let Some(name) = quoted(&first.value) else {
            return Err(Fault::new(own, "`map` takes a name in quotes"));
        };
        let Some(filter) = Filter::of(name.text) else { return Err(unknown(name, "filter", filters())) };
        if filter.takes == Takes::Each {
            let message = format!("`map` cannot apply `{}`, which goes through lists itself", name.text);
            return Err(Fault::new(own, message));
        }
        if let Some(named) = rest.iter().find_map(|arg| arg.name) {
            let message = format!("`map` takes the arguments of `{}` in their order, without names", name.text);
            return Err(Fault::new(named.span, message));
        }
        let args = self.bound(filter, rest, own)?;
        Ok(Code::Map(Box::new(base), filter, args))
    }

    fn select(&mut self, call: &Call<'s>, own: Span) -> Coded {
        let filter = call.name.text;
        let items = self.code(&call.base)?;
        if call.args.iter().any(|arg| arg.name.is_some()) {
            return Err(Fault::new(own, format!("`{filter}` takes its arguments without names")));
        }
        let (path, rest) = match (filter, call.args.split_first()) {
            ("select" | "reject", _) => (None, call.args.as_slice()),
            (_, Some((path, rest))) => (Some(self.code(&path.value)?), rest),
            (_, None) => return Err(Fault::new(own, format!("`{filter}` needs the name of a member"))),
        };
        let asked = match rest.split_first() {
            None => Asked::IsTrue,
            Some((name, args)) => {
                let Some(name) = quoted(&name.value) else {
                    return Err(Fault::new(own, format!("`{filter}` takes a name in quotes")));
                };
                let Some(test) = Test::of(name.text) else { return Err(unknown(name, "test", tests())) };
                self.asked(test, args, own)?
            }
        };
        Ok(Code::Select(Box::new(Select { items, path, asked, wanted: filter.starts_with("select") })))
    }

    /// A test with its argument; a pattern is compiled now and not when it is evaluated.
    fn asked(&mut self, test: &'static Test, args: &[Arg<'s>], own: Span) -> Result<Asked, Fault> {
        let refuse = |message: String| Err(Fault::new(own, message));
        match (test.name, args) {
            (matching::TEST, [Arg { name: None, value }]) => Ok(Asked::Matches(Pattern::of(value, self.source)?)),
            (matching::TEST, _) => refuse(format!("`{}` takes one pattern in quotes", matching::TEST)),
            (_, [Arg { name: None, value }]) if test.takes_argument => {
                Ok(Asked::Test(test, Box::new(self.code(value)?)))
            }
            (_, []) if !test.takes_argument => Ok(Asked::Test(test, Box::new(Code::Constant(Value::Null)))),
            (name, _) if test.takes_argument => refuse(format!("`{name}` takes one value")),
            (name, _) => refuse(format!("`{name}` takes no value")),
        }
    }

    /// The code of `range`, the only function; other calls are refused, with the filter to write instead.
    fn call(&mut self, tree: &Expr<'s>, base: &Expr<'s>, args: &[Arg<'s>]) -> Coded {
        let values = args.iter().map(|arg| arg.name.is_none().then_some(&arg.value));
        match &base.kind {
            Kind::Name("range") => {
                let values: Option<Vec<&Expr<'s>>> = values.collect();
                let Some(bounds) = values.filter(|bounds| (1..=3).contains(&bounds.len())) else {
                    return Err(Fault::new(tree.span, "`range` takes one to three numbers"));
                };
                Ok(Code::Range(bounds.into_iter().map(|bound| self.code(bound)).collect::<Result<_, _>>()?))
            }
            Kind::Name(name) => {
                let fault = unknown(Word { text: name, span: base.span }, "function", ["range"]);
                let help = self.as_filter(name, values);
                Err(Fault { help: help.or(fault.help), ..fault })
            }
            Kind::Member(value, name) => {
                let help = self.as_filter(name.text, std::iter::once(Some(&**value)).chain(values));
                let at = Span::new(name.span.start.saturating_sub(1), tree.span.end);
                let general = || "filters do what methods do elsewhere: `name | upper`".to_owned();
                Err(Fault::new(at, "values have no methods").help(help.unwrap_or_else(general)))
            }
            _ => Err(Fault::new(tree.span, "values have no methods")
                .help("filters do what methods do elsewhere: `name | upper`".to_owned())),
        }
    }

    /// The filter or other form to write instead of a function or method of this name in other languages.
    fn as_filter<'t>(&self, name: &str, args: impl Iterator<Item = Option<&'t Expr<'s>>>) -> Option<String>
    where
        's: 't,
    {
        const LONGEST: usize = 40;
        let typed = |tree: &'t Expr<'s>| tree.of(self.source);
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
                let known = Filter::of(name)?.name;
                let others = if others.is_empty() { String::new() } else { format!("({})", others.join(", ")) };
                Some(format!("say `{value} | {known}{others}`"))
            }
            _ => None,
        }
    }
}

/// The names of the filters, in alphabetical order.
pub(super) fn filters() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|filter| filter.name)
}

/// The names of the tests, in alphabetical order.
pub(super) fn tests() -> impl Iterator<Item = &'static str> {
    TESTS.iter().map(|test| test.name)
}

fn unknown<'n>(name: Word<'_>, what: &str, known: impl IntoIterator<Item = &'n str>) -> Fault {
    let known: Vec<&str> = known.into_iter().filter(|name| !name.contains(['<', '>', '='])).collect();
    Fault::new(name.span, format!("there is no {what} `{}`", name.text)).help(alternatives(name.text, known))
}

/// The text of a quoted constant, with its place between the quotes.
fn quoted<'t>(tree: &'t Expr<'_>) -> Option<Word<'t>> {
    let text = tree.text()?;
    let is_plain = tree.span.len() == text.len() + 2;
    let span = if is_plain { Span::new(tree.span.start + 1, tree.span.end - 1) } else { tree.span };
    Some(Word { text, span })
}

/// The argument of a filter that names a member of each entry.
fn member_of_entries<'t, 's>(filter: &str, args: &'t [Arg<'s>]) -> Option<&'t Expr<'s>> {
    let by_place = matches!(filter, "selectattr" | "rejectattr");
    let names = |(number, arg): &(usize, &Arg<'s>)| match arg.name {
        Some(name) => name.text == "attribute",
        None => by_place && *number == 0,
    };
    args.iter().enumerate().filter(names).map(|(_, arg)| &arg.value).find(|value| value.text().is_some())
}

/// Whether two values are compared for being equal.
pub(super) fn is_equality(relation: Relation) -> bool {
    matches!(relation, Relation::Equal | Relation::Unequal)
}
