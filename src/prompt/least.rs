//! The least prompt: does every prompt fit into the context of every model while the conversation is still empty?
//!
//! In: a program.
//! Out: for each prompt, mode and tier: the faults of the prompt of a new session, without history or message.
//! Never: reports the same layer and tier twice: only the mode and model where it is largest are reported.

use super::target::PromptTarget;
use super::{PastAnswer, Program, Request, Session, assemble_for};
use crate::diagnostic::Diagnostic;

impl Program {
    /// The findings about prompts that are too large even without a conversation.
    pub(crate) fn budgets_that_fail(&self) -> Vec<Diagnostic> {
        let mut worst: Vec<LeastBudget> = Vec::new();
        for prompt in self.prompts.prompts.keys() {
            let request = Request { prompt: Some(prompt.clone()), ..Request::default() };
            for mode in self.mode_names() {
                let session = Session { mode: mode.to_owned(), ..self.first_session() };
                for target in PromptTarget::each(&self.prompts) {
                    let prompt =
                        assemble_for(&target, self, &session, &request, &|_, _| PastAnswer::default(), Vec::new());
                    for found in prompt.diagnostics {
                        let message =
                            format!("for the tier `{}` in the mode `{mode}`: {}", target.tier_name, found.message);
                        let (tier, beyond) = (target.tier, prompt.ledger.tokens.saturating_sub(target.input()));
                        let new =
                            LeastBudget { tier, beyond, finding: Diagnostic { message: message.into(), ..found } };
                        match worst.iter_mut().find(|known| known.is_about_the_same(&new)) {
                            Some(known) if known.beyond < new.beyond => *known = new,
                            Some(_) => {}
                            None => worst.push(new),
                        }
                    }
                }
            }
        }
        worst.into_iter().map(|found| found.finding).collect()
    }
}

struct LeastBudget {
    tier: usize,
    /// How many tokens more the whole prompt has than it may.
    beyond: usize,
    finding: Diagnostic,
}

impl LeastBudget {
    fn is_about_the_same(&self, other: &LeastBudget) -> bool {
        (self.tier, &self.finding.code, self.finding.at) == (other.tier, &other.finding.code, other.finding.at)
    }
}
