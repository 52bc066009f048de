//! Answers that are one object: which JSON is an answer in this mode?
//!
//! In: a dialect whose blocks are members, the shape of the mode's reply, the actions that it permits.
//! Out: [`AnswerMember`]s, and a JSON Schema of the whole answer, from which an example can be made.
//! Never: checks an answer: the schema only describes to a model what the pack expects.

use crate::program::{
    Action, BlockBinding, BlockId, Dialect, ExampleMembers, Mode, NameSource, Program, Schema, example, properties,
    requires,
};
use crate::surface::{ENTRIES, Role, WHOLE};
use crate::value::{Value, value};

/// One block of an answer, as a member of the object.
pub(super) struct AnswerMember<'p> {
    pub(super) id: BlockId,
    pub(super) block: &'p BlockBinding,
    /// The schema of an object with only this member.
    pub(super) alone: Value,
    pub(super) required: bool,
    schema: Value,
}

impl AnswerMember<'_> {
    /// Whether it is a list that may be empty.
    pub(super) fn may_be_empty(&self) -> bool {
        let is_list =
            self.schema.get("type").is_some_and(|kind| kind == "array") && self.schema.get("minItems").is_none();
        self.block.name.ends_with("[]") || is_list
    }

    /// Whether the block accepts `null`.
    pub(super) fn takes_null(&self) -> bool {
        self.block.schema.as_ref().is_some_and(Schema::takes_null)
    }
}

/// Which parameters the schema of a call lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallParams {
    /// All parameters, as declared.
    Declared,
    /// Those of an example ([`ExampleMembers::Exemplified`]), each with its example as the only value.
    Exemplified,
}

impl Program {
    /// The members of an answer of `mode` in a dialect, in the order of the reply; none if its answers are not objects.
    pub(super) fn answer_members<'p>(
        &self,
        mode: &Mode,
        dialect: &'p Dialect,
        params: CallParams,
    ) -> Option<Vec<AnswerMember<'p>>> {
        dialect.outline.as_ref()?;
        let mut blocks: Vec<(BlockId, &BlockBinding)> = dialect.blocks_by_id().collect();
        blocks.retain(|(_, block)| !block.starts && !block.hidden);
        blocks.sort_by_key(|(id, _)| mode.reply.rank(dialect.id, *id).unwrap_or(usize::MAX));
        let member = |(id, block): (BlockId, &'p BlockBinding)| {
            let count = mode.reply.count_of(dialect.id, id);
            let forbidden = mode.reply.most(block, count) == Some(0);
            let schema = self.member_schema(mode, block, params).filter(|_| !forbidden)?;
            let required = count.is_some_and(|count| count.required) || block.required;
            let mut alone = object();
            put(&mut alone, &block.name, block.about.as_deref(), &schema, required);
            Some(AnswerMember { id, block, alone, required, schema })
        };
        Some(blocks.into_iter().filter_map(member).collect())
    }

    /// The schema of a whole answer; none if answers in the dialect are not objects. With `lists`, lists are required,
    /// even if they may be empty.
    pub(super) fn answer_schema(
        &self,
        mode: &Mode,
        dialect: &Dialect,
        params: CallParams,
        lists: bool,
    ) -> Option<Value> {
        let mut answer = object();
        for member in self.answer_members(mode, dialect, params)? {
            let required = member.required || (lists && member.may_be_empty());
            put(&mut answer, &member.block.name, member.block.about.as_deref(), &member.schema, required);
        }
        Some(answer)
    }

    /// The schema of a block's value; none for a call if no action is permitted.
    fn member_schema(&self, mode: &Mode, block: &BlockBinding, params: CallParams) -> Option<Value> {
        let text = || value!({ "type": "string" });
        let mut schema = match (block.role, &block.body) {
            (Role::Call, _) => self.call_schema(mode, block, params)?,
            (_, None) if block.text.is_some() => value!({}),
            (_, None) => text(),
            (_, Some(body)) => {
                let mut entry = object();
                if let NameSource::Attribute(name) = &block.called {
                    add(&mut entry, name, text(), true);
                }
                if let Some(NameSource::Attribute(key)) = &block.key {
                    add(&mut entry, key, text(), true);
                }
                add(&mut entry, body, text(), true);
                entry
            }
        };
        let own = block.schema.as_ref().and_then(|own| own.json().as_object());
        if let (Value::Object(members), Some(own)) = (&mut schema, own) {
            // A schema with one of these keywords determines the type of the value itself.
            if ["properties", "items", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"]
                .iter()
                .any(|key| own.contains_key(key))
            {
                members.remove("type");
            }
            for (key, kind) in [("properties", "object"), ("items", "array")] {
                if own.contains_key(key) {
                    members.insert("type", kind.into());
                }
            }
            members.extend(own.iter().map(|(name, one)| (name, one.clone())));
        }
        Some(schema)
    }

    /// The schema of a call of any action that the mode permits.
    fn call_schema(&self, mode: &Mode, block: &BlockBinding, params: CallParams) -> Option<Value> {
        let choices = self.permitted(mode).filter_map(|(name, action, _)| named_call(block, name, action, params));
        let mut choices: Vec<Value> = choices.collect();
        if choices.len() > 1 { Some(value!({ "anyOf": choices })) } else { choices.pop() }
    }
}

