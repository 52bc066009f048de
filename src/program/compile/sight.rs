//! Sight: may this expression see what it reads?
//!
//! In: conditions, templates, shapes and paths, and the names at hand where they stand.
//! Out: the compiled expression, and a diagnostic for each name that it cannot see.
//! Never: evaluates one.

use super::{Compiler, Slot};
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{Expression, PathTemplate, Reads, Shape, Template};
use crate::program::REPLY_MEMBERS;
use crate::surface::{Named, Tree};
use crate::text::{Location, Spanned};
use crate::value::Table;
use serde_json::Value;
use std::collections::HashSet;

/// What the expressions at one place may see.
#[derive(Clone, Copy)]
pub(super) struct Sight<'s> {
    pub(super) names: &'s [&'s str],
    pub(super) params: Option<&'s Named<Tree>>,
}

/// Which values of the state the pack reads and changes.
#[derive(Default)]
pub(super) struct Touched {
    /// Each path, from the value's name on, with the place where it stands; empty for the state as a whole.
    read: Vec<(Vec<String>, Location)>,
    changed: HashSet<String>,
}

impl Touched {
    pub(super) fn mark(&self, slots: &mut Table<String, Slot>) {
        for (name, slot) in slots {
            let inside = |(path, at): &(Vec<String>, Location)| match path.split_first() {
                Some((head, inside)) => (head == name).then(|| (inside.to_vec(), *at)),
                None => Some((Vec::new(), *at)),
            };
            slot.reads = self.read.iter().filter_map(inside).collect();
            slot.changed = self.changed.contains(name);
            slot.given |= slot.changed;
        }
    }
}

/// What conditions on a call may see.
pub(super) const CALL_NAMES: &[&str] = &["params", "state", "data", "mode", "reply", "now"];
/// What effects of actions may see.
pub(super) const EFFECT_NAMES: &[&str] = &["params", "state", "data", "mode", "reply", "ids", "item", "now"];
/// What effects of contents may see.
pub(super) const CONTENT_NAMES: &[&str] =
    &["key", "text", "name", "attributes", "state", "data", "mode", "reply", "ids", "item", "now"];
/// What guardrails may see.
pub(super) const REPLY_NAMES: &[&str] = &["state", "data", "mode", "reply", "now"];
/// What templates of prompts may see.
pub(super) const PROMPT_NAMES: &[&str] =
    &["state", "data", "mode", "title", "tier", "model", "sections", "actions", "forms", "now"];
/// What the text of a value may see.
pub(super) const VALUE_NAMES: &[&str] = &["value", "state", "data", "mode", "now"];
/// What computed values of the state may see.
pub(super) const COMPUTE_NAMES: &[&str] = &["state", "data", "mode", "now"];

/// What the words of a correction may see.
pub(super) const ASK_AGAIN_NAMES: &[&str] = &["defects", "form", "permitted", "mode", "data"];

/// The names that a tree declares, each with what stands under it; none where there may be others.
type Members<'t> = Option<Vec<(&'t str, &'t Tree)>>;

/// The first part of a path, behind a head and a name that are declared, that nothing declares; and what is declared there.
fn lost<'t>(tree: &'t Tree, path: &[String], members: fn(&'t Tree) -> Members<'t>) -> Option<(usize, Vec<&'t str>)> {
    let mut inside = tree;
    for (number, name) in path.iter().enumerate().skip(2) {
        let known = members(inside)?;
        match known.iter().find(|(known, _)| known == name) {
            Some((_, tree)) => inside = tree,
            None => return Some((number, known.into_iter().map(|(known, _)| known).collect())),
        }
    }
    None
}

/// The members of a constant.
fn constants(tree: &Tree) -> Members<'_> {
    match tree {
        Tree::Table(members, _) => Some(members.iter().map(|(name, tree)| (name.value.as_str(), tree)).collect()),
        _ => None,
    }
}

/// The members that a schema declares, where it says that there are no others.
fn properties(schema: &Tree) -> Members<'_> {
    const ELSEWHERE: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties"];
    let closed = matches!(schema.get("additionalProperties"), None | Some(Tree::Constant(Value::Bool(false), _)));
    let here = closed && !ELSEWHERE.iter().any(|key| schema.get(key).is_some());
    constants(schema.get("properties").filter(|_| here)?)
}

