//! Findings: which are reported if there are more than the limit allows?
//!
//! In: the diagnostics of a response or of a user's message, one after the other.
//! Out: [`Findings`], as many as the limit allows, and the number of those left out.
//! Never: drops a finding in favour of a less severe one, or exceeds the limit with the note about those left out.

use super::{Code, Diagnostic, Remark, Severity};
use crate::text::{Location, Span};

/// Findings, up to a limit.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Diagnostic>,
    /// The number of findings that were left out.
    pub(crate) left_out: usize,
    most: usize,
    /// Once the limit is reached, only findings more severe than this are added.
    least: Severity,
}

impl Findings {
    /// No findings yet; `left_out` findings were left out before.
    pub(crate) fn new(most: usize, left_out: usize) -> Self {
        Self { list: Vec::new(), left_out, most, least: Severity::Info }
    }

    /// Adds a finding. At the limit, a more severe finding replaces a less severe one: a warning reports what was done,
    /// and an error decides the exit status.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        if self.list.len() < self.most {
            self.list.push(finding);
            return;
        }
        self.left_out += 1;
        if finding.severity > self.least
            && let Some((last, least)) = self.last_of_least()
        {
            // From here on, only more severe findings are added.
            self.least = least;
            if finding.severity > least
                && let Some(slot) = self.list.get_mut(last)
            {
                *slot = finding;
            }
        }
    }

    /// The last of the least severe findings: its position and severity.
    fn last_of_least(&self) -> Option<(usize, Severity)> {
        let all = self.list.iter().enumerate().rev();
        all.map(|(index, one)| (index, one.severity)).min_by_key(|(_, severity)| *severity)
    }

    /// The findings that remain and, at `end`, a note of how many were left out.
    pub(crate) fn into_list(mut self, end: usize) -> Vec<Diagnostic> {
        // The note takes the place of a finding, unless there is room for only one.
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
    fn check(most: usize, found: &[Severity], kept_findings: &[Severity], last: Option<&str>) {
        let mut findings = Findings::new(most, 0);
        for severity in found {
            let one = Diagnostic::new(Code::Remark(Remark::Note), Location::response(Span::default()), "one");
            findings.add(Diagnostic { severity: *severity, ..one });
        }
        let list = findings.into_list(0);
        assert_eq!(list.iter().map(|one| one.severity).collect::<Vec<_>>(), kept_findings);
        assert_eq!(list.last().map(|one| one.message.to_string()).filter(|message| message != "one").as_deref(), last);
    }

    #[test]
    fn severe_findings_displace_minor_ones_when_the_list_is_full() {
        use Severity::{Error, Info, Warning};
        check(3, &[Info, Warning, Error], &[Info, Warning, Error], None);
        check(3, &[Info, Info, Info, Error, Warning], &[Warning, Error, Info], Some("3 more findings are left out"));
        check(3, &[Error, Error, Error, Error], &[Error, Error, Info], Some("2 more findings are left out"));
        check(2, &[Warning, Error, Info], &[Error, Info], Some("2 more findings are left out"));
        check(1, &[Warning, Info, Error, Error], &[Error], None);
        check(0, &[Error], &[], None);
    }
}
