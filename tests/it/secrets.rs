//! Secrets: is text that a guardrail removes from an answer absent from the outcome, the events and the trace?

use crate::dice::Dice;
use crate::texts::program_of;

use rulebook::Options;
use rulebook::outcome::{Leaf, Status, StepKind};
use rulebook::prompt::{Request, Speaker, Turn};

/// The pack, with these guardrails on every text and every parameter.
fn pack(rules: &str) -> String {
    format!(
        r#"
[pack]
name = "p"
[dialects.tagged]
grammar = "tags"
text = "message"
[dialects.tagged.blocks]
say = {{ role = "message", decode = "entities" }}
think = {{ role = "thinking" }}
facts = {{ role = "section", payload = "json", schema = {{ type = "object" }} }}
list = {{ role = "section", payload = "bullets" }}
file = {{ role = "content", key = "@path", anchor = "line" }}
do = {{ role = "call", name = "@what", payload = ["tags", "json"], decode = "entities" }}
[state.last]
default = ""
[actions.note.params]
text = {{ type = "string", required = true, maxLength = 90 }}
more = {{ type = "object" }}
[[actions.note.effects]]
set = "last"
value = "{{{{ params.text }}}} / {{{{ reply.message }}}} / {{{{ reply.sections }}}}"
[[actions.note.effects]]
when = "params.text is matching('7')"
remark = "note"
text = "{{{{ params.text }}}}"
[contents.file]
effects = [{{ write = "a.md", value = "{{{{ text }}}}" }}]
[modes.default]
permits = [{{ action = "note", when = "params.text | lower != reply.message | lower and params.text[:4] != reply.message[:4]", advice = "{{{{ params.text | lower }}}} {{{{ params.more | tojson }}}} is {{{{ reply.message | upper }}}}, not {{{{ params.text[:7] }}}}" }}, {{ content = "file", when = "text | length < 40" }}]
[degradation]
malformed-payload = ["repair", "salvage", "drop"]
invalid-payload = ["coerce", "drop"]
unclosed-block = "keep"
{rules}
"#
    )
}

const TARGETS: &str = r#"["message", "thinking", "section", "content", "note.text", "note.more"]"#;

/// A text with the secret in it, as `encode` writes it.
fn words(dice: &mut Dice, secret: &str) -> String {
    let before =
        dice.pick(&["", "a ", "see ", "x7 ", "<b> ", "one two three four five six seven eight nine ten eleven "]);
    let behind = dice.pick(&["", " z", ".", " and a great deal more than forty characters of text behind it", " 7"]);
    format!("{before}{}{behind}", if dice.one_in(5) { "nothing" } else { secret })
}

fn answer(dice: &mut Dice, secret: &str) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(5) {
        let said = words(dice, secret);
        let escaped = said.replacen('S', "&#83;", dice.below(2));
        // Escapes of JSON, as a model that hides something may write them.
        let coded = format!("{said:?}").replacen('S', "\\u0053", dice.below(2));
        let called = dice.pick(&["note", "other", secret]);
        let block = match dice.below(13) {
            0 => said,
            1 => format!("<say>{escaped}</say>"),
            2 => format!("<think>{said}</think>"),
            3 => format!("<facts>{{\"a\": [{said:?}], \"b\": {{\"c\": {said:?}}}}}</facts>"),
            4 => format!("<list>\n- {said}\n- {said}\n</list>"),
            5 => format!("\n<file path=\"a.md\">\n{said}\n{said}\n</file>\n"),
            6 => format!("<do what=\"note\"><text>{escaped}</text></do>"),
            7 => format!(
                "<do what=\"note\">{{\"text\": {said:?}, \"more\": {{{said:?}: {{{said:?}: [{said:?}]}}}}{}",
                dice.pick(&["}</do>", ",}</do>", ", \"n\": 1/3}</do>", ""])
            ),
            8 => format!("<do what=\"{called}\">{{\"text\": {coded}, \"n\": {coded}, \"more\": {coded}}}</do>"),
            9 => format!("<do what=\"note\">{{\"text\": {coded}, \"text\": {coded}}}</do>"),
            10 => format!("<do what=\"{called}\"><text>{escaped}</text><text>x</text><extra>{said}</extra></do>"),
            11 => format!("<do what=\"note\"><text>x</text><{secret}>1</{secret}></do>"),
            _ => format!("<do what=\"note\"><text>{escaped} {said}</text><mroe>7</mroe></do>"),
        };
        text.push_str(&block);
        text.push_str(dice.pick(&["", "\n", "\n\n", "</say>", "<do"]));
    }
    text
}

