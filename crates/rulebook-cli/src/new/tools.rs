//! Packs for tools: how does a pack start whose model calls tools in a shipped dialect?
//!
//! In: the name of the pack, that of the dialect, and maybe a list of tools.
//! Out: its files: an action and a permit for each tool, and a case for the first.
//! Never: writes anything, or declares what would not pass a check.

use super::{Kind, case};
use crate::packs::read_tools;
use crate::{Error, Format};
use rulebook::program::Program;
use rulebook::surface::Folder;
use rulebook::value::{Object, Value};
use std::path::Path;
use toml_edit::{Array, InlineTable};

/// The mode that permits the tools.
const MODE: &str = "chat";

/// The files of the pack, by their paths.
pub(super) fn pack(name: &str, dialect: &str, tools: Option<&Path>) -> Result<Vec<(String, String)>, Error> {
    let tools = match tools {
        Some(path) => read_tools(path, Format::Human)?.declared(),
        None => vec![("keep_note".to_owned(), Some("Keep one sentence for later".to_owned()), example())],
    };
    if tools.is_empty() {
        return Err(Error::Usage("the list has no tool with a name".to_owned()));
    }
    let mut actions: Vec<String> = Vec::new();
    for (tool, about, schema) in &tools {
        let with_params = action(tool, about.as_deref(), params(schema));
        let checks = loaded(name, &text(name, dialect, std::slice::from_ref(&with_params), &[tool])).is_some();
        actions.push(if checks { with_params } else { action(tool, about.as_deref(), None) });
    }
    let names: Vec<&String> = tools.iter().map(|(tool, ..)| tool).collect();
    let text = text(name, dialect, &actions, &names);
    let mut files = vec![("pack.toml".to_owned(), text.clone())];
    let program = loaded(name, &text).ok_or_else(|| Error::Usage("no pack can be made of these tools".to_owned()))?;
    // A dialect of which no form can be shown has no case to start with.
    if let Some(first) = names.first() {
        files.extend(case::write(Kind::Action, first, MODE, &program).ok().and_then(Result::ok));
    }
    Ok(files)
}

/// The program of such a pack, if it checks.
fn loaded(name: &str, text: &str) -> Option<Program> {
    Program::check(&Folder::new(name, [("pack.toml", text)])).value
}

fn text(name: &str, dialect: &str, actions: &[String], names: &[&String]) -> String {
    let permits: Array = names.iter().map(|name| name.as_str()).collect();
    format!(
        "#:schema pack.schema.json\n# What the calls of one assistant may do. Its model writes them in the dialect `{dialect}`.\n\n\
         [pack]\nname    = {name:?}\nversion = \"0.1.0\"\nuse     = [\"std:{dialect}\"]\n\n\
         # What an answer may ask for, and what comes of it: an event for the host.\n{}\n\
         # What no permit allows is forbidden.\n[modes.{MODE}]\npermits = {permits}\n",
        actions.join("\n")
    )
}

/// The table of an action.
fn action(name: &str, about: Option<&str>, params: Option<InlineTable>) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let about = about.map(|about| format!("about   = {}\n", toml_edit::Value::from(line(about)))).unwrap_or_default();
    let params = params.map(|params| format!("params  = {params}\n")).unwrap_or_default();
    let key = toml_edit::Key::new(name);
    format!(
        "[actions.{}]\n{about}{params}effects = [{{ emit = \"call\", value = {{ tool = \"{{{{ action }}}}\", params = \"{{{{ params }}}}\" }} }}]\n",
        key.display_repr()
    )
}

/// The parameters that a schema declares, as a pack writes them; none if it says more than that.
fn params(schema: &Value) -> Option<InlineTable> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    let mut params = InlineTable::new();
    for (name, property) in properties {
        let mut property = written(property)?.as_inline_table()?.clone();
        if required.iter().any(|one| one == name) {
            property.insert("required", true.into());
        }
        params.insert(name, property.into());
    }
    Some(params)
}

/// A value as TOML; none for what TOML cannot say, or for a reference, which would lead nowhere.
fn written(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().into(),
        },
        Value::String(text) => (&**text).into(),
        Value::Array(items) => items.iter().map(written).collect::<Option<Array>>()?.into(),
        Value::Object(members) if members.get("$ref").is_some() => return None,
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| Some((name.to_owned(), written(value)?)));
            members.collect::<Option<InlineTable>>()?.into()
        }
    })
}

/// The parameters of the example.
fn example() -> Value {
    let text = Object::from_iter([("type", Value::from("string")), ("minLength", Value::from(1))]);
    let properties = Object::from_iter([("text", Value::Object(text))]);
    let required: Value = [Value::from("text")].into_iter().collect();
    Object::from_iter([("properties", Value::Object(properties)), ("required", required)]).into()
}
