//! Stream waits: when is a part of a streamed answer final?
//!
//! In: a mode with its dialects, degradation tables and guardrails.
//! Out: [`HoldChoice`]: what a stream holds back; for each block the [`Wait`]s that delay its text, with their lines.
//! Never: reads an answer.

use super::{
    BlockBinding, DeclarationContext, Dialect, EffectRule, Guardrail, GuardrailTarget, Mode, ModeId, Program,
    ResolvedStrategy, TextRole, Verb,
};
use crate::diagnostic::{Defect, Strategy};
use crate::surface::{Decoding, Hold, Payload, Role};
use crate::text::{FilePlace, Location};

/// Until when a text of a stream has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WaitsUntil {
    /// Until no pattern of a guardrail can match across its end.
    Match,
    /// Until its block ends.
    Block,
    /// Until the answer ends.
    Answer,
}

impl WaitsUntil {
    fn words(self) -> &'static str {
        match self {
            WaitsUntil::Match => "between matches",
            WaitsUntil::Block => "at its end",
            WaitsUntil::Answer => "at the end of the answer",
        }
    }
}

/// A reason to hold a text back, and until when.
#[derive(Debug, Clone)]
pub(crate) struct Wait {
    pub(crate) until: WaitsUntil,
    pub(crate) why: WaitReason,
    pub(crate) strategy: Option<Strategy>,
    /// The line of the pack that causes it; a default has none.
    pub(crate) at: Option<Location>,
}

/// Why a text has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitReason {
    /// A strategy may remove, move or change a text that has the defect.
    Defect(Defect),
    /// The guardrail with this index may act.
    Guardrail(usize),
    /// The text is made from a value, or decoded as a whole.
    Made,
    /// A later text with the same key replaces it.
    Unique,
}

/// One row of the table of what a stream waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitRow {
    /// The mode.
    pub mode: String,
    /// The text that waits: a block, after the name of its dialect; or the whole answer.
    pub text: String,
    /// When it is emitted.
    pub emitted: &'static str,
    /// The reason for waiting; empty if the text does not wait.
    pub because: String,
    /// The place in the pack; a default has none.
    pub rule: Option<FilePlace>,
}

/// What a stream holds back in a mode.
#[derive(Debug, Clone)]
pub(crate) struct HoldChoice {
    pub(crate) hold: Hold,
    /// The reason, unless the pack chose `hold` itself.
    pub(crate) because: Option<Wait>,
    /// The line of the pack that chose it.
    pub(crate) at: Option<Location>,
}

/// Whether a strategy may remove, move or change a text.
fn moves(strategy: Strategy) -> bool {
    use Strategy::{
        AskAgain, Coerce, Default, Drop, Interpret, Join, Keep, KeepAsText, KeepFirst, KeepLast, Lift, Omit, Redact,
        Refuse, Repair, Salvage, TakeStrayText,
    };
    match strategy {
        Drop | KeepAsText | Lift | KeepFirst | KeepLast | Join | TakeStrayText | Redact => true,
        Keep | Repair | Salvage | Coerce | Interpret | Default | Omit | Refuse | AskAgain => false,
    }
}

