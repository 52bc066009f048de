//! Rejecting: what becomes of an answer whose effects failed on files?
//!
//! In: an outcome that was not carried out, the session before it, and the misses that the host reports.
//! Out: the outcome that the answer has with them: refused, or the model is asked again, by the pack's strategies.
//! Never: carries out a part of the answer, or lets session and files differ.

use super::contract::{EffectRecord, Finding, Outcome, Status, Verdict};
use super::run::{Options, withhold};
use crate::diagnostic::{Code, Defect, Diagnostic, Message, Severity, Strategy, message, quote};
use crate::expression::Scope;
use crate::flow::{Effect, FileLines, Miss, MissKind};
use crate::program::{ActionId, DeclarationContext, Program};
use crate::prompt::ReportedDefect;
use crate::session::Session;
use crate::text::{Slice, boundary, excerpt};
use crate::value::{ByteBudget, Value};

/// The maximum number of places of a miss in a finding: of a text that is not there, and of one that is there several
/// times.
const MAX_NEAREST_LINES: usize = 3;
const MAX_OCCURRENCES: usize = 20;
/// The maximum number of bytes of the lines at one place.
const MAX_BYTES_OF_LINES: usize = 2000;
/// The maximum number of characters of a single line.
const MAX_LINE_CHARACTERS: usize = 160;

impl Program {
    /// Implements [`Program::reject`].
    pub(crate) fn reject_misses(
        &self,
        session: &Session,
        outcome: Outcome,
        misses: &[Miss],
        options: &Options,
    ) -> Outcome {
        let mut outcome = outcome;
        if misses.is_empty() {
            return outcome;
        }
        let may_ask_again = options.attempts < self.ask_again.most;
        let mut missed: Vec<ActionId> = Vec::new();
        for miss in misses.iter().take(self.limits.diagnostics) {
            let record = outcome.effects.get(miss.effect);
            let action = record.and_then(|record| self.action_behind(&outcome, record));
            missed.extend(action.filter(|action| !missed.contains(action)));
            let near = DeclarationContext {
                action: action.and_then(|id| self.action(id)).map(|(_, action)| action),
                ..DeclarationContext::default()
            };
            let finding = self.missed(near, &outcome.mode, miss, record, may_ask_again);
            outcome.diagnostics.push(finding);
        }
        outcome.diagnostics.sort_by(|one, other| {
            let key = |one: &Finding| (one.span.part, one.span.start, one.span.end);
            key(one).cmp(&key(other)).then_with(|| one.code.as_str().cmp(other.code.as_str()))
        });
        let asks_again = |found: &Finding| found.strategy == Some(Strategy::AskAgain);
        outcome.ask_again = outcome
            .diagnostics
            .iter()
            .any(asks_again)
            .then(|| self.correction_of_misses(&self.up_to_date(session), &outcome, &missed));
        outcome.status = Status::Refused;
        outcome.effects.clear();
        outcome.session = self.up_to_date(session).into_owned();
        outcome.session.state.end_occasion();
        for call in &mut outcome.calls {
            (call.verdict, call.pending) = (Verdict::Dropped, None);
        }
        outcome.diagnostics.iter_mut().for_each(Finding::hide_quotes);
        withhold(&mut outcome, options.withheld);
        outcome.message = self.words_of_refusal(&outcome.session);
        outcome
    }

    /// The action of the call that asked for an effect.
    fn action_behind(&self, outcome: &Outcome, record: &EffectRecord) -> Option<ActionId> {
        let origin = record.origin?;
        let call = outcome.calls.iter().find(|call| call.verdict == Verdict::Accepted && call.span == origin.span)?;
        self.action_id(&call.action)
    }

    /// The finding about a miss, with the strategy that answers it.
    fn missed(
        &self,
        near: DeclarationContext<'_>,
        mode: &str,
        miss: &Miss,
        record: Option<&EffectRecord>,
        may_ask_again: bool,
    ) -> Finding {
        let (defect, message) = miss.explain(record.map(|record| &record.effect));
        let near = DeclarationContext { mode: self.modes.get(mode), ..near };
        // Only the whole answer can be refused: its other parts may depend on the edit.
        let applies =
            |strategy: Strategy| strategy == Strategy::Refuse || (strategy == Strategy::AskAgain && may_ask_again);
        let strategy = self.answers(defect, near).map(|(strategy, _)| strategy).find(|strategy| applies(*strategy));
        let mut finding = Finding::of(Diagnostic::new(Code::Defect(defect), None, message));
        finding.severity = Severity::Error;
        finding.strategy = strategy.or(Some(Strategy::Refuse));
        show_lines(&mut finding, miss);
        if let Some(record) = record {
            finding.rule.clone_from(&record.cause);
            if let Some(origin) = record.origin {
                (finding.span, finding.line, finding.column) = (origin.span, origin.line, origin.column);
            }
        }
        finding
    }

