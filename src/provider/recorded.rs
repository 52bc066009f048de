//! Recorded: is this text one message of a provider, or the chunks of a stream?
//!
//! In: the text of a file.
//! Out: the chunks: the data of server-sent events, or else each line that is JSON; `None` if the text is one
//! message.
//! Never: reads a message.

use serde::de::IgnoredAny;

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The chunks that a text records; `None` if it is one message.
pub(crate) fn chunks(text: &str) -> Option<Vec<String>> {
    let text = text.trim_start_matches('\u{feff}');
    if is_json(text) {
        return None;
    }
    if lines(text).any(|line| line.starts_with("data:")) {
        return Some(events(text));
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek()?;
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.iter().all(|line| line == "[DONE]" || is_json(line)).then_some(lines)
}

/// The lines of a text, each of which ends as the HTML standard permits: with `\n`, `\r\n` or `\r`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// The data of server-sent events, as the HTML standard joins its lines. Data that is JSON already ends with its line: a
/// log may have lost the empty lines between events.
fn events(text: &str) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    let mut data: Option<String> = None;
    for line in lines(text) {
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(more) = line.strip_prefix("data:") {
            let more = more.strip_prefix(' ').unwrap_or(more);
            if data.as_deref().is_some_and(|data| data == "[DONE]" || is_json(data)) {
                events.extend(data.take());
            }
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(more);
                }
                None => data = Some(more.to_owned()),
            }
        }
    }
    events.extend(data);
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&[&str]>) {
        let found = chunks(text);
        assert_eq!(found.as_ref().map(|found| found.iter().map(String::as_str).collect()), expected.map(<[_]>::to_vec));
    }

    #[test]
    fn events_lines_and_whole_messages_are_distinguished() {
        check("{\n}\n", None);
        check("no JSON", None);
        check("", None);
        check("{\"a\": 1}\n{\"b\": 2}\n[DONE]\n", Some(&["{\"a\": 1}", "{\"b\": 2}", "[DONE]"]));
        check("event: ping\ndata: {}\n\ndata: {\"a\":\ndata: 1}\n: comment\n\n", Some(&["{}", "{\"a\":\n1}"]));
        check("data: [DONE]", Some(&["[DONE]"]));
        check("data: {}\ndata: {\"a\":\ndata: 1}\ndata: [DONE]\n", Some(&["{}", "{\"a\":\n1}", "[DONE]"]));
        check("data: {}\r\rdata: {}\r\r", Some(&["{}", "{}"]));
        check("data: {}\r\n\r\ndata: {}\r\n", Some(&["{}", "{}"]));
    }
}
