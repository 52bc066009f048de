//! Session: what is remembered between two answers?
//!
//! In: a program, and the state as a host stores it, as plain JSON.
//! Out: [`Session`], plain data that is valid for the program; `contract!`, which declares plain data.
//! Never: changes a value that is not computed from others, or reads a clock.
//!
//! A session belongs to the program that made it. Load a session stored as JSON with [`Program::resume`], or with
//! [`Program::resume_lossy`] if the pack may have changed since. In a mode that the program does not have, nothing is
//! read, permitted or prompted, and a diagnostic reports that.

use crate::diagnostic::{Code, Diagnostic, Faults};
use crate::program::{self, Program, StateSlot};
use crate::text::excerpt;
use crate::text::{JsonPlaces, Span};
use crate::value::{ByteBudget, ComputeRule, Object, Record, Value};

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Declares the structs of a contract: plain data with public members, JSON both ways, with a schema. They may grow: a
/// reader of an outcome ignores members that it does not know. The crate of the reports uses it, too.
#[cfg_attr(feature = "unstable", macro_export)]
#[doc(hidden)]
macro_rules! contract {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[non_exhaustive]
            pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
        )*
    };
}

pub(crate) use contract;

/// Plain data that the host stores. The engine returns the next one: `{ "mode", "state", "now", "ids", "pending", "resolved" }`.
///
/// Cloning is cheap: clones share the values of the state until one of them changes. [`Program::resume`] reads a
/// session that was stored as JSON, and checks it against the pack; serde alone does not check it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Session {
    /// The name of the mode.
    pub mode: String,
    /// The values that the pack's `[state]` declares, in the order of declaration. A host may change them.
    /// [`Program::resume`] checks whether they are valid against their schemas; nothing is checked here.
    #[cfg_attr(feature = "schema", schemars(with = "Object"))]
    pub state: Record,
    /// The current time, which the host sets for each turn. The engine has no clock.
    pub now: Option<String>,
    /// The last number assigned for each kind of id.
    pub(crate) ids: Ids,
    /// The calls that wait until a person has confirmed them, by the id of their request; absent if none does.
    #[serde(default, skip_serializing_if = "Pending::is_empty")]
    pub pending: Pending,
    /// What became of calls that waited, by the id of their request: the newest hundred; absent if there are none. The
    /// prompt reports them to the model.
    #[serde(default, skip_serializing_if = "Resolved::is_empty")]
    pub(crate) resolved: Resolved,
}

/// The last number assigned for each kind of id, in the order in which the kinds were first used. Clones share it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub(crate) struct Ids(
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))] Arc<IndexMap<String, u64>>,
);

impl Ids {
    /// The last number assigned for this kind; `None` if there is none yet.
    pub(crate) fn last(&self, kind: &str) -> Option<u64> {
        self.0.get(kind).copied()
    }

    /// Records that `number` was assigned for this kind.
    pub(crate) fn give(&mut self, kind: &str, number: u64) {
        let numbers = Arc::make_mut(&mut self.0);
        match numbers.get_mut(kind) {
            Some(last) => *last = number,
            None => drop(numbers.insert(kind.to_owned(), number)),
        }
    }
}

contract! {
    /// A call that waits until a person has confirmed it.
    pub struct PendingCall {
        /// The name of its action.
        action: String,
        /// Its parameters.
        #[cfg_attr(feature = "schema", schemars(with = "Object"))]
        params: Value,
        /// The question to the person, in the words of the pack.
        question: String,
        /// The session's time when it was asked, if the host had set it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<String>,
        /// The id of the call in the reply, if the provider gave it one.
        call: Option<String>,
        /// The id of the first request for the call, if a person was asked about it more than once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<String>,
    }

    /// What became of a call that waited.
    #[derive(Eq)]
    pub struct ResolvedCall {
        /// The name of its action.
        action: String,
        /// What became of it.
        resolution: Resolution,
        /// Whether the model has answered since, so that the next prompt need not report it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reported: bool,
    }
}

/// What becomes of a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Resolution {
    /// A person confirmed it, and it was carried out.
    Confirmed,
    /// A person declined it.
    Declined,
    /// A person confirmed it, but the rules no longer allowed it.
    Dropped,
    /// The next answer came before a person had confirmed or declined it.
    Lapsed,
}

/// The calls that wait, by the id of their request.
pub type Pending = BTreeMap<String, PendingCall>;

/// What became of calls that waited, by the id of their first request.
pub(crate) type Resolved = BTreeMap<String, ResolvedCall>;

/// The maximum number of resolved calls that a session remembers.
const MAX_RESOLVED: usize = 100;

