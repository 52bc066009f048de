//! The effect: what is a host asked to do?
//!
//! In: nothing; this is a plain type.
//! Out: [`Effect`], a part of the contracts of `run` and `hear`.
//! Never: carries itself out.

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
        /// The value that goes with it.
        value: Value,
    },
    /// Write a file, or whatever the key names.
    Write {
        /// The key, such as a path.
        key: String,
        /// The whole new text.
        text: String,
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
}

impl Effect {
    /// The words for the kinds of effects, in the order of declaration.
    pub const KINDS: [&str; 8] = ["set", "append", "remove", "emit", "write", "say", "amend", "record"];
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
    /// A heading line to open a new section with if none fits; empty for none.
    pub otherwise: String,
    /// What to say afterwards, with `{section}` for the heading that was chosen; empty for nothing.
    pub done: String,
    /// What to say if the document does not exist; empty for nothing.
    pub missing: String,
}
