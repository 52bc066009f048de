//! Amending: where in a document does an addition go?
//!
//! In: a Markdown document, the heading of a section, and the addition.
//! Out: [`Amended`]: the document with the addition at the end of the best matching section; or `None` if it cannot be
//! added.
//! Never: changes, moves or hides anything of the document: without the addition, the result is the document, byte for
//! byte.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The fewest letters of a word that counts as a keyword of a heading.
const MIN_KEYWORD_LETTERS: usize = 4;

/// A text to add to a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addition<'a> {
    /// The heading of the section to add it to.
    pub(super) section: &'a str,
    /// The heading line of a section to append if none matches; empty for none.
    pub(super) otherwise: &'a str,
    /// A line to put before the text; empty for none.
    pub(super) marker: &'a str,
    /// The text to add.
    pub(super) text: &'a str,
}

/// A document with the addition in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amended {
    pub(super) text: String,
    /// The heading of the section that was chosen.
    pub(super) section: String,
    /// The range of the addition in `text`.
    pub(super) added: Range<usize>,
}

/// A heading at the top level of a document. Headings inside quotes and lists do not open sections.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Heading {
    /// The offset at which its line starts.
    start: usize,
    text: String,
}

/// The document with the addition; `None` if the addition would hide a later heading, as an open code fence does.
pub(super) fn amend(document: &str, addition: &Addition<'_>) -> Option<Amended> {
    let known = headings(document);
    let (at, section, opener) = match chosen(&known, addition) {
        Some(index) => {
            let end = known.get(index + 1).map_or(document.len(), |next| next.start);
            (end, known.get(index)?.text.clone(), "")
        }
        None => (document.len(), heading_of(addition.otherwise), addition.otherwise),
    };
    let (before, after) = (document.get(..at)?, document.get(at..)?);
    let mut added = gap(before).to_owned();
    for (part, end) in [(opener, "\n\n"), (addition.marker, "\n"), (addition.text.trim_end(), "\n")] {
        added.extend([part, end].into_iter().filter(|_| !part.is_empty()));
    }
    if !after.is_empty() {
        added.push('\n');
    }
    if document.contains("\r\n") {
        added = added.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let text = [before, &added, after].concat();
    let added = at..at + added.len();
    keeps(&text, &added, &known).then_some(Amended { text, section, added })
}

/// The line breaks that complete an empty line between `before` and the addition.
fn gap(before: &str) -> &'static str {
    let blanks = ['\r', ' ', '\t'];
    let before = before.trim_end_matches(blanks);
    match before.strip_suffix('\n').map(|rest| rest.trim_end_matches(blanks)) {
        _ if before.is_empty() => "",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "",
        Some(_) => "\n",
        None => "\n\n",
    }
}

/// Whether all headings of the document are still headings, and at their places.
fn keeps(text: &str, added: &Range<usize>, known: &[Heading]) -> bool {
    let mut left = headings(text);
    left.retain(|heading| !added.contains(&heading.start));
    for heading in &mut left {
        if heading.start >= added.end {
            heading.start -= added.len();
        }
    }
    left == known
}

/// The index of the section to add to: the one with the same heading, or else the one whose heading shares the most
/// keywords, or else the one that an earlier addition has appended.
fn chosen(known: &[Heading], addition: &Addition<'_>) -> Option<usize> {
    let called = |name: &str| {
        let name = plain(name);
        known.iter().position(|heading| !name.is_empty() && plain(&heading.text) == name)
    };
    let keywords = keywords(addition.section);
    let shared = |heading: &Heading| {
        let heading = plain(&heading.text);
        keywords.iter().filter(|word| heading.contains(word.as_str())).count()
    };
    let most = known.iter().map(shared).max().filter(|most| *most > 0);
    called(addition.section)
        .or_else(|| known.iter().position(|heading| Some(shared(heading)) == most))
        .or_else(|| called(&heading_of(addition.otherwise)))
}

/// The keywords of a heading, each once.
fn keywords(title: &str) -> Vec<String> {
    let mut words: Vec<String> = plain(title)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= MIN_KEYWORD_LETTERS)
        .map(str::to_owned)
        .collect();
    words.sort();
    words.dedup();
    words
}

/// The text in lower case, with single spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The text of the heading that a Markdown line contains; the line itself if it is not a heading.
fn heading_of(line: &str) -> String {
    headings(line).into_iter().next().map_or_else(|| line.trim().to_owned(), |heading| heading.text)
}

