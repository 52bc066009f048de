//! Conditions: does the new condition require more, or less?
//!
//! In: two conditions, as typed.
//! Out: a [`ConditionChange`], if the conditions differ only in operands of `and` or `or`, or in the values that one
//! comparison accepts.
//! Never: evaluates a condition, or recognises two texts as equivalent.

use super::constraint::Constraint;
use crate::expression::{ExprTree, Expression, Operation};
use crate::text::{Location, Span, Spanned};

/// How a condition differs from an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConditionChange {
    /// More is required: `and` has these additional operands.
    AndAdded(String),
    /// Less is required: `and` no longer has these operands.
    AndRemoved(String),
    /// Less is required: `or` has these additional operands, each of which is sufficient.
    OrAdded(String),
    /// More is required: `or` no longer has these operands.
    OrRemoved(String),
    /// This part accepts more values: its old and new text.
    Looser(String, String),
    /// This part accepts fewer values: its old and new text.
    Stricter(String, String),
    /// The conditions differ in another way.
    Other,
}

impl ConditionChange {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let parse = |text: &str| {
            let at = Location::response(Span::default());
            Expression::parse(&Spanned::new(text.to_owned(), at)).ok()
        };
        let (before, after) = (parse(old), parse(new));
        let trees = before.as_ref().and_then(Expression::tree).zip(after.as_ref().and_then(Expression::tree));
        let Some((before, after)) = trees else { return ConditionChange::Other };
        let both = |joined| (operands(before, old, joined), operands(after, new, joined));
        let (ands, ors) = (both(Joined::And), both(Joined::Or));
        let beside = |these: &[Operand<'_>], others: &[Operand<'_>]| -> Vec<String> {
            let is_new = |one: &&Operand<'_>| !others.iter().any(|other| other.text == one.text);
            these.iter().filter(is_new).map(|one| one.text.to_owned()).collect()
        };
        let asked = |(old, new): &(Vec<Operand<'_>>, Vec<Operand<'_>>)| (beside(new, old), beside(old, new));
        let (and, or) = (asked(&ands), asked(&ors));
        match ((and.0.as_slice(), and.1.as_slice()), (or.0.as_slice(), or.1.as_slice())) {
            (([_, ..], []), _) => ConditionChange::AndAdded(and.0.join(" and ")),
            (([], [_, ..]), _) => ConditionChange::AndRemoved(and.1.join(" and ")),
            (_, ([_, ..], [])) => ConditionChange::OrAdded(or.0.join(" or ")),
            (_, ([], [_, ..])) => ConditionChange::OrRemoved(or.1.join(" or ")),
            _ => [ands, ors]
                .iter()
                .find_map(|(before, after)| by_constraint(before, after, (old, new)))
                .unwrap_or(ConditionChange::Other),
        }
    }
}

/// The operator that joins the operands of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joined {
    And,
    Or,
}

/// An operand of a condition, and its text.
struct Operand<'t> {
    tree: &'t ExprTree,
    text: &'t str,
}

/// The operands of `and` in a condition, or of `or`; the whole condition if it has no such operator.
fn operands<'t>(tree: &'t ExprTree, source: &'t str, joined: Joined) -> Vec<Operand<'t>> {
    match (&tree.op, joined) {
        (Operation::And, Joined::And) | (Operation::Or, Joined::Or) => {
            tree.parts.iter().flat_map(|part| operands(part, source, joined)).collect()
        }
        _ => vec![Operand { tree, text: tree.span.of(source) }],
    }
}

