//! Permits: does everything exist that modes permit and deny, and are the keys of a permit consistent?
//!
//! In: the permits and denials of modes, the groups, and the actions that are patterns for tools.
//! Out: a diagnostic for each name that nothing declares, each group that contains itself, each key that has no effect
//! where it is, and two patterns for tools of which neither is more specific.
//! Never: parses conditions; they are checked when they are compiled.

use super::names::{names_of, needs_other, undeclared};
use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Permit, Role, Surface, group_named, is_about, is_pattern, literal_start, may_meet};
use crate::text::{Spanned, excerpt, glob};
use std::collections::HashMap;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mut permits = PermitChecks { surface, contents: contents(surface), unknown: HashMap::new(), diagnostics };
    for mode in surface.modes.values() {
        mode.value.permits.iter().for_each(|permit| permits.check_permit(permit));
        mode.value.denies.iter().for_each(|denial| permits.check_denial(denial));
    }
    permits.check_groups();
    permits.check_patterns();
}

/// The names that contents may have.
fn contents(surface: &Surface) -> Vec<&str> {
    let mut names: Vec<&str> = names_of(&surface.contents).collect();
    for (name, block) in surface.blocks().filter(|(_, block)| block.value.role == Role::Content) {
        let named = block.value.name.0.iter().map(|name| name.value.as_str()).filter(|name| !name.starts_with('@'));
        names.extend(named.chain([name.as_str()]));
    }
    names
}

struct PermitChecks<'p> {
    surface: &'p Surface,
    /// The names that contents may have.
    contents: Vec<&'p str>,
    /// The findings about unknown names so far, each by the name and whether it is that of a content: thousands of
    /// modes may contain the same name.
    unknown: HashMap<(String, bool), Option<Diagnostic>>,
    diagnostics: &'p mut Vec<Diagnostic>,
}

