//! Actions: which actions may an answer in this mode ask for, and how?
//!
//! In: the actions that a mode permits.
//! Out: an [`ActionForm`] for each: its purpose, its parameters, and a call as the mode's first dialect writes it.
//! Never: formats a list for the model; the templates of the pack do.

use super::answer::lone_call;
use super::form::spelled;
use super::spelling::Speller;
use crate::program::{Action, BlockId, Dialect, ExampleMembers, Mode, Permit, Program, example, properties, requires};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// An action, as prompts describe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActionForm {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: Option<String>,
    /// The condition under which it is permitted, in the words of its permits; none if it is permitted unconditionally.
    pub when: Option<String>,
    /// Its parameters, in the order of their declaration.
    pub params: Vec<ParamForm>,
    /// The value that the host returns.
    pub returns: Option<String>,
    /// An example of a call; none if no dialect of the mode has calls, or if calls are members of an object.
    pub example: Option<String>,
}

/// A parameter, as prompts describe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParamForm {
    /// Its name.
    pub name: String,
    /// What it means.
    pub about: Option<String>,
    /// Whether every call must have it.
    pub required: bool,
    /// Its type, in the words of JSON Schema.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The values it may have, if its schema lists them; otherwise empty.
    pub values: Vec<Value>,
    /// An example of its value.
    pub example: Value,
}

impl Program {
    /// The actions that `mode` permits, in the order of declaration; none if the pack does not have the mode.
    #[doc(hidden)]
    pub fn action_forms(&self, mode: &str) -> Vec<ActionForm> {
        let Some(mode) = self.modes.get(mode) else { return Vec::new() };
        self.permitted(mode)
            .map(|(name, action, permits)| ActionForm {
                name: name.to_owned(),
                about: action.about.clone(),
                when: condition(&permits),
                params: params(action),
                returns: action.returns.as_ref().and_then(|schema| text(schema.json(), "description")),
                example: self.call_form(mode, name, action),
            })
            .collect()
    }

    /// A call of an action in the first dialect of the mode that has calls.
    fn call_form(&self, mode: &Mode, name: &str, action: &Action) -> Option<String> {
        self.asked_dialects_of(mode).find_map(|dialect| match lone_call(dialect, name, action) {
            Some(schema) => Some(spelled(&schema)),
            None => {
                Speller { program: self, dialect, reply: &mode.reply }.example_call(name, action).map(|(_, text)| text)
            }
        })
    }

    /// A call of an action as this dialect writes it, with its block; none if blocks are members of an object.
    pub(crate) fn call_example(
        &self,
        mode: &Mode,
        dialect: &Dialect,
        name: &str,
        action: &Action,
    ) -> Option<(BlockId, String)> {
        Speller { program: self, dialect, reply: &mode.reply }
            .example_call(name, action)
            .filter(|_| dialect.outline.is_none())
    }
}

/// A description of when a call is permitted; none if one of the permits has no condition.
pub(super) fn condition(permits: &[&Permit]) -> Option<String> {
    let is_free = permits.iter().any(|permit| permit.when.is_none());
    let words: Vec<&str> = permits.iter().filter_map(|permit| permit.about.as_deref()).collect();
    (!is_free && !words.is_empty()).then(|| words.join("; "))
}

fn params(action: &Action) -> Vec<ParamForm> {
    let schema = action.schema.json();
    let form = |(name, param): (&str, &Value)| ParamForm {
        name: name.to_owned(),
        about: text(param, "description"),
        required: requires(schema, name),
        kind: text(param, "type"),
        values: param.get("enum").and_then(Value::as_array).unwrap_or_default().to_vec(),
        example: example(param, ExampleMembers::Exemplified),
    };
    properties(schema).map(form).collect()
}

fn text(schema: &Value, key: &str) -> Option<String> {
    Some(schema.get(key)?.as_str()?.to_owned())
}
