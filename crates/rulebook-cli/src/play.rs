//! `rulebook play`: what happens in a conversation, turn by turn?
//!
//! In: a pack, optionally a session; line by line the words of the user and the answers of the model, or a command that
//! answers; with `--root`, the folder below which files are written.
//! Out: the result of each turn, the files that it writes or would write, and on request the session, or the whole
//! conversation as a case.
//! Never: writes a file of an answer anywhere but below that folder, or makes up an answer.
//!
//! A line is what the user says; an empty line lets the model answer. A text of several lines ends with a line that is
//! a single `.`, or with the input. So a conversation can be typed, pasted or piped.

use super::apply::turn_report;
use super::judging::waiting_call;
use super::packs::ToolsArgument;
use super::session::{SessionArguments, clock};
use super::{CommandOutput, Error, Format, OpenedPack, Status, input, write_out};
use rulebook::cases::{Exchange, PartKind, Talk, TurnResult, script};
use rulebook::outcome::{EffectRecord, Miss};
use rulebook::text::{Source, is_bidi_control, one_line};
use rulebook::{Options, Program, Session, Sources};
use rulebook_fs::{Applied, Applying, InputLine, LineReader, Root, apply, io_reason, read_file, write_file};
use rulebook_report::{Pen, flattened, state_line, unwritten, visible};
use std::io::{self, BufRead, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The longest line, and the longest text of a turn, in bytes; the engine's own limit is far lower.
const MAX_LINE: usize = 64 << 20;

const HELP: &str = "\
a line        is what the user says
an empty line lets the model answer
/user         the user says several lines: a line that is a single `.` ends them
/model        the model answers, as after an empty line: in several lines up to a single `.`, or as the command of
              --command does
/model FILE   the model's answer is in a file
/confirm ID   a person says yes to a call that waits
/decline ID   a person says no to it
/prompt       shows what the model reads next
/state        shows the session
/save [FILE]  writes the session; without a file, to that of --session
/case FILE    writes the talk so far as a case
/help         shows this
/quit         ends the talk, as the end of input does
";

const AFTER_HELP: &str = "\
How a turn ends: a line at the prompt `user>` is all that the user says. An empty line there lets the model answer: in as \
many lines as it takes, blank ones too, up to a line that is a single `.` or the end of the input; with --command, the \
command answers at once. `/user` begins words of the user that take several lines; `/help` shows what else there is.

What a turn writes is shown with paths and sizes; with --root it is also written, as `rulebook apply` does.

Examples:
  rulebook play rules/roundtable
  rulebook play rules/dce --session session.json --root out
  rulebook play rules/writers-factory --command 'cat answer.txt'
";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    #[command(flatten)]
    session: SessionArguments,
    /// The command that answers as the model: it reads the prompt from standard input, and writes the answer to
    /// standard output
    #[arg(long, value_name = "CMD")]
    command: Option<String>,
    /// The model that prompts are made for
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    #[command(flatten)]
    tools: ToolsArgument,
    /// The folder below which files are written; without it, nothing is written
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

pub(super) fn play(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let session = arguments.session.session.as_deref();
    input::once(&[("the talk", Some(Path::new("-"))), ("the session", session)])?;
    let opened = OpenedPack::open_with(&arguments.pack, arguments.tools.path(), Format::Human)?;
    let program = opened.program(Format::Human)?;
    let stored = arguments.session.read()?;
    let session = stored.fit(program, Format::Human, Some(clock()))?;
    let root = arguments.root.as_deref().map(Root::open).transpose()?;
    let mut table = Conversation {
        program,
        pen: &opened.pen,
        sources: &opened.loaded.sources,
        arguments,
        root,
        lines: LineReader::new(io::stdin().lock(), MAX_LINE),
        echoes: !io::stdin().is_terminal(),
        talk: Talk::new(program, session.clone(), Options::default()),
        began: session,
        exchanges: Vec::new(),
        own: arguments.session.session.iter().cloned().collect(),
        not_utf8: false,
        troubled: false,
    };
    match table.play(stored.has_begun()) {
        // If the reader has closed the pipe, the conversation ends without an error.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Failed(format!("the talk broke off: {error}")))
        }
        _ => Ok(CommandOutput::new(String::new(), if table.troubled { Status::Trouble } else { Status::Clean })),
    }
}

/// A conversation, its input and its output.
struct Conversation<'t, R> {
    program: &'t Program,
    pen: &'t Pen,
    sources: &'t Sources,
    arguments: &'t Arguments,
    /// The folder below which files are written.
    root: Option<Root>,
    lines: LineReader<R>,
    /// Whether to print the lines that are read: a terminal does so itself.
    echoes: bool,
    talk: Talk<'t>,
    began: Session,
    exchanges: Vec<Exchange>,
    /// The files that may be overwritten: that of `--session`, and those that this conversation has written.
    own: Vec<PathBuf>,
    /// Whether the last text was not UTF-8.
    not_utf8: bool,
    troubled: bool,
}

