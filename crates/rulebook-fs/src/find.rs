//! Find: where in a file is the text of an edit?
//!
//! In: the lines of a file, and what an edit looks for.
//! Out: the one [`Place`], or every place if the edit asks for all; or why there is none, with the lines that explain
//! it.
//! Never: guesses between two places; takes more than a few passes over the file, whatever text the edit looks for.

use super::haystack::Haystack;
use super::nearest::{excerpt_of, nearest};
use super::trimmed::Trimmed;
use memchr::memmem::Finder;
use rulebook::outcome::{FileLines, Matching, Miss, MissKind};
use std::borrow::Cow;
use std::ops::Range;

/// The most occurrences that are examined. If there are more, only a line number can decide between them.
const MAX_PLACES: usize = 32;
/// The most places that [`Missed`] lists.
const MAX_LISTED: usize = 8;

/// The text that an edit looks for, and its options. Line breaks are `\n`.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'e> {
    pub(super) find: Cow<'e, str>,
    pub(super) put: Cow<'e, str>,
    pub(super) matching: &'e [Matching],
    /// Whether every occurrence is replaced.
    pub(super) all: bool,
    /// Whether only whole lines match.
    pub(super) lines: bool,
    /// The number, from 0, of the line that decides between several occurrences.
    pub(super) line: Option<usize>,
    /// Lines that have to precede the place, in this order.
    pub(super) after: &'e [String],
    /// Whether only the end of the file matches.
    pub(super) end: bool,
}

/// A range of the haystack's text, and the text that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place<'e> {
    pub(super) range: Range<usize>,
    pub(super) put: Cow<'e, str>,
}

/// Why an edit has no place, and the lines that explain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missed {
    pub(super) kind: MissKind,
    pub(super) at: Vec<FileLines>,
}

impl Missed {
    /// The same for the host, about the effect with this index.
    pub(super) fn of(self, effect: usize) -> Miss {
        Miss { effect, kind: self.kind, at: self.at }
    }
}

