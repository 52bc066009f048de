//! Objects: how is a past answer written in a dialect whose answers are one object?
//!
//! In: the parts of an answer, and a dialect whose blocks are members.
//! Out: a [`Value`] with each part in its member; none if there is no member for some part.
//! Never: writes a value that the answer did not contain.

use super::form::rank;
use super::turn::PastAnswer;
use crate::program::{BlockBinding, Dialect, Mode, NameSource, Program};
use crate::surface::{ENTRIES, Role, WHOLE};
use crate::value::{Object, Value};

impl Program {
    /// The object of an answer with these parts; with the message, unless it is empty.
    pub(super) fn answer_object(
        &self,
        mode: &Mode,
        dialect: &Dialect,
        message: &str,
        given: &PastAnswer,
    ) -> Option<Value> {
        let mut blocks: Vec<_> = dialect.blocks_by_id().filter(|(_, block)| !block.starts).collect();
        blocks.sort_by_key(|(id, block)| rank(&mode.reply, dialect.id, *id, block));
        let blocks = || blocks.iter().map(|(_, block)| *block);
        let mut parts: Vec<(usize, &BlockBinding, Value)> = Vec::new();
        // The value of the first block that can express a part, and the index of the block.
        let find = |role: Role, member: &dyn Fn(&BlockBinding) -> Option<Value>| {
            let mut of_role = blocks().enumerate().filter(|(_, block)| block.role == role);
            of_role.find_map(|(place, block)| Some((place, block, member(block)?)))
        };
        if !message.is_empty() {
            parts.push(find(Role::Message, &|block| entry(block, "", message.into()))?);
        }
        for section in &given.sections {
            let value = || section.value.clone().unwrap_or_else(|| section.text.as_str().into());
            let member = |block: &BlockBinding| {
                let is_named = match &block.called {
                    NameSource::Own => block.name == section.name,
                    NameSource::Word(word) => *word == section.name,
                    NameSource::Attribute(_) => true,
                    NameSource::Around(..) | NameSource::Payload { .. } => false,
                };
                // A text that a template rendered is not the value that it was rendered from.
                let is_made = block.text.is_some() && section.value.is_none();
                if is_named && !is_made { entry(block, &section.name, value()) } else { None }
            };
            parts.push(find(Role::Section, &member)?);
        }
        for one in &given.utterances {
            parts.push(find(Role::Utterance, &|block| entry(block, &one.speaker, one.text.as_str().into()))?);
        }
        for call in &given.calls {
            parts.push(find(Role::Call, &|block| call_entry(block, &call.action, &call.params))?);
        }
        parts.sort_by_key(|(place, ..)| *place);
        let mut answer = Value::Null;
        for (_, block, value) in parts {
            put(&mut answer, block, value)?;
        }
        Some(answer).filter(|answer| !answer.is_null())
    }
}

/// The value of a block that is not a call.
fn entry(block: &BlockBinding, name: &str, value: Value) -> Option<Value> {
    let Some(body) = &block.body else {
        return matches!(block.called, NameSource::Own | NameSource::Word(_)).then_some(value);
    };
    let mut entry = Object::new();
    if let NameSource::Attribute(attribute) = &block.called {
        entry.insert(attribute.as_str(), name.into());
    }
    at_path(&mut entry, body.split('.'), value)?;
    Some(entry.into())
}

/// The value of a call; none if the block is for other actions.
fn call_entry(block: &BlockBinding, action: &str, params: &Value) -> Option<Value> {
    let named = match &block.called {
        NameSource::Attribute(named) => Some(named),
        NameSource::Own => (block.name.trim_end_matches("[]") == action).then_some(None)?,
        NameSource::Word(word) => (word == action).then_some(None)?,
        NameSource::Around(..) | NameSource::Payload { .. } => return None,
    };
    if named.is_none() && block.body.is_none() {
        return Some(params.clone());
    }
    let mut call = Object::new();
    call.extend(named.map(|named| (named.clone(), action.into())));
    match &block.body {
        Some(body) => at_path(&mut call, body.split('.'), params.clone())?,
        None => call.extend(params.as_object()?.iter().map(|(name, value)| (name.to_owned(), value.clone()))),
    }
    Some(call.into())
}

/// Sets the value of a block in an answer: the answer may be the block, or a list of such blocks.
fn put(answer: &mut Value, block: &BlockBinding, value: Value) -> Option<()> {
    match (block.name.as_str(), block.name.strip_prefix(ENTRIES).and_then(|rest| rest.strip_prefix('.'))) {
        // The name that matched a pattern is not known any more.
        (name, _) if name.contains(['*', '?']) => None,
        (WHOLE, _) => answer.is_null().then(|| *answer = value),
        (ENTRIES, _) => list(answer).map(|entries| entries.push(value)),
        (_, Some(path)) => into_entry(list(answer)?, path, value),
        (path, None) => at_segments(object(answer)?, path, value),
    }
}

/// Sets a value at the path of a block's name: `data.files[]` is each entry of the list `files` in the object `data`.
fn at_segments(members: &mut Object, path: &str, value: Value) -> Option<()> {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let name = head.strip_suffix("[]").unwrap_or(head);
    // A list inside a list has no name for its entries.
    if name.ends_with("[]") {
        return None;
    }
    let member = members.entry(name);
    match (rest, name.len() < head.len()) {
        (None, false) => member.is_null().then(|| *member = value),
        (None, true) => list(member).map(|entries| entries.push(value)),
        (Some(rest), false) => at_segments(object(member)?, rest, value),
        (Some(rest), true) => into_entry(list(member)?, rest, value),
    }
}

/// Sets a value in the last entry of a list that lacks one there, or else in a new entry.
fn into_entry(entries: &mut Vec<Value>, path: &str, value: Value) -> Option<()> {
    let last = entries.last_mut().and_then(object);
    if last.is_some_and(|last| at_segments(last, path, value.clone()).is_some()) {
        return Some(());
    }
    let mut entry = Value::Null;
    at_segments(object(&mut entry)?, path, value)?;
    entries.push(entry);
    Some(())
}

/// Sets a value at a path of plain names.
fn at_path<'n>(members: &mut Object, mut path: impl Iterator<Item = &'n str>, value: Value) -> Option<()> {
    let first = path.next()?;
    let rest: Vec<&str> = path.collect();
    let member = members.entry(first);
    if rest.is_empty() {
        return member.is_null().then(|| *member = value);
    }
    at_path(object(member)?, rest.into_iter(), value)
}

/// The members of an object; `null` becomes an object.
fn object(value: &mut Value) -> Option<&mut Object> {
    if value.is_null() {
        *value = Object::new().into();
    }
    value.as_object_mut()
}

/// The entries of a list; `null` becomes a list.
fn list(value: &mut Value) -> Option<&mut Vec<Value>> {
    if value.is_null() {
        *value = Vec::new().into();
    }
    value.as_array_mut()
}
