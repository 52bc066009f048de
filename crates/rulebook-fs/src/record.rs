//! Record: how is an entry added to a list in a JSON document?
//!
//! In: the text of a JSON document, the path of the list, and the entry.
//! Out: the text with the entry added, indented by two spaces; every other member has the same value, as written, and
//! the same place.
//! Never: changes a document that is not valid JSON.

use super::edit::unmarked;
use rulebook::Value;
use serde::de::IgnoredAny;
use std::fmt;

/// The indentation of one level.
const INDENT: &str = "  ";

/// A document with the entry added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) text: String,
    /// The value that the list replaced, if there was one.
    pub(super) instead: Option<String>,
}

/// A value in the form in which it is written, so that no number is rounded and no repeated member is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// Members, each key with its quotes.
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Scalar(String),
}

/// The document with `value` as the last entry of the list at `path`. If there is no list, a new one has only this
/// entry.
pub(super) fn record(document: &str, path: &str, value: &impl fmt::Display) -> Result<Recorded, String> {
    let (mark, body) = unmarked(document);
    // The parser below relies on this: quotes and brackets are balanced, and the depth is bounded.
    serde_json::from_str::<IgnoredAny>(body).map_err(|error| format!("it is not JSON: {error}"))?;
    let mut root = Text(body.trim()).node();
    if !matches!(root, Node::Object(_)) {
        return Err("it is not a JSON object".to_owned());
    }
    let mut at = &mut root;
    for key in keys(path) {
        at = member(at, &key).ok_or_else(|| format!("`{key}` goes into a value that has no members"))?;
    }
    let instead = match at {
        Node::Array(_) => None,
        Node::Scalar(scalar) if scalar == "null" => None,
        Node::Scalar(scalar) => Some(scalar.clone()),
        Node::Object(_) => Some("an object".to_owned()),
    };
    if !matches!(at, Node::Array(_)) {
        *at = Node::Array(Vec::new());
    }
    if let Node::Array(items) = at {
        items.push(Text(&value.to_string()).node());
    }
    let mut text = mark.to_owned();
    print(&root, 0, &mut text);
    text.push('\n');
    if document.contains("\r\n") {
        text = text.replace('\n', "\r\n");
    }
    Ok(Recorded { text, instead })
}

/// The keys of a path: the parts between its dots. A key in double quotes is a JSON string, which may contain dots.
fn keys(path: &str) -> Vec<String> {
    let (mut keys, mut rest) = (Vec::new(), Some(path));
    while let Some(from) = rest {
        let quoted = from.starts_with('"').then(|| Text(from).scalar().len());
        let quoted = quoted.and_then(|length| from.split_at_checked(length));
        let whole = quoted.filter(|(_, after)| after.is_empty() || after.starts_with('.'));
        let key = whole.and_then(|(key, after)| Some((serde_json::from_str::<String>(key).ok()?, after)));
        let (key, after) = key.unwrap_or_else(|| {
            let (key, after) = from.split_at_checked(from.find('.').unwrap_or(from.len())).unwrap_or((from, ""));
            (key.to_owned(), after)
        });
        keys.push(key);
        rest = after.strip_prefix('.');
    }
    keys
}

/// The member of this name, added if there is none; the last one if there are several. `None` if the node is not an
/// object.
fn member<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    if *node == Node::Scalar("null".to_owned()) {
        *node = Node::Object(Vec::new());
    }
    let Node::Object(members) = node else { return None };
    let named = |written: &str| serde_json::from_str::<String>(written).is_ok_and(|written| written == key);
    let index = members.iter().rposition(|(written, _)| named(written)).unwrap_or(members.len());
    if index == members.len() {
        members.push((Value::from(key).to_string(), Node::Scalar("null".to_owned())));
    }
    members.get_mut(index).map(|(_, node)| node)
}

/// The rest of a text that is known to be valid JSON.
struct Text<'t>(&'t str);

impl<'t> Text<'t> {
    fn node(&mut self) -> Node {
        match self.0.as_bytes().first() {
            Some(b'{') => {
                let mut members = Vec::new();
                self.list('}', |text| {
                    let key = text.scalar().to_owned();
                    text.take(1);
                    members.push((key, text.node()));
                });
                Node::Object(members)
            }
            Some(b'[') => {
                let mut items = Vec::new();
                self.list(']', |text| items.push(text.node()));
                Node::Array(items)
            }
            _ => Node::Scalar(self.scalar().to_owned()),
        }
    }

    /// Calls `entry` for each entry up to the closing bracket.
    fn list(&mut self, close: char, mut entry: impl FnMut(&mut Self)) {
        self.take(1);
        while !self.0.is_empty() && !self.0.starts_with(close) {
            entry(self);
            if self.0.starts_with(',') {
                self.take(1);
            }
        }
        self.take(1);
    }

    /// Takes a string, number or word, as written.
    fn scalar(&mut self) -> &'t str {
        let length = if self.0.starts_with('"') {
            let mut is_escaped = false;
            let end = self.0.bytes().skip(1).position(|byte| {
                let ends = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                ends
            });
            end.map_or(self.0.len(), |end| end + 2)
        } else {
            self.0.find([',', ':', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(self.0.len())
        };
        self.take(length)
    }

    /// Takes `length` bytes, and skips the white space after them.
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.0.split_at_checked(length).unwrap_or((self.0, ""));
        self.0 = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        taken
    }
}

