//! Expectations: which kinds of parts can a case have, and what may each part expect?
//!
//! In: nothing.
//! Out: [`PartKind`], with the keys that its expectation may have, and [`Expectation`].
//! Never: reads a file, or compares anything.

use crate::provider::Provider;
use crate::surface::Tree;
use crate::text::Spanned;

/// The kind of a part of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// `=== start ===`: the start of the session.
    Start,
    /// `=== user ===`: a message of the user.
    User,
    /// `=== response ===`: the answer of a model.
    Response,
    /// `=== openai ===`, `=== anthropic ===`, `=== gemini ===` or `=== mcp ===`: what an API returned, as one message
    /// or as a stream.
    Reply(Provider),
    /// `=== confirm ===`: the id of a call that a person has confirmed.
    Confirm,
    /// `=== decline ===`: the id of a call that a person has declined.
    Decline,
    /// `=== prompt ===`: the user's message for which a prompt is assembled.
    Prompt,
}

impl PartKind {
    pub(super) const ALL: [PartKind; 10] = [
        PartKind::Start,
        PartKind::User,
        PartKind::Response,
        PartKind::Prompt,
        PartKind::Confirm,
        PartKind::Decline,
        PartKind::Reply(Provider::Openai),
        PartKind::Reply(Provider::Anthropic),
        PartKind::Reply(Provider::Gemini),
        PartKind::Reply(Provider::Mcp),
    ];

    /// The word in its marker.
    pub fn word(self) -> &'static str {
        match self {
            PartKind::Start => "start",
            PartKind::User => "user",
            PartKind::Response => "response",
            PartKind::Reply(provider) => provider.name(),
            PartKind::Confirm => "confirm",
            PartKind::Decline => "decline",
            PartKind::Prompt => "prompt",
        }
    }

    /// The kind of part with this word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|part| part.word() == word)
    }

    /// The keys that its expectation may have.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            PartKind::Start | PartKind::User => HEARD_KEYS,
            PartKind::Response | PartKind::Reply(_) | PartKind::Confirm | PartKind::Decline => OUTCOME_KEYS,
            PartKind::Prompt => PROMPT_KEYS,
        }
    }
}

/// One line of an `=== expect ===` part: a key of the outcome and its expected value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Expectation {
    /// The key.
    pub key: Spanned<String>,
    /// The expected value: a table must match as a subset, a list as a whole.
    pub value: Tree,
}

/// The keys of `Heard`, and two lists derived from its diagnostics.
const HEARD_KEYS: &[&str] =
    &["class", "captures", "say", "effects", "codes", "remarks", "session", "diagnostics", "version"];

/// The keys of an outcome, and two lists derived from its diagnostics.
pub(super) const OUTCOME_KEYS: &[&str] = &[
    "status", "message", "calls", "codes", "remarks", "effects", "session", "contents", "sections", "utterances",
    "thinking", "dialect", "mode", "diagnostics", "ledger", "ask_again", "version",
];

/// The keys for a prompt: its members, and checks of its text.
const PROMPT_KEYS: &[&str] =
    &["text", "contains", "lacks", "layers", "tokens_at_most", "codes", "messages", "ledger", "version"];
