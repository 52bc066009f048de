//! The corpus: which answers are measured?
//!
//! In: a seed.
//! Out: mixed answers of 1 to 8 KB in both dialects, one in ten malformed; single answers of any length; native
//! messages; the two shipped packs; and ratios of medians that a run of `criterion` has written.
//! Never: depends on anything but the seed.
#![allow(dead_code, clippy::print_stdout, reason = "each bench takes what it measures, and prints what came of it")]
#![allow(clippy::indexing_slicing, reason = "an index below the length")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the estimates of its own run")]

pub(crate) mod scenarios;

use rulebook::{Folder, Program, Provider};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// An answer, and the mode in which it is judged.
pub(crate) struct Answer {
    pub(crate) mode: &'static str,
    pub(crate) text: String,
}

/// A small pseudo-random number generator (splitmix64), with the same numbers on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, most: usize) -> bool {
        self.below(most) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const TALK: &[&str] = &[
    "The false victory is the stronger midpoint: Elena believes she has won Marcus's trust, and every scene up to that page can spend her belief.",
    "Your outline has eleven of the fifteen beats, and the four that are missing all stand between the midpoint and the dark night.",
    "**Gap detected**: nothing yet makes her *lie* cost something on the page.",
    "I'm recording the decision now; stop me if you'd rather keep both versions open.",
    "The lie and the flaw pull in the same direction here, which is why the third act feels short.",
    "Chapter 4 repeats the argument of chapter 2 with other furniture; cut one of them, and keep the photograph.",
    "A character who only reacts for sixty pages is not passive, but the reader will call him so.",
    "Note that the harbour scene contradicts the rule about magic and iron that you set on Tuesday.",
    "What does Marcus believe about debts at the start, and who taught him to believe it?",
    "- The customs house is open on Sundays in chapter 3, and closed in chapter 9.",
    "- Two people know about the letter; the plot needs exactly one.",
    "The theme statement belongs to somebody who does not know that it is one.",
    "If the storm comes before the trial, the trial has no weather of its own.",
    "I would begin with the ending, since you know it, and walk the beats backwards.",
    "The catalyst arrives on page 41 of 300: late, but within the habits of the genre.",
    "That answer also settles the question of the uncle, who can now be cut.",
    "The status of `beat_sheet` stays *in progress* until the four beats are named.",
    "You said that she never lies to children; page 88 says otherwise.",
    "A quieter version would let her find the photograph &amp; keep it without a word.",
    "The first line promises a book about water; the first chapter is about money, and I would let it be.",
    "Three of the notebooks mention the mutiny, and each of them names a different captain.",
    "Keep the sentence about the gulls. Lose the one that explains it.",
    "1. Decide what Marcus wants from the trial.",
    "2. Decide what he would give up for it, in one sentence, without the word \u{201c}truth\u{201d}.",
];

const PROSE: &[&str] = &[
    "The harbour lay under a lid of cloud, and the gulls had gone inland to quarrel over the fields.",
    "Elena counted the steps down to the water, as she had done at nine and at nineteen: forty-one, and one missing.",
    "\u{201c}You kept it,\u{201d} Marcus said. He did not look at the photograph.",
    "\u{201c}I keep everything,\u{201d} she said. \u{201c}You used to like that.\u{201d}",
    "Salt had eaten the hinges, so the door of the customs house stood open whether the customs house was open or not.",
    "He poured two glasses and drank neither.",
    "Somewhere behind the wall a radio was losing an argument with the wind.",
    "She had rehearsed the sentence all the way from the station, and now it lay in her mouth like somebody else's coin.",
    "The ledger was where he had said it would be, under the blankets, wrapped in a child's raincoat.",
    "Nobody had written in it since the fourth of May.",
    "Rain came over the mole, first as a smell and then as a noise.",
    "\u{201c}Ask me tomorrow,\u{201d} he said, and tomorrow stood in the doorway with its hat on.",
    "The cranes had stopped. It took her a while to hear that it was the silence that had woken her.",
    "There were two ways out of the yard, and her brother had died in one of them.",
    "A dog crossed the square with the air of having been sent.",
    "She signed. The pen was warm from his pocket.",
];

