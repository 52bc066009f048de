//! Places: is a fault of an expression reported at its word, in whichever text the expression is?

use crate::texts::faults;
use rulebook::Folder;

const PACK: &str = "[pack]
name = \"places\"
[dialects.d]
grammar = \"tags\"
blocks.message = { role = \"message\" }
[state]
notes = { type = \"array\", default = [] }
[tiers.all]
context = 9000
reserve = 1000
[prompts.main]
layers = [{ id = \"x\", template = \"x.md\" }]
";

/// The texts that the diagnostics of a pack with these files point at, in order.
fn pointed_at(more: &str, template: &str, included: &str) -> Vec<String> {
    let pack = format!("{PACK}{more}");
    let found = faults([("pack.toml", pack.as_str()), ("x.md", template), ("y.md", included)]);
    found.into_iter().map(|one| one.word).filter(|word| !word.is_empty()).collect()
}

#[track_caller]
fn check_literal(literal: &str, word: &str) {
    let asks = "[degradation]\nunknown-action = [\"ask-again\", \"drop\"]\n";
    let more = format!("[ask_again]\ntext = {literal}\n{asks}");
    assert_eq!(pointed_at(&more, "hello", ""), [word], "{literal}");
}

#[test]
fn a_misread_name_is_pointed_at_wherever_it_is() {
    assert_eq!(pointed_at("", "one\ntwo {{ mood }}\n{{ mood }}", ""), ["mood"]);
    assert_eq!(pointed_at("", "{% if a %}\n{{ state.nots | length }}\n{% endif %}", ""), ["a", "state.nots"]);
    assert_eq!(
        pointed_at("", "above\n{% include \"y.md\" %}\n", "x\n{{ title }} {{ state['nots'].x }}"),
        ["state['nots'].x"]
    );
    assert_eq!(pointed_at("", "{% include \"y.md\" %}\n{{ here }}", "{{ there }}"), ["here", "there"]);
}

#[test]
fn an_unknown_word_in_a_schema_is_pointed_at() {
    let schema = |params: &str| pointed_at(&format!("[actions.a]\nparams = {params}\n"), "hello", "");
    assert_eq!(schema("{ a = { type = \"strin\", minLenght = 3, x-mine = 1 } }"), ["\"strin\"", "minLenght"]);
    assert_eq!(
        schema("{ a = { items = { type = [\"string\", \"nil\"] }, properties = { default = { enumm = [] } } } }"),
        ["\"nil\"", "enumm"]
    );
    assert_eq!(
        schema("{ a = { anyOf = [{ \"$ref\" = \"b.json\" }, 3], minimum = \"2\" } }"),
        ["\"b.json\"", "3", "\"2\""]
    );
    let fine = "{ a = { default = { type = 3 }, items = true, required = true, about = \"x\", not = { const = 1 } } }";
    assert_eq!(schema(fine), [""; 0]);
}

#[test]
fn the_parts_of_a_reply_have_names() {
    let guardrail = |when: &str| {
        pointed_at(&format!("[[guardrails]]\nid = \"g\"\non = \"reply\"\nwhen = \"{when}\"\n"), "hello", "")
    };
    assert_eq!(guardrail("reply.mesage and reply['call']"), ["reply.mesage", "reply['call']"]);
    assert_eq!(guardrail("reply.message and reply.calls | length > 1 and reply"), [""; 0]);
}

#[test]
fn a_byte_order_mark_shifts_nothing() {
    let pack = PACK.replace("message\" }", "mesage\" }");
    let marked = format!("\u{feff}{pack}");
    let loaded = rulebook::check::faults(&Folder::new("places", [("pack.toml", marked.as_str()), ("x.md", "")]));
    let places = loaded.diagnostics.iter().filter_map(|one| one.at);
    assert_eq!(places.map(|at| at.span.of(&pack)).next_back(), Some("\"mesage\""));
}

#[test]
fn a_word_in_a_text_over_several_lines_has_its_own_place() {
    check_literal("'''\nIn {{ mood }},\n{{ mode }}'''", "mood");
    check_literal("'''In\n{{ mode }},\n{{ mood }}\n'''", "mood");
    check_literal("\"\"\"\nIn {{ mode | uper }}\n\"\"\"", "uper");
    check_literal("\"\"\"\\\n   In {{ mood }}\"\"\"", "mood");
    check_literal("\"In {{ mood }}\"", "mood");
    check_literal("'In {{ mood }}'", "mood");
    // If the literal has escapes, the diagnostic points at the whole literal.
    let escaped = "\"\"\"\n\\tIn {{ mood }}\"\"\"";
    check_literal(escaped, escaped);
}

/// Checks one mistake in a pack whose modes are changed by a call: the words that diagnostics point at.
#[track_caller]
fn check_slip(right: &str, slip: &str, reported: &[&str]) {
    let pack = "[pack]\nname = \"slips\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.a = { role = \"call\", payload = \"tags\" }\n\
                [modes.one]\npermits = [\"leave\"]\nexits = [\"two\"]\n[modes.two]\nfinal = true\n\
                [actions.leave]\neffects = [{ go = \"two\" }]\n[state]\nx = { type = \"string\" }\ny = { \"$ref\" = \"#/z\" }\n";
    assert!(pack.contains(right), "{right}");
    let pack = pack.replace(right, slip);
    let found = faults([("pack.toml", pack)]);
    let words: Vec<&str> = found.iter().map(|one| one.word.as_str()).collect();
    assert_eq!(words, [reported, &["y"]].concat(), "{found:#?}");
}

#[test]
fn every_fault_is_reported_but_not_its_consequences() {
    check_slip("permits", "permitz", &["permitz"]);
    check_slip("\"leave\"]", "\"leaf\"]", &["\"leaf\""]);
    check_slip("exits", "exitz", &["exitz"]);
    check_slip("exits = [\"two\"]", "exits = [\"tow\"]", &["\"tow\""]);
    check_slip("final = true", "finale = true", &["finale"]);
    check_slip("final = true", "final = 1", &["1"]);
    check_slip("effects =", "effect =", &["effect"]);
    check_slip("go =", "goto =", &["goto"]);
    check_slip("go = \"two\"", "go = \"tow\"", &["\"tow\""]);
    check_slip("role = \"call\"", "role = \"cal\"", &["\"cal\""]);
    check_slip("grammar", "grammer", &["grammer"]);
    check_slip("type = \"string\"", "type = \"strin\"", &["\"strin\""]);
    check_slip("type = \"string\"", "tpe = \"string\"", &["tpe"]);
}
