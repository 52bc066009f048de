//! `rulebook hook`: may a coding assistant run this tool?
//!
//! In: a pack; on standard input the JSON that an assistant sends to a hook before a tool runs; optionally a session.
//! Out: allow, deny or ask, in the format of the assistant; on request, the next session in its file.
//! Never: runs the tool, or permits it because something failed: any failure ends with the status that blocks the tool.

use super::decision::{self, Decision};
use super::json_text::WrittenMembers;
use super::output::written;
use super::saved::SavedSession;
use super::session::{self, SessionArguments};
use super::unique::{Unique, folded};
use super::{CommandOutput, Error, Format, OpenedPack, Status, input};
use rulebook::Outcome;
use rulebook::text::excerpt;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The largest input, in bytes.
const MAX_INPUT: u64 = 1 << 26;

/// The most characters of the findings about arguments that were changed.
const MAX_REASON: usize = 900;

/// The state value that gets the other members of the input, so that conditions can read them, if the pack declares it.
const STATE: &str = "hook";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  rulebook hook lamp < call.json\n\nWith `{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"keep_note\", \"tool_input\": {\"text\": \"Tea\"}}`, for example. Whatever goes wrong, the status is 2, which blocks the tool."
)]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    /// The input of the hook; by default, or for `-`, standard input
    file: Option<PathBuf>,
    #[command(flatten)]
    session: SessionArguments,
    /// Write the session back to the file of `--session`, for the next call; a file that does not exist is created
    #[arg(long, requires = "session")]
    save: bool,
    /// A folder with a session for each conversation, by the id that the assistant gives; each is written back
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    sessions: Option<PathBuf>,
    /// The tools that the assistant has: a list as JSON, as for OpenAI, Anthropic, Gemini or MCP
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Say nothing of a call that is permitted: the assistant's own settings decide about it
    #[arg(long)]
    only_restrict: bool,
}

/// The question of an assistant, and the format of the answer.
struct HookRequest {
    form: Form,
    tool: String,
    /// The arguments of the tool, and as JSON as they were written.
    input: Value,
    written: String,
    /// The other members of the input, such as the working folder.
    rest: Map<String, Value>,
}

/// The names of the member with the arguments of the tool.
const ARGUMENTS: [&str; 2] = ["tool_input", "toolArgs"];

/// The format of the answer, which follows from the name of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `hookSpecificOutput` with a `permissionDecision`: the event `PreToolUse` of Claude Code and others.
    Specific,
    /// A `decision` that is `allow` or `deny`: the event `BeforeTool` of Gemini CLI.
    Decision,
    /// A `permission`: the event `preToolUse` of Cursor.
    Permission,
    /// A `permissionDecision`: GitHub Copilot, whose input has `toolName` and no event; and any other input without
    /// one.
    Plain,
}

pub(super) fn hook(arguments: &Arguments) -> CommandOutput {
    // A panic would end with a status after which assistants run the tool.
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(arguments)));
    let failed = |_| Err(Error::Failed("this is a bug of ours: please report it".to_owned()));
    let printed = answered.unwrap_or_else(failed).unwrap_or_else(CommandOutput::from);
    match printed.status {
        Status::Clean => printed,
        // Assistants run the tool after any status but this one.
        _ => CommandOutput { out: String::new(), err: printed.err, status: Status::Trouble },
    }
}

