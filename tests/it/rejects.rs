//! Rejecting: what is the outcome of an answer whose edits do not apply, and do the checks before that take linear
//! time?

use crate::texts::program_of;
use rulebook::outcome::{Effect, FileLines, Miss, MissKind, Status, Verdict};
use rulebook::schemas;
use rulebook::{Options, Outcome, Program, Provider, Reply, Session};
use serde_json::json;
use std::time::{Duration, Instant};

const PACK: &str = r#"
    [pack]
    name = "editor"
    [dialects.tags]
    grammar = "tags"
    text    = "message"
    blocks  = { action = { role = "call", name = "@type", payload = "tags" } }
    [state.edits]
    type    = "integer"
    default = 0
    [actions.edit]
    params  = { path = { type = "string" }, old = { type = "string" }, new = { type = "string" } }
    effects = [
        { edit = "{{ params.path }}", find = "{{ params.old }}", put = "{{ params.new }}" },
        { set = "edits", value = "{{ state.edits + 1 }}" },
    ]
    [actions.patch]
    params      = { text = { type = "string", verbatim = true } }
    effects     = [{ patch = "{{ params.text }}" }]
    degradation = { edit-ambiguous = "ask-again", edit-not-found = ["ask-again", "refuse"] }
    [modes.code]
    permits = ["edit", "patch"]
    [modes.patient]
    permits     = ["edit", "patch"]
    degradation = { edit-not-found = "ask-again" }
    reply       = { refused = "Nothing was changed: {{ state.edits }} edits so far, in {{ mode }}." }
"#;

fn program() -> Program {
    program_of(PACK)
}

fn session(program: &Program, mode: &str) -> Session {
    program.resume(json!({ "mode": mode, "state": { "edits": 3 } })).unwrap()
}

fn edit(path: &str) -> String {
    format!("<action type=\"edit\"><path>{path}</path><old>teh</old><new>the</new></action>")
}

fn miss(effect: usize, kind: MissKind, lines: &[(u64, &str)]) -> Miss {
    let lines = lines.iter().map(|(line, text)| FileLines { line: *line, text: (*text).to_owned() });
    Miss { effect, kind, at: lines.collect() }
}

/// The indexes of the effects that change a file.
fn files(outcome: &Outcome) -> Vec<usize> {
    let changes = outcome.effects.iter().enumerate().filter(|(_, one)| !matches!(one.effect, Effect::Set { .. }));
    changes.map(|(place, _)| place).collect()
}

#[test]
fn an_answer_is_refused_with_the_session_from_before() {
    let program = program();
    let before = session(&program, "code");
    let outcome = program.run(&before, &format!("Done.\n{}\n{}", edit("a.txt"), edit("b.txt")));
    assert_eq!((outcome.status, outcome.session.state.get("edits").unwrap().as_i64()), (Status::Clean, Some(5)));
    assert_eq!(files(&outcome), [0, 2]);
    let origin = outcome.effects[2].origin.unwrap();
    assert_eq!((origin.line, origin.column, origin.span), (3, 1, outcome.calls[1].span));

    assert_eq!(program.reject(&before, outcome.clone(), &[], &Options::default()), outcome);

    let misses = [miss(2, MissKind::NotFound, &[(7, "tha end")])];
    let rejected = program.reject(&before, outcome.clone(), &misses, &Options::default());
    assert_eq!((rejected.status, &rejected.session), (Status::Refused, &before));
    assert!(rejected.effects.is_empty() && rejected.message.is_empty() && rejected.ask_again.is_none());
    assert!(
        rejected
            .calls
            .iter()
            .all(|call| call.verdict == Verdict::Dropped && call.params.as_object().unwrap().is_empty())
    );
    let finding = &rejected.diagnostics[0];
    assert_eq!((finding.code.as_str(), finding.line, finding.span), ("response/edit-not-found", 3, origin.span));
    assert_eq!(finding.rule, outcome.effects[2].cause);
    assert_eq!((&*finding.file_lines, misses[0].at.len()), (&*misses[0].at, 1));
    assert!(finding.help.as_ref().unwrap().ends_with("what comes nearest begins in line 7"), "{finding:?}");
    let schema = schemas::of("outcome").unwrap().schema().unwrap();
    let validator = jsonschema::draft202012::new(&serde_json::to_value(schema).unwrap()).unwrap();
    for outcome in [&outcome, &rejected] {
        let json = serde_json::to_value(outcome).unwrap();
        assert!(validator.is_valid(&json), "{json:#}");
        assert_eq!(serde_json::from_value::<Outcome>(json).unwrap(), *outcome);
    }

    let options = Options { withheld: true, ..Options::default() };
    let withheld = program.reject(&before, outcome, &misses, &options).withheld.unwrap();
    assert_eq!(withheld.calls[0].params.get("path").and_then(|path| path.as_str()), Some("a.txt"));
}

