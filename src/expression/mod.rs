//! Expressions: what does a condition or template of a pack evaluate to?
//!
//! In: the text of a condition, template or file of templates, and a [`Scope`] with the names that it can use.
//! Out: [`Expression`], [`Template`] and [`File`], each parsed once and evaluated often.
//! Never: knows what a name means, changes what it reads, or uses anything outside its scope.
//!
//! The language is Jinja, implemented here: a [lexer](token), a [parser](parse) that makes a [tree] in which every
//! filter, test and local name is resolved, and an [evaluator] that walks that tree. Because a pack decides what a
//! model may do, three things differ from other engines:
//!
//! * There is no *undefined*. An absent member is `none`, and so is a member of `none`; `default` replaces it. A
//!   name that is not in scope is a failure. Where a collection is expected, `none` is an empty one.
//! * Arithmetic and order need values of one kind: `none + 1` and `none < 3` fail, so a condition on an absent value
//!   denies.
//! * `if`, `for` and `set NAME = VALUE` are the statements; there are no macros, methods or clocks. Only a [`File`],
//!   which is a whole file, can include others.
//!
//! Values are borrowed from the scope. Limits of one evaluation: [`FUEL`] steps and [`WEIGHT`] allocated bytes, and
//! more of each if a large value is read.

mod calls;
mod evaluator;
mod fault;
mod filters;
mod item;
mod limits;
mod list_filters;
mod matching;
mod number;
mod number_filters;
mod origins;
mod parse;
mod predicates;
mod print;
mod reads;
mod renderer;
mod resolve;
mod scope;
mod shell;
mod statements;
mod text_filters;
mod token;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use calls::no_filter;
pub use calls::{filters, tests as predicates};
pub(crate) use fault::SyntaxFault;
pub use limits::{FUEL, WEIGHT};
pub(crate) use matching::MatchPattern;
pub(crate) use reads::{Compared, Constant, ENTRY, Reads, spelled};
pub(crate) use renderer::Printed;
pub(crate) use resolve::at_path;
pub use scope::Scope;
pub(crate) use statements::DocumentFiles;
pub(crate) use tree::{ExprTree, Operation, Print, Relation, Statement};

use crate::diagnostic::Diagnostic;
use crate::text::{Location, Span, Spanned, excerpt};
use crate::value::{ByteBudget, Exceeded, Value};
use evaluator::Evaluator;
use item::Item;
use limits::Halt;
use reads::Notes;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use tree::{ExprBody, Statements};

/// Why an evaluation has no value. A condition that fails denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, in one line, lower case, in the words of the language.
    pub message: String,
    /// The kind of its cause.
    pub kind: FailureKind,
}

/// The kind of cause that a failure has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// An unknown name, a value of the wrong kind, or a limit of this evaluation that is reached.
    Fault,
    /// An absent value: an optional parameter, or an empty state.
    Absence,
    /// The byte budget is spent that all values of one occasion (a start, a user message, an answer) share.
    Budget,
}

impl Failure {
    /// A failure that is not due to an absent value.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Fault }
    }

    /// A failure because the byte budget of the occasion is spent.
    pub(crate) fn exceeded(_: Exceeded) -> Self {
        Self { message: ByteBudget::EXCEEDED.to_owned(), kind: FailureKind::Budget }
    }

    /// A failure due to an absent value.
    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Absence }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// A condition or value: one Jinja expression without braces. Cheap to clone, and shared by all threads.
///
/// ```
/// use rulebook::expression::{Expression, Scope};
/// use rulebook::text::{Location, Span, Spanned};
///
/// let at = Location::response(Span::new(0, 29));
/// let when = Expression::parse(&Spanned::new("params.n in [1, 2] and not off".to_owned(), at)).unwrap();
/// let (params, off) = (serde_json::json!({ "n": 2 }).into(), rulebook::Value::Null);
/// let scope = Scope::new().with("params", &params).with("off", &off);
/// assert!(when.holds(&scope).unwrap());
/// assert_eq!(when.reads(), [vec!["params".to_owned(), "n".to_owned()], vec!["off".to_owned()]]);
/// ```
#[derive(Debug, Clone)]
pub struct Expression(Arc<Parsed>);

/// A template: a text of exactly one `{{ … }}` gives a typed value, any other gives text.
#[derive(Debug, Clone)]
pub struct Template(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    text: String,
    at: Location,
    /// `None` for a text without Jinja in it.
    body: Option<ExprBody>,
    reads: Reads,
}

