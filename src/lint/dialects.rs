//! Dialects: can each of them read an answer, and each call of theirs be closed where it ends?
//!
//! In: the dialects of a program and the parameters of its actions.
//! Out: a finding for each dialect that an earlier one always outruns, and for each field that would close its call.
//! Never: reads a text.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{BlockId, Closer, Dialect, Program};
use crate::surface::{Payload, Role};

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for mode in program.modes.values() {
        let dialects: Vec<&Dialect> = mode.dialects.iter().filter_map(|one| program.dialects.get(*one)).collect();
        for (number, later) in dialects.iter().enumerate() {
            let Some(earlier) = dialects.iter().take(number).find(|earlier| outruns(earlier, later)) else { continue };
            let message =
                format!("`{}` never reads an answer: `{}` claims all of them first", later.name, earlier.name);
            let diagnostic = Diagnostic::new(Code::PACK_SHADOWED_DIALECT, later.at, message)
                .with_place(earlier.at, "this one stands before it")
                .with_help("give each its own `needs`, or take one out");
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }
    for dialect in &program.dialects {
        own_closers(program, dialect, found);
    }
}

/// Whether whatever claims an answer for `later` claims it for `earlier` at the same place.
fn outruns(earlier: &Dialect, later: &Dialect) -> bool {
    let same_grammars = earlier.families.len() == later.families.len()
        && earlier
            .families
            .iter()
            .zip(&later.families)
            .all(|(one, other)| std::sync::Arc::ptr_eq(&one.grammar, &other.grammar));
    let same_ground = (earlier.fences, earlier.spans, earlier.wrapper) == (later.fences, later.spans, later.wrapper);
    let all = |dialect: &Dialect| (0..dialect.blocks.len()).map(|number| BlockId(number as u16)).collect::<Vec<_>>();
    let claims = |dialect: &Dialect| if dialect.needs.is_empty() { all(dialect) } else { dialect.needs.clone() };
    let theirs = claims(earlier);
    same_grammars
        && same_ground
        && claims(later).iter().all(|id| {
            let Some(block) = later.blocks.get(usize::from(id.0)) else { return false };
            let rival = earlier.names.find(&block.name).filter(|rival| theirs.contains(rival));
            let rival = rival.and_then(|rival| earlier.blocks.get(usize::from(rival.0)));
            rival.is_some_and(|rival| rival.name == block.name && rival.anchor == block.anchor)
        })
}

/// A field of a call that is called like the call's block would close it.
fn own_closers(program: &Program, dialect: &Dialect, found: &mut Vec<Diagnostic>) {
    let calls =
        dialect.blocks.iter().filter(|block| block.role == Role::Call && block.payload.contains(&Payload::Tags));
    for block in calls {
        let closes = |name: &str| {
            block.close.iter().any(|closer| match closer {
                Closer::Own => dialect.names.same(&block.name, name),
                Closer::Word(closer) => dialect.names.same(closer, name),
                Closer::Any => dialect.names.find(name).is_some(),
            })
        };
        for (action, declared) in &program.actions {
            for (param, at) in declared.params.iter().filter(|(param, _)| closes(param)) {
                found.push(
                    Diagnostic::new(
                        Code::PACK_OWN_CLOSER,
                        *at,
                        format!(
                            "the field `{param}` of `{action}` would close the block `{}` that holds it",
                            block.name
                        ),
                    )
                    .with_place(block.at, format!("closed by `{param}`"))
                    .with_help("call the parameter something else"),
                );
            }
        }
    }
}
