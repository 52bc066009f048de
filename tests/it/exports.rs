//! Exports: do exported tools and schemas express the rules of a pack?

use crate::texts::program_of;
use rulebook::outcome::Verdict;
use rulebook::prompt::Export;
use rulebook::{Diagnostic, Program, Value, value};
use std::path::Path;

fn load(pack: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(pack);
    Program::load(&rulebook_fs::read_pack(&path).unwrap().folder).value.unwrap()
}

/// The schema, and every schema within it.
fn schemas(schema: &Value) -> Vec<&Value> {
    let mut all = vec![schema];
    let inner = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.values());
    let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    for one in inner.chain(schema.get("items")).chain(choices) {
        all.extend(schemas(one));
    }
    all
}

#[test]
fn a_mode_exports_the_tools_that_it_permits() {
    let program = load("rules/writers-factory");
    for mode in ["architect", "voice_calibration", "director", "editor"] {
        let permitted: Vec<String> = program.action_forms(mode).into_iter().map(|action| action.name).collect();
        let openai = program.export(mode, Export::OpenaiTools, false);
        let anthropic = program.export(mode, Export::AnthropicTools, false);
        // Of a permit, a tool cannot express only the condition.
        let unsaid = |one: &Diagnostic| one.code == "prompt/unsaid" && one.message.to_string().contains("condition");
        assert!(openai.diagnostics.iter().chain(&anthropic.diagnostics).all(unsaid));
        let (openai, anthropic) = (openai.value.unwrap(), anthropic.value.unwrap());
        let functions: Vec<&Value> = openai.as_array().unwrap().iter().map(|tool| &tool["function"]).collect();
        assert_eq!(functions.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), permitted);
        for (one, other) in functions.into_iter().zip(anthropic.as_array().unwrap()) {
            assert_eq!((&one["name"], &one["description"]), (&other["name"], &other["description"]));
            assert_eq!(one["parameters"], other["input_schema"]);
            assert_eq!((one["parameters"]["type"].as_str(), one.get("strict")), (Some("object"), None));
        }
    }
}

#[test]
fn a_strict_tool_closes_every_object_and_requires_what_it_may_leave_empty() {
    let program = load("rules/couple-ai");
    let exported = program.export("chat", Export::OpenaiTools, true);
    assert!(exported.diagnostics.iter().all(|one| one.code == "prompt/unsaid"));
    let tools = exported.value.unwrap();
    let known =
        ["type", "properties", "required", "additionalProperties", "items", "description", "pattern", "minimum"];
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["function"]["strict"], value!(true));
        for schema in schemas(&tool["function"]["parameters"]) {
            assert!(schema.as_object().unwrap().keys().all(|key| known.contains(&key)), "{schema}");
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                let names: Value = properties.keys().map(Value::from).collect();
                assert_eq!((&schema["required"], &schema["additionalProperties"]), (&names, &value!(false)));
            }
        }
    }
    let ingest = &tools[0]["function"]["parameters"];
    assert_eq!(ingest["properties"]["sourceUrl"]["type"], value!(["string", "null"]));
    let payload = value!({ "docId": "d", "title": "t", "summary": "s", "totalChapters": 1, "writingStyle": "w",
        "authorHabits": ["h"], "lastAnalyzedChapter": 1, "sourceUrl": null, "sections": null });
    assert!(jsonschema::validator_for(&ingest.into()).unwrap().is_valid(&payload.into()));
}

#[test]
fn null_from_a_strict_tool_counts_as_absent() {
    let pack = |degradation: &str| {
        let over = format!(
            "[degradation]\ninvalid-payload = {degradation}\n[actions.keep_note.params]\nby = {{ type = \"string\" }}"
        );
        let pack = crate::snippets::lay_over(&crate::snippets::base(), &over);
        program_of(pack)
    };
    let call = "<action type=\"keep_note\">{\"text\": \"x\", \"by\": null}</action>";
    for (degradation, reported, verdict) in
        [("\"drop\"", 2, Verdict::Dropped), ("[\"coerce\", \"drop\"]", 1, Verdict::Accepted)]
    {
        let program = pack(degradation);
        assert_eq!(program.export("chat", Export::OpenaiTools, true).diagnostics.len(), reported);
        let outcome = program.run(&program.session(), call);
        assert_eq!(outcome.calls[0].verdict, verdict);
        assert_eq!(outcome.calls[0].params.get("by").is_some(), verdict == Verdict::Dropped);
    }
}

