//! Tests: which grammars are refused, and what does the machine make of tiny texts?

use super::*;
use crate::text::SourceId;

const SOURCE: SourceId = SourceId::RESPONSE;

#[track_caller]
fn grammar(text: &str) -> Grammar {
    let checked = Grammar::parse(SOURCE, text);
    match checked.value {
        Some(grammar) => grammar,
        None => {
            let messages: Vec<_> = checked.diagnostics.iter().map(|diagnostic| &diagnostic.message).collect();
            unreachable!("{text}: {messages:?}")
        }
    }
}

/// Checks that the grammar is refused at each of these places, each given as the text at the place and a part of the
/// message.
#[track_caller]
fn refused(text: &str, expected: &[(&str, &str)]) {
    let checked = Grammar::parse(SOURCE, text);
    assert!(checked.value.is_none(), "{text} was accepted");
    let got: Vec<_> = checked
        .diagnostics
        .iter()
        .map(|diagnostic| {
            assert_eq!(diagnostic.code.to_string(), "pack/bad-grammar");
            assert!(diagnostic.help.is_some(), "no help: {}", diagnostic.message);
            let at = diagnostic.at.map(|at| at.span).unwrap_or_default();
            (at.of(text).to_owned(), diagnostic.message.to_string())
        })
        .collect();
    let agree =
        |((at, message), (place, part)): (&(String, String), &(&str, &str))| at == place && message.contains(part);
    let printed: String = format!("{text}: {got:?}").chars().take(500).collect();
    assert!(got.len() == expected.len() && got.iter().zip(expected).all(agree), "{printed}");
}

/// The captures of a run as `rule(text, inner)`.
fn drawn(grammar: &Grammar, text: &str, captures: &[Capture], outer: Option<usize>) -> String {
    let parts: Vec<String> = inside(captures, outer)
        .map(|(at, capture)| {
            let inner = drawn(grammar, text, captures, Some(at));
            let name = grammar.rule_name(capture.rule());
            let own = text.get(capture.span().start..capture.span().end).unwrap_or_default();
            if inner.is_empty() { format!("{name}={own}") } else { format!("{name}={own}[{inner}]") }
        })
        .collect();
    parts.join(" ")
}

fn run(grammar: &Grammar, rule: &str, text: &str) -> (Progress, String) {
    let mut machine = Machine::new();
    let Some(rule) = grammar.rule(rule) else { return (Progress::Failed, "no such rule".to_owned()) };
    machine.start(grammar, rule, 0);
    let progress = machine.run(grammar, text, true, &mut 1_000_000);
    (progress, drawn(grammar, text, machine.captures(), None))
}

/// Checks that `rule` of `source` matches the start of `text` with these captures, or fails if none are given.
#[track_caller]
fn check(source: &str, text: &str, expected: &str) {
    let grammar = grammar(source);
    let (progress, captures) = run(&grammar, "a", text);
    let got = if let Progress::Matched(end) = progress { format!("{end} {captures}") } else { format!("{progress:?}") };
    assert_eq!(got.trim(), expected, "{source} on {text:?}");
}

#[test]
fn what_needs_a_stack_an_anchor_or_silent_skips_is_refused() {
    refused("a = { PUSH(\"x\") ~ POP }", &[("PUSH(\"x\")", "`PUSH`"), ("POP", "`POP`")]);
    refused("a = { PEEK[0..1] ~ DROP }", &[("PEEK[0..1]", "`PEEK`"), ("DROP", "`DROP`")]);
    refused("a = { PUSH_LITERAL(\"x\") }", &[("PUSH_LITERAL(\"x\")", "`PUSH_LITERAL`")]);
    refused("a = { SOI ~ \"x\" ~ EOI }", &[("SOI", "`SOI`"), ("EOI", "`EOI`")]);
    refused("WHITESPACE = _{ \" \" }", &[("WHITESPACE", "cannot be called")]);
    refused("a = { \"x\" }\nCOMMENT = { \"#\" }", &[("COMMENT", "cannot be called")]);
    refused("LETTER = { \"x\" }", &[("LETTER", "built in")]);
    refused("a = { #tag = \"x\" }", &[("#tag", "labels")]);
}

