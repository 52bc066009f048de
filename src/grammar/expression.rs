//! Expressions: what do the optimised rules consist of, with every name resolved?
//!
//! In: checked rules.
//! Out: a [`ResolvedRule`] for each, ready to be compiled.
//! Never: receives a rule that was refused.

use super::class::Class;
use super::tree::{self, NodeKind, RuleNode, Times};
use super::unicode::property;
use pest_meta::ast::{self, RuleType};
use pest_meta::optimizer::{OptimizedExpr, optimize};
use std::collections::HashMap;

/// An expression.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    /// Exactly this text.
    Text(String),
    /// This text in any case of its ASCII letters.
    AnyCase(String),
    /// One character of a class.
    One(Class),
    /// Another rule, by its index.
    Call(usize),
    /// Several expressions in sequence.
    Sequence(Vec<Expr>),
    /// The first expression that matches.
    Choice(Vec<Expr>),
    /// The expression, or nothing.
    Optional(Box<Expr>),
    /// The expression repeated as often as it matches.
    Repeat(Box<Expr>),
    /// Matches if the expression matches here; consumes nothing.
    And(Box<Expr>),
    /// Matches if the expression does not match here; consumes nothing.
    Not(Box<Expr>),
    /// The text up to one of these literals, or up to the end.
    Until(Vec<String>),
}

/// A rule.
#[derive(Debug, Clone)]
pub(super) struct ResolvedRule {
    pub(super) kind: RuleType,
    pub(super) expr: Expr,
}

/// The rules in the order of the file, optimised by pest. Its optimiser defines what a grammar means, because a few of
/// its rewritings accept more than the rules literally do. It is called for one rule at a time: what it does across
/// rules only concerns the stack and speed, and would take time that grows with the product of their sizes.
pub(super) fn resolve(rules: &[tree::TypedRule]) -> Vec<ResolvedRule> {
    let index: HashMap<&str, usize> = rules.iter().enumerate().map(|(at, rule)| (rule.name.as_str(), at)).collect();
    let typed = rules.iter().map(|rule| ast::Rule { name: rule.name.clone(), ty: rule.kind, expr: typed(&rule.body) });
    let optimised = typed.flat_map(|rule| optimize(vec![rule]));
    optimised.map(|rule| ResolvedRule { kind: rule.ty, expr: resolved(rule.expr, &index) }).collect()
}

/// The literal that every match starts with, and the rule directly after it.
pub(super) fn literal_prefix(expr: &Expr) -> Option<(String, usize)> {
    let Expr::Sequence(parts) = expr else { return None };
    let mut parts = parts.iter();
    match (parts.next()?, parts.next()) {
        (Expr::Text(text), Some(Expr::Call(rule))) => Some((text.clone(), *rule)),
        _ => None,
    }
}

fn typed(node: &RuleNode) -> ast::Expr {
    let boxed = |node: &RuleNode| Box::new(typed(node));
    let joined = |parts: &[RuleNode], join: fn(Box<ast::Expr>, Box<ast::Expr>) -> ast::Expr| {
        let mut parts = parts.iter().rev().map(typed);
        let last = parts.next().unwrap_or_else(|| ast::Expr::Str(String::new()));
        parts.fold(last, |right, left| join(Box::new(left), Box::new(right)))
    };
    match &node.what {
        NodeKind::Text(text) => ast::Expr::Str(text.clone()),
        NodeKind::AnyCase(text) => ast::Expr::Insens(text.clone()),
        NodeKind::Range(first, last) => ast::Expr::Range(first.to_string(), last.to_string()),
        NodeKind::Name(name) => ast::Expr::Ident(name.clone()),
        NodeKind::Sequence(parts) => joined(parts, ast::Expr::Seq),
        NodeKind::Choice(choices) => joined(choices, ast::Expr::Choice),
        NodeKind::Optional(inner) => ast::Expr::Opt(boxed(inner)),
        NodeKind::Repeat(inner, times) => match *times {
            Times::Any => ast::Expr::Rep(boxed(inner)),
            Times::Some => ast::Expr::RepOnce(boxed(inner)),
            Times::Exactly(count) => ast::Expr::RepExact(boxed(inner), count),
            Times::AtLeast(count) => ast::Expr::RepMin(boxed(inner), count),
            Times::AtMost(count) => ast::Expr::RepMax(boxed(inner), count),
            Times::Between(least, most) => ast::Expr::RepMinMax(boxed(inner), least, most),
        },
        NodeKind::And(inner) => ast::Expr::PosPred(boxed(inner)),
        NodeKind::Not(inner) => ast::Expr::NegPred(boxed(inner)),
        // Unreachable: `check` refuses such grammars.
        NodeKind::Refused => ast::Expr::Str(String::new()),
    }
}

