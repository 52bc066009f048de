//! Ending: did a reply end because the model had finished it?
//!
//! In: the reason that a provider gives, or the status of a response.
//! Out: [`Ending`].
//! Never: looks at what the reply contains.
//!
//! Servers that imitate an API, and proxies in front of one, pass on the words of another, in any case: one list has
//! those of all. The words are those of the API references of OpenAI, Anthropic and Google, of vLLM, SGLang, Text
//! Generation Inference, Cohere, Mistral and DeepSeek.

/// What the reason for the end of a reply says about the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The provider gives no reason.
    Unsaid,
    /// The model finished it.
    Whole,
    /// The model ran out of tokens.
    Cut,
    /// The model refused, or a filter of the provider stopped it.
    Refused,
    /// The provider could not read the calls, or rejected them.
    Broken,
    /// Something else, which may have cut the reply off.
    Unknown,
}

impl Ending {
    pub(super) fn of(reason: &str) -> Self {
        match reason.to_ascii_lowercase().as_str() {
            "" | "finish_reason_unspecified" => Ending::Unsaid,
            "stop" | "tool_calls" | "tool_call" | "function_call" | "tool_use" | "end_turn" | "stop_sequence"
            | "pause_turn" | "eos" | "eos_token" | "complete" | "completed" => Ending::Whole,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "max_length"
            | "model_length"
            | "model_context_window_exceeded" => Ending::Cut,
            "refusal"
            | "content_filter"
            | "safety"
            | "recitation"
            | "language"
            | "blocklist"
            | "prohibited_content"
            | "spii"
            | "model_armor"
            | "image_safety"
            | "image_prohibited_content"
            | "image_recitation" => Ending::Refused,
            "malformed_function_call"
            | "malformed_response"
            | "missing_thought_signature"
            | "too_many_tool_calls"
            | "unexpected_tool_call"
            | "image_other"
            | "no_image"
            | "other" => Ending::Broken,
            _ => Ending::Unknown,
        }
    }
}
