//! Pack: is everything in the tables valid?
//!
//! In: a [`Surface`].
//! Out: [`Pack`]: the same tables with their grammars, and a diagnostic for everything that is wrong.
//! Never: compiles an expression or a pattern, or runs anything. There is one file for each kind of check.

mod blocks;
mod dialects;
mod effects;
mod empty_names;
pub(crate) mod files;
mod flow;
mod grammars;
mod graph;
mod includes;
mod inherit;
mod names;
mod permits;
pub(crate) mod prompts;
mod recover_names;
mod roots;
pub(crate) mod schemas;
mod spellings;
mod strategies;

use crate::diagnostic::Diagnostic;
use crate::surface::Surface;
use grammars::Grammars;
pub(crate) use grammars::has_members;
pub use schemas::{is_format, is_keyword};

/// The tables of a pack and the grammars that they name. Only [`check`] makes one. It should be run only if the check
/// found no error.
#[derive(Debug)]
pub struct Pack {
    pub(crate) surface: Surface,
    pub(crate) grammars: Grammars,
}

/// Checks everything that can be known without running anything.
pub fn check(mut surface: Surface, diagnostics: &mut Vec<Diagnostic>) -> Pack {
    includes::take_over(&mut surface, diagnostics);
    inherit::take_over(&mut surface, diagnostics);
    let grammars = grammars::check(&mut surface, diagnostics);
    empty_names::check(&surface, diagnostics);
    names::check(&surface, diagnostics);
    permits::check(&surface, diagnostics);
    flow::check(&surface, diagnostics);
    prompts::check(&surface, diagnostics);
    // From here on, unknown names are replaced by the names that were probably meant: they have all been reported.
    recover_names::names(&mut surface);
    dialects::check(&surface, &grammars, diagnostics);
    strategies::check(&surface, diagnostics);
    effects::check(&surface, diagnostics);
    roots::check(&surface, diagnostics);
    graph::check(&surface, diagnostics);
    schemas::check(&surface, diagnostics);
    spellings::check(&surface, diagnostics);
    Pack { surface, grammars }
}
