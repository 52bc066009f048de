//! Recovery of names: which name was probably meant instead of an undeclared one?
//!
//! In: the tables; every undeclared name in them has been reported.
//! Out: the same tables with the nearest declared names instead, so that the consequences of a wrong name are not
//! reported.
//! Never: reports anything; a pack in which a name was replaced does not run.

use crate::diagnostic::nearest;
use crate::surface::{Effect, Event, Surface, group_named, is_about, is_pattern};
use crate::text::Spanned;
use indexmap::IndexSet;

pub(super) fn names(surface: &mut Surface) {
    let modes: IndexSet<String> = surface.modes.keys().cloned().collect();
    let actions: IndexSet<String> = surface.actions.keys().cloned().collect();
    let tools: Vec<String> = actions.iter().filter(|name| is_pattern(name)).cloned().collect();
    let classes: IndexSet<String> = surface.inputs.iter().map(|input| input.class.value.clone()).collect();
    let targets: IndexSet<String> = targets(surface);
    let start = surface.about.iter_mut().filter_map(|about| about.start.as_mut());
    let listed = surface.inputs.iter_mut().flat_map(|input| &mut input.modes.0);
    let listed = listed.chain(surface.rules.iter_mut().flat_map(|rule| &mut rule.modes.0));
    let listed = listed.chain(surface.guardrails.iter_mut().flat_map(|guardrail| &mut guardrail.modes.0));
    start.chain(listed).for_each(|mode| correct(mode, &modes));
    for mode in surface.modes.values_mut() {
        mode.value.exits.iter_mut().for_each(|exit| correct(&mut exit.to, &modes));
        for name in mode.value.permits.iter_mut().chain(&mut mode.value.denies).flat_map(|permit| &mut permit.action.0)
        {
            let is_near = |one: &String| is_about(&name.value, one);
            let is_known = group_named(&name.value).is_some()
                || actions.contains(&name.value)
                || if is_pattern(&name.value) { actions.iter().any(is_near) } else { tools.iter().any(is_near) };
            if !is_known {
                correct(name, &actions);
            }
        }
    }
    for prompt in surface.prompts.values_mut() {
        let layers = prompt.value.layers.iter_mut();
        layers.flat_map(|layer| &mut layer.modes.0).for_each(|mode| correct(mode, &modes));
    }
    for on in surface.rules.iter_mut().flat_map(|rule| &mut rule.on.0) {
        let known = match on.value.split_once('.') {
            Some(("input", _)) => &classes,
            Some(("enter" | "leave", _)) => &modes,
            Some((_, inside)) => {
                if let Some(event) = Event::meant(&on.value) {
                    on.value = [event, inside].join(".");
                }
                continue;
            }
            None => {
                on.value = Event::meant(&on.value).map_or_else(|| on.value.clone(), str::to_owned);
                continue;
            }
        };
        if let Some((event, name)) = on.value.split_once('.') {
            let mut name = Spanned::new(name.to_owned(), on.at);
            correct(&mut name, known);
            on.value = format!("{event}.{}", name.value);
        }
    }
    surface.guardrails.iter_mut().flat_map(|guardrail| &mut guardrail.on.0).for_each(|on| correct(on, &targets));
    let of_actions = surface.actions.values_mut().flat_map(|action| &mut action.value.effects);
    let of_contents = surface.contents.values_mut().flat_map(|content| &mut content.value.effects);
    let of_rules = surface.rules.iter_mut().flat_map(|rule| &mut rule.effects);
    of_actions.chain(of_contents).chain(of_rules).for_each(|effect| correct_effect(effect, &modes));
}

fn correct_effect(effect: &mut Effect, modes: &IndexSet<String>) {
    effect.go.iter_mut().for_each(|mode| correct(mode, modes));
    effect.effects.iter_mut().for_each(|effect| correct_effect(effect, modes));
}

fn correct(name: &mut Spanned<String>, declared: &IndexSet<String>) {
    if !declared.contains(&name.value)
        && let Some(meant) = nearest(&name.value, declared.iter().map(String::as_str))
    {
        name.value = meant.to_owned();
    }
}

/// Every target that a guardrail may check.
fn targets(surface: &Surface) -> IndexSet<String> {
    let blocks = super::names::target_names(surface);
    let keys = blocks.iter().map(|block| format!("{block}.key"));
    let params = surface
        .actions
        .iter()
        .flat_map(|(action, declared)| declared.value.params.keys().map(move |param| format!("{action}.{param}")));
    keys.chain(params).chain(blocks.iter().map(|&block| block.to_owned())).collect()
}
