//! Saved sessions: from which session does a hook go on, and where does the next one go on from?
//!
//! In: `--session` with `--save`, or `--sessions` and the id of a conversation.
//! Out: [`SavedSession`]: the file, which this process has to itself until it is done.
//! Never: lets two processes go on from the same session, or leaves half of a file.

use super::Error;
use super::save::cannot_write;
use super::session::SessionArguments;
use rulebook::session::Session;
use rulebook::text::excerpt;
use rulebook_fs::write_file;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of the id of a conversation, which names a file.
const ID: usize = 128;

/// The file of a session that is written back.
#[derive(Debug)]
pub(super) struct SavedSession {
    file: PathBuf,
    _lock: File,
}

impl SavedSession {
    /// Waits until no other process has the session.
    #[expect(clippy::disallowed_methods, reason = "links to one file are one session")]
    pub(super) fn lock(file: PathBuf) -> Result<Self, Error> {
        let file = file.canonicalize().unwrap_or(file);
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let beside = file.with_file_name(name);
        // Not the session's own file, which is replaced by another when it is written: whoever waited would have the old one.
        match locked(&beside) {
            Ok(lock) => Ok(Self { file, _lock: lock }),
            Err(error) => Err(cannot_write(&beside, &error)),
        }
    }

    /// Waits for the session of a conversation, which is a file in this folder. The folder is made if there is none.
    pub(super) fn of_conversation(folder: &Path, id: Option<&str>) -> Result<Self, Error> {
        let id = id.ok_or_else(|| {
            Error::Usage(
                "the call names no conversation: `session_id`, `sessionId` or `conversation_id` is a text, or use --session"
                    .to_owned(),
            )
        })?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > ID || !id.bytes().all(is_plain) {
            let id = excerpt(id, 60);
            return Err(Error::Usage(format!("the id of the conversation, `{id}`, cannot be the name of a file")));
        }
        #[expect(clippy::disallowed_methods, reason = "a command that writes where it is told to")]
        create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        Self::lock(folder.join(format!("session-{id}.json")))
    }

    /// The arguments that read it: none of its file if there is none yet, so that the session is a new one.
    #[expect(clippy::disallowed_methods, reason = "the command asks the disk")]
    pub(super) fn arguments(&self, given: &SessionArguments) -> SessionArguments {
        // What is there and is no file is read as well, so that its fault is reported.
        let exists = self.file.symlink_metadata().is_ok();
        given.with_file(exists.then(|| self.file.clone()))
    }

    /// Writes the session from which the next process goes on.
    pub(super) fn write(self, session: &Session) -> Result<(), Error> {
        let text = super::output::written(session)?;
        write_file(&self.file, text.as_bytes(), true).map_err(|error| cannot_write(&self.file, &error))
    }
}

#[expect(clippy::disallowed_methods, reason = "a command that writes where it is told to")]
fn locked(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}
