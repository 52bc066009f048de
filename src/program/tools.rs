//! Tools: which program results from adding the tools of a host?
//!
//! In: a program, and the tools of a host.
//! Out: the same program with an action for each tool that a table of the pack declares; a finding for each other tool.
//! Never: permits a tool anything that no table and no permit of the pack allows, or compiles the pack again.

use super::{Action, ModeView, ParamNames, Program, Schema};
use crate::diagnostic::{Checked, Code, Diagnostic};
use crate::pack::schemas::unusable;
use crate::surface::{Tool, Tools};
use crate::text::{Location, Source, excerpt};
use crate::value::{Object, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// The longest name of a tool: twice as long as the strictest servers accept.
const MAX_NAME_BYTES: usize = 128;

impl Program {
    /// The implementation of [`Program::with_tools`].
    pub(crate) fn compile_tools(&self, tools: &Tools) -> Checked<Program> {
        let mut sources = self.sources.clone();
        let source = sources.add(Source::new(tools.source.name(), tools.source.text()));
        let mut adding = Adding { program: self.clone(), found: Vec::new(), known: HashSet::new() };
        for span in &tools.nameless {
            let message = "this has no name, and so is no tool that a host carries out";
            let at = Location { source, span: *span };
            let help = "it is left out; a tool of the provider itself needs no permit";
            adding.found.push(Diagnostic::new(Code::PACK_UNUSABLE_TOOL, at, message).with_help(help));
        }
        for tool in &tools.list {
            adding.add(tool, Location { source, span: tool.at });
        }
        let Adding { mut program, found, .. } = adding;
        program.knows_tools = true;
        let schemas = program.actions.values().map(|action| action.schema.with_spellings().clone());
        let params = Arc::new(ParamNames::new(schemas));
        Arc::make_mut(&mut program.dialects).iter_mut().for_each(|one| one.params = Arc::clone(&params));
        program.native.params = params;
        program.spellings = Arc::default();
        program.views = program.modes.iter().map(|_| ModeView::default()).collect();
        Checked::new(Some(program), found, sources)
    }
}

/// The program so far.
struct Adding<'t> {
    program: Program,
    found: Vec<Diagnostic>,
    /// The names of the tools so far.
    known: HashSet<&'t str>,
}

impl<'t> Adding<'t> {
    fn add(&mut self, tool: &'t Tool, at: Location) {
        let name = tool.name.as_str();
        let cited = excerpt(name, 60);
        if let Some(why) = unusable_name(name) {
            return self.leave_out(at, format!("the tool `{cited}` is left out: {why}"));
        }
        if !self.known.insert(name) {
            return self.leave_out(at, format!("`{cited}` is listed twice: the first one is used"));
        }
        let declared = self.program.action_id(name).and_then(|id| self.program.action(id)).is_some();
        let pattern = self.program.pattern_of(name).and_then(|id| self.program.action(id));
        let Some(by) = self.program.actions.get(name).filter(|_| declared).cloned().or_else(|| {
            let (pattern, _) = pattern?;
            self.program.actions.get(pattern).cloned()
        }) else {
            let message = format!("no table declares the tool `{cited}`, so that no call of it has an effect");
            let help = format!("add `[actions.{name}]`, or a table for a pattern that it fits, and a permit");
            return self.found.push(Diagnostic::new(Code::PACK_UNDECLARED_TOOL, at, message).with_help(help));
        };
        if let Some(why) = unusable(&tool.schema) {
            return self.leave_out(at, format!("the schema of `{cited}` cannot be used: {why}"));
        }
        let own = Schema::new(without_examples(&tool.schema)).with_keys(by.schema.keys());
        // A host has many tools, so the validator of an obviously valid schema is compiled at the first call.
        if let Some(why) = own.fault() {
            let message = format!("the schema of `{cited}` cannot be used: {}", excerpt(why, 160));
            return self.leave_out(at, message);
        }
        // The pack's own declaration of parameters counts; if the action has none, the tool's counts.
        let takes_own = by.params.is_empty();
        if !takes_own {
            self.compare(&by, tool, at);
        }
        let about = by.about.clone().filter(|_| declared).or_else(|| tool.about.clone()).or_else(|| by.about.clone());
        let action = Action {
            about,
            names: if declared { by.names.clone() } else { Vec::new() },
            schema: if takes_own { own } else { by.schema.again() },
            returns: by.returns.as_ref().map(Schema::again),
            params: by.params.clone(),
            effects: Arc::clone(&by.effects),
            degradation: by.degradation.clone(),
            is_pattern: false,
            at: by.at,
        };
        self.program.actions.insert(name.to_owned(), Arc::new(action));
    }

