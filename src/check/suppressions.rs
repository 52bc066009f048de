//! Suppressions: which findings has the author accepted, with a reason?
//!
//! In: the comments of a pack's files, and findings.
//! Out: the findings that no comment allows, and one for each comment that allows nothing.
//! Never: suppresses a fault that keeps the pack from running.
//!
//! `# rulebook: allow(pack/unread-state) the host shows it` suppresses the findings with that code on its line; on a
//! line of its own, those on the next line that is not a comment. In grammars, the comment starts with `//`.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::text::{Location, Source, SourceId, Span};

/// One comment that suppresses findings.
struct Suppression<'t> {
    codes: Vec<&'t str>,
    reason: &'t str,
    at: Location,
    /// The line, counted from 1, whose findings it suppresses.
    line: usize,
    used: bool,
}

/// The findings without those that a comment suppresses, and the findings about the comments.
pub(super) fn without_excused(program: &Program, found: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let sources = program.sources();
    let mut excuses: Vec<Suppression<'_>> = sources.iter().flat_map(|(id, source)| read(id, source)).collect();
    let mut remaining: Vec<Diagnostic> = Vec::new();
    for finding in found {
        let line = finding.at.and_then(|at| Some((at.source, sources.get(at.source)?.place(at.span.start).line)));
        let code = finding.code.to_string();
        let excuses_it = |excuse: &&mut Suppression<'_>| {
            Some((excuse.at.source, excuse.line)) == line && excuse.codes.contains(&code.as_str())
        };
        match excuses.iter_mut().find(excuses_it) {
            Some(excuse) => excuse.used = true,
            None => remaining.push(finding),
        }
    }
    // A used pack is checked by itself: what it suppresses may be in a table that this pack replaces.
    let own = excuses.iter().filter(|excuse| program.files.is_own(excuse.at.source));
    remaining.extend(own.filter_map(|excuse| {
        let (message, help) = match excuse {
            excuse if !excuse.used => ("this excuse excuses nothing", "take it out"),
            excuse if excuse.reason.is_empty() => ("this excuse gives no reason", "write the reason after the bracket"),
            _ => return None,
        };
        Some(Diagnostic::new(Code::PACK_EXCUSE, excuse.at, message).with_help(help))
    }));
    remaining
}

/// Whether a comment suppresses the finding.
pub(super) fn excuses(program: &Program, finding: &Diagnostic) -> bool {
    let Some((at, source)) = finding.at.and_then(|at| Some((at, program.sources().get(at.source)?))) else {
        return false;
    };
    let (line, code) = (source.place(at.span.start).line, finding.code.to_string());
    read(at.source, source).iter().any(|excuse| excuse.line == line && excuse.codes.contains(&code.as_str()))
}

/// The suppressions in one file.
fn read(id: SourceId, source: &Source) -> Vec<Suppression<'_>> {
    const MARK: &str = "rulebook: allow(";
    let is_comment = |line: &str| line.trim_start().starts_with('#') || line.trim_start().starts_with("//");
    let lines: Vec<&str> = source.text().split('\n').collect();
    let mut excuses = Vec::new();
    let mut start = 0;
    for (number, line) in lines.iter().enumerate() {
        if let Some((before, after)) = line.split_once(MARK)
            && let Some(sign) = before.trim_end().rfind(['#', '/'])
            && before.get(sign + 1..).is_some_and(|between| between.trim().is_empty())
            && let Some((codes, reason)) = after.split_once(')')
        {
            let alone = is_comment(line);
            let ahead = lines.iter().skip(number + 1).take_while(|line| is_comment(line)).count();
            excuses.push(Suppression {
                codes: codes.split(',').map(str::trim).collect(),
                reason: reason.trim(),
                at: Location { source: id, span: Span::new(start + sign, start + line.trim_end().len()) },
                line: number + 1 + if alone { ahead + 1 } else { 0 },
                used: false,
            });
        }
        start += line.len() + 1;
    }
    excuses
}
