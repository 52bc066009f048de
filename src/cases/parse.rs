//! The case format: which parts does this file have, and where is each line?
//!
//! In: the bytes of one `.case` file.
//! Out: [`Case`], or a diagnostic for every fault, at its line.
//! Never: runs anything.

use super::expectation::{Expectation, OUTCOME_KEYS, PartKind};
use super::header::{CaseHeader, KEYS};
use crate::diagnostic::{Checked, Code, Diagnostic, nearest};
use crate::surface::Tree;
use crate::surface::decode::{Decode, Decoder};
use crate::surface::syntax;
use crate::text::{Location, Slice, Source, SourceId, Sources, Span, authored};
use toml::de::{DeTable, DeValue};

/// One script: a header, then parts with the expectation of each.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Case {
    /// Its name: that of the file without `.case`.
    pub name: String,
    /// Its file.
    pub source: SourceId,
    /// Its header.
    pub header: CaseHeader,
    /// Its parts, in order.
    pub steps: Vec<CaseStep>,
}

/// One part with its expectation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaseStep {
    /// The marker line.
    pub at: Location,
    /// The kind of part.
    pub part: PartKind,
    /// The text of the part.
    pub text: String,
    /// The expectations; never empty.
    pub expected: Vec<Expectation>,
    /// The offset in the file of the text of the expectation.
    pub(super) expects: usize,
}

/// Parses a case file. `path` is its name in messages.
pub fn parse(sources: &mut Sources, path: &str, bytes: &[u8]) -> Checked<Case> {
    let (case, diagnostics) = read(sources, path, bytes);
    Checked::new(case, diagnostics, sources.clone())
}

/// Like [`parse`], but returns a faulty case as far as it could be parsed: parts may be missing, and expectations may
/// be empty.
pub(super) fn read(sources: &mut Sources, path: &str, bytes: &[u8]) -> (Option<Case>, Vec<Diagnostic>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => authored(text),
        Err(error) => {
            let message = format!("`{path}` is not UTF-8 from byte {} on", error.valid_up_to());
            let fault = Diagnostic::new(Code::CASE_SYNTAX, sources.add_broken(path, bytes, error), message);
            return (None, vec![fault.with_help("save the file as UTF-8")]);
        }
    };
    let text = text.as_ref();
    let source = sources.add(Source::new(path, text));
    let mut parsing = Parsing { source, text, diagnostics: Vec::new() };
    let (header, parts) = cut(text);
    let (header, before) = parsing.whole_header(header, &parts);
    let header = parsing.toml(header, CaseHeader::decode);
    let steps = parsing.steps(&parts, before);
    let has_classes = header.as_ref().is_some_and(|header| !header.classes.is_empty());
    if steps.is_empty() && !has_classes && parsing.diagnostics.is_empty() {
        let first = parsing.at(Span::new(0, text.lines().next().unwrap_or_default().len()));
        let empty = Diagnostic::new(Code::CASE_EMPTY, first, format!("`{path}` has no `=== response ===`"));
        let help =
            "a case is a header, an answer after `=== response ===`, and what is expected of it after `=== expect ===`";
        parsing.diagnostics.push(empty.with_help(help));
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.strip_suffix(".case").unwrap_or(file).to_owned();
    (header.map(|header| Case { name, source, header, steps }), parsing.diagnostics)
}

/// The word in the marker of an expectation.
const EXPECT: &str = "expect";

/// The members of a session.
const SESSION: [&str; 4] = ["mode", "state", "now", "ids"];

/// A description of where the header is.
const HEADER: &str = "header, which comes before the first `=== … ===` line";

/// A piece of the file: its marker and its text.
struct CasePiece<'t> {
    name: &'t str,
    marker: Span,
    text: Span,
}

/// A part whose expectation has not been read yet.
struct PendingStep<'p> {
    at: Location,
    part: PartKind,
    piece: &'p CasePiece<'p>,
}

/// A case file that is being parsed.
struct Parsing<'t> {
    source: SourceId,
    text: &'t str,
    diagnostics: Vec<Diagnostic>,
}