#[test]
fn rules_that_never_end_are_refused() {
    refused("a = { a ~ \"x\" }", &[("a", "calls itself")]);
    refused("a = { \"\" ~ b }\nb = { c? ~ a }\nc = { \"c\" }", &[("a", "calls itself")]);
    refused("a = { &a ~ \"x\" }", &[("a", "calls itself")]);
    refused("a = { \"x\"?* }", &[("\"x\"?*", "match nothing")]);
    refused("a = { (\"x\" | b)+ }\nb = { \"y\"? }", &[("(\"x\" | b)+", "match nothing")]);
    refused("a = { (!\"x\")* }", &[("(!\"x\")*", "match nothing")]);
    refused("a = { (\"\"*)* }", &[("(\"\"*)", "match nothing")]);
    refused("a = { \"x\"? | \"y\" }", &[("\"y\"", "never tried")]);
}

#[test]
fn counts_and_sizes_have_bounds() {
    refused("a = { ANY{65} }", &[("65", "more than 64")]);
    refused("a = { ANY{0,200000} }", &[("200000", "more than 64")]);
    refused("a = { ANY{,99999999999999999999} }", &[("99999999999999999999", "more than 64")]);
    refused("a = { ANY{0} }", &[("{0}", "never happen")]);
    refused("a = { ANY{3,2} }", &[("{3,2}", "never happen")]);
    refused("a = { ((ANY{64}){64}){64} }", &[("a", "multiply")]);
    refused(
        &format!("a = {{ {}\"x\"{} }}", "(".repeat(100_000 / 4), ")".repeat(100_000 / 4)),
        &[("(", "nested too deeply")],
    );
    refused(
        &format!("a = {{ {}\"x\" }}", "!".repeat(20_000)),
        &[(&format!("{}\"x\"", "!".repeat(20_000)), "nested too deeply")],
    );
    refused(
        &format!("a = {{ \"x\"{} }}", "?".repeat(20_000)),
        &[(&format!("\"x\"{}", "?".repeat(20_000)), "nested too deeply")],
    );
    refused(
        &format!("a = {{ \"x\"{} }}", " ~ \"x\"".repeat(300)),
        &[(&format!("\"x\"{}", " ~ \"x\"".repeat(300)), "more than 200")],
    );
    refused(&"/*".repeat(30_000), &[("/", "nested too deeply")]);
    refused(&format!("a = {{ \"{}\" }}", "\\n".repeat(20_000)), &[("\"", "too many escapes")]);
    refused(&" ".repeat(70_000), &[("", "bytes")]);
    refused(&(0..600).map(|rule| format!("r{rule}={{\"x\"}}")).collect::<String>(), &[("r512", "more than 512 rules")]);
}

#[test]
fn chains_of_rules_that_double_are_not_expanded() {
    let mut text = String::from("a = @{ (!r0 ~ ANY)* }\n");
    for rule in 0..60 {
        text += &format!("r{rule} = {{ r{0} ~ \"x\" | r{0} }}\n", rule + 1);
    }
    text += "r60 = { \"x\" | \"y\" }";
    let grammar = grammar(&text);
    // The cost of matching doubles with every rule, so the limit of steps applies.
    assert_eq!(run(&grammar, "a", "xy").0, Progress::Spent);
    assert!(Grammar::parse(SOURCE, &text.replace(" | ", " ~ ")).value.is_some());
}

#[test]
fn the_deepest_grammars_that_are_allowed_fit_on_a_small_stack() {
    let worker = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        let chain: String = (0..511).map(|rule| format!("r{rule}={{r{}}}", rule + 1)).collect();
        let long = format!("a={{\"b\"~(c~\"d\"){}}} c={{\"x\"}}", "?".repeat(60));
        let nested = format!("a={{{}\"x\"{}}}", "(\"y\"~".repeat(38), ")?".repeat(38));
        let wide = format!("a={{ANY{}}}", "~(\"a\"~\"b\"{64}~\"c\"{64})".repeat(60));
        let alternatives =
            format!("a={{{}(\"n\"~ANY){{64}}}}", (0..190).map(|n| format!("\"a{n}\" | ")).collect::<String>());
        for text in [chain + "r511={\"x\"}", long, nested, wide, alternatives] {
            let checked = Grammar::parse(SOURCE, &text);
            if let Some(grammar) = checked.value {
                run(&grammar, "a", "xxxx");
            }
        }
    });
    assert!(worker.is_ok_and(|worker| worker.join().is_ok()));
}

