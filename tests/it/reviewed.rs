//! Reviewed packs: does a declaration that `check` reports as dead never take effect?

use crate::texts::{faults, program_of, reviewed};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use rulebook::{FilePlace, Folder, Options};
use serde_json::json;
use std::collections::BTreeSet;

const MODES: [&str; 3] = ["a", "b", "c"];
const PATTERNS: [&str; 9] = ["x", "(?i)x", "y?", r"\by", "x|y", r"\A\s*\z", "[xyz]+", r"(?i)\bx\b", r"^\W*y$"];
const TEXTS: [&str; 9] = ["", " ", "x", "X", "y", "xy", "y x", "zzz", "x y"];

/// A random list of inputs, each with patterns, an `unless` and modes.
fn inputs() -> impl Strategy<Value = Vec<String>> {
    let list = |most| prop::collection::btree_set(0..PATTERNS.len(), 0..=most);
    let one = (list(2), list(1), prop::collection::btree_set(0..MODES.len(), 0..=2));
    prop::collection::vec(one, 1..6).prop_map(|inputs| {
        let table = |(number, (matches, unless, modes)): (usize, _)| {
            let quoted = |names: &[&str], some: &BTreeSet<usize>| {
                some.iter().map(|one| format!("'{}'", names[*one])).collect::<Vec<_>>().join(", ")
            };
            let key = |key: &str, names: String| match names.as_str() {
                "" => String::new(),
                names => format!("{key} = [{names}]\n"),
            };
            format!("[[inputs]]\nclass = \"c{number}\"\n")
                + &key("matches", quoted(&PATTERNS, &matches))
                + &key("unless", quoted(&PATTERNS, &unless))
                + &key("in", quoted(&MODES, &modes))
        };
        inputs.into_iter().enumerate().map(table).collect()
    })
}

/// Random rules that change the mode, on inputs or changes of mode, with or without a condition.
fn rules() -> impl Strategy<Value = Vec<String>> {
    let on = prop::sample::select(vec!["start", "input.c0", "input.c1", "enter.a", "enter.b", "leave.a", "reply"]);
    let when = prop::sample::select(vec!["", "when = \"state.flag == 'two'\"\n", "when = \"state.flag == 'no'\"\n"]);
    let set = prop::sample::select(vec!["", "{ set = \"flag\", value = \"two\" }, "]);
    let go = prop::sample::select(MODES.to_vec());
    let modes = prop::sample::subsequence(MODES.to_vec(), 0..=2);
    prop::collection::vec((on, when, set, go, modes), 0..6).prop_map(|rules| {
        let table = |(number, (on, when, set, go, modes)): (usize, (&str, &str, &str, &str, Vec<&str>))| {
            let place = if modes.is_empty() { String::new() } else { format!("in = {modes:?}\n") };
            format!("[[rules]]\nid = \"r{number}\"\non = \"{on}\"\n{place}{when}effects = [{set}{{ go = \"{go}\" }}]\n")
        };
        rules.into_iter().enumerate().map(table).collect()
    })
}

/// Every mode has exits to all modes and rules that use them, so that most packs have no fault in their graph of modes.
const MODES_TABLE: &str = r#"[modes.a]
exits = ["a", { to = "b", gate = "state.flag != 'no'" }, "c"]
final = true
[modes.b]
exits = ["a", "b", "c"]
final = true
[modes.c]
exits = ["a", { to = "b", gate = "state.flag == 'one'" }, "c"]
final = true
[[rules]]
id = "around"
on = "reply"
in = ["a"]
effects = [{ go = "b", when = "state.flag == 'two'" }, { go = "c", when = "state.flag == 'one'" }]
"#;

