//! Calls: which filter, test or function is called, and is it called correctly?
//!
//! In: a name and its arguments, as parsed.
//! Out: the [`Operation`] for the tree, with its operands; a [`SyntaxFault`] with a help for a name that does not
//! exist.
//! Never: evaluates.

use super::SyntaxFault;
use super::filters::{FILTERS, Filter, FilterSignature};
use super::matching::{self, ConstantPatterns, MatchPattern};
use super::origins::member_of_entries;
use super::parse::{Arg, Parser, PlacedWord};
use super::predicates::{TESTS, Test};
use super::resolve::ReadStep;
use super::token::Token;
use super::tree::{ExprTree, Operation, Select, TURNS, Tested};
use crate::diagnostic::alternatives;
use crate::text::Span;

/// An operation and its operands.
type Invocation = Result<(Operation, Vec<ExprTree>), SyntaxFault>;

impl<'s> Parser<'s> {
    /// The call of a filter. The path that the filter reads is noted at the index `mark`: before those that were noted
    /// while its base was parsed.
    pub(super) fn filter(
        &mut self,
        base: ExprTree,
        name: PlacedWord<'s>,
        args: Vec<Arg<'s>>,
        mark: usize,
    ) -> Invocation {
        let own = Span::new(name.span.start, self.last.end);
        let Some(filter) = Filter::of(name.text) else { return Err(no_filter(name.text, name.span)) };
        if let Some(member) = member_of_entries(filter.name, &args) {
            self.look(mark, &base, member.span, member.text());
            self.compare_entries(&base, member.text().unwrap_or_default(), &args);
        }
        match (filter.name, base) {
            // `PATH | length` is one step of the path: see [`ReadStep::Length`].
            ("length" | "count", ExprTree { op: Operation::Read(mut read), .. }) if args.is_empty() => {
                read.steps.push(ReadStep::Length);
                Ok((Operation::Read(read), Vec::new()))
            }
            ("map", base) => map(base, args, own),
            (name @ ("select" | "reject" | "selectattr" | "rejectattr"), base) => self.select(name, base, args, own),
            (_, base) => Ok((Operation::Filter(filter), bound(filter, base, args, own)?)),
        }
    }

    pub(super) fn test(&mut self, base: ExprTree, name: PlacedWord<'s>, args: Vec<Arg<'s>>) -> Invocation {
        let own = Span::new(name.span.start, self.last.end);
        let Some(test) = Test::of(name.text) else { return Err(unknown(name, "test", tests())) };
        if let (Some(relation), [Arg { name: None, value }]) = (test.relation, args.as_slice()) {
            self.compare(relation, &base, value);
        }
        let (test, argument) = self.tested(test, args, own)?;
        Ok((Operation::Test(test), std::iter::once(base).chain(argument).collect()))
    }

    /// A test with its argument. A pattern in quotes is validated here, and not when the test is evaluated.
    fn tested(
        &mut self,
        test: &'static Test,
        args: Vec<Arg<'s>>,
        own: Span,
    ) -> Result<(Tested, Option<ExprTree>), SyntaxFault> {
        let takes = match (test.name, args.as_slice()) {
            (matching::TEST, [Arg { name: None, value: ExprTree { op: Operation::Read(read), .. } }])
                if read.is_constant() =>
            {
                self.note_pattern(read);
                return Ok((
                    Tested::MatchesAny(ConstantPatterns::default()),
                    args.into_iter().next().map(|arg| arg.value),
                ));
            }
            (matching::TEST, [Arg { name: None, value }]) => {
                return Ok((Tested::Matches(MatchPattern::of(value, self.source)?), None));
            }
            (_, [Arg { name: None, .. }]) if test.takes_argument => None,
            (_, []) if !test.takes_argument && test.name != matching::TEST => None,
            (matching::TEST, _) => Some("one pattern, in quotes or from `data`"),
            _ if test.takes_argument => Some("one value"),
            _ => Some("no value"),
        };
        match takes {
            None => Ok((Tested::Test(test), args.into_iter().next().map(|arg| arg.value))),
            Some(takes) => Err(SyntaxFault::new(own, format!("`{}` takes {takes}", test.name))),
        }
    }

