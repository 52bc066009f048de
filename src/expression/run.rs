//! Run: what does an expression with only simple parts evaluate to, without the engine?
//!
//! In: a [`Quick`] expression, the values that it reads, and the names bound by statements around it.
//! Out: its value; none if only the engine can tell.
//! Never: fails, or differs from the engine: values that do not fit, unusual numbers and long computations are left to
//! it.
//!
//! The engine converts everything that an expression reads, which costs more than evaluating most expressions. Here
//! values are borrowed.

use super::held::{Held, NONE, STRIDE};
use super::lowered::{Form, Lowered};
use super::matching::Pattern;
use super::quick::{Asked, Loop, Quick, Sum, Test};
use super::resolve::{Read, resolve};
use super::scale::{self, FUEL};
use super::{Scope, engine, is_true};
use crate::value::{Members, Value};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// The value of an expression; none if only the engine can tell.
pub(super) fn value(lowered: &Lowered, scope: &Scope<'_>) -> Option<Value> {
    let Form::Value(_, quick) = &lowered.form else { return None };
    Some(Run::new(&lowered.reads, scope).value(quick.as_ref()?)?.into_value())
}

/// Whether an expression is true; none if only the engine can tell.
pub(super) fn holds(lowered: &Lowered, scope: &Scope<'_>) -> Option<bool> {
    let Form::Value(_, quick) = &lowered.form else { return None };
    Some(Run::new(&lowered.reads, scope).value(quick.as_ref()?)?.is_true())
}

/// One evaluation.
pub(super) struct Run<'j> {
    reads: &'j [Read],
    scope: &'j Scope<'j>,
    /// The steps taken so far.
    taken: Cell<u64>,
    /// The weight of the largest value that is read; only needed by long evaluations.
    size: OnceCell<usize>,
    /// The names bound by statements, the innermost loop last.
    pub(super) frames: RefCell<Vec<Frame<'j>>>,
}

/// The names bound in one loop, or outside all loops.
#[derive(Default)]
pub(super) struct Frame<'j> {
    names: Vec<(usize, Held<'j>)>,
    /// The index of the item, and the number of items.
    pub(super) turn: Option<(usize, usize)>,
}

impl<'j> Frame<'j> {
    pub(super) fn set(&mut self, name: usize, value: Held<'j>) {
        match self.names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.names.push((name, value)),
        }
    }
}

impl<'j> Run<'j> {
    pub(super) fn new(reads: &'j [Read], scope: &'j Scope<'j>) -> Self {
        Self { reads, scope, taken: Cell::default(), size: OnceCell::new(), frames: RefCell::default() }
    }

    pub(super) fn size(&self) -> usize {
        *self.size.get_or_init(|| scale::size(self.reads, self.scope))
    }

    /// Takes steps; none if more were taken than the engine allows.
    pub(super) fn take(&self, steps: usize) -> Option<()> {
        self.taken.set(self.taken.get().saturating_add(steps as u64));
        (self.taken.get() <= FUEL || self.taken.get() <= scale::fuel(self.size())).then_some(())
    }

