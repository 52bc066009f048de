//! Loading: what becomes of the files of a pack?
//!
//! In: a [`Folder`].
//! Out: [`Checked`]: the program, unless there is an error, and everything that was found, each fault once.
//! Never: stops at the first fault, or keeps an incomplete program.

use super::{Program, compile, one_mistake};
use crate::diagnostic::{Checked, Code, Diagnostic};
use crate::pack::{self, Pack};
use crate::surface::{self, Folder};
use crate::text::SourceId;

impl Program {
    /// Implements [`Program::load`].
    pub(crate) fn load_folder(folder: &Folder) -> Checked<Program> {
        let (program, _, diagnostics) = Self::build(folder);
        program.loaded(diagnostics)
    }

    /// The same as [`Program::load`], and also finds schemas that cannot be compiled. That is all that can keep a part
    /// of a loaded pack from judging an answer. The other checks take longer, and are about values that an answer may
    /// have.
    #[doc(hidden)]
    pub fn open(folder: &Folder) -> Checked<Program> {
        let (program, _, diagnostics) = Self::build_with_schemas(folder);
        program.loaded(diagnostics)
    }

    /// Loads a pack, and also compiles every schema, which is usually compiled on first use. Loading has found every
    /// pattern that cannot be compiled.
    pub(crate) fn build_with_schemas(folder: &Folder) -> (Self, Pack, Vec<Diagnostic>) {
        let (program, pack, mut diagnostics) = Self::build(folder);
        diagnostics.extend(program.compile_schemas(&pack::schemas::misspelt(&pack.surface)));
        (program, pack, diagnostics)
    }

    fn build(folder: &Folder) -> (Self, Pack, Vec<Diagnostic>) {
        let (surface, mut diagnostics) = surface::read(folder);
        let mut found = Vec::new();
        let pack = pack::check(surface, &mut found);
        let program = compile::compile(&pack, &mut found);
        one_mistake::collapse_missing_tables(&pack.surface, &mut found);
        let broken: Vec<SourceId> = diagnostics
            .iter()
            .filter(|one| one.code == Code::PACK_SYNTAX)
            .filter_map(|one| Some(one.at?.source))
            .collect();
        if broken.is_empty() && !pack.surface.partial {
            let doubled = pack.surface.doubled;
            diagnostics.extend(found.into_iter().filter(|one| !doubled || !one.code.bare().starts_with("unknown-")));
        } else {
            // A file that is no TOML, or cannot be read, may declare any name: report its own faults, and elsewhere
            // those in which no name has a part.
            let of_broken = |one: &Diagnostic| one.at.is_some_and(|at| broken.contains(&at.source));
            diagnostics.retain(|one| one.code == Code::PACK_SYNTAX || !of_broken(one));
            let in_table = |one: &Diagnostic| {
                let source = one.at.and_then(|at| program.sources.get(at.source));
                source.is_some_and(|source| source.name().ends_with(".toml"))
            };
            diagnostics.extend(
                found.into_iter().filter(|one| one_mistake::is_by_itself(one) && in_table(one) && !of_broken(one)),
            );
        }
        one_mistake::collapse_misspelt_names(folder, &program.sources, &mut diagnostics);
        (program, pack, diagnostics)
    }

    /// The program with everything that was found, each fault once.
    pub(crate) fn loaded(self, mut diagnostics: Vec<Diagnostic>) -> Checked<Program> {
        diagnostics.sort_by_key(|diagnostic| diagnostic.at);
        diagnostics.dedup();
        let sources = self.sources.clone();
        Checked::new(Some(self), diagnostics, sources)
    }
}
