//! Actions: what may a response ask for, and what follows from it?
//!
//! In: `[actions.NAME]`, `[contents.NAME]` and their effects, as TOML.
//! Out: [`Action`], [`Content`], [`Effect`] and [`Permit`].
//! Never: knows whether a path, template or schema in them is valid.

use super::declare::{table, words};
use super::decode::{Decode, Decoder, Named, OneOrMany, OneOrMore, TomlNode};
use super::degradation::Degradation;
use super::tree::Tree;
use crate::diagnostic::{Code, Remark};
use crate::text::{Location, Spanned};

table! {
    /// Something that a response may ask for.
    Action {
        /// What it does, in a sentence for people and prompts.
        about: Option<String>,
        /// Other spellings of its name in calls.
        names: Vec<Spanned<String>>,
        /// The JSON Schema of what the host returns.
        returns: Option<Tree>,
        /// The parameters, each as a JSON Schema; `required = true` may be added to each.
        params: Named<Tree>,
        /// What an accepted call does, in order.
        effects: Vec<Effect>,
        /// The strategies for defects of its calls.
        degradation: Degradation,
        /// Whether it replaces the action of the same name in a used pack.
        replace: bool,
    }
}

impl Action {
    /// The `properties` that `params` lists if it is written like a whole schema: the parameters are then one level too
    /// deep.
    pub(crate) fn listed(&self) -> Option<&Spanned<Tree>> {
        let listed = self.params.get("properties").filter(|_| self.params.contains_key("type"))?;
        let Tree::Table(properties, _) = &listed.value else { return None };
        let are_schemas = properties.iter().all(|(_, one)| matches!(one, Tree::Table(..)));
        (!properties.is_empty() && are_schemas).then_some(listed)
    }
}

