//! Chunks: which reply do the chunks of a stream make?
//!
//! In: the chunks or events of a provider, in order.
//! Out: what each adds to the text and to the arguments of calls; in the end the [`Reply`].
//! Never: depends on how the provider cuts a text, a name or arguments.
//!
//! A stream may write several parts at once, each under a number, and the numbers may jump. Parts are sorted by them, as in
//! the whole message; one that comes when a later text has already been passed on is put behind all others.

use super::anthropic::{self, ContentBlock};
use super::message::{Message, arguments_of, is_said, starts};
use super::openai::{Piece, is_refused, is_text, is_truncated};
use super::reply::BETWEEN;
use super::responses::{self, Incomplete};
use super::{Provider, Reply, ReplyPart, gemini, mcp};
use crate::diagnostic::Faults;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The number of a part: that of its item, and that within it.
pub(crate) type PartKey = (u64, u64);

/// What a chunk adds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delta {
    /// To the text that dialects read.
    Text(String),
    /// To the arguments of a call.
    Arguments(PartKey, String),
}

/// The parts of a reply that is still coming.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    parts: BTreeMap<PartKey, Coming>,
    /// Where parts are that came too late for their own place.
    moved: BTreeMap<PartKey, PartKey>,
    /// The last text that was passed on.
    last_text: Option<PartKey>,
    truncated: bool,
    refused: bool,
    ended: bool,
    /// What was added since it was last asked for.
    deltas: Vec<Delta>,
}

/// A part that is still coming.
#[derive(Debug)]
struct Coming {
    part: ReplyPart,
    /// The arguments if no more of them come.
    otherwise: Option<String>,
}

/// The numbers of the parts of a chat completion; its calls follow.
const THINKING: PartKey = (0, 0);
const TEXT: PartKey = (1, 0);
const REFUSAL: PartKey = (2, 0);
const CALLS: u64 = 3;
/// The first number of what belongs behind all that has a number.
const BEHIND: u64 = 1 << 62;
/// The first number of the texts of a reasoning item behind its summaries.
const REASONING: u64 = 1 << 32;

#[derive(Deserialize)]
struct ChatChunk<'t> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    choices: Option<Vec<ChunkChoice<'t>>>,
}

#[derive(Deserialize)]
struct ChunkChoice<'t> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<ChatDelta<'t>>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChatDelta<'t> {
    #[serde(borrow)]
    content: Option<&'t RawValue>,
    refusal: Option<String>,
    #[serde(borrow)]
    reasoning_content: Option<&'t RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'t RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'t>>>,
    #[serde(borrow)]
    function_call: Option<FunctionDelta<'t>>,
}

#[derive(Deserialize)]
struct CallDelta<'t> {
    index: Option<u64>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<FunctionDelta<'t>>,
}

#[derive(Deserialize, Default)]
struct FunctionDelta<'t> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'t RawValue>,
}

/// An event of the Responses API.
#[derive(Deserialize)]
struct ResponseEvent<'t> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    content_index: u64,
    #[serde(default)]
    summary_index: u64,
    #[serde(borrow)]
    delta: Option<&'t RawValue>,
    #[serde(borrow)]
    item: Option<&'t RawValue>,
    #[serde(borrow)]
    response: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct EndOfResponse<'t> {
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    output: Option<&'t RawValue>,
    incomplete_details: Option<Incomplete>,
}

/// An event of Anthropic.
#[derive(Deserialize)]
struct MessageEvent<'t> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    content_block: Option<ContentBlock<'t>>,
    delta: Option<BlockDelta>,
}

