//! Contents: may this text be stored under that key?
//!
//! In: the content blocks that stand.
//! Out: unsafe keys, answered.
//! Never: writes anything.

use super::{Judgement, Subject, defect, path};
use crate::diagnostic::Defect;
use crate::document::Ended;
use crate::surface::Role;
use crate::text::excerpt;

impl Judgement<'_> {
    pub(super) fn judge_contents(&mut self) {
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index) else { continue };
            if bound.role != Role::Content || !self.stands(index) {
                continue;
            }
            let Some(name) = self.content_name(index) else { continue };
            let key = bound.key.as_ref().and_then(|key| self.called(block, key)).unwrap_or_default();
            let path = self.program.contents.get(&name).is_some_and(|content| content.path);
            if key.is_empty() && !path {
                let message = format!("the opener of `{name}` does not say what it is for");
                let finding = defect(Defect::MalformedOpener, block.opener, message).with_rule(Some(bound.at));
                self.answer(Defect::MalformedOpener, &Subject::Block(index), finding);
            }
            if !path {
                continue;
            }
            if let Some(why) = path::unsafe_because(&key) {
                let message = format!("`{}` is no safe path: {why}", excerpt(&key, 60));
                let finding = defect(Defect::UnsafePath, block.opener, message).with_rule(Some(bound.at));
                self.answer(Defect::UnsafePath, &Subject::Block(index), finding);
            }
        }
    }

    /// Whether a content that stands has effects. One that only the end of the answer ended may be half of what was
    /// meant: it needs a word of the pack, as a call does that was cut off.
    pub(crate) fn has_effect(&self, index: usize) -> bool {
        let open = self.document.blocks.get(index).is_some_and(|block| block.ended == Ended::Open);
        !open || self.answers(Defect::UnclosedBlock, &Subject::Block(index)).1.is_some()
    }

    /// What a content is called in the outcome: the word of its binding, else its bound name.
    pub(crate) fn content_name(&self, index: usize) -> Option<String> {
        let (block, bound) = self.block(index)?;
        match &bound.called {
            crate::program::Called::Own => Some(bound.name.clone()),
            called => self.called(block, called),
        }
    }
}
