//! Past answers: how is an earlier answer written in the form that prompts ask for now?
//!
//! In: the parts of an answer that counted, the mode, and a function that parses a text.
//! Out: a text from which exactly these parts are read, in the best dialect of the mode; or none.
//! Never: lets a text of the answer form a block: the result is parsed again, and must give the same parts.

use super::calls::CallToWrite;
use super::form::rank;
use super::spelling::Speller;
use super::turn::{Omitted, PastAnswer, PastCall, PastOutcome, PastSection, PastUtterance};
use crate::program::{Action, BlockBinding, BlockId, Dialect, Mode, Program, TextRole};
use crate::session::{Resolution, Session};
use crate::surface::Role;
use std::borrow::Cow;

/// The most names of omitted parts that are listed.
const MAX_NAMED_PARTS: usize = 20;

/// Reads a text in the current mode: the parts that an answer with this text has.
pub(crate) type ReadBack<'r> = &'r dyn Fn(&str) -> PastAnswer;

/// How the texts of an answer are written into its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextPlacement {
    /// Encoded as the block decodes them.
    AsTheyAre,
    /// With a character reference for the first character of everything that would open or close a block.
    Apart,
}

/// Writes past answers in one mode.
#[derive(Clone, Copy)]
pub(crate) struct Rewriter<'p> {
    pub(crate) program: &'p Program,
    pub(crate) session: &'p Session,
    pub(crate) mode: &'p Mode,
    pub(crate) read: ReadBack<'p>,
}

