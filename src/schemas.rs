//! Schemas: what are the JSON Schemas of packs, reports and contracts?
//!
//! In: the files in `schemas/`, which this package ships.
//! Out: their texts.
//! Never: derives a schema, so that a host that only prints schemas needs no `schemars`. The feature `schema` derives
//! them, and a test compares the two.

/// The schema of a TOML file of a pack.
pub const PACK: &str = include_str!("../schemas/pack.schema.json");
/// The schema of the header of a case.
pub const CASE: &str = include_str!("../schemas/case.schema.json");
/// The schema of an [`Outcome`](crate::Outcome).
pub const OUTCOME: &str = include_str!("../schemas/outcome.schema.json");
/// The schema of what follows from a user message: a [`Heard`](crate::outcome::Heard).
pub const HEARD: &str = include_str!("../schemas/heard.schema.json");
/// The schema of the report of `rulebook check`.
pub const CHECK: &str = include_str!("../schemas/check.schema.json");
/// The schema of the report of `rulebook test`.
pub const TEST: &str = include_str!("../schemas/test.schema.json");
/// The schema of the report of `rulebook apply`.
pub const APPLY: &str = include_str!("../schemas/apply.schema.json");
/// The schema of the report of `rulebook replay`.
pub const REPLAY: &str = include_str!("../schemas/replay.schema.json");
/// The schema of the report of `rulebook diff`.
pub const DIFF: &str = include_str!("../schemas/diff.schema.json");
/// The schema of the messages for a model.
pub const PROMPT: &str = include_str!("../schemas/prompt.schema.json");
/// The schema of a reply of an API, in parts.
pub const REPLY: &str = include_str!("../schemas/reply.schema.json");
/// The schema of one turn of a history.
pub const TURN: &str = include_str!("../schemas/turn.schema.json");
/// The schema of an event of a reader.
pub const EVENT: &str = include_str!("../schemas/event.schema.json");
