//! Lowered: what is executed for what an author typed?
//!
//! In: nothing; [`lower`](super::lower) makes it once for each expression, template and document.
//! Out: [`Lowered`]: the source for the engine with its numbered reads and constants, a form that needs no engine if
//! its parts are simple, and what `check` needs to know.
//! Never: evaluates.

use super::escape::Slot;
use super::quick::Quick;
use super::resolve::Read;
use crate::text::{SourceId, Span};
use minijinja::Value as Jinja;

/// What is executed.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) reads: Vec<Read>,
    pub(super) looks: Vec<Look>,
    pub(super) compared: Vec<Compared>,
    /// The path of its value, if it is taken unchanged from elsewhere.
    pub(super) path: Option<Vec<String>>,
    pub(super) constants: Vec<Jinja>,
    pub(super) form: Form,
}

#[derive(Debug)]
pub(super) enum Form {
    /// A single read; needs no engine.
    Read(usize),
    /// Text and reads; needs no engine.
    Plain(Vec<Piece>),
    /// The source of an expression, and a form that needs no engine if its parts are simple.
    Value(String, Option<Quick>),
    /// The source of a template, and a form that needs no engine if its parts are simple.
    Text(String, Option<Page>),
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Read(usize),
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

/// Statements in order.
#[derive(Debug)]
pub(super) struct Page(pub(super) Vec<Node>);

/// One statement.
#[derive(Debug)]
pub(super) enum Node {
    /// Text, as typed.
    Text(String),
    Print(Quick, Print),
    If(Quick, Page, Page),
    Set(usize, Quick),
    Each(Box<Each>),
    /// An included file.
    Part(Page),
}

/// A loop.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) items: Quick,
    /// The numbers of the names that it binds.
    pub(super) names: Vec<usize>,
    /// Whether a single name is bound to the whole item.
    pub(super) alone: bool,
    pub(super) when: Option<Quick>,
    pub(super) body: Page,
    pub(super) otherwise: Page,
}

/// How a value is printed.
#[derive(Debug)]
pub(super) enum Print {
    /// As Jinja prints it.
    Jinja,
    /// Unescaped: the rules themselves write it.
    Markup,
    /// Escaped for its place.
    Slot(Slot),
    /// Unescaped, except for lines that the dialect of this name would take for structure.
    Guarded(String),
}

impl Page {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn with(mut self, node: Node) -> Self {
        self.0.push(node);
        self
    }
}
