//! Names: is everything declared that the tables name?
//!
//! In: the tables.
//! Out: a diagnostic for each undeclared name, with the nearest declared one.
//! Never: parses expressions; their names are checked when they are compiled.

use crate::diagnostic::{Code, Diagnostic, Severity, nearest, rows};
use crate::surface::{Block, Case, Count, Dialect, Levels, Named, ReplyTable, Role, Surface};
use crate::text::{Location, Spanned, excerpt, glob};
use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let torn = surface.dialects.values().any(|dialect| surface.torn.contains(&dialect.at));
    let mut names = PackNames { surface, blocks: block_names(surface), torn, diagnostics };
    names.check_pack();
    names.check_actions();
    names.check_modes();
    names.check_replies();
    surface.dialects.values().for_each(|dialect| names.check_dialect(&dialect.value));
    names.check_guardrails();
    names.check_contents();
    names.check_levels();
}

/// The diagnostic for an undeclared name; none if it is among those `declared`, or those that were `unreadable`.
pub(super) fn undeclared<'n>(
    unreadable: &HashSet<String>,
    code: Code,
    kind: &str,
    name: &str,
    at: Location,
    declared: impl IntoIterator<Item = &'n str>,
) -> Option<Diagnostic> {
    let declared: Vec<&str> = declared.into_iter().collect();
    // Report nothing: a declaration with an empty name may be the intended one.
    if declared.contains(&name) || unreadable.contains(name) || declared.iter().any(|known| known.trim().is_empty()) {
        return None;
    }
    let message = format!("no table declares the {kind} `{}`", excerpt(name, 60));
    let fault = Diagnostic::new(code, at, message);
    Some(match declared.is_empty() {
        true => match first_table(kind, name) {
            Some(table) => fault.with_help(format!("add {table}")),
            None => fault,
        },
        false => fault.with_nearest(name, declared),
    })
}

/// The table that would declare this name, where nothing of its kind is declared yet.
fn first_table(kind: &str, name: &str) -> Option<String> {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let key = if is_bare { name.to_owned() } else { format!("\"{}\"", excerpt(name, 60)) };
    match kind {
        "group" => Some(format!("`[groups]`, with a line `{key} = […]`")),
        "action" | "content" | "dialect" | "message" | "mode" | "tier" => Some(format!("`[{kind}s.{key}]`")),
        _ => None,
    }
}

/// Like `undeclared`, for the name of a mode.
pub(super) fn undeclared_mode(surface: &Surface, name: &Spanned<String>) -> Option<Diagnostic> {
    if surface.has_mode(&name.value) {
        return None;
    }
    undeclared(&surface.unreadable, Code::PACK_UNKNOWN_MODE, "mode", &name.value, name.at, surface.mode_names())
}

/// The names in a table of tables.
pub(super) fn names_of<T>(table: &Named<T>) -> impl Iterator<Item = &str> {
    table.keys().map(String::as_str)
}

/// The diagnostic for a key that has no meaning without another one, which is absent.
pub(super) fn needs_other<T>(key: &str, given: Option<&Spanned<T>>, other: &str, is_there: bool) -> Option<Diagnostic> {
    let given = given.filter(|_| !is_there)?;
    let message = format!("`{key}` means nothing without `{other}`");
    let fault = Diagnostic::new(Code::PACK_MISSING_KEY, given.at, message);
    Some(fault.with_help(format!("add `{other}`, or take `{key}` out")))
}

struct PackNames<'n> {
    surface: &'n Surface,
    /// The names that blocks may have in a reply.
    blocks: Vec<&'n str>,
    /// Whether some dialect has faults.
    torn: bool,
    diagnostics: &'n mut Vec<Diagnostic>,
}

