//! Streams: how far behind an answer is what is told of it, and what does reading it in pieces take?
//!
//! In: the corpus; answers come in pieces of four bytes, about a token.
//! Out: µs per 4 KB; bytes that have come but are not told yet, on average over all pieces; and how much is told before the end.
//! Never: counts markup as told: where an answer has much of it, more is behind.

use crate::engine::{ROWS, answers, folder, program, session};
use crate::peers::{Gateway, Symphony};
use crate::timing::{engine, take_turns};
use rulebook::{Options, StreamEvent};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const PIECE: usize = 4;
/// So many answers of each row.
const MOST: usize = 60;

/// Measures all rows.
pub fn measure(corpus: &Path, repository: &Path, time: Duration) {
    for row in &ROWS {
        let texts: Vec<String> = answers(corpus, row.name).into_iter().take(MOST).collect();
        let program = program(&folder(repository, row.pack));
        let session = session(&program, row.mode);
        let mut engines = vec![
            engine("whole", |text| program.run(&session, text)),
            engine("in pieces", |text| {
                let mut reader = program.reader(&session, &Options::default());
                pieces(text).for_each(|piece| drop(black_box(reader.push(piece.as_bytes()))));
                reader.finish()
            }),
        ];
        if row.calls {
            let (symphony, gateway) = (Symphony::new(row.name, corpus), Gateway::new(row.name, corpus));
            engines.push(engine("symphony, in pieces", move |text| symphony.feed(pieces(text))));
            engines.push(engine("tool-parser, in pieces", move |text| gateway.feed(pieces(text))));
        }
        take_turns(row.name, &texts, time, engines);

        let (mut told, mut behind, mut pushes) = (0, 0, 0);
        for text in &texts {
            let mut reader = program.reader(&session, &Options::default());
            let (mut fed, mut said) = (0_usize, 0);
            for piece in pieces(text) {
                fed += piece.len();
                said += reader.push(piece.as_bytes()).iter().map(told_by).sum::<usize>();
                behind += fed.saturating_sub(said);
                pushes += 1;
            }
            told += said;
        }
        println!("{}\tbytes behind\t{:.1}", row.name, behind as f64 / pushes as f64);
        let bytes: usize = texts.iter().map(String::len).sum();
        println!("{}\ttold before the end, %\t{:.1}", row.name, 100.0 * told as f64 / bytes as f64);
    }
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
