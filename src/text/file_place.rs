//! Places in files: where in a pack is a declaration?
//!
//! In: a file, as messages name it, and a place in it.
//! Out: [`FilePlace`], which contracts write as `pack/file:line:column`.
//! Never: reads the file.

use super::Place;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A line and column of a file. In JSON, and as text, `file:line:column`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub struct FilePlace {
    /// The file, as messages name it: the name of the pack and the path below it, with `/`.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
}

impl FilePlace {
    /// The place in this file.
    pub(crate) fn new(file: Arc<str>, Place { line, column }: Place) -> Self {
        Self { file, line, column }
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Parses `file:line:column`; the name of the file may contain colons.
impl FromStr for FilePlace {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        let (column, line) = (number(), number());
        match (parts.next(), line, column) {
            (Some(file), Some(line), Some(column)) => Ok(Self { file: file.into(), line, column }),
            _ => Err("a place in a pack is `file:line:column`"),
        }
    }
}

impl Serialize for FilePlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FilePlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for FilePlace {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PackPlace".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A place in a pack: `pack/file:line:column`.",
            "type": "string",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = FilePlace { file: "a:b/pack.toml".into(), line: 3, column: 14 };
        assert_eq!(place.to_string(), "a:b/pack.toml:3:14");
        assert_eq!(place.to_string().parse(), Ok(place));
        assert!("pack.toml:3".parse::<FilePlace>().is_err() && "".parse::<FilePlace>().is_err());
    }
}
