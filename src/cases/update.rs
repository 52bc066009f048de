//! Updates: what does a case become if it expects the actual results?
//!
//! In: the text of a case, and the expectations that were not met.
//! Out: the same text with new values in place of the old ones; comments, order and everything else stay the same, byte
//! for byte.
//! Never: changes the parts or the header of the case, or claims that the result is right.

use super::matching::{CaseFailure, descend};
use super::parse::Case;
use crate::surface::Tree;
use crate::text::{Location, Slice, Span};
use crate::value::Value;

/// The text of the case in which each value that failed is replaced by the actual one. An expectation of something that
/// does not exist is removed.
pub fn updated(text: &str, case: &Case, failures: &[CaseFailure]) -> String {
    let mut edits: Vec<(Span, String)> = failures.iter().filter_map(|failure| edit(text, case, failure)).collect();
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (span, new) in edits {
        // An edit inside a span that was replaced already is not needed.
        if let Some(unchanged) = text.get(done..span.start) {
            out.push_str(unchanged);
            out.push_str(&new);
            done = span.end;
        } else if span.end > done && new.is_empty() {
            // The last members were removed, so the comma before them separates nothing.
            out.truncate(out.trim_end_matches([' ', '\t', ',']).len());
            done = span.end;
        }
    }
    out.push_str(text.slice(done..));
    out
}

fn edit(text: &str, case: &Case, failure: &CaseFailure) -> Option<(Span, String)> {
    let value = whole(text, failure.value?.span);
    let Some(got) = &failure.got else { return Some((member(text, failure.at.span, value), String::new())) };
    let expected = case.steps.iter().flat_map(|step| &step.expected).find_map(|one| find(&one.value, failure.value?));
    Some((
        value,
        match (expected, got) {
            (Some(Tree::List(items, at)), Value::Array(got)) => list(text, items, at.span, got),
            _ => inline(got),
        },
    ))
}

/// The span of the value with its quotes: the place of a multi-line text is only what is between them.
fn whole(text: &str, value: Span) -> Span {
    let quoted = |quotes: &str| {
        let before = text.get(..value.start)?;
        let before = before.strip_suffix('\n').map_or(before, |line| line.strip_suffix('\r').unwrap_or(line));
        let start = before.strip_suffix(quotes)?.len();
        text.get(value.end..)?.starts_with(quotes).then_some(Span::new(start, value.end + quotes.len()))
    };
    ["'''", "\"\"\""].into_iter().find_map(quoted).unwrap_or(value)
}

fn find(tree: &Tree, at: Location) -> Option<&Tree> {
    match tree {
        tree if tree.at() == at => Some(tree),
        Tree::Table(members, _) => members.iter().find_map(|(_, value)| find(value, at)),
        Tree::List(items, _) => items.iter().find_map(|item| find(item, at)),
        _ => None,
    }
}

/// The span to remove for a member of a table: with the comma that separates it, or with its whole line.
fn member(text: &str, key: Span, value: Span) -> Span {
    let after = text.slice(value.end..);
    let blank = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let rest = after.slice(blank(after)..);
    if let Some(rest) = rest.strip_prefix(',') {
        return Span::new(key.start, text.len() - rest.len() + blank(rest));
    }
    let before = text.slice(..key.start).trim_end_matches([' ', '\t']);
    if rest.starts_with('}') {
        return Span::new(before.strip_suffix(',').unwrap_or(before).len(), value.end);
    }
    let line = after.find('\n').map_or(text.len(), |end| value.end + end + 1);
    Span::new(before.len(), line)
}

