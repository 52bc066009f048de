//! Found: what is said to a host whose pack, tools or session cannot be used?
//!
//! In: what the engine found, with the sources.
//! Out: a tuple of `Diagnostic`s, and the same drawn with the lines that they are about.
//! Never: raises: the classes of exceptions are Python's.

use super::part::part;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rulebook::{Diagnostic, Sources};
use rulebook_report::{Pen, unpainted};

/// Diagnostics as Python has them: a tuple of objects, and one text.
pub(crate) type Found<'py> = (Bound<'py, PyTuple>, String);

/// The diagnostics as Python has them; `pen` knows how the files are called.
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

/// The diagnostics with the lines that they are about, without colours.
pub(crate) fn drawn(pen: &Pen, sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    let all: Vec<String> = diagnostics.iter().map(|one| unpainted(&pen.diagnostic(sources, one))).collect();
    all.join("\n")
}
