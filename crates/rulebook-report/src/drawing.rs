//! Drawing: how is a diagnostic printed with the lines of its source?
//!
//! In: a diagnostic and the sources it points into.
//! Out: the message, the marked lines and the help, with terminal colours.
//! Never: checks whether there is a terminal; the caller strips the colours.

use super::window::{Window, place_of};
use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use rulebook::text::{Location, Place, Source, Span, boundary, one_line};
use rulebook::{Code, Diagnostic, Severity, Sources};
use std::fmt;

/// Formats text for people.
#[derive(Debug, Clone)]
pub struct Pen {
    /// The name of each folder in messages, with its path as the user typed it.
    paths: Vec<(String, String)>,
    renderer: Renderer,
}

/// A marked span of a source.
pub(super) struct Mark<'a> {
    pub(super) source: &'a Source,
    pub(super) span: Span,
    pub(super) label: Option<String>,
    pub(super) primary: bool,
}

/// Everything to draw for one diagnostic.
pub(super) struct Picture<'a> {
    pub(super) severity: Severity,
    pub(super) code: String,
    pub(super) message: String,
    pub(super) marks: Vec<Mark<'a>>,
    /// Lines below the source, each a word, a colon and a text.
    pub(super) notes: Vec<(&'static str, String)>,
}

impl Default for Pen {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Pen {
    /// A pen that prints paths of folders: pairs of a folder's name in messages, and its path.
    pub fn new(paths: Vec<(String, String)>) -> Self {
        Self { paths, renderer: Renderer::styled() }
    }

    /// `name`, in which the name of the innermost known folder is replaced by the path that the user typed.
    pub fn display_name(&self, name: &(impl fmt::Display + ?Sized)) -> String {
        let name = &name.to_string();
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

    /// Draws diagnostics about the files in `sources`, each followed by a blank line.
    pub fn diagnostics(&self, sources: &Sources, diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().map(|diagnostic| self.diagnostic(sources, diagnostic) + "\n").collect()
    }

    /// Draws a diagnostic about the files in `sources`.
    pub fn diagnostic(&self, sources: &Sources, diagnostic: &Diagnostic) -> String {
        let mark = |at: Location, label: Option<String>, primary| {
            sources.get(at.source).map(|source| Mark { source, span: at.span, label, primary })
        };
        let first = diagnostic.at.and_then(|at| mark(at, diagnostic.label.clone(), true));
        let others = diagnostic.labels.iter().filter_map(|label| mark(label.at, Some(label.text.clone()), false));
        let mut notes: Vec<(&str, String)> = diagnostic.help.iter().map(|help| ("help", help.to_string())).collect();
        if diagnostic.code == Code::INTERNAL {
            notes.push(("help", "this is a fault of rulebook, not of your files: please report it".to_owned()));
        }
        notes.push(("more", format!("rulebook explain {}", diagnostic.code)));
        self.draw(&Picture {
            severity: diagnostic.severity,
            code: diagnostic.code.to_string(),
            message: diagnostic.message.to_string(),
            marks: first.into_iter().chain(others).collect(),
            notes,
        })
    }

    /// Draws a picture, ending with a line break.
    pub(super) fn draw(&self, picture: &Picture<'_>) -> String {
        let level = match picture.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        let mut group = Group::with_title(level.primary_title(&picture.message).id(&picture.code));
        let mut windows: Vec<(&Source, Window<'_>)> = Vec::new();
        for mark in &picture.marks {
            if !windows.iter().any(|(source, _)| std::ptr::eq(*source, mark.source)) {
                windows.push((mark.source, Window::of(mark.source, picture.marks_in(mark.source).map(Mark::clamped))));
            }
        }
        let mut origins = Vec::new();
        for (source, window) in &windows {
            let marks = || picture.marks_in(source);
            let path = one_line(&self.display_name(source.name())).into_owned();
            if source.text().is_empty() {
                // A file that is not read, or has nothing to show.
                origins.push(None);
                group = group.element(Origin::path(path).line(1).char_column(1));
                continue;
            }
            let any = marks().any(|mark| mark.primary);
            let first = marks().filter(|mark| mark.primary || !any).map(Mark::clamped);
            origins.push(window.shifted.then(|| (path.clone(), place_of(source, first))));
            group = group.element(
                Snippet::source(window.text.as_ref())
                    .line_start(window.line)
                    .path(path)
                    .annotations(marks().map(|mark| annotation(mark, window))),
            );
        }
        for (name, text) in &picture.notes {
            let level = if *name == "help" { Level::HELP } else { Level::NOTE.with_name(*name) };
            group = group.element(level.message(text));
        }
        framed(&self.renderer.render(&[group]), &origins)
    }
}

impl<'a> Picture<'a> {
    fn marks_in(&self, source: &Source) -> impl Iterator<Item = &Mark<'a>> {
        self.marks.iter().filter(move |mark| std::ptr::eq(mark.source, source))
    }
}

impl Mark<'_> {
    /// The span of the mark, moved to character boundaries.
    fn clamped(&self) -> Span {
        let text = self.source.text();
        Span::new(boundary(text, self.span.start), boundary(text, self.span.end))
    }
}

fn annotation<'a>(mark: &'a Mark<'_>, window: &Window<'_>) -> Annotation<'a> {
    let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let span = window.span(mark.clamped());
    kind.span(span.start..span.end).label(mark.label.as_deref())
}

