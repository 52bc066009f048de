//! Spellings: does each other spelling in a schema mean exactly one thing?
//!
//! In: the schemas of parameters and blocks.
//! Out: `pack/duplicate-name` for a spelling that two members or two values share; `pack/wrong-value` for an empty one.
//! Never: checks the names of actions and blocks: there are separate checks for their tables.

use super::empty_names::empty_name;
use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Case, Surface, Tree};
use crate::text::{Location, Spanned, excerpt};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let folds = surface.dialects.values().any(|dialect| dialect.value.case == Some(Case::Insensitive));
    let mut spellings = SpellingChecks { folds, diagnostics };
    for action in surface.actions.values() {
        let params = &action.value.params;
        spellings.members(params.iter().map(|(name, param)| (name.as_str(), param.at, &param.value)));
        params.values().for_each(|param| spellings.inside(&param.value));
    }
    surface.blocks().flat_map(|(_, block)| &block.value.schema).for_each(|schema| spellings.inside(schema));
}

struct SpellingChecks<'d> {
    /// Whether a dialect ignores the case of letters.
    folds: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl SpellingChecks<'_> {
    /// Checks the members and values inside a schema.
    fn inside(&mut self, schema: &Tree) {
        let mut left = vec![schema];
        while let Some(tree) = left.pop() {
            match tree {
                Tree::Table(parts, _) => {
                    for (key, value) in parts {
                        match (key.value.as_str(), value) {
                            ("properties", Tree::Table(members, _)) => {
                                self.members(members.iter().map(|(name, one)| (name.value.as_str(), name.at, one)));
                                left.extend(members.iter().map(|(_, one)| one));
                            }
                            ("enum", Tree::List(values, _)) => self.values(values),
                            ("default" | "example" | "examples" | "const" | "enum" | "names", _) => {}
                            (_, value) => left.push(value),
                        }
                    }
                }
                Tree::List(items, _) => left.extend(items),
                Tree::Text(_) | Tree::Constant(..) => {}
            }
        }
    }

    /// Checks that no two members of an object share a name.
    fn members<'t>(&mut self, members: impl Iterator<Item = (&'t str, Location, &'t Tree)> + Clone) {
        let declared = members.clone().map(|(name, at, _)| (name, at));
        self.clashes("a member", declared, members.flat_map(|(_, _, one)| one.names()));
    }

    /// Checks that no two values of a closed list share a spelling.
    fn values(&mut self, values: &[Tree]) {
        let declared = values.iter().filter_map(|value| match value.spelled_value().unwrap_or(value) {
            Tree::Text(text) => Some((text.value.as_str(), text.at)),
            _ => None,
        });
        let spelled = values.iter().filter(|value| value.spelled_value().is_some());
        self.clashes("a value", declared, spelled.flat_map(Tree::names));
    }

    fn clashes<'t>(
        &mut self,
        what: &str,
        declared: impl Iterator<Item = (&'t str, Location)>,
        spelled: impl Iterator<Item = &'t Spanned<String>>,
    ) {
        let folds = self.folds;
        let fold = |name: &str| if folds { name.to_ascii_lowercase() } else { name.to_owned() };
        let mut known: HashMap<String, Location> = declared.map(|(name, at)| (fold(name), at)).collect();
        for name in spelled {
            self.diagnostics.extend(empty_name(&format!("a name of {what}"), &name.value, name.at));
            match known.entry(fold(&name.value)) {
                Entry::Vacant(place) => drop(place.insert(name.at)),
                Entry::Occupied(place) => {
                    let message = format!("`{}` already means {what}", excerpt(&name.value, 60));
                    let fault = Diagnostic::new(Code::PACK_DUPLICATE, name.at, message);
                    let fault = fault.with_place(*place.get(), "it is declared here");
                    let help = "each spelling means one thing: take it out of one of the two";
                    self.diagnostics.push(fault.with_help(help));
                }
            }
        }
    }
}