#[test]
fn the_model_reads_the_lines_that_come_nearest_or_all_that_match() {
    let program = program();
    let before = session(&program, "patient");
    let outcome = program.run(&before, &format!("Done.\n{}", edit("a.txt")));
    let nearest = [(3, "  tha one\n  end"), (9, "theh <action type=\"edit\">")];
    let misses = [miss(0, MissKind::NotFound, &nearest)];
    let rejected = program.reject(&before, outcome.clone(), &misses, &Options::default());
    let text = rejected.ask_again.unwrap();
    assert!(
        text.contains("- line 2: the text to replace is not in `a.txt`; copy the text as the file has it"),
        "{text}"
    );
    assert!(text.contains("begins in line 3, 9\nline 3:\n  tha one\n  end\nline 9:\ntheh &lt;action"), "{text}");
    assert!(text.contains("An answer is written like this:\n\n<action type=\"edit\"/>"), "{text}");
    assert_eq!(rejected.message, "Nothing was changed: 3 edits so far, in patient.");

    let options = Options { attempts: 99, ..Options::default() };
    let rejected = program.reject(&before, outcome, &misses, &options);
    assert!(rejected.ask_again.is_none() && rejected.status == Status::Refused);

    // The strategies of the action take precedence over those of the mode.
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n-x\n+z\n";
    let outcome = program.run(&before, &format!("<action type=\"patch\"><text>\n{diff}</text></action>"));
    let places: Vec<(u64, String)> = (0..30).map(|number| (number * 2 + 1, format!("    x{number}"))).collect();
    let places: Vec<(u64, &str)> = places.iter().map(|(line, text)| (*line, text.as_str())).collect();
    let misses = [miss(1, MissKind::Ambiguous, &places), miss(0, MissKind::Absent, &[])];
    let text = program.reject(&before, outcome, &misses, &Options::default()).ask_again.unwrap();
    assert!(
        text.contains("several times; take in a line before or behind it")
            && text.contains(", 39 and more\n")
            && text.contains("\nline 39:     x19\n"),
        "{text}"
    );
    assert!(text.contains("there is no file `a.txt`"), "{text}");
}

#[test]
fn the_call_whose_edit_misses_gets_the_reason() {
    let program = program();
    let before = session(&program, "code");
    let call = |id: &str, path: &str| {
        let arguments = json!({ "path": path, "old": "teh", "new": "the" }).to_string();
        json!({ "id": id, "type": "function", "function": { "name": "edit", "arguments": arguments } })
    };
    let message = json!({ "role": "assistant", "content": "Now.", "tool_calls": [call("c1", "a"), call("c2", "b")] });
    let reply = Reply::read(Provider::Openai, &message.to_string()).into_result().unwrap();
    let outcome = program.judge(&before, &reply, &Options::default());
    let place = files(&outcome)[1];
    assert_eq!(outcome.effects[place].origin.unwrap().span, outcome.calls[1].span);
    let misses = [miss(place, MissKind::NotFound, &[(1, "\tone\n\ttwo")])];
    let rejected = program.reject(&before, outcome, &misses, &Options::default());
    let results: Vec<_> = rejected.tool_results(Provider::Openai).iter().map(serde_json::Value::from).collect();
    assert_eq!(results[0]["content"], "not carried out: the whole answer was refused");
    assert_eq!(results[1]["tool_call_id"], "c2");
    let reported = results[1]["content"].as_str().unwrap();
    assert!(
        reported.starts_with("not carried out: the text to replace is not in")
            && reported.contains("line 1\nline 1:\n\tone\n\ttwo)"),
        "{reported}"
    );
}

