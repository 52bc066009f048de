//! Batch: how are many answers judged at once?
//!
//! In: a column of answers, and a session, a mode and options for all or for each answer, as buffers of Arrow arrays.
//! Out: the buffers for the columns of their outcomes, from which Python makes Arrow arrays.
//! Never: has the lock of the interpreter while the engine works, or makes a Python object for a single answer.

use super::engine::{Count, Engine, session_of};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rulebook::outcome::Verdict;
use rulebook::text::excerpt;
use rulebook::{Options, Outcome, Program, Session, Value};
use std::borrow::Cow;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;

/// How many answers a thread takes at a time: few, so that all threads end at about the same time.
const ANSWERS_PER_GROUP: usize = 16;
/// The most reasons why a session does not match the pack that a message lists.
const MAX_WHY: usize = 5;

/// The buffers of a column from Python: the offsets of the texts and of the end of the last one, in 64 bits; the bytes
/// from the first offset on; and a byte for each row that is not zero if the row is null, or no bytes if no row is
/// null.
type Buffers<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);
/// Texts for an Arrow array: their offsets, from zero, and their bytes.
type Texts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// A column of texts, some of which may be null. INVARIANT: offsets are sorted and within `bytes`.
struct Column<'a> {
    places: Vec<usize>,
    bytes: &'a [u8],
    nulls: &'a [u8],
}

/// The answers, and everything that decides how each is judged.
struct Rows<'a> {
    program: &'a Program,
    answers: Column<'a>,
    session: &'a Session,
    sessions: Option<Column<'a>>,
    mode: Option<&'a str>,
    modes: Option<Column<'a>>,
    dialect: Option<&'a str>,
    dialects: Option<Column<'a>>,
    /// Whether the output of the model was cut off: a byte for each row, or one for all rows.
    truncated: &'a [u8],
    /// How often the model was asked again: a number for each row, or one for all rows.
    attempts: Vec<i64>,
    /// Whether to return the outcomes as JSON, which is longer than all other columns together.
    outcomes: bool,
    /// The number of rows in earlier batches, for messages.
    before: usize,
}

/// Texts in one buffer, and the offset at which each ends.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Lists in one buffer: the number of items of each.
type Lengths = Vec<usize>;

/// The outcomes of a group of answers, column by column.
#[derive(Default)]
struct Judged {
    /// Whether the row has an answer, and not null.
    valid: Vec<bool>,
    status: Strings,
    message: Strings,
    codes: (Lengths, Strings),
    calls: Lengths,
    call: [Strings; 3],
    accepted: Vec<usize>,
    dropped: Vec<usize>,
    asks: Vec<bool>,
    ask_again: Strings,
    /// Whether a dialect read the answer.
    is_read: Vec<bool>,
    dialect: Strings,
    outcome: Strings,
}

/// Judges each answer of a column, on this many threads. The result has the buffers for the columns of
/// `rulebook.arrow`.
#[pyfunction]
#[pyo3(signature = (
    engine, answers, session, sessions, mode, modes, dialect, dialects, truncated, attempts, outcomes, before, threads
))]
#[expect(clippy::too_many_arguments, reason = "what applies to the answers, each by its name")]
pub(crate) fn judge_column<'py>(
    py: Python<'py>,
    engine: &Bound<'py, Engine>,
    answers: Buffers<'py>,
    session: &Bound<'py, PyAny>,
    sessions: Option<Buffers<'py>>,
    mode: Option<String>,
    modes: Option<Buffers<'py>>,
    dialect: Option<String>,
    dialects: Option<Buffers<'py>>,
    truncated: &Bound<'py, PyBytes>,
    attempts: &Bound<'py, PyBytes>,
    outcomes: bool,
    before: Count,
    threads: Count,
) -> PyResult<Bound<'py, PyDict>> {
    let session = session_of(session)?;
    let answers = Column::of(&answers)?;
    let sessions = sessions.as_ref().map(Column::of).transpose()?;
    let modes = modes.as_ref().map(Column::of).transpose()?;
    let dialects = dialects.as_ref().map(Column::of).transpose()?;
    let attempts = attempts.as_bytes().chunks_exact(size_of::<i64>());
    let attempts = attempts.filter_map(|number| number.try_into().ok()).map(i64::from_ne_bytes);
    let rows = Rows {
        program: engine.get().program(),
        answers,
        session: &session,
        sessions,
        mode: mode.as_deref(),
        modes,
        dialect: dialect.as_deref(),
        dialects,
        truncated: truncated.as_bytes(),
        attempts: attempts.collect(),
        outcomes,
        before: before.number(),
    };
    let length = rows.answers.len();
    let columns =
        [&rows.sessions, &rows.modes, &rows.dialects].into_iter().flatten().all(|other| other.len() == length);
    if !columns || [rows.truncated.len(), rows.attempts.len()].iter().any(|other| *other != 1 && *other != length) {
        return Err(PyValueError::new_err("the columns differ in length"));
    }
    let judged = py.detach(|| rows.judge_all(threads.number())).map_err(PyValueError::new_err)?;
    buffers(py, &judged)
}

