//! Drawing: where in its source does a diagnostic stand, and what does the line look like?
//!
//! In: a diagnostic and the sources it points into.
//! Out: the sentence, the marked lines and the advice, in the colours of a terminal.
//! Never: asks whether there is a terminal; whoever writes the text strips the colours.

use super::one_line;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::text::{Location, Source, Sources, Span};
use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

/// Lays text out for people.
#[derive(Debug, Clone)]
pub struct Pen {
    /// The name of each folder in messages, and its path as the user would type it.
    paths: Vec<(String, String)>,
    renderer: Renderer,
}

/// One place to mark.
pub(super) struct Mark<'a> {
    pub(super) source: &'a Source,
    pub(super) span: Span,
    pub(super) label: Option<String>,
    pub(super) primary: bool,
}

/// What is drawn of one diagnostic.
pub(super) struct Picture<'a> {
    pub(super) severity: Severity,
    pub(super) code: String,
    pub(super) message: String,
    pub(super) marks: Vec<Mark<'a>>,
    /// Lines below the source, each with a word before its colon.
    pub(super) notes: Vec<(&'static str, String)>,
}

impl Default for Pen {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Pen {
    /// A pen that shows the folders called by the first of each pair as the path that is its second.
    pub fn new(paths: Vec<(String, String)>) -> Self {
        Self { paths, renderer: Renderer::styled() }
    }

    /// `name`, with the path that a user would type instead of its folder's name.
    pub fn shown(&self, name: &str) -> String {
        self.paths
            .iter()
            .filter_map(|(known, typed)| {
                let rest = name.strip_prefix(known.as_str())?.strip_prefix('/')?;
                let folder = typed.trim_end_matches('/');
                Some((known.len(), if folder == "." { rest.to_owned() } else { format!("{folder}/{rest}") }))
            })
            .max_by_key(|(length, _)| *length)
            .map_or_else(|| name.to_owned(), |(_, path)| path)
    }

    /// Draws one diagnostic about the files of `sources`.
    pub fn diagnostic(&self, sources: &Sources, diagnostic: &Diagnostic) -> String {
        let mark = |at: Location, label: Option<String>, primary| {
            sources.get(at.source).map(|source| Mark { source, span: at.span, label, primary })
        };
        let first = diagnostic.at.and_then(|at| mark(at, diagnostic.label.clone(), true));
        let others = diagnostic.labels.iter().filter_map(|label| mark(label.at, Some(label.text.clone()), false));
        let mut notes: Vec<(&str, String)> = diagnostic.help.iter().map(|help| ("help", help.clone())).collect();
        if diagnostic.code == Code::INTERNAL {
            notes.push(("help", "this is a fault of rulebook, not of your files: please report it".to_owned()));
        }
        notes.push(("more", format!("rulebook explain {}", diagnostic.code)));
        self.draw(&Picture {
            severity: diagnostic.severity,
            code: diagnostic.code.to_string(),
            message: diagnostic.message.clone(),
            marks: first.into_iter().chain(others).collect(),
            notes,
        })
    }