/// Tests all strategies, on whole answers and on random cuts. No text of the pack or the engine contains the secret.
#[test]
fn a_redacted_text_is_nowhere_in_an_outcome() {
    let secret = "S3CR-ET42";
    let rule = |more: &str| format!("[[guardrails]]\nid = \"g\"\non = {TARGETS}\nmatches = 'S3CR-ET\\d+'\n{more}\n");
    // The table of degradation comes before the rules.
    let redacting = [
        "guardrail = \"redact\"\n".to_owned() + &rule(""),
        "forbidden-call = \"keep-as-text\"\n".to_owned() + &rule("strategy = \"redact\""),
    ];
    let others = ["redact", "refuse", "ask-again"].into_iter().flat_map(|strategy| {
        let rule = |more: &str| rule(&format!("strategy = \"{strategy}\"\n{more}"));
        let overlap =
            "[[guardrails]]\nid = \"h\"\non = \"message\"\nmatches = 'CR-ET42.'\nstrategy = \"redact\"\nwith = \"#\"\n";
        [rule(""), rule("when = \"captures | length >= 0\""), rule("severity = \"info\"") + overlap]
    });
    let programs: Vec<_> = redacting.into_iter().chain(others).map(|rules| program_of(pack(&rules))).collect();
    let tries = std::env::var("SECRETS").ok().and_then(|tries| tries.parse().ok()).unwrap_or(10_000);
    let mut dice = Dice(11);
    let (mut replaced, mut refused) = (0, 0);
    for number in 0..tries {
        let program = &programs[number % programs.len()];
        let text = answer(&mut dice, secret);
        let options = Options { trace: true, chunk: Some(1 + dice.below(9)), ..Options::default() };
        let mut reader = program.reader(&program.session(), &options);
        let pieces = text.as_bytes().chunks(options.chunk.unwrap());
        let mut reported: Vec<_> = pieces.flat_map(|piece| reader.push(piece)).collect();
        let (outcome, last) = reader.finish();
        reported.extend(last);
        // The secret must be in neither, whatever the text was read as.
        let json = serde_json::to_string(&(&outcome, &reported)).unwrap().to_uppercase();
        // A guardrail with `refuse` does not check a call that was dropped for another reason, so it may not have
        // matched.
        let takes_out = number % programs.len() < 5 || outcome.status == Status::Refused;
        let is_out = takes_out && (json.contains("S3CR") || json.contains("ET42"));
        let pretty = || format!("{outcome:#?}");
        let lines = || {
            pretty()
                .lines()
                .filter(|line| line.to_uppercase().contains("S3CR") || line.to_uppercase().contains("ET42"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert!(!is_out, "{number}: {text}\n{}", lines());
        replaced += usize::from(outcome.status != Status::Refused && !outcome.redacted.is_empty());
        refused += usize::from(outcome.status == Status::Refused);
        let readable = outcome.readable(&text);
        assert_eq!(readable.len(), text.len());
        let shows = readable.contains("S3CR") || readable.contains("ET42");
        assert!(!(takes_out && shows), "{number}: {text}\n{readable}");
        if outcome.status == Status::Refused {
            assert!(readable.chars().all(|c| c == '*' || c.is_whitespace()));
        }
        let hidden: usize = outcome.redacted.iter().map(|span| span.end - span.start).sum();
        let ledger = &outcome.ledger;
        assert!(ledger.dropped >= hidden || outcome.status == Status::Refused, "{text}\n{:#?}", outcome);
        for step in outcome.trace.iter().flatten() {
            if let StepKind::Bytes { part, .. } = &step.step {
                let inside =
                    outcome.redacted.iter().any(|span| span.start <= step.span.start && step.span.end <= span.end);
                assert!(!inside || matches!(part, Leaf::Dropped | Leaf::Markup | Leaf::Blank), "{text}");
            }
        }
    }
    assert!(replaced > tries / 5 && refused > tries / 5, "{replaced} {refused} of {tries}");
}

/// A stream names what it opens before the answer is judged.
#[test]
fn a_name_that_the_outcome_hides_is_in_no_event() {
    let pack = r#"
[pack]
name = "p"
[dialects.tagged]
grammar = "tags"
[dialects.tagged.blocks]
say = { role = "message" }
file = { role = "content", key = "@path" }
do = { role = "call", name = "@what", payload = "tags" }
[actions.note]
[modes.default]
permits = ["note"]
[contents.file]
key = "path"
[[guardrails]]
id = "names"
on = "message"
matches = '(?i)jane doe'
strategy = "redact"
[[guardrails]]
id = "keys"
on = "file.key"
unless = '^notes/'
strategy = "drop"
"#;
    let program = program_of(pack);
    let named = |answer: &str| -> Vec<Option<String>> {
        let mut reader = program.reader(&program.session(), &Options::default());
        let mut events: Vec<_> = answer.as_bytes().chunks(1).flat_map(|piece| reader.push(piece)).collect();
        events.extend(reader.finish().1);
        let names = events.into_iter().filter_map(|event| match event {
            rulebook::StreamEvent::Opened { role: rulebook::Role::Message, .. } => None,
            rulebook::StreamEvent::Opened { called, .. } => Some(called),
            _ => None,
        });
        names.collect()
    };
    let message = "<say>To Jane Doe.</say>";
    assert_eq!(
        named(&format!("{message}<do what=\"Jane Doe\"></do><do what=\"note\"></do>")),
        [None, Some("note".into())]
    );
    let file = |path: &str| named(&format!("{message}<file path=\"{path}\">x</file>"));
    assert_eq!(file("notes/a.txt"), [Some("notes/a.txt".into())]);
    assert_eq!(file("./notes/a.txt"), [None]);
    assert_eq!(file("notes/jane doe.txt"), [None]);
    assert_eq!(file("other/a.txt"), [None]);
}

/// The words of a user are guarded before a rule reads them, the session stores them or a prompt contains them.
#[test]
fn what_a_user_says_is_guarded_first() {
    let pack = r#"
[pack]
name = "p"
[dialects.tagged]
grammar = "tags"
text = "message"
blocks.do = { role = "call", payload = "tags" }
[state.said]
default = ""
[[inputs]]
class = "pay"
matches = "pay with (?P<card>.+)"
[[rules]]
id = "keep"
on = "input.pay"
effects = [{ set = "said", value = "{{ captures.card }} | {{ text }}" }]
[reply]
refused = "Not that."
[[guardrails]]
id = "card"
on = "input"
matches = '\b(?P<number>\d(?:[ -]?\d){11,18})\b'
when = "captures.number is luhn"
strategy = "redact"
with = "[card]"
[[guardrails]]
id = "name"
on = "input"
matches = "Voldemort"
strategy = "refuse"
[prompts.main]
layers = [{ id = "history", source = "history" }, { id = "message", source = "message" }]
[tiers.any]
context = 9000
reserve = 1000
"#;
    let program = program_of(pack);
    let session = program.session();
    let heard = program.hear(&session, "I pay with 4111 1111 1111 1111, not 4111 1111 1111 1112.", &Options::default());
    assert_eq!(heard.text, "I pay with [card], not 4111 1111 1111 1112.");
    let state = serde_json::to_string(&heard.session.state).unwrap();
    assert!(state.contains("[card], not 4111 1111 1111 1112. | I pay with [card]"), "{state}");
    assert!(!serde_json::to_string(&heard).unwrap().contains("1111 1111 1111 1111"));
    let refused = program.hear(&session, "I pay with Voldemort", &Options::default());
    assert!(refused.refused && refused.text.is_empty() && refused.class.is_none());
    assert_eq!((refused.say.as_slice(), &refused.session), (["Not that.".to_owned()].as_slice(), &session));
    assert!(!serde_json::to_string(&refused).unwrap().contains("Voldemort"));
    let history = vec![
        Turn::new(Speaker::User, "Voldemort, 1"),
        Turn::new(Speaker::Assistant, "x"),
        Turn::new(Speaker::User, "79927398713123456 4111111111111111"),
    ];
    let asked = |message: &str| {
        let message = Some(message.to_owned());
        program.prompt(&session, &Request { message, history: history.clone(), ..Request::default() })
    };
    let prompt = asked("4111-1111-1111-1111!");
    assert!(
        prompt.text.contains("[card]!") && !prompt.text.contains("1111") && !prompt.text.contains("Voldemort"),
        "{}",
        prompt.text
    );
    let none = asked("Voldemort?");
    assert!(none.has_errors() && none.messages.is_empty() && !none.text.contains("Voldemort"));
}

/// The body of a call is read into parameters before, so redacting the body would not change these.
#[test]
fn the_body_of_a_call_is_redacted_by_its_parameters_alone() {
    for on in ["do", "call"] {
        let rule = format!("[[guardrails]]\nid = \"g\"\non = \"{on}\"\nmatches = 'x'\nstrategy = \"redact\"\n");
        let folder = rulebook::Folder::new("p", [("pack.toml", pack(&rule).as_str())]);
        let found = rulebook::Program::load(&folder).diagnostics;
        assert!(found.iter().any(|one| one.code.as_str() == "pack/unfit-strategy"), "{on}: {found:?}");
    }
}
