//! Dialects: can each of them read an answer, and each call of theirs be closed where it ends?
//!
//! In: the dialects of a program and the parameters of its actions.
//! Out: a finding for each dialect that an earlier one always outruns, and for each field that would close its call.
//! Never: reads a text.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Closer, Dialect, Program};
use crate::surface::{Payload, Role};
use crate::text::glob;

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
    let claims = |dialect: &Dialect| match dialect.needs.as_slice() {
        [] => dialect.blocks.iter().flat_map(|block| block.names.clone()).collect(),
        needs => needs.to_vec(),
    };
    let theirs = claims(earlier);
    same_grammars
        && same_ground
        && claims(later).iter().all(|name| {
            let block = |dialect: &'_ Dialect| {
                let block = dialect.names.find(name, None).and_then(|id| dialect.block(id))?;
                Some((block.name.clone(), block.anchor))
            };
            theirs.iter().any(|their| glob(their, name)) && block(later).is_some() && block(earlier) == block(later)
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
                Closer::Pattern(pattern) => dialect.names.fits(pattern, name),
                Closer::Attribute(_) => false,
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
