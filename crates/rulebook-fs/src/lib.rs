//! Rulebook on disk: which files does a pack have, and how does an answer change files?
//!
//! In: paths that a user typed, and the effects of an answer.
//! Out: [`PackFiles`] and the packs below a folder; the files that an answer changes, all of them or none; a one-line
//! error for a file that cannot be read.
//! Never: reads or writes outside the given folder; interprets what is in a file.

#[cfg(feature = "apply")]
mod amend;
#[cfg(feature = "apply")]
mod apply;
#[cfg(feature = "apply")]
mod commit;
#[cfg(feature = "apply")]
mod contents;
#[cfg(feature = "apply")]
mod cut;
#[cfg(feature = "apply")]
mod draft;
#[cfg(feature = "apply")]
mod edit;
#[cfg(feature = "apply")]
mod find;
#[cfg(feature = "apply")]
mod haystack;
#[cfg(feature = "apply")]
mod journal;
mod lines;
#[cfg(feature = "apply")]
mod locks;
#[cfg(feature = "apply")]
mod nearest;
#[cfg(feature = "apply")]
mod nonce;
#[cfg(feature = "apply")]
mod plan;
mod read;
#[cfg(feature = "apply")]
mod record;
#[cfg(feature = "apply")]
mod root;
#[cfg(feature = "apply")]
mod stage;
#[cfg(feature = "apply")]
mod trimmed;
#[cfg(feature = "apply")]
mod write;

#[cfg(feature = "apply")]
pub use apply::{Applied, Applying, Change, FileChange, apply};
pub use lines::{InputLine, LineReader};
#[cfg(feature = "apply")]
pub use plan::{Plan, plan};
pub use read::{CaseFile, MAX_FILE, PackFiles, ReadError, cases_below, packs_below, read_file, read_pack};
pub use read::{folder_of, io_error, io_reason, read_from, read_text, search_packs, text_of};
#[cfg(feature = "apply")]
pub use root::Root;
#[cfg(feature = "apply")]
pub use write::write_file;
