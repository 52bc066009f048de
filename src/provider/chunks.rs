//! Chunks: which reply do the chunks of a stream make?
//!
//! In: the chunks or events of a provider, in order.
//! Out: what each adds to the text and to the arguments of calls; in the end the [`Reply`].
//! Never: depends on how the provider cuts a text, a name or arguments.
//!
//! A stream may write several parts at once, each under a number, and the numbers may jump. Parts are sorted by
//! number, as in the whole message; a part that arrives after a later text has been passed on, or the rest of such a
//! text, is put after all others.

use super::anthropic;
use super::ending::Ending;
use super::message::{self, ReplyMessage, is_complete};
use super::openai::reasoning;
use super::raw::Raw;
use super::reply::BETWEEN;
use super::{Provider, Reply, ReplyPart, gemini, mcp, openai, responses};
use crate::diagnostic::Faults;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The number of a part: that of its item, and that within the item.
pub(crate) type PartKey = (u64, u64);

/// What a chunk adds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delta {
    /// To the text that dialects read.
    Text(String),
    /// To a piece of reasoning.
    Thinking(PartKey, String),
    /// To the arguments of a call.
    Arguments(PartKey, String),
}

/// The parts of a reply that is still arriving.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    parts: BTreeMap<PartKey, PartialPart>,
    /// The new numbers of parts that arrived too late for their own place.
    moved: BTreeMap<PartKey, PartKey>,
    /// The kinds of what nothing reads and has no number; they come last.
    others: BTreeSet<String>,
    /// The last text that was passed on.
    last_text: Option<PartKey>,
    /// Whether it is the words of a refusal.
    last_refuses: bool,
    truncated: bool,
    refused: bool,
    /// The provider's word for why the reply ended, if it is not that the tokens ran out.
    reason: Option<String>,
    /// Whether the provider rejects the calls of the reply.
    broken: bool,
    /// The status of an item that is not complete.
    item_status: Option<String>,
    /// Whether the provider says that the stream ended.
    ended: bool,
    /// Whether it says why.
    explained: bool,
    /// Whether the API has parsed the arguments in a whole message.
    parsed: bool,
    /// Whether an earlier chunk ended the stream: a call that still arrives is none of the reply.
    over: bool,
    /// Whether it was `[DONE]`.
    done: bool,
    /// Whether the stream is one of the Responses API.
    events: bool,
    /// The numbers of items that have begun.
    seen: BTreeSet<u64>,
    /// Additions that have not been returned yet.
    deltas: Vec<Delta>,
}

/// A part that is still arriving.
#[derive(Debug)]
struct PartialPart {
    part: ReplyPart,
    /// The arguments to use if no more of them arrive.
    otherwise: Option<String>,
    /// How much of the arguments of a call has arrived.
    arrival: Arrival,
}

/// How much of the arguments of a call has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Arrival {
    /// As much as there is: nothing marks the end of the arguments.
    #[default]
    Unmarked,
    /// The event that ends the call is still to come.
    Open,
    /// All that the provider has; if it was cut off, so may they be.
    Ended,
    /// Not all, says the provider.
    Partial,
}

/// The numbers of the parts of a chat completion; its calls follow.
const THINKING: PartKey = (0, 0);
const TEXT: PartKey = (1, 0);
const REFUSAL: PartKey = (2, 0);
/// That of the deprecated member `function_call`.
const FUNCTION: PartKey = (2, 1);
const CALLS: u64 = 3;
/// What a call is called that arrives when the stream has ended.
const LATE: &str = "call after the end";
/// The first number for parts that are placed after all numbered ones.
const BEHIND: u64 = 1 << 62;
/// The first number for the texts of a reasoning item, which come after its summaries.
const REASONING: u64 = 1 << 32;

