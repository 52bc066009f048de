//! Hostile inputs: do depth, size and number end in a diagnostic with a code, whatever the input?
//!
//! A quadratic reader makes these tests hang. `benches/hostile.rs` measures how time grows, and `tests/heap.rs` asserts
//! how memory grows.

use super::hostile_inputs::INPUTS;
use super::texts::{program, program_of, thorough};
use rulebook::{Limits, Options, Outcome, Value};

/// The packs that judge every input.
const PACKS: [&str; 4] = ["rules/couple-ai", "rules/dce", "rules/roundtable", "rules/writers-factory"];

fn check(name: &str, outcome: &Outcome, length: usize) {
    let limits = Limits::default();
    let ledger = serde_json::to_value(outcome.ledger).unwrap();
    let parts: u64 = ledger
        .as_object()
        .unwrap()
        .iter()
        .filter(|(part, _)| *part != "bytes")
        .map(|(_, part)| part.as_u64().unwrap())
        .sum();
    assert_eq!(parts, length as u64, "{name}");
    assert!(outcome.calls.len() <= limits.calls, "{name}: {} calls", outcome.calls.len());
    assert!(outcome.effects.len() <= limits.effects, "{name}: {} effects", outcome.effects.len());
    // The last finding counts those that were left out.
    assert!(outcome.diagnostics.len() <= limits.diagnostics, "{name}: {} findings", outcome.diagnostics.len());
    let reported: usize =
        outcome.diagnostics.iter().map(|found| found.message.len() + found.help.as_deref().map_or(0, str::len)).sum();
    assert!(reported <= 1000 * limits.diagnostics, "{name}: {reported} bytes of findings");
}

#[test]
fn a_long_text_of_anything_gives_an_outcome_within_the_limits() {
    for (name, input) in INPUTS {
        for size in [10_000, thorough(100_000)] {
            let text = input(size);
            for pack in PACKS {
                let program = program(pack);
                let outcome = program.run(&program.session(), &text);
                check(name, &outcome, text.len());
            }
        }
    }
}

#[test]
fn findings_that_are_left_out_are_counted() {
    let program = program("rules/couple-ai");
    let payload =
        r#""platform":"R","storyUrl":"https://x.y","chapterTitle":"1","contentSourcePageId":"p","profileId":"q""#;
    let keys = r#","platform":"z""#.repeat(200);
    let text = format!("[ACTION_PREPARE_PUBLICATION]{{{payload}{keys}}}{}", "[ACTION_Q]{}".repeat(50));
    let outcome = program.run(&program.session(), &text);
    let reported: Vec<&str> = outcome.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert!(reported.contains(&"151 more findings are left out"), "{reported:?}");
}

/// Warnings and errors are reported however many remarks come before them.
#[test]
fn a_warning_is_reported_rather_than_one_more_remark() {
    let program = program("rules/writers-factory");
    let quoted = "`<action>` ".repeat(150);
    let text = format!("<message>{quoted}</message><action type=\"q\"/>");
    let outcome = program.run(&program.session(), &text);
    assert_eq!(outcome.diagnostics.len(), Limits::default().diagnostics);
    assert!(outcome.diagnostics.iter().any(|found| found.code == "response/unknown-action"));
    let bytes = [&[0xff; 300], text.as_bytes()].concat();
    let mut reader = program.reader(&program.session(), &Default::default());
    reader.push(&bytes);
    let (outcome, _) = reader.finish();
    let left_out = outcome.diagnostics.last().map(|found| found.message.as_str());
    // The findings are 300 bytes that are not UTF-8, 150 tags in code, the text before the message, and the call; 99 of
    // them are reported.
    assert_eq!(left_out, Some("353 more findings are left out"));
    let outcome = program.run_with(&program.session(), &[0xff; 5000], &Options::default());
    let left_out = outcome.diagnostics.last().map(|found| found.message.as_str());
    assert_eq!(left_out, Some("4903 more findings are left out"));
}

/// However many findings one call has, the guardrail still removes the next call.
#[test]
fn a_guardrail_still_acts_when_its_findings_are_left_out() {
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "tags"
        blocks.message = { role = "message" }
        blocks.order = { role = "call", payload = "tags" }
        [actions.order]
        params = { dishes = { type = "array", items = { type = "string" } } }
        effects = [{ emit = "ordered" }]
        [[guardrails]]
        id = "spirits"
        on = "order.dishes"
        matches = "absinthe"
        strategy = "drop"
    "#;
    let program = program_of(pack);
    let order = |dishes: &str| format!("<order><dishes>{dishes}</dishes></order>\n");
    let many = order(&["absinthe"; 2 * 100].join(","));
    let text = format!("<message>Yes.</message>{many}{}", order("absinthe").repeat(2 * Limits::default().diagnostics));
    let outcome = program.run(&program.session(), &text);
    assert_eq!(outcome.calls.len(), 1 + 2 * Limits::default().diagnostics);
    assert!(outcome.effects.is_empty(), "{:?}", outcome.effects.first());
}

