//! Messages: which parts does the JSON of a provider have, and what is wrong with it?
//!
//! In: the text of a message, and a reader for its provider.
//! Out: [`Checked`] with the [`Reply`], or an error at the place that cannot be read.
//! Never: knows the shapes of a provider; passes over a part without a trace.

use super::{Reply, ReplyPart};
use crate::diagnostic::{Checked, Code, Diagnostic, message, quote};
use crate::text::{Location, Source, SourceId, Sources, Span};
use crate::value::broken;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// A message that is being read.
pub(super) struct Message<'t> {
    text: &'t str,
    source: SourceId,
    sources: Sources,
    faults: Vec<Diagnostic>,
    pub(super) reply: Reply,
}

impl<'t> Message<'t> {
    /// `name` is the source of what is reported.
    pub(super) fn new(name: &'static str, text: &'t str) -> Self {
        let mut sources = Sources::default();
        let source = sources.add(Source::new(name, text));
        Self { text, source, sources, faults: Vec::new(), reply: Reply::default() }
    }

    /// The reply that a reader of a provider finds.
    pub(super) fn read(mut self, read: impl FnOnce(&mut Self, &'t str)) -> Checked<Reply> {
        let text = self.text.trim_start_matches('\u{feff}');
        read(&mut self, text);
        let reply = if self.faults.is_empty() { Some(self.reply) } else { None };
        Checked::new(reply, self.faults, self.sources)
    }

    /// A part of the message as a type; none if it is not `what`.
    pub(super) fn part<T: Deserialize<'t>>(&mut self, part: &'t str, what: &str) -> Option<T> {
        match serde_json::from_str(part) {
            Ok(read) => Some(read),
            Err(error) => {
                let place = broken::place(&error, part);
                let start = offset_of(part, self.text);
                let why = message!("this is not {}: {}", &what, quote(broken::why(&error), 120));
                self.fault(Span::new(start + place.start, start + place.end), why);
                None
            }
        }
    }

    /// Reports that the message cannot be read at a place.
    pub(super) fn fault(&mut self, span: Span, why: impl Into<crate::diagnostic::Message>) {
        let at = Location { source: self.source, span };
        let help = "pass what the API returned, as it is; `docs/agents.md` shows the forms that are read";
        self.faults.push(Diagnostic::new(Code::RESPONSE_UNREADABLE, at, why).with_help(help));
    }

    /// The same for a part of the message.
    pub(super) fn fault_in(&mut self, part: &'t str, why: impl Into<crate::diagnostic::Message>) {
        let start = offset_of(part, self.text);
        let first = part.lines().next().unwrap_or_default();
        self.fault(Span::new(start, start + first.len()), why);
    }

    /// Reports that the API returned an error instead of an answer.
    pub(super) fn returned(&mut self, error: &'t RawValue) {
        let says = |error: &str| serde_json::from_str::<ApiError>(error).ok().and_then(|error| error.message);
        let words = says(error.get()).unwrap_or_else(|| error.get().to_owned());
        self.fault_in(error.get(), message!("the API returned an error: {}", quote(words, 200)));
    }

    pub(super) fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.reply.parts.push(ReplyPart::Text { text });
        }
    }

    pub(super) fn thinking(&mut self, text: String) {
        if !text.is_empty() {
            self.reply.parts.push(ReplyPart::Thinking { text });
        }
    }

    pub(super) fn call(&mut self, id: Option<String>, name: String, arguments: String) {
        self.reply.parts.push(ReplyPart::Call { id, name, arguments });
    }

    pub(super) fn other(&mut self, kind: impl Into<String>) {
        self.reply.parts.push(ReplyPart::Other { kind: kind.into() });
    }
}

/// An error as most APIs return it.
#[derive(Deserialize)]
struct ApiError {
    message: Option<String>,
}

/// Where a part of a text starts in it.
fn offset_of(part: &str, whole: &str) -> usize {
    let offset = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    if offset <= whole.len() { offset } else { 0 }
}

/// What a member is written as: the first character of its JSON.
pub(super) fn starts(raw: &RawValue) -> u8 {
    raw.get().bytes().next().unwrap_or_default()
}

/// The arguments of a call as JSON text: some APIs give them as a text, others as an object.
pub(super) fn arguments_of(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else { return String::new() };
    match starts(raw) {
        b'"' => serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned()),
        b'n' => String::new(),
        _ => raw.get().to_owned(),
    }
}

/// Whether a member is there and says something.
pub(super) fn is_said(raw: Option<&RawValue>) -> bool {
    let says_nothing = |text: &str| matches!(text, "null" | "\"\"" | "[]" | "{}");
    raw.is_some_and(|raw| !says_nothing(raw.get()))
}

/// A member of which only the presence matters.
pub(super) type Present = Option<IgnoredAny>;