#[test]
fn names_are_checked_all_in_one_go() {
    refused(
        "a = { b ~ tiem }\na = { \"x\" }\ntime = { 'z'..'a' }",
        &[("b", "no rule `b`"), ("tiem", "no rule `tiem`"), ("a", "second rule"), ("'z'..'a'", "range")],
    );
    refused("", &[("", "no rules")]);
    refused("// nothing", &[("", "no rules")]);
    refused("a = { \"\\u{110000}\" }", &[("\"\\u{110000}\"", "escape")]);
    refused("a = { '\\u{d800}'..'z' }", &[("'\\u{d800}'..'z'", "escape")]);
}

#[test]
fn syntax_errors_show_their_place_and_stay_short() {
    refused("a = \"x\"", &[("\"", "found `\"x\"`")]);
    refused("a = { \"x\" ", &[("", "the end of the file")]);
    refused("a = { \"x ", &[("\"", "never closed")]);
    refused(&format!("a = {{ {} + }}", "b ".repeat(2000)), &[("b", "found `b`")]);
}

#[test]
fn literals_ranges_and_classes() {
    check("a = { \"ab\" }", "abc", "2 a=ab");
    check("a = { \"ab\" }", "a", "Failed");
    check("a = { ^\"äB\" }", "äb", "3 a=äb");
    check("a = { 'a'..'c' ~ '\\u{e0}'..'\\u{ff}' }", "bä", "3 a=bä");
    check("a = { LETTER+ ~ !LETTER }", "aé日1", "6 a=aé日");
    check("a = { (!LETTER ~ ANY)* }", "1 🙂é", "6 a=1 🙂");
    check("a = { NEWLINE ~ NEWLINE ~ NEWLINE }", "\r\n\r\n", "Failed");
    check("a = { ASCII_HEX_DIGIT{2} ~ ASCII_OCT_DIGIT? }", "fF8", "2 a=fF");
    check("a = { \"x\"{2,3} ~ \"y\"{,2} ~ \"z\"{1,} }", "xxyzz", "5 a=xxyzz");
}

#[test]
fn choice_is_ordered_and_lookaheads_take_nothing() {
    check("a = { \"a\" | \"ab\" }", "ab", "1 a=a");
    check("a = { (\"ab\" | \"a\") ~ \"c\" }", "ac", "2 a=ac");
    check("a = { &(b ~ \"x\") ~ b }\nb = { \"b\" }", "bx", "1 a=b[b=b]");
    check("a = { !\"ab\" ~ \"a\" ~ ANY }", "ac", "2 a=ac");
    check("a = { (!(\"<<\" | \">\") ~ ANY)* }", "a<b<<", "3 a=a<b");
    check("a = { (\"\\\\\" ~ ANY | !\"\\\"\" ~ ANY)* }", "a\\\"b\"", "4 a=a\\\"b");
}

#[test]
fn kinds_of_rules_decide_what_is_captured() {
    let rest = "b = { c ~ d }\nc = { \"c\" }\nd = _{ c }";
    check(&format!("a = {{ b }}\n{rest}"), "cc", "2 a=cc[b=cc[c=c c=c]]");
    check(&format!("a = @{{ b }}\n{rest}"), "cc", "2 a=cc");
    check(&format!("a = ${{ b }}\n{rest}"), "cc", "2 a=cc[b=cc[c=c c=c]]");
    check(&format!("a = _{{ b }}\n{rest}"), "cc", "2 b=cc[c=c c=c]");
    check("a = @{ b ~ e }\nb = !{ c }\nc = { \"c\" }\ne = { b }", "cc", "2 a=cc[b=c[c=c] b=c[c=c]]");
    check("a = { !(b ~ \"x\") ~ (b ~ \"y\" | b ~ \"z\") }\nb = { \"b\" }", "bz", "2 a=bz[b=b]");
}

