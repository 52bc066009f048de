//! Hostile texts: the steps of the recogniser grow linearly with the text, and its memory is bounded.

use rulebook::grammar::{Grammar, Machine, Progress, shipped, shipped_names};
use rulebook::text::SourceId;

/// Long enough to distinguish quadratic from linear time; texts that repeat one thing are longer.
const LENGTH: usize = 1 << 14;
const LONG: usize = 1 << 18;

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
    let length = |start: &str| if start.is_empty() { LONG } else { LENGTH };
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
                let mut steps = 24 * text.len() as i64;
                machine.start(grammar, rule, 0);
                let progress = machine.run(grammar, &text, true, &mut steps);
                let start: String = text.chars().take(20).collect();
                assert_ne!(progress, Progress::Spent, "{name} {} on {start:?}…", grammar.rule_name(rule));
                assert!(machine.captures().len() <= 2 * text.len(), "{name} on {start:?}…");
            }
        }
    }
}

/// Trying openers at every byte of a text takes no more than a few steps per byte in total.
#[test]
fn openers_at_every_byte_take_linear_time_on_hostile_texts() {
    let mut machine = Machine::new();
    for (name, rules) in [("tags", ["open", "close"]), ("brackets", ["open", "open"])] {
        let grammar = grammar(name);
        for text in hostile_texts() {
            for rule in rules {
                let rule = grammar.rule(rule).unwrap();
                let mut steps = 24 * text.len() as i64;
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

/// A text takes the same steps however it is cut.
#[test]
fn waiting_for_more_text_costs_no_more_than_reading_it_at_once() {
    let mut machine = Machine::new();
    let grammar = grammar("json");
    let rule = grammar.rule("payload").unwrap();
    let text = format!("{{\"a\": [{}\"{}\"]}}", "1, [2, {\"b\": null}], ".repeat(2000), "long ".repeat(10_000));
    let mut at_once = i64::MAX;
    machine.start(&grammar, rule, 0);
    let expected = machine.run(&grammar, &text, true, &mut at_once);
    let captures = machine.captures().to_vec();
    assert_eq!(expected, Progress::Matched(text.len()));
    for piece in [1, 3, 7] {
        let mut piecemeal = i64::MAX;
        machine.start(&grammar, rule, 0);
        let mut progress = Progress::Pending;
        for end in (0..text.len()).step_by(piece).chain([text.len()]) {
            assert_eq!(progress, Progress::Pending);
            progress = machine.run(&grammar, &text[..end], end == text.len(), &mut piecemeal);
        }
        assert_eq!((progress, machine.captures()), (expected, captures.as_slice()));
        assert_eq!(piecemeal, at_once, "by {piece} bytes");
    }
}

/// Each rule takes the same steps on a text and on its pieces, whether it matches or not.
#[test]
fn every_rule_takes_the_same_steps_on_any_pieces() {
    let mut machine = Machine::new();
    let grammars: Vec<_> = shipped_names().map(|name| (name, grammar(name))).collect();
    for text in hostile_texts().map(|text| text.chars().take(100).collect::<String>()) {
        for (name, grammar) in &grammars {
            for rule in grammar.rules() {
                let mut steps = |cuts: &[usize]| {
                    let mut left = i64::MAX;
                    machine.start(grammar, rule, 0);
                    for cut in cuts {
                        let piece = text.char_indices().nth(*cut).map_or(text.len(), |(at, _)| at);
                        machine.run(grammar, &text[..piece], false, &mut left);
                    }
                    let progress = machine.run(grammar, &text, true, &mut left);
                    (progress, i64::MAX - left)
                };
                let whole = steps(&[]);
                let single: Vec<usize> = (0..100).collect();
                for cuts in [&single[..], &[5], &[16, 17], &[60]] {
                    assert_eq!(steps(cuts), whole, "{name} {} on {text:?}", grammar.rule_name(rule));
                }
            }
        }
    }
}
