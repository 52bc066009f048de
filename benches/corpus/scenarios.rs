//! Scenarios: which work is counted in instructions?
//!
//! In: nothing; the texts and packs of the corpus.
//! Out: named pieces of work, each with its own set-up, which `benches/counted.rs` repeats; and the inputs that a
//! scenario shares with a bench that measures time.
//! Never: reads a clock or a disk, or does different work in different repetitions.
#![allow(clippy::unwrap_used, reason = "the packs of the corpus load, and its expressions parse")]

use super::{
    Answer, Dice, busy_tags, couple_ai, dce, dce_object, hermes_calls, hundred_actions, long_tags, mixed_brackets,
    mixed_tags, native, plain, tool_calls,
};
use super::{roundtable, writers_factory, writers_factory_with_prompts};
use rulebook::expression::{Expression, Scope, Template};
use rulebook::prompt::{Request, Speaker, Turn};
use rulebook::text::{Location, Span, Spanned};
use rulebook::{Folder, Options, Program, Reader, Reply, Session, Value};
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;

/// The work to repeat, after its set-up.
pub(crate) type Work = Box<dyn FnMut()>;

/// A piece of work whose instructions are counted.
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// Makes the pack, the session and the answers.
    pub(crate) prepare: Box<dyn Fn() -> Work>,
}

pub(crate) const CONDITIONS: [&str; 5] = [
    "params.key",
    "state.turns < 10 and params.n in [1, 2, 3]",
    "params.target is startingwith('Drafts/')",
    "state.work_order | items | selectattr('1.status', 'ne', 'complete') | list | length == 0",
    "state.knowledge | length > 100",
];
pub(crate) const TEMPLATES: [&str; 4] = [
    "{{ params.key }}",
    "profiles/{{ params.key }}/{{ params.n }}.md",
    "{{ params.key | upper }} of {{ params.n + 1 }}",
    "{% for name, step in state.work_order | items %}{{ loop.index }}. {{ name }}: {{ step.status }}\n{% endfor %}",
];
pub(crate) const CONDITION_TO_PARSE: &str = "params.n in [1, 2] and not state.off";
pub(crate) const TEMPLATE_TO_PARSE: &str = "a {{ params.key | upper }} {% if params.n %}b{% endif %}";

/// Words that only the last input has a class for, so that all inputs are tried.
pub(crate) const OPEN: &str =
    "I wonder whether the cache should be shared between the two services, and what happens offline.";
/// Three utterances: each is a turn, with its rules.
pub(crate) const REPLY: &str = "Maya Chen (Business Analyst): Who benefits from this?\n\nAlex Rivera (Solutions Architect): Building on \
Maya's point about users, I see two approaches.\n\nJordan Park (System Designer): syncLocalChanges(state) -> SyncResult.\n";

/// Real answers with files: two in tags, two with headers, and one with paths as tags.
const FILES: [&str; 5] = [
    include_str!("../../tests/corpus/dce/001.txt"),
    include_str!("../../tests/corpus/dce/029.txt"),
    include_str!("../../tests/corpus/dce/043.txt"),
    include_str!("../../tests/corpus/dce/045.txt"),
    include_str!("../../tests/corpus/dce/017.txt"),
];
/// Real answers that are one valid object.
const VALID: [&str; 3] = [
    include_str!("../../tests/corpus/dce/069.txt"),
    include_str!("../../tests/corpus/dce/075.txt"),
    include_str!("../../tests/corpus/dce/085.txt"),
];
/// Real answers whose object is broken.
const BROKEN: [&str; 2] =
    [include_str!("../../tests/corpus/dce/079.txt"), include_str!("../../tests/corpus/dce/083.txt")];

