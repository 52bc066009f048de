//! Engine: which methods of a program does Python call?
//!
//! In: a compiled pack; sessions, answers and options as Python objects.
//! Out: [`Engine`], whose methods `rulebook.Program` calls, and the results as objects of contracts.
//! Never: has the lock of the interpreter while the engine works.

use super::contract::{Contract, read};
use super::files::Files;
use super::found::{Found, drawn, found};
use super::objects::plain;
use super::part::{Part, part, whole};
use super::reader::Reader;
use super::text::{Answer, utf8};
use super::values::value_of;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use rulebook::cases;
use rulebook::outcome::{Heard, Miss};
use rulebook::prompt::{Counter, Export, Request, Turn, read_history};
use rulebook::text::Source;
use rulebook::{
    Checked, Diagnostic, Limits, Options, Outcome, Program, Provider, Reply, Session, Sources, Tools, Value,
};
use rulebook_report::{Pen, json};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A compiled pack.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Engine {
    program: Arc<Program>,
}

/// A count that a host passes in, such as the number of attempts.
pub(crate) struct Count(usize);

impl Count {
    /// The number.
    pub(crate) fn number(&self) -> usize {
        self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Count {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let whole: Bound<'_, pyo3::types::PyInt> = object.extract()?;
        let number = whole.extract().map_err(|_| PyValueError::new_err("a number of times is not negative"));
        number.map(Self)
    }
}

/// The result of loading: the engine unless there is an error, and the diagnostics.
type Loaded<'py> = (Option<Engine>, Found<'py>);

#[pymethods]
impl Engine {
    /// Compiles a pack.
    #[staticmethod]
    fn load<'py>(py: Python<'py>, files: &Bound<'py, Files>) -> PyResult<Loaded<'py>> {
        let files = files.get();
        let loaded = py.detach(|| Program::load(&files.folder));
        Self::loaded(py, &files.pen(), loaded)
    }

    /// The program with these limits; a limit that is not named has its default.
    fn with_limits(&self, given: BTreeMap<String, Count>) -> PyResult<Self> {
        let limits = limits(given)?;
        Ok(Self { program: Arc::new(Program::clone(&self.program).with_limits(limits)) })
    }

    /// Compiles the program for a host with these tools, a list as JSON.
    fn with_tools<'py>(&self, py: Python<'py>, tools: &Bound<'py, PyAny>) -> PyResult<Loaded<'py>> {
        let list = json_of(tools, "tools")?;
        let loaded = py.detach(|| with_tools(&self.program, &list));
        Self::loaded(py, &Pen::default(), loaded)
    }

    #[getter]
    fn name(&self) -> &str {
        self.program.name()
    }

    #[getter]
    fn version(&self) -> Option<&str> {
        self.program.version()
    }

