//! Effects: what does each accepted call and content do, one after the other?
//!
//! In: the compiled effects, and what they may see.
//! Out: [`Done`] effects with their causes; the state, counters and remarks that they leave.
//! Never: lets an effect see a later one's state; stops at one that fails: it is left out, with a remark.

use super::state;
use crate::diagnostic::{Code, Diagnostic, Remark};
use crate::expression::{Failure, PathTemplate, Record, Scope, Shape};
use crate::program::{Effect, Program, Verb};
use crate::session::Session;
use crate::text::{Location, Span, excerpt};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) kind: Kind,
    pub(crate) cause: Location,
    /// The call or content that it stands for.
    pub(crate) span: Span,
}

/// What a host is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Set { path: String, value: Arc<Value> },
    Append { path: String, value: Arc<Value> },
    Remove { path: String, value: Arc<Value> },
    Emit { event: String, value: Arc<Value> },
    Write { key: String, text: String },
}

/// The session while effects change it.
pub(crate) struct Flow<'f> {
    program: &'f Program,
    session: Session,
    done: Vec<Done>,
    remarks: Vec<Diagnostic>,
    mode: Value,
    now: Value,
    reply: Record,
    span: Span,
}

/// Names that one list of effects binds. Nested lists see them, and what those bind is gone behind them.
#[derive(Clone)]
struct Bound<'e> {
    lets: Vec<(&'e str, Arc<Value>)>,
    ids: Rc<Value>,
    item: Arc<Value>,
}

impl Default for Bound<'_> {
    fn default() -> Self {
        Self { lets: Vec::new(), ids: Rc::new(Value::Object(Map::new())), item: Arc::default() }
    }
}

impl<'f> Flow<'f> {
    pub(crate) fn new(program: &'f Program, session: &Session, reply: Record) -> Self {
        let mut flow = Self {
            program,
            session: session.clone(),
            done: Vec::new(),
            remarks: Vec::new(),
            mode: Value::String(session.mode.clone()),
            now: session.now.clone().map_or(Value::Null, Value::String),
            reply,
            span: Span::default(),
        };
        flow.compute();
        flow
    }

    /// Performs a list of effects for the call or content at `span`; `names` are what it brings along.
    pub(crate) fn perform(&mut self, effects: &[Effect], names: &[(&str, &Arc<Value>)], span: Span) {
        self.span = span;
        self.list(effects, names, &mut Bound::default());
    }

    /// The session as the effects left it, what they did, and what they remark.
    pub(crate) fn into_parts(self) -> (Session, Vec<Done>, Vec<Diagnostic>) {
        (self.session, self.done, self.remarks)
    }

