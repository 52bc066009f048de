//! The case format: which parts does this file have, and where does each line stand?
//!
//! In: the bytes of one `.case` file.
//! Out: [`Case`], or a diagnostic at the line of every fault.
//! Never: runs anything.

use super::expectation::{Expectation, OUTCOME_KEYS, Part};
use super::header::{CaseHeader, KEYS};
use crate::diagnostic::{Checked, Code, Diagnostic, nearest};
use crate::surface::Tree;
use crate::surface::decode::{Decode, Reading};
use crate::surface::syntax;
use crate::text::{Location, Source, SourceId, Sources, Span, authored};
use toml::de::{DeTable, DeValue};

/// One script: a header, then what is said and what is expected of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Case {
    /// Its name: the file's, without `.case`.
    pub name: String,
    /// Its file.
    pub source: SourceId,
    /// Its header.
    pub header: CaseHeader,
    /// What is said, in order.
    pub steps: Vec<Step>,
}

/// One thing that is said, and what is expected to come of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Step {
    /// Its marker line.
    pub at: Location,
    /// Who says it.
    pub part: Part,
    /// What is said.
    pub text: String,
    /// What is expected; never empty.
    pub expected: Vec<Expectation>,
}

/// Reads a case file; `path` is what messages call it.
pub fn parse(sources: &mut Sources, path: &str, bytes: &[u8]) -> Checked<Case> {
    let mut diagnostics = Vec::new();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => authored(text),
        Err(error) => {
            let message = format!("`{path}` is not UTF-8 from byte {} on", error.valid_up_to());
            let fault = Diagnostic::new(Code::CASE_SYNTAX, sources.add_broken(path, bytes, error), message);
            return Checked::new(None, vec![fault.with_help("save the file as UTF-8")]);
        }
    };
    let text = text.as_ref();
    let source = sources.add(Source::new(path, text));
    let (header, parts) = cut(text);
    let (header, before) = whole_header(source, header, text, &mut diagnostics);
    let header = parse_header(source, header, text, &mut diagnostics);
    let steps = parse_parts(source, &parts, before, text, &mut diagnostics);
    let tells = header.as_ref().is_some_and(|header| !header.classes.is_empty());
    if steps.is_empty() && !tells && diagnostics.is_empty() {
        let first = Location { source, span: Span::new(0, text.lines().next().unwrap_or_default().len()) };
        diagnostics.push(
            Diagnostic::new(Code::CASE_EMPTY, first, format!("`{path}` has no `=== response ===`"))
                .with_help("a case is a header, an answer behind `=== response ===`, and what it should come to behind `=== expect ===`"),
        );
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.strip_suffix(".case").unwrap_or(file).to_owned();
    Checked::new(header.map(|header| Case { name, source, header, steps }), diagnostics)
}

/// One piece: its marker and its text.
struct Piece<'t> {
    name: &'t str,
    marker: Span,
    text: Span,
}

/// A piece that says something, while nothing is expected of it yet.
struct Said<'p> {
    at: Location,
    part: Part,
    piece: &'p Piece<'p>,
}

/// Cuts a file at its marker lines: the header, then the parts.
fn cut(text: &str) -> (Span, Vec<Piece<'_>>) {
    let mut parts: Vec<Piece<'_>> = Vec::new();
    let mut header = Span::new(0, text.len());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(name) = marker_name(line) {
            let before = before_line_break(text, start);
            match parts.last_mut() {
                Some(part) => part.text = Span::new(part.text.start, before),
                None => header = Span::new(header.start, start),
            }
            let marker = Span::new(start, start + line.trim_end().len());
            parts.push(Piece { name, marker, text: Span::new(end, text.len()) });
        }
        start = end;
    }
    (header, parts)
}

/// The word of a `=== word ===` line. Only one lower-case word makes a marker, so that `=== Summary ===` in an answer
/// stays text.
fn marker_name(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("=== ")?.strip_suffix(" ===")?;
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')).then_some(name)
}

/// Where the text before the line that starts at `offset` ends, without its line break.
fn before_line_break(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    let before = before.strip_suffix('\n').map_or(before, |rest| rest.strip_suffix('\r').unwrap_or(rest));
    before.len()
}

