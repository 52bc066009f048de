//! Prompt: how long does a prompt with counted tokens take, after 200 turns?
//!
//! In: the repository, and the path of a file for the driver in Python.
//! Out: milliseconds; in that file, the text of the prompt and of each of its layers.
//! Never: includes the time in which the vocabulary is loaded.

use crate::engine::{folder, program};
use crate::timing::fastest;
use rulebook::Program;
use rulebook::prompt::{Request, Speaker, Turn};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const TURNS: usize = 200;
const ENTRIES: usize = 10_000;
const ANSWER: &str = "<thinking>Arc resolution is missing.</thinking>

<message>Let's complete Elena's arc. Which resonates?</message>";
const QUESTION: &str = "I think she learns to trust";

/// Measures the prompt of the pack `writers-factory`.
pub fn measure(repository: &Path, dump: &Path) {
    let program = program(&folder(repository, "rules/writers-factory"));
    let state = state();
    let session = program.resume(json!({ "state": state })).expect("a session of the pack");
    let history: Vec<Turn> = (0..TURNS)
        .map(|number| match number % 2 {
            0 => Turn::new(Speaker::User, said(number)),
            _ => Turn::answer(&program.run(&session, ANSWER)),
        })
        .collect();
    let counted =
        Request { model: Some("gpt-4o".to_owned()), history, message: Some(QUESTION.to_owned()), ..Request::default() };
    let estimated = Request { model: Some("claude-opus-4".to_owned()), ..counted.clone() };
    let prompt = program.prompt(&session, &counted);
    let ms = |program: &Program, request: &Request| {
        1e3 * fastest(Duration::from_millis(500), || drop(black_box(program.prompt(&session, request))))
    };
    println!("prompt\trulebook, counted\t{:.4}", ms(&program, &counted));
    println!("prompt\trulebook, estimated\t{:.4}", ms(&program, &estimated));
    let turn = |number| if number % 2 == 0 { said(number) } else { ANSWER.to_owned() };
    let layers = prompt.ledger.layers.iter().zip(&prompt.texts).map(|(layer, text)| json!([layer.id, text]));
    let written = json!({
        "text": prompt.text,
        "state": state,
        "turns": (0..TURNS).map(turn).collect::<Vec<_>>(),
        "question": QUESTION,
        "layers": layers.collect::<Vec<_>>(),
        "tokens": prompt.ledger.tokens,
    });
    std::fs::write(dump, written.to_string()).expect("the dump is written");
}

fn said(number: usize) -> String {
    format!("I want to work on scene {number}")
}

/// A state with many entries, of which the prompt contains ten.
fn state() -> Value {
    let entry = |number| {
        let value = "Inability to trust, stemming from father's abandonment";
        json!({ "category": "character", "key": format!("decision_{number}"), "value": value })
    };
    json!({
        "completion_pct": 45,
        "project": {
            "title": "The Last Starship",
            "protagonist": "Elena Vance",
            "genre": "Sci-Fi Noir",
            "tone": "Gritty, fast-paced",
        },
        "active_context": {
            "file": "Characters/Elena_Vance.md",
            "beat": "Midpoint (Beat 9/15)",
            "chapter": "Chapter 4",
            "scene": "Scene 2",
        },
        "knowledge": (0..ENTRIES).map(entry).collect::<Vec<_>>(),
        "notebooks": [{ "id": "nb_abc123", "role": "world_building", "title": "Elena's Universe Research" }],
        "agent_memory": [{ "kind": "preference", "text": "Writer prefers short sentences in action sequences" }],
    })
}
