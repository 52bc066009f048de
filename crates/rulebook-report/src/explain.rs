//! Explanations: how are a page, a table and a matrix printed?
//!
//! In: the embedded pages, and the tables of a program.
//! Out: a page with its generated lines, the degradation table, the permit matrix, the table of what streams wait for.
//! Never: has explanations of its own: all texts come from a page or a pack.

use super::drawing::{BAD, FAINT, GOOD, Pen, STRONG, WARN, paint, table};
use indexmap::IndexSet;
use rulebook::diagnostic::{Page, bare};
use rulebook::program::{DegradationRow, Permission, PermitCell, WaitRow};
use rulebook::text::one_line;
use rulebook::{Defect, FilePlace, Strategy};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

impl Pen {
    /// A page; that of a defect ends with its strategies, that of a strategy with its defects.
    pub fn page(&self, page: &Page) -> String {
        let mut text = String::new();
        // The backticks of the fence that is open.
        let mut fence: Option<&str> = None;
        for line in page.text.trim_end().lines() {
            let marks = line.split_once(|c| c != '`').map_or(line, |(marks, _)| marks);
            match fence {
                Some(open) if line == open => fence = None,
                None if marks.len() >= 3 => {
                    fence = Some(marks);
                    text += &snippet_title(line);
                }
                _ => page_line(line, fence.is_some(), &mut text),
            }
        }
        let name = bare(page.code);
        if let (true, Some(defect)) = (page.code.starts_with("response/"), Defect::from_name(name)) {
            _ = writeln!(text, "\n{}", strategies_of(defect));
        } else if let (false, Some(strategy)) = (page.code.contains('/'), Strategy::from_name(name)) {
            _ = writeln!(text, "\n{}", defects_of(strategy));
        }
        text
    }

    /// The list of all pages, each with its first sentence.
    pub fn contents(&self, pages: &[Page]) -> String {
        let width = pages.iter().map(|page| page.code.len()).max().unwrap_or(0);
        let mut text = String::new();
        for page in pages {
            let about = page.text.split("\n\n").map(str::trim).find(|part| !part.is_empty() && !part.starts_with('#'));
            let about = about.unwrap_or_default().replace('\n', " ");
            let sentence = about.split_inclusive(". ").next().unwrap_or_default().trim_end();
            let sentence = without_links(sentence);
            _ = writeln!(text, "{}  {sentence}", paint(STRONG, &format!("{:<width$}", page.code)));
        }
        text
    }

    /// The complete degradation table.
    pub fn degradation(&self, rows: &[DegradationRow]) -> String {
        let mut lines = vec![(FAINT, ["defect", "strategy", "declared by", ""].map(str::to_owned))];
        lines.extend(rows.iter().map(|row| {
            let strategies: Vec<&str> = row.strategies.iter().map(|strategy| strategy.name()).collect();
            let rule = row.rule.as_ref().map(|rule| self.display_name(rule)).unwrap_or_default();
            let style = if row.rule.is_some() { STRONG } else { FAINT };
            (style, [row.defect.name().to_owned(), strategies.join(", "), row.declared_by.to_string(), rule])
        }));
        table(&lines, &[])
    }

    /// The table of when a stream emits each kind of text, and of the declaration that makes it wait.
    pub fn waits(&self, rows: &[WaitRow]) -> String {
        let mut lines = vec![(FAINT, ["mode", "text", "emitted", "because of", ""].map(str::to_owned))];
        lines.extend(rows.iter().map(|row| {
            let rule = row.rule.as_ref().map(|rule| self.display_name(rule)).unwrap_or_default();
            let style = if row.because.is_empty() { FAINT } else { STRONG };
            let WaitRow { mode, text, because, .. } = row.clone();
            (style, [mode, text, row.emitted.to_owned(), because, rule])
        }));
        table(&lines, &[])
    }

    /// The matrix of actions and modes, below it that of the contents that a mode restricts, and the conditions of both.
    pub fn permits(&self, actions: &[PermitCell], contents: &[PermitCell]) -> String {
        let restricted: HashSet<&str> =
            contents.iter().filter(|cell| cell.is_restricted()).map(|cell| cell.name.as_str()).collect();
        let contents: Vec<&PermitCell> = contents.iter().filter(|cell| restricted.contains(&*cell.name)).collect();
        let mut conditions = IndexSet::new();
        let mut text = String::new();
        if !actions.is_empty() {
            text += &self.matrix("", &actions.iter().collect::<Vec<_>>(), &mut conditions);
        }
        if !contents.is_empty() {
            text += if actions.is_empty() { "" } else { "\n" };
            text += &self.matrix("contents", &contents, &mut conditions);
        }
        for (number, (condition, rule)) in conditions.iter().enumerate() {
            let number = paint(WARN, &format!("✓{}", number + 1));
            _ = writeln!(text, "{number} when {}  {}", one_line(condition), paint(FAINT, &self.display_name(rule)));
        }
        text
    }

