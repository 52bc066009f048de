//! Tools: which tools does a host have at run time?
//!
//! In: a list of tools as JSON, in the form of OpenAI, Anthropic, Gemini or MCP.
//! Out: [`Tools`], with the place of each; a diagnostic for what is no tool.
//! Never: decides which of them may be called, or whether a schema can be used.

use crate::diagnostic::{Checked, Code, Diagnostic};
use crate::text::{JsonPlaces, Location, Source, Sources, Span};
use crate::value::{Object, Value, broken};

/// The most tools of one list.
const MAX_TOOLS: usize = 10_000;
/// The members that hold a list of tools: what servers return, and what requests send.
const LISTS: [&str; 5] = ["tools", "result", "functionDeclarations", "function_declarations", "functions"];

/// The tools that a host has at run time: [`Program::with_tools`](crate::Program::with_tools) adds them to a pack.
#[derive(Debug, Clone)]
pub struct Tools {
    pub(crate) source: Source,
    pub(crate) list: Vec<Tool>,
    /// The places of entries without a name.
    pub(crate) nameless: Vec<Span>,
}

/// One tool.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) about: Option<String>,
    /// The JSON Schema of its parameters.
    pub(crate) schema: Value,
    pub(crate) at: Span,
}

impl Tools {
    /// Reads a list of tools: `tools` of a request to OpenAI (chat completions or Responses) or Anthropic, the
    /// `functionDeclarations` of one to Gemini, or what an MCP server returns for `tools/list`.
    ///
    /// What is no list at all is an error of the result, with its place.
    ///
    /// ```
    /// use rulebook::{Folder, Program, Provider, Reply, Tools};
    ///
    /// let pack = r#"
    /// [pack]
    /// name = "desk"
    /// [actions."files__*"]
    /// [modes.reading]
    /// permits = ["files__read_*", { action = "files__write", when = "params.path is startingwith('notes/')" }]
    /// "#;
    /// let tools = Tools::read(r#"[
    ///     {"name": "files__read_text", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    ///     {"name": "files__write", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}
    /// ]"#).into_result()?;
    /// let program = Program::load(&Folder::new("desk", [("pack.toml", pack)])).into_result()?;
    /// let program = program.with_tools(&tools).into_result()?;
    ///
    /// let call = r#"{"method": "tools/call", "id": 1, "params": {"name": "files__write", "arguments": {"path": "a.txt"}}}"#;
    /// let outcome = program.judge(&program.session(), &Reply::read(Provider::Mcp, call).into_result()?, &Default::default());
    /// assert_eq!(outcome.diagnostics[0].code, "response/forbidden-call");
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    #[must_use]
    pub fn read(list: &str) -> Checked<Tools> {
        Self::read_file("tools", list)
    }

    /// The name, description and schema of each tool.
    #[doc(hidden)]
    pub fn declared(&self) -> Vec<(String, Option<String>, Value)> {
        self.list.iter().map(|tool| (tool.name.clone(), tool.about.clone(), tool.schema.clone())).collect()
    }

    /// The same as [`Tools::read`], for a list in a file of this name.
    #[doc(hidden)]
    #[must_use]
    pub fn read_file(name: &str, list: &str) -> Checked<Tools> {
        let list = list.strip_prefix('\u{feff}').unwrap_or(list);
        let mut sources = Sources::default();
        let source = sources.add(Source::new(name, list));
        let mut diagnostics = Vec::new();
        let mut report = |code, span, message: String, help: &'static str| {
            let at = Location { source, span };
            diagnostics.push(Diagnostic::new(code, at, message).with_help(help));
        };
        let mut tools = Tools { source: Source::new(name, list), list: Vec::new(), nameless: Vec::new() };
        match serde_json::from_str::<Value>(list) {
            Err(error) => {
                let message = format!("this is not JSON: {}", broken::why(&error));
                report(Code::PACK_UNREADABLE_TOOLS, broken::place(&error, list), message, WANTED);
            }
            Ok(value) => {
                let mut places = JsonPlaces::new(list);
                let mut found = Vec::new();
                if !collect(&value, String::new(), &mut found) {
                    let message = "this is no list of tools".to_owned();
                    report(Code::PACK_UNREADABLE_TOOLS, places.value(""), message, WANTED);
                }
                if found.len() > MAX_TOOLS {
                    let message = format!("{} tools are listed, and at most {MAX_TOOLS} are read", found.len());
                    report(Code::PACK_UNREADABLE_TOOLS, places.value(""), message, "give the host fewer tools");
                }
                for (pointer, tool) in found {
                    let at = places.value(&pointer);
                    match read_tool(&tool) {
                        Some((name, about, schema)) => tools.list.push(Tool { name, about, schema, at }),
                        None => tools.nameless.push(at),
                    }
                }
            }
        }
        Checked::new(Some(tools), diagnostics, sources)
    }
}

