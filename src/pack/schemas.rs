//! Schemas: does each schema consist of known keywords, and does it refer to nothing outside the pack?
//!
//! In: the schemas of parameters, results, state, members and records.
//! Out: `pack/remote-ref` for a reference to another document, `pack/bad-schema` for every word that JSON Schema does
//! not have, and for a reference that refers back to itself.
//! Never: compiles a whole schema, so a fault that concerns several parts of one is not found here.

use crate::diagnostic::{Code, Diagnostic, bad_pattern_place, bad_pattern_words, meant, nearest};
use crate::surface::{Action, Named, Surface, Tree};
use crate::text::{Location, Spanned, excerpt, pointer_steps};
use crate::value::validator;
use crate::value::{Value, value};
use std::collections::HashSet;

/// The deepest nesting of a schema; deeper ones are refused.
const MAX_SCHEMA_DEPTH: usize = 64;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mut whole = HashSet::new();
    for action in surface.actions.values() {
        let params = &action.value.params;
        for (name, param) in params {
            if !matches!(param.value, Tree::Table(..)) && Action::KEYS.contains(&name.as_str()) {
                let message = format!("`{name}` is among the parameters, but is not a schema");
                let help = format!("`{name}` is a key of the action: move it up there, before its `params`");
                diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, param.at, message).with_help(help));
                whole.insert(param.at);
            }
        }
        let message = "`params` is not a schema itself: each of its members is a parameter with a schema";
        let is_of_schema = |(name, param): &(&String, &Spanned<Tree>)| match &param.value {
            Tree::Text(kind) => *name == "type" && kind.value == "object",
            Tree::List(..) => *name == "required",
            _ => false,
        };
        let mut of_schema = params.iter().filter(is_of_schema).peekable();
        if let (Some((name, param)), None) = (of_schema.peek(), action.value.listed()) {
            let help = match name.as_str() {
                "type" => "take the `type` out: `params` is an object anyhow",
                _ => "say `required = true` in the schema of each parameter that must be there",
            };
            diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, param.value.at(), message).with_help(help));
            whole.extend(of_schema.map(|(_, param)| param.at));
        }
        if let Some(listed) = action.value.listed() {
            let help = "move the members of `properties` there, with `required = true` on each that must be there";
            diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, listed.at, message).with_help(help));
            whole.extend(params.values().map(|param| param.at));
        }
    }
    each(surface, |at, schema, owner| {
        if !whole.contains(&at) {
            examine(schema, SchemaPart { owner, depth: 0, named: true }, diagnostics);
        }
    });
    for action in surface.actions.values() {
        SchemaRoot::Params(&action.value.params).endless(diagnostics);
        action.value.returns.iter().for_each(|schema| SchemaRoot::One(schema).endless(diagnostics));
    }
    surface.state.values().for_each(|slot| SchemaRoot::One(&slot.value).endless(diagnostics));
    surface
        .effects()
        .iter()
        .flat_map(|effect| &effect.schema)
        .for_each(|one| SchemaRoot::One(one).endless(diagnostics));
}

