//! Conditions: is the new one asked more, or less?
//!
//! In: two conditions, as they were typed.
//! Out: [`Step`] where they differ by parts that `and` or `or` joins to the same others.
//! Never: evaluates a condition, or takes two texts for one meaning.

use crate::expression::{Joined, operands};

/// The way from one condition to another, with the parts that make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// More must hold: `and` joins these.
    MoreAsked(String),
    /// Less must hold: `and` joined these.
    LessAsked(String),
    /// One more is enough: `or` joins these.
    MoreEnough(String),
    /// One of these is no longer enough: `or` joined them.
    LessEnough(String),
    /// Another condition.
    Other,
}

impl Step {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let asked = |joined| {
            let (old, new) = (operands(old, joined), operands(new, joined));
            let beside = |these: &[&str], others: &[&str]| -> Vec<String> {
                these.iter().filter(|one| !others.contains(one)).map(|one| (*one).to_owned()).collect()
            };
            (beside(&new, &old), beside(&old, &new))
        };
        let (and, or) = (asked(Joined::And), asked(Joined::Or));
        match ((and.0.as_slice(), and.1.as_slice()), (or.0.as_slice(), or.1.as_slice())) {
            (([_, ..], []), _) => Step::MoreAsked(and.0.join(" and ")),
            (([], [_, ..]), _) => Step::LessAsked(and.1.join(" and ")),
            (_, ([_, ..], [])) => Step::MoreEnough(or.0.join(" or ")),
            (_, ([], [_, ..])) => Step::LessEnough(or.1.join(" or ")),
            _ => Step::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: Step) {
        assert_eq!(Step::between(old, new), expected, "{old} | {new}");
    }

    #[test]
    fn parts_that_come_and_go_are_known() {
        let text = str::to_owned;
        check("a", "a and b > 1", Step::MoreAsked(text("b > 1")));
        check("a and b and c | length", "c | length and a", Step::LessAsked(text("b")));
        check("(a or b) and c", "a or b", Step::LessAsked(text("c")));
        check("a", "a or b and c", Step::MoreEnough(text("b and c")));
        check("a or b or c", "c or a", Step::LessEnough(text("b")));
        check("a and b", "a and c", Step::Other);
        check("a and b", "a or b", Step::Other);
        check("a and b", "b and a", Step::Other);
        check("a", "b", Step::Other);
        check("not a", "a", Step::Other);
    }
}
