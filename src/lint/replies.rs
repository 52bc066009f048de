//! Replies: is there anything to compare where a section lists contents?
//!
//! In: the shapes of replies of a program's modes, and the blocks of its dialects.
//! Out: a finding for each section that should list contents and of which nothing is read but its text.
//! Never: reads an answer.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::{Count, Program};
use crate::surface::Role;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for count in program.modes.values().flat_map(|mode| &mode.reply.counts) {
        if count.lists.is_some() && is_text(program, count) {
            let message = format!("`{}` lists nothing that can be compared: only its text is read", count.name);
            let finding = Diagnostic::new(Code::PACK_BLOCK, count.at, message);
            let finding = finding.with_help("say `payload = \"bullets\"` or `\"json\"` of its block");
            let finding = Diagnostic { severity: Severity::Warning, ..finding };
            // Modes without a shape of their own share the pack's.
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
    }
}

/// Whether there are such sections, and none has a value.
fn is_text(program: &Program, count: &Count) -> bool {
    let sections = count.blocks.iter().filter_map(|(dialect, id)| {
        let dialect = program.dialects.get(*dialect)?;
        Some((dialect, dialect.block(*id).filter(|block| block.role == Role::Section)?))
    });
    let mut sections = sections.peekable();
    sections.peek().is_some() && sections.all(|(dialect, block)| dialect.outline.is_none() && block.payload.is_empty())
}
