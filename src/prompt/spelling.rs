//! Spelling: how does one block of a dialect look when it is written well?
//!
//! In: a dialect, one of its blocks, and for a call its action.
//! Out: the block as its own grammar spells it, with example values from the schemas.
//! Never: knows a dialect by name, or decides which blocks a reply has.

use crate::grammar::{Part, RuleId};
use crate::program::{Action, Block, BlockId, Called, Closer, Dialect, Family, Members, Program, example, tag_family};
use crate::surface::{Payload, Role};
use serde_json::Value;

/// Names that stand for a `*`, one of which most grammars take.
const WILD: [&str; 3] = ["name", "Name", "NAME"];

/// The blocks of one dialect, being spelled.
#[derive(Clone, Copy)]
pub(super) struct Speller<'p> {
    pub(super) program: &'p Program,
    pub(super) dialect: &'p Dialect,
}

impl<'p> Speller<'p> {
    /// A call of an action, in the first block that can hold one.
    pub(super) fn call(self, name: &str, action: &Action) -> Option<String> {
        let calls = self.blocks().filter(|(_, block)| block.role == Role::Call);
        calls.into_iter().find_map(|(id, block)| {
            let (names, attributes) = match &block.called {
                Called::Own => (vec![name.to_owned()], vec![]),
                Called::Attribute(attribute) => (self.names(block), vec![(attribute.as_str(), name)]),
                Called::Word(word) if word == name => (self.names(block), vec![]),
                Called::Word(_) | Called::Around(..) => return None,
            };
            self.spell(id, block, &names, &attributes, &|family| self.payload(block, action, family))
        })
    }

    /// A block that is no call; `lists` are the contents whose keys it names.
    pub(super) fn plain(self, id: BlockId, lists: Option<&str>) -> Option<String> {
        let block = self.block(id)?;
        let key = self.key(block);
        let mut names = self.names(block);
        let mut attributes = Vec::new();
        match &block.key {
            Some(Called::Own) => names.insert(0, key.clone()),
            Some(Called::Attribute(attribute)) => attributes.push((attribute.as_str(), key.as_str())),
            Some(Called::Word(_) | Called::Around(..)) | None => {}
        }
        if let Called::Attribute(attribute) = &block.called {
            attributes.push((attribute, WILD[0]));
        }
        let body = match lists.filter(|_| block.payload.contains(&Payload::Bullets)) {
            Some(contents) => format!("* `{}`", self.example_key(contents)),
            None => self.body(block),
        };
        match &block.spelled {
            Some(opener) => Some(format!("{}\n{body}", opener.replace("@name", names.first()?))),
            None => self.spell(id, block, &names, &attributes, &|_| Some(body.clone())),
        }
    }

    /// The blocks of the dialect by number.
    pub(super) fn blocks(self) -> impl Iterator<Item = (BlockId, &'p Block)> {
        (0..).map(BlockId).zip(&self.dialect.blocks)
    }

