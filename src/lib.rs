//! Rulebook parses what a large language model answered, and enforces what the answer may do.
//!
//! A model answers in some dialect: tags, `[ACTION]{json}`, a format of your own. A **pack** (TOML tables, PEG
//! grammars, JSON Schemas) declares the dialects, the actions, the modes and what each permits, guardrails, and a
//! strategy for every kind of defect. [`Program::run`] reads one answer and returns an [`Outcome`]: the text to show,
//! the effects to carry out, and a finding for each thing that was wrong, with the strategy that answered it and the
//! line of the pack.
//!
//! ```
//! use rulebook::{Folder, Program};
//!
//! let pack = r#"
//! [pack]
//! name = "lamp"
//! [dialects.tags]
//! grammar = "tags"
//! [dialects.tags.blocks]
//! message = { role = "message" }
//! action  = { role = "call", name = "@type", payload = "tags" }
//! [modes.home]
//! permits = ["dim"]
//! [actions.dim]
//! params  = { level = { type = "integer", minimum = 0, maximum = 100, required = true } }
//! effects = [{ emit = "dim", value = "{{ params.level }}" }]
//! [actions.unlock_door]
//! "#;
//! let program = Program::load(&Folder::new("lamp", [("pack.toml", pack)])).value.unwrap();
//! let outcome = program.run(&program.session(), r#"
//!     <message>Good night.</message>
//!     <action type="dim"><level>10</level></action>
//!     <action type="unlock_door"></action>
//! "#);
//! assert_eq!(outcome.message, "Good night.");
//! assert_eq!(outcome.effects.len(), 1);
//! assert_eq!(outcome.diagnostics[0].code, "response/forbidden-call");
//! ```
//!
//! # For hosts
//!
//! [`Program::load`] compiles a pack once: from a [`Folder`] of files in memory, or of one that the crate `rulebook-fs` reads. A
//! [`Program`] is immutable and shared by all threads. [`Program::run`] judges a whole response, a [`Reader`] one that
//! arrives in pieces. A [`Session`] is plain data: store it, and pass it with the next response. Loading reports its
//! faults as [`Diagnostic`]s, or as one error, [`Faults`]; once there is a program, nothing
//! fails and nothing panics.
//!
//! Structs that a host reads, and enums that may grow, are `#[non_exhaustive]`; those that a host fills in
//! ([`Options`], [`Limits`], [`Request`](prompt::Request)) have defaults. What these pages document is the public API
//! that releases keep stable: `.ci/face` counts it. Hidden items, and modules behind the feature `unstable`, may
//! change in any release.
//!
//! | a host wants to | begins with |
//! |---|---|
//! | load a pack, or report its faults | [`Program::load`], [`Checked`], [`Faults`]; `rulebook-report` to print it |
//! | judge an answer | [`Program::run`], [`Program::run_with`], [`Options`] |
//! | judge what an API returned, with its tool calls | [`Reply`], [`Program::judge`], [`Reader::push_chunk`], [`Outcome::tool_results`] |
//! | show an answer while it arrives | [`Program::reader`], [`Reader`], [`StreamEvent`] |
//! | carry out what follows | [`Outcome`], [`outcome::Effect`]; `rulebook_fs::apply`, or `plan` and `commit`, for files |
//! | report that an edit failed on its file | [`Program::reject`], [`outcome::Miss`] |
//! | store a session | [`Session`], [`Program::resume`], [`Program::resume_lossy`] |
//! | assemble what a model reads | [`Program::prompt`], [`prompt::Request`], [`prompt::Counter`] |
//! | store a history | [`prompt::Turn`]; [`Program::turn`], [`Program::turns`] for answers without their outcome |
//! | offer the actions to an LLM API as tools | [`Program::export`], [`prompt::Export`] |
//! | classify a user's message, and see what follows | [`Program::start`], [`Program::hear`], [`outcome::Heard`] |
//! | test a pack | [`cases::parse`], [`cases::run`] |
//!
//! The guide [`docs/embed.md`](https://github.com/rulebook-rs/rulebook/blob/main/docs/embed.md) has an example of each,
//! and a whole host.
//!
//! | feature | adds |
//! |---|---|
//! | `schema` | JSON Schemas of the pack files and of the contracts |
//! | `tokens` | counting tokens by a model's vocabulary (47 MB) instead of estimating |
//! | `unstable` | what the command and the reports of this repository need beyond the public API; it may change in any release |
//!
//! | crate | adds |
//! |---|---|
//! | `rulebook-fs` | packs on disk, and carrying out effects below a root |
//! | `rulebook-report` | diagnostics with their source lines, and as JSON or SARIF, as the command prints them |
//! | `rulebook-cli` | the command `rulebook` |
//!
//! Python has the same engine: `bindings/python`.
//!
//! # The floors
//!
//! Data flows one way. A module imports only from those above it in this list; a test reads the `use` lines. A host
//! needs only those in the table above: the others are public for tools that look into packs, and change more often.
//!
//! | floor | question |
//! |---|---|
//! | [`text`] | which bytes of which source? |
//! | [`value`](mod@value) | what do a payload, the state and an effect contain? JSON whose parts are shared |
//! | `json` | which value does a text write, strictly or as models write it? |
//! | [`diagnostic`] | what is reported, under which code? the closed lists of defects, strategies and remarks |
//! | `provider` | what did a model answer through an API: texts, reasoning and tool calls, whole or in chunks? |
//! | [`surface`] | what do a pack's files say? |
//! | [`grammar`] | which texts does a grammar match? our own recogniser over pest's notation |
//! | [`expression`] | what does a condition or a template evaluate to? The language of Jinja |
//! | `markup` | how are values escaped in the documents of prompts? |
//! | [`pack`] | which of the tables can be trusted? |
//! | [`program`] | the pack, compiled: immutable, for all threads |
//! | `document` | which blocks are in a response? masks, marks, ladders, payloads; whole or in pieces |
//! | [`session`] | what is remembered between answers? |
//! | `judge` | which parts of it count, and which strategy answers each defect? one file per strategy |
//! | `flow` | what changes because of an answer, or of a user's message? |
//! | [`prompt`] | what does the model read? layers, budgets, one file per way to become shorter |
//! | [`outcome`] | the public contract |
//! | `host` | what can an application ask of a program? Every method of [`Program`] for hosts |
//! | [`cases`] | the tests that prompt engineers write |
//! | [`check`] | what is wrong with a pack, and what would a careful reviewer say? |
//! | [`compare`] | what does a change to a pack mean? |
//! | `schemas` | what do the files in `schemas/` contain? |
//!
//! Three crates are built on the engine: `rulebook-report`, the only place that lays out text for people, and
//! `rulebook-fs` depend on the engine alone; `rulebook-cli` depends on all three.
//!
//! Where a change goes: [`CONTRIBUTING.md`](https://github.com/rulebook-rs/rulebook/blob/main/CONTRIBUTING.md). How an
//! answer walks through these floors:
//! [`docs/architecture.md`](https://github.com/rulebook-rs/rulebook/blob/main/docs/architecture.md).
//!
//! No part of the engine knows a name from any pack. Nothing here reads a clock, a locale, the environment or the
//! network, and nothing here touches a disk.

