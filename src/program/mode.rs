//! Modes: which mode is meant, and what does it permit?
//!
//! In: the modes and actions of a program.
//! Out: [`Mode`], found by name or id, and the actions that it permits.
//! Never: evaluates a condition: the judge does.

use super::{Action, ActionId, Degradation, Dialect, DialectId, Exit, Guardrail, Near, Outside, Program, Reply, Target};
use crate::diagnostic::{Defect, Strategy};
use crate::expression::{Expression, Template};
use crate::surface::{Hold, Role};
use crate::text::Location;

/// The index of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModeId(pub(crate) usize);

/// A named state of the session.
#[derive(Debug)]
pub(crate) struct Mode {
    /// The permits by action; an action without one is forbidden.
    pub(crate) permits: Vec<Vec<Permit>>,
    /// The place of its permits.
    pub(crate) at: Location,
    /// Whether the pack declares it. A pack without modes has one, which permits nothing.
    pub(crate) declared: bool,
    /// Its dialects, in the order in which they are tried.
    pub(crate) dialects: Vec<DialectId>,
    pub(crate) reply: Reply,
    pub(crate) exits: Vec<Exit>,
    pub(crate) degradation: Degradation,
}

/// One entry of the permits of a mode.
#[derive(Debug)]
pub(crate) struct Permit {
    pub(crate) when: Option<Expression>,
    /// The condition, in words.
    pub(crate) about: Option<String>,
    /// What is missing if the condition does not hold.
    pub(crate) advice: Option<Template>,
    pub(crate) at: Location,
}

/// The modes in which something applies; all of them if it names none.
#[derive(Debug)]
pub(crate) struct Modes(pub(crate) Vec<ModeId>);

impl Modes {
    /// Whether it applies in this mode. In a mode that the pack does not have, only what applies in all modes does.
    pub(crate) fn include(&self, mode: Option<ModeId>) -> bool {
        self.0.is_empty() || mode.is_some_and(|mode| self.0.contains(&mode))
    }

    /// Whether both apply in some mode.
    pub(crate) fn meet(&self, other: &Self) -> bool {
        self.0.is_empty() || other.0.is_empty() || self.0.iter().any(|mode| other.0.contains(mode))
    }
}

/// What of an answer a stream holds back until the answer has been judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Everything.
    pub(crate) whole: bool,
    /// The texts of these roles.
    pub(crate) roles: Vec<Role>,
    /// The texts of these roles, too, if a fallback reads the answer: what is only quoted may be taken out.
    pub(crate) quoted: Vec<Role>,
}

