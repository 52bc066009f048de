//! Messages: which parts does the JSON of a provider have, and what is wrong with it?
//!
//! In: the text of a message, and a reader for its provider.
//! Out: [`Checked`] with the [`Reply`], or an error at the place that cannot be read.
//! Never: knows the shapes of a provider, or ignores a part silently.

use super::ending::Ending;
use super::raw::{Raw, RawPlaces};
use super::reply::BETWEEN;
use super::{Reply, ReplyPart};
use crate::diagnostic::{self, Checked, Code, Diagnostic, message, quote};
use crate::text::{Location, Source, SourceId, Sources, Span};
use crate::value::broken;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// A message that is being read.
pub(super) struct ReplyMessage<'t> {
    text: &'t str,
    source: SourceId,
    sources: Sources,
    faults: Vec<Diagnostic>,
    pub(super) reply: Reply,
    /// Whether the provider should say why the reply ended, and does not.
    pub(super) unsaid: bool,
    /// Whether the provider rejects the calls of the reply.
    pub(super) broken: bool,
    /// The status of an item that is not complete.
    pub(super) item_status: Option<String>,
    /// Whether the last text is the words of a refusal.
    last_refuses: bool,
    /// How many calls have been read.
    pub(super) calls: usize,
    /// Their ids.
    ids: BTreeSet<String>,
    /// Whether the API has parsed the arguments of the last call: they are valid JSON even if the model was cut off.
    last_is_parsed: bool,
}

/// The reply that the reader of a provider finds in a message. `name` is the name of the source in findings.
pub(super) fn read(
    name: &'static str,
    returned: &str,
    read: impl for<'r> FnOnce(&mut ReplyMessage<'r>, Raw<'r>),
) -> Checked<Reply> {
    let mut sources = Sources::default();
    let source = sources.add(Source::new(name, returned));
    let text = returned.trim_start_matches('\u{feff}').trim();
    let error = serde_json::from_str::<IgnoredAny>(text).err();
    let places = RawPlaces::of(if error.is_none() { text } else { "" });
    let mut message = ReplyMessage {
        text: returned,
        source,
        sources,
        faults: Vec::new(),
        reply: Reply::default(),
        unsaid: false,
        broken: false,
        item_status: None,
        last_refuses: false,
        calls: 0,
        ids: BTreeSet::new(),
        last_is_parsed: false,
    };
    if let Some(whole) = places.whole() {
        read(&mut message, whole);
        message.note_unfinished();
        if message.calls == 0
            && let Some(other) = looks_like(whole).filter(|other| *other != name)
        {
            message.suspect(name, other, whole);
        }
    }
    if let Some(error) = error {
        let (start, place) = (offset_of(text, returned), broken::place(&error, text));
        let why = message!("this is not JSON: {}", quote(broken::why(&error), 120));
        message.fault(Span::new(start + place.start, start + place.end), why);
    }
    let ReplyMessage { reply, faults, sources, .. } = message;
    let reply = faults.is_empty().then_some(reply);
    Checked::new(reply, faults, sources)
}

impl<'t> ReplyMessage<'t> {
    fn fault(&mut self, span: Span, why: impl Into<diagnostic::Message>) {
        let at = Location { source: self.source, span };
        let help = "pass what the API returned, as it is; `docs/agents.md` shows the forms that are read";
        self.faults.push(Diagnostic::new(Code::RESPONSE_UNREADABLE, at, why).with_help(help));
    }

    /// Says that the message looks like one of the API `other`. If it could be read as one of `name` all the same, its
    /// calls are missing, which is a fault.
    fn suspect(&mut self, name: &str, other: &str, whole: Raw<'t>) {
        if self.faults.is_empty() {
            self.fault_in(whole, message!("read as a message of `{}`, this has no calls, but it has some", &name));
        }
        for fault in &mut self.faults {
            fault.help = Some(message!("this looks like a message of `{}`: read it as one", &other));
        }
    }

