//! Document: which text does a whole file of templates render to?
//!
//! In: the text of a file, the files that it includes, how values are escaped, and a [`Scope`].
//! Out: [`TemplateDocument`], parsed once and rendered often.
//! Never: prints a value unescaped, unless the file asks for it: every other value is escaped for its place.
//!
//! The language is that of templates, with `{% include "FILE" %}`, the filter `markup`, which prints text of the rules
//! themselves unescaped, and the filter `guarded`. A line with only a statement leaves no blank line. Included files
//! are inserted when the document is parsed, which also detects a document that includes itself.

use super::escape::{Escape, EscapeSlot, ForeignRanges};
use super::pages::{DocumentWalk, EscapeMode, Included, Library};
use crate::diagnostic::Diagnostic;
use crate::expression::{Failure, File, Printed, Reads, Scope};
use crate::text::{Location, SourceId, Span, Spanned};
use std::sync::Arc;

/// A file of templates. Cheap to clone, and shared by all threads.
#[derive(Debug, Clone)]
pub(crate) struct TemplateDocument(Arc<ParsedDocument>);

#[derive(Debug)]
struct ParsedDocument {
    file: File,
    escape: Arc<Escape>,
    /// How the value at each place is printed.
    escape_modes: Vec<EscapeMode>,
    /// Whether a value could form an opener or closer together with the text around it.
    joins: bool,
    at: Location,
}

impl TemplateDocument {
    /// Parses the file `source` with everything it includes. `own` are the names whose values never come from a user:
    /// only these can be printed with `markup`.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression` at the wrong word, in the file where it is.
    pub(crate) fn parse(
        library: &dyn Library,
        source: SourceId,
        own: &[&str],
        escape: &Arc<Escape>,
    ) -> Result<TemplateDocument, Box<Diagnostic>> {
        let text = library.text(source);
        let typed = Spanned::new(text.to_owned(), Location { source, span: Span::new(0, text.len()) });
        let mut walk = DocumentWalk::new(library, source, own, escape);
        let file = File::parse(text, &typed, Box::new(Included::new(library, source)), |page| walk.page(page))?;
        let DocumentWalk { escape_modes, joins, .. } = walk;
        Ok(TemplateDocument(Arc::new(ParsedDocument {
            file,
            escape: escape.clone(),
            escape_modes,
            joins,
            at: typed.at,
        })))
    }

    /// The paths that the document reads from its scope.
    pub(crate) fn reads(&self) -> &Reads {
        self.0.file.reads()
    }

    /// The place of the file.
    pub(crate) fn at(&self) -> Location {
        self.0.at
    }

    /// Renders it to text.
    ///
    /// # Errors
    ///
    /// Those of [`crate::expression::Expression::value`].
    pub(crate) fn render(&self, scope: &Scope<'_>) -> Result<String, Failure> {
        let ParsedDocument { file, escape, escape_modes, joins, .. } = &*self.0;
        let mut places = ForeignRanges::default();
        let text = file.text(scope, &mut |place: usize, printed: &Printed<'_>, out: &mut String| {
            let (start, escape_mode) = (out.len(), escape_modes.get(place));
            match escape_mode {
                Some(EscapeMode::Guarded(dialect)) => {
                    out.push_str(&escape.guarded(dialect, &printed.text).unwrap_or_default());
                }
                Some(EscapeMode::Escaped(slot)) if !printed.is_bare => escape.write(&printed.text, *slot, out),
                _ => out.push_str(&printed.text),
            }
            match escape_mode {
                Some(EscapeMode::Escaped(EscapeSlot::Plain)) => places.add_plain(start..out.len()),
                _ => places.add(start..out.len(), matches!(escape_mode, Some(EscapeMode::Guarded(_)))),
            }
        })?;
        Ok(if *joins { escape.break_marks(text, &places) } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::super::MarkupStart;
    use super::*;
    use crate::value::value;

    /// The first bytes of the openers of tags and of brackets.
    fn openers() -> [MarkupStart; 2] {
        (*b"<[").map(MarkupStart::byte)
    }

    /// A document without includes.
    struct Alone<'t>(&'t str);

    impl Library for Alone<'_> {
        fn find(&self, _: &str, _: SourceId) -> Option<SourceId> {
            None
        }

        fn text(&self, _: SourceId) -> &str {
            self.0
        }

        fn missing(&self, _: &str, _: SourceId) -> Option<Diagnostic> {
            None
        }

        fn is_xml(&self, _: SourceId) -> bool {
            true
        }
    }

    #[test]
    fn a_line_of_statements_alone_leaves_nothing() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let document =
                TemplateDocument::parse(&Alone(text), SourceId::RESPONSE, &[], &Arc::new(Escape::new(openers())));
            assert_eq!(
                document.ok().and_then(|document| document.render(&Scope::new()).ok()).as_deref(),
                Some(expected)
            );
        }
        check("a\n{% if true %}\nb\n{% endif %}\nc\n", "a\nb\nc\n");
        check("{# said #}{% set x = 1 %}{% if x\n %}\t\r\nb\n  {% endif %}", "b\n");
        // Any other line retains its line break.
        check("a{% if true %} b{% endif %}\nc\n", "a b\nc\n");
        check("{% for x in [1, 2] %}{{ x }},{% endfor %}\n\nc", "1,2,\n\nc");
        check("a {# said #}\nb", "a \nb");
    }

    #[test]
    fn none_prints_nothing_in_a_document() {
        let params = value!({ "nil": null });
        for filter in ["", "| markup", "| upper", "| string"] {
            let text = format!("<a>{{{{ params.absent {filter} }}}}{{{{ params.nil {filter} }}}}</a>");
            let document = TemplateDocument::parse(
                &Alone(&text),
                SourceId::RESPONSE,
                &["params"],
                &Arc::new(Escape::new(openers())),
            )
            .expect(&text);
            assert_eq!(document.render(&Scope::new().with("params", &params)).as_deref(), Ok("<a></a>"), "{text}");
        }
    }
}