impl Program {
    /// What a stream holds back in this mode: as the pack says, or else the whole answer if it may be refused, and the texts
    /// that a guardrail may take something out of.
    pub(crate) fn held_in(&self, mode: ModeId) -> Held {
        let Some((_, of_mode)) = self.modes.get_index(mode.0) else { return Held::default() };
        match of_mode.reply.hold {
            Some(Hold::Answer) => return Held { whole: true, ..Held::default() },
            Some(Hold::None) => return Held::default(),
            None => {}
        }
        let of_blocks = || self.dialects_of(of_mode).flat_map(|dialect| &dialect.blocks);
        let blocks = of_blocks().map(|block| &block.degradation);
        let actions = self.actions.values().map(|action| &action.degradation);
        let mut tables = [&self.degradation, &of_mode.degradation].into_iter().chain(blocks).chain(actions);
        let mut held = Held { whole: tables.any(|table| table.strategies().any(Strategy::refuses)), ..Held::default() };
        let near = Near { mode: Some(of_mode), ..Near::default() };
        let by_table = || self.answers(Defect::Guardrail, near).next().map(|(strategy, _)| strategy);
        let looks = |rule: &&Guardrail| rule.modes.include(Some(mode)) && !rule.targets.contains(&Target::Input);
        for rule in self.guardrails.rules.iter().filter(looks) {
            match rule.strategy.or_else(by_table) {
                None | Some(Strategy::Keep) => {}
                Some(strategy) if strategy.refuses() => held.whole = true,
                Some(_) => {
                    for target in &rule.targets {
                        held.roles.extend(of_blocks().filter_map(|block| target.is_text_of(block)));
                        held.roles.extend(match target {
                            Target::Role(role) => Some(*role),
                            Target::Reply => Some(Role::Message),
                            Target::Param(..) => Some(Role::Call),
                            _ => None,
                        });
                    }
                }
            }
        }
        // Where only the last of several blocks counts, what was announced of the first would not stand.
        for (dialect, block) in
            of_mode.reply.counts.iter().filter(|count| count.most.is_some()).flat_map(|one| &one.blocks)
        {
            let block = dialect.of(&self.dialects).and_then(|dialect| dialect.block(*block));
            let near = Near { block, ..near };
            let keeps_last =
                self.answers(Defect::DuplicateBlock, near).next().is_some_and(|one| one.0 == Strategy::KeepLast);
            held.roles.extend(block.filter(|_| keeps_last).map(|block| block.role));
        }
        // What stands behind a call may be taken out once the last call is known.
        if of_mode.reply.calls_last.is_some() {
            let removes = |defect, near| self.answers(defect, near).next().is_some_and(|one| one.0 != Strategy::Keep);
            let late = of_blocks().filter(|block| block.role.is_answer() && block.role != Role::Call);
            held.roles.extend(
                late.filter(|block| removes(Defect::OutOfOrder, Near { block: Some(block), ..near }))
                    .map(|block| block.role),
            );
            let shows = self.dialects_of(of_mode).any(|dialect| dialect.text == Outside::Message);
            held.roles.extend(Some(Role::Message).filter(|_| shows && removes(Defect::StrayText, near)));
        }
        for block in self.dialects_of(of_mode).filter(|one| one.fallback.is_some()).flat_map(|one| &one.blocks) {
            let mut answers = self.answers(Defect::FencedBlock, Near { block: Some(block), ..near });
            held.quoted.extend(answers.next().filter(|one| one.0 != Strategy::Keep).map(|_| block.role));
        }
        // A section may be shown as the message.
        for roles in [&mut held.roles, &mut held.quoted] {
            if roles.contains(&Role::Section) && of_mode.reply.shows.is_some() {
                roles.push(Role::Message);
            }
        }
        held
    }
}

impl Mode {
    /// The permits of an action.
    pub(crate) fn permits_of(&self, action: ActionId) -> &[Permit] {
        self.permits.get(action.0).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Program {
    /// The names of these modes; empty for all modes.
    pub(crate) fn names_of(&self, modes: &Modes) -> Vec<String> {
        modes.0.iter().map(|mode| self.mode_name(*mode).to_owned()).collect()
    }

    /// The id of the mode with this name.
    pub(crate) fn mode_id(&self, name: &str) -> Option<ModeId> {
        self.modes.get_index_of(name).map(ModeId)
    }

    /// The name of a mode.
    pub(crate) fn mode_name(&self, mode: ModeId) -> &str {
        self.modes.get_index(mode.0).map(|(name, _)| name.as_str()).unwrap_or_default()
    }

    /// The dialects of a mode, in the order in which they are tried.
    pub(crate) fn dialects_of<'p>(&'p self, mode: &'p Mode) -> impl Iterator<Item = &'p Dialect> + Clone {
        mode.dialects.iter().filter_map(|id| id.of(&self.dialects))
    }

    /// The dialects of a mode in which an answer is asked for: all but its fallbacks.
    pub(crate) fn asked_dialects_of<'p>(&'p self, mode: &'p Mode) -> impl Iterator<Item = &'p Dialect> + Clone {
        self.dialects_of(mode).filter(|dialect| dialect.fallback.is_none())
    }

    /// The actions that a mode permits, in the order of declaration, with their permits.
    pub(crate) fn permitted<'p>(
        &'p self,
        mode: &'p Mode,
    ) -> impl Iterator<Item = (&'p String, &'p Action, &'p [Permit])> {
        let all = self.actions.iter().zip(&mode.permits).filter(|(_, permits)| !permits.is_empty());
        all.map(|((name, action), permits)| (name, action, permits.as_slice()))
    }
}
