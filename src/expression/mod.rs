//! Expressions: what does a condition or template of a pack evaluate to?
//!
//! In: the text of a condition, template, value or path, and a [`Scope`] with what it can see.
//! Out: [`Expression`], [`Template`], [`Shape`] and [`PathTemplate`], each checked once and evaluated often.
//! Never: knows what a name means, changes what it reads, or uses anything outside its scope.
//!
//! The language is that of Jinja, and everything in it is done here: [tokens](token), a [tree](syntax) that is
//! [parsed](parse) from them, [code] [compiled](compile) from it once, and a [walk](run) over that code. Because
//! a pack decides what a model may do, three things differ from other engines:
//!
//! * There is no *undefined*. An absent member is `none`, and so is a member of `none`; `default` replaces it. A
//!   name that is not in scope is a failure. Where a collection is expected, `none` is an empty one.
//! * Arithmetic and order need values of one kind: `none + 1` and `none < 3` fail, so a condition on an absent value
//!   denies.
//! * `if`, `for` and `set NAME = VALUE` are the statements; there are no macros, methods or clocks. Only a
//!   [`Document`], which is a whole file, can include others.
//!
//! Values are borrowed from the scope. Limits of one evaluation: [`FUEL`] steps and [`WEIGHT`] bytes made, and more of
//! each if a large value is read.

mod code;
mod compile;
mod constraint;
mod document;
mod escape;
mod fault;
mod filters;
mod item;
mod limits;
mod list_filters;
mod matching;
mod number;
mod number_filters;
mod origins;
mod pages;
mod parse;
mod parts;
mod path;
mod place;
mod predicates;
mod print;
mod reads;
mod record;
mod resolve;
mod run;
mod scope;
mod shape;
mod sheet;
mod syntax;
mod text_filters;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use code::Constant;
pub(crate) use constraint::Constraint;
pub(crate) use document::Document;
pub(crate) use escape::{Escape, Guarding, Marking, Start};
pub(crate) use limits::Budget;
pub use limits::{FUEL, WEIGHT};
pub(crate) use pages::Library;
pub(crate) use parts::{Joined, Part, operands};
pub use path::PathTemplate;
pub(crate) use path::{Key, Keys};
pub(crate) use reads::{ENTRY, Reads, spelled};
pub use record::Record;
pub(crate) use record::Rule;
pub use scope::Scope;
pub use shape::Shape;

use crate::diagnostic::Diagnostic;
use crate::text::{Location, Spanned};
use crate::value::Value;
use code::{Body, Code, Compiled};
use fault::Fault;
use item::Item;
use limits::Halt;
use resolve::resolve;
use run::Run;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Why an evaluation gave no value. A condition that fails denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, in one line, lower case, in the words of the language.
    pub message: String,
    /// What kind of cause it has.
    pub kind: FailureKind,
}

/// What kind of cause a failure has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A name, a value or a limit of this evaluation.
    Fault,
    /// An absent value: an optional parameter, or an empty state.
    Absence,
    /// The budget of bytes that all values of one occasion share is spent.
    Budget,
}

