//! Grammars: does every dialect's grammar exist, and can it be used?
//!
//! In: the grammars that dialects name, shipped or the pack's own.
//! Out: the compiled ones by name.
//! Never: asks what a dialect makes of them.

use crate::diagnostic::{Checked, Code, Diagnostic};
use crate::grammar::{Grammar, shipped, shipped_names};
use crate::surface::Surface;
use crate::text::{Source, Spanned};
use indexmap::IndexMap;
use std::sync::Arc;

pub(super) fn check(surface: &mut Surface, diagnostics: &mut Vec<Diagnostic>) -> IndexMap<String, Arc<Grammar>> {
    let mut grammars = IndexMap::new();
    // The pack's own come first: a pack may stand in for a shipped grammar. One that no dialect names is checked, too.
    for (name, source) in surface.grammars.clone() {
        if let Some(text) = surface.sources.get(source).map(|source| source.text().to_owned()) {
            take(&name, Grammar::parse(source, &text), &mut grammars, diagnostics);
        }
    }
    let named: Vec<Spanned<String>> =
        surface.dialects.values().flat_map(|dialect| dialect.value.grammar.0.iter()).cloned().collect();
    for name in named {
        if grammars.contains_key(&name.value) || surface.grammars.contains_key(&name.value) {
            continue;
        }
        if name.value.contains(['/', '\\']) || name.value.starts_with('.') {
            let message = format!("`{}` is a path, and a grammar is named", name.value);
            diagnostics.push(
                Diagnostic::new(Code::PACK_OUTSIDE, name.at, message)
                    .with_help("put the file at `grammar/NAME.pest` in the pack, and say `grammar = \"NAME\"`"),
            );
            continue;
        }
        match shipped(&name.value) {
            Some(text) => {
                let source = surface.sources.add(Source::new(format!("grammar/{}.pest", name.value), text));
                take(&name.value, Grammar::parse(source, text), &mut grammars, diagnostics);
            }
            None => {
                let shipped = shipped_names().map(|name| -> &str { name });
                let known = surface.grammars.keys().map(String::as_str).chain(shipped);
                let message = format!("there is no grammar `{}`", name.value);
                diagnostics.push(
                    Diagnostic::new(Code::PACK_UNKNOWN_GRAMMAR, name.at, message).with_nearest(&name.value, known),
                );
            }
        }
    }
    grammars
}

fn take(
    name: &str,
    checked: Checked<Grammar>,
    grammars: &mut IndexMap<String, Arc<Grammar>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    diagnostics.extend(checked.diagnostics);
    if let Some(grammar) = checked.value {
        grammars.insert(name.to_owned(), Arc::new(grammar));
    }
}
