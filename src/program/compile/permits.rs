//! Permits: what do the permits and denials of a mode look like once they are compiled?
//!
//! In: the entries of a mode, and the actions that each entry may match.
//! Out: [`ModePermits`], and a diagnostic for each name in a condition that none of these actions has; for denials,
//! that one of them does not have.
//! Never: decides what an entry permits.

use super::PackCompiler;
use super::name_scope::{CALL_NAMES, CONTENT_PERMIT_NAMES, NameScope};
use crate::diagnostic::Diagnostic;
use crate::expression::{Expression, Reads, Template};
use crate::program::{ModePermits, Permit, PermitList};
use crate::surface::{self, Mode, is_pattern};
use crate::text::Spanned;

impl<'c> PackCompiler<'c> {
    /// Compiles the permits and denials of a mode, for actions or for contents.
    pub(super) fn compile_permits(&mut self, mode: &Mode, of_contents: bool) -> ModePermits {
        let of = |list: &'_ [surface::Permit]| -> Vec<surface::Permit> {
            list.iter().filter(|permit| permit.is_of_contents() == of_contents).cloned().collect()
        };
        ModePermits { permits: self.list(&of(&mode.permits), false), denies: self.list(&of(&mode.denies), true) }
    }

    fn list(&mut self, entries: &[surface::Permit], denies: bool) -> PermitList {
        let surface = self.surface;
        let mut compiled = PermitList::default();
        for entry in entries {
            let when = entry.when.as_ref().and_then(|text| self.parsed(Expression::condition(text)));
            let mut template = |text: &Option<Spanned<String>>| self.parsed(Template::parse(text.as_ref()?));
            let (advice, confirm) = (template(&entry.advice), template(&entry.confirm));
            let reads = when.iter().map(Expression::reads_at);
            let reads = reads.chain([&advice, &confirm].into_iter().flatten().map(Template::reads_at));
            let reads: Vec<&Reads> = reads.collect();
            match entry.is_of_contents() {
                true => reads.iter().for_each(|reads| self.see(reads, &NameScope::of(CONTENT_PERMIT_NAMES))),
                false if reads.is_empty() => {}
                false => self.see_calls(entry, &reads, denies),
            }
            let about = entry.about.as_ref().map(|about| about.value.clone());
            let named = surface.named_by(entry);
            let named = named.iter().map(|name| name.value.as_str());
            compiled.push(named, Permit { when, about, advice, confirm, at: entry.place() });
        }
        compiled
    }

    /// Checks the names that an entry reads, for each action that it may match. A permit may read a parameter that only
    /// some of these have: it is not true for the others. A denial must not: it would not deny the others.
    fn see_calls(&mut self, entry: &surface::Permit, reads: &[&Reads], denies: bool) {
        let concerned = self.concerned(entry);
        if concerned.is_empty() {
            return reads.iter().for_each(|reads| self.see(reads, &NameScope::of(CALL_NAMES)));
        }
        let mut found: Vec<Vec<Diagnostic>> = Vec::new();
        for (action, declared) in &concerned {
            let scope = self.scope_of_call(CALL_NAMES, action);
            let known = self.diagnostics.len();
            reads.iter().for_each(|reads| self.see(reads, &scope));
            let of_this = self.diagnostics.split_off(known).into_iter();
            found.push(match concerned.len() {
                1 => of_this.collect(),
                _ => of_this.map(|one| one.with_place(declared.at, "this action")).collect(),
            });
        }
        let has = |list: &Vec<Diagnostic>, one: &Diagnostic| {
            list.iter().any(|other| other.at == one.at && other.code == one.code)
        };
        let mut reported: Vec<Diagnostic> = Vec::new();
        for one in found.iter().flatten() {
            if !has(&reported, one) && (denies || found.iter().all(|of_action| has(of_action, one))) {
                reported.push(one.clone());
            }
        }
        self.diagnostics.extend(reported);
    }

    /// The actions and patterns for tools that an entry may match, in the order of declaration. Most entries name
    /// actions, so only these and the patterns have to be examined.
    fn concerned(&self, entry: &surface::Permit) -> Vec<(&'c String, &'c Spanned<surface::Action>)> {
        let surface = self.surface;
        let named = surface.named_by(entry);
        let mut numbers: Vec<usize> = match named.iter().any(|name| is_pattern(&name.value)) {
            true => (0..surface.actions.len()).collect(),
            false => named.iter().filter_map(|name| surface.actions.get_index_of(&name.value)).collect(),
        };
        numbers.extend(&self.tool_patterns);
        numbers.sort_unstable();
        numbers.dedup();
        let actions = numbers.into_iter().filter_map(|number| surface.actions.get_index(number));
        actions.filter(|(action, _)| surface.may_concern(entry, action)).collect()
    }

    /// The names that are visible for a call of this action. The parameters of a pattern for tools may have any name,
    /// and so may those of an action whose parameters could not be read.
    pub(super) fn scope_of_call(&self, names: &[&'c str], action: &str) -> NameScope<'c> {
        let Some(declared) = self.surface.actions.get(action) else { return NameScope::of(names) };
        let params = &declared.value.params;
        let unknown = params.is_empty() && (is_pattern(action) || self.surface.torn.contains(&declared.at));
        let mut scope = NameScope::of(names);
        scope.params = (!unknown).then_some(params);
        scope
    }
}
