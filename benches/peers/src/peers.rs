//! Peers in Rust: which calls do other parsers read in an answer?
//!
//! In: an answer, and the tools in the form that each of their APIs expects.
//! Out: the calls with their arguments.
//! Never: judges, permits or checks anything: the peers do not, either.

use openai_protocol::common::Tool;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use symphony::Parser as _;
use symphony::tagged::{Placement, Spelling};
use tool_parser::{ParserFactory, ToolCall, ToolParser};

/// A parser that `pest_derive` generates from a grammar for answers in tags, the same as in the bench `run_tags`.
#[derive(pest_derive::Parser)]
#[grammar = "../../run_tags.pest"]
pub struct Generated;

/// A call: the name of its action, and its arguments.
pub type Call = (String, Value);

/// `smg-symphony`, which reads token by token; here the answer is one piece.
pub struct Symphony {
    format: symphony::Format,
    declared: symphony::Declared,
}

impl Symphony {
    /// The reader of a row.
    pub fn new(row: &str, corpus: &Path) -> Self {
        let syntax = match row {
            "hermes" => symphony::CallSyntax::Json,
            _ => symphony::CallSyntax::Tagged(Spelling::Json, Placement::OwnLine),
        };
        Self { format: symphony::qwen3(syntax), declared: symphony::Declared::of(&tools(corpus)) }
    }

    /// The events of an answer.
    pub fn read(&self, answer: &str) -> Vec<symphony::Event> {
        self.feed([answer])
    }

    /// The events of an answer in pieces.
    pub fn feed<'a>(&self, pieces: impl IntoIterator<Item = &'a str>) -> Vec<symphony::Event> {
        let mut engine = symphony::Engine::new(self.format.clone(), self.declared.clone());
        let mut events = symphony::Events::new();
        engine.feed(symphony::Input::Prompt { token_ids: &[], text: "" }, &mut events).expect("a prompt");
        for text in pieces {
            engine.feed(symphony::Input::Delta { token_ids: &[], text, spans: &[] }, &mut events).expect("a piece");
        }
        engine.feed(symphony::Input::End { finish: symphony::EngineFinish::Stop }, &mut events).expect("an end");
        events.drain()
    }

    /// The calls of an answer.
    pub fn calls(&self, answer: &str) -> Vec<Call> {
        let mut calls = BTreeMap::new();
        for event in self.read(answer) {
            match event {
                symphony::Event::ToolCallStart { index, name, .. } => {
                    calls.insert(index, (name, String::new()));
                }
                symphony::Event::ToolCallArguments { index, json, .. } => {
                    calls.entry(index).or_default().1.push_str(&json);
                }
                _ => {}
            }
        }
        calls.into_values().map(|(name, json)| (name, serde_json::from_str(&json).unwrap_or_default())).collect()
    }
}

/// `tool-parser`, the parsers of SGLang's gateway.
pub struct Gateway {
    parser: Box<dyn ToolParser>,
    row: &'static str,
    tools: Vec<Tool>,
}

impl Gateway {
    /// The reader of a row.
    pub fn new(row: &'static str, corpus: &Path) -> Self {
        Self { parser: parser(row), row, tools: tools(corpus) }
    }

    /// The text beside the calls, and the calls with their arguments as JSON; `None` if the answer is not valid.
    pub fn read(&self, answer: &str) -> Option<(String, Vec<ToolCall>)> {
        at_once(self.parser.parse_complete_with_tools(answer, &self.tools)).ok()
    }

    /// The calls of an answer.
    pub fn calls(&self, answer: &str) -> Vec<Call> {
        let calls = self.read(answer).map(|(_, calls)| calls).unwrap_or_default();
        calls
            .into_iter()
            .map(|call| (call.function.name, serde_json::from_str(&call.function.arguments).unwrap_or_default()))
            .collect()
    }

    /// Reads an answer in pieces, with a new parser, and returns how many parts of calls it has returned.
    pub fn feed<'a>(&self, pieces: impl IntoIterator<Item = &'a str>) -> usize {
        let mut parser = parser(self.row);
        pieces
            .into_iter()
            .filter_map(|piece| at_once(parser.parse_incremental(piece, &self.tools)).ok())
            .map(|read| read.calls.len())
            .sum()
    }
}

fn parser(row: &str) -> Box<dyn ToolParser> {
    let names: &[&str] = if row == "hermes" { &["qwen"] } else { &["qwen_xml", "qwen_coder"] };
    let factory = ParserFactory::new();
    names.iter().find_map(|name| factory.registry().create_parser(name)).expect("a parser of this name")
}

fn tools(corpus: &Path) -> Vec<Tool> {
    let text = std::fs::read_to_string(corpus.join("tools.json")).expect("the tools of the corpus");
    serde_json::from_str(&text).expect("tools as OpenAI writes them")
}

/// The result of a future that never waits.
fn at_once<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
