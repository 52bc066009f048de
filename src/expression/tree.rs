//! Tree: what does an expression or template consist of?
//!
//! In: nothing; [`parse`](super::parse) makes it, once for each expression, template and document.
//! Out: [`ExprTree`] and [`Statements`]: local names, filters, tests and patterns are resolved, and each part has its
//! place.
//! Never: refers to the text that it was made from.

use super::filters::Filter;
use super::matching::{ConstantPatterns, MatchPattern};
use super::predicates::Test;
use super::resolve::ScopeRead;
use crate::text::{SourceId, Span};
use crate::value::Value;

/// An operation, its operands, and its span without brackets around it.
#[derive(Debug)]
pub(crate) struct ExprTree {
    pub(crate) op: Operation,
    pub(crate) parts: Box<[ExprTree]>,
    pub(crate) span: Span,
}

/// What is done with the parts of an [`ExprTree`].
#[derive(Debug)]
pub(crate) enum Operation {
    Constant(Value),
    /// A path into the scope.
    Read(Box<ScopeRead>),
    /// A name that statements bind, by its number.
    Local(usize),
    /// A member of `loop`.
    Loop(&'static str),
    List,
    /// Keys and values in turn.
    Table,
    /// A value and the key of its member or item.
    Item,
    /// A value, the start, the end and the step.
    Slice,
    Not,
    Negate,
    And,
    Or,
    Concat,
    Arithmetic(Operator),
    Comparison(Relation),
    /// The relations between the parts, as in `a < b < c`.
    Chain(Box<[Relation]>),
    /// `PART if PART else PART`.
    Conditional,
    /// A value, and all arguments of the filter in its order; `none` for one that is left out.
    Filter(&'static Filter),
    /// A filter applied to each item; the parts are those of the filter.
    Map(&'static Filter),
    /// A list, the path to a member of each item, and the replacement of an absent one.
    Attribute,
    /// A value and the argument of the test.
    Test(Tested),
    /// A list, the path to the member of each item that is tested, and the argument of the test.
    Select(Select),
    Range,
    /// A filter of documents that decides how the first part is printed: the name of the filter, and the span of the
    /// name. The other parts are the arguments.
    Printing(Box<str>, Span),
}

/// Selects the items that pass a test, or, if not `wanted`, those that fail it.
#[derive(Debug)]
pub(crate) struct Select {
    /// Whether a member is tested instead of the item.
    pub(super) by_member: bool,
    pub(super) test: Tested,
    pub(super) wanted: bool,
}

/// A test, without the value that is tested.
#[derive(Debug)]
pub(crate) enum Tested {
    IsTrue,
    Test(&'static Test),
    Matches(MatchPattern),
    /// The argument is the constant that contains the patterns.
    MatchesAny(ConstantPatterns),
}

/// The members of `loop`.
pub(super) const TURNS: [&str; 5] = ["first", "index", "index0", "last", "length"];

/// An operator of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

/// A relation of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    In,
    NotIn,
}

impl Relation {
    /// The relation of the second value to the first.
    pub(super) fn turned(self) -> Self {
        match self {
            Relation::Less => Relation::More,
            Relation::More => Relation::Less,
            Relation::AtMost => Relation::AtLeast,
            Relation::AtLeast => Relation::AtMost,
            same => same,
        }
    }

    /// Whether it compares by order, which only two numbers or two texts have.
    pub(crate) fn is_order(self) -> bool {
        matches!(self, Relation::Less | Relation::AtMost | Relation::More | Relation::AtLeast)
    }
}

/// Statements in order.
pub(crate) type Statements = Vec<Statement>;

/// One statement.
#[derive(Debug)]
pub(crate) enum Statement {
    Text(String),
    Print(ExprTree, Print),
    If(ExprTree, Statements, Statements),
    Set(usize, ExprTree),
    Each(Box<Each>),
    /// An included file.
    Part(SourceId, Statements),
}

/// A loop.
#[derive(Debug)]
pub(crate) struct Each {
    pub(crate) items: ExprTree,
    /// The numbers of the names that it binds.
    pub(crate) names: Vec<usize>,
    /// Whether a single name is bound to the whole item.
    pub(super) alone: bool,
    pub(super) when: Option<ExprTree>,
    pub(crate) body: Statements,
    pub(crate) otherwise: Statements,
}

/// How a value is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Print {
    /// `none` as nothing; booleans, lists and tables as JSON.
    Value,
    /// `none` as nothing; everything else as in a text.
    Text,
    /// By the document, which knows how to escape a value at the place with this number. Lists and tables are written
    /// as JSON if `json`, or else as in a text.
    Placed { place: usize, json: bool },
}

/// The parsed text: one expression, or statements that write text.
#[derive(Debug)]
pub(super) enum ExprBody {
    Value(ExprTree),
    Text(Statements),
}

impl ExprTree {
    /// A tree without parts.
    pub(super) fn leaf(op: Operation, span: Span) -> Self {
        Self { op, parts: Box::default(), span }
    }

    /// The tree for a part that is left out.
    pub(super) fn none() -> Self {
        Self::leaf(Operation::Constant(Value::Null), Span::default())
    }

    pub(crate) fn constant(&self) -> Option<&Value> {
        if let Operation::Constant(value) = &self.op { Some(value) } else { None }
    }

    /// In a condition: an operand of its `and`, `or` and `not` that is a text, a number or a list.
    pub(super) fn value_as_condition(&self) -> Option<&ExprTree> {
        let is_value = |part: &ExprTree| match &part.op {
            Operation::Constant(value) => !matches!(value, Value::Bool(_)),
            operation => matches!(operation, Operation::List),
        };
        match self.op {
            Operation::Not | Operation::And | Operation::Or => {
                self.parts.iter().find_map(|part| if is_value(part) { Some(part) } else { part.value_as_condition() })
            }
            _ => None,
        }
    }

    /// The text of a constant.
    pub(crate) fn text(&self) -> Option<&str> {
        self.constant()?.as_str()
    }

    /// Adds each path that is read, unless `found` already has it, in the order of evaluation.
    fn reads<'t>(&'t self, found: &mut Vec<&'t ScopeRead>) {
        if let Operation::Read(read) = &self.op {
            read.find(found);
        }
        self.parts.iter().for_each(|part| part.reads(found));
    }
}

impl ExprBody {
    /// Each path that is read, once, in the order of evaluation.
    pub(super) fn reads(&self) -> Vec<&ScopeRead> {
        fn find<'t>(page: &'t Statements, found: &mut Vec<&'t ScopeRead>) {
            for node in page {
                match node {
                    Statement::Text(_) => {}
                    Statement::Print(tree, _) | Statement::Set(_, tree) => tree.reads(found),
                    Statement::If(test, then, other) => {
                        test.reads(found);
                        find(then, found);
                        find(other, found);
                    }
                    Statement::Each(each) => {
                        each.items.reads(found);
                        each.when.iter().for_each(|when| when.reads(found));
                        find(&each.body, found);
                        find(&each.otherwise, found);
                    }
                    Statement::Part(_, page) => find(page, found),
                }
            }
        }
        let mut found = Vec::new();
        match self {
            ExprBody::Value(tree) => tree.reads(&mut found),
            ExprBody::Text(page) => find(page, &mut found),
        }
        found
    }
}
