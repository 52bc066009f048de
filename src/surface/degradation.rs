//! The degradation table: which strategy answers which defect?
//!
//! In: `[degradation]` of a pack, a mode, an action or a block, as TOML.
//! Out: [`Degradation`].
//! Never: knows whether a strategy fits its defect.

use super::Guardrail;
use super::decode::{Decode, Decoder, OneOrMore, TomlNode, in_order};
use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::text::{Spanned, excerpt};

/// Defects and their strategies: the first strategy that applies acts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Degradation(pub Vec<(Spanned<Defect>, Vec<Spanned<Strategy>>)>);

impl Decode for Degradation {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let table = reading.table(node)?;
        let mut rows = Vec::with_capacity(table.len());
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            let at = reading.at(key.span());
            let Some(defect) = Defect::from_name(name) else {
                let message = format!("there is no defect `{}`", excerpt(name, 60));
                let fault = Diagnostic::new(Code::PACK_UNKNOWN_DEFECT, at, message);
                let known = Defect::ALL.iter().map(|defect| defect.name());
                reading.report(match reading.misplaced(name) {
                    Some(help) => fault.with_help(help),
                    None => fault.with_nearest(name, known),
                });
                continue;
            };
            let before = reading.diagnostics.len();
            reading.fitting = defect.applicable();
            let strategies = OneOrMore::<Spanned<Strategy>>::decode(value, reading);
            // If no strategy could be read, that has been reported: leave the row out.
            let strategies = strategies.filter(|read| !read.0.is_empty() || reading.diagnostics.len() == before);
            rows.extend(strategies.map(|strategies| (Spanned::new(defect, at), strategies.0)));
        }
        Some(Self(rows))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

impl Decode for Strategy {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let word = String::decode(node, reading)?;
        let found = Strategy::ALL.iter().copied().find(|one| one.name() == word);
        if found.is_none() {
            // Only what fits the defect helps.
            let fitting = if reading.is_in(Guardrail::KEYS) { Defect::Guardrail.applicable() } else { reading.fitting };
            let names: Vec<&str> = fitting.iter().map(|one| one.name()).collect();
            reading.no_word(node, "strategy", Code::PACK_UNKNOWN_STRATEGY, &names);
        }
        found
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::Degradation;
    use crate::diagnostic::{Defect, Remark, Strategy};
    use crate::surface::ORDER;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde_json::{Map, Value, json};
    use std::borrow::Cow;

    impl JsonSchema for Degradation {
        fn schema_name() -> Cow<'static, str> {
            "Degradation".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let rows: Map<String, Value> = Defect::ALL
                .iter()
                .map(|defect| {
                    let words: Vec<&str> = defect.applicable().iter().map(|strategy| strategy.name()).collect();
                    let row = json!({ "anyOf": [{ "enum": words }, { "type": "array", "items": { "enum": words } }] });
                    (defect.name().to_owned(), row)
                })
                .collect();
            json_schema!({
                "description": "Which strategy answers which defect; of several the first that applies.",
                "type": "object", "additionalProperties": false, "properties": rows,
                (ORDER): Defect::ALL.iter().map(|defect| defect.name()).collect::<Vec<_>>()
            })
        }
    }

    impl JsonSchema for Strategy {
        fn schema_name() -> Cow<'static, str> {
            "Strategy".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "enum": Strategy::ALL.iter().map(|strategy| strategy.name()).collect::<Vec<_>>() })
        }
    }

    impl JsonSchema for Remark {
        fn schema_name() -> Cow<'static, str> {
            "Remark".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "enum": Remark::ALL.iter().map(|remark| remark.name()).collect::<Vec<_>>() })
        }
    }
}
