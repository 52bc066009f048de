//! Our recogniser and the parsers that `pest_derive` generates from the same files agree.
//!
//! For every rule and offset they agree on whether the rule matches, where the match ends, and on the whole tree of
//! captures. The recogniser reads every text twice, as a whole and growing piece by piece, with equal results.

use super::dice::Dice;
use pest::iterators::Pairs;
use pest::{Parser, RuleType};
use rulebook::grammar::{Grammar, Machine, Progress, RuleId, inside, shipped};
use rulebook::text::SourceId;
use std::fmt::Write;

macro_rules! generated {
    ($module:ident, $attribute:ident = $grammar:literal, $text:expr) => {
        mod $module {
            #[derive(pest_derive::Parser)]
            #[$attribute = $grammar]
            pub(super) struct Generated;
        }

        impl Compiled for $module::Generated {
            type Rule = $module::Rule;

            fn text() -> &'static str {
                $text
            }

            fn rules() -> &'static [Self::Rule] {
                $module::Rule::all_rules()
            }
        }
    };
}

/// A grammar as `pest_derive` compiled it.
trait Compiled: Parser<Self::Rule> {
    type Rule: RuleType + 'static;
    fn text() -> &'static str;
    fn rules() -> &'static [Self::Rule];
}

generated!(tags, grammar = "../grammar/tags.pest", shipped("tags").unwrap());
generated!(brackets, grammar = "../grammar/brackets.pest", shipped("brackets").unwrap());
generated!(headers, grammar = "../grammar/headers.pest", shipped("headers").unwrap());
generated!(paths, grammar = "../grammar/paths.pest", shipped("paths").unwrap());
generated!(json, grammar = "../grammar/json.pest", shipped("json").unwrap());
generated!(transcript, grammar = "../grammar/transcript.pest", shipped("transcript").unwrap());
// A grammar with the rest of the notation: operators that no shipped grammar uses, and those that the optimiser
// rewrites.
generated!(notation, grammar = "../tests/it/notation.pest", include_str!("notation.pest"));

/// The result of a parser: `None` for no match, otherwise the captures as `rule start end` with their depth.
type Said = Option<String>;

fn generated_says<G: Compiled>(rule: G::Rule, text: &str) -> Said {
    fn draw<R: RuleType>(pairs: Pairs<'_, R>, depth: usize, out: &mut String) {
        for pair in pairs {
            let span = pair.as_span();
            let _ = writeln!(out, "{depth} {:?} {} {}", pair.as_rule(), span.start(), span.end());
            draw(pair.into_inner(), depth + 1, out);
        }
    }
    let mut out = String::new();
    draw(G::parse(rule, text).ok()?, 0, &mut out);
    Some(out)
}

fn drawn(grammar: &Grammar, machine: &Machine) -> String {
    fn draw(grammar: &Grammar, machine: &Machine, outer: Option<usize>, depth: usize, out: &mut String) {
        for (at, capture) in inside(machine.captures(), outer) {
            let span = capture.span();
            let _ = writeln!(out, "{depth} {} {} {}", grammar.rule_name(capture.rule()), span.start, span.end);
            draw(grammar, machine, Some(at), depth + 1, out);
        }
    }
    let mut out = String::new();
    draw(grammar, machine, None, 0, &mut out);
    out
}

const STEPS: i64 = 10_000_000;

fn recogniser_says(grammar: &Grammar, machine: &mut Machine, rule: RuleId, text: &str) -> (Progress, Said) {
    machine.start(grammar, rule, 0);
    let progress = machine.run(grammar, text, true, &mut STEPS.clone());
    (progress, matches!(progress, Progress::Matched(_)).then(|| drawn(grammar, machine)))
}

/// Like [`recogniser_says`], with the text growing at the given places.
fn growing_says(
    grammar: &Grammar,
    machine: &mut Machine,
    rule: RuleId,
    text: &str,
    cuts: &[usize],
) -> (Progress, Said) {
    machine.start(grammar, rule, 0);
    let mut progress = Progress::Pending;
    for cut in cuts.iter().copied().filter(|cut| text.is_char_boundary(*cut)) {
        progress = machine.run(grammar, &text[..cut], false, &mut STEPS.clone());
        if progress != Progress::Pending {
            break;
        }
    }
    if progress == Progress::Pending {
        progress = machine.run(grammar, text, true, &mut STEPS.clone());
    }
    (progress, matches!(progress, Progress::Matched(_)).then(|| drawn(grammar, machine)))
}

