//! Tests: which parts are read of a reply, and what is refused?
//!
//! In: messages of each provider.
//! Out: nothing.
//! Never: judges a reply.

use super::*;
use proptest::prelude::*;

/// Reads a message, and writes its parts in a line.
fn read(provider: Provider, message: &str) -> String {
    let checked = Reply::read(provider, message);
    let Some(reply) = checked.value else {
        let found = &checked.diagnostics[0];
        let place = checked.sources.place(found.at.unwrap()).unwrap();
        return format!("{}:{} {}", place.line, place.column, found.message);
    };
    let part = |part: &ReplyPart| match part {
        ReplyPart::Text { text } => format!("text({text})"),
        ReplyPart::Thinking { text } => format!("thinking({text})"),
        ReplyPart::Call { id, name, arguments } => format!("{name}({arguments})#{}", id.as_deref().unwrap_or_default()),
        ReplyPart::Other { kind } => format!("other({kind})"),
    };
    let mut parts: Vec<String> = reply.parts.iter().map(part).collect();
    parts.extend(
        reply.truncated.then(|| format!("truncated{}", reply.reason.map_or(String::new(), |why| format!("({why})")))),
    );
    parts.extend(reply.unfinished.iter().map(|number| format!("unfinished({number})")));
    parts.extend(reply.refused.then(|| "refused".to_owned()));
    parts.join(" ")
}

#[track_caller]
fn check(provider: Provider, message: &str, expected: &str) {
    assert_eq!(read(provider, message), expected);
}

