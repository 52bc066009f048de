//! Responses: which parts does a response of OpenAI's Responses API have?
//!
//! In: a response, its `output`, or one item of that.
//! Out: the parts of the reply, in the order of the items.
//! Never: reads the events of a stream.

use super::message::{Message, arguments_of, is_said, starts};
use super::openai::{content, is_refused, is_truncated};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Response<'t> {
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    output: Option<&'t RawValue>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
pub(super) struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Item<'t> {
    #[serde(rename = "type")]
    kind: Option<String>,
    role: Option<String>,
    call_id: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'t RawValue>,
    #[serde(borrow)]
    content: Option<&'t RawValue>,
    #[serde(borrow)]
    summary: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    text: String,
}

/// Reads a whole response.
pub(super) fn response<'t>(message: &mut Message<'t>, text: &'t str) {
    let Some(read) = message.part::<Response<'_>>(text, "a response of OpenAI") else { return };
    if let Some(error) = read.error {
        return message.returned(error);
    }
    read.output.iter().for_each(|list| output(message, list.get()));
    read.incomplete_details.iter().for_each(|details| incomplete(message, details));
}

/// What an incomplete response lacks.
pub(super) fn incomplete(message: &mut Message<'_>, details: &Incomplete) {
    let reason = details.reason.as_deref().unwrap_or_default();
    message.reply.refused |= is_refused(reason);
    message.reply.truncated |= is_truncated(reason) || !is_refused(reason);
}

/// Reads a list of items.
pub(super) fn output<'t>(message: &mut Message<'t>, text: &'t str) {
    let items: Vec<&RawValue> = message.part(text, "a list of output items").unwrap_or_default();
    items.into_iter().for_each(|one| item(message, one.get()));
}

/// Reads one item.
pub(super) fn item<'t>(message: &mut Message<'t>, text: &'t str) {
    let Some(read) = message.part::<Item<'_>>(text, "an output item") else { return };
    match read.kind.as_deref() {
        Some("function_call") => {
            let id = read.call_id.or(read.id);
            message.call(id, read.name.unwrap_or_default(), arguments_of(read.arguments));
        }
        Some("reasoning") => {
            let mut list = |list: Option<&'t RawValue>| {
                let list = list.filter(|list| starts(list) == b'[' && is_said(Some(list)));
                let texts: Option<Vec<Summary>> = list.and_then(|list| message.part(list.get(), "a list of texts"));
                texts.into_iter().flatten().for_each(|one| message.thinking(one.text));
            };
            list(read.summary);
            list(read.content);
        }
        Some("message") => content(message, read.content),
        None if read.role.is_some() => content(message, read.content),
        kind => message.other(kind.unwrap_or("item")),
    }
}
