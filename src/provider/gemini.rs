//! Gemini: which parts does a response have?
//!
//! In: a `GenerateContentResponse`, or the list of them that a stream returns.
//! Out: the parts of the reply: those of the first candidate, in order.
//! Never: joins texts of one kind unless nothing is between them.

use super::ReplyPart;
use super::ending::Ending;
use super::message::ReplyMessage;
use super::raw::Raw;

/// Members of a part that only concern the API, or that describe another member.
const ASIDE: [&str; 7] =
    ["text", "thought", "thoughtSignature", "thought_signature", "videoMetadata", "mediaResolution", "partMetadata"];

/// The names of the member that calls a function.
const CALL: [&str; 2] = ["functionCall", "function_call"];

/// Reads whatever the API returned.
pub(super) fn message<'t>(message: &mut ReplyMessage<'t>, returned: Raw<'t>) {
    if !returned.is_list() {
        message.unsaid = !response(message, returned);
        return;
    }
    // The responses of a stream: one that none of them ends was cut off.
    // Each response is read, even one behind the end.
    let mut ended = false;
    for one in returned.items() {
        ended |= response(message, one);
    }
    message.reply.truncated |= !ended;
}

/// A member in the spelling of the API, or in that of its Python library.
fn member<'t>(of: Raw<'t>, names: [&str; 2]) -> Option<Raw<'t>> {
    names.into_iter().find_map(|name| of.get(name))
}

/// Reads one response; returns whether it is the last of a stream.
pub(super) fn response<'t>(message: &mut ReplyMessage<'t>, returned: Raw<'t>) -> bool {
    if !message.is_object(returned, "a response of Gemini") {
        return false;
    }
    if let Some(error) = returned.get("error") {
        message.returned(error);
        return false;
    }
    let feedback = member(returned, ["promptFeedback", "prompt_feedback"]);
    let blocked = feedback.and_then(|feedback| member(feedback, ["blockReason", "block_reason"])).is_some();
    message.reply.refused |= blocked;
    if returned.get("candidates").is_none() {
        if !blocked && member(returned, ["usageMetadata", "usage_metadata"]).is_none() {
            message.fault_in(returned, "this has no `candidates`, so it is no response of Gemini");
        }
        return blocked;
    }
    let mut candidates = message.list(returned, "candidates");
    let Some(candidate) = candidates.next() else { return false };
    if let Some(content) = candidate.get("content").filter(|content| message.is_of_model(*content)) {
        message.list(content, "parts").for_each(|one| part(message, one));
    }
    candidates.for_each(|_| message.other("another candidate"));
    let reason = member(candidate, ["finishReason", "finish_reason"]).and_then(Raw::text).unwrap_or_default();
    message.end(&reason);
    Ending::of(&reason) != Ending::Unsaid
}

fn part<'t>(message: &mut ReplyMessage<'t>, part: Raw<'t>) {
    if !message.is_object(part, "a part") {
        return;
    }
    let is_thought = part.get("thought").is_some_and(Raw::is_true);
    if let Some(text) = message.text_member(part, "text") {
        add(message, text, is_thought);
    }
    match member(part, CALL) {
        // What the model only thinks of calling, it does not call.
        Some(_) if is_thought => message.other("functionCall of a thought"),
        Some(call) => function_call(message, call),
        None => {}
    }
    let is_read = |name: &str| ASIDE.contains(&name) || CALL.contains(&name);
    let others = part.members().filter(|(name, value)| !value.is_null() && !is_read(name));
    others.for_each(|(name, _)| message.other(name));
}

fn function_call<'t>(message: &mut ReplyMessage<'t>, call: Raw<'t>) {
    let (id, name) = (message.text_member(call, "id"), message.text_member(call, "name").unwrap_or_default());
    if !message.call_of(id, name, call, "args") {
        return;
    }
    if member(call, ["partialArgs", "partial_args"]).is_some() {
        message.last_is_partial();
        message.other("partialArgs");
    } else if call.get("args").is_none() {
        message.last_has_none();
    }
}

/// Adds a text to the one before it, or as a part of its own: a stream splits one text into many.
fn add(message: &mut ReplyMessage<'_>, more: String, thought: bool) {
    match (message.reply.parts.last_mut(), thought) {
        (Some(ReplyPart::Thinking { text }), true) | (Some(ReplyPart::Text { text }), false) => text.push_str(&more),
        (_, true) => message.thinking(more),
        (_, false) => message.text(more),
    }
}
