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
        /// Other spellings of its name in calls, such as `functions.rate_note`; everything else uses its name.
        names: Vec<Spanned<String>> as "name",
        /// What the host returns.
        returns: Option<Tree> as "schema",
        /// Its parameters, each with a JSON Schema; `required = true` marks those that must be there.
        params: Named<Tree> as "schema",
        /// What an accepted call does, in order.
        effects: Vec<Effect>,
        /// The strategies for defects of its calls. Default: the block's.
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
        /// What kind of key it has: a `path` is checked for safety, any other word is only for people.
        key: Option<Spanned<String>> as "word",
        /// Whether each key occurs only once: if it is repeated, the last complete text counts, at the place of the
        /// first.
        unique: bool,
        /// An example of a key, for prompts. Default: `name`.
        example: Option<Spanned<String>>,
        /// What an accepted content does, in order; its effects see `key`, `text`, `name` and `attributes` instead of
        /// `params`.
        effects: Vec<Effect>,
        /// Whether it replaces the content of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// One effect: exactly one verb, or nested `effects`.
    Effect {
        /// Verb: sets this path of the state to `value`.
        set: Option<Spanned<String>> as "path",
        /// Verb: adds `value` to the list at this path of the state.
        append: Option<Spanned<String>> as "path",
        /// Verb: removes this path from the state; a whole value of the state gets its `default` back.
        remove: Option<Spanned<String>> as "path",
        /// Verb: sends the host an event of this name, with a `value` or without.
        emit: Option<Spanned<String>> as "template",
        /// Verb: asks the host to write the text `value` under this key; `rulebook apply` writes it below a folder.
        write: Option<Spanned<String>> as "template",
        /// Verb: adds a remark to the outcome, with `text`.
        remark: Option<Spanned<Remark>>,
        /// Verb: says this message to the user; `with` gives the names that the message takes.
        say: Option<Spanned<String>> as "message",
        /// Verb: changes to this mode by an exit, after the last rule of the event.
        go: Option<Spanned<String>> as "mode",
        /// Verb: asks the host to add the text `value` at the end of a `section` of the document with this key.
        amend: Option<Spanned<String>> as "template",
        /// Verb: asks the host to append `value` to the list at `path` in the JSON document with this key.
        record: Option<Spanned<String>> as "template",
        /// Verb: asks the host to put `put` in the place of `find` in the file with this key.
        edit: Option<Spanned<String>> as "template",
        /// Verb: asks the host for the changes of this patch: a unified diff, a `*** Begin Patch`, or SEARCH/REPLACE
        /// blocks.
        patch: Option<Spanned<String>> as "template",
        /// Verb: asks the host to delete the file with this key.
        delete: Option<Spanned<String>> as "template",
        /// Verb: asks the host to move the file with this key to the key `to`.
        moves = "move": Option<Spanned<String>> as "template",
        /// What the verb uses; every text in it is a template, and a member that comes out as `none` is left out.
        value: Option<Tree>,
        /// For `append`: replaces an entry that has the same values under these keys.
        unique: Vec<Spanned<String>> as "name",
        /// For `remark`: its text, which a `note` must have.
        text: Option<Spanned<String>> as "template",
        /// For `say`: the values of the names that the message takes; every text is a template.
        with: Named<Tree>,
        /// For `go`: if it is true, the transition happens even though the condition of the gate is false, with the
        /// remark `note`.
        insist: Option<Spanned<String>> as "condition",
        /// For `amend`: the heading of the section.
        section: Option<Spanned<String>> as "template",
        /// For `amend`: a line that is put before what is added.
        marker: Option<Spanned<String>> as "template",
        /// For `amend`: a heading such as `### More`, under which a section is added at the end if no section fits.
        otherwise: Option<Spanned<String>> as "template",
        /// For `amend`: what to say afterwards; `{section}` in it becomes the heading that was chosen.
        done: Option<Spanned<String>> as "template",
        /// For `amend`: what to say if the document does not exist.
        missing: Option<Spanned<String>> as "template",
        /// For `record`: the path of the list in the document, with dots; a dot in the value of a template is part of a
        /// key.
        path: Option<Spanned<String>> as "template",
        /// For `record`: the schema of `value`; a value that does not fit is not recorded.
        schema: Option<Tree> as "schema",
        /// For `edit`: the text to replace.
        find: Option<Spanned<String>> as "template",
        /// For `edit`: the text to put in its place.
        put: Option<Spanned<String>> as "template",
        /// For `edit`: whether every occurrence is replaced, and not the only one; `true`, `false` or a template that
        /// gives one of them. Default: `false`.
        all: Option<Tree>,
        /// For `edit` and `patch`: how a text is compared with the file; of several ways, the first that finds it
        /// counts. Default: `exact`.
        matching = "match": OneOrMore<Spanned<Matching>>,
        /// For `patch`: the key of the file for hunks before the header of any file, and for blocks.
        file: Option<Spanned<String>> as "template",
        /// For `move`: the new key.
        to: Option<Spanned<String>> as "template",
        /// For `write` and `patch`: whether a new file becomes executable if it begins with `#!`, or if the patch makes
        /// it so. Default: `false`.
        executable: Option<Spanned<bool>>,
        /// The effect happens only if it holds. Default: always.
        when: Option<Spanned<String>> as "condition",
        /// Gives a list: the effect happens once for each entry, which is called `item`.
        each: Option<Spanned<String>> as "expression",
        /// New names for this effect and those after it in the list; every text is a template.
        lets = "let": Named<Tree>,
        /// Takes a fresh id: with `new = "page"`, `ids.page` is `page-1`, then `page-2`. This effect and those after it
        /// see it.
        new: Option<Spanned<String>> as "word",
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
        /// The action: its name, a pattern with `*` and `?`, or `@GROUP`.
        action: OneOrMany as "name",
        /// In place of `action`: a content, in the same way.
        content: OneOrMany as "name",
        /// The condition. One that fails denies: a permit with it does not allow, and a denial with it forbids.
        /// Default: always.
        when: Option<Spanned<String>> as "condition",
        /// The condition in a sentence for the model.
        about: Option<Spanned<String>>,
        /// What is missing if the condition of a permit does not hold, or why something is denied. It sees what the
        /// condition sees.
        advice: Option<Spanned<String>> as "template",
        /// Of a permit: the question that a person must say yes to before the call is carried out.
        confirm: Option<Spanned<String>> as "template",
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