/// A list. Entries that match an expected item are left as written, with their comments.
fn list(text: &str, items: &[Tree], at: Span, got: &[Value]) -> String {
    let (written, tail) = written(text, items, at);
    let mut old: Vec<Option<ListItem<'_>>> = written.into_iter().map(Some).collect();
    let new: Vec<(usize, ListItem<'_>)> = got
        .iter()
        .map(|value| {
            let same = |one: &Option<ListItem<'_>>| one.as_ref().is_some_and(|one| holds(one.item, value));
            let same = old.iter().position(same);
            let one = same.and_then(|same| old.get_mut(same)?.take());
            let place = same.unwrap_or_default();
            (place, one.unwrap_or_else(|| ListItem { new: Some(inline(&lasting(value))), ..ListItem::default() }))
        })
        .collect();
    if !at.of(text).contains('\n') {
        return format!("[{}]", new.iter().map(|(_, one)| one.text()).collect::<Vec<_>>().join(", "));
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let indent = |place: usize| {
        let line = text.slice(..place).rsplit('\n').next().unwrap_or_default();
        line.slice(..line.len() - line.trim_start().len())
    };
    let outer = indent(at.end);
    let inner = items.first().map_or_else(|| format!("{outer}  "), |first| indent(first.at().span.start).to_owned());
    let mut out = format!("[{end}");
    let comment = |out: &mut String, comment: &str| *out += &format!("{inner}{comment}{end}");
    for (place, one) in &new {
        // The comments on removed items stay where they were.
        old.iter_mut()
            .take(*place)
            .filter_map(Option::take)
            .for_each(|gone| gone.comments().for_each(|one| comment(&mut out, one)));
        one.before.iter().for_each(|one| comment(&mut out, one));
        let beside = if one.beside.is_empty() { String::new() } else { format!(" {}", one.beside) };
        out += &format!("{inner}{},{beside}{end}", one.text());
    }
    old.into_iter().flatten().for_each(|gone| gone.comments().for_each(|one| comment(&mut out, one)));
    tail.into_iter().for_each(|one| comment(&mut out, one));
    out + outer + "]"
}

/// An item without its places in the pack, which would change with the next edit of the pack.
fn lasting(item: &Value) -> Value {
    let mut item = item.clone();
    if let Value::Object(members) = &mut item {
        members.retain(|name, _| !matches!(name, "cause" | "rule"));
    }
    item
}

/// An item of a list as written in the file, with its comments; or a new one.
#[derive(Default)]
struct ListItem<'t> {
    item: Option<&'t Tree>,
    old: &'t str,
    new: Option<String>,
    before: Vec<&'t str>,
    beside: &'t str,
}

impl<'t> ListItem<'t> {
    fn text(&self) -> String {
        self.new.clone().unwrap_or_else(|| self.old.to_owned())
    }

    fn comments(&self) -> impl Iterator<Item = &'t str> {
        self.before.iter().copied().chain(Some(self.beside).filter(|beside| !beside.is_empty()))
    }
}

/// The items of a list, and the comments after the last.
fn written<'t>(text: &'t str, items: &'t [Tree], at: Span) -> (Vec<ListItem<'t>>, Vec<&'t str>) {
    let comments = |gap: &'t str| gap.lines().map(str::trim).filter(|line| line.starts_with('#')).collect();
    let mut start = at.start + 1;
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let span = whole(text, item.at().span);
        let gap = text.slice(start..span.start);
        let before = comments(gap);
        let rest = text.slice(span.end..at.end);
        let line = rest.lines().next().unwrap_or_default();
        let beside = line.trim_start_matches([' ', '\t', ',']);
        let beside = if beside.starts_with('#') { beside.trim_end() } else { "" };
        start = span.end + if beside.is_empty() { 0 } else { line.len() };
        all.push(ListItem { item: Some(item), old: span.of(text), new: None, before, beside });
    }
    (all, comments(text.slice(start..at.end)))
}

fn holds(expected: Option<&Tree>, got: &Value) -> bool {
    let Some(expected) = expected else { return false };
    let mut failures = Vec::new();
    descend(expected, Some(got), String::new(), expected.at(), &mut failures);
    failures.is_empty()
}

/// A value as inline TOML; null becomes the empty text.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let member = |(key, value): (&str, &Value)| format!("{} = {}", self::key(key), inline(value));
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => toml::Value::from(&**text).to_string(),
        other => other.to_string(),
    }
}

