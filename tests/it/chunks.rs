//! Chunks: does a reply in chunks have the outcome of the whole reply, however it is cut?

use crate::texts::program_of;
use proptest::prelude::*;
use rulebook::{Options, Outcome, Program, Provider, Reply, ReplyPart, Role, StreamEvent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ACTIONS: &str = r#"
[actions.refund]
params  = { amount = { type = "number", required = true }, reason = { type = "string" } }
effects = [{ emit = "refund", value = "{{ params.amount }}" }]
[actions.look]
effects = [{ emit = "look" }]
[actions.erase]

[modes.desk]
permits = [{ action = "refund", when = "params.amount <= 100" }, "look"]
"#;

/// A pack without a dialect, one with a dialect, and one whose guardrails redact.
fn programs() -> [Program; 4] {
    let dialect = "[dialects.tags]\ngrammar = \"tags\"\n[dialects.tags.blocks]\nmessage = { role = \"message\" }\n\
        thinking = { role = \"thinking\" }\ncall = { role = \"call\", name = \"@name\", payload = \"json\" }\n";
    let redacting = "[[guardrails]]\nid = \"secret\"\nmatches = \"sk-[0-9]+\"\non = [\"message\", \"thinking\"]\nstrategy = \"redact\"\n";
    let draft = "[reply]\nhold = \"none\"\n";
    ["", dialect, redacting, draft].map(|more| {
        let pack = format!("[pack]\nname = \"desk\"\n{more}{ACTIONS}");
        program_of(pack)
    })
}

/// Cuts a text at the given places.
fn cut(text: &str, places: &[usize]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for (number, c) in text.chars().enumerate() {
        if places.contains(&number) {
            pieces.push(String::new());
        }
        pieces.last_mut().unwrap().push(c);
    }
    pieces
}

/// The complete message of a provider, and its chunks; `None` for an API that cannot return such a reply.
fn written(provider: Provider, reply: &Reply, places: &[usize]) -> Option<(Value, Vec<Value>)> {
    let cut = |text: &str| cut(text, places);
    let rank = |part: &ReplyPart| match part {
        ReplyPart::Thinking { .. } => 0,
        ReplyPart::Text { .. } => 1,
        _ => 2,
    };
    match provider {
        Provider::Openai => {
            // A chat completion has one text, and one piece of reasoning.
            let ranks: Vec<i32> = reply.parts.iter().map(rank).collect();
            if !ranks.is_sorted() || ranks.windows(2).any(|two| two[0] == two[1] && two[0] < 2) {
                return None;
            }
            let chunk = |delta: Value, finish: Value| json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
            let mut message = json!({ "role": "assistant", "content": null });
            let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
            let (mut calls, mut pending) = (Vec::new(), Vec::new());
            for part in &reply.parts {
                match part {
                    ReplyPart::Text { text } => {
                        message["content"] = json!(text);
                        chunks.extend(cut(text).into_iter().map(|more| chunk(json!({ "content": more }), Value::Null)));
                    }
                    ReplyPart::Thinking { text } => {
                        message["reasoning_content"] = json!(text);
                        chunks.extend(
                            cut(text).into_iter().map(|more| chunk(json!({ "reasoning_content": more }), Value::Null)),
                        );
                    }
                    ReplyPart::Call { id, name, arguments } => {
                        let index = calls.len();
                        calls.push(json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }));
                        let mut deltas = vec![
                            json!({ "index": index, "id": id, "type": "function", "function": { "name": "", "arguments": "" } }),
                        ];
                        deltas.extend(
                            cut(name).into_iter().map(|more| json!({ "index": index, "function": { "name": more } })),
                        );
                        deltas.extend(
                            cut(arguments)
                                .into_iter()
                                .map(|more| json!({ "index": index, "function": { "arguments": more } })),
                        );
                        pending.push(deltas);
                    }
                    _ => return None,
                }
            }
            // The chunks of several calls are interleaved, those of the last call first.
            let longest = pending.iter().map(Vec::len).max().unwrap_or_default();
            for at in 0..longest {
                let deltas: Vec<&Value> = pending.iter().rev().filter_map(|deltas| deltas.get(at)).collect();
                chunks.push(chunk(json!({ "tool_calls": deltas }), Value::Null));
            }
            let finish = if reply.truncated { "length" } else { "stop" };
            message["tool_calls"] = json!(calls);
            chunks.push(chunk(json!({}), json!(finish)));
            chunks.push(json!({ "id": "c", "choices": [], "usage": { "total_tokens": 3 } }));
            let whole = json!({ "object": "chat.completion", "choices": [{ "index": 0, "message": message, "finish_reason": finish }] });
            Some((whole, chunks))
        }
        Provider::Responses => {
            let (mut output, mut chunks) =
                (Vec::new(), vec![json!({ "type": "response.created", "response": { "output": [] } })]);
            for (index, part) in reply.parts.iter().enumerate() {
                let delta = |kind: &str, more: String| json!({ "type": kind, "output_index": index, "content_index": 0, "summary_index": 0, "delta": more });
                let (item, begun, deltas): (Value, Value, Vec<Value>) = match part {
                    ReplyPart::Text { text } => (
                        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
                        json!({ "type": "message", "role": "assistant", "content": [] }),
                        cut(text).into_iter().map(|more| delta("response.output_text.delta", more)).collect(),
                    ),
                    ReplyPart::Thinking { text } => (
                        json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": text }] }),
                        json!({ "type": "reasoning", "summary": [] }),
                        cut(text)
                            .into_iter()
                            .map(|more| delta("response.reasoning_summary_text.delta", more))
                            .collect(),
                    ),
                    ReplyPart::Call { id, name, arguments } => (
                        json!({ "type": "function_call", "call_id": id, "id": "fc", "name": name, "arguments": arguments }),
                        json!({ "type": "function_call", "call_id": id, "id": "fc", "name": name, "arguments": "" }),
                        cut(arguments)
                            .into_iter()
                            .map(|more| delta("response.function_call_arguments.delta", more))
                            .collect(),
                    ),
                    _ => return None,
                };
                chunks.push(json!({ "type": "response.output_item.added", "output_index": index, "item": begun }));
                chunks.extend(deltas);
                chunks.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
                output.push(item);
            }
            let details = if reply.truncated { json!({ "reason": "max_output_tokens" }) } else { Value::Null };
            let whole = json!({ "object": "response", "output": output, "incomplete_details": details });
            chunks.push(json!({ "type": "response.completed", "response": whole }));
            Some((whole, chunks))
        }
        Provider::Anthropic => {
            let (mut content, mut chunks) =
                (Vec::new(), vec![json!({ "type": "message_start", "message": { "content": [] } })]);
            for (index, part) in reply.parts.iter().enumerate() {
                let delta = |delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
                let (block, begun, deltas): (Value, Value, Vec<Value>) = match part {
                    ReplyPart::Text { text } => (
                        json!({ "type": "text", "text": text }),
                        json!({ "type": "text", "text": "" }),
                        cut(text)
                            .into_iter()
                            .map(|text| delta(json!({ "type": "text_delta", "text": text })))
                            .collect(),
                    ),
                    ReplyPart::Thinking { text } => (
                        json!({ "type": "thinking", "thinking": text, "signature": "s" }),
                        json!({ "type": "thinking", "thinking": "", "signature": "" }),
                        cut(text)
                            .into_iter()
                            .map(|text| delta(json!({ "type": "thinking_delta", "thinking": text })))
                            .chain([delta(json!({ "type": "signature_delta", "signature": "s" }))])
                            .collect(),
                    ),
                    ReplyPart::Call { id, name, arguments } => {
                        // An API that parses the arguments never returns invalid ones. A text in place of them is read
                        // as the arguments themselves; in a stream, it cannot be told apart from their text.
                        let input: Value = serde_json::from_str(arguments).ok()?;
                        if input.is_string() || input.to_string().as_str() != arguments.as_str() {
                            return None;
                        }
                        (
                            json!({ "type": "tool_use", "id": id, "name": name, "input": input }),
                            json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                            cut(arguments)
                                .into_iter()
                                .map(|more| delta(json!({ "type": "input_json_delta", "partial_json": more })))
                                .collect(),
                        )
                    }
                    _ => return None,
                };
                chunks.push(json!({ "type": "content_block_start", "index": index, "content_block": begun }));
                chunks.push(json!({ "type": "ping" }));
                chunks.extend(deltas);
                chunks.push(json!({ "type": "content_block_stop", "index": index }));
                content.push(block);
            }
            let stop = if reply.truncated { "max_tokens" } else { "end_turn" };
            chunks.push(
                json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 1 } }),
            );
            chunks.push(json!({ "type": "message_stop" }));
            Some((json!({ "type": "message", "role": "assistant", "content": content, "stop_reason": stop }), chunks))
        }
        Provider::Gemini => {
            let chunk = |parts: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }] });
            let (mut parts, mut chunks) = (Vec::new(), Vec::new());
            for part in &reply.parts {
                match part {
                    ReplyPart::Text { text } => {
                        parts.push(json!({ "text": text }));
                        chunks.extend(cut(text).into_iter().map(|text| chunk(json!([{ "text": text }]))));
                    }
                    ReplyPart::Thinking { text } => {
                        parts.push(json!({ "text": text, "thought": true }));
                        chunks.extend(
                            cut(text).into_iter().map(|text| chunk(json!([{ "text": text, "thought": true }]))),
                        );
                    }
                    ReplyPart::Call { id, name, arguments } => {
                        let args: Value = serde_json::from_str(arguments).ok()?;
                        let call = json!({ "functionCall": { "id": id, "name": name, "args": args }, "thoughtSignature": "s" });
                        chunks.push(chunk(json!([call])));
                        parts.push(call);
                    }
                    _ => return None,
                }
            }
            let finish = if reply.truncated { "MAX_TOKENS" } else { "STOP" };
            let end = json!({ "candidates": [{ "content": { "parts": [{ "text": "" }] }, "finishReason": finish }], "usageMetadata": {} });
            chunks.push(end);
            Some((json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": finish }] }), chunks))
        }
        _ => None,
    }
}

