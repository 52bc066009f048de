//! `rulebook completions`: how does a shell complete this command?
//!
//! In: the name of a shell.
//! Out: a completion script for it.
//! Never: installs the script.

use super::{CommandOutput, Status};
use clap::CommandFactory as _;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook completions bash")]
pub(crate) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn completions(arguments: &Arguments) -> CommandOutput {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "rulebook", &mut script);
    CommandOutput::new(String::from_utf8_lossy(&script).into_owned(), Status::Clean)
}
