//! Message: is this a message of the protocol that every reader understands alike?
//!
//! In: a message as JSON, in which no key is repeated.
//! Out: [`MessageFault`]: why it is not passed on; none for a message that may pass.
//! Never: judges a call, or refuses a method only because it does not know it.

use crate::unique::folded;
use serde_json::{Map, Value};

/// The method of a call of a tool.
pub(super) const CALL: &str = "tools/call";

/// The members of a message.
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The members of a call that say what runs.
const OF_CALL: [&str; 3] = ["name", "arguments", "_meta"];

/// Why a message is not passed on, and the code of JSON-RPC for that.
#[derive(Debug)]
pub(super) struct MessageFault {
    pub(super) code: i64,
    pub(super) why: String,
}

impl MessageFault {
    fn new(code: i64, why: impl Into<String>) -> Option<Self> {
        Some(Self { code, why: why.into() })
    }
}

/// Why a message of either side is not passed on.
pub(super) fn fault(message: &Value) -> Option<MessageFault> {
    let Value::Object(members) = message else {
        return MessageFault::new(-32600, "a message is one JSON object; send those of a batch one by one");
    };
    if let Some(why) = near(members, &MEMBERS) {
        return MessageFault::new(-32600, why);
    }
    let is_answer = members.contains_key("result") || members.contains_key("error");
    match members.get("method") {
        Some(Value::String(_)) if is_answer => {
            MessageFault::new(-32600, "a message is a request or an answer, but this one has a `method` and an answer")
        }
        Some(Value::String(_)) => None,
        Some(_) => MessageFault::new(-32600, "this is no message of the protocol: `method` is a text"),
        None if is_answer => None,
        None => MessageFault::new(-32600, "this is no message of the protocol: it has no `method`, and is no answer"),
    }
}

/// Why a message of the client, which has no [`fault`], is not passed on: the server might take it for another call
/// than the one that is judged, or for a call although none is judged.
pub(super) fn fault_of_client(message: &Value) -> Option<MessageFault> {
    let method = message.get("method")?.as_str()?;
    if method == CALL {
        let members = message.get("params")?.as_object()?;
        return near(members, &OF_CALL).and_then(|why| MessageFault::new(-32602, why));
    }
    if folded(method) == folded(CALL) {
        return MessageFault::new(-32601, format!("the method is `{CALL}`"));
    }
    // The protocol has no other methods. Letters that only look like these are not those of `tools/call`.
    if !method.bytes().all(|byte| byte.is_ascii_graphic()) {
        return MessageFault::new(-32601, "the name of a method consists of letters, digits and marks of ASCII");
    }
    None
}

/// Says which member is nearly one of those that are known: some readers do not compare the case of letters.
fn near(members: &Map<String, Value>, known: &[&str]) -> Option<String> {
    members.keys().find_map(|key| {
        let name = known.iter().find(|name| key != *name && folded(key) == folded(name))?;
        Some(format!("the member {key:?} is nearly `{name}`, and some readers take it for that"))
    })
}
