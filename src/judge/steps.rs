//! Steps: what was asked on the way, and what came of it?
//!
//! In: each question as it is decided, if anybody wants to be told.
//! Out: [`Step`]s in their order, a condition with the values of its parts.
//! Never: decides anything, or costs anything where nobody wants to be told.

use crate::expression::{Expression, Failure, Part, Scope};
use crate::text::{Location, Span, excerpt};

/// So many steps of one kind of telling are kept: a rule may be asked on each of ten thousand utterances.
const MOST: usize = 20_000;
/// So many characters of a condition are told.
const CONDITION: usize = 300;

/// Something that was decided on the way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// The word of the contract for it.
    pub(crate) what: &'static str,
    pub(crate) found: String,
    /// The declaration behind it.
    pub(crate) at: Location,
    /// Where in the response.
    pub(crate) span: Span,
    /// What a condition rested on.
    pub(crate) parts: Vec<Part>,
}

/// A condition that was weighed.
#[derive(Debug)]
pub(crate) struct Weighed<'e> {
    when: &'e Expression,
    pub(crate) holds: Result<bool, Failure>,
    parts: Vec<Part>,
}

impl Weighed<'_> {
    /// Why it does not hold, if it does not; the condition is cut to so many characters.
    pub(crate) fn why_not(&self, most: usize) -> Option<String> {
        let source = excerpt(self.when.source(), most);
        match &self.holds {
            Ok(true) => None,
            Ok(false) => Some(format!("`{source}` does not hold")),
            Err(failure) => Some(format!("`{source}` fails: {}", excerpt(&failure.message, 80))),
        }
    }
}

/// The steps so far; none where nobody wants to be told.
#[derive(Debug, Default)]
pub(crate) struct Steps(Option<Vec<Step>>);

impl Steps {
    pub(crate) fn new(wanted: bool) -> Self {
        Self(wanted.then(Vec::new))
    }

    pub(crate) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Weighs a condition, and its parts where somebody wants to be told.
    pub(crate) fn weigh<'e>(&self, when: &'e Expression, scope: &Scope<'_>) -> Weighed<'e> {
        let parts = if self.are_wanted() { when.parts(scope) } else { Vec::new() };
        Weighed { when, holds: when.holds(scope), parts }
    }

    pub(crate) fn tell(&mut self, what: &'static str, at: Location, span: Span, found: impl FnOnce() -> String) {
        self.push(|| Step { what, found: found(), at, span, parts: Vec::new() });
    }

    /// What came of a condition; `whose` says what it decides.
    pub(crate) fn tell_weighed(
        &mut self,
        weighed: Weighed<'_>,
        at: Location,
        span: Span,
        whose: impl FnOnce() -> String,
    ) {
        self.push(|| {
            let verdict = weighed.why_not(CONDITION);
            let verdict = verdict.unwrap_or_else(|| format!("`{}` holds", excerpt(weighed.when.source(), CONDITION)));
            Step { what: "condition", found: format!("{}: {verdict}", whose()), at, span, parts: weighed.parts }
        });
    }

    pub(crate) fn into_list(self) -> Vec<Step> {
        self.0.unwrap_or_default()
    }

    fn push(&mut self, step: impl FnOnce() -> Step) {
        if let Some(steps) = self.0.as_mut().filter(|steps| steps.len() < MOST) {
            steps.push(step());
        }
    }
}
