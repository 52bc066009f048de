//! The effect: what is a host asked to do?
//!
//! In: nothing; this is a plain type.
//! Out: [`Effect`], a part of the contracts of `run` and `hear`.
//! Never: carries itself out.

use crate::value::Value;
use serde::{Deserialize, Serialize};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// The state at `path` is now `value`.
    Set {
        /// A path into the state, with dots.
        path: String,
        /// The value.
        value: Value,
    },
    /// The list at `path` has one more `value`.
    Append {
        /// A path into the state, with dots.
        path: String,
        /// The value.
        value: Value,
    },
    /// The state at `path` is gone.
    Remove {
        /// A path into the state, with dots.
        path: String,
        /// What stood there.
        value: Value,
    },
    /// Tell whoever listens.
    Emit {
        /// The name of the event.
        event: String,
        /// What goes with it.
        value: Value,
    },
    /// Write a file, or whatever the key names.
    Write {
        /// Where.
        key: String,
        /// The whole text.
        text: String,
    },
    /// Say something to the user.
    Say {
        /// The message of the pack.
        id: String,
        /// Its words.
        text: String,
    },
    /// Add to the end of one section of a document, and change nothing else.
    Amend(Box<Amendment>),
    /// Append to a list in a JSON document, and change nothing else.
    Record {
        /// Which document.
        key: String,
        /// The path of the list, with dots.
        path: String,
        /// What is appended.
        value: Value,
    },
}

impl Effect {
    /// The words for what there is to do, in the order of their declaration.
    #[cfg(feature = "report")]
    pub(crate) const KINDS: [&str; 8] = ["set", "append", "remove", "emit", "write", "say", "amend", "record"];
}

/// What is added to a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Amendment {
    /// Which document.
    pub key: String,
    /// The heading of the section.
    pub section: String,
    /// A line that marks what was added; empty for none.
    pub marker: String,
    /// What is added.
    pub text: String,
    /// The line, a heading, that opens a section where none fits; empty for none.
    pub otherwise: String,
    /// What to say once it is done, with the heading that was chosen in the place of `{section}`; empty for nothing.
    pub done: String,
    /// What to say where there is no such document; empty for nothing.
    pub missing: String,
}
