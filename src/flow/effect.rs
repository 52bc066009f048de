//! Effect: what is a host asked to do?
//!
//! In: nothing; these are plain types.
//! Out: [`Effect`], a part of the contracts of `run` and `hear`.
//! Never: carries itself out, or reads a file.

use crate::surface::Matching;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// What the host is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// Set the state at `path` to `value`.
    Set {
        /// A path into the state, with dots.
        path: String,
        /// The value.
        value: Value,
    },
    /// Add `value` to the list at `path`.
    Append {
        /// A path into the state, with dots.
        path: String,
        /// The value.
        value: Value,
    },
    /// Remove the state at `path`.
    Remove {
        /// A path into the state, with dots.
        path: String,
        /// The value that was there.
        value: Value,
    },
    /// Send an event.
    Emit {
        /// The name of the event.
        event: String,
        /// The value of the event.
        value: Value,
    },
    /// Write a file, or whatever the key names.
    Write {
        /// The key, such as a path.
        key: String,
        /// The whole new text.
        text: String,
        /// Whether the file must not exist yet: an addition never replaces one.
        #[serde(default, skip_serializing_if = "is_false")]
        new: bool,
        /// Whether the file, if it is new, becomes executable. One that exists keeps its mode.
        #[serde(default, skip_serializing_if = "is_false")]
        executable: bool,
    },
    /// Say something to the user.
    Say {
        /// The name of the message in the pack.
        id: String,
        /// Its text.
        text: String,
    },
    /// Add to the end of a section of a document, and change nothing else.
    Amend(Box<Amendment>),
    /// Add to a list in a JSON document, and change nothing else.
    Record {
        /// The key of the document.
        key: String,
        /// The path of the list, with dots; a key that contains a dot is in double quotes, as a JSON text.
        path: String,
        /// The value to add.
        value: Value,
    },
    /// Replace a text in a file, and change nothing else.
    Edit(Box<Edit>),
    /// Delete a file.
    Delete {
        /// The key of the file.
        key: String,
        /// The text that the file must have, compared line by line without the white space around the lines: the lines
        /// that a diff removes. None if the file is deleted whatever it contains.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Move a file to another key, where none is yet.
    Move {
        /// The key of the file.
        key: String,
        /// Its new key.
        to: String,
    },
}

impl Effect {
    /// The names of the kinds of effects, in the order of declaration.
    pub const KINDS: [&str; 11] =
        ["set", "append", "remove", "emit", "write", "say", "amend", "record", "edit", "delete", "move"];

    /// Whether the effect may fail on the file: a text may not be in it, or the file may not exist, or exist already.
    pub(crate) fn may_miss(&self) -> bool {
        match self {
            Effect::Edit(_) | Effect::Delete { .. } | Effect::Move { .. } => true,
            Effect::Write { new, .. } => *new,
            Effect::Set { .. }
            | Effect::Append { .. }
            | Effect::Remove { .. }
            | Effect::Emit { .. }
            | Effect::Say { .. }
            | Effect::Amend(_)
            | Effect::Record { .. } => false,
        }
    }

    /// The keys of the files that the effect changes: both of a move, none of an effect that changes no file.
    #[doc(hidden)]
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let (key, to) = match self {
            Effect::Write { key, .. } | Effect::Record { key, .. } | Effect::Delete { key, .. } => (Some(key), None),
            Effect::Amend(amendment) => (Some(&amendment.key), None),
            Effect::Edit(edit) => (Some(&edit.key), None),
            Effect::Move { key, to } => (Some(key), Some(to)),
            Effect::Set { .. }
            | Effect::Append { .. }
            | Effect::Remove { .. }
            | Effect::Emit { .. }
            | Effect::Say { .. } => (None, None),
        };
        key.into_iter().chain(to).map(String::as_str)
    }

    /// The same keys, to be changed.
    pub(super) fn keys_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (key, to) = match self {
            Effect::Write { key, .. } | Effect::Record { key, .. } | Effect::Delete { key, .. } => (Some(key), None),
            Effect::Amend(amendment) => (Some(&mut amendment.key), None),
            Effect::Edit(edit) => (Some(&mut edit.key), None),
            Effect::Move { key, to } => (Some(key), Some(to)),
            Effect::Set { .. }
            | Effect::Append { .. }
            | Effect::Remove { .. }
            | Effect::Emit { .. }
            | Effect::Say { .. } => (None, None),
        };
        key.into_iter().chain(to)
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// An addition to a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Amendment {
    /// The key of the document.
    pub key: String,
    /// The heading of the section to add to.
    pub section: String,
    /// A line that marks the addition; empty for none.
    pub marker: String,
    /// The text to add.
    pub text: String,
    /// A heading line to open a new section with if there is no such section; empty for none.
    pub otherwise: String,
    /// What to say afterwards, with `{section}` for the heading that was chosen; empty for nothing.
    pub done: String,
    /// What to say if the document does not exist; empty for nothing.
    pub missing: String,
}

/// A replacement in a file. A patch gives one for each hunk.
///
/// `find` is a text of the file as the effects before this one leave it. `\r\n` and `\n` are equal in `find` and
/// `put`; the result has the line breaks of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edit {
    /// The key of the file.
    pub key: String,
    /// The text to replace. If it is empty, `put` is added: right after the last line of `after`, or at the end of
    /// the file.
    pub find: String,
    /// The text to put in its place.
    pub put: String,
    /// Whether every occurrence is replaced. Otherwise there must be exactly one, unless `line` or `after` decides.
    #[serde(default, skip_serializing_if = "is_false")]
    pub all: bool,
    /// Whether `find` and `put` are whole lines, each with its line break: an occurrence begins at the start of a line.
    /// A last line without a line break is the last line of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lines: bool,
    /// How to compare `find` with the file: the first comparison that finds it counts.
    #[serde(rename = "match")]
    pub matching: Vec<Matching>,
    /// The line of the file, from 1, at which `find` should start: of several occurrences, the one there counts. The
    /// number decides nothing else, since models count badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Lines that come before, in this order, compared without the white space around them: the first occurrence
    /// after them counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Whether the occurrence is at the end of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub end: bool,
}

/// An edit that finds its text only as it is written.
impl Default for Edit {
    fn default() -> Self {
        Self {
            key: String::new(),
            find: String::new(),
            put: String::new(),
            all: false,
            lines: false,
            matching: vec![Matching::Exact],
            line: None,
            after: Vec::new(),
            end: false,
        }
    }
}

/// An effect that failed because the file is not as the effect requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// The index of the effect in the list of effects, from 0.
    pub effect: usize,
    /// What is wrong.
    pub kind: MissKind,
    /// The lines most similar to the text, or each place where it occurs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<FileLines>,
}

/// Why an effect failed on its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MissKind {
    /// The text of an edit, or a line before it, is not in the file; or a file to delete has another text.
    NotFound,
    /// The text of an edit, or a line before it, is in the file several times.
    Ambiguous,
    /// There is no such file to edit, delete or move.
    Absent,
    /// A file already exists where one should be added, or moved to.
    Exists,
    /// The file is not UTF-8, so it has no text to replace or to compare.
    NotUtf8,
}

/// Successive lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileLines {
    /// The number of the first line, from 1.
    pub line: u64,
    /// The lines, as the file has them, without the last line break.
    pub text: String,
}