    /// The value of a bound name. It is charged each time, because names can be built from names.
    fn local(&self, name: usize) -> Option<Held<'j>> {
        let frames = self.frames.borrow();
        let mut named = frames.iter().rev().flat_map(|frame| &frame.names);
        let Some((_, value)) = named.find(|(known, _)| *known == name) else { return Some(NONE) };
        self.take(value.steps())?;
        Some(value.clone())
    }

    /// A text made during evaluation.
    fn made(&self, text: String) -> Option<Held<'j>> {
        self.take(text.len() / STRIDE)?;
        Some(Held::Value(Cow::Owned(text.into())))
    }

    fn turn(&self, what: Loop) -> Option<Value> {
        let (index, length) = self.frames.borrow().last()?.turn?;
        Some(match what {
            Loop::Index => (index + 1).into(),
            Loop::Index0 => index.into(),
            Loop::First => (index == 0).into(),
            Loop::Last => (index + 1 == length).into(),
            Loop::Length => length.into(),
        })
    }

    pub(super) fn value(&self, quick: &'j Quick) -> Option<Held<'j>> {
        Some(match quick {
            Quick::Engine => return None,
            Quick::Read(number) => Held::Value(resolve(self.reads, *number, self.scope).ok()?),
            Quick::Local(name) => self.local(*name)?,
            Quick::Loop(what) => Held::made(self.turn(*what)?),
            Quick::Item(base, key) => {
                let (base, key) = (self.value(base)?, self.value(key)?);
                base.member(key.text()?)?
            }
            Quick::Constant(value) => Held::Value(Cow::Borrowed(value)),
            Quick::List(items) => self.list(items)?,
            Quick::Table(members) => self.table(members)?,
            Quick::Member(base, key) => self.value(base)?.member(key)?,
            Quick::Not(base) => Held::made(!self.value(base)?.is_true()),
            Quick::And(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { self.value(right)? } else { left }
            }
            Quick::Or(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { left } else { self.value(right)? }
            }
            Quick::If(test, then, other) => self.value(if self.value(test)?.is_true() { then } else { other })?,
            Quick::Sum(sum, left, right) => self.sum(*sum, self.value(left)?, self.value(right)?)?,
            Quick::Test(test, left, right) => Held::made(self.test(*test, &self.value(left)?, &self.value(right)?)?),
            Quick::Matches(base, pattern) => Held::made(self.matches(&self.value(base)?, pattern)?),
            Quick::IsNone(base) => Held::made(self.value(base)?.is_none()),
            Quick::Is(kind, base) => Held::made(self.value(base)?.kind() == Some(*kind)),
            Quick::Default(base, other) => {
                let base = self.value(base)?;
                // A default that is none itself is none given, which means an empty text.
                match base.is_none() {
                    true => Some(self.value(other)?).filter(|other| !other.is_none()).unwrap_or(Held::Text("")),
                    false => base,
                }
            }
            Quick::Items(base) => match self.value(base)? {
                Held::Value(Cow::Borrowed(Value::Object(members))) => {
                    self.take(members.len())?;
                    Held::List(members.iter().map(|(key, value)| Held::Pair(key, value)).collect())
                }
                none if none.is_none() => Held::List(Vec::new()),
                _ => return None,
            },
            Quick::Keys(base) => match self.value(base)? {
                Held::Value(Cow::Borrowed(Value::Object(members))) => {
                    self.take(members.len())?;
                    Held::List(members.keys().map(Held::Text).collect())
                }
                list => Held::List(self.items(list)?),
            },
            Quick::First(base) => self.items(self.value(base)?)?.into_iter().next().unwrap_or(NONE),
            Quick::Length(base) => Held::made(self.value(base)?.length()?),
            Quick::Text(base) => self.text(self.value(base)?)?,
            Quick::Trimmed(base) => Held::Text(borrowed(&self.value(base)?)?.trim()),
            Quick::Lines(base) => self.lines(&self.value(base)?)?,
            Quick::Whole(base) => self.value(base)?.whole()?,
            Quick::Wholes(base) => {
                let items = self.items(self.value(base)?)?;
                Held::List(items.iter().map(Held::whole).collect::<Option<_>>()?)
            }
            Quick::Joined(base, by) => {
                let items = self.items(self.value(base)?)?;
                let texts: Vec<&str> = items.iter().map(Held::text).collect::<Option<_>>()?;
                self.made(texts.join(by))?
            }
            Quick::Sorted(base, descending) => self.sorted(self.value(base)?, *descending)?,
            Quick::Shows(section, held) => Held::made(self.shows(&self.value(section)?, &self.value(held)?)?),
            Quick::Select(base, path, asked, wanted) => {
                let items = self.items(self.value(base)?)?;
                let other = match asked {
                    Asked::Test(_, other) => self.value(other)?,
                    Asked::True | Asked::Matches(_) => NONE,
                };
                Held::List(self.select(items, path, asked, &other, *wanted)?)
            }
            Quick::Map(base, path) => {
                let items = self.items(self.value(base)?)?;
                Held::List(items.iter().map(|item| item.at(path)).collect::<Option<_>>()?)
            }
        })
    }

    fn list(&self, items: &'j [Quick]) -> Option<Held<'j>> {
        let items: Vec<Held<'_>> = items.iter().map(|item| self.value(item)).collect::<Option<_>>()?;
        // Lists of lists may nest without end; the engine has a bound for that.
        if items.iter().any(|item| matches!(item, Held::List(_))) {
            return None;
        }
        Some(Held::List(items))
    }

    fn table(&self, members: &'j [(Arc<str>, Quick)]) -> Option<Held<'j>> {
        // Lists may hold what the engine refuses to nest, or writes in a way of its own.
        let is_plain = |item: &Held<'_>| matches!(item, Held::Value(_) | Held::Text(_));
        let mut object = Members::with_capacity(members.len());
        for (key, value) in members {
            let value = self.value(value)?;
            if matches!(&value, Held::List(items) if !items.iter().all(is_plain)) {
                return None;
            }
            object.insert(key.clone(), value.into_value());
        }
        Some(Held::made(Value::Object(object.into())))
    }

    fn lines(&self, value: &Held<'j>) -> Option<Held<'j>> {
        let text = if value.is_none() { "" } else { borrowed(value)? };
        self.take(text.len() / STRIDE)?;
        let lines: Vec<Held<'_>> = text.lines().map(Held::Text).collect();
        self.take(lines.len())?;
        Some(Held::List(lines))
    }

    fn sorted(&self, list: Held<'j>, descending: bool) -> Option<Held<'j>> {
        let items = self.items(list)?;
        let mut numbers: Vec<i64> = items.iter().map(Held::number).collect::<Option<_>>()?;
        numbers.sort_unstable();
        if descending {
            numbers.reverse();
        }
        Some(Held::List(numbers.into_iter().map(Held::made).collect()))
    }

    /// Whether a section of a prompt that holds this value is shown.
    fn shows(&self, section: &Held<'_>, held: &Held<'_>) -> Option<bool> {
        match (section.text(), held) {
            (Some("always"), _) => Some(true),
            (Some("hidden"), _) => Some(false),
            (_, Held::Value(json)) => self.holds_something(json),
            _ => None,
        }
    }

    /// Arithmetic on whole numbers, or the sum of two lists.
    fn sum(&self, sum: Sum, left: Held<'j>, right: Held<'j>) -> Option<Held<'j>> {
        if matches!(sum, Sum::Plus) && left.is_list() && right.is_list() {
            let mut items = self.items(left)?;
            items.extend(self.items(right)?);
            return Some(Held::List(items));
        }
        let (left, right) = (left.number()?, right.number()?);
        let positive = left >= 0 && right > 0;
        let sum = match sum {
            Sum::Plus => left.checked_add(right),
            Sum::Minus => left.checked_sub(right),
            Sum::Times => left.checked_mul(right),
            Sum::Whole => left.checked_div(right).filter(|_| positive),
            Sum::Rest => left.checked_rem(right).filter(|_| positive),
        };
        sum.map(Held::made)
    }

    /// The value as a text.
    fn text(&self, value: Held<'j>) -> Option<Held<'j>> {
        match value {
            none if none.is_none() => Some(Held::Text("")),
            text if text.text().is_some() => Some(text),
            Held::List(items) if items.is_empty() => Some(Held::Text("[]")),
            // The engine writes a pair in a way of its own.
            Held::Pair(..) => None,
            Held::List(items) if items.iter().any(|item| matches!(item, Held::Pair(..) | Held::List(_))) => None,
            other => self.made(engine::written(&other.into_value())?),
        }
    }

    /// The items whose value at `path` passes the test if `wanted`, or fails it if not. `other` is the argument of the
    /// test.
    fn select(
        &self,
        mut items: Vec<Held<'j>>,
        path: &[String],
        asked: &Asked,
        other: &Held<'j>,
        wanted: bool,
    ) -> Option<Vec<Held<'j>>> {
        let held = match asked {
            Asked::Test(Test::In, _) if path.is_empty() && items.len() > MANY => other.text().map(held_bytes),
            _ => None,
        };
        let passes = |item: &Held<'j>| {
            if let (Some(held), Some(word)) = (&held, item.text())
                && !word.bytes().all(|byte| held.get(usize::from(byte)) == Some(&true))
            {
                return Some(false);
            }
            let found = item.at(path)?;
            match asked {
                Asked::True => Some(found.is_true()),
                Asked::Test(test, _) => self.test(*test, &found, other),
                Asked::Matches(pattern) => self.matches(&found, pattern),
            }
        };
        let mut sure = true;
        items.retain(|item| {
            let passes = passes(item);
            sure &= passes.is_some();
            passes == Some(wanted)
        });
        sure.then_some(items)
    }

    /// Whether a value, or anything in it, is not empty.
    fn holds_something(&self, json: &Value) -> Option<bool> {
        self.take(1)?;
        let mut found = Some(false);
        let mut look = |item: &Value| {
            found = self.holds_something(item);
            found != Some(false)
        };
        match json {
            Value::Array(items) => items.iter().any(&mut look),
            Value::Object(members) => members.values().any(&mut look),
            other => return Some(is_true(other)),
        };
        found
    }

    /// The items of a list; `none` counts as an empty list.
    pub(super) fn items(&self, list: Held<'j>) -> Option<Vec<Held<'j>>> {
        let items = match list {
            Held::List(items) => items,
            Held::Value(Cow::Borrowed(Value::Array(items))) => {
                items.iter().map(|item| Held::Value(Cow::Borrowed(item))).collect()
            }
            none if none.is_none() => Vec::new(),
            _ => return None,
        };
        self.take(items.len())?;
        Some(items)
    }

    /// Whether a pattern matches in a text, or in the JSON of another value.
    fn matches(&self, value: &Held<'_>, pattern: &Pattern) -> Option<bool> {
        let text = match (value.text(), value) {
            (Some(text), _) => Cow::Borrowed(text),
            (None, none) if none.is_none() => return Some(false),
            (None, Held::Value(json)) => Cow::Owned(json.to_string()),
            _ => return None,
        };
        self.take(text.len() / STRIDE)?;
        Some(pattern.is_match(&text))
    }

    fn test(&self, test: Test, one: &Held<'_>, other: &Held<'_>) -> Option<bool> {
        Some(match test {
            Test::Equal => one.equals(other)?,
            Test::Unequal => !one.equals(other)?,
            Test::Less => one.number()? < other.number()?,
            Test::AtMost => one.number()? <= other.number()?,
            // Only a text starts with something.
            Test::StartingWith => one.text().zip(other.text()).is_some_and(|(one, start)| one.starts_with(start)),
            Test::In => {
                if other.is_none() {
                    return Some(false);
                }
                if let Some(held) = other.text() {
                    self.take(held.len() / STRIDE)?;
                    return Some(held.contains(one.text()?));
                }
                match other {
                    Held::List(items) => {
                        self.take(items.len())?;
                        match one.is_none() {
                            true => items.iter().any(Held::is_none),
                            false => one.text().map(|text| items.iter().any(|item| item.text() == Some(text)))?,
                        }
                    }
                    Held::Value(json) => match &**json {
                        Value::Object(_) if one.is_none() => false,
                        Value::Object(members) => members.contains_key(one.text()?),
                        Value::Array(items) => {
                            self.take(items.len())?;
                            match one.is_none() {
                                true => items.iter().any(Value::is_null),
                                false => one.text().map(|text| items.iter().any(|item| item.as_str() == Some(text)))?,
                            }
                        }
                        _ => return None,
                    },
                    Held::Text(_) | Held::Pair(..) => return None,
                }
            }
        })
    }
}

/// A text that outlives the evaluation; none if it was made during it.
fn borrowed<'j>(value: &Held<'j>) -> Option<&'j str> {
    match value {
        Held::Text(text) => Some(text),
        Held::Value(Cow::Borrowed(Value::String(text))) => Some(text),
        _ => None,
    }
}

/// With more words than this, the bytes that the text contains are collected first: most words then need no search.
const MANY: usize = 8;

/// Which bytes occur in a text.
fn held_bytes(text: &str) -> [bool; 256] {
    let mut held = [false; 256];
    for byte in text.bytes() {
        held.get_mut(usize::from(byte)).into_iter().for_each(|held| *held = true);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::super::{Expression, lower};
    use super::*;
    use crate::text::{Location, Span, Spanned};
    use crate::value::value as json;

    const EXPRESSIONS: &[&str] = &[
        "reply.message is none",
        "reply.calls | selectattr('form', 'eq', 'json') | list | length > 0",
        "'TBD' in (reply.calls | selectattr('action', 'eq', 'x') | map(attribute='params') | list | string)",
        "params.content | items",
        "(state.work[params.t] | default({})).status | default('no') == 'no'",
        "(state.work[params.t] | default({})).content | default({}) | items | selectattr('1') | map(attribute='0') | list",
        "data.names[params.t] | select('in', filled) | list",
        "data.names[params.t] | reject('in', filled) | list",
        "params.m if params.m is not none else [] if params.t == 'a' else (state.work[params.t] | default({})).m | default(data.names[params.t])",
        "state.work | items | selectattr('1.status', 'eq', params.t) | map(attribute='0') | first | default('')",
        "params.t if params.t in state.work else state.sel if state.sel in state.work else state.work | list | first | default('')",
        "filled | length // 2 + (n % 3) * 450 - 1",
        "n < 3 and n >= 1 or not (n > 5)",
        "n == '3'",
        "n == params",
        "params.t != n",
        "params.nope.deeper is none",
        "params.t is startingwith('a')",
        "params.nope is startingwith('a') or filled is startingwith('a') or (state.pairs | first) is startingwith(n)",
        "params.t is matching('^[a-c]$')",
        "params.content is matching('\"y\"') or params.nope is matching('')",
        "state.work | items | rejectattr('1', 'matching', '\\[1\\]') | map(attribute='0') | list",
        "filled | select('matching', 'A|(?i)c') | list",
        "n is matching('^-?[0-9]+$')",
        "{ 'a': filled | reject('in', params.m) | list, 'b': { 'c': n }, 'd': params.nope, 'e': [n, 'x'] }",
        "{ 'a': state.work | items | list, 'b': state.pairs | list }",
        "params.t | lines | length + (params.content | list | length)",
        "params.content | items | map(attribute='1') | list if params.content is mapping else filled if filled is sequence else n",
        "(params.t is string) and (state.pairs | first) is sequence or n is mapping",
        "params.t | lines | reject('in', filled) | list",
        "n if params.t is string else params.t | upper",
        "state.work | items | rejectattr('1.content') | list | length",
        "filled | items",
        "n | length",
        "n in n",
        "nowhere == 1",
        "'a' in filled and 'b' in params.t",
        "params.t in 'cab'",
        "['a', 'x', 'b', 'c a', '', 'hh', 'te', 'zz', 'ext', 'i'] | select('in', filled | string) | list",
        "['a', 'x', 'b', 'c a', '', 'hh', 'te', 'zz', 'ext', 'i'] | reject('in', params.t | default('hi')) | list",
        "filled | string",
        "n | string",
        "state | string",
        "state.work | items | list | string",
        "none in state.work",
        "params.nope in filled",
        "params.m in (filled | list)",
        "none in [params.m, 'a']",
        "params.nope if params.nope in (state.work | list) else 'none'",
        "[n, params.t]",
        "filled | first",
        "params | list",
        "n.x.y",
        "(n | default(1)).x",
        "1.5 + n",
        "filled + filled",
        "(filled | list) + (params.m | default([]))",
        "params.nope and (filled | last) == 'c'",
        "filled or (filled | last)",
        "n // 0",
        "-7 % 3",
        "true == 1",
        "filled | map(attribute='x') | list",
        "state.work | selectattr('1') | list",
        "state.pairs | selectattr('0', 'eq', 'a') | map(attribute='1') | list",
        "state.pairs | map(attribute='5') | list",
    ];

    fn scopes() -> Vec<Value> {
        vec![
            json!({
                "reply": { "message": null, "calls": [] }, "n": 4, "filled": ["a", "c"],
                "params": { "t": "a", "content": { "x": "1", "y": "" }, "m": null },
                "state": {
                    "work": { "a": { "status": "a", "content": { "x": "", "y": [1], "z": "t" } }, "b": { "status": "no" } },
                    "sel": "b", "pairs": [["a", 1], ["b", 2], ["a", { "k": 3 }]]
                },
                "data": { "names": { "a": ["a", "b", "c"] } },
            }),
            json!({
                "reply": { "message": "hi", "calls": [{ "form": "json", "action": "x", "params": { "a": "TBD" } }, { "form": "tags" }] },
                "n": 0, "filled": [], "params": { "t": "zz", "m": ["q"] }, "state": { "work": {}, "sel": "", "pairs": [] },
                "data": { "names": {} },
            }),
            json!({
                "reply": null, "n": 2.5, "filled": null, "params": null, "data": null,
                "state": { "work": { "": { "status": 1 } }, "sel": 3, "pairs": [{ "0": "a" }, 3, "ab"] },
            }),
            json!({
                "reply": { "calls": 3 }, "n": true, "filled": [1, null, "a"], "params": { "t": 7, "content": [] }, "data": {},
                "state": { "work": [["k", { "status": 7 }]], "pairs": [[], ["a"]] },
            }),
            json!({
                "reply": { "message": "", "calls": [[]] }, "n": -3, "filled": "text", "params": { "t": true, "content": "c" },
                "state": {}, "data": { "names": { "a": "abc" } },
            }),
        ]
    }

    #[test]
    fn quick_values_are_those_of_the_engine() {
        let mut quick_ones = 0;
        for text in EXPRESSIONS {
            let at = Location::response(Span::new(0, text.len()));
            let Ok(expression) = Expression::parse(&Spanned::new((*text).to_owned(), at)) else { panic!("{text}") };
            let lowered = lower::expression(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            for names in scopes() {
                let mut scope = Scope::new();
                for (name, value) in names.as_object().into_iter().flatten() {
                    scope.add(name, value);
                }
                if let Some(quick) = value(&lowered, &scope) {
                    quick_ones += 1;
                    assert_eq!(Ok(&quick), expression.slow_value(&scope).as_ref(), "{text} in {names}");
                    assert_eq!(holds(&lowered, &scope), Some(is_true(&quick)), "{text} in {names}");
                }
            }
        }
        assert!(quick_ones > 60, "{quick_ones}");
    }
}
