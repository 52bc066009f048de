//! Workspace: what lies on disk?
//!
//! In: paths that a user typed.
//! Out: [`PackFiles`], the packs below a folder, and one-line errors for what cannot be read.
//! Never: reads what lies outside the folder it was given, or knows what a file means.

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
pub use lines::{Line, Lines};
pub use read::{CaseFile, MAX_FILE, PackFiles, ReadError, cases_below, packs_below, read_file, read_pack, read_text};
#[cfg(feature = "cli")]
pub(crate) use read::{folder_of, io_error, io_reason, read_from, search_packs, text_of};
#[cfg(feature = "files")]
pub use root::Root;
#[cfg(feature = "cli")]
pub(crate) use write::write_file;