/// Why a schema of a host cannot be used: it nests too deep, refers to another document, or has a reference that leads
/// back to itself. None if it may be compiled.
pub(crate) fn unusable(schema: &Value) -> Option<String> {
    let mut rest = vec![(schema, 0)];
    let mut refers = false;
    while let Some((part, depth)) = rest.pop() {
        if depth > MAX_SCHEMA_DEPTH {
            return Some(format!("it nests more than {MAX_SCHEMA_DEPTH} levels deep"));
        }
        match part {
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                refers |= members.get("$ref").is_some();
                let elsewhere = members.get("$ref").and_then(Value::as_str).filter(|target| !target.starts_with('#'));
                if let Some(target) = elsewhere {
                    return Some(format!("it refers to another document, `{}`", excerpt(target, 60)));
                }
                rest.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    if !refers {
        return None;
    }
    let mut found = Vec::new();
    let tree = Tree::of_value(schema, Location::response(Default::default()));
    SchemaRoot::One(&tree).endless(&mut found);
    found.pop().map(|found| found.message.to_string())
}

/// A document of schemas: a single one, or the parameters of an action as properties of an object.
enum SchemaRoot<'t> {
    One(&'t Tree),
    Params(&'t Named<Tree>),
}

impl<'t> SchemaRoot<'t> {
    /// Its outermost schemas.
    fn roots(&self) -> Vec<&'t Tree> {
        match self {
            SchemaRoot::One(tree) => vec![*tree],
            SchemaRoot::Params(params) => params.values().map(|param| &param.value).collect(),
        }
    }

    /// The part of the document that a reference points to.
    fn find(&self, reference: &str) -> Option<&'t Tree> {
        let mut parts = pointer_steps(reference.strip_prefix('#')?);
        let mut here = match self {
            SchemaRoot::One(tree) => *tree,
            SchemaRoot::Params(params) => {
                parts.next().filter(|part| part == "properties")?;
                &params.get(&*parts.next()?)?.value
            }
        };
        for part in parts {
            here = match here {
                Tree::List(items, _) => items.get(part.parse::<usize>().ok()?)?,
                other => other.get(&part)?,
            };
        }
        Some(here)
    }

    /// Reports the first reference that refers back to the schema that contains it.
    fn endless(&self, diagnostics: &mut Vec<Diagnostic>) {
        let (mut left, mut known, mut reported) = (self.roots(), HashSet::new(), HashSet::new());
        while let Some(tree) = left.pop() {
            match tree {
                Tree::Table(members, _) => {
                    if tree.get("$ref").is_some()
                        && let Some(at) = self
                            .recurses(tree, tree.at(), &mut Vec::new(), &mut known)
                            .filter(|at| reported.insert(*at))
                    {
                        let message =
                            "this reference goes back to the schema that it is part of, so it requires nothing";
                        let help = "say what the value is; what refers to itself does so in `properties` or `items`";
                        diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, at, message).with_help(help));
                        return;
                    }
                    const VALUES: [&str; 5] = ["default", "example", "examples", "enum", "const"];
                    let schemas = members.iter().filter(|(key, _)| !VALUES.contains(&key.value.as_str()));
                    left.extend(schemas.map(|(_, value)| value));
                }
                Tree::List(items, _) => left.extend(items),
                Tree::Text(_) | Tree::Constant(..) => {}
            }
        }
    }

    /// The place of the reference by which a schema refers to itself for the same value. `pointer` contains the schemas
    /// passed so far, and `by` is the place of the last reference.
    fn recurses(
        &self,
        schema: &'t Tree,
        by: Location,
        pointer: &mut Vec<&'t Tree>,
        known: &mut HashSet<*const Tree>,
    ) -> Option<Location> {
        let Tree::Table(members, _) = schema else { return None };
        if pointer.iter().any(|one| std::ptr::eq(*one, schema)) {
            return Some(by);
        }
        if pointer.len() > MAX_SCHEMA_DEPTH || !known.insert(std::ptr::from_ref(schema)) {
            return None;
        }
        pointer.push(schema);
        let found = members.iter().find_map(|(key, value)| match (key.value.as_str(), value) {
            ("$ref", Tree::Text(target)) => self.recurses(self.find(&target.value)?, target.at, pointer, known),
            ("allOf" | "anyOf" | "oneOf", Tree::List(schemas, _)) => {
                schemas.iter().find_map(|one| self.recurses(one, by, pointer, known))
            }
            ("not" | "if" | "then" | "else", one) => self.recurses(one, by, pointer, known),
            _ => None,
        });
        pointer.pop();
        found
    }
}

/// The places of declarations whose schema has an unknown word: that these cannot be compiled need not be reported
/// again.
pub(crate) fn misspelt(surface: &Surface) -> HashSet<Location> {
    let mut found = HashSet::new();
    each(surface, |at, schema, owner| {
        let mut faults = Vec::new();
        examine(schema, SchemaPart { owner, depth: 0, named: true }, &mut faults);
        found.extend(faults.first().map(|_| at));
    });
    found
}

