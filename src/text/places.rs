//! Places in JSON: where in the text is the value at a pointer?
//!
//! In: a text that is valid JSON, and JSON pointers.
//! Out: [`JsonPlaces`], which returns the places of names and values.
//! Never: checks whether a text is valid, or scans the same object twice.

use super::{JsonCursor, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// The names and indices in a JSON pointer, from the outside in.
pub(crate) fn pointer_steps(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(|step| match step.contains('~') {
        true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(step),
    })
}

/// The places of the parts of a JSON text.
#[derive(Debug)]
pub struct JsonPlaces<'t> {
    text: &'t str,
    whole: PathSegment,
    /// The parts of each object and list that has been scanned, by the offset of its first byte.
    known: HashMap<usize, HashMap<String, PathSegment>>,
}

/// A member of an object, or an entry of a list.
#[derive(Debug, Clone, Copy)]
struct PathSegment {
    /// The name, with its quotes; `None` for an entry of a list.
    name: Option<Span>,
    value: Span,
}

impl<'t> JsonPlaces<'t> {
    /// The places in `text`, which is valid JSON.
    pub fn new(text: &'t str) -> Self {
        let mut cursor = JsonCursor::new(text, 0);
        cursor.skip_space();
        let start = cursor.at;
        cursor.skip_value();
        Self { text, whole: PathSegment { name: None, value: Span::new(start, cursor.at) }, known: HashMap::new() }
    }

    /// The place of the value at a JSON pointer or, if there is none, of the nearest value that contains it. For a
    /// value of several lines, the place of its name or, without a name, of its first byte.
    pub fn value(&mut self, pointer: &str) -> Span {
        let PathSegment { name, value } = self.part(pointer);
        if value.of(self.text).contains('\n') {
            return name.unwrap_or(Span::new(value.start, value.start + 1));
        }
        value
    }

    /// The place of the name of the value at a JSON pointer, or of the value if it has no name.
    pub fn name(&mut self, pointer: &str) -> Span {
        let PathSegment { name, value } = self.part(pointer);
        name.unwrap_or(value)
    }

    fn part(&mut self, pointer: &str) -> PathSegment {
        let mut part = self.whole;
        for step in pointer_steps(pointer) {
            let start = part.value.start;
            let parts = self.known.entry(start).or_insert_with(|| parts(self.text, start));
            let Some(next) = parts.get(&*step) else { break };
            part = *next;
        }
        part
    }
}

/// The parts of the object or list at `start`. Of members with the same name, the last counts.
fn parts(text: &str, start: usize) -> HashMap<String, PathSegment> {
    let mut parts = HashMap::new();
    let mut cursor = JsonCursor::new(text, start);
    let end = match cursor.byte() {
        b'{' => b'}',
        b'[' => b']',
        _ => return parts,
    };
    while cursor.step() != end {
        let mut name = None;
        if end == b'}' {
            let from = cursor.at;
            cursor.string();
            name = Some(Span::new(from, cursor.at));
            // The colon.
            cursor.step();
        }
        let from = cursor.at;
        cursor.skip_value();
        let value = Span::new(from, cursor.at);
        let key = match name {
            Some(name) => serde_json::from_str(name.of(text)).unwrap_or_default(),
            None => parts.len().to_string(),
        };
        parts.insert(key, PathSegment { name, value });
        if cursor.next_is_end(end) {
            break;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ \"mode\": \"a\",\n \"state\": { \"a/b~\": [1, {\"\\u0078\": [\n]}, \"]\"], \"n\": {}, \"n\": -1.5e3 },\n\"now\" : null }";

    #[track_caller]
    fn check(pointer: &str, name: &str, value: &str) {
        let mut places = JsonPlaces::new(TEXT);
        assert_eq!(places.name(pointer).of(TEXT), name);
        assert_eq!(places.value(pointer).of(TEXT), value);
        // The second look-up uses the stored places.
        assert_eq!(places.value(pointer).of(TEXT), value);
    }

    #[test]
    fn a_pointer_gives_a_name_and_a_value() {
        check("", TEXT, "{");
        check("/mode", "\"mode\"", "\"a\"");
        check("/now", "\"now\"", "null");
        check("/state", "\"state\"", "\"state\"");
        check("/state/a~1b~0/0", "1", "1");
        check("/state/a~1b~0/1", "{\"\\u0078\": [\n]}", "{");
        check("/state/a~1b~0/1/x", "\"\\u0078\"", "\"\\u0078\"");
        check("/state/a~1b~0/2", "\"]\"", "\"]\"");
        check("/state/n", "\"n\"", "-1.5e3");
    }

    #[test]
    fn a_pointer_to_nothing_gives_what_is_around_it() {
        check("/state/n/none", "\"n\"", "-1.5e3");
        check("/mode/0/x", "\"mode\"", "\"a\"");
    }
}
