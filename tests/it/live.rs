//! Live texts: are the texts of an answer that is one object emitted as they arrive, and never retracted?

use crate::dice::Dice;
use crate::texts::{program_of, thorough};
use rulebook::{Options, Outcome, Program, Role, StreamEvent};

const OBJECT: &str = "[dialects.object]\ngrammar = \"json\"\n[dialects.object.blocks]\nsay = { role = \"message\" }\n\
    thoughts = { role = \"thinking\" }\nnote = { role = \"section\" }\n\"data.mood\" = { role = \"section\", name = \"mood\" }\n\
    \"says[]\" = { role = \"utterance\", name = \"@who\", body = \"text\" }\n\
    \"calls[]\" = { role = \"call\", name = \"@action\", body = \"params\" }\n";
const TAGS: &str =
    "[dialects.tags]\ngrammar = \"tags\"\nneeds = [\"message\"]\nblocks = { message = { role = \"message\" } }\n";
const REASONING: &str = "[dialects.object]\ngrammar = [\"json\", \"tags\"]\n[dialects.object.blocks]\n\
    think = { role = \"thinking\", grammar = \"tags\", starts = true }\nsay = { role = \"message\" }\n";

fn pack(dialects: &str) -> Program {
    program_of(format!(
        "[pack]\nname = \"x\"\n{dialects}\n[modes.open]\npermits = [\"pay\"]\n[actions.pay]\n\
         params = {{ sum = {{ type = \"integer\", required = true }} }}\n"
    ))
}

/// The events of an answer in pieces: those before its end; the outcome; and the events at the end.
fn streamed(program: &Program, pieces: &[&str]) -> (Vec<StreamEvent>, Outcome, Vec<StreamEvent>) {
    let mut reader = program.reader(&program.session(), &Options::default());
    let emitted = pieces.iter().flat_map(|piece| reader.push(piece.as_bytes())).collect();
    let (outcome, last) = reader.finish();
    (emitted, outcome, last)
}

/// The texts of each block in order, with its role and whether it is closed.
fn texts(emitted: &[StreamEvent]) -> Vec<(usize, Role, String, bool)> {
    let mut all: Vec<(usize, Role, String, bool)> = Vec::new();
    for event in emitted {
        match event {
            StreamEvent::Opened { block, role, .. } => all.push((*block, *role, String::new(), false)),
            StreamEvent::Text { block: Some(block), text, .. } => {
                all.iter_mut().filter(|one| one.0 == *block).for_each(|one| one.2.push_str(text));
            }
            StreamEvent::Closed { block, .. } => {
                all.iter_mut().filter(|one| one.0 == *block).for_each(|one| one.3 = true);
            }
            _ => {}
        }
    }
    all
}

#[track_caller]
fn early(program: &Program, pieces: &[&str], expected: &str) {
    let (emitted, ..) = streamed(program, pieces);
    let text: Vec<String> = texts(&emitted).into_iter().map(|(_, _, text, _)| text).collect();
    assert_eq!(text.join("|"), expected, "{emitted:#?}");
}

#[test]
fn texts_of_an_object_come_as_they_are_read() {
    let object = pack(OBJECT);
    early(&object, &["{\"say\": \"Good morn"], "Good morn");
    early(
        &object,
        &[" \n{\"thoughts\": \"Easy.\", \"say\": \"Caf\\u00e9 \\\"x\\\", and\\nthe "],
        "Easy.|Café \"x\", and\nthe",
    );
    // An incomplete escape is held, and so is text that may come after a missing quote.
    early(&object, &["{\"say\": \"a\\u00", "e9 b, "], "aé b");
    early(&object, &["{\"say\": \"a\\ud83d", "\\ude00."], "a😀.");
    early(&object, &["{\"say\": \"Hello, \"thoughts"], "Hello");
    // The backslash may have been escaped twice, which only the end of the text decides.
    early(&object, &["{\"say\": \"a\\\\nb"], "a");
    early(&object, &["{\"say\": \"a\\\\nb\\\\n\", \"note\": \"c"], "a\nb\n|c");
    // A value that is not a text is held, with all that comes after it.
    early(&object, &["{\"say\": \"Hi\", \"calls\": [{\"action\": \"pay\"}], \"note\": \"x"], "Hi");
    early(&object, &["Here: {\"say\": \"Hi"], "");
    early(&object, &["```json\n{\"say\": \"Hi"], "");
    early(&object, &["{\"other\": \"x\", \"say\": \"Hi"], "");
}

#[test]
fn a_dialect_beside_others_announces_once_it_has_claimed() {
    let both = pack(&format!("{OBJECT}{TAGS}"));
    early(&both, &["{\"say\": \"Good morning, ", "all of you"], "Good morning, all of you");
    early(&both, &["Well: <message>", "Hi"], "Hi");
}