    /// The text that asks the model again, with everything that is wrong with the answer.
    fn correction_of_misses(&self, session: &Session, outcome: &Outcome, actions: &[ActionId]) -> String {
        let dialect = self.dialects.iter().find(|dialect| Some(&dialect.name) == outcome.dialect.as_ref());
        let faults = outcome.diagnostics.iter().filter_map(|found| {
            let to_model = found.to_model.as_ref();
            let message = to_model.unwrap_or(&found.message);
            let help = found.help.as_ref().map(|help| help.to_string() + &found.file_text());
            let place = (found.line, found.span.part as usize);
            ReportedDefect::new(&found.code, message, help.as_deref(), to_model.is_some(), place)
        });
        let faults: Vec<ReportedDefect> = faults.collect();
        let is_native = outcome.calls.iter().any(|call| call.span.part > 0);
        let budget = ByteBudget::new(outcome.ledger.bytes, outcome.session.state.clone(), self.data.clone());
        self.ask_again(session, dialect, is_native, actions, &faults, &budget)
    }

    /// The message of a refused answer; empty if the pack has none, or its template fails.
    fn words_of_refusal(&self, session: &Session) -> String {
        let words = self.modes.get(&session.mode).and_then(|mode| mode.reply.refused.as_ref());
        let (mode, now) = (Value::from(session.mode.as_str()), Value::from(session.now.as_deref()));
        let mut scope = Scope::new().with("data", &self.data).with("mode", &mode).with("now", &now);
        scope.add_record("state", &session.state);
        words.and_then(|words| words.text(&scope).ok()).unwrap_or_default()
    }
}

impl Miss {
    /// The defect that it is, and its message; `effect` is the one that does not apply.
    #[doc(hidden)]
    pub fn explain(&self, effect: Option<&Effect>) -> (Defect, Message) {
        let mut keys = effect.into_iter().flat_map(Effect::keys);
        // The file that exists already is the target of a move.
        let key = if self.kind == MissKind::Exists { keys.last() } else { keys.next() };
        let key = quote(key.unwrap_or_default(), 120);
        match self.kind {
            MissKind::NotFound if matches!(effect, Some(Effect::Delete { .. })) => {
                (Defect::EditNotFound, message!("`{}` has another text than the one to delete", key))
            }
            MissKind::NotFound if matches!(effect, Some(Effect::Edit(edit)) if edit.end) => {
                (Defect::EditNotFound, message!("the text to replace is not at the end of `{}`", key))
            }
            MissKind::NotFound => (Defect::EditNotFound, message!("the text to replace is not in `{}`", key)),
            MissKind::Ambiguous => {
                (Defect::EditAmbiguous, message!("the text to replace is in `{}` several times", key))
            }
            MissKind::Absent => (Defect::EditNotFound, message!("there is no file `{}`", key)),
            MissKind::Exists => (Defect::EditConflict, message!("there is a file `{}` already", key)),
            MissKind::NotUtf8 => (Defect::EditConflict, message!("`{}` is not UTF-8", key)),
        }
    }
}

/// Adds the lines of the file that help to correct the edit, up to a limit.
fn show_lines(finding: &mut Finding, miss: &Miss) {
    let is_ambiguous = miss.kind == MissKind::Ambiguous;
    let cited = |lines: &FileLines| {
        let text = match is_ambiguous {
            true => excerpt(lines.text.lines().next().unwrap_or_default(), MAX_LINE_CHARACTERS).into_owned(),
            false => within(&lines.text),
        };
        FileLines { line: lines.line, text }
    };
    let most = if is_ambiguous { MAX_OCCURRENCES } else { MAX_NEAREST_LINES };
    finding.file_lines = miss.at.iter().take(most).map(cited).collect();
    let numbers: Vec<String> = finding.file_lines.iter().map(|lines| lines.line.to_string()).collect();
    let more = if miss.at.len() > most { " and more" } else { "" };
    let numbers = numbers.join(", ") + more;
    finding.help = match (miss.kind, miss.at.is_empty()) {
        (MissKind::NotFound, true) => Some("copy the text as the file has it".into()),
        (MissKind::NotFound, false) => {
            Some(message!("copy the text as the file has it; what comes nearest begins in line {}", &numbers))
        }
        (MissKind::Ambiguous, true) => Some("take in a line before or behind it that no other place has".into()),
        (MissKind::Ambiguous, false) => {
            Some(message!("take in a line before or behind it that no other place has; it begins in line {}", &numbers))
        }
        (MissKind::Absent | MissKind::Exists | MissKind::NotUtf8, _) => None,
    };
}

impl Finding {
    /// The lines of a file that the finding lists, each part with its number, to be appended to its help; empty if it
    /// lists none.
    pub(super) fn file_text(&self) -> String {
        // The most similar text may be several lines, to be copied as they are.
        let behind = if self.code == Code::Defect(Defect::EditAmbiguous) { ' ' } else { '\n' };
        let of = |lines: &FileLines| format!("\nline {}:{behind}{}", lines.line, lines.text);
        self.file_lines.iter().map(of).collect()
    }
}

/// As many whole lines as `MAX_BYTES_OF_LINES` bytes have room for; at least the start of the first.
fn within(text: &str) -> String {
    if text.len() <= MAX_BYTES_OF_LINES {
        return text.to_owned();
    }
    let end = boundary(text, MAX_BYTES_OF_LINES);
    let cut = text.slice(..end);
    let whole = cut.rfind('\n').and_then(|end| cut.get(..end)).unwrap_or(cut);
    format!("{whole}\n…")
}