fn parse_header(source: SourceId, at: Span, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<CaseHeader> {
    parse_toml(source, at, text, diagnostics, CaseHeader::decode)
}

/// The header up to a line in it that was meant for a marker and makes no TOML of the rest; that is told, and which word it was.
fn whole_header(
    source: SourceId,
    header: Span,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Span, Option<&'static str>) {
    let marker = near_marker(header.of(text)).filter(|_| DeTable::parse(header.of(text)).is_err());
    let Some((line, word)) = marker else { return (header, None) };
    let at = Location { source, span: Span::new(header.start + line.start, header.start + line.end) };
    let message = format!("`{}` is no marker", at.span.of(text));
    let fault = Diagnostic::new(Code::CASE_SYNTAX, at, message);
    diagnostics.push(fault.with_help(format!("a marker is a line by itself: `=== {word} ===`")));
    (Span::new(header.start, at.span.start), Some(word))
}

/// What follows a part of this name, which is misspelt: its keys are expected, or nothing is known of it.
fn part_meant(name: &str) -> Option<Part> {
    let meant = nearest(name, Part::ALL.iter().map(|part| part.word()))?;
    Part::ALL.iter().copied().find(|part| part.word() == meant)
}

/// The steps; of what stands right `before` them, the word may be known.
fn parse_parts(
    source: SourceId,
    parts: &[Piece<'_>],
    before: Option<&str>,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    // What waits for its expectation.
    let mut waiting: Option<Said<'_>> = None;
    // Whether what stands before has been told to be no part, and which one was meant.
    let mut lost: Option<Option<Part>> = before.filter(|word| *word != EXPECT).map(part_meant);
    for piece in parts {
        let at = Location { source, span: piece.marker };
        if let Some(part) = Part::ALL.iter().copied().find(|part| part.word() == piece.name) {
            lost = None;
            diagnostics.extend(late_header(source, piece, text));
            let before = waiting.replace(Said { at, part, piece });
            diagnostics.extend(before.map(|said| without_expectation(&said, text)));
            continue;
        }
        if piece.name == EXPECT {
            match (lost.take(), waiting.take()) {
                // Of what it is was told to be no part.
                (Some(part), None) => {
                    if let Some(part) = part {
                        _ = parse_expectation(source, piece, text, part.keys(), diagnostics);
                    }
                }
                (_, said) => steps.extend(parse_step(source, said, piece, text, diagnostics)),
            }
            continue;
        }
        let words = || Part::ALL.iter().map(|part| part.word()).chain([EXPECT]);
        let message = format!("there is no part called `{}`", piece.name);
        diagnostics.push(Diagnostic::new(Code::CASE_SYNTAX, at, message).with_nearest(piece.name, words()));
        // What follows is read as if the word that was probably meant stood there.
        if nearest(piece.name, words()) == Some(EXPECT) {
            let keys = waiting.take().map_or(OUTCOME_KEYS, |said| said.part.keys());
            _ = parse_expectation(source, piece, text, keys, diagnostics);
        } else {
            lost = Some(part_meant(piece.name));
        }
    }
    diagnostics.extend(waiting.map(|said| without_expectation(&said, text)));
    steps
}

/// What was said, with what is expected of it.
fn parse_step(
    source: SourceId,
    said: Option<Said<'_>>,
    piece: &Piece<'_>,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Step> {
    let keys = said.as_ref().map_or(OUTCOME_KEYS, |said| said.part.keys());
    let expected = parse_expectation(source, piece, text, keys, diagnostics);
    let Some(said) = said else {
        let at = Location { source, span: piece.marker };
        let help = "put what is said before it, such as `=== response ===`; one expectation follows each";
        let message = "there is nothing that this expectation is about";
        diagnostics.push(Diagnostic::new(Code::CASE_SYNTAX, at, message).with_help(help));
        return None;
    };
    if expected.as_ref().is_some_and(Vec::is_empty) {
        diagnostics.push(without_expectation(&said, text));
        return None;
    }
    let Said { at, part, piece } = said;
    Some(Step { at, part, text: piece.text.of(text).to_owned(), expected: expected.unwrap_or_default() })
}

/// The word of the part that says what is expected.
const EXPECT: &str = "expect";

/// The members of a session.
const SESSION: [&str; 4] = ["mode", "state", "now", "ids"];

/// Where the header is.
const HEADER: &str = "header, which stands before the first `=== … ===` line";

/// What is said begins with what looks like a key of the header: then that is said, and no key.
fn late_header(source: SourceId, piece: &Piece<'_>, text: &str) -> Option<Diagnostic> {
    let said = piece.text.of(text);
    let start = piece.text.start + (said.len() - said.trim_start().len());
    let line = said.trim_start().lines().next()?.trim_end();
    let (key, value) = line.split_once('=')?;
    let begins = |c: char| matches!(c, '"' | '\'' | '{' | '[') || c.is_ascii_digit();
    let key = key.trim_end();
    if !KEYS.contains(&key) || !(value.trim_start().starts_with(begins) || value.trim() == "true") {
        return None;
    }
    let at = Location { source, span: Span::new(start, start + line.len()) };
    let message = format!("this `{key}` is a part of what is said, and no key");
    let help = format!("move it to the {HEADER}");
    // Whoever means it says something else first.
    Some(Diagnostic::new(Code::CASE_SYNTAX, at, message).with_help(help).into_warning())
}

/// A line in what is said that was meant for a marker is shown, since it explains why nothing is expected.
fn without_expectation(said: &Said<'_>, text: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::CASE_EMPTY, said.at, "nothing is expected of this");
    let Span { start, .. } = said.piece.text;
    match near_marker(said.piece.text.of(text)) {
        Some((line, word)) => diagnostic
            .with_place(
                Location { source: said.at.source, span: Span::new(start + line.start, start + line.end) },
                "this is text, not a marker",
            )
            .with_help(format!("a marker stands at the very start of its line: `=== {word} ===`")),
        None => diagnostic
            .with_help("say what should come of it in an `=== expect ===` part behind it, such as `codes = []`"),
    }
}

/// The first line that is a marker but for its spaces, its case or the number of its signs, and the word it should have.
fn near_marker(text: &str) -> Option<(Span, &'static str)> {
    let mut start = 0;
    text.split_inclusive('\n').find_map(|line| {
        let (at, signs) = (start, line.trim());
        start += line.len();
        let word = signs.strip_prefix("==")?.trim_matches('=').trim();
        let word =
            Part::ALL.iter().map(|part| part.word()).chain([EXPECT]).find(|one| one.eq_ignore_ascii_case(word))?;
        let indent = line.len() - line.trim_start().len();
        Some((Span::new(at + indent, at + indent + signs.len()), word))
    })
}

fn parse_expectation(
    source: SourceId,
    part: &Piece<'_>,
    text: &str,
    keys: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<Expectation>> {
    let before = diagnostics.len();
    let table = parse_toml(source, part.text, text, diagnostics, Tree::decode)?;
    let Tree::Table(members, _) = table else { return None };
    let mut expected = Vec::with_capacity(members.len());
    for (key, value) in members {
        if keys.contains(&key.value.as_str()) {
            expected.push(Expectation { key, value });
        } else {
            let message = format!("there is no `{}` to expect here", key.value);
            let fault = Diagnostic::new(Code::CASE_SYNTAX, key.at, message);
            let kept = keys.contains(&"session") && SESSION.contains(&key.value.as_str());
            diagnostics.push(match KEYS.contains(&key.value.as_str()) {
                _ if kept => fault.with_help(format!("what comes of it is `session = {{ {} = … }}`", key.value)),
                true => fault.with_help(format!("`{}` is a key of the {HEADER}", key.value)),
                false => fault.with_nearest(&key.value, keys.iter().copied()),
            });
        }
    }
    // After a fault the rest is still checked, but nothing says that the expectation is empty.
    (diagnostics.len() == before || !expected.is_empty()).then_some(expected)
}

/// Reads the TOML at `at`; its places are those of the file, its faults are the case's.
fn parse_toml<T>(
    source: SourceId,
    at: Span,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
    decode: impl FnOnce(&toml::Spanned<DeValue<'_>>, &mut Reading<'_>) -> Option<T>,
) -> Option<T> {
    let mut found = Vec::new();
    let (table, errors) = DeTable::parse_recoverable(at.of(text));
    for error in syntax::told(&errors, at.of(text)) {
        found.push(syntax::fault(error, table.get_ref(), at.of(text), Location { source, span: at }));
    }
    let span = table.span();
    let node = toml::Spanned::new(span, DeValue::Table(table.into_inner()));
    let value = decode(&node, &mut Reading::new(source, at.of(text), &mut found).starting_at(at.start));
    diagnostics.extend(found.into_iter().map(|diagnostic| first_line(diagnostic, text)));
    value
}

/// The diagnostic as one of the case, on the first line of its place: a missing key is not the fault of all the others.
fn first_line(mut diagnostic: Diagnostic, text: &str) -> Diagnostic {
    diagnostic.code = Code::CASE_SYNTAX;
    if let Some(at) = &mut diagnostic.at {
        let line = at.span.of(text).lines().next().unwrap_or_default().len();
        at.span = Span::new(at.span.start, at.span.start + line);
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut sources = Sources::default();
        let case = parse(&mut sources, "t/x.case", text.as_bytes());
        let found: Vec<String> = case
            .diagnostics
            .iter()
            .map(|one| {
                let place = one.at.and_then(|at| sources.place_name(at)).unwrap_or_default();
                format!("{} {place} {}", one.code, one.message)
            })
            .collect();
        assert_eq!(found, expected);
        assert_eq!(case.value.is_none(), !expected.is_empty());
    }

    #[track_caller]
    fn texts(text: &str, expected: &[&str]) {
        let (_, parts) = cut(text);
        let found: Vec<&str> = parts.iter().map(|part| part.text.of(text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_line_break_before_a_marker_is_not_part_of_the_text() {
        texts("=== response ===\nHi\n=== expect ===\na = 1\n", &["Hi", "a = 1\n"]);
        texts("=== response ===\n=== expect ===\n", &["", ""]);
        texts("=== response ===\n\n\n=== expect ===", &["\n", ""]);
        texts("=== response ===\r\nHi\r\n\r\n=== expect ===\r\n", &["Hi\r\n", ""]);
        texts("=== response ===\n=== Summary ===\n === x ===\n=== expect ===\n", &["=== Summary ===\n === x ===", ""]);
    }

    #[test]
    fn a_line_that_is_nearly_a_marker_is_known() {
        let near = |text| near_marker(text).map(|(line, word)| (line.of(text), word));
        assert_eq!(near("Hi\n  ===Expect ==\nx"), Some(("===Expect ==", "expect")));
        assert_eq!(near("=== Summary ===\n= user =\nexpect\n== a user =="), None);
    }

    #[test]
    fn a_key_of_the_header_behind_a_marker_is_told() {
        let told = |said: &str| {
            let text = format!("claim = 'a'\n=== user ===\n{said}\n=== expect ===\nclass = 'a'\n");
            let case = parse(&mut Sources::default(), "t/x.case", text.as_bytes());
            assert!(case.value.is_some(), "{said}");
            case.diagnostics.iter().map(|one| one.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(told("mode = 'a'\nHi"), ["this `mode` is a part of what is said, and no key"]);
        assert_eq!(told("\nstate = { n = 1 }"), ["this `state` is a part of what is said, and no key"]);
        assert_eq!(told("todo = true"), ["this `todo` is a part of what is said, and no key"]);
        for said in ["Hi\nmode = 'a'", "mode = fast", "mood = 'a'", "mode: 'a'", ""] {
            assert_eq!(told(said), [""; 0], "{said}");
        }
    }

    #[test]
    fn every_fault_stands_at_its_line() {
        check("claim = 'a'\n=== response ===\nHi\n=== expect ===\nstatus = 'clean'\n", &[]);
        check(
            "mode = 'a'\nmodel = 3\n=== response ===\n=== expect ===\nstatsu = 'clean'\n=== respons ===\n",
            &[
                "case/syntax t/x.case:1:1 the key `claim` is missing",
                "case/syntax t/x.case:2:9 this is a whole number, but a string belongs here",
                "case/syntax t/x.case:5:1 there is no `statsu` to expect here",
                "case/syntax t/x.case:6:1 there is no part called `respons`",
            ],
        );
        check(
            "claim = 'a'\n=== response ===\nHi\n ==Expect==\nmessage = 'Hi'\n",
            &["case/expects-nothing t/x.case:2:1 nothing is expected of this"],
        );
        check("claim = 'a'\n", &["case/expects-nothing t/x.case:1:1 `t/x.case` has no `=== response ===`"]);
        check(
            "claim = 'a'\n=== expect ===\nstatus = 'clean'\n=== response ===\n=== response ===\n=== expect ===\n",
            &[
                "case/syntax t/x.case:2:1 there is nothing that this expectation is about",
                "case/expects-nothing t/x.case:4:1 nothing is expected of this",
                "case/expects-nothing t/x.case:5:1 nothing is expected of this",
            ],
        );
        check(
            "claim = 'a'\n=== user ===\nHi\n=== expect ===\nmode = 'a'\nclass = 'a'\nclass = 'a'\n=== start ===\n=== expect ===\nsay = []\n",
            &[
                "case/syntax t/x.case:7:1 `class` stands twice in one table",
                "case/syntax t/x.case:5:1 there is no `mode` to expect here",
            ],
        );
    }
}