#[test]
fn a_match_is_pending_while_more_text_could_change_it() {
    let grammar =
        grammar("a = { \"<\" ~ ASCII_ALPHA+ ~ \">\" }\nb = { ASCII_ALPHA+ }\nc = { \"abc\" }\nd = { \"a\" ~ !\"b\" }");
    let pending = |rule: &str, text: &str| {
        let mut machine = Machine::new();
        machine.start(&grammar, grammar.rule(rule)?, 0);
        Some(machine.run(&grammar, text, false, &mut 1000))
    };
    assert_eq!(pending("a", ""), Some(Progress::Pending));
    assert_eq!(pending("a", "<ab"), Some(Progress::Pending));
    assert_eq!(pending("a", "<ab>"), Some(Progress::Matched(4)));
    assert_eq!(pending("a", "<1"), Some(Progress::Failed));
    assert_eq!(pending("b", "ab"), Some(Progress::Pending));
    assert_eq!(pending("b", "ab "), Some(Progress::Matched(2)));
    assert_eq!(pending("c", "ab"), Some(Progress::Pending));
    assert_eq!(pending("c", "ax"), Some(Progress::Failed));
    assert_eq!(pending("d", "a"), Some(Progress::Pending));
    assert_eq!(pending("d", "ax"), Some(Progress::Matched(1)));
}

#[test]
fn steps_and_depth_are_bounded_and_spent_runs_go_on() {
    let grammar = grammar("a = { \"(\" ~ a? ~ \")\" }");
    let text = "(".repeat(100_000);
    let mut machine = Machine::new();
    let Some(rule) = grammar.rule("a") else { return };
    machine.start(&grammar, rule, 0);
    assert_eq!(machine.run(&grammar, &text, true, &mut i64::MAX.clone()), Progress::TooDeep);
    machine.start(&grammar, rule, 0);
    let text = "((()))";
    let mut rounds = 0;
    let end = loop {
        match machine.run(&grammar, text, true, &mut 1) {
            Progress::Spent => rounds += 1,
            end => break end,
        }
    };
    assert_eq!((end, rounds > 10), (Progress::Matched(6), true));
    assert_eq!(drawn(&grammar, text, machine.captures(), None), "a=((()))[a=(())[a=()]]");
}

#[test]
fn what_a_match_starts_with_is_known() {
    let grammar = grammar(
        "a = { \"<\" ~ b }\nb = { \"x\" | \"yz\" }\nc = { b? }\nd = { !\"q\" ~ (ANY | \"z\") }\n\
         e = { (\"<x\" ~ b)? ~ &\"yes\" ~ ASCII_ALPHA+ }\n\
         f = { \"(\" ~ &\"t\" ~ (\"think\" ~ ASCII_ALPHA* | \"thought\" | \"said\") ~ !\"x\" ~ \")\" }\n\
         g = { \"<\" ~ &(^\"th\" | ^\"r\") ~ ASCII_ALPHA+ }\nh = { ^\"a1b\" }",
    );
    let first = |rule: &str| grammar.rule(rule).map(|rule| grammar.first(rule).clone());
    let literals = |rule: &str| first(rule).map(|first| first.literals).unwrap_or_default();
    assert_eq!(literals("a"), ["<x", "<yz"]);
    assert_eq!(literals("b"), ["x", "yz"]);
    assert!(literals("c").is_empty() && first("c").is_some_and(|first| first.empty));
    assert_eq!(literals("e"), ["<xxyes", "<xyz", "yes"]);
    assert_eq!(literals("f"), ["(think", "(thought"]);
    assert_eq!(literals("g"), ["<R", "<TH", "<Th", "<r", "<tH", "<th"]);
    assert_eq!(literals("h"), ["A1", "a1"]);
    assert!(first("e").is_some_and(|first| first.bytes.iter().filter(|may| **may).count() == 2));
    assert!(first("d").is_some_and(
        |first| !first.empty && first.bytes.iter().zip(0..=u8::MAX).all(|(may, byte)| *may == (byte != b'q'))
    ));
}

