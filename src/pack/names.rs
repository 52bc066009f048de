//! Names: does everything that is named exist?
//!
//! In: the tables.
//! Out: a diagnostic with the nearest name for each that nothing declares.
//! Never: looks into expressions; compiling them does.

use crate::diagnostic::{Code, Diagnostic, Severity, rows};
use crate::surface::{Dialect, Levels, Reply, Role, Surface};
use crate::text::Spanned;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let dialects: Vec<&str> = surface.dialects.keys().map(String::as_str).collect();
    let modes: Vec<&str> = surface.modes.keys().map(String::as_str).collect();
    let actions: Vec<&str> = surface.actions.keys().map(String::as_str).collect();
    let blocks = block_names(surface);
    let mut known = |code: Code, kind: &str, name: &Spanned<String>, declared: &[&str]| {
        if !declared.contains(&name.value.as_str()) {
            let message = format!("no table declares the {kind} `{}`", name.value);
            diagnostics
                .push(Diagnostic::new(code, name.at, message).with_nearest(&name.value, declared.iter().copied()));
        }
    };
    if let Some(about) = &surface.about {
        for dialect in about.dialects.iter().flatten() {
            known(Code::PACK_UNKNOWN_DIALECT, "dialect", dialect, &dialects);
        }
        if let Some(start) = &about.start {
            let declared: &[&str] = if modes.is_empty() { &["default"] } else { &modes };
            known(Code::PACK_UNKNOWN_MODE, "mode", start, declared);
        }
    }
    for mode in surface.modes.values() {
        for dialect in mode.value.dialects.iter().flatten() {
            known(Code::PACK_UNKNOWN_DIALECT, "dialect", dialect, &dialects);
        }
        for permit in &mode.value.permits {
            let action = &permit.action;
            let fits = actions.iter().any(|name| crate::text::glob(&action.value, name));
            if !(action.value.contains(['*', '?']) && fits) {
                known(Code::PACK_UNKNOWN_ACTION, "action", action, &actions);
            }
        }
    }
    for reply in std::iter::once(&surface.reply).chain(surface.modes.values().map(|mode| &mode.value.reply)) {
        check_reply(reply, &blocks, &mut known);
    }
    for dialect in surface.dialects.values() {
        let own: Vec<&str> = dialect.value.blocks.keys().map(String::as_str).collect();
        let opening = dialect.value.blocks.iter().flat_map(|(name, block)| match block.value.names.as_slice() {
            [] => vec![name.as_str()],
            names => names.iter().map(|name| name.value.as_str()).collect(),
        });
        let opening: Vec<&str> = opening.collect();
        for need in &dialect.value.needs {
            let fits = |name: &&str| crate::text::glob(name, &need.value) || crate::text::glob(&need.value, name);
            if !opening.iter().any(fits) {
                known(Code::PACK_UNKNOWN_BLOCK, "block", need, &opening);
            }
        }
        for block in dialect.value.blocks.values() {
            for held in &block.value.holds {
                known(Code::PACK_UNKNOWN_BLOCK, "block", held, &own);
            }
        }
    }
    let mut targets = blocks.clone();
    targets.extend(Role::WORDS);
    targets.push("reply");
    for guardrail in &surface.guardrails {
        for on in &guardrail.on.0 {
            match on.value.split_once('.').and_then(|(action, param)| Some((surface.actions.get(action)?, param))) {
                Some((action, param)) => {
                    let params: Vec<&str> = action.value.params.keys().map(String::as_str).collect();
                    known(Code::PACK_UNKNOWN_BLOCK, "parameter", &Spanned::new(param.to_owned(), on.at), &params);
                }
                None => {
                    let name = on.value.strip_suffix(".key").unwrap_or(&on.value);
                    let on = Spanned::new(name.to_owned(), on.at);
                    known(Code::PACK_UNKNOWN_BLOCK, "block, role or action's parameter", &on, &targets);
                }
            }
        }
        for mode in &guardrail.modes.0 {
            known(Code::PACK_UNKNOWN_MODE, "mode", mode, &modes);
        }
    }
    for guardrail in surface.guardrails.iter().filter(|guardrail| guardrail.on.0.is_empty()) {
        let message = format!("nothing says what the guardrail `{}` looks at", guardrail.id.value);
        diagnostics.push(
            Diagnostic::new(Code::PACK_MISSING_KEY, guardrail.id.at, message)
                .with_help("add `on = …`: a role, a block, `ACTION.PARAMETER` or `reply`, or a list of them"),
        );
    }
    check_contents(surface, diagnostics);
    check_levels(surface, diagnostics);
    if surface.dialects.is_empty() && surface.about.is_some() {
        let at = surface.about.as_ref().map(|about| about.name.at);
        diagnostics.push(
            Diagnostic::new(Code::PACK_UNKNOWN_DIALECT, at, "the pack declares no dialect")
                .with_help("add `[dialects.NAME]` with a `grammar` and `blocks`"),
        );
    }
}

