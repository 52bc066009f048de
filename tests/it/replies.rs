//! Structured replies: does a native call have the same outcome as that call in a text?

use crate::texts::program_of;
use proptest::prelude::*;
use rulebook::outcome::{Status, Verdict};
use rulebook::{Folder, Options, Outcome, Program, Provider, Reply, ReplyPart, Session};

/// A pack whose calls may be written in the text, too: `<call name="x">{…}</call>`.
const PACK: &str = r#"
[pack]
name = "desk"

[dialects.tags]
grammar = "tags"
text    = "message"
[dialects.tags.blocks]
message  = { role = "message" }
thinking = { role = "thinking" }
file     = { role = "content", key = "@path" }
call     = { role = "call", name = "@name", payload = "json" }

[contents.file]
effects = [{ write = "{{ key }}", value = "{{ text }}" }]

[actions.refund]
about   = "Gives money back"
params  = { amount = { type = "number", required = true }, reason = { type = "string" } }
effects = [{ emit = "refund", value = "{{ params.amount }}" }, { set = "spent", value = "{{ state.spent + params.amount }}" }]
[actions.note]
params  = { text = { type = "string", required = true }, tags = { type = "array", items = { type = "string" } } }
effects = [{ emit = "note", value = "{{ params.text }}" }]
degradation = { malformed-payload = ["salvage", "drop"], invalid-payload = ["coerce", "drop"] }
[actions.look]
names   = ["see"]
effects = [{ emit = "look" }]
[actions.erase]
effects = [{ emit = "erase" }]
[actions.risky]
params  = { code = { type = "integer", required = true } }
effects = [{ emit = "risky" }]
degradation = { invalid-payload = ["ask-again"], malformed-payload = ["ask-again"] }

[state.spent]
type = "number"
default = 0

[degradation]
malformed-payload = ["repair", "drop"]

[[guardrails]]
id      = "secret"
matches = "sk-[0-9]+"
on      = ["message", "thinking", "note.text"]
strategy = "redact"

[[guardrails]]
id       = "curse"
matches  = "damn"
on       = "note.text"
strategy = "refuse"

[modes.desk]
permits = [{ action = "refund", when = "params.amount <= 100", advice = "Refund at most 100." }, "note", "look", "risky"]
"#;

fn program() -> Program {
    program_of(PACK)
}