#[test]
fn reasoning_with_an_opener_may_stand_before_the_object() {
    let reasoning = pack(REASONING);
    early(&reasoning, &["<think>Well, {\"say\": 1}</think>\n{\"say\": \"Hi ", "you"], "Well, {\"say\": 1}|Hi you");
    early(&reasoning, &["{\"say\": \"Hi ", "you"], "");
}

/// Whether the texts emitted before the end are in the outcome, in order: each closed text as a whole, and an open one
/// as a prefix.
fn stands(emitted: &[StreamEvent], outcome: &Outcome) -> bool {
    let mut of_message = String::new();
    let (mut thinking, mut sections) = (outcome.thinking.iter(), outcome.sections.iter());
    texts(emitted).iter().all(|(_, role, text, closed)| {
        let is_start = |whole: &str| if *closed { whole == text } else { whole.starts_with(text.as_str()) };
        match role {
            Role::Message => {
                of_message.push_str(text);
                outcome.message.starts_with(&of_message)
            }
            Role::Thinking => thinking.next().is_some_and(|one| is_start(one)),
            Role::Section => sections.next().is_some_and(|one| is_start(&one.text)),
            _ => true,
        }
    })
}

const WHOLE: [&str; 6] = [
    r#"{"say": "Hello there, all of you.", "thoughts": "They ask, I answer: [a], {b}.", "note": "n"}"#,
    r#"{"thoughts": "Caf\u00e9 \"open\", closed\nthen", "say": "One.", "say": "Two.", "calls": [{"action": "pay", "params": {"sum": 3}}]}"#,
    r#"{"note": "", "say": "It is \"fine\", \"say\": he said.", "data": {"mood": "warm, kind"}, "thoughts": "x"}"#,
    r#"{"say": "Line one\nLine two, \\n is a break", "note": "a\\nb", "other": 1, "thoughts": "t"}"#,
    r#"{"say":"Hi","says":[{"who":"Ann","text":"Ho, ho"},{"who":"Bob","text":"Hu"}],"note":"z"}"#,
    r#"{"thoughts": "I could write {\"say\": \"x\"}, but", "note": "7", "say": "Good, \ud83d\ude00."}"#,
];
const PIECES: [&str; 24] = [
    "\"", "\\", ",", ":", "{", "}", "[", "]", "\n", " ", "'", "...", "\"say\": ", "\"note\": \"", ", \"",
    "\", \"x\": \"", "“", "```", "null", "//", "</think>", "<message>", "\\n", "3",
];

#[test]
fn what_was_announced_of_a_damaged_object_is_never_taken_back() {
    let (object, both) = (pack(OBJECT), pack(&format!("{OBJECT}{TAGS}")));
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11);
    let mut dice = Dice(seed);
    let (mut early, mut all) = (0, 0);
    for _ in 0..thorough(20_000) {
        let mut answer = dice.pick(&WHOLE).to_owned();
        for _ in 0..dice.below(3) {
            let at = (0..=dice.below(answer.len() + 1)).rev().find(|at| answer.is_char_boundary(*at)).unwrap_or(0);
            match dice.below(3) {
                0 => answer.insert_str(at, dice.pick(&PIECES)),
                1 => drop((at < answer.len()).then(|| answer.remove(at))),
                _ if dice.one_in(4) => answer.truncate(at),
                _ => {
                    if at < answer.len() {
                        answer.remove(at);
                    }
                    answer.insert_str(at, dice.pick(&PIECES));
                }
            }
        }
        let program = if dice.one_in(4) { &both } else { &object };
        let (emitted, outcome, last) = streamed(program, &[&answer]);
        assert!(stands(&emitted, &outcome), "{answer}\n{emitted:#?}\n{outcome:#?}");
        let each: Vec<String> = answer.chars().map(String::from).collect();
        let each: Vec<&str> = each.iter().map(String::as_str).collect();
        let (slowly, same, end) = streamed(program, &each);
        assert!(stands(&slowly, &same), "{answer}\n{slowly:#?}\n{same:#?}");
        assert_eq!(serde_json::to_string(&outcome).unwrap(), serde_json::to_string(&same).unwrap(), "{answer}");
        let whole = |emitted: &[StreamEvent], last: &[StreamEvent]| texts(&[emitted, last].concat());
        assert_eq!(whole(&emitted, &last), whole(&slowly, &end), "{answer}");
        early += usize::from(!texts(&slowly).is_empty());
        all += 1;
    }
    assert!(2 * early > all, "{early} of {all} are announced before their end");
}
