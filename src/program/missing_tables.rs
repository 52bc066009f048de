//! Missing tables: does a pack lack a whole table, and not just each name in it?
//!
//! In: the tables, and the findings so far.
//! Out: the same findings, except that all unknown names of a kind whose table does not exist become one, at the first
//! name.
//! Never: looks for missing things itself.

use crate::diagnostic::{Code, Diagnostic};
use crate::surface::Surface;

/// How many of the other places a finding lists.
const MOST_PLACES: usize = 3;

pub(super) fn collapse_missing_tables(surface: &Surface, found: &mut Vec<Diagnostic>) {
    let tables = [
        (Code::PACK_UNKNOWN_ACTION, "an action", "actions", surface.actions.is_empty()),
        (Code::PACK_UNKNOWN_MODE, "a mode", "modes", surface.modes.is_empty()),
        (Code::PACK_UNKNOWN_MESSAGE, "a message", "messages", surface.messages.is_empty()),
        (Code::PACK_UNKNOWN_STATE, "a value of the state", "state", surface.state.is_empty()),
        (Code::PACK_UNKNOWN_TIER, "a tier", "tiers", surface.tiers.is_empty()),
    ];
    for (code, what, table, _) in tables.into_iter().filter(|(.., is_empty)| *is_empty) {
        let (mut reported, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
            std::mem::take(found).into_iter().partition(|one| one.code == code);
        *found = others;
        reported.sort_by_key(|one| one.at);
        reported.dedup_by_key(|one| one.at);
        if reported.len() > 1 {
            let more = reported.split_off(1);
            for first in &mut reported {
                let message = format!("{} places name {what}, and the pack has no `[{table}]`", more.len() + 1);
                let help =
                    "is a file missing, or in another folder? tables are read from the `.toml` files of the pack";
                let fault = Diagnostic::new(code.clone(), first.at, message).with_help(help);
                let listed = more.iter().filter_map(|one| one.at).take(MOST_PLACES);
                *first = listed.fold(fault, |fault, at| fault.with_place(at, "here, too"));
            }
        }
        found.extend(reported);
    }
}
