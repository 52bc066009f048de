//! Writing: is one file either old or new, whatever happens?
//!
//! In: a path that a user typed, and the bytes to write.
//! Out: the file with these bytes, or as it was.
//! Never: empties a file before its new bytes are safe on disk, or replaces one unless it is told to.

use super::nonce::Nonce;
use super::root::{HeldPath, Root};
use super::stage::Staged;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;

/// Writes the bytes beside the file and moves them to its place in one step. A link stays a link: what it leads to is
/// replaced. An existing file is an error, unless it `goes`.
#[expect(clippy::disallowed_methods, reason = "what a link leads to is asked of the disk")]
pub fn write_file(path: &Path, bytes: &[u8], goes: bool) -> io::Result<()> {
    let real = if goes { path.canonicalize() } else { Err(ErrorKind::NotFound.into()) };
    let path = real.as_deref().unwrap_or(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(ErrorKind::InvalidFilename)?;
    let (root, dir) = Root::hold(folder)?;
    let (lock, nonce) = (root.lock(), Nonce::new(root.mark()));
    if lock.is_some() {
        nonce.sweep(&dir);
    }
    let permissions = match dir.symlink_metadata(name) {
        Ok(_) if !goes => return Err(ErrorKind::AlreadyExists.into()),
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(found) if found.permissions().readonly() => return Err(ErrorKind::PermissionDenied.into()),
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let place = HeldPath { dir: Rc::clone(&dir), name: name.to_owned() };
    Staged::new(place, bytes, permissions, nonce)?.commit(nonce)?;
    // The folder remembers its new entry, where the system can make it.
    _ = dir.open(".").and_then(|folder| folder.sync_all());
    Ok(())
}
