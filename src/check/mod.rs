//! Check: what is wrong with a pack, and what would a careful reviewer say about it?
//!
//! In: a folder.
//! Out: everything that can be known about its pack without a model: [its faults](faults), and
//! [declarations that can have no effect](review), with the severities of the pack's `[check]`.
//! Never: keeps a pack from running that a host would load.

mod conditions;
mod dialects;
mod endless;
mod examples;
mod explained;
mod files;
mod flow;
mod forms;
mod gates;
mod grammars;
mod guardrails;
mod inclusion;
mod layers;
mod lookalikes;
mod paths;
mod permits;
mod replies;
mod samples;
mod schemas;
mod state;
mod suppressions;
mod transitions;

use crate::diagnostic::{Checked, Code, Diagnostic, Severity};
use crate::program::Program;
use crate::prompt::PromptText;
use crate::session::Session;
use crate::surface::places::{self, Alike, Mention};
use crate::surface::{Folder, Level};
use crate::text::Location;
use indexmap::IndexSet;

/// Loads a pack, and reports every fault: also schemas that cannot be compiled, expressions that fail with sample
/// values, gates that never open, and modes that no session can enter or leave.
pub fn faults(folder: &Folder) -> Checked<Program> {
    let (program, pack, mut diagnostics) = Program::build_with_schemas(folder);
    // In a pack with errors, a failing sample may only be a consequence of them.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let unordered = samples::unordered(&program);
        // A sample that fails for this reason says no more.
        let is_of = |one: &Diagnostic, known: &Diagnostic| {
            let places = one.at.zip(known.at);
            places.is_some_and(|(one, known)| one.source == known.source && one.span.covers(known.span))
        };
        let is_new = |one: &Diagnostic| !unordered.iter().any(|known| is_of(one, known));
        diagnostics.extend(samples::run(&program).into_iter().filter(is_new));
        diagnostics.extend(unordered);
        diagnostics.extend(program.check_gates());
        diagnostics.extend(program.check_transitions(&pack.surface));
    }
    program.loaded(diagnostics)
}

/// Reports every fault of a pack as [`faults`] does; for a pack without errors, also everything that a reviewer would
/// say.
pub fn review(folder: &Folder) -> Checked<Program> {
    let mut loaded = faults(folder);
    if let Some(program) = &loaded.value {
        // A program was made, so what was found so far has no error. Modes and dialects may share one: keep each once.
        let found: IndexSet<Diagnostic> = std::mem::take(&mut loaded.diagnostics)
            .into_iter()
            .chain(findings(program))
            .chain(entries(folder, program))
            .chain(files::unused(folder, program))
            .collect();
        let findings = without_consequences(suppressions::without_excused(program, found));
        loaded.diagnostics.extend(findings);
        loaded.diagnostics.sort_by_key(|diagnostic| diagnostic.at);
    }
    // What keeps a pack from loading may be in a file that is not read.
    loaded.diagnostics.extend(files::overlooked(folder, &mut loaded.sources));
    if let Some(program) = &loaded.value {
        loaded.diagnostics =
            loaded.diagnostics.into_iter().filter_map(|finding| with_level(program, finding)).collect();
    }
    loaded
}

/// The findings without those that may only follow from another. What a template reads and prints is unknown while the
/// template is used as a plain text; and a name that looks like another one may be meant as that one.
fn without_consequences(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let follow = [Code::PACK_UNREAD_STATE, Code::PACK_UNUSED_FILE, Code::PROMPT_UNEXPLAINED, Code::PACK_EXCUSE];
    let is_unfilled = found.iter().any(|one| one.code == Code::PROMPT_UNFILLED);
    let lookalikes: Vec<_> = found.iter().filter(|one| one.code == Code::PACK_LOOKALIKE).map(|one| one.at).collect();
    let stays = |one: &Diagnostic| {
        !(is_unfilled && follow.contains(&one.code))
            && (one.code == Code::PACK_LOOKALIKE || !lookalikes.contains(&one.at))
    };
    found.into_iter().filter(stays).collect()
}

fn findings(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let checks = [
        lookalikes::check,
        permits::check,
        dialects::check,
        replies::check,
        guardrails::check,
        flow::check,
        schemas::check,
        paths::check,
        state::check,
        conditions::check,
        grammars::check,
        layers::check,
    ];
    for check in checks {
        check(program, &mut found);
    }
    let mut known = forms::CheckedBlocks::default();
    let mut refused = examples::ReportedFaults::default();
    let mut unnamed = explained::Unnamed::default();
    for reading in &ModeTexts::each(program) {
        forms::check(program, reading, &mut known, &mut found);
        examples::check(program, reading, &mut refused, &mut found);
        explained::check(program, reading, &mut unnamed, &mut found);
    }
    explained::report(unnamed, &mut found);
    found
}

/// Reports keys that only one of several entries has in place of a key of all others, where any key is allowed, and
/// modes of which only a part may be declared.
fn entries(folder: &Folder, program: &Program) -> Vec<Diagnostic> {
    let odd = places::alike(folder).into_iter().filter(|one| one.below.is_empty() || one.is_part);
    let finding = |one: Alike| {
        let (source, _) = program.sources().find(&folder.called(&one.mention.path))?;
        let at = |mention: &Mention| Location { source, span: mention.span };
        let (here, other) = (at(&one.mention), at(&one.beside));
        let message = format!("`{}` here, but `{}` in {}", one.name, one.other, one.within);
        let finding = Diagnostic::new(Code::PACK_UNKNOWN_KEY, here, message).into_warning();
        Some(finding.with_place(other, "the other name").with_help(format!("did you mean `{}`?", one.other)))
    };
    odd.filter_map(finding).collect()
}

/// What a model may read in one mode of a new session, and of the pack's sample of one.
struct ModeTexts {
    /// The session for which examples are judged.
    session: Session,
    texts: Vec<PromptText>,
}

impl ModeTexts {
    fn each(program: &Program) -> Vec<Self> {
        let initial = program.session();
        let sample = Self::sample(program);
        let reading = |mode: &str| {
            let session = Session { mode: mode.to_owned(), ..initial.clone() };
            let mut texts = program.visible_texts(&session);
            let Some(sample) = &sample else { return ModeTexts { texts, session } };
            let mut session = Session { mode: mode.to_owned(), ..sample.clone() };
            session.compute(program);
            // A text that both sessions show is looked at once.
            let more = program.visible_texts(&session).into_iter();
            let new: Vec<PromptText> = more
                .filter(|one| !texts.iter().any(|known| (known.source, &known.text) == (one.source, &one.text)))
                .collect();
            texts.extend(new);
            ModeTexts { texts, session }
        };
        program.modes().map(reading).collect()
    }

    /// The pack's sample of a session; none if it has none.
    fn sample(program: &Program) -> Option<Session> {
        let mut session = program.session();
        for (name, value, _) in program.sample.iter() {
            *session.state.entry(name) = value.clone();
        }
        (!program.sample.is_empty()).then_some(session)
    }
}

/// The finding with the severity that the pack gives it; none if the pack allows it.
fn with_level(program: &Program, finding: Diagnostic) -> Option<Diagnostic> {
    let severity = match program.levels.get(&finding.code.to_string()) {
        Some(Level::Allow) => return None,
        Some(Level::Warn) => Severity::Warning,
        Some(Level::Deny) => Severity::Error,
        None => finding.severity,
    };
    Some(Diagnostic { severity, ..finding })
}
