//! Lowering: what does minijinja get to run for what the author typed?
//!
//! In: the text of an expression, template or document.
//! Out: [`Lowered`], which [`Lower`] makes of its syntax tree; refused is what is too large to walk.
//! Never: evaluates.
//!
//! Three things cannot be had from minijinja by settings alone, so they are written into the source: an absent member is
//! `none` wherever it is used, operators refuse what does not fit them, and all that is made along the way is weighed.
//! `a.b + x | upper` becomes `(r0|plus + r1|upper()|weigh|plus)|weigh`; see the [engine](super::engine) for the guards.

mod expressions;
mod leads;
mod statements;

pub(super) use expressions::{expression, sign, template};
pub(super) use statements::document;

use super::escape::Escape;
use super::lowered::{Compared, Form, Look, Lowered};
use super::place::Place;
use super::resolve::Read;
use super::{Fault, filters};
use crate::diagnostic::Diagnostic;
use crate::text::{SourceId, Span};
use minijinja::Value as Jinja;
use minijinja::machinery::ast::{CallArg, Expr};
use minijinja::machinery::{self, Token};

/// Tokens that one expression or template may have: its tree is walked by recursion.
const TOKENS: usize = 4_000;
/// Tokens between the braces of one expression or statement.
const TOGETHER: usize = 500;
/// Further branches that the `if`s of one template may have.
const ELIFS: usize = 64;

/// A syntax tree on the way to what is run.
struct Lower<'s> {
    source: &'s str,
    reads: Vec<Read>,
    looks: Vec<Look>,
    compared: Vec<Compared>,
    constants: Vec<Jinja>,
    /// Names that statements bind, one list per `for`.
    locals: Vec<Vec<&'s str>>,
    /// Each of these names once.
    names: Vec<&'s str>,
    /// Every binding of a local name that is in sight.
    items: Vec<Binding<'s>>,
    /// What there is besides for a document.
    paper: Option<Paper<'s>>,
}

/// What the engine gets to run.
type Code = Result<String, Fault>;

/// The texts that a document may include, by their names.
pub(crate) trait Library {
    /// The text called `name`, and which source it is.
    fn text(&self, name: &str) -> Option<(&str, SourceId)>;

    /// What is wrong with `name`, of which there is no text.
    fn missing(&self, name: &str) -> Option<Diagnostic>;
}

/// What lowering a document takes besides.
struct Paper<'s> {
    library: &'s dyn Library,
    /// Names whose values are no user's.
    own: &'s [&'s str],
    escape: &'s Escape,
    /// Where the next value stands.
    place: Place,
    /// The file that is being written in, if it is not the document.
    file: Option<SourceId>,
    /// The files that are being written in, from the document down.
    open: Vec<String>,
    files: usize,
    /// Whether a value could form a mark with what stands beside it.
    joins: bool,
}

/// A name that a statement binds.
struct Binding<'s> {
    name: &'s str,
    /// Whether its value is no user's.
    own: bool,
    /// The path to its value, if there is one.
    path: Option<Vec<String>>,
}

impl<'s> Lower<'s> {
    fn new(source: &'s str) -> Self {
        Self {
            source,
            reads: Vec::new(),
            looks: Vec::new(),
            compared: Vec::new(),
            constants: Vec::new(),
            locals: vec![Vec::new()],
            names: Vec::new(),
            items: Vec::new(),
            paper: None,
        }
    }

    fn finish(self, form: Form) -> Lowered {
        let Self { reads, looks, compared, constants, .. } = self;
        Lowered { reads, looks, compared, path: None, constants, form }
    }

    /// The file that is lowered, if that is not the text at hand.
    fn own_file(&self) -> Option<SourceId> {
        self.paper.as_ref()?.file
    }

    /// The number of a name that a statement binds.
    fn name(&mut self, name: &'s str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// The number of a read, each of which stands once.
    fn number(&mut self, read: Read) -> usize {
        let known = self.reads.iter().position(|known| known.name == read.name && known.steps == read.steps);
        known.unwrap_or_else(|| {
            self.reads.push(read);
            self.reads.len() - 1
        })
    }

    /// Whether a statement around binds this name.
    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().flatten().any(|local| *local == name)
    }

    /// What stands for a value in the code.
    fn constant(&mut self, value: Jinja) -> String {
        self.constants.push(value);
        format!("c{}", self.constants.len() - 1)
    }
}

/// Refuses what is too large to walk; faults of spelling are left to the parser.
fn bounded(source: &str, expression: bool) -> Result<(), Fault> {
    let (mut all, mut together, mut elifs) = (0, 0, 0);
    for token in machinery::tokenize(source, expression, filters::syntax()) {
        let Ok((token, span)) = token else { return Ok(()) };
        let span = span.start_offset as usize..span.end_offset as usize;
        (all, together) = (all + 1, together + 1);
        match token {
            Token::VariableStart | Token::BlockStart => together = 0,
            Token::Ident("elif") => elifs += 1,
            _ => {}
        }
        if all > TOKENS || together > TOGETHER || elifs > ELIFS {
            return Err(
                Fault::new(span, "this is too long").help("split it, or keep what it says under `data`".to_owned())
            );
        }
    }
    Ok(())
}

fn span(tree: &Expr<'_>) -> Span {
    let span = tree.span();
    Span::new(span.start_offset as usize, span.end_offset as usize)
}

/// The member of the entries that a filter asks for, and the argument that says so.
fn member_of_entries<'t, 's>(filter: &str, args: &'t [CallArg<'s>]) -> Option<(&'t Expr<'s>, &'t str)> {
    let by_place = matches!(filter, "selectattr" | "rejectattr");
    args.iter().enumerate().find_map(|(number, arg)| match arg {
        CallArg::Kwarg("attribute", arg @ Expr::Const(name)) => Some((arg, name.value.as_str()?)),
        CallArg::Pos(arg @ Expr::Const(name)) if by_place && number == 0 => Some((arg, name.value.as_str()?)),
        _ => None,
    })
}