#[test]
fn null_from_a_strict_tool_follows_the_strategies_of_its_block() {
    let call = "<action type=\"keep_note\">{\"text\": \"x\", \"by\": null}</action>";
    let (drop, coerce) = ("\"drop\"", "[\"coerce\", \"drop\"]");
    for (of_pack, of_block, reported, verdict) in
        [(coerce, drop, 2, Verdict::Dropped), (drop, coerce, 1, Verdict::Accepted)]
    {
        let over = format!(
            "[degradation]\ninvalid-payload = {of_pack}\n[dialects.tagged.blocks]\naction.degradation = {{ invalid-payload = {of_block} }}\n[actions.keep_note.params]\nby = {{ type = \"string\" }}"
        );
        let pack = crate::snippets::lay_over(&crate::snippets::base(), &over);
        let program = program_of(pack);
        assert_eq!(program.export("chat", Export::OpenaiTools, true).diagnostics.len(), reported);
        assert_eq!(program.run(&program.session(), call).calls[0].verdict, verdict);
    }
}

#[test]
fn a_strict_schema_reports_what_it_cannot_express() {
    let pack = crate::snippets::lay_over(
        &crate::snippets::base(),
        r#"
        [actions.keep_note.params]
        any  = { type = "object" }
        kind = { enum = ["a", "b"] }
        one  = { const = 1 }
        list = { type = "array", uniqueItems = true, items = { type = "string", maxLength = 3 } }
        way  = { oneOf = [{ type = "string" }, { type = "integer" }] }
        [modes.chat]
        permits = [{ action = "keep_note", when = "params.text" }]
        "#,
    );
    let program = program_of(pack);
    let exported = program.export("chat", Export::OpenaiTools, true);
    let said: Vec<String> = exported.diagnostics.iter().map(|one| one.message.to_string()).collect();
    assert_eq!(
        said,
        [
            "nothing says in words under which condition `keep_note` is permitted",
            "a strict tool cannot leave out what is optional: `keep_note` comes with `null`, which is refused",
            "a strict schema cannot say members that no schema names of `any`",
            "a strict schema cannot say `uniqueItems` of `list`",
            "a strict schema cannot say `maxLength` of `list[]`",
            "a strict schema cannot say `minLength` of `text`",
        ]
    );
    let properties = &exported.value.unwrap()[0]["function"]["parameters"]["properties"];
    assert_eq!(properties["kind"], value!({ "enum": ["a", "b", null] }));
    assert_eq!(properties["one"], value!({ "anyOf": [{ "const": 1 }, { "type": "null" }] }));
    let way = value!({ "anyOf": [{ "anyOf": [{ "type": "string" }, { "type": "integer" }] }, { "type": "null" }] });
    assert_eq!(properties["way"], way);
    // For Anthropic, optional members may be absent; bounds of numbers are not supported.
    let exported = program.export("chat", Export::AnthropicTools, true).value.unwrap();
    assert_eq!(exported[0]["input_schema"]["required"], value!(["text"]));
}

/// The dialect of `dce` whose answers are one object, in a pack of its own.
fn object_pack() -> Program {
    let pack = "[pack]\nname = \"dce\"\nuse = [\"std:reasoning\"]\ndialects = [\"json\"]\n[contents.file]\nkey = \"path\"\n[modes.cycle]\n";
    let dialect = include_str!("../../rules/dce/json.toml");
    let folder = rulebook::Folder::new("dce", [("pack.toml", pack), ("json.toml", dialect)]);
    Program::load(&folder).value.unwrap()
}

#[test]
fn the_schema_of_an_answer_is_that_of_its_members() {
    let program = object_pack();
    let schema = program.export("cycle", Export::JsonSchema, false).value.unwrap();
    let names: Vec<&str> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["summary", "course_of_action", "files_updated", "curator_activity", "files"]);
    assert_eq!(schema["required"], value!(["summary", "course_of_action", "files"]));
    let file = &schema["properties"]["files"]["items"];
    assert_eq!((file["type"].as_str(), &file["required"]), (Some("object"), &value!(["path", "content"])));
    let step = &schema["properties"]["course_of_action"]["items"];
    assert_eq!(
        (step["properties"]["step"]["type"].as_str(), &step["required"]),
        (Some("integer"), &value!(["step", "description"]))
    );
    let format = program.export("cycle", Export::ResponseFormat, false).value.unwrap();
    let wanted =
        value!({ "type": "json_schema", "json_schema": { "name": "dce-cycle", "schema": schema, "strict": false } });
    assert_eq!(format, wanted);
    assert_eq!(program.export("cycle", Export::JsonObject, false).value, Some(value!({ "type": "json_object" })));
    // In strict mode optional members may be `null`, and every member is required.
    let strict = program.export("cycle", Export::JsonSchema, true);
    assert_eq!(strict.diagnostics, []);
    for schema in schemas(&strict.value.unwrap()) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["required"], properties.keys().map(Value::from).collect::<Value>());
            assert_eq!(schema["additionalProperties"], value!(false));
        }
    }
}