/// The parameters and the state that conditions and templates read.
pub(crate) fn values() -> (Value, Value) {
    let params = json!({ "key": "fatal_flaw", "n": 3, "target": "Drafts/one.md" });
    let orders: serde_json::Map<_, _> =
        (0..20).map(|n| (format!("step{n}"), json!({ "status": "complete", "notes": "some words here" }))).collect();
    let knowledge: Vec<_> =
        (0..5000).map(|n| json!({ "key": format!("key {n}"), "value": "a sentence of a novel" })).collect();
    let state = json!({ "selected": "p1", "turns": 9, "work_order": orders, "knowledge": knowledge });
    (params.into(), state.into())
}

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    let mut add = |name: String, prepare: Box<dyn Fn() -> Work>| all.push(Scenario { name, prepare });
    for text in CONDITIONS {
        add(format!("condition: {text}"), Box::new(move || condition(text)));
    }
    for text in TEMPLATES {
        add(format!("template: {}", text.escape_default()), Box::new(move || template(text)));
    }
    add("expression: parse a condition".into(), Box::new(parse_condition));
    add("expression: parse a template".into(), Box::new(parse_template));
    add("load: a hundred actions".into(), Box::new(load));
    add("run: tags".into(), Box::new(|| run_tags(writers_factory(true), mixed())));
    add("run: tags without guardrails".into(), Box::new(|| run_tags(writers_factory(false), mixed())));
    add("run: tags with many calls".into(), Box::new(|| run_tags(writers_factory(true), busy())));
    add("run: tags in 256 KB".into(), Box::new(|| run_tags(writers_factory(true), long())));
    add("run: brackets".into(), Box::new(run_brackets));
    add("run: calls as Hermes writes them".into(), Box::new(run_hermes));
    add("native: serde_json to a value".into(), Box::new(native_parsed));
    add("native: read".into(), Box::new(native_read));
    add("native: judge three calls".into(), Box::new(native_judged));
    add("run: files".into(), Box::new(|| run_texts(dce(), &FILES)));
    add("run: valid JSON".into(), Box::new(|| run_texts(dce_object(), &VALID)));
    add("run: broken JSON".into(), Box::new(|| run_texts(dce_object(), &BROKEN)));
    add("run: three turns with their rules".into(), Box::new(run_turns));
    add("run: plain text".into(), Box::new(run_plain));
    add("stream: tags in pieces of 16 bytes".into(), Box::new(stream));
    add("hear: a turn with its rules".into(), Box::new(hear));
    add("prompt: 50 turns".into(), Box::new(prompt));
    all
}

fn spanned(text: &str) -> Spanned<String> {
    Spanned::new(text.to_owned(), Location::response(Span::new(0, text.len())))
}

/// The values are leaked, so that the work can borrow them for the life of the process.
fn scope() -> Scope<'static> {
    let (params, state) = values();
    Scope::new().with("params", Box::leak(Box::new(params))).with("state", Box::leak(Box::new(state)))
}

fn condition(text: &str) -> Work {
    let (expression, scope) = (Expression::parse(&spanned(text)).unwrap(), scope());
    Box::new(move || _ = black_box(expression.holds(black_box(&scope))))
}

fn template(text: &str) -> Work {
    let (template, scope) = (Template::parse(&spanned(text)).unwrap(), scope());
    Box::new(move || _ = black_box(template.render(black_box(&scope))))
}

fn parse_condition() -> Work {
    let text = spanned(CONDITION_TO_PARSE);
    Box::new(move || _ = black_box(Expression::parse(black_box(&text))))
}

fn parse_template() -> Work {
    let text = spanned(TEMPLATE_TO_PARSE);
    Box::new(move || _ = black_box(Template::parse(black_box(&text))))
}

fn load() -> Work {
    let folder = Folder::new("hundred", [("pack.toml", hundred_actions())]);
    Box::new(move || assert!(Program::load(black_box(&folder)).value.is_some()))
}

/// Judges texts, each in its session.
fn run(program: Program, answers: Vec<(Session, String)>) -> Work {
    Box::new(move || {
        for (session, text) in &answers {
            black_box(program.run(session, black_box(text)));
        }
    })
}

