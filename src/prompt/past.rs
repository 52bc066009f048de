//! Past answers: how is an earlier answer written again, in the form in which answers are asked for now?
//!
//! In: the parts of an answer that counted, the mode, and a way to read a text back.
//! Out: a text from which exactly these parts are read, in the best dialect of the mode; or none.
//! Never: lets a text of the answer form a block: what is written is read back, and must give the same parts.

use super::form::rank;
use super::spelling::Speller;
use super::turn::{Omitted, PastAnswer, PastOutcome, PastUtterance};
use crate::program::{Action, Block, Dialect, Mode, Outside, Program};
use crate::surface::Role;
use std::borrow::Cow;

/// The most names of what is not repeated.
const NAMED: usize = 20;

/// Reads a text in the current mode: the parts that an answer of this text has.
pub(crate) type ReadBack<'r> = &'r dyn Fn(&str) -> PastAnswer;

/// How the texts of an answer are written into its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// As the block decodes them.
    AsTheyAre,
    /// With a character reference for the first character of what would open or close a block.
    Apart,
}

/// Writes past answers in one mode.
#[derive(Clone, Copy)]
pub(crate) struct Rewriter<'p> {
    pub(crate) program: &'p Program,
    pub(crate) mode: &'p Mode,
    pub(crate) read: ReadBack<'p>,
}

impl<'p> Rewriter<'p> {
    /// The answer of a turn with this content, in the first dialect that can hold it: that in which it was given, if the
    /// mode asks for that, or else those that the mode asks for, in order.
    pub(crate) fn rewrite(self, past: &PastOutcome, content: &str) -> Option<String> {
        let answer = past.answer.as_ref()?;
        let message = answer.message.as_deref().unwrap_or(content);
        for dialect in self.dialects(past.dialect.as_deref()) {
            for texts in [Texts::AsTheyAre, Texts::Apart] {
                let Some(given) = self.given(dialect, answer, message, texts) else { break };
                let Some(text) = self.write(dialect, &given) else { break };
                if text.is_empty() {
                    return None;
                }
                if self.reads(dialect, &text, &given) {
                    return Some(self.with_omitted(dialect, text, &answer.omitted, &given));
                }
            }
        }
        None
    }

