//! MCP: which call does a request ask for?
//!
//! In: a `tools/call` request, or its `params`.
//! Out: a reply that is one call.
//! Never: reads a request of another method.

use super::message::ReplyMessage;
use super::raw::Raw;
use crate::diagnostic::{message, quote};

/// Reads a request.
pub(super) fn message<'t>(message: &mut ReplyMessage<'t>, request: Raw<'t>) {
    if !message.is_object(request, "a `tools/call` request") {
        return;
    }
    if let Some(method) = message.text_member(request, "method").filter(|method| method != "tools/call") {
        let why = message!("the method is `{}`, and only `tools/call` asks for a tool", quote(method, 60));
        return message.fault_in(request, why);
    }
    let Some(params) = request.get("params").or_else(|| request.get("name").map(|_| request)) else {
        return message.fault_in(request, "this has no `params`, so it is no `tools/call` request");
    };
    let Some(name) = message.text_member(params, "name") else {
        return message.fault_in(params, "this names no tool");
    };
    let id = request.get("id").map(Raw::arguments);
    message.call_of(id, name, params, "arguments");
}
