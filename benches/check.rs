//! How long does `check` take for the shipped packs, and for a workspace of a hundred packs with a thousand actions?
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a bench")]

use criterion::Criterion;
use rulebook::Folder;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

/// A pack of ten actions with schemas, effects, conditions and permits in two modes.
fn pack(number: usize) -> Folder {
    let mut text = format!(
        r#"[pack]
name  = "pack-{number}"
start = "work"
[dialects.plain]
grammar = "tags"
quoted   = ["code-fence"]
[dialects.plain.blocks]
message = {{ role = "message", decode = "entities" }}
action  = {{ role = "call", name = "@type", payload = ["tags", "json"] }}
[state]
notes = {{ type = "array", default = [] }}
open  = {{ type = "boolean", default = false, from = "host" }}
[[guardrails]]
id = "loud"
on = "message"
matches = '!{{3}}'
"#
    );
    let mut permits = String::new();
    for action in 0..10 {
        _ = write!(
            text,
            r#"[actions.step_{action}]
about = "Does the step {action} of {number}"
[actions.step_{action}.params]
title  = {{ type = "string", minLength = 1, required = true }}
kind   = {{ enum = ["one", "other"], type = "string", required = true }}
weight = {{ type = "integer", minimum = 0 }}
[[actions.step_{action}.effects]]
append = "notes"
value  = {{ title = "{{{{ params.title }}}}", weight = "{{{{ params.weight or state.notes | length }}}}" }}
"#
        );
        _ = write!(permits, "{{ action = \"step_{action}\", when = \"state.open or params.kind == 'one'\" }}, ");
    }
    _ = write!(text, "[modes.work]\npermits = [{permits}]\n[modes.rest]\npermits = [{permits}]\n");
    Folder::new(format!("pack-{number}"), [("pack.toml", text)])
}

fn shipped() -> Vec<Folder> {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let packs = rulebook_fs::packs_below(&rules).expect("the rules are there");
    packs.iter().map(|pack| rulebook_fs::read_pack(pack).expect("a pack").folder).collect()
}

fn check(folders: &[Folder]) -> usize {
    folders.iter().map(|folder| rulebook::check::review(folder).diagnostics.len()).sum()
}

fn main() {
    let (shipped, hundred) = (shipped(), (0..100).map(pack).collect::<Vec<_>>());
    assert_eq!(check(&hundred), 0, "the generated packs are clean");
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    criterion.bench_function("check/shipped packs", |bencher| bencher.iter(|| check(black_box(&shipped))));
    criterion.bench_function("check/100 packs, 1000 actions", |bencher| bencher.iter(|| check(black_box(&hundred))));
    criterion.final_summary();
}
