//! Schemas: which structure do pack files, case headers and JSON contracts have?
//!
//! In: the files in `schemas/`, which this package ships.
//! Out: a JSON Schema (draft 2020-12) for each, for editors and hosts.
//! Never: derives a schema, so that a host that only prints schemas needs no `schemars`. `rulebook-report` derives them
//! with its feature `schema`, and a test compares the two.

use serde_json::Value;

/// A file or contract that has a schema.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Its name; the schema is in `schemas/NAME.schema.json`.
    pub name: &'static str,
    /// The text of the schema's file.
    pub text: &'static str,
}

macro_rules! described {
    ($($name:ident)*) => {
        &[$(Described {
            name: stringify!($name),
            text: include_str!(concat!("../schemas/", stringify!($name), ".schema.json")),
        }),*]
    };
}

/// Everything that has a schema.
pub const ALL: &[Described] = described![pack case outcome heard check test apply replay diff prompt reply turn event];

/// The file or contract of this name.
pub fn of(name: &str) -> Option<&'static Described> {
    ALL.iter().find(|described| described.name == name)
}

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
