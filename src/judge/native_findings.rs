//! Native findings: what in a structured reply has no counterpart in a text?
//!
//! In: the native parts of a reply.
//! Out: calls that the text writes beside native ones, answered by strategies; remarks on parts that nothing reads,
//! and on a refusal that the provider reports.
//! Never: judges native calls differently from calls in a text.

use super::{Fate, Judgement, Subject, defect, head};
use crate::diagnostic::{Defect, Remark, message, quote};
use crate::document::Block;
use crate::program;
use crate::text::Span;

impl Judgement<'_> {
    /// Reports unknown parts of a reply, and a refusal of the provider.
    pub(super) fn judge_natives(&mut self) {
        let Some(natives) = self.document.natives.as_deref() else { return };
        for kind in &natives.others {
            let message = message!("the part `{}` of the reply is unknown and is ignored", quote(kind.as_str(), 60));
            self.remark(Remark::UnknownPart, Span::default(), message, None);
        }
        if natives.refused {
            let message = "the provider says that the model refused, or stopped the answer itself";
            self.remark(Remark::ProviderRefusal, Span::default(), message, None);
        }
    }

    /// Answers a call that is written in the text beside native calls, and may only describe them.
    pub(super) fn judge_spelled(&mut self, call: usize, block: &Block, bound: &program::BlockBinding) {
        let beside = self.document.natives.as_ref().is_some_and(|natives| natives.has_calls());
        let Some(one) = self.calls.get(call).filter(|_| beside && !block.is_native()) else { return };
        if !self.counts(one.block) {
            return;
        }
        let message = message!("`{}` is written in the text of a reply that has native calls", quote(&*one.name, 60));
        let finding = defect(Defect::SpelledCall, head(block), message)
            .with_rule(Some(bound.at))
            .with_help("call tools through the API alone");
        self.answer(Defect::SpelledCall, &Subject::Call(call), finding);
    }

    /// Makes a raw block part of the message. Native parts of a structured reply are not text for the user, so they
    /// are dropped.
    pub(super) fn show_block(&mut self, block: usize) {
        let is_native = self.document.blocks.get(block).is_some_and(Block::is_native);
        self.set_fate(block, if is_native { Fate::Dropped } else { Fate::Text });
    }
}
