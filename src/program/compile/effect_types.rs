//! Effect types: can the value or list of an effect ever be valid against its schema?
//!
//! In: `set`, `append`, `remove`, `record` and `each` of effects as typed, and the schemas of the state and of
//! parameters.
//! Out: `pack/bad-effect` for a path that does not exist, for a path that must be a list and is not, for constants and
//! tables that are not valid against their schema, for templates that always have another type, and for `unique` keys
//! that no entry has.
//! Never: guesses the value of a template: its type is known only if the template is a text, or copies a declared
//! value.

use super::{NameScope, PackCompiler, from_host};
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{ENTRY, Template};
use crate::pack::schemas::type_meant;
use crate::program::PathTemplate;
use crate::program::{Schema, misfit_at};
use crate::surface::{Effect, Named, Tree};
use crate::text::{Location, Spanned};

/// What happens to an effect whose value is not valid.
const LEFT_OUT: &str = "an effect whose value does not fit is left out";

/// The schemas that may apply at a place; none if anything is allowed there.
type Schemas<'t> = Option<Vec<&'t Tree>>;

impl PackCompiler<'_> {
    pub(super) fn check_fit(&mut self, effect: &Effect, scope: &NameScope<'_>) {
        let state = &self.surface.state;
        if let Some(each) = &effect.each {
            let schema = match each.value.trim().split_once('.') {
                Some(("state", path)) => declared(state, path),
                Some(("params", path)) => scope.params.and_then(|params| declared(params, path)),
                _ => None,
            };
            let fault = schema.and_then(|schema| no_list(each, schema));
            self.diagnostics.extend(fault);
        }
        for found in self.misfits(effect, scope) {
            // Report effects with the same fault only once: the schema may be what is wrong.
            self.report_once(found);
        }
        let found = mixed_up(effect);
        self.diagnostics.extend(found);
    }

    /// The faults in where an effect acts, and in its value.
    fn misfits(&self, effect: &Effect, scope: &NameScope<'_>) -> Vec<Diagnostic> {
        let (append, set) = (effect.append.as_ref(), effect.set.as_ref());
        if let Some(schema) = effect.schema.as_ref().filter(|_| effect.record.is_some()) {
            return self.misfits_of(effect.value.as_ref(), &[schema], "its schema", scope);
        }
        let Some(path) = append.or(set).or(effect.remove.as_ref()) else { return Vec::new() };
        let schemas = match self.schemas_at(path) {
            Ok(Some(schemas)) => schemas,
            Ok(None) => return Vec::new(),
            Err(fault) => return vec![*fault],
        };
        let schemas = match append {
            None => schemas,
            Some(path) => {
                let faults: Vec<Option<Diagnostic>> = schemas.iter().map(|schema| no_list(path, schema)).collect();
                if let Some(Some(fault)) = faults.iter().find(|_| faults.iter().all(Option::is_some)) {
                    return vec![fault.clone()];
                }
                // If one of the lists may contain anything, nothing is known about the value.
                let items: Schemas<'_> = schemas.iter().map(|schema| schema.get("items")).collect();
                items.unwrap_or_default()
            }
        };
        self.misfits_of(effect.value.as_ref(), &schemas, "the state", scope)
    }

    /// The faults of a value that must be valid against one of the schemas; if it is valid against none, those for the
    /// first.
    fn misfits_of(
        &self,
        value: Option<&Tree>,
        schemas: &[&Tree],
        whole: &str,
        scope: &NameScope<'_>,
    ) -> Vec<Diagnostic> {
        let Some(value) = value else { return Vec::new() };
        let mut first = None;
        for schema in schemas {
            let mut found = Vec::new();
            self.check_value(value, schema, whole, scope, &mut found);
            if found.is_empty() {
                return found;
            }
            first.get_or_insert(found);
        }
        first.unwrap_or_default()
    }

    /// The schemas at a path, or why the path does not exist. A segment given by a template may be any member.
    fn schemas_at(&self, path: &Spanned<String>) -> Result<Schemas<'_>, Box<Diagnostic>> {
        let Ok(template) = PathTemplate::parse(path) else { return Ok(None) };
        let mut parts = template.segments();
        let slot = parts.next().flatten().and_then(|name| self.surface.state.get(name));
        // A value that no effect can change is reported elsewhere.
        let own = slot.filter(|slot| !from_host(&slot.value) && slot.value.get("compute").is_none());
        let Some(slot) = own else { return Ok(None) };
        let (mut here, mut value_path) = (vec![&slot.value], template.head().next().unwrap_or_default().to_owned());
        for part in parts {
            let (mut inside, mut fault) = (Vec::new(), None);
            for schema in &here {
                match step(schema, part, &value_path, path) {
                    Ok(Some(schemas)) => inside.extend(schemas),
                    Ok(None) => return Ok(None),
                    Err(missing) => fault = fault.or(Some(missing)),
                }
            }
            match fault {
                Some(fault) if inside.is_empty() => return Err(fault),
                _ => here = inside,
            }
            value_path = format!("{value_path}.{}", part.unwrap_or("…"));
        }
        Ok(Some(here))
    }

    /// The types that a template may have; empty if unknown.
    fn type_of<'t>(&'t self, text: &Spanned<String>, scope: &NameScope<'t>) -> Vec<&'t str> {
        let Ok(template) = Template::parse(text) else { return Vec::new() };
        if template.is_text() {
            return vec!["string"];
        }
        let path = scope.resolved_path(template.reads_at().path());
        let words: Vec<&str> = path.iter().flatten().map(String::as_str).collect();
        let schema = match words.as_slice() {
            ["state", name, inside @ ..] => self.surface.state.get(*name).map(|slot| (&slot.value, inside)),
            ["params", name, inside @ ..] => {
                scope.params.and_then(|params| params.get(*name)).map(|param| (&param.value, inside))
            }
            _ => None,
        };
        let schema = schema.and_then(|(schema, inside)| {
            inside.iter().try_fold(schema, |schema, name| match name.parse::<usize>().is_ok() || *name == ENTRY {
                true => schema.get("items"),
                false => schema.property(name),
            })
        });
        schema.map(types).unwrap_or_default()
    }

    /// Checks what is known of a value: all of a constant, and the type of some templates.
    fn check_value(
        &self,
        value: &Tree,
        schema: &Tree,
        whole: &str,
        scope: &NameScope<'_>,
        found: &mut Vec<Diagnostic>,
    ) {
        if let Some(fault) = self.other_type(value, schema, whole, scope) {
            found.push(fault);
            return;
        }
        match value {
            Tree::Text(text) if is_template(&text.value) => {}
            Tree::Table(members, at) => {
                for (name, value) in members {
                    match properties(schema).into_iter().find(|(known, _)| *known == name.value) {
                        Some((_, schema)) => self.check_value(value, schema, whole, scope, found),
                        None if is_closed(schema) => {
                            let known = properties(schema).into_iter().map(|(known, _)| known);
                            let fault = never(whole, name.at, &format!("it has no `{}`", name.value));
                            found.push(fault.with_nearest(&name.value, known));
                        }
                        None => {}
                    }
                }
                // A misspelt member is probably the one that is missing: report it only once.
                let lacks = |name: &&str| !members.iter().any(|(known, _)| known.value == **name);
                if let (true, Some(name)) = (found.is_empty(), required(schema).into_iter().find(lacks)) {
                    let fault = never(whole, *at, &format!("`{name}` is required"));
                    found.push(fault.with_help(format!("add `{name} = …`: {LEFT_OUT}")));
                }
            }
            Tree::List(items, _) => {
                if let Some(schema) = schema.get("items") {
                    items.iter().for_each(|value| self.check_value(value, schema, whole, scope, found));
                }
            }
            Tree::Text(_) | Tree::Constant(..) => found.extend(misfit_constant(value, schema, whole)),
        }
    }

    /// The fault of a value whose type never matches its schema.
    fn other_type(&self, value: &Tree, schema: &Tree, whole: &str, scope: &NameScope<'_>) -> Option<Diagnostic> {
        let given = match value {
            Tree::Text(text) if is_template(&text.value) => self.type_of(text, scope),
            Tree::Table(..) => vec!["object"],
            Tree::List(..) => vec!["array"],
            Tree::Text(_) | Tree::Constant(..) => Vec::new(),
        };
        let wanted = types(schema);
        if given.is_empty() || wanted.is_empty() || given.iter().any(|given| is_allowed(given, &wanted)) {
            return None;
        }
        let (given, wanted) = (given.join("` or `"), wanted.join("` or `"));
        let fault = never(whole, value.at(), &format!("it is always of type `{given}`, not `{wanted}`"));
        Some(fault.with_help(match given.as_str() {
            "string" => format!("what is exactly one `{{{{ … }}}}` keeps its type; {LEFT_OUT}"),
            _ => LEFT_OUT.to_owned(),
        }))
    }
}

