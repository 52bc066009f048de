//! JSON: which value does a text write, as strict JSON or as models write it?
//!
//! In: a part of a response that should be JSON, and the names that may be keys in it.
//! Out: [`Json`]: a value, and a [`JsonFault`] for everything that is not strict JSON. A fault is *certain* if every
//! interpretation of the text gives the same value, otherwise *lossy*.
//! Never: skips a byte inside a value without a fault, or changes a value that is strict JSON.
//!
//! Strict JSON is only [scanned](scan): the places of its values are put on a [`JsonTape`]. If that fails, the text is
//! read once more, [leniently](lenient), to a tape of the same kind. `grammar/json.pest` describes both for packs that
//! read whole answers as JSON.

mod build;
mod escape;
mod fault;
mod lenient;
mod literal;
mod quotes;
mod scan;
mod tape;

#[cfg(test)]
mod tests;

pub(crate) use escape::{
    decode_quoted, decode_string, escape_in, has_doubtful_escapes, has_lone_surrogate, known_escape, next_backslash,
    resolve, unescape,
};
pub(crate) use fault::{
    CODE_FENCE, CONSTANT, EXTRA_BRACE, FaultId, Grade, JsonFault, MISSING_BRACE, MISSING_BRACKET, REPEATED_KEY,
    SURROGATE, TEXT_AROUND, certain_words, is_certain, named, worded,
};
pub(crate) use quotes::in_triple;
pub(crate) use scan::plain_length;
pub(crate) use tape::JsonTape;

use crate::text::Span;
use crate::value::Value;
use lenient::LenientJson;
use scan::Stop;
use std::borrow::Cow;
use std::cell::Cell;

/// The most faults, repeated keys and rounded numbers that are listed.
const MAX_NOTES: usize = 100;

/// The inputs of reading JSON besides the text.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    /// The deepest nesting.
    pub(crate) depth: usize,
    /// How many more values are allowed; each value that is read is deducted.
    pub(crate) values: &'c Cell<usize>,
    /// Whether a name is declared as a key, at any depth.
    pub(crate) declares: &'c dyn Fn(&str) -> bool,
    /// Whether the end of the response cuts the text off.
    pub(crate) cut: bool,
    /// Whether something after the text bounds it, such as the closer of a block: otherwise a number or a word without
    /// quotes that it ends with may have been longer.
    pub(crate) bounded: bool,
    /// How many of the outermost containers are envelopes, with no other members than those on the path to the inner
    /// ones, so that the last members of the value inside them can only be its own.
    pub(crate) envelopes: usize,
}

impl<'c> Context<'c> {
    /// The context of a text that is complete, without declared names.
    pub(crate) fn new(depth: usize, values: &'c Cell<usize>) -> Self {
        Self { depth, values, declares: &|_| false, cut: false, bounded: true, envelopes: 0 }
    }
}

impl Context<'_> {
    /// Whether a number or a word without quotes at the end of the text may have been longer.
    fn may_go_on(self) -> bool {
        self.cut || !self.bounded
    }
}

/// A JSON value that was read.
#[derive(Debug)]
pub(crate) struct Json {
    pub(crate) value: Value,
    /// The faults; empty if the value is strict JSON.
    pub(crate) faults: Vec<JsonFault>,
    /// Keys that are repeated in one object; the last counts.
    pub(crate) repeated: Vec<String>,
    /// The number of faults and repeated keys that are not listed.
    pub(crate) left_out: usize,
    /// Numbers that cannot be stored exactly.
    pub(crate) rounded: Vec<Rounded>,
    /// Faults that a pack's own grammar names.
    pub(crate) own_faults: Vec<(String, Span)>,
    /// How a value was read leniently, if it was.
    pub(crate) forgiven: Option<&'static str>,
}

/// Whether the text of an object or a list ends in a string that starts on the last line: a line break cannot be in a
/// string, nor a quotation mark outside of one.
pub(crate) fn breaks_off(text: &str) -> bool {
    let body = text.trim_start();
    if !body.starts_with(['{', '[']) {
        return false;
    }
    let (mut in_string, mut escaped) = (false, false);
    for byte in body.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'\n' => in_string = false,
            _ => {}
        }
    }
    in_string
}