    /// Reports that a part of the message cannot be read.
    pub(super) fn fault_in(&mut self, part: Raw<'t>, why: impl Into<diagnostic::Message>) {
        let start = offset_of(part.raw, self.text);
        let first = part.raw.lines().next().unwrap_or_default();
        self.fault(Span::new(start, start + first.len()), why);
    }

    /// Notes why the provider says that the reply ended.
    pub(super) fn end(&mut self, reason: &str) {
        match Ending::of(reason) {
            Ending::Whole | Ending::Unsaid => {}
            Ending::Cut => self.reply.truncated = true,
            Ending::Refused => self.reply.refused = true,
            Ending::Broken => {
                self.broken = true;
                self.other(reason);
            }
            Ending::Unknown => {
                self.reply.truncated = true;
                self.reply.reason = Some(reason.to_owned());
            }
        }
    }

    /// Notes which calls may be incomplete.
    fn note_unfinished(&mut self) {
        let item_status = self.item_status.take().filter(|_| !self.reply.truncated && !self.reply.refused);
        item_status.iter().for_each(|status| self.end(status));
        let (broken, unsaid) = (self.broken, self.unsaid);
        let calls = self.reply.calls().enumerate();
        let doubtful = calls.filter(|(_, (_, _, arguments))| broken || (unsaid && !is_complete(arguments)));
        let doubtful: Vec<usize> = doubtful.map(|(number, _)| number).collect();
        self.reply.unfinished.extend(doubtful);
        let may_be_cut = self.reply.truncated || self.reply.refused || unsaid;
        if may_be_cut && self.last_is_parsed {
            self.reply.unfinished.extend(self.reply.last_call());
        }
        self.reply.unfinished.sort_unstable();
        self.reply.unfinished.dedup();
    }

    /// Reports that the API returned an error instead of an answer.
    pub(super) fn returned(&mut self, error: Raw<'t>) {
        let words = error.get("message").unwrap_or(error);
        let words = words.text().unwrap_or_else(|| words.raw.to_owned());
        self.fault_in(error, message!("the API returned an error: {}", quote(words, 200)));
    }

    /// The text of a member that must be a text; `None` also if it is absent.
    pub(super) fn text_member(&mut self, of: Raw<'t>, name: &str) -> Option<String> {
        let member = of.get(name)?;
        let text = self.decoded(member);
        if text.is_none() && !member.is_text() {
            self.fault_in(member, message!("`{}` is not a text", &name));
        }
        text
    }

    /// A value that is a text, decoded.
    pub(super) fn decoded(&mut self, value: Raw<'t>) -> Option<String> {
        let text = value.text();
        if text.is_none() && value.is_text() {
            self.fault_in(value, "this text contains half of a surrogate pair, which UTF-8 cannot encode");
        }
        text
    }

    /// Adds a call with the arguments in a member; returns whether it is one of the reply.
    ///
    /// The result of a call is returned with its id, so that a second call with an id of the reply cannot be answered: it
    /// is a part that nothing reads.
    pub(super) fn call_of(&mut self, id: Option<String>, name: String, of: Raw<'t>, member: &str) -> bool {
        let arguments = self.arguments(of, member);
        if let Some(repeated) = repeated(&mut self.ids, id.as_deref()) {
            self.reply.parts.push(repeated);
            return false;
        }
        self.last_is_parsed = of.get(member).is_some_and(|arguments| !arguments.is_text());
        self.reply.parts.push(ReplyPart::Call { id, name, arguments });
        self.calls += 1;
        true
    }

    /// Notes that the last call has no arguments, in an API that leaves an empty object out.
    pub(super) fn last_has_none(&mut self) {
        if let Some(ReplyPart::Call { arguments, .. }) = self.reply.parts.last_mut() {
            *arguments = "{}".to_owned();
            self.last_is_parsed = true;
        }
    }

    /// Notes that the arguments of the last call have not arrived.
    pub(super) fn last_is_partial(&mut self) {
        self.reply.unfinished.extend(self.calls.checked_sub(1));
    }

