//! The contract of `run`: what does a host get back for one response?
//!
//! In: nothing; these are plain types.
//! Out: [`Outcome`] and its parts, version 1, with their JSON (`schemas/outcome.schema.json`).
//! Never: decides anything.

use crate::diagnostic::{Code, Diagnostic, Message, Severity, Strategy};
use crate::flow::{Effect, FileLines};
use crate::judge::StepKind;
use crate::session::{Session, contract};
use crate::text::{Extent, FilePlace};
#[cfg(feature = "schema")]
use crate::value::Object;
use crate::value::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The version of the contract.
pub const VERSION: u32 = 1;

contract! {
    /// What a response may do: the text to show, the effects to carry out, and a finding for everything that was wrong.
    ///
    /// Lists keep the order of the response. What is absent is `""`, `[]` or `null`; a key is missing only where it says so.
    pub struct Outcome {
        /// The version of this contract: 1.
        version: u32,
        /// Whether a strategy had to act. A response that no dialect could read may be clean: the error is then in
        /// `diagnostics`.
        status: Status,
        /// The dialect that read the response; none if no dialect recognised a block.
        dialect: Option<String>,
        /// The mode in which the response was judged.
        mode: String,
        /// The text to show.
        message: String,
        /// The model's reasoning, block by block.
        thinking: Vec<String>,
        /// The sections that no strategy removed.
        sections: Vec<Section>,
        /// The contents that no strategy removed.
        contents: Vec<ContentBlock>,
        /// The utterances that no strategy removed.
        utterances: Vec<Utterance>,
        /// Every call, accepted or not, except those inside masks or thinking.
        calls: Vec<Call>,
        /// What the host should carry out, in order.
        effects: Vec<EffectRecord>,
        /// Everything that was wrong or worth reporting, ordered by place, then by code.
        diagnostics: Vec<Finding>,
        /// A correction text to send to the model; none unless the strategy `ask-again` acted.
        ask_again: Option<String>,
        /// The account of every byte of the response.
        ledger: Ledger,
        /// The bytes that must not be displayed, since a guardrail replaced or removed them or refused the answer
        /// because of them, in order.
        redacted: Vec<Extent>,
        /// The session after the response: pass it with the next one.
        session: Session,
        /// What was read of a refused response; absent unless it was refused and the run asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        withheld: Option<Withheld>,
        /// Which declaration caused what, step by step; absent unless a trace was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<Vec<TraceStep>>,
    }

    /// What was read of a response that was refused. It must not be displayed.
    #[derive(Default)]
    pub struct Withheld {
        /// The text that would have been shown.
        message: String,
        /// The model's reasoning, block by block.
        thinking: Vec<String>,
        /// The sections.
        sections: Vec<Section>,
        /// The contents.
        contents: Vec<ContentBlock>,
        /// The utterances.
        utterances: Vec<Utterance>,
        /// The calls, with their parameters.
        calls: Vec<Call>,
    }

    /// A named part of the reply: a block whose role is `section`.
    pub struct Section {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
        /// Its value, typed by its schema; absent unless it is JSON other than a text, or declares how it is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
        /// The bytes of the whole block.
        span: Extent,
    }

    /// Text to be stored under a key: a block whose role is `content`.
    pub struct ContentBlock {
        /// The name of the content's declaration.
        name: String,
        /// The key to store it under, such as a path.
        key: String,
        /// The attributes of its opener, by name, as conditions and effects see them.
        #[cfg_attr(feature = "schema", schemars(with = "Object"))]
        #[serde(default)]
        attributes: Value,
        /// Its text. Effects share it.
        text: Arc<str>,
        /// The bytes of the whole block.
        span: Extent,
    }

    /// What one speaker says: a block whose role is `utterance`.
    pub struct Utterance {
        /// The speaker's name.
        speaker: String,
        /// The label written after the name.
        label: String,
        /// What the speaker says.
        text: String,
        /// Where it belongs in the message: how many of its bytes come before.
        #[serde(default)]
        offset: usize,
        /// The bytes of the whole block.
        span: Extent,
    }

    /// One call: a use of an action in the response.
    pub struct Call {
        /// The id of a native tool call, as the provider gave it; absent for a call that is written in the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The name of the action, as the response writes it.
        action: String,
        /// The parameters, typed by the action's schema.
        #[cfg_attr(feature = "schema", schemars(with = "Object"))]
        params: Value,
        /// Whether the call counts.
        verdict: Verdict,
        /// The id under which it waits in the session until a person has confirmed it; absent unless it is pending.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<String>,
        /// The bytes of the whole block.
        span: Extent,
    }

    /// One diagnostic about the response, with its place in the response and in the pack.
    pub struct Finding {
        /// What kind of finding it is: a defect or remark of a response, such as `response/forbidden-call`.
        code: Code,
        /// The name of the guardrail that tripped, if one did.
        id: Option<String>,
        /// `error`, `warning` or `info`.
        severity: Severity,
        /// What is wrong, in one line.
        message: Message,
        /// Where in the response.
        span: Extent,
        /// The line of its first byte, from 1; 0 if it is not about a place.
        line: usize,
        /// The column of its first byte, in characters, from 1; 0 if it is not about a place.
        column: usize,
        /// The declaration to which the finding refers.
        rule: Option<FilePlace>,
        /// The strategy that answered the defect; none for a remark.
        strategy: Option<Strategy>,
        /// How to fix it.
        help: Option<Message>,
        /// The message for a model, without the pack's conditions; absent if it is the same as `message`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_model: Option<Message>,
        /// Lines of the file on which an edit failed: those most similar to its text, or the first of each place
        /// where the text occurs; absent from all other findings.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        file_lines: Vec<FileLines>,
    }

    /// The account of every byte of the response: the parts sum to `bytes`.
    #[derive(Copy, Default, Eq)]
    pub struct Ledger {
        /// The length of the response, in bytes; of a reply of an API, that of all its parts together.
        bytes: usize,
        /// Text shown to the user.
        message: usize,
        /// Reasoning.
        thinking: usize,
        /// Payloads of calls.
        calls: usize,
        /// Bodies of contents.
        contents: usize,
        /// Bodies of sections.
        sections: usize,
        /// Bodies of utterances.
        utterances: usize,
        /// Openers, closers, keys, quotes, separators, removed fences.
        markup: usize,
        /// Text outside every block.
        stray: usize,
        /// What a strategy removed, with its markup.
        dropped: usize,
        /// White space outside blocks, and white space that was trimmed.
        blank: usize,
    }

    /// The place of a call or content in the response.
    #[derive(Copy, Eq)]
    pub struct Origin {
        /// Its bytes.
        span: Extent,
        /// The line of its first byte, from 1.
        line: usize,
        /// The column of its first byte, in characters, from 1.
        column: usize,
    }

    /// One step from the response to the outcome.
    pub struct TraceStep {
        /// The kind of step, with the members of that kind.
        #[serde(flatten)]
        step: StepKind,
        /// Where in the response.
        span: Extent,
        /// What was found, in words.
        found: String,
        /// The declaration that was applied.
        rule: Option<FilePlace>,
        /// The parts of a condition and their values.
        parts: Vec<Part>,
    }

    /// A part of a condition and its value.
    #[derive(Eq)]
    pub struct Part {
        /// The source of the part, as the pack writes it.
        text: String,
        /// Its value as JSON, shortened; or the error, if there is no value.
        value: String,
    }
}