fn resolved(expr: OptimizedExpr, index: &HashMap<&str, usize>) -> Expr {
    let inner = |expr: Box<OptimizedExpr>| Box::new(resolved(*expr, index));
    match expr {
        OptimizedExpr::Str(text) => Expr::Text(text),
        OptimizedExpr::Insens(text) => Expr::AnyCase(text),
        OptimizedExpr::Range(first, last) => match (first.chars().next(), last.chars().next()) {
            (Some(first), Some(last)) => Expr::One(Class::range(first, last)),
            _ => Expr::One(Class::EMPTY),
        },
        OptimizedExpr::Ident(name) => match index.get(name.as_str()) {
            Some(rule) => Expr::Call(*rule),
            None => built_in(&name),
        },
        OptimizedExpr::PosPred(expr) => Expr::And(inner(expr)),
        OptimizedExpr::NegPred(expr) => Expr::Not(inner(expr)),
        OptimizedExpr::Seq(left, right) => {
            let mut parts = vec![resolved(*left, index)];
            let mut rest = *right;
            while let OptimizedExpr::Seq(left, right) = rest {
                parts.push(resolved(*left, index));
                rest = *right;
            }
            parts.push(resolved(rest, index));
            Expr::Sequence(flat(parts))
        }
        OptimizedExpr::Choice(left, right) => {
            let mut choices = vec![resolved(*left, index)];
            let mut rest = *right;
            while let OptimizedExpr::Choice(left, right) = rest {
                choices.push(resolved(*left, index));
                rest = *right;
            }
            choices.push(resolved(rest, index));
            Expr::Choice(choices)
        }
        OptimizedExpr::Opt(expr) => Expr::Optional(inner(expr)),
        OptimizedExpr::Rep(expr) => Expr::Repeat(inner(expr)),
        OptimizedExpr::Skip(texts) => Expr::Until(texts),
        OptimizedExpr::RestoreOnErr(expr) => resolved(*expr, index),
        // Unreachable: `check` refuses parts that use the stack of pest.
        OptimizedExpr::Push(_) | OptimizedExpr::PeekSlice(..) => Expr::One(Class::EMPTY),
        #[expect(unreachable_patterns, reason = "pest_meta has more kinds when its `grammar-extras` are on")]
        _ => Expr::One(Class::EMPTY),
    }
}

/// A sequence with nested sequences flattened and neighbouring texts joined.
fn flat(parts: Vec<Expr>) -> Vec<Expr> {
    let mut flat: Vec<Expr> = Vec::with_capacity(parts.len());
    for part in parts {
        match (flat.last_mut(), part) {
            (_, Expr::Sequence(inner)) => flat.extend(inner),
            (Some(Expr::Text(before)), Expr::Text(text)) => before.push_str(&text),
            (_, part) => flat.push(part),
        }
    }
    flat
}

/// The expression of a built-in name of pest.
pub(super) fn built_in(name: &str) -> Expr {
    let ranges: &[(char, char)] = match name {
        "ANY" => return Expr::One(Class::ANY),
        "NEWLINE" => return Expr::Choice(["\n", "\r\n", "\r"].map(|text| Expr::Text(text.to_owned())).to_vec()),
        "ASCII" => &[('\0', '\x7F')],
        "ASCII_DIGIT" => &[('0', '9')],
        "ASCII_NONZERO_DIGIT" => &[('1', '9')],
        "ASCII_BIN_DIGIT" => &[('0', '1')],
        "ASCII_OCT_DIGIT" => &[('0', '7')],
        "ASCII_HEX_DIGIT" => &[('0', '9'), ('a', 'f'), ('A', 'F')],
        "ASCII_ALPHA_LOWER" => &[('a', 'z')],
        "ASCII_ALPHA_UPPER" => &[('A', 'Z')],
        "ASCII_ALPHA" => &[('a', 'z'), ('A', 'Z')],
        "ASCII_ALPHANUMERIC" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        _ => return Expr::One(property(name).map_or(Class::EMPTY, Class::property)),
    };
    let ascii = ranges.iter().fold(0, |bits, (first, last)| bits | Class::range(*first, *last).ascii);
    Expr::One(Class { ascii, ..Class::EMPTY })
}
