//! Dialects: do the keys of a dialect suit its grammars, and each other?
//!
//! In: the dialects and their grammars.
//! Out: a diagnostic for each key of a dialect, or of one of its blocks, that cannot take effect.
//! Never: judges whether a dialect is useful.

use super::blocks::{self, DialectContext, bad, is_before};
use super::grammars::{Grammars, has_members};
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::Grammar;
use crate::surface::{Dialect, Mask, Surface};
use crate::text::{Location, Spanned};
use std::collections::HashSet;

/// The most grammars of a dialect: the reader numbers grammars in one byte, and blocks in two.
const MAX_GRAMMARS: usize = 64;
const MAX_BLOCKS: usize = 4096;

pub(super) fn check(surface: &Surface, grammars: &Grammars, diagnostics: &mut Vec<Diagnostic>) {
    for dialect in surface.dialects.values() {
        check_dialect(dialect, &surface.torn, grammars, diagnostics);
    }
    let of_pack = surface.about.as_ref().and_then(|about| about.dialects.as_ref());
    let of_modes = surface.modes.values().filter_map(|mode| mode.value.dialects.as_ref());
    for list in of_pack.into_iter().chain(of_modes) {
        diagnostics.extend(only_fallbacks(list, surface));
    }
}

/// Reports a list of dialects that consists of fallbacks alone.
fn only_fallbacks(list: &[Spanned<String>], surface: &Surface) -> Option<Diagnostic> {
    let first = list.first()?;
    let fallbacks = list.iter().map(|name| {
        let dialect = surface.dialects.get(&name.value).filter(|dialect| dialect.value.is_fallback())?;
        dialect.value.like.as_ref()
    });
    let likes = fallbacks.collect::<Option<Vec<_>>>()?;
    let message = format!("`{}` is a fallback, and beside it there is no other dialect", first.value);
    let help = format!("add `{}`, which it is like: a fallback reads what no other dialect can", likes.first()?.value);
    Some(bad(first.at, message, &help))
}

/// Checks a dialect. In a `torn` dialect or block, a key that seems missing may be in the part with the fault.
fn check_dialect(
    dialect: &Spanned<Dialect>,
    torn: &HashSet<Location>,
    grammars: &Grammars,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let whole = !torn.contains(&dialect.at);
    let Spanned { value: dialect, at } = dialect;
    check_grammars(dialect, grammars, diagnostics);
    if dialect.grammar.0.is_empty() && whole {
        diagnostics.push(bad(*at, "the dialect names no grammar", "say `grammar = \"tags\"`, or another"));
    }
    if dialect.blocks.is_empty() && whole {
        diagnostics.push(bad(*at, "the dialect binds no block", "add `blocks.NAME = { role = … }`"));
    }
    if let Some(block) = dialect.blocks.values().nth(MAX_BLOCKS) {
        let message = format!("the dialect binds more than {MAX_BLOCKS} blocks");
        diagnostics.push(bad(block.at, message, "a `*` in a name stands for any characters"));
    }
    check_text(dialect, diagnostics);
    for block in dialect.blocks.values().filter(|block| block.value.starts).skip(1) {
        let help = "say the other names that open it as its `names`";
        diagnostics.push(bad(block.at, "another block opens where the answer starts, and only the first does", help));
    }
    let ground = DialectContext::of(dialect, grammars, whole);
    if ground.object && ground.known && whole {
        check_object(dialect, diagnostics);
    }
    for (name, block) in &dialect.blocks {
        blocks::check(name, block, torn.contains(&block.at), &ground, diagnostics);
    }
}