#[test]
fn what_fits_no_effect_refuses_the_answer_all_the_same() {
    let program = program();
    let before = session(&program, "code");
    let outcome = program.run(&before, &edit("a.txt"));
    for kind in [MissKind::Exists, MissKind::NotUtf8, MissKind::Absent] {
        let rejected =
            program.reject(&before, outcome.clone(), &[Miss { effect: 99, kind, at: Vec::new() }], &Options::default());
        assert_eq!((rejected.status, rejected.effects.len()), (Status::Refused, 0));
    }
    let many: Vec<Miss> =
        (0..100_000).map(|place| Miss { effect: place, kind: MissKind::NotFound, at: Vec::new() }).collect();
    let rejected = program.reject(&before, outcome, &many, &Options::default());
    assert!(rejected.diagnostics.len() <= 200);
}

/// The shortest of three times that it takes to judge a patch, and the size of the outcome.
fn judged(program: &Program, patch: &str) -> (Duration, usize) {
    let session = session(program, "code");
    let answer = format!("<action type=\"patch\"><text>\n{patch}\n</text></action>");
    let mut best = Duration::MAX;
    let mut size = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let outcome = program.run(&session, &answer);
        best = best.min(start.elapsed());
        size = serde_json::to_string(&outcome).unwrap().len();
    }
    (best, size)
}

#[test]
fn hostile_patches_take_linear_time_and_room() {
    let program = program();
    let long = "d/".repeat(500) + "a.txt";
    let hunks = |body: &str, count: usize| format!("--- {long}\n+++ {long}\n{}", body.repeat(count));
    let shapes: [(&str, &dyn Fn(usize) -> String); 9] = [
        ("headings", &|count| {
            format!("*** Begin Patch\n*** Update File: a\n{}-x\n+y\n*** End Patch", "@@ f\n".repeat(count))
        }),
        ("empty headings", &|count| "@@".repeat(count)),
        ("lines of @@", &|count| hunks("@@\n", count)),
        ("pluses", &|count| "+".repeat(count * 3)),
        ("added lines", &|count| hunks(&format!("@@ -1 +1 @@\n x\n{}", "+\n".repeat(count)), 1)),
        ("hunks", &|count| hunks("@@ -1 +1 @@\n-x\n+y\n", count / 4)),
        ("files", &|count| "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n".repeat(count / 8)),
        ("half headers", &|count| hunks("--- a\n", count)),
        ("blank lines", &|count| hunks(&format!("@@ -1 +1 @@\n{}-x\n", "\n".repeat(count)), 1)),
    ];
    for (name, shape) in shapes {
        let (short, long) = (shape(8_000), shape(64_000));
        let ((short_time, _), (long_time, size)) = (judged(&program, &short), judged(&program, &long));
        // The long patch has eight times as many lines: a quadratic step would take 64 times as long.
        let limit = short_time.max(Duration::from_millis(4)) * 30;
        assert!(long_time < limit, "{name}: {short_time:?} for {}, {long_time:?} for {}", short.len(), long.len());
        assert!(size < (16 << 20) + 16 * long.len(), "{name}: {size} bytes of {}", long.len());
    }
}
