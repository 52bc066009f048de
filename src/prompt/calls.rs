//! Calls: how are the calls of an answer written together?
//!
//! In: calls with their parameters, and a dialect.
//! Out: the texts of the blocks with these calls: one block for calls that share a list, inside the wrapper if the pack
//! declares its layout.
//! Never: writes a block: [`Speller`] does.

use super::spelling::{Speller, is_named};
use crate::program::{Action, BlockBinding, BlockId, ExampleMembers, example};
use crate::surface::{BlockLayout, Role};
use crate::value::Value;

/// A call to be written.
#[derive(Clone, Copy)]
pub(super) struct CallToWrite<'c> {
    pub(super) name: &'c str,
    pub(super) action: &'c Action,
    pub(super) params: &'c Value,
    /// Its index among the calls of the answer.
    pub(super) index: usize,
}

/// A block with the text of its calls.
type WrittenBlock = (BlockId, String);

impl<'p> Speller<'p> {
    /// A call of an action with example values, as the only call of an answer; with its block.
    pub(super) fn example_call(self, name: &str, action: &Action) -> Option<WrittenBlock> {
        self.example_calls(std::iter::once((name, action))).pop()
    }

    /// Calls of actions with example values, without those for which there is no block.
    pub(super) fn example_calls<'c>(self, actions: impl Iterator<Item = (&'c str, &'c Action)>) -> Vec<WrittenBlock> {
        let examples: Vec<_> = actions
            .map(|(name, action)| (name, action, example(action.schema.json(), ExampleMembers::Exemplified)))
            .collect();
        let calls = examples.iter().map(|(name, action, params)| CallToWrite { name, action, params, index: 0 });
        let calls = calls.filter(|call| self.call(call).is_some());
        let calls: Vec<_> = calls.enumerate().map(|(index, call)| CallToWrite { index, ..call }).collect();
        self.calls(&calls).unwrap_or_default()
    }

    /// These calls in order, each text with the block of its first call; none if there is no block for one of them.
    pub(super) fn calls(self, mut calls: &[CallToWrite<'_>]) -> Option<Vec<WrittenBlock>> {
        let mut written: Vec<WrittenBlock> = Vec::new();
        while let Some(first) = calls.first() {
            let (id, mut text) = self.call(first)?;
            let run = self.run_in(id, calls);
            let (same, rest) = calls.split_at_checked(run)?;
            if run > 1 {
                text = self.calls_in(id, same)?;
            }
            written.push((id, text));
            calls = rest;
        }
        Some(match self.wrapper() {
            Some((name, layout)) => {
                let texts: Vec<&str> = written.iter().map(|(_, text)| text.trim_end()).collect();
                let wrapped = layout.wrap(name, &texts);
                // If one wrapper surrounds all calls, it takes the place of the first call.
                self.side_by_side(written.iter().map(|(id, _)| *id).zip(wrapped).collect())
            }
            None => self.side_by_side(written),
        })
    }

    /// How many calls, from the first on, share its block: more than one only if the payload is a list.
    fn run_in(self, id: BlockId, calls: &[CallToWrite<'_>]) -> usize {
        let lists = |block: &BlockBinding| block.named_within().is_some_and(|(_, each)| each) && !is_named(block);
        let is_list = self.dialect.block(id).is_some_and(lists);
        let others = calls.iter().skip(1).filter(|_| is_list);
        1 + others.take_while(|call| self.call(call).is_some_and(|(other, _)| other == id)).count()
    }

    /// The name and the layout of the wrapper in which the pack writes calls.
    fn wrapper(self) -> Option<(&'p str, &'p BlockLayout)> {
        let mut wrappers = self.dialect.blocks.iter().filter(|block| block.role == Role::Wrapper);
        wrappers.find_map(|block| {
            let plain = block.names.iter().find(|name| !name.contains(['*', '?']));
            Some((plain.unwrap_or(&block.name).as_str(), block.layout.as_ref()?))
        })
    }

    /// If the pack declares the layout of their block, calls are written on successive lines.
    fn side_by_side(self, written: Vec<WrittenBlock>) -> Vec<WrittenBlock> {
        let is_laid_out = |id| self.dialect.block(id).is_some_and(|block| block.layout.is_some());
        let mut joined: Vec<WrittenBlock> = Vec::new();
        for (id, text) in written {
            match joined.last_mut().filter(|(last, _)| is_laid_out(*last) && is_laid_out(id)) {
                Some((_, before)) => {
                    before.push('\n');
                    before.push_str(&text);
                }
                None => joined.push((id, text)),
            }
        }
        joined
    }
}