/// Whose schema it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaOwner {
    /// A parameter, which an answer contains.
    Param,
    /// The value of a block, which an answer contains, too.
    Block,
    /// A value that the pack or the host sets.
    Value,
}

/// A part of a schema: its depth, and whether it is the schema of a named member, which may be absent.
#[derive(Debug, Clone, Copy)]
struct SchemaPart {
    owner: SchemaOwner,
    depth: usize,
    named: bool,
}

impl SchemaPart {
    fn inner(self, named: bool) -> Self {
        Self { depth: self.depth + 1, named, ..self }
    }
}

/// Calls `then` for every schema, with the place of the parameter, action, value, block or effect that it belongs to.
fn each(surface: &Surface, mut then: impl FnMut(Location, &Tree, SchemaOwner)) {
    for action in surface.actions.values() {
        action.value.params.values().for_each(|param| then(param.at, &param.value, SchemaOwner::Param));
        action.value.returns.iter().for_each(|schema| then(action.at, schema, SchemaOwner::Value));
    }
    for effect in surface.effects() {
        effect.schema.iter().for_each(|schema| then(effect.at, schema, SchemaOwner::Value));
    }
    surface.state.values().for_each(|slot| then(slot.at, &slot.value, SchemaOwner::Value));
    for (_, block) in surface.blocks() {
        block.value.schema.iter().for_each(|schema| then(block.at, schema, SchemaOwner::Block));
    }
}

/// The value that a keyword takes.
enum KeywordValue {
    Schema,
    /// A list of schemas.
    Schemas,
    /// A table of schemas.
    Members,
    Types,
    /// Whether the value is required, or which of its members are.
    Required,
    Count,
    Number,
    Text,
    /// One of [`FORMATS`].
    Format,
    Pattern,
    /// A reference to a schema of this document.
    Reference,
    /// Whether the text of a parameter is used as written.
    Verbatim,
    /// Other spellings of the name of a member.
    Names,
    /// A list of values, each perhaps with other spellings.
    Values,
    /// A value that the parser of schemas or a validator checks.
    Anything,
}

const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "null"];

/// The type that a word names or was probably meant to name; none if there is no such type, which has been reported.
pub(crate) fn type_meant(word: &str) -> Option<&'static str> {
    nearest(word, TYPES.iter().copied())
}

/// The formats that a validator checks, each with an example.
pub(crate) const FORMATS: &[(&str, &str)] = &[
    ("date", "2030-01-31"),
    ("time", "09:30:00Z"),
    ("date-time", "2030-01-31T09:30:00Z"),
    ("duration", "P1DT2H"),
    ("email", "someone@example.org"),
    ("hostname", "example.org"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.org/"),
    ("uri-reference", "/page"),
    ("uri-template", "https://example.org/{page}"),
    ("iri", "https://example.org/"),
    ("iri-reference", "/page"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("json-pointer", "/member"),
    ("relative-json-pointer", "0/member"),
    ("regex", "[a-z]+"),
    ("relative-path", "notes/today.md"),
];

/// The keywords of JSON Schema (draft 2020-12), and our own.
#[rustfmt::skip]
const KEYWORDS: &[(&[&str], KeywordValue)] = &[
    (&["items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "not",
       "if", "then", "else", "contentSchema"], KeywordValue::Schema),
    (&["allOf", "anyOf", "oneOf", "prefixItems"], KeywordValue::Schemas),
    (&["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"], KeywordValue::Members),
    (&["type"], KeywordValue::Types),
    (&["minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties",
       "maxProperties"], KeywordValue::Count),
    (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], KeywordValue::Number),
    (&["format"], KeywordValue::Format),
    (&["pattern"], KeywordValue::Pattern),
    (&["description", "about", "title", "contentEncoding", "contentMediaType", "$comment", "$id",
       "$anchor", "$dynamicAnchor"], KeywordValue::Text),
    (&["$ref", "$dynamicRef"], KeywordValue::Reference),
    (&["required"], KeywordValue::Required),
    (&["verbatim"], KeywordValue::Verbatim),
    (&["names"], KeywordValue::Names),
    (&["enum"], KeywordValue::Values),
    (&["default", "example", "examples", "const", "dependentRequired", "uniqueItems", "deprecated",
       "readOnly", "writeOnly", "$schema", "$vocabulary", "compute", "from"], KeywordValue::Anything),
];

/// Whether a schema of a pack may have this keyword.
#[doc(hidden)]
#[must_use]
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|(words, _)| words.contains(&word))
}

