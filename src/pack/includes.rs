//! Includes: which blocks does a dialect include from others?
//!
//! In: the dialects, as typed.
//! Out: each dialect with `include`, completed with the blocks and the grammars of the dialects that it names; a
//! diagnostic for what it cannot include.
//! Never: follows the `include` of an included dialect.

use super::names::{names_of, undeclared};
use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Block, Dialect, Surface};
use crate::text::Spanned;

pub(super) fn take_over(surface: &mut Surface, diagnostics: &mut Vec<Diagnostic>) {
    let declared = surface.dialects.clone();
    for (name, dialect) in &mut surface.dialects {
        for include in &dialect.value.include.clone() {
            let others = names_of(&declared).filter(|other| other != name);
            if include.value == *name {
                diagnostics.push(bad(include, format!("`{name}` includes itself")));
            } else if let Some(other) = declared.get(&include.value) {
                match unfit(&other.value) {
                    Some(key) => {
                        let message = format!("`{}` has `{key}`, so no dialect can include it", include.value);
                        diagnostics.push(bad(include, message));
                    }
                    None => add(&mut dialect.value, &other.value),
                }
            } else {
                diagnostics.extend(undeclared(
                    &surface.unreadable,
                    Code::PACK_UNKNOWN_DIALECT,
                    "dialect",
                    &include.value,
                    include.at,
                    others,
                ));
            }
        }
    }
}

/// The key that keeps others from including a dialect: it has more blocks than those in its own table.
fn unfit(other: &Dialect) -> Option<&'static str> {
    other.keys().find(|key| *key == "include").or(other.like.as_ref().map(|_| "like"))
}

fn add(dialect: &mut Dialect, other: &Dialect) {
    for grammar in &other.grammar.0 {
        if !dialect.grammar.0.iter().any(|own| own.value == grammar.value) {
            dialect.grammar.0.push(grammar.clone());
        }
    }
    for (name, block) in &other.blocks {
        if !dialect.blocks.contains_key(name) {
            dialect.blocks.insert(name.clone(), Spanned { value: complete(&block.value, other), at: block.at });
        }
    }
}

/// A block completed with the settings of its dialect for all blocks, since the other dialect may have different ones.
fn complete(block: &Block, other: &Dialect) -> Block {
    let mut block = block.clone();
    if let [grammar] = other.grammar.0.as_slice() {
        block.grammar.get_or_insert_with(|| grammar.clone());
    }
    block.anchor = block.anchor.or(other.anchor);
    block.decode = block.decode.or(other.decode);
    block.trim = block.trim.or_else(|| other.trim.clone());
    if block.close.is_empty() {
        block.close.clone_from(&other.close);
    }
    if block.ends.is_empty() {
        block.ends.clone_from(&other.ends);
    }
    block
}

fn bad(include: &Spanned<String>, message: String) -> Diagnostic {
    Diagnostic::new(Code::PACK_BLOCK, include.at, message)
        .with_help("`include` names dialects that say all of their blocks themselves, without `like` and `include`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{Folder, read};

    /// Checks which blocks the dialect `two` has after the includes, each with its grammar, and the messages of
    /// the findings.
    #[track_caller]
    fn check(two: &str, blocks: &[(&str, Option<&str>)], expected: &[&str]) {
        let pack = format!(
            "[pack]\nname = \"p\"\n[dialects.one]\ngrammar = \"tags\"\nanchor = \"line\"\n\
             blocks.a = {{ role = \"message\" }}\nblocks.b = {{ role = \"thinking\" }}\n\
             [dialects.two]\n{two}\n[dialects.three]\nlike = \"one\"\n"
        );
        let (mut surface, mut found) = read(&Folder::new("p", [("pack.toml", pack)]));
        take_over(&mut surface, &mut found);
        let messages: Vec<String> = found.iter().map(|one| one.message.to_string()).collect();
        assert_eq!(messages, expected);
        let two = surface.dialects.get("two").map(|two| &two.value.blocks);
        let spelled = |block: &Block| block.grammar.as_ref().map(|grammar| grammar.value.clone());
        let found: Vec<_> =
            two.into_iter().flatten().map(|(name, block)| (name.clone(), spelled(&block.value))).collect();
        let wanted = blocks.iter().map(|(name, grammar)| ((*name).to_owned(), grammar.map(str::to_owned)));
        assert_eq!(found, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn a_dialect_has_the_blocks_of_those_that_it_includes() {
        let own = "grammar = \"headers\"\nblocks.a = { role = \"section\" }";
        check(&format!("include = [\"one\"]\n{own}"), &[("a", None), ("b", Some("tags"))], &[]);
        check("include = [\"one\"]\ngrammar = \"headers\"", &[("a", Some("tags")), ("b", Some("tags"))], &[]);
        check(&format!("include = [\"on\"]\n{own}"), &[("a", None)], &["no table declares the dialect `on`"]);
        check(&format!("include = [\"two\"]\n{own}"), &[("a", None)], &["`two` includes itself"]);
        let like = "`three` has `like`, so no dialect can include it";
        check(&format!("include = [\"three\"]\n{own}"), &[("a", None)], &[like]);
    }
}
