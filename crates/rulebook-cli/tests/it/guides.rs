//! Guides: do the commands of the README and of the pages in `docs/` print what is shown?
//!
//! A page is read from top to bottom. A snippet with a path after its language is written as that file; a `diff` is
//! applied to the file of its path; a `console` snippet is run, in a folder of the page's own beside the packs and
//! responses of this repository. Before the snippet, the comment `<!-- exits with 1, 0 -->` lists the statuses of its
//! commands; without one they are 0. A line `...` matches any lines. `TRYCMD=overwrite` writes the output to the page.

use crate::command::at_terminal;
use crate::root;
use std::path::{Path, PathBuf};

#[track_caller]
fn check(page: &str) {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let home = crate::scratch::path("guides").join(page.replace('/', "-"));
    _ = std::fs::remove_dir_all(&home);
    let folder = home.join("folder");
    for part in ["rules", "tests/responses", "schemas"] {
        copy(&root().join(part), &folder.join(part));
    }
    assert!(!text.contains("[..]"), "{page}: a reader sees `[..]`; show the line, or leave out lines with `...`");
    let mut printed = String::new();
    for (number, stage) in stages(&text).into_iter().enumerate() {
        for (kind, path, text) in files(&stage) {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = if kind == "diff" { patched(&std::fs::read_to_string(&path).unwrap(), &text) } else { text };
            std::fs::write(path, text).unwrap();
        }
        if stage.contains("```console\n") {
            // `trycmd` runs the commands of a page in the folder with its name: the one folder of all stages gets it.
            let page = home.join(format!("{number}.md"));
            std::fs::write(&page, with_statuses(&stage)).unwrap();
            let here = page.with_extension("in");
            std::fs::rename(&folder, &here).unwrap();
            trycmd::TestCases::new()
                .env("CI", "false")
                .default_bin_path(env!("CARGO_BIN_EXE_rulebook"))
                .case(&page)
                .run();
            std::fs::rename(&here, &folder).unwrap();
            printed += &without_statuses(&std::fs::read_to_string(&page).unwrap());
        } else {
            printed += &stage;
        }
    }
    if printed != text {
        std::fs::write(root().join(page), printed).unwrap();
    }
}

#[test]
fn the_readme_prints_what_it_shows() {
    check("README.md");
}

#[test]
fn every_guide_prints_what_it_shows() {
    let index = std::fs::read_to_string(root().join("docs/README.md")).unwrap();
    let mut pages = 0;
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "README.md" {
            assert!(index.contains(&format!("({name})")), "docs/README.md does not list {name}");
            check(&format!("docs/{name}"));
            pages += 1;
        }
    }
    assert!(pages > 7, "{pages} pages");
}

#[test]
fn the_page_of_every_pack_prints_what_it_shows() {
    let index = std::fs::read_to_string(root().join("docs/packs/README.md")).unwrap();
    for entry in std::fs::read_dir(root().join("docs/packs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name != "README.md" {
            assert!(index.contains(&format!("({name})")), "docs/packs/README.md does not list {name}");
            check(&format!("docs/packs/{name}"));
        }
    }
}

#[test]
fn every_decision_is_listed() {
    let index = std::fs::read_to_string(root().join("docs/decisions/README.md")).unwrap();
    for entry in std::fs::read_dir(root().join("docs/decisions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&format!("({name})")), "docs/decisions does not list {name}");
    }
}

#[test]
fn every_link_has_a_target() {
    let below =
        ["docs", "benches", "examples", "fuzz", ".github"].map(|folder| walkdir::WalkDir::new(root().join(folder)));
    let top = walkdir::WalkDir::new(root()).max_depth(1);
    let mut links = 0;
    for page in below.into_iter().chain([top]).flatten().map(Result::unwrap) {
        let path = page.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let target = link.split('#').next().unwrap();
            let elsewhere = target.is_empty() || target.contains("://");
            assert!(elsewhere || path.parent().unwrap().join(target).exists(), "{}: {link}", path.display());
            links += 1;
        }
    }
    assert!(links > 100, "{links} links");
}

#[test]
fn every_command_has_a_row() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let help = at_terminal(root(), &["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for command in listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        assert!(command.is_empty() || readme.contains(&format!("\n| `{command} ")), "`{command}` has no row");
    }
    assert!(readme.lines().count() <= 240, "whoever opens it wants to be done soon");
}

/// The page in pieces, each with files to write first and then commands to run.
fn stages(page: &str) -> Vec<String> {
    let mut stages = vec![String::new()];
    let mut fenced = false;
    for line in page.split_inclusive('\n') {
        let opens = !fenced && line.starts_with("```");
        let stage = stages.last_mut().unwrap();
        if opens && line.contains(' ') && stage.contains("```console\n") {
            stages.push(String::new());
        }
        fenced ^= line.starts_with("```");
        stages.last_mut().unwrap().push_str(line);
    }
    stages
}

/// A piece of a page as `trycmd` reads it: with each status in a line `? 1` below its command. In the page, that line
/// would only disturb readers.
fn with_statuses(stage: &str) -> String {
    let mut statuses = Vec::new().into_iter();
    let mut out = String::new();
    for line in stage.split_inclusive('\n') {
        if let Some(listed) = line.strip_prefix("<!-- exits with ").and_then(|rest| rest.strip_suffix(" -->\n")) {
            statuses = listed.split(", ").map(str::to_owned).collect::<Vec<_>>().into_iter();
        }
        assert!(!line.starts_with("? "), "{line}: the status of a command belongs into a comment before the snippet");
        out += line;
        if line.starts_with("$ ")
            && let Some(status) = statuses.next().filter(|status| status != "0")
        {
            out += &format!("? {status}\n");
        }
        assert!(line != "```\n" || statuses.len() == 0, "a snippet has fewer commands than statuses: {statuses:?}");
    }
    out
}

fn without_statuses(stage: &str) -> String {
    stage.split_inclusive('\n').filter(|line| !line.starts_with("? ")).collect()
}

/// The snippets that are files: the language of the fence, the path after it, the text.
fn files(page: &str) -> Vec<(String, PathBuf, String)> {
    let mut files = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(fence) = line.strip_prefix("```") {
            let text: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
            if let Some((kind, path)) = fence.split_once(' ') {
                files.push((kind.to_owned(), path.into(), text));
            }
        }
    }
    files
}

/// `text` with the changes of a diff: each hunk replaces the first occurrence of its old lines.
fn patched(text: &str, diff: &str) -> String {
    let mut text = text.to_owned();
    for hunk in diff.split_inclusive('\n').collect::<Vec<_>>().split(|line| line.starts_with("@@")) {
        let side = |sign: char| -> String {
            let lines = hunk.iter().filter(|line| line.starts_with([' ', sign]) || **line == "\n");
            lines.map(|line| if *line == "\n" { line } else { &line[1..] }).collect()
        };
        let (old, new) = (side('-'), side('+'));
        if !hunk.is_empty() {
            assert!(text.contains(&old), "the diff does not fit:\n{old}\nin\n{text}");
            text = text.replacen(&old, &new, 1);
        }
    }
    text
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