/// The outcome of a stream, and its events.
fn streamed(program: &Program, provider: Provider, chunks: &[Value]) -> (Outcome, Vec<StreamEvent>) {
    let mut reader = program.reader(&program.session(), &Options::default());
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(reader.push_chunk(provider, &chunk.to_string()).unwrap());
    }
    let (outcome, last) = reader.finish();
    events.extend(last);
    (outcome, events)
}

/// The emitted texts of a role, joined.
fn emitted(events: &[StreamEvent], wanted: Role) -> String {
    let of_role = events.iter().filter_map(|event| match event {
        StreamEvent::Text { role: Some(role), text, .. } if *role == wanted => Some(text.as_str()),
        _ => None,
    });
    of_role.collect()
}

fn parts() -> impl Strategy<Value = ReplyPart> {
    let text = "(</?(message|thinking)>|<call name=\"look\">\\{\\}</call>|sk-1|\n|[a-c ]){1,8}";
    let arguments = prop_oneof![
        4 => prop::sample::select(&[r#"{"amount":5}"#, r#"{"amount":500,"reason":"ü"}"#, "{}", r#"{"amount":"5"}"#][..]).prop_map(str::to_owned),
        1 => "[{}\":a-c5 ]{0,6}",
    ];
    let call = ("(look|refund|erase)", arguments).prop_map(|(name, arguments)| ReplyPart::Call {
        id: Some("c".to_owned()),
        name,
        arguments,
    });
    prop_oneof![
        text.prop_map(|text| ReplyPart::Text { text }),
        text.prop_map(|text| ReplyPart::Thinking { text }),
        call,
    ]
}

fn replies() -> impl Strategy<Value = Reply> {
    (prop::collection::vec(parts(), 0..6), any::<bool>()).prop_map(|(mut parts, truncated)| {
        for (number, part) in parts.iter_mut().enumerate() {
            if let ReplyPart::Call { id, .. } = part {
                *id = Some(format!("call_{number}"));
            }
        }
        let mut reply = Reply::default();
        (reply.parts, reply.truncated) = (parts, truncated);
        reply
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_cutting_of_the_chunks_gives_the_outcome_of_the_whole(
        mut reply in replies(),
        places in prop::collection::vec(0..30_usize, 0..6),
        sorted in any::<bool>(),
    ) {
        if sorted {
            reply.parts.sort_by_key(|part| match part { ReplyPart::Thinking { .. } => 0, ReplyPart::Text { .. } => 1, _ => 2 });
            reply.parts.dedup_by(|one, other| std::mem::discriminant(one) == std::mem::discriminant(other) && !matches!(one, ReplyPart::Call { .. }));
        }
        for program in &programs() {
            for provider in [Provider::Openai, Provider::Responses, Provider::Anthropic, Provider::Gemini] {
                let Some((whole, chunks)) = written(provider, &reply, &places) else { continue };
                let read = Reply::read(provider, &whole.to_string()).into_result().unwrap();
                let expected = program.judge(&program.session(), &read, &Options::default());
                let (outcome, _) = streamed(program, provider, &chunks);
                prop_assert_eq!(&outcome, &expected, "{} {}", provider, whole);
            }
        }
    }

    #[test]
    fn what_is_emitted_of_a_stream_is_what_the_outcome_has(reply in replies(), places in prop::collection::vec(0..30_usize, 0..6)) {
        for program in &programs()[..3] {
            for provider in [Provider::Openai, Provider::Responses, Provider::Anthropic, Provider::Gemini] {
                let Some((_, chunks)) = written(provider, &reply, &places) else { continue };
                let (outcome, events) = streamed(program, provider, &chunks);
                prop_assert_eq!(emitted(&events, Role::Message), outcome.message);
                prop_assert_eq!(emitted(&events, Role::Thinking), outcome.thinking.concat());
            }
        }
    }
}

#[test]
fn the_text_of_a_reply_is_emitted_while_it_comes() {
    let [plain, ..] = programs();
    let mut reader = plain.reader(&plain.session(), &Options::default());
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string();
    let thinking = reader.push_chunk(Provider::Openai, &delta(json!({ "reasoning_content": "Let me" }))).unwrap();
    assert_eq!(emitted(&thinking, Role::Thinking), "Let me");
    let text = reader.push_chunk(Provider::Openai, &delta(json!({ "content": "Hello" }))).unwrap();
    assert_eq!(emitted(&text, Role::Message), "Hello");
}

#[test]
fn calls_of_one_number_are_distinguished_by_their_ids() {
    let [plain, ..] = programs();
    for indexes in [json!([0, 0]), json!([null, null]), json!([4, 2])] {
        let mut reader = plain.reader(&plain.session(), &Options::default());
        for (id, index) in ["a", "b"].iter().zip(indexes.as_array().unwrap()) {
            let call = json!({ "index": index, "id": id, "function": { "name": "look", "arguments": "{}" } });
            let chunk = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
            reader.push_chunk(Provider::Openai, &chunk.to_string()).unwrap();
        }
        reader.push_chunk(Provider::Openai, r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#).unwrap();
        let (outcome, _) = reader.finish();
        assert_eq!(outcome.effects.len(), 2, "{indexes}");
        assert_eq!(outcome.status, rulebook::outcome::Status::Clean);
    }
}

#[test]
fn what_is_no_chunk_is_an_error_and_the_rest_goes_on() {
    let [plain, ..] = programs();
    let bad = [
        (Provider::Openai, "{"),
        (Provider::Openai, "[]"),
        (Provider::Openai, r#"{"x": 1}"#),
        (Provider::Openai, r#"{"error": {"message": "overloaded"}}"#),
        (Provider::Anthropic, r#"{"index": 0}"#),
        (Provider::Anthropic, r#"{"type": "error", "error": {"message": "overloaded"}}"#),
        (Provider::Gemini, r#"{"x": 1}"#),
        (Provider::Mcp, r#"{"method": "tools/list"}"#),
    ];
    for (provider, chunk) in bad {
        let mut reader = plain.reader(&plain.session(), &Options::default());
        let fault = reader.push_chunk(provider, chunk).unwrap_err();
        assert_eq!(fault.diagnostics[0].code, "response/unreadable", "{chunk}");
        // No chunk has ended the stream, so the answer counts as truncated.
        let (outcome, _) = reader.finish();
        assert!(outcome.diagnostics.iter().any(|found| found.code == "response/truncated"), "{chunk}");
    }
    let mut reader = plain.reader(&plain.session(), &Options::default());
    reader.push(b"Hello");
    assert!(reader.push_chunk(Provider::Openai, "{}").is_err());
    assert_eq!(reader.finish().0.ledger.bytes, 5);
}

/// The emitted fields of calls, joined by call and path.
fn fields(events: &[StreamEvent]) -> BTreeMap<(usize, Vec<String>), String> {
    let mut all: BTreeMap<(usize, Vec<String>), String> = BTreeMap::new();
    for event in events {
        if let StreamEvent::Field { call, path, text } = event {
            all.entry((*call, path.clone())).or_default().push_str(text);
        }
    }
    all.retain(|_, text| !text.is_empty());
    all
}

proptest! {
    #[test]
    fn the_pieces_of_a_field_join_to_the_text_of_its_parameter(reply in replies(), places in prop::collection::vec(0..30_usize, 0..6)) {
        for program in &programs() {
            for provider in [Provider::Openai, Provider::Responses, Provider::Anthropic, Provider::Gemini] {
                let Some((_, chunks)) = written(provider, &reply, &places) else { continue };
                let (outcome, events) = streamed(program, provider, &chunks);
                let emitted = fields(&events);
                for (number, call) in outcome.calls.iter().enumerate() {
                    let counts = call.verdict == rulebook::outcome::Verdict::Accepted;
                    for (name, value) in call.params.as_object().unwrap().iter() {
                        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        let piece = emitted.get(&(number, vec![name.to_owned()]));
                        prop_assert!(!counts || piece == Some(&text), "{piece:?} {text}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_fields_of_a_draft_are_emitted_while_they_come() {
    let [plain, .., draft] = programs();
    let chunk = |arguments: &str| {
        let call = json!({ "index": 0, "id": "a", "function": { "name": "refund", "arguments": arguments } });
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }).to_string()
    };
    let mut reader = draft.reader(&draft.session(), &Options::default());
    assert_eq!(reader.push_chunk(Provider::Openai, &chunk("{\"rea")).unwrap(), []);
    let field = |text: &str| StreamEvent::Field { call: 0, path: vec!["reason".to_owned()], text: text.to_owned() };
    assert_eq!(reader.push_chunk(Provider::Openai, &chunk("son\": \"it is \\u00")).unwrap(), [field("it is ")]);
    assert_eq!(reader.push_chunk(Provider::Openai, &chunk("e9")).unwrap(), [field("é")]);
    // In other packs, fields wait for the verdict.
    let mut reader = plain.reader(&plain.session(), &Options::default());
    assert_eq!(reader.push_chunk(Provider::Openai, &chunk(r#"{"amount": 5, "reason": "late"}"#)).unwrap(), []);
    reader.push_chunk(Provider::Openai, r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#).unwrap();
    let (_, last) = reader.finish();
    assert_eq!(fields(&last).len(), 2);
}

/// Texts in a chunk that a provider may cut anywhere.
const CUTTABLE: &[&str] = &[
    "/choices/0/delta/content",
    "/choices/0/delta/reasoning_content",
    "/choices/0/delta/tool_calls/0/function/name",
    "/choices/0/delta/tool_calls/0/function/arguments",
    "/choices/0/delta/tool_calls/1/function/arguments",
    "/delta/text",
    "/delta/thinking",
    "/delta/partial_json",
    "/delta",
    "/candidates/0/content/parts/0/text",
];

/// The chunks with every text in them cut after every `size` characters.
fn recut(chunks: &[Value], size: usize) -> Vec<Value> {
    let mut all = Vec::new();
    for chunk in chunks {
        let mut rest = Vec::new();
        let mut first = chunk.clone();
        for place in CUTTABLE {
            let Some(text) = chunk.pointer(place).and_then(Value::as_str).map(str::to_owned) else { continue };
            let chars: Vec<char> = text.chars().collect();
            let mut pieces = chars.chunks(size).map(|piece| json!(piece.iter().collect::<String>()));
            *first.pointer_mut(place).unwrap() = pieces.next().unwrap_or(json!(""));
            for piece in pieces {
                let mut more = chunk.clone();
                for other in CUTTABLE.iter().filter(|other| chunk.pointer(other).is_some_and(Value::is_string)) {
                    *more.pointer_mut(other).unwrap() = if **other == **place { piece.clone() } else { json!("") };
                }
                // The id of a call is only in its first chunk.
                for number in 0..2 {
                    if let Some(Value::Object(call)) =
                        more.pointer_mut(&format!("/choices/0/delta/tool_calls/{number}"))
                    {
                        call.remove("id");
                    }
                }
                rest.push(more);
            }
        }
        all.push(first);
        all.extend(rest);
    }
    all
}

#[test]
fn recorded_streams_have_one_outcome_in_every_cutting() {
    let folder = crate::root().join("tests/packs/api-replies");
    let program = Program::load(&rulebook_fs::read_pack(&folder).unwrap().folder).into_result().unwrap();
    let mut streams = 0;
    for file in std::fs::read_dir(folder.join("tests")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let mut parts = text.split("=== ");
        for part in parts.by_ref() {
            let (word, body) = part.split_once(" ===\n").unwrap_or_default();
            let Some(provider) = Provider::from_name(word) else { continue };
            let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            let chunks: Vec<Value> = data.iter().filter_map(|data| serde_json::from_str(data).ok()).collect();
            if chunks.is_empty() {
                continue;
            }
            streams += 1;
            let (expected, _) = streamed(&program, provider, &chunks);
            for size in [1, 2, 3, 5, 8, 13] {
                let (outcome, events) = streamed(&program, provider, &recut(&chunks, size));
                assert_eq!(outcome, expected, "{text} by {size}");
                assert_eq!(emitted(&events, Role::Message), outcome.message);
            }
        }
    }
    assert!(streams >= 5, "{streams}");
}

#[test]
fn what_a_broken_chunk_adds_is_not_lost() {
    for program in &programs() {
        let mut reader = program.reader(&program.session(), &Options::default());
        let chunk = json!({ "choices": [{ "delta": { "content": "Hello", "refusal": 5 } }] });
        reader.push_chunk(Provider::Openai, &chunk.to_string()).unwrap_err();
        let (outcome, events) = reader.finish();
        assert_eq!(outcome.message, "Hello");
        let shown = emitted(&events, Role::Message);
        assert!(shown == "Hello" || shown.is_empty(), "{shown}");
    }
}
