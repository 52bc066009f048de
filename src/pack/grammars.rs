//! Grammars: does the grammar of every dialect exist, and is it valid?
//!
//! In: the grammars that dialects name, shipped ones or the pack's own.
//! Out: the compiled ones by name.
//! Never: knows how a dialect uses them.

use crate::diagnostic::{Checked, Code, Diagnostic, nearest};
use crate::grammar::{Grammar, shipped, shipped_names};
use crate::surface::{Dialect, Surface};
use crate::text::{Location, Source, Spanned};
use indexmap::IndexMap;
use std::sync::Arc;

pub(super) fn check(surface: &mut Surface, diagnostics: &mut Vec<Diagnostic>) -> IndexMap<String, Arc<Grammar>> {
    let mut grammars = IndexMap::new();
    let mut misspelt: Vec<(Location, String)> = Vec::new();
    // The pack's own come first: a pack may stand in for a shipped grammar. One that no dialect names is checked, too.
    for (name, source) in surface.grammars.clone() {
        if let Some(text) = surface.sources.get(source).map(|source| source.text().to_owned()) {
            take(&name, Grammar::parse(source, &text), &mut grammars, diagnostics);
        }
    }
    let of_blocks = |dialect: &Dialect| -> Vec<Spanned<String>> {
        dialect.blocks.values().filter_map(|block| block.value.fields.clone()).collect()
    };
    let dialects = surface.dialects.values().map(|dialect| &dialect.value);
    let named: Vec<Spanned<String>> =
        dialects.flat_map(|dialect| dialect.grammar.0.iter().cloned().chain(of_blocks(dialect))).collect();
    for name in named {
        let lost = surface.grammars.contains_key(&name.value) || surface.lost.contains(&name.value);
        if lost || grammars.contains_key(&name.value) {
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
                let shipped = || shipped_names().map(|name| -> &str { name });
                let known = || surface.grammars.keys().map(String::as_str).chain(shipped());
                let message = format!("there is no grammar `{}`", name.value);
                diagnostics.push(
                    Diagnostic::new(Code::PACK_UNKNOWN_GRAMMAR, name.at, message).with_nearest(&name.value, known()),
                );
                misspelt.extend(nearest(&name.value, known()).map(|meant| (name.at, meant.to_owned())));
            }
        }
    }
    // What follows is read as if the names that were probably meant stood there.
    for (at, meant) in misspelt {
        if let (false, Some(text)) = (surface.grammars.contains_key(&meant), shipped(&meant))
            && !grammars.contains_key(&meant)
        {
            let source = surface.sources.add(Source::new(format!("grammar/{meant}.pest"), text));
            take(&meant, Grammar::parse(source, text), &mut grammars, diagnostics);
        }
        let names = surface.dialects.values_mut().flat_map(|dialect| {
            let blocks = dialect.value.blocks.values_mut().filter_map(|block| block.value.fields.as_mut());
            dialect.value.grammar.0.iter_mut().chain(blocks)
        });
        names.filter(|name| name.at == at).for_each(|name| name.value.clone_from(&meant));
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
