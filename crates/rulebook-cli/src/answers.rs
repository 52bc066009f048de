//! Answers: what is the result for each line of a file of answers?
//!
//! In: a file with one answer on each line, the program that judges them, and optionally a second program.
//! Out: totals of the results, the answers for which the second program differs, the first of the lines that are not
//! answers, and on request a file of the outcomes.
//! Never: has more answers in memory than are being judged.
#![expect(clippy::disallowed_methods, reason = "commands that read and write files of any length")]

use super::save::{cannot_write, create};
use super::{Error, batches, input};
use indicatif::{ProgressBar, ProgressStyle};
use rulebook::outcome::differences;
use rulebook::session::Misfit;
use rulebook::text::{self, JsonPlaces, excerpt};
use rulebook::value::broken;
use rulebook::{Code, Diagnostic, Object, Options, Outcome, Program, Value};
use rulebook_fs::{InputLine, LineReader, io_error};
use rulebook_report::{Differing, Replayed, Row, Sums, row_of_line};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The longest line, in bytes; longer ones are reported as broken.
const MAX_LINE: usize = 32 << 20;
/// The most reasons why a session does not match the pack that a message lists.
const MAX_WHY: usize = 5;
/// How many broken lines are reported; all are counted.
const MAX_LISTED: usize = 100;

/// Judges answers; all threads share it.
pub(super) struct Judge<'p> {
    pub(super) program: &'p Program,
    /// The second program, whose outcomes are compared.
    pub(super) against: Option<&'p Program>,
    /// Whether outcomes are written to a file.
    pub(super) writes_outcomes: bool,
}

/// The number of a line that is not an answer, and why.
pub(super) type Broken = (usize, Diagnostic);

/// The file of outcomes.
pub(super) struct Out {
    path: PathBuf,
    writer: BufWriter<File>,
}

impl Out {
    pub(super) fn create(path: &Path, answers: &Path) -> Result<Self, Error> {
        Ok(Self { path: path.to_owned(), writer: BufWriter::with_capacity(1 << 16, create(path, answers)?) })
    }

    fn line(&mut self, text: &str) -> Result<(), Error> {
        let written = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.write_all(b"\n"));
        written.map_err(|error| cannot_write(&self.path, &error))
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Judge<'_> {
    /// The results of all answers in a file, and the first of its lines that are not answers.
    pub(super) fn judge_all(
        &self,
        file: &Path,
        jobs: Option<u16>,
        out: Option<Out>,
    ) -> Result<(Replayed, Vec<Broken>), Error> {
        let (reader, bar) = open(file)?;
        let mut writer = ResultWriter { bar, out, replayed: Replayed::default(), broken: Vec::new() };
        let jobs = jobs.map(usize::from).or_else(|| std::thread::available_parallelism().ok().map(NonZeroUsize::get));
        batches::each(
            LineReader::new(reader, MAX_LINE),
            jobs.unwrap_or(1),
            |line| self.judge(line),
            |judged| writer.write_judged(judged),
        )?;
        if let Some(out) = &mut writer.out {
            out.finish()?;
        }
        writer.bar.finish_and_clear();
        Ok((writer.replayed, writer.broken))
    }

    /// The result of a line; `None` for an empty line.
    fn judge(&self, line: InputLine) -> Option<JudgedLine> {
        let answer = match &line.bytes {
            Some(bytes) if bytes.trim_ascii().is_empty() => return None,
            Some(bytes) => self.answer(bytes),
            None => Err(format!("it is longer than {MAX_LINE} bytes").into()),
        };
        Some(JudgedLine { line: line.number, end: line.end, answer })
    }

    fn answer(&self, line: &[u8]) -> Result<AnswerReport, LineFault> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let line = std::str::from_utf8(line).map_err(|error| {
            let column = error.valid_up_to() + 1;
            LineFault {
                why: format!("it is not UTF-8, at column {column}"),
                help: Some("save the file as UTF-8".to_owned()),
            }
        })?;
        let value = Value::read(line)
            .map_err(|error| format!("this is not JSON: {}, at column {}", broken::why(&error), error.column()))?;
        let Value::Object(mut members) = value else { return Err("it is not a JSON object".into()) };
        let Some(Value::String(response)) = members.remove("response") else {
            return Err("it has no `response` that is a text".into());
        };
        let id = members.remove("id").unwrap_or_default();
        let own_mode = members.get("mode").is_some_and(|mode| !mode.is_null());
        let stored = stored_session(&mut members)?;
        let unread = members.keys().map(str::to_owned).collect();
        let run = |program: &Program| -> Result<Outcome, Vec<Misfit>> {
            let (session, misfits) = program.resume_in_part(&stored);
            if !misfits.is_empty() {
                return Err(misfits);
            }
            Ok(program.run_with(&session, response.as_bytes(), &Options::default()))
        };
        let outcome = run(self.program).map_err(|misfits| LineFault::of_session(misfits, line, own_mode))?;
        let differs = self.against.map(|against| match run(against) {
            Ok(other) => differences(&other, &outcome),
            // Without the columns: they differ from line to line, and would make every answer a kind of difference of
            // its own.
            Err(misfits) => {
                let why: Vec<String> =
                    misfits.into_iter().map(|misfit| misfit.diagnostic.message.to_string()).collect();
                vec![format!("session: {}", why.join("; "))]
            }
        });
        let written = self.writes_outcomes.then(|| out_line(&id, &outcome, differs.as_deref())).transpose();
        let out_line = written.map_err(|error| error.to_string())?;
        Ok(AnswerReport { sums: Sums::of(&outcome), id, unread, differs, out_line })
    }
}

