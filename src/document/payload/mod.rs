//! Payloads: what are the parameters of a call?
//!
//! In: the body of a call, and the readers of its block, in order.
//! Out: [`Payload`]: fields, a JSON value with its faults, or text; and which reader read it.
//! Never: types a field (the action's schema does that), or drops a payload.

mod bullets;
mod fields;
mod json;
mod layout;

pub(crate) use bullets::unmarked;
pub(crate) use fields::{Field, Fields, MOST_TAGS, Spelled, Tag, TagSource, Tags, field_family, merged};
pub(crate) use json::{FORGIVEN, Json, Unreadable, grammar as json_grammar, strict as read_strictly};
pub(crate) use layout::Layout;

use crate::document::{Mask, Spelling};
use crate::program::{Dialect, Limits, Types};
use crate::surface;
use crate::text::Span;
use crate::value::Value;
use std::cell::Cell;

/// The result of reading a body.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Only white space.
    Empty,
    /// The attributes of the opener.
    Attributes,
    Fields(Fields),
    Json(Json),
    Text,
    /// No reader could read it; this is the fault of the one that came furthest.
    Unreadable(Unreadable),
}

/// A payload, and the index of the reader that read it.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) payload: Payload,
    pub(crate) rung: usize,
}

/// A payload that is already a value. If the value is a text with an object in it, the object.
pub(crate) fn of_value(value: &Value, limits: &Limits, values: &Cell<usize>) -> Read {
    Read { payload: Payload::Json(Json::whole(value.clone()).unquoted(limits, values)), rung: 0 }
}

/// What reading a payload needs to know about the response.
#[derive(Clone, Copy)]
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    pub(crate) masks: &'t [Mask],
    pub(crate) dialect: &'t Dialect,
    pub(crate) spelled: Spelled<'t>,
    /// How what a field says is written.
    pub(crate) spelling: Spelling,
    /// The span of the whole block without its edges: white space around the body may end its last field.
    pub(crate) within: Span,
    /// What the action declares.
    pub(crate) declared: &'t Types,
    pub(crate) limits: &'t Limits,
    /// How many more values payloads may have.
    pub(crate) values: &'t Cell<usize>,
}

/// Reads the body with the first reader that can. A value read with faults only counts if no reader reads it without.
pub(crate) fn read(source: &Source<'_>, body: Span, ladder: &[surface::Payload]) -> Read {
    let Source { text, limits, values, .. } = *source;
    if body.of(text).trim().is_empty() {
        return Read { payload: Payload::Empty, rung: 0 };
    }
    let tried_json = |rung: usize| ladder.iter().take(rung).any(|reader| *reader == surface::Payload::Json);
    // A text that happens to be a JSON number or list is still a text, where one is allowed.
    let or_text = |rung: usize| ladder.iter().skip(rung).any(|reader| *reader == surface::Payload::Text);
    let looks_json = || body.of(text).trim_start().starts_with(['{', '[']);
    let mut faulty: Option<Read> = None;
    let mut refused = Unreadable { why: "there is no field in it".into(), at: body.trimmed(text) };
    // Attributes need no body, so that only JSON can explain why the body is unreadable.
    let json_alone =
        ladder.iter().all(|reader| matches!(reader, surface::Payload::Attributes | surface::Payload::Json));
    if ladder == [surface::Payload::Attributes] {
        refused.why = "its payload is what its opener says, but there is text after it".into();
    }
    for (rung, reader) in ladder.iter().enumerate() {
        match reader {
            // The caller reads attributes, from the opener, before it comes here.
            surface::Payload::Attributes => {}
            surface::Payload::Tags => {
                let fields = source.fields_of(body);
                let has_fields = !fields.list.is_empty() || !fields.unclosed.is_empty();
                // Tags inside the texts of a JSON object are no fields of the call.
                let is_object = || {
                    let json = ladder.contains(&surface::Payload::Json) && body.of(text).trim_start().starts_with('{');
                    // A trial must not count values against the limit.
                    json && json::read(text, body.trimmed(text), limits, &Cell::new(values.get())).is_ok()
                };
                if has_fields && !is_object() {
                    return Read { payload: Payload::Fields(fields), rung };
                }
            }
            surface::Payload::Json => match json::read(text, body.trimmed(text), limits, values) {
                Ok(json) if json.faults.is_empty() => {
                    let json = json.unquoted(limits, values);
                    if json.value.is_object() || !or_text(rung) {
                        return Read { payload: Payload::Json(json), rung };
                    }
                }
                Ok(json) => {
                    faulty.get_or_insert(Read { payload: Payload::Json(json), rung });
                }
                Err(error) if json_alone || (looks_json() && error.at.start > refused.at.start) => refused = error,
                Err(_) => {}
            },
            surface::Payload::Bullets => {
                let value = bullets::read(body.of(text), limits.fields);
                return Read { payload: Payload::Json(Json::whole(value)), rung };
            }
            // An object that is cut off or broken is no text.
            surface::Payload::Text if tried_json(rung) && body.of(text).trim_start().starts_with('{') => {}
            surface::Payload::Text => return Read { payload: Payload::Text, rung },
        }
    }
    faulty.unwrap_or(Read { payload: Payload::Unreadable(refused), rung: ladder.len() })
}
