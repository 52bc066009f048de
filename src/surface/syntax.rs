//! Syntax: how is a syntax error of TOML explained to its author?
//!
//! In: an error of the TOML parser, and what it could still read.
//! Out: a diagnostic at its place, with the first place of a repeated name, and with advice if there is any.
//! Never: knows what a key means.

use crate::diagnostic::{Code, Diagnostic};
use crate::text::{Location, Slice, Span, excerpt};
use toml::de::{DeTable, DeValue, Error};

/// The diagnostic for an error in the TOML `text`, which starts where `within` does.
pub(crate) fn fault(error: &Error, table: &DeTable<'_>, text: &str, within: Location) -> Diagnostic {
    let place = |span: Span| {
        let start = within.span.start;
        Location { span: Span::new(start + span.start, start + span.end), ..within }
    };
    let span: Span = error.span().unwrap_or_default().into();
    let message = error.message().lines().next().unwrap_or_default();
    if message == "duplicate key" {
        let name = excerpt(span.of(text), 60);
        let first = first(table, text, span);
        let is_list = |span: Span| line_of(text, span.start).trim_start().starts_with("[[");
        if header(line_of(text, span.start)).is_some()
            && let Some(first) = first.filter(|first| is_list(*first) != is_list(span))
        {
            let message = format!("`{name}` is a list in one place and a table in another");
            let help = "each table of a list has its header in double brackets: `[[…]]`";
            let fault = Diagnostic::new(Code::PACK_SYNTAX, place(span), message).with_help(help);
            return fault.with_place(place(first), "first here");
        }
        // `[[actions]]` beside `[actions.NAME]`: the other headers have more names.
        let line = header(line_of(text, span.start)).filter(|_| first.is_none() && is_list(span));
        if let Some(first) = line.and_then(|path| {
            let key_path: Vec<String> = names(&path).map(str::to_owned).collect();
            headers_through(text, &key_path).find(|one| !is_list(*one))
        }) {
            let message = format!("`{name}` is a list here and a table elsewhere");
            let help = format!("each has a table of its own: `{}`", single_header(text, span.start, Some("NAME")));
            let fault = Diagnostic::new(Code::PACK_SYNTAX, place(span), message).with_help(help);
            return fault.with_place(place(first), "a table here");
        }
        let diagnostic =
            Diagnostic::new(Code::PACK_DUPLICATE, place(span), format!("`{name}` is declared twice in one table"))
                .with_help("rename one of them, or take it out");
        return match first {
            Some(first) => diagnostic.with_place(place(first), "first here"),
            None => diagnostic,
        };
    }
    if is_unclosed(error)
        && let Some(open) = unclosed(text)
    {
        let bracket = open.of(text);
        let (what, closer) = if bracket == "{" { ("inline table", "}") } else { ("array", "]") };
        let message = format!("this {what} is never closed");
        let help = format!("`{closer}` is missing");
        return Diagnostic::new(Code::PACK_SYNTAX, place(open), message).with_help(help);
    }
    let span = cause(message, text, span).unwrap_or(span);
    let diagnostic = Diagnostic::new(Code::PACK_SYNTAX, place(span), message);
    match advice(message, text, span) {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// The sign or quote that is wrong, if that is not where the parser noticed it.
fn cause(message: &str, text: &str, span: Span) -> Option<Span> {
    let before = text.get(..span.start)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let head = before.get(start..)?.trim_end();
    if message.contains("escaped value") && head.ends_with('\\') {
        let escaped = text.get(span.start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        return Some(Span::new(start + head.len() - 1, span.end.max(span.start + escaped)));
    }
    if (message.starts_with("key with no value") || message.starts_with("missing assignment")) && head.ends_with(':') {
        return Some(Span::new(start + head.len() - 1, start + head.len()));
    }
    if let Some(at) = span.of(text).find(" //") {
        return Some(Span::new(span.start + at + 1, span.start + at + 3));
    }
    if is_unquoted(message) {
        let line = line_of(text, span.start);
        let mut at = 0;
        while let Some(open) = line.get(at..).and_then(|rest| rest.find(['"', '\''])) {
            let open = at + open;
            let quote = line.get(open..=open)?;
            at = open + 1 + quoted(line.get(open + 1..)?, quote);
            if at == line.len() && !line.get(open + 1..).is_some_and(|rest| rest.ends_with(quote)) {
                return Some(Span::new(start + open, start + line.trim_end().len()));
            }
        }
    }
    None
}

/// Whether the error is about a text of one line without its second quote.
fn is_unquoted(message: &str) -> bool {
    message.starts_with("invalid basic string") || message.starts_with("invalid literal string")
}

/// The header of this list as that of a table: `[actions.NAME]` for `[[actions]]` and the name `NAME`, or with the name
/// that its first line gives in place of that.
pub(super) fn single_header(text: &str, at: usize, name: Option<&str>) -> String {
    let path = header(line_of(text, at)).unwrap_or_default();
    let names: Vec<&str> = names(&path).collect();
    let path = names.join(".");
    let Some(unnamed) = name else { return format!("[{path}]") };
    let next = text.get(at..).and_then(|rest| rest.lines().nth(1)).unwrap_or_default();
    let value = next.split_once('=').filter(|(key, _)| ["name", "id"].contains(&key.trim())).map(|(_, value)| value);
    let name = value.map(|value| value.trim().trim_matches(['"', '\'']));
    let name =
        name.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)));
    format!("[{path}.{}]", name.unwrap_or(unnamed))
}

