//! Provider: what did a model answer through an API, and in which form does the API expect results?
//!
//! In: messages of OpenAI, Anthropic, Gemini and MCP, whole or in chunks.
//! Out: [`Reply`], their common form; the result of a call that was not carried out, in the provider's own form.
//! Never: judges anything, or sends anything.
//!
//! Other members of a message, such as usage or signatures, are not in a reply: the host has the message.

mod anthropic;
mod chunks;
mod ending;
mod gemini;
mod mcp;
mod message;
mod openai;
mod raw;
mod recorded;
mod reply;
mod responses;
mod results;

#[cfg(test)]
mod tests;

pub(crate) use chunks::{Chunks, Delta, PartKey};
pub(crate) use recorded::chunks;
pub(crate) use reply::ReplyLayout;
pub use reply::{Reply, ReplyPart};
pub(crate) use results::result;

use crate::diagnostic::Checked;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The API through which a model answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI and compatible servers: chat completions.
    Openai,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// The Model Context Protocol: a `tools/call` request.
    Mcp,
}

impl Provider {
    /// All providers.
    #[doc(hidden)]
    pub const ALL: [Provider; 5] =
        [Provider::Openai, Provider::Responses, Provider::Anthropic, Provider::Gemini, Provider::Mcp];

    /// The name in cases, on the command line and in JSON.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Provider::Openai => "openai",
            Provider::Responses => "responses",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Mcp => "mcp",
        }
    }

    /// The provider of this name, if there is one.
    #[doc(hidden)]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Reply {
    /// Reads what an API returned: the body of its answer, unchanged.
    ///
    /// | provider | takes | truncated | refused |
    /// |---|---|---|---|
    /// | `Openai`, `Responses` | a chat completion or its `message`; a response of the Responses API or its `output` | `length`, `max_output_tokens` | `refusal`, `content_filter` |
    /// | `Anthropic` | a message of the Messages API | `max_tokens`, `model_context_window_exceeded` | `refusal` |
    /// | `Gemini` | a response, or the list of responses of a stream | `MAX_TOKENS` | a reason that names a filter, a blocked prompt |
    /// | `Mcp` | a `tools/call` request or its `params` | | |
    ///
    /// Texts, reasoning and calls are read in their order; of several choices or candidates the first counts. The two
    /// APIs of OpenAI are distinguished by what they return. `reasoning_content`, `reasoning` and the summaries of
    /// reasoning items are thinking, and so are `thinking` and a text with `thought`; `redacted_thinking` has nothing
    /// to read. A `refusal` of OpenAI is text. The words for the ends are understood from all providers, in any case; a
    /// reason that is not known is the `reason` of a truncated reply. Shapes: the API references of OpenAI (`chat/object`,
    /// `responses/object`), with what vLLM and OpenRouter add, of Anthropic (`api/messages`) and of Google
    /// (`GenerateContentResponse`), and `server/tools` of the specification of MCP.
    ///
    /// ```
    /// use rulebook::{Folder, Program, Provider, Reply};
    ///
    /// let pack = r#"
    /// [pack]
    /// name = "weather"
    /// [modes.chat]
    /// permits = ["get_weather"]
    /// [actions.get_weather]
    /// params = { city = { type = "string", required = true } }
    /// effects = [{ emit = "weather", value = "{{ params.city }}" }]
    /// "#;
    /// let program = Program::load(&Folder::new("weather", [("pack.toml", pack)])).into_result()?;
    /// let reply = Reply::read(Provider::Openai, r#"{"role": "assistant", "content": "Let me look.", "tool_calls": [{"id":
    ///     "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}}]}"#);
    /// let outcome = program.judge(&program.session(), &reply.into_result()?, &Default::default());
    /// assert_eq!((outcome.message.as_str(), outcome.effects.len()), ("Let me look.", 1));
    /// assert_eq!(outcome.calls[0].id.as_deref(), Some("call_1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A text that is no such message is an error of the result, with its place; so is an error that the API
    /// returned.
    #[must_use]
    pub fn read(provider: Provider, message: &str) -> Checked<Reply> {
        match provider {
            Provider::Openai | Provider::Responses => message::read("openai", message, openai::message),
            Provider::Anthropic => message::read("anthropic", message, anthropic::message),
            Provider::Gemini => message::read("gemini", message, gemini::message),
            Provider::Mcp => message::read("mcp", message, mcp::message),
        }
    }
}
