//! Damage: is every accepted value the original one, however its JSON was damaged?
//!
//! Random values of random schemas are damaged as models and servers do it, and put into five kinds of answers. A value
//! that a pack accepts under `["repair", "drop"]` must be the one from before the damage; under `salvage`, each
//! difference must have a finding.
//! difference must have a finding.

use super::dice::Dice;
use super::texts::{program_of, thorough};
use rulebook::{Program, Value};
use serde_json::{Map, Value as Json, json};

/// How many damaged answers are usually tried.
const TRIES: usize = 10_000;

const WORDS: &[&str] =
    &["tea", "Bob", "rent for May", "a", "x y", "Größe", "9 am", "No. 7", "it's", "(see below)", "50 %"];
const NAMES: &[&str] = &["to", "why", "amount", "note", "items", "urgent", "where"];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    Truth,
    Texts,
    Numbers,
    Object,
    Objects,
}

struct Case {
    schema: Map<String, Json>,
    value: Map<String, Json>,
    /// Whether some text of the value contains what looks like the key of a member.
    looks_like_key: bool,
}

fn text(dice: &mut Dice, case: &mut Case) -> String {
    match dice.below(12) {
        0 => "line one\nline two".to_owned(),
        1 => "C:\\temp\\new".to_owned(),
        2 => "he said \"yes\" to me".to_owned(),
        3 => "a, b and c: d".to_owned(),
        4 => "{x} and [y]".to_owned(),
        5 => "http://example.org/a#b".to_owned(),
        6 => {
            case.looks_like_key = true;
            format!("x, \"{}\": 5", dice.pick(NAMES))
        }
        _ => dice.pick(WORDS).to_owned(),
    }
}

fn value_of(kind: Kind, dice: &mut Dice, case: &mut Case) -> (Json, Json) {
    let number = |dice: &mut Dice| match dice.below(4) {
        0 => json!(dice.below(10_000)),
        1 => json!(-(dice.below(100) as i64)),
        2 => json!(dice.below(1_000) as f64 / 8.0),
        _ => json!(12_500),
    };
    match kind {
        Kind::Text => (json!({ "type": "string" }), text(dice, case).into()),
        Kind::Whole => (json!({ "type": "integer" }), json!(dice.below(100_000))),
        Kind::Number => (json!({ "type": "number" }), number(dice)),
        Kind::Truth => (json!({ "type": "boolean" }), dice.one_in(2).into()),
        Kind::Texts => {
            let texts: Vec<Json> = (0..dice.below(4)).map(|_| text(dice, case).into()).collect();
            (json!({ "type": "array", "items": { "type": "string" } }), texts.into())
        }
        Kind::Numbers => {
            let numbers: Vec<Json> = (0..dice.below(4)).map(|_| number(dice)).collect();
            (json!({ "type": "array", "items": { "type": "number" } }), numbers.into())
        }
        Kind::Object | Kind::Objects => {
            let (mut properties, mut members) = (Map::new(), Map::new());
            for name in ["city", "zip", "why"].iter().take(1 + dice.below(3)) {
                let kind = dice.pick(&[Kind::Text, Kind::Whole, Kind::Truth, Kind::Texts]);
                let (schema, value) = value_of(kind, dice, case);
                properties.insert((*name).to_owned(), schema);
                members.insert((*name).to_owned(), value);
            }
            let schema = json!({ "type": "object", "properties": properties });
            match kind {
                Kind::Object => (schema, members.into()),
                _ => (json!({ "type": "array", "items": schema }), vec![Json::from(members); 1 + dice.below(2)].into()),
            }
        }
    }
}

fn case(dice: &mut Dice) -> Case {
    let mut case = Case { schema: Map::new(), value: Map::new(), looks_like_key: false };
    for name in NAMES.iter().filter(|_| true).take(1 + dice.below(NAMES.len())) {
        let kinds = [
            Kind::Text,
            Kind::Text,
            Kind::Whole,
            Kind::Number,
            Kind::Truth,
            Kind::Texts,
            Kind::Numbers,
            Kind::Object,
            Kind::Objects,
        ];
        let (schema, value) = value_of(dice.pick(&kinds), dice, &mut case);
        case.schema.insert((*name).to_owned(), schema);
        case.value.insert((*name).to_owned(), value);
    }
    case
}