    #[getter]
    fn modes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.program.modes().collect::<Vec<_>>())
    }

    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.program.actions().collect::<Vec<_>>())
    }

    #[getter]
    fn dialects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.program.dialects().collect::<Vec<_>>())
    }

    /// Whether a pending call remains pending when the next answer is judged.
    #[getter]
    fn keeps_pending(&self) -> bool {
        self.program.keeps_pending()
    }

    fn session<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let session = py.detach(|| self.program.session());
        whole(py, Contract::Session(Arc::new(session)))
    }

    /// The session that a host has saved, and diagnostics for the parts that do not match the pack.
    fn resume<'py>(&self, py: Python<'py>, saved: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Found<'py>)> {
        let saved = any_json(saved, "the session")?;
        let (session, dropped) = py.detach(|| self.program.resume_lossy(saved));
        let found = found(py, &Pen::default(), self.program.sources(), &dropped)?;
        Ok((whole(py, Contract::Session(Arc::new(session)))?, found))
    }

    #[pyo3(signature = (session, answer, dialect, trace, truncated, attempts, thinking, hold, withheld))]
    #[expect(clippy::too_many_arguments, reason = "the options of a run, each by its name")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        answer: &Bound<'py, PyAny>,
        dialect: Option<String>,
        trace: bool,
        truncated: bool,
        attempts: Count,
        thinking: Option<bool>,
        hold: bool,
        withheld: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let session = session_of(session)?;
        let options = options(dialect, trace, truncated, attempts, thinking, hold, withheld);
        let answer = Answer::of(answer, "answer")?;
        let program = &self.program;
        let outcome = py.detach(|| match &answer {
            Answer::Text(text) if options == Options::default() => program.run(&session, text),
            _ => program.run_with(&session, answer.bytes(), &options),
        });
        whole(py, Contract::Outcome(Arc::new(outcome)))
    }

    /// Judges what an API returned: a complete message, or without a provider a reply in the engine's own format. If
    /// the message is not valid, the result has diagnostics instead of an outcome.
    #[pyo3(signature = (session, provider, message, dialect, trace, truncated, attempts, thinking, hold, withheld))]
    #[expect(clippy::too_many_arguments, reason = "the options of a run, each by its name")]
    fn judge<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        provider: Option<&str>,
        message: &Bound<'py, PyAny>,
        dialect: Option<String>,
        trace: bool,
        truncated: bool,
        attempts: Count,
        thinking: Option<bool>,
        hold: bool,
        withheld: bool,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Found<'py>)> {
        let session = session_of(session)?;
        let options = options(dialect, trace, truncated, attempts, thinking, hold, withheld);
        let provider = provider.map(provider_of).transpose()?;
        let message = json_of(message, "message")?;
        let reply = match provider {
            Some(provider) => py.detach(|| Reply::read(provider, &message)),
            None => Checked::new(Some(read::<Reply>(&message)?), Vec::new(), Sources::default()),
        };
        let found = found(py, &Pen::default(), &reply.sources, &reply.diagnostics)?;
        let Some(reply) = reply.value else { return Ok((None, found)) };
        let outcome = py.detach(|| self.program.judge(&session, &reply, &options));
        Ok((Some(whole(py, Contract::Outcome(Arc::new(outcome)))?), found))
    }

    #[pyo3(signature = (session, dialect, trace, truncated, attempts, thinking, hold, withheld))]
    #[expect(clippy::too_many_arguments, reason = "the options of a run, each by its name")]
    fn reader(
        &self,
        session: &Bound<'_, PyAny>,
        dialect: Option<String>,
        trace: bool,
        truncated: bool,
        attempts: Count,
        thinking: Option<bool>,
        hold: bool,
        withheld: bool,
    ) -> PyResult<Reader> {
        let options = options(dialect, trace, truncated, attempts, thinking, hold, withheld);
        let session = session_of(session)?;
        Ok(Reader::new(rulebook::Reader::new(Arc::clone(&self.program), &session, &options)))
    }

    fn hear<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        text: &Bound<'py, PyString>,
        trace: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (session, text) = (session_of(session)?, utf8(text)?);
        let options = Options { trace, ..Options::default() };
        let heard = py.detach(|| self.program.hear(&session, &text, &options));
        whole(py, Contract::Heard(Arc::<Heard>::new(heard)))
    }

    fn start<'py>(&self, py: Python<'py>, session: &Bound<'py, PyAny>, trace: bool) -> PyResult<Bound<'py, PyAny>> {
        let session = session_of(session)?;
        let options = Options { trace, ..Options::default() };
        let heard = py.detach(|| self.program.start(&session, &options));
        whole(py, Contract::Heard(Arc::<Heard>::new(heard)))
    }

    /// Confirms or declines the pending call with this id.
    fn resolve_pending<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        id: &Bound<'py, PyString>,
        confirmed: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (session, id) = (session_of(session)?, utf8(id)?);
        let outcome = py.detach(|| match confirmed {
            true => self.program.confirm(&session, &id),
            false => self.program.decline(&session, &id),
        });
        whole(py, Contract::Outcome(Arc::new(outcome)))
    }

    fn reject<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        outcome: &Bound<'py, PyAny>,
        misses: &Bound<'py, PyAny>,
        attempts: Count,
        withheld: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (session, outcome) = (session_of(session)?, outcome_of(outcome)?);
        let misses: Vec<Miss> = typed(misses, "misses")?;
        let options = Options { attempts: attempts.0, withheld, ..Options::default() };
        let rejected = py.detach(|| self.program.reject(&session, Outcome::clone(&outcome), &misses, &options));
        whole(py, Contract::Outcome(Arc::new(rejected)))
    }

    #[pyo3(signature = (session, message, history, prompt, model, counter))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a request, each by its name")]
    fn prompt<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        message: Option<Bound<'py, PyString>>,
        history: &Bound<'py, PyAny>,
        prompt: Option<String>,
        model: Option<String>,
        counter: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let session = session_of(session)?;
        let counter = counter.map(|counts| Arc::new(Counting { counts, failed: Mutex::new(None) }));
        let message = message.as_ref().map(|message| utf8(message).map(|text| text.into_owned())).transpose()?;
        let mut request = Request { prompt, model, message, history: typed(history, "history")?, ..Request::default() };
        request.counter = counter.clone().map(|counter| -> Arc<dyn Counter> { counter });
        let prompt = py.detach(|| self.program.prompt(&session, &request));
        let failed = counter.and_then(|counter| counter.failed.lock().unwrap_or_else(PoisonError::into_inner).take());
        match failed {
            Some(error) => Err(error),
            None => whole(py, Contract::Prompt(Arc::new(prompt))),
        }
    }

    /// The turn of an answer of which only the text is stored.
    fn turn<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        text: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (session, text) = (session_of(session)?, utf8(text)?);
        let turn = py.detach(|| self.program.turn(&session, &text));
        part(py, "Turn", &turn)
    }

    /// The turns of a history in JSON lines; or diagnostics if a line is not valid.
    fn history<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
        lines: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyTuple>>, Found<'py>)> {
        let (session, lines) = (session_of(session)?, Answer::of(lines, "lines")?);
        let mut sources = Sources::default();
        let file = Source::new("history", String::from_utf8_lossy(lines.bytes()));
        let id = sources.add(file.clone());
        match py.detach(|| read_history(id, &file).map(|history| self.program.turns(&session, &history))) {
            Ok(turns) => {
                let turns = turns.iter().map(|turn| part(py, "Turn", turn)).collect::<PyResult<Vec<_>>>()?;
                Ok((Some(PyTuple::new(py, turns)?), faults(py, &sources, &[])?))
            }
            Err(wrong) => Ok((None, faults(py, &sources, &wrong)?)),
        }
    }

    /// The value for the API of a model, if there is one, and diagnostics for the rules that it cannot express.
    fn export<'py>(
        &self,
        py: Python<'py>,
        mode: &Bound<'py, PyString>,
        what: &str,
        strict: bool,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Found<'py>)> {
        let what = export_of(what)?;
        let mode = utf8(mode)?;
        let exported = py.detach(|| self.program.export(&mode, what, strict));
        let value = exported.value.map(|value| plain(py, &value)).transpose()?;
        Ok((value, found(py, &Pen::default(), &exported.sources, &exported.diagnostics)?))
    }
}