impl Program {
    /// What each text of a stream waits for, by mode.
    #[doc(hidden)]
    pub fn wait_table(&self) -> Vec<WaitRow> {
        let mut rows = Vec::new();
        for (index, (name, mode)) in self.modes.iter().enumerate() {
            let id = ModeId(index);
            let mut add = |text: String, emitted: &'static str, because: String, at: Option<Location>| {
                rows.push(WaitRow {
                    mode: name.clone(),
                    text,
                    emitted,
                    because,
                    rule: at.and_then(|at| self.place(at)),
                });
            };
            let HoldChoice { hold, because, at } = self.hold_in(id);
            let chosen = at.map(|_| format!("hold = \"{}\"", hold.word())).unwrap_or_default();
            let place = because.as_ref().map_or(at, |wait| wait.at);
            let because = because.as_ref().map_or(chosen, |wait| self.because(wait));
            match hold {
                Hold::Answer => add("the whole answer".to_owned(), "once it is judged", because, place),
                Hold::None => add("the whole answer".to_owned(), "as a draft", because, place),
                Hold::Settled => {
                    for (text, waits) in self.texts(id, mode) {
                        if waits.is_empty() {
                            add(text.clone(), "at once", String::new(), None);
                        }
                        for wait in waits {
                            add(text.clone(), wait.until.words(), self.because(&wait), wait.at);
                        }
                    }
                }
            }
        }
        rows
    }

    /// The texts of a mode, each with its waits; the longest wait comes first.
    fn texts(&self, id: ModeId, mode: &Mode) -> Vec<(String, Vec<Wait>)> {
        let mut texts = Vec::new();
        for dialect in self.dialects_of(mode) {
            let blocks = dialect.blocks.iter().filter(|block| !matches!(block.role, Role::Call | Role::Wrapper));
            let blocks = blocks.map(|block| (format!("{}.{}", dialect.name, block.name), Some(block)));
            let outside =
                (dialect.text == TextRole::Message).then(|| (format!("{}, outside blocks", dialect.name), None));
            for (text, block) in outside.into_iter().chain(blocks) {
                let mut waits = self.waits(id, dialect, block);
                waits.sort_by_key(|wait| std::cmp::Reverse(wait.until));
                texts.push((text, waits));
            }
        }
        texts
    }

    fn because(&self, wait: &Wait) -> String {
        let strategy = wait.strategy.map(|strategy| format!(" = {strategy}")).unwrap_or_default();
        let default = if wait.at.is_none() && wait.strategy.is_some() { " (default)" } else { "" };
        match wait.why {
            WaitReason::Defect(defect) => format!("{defect}{strategy}{default}"),
            WaitReason::Guardrail(rule) => {
                let rule = self.guardrails.rules.get(rule).map_or("", |rule| rule.id.as_str());
                format!("guardrail {rule}{strategy}{default}")
            }
            WaitReason::Made => "it is made from its whole body".to_owned(),
            WaitReason::Unique => "of one key, the last one is used".to_owned(),
        }
    }

    /// What a stream holds back in this mode: what the pack declares, or else the whole answer if it may be refused.
    pub(crate) fn hold_in(&self, mode: ModeId) -> HoldChoice {
        let chosen = |hold: Hold, at: Option<Location>| HoldChoice { hold, because: None, at };
        let Some((_, of_mode)) = self.modes.get_index(mode.0) else { return chosen(Hold::Settled, None) };
        if let Some((hold, at)) = of_mode.reply.hold {
            return chosen(hold, Some(at));
        }
        let because = self.refusing(mode, of_mode);
        HoldChoice { hold: if because.is_some() { Hold::Answer } else { Hold::Settled }, because, at: None }
    }

    /// The first strategy or guardrail of a mode that may refuse an answer.
    fn refusing(&self, mode: ModeId, of_mode: &Mode) -> Option<Wait> {
        let blocks =
            self.dialects_of(of_mode).flat_map(|dialect| dialect.blocks.iter()).map(|block| &block.degradation);
        let actions = self.actions.values().map(|action| &action.degradation);
        let tables = [&self.degradation, &of_mode.degradation].into_iter().chain(blocks).chain(actions);
        let refuses = |(defect, strategy, at): (Defect, Strategy, Location)| {
            let why = WaitReason::Defect(defect);
            strategy.refuses().then_some(Wait {
                until: WaitsUntil::Answer,
                why,
                strategy: Some(strategy),
                at: Some(at),
            })
        };
        let by_table = tables.flat_map(|table| table.rows()).find_map(refuses);
        // If an edit does not match its file, the answer is refused, unless the pack declares otherwise.
        let may_miss = |effect: &&EffectRule| effect.verb.as_ref().is_some_and(Verb::may_miss);
        let by_edit = || {
            let effects = self.actions.values().map(|action| action.effects.as_slice());
            let mut effects = effects.chain(self.contents.values().map(|content| content.effects.as_slice()));
            let edit = effects.find_map(|effects| EffectRule::walk(effects).into_iter().find(may_miss))?;
            let (why, strategy) = (WaitReason::Defect(Defect::EditNotFound), Some(Strategy::Refuse));
            Some(Wait { until: WaitsUntil::Answer, why, strategy, at: Some(edit.at) })
        };
        by_table.or_else(by_edit).or_else(|| {
            let rules = self.guardrails.rules.iter().enumerate().filter(|(_, rule)| applies(rule, mode));
            let own = |(index, rule): (usize, &Guardrail)| {
                let strategy = rule.strategy.filter(|strategy| strategy.refuses())?;
                let why = WaitReason::Guardrail(index);
                Some(Wait { until: WaitsUntil::Answer, why, strategy: Some(strategy), at: Some(rule.at) })
            };
            rules.filter_map(own).next()
        })
    }

    /// What the text of a block waits for; without a block, the text outside all blocks.
    pub(crate) fn waits(&self, mode: ModeId, dialect: &Dialect, block: Option<&BlockBinding>) -> Vec<Wait> {
        let Some((_, of_mode)) = self.modes.get_index(mode.0) else { return Vec::new() };
        let near = DeclarationContext { block, mode: Some(of_mode), ..DeclarationContext::default() };
        let mut waits = Vec::new();
        if let Some(block) = block {
            let defects = Defect::ALL.iter().filter_map(|defect| {
                let until = self.until(*defect, of_mode, dialect, block)?;
                // Only `keep-last` removes an earlier block. With another strategy, a superfluous block is known to be
                // one when it starts.
                let waits = |strategy: Strategy| *defect != Defect::DuplicateBlock || strategy == Strategy::KeepLast;
                let (strategy, at) = self.moving(*defect, near).find(|(strategy, _)| waits(*strategy))?;
                Some(Wait { until, why: WaitReason::Defect(*defect), strategy: Some(strategy), at })
            });
            waits.extend(defects);
            // Only a fallback reads what is in a fence, which may never be closed.
            if let Some((strategy, at)) = self.taken_if_inside(near).filter(|_| dialect.fallback.is_some()) {
                let (until, why) = (WaitsUntil::Answer, WaitReason::Defect(Defect::UnclosedBlock));
                waits.push(Wait { until, why, strategy: Some(strategy), at });
            }
            let is_value = block.payload.iter().any(|payload| *payload != Payload::Text);
            if block.text.is_some() || is_value || block.decode == Some(Decoding::Guarded) {
                waits.push(Wait {
                    until: WaitsUntil::Answer,
                    why: WaitReason::Made,
                    strategy: None,
                    at: Some(block.at),
                });
            }
            let mut contents = self.contents.iter().filter(|(_, content)| content.unique);
            if block.role == Role::Content && contents.any(|(name, _)| block.may_be_named(name)) {
                waits.push(Wait {
                    until: WaitsUntil::Answer,
                    why: WaitReason::Unique,
                    strategy: None,
                    at: Some(block.at),
                });
            }
        }
        let role = block.map_or(Role::Message, |block| block.streamed_role(of_mode));
        for (index, rule) in self.guardrails.rules.iter().enumerate().filter(|(_, rule)| applies(rule, mode)) {
            let reach = rule.targets.iter().filter_map(|target| reach(target, role, block)).max();
            let Some(until) = reach else { continue };
            let own = rule.strategy.map(|strategy| (strategy, Some(rule.at)));
            let mut chain = own.into_iter().chain(self.answers(Defect::Guardrail, near));
            let acts =
                chain.find(|(strategy, _)| *strategy == Strategy::Keep || moves(*strategy) || strategy.refuses());
            let Some((strategy, at)) = acts.filter(|(strategy, _)| *strategy != Strategy::Keep) else { continue };
            let each = rule.can_be_watched() && (strategy == Strategy::Redact || strategy.refuses());
            let until = if each { until } else { WaitsUntil::Answer };
            waits.push(Wait { until, why: WaitReason::Guardrail(index), strategy: Some(strategy), at });
        }
        waits
    }

    /// The strategy that may take away a content inside something that is never closed. There, none accepts it as it is,
    /// so one behind `keep` may act.
    pub(crate) fn taken_if_inside<'p>(&'p self, near: DeclarationContext<'p>) -> Option<ResolvedStrategy> {
        let is_content = near.block.is_some_and(|block| block.role == Role::Content);
        let acts = |(strategy, _): &ResolvedStrategy| is_content && moves(*strategy);
        self.answers(Defect::UnclosedBlock, near).find(acts)
    }

    /// The strategies for a defect that may remove, move or change a text that has it.
    pub(crate) fn moving<'p>(
        &'p self,
        defect: Defect,
        near: DeclarationContext<'p>,
    ) -> impl Iterator<Item = ResolvedStrategy> + use<'p> {
        let mut decided = false;
        let chain = self.answers(defect, near).take_while(move |(strategy, _)| {
            let was = decided;
            decided |= strategy.always_answers(defect);
            !was
        });
        chain.filter(|(strategy, _)| moves(*strategy))
    }

    /// Whether a block may become text of the message, whatever its role.
    pub(crate) fn may_be_text(&self, mode: &Mode, dialect: &Dialect, block: &BlockBinding) -> bool {
        if block.role == Role::Call {
            let actions = self.actions.values().map(|action| &action.degradation);
            let mut tables = [&self.degradation, &mode.degradation, &block.degradation].into_iter().chain(actions);
            let shows = |(defect, strategy, _)| strategy == Strategy::KeepAsText && defect != Defect::StrayText;
            return tables.any(|table| table.rows().any(shows));
        }
        let near = DeclarationContext { block: Some(block), mode: Some(mode), ..DeclarationContext::default() };
        let may_have = |defect: Defect| {
            (defect == Defect::UnsafePath && block.role == Role::Content)
                || self.until(defect, mode, dialect, block).is_some()
        };
        let mut defects = Defect::ALL.iter().filter(|defect| may_have(**defect));
        let inside = self.taken_if_inside(near).is_some_and(|(strategy, _)| strategy == Strategy::KeepAsText);
        inside || defects.any(|defect| self.moving(*defect, near).any(|(one, _)| one == Strategy::KeepAsText))
    }

    /// When it is known whether a text has a defect; none if it cannot have the defect, or if that is known at its
    /// start.
    fn until(&self, defect: Defect, mode: &Mode, dialect: &Dialect, block: &BlockBinding) -> Option<WaitsUntil> {
        let id =
            || dialect.blocks_by_id().find(|(_, other)| std::ptr::eq(*other, block)).map(|(id, _)| (dialect.id, id));
        let count = || id().and_then(|(dialect, id)| mode.reply.count_of(dialect, id));
        match defect {
            Defect::UnclosedBlock | Defect::WrongCloser => Some(WaitsUntil::Block),
            Defect::MalformedPayload | Defect::InvalidPayload => block.schema.as_ref().map(|_| WaitsUntil::Answer),
            Defect::DuplicateBlock => count().and_then(|count| count.most).map(|_| WaitsUntil::Answer),
            Defect::ForbiddenBlock => {
                let limits = count().is_some_and(|count| count.most == Some(0) || !count.keys.is_empty());
                // A content may be in a second object, where none is allowed.
                let may_be_second = dialect.outline.is_some() && block.role == Role::Content;
                (limits || may_be_second).then_some(WaitsUntil::Answer)
            }
            Defect::ForbiddenContent => {
                let permits = self.modes.values().any(|mode| !mode.contents.permits.is_empty());
                let judged = permits || !mode.contents.denies.is_empty();
                (block.role == Role::Content && judged).then_some(WaitsUntil::Answer)
            }
            Defect::OutOfOrder => {
                id().and_then(|(dialect, id)| mode.reply.rank(dialect, id)).map(|_| WaitsUntil::Answer)
            }
            Defect::FencedBlock => dialect.fallback.map(|_| WaitsUntil::Answer),
            // An unmatched closer of reasoning turns everything before it into reasoning.
            Defect::StrayCloser => {
                let asks = matches!(block.role, Role::Content | Role::Utterance);
                let reasons = dialect.blocks.iter().any(|other| other.role == Role::Thinking);
                (asks && reasons).then_some(WaitsUntil::Answer)
            }
            Defect::UnknownSpeaker | Defect::WrongLabel | Defect::TurnLimit => {
                (block.role == Role::Utterance).then_some(WaitsUntil::Answer)
            }
            // These are defects of the whole answer, of calls, or of what a stream knows where the text begins.
            Defect::NoDialect
            | Defect::MalformedOpener
            | Defect::StrayText
            | Defect::NestedBlock
            | Defect::Truncated
            | Defect::TooLarge
            | Defect::TooCostly
            | Defect::MissingMessage
            | Defect::MissingBlock
            | Defect::UnknownAction
            | Defect::UnknownParam
            | Defect::ForbiddenCall
            | Defect::SpelledCall
            | Defect::ExtraCall
            | Defect::UnsafePath
            | Defect::InvalidEdit
            | Defect::DuplicateWrite
            | Defect::EditConflict
            | Defect::EditNotFound
            | Defect::EditAmbiguous
            | Defect::Guardrail
            | Defect::GateClosed => None,
        }
    }
}

