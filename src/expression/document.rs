//! Documents: what does a whole file of templates give?
//!
//! In: the text of a file, the files that it includes, how values are escaped, and a [`Scope`].
//! Out: [`Document`], read once and rendered often.
//! Never: prints a value unescaped: every value is escaped for the place where it is.
//!
//! The language is that of templates, with `{% include "FILE" %}`, and the filter `markup`, which prints unescaped what
//! the rules themselves write. A line with only a statement leaves no blank line. Included files are inserted when the
//! document is read, which also finds a document that includes itself.

use super::code::{Body, Compiled};
use super::escape::Escape;
use super::pages::{self, Library};
use super::reads::Reads;
use super::{Failure, Scope, sheet};
use crate::diagnostic::Diagnostic;
use crate::text::{Location, SourceId, Span, Spanned};
use std::sync::Arc;

/// A file of templates. Cheap to clone, and shared by all threads.
#[derive(Debug, Clone)]
pub(crate) struct Document(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    compiled: Compiled,
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
        let typed = typed(text, source);
        let (compiled, joins) = pages::document(source, library, own, escape).map_err(|fault| fault.at(&typed))?;
        let (reads, escape) = (Reads::of(&compiled, &typed), escape.clone());
        Ok(Document(Arc::new(Parsed { compiled, escape, joins, reads, at })))
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
        let Body::Text(page) = &self.0.compiled.body else { return Ok(String::new()) };
        let (text, places) = sheet::text(page, &self.0.compiled.reads, scope, Some(&self.0.escape), 0)?;
        Ok(if self.0.joins { self.0.escape.settled(text, &places) } else { text })
    }
}