/// What a list of tools looks like.
const WANTED: &str = "it is a list such as `[{\"type\": \"function\", \"function\": {\"name\": …, \"parameters\": {…}}}]`, as an API takes it, or \
     `{\"tools\": […]}` around that";

/// Collects the tools in a list, or in the member of an object that holds one, each with its JSON pointer. Returns
/// whether there is a list.
fn collect(value: &Value, pointer: String, found: &mut Vec<(String, Object)>) -> bool {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                let Some(members) = item.as_object() else {
                    found.push((pointer, Object::new()));
                    continue;
                };
                let inner = ["functionDeclarations", "function_declarations"]
                    .into_iter()
                    .find_map(|name| members.get(name).map(|inner| (format!("{pointer}/{name}"), inner)));
                match inner {
                    Some((pointer, inner)) => _ = collect(inner, pointer, found),
                    None => found.push((pointer, members.clone())),
                }
            }
            true
        }
        Value::Object(members) => {
            let list = LISTS.into_iter().find_map(|name| Some((name, members.get(name)?)));
            // One tool is a list of one.
            if list.is_none() && pointer.is_empty() && read_tool(members).is_some() {
                found.push((pointer, members.clone()));
                return true;
            }
            list.is_some_and(|(name, list)| pointer.len() < 64 && collect(list, format!("{pointer}/{name}"), found))
        }
        _ => false,
    }
}

/// The name, description and schema of a tool; none without a name.
fn read_tool(tool: &Object) -> Option<(String, Option<String>, Value)> {
    let tool = tool.get("function").and_then(Value::as_object).unwrap_or(tool);
    let text = |name: &str| tool.get(name).and_then(Value::as_str).map(str::to_owned);
    const SCHEMAS: [&str; 5] =
        ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"];
    let schema = SCHEMAS.iter().find_map(|name| tool.get(name)).filter(|schema| !schema.is_null());
    // A tool without a schema takes no parameters.
    let nothing = || Object::from_iter([("type", Value::from("object"))]).into();
    Some((text("name")?, text("description").or_else(|| text("title")), schema.cloned().unwrap_or_else(nothing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let tools = Tools::read(list);
        let names: Vec<String> = tools
            .value
            .map(|tools| tools.list)
            .unwrap_or_default()
            .into_iter()
            .map(|one| {
                let typed = one.schema.get("properties").is_some();
                format!("{}{}", one.name, if typed { "()" } else { "" })
            })
            .collect();
        assert_eq!(names, expected, "{:?}", tools.diagnostics);
    }

    #[test]
    fn the_lists_of_all_providers_are_read() {
        let schema = r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#;
        check(&format!(r#"[{{"type": "function", "function": {{"name": "f", "parameters": {schema}}}}}]"#), &["f()"]);
        check(&format!(r#"[{{"type": "function", "name": "f", "parameters": {schema}}}]"#), &["f()"]);
        check(&format!(r#"{{"tools": [{{"name": "f", "input_schema": {schema}}}]}}"#), &["f()"]);
        check(
            &format!(
                r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{{"name": "f", "inputSchema": {schema}}}]}}}}"#
            ),
            &["f()"],
        );
        check(
            &format!(r#"[{{"functionDeclarations": [{{"name": "f", "parameters": {schema}}}, {{"name": "g"}}]}}]"#),
            &["f()", "g"],
        );
        check(r#"[{"type": "web_search"}, {"name": "f"}, 3]"#, &["f"]);
        check("[]", &[]);
        // One tool by itself is a list of one.
        check(&format!(r#"{{"name": "f", "parameters": {schema}}}"#), &["f()"]);
    }

    #[test]
    fn what_is_no_list_is_reported_with_its_place() {
        for (list, message) in [
            ("{\"a\": 1}", "this is no list of tools"),
            ("[", "this is not JSON: EOF while parsing a list"),
            ("3", "this is no list of tools"),
        ] {
            let tools = Tools::read(list);
            assert!(tools.value.is_none());
            assert_eq!(tools.diagnostics[0].message, message);
        }
    }
}
