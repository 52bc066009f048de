//! `rulebook new`: how is a pack created, and how is a table added to one?
//!
//! In: the kind of the new thing, and its name.
//! Out: the folder of a new pack; or a pack with one more table, beside others of its kind, and a case that passes.
//! Never: changes existing declarations, except for lists that must have the new name; leaves a change half written.

mod case;
mod edits;
mod pack;
mod part;
mod schema;
mod tools;

use super::{CommandOutput, Error};
use clap::Subcommand;
use rulebook::program::DeclarationKind;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rulebook new pack lamp\n  rulebook new action dim --pack lamp")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Create the folder of a new pack, with cases that pass
    #[command(after_help = "Examples:\n  rulebook new pack lamp\n  rulebook new pack desk --dialect hermes")]
    Pack(NewPack),
    /// Add an action that an answer may ask for, and permit it in a mode
    #[command(after_help = "Example:\n  rulebook new action dim --pack lamp")]
    Action(NewPart),
    /// Add a mode, in which a session may end; if the pack uses exits, also an exit to it
    #[command(after_help = "Example:\n  rulebook new mode night --pack lamp")]
    Mode(NewPart),
    /// Add another way to write an answer
    #[command(after_help = "Example:\n  rulebook new dialect plain --pack lamp")]
    Dialect(NewPart),
    /// Add a check on the message
    #[command(after_help = "Example:\n  rulebook new guardrail no-fire --pack lamp")]
    Guardrail(NewPart),
}

/// A pack to create.
#[derive(Debug, clap::Args)]
struct NewPack {
    /// The folder to create; its name becomes the name of the pack
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The shipped dialect in which its model writes calls, such as `hermes`
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// The tools that its model may call: a list as JSON, as for OpenAI, Anthropic, Gemini or MCP
    #[arg(long, value_name = "FILE", requires = "dialect")]
    tools: Option<PathBuf>,
    /// Copy this shipped pack, to change it
    #[arg(long, value_name = "std:NAME", conflicts_with_all = ["dialect", "tools"])]
    copy: Option<String>,
}

/// A table to add to a pack.
#[derive(Debug, clap::Args)]
#[command(override_usage = "rulebook new <action|mode|dialect|guardrail> <NAME> [--pack <PACK>] [--in <MODE>]")]
struct NewPart {
    /// The name of what is added
    name: String,
    /// The folder of the pack
    #[arg(long, value_name = "PACK", default_value = ".")]
    pack: PathBuf,
    /// The mode to add it to; by default, the start mode for actions and exits, and all modes for dialects and
    /// guardrails
    #[arg(long = "in", value_name = "MODE")]
    mode: Option<String>,
}

pub(super) fn new(arguments: &Arguments) -> Result<CommandOutput, Error> {
    match &arguments.what {
        Subject::Pack(pack) => pack::make(pack),
        Subject::Action(part) => part::add(DeclarationKind::Action, part),
        Subject::Mode(part) => part::add(DeclarationKind::Mode, part),
        Subject::Dialect(part) => part::add(DeclarationKind::Dialect, part),
        Subject::Guardrail(part) => part::add(DeclarationKind::Guardrail, part),
    }
}
