//! Past answers: what of an answer does a history hold?
//!
//! In: an outcome; or an answer whose outcome is gone, which is then read once.
//! Out: a [`Turn`] with what the user saw.
//! Never: shows more of an answer than its user saw.

use super::contract::{Outcome, Utterance};
use crate::program::{Mode, Program};
use crate::prompt::{History, Line, PastOutcome, Turn};
use crate::session::Session;
use indexmap::IndexMap;

impl Turn {
    /// An answer of the model, as its user saw it: the message, with the utterances in their places. Without a message,
    /// these are the sections and the utterances. What was withheld or dropped is no part of it.
    pub fn answer(outcome: &Outcome) -> Self {
        let past = PastOutcome { mode: outcome.mode.clone(), dialect: outcome.dialect.clone() };
        Self { outcome: Some(past), ..Self::assistant(seen(outcome)) }
    }
}

impl Program {
    /// The turn for an answer of which only the text is left, whole or without its markup. It is read in the session's
    /// mode, or else in the first mode whose dialects find a block in it. A text without any block is a message.
    ///
    /// A host that keeps the outcome uses [`Turn::answer`], which reads nothing.
    ///
    /// ```
    /// use rulebook::prompt::Turn;
    /// # use rulebook::{Folder, Program};
    /// # let pack = "[pack]\nname = \"x\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = { thinking = { role = \"thinking\" }, message = { role = \"message\" } }";
    /// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).into_result()?;
    /// let (session, answer) = (program.session(), "<thinking>Sly.</thinking><message>Hello.</message>");
    ///
    /// let turn = program.turn(&session, answer);
    /// assert_eq!(turn.content, "Hello.");
    /// assert_eq!(turn, Turn::answer(&program.run(&session, answer)));
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    #[must_use]
    pub fn turn(&self, session: &Session, answer: &str) -> Turn {
        let session = self.session_of(session, answer);
        let turn = Turn::answer(&self.run(&session, answer));
        // Without a block, this is a message without its markup, whatever the pack does with stray text.
        if turn.content.is_empty() && self.read_only(&session, answer) == 0 { Turn::assistant(answer) } else { turn }
    }

    /// The turns of a history: each answer without its outcome is read as by [`Program::turn`], in the mode that its line
    /// names, if the pack has it.
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

    /// The session to read an answer in that was given earlier: in the mode of `session`, or else in the first mode with
    /// other dialects that find a block in it. Read by the wrong dialect, reasoning and calls would be text.
    fn session_of(&self, session: &Session, answer: &str) -> Session {
        let own = self.modes.get(&session.mode).map(|mode| mode.dialects.as_slice()).unwrap_or_default();
        let reads_more = |mode: &Mode| mode.dialects.iter().any(|dialect| !own.contains(dialect));
        // Modes with the same dialects read alike.
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

/// What the user saw.
fn seen(outcome: &Outcome) -> String {
    if outcome.message.is_empty() {
        let sections = outcome.sections.iter().map(|section| section.text.clone());
        let texts: Vec<String> = sections.chain(outcome.utterances.iter().map(attributed)).collect();
        return texts.join("\n\n");
    }
    if outcome.utterances.is_empty() {
        return outcome.message.clone();
    }
    let mut texts: Vec<String> = Vec::new();
    let mut rest = outcome.message.as_str();
    for utterance in &outcome.utterances {
        let before = utterance.offset.saturating_sub(outcome.message.len() - rest.len());
        let (prose, after) = rest.split_at_checked(before).unwrap_or((rest, ""));
        texts.extend(Some(prose.trim()).filter(|prose| !prose.is_empty()).map(str::to_owned));
        texts.push(attributed(utterance));
        rest = after;
    }
    texts.extend(Some(rest.trim()).filter(|prose| !prose.is_empty()).map(str::to_owned));
    texts.join("\n\n")
}

/// An utterance with its speaker. In its original form it would read as an utterance of the prompt itself.
fn attributed(Utterance { speaker, label, text, .. }: &Utterance) -> String {
    match label.as_str() {
        "" => format!("({speaker}) {text}"),
        label => format!("({speaker}, {label}) {text}"),
    }
}