#[test]
fn the_shipped_grammars_are_accepted() {
    for name in shipped_names() {
        let text = shipped(name).unwrap_or_default();
        assert!(grammar(text).rules().count() > 3, "{name}");
    }
}

#[test]
fn any_text_as_a_grammar_gives_an_answer() {
    // Shipped grammars with one byte inserted, removed or doubled.
    for name in shipped_names() {
        let text = shipped(name).unwrap_or_default();
        let mut seed = 7u64;
        for _ in 0..400 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (seed >> 33) as usize % text.len();
            let marks = ["", "(", "\"", "'", "/*", "{", "}", "*", "~", "|", "PUSH", "{9}", "\\", "!", "_", "é"];
            let mark = marks.get((seed >> 20) as usize % marks.len()).copied().unwrap_or_default();
            if let (Some(before), Some(after)) = (text.get(..at), text.get(at + 1..)) {
                let checked = Grammar::parse(SOURCE, &format!("{before}{mark}{after}"));
                assert_eq!(checked.value.is_some(), checked.diagnostics.is_empty());
            }
        }
    }
}

#[test]
fn what_a_rule_reads_can_be_spelled() {
    let tags = grammar(shipped("tags").unwrap_or_default());
    let rule = |name: &str| tags.rule(name).unwrap_or(RuleId(0));
    let (open, close, name, empty) = (rule("open"), rule("close"), rule("name"), rule("empty"));
    let attribute = |value| {
        SpelledCapture::Whole(rule("attribute"), vec![SpelledCapture::Next("type"), SpelledCapture::Next(value)])
    };
    let named = |more: Vec<SpelledCapture<'static>>| [vec![SpelledCapture::Text(name, "a")], more].concat();
    #[track_caller]
    fn check(grammar: &Grammar, rule: RuleId, parts: &[SpelledCapture<'_>], expected: Option<&str>) {
        assert_eq!(grammar.spell(rule, parts, &["", "\n"]).as_deref(), expected);
    }
    check(&tags, open, &named(vec![]), Some("<a>"));
    check(&tags, close, &named(vec![]), Some("</a>"));
    check(&tags, open, &named(vec![attribute("x y"), attribute("\"")]), Some("<a type=\"x y\" type='\"'>"));
    check(&tags, open, &named(vec![SpelledCapture::Whole(empty, vec![])]), Some("<a/>"));
    check(&tags, open, &[SpelledCapture::Text(name, "a b")], None);
    check(&tags, open, &named(vec![attribute("\"'\n")]), None);
    check(&tags, close, &named(vec![SpelledCapture::Whole(empty, vec![])]), None);
    // A required part goes before an optional one, and a capture that was not asked for is never made up.
    let own = grammar(
        "open = ${ mark ~ \" \"+ ~ name ~ \":\"? ~ (NEWLINE | &end) }\nmark = _{ \"#\"{1,6} }\nname = @{ ASCII_ALPHA+ }\nend = _{ !ANY }\nmore = ${ name ~ (\"-\" ~ name)? ~ fault_x? }\nfault_x = { \"!\"* }\nline = ${ \"!\" ~ name ~ &\"\\n\" }\npair = ${ number ~ \",\" ~ number }\nnumber = @{ ASCII_DIGIT+ ~ &(\",\" | \"\\n\") }",
    );
    let rule = |name: &str| own.rule(name).unwrap_or(RuleId(0));
    check(&own, rule("open"), &[SpelledCapture::Next("Title")], Some("# Title\n"));
    check(&own, rule("more"), &[SpelledCapture::Next("a")], Some("a"));
    check(&own, rule("more"), &[SpelledCapture::Next("a"), SpelledCapture::Next("b")], Some("a-b"));
    check(&own, rule("more"), &[], None);
    // A rule that looks ahead for the end of its line can be spelled.
    check(&own, rule("line"), &[SpelledCapture::Next("a")], Some("!a"));
    // A part may match only before the separator to the next.
    check(&own, rule("pair"), &[SpelledCapture::Next("1"), SpelledCapture::Next("2")], Some("1,2"));
    // Choices within choices are cut off by the limit of attempts.
    let deep = (0..30).map(|at| format!("r{at} = {{ r{} | r{} ~ \"x\" }}\n", at + 1, at + 1)).collect::<String>();
    let deep = grammar(&(deep + "r30 = { \"y\" ~ !ANY ~ \"z\" }"));
    assert_eq!(deep.rule("r0").and_then(|rule| deep.spell(rule, &[], &[""])), None);
}

/// Checks whether a text that is twice as long takes more than twice the steps, and whether that was reported.
#[track_caller]
fn cost(source: &str, unit: &str, costly: bool) {
    let grammar = grammar(source);
    let foreseen = grammar.doubts().iter().any(|doubt| doubt.code == "pack/costly-rule");
    assert_eq!(foreseen, costly, "{source}");
    let steps = |times: usize| {
        let mut machine = Machine::new();
        let mut left = i64::MAX;
        machine.start(&grammar, RuleId(0), 0);
        machine.run(&grammar, &unit.repeat(times), true, &mut left);
        (i64::MAX - left) as f64
    };
    let growth = steps(2_000) / steps(1_000);
    assert_eq!(growth > 3.0, costly, "{source} grows by {growth} on {unit:?}");
}

#[test]
fn rules_that_read_a_text_repeatedly_are_detected() {
    cost("a = { (b | ANY)* }\nb = { \"<\" ~ (!\">\" ~ ANY)* ~ \">\" }", "<", true);
    cost("a = { (b | ANY)* }\nb = { \"<\" ~ (!(\"<\" | \">\") ~ ANY)* ~ \">\" }", "<", false);
    cost("a = { (b? ~ ANY)* }\nb = { \"<\" ~ (!\">\" ~ ANY)* ~ \">\" }", "<", true);
    // The next quote closes it: only the last quote is never closed.
    cost("a = { (b | ANY)* }\nb = { \"'\" ~ (!\"'\" ~ ANY)* ~ \"'\" }", "'x", false);
    cost("a = { (b | ANY)* }\nb = { \"'\" ~ (\"\\\\\" ~ ANY | !(\"'\" | \"\\\\\") ~ ANY)* ~ \"'\" }", "'\\", true);
    cost(
        "a = { (b | c)* }\nb = { \"'\" ~ (\"\\\\\" ~ ANY | !\"'\" ~ ANY)* ~ \"'\" }\nc = { !\"'\" ~ ANY }",
        "'\\",
        false,
    );
    cost("a = { (!(\" \"* ~ \"x\") ~ ANY)* }", " ", true);
    cost("a = { (!(\" \" ~ \"x\") ~ ANY)* }", " ", false);
    cost("a = { (!(\" \"* ~ \"x\") ~ !\" \" ~ ANY)* }", "y", false);
    cost("a = { \" \"* ~ \" \"* ~ (\" \"+ ~ \"x\")? ~ \"x\" }", " ", false);
    cost("a = { (\"x\"+ ~ \"!\" | \"x\"+ ~ \"y\")* }", "xy", false);
    cost("a = { &(\"(\"* ~ \"x\"?) ~ \"(\" ~ a? }", "(", true);
    cost("a = { &\"(\" ~ \"(\" ~ a? ~ \")\"? }", "(", false);
}

#[test]
fn no_shipped_rule_reads_a_text_repeatedly() {
    for name in shipped_names() {
        let checked = Grammar::parse(SOURCE, shipped(name).unwrap_or_default());
        let doubts: Vec<_> =
            checked.value.iter().flat_map(|grammar| grammar.doubts()).map(|one| one.message.to_string()).collect();
        assert!(checked.value.is_some() && doubts.is_empty(), "{name}: {doubts:?}");
    }
}
