//! Silent: is a declaration without effect reported, and only once?
//!
//! In: small packs with a declaration that no part of the engine reads as its author meant it.
//! Out: the findings of `check` for each.
//! Never: a mistake that prevents a pack from running: `slips.rs` and `first_packs.rs` have those.

use crate::texts::{program_of, reviewed};

const PACK: &str = r#"
[pack]
name = "silent"
[dialects.tagged]
grammar = "tags"
blocks = { message = { role = "message" }, tool = { role = "call", name = "@name", payload = "json" } }
"#;

/// Each finding: severity, code, the marked word, and the help.
fn reported(tables: &str, more: &[(&str, &str)]) -> Vec<String> {
    let pack = format!("{PACK}{tables}");
    let files = [("pack.toml", pack.as_str())].into_iter().chain(more.iter().copied());
    reviewed(files).iter().map(|one| format!("{} {} {}: {}", one.severity, one.code, one.word, one.help)).collect()
}

#[track_caller]
fn check(tables: &str, more: &[(&str, &str)], expected: &[&str]) {
    let found = reported(tables, more);
    let fits = |(one, expected): (&String, &&str)| {
        one.starts_with(expected.split(" … ").next().unwrap()) && expected.split(" … ").all(|part| one.contains(part))
    };
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(fits), "{found:#?}");
}

#[test]
fn a_file_that_is_not_read_is_reported() {
    let rule = "[[guardrails]]\nid = \"g\"\non = \"message\"\nmatches = \"x\"\nadvice = \"no\"\n";
    check("", &[("guardrails.tml", rule)], &["warning pack/unused-file : … call it `guardrails.toml`"]);
    check("", &[("rules/guardrails.yaml", rule)], &["warning pack/unused-file : … call it `rules/guardrails.toml`"]);
    let grammar = "open = { \"<\" ~ name ~ \">\" }\nname = @{ ASCII_ALPHA+ }\n";
    check("", &[("marks.pest", grammar)], &["warning pack/unused-file : … move it to `grammar/marks.pest`"]);
    check("", &[("notes.md", ""), ("tests/x.tml", ""), (".x.tml", "")], &[]);
}

#[test]
fn a_dialect_that_never_reads_an_answer_is_reported() {
    let other =
        |keys: &str, blocks: &str| format!("[dialects.other]\ngrammar = \"tags\"\n{keys}\nblocks = {{ {blocks} }}\n");
    let shadowed = ["warning pack/shadowed-dialect other: … needs"];
    check(&other("anchor = \"line\"", "message = { role = \"message\" }"), &[], &shadowed);
    check(&other("case = \"insensitive\"", "message = { role = \"message\" }"), &[], &[]);
    check(&other("", "reply = { role = \"message\" }"), &[], &[]);
    let pack =
        "[pack]\nname = \"p\"\n[dialects.any]\ngrammar = \"tags\"\nblocks = { \"*\" = { role = \"message\" } }\n";
    let pack = [pack, &other("", "reply = { role = \"message\" }")].concat();
    let found = reviewed([("pack.toml", pack)]);
    assert!(found.iter().any(|one| one.code == "pack/shadowed-dialect"), "{found:?}");
}

#[test]
fn a_grammar_whose_names_are_always_empty() {
    let dialect = |block: &str| {
        format!("[dialects.marked]\ngrammar = \"marks\"\nblocks = {{ \"{block}\" = {{ role = \"message\" }} }}\n")
    };
    let grammar =
        |name: &str| format!("open = {{ \"%%\" ~ name ~ \"%%\" }}\nname = {{ {name} }}\nclose = {{ \"%%end\" }}\n");
    for name in ["\"\"", "!ASCII_ALPHA"] {
        let files = [("grammar/marks.pest", &*grammar(name))];
        check(&dialect("note"), &files, &["warning pack/bad-block \"note\": … call the block `\"*\"`"]);
        check(&dialect("*"), &files, &[]);
    }
    check(&dialect("note"), &[("grammar/marks.pest", &grammar("ASCII_ALPHA*"))], &[]);
}

