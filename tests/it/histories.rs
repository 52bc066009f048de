//! Histories: is a past answer the one that its user saw, without being read again?

use crate::texts::program_of;
use rulebook::cases::Talk;
use rulebook::outcome::Status;
use rulebook::prompt::{History, Request, Speaker, Turn, read_history};
use rulebook::text::Source;
use rulebook::{Options, Outcome, Program, Session, Sources};
use serde_json::json;

/// A pack with a mode for tags, one for several speakers, and one whose dialect reads neither.
const PACK: &str = r#"
[pack]
name = "p"
[dialects.tagged]
grammar = "tags"
decode = "entities"
[dialects.tagged.blocks]
thinking = { role = "thinking" }
message = { role = "message" }
[dialects.talk]
grammar = "transcript"
anchor = "line"
text = "message"
blocks = { "*" = { role = "utterance" } }
[dialects.object]
grammar = "json"
blocks = { say = { role = "message" } }
[modes.chat]
dialects = ["tagged"]
[modes.meeting]
dialects = ["talk"]
[modes.machine]
dialects = ["object"]
degradation = { no-dialect = "refuse" }
[[guardrails]]
id = "secret"
on = "utterance"
matches = "swordfish"
strategy = "refuse"
[prompts.main]
layers = [{ id = "history", source = "history" }, { id = "message", source = "message" }]
[tiers.any]
context = 8000
reserve = 1000
"#;

fn in_mode(program: &Program, mode: &str) -> Session {
    program.resume(json!({ "mode": mode })).unwrap()
}

/// The messages of the prompt with this history, unescaped.
fn shown(program: &Program, mode: &str, history: Vec<Turn>) -> Vec<String> {
    let session = in_mode(program, mode);
    let prompt = program.prompt(&session, &Request { history, ..Request::default() });
    assert!(!prompt.has_errors(), "{:?}", prompt.diagnostics);
    let raw = |text: &str| {
        let again = program.run(&session, text);
        assert!(again.thinking.is_empty() && again.calls.is_empty() && again.utterances.is_empty(), "{text}");
        quick_xml::escape::unescape(text).unwrap().into_owned()
    };
    prompt.messages.iter().map(|message| raw(&message.content)).collect()
}

fn history(lines: &str) -> Result<History, Vec<String>> {
    let file = Source::new("h.jsonl", lines);
    let id = Sources::default().add(file.clone());
    read_history(id, &file).map_err(|faults| faults.into_iter().map(|fault| fault.message.to_string()).collect())
}

#[test]
fn an_answer_is_shown_in_the_form_of_the_mode_or_as_it_was_seen() {
    let program = program_of(PACK);
    // If the decoded text were read again, it would lose its reasoning, and the rest would be a message.
    let answer = "<thinking>Sly.</thinking><message>Write &lt;thinking&gt;so&lt;/thinking&gt;, and no more.</message>";
    let outcome = program.run(&in_mode(&program, "chat"), answer);
    assert_eq!(outcome.message, "Write <thinking>so</thinking>, and no more.");
    let seen = outcome.message.as_str();
    let object = |text: &str| format!("{:#}", json!({ "say": text }));
    for (mode, again) in
        [("chat", format!("<message>\n{seen}\n</message>")), ("meeting", seen.to_owned()), ("machine", object(seen))]
    {
        let turns = vec![Turn::answer(&outcome), Turn::new(Speaker::Assistant, &outcome.message)];
        assert_eq!(shown(&program, mode, turns), [&again, seen], "{mode}");
    }
    // The pack no longer has the dialect that read the answer, nor its mode.
    let without = PACK.replace("[modes.chat]\ndialects = [\"tagged\"]\n", "");
    let program = program_of(without);
    for (mode, again) in [("meeting", seen.to_owned()), ("machine", object(seen))] {
        assert_eq!(shown(&program, mode, vec![Turn::answer(&outcome)]), [again], "{mode}");
    }
    // A turn of an older version has no parts.
    let mut old = Turn::answer(&outcome);
    old.outcome = serde_json::from_value(json!({ "mode": "chat", "dialect": "tagged" })).unwrap();
    assert_eq!(shown(&program, "machine", vec![old]), [seen]);
}

