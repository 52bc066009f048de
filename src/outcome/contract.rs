//! The contract of `run`: what does a host get back for one response?
//!
//! In: nothing; these are plain types.
//! Out: [`Outcome`] and its parts, version 1, with their JSON (`schemas/outcome.schema.json`).
//! Never: decides anything.

use crate::diagnostic::{Diagnostic, Severity};
use crate::flow::Effect;
use crate::judge::StepKind;
use crate::session::{Session, contract};
#[cfg(feature = "schema")]
use crate::value::Object;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The version of the contract.
pub const VERSION: u32 = 1;

contract! {
    /// What a response may do: the text to show, the effects to carry out, and a remark for whatever was wrong.
    ///
    /// Lists keep the order of the response. Absent parts are `""`, `[]` or `null`, never missing.
    pub struct Outcome {
        /// The version of this contract: 1.
        version: u32,
        /// Whether a strategy had to act. A response that nothing could read may be clean, with an error among the diagnostics.
        status: Status,
        /// The dialect that read it; none where none recognised a block.
        dialect: Option<String>,
        /// The mode it was judged in.
        mode: String,
        /// The text to show.
        message: String,
        /// The model's reasoning, block by block.
        thinking: Vec<String>,
        /// Named parts that no strategy removed.
        sections: Vec<Section>,
        /// Contents that no strategy removed.
        contents: Vec<ContentBlock>,
        /// Utterances that no strategy removed.
        utterances: Vec<Utterance>,
        /// Every call, accepted or not; none inside masks or thinking.
        calls: Vec<Call>,
        /// What the host should carry out, in order.
        effects: Vec<EffectRecord>,
        /// What was wrong or worth saying, in the order of the places, then of the codes.
        diagnostics: Vec<Finding>,
        /// A correction text for the model, where the degradation table asks for one.
        ask_again: Option<String>,
        /// The account of every byte.
        ledger: Ledger,
        /// The session after the response.
        session: Session,
        /// Which declaration caused what, step by step; only on request.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace: Option<Vec<TraceStep>>,
    }

    /// A named part of the reply.
    pub struct Section {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
        /// The whole block, in bytes.
        span: [usize; 2],
    }

    /// Opaque text under a key.
    pub struct ContentBlock {
        /// The contents' name.
        name: String,
        /// What it is stored under.
        key: String,
        /// Its text, which effects share.
        text: Arc<str>,
        /// The whole block, in bytes.
        span: [usize; 2],
    }

    /// What one speaker says.
    pub struct Utterance {
        /// The speaker's name.
        speaker: String,
        /// The label behind the name.
        label: String,
        /// The words.
        text: String,
        /// The whole block, in bytes.
        span: [usize; 2],
    }

    /// One use of an action.
    pub struct Call {
        /// The action's name as the response has it.
        action: String,
        /// The parameters as the schema types them.
        #[cfg_attr(feature = "schema", schemars(with = "Object"))]
        params: Value,
        /// Whether it counts.
        verdict: Verdict,
        /// The whole block, in bytes.
        span: [usize; 2],
    }

    /// One sentence about the response.
    pub struct Finding {
        /// `response/DEFECT` or `response/REMARK`.
        code: String,
        /// The guardrail behind it.
        id: Option<String>,
        /// `error`, `warning` or `info`.
        severity: Severity,
        /// What is wrong.
        message: String,
        /// Where.
        span: Extent,
        /// The declaration that it rests on, `pack/file:line:column`.
        rule: Option<Arc<str>>,
        /// What was done about it.
        strategy: Option<String>,
        /// How to mend it.
        help: Option<String>,
    }

    /// A range of bytes with the line and column of its start, both from 1.
    pub struct Extent {
        /// The first byte.
        start: usize,
        /// The byte after the last.
        end: usize,
        /// The line of the start.
        line: usize,
        /// The column of the start, in characters.
        column: usize,
    }

    /// The account of every byte of the response: the parts sum to `bytes`.
    #[derive(Copy, Default, Eq)]
    pub struct Ledger {
        /// The length of the response.
        bytes: usize,
        /// Shown to the user.
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
        /// What a strategy removed.
        dropped: usize,
        /// White space outside blocks, or trimmed.
        blank: usize,
    }

    /// One step of the way from the response to the outcome.
    pub struct TraceStep {
        /// What happened: `dialect`, `bytes`, `input`, `block`, `call`, `permit`, `condition`, `defect`, `guardrail`,
        /// `strategy`, `remark`, `rule`, `mode`, `effect`; `shadowed` where the words mean what a later input says, too.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        step: StepKind,
        /// Where in the response.
        span: [usize; 2],
        /// What was found.
        found: String,
        /// The declaration behind it, `pack/file:line:column`.
        rule: Option<Arc<str>>,
        /// What a condition rested on.
        parts: Vec<Part>,
    }

    /// A part of a condition, and what it gave.
    #[derive(Eq)]
    pub struct Part {
        /// As the pack has it.
        text: String,
        /// Its value as JSON, cut short; or why there is none.
        value: String,
    }
}

/// Whether anything had to be done about the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No strategy other than `keep` acted.
    Clean,
    /// A strategy acted.
    Degraded,
    /// No effects, and the session stays as it was.
    Refused,
}

/// Whether a call counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Its effects follow.
    Accepted,
    /// It has no effect.
    Dropped,
}

/// One thing for the host to carry out, with the declaration that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectRecord {
    /// What to do.
    #[serde(flatten)]
    pub effect: Effect,
    /// The declaration, `pack/file:line:column`.
    pub cause: Arc<str>,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 3] = [Status::Clean, Status::Degraded, Status::Refused];

    /// The word for it: `clean`, `degraded` or `refused`.
    pub fn name(self) -> &'static str {
        match self {
            Status::Clean => "clean",
            Status::Degraded => "degraded",
            Status::Refused => "refused",
        }
    }
}

impl Verdict {
    /// The word for it: `accepted` or `dropped`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Dropped => "dropped",
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

/// In one line, with its line and column: for a host's log.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.span.line > 0 {
            write!(f, "{}:{}: ", self.span.line, self.span.column)?;
        }
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl Finding {
    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// A diagnostic, without its places.
    pub(super) fn of(found: Diagnostic) -> Self {
        Self {
            code: found.code.to_string(),
            id: found.id,
            severity: found.severity,
            message: found.message,
            span: Extent { start: 0, end: 0, line: 0, column: 0 },
            rule: None,
            strategy: found.strategy.map(|strategy| strategy.name().to_owned()),
            help: found.help,
        }
    }
}

impl Outcome {
    /// Whether a finding is an error: what the exit status of `run` says.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Finding::is_error)
    }
}