/// Checks that no declaration that `check` reports as dead ever takes effect. Returns how many there are; `None` if the
/// pack cannot run.
fn check(inputs: &[String], rules: &[String]) -> Result<Option<usize>, TestCaseError> {
    let mut known = inputs.concat();
    // Declares every class that a rule may name.
    for class in ["c0", "c1"] {
        if !known.contains(&format!("\"{class}\"")) {
            known += &format!("[[inputs]]\nclass = \"{class}\"\nmatches = 'never said'\n");
        }
    }
    let pack = format!(
        "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = {{ role = \"message\" }}\n\
         [state.flag]\ntype = \"string\"\ndefault = \"one\"\n{MODES_TABLE}{known}{}",
        rules.concat()
    );
    let loaded = rulebook::check::review(&Folder::new("p", [("pack.toml", pack.as_str())]));
    let codes = ["pack/shadowed-input", "pack/shadowed-rule", "pack/idle-rule"];
    let dead = loaded.diagnostics.iter().filter(|one| codes.contains(&one.code.to_string().as_str()));
    let dead: BTreeSet<FilePlace> = dead.filter_map(|one| loaded.sources.place(one.at?)).collect();
    let Some(program) = loaded.value else { return Ok(None) };
    // Only values that a rule can set are tried.
    let flags = if pack.contains("value = \"two\"") { &["one", "two"][..] } else { &["one"] };
    for mode in MODES {
        for flag in flags {
            let session = program.resume(json!({ "mode": mode, "state": { "flag": flag } })).unwrap();
            let traced = Options { trace: true, ..Options::default() };
            let heard = TEXTS.iter().map(|text| program.hear(&session, text, &traced));
            for heard in heard.chain([program.start(&session, &traced)]) {
                let steps =
                    heard.trace.iter().flatten().filter(|step| ["input", "rule", "mode"].contains(&step.step.word()));
                let alive: Vec<&FilePlace> = steps.filter_map(|step| step.rule.as_ref()).collect();
                prop_assert!(!alive.iter().any(|place| dead.contains(*place)), "{dead:?} {alive:?}\n{pack}");
            }
        }
    }
    Ok(Some(dead.len()))
}

#[test]
fn inputs_and_rules_called_dead_never_match() {
    let (mut ran, mut dead) = (0, 0);
    let mut runner = TestRunner::deterministic();
    let strategy = (inputs(), rules());
    for _ in 0..400 {
        let (inputs, rules) = strategy.new_tree(&mut runner).unwrap().current();
        if let Some(found) = check(&inputs, &rules).unwrap() {
            (ran, dead) = (ran + 1, dead + found);
        }
    }
    assert!(ran > 100 && dead > 100, "of 400 packs {ran} ran, with {dead} findings");
}

#[test]
fn a_gate_on_a_value_that_is_never_set_is_shut() {
    let pack = |gate: &str, set: &str| {
        let pack = format!(
            "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = {{ role = \"message\" }}\n\
             [state.flag]\ntype = \"string\"\ndefault = \"one\"\n[state.loud]\ncompute = \"{{{{ state.flag | upper }}}}\"\n\
             [modes.a]\nexits = [{{ to = \"b\", gate = \"{gate}\" }}]\n[modes.b]\nfinal = true\n\
             [[rules]]\nid = \"r\"\non = \"reply\"\nin = [\"a\"]\neffects = [{{ set = \"flag\", value = \"{set}\" }}, {{ go = \"b\" }}]\n"
        );
        faults([("pack.toml", pack)]).iter().any(|one| one.code == "pack/shut-gate")
    };
    assert!(pack("state.flag == 'three'", "two"));
    assert!(pack("state.loud == 'two' and mode == 'a'", "two"));
    assert!(pack("mode == 'b'", "two"));
    assert!(!pack("state.loud == 'TWO'", "two"));
    assert!(!pack("state.loud == 'ONE'", "two"));
    assert!(!pack("state.flag == 'three'", "{{ reply.message }}"));
    assert!(!pack("state.flag == 'three' or now is none", "two"));
}

#[test]
fn a_gate_on_a_value_set_only_after_it_is_shut() {
    let flow = |gate: &str, opens: &str, rest: &str| {
        format!(
            "[state.flag]\ntype = \"boolean\"\ndefault = false\n\
             [modes.chat]\nexits = [{{ to = \"tidy\"{gate} }}]\n[modes.tidy]\nfinal = true\n\
             [[rules]]\nid = \"go\"\non = \"reply\"\nin = [\"chat\"]\n{rest}effects = [{{ go = \"tidy\" }}]\n\
             [[rules]]\nid = \"opens\"\non = \"{opens}\"\neffects = [{{ set = \"flag\", value = true }}]\n"
        )
    };
    let gate = ", gate = \"state.flag\"";
    let before = "nothing that happens before it";
    corrects("pack/shut-gate", before, &flow(gate, "enter.tidy", ""), &flow(gate, "start", ""));
    corrects("pack/shut-gate", before, &flow(gate, "leave.chat", ""), &flow(gate, "reply", ""));
    // If the change happens although the gate is shut, so do its events.
    let kept = "[degradation]\ngate-closed = \"keep\"\n";
    corrects("pack/shut-gate", before, &flow(gate, "enter.tidy", ""), &(flow(gate, "enter.tidy", "") + kept));
    let (never, waits) = ("when = \"1 == 2\"\n", "when = \"state.flag\"\n");
    let code = "pack/unreachable-mode";
    corrects(code, "no `go` to the mode `tidy` ever happens", &flow("", "reply", never), &flow("", "reply", ""));
    corrects(
        code,
        "no `go` to the mode `tidy` ever happens",
        &flow("", "enter.tidy", waits),
        &flow("", "reply", waits),
    );
    // There is no further finding about a mode that cannot be reached, nor about the mode before it.
    let found = findings(&flow("", "reply", never));
    assert!(found.iter().filter(|(code, _)| code.starts_with("pack/")).count() == 1, "{found:?}");
}

