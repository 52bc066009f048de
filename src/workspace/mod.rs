//! Workspace: what is on disk, and what does an answer change there?
//!
//! In: paths that a user typed, and the effects of an answer.
//! Out: [`PackFiles`] and the packs below a folder; the files that an answer changes, all of them or none; a one-line
//! error for what cannot be read.
//! Never: reads or writes outside the folder it was given, or knows what a file means.

#[cfg(feature = "files")]
mod amend;
#[cfg(feature = "files")]
mod apply;
mod lines;
#[cfg(feature = "files")]
mod nonce;
mod read;
#[cfg(feature = "files")]
mod record;
#[cfg(feature = "files")]
mod root;
#[cfg(feature = "files")]
mod stage;
#[cfg(feature = "cli")]
mod write;

#[cfg(feature = "files")]
pub use apply::{Applied, Applying, Change, FileChange, apply};
pub use lines::{InputLine, LineReader};
pub use read::{CaseFile, MAX_FILE, PackFiles, ReadError, cases_below, packs_below, read_file, read_pack, read_text};
#[cfg(feature = "cli")]
pub(crate) use read::{folder_of, io_error, io_reason, read_from, search_packs, text_of};
#[cfg(feature = "files")]
pub use root::Root;
#[cfg(feature = "cli")]
pub(crate) use write::write_file;
