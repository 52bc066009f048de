//! `rulebook prompt`: what does the model read?
//!
//! In: a pack, optionally a session, a history, a message and the name of a model.
//! Out: the prompt as text, as messages or as its ledger; or the differences from another pack or model.
//! Never: adds a text of its own to a prompt.

use super::packs::ToolsArgument;
use super::session::{SessionArguments, StoredSession};
use super::{CommandOutput, Error, Format, OpenedPack, Status, declared, input, output};
use clap::ValueEnum;
use rulebook::Sources;
use rulebook::outcome::Prompt;
use rulebook::prompt::{History, Request, read_history};
use std::path::{Path, PathBuf};

/// The largest history that is read, in bytes.
const MAX_HISTORY: u64 = 64 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook prompt rules/writers-factory --model gpt-4o --message 'Who is Ana?'")]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    /// The name of the prompt; the first one by default
    #[arg(long, value_name = "NAME")]
    prompt: Option<String>,
    /// The model that the prompt is for
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    #[command(flatten)]
    session: SessionArguments,
    /// The turns so far, one JSON object a line: {"role": "user" or "assistant", "content": "…"}; `-` for standard
    /// input
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// What the user says now
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    tools: ToolsArgument,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// The format of the prompt
    #[arg(long, value_enum, default_value_t)]
    format: PromptFormat,
    /// Show the differences from the same prompt of another pack, as a table of the layers
    #[arg(long, value_name = "PACK")]
    against: Option<PathBuf>,
    /// Show the differences from the prompt for another model, in the same way
    #[arg(long, value_name = "ID")]
    against_model: Option<String>,
}

/// The format of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum PromptFormat {
    /// One text, with the pack's separator between the layers
    #[default]
    Text,
    /// The messages of a chat, as JSON
    Messages,
    /// A table of the layers: source, variant, tokens, budget, what was left out and why
    Ledger,
}

impl PromptFormat {
    /// The format of the findings that prevent a prompt.
    fn of_faults(self) -> Format {
        match self {
            PromptFormat::Messages => Format::Json,
            PromptFormat::Text | PromptFormat::Ledger => Format::Human,
        }
    }
}

pub(super) fn prompt(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let compares = arguments.against.is_some() || arguments.against_model.is_some();
    if compares && arguments.format == PromptFormat::Messages {
        let message = "changes are printed as a table of the layers, not as messages: `rulebook diff OLD NEW --format json` \
                       compares prompts for programs";
        return Err(Error::Failed(message.to_owned()));
    }
    let session = arguments.session.session.as_deref();
    input::once(&[("the session", session), ("the history", arguments.history.as_deref())])?;
    let format = arguments.format.of_faults();
    let history = arguments.history.as_deref().map(|path| read(path, format)).transpose()?.unwrap_or_default();
    let session = arguments.session.read()?;
    let request = |model: Option<&String>| Request {
        prompt: arguments.prompt.clone(),
        model: model.cloned(),
        message: arguments.message.clone(),
        ..Request::default()
    };
    let tools = arguments.tools.path();
    let (opened, prompt) =
        assembled((&arguments.pack, tools), &session, &history, format, request(arguments.model.as_ref()))?;
    if !compares {
        return written(&opened, &prompt, arguments.format, arguments.strict);
    }
    let pack = arguments.against.as_ref().unwrap_or(&arguments.pack);
    let model = arguments.against_model.as_ref().or(arguments.model.as_ref());
    let (other, before) = assembled((pack, tools), &session, &history, format, request(model))?;
    let mut printed = written(&opened, &prompt, PromptFormat::Ledger, arguments.strict)?;
    printed.err = findings(&other, &before) + &printed.err;
    if before.has_errors() {
        printed.status = Status::Findings;
    }
    printed.out = opened.pen.prompts_compared(&before, &prompt);
    Ok(printed)
}

/// The prompt of a pack.
fn assembled(
    (pack, tools): (&Path, Option<&Path>),
    session: &StoredSession<'_>,
    history: &History,
    format: Format,
    request: Request,
) -> Result<(OpenedPack, Prompt), Error> {
    let opened = OpenedPack::open_with(pack, tools, format)?;
    let program = opened.program(format)?;
    declared("prompt", request.prompt.as_deref(), program.prompts(), format)?;
    let session = session.fit(program, format, None)?;
    let prompt = program.prompt(&session, &Request { history: program.turns(&session, history), ..request });
    Ok((opened, prompt))
}

fn written(opened: &OpenedPack, prompt: &Prompt, shape: PromptFormat, strict: bool) -> Result<CommandOutput, Error> {
    let out = match shape {
        PromptFormat::Text if prompt.has_errors() => String::new(),
        PromptFormat::Text => format!("{}\n", prompt.text),
        PromptFormat::Messages => output::written(prompt)?,
        PromptFormat::Ledger => opened.pen.token_ledger(&prompt.ledger),
    };
    let status = Status::of_findings(prompt.diagnostics.iter().map(|finding| finding.severity), strict);
    let err = if shape == PromptFormat::Messages { String::new() } else { findings(opened, prompt) };
    Ok(CommandOutput { err, ..CommandOutput::new(out, status) })
}

fn findings(opened: &OpenedPack, prompt: &Prompt) -> String {
    opened.pen.diagnostics(&opened.loaded.sources, &prompt.found)
}

/// The history in a file.
fn read(path: &Path, format: Format) -> Result<History, Error> {
    let mut sources = Sources::default();
    let file = input::text(path, MAX_HISTORY)?;
    let id = sources.add(file.clone());
    read_history(id, &file).map_err(|faults| Error::findings(&sources, &faults, format))
}
