//! Syntax: what is an expression or template made of?
//!
//! In: nothing; [`parse`](super::parse) makes it.
//! Out: [`Expr`] and [`Stmt`], with the place of each.
//! Never: outlives the text that it was parsed from.

use crate::text::Span;
use crate::value::Value;

/// An expression and its place, without brackets around it.
#[derive(Debug)]
pub(super) struct Expr<'s> {
    pub(super) span: Span,
    pub(super) kind: Kind<'s>,
}

/// A word with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'s> {
    pub(super) text: &'s str,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum Kind<'s> {
    Name(&'s str),
    Const(Value),
    Member(Box<Expr<'s>>, Word<'s>),
    Item(Box<[Expr<'s>; 2]>),
    /// The start, the end and the step may be left out.
    Slice(Box<Expr<'s>>, Box<[Option<Expr<'s>>; 3]>),
    Not(Box<Expr<'s>>),
    Negative(Box<Expr<'s>>),
    /// Joined by `and`; two or more.
    And(Vec<Expr<'s>>),
    /// Joined by `or`; two or more.
    Or(Vec<Expr<'s>>),
    /// Joined by `~`; two or more.
    Concat(Vec<Expr<'s>>),
    Calculation(Operator, Box<[Expr<'s>; 2]>),
    Comparison(Relation, Box<[Expr<'s>; 2]>),
    /// A chain such as `a < b < c`.
    Chain(Box<Expr<'s>>, Vec<(Relation, Expr<'s>)>),
    Choice(Box<Choice<'s>>),
    Filter(Box<Call<'s>>),
    Test(Box<Call<'s>>),
    Call(Box<Expr<'s>>, Vec<Arg<'s>>),
    List(Vec<Expr<'s>>),
    Table(Vec<[Expr<'s>; 2]>),
}

/// `then if test else other`.
#[derive(Debug)]
pub(super) struct Choice<'s> {
    pub(super) then: Expr<'s>,
    pub(super) test: Expr<'s>,
    pub(super) other: Option<Expr<'s>>,
}

/// A filter or test with what is before it.
#[derive(Debug)]
pub(super) struct Call<'s> {
    pub(super) base: Expr<'s>,
    pub(super) name: Word<'s>,
    pub(super) args: Vec<Arg<'s>>,
}

#[derive(Debug)]
pub(super) struct Arg<'s> {
    pub(super) name: Option<Word<'s>>,
    pub(super) value: Expr<'s>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Floor,
    Rest,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    In,
    NotIn,
}

#[derive(Debug)]
pub(super) enum Stmt<'s> {
    /// Text, and where it starts.
    Text(&'s str, usize),
    Print(Expr<'s>),
    If(Box<If<'s>>),
    For(Box<For<'s>>),
    Set(Word<'s>, Expr<'s>),
    /// The file that it names.
    Include(Expr<'s>),
}

#[derive(Debug)]
pub(super) struct If<'s> {
    pub(super) test: Expr<'s>,
    pub(super) then: Vec<Stmt<'s>>,
    pub(super) other: Vec<Stmt<'s>>,
}

#[derive(Debug)]
pub(super) struct For<'s> {
    pub(super) names: Vec<Word<'s>>,
    /// Whether a single name is bound to the whole item.
    pub(super) alone: bool,
    pub(super) items: Expr<'s>,
    pub(super) when: Option<Expr<'s>>,
    pub(super) body: Vec<Stmt<'s>>,
    pub(super) otherwise: Vec<Stmt<'s>>,
}

impl<'s> Expr<'s> {
    pub(super) fn constant(&self) -> Option<&Value> {
        if let Kind::Const(value) = &self.kind { Some(value) } else { None }
    }

    /// The text of a constant.
    pub(super) fn text(&self) -> Option<&str> {
        self.constant()?.as_str()
    }

    /// The source of this expression.
    pub(super) fn of(&self, source: &'s str) -> &'s str {
        source.get(self.span.start..self.span.end).unwrap_or_default()
    }

    /// The name, if it is only a name.
    pub(super) fn name(&self) -> Option<&'s str> {
        if let Kind::Name(name) = self.kind { Some(name) } else { None }
    }

    /// Whether it is a name with keys.
    pub(super) fn is_path(&self) -> bool {
        matches!(self.kind, Kind::Name(_) | Kind::Member(..) | Kind::Item(_))
    }
}

impl Call<'_> {
    /// The place of the name and its arguments.
    pub(super) fn own(&self, whole: Span) -> Span {
        Span::new(self.name.span.start, whole.end)
    }
}
