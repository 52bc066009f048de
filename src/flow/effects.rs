//! Effects: what do accepted calls, contents and rules do, one after the other?
//!
//! In: the compiled effects, and the names that they can see.
//! Out: the effects that were [performed](super::turn::Performed), with their causes; the state, counters and remarks
//! after them.
//! Never: lets an effect see the state after a later one, or stops at one that fails: that one is left out, with a
//! remark.

use super::changes::is_script;
use super::effect::{Amendment, Edit, Effect};
use super::state;
use super::turn::{Bindings, Flow, NO_IDS};
use crate::diagnostic::{Remark, message, quote};
use crate::expression::{Failure, Template};
use crate::program::{self, DeclarationContext, Verb};
use crate::program::{Keys, PathKey, PathTemplate, Shape};
use crate::session::MAX_IDS;
use crate::text::{Location, Span, excerpt};
use crate::value::Record;
use crate::value::Value;
use std::rc::Rc;
use std::sync::Arc;

impl<'f> Flow<'f> {
    /// Performs the effects of an accepted call or content at `span`. `names` are its values, and `near` are its
    /// declarations.
    pub(crate) fn perform(
        &mut self,
        effects: &[program::EffectRule],
        names: &[(&str, &Value)],
        span: Span,
        near: DeclarationContext<'f>,
    ) {
        self.span = span;
        self.near = near;
        self.of_answer = true;
        self.list(effects, &mut Bindings::of(names));
        self.of_answer = false;
        self.near = DeclarationContext::default();
    }

