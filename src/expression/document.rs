//! Documents: what does a whole file with templates in it say here?
//!
//! In: the text of a file, the files that it includes, how values are escaped, and a [`Scope`].
//! Out: [`Document`], read once and rendered often.
//! Never: lets a value through as it is: every value that it prints is escaped for the place where it stands.
//!
//! The language is that of templates, with `{% include "FILE" %}` besides, and functions whose results are the engine's own
//! words. A line that holds nothing but a statement leaves nothing behind. What is included is written into the document
//! when it is read, so a document that includes itself is found then.

use super::escape::Escape;
use super::lower::Lowered;
use super::{Failure, Fault, Scope, engine, lower, reads_of};
use crate::diagnostic::Diagnostic;
use crate::text::{Location, SourceId, Span, Spanned};
use minijinja::Environment;
use serde_json::Value as Json;
use std::sync::Arc;

/// The texts that a document may include, by their names.
pub(crate) trait Library {
    /// The text called `name`, and which source it is.
    fn text(&self, name: &str) -> Option<(&str, SourceId)>;
}

/// A use of one of the engine's functions. Its arguments are constants, so its text depends on nothing in the scope.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The name under which the scope holds its text.
    pub(crate) key: String,
    /// The function.
    pub(crate) name: String,
    /// Its arguments in order.
    pub(crate) args: Vec<Json>,
    /// Its arguments by name.
    pub(crate) named: Vec<(String, Json)>,
    /// Where it stands.
    pub(crate) at: Location,
}

/// A file with templates in it. Cheap to clone, and shared by all threads.
#[derive(Debug, Clone)]
pub(crate) struct Document(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    lowered: Arc<Lowered>,
    environment: Environment<'static>,
    reads: Vec<Vec<String>>,
    calls: Vec<Call>,
    at: Location,
}

impl Document {
    /// Reads the text called `name` with all that it includes; `functions` are the ones that it may call.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression` at the word that is wrong, in whichever file it stands.
    pub(crate) fn parse(
        library: &dyn Library,
        name: &str,
        functions: &[&str],
        escape: &Arc<Escape>,
    ) -> Result<Document, Box<Diagnostic>> {
        let (text, source) = library.text(name).unwrap_or(("", SourceId::RESPONSE));
        let at = Location { source, span: Span::new(0, text.len()) };
        let typed = |text: &str, source| {
            let at = Location { source, span: Span::new(0, text.len()) };
            Spanned::new(text.to_owned(), at)
        };
        let faulty = |fault: Fault| fault.at(&typed(text, source));
        let (lowered, calls) = lower::document(text, name, source, library, functions).map_err(faulty)?;
        let lower::Form::Text(code) = &lowered.form else {
            return Err(Fault::new(0..text.len(), "this is not a document").at(&typed(text, source)));
        };
        let environment = engine::compile_document(code, escape)
            .map_err(|error| Fault { span: Span::new(0, text.len()), ..Fault::of(&error, text) })
            .map_err(faulty)?;
        let reads = reads_of(&lowered).into_iter().filter(|path| path.first().is_none_or(|name| !name.contains('(')));
        let parsed = Parsed { reads: reads.collect(), environment, calls, at, lowered: Arc::new(lowered) };
        Ok(Document(Arc::new(parsed)))
    }

    /// What it reads from its scope, as [`super::Expression::reads`] says it; what it calls is not among it.
    pub(crate) fn reads(&self) -> &[Vec<String>] {
        &self.0.reads
    }

    /// What it calls, each once.
    pub(crate) fn calls(&self) -> &[Call] {
        &self.0.calls
    }

    /// Where it stands.
    pub(crate) fn at(&self) -> Location {
        self.0.at
    }

    /// Its text.
    ///
    /// # Errors
    ///
    /// As for [`super::Expression::value`].
    pub(crate) fn render(&self, scope: &Scope<'_>) -> Result<String, Failure> {
        engine::render(&self.0.environment, &self.0.lowered, scope)
    }
}
