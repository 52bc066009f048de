//! Tools of a host: how does a program change when it gets them?

use crate::texts::program_with;
use rulebook::{Options, Program, Provider, Reply, Tools};

const PACK: &str = r#"
[pack]
name = "gate"
[dialects.tagged]
grammar = "tags"
text    = "message"
blocks.tool_call = { role = "call", name = "@payload.name", body = "arguments", payload = "json" }
[actions.note]
about  = "Keep a note"
params = { text = { type = "string", required = true } }
[actions."srv_*"]
effects = [{ emit = "called", value = "{{ params }}" }]
[modes.chat]
permits = ["*"]
[prompts.main]
layers = [{ id = "tools", template = "prompt/tools.md" }]
[tiers.any]
context = 8000
reserve = 100
"#;
const TOOLS_LAYER: &str =
    "{% for action in actions %}{{ action.name }}: {{ action.about }}\n{{ action.example | markup }}\n{% endfor %}";

fn program() -> Program {
    program_with([("pack.toml", PACK), ("prompt/tools.md", TOOLS_LAYER)])
}

/// Checks the findings about a list of tools. Returns the program with the tools.
#[track_caller]
fn check(list: &str, expected: &[&str]) -> Program {
    let checked = program().with_tools(&Tools::read(list).into_result().unwrap());
    let found: Vec<String> = checked.diagnostics.iter().map(|one| format!("{}: {}", one.code, one.message)).collect();
    assert_eq!(found, expected);
    checked.into_result().unwrap()
}

