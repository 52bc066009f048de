//! Files: which files make up a pack?
//!
//! In: a path, or a dict of texts.
//! Out: [`Files`]: the folder as the engine reads it, and the cases if the pack is on disk.
//! Never: interprets the files.

use super::text::utf8;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString, PyTuple};
use rulebook::Folder;
use rulebook_fs::{PackFiles, read_pack};
use rulebook_report::Pen;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files of a pack.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Files {
    pub(crate) folder: Folder,
    /// The cases and other files that are not in `folder`; `None` for a pack in memory.
    pub(crate) on_disk: Option<PackFiles>,
}

impl Files {
    /// The pen that prints paths as the user typed them.
    pub(crate) fn pen(&self) -> Pen {
        self.on_disk.as_ref().map_or_else(Pen::default, |files| Pen::new(files.paths.clone()))
    }
}

#[pymethods]
impl Files {
    /// Reads the pack in a folder.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| read_pack(&path));
        let files = read.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self { folder: files.folder.clone(), on_disk: Some(files) })
    }

    /// A pack of these files, texts or bytes by their paths. A dict among them is the pack that `use` refers to by that
    /// path.
    #[staticmethod]
    fn of(name: &Bound<'_, PyString>, files: &Bound<'_, PyMapping>) -> PyResult<Self> {
        Ok(Self { folder: folder(&utf8(name)?, files)?, on_disk: None })
    }

    /// The content for a pickle: the name, the files, and the folders of other packs by their paths in `use`.
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        content(py, &self.folder)
    }

    /// The pack from the `content` of a pickle.
    #[staticmethod]
    fn again(content: &Bound<'_, PyTuple>) -> PyResult<Self> {
        Ok(Self { folder: folder_again(content)?, on_disk: None })
    }
}

fn folder(name: &str, files: &Bound<'_, PyMapping>) -> PyResult<Folder> {
    let mut folder = Folder { name: name.to_owned(), ..Folder::default() };
    for pair in files.items()?.iter() {
        let (path, file): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let path = path.cast::<PyString>().map_err(|_| PyTypeError::new_err("the path of a file is a str"))?;
        let path = utf8(path)?.into_owned();
        if let Ok(text) = file.cast::<PyString>() {
            folder.files.insert(path, utf8(text)?.into_owned().into_bytes());
        } else if let Ok(bytes) = file.cast::<PyBytes>() {
            folder.files.insert(path, bytes.as_bytes().to_vec());
        } else if let Ok(other) = file.cast::<PyMapping>() {
            let called = path.trim_start_matches("../").to_owned();
            folder.others.insert(path, self::folder(&called, other)?);
        } else {
            let kind = file.get_type();
            return Err(PyTypeError::new_err(format!("the file {path} is a str or bytes, not {}", kind.name()?)));
        }
    }
    Ok(folder)
}

fn content<'py>(py: Python<'py>, folder: &Folder) -> PyResult<Bound<'py, PyTuple>> {
    let (files, others) = (PyDict::new(py), PyDict::new(py));
    for (path, bytes) in &folder.files {
        files.set_item(path, PyBytes::new(py, bytes))?;
    }
    for (path, other) in &folder.others {
        others.set_item(path, content(py, other)?)?;
    }
    (&folder.name, files, others).into_pyobject(py)
}

fn folder_again(content: &Bound<'_, PyTuple>) -> PyResult<Folder> {
    let (name, files, others): (String, BTreeMap<String, Vec<u8>>, Bound<'_, PyDict>) = content.extract()?;
    let others = others.iter().map(|(path, other)| Ok((path.extract()?, folder_again(other.cast()?)?)));
    Ok(Folder { name, files, others: others.collect::<PyResult<_>>()?, ..Folder::default() })
}
