//! Exports: which parameters for an LLM API make answers follow these rules?
//!
//! In: a mode of the program, and the parameter of the request.
//! Out: the value of that parameter as JSON, and a diagnostic for each rule that it cannot express.
//! Never: sends anything, or changes how answers are judged.

use super::actions::condition;
use super::answer::CallParams;
use super::strict::{self, Vendor};
use crate::diagnostic::{Checked, Code, Defect, Diagnostic, Strategy};
use crate::program::{Action, BlockBinding, DeclarationContext, Dialect, Mode, Program};
use crate::surface::Role;
use crate::value::{Value, value};

/// The parameter of an API request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Export {
    /// `response_format` with the schema of an answer, for OpenAI and compatible servers.
    ResponseFormat,
    /// `response_format` that only asks for a JSON object.
    JsonObject,
    /// The schema of an answer, by itself.
    JsonSchema,
    /// `tools` for OpenAI and compatible servers.
    OpenaiTools,
    /// `tools` for Anthropic.
    AnthropicTools,
}

impl Program {
    /// The implementation of [`Program::export`].
    pub(crate) fn export_for_api(&self, name: &str, what: Export, strict: bool) -> Checked<Value> {
        let mut diagnostics = Vec::new();
        let value = match self.modes.get(name) {
            Some(mode) if matches!(what, Export::OpenaiTools | Export::AnthropicTools) => {
                self.tools(mode, what, strict, &mut diagnostics)
            }
            Some(mode) => self.answer(name, mode, what, strict, &mut diagnostics),
            None => {
                diagnostics.push(self.no_mode(name));
                None
            }
        };
        diagnostics.dedup();
        Checked::new(value, diagnostics, self.sources.clone())
    }

