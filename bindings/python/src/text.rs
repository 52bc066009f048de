//! Text: which bytes does a Python text have?
//!
//! In: `str`, `bytes` and other objects with bytes.
//! Out: an answer as the engine reads it; other texts as UTF-8.
//! Never: refuses a `str`, whatever characters it has.
//!
//! A `str` may contain surrogates without their partner, which UTF-8 cannot encode. In an answer they become the bytes
//! that `surrogatepass` writes, so that the engine replaces them like all bytes that are not UTF-8, and reports where
//! they are. In other texts, each becomes a replacement character.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use std::borrow::Cow;

/// An answer, or a piece of one.
pub(crate) enum Answer<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// Bytes, which may not be UTF-8.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Answer<'a> {
    /// The answer in `given`, for the parameter `name`.
    pub(crate) fn of(given: &'a Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyString>() {
            return match text.to_cow() {
                Ok(text) => Ok(Self::Text(text)),
                Err(_) => Ok(Self::Bytes(Cow::Owned(with_surrogates(text)?))),
            };
        }
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return Ok(match std::str::from_utf8(bytes.as_bytes()) {
                Ok(text) => Self::Text(Cow::Borrowed(text)),
                Err(_) => Self::Bytes(Cow::Borrowed(bytes.as_bytes())),
            });
        }
        if let Ok(bytes) = given.cast::<PyByteArray>() {
            return Ok(Self::Bytes(Cow::Owned(bytes.to_vec())));
        }
        if given.cast::<PyMemoryView>().is_ok() {
            let bytes = given.call_method0("tobytes")?;
            return Ok(Self::Bytes(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_vec())));
        }
        Err(PyTypeError::new_err(format!("{name} is a str or bytes, not {}", given.get_type().name()?)))
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// A text as UTF-8. A pair of surrogates becomes the character that it encodes; one alone becomes a replacement
/// character.
pub(crate) fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.to_cow() {
        return Ok(text);
    }
    let encoded = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = encoded.cast::<PyBytes>()?.as_bytes().chunks_exact(2);
    let units = units.filter_map(|pair| pair.try_into().ok()).map(u16::from_le_bytes);
    Ok(Cow::Owned(char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()))
}

/// The bytes of a text with surrogates.
fn with_surrogates(text: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(encoded.cast::<PyBytes>()?.as_bytes().to_vec())
}
