//! `rulebook schema`: which structure does a file or contract have?
//!
//! In: the name of a schema.
//! Out: the schema as JSON.
//! Never: differs from the file in `schemas/`: a test compares them.

use super::{CommandOutput, Status};
use clap::builder::PossibleValuesParser;
use rulebook::schemas;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook schema outcome")]
pub(crate) struct Arguments {
    /// The name of the schema
    #[arg(default_value = "pack", value_parser = PossibleValuesParser::new(schemas::ALL.iter().map(|one| one.name)))]
    name: String,
}

pub(super) fn schema(arguments: &Arguments) -> CommandOutput {
    let text = schemas::of(&arguments.name).map(|described| described.text);
    CommandOutput::new(text.unwrap_or_default().to_owned(), Status::Clean)
}
