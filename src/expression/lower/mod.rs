//! Lowering: what does minijinja run for what the author typed?
//!
//! In: the text of an expression, template or document.
//! Out: [`Lowered`], made by [`Lower`] from the syntax tree; text that is too large to process is refused.
//! Never: evaluates.
//!
//! Three things cannot be had by the settings of minijinja, so lowering writes them into the source: an absent member
//! is `none` wherever it is used, operators refuse values that do not fit, and every value made during evaluation is
//! weighed. `a.b + x | upper` becomes `(r0|plus + r1|upper()|weigh|plus)|weigh`; the [engine](super::engine) explains
//! these filters.

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

/// The most tokens of an expression or template: its tree is processed recursively.
const TOKENS: usize = 4_000;
/// The most tokens of one expression or statement inside its braces.
const TOGETHER: usize = 500;
/// The most `elif` branches in one template.
const ELIFS: usize = 64;

/// A syntax tree being lowered.
struct Lower<'s> {
    source: &'s str,
    reads: Vec<Read>,
    looks: Vec<Look>,
    compared: Vec<Compared>,
    constants: Vec<Jinja>,
    /// The names bound by statements, one list per `for`.
    locals: Vec<Vec<&'s str>>,
    /// Each bound name once.
    names: Vec<&'s str>,
    /// Every visible binding of a local name.
    items: Vec<Binding<'s>>,
    /// What lowering a document needs besides.
    paper: Option<Paper<'s>>,
}

/// Source code for the engine.
type Code = Result<String, Fault>;

/// The texts that a document may include. One name may mean different texts in different files.
pub(crate) trait Library {
    /// The text that `name` means in the file `from`.
    fn find(&self, name: &str, from: SourceId) -> Option<SourceId>;

    /// The text of a file.
    fn text(&self, source: SourceId) -> &str;

    /// The diagnostic for a `name` that means no text in the file `from`.
    fn missing(&self, name: &str, from: SourceId) -> Option<Diagnostic>;
}

/// What lowering a document needs besides.
struct Paper<'s> {
    library: &'s dyn Library,
    /// Names whose values never come from a user.
    own: &'s [&'s str],
    escape: &'s Escape,
    /// The place of the next value.
    place: Place,
    /// The file being inserted; none for the document itself.
    file: Option<SourceId>,
    /// The document, and the files being inserted, from the outermost down.
    open: Vec<SourceId>,
    files: usize,
    /// Whether a value could form a mark together with the text around it.
    joins: bool,
}

/// A name bound by a statement.
struct Binding<'s> {
    name: &'s str,
    /// Whether its value never comes from a user.
    own: bool,
    /// The path of its value, if it has one.
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

    /// The file being lowered, if it is not the current text.
    fn own_file(&self) -> Option<SourceId> {
        self.paper.as_ref()?.file
    }

    /// The number of a name bound by a statement.
    fn name(&mut self, name: &'s str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// The number of a read; equal reads share one.
    fn number(&mut self, read: Read) -> usize {
        let known = self.reads.iter().position(|known| known.name == read.name && known.steps == read.steps);
        known.unwrap_or_else(|| {
            self.reads.push(read);
            self.reads.len() - 1
        })
    }

    /// Whether a statement around this place binds the name.
    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().flatten().any(|local| *local == name)
    }

    /// The code for a constant value.
    fn constant(&mut self, value: Jinja) -> String {
        self.constants.push(value);
        format!("c{}", self.constants.len() - 1)
    }
}

/// Refuses text that is too large to process; syntax errors are left to the parser.
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

/// The member that a filter uses of each entry, and the argument that names it.
fn member_of_entries<'t, 's>(filter: &str, args: &'t [CallArg<'s>]) -> Option<(&'t Expr<'s>, &'t str)> {
    let by_place = matches!(filter, "selectattr" | "rejectattr");
    args.iter().enumerate().find_map(|(number, arg)| match arg {
        CallArg::Kwarg("attribute", arg @ Expr::Const(name)) => Some((arg, name.value.as_str()?)),
        CallArg::Pos(arg @ Expr::Const(name)) if by_place && number == 0 => Some((arg, name.value.as_str()?)),
        _ => None,
    })
}
