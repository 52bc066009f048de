//! Hosts: how does the library respond to a program that misuses it?

use crate::texts::program_of;
use rulebook::outcome::{EffectRecord, Finding};
use rulebook::prompt::{Request, Turn};
use rulebook::{Folder, Limits, Options, Program, Reader, Role, StreamEvent};
use serde_json::json;
use std::sync::{Arc, Barrier};
use std::thread;

const ANSWER: &str = "<message>Grüße, 🌍!</message>\n<action type=\"keep_note\"><text>Tea</text></action> behind";

fn desk() -> Program {
    let pack = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
blocks  = { message = { role = "message" }, action = { role = "call", name = "@type", payload = "tags" } }
[state.notes]
type    = "array"
default = []
[actions.keep_note]
params  = { text = { type = "string", required = true } }
effects = [{ append = "notes", value = "{{ params.text }}" }]
[modes.chat]
permits = ["keep_note"]
[prompts.main]
layers = [{ id = "message", source = "message" }]
[tiers.any]
context = 8000
reserve = 1000
"#;
    program_of(pack)
}

fn reported(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

/// Names in quotes may contain any character, and logs and editors print a message without escaping it.
#[test]
fn a_message_is_one_line_whatever_it_quotes() {
    let pack = "[pack]\nname = \"p\"\n[\"a\\nb\\u202e\"]\n";
    let loaded = Program::load(&Folder::new("p", [("pack.toml", pack)]));
    let reported: Vec<String> = loaded.diagnostics.iter().map(|found| found.message.to_string()).collect();
    assert!(reported.iter().any(|reported| reported == "there is no key `a\\nb\\u{202e}` here"), "{reported:?}");
}

#[test]
fn a_mode_that_the_pack_does_not_have_is_reported_and_has_no_effect() {
    let program = desk();
    let mut session = program.session();
    session.mode = "chatt".to_owned();
    let help = "the pack has no mode `chatt` (did you mean `chat`?)";

    let outcome = program.run(&session, ANSWER);
    assert_eq!(reported(&outcome.diagnostics)[0], format!("1:1: error[response/no-dialect]: {help}"));
    assert!(outcome.has_errors() && outcome.effects.is_empty() && outcome.ask_again.is_none());
    assert_eq!(outcome.session, session);

    let prompt = program.prompt(&session, &Request { message: Some("Hello".into()), ..Request::default() });
    assert_eq!(reported(&prompt.diagnostics), [format!("error[pack/session-misfit]: {help}")]);
    assert!(prompt.messages.is_empty() && prompt.text.is_empty());

    let heard = program.hear(&session, "Hello", &Options::default());
    assert_eq!(reported(&heard.diagnostics), [format!("1:1: info[response/note]: {help}")]);
    assert!(program.start(&program.session(), &Options::default()).diagnostics.is_empty());
}

#[test]
fn a_dialect_that_the_pack_does_not_have_is_reported() {
    let program = desk();
    let options = Options { dialect: Some("tagedd".to_owned()), ..Options::default() };
    let outcome = program.run_with(&program.session(), ANSWER.as_bytes(), &options);
    let first = "1:1: error[response/no-dialect]: the pack has no dialect `tagedd` (did you mean `tagged`?)";
    assert_eq!(reported(&outcome.diagnostics)[0], first);
    assert!(outcome.effects.is_empty());
}

#[test]
fn a_session_of_another_time_keeps_what_fits() {
    let program = desk();
    let kept = json!({
        "mode": "night", "state": { "notes": ["Tea"], "mood": "calm" }, "now": "today", "ids": { "page": -1 }, "owner": 7,
    });
    let (session, lost) = program.resume_lossy(&kept);
    assert_eq!(
        serde_json::to_value(&session).unwrap(),
        json!({
            "mode": "chat", "state": { "notes": ["Tea"] }, "now": "today", "ids": {},
        })
    );
    let faults = program.resume(&kept).unwrap_err();
    assert_eq!((&faults.diagnostics, lost.len()), (&lost, 4));
    // The result of a lossy resume is a session like any other.
    let outcome = program.run(&session, ANSWER);
    let kept = serde_json::to_value(&outcome.session).unwrap();
    assert_eq!(program.resume(&kept), Ok(outcome.session.clone()));
    assert_eq!(program.resume_lossy(&kept), (outcome.session, Vec::new()));

    let (session, lost) = program.resume_lossy(json!({ "state": { "notes": "Tea" } }));
    assert_eq!((session, lost.len()), (program.session(), 1));
    assert_eq!(program.resume_lossy(json!([])).0, program.session());
}

#[test]
fn outdated_counters_give_no_id_twice() {
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\n[dialects.d.blocks]\n\
        add = { role = \"call\", payload = \"tags\" }\n[state]\npages = { type = \"object\", default = {} }\n\
        [modes.default]\npermits = ['*']\n[actions.add]\nparams = { like = { type = \"string\" } }\n[[actions.add.effects]]\nnew = \"page\"\n\
        set = \"pages.{{ ids.page }}\"\nvalue = \"{{ params.like }}\"\n";
    let program = program_of(pack);
    let ids = |counted: u64, held: &str, answer: &str| {
        let pages = json!({ held: "first" });
        let kept = json!({ "state": { "pages": pages }, "ids": { "page": counted } });
        let outcome = program.run(&program.resume(&kept).unwrap(), answer);
        let after = serde_json::to_value(&outcome.session).unwrap();
        assert_eq!(after["state"]["pages"][held], "first", "{after}");
        after["ids"]["page"].as_u64().unwrap()
    };
    assert_eq!(ids(1, "page-3", "<add></add><add></add>"), 5);
    assert_eq!(ids(7, "page-3", "<add></add>"), 8);
    assert_eq!(ids(1, "page-1", "<add><like>page-9</like></add><add></add>"), 3);
}

#[test]
fn a_reader_says_that_nothing_more_is_read() {
    let program = desk().with_limits(Limits { input: 40, ..Limits::default() });
    let session = program.session();
    let mut reader = program.reader(&session, &Options::default());
    let mut came = String::new();
    for piece in ["<message>One</message>", "", "<message>Two</message>", "<message>Three</message>"] {
        let announced = reader.push(piece.as_bytes());
        came.push_str(piece);
        assert_eq!(reader.text(), came);
        assert_eq!(reader.is_too_large(), came.len() > 40);
        assert!(announced.is_empty() || !reader.is_too_large());
    }
    let (outcome, _) = reader.finish();
    assert_eq!(outcome, program.run(&session, &came));
    assert_eq!((outcome.ledger.bytes, outcome.message.as_str()), (came.len(), ""));
    assert!(outcome.diagnostics.iter().any(|one| one.code == "response/too-large"));
}

#[test]
fn a_host_may_set_every_limit_to_the_most_or_to_nothing() {
    let most = Limits {
        input: usize::MAX,
        depth: usize::MAX,
        blocks: usize::MAX,
        calls: usize::MAX,
        diagnostics: usize::MAX,
        fields: usize::MAX,
        values: usize::MAX,
        effects: usize::MAX,
        steps_per_byte: u64::MAX,
    };
    let program = desk();
    let expected = program.run(&program.session(), ANSWER);
    let program = program.with_limits(most);
    assert_eq!(program.run(&program.session(), ANSWER), expected);

    let none = Limits {
        input: usize::MAX,
        depth: 0,
        blocks: 0,
        calls: 0,
        diagnostics: 0,
        fields: 0,
        values: 0,
        effects: 0,
        steps_per_byte: 0,
    };
    let program = program.with_limits(none);
    let outcome = program.run(&program.session(), ANSWER);
    assert_eq!((outcome.ledger.bytes, outcome.calls.len(), outcome.effects.len()), (ANSWER.len(), 0, 0));
}

/// What is beyond the limit is counted, wherever it was found.
#[test]
fn findings_beyond_the_limit_are_counted() {
    let pack = r#"
[pack]
name = "desk"
[dialects.object]
grammar = "json"
blocks  = { message = { role = "message" } }
[modes.default]
"#;
    let program = program_of(pack);
    let answer = "`{\"message\": 1}` `{\"message\": 2}` `{\"message\": 3}` `{\"message\": 4}`\n{\"message\": \"Hi\"}";
    let all = program.run(&program.session(), answer).diagnostics;
    for most in 2..all.len() {
        let program = program.clone().with_limits(Limits { diagnostics: most, ..Limits::default() });
        let outcome = program.run(&program.session(), answer);
        let note = outcome.diagnostics.last().unwrap().message.to_string();
        assert_eq!(outcome.diagnostics.len(), most);
        assert_eq!(note, format!("{} more findings are left out", all.len() - most + 1));
    }
}

/// `serde_json` must be able to read its own output: it reads at most 128 levels.
#[test]
fn a_session_with_the_deepest_payload_is_read_back_from_json() {
    let pack = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
blocks  = { action = { role = "call", name = "@type", payload = "json" } }
[state.notes]
type    = "array"
default = []
[modes.default]
permits = ["*"]
[actions.keep_note]
params  = { note = {} }
effects = [{ append = "notes", value = "{{ params.note }}" }]
"#;
    let program = program_of(pack);
    let program = program.with_limits(Limits { depth: usize::MAX, ..Limits::default() });
    let kept = |deep: usize| {
        let note = format!("{}1{}", "[".repeat(deep), "]".repeat(deep));
        let outcome =
            program.run(&program.session(), &format!(r#"<action type="keep_note">{{"note": {note}}}</action>"#));
        let text = serde_json::to_string(&outcome.session).unwrap();
        assert_eq!(
            program.resume(serde_json::from_str::<rulebook::Value>(&text).unwrap()).as_ref(),
            Ok(&outcome.session)
        );
        outcome.effects.len()
    };
    assert_eq!((kept(60), kept(98), kept(120), kept(100_000)), (1, 1, 0, 0));
}

#[test]
fn a_past_message_without_its_tags_is_remembered_whatever_the_strategy() {
    let pack = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
blocks  = { message = { role = "message" } }
[prompts.main]
layers = [{ id = "history", source = "history" }, { id = "message", source = "message" }]
[tiers.any]
context = 8000
reserve = 1000
[reply]
message = { required = true }
[degradation]
"#;
    for answers in ["", "missing-message = \"ask-again\"", "stray-text = \"refuse\"", "stray-text = \"keep\""] {
        let program = program_of(format!("{pack}{answers}"));
        let remembered = |said: &str| {
            let written: Vec<Turn> = serde_json::from_value(json!([{ "role": "assistant", "content": said }])).unwrap();
            let history = program.turns(&program.session(), &written.into());
            let request = Request { history, message: Some("And?".into()), ..Request::default() };
            let prompt = program.prompt(&program.session(), &request);
            prompt.messages.into_iter().map(|one| one.content).collect::<Vec<_>>()
        };
        // Text that was taken as the message is a message in the history.
        let is_taken = !answers.contains("ask-again");
        let taken = if is_taken { "<message>\nSalt and tea.\n</message>" } else { "Salt and tea." };
        assert_eq!(remembered("Salt and tea."), [taken, "And?"], "{answers}");
        assert_eq!(remembered("<message></message>"), ["And?"], "{answers}");
    }
}

#[test]
fn a_value_that_includes_itself_stays_below_the_depth_limit() {
    let pack = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
blocks  = { action = { role = "call", name = "@type", payload = "tags" } }
[state.last]
[state.deep]
type    = "object"
default = {}
[modes.default]
permits = ["*"]
[actions.keep]
effects = [{ set = "last", value = { before = "{{ state.last }}" } }, { set = "deep.er", value = "{{ [state.deep] }}" }]
"#;
    let program = program_of(pack);
    let mut session = program.session();
    for _ in 0..3 {
        let outcome = program.run(&session, &r#"<action type="keep"/>"#.repeat(100));
        let text = serde_json::to_string_pretty(&outcome).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(program.resume(&read["session"]).as_ref(), Ok(&outcome.session));
        let left_out = reported(&outcome.diagnostics);
        assert!(left_out.iter().any(|one| one.ends_with("would be nested more than 120 levels deep")), "{left_out:?}");
        session = outcome.session;
    }
}

/// If the output of the model was cut off, a block that ends where the answer does may be incomplete.
#[test]
fn a_call_that_a_truncated_answer_ends_in_is_not_carried_out() {
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "headers"
        anchor = "line"
        quoted = ["code-span"]
        text = "message"
        blocks.Run = { role = "call", name = "run", payload = "text" }
        blocks.File = { role = "content", name = "file", key = "@name" }
        blocks.Note = { role = "section" }
        [modes.default]
        permits = ["*"]
        [actions.run]
        params = { text = { type = "string", required = true } }
        effects = [{ emit = "run" }]
        [contents.file]
        effects = [{ write = "{{ key }}", value = "{{ text }}" }]
    "#;
    let headed = program_of(pack);
    let script = super::texts::program("tests/packs/script-lines");
    let tagged = super::texts::program("rules/writers-factory");
    let check = |program: &Program, answer: &str, whole: usize, truncated: usize| {
        for (truncated, expected) in [(false, whole), (true, truncated)] {
            let options = Options { truncated, ..Options::default() };
            let outcome = program.run_with(&program.session(), answer.as_bytes(), &options);
            assert_eq!(outcome.effects.len(), expected, "{answer:?} {truncated} {:?}", outcome.diagnostics);
        }
    };
    check(&headed, "### Run\nrm -r /tmp/ol", 1, 0);
    check(&headed, "### Run\nrm -r /tmp/ol\n", 1, 0);
    check(&headed, "### File\nhalf of", 1, 0);
    check(&headed, "### Run\nrm -r /tmp/old\n### Note\nI have re", 1, 1);
    check(script, "On you go.\n::roll 2d6+1", 1, 0);
    check(script, "On you go.\n::roll 2d6+1\n", 1, 1);
    let update =
        "<message>So.</message><action type=\"query_notebook\"><notebook_id>n</notebook_id><query>q</query></action>";
    check(tagged, update, 1, 1);
    // A fence that is never closed may quote its contents, whether the answer was cut off or not.
    let quoted = format!("<message>So, or:\n\n```xml\n{update}\n");
    check(tagged, quoted.replace("<message>So.</message>", "").as_str(), 0, 0);
    check(&headed, "### File\n```\nhalf\n### Run\nrm -r /tmp/old\n### Note\nI", 2, 2);
    // If the answer was cut off, a code span of the last paragraph may quote a call in the same block.
    let call = update.replace("<message>So.</message>", "");
    check(tagged, &format!("<message>Write `{call}"), 1, 0);
    check(tagged, &format!("<message>Write ```</message>\n`` {call} ` or"), 1, 0);
    check(tagged, &format!("<message>It`s done.</message>\n{call}"), 1, 1);
    check(tagged, &format!("<message>It`s done.\n\n{call}"), 1, 1);
    // If the answer was cut off, a content that nothing closes may contain the call: neither of them counts.
    let prose = |text: &str| format!("<message>So.</message><content_update target=\"c\">{text}");
    let directed = |answer: &str, expected: usize| {
        let session = tagged.resume(serde_json::json!({ "mode": "director" })).unwrap();
        let options = Options { truncated: true, ..Options::default() };
        assert_eq!(tagged.run_with(&session, answer.as_bytes(), &options).effects.len(), expected, "{answer:?}");
    };
    directed(&prose(&format!("She wrote {call}")), 0);
    directed(&prose(&format!("She wrote.</content_update>{call}")), 2);
    // Unclosed reasoning may contain the call, cut off or not, also if it opens after the start of the answer and is
    // not a block.
    let spoken = update.replace("<message>", "\n<thinking>I could say: <message>");
    check(tagged, &format!("{spoken} or"), 0, 0);
    check(tagged, &format!("{spoken} or</thinking>{update}"), 1, 1);
    let script = super::texts::program("tests/packs/cut-reasoning");
    let wipe = "<do what=\"wipe\"><a>1</a></do>";
    check(script, &format!("Sure.\n<think>\nI could {wipe} or"), 0, 0);
    check(script, &format!("Sure.\n<think>\nI could say </do>, {wipe} or"), 0, 0);
    check(script, &format!("Sure.\n<think>\nI could {wipe}.</think>\nSo {wipe}"), 1, 1);
    check(script, &format!("Of `<think>` and <think> I say {wipe} or"), 1, 1);
}

#[test]
fn a_section_that_is_the_reply_is_emitted_as_the_message() {
    let load = |grammar: &str, shows: &str| {
        let pack = format!(
            "[pack]\nname = \"p\"\n[reply]\n{shows}\n[dialects.d]\ngrammar = \"{grammar}\"\ntext = \"section:summary\"\n\
             [dialects.d.blocks]\nsummary = {{ role = \"section\" }}\nnote = {{ role = \"section\" }}\n\
             short = {{ role = \"section\", name = \"summary\" }}\nthink = {{ role = \"thinking\" }}\n"
        );
        program_of(pack)
    };
    let draft = |program: &Program, answer: &str| {
        let mut reader = program.reader(&program.session(), &Options::default());
        let mut reported: Vec<_> = answer.as_bytes().chunks(5).flat_map(|piece| reader.push(piece)).collect();
        let (outcome, last) = reader.finish();
        reported.extend(last);
        let texts = reported.into_iter().filter_map(|one| match one {
            StreamEvent::Text { role: Some(Role::Message), text, .. } => Some(text),
            _ => None,
        });
        (texts.collect::<String>().trim().to_owned(), outcome.message)
    };
    let (tags, json) = (load("tags", "shows = \"summary\""), load("json", "shows = \"summary\""));
    let both =
        |program, answer, shown: &str| assert_eq!(draft(program, answer), (shown.into(), shown.into()), "{answer}");
    both(&tags, "<think>Hm.</think><summary>Two files.</summary><note>One.</note>", "Two files.");
    both(&tags, "<short>Two files.</short>", "Two files.");
    // If its closer is missing, the section ends where the next block opens.
    both(&tags, "<think>Hm.</think>\nTwo files.\n<note>One.</note>\nMore to come.", "Two files.");
    both(&json, r#"{"note": "One.", "summary": "Two files."}"#, "Two files.");
    assert_eq!(draft(&load("tags", ""), "<summary>Two files.</summary>").0, "");
}

#[test]
fn a_file_of_a_pack_replaces_that_of_one_that_it_uses() {
    let dialect = "[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }\n";
    let prompts = "[prompts.p]\nlayers = [{ id = \"role\", text = \"prompt/role.md\" }, { id = \"said\", source = \"message\" }]\n\
                   [tiers.any]\ncontext = 8000\nreserve = 1000\n";
    let house = Folder::new(
        "house",
        [
            ("pack.toml", format!("[pack]\nname = \"house\"\n{dialect}")),
            ("prompt/role.md", "The house speaks.".to_owned()),
            ("prompt/tone.md", "Softly.".to_owned()),
        ],
    );
    let own = format!("[pack]\nname = \"desk\"\nuse = [\"../mid\", \"../house\"]\n{prompts}");
    let mut desk = Folder::new("desk", [("pack.toml", own), ("prompt/role.md", "The desk speaks.".to_owned())]);
    // `desk` uses both packs, and loads the shared one only once.
    let mid = "[pack]\nname = \"mid\"\nuse = [\"../house\"]\n";
    let mut mid = Folder::new("desk/../mid", [("pack.toml", mid)]);
    mid.others.insert("../house".into(), Folder { name: "desk/../mid/../house".into(), ..house.clone() });
    desk.others.insert("../house".into(), house);
    desk.others.insert("../mid".into(), mid);
    let program = Program::load(&desk).into_result().unwrap();
    let prompt = program.prompt(&program.session(), &Request { message: Some("Hi".into()), ..Request::default() });
    let said = &prompt.messages[0].content;
    assert!(said.contains("The desk speaks.") && !said.contains("The house"), "{said}");
}

#[test]
fn when_no_attempt_is_left_the_next_strategy_applies() {
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "tags"
        blocks.message = { role = "message" }
        blocks.data = { role = "section", payload = "json" }
        blocks.save = { role = "call", payload = "tags" }
        [modes.default]
        permits = ["*"]
        [actions.save]
        params = { text = { type = "string" } }
        effects = [{ write = "a.md", value = "{{ params.text }}" }, { set = "size", value = "{{ reply.sections.data.value | length }}" }]
        [state.size]
        type = "integer"
        default = 0
        [degradation]
        guardrail = "drop"
        [[guardrails]]
        id = "tone"
        on = "save.text"
        matches = "rude"
        strategy = "ask-again"
        [[guardrails]]
        id = "size"
        on = "reply"
        when = "reply.sections.data.value | length > 9000"
    "#;
    let program = program_of(pack);
    let run = |answer: &str, attempts| {
        let options = Options { attempts, ..Options::default() };
        program.run_with(&program.session(), answer.as_bytes(), &options)
    };
    let rude = "<message>x</message><save><text>rude</text></save>";
    assert!(run(rude, 0).ask_again.is_some());
    let last = run(rude, 100);
    assert!(last.effects.is_empty() && last.ask_again.is_none(), "{:?}", last.diagnostics);
    // A call with an empty text does not overwrite the document.
    let empty = run("<message>x</message><save></save>", 0);
    assert!(!serde_json::to_string(&empty.effects).unwrap().contains("null"), "{:?}", empty.effects);
    // Conditions may read a section several times; its size counts once against the budget.
    let data = format!("<message>x</message><data>{:?}</data><save><text>y</text></save>", vec![1; 4_000]);
    assert_eq!(run(&data, 0).session.state.get("size").and_then(rulebook::Value::as_i64), Some(4_000));
}

#[test]
fn half_a_character_waits_for_its_rest() {
    let program = desk();
    let mut reader = program.reader(&program.session(), &Options::default());
    reader.push(b"<message>\xf0\x9f");
    assert_eq!(reader.text(), "<message>");
    reader.push(b"");
    reader.push(b"\x8c\x8d");
    assert_eq!(reader.text(), "<message>\u{1f30d}");
    reader.push(b"\xff</message>\xe2\x82");
    let (outcome, _) = reader.finish();
    assert_eq!(outcome.message, "\u{1f30d}\u{fffd}");
    assert_eq!(outcome.diagnostics.iter().filter(|one| one.code == "response/not-utf-8").count(), 2);
}

#[test]
fn many_threads_read_with_one_program() {
    let program = Arc::new(desk());
    let expected = program.run(&program.session(), ANSWER);
    let together = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (1..=8)
        .map(|size| {
            let (program, together, expected) = (program.clone(), together.clone(), expected.clone());
            thread::spawn(move || {
                together.wait();
                for _ in 0..20 {
                    // A reader that is dropped before its end does not affect other readers.
                    program.reader(&program.session(), &Options::default()).push(b"<message>Half");
                    let mut reader = Reader::new(program.clone(), &program.session(), &Options::default());
                    for piece in ANSWER.as_bytes().chunks(size) {
                        reader.push(piece);
                    }
                    assert_eq!(reader.finish().0, expected);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn effects_and_turns_come_back_from_json() {
    let mut kinds = std::collections::BTreeSet::new();
    for name in ["couple-ai", "dce", "roundtable", "writers-factory"] {
        let pack = rulebook_fs::read_pack(format!("rules/{name}").as_ref()).unwrap();
        let program = Program::load(&pack.folder).into_result().unwrap();
        let mut sources = rulebook::Sources::default();
        for file in &pack.cases {
            let Some(case) = rulebook::cases::parse(&mut sources, &file.name, &file.bytes).value else { continue };
            for reported in rulebook::cases::run(&program, &case, Default::default()).results {
                let json = serde_json::to_string(reported.effects()).unwrap();
                assert_eq!(serde_json::from_str::<Vec<EffectRecord>>(&json).unwrap(), reported.effects());
                let kept: serde_json::Value = serde_json::from_str(&json).unwrap();
                kinds.extend(kept.as_array().unwrap().iter().map(|one| one["kind"].to_string()));
            }
        }
    }
    assert!(kinds.len() >= 7, "{kinds:?}");

    let turns = r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]"#;
    assert_eq!(serde_json::to_string(&serde_json::from_str::<Vec<Turn>>(turns).unwrap()).unwrap(), turns);
    let wrong = serde_json::from_str::<Turn>(r#"{"role":"robot","content":"Hi"}"#).unwrap_err();
    assert!(wrong.to_string().starts_with("unknown variant `robot`, expected one of `system`, `user`, `assistant`"));
}

#[test]
fn what_all_payloads_share_is_named_where_it_is_spent() {
    let pack = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
[dialects.tagged.blocks]
say = { role = "message" }
ask = { role = "call", name = "@name", payload = "json" }
[dialects.object]
grammar = "json"
[dialects.object.blocks]
"say"    = { role = "message" }
"asks[]" = { role = "call", name = "@name" }
[modes.default]
permits = ["*"]
[actions.look]
params = { at = { type = "array" } }
"#;
    let program = program_of(pack);
    let program = program.with_limits(Limits { values: 20, ..Limits::default() });
    let said = |answer: &str, code: &str| {
        let outcome = program.run(&program.session(), answer);
        let of_code = outcome.diagnostics.into_iter().filter(|one| one.code == code);
        of_code.map(|one| one.message).collect::<Vec<_>>()
    };
    let ask = r#"<ask name="look">{"at": [1, 2, 3, 4, 5, 6]}</ask>"#;
    assert!(said(&ask.repeat(2), "response/malformed-payload").is_empty());
    let spent = said(&ask.repeat(3), "response/malformed-payload");
    assert!(
        spent.len() == 1 && spent[0].contains("payloads of the response contain more than 20 values together"),
        "{spent:?}"
    );
    let ask = r#"{"name": "look", "at": [1, 2, 3, 4, 5, 6]}"#;
    let object = |asks: usize| format!(r#"{{"say": "Hello", "asks": [{}]}}"#, vec![ask; asks].join(", "));
    assert_eq!(said(&object(1), "response/too-large"), [""; 0]);
    let spent = said(&object(4), "response/too-large");
    assert!(spent.len() == 1 && spent[0].contains("20 values in all payloads together"), "{spent:?}");
}

#[test]
fn faults_that_end_a_program_read_like_those_that_are_shown() {
    let pack = "[pack]\nname = \"p\"\n[modes.m]\npermits = [\"go\"]\n";
    let faults = Program::load(&Folder::new("p", [("pack.toml", pack)])).into_result().unwrap_err();
    assert!(faults.to_string().starts_with("p/pack.toml:"), "{faults}");
    assert_eq!(format!("{faults:?}"), faults.to_string());
}

#[test]
fn what_is_computed_does_not_keep_a_session_from_being_resumed() {
    let pack = r#"
        [pack]
        name = "p"
        version = "2.0.0"
        [dialects.d]
        grammar = "tags"
        blocks.keep = { role = "call", payload = "tags" }
        [modes.default]
        permits = ["*"]
        [actions.keep]
        params = { text = { type = "string" } }
        effects = [{ append = "notes", value = "{{ params.text }}" }]
        [state]
        notes = { type = "array", default = [] }
        first = { type = "integer", compute = "{{ state.notes | first | default(0) }}" }
    "#;
    let program = program_of(pack);
    assert_eq!(program.version(), Some("2.0.0"));
    let session = program.run(&program.session(), "<keep><text>Tea</text></keep>").session;
    assert!(format!("{session:?}").contains(r#"{"notes": ["Tea"], "first": …}"#), "{session:?}");
    let kept = serde_json::to_value(&session).unwrap();
    assert_eq!(kept["state"]["first"], "Tea");
    assert_eq!(program.resume(&kept).unwrap(), session);
    // A value that another version of the pack has computed is not restored, either.
    let kept = serde_json::json!({ "state": { "notes": ["Milk"], "first": [1] } });
    assert_eq!(program.resume_lossy(&kept).0.state.get("first"), Some(&"Milk".into()));
    assert!(program.resume(&kept).is_ok());
}

#[test]
fn nothing_is_exported_for_a_mode_that_the_pack_does_not_have() {
    use rulebook::prompt::Export;
    for what in [Export::OpenaiTools, Export::AnthropicTools, Export::JsonSchema, Export::JsonObject] {
        let exported = desk().export("caht", what, false);
        let reported: Vec<_> = exported.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(exported.value, None);
        assert_eq!(reported, ["error[pack/session-misfit]: the pack has no mode `caht` (did you mean `chat`?)"]);
    }
}

/// The key or speaker of a block is in its opening event, however the answer is cut. If only the end of the block has
/// it, the event is without it.
#[test]
fn an_opening_event_has_the_speaker_or_the_key() {
    let called = |dialect: &str, answer: &str| {
        let actions = "[actions.keep]\nparams = { text = { type = \"string\" } }";
        let program = program_of(format!("[pack]\nname = \"p\"\n[dialects.d]\n{dialect}\n{actions}\n"));
        let read = |size: usize| {
            let mut reader = program.reader(&program.session(), &Options::default());
            let mut reported: Vec<_> = answer.as_bytes().chunks(size).flat_map(|piece| reader.push(piece)).collect();
            reported.extend(reader.finish().1);
            let names = reported.into_iter().filter_map(|one| match one {
                StreamEvent::Opened { name, called, .. } => Some(format!("{name}: {}", called.unwrap_or_default())),
                _ => None,
            });
            names.collect::<Vec<_>>()
        };
        let whole = read(answer.len());
        (1..6).for_each(|size| assert_eq!(read(size), whole, "{size}"));
        whole.join("\n")
    };
    let talk = "grammar = \"transcript\"\nanchor = \"line\"\nblocks = { \"*\" = { role = \"utterance\" } }";
    assert_eq!(called(talk, "Maya Chen (Analyst): Yes.\nAlex (Architect): No.\n"), "*: Maya Chen\n*: Alex");
    let tags = "grammar = \"tags\"\n[dialects.d.blocks]\nfile = { role = \"content\", key = \"@path\" }\n\
                action = { role = \"call\", name = \"@type\", payload = \"json\" }\nmessage = { role = \"message\" }\n\
                tool = { role = \"call\", name = \"@payload.name\", body = \"arguments\", payload = \"json\" }";
    let answer = "<Message>Hi</Message><file path=\"a &amp; b.txt\">x</file><file>y</file>\
                  <action type=\"keep\">{}</action><tool>{\"name\": \"keep\", \"arguments\": {}}</tool>";
    assert_eq!(
        called(&format!("case = \"insensitive\"\n{tags}"), answer),
        "message: Message\nfile: a & b.txt\nfile: \naction: keep\ntool: "
    );
    let object = "grammar = \"json\"\n[dialects.d.blocks]\nsay = { role = \"message\" }\n\
                  \"files[]\" = { role = \"content\", key = \"@path\", body = \"text\" }";
    assert_eq!(
        called(object, r#"{"say": "Hi", "files": [{"path": "a\u002fb.txt", "text": "x"}]}"#),
        "say: say\nfiles[]: a/b.txt"
    );
}

/// A conversation changes modes; what was said in one mode is in the history of the next as its user saw it.
#[test]
fn what_the_user_saw_of_an_answer_does_not_depend_on_the_mode_that_follows() {
    let pack = r#"
        [pack]
        name = "p"
        [dialects.tagged]
        grammar = "tags"
        [dialects.tagged.blocks]
        thinking = { role = "thinking" }
        message = { role = "message" }
        [dialects.talk]
        grammar = "transcript"
        anchor = "line"
        text = "section:notes"
        blocks = { "*" = { role = "utterance" } }
        [modes.chat]
        dialects = ["tagged"]
        [modes.meeting]
        dialects = ["talk"]
        [prompts.main]
        layers = [{ id = "history", source = "history" }]
        [tiers.any]
        context = 8000
        reserve = 1000
    "#;
    let program = program_of(pack);
    let answers = ["<thinking>Sly.</thinking><message>Hello.</message>", "Maya (Analyst): Hi.\n", "As it is."];
    for (mode, shown) in [
        ("chat", ["<message>\nHello.\n</message>", "(Maya, Analyst) Hi.", "As it is."]),
        ("meeting", ["Hello.", "Maya (Analyst): Hi.", "As it is."]),
    ] {
        let session = program.resume(serde_json::json!({ "mode": mode })).unwrap();
        let history = answers.map(|answer| program.turn(&session, answer)).to_vec();
        let seen: Vec<&str> = history.iter().map(|turn| turn.content.as_str()).collect();
        assert_eq!(seen, ["Hello.", "(Maya, Analyst) Hi.", "As it is."], "{mode}");
        let prompt = program.prompt(&session, &Request { history, ..Request::default() });
        let said: Vec<&str> = prompt.messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(said, shown, "{mode}");
    }
}

/// If its output was cut off, a model is asked to write less. Advice for its host, such as more tokens, is not for the
/// model.
#[test]
fn a_model_whose_answer_was_cut_off_is_asked_to_write_less() {
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = { message = { role = \"message\" } }\n\
                [modes.m]\n[degradation]\ntruncated = \"ask-again\"\n";
    let program = program_of(pack);
    let options = Options { truncated: true, ..Options::default() };
    let outcome = program.run_with(&program.session(), b"<message>First, we should", &options);
    let correction = outcome.ask_again.unwrap();
    assert!(correction.contains("write less") && !correction.contains("tokens"), "{correction}");
}

/// A session may come from anywhere, so the number of findings about it is limited.
#[test]
fn findings_about_a_session_are_bounded() {
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = { message = { role = \"message\" } }\n[modes.m]\n";
    let program = program_of(pack);
    let state: rulebook::Object = (0..40_000).map(|n| (format!("unknown_{n}"), rulebook::Value::from(n))).collect();
    let (_, lost) = program.resume_lossy(rulebook::value!({ "state": (rulebook::Value::Object(state)) }));
    assert_eq!(lost.len(), 100);
    assert_eq!(lost.last().unwrap().message, "39901 more parts of the session are invalid");
}

/// `append` makes the list where there is none yet, and `unique` keys replace an entry.
#[test]
fn append_creates_a_missing_list() {
    let pack = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
blocks  = { message = { role = "message" }, note = { role = "call", payload = "tags" } }
[modes.default]
permits = ["*"]
[state.tree]
type    = "object"
default = {}
[actions.note]
params  = { id = { type = "string" }, text = { type = "string" } }
effects = [{ append = "tree.notes", value = { id = "{{ params.id }}", text = "{{ params.text }}" }, unique = ["id"] }]
"#;
    let program = program_of(pack);
    let note = |id: &str, text: &str| format!("<note><id>{id}</id><text>{text}</text></note>");
    let answer = [note("a", "one"), note("b", "two"), note("a", "three")].concat();
    let outcome = program.run(&program.session(), &format!("<message>Noted.</message>{answer}"));
    let notes = outcome.session.state.get("tree").map(|tree| serde_json::Value::from(tree)["notes"].clone());
    let expected = json!([{ "id": "a", "text": "three" }, { "id": "b", "text": "two" }]);
    assert_eq!(notes, Some(expected), "{:?}", outcome.diagnostics);
}
