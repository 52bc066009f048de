//! Plan: which files does an outcome change below a folder?
//!
//! In: a folder, and an outcome or the result of `hear`.
//! Out: [`Plan`], which can be committed once; the change of each file, and the effects that do not apply to the files.
//! Never: has the lock of the interpreter while it reads or writes files.

use super::contract::Contract;
use super::found::{Found, found};
use super::objects::plain;
use super::part::Part;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rulebook::Sources;
use rulebook::outcome::EffectRecord;
use rulebook_fs::{Applied, Root};
use rulebook_report::Pen;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The changes of an outcome; `None` once they are committed.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Plan {
    plan: Mutex<Option<rulebook_fs::Plan>>,
}

/// The change of one file: its path, the kind of change, the path from which it was moved, its length, its bytes
/// before, its text after, the notes of the pack about the changes, and the diagnostics.
type File<'py> =
    (String, &'static str, Option<String>, u64, Option<Bound<'py, PyBytes>>, Option<String>, Vec<String>, Found<'py>);

/// The files, and the effects that do not apply to them.
type AppliedFiles<'py> = (Vec<File<'py>>, Bound<'py, PyAny>);

#[pymethods]
impl Plan {
    /// Reads the files below `root` that the effects change. There is no plan if the effects cannot be carried out.
    #[staticmethod]
    fn make<'py>(
        py: Python<'py>,
        root: PathBuf,
        result: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Self>, AppliedFiles<'py>)> {
        let contract = contract_of(result)?;
        let made = py.detach(|| {
            let root = Root::open(&root)?;
            Ok::<_, rulebook_fs::ReadError>(
                rulebook_fs::plan(&root, effects(contract)).map(|plan| (plan.preview(), plan)),
            )
        });
        match made.map_err(|error| PyOSError::new_err(error.to_string()))? {
            Ok((applied, plan)) => Ok((Some(Self { plan: Mutex::new(Some(plan)) }), files(py, &applied)?)),
            Err(applied) => Ok((None, files(py, &applied)?)),
        }
    }

    /// Writes the files: all of them, or none.
    fn commit<'py>(&self, py: Python<'py>) -> PyResult<AppliedFiles<'py>> {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
        let plan = plan.ok_or_else(|| PyValueError::new_err("a plan is committed once"))?;
        let applied = py.detach(|| plan.commit());
        files(py, &applied)
    }
}

/// The contract of an outcome, or of the result of `hear`.
fn contract_of<'a>(result: &'a Bound<'_, PyAny>) -> PyResult<&'a Contract> {
    match result.cast::<Part>().ok().and_then(|part| part.get().contract()) {
        Some(contract @ (Contract::Outcome(_) | Contract::Heard(_))) => Ok(contract),
        _ => Err(PyTypeError::new_err(format!("result is an Outcome or a Heard, not {}", result.get_type().name()?))),
    }
}

fn effects(contract: &Contract) -> &[EffectRecord] {
    match contract {
        Contract::Outcome(outcome) => &outcome.effects,
        Contract::Heard(heard) => &heard.effects,
        Contract::Prompt(_) | Contract::Session(_) | Contract::Checked(_) => &[],
    }
}

fn files<'py>(py: Python<'py>, applied: &Applied) -> PyResult<AppliedFiles<'py>> {
    let file = |file: &rulebook_fs::FileChange| -> PyResult<File<'py>> {
        let faults: Vec<_> = file.fault.iter().chain(&file.remarks).cloned().collect();
        Ok((
            file.key.clone(),
            file.change.name(),
            file.from.clone(),
            file.size,
            file.before.as_deref().map(|before| PyBytes::new(py, before)),
            file.text().map(str::to_owned),
            file.notes.clone(),
            found(py, &Pen::default(), &Sources::default(), &faults)?,
        ))
    };
    let changed = applied.files.iter().map(file).collect::<PyResult<Vec<_>>>()?;
    Ok((changed, plain(py, &applied.misses)?))
}