impl<'a> Column<'a> {
    fn of((places, bytes, nulls): &'a Buffers<'_>) -> PyResult<Self> {
        let places = places.as_bytes().chunks_exact(size_of::<i64>());
        let places = places.map(|place| usize::try_from(i64::from_ne_bytes(place.try_into().ok()?)).ok());
        let places: Option<Vec<usize>> = places.collect();
        let (bytes, nulls) = (bytes.as_bytes(), nulls.as_bytes());
        // `bytes` starts at the first offset.
        let from_first = |places: Vec<usize>| {
            let first = *places.first()?;
            places.into_iter().map(|place| place.checked_sub(first)).collect::<Option<Vec<usize>>>()
        };
        places
            .and_then(from_first)
            .map(|places| Self { places, bytes, nulls })
            .filter(Self::is_sound)
            .ok_or_else(|| PyValueError::new_err("the buffers of a column are inconsistent"))
    }

    fn is_sound(&self) -> bool {
        let ends = self.places.last().is_some_and(|end| *end <= self.bytes.len());
        ends && self.places.is_sorted() && (self.nulls.is_empty() || self.nulls.len() == self.len())
    }

    fn len(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    /// The bytes of a text; `None` if it is null.
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.nulls.get(row).is_some_and(|null| *null != 0) {
            return None;
        }
        self.bytes.get(*self.places.get(row)?..*self.places.get(row + 1)?)
    }
}

