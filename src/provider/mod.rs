//! Provider: what did a model answer through an API, and what does the API want to hear back?
//!
//! In: messages of OpenAI, Anthropic, Gemini and MCP, whole or in chunks.
//! Out: [`Reply`], their common form; what answers a call that was not carried out, in the provider's own form.
//! Never: judges anything, or sends anything.
//!
//! What a message says besides its parts, such as usage or signatures, is none of a reply: the host keeps the message.

mod anthropic;
mod chunks;
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
pub(crate) use reply::Layout;
pub use reply::{Reply, ReplyPart};
pub(crate) use results::result;

use crate::diagnostic::Checked;
use message::Message;
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
    /// All of them.
    #[doc(hidden)]
    pub const ALL: [Provider; 5] =
        [Provider::Openai, Provider::Responses, Provider::Anthropic, Provider::Gemini, Provider::Mcp];

    /// Its name in cases, on the command line and in JSON.
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

    /// A whole message of this provider.
    #[doc(hidden)]
    pub fn reply(self, message: &str) -> Checked<Reply> {
        match self {
            Provider::Openai | Provider::Responses => Reply::from_openai(message),
            Provider::Anthropic => Reply::from_anthropic(message),
            Provider::Gemini => Reply::from_gemini(message),
            Provider::Mcp => Reply::from_mcp(message),
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Reply {
    /// A message of OpenAI or a compatible server: a chat completion or its `message`, a response of the Responses API or its
    /// `output`.
    ///
    /// `content` is text, `reasoning_content` and `reasoning` are thinking, and so are summaries of reasoning items. `length`
    /// and `max_output_tokens` mean truncated; a `refusal`, which is text, and `content_filter` mean refused. Of several
    /// choices the first counts. Shapes: `chat/object` and `responses/object` of OpenAI's API reference, and what vLLM and
    /// OpenRouter add.
    ///
    /// ```
    /// use rulebook::{Folder, Program, Reply};
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
    /// let reply = Reply::from_openai(r#"{"role": "assistant", "content": "Let me look.", "tool_calls": [{"id": "call_1",
    ///     "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}}]}"#);
    /// let outcome = program.judge(&program.session(), &reply.into_result()?, &Default::default());
    /// assert_eq!((outcome.message.as_str(), outcome.effects.len()), ("Let me look.", 1));
    /// assert_eq!(outcome.calls[0].id.as_deref(), Some("call_1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// What is no such message is an error of the result, with its place; so is an error that the API returned.
    #[must_use]
    pub fn from_openai(message: &str) -> Checked<Reply> {
        Message::new("openai", message).read(openai::message)
    }

    /// A message of Anthropic's Messages API: its `content` in order.
    ///
    /// `thinking` is thinking; `redacted_thinking` has nothing to read. `max_tokens` and `model_context_window_exceeded` mean
    /// truncated, `refusal` means refused. Shapes: `api/messages` of Anthropic's documentation.
    ///
    /// What is no such message is an error of the result, with its place; so is an error that the API returned.
    #[must_use]
    pub fn from_anthropic(message: &str) -> Checked<Reply> {
        Message::new("anthropic", message).read(anthropic::message)
    }

    /// A response of the Gemini API, or the list of responses of a stream: the `parts` of the first candidate in order.
    ///
    /// A text with `thought` is thinking. `MAX_TOKENS` means truncated; a reason that names a filter, such as `SAFETY`, and a
    /// prompt that was blocked mean refused. Shapes: `GenerateContentResponse` of Google's API reference.
    ///
    /// What is no such response is an error of the result, with its place; so is an error that the API returned.
    #[must_use]
    pub fn from_gemini(message: &str) -> Checked<Reply> {
        Message::new("gemini", message).read(gemini::message)
    }

    /// A `tools/call` request of the Model Context Protocol, or its `params`: one call, with the id of the request.
    ///
    /// Shapes: `server/tools` of the protocol's specification.
    ///
    /// What is no such request is an error of the result, with its place.
    #[must_use]
    pub fn from_mcp(message: &str) -> Checked<Reply> {
        Message::new("mcp", message).read(mcp::message)
    }
}
