//! Effects: does each have one verb, and what that verb needs?
//!
//! In: the effects of actions and contents.
//! Out: `pack/bad-effect` for each that cannot work.
//! Never: looks into templates.

use crate::diagnostic::{Code, Diagnostic, Remark};
use crate::surface::{Effect, Surface};

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let actions = surface.actions.values().flat_map(|action| &action.value.effects);
    let contents = surface.contents.values().flat_map(|content| &content.value.effects);
    for effect in actions.chain(contents) {
        check_effect(effect, diagnostics);
    }
}

/// The verbs that an effect may have.
const VERBS: &str = "`set`, `append`, `remove`, `emit`, `write` or `remark`";

fn check_effect(effect: &Effect, diagnostics: &mut Vec<Diagnostic>) {
    let mut bad = |at, message: String, help: String| {
        diagnostics.push(Diagnostic::new(Code::PACK_EFFECT, at, message).with_help(help));
    };
    let verbs = [
        effect.set.as_ref().map(|word| ("set", word.at)),
        effect.append.as_ref().map(|word| ("append", word.at)),
        effect.remove.as_ref().map(|word| ("remove", word.at)),
        effect.emit.as_ref().map(|word| ("emit", word.at)),
        effect.write.as_ref().map(|word| ("write", word.at)),
        effect.remark.as_ref().map(|word| ("remark", word.at)),
    ];
    let mut verbs = verbs.into_iter().flatten();
    let first = verbs.next();
    if let (Some((verb, _)), Some((other, at))) = (first, verbs.next()) {
        bad(at, format!("this effect has two verbs, `{verb}` and `{other}`"), "make it two effects".to_owned());
    }
    let binds = effect.new.is_some() || !effect.lets.is_empty();
    match first {
        None if effect.effects.is_empty() && !binds => {
            bad(effect.at, "this effect does nothing".to_owned(), format!("give it a verb: {VERBS}"));
        }
        Some((verb, at)) if !effect.effects.is_empty() => {
            let help = "put the verb into an effect of its own, before the nested ones";
            bad(at, format!("this effect has both the verb `{verb}` and nested effects"), help.to_owned());
        }
        Some((verb @ ("set" | "append" | "write"), at)) if effect.value.is_none() => {
            bad(at, format!("`{verb}` needs a `value`"), "add `value = …`".to_owned());
        }
        _ => {}
    }
    let verb = first.map(|(verb, _)| verb);
    if let Some(value) = &effect.value
        && !matches!(verb, Some("set" | "append" | "write" | "emit"))
    {
        bad(value.at(), "nothing uses this `value`".to_owned(), "take it out, or give the effect a verb".to_owned());
    }
    if let (Some(unique), true) = (effect.unique.first(), verb != Some("append")) {
        bad(unique.at, "`unique` belongs to `append`".to_owned(), "take it out".to_owned());
    }
    match (&effect.text, &effect.remark) {
        (Some(text), None) => {
            bad(text.at, "`text` belongs to `remark`".to_owned(), "take it out".to_owned());
        }
        (None, Some(remark)) if remark.value == Remark::Note => {
            bad(remark.at, "the remark `note` needs a `text`".to_owned(), "add `text = \"…\"`".to_owned());
        }
        _ => {}
    }
    for nested in &effect.effects {
        check_effect(nested, diagnostics);
    }
}
