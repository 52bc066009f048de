//! Visible texts: which texts of a pack may a model read in this mode?
//!
//! In: a program and a session.
//! Out: [`PromptText`]: each text of each layer that is used in the mode, once for each form in which a model may read
//! it.
//! Never: evaluates the condition of a layer, because it may be true in another state.

use super::target::PromptTarget;
use super::{Program, Session, Values};
use crate::program::{FileContent, LayerSource, ModeId};
use crate::text::SourceId;
use crate::value::ByteBudget;

/// One text, as a model reads it.
#[derive(Debug, PartialEq)]
pub(crate) struct PromptText {
    /// The file of the text.
    pub(crate) source: SourceId,
    pub(crate) text: String,
}

impl Program {
    /// The texts that a model may read in the session's mode.
    pub(crate) fn visible_texts(&self, session: &Session) -> Vec<PromptText> {
        let mut all: Vec<PromptText> = Vec::new();
        let mode = self.mode_id(&session.mode).unwrap_or(ModeId(0));
        let layers = self.prompts.prompts.values().flat_map(|prompt| &prompt.layers);
        let mut numbers: Vec<usize> = layers
            .filter_map(|layer| match &layer.source {
                LayerSource::Files { variants, .. } => Some(variants),
                _ => None,
            })
            .flatten()
            .filter_map(|variant| variant.texts.get(mode.0).copied().flatten())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        for text in numbers.into_iter().filter_map(|number| self.prompts.texts.get(number)) {
            let texts = match &text.body {
                FileContent::Plain(visible) => vec![visible.clone()],
                FileContent::Template(document) => {
                    let render = |target: PromptTarget<'_>| {
                        let values = Values::of(self, session, &target);
                        let budget = ByteBudget::new(0, session.state.clone(), self.data.clone());
                        let prompt_scope = values.scope(self, session, &target, &budget);
                        prompt_scope.render(document, &session.state).ok()
                    };
                    // If the template does not read the tier or the model, its text is the same for all: one model is
                    // enough.
                    let asks = ["tier", "model"].iter().any(|name| document.reads().first_of(name).is_some());
                    PromptTarget::each(&self.prompts)
                        .take(if asks { usize::MAX } else { 1 })
                        .filter_map(render)
                        .collect()
                }
            };
            for visible in texts.into_iter().map(|visible| PromptText { source: text.source, text: visible }) {
                if !all.contains(&visible) {
                    all.push(visible);
                }
            }
        }
        all
    }
}