impl Chunks {
    /// Takes the next chunk, and returns what it adds.
    ///
    /// # Errors
    ///
    /// A text that is no chunk of this provider, and an error that the API returned. What could be read of the chunk
    /// counts, and is returned with the next chunk.
    pub(crate) fn push(&mut self, provider: Provider, chunk: &str) -> Result<Vec<Delta>, Faults> {
        let chunk = chunk.trim();
        if chunk == "[DONE]" {
            (self.ended, self.over, self.done) = (true, true, true);
        }
        if chunk.is_empty() || chunk == "[DONE]" {
            return Ok(Vec::new());
        }
        self.parsed = matches!(provider, Provider::Anthropic | Provider::Gemini);
        let read = message::read(provider.name(), chunk, |message, chunk| {
            match provider {
                Provider::Openai | Provider::Responses => self.openai(message, chunk),
                Provider::Anthropic => self.anthropic(message, chunk),
                Provider::Gemini => {
                    self.ended |= gemini::response(message, chunk);
                    self.explained |= self.ended;
                    self.take_parts(message);
                }
                Provider::Mcp => {
                    mcp::message(message, chunk);
                    self.ended |= !message.reply.parts.is_empty();
                    self.explained |= self.ended;
                    self.take_parts(message);
                }
            }
            self.truncated |= message.reply.truncated;
            self.refused |= message.reply.refused;
            self.broken |= message.broken;
            if let Some(reason) = message.reply.reason.take() {
                self.reason = Some(reason);
            }
        });
        // Gemini may give the reason in each of its chunks, and MCP has one request in each.
        self.over |= self.ended && !matches!(provider, Provider::Gemini | Provider::Mcp);
        read.into_result()?;
        Ok(std::mem::take(&mut self.deltas))
    }

    /// The reply. If the stream has no end, it was cut off.
    pub(crate) fn into_reply(self) -> Reply {
        let (mut truncated, refused, mut reason) = (self.truncated || !self.ended, self.refused, self.reason);
        if !truncated && !refused && self.item_status.is_some() {
            (truncated, reason) = (true, self.item_status);
        }
        let mut unfinished = Vec::new();
        let (mut number, mut last, mut ids) = (0, Arrival::default(), BTreeSet::new());
        // A server that still has the deprecated member beside `tool_calls` repeats one of them.
        let is_call = |coming: &PartialPart| matches!(coming.part, ReplyPart::Call { .. });
        let is_repeated = self.parts.iter().any(|(key, coming)| *key != FUNCTION && is_call(coming));
        let mut parts = Vec::with_capacity(self.parts.len() + self.others.len());
        for (key, coming) in self.parts {
            let PartialPart { mut part, otherwise, arrival } = coming;
            if key == FUNCTION && is_repeated && matches!(part, ReplyPart::Call { .. }) {
                part = ReplyPart::Other { kind: openai::FUNCTION_CALL.to_owned() };
            }
            if let ReplyPart::Call { id, .. } = &part
                && let Some(repeated) = message::repeated(&mut ids, id.as_deref())
            {
                part = repeated;
            }
            if let ReplyPart::Call { arguments, .. } = &mut part {
                if arguments.is_empty() {
                    // The start of a call has an empty object in the place of arguments that are still to come.
                    let is_placeholder = |text: &String| arrival == Arrival::Open && text.trim() == "{}";
                    *arguments = otherwise.filter(|text| !is_placeholder(text)).unwrap_or_default();
                }
                let is_doubtful = !self.explained || arrival == Arrival::Open;
                if self.broken || arrival == Arrival::Partial || (is_doubtful && !is_complete(arguments)) {
                    unfinished.push(number);
                }
                last = arrival;
                number += 1;
            }
            parts.push(part);
        }
        parts.extend(self.others.into_iter().map(|kind| ReplyPart::Other { kind }));
        let mut reply = Reply { parts, truncated, refused, reason, unfinished };
        // As in the whole message: where the API parses arguments, they are valid JSON even if the model was cut off. If
        // the stream only broke off, the event that ends a call says that it is whole.
        if self.parsed && (truncated || refused) && (self.explained || last == Arrival::Unmarked) {
            reply.unfinished.extend(reply.last_call());
            reply.unfinished.dedup();
        }
        reply
    }

