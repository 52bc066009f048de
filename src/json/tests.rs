//! Tests: which value do JSON and text that is nearly JSON have, and with which faults?

use super::*;
use crate::value::value;
use std::collections::BTreeSet;

#[track_caller]
fn check(text: &str, expected: &Value, faults: &[&str], lossy: bool) {
    let values = Cell::new(10_000);
    let declares = |name: &str| ["to", "why", "amount"].contains(&name);
    let context = Context { declares: &declares, ..Context::new(64, &values) };
    let read = read(text, Span::new(0, text.len()), context);
    let json = read.unwrap_or_else(|error| panic!("{text}: {}", error.why));
    assert_eq!(json.value, *expected, "{text}");
    let names: BTreeSet<&str> = json.faults.iter().map(|fault| fault.name.trim_start_matches("fault_")).collect();
    assert_eq!(names, faults.iter().copied().collect(), "{text}");
    assert_eq!(json.is_lossy(), lossy, "{text}");
}

#[test]
fn strict_json_is_read_as_it_is() {
    check(r#" {"a": [1, 1.5, "x\n\u00e4", null, true]} "#, &value!({ "a": [1, 1.5, "x\nä", null, true] }), &[], false);
    check(r#"{"a": 1, "a": 2}"#, &value!({ "a": 2 }), &[], false);
    check(r#""\ud83d\ude00""#, &value!("😀"), &[], false);
}

#[test]
fn a_certain_fault_leaves_the_value_as_meant() {
    let tea = value!({ "to": "tea" });
    check(r#"{"to": "tea",}"#, &tea, &["trailing_comma"], false);
    check("{'to': “tea”}", &tea, &["single_quotes", "other_quotes"], false);
    check("{to: `tea`} # why", &tea, &["unquoted_key", "other_quotes", "comment"], false);
    check("```json\n{\"to\": \"tea\"}\n```", &tea, &["code_fence"], false);
    check("Here: {\"to\": \"tea\"} That is all.", &tea, &["text_around"], false);
    check(r#"{\"to\": \"tea\"}"#, &tea, &["escaped_quotes"], false);
    check(r#"{"to" "tea"}"#, &tea, &["missing_colon"], false);
    check("{\"to\":\u{a0}\"tea\"}", &tea, &["blank"], false);
    check("｛\"to\"：\"tea\"｝", &tea, &["wide_mark"], false);
    check(r#"{"to": "t" + "ea"}"#, &tea, &["split_string"], false);
    check(r#"{"to": """tea"""}"#, &tea, &["triple_quotes"], false);
    check(r#"{"to": "tea}"#, &tea, &["missing_quote"], false);
    check(r#"{"to": "tea""#, &tea, &["missing_brace"], false);
    check(r#"{"to": "tea"}}"#, &tea, &["extra_brace"], false);
    check(r#"{"to": [["tea"]}"#, &value!({ "to": [["tea"]] }), &["missing_bracket"], false);
    check(r#"{"to": ["tea"}"#, &value!({ "to": ["tea"] }), &["missing_bracket"], false);
    check(r#"{"to": tea"}"#, &tea, &["missing_quote"], false);
    check(r#"{"to: "tea"}"#, &tea, &["missing_quote"], false);
    check("[.5, +5, 5., 0x1F, True, None]", &value!([0.5, 5, 5, 31, true, null]), &["number", "constant"], false);
    check("{\"to\": (1, 2)}", &value!({ "to": [1, 2] }), &["tuple"], false);
    // The second string may be a name without a value, or one more value.
    check(r#"{"to": "tea", "x"}"#, &value!({ "to": "tea\", \"x" }), &["bare_quote"], true);
    check(r#"{"to": "a" "b"}"#, &value!({ "to": "a\" \"b" }), &["bare_quote"], true);
    for expression in [r#"tea" if late else "water"#, r#"tea".strip() + "s"#, r#"tea" or "water"#, r#"%s" % ("tea"#] {
        let text = format!(r#"{{"to": "{expression}"}}"#);
        check(&text, &value!({ "to": expression }), &["bare_quote"], true);
    }
    check(r#"{"to": "5" and 6" pipes"}"#, &value!({ "to": "5\" and 6\" pipes" }), &["bare_quote"], false);
    check(r#"{"to": "the "a", "b" tea"}"#, &value!({ "to": "the \"a\", \"b\" tea" }), &["bare_quote"], false);
    check(r#"{"to": "\u{41}b"}"#, &value!({ "to": "Ab" }), &["escape"], false);
    check(r#"{"to": "C:\dir \x41"}"#, &value!({ "to": "C:\\dir A" }), &["escape"], false);
    check(
        r#"{"to": "he said "yes" to me", "why": 1}"#,
        &value!({ "to": "he said \"yes\" to me", "why": 1 }),
        &["bare_quote"],
        false,
    );
    check(r#"{"to": "Bob, "why": 1}"#, &value!({ "to": "Bob", "why": 1 }), &["missing_quote"], false);
}

/// Where nothing follows the text, a number or a word that it ends with may have been longer; a string, a list or a
/// space ends by itself.
#[test]
fn a_value_that_nothing_bounds_may_be_cut() {
    let is_lossy = |text: &str, bounded: bool| {
        let values = Cell::new(10_000);
        let context = Context { bounded, ..Context::new(64, &values) };
        read(text, Span::new(0, text.len()), context).unwrap().is_lossy()
    };
    for text in
        [r#"{"amount": 1"#, r#"{"amount": true"#, r#"{"amount": .5"#, r#"{"amount": [1, 2"#, "{\"amount\": None"]
    {
        assert_eq!((is_lossy(text, true), is_lossy(text, false)), (false, true), "{text}");
    }
    for text in [r#"{"amount": "1""#, r#"{"amount": [1]"#, r#"{"amount": 1 "#, r#"{'amount': 1}"#] {
        assert!(!is_lossy(text, false), "{text}");
    }
}

#[test]
fn a_fault_that_may_lose_something_is_lossy() {
    check(r#"{"to": 1/3}"#, &value!({ "to": "1/3" }), &["unquoted_text"], true);
    check(r#"{"to": 1, COMMENT "why": 2}"#, &value!({ "to": 1, "why": 2 }), &["skipped_text", "missing_comma"], true);
    check(r#"{"to": [1, ...]}"#, &value!({ "to": [1] }), &["dots"], true);
    check(r#"{"to": NaN}"#, &value!({ "to": null }), &["no_value"], true);
    check(r#"{"to": "\ud83d x"}"#, &value!({ "to": "\u{fffd} x" }), &["surrogate"], true);
    check(r#"{"to": {"why": 1, "amount": 2}"#, &value!({ "to": { "why": 1, "amount": 2 } }), &["missing_brace"], true);
    check(r#"{"to": "x, "y" z"}"#, &value!({ "to": "x, \"y\" z" }), &["bare_quote"], false);
    check(r#"["x, "y"]"#, &value!(["x, \"y"]), &["bare_quote"], true);
    check(r#"{"to": }"#, &value!({ "to": null }), &["missing_value"], true);
}

/// Every byte of a value is accounted for: as part of a value or key, as punctuation or white space between them, or by
/// a fault.
#[test]
fn no_byte_of_a_value_is_left_out_in_silence() {
    let parts = [
        "{", "}", "[", "]", ",", ":", "\"", "'", "“", "”", "\\", "\\u00", "1", "-2.5", "true", "None", "to", "why",
        " ", "\n", "a b", "//", "/*", "*/", "#", "...", "```", "，", "\u{a0}", "é", "+", "(", ")", "\"to\": ", "\"x\"",
        "\\\"", "=",
    ];
    let mut seed = 11_u64;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit
    };
    for _ in 0..20_000 {
        let mut text = String::from(if below(2) == 0 { "{" } else { "[" });
        for _ in 0..below(14) {
            text += parts[below(parts.len())];
        }
        let values = Cell::new(1_000);
        let declares = |name: &str| name == "to";
        let cut = below(2) == 0;
        let context = Context { declares: &declares, cut, ..Context::new(64, &values) };
        let Some(tape) = tape(&text, Span::new(0, text.len()), context) else { continue };
        if tape.left_out > 0 {
            continue;
        }
        let known = |at: usize| {
            let holds = |span: Span| span.start <= at && at < span.end;
            let mark = matches!(text.as_bytes()[at], b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\n');
            let tuple = matches!(text.as_bytes()[at], b')') && tape.faults().iter().any(|one| one.name == fault::TUPLE);
            mark || tuple || tape.leaves().any(holds) || tape.faults().iter().any(|fault| holds(fault.span))
        };
        for at in 0..text.len() {
            assert!(known(at), "byte {at} of {text:?}: {:?} {:?}", tape.faults(), tape.leaves().collect::<Vec<_>>());
        }
    }
}