impl Parsing<'_> {
    fn at(&self, span: Span) -> Location {
        Location { source: self.source, span }
    }

    /// The header. It ends at a misspelt marker, or at a text before the first of the `parts` that has no marker. That
    /// is reported, and the word of the marker is returned.
    fn whole_header(&mut self, header: Span, parts: &[CasePiece<'_>]) -> (Span, Option<&'static str>) {
        let written = header.of(self.text);
        let (_, errors) = DeTable::parse_recoverable(written);
        let Some(broken) = errors.iter().filter_map(|error| error.span()).map(|span| span.start).min() else {
            return (header, None);
        };
        let (span, message, help, word) = match near_marker(written) {
            Some((line, word)) => {
                let span = Span::new(header.start + line.start, header.start + line.end);
                let message = format!("`{}` is not a marker", span.of(self.text));
                (span, message, format!("a marker is a line by itself: `=== {word} ===`"), word)
            }
            None if parts.first().is_none_or(|first| first.name != EXPECT) => return (header, None),
            None => {
                let before = written.slice(..broken);
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let line = written.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
                let start = header.start + start;
                let message = "this is not a key of the header, and no marker before it starts a part".to_owned();
                let help = "put a marker such as `=== response ===` on the line before it".to_owned();
                // It is unknown which part was meant.
                (Span::new(start, start + line.len()), message, help, "")
            }
        };
        self.diagnostics.push(Diagnostic::new(Code::CASE_SYNTAX, self.at(span), message).with_help(help));
        (Span::new(header.start, span.start), Some(word))
    }

    /// The parts as steps. `before` is the word of a misspelt marker directly before them, if there was one.
    fn steps(&mut self, parts: &[CasePiece<'_>], before: Option<&str>) -> Vec<CaseStep> {
        let mut steps: Vec<CaseStep> = Vec::new();
        // The part that has no expectation yet.
        let mut waiting: Option<PendingStep<'_>> = None;
        // The marker before, if it was reported as misspelt.
        let mut misspelt = before.filter(|word| *word != EXPECT).map(MisspeltMarker::of_word);
        for piece in parts {
            let at = self.at(piece.marker);
            if let Some(part) = PartKind::of_word(piece.name) {
                misspelt = None;
                self.late_header(piece);
                let before = waiting.replace(PendingStep { at, part, piece });
                before.iter().for_each(|waiting_step| self.without_expectation(waiting_step));
            } else if piece.name == EXPECT {
                match (misspelt.take(), waiting.take()) {
                    // The unknown part has been reported: ignore its expectation.
                    (Some(MisspeltMarker::Unclear), None) => {}
                    (Some(MisspeltMarker::Meant(part)), None) => _ = self.expectation(piece, part.keys()),
                    (_, waiting_step) => steps.extend(self.step(waiting_step, piece)),
                }
            } else {
                let message = format!("there is no part called `{}`", piece.name);
                let fault = Diagnostic::new(Code::CASE_SYNTAX, at, message);
                self.diagnostics.push(fault.with_nearest(piece.name, words()));
                // Continue as if the word that was probably meant were in the file.
                if nearest(piece.name, words()) == Some(EXPECT) {
                    let keys = waiting.take().map_or(OUTCOME_KEYS, |waiting_step| waiting_step.part.keys());
                    _ = self.expectation(piece, keys);
                } else {
                    misspelt = Some(MisspeltMarker::of_word(piece.name));
                }
            }
        }
        waiting.iter().for_each(|waiting_step| self.without_expectation(waiting_step));
        steps
    }

    /// A part with its expectation.
    fn step(&mut self, waiting_step: Option<PendingStep<'_>>, piece: &CasePiece<'_>) -> Option<CaseStep> {
        let keys = waiting_step.as_ref().map_or(OUTCOME_KEYS, |waiting_step| waiting_step.part.keys());
        let expected = self.expectation(piece, keys);
        let Some(waiting_step) = waiting_step else {
            let help = "put a step before it, such as `=== response ===`; one expectation follows each";
            let message = "no step comes before this expectation";
            let fault = Diagnostic::new(Code::CASE_SYNTAX, self.at(piece.marker), message);
            self.diagnostics.push(fault.with_help(help));
            return None;
        };
        if expected.as_ref().is_some_and(Vec::is_empty) {
            self.without_expectation(&waiting_step);
        }
        let text = waiting_step.piece.text.of(self.text).to_owned();
        let (expected, expects) = (expected.unwrap_or_default(), piece.text.start);
        Some(CaseStep { at: waiting_step.at, part: waiting_step.part, text, expected, expects })
    }

    /// Reports a part whose text starts like a key of the header: there it is text, and not a key.
    fn late_header(&mut self, piece: &CasePiece<'_>) {
        let text = piece.text.of(self.text);
        let start = piece.text.start + (text.len() - text.trim_start().len());
        let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
        let Some((key, value)) = line.split_once('=') else { return };
        let begins = |c: char| matches!(c, '"' | '\'' | '{' | '[') || c.is_ascii_digit();
        let key = key.trim_end();
        if !KEYS.contains(&key) || !(value.trim_start().starts_with(begins) || value.trim() == "true") {
            return;
        }
        let at = self.at(Span::new(start, start + line.len()));
        let message = format!("this `{key}` is part of the step's text, not a key of the header");
        let fault = Diagnostic::new(Code::CASE_SYNTAX, at, message).with_help(format!("move it to the {HEADER}"));
        // Only a warning: the key may be meant as text.
        self.diagnostics.push(fault.into_warning());
    }

    /// Reports a part without an expectation. A misspelt marker in its text explains why.
    fn without_expectation(&mut self, waiting_step: &PendingStep<'_>) {
        let diagnostic = Diagnostic::new(Code::CASE_EMPTY, waiting_step.at, "nothing is expected of this");
        let Span { start, .. } = waiting_step.piece.text;
        self.diagnostics.push(match near_marker(waiting_step.piece.text.of(self.text)) {
            Some((line, word)) => diagnostic
                .with_place(self.at(Span::new(start + line.start, start + line.end)), "this is text, not a marker")
                .with_help(format!("a marker must be at the very start of its line: `=== {word} ===`")),
            None => diagnostic
                .with_help("say what is expected of it in an `=== expect ===` part after it, such as `codes = []`"),
        });
    }

    fn expectation(&mut self, part: &CasePiece<'_>, keys: &[&str]) -> Option<Vec<Expectation>> {
        let before = self.diagnostics.len();
        let Tree::Table(members, _) = self.toml(part.text, Tree::decode)? else { return None };
        let mut expected = Vec::with_capacity(members.len());
        for (key, value) in members {
            if keys.contains(&key.value.as_str()) {
                expected.push(Expectation { key, value });
                continue;
            }
            let message = format!("there is no `{}` to expect here", key.value);
            let fault = Diagnostic::new(Code::CASE_SYNTAX, key.at, message);
            let is_session = keys.contains(&"session") && SESSION.contains(&key.value.as_str());
            self.diagnostics.push(match KEYS.contains(&key.value.as_str()) {
                _ if is_session => fault.with_help(format!("what comes of it is `session = {{ {} = … }}`", key.value)),
                true => fault.with_help(format!("`{}` is a key of the {HEADER}", key.value)),
                false => fault.with_nearest(&key.value, keys.iter().copied()),
            });
        }
        // After a fault, the rest is still checked, but the expectation is not reported as empty.
        (self.diagnostics.len() == before || !expected.is_empty()).then_some(expected)
    }

    /// Parses the TOML at `at`. Its places are those of the file, and its faults are reported as those of a case.
    fn toml<T>(
        &mut self,
        at: Span,
        decode: impl FnOnce(&toml::Spanned<DeValue<'_>>, &mut Decoder<'_>) -> Option<T>,
    ) -> Option<T> {
        let written = at.of(self.text);
        let (table, errors) = DeTable::parse_recoverable(written);
        let fault = |error| syntax::fault(error, table.get_ref(), written, self.at(at));
        let mut found: Vec<Diagnostic> = syntax::first_errors(&errors, written).into_iter().map(fault).collect();
        let node = toml::Spanned::new(table.span(), DeValue::Table(table.into_inner()));
        let value = decode(&node, &mut Decoder::new(self.source, written, &mut found).starting_at(at.start));
        self.diagnostics.extend(found.into_iter().map(|diagnostic| first_line(diagnostic, self.text)));
        value
    }
}

/// Splits a file at its marker lines into the header and the parts.
fn cut(text: &str) -> (Span, Vec<CasePiece<'_>>) {
    let mut parts: Vec<CasePiece<'_>> = Vec::new();
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
            parts.push(CasePiece { name, marker, text: Span::new(end, text.len()) });
        }
        start = end;
    }
    (header, parts)
}

