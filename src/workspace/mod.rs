//! Workspace: what lies on disk?
//!
//! In: paths that a user typed.
//! Out: [`PackFiles`], the packs below a folder, and one-line errors for what cannot be read.
//! Never: reads what lies outside the folder it was given, or knows what a file means.

mod read;

pub use read::{CaseFile, MAX_FILE, PackFiles, ReadError, cases_below, packs_below, read_file, read_pack};
