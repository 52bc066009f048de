//! Schemas: is any value valid against each schema, and are the examples in prompts valid?
//!
//! In: the schemas of a program's parameters, results and state, and the examples of keys.
//! Out: a finding for each impossible bound, for each required property that is not declared, and for each example that
//! is not valid.
//! Never: validates a value of an answer.

use super::endless::SureEnds;
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{ExampleMembers, Param, Program, ReplyShape, Schema, example, misfit_at, properties};
use crate::text::{Location, excerpt, glob, unsafe_because};
use crate::value::Value;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, action) in &program.actions {
        let ends = SureEnds::of(action.schema.json());
        for Param { name: param, at, .. } in &action.params {
            let Some(schema) = action.schema.property(param) else { continue };
            let what = format!("the parameter `{param}` of `{name}`");
            examine(schema, &what, *at, found);
            endless(&ends, schema, &what, *at, found);
        }
        check_example(program, name, &action.schema, &action.params, found);
        defaults(name, &action.schema, &action.params, found);
        if let Some(returns) = &action.returns {
            let what = format!("what `{name}` returns");
            examine(returns.json(), &what, action.at, found);
            endless(&SureEnds::of(returns.json()), returns.json(), &what, action.at, found);
        }
    }
    for (name, content) in program.contents.iter().filter(|(_, content)| content.path) {
        let Some(example) = &content.example else { continue };
        if let Some(why) = unsafe_because(&example.value) {
            let message = format!("the example of a `{name}` is an unsafe path: {why}");
            let finding = Diagnostic::new(Code::PACK_MISFIT_EXAMPLE, example.at, message);
            found.push(finding.with_help("say `example = …` with a path below a root, such as `notes/today.md`"));
        }
    }
    keys(program, found);
    sample(program, found);
    for (name, slot) in program.slots.iter() {
        let what = format!("the state's `{name}`");
        examine(slot.schema.json(), &what, slot.at, found);
        endless(&SureEnds::of(slot.schema.json()), slot.schema.json(), &what, slot.at, found);
    }
}

/// Checks that the state may have the values of the sample.
fn sample(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, value, at) in program.sample.iter() {
        let Some(Ok(validator)) = program.slots.get(name).map(|slot| slot.schema.validator()) else { continue };
        if let Some(error) = validator.faults(value).next() {
            let message = format!("the sample of `{name}` is refused: {}", misfit_at("", &error));
            let help = "give it a value that its schema in `[state]` allows";
            found.push(Diagnostic::new(Code::PACK_MISFIT_EXAMPLE, *at, message).with_help(help));
        }
    }
}

/// Checks that the example of a content's key is allowed in at least one mode.
fn keys(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, content) in program.contents.iter().filter(|(_, content)| content.exemplified) {
        let Some(example) = &content.example else { continue };
        let named = |reply: &'_ ReplyShape| {
            let named = reply.counts.iter().filter(|count| count.name == *name && !count.keys.is_empty());
            named.map(|count| (count.keys.clone(), count.at)).next()
        };
        let all: Option<Vec<_>> = program.modes.values().map(|mode| named(&mode.reply)).collect();
        let takes = |(keys, _): &(Vec<String>, Location)| keys.iter().any(|key| glob(key, &example.value));
        let Some(refusing) = all.filter(|all| !all.iter().any(takes)) else { continue };
        let Some((keys, at)) = refusing.first() else { continue };
        let listed: Vec<String> = keys.iter().take(5).map(|key| format!("`{key}`")).collect();
        let message = format!(
            "the `keys` of the reply do not allow the example key `{}` of `{name}`",
            excerpt(&example.value, 60)
        );
        let finding = Diagnostic::new(Code::PACK_MISFIT_EXAMPLE, example.at, message);
        found.push(
            finding.with_place(*at, "the keys are listed here").with_help(format!("one fits {}", listed.join(", "))),
        );
    }
}

