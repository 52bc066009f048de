//! Payloads: what are the parameters of a call?
//!
//! In: the body of a call, and the readers of its block, in order.
//! Out: [`Payload`]: fields, a JSON value with its faults, or text; and which reader read it.
//! Never: types a field (the action's schema does that), or drops a payload.

mod built;
mod bullets;
mod fields;

pub(crate) use built::Built;
pub(crate) use bullets::unmarked;
pub(crate) use fields::{Field, FieldSyntax, Fields, MAX_TAGS, Tag, TagSource, Tags, ValueForm, field_family, merged};

use crate::document::{Mask, TextEncoding};
use crate::json::{self, Context, Json, JsonTape, Unreadable};
use crate::program::{self, Dialect, Limits, NameSource, Types};
use crate::surface;
use crate::text::Span;
use crate::value::Value;
use std::cell::Cell;

/// Whether only white space follows an offset: an incomplete value that ends there may have been cut off.
pub(crate) fn ends_response(text: &str, at: usize) -> bool {
    text.get(at..).is_none_or(|rest| rest.trim_start().is_empty())
}

/// In a payload with more values, findings have the place of the whole payload.
const MAX_PLACED_VALUES: usize = 1_000;

/// The result of reading a body.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each call, and most of them have fields")]
pub(crate) enum Payload {
    /// Only white space.
    Empty,
    /// The attributes of the opener.
    Attributes,
    Fields(Fields),
    Json(Json),
    Text,
    /// No reader could read the body; this is the fault of the reader that read furthest.
    Unreadable(Unreadable),
}

/// A payload, and the index of the reader that read it.
#[derive(Debug)]
pub(crate) struct ReadPayload {
    pub(crate) payload: Payload,
    pub(crate) rung: usize,
}

/// A payload that is already a value. If the value is a string that contains an object, the object.
pub(crate) fn of_value(value: &Value, limits: &Limits, values: &Cell<usize>) -> ReadPayload {
    let context = Context::new(limits.depth, values);
    ReadPayload { payload: Payload::Json(Json::whole(value.clone()).unquoted(context)), rung: 0 }
}

/// The inputs of reading a payload.
#[derive(Clone, Copy)]
pub(crate) struct PayloadSource<'t> {
    pub(crate) text: &'t str,
    pub(crate) masks: &'t [Mask],
    pub(crate) dialect: &'t Dialect,
    pub(crate) spelled: FieldSyntax<'t>,
    /// The encoding of the text of a field.
    pub(crate) spelling: TextEncoding,
    /// The span of the whole block without its opener and closer: white space around the body may end its last field.
    pub(crate) within: Span,
    /// The types that the action declares.
    pub(crate) declared: &'t Types,
    pub(crate) limits: &'t Limits,
    /// How many more values payloads may have.
    pub(crate) values: &'t Cell<usize>,
    /// The declaration of the block, whose names a JSON payload may have as keys.
    pub(crate) bound: &'t program::BlockBinding,
    /// Whether the end of the response cuts the payload off.
    pub(crate) cut: bool,
    /// Whether something follows the payload, so that a number at its end is whole.
    pub(crate) bounded: bool,
}

impl PayloadSource<'_> {
    /// Whether a name is declared as a key of the payload, at any depth.
    pub(crate) fn declares(&self, name: &str) -> bool {
        let same = |known: &str| self.dialect.names.same(known, name);
        let called = self.bound.sources().any(|source| match source {
            NameSource::Payload { pointer, .. } => pointer.iter().any(|step| same(step)),
            NameSource::Attribute(known) => same(known),
            NameSource::Own | NameSource::Word(_) | NameSource::Around(..) => false,
        });
        let body = || self.bound.bodies().flat_map(|pointer| pointer.split('.')).any(same);
        called || body() || self.dialect.params.contains(name)
    }

    /// Reads a part of the response as JSON.
    ///
    /// # Errors
    ///
    /// Why the part cannot be read, and where.
    pub(crate) fn json(&self, body: Span) -> Result<Json, Unreadable> {
        let declares = |name: &str| self.declares(name);
        let context = Context { declares: &declares, cut: self.cut, bounded: self.bounded, ..self.context() };
        let read = json::read(self.text, body, context);
        read.map_err(|error| match error.too_many {
            true => {
                let most = self.limits.values;
                let why = format!("the payloads of the response contain more than {most} values together");
                Unreadable { why: why.into(), ..error }
            }
            false => error,
        })
    }

    /// Reads a payload: by the building rules of the block's grammar, or else as JSON.
    fn payload(&self, body: Span) -> Result<Json, Unreadable> {
        self.built(body).map_or_else(|| self.json(body), |built| Ok(built.into_json()))
    }

    /// The places of the values in a part of the response that is JSON.
    pub(crate) fn tape(&self, body: Span) -> Option<JsonTape> {
        // In a larger payload, the places of values are not used, and they would take memory.
        let most = Cell::new(self.limits.values.min(MAX_PLACED_VALUES));
        let declares = |name: &str| self.declares(name);
        let (cut, bounded) = (self.cut, self.bounded);
        let context = Context { declares: &declares, cut, bounded, ..Context::new(self.limits.depth, &most) };
        json::tape(self.text, body, context)
    }

    /// The context for reading JSON.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::new(self.limits.depth, self.values)
    }
}