    fn list<'e>(&mut self, effects: &'e [Effect], names: &[(&str, &Arc<Value>)], bound: &mut Bound<'e>) {
        for effect in effects {
            if let Err(failure) = self.effect(effect, names, bound) {
                self.failed(effect.at, &failure);
            }
        }
    }

    /// One entry: for each item or once, its names first, then its condition, then its verb or its nested effects.
    fn effect<'e>(
        &mut self,
        effect: &'e Effect,
        names: &[(&str, &Arc<Value>)],
        bound: &mut Bound<'e>,
    ) -> Result<(), Failure> {
        let Some(each) = &effect.each else { return self.once(effect, names, bound) };
        let items = match self.scope(names, bound, |scope| each.value(scope))? {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            _ => return Err(Failure::new("`each` gives no list")),
        };
        for item in items {
            // What one round binds is gone in the next.
            let mut round = bound.clone();
            round.item = Arc::new(item);
            // An item that fails is left out alone.
            if let Err(failure) = self.once(effect, names, &mut round) {
                self.failed(effect.at, &failure);
            }
        }
        Ok(())
    }

    fn once<'e>(
        &mut self,
        effect: &'e Effect,
        names: &[(&str, &Arc<Value>)],
        bound: &mut Bound<'e>,
    ) -> Result<(), Failure> {
        for (name, shape) in &effect.lets {
            let value = self.scope(names, bound, |scope| shape.share(scope))?;
            bound.lets.push((name, value));
        }
        if let Some(when) = &effect.when
            && !self.scope(names, bound, |scope| when.holds(scope))?
        {
            return Ok(());
        }
        if let Some(kind) = &effect.new {
            let last = Arc::make_mut(&mut self.session.ids).entry(kind.clone()).or_insert(0);
            *last = last.saturating_add(1);
            if let Value::Object(ids) = Rc::make_mut(&mut bound.ids) {
                ids.insert(kind.clone(), format!("{kind}-{last}").into());
            }
        }
        if let Some(verb) = &effect.verb {
            self.verb(effect, verb, names, bound)?;
        }
        if !effect.nested.is_empty() {
            let mut inner = bound.clone();
            self.list(&effect.nested, names, &mut inner);
        }
        Ok(())
    }

    fn verb(
        &mut self,
        effect: &Effect,
        verb: &Verb,
        names: &[(&str, &Arc<Value>)],
        bound: &Bound<'_>,
    ) -> Result<(), Failure> {
        if self.done.len() >= self.program.limits.effects {
            return Err(Failure::new(format!("more than {} effects", self.program.limits.effects)));
        }
        let kind = match verb {
            Verb::Set { path, value } => {
                let (path, value) = self.placed(path, value, names, bound)?;
                state::set(&mut self.session.state, &path, &value).map_err(Failure::new)?;
                Kind::Set { path: state::dotted(&path), value }
            }
            Verb::Append { path, unique, value } => {
                let (path, value) = self.placed(path, value, names, bound)?;
                match append(&mut self.session.state, &path, unique, &value).map_err(Failure::new)? {
                    // A host that applies effects one by one must not get the entry twice.
                    Some(index) => Kind::Set { path: format!("{}.{index}", state::dotted(&path)), value },
                    None => Kind::Append { path: state::dotted(&path), value },
                }
            }
            Verb::Remove { path } => {
                let path = self.scope(names, bound, |scope| path.render(scope))?;
                let Some(value) = state::remove(&mut self.session.state, &path) else { return Ok(()) };
                Kind::Remove { path: state::dotted(&path), value: Arc::new(value) }
            }
            Verb::Emit { event, value } => self.scope(names, bound, |scope| {
                let value = value.as_ref().map(|value| value.share(scope)).transpose()?.unwrap_or_default();
                Ok(Kind::Emit { event: event.text(scope)?, value })
            })?,
            Verb::Write { key, value } => {
                let (key, value) = self.scope(names, bound, |scope| Ok((key.text(scope)?, value.render(scope)?)))?;
                let text = match value {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                Kind::Write { key, text }
            }
            Verb::Remark { remark, text } => {
                let text = text.as_ref().map(|text| self.scope(names, bound, |scope| text.text(scope))).transpose()?;
                let text =
                    text.map_or_else(|| remark.name().replace('-', " "), |text| excerpt(&text, 300).into_owned());
                let at = Location::response(self.span);
                self.remarks.push(Diagnostic::new(Code::Remark(*remark), at, text).with_rule(Some(effect.at)));
                return Ok(());
            }
        };
        self.done.push(Done { kind, cause: effect.at, span: self.span });
        self.compute();
        Ok(())
    }

    /// Where an effect acts, and with what.
    fn placed<'e>(
        &self,
        path: &'e PathTemplate,
        value: &Shape,
        names: &[(&str, &Arc<Value>)],
        bound: &Bound<'_>,
    ) -> Result<(Vec<Cow<'e, str>>, Arc<Value>), Failure> {
        self.scope(names, bound, |scope| Ok((path.render(scope)?, value.share(scope)?)))
    }

    /// Brings the computed values of the state up to date.
    fn compute(&mut self) {
        for (name, slot) in &self.program.slots {
            let Some(compute) = &slot.compute else { continue };
            let value = self.scope(&[], &Bound::default(), |scope| compute.render(scope)).unwrap_or_default();
            if self.session.state.get(name) != Some(&value) {
                *self.session.state.entry(name) = value;
            }
        }
    }

    fn scope<T>(&self, names: &[(&str, &Arc<Value>)], bound: &Bound<'_>, then: impl FnOnce(&Scope<'_>) -> T) -> T {
        let mut scope = Scope::with_room(names.len() + bound.lets.len() + 7);
        scope.add_record("state", &self.session.state);
        scope.add("data", &self.program.data);
        scope.add("mode", &self.mode);
        scope.add("now", &self.now);
        scope.add_record("reply", &self.reply);
        for (name, value) in names {
            scope.add_shared(name, value);
        }
        scope.add("ids", &bound.ids);
        scope.add_shared("item", &bound.item);
        for (name, value) in &bound.lets {
            scope.add_shared(name, value);
        }
        then(&scope)
    }

    /// An effect that cannot be performed is left out, and said.
    fn failed(&mut self, at: Location, failure: &Failure) {
        let message = format!("an effect was left out: {}", excerpt(&failure.message, 160));
        let span = Location::response(self.span);
        self.remarks.push(Diagnostic::new(Code::Remark(Remark::Note), span, message).with_rule(Some(at)));
    }
}

/// Adds a value to a list; where an entry has the same values under the `unique` keys, it stands in for that one.
fn append(
    state: &mut Record,
    path: &[Cow<'_, str>],
    unique: &[String],
    value: &Value,
) -> Result<Option<usize>, String> {
    let place = state::reach(state, path)?;
    if place.is_null() {
        *place = Value::Array(Vec::new());
    }
    let Value::Array(items) = place else { return Err(format!("`{}` is no list", state::dotted(path))) };
    let same = |item: &Value| unique.iter().all(|key| item.get(key) == value.get(key));
    let index = items.iter().position(|item| !unique.is_empty() && same(item));
    match index.and_then(|index| items.get_mut(index)) {
        Some(item) => item.clone_from(value),
        None => items.push(value.clone()),
    }
    Ok(index)
}
