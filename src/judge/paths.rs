//! Paths: which path below the root does a parameter mean?
//!
//! In: the parameters of a call, and those that its action declares to be paths.
//! Out: parameters whose paths have no root and no backslash; a remark for each path that was written differently.
//! Never: decides whether a path is safe: the schema does.

use super::{Judgement, typing::PayloadPath};
use crate::diagnostic::{Remark, message, quote};
use crate::program::{Action, Program, Types};
use crate::text::Span;
use crate::value::Value;
use std::sync::Arc;

/// A path that is read as another one: the pointer to it, the path as written, and the path as read.
type Reread = (Vec<String>, String, String);

impl Judgement<'_> {
    /// Replaces paths in parameters by paths below the root, so that permits and effects see the same path.
    pub(super) fn read_paths(&mut self, call: usize, at: &dyn Fn(&[String]) -> Span, action: &Action) {
        let types = action.schema.types();
        if !types.has_paths() {
            return;
        }
        let Some(mut params) = self.calls.get(call).map(|call| call.params.clone()) else { return };
        let mut reread = Vec::new();
        read_at(&mut params, types, None, self.program, &mut reread);
        self.with_call(call, |call| call.params = params);
        for (pointer, written, path) in reread {
            // `./a` is another spelling of `a`, so it needs no remark.
            if written.trim_start_matches("./") != path {
                let message = message!("`{}` is read as `{}`", quote(written, 60), quote(path, 60));
                self.remark(Remark::FieldForm, at(&pointer), message, Some(action.at));
            }
        }
    }
}

fn read_at(
    value: &mut Value,
    types: &Types,
    before: Option<&PayloadPath<'_>>,
    program: &Program,
    reread: &mut Vec<Reread>,
) {
    if !types.has_paths() {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let pointer = PayloadPath { step: &name, before };
                read_at(member, types.of_member(name), Some(&pointer), program, reread);
            }
        }
        Value::Array(items) => {
            for (index, item) in Arc::make_mut(items).iter_mut().enumerate() {
                read_at(item, types.items(), Some(&PayloadPath { step: &index, before }), program, reread);
            }
        }
        Value::String(text) if types.path => {
            let path = program.below_root(text).into_owned();
            if path != **text {
                reread.push((before.map(PayloadPath::path).unwrap_or_default(), text.to_string(), path.clone()));
                *value = path.into();
            }
        }
        _ => {}
    }
}