    pub(super) fn list<'e>(&mut self, effects: &'e [program::EffectRule], bound: &mut Bindings<'e>) {
        for effect in effects {
            if let Err(failure) = self.effect(effect, bound) {
                self.failed(effect.at, &failure);
            }
        }
    }

    /// Performs one entry, once or for each item: first its names, then its condition, then its verb or its nested
    /// effects.
    fn effect<'e>(&mut self, effect: &'e program::EffectRule, bound: &mut Bindings<'e>) -> Result<(), Failure> {
        let Some(each) = &effect.each else { return self.once(effect, bound) };
        let items = match self.scope(bound, |scope| each.value(scope))? {
            Value::Array(items) => items,
            Value::Null => return Ok(()),
            _ => return Err(Failure::new("`each` gives no list")),
        };
        for item in items.iter() {
            // Names that are bound for one item are not visible for the next.
            bound.inside(|round| {
                round.item = Some(item.clone());
                // If one item fails, the others still count.
                if let Err(failure) = self.once(effect, round) {
                    self.failed(effect.at, &failure);
                }
            });
        }
        Ok(())
    }

    fn once<'e>(&mut self, effect: &'e program::EffectRule, bound: &mut Bindings<'e>) -> Result<(), Failure> {
        for (name, shape) in &effect.lets {
            let value = self.scope(bound, |scope| shape.render(scope))?;
            bound.lets.push((name, value));
        }
        if let Some(when) = &effect.when
            && !self.holds(when, bound, effect.at, || "the effect applies when".to_owned())?
        {
            return Ok(());
        }
        if let Some(kind) = &effect.new {
            let last = self.known_ids.last(&self.session.ids, &self.prompt_state, kind);
            let behind = || Failure::new(format!("there is no id after `{kind}-{last}`"));
            let next = last.checked_add(1).filter(|next| *next < MAX_IDS).ok_or_else(behind)?;
            self.session.ids.give(kind, next);
            let taken = bound.ids.get_or_insert_with(|| Rc::new(NO_IDS.clone()));
            if let Value::Object(taken) = Rc::make_mut(taken) {
                taken.insert(kind.clone(), [kind, "-", &next.to_string()].concat().into());
            }
        }
        if let Some(verb) = &effect.verb {
            self.verb(effect, verb, bound)?;
        }
        if !effect.nested.is_empty() {
            bound.inside(|inner| self.list(&effect.nested, inner));
        }
        Ok(())
    }

    /// Performs a verb. Some verbs only change the session; all others ask the host for something.
    fn verb(&mut self, effect: &program::EffectRule, verb: &Verb, bound: &Bindings<'_>) -> Result<(), Failure> {
        if self.done.len() >= self.program.limits.effects {
            return Err(Failure::new(format!("more than {} effects", self.program.limits.effects)));
        }
        match verb {
            Verb::Remark { remark, text } => {
                let text = text.as_ref().map(|text| self.scope(bound, |scope| text.text(scope))).transpose()?;
                let text =
                    text.map_or_else(|| remark.name().replace('-', " "), |text| excerpt(&text, 300).into_owned());
                self.note(*remark, text, effect.at);
            }
            Verb::Say { message, with } => {
                let mut given = Vec::with_capacity(with.len());
                for (name, shape) in with {
                    given.push((name.as_str(), self.scope(bound, |scope| shape.render(scope))?));
                }
                let given: Vec<(&str, &Value)> = given.iter().map(|(name, value)| (*name, value)).collect();
                self.say(*message, &given, effect.at)?;
            }
            Verb::Go { to, insist } => {
                let insists = match insist {
                    Some(insist) => {
                        let condition = self.scope_of_prompt_state(bound, |scope| self.steps.evaluate(insist, scope));
                        let insists = condition.holds.clone();
                        self.steps.trace_condition(condition, effect.at, self.span, || "it insists when".to_owned());
                        insists?
                    }
                    None => false,
                };
                self.go(*to, insists, effect.at);
            }
            Verb::Patch { text, file, matching, executable } => {
                let (text, mut file) = self.scope(bound, |scope| {
                    Ok((text.text(scope)?, file.as_ref().map(|key| key.text(scope)).transpose()?))
                })?;
                if file.as_mut().is_some_and(|file| !self.resolve_key(file, (verb, bound), effect.at)) {
                    return Ok(());
                }
                self.patch(&text, file.as_deref(), (matching, *executable), effect.at)?;
            }
            asking => {
                let Some(mut asked) = self.asked_of_host(asking, effect.at, bound)? else { return Ok(()) };
                if let Some(what) = nameless(&asked) {
                    self.note(Remark::NoTarget, message!("the effect is skipped: {} is empty", &what), effect.at);
                } else if asked.keys_mut().all(|key| self.resolve_key(key, (asking, bound), effect.at))
                    && self.is_sound(&asked, effect.at)
                {
                    self.ask_host(asked, effect.at);
                }
            }
        }
        Ok(())
    }

    /// Whether the verb makes the key of a file from a value of the answer that may be read as another path: permits
    /// have seen the value as it is.
    pub(super) fn may_be_read_otherwise(&self, verb: &Verb, bound: &Bindings<'_>) -> bool {
        let is_otherwise =
            |value: &Value| value.has_text(&mut |text| self.program.below_root(text.trim()) != text.trim());
        self.of_answer
            && verb.files().into_iter().flat_map(|(_, key)| key.reads()).any(|path| {
                let (head, member) = (path.first(), path.get(1));
                let value = head.and_then(|head| bound.value(head));
                value.is_some_and(|value| is_otherwise(member.and_then(|name| value.get(name)).unwrap_or(value)))
            })
    }

    /// What the host is asked to do, after the state has been changed; `None` if nothing changes.
    fn asked_of_host(&mut self, verb: &Verb, at: Location, bound: &Bindings<'_>) -> Result<Option<Effect>, Failure> {
        Ok(Some(match verb {
            Verb::Remark { .. } | Verb::Say { .. } | Verb::Go { .. } | Verb::Patch { .. } => return Ok(None),
            Verb::Set { .. } | Verb::Append { .. } | Verb::Remove { .. } => return self.changed_state(verb, at, bound),
            Verb::Emit { event, value } => {
                let (event, value) = self.scope(bound, |scope| {
                    let value = value.as_ref().map(|value| value.render(scope)).transpose()?.unwrap_or_default();
                    Ok((event.text(scope)?, value))
                })?;
                self.charge(&value)?;
                Effect::Emit { event, value }
            }
            Verb::Write { key, value, executable } => {
                let (key, value) = self.scope(bound, |scope| Ok((key.text(scope)?, value.render(scope)?)))?;
                self.charge(&value)?;
                let Some(text) = self.text_for(&key, value, at) else { return Ok(None) };
                let executable = *executable && is_script(&text);
                Effect::Write { key, text, new: false, executable }
            }
            Verb::Amend { key, section, marker, otherwise, done, missing, value } => {
                let text = |template: &Template| self.scope(bound, |scope| template.text(scope));
                let maybe =
                    |template: &Option<Template>| Ok(template.as_ref().map(text).transpose()?.unwrap_or_default());
                let (key, section) = (self.scope(bound, |scope| key.text(scope))?, text(section)?);
                let value = self.scope(bound, |scope| value.render(scope))?;
                self.charge(&value)?;
                let (marker, otherwise) = (maybe(marker)?, maybe(otherwise)?);
                let (done, missing) = (maybe(done)?, maybe(missing)?);
                let Some(text) = self.text_for(&key, value, at) else { return Ok(None) };
                Effect::Amend(Box::new(Amendment { key, section, marker, text, otherwise, done, missing }))
            }
            Verb::Record { key, path, value, schema } => {
                let key = self.scope(bound, |scope| key.text(scope))?;
                let path = self.scope(bound, |scope| Ok(state::dotted(&path.render(scope)?)))?;
                let value = self.scope(bound, |scope| value.render(scope))?;
                self.charge(&value)?;
                if let Some(Ok(validator)) = schema.as_ref().map(|schema| schema.validator())
                    && let Some(error) = validator.faults(&value).next()
                {
                    let why = program::misfit_at("value", &error);
                    self.note_data_loss(message!("nothing is recorded in `{}`: {}", &key, &why), at);
                    return Ok(None);
                }
                Effect::Record { key, path, value }
            }
            Verb::Edit { key, find, put, all, matching } => {
                let (key, find, put, all) = self.scope(bound, |scope| {
                    let all = all.as_ref().map(|all| all.render(scope)).transpose()?;
                    Ok((key.text(scope)?, find.text(scope)?, put.text(scope)?, all))
                })?;
                self.charge_texts(&[&key, &find, &put])?;
                let all = match all {
                    None | Some(Value::Null) => false,
                    Some(Value::Bool(all)) => all,
                    Some(_) => return Err(Failure::new("`all` gives neither true nor false")),
                };
                Effect::Edit(Box::new(Edit { key, find, put, all, matching: matching.clone(), ..Edit::default() }))
            }
            Verb::Delete { key } => {
                let key = self.scope(bound, |scope| key.text(scope))?;
                Effect::Delete { key, text: None }
            }
            Verb::Move { key, to } => {
                let (key, to) = self.scope(bound, |scope| Ok((key.text(scope)?, to.text(scope)?)))?;
                Effect::Move { key, to }
            }
        }))
    }

    /// Changes the state, and returns the effect that reports the change to the host; `None` if nothing was changed.
    fn changed_state(&mut self, verb: &Verb, at: Location, bound: &Bindings<'_>) -> Result<Option<Effect>, Failure> {
        Ok(Some(match verb {
            Verb::Set { path, value } => {
                let (path, value) = self.placed(path, value, bound)?;
                // The value is serialized twice: with the effect, and with the session.
                self.charge_twice(&value)?;
                let set = |state: &mut Record| state::set(state, &path, &value);
                let Some(()) = self.change(&path, Some(&value), at, set)? else { return Ok(None) };
                Effect::Set { path: state::dotted(&path), value }
            }
            Verb::Append { path, unique, value } => {
                let (mut path, value) = self.placed(path, value, bound)?;
                path.push(PathKey::Spelt("-"));
                let list = path.split_last().map_or(&[][..], |(_, list)| list);
                self.charge_twice(&value)?;
                let add = |state: &mut Record| append(state, list, unique, &value);
                let Some(place) = self.change(&path, Some(&value), at, add)? else { return Ok(None) };
                path.pop();
                match place {
                    // The value replaced an item: a host that applies effects one by one must not add it a second
                    // time.
                    Some(index) => Effect::Set { path: format!("{}.{index}", state::dotted(&path)), value },
                    None => Effect::Append { path: state::dotted(&path), value },
                }
            }
            Verb::Remove { path } => {
                let path = self.scope(bound, |scope| path.render(scope))?;
                let initial = path.first().and_then(|name| self.program.initial.get(name));
                let remove = |state: &mut Record| Ok(state::remove(state, &path, initial));
                let Some(removed) = self.change(&path, None, at, remove)? else { return Ok(None) };
                let path = state::dotted(&path);
                removed.iter().try_for_each(|value| self.charge(value))?;
                let Some(value) = removed else {
                    self.note(Remark::NoTarget, message!("nothing happens: there is nothing at `{}`", &path), at);
                    return Ok(None);
                };
                Effect::Remove { path, value }
            }
            Verb::Emit { .. }
            | Verb::Write { .. }
            | Verb::Edit { .. }
            | Verb::Patch { .. }
            | Verb::Delete { .. }
            | Verb::Move { .. }
            | Verb::Amend { .. }
            | Verb::Record { .. }
            | Verb::Remark { .. }
            | Verb::Say { .. }
            | Verb::Go { .. } => return Ok(None),
        }))
    }

    /// A value as the text of a document; `none` has no text and is reported.
    fn text_for(&mut self, key: &str, value: Value, at: Location) -> Option<String> {
        match value {
            Value::Null => {
                self.note_data_loss(message!("nothing is written to `{}`: there is no text", quote(key, 60)), at);
                None
            }
            Value::String(text) => Some((*text).to_owned()),
            other => Some(other.to_string()),
        }
    }

    /// Changes the state at `path` to `value`, unless the result would not be valid against the pack's schema, or
    /// would be nested too deeply.
    fn change<T>(
        &mut self,
        path: &[PathKey<'_>],
        value: Option<&Value>,
        at: Location,
        change: impl FnOnce(&mut Record) -> Result<T, String>,
    ) -> Result<Option<T>, Failure> {
        if value.is_some_and(|value| state::is_deeper(value, state::MAX_STATE_DEPTH.saturating_sub(path.len()))) {
            let name = state::dotted(path);
            self.note_data_loss(
                format!(
                    "the state stays as it was: `{name}` would be nested more than {} levels deep",
                    state::MAX_STATE_DEPTH
                ),
                at,
            );
            return Ok(None);
        }
        let state = &mut self.session.state;
        let within = path.split_first().and_then(|(name, rest)| {
            let (part, steps) = self.program.slots.get(&**name)?.schema.part().at(state.get(name), rest);
            Some((part, path.get(..=steps)?))
        });
        let Some((part, place)) = within else { return change(state).map(Some).map_err(Failure::new) };
        let name = || format!("state.{}", state::dotted(place));
        // If the schema concerns more than the value itself, make the change, and undo it if the result is not valid.
        let (done, misfit) = if place.len() == path.len() {
            match value.and_then(|value| part.misfit(value, name)) {
                None => (Some(change(state).map_err(Failure::new)?), None),
                misfit => (None, misfit),
            }
        } else {
            let before = state.clone();
            let done = change(state).map_err(Failure::new)?;
            match state::get(state, place).and_then(|after| part.misfit(after, name)) {
                None => (Some(done), None),
                misfit => {
                    *state = before;
                    (None, misfit)
                }
            }
        };
        if let Some(misfit) = misfit {
            self.note_data_loss(message!("the state stays as it was: {}", &misfit), at);
        }
        Ok(done)
    }

    /// The path and the value of an effect, rendered.
    fn placed<'e>(
        &self,
        path: &'e PathTemplate,
        value: &Shape,
        bound: &Bindings<'_>,
    ) -> Result<(Keys<'e>, Value), Failure> {
        self.scope(bound, |scope| Ok((path.render(scope)?, value.render(scope)?)))
    }
}