/// The schema of an answer with only a call of this action; none if answers in the dialect are not objects.
pub(super) fn lone_call(dialect: &Dialect, name: &str, action: &Action) -> Option<Value> {
    dialect.outline.as_ref()?;
    let calls = dialect.blocks.iter().filter(|block| block.role == Role::Call && !block.name.contains(['*', '?']));
    let (block, call) =
        calls.into_iter().find_map(|block| Some((block, named_call(block, name, action, CallParams::Exemplified)?)))?;
    let mut alone = object();
    put(&mut alone, &block.name, None, &call, true);
    Some(alone)
}

/// The schema of a call of one action; none if the block is for other actions.
fn named_call(block: &BlockBinding, name: &str, action: &Action, params: CallParams) -> Option<Value> {
    let object_of;
    let params = match params {
        CallParams::Declared => action.schema.json(),
        CallParams::Exemplified => {
            object_of = params_of(action.schema.json());
            &object_of
        }
    };
    let named = match &block.called {
        NameSource::Attribute(named) => named,
        NameSource::Word(word) => return (word == name).then(|| params.clone()),
        NameSource::Around(..) | NameSource::Payload { .. } => return None,
        NameSource::Own => return (block.name.trim_end_matches("[]") == name).then(|| params.clone()),
    };
    let mut call = object();
    add(&mut call, named, value!({ "const": name }), true);
    match &block.body {
        Some(body) => add(&mut call, body, params.clone(), true),
        None => {
            for (param, schema) in properties(params) {
                add(&mut call, param, schema.clone(), requires(params, param));
            }
        }
    }
    if let (Value::Object(members), Some(about)) = (&mut call, &action.about) {
        members.insert("description", value!(about));
    }
    Some(call)
}

/// A schema for the parameters of an example, in which each value is the example.
fn params_of(params: &Value) -> Value {
    let mut object_of = object();
    if let Value::Object(members) = example(params, ExampleMembers::Exemplified) {
        for (name, value) in &members {
            add(&mut object_of, name, value!({ "examples": [value] }), true);
        }
    }
    object_of
}

fn object() -> Value {
    value!({ "type": "object", "properties": {}, "required": [] })
}

/// The key of a schema for members that are not listed by name.
const OTHERS: &str = "additionalProperties";

/// Whether the name is a pattern: its schema is then that of all members that are not listed by name.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Sets the schema of a member in the schema of an object.
fn add(object: &mut Value, name: &str, schema: Value, required: bool) {
    let Value::Object(members) = object else { return };
    if is_pattern(name) {
        members.insert(OTHERS.to_owned(), schema);
        return;
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.insert(name.to_owned(), schema);
    }
    if let Some(names) = members.get_mut("required").filter(|_| required).and_then(Value::as_array_mut)
        && !names.iter().any(|known| known == name)
    {
        names.push(name.into());
    }
}

/// Sets the schema of a block in that of an answer: the whole answer may be the block, or a list of such blocks.
fn put(answer: &mut Value, name: &str, about: Option<&str>, schema: &Value, required: bool) {
    match (name, name.strip_prefix(ENTRIES).and_then(|rest| rest.strip_prefix('.'))) {
        (WHOLE, _) => *answer = schema.clone(),
        (ENTRIES, _) => *answer = value!({ "type": "array", "items": schema }),
        (_, Some(path)) => {
            let mut entry = answer.get("items").cloned().unwrap_or_else(object);
            place(&mut entry, path, about, schema, required);
            *answer = value!({ "type": "array", "items": entry });
        }
        _ => place(answer, name, about, schema, required),
    }
}

/// Sets a schema at the path of a block's name: `data.files[]` is each entry of the list `files` in the object `data`.
fn place(object: &mut Value, path: &str, about: Option<&str>, schema: &Value, required: bool) {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let name = head.trim_end_matches("[]");
    let listed = |inner: Value| {
        let lists = (head.len() - name.len()) / 2;
        (0..lists).fold(inner, |inner, _| value!({ "type": "array", "items": inner }))
    };
    let Some(rest) = rest else {
        let mut member = listed(schema.clone());
        if let (Value::Object(members), Some(about)) = (&mut member, about) {
            let described = members.entry("description");
            if described.is_null() {
                *described = about.into();
            }
        }
        add(object, name, member, required);
        return;
    };
    let known =
        if is_pattern(name) { object.get(OTHERS) } else { object.get("properties").and_then(|all| all.get(name)) };
    let mut outer = known.cloned().unwrap_or_else(|| listed(self::object()));
    let mut inner = Some(&mut outer);
    while let Some(list) = inner.take_if(|inner| inner.get("items").is_some()) {
        inner = list.as_object_mut().and_then(|list| list.get_mut("items"));
    }
    if let Some(inner) = inner {
        place(inner, rest, about, schema, required);
    }
    add(object, name, outer, required);
}
