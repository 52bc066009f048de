//! `rulebook export`: which part of a pack can the API of a model enforce?
//!
//! In: a pack, a mode, and a parameter of a request.
//! Out: the value of the parameter as JSON on standard output; on standard error the rules that it cannot express.
//! Never: sends it anywhere.

use super::packs::ToolsArgument;
use super::{CommandOutput, Error, Format, OpenedPack, Status, declared};
use clap::ValueEnum;
use rulebook::Diagnostic;
use rulebook::prompt::Export;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook export rules/couple-ai --as openai-tools")]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    /// The mode in which answers will be judged; the start mode by default
    #[arg(long)]
    mode: Option<String>,
    #[command(flatten)]
    tools: ToolsArgument,
    /// The parameter of the request
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    what: Parameter,
    /// Keep to the subset of JSON Schema that servers enforce while the model writes
    #[arg(long)]
    strict: bool,
}

/// A parameter of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Parameter {
    /// `response_format` with the schema of an answer that is one JSON object
    ResponseFormat,
    /// `response_format` that only asks for a JSON object
    JsonObject,
    /// The schema of such an answer, by itself
    JsonSchema,
    /// `tools` for OpenAI and compatible servers
    OpenaiTools,
    /// `tools` for Anthropic
    AnthropicTools,
}

pub(super) fn export(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let opened = OpenedPack::open_with(&arguments.pack, arguments.tools.path(), Format::Human)?;
    let program = opened.program(Format::Human)?;
    declared("mode", arguments.mode.as_deref(), program.modes(), Format::Human)?;
    let mode = arguments.mode.clone().unwrap_or_else(|| program.session().mode);
    let what = match arguments.what {
        Parameter::ResponseFormat => Export::ResponseFormat,
        Parameter::JsonObject => Export::JsonObject,
        Parameter::JsonSchema => Export::JsonSchema,
        Parameter::OpenaiTools => Export::OpenaiTools,
        Parameter::AnthropicTools => Export::AnthropicTools,
    };
    let exported = program.export(&mode, what, arguments.strict);
    let err = opened.pen.diagnostics(program.sources(), &exported.diagnostics);
    let status = Status::of(exported.diagnostics.iter().any(Diagnostic::is_error));
    let out = exported.value.map(|value| format!("{value:#}\n")).unwrap_or_default();
    Ok(CommandOutput { out, err, status })
}