#[test]
fn comparisons_beyond_the_bounds_of_a_schema() {
    let found = |schema: &str, condition: &str| {
        let tables = format!(
            "[actions.pay]\nparams = {{ n = {{ type = \"number\", {schema} }} }}\n\
             [modes.m]\npermits = [{{ action = \"pay\", when = \"{condition}\" }}]\n"
        );
        let found = reported(&tables, &[]);
        found.iter().filter(|one| one.contains("idle-comparison")).count()
    };
    for (schema, condition) in [
        ("exclusiveMinimum = 0", "params.n < 0"),
        ("exclusiveMinimum = 0", "params.n <= 0"),
        ("exclusiveMinimum = 0", "params.n == 0"),
        ("exclusiveMinimum = 0", "0 >= params.n"),
        ("minimum = 1", "params.n < 1"),
        ("maximum = 10", "params.n > 10"),
        ("maximum = 10", "params.n >= 10.5"),
        ("exclusiveMaximum = 10", "params.n >= 10"),
    ] {
        assert_eq!(found(schema, condition), 1, "{schema}: {condition}");
    }
    for (schema, condition) in [
        ("minimum = 0", "params.n <= 0"),
        ("minimum = 0", "params.n < 1"),
        ("exclusiveMinimum = 0", "params.n > 0"),
        ("exclusiveMinimum = 0", "params.n != 0"),
        ("maximum = 10", "params.n >= 10"),
        ("maximum = 10", "10 <= params.n"),
    ] {
        assert_eq!(found(schema, condition), 0, "{schema}: {condition}");
    }
}

#[test]
fn an_action_called_like_a_pattern_declares_tools() {
    let tables = "[actions.\"mcp__*\"]\n[modes.m]\npermits = [\"mcp__*\"]\n";
    check(tables, &[], &[]);
}

