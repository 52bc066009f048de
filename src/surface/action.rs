//! Actions: what may a response ask for, and what comes of it?
//!
//! In: `[actions.NAME]`, `[contents.NAME]` and their effects, as TOML.
//! Out: [`Action`], [`Content`], [`Effect`] and [`Permit`].
//! Never: knows whether a path, a template or a schema in them makes sense.

use super::declare::table;
use super::decode::{Decode, Decoder, Named, Node};
use super::degradation::Degradation;
use super::tree::Tree;
use crate::diagnostic::{Code, Remark};
use crate::text::Spanned;

table! {
    /// Something a response may ask for.
    Action {
        /// What it does, in a sentence for people and prompts.
        about: Option<String>,
        /// The JSON Schema of what the host gives back.
        returns: Option<Tree>,
        /// JSON Schema properties of its payload; `required = true` may stand on each.
        params: Named<Tree>,
        /// What an accepted call does, in order.
        effects: Vec<Effect>,
        /// What answers defects of its calls.
        degradation: Degradation,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

impl Action {
    /// The `properties` that `params` lists where it is written like a schema: then the parameters stand one level too deep.
    pub(crate) fn listed(&self) -> Option<&Spanned<Tree>> {
        let listed = self.params.get("properties").filter(|_| self.params.contains_key("type"))?;
        let Tree::Table(properties, _) = &listed.value else { return None };
        let are_schemas = properties.iter().all(|(_, one)| matches!(one, Tree::Table(..)));
        (!properties.is_empty() && are_schemas).then_some(listed)
    }
}

table! {
    /// What a content block points to.
    Content {
        /// What its key is; `path` is checked for unsafe paths.
        key: Option<Spanned<String>>,
        /// Whether a key stands once: of several the last text counts, at the place of the first.
        unique: bool,
        /// A key, for prompts and their examples.
        example: Option<Spanned<String>>,
        /// What an accepted content does, in order.
        effects: Vec<Effect>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// One intention: exactly one verb, or nested `effects`.
    Effect {
        /// Verb: puts `value` at this path into the state.
        set: Option<Spanned<String>>,
        /// Verb: adds `value` to the list at this path into the state.
        append: Option<Spanned<String>>,
        /// Verb: takes this path out of the state.
        remove: Option<Spanned<String>>,
        /// Verb: tells the host of an event, with `value`.
        emit: Option<Spanned<String>>,
        /// Verb: asks the host to write `value` under this key.
        write: Option<Spanned<String>>,
        /// Verb: adds a remark to the outcome, with `text`.
        remark: Option<Spanned<Remark>>,
        /// Verb: says a message to the user, with the names that it takes.
        say: Option<Spanned<String>>,
        /// Verb: leaves the mode for this one, once the event's last rule is done.
        go: Option<Spanned<String>>,
        /// Verb: asks the host to add `value` at the end of a section of the document under this key.
        amend: Option<Spanned<String>>,
        /// Verb: asks the host to append `value` to a list in the JSON document under this key.
        record: Option<Spanned<String>>,
        /// What the verb uses; strings in it are templates.
        value: Option<Tree>,
        /// Of `append`: an entry with the same values under these keys is replaced.
        unique: Vec<Spanned<String>>,
        /// Of `remark`: its text, a template.
        text: Option<Spanned<String>>,
        /// Of `say`: the names that the message takes, as templates.
        with: Named<Tree>,
        /// Of `go`: a condition under which a shut gate is passed, with a remark.
        insist: Option<Spanned<String>>,
        /// Of `amend`: the heading of the section, a template.
        section: Option<Spanned<String>>,
        /// Of `amend`: a line that marks what was added, a template.
        marker: Option<Spanned<String>>,
        /// Of `amend`: the line, a heading, that opens a section where none fits, a template.
        otherwise: Option<Spanned<String>>,
        /// Of `amend`: what is said once it is done, a template; `{section}` in it becomes the heading that was chosen.
        done: Option<Spanned<String>>,
        /// Of `amend`: what is said where there is no such document, a template.
        missing: Option<Spanned<String>>,
        /// Of `record`: the path of the list in the document, with dots.
        path: Option<Spanned<String>>,
        /// Of `record`: the JSON Schema of `value`; what it refuses is not recorded.
        schema: Option<Tree>,
        /// A condition; without it the effect always happens.
        when: Option<Spanned<String>>,
        /// A list, as a condition's expression; the effect happens for each of its items, as `item`.
        each: Option<Spanned<String>>,
        /// Names for this effect and the ones after it in the same list, as templates.
        lets = "let": Named<Tree>,
        /// A kind of id: takes a fresh one, `ids.KIND` for this effect and the ones after it.
        new: Option<Spanned<String>>,
        /// Effects that share this one's `when`, `each`, `let` and `new`.
        effects: Vec<Effect>,
    }
}

impl Decode for Remark {
    fn decode(node: &Node<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        reading.word(node, "remark", Code::PACK_UNKNOWN_REMARK, Remark::ALL, Remark::name)
    }
}

table! {
    /// What a mode permits: the name of an action, or a table with a condition on the call.
    Permit or action ("the name of an action, or `{ action = …, when = … }`") {
        /// The action, or a name with `*`.
        action: Spanned<String>,
        /// When a call of it is permitted; without it always.
        when: Option<Spanned<String>>,
        /// The same in a sentence for the model.
        about: Option<Spanned<String>>,
        /// A template: what is wanting where the condition does not hold.
        advice: Option<Spanned<String>>,
    }
}