/// Whether a guardrail checks answers in a mode.
fn applies(rule: &Guardrail, mode: ModeId) -> bool {
    rule.modes.include(Some(mode)) && !rule.targets.contains(&GuardrailTarget::Input)
}

/// Until when a text waits for a guardrail on this target; none if the guardrail does not check the text.
fn reach(target: &GuardrailTarget, role: Role, block: Option<&BlockBinding>) -> Option<WaitsUntil> {
    match target {
        GuardrailTarget::Role(looked) if *looked == role => Some(WaitsUntil::Match),
        // The message is composed of several texts, each of which is checked by itself.
        GuardrailTarget::Role(looked) => block.filter(|block| block.role == *looked).map(|_| WaitsUntil::Answer),
        GuardrailTarget::Block(name) => {
            let block = block.filter(|block| target.is_text_of(block).is_some())?;
            let is_own = block.name == *name && role != Role::Message;
            Some(if is_own { WaitsUntil::Match } else { WaitsUntil::Answer })
        }
        GuardrailTarget::Reply => Some(WaitsUntil::Answer),
        GuardrailTarget::Key(_) => block.filter(|block| block.role == Role::Content).map(|_| WaitsUntil::Answer),
        GuardrailTarget::Param(..) | GuardrailTarget::Input => None,
    }
}

impl Guardrail {
    /// Whether each match alone decides whether the guardrail trips.
    pub(crate) fn can_be_watched(&self) -> bool {
        const KNOWN: [&str; 5] = ["captures", "state", "data", "mode", "now"];
        let mut reads = self.when.iter().flat_map(|when| when.reads());
        let is_known = reads.all(|path| path.first().is_some_and(|name| KNOWN.contains(&name.as_str())));
        self.pattern.is_some() && !self.inverted && is_known
    }
}
