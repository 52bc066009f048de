//! Input: how is a file or standard input read for an argument?
//!
//! In: the path of a file, or `-`.
//! Out: its bytes or its text, with its name for messages.
//! Never: reads standard input for two arguments.

use super::Error;
use rulebook::text::Source;
use rulebook_fs::{ReadError, read_file, read_from, text_of};
use std::io;
use std::path::Path;

/// Whether the path means standard input.
pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of the input in messages.
pub(super) fn name_of(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// The bytes of the input, at most `most`.
pub(super) fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, ReadError> {
    if is_standard(path) { read_from(path, io::stdin().lock(), most) } else { read_file(path, most) }
}

/// The text of the input, at most `most` bytes, without a byte order mark.
pub(super) fn text(path: &Path, most: u64) -> Result<Source, ReadError> {
    Ok(Source::new(name_of(path), text_of(path, bytes(path, most)?)?))
}

/// An error if more than one of these arguments is standard input.
pub(super) fn once(given: &[(&str, Option<&Path>)]) -> Result<(), Error> {
    let standard: Vec<&str> =
        given.iter().filter(|(_, path)| path.is_some_and(is_standard)).map(|(what, _)| *what).collect();
    match standard.as_slice() {
        [first, second, ..] => Err(Error::Failed(format!(
            "standard input cannot be {first} and {second} at once: one of them has to be in a file"
        ))),
        _ => Ok(()),
    }
}