/// The methods that expressions and templates have in common.
macro_rules! parsed {
    ($($name:ident)*) => {
        $(impl $name {
            /// The source as typed.
            pub fn source(&self) -> &str {
                &self.0.text
            }

            /// The place of the source.
            pub fn at(&self) -> Location {
                self.0.at
            }

            /// The paths that it reads from its scope, in the order of the text, each as far as it is known without
            /// evaluation.
            pub fn reads(&self) -> &[Vec<String>] {
                self.0.reads.paths()
            }

            /// The paths of `reads` with their places, and the comparisons and patterns in which paths are used.
            pub(crate) fn reads_at(&self) -> &Reads {
                &self.0.reads
            }
        })*
    };
}

parsed!(Expression Template);

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression`, at the wrong word if positions in the string can be mapped to the file, or else at the
    /// whole string.
    pub fn parse(text: &Spanned<String>) -> Result<Expression, Box<Diagnostic>> {
        let parsed = parse::expression(&text.value).map(|parsed| Parsed::new(text, parsed));
        let whole = text.value.trim();
        let is_braced = ["{{", "${", "{%"].iter().any(|open| whole.starts_with(open)) && whole.ends_with('}');
        let fault = |fault| match is_braced {
            true => {
                SyntaxFault::new(Span::new(0, text.value.len()), "a condition or path is an expression without braces")
                    .help("leave out the braces".to_owned())
            }
            false => fault,
        };
        Ok(Expression(Arc::new(parsed.map_err(|found| fault(found).at(text))?)))
    }

    /// Parses an expression that is true or false.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression`, also if a text, number or list stands where a condition is meant, as in `a == 'b' or 'c'`:
    /// that is always true.
    pub(crate) fn condition(text: &Spanned<String>) -> Result<Expression, Box<Diagnostic>> {
        let expression = Self::parse(text)?;
        let Some(part) = expression.tree().and_then(ExprTree::value_as_condition) else { return Ok(expression) };
        let written = excerpt(part.span.of(expression.source()), 40);
        let fault = SyntaxFault::new(part.span, format!("`{written}` is no condition: it is always the same"));
        Err(fault
            .help("say what it is compared with: `A == 'x' or A == 'y'`, or `A in ['x', 'y']`".to_owned())
            .at(text))
    }

    /// The syntax tree of the expression.
    pub(crate) fn tree(&self) -> Option<&ExprTree> {
        if let Some(ExprBody::Value(tree)) = &self.0.body { Some(tree) } else { None }
    }

    /// Evaluates one subtree of the expression.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub(crate) fn part(&self, tree: &ExprTree, scope: &Scope<'_>) -> Result<Value, Failure> {
        let Some(body) = &self.0.body else { return Ok(Value::Null) };
        let run = Evaluator::new(body, scope);
        run.item(tree).and_then(|item| run.owned_value(item)).map_err(|halt| halt.outside(body, scope))
    }

    /// Evaluates it.
    ///
    /// # Errors
    ///
    /// A name that is not in scope, a value that an operator or filter does not accept, or a limit that is reached.
    pub fn value(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        self.0.value(scope)
    }

    /// Whether its value is true: not `none`, `false`, zero or empty.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, Failure> {
        match self.0.read(scope) {
            Some(value) => value.map(|value| item::is_true(&value)),
            None => self.0.evaluated(scope, |_, item| Ok(item.is_true())),
        }
    }
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression`, at the wrong word if positions in the string can be mapped to the file, or else at the
    /// whole string.
    pub fn parse(text: &Spanned<String>) -> Result<Template, Box<Diagnostic>> {
        if !["{{", "{%", "{#"].iter().any(|open| text.value.contains(open)) {
            let parsed = Parsed { text: text.value.clone(), at: text.at, body: None, reads: Reads::default() };
            return Ok(Template(Arc::new(parsed)));
        }
        let parsed = parse::template(&text.value).map(|parsed| Parsed::new(text, parsed));
        Ok(Template(Arc::new(parsed.map_err(|fault| fault.at(text))?)))
    }

    /// Whether a text parses as a template.
    pub(crate) fn is_one(text: &str) -> bool {
        parse::template(text).is_ok()
    }

    /// The text, if it has no Jinja in it.
    pub fn plain(&self) -> Option<&str> {
        self.0.body.is_none().then_some(&self.0.text)
    }

    /// Whether its value is always a text: it is not exactly one `{{ … }}`.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self.0.body, Some(ExprBody::Value(_)))
    }

    /// Renders it: to a value of any type if it is exactly one `{{ … }}`, otherwise to text.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn render(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        self.0.value(scope)
    }

    /// Renders it to text, even if it is exactly one `{{ … }}`: `none` gives an empty text.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn text(&self, scope: &Scope<'_>) -> Result<String, Failure> {
        match &self.0.body {
            None => Ok(self.0.text.clone()),
            Some(body @ ExprBody::Text(_)) => self.0.written(body, scope),
            Some(ExprBody::Value(_)) => self.0.evaluated(scope, |run, item| {
                let mut text = String::new();
                run.print(&item, &mut text)?;
                run.charge_stored(text.len())?;
                Ok(text)
            }),
        }
    }
}

/// A whole file of templates, with the files that it includes.
#[derive(Debug)]
pub(crate) struct File {
    body: ExprBody,
    reads: Reads,
}

impl File {
    /// Parses the text of a file, and the files that it includes. `check` assigns each printed value the place that
    /// decides how it is escaped, or refuses the value.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression` at the wrong word, in the file where it is.
    pub(crate) fn parse<'s>(
        text: &'s str,
        typed: &Spanned<String>,
        files: Box<dyn DocumentFiles<'s> + 's>,
        check: impl FnOnce(&mut [Statement]) -> Result<(), SyntaxFault>,
    ) -> Result<File, Box<Diagnostic>> {
        let parsed = statements::page(text, files).and_then(|(mut body, mut notes)| {
            if let ExprBody::Text(page) = &mut body {
                check(page)?;
            }
            notes.fault.take().map_or(Ok((body, notes)), Err)
        });
        let (body, notes) = parsed.map_err(|fault| fault.at(typed))?;
        let reads = Reads::of(&body, notes, typed);
        Ok(File { body, reads })
    }

    /// The paths that the file reads from its scope.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Renders the file; `place` writes each value to which `check` assigned a place.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub(crate) fn text(&self, scope: &Scope<'_>, place: renderer::PlaceWriter<'_>) -> Result<String, Failure> {
        renderer::text(&self.body, scope, 0, place)
    }
}

