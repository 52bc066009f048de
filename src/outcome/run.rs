//! Run: what does one response come to? (Temporary stand-in.)
//!
//! In: a program, a session, a response.
//! Out: an outcome.
//! Never: fails.

use super::contract::{Ledger, Outcome, Status, VERSION};
use crate::program::Program;
use crate::session::Session;

/// How a response is read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Reads it in this dialect alone.
    pub dialect: Option<String>,
    /// Whether the outcome tells its story.
    pub trace: bool,
    /// Feeds the response in pieces of so many bytes.
    pub chunk: Option<usize>,
    /// Whether the model ran out of tokens.
    pub truncated: bool,
}

impl Program {
    /// Reads one response.
    pub fn run(&self, session: &Session, response: &str) -> Outcome {
        self.run_with(session, response.as_bytes(), &Options::default())
    }

    /// Reads one response.
    pub fn run_with(&self, session: &Session, response: &[u8], options: &Options) -> Outcome {
        let text = String::from_utf8_lossy(response);
        Outcome {
            version: VERSION,
            status: Status::Clean,
            dialect: None,
            mode: session.mode.clone(),
            message: text.trim().to_owned(),
            thinking: vec![],
            sections: vec![],
            contents: vec![],
            utterances: vec![],
            calls: vec![],
            effects: vec![],
            diagnostics: vec![],
            ask_again: None,
            ledger: Ledger {
                bytes: text.len(),
                message: text.trim().len(),
                blank: text.len() - text.trim().len(),
                ..Ledger::default()
            },
            session: session.clone(),
            trace: options.trace.then(Vec::new),
        }
    }
}
