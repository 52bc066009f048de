//! Spelling: how is a block of a dialect written?
//!
//! In: a dialect, one of its blocks, and its content: given values, or examples.
//! Out: the text of the block, as its grammar reads it.
//! Never: knows a dialect by name, or decides which blocks a reply has.

use super::calls::CallToWrite;
use super::fields::{FieldSpelling, closer};
use crate::grammar::{RuleId, SpelledCapture};
use crate::markup::Guarding as _;
use crate::program::{
    BlockBinding, BlockId, Closer, Dialect, ExampleMembers, Family, NameSource, Program, ReplyShape, Schema, example,
    tag_family,
};
use crate::surface::{BlockLayout, Decoding, Ending, NAME, Payload, Role, Trim};
use crate::text::{Slice, glob};
use crate::value::{Object, Value};
use std::borrow::Cow;

/// The example text of a message.
pub(super) const PROSE: &str = "What the user is told";

/// Texts to try in place of a `*`; most grammars accept one of them.
const WILD: [&str; 3] = ["name", "Name", "NAME"];

/// The content of a block that is not a call.
#[derive(Clone)]
struct Filling<'t> {
    /// The names that may open it, the best first.
    names: Vec<String>,
    /// The name, for a block whose name is in an attribute.
    name: &'t str,
    /// The key, for a content.
    key: &'t str,
    /// The label after the speaker of an utterance; empty without one.
    label: &'t str,
    /// The text after decoding.
    body: Cow<'t, str>,
}

/// Writes the blocks of one dialect.
#[derive(Clone, Copy)]
pub(super) struct Speller<'p> {
    pub(super) program: &'p Program,
    pub(super) dialect: &'p Dialect,
    /// The shape of the reply, which may limit the keys of contents.
    pub(super) reply: &'p ReplyShape,
}

impl<'p> Speller<'p> {
    /// A call in the first block that can express it; with that block.
    pub(super) fn call(self, call: &CallToWrite<'_>) -> Option<(BlockId, String)> {
        let mut calls = self.blocks().filter(|(_, block)| block.role == Role::Call);
        calls.find_map(|(id, _)| Some((id, self.calls_in(id, std::slice::from_ref(call))?)))
    }