#[test]
fn a_mode_whose_only_way_out_never_happens_is_a_dead_end() {
    let flow = |when: &str| {
        format!(
            "[modes.chat]\nexits = [\"tidy\"]\n[modes.tidy]\nexits = [\"chat\"]\n\
             [[rules]]\nid = \"go\"\non = \"reply\"\nin = [\"chat\"]\neffects = [{{ go = \"tidy\" }}]\n\
             [[rules]]\nid = \"back\"\non = \"reply\"\nin = [\"tidy\"]\neffects = [{{ go = \"chat\"{when} }}]\n"
        )
    };
    let when = |when: &str| flow(&format!(", when = \"{when}\""));
    corrects(
        "pack/dead-end",
        "no `go` out of the mode `tidy` ever happens",
        &when("false"),
        &when("state.notes == []"),
    );
}

#[test]
fn a_schema_that_requires_itself_within_itself_has_no_value() {
    let tree = |own: &str, others: &str| {
        format!(
            "[actions.keep_note.params.tree]\ntype = \"object\"\n\
             [actions.keep_note.params.tree.properties.x]\n{own}\"$ref\" = \"#/properties/leaf\"\n\
             [actions.keep_note.params.leaf]\n\
             [actions.keep_note.params.leaf.properties.y]\nrequired = true\n{others}\n"
        )
    };
    let back = "\"$ref\" = \"#/properties/tree\"";
    let typed = |tables: String| tables.replace("params.leaf]\n", "params.leaf]\ntype = \"object\"\n");
    let code = "pack/unsatisfiable-schema";
    let of = |tables: &str| findings(tables).into_iter().filter(|(own, _)| own == code).count();
    // Neither of the two schemas has a valid value: each requires the other.
    assert_eq!(of(&typed(tree("required = true\n", back))), 2);
    assert_eq!(of(&typed(tree("", back))), 0);
    // If the value need not be an object, it may be a text.
    assert_eq!(of(&tree("required = true\n", back)), 0);
    assert_eq!(
        of(&typed(tree("required = true\n", "type = \"array\"\nitems = { \"$ref\" = \"#/properties/tree\" }"))),
        0
    );
    let least = "type = \"array\"\nminItems = 1\nitems = { \"$ref\" = \"#/properties/tree\" }";
    assert_eq!(of(&typed(tree("required = true\n", least))), 2);
    let either = "anyOf = [{ \"$ref\" = \"#/properties/tree\" }, { type = \"null\" }]";
    assert_eq!(of(&typed(tree("required = true\n", either))), 0);
}

#[test]
fn words_of_data_keep_their_blanks_in_a_verbose_pattern() {
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }\n\
                [data]\nwords = [\"great question\", \"so #1\"]\n\
                [[guardrails]]\nid = \"praise\"\non = \"message\"\nadvice = \"less\"\n\
                matches = '(?ix) \\b {{ data.words }} # said in praise'\n";
    let program = program_of(pack);
    let trips = |text: &str| {
        let outcome = program.run(&program.session(), &format!("<message>{text}</message>"));
        outcome.diagnostics.iter().any(|one| one.message.contains("less") || one.id.as_deref() == Some("praise"))
    };
    assert!(trips("A Great question!") && trips("You are so #1"));
    assert!(!trips("A greatquestion!") && !trips("You are so#1"));
}

/// The findings of `check` for the pack of the pages, with these tables merged into it.
fn findings(tables: &str) -> Vec<(String, String)> {
    let pack = crate::snippets::lay_over(&crate::snippets::base(), tables);
    reviewed([("pack.toml", pack)]).into_iter().map(|one| (one.code, one.message)).collect()
}