/// What was probably meant by something that is not TOML.
fn advice(message: &str, text: &str, span: Span) -> Option<&'static str> {
    let (before, rest) = text.split_at_checked(span.start)?;
    let quoted = before.ends_with(['"', '\'']) && rest.starts_with(|c: char| c.is_alphanumeric());
    let is_word = span.of(text).chars().next().is_some_and(char::is_alphabetic);
    if message.contains("escaped value") {
        Some("in single quotes, '…', a backslash is a backslash; in double quotes write two")
    } else if rest.starts_with(['“', '”', '„', '‘', '’', '«', '»']) {
        Some("quotes are straight: `\"…\"` or `'…'`")
    } else if rest.starts_with("//") || rest.starts_with("/*") || span.of(text).contains(" //") {
        Some("a comment starts with `#`")
    } else if rest.starts_with(':')
        && (message.starts_with("key with no value") || message.starts_with("missing assignment"))
    {
        Some("there must be an `=` between a key and its value")
    } else if is_unquoted(message) && rest.starts_with('"') {
        Some("close it with `\"`")
    } else if is_unquoted(message) && rest.starts_with('\'') {
        Some("close it with `'`")
    } else if quoted && (message.starts_with("unexpected key or value") || message.starts_with("missing comma")) {
        Some("a text ends at the next quote of its kind: write the inner ones as `'`, or the outer ones as `'''`")
    } else if ["None", "null", "nil"].iter().any(|word| rest.starts_with(word)) {
        Some("there is no value for nothing: leave the key out")
    } else if message.starts_with("unclosed table") {
        Some("`]` is missing")
    } else if rest.starts_with(',') && message.starts_with("unexpected key or value") {
        Some("take the comma out: each key of a table has a line of its own")
    } else if message.starts_with("key with no value") && (rest.starts_with('[') || rest.starts_with('*')) {
        Some("a name with other characters is written in quotes, as in `\"files[]\"`")
    } else if message.starts_with("key with no value") && before.trim_end().ends_with(']') {
        Some("the header of a table starts with `[`")
    } else if message.starts_with("missing comma") {
        Some("put a comma before it")
    } else if message.starts_with("string values must be quoted") {
        Some("put it in quotes; a condition is a text, too")
    } else if message.starts_with("invalid boolean") {
        Some("it is `true` or `false`; a text is written in quotes")
    } else if message.starts_with("invalid float") && is_word {
        Some("a text is written in quotes")
    } else if message.starts_with("invalid unquoted key") {
        Some("a name with other characters is written in quotes, as in `[models.\"small:3b\"]`")
    } else {
        None
    }
}

