//! Hooks: does each coding assistant get the answer that it understands, and does nothing run by mistake?

use crate::command::{ended, folder};
use crate::root;
use serde_json::{Value, json};

/// The answer of the hook to the input of an assistant, and the exit status.
fn hook(input: &Value, arguments: &[&str]) -> (Value, i32) {
    let pack = root().join("examples/permits/commands").display().to_string();
    let (status, out, _) = ended(&folder("hook"), &[&["hook", &pack], arguments].concat(), &input.to_string());
    (serde_json::from_str(&out).unwrap_or_default(), status)
}

#[track_caller]
fn check(input: &Value, expected: &Value) {
    assert_eq!(hook(input, &[]), (expected.clone(), 0));
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
fn the_assistant_gets_the_judged_arguments() {
    // The pack repairs arguments that every reading understands alike: the assistant gets the judged ones.
    let input = json!({ "toolName": "Bash", "toolArgs": "{\"command\": \"git status\", \"description\": null}" });
    let (answer, _) = hook(&input, &[]);
    assert!(answer["permissionDecision"] == "deny" || answer["modifiedArgs"]["command"] == "git status", "{answer}");
    // A person who is asked confirms the judged arguments, without the one that the pack has dropped.
    let mut install = command("PreToolUse", "npm install x");
    install["tool_input"]["sandbox"] = false.into();
    let asked = &hook(&install, &[]).0["hookSpecificOutput"];
    assert_eq!(asked["permissionDecision"], "ask");
    assert_eq!(asked["updatedInput"], json!({ "command": "npm install x" }));
    // Whoever is asked reads what was left out.
    let question = asked["permissionDecisionReason"].as_str().unwrap();
    assert!(question.ends_with("the arguments were changed: the action does not declare `sandbox`"), "{question}");
}

#[test]
fn the_permission_mode_of_the_assistant_selects_the_mode_of_the_pack() {
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

/// Assistants block a tool only after the exit status 2.
#[test]
fn any_trouble_blocks_the_tool() {
    let pack = root().join("examples/permits/commands").display().to_string();
    let here = folder("hook-trouble");
    std::fs::write(here.join("pack.toml"), "[pack]\nname = 1\n").unwrap();
    for (pack, input) in [
        (&*pack, "no JSON"),
        (&*pack, "{}"),
        (&*pack, "{\"hook_event_name\": 5, \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"git status\"}}"),
        (&*pack, "{\"hook_event_name\": \"Stop\", \"tool_name\": \"Bash\"}"),
        (&*pack, "{\"tool_name\": \"Bash\", \"tool_input\": \"no JSON\"}"),
        ("nowhere", "{\"tool_name\": \"Bash\"}"),
        (".", "{\"tool_name\": \"Bash\"}"),
    ] {
        let (status, out, err) = ended(&here, &["hook", pack], input);
        assert_eq!((status, &*out), (2, ""), "{input}: {err}");
        assert!(!err.is_empty());
    }
}

/// Which of two values an assistant uses, the hook cannot know.
#[test]
fn a_call_that_two_readers_understand_differently_is_blocked() {
    let pack = root().join("examples/permits/commands").display().to_string();
    let call =
        "\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"git status\"}";
    for member in [
        "\"tool_name\": \"Bash\"",
        "\"tool_n\\u0061me\": \"Bash\"",
        "\"toolName\": \"Write\"",
        "\"Tool_Name\": \"Write\"",
        "\"tool_input\": {\"command\": \"rm -r /\"}",
        "\"toolArgs\": {\"command\": \"rm -r /\"}",
        "\"hook_event_name\": \"preToolUse\"",
        "\"cwd\": \"/a\", \"cwd\": \"/b\"",
        "\"more\": {\"a\": 1, \"a\": 2}",
    ] {
        for input in [format!("{{{call}, {member}}}"), format!("{{{member}, {call}}}")] {
            let (status, out, err) = ended(&folder("hook-twice"), &["hook", &pack], &input);
            assert_eq!((status, &*out), (2, ""), "{input}: {err}");
            assert!(err.contains("the call is not clear"), "{err}");
        }
    }
    // Of an argument that is there twice, the tool runs with the judged value.
    let input = "{\"toolName\": \"Bash\", \"toolArgs\": {\"command\": \"rm -r /\", \"command\": \"git status\"}}";
    let (status, out, err) = ended(&folder("hook-twice"), &["hook", &pack], input);
    assert_eq!(status, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["modifiedArgs"], json!({ "command": "git status" }));
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("the arguments were changed: "), "{reason}");
}

#[test]
fn a_number_that_cannot_be_kept_as_it_is_written_is_denied() {
    let here = folder("hook-numbers");
    let pack = "[pack]\nname = \"numbers\"\n[actions.Wait]\nparams = { time = { type = \"number\" }, more = {} }\n[modes.default]\npermits = [\"Wait\", { action = \"*\", confirm = \"Run?\" }]\n";
    std::fs::write(here.join("pack.toml"), pack).unwrap();
    let input = |name: &str, value: &str| {
        format!(
            "{{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Wait\", \"tool_input\": {{\"{name}\": {value}}}}}"
        )
    };
    for number in [
        "123456789012345678901234567890",
        "9007199254740993.0",
        "1e-400",
        "18446744073709551617",
        "0.10000000000000000999",
    ] {
        for (name, value) in
            [("time", number.to_owned()), ("more", number.to_owned()), ("more", format!("[{{\"a\": -{number}}}]"))]
        {
            assert_eq!(decision(&here, &[], &input(name, &value)), "deny", "{name} {value}");
            assert_eq!(decision(&here, &["--only-restrict"], &input(name, &value)), "deny", "{name} {value}");
        }
    }
    for number in ["0.1", "-0", "1e22", "18446744073709551615", "9007199254740993", "1.50"] {
        assert_eq!(decision(&here, &[], &input("time", number)), "allow", "{number}");
    }
    assert_eq!(decision(&here, &[], &input("more", "\"1e-400 \\\" 1e-400\"")), "allow");
}

/// A pack that permits three calls in a conversation, and a fourth that a person is asked about.
const FEW: &str = r#"
[pack]
name = "few"
[state.reads]
type = "integer"
default = 0
[state.hook]
type = "object"
from = "host"
[actions.Read]
effects = [{ set = "reads", value = "{{ state.reads + 1 }}" }]
[actions.Ask]
effects = [{ set = "reads", value = "{{ state.reads + 1 }}" }]
[modes.default]
permits = [{ action = "Read", when = "state.reads < 3", advice = "Three are enough." }, { action = "Ask", confirm = "Ask?" }]
[modes.acceptEdits]
permits = ["Read"]
"#;

fn few(name: &str) -> std::path::PathBuf {
    let here = folder(name);
    std::fs::write(here.join("pack.toml"), FEW).unwrap();
    here
}

fn call(conversation: &str, tool: &str) -> String {
    let call =
        json!({ "session_id": conversation, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {} });
    call.to_string()
}

/// The decision of the hook, which must not fail.
#[track_caller]
fn decision(here: &std::path::Path, arguments: &[&str], input: &str) -> String {
    let (status, out, err) = ended(here, &[&["hook", "."], arguments].concat(), input);
    assert_eq!(status, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_that_is_saved_counts_the_calls_of_each_conversation() {
    let here = few("hook-saved");
    let (of_each, one) = (["--sessions", "chats"], ["--session", "one.json", "--save"]);
    for arguments in [&of_each[..], &one] {
        let decisions: Vec<String> = (0..4).map(|_| decision(&here, arguments, &call("a-1", "Read"))).collect();
        assert_eq!(decisions, ["allow", "allow", "allow", "deny"]);
    }
    assert_eq!(decision(&here, &of_each, &call("a-2", "Read")), "allow");
    assert_eq!(decision(&here, &one, &call("a-2", "Read")), "deny");
    // Without `--save`, the session is only read.
    let before = std::fs::read_to_string(here.join("one.json")).unwrap();
    assert_eq!(decision(&here, &one[..2], &call("a-1", "Read")), "deny");
    assert_eq!(std::fs::read_to_string(here.join("one.json")).unwrap(), before);
    // The input of the assistant is not stored in the session.
    let kept = std::fs::read_to_string(here.join("chats/session-a-1.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["state"], json!({ "reads": 3, "hook": null }));
}

#[test]
fn the_permission_mode_of_a_call_does_not_change_the_saved_mode() {
    let here = few("hook-mode");
    let mut input: Value = serde_json::from_str(&call("a", "Read")).unwrap();
    for (mode, expected) in [
        ("acceptEdits", "allow"),
        ("acceptEdits", "allow"),
        ("acceptEdits", "allow"),
        ("bypassPermissions", "deny"),
        ("acceptEdits", "allow"),
    ] {
        input["permission_mode"] = mode.into();
        assert_eq!(decision(&here, &["--sessions", "chats"], &input.to_string()), expected);
    }
}

/// The hook does not learn what a person answers, so neither the state nor the pending call is stored.
#[test]
fn a_call_that_is_asked_about_changes_no_session() {
    let here = few("hook-asked");
    let arguments = ["--sessions", "chats"];
    assert_eq!(decision(&here, &arguments, &call("a", "Read")), "allow");
    let file = here.join("chats/session-a.json");
    let before = std::fs::read_to_string(&file).unwrap();
    assert_eq!(decision(&here, &arguments, &call("a", "Ask")), "ask");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn concurrent_hooks_use_one_session_in_turn() {
    let here = few("hook-at-once");
    let hook = |_| {
        std::thread::spawn({
            let here = here.clone();
            move || decision(&here, &["--sessions", "chats"], &call("a", "Read"))
        })
    };
    let hooks: Vec<_> = (0..12).map(hook).collect();
    let allowed = hooks.into_iter().map(|hook| hook.join().unwrap()).filter(|answer| answer == "allow").count();
    assert_eq!(allowed, 3);
}

#[test]
fn a_session_that_cannot_be_read_or_written_blocks_the_tool() {
    let here = few("hook-broken");
    std::fs::create_dir_all(here.join("chats/session-folder.json")).unwrap();
    std::fs::write(here.join("chats/session-broken.json"), "{\"mode\": ").unwrap();
    std::fs::write(here.join("chats/session-misfit.json"), "{\"state\": {\"reads\": \"many\"}}").unwrap();
    std::fs::write(here.join("file"), "").unwrap();
    let none = json!({ "hook_event_name": "PreToolUse", "tool_name": "Read" }).to_string();
    let chats = ["--sessions", "chats"];
    for (arguments, input, why) in [
        (&chats[..], call("folder", "Read"), "session-folder.json"),
        (&chats, call("broken", "Read"), "not JSON"),
        (&chats, call("misfit", "Read"), "reads"),
        (&chats, call("../up", "Read"), "cannot be the name of a file"),
        (&chats, call("", "Read"), "cannot be the name of a file"),
        (&chats, none, "names no conversation"),
        (&["--sessions", "file"], call("a", "Read"), "file"),
        (&["--session", "nowhere/one.json", "--save"], call("a", "Read"), "nowhere"),
        (&["--session", "-", "--save", "call.json"], String::new(), "standard input"),
        (&["--save"], call("a", "Read"), "--session"),
    ] {
        std::fs::write(here.join("call.json"), call("a", "Read")).unwrap();
        let (status, out, err) = ended(&here, &[&["hook", "."], arguments].concat(), &input);
        assert_eq!((status, &*out), (2, ""), "{arguments:?} {input}: {err}");
        assert!(err.contains(why), "{arguments:?}: {err}");
    }
}
