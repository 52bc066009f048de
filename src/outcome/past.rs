//! Past answers: which parts of an answer does a history contain?
//!
//! In: an outcome; or an answer without its outcome, which is then read once more.
//! Out: a [`Turn`] with what the user saw, and with the parts of the answer that counted.
//! Never: contains a part that did not count: nothing refused, dropped, redacted or withheld, and no reasoning.

use super::contract::{Call, Finding, Outcome, Section, Status, Utterance, Verdict};
use crate::diagnostic::{Code, Defect, Strategy};
use crate::program::{Mode, Program};
use crate::prompt::{
    History, Line, MessagePiece, Omitted, PastAnswer, PastCall, PastOutcome, PastSection, PastUtterance, RefusedCall,
    Rewriter, Speaker, Turn, in_words_for_a_model, pieces,
};
use crate::session::Session;
use crate::text::excerpt;
use indexmap::IndexMap;

/// The longest parameters of a call that a history repeats, in bytes of JSON: longer ones cost more in every later
/// prompt than they teach the model.
const MAX_CALL_BYTES: usize = 4096;
/// The longest answer that a history can repeat, in bytes: the texts of its parts, besides the message.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The maximum number of calls that a history names, repeats or gives reasons for.
const MAX_CALLS: usize = 32;
/// The maximum number of contents that a history names.
const MAX_CONTENTS: usize = 64;
/// The message to a model about a pending call.
const WAITS: &str = "it waits until a person has confirmed it";
/// The message to a model about such a call of which only the text is left: what a person decided is unknown.
const NEEDS_A_PERSON: &str = "it needs a person to confirm it";
/// The maximum number of characters of a reason, and of an advice.
const MAX_REASON_CHARACTERS: usize = 300;

impl Turn {
    /// An answer of the model. Its `content` is what the user saw: the message, with the utterances in their places;
    /// without a message, the sections and the utterances. The parts that counted are in its `outcome`, so that a
    /// prompt can repeat the answer in the form in which it asks for answers.
    pub fn answer(outcome: &Outcome) -> Self {
        let parts = texts(&outcome.message, &outcome.sections, &outcome.utterances);
        let content = seen(&parts);
        let past = PastOutcome {
            mode: outcome.mode.clone(),
            dialect: outcome.dialect.clone(),
            answer: answer(outcome, parts, &content),
            refused: refused(outcome),
        };
        Self { outcome: Some(past), ..Self::new(Speaker::Assistant, content) }
    }
}

/// The texts of an answer.
fn texts(message: &str, sections: &[Section], utterances: &[Utterance]) -> PastAnswer {
    let sections = sections.iter().map(|Section { name, text, value, .. }| PastSection {
        name: name.clone(),
        text: text.clone(),
        value: value.clone(),
    });
    let utterances = utterances.iter().map(|Utterance { speaker, label, text, offset, .. }| PastUtterance {
        speaker: speaker.clone(),
        label: label.clone(),
        text: text.clone(),
        offset: *offset,
    });
    PastAnswer {
        message: Some(message.to_owned()),
        sections: sections.collect(),
        utterances: utterances.collect(),
        ..PastAnswer::default()
    }
}

/// The parts of an answer that counted, for a turn with this content.
fn answer(outcome: &Outcome, mut parts: PastAnswer, content: &str) -> Option<PastAnswer> {
    if outcome.dialect.is_none() || outcome.status == Status::Refused {
        return None;
    }
    parts.message = parts.message.filter(|message| message != content);
    let mut room = MAX_ANSWER_BYTES.checked_sub(parts.texts().map(str::len).sum())?;
    let contents = outcome.contents.iter().map(|content| (content.name.clone(), content.key.clone()));
    parts.omitted = contents.take(MAX_CONTENTS).map(|(name, key)| Omitted { name, key }).collect();
    for call in outcome.calls.iter().filter(|call| call.verdict != Verdict::Dropped).take(MAX_CALLS) {
        let length = call.params.to_string().len();
        match room.checked_sub(length).filter(|_| length <= MAX_CALL_BYTES) {
            Some(rest) => {
                room = rest;
                let (action, params) = (call.action.clone(), call.params.clone());
                parts.calls.push(PastCall { action, params, pending: call.pending.clone() });
            }
            None => parts.omitted.push(Omitted { name: call.action.clone(), key: String::new() }),
        }
    }
    Some(parts)
}