pub(super) fn line_of(text: &str, at: usize) -> &str {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// Whether the error is about a header that occurs twice.
pub(super) fn is_header_twice(error: &Error, text: &str) -> bool {
    let at = error.span().unwrap_or_default().start;
    error.message().starts_with("duplicate key") && header(line_of(text, at)).is_some()
}

/// Whether the error is about an unclosed bracket.
fn is_unclosed(error: &Error) -> bool {
    ["unclosed array", "unclosed inline table"].iter().any(|what| error.message().starts_with(what))
}

/// The first bracket that is never closed.
fn unclosed(text: &str) -> Option<Span> {
    const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        if let Some(quote) = QUOTES.iter().find(|quote| rest.starts_with(**quote)) {
            at += quote.len() + quoted(rest.slice(quote.len()..), quote);
            continue;
        }
        match c {
            '#' => at += rest.find('\n').unwrap_or(rest.len()),
            '[' | '{' => open.push((c, at)),
            ']' | '}' => match open.pop() {
                Some(('[', _)) if c == ']' => {}
                Some(('{', _)) if c == '}' => {}
                Some((_, other)) => return Some(Span::new(other, other + 1)),
                None => return None,
            },
            _ => {}
        }
        if c != '#' {
            at += c.len_utf8();
        }
    }
    open.first().map(|(_, at)| Span::new(*at, at + 1))
}

/// The length of a string after its opening quotes, including the closing ones. A string of one line ends with the
/// line.
fn quoted(rest: &str, quote: &str) -> usize {
    let mut at = 0;
    while let Some(here) = rest.get(at..).filter(|here| !here.is_empty()) {
        if here.starts_with(quote) {
            return at + quote.len();
        }
        let Some(c) = here.chars().next() else { break };
        if c == '\n' && quote.len() == 1 {
            return at;
        }
        let escaped = (c == '\\' && quote.starts_with('"')).then(|| here.chars().nth(1)).flatten();
        at += c.len_utf8() + escaped.map_or(0, char::len_utf8);
    }
    rest.len()
}

/// The errors of `text` that are not caused by another one: the first on each line. After a repeated table its repeated
/// keys are left out, and after an unclosed bracket everything.
pub(crate) fn first_errors<'e>(errors: &'e [Error], text: &str) -> Vec<&'e Error> {
    let mut first_of_line: Vec<&Error> = Vec::new();
    let mut until = (0, 0);
    let start = |error: &Error| error.span().unwrap_or_default().start;
    let open = errors.iter().find(|error| is_unclosed(error)).map(|error| (error, unclosed(text)));
    let (last, end) = match open {
        Some((error, Some(open))) => (Some(error), open.start),
        // The bracket is closed, so the fault is in what is before the closer.
        Some((_, None)) => {
            let first = errors.iter().find(|error| error.message().starts_with("missing"));
            (None, first.map_or(usize::MAX, |first| start(first) + 1))
        }
        None => (None, usize::MAX),
    };
    for error in errors.iter().filter(|error| start(error) < end).chain(last) {
        let start = error.span().unwrap_or_default().start;
        let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let rest = text.slice(line..);
        let end = line + rest.find('\n').unwrap_or(rest.len());
        if (until.0..until.1).contains(&start) {
            continue;
        }
        until = (line, end);
        if error.message().starts_with("duplicate key") && header(rest.lines().next().unwrap_or_default()).is_some() {
            let mut at = line;
            let lines = rest.split_inclusive('\n').map(|line| {
                at += line.len();
                (at - line.len(), line)
            });
            let next = lines.skip(1).find(|(_, line)| header(line).is_some()).map(|(at, _)| at);
            until.1 = next.unwrap_or(text.len());
        }
        first_of_line.push(error);
    }
    first_of_line
}

