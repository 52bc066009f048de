//! Asking again: what does a model read after its answer was refused?
//!
//! In: the findings of an answer, the form of a valid one, the pack's `[ask_again]`.
//! Out: a text that can be understood on its own, within its limit: every kind of defect, and the form of an answer.
//! Never: lets a quotation from the answer form a block; refers to an earlier correction: each correction replaces the
//! one before, so that prompts do not grow.

use super::form::{AnswerForm, ExampleActions};
use crate::diagnostic::{Code, Defect, Diagnostic};
use crate::document::Natives;
use crate::expression::{Expression, Scope, Template};
use crate::markup::Escape;
use crate::program::{ActionId, Dialect, Mode, Permit, Program};
use crate::session::Session;
use crate::surface::LEAST_CORRECTION_TOKENS;
use crate::text::{Lines, Location, Slice, Spanned, excerpt};
use crate::value::{ByteBudget, Object, Value};
use std::sync::LazyLock;

/// The bytes per token: few, so that the limit is respected for every vocabulary.
const BYTES_PER_TOKEN: usize = 3;
/// If nothing else makes the text short enough, messages are cut to this many characters.
const MAX_CUT_CHARACTERS: usize = 80;
// A pack cannot ask for a text that is shorter than this.
const _: () = assert!(MAX_CUT_CHARACTERS <= LEAST_CORRECTION_TOKENS * BYTES_PER_TOKEN);

/// The text if the pack has none of its own.
static WORDS: LazyLock<Option<Template>> = LazyLock::new(|| {
    let text = include_str!("ask_again.txt").to_owned();
    Template::parse(&Spanned::new(text, Location::response(Default::default()))).ok()
});

/// The answer that is corrected.
pub(crate) struct Corrected<'a> {
    /// The dialect that read it.
    pub(crate) dialect: Option<&'a Dialect>,
    /// Its parts, if it is a structured reply.
    pub(crate) natives: Option<&'a Natives>,
    /// The lines of its text.
    pub(crate) lines: Lines<'a>,
}

/// A defect of an answer, with the texts of its finding.
pub(crate) struct ReportedDefect {
    defect: Defect,
    message: String,
    help: Option<String>,
    line: usize,
    /// The number of the native call with the defect, from 1; 0 if it is not in a native call.
    call: usize,
    /// Whether it is about a call that would be permitted under a condition.
    is_conditional: bool,
}

impl ReportedDefect {
    /// The defect of a finding, if it is about one. The message is the one for models, if there is one. The place is
    /// the line, and the number of the native call.
    pub(crate) fn new(
        code: &Code,
        message: &str,
        help: Option<&str>,
        is_conditional: bool,
        (line, call): (usize, usize),
    ) -> Option<Self> {
        let Code::Defect(defect) = *code else { return None };
        let (message, help) = in_words_for_a_model(code, message, help);
        let (message, help) = (message.to_owned(), help.map(str::to_owned));
        Some(Self { defect, message, help, line, call, is_conditional })
    }
}

impl Corrected<'_> {
    /// The defects that the findings about the answer name.
    pub(crate) fn faults(&self, findings: &[Diagnostic]) -> Vec<ReportedDefect> {
        let Corrected { natives, lines, .. } = self;
        // A missing part is missing after the last line that is not blank.
        let last = lines.text().trim_end().len();
        let found = findings.iter().filter_map(|found| {
            let message = found.to_model.as_deref().unwrap_or(&found.message);
            let start = match found.code {
                Code::Defect(Defect::Truncated) => last,
                _ => found.at.map(|at| at.span.start).unwrap_or_default(),
            };
            let call = natives.map_or(0, |natives| natives.call_at(start));
            let line = || lines.place(start.min(last)).line;
            let is_defect = matches!(found.code, Code::Defect(_));
            let place = (if is_defect { line() } else { 0 }, call);
            ReportedDefect::new(&found.code, message, found.help.as_deref(), found.to_model.is_some(), place)
        });
        found.collect()
    }

    /// Whether it has native calls, which have no form in the text: the API describes them to the model.
    pub(crate) fn is_native(&self) -> bool {
        self.natives.is_some_and(Natives::has_calls)
    }
}

