//! Schemas: what do the files in `schemas/` contain?
//!
//! In: those files, which this package ships.
//! Out: their texts.
//! Never: derives a schema. The feature `schema` does, and a test compares: a host that only prints them needs no `schemars`.

/// Of a TOML file of a pack.
pub const PACK: &str = include_str!("../schemas/pack.schema.json");
/// Of the header of a case.
pub const CASE: &str = include_str!("../schemas/case.schema.json");
/// Of an [`Outcome`](crate::Outcome).
pub const OUTCOME: &str = include_str!("../schemas/outcome.schema.json");
/// Of what comes of the words of a user.
pub const HEARD: &str = include_str!("../schemas/heard.schema.json");
/// Of the report of `rulebook check`.
pub const CHECK: &str = include_str!("../schemas/check.schema.json");
/// Of the report of `rulebook test`.
pub const TEST: &str = include_str!("../schemas/test.schema.json");
/// Of the report of `rulebook apply`.
pub const APPLY: &str = include_str!("../schemas/apply.schema.json");
/// Of the report of `rulebook replay`.
pub const REPLAY: &str = include_str!("../schemas/replay.schema.json");
/// Of the report of `rulebook diff`.
pub const DIFF: &str = include_str!("../schemas/diff.schema.json");
/// Of the messages for a model.
pub const PROMPT: &str = include_str!("../schemas/prompt.schema.json");
/// Of a reply of an API, in parts.
pub const REPLY: &str = include_str!("../schemas/reply.schema.json");
/// Of one turn of a history.
pub const TURN: &str = include_str!("../schemas/turn.schema.json");
/// Of an event of a reader.
pub const EVENT: &str = include_str!("../schemas/event.schema.json");
