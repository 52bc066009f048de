//! Extents: which bytes of a reply does a part of an outcome come from?
//!
//! In: a range of bytes in a response.
//! Out: [`Extent`], as contracts contain it.
//! Never: interprets the bytes.

use super::Slice;
use super::Span;
use serde::de::Error;
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A range of bytes of one part of a reply, `start..end`. In JSON `[start, end]`, or `[start, end, part]` if the part
/// is not the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub struct Extent {
    /// Which part of the reply: 0 is its text, `n` the arguments of its `n`-th native tool call; the pieces of its
    /// reasoning follow.
    pub part: u32,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Extent {
    /// A range of the text of a reply.
    #[doc(hidden)]
    pub fn new(start: usize, end: usize) -> Self {
        Self { part: 0, start, end }
    }

    /// The bytes in the text of that part; empty if they are not on character boundaries of it.
    #[doc(hidden)]
    pub fn of<'t>(&self, part: &'t str) -> &'t str {
        part.slice(self.start..self.end)
    }
}

impl From<Span> for Extent {
    fn from(span: Span) -> Self {
        Self::new(span.start, span.end)
    }
}

impl From<Extent> for Span {
    fn from(extent: Extent) -> Self {
        Span::new(extent.start, extent.end)
    }
}

impl Serialize for Extent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_tuple(if self.part == 0 { 2 } else { 3 })?;
        list.serialize_element(&self.start)?;
        list.serialize_element(&self.end)?;
        if self.part > 0 {
            list.serialize_element(&self.part)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Extent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match *Vec::<usize>::deserialize(deserializer)?.as_slice() {
            [start, end] => Ok(Self::new(start, end)),
            [start, end, part] => {
                let part = u32::try_from(part).map_err(|_| D::Error::custom("the part of a span is too large"))?;
                Ok(Self { part, start, end })
            }
            _ => Err(D::Error::custom("a span is `[start, end]` or `[start, end, part]`")),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Extent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A range of bytes of one part of a reply: the first byte, the byte after the last, and the part \
                if it is not the text.",
            "type": "array",
            "minItems": 2,
            "maxItems": 3,
            "prefixItems": [{ "type": "integer" }, { "type": "integer" }, { "type": "integer" }],
            "items": { "type": "integer" },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_the_text_has_two_numbers_and_one_of_another_part_three() {
        for (extent, json) in [(Extent::new(3, 9), "[3,9]"), (Extent { part: 2, start: 0, end: 4 }, "[0,4,2]")] {
            assert_eq!(serde_json::to_string(&extent).unwrap(), json);
            assert_eq!(serde_json::from_str::<Extent>(json).unwrap(), extent);
        }
        for json in ["[1]", "[1,2,3,4]", "[1,2,4294967296]", "[1,-2]", "{}"] {
            assert!(serde_json::from_str::<Extent>(json).is_err(), "{json}");
        }
    }
}
