//! Schemas: which structure do pack files, case headers and JSON contracts have?
//!
//! In: the files in `schemas/`.
//! Out: a JSON Schema (draft 2020-12) for each, for editors and hosts.
//! Never: is generated at run time: a test compares the files with the types.

#[cfg(feature = "schema")]
pub mod derived;

use rulebook::schemas as files;
use serde_json::Value;

/// A file or contract that has a schema.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Its name; the schema is in `schemas/NAME.schema.json`.
    pub name: &'static str,
    /// The text of the schema's file.
    pub text: &'static str,
}

/// Everything that has a schema.
pub const ALL: &[Described] = &[
    Described { name: "pack", text: files::PACK },
    Described { name: "case", text: files::CASE },
    Described { name: "outcome", text: files::OUTCOME },
    Described { name: "heard", text: files::HEARD },
    Described { name: "check", text: files::CHECK },
    Described { name: "test", text: files::TEST },
    Described { name: "apply", text: files::APPLY },
    Described { name: "replay", text: files::REPLAY },
    Described { name: "diff", text: files::DIFF },
    Described { name: "prompt", text: files::PROMPT },
    Described { name: "reply", text: files::REPLY },
    Described { name: "turn", text: files::TURN },
    Described { name: "event", text: files::EVENT },
];

impl Described {
    /// The schema.
    ///
    /// # Errors
    ///
    /// If the file is not JSON.
    pub fn schema(&self) -> serde_json::Result<Value> {
        serde_json::from_str(self.text)
    }
}