struct Pair<G: Compiled> {
    grammar: Grammar,
    rules: Vec<(RuleId, G::Rule)>,
    machine: Machine,
    compared: usize,
    matched: usize,
}

impl<G: Compiled> Pair<G> {
    fn new() -> Self {
        let grammar = Grammar::parse(SourceId::RESPONSE, G::text()).value.unwrap();
        let rules = G::rules().iter().map(|rule| (grammar.rule(&format!("{rule:?}")).unwrap(), *rule)).collect();
        Self { grammar, rules, machine: Machine::new(), compared: 0, matched: 0 }
    }

    #[track_caller]
    fn compare(&mut self, rule: RuleId, generated: G::Rule, text: &str, cuts: &[usize]) {
        let (progress, said) = recogniser_says(&self.grammar, &mut self.machine, rule, text);
        let expected = generated_says::<G>(generated, text);
        assert_eq!(said, expected, "{generated:?} on {text:?}: {progress:?}");
        let growing = growing_says(&self.grammar, &mut self.machine, rule, text, cuts);
        assert_eq!(growing, (progress, said), "{generated:?} on {text:?} growing at {cuts:?}");
        self.compared += 1;
        self.matched += usize::from(expected.is_some());
    }

    fn compare_all(&mut self, text: &str, cuts: &[usize]) {
        for (rule, generated) in self.rules.clone() {
            self.compare(rule, generated, text, cuts);
        }
    }
}

fn cuts(dice: &mut Dice, length: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = (0..dice.below(4)).map(|_| dice.below(length + 1)).collect();
    cuts.sort_unstable();
    cuts
}

/// Compares both on texts made of the words of a dialect, most of which are nearly valid.
fn on_generated_texts<G: Compiled>(words: &[&str], count: usize) {
    let mut pair = Pair::<G>::new();
    let mut dice = Dice(1);
    for _ in 0..count {
        let length = 1 + dice.below(14);
        let text: String = (0..length).map(|_| dice.pick(words)).collect();
        let cuts = if dice.below(8) == 0 { (0..=text.len()).collect() } else { cuts(&mut dice, text.len()) };
        let (rule, generated) = dice.pick(&pair.rules);
        pair.compare(rule, generated, &text, &cuts);
    }
    assert!(pair.matched > count / 20, "only {} of {} matched", pair.matched, pair.compared);
}

/// Compares both at every place of the corpus where a rule could start, or at an even selection of places if there are
/// many.
fn on_the_corpus<G: Compiled>() {
    const PLACES: usize = 150;
    const WINDOW: usize = 1000;
    let mut pair = Pair::<G>::new();
    for folder in ["tests/corpus/dce", "tests/corpus/isdlc"] {
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for (rule, generated) in pair.rules.clone() {
                let first = pair.grammar.first(rule).clone();
                let starts: Vec<usize> = (0..text.len())
                    .filter(|at| {
                        text.is_char_boundary(*at) && (first.empty || first.bytes[usize::from(text.as_bytes()[*at])])
                    })
                    .collect();
                for at in starts.iter().copied().step_by(starts.len() / PLACES + 1) {
                    let end = (at..=text.len().min(at + WINDOW)).rfind(|end| text.is_char_boundary(*end)).unwrap();
                    let window = &text[at..end];
                    pair.compare(rule, generated, window, &[window.len() / 3, window.len() / 2]);
                }
            }
        }
    }
    assert!(pair.compared > 1000, "only {} compared", pair.compared);
}

#[test]
fn tags_on_the_corpus() {
    on_the_corpus::<tags::Generated>();
}

#[test]
fn brackets_on_the_corpus() {
    on_the_corpus::<brackets::Generated>();
}

#[test]
fn headers_on_the_corpus() {
    on_the_corpus::<headers::Generated>();
}