impl<R: BufRead> Conversation<'_, R> {
    /// Runs the conversation. A session that `goes_on` has started before, so the start event does not run.
    fn play(&mut self, goes_on: bool) -> io::Result<()> {
        let answer = match &self.arguments.command {
            Some(_) => "lets the command answer as the model",
            None => "begins the model's answer, which a line that is a single `.` ends",
        };
        let opening = format!(
            "{} · {}a line is what the user says; an empty line {answer}; /help shows more\n\n",
            one_line(self.program.name()),
            state_line(None, &self.began)
        );
        write_out(&opening)?;
        if !goes_on {
            self.say(PartKind::Start, "")?;
        }
        while let Some(line) = self.line("user> ")? {
            let word = line.split_whitespace().next().unwrap_or_default();
            let rest = line.trim().strip_prefix(word).unwrap_or_default().trim();
            let file = Some(Path::new(rest)).filter(|_| !rest.is_empty());
            match word {
                "" => self.answer()?,
                "." if line.trim_end() == "." => {
                    self.trouble(
                        "there is nothing for a `.` to end: it ends what an empty line, /model or /user begins",
                    )?;
                }
                "/quit" => break,
                "/help" => write_out(HELP)?,
                "/user" => {
                    let text = self.block("the user's words")?;
                    self.say(PartKind::User, &text)?;
                }
                "/model" => match file.map(|file| read_file(file, MAX_LINE as u64)) {
                    None => self.answer()?,
                    Some(Ok(bytes)) => {
                        let text = self.decoded(bytes);
                        self.say(PartKind::Response, &text)?;
                    }
                    Some(Err(error)) => self.trouble(&error.to_string())?,
                },
                "/confirm" => self.say(PartKind::Confirm, rest)?,
                "/decline" => self.say(PartKind::Decline, rest)?,
                "/prompt" => {
                    if let Some(prompt) = self.prompt()? {
                        write_out(&format!("{}\n\n", visible(&prompt)))?;
                    }
                }
                "/state" => write_out(&format!("{}\n", escaped(&self.session())))?,
                "/save" => match file.or(self.arguments.session.session.as_deref()) {
                    Some(file) => self.write(file, &(self.session() + "\n"))?,
                    None => self.trouble("/save wants the name of a file")?,
                },
                "/case" => match file {
                    Some(file) => self.case(file)?,
                    None => self.trouble("/case wants the name of a file, such as a-lamp-is-dimmed.case")?,
                },
                command if command.starts_with('/') => {
                    self.trouble(&format!(
                        "there is no `{command}`; /help shows what there is, and /user says anything"
                    ))?;
                }
                _ => self.say(PartKind::User, &line)?,
            }
        }
        Ok(())
    }

    /// Runs one turn with this text, and prints the result.
    fn say(&mut self, part: PartKind, text: &str) -> io::Result<()> {
        let before = self.talk.session().clone();
        let mut applied = None;
        let root = self.root.as_ref().filter(|_| !self.not_utf8);
        let mut carry_out = |effects: &[EffectRecord]| {
            applied = root.map(|root| apply(root, effects, Applying::default()));
            applied.as_ref().map(|applied| applied.misses.clone()).unwrap_or_default()
        };
        let turn_result = match part {
            // The new session counts only if the files are written, so that the session and the files always agree.
            PartKind::Response | PartKind::Reply(_) => self.talk.answer_to(text, |outcome| carry_out(&outcome.effects)),
            PartKind::Confirm => self.talk.confirm_to(text, |outcome| carry_out(&outcome.effects)),
            PartKind::Start => heard(self.talk.start(), &mut carry_out),
            PartKind::Decline => heard(self.talk.decline(text), &mut carry_out),
            PartKind::User | PartKind::Prompt => heard(self.talk.hear(text), &mut carry_out),
        };
        let nothing =
            part == PartKind::Start && turn_result.effects().is_empty() && turn_result.diagnostics().is_empty();
        if nothing {
            return Ok(());
        }
        let source = Source::new(if part == PartKind::Response { "the answer" } else { "what was said" }, text);
        // The findings about a call that waited have their places in that call.
        let (source, visible_result) = match (part, &turn_result) {
            (PartKind::Confirm | PartKind::Decline, TurnResult::Outcome(outcome)) => {
                let (call, outcome) = flattened(&waiting_call(&before, text), outcome);
                (Source::new("the call", call), &TurnResult::Outcome(Box::new(outcome)))
            }
            (_, result) => (source, result),
        };
        write_out(&(self.pen.played(visible_result, &before, &source)))?;
        self.files(applied.as_ref(), &turn_result, &source)?;
        self.not_utf8 = false;
        write_out("\n")?;
        self.exchanges.push(Exchange { part, text: text.to_owned(), result: turn_result });
        Ok(())
    }

    /// Prints the changes of files of a turn, or that none are written.
    fn files(&mut self, applied: Option<&Applied>, turn_result: &TurnResult, words: &Source) -> io::Result<()> {
        if self.root.is_none() {
            return write_out(&unwritten(turn_result.effects()));
        }
        let Some(applied) = applied else {
            if turn_result.effects().iter().all(|record| record.effect.keys().next().is_none()) {
                return Ok(());
            }
            // What was meant by the invalid bytes is unknown, so nothing is written.
            return self.trouble("no file is written: what was said is not UTF-8");
        };
        let (text, all) = turn_report(self.pen, applied, turn_result, words);
        self.troubled |= !all;
        write_out(&text)
    }

    /// Lets the model answer. A command is asked again as often as the pack asks for it.
    fn answer(&mut self) -> io::Result<()> {
        let Some(command) = &self.arguments.command else {
            let text = self.block("the model's answer")?;
            return self.say(PartKind::Response, &text);
        };
        loop {
            let Some(prompt) = self.prompt()? else { return Ok(()) };
            match ask(command, &prompt) {
                Ok(answer) => {
                    let text = self.decoded(answer);
                    self.say(PartKind::Response, &text)?;
                }
                Err(why) => return self.trouble(&format!("`{command}` gave no answer: {why}")),
            }
            if self.talk.correction().is_none() {
                return Ok(());
            }
        }
    }

    /// The prompt for the model; `None` if the pack has none, and then the reason is printed.
    fn prompt(&mut self) -> io::Result<Option<String>> {
        let prompt = self.talk.prompt(self.arguments.model.clone());
        write_out(&self.pen.diagnostics(self.sources, &prompt.found))?;
        self.troubled |= prompt.has_errors();
        let correction = self.talk.correction().map(|correction| format!("\n\n{correction}")).unwrap_or_default();
        Ok((!prompt.has_errors()).then(|| prompt.text + &correction))
    }

    fn case(&mut self, file: &Path) -> io::Result<()> {
        // The claim of a case is its file name in kebab case.
        let claim = file.file_stem().unwrap_or_default().to_string_lossy().replace('-', " ");
        match script(self.program, &claim, &self.began, &self.exchanges) {
            Ok(text) => self.write(file, &text),
            Err(why) => self.trouble(&format!("this talk cannot be a case: {why}")),
        }
    }

    fn session(&self) -> String {
        serde_json::to_string_pretty(self.talk.session()).unwrap_or_default()
    }

    fn write(&mut self, file: &Path, text: &str) -> io::Result<()> {
        let own = self.own.iter().any(|own| own == file);
        match write_file(file, text.as_bytes(), own) {
            Ok(()) => {
                self.own.push(file.to_owned());
                write_out(&format!("wrote `{}`\n\n", file.display()))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.trouble(&format!("`{}` is already there", file.display()))
            }
            Err(error) => self.trouble(&format!("cannot write `{}`: {}", file.display(), io_reason(&error))),
        }
    }

    fn trouble(&mut self, message: &str) -> io::Result<()> {
        self.troubled = true;
        anstream::stderr().write_all(self.pen.trouble(message).as_bytes())
    }

    /// Reads the lines up to one that is a single `.`, or to the end of the input.
    fn block(&mut self, what: &str) -> io::Result<String> {
        write_out(&format!("({what}; a line that is a single `.` ends it)\n"))?;
        let mut text = String::new();
        let mut first = true;
        while let Some(line) = self.line("")?.filter(|line| line != ".") {
            if !std::mem::take(&mut first) {
                text.push('\n');
            }
            if text.len() + line.len() <= MAX_LINE {
                text += &line;
            }
        }
        Ok(text)
    }

    /// The text of these bytes; records whether they are not UTF-8.
    fn decoded(&mut self, bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap_or_else(|error| {
            self.not_utf8 = true;
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        })
    }

    /// The next line, without its line break.
    fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
        write_out(prompt)?;
        let bytes = loop {
            match self.lines.next_line()? {
                Some(InputLine { bytes: Some(bytes), .. }) => break bytes,
                Some(line) => self.trouble(&format!("line {} is too long, and left out", line.number))?,
                None => return write_out("\n").map(|()| None),
            }
        };
        let text = self.decoded(bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text).to_owned();
        if self.echoes {
            write_out(&format!("{}\n", visible(&text)))?;
        }
        Ok(Some(text))
    }
}

/// Carries out the effects of a turn that cannot be rejected, such as words of the user.
fn heard(turn_result: TurnResult, carry_out: &mut impl FnMut(&[EffectRecord]) -> Vec<Miss>) -> TurnResult {
    carry_out(turn_result.effects());
    turn_result
}

/// JSON in which characters that control a terminal or change the direction of text are escaped. Such characters occur
/// only in strings, in which the escape has the same meaning.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => out.push(c),
            c if c.is_control() || is_bidi_control(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// The output of a shell command for a prompt.
fn ask(command: &str, prompt: &str) -> Result<Vec<u8>, String> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let mut answer = Vec::new();
    // The command may write before it has read everything, or read nothing, so input and output are handled in
    // parallel.
    let read = std::thread::scope(|scope| {
        scope.spawn(|| input.map(|mut input| input.write_all(prompt.as_bytes())));
        output.map_or(Ok(0), |output| output.take(MAX_LINE as u64).read_to_end(&mut answer))
    });
    let status = child.wait().map_err(|error| error.to_string())?;
    match read {
        Err(error) => Err(error.to_string()),
        Ok(_) if !status.success() => Err(status.to_string()),
        Ok(_) => Ok(answer),
    }
}