    /// Calls in one block: several only if its payload is a list of calls. None if the block cannot express them.
    pub(super) fn calls_in(self, id: BlockId, calls: &[CallToWrite<'_>]) -> Option<String> {
        let (block, CallToWrite { name, action, params, index }) = (self.block(id)?, calls.first()?);
        let (names, attributes) = match &block.called {
            // The grammar may be able to read only another spelling of the action's name.
            NameSource::Own => (action.spellings(name).map(str::to_owned).collect(), vec![]),
            NameSource::Attribute(attribute) => (self.names(block), vec![(attribute.as_str(), *name)]),
            NameSource::Word(word) if action.spellings(name).any(|one| one == word) => (self.names(block), vec![]),
            NameSource::Payload { .. } if is_named(block) => (self.names(block), vec![(NAME, *name)]),
            NameSource::Payload { .. } => (self.names(block), vec![]),
            NameSource::Word(_) | NameSource::Around(..) => return None,
        };
        let others = self.params_in_opener(id, block, params);
        let others = others.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let attributes: Vec<(&str, &str)> = attributes.into_iter().chain(others).collect();
        let payload = |family: &Family, layout: Option<&BlockLayout>| self.payload(block, calls, family, layout);
        self.spell((id, block), *index, &names, &attributes, &payload)
    }

    /// An example of a block that is not a call; `lists` is the content whose keys it lists.
    pub(super) fn example(self, id: BlockId, lists: Option<&str>) -> Option<String> {
        let block = self.block(id)?;
        let body = match lists.filter(|_| block.payload.contains(&Payload::Bullets)) {
            Some(contents) => Cow::Owned(format!("* `{}`", self.example_key(contents))),
            None => self.body(block),
        };
        let filling = Filling { names: self.names(block), key: &self.key(block), name: WILD[0], label: "", body };
        // If the grammar requires a label after the speaker, write one.
        let labelled = || (block.role == Role::Utterance).then(|| Filling { label: "Label", ..filling.clone() });
        self.filled(id, &filling).or_else(|| self.filled(id, &labelled()?))
    }

    /// A message or a section with this text, or an utterance with or without a label; none if the block cannot have
    /// this name.
    pub(super) fn text(self, id: BlockId, name: &str, label: &str, text: &str) -> Option<String> {
        let block = self.block(id)?;
        let names = match &block.called {
            NameSource::Own if block.role == Role::Utterance => vec![name.to_owned()],
            NameSource::Own if block.name != name && block.role != Role::Message => return None,
            NameSource::Word(word) if word != name && block.role != Role::Message => return None,
            // The name that matched a `*` in the answer is not known any more.
            NameSource::Own | NameSource::Word(_) | NameSource::Attribute(_) => {
                block.names.iter().filter(|name| !name.contains(['*', '?'])).cloned().collect()
            }
            NameSource::Around(..) | NameSource::Payload { .. } => return None,
        };
        self.filled(id, &Filling { names, key: "", name, label, body: text.into() })
    }

    /// A block that is not a call, with this content.
    fn filled(self, id: BlockId, filling: &Filling<'_>) -> Option<String> {
        let block = self.block(id)?;
        let mut names = filling.names.clone();
        let mut attributes = Vec::new();
        match &block.key {
            Some(NameSource::Own) => names.insert(0, filling.key.to_owned()),
            Some(NameSource::Attribute(attribute)) => attributes.push((attribute.as_str(), filling.key)),
            Some(NameSource::Word(_) | NameSource::Around(..) | NameSource::Payload { .. }) | None => {}
        }
        if let NameSource::Attribute(attribute) = &block.called {
            attributes.push((attribute, filling.name));
        }
        if !filling.label.is_empty() {
            attributes.push(("label", filling.label));
        }
        let body = self.written(&filling.body, block.decode);
        let fenced = format!("```\n{body}\n```");
        let body = |family: &Family, layout: Option<&BlockLayout>| {
            if layout.is_some() {
                return Some(body.clone());
            }
            let ladder = family.ladder(block);
            match ladder.first()?.as_slice() {
                // A block that ends with a code fence is written with one.
                [Ending::Fence, ..] => Some(fenced.clone()),
                [Ending::Payload, ..] => {
                    let reads = |body: &&String| family.payload.is_none_or(|rule| family.grammar.reads(rule, body));
                    [&body, &fenced].into_iter().find(reads).cloned()
                }
                _ => Some(body.clone()),
            }
        };
        self.spell((id, block), 0, &names, &attributes, &body)
    }

    /// The text inside the wrapper that an answer needs, if only the wrapper claims an answer for the dialect.
    pub(super) fn around(self, text: &str) -> Option<String> {
        let needed = |block: &BlockBinding| -> Vec<String> {
            self.names(block).into_iter().filter(|name| self.dialect.is_claimed_by(name)).collect()
        };
        let mut claiming = self.blocks().map(|(id, block)| (id, block, needed(block))).filter(|one| !one.2.is_empty());
        let (id, block, names) = claiming.next().filter(|_| !self.dialect.needs.is_empty() && !text.is_empty())?;
        let wraps = |block: &BlockBinding| block.role == Role::Wrapper;
        let alone = wraps(block) && claiming.all(|(_, block, _)| wraps(block));
        let alone = alone && block.layout.is_none();
        if alone { self.spell((id, block), 0, &names, &[], &|_, _| Some(text.to_owned())) } else { None }
    }

    /// The blocks of the dialect with their ids.
    pub(super) fn blocks(self) -> impl Iterator<Item = (BlockId, &'p BlockBinding)> {
        self.dialect.blocks_by_id()
    }

    fn block(self, id: BlockId) -> Option<&'p BlockBinding> {
        self.dialect.block(id)
    }

    /// The names that a block can have in an answer.
    fn names(self, block: &BlockBinding) -> Vec<String> {
        // The example of a speaker is a capitalised name, if the grammar allows it.
        let proper = usize::from(block.role == Role::Utterance);
        let wild = || WILD.iter().skip(proper).chain(WILD.iter().take(proper));
        let spelled = |name: &String| match name.contains(['*', '?']) {
            true => wild().map(|word| filled(name, word)).collect(),
            false => vec![name.clone()],
        };
        block.names.iter().flat_map(spelled).collect()
    }