    /// The dialects of the mode in the order in which they are tried.
    fn dialects(self, own: Option<&str>) -> impl Iterator<Item = &'p Dialect> {
        let own = own.and_then(|name| self.program.dialects.iter().find(|dialect| dialect.name == name));
        let own = own.and_then(|own| self.program.asked_like(self.mode, own));
        let is_other = move |dialect: &&Dialect| own.is_none_or(|own| own.id != dialect.id);
        let others = self.program.asked_dialects_of(self.mode).filter(is_other);
        own.into_iter().chain(others)
    }

    /// Whether exactly the given parts are read from a text.
    fn reads(self, dialect: &Dialect, text: &str, given: &PastAnswer) -> bool {
        let mut read = (self.read)(text);
        read.sections.sort_by(|one, other| one.name.cmp(&other.name));
        read.calls.iter_mut().for_each(|call| {
            if let Some((name, _)) = self.action(dialect, &call.action) {
                call.action.clone_from(name);
            }
        });
        read == *given
    }

    /// The action of this name or spelling.
    fn action(self, dialect: &Dialect, name: &str) -> Option<(&'p String, &'p Action)> {
        let same = |known: &str| dialect.names.same(known, name);
        let spelled = || self.program.actions.iter().find(|(known, action)| action.spellings(known).any(same));
        self.program.actions.get_key_value(name).or_else(spelled)
    }

    /// The parts to write, which are also those to be read back. Actions have the names of their declarations.
    fn given(self, dialect: &Dialect, answer: &PastAnswer, message: &str, texts: Texts) -> Option<PastAnswer> {
        let mut given = PastAnswer { message: Some(message.to_owned()), omitted: Vec::new(), ..answer.clone() };
        // The form of the mode has an order for them, whichever the answer had.
        given.sections.sort_by(|one, other| one.name.cmp(&other.name));
        for call in &mut given.calls {
            call.action.clone_from(self.action(dialect, &call.action)?.0);
        }
        if texts == Texts::Apart {
            let apart = |text: &mut String| *text = self.program.prompts.escape.spoken("", text);
            given.message.iter_mut().for_each(apart);
            given.sections.iter_mut().for_each(|section| apart(&mut section.text));
            given.utterances.iter_mut().for_each(|utterance| apart(&mut utterance.text));
        }
        Some(given)
    }

    fn write(self, dialect: &Dialect, given: &PastAnswer) -> Option<String> {
        // A section that is shown as the message is written once.
        let shows = |message: &str| {
            let shown = self.mode.reply.shows.as_deref();
            given.sections.iter().any(|section| Some(section.name.as_str()) == shown && section.text == message)
        };
        let message = given.message.as_deref().filter(|message| !shows(message)).unwrap_or_default();
        if dialect.outline.is_some() {
            let object = self.program.answer_object(self.mode, dialect, message, given)?;
            return Some(format!("{object:#}"));
        }
        let speller = Speller { program: self.program, dialect, reply: &self.mode.reply };
        // Blocks of a role in the order in which a reply has them, without those that are understood but not asked for.
        let mut blocks: Vec<_> = speller.blocks().filter(|(_, block)| !block.starts).collect();
        blocks.sort_by_key(|(id, block)| rank(&self.mode.reply, dialect.id, *id, block));
        let find = |role: Role, name: &str, label: &str, text: &str| {
            // Of several blocks for one part, those that claim an answer for the dialect are its own way to write it.
            let claims = |block: &Block| block.names.iter().any(|name| dialect.is_claimed_by(name));
            let (own, others): (Vec<_>, Vec<_>) =
                blocks.iter().copied().filter(|(_, block)| block.role == role).partition(|(_, block)| claims(block));
            own.into_iter().chain(others).find_map(|(id, block)| {
                let text = speller.text(id, name, label, text)?;
                Some((rank(&self.mode.reply, dialect.id, id, block), text))
            })
        };
        let utterance = |one: &PastUtterance| find(Role::Utterance, &one.speaker, &one.label, &one.text);
        let mut parts: Vec<((usize, usize), String)> = Vec::new();
        // Text outside every block comes first: nothing before it could take it for its own.
        const OUTSIDE: (usize, usize) = (0, usize::MAX);
        if message.is_empty() {
            parts.extend(given.utterances.iter().map(utterance).collect::<Option<Vec<_>>>()?);
        } else if let Some(block) = find(Role::Message, "", "", message) {
            parts.push(block);
            parts.extend(given.utterances.iter().map(utterance).collect::<Option<Vec<_>>>()?);
        } else {
            for piece in pieces(message, &given.utterances) {
                let text = match piece {
                    Piece::Prose(prose) => prose.to_owned(),
                    Piece::Utterance(one) => utterance(one)?.1,
                };
                parts.push((OUTSIDE, text));
            }
        }
        for section in &given.sections {
            let outside = matches!(&dialect.text, Outside::Section(name) if *name == section.name);
            let block = find(Role::Section, &section.name, "", &section.text);
            parts.push(block.or_else(|| outside.then(|| (OUTSIDE, section.text.clone())))?);
        }
        for call in &given.calls {
            let action = self.program.actions.get(&call.action)?;
            let (block, text) = speller.call(&call.action, action, &call.params)?;
            parts.push((rank(&self.mode.reply, dialect.id, block, dialect.block(block)?), text));
        }
        parts.sort_by_key(|(rank, _)| *rank);
        let text = parts.iter().map(|(_, text)| text.trim_end()).collect::<Vec<_>>().join("\n\n");
        Some(speller.around(&text).unwrap_or(text))
    }

    /// The text with the names of what is not repeated, if nothing else is read of it then.
    fn with_omitted(self, dialect: &Dialect, text: String, omitted: &[Omitted], given: &PastAnswer) -> String {
        if omitted.is_empty() {
            return text;
        }
        let name = |one: &Omitted| match one.key.as_str() {
            "" => one.name.clone(),
            key => format!("{} `{key}`", one.name),
        };
        let names: Vec<String> = omitted.iter().take(NAMED).map(name).collect();
        let more = match omitted.len().saturating_sub(NAMED) {
            0 => Cow::Borrowed(""),
            more => Cow::Owned(format!(", and {more} more")),
        };
        let words = format!("(This answer also had, not repeated here: {}{more}.)", names.join(", "));
        let named = format!("{text}\n\n{}", self.program.prompts.escape.spoken("", &words));
        if self.reads(dialect, &named, given) { named } else { text }
    }
}

/// A part of a message with utterances in it.
pub(crate) enum Piece<'t> {
    Prose(&'t str),
    Utterance(&'t PastUtterance),
}

/// A message with the utterances in their places.
pub(crate) fn pieces<'t>(message: &'t str, utterances: &'t [PastUtterance]) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let mut rest = message;
    let prose = |text: &'t str| Some(Piece::Prose(text.trim())).filter(|_| !text.trim().is_empty());
    for utterance in utterances {
        let before = utterance.offset.saturating_sub(message.len() - rest.len());
        let (text, after) = rest.split_at_checked(before).unwrap_or((rest, ""));
        pieces.extend(prose(text));
        pieces.push(Piece::Utterance(utterance));
        rest = after;
    }
    pieces.extend(prose(rest));
    pieces
}
