//! `rulebook new`: how does a pack start, and how does it grow?
//!
//! In: what to make, and its name.
//! Out: the folder of a new pack; or a table more in a pack, where its like stand, with a case that passes.
//! Never: touches what is there, but for the lists that a new name has to stand in; leaves anything half-written.

mod case;
mod edits;
mod pack;
mod part;

use super::{Error, Printed};
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// The folder of a new pack, with cases that pass
    Pack {
        /// The folder to make; its name is the pack's
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
    /// Something that an answer may ask for, permitted in a mode
    Action(NewPart),
    /// A state of the session, with a way to it where modes have ways; there it may end
    Mode(NewPart),
    /// One more way to write an answer
    Dialect(NewPart),
    /// A check on the message
    Guardrail(NewPart),
}

/// One more table of a pack.
#[derive(Debug, clap::Args)]
#[command(override_usage = "rulebook new <action|mode|dialect|guardrail> <NAME> [--pack <PACK>] [--in <MODE>]")]
struct NewPart {
    /// What the pack shall call it
    name: String,
    /// The folder of the pack
    #[arg(long, value_name = "PACK", default_value = ".")]
    pack: PathBuf,
    /// The mode that it is for; without it an action and a way to a mode are for the one in which a session starts, and
    /// all else is for every mode
    #[arg(long = "in", value_name = "MODE")]
    mode: Option<String>,
}

/// What kind of table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Action,
    Mode,
    Dialect,
    Guardrail,
}

impl Kind {
    /// The word for one.
    fn word(self) -> &'static str {
        match self {
            Kind::Action => "action",
            Kind::Mode => "mode",
            Kind::Dialect => "dialect",
            Kind::Guardrail => "guardrail",
        }
    }

    /// The table that holds all of them.
    fn table(self) -> &'static str {
        match self {
            Kind::Action => "actions",
            Kind::Mode => "modes",
            Kind::Dialect => "dialects",
            Kind::Guardrail => "guardrails",
        }
    }
}

pub(super) fn new(arguments: &Arguments) -> Result<Printed, Error> {
    match &arguments.what {
        Subject::Pack { folder } => pack::make(folder),
        Subject::Action(part) => part::add(Kind::Action, part),
        Subject::Mode(part) => part::add(Kind::Mode, part),
        Subject::Dialect(part) => part::add(Kind::Dialect, part),
        Subject::Guardrail(part) => part::add(Kind::Guardrail, part),
    }
}