    /// The rows of a matrix of names and modes under a title; its conditions are numbered in `conditions`.
    fn matrix<'c>(
        &self,
        title: &str,
        cells: &[&'c PermitCell],
        conditions: &mut IndexSet<(&'c String, &'c FilePlace)>,
    ) -> String {
        let modes: IndexSet<&str> = cells.iter().map(|cell| cell.mode.as_str()).collect();
        let names: IndexSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        let known: HashMap<(&str, &str), &'c Permission> =
            cells.iter().map(|cell| ((cell.name.as_str(), cell.mode.as_str()), &cell.permission)).collect();
        let first = names.iter().chain(&[title]).map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = format!("{title:<first$}");
        for mode in &modes {
            _ = write!(text, "  {}", paint(STRONG, mode));
        }
        text.push('\n');
        for name in &names {
            _ = write!(text, "{name:<first$}");
            for mode in &modes {
                let permit = known.get(&(*name, *mode)).copied();
                let (mark, style) = match permit {
                    Some(Permission::Always { .. }) => ("✓".to_owned(), GOOD),
                    Some(Permission::When { condition, rule }) => {
                        let number = conditions.insert_full((condition, rule)).0 + 1;
                        (format!("✓{number}"), WARN)
                    }
                    Some(Permission::Forbidden) | None => ("·".to_owned(), FAINT),
                };
                let rest = mode.chars().count().saturating_sub(mark.chars().count());
                _ = write!(text, "  {}{:rest$}", paint(style, &mark), "");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// The line for a command that failed for a reason outside all packs.
    pub fn trouble(&self, message: &str) -> String {
        format!("{} {}\n", paint(BAD, "rulebook:"), one_line(message))
    }
}

fn page_line(line: &str, in_fence: bool, text: &mut String) {
    let styled = match line.strip_prefix('#') {
        _ if in_fence => format!("    {line}"),
        Some(heading) => paint(STRONG, heading.trim_start_matches('#').trim()),
        None => without_links(line),
    };
    _ = writeln!(text, "{styled}");
}

/// A line of Markdown with the words of its links alone: a terminal has no page to go to.
fn without_links(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        let words = link.split_once("](").and_then(|(words, target)| Some((words, target.split_once(')')?.1)));
        let Some((words, after)) = words.filter(|(words, _)| !words.contains('[')) else { break };
        text.extend([before, words]);
        rest = after;
    }
    text + rest
}

/// The file or the circumstances of a snippet, such as `mode=tidy`: what its fence says after the language, apart from
/// words that only the tests of the pages read.
fn snippet_title(fence: &str) -> String {
    let words: Vec<&str> = fence.split_whitespace().skip(1).filter(|word| word.contains(['/', '.', '='])).collect();
    if words.is_empty() { String::new() } else { format!("    {}\n", paint(FAINT, &format!("{}:", words.join(" ")))) }
}

/// The sentence with the strategies for a defect, generated so that no page can be out of date.
fn strategies_of(defect: Defect) -> String {
    let applicable: Vec<String> = defect.applicable().iter().map(|strategy| format!("`{strategy}`")).collect();
    let usual = defect.default_strategy();
    let of = [("call", defect.default_for_calls()), ("content", defect.default_for_contents())];
    let apart = of.into_iter().filter(|(_, strategy)| *strategy != usual);
    let apart: String = apart.map(|(role, strategy)| format!(", of a {role} by `{strategy}`")).collect();
    format!("By default, it is answered by `{usual}`{apart}; it may be {}.", applicable.join(", "))
}

fn defects_of(strategy: Strategy) -> String {
    let all = Defect::ALL.iter().filter(|defect| defect.applicable().contains(&strategy));
    if strategy.refuses() {
        return "It may answer every defect.".to_owned();
    }
    let names: Vec<String> = all.map(|defect| format!("`{defect}`")).collect();
    format!("It may answer {}.", names.join(", "))
}
