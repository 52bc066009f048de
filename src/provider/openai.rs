//! OpenAI: which parts does a chat completion have?
//!
//! In: a chat completion, or the message of one; what the Responses API returns is passed on.
//! Out: the parts of the reply: reasoning, then text, then calls.
//! Never: reads chunks.

use super::ending::Ending;
use super::message::ReplyMessage;
use super::raw::Raw;
use super::responses;

/// Reads whatever the API returned.
pub(super) fn message<'t>(message: &mut ReplyMessage<'t>, returned: Raw<'t>) {
    if returned.is_list() {
        return responses::output(message, returned);
    }
    if !message.is_object(returned, "a message of OpenAI") {
        return;
    }
    if let Some(error) = returned.get("error") {
        message.returned(error);
    } else if returned.get("choices").is_some() {
        choices(message, returned);
    } else if returned.get("output").is_some() {
        responses::response(message, returned);
    } else if returned.get("role").is_some() {
        chat(message, returned);
    } else if let Some(inner) = returned.get("message") {
        chat(message, inner);
    } else {
        message.fault_in(returned, "this has no `choices`, no `output` and no `role`, so it is no message of OpenAI");
    }
}

/// Reads the first of several choices.
fn choices<'t>(message: &mut ReplyMessage<'t>, returned: Raw<'t>) {
    let mut choices = message.list(returned, "choices");
    match choices.next() {
        None => message.fault_in(returned, "this has no choice, and so no answer"),
        Some(choice) => {
            match choice.get("message") {
                Some(one) => chat(message, one),
                None => match message.text_member(choice, "text") {
                    Some(text) => message.text(text),
                    None => message.fault_in(choice, "this choice has no `message`; chunks are read one by one"),
                },
            }
            let reason = message.text_member(choice, "finish_reason").unwrap_or_default();
            message.end(&reason);
            message.unsaid = Ending::of(&reason) == Ending::Unsaid;
        }
    }
    choices.for_each(|_| message.other("another choice"));
}

/// Reads the message of a chat completion.
fn chat<'t>(message: &mut ReplyMessage<'t>, chat: Raw<'t>) {
    if !message.is_object(chat, "the message of a chat completion") || !message.is_of_model(chat) {
        return;
    }
    if let Some(text) = reasoning(message, chat) {
        message.thinking(text);
    }
    content(message, chat);
    if let Some(refusal) = message.text_member(chat, "refusal").filter(|refusal| !refusal.is_empty()) {
        message.refusal(refusal);
    }
    for kind in ["audio", "images"] {
        if chat.get(kind).is_some_and(Raw::has_content) {
            message.other(kind);
        }
    }
    // Deprecated: a server that still has it beside `tool_calls` repeats one of them.
    let deprecated = chat.get(FUNCTION_CALL);
    let is_repeated =
        deprecated.is_some() && message.list(chat, "tool_calls").any(|call| call.get("function").is_some());
    if is_repeated {
        message.other(FUNCTION_CALL);
    }
    for call in message.list(chat, "tool_calls") {
        match call.get("function") {
            Some(function) => {
                let id = message.text_member(call, "id");
                function_call(message, id, function);
            }
            None => {
                let kind = message.text_member(call, "type");
                message.other(kind.unwrap_or_else(|| "tool_call".to_owned()));
            }
        }
    }
    if let Some(function) = deprecated.filter(|_| !is_repeated) {
        function_call(message, None, function);
    }
}

/// The member that has the call of a message in older versions of the API.
pub(super) const FUNCTION_CALL: &str = "function_call";

fn function_call<'t>(message: &mut ReplyMessage<'t>, id: Option<String>, function: Raw<'t>) {
    let name = message.text_member(function, "name").unwrap_or_default();
    message.call_of(id, name, function, "arguments");
}

/// The reasoning of a message or a chunk. Servers that have both members write the same text in them.
pub(super) fn reasoning<'t>(message: &mut ReplyMessage<'t>, chat: Raw<'t>) -> Option<String> {
    let members = ["reasoning_content", "reasoning"].into_iter().filter_map(|name| chat.get(name));
    let reasoning_member = members.filter(|member| member.has_content()).find(|member| member.is_text())?;
    message.decoded(reasoning_member)
}

/// Reads a content that is a text, or a list of parts.
pub(super) fn content<'t>(message: &mut ReplyMessage<'t>, of: Raw<'t>) {
    let Some(content) = of.get("content") else { return };
    if !content.is_list() {
        let text = message.text_member(of, "content");
        return text.into_iter().for_each(|text| message.text(text));
    }
    for piece in content.items() {
        let kind = message.text_member(piece, "type").unwrap_or_default();
        if let Some(refusal) = message.text_member(piece, "refusal") {
            message.refusal(refusal);
        } else if let Some(thinking) = piece.get("thinking").or_else(|| piece.get("reasoning")) {
            let texts: Vec<String> = if thinking.is_text() {
                message.decoded(thinking).into_iter().collect()
            } else {
                thinking.items().filter_map(|one| message.text_member(one, "text")).collect()
            };
            message.thinking(texts.concat());
        } else if is_text(&kind) && piece.get("text").is_some() {
            let text = message.text_member(piece, "text");
            text.into_iter().for_each(|text| message.text(text));
        } else {
            message.other(if kind.is_empty() { "part".to_owned() } else { kind });
        }
    }
}

fn is_text(kind: &str) -> bool {
    matches!(kind, "" | "text" | "output_text" | "summary_text" | "reasoning_text")
}
