//! Load: how long until a pack is ready, and until all diagnostics about it are known?
//!
//! In: the repository.
//! Out: milliseconds for the shipped packs, and for generated ones of many actions and modes; µs for calls judged by
//! the latter.
//! Never: reads a file while the clock runs.

use crate::engine::{folder, program};
use crate::timing::fastest;
use rulebook::{Folder, Program};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const SHIPPED: [&str; 4] = ["couple-ai", "dce", "roundtable", "writers-factory"];
/// The numbers of actions and modes of the generated packs.
const GENERATED: [(usize, usize); 3] = [(50, 5), (500, 20), (5000, 200)];

/// Measures all packs.
pub fn measure(repository: &Path) {
    for name in SHIPPED {
        measure_pack(name, &folder(repository, &format!("rules/{name}")));
    }
    for (actions, modes) in GENERATED {
        let row = format!("{actions} actions, {modes} modes");
        let folder = generated(actions, modes);
        measure_pack(&row, &folder);
        let program = program(&folder);
        let session = program.session();
        for (name, action) in [("permitted", "step_0"), ("forbidden", "step_1"), ("unknown", "stepp_1")] {
            let answer = format!("<message>Noted.</message><action type=\"{action}\"><title>x</title></action>");
            let seconds = fastest(Duration::from_millis(50), || drop(black_box(program.run(&session, &answer))));
            println!("{row}\tcall {name}, µs\t{:.2}", seconds * 1e6);
        }
    }
}

fn measure_pack(row: &str, folder: &Folder) {
    let load = fastest(Duration::from_millis(200), || drop(black_box(Program::load(folder))));
    println!("{row}\tload, ms\t{:.3}", load * 1e3);
    let check = fastest(Duration::from_millis(200), || drop(black_box(rulebook::check::review(folder))));
    println!("{row}\tcheck, ms\t{:.3}", check * 1e3);
}

/// A pack whose modes permit every fortieth action, those of the mode itself, and one that changes to the next mode.
pub fn generated(actions: usize, modes: usize) -> Folder {
    let mut text = String::from(
        r#"[pack]
name  = "generated"
start = "mode_0"
[dialects.plain]
grammar = "tags"
[dialects.plain.blocks]
message = { role = "message", decode = "entities" }
action  = { role = "call", name = "@type", payload = ["tags", "json"] }
[state]
notes = { type = "array", default = [] }
"#,
    );
    for action in 0..actions {
        _ = write!(
            text,
            r#"[actions.step_{action}]
about = "Does the step {action}"
params.title  = {{ type = "string", minLength = 1, required = true }}
params.weight = {{ type = "integer", minimum = 0 }}
[[actions.step_{action}.effects]]
append = "notes"
value  = {{ title = "{{{{ params.title }}}}", step = {action} }}
"#
        );
    }
    for mode in 0..modes {
        let permits: Vec<String> = (0..actions)
            .filter(|action| action % modes == mode || (action * 7 + mode) % 40 == 0)
            .map(|action| format!("\"step_{action}\""))
            .collect();
        let next = (mode + 1) % modes;
        _ = write!(
            text,
            r#"[actions.next_{mode}]
about   = "Goes on"
effects = [{{ go = "mode_{next}" }}]
[modes.mode_{mode}]
permits = [{}, "next_{mode}"]
exits   = ["mode_{next}"]
"#,
            permits.join(", ")
        );
    }
    Folder::new("generated", [("pack.toml", text)])
}