fn headings(document: &str) -> Vec<Heading> {
    let bytes_of_mark = document.len() - document.trim_start_matches('\u{feff}').len();
    let body = document.get(bytes_of_mark..).unwrap_or_default();
    let mut headings = Vec::new();
    let (mut depth, mut open) = (0_usize, None::<Heading>);
    for (event, range) in Parser::new_ext(body, Options::ENABLE_YAML_STYLE_METADATA_BLOCKS).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) if depth == 0 => {
                let start =
                    body.get(..range.start).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |at| at + 1);
                let start = if start == 0 { 0 } else { start + bytes_of_mark };
                open = Some(Heading { start, text: String::new() });
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Heading(_), 0, Some(heading)) = (end, depth, &mut open) {
                    heading.text = heading.text.trim().to_owned();
                    headings.extend(open.take());
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut open {
                    heading.text += &text;
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(document: &str, section: &str, expected: &str) {
        let addition = Addition { section, otherwise: "### More", marker: "<!-- m -->", text: "new\n" };
        let amended = amend(document, &addition).unwrap();
        assert_eq!(amended.text, expected);
    }

    #[test]
    fn an_addition_ends_the_section_that_fits_best() {
        check("# A\n\nx\n\n## Risks\n\ny\n", "a", "# A\n\nx\n\n<!-- m -->\nnew\n\n## Risks\n\ny\n");
        check("# A\nx\n## B\ny", "B", "# A\nx\n## B\ny\n\n<!-- m -->\nnew\n");
        check(
            "# One\n# User stories\n# The user journeys\n",
            "User Journeys",
            "# One\n# User stories\n# The user journeys\n\n<!-- m -->\nnew\n",
        );
        check("# Risk\n# Risks\n", "A risk", "# Risk\n\n<!-- m -->\nnew\n\n# Risks\n");
        check("Title\n=====\r\n\r\nx\r\n", "Title", "Title\n=====\r\n\r\nx\r\n\r\n<!-- m -->\r\nnew\r\n");
    }

    #[test]
    fn an_addition_without_a_matching_section_gets_one_shared_section() {
        check("", "Any", "### More\n\n<!-- m -->\nnew\n");
        let once = "x\n\n### More\n\n<!-- m -->\nnew\n";
        check("x\n", "Any", once);
        check(once, "Any", "x\n\n### More\n\n<!-- m -->\nnew\n\n<!-- m -->\nnew\n");
    }

    #[test]
    fn only_headings_of_the_document_open_sections() {
        check("# A\n\n```\n# B\n```\n", "B", "# A\n\n```\n# B\n```\n\n### More\n\n<!-- m -->\nnew\n");
        check("> # B\n", "B", "> # B\n\n### More\n\n<!-- m -->\nnew\n");
        check("---\nB: x\n---\n# A\n", "A", "---\nB: x\n---\n# A\n\n<!-- m -->\nnew\n");
        check("\u{feff}# A\n# B\n", "A", "\u{feff}# A\n\n<!-- m -->\nnew\n\n# B\n");
    }

    #[test]
    fn an_addition_that_hides_what_follows_is_refused() {
        let addition = Addition { section: "A", otherwise: "", marker: "", text: "```\nopen" };
        assert_eq!(amend("# A\n\n# B\n", &addition), None);
        assert!(amend("# A\n", &addition).is_some());
    }

    fn line() -> impl Strategy<Value = String> {
        let words = prop::sample::select(&["Risks", "user", "journeys", "é", "`code`", "*x*", "a"][..]);
        let start = prop::sample::select(
            &[
                "", "", "# ", "## ", "   ### ", "#", "> # ", "- # ", "```", "~~~", "===", "---", "    # ", "<!--",
                "-->", "<div>", "\t", "|",
            ][..],
        );
        let end = prop::sample::select(&["\n", "\n", "\n\n", "\r\n", " \n", ""][..]);
        (start, words, end).prop_map(|(start, words, end)| format!("{start}{words}{end}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100_000))]
        #[test]
        fn without_the_addition_the_document_is_the_same(
            lines in prop::collection::vec(line(), 0..12), text in line(), marker in any::<bool>(), section in "Risks|user journeys|none|",
        ) {
            let document: String = lines.concat();
            let marker = if marker { "<!-- here -->" } else { "" };
            let addition = Addition { section: &section, otherwise: "### More", marker, text: &text };
            if let Some(amended) = amend(&document, &addition) {
                let mut rest = amended.text.clone();
                let added: String = rest.drain(amended.added.clone()).collect();
                prop_assert_eq!(rest, document);
                prop_assert!(added.contains(text.trim_end()) && added.contains(marker));
            }
        }
    }
}
