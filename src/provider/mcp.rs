//! MCP: which call does a request ask for?
//!
//! In: a `tools/call` request, or its `params`.
//! Out: a reply that is one call.
//! Never: reads a request of another method.

use super::message::{Message, arguments_of, starts};
use crate::diagnostic::{message, quote};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Request<'t> {
    #[serde(borrow)]
    id: Option<&'t RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'t RawValue>,
    name: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct Params<'t> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'t RawValue>,
}

/// Reads a request.
pub(super) fn message<'t>(message: &mut Message<'t>, text: &'t str) {
    const WHAT: &str = "a `tools/call` request";
    let Some(request) = message.part::<Request<'_>>(text, WHAT) else { return };
    if let Some(method) = request.method.filter(|method| method != "tools/call") {
        let why = message!("the method is `{}`, and only `tools/call` asks for a tool", quote(method, 60));
        return message.fault_in(text, why);
    }
    let params = match (request.params, request.name) {
        (Some(params), _) => params.get(),
        (None, Some(_)) => text,
        (None, None) => return message.fault_in(text, "this has no `params`, so it is no `tools/call` request"),
    };
    let id = request.id.filter(|id| starts(id) != b'n').map(|id| arguments_of(Some(id)));
    if let Some(Params { name, arguments }) = message.part(params, "the `params` of a `tools/call` request") {
        message.call(id, name, arguments_of(arguments));
    }
}
