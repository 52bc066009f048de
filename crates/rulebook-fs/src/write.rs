//! Write: how is one file either old or new, whatever happens?
//!
//! In: a path that a user typed, and the bytes to write.
//! Out: the file with these bytes, or unchanged.
//! Never: truncates a file before its new bytes are flushed to disk, or replaces one unless the caller asks for that.

use super::journal::Journal;
use super::locks::Locks;
use super::nonce::Nonce;
use super::root::{AnchoredPath, Root, sync};
use super::stage::{Expected, Mode, Source, Staged};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;

/// Writes the bytes in the folder of the file, and moves them to its place in one step. A link stays a link: its target
/// is replaced. If the file exists, it is replaced if `overwrite` is set; otherwise that is an error.
#[expect(clippy::disallowed_methods, reason = "resolves a link, whose target is replaced")]
pub fn write_file(path: &Path, bytes: &[u8], overwrite: bool) -> io::Result<()> {
    let real = if overwrite { path.canonicalize() } else { Err(ErrorKind::NotFound.into()) };
    let path = real.as_deref().unwrap_or(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(ErrorKind::InvalidFilename)?;
    let (root, dir) = Root::open_to_write(folder)?;
    let (locks, nonce) = (Locks::take(&root, std::iter::empty()), Nonce::new(root.id()));
    // The temporary files in the journal of a killed run are left to the next run that carries out an answer here.
    if locks.root && Journal::read(&root).is_none() {
        nonce.sweep(&dir);
    }
    let permissions = match dir.symlink_metadata(name) {
        Ok(_) if !overwrite => return Err(ErrorKind::AlreadyExists.into()),
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(found) if found.permissions().readonly() => return Err(ErrorKind::PermissionDenied.into()),
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let place = AnchoredPath { dir: Rc::clone(&dir), name: name.to_owned() };
    let mode = permissions.map_or(Mode::New, Mode::Same);
    Staged::new(place, Source::Bytes(bytes), mode, nonce)?.commit(Expected::Any, nonce)?;
    sync(&dir);
    Ok(())
}