fn answer(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let format = Format::default();
    let file = arguments.file.as_deref().unwrap_or(Path::new("-"));
    input::once(&[("the call", Some(file)), ("the session", arguments.session.session.as_deref())])?;
    let given = input::text(file, MAX_INPUT)?;
    let request = HookRequest::read(given.text()).map_err(Error::Failed)?;
    let opened = OpenedPack::to_judge(&arguments.pack, arguments.tools.as_deref(), format)?;
    let program = opened.program(format)?;
    let saved = arguments.saved(&request)?;
    let given = saved.as_ref().map(|saved| saved.arguments(&arguments.session));
    let mut session = given.as_ref().unwrap_or(&arguments.session).open(program, format, Some(session::clock()))?;
    let own_mode = session.mode.clone();
    // If the pack has a mode with the name of the assistant's own mode, the call is judged in that mode.
    let mode = request.rest.get("permission_mode").and_then(Value::as_str).filter(|_| !arguments.session.names_mode());
    if let Some(mode) = mode.filter(|mode| program.modes().any(|known| known == *mode)) {
        session.mode = mode.to_owned();
    }
    let host = session.state.get(STATE).cloned();
    if host.is_some() {
        *session.state.entry(STATE) = rulebook::Value::from(&Value::Object(request.rest.clone()));
    }
    let (decision, outcome) = decision::judge(program, &session, &request.tool, &request.written);
    // The answer of a person is never reported back, so a call with `ask` changes nothing. For any other decision, the
    // session is written before the tool may run, so that no call runs that was not counted.
    if let Some(saved) = saved.filter(|_| !matches!(decision, Decision::Ask { .. })) {
        let mut next = outcome.session.clone();
        if next.mode == session.mode {
            // The mode of the assistant applies to this call only. The session keeps its own, unless the pack has
            // changed the mode.
            next.mode = own_mode;
        }
        if let Some(host) = host {
            // The members of the input of one call do not apply to the next one.
            *next.state.entry(STATE) = host;
        }
        saved.write(&next)?;
    }
    // Of a repeated key, the assistant might use another value than the judged one.
    let repeats = outcome.diagnostics.iter().any(|one| one.code == "response/duplicate-key");
    let unchanged = |judged: &Value| *judged == request.input && !repeats;
    if arguments.only_restrict && matches!(&decision, Decision::Allow(judged) if unchanged(judged)) {
        return Ok(CommandOutput::new(String::new(), Status::Clean));
    }
    let answer = request.answered(&decision, !arguments.only_restrict, &what_changed(&outcome), unchanged);
    Ok(CommandOutput::new(written(&answer)?, Status::Clean))
}

impl Arguments {
    /// The session that is written back, if one is. It is locked against other processes.
    fn saved(&self, request: &HookRequest) -> Result<Option<SavedSession>, Error> {
        match (&self.sessions, &self.session.session) {
            (Some(folder), _) => SavedSession::of_conversation(folder, request.conversation()).map(Some),
            (None, Some(file)) if self.save && input::is_standard(file) => {
                Err(Error::Failed("a session is not written back to standard input: name a file".to_owned()))
            }
            (None, Some(file)) if self.save => SavedSession::lock(file.clone()).map(Some),
            _ => Ok(None),
        }
    }
}

impl HookRequest {
    /// The id of the conversation.
    fn conversation(&self) -> Option<&str> {
        let ids = ["session_id", "sessionId", "conversation_id"];
        ids.iter().find_map(|name| self.rest.get(*name)).and_then(Value::as_str)
    }

    /// Reads the input of a hook. The error names what is missing.
    fn read(text: &str) -> Result<Self, String> {
        let own = |error| format!("this is not the JSON object that a hook is given: {error}");
        let mut rest: Map<String, Value> = serde_json::from_str(text).map_err(own)?;
        let WrittenMembers(written) = serde_json::from_str(text).map_err(own)?;
        if let Some(why) = ambiguous(&written) {
            return Err(why);
        }
        let event = rest.get("hook_event_name").filter(|event| !event.is_null());
        if event.is_some_and(|event| !event.is_string()) {
            return Err("`hook_event_name` is not a text".to_owned());
        }
        let form = match event.and_then(Value::as_str) {
            Some("PreToolUse") => Form::Specific,
            Some("BeforeTool") => Form::Decision,
            Some("preToolUse") => Form::Permission,
            None => Form::Plain,
            Some(other) => {
                let known = "`PreToolUse`, `BeforeTool` or `preToolUse`";
                return Err(format!("`{other}` is no event before a tool runs: use this hook for {known}"));
            }
        };
        let mut take = |names: [&str; 2]| names.iter().find_map(|name| rest.remove(*name));
        let tool = match take(["tool_name", "toolName"]) {
            Some(Value::String(tool)) => tool,
            _ => return Err("the call names no tool: `tool_name` or `toolName` is a text".to_owned()),
        };
        let written = written.iter().find(|(name, _)| ARGUMENTS.contains(&&**name)).map_or("{}", |(_, raw)| raw.get());
        let (input, written) = match take(ARGUMENTS) {
            // Some assistants send the arguments as a string of JSON.
            Some(Value::String(text)) => {
                let input = serde_json::from_str(&text)
                    .map_err(|error| format!("the arguments of the tool are a text that is not JSON: {error}"))?;
                (input, text)
            }
            None | Some(Value::Null) => (json!({}), "{}".to_owned()),
            Some(input) => (input, written.to_owned()),
        };
        Ok(Self { form, tool, input, written, rest })
    }