/// The word of a `=== word ===` line. Only a lower-case word makes a marker, so that `=== Summary ===` in an answer
/// stays text.
fn marker_name(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("=== ")?.strip_suffix(" ===")?;
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')).then_some(name)
}

/// The end of the text before the line that starts at `offset`, without its line break.
fn before_line_break(text: &str, offset: usize) -> usize {
    let before = text.slice(..offset);
    let before = before.strip_suffix('\n').map_or(before, |rest| rest.strip_suffix('\r').unwrap_or(rest));
    before.len()
}

/// A misspelt marker.
enum MisspeltMarker {
    /// It probably meant this part.
    Meant(PartKind),
    /// It resembles no part.
    Unclear,
}

impl MisspeltMarker {
    fn of_word(word: &str) -> Self {
        let part = nearest(word, PartKind::ALL.map(PartKind::word)).and_then(PartKind::of_word);
        part.map_or(Self::Unclear, Self::Meant)
    }
}

/// The words that markers can have.
fn words() -> impl Iterator<Item = &'static str> {
    PartKind::ALL.into_iter().map(PartKind::word).chain([EXPECT])
}

/// The first line that would be a marker except for its spaces, its case or the number of `=`, and the word of that
/// marker.
fn near_marker(text: &str) -> Option<(Span, &'static str)> {
    let mut start = 0;
    text.split_inclusive('\n').find_map(|line| {
        let (at, signs) = (start, line.trim());
        start += line.len();
        let word = signs.strip_prefix("==")?.trim_matches('=').trim();
        let word = words().find(|one| one.eq_ignore_ascii_case(word))?;
        let indent = line.len() - line.trim_start().len();
        Some((Span::new(at + indent, at + indent + signs.len()), word))
    })
}