/// The places of an edit, in order.
pub(super) fn places<'e>(haystack: &Haystack<'_>, wanted: &Wanted<'e>) -> Result<Vec<Place<'e>>, Missed> {
    let behind = behind(haystack, wanted.after)?;
    if wanted.find.is_empty() {
        let at_end = wanted.after.is_empty() || wanted.end;
        let at = if at_end { vec![haystack.text().len()] } else { behind };
        let chosen = chosen(haystack, wanted, at, 0)?;
        return Ok(chosen.into_iter().map(|at| Place { range: at..at, put: wanted.put.clone() }).collect());
    }
    for matching in wanted.matching {
        let found = match matching {
            Matching::TrimmedLines => {
                let trimmed = Trimmed::new(haystack, wanted);
                let chosen = among(haystack, wanted, &behind, &trimmed)?;
                chosen.map(|chosen| chosen.into_iter().map(|start| trimmed.place(haystack, wanted, start)).collect())
            }
            _ => {
                let exact = Exact::new(haystack, wanted);
                let chosen = among(haystack, wanted, &behind, &exact)?;
                let place = |start| Place { range: start..start + exact.length(start), put: wanted.put.clone() };
                chosen.map(|chosen| chosen.into_iter().map(place).collect::<Vec<_>>())
            }
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(Missed { kind: MissKind::NotFound, at: nearest(haystack, &wanted.find) })
}

/// A method of finding a text.
pub(super) trait Search {
    /// The offset of the first occurrence that starts at or after `from`.
    fn next(&self, from: usize) -> Option<usize>;
    /// The length of the occurrence that starts at this offset.
    fn length(&self, start: usize) -> usize;
}

/// The starts of the occurrences that the edit refers to; `None` if there is no occurrence at all.
fn among(
    haystack: &Haystack<'_>,
    wanted: &Wanted<'_>,
    behind: &[usize],
    search: &impl Search,
) -> Result<Option<Vec<usize>>, Missed> {
    let mut found = Vec::new();
    if wanted.all || wanted.after.is_empty() {
        let most = if wanted.all { usize::MAX } else { MAX_PLACES };
        let mut from = behind.first().copied().unwrap_or_default();
        while let Some(start) = search.next(from).filter(|_| found.len() < most) {
            found.push(start);
            // The search goes on one byte later, so that overlapping occurrences count as several: none is the only
            // one.
            from = start + if wanted.all { search.length(start) } else { 1 };
        }
    } else {
        // For each place that follows the lines of `after`, only the first occurrence counts.
        for from in behind {
            if found.last().is_none_or(|last| last < from) {
                found.extend(search.next(*from));
            }
        }
        found.dedup();
    }
    if wanted.all || found.is_empty() {
        return Ok(Some(found).filter(|found| !found.is_empty()));
    }
    if found.len() == MAX_PLACES && wanted.after.is_empty() {
        // There may be more occurrences than were examined; the line number can still choose one of those on its line.
        found.extend(wanted.line.into_iter().flat_map(|line| on_line(haystack, search, line)));
        found.dedup();
    }
    let lines = wanted.find.lines().count();
    chosen(haystack, wanted, found, lines).map(Some)
}

/// The first two occurrences that start on a line; two are enough to be ambiguous.
fn on_line(haystack: &Haystack<'_>, search: &impl Search, line: usize) -> Vec<usize> {
    let end = haystack.start(line + 1);
    let first = search.next(haystack.start(line)).filter(|start| *start < end);
    let second = first.and_then(|first| search.next(first + 1)).filter(|start| *start < end);
    first.into_iter().chain(second).collect()
}

/// The only start, or the only one on the line that the edit gives.
fn chosen(
    haystack: &Haystack<'_>,
    wanted: &Wanted<'_>,
    starts: Vec<usize>,
    lines: usize,
) -> Result<Vec<usize>, Missed> {
    if let [_] = starts.as_slice() {
        return Ok(starts);
    }
    let on_line = |start: &&usize| Some(haystack.line_of(**start)) == wanted.line;
    let mut fitting: Vec<usize> = starts.iter().filter(on_line).copied().collect();
    fitting.sort_unstable();
    fitting.dedup();
    if let [_] = fitting.as_slice() {
        return Ok(fitting);
    }
    let mut at: Vec<usize> = starts.into_iter().map(|start| haystack.line_of(start)).collect();
    at.sort_unstable();
    at.dedup();
    at.truncate(MAX_LISTED);
    let at = at.into_iter().map(|line| excerpt_of(haystack, line, lines.max(1))).collect();
    Err(Missed { kind: MissKind::Ambiguous, at })
}

/// The starts of the lines that follow the lines of `after`, in order; the start of the text if `after` is empty.
fn behind(haystack: &Haystack<'_>, after: &[String]) -> Result<Vec<usize>, Missed> {
    let after: Vec<&str> = after.iter().map(|line| line.trim()).collect();
    let Some((first, rest)) = after.split_first() else { return Ok(vec![0]) };
    let next = |from: usize, wanted: &str| (from..haystack.count()).find(|line| haystack.line(*line).trim() == wanted);
    let not_found = |wanted: &str| Missed { kind: MissKind::NotFound, at: nearest(haystack, wanted) };
    let (mut found, mut from, mut starts) = (Vec::new(), 0, 0);
    while let Some(line) = next(from, first) {
        let mut at = line;
        for wanted in rest {
            match next(at + 1, wanted) {
                Some(line) => at = line,
                // A line that does not follow from here does not follow from any later line, either.
                None if found.is_empty() => return Err(not_found(wanted)),
                None => return Ok(found),
            }
        }
        found.push(haystack.start(at + 1));
        found.dedup();
        (from, starts) = (line + 1, starts + 1);
        if starts > MAX_PLACES {
            let at = (0..haystack.count()).filter(|line| haystack.line(*line).trim() == *first).take(MAX_LISTED);
            return Err(Missed {
                kind: MissKind::Ambiguous,
                at: at.map(|line| excerpt_of(haystack, line, 1)).collect(),
            });
        }
    }
    if found.is_empty() { Err(not_found(first)) } else { Ok(found) }
}

/// The search for the exact text.
struct Exact<'h> {
    text: &'h str,
    find: &'h str,
    finder: Finder<'h>,
    /// For whole lines: the text with a line break before it.
    whole: Option<Finder<'static>>,
    starts: PossibleStarts,
}

/// Where an exact text may start.
#[derive(Debug, Clone, Copy)]
enum PossibleStarts {
    Anywhere,
    /// Only the end of the file matches, and this is where the text starts there.
    Only(usize),
    /// Only the end of the file matches, and the file ends otherwise.
    Nowhere,
}

impl<'h> Exact<'h> {
    fn new(haystack: &'h Haystack<'_>, wanted: &'h Wanted<'_>) -> Self {
        let (text, find) = (haystack.text(), &*wanted.find);
        // A text of whole lines without a line break at its end matches only the end of a file that has none, either.
        let lacking = wanted.lines && !find.ends_with('\n');
        let at_end = wanted.end || lacking;
        let start_at_end = || {
            let mut ends = vec![haystack.end()];
            if !lacking {
                ends.extend([text.len(), text.len().saturating_sub(1)]);
            } else if !haystack.is_unended() {
                ends.clear();
            }
            ends.into_iter().find_map(|end| {
                let before = text.get(..end)?.strip_suffix(find)?;
                (!wanted.lines || before.is_empty() || before.ends_with('\n')).then_some(before.len())
            })
        };
        let starts = match at_end {
            true => start_at_end().map_or(PossibleStarts::Nowhere, PossibleStarts::Only),
            false => PossibleStarts::Anywhere,
        };
        let whole = (wanted.lines && !at_end).then(|| Finder::new(&format!("\n{find}")).into_owned());
        Self { text, find, finder: Finder::new(find), whole, starts }
    }
}

impl Search for Exact<'_> {
    fn next(&self, from: usize) -> Option<usize> {
        match self.starts {
            PossibleStarts::Only(start) => return Some(start).filter(|start| *start >= from),
            PossibleStarts::Nowhere => return None,
            PossibleStarts::Anywhere => {}
        }
        let bytes = self.text.as_bytes();
        let Some(whole) = &self.whole else { return self.finder.find(bytes.get(from..)?).map(|at| from + at) };
        if from == 0 && self.text.starts_with(self.find) {
            return Some(0);
        }
        let from = from.saturating_sub(1);
        whole.find(bytes.get(from..)?).map(|at| from + at + 1)
    }

    fn length(&self, _: usize) -> usize {
        self.find.len()
    }
}
