//! Pending calls: what becomes of a call that a person confirms or declines?
//!
//! In: the session that a call waits in, and the id under which it waits.
//! Out: the outcome of that call alone, judged by the current mode and state; the session without the call.
//! Never: takes parameters from the host: the call is carried out as it was judged when the model wrote it.

use super::contract::{Finding, Outcome, Status, Verdict};
use super::reader::Broken;
use super::run::Options;
use crate::diagnostic::{Code, Defect, Diagnostic, Findings, Remark};
use crate::document::Document;
use crate::judge::Occasion;
use crate::program::Program;
use crate::provider::{Reply, ReplyPart};
use crate::session::{PendingCall, REQUEST_KIND, Resolution, Session, number_of_request};
use crate::text::{Location, Span, excerpt};

/// The maximum number of pending calls in a session.
const MAX_PENDING: usize = 100;
/// The maximum number of their ids that a finding lists.
const MAX_LISTED: usize = 8;

impl Program {
    /// The outcome of the call that waits under `id`, now that a person has confirmed or declined it. Of the options,
    /// only `trace` has an effect.
    #[doc(hidden)]
    pub fn resolve_pending(&self, session: &Session, id: &str, is_confirmed: bool, options: &Options) -> Outcome {
        let mut session = session.clone();
        let Some(waited) = session.pending.remove(id) else {
            return self.nothing_waits(&session, id);
        };
        let occasion = if is_confirmed { Occasion::Confirmed(Some(&waited)) } else { Occasion::Declined };
        let PendingCall { action, params, call, .. } = &waited;
        let mut reply = Reply::default();
        reply.parts.push(ReplyPart::Call { id: call.clone(), name: action.clone(), arguments: params.to_string() });
        let layout = reply.layout();
        let options = Options { trace: options.trace, ..Options::default() };
        let mut readers = self.readers(&session, &options);
        let document = readers.finish(&self.dialects, layout.text());
        let document = document.with_natives(&reply, &layout, &self.dialects, &self.limits);
        let mut outcome = self.outcome_on(occasion, &session, &layout.source, &document, &options, &Broken::default());
        record(&mut outcome, id, &waited, is_confirmed);
        outcome
    }

    /// The outcome for an id that no pending call has.
    fn nothing_waits(&self, session: &Session, id: &str) -> Outcome {
        let document = Document::default();
        let (options, broken) = (Options::default(), Broken::default());
        let mut outcome = self.outcome_on(Occasion::Confirmed(None), session, "", &document, &options, &broken);
        let message = format!("no call waits under `{}`", excerpt(id, 60));
        let ids = session.pending.keys().map(|id| format!("`{}`", excerpt(id, 60)));
        let help = match ids.take(MAX_LISTED).collect::<Vec<_>>().as_slice() {
            [] => "none waits: each was confirmed or declined, or dropped when the next answer was judged".to_owned(),
            ids => format!("there is {}", ids.join(", ")),
        };
        let fault = Diagnostic::new(Code::SESSION_MISFIT, Location::response(Span::default()), message);
        let mut found = Findings::new(1, 0);
        found.add(fault.with_help(help));
        outcome.diagnostics = self.findings(found, "");
        outcome.status = Status::Refused;
        outcome
    }

    /// Adds the pending calls of an answer to the session, and replaces their questions, in `pending`, by the ids
    /// under which they wait. Earlier pending calls are dropped, with a remark, unless the pack says otherwise.
    pub(super) fn pend(&self, outcome: &mut Outcome, occasion: Occasion<'_>) {
        if outcome.status == Status::Refused {
            return;
        }
        let mut too_many = None;
        let session = &mut outcome.session;
        // A host may have stored the calls that wait, but not the counts: no id is given twice.
        let known = session.pending.keys().chain(session.resolved.keys());
        let mut last = known.filter_map(|id| number_of_request(id)).max().unwrap_or(0);
        let mut remarks = Vec::new();
        if occasion == Occasion::Answer {
            session.resolved.values_mut().for_each(|call| call.reported = true);
        }
        if occasion == Occasion::Answer && !self.keeps_pending {
            for (id, lapsed) in std::mem::take(&mut session.pending) {
                remarks.push(lapses(&id, &lapsed));
                session.resolve(&id, &lapsed, Resolution::Lapsed);
            }
        }
        for call in &mut outcome.calls {
            let Some(question) = call.pending.take() else { continue };
            if session.pending.len() >= MAX_PENDING {
                call.verdict = Verdict::Dropped;
                too_many.get_or_insert(call.span);
                continue;
            }
            let number = session.ids.last(REQUEST_KIND).unwrap_or_default().max(last) + 1;
            last = number;
            let id = format!("{REQUEST_KIND}-{number}");
            session.ids.give(REQUEST_KIND, number);
            let waits = PendingCall {
                action: call.action.clone(),
                params: call.params.clone(),
                question,
                now: session.now.clone(),
                call: call.id.clone(),
                first: None,
            };
            session.pending.insert(id.clone(), waits);
            call.pending = Some(id);
        }
        if let Some(span) = too_many {
            let message = format!("{MAX_PENDING} calls wait for a person already: any more are dropped");
            let fault = Diagnostic::new(Code::Defect(Defect::TooLarge), Location::response(Span::default()), message);
            let fault = fault.with_help("confirm or decline some of them");
            outcome.diagnostics.push(Finding { span, ..Finding::of(fault) });
        }
        outcome.diagnostics.extend(remarks.into_iter().map(Finding::of));
    }
}

/// Records in the session of an outcome what became of the call that waited under `id`: nothing yet, if a person is
/// asked about it once more.
fn record(outcome: &mut Outcome, id: &str, waited: &PendingCall, is_confirmed: bool) {
    let call = outcome.calls.first();
    let again = call.and_then(|call| call.pending.as_ref()).and_then(|again| outcome.session.pending.get_mut(again));
    if let Some(again) = again {
        again.first = Some(waited.first.as_deref().unwrap_or(id).to_owned());
        return;
    }
    let resolution = match call.map(|call| call.verdict) {
        Some(Verdict::Accepted) => Resolution::Confirmed,
        _ if is_confirmed => Resolution::Dropped,
        _ => Resolution::Declined,
    };
    outcome.session.resolve(id, waited, resolution);
}

/// The remark that a call no longer waits, because an answer came before a person had confirmed or declined it.
fn lapses(id: &str, lapsed: &PendingCall) -> Diagnostic {
    let message = format!("`{}` no longer waits under `{id}`: the next answer is here", excerpt(&lapsed.action, 60));
    let remark = Diagnostic::new(Code::Remark(Remark::Note), Location::response(Span::default()), message);
    remark.with_help("`pending = \"keep\"` in `[pack]` keeps what waits")
}