impl Failure {
    /// A failure that is not due to an absent value.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: FailureKind::Fault }
    }

    /// The budget of the occasion is spent.
    pub(super) fn over_budget() -> Self {
        Self { message: Budget::EXCEEDED.to_owned(), kind: FailureKind::Budget }
    }

    /// A failure due to an absent value.
    pub(super) fn absent(message: impl Into<String>) -> Self {
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
    /// None for a text without Jinja in it.
    compiled: Option<Compiled>,
    reads: Reads,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression`, at the word that is wrong if the place of the string can be mapped, or else at the
    /// string.
    pub fn parse(text: &Spanned<String>) -> Result<Expression, Box<Diagnostic>> {
        let parsed = compile::expression(&text.value).map(|compiled| Parsed::new(text, compiled));
        let braces = text.value.trim_start().starts_with("{{").then(|| "leave out the braces".to_owned());
        Ok(Expression(Arc::new(parsed.map_err(|fault| Fault { help: braces.or(fault.help), ..fault }.at(text))?)))
    }

    /// The source as typed.
    pub fn source(&self) -> &str {
        &self.0.text
    }

    /// Its place.
    pub fn at(&self) -> Location {
        self.0.at
    }

    /// The paths that it reads from its scope, in the order of the text, each as far as it is known without evaluation.
    pub fn reads(&self) -> &[Vec<String>] {
        self.0.reads.paths()
    }

    /// The same, with the place of each.
    pub(crate) fn reads_at(&self) -> &Reads {
        &self.0.reads
    }

    /// Evaluates it.
    ///
    /// # Errors
    ///
    /// A name that is not in scope, values that do not fit an operator or filter, or a limit that is reached.
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
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression`, at the word that is wrong if the place of the string can be mapped, or else at the
    /// string.
    pub fn parse(text: &Spanned<String>) -> Result<Template, Box<Diagnostic>> {
        if !["{{", "{%", "{#"].iter().any(|open| text.value.contains(open)) {
            let parsed = Parsed { text: text.value.clone(), at: text.at, compiled: None, reads: Reads::default() };
            return Ok(Template(Arc::new(parsed)));
        }
        let parsed = compile::template(&text.value).map(|compiled| Parsed::new(text, compiled));
        Ok(Template(Arc::new(parsed.map_err(|fault| fault.at(text))?)))
    }

    /// The source as typed.
    pub fn source(&self) -> &str {
        &self.0.text
    }

    /// Its place.
    pub fn at(&self) -> Location {
        self.0.at
    }

    /// The text, if it has no Jinja in it.
    pub fn plain(&self) -> Option<&str> {
        self.0.compiled.is_none().then_some(&self.0.text)
    }

    /// Whether its value is always a text: it is not exactly one `{{ … }}`.
    pub(crate) fn is_text(&self) -> bool {
        self.0.compiled.as_ref().is_none_or(|compiled| matches!(compiled.body, Body::Text(_)))
    }

    /// The paths that it reads from its scope; see [`Expression::reads`].
    pub fn reads(&self) -> &[Vec<String>] {
        self.0.reads.paths()
    }

    /// The same, with the place of each.
    pub(crate) fn reads_at(&self) -> &Reads {
        &self.0.reads
    }

    /// Renders it: to a value of any type if it is exactly one `{{ … }}`, otherwise to text.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn render(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        self.0.value(scope)
    }

    /// Renders it to text, as it would be printed between words: `none` gives an empty one.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn text(&self, scope: &Scope<'_>) -> Result<String, Failure> {
        match &self.0.compiled {
            None => Ok(self.0.text.clone()),
            Some(_) => self.0.evaluated(scope, |run, item| {
                let mut text = String::new();
                run.print(&item, &mut text)?;
                run.keep(text.len())?;
                Ok(text)
            }),
        }
    }
}

impl Parsed {
    fn new(typed: &Spanned<String>, compiled: Compiled) -> Parsed {
        let reads = Reads::of(&compiled, typed);
        Parsed { text: typed.value.clone(), at: typed.at, compiled: Some(compiled), reads }
    }

    /// The value, if all that is evaluated is one path into the scope: most conditions and templates are no more.
    fn read<'s>(&self, scope: &'s Scope<'_>) -> Option<Result<Cow<'s, Value>, Failure>> {
        match &self.compiled {
            Some(Compiled { body: Body::Value(Code::Read(read)), reads, .. }) => Some(resolve(reads, *read, scope)),
            _ => None,
        }
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        if let Some(value) = self.read(scope) {
            return value.map(Cow::into_owned);
        }
        self.evaluated(scope, |run, item| {
            let before = run.bytes.get();
            let made = item.made();
            let value = run.value(item)?;
            run.keep(made + run.bytes.get() - before)?;
            Ok(value)
        })
    }

    /// What `make` makes of its value.
    fn evaluated<T>(
        &self,
        scope: &Scope<'_>,
        make: impl FnOnce(&Run<'_>, Item<'_>) -> Result<T, Halt>,
    ) -> Result<T, Failure> {
        let compiled = self.compiled.as_ref();
        let run = Run::new(compiled.map_or(&[], |compiled| &compiled.reads), scope);
        let item = match compiled.map(|compiled| &compiled.body) {
            None => Item::Text(&self.text),
            Some(Body::Value(code)) => run.item(code).map_err(|halt| halt.outside(run.reads, scope))?,
            Some(Body::Text(page)) => sheet::text(page, run.reads, scope, None, self.text.len())?.0.into(),
        };
        make(&run, item).map_err(|halt| halt.outside(run.reads, scope))
    }
}

/// The filters that expressions can use, in alphabetical order.
pub fn filters() -> impl Iterator<Item = &'static str> {
    compile::filters()
}

/// The tests that can follow `is`, in alphabetical order.
pub fn predicates() -> impl Iterator<Item = &'static str> {
    compile::tests()
}