/// Checks that the tables `broken` have one finding of this code with these words in its message, and the tables
/// `corrected` none.
#[track_caller]
fn corrects(code: &str, words: &str, broken: &str, corrected: &str) {
    let of_code = |tables| findings(tables).into_iter().filter(|(own, _)| own == code).collect::<Vec<_>>();
    let found = of_code(broken);
    assert!(found.len() == 1 && found[0].1.contains(words), "{found:?} {:?}", findings(broken));
    assert_eq!(of_code(corrected), [], "{corrected}");
}

#[test]
fn the_mode_of_a_pack_without_modes_has_a_name() {
    let found = |tables: &str| {
        let dialect = "[dialects.d]\ngrammar = 'tags'\nblocks = { message = { role = 'message' } }";
        let found = reviewed([("pack.toml", format!("[pack]\nname = 'p'\n{dialect}\n{tables}"))]);
        found.iter().map(|one| format!("{} {}", one.code, one.message)).collect::<Vec<_>>()
    };
    let guardrail = |mode| format!("[[guardrails]]\nid = 'g'\non = 'message'\nmatches = 'x'\nin = '{mode}'");
    assert_eq!(found(&guardrail("default")), [""; 0]);
    assert_eq!(found(&guardrail("other")), ["pack/unknown-mode no table declares the mode `other`"]);
    let go = "[[rules]]\nid = 'r'\non = 'reply'\neffects = [{ go = 'default' }]";
    assert_eq!(found(go), ["pack/no-exit the mode `default` has no exit to `default`"]);
}

#[test]
fn what_a_block_holds_may_close_it() {
    let code = "pack/own-closer";
    let field = |name| {
        format!("[actions.keep_note.params.more]\ntype = \"array\"\nitems = {{ properties = {{ {name} = {{}} }} }}")
    };
    corrects(code, "the field `action` of `keep_note`", &field("action"), &field("step"));
    let named = |name| {
        format!("[dialects.tagged.blocks.action]\nclose = [\"@type\"]\n[actions.keep_note.params]\n{name} = {{}}")
    };
    corrects(code, "the field `keep_note`", &named("keep_note"), &named("action"));
    let value = |text| {
        let block = "[dialects.tagged.blocks.do]\nrole = \"call\"\nname = \"@type\"\npayload = \"json\"";
        format!("{block}\n[actions.keep_note.params]\nkind = {{ enum = [\"{text}\"] }}")
    };
    corrects(code, "the value `a</do>b`", &value("a</do>b"), &value("a</done>b"));
    let text = |role, anchor| format!("[dialects.tagged.blocks.page]\nrole = \"{role}\"\nanchor = \"{anchor}\"");
    let content = |anchor| text("content", anchor) + "\nkey = \"@path\"";
    corrects(code, "quotes the closer of the block `page`", &content("anywhere"), &content("line"));
    // `decode` of the dialect does not apply to contents.
    let decoded = |anchor| content(anchor) + "\n[dialects.tagged]\ndecode = \"entities\"";
    corrects(code, "quotes the closer of the block `page`", &decoded("anywhere"), &decoded("line"));
    let entities =
        |role| format!("[dialects.tagged.blocks.page]\nrole = \"{role}\"\ndecode = \"entities\"\nanchor = \"line\"");
    let page = entities("content") + "\nkey = \"@path\"";
    corrects("pack/bad-block", "no entity in a content is decoded", &page, &entities("section"));
    let call = |anchor| text("call", anchor) + "\npayload = \"text\"\nname = \"keep_note\"";
    corrects(code, "quotes the closer of the block `page`", &call("anywhere"), &call("line"));
    let held = |close| format!("[dialects.tagged.blocks.message]\nclose = [\"{close}\"]");
    corrects(code, "closes the block `message` that contains it", &held("action"), &held("message"));
}

#[test]
fn patterns_are_compared_by_what_they_match() {
    let inputs = |first, second| {
        format!("[[inputs]]\nclass = \"a\"\nmatches = '{first}'\n[[inputs]]\nclass = \"b\"\nmatches = '{second}'")
    };
    corrects(
        "pack/shadowed-input",
        "input of the class `b` never matches",
        &inputs("hello|hi", "hi"),
        &inputs("hi", "hello|hi"),
    );
    corrects(
        "pack/shadowed-input",
        "input of the class `b` never matches",
        &inputs(r"(?i)\bbye\b", "^(bye|Bye)[.!]*$"),
        &inputs(r"\bbye\b", "^Bye"),
    );
    let guardrails = |second, excuse| {
        let one = |id, pattern| format!("[[guardrails]]\nid = \"{id}\"\non = \"message\"\nmatches = '{pattern}'\n");
        one("a", "very (good|bad)") + &one("b", second) + excuse
    };
    corrects(
        "pack/repeated-guardrail",
        "`b` looks for the same as `a`",
        &guardrails("very (bad|good)+", ""),
        &guardrails("very good", ""),
    );
    assert_eq!(
        findings(&guardrails("very (bad|good)", "excuse = 'not'\n"))
            .iter()
            .filter(|(code, _)| code == "pack/repeated-guardrail")
            .count(),
        0
    );
}