/// The calls that were not carried out, or not in full, with the reasons.
fn refused(outcome: &Outcome) -> Vec<RefusedCall> {
    let refused = outcome.calls.iter().filter_map(|call| match call.verdict {
        Verdict::Accepted => shut_gate(outcome, call).map(|found| refused_for(call, in_words(found))),
        Verdict::Dropped | Verdict::Pending => Some(refusal(outcome, call)),
    });
    refused.take(MAX_CALLS).collect()
}

/// The finding about a shut gate that an accepted call did not pass.
fn shut_gate<'o>(outcome: &'o Outcome, call: &Call) -> Option<&'o Finding> {
    let is_shut = |found: &&Finding| found.code == Code::Defect(Defect::GateClosed) && decides(found);
    defects(outcome, call).find(is_shut)
}

/// Why a call was not carried out: everything that is wrong with it, in words for a model.
pub(super) fn reasons(outcome: &Outcome, call: &Call) -> String {
    const MAX_REASONS: usize = 5;
    let mut reasons: Vec<String> = Vec::new();
    for found in defects(outcome, call) {
        let (message, help) = in_words(found);
        let mut reason = excerpt(message, MAX_REASON_CHARACTERS).into_owned();
        help.iter()
            .for_each(|help| reason += &format!(" ({}{})", excerpt(help, MAX_REASON_CHARACTERS), found.file_text()));
        if reasons.len() < MAX_REASONS && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if !defects(outcome, call).any(|found| decides(&found)) {
        reasons.push(without_finding(outcome).to_owned());
    }
    reasons.join("; ")
}

/// What is wrong with a call.
fn defects<'o>(outcome: &'o Outcome, call: &Call) -> impl Iterator<Item = &'o Finding> + use<'o> {
    let span = call.span;
    let is_inside = move |found: &&Finding| {
        found.span.part == span.part && span.start <= found.span.start && found.span.end <= span.end
    };
    outcome.diagnostics.iter().filter(is_inside).filter(|found| matches!(found.code, Code::Defect(_)))
}

/// Whether the strategy of a finding decides that a call does not count.
fn decides(found: &&Finding) -> bool {
    use Strategy::{AskAgain, Drop, KeepAsText, KeepFirst, KeepLast, Refuse};
    matches!(found.strategy, Some(AskAgain | Drop | KeepAsText | KeepFirst | KeepLast | Refuse))
}

/// The reason for a call that does not count although nothing is wrong with it.
fn without_finding(outcome: &Outcome) -> &'static str {
    if outcome.status == Status::Refused { "the whole answer was refused" } else { "it did not count" }
}

/// A finding in words for a model, with the help on how to correct it.
fn in_words(found: &Finding) -> (&str, Option<&str>) {
    let message = found.to_model.as_ref().unwrap_or(&found.message);
    in_words_for_a_model(&found.code, message, found.help.as_deref())
}

/// Why a call was not carried out: the finding whose strategy decided that, or else the first defect in the call.
fn refusal(outcome: &Outcome, call: &Call) -> RefusedCall {
    if call.verdict == Verdict::Pending {
        let action = excerpt(&call.action, MAX_REASON_CHARACTERS).into_owned();
        return RefusedCall { action, message: WAITS.to_owned(), help: None, pending: call.pending.clone() };
    }
    let found = defects(outcome, call).find(decides).or_else(|| defects(outcome, call).next());
    refused_for(call, found.map_or((without_finding(outcome), None), in_words))
}

/// A call that was not carried out for this reason, with the help on how to correct it.
fn refused_for(call: &Call, (message, help): (&str, Option<&str>)) -> RefusedCall {
    RefusedCall {
        action: excerpt(&call.action, MAX_REASON_CHARACTERS).into_owned(),
        message: excerpt(message, MAX_REASON_CHARACTERS).into_owned(),
        help: help.map(|help| excerpt(help, MAX_REASON_CHARACTERS).into_owned()),
        pending: None,
    }
}

impl PastOutcome {
    /// Removes the ids of requests: reading an answer once more makes none.
    fn forget_requests(&mut self) {
        for call in self.refused.iter_mut().filter(|call| call.pending.is_some()) {
            (call.pending, call.message) = (None, NEEDS_A_PERSON.to_owned());
        }
        self.answer.iter_mut().flat_map(|answer| &mut answer.calls).for_each(|call| call.pending = None);
    }
}