fn call(name: &str, arguments: &str) -> ReplyPart {
    ReplyPart::Call { id: Some(format!("id-{name}")), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn text(text: &str) -> ReplyPart {
    ReplyPart::Text { text: text.to_owned() }
}

fn thinking(text: &str) -> ReplyPart {
    ReplyPart::Thinking { text: text.to_owned() }
}

fn reply(parts: impl IntoIterator<Item = ReplyPart>) -> Reply {
    let mut reply = Reply::default();
    reply.parts = parts.into_iter().collect();
    reply
}

fn judge(program: &Program, session: &Session, parts: impl IntoIterator<Item = ReplyPart>) -> Outcome {
    program.judge(session, &reply(parts), &Options::default())
}

/// The members of an outcome that must be equal for a native call and for one in a text.
fn meaning(outcome: &Outcome) -> serde_json::Value {
    let calls = outcome.calls.iter().map(|call| serde_json::json!([call.action, call.params, call.verdict]));
    let codes = outcome.diagnostics.iter().map(|found| serde_json::json!([found.code, found.strategy, found.severity]));
    serde_json::json!({
        "calls": calls.collect::<Vec<_>>(),
        "codes": codes.collect::<Vec<_>>(),
        "effects": outcome.effects,
        "state": outcome.session,
        "status": outcome.status,
    })
}

/// Payloads as models write them, good and bad.
const PAYLOADS: &[(&str, &str)] = &[
    ("refund", r#"{"amount": 5}"#),
    ("refund", r#"{"amount": 500}"#),
    ("refund", r#"{"amount": "5"}"#),
    ("refund", r#"{"amount": 5, "reason": "late", "who": "Ann"}"#),
    ("refund", r#"{'amount': 5,}"#),
    ("refund", r#"{"amount": 5 "#),
    ("refund", r#"{"amount": 5, "amount": 6}"#),
    ("refund", r#"{"ammount": 5}"#),
    ("refund", "[5]"),
    ("refund", "null"),
    ("refund", ""),
    ("refund", "   "),
    ("refund", "five"),
    ("refund", r#""{\"amount\": 5}""#),
    ("refund", "```json\n{\"amount\": 5}\n```"),
    ("refund", r#"{"amount": 5}}"#),
    ("note", r#"{"text": "Tea at \u0035"}"#),
    ("note", r#"{"text": "the key is sk-123, keep it"}"#),
    ("note", r#"{"text": "damn"}"#),
    ("note", r#"{"text": "tea", "tags": "one"}"#),
    ("note", r#"{"text": "tea "and" cake"}"#),
    ("note", r#"{"text": 5}"#),
    ("note", r#"{"text": "unfinished"#),
    ("look", "{}"),
    ("see", "{}"),
    ("erase", "{}"),
    ("unknown", "{}"),
    ("risky", r#"{"code": "x"}"#),
    ("risky", "{"),
    ("", "{}"),
];

#[test]
fn a_native_call_has_the_outcome_of_the_same_call_in_a_text() {
    let program = program();
    let mut differing = Vec::new();
    for (name, arguments) in PAYLOADS {
        let spelled = format!("<call name=\"{name}\">{arguments}</call>");
        let in_text = program.run(&program.session(), &spelled);
        let native = judge(&program, &program.session(), [call(name, arguments)]);
        if meaning(&in_text) != meaning(&native) {
            differing.push(format!("{name} {arguments}\n  {}\n  {}", meaning(&in_text), meaning(&native)));
        }
        sums(&native);
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// The closer of a call in a text bounds a number before it; nothing follows the arguments of a native call.
#[test]
fn only_a_native_call_may_be_cut_in_a_number_at_its_end() {
    let program = program();
    let in_text = program.run(&program.session(), "<call name=\"refund\">{\"amount\": 5</call>");
    let native = judge(&program, &program.session(), [call("refund", "{\"amount\": 5")]);
    assert_eq!((in_text.calls[0].verdict, native.calls[0].verdict), (Verdict::Accepted, Verdict::Dropped));
}

/// Checks that the ledger counts every byte.
#[track_caller]
fn sums(outcome: &Outcome) {
    let ledger = outcome.ledger;
    let parts = [
        ledger.message, ledger.thinking, ledger.calls, ledger.contents, ledger.sections, ledger.utterances,
        ledger.markup, ledger.stray, ledger.dropped, ledger.blank,
    ];
    assert_eq!(parts.into_iter().sum::<usize>(), ledger.bytes, "{ledger:?}");
}

#[test]
fn text_that_no_dialect_reads_is_the_message() {
    let program = program();
    let outcome = judge(&program, &program.session(), [text(" Let me look.\n"), call("look", "{}")]);
    assert_eq!((outcome.status, outcome.message.as_str()), (Status::Clean, "Let me look."));
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.dialect.as_deref(), Some("tags"));
    assert_eq!(outcome.calls[0].id.as_deref(), Some("id-look"));
    assert_eq!(serde_json::to_string(&outcome.calls[0].span).unwrap(), "[0,2,1]");
    sums(&outcome);
}

#[test]
fn places_are_those_of_their_part() {
    let program = program();
    let parts = [text("Hm.\n"), call("look", "{}"), call("refund", "{\n \"amount\": \"much\"}"), thinking("sk-1")];
    let outcome = judge(&program, &program.session(), parts);
    let found = &outcome.diagnostics[0];
    assert_eq!(found.code, "response/invalid-payload");
    assert_eq!((found.span.part, found.line, found.column), (2, 2, 2), "{found:?}");
    assert_eq!(serde_json::to_string(&outcome.redacted).unwrap(), "[[0,4,3]]");
    assert_eq!(outcome.thinking, ["[…]"]);
    sums(&outcome);
}

#[test]
fn effects_follow_the_order_of_the_parts() {
    let program = program();
    let parts = [call("look", "{}"), text("<file path=\"a\">x</file>"), call("note", r#"{"text": "t"}"#)];
    let outcome = judge(&program, &program.session(), parts);
    let effects = serde_json::to_value(&outcome.effects).unwrap();
    let names: Vec<_> =
        effects.as_array().unwrap().iter().map(|one| one["event"].as_str().or(one["key"].as_str())).collect();
    assert_eq!(names, [Some("look"), Some("a"), Some("note")], "{effects}");
}

#[test]
fn a_call_in_the_text_beside_native_calls_is_dropped() {
    let program = program();
    let spelled = text("<call name=\"look\">{}</call>");
    let outcome = judge(&program, &program.session(), [spelled.clone(), call("look", "{}")]);
    assert_eq!(outcome.diagnostics[0].code, "response/spelled-call");
    assert_eq!(outcome.effects.len(), 1);
    assert_eq!(
        outcome.calls.iter().map(|call| call.verdict).collect::<Vec<_>>(),
        [Verdict::Dropped, Verdict::Accepted]
    );
    let alone = judge(&program, &program.session(), [spelled]);
    assert_eq!((alone.effects.len(), alone.status), (1, Status::Clean));
}

#[test]
fn text_in_unclosed_reasoning_or_a_fence_does_not_reach_into_native_calls() {
    let program = program();
    for quoted in ["<thinking>Let me see", "```\nopen", "Hm.</thinking> ok", "`<call name=\"erase\">"] {
        let outcome = judge(&program, &program.session(), [text(quoted), call("look", "{}")]);
        assert_eq!(outcome.effects.len(), 1, "{quoted}: {:?}", outcome.diagnostics);
        sums(&outcome);
    }
}

#[test]
fn a_truncated_reply_does_not_carry_out_its_unfinished_call() {
    let program = program();
    let mut cut = reply([call("look", "{}"), call("refund", r#"{"amount": 1"#)]);
    cut.truncated = true;
    let outcome = program.judge(&program.session(), &cut, &Options::default());
    assert_eq!(
        outcome.calls.iter().map(|call| call.verdict).collect::<Vec<_>>(),
        [Verdict::Accepted, Verdict::Dropped]
    );
    let codes: Vec<_> = outcome.diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert!(codes.contains(&"response/truncated") && codes.contains(&"response/unclosed-block"), "{codes:?}");
    cut.parts[1] = call("refund", r#"{"amount": 1}"#);
    let outcome = program.judge(&program.session(), &cut, &Options::default());
    assert_eq!(outcome.effects.len(), 3);
}

#[test]
fn each_refused_call_is_answered_in_words_for_a_model() {
    let program = program();
    let parts = [call("refund", r#"{"amount": 500}"#), call("look", "{}"), call("erase", "{}")];
    let outcome = judge(&program, &program.session(), parts);
    let openai = outcome.tool_results(Provider::Openai);
    assert_eq!(openai.len(), 2);
    let said = "not carried out: `refund` is not permitted with this `amount` (Refund at most 100.)";
    assert_eq!(openai[0].get("content").and_then(|said| said.as_str()), Some(said));
    assert_eq!(openai[1].get("tool_call_id").and_then(|id| id.as_str()), Some("id-erase"));
    for provider in [Provider::Responses, Provider::Anthropic, Provider::Gemini, Provider::Mcp] {
        let all = outcome.tool_results(provider);
        assert!(all.len() == 2 && all[0].to_string().contains("Refund at most 100."), "{provider}");
        assert!(!all[0].to_string().contains("<= 100"));
    }
}

#[test]
fn a_reply_that_is_asked_for_again_answers_every_call() {
    let program = program();
    let outcome = judge(&program, &program.session(), [call("look", "{}"), call("risky", r#"{"code": "x"}"#)]);
    assert_eq!(outcome.status, Status::Refused);
    let correction = outcome.ask_again.clone().unwrap();
    assert!(correction.contains("call 2:") && !correction.contains("<call"), "{correction}");
    let results = outcome.tool_results(Provider::Openai);
    let said: Vec<String> =
        results.iter().map(|one| one.get("content").unwrap().as_str().unwrap().to_owned()).collect();
    assert_eq!(said[0], "not carried out: the whole answer was refused");
    assert!(said[1].contains("code"), "{said:?}");
}

#[test]
fn nothing_redacted_or_withheld_is_in_what_answers_a_call() {
    let program = program();
    let parts = [call("note", r#"{"text": "sk-123 damn"}"#), call("risky", r#"{"code": "sk-123"}"#)];
    let outcome = judge(&program, &program.session(), parts);
    let all = format!("{:?} {:?}", outcome.tool_results(Provider::Openai), outcome.ask_again);
    assert!(!all.contains("sk-123") && !all.contains("damn"), "{all}");
}

#[test]
fn a_pack_without_dialects_is_complete() {
    let pack = r#"
    [pack]
    name = "weather"
    [actions.get_weather]
    params  = { city = { type = "string", required = true } }
    effects = [{ emit = "weather", value = "{{ params.city }}" }]
    [modes.chat]
    permits = ["get_weather"]
    "#;
    let checked = rulebook::check::review(&Folder::new("weather", [("pack.toml", pack)]));
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let program = checked.value.unwrap();
    let parts = [thinking("Oslo."), text("Let me <b>look</b>:"), call("get_weather", r#"{"city": "Oslo"}"#)];
    let outcome = judge(&program, &program.session(), parts);
    assert_eq!((outcome.status, outcome.message.as_str()), (Status::Clean, "Let me <b>look</b>:"));
    assert!(outcome.diagnostics.is_empty() && outcome.dialect.is_none());
    assert_eq!(outcome.thinking, ["Oslo."]);
    assert_eq!(outcome.effects.len(), 1);
    sums(&outcome);
}

fn parts() -> impl Strategy<Value = ReplyPart> {
    let pieces =
        "(</?(message|thinking|call|file)( name=\"(look|note|erase)\")?>|[{}\\[\\]\":,`\n a-c]|sk-1|damn|\\PC){0,12}";
    prop_oneof![
        pieces.prop_map(|text| ReplyPart::Text { text }),
        pieces.prop_map(|text| ReplyPart::Thinking { text }),
        (prop::sample::select(PAYLOADS), pieces).prop_map(|((name, arguments), _)| call(name, arguments)),
        ("(look|note|refund|erase|\\PC{0,3})", pieces).prop_map(|(name, arguments)| call(&name, &arguments)),
        "[a-z]{1,5}".prop_map(|kind| ReplyPart::Other { kind }),
    ]
}

fn replies() -> impl Strategy<Value = Reply> {
    (prop::collection::vec(parts(), 0..6), any::<bool>(), any::<bool>()).prop_map(|(parts, truncated, refused)| {
        let mut reply = reply(parts);
        (reply.truncated, reply.refused) = (truncated, refused);
        reply
    })
}

proptest! {
    #[test]
    fn any_reply_has_an_outcome_that_accounts_for_every_byte(reply in replies()) {
        let program = program();
        let options = Options::default();
        let outcome = program.judge(&program.session(), &reply, &options);
        sums(&outcome);
        prop_assert!(!serde_json::to_string(&outcome.effects).unwrap().contains("erase"));
        let again = program.judge(&program.session(), &reply, &Options { chunk: Some(1), ..options });
        prop_assert_eq!(&outcome, &again);
        let json = serde_json::to_string(&reply).unwrap();
        prop_assert_eq!(serde_json::from_str::<Reply>(&json).unwrap(), reply);
        for call in &outcome.calls {
            prop_assert!(call.span.start <= call.span.end);
        }
    }
}
