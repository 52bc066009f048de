//! Helps: does each show an example that runs?

use crate::command::{folder, outputs};
use crate::guides::copy;
use crate::root;
use std::fs;
use std::path::Path;

/// Collects the help of a command, and of each of its subcommands, at any depth.
fn helps(folder: &Path, words: &[&str], all: &mut Vec<(String, String)>) {
    let (help, _) = outputs(folder, &[words, &["--help"]].concat(), "", 0);
    let listed = help.split_once("Commands:\n").map(|(_, rest)| rest.split("\n\n").next().unwrap().to_owned());
    for line in listed.iter().flat_map(|listed| listed.lines()) {
        if let Some(name) =
            line.strip_prefix("  ").and_then(|line| line.split(' ').next()).filter(|name| *name != "help")
            && !name.is_empty()
        {
            helps(folder, &[words, &[name]].concat(), all);
        }
    }
    all.push((words.join(" "), help));
}

/// The command lines under `Example:` or `Examples:`.
fn examples(help: &str) -> Vec<&str> {
    let below = help.split_once("Example:\n").or_else(|| help.split_once("Examples:\n"));
    below.map(|(_, lines)| lines.lines().filter_map(|line| line.strip_prefix("  ")).collect()).unwrap_or_default()
}

/// The examples run in a folder with the packs of this repository, and with the files that they read.
#[cfg(unix)]
#[test]
fn the_examples_of_every_help_run() {
    let folder = folder("helps");
    copy(&root().join("rules"), &folder.join("rules"));
    copy(&root().join("rules/dce"), &folder.join("changed"));
    fs::create_dir(folder.join("out")).unwrap();
    fs::write(folder.join("answer.txt"), "<message>\nHello.\n</message>\n").unwrap();
    fs::write(folder.join("answers.jsonl"), "{\"response\": \"Hello.\"}\n").unwrap();
    fs::write(folder.join("session.json"), "{}").unwrap();
    fs::write(folder.join("call.json"), "{\"tool_name\": \"keep_note\", \"tool_input\": {\"text\": \"Tea\"}}").unwrap();
    let mut all = Vec::new();
    helps(&folder, &[], &mut all);
    assert!(all.len() > 19, "{} helps", all.len());
    let path = Path::new(env!("CARGO_BIN_EXE_rulebook")).parent().unwrap().display().to_string();
    for (command, help) in &all {
        let examples = examples(help);
        assert!(!examples.is_empty(), "`rulebook {command} --help` has no example:\n{help}");
        for example in examples {
            assert!(example.starts_with(format!("rulebook {command}").trim_end()), "{command}: {example}");
            // A pack, or a part of one, can be created once.
            _ = fs::remove_dir_all(folder.join("lamp"));
            if !example.contains("new pack") {
                outputs(&folder, &["new", "pack", "lamp"], "", 0);
            }
            let output = std::process::Command::new("sh")
                .args(["-c", example])
                .env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap()))
                .current_dir(&folder)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{example}: {}: {err}", output.status);
        }
    }
}

#[test]
fn help_is_a_command_too() {
    let folder = folder("helps-command");
    for words in [&["run"][..], &["play"], &["new", "action"]] {
        let (asked, _) = outputs(&folder, &[&["help"], words].concat(), "", 0);
        let (flag, _) = outputs(&folder, &[words, &["--help"]].concat(), "", 0);
        assert_eq!(asked, flag);
    }
    let (_, err) = outputs(&folder, &["help", "rum"], "", 2);
    assert!(err.contains("unrecognized subcommand 'rum'"), "{err}");
}
