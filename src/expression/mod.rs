//! Expressions: what does a condition or template of a pack evaluate to?
//!
//! In: the text of a condition, template, value or path, and a [`Scope`] with what it can see.
//! Out: [`Expression`], [`Template`], [`Shape`] and [`PathTemplate`], each checked once and evaluated often.
//! Never: knows what a name means, changes what it reads, or uses anything outside its scope.
//!
//! The language is Jinja; minijinja parses and evaluates it. Because a pack decides what a model may do, the
//! [lowering](lower) of what was typed, and the [guards](engine) in the result, change three things:
//!
//! * There is no *undefined*. An absent member is `none`, and so is a member of `none`; `default` replaces it. A
//!   name that is not in scope is a failure. Where a collection is expected, `none` is an empty one.
//! * Arithmetic and order need values of one kind: `none + 1` and `none < 3` fail, so a condition on an absent value
//!   denies.
//! * `if`, `for` and `set NAME = VALUE` are the statements; there are no macros, methods or clocks. Only a
//!   [`Document`], which is a whole file, can include others.
//!
//! Limits of one evaluation: [`FUEL`] instructions, [`WEIGHT`] bytes converted, made or searched, [`OUTPUT`] bytes of
//! text, and more of each if a large value is read. [Expressions](quick) and [pages](page) with only simple parts are
//! [run] without the engine, on borrowed values. The engine evaluates everything else.

mod constraint;
mod document;
mod ends;
mod engine;
mod escape;
mod fault;
mod filters;
mod held;
mod lower;
mod lowered;
mod matching;
mod page;
mod parts;
mod path;
mod place;
mod quick;
mod reads;
mod record;
mod resolve;
mod run;
mod scale;
mod scope;
mod shape;

#[cfg(test)]
mod tests;

pub(crate) use constraint::Constraint;
pub(crate) use document::Document;
pub(crate) use escape::{Escape, Guarding, Marking, Start};
pub(crate) use lower::Library;
pub(crate) use lowered::Constant;
pub(crate) use parts::{Joined, Part, operands};
pub use path::PathTemplate;
pub(crate) use path::{Key, Keys};
pub(crate) use reads::{ENTRY, Reads, spelled};
pub use record::Record;
pub(crate) use record::Rule;
pub use scale::{FUEL, OUTPUT, WEIGHT};
pub use scope::Scope;
pub use shape::Shape;

use crate::diagnostic::Diagnostic;
use crate::text::{Location, Span, Spanned};
use crate::value::Value;
use fault::Fault;
use lowered::{Form, Lowered, Piece};
use minijinja::Environment;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Why an evaluation gave no value. A condition that fails denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, in one line, lower case, in the words of the language.
    pub message: String,
    /// Whether the cause is an absent value: an optional parameter, or an empty state.
    pub absence: bool,
}

impl Failure {
    /// A failure that is not due to an absent value.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), absence: false }
    }

    /// A failure due to an absent value.
    pub(super) fn absent(message: impl Into<String>) -> Self {
        Self { message: message.into(), absence: true }
    }

    fn of(error: minijinja::Error) -> Self {
        let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        Self { message: crate::text::excerpt(&message, 200).into_owned(), absence: false }
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
/// let (params, off) = (crate::value::json!({ "n": 2 }).into(), rulebook::Value::Null);
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
    body: Body,
    reads: Reads,
}

