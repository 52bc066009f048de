//! Rows: how are diagnostics, findings, failed expectations and coverage given to programs?
//!
//! In: diagnostics of packs and cases, findings of outcomes, failed expectations, uncovered declarations; their
//! sources.
//! Out: [`Row`]s of the engine, with the paths that the user typed.
//! Never: formats a row; each format has its own file.

use super::Pen;
use super::suggestion::meant;
use rulebook::cases::{Case, CaseFailure, Covered};
use rulebook::diagnostic::Row;
use rulebook::outcome::Finding;
use rulebook::text::Source;
use rulebook::{Code, Diagnostic, Sources};

impl Pen {
    /// The row for a diagnostic about the files in `sources`.
    pub fn row(&self, sources: &Sources, diagnostic: &Diagnostic) -> Row {
        Row::of(diagnostic, sources).with_files(|file| self.display_name(file))
    }

    /// The row for a finding about the answer `response`.
    pub fn finding_row(&self, response: &Source, finding: &Finding) -> Row {
        let mut diagnostic = Diagnostic::new(finding.code.clone(), None, finding.message.clone());
        diagnostic.severity = finding.severity;
        diagnostic.id.clone_from(&finding.id);
        diagnostic.label = finding.strategy.map(|strategy| format!("strategy: {strategy}"));
        diagnostic.help.clone_from(&finding.help);
        let row = Row::in_source(&diagnostic, response, finding.span.into());
        row.with_files(|file| self.display_name(file))
    }

    /// The row for a failed expectation, in its case file.
    pub fn failure_row(&self, sources: &Sources, case: &Case, failure: &CaseFailure) -> Row {
        let meant = meant(failure).map(|meant| meant + "; ").unwrap_or_default();
        let help = format!("{meant}the case claims: {}", case.header.claim.value);
        self.row(sources, &Diagnostic::new(Code::CASE_FAILED, failure.at, failure.to_string()).with_help(help))
    }

    /// The row for a declaration that no case exercised, in its pack.
    pub fn uncovered_row(&self, covered: &Covered) -> Row {
        let reason = covered.reason.as_ref().map(ToString::to_string).unwrap_or_default();
        let message = format!("no case exercises the {} `{}`: {reason}", covered.kind, covered.name);
        let help = "write a case that does, or take it out";
        let diagnostic = Diagnostic::new(Code::CASE_UNCOVERED, None, message).with_help(help);
        let mut row = Row::of(&diagnostic, &Sources::default());
        if let Some(place) = &covered.rule {
            row.file = Some(self.display_name(&*place.file));
            (row.line, row.column) = (Some(place.line), Some(place.column));
            (row.end_line, row.end_column) = (row.line, row.column);
        }
        row
    }
}

/// The row for a diagnostic without a place, about a line of a file.
pub fn row_of_line(file: String, line: usize, diagnostic: &Diagnostic) -> Row {
    let mut row = Row::of(diagnostic, &Sources::default());
    row.context.clone_from(&row.message);
    (row.file, row.line) = (Some(file), Some(line));
    row
}
