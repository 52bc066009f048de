//! Slips: is a mistake of a pack's author reported at its word, with a fix?

use crate::texts::reviewed;
use rulebook::{Folder, Severity};

const GRAMMAR: &str = r#"
open  = { "%" ~ name ~ (" " ~ file)? ~ NEWLINE }
name  = @{ ASCII_ALPHA+ }
file  = @{ (!NEWLINE ~ ANY)+ }
close = { "%end" }
"#;

const PACK: &str = r#"
[pack]
name = "slips"
start = "open"
[dialects.marked]
grammar = "marks"
anchor = "line"
[dialects.marked.blocks]
message = { role = "message" }
ask     = { role = "call", name = "@file", payload = "json" }
table   = { role = "content", key = "@file" }
[contents.table]
effects = [{ write = "{{ key }}", value = "{{ text }}" }]
[data.limits]
large = { most = 100 }
[actions.pay]
effects = [{ emit = "pay", value = "{{ params.sum.amount }}" }]
[actions.pay.params]
sum = { type = "object", required = true, properties = { amount = { type = "number" } } }
[modes.open]
title   = "Open"
permits = [{ action = "pay", when = "params.sum.amount <= data.limits.large.most" }]
exits   = ["shut"]
[modes.shut]
final = true
[[inputs]]
class   = "bye"
matches = '\bbye\b'
[[rules]]
id      = "leave"
on      = "input.bye"
in      = "open"
effects = [{ go = "shut" }]
"#;

/// The findings for the pack with this mistake, each with its code, the marked word and its help.
fn findings(right: &str, wrong: &str) -> Vec<(String, String, String)> {
    slips(&[(right, wrong)])
}

fn slips(slips: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let mut pack = PACK.to_owned();
    for (right, wrong) in slips {
        assert!(pack.contains(right), "the pack has `{right}`");
        pack = pack.replacen(right, wrong, 1);
    }
    let found = reviewed([("pack.toml", pack.as_str()), ("grammar/marks.pest", GRAMMAR)]);
    found.into_iter().map(|one| (one.code, one.word, one.help)).collect()
}

#[track_caller]
fn check(right: &str, wrong: &str, code: &str, word: &str, help: &str) {
    let found = findings(right, wrong);
    let [(its_code, its_word, its_help)] = found.as_slice() else { panic!("{wrong}: {found:?}") };
    assert_eq!((its_code.as_str(), its_word.as_str()), (code, word), "{wrong}");
    assert!(its_help.contains(help) && !its_help.is_empty(), "{wrong}: {its_help}");
}