    fn select(&mut self, filter: &'static str, base: ExprTree, args: Vec<Arg<'s>>, own: Span) -> Invocation {
        let refuse = |message: String| Err(SyntaxFault::new(own, message));
        if args.iter().any(|arg| arg.name.is_some()) {
            return refuse(format!("`{filter}` takes its arguments without names"));
        }
        let (by_member, mut args) = (filter.ends_with("attr"), args.into_iter());
        let path = if by_member { args.next().map(|path| path.value) } else { Some(ExprTree::none()) };
        let Some(path) = path else { return refuse(format!("`{filter}` needs the name of a member")) };
        let (test, argument) = match args.next() {
            None => (Tested::IsTrue, None),
            Some(name) => {
                let Some(name) = quoted(&name.value) else {
                    return refuse(format!("`{filter}` takes a name in quotes"));
                };
                let Some(test) = Test::of(name.text) else { return Err(unknown(name, "test", tests())) };
                self.tested(test, args.collect(), own)?
            }
        };
        let select = Select { by_member, test, wanted: filter.starts_with("select") };
        Ok((Operation::Select(select), vec![base, path, argument.unwrap_or_else(ExprTree::none)]))
    }

    /// Parses the member after `loop`.
    pub(super) fn turn(&mut self) -> Result<Operation, SyntaxFault> {
        let names = || TURNS.to_vec();
        let name = match self.tokens.get(self.at..) {
            // The caller refuses every call, so this operation is never evaluated.
            Some([(Token::Sign("("), _), ..] | [(Token::Sign("."), _), _, (Token::Sign("("), _), ..]) => {
                return Ok(Operation::List);
            }
            Some([(Token::Sign("."), _), (Token::Name(_), _), ..]) => {
                self.next()?;
                self.identifier()?
            }
            _ => return Err(self.fault("`loop` is used with one of its members").help(alternatives("", names()))),
        };
        let known = TURNS.iter().find(|known| **known == name.text);
        known.map(|turn| Operation::Loop(turn)).ok_or_else(|| unknown(name, "member of `loop`", names()))
    }

    /// `range`, the only function; other calls are refused, with the filter to write instead.
    pub(super) fn call(&self, name: Option<PlacedWord<'s>>, span: Span, args: Vec<Arg<'s>>) -> Invocation {
        match name {
            Some(PlacedWord { text: "range", .. }) => {
                if !(1..=3).contains(&args.len()) || args.iter().any(|arg| arg.name.is_some()) {
                    return Err(SyntaxFault::new(span, "`range` takes one to three numbers"));
                }
                Ok((Operation::Range, args.into_iter().map(|arg| arg.value).collect()))
            }
            Some(name) => {
                let fault = unknown(name, "function", ["range"]);
                let help = as_filter(name.text, self.typed(&args));
                Err(SyntaxFault { help: help.or(fault.help), ..fault })
            }
            None => Err(SyntaxFault::new(span, "values have no methods").help(METHODS.to_owned())),
        }
    }