/// Checks that the example of a call is valid. Without prompts, only the author's examples are checked.
fn check_example(program: &Program, action: &str, schema: &Schema, params: &[Param], found: &mut Vec<Diagnostic>) {
    let value = example(schema.json(), ExampleMembers::Exemplified);
    let Ok(validator) = schema.validator() else { return };
    if validator.is_valid(&value) {
        return;
    }
    for error in validator.faults(&value) {
        let place = params.iter().find(|param| error.pointer.first() == Some(&param.name));
        let Some(Param { name: param, at, example, .. }) = place else { continue };
        let own = schema.property(param).is_some_and(|declared| declared.get("examples").is_some());
        let hopeless = found.iter().any(|one| one.code == Code::PACK_NO_VALUE && one.at == Some(*at));
        if !hopeless && (own || !program.prompts.prompts.is_empty()) {
            let message = format!("the example of `{param}` in `{action}` is refused: {}", misfit_at("", &error));
            found.push(
                Diagnostic::new(Code::PACK_MISFIT_EXAMPLE, example.unwrap_or(*at), message)
                    .with_help("say `example = …` with a value that the schema allows"),
            );
        }
    }
}

/// Checks that the defaults of parameters are valid against their schemas, if the strategy `default` uses them.
fn defaults(action: &str, schema: &Schema, params: &[Param], found: &mut Vec<Diagnostic>) {
    for Param { name: param, at, default: place, .. } in params {
        let property = schema.of_property(param);
        let Some(default) = property.json().get("default") else { continue };
        let Ok(validator) = property.validator() else { continue };
        if let Some(error) = validator.faults(default).next() {
            let message = format!("the default of `{param}` in `{action}` is refused: {}", misfit_at("", &error));
            found.push(
                Diagnostic::new(Code::PACK_MISFIT_EXAMPLE, place.unwrap_or(*at), message)
                    .with_help("say `default = …` with a value that the schema allows"),
            );
        }
    }
}

/// Reports a schema that requires itself, so that no finite value is valid.
fn endless(ends: &SureEnds<'_>, schema: &Value, what: &str, at: Location, found: &mut Vec<Diagnostic>) {
    if !ends.include(schema) {
        let message = format!("no value satisfies the schema of {what}: by `$ref`, it requires itself within itself");
        let help = "let one of the members on the way be left out, or a list be empty, so that a value can end";
        found.push(Diagnostic::new(Code::PACK_NO_VALUE, at, message).with_help(help));
    }
}

/// Pairs of keywords: a lower bound, and the upper one.
const BOUNDS: [(&str, &str); 6] = [
    ("minimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

fn examine(schema: &Value, what: &str, at: Location, found: &mut Vec<Diagnostic>) {
    let mut none = |why: String| {
        let message = format!("no value satisfies the schema of {what}: {why}");
        found.push(
            Diagnostic::new(Code::PACK_NO_VALUE, at, message)
                .with_help("fix one of the two: as it is, every value is refused"),
        );
    };
    let Some(members) = schema.as_object() else { return };
    for (low, high) in BOUNDS {
        let number = |key: &str| members.get(key).and_then(Value::as_f64);
        if let (Some(least), Some(most)) = (number(low), number(high))
            && (least > most || (least == most && (low.starts_with("ex") || high.starts_with("ex"))))
        {
            none(format!("`{low}` is above `{high}`"));
        }
    }
    match members.get("enum").and_then(Value::as_array) {
        Some([]) => none("its `enum` is empty".to_owned()),
        Some(values) if !values.iter().any(|value| has_type(value, members.get("type"))) => {
            none("no value of its `enum` has its `type`".to_owned());
        }
        _ => {}
    }
    // Each alternative may require properties that the whole declares.
    let alternatives =
        ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| members.get(key).and_then(Value::as_array)).flatten();
    if let Some(Value::Object(properties)) = members.get("properties") {
        for part in std::iter::once(schema).chain(alternatives) {
            let own = |name: &str| part.get("properties").is_some_and(|own| own.get(name).is_some());
            let required =
                part.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            for name in required.filter(|name| !properties.contains_key(name) && !own(name)) {
                let message = format!("the schema of {what} requires `{name}`, which it does not declare");
                let declared = properties.keys();
                found.push(Diagnostic::new(Code::PACK_ABSENT_PROPERTY, at, message).with_nearest(name, declared));
            }
        }
    }
    for (name, property) in properties(schema) {
        examine(property, &format!("`{name}` in {what}"), at, found);
    }
    if let Some(items) = members.get("items") {
        examine(items, &format!("the items of {what}"), at, found);
    }
}

/// Whether a value has the type, or one of the types, that a schema names.
fn has_type(value: &Value, wanted: Option<&Value>) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_bool(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    match wanted {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}