#![cfg_attr(docsrs, feature(doc_cfg))]
// What only the tools of this repository use is unused without the feature `unstable`.
#![cfg_attr(not(feature = "unstable"), allow(dead_code, unreachable_pub, unused_imports))]

pub mod cases;
#[cfg(feature = "unstable")]
pub mod check;
#[cfg(not(feature = "unstable"))]
mod check;
#[cfg(feature = "unstable")]
pub mod compare;
#[cfg(not(feature = "unstable"))]
mod compare;
#[cfg(feature = "unstable")]
pub mod diagnostic;
#[cfg(not(feature = "unstable"))]
mod diagnostic;
mod document;
#[cfg(feature = "unstable")]
pub mod expression;
#[cfg(not(feature = "unstable"))]
mod expression;
mod flow;
#[cfg(feature = "unstable")]
pub mod grammar;
#[cfg(not(feature = "unstable"))]
mod grammar;
mod host;
mod json;
mod judge;
mod markup;
pub mod outcome;
#[cfg(feature = "unstable")]
pub mod pack;
#[cfg(not(feature = "unstable"))]
mod pack;
#[cfg(feature = "unstable")]
pub mod program;
#[cfg(not(feature = "unstable"))]
mod program;
pub mod prompt;
mod provider;
#[cfg(feature = "unstable")]
pub mod schemas;
#[cfg(feature = "unstable")]
pub mod session;
#[cfg(not(feature = "unstable"))]
mod session;
#[cfg(feature = "unstable")]
pub mod surface;
#[cfg(not(feature = "unstable"))]
mod surface;
#[cfg(feature = "unstable")]
pub mod text;
#[cfg(not(feature = "unstable"))]
mod text;
#[cfg(feature = "unstable")]
pub mod value;
#[cfg(not(feature = "unstable"))]
mod value;

pub use diagnostic::{
    Checked, Code, Defect, Diagnostic, Faults, Message as DiagnosticMessage, Remark, Severity, Strategy,
};
pub use document::StreamEvent;

pub use outcome::{Options, Outcome, Reader};
pub use program::{Limits, Program};
pub use provider::{Provider, Reply, ReplyPart};
pub use session::{PendingCall, Session};
pub use surface::{Folder, Role, Tools};
pub use text::{Extent, FilePlace, Sources};
pub use value::{Number, Object, Record as State, Value};

/// The types that a host may share with, or send to, another thread.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Program>();
    shared::<Session>();
    shared::<Reader<std::sync::Arc<Program>>>();
    shared::<Outcome>();
    shared::<Value>();
};

/// The README's example in Rust is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the guide for hosts are tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/embed.md")]
struct Embed;

/// The examples of the guide for native tool calls are tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/agents.md")]
struct Agents;