/// Whether a `format` is checked.
#[doc(hidden)]
#[must_use]
pub fn is_format(word: &str) -> bool {
    FORMATS.iter().any(|(format, _)| *format == word)
}

/// Reports the words of a schema that JSON Schema does not have.
fn examine(schema: &Tree, part: SchemaPart, diagnostics: &mut Vec<Diagnostic>) {
    if part.depth > MAX_SCHEMA_DEPTH {
        let message = format!("a schema may be nested {MAX_SCHEMA_DEPTH} deep at the most");
        diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, schema.at(), message));
        return;
    }
    let members = match schema {
        Tree::Table(members, _) => members,
        // `true` allows every value, and `false` none.
        Tree::Constant(Value::Bool(_), _) if part.depth > 0 => return,
        _ => {
            let fault = Diagnostic::new(Code::PACK_SCHEMA, schema.at(), "a JSON Schema is a table");
            diagnostics.push(fault.with_help(schema_instead(schema)));
            return;
        }
    };
    for (key, value) in members.iter().filter(|(key, _)| !key.value.starts_with("x-")) {
        match KEYWORDS.iter().find(|(words, _)| words.contains(&key.value.as_str())) {
            Some((_, KeywordValue::Required)) if !part.named && matches!(value, Tree::Constant(Value::Bool(_), _)) => {
                let message = "`required` has no effect here: only a named member can be missing";
                let help = "put it into the schema of a parameter or of a member of `properties`, or name the members in \
                            a list: `required = [\"NAME\"]`";
                let finding = Diagnostic::new(Code::PACK_SCHEMA, key.at, message).with_help(help);
                diagnostics.push(finding.into_warning());
            }
            Some((_, takes)) => keyword(&key.value, takes, value, part, diagnostics),
            None => {
                let message = format!("`{}` is not a keyword of JSON Schema", excerpt(&key.value, 60));
                let words = KEYWORDS.iter().flat_map(|(words, _)| words.iter().copied());
                let help = nearest(&key.value, words).map_or_else(
                    || {
                        "a keyword of your own starts with `x-`; the members of an object belong in `properties`"
                            .to_owned()
                    },
                    |word| format!("did you mean `{word}`?"),
                );
                diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, key.at, message).with_help(help));
            }
        }
    }
}

/// What to write instead of something that is not a table.
fn schema_instead(found: &Tree) -> String {
    let first = |kind: &str, value: &dyn std::fmt::Display| {
        format!("for a value that starts as {value} say `{{ type = \"{kind}\", default = {value} }}`")
    };
    match found {
        Tree::List(items, _) if items.is_empty() => first("array", &"[]"),
        Tree::List(..) => {
            "`required = true` belongs in the schema of each value, and so do its other keywords".to_owned()
        }
        Tree::Constant(Value::Bool(truth), _) => first("boolean", truth),
        Tree::Constant(Value::Number(number), _) if number.is_f64() => first("number", number),
        Tree::Constant(Value::Number(number), _) => first("integer", number),
        Tree::Text(word) if TYPES.contains(&word.value.as_str()) => {
            format!("say `{{ type = \"{}\" }}`", word.value)
        }
        _ => "for a text say `{ type = \"string\" }`".to_owned(),
    }
}