const NAMES: &[&str] =
    &["midpoint_type", "fatal_flaw", "photograph", "harbour_rule", "uncle", "voice_tense", "trial_weather", "ledger"];
const VALUES: &[&str] = &[
    "false victory",
    "she believes that keeping is the same as loving",
    "Elena keeps it, and does not know why",
    "iron is silent, salt remembers",
    "cut; his lines go to the harbour master",
    "close third person, past tense, no weather in dialogue",
];

/// Adds sentences of about `length` bytes, in paragraphs.
fn paragraphs(dice: &mut Dice, from: &[&str], length: usize, out: &mut String) {
    let end = out.len() + length;
    while out.len() < end {
        out.push_str(dice.pick(from));
        out.push_str(if dice.one_in(4) { "\n\n" } else { " " });
    }
    out.truncate(out.trim_end().len());
}

/// A fault in an answer in tags.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    UnclosedMessage,
    UnknownAction,
    WrongWord,
    MissingField,
    BrokenJson,
    StrayCloser,
    Nested,
    CutOff,
    NoTags,
}

const FAULTS: [Fault; 9] = [
    Fault::UnclosedMessage,
    Fault::UnknownAction,
    Fault::WrongWord,
    Fault::MissingField,
    Fault::BrokenJson,
    Fault::StrayCloser,
    Fault::Nested,
    Fault::CutOff,
    Fault::NoTags,
];

fn action(dice: &mut Dice, mode: &str, fault: Fault, out: &mut String) {
    let kind = if fault == Fault::UnknownAction {
        "summon_reviewer"
    } else {
        match mode {
            "architect" => {
                dice.pick(&["query_notebook", "save_decision", "save_decision", "write_template", "update_status"])
            }
            _ => {
                dice.pick(&["query_notebook", "save_decision", "generate_scaffold", "write_scene", "run_health_check"])
            }
        }
    };
    let field = |name: &str, value: &str| {
        if fault == Fault::MissingField && (name == "key" || name == "query") {
            return String::new();
        }
        format!("  <{name}>{value}</{name}>\n")
    };
    let fields = match kind {
        "query_notebook" => {
            field("notebook_id", "nb-7f21") + &field("query", "What does the captain say about the mutiny?")
        }
        "save_decision" => {
            let category =
                if fault == Fault::WrongWord { "plot" } else { dice.pick(&["structure", "character", "voice"]) };
            field("category", category) + &field("key", dice.pick(NAMES)) + &field("value", dice.pick(VALUES))
        }
        "write_template" => {
            let content = format!(
                "\n    <fatal_flaw>{}</fatal_flaw>\n    <the_lie>{}</the_lie>\n  ",
                dice.pick(VALUES),
                dice.pick(VALUES)
            );
            field("template", "protagonist") + &field("content", &content)
        }
        "update_status" => {
            field("template", "beat_sheet")
                + &field("status", "in_progress")
                + &field("missing", "beat_11, beat_12, beat_13")
        }
        "generate_scaffold" => field("chapter", "4") + &field("scene", "2") + &field("title", "The Confrontation"),
        "write_scene" => {
            let mut text = String::new();
            let length = 200 + dice.below(600);
            paragraphs(dice, PROSE, length, &mut text);
            field("chapter", "4") + &field("scene", &(1 + dice.below(9)).to_string()) + &field("text", &text)
        }
        "run_health_check" => field("scope", "chapter") + &field("target", "4") + &field("checks", "continuity, voice"),
        _ => field("who", "the board"),
    };
    if fault == Fault::BrokenJson {
        let _ = write!(out, "<action type=\"{kind}\">\n  {{\"key\": \"uncle\", \"value\": \"cut\",}}\n</action>");
    } else {
        let _ = write!(out, "<action type=\"{kind}\">\n{fields}</action>");
    }
}

