//! Forms: how is a valid answer written in this mode?
//!
//! In: the dialects of a mode, the shape of its reply, and the actions that it permits.
//! Out: an [`AnswerForm`] for each dialect: an example of every block that a reply may have, in order, and of a whole
//! answer.
//! Never: invents markup: the dialect's own grammar reads every opener and closer.

use super::answer::CallParams;
use super::spelling::{PROSE, Speller};
use crate::program::{
    Action, ActionId, BlockBinding, BlockId, Count, Dialect, DialectId, ExampleMembers, Mode, NameSource, Program,
    ReplyShape, TextRole, example,
};
use crate::surface::{Ending, Role};
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// How an answer is written in one dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnswerForm {
    /// The dialect.
    pub dialect: String,
    /// An example of a whole answer.
    pub text: String,
    /// Its blocks, in order.
    pub blocks: Vec<BlockForm>,
}

/// How one block of an answer is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockForm {
    /// Its name in the dialect.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// What belongs in it.
    pub about: Option<String>,
    /// Whether a reply must have it.
    pub required: bool,
    /// The most that a reply may have; none for no limit.
    pub most: Option<usize>,
    /// An example.
    pub text: String,
}

/// Which actions the example calls of a form are of.
#[derive(Default)]
pub(super) struct ExampleActions<'a> {
    /// If the mode permits some of these, the examples are calls of these.
    pub(super) wanted: &'a [ActionId],
    /// No example is a call of these.
    pub(super) excluded: &'a [ActionId],
}

impl Program {
    /// How an answer in `mode` is written, for each of its dialects in order; none if the pack does not have the mode.
    #[doc(hidden)]
    pub fn forms(&self, mode: &str) -> Vec<AnswerForm> {
        let Some(mode) = self.modes.get(mode) else { return Vec::new() };
        self.asked_dialects_of(mode).map(|dialect| self.form(mode, dialect, &ExampleActions::default())).collect()
    }

    /// The form in one dialect, with examples of calls of these actions.
    pub(super) fn form(&self, mode: &Mode, dialect: &Dialect, examples: &ExampleActions<'_>) -> AnswerForm {
        if let Some(form) = self.object_form(mode, dialect) {
            return form;
        }
        let (blocks, _) = self.block_forms(mode, dialect, examples);
        let join =
            |forms: &[&BlockForm]| forms.iter().map(|form| form.text.trim_end()).collect::<Vec<_>>().join("\n\n");
        // Reasoning comes before the wrapper.
        let (before, rest): (Vec<_>, Vec<_>) = blocks.iter().partition(|form| form.role == Role::Thinking);
        let text = match (Speller { program: self, dialect, reply: &mode.reply }).around(&join(&rest)) {
            Some(wrapped) if before.is_empty() => wrapped,
            Some(wrapped) => format!("{}\n\n{wrapped}", join(&before)),
            None => join(&blocks.iter().collect::<Vec<_>>()),
        };
        AnswerForm { dialect: dialect.name.clone(), text, blocks }
    }

