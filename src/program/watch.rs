//! Watch: up to which offset of an incomplete text can no match of a pattern be in progress?
//!
//! In: a guardrail's pattern, the pattern that excuses its matches, and the bytes of a text.
//! Out: [`Watching`], which knows after each byte whether a match may contain that place, however the text continues.
//! Never: finds a match: only the pattern itself does.
//!
//! The automaton reads the text from its start. Where its state equals the state in which a new search would start,
//! nothing before can be part of a later match.

use super::Guardrail;
use super::pattern::without_boundaries;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start::Config as Start;
use regex_automata::{Anchored, MatchKind};

/// The most bytes of an automaton, and of the states that it builds for one text.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;

/// The automaton of a guardrail.
#[derive(Debug)]
pub(crate) struct Watch {
    dfa: DFA,
}

/// A text that is being read.
#[derive(Debug)]
pub(crate) struct Watching {
    cache: Cache,
    /// None once the automaton would need too many states: then the text waits until its end.
    state: Option<LazyStateID>,
}

impl Watch {
    /// The automaton; none if a pattern cannot be compiled to one.
    pub(crate) fn of(rule: &Guardrail) -> Option<Self> {
        // Automata do not support boundaries: without them, a pattern matches wherever it did, and at more places.
        let patterns = rule.pattern.iter().chain(&rule.excuse).map(|pattern| without_boundaries(pattern.source()));
        let patterns: Vec<String> = patterns.collect();
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(MAX_AUTOMATON_BYTES)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(0));
        let nfa = regex_automata::nfa::thompson::Config::new().nfa_size_limit(Some(MAX_AUTOMATON_BYTES));
        let dfa = DFA::builder().configure(config).thompson(nfa).build_many(&patterns).ok()?;
        Some(Self { dfa })
    }

    /// Starts to read a text.
    pub(crate) fn start(&self) -> Watching {
        let mut cache = self.dfa.create_cache();
        let state = self.dfa.start_state(&mut cache, &Start::new().anchored(Anchored::No)).ok();
        Watching { cache, state }
    }
}

impl Watching {
    /// Reads the next byte of the text, and returns whether the place behind it is inside no match.
    pub(crate) fn read(&mut self, watch: &Watch, byte: u8) -> bool {
        let Some(state) = self.state else { return false };
        self.state = watch.dfa.next_state(&mut self.cache, state, byte).ok();
        self.state = self.state.filter(|state| !state.is_dead() && !state.is_quit());
        let here = Start::new().anchored(Anchored::No).look_behind(Some(byte));
        self.state.is_some() && self.state == watch.dfa.start_state(&mut self.cache, &here).ok()
    }
}
