//! Replies: what becomes of an answer that an API returned in parts?
//!
//! In: a [`Reply`]; for the results of calls, an [`Outcome`].
//! Out: the outcome of the reply, with places in its parts; results for the calls that were not carried out.
//! Never: judges a native call differently from one that is written in a text.

use super::contract::{Call, Outcome, Verdict};
use super::past::reasons;
use super::reader::Broken;
use super::run::Options;
use crate::diagnostic::Faults;
use crate::document::{Document, Natives};
use crate::program::Program;
use crate::provider::{Chunks, Provider, Reply, ReplyLayout, chunks, result};
use crate::session::Session;
use crate::text::{Extent, Lines, Span, boundary};
use crate::value::Value;

impl Program {
    /// Implements [`Program::judge`].
    pub(crate) fn judge_reply(&self, session: &Session, reply: &Reply, options: &Options) -> Outcome {
        let layout = reply.layout();
        let text = layout.text();
        let mut readers = self.readers(session, options);
        if let Some(chunk) = options.chunk {
            let mut end = 0;
            while end < text.len() && text.len() <= self.limits.input {
                end = boundary(text, end + chunk.max(4));
                readers.advance(&self.dialects, text.get(..end).unwrap_or(text), false);
            }
        }
        let document =
            if self.belongs_to(&layout) { readers.finish(&self.dialects, text) } else { Document::default() };
        self.outcome_of(session, reply, &layout, document, options)
    }

    /// The outcome of a recorded message or stream of a provider, and the reply in it.
    ///
    /// # Errors
    ///
    /// A text that cannot be read as a message or as chunks of the provider.
    #[doc(hidden)]
    pub fn judge_recorded(
        &self,
        session: &Session,
        provider: Provider,
        text: &str,
        options: &Options,
    ) -> Result<(Reply, Outcome), Faults> {
        let Some(chunks) = chunks(text) else {
            let reply = Reply::read(provider, text).into_result()?;
            let outcome = self.judge(session, &reply, options);
            return Ok((reply, outcome));
        };
        let mut reader = self.reader(session, options);
        let mut whole = Chunks::default();
        for chunk in chunks {
            whole.push(provider, &chunk)?;
            reader.push_chunk(provider, &chunk)?;
        }
        Ok((whole.into_reply(), reader.finish().0))
    }

    /// Whether a reply is not longer than the limit.
    pub(super) fn belongs_to(&self, layout: &ReplyLayout) -> bool {
        layout.source.len() <= self.limits.input
    }

    /// The outcome of a reply whose text has been read.
    pub(super) fn outcome_of(
        &self,
        session: &Session,
        reply: &Reply,
        layout: &ReplyLayout,
        document: Document,
        options: &Options,
    ) -> Outcome {
        let document = match self.belongs_to(layout) {
            true => document.with_natives(reply, layout, &self.dialects, &self.limits),
            false => Document::too_large(reply, layout, self.limits.input),
        };
        let options = Options { truncated: options.truncated || reply.truncated, ..options.clone() };
        self.outcome(session, &layout.source, &document, &options, &Broken::default())
    }
}

impl Outcome {
    /// Results for the calls that were not carried out, in the form of the provider: for OpenAI messages, for the
    /// Responses API items of `input`, for Anthropic blocks of one user message, for Gemini parts, for MCP the
    /// `result` of the request.
    ///
    /// Each gives the reason in words for a model: the advice of the pack, or what is wrong with which argument. It
    /// quotes nothing that was redacted or withheld. Accepted calls have no such result: the host answers those with
    /// what its tools return. Calls that wait for a confirmation, and calls in the text, have none, either. After a
    /// refusal, or if the model is asked again, every native call has one.
    ///
    /// APIs require an answer to every call of a message before the next request. The outcome of [`Program::confirm`]
    /// or [`Program::decline`] has the pending call by its id: accepted, so that the host answers it, or dropped, so
    /// that it is among the results of that outcome. A host that cannot ask a person at once answers the call with a
    /// text that says so.
    ///
    /// ```
    /// # use rulebook::{Folder, Program, Provider, Reply};
    /// # let pack = r#"
    /// # [pack]
    /// # name = "weather"
    /// # [modes.chat]
    /// # permits = ["get_weather"]
    /// # [actions.get_weather]
    /// # params = { city = { type = "string", required = true } }
    /// # [actions.set_alarm]
    /// # "#;
    /// # let program = Program::load(&Folder::new("weather", [("pack.toml", pack)])).into_result()?;
    /// let reply = Reply::read(Provider::Openai, r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1",
    ///     "type": "function", "function": {"name": "set_alarm", "arguments": "{}"}}]}"#).into_result()?;
    /// let outcome = program.judge(&program.session(), &reply, &Default::default());
    /// let results = outcome.tool_results(Provider::Openai);
    /// assert_eq!(
    ///     results[0].get("content").and_then(|content| content.as_str()),
    ///     Some("not carried out: the mode `chat` does not permit `set_alarm` (no mode permits it)"),
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tool_results(&self, provider: Provider) -> Vec<Value> {
        let is_refused = |call: &&Call| call.span.part > 0 && call.verdict == Verdict::Dropped;
        let answer = |call: &Call| {
            let why = format!("not carried out: {}", reasons(self, call));
            result(provider, call.id.as_deref(), &call.action, &why)
        };
        self.calls.iter().filter(is_refused).map(answer).collect()
    }

    /// Converts each place in the source of a structured reply to a place in its part.
    pub(super) fn place(&mut self, natives: &Natives, source: &str) {
        let extent = |extent: &mut Extent| *extent = natives.extent(Span::from(*extent));
        self.calls.sort_by_key(|call| natives.order_of(Span::from(call.span)));
        self.calls.iter_mut().for_each(|call| extent(&mut call.span));
        self.redacted.iter_mut().for_each(extent);
        let located = |span: &mut Extent, line: &mut usize, column: &mut usize| {
            let part = natives.part(span.start);
            extent(span);
            if let Some(part) = natives.parts.get(part).filter(|_| part > 0) {
                let place = Lines::new(part.of(source)).place(span.start);
                (*line, *column) = (place.line, place.column);
            }
        };
        for origin in self.effects.iter_mut().filter_map(|record| record.origin.as_mut()) {
            located(&mut origin.span, &mut origin.line, &mut origin.column);
        }
        self.trace.iter_mut().flatten().for_each(|step| extent(&mut step.span));
        for found in &mut self.diagnostics {
            located(&mut found.span, &mut found.line, &mut found.column);
        }
    }
}