impl<'p> Rewriter<'p> {
    /// The answer of a turn with this content, in the first dialect that can express it: the one in which it was given,
    /// if the mode asks for that, or else those that the mode asks for, in order.
    pub(crate) fn rewrite(self, past: &PastOutcome, content: &str) -> Option<String> {
        let answer = &*self.without_dropped(past.answer.as_ref()?);
        let message = answer.message.as_deref().unwrap_or(content);
        for dialect in self.dialects(past.dialect.as_deref()) {
            for texts in [TextPlacement::AsTheyAre, TextPlacement::Apart] {
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

    /// The answer without the calls that waited in vain: no answer may look as if they had been carried out.
    fn without_dropped(self, answer: &PastAnswer) -> Cow<'_, PastAnswer> {
        let is_dropped = |call: &PastCall| {
            let id = call.pending.as_ref().filter(|id| !self.session.waits(id));
            let resolved = id.and_then(|id| self.session.resolved.get(id));
            resolved.is_some_and(|call| call.resolution != Resolution::Confirmed)
        };
        let mut answer = Cow::Borrowed(answer);
        if answer.calls.iter().any(|call| call.pending.is_some()) {
            answer.to_mut().calls.retain(|call| !is_dropped(call));
        }
        answer
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

    /// The action with this name or spelling.
    fn action(self, dialect: &Dialect, name: &str) -> Option<(&'p String, &'p Action)> {
        let same = |known: &str| dialect.names.same(known, name);
        let spelled = || self.program.actions.iter().find(|(known, action)| action.spellings(known).any(same));
        let found = self.program.actions.get_key_value(name).or_else(spelled);
        found.map(|(name, action)| (name, &**action))
    }

    /// The parts to write, which must also be the ones that are read back. Actions have their declared names.
    fn given(self, dialect: &Dialect, answer: &PastAnswer, message: &str, texts: TextPlacement) -> Option<PastAnswer> {
        let mut given = PastAnswer { message: Some(message.to_owned()), omitted: Vec::new(), ..answer.clone() };
        // The form of the mode determines the order of sections, whatever their order in the answer was.
        given.sections.sort_by(|one, other| one.name.cmp(&other.name));
        for call in &mut given.calls {
            call.action.clone_from(self.action(dialect, &call.action)?.0);
            call.pending = None;
        }
        if texts == TextPlacement::Apart {
            let apart = |text: &mut String| *text = self.program.prompts.escape.spoken("", text);
            given.message.iter_mut().for_each(apart);
            given.sections.iter_mut().for_each(|section| apart(&mut section.text));
            given.utterances.iter_mut().for_each(|utterance| apart(&mut utterance.text));
        }
        Some(given)
    }

    /// The text of an answer with these parts; none if the dialect has no block for one of them.
    fn write(self, dialect: &'p Dialect, given: &PastAnswer) -> Option<String> {
        // A section that becomes the message is written only once.
        let shows = |message: &str| {
            let as_message = self.mode.reply.shows.as_deref();
            given.sections.iter().any(|section| Some(section.name.as_str()) == as_message && section.text == message)
        };
        let message = given.message.as_deref().filter(|message| !shows(message)).unwrap_or_default();
        if dialect.outline.is_some() {
            let object = self.program.answer_object(self.mode, dialect, message, given)?;
            return Some(format!("{object:#}"));
        }
        let writer = Writer::new(self, dialect);
        let mut parts = writer.texts(message, &given.utterances)?;
        for section in &given.sections {
            parts.push(writer.section(section)?);
        }
        parts.extend(writer.calls(&given.calls)?);
        parts.sort_by_key(|part| part.rank);
        let text = parts.iter().map(|part| part.text.trim_end()).collect::<Vec<_>>().join("\n\n");
        Some(writer.speller.around(&text).unwrap_or(text))
    }

    /// The text with a list of the omitted parts, if exactly the same parts are still read from it.
    fn with_omitted(self, dialect: &Dialect, text: String, omitted: &[Omitted], given: &PastAnswer) -> String {
        if omitted.is_empty() {
            return text;
        }
        let name = |one: &Omitted| match one.key.as_str() {
            "" => one.name.clone(),
            key => format!("{} `{key}`", one.name),
        };
        let names: Vec<String> = omitted.iter().take(MAX_NAMED_PARTS).map(name).collect();
        let more = match omitted.len().saturating_sub(MAX_NAMED_PARTS) {
            0 => Cow::Borrowed(""),
            more => Cow::Owned(format!(", and {more} more")),
        };
        let words = format!("(This answer also had, not repeated here: {}{more}.)", names.join(", "));
        let named = format!("{text}\n\n{}", self.program.prompts.escape.spoken("", &words));
        if self.reads(dialect, &named, given) { named } else { text }
    }
}

/// Writes the parts of an answer in one dialect.
struct Writer<'p> {
    speller: Speller<'p>,
    /// The blocks in the order in which they are tried, each with its rank in a reply.
    blocks: Vec<(Rank, BlockId, &'p BlockBinding)>,
}

/// The rank of a part in an answer.
type Rank = (usize, usize);

/// The rank of text outside every block: it comes first, so that no block before it can include it.
const OUTSIDE: Rank = (0, usize::MAX);

/// A written part of an answer.
struct WrittenPart {
    rank: Rank,
    text: String,
}

impl<'p> Writer<'p> {
    fn new(Rewriter { program, mode, .. }: Rewriter<'p>, dialect: &'p Dialect) -> Self {
        let speller = Speller { program, dialect, reply: &mode.reply };
        // Blocks that are read, but that prompts do not ask for, are not written.
        let asked = speller.blocks().filter(|(_, block)| !block.starts);
        let mut blocks: Vec<_> =
            asked.map(|(id, block)| (rank(&mode.reply, dialect.id, id, block), id, block)).collect();
        // If several blocks can express a part, those that prompts ask for come first, and among these the ones that
        // claim an answer for the dialect.
        let claims = |block: &BlockBinding| block.names.iter().any(|name| dialect.is_claimed_by(name));
        blocks.sort_by_key(|(rank, _, block)| (block.hidden, !claims(block), *rank));
        Self { speller, blocks }
    }

    /// The first block of a role that can express these values.
    fn block(&self, role: Role, name: &str, label: &str, text: &str) -> Option<WrittenPart> {
        let mut of_role = self.blocks.iter().filter(|(.., block)| block.role == role);
        of_role.find_map(|(rank, id, _)| {
            Some(WrittenPart { rank: *rank, text: self.speller.text(*id, name, label, text)? })
        })
    }

    /// The message, with the utterances at their offsets if it is text outside every block.
    fn texts(&self, message: &str, utterances: &[PastUtterance]) -> Option<Vec<WrittenPart>> {
        let utterance = |one: &PastUtterance| self.block(Role::Utterance, &one.speaker, &one.label, &one.text);
        let block = self.block(Role::Message, "", "", message).filter(|_| !message.is_empty());
        if message.is_empty() || block.is_some() {
            return block.map(Some).into_iter().chain(utterances.iter().map(utterance)).collect();
        }
        let pieces = pieces(message, utterances).into_iter().map(|piece| {
            let text = match piece {
                MessagePiece::Prose(prose) => prose.to_owned(),
                MessagePiece::Utterance(one) => utterance(one)?.text,
            };
            Some(WrittenPart { rank: OUTSIDE, text })
        });
        pieces.collect()
    }

    fn section(&self, section: &PastSection) -> Option<WrittenPart> {
        let is_outside = matches!(&self.speller.dialect.text, TextRole::Section(name) if *name == section.name);
        let outside = || is_outside.then(|| WrittenPart { rank: OUTSIDE, text: section.text.clone() });
        self.block(Role::Section, &section.name, "", &section.text).or_else(outside)
    }

    fn calls<'c>(&'c self, calls: &'c [PastCall]) -> Option<Vec<WrittenPart>> {
        let call = |(index, call): (usize, &'c PastCall)| {
            let action = self.speller.program.actions.get(&call.action)?;
            Some(CallToWrite { name: &call.action, action, params: &call.params, index })
        };
        let calls: Vec<CallToWrite<'_>> = calls.iter().enumerate().map(call).collect::<Option<_>>()?;
        let part = |(written, text)| {
            let (rank, ..) = self.blocks.iter().find(|(_, id, _)| *id == written)?;
            Some(WrittenPart { rank: *rank, text })
        };
        self.speller.calls(&calls)?.into_iter().map(part).collect()
    }
}

/// A piece of a message with utterances.
pub(crate) enum MessagePiece<'t> {
    Prose(&'t str),
    Utterance(&'t PastUtterance),
}

/// The pieces of a message, with the utterances at their offsets.
pub(crate) fn pieces<'t>(message: &'t str, utterances: &'t [PastUtterance]) -> Vec<MessagePiece<'t>> {
    let mut pieces = Vec::new();
    let mut rest = message;
    let prose = |text: &'t str| Some(MessagePiece::Prose(text.trim())).filter(|_| !text.trim().is_empty());
    for utterance in utterances {
        let before = utterance.offset.saturating_sub(message.len() - rest.len());
        let (text, after) = rest.split_at_checked(before).unwrap_or((rest, ""));
        pieces.extend(prose(text));
        pieces.push(MessagePiece::Utterance(utterance));
        rest = after;
    }
    pieces.extend(prose(rest));
    pieces
}
