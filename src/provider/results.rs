//! Results: how does a provider want to hear that a call was not carried out?
//!
//! In: the provider, the id and the name of a call, and why it did not count, in words for a model.
//! Out: what answers the call, in the provider's own form.
//! Never: decides whether a call counts, or words the reason.

use super::Provider;
use crate::value::{Value, value};

/// The answer to one call.
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
