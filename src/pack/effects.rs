//! Effects: does each effect have exactly one verb, and the keys that the verb needs?
//!
//! In: the effects of actions, contents and rules.
//! Out: `pack/bad-effect` for each effect that cannot work.
//! Never: parses templates, or checks whether a mode or message exists.

use crate::diagnostic::{Code, Diagnostic, Remark};
use crate::surface::{Effect, Surface};
use crate::text::Location;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    surface.effects().into_iter().for_each(|effect| check_effect(effect, surface, diagnostics));
}

/// The keys of one verb.
struct VerbForm {
    word: &'static str,
    /// The keys that the verb needs, and those that it may have in addition.
    needs: &'static [&'static str],
    may: &'static [&'static str],
    /// The place of the verb in an effect that has it.
    at: fn(&Effect) -> Option<Location>,
}

macro_rules! verbs {
    ($($verb:ident $(= $word:literal)?: [$($needs:literal)*] [$($may:literal)*];)*) => {
        &[$(VerbForm {
            word: crate::surface::declare::key!($verb $(= $word)?),
            needs: &[$($needs),*],
            may: &[$($may),*],
            at: |effect| effect.$verb.as_ref().map(|word| word.at),
        }),*]
    };
}

const VERBS: &[VerbForm] = verbs! {
    set: ["value"] [];
    append: ["value"] ["unique"];
    remove: [] [];
    emit: [] ["value"];
    write: ["value"] ["executable"];
    remark: [] ["text"];
    say: [] ["with"];
    go: [] ["insist"];
    amend: ["section" "value"] ["marker" "otherwise" "done" "missing"];
    record: ["path" "value"] ["schema"];
    edit: ["find" "put"] ["all" "match"];
    patch: [] ["file" "match" "executable"];
    delete: [] [];
    moves = "move": ["to"] [];
};

impl VerbForm {
    fn uses(&self, key: &str) -> bool {
        self.needs.contains(&key) || self.may.contains(&key)
    }
}

/// The keys of an effect that belong to verbs, with their places.
fn keys(effect: &Effect) -> impl Iterator<Item = (&'static str, Location)> {
    let at = [
        ("value", effect.value.as_ref().map(|value| value.at())),
        ("unique", effect.unique.first().map(|key| key.at)),
        ("text", effect.text.as_ref().map(|text| text.at)),
        ("with", effect.with.values().next().map(|value| value.at)),
        ("insist", effect.insist.as_ref().map(|when| when.at)),
        ("section", effect.section.as_ref().map(|text| text.at)),
        ("marker", effect.marker.as_ref().map(|text| text.at)),
        ("otherwise", effect.otherwise.as_ref().map(|text| text.at)),
        ("done", effect.done.as_ref().map(|text| text.at)),
        ("missing", effect.missing.as_ref().map(|text| text.at)),
        ("path", effect.path.as_ref().map(|path| path.at)),
        ("schema", effect.schema.as_ref().map(|schema| schema.at())),
        ("find", effect.find.as_ref().map(|text| text.at)),
        ("put", effect.put.as_ref().map(|text| text.at)),
        ("all", effect.all.as_ref().map(|all| all.at())),
        ("match", effect.matching.0.first().map(|matching| matching.at)),
        ("file", effect.file.as_ref().map(|key| key.at)),
        ("to", effect.to.as_ref().map(|key| key.at)),
        ("executable", effect.executable.as_ref().map(|flag| flag.at)),
    ];
    at.into_iter().filter_map(|(key, at)| Some((key, at?)))
}

fn check_effect(effect: &Effect, surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mut bad = |at, message: String, help: String| {
        diagnostics.push(Diagnostic::new(Code::PACK_EFFECT, at, message).with_help(help));
    };
    let mut given = VERBS.iter().filter_map(|verb| Some((verb, (verb.at)(effect)?)));
    let first = given.next();
    if let (Some((VerbForm { word, .. }, _)), Some((other, at))) = (first, given.next()) {
        bad(at, format!("this effect has two verbs, `{word}` and `{}`", other.word), "make it two effects".to_owned());
    }
    let binds = effect.new.is_some() || !effect.lets.is_empty();
    match first {
        // A key that could not be read may have been the verb.
        None if surface.torn.contains(&effect.at) => {}
        None if effect.effects.is_empty() && !binds => {
            let verbs: Vec<String> = VERBS.iter().map(|verb| format!("`{}`", verb.word)).collect();
            let help = format!("give it a verb: {}", verbs.join(", "));
            bad(effect.at, "this effect does nothing".to_owned(), help);
        }
        Some((VerbForm { word, .. }, at)) if !effect.effects.is_empty() => {
            let help = "put the verb into an effect of its own, before the nested ones";
            bad(at, format!("this effect has both the verb `{word}` and nested effects"), help.to_owned());
        }
        // The required key may be misspelt.
        Some(_) if surface.torn.contains(&effect.at) => {}
        Some((VerbForm { word, needs, .. }, at)) => {
            for key in needs.iter().filter(|key| !keys(effect).any(|(known, _)| known == **key)) {
                bad(at, format!("`{word}` needs a `{key}`"), format!("add `{key} = …`"));
            }
        }
        None => {}
    }
    // An effect without a verb has been reported already, or has another fault.
    let nothing = effect.effects.is_empty() && !binds;
    let unknown = first.is_none() && (nothing || surface.torn.contains(&effect.at));
    for (key, at) in keys(effect).filter(|_| !unknown) {
        if first.is_some_and(|(verb, _)| verb.uses(key)) {
            continue;
        }
        let owners = VERBS.iter().filter(|verb| verb.uses(key));
        let owners: Vec<String> = owners.map(|verb| format!("`{}`", verb.word)).collect();
        bad(at, format!("nothing uses this `{key}`"), format!("it belongs to {}", owners.join(", ")));
    }
    if let (None, Some(remark)) = (&effect.text, &effect.remark)
        && remark.value == Remark::Note
        && !surface.torn.contains(&effect.at)
    {
        bad(remark.at, "the remark `note` needs a `text`".to_owned(), "add `text = \"…\"`".to_owned());
    }
}