/// A row for each broken line.
pub(super) fn rows(file: &Path, broken: &[Broken]) -> Vec<Row> {
    broken.iter().map(|(line, fault)| row_of_line(input::name_of(file), *line, fault)).collect()
}

/// The file, and a progress bar on the terminal.
fn open(file: &Path) -> Result<(Box<dyn BufRead + Send>, ProgressBar), Error> {
    let style = |template| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    if input::is_standard(file) {
        let bar = ProgressBar::new_spinner().with_style(style("{spinner} {msg}, {elapsed}"));
        return Ok((Box::new(BufReader::new(io::stdin())), bar));
    }
    let cannot = |error| Error::from(io_error(file, &error));
    let opened = File::open(file).map_err(cannot)?;
    let about = opened.metadata().map_err(cannot)?;
    if about.is_dir() {
        return Err(cannot(io::ErrorKind::IsADirectory.into()));
    }
    let length = about.len();
    let bar = ProgressBar::new(length).with_style(style("{bar:30} {percent:>3}%  {msg}, {eta} left"));
    Ok((Box::new(BufReader::with_capacity(1 << 16, opened)), bar))
}

/// The result of one line, with the offset at which the line ends.
struct JudgedLine {
    line: usize,
    end: u64,
    answer: Result<AnswerReport, LineFault>,
}

/// Why a line is not an answer, with a help if there is one.
struct LineFault {
    why: String,
    help: Option<String>,
}

impl<S: Into<String>> From<S> for LineFault {
    fn from(why: S) -> Self {
        Self { why: why.into(), help: None }
    }
}

impl LineFault {
    /// Why the session of a line does not match the pack, with the columns. `own_mode` is set if the line itself has a
    /// `mode`.
    fn of_session(misfits: Vec<Misfit>, line: &str, own_mode: bool) -> Self {
        let (mut places, columns) = (JsonPlaces::new(line), text::Lines::new(line));
        let mut why = Vec::new();
        let mut help = None;
        for mut misfit in misfits.into_iter().take(MAX_WHY) {
            if !(own_mode && misfit.pointer == "/mode") {
                misfit.pointer.insert_str(0, "/session");
            }
            let column = columns.place(misfit.place(&mut places).start).column;
            why.push(format!("{}, at column {column}", misfit.diagnostic.message));
            help = help.or(misfit.diagnostic.help.map(|help| help.to_string()));
        }
        Self { why: why.join("; "), help }
    }
}

/// What remains of an answer after it has been judged. Its outcome is dropped, so that memory does not grow.
struct AnswerReport {
    id: Value,
    /// The members of its line that are ignored.
    unread: Vec<String>,
    sums: Sums,
    /// The differences from the outcome of the second program.
    differs: Option<Vec<String>>,
    /// Its line for `--out`.
    out_line: Option<String>,
}

/// A line for `--out`.
fn out_line(id: &Value, outcome: &Outcome, differs: Option<&[String]>) -> serde_json::Result<String> {
    let (id, outcome) = (serde_json::to_string(id)?, outcome.json()?);
    let differs = differs.map(serde_json::to_string).transpose()?;
    let differs = differs.map(|differs| format!(r#","differs":{differs}"#)).unwrap_or_default();
    Ok([r#"{"id":"#, &id, r#","outcome":"#, &outcome, &differs, "}"].concat())
}

/// The session of a line: its `session`, with the `mode` of the line in place of the session's, if the line has one.
fn stored_session(members: &mut Object) -> Result<Value, LineFault> {
    let mut session = match members.remove("session") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(session)) => session,
        Some(_) => return Err("its `session` is not an object".into()),
    };
    match members.remove("mode") {
        None | Some(Value::Null) => {}
        Some(mode) => drop(session.insert("mode".to_owned(), mode)),
    }
    Ok(Value::Object(session))
}

/// Collects the results, in the order of the lines.
struct ResultWriter {
    bar: ProgressBar,
    out: Option<Out>,
    replayed: Replayed,
    broken: Vec<Broken>,
}

impl ResultWriter {
    fn write_judged(&mut self, judged: JudgedLine) -> Result<(), Error> {
        self.replayed.lines += 1;
        match judged.answer {
            Ok(answer) => {
                if let (Some(out), Some(out_line)) = (&mut self.out, &answer.out_line) {
                    out.line(out_line)?;
                }
                self.replayed.sums.add(&answer.sums);
                self.replayed.ignore(answer.unread, judged.line);
                if let Some(how) = answer.differs {
                    let id = match answer.id {
                        Value::Null => format!("line {}", judged.line),
                        Value::String(id) => excerpt(&id, 80).into_owned(),
                        other => excerpt(&other.to_string(), 80).into_owned(),
                    };
                    self.replayed.compare(Differing { id, line: judged.line, how });
                }
            }
            Err(LineFault { why, help }) => {
                self.replayed.broken += 1;
                if self.broken.len() < MAX_LISTED {
                    let message = format!("line {} is not an answer: {}", judged.line, excerpt(&why, 200));
                    let shape = "a line is a JSON object with `response`, and maybe `id`, `mode` and `session`";
                    let help = help.unwrap_or_else(|| shape.to_owned());
                    let fault = Diagnostic::new(Code::WORKSPACE_BROKEN_LINE, None, message).with_help(help);
                    self.broken.push((judged.line, fault));
                }
            }
        }
        if self.replayed.lines.is_multiple_of(64) {
            let seconds = self.bar.elapsed().as_secs_f64().max(0.001);
            let rate = self.replayed.lines as f64 / seconds;
            self.bar.set_message(format!("{} answers, {rate:.0}/s", self.replayed.lines));
            self.bar.set_position(judged.end);
        }
        Ok(())
    }
}