/// What an effect requires and has empty: the name of its event, or its key.
fn nameless(effect: &Effect) -> Option<&'static str> {
    let (what, says) = match effect {
        Effect::Emit { event, .. } => ("the name of the event", event),
        Effect::Write { key, .. } | Effect::Record { key, .. } => ("the key", key),
        Effect::Amend(amendment) => ("the key", &amendment.key),
        Effect::Edit(edit) => ("the key", &edit.key),
        Effect::Delete { key, .. } => ("the key", key),
        Effect::Move { key, to } => ("the key", if key.trim().is_empty() { key } else { to }),
        Effect::Set { .. } | Effect::Append { .. } | Effect::Remove { .. } | Effect::Say { .. } => return None,
    };
    says.trim().is_empty().then_some(what)
}

/// Adds a value to a list. An entry with the same values under the `unique` keys is replaced.
fn append(state: &mut Record, path: &[PathKey<'_>], unique: &[String], value: &Value) -> Result<Option<usize>, String> {
    let place = state::reach(state, path)?;
    if place.is_null() {
        *place = Vec::new().into();
    }
    let Value::Array(items) = place else { return Err(format!("`{}` is not a list", state::dotted(path))) };
    // A value without any of the keys equals no entry.
    let named = unique.iter().any(|key| member_of(value, key).is_some());
    let same = |item: &Value| {
        unique.iter().all(|key| match (member_of(item, key), member_of(value, key)) {
            (Some(one), Some(other)) => one.equals(other),
            (one, other) => one.is_none() && other.is_none(),
        })
    };
    let index = items.iter().position(|item| named && same(item));
    match index {
        Some(index) => Arc::make_mut(items).get_mut(index).into_iter().for_each(|item| item.clone_from(value)),
        None => with_room(items).push(value.clone()),
    }
    Ok(index)
}

/// The value under a key; a member that is `none` counts as absent.
fn member_of<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|member| !member.is_null())
}

/// The items, mutable; shared ones are copied, with room for one more.
fn with_room(items: &mut Arc<Vec<Value>>) -> &mut Vec<Value> {
    if Arc::get_mut(items).is_none() {
        let mut copy = Vec::with_capacity(items.len() + 1);
        copy.extend_from_slice(items);
        *items = Arc::new(copy);
    }
    Arc::make_mut(items)
}
