//! Files: is each file of a pack's folder used?
//!
//! In: a folder and its program.
//! Out: a finding for each grammar that no table names, for each unused text in a folder with texts of prompts, and for
//! each file that is not read although its name is similar to that of a table, a grammar or a case.
//! Never: reports texts for people, such as a README, or texts of a pack that only other packs use.

use crate::cases::overlooked::overlooked_cases;
use crate::diagnostic::{Code, Diagnostic, is_slip};
use crate::program::Program;
use crate::surface::files::{grammar_name, is_text};
use crate::surface::{Folder, is_test, places};
use crate::text::{Location, SourceId, Sources, Span};
use std::collections::BTreeSet;

/// The unused files of a folder.
pub(super) fn unused(folder: &Folder, program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let files = &program.files;
    let source = |path: &str| program.sources().find(&folder.called(path)).map(|(source, _)| source);
    let mut finding = |path: &str, help: &str| {
        let source = source(path);
        let at = source.map(|source| Location { source, span: Span::default() });
        // The author of such a file may want to replace the file of the used pack.
        let help = match source.and_then(|source| files.hidden(path, source)) {
            Some(used) => format!("the tables of `{used}` take the `{path}` of their own pack: {help}"),
            None => help.to_owned(),
        };
        found.push(Diagnostic::new(Code::PACK_UNUSED_FILE, at, format!("nothing uses `{path}`")).with_help(help));
    };
    let mentions = places::names(folder);
    for path in folder.files.keys() {
        if grammar_name(path).is_some_and(|name| !mentions.contains(name)) {
            finding(path, "name it in the `grammar` of a dialect, or delete it");
        }
    }
    let is_mentioned = |path: &&String| mentions.contains(*path);
    let named = folder.files.keys().filter(is_mentioned).filter_map(|path| source(path));
    let mut used: BTreeSet<SourceId> = program.prompts.texts.iter().map(|text| text.source).chain(named).collect();
    let mut left: Vec<SourceId> = used.iter().copied().collect();
    while let Some(from) = left.pop() {
        let template = program.sources().get(from);
        let included = template.into_iter().flat_map(|template| included(template.text()));
        for source in included.filter_map(|path| files.text(path, from).source()) {
            if used.insert(source) {
                left.push(source);
            }
        }
    }
    let paths = used.iter().filter_map(|source| files.path(*source));
    let beside: BTreeSet<&str> = paths.filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder).collect();
    for path in folder.files.keys().filter(|path| is_text(path)) {
        let Some((_, name)) = path.rsplit_once('/').filter(|(inside, _)| beside.contains(inside)) else { continue };
        let is_for_people = name.starts_with("README.");
        let is_used = mentions.contains(path) || source(path).is_some_and(|source| used.contains(&source));
        if !is_used && !is_for_people {
            finding(path, "use it in a layer, or delete it");
        }
    }
    found
}

/// The files that are not read although they look like a part of the pack. They are added to `sources`, with empty
/// texts.
pub(super) fn overlooked(folder: &Folder, sources: &mut Sources) -> Vec<Diagnostic> {
    let mut found = overlooked_cases(folder, sources);
    for path in folder.files.keys().chain(&folder.unread) {
        let Some(help) = read_as(path) else { continue };
        let at = folder.place_unread(path, sources);
        let finding = Diagnostic::new(Code::PACK_UNUSED_FILE, at, format!("nothing uses `{path}`"));
        found.push(finding.with_help(help).into_warning());
    }
    found
}

/// How a file would be read whose name is nearly that of a table or a grammar.
fn read_as(path: &str) -> Option<String> {
    let (stem, end) = path.rsplit_once('.')?;
    let file = path.rsplit('/').next().unwrap_or(path);
    let folded = end.to_ascii_lowercase();
    if is_test(path) || file.starts_with('.') {
        None
    } else if end != "toml" && (is_slip(&folded, "toml") || ["yaml", "yml"].contains(&folded.as_str())) {
        Some(format!("tables are read from files that end in `.toml`: call it `{stem}.toml`"))
    } else if folded == "pest" && grammar_name(path).is_none() {
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        Some(format!("grammars are read from `grammar/NAME.pest`: move it to `grammar/{stem}.pest`"))
    } else {
        None
    }
}

/// The names in quotes after each `include` of a template.
fn included(template: &str) -> impl Iterator<Item = &str> {
    template.split("include").skip(1).filter_map(|rest| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest.strip_prefix(quote)?.split(quote).next()
    })
}
