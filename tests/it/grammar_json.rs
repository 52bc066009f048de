//! The JSON grammar: a text without a fault is valid for `serde_json`, and each fault has its name.

use super::dice::Dice;
use rulebook::grammar::{Grammar, Machine, Progress, shipped};
use rulebook::text::SourceId;

struct Json {
    grammar: Grammar,
    machine: Machine,
}

impl Json {
    fn new() -> Self {
        let grammar = Grammar::parse(SourceId::RESPONSE, shipped("json").unwrap()).value.unwrap();
        Self { grammar, machine: Machine::new() }
    }

    /// The faults in `text`, each with the text that it covers; `None` if the whole text cannot be read.
    fn faults(&mut self, text: &str) -> Option<Vec<(String, String)>> {
        self.machine.start(&self.grammar, self.grammar.rule("payload").unwrap(), 0);
        if self.machine.run(&self.grammar, text, true, &mut 1_000_000) != Progress::Matched(text.len()) {
            return None;
        }
        let captures = self.machine.captures().iter();
        let named = captures.map(|capture| (self.grammar.rule_name(capture.rule()), capture.span().of(text)));
        Some(
            named
                .filter_map(|(name, covered)| Some((name.strip_prefix("fault_")?.to_owned(), covered.to_owned())))
                .collect(),
        )
    }
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let got = Json::new().faults(text).unwrap_or_else(|| panic!("{text} cannot be read"));
    let got: Vec<(&str, &str)> = got.iter().map(|(name, covered)| (name.as_str(), covered.as_str())).collect();
    assert_eq!(got, expected, "{text}");
}

#[test]
fn each_fault_has_its_name_and_its_place() {
    check(r#" {"a": [1, -2.5e+3, true, null, "\u00e9\n"]} "#, &[]);
    check(r#"{"a": [1,], }"#, &[("trailing_comma", ","), ("trailing_comma", ",")]);
    check(r#"{"a": 1 "b": [1 2]}"#, &[("missing_comma", ""), ("missing_comma", "")]);
    check("{ // one\n\"a\": /* two */ 1}", &[("comment", "// one"), ("comment", "/* two */")]);
    check(r#"{'a': 'it\'s "b"'}"#, &[("single_quotes", "'a'"), ("single_quotes", r#"'it\'s "b"'"#)]);
    check("{“a”: „b \"c\"”}", &[("other_quotes", "“a”"), ("other_quotes", "„b \"c\"”")]);
    check("[\"\"\"a \"\"\", \"\"]", &[("triple_quotes", "\"\"\"a \"\"\"")]);
    check("{\u{a0}\u{3000}\"a\": NULL}", &[("blank", "\u{a0}\u{3000}"), ("constant", "NULL")]);
    check("\"a\n\tb\"", &[("bare_newline", "\n\t")]);
    check("{a-b: 1, $c: 2}", &[("unquoted_key", "a-b"), ("unquoted_key", "$c")]);
    check("[True, None, undefined, NaN]", &["True", "None", "undefined", "NaN"].map(|word| ("constant", word)));
    check(r#""\d \ud800 \ud83d\ude00""#, &[("escape", r"\d"), ("surrogate", r"\ud800")]);
}

#[test]
fn text_beyond_repair_is_not_read_as_json() {
    let mut json = Json::new();
    for text in [
        "", "{", "[1", "\"a", "{\"a\"}", "[,]", "{,}", "[1,,2]", "01", "1.", "1-2", "trueish", "tru", "{1: 2}",
        "[1 /* ]", "a", "'a", "{}{}",
    ] {
        assert_eq!(json.faults(text), None, "{text}");
    }
}

#[test]
fn a_text_without_a_fault_is_what_serde_json_reads() {
    let words = [
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "'", "1", "0", "-", ".5", "e3", "true", "null", " ", "\n",
        "//c\n", "a", "\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\udc00", "\"k\":", "{\"a\":1}", "[1,2]", "é", "\t",
        "\u{7f}", "[", "{\"b\":", "}", "]",
    ];
    let mut json = Json::new();
    let mut dice = Dice(1);
    let mut strict = 0;
    for _ in 0..200_000 {
        let text: String = (0..1 + dice.below(9)).map(|_| dice.pick(&words)).collect();
        let ours = json.faults(&text).is_some_and(|faults| faults.is_empty());
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        // `serde_json` refuses numbers that are out of range, although their syntax is valid.
        if !theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
            assert_eq!(ours, theirs.is_ok(), "{text:?}");
        }
        strict += usize::from(ours);
    }
    assert!(strict > 2000, "only {strict} texts were JSON");
}

/// The page has the faults in the order of the grammar. `UPDATE=1` rewrites it.
#[test]
fn the_page_of_faults_lists_those_of_the_grammar() {
    const START: &str = "The faults of JSON, and what each usually does to a value: ";
    const END: &str = "## What triggers it\n";
    let lines: Vec<&str> = shipped("json").unwrap().lines().collect();
    let row = |pair: &[&str]| {
        let name = pair[1].split_whitespace().next()?.strip_prefix("fault_")?;
        let (grade, words) = pair[0].strip_prefix("/// ")?.split_once(". ")?;
        Some(format!(
            "| `fault-{}` | {} | {} |\n",
            name.replace('_', "-"),
            grade.to_lowercase(),
            words.replace('|', "\\|")
        ))
    };
    let rows: String = lines.windows(2).filter_map(row).collect();
    let about =
        "nothing, if every reading gives the same one (*certain*),\nor something is lost or guessed (*lossy*).\n";
    let table = format!("{START}{about}\n| fault | | what it is |\n|---|---|---|\n{rows}\n");
    let path = crate::root().join("docs/codes/response/fault.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).unwrap_or_else(|| page.split_once(END).unwrap());
    let behind = rest.split_once(END).map_or(rest, |(_, behind)| behind);
    let wanted = format!("{before}{table}{END}{behind}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), wanted);
}
