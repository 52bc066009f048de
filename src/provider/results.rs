//! Results: in which form does a provider expect the result of a call that was not carried out?
//!
//! In: the provider, the id and the name of a call, and why it did not count, in words for a model.
//! Out: the result of the call, in the provider's own form.
//! Never: decides whether a call counts, or writes the reason.

use super::Provider;
use crate::value::{Value, value};

/// The result of one call.
pub(crate) fn result(provider: Provider, id: Option<&str>, name: &str, why: &str) -> Value {
    match provider {
        Provider::Openai => value!({ "role": "tool", "tool_call_id": id, "content": why }),
        Provider::Responses => value!({ "type": "function_call_output", "call_id": id, "output": why }),
        Provider::Anthropic => {
            value!({ "type": "tool_result", "tool_use_id": id, "content": why, "is_error": true })
        }
        Provider::Gemini => {
            let mut response = value!({ "name": name, "response": { "error": why } });
            if let (Some(id), Value::Object(members)) = (id, &mut response) {
                members.insert("id", id.into());
            }
            value!({ "functionResponse": response })
        }
        Provider::Mcp => value!({ "content": [{ "type": "text", "text": why }], "isError": true }),
    }
}
