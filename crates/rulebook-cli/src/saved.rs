//! Saved sessions: in which file is the session between two calls of a hook?
//!
//! In: `--session` with `--save`, or `--sessions` and the id of a conversation.
//! Out: [`SavedSession`]: the file, locked against other processes.
//! Never: lets two processes continue the same session at once, or leaves a truncated file.

use super::Error;
use super::save::cannot_write;
use super::session::SessionArguments;
use rulebook::Session;
use rulebook::text::excerpt;
use rulebook_fs::write_file;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io;
use std::path::{Path, PathBuf};

/// The longest id of a conversation, in bytes; the id becomes a file name.
const MAX_ID_BYTES: usize = 128;

/// The file of a session that is written back.
#[derive(Debug)]
pub(super) struct SavedSession {
    file: PathBuf,
    _lock: File,
}

impl SavedSession {
    /// Waits until no other process has locked the session.
    #[expect(clippy::disallowed_methods, reason = "resolves links, because links to one file are one session")]
    pub(super) fn lock(file: PathBuf) -> Result<Self, Error> {
        let file = file.canonicalize().unwrap_or(file);
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let beside = file.with_file_name(name);
        // The lock is a file of its own: the session's file is replaced when it is written, so a process that waited
        // for that would then lock the old one.
        match locked(&beside) {
            Ok(lock) => Ok(Self { file, _lock: lock }),
            Err(error) => Err(cannot_write(&beside, &error)),
        }
    }

    /// Waits for the session of a conversation, a file in this folder. The folder is created if it does not exist.
    pub(super) fn of_conversation(folder: &Path, id: Option<&str>) -> Result<Self, Error> {
        let id = id.ok_or_else(|| {
            Error::Failed(
                "the call names no conversation: `session_id`, `sessionId` or `conversation_id` is a text, or use --session"
                    .to_owned(),
            )
        })?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(is_plain) {
            let id = excerpt(id, 60);
            return Err(Error::Failed(format!("the id of the conversation, `{id}`, cannot be the name of a file")));
        }
        #[expect(clippy::disallowed_methods, reason = "the user names the folder of the sessions")]
        create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        Self::lock(folder.join(format!("session-{id}.json")))
    }

    /// The arguments that read the file. If there is no file yet, they name none, so that a new session starts.
    #[expect(clippy::disallowed_methods, reason = "asks only whether there is a file")]
    pub(super) fn arguments(&self, given: &SessionArguments) -> SessionArguments {
        // A folder or broken link is read as well, so that the error is reported.
        let exists = self.file.symlink_metadata().is_ok();
        given.with_file(exists.then(|| self.file.clone()))
    }

    /// Writes the session that the next call continues.
    pub(super) fn write(self, session: &Session) -> Result<(), Error> {
        let text = super::output::written(session)?;
        write_file(&self.file, text.as_bytes(), true).map_err(|error| cannot_write(&self.file, &error))
    }
}

#[expect(clippy::disallowed_methods, reason = "the lock is a file beside the session that the user names")]
fn locked(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}