/// Whether strategies changed or refused the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No strategy other than `keep` acted.
    Clean,
    /// A strategy other than `keep` acted, or the response is nothing but reasoning that is never closed.
    Degraded,
    /// The whole response was refused: it has no effects, and the session is unchanged.
    Refused,
}

/// Whether a call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verdict {
    /// The call is accepted: its effects follow.
    Accepted,
    /// The call is dropped: it has no effect.
    Dropped,
    /// The call waits until a person has confirmed it: it has no effect yet.
    Pending,
}

/// One effect for the host to carry out, with the declaration that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectRecord {
    /// The effect.
    #[serde(flatten)]
    pub effect: Effect,
    /// The declaration that caused it; none if no pack did.
    pub cause: Option<FilePlace>,
    /// The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`, and
    /// `write` if the file must be new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// An effect that no pack caused.
impl From<Effect> for EffectRecord {
    fn from(effect: Effect) -> Self {
        Self { effect, cause: None, origin: None }
    }
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 3] = [Status::Clean, Status::Degraded, Status::Refused];

    /// The name in JSON: `clean`, `degraded` or `refused`.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Status::Clean => "clean",
            Status::Degraded => "degraded",
            Status::Refused => "refused",
        }
    }
}

impl Verdict {
    /// The name in JSON: `accepted`, `dropped` or `pending`.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Dropped => "dropped",
            Verdict::Pending => "pending",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything in one line, with line and column, for a host's log.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl Finding {
    /// Whether the finding is an error.
    #[doc(hidden)]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Removes the quotations from its sentences.
    pub(super) fn hide_quotes(&mut self) {
        self.message.hide_quotes();
        self.help.iter_mut().chain(&mut self.to_model).for_each(Message::hide_quotes);
    }