/// Broken openers are removed up to the next token candidate, whether they are reported or not.
#[test]
fn broken_openers_are_removed_even_when_their_findings_are_left_out() {
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "tags"
        text = "message"
        blocks.note = { role = "section" }
        [degradation]
        malformed-opener = "drop"
        stray-closer = "drop"
    "#;
    let program = program_of(pack);
    for times in [1, 99, 100, 101, 5_000] {
        let text = format!("a{}z", "<note b=\"</note> <note c=\"<note d ".repeat(times));
        let outcome = program.run(&program.session(), &text);
        assert!(!outcome.message.contains('<'), "{times}: {:?}", outcome.message.get(..80));
        assert_eq!(outcome.message.split_whitespace().last(), Some("z"), "{times}");
        check("broken openers", &outcome, text.len());
    }
}

/// A call that is quoted or part of the reasoning does not run, however much text comes before it.
#[test]
fn quoted_and_considered_calls_never_run_after_any_amount_of_text() {
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "tags"
        text = "message"
        [dialects.d.blocks]
        think = { role = "thinking", starts = true }
        message = { role = "message" }
        note = { role = "call", payload = "tags" }
        pay = { role = "call", payload = "tags" }
        [degradation]
        stray-closer = "drop"
        [actions.note]
        params = { text = { type = "string" } }
        effects = [{ emit = "note" }]
        [actions.pay]
        params = { n = { type = "integer" } }
        effects = [{ emit = "pay" }]
    "#;
    let program = program_of(pack);
    let pay = "<pay><n>5</n></pay>";
    for times in [10, 99, 100, 101, 1000] {
        let closers = "I say </message> ".repeat(times);
        let outcome = program.run(&program.session(), &format!("{closers}{pay} no.</think><message>x</message>"));
        assert!(outcome.effects.is_empty(), "{times} closers");
        assert!(!outcome.message.contains("</message>"), "{times} closers: {}", outcome.message);
    }
    for draft in ["<note> but no", "<message>or say but no", "<note><text>no"] {
        let outcome = program.run(&program.session(), &format!("I could {pay} or {draft}</think><message>x</message>"));
        assert!(outcome.effects.is_empty(), "{draft}");
    }
    for times in [10, 9_990, 9_999, 10_000, 20_000] {
        let tags = "<b></b>".repeat(times);
        let text = format!("<message>x</message><note><text>{tags}{pay}</text></note>");
        let outcome = program.run(&program.session(), &text);
        let paid = outcome.calls.iter().any(|call| call.action == "pay");
        assert!(!paid, "{times} tags");
    }
}

/// The error that refuses everything comes after more remarks than are reported.
#[test]
fn an_error_after_many_remarks_is_still_reported() {
    let pack = r#"
        [pack]
        name = "p"
        start = "a"
        [dialects.d]
        grammar = "tags"
        blocks.message = { role = "message" }
        [degradation]
        gate-closed = "refuse"
        [state.open]
        type = "boolean"
        default = false
        from = "host"
        [modes.a]
        exits = [{ to = "b", gate = "state.open" }]
        [modes.b]
        final = true
        [[inputs]]
        class = "words"
        [[rules]]
        id = "talks"
        on = ["start", "input.words", "reply"]
        in = ["a"]
        effects = [{ each = "range(150)", remark = "note", text = "{{ item }}" }, { go = "b" }]
    "#;
    let program = program_of(pack);
    let session = program.session();
    let (heard, started) =
        (program.hear(&session, "Hello", &Options::default()), program.start(&session, &Options::default()));
    let outcome = program.run(&session, "<message>Hello</message>");
    for found in [&heard.diagnostics, &started.diagnostics, &outcome.diagnostics] {
        assert_eq!(found.len(), Limits::default().diagnostics);
        assert_eq!(found.iter().filter(|one| one.code == "response/gate-closed" && one.is_error()).count(), 1);
        assert!(found.iter().any(|one| one.message == "52 more findings are left out"));
    }
    assert!(heard.has_errors() && heard.effects.is_empty());
}

#[test]
fn a_stream_of_single_bytes_is_read_as_the_whole_text() {
    for (name, input) in INPUTS {
        for pack in PACKS {
            let program = program(pack);
            // If the pack has several dialects, each reads every byte until one claims the answer, so the text is
            // shorter.
            let text = input(thorough(if program.dialects().count() > 1 { 4_000 } else { 20_000 }));
            let session = program.session();
            let whole = program.run(&session, &text);
            let single = Options { chunk: Some(1), ..Options::default() };
            let outcome = program.run_with(&session, text.as_bytes(), &single);
            assert_eq!(outcome.ledger, whole.ledger, "{name}, read by {pack}");
            assert_eq!(serde_json::to_string(&outcome).unwrap(), serde_json::to_string(&whole).unwrap(), "{name}");
        }
    }
}

