//! Answers as one object: which JSON is an answer of this mode?
//!
//! In: a dialect whose blocks are members, the mode's shape of a reply, the actions that it permits.
//! Out: [`Member`]s and a JSON Schema of the whole answer, from which an example follows.
//! Never: is what the reader checks: it tells those who write answers what the pack says of them.

use crate::program::{
    Action, Block, BlockId, Called, Dialect, Members, Mode, Program, Schema, example, properties, requires,
};
use crate::surface::Role;
use serde_json::{Value, json};

/// One block of an answer that is an object.
pub(super) struct Member<'p> {
    pub(super) id: BlockId,
    pub(super) block: &'p Block,
    /// The schema of an object with nothing else in it.
    pub(super) alone: Value,
    pub(super) required: bool,
    schema: Value,
}

impl Member<'_> {
    /// Whether it is a list that says nothing where it has no entries.
    pub(super) fn may_be_empty(&self) -> bool {
        let is_list =
            self.schema.get("type").is_some_and(|kind| kind == "array") && self.schema.get("minItems").is_none();
        self.block.name.ends_with("[]") || is_list
    }

    /// Whether `null` is a value of the block.
    pub(super) fn takes_null(&self) -> bool {
        self.block.schema.as_ref().is_some_and(Schema::takes_null)
    }
}

/// Which parameters the schema of a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Params {
    All,
    /// Those that an example of it shows: what is required, and of the others what its author gave an example of.
    Telling,
}

impl Program {
    /// The members of an answer of `mode` in a dialect, in the order of a reply; none where an answer in it is no object.
    pub(super) fn answer_members<'p>(
        &self,
        mode: &Mode,
        dialect: &'p Dialect,
        params: Params,
    ) -> Option<Vec<Member<'p>>> {
        dialect.outline.as_ref()?;
        let mut blocks: Vec<(BlockId, &Block)> = dialect.blocks_by_id().collect();
        blocks.retain(|(_, block)| !block.starts);
        blocks.sort_by_key(|(id, _)| mode.reply.rank(dialect.id, *id).unwrap_or(usize::MAX));
        let member = |(id, block): (BlockId, &'p Block)| {
            let count = mode.reply.count_of(dialect.id, id);
            let forbidden = mode.reply.most(block, count) == Some(0);
            let schema = self.member_schema(mode, block, params).filter(|_| !forbidden)?;
            let required = count.is_some_and(|count| count.required) || block.required;
            let mut alone = object();
            place(&mut alone, &block.name, block.about.as_deref(), &schema, required);
            Some(Member { id, block, alone, required, schema })
        };
        Some(blocks.into_iter().filter_map(member).collect())
    }

    /// The schema of a whole answer; none where an answer in the dialect is no object. With `lists`, those are in every answer, be they
    /// empty.
    pub(super) fn answer_schema(&self, mode: &Mode, dialect: &Dialect, params: Params, lists: bool) -> Option<Value> {
        let mut answer = object();
        for member in self.answer_members(mode, dialect, params)? {
            let required = member.required || (lists && member.may_be_empty());
            place(&mut answer, &member.block.name, member.block.about.as_deref(), &member.schema, required);
        }
        Some(answer)
    }

    /// The schema of one block's value; none for a call where nothing is permitted.
    fn member_schema(&self, mode: &Mode, block: &Block, params: Params) -> Option<Value> {
        let text = || json!({ "type": "string" });
        let mut schema = match (block.role, &block.body) {
            (Role::Call, _) => self.call_schema(mode, block, params)?,
            (_, None) if block.text.is_some() => json!({}),
            (_, None) => text(),
            (_, Some(body)) => {
                let mut entry = object();
                if let Called::Attribute(name) = &block.called {
                    add(&mut entry, name, text(), true);
                }
                if let Some(Called::Attribute(key)) = &block.key {
                    add(&mut entry, key, text(), true);
                }
                add(&mut entry, body, text(), true);
                entry
            }
        };
        let own = block.schema.as_ref().and_then(|own| own.json().as_object());
        if let (Value::Object(members), Some(own)) = (&mut schema, own) {
            members.extend(own.clone());
        }
        Some(schema)
    }

    /// The schema of a call: one of those that the mode permits.
    fn call_schema(&self, mode: &Mode, block: &Block, params: Params) -> Option<Value> {
        let choices = self.permitted(mode).filter_map(|(name, action, _)| named_call(block, name, action, params));
        let mut choices: Vec<Value> = choices.collect();
        if choices.len() > 1 { Some(json!({ "anyOf": choices })) } else { choices.pop() }
    }
}

