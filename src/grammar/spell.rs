//! Spelling: which text does a rule match?
//!
//! In: a rule, and the texts that the rules inside it should capture.
//! Out: a short text that the rule matches completely, with exactly those captures.
//! Never: invents a capture, or returns a text that the rule does not match.
//!
//! An optional part is written only if the text would be read differently without it: for example, the separator
//! between two numbers.

use super::expression::Expr;
use super::{Grammar, Machine, Progress, RuleId};
use pest_meta::ast::RuleType;

/// One capture of the text to write.
#[derive(Debug, Clone)]
pub enum SpelledCapture<'p> {
    /// This rule captures this text.
    Text(RuleId, &'p str),
    /// The next capture, whatever its rule, captures this text.
    Next(&'p str),
    /// This rule, with these captures inside it.
    Whole(RuleId, Vec<SpelledCapture<'p>>),
}

/// What may follow a part of a value: nothing, or what separates and closes such parts.
pub(crate) const INSIDE: &[&str] = &["", ",", "}", "]", ")", "\n"];

/// The deepest nesting of rules that is followed.
const MAX_RULE_DEPTH: usize = 32;
/// The most rounds of a repetition.
const MAX_ROUNDS: usize = 64;
/// How many expressions are tried before a rule counts as one that cannot be spelled.
const MAX_ATTEMPTS: usize = 10_000;
/// More captures than any spelled text has.
const MAX_CAPTURES: usize = 256;
/// More steps than reading a spelled text back costs.
const MAX_STEPS: i64 = 1 << 20;

impl Grammar {
    /// A text that `rule` matches completely, and whose captures are `parts`, in order.
    ///
    /// Of alternatives, the first that has a part is chosen; optional parts are omitted; a class of characters gives a
    /// space or its first letter. Lookaheads are ignored while writing. The text is then read back, followed by one of
    /// the texts in `behind`. If its captures differ, the text is written again with the optional parts, and then with
    /// captures that their rules match only before a separator; `None` if that fails, too.
    pub fn spell(&self, rule: RuleId, parts: &[SpelledCapture<'_>], behind: &[&str]) -> Option<String> {
        let is_read = |text: &String| behind.iter().any(|behind| self.reads_before(rule, text, behind));
        let spelled = |fills: bool, behind: &[&str]| {
            let mut spelling = SpellingRun { grammar: self, text: String::new(), left: MAX_ATTEMPTS, fills, behind };
            let rest = spelling.inside(rule, parts, MAX_RULE_DEPTH)?;
            // Prefer LF, the line break of prompts, if the grammar accepts both kinds.
            let texts = [spelling.text.replace("\r\n", "\n"), spelling.text];
            texts.into_iter().find(is_read).filter(|_| rest.is_empty())
        };
        let captures = |text: &String| self.captures(rule, text, behind, parts);
        let brief = spelled(false, &[""]);
        if brief.as_ref().is_some_and(captures) {
            return brief;
        }
        let full = spelled(true, &[""]).filter(captures).or(brief);
        full.or_else(|| [false, true].into_iter().find_map(|fills| spelled(fills, INSIDE).filter(captures)))
    }

    /// Whether the rule, on this text, captures these parts in order.
    fn captures(&self, rule: RuleId, text: &str, behind: &[&str], parts: &[SpelledCapture<'_>]) -> bool {
        let mut wanted = Vec::new();
        leaves(parts, &mut wanted);
        behind.iter().any(|behind| {
            let whole = format!("{text}{behind}");
            let mut machine = Machine::new().capturing(MAX_CAPTURES);
            machine.start(self, rule, 0);
            if machine.run(self, &whole, true, &mut MAX_STEPS.clone()) != Progress::Matched(text.len()) {
                return false;
            }
            let mut found = machine.captures().iter();
            wanted.iter().all(|(own, given)| {
                found.any(|one| own.is_none_or(|own| own == one.rule()) && one.span().of(&whole) == *given)
            })
        })
    }

    /// Whether `rule` matches all of `text`.
    pub fn reads(&self, rule: RuleId, text: &str) -> bool {
        self.reads_before(rule, text, "")
    }

    /// Whether `rule` matches all of `text` as a part of a value.
    pub(crate) fn reads_inside(&self, rule: RuleId, text: &str) -> bool {
        INSIDE.iter().any(|behind| self.reads_before(rule, text, behind))
    }

    /// Whether `rule` matches all of `text` if some other text follows.
    pub fn may_read(&self, rule: RuleId, text: &str) -> bool {
        let behind = (' '..='~').chain(['\n']).flat_map(|one| [one.to_string(), format!("{one}{one}")]);
        self.reads(rule, text) || behind.into_iter().any(|behind| self.reads_before(rule, text, &behind))
    }

    /// Whether `rule` matches all of `text`, and nothing of the text `behind` it.
    fn reads_before(&self, rule: RuleId, text: &str, behind: &str) -> bool {
        Machine::new().match_at(self, rule, &format!("{text}{behind}"), 0, &mut MAX_STEPS.clone()) == Some(text.len())
    }
}

/// The texts of the parts, each with its rule if the rule is known.
fn leaves<'p>(parts: &'p [SpelledCapture<'_>], found: &mut Vec<(Option<RuleId>, &'p str)>) {
    for part in parts {
        match part {
            SpelledCapture::Text(rule, text) => found.push((Some(*rule), text)),
            SpelledCapture::Next(text) => found.push((None, text)),
            SpelledCapture::Whole(_, inner) => leaves(inner, found),
        }
    }
}

struct SpellingRun<'g, 'b> {
    grammar: &'g Grammar,
    text: String,
    /// Whether optional parts are written, too.
    fills: bool,
    /// What may follow a captured text.
    behind: &'b [&'b str],
    /// How many more expressions may be tried.
    left: usize,
}

impl SpellingRun<'_, '_> {
    /// Writes the inside of a rule; returns the remaining parts.
    fn inside<'p, 't>(
        &mut self,
        rule: RuleId,
        parts: &'p [SpelledCapture<'t>],
        depth: usize,
    ) -> Option<&'p [SpelledCapture<'t>]> {
        let grammar = self.grammar;
        let expr = &grammar.resolved.get(usize::from(rule.0))?.expr;
        self.expr(expr, parts, depth.checked_sub(1)?)
    }

    fn expr<'p, 't>(
        &mut self,
        expr: &Expr,
        parts: &'p [SpelledCapture<'t>],
        depth: usize,
    ) -> Option<&'p [SpelledCapture<'t>]> {
        self.left = self.left.checked_sub(1)?;
        match expr {
            Expr::Text(text) | Expr::AnyCase(text) => self.text.push_str(text),
            Expr::One(class) => self.text.push(class.sample()?),
            Expr::Call(rule) => return self.call(RuleId(*rule as u16), parts, depth),
            Expr::Sequence(inner) => return inner.iter().try_fold(parts, |rest, one| self.expr(one, rest, depth)),
            Expr::Choice(choices) => {
                let useful = choices.iter().find_map(|choice| self.taking(choice, parts, depth));
                return useful.or_else(|| choices.iter().find_map(|choice| self.attempt(choice, parts, depth)));
            }
            Expr::Optional(inner) => {
                let taken = self.taking(inner, parts, depth);
                let taken = if taken.is_none() && self.fills { self.attempt(inner, parts, depth) } else { taken };
                return Some(taken.unwrap_or(parts));
            }
            Expr::Repeat(inner) => {
                let mut rest = parts;
                for _ in 0..MAX_ROUNDS {
                    let Some(less) = self.taking(inner, rest, depth) else { break };
                    rest = less;
                }
                return Some(rest);
            }
            Expr::And(_) | Expr::Not(_) | Expr::Until(_) => {}
        }
        Some(parts)
    }

    /// Writes `expr` if possible; otherwise leaves the text unchanged.
    fn attempt<'p, 't>(
        &mut self,
        expr: &Expr,
        parts: &'p [SpelledCapture<'t>],
        depth: usize,
    ) -> Option<&'p [SpelledCapture<'t>]> {
        let before = self.text.len();
        let rest = self.expr(expr, parts, depth);
        if rest.is_none() {
            self.text.truncate(before);
        }
        rest
    }

    /// Writes `expr` if that uses a part; otherwise leaves the text unchanged.
    fn taking<'p, 't>(
        &mut self,
        expr: &Expr,
        parts: &'p [SpelledCapture<'t>],
        depth: usize,
    ) -> Option<&'p [SpelledCapture<'t>]> {
        let before = self.text.len();
        let rest = self.expr(expr, parts, depth).filter(|rest| rest.len() < parts.len());
        if rest.is_none() {
            self.text.truncate(before);
        }
        rest
    }

    fn call<'p, 't>(
        &mut self,
        rule: RuleId,
        parts: &'p [SpelledCapture<'t>],
        depth: usize,
    ) -> Option<&'p [SpelledCapture<'t>]> {
        let grammar = self.grammar;
        if grammar.resolved.get(usize::from(rule.0))?.kind == RuleType::Silent {
            return self.inside(rule, parts, depth);
        }
        let (first, rest) = parts.split_first()?;
        match first {
            SpelledCapture::Text(own, text) if *own == rule => self.take(rule, text)?,
            SpelledCapture::Next(text) => self.take(rule, text)?,
            SpelledCapture::Whole(own, inner) if *own == rule => {
                self.inside(rule, inner, depth).filter(|left| left.is_empty())?;
            }
            SpelledCapture::Text(..) | SpelledCapture::Whole(..) => return None,
        }
        Some(rest)
    }

    fn take(&mut self, rule: RuleId, text: &str) -> Option<()> {
        let reads = self.behind.iter().any(|behind| self.grammar.reads_before(rule, text, behind));
        reads.then(|| self.text.push_str(text))
    }
}