fn run_texts(program: Program, texts: &[&str]) -> Work {
    let answers = texts.iter().map(|text| (program.session(), (*text).to_owned())).collect();
    run(program, answers)
}

fn mixed() -> Vec<Answer> {
    mixed_tags().into_iter().take(20).collect()
}

fn busy() -> Vec<Answer> {
    busy_tags().into_iter().take(20).collect()
}

fn long() -> Vec<Answer> {
    vec![long_tags(&mut Dice::new(4), 256 << 10)]
}

fn in_mode(program: &Program, mode: &str) -> Session {
    let mut session = program.session();
    mode.clone_into(&mut session.mode);
    session
}

fn run_tags(program: Program, answers: Vec<Answer>) -> Work {
    let answers = answers.into_iter().map(|answer| (in_mode(&program, answer.mode), answer.text)).collect();
    run(program, answers)
}

fn run_brackets() -> Work {
    let texts: Vec<String> = mixed_brackets().into_iter().take(20).map(|(text, _)| text).collect();
    run_texts(couple_ai(), &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn run_hermes() -> Work {
    let texts: Vec<String> = hermes_calls().into_iter().take(20).collect();
    run_texts(tool_calls(), &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn native_parsed() -> Work {
    let messages = native();
    Box::new(move || {
        for (_, message) in &messages {
            black_box(serde_json::from_str::<serde_json::Value>(black_box(message)).ok());
        }
    })
}

fn native_read() -> Work {
    let messages = native();
    Box::new(move || {
        for (provider, message) in &messages {
            black_box(Reply::read(*provider, black_box(message)));
        }
    })
}

fn native_judged() -> Work {
    let (program, options) = (tool_calls(), Options::default());
    let session = program.session();
    let replies = native().map(|(provider, message)| Reply::read(provider, &message).into_result().unwrap());
    Box::new(move || {
        for reply in &replies {
            black_box(program.judge(&session, black_box(reply), &options));
        }
    })
}

fn run_plain() -> Work {
    run_texts(writers_factory(false), &[&plain(&mut Dice::new(3), 16 << 10)])
}

fn stream() -> Work {
    let (program, answers) = (Arc::new(writers_factory(true)), mixed());
    let sessions: Vec<Session> = answers.iter().map(|answer| in_mode(&program, answer.mode)).collect();
    let options = Options::default();
    Box::new(move || {
        for (answer, session) in answers.iter().zip(&sessions) {
            let mut reader = Reader::new(Arc::clone(&program), session, &options);
            for piece in answer.text.as_bytes().chunks(16) {
                black_box(reader.push(piece));
            }
            black_box(reader.finish());
        }
    })
}

/// The session of a discussion that has started.
fn discussion(program: &Program) -> Session {
    program.resume(json!({ "mode": "discussion", "now": "2026-02-20T14:30:00.000Z" })).unwrap()
}

fn run_turns() -> Work {
    let program = roundtable();
    let session = discussion(&program);
    run(program, vec![(session, REPLY.to_owned())])
}

fn hear() -> Work {
    let program = roundtable();
    let session = discussion(&program);
    Box::new(move || _ = black_box(program.hear(&session, black_box(OPEN), &Options::default())))
}

/// Tokens are estimated: this needs no vocabulary, and only the engine's own work is counted.
fn prompt() -> Work {
    let program = writers_factory_with_prompts();
    let session = program.session();
    let turn = |number| match number % 2 {
        0 => Turn::new(Speaker::User, format!("I want to work on scene {number}")),
        _ => Turn::answer(&program.run(&session, "<message>Which ending resonates?</message>")),
    };
    let request = Request {
        model: Some("claude-opus-4".to_owned()),
        history: (0..50).map(turn).collect(),
        message: Some("I think she learns to trust".to_owned()),
        ..Request::default()
    };
    Box::new(move || assert!(!black_box(program.prompt(&session, &request)).messages.is_empty()))
}