impl PermitChecks<'_> {
    fn check_permit(&mut self, permit: &Permit) {
        self.check_names(permit);
        let torn = self.surface.torn.contains(&permit.at);
        let (when, confirm) = (permit.when.is_some() || torn, permit.confirm.is_some());
        self.diagnostics.extend(needs_other("advice", permit.advice.as_ref(), "when", when));
        self.diagnostics.extend(needs_other("about", permit.about.as_ref(), "when", when || confirm));
        if let Some(confirm) = permit.confirm.as_ref().filter(|_| permit.is_of_contents()) {
            let message = "a content cannot wait until a person has confirmed it";
            let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, confirm.at, message);
            self.diagnostics.push(fault.with_help("only a call can; take `confirm` out, or let a call write the file"));
        }
    }

    fn check_denial(&mut self, denial: &Permit) {
        self.check_names(denial);
        if let Some(confirm) = &denial.confirm {
            let message = "what is denied cannot be confirmed";
            let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, confirm.at, message);
            self.diagnostics.push(fault.with_help("put `confirm` on a permit, or take it out"));
        }
    }

    /// Checks that a permit is about actions or contents, and that these exist.
    fn check_names(&mut self, permit: &Permit) {
        match (permit.action.0.first(), permit.content.0.first()) {
            (None, None) if !self.surface.torn.contains(&permit.at) => {
                let fault = Diagnostic::new(Code::PACK_MISSING_KEY, permit.at, "this names no action and no content");
                self.diagnostics.push(fault.with_help("add `action = \"NAME\"`, or `content = \"NAME\"`"));
            }
            (Some(_), Some(content)) => {
                let message = "this names an action and a content";
                let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, content.at, message);
                self.diagnostics.push(fault.with_help("write two entries: their conditions see different names"));
            }
            _ => {}
        }
        let of_contents = permit.is_of_contents();
        permit.names().iter().for_each(|name| self.check_name(name, of_contents));
    }

    /// Checks that the name of an action, content or group exists, or that a pattern matches one.
    fn check_name(&mut self, name: &Spanned<String>, of_contents: bool) {
        if let Some(group) = group_named(&name.value) {
            let groups = names_of(&self.surface.groups);
            let fault = undeclared(&self.surface.unreadable, Code::PACK_UNKNOWN_GROUP, "group", group, name.at, groups);
            return self.diagnostics.extend(fault);
        }
        if !of_contents && self.surface.actions.contains_key(&name.value) {
            return;
        }
        let key = (name.value.clone(), of_contents);
        if let Some(fault) = self.unknown.get(&key) {
            let again = |fault: Diagnostic| Diagnostic { at: Some(name.at), ..fault };
            return self.diagnostics.extend(fault.clone().map(again));
        }
        let (kind, code) = match of_contents {
            true => ("content", Code::PACK_UNKNOWN_BLOCK),
            false => ("action", Code::PACK_UNKNOWN_ACTION),
        };
        let is_known = match of_contents {
            true => self.contents.iter().any(|declared| glob(&name.value, declared)),
            false => names_of(&self.surface.actions).any(|declared| is_about(&name.value, declared)),
        };
        // Fast path: most names are known, and searching for the nearest one takes long.
        if is_known {
            return;
        }
        let declared: Vec<&str> = match of_contents {
            true => self.contents.clone(),
            false => names_of(&self.surface.actions).collect(),
        };
        let fault = undeclared(&self.surface.unreadable, code, kind, &name.value, name.at, declared);
        let fault = fault.map(|fault| match is_pattern(&name.value) {
            true => Diagnostic { message: format!("no {kind} is called like `{}`", name.value).into(), ..fault },
            false => fault,
        });
        self.unknown.insert(key, fault.clone());
        self.diagnostics.extend(fault);
    }

    /// Checks that the names in groups exist, as actions or contents, and that no group contains itself.
    fn check_groups(&mut self) {
        for (group, names) in &self.surface.groups {
            for name in &names.value.0 {
                let of_contents = self.contents.iter().any(|content| glob(&name.value, content));
                self.check_name(name, of_contents);
            }
            if let Some(name) = names.value.0.iter().find(|name| self.is_within(name, group)) {
                let message = format!("the group `{group}` is inside itself");
                let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, name.at, message);
                self.diagnostics.push(fault.with_help("take this name out"));
            }
        }
    }

    /// Whether a name in a group is `group`, or a group that contains it.
    fn is_within(&self, name: &Spanned<String>, group: &str) -> bool {
        let mut entered: Vec<&str> = Vec::new();
        let mut rest: Vec<&str> = group_named(&name.value).into_iter().collect();
        while let Some(inner) = rest.pop() {
            if inner == group {
                return true;
            }
            if !entered.contains(&inner) {
                entered.push(inner);
                let names = self.surface.groups.get(inner).into_iter().flat_map(|names| &names.value.0);
                rest.extend(names.filter_map(|name| group_named(&name.value)));
            }
        }
        false
    }

    /// Checks that among the patterns that match the same tool, one is the most specific: the one with the longest
    /// literal prefix.
    fn check_patterns(&mut self) {
        let patterns = self.surface.actions.iter().filter(|(name, _)| is_pattern(name));
        let patterns: Vec<_> = patterns.map(|(name, action)| (name.as_str(), action.at)).collect();
        for (index, (one, at)) in patterns.iter().enumerate() {
            let same = |other: &str| literal_start(one).len() == literal_start(other).len() && may_meet(one, other);
            if let Some((other, before)) = patterns.iter().take(index).find(|(other, _)| same(other)) {
                let message = format!(
                    "a tool may fit both `{}` and `{}`, and neither comes first",
                    excerpt(other, 60),
                    excerpt(one, 60)
                );
                let fault = Diagnostic::new(Code::PACK_DUPLICATE, *at, message).with_place(*before, "the other one");
                self.diagnostics.push(fault.with_help("make the text before the first `*` of one of them longer"));
            }
        }
    }
}
