//! Code: what is evaluated for what an author typed?
//!
//! In: nothing; [`compile`](super::compile) makes it, once for each expression, template and document.
//! Out: [`Code`] and [`Page`]; what [`Compiled`] reads, looks at and compares.
//! Never: refers to the text that it was made from.

use super::escape::Slot;
use super::filters::Filter;
use super::matching::Pattern;
use super::predicates::Test;
use super::resolve::Read;
use super::syntax::{Operator, Relation};
use crate::text::{SourceId, Span};
use crate::value::Value;

/// An expression. A name that statements bind is a number.
#[derive(Debug)]
pub(super) enum Code {
    Constant(Value),
    /// The number of a path into the scope.
    Read(usize),
    Local(usize),
    Loop(Turn),
    List(Box<[Code]>),
    Table(Box<[[Code; 2]]>),
    Item(Box<[Code; 2]>),
    Slice(Box<Code>, Box<[Option<Code>; 3]>),
    Not(Box<Code>),
    Negative(Box<Code>),
    And(Box<[Code]>),
    Or(Box<[Code]>),
    Concat(Box<[Code]>),
    Calculation(Operator, Box<[Code; 2]>),
    Relation(Relation, Box<[Code; 2]>),
    Chain(Box<Code>, Box<[(Relation, Code)]>),
    /// The test, and both branches.
    Choice(Box<[Code; 3]>),
    /// The arguments are those of the filter, in its order; `none` for one that is left out.
    Filter(&'static Filter, Box<Code>, Box<[Code]>),
    Test(Box<Code>, Asked),
    /// A filter applied to each item.
    Map(Box<Code>, &'static Filter, Box<[Code]>),
    /// A member of each item, and what stands in for an absent one.
    Attribute(Box<[Code; 3]>),
    Select(Box<Select>),
    Range(Box<[Code]>),
}

/// The items that pass a test, or, if not `wanted`, those that fail it.
#[derive(Debug)]
pub(super) struct Select {
    pub(super) items: Code,
    /// The path of the member that is tested; none for the item itself.
    pub(super) path: Option<Code>,
    pub(super) asked: Asked,
    pub(super) wanted: bool,
}

/// A test, and its argument.
#[derive(Debug)]
pub(super) enum Asked {
    IsTrue,
    Test(&'static Test, Box<Code>),
    Matches(Pattern),
}

/// A member of `loop`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Turn {
    Index,
    Index0,
    First,
    Last,
    Length,
}

/// The members of `loop`.
pub(super) const TURNS: [(&str, Turn); 5] = [
    ("first", Turn::First),
    ("index", Turn::Index),
    ("index0", Turn::Index0),
    ("last", Turn::Last),
    ("length", Turn::Length),
];

/// Statements in order.
#[derive(Debug, Default)]
pub(super) struct Page(pub(super) Vec<Node>);

/// One statement.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Print(Code, Print),
    If(Code, Page, Page),
    Set(usize, Code),
    Each(Box<Each>),
    /// An included file.
    Part(Page),
}

/// A loop.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) items: Code,
    /// The numbers of the names that it binds.
    pub(super) names: Vec<usize>,
    /// Whether a single name is bound to the whole item.
    pub(super) alone: bool,
    pub(super) when: Option<Code>,
    pub(super) body: Page,
    pub(super) otherwise: Page,
}

/// How a value is printed.
#[derive(Debug)]
pub(super) enum Print {
    /// `none` as nothing; truths, lists and tables as JSON.
    Value,
    /// Unescaped: the rules themselves write it.
    Markup,
    /// Escaped for its place.
    Slot(Slot),
    /// Unescaped, except for lines that the dialect of this name would take for structure.
    Guarded(String),
}

/// What is evaluated, and what `check` needs to know about it.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) body: Body,
    pub(super) reads: Vec<Read>,
    pub(super) looks: Vec<Look>,
    pub(super) compared: Vec<Compared>,
    /// The path of its value, if it is taken unchanged from elsewhere.
    pub(super) path: Option<Vec<String>>,
}

#[derive(Debug)]
pub(super) enum Body {
    Value(Code),
    Text(Page),
}

/// A path that a statement or filter uses inside a value taken from elsewhere; it is resolved when the statement runs.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Span,
    pub(super) file: Option<SourceId>,
    pub(super) path: Vec<String>,
}

/// A constant that is compared with the value at a path.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) at: Span,
    pub(super) file: Option<SourceId>,
    pub(super) path: Vec<String>,
    pub(super) constant: Constant,
}

/// A text, number or boolean.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Text(String),
    /// As typed.
    Number(String),
    Truth(bool),
}