/// The number of the id of a request.
pub(crate) fn number_of_request(id: &str) -> Option<u64> {
    let number = id.strip_prefix(REQUEST_KIND)?.strip_prefix('-')?.parse().ok();
    number.filter(|number| *number < MAX_IDS)
}

/// The kind of the ids of requests.
pub(crate) const REQUEST_KIND: &str = "p";

/// Reads the values of a state as they are; computed values are computed when the session is used.
impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(crate::value::Object::deserialize(deserializer)?.iter().map(|(name, value)| (name, value.clone())).collect())
    }
}

impl Session {
    /// Whether the call of this first request still waits.
    pub(crate) fn waits(&self, first: &str) -> bool {
        self.pending.contains_key(first) || self.pending.values().any(|call| call.first.as_deref() == Some(first))
    }

    /// Records what became of a call that waited under `id`, in place of the oldest record if there are too many.
    pub(crate) fn resolve(&mut self, id: &str, call: &PendingCall, resolution: Resolution) {
        let first = call.first.as_deref().unwrap_or(id);
        let resolved = ResolvedCall { action: call.action.clone(), resolution, reported: false };
        self.resolved.insert(first.to_owned(), resolved);
        while self.resolved.len() > MAX_RESOLVED {
            let oldest = self.resolved.keys().min_by_key(|id| number_of_request(id)).cloned();
            oldest.and_then(|oldest| self.resolved.remove(&oldest));
        }
    }

    /// Whether the computed values of the state are the ones that the program would compute.
    fn is_computed(&self, program: &Program) -> bool {
        // Both are in the order of declaration, unless a host has made the state.
        let mut rules = self.state.rules();
        let mut computed = program.slots.values().filter(|slot| slot.compute.is_some());
        computed.all(|slot| slot.rule.as_ref().is_some_and(|rule| rules.next().is_some_and(|known| known.is(rule))))
    }

    /// Sets the computed values of the state, each to be computed when it is first read.
    pub(crate) fn compute(&mut self, program: &Program) {
        for (name, slot) in program.slots.iter() {
            let Some(compute) = &slot.compute else { continue };
            match &slot.rule {
                Some(rule) if self.state.is_computed(name, rule) => {}
                Some(rule) => self.state.compute(name, ComputeRule::clone(rule)),
                None => {
                    let (mode, now) = (self.mode.as_str().into(), self.now.as_deref().into());
                    self.state.compute(name, StateSlot::rule(name, compute, &program.data, mode, now));
                }
            }
        }
    }
}

/// A part of a stored session that is not valid.
#[derive(Debug)]
pub struct Misfit {
    /// The JSON pointer to the part.
    pub pointer: String,
    /// Whether the name is wrong, and not the value.
    pub named: bool,
    /// What is not valid, and why.
    pub diagnostic: Diagnostic,
}

impl Misfit {
    /// A misfit whose value is not valid.
    fn value(pointer: impl Into<String>, message: String) -> Self {
        Self { pointer: pointer.into(), named: false, diagnostic: misfit(message) }
    }

    /// The place of the misfit in the JSON text of the session.
    pub fn place(&self, places: &mut JsonPlaces<'_>) -> Span {
        if self.named { places.name(&self.pointer) } else { places.value(&self.pointer) }
    }

    /// A misfit for an outcome in place of its session.
    fn outcome() -> Self {
        let diagnostic = misfit("this is an outcome, not a session".to_owned());
        let help = "the session is its member `session`: pass that alone";
        Self { pointer: "/session".to_owned(), named: true, diagnostic: diagnostic.with_help(help) }
    }

    /// A misfit whose name is unknown; `declared` are the known ones.
    fn name<'n>(pointer: String, message: String, name: &str, declared: impl IntoIterator<Item = &'n str>) -> Self {
        Self { pointer, named: true, diagnostic: misfit(message).with_nearest(name, declared) }
    }
}

/// The misfits, up to a limit: a session may come from anywhere.
struct Misfits {
    list: Vec<Misfit>,
    left_out: usize,
    most: usize,
}

impl Misfits {
    fn add(&mut self, misfit: impl FnOnce() -> Misfit) {
        match self.list.len() < self.most {
            true => self.list.push(misfit()),
            false => self.left_out += 1,
        }
    }

    /// The misfits and, as the last one, how many others were left out.
    fn into_list(mut self) -> Vec<Misfit> {
        if self.left_out > 0 {
            // The message about the others takes the place of one of them.
            self.left_out += usize::from(self.list.pop().is_some());
            let message = format!("{} more parts of the session are invalid", self.left_out);
            self.list.push(Misfit::value("", message));
        }
        self.list
    }
}