table! {
    /// What a content block may be stored as.
    Content {
        /// The kind of its key: a `path` is checked for safety.
        key: Option<Spanned<String>>,
        /// Whether each key occurs only once: if it is repeated, the last text counts, at the place of the first.
        unique: bool,
        /// An example of a key, for prompts.
        example: Option<Spanned<String>>,
        /// What an accepted content does, in order.
        effects: Vec<Effect>,
        /// Whether it replaces the content of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// One effect: exactly one verb, or nested `effects`.
    Effect {
        /// Verb: sets this path of the state to `value`.
        set: Option<Spanned<String>>,
        /// Verb: adds `value` to the list at this path of the state.
        append: Option<Spanned<String>>,
        /// Verb: removes this path from the state.
        remove: Option<Spanned<String>>,
        /// Verb: sends the host an event of this name, with `value`.
        emit: Option<Spanned<String>>,
        /// Verb: asks the host to write `value` under this key.
        write: Option<Spanned<String>>,
        /// Verb: adds a remark to the outcome, with `text`.
        remark: Option<Spanned<Remark>>,
        /// Verb: says this message to the user, with the names in `with`.
        say: Option<Spanned<String>>,
        /// Verb: changes to this mode, after the last rule of the event.
        go: Option<Spanned<String>>,
        /// Verb: asks the host to add `value` at the end of a section in the document with this key.
        amend: Option<Spanned<String>>,
        /// Verb: asks the host to append `value` to a list in the JSON document with this key.
        record: Option<Spanned<String>>,
        /// Verb: asks the host to put `put` in the place of `find` in the file with this key.
        edit: Option<Spanned<String>>,
        /// Verb: asks the host for the changes of this patch: a unified diff, a `*** Begin Patch`, or SEARCH/REPLACE
        /// blocks.
        patch: Option<Spanned<String>>,
        /// Verb: asks the host to delete the file with this key.
        delete: Option<Spanned<String>>,
        /// Verb: asks the host to move the file with this key to the key `to`.
        moves = "move": Option<Spanned<String>>,
        /// The value of the verb; strings in it are templates.
        value: Option<Tree>,
        /// For `append`: replaces an entry that has the same values under these keys.
        unique: Vec<Spanned<String>>,
        /// For `remark`: its text, a template.
        text: Option<Spanned<String>>,
        /// For `say`: the values of the names that the message takes, as templates.
        with: Named<Tree>,
        /// For `go`: a condition under which the transition happens even if the gate is shut, with a remark.
        insist: Option<Spanned<String>>,
        /// For `amend`: the heading of the section, a template.
        section: Option<Spanned<String>>,
        /// For `amend`: a line that marks the addition, a template.
        marker: Option<Spanned<String>>,
        /// For `amend`: a heading line that opens a new section if none fits, a template.
        otherwise: Option<Spanned<String>>,
        /// For `amend`: what to say afterwards, a template; `{section}` in it becomes the heading that was chosen.
        done: Option<Spanned<String>>,
        /// For `amend`: what to say if the document does not exist, a template.
        missing: Option<Spanned<String>>,
        /// For `record`: the path of the list in the document, with dots.
        path: Option<Spanned<String>>,
        /// For `record`: the JSON Schema of `value`; a value that does not fit is not recorded.
        schema: Option<Tree>,
        /// For `edit`: the text to replace, a template.
        find: Option<Spanned<String>>,
        /// For `edit`: the text to put in its place, a template.
        put: Option<Spanned<String>>,
        /// For `edit`: whether every occurrence is replaced, and not the only one; a truth value or a template for one.
        all: Option<Tree>,
        /// For `edit` and `patch`: the ways to compare a text with the file, the first that finds it counts; `exact` by
        /// default.
        matching = "match": OneOrMore<Spanned<Matching>>,
        /// For `patch`: the key of the file for hunks before the header of any file, and for blocks, a template.
        file: Option<Spanned<String>>,
        /// For `move`: the new key, a template.
        to: Option<Spanned<String>>,
        /// For `write` and `patch`: whether a new file becomes executable if it begins with `#!`, or if the patch makes
        /// it so.
        executable: Option<Spanned<bool>>,
        /// The condition for the effect; always true by default.
        when: Option<Spanned<String>>,
        /// An expression that gives a list: the effect happens for each item, which is called `item`.
        each: Option<Spanned<String>>,
        /// New names for this effect and those after it in the same list, as templates.
        lets = "let": Named<Tree>,
        /// Takes a new id of this kind, which this effect and those after it see as `ids.KIND`.
        new: Option<Spanned<String>>,
        /// Effects that share the `when`, `each`, `let` and `new` of this one.
        effects: Vec<Effect>,
    }
}

words! {
    /// How the text of an edit is compared with a file.
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    Matching {
        /// Character by character; only the kind of the line ends does not count.
        Exact = "exact",
        /// Line by line, without the white space at both ends of each line.
        TrimmedLines = "trimmed-lines",
    }
}

impl Decode for Remark {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        reading.word(node, "remark", Code::PACK_UNKNOWN_REMARK, Remark::ALL, Remark::name)
    }
}

table! {
    /// What a mode permits or denies: the name of an action, or a table with a condition.
    Permit or action ("the name of an action, or `{ action = …, when = … }`") {
        /// The action: its name, a pattern with `*` and `?`, or `@GROUP`; or several of these.
        action: OneOrMany,
        /// Instead of `action`: a content, or several, in the same way.
        content: OneOrMany,
        /// The condition; always true by default.
        when: Option<Spanned<String>>,
        /// The condition in a sentence for the model.
        about: Option<Spanned<String>>,
        /// A template: what is missing if a permit is not true, or why a call is denied.
        advice: Option<Spanned<String>>,
        /// A template: the question that a person must say yes to before a call is carried out.
        confirm: Option<Spanned<String>>,
    }
}

impl Permit {
    /// What it is about: the names, patterns and groups of actions, or those of contents.
    pub(crate) fn names(&self) -> &[Spanned<String>] {
        if self.content.0.is_empty() { &self.action.0 } else { &self.content.0 }
    }

    /// Whether it is about contents.
    pub(crate) fn is_of_contents(&self) -> bool {
        !self.content.0.is_empty()
    }

    /// The place that findings cite.
    pub(crate) fn place(&self) -> Location {
        self.names().first().map_or(self.at, |name| name.at)
    }
}
