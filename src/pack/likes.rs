//! Likes: which dialects differ from another only in their needs?
//!
//! In: the dialects, as typed.
//! Out: each dialect with `like`, completed with everything from the other; a diagnostic for what it cannot take over,
//! or says itself.
//! Never: follows more than one `like`.

use super::names::{names_of, undeclared};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::surface::{Dialect, Surface};
use crate::text::{Location, Spanned};

pub(super) fn take_over(surface: &mut Surface, diagnostics: &mut Vec<Diagnostic>) {
    let (declared, lost) = (surface.dialects.clone(), surface.lost.clone());
    let mut unknown = Vec::new();
    for (name, Spanned { value: dialect, at: place }) in &mut surface.dialects {
        let Some(mut like) = dialect.like.clone() else { continue };
        let own: Vec<&str> = dialect.keys().collect();
        if like.value == *name {
            diagnostics.push(bad(like.at, format!("`{name}` is itself like `{name}`")));
            unknown.push(*place);
            continue;
        }
        if !own.is_empty() {
            let own = own.join("`, `");
            diagnostics.push(bad(dialect.at, format!("`{name}` is like `{}`, and says `{own}` itself", like.value)));
        }
        if !declared.contains_key(&like.value) {
            let others = || names_of(&declared).filter(|other| other != name);
            let fault = undeclared(&lost, Code::PACK_UNKNOWN_DIALECT, "dialect", &like.value, like.at, others());
            // What follows is read as if the name that was probably meant stood there.
            let meant = nearest(&like.value, others()).filter(|_| fault.is_some());
            like.value = meant.unwrap_or(&like.value).to_owned();
            diagnostics.extend(fault);
        }
        match declared.get(&like.value) {
            None => unknown.push(*place),
            Some(Spanned { value: Dialect { like: Some(other), .. }, .. }) => {
                diagnostics.push(bad(like.at, format!("`{}` is itself like `{}`", like.value, other.value)));
                unknown.push(*place);
            }
            Some(other) => {
                let (needs, at, replace) = (std::mem::take(&mut dialect.needs), dialect.at, dialect.replace);
                *dialect = Dialect { like: Some(like), needs, at, replace, ..other.value.clone() };
            }
        }
    }
    surface.torn.extend(unknown);
}

fn bad(at: Location, message: String) -> Diagnostic {
    Diagnostic::new(Code::PACK_BLOCK, at, message)
        .with_help("next to `like` only `needs` is allowed, and `like` names a dialect that has none itself")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{Folder, read};

    #[track_caller]
    fn check(tables: &str, expected: &[&str]) {
        let one = "[pack]\nname = \"p\"\n[dialects.one]\ngrammar = \"tags\"\nblocks.a = { role = \"message\" }\n";
        let (mut surface, mut found) = read(&Folder::new("p", [("pack.toml", format!("{one}{tables}"))]));
        take_over(&mut surface, &mut found);
        let messages: Vec<String> = found.iter().map(|one| one.message.to_string()).collect();
        assert_eq!(messages, expected);
        if expected.is_empty() {
            let like = surface.dialects.get("two").map(|two| (two.value.blocks.len(), two.value.needs.len()));
            assert_eq!(like, Some((1, 1)));
        }
    }

    #[test]
    fn a_dialect_is_as_another_but_for_its_needs() {
        check("[dialects.two]\nlike = \"one\"\nneeds = [\"a\"]", &[]);
        check("[dialects.two]\nlike = \"on\"", &["no table declares the dialect `on`"]);
        check("[dialects.two]\nlike = \"one\"\nanchor = \"line\"", &["`two` is like `one`, and says `anchor` itself"]);
        let chain = "[dialects.two]\nlike = \"one\"\n[dialects.three]\nlike = \"two\"";
        check(chain, &["`two` is itself like `one`"]);
    }
}