impl Parsed {
    fn new(typed: &Spanned<String>, (body, notes): (ExprBody, Notes)) -> Parsed {
        let reads = Reads::of(&body, notes, typed);
        Parsed { text: typed.value.clone(), at: typed.at, body: Some(body), reads }
    }

    /// Fast path: the value, if the body is one path into the scope, as most conditions and templates are.
    fn read<'s>(&self, scope: &'s Scope<'_>) -> Option<Result<Cow<'s, Value>, Failure>> {
        match &self.body {
            Some(ExprBody::Value(ExprTree { op: Operation::Read(read), .. })) => Some(read.resolve(scope)),
            _ => None,
        }
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        if let Some(value) = self.read(scope) {
            return value.map(Cow::into_owned);
        }
        match &self.body {
            Some(body @ ExprBody::Text(_)) => self.written(body, scope).map(Value::from),
            _ => self.evaluated(scope, |run, item| run.owned_value(item)),
        }
    }

    /// Renders a body of statements.
    fn written(&self, body: &ExprBody, scope: &Scope<'_>) -> Result<String, Failure> {
        let text = renderer::text(body, scope, self.text.len(), &mut |_, _, _| ())?;
        Evaluator::new(body, scope).charge_stored(text.len()).map_err(|halt| halt.outside(body, scope))?;
        Ok(text)
    }

    /// Evaluates the body, and passes the result to `make`.
    fn evaluated<T>(
        &self,
        scope: &Scope<'_>,
        make: impl FnOnce(&Evaluator<'_>, Item<'_>) -> Result<T, Halt>,
    ) -> Result<T, Failure> {
        let plain = ExprBody::Text(Statements::new());
        let body = self.body.as_ref().unwrap_or(&plain);
        let run = Evaluator::new(body, scope);
        let item = match &self.body {
            None => Item::Text(&self.text),
            Some(ExprBody::Value(tree)) => run.item(tree).map_err(|halt| halt.outside(body, scope))?,
            Some(ExprBody::Text(_)) => renderer::text(body, scope, self.text.len(), &mut |_, _, _| ())?.into(),
        };
        make(&run, item).map_err(|halt| halt.outside(body, scope))
    }
}