impl<'n> PackNames<'n> {
    /// Reports an undeclared name.
    fn look_up<'d>(
        &mut self,
        code: Code,
        kind: &str,
        name: &str,
        at: Location,
        all: impl IntoIterator<Item = &'d str>,
    ) {
        self.diagnostics.extend(undeclared(&self.surface.unreadable, code, kind, name, at, all));
    }

    fn dialect(&mut self, name: &Spanned<String>) {
        let declared = names_of(&self.surface.dialects);
        self.look_up(Code::PACK_UNKNOWN_DIALECT, "dialect", &name.value, name.at, declared);
    }

    fn mode(&mut self, name: &Spanned<String>) {
        self.diagnostics.extend(undeclared_mode(self.surface, name));
    }

    fn block(&mut self, name: &str, at: Location, declared: &[&str]) {
        // In a dialect with a fault, the block may be declared in the part that could not be read.
        if !self.torn {
            self.look_up(Code::PACK_UNKNOWN_BLOCK, "block", name, at, declared.iter().copied());
        }
    }

    fn check_pack(&mut self) {
        let surface = self.surface;
        let Some(about) = &surface.about else { return };
        about.dialects.iter().flatten().for_each(|dialect| self.dialect(dialect));
        if about.dialects.as_ref().is_some_and(Vec::is_empty) {
            let fault = Diagnostic::new(Code::PACK_UNKNOWN_DIALECT, about.name.at, "the pack reads no dialect");
            let help = "name one in `dialects`, or take the key out: then all are read";
            self.diagnostics.push(fault.with_help(help));
        }
        about.start.iter().for_each(|start| self.mode(start));
        // Native tool calls need no dialect; without actions, a native call could not ask for anything.
        if surface.dialects.is_empty() && surface.actions.is_empty() && surface.guardrails.is_empty() {
            let message = "the pack declares no dialect, and no action that a native call could ask for";
            let help = "add `[dialects.NAME]` with a `grammar` and `blocks`, or `[actions.NAME]`";
            let fault = Diagnostic::new(Code::PACK_UNKNOWN_DIALECT, about.name.at, message);
            self.diagnostics.push(fault.with_help(help));
        }
    }

    /// Checks that each spelling of an action's name means exactly one action.
    fn check_actions(&mut self) {
        let mut known: HashMap<&str, Location> = HashMap::new();
        let actions = || self.surface.actions.iter();
        known.extend(actions().map(|(name, action)| (name.as_str(), action.at)));
        for name in actions().flat_map(|(_, action)| &action.value.names) {
            match known.entry(&name.value) {
                Entry::Vacant(place) => drop(place.insert(name.at)),
                Entry::Occupied(place) => {
                    let message = format!("`{}` already means an action", excerpt(&name.value, 60));
                    let fault = Diagnostic::new(Code::PACK_DUPLICATE, name.at, message);
                    let fault = fault.with_place(*place.get(), "it is declared here");
                    self.diagnostics
                        .push(fault.with_help("each spelling means one action: take it out of one of the two"));
                }
            }
        }
    }

    fn check_modes(&mut self) {
        let surface = self.surface;
        for mode in surface.modes.values() {
            mode.value.dialects.iter().flatten().for_each(|dialect| self.dialect(dialect));
        }
    }

    fn check_replies(&mut self) {
        let surface = self.surface;
        let mut countable = self.blocks.clone();
        countable.push("calls");
        let of_modes = surface.modes.values().map(|mode| &mode.value.reply);
        for ReplyTable { order, shows, counts, separator: _, refused: _, hold: _ } in
            std::iter::once(&surface.reply).chain(of_modes)
        {
            for (name, count) in counts {
                self.counted(name, count.at, &countable);
                self.check_count(name, &count.value);
            }
            order.iter().flatten().for_each(|name| self.counted(&name.value, name.at, &countable));
            let lists = counts.values().filter_map(|count| count.value.lists.as_ref());
            for name in shows.iter().chain(lists) {
                self.block(&name.value, name.at, &self.blocks.clone());
            }
            let roles = shows.as_ref().map(|shows| (shows, roles_of(surface, &shows.value)));
            if let Some((shows, _)) = roles.filter(|(_, roles)| !roles.is_empty() && !roles.contains(&Role::Section)) {
                let message = format!("`{}` is no section, so that its text cannot be the message", shows.value);
                let fault = Diagnostic::new(Code::PACK_BLOCK, shows.at, message);
                self.diagnostics.push(fault.with_help("say the name of a block whose `role` is `section`"));
            }
        }
    }

    /// Checks a name that a reply counts: it must be a name of the pack, and not a role.
    fn counted(&mut self, name: &str, at: Location, countable: &[&str]) {
        let found = self.diagnostics.len();
        self.block(name, at, countable);
        let meant = self.surface.blocks().filter(|(_, block)| block.value.role.word() == name);
        let meant = meant.map(|(name, _)| name.as_str());
        let mut words: Vec<String> = meant.map(|block| format!("`{block}`")).collect();
        words.sort_unstable();
        words.dedup();
        words.truncate(5);
        let alike = nearest(name, countable.iter().copied()).is_some();
        if let (Some(finding), false) = (self.diagnostics.get_mut(found), words.is_empty() || alike) {
            let blocks = if words.len() == 1 { "the block of this role is" } else { "the blocks of this role are" };
            finding.help = Some(format!("{blocks} {}", words.join(", ")).into());
        }
    }

    /// Checks that the keys of a count in a reply apply to what it counts.
    fn check_count(&mut self, name: &str, count: &Count) {
        let required = count.required.as_ref().map(|key| ("required", key.at));
        let keys = count.keys.0.first().map(|key| ("keys", key.at));
        let lists = count.lists.as_ref().map(|key| ("lists", key.at));
        let roles = roles_of(self.surface, name);
        let needs = |role: Role| !roles.is_empty() && !roles.contains(&role);
        let calls = name == "calls" && roles.is_empty();
        let keys = keys.filter(|_| calls || needs(Role::Content)).map(|key| (key, "only contents have keys"));
        let lists = lists.filter(|_| calls || needs(Role::Section)).map(|key| (key, "only a section lists others"));
        let required = required.filter(|_| calls).map(|key| (key, "of all calls together, say `least = 1`"));
        let least = count.least.as_ref().map(|key| ("least", key.at));
        let least = least.filter(|_| !calls).map(|key| (key, "of a block, say `required = true`"));
        let last = count.last.as_ref().map(|key| ("last", key.at));
        let last =
            last.filter(|_| !calls).map(|key| (key, "only `calls` may be last: of blocks, say which as `order`"));
        let (low, high) = (count.least.as_ref(), count.most.as_ref());
        if let (Some(low), Some(high)) = (low, high)
            && low.value > high.value
        {
            let message = format!("no reply has at least {} and at most {} calls", low.value, high.value);
            self.diagnostics.push(Diagnostic::new(Code::PACK_BLOCK, low.at, message).with_help("let `most` be larger"));
        }
        for ((key, at), help) in required.into_iter().chain(least).chain(last).chain(keys).chain(lists) {
            let message = format!("`{key}` means nothing for `{name}`");
            self.diagnostics.push(Diagnostic::new(Code::PACK_BLOCK, at, message).with_help(help));
        }
    }

    fn check_dialect(&mut self, dialect: &Dialect) {
        let opening: Vec<&str> =
            dialect.blocks.iter().flat_map(|(name, block)| block.value.opening_names(name)).collect();
        let folds = dialect.case.is_some_and(|case| case == Case::Insensitive);
        let fold = |name: &str| if folds { name.to_ascii_lowercase() } else { name.to_owned() };
        let folded: Vec<String> = opening.iter().map(|name| fold(name)).collect();
        for need in &dialect.needs {
            let named = fold(&need.value);
            if !folded.iter().any(|name| glob(name, &named) || glob(&named, name)) {
                self.block(&need.value, need.at, &opening);
            }
        }
        self.check_openers(dialect, fold);
        let own: Vec<&str> = names_of(&dialect.blocks).collect();
        for inner in dialect.blocks.values().flat_map(|block| &block.value.holds) {
            self.block(&inner.value, inner.at, &own);
        }
    }

    /// Reports two blocks of one grammar that open with the same name: only one of them could ever be read. One block may
    /// have a name in several cases: its dialect may be included by one that ignores case.
    fn check_openers(&mut self, dialect: &Dialect, fold: impl Fn(&str) -> String) {
        let mut known: HashMap<(String, Option<&str>), (&str, &str, Location)> = HashMap::new();
        for (name, Spanned { value: block, at }) in dialect.blocks.iter().filter(|(_, block)| !block.value.starts) {
            let names: Vec<(&str, Location)> = match block.names.as_slice() {
                [] => vec![(name, *at)],
                names => names.iter().map(|name| (name.value.as_str(), name.at)).collect(),
            };
            let grammar = block.grammar.as_ref().map(|grammar| grammar.value.as_str());
            for (opener, at) in names {
                match known.entry((fold(opener), grammar)) {
                    Entry::Vacant(place) => drop(place.insert((name, opener, at))),
                    Entry::Occupied(place) => {
                        let (first, spelled, before) = place.get();
                        if *first == name && *spelled != opener {
                            continue;
                        }
                        let message = match *first == name {
                            true => format!("`{opener}` opens `{name}` twice"),
                            false => format!("`{opener}` opens both `{first}` and `{name}`"),
                        };
                        let fault = Diagnostic::new(Code::PACK_BLOCK, at, message).with_place(*before, "here, too");
                        self.diagnostics
                            .push(fault.with_help("each name opens one block: leave it out of one of the two"));
                    }
                }
            }
        }
    }

    fn check_guardrails(&mut self) {
        for guardrail in &self.surface.guardrails {
            if guardrail.on.0.is_empty() && !self.surface.torn.contains(&guardrail.at) {
                let message = format!("the guardrail `{}` has no `on`", guardrail.id.value);
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_MISSING_KEY, guardrail.id.at, message)
                        .with_help("add `on = …`: a role, a block, `ACTION.PARAMETER` or `reply`, or a list of them"),
                );
            }
            guardrail.on.0.iter().for_each(|on| self.check_target(on));
            guardrail.modes.0.iter().for_each(|mode| self.mode(mode));
        }
    }

    /// Checks the target of a guardrail: a role, a block, its key, a parameter of an action, or the reply.
    fn check_target(&mut self, on: &Spanned<String>) {
        let param =
            on.value.split_once('.').and_then(|(action, param)| Some((self.surface.actions.get(action)?, param)));
        let fault = match param {
            Some((action, _)) if self.surface.torn.contains(&action.at) => None,
            Some((action, param)) => {
                let declared = names_of(&action.value.params);
                undeclared(&self.surface.unreadable, Code::PACK_UNKNOWN_BLOCK, "parameter", param, on.at, declared)
            }
            None => {
                let name = on.value.strip_suffix(".key").unwrap_or(&on.value);
                if self.torn {
                    return;
                }
                let declared = target_names(self.surface);
                let kind = "block, role or action's parameter";
                let unreadable = &self.surface.unreadable;
                let fault =
                    undeclared(unreadable, Code::PACK_UNKNOWN_BLOCK, kind, name, on.at, declared.iter().copied());
                // The name of the action may be misspelt.
                let actions = || names_of(&self.surface.actions);
                let action = on.value.split_once('.').filter(|(action, _)| !unreadable.contains(*action));
                let meant = action.and_then(|(action, inside)| Some((action, nearest(action, actions())?, inside)));
                match meant.filter(|_| nearest(name, declared).is_none()) {
                    Some((action, meant, inside)) => fault.map(|fault| {
                        fault.with_nearest(action, actions()).with_help(format!("did you mean `{meant}.{inside}`?"))
                    }),
                    None => fault,
                }
            }
        };
        self.diagnostics.extend(fault);
    }

    /// Reports tables of contents for which there is no block.
    fn check_contents(&mut self) {
        let surface = self.surface;
        if self.torn {
            return;
        }
        let contents = surface.blocks().filter(|(_, block)| block.value.role == Role::Content);
        let called = contents.map(|(name, block)| match block.value.name() {
            // A name that the answer contains may be any name.
            Some(called) if called.value.starts_with('@') => "*",
            Some(called) => called.value.as_str(),
            None => name.as_str(),
        });
        let called: Vec<&str> = called.collect();
        for (name, content) in &surface.contents {
            if !called.iter().any(|called| glob(called, name)) {
                let message = format!("no block gives a content that is called `{name}`");
                let fault = Diagnostic::new(Code::PACK_UNKNOWN_BLOCK, content.at, message);
                let fault = match roles_of(surface, name).first() {
                    Some(role) => fault.with_help(format!("the block of this name has the role `{}`", role.word())),
                    None => fault.with_help("bind a block with `role = \"content\"`"),
                };
                self.diagnostics.push(match nearest(name, called.iter().copied()) {
                    Some(_) => fault.with_nearest(name, called.iter().copied()),
                    None => fault,
                });
            }
        }
    }

    /// Checks that `[check]` only names codes that are not errors.
    fn check_levels(&mut self) {
        let mild = || rows().iter().filter(|row| row.severity != Severity::Error).map(|row| row.name);
        for (code, _) in self.surface.check.iter().flat_map(Levels::all) {
            if mild().any(|known| known == code.value) {
                continue;
            }
            self.diagnostics.push(if rows().iter().any(|row| row.name == code.value) {
                let message = format!("`{}` is an error, whatever a pack says of it", code.value);
                Diagnostic::new(Code::PACK_WRONG_VALUE, code.at, message)
                    .with_help("take it out here, and mend what it reports: an error cannot be allowed")
            } else {
                let message = format!("there is no finding `{}`", code.value);
                Diagnostic::new(Code::PACK_WRONG_VALUE, code.at, message).with_nearest(&code.value, mild())
            });
        }
    }
}