impl Program {
    /// The correction text for an answer with these defects, which `dialect` read; `session` is the one of its prompt.
    /// `calls` are the actions of calls that did not count; the form contains those that are permitted, unless the answer
    /// `is_native`.
    pub(crate) fn ask_again(
        &self,
        session: &Session,
        dialect: Option<&Dialect>,
        is_native: bool,
        calls: &[ActionId],
        faults: &[ReportedDefect],
        budget: &ByteBudget,
    ) -> String {
        let mode = session.mode.as_str();
        let excluded = self.modes.get(mode).map(|mode| self.forbidden_now(mode, session)).unwrap_or_default();
        let examples = ExampleActions { wanted: calls, excluded: &excluded };
        let form = if is_native { None } else { self.spelled_form(mode, dialect, &examples) };
        let asks_for = |fault: &ReportedDefect| matches!(fault.defect, Defect::UnknownAction | Defect::ForbiddenCall);
        let asks = faults.iter().any(|fault| asks_for(fault) && !fault.is_conditional);
        let is_excluded = |name: &str| self.action_id(name).is_some_and(|id| excluded.contains(&id));
        let permitted = self.modes.get(mode).filter(|_| asks).map(|mode| {
            let names = self.permitted(mode).map(|(name, ..)| name.as_str());
            names.filter(|name| !is_excluded(name)).collect::<Vec<_>>()
        });
        let whole = form.as_ref().map(|form| form.text.clone()).unwrap_or_default();
        let part = match &form {
            // An answer that is one object has no parts that can be printed alone.
            Some(form) if form.text.starts_with('{') => whole.clone(),
            Some(form) => concerned(form, faults),
            None => String::new(),
        };
        let escape = &self.prompts.escape;
        let (all, kinds) = (each(faults, escape), one_of_a_kind(faults, usize::MAX, escape));
        let short = one_of_a_kind(faults, MAX_CUT_CHARACTERS, escape);
        let permitted = permitted.unwrap_or_default().into_iter().map(Value::from).collect();
        let tries = [(&all, &whole), (&kinds, &whole), (&kinds, &part), (&short, &part), (&short, &String::new())];
        let most = self.ask_again.tokens.saturating_mul(BYTES_PER_TOKEN);
        let texts = tries.into_iter().map(|(defects, form)| self.correction(mode, defects, form, &permitted, budget));
        // Otherwise, as many of the defects as there is room for, without the form.
        let first = |count: usize| self.correction(mode, short.slice(..count), "", &Vec::new().into(), budget);
        texts.chain((1..=short.len()).rev().map(first)).find(|text| text.len() <= most).unwrap_or_else(|| {
            // Last resort: the first fault, without the words around it, cut to the cap.
            let fault = faults.first().map(|fault| escape.framed(&excerpt(&fault.message, MAX_CUT_CHARACTERS)));
            within(&escape.unframed(&format!("Write the answer again: {}", fault.unwrap_or_default())), most)
        })
    }

    fn correction(&self, mode: &str, defects: &[Value], form: &str, permitted: &Value, budget: &ByteBudget) -> String {
        let (defects, form, mode) = (defects.to_vec().into(), form.into(), mode.into());
        let scope = Scope::new()
            .with("defects", &defects)
            .with("form", &form)
            .with("permitted", permitted)
            .with("mode", &mode)
            .with("data", &self.data);
        let render = |words: &Template, scope: &Scope<'_>| {
            let text = words.text(scope).ok()?;
            Some(self.prompts.escape.unframed(&text))
        };
        let mut bounded = Scope::inside(&scope);
        bounded.limit(budget);
        // If the pack's text fails, use the engine's own, which needs no budget.
        let before = budget.spent();
        let own = self.ask_again.words.as_ref().and_then(|words| render(words, &bounded));
        // Only one of the texts that are tried is used, and it is short: give back what each of them took.
        budget.give_back(budget.spent().saturating_sub(before));
        let text = own.or_else(|| render(WORDS.as_ref()?, &scope));
        text.unwrap_or_default().trim().to_owned()
    }

    /// The form of the dialect that read the answer, or of the mode's first dialect if the mode does not ask for that
    /// one.
    fn spelled_form(&self, mode: &str, dialect: Option<&Dialect>, examples: &ExampleActions<'_>) -> Option<AnswerForm> {
        let of = self.modes.get(mode)?;
        let own = dialect.and_then(|dialect| self.asked_like(of, dialect));
        Some(self.form(of, own.or_else(|| self.asked_dialects_of(of).next())?, examples))
    }

    /// The actions that the state forbids, whatever the arguments of their calls are. With `calls = "in-turn"`, an
    /// earlier call of the answer may change the state.
    fn forbidden_now(&self, mode: &Mode, session: &Session) -> Vec<ActionId> {
        if self.in_turn {
            return Vec::new();
        }
        let [name, now] = [Value::from(session.mode.as_str()), Value::from(session.now.as_deref())];
        let known = [("data", &self.data), ("mode", &name), ("now", &now), ("title", &mode.title)];
        let mut scope = Scope::new();
        known.iter().for_each(|(name, value)| scope.add(name, value));
        scope.add_record("state", &session.state);
        let is_known = |head: &str| head == "state" || known.iter().any(|(name, _)| *name == head);
        let reads_state =
            |when: &Expression| when.reads().iter().all(|path| path.first().is_some_and(|head| is_known(head)));
        // As for a call: a condition that fails is false for a permit, and true for a denial.
        let decided = |entry: &Permit, otherwise: bool| {
            let when = entry.when.as_ref().filter(|when| reads_state(when))?;
            Some(when.holds(&scope).unwrap_or(otherwise))
        };
        let is_forbidden = |name: &str| {
            let denials = mode.actions.denies.of(name);
            denials.into_iter().any(|entry| decided(entry, true) == Some(true))
                || mode.actions.permits.of(name).into_iter().all(|entry| decided(entry, false) == Some(false))
        };
        let named = self.permitted(mode).filter(|(name, ..)| is_forbidden(name));
        named.filter_map(|(name, ..)| self.action_id(name)).collect()
    }
}