fn print(node: &Node, depth: usize, text: &mut String) {
    let mut entries = |open: char, close: char, count: usize, entry: &mut dyn FnMut(usize, &mut String)| {
        text.push(open);
        for index in 0..count {
            *text += if index == 0 { "\n" } else { ",\n" };
            *text += &INDENT.repeat(depth + 1);
            entry(index, text);
        }
        if count > 0 {
            text.push('\n');
            *text += &INDENT.repeat(depth);
        }
        text.push(close);
    };
    match node {
        Node::Scalar(scalar) => *text += scalar,
        Node::Array(items) => entries('[', ']', items.len(), &mut |index, text| {
            if let Some(item) = items.get(index) {
                print(item, depth + 1, text);
            }
        }),
        Node::Object(members) => entries('{', '}', members.len(), &mut |index, text| {
            if let Some((key, value)) = members.get(index) {
                *text += key;
                *text += ": ";
                print(value, depth + 1, text);
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(document: &str, expected: &str) {
        assert_eq!(record(document, "list", &Value::from(json!({ "a": 1 }))).unwrap().text, expected);
    }

    #[test]
    fn an_entry_is_appended_and_all_else_stays() {
        let entry = "  \"list\": [\n    {\n      \"a\": 1\n    }\n  ]\n";
        check("{}", &format!("{{\n{entry}}}\n"));
        check("{\"list\": null}", &format!("{{\n{entry}}}\n"));
        check(
            "\u{feff}{\"z\":1.10,\"b\":12345678901234567890123,\"z\":\"\\u0041\\\"}\"}",
            &format!(
                "\u{feff}{{\n  \"z\": 1.10,\n  \"b\": 12345678901234567890123,\n  \"z\": \"\\u0041\\\"}}\",\n{entry}}}\n"
            ),
        );
        check(
            "{ \"list\" : [ [ ] , { } ] }",
            "{\n  \"list\": [\n    [],\n    {},\n    {\n      \"a\": 1\n    }\n  ]\n}\n",
        );
        // JSON parsers take the last of several members of one name.
        check(
            "{\"list\": [1], \"b\": 2, \"list\": []}",
            &format!("{{\n  \"list\": [\n    1\n  ],\n  \"b\": 2,\n{entry}}}\n"),
        );
        check("{\r\n\"list\":[]}", "{\r\n  \"list\": [\r\n    {\r\n      \"a\": 1\r\n    }\r\n  ]\r\n}\r\n");
    }

    #[test]
    fn a_key_in_quotes_may_hold_dots() {
        let found = |path: &str| keys(path).join("|");
        assert_eq!(found("a.b.c"), "a|b|c");
        assert_eq!(found(r#"visits."a.b.c".days"#), "visits|a.b.c|days");
        assert_eq!(found(r#""\"q\".x""#), "\"q\".x");
        assert_eq!(found(r#"a."b"c"#), "a|\"b\"c");
        let deep = record("{}", r#"visits."a.b""#, &Value::from(1)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&deep.text).unwrap(), json!({ "visits": { "a.b": [1] } }));
    }

    #[test]
    fn a_path_goes_through_objects_alone() {
        let deep = record("{\"a\": {\"b\": {}}}", "a.b.c", &Value::from(1)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&deep.text).unwrap(), json!({ "a": { "b": { "c": [1] } } }));
        assert!(record("{\"a\": 1}", "a.b", &Value::from(1)).is_err());
        for broken in ["", "{", "[]", "1", "{\"a\": 1,}", "{} x", "nul"] {
            assert!(record(broken, "a", &Value::from(1)).is_err(), "{broken}");
        }
        assert_eq!(record("{\"a\": \"x\"}", "a", &Value::from(1)).unwrap().instead.as_deref(), Some("\"x\""));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~é\"\\\\\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-z\" é]{0,4}", inner), 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn no_member_is_ever_lost(
            members in prop::collection::vec(("[a-z\" é]{0,4}", value()), 0..5), list in prop::option::of(value()),
            mark in any::<bool>(), pretty in any::<bool>(), entry in value(),
        ) {
            let mut document: rulebook::Object = members.into_iter().collect();
            document.extend(list.map(|list| ("the list".to_owned(), list)));
            let text = if pretty { format!("{:#}", Value::Object(document.clone())) } else { Value::Object(document.clone()).to_string() };
            let mark = if mark { "\u{feff}" } else { "" };
            let recorded = record(&format!("{mark}{text}"), "the list", &entry).unwrap();
            prop_assert!(recorded.text.starts_with(mark));
            let after: rulebook::Object = serde_json::from_str(recorded.text.trim_start_matches('\u{feff}')).unwrap();
            let mut expected = match document.get("the list") { Some(Value::Array(items)) => items.to_vec(), _ => Vec::new() };
            expected.push(entry);
            document.insert("the list".to_owned(), expected.into());
            prop_assert!(after.iter().eq(document.iter()), "{after:?}");
        }
    }
}
