//! The engine: what does lowered source evaluate to in a scope?
//!
//! In: the result of [`super::lower`], and a scope.
//! Out: JSON, text or a [`Failure`].
//! Never: reads a clock, uses randomness, loads anything, or goes on beyond a limit.

use super::escape::{Escape, Places, Slot};
use super::filters::ENVIRONMENT;
use super::lowered::Lowered;
use super::resolve::resolve;
use super::scale::{self, DEPTH, FUEL, OUTPUT, Scale, failure, from_jinja, on_scale, take, to_jinja, weigh, wrong};
use super::{Failure, Scope};
use crate::value::Value;
use minijinja::value::{Object, ObjectRepr, ValueKind};
use minijinja::{Environment, Error, State, Value as Jinja};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The filter of documents that prints a value without escaping, except for lines that a dialect would take for
/// structure.
pub(super) const GUARDED: &str = "guarded";

/// A compiled expression.
pub(super) type Code = minijinja::Expression<'static, 'static>;

pub(super) fn compile_expression(source: &str) -> Result<Code, Error> {
    ENVIRONMENT.compile_expression_owned(source.to_owned())
}

/// Compiles a template. Each has its own environment, which shares its filters with all others.
pub(super) fn compile_template(source: &str) -> Result<Environment<'static>, Error> {
    let mut environment = ENVIRONMENT.clone();
    environment.add_template_owned("", source.to_owned())?;
    Ok(environment)
}

/// The same as [`compile_template`], with the filters by which a document prints its values.
pub(super) fn compile_document(source: &str, escape: &Arc<Escape>) -> Result<Environment<'static>, Error> {
    let mut environment = ENVIRONMENT.clone();
    for (name, slot) in [("slot", Slot::Text), ("quoted", Slot::Quoted)] {
        let escape = escape.clone();
        environment.add_filter(name, move |state: &State<'_, '_>, value: &Jinja| {
            let mut out = String::new();
            match value.kind() {
                ValueKind::Undefined | ValueKind::None => {}
                ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
                ValueKind::String => escape.write(value.as_str().unwrap_or_default(), slot, &mut out),
                ValueKind::Number => out = value.to_string(),
                _ => {
                    let scale = on_scale(state, |left| Ok(left.as_scale()))?;
                    on_scale(state, |left| weigh(left, value, DEPTH))?;
                    escape.write(&from_jinja(value, &scale, DEPTH)?.to_string(), slot, &mut out);
                }
            }
            on_scale(state, |left| take(left, out.len()))?;
            note(state, out.len(), false);
            Ok::<_, Error>(out)
        });
    }
    let escape = escape.clone();
    environment.add_filter(GUARDED, move |state: &State<'_, '_>, value: &Jinja, dialect: &str| {
        let text = match value.kind() {
            ValueKind::None => Cow::Borrowed(""),
            ValueKind::Bool => Cow::Borrowed(if value.is_true() { "true" } else { "false" }),
            _ => value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed),
        };
        // It is looked through once, and written once.
        on_scale(state, |left| take(left, 2 * text.len()))?;
        let out = escape.guarded(dialect, &text).unwrap_or_default();
        note(state, out.len(), true);
        Ok::<_, Error>(out)
    });
    environment.add_template_owned("", source.to_owned())?;
    Ok(environment)
}

pub(super) fn evaluate(code: &Code, lowered: &Arc<Lowered>, scope: &Scope<'_>) -> Result<(Jinja, Scale), Failure> {
    let (names, scale) = Names::new(lowered, scope)?;
    let names = Arc::new(names);
    let value = code.eval(Jinja::from_dyn_object(names.clone())).map_err(|error| failure(error, &names.reads))?;
    Ok((value, scale))
}

/// The text of a template, and the places of values in it.
pub(super) fn render(
    environment: &Environment<'static>,
    lowered: &Arc<Lowered>,
    scope: &Scope<'_>,
) -> Result<(String, Places), Failure> {
    let (names, _) = Names::new(lowered, scope)?;
    let written = names.written.clone();
    let mut out = Capped { most: scale::output(names.size), written: Some(written.clone()), ..Capped::default() };
    let mut environment = Cow::Borrowed(environment);
    if names.size as u64 > FUEL {
        environment.to_mut().set_fuel(Some(scale::fuel(names.size)));
    }
    let template = environment.get_template("").map_err(Failure::of)?;
    let names = Arc::new(names);
    let done = template.render_captured_to(Jinja::from_dyn_object(names.clone()), &mut out).map(drop);
    let text = out.finish(done.map_err(|error| failure(error, &names.reads)))?;
    Ok((text, written.places()))
}

