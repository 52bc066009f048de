//! Files: is there exactly one file for each name of a text or a grammar?
//!
//! In: the files of all packs that were read, and a name with the file that contains it.
//! Out: a diagnostic for a name that means no file in scope, or files of several packs.
//! Never: reads a file.

use crate::diagnostic::{Code, Diagnostic, meant, nearest};
use crate::grammar::shipped_names;
use crate::surface::files::{NameMeaning, PackFiles, PackId, grammar_path};
use crate::surface::{Surface, TEXTS};
use crate::text::{Location, SourceId, excerpt};

/// What is wrong with the path of a text in the file of `at`; none if the path means exactly one text.
pub(crate) fn wrong_text(surface: &Surface, below: &str, at: Location) -> Option<Diagnostic> {
    let cited = excerpt(below, 80);
    let leaves = below.starts_with(['/', '\\', '~']) || below.contains(['\\', ':']);
    if leaves || below.split('/').any(|part| part == "..") {
        let help = "paths of texts are relative to the pack's folder and stay in it";
        return Some(Diagnostic::new(Code::PACK_OUTSIDE, at, format!("`{cited}` leaves the pack")).with_help(help));
    }
    match surface.files.text(below, at.source) {
        NameMeaning::One(Ok(_)) => None,
        NameMeaning::One(Err(byte)) => Some(
            Diagnostic::new(Code::PACK_UNREADABLE, at, format!("`{cited}` is not UTF-8 from byte {byte} on"))
                .with_help("save the file as UTF-8"),
        ),
        NameMeaning::Ambiguous(packs, _) => Some(ambiguous(&surface.files, below, packs, at)),
        NameMeaning::Missing if !TEXTS.iter().any(|end| below.ends_with(end)) => {
            let message = format!("`{cited}` cannot be a text of the pack");
            let help = match below.contains(char::is_whitespace) {
                true => "this is the path of a file: put the words into one, such as `prompt/identity.md`".to_owned(),
                false => format!("names of texts end in {}", TEXTS.join(", ")),
            };
            Some(Diagnostic::new(Code::PACK_MISSING_FILE, at, message).with_help(help))
        }
        NameMeaning::Missing => {
            let fault = Diagnostic::new(Code::PACK_MISSING_FILE, at, format!("the pack has no file `{cited}`"));
            Some(match out_of_scope(&surface.files, below, at.source) {
                Some(help) => fault.with_help(help),
                None => with_nearest_text(fault, below, surface.files.texts(at.source)),
            })
        }
    }
}

/// Adds the path of the `declared` text that was probably meant, or else all paths.
fn with_nearest_text<'f>(
    fault: Diagnostic,
    below: &str,
    declared: impl Iterator<Item = &'f str> + Clone,
) -> Diagnostic {
    // A file that was moved to another folder has the same name.
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let moved: Vec<&str> = declared.clone().filter(|path| name(path) == name(below)).collect();
    // Compare names without folder and extension, which many files share.
    let stem = |path: &str| name(path).rsplit_once('.').map(|(stem, _)| stem.to_owned()).unwrap_or_default();
    let is_near = |near: &&str| match moved.is_empty() {
        true => nearest(&stem(below), [stem(near).as_str()]).is_some(),
        false => moved.contains(near),
    };
    let near = nearest(below, declared.clone().filter(is_near));
    let alike = || {
        let names: Vec<String> = declared.clone().map(name).collect();
        let alike = nearest(&name(below), names.iter().map(String::as_str))?;
        declared.clone().find(|path| name(path) == alike).filter(is_near)
    };
    match near.or_else(|| moved.first().copied()).or_else(alike) {
        Some(meant) => fault.with_nearest(meant, [meant]),
        // No file has a similar name.
        None => fault.with_help("paths are relative to the folder of the pack").with_nearest("", declared),
    }
}

/// The diagnostic for an unknown name of a grammar, and the grammar that was probably meant.
pub(super) fn unknown_grammar(surface: &Surface, name: &str, at: Location) -> (Diagnostic, Option<String>) {
    let fault = Diagnostic::new(Code::PACK_UNKNOWN_GRAMMAR, at, format!("there is no grammar `{name}`"));
    if let Some(help) = out_of_scope(&surface.files, &grammar_path(name), at.source) {
        return (fault.with_help(help), None);
    }
    let shipped = shipped_names().map(|name| -> &str { name });
    let known: Vec<&str> = surface.files.grammars(at.source).chain(shipped).collect();
    // A grammar may be called by the name of the format that models write with it.
    if let Some(word) = meant(name, &known) {
        return (fault.with_help(format!("did you mean `{word}`?")), Some(word.to_owned()));
    }
    let near = nearest(name, known.iter().copied()).map(str::to_owned);
    (fault.with_nearest(name, known), near)
}

/// The diagnostic for a name that means files of two packs.
pub(super) fn ambiguous(files: &PackFiles, path: &str, packs: [PackId; 2], at: Location) -> Diagnostic {
    let [first, second] = packs.map(|pack| files.name(pack));
    let writer = files.writer(at.source).map_or("", |writer| files.name(writer));
    let path = excerpt(path, 80);
    let message = format!("`{first}` and `{second}` both have a `{path}`, and `{writer}` uses both");
    let help = format!("add a `{path}` to `{writer}`, which then counts instead");
    Diagnostic::new(Code::PACK_DUPLICATE, at, message).with_help(help)
}

/// Advice on a file that exists only in a pack out of scope.
pub(super) fn out_of_scope(files: &PackFiles, path: &str, from: SourceId) -> Option<String> {
    let (having, uses_writer) = files.out_of_scope(path, from)?;
    let (having, writer) = (files.name(having), files.writer(from).map_or("", |writer| files.name(writer)));
    let help = match uses_writer {
        true => format!("add the file to `{writer}`, or let `{having}` replace the table that takes it"),
        false => format!("add `{having}` to the `use` of `{writer}`"),
    };
    Some(format!("the pack `{having}` has one, but `{writer}` does not use it: {help}"))
}