    fn leave_out(&mut self, at: Location, message: String) {
        self.found.push(Diagnostic::new(Code::PACK_UNUSABLE_TOOL, at, message));
    }

    /// Reports parameters that only one of the two declares, or that only one of the two requires.
    fn compare(&mut self, action: &Action, tool: &Tool, at: Location) {
        let (ours, theirs) = (members(action.schema.json()), members(&tool.schema));
        let mut differing = Vec::new();
        let missing = |one: &[(&str, bool)], other: &[(&str, bool)]| -> Vec<String> {
            let is_in = |name: &str| other.iter().any(|(known, _)| *known == name);
            one.iter().filter(|(name, _)| !is_in(name)).map(|(name, _)| format!("`{}`", excerpt(name, 40))).collect()
        };
        let (only_ours, only_theirs) = (missing(&ours, &theirs), missing(&theirs, &ours));
        if !only_ours.is_empty() {
            differing.push(format!("it has no {}", only_ours.join(", ")));
        }
        if !only_theirs.is_empty() {
            differing.push(format!("the pack declares no {}", only_theirs.join(", ")));
        }
        let lacks = |(name, needed): &&(&str, bool)| *needed && ours.contains(&(name, false));
        let required: Vec<String> =
            theirs.iter().filter(lacks).map(|(name, _)| format!("`{}`", excerpt(name, 40))).collect();
        if !required.is_empty() {
            differing.push(format!("it requires {}", required.join(", ")));
        }
        if !differing.is_empty() {
            let cited = excerpt(&tool.name, 60);
            let message = format!("the tool `{cited}` has other parameters than its action: {}", differing.join("; "));
            let finding = Diagnostic::new(Code::PACK_OTHER_PARAMS, at, message).with_place(action.at, "the action");
            let help = "the pack counts: take its `params` out, and those of the tool do";
            self.found.push(finding.with_help(help));
        }
    }
}

/// Why a text cannot be the name of a tool; none if it can. Prompts print names, so a name may contain only what
/// servers accept.
fn unusable_name(name: &str) -> Option<&'static str> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/');
    match () {
        () if name.is_empty() => Some("it has no name"),
        () if name.len() > MAX_NAME_BYTES => Some("its name has more than 128 characters"),
        () if !name.bytes().all(is_allowed) => Some("its name has other characters than letters, digits and `_-.:/`"),
        () => None,
    }
}

/// The properties of a schema, each with whether it is required.
fn members(schema: &Value) -> Vec<(&str, bool)> {
    super::properties(schema).map(|(name, _)| (name, super::requires(schema, name))).collect()
}

/// The schema without the texts that suggest a value. Examples in prompts are then made of types alone, so that a text
/// of a server is never printed as the pack's own.
fn without_examples(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(without_examples).collect(),
        Value::Object(members) => {
            let remaining = members.iter().filter(|(key, value)| {
                !matches!((*key, value), ("examples" | "example", Value::Array(_) | Value::String(_)))
            });
            Value::Object(remaining.map(|(key, value)| (key.to_owned(), without_examples(value))).collect::<Object>())
        }
        other => other.clone(),
    }
}
