//! Lookalikes: can a reader distinguish every name from the others?
//!
//! In: the names of a program's actions, their parameters, and its modes.
//! Out: a finding for each name that looks like one before it, and for each name with a character that looks like
//! another one, or is invisible.
//! Never: reports two names of ASCII letters, however similar.

use crate::diagnostic::{Code, Diagnostic, bones, foreign, is_plain, odd};
use crate::program::Program;
use crate::text::{Location, excerpt};
use std::collections::HashMap;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let actions = program.actions.iter().map(|(name, action)| (name.as_str(), action.at));
    alike("action", actions, found);
    alike("mode", program.modes.iter().map(|(name, mode)| (name.as_str(), mode.at)), found);
    for action in program.actions.values() {
        alike("parameter", action.params.iter().map(|param| (param.name.as_str(), param.at)), found);
    }
}

fn alike<'n>(what: &str, names: impl Iterator<Item = (&'n str, Location)>, found: &mut Vec<Diagnostic>) {
    let names: Vec<(&str, Location)> = names.collect();
    // Most packs have only plain names, which need no look-up in the tables of Unicode.
    if names.iter().all(|(name, _)| is_plain(name)) {
        return;
    }
    let mut by_look: HashMap<String, Vec<(&str, Location)>> = HashMap::new();
    for (name, at) in &names {
        by_look.entry(bones(name)).or_default().push((name, *at));
    }
    for (name, at) in names.iter().filter(|(name, _)| !is_plain(name)) {
        let mut others = by_look.get(&bones(name)).into_iter().flatten().filter(|(other, _)| other != name);
        // If neither name is plain, report the second one.
        let other = others.find(|(other, place)| is_plain(other) || *place < *at);
        let cited = excerpt(name, 60);
        let why = odd(name).or_else(|| other.and_then(|_| foreign(name)));
        let (message, help) = match (other, why) {
            (Some((other, _)), Some(why)) => {
                let other = excerpt(other, 60);
                (
                    format!("the {what} `{cited}` looks like the {what} `{other}`"),
                    format!("{why}; did you mean `{other}`?"),
                )
            }
            (None, Some(why)) => {
                (format!("the name of the {what} `{cited}` is not what it looks like"), format!("{why}: type it anew"))
            }
            (_, None) => continue,
        };
        let finding = Diagnostic::new(Code::PACK_LOOKALIKE, *at, message).with_help(help);
        found.push(match other {
            Some((_, place)) => finding.with_place(*place, "this looks the same"),
            None => finding,
        });
    }
}
