//! Lowered: what is run for what an author typed?
//!
//! In: nothing; [`lower`](super::lower) makes it, once for each expression, template and document.
//! Out: [`Lowered`]: the source for the engine with its numbered reads and constants, the same without an engine where its parts
//! are plain, and what `check` wants to know of it.
//! Never: evaluates.

use super::escape::Slot;
use super::quick::Quick;
use super::resolve::Read;
use crate::text::{SourceId, Span};
use minijinja::Value as Jinja;

/// What is run.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) reads: Vec<Read>,
    pub(super) looks: Vec<Look>,
    pub(super) compared: Vec<Compared>,
    /// The path to its value, where it takes that from elsewhere as it is.
    pub(super) path: Option<Vec<String>>,
    pub(super) constants: Vec<Jinja>,
    pub(super) form: Form,
}

#[derive(Debug)]
pub(super) enum Form {
    /// One read: no engine is needed.
    Read(usize),
    /// Text and reads: neither.
    Plain(Vec<Piece>),
    /// The source of an expression, and the same without an engine if its parts are plain.
    Value(String, Option<Quick>),
    /// The source of a template, likewise.
    Text(String, Option<Page>),
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Read(usize),
}

/// A look at what a statement or a filter took from elsewhere, as the path from there; it is read when the statement is run.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Span,
    pub(super) file: Option<SourceId>,
    pub(super) path: Vec<String>,
}

/// A constant that is compared with what stands at a path.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) at: Span,
    pub(super) file: Option<SourceId>,
    pub(super) path: Vec<String>,
    pub(super) constant: Constant,
}

/// A text, number or truth value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Text(String),
    /// As it was typed.
    Number(String),
    Truth(bool),
}

/// Statements in their order.
#[derive(Debug)]
pub(super) struct Page(pub(super) Vec<Node>);

/// One statement.
#[derive(Debug)]
pub(super) enum Node {
    /// As it is typed.
    Text(String),
    Print(Quick, Print),
    If(Quick, Page, Page),
    Set(usize, Quick),
    Each(Box<Each>),
    /// A file that is written in.
    Part(Page),
}

/// A loop.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) items: Quick,
    /// The numbers of the names that it binds.
    pub(super) names: Vec<usize>,
    /// Whether one name stands for the whole item.
    pub(super) alone: bool,
    pub(super) when: Option<Quick>,
    pub(super) body: Page,
    pub(super) otherwise: Page,
}

/// How a value is printed.
#[derive(Debug)]
pub(super) enum Print {
    /// As Jinja writes it.
    Jinja,
    /// As it is: the rules themselves spell it.
    Markup,
    /// Escaped for its place.
    Slot(Slot),
    /// As it is, but for the lines that the dialect of this name would take for structure.
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