/// The fault of a constant that is not valid against its schema.
fn misfit_constant(value: &Tree, schema: &Tree, whole: &str) -> Option<Diagnostic> {
    let schema = Schema::of_value(schema);
    // A `$ref` points out of this part of the schema, so the part cannot be compiled alone.
    if schema.json().get("$ref").is_some() {
        return None;
    }
    let constant = value.to_json();
    let error = schema.first_fault(&constant)?;
    Some(never(whole, value.at(), &misfit_at("", &error)).with_help(LEFT_OUT))
}

fn never(whole: &str, at: Location, what: &str) -> Diagnostic {
    Diagnostic::new(Code::PACK_EFFECT, at, format!("this never fits {whole}: {what}"))
}

/// Whether a text is a template.
fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|open| text.contains(open))
}

/// The schemas for one segment of a path, or why there are none; `value_path` is the path so far.
fn step<'t>(
    schema: &'t Tree,
    part: Option<&str>,
    value_path: &str,
    path: &Spanned<String>,
) -> Result<Schemas<'t>, Box<Diagnostic>> {
    let Some(kind) = schema.text("type") else { return Ok(None) };
    let missing = |why: String| {
        let fault = Diagnostic::new(Code::PACK_EFFECT, path.at, why);
        Err(Box::new(fault.with_place(kind.at, "declared here")))
    };
    let others = schema.get("additionalProperties").filter(|others| matches!(others, Tree::Table(..)));
    // An unknown type has been reported already.
    let Some(type_name) = type_meant(&kind.value) else { return Ok(None) };
    match (type_name, part) {
        ("object", Some(name)) => match properties(schema).into_iter().find(|(known, _)| *known == name) {
            Some((_, inside)) => Ok(Some(vec![inside])),
            None if is_closed(schema) => {
                missing(format!("`{value_path}` has no `{name}`")).map_err(|fault: Box<Diagnostic>| {
                    Box::new(fault.with_nearest(name, properties(schema).into_iter().map(|(known, _)| known)))
                })
            }
            None => Ok(others.map(|others| vec![others])),
        },
        ("object", None) if others.is_some() || is_closed(schema) => {
            Ok(Some(properties(schema).into_iter().map(|(_, inside)| inside).chain(others).collect()))
        }
        ("object", None) => Ok(None),
        ("array", Some(name)) if name.parse::<usize>().is_err() => {
            missing(format!("`{value_path}` is a list: `{name}` is no place in it"))
        }
        ("array", _) => Ok(schema.get("items").map(|items| vec![items])),
        (other, _) => missing(format!("`{value_path}` is declared as `{other}`: it has no members")),
    }
}