    /// Records something that has arrived and that nothing reads.
    pub(crate) fn note_other(&mut self, kind: &str) {
        if !self.others.contains(kind) {
            self.others.insert(kind.to_owned());
        }
    }

    /// How many calls come before this one; `None` if a part before it may still arrive.
    pub(crate) fn number_of(&self, provider: Provider, key: PartKey) -> Option<usize> {
        let first = match provider {
            Provider::Openai if !self.events => CALLS,
            Provider::Openai | Provider::Responses | Provider::Anthropic => 0,
            Provider::Gemini | Provider::Mcp => key.0,
        };
        let is_known = |number: u64| self.seen.contains(&number);
        if key == FUNCTION || !(first..key.0).all(is_known) {
            return None;
        }
        let (mut ids, mut before) = (BTreeSet::new(), 0);
        for (at, coming) in self.parts.range(..=key) {
            let ReplyPart::Call { id, .. } = &coming.part else { continue };
            let is_new = message::repeated(&mut ids, id.as_deref()).is_none();
            if *at == key {
                return is_new.then_some(before);
            }
            before += usize::from(is_new && *at != FUNCTION);
        }
        Some(before)
    }

    fn openai<'t>(&mut self, message: &mut ReplyMessage<'t>, chunk: Raw<'t>) {
        if !message.is_object(chunk, "a chunk of OpenAI") {
            return;
        }
        let kind = message.text_member(chunk, "type").unwrap_or_default();
        if kind == "error" || kind.starts_with("response.") {
            self.events = true;
            return self.response(message, chunk, &kind);
        }
        if let Some(error) = chunk.get("error") {
            return message.returned(error);
        }
        if chunk.get("choices").is_none() && chunk.get("usage").is_none() && chunk.get("id").is_none() {
            return message.fault_in(chunk, "this has no `choices`, so it is no chunk of OpenAI");
        }
        for choice in message.list(chunk, "choices") {
            if choice.get("index").and_then(Raw::number).unwrap_or_default() > 0 {
                self.note_other("another choice");
                continue;
            }
            let reason = message.text_member(choice, "finish_reason").unwrap_or_default();
            // Some servers give the reason in each chunk, so that the last one counts.
            self.over &= self.done || Ending::of(&reason) == Ending::Unsaid;
            if let Some(delta) = choice.get("delta") {
                self.chat(message, delta);
            } else if let Some(text) = message.text_member(choice, "text") {
                self.add_text(TEXT, &text);
            } else if choice.get("message").is_some() {
                message.fault_in(choice, "this choice has a whole `message`, which is no chunk");
            }
            self.end(message, &reason);
        }
    }

    /// Notes why the provider says that the reply ended.
    fn end(&mut self, message: &mut ReplyMessage<'_>, reason: &str) {
        if Ending::of(reason) != Ending::Unsaid {
            (self.ended, self.explained) = (true, true);
            message.end(reason);
            message.reply.others().for_each(|kind| self.note_other(kind));
            message.reply.parts.clear();
        }
    }

    fn chat<'t>(&mut self, message: &mut ReplyMessage<'t>, delta: Raw<'t>) {
        let more = reasoning(message, delta).unwrap_or_default();
        self.add_thinking(THINKING, &more);
        openai::content(message, delta);
        for part in std::mem::take(&mut message.reply.parts) {
            match part {
                ReplyPart::Text { text } => self.add_text(TEXT, &text),
                ReplyPart::Thinking { text } => self.add_thinking(THINKING, &text),
                ReplyPart::Other { kind } => self.note_other(&kind),
                ReplyPart::Call { .. } => {}
            }
        }
        if let Some(refusal) = message.text_member(delta, "refusal").filter(|refusal| !refusal.is_empty()) {
            self.add_refusal(REFUSAL, &refusal);
        }
        for call in message.list(delta, "tool_calls") {
            let id = message.text_member(call, "id").filter(|id| !id.is_empty());
            let key = self.key_of_call(call.get("index").and_then(Raw::number), id.as_deref());
            match (call.get("function"), call.get("custom")) {
                (None, Some(_)) => self.note_other("custom"),
                (function, _) => self.add_call(message, key, id, function),
            }
        }
        if let Some(function) = delta.get(openai::FUNCTION_CALL) {
            self.add_call(message, FUNCTION, None, Some(function));
        }
    }

    /// The number of a call. Some servers give none, or the same one to several calls with different ids.
    fn key_of_call(&self, index: Option<u64>, id: Option<&str>) -> PartKey {
        let id_of = |coming: &'_ PartialPart| match &coming.part {
            ReplyPart::Call { id: Some(own), .. } => Some(own.clone()),
            _ => None,
        };
        let has_id = |coming: &PartialPart| id.is_some() && id_of(coming).as_deref() == id;
        let other_id = |coming: &PartialPart| id.is_some() && id_of(coming).is_some_and(|own| Some(own.as_str()) != id);
        let first = index.map(|index| CALLS.saturating_add(index.min(BEHIND / 2)));
        let of = match first {
            Some(first) => (first, 0)..=(first, u64::MAX),
            None => (CALLS, 0)..=(BEHIND, 0),
        };
        let calls = self.parts.range(of).filter(|(_, coming)| matches!(coming.part, ReplyPart::Call { .. }));
        let last = calls.clone().next_back();
        match (calls.clone().find(|(_, coming)| has_id(coming)), last) {
            (Some((key, _)), _) => *key,
            (None, Some((key, coming))) if other_id(coming) => match first {
                Some(first) => (first, key.1 + 1),
                None => (key.0 + 1, 0),
            },
            (None, Some((key, _))) => *key,
            (None, None) => (first.unwrap_or(CALLS), 0),
        }
    }

    fn response<'t>(&mut self, message: &mut ReplyMessage<'t>, event: Raw<'t>, kind: &str) {
        let number = |name: &str| event.get(name).and_then(Raw::number).unwrap_or_default().min(REASONING);
        let index = number("output_index");
        let more = message.text_member(event, "delta").unwrap_or_default();
        match kind {
            "response.output_text.delta" => self.add_text((index, number("content_index")), &more),
            "response.refusal.delta" => self.add_refusal((index, number("content_index")), &more),
            "response.reasoning_summary_text.delta" => self.add_thinking((index, number("summary_index")), &more),
            "response.reasoning_text.delta" => {
                self.add_thinking((index, REASONING + number("content_index")), &more);
            }
            "response.function_call_arguments.delta" => self.add_arguments((index, 0), &more),
            "response.output_item.added" | "response.output_item.done" => {
                self.seen.insert(index);
                let is_done = kind == "response.output_item.done";
                event.get("item").iter().for_each(|item| self.item(message, index, *item, is_done));
            }
            "response.function_call_arguments.done" => {
                let whole = message.arguments(event, "arguments");
                if let Some(coming) = self.parts.get_mut(&(index, 0)).filter(|_| !self.over) {
                    coming.otherwise = Some(whole);
                    self.end_call((index, 0));
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                (self.ended, self.explained) = (true, true);
                event.get("response").iter().for_each(|response| self.end_of_response(message, *response));
            }
            "error" => message.returned(event),
            _ => {}
        }
    }

    /// Adds what an item contains beyond the deltas before it. The event that adds an item gives the name of a call.
    fn item<'t>(&mut self, message: &mut ReplyMessage<'t>, index: u64, item: Raw<'t>, is_done: bool) {
        if is_done {
            responses::whole_item(message, item);
        } else {
            responses::item(message, item);
        }
        let is_partial = !std::mem::take(&mut message.reply.unfinished).is_empty();
        self.item_status = message.item_status.take().or(self.item_status.take());
        let is_new = self.parts.range((index, 0)..=(index, u64::MAX)).next().is_none()
            && !self.moved.keys().any(|key| key.0 == index);
        for (number, part) in (0..).zip(std::mem::take(&mut message.reply.parts)) {
            let key = (index, number);
            match part {
                ReplyPart::Call { .. } if self.over => self.note_other(LATE),
                ReplyPart::Call { id, name, arguments } => {
                    let coming = self.begin_call(key, id, name);
                    coming.otherwise = Some(arguments);
                    coming.arrival = match is_done {
                        true if is_partial => Arrival::Partial,
                        true => Arrival::Ended,
                        false => Arrival::Open,
                    };
                }
                ReplyPart::Text { text } if is_new => self.add_text(key, &text),
                ReplyPart::Thinking { text } if is_new => self.add_thinking(key, &text),
                ReplyPart::Other { kind } if is_new => drop(self.at(key, || PartialPart::other(kind))),
                _ => {}
            }
        }
    }

    fn end_of_response<'t>(&mut self, message: &mut ReplyMessage<'t>, response: Raw<'t>) {
        if let Some(error) = response.get("error") {
            message.returned(error);
        }
        responses::end(message, response);
        if self.parts.is_empty() {
            (0..).zip(message.list(response, "output")).for_each(|(index, item)| self.item(message, index, item, true));
        }
    }

    fn anthropic<'t>(&mut self, message: &mut ReplyMessage<'t>, event: Raw<'t>) {
        if !message.is_object(event, "an event of Anthropic") {
            return;
        }
        let Some(kind) = message.text_member(event, "type") else {
            return message.fault_in(event, "this has no `type`, so it is no event of Anthropic");
        };
        let index = event.get("index").and_then(Raw::number).unwrap_or_default().min(BEHIND - 1);
        let key = (index, 0);
        match (kind.as_str(), event.get("delta")) {
            ("content_block_start", _) => {
                self.seen.insert(index);
                event.get("content_block").iter().for_each(|block| self.begin(message, key, *block));
            }
            ("message_start", _) if self.ended => {
                message.fault_in(event, "another message begins after the end of the first; read each by itself");
            }
            ("message_start", _) if starts_with_content(event) => self.note_other("content of message_start"),
            ("content_block_delta", Some(delta)) => {
                let kind = message.text_member(delta, "type").unwrap_or_default();
                let more = |message: &mut ReplyMessage<'t>, name| message.text_member(delta, name).unwrap_or_default();
                match kind.as_str() {
                    "text_delta" => self.add_text(key, &more(message, "text")),
                    "thinking_delta" => self.add_thinking(key, &more(message, "thinking")),
                    "input_json_delta" => self.add_arguments(key, &more(message, "partial_json")),
                    // A citation is no text of the model, and a signature only proves its reasoning to the API.
                    "citations_delta" | "signature_delta" => {}
                    // Some proxies leave the type out.
                    "" => {
                        self.add_text(key, &more(message, "text"));
                        self.add_thinking(key, &more(message, "thinking"));
                        self.add_arguments(key, &more(message, "partial_json"));
                    }
                    kind => self.note_other(kind),
                }
            }
            ("message_delta", Some(delta)) => {
                let reason = message.text_member(delta, "stop_reason").unwrap_or_default();
                self.end(message, &reason);
            }
            ("content_block_stop", _) => self.end_call(key),
            ("message_stop", _) => self.ended = true,
            ("message", _) => message.fault_in(event, "this is a whole message, which is no event of a stream"),
            ("error", _) => message.returned(event.get("error").unwrap_or(event)),
            // New kinds of events may come at any time.
            _ => {}
        }
    }

    fn begin<'t>(&mut self, message: &mut ReplyMessage<'t>, key: PartKey, block: Raw<'t>) {
        anthropic::block(message, block);
        for part in std::mem::take(&mut message.reply.parts) {
            match part {
                ReplyPart::Text { text } => self.add_text(key, &text),
                ReplyPart::Thinking { text } => self.add_thinking(key, &text),
                ReplyPart::Call { .. } if self.over => self.note_other(LATE),
                ReplyPart::Call { id, name, arguments } => {
                    let coming = self.begin_call(key, id, name);
                    coming.otherwise = Some(arguments);
                    coming.arrival = Arrival::Open;
                }
                ReplyPart::Other { kind } => drop(self.at(key, || PartialPart::other(kind))),
            }
        }
    }

    /// Adds the parts of a message after the earlier ones; a text continues the last part if that is of the same
    /// kind.
    fn take_parts(&mut self, message: &mut ReplyMessage<'_>) {
        let mut last = self.parts.keys().next_back().map_or(0, |key| key.0);
        let (partial, mut number) = (std::mem::take(&mut message.reply.unfinished), 0);
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
                    let coming = self.begin_call((last, 0), id, name);
                    if partial.contains(&number) {
                        coming.arrival = Arrival::Partial;
                    }
                    number += 1;
                    self.add_arguments((last, 0), &arguments);
                }
                other => drop(self.parts.insert((last, 0), PartialPart::of(other))),
            }
        }
    }

    fn add_text(&mut self, key: PartKey, more: &str) {
        self.add_text_or_refusal(key, more, false);
    }

    fn add_refusal(&mut self, key: PartKey, more: &str) {
        self.refused |= !more.is_empty();
        self.add_text_or_refusal(key, more, true);
    }

    /// Adds to a text, or to the words of a refusal, which are a paragraph of their own.
    fn add_text_or_refusal(&mut self, key: PartKey, more: &str, refuses: bool) {
        if more.is_empty() {
            return;
        }
        let own = self.moved.get(&key).copied().unwrap_or(key);
        if self.parts.get(&own).is_some_and(PartialPart::is_text) && self.last_text.is_some_and(|last| own < last) {
            self.move_behind(key);
        }
        let last_refuses = std::mem::replace(&mut self.last_refuses, refuses);
        let last = self.last_text;
        let (key, coming) = self.at(key, || PartialPart::of(ReplyPart::Text { text: String::new() }));
        let ReplyPart::Text { text } = &mut coming.part else { return self.note_other("text") };
        let is_new = text.is_empty();
        text.push_str(more);
        let before = last.filter(|before| *before < key);
        let apart = before.is_some_and(|before| {
            let mut between = self.parts.range((Bound::Excluded(before), Bound::Excluded(key)));
            between.any(|(_, coming)| !coming.is_text())
        });
        // If another part is between the texts, the layout of the reply has the separator.
        let is_other_kind = !apart && is_new && before.is_some() && last_refuses != refuses;
        if is_other_kind && let Some(ReplyPart::Text { text }) = self.parts.get_mut(&key).map(|coming| &mut coming.part)
        {
            text.insert_str(0, BETWEEN);
        }
        self.last_text = self.last_text.max(Some(key));
        self.deltas.push(Delta::Text(format!("{}{more}", if apart || is_other_kind { BETWEEN } else { "" })));
    }

    fn add_thinking(&mut self, key: PartKey, more: &str) {
        if more.is_empty() {
            return;
        }
        let (key, coming) = self.at(key, || PartialPart::of(ReplyPart::Thinking { text: String::new() }));
        let ReplyPart::Thinking { text } = &mut coming.part else { return self.note_other("thinking") };
        text.push_str(more);
        self.deltas.push(Delta::Thinking(key, more.to_owned()));
    }

    /// Adds to a call. A name that comes with an id that is already known is repeated, and does not continue the
    /// earlier one.
    fn add_call<'t>(
        &mut self,
        message: &mut ReplyMessage<'t>,
        key: PartKey,
        more_id: Option<String>,
        function: Option<Raw<'t>>,
    ) {
        if self.over {
            return self.note_other(LATE);
        }
        self.seen.insert(key.0);
        let more_name = function.and_then(|function| message.text_member(function, "name"));
        if let ReplyPart::Call { id, name, .. } = &mut self.call(key).part {
            let again = id.is_some() && *id == more_id;
            match more_name {
                Some(whole) if again && !whole.is_empty() => *name = whole,
                Some(more) => name.push_str(&more),
                None => {}
            }
            *id = std::mem::take(id).or(more_id);
        }
        let more = function.map(|function| message.arguments(function, "arguments")).unwrap_or_default();
        self.add_arguments(key, &more);
    }

    fn add_arguments(&mut self, key: PartKey, more: &str) {
        if more.is_empty() {
            return;
        }
        if self.over {
            return self.note_other(LATE);
        }
        let (key, coming) = self.at(key, PartialPart::call);
        let ReplyPart::Call { arguments, .. } = &mut coming.part else { return self.note_other("arguments") };
        arguments.push_str(more);
        self.deltas.push(Delta::Arguments(key, more.to_owned()));
    }

    /// Notes that all arguments of a call have arrived.
    fn end_call(&mut self, key: PartKey) {
        let key = self.moved.get(&key).copied().unwrap_or(key);
        if let Some(coming) = self.parts.get_mut(&key).filter(|coming| coming.arrival == Arrival::Open) {
            coming.arrival = Arrival::Ended;
        }
    }

    fn call(&mut self, key: PartKey) -> &mut PartialPart {
        self.at(key, PartialPart::call).1
    }

    /// The call with this number, which now has this id and name.
    fn begin_call(&mut self, key: PartKey, id: Option<String>, name: String) -> &mut PartialPart {
        let coming = self.call(key);
        if let ReplyPart::Call { id: own, name: known, .. } = &mut coming.part {
            (*own, *known) = (id, name);
        }
        coming
    }

    /// The part with this number, and the number that it has now: after all others if a later text has been passed
    /// on, and the part is a text or comes after one.
    fn at(&mut self, key: PartKey, new: impl FnOnce() -> PartialPart) -> (PartKey, &mut PartialPart) {
        let mut key = self.moved.get(&key).copied().unwrap_or(key);
        if !self.parts.contains_key(&key) && self.last_text.is_some_and(|last| key < last) {
            let coming = new();
            if coming.is_text() || self.parts.range(..key).any(|(_, coming)| coming.is_text()) {
                key = self.move_behind(key);
            }
            return (key, self.parts.entry(key).or_insert(coming));
        }
        (key, self.parts.entry(key).or_insert_with(new))
    }

    /// Gives what still arrives under this number a number after all others.
    fn move_behind(&mut self, key: PartKey) -> PartKey {
        let last = self.parts.keys().next_back().map_or(0, |last| last.0).max(BEHIND);
        self.moved.insert(key, (last + 1, 0));
        (last + 1, 0)
    }
}

/// Whether the message that an event starts has content already, which no API sends.
fn starts_with_content(event: Raw<'_>) -> bool {
    event.get("message").and_then(|message| message.get("content")).is_some_and(Raw::has_content)
}

impl PartialPart {
    fn of(part: ReplyPart) -> Self {
        Self { part, otherwise: None, arrival: Arrival::default() }
    }

    fn is_text(&self) -> bool {
        matches!(self.part, ReplyPart::Text { .. })
    }

    fn call() -> Self {
        Self::of(ReplyPart::Call { id: None, name: String::new(), arguments: String::new() })
    }

    fn other(kind: impl Into<String>) -> Self {
        Self::of(ReplyPart::Other { kind: kind.into() })
    }
}