/// Checks the codes of a call, and its number of effects.
#[track_caller]
fn check_call(program: &Program, name: &str, arguments: &str, expected: (&[&str], usize)) {
    let call =
        format!(r#"{{"method": "tools/call", "id": 1, "params": {{"name": {name:?}, "arguments": {arguments}}}}}"#);
    let reply = Reply::read(Provider::Mcp, &call).into_result().unwrap();
    let outcome = program.judge(&program.session(), &reply, &Options::default());
    let codes: Vec<&str> = outcome.diagnostics.iter().map(|one| one.code.as_str()).collect();
    assert_eq!((codes.as_slice(), outcome.effects.len()), expected, "{name}");
}

#[test]
fn a_tool_has_its_own_parameters_unless_the_pack_declares_some() {
    let list = r#"[
        {"name": "srv_add", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}},
        {"name": "note", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}, "tag": {"type": "string"}}}}
    ]"#;
    let program = check(
        list,
        &["pack/other-params: the tool `note` has other parameters than its action: the pack declares no `tag`"],
    );
    check_call(&program, "srv_add", r#"{"a": 1}"#, (&[], 1));
    check_call(&program, "srv_add", r#"{"a": "one"}"#, (&["response/invalid-payload"], 0));
    check_call(&program, "srv_add", "{}", (&["response/invalid-payload"], 0));
    check_call(&program, "note", r#"{"text": "x", "tag": "y"}"#, (&["response/unknown-param"], 0));
    // The tools are known now, so no other name matches the pattern.
    check_call(&program, "srv_sub", r#"{"a": 1}"#, (&["response/unknown-action"], 0));
    check_call(&self::program(), "srv_sub", r#"{"a": 1}"#, (&[], 1));
}

#[test]
fn what_no_table_declares_stays_unknown() {
    let program = check(
        r#"[{"name": "rm", "inputSchema": {"type": "object"}}]"#,
        &["pack/undeclared-tool: no table declares the tool `rm`, so that no call of it has an effect"],
    );
    check_call(&program, "rm", "{}", (&["response/unknown-action"], 0));
}

#[test]
fn a_tool_that_cannot_be_used_is_left_out_with_the_reason() {
    let deep = format!("{}{{}}{}", r#"{"items": "#.repeat(100), "}".repeat(100));
    let with = |schema: &str| format!(r#"[{{"name": "srv_x", "inputSchema": {schema}}}]"#);
    let left_out = |why: &str| format!("pack/unusable-tool: the schema of `srv_x` cannot be used: {why}");
    for (schema, why) in [
        (deep.as_str(), "it nests more than 64 levels deep"),
        (r#"{"$ref": "https://example.com/x.json"}"#, "it refers to another document, `https://example.com/x.json`"),
        (r##"{"$ref": "#"}"##, "this reference goes back to the schema that it is part of, so it requires nothing"),
        (
            r#"{"type": "objekt"}"#,
            "`type`: \"objekt\" is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
    ] {
        let checked = program().with_tools(&Tools::read(&with(schema)).into_result().unwrap());
        let found: Vec<String> =
            checked.diagnostics.iter().map(|one| format!("{}: {}", one.code, one.message)).collect();
        assert!(found.len() == 1 && (found[0] == left_out(why) || schema.contains("objekt")), "{found:?}");
        check_call(&checked.value.unwrap(), "srv_x", "{}", (&["response/unknown-action"], 0));
    }
    for name in ["srv x", "srv_<script>", "srv_\u{202e}", "", "srv_*", &"srv_".repeat(40)] {
        let list = serde_json::json!([{ "name": name, "inputSchema": { "type": "object" } }]).to_string();
        let checked = program().with_tools(&Tools::read(&list).into_result().unwrap());
        assert_eq!(checked.diagnostics[0].code.as_str(), "pack/unusable-tool", "{name}");
        assert!(!checked.value.unwrap().actions().any(|known| known == name && !name.contains('*')));
    }
    check(
        r#"[{"name": "srv_x"}, {"name": "srv_x"}, {"type": "web_search"}]"#,
        &[
            "pack/unusable-tool: this has no name, and so is no tool that a host carries out",
            "pack/unusable-tool: `srv_x` is listed twice: the first one is used",
        ],
    );
}

#[test]
fn recursive_schemas_of_servers_work() {
    let list = r##"[{"name": "srv_tree", "inputSchema": {"type": "object", "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}}}}]"##;
    let program = check(list, &[]);
    check_call(&program, "srv_tree", r#"{"root": {"name": "a", "next": {"name": "b"}}}"#, (&[], 1));
    check_call(
        &program,
        "srv_tree",
        r#"{"root": {"name": "a", "next": {"name": 2}}}"#,
        (&["response/invalid-payload"], 0),
    );
}

#[test]
fn prompts_and_exports_show_the_tools_and_no_pattern() {
    let list = r#"[{"name": "srv_say", "description": "Says <b>so</b> </tool_call>", "inputSchema": {"type": "object", "properties": {
        "text": {"type": "string", "examples": ["</tool_call>"]}}, "required": ["text"]}}]"#;
    let program = check(list, &[]);
    let prompt = program.prompt(&program.session(), &Default::default());
    assert!(prompt.text.starts_with("note: Keep a note\n<tool_call>\n{\n  \"name\": \"note\","), "{}", prompt.text);
    assert!(prompt.text.contains("srv_say: Says <b>so</b> &#60;/tool_call>\n<tool_call>"), "{}", prompt.text);
    assert!(!prompt.text.contains("srv_*") && prompt.text.matches("</tool_call>").count() == 2, "{}", prompt.text);
    let plain = self::program();
    assert!(!plain.prompt(&plain.session(), &Default::default()).text.contains("srv_"));
}

#[test]
fn a_thousand_tools_are_added() {
    let tool = |number: usize| {
        let properties =
            serde_json::json!({ "path": { "type": "string" }, "count": { "type": "integer", "minimum": number } });
        serde_json::json!({ "name": format!("srv_{number}"), "inputSchema": { "type": "object", "properties": properties } })
    };
    let list = serde_json::Value::Array((0..1000).map(tool).collect()).to_string();
    let program = check(&list, &[]);
    check_call(&program, "srv_999", r#"{"count": 999}"#, (&[], 1));
    check_call(&program, "srv_999", r#"{"count": 998}"#, (&["response/invalid-payload"], 0));
}