impl Engine {
    /// The program.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    fn loaded<'py>(py: Python<'py>, pen: &Pen, loaded: Checked<Program>) -> PyResult<Loaded<'py>> {
        let found = found(py, pen, &loaded.sources, &loaded.diagnostics)?;
        Ok((loaded.value.map(|program| Self { program: Arc::new(program) }), found))
    }
}

/// The report of `check` on a pack.
#[pyfunction]
#[pyo3(signature = (files, tools = None))]
pub(crate) fn check<'py>(
    py: Python<'py>,
    files: &Bound<'py, Files>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let files = files.get();
    let tools = tools.map(|tools| json_of(tools, "tools")).transpose()?;
    let checked = py.detach(|| review(files, tools.as_deref()));
    whole(py, Contract::Checked(Arc::new(checked)))
}

/// The report of the command `check` on one pack: as data, and as text.
fn review(files: &Files, tools: Option<&str>) -> (json::Checked, String) {
    let pen = files.pen();
    let mut checked = rulebook::check::review(&files.folder);
    let list = tools.map(Tools::read);
    if let Some(list) = &list {
        match &list.value {
            Some(tools) => checked = checked.with_tools(tools),
            None => checked.value = None,
        }
    }
    let cases = files.on_disk.iter().flat_map(|on_disk| &on_disk.cases);
    let cases = cases.map(|file| (file.name.as_str(), file.bytes.as_slice()));
    let (sources, faults) = cases::faults(checked.value.as_ref(), cases);
    let (mut rows, mut text) = (Vec::new(), String::new());
    let of_list = list.iter().map(|list| (&list.sources, &list.diagnostics));
    let of_pack = [(&checked.sources, &checked.diagnostics), (&sources, &faults)];
    for (sources, found) in of_pack.into_iter().chain(of_list) {
        rows.extend(found.iter().map(|one| pen.row(sources, one)));
        text += &drawn(&pen, sources, found);
    }
    let permits = checked.value.filter(|_| tools.is_some()).map(|program| program.permit_table());
    (json::Checked::new(rows, 1).with_permits(permits.iter().flatten()), text)
}

