//! Decision: may a program run one call of a tool?
//!
//! In: a program, a session, the name of a tool and its arguments.
//! Out: [`Decision`], with a text for the program that asked, and the outcome.
//! Never: runs a tool, or asks a person.

use crate::json_text::numbers;
use rulebook::outcome::Verdict;
use rulebook::text::excerpt;
use rulebook::{Options, Outcome, Program, Provider, Reply, ReplyPart, Session};
use serde_json::Value;

/// The decision about a call.
pub(super) enum Decision {
    /// The call may run, with these arguments, which are the judged ones.
    Allow(Value),
    /// The call may not run, for this reason.
    Deny(String),
    /// The call may run once a person has answered yes to this question, with these arguments. It is pending in the
    /// session under this id.
    Ask { id: String, question: String, params: Value },
}

/// Judges a call as the only one of a reply. `arguments` are JSON as it was written, so that no number is rounded and no
/// repeated key vanishes before the call is judged.
pub(super) fn judge(program: &Program, session: &Session, tool: &str, arguments: &str) -> (Decision, Outcome) {
    let mut reply = Reply::default();
    reply.parts.push(ReplyPart::Call { id: None, name: tool.to_owned(), arguments: arguments.to_owned() });
    let mut outcome = program.judge(session, &reply, &Options::default());
    // A tool runs under its own name, so another name of an action permits nothing.
    let other = outcome.calls.iter().find(|call| call.action != tool && call.verdict != Verdict::Dropped);
    let of_name = other.map(|call| {
        format!(
            "not carried out: `{}` is another name of `{}` in the pack, which permits only a tool of that name",
            excerpt(tool, 60),
            excerpt(&call.action, 60)
        )
    });
    let decision = of(&outcome);
    // What is judged would be another number than the one that the tool reads.
    let of_number = || {
        let is_inexact = |number: &&str| rulebook::value::number(number).is_none();
        let number = numbers(arguments).find(is_inexact).filter(|_| !matches!(decision, Decision::Deny(_)))?;
        let number = excerpt(number, 60);
        Some(format!("not carried out: the number `{number}` has more digits than can be kept, or is out of range"))
    };
    let Some(why) = of_name.or_else(of_number) else { return (decision, outcome) };
    outcome.session = session.clone();
    (Decision::Deny(why), outcome)
}

/// The decision about the one call of an outcome.
pub(super) fn of(outcome: &Outcome) -> Decision {
    let [call] = outcome.calls.as_slice() else { return Decision::Deny(why(outcome)) };
    let waits = call.pending.as_deref().and_then(|id| Some((id, outcome.session.pending.get(id)?)));
    match (call.verdict, serde_json::to_value(&call.params), waits) {
        (Verdict::Accepted, Ok(params), _) => Decision::Allow(params),
        (Verdict::Pending, Ok(params), Some((id, waits))) => {
            Decision::Ask { id: id.to_owned(), question: waits.question.clone(), params }
        }
        _ => Decision::Deny(why(outcome)),
    }
}

/// Why the call may not run, as a text for a model.
fn why(outcome: &Outcome) -> String {
    let results = outcome.tool_results(Provider::Mcp);
    let result = results.first().and_then(|result| serde_json::to_value(result).ok()).unwrap_or_default();
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.unwrap_or("not carried out: the pack refuses this call").to_owned()
}

/// The refusal of a host that cannot ask a person.
pub(super) fn without_a_person(question: &str) -> String {
    format!("not carried out: a person has to confirm this first, and cannot be asked here: {question}")
}