/// The schema of an answer with nothing but a call of this action; none where an answer in the dialect is no object.
pub(super) fn lone_call(dialect: &Dialect, name: &str, action: &Action) -> Option<Value> {
    dialect.outline.as_ref()?;
    let calls = dialect.blocks.iter().filter(|block| block.role == Role::Call && !block.name.contains(['*', '?']));
    let (block, call) =
        calls.into_iter().find_map(|block| Some((block, named_call(block, name, action, Params::Telling)?)))?;
    let mut alone = object();
    place(&mut alone, &block.name, None, &call, true);
    Some(alone)
}

/// The schema of a call of one action; none where the block asks for others.
fn named_call(block: &Block, name: &str, action: &Action, params: Params) -> Option<Value> {
    let told;
    let params = match params {
        Params::All => action.schema.json(),
        Params::Telling => {
            told = shown(action.schema.json());
            &told
        }
    };
    let named = match &block.called {
        Called::Attribute(named) => named,
        Called::Word(word) => return (word == name).then(|| params.clone()),
        Called::Around(..) | Called::Payload { .. } => return None,
        Called::Own => return (block.name.trim_end_matches("[]") == name).then(|| params.clone()),
    };
    let mut call = object();
    add(&mut call, named, json!({ "const": name }), true);
    match &block.body {
        Some(body) => add(&mut call, body, params.clone(), true),
        None => {
            for (param, schema) in properties(params) {
                add(&mut call, param, schema.clone(), requires(params, param));
            }
        }
    }
    if let (Value::Object(members), Some(about)) = (&mut call, &action.about) {
        members.insert("description".into(), json!(about));
    }
    Some(call)
}

/// The schema of the parameters that an example shows, with what it shows of each.
fn shown(params: &Value) -> Value {
    let mut told = object();
    if let Value::Object(members) = example(params, Members::Telling) {
        for (name, value) in members {
            add(&mut told, &name, json!({ "examples": [value] }), true);
        }
    }
    told
}

fn object() -> Value {
    json!({ "type": "object", "properties": {}, "required": [] })
}

/// What a schema says of the members that have no name of their own.
const OTHERS: &str = "additionalProperties";

/// Whether a name is that of every member that has no name of its own.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Adds a member to the schema of an object, or puts this one in its place.
fn add(object: &mut Value, name: &str, schema: Value, required: bool) {
    let Value::Object(members) = object else { return };
    if is_pattern(name) {
        members.insert(OTHERS.to_owned(), schema);
        return;
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.insert(name.to_owned(), schema);
    }
    if let Some(Value::Array(names)) = members.get_mut("required").filter(|_| required)
        && !names.iter().any(|known| known == name)
    {
        names.push(name.into());
    }
}

/// Puts a schema where a block's name leads: `data.files[]` is each entry of the member `files` of the member `data`.
fn place(object: &mut Value, path: &str, about: Option<&str>, schema: &Value, required: bool) {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let name = head.trim_end_matches("[]");
    let listed = |inner: Value| {
        let lists = (head.len() - name.len()) / 2;
        (0..lists).fold(inner, |inner, _| json!({ "type": "array", "items": inner }))
    };
    let Some(rest) = rest else {
        let mut member = listed(schema.clone());
        if let (Value::Object(members), Some(about)) = (&mut member, about) {
            members.entry("description").or_insert_with(|| about.into());
        }
        add(object, name, member, required);
        return;
    };
    let known =
        if is_pattern(name) { object.get(OTHERS) } else { object.get("properties").and_then(|all| all.get(name)) };
    let mut outer = known.cloned().unwrap_or_else(|| listed(self::object()));
    let mut inner = Some(&mut outer);
    while let Some(list) = inner.take_if(|inner| inner.get("items").is_some()) {
        inner = list.get_mut("items");
    }
    if let Some(inner) = inner {
        place(inner, rest, about, schema, required);
    }
    add(object, name, outer, required);
}