fn keyword(name: &str, takes: &KeywordValue, value: &Tree, part: SchemaPart, diagnostics: &mut Vec<Diagnostic>) {
    let is_list =
        |names: &Tree| matches!(names, Tree::List(all, _) if all.iter().all(|name| matches!(name, Tree::Text(_))));
    let wanted = match (takes, value) {
        (KeywordValue::Values, Tree::Text(word)) => {
            let fault = Diagnostic::new(Code::PACK_SCHEMA, word.at, "`enum` of a JSON Schema takes a list of values");
            let help = format!("put it in brackets: `[\"{}\"]`", excerpt(&word.value, 40));
            return diagnostics.push(fault.with_help(help));
        }
        (KeywordValue::Values, Tree::List(values, _)) => {
            let spelled = values.iter().filter(|value| value.spelled_value().is_some());
            for names in spelled.filter_map(|value| value.get("names")) {
                match part.owner {
                    SchemaOwner::Value => diagnostics.push(unread_names(names)),
                    SchemaOwner::Param | SchemaOwner::Block if is_list(names) => {}
                    SchemaOwner::Param | SchemaOwner::Block => {
                        keyword("names", &KeywordValue::Names, names, part, diagnostics)
                    }
                }
            }
            return;
        }
        (KeywordValue::Names, names) if part.owner == SchemaOwner::Value || !part.named => {
            return diagnostics.push(unread_names(names));
        }
        (KeywordValue::Names, names) if part.owner == SchemaOwner::Block && part.depth == 0 => {
            let message = "a block has its other names in its own `names`";
            let help = "move them there, or to a member of `properties`";
            return diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, names.at(), message).with_help(help));
        }
        (KeywordValue::Names, names) if is_list(names) => return,
        (KeywordValue::Anything | KeywordValue::Values, _) | (KeywordValue::Text, Tree::Text(_)) => return,
        (KeywordValue::Count, Tree::Constant(number, _)) if number.as_u64().is_some() => return,
        (KeywordValue::Number, Tree::Constant(number, _)) if number.is_number() => return,
        (KeywordValue::Schema, schema) => return examine(schema, part.inner(false), diagnostics),
        (KeywordValue::Schemas, Tree::List(schemas, _)) => {
            return schemas.iter().for_each(|schema| examine(schema, part.inner(false), diagnostics));
        }
        (KeywordValue::Members, Tree::Table(members, _)) => {
            let named = matches!(name, "properties");
            return members.iter().for_each(|(_, schema)| examine(schema, part.inner(named), diagnostics));
        }
        (KeywordValue::Required, Tree::Constant(Value::Bool(_), _)) => return,
        (KeywordValue::Verbatim, Tree::Constant(Value::Bool(_), _)) if part.depth == 0 => return,
        (KeywordValue::Verbatim, Tree::Constant(Value::Bool(_), at)) => {
            let message = "only a parameter itself is taken verbatim, not a part of it";
            let help = "take it out, or say it of the parameter";
            return diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, *at, message).with_help(help));
        }
        (KeywordValue::Required, Tree::List(names, _)) if names.iter().all(|name| matches!(name, Tree::Text(_))) => {
            return;
        }
        (KeywordValue::Types, Tree::Text(word)) if TYPES.contains(&word.value.as_str()) => return,
        (KeywordValue::Types, Tree::Text(word)) => {
            let message = format!("`{}` is no type of JSON Schema", excerpt(&word.value, 60));
            let fault = Diagnostic::new(Code::PACK_SCHEMA, word.at, message);
            return diagnostics.push(match meant(&word.value, TYPES) {
                Some(meant) => fault.with_help(format!("did you mean `{meant}`?")),
                None => fault.with_nearest(&word.value, TYPES.iter().copied()),
            });
        }
        (KeywordValue::Types, Tree::List(words, _)) => {
            return words.iter().for_each(|word| keyword(name, takes, word, part, diagnostics));
        }
        (KeywordValue::Format, Tree::Text(word)) if FORMATS.iter().any(|(format, _)| word.value == *format) => return,
        (KeywordValue::Format, Tree::Text(word)) => {
            let message = format!("no value is checked for the format `{}`", excerpt(&word.value, 60));
            let known = FORMATS.iter().map(|(format, _)| *format);
            let help = nearest(&word.value, known).map(|format| format!("did you mean `{format}`?"));
            let help = help.unwrap_or_else(|| "say what it looks like by a `pattern`".to_owned());
            return diagnostics.push(Diagnostic::new(Code::PACK_SCHEMA, word.at, message).with_help(help));
        }
        (KeywordValue::Pattern, Tree::Text(pattern)) => return diagnostics.extend(bad_pattern(pattern)),
        (KeywordValue::Reference, Tree::Text(target)) if target.value.starts_with('#') => return,
        (KeywordValue::Reference, Tree::Text(target)) => {
            let message = format!("`{}` is another document", target.value);
            return diagnostics.push(
                Diagnostic::new(Code::PACK_REMOTE_REF, target.at, message)
                    .with_help("schemas are never fetched: copy what is meant into this one"),
            );
        }
        (KeywordValue::Schemas, _) => "a list of schemas",
        (KeywordValue::Members, _) => "a table with a schema for each name",
        (KeywordValue::Types, _) => "the name of a type, or a list of such names",
        (KeywordValue::Required, _) => "`true` or `false`, or a list of the members that must be there",
        (KeywordValue::Verbatim, _) => "`true` or `false`",
        (KeywordValue::Names, _) => "a list of names",
        (KeywordValue::Count, _) => "a whole number from 0",
        (KeywordValue::Number, _) => "a number",
        (KeywordValue::Text | KeywordValue::Format | KeywordValue::Pattern | KeywordValue::Reference, _) => "a text",
    };
    let message = format!("`{name}` of a JSON Schema takes {wanted}");
    let fault = Diagnostic::new(Code::PACK_SCHEMA, value.at(), message);
    let is_quoted = matches!(
        takes,
        KeywordValue::Required | KeywordValue::Verbatim | KeywordValue::Count | KeywordValue::Number
    ) && matches!(value, Tree::Text(text) if text.value.parse::<bool>().is_ok() || text.value.parse::<f64>().is_ok());
    diagnostics.push(if is_quoted { fault.with_help("leave the quotes out") } else { fault });
}