    /// The fault for the call of a method.
    pub(super) fn no_method(&self, value: &ExprTree, name: PlacedWord<'s>, args: &[Arg<'s>]) -> SyntaxFault {
        let value = Some(value.span.of(self.source)).filter(|value| value.len() <= MAX_REPEATED_BYTES);
        let args = self.typed(args).zip(value).map(|(mut args, value)| {
            args.insert(0, value);
            args
        });
        let at = Span::new(name.span.start.saturating_sub(1), self.last.end);
        let help = as_filter(name.text, args).unwrap_or_else(|| METHODS.to_owned());
        SyntaxFault::new(at, "values have no methods").help(help)
    }

    /// The source texts of arguments; `None` if one of them is long or has a name.
    fn typed(&self, args: &[Arg<'s>]) -> Option<Vec<&'s str>> {
        let is_short = |arg: &Arg<'s>, text: &str| arg.name.is_none() && text.len() <= MAX_REPEATED_BYTES;
        args.iter().map(|arg| Some(arg.value.span.of(self.source)).filter(|text| is_short(arg, text))).collect()
    }
}

const METHODS: &str = "filters do what methods do elsewhere: `name | upper`";
/// The longest argument, in bytes, that a help repeats.
const MAX_REPEATED_BYTES: usize = 40;

/// A filter of documents, such as `markup`, which decides how its first operand is printed.
pub(super) fn printing(base: ExprTree, name: PlacedWord<'_>, args: Vec<Arg<'_>>) -> (Operation, Vec<ExprTree>) {
    let arg = |arg: Arg<'_>| if arg.name.is_none() { arg.value } else { ExprTree::none() };
    (Operation::Printing(name.text.into(), name.span), std::iter::once(base).chain(args.into_iter().map(arg)).collect())
}

/// The filtered value and the arguments, in the order of the filter's parameters.
fn bound(filter: &'static Filter, base: ExprTree, args: Vec<Arg<'_>>, own: Span) -> Result<Vec<ExprTree>, SyntaxFault> {
    let mut parts: Vec<Option<ExprTree>> =
        std::iter::once(Some(base)).chain(filter.args.iter().map(|_| None)).collect();
    for (number, arg) in args.into_iter().enumerate() {
        let at = arg.value.span;
        let refuse = |message: String| Err(SyntaxFault::new(at, message));
        let place = match arg.name {
            None if matches!(filter.name, "chain" | "zip") => {
                parts.push(None);
                number
            }
            None if number < filter.ordered => number,
            None if filter.args.is_empty() => return refuse(format!("`{}` takes no arguments", filter.name)),
            None if number < filter.args.len() => {
                let fault = SyntaxFault::new(at, format!("`{}` takes this argument with its name", filter.name));
                return Err(fault.help(format!("its arguments are `{}=…`", filter.args.join("=…`, `"))));
            }
            None => return refuse(format!("too many arguments for `{}`", filter.name)),
            Some(name) => match filter.args.iter().position(|known| *known == name.text) {
                Some(place) => place,
                None => return Err(unknown(name, "argument", filter.args.iter().copied())),
            },
        };
        if let Some(slot) = parts.get_mut(place + 1)
            && slot.replace(arg.value).is_some()
        {
            return refuse("this argument is given twice".to_owned());
        }
    }
    if let Some(missing) = (0..filter.needs).find(|place| parts.get(place + 1).is_none_or(Option::is_none)) {
        let name = filter.args.get(missing).copied().unwrap_or_default();
        return Err(SyntaxFault::new(own, format!("`{}` needs the argument `{name}`", filter.name)));
    }
    Ok(parts.into_iter().map(|part| part.unwrap_or_else(ExprTree::none)).collect())
}

fn map(base: ExprTree, mut args: Vec<Arg<'_>>, own: Span) -> Invocation {
    if args.first().is_none_or(|first| first.name.is_some()) {
        let is_attribute = |arg: &Arg<'_>| arg.name.is_some_and(|name| name.text == "attribute");
        return match Filter::of("map").filter(|_| args.iter().any(is_attribute)) {
            Some(map) => Ok((Operation::Attribute, bound(map, base, args, own)?)),
            None => Err(SyntaxFault::new(own, "`map` takes the name of a filter, or `attribute`")),
        };
    }
    let first = args.remove(0).value;
    let Some(name) = quoted(&first) else { return Err(SyntaxFault::new(own, "`map` takes a name in quotes")) };
    let Some(filter) = Filter::of(name.text) else { return Err(no_filter(name.text, name.span)) };
    if filter.takes == FilterSignature::Each {
        let message = format!("`map` cannot apply `{}`, which goes through lists itself", name.text);
        return Err(SyntaxFault::new(own, message));
    }
    if let Some(named) = args.iter().find_map(|arg| arg.name) {
        let message = format!("`map` takes the arguments of `{}` in their order, without names", name.text);
        return Err(SyntaxFault::new(named.span, message));
    }
    Ok((Operation::Map(filter), bound(filter, base, args, own)?))
}

/// The filter or other form to write instead of a function or method of this name in other languages.
fn as_filter(name: &str, args: Option<Vec<&str>>) -> Option<String> {
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
        ("endswith" | "endsWith" | "ends_with", [value, part]) => Some(format!("say `{value} is endingwith({part})`")),
        ("get", [value, key]) => Some(format!("say `{value}[{key}]`: it is `none` where there is no such member")),
        ("max" | "min" | "sum", values @ [_, _, ..]) => Some(format!("say `[{}] | {name}`", values.join(", "))),
        (_, [value, others @ ..]) => {
            let known = Filter::of(name)?.name;
            let others = if others.is_empty() { String::new() } else { format!("({})", others.join(", ")) };
            Some(format!("say `{value} | {known}{others}`"))
        }
        _ => None,
    }
}

/// The filters that expressions can use, in alphabetical order.
pub fn filters() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|filter| filter.name)
}

/// The tests that can follow `is`, in alphabetical order.
pub fn tests() -> impl Iterator<Item = &'static str> {
    TESTS.iter().map(|test| test.name)
}

/// The fault for a filter that does not exist.
pub(crate) fn no_filter(name: &str, at: Span) -> SyntaxFault {
    unknown(PlacedWord { text: name, span: at }, "filter", filters())
}

pub(super) fn unknown<'n>(name: PlacedWord<'_>, what: &str, known: impl IntoIterator<Item = &'n str>) -> SyntaxFault {
    let known: Vec<&str> = known.into_iter().filter(|name| !name.contains(['<', '>', '='])).collect();
    SyntaxFault::new(name.span, format!("there is no {what} `{}`", name.text)).help(alternatives(name.text, known))
}

/// The text of a quoted constant, with its place between the quotes.
fn quoted(tree: &ExprTree) -> Option<PlacedWord<'_>> {
    let text = tree.text()?;
    let is_plain = tree.span.len() == text.len() + 2;
    let span = if is_plain { Span::new(tree.span.start + 1, tree.span.end - 1) } else { tree.span };
    Some(PlacedWord { text, span })
}