#[derive(Deserialize)]
struct BlockDelta {
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

impl Chunks {
    /// Takes the next chunk, and returns what it adds.
    ///
    /// # Errors
    ///
    /// What is no chunk of this provider, and an error that the API returned. The reply so far stays as it is.
    pub(crate) fn push(&mut self, provider: Provider, chunk: &str) -> Result<Vec<Delta>, Faults> {
        let chunk = chunk.trim();
        if chunk.is_empty() {
            return Ok(Vec::new());
        }
        if chunk == "[DONE]" {
            self.ended = true;
            return Ok(Vec::new());
        }
        let mut message = Message::new(provider.name(), chunk);
        match provider {
            Provider::Openai | Provider::Responses => self.openai(&mut message, chunk),
            Provider::Anthropic => self.anthropic(&mut message, chunk),
            Provider::Gemini => self.gemini(&mut message, chunk),
            Provider::Mcp => {
                mcp::message(&mut message, chunk);
                self.take_parts(&mut message, BEHIND);
                self.ended = true;
            }
        }
        message.read(|_, _| {}).into_result()?;
        Ok(std::mem::take(&mut self.deltas))
    }

    /// The reply. One whose stream has no end was cut off.
    pub(crate) fn into_reply(self) -> Reply {
        let (truncated, refused) = (self.truncated || !self.ended, self.refused);
        let whole = |coming: Coming| match coming {
            Coming { part: ReplyPart::Call { id, name, arguments }, otherwise } => {
                let arguments = if arguments.is_empty() { otherwise.unwrap_or_default() } else { arguments };
                ReplyPart::Call { id, name, arguments }
            }
            Coming { part, .. } => part,
        };
        Reply { parts: self.parts.into_values().map(whole).collect(), truncated, refused }
    }