/// The finding for other spellings of a value that no answer contains.
fn unread_names(names: &Tree) -> Diagnostic {
    let message = "other spellings have no effect here";
    let help = "only a parameter, a member of `properties` and a value of an `enum` that an answer writes have some";
    Diagnostic::new(Code::PACK_SCHEMA, names.at(), message).with_help(help)
}

/// Why the pattern of a schema cannot be used. Patterns in schemas are ECMAScript; the `regex` crate reads them here.
fn bad_pattern(pattern: &Spanned<String>) -> Option<Diagnostic> {
    // Parsing is fast and finds nearly every fault; the pattern is compiled for the first value that needs it.
    if regex_syntax::parse(&pattern.value).is_ok() && !may_be_too_large(&pattern.value) {
        return None;
    }
    let error = regex::Regex::new(&pattern.value).err()?;
    validator(&value!({ "pattern": (pattern.value.as_str()) })).err()?;
    let (message, help) = bad_pattern_words(&error);
    Some(Diagnostic::new(Code::PACK_SCHEMA, bad_pattern_place(pattern), message).with_help(help))
}

/// Whether the repetitions in a pattern could make it too large to compile.
fn may_be_too_large(pattern: &str) -> bool {
    const MAX_REPETITIONS: usize = 500;
    let numbers = pattern.split('{').skip(1).map(|rest| {
        let counts = rest.split('}').next().unwrap_or_default().split(',');
        counts.filter_map(|count| count.trim().parse::<usize>().ok()).max().unwrap_or(1).max(1)
    });
    numbers.fold(1, usize::saturating_mul) > MAX_REPETITIONS
}