/// One answer in tags of about `length` bytes.
pub(crate) fn tags(dice: &mut Dice, length: usize, malformed: bool) -> Answer {
    let mode = if dice.below(5) < 3 { "architect" } else { "director" };
    let fault = if malformed { FAULTS[dice.below(FAULTS.len())] } else { Fault::None };
    let mut out = String::new();
    if fault == Fault::NoTags {
        paragraphs(dice, TALK, length, &mut out);
        return Answer { mode, text: out };
    }
    let content = mode == "director" && dice.below(4) > 0;
    if dice.below(3) > 0 {
        out.push_str("<thinking>\n");
        let share = length / (4 + dice.below(4));
        paragraphs(dice, TALK, share, &mut out);
        if fault == Fault::Nested {
            out.push_str("\n<action type=\"save_decision\"><key>uncle</key></action>");
        }
        out.push_str("\n</thinking>\n\n");
    }
    let calls = if fault == Fault::None { dice.below(4) } else { 1 + dice.below(3) };
    let rest = length.saturating_sub(out.len() + 200 * calls);
    out.push_str("<message>\n");
    if dice.one_in(12) {
        out.push_str("Great question! ");
    }
    paragraphs(dice, TALK, if content { rest / 3 } else { rest }, &mut out);
    if dice.one_in(12) {
        out.push_str(" Let me know if you want me to keep both.");
    }
    out.push_str(if fault == Fault::UnclosedMessage { "\n\n" } else { "\n</message>\n\n" });
    if content {
        out.push_str("<content_update target=\"chapter_4_scene_2\">\n");
        paragraphs(dice, PROSE, rest * 2 / 3, &mut out);
        out.push_str("\n</content_update>\n\n");
    }
    for call in 0..calls {
        action(dice, mode, if call == 0 { fault } else { Fault::None }, &mut out);
        out.push_str("\n\n");
    }
    if fault == Fault::StrayCloser {
        out.push_str("</message>\n");
    }
    out.truncate(out.trim_end().len());
    if fault == Fault::CutOff {
        let cut = out.len() - out.len() / 5;
        out.truncate((0..=cut).rev().find(|at| out.is_char_boundary(*at)).unwrap_or(0));
    }
    Answer { mode, text: out }
}

/// One answer in tags of `length` bytes with many blocks: contents and calls after one message.
pub(crate) fn long_tags(dice: &mut Dice, length: usize) -> Answer {
    let mut out = String::from("<message>\n");
    paragraphs(dice, TALK, 1500, &mut out);
    out.push_str("\n</message>\n\n");
    let mut number = 0;
    while out.len() < length {
        number += 1;
        let _ = writeln!(out, "<content_update target=\"scene_{number}\">");
        paragraphs(dice, PROSE, 3000, &mut out);
        out.push_str("\n</content_update>\n\n");
        action(dice, "director", Fault::None, &mut out);
        out.push_str("\n\n");
    }
    Answer { mode: "director", text: out }
}

/// A payload, and the action whose parameters it has.
pub(crate) struct Payload {
    pub(crate) action: &'static str,
    pub(crate) json: String,
}

fn payload(dice: &mut Dice, length: usize) -> Payload {
    let mut text = String::new();
    let mut string = |dice: &mut Dice, from: &[&str], length: usize| {
        text.clear();
        paragraphs(dice, from, length, &mut text);
        serde_json::Value::from(text.as_str()).to_string()
    };
    match dice.below(5) {
        0 | 1 => {
            let id = dice.below(100);
            let mut sections = String::new();
            for arc in 0..(length / 400).min(12) {
                let summary = string(dice, TALK, 120);
                let comma = if arc == 0 { "" } else { ",\n    " };
                let _ = write!(sections, "{comma}{{\"id\": \"arc-{arc}\", \"title\": \"Arc {arc}\", \"summary\": {summary}}}");
            }
            let (summary, style) = (string(dice, TALK, length / 2), string(dice, TALK, 60));
            Payload { action: "ACTION_INGEST_DOC", json: format!(
                "{{\n  \"docId\": \"salt-road-{id}\",\n  \"title\": \"Salt Road\",\n  \"summary\": {summary},\n  \"totalChapters\": 12,\n  \"writingStyle\": {style},\n  \"authorHabits\": [\"ends scenes on an object\", \"weather as mood\"],\n  \"lastAnalyzedChapter\": 12,\n  \"sections\": [\n    {sections}\n  ],\n  \"sourceUrl\": \"https://example.org/salt-road\"\n}}"
            ) }
        }
        2 | 3 => {
            let content = string(dice, TALK, length);
            Payload {
                action: "ACTION_CREATE_CRITIQUE_PAGE",
                json: format!("{{\"page\": {{\"title\": \"The sagging middle\", \"content\": {content}}}}}"),
            }
        }
        _ => Payload {
            action: "ACTION_PREPARE_PUBLICATION",
            json: "{\n  \"platform\": \"RoyalRoad\",\n  \"storyUrl\": \"https://example.org/story/salt-road\",\n  \"chapterTitle\": \"The Customs House\",\n  \"contentSourcePageId\": \"page-3\",\n  \"profileId\": \"profile-1\"\n}".to_owned(),
        },
    }
}