impl Program {
    /// The parts that an answer with this text has in the session's mode, whether or not they count. Parts that a
    /// history does not repeat are named.
    pub(super) fn read_back(&self, session: &Session, text: &str) -> PastAnswer {
        let read = self.read_parts(session, text);
        let call = |Call { action, params, .. }| PastCall { action, params, pending: None };
        let calls = read.calls.into_iter().map(call);
        let contents = read.contents.into_iter().map(|content| (content.name, content.key));
        let thinking = read.thinking.into_iter().map(|text| (text, String::new()));
        PastAnswer {
            calls: calls.collect(),
            omitted: contents.chain(thinking).map(|(name, key)| Omitted { name, key }).collect(),
            ..texts(&read.message, &read.sections, &read.utterances)
        }
    }

    /// The answer of a turn as a prompt in the session's mode repeats it; `None` if the prompt has what the user saw.
    #[doc(hidden)]
    pub fn rewritten(&self, session: &Session, turn: &Turn) -> Option<String> {
        let read = |text: &str| self.read_back(session, text);
        let rewriter = Rewriter { program: self, session, mode: self.modes.get(&session.mode)?, read: &read };
        rewriter.rewrite(turn.outcome.as_ref()?, turn.content.trim())
    }

    /// Implements [`Program::turn`].
    pub(crate) fn turn_of_text(&self, session: &Session, answer: &str) -> Turn {
        let session = self.session_of(session, answer);
        let mut turn = Turn::answer(&self.run(&session, answer));
        turn.outcome.iter_mut().for_each(PastOutcome::forget_requests);
        // A text without any block is a message without its markup, whatever the pack does with stray text.
        if turn.content.is_empty() && self.read_only(&session, answer) == 0 {
            Turn::new(Speaker::Assistant, answer)
        } else {
            turn
        }
    }

    /// The turns of a history: each answer without its outcome is read as by [`Program::turn`], in the mode that its
    /// line names, if the pack has it.
    #[must_use]
    #[doc(hidden)]
    pub fn turns(&self, session: &Session, history: &History) -> Vec<Turn> {
        let turns = history.lines.iter().map(|line| match line {
            Line::Turn(turn) => turn.clone(),
            Line::Answer { text, mode } => match mode.as_ref().filter(|mode| self.modes.contains_key(*mode)) {
                Some(mode) => self.turn(&Session { mode: mode.clone(), ..session.clone() }, text),
                None => self.turn(session, text),
            },
        });
        turns.collect()
    }

    /// The session in which an earlier answer is read: in the mode of `session`, or else in the first mode with other
    /// dialects that find a block in it. The wrong dialect would read reasoning and calls as text.
    fn session_of(&self, session: &Session, answer: &str) -> Session {
        let own = self.modes.get(&session.mode).map(|mode| mode.dialects.as_slice()).unwrap_or_default();
        let reads_more = |mode: &Mode| mode.dialects.iter().any(|dialect| !own.contains(dialect));
        // Modes with the same dialects read an answer in the same way.
        let mut others = IndexMap::new();
        for (name, mode) in self.modes.iter().filter(|(_, mode)| reads_more(mode)) {
            others.entry(mode.dialects.as_slice()).or_insert(name);
        }
        if others.is_empty() || self.read_only(session, answer) > 0 {
            return session.clone();
        }
        let mut others = others.into_values().map(|name| Session { mode: name.clone(), ..session.clone() });
        others.find(|other| self.read_only(other, answer) > 0).unwrap_or_else(|| session.clone())
    }
}

/// What the user saw of these parts.
fn seen(parts: &PastAnswer) -> String {
    let message = parts.message.as_deref().unwrap_or_default();
    if message.is_empty() {
        let sections = parts.sections.iter().map(|section| section.text.clone());
        let texts: Vec<String> = sections.chain(parts.utterances.iter().map(attributed)).collect();
        return texts.join("\n\n");
    }
    if parts.utterances.is_empty() {
        return message.to_owned();
    }
    let texts = pieces(message, &parts.utterances).into_iter().map(|piece| match piece {
        MessagePiece::Prose(prose) => prose.to_owned(),
        MessagePiece::Utterance(utterance) => attributed(utterance),
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// An utterance with its speaker. In its original form, it would be read as an utterance in the prompt itself.
fn attributed(PastUtterance { speaker, label, text, .. }: &PastUtterance) -> String {
    match label.as_str() {
        "" => format!("({speaker}) {text}"),
        label => format!("({speaker}, {label}) {text}"),
    }
}
