//! Lines: how is a finding printed on one line?
//!
//! In: rows.
//! Out: `place: severity[code]: message` for grep and screen readers, and workflow commands of GitHub.
//! Never: colours anything, or puts a finding on two lines.
//!
//! Workflow commands: <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>

use rulebook::Severity;
use rulebook::diagnostic::Row;
use rulebook::text::{is_bidi_control, one_line};
use std::fmt::Write as _;

/// One plain line for each row: place, severity, code, message, help.
pub fn plain(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let place = row.place().map(|place| format!("{place}: ")).unwrap_or_default();
        let id = row.id.as_ref().map(|id| format!(" {id}:")).unwrap_or_default();
        let help = row.help.as_ref().map(|help| format!(" (help: {help})")).unwrap_or_default();
        let line = format!("{place}{}[{}]:{id} {}{help}", row.severity.name(), row.code, row.message);
        _ = writeln!(text, "{}", one_line(&line));
    }
    text
}

/// One annotation of GitHub for each row.
pub fn github(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let command = match row.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let mut properties = Vec::new();
        let mut property = |name: &str, value: Option<String>| {
            properties.extend(value.map(|value| format!("{name}={}", escaped(&value, true))));
        };
        property("file", row.file.clone());
        property("line", row.line.map(|line| line.to_string()));
        property("endLine", row.end_line.map(|line| line.to_string()));
        // GitHub ignores columns of a range over several lines.
        if row.line == row.end_line {
            property("col", row.column.map(|column| column.to_string()));
            property("endColumn", row.end_column.map(|column| column.to_string()));
        }
        property("title", Some(row.code.to_string()));
        let help = row.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let message = escaped(&format!("{}{help}", row.message), false);
        _ = writeln!(text, "::{command} {}::{message}", properties.join(","));
    }
    text
}

/// The text escaped for a workflow command.
fn escaped(text: &str, property: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            ':' if property => out.push_str("%3A"),
            ',' if property => out.push_str("%2C"),
            // Logs are read in terminals, so control characters are escaped here, too.
            c if c.is_control() || is_bidi_control(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rulebook::text::{Location, Source, Span};
    use rulebook::{Code, Diagnostic, Sources};

    fn row(name: &str, message: &str) -> Row {
        let mut sources = Sources::default();
        let source = sources.add(Source::new(name, "a\nbc = 1\n"));
        let at = Location { source, span: Span::new(2, 4) };
        Row::of(&Diagnostic::new(Code::PACK_UNKNOWN_KEY, at, message).with_help("h"), &sources)
    }

    #[test]
    fn a_plain_line_is_one_line() {
        let text = plain(&[row("x/pack.toml", "a\r\n\u{1b}[31mb")]);
        assert_eq!(text, "x/pack.toml:2:1: error[pack/unknown-key]: a\\r\\n\\u{1b}[31mb (help: h)\n");
    }

    #[test]
    fn an_annotation_cannot_be_forged() {
        let row = {
            let mut row = row("x,y:z.toml", "");
            row.message = "100 %\n::error ::no".to_owned();
            row
        };
        let text = github(&[row]);
        let expected = "::error file=x%2Cy%3Az.toml,line=2,endLine=2,col=1,endColumn=3,title=pack/unknown-key::\
                        100 %25%0A::error ::no%0Ahelp: h\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_annotation_controls_no_terminal() {
        let mut row = row("x.toml", "");
        row.message = "a\u{9b}31m\u{202e}\u{200f}\u{1b}b".to_owned();
        let text = github(&[row]);
        assert!(text.contains("::a\\u{9b}31m\\u{202e}\\u{200f}\\u{1b}b%0A"), "{text}");
    }
}