/// The targets of guardrails besides keys and parameters.
pub(super) fn target_names(surface: &Surface) -> Vec<&str> {
    let mut names = block_names(surface);
    let others: Vec<&str> =
        Role::WORDS.iter().copied().chain(["reply", "input"]).filter(|word| !names.contains(word)).collect();
    names.extend(others);
    names
}

/// The roles of the blocks that have this name in a reply.
fn roles_of(surface: &Surface, name: &str) -> Vec<Role> {
    let called = |block: &Block| block.name().is_some_and(|word| word.value == name);
    let meant = surface.blocks().filter(|(own, block)| *own == name || called(&block.value));
    meant.map(|(_, block)| block.value.role).collect()
}

/// The names that blocks may have in a reply: their declared names, and their names in the outcome.
fn block_names(surface: &Surface) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for Spanned { value: dialect, .. } in surface.dialects.values() {
        let called = dialect.blocks.values().filter_map(|block| block.value.name());
        let called = called.map(|name| name.value.as_str()).filter(|name| !name.starts_with('@'));
        // The text outside every block may be the message, or a section.
        let text = dialect.text.as_ref().map(|text| text.value.as_str());
        let outside = text.and_then(|text| if text == "message" { Some(text) } else { text.strip_prefix("section:") });
        names.extend(names_of(&dialect.blocks).chain(called).chain(outside));
    }
    names.sort_unstable();
    names.dedup();
    names
}
