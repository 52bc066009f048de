//! Inherit: which dialects differ from another only in `needs`, or, as a fallback, in what is quoted?
//!
//! In: the dialects, as typed.
//! Out: each dialect with `like`, completed with everything from the other; a diagnostic for what it cannot inherit, or
//! sets itself, and for a fallback that could never read anything.
//! Never: follows more than one `like`.

use super::names::{names_of, undeclared};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::surface::{Dialect, Surface};
use crate::text::{Location, Spanned};

pub(super) fn take_over(surface: &mut Surface, diagnostics: &mut Vec<Diagnostic>) {
    let (declared, unreadable) = (surface.dialects.clone(), surface.unreadable.clone());
    let mut unknown = Vec::new();
    for (name, Spanned { value: dialect, at: place }) in &mut surface.dialects {
        let fallback = dialect.fallback.as_ref().filter(|fallback| fallback.value).map(|fallback| fallback.at);
        let Some(mut like) = dialect.like.clone() else {
            diagnostics.extend(fallback.map(|at| {
                let help = "say which as `like`: a fallback differs from another dialect only in what is `quoted`";
                Diagnostic::new(Code::PACK_BLOCK, at, format!("the fallback `{name}` is like no dialect"))
                    .with_help(help)
            }));
            continue;
        };
        let own: Vec<&str> = dialect.keys().filter(|key| fallback.is_none() || *key != "quoted").collect();
        if like.value == *name {
            diagnostics.push(bad(like.at, format!("`{name}` is itself like `{name}`")));
            unknown.push(*place);
            continue;
        }
        if !own.is_empty() {
            let message = format!("`{name}` is like `{}`, and has its own `{}`", like.value, own.join("`, `"));
            let at = dialect.quoted.as_ref().filter(|_| own == ["quoted"]).map(|quoted| quoted.at);
            diagnostics.push(match at {
                Some(at) => Diagnostic::new(Code::PACK_BLOCK, at, message)
                    .with_help("add `fallback = true`: it then reads what no other dialect can"),
                None => bad(dialect.at, message),
            });
        }
        if !declared.contains_key(&like.value) {
            let others = || names_of(&declared).filter(|other| other != name);
            let fault = undeclared(&unreadable, Code::PACK_UNKNOWN_DIALECT, "dialect", &like.value, like.at, others());
            // Continue as if the name that was probably meant were in the pack, so that only this name is reported.
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
                if let Some(at) = fallback {
                    diagnostics.extend(reads_nothing(name, dialect, &like.value, &other.value, at));
                }
                let (needs, at, replace) = (std::mem::take(&mut dialect.needs), dialect.at, dialect.replace);
                let quoted = dialect.quoted.take().filter(|_| fallback.is_some());
                let other = other.value.clone();
                *dialect = Dialect {
                    like: Some(like),
                    fallback: dialect.fallback,
                    quoted: quoted.or(other.quoted),
                    needs,
                    at,
                    replace,
                    ..other
                };
            }
        }
    }
    surface.torn.extend(unknown);
}

/// Reports a fallback with the same quoted regions as the dialect that it inherits from; at `at`, unless it sets
/// `quoted`.
fn reads_nothing(name: &str, dialect: &Dialect, like: &str, other: &Dialect, at: Location) -> Option<Diagnostic> {
    let own = dialect.quoted.as_ref().map_or(other.quoted(), |quoted| &quoted.value);
    if other.quoted().iter().any(|mask| !own.contains(mask)) {
        return None;
    }
    let at = dialect.quoted.as_ref().map_or(at, |quoted| quoted.at);
    let (message, help) = match (other.quoted(), &dialect.quoted) {
        ([], _) => (format!("the fallback `{name}` never reads an answer: `{like}` quotes nothing"), "take it out"),
        (_, None) => {
            (format!("the fallback `{name}` never reads an answer: it quotes what `{like}` does"), "say `quoted = []`")
        }
        (_, Some(_)) => {
            let help = "leave out what it is to read, as in `quoted = []`";
            (format!("the fallback `{name}` never reads an answer: it quotes all that `{like}` does"), help)
        }
    };
    Some(Diagnostic::new(Code::PACK_SHADOWED_DIALECT, at, message).with_help(help))
}

fn bad(at: Location, message: String) -> Diagnostic {
    Diagnostic::new(Code::PACK_BLOCK, at, message).with_help(
        "next to `like` only `needs` is allowed, or `quoted` of a `fallback`; `like` names a dialect without it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{Folder, Mask, read};

    #[track_caller]
    fn checked(tables: &str, expected: &[&str]) -> Surface {
        let one = "[pack]\nname = \"p\"\n[dialects.one]\ngrammar = \"tags\"\nblocks.a = { role = \"message\" }\n";
        let (mut surface, mut found) = read(&Folder::new("p", [("pack.toml", format!("{one}{tables}"))]));
        take_over(&mut surface, &mut found);
        let messages: Vec<String> = found.iter().map(|one| one.message.to_string()).collect();
        assert_eq!(messages, expected);
        surface
    }

    #[track_caller]
    fn check(tables: &str, expected: &[&str]) {
        let surface = checked(tables, expected);
        if expected.is_empty() {
            let like = surface.dialects.get("two").map(|two| (two.value.blocks.len(), two.value.needs.len()));
            assert_eq!(like, Some((1, 1)));
        }
    }

    #[track_caller]
    fn check_quoted(tables: &str, expected: &[&str], quoted: &[Mask]) {
        let surface = checked(tables, expected);
        let two = surface.dialects.get("two").map(|two| (two.value.blocks.len(), two.value.quoted().to_vec()));
        assert_eq!(two, Some((1, quoted.to_vec())));
    }

    #[test]
    fn a_fallback_is_as_another_dialect_but_for_what_is_quoted() {
        let two = "[dialects.two]\nlike = \"one\"\n";
        check_quoted(&format!("{two}quoted = []\nfallback = true"), &[], &[]);
        check_quoted(&format!("{two}quoted = [\"code-span\"]\nfallback = true"), &[], &[Mask::CodeSpan]);
        let alone = "[dialects.two]\nfallback = true\nquoted = []\ngrammar = \"tags\"";
        check(alone, &["the fallback `two` is like no dialect"]);
        check(
            &format!("{two}fallback = true"),
            &["the fallback `two` never reads an answer: it quotes what `one` does"],
        );
        check(
            &format!("{two}fallback = true\nquoted = [\"cdata\", \"code-span\", \"block-quote\", \"code-fence\"]"),
            &["the fallback `two` never reads an answer: it quotes all that `one` does"],
        );
        check(&format!("{two}quoted = []"), &["`two` is like `one`, and has its own `quoted`"]);
    }

    #[test]
    fn a_dialect_is_as_another_but_for_its_needs() {
        check("[dialects.two]\nlike = \"one\"\nneeds = [\"a\"]", &[]);
        check("[dialects.two]\nlike = \"on\"", &["no table declares the dialect `on`"]);
        check("[dialects.two]\nlike = \"one\"\nanchor = \"line\"", &["`two` is like `one`, and has its own `anchor`"]);
        let chain = "[dialects.two]\nlike = \"one\"\n[dialects.three]\nlike = \"two\"";
        check(chain, &["`two` is itself like `one`"]);
    }
}
