//! Parts: does `rulebook new` add a part that works to each shipped pack?

use crate::command::{folder, outputs};
use crate::guides::copy;
use crate::root;
use std::fs;

/// Adds a part to a copy of a pack. The pack is still clean, the new case passes, and of the other cases none but
/// `broken` is reported to fail. Returns the new case.
#[track_caller]
fn check(pack: &str, kind: &str, broken: &[&str]) -> String {
    let folder = folder(&format!("parts-{pack}-{kind}"));
    copy(&root().join("rules"), &folder.join("rules"));
    let place = format!("rules/{pack}");
    let status = i32::from(!broken.is_empty());
    let (out, err) = outputs(&folder, &["new", kind, "tidy-up", "--pack", &place], "", status);
    let lost: String = broken.iter().map(|name| format!("  {place}/tests/{name}.case\n")).collect();
    assert!(err.ends_with(&lost) && err.is_empty() == lost.is_empty(), "{err}");
    let case = out.lines().find_map(|line| line.trim().strip_suffix(".case")).unwrap_or_else(|| panic!("{out}"));
    outputs(&folder, &["check", "--strict", &place], "", 0);
    let claim = case.rsplit('/').next().unwrap();
    let (tested, _) = outputs(&folder, &["test", &place, "--filter", claim], "", 0);
    assert!(tested.starts_with("1 case in 1 pack: 1 passed"), "{tested}");
    fs::read_to_string(folder.join(format!("{case}.case"))).unwrap()
}

/// Checks that the new case carries the action out, and that the prompt contains an example of its call.
#[track_caller]
fn check_action(pack: &str, name: &str, asked: &str, broken: &[&str]) {
    let case = check(pack, "action", broken);
    assert!(case.contains(asked) && case.contains(&format!("action = \"{name}\", verdict = \"accepted\"")), "{case}");
    let folder = crate::scratch::path(&format!("parts-{pack}-action"));
    let (prompt, _) = outputs(&folder, &["prompt", &format!("rules/{pack}"), "--message", "Hello."], "", 0);
    assert!(prompt.contains(asked), "{prompt}");
}

#[test]
fn a_new_action_can_be_asked_for_in_every_pack() {
    check_action("couple-ai", "ACTION_TIDY_UP", "[ACTION_TIDY_UP]{}", &[]);
    // The prompt has one more layer now, and this case expects the old layers.
    check_action("dce", "tidy-up", "<tidy-up/>", &["without-a-name-the-prompt-asks-for-an-answer"]);
    check_action("roundtable", "tidy-up", "<tidy-up/>", &[]);
    check_action("writers-factory", "tidy-up", "<action type=\"tidy-up\"", &[]);
}

#[test]
fn a_new_mode_is_judged_in_every_pack() {
    for pack in ["couple-ai", "dce", "roundtable", "writers-factory"] {
        let case = check(pack, "mode", &[]);
        assert!(case.contains("mode    = \"tidy-up\""), "{case}");
    }
}

#[test]
fn a_new_guardrail_is_tripped_in_every_pack() {
    for pack in ["couple-ai", "dce", "roundtable", "writers-factory"] {
        let case = check(pack, "guardrail", &[]);
        assert!(case.contains("the guardrail `tidy-up` is tripped"), "{case}");
    }
}

/// Schemas as generators write them: with references, `null`, and keywords that only some providers know.
#[test]
fn a_pack_for_tools_keeps_what_their_schemas_say() {
    let folder = folder("tools-of-programs");
    let tools = r##"[{"type": "function", "function": {"name": "plan", "strict": true, "parameters": {"type": "object",
        "properties": {
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "Note"},
            "kind": {"enum": ["long", null]},
            "route": {"$ref": "#/$defs/Route"},
            "days": {"type": "INTEGER", "format": "int32"},
            "size": {"type": "string", "nullable": true, "format": "cidr"}},
        "required": ["route", "why"], "additionalProperties": false,
        "$defs": {"Route": {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}}}}}]"##;
    fs::write(folder.join("tools.json"), tools).unwrap();
    let (_, err) = outputs(&folder, &["new", "pack", "desk", "--dialect", "hermes", "--tools", "tools.json"], "", 0);
    assert!(err.contains("of the tool `plan`, a pack cannot express `size.format = \"cidr\"`"), "{err}");
    outputs(&folder, &["test", "desk"], "", 0);
    for (arguments, counts) in [
        (r#"{"note": null, "kind": null, "route": {"from": "Oslo"}, "days": 3, "size": null, "why": 1}"#, true),
        (r#"{"note": "x", "kind": "long", "route": {"from": "Oslo"}, "why": []}"#, true),
        (r#"{"route": {}, "why": 1}"#, false),
        (r#"{"route": {"from": "Oslo"}}"#, false),
        (r#"{"kind": "wide", "route": {"from": "Oslo"}, "why": 1}"#, false),
    ] {
        let answer = format!("<tool_call>\n{{\"name\": \"plan\", \"arguments\": {arguments}}}\n</tool_call>");
        let (out, _) = outputs(&folder, &["run", "desk", "--format", "json"], &answer, 0);
        let outcome: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(outcome["calls"][0]["verdict"], if counts { "accepted" } else { "dropped" }, "{arguments}");
    }
}

#[test]
fn invalid_lists_of_tools_make_no_pack() {
    let folder = folder("tools-that-are-none");
    for (tools, why) in [
        (r#"[{"name": "a"}, {"name": "a"}]"#, "two tools called `a`"),
        (r#"[{"name": "a", "parameters": {"properties": {"x": {"type": "strin"}}}}]"#, "did you mean `string`?"),
        ("[]", "no tool with a name"),
    ] {
        fs::write(folder.join("tools.json"), tools).unwrap();
        let (_, err) =
            outputs(&folder, &["new", "pack", "desk", "--dialect", "hermes", "--tools", "tools.json"], "", 2);
        assert!(err.contains(why), "{err}");
        assert!(!folder.join("desk").exists());
    }
    let (_, err) = outputs(&folder, &["new", "pack", "desk", "--dialect", "qwen25"], "", 2);
    assert!(err.contains("`hermes` reads what that writes"), "{err}");
}