/// The rendered text with box-drawing characters in place of dashes and bars, and without lines that have nothing but a
/// bar. If a part of a line was left out or escaped, the place of a source comes from `origins`: the renderer would
/// count the columns of the shortened text.
fn framed(drawn: &str, origins: &[Option<(String, Place)>]) -> String {
    let mut origins = origins.iter();
    let mut text = String::with_capacity(drawn.len() + 64);
    for line in drawn.lines() {
        match frame_of(line) {
            Some(Gutter::Arrow(at, length)) => {
                let (before, rest) = line.split_at(at);
                let corner = if rest.starts_with(':') { " ├─" } else { " ┌─" };
                let name = rest.get(length..).unwrap_or_default();
                let placed = origins.next().and_then(Option::as_ref).and_then(|(path, place)| {
                    let at = name.find(path.as_str())?;
                    Some(format!("{}{path}:{place}", name.get(..at)?))
                });
                text.extend([before, corner, placed.as_deref().unwrap_or(name)]);
            }
            Some(Gutter::Bar(at, alone)) => {
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

/// What the renderer draws in the gutter of a line.
enum Gutter {
    /// `-->` or `:::` before the name of a source: its offset and length.
    Arrow(usize, usize),
    /// The bar: its offset, and whether it is alone on the line.
    Bar(usize, bool),
}

fn frame_of(line: &str) -> Option<Gutter> {
    let mut escaped = false;
    let mut visible = line.char_indices().filter(|(_, c)| {
        let windows = !escaped && *c != '\u{1b}';
        escaped = (escaped || *c == '\u{1b}') && *c != 'm';
        windows
    });
    let (at, first) = visible.find(|(_, c)| *c != ' ' && !c.is_ascii_digit())?;
    match first {
        '|' => {
            let before_is_blank =
                !line.get(..at).is_some_and(|before| unpainted(before).contains(|c: char| c.is_ascii_digit()));
            Some(Gutter::Bar(at, before_is_blank && visible.all(|(_, c)| c == ' ')))
        }
        '-' | ':' if line.get(at..).is_some_and(|rest| rest.starts_with("-->") || rest.starts_with(":::")) => {
            Some(Gutter::Arrow(at, 3))
        }
        _ => None,
    }
}

/// `text` without the escape sequences of a terminal.
pub fn unpainted(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The colours of reports.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
pub(super) const WARN: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
pub(super) const BAD: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);
pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().effects(Effects::BOLD);
pub(super) const FAINT: Style = Style::new().effects(Effects::DIMMED);

/// `text` in `style`.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Rows in columns as wide as their longest cell; the columns in `right` are aligned to the right. The last column is
/// not padded.
pub(super) fn table<const N: usize>(rows: &[(Style, [String; N])], right: &[usize]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|(_, row)| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for (style, row) in rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match right.contains(&column) {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        text += &paint(*style, cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
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
    fn marks_in_long_and_bidirectional_lines_are_in_the_right_place() {
        let at = |text: &str, expected: &str| {
            let text = text.to_owned();
            let start = text.find("here").unwrap();
            check(
                |sources| {
                    let source = sources.add(Source::new("x/a.toml", text));
                    Diagnostic::new(Code::CASE_SYNTAX, Location { source, span: Span::new(start, start + 4) }, "m")
                },
                &format!("error[case/syntax]: m\n{expected}  = more: rulebook explain case/syntax\n"),
            );
        };
        at("a\n\u{202e}b here\n", "  ┌─ rules/x/a.toml:2:4\n2 │ \\u{202e}b here\n  │           ^^^^\n");
        let long = "ab ".repeat(100_000);
        let side = "ab ".repeat(21);
        let drawn = format!("  ┌─ rules/x/a.toml:1:300001\n1 │ ...{side}here{side}...\n");
        at(&format!("{long}here{long}"), &format!("{drawn}  │ {}^^^^\n", " ".repeat(66)));
    }

    #[test]
    fn any_span_can_be_drawn() {
        let long = "äb".repeat(40) + "\u{202e}x\n";
        for text in [long.as_str(), "", "\n", "a", "ä\r\n\tb|", "--> \n| x\n:::\n", "\u{1b}[31mred\n\n\n\n\n\n\n\nend"]
        {
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
