//! The pack: what is it called, and where does a session start?
//!
//! In: `[pack]`, `[check]` and `[sample]`, as TOML.
//! Out: [`About`], [`Levels`], [`Sample`], and the words of `[state]`.
//! Never: knows whether the things it names are declared.

use super::declare::{table, words};
use super::decode::{Named, OneOrMore};
use super::tree::Tree;
use crate::text::Spanned;

table! {
    /// The name of the pack, where a session starts, and how responses are read.
    About {
        /// What messages call the pack.
        name: Spanned<String>,
        /// Its version, for people.
        version: Option<Spanned<String>>,
        /// What it is for, in a sentence.
        about: Option<String>,
        /// The mode in which a session starts. Default: the first mode.
        start: Option<Spanned<String>> as "mode",
        /// The dialects that are read side by side; the order breaks ties. Default: all, as declared, except those of
        /// used packs that have only reasoning and wrappers.
        dialects: Option<Vec<Spanned<String>>> as "dialect",
        /// Which state the `when` of permits sees: the one that the prompt showed (`together`), or the one that the
        /// accepted calls before it left (`in-turn`). Default: `together`.
        calls: Option<Calls>,
        /// What becomes of calls that wait for a person when the next answer is judged. Default: `drop`.
        pending: Option<Waiting>,
        /// The folder that paths in answers are below, as an absolute path: with `/home/project`, the path
        /// `/home/project/a` is `a`.
        root: OneOrMore<Spanned<String>> as "folder",
        /// Other packs, whose tables this one takes over.
        uses = "use": Vec<Spanned<String>> as "folder",
    }
}

words! {
    /// How the calls of an answer are judged.
    Calls {
        /// All by the state that the prompt showed.
        Together = "together",
        /// Each by the state that the calls before it left.
        InTurn = "in-turn",
    }
}

words! {
    /// What becomes of calls that wait for a person when the next answer is judged.
    Waiting {
        /// They are dropped.
        Drop = "drop",
        /// They wait on.
        Keep = "keep",
    }
}

table! {
    /// The severity of findings of `check` that do not keep a pack from running, by their codes.
    Levels {
        /// Findings that are not reported.
        allow: Vec<Spanned<String>> as "code",
        /// Findings that are reported as warnings.
        warn: Vec<Spanned<String>> as "code",
        /// Findings that are reported as errors.
        deny: Vec<Spanned<String>> as "code",
    }
}

table! {
    /// The session for which `check` judges the examples of answers in prompts.
    Sample {
        /// Values of the state; all others have their initial value.
        state: Named<Tree>,
    }
}

/// How a finding of `check` is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Not at all.
    Allow,
    /// As a warning.
    Warn,
    /// As an error.
    Deny,
}

impl Levels {
    /// Every code that is named, with its level.
    pub fn all(&self) -> impl Iterator<Item = (&Spanned<String>, Level)> {
        let lists = [(&self.allow, Level::Allow), (&self.warn, Level::Warn), (&self.deny, Level::Deny)];
        lists.into_iter().flat_map(|(codes, level)| codes.iter().map(move |code| (code, level)))
    }
}

words! {
    /// What may set a value of the state.
    Origin {
        /// Effects, and the host.
        Effects = "effects",
        /// Only the host.
        Host = "host",
    }
}

/// The JSON Schema of one value of the state, with `default`, `compute` and `from`.
pub type Slot = Tree;
