//! Codes: which code does each kind of diagnostic have, and with which severity?
//!
//! In: nothing; this is the only table of codes.
//! Out: [`Code`] and its [`rows`].
//! Never: contains the place of a fault.

use super::{Defect, Page, Remark, Severity};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// The name of a kind of diagnostic, such as `pack/unknown-action` or `response/forbidden-call`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// A row of the table: a fault of a pack, a prompt, a case or a workspace, or of Rulebook itself.
    Row(&'static CodeRow),
    /// A defect of a response.
    Defect(Defect),
    /// A remark on a response.
    Remark(Remark),
    /// A remark that a grammar declares with a rule named `fault_…`: `response/fault-…`. Also used for a code that this
    /// version does not know, in an outcome of a later version.
    Fault(Arc<str>),
}

impl Code {
    /// The code of a remark that a grammar declares with the rule `rule`.
    pub(crate) fn fault(rule: &str) -> Self {
        Code::Fault(format!("response/{}", rule.replace('_', "-")).into())
    }

    /// The code with its area, such as `response/forbidden-call`.
    #[doc(hidden)]
    pub fn as_str(&self) -> &str {
        match self {
            Code::Row(row) => row.name,
            Code::Defect(defect) => defect.code(),
            Code::Remark(remark) => remark.code(),
            Code::Fault(name) => name,
        }
    }

    /// The code without its area, such as `forbidden-call`.
    #[doc(hidden)]
    pub fn bare(&self) -> &str {
        bare(self.as_str())
    }

    /// The severity that diagnostics with this code usually have.
    #[doc(hidden)]
    pub fn severity(&self) -> Severity {
        match self {
            Code::Row(row) => row.severity,
            Code::Defect(defect) => defect.severity(),
            Code::Remark(_) | Code::Fault(_) => Severity::Info,
        }
    }
}

/// The code with this name. A name that this version does not know becomes a [`Code::Fault`].
impl From<&str> for Code {
    fn from(name: &str) -> Self {
        let row = rows().iter().find(|row| row.name == name).map(Code::Row);
        let known = row.or_else(|| {
            let bare = name.strip_prefix("response/")?;
            Defect::from_name(bare).map(Code::Defect).or_else(|| Remark::from_name(bare).map(Code::Remark))
        });
        known.unwrap_or_else(|| Code::Fault(name.into()))
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

/// The code with its area, such as `response/forbidden-call`.
impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Code::from(String::deserialize(deserializer)?.as_str()))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What kind of finding this is, with its area: `response/DEFECT`, `response/REMARK`, \
                `pack/unknown-action`. `rulebook explain CODE` tells more.",
            "type": "string",
        })
    }
}

/// A code without its area: `forbidden-call`.
pub fn bare(code: &str) -> &str {
    code.rsplit('/').next().unwrap_or(code)
}

/// The prefix of the names of grammar rules whose matches are remarks.
const FAULT: &str = "fault_";

/// Whether matches of a rule with this name are remarks: [`Code::Fault`].
pub fn is_fault(rule: &str) -> bool {
    rule.starts_with(FAULT)
}

/// What such a rule finds, taken from the words of its name.
pub(crate) fn fault_words(rule: &str) -> String {
    rule.trim_start_matches(FAULT).replace('_', " ")
}

/// One row of the table of codes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CodeRow {
    /// The whole code, with its area.
    pub name: &'static str,
    /// The severity that diagnostics with this code usually have.
    pub severity: Severity,
}

/// Declares the rows, each with its page: the file of the same name below `docs/codes`.
macro_rules! table {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $severity:ident;)*) => {
        impl Code {
            $($(#[$doc])* pub const $constant: Code = Code::Row(&CodeRow { name: $name, severity: Severity::$severity });)*
        }

        /// Every code that is not about a response, in the order of the table.
        pub fn rows() -> &'static [CodeRow] {
            &[$(CodeRow { name: $name, severity: Severity::$severity },)*]
        }

        pub(super) const PAGES: &[Page] =
            &[$(Page { code: $name, text: include_str!(concat!("../../docs/codes/", $name, ".md")) },)*];
    };
}

