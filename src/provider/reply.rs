//! Reply: what did a model answer through an API that returns its parts separately?
//!
//! In: texts, reasoning and tool calls, in order.
//! Out: [`Reply`]; the source that is judged, with the place of each part in it.
//! Never: knows the form of a provider, or reads the arguments of a call.

use crate::text::Span;
use crate::value::Value;
use serde::{Deserialize, Deserializer, Serialize};

/// What a model answered, in parts: [`Program::judge`](crate::Program::judge) judges it as
/// [`Program::run`](crate::Program::run) judges a text.
///
/// [`Reply::read`] makes one from a provider's message. A host that has the parts already fills it in:
///
/// ```
/// use rulebook::{Reply, ReplyPart};
///
/// let mut reply = Reply::default();
/// reply.parts.push(ReplyPart::Text { text: "Let me look.".to_owned() });
/// reply.parts.push(ReplyPart::Call {
///     id: Some("call_1".to_owned()),
///     name: "get_weather".to_owned(),
///     arguments: r#"{"city": "Oslo"}"#.to_owned(),
/// });
/// let json = serde_json::to_string(&reply)?;
/// assert_eq!(serde_json::from_str::<Reply>(&json)?, reply);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(description = "Texts, reasoning and native tool calls.")
)]
#[serde(default)]
#[non_exhaustive]
pub struct Reply {
    /// The parts, in the order in which the model wrote them.
    pub parts: Vec<ReplyPart>,
    /// Whether the model ran out of tokens, so that its last part and its calls may be incomplete.
    pub truncated: bool,
    /// Whether the provider reports that the model refused, or that its own filter stopped the answer.
    pub refused: bool,
    /// The provider's word for why a truncated reply ended, if it is not that the tokens ran out.
    pub reason: Option<String>,
    /// The numbers of the calls, from 0, that may be incomplete although their arguments are valid JSON, or absent.
    pub unfinished: Vec<usize>,
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ReplyPart {
    /// Text for the user, or text in a dialect of the pack.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning.
    Thinking {
        /// The text.
        text: String,
    },
    /// A native tool call.
    Call {
        /// The id with which the result of the call is returned to the provider.
        #[serde(default)]
        id: Option<String>,
        /// The name of the tool: an action of the pack.
        name: String,
        /// The arguments as JSON text, which may be broken. When it is read from JSON, any value but a text becomes
        /// its JSON.
        #[serde(default, deserialize_with = "arguments")]
        #[cfg_attr(feature = "schema", schemars(schema_with = "of_arguments"))]
        arguments: String,
    },
    /// Something that nothing reads, such as an image: the outcome has a finding about it.
    Other {
        /// What the provider calls it.
        kind: String,
    },
}

/// A reply as one text: its texts, then the arguments of each call, then its reasoning. Line breaks between the
/// parts, which are not counted, make each place belong to one part; the names of the calls follow the last part.
#[derive(Debug, Default)]
pub(crate) struct ReplyLayout {
    pub(crate) source: String,
    /// The text, then the calls, then the reasoning.
    pub(crate) parts: Vec<Span>,
    /// For each call, the place of its name, and how much of the text is before it.
    pub(crate) calls: Vec<(Span, usize)>,
}

impl Reply {
    /// The text that dialects read, and for each call how much of it is before the call. Texts with another part
    /// between them are separate paragraphs; adjacent ones, such as those around a citation, are one text.
    fn joined(&self) -> (String, Vec<usize>) {
        let (mut text, mut calls, mut apart) = (String::new(), Vec::new(), false);
        for part in &self.parts {
            match part {
                ReplyPart::Text { text: piece } if piece.is_empty() => {}
                ReplyPart::Text { text: piece } => {
                    if std::mem::take(&mut apart) && !text.is_empty() {
                        text.push_str(BETWEEN);
                    }
                    text.push_str(piece);
                }
                part => {
                    apart = true;
                    calls.extend(matches!(part, ReplyPart::Call { .. }).then_some(text.len()));
                }
            }
        }
        (text, calls)
    }

    /// The text that dialects read.
    #[doc(hidden)]
    pub fn text(&self) -> String {
        self.joined().0
    }

    /// The native calls, each with its id, name and arguments.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (Option<&str>, &str, &str)> {
        self.parts.iter().filter_map(|part| match part {
            ReplyPart::Call { id, name, arguments } => Some((id.as_deref(), name.as_str(), arguments.as_str())),
            _ => None,
        })
    }

    /// The number of the last call, if nothing that can be read comes after it.
    pub(super) fn last_call(&self) -> Option<usize> {
        let last = self.parts.iter().rev().find(|part| !matches!(part, ReplyPart::Other { .. }))?;
        matches!(last, ReplyPart::Call { .. }).then(|| self.calls().count().saturating_sub(1))
    }

    /// The kinds of the parts that nothing reads, as the provider names them.
    pub(crate) fn others(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            ReplyPart::Other { kind } => Some(kind.as_str()),
            _ => None,
        })
    }

    /// The reply as one text.
    pub(crate) fn layout(&self) -> ReplyLayout {
        let (source, before) = self.joined();
        let parts = vec![Span::new(0, source.len())];
        let mut layout = ReplyLayout { source, parts, ..ReplyLayout::default() };
        self.calls().for_each(|(_, _, arguments)| layout.add(arguments));
        for part in &self.parts {
            if let ReplyPart::Thinking { text } = part {
                layout.add(text);
            }
        }
        for ((_, name, _), before) in self.calls().zip(before) {
            let span = layout.append(name);
            layout.calls.push((span, before));
        }
        layout
    }
}

/// The separator of two texts that have another part between them.
pub(crate) const BETWEEN: &str = "\n\n";

impl ReplyLayout {
    /// The text that dialects read.
    pub(crate) fn text(&self) -> &str {
        self.parts.first().map(|text| text.of(&self.source)).unwrap_or_default()
    }

    fn add(&mut self, part: &str) {
        let span = self.append(part);
        self.parts.push(span);
    }

    fn append(&mut self, text: &str) -> Span {
        self.source.push('\n');
        let start = self.source.len();
        self.source.push_str(text);
        Span::new(start, self.source.len())
    }
}

/// The arguments of a call as JSON text, from any JSON.
fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => (*text).to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// The schema of arguments, which are written as JSON text and read from any JSON.
#[cfg(feature = "schema")]
fn of_arguments(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "description": "The arguments as JSON text, which may be broken. Anything but a text counts as its JSON.",
    })
}