/// Whether the members are those of an outcome, which holds its session.
fn is_outcome(members: &Object) -> bool {
    members.get("session").is_some_and(|session| session.as_object().is_some()) && members.get("status").is_some()
}

/// Ids are less than this: up to here, every JSON reader distinguishes integers.
pub(crate) const MAX_IDS: u64 = 1 << 53;

impl Program {
    /// Implements [`Program::session`].
    pub(crate) fn first_session(&self) -> Session {
        let mode = self.mode_name(self.start).to_owned();
        let state = self.computed.get_or_init(|| self.initial_computed()).clone();
        let mut session =
            Session { mode, state, now: None, ids: Ids::default(), pending: Pending::new(), resolved: Resolved::new() };
        if !session.is_computed(self) {
            session.compute(self);
            session.state.mark_checked();
        }
        session
    }

    /// The state of a new session, with the computed values that are the same in all new sessions. Sessions share
    /// these values, so that they are computed once. If they exceed the budget, they are left out here, and reported
    /// where one is read.
    fn initial_computed(&self) -> Record {
        let mut state = self.initial.clone();
        for (name, slot) in self.slots.iter() {
            slot.rule.iter().for_each(|rule| state.compute(name, ComputeRule::clone(rule)));
        }
        state.mark_checked();
        let lazy = state.clone();
        state.compute_all();
        if state.is_too_costly() { lazy } else { state }
    }

    /// Implements [`Program::resume`].
    pub(crate) fn resume_whole(&self, stored: impl Into<Value>) -> Result<Session, Faults> {
        match self.resume_lossy(stored) {
            (session, faults) if faults.is_empty() => Ok(session),
            (_, faults) => Err(Faults::new(faults, self.sources.clone())),
        }
    }

    /// Implements [`Program::resume_lossy`].
    pub(crate) fn resume_what_is_valid(&self, stored: impl Into<Value>) -> (Session, Vec<Diagnostic>) {
        let (session, misfits) = self.resume_in_part(&stored.into());
        (session, misfits.into_iter().map(|misfit| misfit.diagnostic).collect())
    }

    /// Like [`Program::resume_lossy`], for a caller that knows where the parts of the session are written.
    #[doc(hidden)]
    pub fn resume_in_part(&self, stored: &Value) -> (Session, Vec<Misfit>) {
        let mut session = self.first_session();
        let mut faults = Misfits { list: Vec::new(), left_out: 0, most: self.limits.diagnostics.max(1) };
        let Value::Object(members) = stored else {
            let what = "a session is an object with `mode`, `state`, `now`, `ids`, `pending` and `resolved`";
            return (session, vec![Misfit::value("", what.to_owned())]);
        };
        if is_outcome(members) {
            return (session, vec![Misfit::outcome()]);
        }
        for (name, value) in members {
            let pointer = || pointer_to("", name);
            match (name, value) {
                (_, Value::Null) => {}
                ("mode", Value::String(mode)) if self.modes.contains_key(&**mode) => session.mode = (**mode).to_owned(),
                ("mode", Value::String(mode)) => {
                    faults.add(|| Misfit { pointer: pointer(), named: false, diagnostic: self.no_mode(mode) });
                }
                ("state", Value::Object(state)) => self.resume_state(state, &mut session, &mut faults),
                ("now", Value::String(now)) => session.now = Some((**now).to_owned()),
                ("ids", Value::Object(given)) => resume_ids(given, &pointer(), &mut session, &mut faults),
                ("pending", Value::Object(given)) => resume_pending(given, &pointer(), &mut session, &mut faults),
                ("resolved", Value::Object(given)) => resume_resolved(given, &pointer(), &mut session, &mut faults),
                ("mode" | "now", _) => {
                    faults.add(|| Misfit::value(pointer(), format!("`{name}` of the session is not a text")));
                }
                ("state" | "ids" | "pending" | "resolved", _) => {
                    faults.add(|| Misfit::value(pointer(), format!("`{name}` of the session is not an object")));
                }
                _ => faults.add(|| {
                    let what = format!("a session has no `{}`", excerpt(name, 60));
                    Misfit::name(pointer(), what, name, ["mode", "state", "now", "ids", "pending", "resolved"])
                }),
            }
        }
        session.compute(self);
        (session, faults.into_list())
    }