/// Whether a text ends where a list or an object goes on with a value: behind its bracket, or, on a line that starts like
/// one of JSON, behind a comma or a key.
pub(crate) fn awaits_value(text: &str) -> bool {
    let text = text.trim_end();
    let line = text.lines().next_back().unwrap_or_default().trim_start();
    let is_json = || {
        let literals = ["true", "false", "null"];
        line.starts_with(['{', '[', '}', ']', '"', '-']) && !line.starts_with("- ")
            || line.starts_with(|first: char| first.is_ascii_digit())
            || literals.iter().any(|literal| line.starts_with(literal))
    };
    match text.as_bytes() {
        [.., b'[' | b'{'] => true,
        [.., b'"' | b'}' | b']' | b'e' | b'l' | b'0'..=b'9', b','] | [.., b'"', b':'] => is_json(),
        _ => false,
    }
}

/// A number that cannot be stored exactly.
#[derive(Debug)]
pub(crate) struct Rounded {
    /// The path to it in the value.
    pub(crate) pointer: Vec<String>,
    pub(crate) span: Span,
    /// Whether the value is the nearest double. Otherwise the number is out of range, and the value is its text.
    pub(crate) is_near: bool,
}

/// Why a text cannot be read as JSON, and where.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) why: Cow<'static, str>,
    pub(crate) at: Span,
    /// Whether the response contains more values than allowed.
    pub(crate) too_many: bool,
}

/// The message for a payload in a response with too many values.
const TOO_MANY: &str = "it contains too many values";
/// The message for a payload with faults.
pub(crate) const FORGIVEN: &str = "the payload is not valid JSON, and can only be read with repairs";
/// The message for a payload with lossy faults.
pub(crate) const LOSSY: &str = "the payload cannot be repaired without dropping or guessing a part";

impl Json {
    /// A value that was read without faults.
    pub(crate) fn whole(value: Value) -> Self {
        let (faults, repeated, rounded, own_faults) = Default::default();
        Self { value, faults, repeated, left_out: 0, rounded, own_faults, forgiven: None }
    }

    /// Whether a fault is lossy.
    pub(crate) fn is_lossy(&self) -> bool {
        self.faults.iter().any(|fault| fault.grade == Grade::Lossy)
    }

    /// The object in the string, if the value is a string that contains one; otherwise the value itself.
    pub(crate) fn unquoted(self, context: Context<'_>) -> Self {
        let inner = match &self.value {
            Value::String(text) => strict(text, context).ok(),
            _ => None,
        };
        match inner.filter(|inner| inner.value.is_object()) {
            Some(inner) => Self { forgiven: Some("the payload is a string that contains the object"), ..inner },
            None => self,
        }
    }
}

/// Reads strict JSON. A number that cannot be stored exactly is refused, too.
///
/// # Errors
///
/// The number of bytes before the first fault.
pub(crate) fn strict(text: &str, context: Context<'_>) -> Result<Json, usize> {
    let tape = scan::all(text, Span::new(0, text.len()), context).map_err(|stop| stop.at())?;
    let json = build::json(&tape, text, context).ok_or(0_usize)?;
    if json.rounded.is_empty() && json.faults.is_empty() { Ok(json) } else { Err(0) }
}

/// The tape of the value in `body`: of strict JSON, or else as far as it can be read leniently.
pub(crate) fn tape(text: &str, body: Span, context: Context<'_>) -> Option<JsonTape> {
    match scan::all(text, body, context) {
        Ok(tape) => Some(tape),
        Err(Stop::TooMany) => None,
        Err(_) => LenientJson::read(text, body, context),
    }
}

/// Reads the body strictly, or else leniently.
pub(crate) fn read(text: &str, body: Span, context: Context<'_>) -> Result<Json, Unreadable> {
    let too_many = || Unreadable { why: TOO_MANY.into(), at: body, too_many: true };
    let stop = match scan::all(text, body, context) {
        Ok(tape) => return build::json(&tape, text, context).ok_or_else(too_many),
        Err(Stop::TooMany) => {
            context.values.set(0);
            return Err(too_many());
        }
        Err(stop) => stop,
    };
    let lenient = match stop {
        Stop::TooDeep(_) => None,
        _ => LenientJson::read(text, body, context),
    };
    match lenient {
        Some(tape) => build::json(&tape, text, context).ok_or_else(too_many),
        None => Err(unreadable(text, body, stop)),
    }
}

/// Why the body cannot be read.
fn unreadable(text: &str, body: Span, stop: Stop) -> Unreadable {
    let why = match stop {
        Stop::TooDeep(_) => "it is nested too deeply",
        Stop::TooMany => TOO_MANY,
        Stop::Unexpected(_, why) => why,
    };
    let at = stop.at().clamp(body.start, body.end);
    let length = text.get(at..body.end).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    Unreadable {
        why: format!("it cannot be read as JSON: {why}").into(),
        at: Span::new(at, at + length),
        too_many: false,
    }
}
