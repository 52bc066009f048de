//! Sight: may this expression see what it reads?
//!
//! In: conditions, templates, shapes and paths, and the names at hand where they stand.
//! Out: the compiled expression, and a diagnostic for each name that it cannot see.
//! Never: evaluates one.

use super::known::{Lost, lost};
use super::{Compiler, Slot};
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{ENTRY, Expression, PathTemplate, Reads, Shape, Template, spelled};
use crate::surface::{Named, Tree};
use crate::text::{Location, Spanned};
use crate::value::Table;
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

/// A name that an effect binds, or that a message takes, and the path to its value, if there is one.
pub(super) struct Bound {
    pub(super) name: String,
    pub(super) path: Option<Vec<String>>,
}

/// A path in which each number is an entry.
fn entered(mut path: Vec<String>) -> Vec<String> {
    path.iter_mut().filter(|part| part.parse::<usize>().is_ok()).for_each(|part| ENTRY.clone_into(part));
    path
}

impl Compiler<'_> {
    /// Reports every name that an expression reads and cannot see.
    pub(super) fn see(&mut self, reads: &Reads, lets: &[Bound], sight: Sight<'_>) {
        let mut told: Vec<Vec<String>> = Vec::new();
        for (path, at) in reads.iter().chain(reads.looks()) {
            let Some((head, inside)) = path.split_first() else { continue };
            // Only effects see the ids that they make.
            if head == "reply" && sight.names.contains(&"ids") && !self.effects_read.iter().any(|known| known == path) {
                self.effects_read.push(path.to_vec());
            }
            let bound = lets.iter().rfind(|bound| bound.name == *head);
            if bound.is_none() && !sight.names.contains(&head.as_str()) {
                let names = sight.names.iter().copied().chain(lets.iter().map(|bound| bound.name.as_str()));
                let message = format!("there is no `{head}` to see here");
                let diagnostic = Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message).with_nearest(head, names);
                self.diagnostics.push(diagnostic);
                continue;
            }
            // What a name stands for was judged where it is bound.
            let before = match bound.map(|bound| &bound.path) {
                None => std::slice::from_ref(head),
                Some(Some(path)) => path.as_slice(),
                Some(None) => continue,
            };
            let path = entered([before, inside].concat());
            if let Some(("state", member)) = path.split_first().map(|(head, member)| (head.as_str(), member)) {
                self.touched.read.push((member.to_vec(), at));
            }
            let Some(Lost { number, known }) = lost(&path, self.surface, sight.params, &self.ids) else { continue };
            let (around, member) = path.split_at(number);
            let upto = path.get(..=number).unwrap_or(&path);
            if number < before.len() || told.iter().any(|told| told == upto) {
                continue;
            }
            told.push(upto.to_vec());
            let member = member.first().map_or("", String::as_str);
            let (code, message) = match (path.first().map(String::as_str), number) {
                (Some("state"), _) => (Code::PACK_UNKNOWN_STATE, format!("the state has no `{member}`")),
                (Some("ids"), _) => {
                    (Code::PACK_UNKNOWN_VARIABLE, format!("no effect takes an id with `new = \"{member}\"`"))
                }
                (Some("params"), 1) => (Code::PACK_UNKNOWN_VARIABLE, format!("the action has no `{member}`")),
                (Some(head), 1) => (Code::PACK_UNKNOWN_VARIABLE, format!("the {head} has no `{member}`")),
                _ => (Code::PACK_UNKNOWN_VARIABLE, format!("`{}` has no `{member}`", spelled(around))),
            };
            self.diagnostics.push(Diagnostic::new(code, at, message).with_nearest(member, known));
        }
    }

    pub(super) fn condition(
        &mut self,
        text: Option<&Spanned<String>>,
        lets: &[Bound],
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

    pub(super) fn template(&mut self, text: &Spanned<String>, lets: &[Bound], sight: Sight<'_>) -> Option<Template> {
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

    pub(super) fn shape(&mut self, tree: &Tree, lets: &[Bound], sight: Sight<'_>) -> Option<Shape> {
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
    pub(super) fn path(&mut self, text: &Spanned<String>, lets: &[Bound], sight: Sight<'_>) -> Option<PathTemplate> {
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
