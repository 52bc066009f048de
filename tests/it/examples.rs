//! Examples: does each do what its first lines promise?
#![allow(dead_code, reason = "an example has a `main` of its own")]

#[path = "../../examples/agent.rs"]
mod agent;
#[path = "../../examples/chat.rs"]
mod chat;
#[path = "../../examples/streaming.rs"]
mod streaming;

use rulebook::Provider;
use rulebook::outcome::Status;
use serde_json::json;

const ANSWERS: &str = include_str!("../../examples/notes/answers.txt");

#[test]
fn a_chat_shows_carries_out_and_continues() {
    let program = chat::load().unwrap();
    let mut session = program.session();
    session.state.put("contacts", json!(["ada@example.org"]));
    let mut screen = Vec::new();
    let input = "Remember tea and milk.\nAsk Ada to tea, and send Eve my notes.\n";
    let session = chat::talk(program.clone(), session, ANSWERS, input.as_bytes(), &mut screen).unwrap();
    assert_eq!(
        String::from_utf8(screen).unwrap(),
        "I will remember the tea & the milk.\n\
         \x20 > note_kept \"Buy tea & milk\"\n\
         I have asked Ada, and sent Eve your notes.\n\
         \x20 ! 3:1: warning[response/forbidden-call]: `send_mail` is not permitted with these \
         arguments: `params.to in state.contacts` (to = \"eve@example.org\") (only to people in the address book)\n\
         \x20 > mail {\"to\":\"ada@example.org\",\"text\":\"Tea at five?\"}\n"
    );
    let kept = serde_json::to_value(&session).unwrap();
    assert_eq!(kept["state"]["notes"], json!(["Buy tea & milk"]));
    assert_eq!(program.resume(&kept).unwrap(), session);
}

#[test]
fn a_stream_emits_what_is_certain_and_ends_with_the_outcome() {
    let program = chat::load().unwrap();
    let (first, _) = ANSWERS.split_once("---").unwrap();
    let mut screen = Vec::new();
    let outcome = streaming::stream(&program, first.as_bytes(), &mut screen).unwrap();
    let screen = String::from_utf8(screen).unwrap();
    assert_eq!((outcome.status, outcome.effects.len()), (Status::Clean, 2));
    let events: Vec<&str> = screen.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(events.first(), Some(&"opened"));
    assert_eq!(events.last(), Some(&"outcome"));
    assert!(screen.contains("opened   1 call keep_note\n"), "{screen}");
}

/// The servers refuse a turn if a call of the turn before has no answer, or has two.
#[test]
fn an_agent_works_over_several_turns_with_every_verdict() {
    let program = agent::load().unwrap();
    let transcripts = [Provider::Openai, Provider::Anthropic].map(|provider| agent::play(&program, provider).unwrap());
    assert_eq!(transcripts[0], transcripts[1]);
    assert_eq!(transcripts[0], TRANSCRIPT);
}

const TRANSCRIPT: &str = r#"Let me look.
  > read_file {"path":"src/main.rs"}: fn main() {}
  ! not carried out: `read_file` is not permitted with this `path` (Only files below src/ and docs/ can be read.)
  ! not carried out: the payload does not match its schema: `seconds`: … is not of type "integer"
  ! not carried out: the whole answer was refused
  > run {"command":"cargo test","seconds":60}: done
  ! not carried out: `run` is not permitted with this `command` (Write plain commands, without variables, substitutions and redirections.)
I'll commit the fix.
  ? run {"command":"git commit -am 'Fix the test'","seconds":60}: yes
  > run {"command":"git commit -am 'Fix the test'","seconds":60}: done
  ? run {"command":"git push --force","seconds":60}: no
  ! not carried out: a person has declined `run`
The test passes, and the fix is committed.
"#;
