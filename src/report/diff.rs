//! Differences: which lines were expected, and which were found?
//!
//! In: two texts.
//! Out: their lines in order, each common, missing or found instead.
//! Never: looks inside a line.

/// One line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'t> {
    /// In both.
    Both(&'t str),
    /// Expected, but not there.
    Missing(&'t str),
    /// There, but not expected.
    Found(&'t str),
}

/// The most cells of the table of common lines; longer texts are compared in one piece.
const MOST_CELLS: usize = 1 << 20;

/// Compares `expected` with `got`, line by line.
pub(super) fn compare<'t>(expected: &'t str, got: &'t str) -> Vec<Line<'t>> {
    let lines = |text: &'t str| text.split('\n').collect::<Vec<_>>();
    compare_lines(&lines(expected), &lines(got))
}

/// Compares the lines `expected` with those that were `got`.
pub(super) fn compare_lines<'t>(expected: &[&'t str], got: &[&'t str]) -> Vec<Line<'t>> {
    let head = expected.iter().zip(got).take_while(|(one, other)| one == other).count();
    let (start, one) = expected.split_at(head);
    let (_, other) = got.split_at(head);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let (one, end) = one.split_at(one.len() - tail);
    let (other, _) = other.split_at(other.len() - tail);
    let mut lines: Vec<Line<'t>> = start.iter().map(|line| Line::Both(line)).collect();
    lines.extend(middle(one, other));
    lines.extend(end.iter().map(|line| Line::Both(line)));
    lines
}

/// The longest common lines of two lists that differ at both ends.
fn middle<'t>(one: &[&'t str], other: &[&'t str]) -> Vec<Line<'t>> {
    let width = other.len() + 1;
    if (one.len() + 1).saturating_mul(width) > MOST_CELLS {
        let missing = one.iter().map(|line| Line::Missing(line));
        return missing.chain(other.iter().map(|line| Line::Found(line))).collect();
    }
    // How many common lines there are from each pair of places on.
    let mut common = vec![0_u32; (one.len() + 1) * width];
    let cell =
        |common: &[u32], row: usize, column: usize| common.get(row * width + column).copied().unwrap_or_default();
    for (row, left) in one.iter().enumerate().rev() {
        for (column, right) in other.iter().enumerate().rev() {
            let best = if left == right {
                cell(&common, row + 1, column + 1) + 1
            } else {
                cell(&common, row + 1, column).max(cell(&common, row, column + 1))
            };
            if let Some(place) = common.get_mut(row * width + column) {
                *place = best;
            }
        }
    }
    let mut lines = Vec::new();
    let (mut row, mut column) = (0, 0);
    loop {
        match (one.get(row), other.get(column)) {
            (Some(left), Some(right)) if left == right => {
                lines.push(Line::Both(left));
                (row, column) = (row + 1, column + 1);
            }
            (Some(left), right)
                if right.is_none() || cell(&common, row + 1, column) >= cell(&common, row, column + 1) =>
            {
                lines.push(Line::Missing(left));
                row += 1;
            }
            (_, Some(right)) => {
                lines.push(Line::Found(right));
                column += 1;
            }
            (_, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &str, got: &str, lines: &str) {
        let found: Vec<String> = compare(expected, got)
            .into_iter()
            .map(|line| match line {
                Line::Both(text) => format!(" {text}"),
                Line::Missing(text) => format!("-{text}"),
                Line::Found(text) => format!("+{text}"),
            })
            .collect();
        assert_eq!(found.join("|"), lines);
    }

    #[test]
    fn common_lines_stay_and_others_are_told_apart() {
        check("a", "a", " a");
        check("a\nb\nc", "a\nc", " a|-b| c");
        check("a\nb\nc\nd", "x\nb\nd\ne", "-a|+x| b|-c| d|+e");
        check("", "a", "-|+a");
    }
}