    /// The decision in the format of the assistant; `why` says why arguments are changed. A permitted call gets an `allow` only if `explicit` is set: that
    /// decision overrides the assistant's own settings.
    fn answered(&self, decision: &Decision, explicit: bool, why: &str, unchanged: impl Fn(&Value) -> bool) -> Value {
        let (decision, reason, input) = match decision {
            // If the arguments were repaired, the tool runs with the judged ones.
            Decision::Allow(judged) => {
                let changed = Some(judged).filter(|one| !unchanged(one));
                (Some("allow").filter(|_| explicit), changed.map(|_| why.to_owned()), changed)
            }
            Decision::Deny(why) => (Some("deny"), Some(why.clone()), None),
            // Gemini CLI has no decision that asks a person.
            Decision::Ask { question, .. } if self.form == Form::Decision => {
                (Some("deny"), Some(decision::without_a_person(question)), None)
            }
            Decision::Ask { question, params, .. } => {
                let changed = Some(params).filter(|one| !unchanged(one));
                let question = changed.map_or_else(|| question.clone(), |_| format!("{question}\n\n{why}"));
                (Some("ask"), Some(question), changed)
            }
        };
        let answer = match self.form {
            Form::Specific => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
                "updatedInput": input,
            } }),
            Form::Decision => json!({
                "decision": decision, "reason": reason,
                "hookSpecificOutput": input.map(|input| json!({ "hookEventName": "BeforeTool", "tool_input": input })),
            }),
            Form::Permission => json!({
                "permission": decision, "user_message": reason, "agent_message": reason, "updated_input": input,
            }),
            Form::Plain => json!({
                "permissionDecision": decision, "permissionDecisionReason": reason, "modifiedArgs": input,
            }),
        };
        without_nulls(answer)
    }
}

/// Why the tool is to run with other arguments than those that were written: the findings about the call.
fn what_changed(outcome: &Outcome) -> String {
    let found: Vec<String> = outcome.diagnostics.iter().map(|one| one.message.to_string()).collect();
    let found = if found.is_empty() { "they are written in another way".to_owned() } else { found.join("; ") };
    format!("the arguments were changed: {}", excerpt(&found, MAX_REASON))
}

/// Why the assistant might see another call than the judged one: outside of the arguments, a member is there twice, or
/// beside another one that means the same. Of a key that is repeated in the arguments, the judged value is passed on.
fn ambiguous(members: &[(String, &RawValue)]) -> Option<String> {
    let mut known = BTreeSet::new();
    for (key, value) in members {
        let meaning = match &*folded(key) {
            "toolname" => "tool_name",
            "toolinput" | "toolargs" => "tool_input",
            _ => key,
        };
        if !known.insert(meaning.to_owned()) {
            return Some(format!("the call is not clear: beside the member {key:?}, another one has the same meaning"));
        }
        if meaning != "tool_input"
            && let Err(error) = serde_json::from_str::<Unique>(value.get())
        {
            return Some(format!("the call is not clear: in the member {key:?}, {error}"));
        }
    }
    None
}

/// The answer without members that are `null`. The arguments of a tool are not changed.
fn without_nulls(mut answer: Value) -> Value {
    let strip = |members: &mut Map<String, Value>| members.retain(|_, value| !value.is_null());
    if let Value::Object(members) = &mut answer {
        strip(members);
        if let Some(Value::Object(inner)) = members.get_mut("hookSpecificOutput") {
            strip(inner);
        }
    }
    answer
}