/// The first place of the name that is repeated at `again`, if the lines before it show one.
fn first(table: &DeTable<'_>, text: &str, again: Span) -> Option<Span> {
    let start = text.get(..again.start)?.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(..start)?;
    let line = text.get(start..)?.lines().next()?;
    // The second header has replaced the table of the first, so look for the first in the text.
    if let Some(path) = header(line) {
        let mut at = 0;
        return before.split_inclusive('\n').find_map(|line| {
            at += line.len();
            let last = header(line).filter(|other| names(other).eq(names(&path)))?.pop()?.1;
            Some(Span::new(at - line.len() + last.start, at - line.len() + last.end))
        });
    }
    let around = before.lines().rev().find_map(header).unwrap_or_default();
    let own = keys(&format!("{} = 0", text.get(start..again.end)?))?;
    let ((name, _), own) = own.split_last()?;
    let mut inside = table;
    for name in names(&around).chain(names(own)) {
        let mut value = inside.get(name)?.get_ref();
        while let DeValue::Array(items) = value {
            value = items.iter().rfind(|item| item.span().start < again.start)?.get_ref();
        }
        let DeValue::Table(table) = value else { return None };
        inside = table;
    }
    let (key, _) = inside.get_key_value(name.as_str())?;
    Some(key.span().into()).filter(|first: &Span| first.end <= again.start)
}

/// For each header of a file that contains the path `key_path`, the place of the last name of `key_path`.
pub(super) fn headers_through(text: &str, key_path: &[String]) -> impl Iterator<Item = Span> {
    headers(text).filter_map(|path| {
        let path = path.get(..key_path.len()).filter(|path| names(path).eq(key_path.iter().map(String::as_str)))?;
        Some(path.last()?.1)
    })
}

/// The names of each header in a file, with their places.
pub(super) fn headers(text: &str) -> impl Iterator<Item = KeyPath> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let inside = |(name, span): (String, Span)| (name, Span::new(start + span.start, start + span.end));
        Some(header(line)?.into_iter().map(inside).collect())
    })
}

/// The names of a path, outermost first, each with its place in the line.
pub(super) type KeyPath = Vec<(String, Span)>;

pub(super) fn names(path: &[(String, Span)]) -> impl Iterator<Item = &str> {
    path.iter().map(|(name, _)| name.as_str())
}

/// The names in a header line such as `[modes.chat]`.
fn header(line: &str) -> Option<KeyPath> {
    line.trim_start().starts_with('[').then(|| keys(line))?
}

fn keys(statement: &str) -> Option<KeyPath> {
    let statement = DeTable::parse(statement).ok()?.into_inner();
    let mut names = Vec::new();
    let mut inside = Some(&statement);
    while let Some((name, value)) = inside.and_then(|table| table.iter().next()) {
        names.push((name.get_ref().clone().into_owned(), name.span().into()));
        inside = match value.get_ref() {
            DeValue::Table(table) => Some(table),
            DeValue::Array(items) => items.first().and_then(|item| item.get_ref().as_table()),
            _ => None,
        };
    }
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceId;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let within = Location { source: SourceId::RESPONSE, span: Span::default() };
        let first_of_line = |error| {
            let fault = fault(error, table.get_ref(), text, within);
            let place = |at: Location| text.slice(..at.span.start).matches('\n').count() + 1;
            let first = fault.labels.first().map(|label| place(label.at));
            format!("{} {:?}, first {first:?}", fault.message, fault.at.map(place))
        };
        assert_eq!(errors.iter().map(first_of_line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_name_that_stands_twice_is_shown_twice() {
        check("[a.b]\nc = 1\n[d]\nb = 1\n[a.b]\n", &["`b` is declared twice in one table Some(5), first Some(1)"]);
        check(
            "[a]\nc = 1\n[b]\nc = 1\nd.e = 1\n d.e = 2\n",
            &["`e` is declared twice in one table Some(6), first Some(5)"],
        );
        check("[[a]]\nb = 1\n[[a]]\nb = 2\nb = 3\n", &["`b` is declared twice in one table Some(5), first Some(4)"]);
        check("a = { b = 1, b = 2 }\n", &["`b` is declared twice in one table Some(1), first None"]);
    }
}
