//! The scale: how much work may one evaluation do?
//!
//! In: JSON and the engine's values.
//! Out: each as the other, weighed on the way; failures, and whether an absent value is the cause.
//! Never: lets an evaluation go on when its weight is used up.
//!
//! The fuel of minijinja counts instructions, and one instruction may copy a megabyte. So every evaluation also has a
//! [`WEIGHT`]: everything that is converted, made, compared or searched is charged each time, as if written out in
//! full.

use super::resolve::{Read, resolve};
use super::{Failure, Scope};
use crate::value::Number;
use crate::value::{Object as Members, Value};
use minijinja::value::{Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, State, Value as Jinja};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The instructions of one evaluation; plus one for each byte that the largest value read weighs.
pub const FUEL: u64 = 50_000;
/// The bytes that one evaluation may convert, make or search, with an overhead for each value; plus 16 times the weight
/// of the largest value read.
pub const WEIGHT: usize = 8 << 20;
/// The bytes of text that one template may produce; plus 8 times the weight of the largest value read.
pub const OUTPUT: usize = 4 << 20;
/// The deepest nesting of values.
pub(super) const DEPTH: usize = 64;
/// The weight of a value besides its text.
pub(super) const NODE: usize = 32;

/// What is left of the weight of an evaluation.
#[derive(Debug, Clone)]
pub(super) struct Scale(pub(super) Arc<Left>);

#[derive(Debug)]
pub(super) struct Left(AtomicUsize);

impl Object for Left {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

impl Left {
    /// A scale with as much left as this one.
    pub(super) fn as_scale(&self) -> Scale {
        Scale(Arc::new(Left(self.0.load(Relaxed).into())))
    }
}

impl Scale {
    pub(super) fn new() -> Self {
        Self::for_size(0)
    }