/// The budget of steps is used up at the same place however the text is cut. It is small here, so that it is used up.
#[test]
fn steps_that_are_used_up_are_used_up_for_every_cut() {
    let mut ended = 0;
    for (name, input) in INPUTS {
        for pack in PACKS {
            for steps_per_byte in [0, 1, 4] {
                let limits = Limits { steps_per_byte, ..Limits::default() };
                let program = program(pack).clone().with_limits(limits);
                let (session, text) = (program.session(), input(thorough(4_000)));
                let whole = program.run(&session, &text);
                ended += usize::from(whole.diagnostics.iter().any(|one| one.code == "response/too-costly"));
                for chunk in [7, 64] {
                    let options = Options { chunk: Some(chunk), ..Options::default() };
                    let outcome = program.run_with(&session, text.as_bytes(), &options);
                    let [outcome, whole] = [&outcome, &whole].map(|one| serde_json::to_string(one).unwrap());
                    // Compared without printing them: they are too long.
                    assert!(outcome == whole, "{name}, read by {pack} with {steps_per_byte} steps by {chunk} bytes");
                }
            }
        }
    }
    assert!(ended > 20, "the steps ended only in {ended} answers");
}

#[test]
fn nesting_ends_in_a_coded_diagnostic_on_a_small_stack_too() {
    let depth = 1_000_000;
    let texts = [
        ("[ACTION_INGEST_DOC]".to_owned() + &"{\"a\":".repeat(depth) + "1" + &"}".repeat(depth), "malformed-payload"),
        (format!("[ACTION_INGEST_DOC]{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth)), "malformed-payload"),
        ("[ACTION_INGEST_DOC]".to_owned() + &"{".repeat(depth), "malformed-payload"),
        ("<action type=query_notebook>".to_owned() + &"{\"a\":".repeat(depth) + "</action>", "malformed-payload"),
        (
            "<action type=query_notebook>".to_owned() + &"[".repeat(depth) + &"]".repeat(depth) + "</action>",
            "malformed-payload",
        ),
        (
            format!(
                "<action type=write_template><template>theme</template><content>{}{}</content></action>",
                "<a>".repeat(depth),
                "</a>".repeat(depth)
            ),
            "malformed-payload",
        ),
        ("<message>".repeat(depth) + &"</message>".repeat(depth), "too-large"),
        ("<message><action>".repeat(depth / 2), "too-large"),
    ];
    let read = move || {
        for (text, code) in texts {
            let program = program(if text.starts_with('[') { "rules/couple-ai" } else { "rules/writers-factory" });
            let outcome = program.run(&program.session(), &text);
            let codes: Vec<&str> = outcome.diagnostics.iter().map(|found| found.code.as_str()).collect();
            let wanted = format!("response/{code}");
            assert!(codes.contains(&wanted.as_str()), "{}… gives {codes:?}, not {wanted}", &text[..40]);
            assert!(outcome.effects.is_empty());
        }
    };
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small.spawn(read).unwrap().join().unwrap();
}

/// A computed value that exceeds the budget becomes `none`, whichever part of the pack reads it, and is reported once.
#[test]
fn what_exceeds_the_budget_of_an_answer_is_reported_whoever_reads_it() {
    let chain = (1..15).map(|n| format!("[state.s{n}]\ncompute = \"{{{{ state.s{} ~ state.s{} }}}}\"\n", n - 1, n - 1));
    let chain = chain.collect::<String>();
    let pack = |permits: &str, rest: &str| {
        let head = r#"
            [pack]
            name = "p"
            [dialects.d]
            grammar = "tags"
            text    = "message"
            blocks.action = { role = "call", name = "@type", payload = "tags" }
            [state.s0]
            default = "x"
            [actions.note]
            effects = [{ emit = "note" }]
        "#;
        format!("{head}\n{chain}\n[modes.default]\npermits = {permits}\n{rest}")
    };
    let reads = "state.s14 | length > 0";
    let permit = format!("[{{ action = \"*\", when = \"{reads}\", advice = \"{{{{ state.s14 }}}}\" }}]");
    let guardrail = format!("[[guardrails]]\nid = \"g\"\non = \"reply\"\nwhen = \"{reads}\"\nstrategy = \"refuse\"\n");
    let of = |outcome: &Outcome, code: &str| outcome.diagnostics.iter().filter(|one| one.code == code).count();
    for (what, pack, permitted) in [
        ("a permit", pack(&permit, ""), false),
        ("a guardrail", pack("[\"*\"]", &guardrail), true),
        ("nobody", pack("[\"*\"]", ""), true),
    ] {
        let program = program_of(pack.as_str());
        let mut session = program.session();
        session.state.put("s0", "x".repeat(1_000));
        let outcome = program.run(&session, "<action type=\"note\"></action>");
        assert_eq!(of(&outcome, "response/too-costly"), 1, "{what}: {:?}", outcome.diagnostics);
        assert_eq!(!outcome.effects.is_empty(), permitted, "{what}");
        assert_eq!(outcome.session.state.get("s14"), Some(&Value::Null), "{what}");
        // With a short text to begin with, no value exceeds the budget.
        let outcome = program.run(&program.session(), "<action type=\"note\"></action>");
        assert_eq!(of(&outcome, "response/too-costly"), 0, "{what}");
    }
}
