//! Files: is each file of a pack's folder used?
//!
//! In: a folder and its program.
//! Out: a finding for each grammar that no table names, and for each unused text in a folder with texts of prompts.
//! Never: reports texts for people, such as a README, or texts of a pack that only other packs use.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::surface::{Folder, TEXTS, places};
use crate::text::{Location, Span};
use std::collections::BTreeSet;

/// The unused files of a folder.
pub(super) fn unused(folder: &Folder, program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let source = |path: &str| program.sources().find(&folder.called(path));
    let mut finding = |path: &str, help: &str| {
        let at = source(path).map(|(source, _)| Location { source, span: Span::default() });
        found.push(Diagnostic::new(Code::PACK_UNUSED_FILE, at, format!("nothing uses `{path}`")).with_help(help));
    };
    let said = places::names(folder);
    for path in folder.files.keys() {
        let name = path.strip_prefix("grammar/").and_then(|rest| rest.strip_suffix(".pest"));
        if name.is_some_and(|name| !said.contains(name)) {
            finding(path, "name it in the `grammar` of a dialect, or delete it");
        }
    }
    let is_said = |path: &&String| said.contains(*path);
    let of_prompts = program.prompts.texts.iter().map(|text| text.path.as_str());
    let mut used: BTreeSet<&str> = of_prompts.chain(folder.files.keys().filter(is_said).map(String::as_str)).collect();
    let mut left: Vec<&str> = used.iter().copied().collect();
    while let Some((_, template)) = left.pop().map(source).map(Option::unzip) {
        for path in template.into_iter().flat_map(|template| included(template.text())) {
            if let Some((path, _)) = folder.files.get_key_value(path).filter(|_| used.insert(path)) {
                left.push(path);
            }
        }
    }
    let beside: BTreeSet<&str> =
        used.iter().filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder).collect();
    for path in folder.files.keys().filter(|path| TEXTS.iter().any(|end| path.ends_with(end))) {
        let Some((inside, name)) = path.rsplit_once('/').filter(|(inside, _)| beside.contains(inside)) else {
            continue;
        };
        let is_for_people = name.starts_with("README.");
        if !used.contains(path.as_str()) && !inside.starts_with("tests/") && !is_for_people {
            finding(path, "use it in a layer, or delete it");
        }
    }
    found
}

/// The names in quotes after each `include` of a template.
fn included(template: &str) -> impl Iterator<Item = &str> {
    template.split("include").skip(1).filter_map(|rest| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest.strip_prefix(quote)?.split(quote).next()
    })
}
