//! `rulebook hear`: which class do the words of a user have, and what follows from them?
//!
//! In: a pack, the words, and optionally a session; without words, a session starts.
//! Out: the messages of the pack, the effects and the next session.
//! Never: carries an effect out.

use super::session::SessionArguments;
use super::{CommandOutput, Error, Format, OpenedPack, Status};
use rulebook::Options;
use rulebook::text::Source;
use rulebook_report::heard_status;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook hear rules/roundtable 'Alex, what about the cache?' --mode discussion")]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    /// What the user says; without it, the session starts
    text: Vec<String>,
    #[command(flatten)]
    session: SessionArguments,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// The format of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Include a trace: for each step, the line of the pack that caused it
    #[arg(long)]
    trace: bool,
}

pub(super) fn hear(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let opened = OpenedPack::to_judge(&arguments.pack, None, arguments.format)?;
    let program = opened.program(arguments.format)?;
    let session = arguments.session.open(program, arguments.format, None)?;
    let text = arguments.text.join(" ");
    let options = Options { trace: arguments.trace, ..Options::default() };
    let heard = match arguments.text.as_slice() {
        [] => program.start(&session, &options),
        _ => program.hear(&session, &text, &options),
    };
    let source = Source::new("what was said", text);
    let rows = || opened.pen.heard_rows(&heard, &source);
    let drawn = || opened.pen.heard(&heard, &source);
    let out = arguments.format.write(rows, drawn, &heard_status(&heard), |_| &heard)?;
    let severities = heard.diagnostics.iter().map(|finding| finding.severity);
    Ok(CommandOutput::new(out, Status::of_findings(severities, arguments.strict)))
}
