//! Packs for tools: which files does a pack have whose model calls tools in a shipped dialect?
//!
//! In: the name of the pack, that of the dialect, and optionally a list of tools.
//! Out: the files of the pack: an action and a permit for each tool, and a case for the first tool that can have one.
//! Never: writes a file, or declares a table with a fault.

use super::case;
use super::schema::params;
use crate::packs::read_tools;
use crate::{Error, Format};
use rulebook::program::DeclarationKind;
use rulebook::{Folder, Object, Program, Value};
use std::path::Path;
use toml_edit::{Array, InlineTable};

/// The mode that permits the tools.
const MODE: &str = "chat";

/// The files of a pack by their paths, and the parts of its tools that a pack cannot express.
pub(super) struct Made {
    pub(super) files: Vec<(String, String)>,
    pub(super) left_out: Vec<String>,
}

pub(super) fn pack(name: &str, dialect: &str, tools: Option<&Path>) -> Result<Made, Error> {
    let tools = match tools {
        Some(path) => read_tools(path, Format::Human)?.declared(),
        None => vec![("keep_note".to_owned(), Some("Keep one sentence for later".to_owned()), example())],
    };
    if tools.is_empty() {
        return Err(Error::Failed("the list has no tool with a name".to_owned()));
    }
    if let Some(twice) =
        tools.iter().enumerate().find(|(at, (tool, ..))| tools.iter().take(*at).any(|one| one.0 == *tool))
    {
        let (_, (tool, ..)) = twice;
        return Err(Error::Failed(format!(
            "the list has two tools called `{tool}`: a pack has one action of each name"
        )));
    }
    let (mut actions, mut left_out) = (Vec::new(), Vec::new());
    for (tool, about, schema) in &tools {
        let params = params(schema).unwrap_or_default();
        left_out
            .extend(params.left_out.iter().map(|what| format!("of the tool `{tool}`, a pack cannot express `{what}`")));
        let action = action(tool, about.as_deref(), Some(params.table).filter(|table| !table.is_empty()));
        loaded(name, &text(name, dialect, std::slice::from_ref(&action), &[tool]))
            .map_err(|why| Error::Failed(format!("the tool `{tool}` cannot be an action: {why}")))?;
        actions.push(action);
    }
    let names: Vec<&String> = tools.iter().map(|(tool, ..)| tool).collect();
    let text = text(name, dialect, &actions, &names);
    let mut files = vec![("pack.toml".to_owned(), text.clone())];
    let program =
        loaded(name, &text).map_err(|why| Error::Failed(format!("no pack can be made of these tools: {why}")))?;
    // If no example of a call can be written in the dialect, there is no case.
    files.extend(names.iter().find_map(|tool| case::write(DeclarationKind::Action, tool, MODE, &program).ok()?.ok()));
    Ok(Made { files, left_out })
}

/// The program of a pack with this text, or its first fault.
fn loaded(name: &str, text: &str) -> Result<Program, String> {
    let checked = rulebook::check::faults(&Folder::new(name, [("pack.toml", text)]));
    let fault = checked.diagnostics.iter().find(|one| one.is_error());
    let why = fault.map(|fault| match &fault.help {
        Some(help) => format!("{} ({help})", fault.message),
        None => fault.message.to_string(),
    });
    checked.value.ok_or_else(|| why.unwrap_or_default())
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

/// The parameters of the tool that a pack gets if no list is given.
fn example() -> Value {
    let text = Object::from_iter([("type", Value::from("string")), ("minLength", Value::from(1))]);
    let properties = Object::from_iter([("text", Value::Object(text))]);
    let required: Value = [Value::from("text")].into_iter().collect();
    Object::from_iter([("properties", Value::Object(properties)), ("required", required)]).into()
}
