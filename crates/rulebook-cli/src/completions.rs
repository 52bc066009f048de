//! `rulebook completions`: how can a shell complete this command?
//!
//! In: the name of a shell.
//! Out: a script for it.
//! Never: installs it.

use super::{Printed, Status};
use clap::CommandFactory as _;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook completions bash")]
pub(crate) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn completions(arguments: &Arguments) -> Printed {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "rulebook", &mut script);
    Printed::new(String::from_utf8_lossy(&script).into_owned(), Status::Clean)
}
