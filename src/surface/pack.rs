//! The pack: who is it, and where does a session start?
//!
//! In: `[pack]`, as TOML.
//! Out: [`About`], and the words of `[state]`.
//! Never: knows whether what it names is declared.

use super::decode::{table, words};
use super::tree::Tree;
use crate::text::Spanned;

table! {
    /// What the pack is called, where a session starts, and how responses are read.
    About {
        /// Its name, in places and messages.
        name: Spanned<String>,
        /// Its version.
        version: Option<Spanned<String>>,
        /// What it is for, in a sentence.
        about: Option<String>,
        /// The mode in which a session starts; without it the first declared.
        start: Option<Spanned<String>>,
        /// The dialects that are read side by side; without it all, in the order of their declaration.
        dialects: Option<Vec<Spanned<String>>>,
        /// Other packs' folders whose tables this one takes over.
        uses = "use": Vec<Spanned<String>>,
    }
}

words! {
    /// Where a value of the state comes from.
    Origin {
        /// Effects, and the host's session.
        Effects = "effects",
        /// The host alone.
        Host = "host",
    }
}

/// The JSON Schema of one value of the state, with `default`, `compute` and `from`.
pub type Slot = Tree;