impl Rows<'_> {
    /// The outcomes of all answers, in groups; or the error of the first row whose session, mode or options are not
    /// valid.
    fn judge_all(&self, threads: usize) -> Result<Vec<Judged>, String> {
        let groups = Mutex::new((0..self.answers.len()).step_by(ANSWERS_PER_GROUP));
        let next = || groups.lock().ok()?.next();
        let job = || {
            let mut done = Vec::new();
            while let Some(first) = next() {
                let judged = self.judge(first);
                let failed = judged.is_err();
                done.push((first, judged));
                if failed {
                    break;
                }
            }
            done
        };
        let threads = threads.min(self.answers.len().div_ceil(ANSWERS_PER_GROUP));
        let mut groups: Vec<_> = match threads {
            0 | 1 => job(),
            _ => thread::scope(|scope| {
                let jobs: Vec<_> = (0..threads).map(|_| scope.spawn(job)).collect();
                jobs.into_iter().flat_map(|job| job.join().unwrap_or_else(|fault| resume_unwind(fault))).collect()
            }),
        };
        // Threads take groups in order, and judge each up to its first error. So the first error of all rows is the
        // same one on any number of threads.
        groups.sort_unstable_by_key(|(first, _)| *first);
        groups.into_iter().map(|(_, judged)| judged).collect()
    }

    fn judge(&self, first: usize) -> Result<Judged, String> {
        let mut judged = Judged::default();
        for row in first..self.answers.len().min(first + ANSWERS_PER_GROUP) {
            match self.answers.get(row) {
                None => judged.push_null(),
                Some(answer) => {
                    let session = self.session(row)?;
                    let outcome = self.program.run_with(&session, answer, &self.options(row)?);
                    judged.push(&outcome, self.outcomes).map_err(|error| self.fault(row, &error))?;
                }
            }
        }
        Ok(judged)
    }

    /// The session in which an answer is judged.
    fn session(&self, row: usize) -> Result<Cow<'_, Session>, String> {
        let mut session = Cow::Borrowed(self.session);
        if let Some(saved) = self.sessions.as_ref().and_then(|sessions| sessions.get(row)) {
            let saved: Value =
                serde_json::from_slice(saved).map_err(|error| self.fault(row, &format_args!("session: {error}")))?;
            let (read, dropped_parts) = self.program.resume_lossy(saved);
            if !dropped_parts.is_empty() {
                let why: Vec<String> = dropped_parts.iter().take(MAX_WHY).map(|one| one.message.to_string()).collect();
                return Err(self.fault(row, &format_args!("session: {}", why.join("; "))));
            }
            session = Cow::Owned(read);
        }
        if let Some(mode) = self.mode {
            session.to_mut().mode = mode.to_owned();
        }
        if let Some(mode) = self.modes.as_ref().and_then(|modes| modes.get(row)) {
            let mode = String::from_utf8_lossy(mode);
            if !self.program.modes().any(|known| known == mode) {
                return Err(self.fault(row, &format_args!("the pack has no mode `{}`", excerpt(&mode, 60))));
            }
            session.to_mut().mode = mode.into_owned();
        }
        Ok(session)
    }

    /// The options with which an answer is judged.
    fn options(&self, row: usize) -> Result<Options, String> {
        let mut dialect = self.dialect.map(str::to_owned);
        if let Some(named) = self.dialects.as_ref().and_then(|dialects| dialects.get(row)) {
            let named = String::from_utf8_lossy(named);
            if !self.program.dialects().any(|known| known == named) {
                return Err(self.fault(row, &format_args!("the pack has no dialect `{}`", excerpt(&named, 60))));
            }
            dialect = Some(named.into_owned());
        }
        let attempts = usize::try_from(of_row(&self.attempts, row).unwrap_or_default());
        let attempts = attempts.map_err(|_| self.fault(row, &"a number of attempts is not negative"))?;
        let truncated = of_row(self.truncated, row).is_some_and(|byte| byte != 0);
        Ok(Options { dialect, truncated, attempts, ..Options::default() })
    }

    fn fault(&self, row: usize, why: &dyn fmt::Display) -> String {
        format!("row {}: {why}", self.before + row)
    }
}

/// The value for a row, from a list with one for each row or one for all.
fn of_row<T: Copy>(values: &[T], row: usize) -> Option<T> {
    if let [value] = values { Some(*value) } else { values.get(row).copied() }
}

impl Strings {
    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.end();
    }

    /// Ends a text: it has the bytes since the end of the last one.
    fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

    fn push_json(&mut self, value: &impl serde::Serialize) -> Result<(), serde_json::Error> {
        serde_json::to_writer(&mut self.bytes, value)?;
        self.end();
        Ok(())
    }
}

impl Judged {
    fn push(&mut self, outcome: &Outcome, whole: bool) -> Result<(), serde_json::Error> {
        let count = |verdict| outcome.calls.iter().filter(|call| call.verdict == verdict).count();
        self.valid.push(true);
        self.status.push(outcome.status.name());
        self.message.push(&outcome.message);
        self.codes.0.push(outcome.diagnostics.len());
        outcome.diagnostics.iter().for_each(|finding| self.codes.1.push(finding.code.as_str()));
        self.calls.push(outcome.calls.len());
        let [action, verdict, params] = &mut self.call;
        for call in &outcome.calls {
            action.push(&call.action);
            verdict.push(call.verdict.name());
            params.push_json(&call.params)?;
        }
        self.accepted.push(count(Verdict::Accepted));
        self.dropped.push(count(Verdict::Dropped));
        self.asks.push(outcome.ask_again.is_some());
        self.ask_again.push(outcome.ask_again.as_deref().unwrap_or_default());
        self.is_read.push(outcome.dialect.is_some());
        self.dialect.push(outcome.dialect.as_deref().unwrap_or_default());
        match whole {
            true => self.outcome.push_json(outcome),
            false => Ok(()),
        }
    }

    fn push_null(&mut self) {
        self.valid.push(false);
        self.asks.push(false);
        self.is_read.push(false);
        let texts = [&mut self.status, &mut self.message, &mut self.ask_again, &mut self.dialect, &mut self.outcome];
        texts.into_iter().for_each(Strings::end);
        for numbers in [&mut self.codes.0, &mut self.calls, &mut self.accepted, &mut self.dropped] {
            numbers.push(0);
        }
    }
}