#[derive(Debug)]
enum Body {
    /// No Jinja in it: the text itself.
    Plain(Value),
    /// Only paths, or text and paths: read directly from the scope.
    Paths(Lowered),
    /// An expression.
    Value(Arc<Lowered>, engine::Code),
    /// Text with expressions and statements.
    Text(Arc<Lowered>, Environment<'static>),
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression`, at the word that is wrong if the place of the string can be mapped, or else at the
    /// string.
    pub fn parse(text: &Spanned<String>) -> Result<Expression, Box<Diagnostic>> {
        let parsed = lower::expression(&text.value).and_then(|lowered| Parsed::new(text, lowered));
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

    /// Evaluates it with the engine.
    #[cfg(test)]
    fn slow_value(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        match &self.0.body {
            Body::Value(lowered, code) => slow(code, lowered, scope),
            _ => self.0.value(scope),
        }
    }

    /// Whether its value is true: not `none`, `false`, zero or empty.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, Failure> {
        match &self.0.body {
            Body::Value(lowered, code) => match run::holds(lowered, scope) {
                Some(holds) => Ok(holds),
                None => Ok(engine::evaluate(code, lowered, scope)?.0.is_true()),
            },
            Body::Paths(lowered) => match lowered.form {
                Form::Read(read) => resolve::resolve(&lowered.reads, read, scope).map(|value| is_true(&value)),
                _ => self.0.value(scope).map(|value| is_true(&value)),
            },
            _ => self.0.value(scope).map(|value| is_true(&value)),
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
            let parsed = Parsed {
                text: text.value.clone(),
                at: text.at,
                body: Body::Plain(text.value.as_str().into()),
                reads: Reads::default(),
            };
            return Ok(Template(Arc::new(parsed)));
        }
        let parsed = lower::template(&text.value).and_then(|lowered| Parsed::new(text, lowered));
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
        matches!(self.0.body, Body::Plain(_)).then_some(&self.0.text)
    }

    /// Whether its value is always a text: it is not exactly one `{{ … }}`.
    pub(crate) fn is_text(&self) -> bool {
        match &self.0.body {
            Body::Plain(_) | Body::Text(..) => true,
            Body::Paths(lowered) => matches!(lowered.form, Form::Plain(_)),
            Body::Value(..) => false,
        }
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

    /// Renders it to text: `none` becomes `None`, and a boolean `True` or `False`, as in Jinja.
    ///
    /// # Errors
    ///
    /// Those of [`Expression::value`].
    pub fn text(&self, scope: &Scope<'_>) -> Result<String, Failure> {
        if let Some(text) = self.0.text(scope) {
            return text;
        }
        match self.0.value(scope)? {
            Value::String(text) => Ok((*text).to_owned()),
            other => {
                let mut out = engine::Capped::default();
                let done = out.print(&other);
                out.finish(done)
            }
        }
    }
}

impl Parsed {
    fn new(typed: &Spanned<String>, lowered: Lowered) -> Result<Parsed, Fault> {
        let text = typed.value.as_str();
        // What was typed is sound; what is refused here is nested too deeply.
        let deep = |error: minijinja::Error| Fault { span: Span::new(0, text.len()), ..Fault::of(&error, text) };
        let reads = Reads::of(&lowered, typed);
        let body = match &lowered.form {
            Form::Read(_) | Form::Plain(_) => Body::Paths(lowered),
            Form::Value(source, _) => {
                let code = engine::compile_expression(source).map_err(deep)?;
                Body::Value(Arc::new(lowered), code)
            }
            Form::Text(source, _) => {
                let environment = engine::compile_template(source).map_err(deep)?;
                Body::Text(Arc::new(lowered), environment)
            }
        };
        Ok(Parsed { text: text.to_owned(), at: typed.at, body, reads })
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        match &self.body {
            Body::Plain(text) => Ok(text.clone()),
            Body::Value(lowered, code) => match run::value(lowered, scope) {
                Some(value) => Ok(value),
                None => slow(code, lowered, scope),
            },
            Body::Paths(Lowered { form: Form::Read(read), reads, .. }) => {
                resolve::resolve(reads, *read, scope).map(Cow::into_owned)
            }
            Body::Paths(_) | Body::Text(..) => self.text(scope).unwrap_or_else(|| Ok(String::new())).map(Value::from),
        }
    }

    /// Its text, if it is always a text.
    fn text(&self, scope: &Scope<'_>) -> Option<Result<String, Failure>> {
        match &self.body {
            Body::Plain(_) => Some(Ok(self.text.clone())),
            Body::Paths(Lowered { form: Form::Plain(pieces), reads, .. }) => {
                // What is read is about as long as what names it.
                let mut out = engine::Capped::with_room(self.text.len());
                let mut print = |piece: &Piece| match piece {
                    Piece::Text(text) => out.text(text),
                    Piece::Read(read) => out.print(&*resolve::resolve(reads, *read, scope)?),
                };
                let done = pieces.iter().try_for_each(&mut print);
                Some(out.finish(done))
            }
            Body::Text(lowered, environment) => Some(match page::text(lowered, scope, None) {
                Some((text, _)) => Ok(text),
                None => engine::render(environment, lowered, scope).map(|(text, _)| text),
            }),
            Body::Paths(_) | Body::Value(..) => None,
        }
    }
}

fn slow(code: &engine::Code, lowered: &Arc<Lowered>, scope: &Scope<'_>) -> Result<Value, Failure> {
    let (value, scale) = engine::evaluate(code, lowered, scope)?;
    scale::value(&value, &scale)
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// The filters that expressions can use, in alphabetical order.
pub fn filters() -> impl Iterator<Item = &'static str> {
    filters::filters()
}

/// The tests that can follow `is`, in alphabetical order.
pub fn predicates() -> impl Iterator<Item = &'static str> {
    filters::predicates()
}