#[test]
fn real_answers_fit_the_schema_that_is_exported() {
    let schema = object_pack().export("cycle", Export::JsonSchema, false).value.unwrap();
    let schema = jsonschema::validator_for(&schema.into()).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/dce");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let mut fit = 0;
    for row in index.lines().map(|row| row.split('\t').collect::<Vec<_>>()).filter(|row| row.get(6) == Some(&"json")) {
        let text = std::fs::read_to_string(folder.join(row[0])).unwrap();
        // Some answers are not valid JSON; `members.rs` tests those.
        let bare = text.trim().trim_start_matches("```json").trim_end_matches("```");
        let Ok(answer) = serde_json::from_str::<serde_json::Value>(bare) else { continue };
        // An answer without files lacks a member that the form requires.
        let whole = answer.get("files").is_some();
        assert_eq!(
            schema.is_valid(&answer),
            whole,
            "{}: {:?}",
            row[0],
            schema.validate(&answer).err().map(|error| error.to_string())
        );
        fit += usize::from(whole);
    }
    assert!(fit > 0);
}

#[test]
fn an_object_may_hold_calls_and_lists_at_any_depth() {
    let program = load("tests/packs/one-object");
    let mode = program.session().mode;
    let schema = program.export(&mode, Export::JsonSchema, false).value.unwrap();
    let properties = &schema["properties"];
    assert_eq!(properties["calls"]["items"]["properties"]["action"], value!({ "const": "add" }));
    assert_eq!(properties["calls"]["items"]["properties"]["params"]["required"], value!(["n"]));
    assert_eq!(properties["do"]["required"], value!(["what", "n"]));
    let data = &properties["data"];
    assert_eq!(data["properties"]["files"]["items"]["required"], value!(["path", "content"]));
    assert_eq!(data["properties"]["notes"]["additionalProperties"]["type"], value!("string"));
    // A pattern within the name of a member counts as no name, either.
    let part = &schema["properties"]["parts"]["additionalProperties"];
    assert_eq!(part["properties"]["note"]["type"], value!("string"));
}

#[test]
fn a_strict_answer_has_empty_lists_and_says_which_members_refuse_null() {
    let pack = r#"
        [pack]
        name = "x"
        [dialects.object]
        grammar = "json"
        [dialects.object.blocks]
        say             = { role = "message", schema = { required = true } }
        why             = { role = "thinking" }
        sum             = { role = "section", schema = { type = ["string", "null"] } }
        paths           = { role = "section", schema = { type = "array", items = { type = "string" } } }
        "calls[]"       = { role = "call", name = "@action", body = "params" }
        "data.files[]"  = { role = "content", name = "file", key = "path", body = "content" }
        one             = { role = "call", name = "@action" }
        [actions.keep]
        params = { text = { type = "string", required = true } }
        [actions.rate]
        params = { stars = { type = "integer" } }
        [modes.default]
        permits = ["*"]
    "#;
    let program = program_of(pack);
    let exported = program.export("default", Export::JsonSchema, true);
    let said: Vec<String> = exported.diagnostics.iter().map(|one| one.message.to_string()).collect();
    let reported = |what: &str, name: &str| {
        format!("a strict {what} cannot leave out what is optional: `{name}` comes with `null`, which is refused")
    };
    assert_eq!(said, [reported("schema", "why"), reported("schema", "one"), reported("answer", "rate")]);
    let schema = exported.value.unwrap();
    assert_eq!(schema["properties"]["calls"]["type"], "array");
    assert_eq!(schema["properties"]["data"]["properties"]["files"]["type"], "array");
    // The empty values that the schema requires are accepted without a finding.
    let answer = value!({
        "say": "Hi", "why": "x", "sum": null, "paths": [], "calls": [], "data": { "files": [] },
        "one": { "action": "keep", "text": "a" }
    });
    let validator = jsonschema::validator_for(&schema.into()).unwrap();
    let plain = serde_json::Value::from(&answer);
    assert!(validator.is_valid(&plain), "{:?}", validator.validate(&plain).err().map(|error| error.to_string()));
    let outcome = program.run(&program.session(), &answer.to_string());
    assert_eq!((outcome.diagnostics.as_slice(), outcome.calls.len()), ([].as_slice(), 1));
}
