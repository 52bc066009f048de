//! Prompts: how many tokens does each prompt take before and after?
//!
//! In: two programs.
//! Out: a [`PromptChange`] for each prompt, mode and tier whose tokens differ.
//! Never: uses a history, a message or a state: both prompts are those of a new session.

use super::PromptChange;
use super::rows::both;
use crate::program::Program;
use crate::prompt::Request;
use crate::value::value;
use indexmap::IndexMap;

/// A prompt, its mode and its tier.
type PromptKey = (String, String, String);

pub(super) fn changes(old: &Program, new: &Program) -> Vec<PromptChange> {
    let (old, new) = (sizes(old), sizes(new));
    let differing = both(&old, &new).into_iter().filter(|(_, (before, after))| before != after);
    let change = |(key, (before, after)): (&PromptKey, (Option<&usize>, Option<&usize>))| {
        let (prompt, mode, tier) = key.clone();
        PromptChange { prompt, mode, tier, before: before.copied(), after: after.copied() }
    };
    differing.map(change).collect()
}

fn sizes(program: &Program) -> IndexMap<PromptKey, usize> {
    let mut sizes = IndexMap::new();
    for (tier, model) in models(program) {
        for mode in program.modes() {
            let Ok(session) = program.resume(&value!({ "mode": mode })) else { continue };
            for prompt in program.prompts.prompts.keys() {
                let request = Request { prompt: Some(prompt.clone()), model: model.clone(), ..Request::default() };
                let tokens = program.prompt(&session, &request).ledger.tokens;
                sizes.insert((prompt.clone(), mode.to_owned(), tier.clone()), tokens);
            }
        }
    }
    sizes
}

/// The tiers, each with the first model that belongs to it; a tier without a model is for undeclared models.
fn models(program: &Program) -> Vec<(String, Option<String>)> {
    let prompts = &program.prompts;
    let model =
        |number: usize| prompts.models.iter().find(|(_, model)| model.tier == number).map(|(name, _)| name.clone());
    let tiers = prompts.tiers.keys().enumerate().map(|(number, tier)| (number, tier.clone(), model(number)));
    let spoken = tiers.filter(|(number, _, model)| model.is_some() || *number == prompts.default);
    spoken.map(|(_, tier, model)| (tier, model)).collect()
}