/// The buffers for each column: offsets and bytes of texts; offsets of lists and the texts of their items; or numbers.
fn buffers<'py>(py: Python<'py>, judged: &[Judged]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("valid", bits(py, judged.iter().flat_map(|group| &group.valid)))?;
    columns.set_item("status", texts(py, judged, |group| &group.status)?)?;
    columns.set_item("message", texts(py, judged, |group| &group.message)?)?;
    let codes = texts(py, judged, |group| &group.codes.1)?;
    columns.set_item("codes", (ends(py, judged.iter().flat_map(|group| &group.codes.0))?, codes))?;
    let action = texts(py, judged, |Judged { call: [action, _, _], .. }| action)?;
    let verdict = texts(py, judged, |Judged { call: [_, verdict, _], .. }| verdict)?;
    let params = texts(py, judged, |Judged { call: [_, _, params], .. }| params)?;
    let calls = ends(py, judged.iter().flat_map(|group| &group.calls))?;
    columns.set_item("calls", (calls, action, verdict, params))?;
    columns.set_item("accepted", numbers(py, judged.iter().flat_map(|group| &group.accepted).copied())?)?;
    columns.set_item("dropped", numbers(py, judged.iter().flat_map(|group| &group.dropped).copied())?)?;
    columns.set_item("asks", bits(py, judged.iter().flat_map(|group| &group.asks)))?;
    columns.set_item("ask_again", texts(py, judged, |group| &group.ask_again)?)?;
    columns.set_item("is_read", bits(py, judged.iter().flat_map(|group| &group.is_read)))?;
    columns.set_item("dialect", texts(py, judged, |group| &group.dialect)?)?;
    columns.set_item("outcome", texts(py, judged, |group| &group.outcome)?)?;
    Ok(columns)
}

/// One bit for each row, as in a validity bitmap of Arrow.
fn bits<'py, 'a>(py: Python<'py>, rows: impl Iterator<Item = &'a bool>) -> Bound<'py, PyBytes> {
    let rows: Vec<bool> = rows.copied().collect();
    let byte = |rows: &[bool]| rows.iter().rev().fold(0, |byte, row| byte << 1 | u8::from(*row));
    PyBytes::new(py, &rows.chunks(8).map(byte).collect::<Vec<u8>>())
}

/// Numbers in 32 bits.
fn numbers(py: Python<'_>, numbers: impl Iterator<Item = usize>) -> PyResult<Bound<'_, PyBytes>> {
    let mut bytes = Vec::with_capacity(numbers.size_hint().0 * size_of::<i32>());
    for number in numbers {
        let number = i32::try_from(number);
        let number = number
            .map_err(|_| PyOverflowError::new_err("a column has more than 2 GiB: judge fewer answers at once"))?;
        bytes.extend_from_slice(&number.to_ne_bytes());
    }
    Ok(PyBytes::new(py, &bytes))
}

/// The offsets of lists, from zero.
fn ends<'py, 'a>(py: Python<'py>, lengths: impl Iterator<Item = &'a usize>) -> PyResult<Bound<'py, PyBytes>> {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    numbers(py, std::iter::once(0).chain(ends))
}

/// The texts of all groups in one buffer.
fn texts<'py>(py: Python<'py>, judged: &[Judged], of: impl Fn(&Judged) -> &Strings) -> PyResult<Texts<'py>> {
    let all: Vec<&Strings> = judged.iter().map(of).collect();
    let first = |strings: &Strings, before: &mut usize| {
        let first = *before;
        *before += strings.bytes.len();
        Some(first)
    };
    let starts = all.iter().scan(0, |before, strings| first(strings, before));
    let each = all.iter().zip(starts).flat_map(|(strings, first)| strings.ends.iter().map(move |end| first + end));
    let places = numbers(py, std::iter::once(0).chain(each))?;
    let length = all.iter().map(|strings| strings.bytes.len()).sum();
    let bytes = PyBytes::new_with(py, length, |mut room| {
        for strings in &all {
            if let Some((here, rest)) = std::mem::take(&mut room).split_at_mut_checked(strings.bytes.len()) {
                here.copy_from_slice(&strings.bytes);
                room = rest;
            }
        }
        Ok(())
    })?;
    Ok((places, bytes))
}
