//! Stream: how far do the emitted events lag behind an answer, and how long does it take to read it in pieces?
//!
//! In: the corpus. Answers are cut into pieces of four bytes, about a token.
//! Out: µs per 4 KB; how many bytes have arrived but are not emitted yet, on average over all pieces; and the share of
//! bytes that is emitted before the end.
//! Never: counts markup as emitted, so answers with much markup have a larger lag.

use crate::engine::{self, ROWS, answers, folder};
use crate::peers::{Gateway, Symphony};
use crate::timing::{engine as of, take_turns};
use rulebook::{Folder, Options, Program, Session, StreamEvent};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const PIECE: usize = 4;
/// The most answers of a row that are measured.
const MAX_ANSWERS: usize = 60;
/// A pack whose answers are one object with a message, which can be emitted as it arrives.
const OBJECT: &str = r#"
[pack]
name = "object"
[dialects.json]
grammar = "json"
[dialects.json.blocks]
message = { role = "message" }
notes   = { role = "section" }
"#;

/// Measures all rows.
pub fn measure(corpus: &Path, repository: &Path, time: Duration) {
    for row in &ROWS {
        let texts: Vec<String> = answers(corpus, row.name).into_iter().take(MAX_ANSWERS).collect();
        let program = engine::program(&folder(repository, row.pack));
        let session = engine::session(&program, row.mode);
        let mut engines = vec![
            of("whole", |text| program.run(&session, text)),
            of("in pieces", |text| {
                let mut reader = program.reader(&session, &Options::default());
                pieces(text).for_each(|piece| drop(black_box(reader.push(piece.as_bytes()))));
                reader.finish().0
            }),
        ];
        if row.calls {
            let (symphony, gateway) = (Symphony::new(row.name, corpus), Gateway::new(row.name, corpus));
            engines.push(of("symphony, in pieces", move |text| symphony.feed(pieces(text))));
            engines.push(of("tool-parser, in pieces", move |text| gateway.feed(pieces(text))));
        }
        take_turns(row.name, &texts, time, engines);

        lag(row.name, &program, &session, &texts);
    }
    let program = engine::program(&Folder::new("object", [("pack.toml", OBJECT)]));
    let text = format!(r#"{{"message": "{}", "notes": "n"}}"#, "Hello there, this is text. ".repeat(40));
    lag("one object", &program, &program.session(), &[text]);
}

/// Prints how many bytes have arrived but are not emitted yet, on average over all pieces, and the share that is
/// emitted before the end.
fn lag(row: &str, program: &Program, session: &Session, texts: &[String]) {
    let (mut told, mut behind, mut pushes) = (0, 0, 0);
    for text in texts {
        let mut reader = program.reader(session, &Options::default());
        let (mut fed, mut said) = (0_usize, 0);
        for piece in pieces(text) {
            fed += piece.len();
            said += reader.push(piece.as_bytes()).iter().map(told_by).sum::<usize>();
            behind += fed.saturating_sub(said);
            pushes += 1;
        }
        told += said;
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{row}\tbytes behind\t{:.1}", behind as f64 / f64::from(pushes));
    println!("{row}\ttold before the end, %\t{:.1}", 100.0 * told as f64 / bytes as f64);
}

fn told_by(event: &StreamEvent) -> usize {
    match event {
        StreamEvent::Text { text, .. } | StreamEvent::Field { text, .. } => text.len(),
        _ => 0,
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end =
            (PIECE.min(rest.len())..=rest.len()).find(|end| rest.is_char_boundary(*end)).filter(|end| *end > 0)?;
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}