/// Reads the body with the first reader that can. A value read with faults counts only if no reader reads one without.
pub(crate) fn read(source: &PayloadSource<'_>, body: Span, ladder: &[surface::Payload]) -> ReadPayload {
    let PayloadSource { text, values, .. } = *source;
    if body.of(text).trim().is_empty() {
        return ReadPayload { payload: Payload::Empty, rung: 0 };
    }
    let tried_json = |rung: usize| ladder.iter().take(rung).any(|reader| *reader == surface::Payload::Json);
    // If text is allowed, a text that happens to be a JSON number or list remains a text.
    let or_text = |rung: usize| ladder.iter().skip(rung).any(|reader| *reader == surface::Payload::Text);
    let looks_json = || body.of(text).trim_start().starts_with(['{', '[']);
    let mut faulty: Option<ReadPayload> = None;
    let mut refused = Unreadable {
        why: "there is no field in it: each parameter is a field of its own".into(),
        at: body.trimmed(text),
        too_many: false,
    };
    // Attributes need no body, so only JSON can explain why the body is unreadable.
    let json_alone =
        ladder.iter().all(|reader| matches!(reader, surface::Payload::Attributes | surface::Payload::Json));
    if ladder == [surface::Payload::Attributes] {
        refused.why = "its payload is the attributes of its opener, but text follows the opener".into();
    }
    for (rung, reader) in ladder.iter().enumerate() {
        match reader {
            // The caller has read attributes, from the opener, before calling this function.
            surface::Payload::Attributes => {}
            surface::Payload::Tags => {
                let fields = source.fields_of(body);
                let has_fields = !fields.list.is_empty() || !fields.unclosed.is_empty();
                // Tags inside the texts of a JSON object are not fields of the call.
                let is_object = || {
                    let json = ladder.contains(&surface::Payload::Json) && body.of(text).trim_start().starts_with('{');
                    // A trial must not count values against the limit.
                    json && PayloadSource { values: &Cell::new(values.get()), ..*source }
                        .json(body.trimmed(text))
                        .is_ok()
                };
                if has_fields && !is_object() {
                    return ReadPayload { payload: Payload::Fields(fields), rung };
                }
            }
            surface::Payload::Json => match source.payload(body.trimmed(text)) {
                Ok(json) if json.faults.is_empty() => {
                    let json = json.unquoted(source.context());
                    if json.value.is_object() || !or_text(rung) {
                        return ReadPayload { payload: Payload::Json(json), rung };
                    }
                }
                Ok(json) => {
                    faulty.get_or_insert(ReadPayload { payload: Payload::Json(json), rung });
                }
                Err(error) if json_alone || (looks_json() && error.at.start > refused.at.start) => refused = error,
                Err(_) => {}
            },
            surface::Payload::Bullets => {
                let value = bullets::read(body.of(text), source.limits.fields);
                return ReadPayload { payload: Payload::Json(Json::whole(value)), rung };
            }
            // An object that is cut off or broken is not text.
            surface::Payload::Text if tried_json(rung) && body.of(text).trim_start().starts_with('{') => {}
            surface::Payload::Text => return ReadPayload { payload: Payload::Text, rung },
        }
    }
    faulty.unwrap_or(ReadPayload { payload: Payload::Unreadable(refused), rung: ladder.len() })
}
