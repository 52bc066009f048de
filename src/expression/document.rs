//! Documents: what does a whole file of templates give?
//!
//! In: the text of a file, the files that it includes, how values are escaped, and a [`Scope`].
//! Out: [`Document`], read once and rendered often.
//! Never: prints a value unescaped: every value is escaped for the place where it is.
//!
//! The language is that of templates, with `{% include "FILE" %}`, and the filter `markup`, which prints unescaped what
//! the rules themselves write. A line with only a statement leaves no blank line. Included files are inserted when the
//! document is read, which also finds a document that includes itself.

use super::escape::Escape;
use super::lower::{self, Library};
use super::lowered::{Form, Lowered};
use super::reads::Reads;
use super::{Failure, Fault, Scope, engine, page};
use crate::diagnostic::Diagnostic;
use crate::text::{Location, SourceId, Span, Spanned};
use minijinja::Environment;
use std::sync::Arc;

/// A file of templates. Cheap to clone, and shared by all threads.
#[derive(Debug, Clone)]
pub(crate) struct Document(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    lowered: Arc<Lowered>,
    environment: Environment<'static>,
    escape: Arc<Escape>,
    /// Whether a value could form structure together with the text around it.
    joins: bool,
    reads: Reads,
    at: Location,
}

impl Document {
    /// Reads the file `source` with everything it includes. `own` are the names whose values never come from a
    /// user, which `markup` accepts.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression` at the word that is wrong, in the file where it is.
    pub(crate) fn parse(
        library: &dyn Library,
        source: SourceId,
        own: &[&str],
        escape: &Arc<Escape>,
    ) -> Result<Document, Box<Diagnostic>> {
        let text = library.text(source);
        let at = Location { source, span: Span::new(0, text.len()) };
        let typed = |text: &str, source| {
            let at = Location { source, span: Span::new(0, text.len()) };
            Spanned::new(text.to_owned(), at)
        };
        let faulty = |fault: Fault| fault.at(&typed(text, source));
        let (lowered, joins) = lower::document(source, library, own, escape).map_err(faulty)?;
        let Form::Text(code, _) = &lowered.form else {
            return Err(Fault::new(0..text.len(), "this is not a document").at(&typed(text, source)));
        };
        let environment = engine::compile_document(code, escape)
            .map_err(|error| Fault { span: Span::new(0, text.len()), ..Fault::of(&error, text) })
            .map_err(faulty)?;
        let (reads, escape) = (Reads::of(&lowered, &typed(text, source)), escape.clone());
        Ok(Document(Arc::new(Parsed { lowered: Arc::new(lowered), environment, escape, joins, reads, at })))
    }

    /// What it reads from its scope.
    pub(crate) fn reads(&self) -> &Reads {
        &self.0.reads
    }

    /// Its place.
    pub(crate) fn at(&self) -> Location {
        self.0.at
    }

    /// Renders it to text.
    ///
    /// # Errors
    ///
    /// Those of [`super::Expression::value`].
    pub(crate) fn render(&self, scope: &Scope<'_>) -> Result<String, Failure> {
        let (text, places) = match page::text(&self.0.lowered, scope, Some(&self.0.escape)) {
            Some(written) => written,
            None => engine::render(&self.0.environment, &self.0.lowered, scope)?,
        };
        Ok(if self.0.joins { self.0.escape.settled(text, &places) } else { text })
    }

    /// Whether rendering without the engine, if possible, gives the same text as the engine.
    #[cfg(test)]
    pub(super) fn is_page_of_engine(&self, scope: &Scope<'_>) -> bool {
        let page = page::text(&self.0.lowered, scope, Some(&self.0.escape));
        page.is_none_or(|page| Ok(page) == engine::render(&self.0.environment, &self.0.lowered, scope))
    }
}