table! {
    /// A file is not TOML.
    PACK_SYNTAX = "pack/syntax", Error;
    /// A file of the pack cannot be read, or is not UTF-8.
    PACK_UNREADABLE = "pack/unreadable", Error;
    /// A folder contains no `[pack]` table.
    PACK_MISSING = "pack/missing-pack", Error;
    /// A path goes out of the pack.
    PACK_OUTSIDE = "pack/path-outside", Error;
    /// A key that its table does not have.
    PACK_UNKNOWN_KEY = "pack/unknown-key", Error;
    /// A required key is missing.
    PACK_MISSING_KEY = "pack/missing-key", Error;
    /// A value whose type its key does not accept.
    PACK_WRONG_TYPE = "pack/wrong-type", Error;
    /// A word that is not among those that its key accepts.
    PACK_WRONG_VALUE = "pack/wrong-value", Error;
    /// The same name is declared twice.
    PACK_DUPLICATE = "pack/duplicate-name", Error;
    /// No table declares an action of this name.
    PACK_UNKNOWN_ACTION = "pack/unknown-action", Error;
    /// No table declares a mode of this name.
    PACK_UNKNOWN_MODE = "pack/unknown-mode", Error;
    /// A list of tools that cannot be read.
    PACK_UNREADABLE_TOOLS = "pack/unreadable-tools", Error;
    /// A tool of the host that is left out.
    PACK_UNUSABLE_TOOL = "pack/unusable-tool", Warning;
    /// A tool of the host that no table declares.
    PACK_UNDECLARED_TOOL = "pack/undeclared-tool", Info;
    /// A tool of the host with other parameters than its action.
    PACK_OTHER_PARAMS = "pack/other-params", Warning;
    /// A group of actions that the pack does not declare.
    PACK_UNKNOWN_GROUP = "pack/unknown-group", Error;
    /// No table declares a dialect of this name.
    PACK_UNKNOWN_DIALECT = "pack/unknown-dialect", Error;
    /// No file declares a grammar of this name.
    PACK_UNKNOWN_GRAMMAR = "pack/unknown-grammar", Error;
    /// No dialect declares a block of this name.
    PACK_UNKNOWN_BLOCK = "pack/unknown-block", Error;
    /// No table declares a tier of this name.
    PACK_UNKNOWN_TIER = "pack/unknown-tier", Error;
    /// No prompt declares a layer of this name.
    PACK_UNKNOWN_LAYER = "pack/unknown-layer", Error;
    /// No table declares a message of this name.
    PACK_UNKNOWN_MESSAGE = "pack/unknown-message", Error;
    /// A rule whose event never happens.
    PACK_UNKNOWN_EVENT = "pack/unknown-event", Error;
    /// A change to a mode without an exit to it.
    PACK_NO_EXIT = "pack/no-exit", Error;
    /// A gate that never opens.
    PACK_SHUT_GATE = "pack/shut-gate", Error;
    /// A mode that cannot be reached.
    PACK_UNREACHABLE = "pack/unreachable-mode", Error;
    /// A mode that cannot be left.
    PACK_DEAD_END = "pack/dead-end", Error;
    /// Rules that change from mode to mode for ever.
    PACK_ENDLESS = "pack/endless-rules", Error;
    /// A defect that does not exist.
    PACK_UNKNOWN_DEFECT = "pack/unknown-defect", Error;
    /// A strategy that does not exist.
    PACK_UNKNOWN_STRATEGY = "pack/unknown-strategy", Error;
    /// A remark that does not exist.
    PACK_UNKNOWN_REMARK = "pack/unknown-remark", Error;
    /// A strategy that cannot be applied to its defect.
    PACK_UNFIT_STRATEGY = "pack/unfit-strategy", Error;
    /// A grammar that cannot be used.
    PACK_GRAMMAR = "pack/bad-grammar", Error;
    /// A pattern that cannot be used.
    PACK_PATTERN = "pack/bad-pattern", Error;
    /// A condition or template that cannot be used.
    PACK_EXPRESSION = "pack/bad-expression", Error;
    /// A condition or template reads a name that does not exist there.
    PACK_UNKNOWN_VARIABLE = "pack/unknown-variable", Error;
    /// A path into the state that `[state]` does not declare.
    PACK_UNKNOWN_STATE = "pack/unknown-state", Error;
    /// A JSON Schema that cannot be used.
    PACK_SCHEMA = "pack/bad-schema", Error;
    /// A schema refers to another document.
    PACK_REMOTE_REF = "pack/remote-ref", Error;
    /// An effect without a verb, with two verbs, or without the keys that its verb needs.
    PACK_EFFECT = "pack/bad-effect", Error;
    /// The keys of a block do not suit its role or grammar.
    PACK_BLOCK = "pack/bad-block", Error;
    /// The keys of a layer exclude each other.
    PACK_LAYER = "pack/bad-layer", Error;
    /// A file that a prompt names and the pack does not have.
    PACK_MISSING_FILE = "pack/missing-file", Error;
    /// A condition or template that fails with sample values.
    PACK_FAILS = "pack/failing-expression", Error;
    /// A rule that an exported schema or tool cannot express.
    PROMPT_UNSAID = "prompt/unsaid", Warning;
    /// The condition of a permit that a prompt prints and that has no description.
    PROMPT_UNSAID_CONDITION = "prompt/unsaid-condition", Warning;
    /// A text of a prompt that is written like a template but is not one.
    PROMPT_UNFILLED = "prompt/unfilled-text", Warning;
    /// A prompt without the message of the user.
    PROMPT_NO_MESSAGE = "prompt/no-message", Info;
    /// A mode whose answers are not JSON objects.
    PROMPT_NO_OBJECT = "prompt/no-object", Error;
    /// An action whose name servers do not accept for a tool.
    PROMPT_TOOL_NAME = "prompt/tool-name", Error;
    /// A pack that uses itself.
    PACK_USE_CYCLE = "pack/use-cycle", Error;
    /// A section of a mode that no template uses.
    PACK_UNKNOWN_SECTION = "pack/unknown-section", Error;
    /// No pack declares a prompt of this name.
    UNKNOWN_PROMPT = "prompt/unknown-prompt", Error;
    /// No table declares a model of this name.
    UNKNOWN_MODEL = "prompt/unknown-model", Warning;
    /// A line of a history that is not a turn.
    BAD_HISTORY = "prompt/bad-history", Error;
    /// A template that cannot be rendered with the current state.
    FAILING_TEMPLATE = "prompt/failing-template", Error;
    /// A layer, or a whole prompt, that uses more tokens than its budget.
    OVER_BUDGET = "prompt/over-budget", Warning;
    /// A prompt that is larger than the context of the model.
    TOO_LARGE = "prompt/too-large", Error;
    /// An example of an answer that the rules refuse.
    PROMPT_REFUSED_EXAMPLE = "prompt/refused-example", Error;
    /// A counter-example that the rules accept.
    PROMPT_ACCEPTED_EXAMPLE = "prompt/accepted-example", Error;
    /// An action that no mode permits.
    PACK_UNPERMITTED = "pack/unpermitted-action", Warning;
    /// A dialect whose answers an earlier one always reads.
    PACK_SHADOWED_DIALECT = "pack/shadowed-dialect", Warning;
    /// A name that looks like another one, or contains an invisible character.
    PACK_LOOKALIKE = "pack/lookalike-name", Warning;
    /// A call block without the name of the action that it asks for.
    PACK_NAMELESS_CALL = "pack/nameless-call", Warning;
    /// An action that no call can name.
    PACK_UNASKABLE = "pack/unaskable-action", Warning;
    /// An opener that counts even where prose mentions it.
    PACK_LOOSE_OPENER = "pack/loose-opener", Warning;
    /// An example that is not valid against its schema.
    PACK_MISFIT_EXAMPLE = "pack/misfit-example", Warning;
    /// A parameter that would close its own call.
    PACK_OWN_CLOSER = "pack/own-closer", Warning;
    /// A guardrail that cannot trip.
    PACK_IDLE_GUARDRAIL = "pack/idle-guardrail", Warning;
    /// A permit whose condition forbids nothing.
    PACK_IDLE_PERMIT = "pack/idle-permit", Warning;
    /// A comparison with a constant that the value never equals.
    PACK_IDLE_COMPARISON = "pack/idle-comparison", Warning;
    /// A guardrail that repeats another.
    PACK_REPEATED_GUARDRAIL = "pack/repeated-guardrail", Warning;
    /// A rule of a grammar, or an alternative of a rule, that never has an effect.
    PACK_IDLE_SPELLING = "pack/idle-spelling", Warning;
    /// A rule of a grammar whose time may grow faster than the length of the text.
    PACK_COSTLY_RULE = "pack/costly-rule", Warning;
    /// An action that a mode permits and that none of its prompts names.
    PROMPT_UNEXPLAINED = "prompt/unexplained-action", Warning;
    /// A schema that no value satisfies.
    PACK_NO_VALUE = "pack/unsatisfiable-schema", Warning;
    /// A schema that requires a property which it does not declare.
    PACK_ABSENT_PROPERTY = "pack/absent-property", Warning;
    /// A value of the state that is read, but that nothing ever sets.
    PACK_UNSET_STATE = "pack/unset-state", Warning;
    /// A value of the state that is set, but that nothing in the pack reads.
    PACK_UNREAD_STATE = "pack/unread-state", Info;
    /// An input that can never match, because an earlier one always does.
    PACK_SHADOWED_INPUT = "pack/shadowed-input", Warning;
    /// An exit after another one to the same mode.
    PACK_SHADOWED_EXIT = "pack/shadowed-exit", Warning;
    /// A change of mode that never happens, because an earlier rule always changes the mode first.
    PACK_SHADOWED_RULE = "pack/shadowed-rule", Warning;
    /// A rule whose effects can never happen.
    PACK_IDLE_RULE = "pack/idle-rule", Warning;
    /// A message that is never emitted.
    PACK_UNSAID_MESSAGE = "pack/unsaid-message", Info;
    /// A file of the pack's folder that nothing in it uses.
    PACK_UNUSED_FILE = "pack/unused-file", Info;
    /// A suppression of findings that suppresses nothing, or gives no reason.
    PACK_EXCUSE = "pack/idle-excuse", Warning;

    /// A case file that cannot be read.
    CASE_SYNTAX = "case/syntax", Error;
    /// A case that expects nothing.
    CASE_EMPTY = "case/expects-nothing", Error;
    /// An expectation that was not met.
    CASE_FAILED = "case/failed", Error;
    /// A declaration that no case exercises.
    CASE_UNCOVERED = "case/uncovered", Error;
    /// A file that looks like a case but is not read as one.
    CASE_OVERLOOKED = "case/overlooked", Warning;
    /// A case that passes although it is marked `todo`.
    CASE_HOLDS = "case/holds-now", Warning;

    /// A session that does not match the pack.
    SESSION_MISFIT = "pack/session-misfit", Error;

    /// A reply that cannot be read as a message of its provider.
    RESPONSE_UNREADABLE = "response/unreadable", Error;

    /// A path that symbolic links lead out of the root.
    WORKSPACE_OUTSIDE = "workspace/outside", Error;
    /// Something other than a file exists where a file should be written.
    WORKSPACE_NOT_A_FILE = "workspace/not-a-file", Error;
    /// Something other than a folder exists where a folder is needed.
    WORKSPACE_NOT_A_FOLDER = "workspace/not-a-folder", Error;
    /// Two keys mean the same file.
    WORKSPACE_SAME_FILE = "workspace/same-file", Error;
    /// The operating system does not permit a file to be written.
    WORKSPACE_CANNOT_WRITE = "workspace/cannot-write", Error;
    /// The document to which a text should be added does not exist.
    WORKSPACE_NO_DOCUMENT = "workspace/no-document", Warning;
    /// The document to which a text should be added cannot be read.
    WORKSPACE_UNREADABLE = "workspace/unreadable", Error;
    /// Something other than a list exists where an entry should be recorded.
    WORKSPACE_NOT_A_LIST = "workspace/not-a-list", Warning;
    /// An addition that would change the meaning of what follows it.
    WORKSPACE_NOT_ADDITIVE = "workspace/not-additive", Error;
    /// A file that retains its line breaks or byte order mark although a whole new text replaces it.
    WORKSPACE_LIKE_BEFORE = "workspace/like-before", Info;
    /// A file that is not UTF-8, and that a text replaces.
    WORKSPACE_NOT_TEXT = "workspace/not-text", Warning;
    /// A line of a file of answers that is not an answer.
    WORKSPACE_BROKEN_LINE = "workspace/broken-line", Error;
    /// An answer that has another outcome in another pack.
    WORKSPACE_DIFFERS = "workspace/differing-outcome", Warning;

    /// A bug of Rulebook: please report it.
    INTERNAL = "internal/fault", Error;
}

impl CodeRow {
    /// The code of this row.
    pub fn code(&'static self) -> Code {
        Code::Row(self)
    }
}