/// The places of punctuation outside of strings, and of the quotes of strings.
struct Marks {
    outside: Vec<(usize, u8)>,
    /// The opening and the closing quote of each string, and whether it is a key.
    strings: Vec<(usize, usize, bool)>,
}

fn marks(text: &str) -> Marks {
    let (mut outside, mut strings, mut open) = (Vec::new(), Vec::new(), None);
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match open {
            Some(start) => {
                if byte == b'"' && !escaped {
                    let is_key = text[at + 1..].trim_start().starts_with(':');
                    strings.push((start, at, is_key));
                    open = None;
                }
                escaped = byte == b'\\' && !escaped;
            }
            None if byte == b'"' => open = Some(at),
            None => outside.push((at, byte)),
        }
    }
    Marks { outside, strings }
}

fn without(text: &str, at: usize) -> String {
    format!("{}{}", &text[..at], &text[at + 1..])
}

fn with(text: &str, at: usize, more: &str) -> String {
    format!("{}{more}{}", &text[..at], &text[at..])
}

/// Damages a text in one way; `None` if the text has nothing that can be damaged so.
fn damaged(text: &str, way: usize, dice: &mut Dice) -> Option<String> {
    let marks = marks(text);
    let outside = |wanted: &[u8]| -> Vec<usize> {
        marks.outside.iter().filter(|(_, byte)| wanted.contains(byte)).map(|(at, _)| *at).collect()
    };
    let one = |places: Vec<usize>, dice: &mut Dice| (!places.is_empty()).then(|| dice.pick(&places));
    let strings = |key: bool| -> Vec<(usize, usize, bool)> {
        marks.strings.iter().filter(|(.., is_key)| *is_key == key).copied().collect()
    };
    let replaced = |start: usize, end: usize, new: &str| format!("{}{new}{}", &text[..start], &text[end..]);
    Some(match way {
        0 => without(text, one(outside(b","), dice)?),
        1 => without(text, one(outside(b":"), dice)?),
        2 => without(text, one(marks.strings.iter().map(|(start, ..)| *start).collect(), dice)?),
        3 => without(text, one(marks.strings.iter().map(|(_, end, _)| *end).collect(), dice)?),
        4 => without(text, one(outside(b"]"), dice)?),
        5 => without(text, one(outside(b"}"), dice)?),
        6 => without(text, one(outside(b"[{"), dice)?),
        7 => with(text, one(outside(b",]}"), dice)?, ","),
        8 => with(text, one(outside(b"}"), dice)?, "}"),
        9 => text.replacen("\\\"", "\"", 1 + dice.below(3)),
        10 => {
            let quoted = strings(false);
            let (start, end, _) = (!quoted.is_empty()).then(|| dice.pick(&quoted))?;
            let inside = text[start + 1..end].replace("\\\"", "\"");
            (!inside.contains('\'')).then(|| replaced(start, end + 1, &format!("'{inside}'")))?
        }
        11 => {
            let mut out = String::new();
            let mut at = 0;
            for (start, end, _) in &marks.strings {
                out += &format!("{}“{}”", &text[at..*start], &text[start + 1..*end]);
                at = end + 1;
            }
            out + &text[at..]
        }
        12 => {
            let keys = strings(true);
            let (start, end, _) = (!keys.is_empty()).then(|| dice.pick(&keys))?;
            replaced(start, end + 1, &text[start + 1..end])
        }
        13 => {
            let values = strings(false);
            let (start, end, _) = (!values.is_empty()).then(|| dice.pick(&values))?;
            replaced(start, end + 1, &text[start + 1..end])
        }
        14 => with(text, one(outside(b","), dice)? + 1, " # a remark\n"),
        15 => with(text, one(outside(b","), dice)? + 1, " // a remark\n"),
        16 => {
            let words = [("true", "True"), ("false", "False"), ("true", "TRUE")];
            let (from, to) = dice.pick(&words);
            let at = marks.outside.iter().map(|(at, _)| *at).find(|at| text[*at..].starts_with(from))?;
            replaced(at, at + from.len(), to)
        }
        17 => with(text, one(outside(b":,"), dice)? + 1, "\u{a0}"),
        18 => text.replacen("\\n", "\n", 1),
        19 => text.replace("\\\\", "\\"),
        20 => with(text, marks.strings.iter().find(|(.., key)| !*key)?.1, "\\ud83d"),
        21 => {
            let digits = outside(b"0123456789");
            let at = one(digits, dice)?;
            with(text, at + 1, "1234567890123456789012")
        }
        22 => text.replacen("12500", "12,500", 1),
        23 => {
            let at = one(outside(b"0123456789"), dice)?;
            with(text, at + 1, "/5")
        }
        24 => with(text, one(outside(b"]"), dice)?, ", ..."),
        25 => with(text, one(outside(b"}"), dice)?, ", ..."),
        26 => format!("Here it is: {text}"),
        27 => format!("{text}\nThat is all."),
        28 => with(text, one(outside(b",:"), dice)? + 1, " COMMENT "),
        29 => with(text, one(marks.strings.iter().map(|(start, ..)| *start).collect(), dice)?, "\""),
        30 => with(text, one(outside(b","), dice)? + 1, "\""),
        31 => {
            // Writes 5 as `5.`.
            let is_last = |at: &usize| !text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '.');
            let whole = |at: &usize| !text[..*at].ends_with('.') && is_last(at);
            let ends = outside(b"0123456789").into_iter().filter(whole).collect();
            with(text, one(ends, dice)? + 1, ".")
        }
        32 => format!("```json\n{text}\n```"),
        33 => {
            let starts = |at: &usize| !text[..*at].ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
            let at = one(outside(b"0123456789").into_iter().filter(starts).collect(), dice)?;
            with(text, at, dice.pick(&["+", "0"]))
        }
        _ => return None,
    })
}