    /// The arguments of a call as JSON text; empty if there are none.
    pub(super) fn arguments(&mut self, of: Raw<'t>, name: &str) -> String {
        match of.get(name) {
            Some(member) if member.is_text() => self.decoded(member).unwrap_or_default(),
            Some(member) => member.raw.to_owned(),
            None => String::new(),
        }
    }

    /// Whether a part of the message is an object; reports it otherwise.
    pub(super) fn is_object(&mut self, part: Raw<'t>, what: &str) -> bool {
        if !part.is_object() {
            self.fault_in(part, message!("this is not {}: it is not an object", &what));
        }
        part.is_object()
    }

    /// Whether a message is the model's; one of somebody else, such as a user or a tool, is noted as not read.
    pub(super) fn is_of_model(&mut self, part: Raw<'t>) -> bool {
        // Fast path, without a copy: 2.5 % of what reading a reply takes.
        if part.get("role").is_some_and(|role| role.raw == "\"assistant\"") {
            return true;
        }
        match self.text_member(part, "role").as_deref() {
            None | Some("" | "assistant" | "model") => true,
            Some(role) => {
                self.other(format!("message of the role {role}"));
                false
            }
        }
    }

    /// The items of a member that must be a list; nothing if it is absent.
    pub(super) fn list(&mut self, of: Raw<'t>, name: &str) -> impl Iterator<Item = Raw<'t>> + use<'t> {
        let member = of.get(name);
        if let Some(member) = member.filter(|member| !member.is_list()) {
            self.fault_in(member, message!("`{}` is not a list", &name));
        }
        member.into_iter().flat_map(Raw::items)
    }

    pub(super) fn text(&mut self, text: String) {
        self.text_or_refusal(text, false);
    }

    /// Adds the words of a refusal, which are a paragraph of their own.
    pub(super) fn refusal(&mut self, text: String) {
        self.reply.refused = true;
        self.text_or_refusal(text, true);
    }

    fn text_or_refusal(&mut self, mut text: String, refuses: bool) {
        if text.is_empty() {
            return;
        }
        let is_text = matches!(self.reply.parts.last(), Some(ReplyPart::Text { .. }));
        if is_text && self.last_refuses != refuses {
            text.insert_str(0, BETWEEN);
        }
        self.last_refuses = refuses;
        self.reply.parts.push(ReplyPart::Text { text });
    }

    pub(super) fn thinking(&mut self, text: String) {
        if !text.is_empty() {
            self.reply.parts.push(ReplyPart::Thinking { text });
        }
    }

    pub(super) fn other(&mut self, kind: impl Into<String>) {
        self.reply.parts.push(ReplyPart::Other { kind: kind.into() });
    }
}

/// The API whose messages have the members that this one has, if it has a call or is a whole response. The members are
/// those of the API references.
fn looks_like(message: Raw<'_>) -> Option<&'static str> {
    let has = |name: &str| message.get(name).is_some_and(Raw::has_content);
    let uses_tool = || {
        let mut blocks = message.get("content").filter(|content| content.is_list()).into_iter().flat_map(Raw::items);
        blocks.any(|block| block.get("type").is_some_and(|kind| kind.raw == "\"tool_use\""))
    };
    match () {
        () if has("candidates") => Some("gemini"),
        () if ["choices", "output", "tool_calls", "function_call"].into_iter().any(has) => Some("openai"),
        () if has("method") => Some("mcp"),
        () if uses_tool() => Some("anthropic"),
        () => None,
    }
}

/// What a call with this id becomes if one with that id came before; adds the id to those that are known.
pub(super) fn repeated(known: &mut BTreeSet<String>, id: Option<&str>) -> Option<ReplyPart> {
    let id = id.filter(|id| !id.is_empty())?;
    let is_new = known.insert(id.to_owned());
    (!is_new).then(|| ReplyPart::Other { kind: format!("another call with the id {id}") })
}

/// Whether arguments are valid JSON.
pub(super) fn is_complete(arguments: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

/// The offset of a part of a text in the text.
fn offset_of(part: &str, whole: &str) -> usize {
    let offset = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    if offset <= whole.len() { offset } else { 0 }
}