/// The members that a schema declares.
fn properties(schema: &Tree) -> Vec<(&str, &Tree)> {
    match schema.get("properties") {
        Some(Tree::Table(members, _)) => members.iter().map(|(name, inside)| (name.value.as_str(), inside)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a schema allows only the members that it declares.
fn is_closed(schema: &Tree) -> bool {
    let closed = matches!(schema.get("additionalProperties"), Some(Tree::Constant(others, _)) if others.as_bool() == Some(false));
    closed && schema.get("patternProperties").is_none()
}

/// The members that a schema requires, by a list or one by one.
fn required(schema: &Tree) -> Vec<&str> {
    let listed = match schema.get("required") {
        Some(Tree::List(names, _)) => names.as_slice(),
        _ => &[],
    };
    let listed = listed.iter().filter_map(|name| match name {
        Tree::Text(name) => Some(name.value.as_str()),
        _ => None,
    });
    let says =
        |inside: &Tree| matches!(inside.get("required"), Some(Tree::Constant(flag, _)) if flag.as_bool() == Some(true));
    let each = properties(schema).into_iter().filter(|(_, inside)| says(inside)).map(|(name, _)| name);
    listed.chain(each).collect()
}

fn no_list(path: &Spanned<String>, schema: &Tree) -> Option<Diagnostic> {
    let kind = schema.text("type")?;
    let message = format!("`{}` is declared as `{}`: it is not a list", path.value.trim(), kind.value);
    let fault = Diagnostic::new(Code::PACK_EFFECT, path.at, message).with_place(kind.at, "declared here");
    let fault = fault.with_help("`set` puts a value there; only a list is added to");
    type_meant(&kind.value).is_some_and(|name| name != "array").then_some(fault)
}

/// Reports keys of `unique` that no entry has: all entries would then count as equal.
fn mixed_up(effect: &Effect) -> Vec<Diagnostic> {
    let Some(Tree::Table(members, _)) = effect.append.as_ref().and(effect.value.as_ref()) else { return Vec::new() };
    let known = || members.iter().map(|(name, _)| name.value.as_str());
    let lacking = effect.unique.iter().filter(|key| !known().any(|name| name == key.value));
    let fault = |key: &Spanned<String>| {
        let message = format!("what is appended has no `{}`, which should distinguish entries", key.value);
        Diagnostic::new(Code::PACK_EFFECT, key.at, message).with_nearest(&key.value, known())
    };
    lacking.map(fault).collect()
}

/// The types that a schema names; empty if it names none.
fn types(schema: &Tree) -> Vec<&str> {
    let names: Vec<&Tree> = match schema.get("type") {
        Some(Tree::List(names, _)) => names.iter().collect(),
        one => one.into_iter().collect(),
    };
    let words = names.into_iter().map(|name| match name {
        Tree::Text(word) => type_meant(&word.value),
        _ => None,
    });
    words.collect::<Option<_>>().unwrap_or_default()
}

/// Whether a value of type `given` may have one of the `wanted` types. A number may always be an integer.
fn is_allowed(given: &str, wanted: &[&str]) -> bool {
    let is_number = |name: &str| matches!(name, "integer" | "number");
    wanted.iter().any(|wanted| *wanted == given || (is_number(wanted) && is_number(given)))
}

/// The schema at a dotted path of names.
fn declared<'t>(schemas: &'t Named<Tree>, path: &str) -> Option<&'t Tree> {
    let mut names = path.split('.');
    let schema = &schemas.get(names.next()?)?.value;
    names.try_fold(schema, Tree::property)
}
