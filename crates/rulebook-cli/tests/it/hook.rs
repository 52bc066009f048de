//! Hooks: does each coding assistant get the answer that it understands, and does nothing run by mistake?

use crate::command::{ended, folder};
use crate::root;
use serde_json::{Value, json};

/// The answer to what an assistant says, and the status.
fn hook(said: &Value, arguments: &[&str]) -> (Value, i32) {
    let pack = root().join("examples/permits/commands").display().to_string();
    let (status, out, _) = ended(&folder("hook"), &[&["hook", &pack], arguments].concat(), &said.to_string());
    (serde_json::from_str(&out).unwrap_or_default(), status)
}

#[track_caller]
fn check(said: &Value, expected: &Value) {
    assert_eq!(hook(said, &[]), (expected.clone(), 0));
}

fn command(event: &str, command: &str) -> Value {
    json!({ "session_id": "s", "cwd": "/p", "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": command } })
}

#[test]
fn each_assistant_reads_its_own_form() {
    let specific = |decision: &str| json!({ "hookEventName": "PreToolUse", "permissionDecision": decision });
    check(&command("PreToolUse", "git status"), &json!({ "hookSpecificOutput": specific("allow") }));
    let mut asks = specific("ask");
    asks["permissionDecisionReason"] = "Run `git push`?".into();
    check(&command("PreToolUse", "git push"), &json!({ "hookSpecificOutput": asks }));
    check(&command("BeforeTool", "git status"), &json!({ "decision": "allow" }));
    let unasked = "not carried out: a person has to confirm this first, and cannot be asked here: Run `git push`?";
    check(&command("BeforeTool", "git push"), &json!({ "decision": "deny", "reason": unasked }));
    let asked = json!({ "permission": "ask", "user_message": "Run `git push`?", "agent_message": "Run `git push`?" });
    check(&command("preToolUse", "git push"), &asked);
    let plain = json!({ "toolName": "Bash", "toolArgs": "{\"command\": \"git status\"}" });
    check(&plain, &json!({ "permissionDecision": "allow" }));
}

#[test]
fn a_call_that_nothing_permits_is_denied_in_words() {
    let (answer, status) = hook(&command("PreToolUse", "curl example.org"), &[]);
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("no network"), "{reason}");
    assert_eq!((answer["hookSpecificOutput"]["permissionDecision"].as_str(), status), (Some("deny"), 0));
    let unknown = json!({ "hook_event_name": "PreToolUse", "tool_name": "Fetch", "tool_input": {} });
    assert_eq!(hook(&unknown, &[]).0["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn what_runs_is_what_was_judged() {
    // The pack repairs what every reading gives alike: the assistant is told of the arguments that were judged.
    let said = json!({ "toolName": "Bash", "toolArgs": "{\"command\": \"git status\", \"description\": null}" });
    let (answer, _) = hook(&said, &[]);
    assert!(answer["permissionDecision"] == "deny" || answer["modifiedArgs"]["command"] == "git status", "{answer}");
}

#[test]
fn a_mode_of_the_assistant_is_that_of_the_pack() {
    let mut write = json!({ "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": { "file_path": "a", "content": "" } });
    assert_eq!(hook(&write, &[]).0["hookSpecificOutput"]["permissionDecision"], "ask");
    write["permission_mode"] = "acceptEdits".into();
    assert_eq!(hook(&write, &[]).0["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(hook(&write, &["--mode", "default"]).0["hookSpecificOutput"]["permissionDecision"], "ask");
    write["permission_mode"] = "bypassPermissions".into();
    assert_eq!(hook(&write, &[]).0["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[test]
fn a_hook_that_only_restricts_leaves_the_rest_to_the_assistant() {
    assert_eq!(hook(&command("PreToolUse", "git status"), &["--only-restrict"]), (Value::Null, 0));
    let (answer, _) = hook(&command("PreToolUse", "curl example.org"), &["--only-restrict"]);
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
}

/// Assistants block a tool at the status 2 alone.
#[test]
fn any_trouble_blocks_the_tool() {
    let pack = root().join("examples/permits/commands").display().to_string();
    let here = folder("hook-trouble");
    std::fs::write(here.join("pack.toml"), "[pack]\nname = 1\n").unwrap();
    for (pack, said) in [
        (&*pack, "no JSON"),
        (&*pack, "{}"),
        (&*pack, "{\"hook_event_name\": \"Stop\", \"tool_name\": \"Bash\"}"),
        (&*pack, "{\"tool_name\": \"Bash\", \"tool_input\": \"no JSON\"}"),
        ("nowhere", "{\"tool_name\": \"Bash\"}"),
        (".", "{\"tool_name\": \"Bash\"}"),
    ] {
        let (status, out, err) = ended(&here, &["hook", pack], said);
        assert_eq!((status, &*out), (2, ""), "{said}: {err}");
        assert!(!err.is_empty());
    }
}
