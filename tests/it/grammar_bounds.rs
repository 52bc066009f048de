//! Hostile texts: reading stays linear, and memory stays small.

use rulebook::grammar::{Grammar, Machine, Progress, shipped, shipped_names};
use rulebook::text::SourceId;

/// Long enough to distinguish quadratic from linear; texts that repeat one thing are a megabyte.
const LENGTH: usize = 1 << 16;
const MEGABYTE: usize = 1 << 20;

fn grammar(name: &str) -> Grammar {
    Grammar::parse(SourceId::RESPONSE, shipped(name).unwrap()).value.unwrap()
}

fn hostile_texts() -> impl Iterator<Item = String> {
    let units = [
        "<", "{", "\"", "'", "[", "(", "\\", "/", "//", "/*", "*/", "\n", " ", "a", "<a", "<a ", "<a b", "<a b=",
        "<a b=\"", "<a b=' c=\"", "<a b=\"\" ", " b=\"", "</a", "[A", "[A]", "[A]{", "[A]{\"", "{}", "{{", "[]", "[[",
        "[1,", "{\"a\":", "{\"a\":[", "{'a':", "\"\\", "{a:", "[ /*", "[1 ", "{\"a\":1 ", "\\\"", "1", "1e", "true",
        "tru", "é", "🙂", "\u{0}", "[\"\n", "{\"a\":\"\n", "[// \n", ",", ":", "-",
    ];
    let starts = ["", "<a ", "<a b=\"", "[A]{\"", "{\"a\":\"", "[", "{\"a\":[1,", "{ /*", "\"", "'"];
    let length = |start: &str| if start.is_empty() { MEGABYTE } else { LENGTH };
    let text = move |start: &str, unit: &str| start.to_owned() + &unit.repeat(length(start) / unit.len());
    starts.into_iter().flat_map(move |start| units.map(|unit| text(start, unit)))
}

/// One run of any rule takes no more than a few steps for each byte.
#[test]
fn a_run_takes_linear_time_on_hostile_texts() {
    let mut machine = Machine::new();
    let grammars: Vec<_> = shipped_names().map(|name| (name, grammar(name))).collect();
    for text in hostile_texts() {
        for (name, grammar) in &grammars {
            for rule in grammar.rules() {
                let mut steps = 24 * text.len() as u64;
                machine.start(grammar, rule, 0);
                let progress = machine.run(grammar, &text, true, &mut steps);
                let start: String = text.chars().take(20).collect();
                assert_ne!(progress, Progress::Spent, "{name} {} on {start:?}…", grammar.rule_name(rule));
                assert!(machine.captures().len() <= 2 * text.len(), "{name} on {start:?}…");
            }
        }
    }
}

/// Openers tried at every byte of a text take no more than a few steps for each byte together.
#[test]
fn openers_at_every_byte_take_linear_time_on_hostile_texts() {
    let mut machine = Machine::new();
    for (name, rules) in [("tags", ["open", "close"]), ("brackets", ["open", "open"])] {
        let grammar = grammar(name);
        for text in hostile_texts() {
            for rule in rules {
                let rule = grammar.rule(rule).unwrap();
                let mut steps = 24 * text.len() as u64;
                for at in memchr::memchr2_iter(b'<', b'[', text.as_bytes()) {
                    machine.start(&grammar, rule, at);
                    let progress = machine.run(&grammar, &text, true, &mut steps);
                    let start: String = text.chars().take(20).collect();
                    assert_ne!(progress, Progress::Spent, "{name} on {start:?}…");
                }
            }
        }
    }
}

/// A text that comes byte by byte is not read again from the start each time.
#[test]
fn waiting_for_more_text_costs_no_more_than_reading_it_at_once() {
    let mut machine = Machine::new();
    let grammar = grammar("json");
    let rule = grammar.rule("payload").unwrap();
    let text = format!("{{\"a\": [{}\"{}\"]}}", "1, [2, {\"b\": null}], ".repeat(2000), "long ".repeat(10_000));
    let mut at_once = u64::MAX;
    machine.start(&grammar, rule, 0);
    let expected = machine.run(&grammar, &text, true, &mut at_once);
    let captures = machine.captures().to_vec();
    let mut piecemeal = u64::MAX;
    machine.start(&grammar, rule, 0);
    let mut progress = Progress::Pending;
    for end in 0..=text.len() {
        assert_eq!(progress, Progress::Pending);
        progress = machine.run(&grammar, &text[..end], end == text.len(), &mut piecemeal);
    }
    assert_eq!((progress, machine.captures()), (expected, captures.as_slice()));
    assert_eq!(progress, Progress::Matched(text.len()));
    let (at_once, piecemeal) = (u64::MAX - at_once, u64::MAX - piecemeal);
    assert!(piecemeal <= at_once + 2 * text.len() as u64, "{piecemeal} steps instead of {at_once}");
}