/// The program for a host with these tools. A list that is not valid is an error.
fn with_tools(program: &Program, list: &str) -> Checked<Program> {
    let tools = Tools::read(list);
    match tools.value {
        Some(read) => program.with_tools(&read),
        None => Checked::new(None, tools.diagnostics, tools.sources),
    }
}

/// The JSON text of a list of tools, or of any other object.
#[pyfunction]
pub(crate) fn json_text(object: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    json_of(object, name)
}

/// The results for the calls that were not carried out, in the format of the provider.
#[pyfunction]
pub(crate) fn tool_results<'py>(
    py: Python<'py>,
    outcome: &Bound<'py, PyAny>,
    provider: &str,
) -> PyResult<Bound<'py, PyAny>> {
    plain(py, &outcome_of(outcome)?.tool_results(provider_of(provider)?))
}

/// The turn of a history for an outcome.
#[pyfunction]
pub(crate) fn turn_of<'py>(py: Python<'py>, outcome: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    part(py, "Turn", &Turn::answer(&*outcome_of(outcome)?))
}

/// A copy of a session with other values.
#[pyfunction]
pub(crate) fn replace<'py>(
    py: Python<'py>,
    session: &Bound<'py, PyAny>,
    mode: Option<String>,
    now: Option<(Option<String>,)>,
    state: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut session = Session::clone(&*session_of(session)?);
    session.mode = mode.unwrap_or(session.mode);
    session.now = now.map_or(session.now, |(now,)| now);
    if let Some(state) = state {
        let Value::Object(state) = value_of(state, "state")? else {
            return Err(PyTypeError::new_err("state is a dict"));
        };
        state.iter().for_each(|(name, value)| session.state.put(name, value.clone()));
    }
    whole(py, Contract::Session(Arc::new(session)))
}

/// Counts tokens with a Python function. After an exception, lengths are used in its place, and `prompt` raises it in
/// the end.
#[derive(Debug)]
struct Counting {
    counts: Py<PyAny>,
    failed: Mutex<Option<PyErr>>,
}

impl Counter for Counting {
    fn count(&self, text: &str) -> usize {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_some() {
            return text.len();
        }
        let counted = Python::attach(|py| self.counts.call1(py, (text,))?.extract::<usize>(py));
        counted.unwrap_or_else(|error| {
            *failed = Some(error);
            text.len()
        })
    }
}

