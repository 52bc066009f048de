//! How long does a prompt take, and how much of that time is for counting its tokens?
#![allow(clippy::indexing_slicing, clippy::unwrap_used, missing_docs, reason = "a bench")]

use criterion::{Criterion, criterion_group, criterion_main};
use rulebook::prompt::{Request, Speaker, Turn};
use rulebook::{Program, Session};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;

fn program() -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/writers-factory");
    Program::load(&rulebook_fs::read_pack(&path).unwrap().folder).value.unwrap()
}

/// The example of §6.1 of the pack's own document.
fn state() -> Value {
    json!({
        "completion_pct": 45,
        "project": { "title": "The Last Starship", "protagonist": "Elena Vance", "genre": "Sci-Fi Noir", "tone": "Gritty, fast-paced" },
        "active_context": { "file": "Characters/Elena_Vance.md", "beat": "Midpoint (Beat 9/15)", "chapter": "Chapter 4", "scene": "Scene 2" },
        "knowledge": (0..4).map(entry).collect::<Vec<_>>(),
        "notebooks": [{ "id": "nb_abc123", "role": "world_building", "title": "Elena's Universe Research" }],
        "agent_memory": [{ "kind": "preference", "text": "Writer prefers short sentences in action sequences" }],
    })
}

fn entry(number: usize) -> Value {
    json!({ "category": "character", "key": format!("decision_{number}"), "value": "Inability to trust, stemming from father's abandonment" })
}

fn history(program: &Program, session: &Session, turns: usize) -> Vec<Turn> {
    let answer = "<thinking>Arc resolution is missing.</thinking>\n\n<message>Let's complete Elena's arc. Which resonates?</message>";
    let turn = |number| match number % 2 {
        0 => Turn::new(Speaker::User, format!("I want to work on scene {number}")),
        _ => Turn::answer(&program.run(session, answer)),
    };
    (0..turns).map(turn).collect()
}

fn bench(c: &mut Criterion) {
    let program = program();
    let mut state = state();
    let session = program.resume(json!({ "state": state })).unwrap();
    let request = Request {
        model: Some("gpt-4o".to_owned()),
        history: history(&program, &session, 200),
        message: Some("I think she learns to trust".to_owned()),
        ..Request::default()
    };
    let text = program.prompt(&session, &request).text;
    c.bench_function("prompt/200 turns", |b| b.iter(|| program.prompt(black_box(&session), &request)));
    state["knowledge"] = (0..10_000).map(entry).collect();
    let full = program.resume(json!({ "state": state })).unwrap();
    c.bench_function("prompt/200 turns, 10000 entries", |b| b.iter(|| program.prompt(black_box(&full), &request)));
    let vocabulary = bpe_openai::o200k_base();
    c.bench_function("prompt/counting the final text", |b| b.iter(|| vocabulary.count(black_box(text.as_str()))));
    let guess = Request { model: Some("claude-opus-4".to_owned()), ..request };
    c.bench_function("prompt/200 turns, estimated", |b| b.iter(|| program.prompt(black_box(&session), &guess)));
    let template = "prompt/state.xml";
    assert!(program.render_only(&session, template) > 500);
    c.bench_function("prompt/the state template", |b| b.iter(|| program.render_only(black_box(&session), template)));
}

criterion_group!(benches, bench);
criterion_main!(benches);