#[test]
fn paths_on_the_corpus() {
    on_the_corpus::<paths::Generated>();
}

#[test]
fn transcript_on_the_corpus() {
    on_the_corpus::<transcript::Generated>();
}

#[test]
fn transcript_on_generated_texts() {
    let words = [
        "Maya", "Chen", " ", " (", "(", "BA", "Business Analyst", ")", "):", ":", "):  ", "): ", "\t", "\n", "é", "O'",
        "’", "-", ".", "1", "text", "\u{301}", "*",
    ];
    on_generated_texts::<transcript::Generated>(&words, 40_000);
}

#[test]
fn json_on_the_corpus() {
    on_the_corpus::<json::Generated>();
}

#[test]
fn tags_on_generated_texts() {
    let words = [
        "<", "<action", " type", "=", "\"", "'", "/>", ">", "</", "a", " b='c'", " k=\"v\"", " ", "\n", "/", "x-y",
        "é", "_", "<a", " k = v", " k=v/", "\t", "\"x", "1",
    ];
    on_generated_texts::<tags::Generated>(&words, 80_000);
}

#[test]
fn headers_on_generated_texts() {
    let words = [
        "#", "###", "#######", " ", "\t", "**", "__", "*", "_", ":", "Course", "of", "Action", "a_b", "2.", "1)", "\n",
        "\r\n", "\r", "é", "x", "(", "`", "## ", "**a**",
    ];
    on_generated_texts::<headers::Generated>(&words, 80_000);
}

#[test]
fn paths_on_generated_texts() {
    let words = [
        "<", "</", ">", "src/a.ts", "a b", "A0. ", "&", "(1)", ".md", "/", "!", "?", "=", "\"", ":", "`", " ", "\t",
        "\n", "\r", "é", "'",
    ];
    on_generated_texts::<paths::Generated>(&words, 60_000);
}

#[test]
fn brackets_on_generated_texts() {
    let words = [
        "[", "]", "A", "ACTION_B2", "{", "}", "\"", "\\", "\"a\"", ":", " ", "\n", "{}", "é", "b", "{\"x}\":1}", "\\\"",
    ];
    on_generated_texts::<brackets::Generated>(&words, 40_000);
}

#[test]
fn json_on_generated_texts() {
    let words = [
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "'", "'b'", "1", "-0.5e+3", "true", "None", "null", " ", "\n",
        "// c\n", "/* c */", "/*", "a", "\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\"k\":", "{\"a\":1",
        "[1", "é", "\t", "$k",
    ];
    on_generated_texts::<json::Generated>(&words, 80_000);
}

#[test]
fn the_rest_of_the_notation_on_generated_texts() {
    let words = [
        "a", "b", "c", "d", "A", "B", "ab", "1", "7", "é", "日", "\n", "\r", "<", "<<", ">", "x", "y", "z", " ", "🙂",
        "\u{2028}",
    ];
    on_generated_texts::<notation::Generated>(&words, 80_000);
}

#[test]
fn every_rule_of_every_grammar_on_short_texts() {
    let alphabet =
        ["<", "a", "[", "A", "{", "}", "\"", "\\", " ", "=", "1", "/", ">", "]", "'", "\n", "#", "*", "(", "): "];
    let (mut tags, mut brackets, mut json) =
        (Pair::<tags::Generated>::new(), Pair::<brackets::Generated>::new(), Pair::<json::Generated>::new());
    let (mut headers, mut paths) = (Pair::<headers::Generated>::new(), Pair::<paths::Generated>::new());
    let mut transcript = Pair::<transcript::Generated>::new();
    for one in alphabet {
        for two in alphabet {
            for three in ["", "a", "\"", "}"] {
                let text = format!("{one}{two}{three}");
                let cuts: Vec<usize> = (0..=text.len()).collect();
                tags.compare_all(&text, &cuts);
                brackets.compare_all(&text, &cuts);
                json.compare_all(&text, &cuts);
                headers.compare_all(&text, &cuts);
                paths.compare_all(&text, &cuts);
                transcript.compare_all(&text, &cuts);
            }
        }
    }
}