#[test]
fn a_message_of_another_api_loses_no_call() {
    let (openai, anthropic) = (
        r#"{"role":"assistant","content":"a","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}}]}"#,
    );
    let words = |name: &str| format!("1:1 read as a message of `{name}`, this has no calls, but it has some");
    check(Provider::Anthropic, openai, &words("anthropic"));
    check(Provider::Openai, anthropic, &words("openai"));
    let help = |provider, message| Reply::read(provider, message).diagnostics[0].help.clone().unwrap().to_string();
    assert_eq!(help(Provider::Openai, anthropic), "this looks like a message of `anthropic`: read it as one");
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#;
    assert_eq!(help(Provider::Mcp, gemini), "this looks like a message of `gemini`: read it as one");
    // Calls that are read are not doubted.
    check(Provider::Anthropic, &anthropic.replacen('{', r#"{"tool_calls":[1],"#, 1), "text(a) f({})#1");
}

#[test]
fn messages_of_openai() {
    let check = |message, expected| check(Provider::Openai, message, expected);
    check(r#"{"role":"assistant","content":"a","tool_calls":null}"#, "text(a)");
    check(
        r#"{"choices":[{"message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image_url"}]}}]}"#,
        "text(a) other(image_url)",
    );
    check(
        r#"{"role":"assistant","content":"","reasoning":"r","function_call":{"name":"f","arguments":"{}"}}"#,
        "thinking(r) f({})#",
    );
    // Some servers give the arguments as an object: every digit has to remain as the model wrote it.
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{"n": 1.10, "n": 12345678901234567890}}}]}"#,
        r#"f({"n": 1.10, "n": 12345678901234567890})#c"#,
    );
    check(
        r#"{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"x"}}]}"#,
        "other(custom)",
    );
    check(
        r#"{"choices":[{"message":{"content":"a"},"finish_reason":"length"},{"message":{"content":"b"}}]}"#,
        "text(a) other(another choice) truncated",
    );
    check(r#"[{"type":"function_call","call_id":"c","id":"fc","name":"f","arguments":"{}"}]"#, "f({})#c");
    // A message of somebody else is no answer of the model.
    check(
        r#"[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":"b"}]"#,
        "other(message of the role user) text(b)",
    );
    check(r#"{"role":"tool","content":"a"}"#, "other(message of the role tool)");
    check(r#"{"output":[],"incomplete_details":{"reason":"content_filter"}}"#, "refused");
    check(r#"{"output":[],"incomplete_details":{"reason":"max_output_tokens"}}"#, "truncated");
}

#[test]
fn messages_of_anthropic_gemini_and_mcp() {
    check(Provider::Anthropic, r#"{"content":"a","role":"assistant"}"#, "text(a)");
    check(
        Provider::Anthropic,
        r#"{"content":[{"type":"tool_use","id":"t","name":"f","input":{"a": [1]}},{"type":"container_upload"}],"stop_reason":"max_tokens"}"#,
        r#"f({"a": [1]})#t other(container_upload) truncated unfinished(0)"#,
    );
    check(
        Provider::Gemini,
        r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS"}]}]"#,
        "text(ab) truncated",
    );
    check(
        Provider::Gemini,
        r#"{"candidates":[{"content":{"parts":[{"function_call":{"name":"f"}}]},"finish_reason":"STOP"}]}"#,
        "f({})#",
    );
    check(
        Provider::Gemini,
        r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
        "other(MALFORMED_FUNCTION_CALL)",
    );
    check(
        Provider::Mcp,
        r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"f","arguments":{}}}"#,
        "f({})#x",
    );
    check(Provider::Mcp, r#"{"name":"f"}"#, "f()#");
}

#[test]
fn what_is_no_message_is_an_error_at_its_place() {
    check(Provider::Openai, "{\n \"choices\": [", "2:13 this is not JSON: EOF while parsing a list");
    check(Provider::Openai, "", "1:1 this is not JSON: EOF while parsing a value");
    check(
        Provider::Openai,
        "{}",
        "1:1 this has no `choices`, no `output` and no `role`, so it is no message of OpenAI",
    );
    check(Provider::Openai, "5", "1:1 this is not a message of OpenAI: it is not an object");
    check(Provider::Openai, "{\"role\": \"assistant\",\n \"content\": 5}", "2:13 `content` is not a text");
    check(Provider::Openai, r#"{"role":"assistant","tool_calls":{}}"#, "1:34 `tool_calls` is not a list");
    check(Provider::Openai, r#"{"error":{"message":"slow down"}}"#, "1:10 the API returned an error: slow down");
    check(Provider::Openai, r#"{"choices":[]}"#, "1:1 this has no choice, and so no answer");
    check(
        Provider::Anthropic,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        "1:25 the API returned an error: Overloaded",
    );
    check(Provider::Anthropic, r#"{"content":[7]}"#, "1:13 this is not a content block: it is not an object");
    check(Provider::Gemini, "{}", "1:1 this has no `candidates`, so it is no response of Gemini");
    check(
        Provider::Mcp,
        r#"{"method":"tools/list"}"#,
        "1:1 the method is `tools/list`, and only `tools/call` asks for a tool",
    );
    let half = "1:31 this text contains half of a surrogate pair, which UTF-8 cannot encode";
    check(Provider::Openai, r#"{"role":"assistant","content":"\ud83d"}"#, half);
}

/// Any JSON, most of it near a message.
fn messages() -> impl Strategy<Value = crate::value::Value> {
    use crate::value::Value;
    let names = [
        "choices", "message", "role", "content", "tool_calls", "function", "name", "arguments", "output", "type",
        "text", "candidates", "parts", "functionCall", "args", "thought", "input", "id", "params", "method", "delta",
        "index", "content_block", "finish_reason", "summary", "item", "output_index", "error", "partial_json",
        "stop_reason",
    ];
    let words = [
        "tool_use",
        "thinking",
        "text",
        "function_call",
        "reasoning",
        "message",
        "tools/call",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "response.output_item.added",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.completed",
        "{}",
        "{\"a\":",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..5_u64).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let name = prop::sample::select(names.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A text that has been passed on is never moved, whichever part of the reply continues.
#[test]
fn interleaved_texts_keep_their_order() {
    let joined = |provider, chunks: &[&str]| {
        let (mut all, mut text) = (Chunks::default(), String::new());
        for chunk in chunks {
            for delta in all.push(provider, chunk).unwrap() {
                if let Delta::Text(more) = delta {
                    text.push_str(&more);
                }
            }
        }
        assert_eq!(all.into_reply().text(), text);
        text
    };
    let openai = |delta: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{{delta}}}}}]}}"#);
    let [a, r, b] = [r#""content":"A""#, r#""refusal":"R""#, r#""content":"B""#].map(openai);
    assert_eq!(joined(Provider::Openai, &[&a, &r, &b, &r]), "A\n\nR\n\nB\n\nR");
    let both = openai(r#""content":"A","refusal":"R""#);
    assert_eq!(joined(Provider::Openai, &[&both, &both]), "A\n\nR\n\nA\n\nR");
    let anthropic = |index: u8, text: &str| {
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#)
    };
    let [a, b, c] = [anthropic(0, "A"), anthropic(1, "B"), anthropic(0, "C")];
    assert_eq!(joined(Provider::Anthropic, &[&a, &b, &c, &b]), "ABCB");
    let item = |index: u8, text: &str| {
        format!(r#"{{"type":"response.output_text.delta","output_index":{index},"content_index":0,"delta":"{text}"}}"#)
    };
    let [a, b, c] = [item(0, "A"), item(1, "B"), item(0, "C")];
    assert_eq!(joined(Provider::Openai, &[&a, &b, &c]), "ABC");
}

/// Everything in a stream becomes a part of the reply, or an error reports it.
#[test]
fn chunks_that_nothing_reads_are_noted() {
    let reply = |provider, chunks: &[&str]| {
        let mut all = Chunks::default();
        let faults = chunks.iter().filter_map(|chunk| all.push(provider, chunk).err());
        let faults: Vec<String> = faults.map(|faults| faults.to_string()).collect();
        let reply = all.into_reply();
        let others: Vec<&str> = reply
            .parts
            .iter()
            .filter_map(|part| match part {
                ReplyPart::Other { kind } => Some(kind.as_str()),
                _ => None,
            })
            .collect();
        format!("{} | {} | {}", reply.text(), others.join(", "), faults.join(", "))
    };
    let completion = r#"{"object":"text_completion","choices":[{"index":0,"text":"Fine.","finish_reason":"stop"}]}"#;
    assert_eq!(reply(Provider::Openai, &[completion]), "Fine. |  | ");
    check(Provider::Openai, completion, "text(Fine.)");
    let choice = r#"{"choices":[{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"B"}}]}"#;
    let [refusal, more] = [r#"{"refusal":"R"}"#, r#"{"content":"C"}"#]
        .map(|delta| format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#));
    assert_eq!(reply(Provider::Openai, &[choice, &refusal, &more]), "A\n\nR\n\nC | another choice | ");
    let begin = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"A"}}"#;
    let delta = |delta: &str| format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
    let arguments = delta(r#"{"type":"input_json_delta","partial_json":"{}"}"#);
    let unknown = delta(r#"{"type":"audio_delta","audio":"…"}"#);
    let start = r#"{"type":"message_start","message":{"role":"assistant","content":[{"type":"text","text":"B"}]}}"#;
    assert_eq!(
        reply(Provider::Anthropic, &[start, begin, &arguments, &unknown, &unknown]),
        "A | arguments, audio_delta, content of message_start | "
    );
    let stop = r#"{"type":"message_stop"}"#;
    let again = reply(Provider::Anthropic, &[begin, stop, start]);
    assert!(again.contains("another message begins"), "{again}");
}

#[test]
fn a_part_with_a_text_and_a_call_gives_both() {
    let part = r#"{"text":"a","functionCall":{"name":"f","args":{}}}"#;
    let message =
        format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{part}]}},"finishReason":"STOP"}}]}}"#);
    check(Provider::Gemini, &message, "text(a) f({})#");
}

proptest! {
    #[test]
    fn any_json_is_a_reply_or_an_error(message in messages(), text in "\\PC{0,20}|[{}\\[\\]\":,a0]{0,20}") {
        for provider in Provider::ALL {
            for message in [&message.to_string(), &text] {
                let checked = Reply::read(provider, message);
                prop_assert_eq!(checked.value.is_none(), checked.diagnostics.iter().any(|one| one.help.is_some()));
            }
        }
    }

    #[test]
    fn any_chunks_make_a_reply(chunks in prop::collection::vec(messages(), 0..8)) {
        for provider in Provider::ALL {
            let mut all = Chunks::default();
            let mut text = String::new();
            for chunk in &chunks {
                for delta in all.push(provider, &chunk.to_string()).unwrap_or_default() {
                    if let Delta::Text(more) = delta {
                        text.push_str(&more);
                    }
                }
            }
            let whole = all.into_reply().text();
            prop_assert!(whole.starts_with(&text) || text.is_empty(), "{text:?} {whole:?}");
        }
    }
}
