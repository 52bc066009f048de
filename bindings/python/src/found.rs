//! Found: how are diagnostics of a pack, tools or session passed to Python?
//!
//! In: diagnostics of the engine, and their sources.
//! Out: a tuple of `Diagnostic` objects, and a text with the lines that they are about.
//! Never: raises an exception: the package in Python does.

use super::part::part;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rulebook::{Diagnostic, Sources};
use rulebook_report::{Pen, unpainted};

/// Diagnostics for Python: a tuple of objects, and one text.
pub(crate) type Found<'py> = (Bound<'py, PyTuple>, String);

/// The diagnostics for Python; `pen` prints the paths of files.
pub(crate) fn found<'py>(
    py: Python<'py>,
    pen: &Pen,
    sources: &Sources,
    diagnostics: &[Diagnostic],
) -> PyResult<Found<'py>> {
    let rows = diagnostics.iter().map(|one| part(py, "Diagnostic", &pen.row(sources, one)));
    let rows = rows.collect::<PyResult<Vec<_>>>()?;
    Ok((PyTuple::new(py, rows)?, drawn(pen, sources, diagnostics)))
}

/// The diagnostics as text with the lines that they are about, without colours.
pub(crate) fn drawn(pen: &Pen, sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    let all: Vec<String> = diagnostics.iter().map(|one| unpainted(&pen.diagnostic(sources, one))).collect();
    all.join("\n")
}