#[test]
fn a_comparison_with_an_impossible_text_suggests_the_nearest() {
    let declared = r#"[actions.sort_notes]
params = { by = { enum = ["age", "name"] }, tags = { type = "array", items = { enum = ["red"] } }, any = { type = "string" } }
effects = [{ emit = "sorted" }]
[state.list]
type = "array"
items = { type = "object", properties = { kind = { enum = ["note", "task"] } } }
default = []
from = "host"
[modes.tidy]
permits = [{ action = "sort_notes", when = "#;
    let finds = |condition: &str, word: Option<&str>| {
        let found = findings(&format!("{declared}{condition:?} }}]\n"));
        let reported: Vec<&str> = found
            .iter()
            .filter(|(code, _)| code == "pack/idle-comparison")
            .map(|(_, message)| message.as_str())
            .collect();
        assert_eq!(reported, word.into_iter().collect::<Vec<_>>(), "{condition} {found:?}");
    };
    finds("params.by == 'aeg'", Some("`params.by` is never `aeg`"));
    finds("'aeg' != params['by']", Some("`params.by` is never `aeg`"));
    finds("params.by is eq('aeg')", Some("`params.by` is never `aeg`"));
    finds("params.by in ['age', 'nmae']", Some("`params.by` is never `nmae`"));
    finds("params.by not in ['x'] and mode == 'tidy'", Some("`params.by` is never `x`"));
    finds("'blue' in params.tags", Some("`params.tags[]` is never `blue`"));
    finds("params.by == params.any == 'x'", None);
    finds("mode == 'tdy'", Some("`mode` is never `tdy`"));
    finds("reply.dialect == 'tags'", Some("`reply.dialect` is never `tags`"));
    finds(
        "reply.calls | selectattr('action', 'eq', 'sort') | list | length == 0",
        Some("`reply.calls[].action` is never `sort`"),
    );
    finds(
        "state.list | rejectattr('kind', 'ne', 'tsk') | list | length == 0",
        Some("`state.list[].kind` is never `tsk`"),
    );
    finds("state.list[0].kind == 'tsk'", Some("`state.list[].kind` is never `tsk`"));
    // The default of a value, or a value computed from it, may be one that the schema does not list.
    finds("params.by | default('none') == 'none'", None);
    finds("params.by | upper == 'AGE'", None);
    finds("params.by == params.any or params.any == 'aeg' or params.by == 1", None);
    finds("params.by in 'age or name'", None);
    // A permit for several actions is right if one of them can have the value.
    let declared = declared.replace("\"sort_notes\"", "\"sort_*\"");
    let other = "\n[actions.sort_pages]\nparams = { by = { enum = [\"colour\"] } }\neffects = [{ emit = \"found\" }]\n";
    let of_several = |word: &str| findings(&format!("{declared}\"params.by == '{word}'\" }}]\n{other}"));
    assert!(of_several("colour").iter().all(|(code, _)| code != "pack/idle-comparison"));
    assert_eq!(of_several("size").iter().filter(|(code, _)| code == "pack/idle-comparison").count(), 1);
}

#[test]
fn a_condition_beside_a_permit_without_one_is_idle() {
    let idle = |permits: &str| {
        let found = findings(&format!("[modes.tidy]\npermits = [{permits}]\n"));
        found.into_iter().filter(|(code, _)| code == "pack/idle-permit").count()
    };
    let when = "when = \"state.notes | length < 3\"";
    assert_eq!(idle(&format!("\"clear_notes\", {{ action = \"clear_notes\", {when} }}")), 1);
    assert_eq!(idle(&format!("{{ action = \"clear_notes\", {when} }}, \"clear_*\"")), 1);
    assert_eq!(idle(&format!("\"keep_note\", {{ action = \"clear_notes\", {when} }}")), 0);
    // The condition has an effect for the other actions.
    assert_eq!(idle(&format!("\"clear_notes\", {{ action = \"*\", {when} }}")), 0);
    assert_eq!(idle(&format!("\"*\", {{ action = \"*\", {when} }}")), 1);
}

#[test]
fn a_default_fits_its_schema() {
    let with = |default: &str| {
        let params = format!("params = {{ by = {{ enum = [\"age\", \"name\"], default = {default} }} }}");
        findings(&format!(
            "[actions.sort_notes]\n{params}\neffects = [{{ emit = \"sorted\" }}]\n[modes.tidy]\npermits = [\"sort_notes\"]\n"
        ))
    };
    let refused = |found: &[(String, String)]| found.iter().any(|(code, _)| code == "pack/misfit-example");
    assert!(refused(&with("\"aeg\"")), "{:?}", with("\"aeg\""));
    assert!(!refused(&with("\"age\"")));
}

#[test]
fn members_of_the_state_are_set_and_read() {
    let pack = |schema: &str, set: &str, read: &str| {
        format!(
            "[state.project]\n{schema}\n[modes.tidy]\npermits = [{{ action = \"clear_notes\", when = \"{read}\" }}]\n\
             [[actions.clear_notes.effects]]\n{set}\n[[actions.clear_notes.effects]]\nset = \"notes\"\nvalue = \"{{{{ state.notes }}}}\""
        )
    };
    let open = "type = \"object\"\ndefault = { title = \"\" }";
    let set = "set = \"project.title\"\nvalue = \"x\"";
    let code = "pack/unset-state";
    corrects(
        code,
        "`state.project.titel`",
        &pack(open, set, "state.project.titel == 'x'"),
        &pack(open, set, "state.project.title == 'x'"),
    );
    let read = "state.project.cast.lead == 'x'";
    let whole = |value: &str| format!("set = \"project.cast\"\nvalue = {value}");
    corrects(
        code,
        "`state.project.cast.lead`",
        &pack(open, &whole("{ hero = \"x\" }"), read),
        &pack(open, &whole("{ lead = \"x\" }"), read),
    );
    corrects(code, "`state.project.cast`", &pack(open, set, read), &pack(open, &whole("\"{{ reply }}\""), read));
    let by_host = |name| format!("type = \"object\"\nfrom = \"host\"\nproperties = {{ {name} = {{}} }}");
    let only = "emit = \"x\"";
    corrects(code, "`state.project.cast`", &pack(&by_host("title"), only, read), &pack(&by_host("cast"), only, read));
    corrects(
        code,
        "`state.project.cast`",
        &pack(&by_host("title"), only, read),
        &pack("type = \"object\"\nfrom = \"host\"", only, read),
    );
    let read = "state.project.title == 'x'";
    let unread = "set = \"project.owner.name\"\nvalue = \"x\"";
    corrects("pack/unread-state", "`state.project.owner.name`", &pack(open, unread, read), &pack(open, set, read));
    corrects(
        "pack/unread-state",
        "`state.project.owner.name`",
        &pack(open, unread, read),
        &pack(open, unread, "state.project.owner"),
    );
}

#[test]
fn a_finding_is_as_severe_as_the_pack_says_and_may_be_excused() {
    let reported = |check: &str, comment: &str| {
        let tables = "[actions.idle]\nabout = \"Do nothing\"\n";
        let pack = format!("{}\n{check}\n{comment}\n{tables}", crate::snippets::base());
        let found = reviewed([("pack.toml", pack)]).into_iter();
        let found = found.filter(|one| ["pack/unpermitted-action", "pack/idle-excuse"].contains(&one.code.as_str()));
        found.map(|one| format!("{} {}", one.severity, one.message)).collect::<Vec<_>>()
    };
    let message = "no mode permits the action `idle`";
    assert_eq!(reported("", ""), [format!("warning {message}")]);
    assert_eq!(reported("[check]\ndeny = [\"pack/unpermitted-action\"]", ""), [format!("error {message}")]);
    assert_eq!(reported("[check]\nwarn = [\"pack/unpermitted-action\"]", ""), [format!("warning {message}")]);
    assert_eq!(reported("[check]\nallow = [\"pack/unpermitted-action\"]", ""), [""; 0]);
    let excuse = "# rulebook: allow(pack/unpermitted-action)";
    assert_eq!(reported("", &format!("{excuse} the host calls it")), [""; 0]);
    assert_eq!(reported("", excuse), ["warning this excuse gives no reason"]);
    let other = "# rulebook: allow(pack/no-exit) no reason any more";
    assert_eq!(reported("", other), ["warning this excuse excuses nothing".to_owned(), format!("warning {message}")]);
}