/// Checks that each grammar has the rules that it needs, and that blocks only name grammars of their dialect.
fn check_grammars(dialect: &Dialect, grammars: &Grammars, diagnostics: &mut Vec<Diagnostic>) {
    for name in &dialect.grammar.0 {
        let Some(grammar) = grammars.get(name) else { continue };
        for rule in ["open", "name"].into_iter().filter(|rule| grammar.rule(rule).is_none()) {
            let message = format!("the grammar `{}` has no rule `{rule}`", name.value);
            let help = "a dialect's grammar spells its openers: `open`, with `name` inside";
            diagnostics.push(bad(name.at, message, help));
        }
        check_opener(name, grammar, diagnostics);
    }
    if let Some(name) = dialect.grammar.0.get(MAX_GRAMMARS) {
        let message = format!("the dialect names more than {MAX_GRAMMARS} grammars");
        diagnostics.push(bad(name.at, message, "say what goes together as a dialect of its own"));
    }
    let names = || dialect.grammar.0.iter().map(|name| name.value.as_str());
    // If one of the names is unknown, it may be a misspelling of this grammar.
    let known = dialect.grammar.0.iter().all(|name| grammars.get(name).is_some());
    for grammar in dialect.blocks.values().filter_map(|block| block.value.grammar.as_ref()) {
        if !names().any(|name| name == grammar.value) && known {
            let message = format!("the dialect does not name the grammar `{}`", grammar.value);
            let fault = Diagnostic::new(Code::PACK_BLOCK, grammar.at, message);
            diagnostics.push(fault.with_nearest(&grammar.value, names()));
        }
    }
}

/// Checks that the openers and closers of a grammar can be distinguished from any other text, and that openers have a
/// name.
pub(super) fn check_opener(name: &Spanned<String>, grammar: &Grammar, diagnostics: &mut Vec<Diagnostic>) {
    if has_members(grammar) {
        return;
    }
    if let (Some(open), Some(inner)) = (grammar.rule("open"), grammar.rule("name"))
        && !grammar.may_capture(open, inner)
    {
        let message = format!("no opener of the grammar `{}` has a `name`", name.value);
        let help = "call `name` in `open`, not only in a look-ahead, nor in a rule that starts with `@`";
        diagnostics.push(bad(name.at, message, help));
    }
    for rule in ["open", "close"] {
        if grammar.rule(rule).is_some_and(|rule| grammar.matches_anywhere(rule)) {
            let message = format!("the rule `{rule}` of the grammar `{}` matches everywhere", name.value);
            let help = "let it take some text, or look ahead to some, as `&\"x\"` does";
            diagnostics.push(bad(name.at, message, help));
        }
    }
}

/// Checks the setting for text outside every block.
fn check_text(dialect: &Dialect, diagnostics: &mut Vec<Diagnostic>) {
    let Some(text) = &dialect.text else { return };
    let section = text.value.strip_prefix("section:").is_some_and(|name| !name.is_empty());
    if !section && !matches!(text.value.as_str(), "stray" | "message") {
        let message = format!("`{}` says nothing about text outside every block", text.value);
        let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, text.at, message);
        diagnostics.push(fault.with_help("it is `stray`, `message` or `section:NAME`"));
    }
    if text.value == "message" && !dialect.between.is_empty() {
        let message = "`between` has no effect where all text outside every block is the message";
        diagnostics.push(bad(text.at, message, "take `between` out: the text is shown as it comes"));
    }
}

/// Checks a dialect whose blocks are members: it has no openers, closers or quoted regions.
fn check_object(dialect: &Dialect, diagnostics: &mut Vec<Diagnostic>) {
    let opens = |name: &str| {
        let mut before = dialect.blocks.values().filter(|block| is_before(&block.value));
        // A grammar that the dialect does not list may be a misspelling of this one.
        let named = |own: &str| dialect.grammar.0.iter().any(|name| name.value == own);
        before.any(|block| block.value.grammar.as_ref().is_some_and(|own| own.value == name || !named(&own.value)))
    };
    if let Some(second) = dialect.grammar.0.iter().skip(1).find(|name| !opens(&name.value)) {
        let help = "give the other grammar a dialect of its own, or a block that `starts` and is spelled by it";
        diagnostics.push(bad(second.at, "a dialect whose members are blocks has one grammar", help));
    }
    const MARKS: [&str; 7] = ["quoted", "around", "anchor", "close", "ends", "trim", "decode"];
    let by_marks = dialect.quoted.as_ref().is_some_and(|quoted| quoted.value == [Mask::QuotationMarks]);
    for key in dialect.keys().filter(|key| MARKS.contains(key) && !(by_marks && *key == "quoted")) {
        diagnostics.push(bad(dialect.at, format!("members have no `{key}`: their grammar says it all"), "take it out"));
    }
}
