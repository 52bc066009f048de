//! Judging: what does an answer that a user names become?
//!
//! In: the arguments that name an answer, its session and its circumstances; the program.
//! Out: [`Judged`]: the outcome, and the text in which its findings are placed.
//! Never: prints an outcome, or carries out an effect.

use super::packs::ToolsArgument;
use super::session::SessionArguments;
use super::{Error, Format, OpenedPack, declared, input};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rulebook::outcome::Miss;
use rulebook::text::Source;
use rulebook::{Options, Outcome, Program, Provider, Reply, ReplyPart, Session, Sources};
use rulebook_fs::{ReadError, text_of};
use rulebook_report::flattened;
use std::path::{Path, PathBuf};

/// The largest answer that is read, in bytes; the engine's own limit is far lower.
const MAX_ANSWER: u64 = 1 << 30;

/// One response, and how it is judged.
#[derive(Debug, clap::Args)]
pub(super) struct AnswerArguments {
    /// The folder of the pack
    pub(super) pack: PathBuf,
    /// The answer; by default, or for `-`, standard input
    file: Option<PathBuf>,
    /// In place of an answer: a person has confirmed the call that waits under this id in the session
    #[arg(long, value_name = "ID", requires = "session", conflicts_with_all = ["file", "decline"])]
    confirm: Option<String>,
    /// In place of an answer: a person has declined the call that waits under this id in the session
    #[arg(long, value_name = "ID", requires = "session", conflicts_with = "file")]
    decline: Option<String>,
    #[command(flatten)]
    pub(super) judging: JudgeArguments,
}

/// How a response is judged.
#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub(super) struct JudgeArguments {
    #[command(flatten)]
    session: SessionArguments,
    /// Read the answer with this dialect only
    #[arg(long)]
    dialect: Option<String>,
    /// The answer is what this API returned: a whole message, or a stream as server-sent events or lines of JSON
    #[arg(long, value_name = "API", value_parser = api())]
    from: Option<String>,
    #[command(flatten)]
    pub(super) tools: ToolsArgument,
    /// The model ran out of tokens
    #[arg(long)]
    truncated: bool,
    /// The prompt ended inside open reasoning, so the answer begins inside it
    #[arg(long)]
    thinking: bool,
    /// How often the model has been asked again about this answer
    #[arg(long, value_name = "N", default_value_t)]
    attempts: usize,
}

/// An answer and its outcome.
pub(super) struct Judged {
    pub(super) response: Source,
    pub(super) outcome: Outcome,
    /// The outcome with places in `response`, if those of `outcome` are relative to the parts of a reply.
    flattened: Option<Outcome>,
    reply: Option<Reply>,
    /// The session before the answer.
    session: Session,
    options: Options,
    /// The error that names the first byte that is not UTF-8. Such bytes were replaced before the answer was judged.
    pub(super) not_utf8: Option<ReadError>,
}

impl Judged {
    /// The outcome with places in `response`.
    pub(super) fn drawn(&self) -> &Outcome {
        self.flattened.as_ref().unwrap_or(&self.outcome)
    }

    /// Replaces the outcome by the one that the pack declares for an answer whose effects do not apply to the files.
    pub(super) fn reject(&mut self, program: &Program, misses: &[Miss]) {
        if misses.is_empty() {
            return;
        }
        self.outcome = program.reject(&self.session, self.outcome.clone(), misses, &self.options);
        self.flattened = self.reply.as_ref().map(|reply| flattened(reply, &self.outcome).1);
    }
}

impl AnswerArguments {
    /// The pack, with the tools of the host.
    pub(super) fn open(&self, format: Format) -> Result<OpenedPack, Error> {
        OpenedPack::open_with(&self.pack, self.judging.tools.path(), format)
    }

    /// Judges the answer. `now` is the time if no argument gives one.
    pub(super) fn judge(
        &self,
        program: &Program,
        options: Options,
        format: Format,
        now: Option<String>,
    ) -> Result<Judged, Error> {
        if let Some(id) = self.confirm.as_ref().or(self.decline.as_ref()) {
            let session = self.judging.session.open(program, format, now)?;
            let outcome = program.resolve_pending(&session, id, self.confirm.is_some(), &options);
            let reply = waiting_call(&session, id);
            let (text, flattened) = flattened(&reply, &outcome);
            let (response, flattened, reply) = (Source::new("the call", text), Some(flattened), Some(reply));
            return Ok(Judged { response, outcome, flattened, reply, session, options, not_utf8: None });
        }
        self.judging.judge(program, self.file.as_deref().unwrap_or(Path::new("-")), options, format, now)
    }
}

impl JudgeArguments {
    /// Whether no argument but `--tools` is given.
    pub(super) fn are_none_but_tools(&self) -> bool {
        *self == Self { tools: self.tools.clone(), ..Self::default() }
    }

    /// Judges the answer in `file`. `now` is the time if no argument gives one.
    pub(super) fn judge(
        &self,
        program: &Program,
        file: &Path,
        options: Options,
        format: Format,
        now: Option<String>,
    ) -> Result<Judged, Error> {
        input::once(&[("the answer", Some(file)), ("the session", self.session.session.as_deref())])?;
        let session = self.session.open(program, format, now)?;
        declared("dialect", self.dialect.as_deref(), program.dialects(), format)?;
        let bytes = input::bytes(file, MAX_ANSWER)?;
        let options = Options {
            dialect: self.dialect.clone(),
            truncated: self.truncated,
            thinking: self.thinking.then_some(true),
            attempts: self.attempts,
            ..options
        };
        let text = String::from_utf8_lossy(&bytes);
        let is_utf8 = std::str::from_utf8(&bytes).is_ok();
        let not_utf8 = if is_utf8 { None } else { text_of(file, bytes.clone()).err() };
        let (reply, outcome) = match self.from.as_deref().and_then(Provider::from_name) {
            None => (None, program.run_with(&session, &bytes, &options)),
            Some(provider) => {
                let judged = program.judge_recorded(&session, provider, &text, &options);
                let (reply, outcome) = judged.map_err(|faults| {
                    Error::findings(&named(faults.sources, file, &text), &faults.diagnostics, format)
                })?;
                (Some(reply), outcome)
            }
        };
        let (text, flattened) = match reply.as_ref().map(|reply| flattened(reply, &outcome)) {
            Some((text, flattened)) => (text.into(), Some(flattened)),
            None => (text, None),
        };
        let response = Source::new(input::name_of(file), text);
        Ok(Judged { response, outcome, flattened, reply, session, options, not_utf8 })
    }
}

/// The call that waits under an id, as a reply: the places in the outcome of confirming it are in that.
pub(super) fn waiting_call(session: &Session, id: &str) -> Reply {
    let mut reply = Reply::default();
    reply.parts.extend(session.pending.get(id).map(|call| ReplyPart::Call {
        id: call.call.clone(),
        name: call.action.clone(),
        arguments: call.params.to_string(),
    }));
    reply
}

/// The sources of the faults of a reply, in which the reply has the name of its file.
fn named(sources: Sources, file: &Path, text: &str) -> Sources {
    let mut own = Sources::default();
    for (_, source) in sources.iter() {
        let is_reply = source.text() == text;
        own.add(if is_reply { Source::new(input::name_of(file), text) } else { source.clone() });
    }
    own
}

/// The values of `--from`: the APIs whose answers can be read.
fn api() -> impl TypedValueParser<Value = String> {
    let known = Provider::ALL.into_iter().filter(|one| *one != Provider::Responses);
    PossibleValuesParser::new(known.map(Provider::name))
}
