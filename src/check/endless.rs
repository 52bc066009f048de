//! Endless schemas: can a value that satisfies this schema be finite?
//!
//! In: a document of schemas, and one of them.
//! Out: whether it requires itself again through references, so that only an infinite value would be valid.
//! Never: reports a reference that is optional or has an alternative; follows references out of the document.

use crate::value::Value;
use std::collections::BTreeSet;

/// A document, and its references that certainly allow a finite value.
pub(super) struct SureEnds<'s> {
    document: &'s Value,
    sure: BTreeSet<&'s str>,
}

impl<'s> SureEnds<'s> {
    pub(super) fn of(document: &'s Value) -> Self {
        let mut left: BTreeSet<&str> = BTreeSet::new();
        references(document, &mut left);
        let mut ends = Self { document, sure: BTreeSet::new() };
        // Each round uses only what earlier rounds proved, so that nothing is proved by itself.
        loop {
            let proved: Vec<&str> = left.iter().copied().filter(|one| ends.target(one)).collect();
            if proved.is_empty() {
                return ends;
            }
            left.retain(|one| !proved.contains(one));
            ends.sure.extend(proved);
        }
    }

    fn target(&self, reference: &str) -> bool {
        let target = reference.strip_prefix('#').and_then(|pointer| self.document.pointer(pointer));
        target.is_none_or(|schema| self.include(schema))
    }

    /// Whether a finite value may satisfy this schema.
    pub(super) fn include(&self, schema: &Value) -> bool {
        let list = |key: &str| schema.get(key).and_then(Value::as_array).unwrap_or_default();
        let refers = schema.get("$ref").and_then(Value::as_str);
        let choice = |key: &str| {
            let among = list(key);
            among.is_empty() || among.iter().any(|one| self.include(one))
        };
        let types = match schema.get("type") {
            Some(Value::Array(types)) if types.len() == 1 => types.first(),
            other => other,
        };
        let members = || {
            let properties = schema.get("properties");
            let ends = |name: &str| properties.and_then(|all| all.get(name)).is_none_or(|one| self.include(one));
            list("required").iter().filter_map(Value::as_str).all(ends)
        };
        let items = || {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
            let first = list("prefixItems");
            let rest = (least as usize > first.len()).then(|| schema.get("items")).flatten();
            first.iter().take(least as usize).chain(rest).all(|one| self.include(one))
        };
        // A value that the schema lists is finite.
        let written = ["const", "enum"].iter().any(|key| schema.get(key).is_some());
        written
            || (refers.is_none_or(|reference| self.sure.contains(reference))
                && list("allOf").iter().all(|one| self.include(one))
                && choice("anyOf")
                && choice("oneOf")
                && match types.and_then(Value::as_str) {
                    Some("object") => members(),
                    Some("array") => items(),
                    _ => true,
                })
    }
}

/// Every reference in a document.
fn references<'s>(value: &'s Value, found: &mut BTreeSet<&'s str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|one| references(one, found));
        }
        Value::Array(items) => items.iter().for_each(|one| references(one, found)),
        _ => {}
    }
}