#[test]
fn required_where_nothing_can_be_missing() {
    let tables =
        |schema: &str| format!("[actions.pay]\nparams = {{ to = {schema} }}\n[modes.m]\npermits = [\"pay\"]\n");
    let either = "{ anyOf = [{ type = \"string\", required = true }, { type = \"integer\" }] }";
    check(&tables(either), &[], &["warning pack/bad-schema required: … `properties`"]);
    let absent =
        "{ type = \"object\", properties = { iban = { type = \"string\" } }, anyOf = [{ required = [\"ibna\"] }] }";
    check(&tables(absent), &[], &["warning pack/absent-property to: did you mean `iban`?"]);
    // Within a branch, `required` of a member means the same as anywhere else.
    let branch = "{ type = \"object\", anyOf = [{ properties = { iban = { type = \"string\", required = true } } }] }";
    check(&tables(branch), &[], &[]);
    let pack = format!("{PACK}{}", tables(branch));
    let program = program_of(pack);
    let codes = |to: &str| {
        let answer = format!("<message>x</message><tool name=\"pay\">{{\"to\": {to}}}</tool>");
        program.run(&program.session(), &answer).diagnostics.iter().map(|one| one.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(codes("{\"iban\": \"x\"}"), [""; 0]);
    assert_eq!(codes("{}"), ["response/invalid-payload"]);
}

#[test]
fn a_member_read_once_that_resembles_another_is_reported() {
    let guardrail = |id: &str, member: &str| {
        format!(
            "[[guardrails]]\nid = \"{id}\"\non = \"message\"\nmatches = \"{id}\"\nadvice = \"no\"\nwhen = \"state.user.{member} == 'x'\"\n"
        )
    };
    let user = |keys: &str| format!("[state]\nuser = {{ type = \"object\", from = \"host\"{keys} }}\n");
    let slip = ["warning pack/unset-state state.user.nmae: did you mean `name`?"];
    let read = |members: &[&str]| {
        members.iter().enumerate().map(|(n, one)| guardrail(&format!("g{n}"), one)).collect::<String>()
    };
    check(&(user("") + &read(&["name", "name", "nmae"])), &[], &slip);
    check(&(user(", default = { name = \"\" }") + &read(&["nmae"])), &[], &slip);
    check(&(user(", additionalProperties = true, properties = { name = {} }") + &read(&["nmae"])), &[], &slip);
    // A host may set any member.
    check(&(user("") + &read(&["name", "name", "level"])), &[], &[]);
    check(&(user("") + &read(&["name", "names"])), &[], &[]);
}

#[test]
fn a_member_that_an_open_schema_allows_may_be_read() {
    let user = |keys: &str| {
        format!(
            "[state]\nuser = {{ type = \"object\", from = \"effects\", default = {{ name = \"\" }}, properties = {{ name = {{}} }}{keys} }}\n\
             [actions.go]\neffects = [{{ set = \"user.name\", value = \"x\" }}]\n\
             [modes.m]\npermits = [{{ action = \"go\", when = \"state.user.level == state.user.name\" }}]\n"
        )
    };
    let unset = ["warning pack/unset-state state.user.level: there is `name`"];
    check(&user(""), &[], &unset);
    check(&user(", additionalProperties = false"), &[], &unset);
    for keys in [
        ", additionalProperties = { type = \"string\" }",
        ", additionalProperties = true",
        ", patternProperties = { \"^l\" = { type = \"string\" } }",
        ", anyOf = [{ properties = { level = {} } }, { properties = { age = {} } }]",
        ", allOf = [{ properties = { level = {} } }]",
    ] {
        check(&user(keys), &[], &[]);
    }
}

#[test]
fn a_let_and_a_set_in_one_effect_are_not_reported() {
    let effects = "[actions.go]\n[[actions.go.effects]]\nset = \"n\"\nvalue = 1\n[[actions.go.effects]]\nset = \"n\"\nvalue = 2\n\
                   [[actions.go.effects]]\nlet = { more = 2 }\nset = \"n\"\nvalue = \"{{ more }}\"\n\
                   [[actions.go.effects]]\nlet = { less = 2 }\neffects = [{ set = \"n\", value = \"{{ less }}\" }]\n";
    let tables = format!(
        "[state]\nn = {{ type = \"integer\", default = 0, from = \"effects\" }}\n{effects}[modes.m]\npermits = [\"go\"]\n"
    );
    check(&tables, &[], &["info pack/unread-state n: fine if the host does"]);
}

#[test]
fn names_that_look_alike() {
    let action = |name: &str| format!("[actions.\"{name}\"]\n");
    let permits = "[modes.m]\npermits = [\"*\"]\n";
    let alike = |first: &str, second: &str| reported(&(action(first) + &action(second) + permits), &[]);
    for (odd, why) in [
        ("h\u{43e}me", "U+043E; did you mean `home`?"),
        ("ho\u{200b}me", "cannot be seen: U+200B; did you mean `home`?"),
        ("home ", "white space at its end; did you mean `home`?"),
    ] {
        let found = alike("home", odd);
        assert!(
            matches!(found.as_slice(), [one] if one.contains("pack/lookalike-name") && one.contains(why)),
            "{found:?}"
        );
    }
    assert_eq!(alike("modem", "modern"), [""; 0]);
    assert_eq!(alike("größe", "länge"), [""; 0]);
    // The name of a mode or parameter; and a name that resembles no other.
    let found = reported("[modes.\"h\u{43e}me\"]\n", &[]);
    assert!(
        matches!(found.as_slice(), [one] if one.contains("lookalike") && one.ends_with("type it anew")),
        "{found:?}"
    );
    let params = "[actions.go.params]\npath = { type = \"string\" }\n\"p\u{430}th\" = { type = \"string\" }\n[modes.m]\npermits = [\"go\"]\n";
    let found = reported(params, &[]);
    assert!(matches!(found.as_slice(), [one] if one.contains("U+0430; did you mean `path`?")), "{found:?}");
    // An undeclared name that resembles a declared one.
    let found = reported("[actions.home]\n[modes.m]\npermits = [\"home\", \"h\u{43e}me\"]\n", &[]);
    assert!(matches!(found.as_slice(), [one] if one.contains("did you mean `home`? character 2")), "{found:?}");
}

#[test]
fn a_sample_is_the_session_that_examples_are_judged_for() {
    let tables = |sample: &str| {
        format!(
            "{sample}[state]\nopen = {{ type = \"boolean\", default = false, from = \"host\" }}\ntwice = {{ compute = \"{{{{ state.open }}}}\" }}\n\
             [actions.pay]\n[modes.m]\npermits = [{{ action = \"pay\", when = \"state.open and state.twice\" }}]\n\
             [tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\n\
             layers = [{{ id = \"task\", text = \"task.md\" }}, {{ id = \"message\", source = \"message\" }}]\n"
        )
    };
    let task = ("task.md", "Write:\n\n```xml\n<tool name=\"pay\"></tool>\n```\n");
    check(&tables(""), &[task], &["error prompt/refused-example"]);
    check(&tables("[sample]\nstate = { open = true }\n"), &[task], &[]);
    check(&tables("[sample.state]\nopne = true\n"), &[task], &["error pack/unknown-state opne: did you mean `open`?"]);
    check(&tables("[sample.state]\ntwice = true\n"), &[task], &["error pack/wrong-value twice: give a value to what"]);
    let found = reported(&tables("[sample.state]\nopen = 1\n"), &[task]);
    assert!(found.iter().any(|one| one.starts_with("warning pack/misfit-example 1:")), "{found:?}");
    // The message has the condition that refuses the example.
    let pack = format!("{PACK}{}", tables(""));
    let found = reviewed([("pack.toml", pack.as_str()), task]);
    let [refused] = found.as_slice() else { panic!("{found:?}") };
    assert!(refused.message.contains("`state.open and state.twice`"), "{refused:?}");
}