/// The limits with these names.
fn limits(given: BTreeMap<String, Count>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, Count(number)) in given {
        let limit = match name.as_str() {
            "input" => &mut limits.input,
            "depth" => &mut limits.depth,
            "blocks" => &mut limits.blocks,
            "calls" => &mut limits.calls,
            "diagnostics" => &mut limits.diagnostics,
            "fields" => &mut limits.fields,
            "values" => &mut limits.values,
            "effects" => &mut limits.effects,
            "steps_per_byte" => {
                limits.steps_per_byte = u64::try_from(number).unwrap_or(u64::MAX);
                continue;
            }
            _ => return Err(PyTypeError::new_err(format!("there is no limit `{name}`"))),
        };
        *limit = number;
    }
    Ok(limits)
}

fn options(
    dialect: Option<String>,
    trace: bool,
    truncated: bool,
    attempts: Count,
    thinking: Option<bool>,
    hold: bool,
    withheld: bool,
) -> Options {
    Options { dialect, trace, truncated, attempts: attempts.0, thinking, hold, withheld, ..Options::default() }
}

/// The session of a `Session` object.
pub(crate) fn session_of(object: &Bound<'_, PyAny>) -> PyResult<Arc<Session>> {
    match object.cast::<Part>().ok().and_then(|part| part.get().contract()) {
        Some(Contract::Session(session)) => Ok(Arc::clone(session)),
        _ => {
            let kind = object.get_type();
            let kind = kind.name()?;
            Err(PyTypeError::new_err(format!(
                "session is a Session, as program.session() or program.resume() gives it, not {kind}"
            )))
        }
    }
}

fn outcome_of(object: &Bound<'_, PyAny>) -> PyResult<Arc<Outcome>> {
    match object.cast::<Part>().ok().and_then(|part| part.get().contract()) {
        Some(Contract::Outcome(outcome)) => Ok(Arc::clone(outcome)),
        _ => Err(PyTypeError::new_err(format!("outcome is an Outcome, not {}", object.get_type().name()?))),
    }
}

/// The provider of this name.
pub(crate) fn provider_of(name: &str) -> PyResult<Provider> {
    Provider::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Provider::ALL.into_iter().map(Provider::name).collect();
        PyValueError::new_err(format!("no provider is called {name}: there are {}", known.join(", ")))
    })
}

fn export_of(what: &str) -> PyResult<Export> {
    let all = [
        ("response-format", Export::ResponseFormat),
        ("json-object", Export::JsonObject),
        ("json-schema", Export::JsonSchema),
        ("openai-tools", Export::OpenaiTools),
        ("anthropic-tools", Export::AnthropicTools),
    ];
    all.into_iter().find(|(name, _)| *name == what).map(|(_, export)| export).ok_or_else(|| {
        let known = all.map(|(name, _)| name).join(", ");
        PyValueError::new_err(format!("nothing is exported as {what}: there are {known}"))
    })
}

/// JSON text: a text or bytes are taken as JSON, and any other object is converted.
pub(crate) fn json_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    match Answer::of(object, name) {
        Ok(Answer::Text(text)) => Ok(text.into_owned()),
        Ok(Answer::Bytes(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(_) => Ok(value_of(object, name)?.to_string()),
    }
}

/// A value: a text or bytes are parsed as JSON, and any other object is converted.
fn any_json(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    match Answer::of(object, name) {
        Ok(Answer::Text(text)) => read(&text),
        Ok(Answer::Bytes(bytes)) => read(&String::from_utf8_lossy(&bytes)),
        Err(_) => value_of(object, name),
    }
}

/// Converts an object of the host to a type of the engine.
fn typed<T: DeserializeOwned>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<T> {
    let value = value_of(object, name)?;
    serde_json::from_value(value.into()).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// Diagnostics for a Python exception.
pub(crate) fn faults<'py>(py: Python<'py>, sources: &Sources, diagnostics: &[Diagnostic]) -> PyResult<Found<'py>> {
    found(py, &Pen::default(), sources, diagnostics)
}
