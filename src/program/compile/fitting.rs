//! Fitting: could what an effect stores, or goes through, ever be what its schema says?
//!
//! In: `set`, `append` and `each` of effects as they were typed, and the schemas of the state and of parameters.
//! Out: `pack/bad-effect` where a list belongs and none is declared, and at each constant that its schema refuses.
//! Never: guesses what a template gives.

use super::{Compiler, Sight};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Schema, misfit_at};
use crate::surface::{Effect, Named, Tree};
use crate::text::Spanned;
use crate::value::Value;

impl Compiler<'_> {
    pub(super) fn check_fit(&mut self, effect: &Effect, sight: &Sight<'_>) {
        let state = &self.surface.state;
        if let Some(each) = &effect.each {
            let schema = match each.value.trim().split_once('.') {
                Some(("state", path)) => declared(state, path),
                Some(("params", path)) => sight.params.and_then(|params| declared(params, path)),
                _ => None,
            };
            schema.into_iter().for_each(|schema| self.check_list(each, schema));
        }
        for path in [&effect.set, &effect.append, &effect.remove].into_iter().flatten() {
            let fault = self.lost_way(path);
            self.diagnostics.extend(fault);
        }
        if let Some((path, schema)) =
            effect.append.as_ref().and_then(|path| Some((path, declared(state, &path.value)?)))
        {
            self.check_list(path, schema);
            let items = schema.get("items").zip(effect.value.as_ref());
            items.into_iter().for_each(|(items, value)| self.check_constants(value, items));
        }
        if let Some(schema) = effect.set.as_ref().and_then(|path| declared(state, &path.value)) {
            effect.value.iter().for_each(|value| self.check_constants(value, schema));
        }
    }

    /// What is wrong with a path that leads into a value which has no such members.
    fn lost_way(&self, path: &Spanned<String>) -> Option<Diagnostic> {
        let mut names = path.value.split('.').take_while(|name| !name.contains("{{"));
        let mut way = names.next()?.to_owned();
        let mut schema = &self.surface.state.get(&way)?.value;
        for name in names {
            let Tree::Text(kind) = schema.get("type")? else { return None };
            let why = match kind.value.as_str() {
                "object" => None,
                "array" if name.parse::<usize>().is_ok() => None,
                "array" => Some(format!("`{way}` is a list: `{name}` is no place in it")),
                other => Some(format!("`{way}` is declared as `{other}`: it has no members")),
            };
            if let Some(why) = why {
                let diagnostic = Diagnostic::new(Code::PACK_EFFECT, path.at, why);
                return Some(diagnostic.with_place(kind.at, "declared here"));
            }
            let inside = if kind.value == "array" { schema.get("items") } else { schema.get("properties")?.get(name) };
            schema = inside?;
            way = format!("{way}.{name}");
        }
        None
    }

    fn check_list(&mut self, path: &Spanned<String>, schema: &Tree) {
        let Some(Tree::Text(kind)) = schema.get("type") else { return };
        if kind.value != "array" {
            let message = format!("`{}` is declared as `{}`: it is no list", path.value.trim(), kind.value);
            let diagnostic = Diagnostic::new(Code::PACK_EFFECT, path.at, message);
            self.diagnostics.push(diagnostic.with_place(kind.at, "declared here"));
        }
    }

    /// What is no template says now what it will always be.
    fn check_constants(&mut self, value: &Tree, schema: &Tree) {
        match value {
            Tree::Text(text) if ["{{", "{%", "{#"].iter().any(|open| text.value.contains(open)) => {}
            Tree::Table(members, _) => {
                for (name, value) in members {
                    let schema = schema.get("properties").and_then(|properties| properties.get(&name.value));
                    schema.into_iter().for_each(|schema| self.check_constants(value, schema));
                }
            }
            Tree::List(items, _) => {
                if let Some(schema) = schema.get("items") {
                    items.iter().for_each(|value| self.check_constants(value, schema));
                }
            }
            Tree::Text(_) | Tree::Constant(..) => {
                // What a reference leads to stands elsewhere.
                let schema = Schema::of_value(schema);
                let Some(validator) = schema.validator().ok().filter(|_| schema.json().get("$ref").is_none()) else {
                    return;
                };
                let constant = Value::from(value.to_json());
                if let Some(error) = validator.iter_errors(&constant).next() {
                    let message = format!("this never fits the state: {}", misfit_at("", &error));
                    let help = "an effect whose value does not fit is left out";
                    self.diagnostics.push(Diagnostic::new(Code::PACK_EFFECT, value.at(), message).with_help(help));
                }
            }
        }
    }
}

/// The schema at a dotted path of names.
fn declared<'t>(schemas: &'t Named<Tree>, path: &str) -> Option<&'t Tree> {
    let mut names = path.split('.');
    let schema = &schemas.get(names.next()?)?.value;
    names.try_fold(schema, |schema, name| schema.get("properties")?.get(name))
}