/// The name for [`Written`] in the scope; no author can write it.
const WRITTEN: &str = "#";

/// The length of the output so far, and the places of values in it.
#[derive(Debug, Default)]
struct Written {
    bytes: AtomicUsize,
    places: Mutex<Places>,
}

impl Written {
    fn places(&self) -> Places {
        self.places.lock().map(|mut places| std::mem::take(&mut *places)).unwrap_or_default()
    }
}

/// Notes that the next `length` bytes come from a value.
fn note(state: &State<'_, '_>, length: usize, raw: bool) {
    let written = state.lookup(WRITTEN);
    if let Some(written) = written.as_ref().and_then(|written| written.downcast_object_ref::<Written>())
        && let Ok(mut places) = written.places.lock()
    {
        let start = written.bytes.load(Relaxed);
        places.add(start..start + length, raw);
    }
}

impl Object for Written {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}

/// A text that can grow up to a number of bytes.
pub(super) struct Capped {
    bytes: Vec<u8>,
    most: usize,
    full: bool,
    written: Option<Arc<Written>>,
}

impl Default for Capped {
    fn default() -> Self {
        Self { bytes: Vec::new(), most: OUTPUT, full: false, written: None }
    }
}

impl Capped {
    /// The same, with room for this many bytes.
    pub(super) fn with_room(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Appends `value` as [`print`](super::filters::print) does.
    pub(super) fn print(&mut self, value: &Value) -> Result<(), Failure> {
        let written = match value {
            Value::String(text) => self.write_all(text.as_bytes()),
            Value::Null => Ok(()),
            Value::Number(number) if !number.is_f64() => write!(self, "{number}"),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => write!(self, "{value}"),
            other => match to_jinja(other, &Scale::new(), DEPTH) {
                Ok(value) => write!(self, "{value}"),
                Err(error) => return Err(Failure::of(error)),
            },
        };
        written.map_err(|_| Failure::new("the text is too long"))
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.write_all(text.as_bytes()).map_err(|_| Failure::new("the text is too long"))
    }

    pub(super) fn finish(self, done: Result<(), Failure>) -> Result<String, Failure> {
        if self.full {
            return Err(Failure::new(format!("the text is longer than {} bytes", self.most)));
        }
        done?;
        String::from_utf8(self.bytes).map_err(|_| Failure::new("the text is not UTF-8"))
    }
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.full |= self.bytes.len() + bytes.len() > self.most;
        if self.full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        if let Some(written) = &self.written {
            written.bytes.store(self.bytes.len(), Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The names that lowered source sees: numbered reads and constants.
#[derive(Debug)]
struct Names {
    lowered: Arc<Lowered>,
    reads: Vec<Jinja>,
    scale: Scale,
    /// The weight of the largest value that is read.
    size: usize,
    written: Arc<Written>,
}

impl Names {
    /// Converts only the values that are read. A name that does not exist fails when it is used.
    fn new(lowered: &Arc<Lowered>, scope: &Scope<'_>) -> Result<(Self, Scale), Failure> {
        let size = scale::size(&lowered.reads, scope);
        let scale = Scale::for_size(size);
        let mut reads = Vec::with_capacity(lowered.reads.len());
        for index in 0..lowered.reads.len() {
            reads.push(match resolve(&lowered.reads, index, scope) {
                Ok(json) => to_jinja(&json, &scale, DEPTH).map_err(Failure::of)?,
                Err(failure) => Jinja::from(wrong(failure.message)),
            });
        }
        Ok((Self { lowered: lowered.clone(), reads, scale: scale.clone(), size, written: Arc::default() }, scale))
    }
}

impl Object for Names {
    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Jinja> {
        let (kind, number) = name.split_at_checked(1)?;
        match kind {
            "r" => self.reads.get(number.parse::<usize>().ok()?).cloned(),
            "c" => self.lowered.constants.get(number.parse::<usize>().ok()?).cloned(),
            "$" => Some(Jinja::from_dyn_object(self.scale.0.clone())),
            WRITTEN => Some(Jinja::from_dyn_object(self.written.clone())),
            _ => None,
        }
    }

    fn get_value(self: &Arc<Self>, name: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(name.as_str()?)
    }
}

/// The value as the filter `string` writes it.
pub(super) fn written(json: &Value) -> Option<String> {
    Some(to_jinja(json, &Scale::new(), DEPTH).ok()?.to_string())
}