    /// An example of the key of a content.
    fn key(self, block: &BlockBinding) -> String {
        let name = match &block.called {
            NameSource::Word(word) => word,
            _ => &block.name,
        };
        self.example_key(name)
    }

    fn example_key(self, content: &str) -> String {
        let declared = self.program.contents.get(content).and_then(|content| content.example.as_ref());
        let example = declared.map_or(WILD[0], |example| example.value.as_str());
        // One example may be for several modes, and each mode may allow other keys.
        let keys = self.reply.counts.iter().filter(|count| count.name == content).flat_map(|count| &count.keys);
        let mut keys = keys.peekable();
        match keys.peek().copied() {
            Some(first) if !keys.any(|key| glob(key, example)) => filled(first, WILD[0]),
            _ => example.to_owned(),
        }
    }

    /// An example of the body of a block.
    fn body(self, block: &'p BlockBinding) -> Cow<'p, str> {
        let described = match block.role {
            Role::Message => PROSE,
            Role::Thinking => "Your reasoning",
            Role::Content => "The whole text",
            Role::Section => match block.payload.first() {
                Some(Payload::Bullets) => "- Text",
                Some(Payload::Json) => "{}",
                _ => "Text",
            },
            Role::Utterance | Role::Call | Role::Wrapper => "Text",
        };
        let schema = block.schema.as_ref().map(Schema::json).filter(|_| block.text.is_none());
        match (block.role, schema) {
            (Role::Section, Some(schema)) if block.payload.first() == Some(&Payload::Json) => {
                Cow::Owned(format!("{:#}", example(schema, ExampleMembers::Exemplified)))
            }
            (_, Some(schema)) if schema.get("examples").is_some() => match example(schema, ExampleMembers::Exemplified)
            {
                Value::String(text) => Cow::Owned(text.to_string()),
                value => Cow::Owned(value.to_string()),
            },
            _ => Cow::Borrowed(block.about.as_deref().unwrap_or(described)),
        }
    }

    /// The parameters in the opener of a call, if its payload is read from its attributes.
    fn params_in_opener(self, id: BlockId, block: &BlockBinding, params: &Value) -> Vec<(String, String)> {
        if block.payload.first() != Some(&Payload::Attributes) {
            return Vec::new();
        }
        let behind = |name: &str| block.text_param() == Some(name);
        let params = params.as_object().into_iter().flatten().filter(|(name, _)| !behind(name));
        // If the grammar builds values, its own rules write them.
        let opens = |number: usize| {
            self.names(block).iter().any(|name| self.dialect.names.find(name, Some(number)) == Some(id))
        };
        let own = self.dialect.families.iter().enumerate().find(|(number, _)| opens(*number)).map(|(_, family)| family);
        let built =
            |value: &Value| own.and_then(|family| family.builders.as_ref()?.spell_inside(&family.grammar, value));
        let written = params.map(|(name, value)| {
            if let Some(text) = built(value) {
                return (name.to_owned(), text);
            }
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // A layout contains the quotes around an attribute itself.
            let has_place = block.layout.as_ref().is_some_and(|layout| layout.has(name));
            let as_decoded = has_place || block.decode == Some(Decoding::Escapes);
            let text =
                if as_decoded { self.written(&text, block.decode) } else { escape(&text).replace('"', "&quot;") };
            (name.to_owned(), text)
        });
        written.collect()
    }

    /// The payload of these calls; none if the block cannot express it.
    fn payload(
        self,
        block: &BlockBinding,
        calls: &[CallToWrite<'_>],
        family: &Family,
        layout: Option<&BlockLayout>,
    ) -> Option<String> {
        let CallToWrite { action, params, .. } = calls.first()?;
        let params = match block.named_within() {
            Some((pointer, each)) if !is_named(block) => {
                let call = |call: &CallToWrite<'_>| named_call(pointer, block.body.as_deref(), call);
                if each { calls.iter().map(call).collect() } else { call(calls.first()?) }
            }
            _ => (*params).clone(),
        };
        let types = action.schema.types();
        let is_verbatim = |name: &str| types.member(name).is_some_and(|(_, types)| types.verbatim);
        let behind = block.text_param().is_some_and(is_verbatim);
        let text = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.written(&text, block.decode.filter(|_| !behind))
        };
        match block.payload.first()? {
            // The one parameter that is not an attribute is the text after the opener.
            Payload::Attributes => {
                Some(block.text_param().and_then(|name| params.get(name)).map(text).unwrap_or_default())
            }
            Payload::Tags => {
                // If the dialect's own grammar has no closers, fields are written as tags.
                let own = || if family.close.is_some() { Some(family) } else { tag_family() };
                let fields = block.fields.as_deref().or_else(own);
                let is_verbatim = |name: &str| is_verbatim(name) && block.named_within().is_none();
                let write = |name: &str, text: &str| self.written(text, block.decode.filter(|_| !is_verbatim(name)));
                let fields = FieldSpelling {
                    family: fields?,
                    named: block.field.as_ref(),
                    flat: layout.is_some(),
                    apart: layout.is_some_and(|layout| layout.apart),
                };
                Some(fields.members(&params, &write, 1))
            }
            Payload::Json if family.payload.is_some() && family.builders.is_some() => {
                let built = family.builders.as_ref()?.spell(&family.grammar, &params)?;
                match layout {
                    Some(_) => Some(built),
                    None => family.grammar.spell(family.payload?, &[SpelledCapture::Next(&built)], &["", "\n"]),
                }
            }
            Payload::Json if layout.is_some() => Some(params.on_one_line()),
            Payload::Json | Payload::Bullets => {
                let (pretty, brief) = (format!("{params:#}"), params.to_string());
                let reads = |text: &str| family.payload.is_none_or(|rule| family.grammar.reads(rule, text));
                // If the grammar reads only a part of a payload, its rules write the rest.
                let inside = |text: &String| {
                    family.grammar.spell(family.payload?, &[SpelledCapture::Text(family.body?, text)], &["", "\n"])
                };
                let texts = [pretty, brief];
                let text = texts.iter().find(|text| reads(text)).cloned().or_else(|| texts.iter().find_map(inside))?;
                // If the block removes a code fence around its payload, write one.
                Some(if block.trim.contains(&Trim::WrappingFence) { format!("```json\n{text}\n```") } else { text })
            }
            Payload::Text => match params.as_object()?.iter().next() {
                None => Some(String::new()),
                Some((name, value)) if Some(name) == block.text_param() => Some(text(value)),
                Some(_) => None,
            },
        }
    }

    /// A text, encoded so that a block with this `decode` reads it.
    fn written(self, text: &str, decode: Option<Decoding>) -> String {
        match decode {
            Some(Decoding::Entities) => escape(text),
            Some(Decoding::Escapes) => {
                let quoted = Value::from(text).to_string();
                quoted.slice(1..quoted.len() - 1).to_owned()
            }
            Some(Decoding::Guarded) => {
                self.dialect.structure.as_ref().map_or_else(|| text.to_owned(), |structure| structure.guarded(text))
            }
            None => text.to_owned(),
        }
    }

    /// The block, written with the first grammar that reads the result as this block.
    fn spell(
        self,
        (id, block): (BlockId, &'p BlockBinding),
        index: usize,
        names: &[String],
        attributes: &[(&str, &str)],
        body: &dyn Fn(&Family, Option<&BlockLayout>) -> Option<String>,
    ) -> Option<String> {
        // If only a closer named by an attribute ends the block, the example needs that attribute.
        let by_attribute = |closer: &'p Closer| match closer {
            Closer::Attribute(key) => Some(key.as_str()),
            Closer::Own | Closer::Word(_) | Closer::Pattern(_) => None,
        };
        let keys: Option<Vec<&str>> = block.close.iter().map(by_attribute).collect();
        let known = |key: &&str| attributes.iter().any(|(known, _)| self.dialect.names.same(known, key));
        let missing = keys.filter(|keys| !keys.iter().any(known)).and_then(|keys| keys.first().copied());
        let attributes: Vec<(&str, &str)> =
            attributes.iter().copied().chain(missing.map(|key| (key, WILD[0]))).collect();
        let families = || self.dialect.families.iter().enumerate();
        let tried = names.iter().flat_map(|name| families().map(move |(number, family)| (name, number, family)));
        let bound = tried.filter(|(name, number, _)| self.dialect.names.find(name, Some(*number)) == Some(id));
        bound.into_iter().find_map(|(name, _, family)| {
            let laid_out = |layout: &BlockLayout| {
                let (placed, others): (Vec<_>, Vec<_>) = attributes.iter().partition(|(key, _)| layout.has(key));
                let body = match block.payload.as_slice() {
                    // The content of such a call is the attributes that its layout does not place.
                    [Payload::Attributes] if !others.is_empty() => {
                        let empty = family.empty.filter(|_| block.role == Role::Call);
                        let opener = |of: &[(&str, &str)]| family.spell_opener(name, of, empty, "");
                        // Attributes that the layout places may be required in the opener, too.
                        let opener = opener(&others).or_else(|| opener(&attributes))?;
                        family.attributes_in(&opener)?.to_owned()
                    }
                    _ => body(family, Some(layout)).filter(|_| others.is_empty())?,
                };
                layout.write(name, index, &placed, &body)
            };
            if let Some(text) = block.layout.as_ref().and_then(laid_out) {
                return Some(text);
            }
            let body = body(family, None)?;
            let opener = |empty: Option<RuleId>| match &block.spelled {
                Some(spelled) => Some(spelled.replace("@name", name)),
                None => family.spell_opener(name, &attributes, empty, &body),
            };
            // Not every opener of a grammar with `empty` can be the whole block.
            let empty = family.empty.filter(|_| body.is_empty() && block.role == Role::Call);
            if let Some(whole) = empty.and_then(|empty| opener(Some(empty))) {
                return Some(whole);
            }
            let opener = opener(None)?;
            let given = |key: &str| attributes.iter().find(|(known, _)| self.dialect.names.same(known, key));
            let closers = block.close.iter().filter_map(|closer| match closer {
                Closer::Own => Some(name.as_str()),
                Closer::Word(word) => Some(word),
                Closer::Attribute(key) => given(key).map(|(_, value)| *value),
                Closer::Pattern(_) => None,
            });
            // Some openers end with their own line break, and some continue on the same line.
            let gap = if opener.ends_with(char::is_whitespace) { "" } else { "\n" };
            // A block that ends with its fence has no closer. If `ends` lists no closer, one would be part of the body.
            let ladder = family.ladder(block);
            let fenced = ladder.first().is_some_and(|rung| rung.contains(&Ending::Fence));
            let closes = |ending: &Ending| ending.is_closer();
            Some(match family.close.filter(|_| !fenced && ladder.iter().flatten().any(closes)) {
                Some(close) => {
                    let closer = closers.chain([name.as_str()]).find_map(|name| closer(family, close, name))?;
                    if body.is_empty() { opener + &closer } else { format!("{opener}{gap}{body}\n{closer}") }
                }
                None if family.payload.is_some() && block.spelled.is_some() => format!("{opener} {body}"),
                None if family.payload.is_some() => opener + &body,
                None => format!("{opener}{gap}{body}"),
            })
        })
    }
}

/// Whether the layout of a call has a place for the name in its payload: the payload then contains only the parameters.
pub(super) fn is_named(block: &BlockBinding) -> bool {
    block.named_within().is_some() && block.layout.as_ref().is_some_and(|layout| layout.has(NAME))
}

/// The payload of a call that contains its name at the end of `pointer`, and the parameters in the member `body`, or
/// beside the name.
fn named_call(pointer: &[String], body: Option<&str>, call: &CallToWrite<'_>) -> Value {
    let mut object = Object::new();
    put(&mut object, pointer, call.name.into());
    match body {
        Some(body) => put(&mut object, &body.split('.').map(str::to_owned).collect::<Vec<_>>(), call.params.clone()),
        None => object.extend(call.params.as_object().into_iter().flatten().map(|(name, one)| (name, one.clone()))),
    }
    object.into()
}

/// Sets the value at a path in an object.
fn put(object: &mut Object, pointer: &[String], value: Value) {
    match pointer {
        [last] => drop(object.insert(last.as_str(), value)),
        [first, rest @ ..] => {
            let inner = object.entry(first);
            if inner.is_null() {
                *inner = Object::new().into();
            }
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest, value);
            }
        }
        [] => {}
    }
}

/// A name that matches the pattern.
fn filled(pattern: &str, word: &str) -> String {
    pattern.replace('*', word).replace('?', "x")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