/// The message and the help of a finding for a model, which cannot do everything that its host can.
pub(crate) fn in_words_for_a_model<'f>(
    code: &Code,
    message: &'f str,
    help: Option<&'f str>,
) -> (&'f str, Option<&'f str>) {
    match code {
        Code::Defect(Defect::Truncated) => (
            "the answer was longer than there is room for, and was cut off",
            Some("write less: leave out what is not needed, or do one thing at a time"),
        ),
        _ => (message, help),
    }
}

/// The start of `text` that has at most `most` bytes, or [`MAX_CUT_CHARACTERS`] bytes if that is more.
fn within(text: &str, most: usize) -> String {
    let most = most.max(MAX_CUT_CHARACTERS);
    let is_within = |(at, c): &(usize, char)| at + c.len_utf8() + '…'.len_utf8() <= most;
    excerpt(text, text.char_indices().take_while(is_within).count()).into_owned()
}

/// The forms of the blocks that a reply must have, and of those that a defect names.
fn concerned(form: &AnswerForm, faults: &[ReportedDefect]) -> String {
    let named = |name: &str| faults.iter().any(|fault| fault.message.contains(&format!("`{name}`")));
    let calls = faults.iter().any(|fault| Defect::of_calls(fault.defect));
    let blocks = form
        .blocks
        .iter()
        .filter(|block| block.required || named(&block.name) || (calls && block.role == crate::surface::Role::Call));
    blocks.map(|block| block.text.trim_end()).collect::<Vec<_>>().join("\n\n")
}

fn each(faults: &[ReportedDefect], escape: &Escape) -> Vec<Value> {
    faults.iter().map(|fault| described(fault, 1, usize::MAX, escape)).collect()
}

/// The first defect of each kind, with the number of defects of that kind.
fn one_of_a_kind(faults: &[ReportedDefect], longest: usize, escape: &Escape) -> Vec<Value> {
    let mut kinds: Vec<(&ReportedDefect, usize)> = Vec::new();
    for fault in faults {
        match kinds.iter_mut().find(|(first, _)| first.defect == fault.defect) {
            Some((_, times)) => *times += 1,
            None => kinds.push((fault, 1)),
        }
    }
    kinds.into_iter().map(|(fault, times)| described(fault, times, longest, escape)).collect()
}

/// A defect as the template sees it. It may quote the answer, so it is escaped like every value in a prompt.
fn described(fault: &ReportedDefect, times: usize, longest: usize, escape: &Escape) -> Value {
    let mut members = Object::new();
    members.insert("defect", fault.defect.name().into());
    members.insert("message", escape.framed(&excerpt(&fault.message, longest)).into());
    members
        .insert("help", fault.help.as_ref().filter(|_| longest == usize::MAX).map(|help| escape.framed(help)).into());
    members.insert("line", fault.line.into());
    members.insert("call", Some(fault.call).filter(|call| *call > 0).into());
    members.insert("times", times.into());
    Value::Object(members)
}
