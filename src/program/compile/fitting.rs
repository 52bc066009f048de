//! Fitting: could what an effect stores, or goes through, ever be what its schema says?
//!
//! In: `set`, `append` and `each` of effects as they were typed, and the schemas of the state and of parameters.
//! Out: `pack/bad-effect` where a list belongs and none is declared, at each constant that its schema refuses, and at each
//! template whose value is always of another type.
//! Never: guesses what a template gives: its type is known where it is a text, or takes a declared value as it is.

use super::{Compiler, Sight};
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{ENTRY, Template};
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
            items.into_iter().for_each(|(items, value)| self.check_value(value, items, sight));
        }
        if let Some(schema) = effect.set.as_ref().and_then(|path| declared(state, &path.value)) {
            effect.value.iter().for_each(|value| self.check_value(value, schema, sight));
        }
    }

    /// What a template gives is known where it is a text, or takes what is declared as it is.
    fn type_of<'t>(&'t self, text: &Spanned<String>, sight: &Sight<'t>) -> Vec<&'t str> {
        let Ok(template) = Template::parse(text) else { return Vec::new() };
        if template.is_text() {
            return vec!["string"];
        }
        let path = sight.leads(template.reads_at().path());
        let words: Vec<&str> = path.iter().flatten().map(String::as_str).collect();
        let schema = match words.as_slice() {
            ["state", name, inside @ ..] => self.surface.state.get(*name).map(|slot| (&slot.value, inside)),
            ["params", name, inside @ ..] => {
                sight.params.and_then(|params| params.get(*name)).map(|param| (&param.value, inside))
            }
            _ => None,
        };
        let schema = schema.and_then(|(schema, inside)| {
            inside.iter().try_fold(schema, |schema, name| match name.parse::<usize>().is_ok() || *name == ENTRY {
                true => schema.get("items"),
                false => schema.get("properties")?.get(name),
            })
        });
        schema.map(types).unwrap_or_default()
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

    /// What is no template says now what it will always be, and some templates of which type.
    fn check_value(&mut self, value: &Tree, schema: &Tree, sight: &Sight<'_>) {
        let is_template = |text: &str| ["{{", "{%", "{#"].iter().any(|open| text.contains(open));
        let given = match value {
            Tree::Text(text) if is_template(&text.value) => self.type_of(text, sight),
            Tree::Table(..) => vec!["object"],
            Tree::List(..) => vec!["array"],
            Tree::Text(_) | Tree::Constant(..) => Vec::new(),
        };
        let wanted = types(schema);
        if !given.is_empty() && !wanted.is_empty() && !given.iter().any(|given| fits(given, &wanted)) {
            let (given, wanted) = (given.join("` or `"), wanted.join("` or `"));
            let message = format!("this never fits the state: it is always of type `{given}`, not `{wanted}`");
            let help = match given.as_str() {
                "string" => {
                    "what is exactly one `{{ … }}` keeps its type; an effect whose value does not fit is left out"
                }
                _ => "an effect whose value does not fit is left out",
            };
            self.diagnostics.push(Diagnostic::new(Code::PACK_EFFECT, value.at(), message).with_help(help));
            return;
        }
        match value {
            Tree::Text(text) if is_template(&text.value) => {}
            Tree::Table(members, _) => {
                for (name, value) in members {
                    let schema = schema.get("properties").and_then(|properties| properties.get(&name.value));
                    schema.into_iter().for_each(|schema| self.check_value(value, schema, sight));
                }
            }
            Tree::List(items, _) => {
                if let Some(schema) = schema.get("items") {
                    items.iter().for_each(|value| self.check_value(value, schema, sight));
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

/// The types that a schema names; none where it does not say.
fn types(schema: &Tree) -> Vec<&str> {
    let names: Vec<&Tree> = match schema.get("type") {
        Some(Tree::List(names, _)) => names.iter().collect(),
        one => one.into_iter().collect(),
    };
    let words = names.into_iter().filter_map(|name| match name {
        Tree::Text(word) => Some(word.value.as_str()),
        _ => None,
    });
    words.collect()
}

/// Whether a value of one type may be of one of the others: of a number nobody knows whether it is whole.
fn fits(given: &str, wanted: &[&str]) -> bool {
    let is_number = |name: &str| matches!(name, "integer" | "number");
    wanted.iter().any(|wanted| *wanted == given || (is_number(wanted) && is_number(given)))
}

/// The schema at a dotted path of names.
fn declared<'t>(schemas: &'t Named<Tree>, path: &str) -> Option<&'t Tree> {
    let mut names = path.split('.');
    let schema = &schemas.get(names.next()?)?.value;
    names.try_fold(schema, |schema, name| schema.get("properties")?.get(name))
}
