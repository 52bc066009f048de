//! Parameters: which names can be keys in the payload of a call?
//!
//! In: the schemas of all actions.
//! Out: [`ParamNames`]: whether any of them declares a name, at any depth.
//! Never: knows which action a payload belongs to: where a string ends must not depend on it.

use super::types::spellings_of;
use crate::value::Value;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// The names that the schemas of a pack declare. They are collected when a payload with faults is first read.
#[derive(Debug, Default)]
pub(crate) struct ParamNames {
    schemas: Vec<Value>,
    names: OnceLock<HashSet<Arc<str>>>,
}

impl ParamNames {
    pub(super) fn new(schemas: impl Iterator<Item = Value>) -> Self {
        Self { schemas: schemas.collect(), names: OnceLock::new() }
    }

    /// Whether a schema declares a member of this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.get_or_init(|| self.collect()).contains(name)
    }

    fn collect(&self) -> HashSet<Arc<str>> {
        let mut names = HashSet::new();
        let mut open: Vec<&Value> = self.schemas.iter().collect();
        while let Some(schema) = open.pop() {
            match schema {
                Value::Object(parts) => {
                    let properties = parts.get("properties").and_then(Value::as_object);
                    let spelled = |(_, schema)| spellings_of(schema);
                    let members = || properties.into_iter().flatten();
                    names.extend(members().map(|(name, _)| name).chain(members().flat_map(spelled)).map(Arc::from));
                    open.extend(parts.values());
                }
                Value::Array(parts) => open.extend(parts.iter()),
                _ => {}
            }
        }
        names
    }
}
