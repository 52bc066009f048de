//! Syntax: what does a fault of TOML say to who typed it?
//!
//! In: an error of the TOML reader, and what it read all the same.
//! Out: a diagnostic at its place, with the first place of a name that stands twice, and with advice where there is some.
//! Never: reads what a key means.

use crate::diagnostic::{Code, Diagnostic};
use crate::text::{Location, Span, excerpt};
use toml::de::{DeTable, DeValue, Error};

/// The fault of the TOML `text`, which starts where `within` does.
pub(crate) fn fault(error: &Error, table: &DeTable<'_>, text: &str, within: Location) -> Diagnostic {
    let place = |span: Span| {
        let start = within.span.start;
        Location { span: Span::new(start + span.start, start + span.end), ..within }
    };
    let span: Span = error.span().unwrap_or_default().into();
    let message = error.message().lines().next().unwrap_or_default();
    if message == "duplicate key" {
        let name = excerpt(span.of(text), 60);
        let diagnostic =
            Diagnostic::new(Code::PACK_DUPLICATE, place(span), format!("`{name}` stands twice in one table"))
                .with_help("rename one of them, or take it out");
        return match first(table, text, span) {
            Some(first) => diagnostic.with_place(place(first), "first here"),
            None => diagnostic,
        };
    }
    let diagnostic = Diagnostic::new(Code::PACK_SYNTAX, place(span), message);
    match message.contains("escaped value") {
        true => diagnostic.with_help("in single quotes, '…', a backslash is a backslash; in double quotes write two"),
        false => diagnostic,
    }
}

/// Those of the errors of `text` that do not follow from another one: of each line the first, and of a table that stands twice not
/// also what stands in it twice.
pub(crate) fn told<'e>(errors: &'e [Error], text: &str) -> Vec<&'e Error> {
    let mut told: Vec<&Error> = Vec::new();
    let mut until = (0, 0);
    for error in errors {
        let start = error.span().unwrap_or_default().start;
        let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let rest = text.get(line..).unwrap_or_default();
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
        told.push(error);
    }
    told
}

/// Where the name that stands again at `again` stands first, if that can be told from the lines before it.
fn first(table: &DeTable<'_>, text: &str, again: Span) -> Option<Span> {
    let start = text.get(..again.start)?.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(..start)?;
    let line = text.get(start..)?.lines().next()?;
    // What the second header opens has taken the place of what the first did.
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

/// The names that a statement leads through, from the outermost one, each with its place in the line.
type Path = Vec<(String, Span)>;

fn names(path: &[(String, Span)]) -> impl Iterator<Item = &str> {
    path.iter().map(|(name, _)| name.as_str())
}

/// The names of a line such as `[modes.chat]`.
fn header(line: &str) -> Option<Path> {
    line.trim_start().starts_with('[').then(|| keys(line))?
}

fn keys(statement: &str) -> Option<Path> {
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
        let told = |error| {
            let fault = fault(error, table.get_ref(), text, within);
            let place = |at: Location| text.get(..at.span.start).unwrap_or_default().matches('\n').count() + 1;
            let first = fault.labels.first().map(|label| place(label.at));
            format!("{} {:?}, first {first:?}", fault.message, fault.at.map(place))
        };
        assert_eq!(errors.iter().map(told).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_name_that_stands_twice_is_shown_twice() {
        check("[a.b]\nc = 1\n[d]\nb = 1\n[a.b]\n", &["`b` stands twice in one table Some(5), first Some(1)"]);
        check("[a]\nc = 1\n[b]\nc = 1\nd.e = 1\n d.e = 2\n", &["`e` stands twice in one table Some(6), first Some(5)"]);
        check("[[a]]\nb = 1\n[[a]]\nb = 2\nb = 3\n", &["`b` stands twice in one table Some(5), first Some(4)"]);
        check("a = { b = 1, b = 2 }\n", &["`b` stands twice in one table Some(1), first None"]);
    }
}