/// One answer in brackets of about `length` bytes, and its payloads.
pub(crate) fn brackets(dice: &mut Dice, length: usize, malformed: bool) -> (String, Vec<Payload>) {
    let mut out = String::new();
    let mut payloads = Vec::new();
    let mut call = payload(dice, length / 2);
    let around = length.saturating_sub(call.json.len());
    paragraphs(dice, TALK, around / 2, &mut out);
    out.push_str("\n\n");
    if malformed {
        match dice.below(5) {
            // A trailing comma, a comment, an unclosed string, no payload, an unknown action.
            0 => call.json = call.json.replacen('}', ",}", 1),
            1 => call.json = call.json.replacen('{', "{ // as asked\n", 1),
            2 => call.json.truncate(call.json.len() / 2 / 2 * 2),
            3 => call.json.clear(),
            _ => call.action = "ACTION_EXPORT_PDF",
        }
    }
    while !call.json.is_char_boundary(call.json.len()) {
        call.json.pop();
    }
    let _ = write!(out, "[{}]{}\n\n", call.action, call.json);
    payloads.push(call);
    if dice.one_in(5) {
        let second = payload(dice, 300);
        let _ = write!(out, "[{}]{}\n\n", second.action, second.json);
        payloads.push(second);
    }
    paragraphs(dice, TALK, around / 2, &mut out);
    (out, payloads)
}

/// One answer in brackets of `length` bytes with many calls.
pub(crate) fn long_brackets(dice: &mut Dice, length: usize) -> String {
    let mut out = String::new();
    while out.len() < length {
        let (text, _) = brackets(dice, 4000, false);
        out.push_str(&text);
        out.push_str("\n\n");
    }
    out
}

/// Text of `length` bytes without any marker.
pub(crate) fn plain(dice: &mut Dice, length: usize) -> String {
    let mut out = String::new();
    paragraphs(dice, TALK, length, &mut out);
    out.replace('`', "'")
}

/// Answers in tags of 1 to 8 KB with little text and many calls, as in the examples of the pack's prompt.
pub(crate) fn busy_tags() -> Vec<Answer> {
    let mut dice = Dice::new(4);
    (0..ANSWERS)
        .map(|_| {
            let length = 1024 + dice.below(7 * 1024);
            let mut out = String::from("<message>\n");
            paragraphs(&mut dice, TALK, length / 4, &mut out);
            out.push_str("\n</message>\n\n");
            while out.len() < length {
                action(&mut dice, "architect", Fault::None, &mut out);
                out.push_str("\n\n");
            }
            Answer { mode: "architect", text: out }
        })
        .collect()
}

