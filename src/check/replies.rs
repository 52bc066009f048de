//! Replies: can a reply have the shape that a mode requires?
//!
//! In: the shapes of replies of a program's modes, and the blocks of its dialects.
//! Out: a finding for each block that is both required and forbidden or is in no dialect of the mode, for settings of a
//! block that must not occur, and for each section that should list contents but is read only as text.
//! Never: reads an answer.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{BlockId, Count, DialectId, Mode, Program, ReplyShape, TextRole};
use crate::surface::Role;
use crate::text::Location;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut report = |at: Location, message: String, help: &str| {
        found.push(Diagnostic::new(Code::PACK_BLOCK, at, message).with_help(help).into_warning());
    };
    for reply in program.modes.values().map(|mode| &mode.reply) {
        for count in &reply.counts {
            let Count { name, at, .. } = count;
            if count.lists.is_some() && is_text(program, count) {
                let message = format!("`{name}` lists nothing that can be compared: only its text is read");
                report(*at, message, "give its block `payload = \"bullets\"` or `\"json\"`");
            }
            let lacking = lacking(program, count);
            if !lacking.is_empty() {
                let message = format!("no dialect of {} has `{name}`, but it is required", lacking.join(", "));
                let help = "say `required = false` in the `reply` of the mode, or give a block this `name`";
                report(*at, message, help);
            }
            let none = must_not_occur(program, reply, count);
            if none && count.required {
                let message = format!("`{name}` is required, but at most 0 are allowed: every answer is wrong");
                report(*at, message, "leave out one of the two, or say `required = false` in the mode");
            }
            // The keys that the pack sets apply in those modes that allow the block.
            if none && !count.keys.is_empty() && !program.modes.values().any(|mode| uses_keys(program, mode, count)) {
                report(
                    *at,
                    format!("`keys` of `{name}` have no effect: at most 0 are allowed"),
                    "leave out one of the two",
                );
            }
        }
        let twice = reply.order.iter().enumerate().find_map(|(number, blocks)| {
            let block = blocks.first()?;
            reply.order.iter().take(number).any(|before| before.contains(block)).then_some(block)
        });
        if let (Some((dialect, block)), Some(at)) = (twice, reply.order_at) {
            let dialect = dialect.of(&program.dialects);
            let name = dialect.and_then(|dialect| dialect.block(*block)).map_or("", |block| block.name.as_str());
            report(at, format!("`order` names `{name}` twice: its first place is used"), "leave out the other");
        }
    }
}

/// Whether a reply of this shape cannot have any of the blocks that `count` is about.
fn must_not_occur(program: &Program, reply: &ReplyShape, count: &Count) -> bool {
    count.most == Some(0) || (reply.calls.is_some_and(|(most, _)| most == 0) && is_call(program, count))
}

/// Whether a reply in a mode may have such a block, limited to the same `keys`.
fn uses_keys(program: &Program, mode: &Mode, count: &Count) -> bool {
    let mut counts = mode.reply.counts.iter().filter(|own| own.name == count.name && own.keys == count.keys);
    counts.any(|own| !must_not_occur(program, &mode.reply, own))
}

/// The modes that require a block that none of their dialects has.
fn lacking(program: &Program, count: &Count) -> Vec<String> {
    let lacks = |mode: &Mode| {
        let own = mode.reply.counts.iter().find(|own| own.at == count.at && own.required && own.lists.is_none());
        own.is_some_and(|own| !mode.dialects.iter().any(|dialect| has(program, *dialect, own)))
    };
    let modes = program.modes.iter().filter(|(_, mode)| lacks(mode));
    modes.map(|(name, _)| format!("`{name}`")).collect()
}

/// Whether a dialect has a block, or text outside of blocks, that meets the requirement.
fn has(program: &Program, read: DialectId, count: &Count) -> bool {
    let outside = read.of(&program.dialects).is_some_and(|dialect| match &dialect.text {
        TextRole::Message => count.message,
        TextRole::Section(name) => *name == count.name,
        TextRole::Stray => false,
    });
    outside || count.blocks.iter().any(|(dialect, _)| *dialect == read)
}

/// Whether all blocks that `count` is about are calls.
fn is_call(program: &Program, count: &Count) -> bool {
    let block = |(dialect, id): &(DialectId, BlockId)| dialect.of(&program.dialects)?.block(*id);
    let is_call = |at: &(DialectId, BlockId)| block(at).is_some_and(|block| block.role == Role::Call);
    !count.blocks.is_empty() && count.blocks.iter().all(is_call)
}

/// Whether `count` is about sections, and none of them has a value.
fn is_text(program: &Program, count: &Count) -> bool {
    let sections = count.blocks.iter().filter_map(|(dialect, id)| {
        let dialect = dialect.of(&program.dialects)?;
        Some((dialect, dialect.block(*id).filter(|block| block.role == Role::Section)?))
    });
    let mut sections = sections.peekable();
    sections.peek().is_some() && sections.all(|(dialect, block)| dialect.outline.is_none() && block.payload.is_empty())
}