/// The change between two conditions that differ in one operand, by the values that the operand accepts.
fn by_constraint(old: &[Operand<'_>], new: &[Operand<'_>], source: (&str, &str)) -> Option<ConditionChange> {
    let mut differing = old.iter().zip(new).filter(|(old, new)| old.text != new.text);
    let (one, other) = differing.next().filter(|_| old.len() == new.len())?;
    let (before, after) = (Constraint::of(one.tree, source.0)?, Constraint::of(other.tree, source.1)?);
    if differing.next().is_some() || before.path != after.path {
        return None;
    }
    let (one, other) = (one.text.to_owned(), other.text.to_owned());
    match (after.through.includes(&before.through), before.through.includes(&after.through)) {
        (true, false) => Some(ConditionChange::Looser(one, other)),
        (false, true) => Some(ConditionChange::Stricter(one, other)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: ConditionChange) {
        assert_eq!(ConditionChange::between(old, new), expected, "{old} | {new}");
    }

    #[test]
    fn added_and_removed_operands_are_recognised() {
        let text = str::to_owned;
        check("a", "a and b > 1", ConditionChange::AndAdded(text("b > 1")));
        check("a and b and c | length", "c | length and a", ConditionChange::AndRemoved(text("b")));
        check("(a or b) and c", "a or b", ConditionChange::AndRemoved(text("c")));
        check("a", "a or b and c", ConditionChange::OrAdded(text("b and c")));
        check("a or b or c", "c or a", ConditionChange::OrRemoved(text("b")));
        check("a and b", "a and c", ConditionChange::Other);
        check("a and b", "a or b", ConditionChange::Other);
        check("a and b", "b and a", ConditionChange::Other);
        check("a", "b", ConditionChange::Other);
        check("not a", "a", ConditionChange::Other);
    }

    #[test]
    fn a_changed_bound_makes_a_comparison_looser_or_stricter() {
        #[track_caller]
        fn looser(old: &str, new: &str, one: &str, other: &str) {
            check(old, new, ConditionChange::Looser(one.to_owned(), other.to_owned()));
            check(new, old, ConditionChange::Stricter(other.to_owned(), one.to_owned()));
        }
        looser("a.b <= 50", "a.b <= 100", "a.b <= 50", "a.b <= 100");
        looser("a < 5", "a <= 5", "a < 5", "a <= 5");
        looser("a <= 5", "a < 6", "a <= 5", "a < 6");
        looser("a > 1", "a > 0", "a > 1", "a > 0");
        looser("a > 1", "a >= 1", "a > 1", "a >= 1");
        looser("a >= 1", "a > 0.5", "a >= 1", "a > 0.5");
        looser("b and a | length < 8 and c", "b and a | length < 80 and c", "a | length < 8", "a | length < 80");
        looser("b or a < 8", "b or a < 9", "a < 8", "a < 9");
        looser("a > -5", "a > -6.5", "a > -5", "a > -6.5");
        looser("a.b in ['x']", "a.b in ['y', 'x']", "a.b in ['x']", "a.b in ['y', 'x']");
        looser("a == 'x'", "a in ['x', 'y']", "a == 'x'", "a in ['x', 'y']");
        looser("a not in ['x', 'y']", "a != 'y'", "a not in ['x', 'y']", "a != 'y'");
        looser("a == 1", "a != 'x'", "a == 1", "a != 'x'");
        check("a == 1", "a != true", ConditionChange::Other);
        check("a == 1", "a != 1.0", ConditionChange::Other);
        looser("a['b'] == 1 and c", "a['b'] in [1, 2] and c", "a['b'] == 1", "a['b'] in [1, 2]");
        check("a in ['x', 'y']", "a in ['y', 'x']", ConditionChange::Other);
        check("a in ['x', 'y']", "a in ['y', 'z']", ConditionChange::Other);
        check("a != 'x'", "a == 'x'", ConditionChange::Other);
        check("a in b", "a in ['x']", ConditionChange::Other);
        check("'x' in a", "'y' in a", ConditionChange::Other);
        check("a < 'b'", "a < 'c'", ConditionChange::Other);
        check("a | lower == 'x'", "a | lower in ['x', 'y']", ConditionChange::Other);
        check("not a < 5", "not a < 6", ConditionChange::Other);
        check("a < 5", "a > 5", ConditionChange::Other);
        check("a < 5", "b < 6", ConditionChange::Other);
        check("a < 5 and b < 5", "a < 6 and b < 4", ConditionChange::Other);
        check("a < 5 and b", "b and a < 6", ConditionChange::Other);
    }
}