/// Answers with calls as models of the Hermes family write them: JSON in tags, with the action in its `name`.
pub(crate) fn hermes_calls() -> Vec<String> {
    let mut dice = Dice::new(7);
    (0..ANSWERS)
        .map(|_| {
            let mut out = String::new();
            paragraphs(&mut dice, TALK, 300, &mut out);
            for _ in 0..1 + dice.below(4) {
                let (name, arguments) = match dice.below(3) {
                    0 => ("light_on", format!(r#"{{"room": "kitchen", "level": {}}}"#, 1 + dice.below(100))),
                    1 => ("refund", format!(r#"{{"order": "A-{}", "amount": 12.5}}"#, dice.below(1000))),
                    _ => ("announce", format!(r#"{{"event": "{}"}}"#, dice.pick(PROSE))),
                };
                let _ =
                    write!(out, "\n<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>\n");
            }
            out
        })
        .collect()
}

/// A text and three calls as OpenAI and as Anthropic return them, with the other members of their messages.
pub(crate) fn native() -> [(Provider, String); 2] {
    let (text, words) = ("I'll switch the light on, refund the order and tell the others.", PROSE[7]);
    let calls = [
        ("light_on", json!({ "room": "kitchen", "level": 40 })),
        ("refund", json!({ "order": "A-1007", "amount": 12.5 })),
        ("announce", json!({ "event": words })),
    ];
    let chat: Vec<_> = calls
        .iter()
        .enumerate()
        .map(|(number, (name, arguments))| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({ "id": format!("call_8fQw2bXn{number}"), "type": "function", "function": function })
        })
        .collect();
    let openai = json!({
        "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG", "object": "chat.completion", "created": 1_741_570_283,
        "model": "gpt-4o-2024-08-06", "service_tier": "default", "system_fingerprint": "fp_fc9f1d7035",
        "choices": [{
            "index": 0, "logprobs": null, "finish_reason": "tool_calls",
            "message": { "role": "assistant", "content": text, "refusal": null, "annotations": [], "tool_calls": chat },
        }],
        "usage": {
            "prompt_tokens": 1117, "completion_tokens": 46, "total_tokens": 1163,
            "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
            "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0 },
        },
    });
    let blocks = calls.iter().enumerate().map(|(number, (name, arguments))| {
        json!({ "type": "tool_use", "id": format!("toolu_01D7FLrfh4GYq7yT1ULFe{number}"), "name": name, "input": arguments })
    });
    let anthropic = json!({
        "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "stop_reason": "tool_use", "stop_sequence": null,
        "content": std::iter::once(json!({ "type": "text", "text": text })).chain(blocks).collect::<Vec<_>>(),
        "usage": {
            "input_tokens": 472, "output_tokens": 89, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "service_tier": "standard",
        },
    });
    [(Provider::Openai, openai.to_string()), (Provider::Anthropic, anthropic.to_string())]
}

/// How many answers one corpus has.
pub(crate) const ANSWERS: usize = 60;

/// Answers in tags of 1 to 8 KB; one in ten is malformed.
pub(crate) fn mixed_tags() -> Vec<Answer> {
    let mut dice = Dice::new(1);
    (0..ANSWERS)
        .map(|number| {
            let length = 1024 + dice.below(7 * 1024);
            tags(&mut dice, length, number % 10 == 9)
        })
        .collect()
}

/// Answers in brackets of 1 to 8 KB with their payloads; one in ten is malformed.
pub(crate) fn mixed_brackets() -> Vec<(String, Vec<Payload>)> {
    let mut dice = Dice::new(2);
    (0..ANSWERS)
        .map(|number| {
            let length = 1024 + dice.below(7 * 1024);
            brackets(&mut dice, length, number % 10 == 9)
        })
        .collect()
}

/// A pack of a hundred actions with schemas, effects and permits.
pub(crate) fn hundred_actions() -> String {
    let count = 100;
    let mut pack = String::from(
        r#"[pack]
name  = "hundred"
start = "work"
[dialects.plain]
grammar = "tags"
case    = "insensitive"
quoted   = ["code-fence", "code-span"]
[dialects.plain.blocks]
message = { role = "message", decode = "entities" }
action  = { role = "call", name = "@type", payload = ["tags", "json"] }
[state]
notes = { type = "array", default = [] }
pages = { type = "object", default = {} }
"#,
    );
    for number in 0..count {
        let _ = write!(
            pack,
            r#"[actions.step_{number}]
about = "Does the step {number}"
[actions.step_{number}.params]
title  = {{ type = "string", minLength = 1, required = true }}
kind   = {{ enum = ["one", "other"], type = "string", required = true }}
weight = {{ type = "integer", minimum = 0 }}
labels = {{ type = "array", items = {{ type = "string" }} }}
[[actions.step_{number}.effects]]
append = "notes"
unique = ["title"]
value  = {{ title = "{{{{ params.title }}}}", step = {number} }}
[[actions.step_{number}.effects]]
when  = "params.weight is not none and params.weight > 10"
new   = "page"
set   = "pages.{{{{ ids.page }}}}"
value = "{{{{ params.title }}}} ({{{{ params.kind | upper }}}})"
[[actions.step_{number}.effects]]
emit  = "step_{number}"
value = "{{{{ params }}}}"
"#
        );
    }
    let names: Vec<String> = (0..count).map(|number| format!("\"step_{number}\"")).collect();
    let _ = write!(pack, "[modes.work]\npermits = [{}]\n", names.join(", "));
    pack
}

macro_rules! files {
    ($pack:literal: $($file:literal)*) => { files!("../../rules", $pack: $($file)*) };
    ($folder:literal, $pack:literal: $($file:literal)*) => {
        [$(($file, include_str!(concat!($folder, "/", $pack, "/", $file)))),*]
    };
}

/// A thousand tools as MCP servers list them, each called `srv__…`.
pub(crate) fn thousand_tools() -> String {
    let tool = |number: usize| {
        format!(
            r#"{{"name": "srv__tool_{number}", "description": "Does thing {number} to a document, and says how it went.",
            "inputSchema": {{"type": "object", "properties": {{
                "path": {{"type": "string", "description": "Which document", "minLength": 1}},
                "lines": {{"type": "array", "items": {{"type": "integer", "minimum": 1}}}},
                "how": {{"type": "string", "enum": ["fast", "slow", "{number}"]}},
                "options": {{"type": "object", "properties": {{"dry": {{"type": "boolean"}}}}}}
            }}, "required": ["path"], "additionalProperties": false}}}}"#
        )
    };
    format!(r#"{{"tools": [{}]}}"#, (0..1000).map(tool).collect::<Vec<_>>().join(","))
}

/// The pack for answers in tags, with its guardrails or without them.
pub(crate) fn writers_factory(guardrails: bool) -> Program {
    let files = files!("writers-factory": "pack.toml" "dialects.toml" "modes.toml" "state.toml" "actions.toml" "flow.toml" "guardrails.toml"
        "grammar/bodiless.pest" "grammar/fields.pest" "grammar/named.pest" "grammar/old.pest" "grammar/typed.pest");
    load("writers-factory", files.into_iter().filter(|(name, _)| guardrails || *name != "guardrails.toml"))
}

/// The pack for answers in tags, with its prompts.
pub(crate) fn writers_factory_with_prompts() -> Program {
    load(
        "writers-factory",
        files!("writers-factory":
        "actions.toml" "dialects.toml" "flow.toml" "guardrails.toml" "models.toml" "modes.toml" "pack.toml"
        "prompts.toml" "state.toml"
        "grammar/bodiless.pest" "grammar/fields.pest" "grammar/named.pest" "grammar/old.pest" "grammar/typed.pest"
        "prompt/actions.medium.xml" "prompt/actions.short.xml" "prompt/actions.xml"
        "prompt/gemini.md" "prompt/identity.md" "prompt/identity.short.md" "prompt/process_map.md"
        "prompt/process_map.short.md" "prompt/protocols.md" "prompt/protocols.medium.md" "prompt/protocols.short.md"
        "prompt/reminder.md" "prompt/state.medium.xml" "prompt/state.minimal.xml" "prompt/state.xml"
        "prompt/thinking_reminder.md" "prompt/work_order.summary.xml" "prompt/guardrails/continuity_rules.md"
        "prompt/guardrails/voice_antipatterns.md" "prompt/modes/architect.md" "prompt/modes/architect.short.md"
        "prompt/modes/director.md" "prompt/modes/director.short.md" "prompt/modes/editor.md"
        "prompt/modes/editor.short.md" "prompt/modes/voice_calibration.md" "prompt/modes/voice_calibration.short.md"),
    )
}

/// The dialect of the pack `dce` whose answers are one object, in a pack of its own.
pub(crate) fn dce_object() -> Program {
    let pack = "[pack]\nname = \"object\"\nuse = [\"std:reasoning\"]\ndialects = [\"json\"]\n[contents.file]\nkey = \"path\"\n";
    let dialect = files!("dce": "json.toml");
    load("object", dialect.into_iter().chain([("pack.toml", pack)]))
}

/// A pack whose answers are one object with members of every role.
pub(crate) fn one_object() -> Program {
    load("one-object", files!("../../tests/packs", "one-object": "pack.toml" "prompt/forms.md"))
}

/// A pack whose calls are JSON in tags.
pub(crate) fn tool_calls() -> Program {
    let pack = r#"
[pack]
name = "tools"
[dialects.tools]
grammar = "tags"
text    = "message"
[dialects.tools.blocks]
tool_call = { role = "call", name = "@payload.name", body = "arguments", payload = "json" }
[actions.light_on]
effects = [{ emit = "light", value = "{{ params }}" }]
[actions.light_on.params]
room  = { enum = ["kitchen", "bedroom"], required = true }
level = { type = "integer", minimum = 1, maximum = 100 }
[actions.refund]
effects = [{ emit = "refund", value = "{{ params }}" }]
[actions.refund.params]
order  = { type = "string", minLength = 1, required = true }
amount = { type = "number", minimum = 1, required = true }
[actions.announce]
params  = { event = { type = "string" } }
effects = [{ emit = "announce", value = "{{ params.event }}" }]
[modes.open]
permits = ["light_on", "refund", "announce"]
"#;
    load("tools", [("pack.toml", pack)])
}

/// The pack in which a user and personas take turns.
pub(crate) fn roundtable() -> Program {
    load(
        "roundtable",
        files!("roundtable": "pack.toml" "data.toml" "guardrails.toml" "inputs.toml" "messages.toml" "modes.toml" "prompts.toml" "rules.toml" "state.toml"
        "grammar/first.pest" "grammar/guest.pest" "grammar/turn.pest" "grammar/user.pest" "messages/synthesis.md" "prompt/discussion.md" "prompt/identity.md" "prompt/menu.md" "prompt/reminder.md" "prompt/session.md" "prompt/synthesis.md" "prompt/synthesis_form.md"),
    )
}

/// The pack for answers in brackets.
pub(crate) fn couple_ai() -> Program {
    load(
        "couple-ai",
        files!("couple-ai": "pack.toml" "state.toml" "actions.toml" "grammar/actions.pest" "grammar/fenced.pest" "grammar/near.pest"),
    )
}

/// The pack for answers with files.
pub(crate) fn dce() -> Program {
    load("dce", files!("dce": "pack.toml" "dialects.toml" "json.toml" "modes.toml" "grammar/files.pest"))
}

fn load(name: &str, files: impl IntoIterator<Item = (&'static str, &'static str)>) -> Program {
    let loaded = Program::load(&Folder::new(name, files));
    loaded.value.unwrap_or_else(|| unreachable!("{:?}", loaded.diagnostics))
}

/// Prints `name`, the median of `one` as a multiple of that of `other`, both `group/function`, and the target.
pub(crate) fn ratio(name: &str, one: &str, other: &str, target: f64) {
    let (Some(one), Some(other)) = (median(one), median(other)) else { return };
    times(name, one / other, target);
}

/// The median of a bench in nanoseconds, as the last run has written it.
pub(crate) fn median(bench: &str) -> Option<f64> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let path = target.join("criterion").join(bench).join("new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    estimates.pointer("/median/point_estimate")?.as_f64()
}

/// Prints a ratio, and whether it meets its target.
pub(crate) fn times(name: &str, ratio: f64, target: f64) {
    println!("{} {name}: {ratio:.2} (at most {target})", if ratio <= target { "ok  " } else { "MISS" });
}