    /// Draws a picture, with a line break at its end.
    pub(super) fn draw(&self, picture: &Picture<'_>) -> String {
        let level = match picture.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        let mut group = Group::with_title(level.primary_title(&picture.message).id(&picture.code));
        let mut drawn: Vec<*const Source> = Vec::new();
        for mark in &picture.marks {
            if drawn.contains(&std::ptr::from_ref(mark.source)) {
                continue;
            }
            drawn.push(mark.source);
            let same = picture.marks.iter().filter(|other| std::ptr::eq(other.source, mark.source));
            group = group.element(
                Snippet::source(mark.source.text())
                    .path(one_line(&self.shown(mark.source.name())))
                    .annotations(same.map(annotation)),
            );
        }
        for (name, text) in &picture.notes {
            let level = if *name == "help" { Level::HELP } else { Level::NOTE.with_name(*name) };
            group = group.element(level.message(text));
        }
        framed(&self.renderer.render(&[group]))
    }
}

fn annotation<'a>(mark: &'a Mark<'_>) -> Annotation<'a> {
    let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let text = mark.source.text();
    let on_boundary = |mut offset: usize| {
        offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = on_boundary(mark.span.start);
    let end = on_boundary(mark.span.end).max(start);
    kind.span(start..end).label(mark.label.as_deref())
}

/// The text with a frame of lines instead of dashes and bars, and without the lines that hold nothing else.
fn framed(drawn: &str) -> String {
    let mut text = String::with_capacity(drawn.len() + 64);
    for line in drawn.lines() {
        match frame_of(line) {
            Some(Frame::Arrow(at, length)) => {
                let (before, rest) = line.split_at(at);
                let corner = if rest.starts_with(':') { " ├─" } else { " ┌─" };
                text.extend([before, corner, rest.get(length..).unwrap_or_default()]);
            }
            Some(Frame::Bar(at, alone)) => {
                if alone {
                    continue;
                }
                let (before, rest) = line.split_at(at);
                text.extend([before, "│", rest.get(1..).unwrap_or_default()]);
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// The mark of the gutter in a line.
enum Frame {
    /// `-->` or `:::` before the name of a source: where it starts, and its length.
    Arrow(usize, usize),
    /// The bar: where it stands, and whether the line has nothing else.
    Bar(usize, bool),
}

fn frame_of(line: &str) -> Option<Frame> {
    let mut escaped = false;
    let mut visible = line.char_indices().filter(|(_, c)| {
        let shown = !escaped && *c != '\u{1b}';
        escaped = (escaped || *c == '\u{1b}') && *c != 'm';
        shown
    });
    let (at, first) = visible.find(|(_, c)| *c != ' ' && !c.is_ascii_digit())?;
    match first {
        '|' => {
            let before_is_blank =
                !line.get(..at).is_some_and(|before| unpainted(before).contains(|c: char| c.is_ascii_digit()));
            Some(Frame::Bar(at, before_is_blank && visible.all(|(_, c)| c == ' ')))
        }
        '-' | ':' if line.get(at..).is_some_and(|rest| rest.starts_with("-->") || rest.starts_with(":::")) => {
            Some(Frame::Arrow(at, 3))
        }
        _ => None,
    }
}

/// `text` without the escapes of a terminal.
pub fn unpainted(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The colours of this house.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
pub(super) const WARN: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
pub(super) const BAD: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);
pub(super) const STRONG: Style = Style::new().effects(Effects::BOLD);
pub(super) const FAINT: Style = Style::new().effects(Effects::DIMMED);

/// `text` in `style`.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(diagnostic: impl FnOnce(&mut Sources) -> Diagnostic, expected: &str) {
        let mut sources = Sources::default();
        let diagnostic = diagnostic(&mut sources);
        let pen = Pen::new(vec![("x".into(), "rules/x".into())]);
        assert_eq!(unpainted(&pen.diagnostic(&sources, &diagnostic)), expected);
    }

    #[test]
    fn a_diagnostic_shows_its_line_its_label_and_its_help() {
        let text = "a\npermits = [\"close_the_gte\"]\n";
        check(
            |sources| {
                let source = sources.add(Source::new("x/modes.toml", text));
                let at = Location { source, span: Span::new(13, 28) };
                Diagnostic::new(Code::PACK_UNKNOWN_ACTION, at, "no pack declares an action `close_the_gte`")
                    .with_label("permitted here")
                    .with_help("did you mean `close_the_gate`?")
            },
            "error[pack/unknown-action]: no pack declares an action `close_the_gte`\n\
             \u{20} ┌─ rules/x/modes.toml:2:12\n\
             2 │ permits = [\"close_the_gte\"]\n\
             \u{20} │            ^^^^^^^^^^^^^^^ permitted here\n\
             \u{20} = help: did you mean `close_the_gate`?\n\
             \u{20} = more: rulebook explain pack/unknown-action\n",
        );
    }

    #[test]
    fn any_span_can_be_drawn() {
        for text in ["", "\n", "a", "ä\r\n\tb|", "--> \n| x\n:::\n", "\u{1b}[31mred\n\n\n\n\n\n\n\nend"] {
            let mut sources = Sources::default();
            let source = sources.add(Source::new("x", text));
            for start in 0..text.len() + 2 {
                for end in start..text.len() + 3 {
                    let at = Location { source, span: Span::new(start, end) };
                    let diagnostic = Diagnostic::new(Code::CASE_SYNTAX, at, "m").with_place(at, "here");
                    assert!(unpainted(&Pen::default().diagnostic(&sources, &diagnostic)).contains("case/syntax"));
                }
            }
        }
    }
}