    fn block(self, id: BlockId) -> Option<&'p Block> {
        self.dialect.blocks.get(usize::from(id.0))
    }

    /// What a block may be called in an answer.
    fn names(self, block: &Block) -> Vec<String> {
        let spelled = |name: &String| match name.contains(['*', '?']) {
            true => WILD.iter().map(|word| name.replace('*', word).replace('?', "x")).collect(),
            false => vec![name.clone()],
        };
        block.names.iter().flat_map(spelled).collect()
    }

    /// An example of what a content is stored under.
    fn key(self, block: &Block) -> String {
        let name = match &block.called {
            Called::Word(word) => word,
            _ => &block.name,
        };
        self.example_key(name)
    }

    fn example_key(self, content: &str) -> String {
        let declared = self.program.contents.get(content).and_then(|content| content.example.clone());
        declared.unwrap_or_else(|| WILD[0].to_owned())
    }

    /// What stands in a block, in words.
    fn body(self, block: &Block) -> String {
        let told = match block.role {
            Role::Message => "What the user is told",
            Role::Thinking => "Your reasoning",
            Role::Content => "The whole text",
            Role::Section | Role::Utterance | Role::Call | Role::Wrapper => "Text",
        };
        let body = block.about.as_deref().unwrap_or(told);
        if block.entities() { escape(body) } else { body.to_owned() }
    }

    /// The payload of a call with example values; none where it takes another one than the block has.
    fn payload(self, block: &Block, action: &Action, family: &Family) -> Option<String> {
        let params = example(action.schema.json(), Members::Telling);
        match block.payload.first()? {
            Payload::Tags => {
                // A dialect whose own grammar has no closers spells its fields as tags.
                let fields = if family.close.is_some() { Some(family) } else { tag_family() };
                Some(members(&params, fields?, block.entities(), 1))
            }
            Payload::Json | Payload::Bullets => Some(format!("{params:#}")),
            Payload::Text => match params.as_object()?.iter().next() {
                None => Some(String::new()),
                Some((name, Value::String(text))) if name == "text" => Some(text.clone()),
                Some(_) => None,
            },
        }
    }

    /// The block in the first grammar that can spell it so that it is read as this block.
    fn spell(
        self,
        id: BlockId,
        block: &Block,
        names: &[String],
        attributes: &[(&str, &str)],
        body: &dyn Fn(&Family) -> Option<String>,
    ) -> Option<String> {
        let families = || self.dialect.families.iter().enumerate();
        let tried = names.iter().flat_map(|name| families().map(move |(number, family)| (name, number, family)));
        let bound = tried.filter(|(name, number, _)| self.dialect.names.find(name, Some(*number)) == Some(id));
        bound.into_iter().find_map(|(name, _, family)| {
            let body = body(family)?;
            let empty = family.empty.filter(|_| body.is_empty() && block.role == Role::Call);
            let opener = opener(family, name, attributes, empty)?;
            if empty.is_some() {
                return Some(opener);
            }
            let closer = match block.close.first() {
                Some(Closer::Word(word)) => word,
                _ => name,
            };
            Some(match family.close {
                Some(close) => {
                    let closer = family.grammar.spell(close, &[Part::Text(family.name, closer)])?;
                    if body.is_empty() { opener + &closer } else { format!("{opener}\n{body}\n{closer}") }
                }
                None if block.role == Role::Call => opener + &body,
                None => format!("{opener}\n{body}"),
            })
        })
    }
}

fn opener(family: &Family, name: &str, attributes: &[(&str, &str)], empty: Option<RuleId>) -> Option<String> {
    let grammar = &family.grammar;
    let mut parts = vec![Part::Text(family.name, name)];
    for (key, value) in attributes {
        parts.push(match grammar.rule(key) {
            Some(rule) => Part::Text(rule, value),
            None => Part::Whole(family.attribute?, vec![Part::Next(key), Part::Next(value)]),
        });
    }
    parts.extend(empty.map(|rule| Part::Whole(rule, Vec::new())));
    grammar.spell(family.open, &parts)
}

/// The members of an object as fields, each on lines of its own.
fn members(value: &Value, family: &Family, entities: bool, depth: usize) -> String {
    let Value::Object(members) = value else { return String::new() };
    let indent = "  ".repeat(depth);
    let field = |(name, value): (&String, &Value)| {
        let body = match value {
            Value::Object(inner) if !inner.is_empty() => {
                format!("\n{}\n{indent}", self::members(value, family, entities, depth + 1))
            }
            Value::String(text) if entities => escape(text),
            Value::String(text) => text.clone(),
            other if entities => escape(&other.to_string()),
            other => other.to_string(),
        };
        let tag = |rule| family.grammar.spell(rule, &[Part::Text(family.name, name)]);
        Some(format!("{indent}{}{body}{}", tag(family.open)?, tag(family.close?)?))
    };
    members.iter().filter_map(field).collect::<Vec<_>>().join("\n")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
