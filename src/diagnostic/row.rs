//! Rows: at which lines and columns is each diagnostic?
//!
//! In: a diagnostic and the sources that its places are in.
//! Out: [`Row`]s: the structure that all machine-readable formats contain.
//! Never: formats a row; reports do.

use super::{Code, Diagnostic, Severity};
use crate::text::{Location, Source, Sources, Span};
use serde::{Deserialize, Serialize};

/// The most characters of a line that are stored for each row, because the line may be the whole answer.
const MAX_CONTEXT: usize = 1_000;

/// One diagnostic as programs read it: what is wrong, where, and how to fix it.
///
/// Lines and columns count from 1, columns in characters; the end is the place after the last character. Absent values
/// are `null` or `[]`; no member is ever missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Row {
    /// What kind of diagnostic it is.
    pub code: Code,
    /// The name of the guardrail that tripped, if one did.
    pub id: Option<String>,
    /// `error`, `warning` or `info`.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The file: as messages name it, or as the user typed it.
    pub file: Option<String>,
    /// The line of its start.
    pub line: Option<usize>,
    /// The column of its start.
    pub column: Option<usize>,
    /// The line of its end.
    pub end_line: Option<usize>,
    /// The column of its end.
    pub end_column: Option<usize>,
    /// A few words to show at the place.
    pub label: Option<String>,
    /// How to fix it.
    pub help: Option<String>,
    /// Other places that explain it.
    pub labels: Vec<RowLabel>,
    /// The start of its line. A finding counts as the same as long as this is unchanged, wherever the line moves.
    #[serde(skip)]
    pub context: String,
}

/// Another place that explains a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RowLabel {
    /// The file.
    pub file: Option<String>,
    /// The line of its start.
    pub line: Option<usize>,
    /// The column of its start.
    pub column: Option<usize>,
    /// The line of its end.
    pub end_line: Option<usize>,
    /// The column of its end.
    pub end_column: Option<usize>,
    /// What is there.
    pub text: String,
}

impl Row {
    /// The row for a diagnostic about the files in `sources`.
    pub fn of(diagnostic: &Diagnostic, sources: &Sources) -> Self {
        let labels = diagnostic.labels.iter().map(|label| {
            let mut place = Self::new(diagnostic);
            place.put(source_of(sources, Some(label.at)));
            let Self { file, line, column, end_line, end_column, .. } = place;
            RowLabel { file, line, column, end_line, end_column, text: label.text.clone() }
        });
        let mut row = Self { labels: labels.collect(), ..Self::new(diagnostic) };
        row.put(source_of(sources, diagnostic.at));
        row
    }

    /// The row for a diagnostic about the bytes at `span` of `source`.
    pub fn in_source(diagnostic: &Diagnostic, source: &Source, span: Span) -> Self {
        let mut row = Self::new(diagnostic);
        row.put(Some((source, span)));
        row
    }

    /// The row without a place.
    fn new(diagnostic: &Diagnostic) -> Self {
        let Diagnostic { code, id, severity, message, label, help, .. } = diagnostic.clone();
        let (file, line, column, end_line, end_column) = Default::default();
        let (labels, context) = Default::default();
        let (message, help) = (message.into(), help.map(String::from));
        Self { code, id, severity, message, file, line, column, end_line, end_column, label, help, labels, context }
    }

    /// This row with other names of the files, such as the paths that a user typed.
    #[must_use]
    pub fn with_files(mut self, name: impl Fn(&str) -> String) -> Self {
        self.file = self.file.map(|file| name(&file));
        for label in &mut self.labels {
            label.file = label.file.take().map(|file| name(&file));
        }
        self
    }

    /// `file:line:column`, as far as known.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            (Some(line), None) => format!("{file}:{line}"),
            _ => file.clone(),
        })
    }

    fn put(&mut self, place: Option<(&Source, Span)>) {
        let Some((source, span)) = place else { return };
        let (start, end) = (source.place(span.start), source.place(span.end));
        self.file = Some(source.name().to_owned());
        (self.line, self.column) = (Some(start.line), Some(start.column));
        (self.end_line, self.end_column) = (Some(end.line), Some(end.column));
        self.context = source.line(start.line).trim().chars().take(MAX_CONTEXT).collect();
    }
}

fn source_of(sources: &Sources, at: Option<Location>) -> Option<(&Source, Span)> {
    let at = at?;
    Some((sources.get(at.source)?, at.span))
}
