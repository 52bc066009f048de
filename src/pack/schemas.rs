//! Schemas: do they stay within the pack?
//!
//! In: the schemas of params, results, state, members and records.
//! Out: `pack/remote-ref` for a reference to another document, `pack/bad-schema` for what is no schema at all.
//! Never: compiles one.

use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Effect, Surface, Tree};

/// Schemas nested more deeply than this are refused.
const DEEPEST: usize = 64;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let params = surface.actions.values().flat_map(|action| action.value.params.values());
    let results = surface.actions.values().filter_map(|action| action.value.returns.as_ref());
    let slots = surface.state.values();
    let blocks = surface.dialects.values().flat_map(|dialect| dialect.value.blocks.values());
    let members = blocks.filter_map(|block| block.value.schema.as_ref());
    let actions = surface.actions.values().flat_map(|action| &action.value.effects);
    let contents = surface.contents.values().flat_map(|content| &content.value.effects);
    let rules = surface.rules.iter().flat_map(|rule| &rule.effects);
    let mut records = Vec::new();
    actions.chain(contents).chain(rules).for_each(|effect| recorded(effect, &mut records));
    let named = params.map(|entry| &entry.value).chain(results).chain(slots.map(|entry| &entry.value));
    for schema in named.chain(members).chain(records) {
        if !matches!(schema, Tree::Table(..)) {
            diagnostics.push(
                Diagnostic::new(Code::PACK_SCHEMA, schema.at(), "a JSON Schema is a table")
                    .with_help("for a text say `{ type = \"string\" }`"),
            );
        }
        check_references(schema, 0, diagnostics);
    }
}

/// The schemas of what an effect, and those inside it, record.
fn recorded<'e>(effect: &'e Effect, found: &mut Vec<&'e Tree>) {
    found.extend(&effect.schema);
    effect.effects.iter().for_each(|nested| recorded(nested, found));
}

fn check_references(tree: &Tree, depth: usize, diagnostics: &mut Vec<Diagnostic>) {
    if depth > DEEPEST {
        let message = format!("a schema may be nested {DEEPEST} deep at the most");
        diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, tree.at(), message));
        return;
    }
    match tree {
        Tree::Table(members, _) => {
            for (key, value) in members {
                match value {
                    Tree::Text(target) if key.value == "$ref" && !target.value.starts_with('#') => {
                        let message = format!("`{}` is another document", target.value);
                        diagnostics.push(
                            Diagnostic::new(Code::PACK_REMOTE_REF, target.at, message)
                                .with_help("schemas are never fetched: copy what is meant into this one"),
                        );
                    }
                    _ => check_references(value, depth + 1, diagnostics),
                }
            }
        }
        Tree::List(items, _) => {
            for item in items {
                check_references(item, depth + 1, diagnostics);
            }
        }
        _ => {}
    }
}