    /// The schema of an answer, or the parameter that asks for any object.
    fn answer(
        &self,
        name: &str,
        mode: &Mode,
        what: Export,
        strict: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Value> {
        let Some(dialect) = self.asked_dialects_of(mode).find(|dialect| dialect.outline.is_some()) else {
            let message = format!("an answer of the mode `{name}` is not a JSON object: no dialect of it has members");
            let help = "give the mode a dialect whose grammar is `json`";
            diagnostics.push(Diagnostic::new(Code::PROMPT_NO_OBJECT, mode.at, message).with_help(help));
            return None;
        };
        if what == Export::JsonObject {
            return Some(value!({ "type": "json_object" }));
        }
        let mut schema = self.answer_schema(mode, dialect, CallParams::Declared, strict)?;
        if strict {
            self.nulls(mode, dialect, diagnostics);
            let at = |path: &[String]| {
                let first = path.first().map(String::as_str);
                let of = |block: &&BlockBinding| first.is_some() && block.name.split(['.', '[']).next() == first;
                Some(dialect.blocks.iter().find(of).map_or(dialect.at, |block| block.at))
            };
            schema = strict::strict(&schema, Vendor::OpenAi, &at, diagnostics);
        }
        if what == Export::JsonSchema {
            return Some(schema);
        }
        let is_allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '-' };
        let name: String = format!("{}-{name}", self.name).chars().map(is_allowed).take(64).collect();
        Some(value!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema, "strict": strict } }))
    }

    /// Whether `null` for an optional parameter makes a call invalid in any block that the call may be in.
    fn refuses_null<'p>(&'p self, mode: &'p Mode, name: &str, action: &Action) -> bool {
        let required = action.schema.json().get("required").and_then(Value::as_array).map_or(0, <[_]>::len);
        let calls = |dialect: &'p Dialect| dialect.blocks.iter().filter(|block| dialect.may_call(block, name, action));
        let mut blocks: Vec<Option<&BlockBinding>> = self.asked_dialects_of(mode).flat_map(calls).map(Some).collect();
        if blocks.is_empty() {
            blocks.push(None);
        }
        let coerces = |block: &Option<&BlockBinding>| {
            let near = DeclarationContext { action: Some(action), block: *block, mode: Some(mode) };
            self.answers(Defect::InvalidPayload, near)
                .any(|(strategy, _)| matches!(strategy, Strategy::Coerce | Strategy::Omit))
        };
        action.params.len() > required && !blocks.iter().all(coerces)
    }

    /// Reports the blocks that do not accept `null`. If a server enforces a strict schema, a model writes `null` for
    /// everything optional except lists.
    fn nulls(&self, mode: &Mode, dialect: &Dialect, diagnostics: &mut Vec<Diagnostic>) {
        for member in self.answer_members(mode, dialect, CallParams::Declared).unwrap_or_default() {
            let block = member.block;
            if member.required || member.may_be_empty() || block.name.contains(['*', '?']) || member.takes_null() {
                continue;
            }
            let message = format!(
                "a strict schema cannot leave out what is optional: `{}` comes with `null`, which is refused",
                block.name
            );
            let help = match block.role {
                Role::Call => format!("bind the list `{}[]`: with nothing in it, nothing is asked for", block.name),
                _ => "let the block's `schema` take it, as in `{ type = [\"string\", \"null\"] }`, or say `required = true` in it"
                    .to_owned(),
            };
            diagnostics.push(Diagnostic::new(Code::PROMPT_UNSAID, block.at, message).with_help(help));
        }
        for (name, action, _) in self.permitted(mode).filter(|(name, action, _)| self.refuses_null(mode, name, action))
        {
            diagnostics.push(null_param("answer", name, action));
        }
    }

    /// The permitted actions as tools.
    fn tools(&self, mode: &Mode, what: Export, strict: bool, diagnostics: &mut Vec<Diagnostic>) -> Option<Value> {
        let tools =
            self.permitted(mode).map(|(name, action, permits)| {
                check_name(name, action, diagnostics);
                let condition = condition(&permits);
                if permits.iter().all(|permit| permit.when.is_some()) && condition.is_none() {
                    let at = permits.first().map(|permit| permit.at);
                    let message = format!("nothing says in words under which condition `{name}` is permitted");
                    diagnostics.push(Diagnostic::new(Code::PROMPT_UNSAID, at, message).with_help(
                        "give the permit an `about`; what its condition denies is `forbidden-call` when the answer is judged",
                    ));
                }
                if strict && what == Export::OpenaiTools && self.refuses_null(mode, name, action) {
                    diagnostics.push(null_param("tool", name, action));
                }
                let schema = parameters(action, what, strict, diagnostics);
                let mut tool = value!({ "name": name });
                let Value::Object(members) = &mut tool else { return tool };
                let about: Vec<&str> = action.about.as_deref().into_iter().chain(condition.as_deref()).collect();
                members.extend((!about.is_empty()).then(|| ("description".to_owned(), value!(about.join(". ")))));
                let key = if what == Export::AnthropicTools { "input_schema" } else { "parameters" };
                members.insert(key.to_owned(), schema);
                if strict {
                    members.insert("strict".to_owned(), value!(true));
                }
                match what {
                    Export::AnthropicTools => tool,
                    _ => value!({ "type": "function", "function": tool }),
                }
            });
        Some(tools.collect())
    }
}

/// The diagnostic for optional parameters that models send as `null`, which the rules refuse.
fn null_param(what: &str, name: &str, action: &Action) -> Diagnostic {
    let message =
        format!("a strict {what} cannot leave out what is optional: `{name}` comes with `null`, which is refused");
    let help = "say `invalid-payload = [\"coerce\", \"drop\"]`: then such a parameter counts as absent";
    Diagnostic::new(Code::PROMPT_UNSAID, action.at, message).with_help(help)
}

fn parameters(action: &Action, what: Export, strict: bool, diagnostics: &mut Vec<Diagnostic>) -> Value {
    let schema = action.schema.json();
    if !strict {
        return schema.clone();
    }
    let vendor = if what == Export::AnthropicTools { Vendor::Anthropic } else { Vendor::OpenAi };
    let at = |path: &[String]| {
        let param = path.first().and_then(|first| action.params.iter().find(|param| param.name == *first));
        Some(param.map_or(action.at, |param| param.at))
    };
    strict::strict(schema, vendor, &at, diagnostics)
}

/// Reports a name that servers do not accept: they allow letters, digits, underscores and dashes.
fn check_name(name: &str, action: &Action, diagnostics: &mut Vec<Diagnostic>) {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.bytes().all(is_allowed) || name.is_empty() || name.len() > 64 {
        let message = format!("`{name}` cannot be the name of a tool");
        diagnostics.push(
            Diagnostic::new(Code::PROMPT_TOOL_NAME, action.at, message)
                .with_help("1 to 64 ASCII letters, digits, `_` and `-`"),
        );
    }
}
