//! Hunks: which lines does a part of a patch replace by which?
//!
//! In: the lines of a patch, from an `@@` on.
//! Out: a [`Hunk`], with the place that its headers give.
//! Never: trusts the counts in a header, unless they are those of the lines, or knows the file.

use super::{Hunk, PatchFault, PatchLines};

/// Why a line may not come after one without a line break.
pub(super) const AFTER_THE_END: &str =
    "this line comes after one that has no line break at its end, and so is the last of the file";

/// Where a hunk belongs, as its headers say.
#[derive(Debug, Default)]
pub(super) struct HunkPlace {
    /// The first line in the file before the patch.
    pub(super) line: Option<u64>,
    /// Lines that come before it.
    pub(super) after: Vec<String>,
    /// How many lines it has before and after the patch.
    counts: Option<(usize, usize)>,
}

/// Reads the headers of a hunk: none, one, or several with a line of context each.
pub(super) fn place(lines: &mut PatchLines<'_>) -> HunkPlace {
    let mut place = HunkPlace::default();
    while let Some(header) = lines.peek().and_then(|line| line.strip_prefix("@@")) {
        lines.advance();
        let header = header.trim();
        // `-12,3 +12,4 @@`, perhaps followed by the name of the function around it, which is ignored.
        if let Some(numbers) = header.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let digits = numbers.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            place.line = digits.parse().ok().filter(|line| *line > 0);
            place.counts = counts(numbers);
            continue;
        }
        let heading = header.strip_suffix("@@").unwrap_or(header).trim();
        if !matches!(heading, "" | "..." | "…") {
            place.after.push(heading.to_owned());
        }
    }
    place
}

/// The two counts in `12,3 +12,4 @@`; a count that is left out is 1.
fn counts(numbers: &str) -> Option<(usize, usize)> {
    let mut ranges = numbers.split_ascii_whitespace();
    let (old, new) = (ranges.next()?, ranges.next()?.strip_prefix('+')?);
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// The end of a hunk by the counts in its header; none if its lines do not agree with these. Without counts, a removed
/// line that begins with `-- ` and an added one that begins with `++ ` look like the header of a file.
fn counted_end(
    lines: &mut PatchLines<'_>,
    counts: (usize, usize),
    ends: impl Fn(&PatchLines<'_>) -> bool,
) -> Option<usize> {
    let (mut old, mut new) = (0, 0);
    while (old, new) != counts {
        match lines.peek()?.as_bytes().first() {
            Some(b' ') | None => (old, new) = (old + 1, new + 1),
            Some(b'-') => old += 1,
            Some(b'+') => new += 1,
            Some(b'\\') => {}
            Some(_) => return None,
        }
        if old > counts.0 || new > counts.1 {
            return None;
        }
        lines.advance();
    }
    let goes_on = lines.peek().is_some_and(|line| line.starts_with([' ', '-', '+']));
    (!goes_on || ends(lines)).then_some(lines.next)
}

/// Reads the lines of a hunk up to an `@@`, to a line where `ends` is true, or to the end.
pub(super) fn read(
    lines: &mut PatchLines<'_>,
    place: HunkPlace,
    ends: impl Fn(&PatchLines<'_>) -> bool,
) -> Result<Hunk, PatchFault> {
    let first = lines.next;
    let counted = place.counts.and_then(|counts| counted_end(lines, counts, &ends)).unwrap_or(first);
    lines.next = first;
    let (mut find, mut put) = (Side::default(), Side::default());
    // Empty lines count as context only if other lines of the hunk follow: at its end, they are layout.
    let mut blank = 0;
    let mut last = ' ';
    while let Some(line) = lines.peek().filter(|line| lines.next < counted || !(line.starts_with("@@") || ends(lines)))
    {
        let mut rest = line.chars();
        let Some(sign) = rest.next() else {
            blank += 1;
            lines.advance();
            continue;
        };
        if matches!(sign, ' ' | '-' | '+') {
            if (find.is_unended && (sign != '+' || blank > 0)) || (put.is_unended && (sign != '-' || blank > 0)) {
                return Err(lines.fault(AFTER_THE_END));
            }
            for _ in 0..std::mem::take(&mut blank) {
                find.line("");
                put.line("");
            }
        }
        match sign {
            ' ' => {
                find.line(rest.as_str());
                put.line(rest.as_str());
            }
            '-' => find.line(rest.as_str()),
            '+' => put.line(rest.as_str()),
            // `\ No newline at end of file`, in any language.
            '\\' if rest.as_str().starts_with(' ') && find.count + put.count > 0 => {
                if last != '+' {
                    find.unend();
                }
                if last != '-' {
                    put.unend();
                }
            }
            _ => return Err(lines.fault("a line of a hunk begins with a space, with `-` or with `+`")),
        }
        // The mark may be there twice, about the same line.
        last = if sign == '\\' { last } else { sign };
        lines.advance();
    }
    let HunkPlace { line, after, .. } = place;
    if find.count + put.count == 0 {
        return Err(lines.fault_at(first.saturating_sub(1), "this hunk has no lines"));
    }
    if find.text == put.text {
        return Err(lines.fault_at(first, "this hunk changes nothing"));
    }
    // The new text has no line break at its end, so nothing of the file may come after it.
    let end = put.is_unended && !find.is_unended;
    Ok(Hunk { find: find.text, put: put.text, line, after, end })
}

/// The lines of one side of a hunk.
#[derive(Default)]
struct Side {
    text: String,
    count: usize,
    /// Whether its last line has no line break, and so is the last line of the file.
    is_unended: bool,
}

impl Side {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
        self.count += 1;
    }

    /// Removes the line break from the last line, if there is a line.
    fn unend(&mut self) {
        if !self.is_unended && self.text.ends_with('\n') {
            self.text.pop();
            self.is_unended = true;
        }
    }
}