    /// The blocks of a mode that no grammar of their dialect can write.
    pub(crate) fn unspelled<'p>(&'p self, mode: &'p Mode) -> Vec<(&'p Dialect, &'p BlockBinding)> {
        let dialects = self.asked_dialects_of(mode).filter(|dialect| dialect.outline.is_none());
        let unspelled = |dialect: &'p Dialect| {
            let (_, blocks) = self.block_forms(mode, dialect, &ExampleActions::default());
            blocks.into_iter().map(move |block| (dialect, block))
        };
        dialects.flat_map(unspelled).collect()
    }

    /// The forms of the blocks that a reply may have, in order, and the blocks that cannot be written.
    fn block_forms<'p>(
        &'p self,
        mode: &'p Mode,
        dialect: &'p Dialect,
        examples: &ExampleActions<'_>,
    ) -> (Vec<BlockForm>, Vec<&'p BlockBinding>) {
        let speller = Speller { program: self, dialect, reply: &mode.reply };
        let permits = self.permitted(mode).next().is_some();
        let mut unspelled = Vec::new();
        let mut blocks: Vec<(BlockId, &'p BlockBinding)> = speller.blocks().collect();
        blocks.sort_by_key(|(id, block)| rank(&mode.reply, dialect.id, *id, block));
        let mut call_in = self.spelled_calls(mode, speller, examples);
        let mut listed: Vec<(Role, &str)> = Vec::new();
        let mut has_name = false;
        let mut forms = Vec::new();
        for (id, block) in blocks {
            let count = mode.reply.count_of(dialect.id, id);
            let most = mode.reply.most(block, count);
            let required = block.role != Role::Call && count.is_some_and(|count| count.required);
            // If several blocks have the same name in the outcome, only the first is included.
            let known = match &block.called {
                NameSource::Word(word) => listed.contains(&(block.role, word)),
                // If the name of the action is in the answer, one example of a call is enough.
                _ if block.role == Role::Call => has_name,
                _ => listed.contains(&(block.role, &block.name)),
            };
            // Wrappers and reasoning are read, but prompts do not ask for them, nor for a form of a block that needs a
            // wrapper.
            let within = matches!(block.key, Some(NameSource::Around(..)));
            let unlisted = block.role == Role::Wrapper || block.starts || block.hidden || within;
            if most == Some(0) || known || unlisted {
                continue;
            }
            let text = match block.role {
                Role::Call if !permits => continue,
                Role::Call => call_in(id),
                // Leave out a content that the mode forbids by its name.
                Role::Content if self.forbids_content(mode, content_name(block)) => continue,
                _ => speller.example(id, count.and_then(|count| count.lists.as_deref())),
            };
            let Some(text) = text else {
                unspelled.push(block);
                continue;
            };
            if let NameSource::Word(word) = &block.called {
                listed.push((block.role, word));
            } else {
                has_name |= block.role == Role::Call;
                listed.push((block.role, &block.name));
            }
            let (name, about) = (block.name.clone(), block.about.clone());
            forms.push(BlockForm { name, role: block.role, about, required, most, text });
        }
        if let Some(prose) = prose(&mode.reply, dialect) {
            let before = forms.iter().take_while(|form: &&BlockForm| form.role == Role::Thinking).count();
            forms.insert(before, prose);
        }
        // A block for calls that cannot be written is not reported if another block has an example of a call.
        let shows = |block: &BlockBinding| forms.iter().any(|form| form.role == Role::Call) && block.role == Role::Call;
        unspelled.retain(|block| !shows(block));
        (forms, unspelled)
    }

    /// The example calls of each block: those of the permitted actions that are wanted, or else one of any permitted
    /// action.
    fn spelled_calls<'p>(
        &'p self,
        mode: &'p Mode,
        speller: Speller<'p>,
        examples: &ExampleActions<'_>,
    ) -> impl FnMut(BlockId) -> Option<String> + use<'p> {
        let excluded = examples.excluded.to_vec();
        let permitted = move |id: &ActionId| {
            let may_permit = |(name, action): (&String, &Action)| !action.is_pattern && mode.may_permit(name);
            !excluded.contains(id) && self.action(*id).is_some_and(may_permit)
        };
        let spelled = move |id: ActionId| {
            let (name, action) = self.action(id)?;
            speller.example_call(name, action)
        };
        let wanted: Vec<ActionId> = examples.wanted.iter().copied().filter(&permitted).collect();
        let wanted = speller.example_calls(
            wanted.into_iter().filter_map(|id| self.action(id)).map(|(name, action)| (name.as_str(), action)),
        );
        // Each permitted action is written at most once, whichever block its call is in.
        let mut remaining = self.actions_by_id().map(|(id, ..)| id).filter(permitted).filter_map(spelled);
        let mut asked: Vec<(BlockId, String)> = Vec::new();
        move |id| {
            let here = |(holds, _): &&(BlockId, String)| *holds == id;
            if !wanted.is_empty() {
                let calls: Vec<&str> = wanted.iter().filter(here).map(|(_, text)| text.as_str()).collect();
                return Some(calls.join("\n\n")).filter(|calls| !calls.is_empty());
            }
            if let Some((_, known)) = asked.iter().find(here) {
                return Some(known.clone());
            }
            remaining.find_map(|(holds, text)| {
                asked.push((holds, text.clone()));
                (holds == id).then_some(text)
            })
        }
    }

    /// The form of an answer that is one object.
    fn object_form(&self, mode: &Mode, dialect: &Dialect) -> Option<AnswerForm> {
        // There is no example for a member whose name is a pattern.
        let members = self.answer_members(mode, dialect, CallParams::Exemplified)?.into_iter();
        let blocks = members.filter(|member| !member.block.name.contains(['*', '?'])).map(|member| {
            let (name, about) = (member.block.name.clone(), member.block.about.clone());
            let most = mode.reply.most(member.block, mode.reply.count_of(dialect.id, member.id));
            let role = member.block.role;
            BlockForm { name, role, about, required: member.required, most, text: spelled(&member.alone) }
        });
        let blocks = blocks.collect();
        let text = spelled(&self.answer_schema(mode, dialect, CallParams::Exemplified, false)?);
        Some(AnswerForm { dialect: dialect.name.clone(), text, blocks })
    }
}

/// An example of a value for a schema, as a model would write it.
pub(super) fn spelled(schema: &Value) -> String {
    format!("{:#}", example(schema, ExampleMembers::AllDescribed))
}

/// The form of text outside every block, if the reply must have a message and no block is one.
fn prose(reply: &ReplyShape, dialect: &Dialect) -> Option<BlockForm> {
    let is_block = |count: &Count| count.blocks.iter().any(|(read, _)| *read == dialect.id);
    let mut needed = reply.counts.iter().filter(|count| count.required && count.message && !is_block(count));
    let count = needed.next().filter(|_| dialect.text == TextRole::Message)?;
    let (name, role, text) = (count.name.clone(), Role::Message, PROSE.to_owned());
    Some(BlockForm { name, role, about: None, required: true, most: None, text })
}

/// The rank of a block in a reply: by the order of the reply; otherwise texts come before calls and contents, and what
/// ends only with the answer comes last.
pub(super) fn rank(reply: &ReplyShape, dialect: DialectId, id: BlockId, block: &BlockBinding) -> (usize, usize) {
    let role = match block.role {
        Role::Thinking => 0,
        Role::Message => 1,
        Role::Section | Role::Utterance => 2,
        Role::Call => 3,
        Role::Content | Role::Wrapper => 4,
    };
    match reply.rank(dialect, id) {
        Some(place) => (2, place),
        None if block.ends.iter().flatten().all(|ending| *ending == Ending::End) && !block.ends.is_empty() => (4, role),
        // Blocks outside the order: texts come before those in the order, calls and contents after them.
        None => (if role < 3 { 1 } else { 3 }, role),
    }
}

/// The name that a content of this block has in the outcome.
fn content_name(block: &BlockBinding) -> &str {
    match &block.called {
        NameSource::Word(word) => word,
        _ => &block.name,
    }
}
