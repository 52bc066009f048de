//! Pending calls: what happens to them in another process, with another program, or in a session that was tampered
//! with?

use crate::texts::program_of;
use rulebook::outcome::Verdict;
use rulebook::{Program, Session, value};

const DESK: &str = r#"
[pack]
name = "desk"
[dialects.tagged]
grammar = "tags"
text    = "message"
blocks.tool = { role = "call", name = "@name", payload = "tags" }
[state.left]
type    = "number"
default = 100
[actions.refund]
params  = { amount = { type = "number", required = true } }
effects = [{ set = "left", value = "{{ state.left - params.amount }}" }, { emit = "refund", value = "{{ params.amount }}" }]
[modes.chat]
permits = [{ action = "refund", when = "params.amount <= state.left", confirm = "Refund {{ params.amount }}?" }]
[reply]
message = { required = true }
calls   = { least = 1 }
"#;

fn program(pack: &str) -> Program {
    program_of(pack)
}

/// A session with a pending refund, as another process reads it.
fn waiting(program: &Program) -> Session {
    let asked = program.run(&program.session(), r#"Well. <tool name="refund"><amount>40</amount></tool>"#);
    assert_eq!((asked.calls[0].verdict, asked.effects.len()), (Verdict::Pending, 0));
    let kept = serde_json::to_value(&asked.session).unwrap();
    assert_eq!(kept["pending"]["p-1"]["question"], "Refund 40?");
    program.resume(kept).unwrap()
}

#[test]
fn a_call_is_confirmed_in_another_process() {
    let program = program(DESK);
    let done = program.confirm(&waiting(&program), "p-1");
    // Requirements for answers, such as a message, do not apply to a confirmation.
    assert_eq!(done.diagnostics, []);
    assert_eq!(done.session.state.to_value(), value!({ "left": 60 }));
    assert!(done.session.pending.is_empty());
    assert!(serde_json::to_value(&done.session).unwrap().get("pending").is_none());
}

#[test]
fn another_program_judges_it_by_its_own_rules() {
    let session = waiting(&program(DESK));
    let check = |pack: String, code: &str| {
        let outcome = program(&pack).confirm(&session, "p-1");
        assert_eq!((outcome.calls[0].verdict, outcome.effects.len()), (Verdict::Dropped, 0), "{code}");
        assert_eq!(outcome.diagnostics[0].code, code);
        assert!(outcome.session.pending.is_empty());
    };
    check(
        DESK.replace("[actions.refund]", "[actions.refunds]").replace("action = \"refund\"", "action = \"refunds\""),
        "response/unknown-action",
    );
    check(
        DESK.replace("type = \"number\", required", "type = \"number\", maximum = 10, required"),
        "response/invalid-payload",
    );
    check(DESK.replace("params.amount <= state.left", "params.amount < 1"), "response/forbidden-call");
    check(DESK.replace("[reply]", "denies = [\"refund\"]\n[reply]"), "response/forbidden-call");
    // If the program now permits the call without a confirmation, it is carried out, too.
    let free = program(&DESK.replace(", confirm = \"Refund {{ params.amount }}?\"", ""));
    assert_eq!(free.confirm(&session, "p-1").effects.len(), 2);
}

#[test]
fn pending_calls_are_checked_when_a_session_is_resumed() {
    let program = program(DESK);
    let refused = |pending: rulebook::Value| program.resume(value!({ "pending": pending })).unwrap_err().to_string();
    let wanted = "`pending.p-1` is no call with `action`, `params` and `question`";
    for waits in [
        value!({ "p-1": 3 }),
        value!({ "p-1": { "action": "refund", "params": [], "question": "?" } }),
        value!({ "p-1": { "action": "refund", "question": "?" } }),
        value!({ "p-1": { "action": "refund", "params": {}, "question": "?", "by": "me" } }),
    ] {
        assert!(refused(waits).contains(wanted));
    }
    assert!(refused(value!([])).contains("`pending` of the session is not an object"));
    // Parameters that a host has changed are judged like any others.
    let changed =
        value!({ "pending": { "p-1": { "action": "refund", "params": { "amount": 1000 }, "question": "?" } } });
    let outcome = program.confirm(&program.resume(&changed).unwrap(), "p-1");
    assert_eq!((outcome.effects.len(), outcome.diagnostics[0].code.as_str()), (0, "response/forbidden-call"));
}

#[test]
fn at_most_a_hundred_calls_are_pending() {
    let program = program(&DESK.replace("name = \"desk\"", "name = \"desk\"\npending = \"keep\""));
    let call = r#"<tool name="refund"><amount>1</amount></tool>"#;
    let asked = program.run(&program.session(), &format!("Well. {}", call.repeat(120)));
    assert_eq!(asked.session.pending.len(), 100);
    let waiting = asked.calls.iter().filter(|call| call.verdict == Verdict::Pending).count();
    assert_eq!((waiting, asked.calls.len()), (100, 120));
    assert!(asked.diagnostics.iter().any(|one| one.code == "response/too-large"));
    // An id is never used twice.
    let done = program.decline(&asked.session, "p-100");
    let again = program.run(&done.session, &format!("Well. {call}"));
    assert_eq!(again.calls[0].pending.as_deref(), Some("p-101"));
}

#[test]
fn no_id_is_given_twice() {
    let program = program(DESK);
    let mut kept = serde_json::to_value(waiting(&program)).unwrap();
    kept.as_object_mut().unwrap().remove("ids");
    let session = program.resume(kept).unwrap();
    // The host has lost the counts, and the next answer drops what waits: a yes to `p-1` is no yes to this.
    let next = program.run(&session, r#"Well. <tool name="refund"><amount>1</amount></tool>"#);
    assert_eq!(next.calls[0].pending.as_deref(), Some("p-2"));
    assert_eq!(next.diagnostics[0].message, "`refund` no longer waits under `p-1`: the next answer is here");
}

#[test]
fn what_replaces_a_secret_is_not_replaced_again() {
    let pack = DESK.replace("amount = { type", "why = { type = \"string\" }, amount = { type")
        + "[[guardrails]]\nid = \"key\"\non = \"refund.why\"\nmatches = 'SECRET|[0-9]{4}'\nstrategy = \"redact\"\nwith = \"[SECRET]\"\n";
    let program = program(&pack);
    let asked =
        program.run(&program.session(), r#"Well. <tool name="refund"><amount>4</amount><why>1234</why></tool>"#);
    assert_eq!(asked.calls[0].verdict, Verdict::Pending);
    let done = program.confirm(&asked.session, "p-1");
    assert_eq!((done.calls[0].verdict, &done.calls[0].params["why"]), (Verdict::Accepted, &value!("[SECRET]")));
}
