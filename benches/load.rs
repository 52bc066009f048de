//! How long does a pack of a hundred actions take to load?
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::Criterion;
use rulebook::{Folder, Program};
use std::fmt::Write as _;
use std::hint::black_box;

/// A pack of `count` actions with schemas, effects and permits.
fn pack(count: usize) -> String {
    let mut pack = String::from(
        r#"[pack]
name  = "hundred"
start = "work"
[dialects.plain]
grammar = "tags"
case    = "insensitive"
masks   = ["code-fence", "code-span"]
[dialects.plain.blocks]
message = { role = "message", decode = "entities" }
action  = { role = "call", name = "@type", payload = ["tags", "json"] }
[state]
notes = { type = "array", default = [] }
pages = { type = "object", default = {} }
"#,
    );
    for number in 0..count {
        let _ = write!(
            pack,
            r#"[actions.step_{number}]
about = "Does the step {number}"
[actions.step_{number}.params]
title  = {{ type = "string", minLength = 1, required = true }}
kind   = {{ enum = ["one", "other"], type = "string", required = true }}
weight = {{ type = "integer", minimum = 0 }}
labels = {{ type = "array", items = {{ type = "string" }} }}
[[actions.step_{number}.effects]]
append = "notes"
unique = ["title"]
value  = {{ title = "{{{{ params.title }}}}", step = {number} }}
[[actions.step_{number}.effects]]
when  = "params.weight is not none and params.weight > 10"
new   = "page"
set   = "pages.{{{{ ids.page }}}}"
value = "{{{{ params.title }}}} ({{{{ params.kind | upper }}}})"
[[actions.step_{number}.effects]]
emit  = "step_{number}"
value = "{{{{ params }}}}"
"#
        );
    }
    let names: Vec<String> = (0..count).map(|number| format!("\"step_{number}\"")).collect();
    let _ = write!(pack, "[modes.work]\npermits = [{}]\n", names.join(", "));
    pack
}

fn main() {
    let folder = Folder::new("hundred", [("pack.toml", pack(100))]);
    let loaded = Program::load(&folder);
    if loaded.value.is_none() {
        println!("the generated pack is broken: {:#?}", loaded.diagnostics);
    }
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("load/hundred actions", |bencher| bencher.iter(|| Program::load(black_box(&folder))));
    criterion.final_summary();
    if let Some(median) = corpus::median("load_hundred actions").or_else(|| corpus::median("load/hundred actions")) {
        corpus::times("loading a pack of 100 actions, in ms", median / 1e6, 10.0);
    }
}
