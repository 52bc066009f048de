//! Session: what is remembered between two answers?
//!
//! In: the state as a host keeps it, as plain JSON.
//! Out: [`Session`], plain data.
//! Never: checks itself against a pack (`Program::resume` does), or looks at a clock.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Plain data that the host keeps and the engine returns anew: `{ "mode", "state", "now", "ids" }`.
///
/// Cloning is cheap: the state is shared until somebody changes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// The name of the mode.
    pub mode: String,
    /// The values that the pack's `[state]` declares, in the order of declaration.
    #[cfg_attr(feature = "schema", schemars(with = "Map<String, Value>"))]
    pub state: Arc<Map<String, Value>>,
    /// The time as the host tells it; the engine has no clock.
    pub now: Option<String>,
    /// The last number given out for each kind of id.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub ids: Arc<IndexMap<String, u64>>,
}

impl Session {
    /// A session in `mode` with `state`, no time and no ids.
    pub fn new(mode: impl Into<String>, state: Map<String, Value>) -> Self {
        Self { mode: mode.into(), state: Arc::new(state), now: None, ids: Arc::default() }
    }
}
