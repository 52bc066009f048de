//! README: do its commands print what it shows?
//!
//! The snippets with a path behind their language are files. They are written to a folder of their own, beside the packs and
//! responses of this repository, and every `console` snippet is run there. `TRYCMD=overwrite` takes over what is printed.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_commands_print_what_is_shown() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    _ = std::fs::remove_dir_all(&home);
    // The commands of a page run in the folder of its name.
    let folder = home.join("README.in");
    for part in ["rules", "tests/responses"] {
        copy(&root().join(part), &folder.join(part));
    }
    for (path, text) in files(&readme) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let page = home.join("README.md");
    std::fs::write(&page, &readme).unwrap();
    trycmd::TestCases::new().default_bin_path(env!("CARGO_BIN_EXE_rulebook")).case(&page).run();
    let printed = std::fs::read_to_string(&page).unwrap();
    if printed != readme {
        std::fs::write(root().join("README.md"), printed).unwrap();
    }
}

#[test]
fn every_command_has_a_row() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_rulebook")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for command in listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        assert!(command.is_empty() || readme.contains(&format!("\n| `{command} ")), "`{command}` has no row");
    }
    assert!(readme.lines().count() <= 240, "whoever opens it wants to be done soon");
}

/// The snippets that are files: a fence with a path behind its language.
fn files(readme: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        if let Some(fence) = line.strip_prefix("```") {
            let text: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
            if let Some((_, path)) = fence.split_once(' ') {
                files.push((path.into(), text));
            }
        }
    }
    assert!(!files.is_empty());
    files
}

fn copy(from: &Path, to: &Path) {
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