/// A key as TOML writes it, in quotes if needed.
pub(super) fn key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { key.to_owned() } else { toml::Value::from(key).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::matching::compare;
    use crate::cases::parse::parse;
    use crate::text::Sources;

    #[track_caller]
    fn check(expected: &str, got: Value, new: &str) {
        let text = |expected: &str| format!("claim = 'c' # why\n=== response ===\nHi\n=== expect ===\n{expected}");
        let before = text(expected);
        let case = parse(&mut Sources::default(), "c.case", before.as_bytes()).value.unwrap();
        let failures = compare(0, &case.steps[0].expected, &got);
        assert_eq!(updated(&before, &case, &failures), text(new));
    }

    #[test]
    fn only_values_that_failed_are_rewritten() {
        check(
            "# first\nstatus  = 'clean' # all is well\nmessage = \"a\"\n",
            crate::value::value!({ "status": "degraded", "message": "a" }),
            "# first\nstatus  = \"degraded\" # all is well\nmessage = \"a\"\n",
        );
        check(
            "calls = [{ action = 'go', verdict = 'accepted' }] # one\n",
            crate::value::value!({ "calls": [{ "action": "go", "verdict": "dropped", "span": [0, 1] }] }),
            "calls = [{ action = 'go', verdict = \"dropped\" }] # one\n",
        );
        check(
            "session.state = { a = 1, b = 2 }\ndialect = 'x'\r\n",
            crate::value::value!({ "session": { "state": { "a": 1 } }, "dialect": null }),
            "session.state = { a = 1 }\ndialect = \"\"\r\n",
        );
        check(
            "calls = [{ params = { a = 1, b = 2, c = 3 } }, { params = { a = 1, b = 2, c = 3 } }]\n",
            crate::value::value!({ "calls": [{ "params": { "a": 1 } }, { "params": {} }] }),
            "calls = [{ params = { a = 1 } }, { params = { } }]\n",
        );
        check(
            "message = '''\na\nb''' # two\nthinking = [\"\"\"x\ny\"\"\", '''z''']\n",
            crate::value::value!({ "message": "Hi", "thinking": ["x\ny", "w"] }),
            "message = \"Hi\" # two\nthinking = [\"\"\"x\ny\"\"\", \"w\"]\n",
        );
    }

    #[test]
    fn items_that_still_match_keep_their_words_and_comments() {
        check(
            "codes = [\n  # the first\n  'response/a', # one\n  'response/b', # two\n]\n",
            crate::value::value!({ "diagnostics": [
                { "code": "response/c", "severity": "error" },
                { "code": "response/a", "severity": "error" },
                { "code": "response/d", "severity": "error" }] }),
            "codes = [\n  \"response/c\",\n  # the first\n  'response/a', # one\n  \"response/d\",\n  # two\n]\n",
        );
        check(
            "effects = []\n",
            crate::value::value!({ "effects": [{ "kind": "emit", "event": "a", "cause": "p/pack.toml:1:1" }] }),
            "effects = [{ kind = \"emit\", event = \"a\" }]\n",
        );
        // Comments on an item that was removed stay, and so do those after the last item.
        check(
            "codes = [\n  # the first\n  'response/a', # one\n  # the second\n  'response/b',\n  # no more\n]\n",
            crate::value::value!({ "diagnostics": [{ "code": "response/b", "severity": "error" }] }),
            "codes = [\n  # the first\n  # one\n  # the second\n  'response/b',\n  # no more\n]\n",
        );
        check(
            "codes = [\n  # none yet\n]\n",
            crate::value::value!({ "diagnostics": [{ "code": "response/b", "severity": "error" }] }),
            "codes = [\n  \"response/b\",\n  # none yet\n]\n",
        );
        check(
            "contents = []\n",
            crate::value::value!({ "contents": [{ "key": "a b", "text": "1\n\"2\"" }] }),
            "contents = [{ key = \"a b\", text = \"\"\"\n1\n\"2\"\"\"\" }]\n",
        );
    }
}