impl Compiler<'_> {
    /// Reports every name that an expression reads and cannot see.
    pub(super) fn see(&mut self, reads: &Reads, lets: &[String], sight: Sight<'_>) {
        for (path, at) in reads.iter() {
            let Some(head) = path.first() else { continue };
            // Only effects see the ids that they make.
            if head == "reply" && sight.names.contains(&"ids") && !self.effects_read.iter().any(|known| known == path) {
                self.effects_read.push(path.to_vec());
            }
            if lets.contains(head) {
                continue;
            }
            if !sight.names.contains(&head.as_str()) {
                let names = sight.names.iter().copied().chain(lets.iter().map(String::as_str));
                let message = format!("there is no `{head}` to see here");
                let diagnostic = Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message).with_nearest(head, names);
                self.diagnostics.push(diagnostic);
                continue;
            }
            if head == "state" {
                self.touched.read.push((path.iter().skip(1).cloned().collect(), at));
            }
            let Some(member) = path.get(1) else { continue };
            let (code, what, declared): (Code, &str, Vec<&str>) = match head.as_str() {
                "state" => (Code::PACK_UNKNOWN_STATE, "state", self.surface.state.keys().map(String::as_str).collect()),
                "data" => (Code::PACK_UNKNOWN_VARIABLE, "data", self.surface.data.keys().map(String::as_str).collect()),
                "ids" => (Code::PACK_UNKNOWN_VARIABLE, "ids", self.ids.clone()),
                "reply" => (Code::PACK_UNKNOWN_VARIABLE, "reply", REPLY_MEMBERS.to_vec()),
                "params" => match sight.params {
                    Some(params) => {
                        (Code::PACK_UNKNOWN_VARIABLE, "action", params.keys().map(String::as_str).collect())
                    }
                    None => continue,
                },
                _ => continue,
            };
            if !declared.contains(&member.as_str()) {
                let message = match what {
                    "ids" => format!("no effect takes an id with `new = \"{member}\"`"),
                    _ => format!("the {what} has no `{member}`"),
                };
                self.diagnostics.push(Diagnostic::new(code, at, message).with_nearest(member, declared));
                continue;
            }
            let lost = match (head.as_str(), sight.params) {
                ("data", _) => self.surface.data.get(member).and_then(|data| lost(&data.value, path, constants)),
                ("params", Some(params)) => params.get(member).and_then(|schema| lost(&schema.value, path, properties)),
                _ => None,
            };
            if let Some((number, known)) = lost {
                let (around, member) = path.split_at(number);
                let member = member.first().map_or("", String::as_str);
                let message = format!("`{}` has no `{member}`", around.join("."));
                let diagnostic = Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message);
                self.diagnostics.push(diagnostic.with_nearest(member, known));
            }
        }
    }

    pub(super) fn condition(
        &mut self,
        text: Option<&Spanned<String>>,
        lets: &[String],
        sight: Sight<'_>,
    ) -> Option<Expression> {
        let text = text?;
        match Expression::parse(text) {
            Ok(expression) => {
                self.see(expression.reads_at(), lets, sight);
                Some(expression)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    pub(super) fn template(&mut self, text: &Spanned<String>, lets: &[String], sight: Sight<'_>) -> Option<Template> {
        match Template::parse(text) {
            Ok(template) => {
                self.see(template.reads_at(), lets, sight);
                Some(template)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    pub(super) fn shape(&mut self, tree: &Tree, lets: &[String], sight: Sight<'_>) -> Option<Shape> {
        match Shape::parse(tree) {
            Ok(shape) => {
                self.see(shape.reads(), lets, sight);
                Some(shape)
            }
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
        }
    }

    /// A path into the state, whose first part must be declared, and may not come from the host alone.
    pub(super) fn path(&mut self, text: &Spanned<String>, lets: &[String], sight: Sight<'_>) -> Option<PathTemplate> {
        let path = match PathTemplate::parse(text) {
            Ok(path) => path,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return None;
            }
        };
        self.see(path.reads(), lets, sight);
        let head = path.head().next().map(str::to_owned);
        let Some(head) = head else {
            let message = "a path starts with a value of the state";
            self.diagnostics.push(
                Diagnostic::new(Code::PACK_UNKNOWN_STATE, text.at, message)
                    .with_help("templates may stand in its further parts"),
            );
            return None;
        };
        self.touched.changed.insert(head.clone());
        match self.surface.state.get(&head) {
            Some(slot) => {
                let host = matches!(slot.value.get("from"), Some(Tree::Text(from)) if from.value == "host");
                if host || slot.value.get("compute").is_some() {
                    let whose = if host { "comes from the host" } else { "is computed" };
                    let message = format!("`{head}` {whose}: no effect can change it");
                    let diagnostic =
                        Diagnostic::new(Code::PACK_EFFECT, text.at, message).with_place(slot.at, "declared here");
                    self.diagnostics.push(diagnostic);
                }
            }
            None => {
                let declared = self.surface.state.keys().map(String::as_str);
                let message = format!("the state has no `{head}`");
                let diagnostic =
                    Diagnostic::new(Code::PACK_UNKNOWN_STATE, text.at, message).with_nearest(&head, declared);
                self.diagnostics.push(diagnostic);
            }
        }
        Some(path)
    }
}