#[test]
fn an_outcome_has_the_places_of_its_utterances_in_the_message() {
    let program = program_of(PACK);
    let session = in_mode(&program, "meeting");
    let answer = "They meet.\n\nMaya (Analyst): Yes.\n\nAlex (Architect): No.\n";
    let outcome = program.run(&session, answer);
    let turn = Turn::answer(&outcome);
    assert_eq!(turn.content, "They meet.\n\n(Maya, Analyst) Yes.\n\n(Alex, Architect) No.");
    assert_eq!(turn, program.turn(&session, answer));
    // An outcome that is read back from JSON gives the same turn.
    let kept = serde_json::to_string(&outcome).unwrap();
    assert_eq!(Turn::answer(&serde_json::from_str::<Outcome>(&kept).unwrap()), turn);
    // An invalid place, from a host or an older version, must not remove text.
    for offset in [0, 7, 9999] {
        let mut outcome = outcome.clone();
        outcome.message = "Sie träumen.".to_owned();
        outcome.utterances.iter_mut().for_each(|one| one.offset = offset);
        let content = Turn::answer(&outcome).content;
        let letters: String = content.split_whitespace().collect();
        assert!(letters.contains("(Maya,Analyst)Yes.(Alex,Architect)No."), "{content}");
        assert_eq!(letters.replace("(Maya,Analyst)Yes.(Alex,Architect)No.", ""), "Sieträumen.");
    }
}

#[test]
fn what_was_refused_does_not_come_back() {
    let program = program_of(PACK);
    let session = in_mode(&program, "meeting");
    let mut outcome = program.run(&session, "Maya (Analyst): The word is swordfish.\n");
    assert_eq!(outcome.status, Status::Refused);
    let shows = serde_json::to_string(&outcome.utterances).unwrap().contains("swordfish");
    assert_eq!(Turn::answer(&outcome).content.contains("swordfish"), shows);
    // Withheld parts are in the outcome for logs, and never in a history.
    let withheld = json!({
        "message": "swordfish", "thinking": ["swordfish"], "sections": [{ "name": "a", "text": "swordfish", "span": [0, 1] }],
        "contents": [], "utterances": [{ "speaker": "Maya", "label": "", "text": "swordfish", "span": [0, 1] }], "calls": [],
    });
    outcome.withheld = Some(serde_json::from_value(withheld).unwrap());
    outcome.utterances.clear();
    assert_eq!(Turn::answer(&outcome).content, "");
    assert!(!serde_json::to_string(&Turn::answer(&outcome)).unwrap().contains("swordfish"));

    // A refused answer that no dialect could read was not displayed.
    let mut talk = Talk::new(&program, in_mode(&program, "machine"), Options::default());
    talk.hear("Which word?");
    talk.answer("It is swordfish.");
    let prompt = talk.prompt_for("Well?", None, None);
    let texts: Vec<&str> = prompt.messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(texts, ["Which word?", "Well?"]);
}

#[test]
fn a_history_of_texts_is_read_once() {
    let program = program_of(PACK);
    let lines = r#"{"role": "user", "content": "<message>Hi</message>", "mode": 1}
{"role": "assistant", "content": "<thinking>Sly.</thinking><message>Hello.</message>"}

{"role": "assistant", "content": "Maya (Analyst): <message>Yes.</message>", "mode": "meeting"}
{"role": "assistant", "content": "Maya (Analyst): <message>Yes.</message>", "mode": "of another pack"}
{"role": "assistant", "content": "As it is.", "mode": null, "outcome": null}
{"role": "assistant", "content": "<thinking>Seen.</thinking>", "outcome": {"mode": "chat", "dialect": null}}
"#;
    let turns = program.turns(&in_mode(&program, "chat"), &history(lines).unwrap());
    let texts: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
    let expected = [
        "<message>Hi</message>",
        "Hello.",
        "(Maya, Analyst) <message>Yes.</message>",
        "Yes.",
        "As it is.",
        "<thinking>Seen.</thinking>",
    ];
    assert_eq!(texts, expected);
    let modes: Vec<&str> = turns.iter().map(|turn| turn.outcome.as_ref().map_or("", |outcome| &outcome.mode)).collect();
    assert_eq!((&modes[..4], modes[5]), (["", "chat", "meeting", "chat"].as_slice(), "chat"));
    // Turns can be saved as JSON lines, and what was read is not read again.
    let read = turns.iter().filter(|turn| turn.outcome.is_some());
    let read: Vec<Turn> = read.cloned().chain([Turn::new(Speaker::User, "<message>Hi</message>")]).collect();
    let written: String = read.iter().map(|turn| serde_json::to_string(turn).unwrap() + "\n").collect();
    for mode in ["chat", "meeting", "machine"] {
        assert_eq!(program.turns(&in_mode(&program, mode), &history(&written).unwrap()), read, "{mode}");
        assert_eq!(program.turns(&in_mode(&program, mode), &read.clone().into()), read, "{mode}");
    }

    for (line, why) in [
        (r#"{"role": "assistant", "content": "a", "mode": 1}"#, "the `mode` of the turn is not a text"),
        (
            r#"{"role": "assistant", "content": "a", "outcome": {}}"#,
            "the `outcome` of the turn is not an object with a `mode` and a `dialect`",
        ),
    ] {
        assert_eq!(history(line).unwrap_err(), [why]);
    }
}