    /// The finding for a diagnostic, without its places.
    pub(super) fn of(found: Diagnostic) -> Self {
        Self {
            code: found.code,
            id: found.id,
            severity: found.severity,
            message: found.message,
            span: Extent::default(),
            line: 0,
            column: 0,
            rule: None,
            strategy: found.strategy,
            help: found.help,
            to_model: found.to_model.map(|message| *message),
            file_lines: Vec::new(),
        }
    }
}

impl Call {
    /// The parameters as a type of the host.
    ///
    /// ```
    /// # use rulebook::{Folder, Program};
    /// # let pack = r#"
    /// # [pack]
    /// # name = "lamp"
    /// # [dialects.tags]
    /// # grammar = "tags"
    /// # blocks = { message = { role = "message" }, action = { role = "call", name = "@type", payload = "tags" } }
    /// # [actions.dim]
    /// # params = { level = { type = "integer", required = true }, room = { type = "string" } }
    /// # [modes.home]
    /// # permits = ["dim"]
    /// # "#;
    /// # let program = Program::load(&Folder::new("lamp", [("pack.toml", pack)])).into_result()?;
    /// #[derive(serde::Deserialize)]
    /// struct Dim {
    ///     level: u8,
    ///     room: Option<String>,
    /// }
    ///
    /// let outcome = program.run(&program.session(), r#"<action type="dim"><level>10</level></action>"#);
    /// let dim: Dim = outcome.calls[0].params_as()?;
    /// assert_eq!((dim.level, dim.room), (10, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Parameters that the type does not take. The pack's schema is checked before, so this means that pack and host
    /// differ.
    pub fn params_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_value((&self.params).into())
    }
}

impl Outcome {
    /// Whether any finding is an error. If so, `run` exits with 1.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Finding::is_error)
    }

    /// The outcome as JSON on one line, as `serde_json` writes it. Compiled with the engine, so that a command that
    /// is compiled for size serializes as fast.
    #[doc(hidden)]
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The response as it may be displayed, for reports that print its lines: each redacted byte is a `*`, or all
    /// bytes if the response was refused and the outcome has no `withheld`; white space remains. Places in the
    /// response remain valid.
    #[doc(hidden)]
    pub fn readable<'r>(&self, response: &'r str) -> Cow<'r, str> {
        let is_withheld = self.status == Status::Refused && self.withheld.is_none();
        if !is_withheld && self.redacted.is_empty() {
            return Cow::Borrowed(response);
        }
        let whole = [Extent::new(0, response.len())];
        let hidden = if is_withheld { &whole } else { self.redacted.as_slice() };
        let mut readable = String::with_capacity(response.len());
        let mut next = 0;
        for (at, c) in response.char_indices() {
            while hidden.get(next).is_some_and(|span| span.end <= at) {
                next += 1;
            }
            let is_hidden = hidden.get(next).is_some_and(|span| span.start <= at) && !c.is_whitespace();
            match is_hidden {
                true => readable.extend(std::iter::repeat_n('*', c.len_utf8())),
                false => readable.push(c),
            }
        }
        Cow::Owned(readable)
    }
}
