//! Rows: where is each finding, in lines and columns?
//!
//! In: diagnostics of packs and cases, findings of outcomes, failed expectations, with their sources.
//! Out: [`Row`]s: the structure that all formats for programs write.
//! Never: lays a row out; each format has its own file.

use super::Pen;
use super::meant::meant;
use rulebook::cases::{Case, Covered, Failure};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::outcome::Finding;
use rulebook::text::{Location, Source, Sources, Span};
use serde::Serialize;

/// The most characters of a line that are kept for each finding, because the line may be the whole answer.
const MOST_CONTEXT: usize = 1_000;

/// One finding: what is wrong, where, and how to fix it.
///
/// Lines and columns count from 1, columns in characters; the end is the place after the last character. Absent values
/// are `null` or `[]`; no member is ever missing.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Row {
    /// Its code, with its area; `rulebook explain CODE` tells more.
    pub code: String,
    /// The name of the guardrail that tripped, if one did.
    pub id: Option<String>,
    /// `error`, `warning` or `info`.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The file, as the user would type it.
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
    pub(super) context: String,
}

/// Another place that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
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
    pub fn of_diagnostic(pen: &Pen, sources: &Sources, diagnostic: &Diagnostic) -> Self {
        let row = Self {
            code: diagnostic.code.to_string(),
            id: diagnostic.id.clone(),
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            label: diagnostic.label.clone(),
            help: diagnostic.help.clone(),
            labels: diagnostic.labels.iter().map(|label| label_of(pen, sources, label)).collect(),
            ..Self::empty()
        };
        row.at(pen, source_of(sources, diagnostic.at))
    }

    /// The row for a diagnostic without a place, about a line of a file.
    pub fn of_line(file: String, line: usize, diagnostic: &Diagnostic) -> Self {
        let row = Self::of_diagnostic(&Pen::default(), &Sources::default(), diagnostic);
        Self { file: Some(file), line: Some(line), context: row.message.clone(), ..row }
    }

    /// The row for a finding about the answer `response`.
    pub fn of_finding(pen: &Pen, response: &Source, finding: &Finding) -> Self {
        let row = Self {
            code: finding.code.clone(),
            id: finding.id.clone(),
            severity: finding.severity,
            message: finding.message.clone(),
            label: finding.strategy.as_ref().map(|strategy| format!("strategy: {strategy}")),
            help: finding.help.clone(),
            ..Self::empty()
        };
        row.at(pen, Some((response, Span::new(finding.span.start, finding.span.end))))
    }

    /// The row for a failed expectation, in its case file.
    pub fn of_failure(pen: &Pen, sources: &Sources, case: &Case, failure: &Failure) -> Self {
        let row = Self {
            code: Code::CASE_FAILED.to_string(),
            severity: Severity::Error,
            message: failure.to_string(),
            help: Some({
                let meant = meant(failure).map(|meant| meant + "; ").unwrap_or_default();
                format!("{meant}the case claims: {}", case.header.claim.value)
            }),
            ..Self::empty()
        };
        row.at(pen, source_of(sources, Some(failure.at)))
    }

    /// The row for a declaration that no case exercised, in its pack.
    pub fn of_uncovered(pen: &Pen, covered: &Covered) -> Self {
        let reason = covered.reason.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut row = Self {
            code: Code::CASE_UNCOVERED.to_string(),
            severity: Severity::Error,
            message: format!("no case exercises the {} `{}`: {reason}", covered.kind, covered.name),
            help: Some("write a case that does, or take it out".to_owned()),
            ..Self::empty()
        };
        if let Some(place) = &covered.rule {
            let shown = pen.shown(place);
            let mut parts = shown.rsplitn(3, ':');
            row.column = parts.next().and_then(|column| column.parse().ok());
            row.line = parts.next().and_then(|line| line.parse().ok());
            row.file = parts.next().map(str::to_owned);
            (row.end_line, row.end_column) = (row.line, row.column);
        }
        row
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

    fn empty() -> Self {
        Self {
            code: String::new(),
            id: None,
            severity: Severity::Info,
            message: String::new(),
            file: None,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
            label: None,
            help: None,
            labels: Vec::new(),
            context: String::new(),
        }
    }

    fn at(mut self, pen: &Pen, place: Option<(&Source, Span)>) -> Self {
        let Some((source, span)) = place else { return self };
        let (start, end) = (source.place(span.start), source.place(span.end));
        self.file = Some(pen.shown(source.name()));
        self.line = Some(start.line);
        self.column = Some(start.column);
        self.end_line = Some(end.line);
        self.end_column = Some(end.column);
        self.context = source.line(start.line).trim().chars().take(MOST_CONTEXT).collect();
        self
    }
}

fn label_of(pen: &Pen, sources: &Sources, label: &rulebook::diagnostic::Label) -> RowLabel {
    let place = Row::empty().at(pen, source_of(sources, Some(label.at)));
    let Row { file, line, column, end_line, end_column, .. } = place;
    RowLabel { file, line, column, end_line, end_column, text: label.text.clone() }
}

fn source_of(sources: &Sources, at: Option<Location>) -> Option<(&Source, Span)> {
    let at = at?;
    Some((sources.get(at.source)?, at.span))
}
