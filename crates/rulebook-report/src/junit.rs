//! JUnit: how do CI services read the results of cases?
//!
//! In: case runs.
//! Out: one `testsuites` element: a suite for each pack, a test case for each case.
//! Never: writes a character that XML cannot contain.

use super::{TestedPack, lines};
use rulebook::cases::{Case, CaseRun, CaseVerdict};
use rulebook::diagnostic::Row;
use rulebook::text::entity;
use std::fmt::Write as _;

/// The results as JUnit XML.
pub fn junit(packs: &[TestedPack]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for pack in packs {
        let unusable: Vec<Row> = pack.unusable().collect();
        let tests = pack.runs.len() + usize::from(!unusable.is_empty());
        let failures = pack.count(CaseVerdict::Failed);
        let skipped = pack.count(CaseVerdict::Todo);
        let errors = usize::from(!unusable.is_empty());
        let name = escaped(&pack.name);
        _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">"
        );
        if !unusable.is_empty() {
            let rows = escaped(&lines::plain(&unusable));
            _ = writeln!(text, "    <testcase classname=\"{name}\" name=\"the pack can be used\">");
            _ = writeln!(text, "      <error message=\"the pack cannot be used\">{rows}</error>\n    </testcase>");
        }
        for (case, run) in &pack.runs {
            test_case(pack, case, run, &mut text);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn test_case(pack: &TestedPack, case: &Case, run: &CaseRun, text: &mut String) {
    let file = pack.sources.get(case.source).map(|source| pack.pen.display_name(source.name())).unwrap_or_default();
    let (class, name, file) = (escaped(&pack.name), escaped(&case.name), escaped(&file));
    _ = write!(text, "    <testcase classname=\"{class}\" name=\"{name}\" file=\"{file}\"");
    match run.verdict {
        CaseVerdict::Passed | CaseVerdict::Done => text.push_str("/>\n"),
        CaseVerdict::Todo => {
            let reason = case.header.todo.as_ref().and_then(|todo| todo.value.0.as_deref()).unwrap_or("todo");
            _ = writeln!(text, ">\n      <skipped message=\"{}\"/>\n    </testcase>", escaped(reason));
        }
        CaseVerdict::Failed => {
            let failures = run.failures.iter().map(|failure| pack.pen.failure_row(&pack.sources, case, failure));
            let faults = run.diagnostics.iter().map(|one| pack.pen.row(&pack.sources, one));
            let rows: Vec<Row> = faults.chain(failures).collect();
            let claim = escaped(&case.header.claim.value);
            let rows = escaped(&lines::plain(&rows));
            _ = writeln!(text, ">\n      <failure message=\"{claim}\">{rows}</failure>\n    </testcase>");
        }
    }
}

/// The text escaped for an attribute or text of XML 1.0; characters that XML cannot contain become replacement
/// characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (entity(c), c) {
            (Some(entity), _) => out.push_str(entity),
            (None, '\n' | '\t') => out.push(c),
            (None, '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}') => out.push(char::REPLACEMENT_CHARACTER),
            (None, c) => out.push(c),
        }
    }
    out
}