#[test]
fn a_misspelt_part_of_a_mode_is_not_a_mode() {
    let pack = |rest: &str| {
        reported_of(&format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = {{ message = {{ role = \"message\" }} }}\n\
             [modes.shut]\ntitle = \"Shut\"\n{rest}"
        ))
    };
    let part = "[modes.shtu.reply]\nmessage = { most = 1 }\n";
    assert_eq!(pack(part), ["warning pack/unknown-key shtu"]);
    // It is a mode if it has a table of its own, or if something refers to it.
    assert_eq!(pack(&format!("[modes.shtu]\n{part}")), [""; 0]);
    let rule = "[[guardrails]]\nid = \"g\"\non = \"message\"\nmatches = \"x\"\nin = [\"shtu\"]\nadvice = \"no\"\n";
    assert_eq!(pack(&[part, rule].concat()), [""; 0]);
    assert_eq!(pack("[modes.open.reply]\nmessage = { most = 1 }\n"), [""; 0]);
}

#[test]
fn an_action_that_no_mode_permits_may_be_another() {
    let parts = "[actions.apy]\nabout = \"Pays\"\n[modes.open]";
    check("[modes.open]", parts, "pack/unpermitted-action", "apy", "or did you mean `pay`?");
    let other = "[actions.rest]\nabout = \"Rests\"\n[modes.open]";
    let found = findings("[modes.open]", other);
    assert!(matches!(found.as_slice(), [(.., help)] if !help.contains("did you mean")), "{found:?}");
}

#[test]
fn the_pack_without_a_slip_is_clean() {
    assert_eq!(findings("", ""), []);
}

#[test]
fn undeclared_names_are_reported() {
    check("start = \"open\"", "start = \"opne\"", "pack/unknown-mode", "\"opne\"", "`open`");
    check("key = \"@file\"", "key = \"@flie\"", "pack/bad-block", "\"@flie\"", "`file`");
    check("name = \"@file\"", "name = \"@type\"", "pack/bad-block", "\"@type\"", "there is `name`, `file`");
    check("[contents.table]", "[contents.tables]", "pack/unknown-block", "tables", "`table`");
    let reply = |row: &str| format!("[reply]\n{row} = {{ most = 1 }}\n[data.limits]");
    let role = "the block of this role is `table`";
    check("[data.limits]", &reply("content"), "pack/unknown-block", "content", role);
    let joined = reply("table") + "\n[degradation]\nduplicate-block = \"join\"";
    let joined = joined.replace("[data.limits]", "") + "\n[data.limits]";
    check("[data.limits]", &joined, "pack/unfit-strategy", "\"join\"", "of a content say `keep-first`");
    check(
        "data.limits.large.most",
        "data.limits.lagre.most",
        "pack/unknown-variable",
        "data.limits.lagre.most",
        "`large`",
    );
    check("params.sum.amount }}", "params.sum.amuont }}", "pack/unknown-variable", "params.sum.amuont", "`amount`");
}

#[test]
fn a_go_without_an_exit_is_kept_to_modes_as_its_table_says() {
    let second = "[modes.late]\nexits = [\"open\"]\npermits = [\"pay\"]\n[modes.open]\ntitle";
    let mode = ("[modes.open]\ntitle", second);
    let help = |found: Vec<(String, String, String)>| {
        found.into_iter().find(|one| one.0 == "pack/no-exit").map(|one| one.2).unwrap_or_default()
    };
    let action = ("effects = [{ emit = \"pay\"", "effects = [{ go = \"shut\" }, { emit = \"pay\"");
    let permits = "add the exit, permit the action in no mode without it, or give the effect a `when`";
    assert_eq!(help(slips(&[mode, action])), permits);
    let rule = ("in      = \"open\"\n", "");
    assert_eq!(
        help(slips(&[mode, rule])),
        "add the exit, say `in = …` for the modes that have it, or give the effect a `when`"
    );
    let content = ("effects = [{ write", "effects = [{ go = \"shut\" }, { write");
    assert_eq!(help(slips(&[mode, content])), "add the exit, or give the effect a `when`");
}

#[test]
fn a_call_is_named_as_an_answer_would_name_it() {
    let pack = |block: &str| {
        format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"brackets\"\ncase = \"insensitive\"\ntext = \"message\"\n\
             blocks = {{ {block} }}\n[actions.BOOK]\neffects = [{{ emit = \"book\" }}]\n[modes.m]\npermits = [\"BOOK\"]\n"
        )
    };
    let codes = |block: &str| -> Vec<String> {
        reviewed([("pack.toml", pack(block))]).into_iter().map(|one| one.code).collect()
    };
    let none: [&str; 0] = [];
    for block in ["BOOK", "book", "\"BO*\""] {
        assert_eq!(codes(&format!("{block} = {{ role = \"call\", payload = \"json\" }}")), none, "{block}");
    }
    assert_eq!(codes("x = { role = \"call\", name = \"BOOK\", payload = \"json\" }"), none);
    // A name that the pack declares is the name of the action, without a change of case.
    assert_eq!(codes("x = { role = \"call\", name = \"book\", payload = \"json\" }"), ["pack/nameless-call"]);
    assert_eq!(codes("BOOKS = { role = \"call\", payload = \"json\" }"), ["pack/nameless-call"]);
}

#[test]
fn a_key_with_a_wrong_word_is_not_missing() {
    check("payload = \"json\"", "payload = \"jsno\"", "pack/wrong-value", "\"jsno\"", "`json`");
    let within = ("name = \"@file\", payload = \"json\"", "name = \"@payload.type\", payload = \"jsno\"");
    check(within.0, within.1, "pack/wrong-value", "\"jsno\"", "`json`");
    let found = findings("key = \"@file\"", "key = 3");
    assert_eq!(found.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(), ["pack/wrong-type"], "{found:?}");
    check(", payload = \"json\"", "", "pack/bad-block", "ask", "say how its payload is read");
}

#[test]
fn a_misspelt_kind_of_key_is_reported() {
    check("[contents.table]", "[contents.table]\nkey = \"paht\"", "pack/wrong-value", "\"paht\"", "`path`");
}

#[test]
fn names_that_loops_and_effects_bind_have_the_members_of_what_they_stand_for() {
    let code = "pack/unknown-variable";
    let sum = "sum = { type = \"object\", required = true, properties = { amount = { type = \"number\" } } }";
    let items = "{ type = \"array\", items = { type = \"object\", properties = { name = { type = \"string\" } } } }";
    let parts = format!("{sum}\nparts = {items}");
    let effect = |effect: &str, word: &str, help: &str| {
        let found = slips(&[
            (sum, &parts),
            ("effects = [{ emit = \"pay\"", &format!("effects = [{effect}, {{ emit = \"pay\"")),
        ]);
        let [(its_code, at, advice)] = found.as_slice() else { panic!("{effect}: {found:?}") };
        assert_eq!((its_code.as_str(), at.as_str()), (code, word), "{effect}");
        assert!(advice.contains(help), "{effect}: {advice}");
    };
    effect(r#"{ each = "params.parts", emit = "part", value = "{{ item.nmae }}" }"#, "item.nmae", "`name`");
    effect(r#"{ let = { all = "{{ params.parts }}" }, emit = "{{ all[0].nmae }}" }"#, "all[0].nmae", "`name`");
    effect(
        r#"{ emit = "parts", value = "{% for part in params.parts | sort %}{{ part.nmae | upper }} {{ part.name }}{% endfor %}" }"#,
        "part.nmae",
        "`name`",
    );
    effect(r#"{ emit = "parts", value = "{{ params.parts | map(attribute='nmae') | list }}" }"#, "'nmae'", "`name`");
    effect(
        r#"{ emit = "limits", value = "{% for name, limit in data.limits | items %}{{ limit.msot }}{% endfor %}" }"#,
        "limit.msot",
        "`most`",
    );
    effect(r#"{ each = "reply.calls", emit = "call", value = "{{ item.actoin }}" }"#, "item.actoin", "`action`");
}

#[test]
fn an_id_and_a_name_are_seen_where_an_effect_has_given_them() {
    let seen = |effects: &str| {
        let found = slips(&[("effects = [{ emit = \"pay\"", &format!("effects = [{effects}, {{ emit = \"pay\""))]);
        found.into_iter().map(|(code, at, _)| format!("{code} {at}")).collect::<Vec<_>>()
    };
    assert_eq!(
        seen(
            r#"{ new = "page", effects = [{ let = { id = "{{ ids.page }}" }, emit = "{{ id }}" }] },
               { when = "ids.page", emit = "{{ ids.page }}" }"#
        ),
        [""; 0]
    );
    let unseen = |word: &str| [format!("pack/unknown-variable {word}")];
    assert_eq!(seen(r#"{ new = "page", let = { id = "{{ ids.page }}" }, emit = "{{ id }}" }"#), unseen("ids.page"));
    assert_eq!(seen(r#"{ new = "page", when = "ids.page", emit = "a" }"#), unseen("ids.page"));
    assert_eq!(seen(r#"{ emit = "{{ ids.page }}" }, { new = "page", emit = "a" }"#), unseen("ids.page"));
    assert_eq!(
        seen(r#"{ effects = [{ new = "page", emit = "a" }] }, { emit = "{{ ids.page }}" }"#),
        unseen("ids.page")
    );
    assert_eq!(seen(r#"{ each = "[1]", new = "page", emit = "a" }, { emit = "{{ ids.page }}" }"#), unseen("ids.page"));
    assert_eq!(
        seen(r#"{ each = "[1]", let = { one = "{{ item }}" }, emit = "a" }, { emit = "{{ one }}" }"#),
        unseen("one")
    );
}

#[test]
fn entries_of_the_state_have_the_members_that_are_appended() {
    let tables = |member: &str| {
        format!(
            "[state.paid]\ntype = \"array\"\ndefault = []\n[actions.list]\neffects = [{{ append = \"paid\", value = {{ sum = 3 }} }}, \
             {{ emit = \"all\", value = \"{{% for one in state.paid %}}{{{{ one.{member} }}}}{{% endfor %}}\" }}]\n[modes.open]"
        )
    };
    let with = |member: &str| slips(&[("[modes.open]", &tables(member)), ("permits = [", "permits = [\"list\", ")]);
    assert_eq!(with("sum"), []);
    let found = with("smu");
    let [(code, at, advice)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((code.as_str(), at.as_str()), ("pack/unset-state", "one.smu"));
    assert!(advice.contains("`sum`"), "{advice}");
}

#[test]
fn unknown_members_of_answers_matches_and_models_are_reported() {
    let code = "pack/unknown-variable";
    let blocks = ("table   =", "outline = { role = \"section\" }\ntable   =");
    let says = |when: &str, word: &str, help: &str| {
        let rule = format!(
            "matches = '\\b(?P<how>bye|ciao)\\b'\n[[rules]]\nid = \"says\"\non = [\"input.bye\", \"reply\"]\nwhen = \"{when}\"\neffects = [{{ emit = \"it\" }}]"
        );
        let found = slips(&[blocks, ("matches = '\\bbye\\b'", &rule)]);
        let expected = [(code.to_owned(), word.to_owned(), help.to_owned())];
        assert_eq!(found, if word.is_empty() { vec![] } else { expected.to_vec() }, "{when}");
    };
    says("captures.how == 'ciao' or reply.sections.outline.text", "", "");
    says("captures.hwo == 'ciao'", "captures.hwo", "did you mean `how`?");
    says("reply.sections.outlien.text", "reply.sections.outlien.text", "did you mean `outline`?");
    says("reply.sections.outline.txt", "reply.sections.outline.txt", "did you mean `text`?");

    let trait_of = |name: &str| {
        let model = format!(
            "[tiers.full]\ncontext = 9000\nreserve = 100\ndefault = true\n[models.one]\ntier = \"full\"\ntraits = {{ terse = true }}\n\
             [[prompts.main.layers]]\nid = \"all\"\nwhen = \"model.traits.{name}\"\nsource = \"message\"\n[[inputs]]"
        );
        let found = slips(&[("[[inputs]]", &model)]).into_iter().filter(|one| one.0.starts_with("pack/"));
        found.collect::<Vec<_>>()
    };
    assert_eq!(trait_of("terse"), []);
    assert_eq!(
        trait_of("trese"),
        [(code.to_owned(), "model.traits.trese".to_owned(), "did you mean `terse`?".to_owned())]
    );
}

/// Checks an effect on a state whose values are read elsewhere: the marked word, or none.
#[track_caller]
fn check_effect(state: &str, [one, other]: [&str; 2], effect: &str, word: &str) {
    let effect = format!("effects = [{{ {effect} }}, {{ emit = \"pay\"");
    let read = format!(
        "{{ emit = \"pay\", value = \"{{{{ params.sum.amount }}}} {{{{ state.{one} }}}} {{{{ state.{other} }}}}\" }}"
    );
    let found = slips(&[
        ("{ emit = \"pay\", value = \"{{ params.sum.amount }}\" }", &read),
        ("[modes.open]", state),
        ("effects = [{ emit = \"pay\"", &effect),
    ]);
    let expected = found.iter().map(|one| (one.0.as_str(), one.1.as_str()));
    let reported = if word.is_empty() { vec![] } else { vec![("pack/bad-effect", word)] };
    assert_eq!(expected.collect::<Vec<_>>(), reported, "{effect}");
}

#[test]
fn values_that_never_fit_the_state() {
    let effect = |effect: &str, word: &str| {
        let state = "[state.paid]\ntype = \"array\"\ndefault = []\nitems = { type = \"number\" }\n[state.count]\ntype = \"integer\"\ndefault = 0\n[modes.open]";
        check_effect(state, ["paid", "count"], effect, word);
    };
    effect(r#"append = "paid", value = "{{ params.sum.amount }}""#, "");
    effect(r#"set = "paid", value = ["{{ params.sum.amount }}"]"#, "");
    effect(r#"set = "count", value = "{{ params.sum.amount }}""#, "");
    effect(r#"set = "count", value = "{{ state.count + 1 }}""#, "");
    effect(r#"set = "paid", value = "{{ params.sum.amount }}""#, "\"{{ params.sum.amount }}\"");
    effect(r#"set = "paid", value = { last = "{{ params.sum.amount }}" }"#, "{ last = \"{{ params.sum.amount }}\" }");
    effect(r#"append = "paid", value = "{{ params.sum }}""#, "\"{{ params.sum }}\"");
    effect(r#"append = "paid", let = { all = "{{ state.paid }}" }, value = "{{ all }}""#, "\"{{ all }}\"");
    effect(r#"set = "count", value = "{{ state.count }}1""#, "\"{{ state.count }}1\"");
}

#[test]
fn values_that_never_fit_what_holds_them() {
    let effect = |effect: &str, word: &str| {
        let state = "[state.notes]\ntype = \"array\"\ndefault = []\nitems = { type = \"object\", additionalProperties = false, properties = { text = { type = \"string\", required = true }, by = { enum = [\"ann\"] } } }\n\
                     [state.pages]\ntype = \"object\"\ndefault = {}\nadditionalProperties = { type = \"object\", properties = { title = { type = \"string\" }, on = { type = \"array\", items = { type = \"string\" } } } }\n[modes.open]";
        check_effect(state, ["notes", "pages"], effect, word);
    };
    effect(r#"append = "notes", unique = ["text"], value = { text = "{{ mode }}" }"#, "");
    effect(r#"append = "notes", unique = ["txt"], value = { text = "{{ mode }}" }"#, "\"txt\"");
    effect(r#"append = "notes", value = { txt = "{{ mode }}" }"#, "txt");
    effect(r#"append = "notes", value = { by = "ann" }"#, "{ by = \"ann\" }");
    effect(r#"append = "notes", value = { text = "a", by = "bob" }"#, "\"bob\"");
    effect(r#"set = "notes", value = [{ text = "a", more = "b" }]"#, "more");
    effect(r#"set = "notes.0.text", value = 3"#, "3");
    effect(r#"set = "notes.0.txt", value = "a""#, "\"notes.0.txt\"");
    effect(r#"remove = "notes.0.txt""#, "\"notes.0.txt\"");
    effect(r#"append = "notes.0.text", value = "a""#, "\"notes.0.text\"");
    effect(r#"set = "pages.{{ mode }}.title", value = 3"#, "3");
    effect(r#"set = "pages.{{ mode }}.size", value = 3"#, "");
    effect(r#"append = "pages.{{ mode }}.on", value = 3"#, "3");
    effect(r#"append = "pages.{{ mode }}.title", value = "a""#, "\"pages.{{ mode }}.title\"");
    let record = r#"record = "log", path = "days", schema = { properties = { day = { type = "string" } }, required = ["day"] }, value = { dya = "{{ mode }}" }"#;
    effect(record, "{ dya = \"{{ mode }}\" }");
}

#[test]
fn a_computed_value_sees_those_above_it() {
    let read = ("data.limits.large.most\" }]", "state.first\" }]");
    let computed = |state: &str| slips(&[("[modes.open]", &format!("{state}[modes.open]")), read]);
    let slot = |name: &str, of: &str| format!("[state.{name}]\ncompute = \"{{{{ {of} }}}}\"\n");
    let reported = |read: &str, help: &str| [("pack/unknown-state".to_owned(), read.to_owned(), help.to_owned())];
    assert_eq!(computed(&[slot("base", "data.limits.large.most"), slot("first", "state.base")].concat()), []);
    let below = computed(&[slot("first", "state.base"), slot("base", "data.limits.large.most")].concat());
    assert_eq!(below, reported("state.base", "let `[state.base]` stand above `[state.first]`"));
    assert_eq!(computed(&slot("first", "state.first")), reported("state.first", "say what it is computed from"));
}

#[test]
fn each_over_something_that_is_not_a_list_is_reported() {
    let each = |each: &str| {
        let effects = format!(
            "effects = [{{ each = \"{each}\", emit = \"all\", value = \"{{{{ item }}}}\" }}, {{ emit = \"pay\""
        );
        slips(&[("effects = [{ emit = \"pay\"", &effects)]).into_iter().map(|one| (one.0, one.1)).collect::<Vec<_>>()
    };
    let failing = |word: &str| [("pack/failing-expression".to_owned(), word.to_owned())];
    assert_eq!(each("range(3)"), []);
    assert_eq!(each("data.limits | items"), []);
    assert_eq!(each("5"), failing("\"5\""));
    assert_eq!(each("data.limits"), failing("\"data.limits\""));
    let outside = slips(&[("value = \"{{ params.sum.amount }}\"", "value = \"{{ item }} {{ params.sum.amount }}\"")]);
    assert_eq!(outside.first().map(|one| one.1.as_str()), Some("item"));
}

#[test]
fn a_gate_is_tried_with_sample_values() {
    let gate = |gate: &str| {
        let exits = format!("exits   = [{{ to = \"shut\", gate = \"{gate}\" }}]");
        slips(&[("exits   = [\"shut\"]", &exits)]).into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    assert_eq!(gate("5 % (data.limits.large.most - 100) == 1"), ["pack/failing-expression", "pack/shut-gate"]);
    assert_eq!(gate("5 % data.limits.large.most == 5"), [""; 0]);
}

/// A rule shadows another only if it always changes the mode.
#[test]
fn a_rule_that_may_not_change_the_mode_shadows_no_other() {
    let first = |go: &str| {
        let rule = format!(
            "[[rules]]\nid = \"first\"\non = \"input.bye\"\nin = \"open\"\neffects = [{go}]\n[[rules]]\nid      = \"leave\""
        );
        slips(&[("[[rules]]\nid      = \"leave\"", &rule)]).into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    assert_eq!(first("{ go = \"shut\" }"), ["pack/shadowed-rule"]);
    assert_eq!(first("{ go = \"shut\", when = \"text == 'bye'\" }"), [""; 0]);
    assert_eq!(first("{ go = \"shut\", each = \"range(text | length)\" }"), [""; 0]);
}

#[test]
fn what_is_optional_may_be_missing() {
    let params = ("sum = { type", "note = { type = \"string\" }\nsum = { type");
    let effect = "effects = [{ when = \"params.note is none\", emit = \"odd\", value = \"{{ 5 % (data.limits.large.most - 100) }}\" }, { emit = \"pay\"";
    let found = slips(&[params, ("effects = [{ emit = \"pay\"", effect)]);
    assert_eq!(found.first().map(|one| one.0.as_str()), Some("pack/failing-expression"));
}

#[test]
fn each_over_a_value_of_any_kind_is_allowed() {
    let found = |schema: &str| {
        let param = format!("{{ all = {schema}, amount = {{ type");
        let effect = "effects = [{ each = \"params.sum.all\", emit = \"one\" }, { emit = \"pay\"";
        let slips = slips(&[("{ amount = { type", &param), ("effects = [{ emit = \"pay\"", effect)]);
        slips.into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    assert_eq!(found("{}"), [""; 0]);
    assert_eq!(found("{ minLength = 1 }"), ["pack/failing-expression"]);
}

#[test]
fn blocks_that_an_answer_cannot_report_apart() {
    let found =
        |right: &str, wrong: &str| slips(&[(right, wrong)]).into_iter().map(|one| (one.0, one.1)).collect::<Vec<_>>();
    let reported = |word: &str| [("pack/bad-block".to_owned(), word.to_owned())];
    let note = "table   = { role = \"content\"";
    assert_eq!(
        found(note, "note = { role = \"section\", names = [\"message\"] }\ntable   = { role = \"content\""),
        reported("\"message\"")
    );
    assert_eq!(found("name = \"@file\"", "name = \"@\""), reported("\"@\""));
    assert_eq!(found("key = \"@file\" }", "key = \"@file\", ends = [\"end\", \"closer\"] }"), reported("\"closer\""));
    assert_eq!(found("[[rules]]", "[reply]\nshows = \"message\"\n[[rules]]"), reported("\"message\""));
}

#[test]
fn a_computed_value_fits_its_schema() {
    let computed = |schema: &str| {
        let state =
            format!("[state.total]\ncompute = \"{{{{ data.limits.large.most + 1 }}}}\"\n{schema}\n[modes.open]");
        let found = slips(&[("[modes.open]", &state), ("data.limits.large.most\" }]", "state.total\" }]")]);
        found.into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(computed("type = \"integer\""), none);
    assert_eq!(computed("type = \"integer\"\nmaximum = 100"), ["pack/failing-expression"]);
    assert_eq!(computed("type = \"string\""), ["pack/failing-expression"]);
}

#[test]
fn words_of_other_languages() {
    let limit = "params.sum.amount <= data.limits.large.most";
    for (wrong, word, help) in [
        ("params.sum.amount = 3", "=", "`==`"),
        ("params.sum && true", "&", "`and`"),
        ("params.sum || true", "|", "`or`"),
        ("!params.sum", "!", "`not`"),
        ("params.sum ? true : false", "?", "else"),
    ] {
        let found = findings(limit, wrong);
        let [(code, at, advice)] = found.as_slice() else { panic!("{wrong}: {found:?}") };
        assert_eq!(code, "pack/bad-expression", "{wrong}");
        assert!(at.is_empty() || at.starts_with(word), "{wrong}: {at}");
        assert!(advice.contains(help), "{wrong}: {advice}");
    }
}

#[test]
fn quotes_and_brackets() {
    check(r"'\bbye\b'", r#""\bbye\b""#, "pack/bad-pattern", r#""\bbye\b""#, "single quotes");
    check(r"'\bbye\b'", r#""bye\s""#, "pack/syntax", r"\s", "single quotes");
    check("exits   = [\"shut\"]", "exits = \"shut\"", "pack/wrong-type", "\"shut\"", "`[\"shut\"]`");
    check("required = true", "format = \"dat\"", "pack/bad-schema", "\"dat\"", "`date`");
    check("required = true", "format = \"postal code\"", "pack/bad-schema", "\"postal code\"", "`pattern`");
    check("required = true", "pattern = \"^(?!x)\"", "pack/bad-schema", "(?!", "no look-around");
    check("required = true", "pattern = \"(\"", "pack/bad-schema", "(", "backslash before it");
    let found = findings("required = true", "required = \"yes\"");
    assert!(
        matches!(found.as_slice(), [(code, word, _)] if code == "pack/bad-schema" && word == "\"yes\""),
        "{found:?}"
    );
}

#[test]
fn keys_that_mean_nothing_without_another() {
    let when = "when = \"params.sum.amount <= data.limits.large.most\"";
    check(when, "advice = \"less\"", "pack/missing-key", "\"less\"", "`when`");
    let message =
        "exits = [{ to = \"shut\", shut = \"closed\" }]\n[messages]\nclosed = { says = \"Closed.\" }\n[modes.shut]";
    check("exits   = [\"shut\"]\n[modes.shut]", message, "pack/missing-key", "\"closed\"", "`gate`");
}

#[test]
fn a_block_that_no_dialect_of_a_mode_has_cannot_be_required_there() {
    let talk =
        "[dialects.talk]\ngrammar = \"transcript\"\nanchor = \"line\"\nblocks = { \"*\" = { role = \"utterance\" } }\n";
    let required = |more: &str| format!("{talk}[reply]\nmessage = {{ required = true }}\n[modes.open]\n{more}");
    let found = |more: &str| {
        slips(&[("[modes.open]\n", &required(more))]).into_iter().map(|one| (one.0, one.1)).collect::<Vec<_>>()
    };
    let alone = found("dialects = [\"talk\"]\n");
    assert!(alone.iter().any(|(code, word)| code == "pack/bad-block" && word == "message"), "{alone:?}");
    assert!(found("dialects = [\"talk\", \"marked\"]\n").iter().all(|(code, _)| code != "pack/bad-block"));
}

#[test]
fn the_advice_of_a_guardrail_is_no_template() {
    let advice =
        "[[guardrails]]\nid = \"g\"\non = \"message\"\nmatches = 'x'\nadvice = \"at most {{ 1 }}\"\n[[inputs]]\nclass";
    check("[[inputs]]\nclass", advice, "pack/wrong-value", "\"at most {{ 1 }}\"", "in words");
}

#[test]
fn a_missing_exit_is_reported_once() {
    check("exits   = [\"shut\"]", "", "pack/no-exit", "\"shut\"", "`exits`");
}

#[test]
fn what_a_used_pack_has_is_replaced_or_renamed() {
    let rail = "[[guardrails]]\nid = \"g\"\non = \"message\"\nmatches = 'x'\n";
    let using = |used: &str, replace: &str| {
        let pack =
            PACK.replacen("start = \"open\"", &format!("start = \"open\"\nuse = [\"{used}\"]"), 1) + rail + replace;
        let mut folder = Folder::new("slips", [("pack.toml", pack.as_str()), ("grammar/marks.pest", GRAMMAR)]);
        let other = format!("[pack]\nname = \"other\"\n{rail}");
        folder.others.insert("../other".into(), Folder::new("other", [("pack.toml", other.as_str())]));
        let found = crate::texts::reported(&rulebook::check::review(&folder));
        found.into_iter().map(|one| (one.code, one.help)).collect::<Vec<_>>()
    };
    let help = "rename it, or write `replace = true` to replace that of the used pack".to_owned();
    assert_eq!(using("../other", ""), [("pack/duplicate-name".to_owned(), help)]);
    assert_eq!(using("../other", "replace = true\n"), []);
    let lost = using("../othr", "replace = true\n");
    assert!(matches!(lost.as_slice(), [(code, _)] if code == "pack/unreadable"), "{lost:?}");
}

#[test]
fn the_name_of_a_model_may_be_a_pattern() {
    let models = "[tiers.all]\ncontext = 9000\nreserve = 1000\n[models.tiny]\ntier = \"all\"\n[models.\"large*\"]\ntier = \"all\"\n";
    assert_eq!(reported(models), Vec::<String>::new());
}

#[test]
fn keys_that_mean_nothing_where_they_stand() {
    let modes = |more: &str| format!("{more}\n[modes.open]");
    let says = |more: &str, word: &str, help: &str| check("[modes.open]", &modes(more), "pack/bad-block", word, help);
    says("[reply]\ncalls = { required = true }", "true", "`least = 1`");
    says("[reply]\nmessage = { keys = [\"*.md\"] }", "\"*.md\"", "contents");
    says("[reply]\ntable = { lists = \"table\" }", "\"table\"", "section");
    let message = "message = { role = \"message\" }";
    let schema = "why = { role = \"thinking\", schema = { type = \"string\" } }";
    check(message, schema, "pack/bad-block", "why", "take it out");
    let text = "message = { role = \"section\", payload = \"text\" }";
    check(message, text, "pack/bad-block", "\"text\"", "sections `bullets` or `json`");
    let host = "[state.sum]\ncompute = \"{{ 1 }}\"\nfrom = \"host\"";
    check("[modes.open]", &modes(host), "pack/wrong-value", "\"{{ 1 }}\"", "take one");
    check("[modes.open]", &modes("[state.sum]\ncompute = 1"), "pack/wrong-value", "1", "quotes");
    let tier = "[tiers.all]\ncontext = 1000\nreserve = 1000";
    check("[modes.open]", &modes(tier), "pack/wrong-value", "1000", "the answer");
    let model = "[tiers.all]\ncontext = 9000\nreserve = 2000\n[models.small]\ntier = \"all\"\ncontext = 1000";
    check("[modes.open]", &modes(model), "pack/wrong-value", "1000", "the answer");
}

#[test]
fn a_block_without_a_closer_is_whole_where_the_answer_ends() {
    let found =
        |dialect: &str| reported_of(&format!("[pack]\nname = \"p\"\n[dialects.d]\nanchor = \"line\"\n{dialect}"));
    let headed =
        |ends: &str| format!("grammar = \"headers\"\nends = {ends}\nblocks = {{ Reply = {{ role = \"message\" }} }}");
    let reported = |word: &str| [format!("warning pack/bad-block {word}")];
    assert_eq!(found(&headed("[\"next-block\", \"end\"]")), reported("\"next-block\""));
    assert_eq!(found(&headed("[\"next-block\"]")), reported("\"next-block\""));
    assert_eq!(found(&headed("[[\"next-block\", \"end\"]]")), [""; 0]);
    assert_eq!(found(&headed("[\"fence\", \"next-block\", \"end\"]")), [""; 0]);
    let both = "grammar = [\"headers\", \"tags\"]\nends = [\"closer\", \"next-block\", \"end\"]\n[dialects.d.blocks]\n\
                Reply = { role = \"message\", grammar = \"headers\" }\nnotes = { role = \"section\", grammar = \"tags\" }";
    assert_eq!(found(both), reported("\"closer\""));
}

#[test]
fn a_block_that_a_fence_opens_ends_by_its_closer() {
    let grammar = "open = { \"```\" ~ (\"file\" ~ \" \"+)? ~ name ~ NEWLINE }\nname = @{ (!NEWLINE ~ ANY)+ }\nclose = { \"```\" }";
    let found = |masks: &str| {
        let pack = format!(
            "[pack]\nname = \"p\"\n[dialects.listed]\ngrammar = \"fences\"\nanchor = \"line\"\nquoted = {masks}\n\
             blocks = {{ \"*.md\" = {{ role = \"content\", key = \"@name\" }} }}"
        );
        let found = reviewed([("pack.toml", pack.as_str()), ("grammar/fences.pest", grammar)]);
        found.iter().map(|one| format!("{} {}", one.severity, one.code)).collect::<Vec<_>>()
    };
    assert_eq!(found("[\"code-fence\", \"code-span\"]"), [""; 0]);
    assert_eq!(found("[\"code-span\"]"), [""; 0]);
    assert_eq!(found("[]\nends = [[\"closer\", \"end\"]]"), [""; 0]);
    assert_eq!(found("[]\nends = [\"fence\", \"end\"]"), ["warning pack/bad-block"]);
}

#[test]
fn a_grammar_that_cannot_spell_fields_is_reported() {
    let found = |block: &str| {
        let pack = format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.act = {{ role = \"call\", name = \"@type\", {block} }}"
        );
        let grammars = [
            (
                "grammar/fields.pest",
                "open = { \"<p=\" ~ name ~ \">\" }\nname = @{ ASCII_ALPHA+ }\nclose = { \"</p>\" }",
            ),
            ("grammar/open.pest", "open = { \"<p=\" ~ name ~ \">\" }\nname = @{ ASCII_ALPHA+ }"),
        ];
        let found = reviewed([("pack.toml", pack.as_str())].into_iter().chain(grammars)).into_iter();
        found.filter(|one| one.severity == Severity::Error).map(|one| one.message).collect::<Vec<_>>()
    };
    assert_eq!(found("payload = \"tags\", fields = \"fields\""), [""; 0]);
    assert_eq!(found("payload = \"json\", fields = \"fields\""), ["the block has no fields that are tags"]);
    assert_eq!(found("payload = \"tags\", fields = \"open\""), ["the grammar `open` has no rule `close`"]);
    assert_eq!(found("payload = \"tags\", fields = \"fieldz\""), ["there is no grammar `fieldz`"]);
}

#[test]
fn keys_without_effect_are_reported_for_a_pack_that_runs() {
    let modes = |more: &str| format!("{more}\n[modes.open]");
    let both = "[state.sum]\ndefault = 2\ncompute = \"{{ 1 }}\"";
    let gate = "exits   = [{ to = \"shut\", gate = \"state.sum > 0\" }]";
    let found = slips(&[("exits   = [\"shut\"]", gate), ("[modes.open]", &modes(both))]);
    assert!(
        matches!(found.as_slice(), [(code, word, help)] if code == "pack/wrong-value" && word == "2" && help.contains("`compute` out")),
        "{found:?}"
    );
    let message = "message = { role = \"message\" }";
    let section = "message = { role = \"message\" }\nfiles = { role = \"section\" }";
    let lists = modes("[reply]\nfiles = { lists = \"table\" }");
    let found = slips(&[(message, section), ("[modes.open]", &lists)]);
    assert!(
        matches!(found.as_slice(), [(code, word, help)] if code == "pack/bad-block" && word == "files" && help.contains("bullets")),
        "{found:?}"
    );
    let answers = |defect: &str| format!("[actions.pay]\ndegradation = {{ {defect} = \"refuse\" }}");
    check("[actions.pay]", &answers("missing-message"), "pack/wrong-value", "missing-message", "of the pack");
    for defect in ["gate-closed", "duplicate-block", "extra-call"] {
        assert_eq!(findings("[actions.pay]", &answers(defect)), [], "{defect}");
    }
    let answers = "message = { role = \"message\", degradation = { truncated = \"refuse\" } }";
    check(message, answers, "pack/wrong-value", "truncated", "of the pack or a mode");
    let reply = |rows: &str| modes(&format!("[reply]\n{rows}"));
    for (rows, word, help) in [
        ("message = { required = true, most = 0 }", "message", "required = false"),
        ("table = { most = 0, keys = [\"*.md\"] }", "table", "leave out one"),
        ("order = [\"message\", \"table\", \"message\"]", "\"message\"", "the other"),
    ] {
        check("[modes.open]", &reply(rows), "pack/bad-block", word, help);
    }
    // A mode that permits no block of a kind does not change the rules for the other modes.
    let of_pack = "[reply]\ntable = { keys = [\"*.md\"] }\n[degradation]\nduplicate-block = \"join\"";
    let forbids = modes(of_pack) + "\nreply = { table = { most = 0 } }";
    assert_eq!(findings("[modes.open]", &forbids), []);
    check("[modes.open]", &forbids.replace("most = 0", "most = 1"), "pack/unfit-strategy", "\"join\"", "keep-first");
    let example = |path: &str| format!("[contents.table]\nkey = \"path\"\nexample = \"{path}\"");
    check("[contents.table]", &example("../x"), "pack/misfit-example", "\"../x\"", "below a root");
    assert_eq!(findings("[contents.table]", &example("a/x")), []);
    let replaces = "effects = [{ emit = \"pay\", value = \"{{ params.sum.amount }}\" }]\nreplace = true";
    let effects = "effects = [{ emit = \"pay\", value = \"{{ params.sum.amount }}\" }]";
    check(effects, replaces, "pack/wrong-value", "pay", "take `replace` out");
    check(
        "on      = \"input.bye\"",
        "on      = \"input.bye\"\nreplace = true",
        "pack/wrong-value",
        "\"leave\"",
        "take `replace` out",
    );
}

#[test]
fn a_fault_that_two_dialects_share_is_reported_once() {
    let twin = "[dialects.twin]\nlike = \"marked\"\nneeds = [\"table\"]\n[modes.open]";
    let found = slips(&[
        ("anchor = \"line\"", "anchor = \"line\"\nneeds = [\"ask\"]"),
        ("name = \"@file\"", "name = \"pya\""),
        ("[modes.open]", twin),
    ]);
    let codes: Vec<&str> = found.iter().map(|(code, ..)| code.as_str()).collect();
    assert_eq!(codes, ["pack/nameless-call"]);
}

#[test]
fn a_duplicate_name() {
    check("title   = \"Open\"", "title = \"a\"\ntitle = \"b\"", "pack/duplicate-name", "title", "take it out");
}

#[test]
fn values_that_could_never_be_stored() {
    let effects = |list: &str| format!("effects = [{list}]\n[actions.pay.params]");
    let emit = "effects = [{ emit = \"pay\", value = \"{{ params.sum.amount }}\" }]\n[actions.pay.params]";
    let state = "[state.paid]\ntype = \"number\"\ndefault = 0\n[state.notes]\ntype = \"array\"\ndefault = []\n\
                 items = { type = \"object\", properties = { kind = { type = \"string\", enum = [\"old\", \"new\"] } } }\n[modes.open]";
    for (effect, word) in [
        ("{ append = \"paid\", value = 1 }", "\"paid\""),
        ("{ set = \"paid\", value = \"much\" }", "\"much\""),
        ("{ append = \"notes\", value = { kind = \"odd\", when = \"{{ now }}\" } }", "\"odd\""),
        ("{ each = \"params.sum\", emit = \"x\" }", "\"params.sum\""),
        ("{ set = \"notes.first\", value = { kind = \"old\" } }", "\"notes.first\""),
        ("{ set = \"notes.0.kind.name\", value = \"x\" }", "\"notes.0.kind.name\""),
        ("{ append = \"paid.sums\", value = 1 }", "\"paid.sums\""),
        ("{ remove = \"notes.last\" }", "\"notes.last\""),
        ("{ set = \"paid\", value = \"{{ ids.page }}\" }", "ids.page"),
    ] {
        let found = slips(&[(emit, &effects(effect)), ("[modes.open]", state)]);
        let found: Vec<_> = found.into_iter().filter(|(code, ..)| code != "pack/unread-state").collect();
        assert!(matches!(found.as_slice(), [(_, its, _)] if its == word), "{effect}: {found:?}");
    }
    let fine = "{ set = \"notes.0.kind\", value = \"new\" }, { append = \"notes\", value = { kind = \"old\" }, new = \"page\" }, { remove = \"notes.{{ ids.page }}\" }, { set = \"paid\", value = 3 }, { each = \"state.notes\", emit = \"{{ ids.page }}\" }";
    let found = slips(&[(emit, &effects(fine)), ("[modes.open]", state)]);
    assert!(found.iter().all(|(code, ..)| code == "pack/unread-state"), "{found:?}");
}

#[test]
fn templates_see_every_member_of_actions_and_forms() {
    let load = |template: &str| {
        let prompts = "[tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\nlayers = [{ id = \"all\", template = \"prompt/all.md\" }]";
        let pack = crate::snippets::lay_over(&crate::snippets::base(), prompts);
        rulebook::check::faults(&Folder::new("p", [("pack.toml", pack.as_str()), ("prompt/all.md", template)]))
    };
    let printed = |name: &str, value: &serde_json::Value| -> String {
        value.as_object().unwrap().keys().map(|key| format!("{{{{ {name}[\"{key}\"] }}}}")).collect()
    };
    let program = load("").value.unwrap();
    let actions = serde_json::to_value(program.action_forms("chat")).unwrap();
    let forms = serde_json::to_value(program.forms("chat")).unwrap();
    let template = format!(
        "{{% for a in actions %}}{}{{% for p in a.params %}}{}{{% endfor %}}{{% endfor %}}\
         {{% for f in forms %}}{}{{% for b in f.blocks %}}{}{{% endfor %}}{{% endfor %}}",
        printed("a", &actions[0]),
        printed("p", &actions[0]["params"][0]),
        printed("f", &forms[0]),
        printed("b", &forms[0]["blocks"][0]),
    );
    assert_eq!(load(&template).diagnostics, []);
    assert_eq!(load("{% for a in actions %}{{ a.nmae }}{% endfor %}").diagnostics.len(), 1);
}

#[test]
fn what_a_guardrail_looks_at_holds_no_text() {
    let guardrail = "[[guardrails]]\nid = \"odd\"\non = \"pay.times\"\nmatches = \"x\"\n[modes.open]";
    let found = slips(&[("sum = {", "times = { type = \"integer\" }\nsum = {"), ("[modes.open]", guardrail)]);
    assert!(
        matches!(found.as_slice(), [(code, word, _)] if code == "pack/idle-guardrail" && word == "\"odd\""),
        "{found:?}"
    );
}

/// The findings of `check` for these tables, in a pack with a name and a dialect of tags: severity, code, and the
/// marked text.
fn reported(tables: &str) -> Vec<String> {
    let blocks = "message = { role = \"message\" }\naction = { role = \"call\", name = \"@type\", payload = \"tags\" }";
    let pack =
        format!("[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\n[dialects.d.blocks]\n{blocks}\n{tables}");
    reported_of(&pack)
}

fn reported_of(pack: &str) -> Vec<String> {
    let reported = reviewed([("pack.toml", pack)]).into_iter().map(|one| {
        assert!(!one.help.is_empty() || one.code == "pack/wrong-type", "{one:?}");
        format!("{} {} {}", one.severity, one.code, one.word)
    });
    reported.collect()
}

#[test]
fn strategies_that_would_move_what_a_block_does_not_hold() {
    let nested = |key: &str, strategies: &str| {
        let message =
            format!("message = {{ role = \"message\", {key} degradation = {{ nested-block = {strategies} }} }}");
        reported_of(&format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = {{ {message}, section = {{ role = \"section\" }} }}\n[modes.m]\n"
        ))
    };
    assert_eq!(nested("", "\"drop\""), ["warning pack/unfit-strategy \"drop\""]);
    assert_eq!(nested("", "[\"ask-again\", \"lift\"]"), ["warning pack/unfit-strategy \"lift\""]);
    assert_eq!(nested("", "\"refuse\""), [""; 0]);
    assert_eq!(nested("holds = [\"section\"],", "\"drop\""), [""; 0]);
}

#[test]
fn strategies_for_answers_that_no_dialect_reads_where_one_reads_all() {
    let other = "\n[dialects.e]\ngrammar = \"tags\"\nblocks.note = { role = \"section\" }";
    let finding = ["warning pack/unfit-strategy no-dialect"];
    let row = "no-dialect = \"ask-again\"";
    assert_eq!(reported(&format!("[degradation]\n{row}")), finding);
    assert_eq!(reported(&format!("[degradation]\n{row}{other}")), [""; 0]);
    let modes = format!("[modes.a]\ndialects = [\"d\"]\ndegradation = {{ {row} }}\n[modes.b]");
    assert_eq!(reported(&format!("{modes}{other}")), finding);
    assert_eq!(reported(&format!("[degradation]\n{row}\n{}{other}", modes.replace(row, ""))), [""; 0]);
}

#[test]
fn strategies_after_one_that_always_applies() {
    let idle = |row: &str, word: &str| {
        let expected: Vec<String> =
            Some(format!("warning pack/unfit-strategy {word}")).filter(|_| !word.is_empty()).into_iter().collect();
        assert_eq!(reported(&format!("[degradation]\n{row}\n")), expected, "{row}");
    };
    idle("unclosed-block = [\"keep\", \"drop\"]", "\"drop\"");
    idle("stray-text = [\"refuse\", \"keep\"]", "\"keep\"");
    idle("invalid-payload = [\"coerce\", \"default\", \"drop\", \"refuse\"]", "\"refuse\"");
    idle("duplicate-block = [\"keep-first\", \"keep-last\"]", "\"keep-last\"");
    idle("unknown-action = [\"ask-again\", \"drop\"]", "");
    idle("malformed-payload = [\"repair\", \"drop\"]", "");
    idle("missing-message = [\"take-stray-text\", \"refuse\"]", "");
    // The text of the block is not dropped with it.
    idle("stray-closer = [\"drop\", \"refuse\"]", "");
    idle("stray-closer = \"keep\"", "");
}

#[test]
fn guardrails_that_excuse_whatever_they_find() {
    let rule = |rest: &str| reported(&format!("[[guardrails]]\nid = \"g\"\nadvice = \"no\"\n{rest}\n"));
    let idle = ["warning pack/idle-guardrail \"g\""];
    assert_eq!(rule("on = \"message\"\nmatches = \"foo\"\nunless = \"foo\""), idle);
    assert_eq!(rule("on = \"message\"\nmatches = \"foo\"\nunless = \"food\""), [""; 0]);
    assert_eq!(rule("on = \"message.key\"\nmatches = \"foo\""), idle);
}

#[test]
fn actions_that_no_block_can_ask_for() {
    let pack = |block: &str, modes: &str| {
        reported_of(&format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\n[dialects.d.blocks]\nlit = {{ role = \"call\", payload = \"tags\", {block} }}\n\
             [actions.lit]\neffects = [{{ emit = \"x\" }}]\n[actions.dim]\neffects = [{{ emit = \"x\" }}]\n{modes}"
        ))
    };
    let both = "[modes.m]\npermits = [\"lit\", \"dim\"]";
    let all = "[modes.default]\npermits = [\"*\"]";
    for modes in [all, both] {
        assert_eq!(pack("name = \"lit\"", modes), ["warning pack/unaskable-action dim"]);
        assert_eq!(pack("name = \"@type\"", modes), [""; 0]);
        assert_eq!(pack("names = [\"lit\", \"d?m\"]", modes), [""; 0]);
    }
    assert_eq!(pack("name = \"lit\"", "[modes.m]\npermits = [\"lit\"]"), ["warning pack/unpermitted-action dim"]);
    let other =
        "[dialects.e]\ngrammar = \"tags\"\nblocks.act = { role = \"call\", name = \"@type\", payload = \"tags\" }\n";
    let mode = |name: &str, dialect: &str| {
        format!("[modes.{name}]\npermits = [\"lit\", \"dim\"]\ndialects = [\"{dialect}\"]\n")
    };
    assert_eq!(pack("name = \"lit\"", &[other, &mode("m", "d")].concat()), ["warning pack/unaskable-action dim"]);
    assert_eq!(pack("name = \"lit\"", &[other, &mode("m", "d"), &mode("k", "e")].concat()), [""; 0]);
    // A call without a name may be for any action, unless a comment states that it is for none.
    let near = "near = { role = \"call\", names = [\"near\"], name = \"near\", payload = \"tags\" }";
    let excused = |excuse: &str| {
        pack(
            &format!("names = [\"lit\", \"do_*\"], name = \"@name\" }}\n{excuse}\n{}", near.trim_end_matches(" }")),
            both,
        )
    };
    assert_eq!(excused(""), ["warning pack/nameless-call near"]);
    assert_eq!(excused("# rulebook: allow(pack/nameless-call) it is no action"), ["warning pack/unaskable-action dim"]);
}

#[test]
fn paths_outside_the_root_are_reported() {
    let write = |verb: &str| reported(&format!("[[rules]]\nid = \"r\"\non = \"reply\"\neffects = [{{ {verb} }}]\n"));
    let out = |word: &str| [format!("warning pack/bad-effect {word}")];
    assert_eq!(write("write = \"/etc/x\", value = \"t\""), out("\"/etc/x\""));
    assert_eq!(write("amend = \"../{{ mode }}\", section = \"a\", value = \"t\""), out("\"../{{ mode }}\""));
    assert_eq!(write("record = \"a/../x\", path = \"a\", value = 1"), out("\"a/../x\""));
    assert_eq!(write("write = \"a/..{{ mode }}\", value = \"t\""), [""; 0]);
}

#[test]
fn speakers_without_a_name() {
    let from = |tables: &str| reported(&format!("[speakers]\nfrom = \"data.people\"\n{tables}\n"));
    let wrong = ["warning pack/wrong-type \"data.people\""];
    assert_eq!(from("[data]\npeople = [{ name = \"Maya\", label = \"Analyst\" }]"), [""; 0]);
    assert_eq!(from("[data.people]\nmaya = { name = \"Maya\" }"), [""; 0]);
    for data in [
        "[{ nme = \"Maya\" }]",
        "[\"Maya\"]",
        "\"Maya\"",
        "{ Maya = { label = \"a\" } }",
        "[{ name = \"Maya\", label = 3 }]",
    ] {
        assert_eq!(from(&format!("[data]\npeople = {data}")), wrong, "{data}");
    }
    let state = "state = { people = { type = \"array\", default = [] } }\n";
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }\n[speakers]\nfrom = \"state.people\"\n";
    assert_eq!(reported_of(&[state, pack].concat()), [""; 0]);
}

#[test]
fn one_slip_is_one_fault() {
    let one = |tables: &str, expected: &str| assert_eq!(reported(tables), [expected], "{tables}");
    let role = "[dialects.e]\ngrammar = \"tags\"\nblocks.file = { role = \"artifact\", key = \"@path\" }\n[contents.file]\nkey = \"path\"\n\
                [reply]\nfile = { most = 1 }\norder = [\"message\", \"file\"]\n[[guardrails]]\nid = \"g\"\non = \"file.key\"\nmatches = \"x\"\n";
    one(role, "error pack/wrong-value \"artifact\"");
    let tier = "[tiers.full]\ncontext = \"x\"\nreserve = 10\n[models.m]\ntier = \"full\"\n\
                [[prompts.main.layers]]\nid = \"a\"\nsource = \"history\"\nbudget = { full = 10 }\n";
    one(tier, "error pack/wrong-type \"x\"");
    let layer = "[tiers.full]\ncontext = 1000\nreserve = 10\n[[prompts.main.layers]]\nid = \"a\"\nsorce = \"history\"\nturns = 3\n";
    one(layer, "error pack/unknown-key sorce");
    let pattern = "[[inputs]]\nclass = \"pick\"\nmatches = \"(\"\n\
                   [[rules]]\nid = \"r\"\non = \"input.pick\"\neffects = [{ emit = \"x\", value = \"{{ captures.a }}\" }]\n";
    one(pattern, "error pack/bad-pattern (");
    let params = "[actions.dim]\nparams = 3\n[[guardrails]]\nid = \"g\"\non = \"dim.x\"\nmatches = \"x\"\n";
    one(params, "error pack/wrong-type 3");
    let effect =
        "[state]\nn = { type = \"integer\", default = 0 }\n[actions.dim]\neffects = [{ set = \"n\", vale = 3 }]\n";
    one(effect, "error pack/unknown-key vale");
    one("[speakers]\n", "error pack/missing-key [speakers]");
}

#[test]
fn parameters_that_are_written_as_one_schema() {
    let params = |params: &str| {
        reported(&format!(
            "[modes.default]\npermits = [\"dim\"]\n[actions.dim]\neffects = [{{ emit = \"x\" }}]\n[actions.dim.params]\n{params}"
        ))
    };
    let level = "level = { type = \"integer\" }\n";
    let both = format!("type = \"object\"\nrequired = [\"level\"]\n{level}");
    assert_eq!(params(&both), ["error pack/bad-schema \"object\""]);
    assert_eq!(params(&format!("{level}required = [\"level\"]\n")), ["error pack/bad-schema [\"level\"]"]);
    assert_eq!(params(&format!("{level}type = {{ enum = [\"object\"] }}\n")), [""; 0]);
}

#[test]
fn a_way_out_that_is_not_permitted() {
    let pack = |permits: &str| {
        reported(&format!(
            "[modes.plan]\npermits = [{permits}]\nexits = [\"book\"]\n[modes.book]\nfinal = true\npermits = [\"look\"]\n\
             [actions.hold]\neffects = [{{ go = \"book\" }}]\n[actions.look]\neffects = [{{ emit = \"x\" }}]\n"
        ))
    };
    assert_eq!(pack("\"look\", \"hold\""), [""; 0]);
    // That the mode `book` is out of reach only follows.
    assert_eq!(pack("\"look\""), ["error pack/dead-end plan"]);
}

#[test]
fn references_that_lead_back() {
    let schema = |schema: &str| {
        reported(&format!(
            "[modes.default]\npermits = [\"*\"]\n[actions.dim]\neffects = [{{ emit = \"x\" }}]\n[actions.dim.params]\n{schema}\n"
        ))
    };
    let back = |word: &str| [format!("error pack/bad-schema {word}")];
    assert_eq!(schema("x = { \"$ref\" = \"#/properties/x\" }"), back("\"#/properties/x\""));
    assert_eq!(schema("x = { allOf = [{ \"$ref\" = \"#/properties/x\" }] }"), back("\"#/properties/x\""));
    let two = "x = { \"$ref\" = \"#/properties/y\" }\ny = { anyOf = [{ type = \"null\" }, { \"$ref\" = \"#/properties/x\" }] }";
    assert_eq!(schema(two).len(), 1);
    let tree = "x = { type = \"object\", properties = { inner = { \"$ref\" = \"#/properties/x\" } } }";
    assert_eq!(schema(tree), [""; 0]);
    let shared = "x = { type = \"string\" }\ny = { allOf = [{ \"$ref\" = \"#/properties/x\" }, { \"$ref\" = \"#/properties/x\" }] }";
    assert_eq!(schema(shared), [""; 0]);
    let value = "x = { type = \"object\", default = { \"$ref\" = \"#/properties/x\" } }";
    assert_eq!(schema(value), [""; 0]);
}

#[test]
fn a_name_misspelt_where_it_is_declared_is_reported_there() {
    let declared = |right: &str, wrong: &str, code: &str, name: &str, meant: &str| {
        check(right, wrong, code, name, &format!("did you mean `{meant}`?"));
    };
    declared("[modes.shut]", "[modes.shtu]", "pack/unknown-mode", "shtu", "shut");
    declared("large = {", "lagre = {", "pack/unknown-variable", "data.limits.large.most", "lagre");
    let guarded = "[[guardrails]]\nid = \"sum\"\non = \"reply\"\nwhen = \"data.limits.large.most > 3\"\n[[inputs]]";
    let found = slips(&[("[[inputs]]", guarded), ("large = {", "lagre = {")]);
    assert_eq!(found, [("pack/unknown-variable", "lagre", "did you mean `large`?")].map(owned));
    // A misspelt header of one table does not affect the keys of other tables.
    let found = slips(&[("[actions.pay]", "[actions.pya]")]);
    assert_eq!(found, [("pack/unknown-variable", "pya", "did you mean `pay`?")].map(owned));
    // A name that is declared and used is not confused with a similar undeclared one.
    let two = ("permits = [{", "permits = [\"pya\", \"pya\", {");
    assert_eq!(slips(&[two]).len(), 2);
}

#[test]
fn several_slips_are_as_many_findings() {
    let slips = slips(&[
        ("[modes.shut]", "[modes.shtu]"),
        ("start = \"open\"", "strat = \"open\""),
        ("[contents.table]", "[contents.tabel]"),
        ("large = {", "lagre = {"),
        ("[actions.pay]", "[actions.pya]"),
        ("id      = \"leave\"", "di      = \"leave\""),
    ]);
    let words: Vec<&str> = slips.iter().map(|(_, word, _)| word.as_str()).collect();
    assert_eq!(words, ["strat", "tabel", "pya", "data.limits.large.most", "shtu", "di"], "{slips:?}");
}

fn owned((code, word, help): (&str, &str, &str)) -> (String, String, String) {
    (code.to_owned(), word.to_owned(), help.to_owned())
}

#[test]
fn empty_names_are_reported() {
    let empty = |right: &str, wrong: &str, word: &str| check(right, wrong, "pack/wrong-value", word, "write a name");
    empty("name = \"slips\"", "name = \" \"", "\" \"");
    empty("id      = \"leave\"", "id      = \"\"", "\"\"");
    empty("emit = \"pay\"", "emit = \"\"", "\"\"");
    empty("[data.limits]", "[data.\"\"]\na = 1\n[data.limits]", "\"\"");
    empty("class   = \"bye\"", "class   = \"bye\"\nmatches = \"x\"\n[[inputs]]\nclass = \"\"", "\"\"");
    check("[data.limits]", "[data.\"a\\nb\"]\na = 1\n[data.limits]", "pack/wrong-value", "\"a\\nb\"", "take it out");
    check("id      = \"leave\"", "id      = \"l\\u202eeave\"", "pack/wrong-value", "\"l\\u202eeave\"", "take it out");
    let bound = ("effects = [{ emit", "effects = [{ let = { \"\" = \"1\" }, emit");
    assert_eq!(slips(&[bound]).len(), 1);
    let new = ("effects = [{ emit", "effects = [{ new = \"\", emit = \"{{ ids.page }}\" }, { emit");
    assert_eq!(slips(&[new]).len(), 1);
}

#[test]
fn lists_and_conditions_that_say_nothing() {
    check("in      = \"open\"", "in      = []", "pack/wrong-value", "[]", "take the key out");
    check("matches = '\\bbye\\b'", "matches = []", "pack/wrong-value", "[]", "take the key out");
    let pay = |when: &str| format!("when = \"{when}\" }}]\nexits");
    let permit = "when = \"params.sum.amount <= data.limits.large.most\" }]\nexits";
    check(permit, &pay("false"), "pack/idle-permit", "\"false\"", "take the permit out");
    check(permit, &pay("1 < 2"), "pack/idle-permit", "\"1 < 2\"", "take it out");
    let emit = "emit = \"pay\"";
    check(emit, "when = \"1 > 2\", emit = \"pay\"", "pack/idle-comparison", "\"1 > 2\"", "fix the condition");
    let guardrail = |more: &str| format!("[[guardrails]]\nid = \"g\"\n{more}\n[[inputs]]");
    let never = guardrail("on = \"reply\"\nwhen = \"false\"");
    check("[[inputs]]", &never, "pack/idle-guardrail", "\"g\"", "take it out");
    let text = ("sum = {", "note = { type = \"string\" }\nsum = {");
    let elsewhere = guardrail("on = \"pay.note\"\nin = \"shut\"\nmatches = \"x\"");
    let found = slips(&[text, ("[[inputs]]", &elsewhere)]);
    assert_eq!(found.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(), ["pack/idle-guardrail"]);
    let here = guardrail("on = \"pay.note\"\nin = \"open\"\nmatches = \"x\"");
    assert_eq!(slips(&[text, ("[[inputs]]", &here)]), []);
}

#[test]
fn an_effect_with_a_condition_is_reported_only_if_it_always_fails() {
    let behind = |value: &str| {
        let effects =
            format!("effects = [{{ when = \"params.sum.amount > 9\", emit = \"pay\", value = \"{value}\" }},");
        slips(&[
            ("effects = [{ emit = \"pay\",", &(effects + " { emit = \"pay\",")),
            ("most = 100", "most = 100, none = 0"),
        ])
    };
    let codes = |value: &str| behind(value).into_iter().map(|one| one.0).collect::<Vec<_>>();
    assert_eq!(codes("{{ params.sum.amount % data.limits.large.none }}"), ["pack/failing-expression"]);
    for fine in [
        "{{ params.sum.amount % data.limits.large.most }}",
        "{{ 100 / params.sum.amount }}",
        "{{ params.sum | items | first | join(' ') | upper }}",
        "{{ params.sum.amount % data.limits.large.none if data.limits.large.none else 0 }}",
    ] {
        assert_eq!(codes(fine), [""; 0], "{fine}");
    }
}

#[test]
fn a_text_that_spells_a_value() {
    check(
        "\"{{ params.sum.amount }}\"",
        "\"params.sum.amount\"",
        "pack/bad-expression",
        "\"params.sum.amount\"",
        "{{ ",
    );
    check("\"{{ params.sum.amount }}\"", "\"{ params.sum }\"", "pack/bad-expression", "\"{ params.sum }\"", "{{ ");
    assert_eq!(findings("\"{{ params.sum.amount }}\"", "\"the params\""), []);
}

#[test]
fn broken_toml_comes_with_advice() {
    let syntax = |right: &str, wrong: &str, help: &str| {
        let found = findings(right, wrong);
        let [(code, _, its_help)] = found.as_slice() else { panic!("{wrong}: {found:?}") };
        assert!(code == "pack/syntax" && its_help.contains(help), "{wrong}: {found:?}");
    };
    syntax("final = true", "final = True", "`true`");
    syntax("final = true", "final: true", "`=`");
    syntax("final = true", "final = true // the last", "`#`");
    syntax("title   = \"Open\"", "title   = “Open”", "straight");
    syntax("title   = \"Open\"", "title   = \"The \"Open\"\"", "inner ones");
    let when = "when = \"params.sum.amount <= data.limits.large.most\"";
    syntax(when, "when = \"mode == \"open\" and true\"", "inner ones");
    syntax("{ type = \"number\" }", "{ type = number }", "quotes");
    syntax("[modes.shut]", "[modes.shut:1]", "quotes");
    syntax("exits   = [\"shut\"]", "exits   = [\"shut\"", "`]` is missing");
    syntax("{ go = \"shut\" }", "{ go = \"shut\"", "`}` is missing");
    syntax("{ go = \"shut\" }", "{ go = \"shut\", { emit = \"it\" }", "`}` is missing");
    syntax("emit = \"pay\"", "emit = \"pay \"now\" \"", "inner ones");
    syntax("[[rules]]", "[[rules]]\nid = \"a\"\non = \"start\"\n[rules]", "[[…]]");
}

#[test]
fn a_key_below_the_wrong_header_belongs_to_the_table_around_it() {
    let moved = |code: &str, after: &str, key: &str, value: &str| {
        let found = findings(after, &format!("{after}\n{key} = {value}"));
        let [(its_code, word, help)] = found.as_slice() else { panic!("{key}: {found:?}") };
        assert_eq!(its_code, code, "{key}");
        assert!([key, value].contains(&word.as_str()) && help.contains("move it up there"), "{key}: {word} {help}");
    };
    let table = "table   = { role = \"content\", key = \"@file\" }";
    moved("pack/wrong-type", table, "quoted", "[\"code-fence\"]");
    moved("pack/bad-schema", "[actions.pay.params]", "about", "\"Pays\"");
    let degraded = "[actions.pay.degradation]\nunknown-param = \"keep\"\n[modes.open]";
    let found = findings("[modes.open]", &degraded.replace("\n[modes", "\neffects = [{ emit = \"x\" }]\n[modes"));
    let [(code, word, help)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((code.as_str(), word.as_str()), ("pack/unknown-defect", "effects"));
    assert!(help.contains("move it up there"), "{help}");
    assert_eq!(findings("[modes.open]", degraded), []);
}

#[test]
fn an_unknown_key_may_be_the_required_one_that_is_missing() {
    let found = |right: &str, wrong: &str| {
        let found = findings(right, wrong);
        let [(code, word, help)] = found.as_slice() else { panic!("{wrong}: {found:?}") };
        format!("{code} {word}: {help}")
    };
    let meant = |key: &str| format!("did you mean `{key}`? it must be here");
    let permit = "{ action = \"pay\", when = \"params.sum.amount <= data.limits.large.most\" }";
    let named = permit.replace("action", "name");
    assert_eq!(found(permit, &named), "pack/unknown-key name: did you mean `action`?");
    assert_eq!(found("class   = \"bye\"", "word = \"bye\""), format!("pack/unknown-key word: {}", meant("class")));
    // A wrong value is a mistake of its own; the event may still be that of the input.
    let two = findings("class   = \"bye\"", "kind = 3");
    let codes: Vec<&str> = two.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(codes, ["pack/missing-key", "pack/unknown-key"], "{two:?}");
}

#[test]
fn an_event_without_its_prefix_suggests_the_whole_name() {
    check("on      = \"input.bye\"", "on = \"bye\"", "pack/unknown-event", "\"bye\"", "did you mean `input.bye`?");
    check("on      = \"input.bye\"", "on = \"shut\"", "pack/unknown-event", "\"shut\"", "`enter.shut` or `leave.shut`");
}

#[test]
fn values_and_targets_of_another_kind_come_with_advice() {
    let host = "[state.order]\ntype = \"string\"\nfrom = \"host\"\n[state.count]\ntype = \"integer\"\ndefault = 0\n[modes.open]";
    let effect = |effect: &str| {
        let found =
            slips(&[("[modes.open]", host), ("effects = [{ emit", &format!("effects = [{{ {effect} }}, {{ emit"))]);
        found.into_iter().find(|one| one.0 == "pack/bad-effect").map(|one| one.2).unwrap_or_default()
    };
    assert_eq!(effect("set = \"order\", value = \"a\""), "take its `from` out, or let the effect change another value");
    assert_eq!(effect("append = \"count\", value = 1"), "`set` puts a value there; only a list is added to");
    let default = host.replace("default = 0", "default = \"none\"");
    let found = findings("[modes.open]", &default);
    assert!(found.iter().any(|one| (one.0.as_str(), one.1.as_str()) == ("pack/bad-schema", "\"none\"")), "{found:?}");
    check("[contents.table]", "[contents.ask]", "pack/unknown-block", "ask", "has the role `call`");
    check("[contents.table]", "[contents.rest]", "pack/unknown-block", "rest", "`role = \"content\"`");
    check("effects = [{ go = \"shut\" }]", "effects = [\"go\"]", "pack/wrong-type", "\"go\"", "`{ key = … }`");
}

#[test]
fn a_rule_without_effects_does_nothing() {
    let rule = "[[rules]]\nid = \"none\"\non = \"reply\"\n[[rules]]";
    check("[[rules]]", rule, "pack/idle-rule", "\"none\"", "give it `effects`");
}

#[test]
fn a_member_of_a_list_is_unknown() {
    let rule = "[[rules]]\nid = \"none\"\non = \"reply\"\nwhen = \"reply.calls.pay == 1\"\neffects = [{ emit = \"paid\" }]\n[[rules]]";
    check("[[rules]]", rule, "pack/unknown-variable", "reply.calls.pay", "it is a list");
}

#[test]
fn a_pattern_is_reported_where_its_fault_is() {
    check(r"'\bbye\b'", r"'\b(bye\b'", "pack/bad-pattern", "(", "backslash before it");
    check(r"'\bbye\b'", r"'\bbye(?!s)\b'", "pack/bad-pattern", "(?!", "no look-around");
    check(r"'\bbye\b'", r"'/\bbye\b/i'", "pack/bad-pattern", r"'/\bbye\b/i'", "its flags as `(?i)` in front");
    assert_eq!(findings(r"'\bbye\b'", r"'\A/(bye|leave)\b'"), []);
    assert_eq!(findings(r"'\bbye\b'", r"'/home/(bye|leave)/'"), []);
}

#[test]
fn parameters_one_level_too_deep_are_reported_once() {
    let wrapped = "[actions.pay.params]\ntype = \"object\"\n[actions.pay.params.properties]\nsum = { type";
    let found = findings("[actions.pay.params]\nsum = { type", wrapped);
    let codes: Vec<&str> = found.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(codes, ["pack/bad-schema"], "{found:?}");
}

#[test]
fn a_misspelt_part_of_a_prompt_is_not_a_prompt() {
    let prompts = "[tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\nabout = \"All\"\n\
                   [[prompts.main.layers]]\nid = \"history\"\nsource = \"history\"\n\
                   [[prompts.main.layers]]\nid = \"message\"\nsource = \"message\"\n[modes.open]";
    let reported = |prompts: &str| -> Vec<(String, String)> {
        let found = findings("[modes.open]", prompts).into_iter().map(|one| (one.0, one.1));
        found.filter(|one| one.0 != "prompt/unexplained-action").collect()
    };
    assert_eq!(reported(prompts), []);
    let last = prompts.rfind("[[prompts.main").unwrap();
    let slip = [&prompts[..last], &prompts[last..].replacen("main", "mian", 1)].concat();
    assert_eq!(reported(&slip), [("pack/unknown-key".to_owned(), "mian".to_owned())]);
}

#[test]
fn a_missing_file_suggests_one_with_a_similar_name() {
    let layers = "[tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\nlayers = [{ id = \"mode\", text = \"prompt/FILE\" }, \
                  { id = \"message\", source = \"message\" }]\n[modes.open]";
    let help = |file: &str| {
        let pack = PACK.replace("[modes.open]", &layers.replace("FILE", file));
        let files = [("pack.toml", pack.as_str()), ("grammar/marks.pest", GRAMMAR), ("prompt/ticket.md", "pay")];
        let missing = reviewed(files).into_iter().find(|one| one.code == "pack/missing-file");
        missing.map(|one| one.help).unwrap_or_default()
    };
    assert_eq!(help("ticket.md"), "");
    assert_eq!(help("tickets.md"), "did you mean `prompt/ticket.md`?");
    assert_eq!(help("identity.md"), "there is `prompt/ticket.md`");
    assert!(help("{{ mode }}.md").starts_with("add a file for each mode"), "{}", help("{{ mode }}.md"));
    assert!(help("You keep notes.").starts_with("this is the path of a file"), "{}", help("You keep notes."));
}

#[test]
fn files_that_nothing_uses() {
    let layers = "[tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\nlayers = [{ id = \"all\", template = \"prompt/all.md\" }, \
                  { id = \"message\", source = \"message\" }]\n[messages.hello]\ntemplate = \"prompt/hello.txt\"\n\
                  [[rules]]\nid = \"hello\"\non = \"start\"\neffects = [{ say = \"hello\" }]\n";
    let pack = PACK
        .replace("[modes.open]", "[modes.open]\nabout = \"a\"")
        .replace("[[rules]]", &[layers, "[[rules]]"].concat());
    let mut files = vec![
        ("pack.toml", pack.as_str()),
        ("grammar/marks.pest", GRAMMAR),
        ("prompt/all.md", "pay {% include 'prompt/part.md' %}"),
        ("prompt/part.md", "{% include \"prompt/parts/last.md\" %}"),
        ("prompt/parts/last.md", "Be brief."),
        ("prompt/hello.txt", "Hello!"),
        ("prompt/README.md", "For people."),
        ("notes/todo.md", "For people."),
        ("NOTES.md", "For people."),
    ];
    let reported = |files: &[(&str, &str)]| -> Vec<String> {
        reviewed(files.iter().copied()).iter().map(|one| format!("{} {}", one.severity, one.message)).collect()
    };
    assert_eq!(reported(&files), [""; 0]);
    files.extend([("prompt/old.md", "Old."), ("prompt/parts/old.md", "Old."), ("grammar/mraks.pest", GRAMMAR)]);
    let mut found = reported(&files);
    found.sort();
    let expected = ["grammar/mraks.pest", "prompt/old.md", "prompt/parts/old.md"];
    assert_eq!(found, expected.map(|path| format!("info nothing uses `{path}`")));
}

#[test]
fn a_target_that_no_guardrail_can_match_is_reported_at_its_word() {
    let looks = "[actions.pay.params]\nlabel = { type = \"string\" }\nsum_of = { type = \"number\" }";
    let rule =
        "[[guardrails]]\nid = \"g\"\non = [\"pay.label\", \"pay.sum_of\"]\nmatches = \"x\"\nadvice = \"no\"\n[[rules]]";
    let found = slips(&[("[actions.pay.params]", looks), ("[[rules]]", rule)]);
    let [(code, word, _)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((code.as_str(), word.as_str()), ("pack/idle-guardrail", "\"pay.sum_of\""));
}

#[test]
fn a_call_that_names_no_action_is_not_reported_as_unspelled_too() {
    let help = |name: &str| {
        let pack = format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\n[dialects.d.blocks]\nmessage = {{ role = \"message\" }}\n\
             tool = {{ role = \"call\", {name}payload = \"json\" }}\n[actions.pay]\n[modes.m]\npermits = [\"pay\"]\n\
             [tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\n\
             layers = [{{ id = \"forms\", template = \"forms.md\" }}, {{ id = \"message\", source = \"message\" }}]\n"
        );
        let forms = "pay {% for form in forms %}{{ form.text | markup }}{% endfor %}";
        let found = reviewed([("pack.toml", pack.as_str()), ("forms.md", forms)]);
        found.iter().map(|one| format!("{}: {}", one.code, one.help)).collect::<Vec<_>>()
    };
    assert_eq!(help("name = \"@name\", "), [""; 0]);
    assert_eq!(
        help("name = \"name\", "),
        ["pack/nameless-call: did you mean `name = \"@name\"`? then its opener says which"]
    );
    assert_eq!(help(""), ["pack/nameless-call: say where the action's name is, as in `name = \"@type\"`"]);
}

#[test]
fn a_prompt_that_leaves_out_what_the_user_says() {
    let severity = |layers: &str| {
        let tables =
            format!("[tiers.all]\ncontext = 8000\nreserve = 1000\n[prompts.main]\nlayers = [{layers}]\n[modes.open]");
        let pack = PACK.replace("[modes.open]", &tables);
        let files =
            [("pack.toml", pack.as_str()), ("grammar/marks.pest", GRAMMAR), ("prompt/all.md", "pay {{ braces }}")];
        let found = reviewed(files).into_iter().filter(|one| one.code == "prompt/no-message");
        found.map(|one| one.severity.to_string()).collect::<String>()
    };
    let (all, history, message) = (
        "{ id = \"all\", text = \"prompt/all.md\" }, ",
        "{ id = \"h\", source = \"history\" }, ",
        "{ id = \"m\", source = \"message\" }",
    );
    // A host may add both the turns and the message, but is unlikely to add only the message.
    assert_eq!(severity(all), "info");
    assert_eq!(severity(&[all, history].concat()), "warning");
    assert_eq!(severity(&[all, history, message].concat()), "");
}

#[test]
fn an_entry_of_a_list_with_the_header_of_a_table() {
    let rule = "effects = [{ go = \"shut\" }]\n[rules.late]\nid = \"late\"";
    check("effects = [{ go = \"shut\" }]", rule, "pack/unknown-key", "late", "in double brackets");
}

#[test]
fn headers_in_the_wrong_brackets() {
    let twice = "[inputs]\nclass = \"late\"\n[inputs]";
    check("[[inputs]]", twice, "pack/wrong-type", "[inputs]", "in double brackets: `[[…]]`");
    check("[modes.shut]", "[[modes.shut]]", "pack/wrong-type", "[[modes.shut]]", "in single brackets: `[modes.shut]`");
}

#[test]
fn operators_of_other_languages() {
    let (when, code) = ("params.sum.amount <= data.limits.large.most", "pack/unknown-variable");
    let long = "sum = { type = \"object\", required = true, properties = { amount = { type = \"number\" }, why = { type = \"string\" } } }";
    let sum = "sum = { type = \"object\", required = true, properties = { amount = { type = \"number\" } } }";
    let reported = |condition: &str| {
        let found = slips(&[(sum, long), (when, condition)]);
        let [(its, word, help)] = found.as_slice() else { panic!("{condition}: {found:?}") };
        assert_eq!(its, code, "{condition}");
        format!("{word}: {help}")
    };
    assert_eq!(reported("params.sum.why.length > 3"), "params.sum.why.length: say `params.sum.why | length`");
    assert_eq!(reported("params.sum.amount.value > 3"), "params.sum.amount.value: it has no members");
    assert_eq!(reported("params.sum.amount != null"), "null: say `none`");
    assert_eq!(slips(&[(sum, long), (when, "params.sum.why[0] == 'a' and params.sum.why | length > 3")]), []);
    let state = "[state.open]\ntype = \"boolean\"\ndefault = true\n[modes.open]";
    let found = slips(&[("[modes.open]", state), (when, "state.open.now")]);
    assert!(found.iter().any(|one| one.2 == "it has no members"), "{found:?}");
}

#[test]
fn functions_of_other_languages() {
    let sum = "sum = { type = \"object\", required = true, properties = { amount = { type = \"number\" } } }";
    let long = sum.replace("amount = {", "why = { type = \"string\" }, amount = {");
    let reported = |condition: &str| {
        let found = slips(&[(sum, &long), ("params.sum.amount <= data.limits.large.most", condition)]);
        let [(code, word, help)] = found.as_slice() else { panic!("{condition}: {found:?}") };
        assert_eq!(code, "pack/bad-expression", "{condition}");
        format!("{word}: {help}")
    };
    assert_eq!(reported("len(params.sum.why) < 5"), "len: say `params.sum.why | length`");
    assert_eq!(reported("lower(params.sum.why) == 'x'"), "lower: say `params.sum.why | lower`");
    assert_eq!(reported("params.sum.why.strip() == 'x'"), ".strip(): say `params.sum.why | trim`");
    assert_eq!(
        reported("params.sum.why.replace('a', 'b')"),
        ".replace('a', 'b'): say `params.sum.why | replace('a', 'b')`"
    );
    assert_eq!(
        reported("params.sum.why.startsWith('x')"),
        ".startsWith('x'): say `params.sum.why is startingwith('x')`"
    );
    assert_eq!(reported("contains(params.sum.why, 'x')"), "contains: say `'x' in params.sum.why`");
    assert_eq!(reported("now() == 'x'"), "now: say `now`, without parentheses");
    assert_eq!(reported("ranges(3)"), "ranges: did you mean `range`?");
    assert!(!reported("params.sum.amount == ").contains("compares"));
}

#[test]
fn statements_that_do_not_end() {
    let reported = |says: &str| {
        let state = "[state.notes]\ntype = \"array\"\ndefault = []\n";
        let message = format!("{state}[messages.m]\nsays = '''{says}'''\n[[inputs]]");
        let found = slips(&[("[[inputs]]", &message), ("class   = \"bye\"", "class   = \"bye\"\nask = \"m\"")]);
        let [(code, word, help)] = found.as_slice() else { panic!("{says}: {found:?}") };
        assert_eq!(code, "pack/bad-expression", "{says}");
        format!("{word}: {help}")
    };
    assert_eq!(reported("a {% for x in state.notes %} {{ x }}"), "for: put `{% endfor %}` after what it repeats");
    assert_eq!(reported("a {% if state.notes %} b\n"), "if: put `{% endif %}` after what depends on it");
    assert_eq!(reported("{% for x in state.notes %} {% if x %} c {% endfor %}"), "endfor: say `{% endif %}`");
    assert_eq!(reported("a {% endfor %}"), "endfor: take it out, or put the statement that it ends before it");
}

#[test]
fn names_of_roles_from_other_products_suggest_ours() {
    let (right, wrong) = ("{ role = \"call\"", "{ role = \"action\"");
    check(right, wrong, "pack/wrong-value", "\"action\"", "did you mean `call`?");
    check("role = \"content\"", "role = \"file\"", "pack/wrong-value", "\"file\"", "did you mean `content`?");
}

#[test]
fn a_pattern_of_a_schema_that_is_too_large_is_reported_at_its_place() {
    let large = "pattern = \"^([a-z]{1,1000}){1000}$\"";
    let word = "\"^([a-z]{1,1000}){1000}$\"";
    check("required = true", large, "pack/bad-schema", word, "bound its repetitions");
    assert_eq!(findings("required = true", "required = true, pattern = \"^([a-z]{1,30}){30}$\""), []);
}

#[test]
fn a_model_that_is_never_asked_again() {
    let asks = "[ask_again]\ntokens = 300\nmost = 1\n";
    assert_eq!(reported(asks), ["warning pack/wrong-value 1"]);
    assert_eq!(reported(&format!("{asks}[degradation]\nunknown-action = [\"ask-again\", \"drop\"]")), [""; 0]);
    let guardrail =
        "[[guardrails]]\nid = \"g\"\non = \"message\"\nmatches = \"x\"\nadvice = \"no\"\nstrategy = \"ask-again\"";
    assert_eq!(reported(&format!("{asks}{guardrail}")), [""; 0]);
}

#[test]
fn independent_faults_are_reported_beside_a_missing_pack() {
    let used = ("start = \"open\"", "start = \"open\"\nuse = [\"../nowhere\"]");
    let permit = ("action = \"pay\"", "action = \"from_there\"");
    let codes = |slip: &[(&str, &str)]| {
        let slips = slips(&[&[used, permit], slip].concat());
        slips.into_iter().map(|one| one.0).filter(|code| code != "pack/unreadable").collect::<Vec<_>>()
    };
    assert_eq!(codes(&[]), [""; 0]);
    assert_eq!(codes(&[("'\\bbye\\b'", "'('")]), ["pack/bad-pattern"]);
    assert_eq!(codes(&[("type = \"number\"", "type = \"numbr\"")]), ["pack/bad-schema"]);
    assert_eq!(codes(&[("{{ key }}", "{{ key | }}")]), ["pack/bad-expression"]);
}

#[test]
fn comparisons_of_values_of_different_kinds() {
    let sum = "sum = { type = \"object\", required = true, properties = { amount = { type = \"number\" } } }";
    let long = sum.replace(
        "amount = {",
        "why = { type = \"string\" }, tags = { type = \"array\", items = { type = \"string\" } }, yes = { type = \"boolean\" }, any = {}, amount = {",
    );
    let all = |condition: &str| {
        let condition = condition.replace("sum.", "params.sum.");
        let found = slips(&[(sum, &long), ("params.sum.amount <= data.limits.large.most", &condition)]);
        let idle = |one: &&(String, String, String)| one.0 == "pack/idle-comparison";
        found.iter().filter(idle).map(|one| format!("{}: {}", one.1, one.2)).collect::<Vec<_>>()
    };
    assert_eq!(all("sum.why == 5"), ["5: it is a text: say `'5'`"]);
    assert_eq!(all("sum.why != true"), ["true: it is a text"]);
    assert_eq!(all("sum.amount == '5'"), ["'5': it is a number: say `5`, without quotes"]);
    assert_eq!(all("'much' == sum.amount"), ["'much': it is a number"]);
    assert_eq!(all("sum.amount in [1, 'x']"), ["'x': it is a number"]);
    assert_eq!(all("sum.yes == 'true'"), ["'true': it is a boolean: say `true`, without quotes"]);
    assert_eq!(all("sum.tags == 'x'"), ["'x': it is a list: say `… in params.sum.tags` for one of its entries"]);
    assert_eq!(all("5 in sum.tags"), ["5: it is a text: say `'5'`"]);
    let fine =
        "sum.why == '5' or 'a' in sum.why or sum.any == 5 or sum.amount == 5 or sum.yes == false or sum.yes == 1";
    assert_eq!(all(fine), [""; 0]);
    // A permit for several actions is checked with the parameters of each.
    let other = "[actions.pay_later]\nparams = { why = {} }\n[actions.pay_now]\nparams = { why = { type = \"string\" } }\n[modes.open]";
    let permit = |named: &str| {
        format!("permits = [{{ action = \"pay_{named}\", when = \"params.why == 5\" }}, {{ action = \"pay\"")
    };
    let idle = |named: &str| {
        let found = slips(&[("[modes.open]", other), ("permits = [{ action = \"pay\"", &permit(named))]);
        found.iter().any(|one| one.0 == "pack/idle-comparison")
    };
    assert_eq!((idle("now"), idle("*")), (true, false));
}

#[test]
fn a_gate_for_an_unknown_mode() {
    let gate = "exits   = [{ to = \"shut\", gate = \"mode == 'opne'\" }]";
    check("exits   = [\"shut\"]", gate, "pack/shut-gate", "'opne'", "did you mean `open`?");
}

#[test]
fn examples_and_defaults_that_a_schema_refuses_are_reported_in_place() {
    let pack =
        |param: &str| reported(&format!("[actions.go]\nparams = {{ why = {param} }}\n[modes.m]\npermits = [\"go\"]"));
    let misfit = |word: &str| format!("warning pack/misfit-example {word}");
    assert_eq!(pack("{ type = \"string\", minLength = 3, example = \"x\" }"), [misfit("\"x\"")]);
    assert_eq!(pack("{ type = \"integer\", default = \"one\" }"), [misfit("\"one\"")]);
    assert_eq!(pack("{ type = \"integer\", examples = [\"one\"] }"), [misfit("[\"one\"]")]);
}

#[test]
fn names_of_attributes_are_lower_case_if_case_is_ignored() {
    let pack = |case: &str, name: &str| {
        let tables = format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\n{case}\nanchor = \"line\"\n[dialects.d.blocks]\n\
             message = {{ role = \"message\" }}\nfile = {{ role = \"content\", key = \"@path\" }}\n\
             [contents.file]\neffects = [{{ emit = \"kept\", value = \"{{{{ attributes.{name} }}}}\" }}]\n"
        );
        reported_of(&tables)
    };
    let insensitive = "case = \"insensitive\"";
    assert_eq!(pack(insensitive, "Title"), ["error pack/unknown-variable attributes.Title"]);
    assert_eq!(pack(insensitive, "title"), [""; 0]);
    assert_eq!(pack("", "Title"), [""; 0]);
}

#[test]
fn keys_of_other_tools() {
    let exit = "exits   = [\"shut\"]";
    let reported = |right: &str, wrong: &str| {
        let found = findings(right, wrong);
        let [(code, word, help)] = found.as_slice() else { panic!("{wrong}: {found:?}") };
        assert_eq!(code, "pack/unknown-key", "{wrong}");
        format!("{word}: {help}")
    };
    let gated = "exits   = [{ to = \"shut\", when = \"mode == 'open'\" }]";
    assert_eq!(reported(exit, gated), "when: did you mean `gate`?");
    assert_eq!(reported("matches = '\\bbye\\b'", "pattern = '\\bbye\\b'"), "pattern: did you mean `matches`?");
    assert_eq!(reported("permits = [", "allow = ["), "allow: did you mean `permits`?");
    assert_eq!(reported("[actions.pay.params]", "[actions.pay.arguments]"), "arguments: did you mean `params`?");
}

#[test]
fn a_value_in_place_of_its_schema() {
    let help = |value: &str| {
        let found = findings("[modes.open]", &format!("[state]\nturns = {value}\n[modes.open]"));
        let [(code, word, help)] = found.as_slice() else { panic!("{value}: {found:?}") };
        assert_eq!((code.as_str(), word.as_str()), ("pack/bad-schema", value));
        help.clone()
    };
    assert!(help("0").ends_with("say `{ type = \"integer\", default = 0 }`"));
    assert!(help("[]").ends_with("say `{ type = \"array\", default = [] }`"));
    assert!(help("true").ends_with("say `{ type = \"boolean\", default = true }`"));
    assert_eq!(help("\"integer\""), "say `{ type = \"integer\" }`");
    assert_eq!(help("\"some words\""), "for a text say `{ type = \"string\" }`");
}

/// Names that some grammar reads, and patterns that take any name, are not reported.
#[test]
fn a_name_that_no_grammar_reads_is_reported() {
    let bad = |name: &str| {
        let found = findings("table   = {", &format!("{name} = {{ role = \"section\" }}\ntable   = {{"));
        found.into_iter().filter(|(code, ..)| code.ends_with("pack/bad-block")).count()
    };
    assert_eq!(["\"my table\"", "\"größe\"", "r2"].map(bad), [1, 1, 1]);
    assert_eq!(["rows", "\"r?*\"", "\"my *\""].map(bad), [0, 0, 0]);
}

/// A rule with a lookahead may match nothing at the place that it looks at.
#[test]
fn an_opener_that_nothing_can_report_from_text_is_reported() {
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"own\"\nblocks = { \"*\" = { role = \"section\" } }\n";
    let reported = |grammar: &str| {
        let found = reviewed([("pack.toml", pack), ("grammar/own.pest", grammar)]);
        found.into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    let name = "name = @{ ASCII_ALPHA+ }\n";
    let nameless = "no opener of the grammar `own` has a `name`";
    assert_eq!(reported(&format!("open = {{ &(name ~ \":\") }}\n{name}")), [nameless]);
    assert_eq!(reported(&format!("open = @{{ \"<\" ~ name ~ \">\" }}\n{name}")), [nameless]);
    let everywhere = |rule: &str| format!("the rule `{rule}` of the grammar `own` matches everywhere");
    assert_eq!(reported("open = { name ~ \"!\"? }\nname = @{ \"a\"? }\n"), [everywhere("open")]);
    assert_eq!(reported(&format!("open = {{ \"<\" ~ name }}\nclose = {{ \">\"? }}\n{name}")), [everywhere("close")]);
    let ahead = "open = { name ~ &\"Q:\" }\nname = @{ \"\" }\nclose = { &(NEWLINE | !ANY) }\n";
    assert_eq!(reported(ahead), [""; 0]);
}

#[test]
fn a_spelling_that_means_two_actions_is_reported() {
    let pay = "[actions.pay]\n";
    check(pay, "[actions.pay]\nnames = [\"give\", \"give\"]\n", "pack/duplicate-name", "\"give\"", "one action");
    check(pay, "[actions.pay]\nnames = [\"pay\"]\n", "pack/duplicate-name", "\"pay\"", "one action");
}

#[test]
fn a_key_for_calls_alone_is_reported_at_a_block() {
    let reply = |row: &str| format!("[reply]\n{row}\n[modes.open]");
    let check = |row: &str, word: &str, help: &str| check("[modes.open]", &reply(row), "pack/bad-block", word, help);
    check("message = { last = true }", "true", "only `calls` may be last");
    check("table = { least = 1 }", "1", "say `required = true`");
}
