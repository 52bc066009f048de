//! Findings: what is told where there is more than the limit allows?
//!
//! In: diagnostics of a response or of words, one after the other.
//! Out: [`Findings`], as many as the limit allows, and how many it left out.
//! Never: leaves one out for something lesser, or tells more than the limit with the word on what it left out.

use super::{Code, Diagnostic, Remark, Severity};
use crate::text::{Location, Span};

/// What was found, up to a limit.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Diagnostic>,
    /// How many more there were.
    pub(crate) left_out: usize,
    most: usize,
    /// What matters less than this is not among them, once there are as many as the limit allows.
    least: Severity,
}

impl Findings {
    /// None yet, but for those that were `left_out` before.
    pub(crate) fn new(most: usize, left_out: usize) -> Self {
        Self { list: Vec::new(), left_out, most, least: Severity::Info }
    }

    /// Adds a finding, up to the limit. One that matters more stands in for a lesser one: a warning says what was done, an
    /// error what the exit status says.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        if self.list.len() < self.most {
            self.list.push(finding);
            return;
        }
        self.left_out += 1;
        if finding.severity > self.least
            && let Some((last, least)) = self.last_of_least()
        {
            // From here on only findings that matter more than this are kept.
            self.least = least;
            if finding.severity > least
                && let Some(slot) = self.list.get_mut(last)
            {
                *slot = finding;
            }
        }
    }

    /// The last of those that matter least.
    fn last_of_least(&self) -> Option<(usize, Severity)> {
        let all = self.list.iter().enumerate().rev();
        all.map(|(index, one)| (index, one.severity)).min_by_key(|(_, severity)| *severity)
    }

    /// Those that were kept and, at `end`, how many were not.
    pub(crate) fn into_list(mut self, end: usize) -> Vec<Diagnostic> {
        // The word about what was left out takes one of the places, unless there is only one.
        if self.left_out > 0 && self.list.len() == self.most {
            let Some((last, _)) = self.last_of_least().filter(|_| self.most > 1) else { return self.list };
            self.list.remove(last);
            self.left_out += 1;
        }
        let Self { mut list, left_out, .. } = self;
        if left_out > 0 {
            let message = match left_out {
                1 => "1 more finding is left out".to_owned(),
                more => format!("{more} more findings are left out"),
            };
            let end = Location::response(Span::new(end, end));
            list.push(Diagnostic::new(Code::Remark(Remark::Note), end, message));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(most: usize, found: &[Severity], told: &[Severity], last: Option<&str>) {
        let mut findings = Findings::new(most, 0);
        for severity in found {
            let one = Diagnostic::new(Code::Remark(Remark::Note), Location::response(Span::default()), "one");
            findings.add(Diagnostic { severity: *severity, ..one });
        }
        let list = findings.into_list(0);
        assert_eq!(list.iter().map(|one| one.severity).collect::<Vec<_>>(), told);
        assert_eq!(list.last().map(|one| &*one.message).filter(|message| *message != "one"), last);
    }

    #[test]
    fn what_matters_less_gives_way_to_what_matters_more_and_to_the_word_on_it() {
        use Severity::{Error, Info, Warning};
        check(3, &[Info, Warning, Error], &[Info, Warning, Error], None);
        check(3, &[Info, Info, Info, Error, Warning], &[Warning, Error, Info], Some("3 more findings are left out"));
        check(3, &[Error, Error, Error, Error], &[Error, Error, Info], Some("2 more findings are left out"));
        check(2, &[Warning, Error, Info], &[Error, Info], Some("2 more findings are left out"));
        check(1, &[Warning, Info, Error, Error], &[Error], None);
        check(0, &[Error], &[], None);
    }
}