/// The diagnostic with the code of cases, at the first line of its place: a missing key does not concern all lines.
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
                let place = one.at.and_then(|at| sources.place(at)).unwrap_or_default();
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
    fn a_key_of_the_header_behind_a_marker_is_reported() {
        let assert_fault = |waiting_step: &str| {
            let text = format!("claim = 'a'\n=== user ===\n{waiting_step}\n=== expect ===\nclass = 'a'\n");
            let case = parse(&mut Sources::default(), "t/x.case", text.as_bytes());
            assert!(case.value.is_some(), "{waiting_step}");
            case.diagnostics.iter().map(|one| one.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(assert_fault("mode = 'a'\nHi"), ["this `mode` is part of the step's text, not a key of the header"]);
        assert_eq!(
            assert_fault("\nstate = { n = 1 }"),
            ["this `state` is part of the step's text, not a key of the header"]
        );
        assert_eq!(assert_fault("todo = true"), ["this `todo` is part of the step's text, not a key of the header"]);
        for waiting_step in ["Hi\nmode = 'a'", "mode = fast", "mood = 'a'", "mode: 'a'", ""] {
            assert_eq!(assert_fault(waiting_step), [""; 0], "{waiting_step}");
        }
    }

    #[test]
    fn every_fault_has_its_line() {
        check("claim = 'a'\n=== response ===\nHi\n=== expect ===\nstatus = 'clean'\n", &[]);
        check(
            "mode = 'a'\nmodel = 3\n=== response ===\n=== expect ===\nstatsu = 'clean'\n=== respons ===\n",
            &[
                "case/syntax t/x.case:1:1 the key `claim` is missing",
                "case/syntax t/x.case:2:9 expected a string, found a whole number",
                "case/syntax t/x.case:5:1 there is no `statsu` to expect here",
                "case/syntax t/x.case:6:1 there is no part called `respons`",
            ],
        );
        check(
            "claim = 'a'\n=== response ===\nHi\n ==Expect==\nmessage = 'Hi'\n",
            &["case/expects-nothing t/x.case:2:1 nothing is expected of this"],
        );
        check(
            "claim = 'a'\n<reply>Hi</reply>\n<note>b</note>\n=== expect ===\nclass = 'a'\n",
            &["case/syntax t/x.case:2:1 this is not a key of the header, and no marker before it starts a part"],
        );
        check("claim = 'a'\n", &["case/expects-nothing t/x.case:1:1 `t/x.case` has no `=== response ===`"]);
        check(
            "claim = 'a'\n=== expect ===\nstatus = 'clean'\n=== response ===\n=== response ===\n=== expect ===\n",
            &[
                "case/syntax t/x.case:2:1 no step comes before this expectation",
                "case/expects-nothing t/x.case:4:1 nothing is expected of this",
                "case/expects-nothing t/x.case:5:1 nothing is expected of this",
            ],
        );
        check(
            "claim = 'a'\n=== user ===\nHi\n=== expect ===\nmode = 'a'\nclass = 'a'\nclass = 'a'\n=== start ===\n=== expect ===\nsay = []\n",
            &[
                "case/syntax t/x.case:7:1 `class` is declared twice in one table",
                "case/syntax t/x.case:5:1 there is no `mode` to expect here",
            ],
        );
    }
}