    fn openai<'t>(&mut self, message: &mut Message<'t>, text: &'t str) {
        let Some(chunk) = message.part::<ChatChunk<'_>>(text, "a chunk of OpenAI") else { return };
        if chunk.kind.as_deref().is_some_and(|kind| kind == "error" || kind.starts_with("response.")) {
            return self.response(message, text);
        }
        if let Some(error) = chunk.error {
            return message.returned(error);
        }
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index.unwrap_or_default() > 0 {
                self.parts.entry((BEHIND, 0)).or_insert_with(|| Coming::other("choice"));
                continue;
            }
            if let Some(delta) = choice.delta {
                self.chat(message, delta);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.ended = true;
                self.truncated |= is_truncated(&reason);
                self.refused |= is_refused(&reason);
            }
        }
    }

    fn chat<'t>(&mut self, message: &mut Message<'t>, delta: ChatDelta<'t>) {
        let reasoning = [delta.reasoning_content, delta.reasoning].into_iter().flatten();
        let reasoning = reasoning
            .filter(|one| is_said(Some(one)) && starts(one) == b'"')
            .find_map(|one| message.part::<String>(one.get(), "a text"));
        reasoning.iter().for_each(|more| self.add_thinking(THINKING, more));
        match delta.content.map(|content| (starts(content), content)) {
            Some((b'[', content)) => {
                let pieces: Option<Vec<Piece<'_>>> = message.part(content.get(), "a list of content parts");
                for piece in pieces.into_iter().flatten() {
                    match (piece.text, piece.kind) {
                        (Some(text), kind) if kind.as_deref().is_none_or(is_text) => self.add_text(TEXT, &text),
                        (_, kind) => {
                            let kind = kind.unwrap_or_else(|| "part".to_owned());
                            self.parts.entry((BEHIND, 1)).or_insert_with(|| Coming::other(kind));
                        }
                    }
                }
            }
            Some((b'n', _)) | None => {}
            Some((_, content)) => {
                let more = message.part::<String>(content.get(), "a content: a text or a list of parts");
                more.iter().for_each(|more| self.add_text(TEXT, more));
            }
        }
        if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
            self.add_text(REFUSAL, &refusal);
            self.refused = true;
        }
        for call in delta.tool_calls.into_iter().flatten() {
            let key = self.key_of_call(&call);
            self.add_call(key, call.id, call.function.unwrap_or_default());
        }
        if let Some(function) = delta.function_call {
            self.add_call((CALLS, 0), None, function);
        }
    }

    /// The place of a call. Some servers give no number, or one number to several calls with ids of their own.
    fn key_of_call(&self, call: &CallDelta<'_>) -> PartKey {
        let id = call.id.as_deref().filter(|id| !id.is_empty());
        let calls = self.parts.range((CALLS, 0)..(BEHIND, 0));
        let has_id =
            |coming: &Coming| matches!(&coming.part, ReplyPart::Call { id: Some(own), .. } if Some(own.as_str()) == id);
        let other_id = |coming: &Coming| matches!(&coming.part, ReplyPart::Call { id: Some(own), .. } if !own.is_empty() && id.is_some_and(|id| id != own));
        let last = calls.clone().next_back();
        match call.index {
            Some(index) => {
                let first = CALLS.saturating_add(index.min(BEHIND / 2));
                let mut own = self.parts.range((first, 0)..=(first, u64::MAX));
                let (last, known) = (own.clone().next_back(), own.find(|(_, coming)| has_id(coming)));
                match (known, last) {
                    (Some((key, _)), _) => *key,
                    (None, Some((key, coming))) if other_id(coming) => (first, key.1 + 1),
                    (None, Some((key, _))) => *key,
                    (None, None) => (first, 0),
                }
            }
            None => match (calls.clone().find(|(_, coming)| has_id(coming)), last) {
                (Some((key, _)), _) => *key,
                (None, Some((key, coming))) if other_id(coming) => (key.0 + 1, 0),
                (None, Some((key, _))) => *key,
                (None, None) => (CALLS, 0),
            },
        }
    }

    fn response<'t>(&mut self, message: &mut Message<'t>, text: &'t str) {
        let Some(event) = message.part::<ResponseEvent<'_>>(text, "an event of the Responses API") else { return };
        let ResponseEvent { kind, output_index, content_index, summary_index, delta, item, response } = event;
        let more = |message: &mut Message<'t>| -> String {
            delta.and_then(|delta| message.part(delta.get(), "a text")).unwrap_or_default()
        };
        match kind.as_str() {
            "response.output_text.delta" => self.add_text((output_index, content_index), &more(message)),
            "response.refusal.delta" => {
                self.add_text((output_index, content_index), &more(message));
                self.refused = true;
            }
            "response.reasoning_summary_text.delta" => {
                self.add_thinking((output_index, summary_index), &more(message));
            }
            "response.reasoning_text.delta" => {
                self.add_thinking((output_index, REASONING + content_index.min(REASONING)), &more(message));
            }
            "response.function_call_arguments.delta" => {
                let more = more(message);
                self.add_arguments((output_index, 0), &more);
            }
            "response.output_item.added" | "response.output_item.done" => {
                item.iter().for_each(|item| self.item(message, output_index, item.get()));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.ended = true;
                response.iter().for_each(|response| self.end_of_response(message, response.get()));
            }
            "error" => message.fault_in(text, "the API returned an error instead of the rest"),
            _ => {}
        }
    }

    /// Adds what an item says beyond what came of it before: when it is added, it says how a call is called.
    fn item<'t>(&mut self, message: &mut Message<'t>, index: u64, item: &'t str) {
        let before = message.reply.parts.len();
        responses::item(message, item);
        self.refused |= message.reply.refused;
        let has = |key: PartKey| self.parts.range((key.0, 0)..=(key.0, u64::MAX)).next().is_some();
        let is_new = !has((index, 0)) && !self.moved.keys().any(|key| key.0 == index);
        for (number, part) in (0..).zip(message.reply.parts.split_off(before)) {
            let key = (index, number);
            match part {
                ReplyPart::Call { id, name, arguments } => {
                    let coming = self.call(key);
                    if let ReplyPart::Call { id: own, name: known, .. } = &mut coming.part {
                        (*own, *known) = (id, name);
                    }
                    coming.otherwise = Some(arguments);
                }
                ReplyPart::Text { text } if is_new => self.add_text(key, &text),
                ReplyPart::Thinking { text } if is_new => self.add_thinking(key, &text),
                ReplyPart::Other { kind } if is_new => drop(self.at(key, || Coming::other(kind))),
                _ => {}
            }
        }
    }

    fn end_of_response<'t>(&mut self, message: &mut Message<'t>, response: &'t str) {
        let Some(end) = message.part::<EndOfResponse<'_>>(response, "a response of OpenAI") else { return };
        end.error.iter().for_each(|error| message.returned(error));
        end.incomplete_details.iter().for_each(|details| responses::incomplete(message, details));
        self.truncated |= message.reply.truncated;
        self.refused |= message.reply.refused;
        if let Some(output) = end.output.filter(|_| self.parts.is_empty()) {
            let items: Vec<&RawValue> = message.part(output.get(), "a list of output items").unwrap_or_default();
            (0..).zip(items).for_each(|(index, item)| self.item(message, index, item.get()));
        }
    }

    fn anthropic<'t>(&mut self, message: &mut Message<'t>, text: &'t str) {
        let Some(event) = message.part::<MessageEvent<'_>>(text, "an event of Anthropic") else { return };
        let key = (event.index, 0);
        match event.kind.as_str() {
            "content_block_start" => event.content_block.into_iter().for_each(|block| self.begin(key, block)),
            "content_block_delta" => {
                let Some(delta) = event.delta else { return };
                delta.text.iter().for_each(|more| self.add_text(key, more));
                delta.thinking.iter().for_each(|more| self.add_thinking(key, more));
                delta.partial_json.iter().for_each(|more| self.add_arguments(key, more));
            }
            "message_delta" => {
                let reason = event.delta.and_then(|delta| delta.stop_reason).unwrap_or_default();
                self.ended |= !reason.is_empty();
                self.truncated |= anthropic::is_truncated(&reason);
                self.refused |= reason == anthropic::REFUSAL;
            }
            "message_stop" => self.ended = true,
            "error" => match event.error {
                Some(error) => message.returned(error),
                None => message.fault_in(text, "the API returned an error instead of the rest"),
            },
            "message_start" | "content_block_stop" | "ping" => {}
            // New kinds of events may come at any time.
            _ => {}
        }
    }

    fn begin(&mut self, key: PartKey, block: ContentBlock<'_>) {
        match block.kind.as_str() {
            "text" => self.add_text(key, &block.text),
            "thinking" => self.add_thinking(key, &block.thinking),
            "redacted_thinking" => {}
            "tool_use" => {
                let coming = self.call(key);
                if let ReplyPart::Call { id, name, .. } = &mut coming.part {
                    (*id, *name) = (block.id, block.name);
                }
                coming.otherwise = Some(arguments_of(block.input));
            }
            kind => drop(self.at(key, || Coming::other(kind))),
        }
    }

    fn gemini<'t>(&mut self, message: &mut Message<'t>, text: &'t str) {
        self.ended |= gemini::response(message, text);
        self.truncated |= message.reply.truncated;
        self.refused |= message.reply.refused;
        let last = self.parts.keys().next_back().map_or(0, |key| key.0);
        self.take_parts(message, last);
    }

    /// Adds the parts of a message behind those before it; a text goes on with the last one if that is of its kind.
    fn take_parts(&mut self, message: &mut Message<'_>, last: u64) {
        let mut last = last;
        for part in std::mem::take(&mut message.reply.parts) {
            let own = self.parts.get(&(last, 0)).map(|coming| &coming.part);
            let goes_on = matches!(
                (own, &part),
                (Some(ReplyPart::Text { .. }), ReplyPart::Text { .. })
                    | (Some(ReplyPart::Thinking { .. }), ReplyPart::Thinking { .. })
            );
            last += u64::from(own.is_some() && !goes_on);
            match part {
                ReplyPart::Text { text } => self.add_text((last, 0), &text),
                ReplyPart::Thinking { text } => self.add_thinking((last, 0), &text),
                ReplyPart::Call { id, name, arguments } => {
                    let coming = self.call((last, 0));
                    if let ReplyPart::Call { id: own, name: known, .. } = &mut coming.part {
                        (*own, *known) = (id, name);
                    }
                    self.add_arguments((last, 0), &arguments);
                }
                other => drop(self.parts.insert((last, 0), Coming { part: other, otherwise: None })),
            }
        }
    }

    fn add_text(&mut self, key: PartKey, more: &str) {
        if more.is_empty() {
            return;
        }
        let (key, coming) = self.at(key, || Coming::of(ReplyPart::Text { text: String::new() }));
        if let ReplyPart::Text { text } | ReplyPart::Thinking { text } = &mut coming.part {
            text.push_str(more);
        }
        let before = self.last_text.filter(|before| *before < key);
        let apart = before.is_some_and(|before| {
            let mut between = self.parts.range((Bound::Excluded(before), Bound::Excluded(key)));
            between.any(|(_, coming)| !matches!(coming.part, ReplyPart::Text { .. }))
        });
        self.last_text = self.last_text.max(Some(key));
        self.deltas.push(Delta::Text(format!("{}{more}", if apart { BETWEEN } else { "" })));
    }

    fn add_thinking(&mut self, key: PartKey, more: &str) {
        if more.is_empty() {
            return;
        }
        let (_, coming) = self.at(key, || Coming::of(ReplyPart::Thinking { text: String::new() }));
        if let ReplyPart::Text { text } | ReplyPart::Thinking { text } = &mut coming.part {
            text.push_str(more);
        }
    }

    /// Adds to a call: a name that comes with an id that is known already is said again, and does not go on.
    fn add_call(&mut self, key: PartKey, more_id: Option<String>, function: FunctionDelta<'_>) {
        let more_id = more_id.filter(|id| !id.is_empty());
        if let ReplyPart::Call { id, name, .. } = &mut self.call(key).part {
            let again = id.is_some() && *id == more_id;
            match function.name {
                Some(whole) if again && !whole.is_empty() => *name = whole,
                Some(more) => name.push_str(&more),
                None => {}
            }
            *id = std::mem::take(id).or(more_id);
        }
        self.add_arguments(key, &arguments_of(function.arguments));
    }

    fn add_arguments(&mut self, key: PartKey, more: &str) {
        if more.is_empty() {
            return;
        }
        let (key, coming) = self.at(key, Coming::call);
        if let ReplyPart::Call { arguments, .. } = &mut coming.part {
            arguments.push_str(more);
            self.deltas.push(Delta::Arguments(key, more.to_owned()));
        }
    }

    fn call(&mut self, key: PartKey) -> &mut Coming {
        self.at(key, Coming::call).1
    }

    /// The part at this place, and where it is: behind all others if texts behind it have been passed on, and it would be
    /// a text, or between two of them.
    fn at(&mut self, key: PartKey, new: impl FnOnce() -> Coming) -> (PartKey, &mut Coming) {
        let mut key = self.moved.get(&key).copied().unwrap_or(key);
        if !self.parts.contains_key(&key) && self.last_text.is_some_and(|last| key < last) {
            let is_text = |coming: &Coming| matches!(coming.part, ReplyPart::Text { .. });
            let coming = new();
            let parts_texts = self.parts.range(..key).any(|(_, coming)| is_text(coming));
            if is_text(&coming) || parts_texts {
                let last = self.parts.keys().next_back().map_or(0, |last| last.0).max(BEHIND);
                self.moved.insert(key, (last + 1, 0));
                key = (last + 1, 0);
            }
            return (key, self.parts.entry(key).or_insert(coming));
        }
        (key, self.parts.entry(key).or_insert_with(new))
    }
}

impl Coming {
    fn of(part: ReplyPart) -> Self {
        Self { part, otherwise: None }
    }

    fn call() -> Self {
        Self::of(ReplyPart::Call { id: None, name: String::new(), arguments: String::new() })
    }

    fn other(kind: impl Into<String>) -> Self {
        Self::of(ReplyPart::Other { kind: kind.into() })
    }
}
