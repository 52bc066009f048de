//! Reader: how is an answer read that arrives in pieces?
//!
//! In: pieces of a text, or chunks of the stream of an API.
//! Out: events as soon as they are certain, and the outcome at the end.
//! Never: waits for a piece: the caller passes them in.

use super::contract::Contract;
use super::engine::{faults, json_of, provider_of};
use super::found::Found;
use super::part::{part, whole};
use super::text::Answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rulebook::{Program, StreamEvent};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A reader of one answer.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Reader {
    reader: Mutex<Option<Box<rulebook::Reader<Arc<Program>>>>>,
}

impl Reader {
    pub(crate) fn new(reader: rulebook::Reader<Arc<Program>>) -> Self {
        Self { reader: Mutex::new(Some(Box::new(reader))) }
    }

    /// Calls `does` with the reader, without the lock of the interpreter: another thread may have locked the reader.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        does: impl FnOnce(&mut rulebook::Reader<Arc<Program>>) -> T + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| self.lock().as_deref_mut().map(does));
        done.ok_or_else(finished)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<rulebook::Reader<Arc<Program>>>>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Reader {
    fn push<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let piece = Answer::of(piece, "piece")?;
        events(py, self.with(py, |reader| reader.push(piece.bytes()))?)
    }

    /// The events after a chunk; or diagnostics, if it is not a chunk of the provider.
    fn push_chunk<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        chunk: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyTuple>>, Option<Found<'py>>)> {
        let provider = provider_of(provider)?;
        let chunk = json_of(chunk, "chunk")?;
        match self.with(py, |reader| reader.push_chunk(provider, &chunk))? {
            Ok(certain) => Ok((Some(events(py, certain)?), None)),
            Err(error) => Ok((None, Some(faults(py, &error.sources, &error.diagnostics)?))),
        }
    }

    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |reader| reader.text().to_owned())
    }

    #[getter]
    fn is_too_large(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |reader| reader.is_too_large())
    }

    /// The outcome, and the events that became certain only at the end.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let done = py.detach(|| self.lock().take().map(|reader| reader.finish()));
        let (outcome, rest) = done.ok_or_else(finished)?;
        Ok((whole(py, Contract::Outcome(Arc::new(outcome)))?, events(py, rest)?))
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the reader has finished: start another one for the next answer")
}

fn events(py: Python<'_>, certain: Vec<StreamEvent>) -> PyResult<Bound<'_, PyTuple>> {
    let objects = certain.iter().map(|event| part(py, "Event", event)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, objects)
}
