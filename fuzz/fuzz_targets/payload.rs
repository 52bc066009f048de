//! Any payload of a call is read strictly, repaired, salvaged, or refused. If it is accepted, its parameters are strict
//! JSON when they are written, and are read as the same call again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::outcome::Verdict;
use rulebook::{Folder, Program};
use std::sync::LazyLock;

const PACK: &str = r#"
[pack]
name = "payloads"
[dialects.d]
grammar = "brackets"
text    = "message"
blocks  = { A = { role = "call", payload = "json" } }
[actions.A]
params  = { a = {}, b = {} }
[modes.m]
permits = ["A"]
[degradation]
malformed-payload = "repair"
"#;

static PROGRAM: LazyLock<Program> =
    LazyLock::new(|| Program::load(&Folder::new("p", [("pack.toml", PACK)])).value.expect("the pack loads"));

fuzz_target!(|payload: &str| {
    let outcome = PROGRAM.run(&PROGRAM.session(), &format!("[A]{payload}"));
    let Some(call) = outcome.calls.first().filter(|call| call.verdict == Verdict::Accepted) else { return };
    let strict = serde_json::to_string(&call.params).expect("parameters are JSON");
    let again = PROGRAM.run(&PROGRAM.session(), &format!("[A]{strict}"));
    assert_eq!(again.calls.first().map(|call| &call.params), Some(&call.params));
});
