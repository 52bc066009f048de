//! `rulebook run`: what may this answer do?
//!
//! In: a pack, an answer from a file or standard input, optionally a session.
//! Out: the outcome of the answer.
//! Never: carries out an effect.

use super::judging::AnswerArguments;
use super::{CommandOutput, Error, Format, OpenedPack, Status};
use rulebook::Options;
use rulebook_report::status;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  rulebook run rules/dce answer.txt\n  rulebook run rules/couple-ai --session session.json --format json < answer.txt"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    answer: AnswerArguments,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// The format of the outcome
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Include a trace: for each step, the line of the pack that caused it
    #[arg(long)]
    trace: bool,
    /// Add what was read of an answer that is refused, which must not be displayed
    #[arg(long)]
    withheld: bool,
    /// Feed the answer in pieces of this many bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    stream: Option<u32>,
}

pub(super) fn run(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let AnswerArguments { pack, judging, .. } = &arguments.answer;
    let opened = OpenedPack::to_judge(pack, judging.tools.path(), arguments.format)?;
    let program = opened.program(arguments.format)?;
    let chunk = arguments.stream.map(|bytes| bytes as usize);
    let options = Options { trace: arguments.trace, withheld: arguments.withheld, chunk, ..Options::default() };
    let judged = arguments.answer.judge(program, options, arguments.format, None)?;
    let (outcome, response) = (&judged.outcome, &judged.response);
    let rows = || opened.pen.rows(judged.drawn(), response);
    let drawn = || opened.pen.outcome(judged.drawn(), response);
    let out = arguments.format.write(rows, drawn, &status(outcome), |_| outcome)?;
    let severities = outcome.diagnostics.iter().map(|finding| finding.severity);
    Ok(CommandOutput::new(out, Status::of_findings(severities, arguments.strict)))
}
