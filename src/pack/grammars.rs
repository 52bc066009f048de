//! Grammars: does the grammar of every dialect exist, and is it valid?
//!
//! In: the grammars that dialects name, shipped ones or those of packs.
//! Out: [`Grammars`]: the compiled grammars, by the names that mean them.
//! Never: knows how a dialect uses them.

use super::files::{ambiguous, unknown_grammar};
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::{Grammar, compiled, shipped};
use crate::surface::files::{NameMeaning, grammar_path};
use crate::surface::{Dialect, Surface};
use crate::text::{Location, Source, SourceId, Spanned};
use std::collections::HashMap;
use std::sync::Arc;

/// The grammars that could be read, by the place of each name that means one: the same name may mean different grammars
/// in two packs.
#[derive(Debug, Default)]
pub(crate) struct Grammars(HashMap<Location, Arc<Grammar>>);

impl Grammars {
    /// The grammar that a name means.
    pub(crate) fn get(&self, name: &Spanned<String>) -> Option<&Arc<Grammar>> {
        self.0.get(&name.at)
    }

    /// The grammars of a dialect, in the order in which it names them.
    pub(crate) fn of(&self, dialect: &Dialect) -> impl Iterator<Item = &Arc<Grammar>> {
        dialect.grammar.0.iter().filter_map(|name| self.get(name))
    }
}

/// Whether the blocks of a grammar are members of an object: their names are keys. In any other grammar, members only
/// build values.
pub(crate) fn has_members(grammar: &Grammar) -> bool {
    let named = grammar.called_from(|rule| rule == "name");
    grammar.rule("member").is_some() && grammar.rule("key").is_some_and(|key| named.contains(&key))
}

pub(super) fn check(surface: &mut Surface, diagnostics: &mut Vec<Diagnostic>) -> Grammars {
    let mut compiler = GrammarCompiler { known: HashMap::new(), shipped: HashMap::new(), diagnostics };
    // Grammars that no dialect names are checked, too.
    for source in surface.files.all_grammars() {
        let text = surface.sources.get(source).map_or("", Source::text);
        compiler.compile(source, text);
    }
    let mut grammars = Grammars::default();
    let mut misspelt: Vec<(Location, String)> = Vec::new();
    let typed: Vec<Spanned<String>> = names(surface).map(|name| name.clone()).collect();
    for Spanned { value: name, at } in typed {
        let meant = compiler.check(surface, &name, at);
        let grammar = compiler.find(surface, meant.as_deref().unwrap_or(&name), at.source);
        grammars.0.extend(grammar.map(|grammar| (at, grammar)));
        misspelt.extend(meant.map(|meant| (at, meant)));
    }
    // Continue as if the names that were probably meant were in the pack, so that only these names are reported.
    for (at, meant) in misspelt {
        names(surface).filter(|name| name.at == at).for_each(|name| name.value.clone_from(&meant));
    }
    grammars
}

/// Every name of a grammar, except those by which a block selects one of its dialect's.
fn names(surface: &mut Surface) -> impl Iterator<Item = &mut Spanned<String>> {
    surface.dialects.values_mut().flat_map(|Spanned { value: dialect, .. }| {
        let fields = dialect.blocks.values_mut().filter_map(|block| block.value.fields.as_mut());
        dialect.grammar.0.iter_mut().chain(fields)
    })
}

struct GrammarCompiler<'c> {
    /// Each grammar that was compiled; none if it has faults.
    known: HashMap<SourceId, Option<Arc<Grammar>>>,
    /// The shipped grammars among them, by name.
    shipped: HashMap<String, SourceId>,
    diagnostics: &'c mut Vec<Diagnostic>,
}

impl GrammarCompiler<'_> {
    /// Reports a name that does not mean exactly one grammar. For an unknown name, returns the one that was probably
    /// meant.
    fn check(&mut self, surface: &Surface, name: &str, at: Location) -> Option<String> {
        let fault = match surface.files.grammar(name, at.source) {
            NameMeaning::One(_) => return None,
            NameMeaning::Ambiguous(packs, _) => ambiguous(&surface.files, &grammar_path(name), packs, at),
            NameMeaning::Missing if shipped(name).is_some() || surface.unreadable.contains(name) => return None,
            NameMeaning::Missing if name.contains(['/', '\\']) || name.starts_with('.') => {
                let message = format!("`{name}` is a path, and a grammar is named");
                Diagnostic::new(Code::PACK_OUTSIDE, at, message)
                    .with_help("put the file at `grammar/NAME.pest` in the pack, and say `grammar = \"NAME\"`")
            }
            NameMeaning::Missing => {
                let (fault, meant) = unknown_grammar(surface, name, at);
                self.diagnostics.push(fault);
                return meant;
            }
        };
        self.diagnostics.push(fault);
        None
    }

    /// The grammar that a name in the file `from` means, if the grammar could be read.
    fn find(&mut self, surface: &mut Surface, name: &str, from: SourceId) -> Option<Arc<Grammar>> {
        let source = match surface.files.grammar(name, from) {
            NameMeaning::Missing => self.shipped(surface, name)?,
            found => found.source()?,
        };
        self.known.get(&source)?.clone()
    }

    /// The source of a shipped grammar, which is compiled when first needed.
    fn shipped(&mut self, surface: &mut Surface, name: &str) -> Option<SourceId> {
        if let Some(known) = self.shipped.get(name) {
            return Some(*known);
        }
        let text = shipped(name)?;
        let source = surface.sources.add(Source::new(grammar_path(name), text));
        self.shipped.insert(name.to_owned(), source);
        match compiled(name, source) {
            Some(grammar) => drop(self.known.insert(source, Some(grammar))),
            None => self.compile(source, text),
        }
        Some(source)
    }

    fn compile(&mut self, source: SourceId, text: &str) {
        let checked = Grammar::parse(source, text);
        self.diagnostics.extend(checked.diagnostics);
        self.known.insert(source, checked.value.map(Arc::new));
    }
}
