//! The pack: who is it, and where does a session start?
//!
//! In: `[pack]` and `[check]`, as TOML.
//! Out: [`About`], [`Levels`], and the words of `[state]`.
//! Never: knows whether what it names is declared.

use super::declare::{table, words};
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

table! {
    /// How much the findings of `check` matter that keep no pack from running, by their codes.
    Levels {
        /// Not reported.
        allow: Vec<Spanned<String>>,
        /// Warnings.
        warn: Vec<Spanned<String>>,
        /// Errors.
        deny: Vec<Spanned<String>>,
    }
}

/// How much a finding of `check` matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It is not reported.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

impl Levels {
    /// Every code that is named, and what the pack says of it.
    pub fn all(&self) -> impl Iterator<Item = (&Spanned<String>, Level)> {
        let lists = [(&self.allow, Level::Allow), (&self.warn, Level::Warn), (&self.deny, Level::Deny)];
        lists.into_iter().flat_map(|(codes, level)| codes.iter().map(move |code| (code, level)))
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