const WAYS: usize = 34;

/// A complete answer that is cut off at a random place.
fn cut(dialect: &str, payload: &str, dice: &mut Dice) -> Option<String> {
    let text = answer(if dialect == "fields" { "tags" } else { dialect }, payload);
    let mut at = text.find(payload)? + dice.below(payload.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    Some(text[..at].to_owned())
}

const PACK: &str = r#"
[pack]
name = "damage"
dialects = ["DIALECT"]

[dialects.tags]
grammar = "tags"
[dialects.tags.blocks]
say  = { role = "message" }
call = { role = "call", name = "@name", payload = "json" }

[dialects.brackets]
grammar = "brackets"
text = "message"
[dialects.brackets.blocks]
ACT = { role = "call", payload = "json" }

[dialects.named]
grammar = "tags"
[dialects.named.blocks]
say       = { role = "message" }
tool_call = { role = "call", name = "@payload.name", body = "arguments", payload = "json" }

[dialects.object]
grammar = "json"
[dialects.object.blocks]
say       = { role = "message" }
"calls[]" = { role = "call", name = "@name", body = "arguments" }

[dialects.fields]
grammar = "tags"
[dialects.fields.blocks]
say  = { role = "message" }
call = { role = "call", name = "@name", payload = "tags" }

[modes.default]
permits = ["*"]

[degradation]
malformed-payload = STRATEGY
unclosed-block    = STRATEGY
invalid-payload   = "drop"
unknown-param     = "keep"
"#;

const DIALECTS: [&str; 5] = ["tags", "brackets", "named", "object", "fields"];

fn program(dialect: &str, strategy: &str, schema: &Map<String, Json>) -> Program {
    let pack = PACK.replace("DIALECT", dialect).replace("STRATEGY", strategy);
    let params: Vec<String> = schema.iter().map(|(name, one)| format!("{name} = {}", toml_of(one))).collect();
    let actions = format!("\n[actions.ACT]\nparams = {{ {} }}\n", params.join(", "));
    program_of(pack + &actions)
}

/// JSON in the syntax of an inline table of TOML.
fn toml_of(json: &Json) -> String {
    match json {
        Json::Object(members) => {
            let members: Vec<String> = members.iter().map(|(name, one)| format!("{name} = {}", toml_of(one))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// The answer in a dialect with this payload.
fn answer(dialect: &str, payload: &str) -> String {
    match dialect {
        "tags" => format!("<say>Hello.</say>\n<call name=\"ACT\">{payload}</call>"),
        "brackets" => format!("Hello.\n[ACT]{payload}\n"),
        "named" => format!("<say>Hello.</say>\n<tool_call>{{\"name\": \"ACT\", \"arguments\": {payload}}}</tool_call>"),
        _ => format!("{{\"say\": \"Hello.\", \"calls\": [{{\"name\": \"ACT\", \"arguments\": {payload}}}]}}"),
    }
}

/// The answer with the members as fields, of which one is damaged.
fn fields(value: &Map<String, Json>, way: usize, dice: &mut Dice) -> Option<String> {
    let mut out = String::new();
    let mut changed = false;
    for (name, one) in value {
        let written = match one {
            Json::Object(_) | Json::Array(_) => {
                let text = one.to_string();
                let new = damaged(&text, way, dice).filter(|_| !changed);
                changed |= new.is_some();
                new.unwrap_or(text)
            }
            Json::String(text) if text.contains(['<', '\n']) => return None,
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        out += &format!("<{name}>{written}</{name}>");
    }
    changed.then(|| format!("<say>Hello.</say>\n<call name=\"ACT\">{out}</call>"))
}

#[test]
fn an_accepted_damaged_call_means_what_the_original_meant() {
    let tries = thorough(TRIES);
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let mut dice = Dice(seed);
    let (mut wrong, mut silent, mut accepted, mut salvaged, mut tried) = (Vec::new(), Vec::new(), 0, 0, 0);
    while tried < tries {
        let case = case(&mut dice);
        let dialect = dice.pick(&DIALECTS);
        let strict = program(dialect, r#"["repair", "drop"]"#, &case.schema);
        let loose = program(dialect, r#"["repair", "salvage", "drop"]"#, &case.schema);
        let whole = Json::Object(case.value.clone()).to_string();
        for way in 0..=WAYS {
            let text = match dialect {
                _ if way == WAYS => cut(dialect, &whole, &mut dice),
                "fields" => fields(&case.value, way, &mut dice),
                _ => damaged(&whole, way, &mut dice).map(|payload| answer(dialect, &payload)),
            };
            // If the damaged text is still valid JSON, it is another value, and no reader can know that it was damaged.
            let Some(text) = text.filter(|text| *text != answer(dialect, &whole)) else { continue };
            if is_valid(dialect, &text) {
                continue;
            }
            tried += 1;
            let meant = Value::from(Json::Object(case.value.clone()));
            let outcome = strict.run(&strict.session(), &text);
            for call in outcome.calls.iter().filter(|call| call.verdict == rulebook::outcome::Verdict::Accepted) {
                accepted += 1;
                if call.params != meant {
                    wrong.push(format!("{way} {dialect}: {text}\n   meant {meant}\n   read  {}", call.params));
                }
            }
            let outcome = loose.run(&loose.session(), &text);
            for call in outcome.calls.iter().filter(|call| call.verdict == rulebook::outcome::Verdict::Accepted) {
                salvaged += 1;
                if call.params != meant && outcome.diagnostics.is_empty() {
                    silent.push(format!("{way} {dialect}: {text}\n   read {}", call.params));
                }
            }
        }
    }
    let summary = format!("{tried} tried, {accepted} accepted by `repair`, {salvaged} with `salvage`\n");
    crate::publish("damage.txt", summary);
    let few = |list: &[String]| list.iter().rev().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {accepted} accepted values are wrong:\n{}", wrong.len(), few(&wrong));
    assert!(silent.is_empty(), "{} values differ without a finding:\n{}", silent.len(), few(&silent));
    assert!(accepted > tried / 4, "only {accepted} of {tried} are accepted");
}

/// Whether the JSON of an answer is valid without a repair.
fn is_valid(dialect: &str, text: &str) -> bool {
    let part = match dialect {
        "tags" => text.split("<call name=\"ACT\">").nth(1).and_then(|rest| rest.strip_suffix("</call>")),
        "brackets" => text.split("[ACT]").nth(1),
        "named" => text.split("<tool_call>").nth(1).and_then(|rest| rest.strip_suffix("</tool_call>")),
        "object" => Some(text),
        _ => None,
    };
    match part {
        Some(part) => serde_json::from_str::<Json>(part).is_ok(),
        None => {
            let fields = text.split("</").filter_map(|part| part.rsplit_once('>').map(|(_, inner)| inner));
            let json = fields.filter(|inner| inner.starts_with(['{', '[']) && *inner != "{x} and [y]");
            json.map(serde_json::from_str::<Json>).all(|read| read.is_ok())
        }
    }
}