    /// The session with its computed values up to date: a host may have changed the values they depend on.
    pub(crate) fn up_to_date<'s>(&self, session: &'s Session) -> Cow<'s, Session> {
        let mut session = Cow::Borrowed(session);
        if !session.is_computed(self) {
            session.to_mut().compute(self);
        }
        session
    }

    /// The session for an occasion with an input of `length` bytes, and the budget for everything that is made on it.
    /// Computed values are charged to that budget until the state is [at its end](Record::end_occasion).
    pub(crate) fn occasion<'s>(&self, session: Cow<'s, Session>, length: usize) -> (Cow<'s, Session>, Arc<ByteBudget>) {
        let mut session = session;
        let budget = Arc::new(ByteBudget::new(length, session.state.clone(), self.data.clone()));
        if session.state.rules().next().is_some() {
            session.to_mut().state.spend(&budget);
        }
        (session, budget)
    }

    /// The diagnostic for a session whose mode the pack does not have.
    pub(crate) fn no_mode(&self, mode: &str) -> Diagnostic {
        misfit(format!("the pack has no mode `{}`", excerpt(mode, 60))).with_nearest(mode, self.mode_names())
    }

    fn resume_state(&self, stored: &Object, session: &mut Session, faults: &mut Misfits) {
        for (name, value) in stored {
            let pointer = || pointer_to("/state", name);
            match self.slots.get(name) {
                // A computed value is computed again, even if the stored session has one.
                Some(slot) if slot.compute.is_some() => continue,
                Some(slot) => {
                    let Ok(validator) = slot.schema.validator() else { continue };
                    let valid = validator.is_valid(value);
                    // `null` from a host means that there is no value yet: use the initial one, unless an effect may
                    // have set it to `none`.
                    if value.is_null() && !(valid && slot.changed) {
                        continue;
                    }
                    if !valid {
                        for fault in validator.faults(value).take(10) {
                            faults.add(|| {
                                let what = program::misfit_at(&format!("state.{name}"), &fault);
                                Misfit::value(pointer() + fault.pointer(), what)
                            });
                        }
                        continue;
                    }
                }
                None => {
                    faults.add(|| {
                        let what = format!("the pack's state has no `{}`", excerpt(name, 60));
                        Misfit::name(pointer(), what, name, self.slots.keys().map(String::as_str))
                    });
                    continue;
                }
            }
            *session.state.entry(name) = value.clone();
        }
    }
}

/// Restores the pending calls.
fn resume_pending(given: &Object, pointer: &str, session: &mut Session, faults: &mut Misfits) {
    for (id, waits) in given {
        match pending_call(waits) {
            Some(waits) => drop(session.pending.insert(id.to_owned(), waits)),
            None => faults.add(|| {
                let what = format!("`pending.{}` is no call with `action`, `params` and `question`", excerpt(id, 60));
                Misfit::value(pointer_to(pointer, id), what)
            }),
        }
    }
}

/// Restores what became of calls that waited.
fn resume_resolved(given: &Object, pointer: &str, session: &mut Session, faults: &mut Misfits) {
    for (id, resolved) in given {
        match serde_json::from_value(resolved.into()) {
            Ok(resolved) => drop(session.resolved.insert(id.to_owned(), resolved)),
            Err(_) => faults.add(|| {
                let what = format!("`resolved.{}` is no call with `action` and `resolution`", excerpt(id, 60));
                Misfit::value(pointer_to(pointer, id), what)
            }),
        }
    }
}

/// The pending call that a value describes, if it does.
fn pending_call(value: &Value) -> Option<PendingCall> {
    let members = value.as_object()?;
    let is_known =
        |(name, _): (&str, &Value)| matches!(name, "action" | "params" | "question" | "now" | "call" | "first");
    let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    let maybe = |name: &str| match members.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(text) => Some(Some(text.as_str()?.to_owned())),
    };
    let (now, call, first) = (maybe("now")?, maybe("call")?, maybe("first")?);
    let params = members.get("params").filter(|params| params.as_object().is_some())?.clone();
    let waits = PendingCall { action: text("action")?, params, question: text("question")?, now, call, first };
    members.iter().all(is_known).then_some(waits)
}

/// Restores the counters of ids, if all of them are valid.
fn resume_ids(given: &Object, pointer: &str, session: &mut Session, faults: &mut Misfits) {
    let mut ids = IndexMap::with_capacity(given.len());
    for (kind, last) in given {
        match last.as_u64().filter(|last| *last < MAX_IDS) {
            Some(last) => drop(ids.insert(kind.to_owned(), last)),
            None => faults.add(|| {
                let what = format!("`ids.{}` is not a whole number below {MAX_IDS}", excerpt(kind, 60));
                Misfit::value(pointer_to(pointer, kind), what)
            }),
        }
    }
    if ids.len() == given.len() {
        session.ids = Ids(Arc::new(ids));
    }
}

/// The JSON pointer to the member `name` of the value at `outer`.
fn pointer_to(outer: &str, name: &str) -> String {
    format!("{outer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn misfit(message: String) -> Diagnostic {
    Diagnostic::new(Code::SESSION_MISFIT, None, message)
}