/// Every table of contents is about contents that some block gives.
fn check_contents(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let blocks = surface.dialects.values().flat_map(|dialect| &dialect.value.blocks);
    let contents = blocks.filter(|(_, block)| block.value.role == Role::Content);
    let called = contents.map(|(name, block)| match &block.value.name {
        // What the answer says cannot be known.
        Some(called) if called.value.starts_with('@') => "*",
        Some(called) => called.value.as_str(),
        None => name.as_str(),
    });
    let called: Vec<&str> = called.collect();
    let doubtful = surface.dialects.values().any(|dialect| surface.torn.contains(&dialect.at));
    for (name, content) in surface.contents.iter().filter(|_| !doubtful) {
        if !called.iter().any(|called| crate::text::glob(called, name)) {
            let message = format!("no block gives a content that is called `{name}`");
            let diagnostic = Diagnostic::new(Code::PACK_UNKNOWN_BLOCK, content.at, message);
            diagnostics.push(diagnostic.with_nearest(name, called.iter().copied()));
        }
    }
}

/// `[check]` names codes that keep no pack from running.
fn check_levels(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mild = || rows().iter().filter(|row| row.severity != Severity::Error).map(|row| row.name);
    for (code, _) in surface.check.iter().flat_map(Levels::all) {
        if mild().any(|known| known == code.value) {
            continue;
        }
        let diagnostic = if rows().iter().any(|row| row.name == code.value) {
            let message = format!("`{}` is a fault that keeps the pack from running", code.value);
            Diagnostic::new(Code::PACK_WRONG_VALUE, code.at, message).with_help("mend it; it cannot be allowed")
        } else {
            let message = format!("there is no finding `{}`", code.value);
            Diagnostic::new(Code::PACK_WRONG_VALUE, code.at, message).with_nearest(&code.value, mild())
        };
        diagnostics.push(diagnostic);
    }
}

fn check_reply(reply: &Reply, blocks: &[&str], known: &mut impl FnMut(Code, &str, &Spanned<String>, &[&str])) {
    let mut countable = blocks.to_vec();
    countable.push("calls");
    for (name, count) in &reply.counts {
        known(Code::PACK_UNKNOWN_BLOCK, "block", &Spanned::new(name.clone(), count.at), &countable);
    }
    for name in reply.order.iter().flatten() {
        known(Code::PACK_UNKNOWN_BLOCK, "block", name, &countable);
    }
    let lists = reply.counts.values().filter_map(|count| count.value.lists.as_ref());
    for name in reply.shows.iter().chain(lists) {
        known(Code::PACK_UNKNOWN_BLOCK, "block", name, blocks);
    }
}

/// What blocks may be called in a reply: their bound names, and the names that they bear in the outcome.
fn block_names(surface: &Surface) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for dialect in surface.dialects.values() {
        names.extend(names_of(&dialect.value));
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn names_of(dialect: &Dialect) -> impl Iterator<Item = &str> {
    let called = dialect.blocks.values().filter_map(|block| block.value.name.as_ref());
    let called = called.map(|name| name.value.as_str()).filter(|name| !name.starts_with('@'));
    // What stands outside every block may be the message, or a section.
    let text = dialect.text.as_ref().map(|text| text.value.as_str());
    let outside = text.and_then(|text| if text == "message" { Some(text) } else { text.strip_prefix("section:") });
    dialect.blocks.keys().map(String::as_str).chain(called).chain(outside)
}