    /// The scale for an evaluation whose largest value has this weight.
    pub(super) fn for_size(size: usize) -> Self {
        Self(Arc::new(Left(AtomicUsize::new(WEIGHT.saturating_add(size.saturating_mul(16))))))
    }
}

/// The instructions for an evaluation whose largest value has this weight.
pub(super) fn fuel(size: usize) -> u64 {
    FUEL.saturating_add(size as u64)
}

/// The bytes of text for an evaluation whose largest value has this weight.
pub(super) fn output(size: usize) -> usize {
    OUTPUT.saturating_add(size.saturating_mul(8))
}

/// The weight of the largest value that is read.
pub(super) fn size(reads: &[Read], scope: &Scope<'_>) -> usize {
    let values = (0..reads.len()).filter_map(|index| resolve(reads, index, scope).ok());
    values.map(|value| heft(&value, DEPTH)).max().unwrap_or_default()
}

/// The weight of a value, down to the deepest allowed nesting.
fn heft(value: &Value, depth: usize) -> usize {
    let Some(deeper) = depth.checked_sub(1) else { return NODE };
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| heft(item, deeper)).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| 2 * NODE + key.len() + heft(value, deeper)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Subtracts `weight` from what is left; fails if that is not enough.
pub(super) fn take(left: &Left, weight: usize) -> Result<(), Error> {
    match left.0.load(Relaxed).checked_sub(weight) {
        Some(rest) => {
            left.0.store(rest, Relaxed);
            Ok(())
        }
        None => {
            left.0.store(0, Relaxed);
            Err(wrong("this takes too much memory for the size of the values that it reads"))
        }
    }
}

/// Subtracts the weight of `value`, written out in full.
pub(super) fn weigh(left: &Left, value: &Jinja, depth: usize) -> Result<(), Error> {
    let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
    match value.kind() {
        ValueKind::String => take(left, NODE + value.as_str().map_or(0, str::len)),
        ValueKind::Seq | ValueKind::Iterable => {
            take(left, NODE)?;
            let depth = deeper()?;
            value.try_iter()?.try_for_each(|item| weigh(left, &item, depth))
        }
        ValueKind::Map => {
            take(left, NODE)?;
            let depth = deeper()?;
            let pairs = value.as_object().and_then(|object| object.try_iter_pairs());
            pairs.into_iter().flatten().try_for_each(|(key, value)| {
                weigh(left, &key, depth)?;
                take(left, NODE)?;
                weigh(left, &value, depth)
            })
        }
        ValueKind::Invalid => Err(wrong(value.to_string())),
        _ => take(left, NODE),
    }
}

/// Runs `act` on the scale of this evaluation.
pub(super) fn on_scale<T>(state: &State<'_, '_>, act: impl FnOnce(&Left) -> Result<T, Error>) -> Result<T, Error> {
    let held = state.lookup("$").ok_or_else(|| wrong("an evaluation without a scale"))?;
    act(held.downcast_object_ref::<Left>().ok_or_else(|| wrong("an evaluation without a scale"))?)
}

pub(super) fn to_jinja(value: &Value, scale: &Scale, depth: usize) -> Result<Jinja, Error> {
    take(&scale.0, NODE)?;
    let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
    Ok(match value {
        Value::Null => Jinja::from(()),
        Value::Bool(truth) => Jinja::from(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Jinja::from(int),
            (_, Some(int)) => Jinja::from(int),
            _ => Jinja::from(number.as_f64()),
        },
        Value::String(text) => {
            take(&scale.0, text.len())?;
            Jinja::from(text.clone())
        }
        Value::Array(items) => {
            let depth = deeper()?;
            let items = items.iter().map(|item| to_jinja(item, scale, depth));
            Jinja::from_object(items.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Object(members) => {
            let depth = deeper()?;
            let mut pairs = Vec::with_capacity(members.len());
            for (key, value) in members {
                take(&scale.0, 2 * NODE + key.len())?;
                pairs.push((Jinja::from(key), to_jinja(value, scale, depth)?));
            }
            Jinja::from_pairs(pairs)
        }
    })
}

/// The same value as JSON.
pub(super) fn from_jinja(value: &Jinja, scale: &Scale, depth: usize) -> Result<Value, Error> {
    take(&scale.0, NODE)?;
    let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
    Ok(match value.kind() {
        ValueKind::Undefined | ValueKind::None => Value::Null,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number if value.is_integer() => match (i64::try_from(value.clone()), u64::try_from(value.clone())) {
            (Ok(int), _) => Value::from(int),
            (_, Ok(int)) => Value::from(int),
            _ => return Err(wrong("a number is too large for 64 bits")),
        },
        ValueKind::Number => match Number::from_f64(f64::try_from(value.clone())?) {
            Some(number) => Value::Number(number),
            None => return Err(wrong("a number is not finite")),
        },
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            take(&scale.0, text.len())?;
            Value::from(text)
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let depth = deeper()?;
            let items = value.try_iter()?.map(|item| from_jinja(&item, scale, depth));
            items.collect::<Result<_, _>>()?
        }
        ValueKind::Map => {
            let depth = deeper()?;
            let mut members = Members::new();
            for key in value.try_iter()? {
                take(&scale.0, NODE)?;
                let name = key.as_str().ok_or_else(|| wrong("the keys of a map must be texts"))?;
                members.insert(name.to_owned(), from_jinja(&value.get_item(&key)?, scale, depth)?);
            }
            Value::Object(members)
        }
        kind => return Err(wrong(format!("JSON has no value for {kind}"))),
    })
}

pub(super) fn value(value: &Jinja, scale: &Scale) -> Result<Value, Failure> {
    from_jinja(value, scale, DEPTH).map_err(Failure::of)
}

pub(super) fn is_none(value: &Jinja) -> bool {
    matches!(value.kind(), ValueKind::None | ValueKind::Undefined)
}

pub(super) fn wrong(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message).with_source(Why { absence: false })
}

/// The error for a value of the wrong kind, which may be absent.
pub(super) fn unfit(value: &Jinja, message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message).with_source(Why { absence: is_none(value) })
}

fn too_deep() -> Error {
    wrong(format!("values are nested at most {DEPTH} deep"))
}

/// The cause of an error of our own filters; errors of minijinja have none.
#[derive(Debug)]
struct Why {
    absence: bool,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.absence { "a value is not there" } else { "a value does not fit" })
    }
}

impl std::error::Error for Why {}

/// The failure for an error of an expression with these reads.
pub(super) fn failure(error: Error, reads: &[Jinja]) -> Failure {
    let why = std::error::Error::source(&error).and_then(|why| why.downcast_ref::<Why>());
    let absence = why.map_or_else(|| reads.iter().any(is_none), |why| why.absence);
    Failure { absence, ..Failure::of(error) }
}

/// A constant as JSON, if it is the same there.
pub(super) fn plain(value: &Jinja) -> Option<Value> {
    let plain = match value.kind() {
        ValueKind::Number => value.is_integer(),
        kind => matches!(kind, ValueKind::None | ValueKind::Bool | ValueKind::String),
    };
    from_jinja(value, &Scale::new(), DEPTH).ok().filter(|_| plain)
}

#[cfg(test)]
pub(super) fn jinja_of(value: &Value) -> Jinja {
    to_jinja(value, &Scale::new(), DEPTH).unwrap_or_default()
}

#[cfg(test)]
pub(super) fn value_of(value: &Jinja) -> Result<Value, Error> {
    from_jinja(value, &Scale::new(), DEPTH)
}
