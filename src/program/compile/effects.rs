//! Effects: what does each entry of a list compile to?
//!
//! In: the effects of the surface, and what they may see.
//! Out: [`Effect`]s with one verb each.
//! Never: performs one.

use super::{Compiler, Sight};
use crate::program::{Effect, Verb};
use crate::surface;

impl Compiler<'_> {
    pub(super) fn effects(
        &mut self,
        list: &[surface::Effect],
        lets: &mut Vec<String>,
        sight: Sight<'_>,
    ) -> Vec<Effect> {
        let before = lets.len();
        let effects = list.iter().map(|effect| self.effect(effect, lets, sight)).collect();
        lets.truncate(before);
        effects
    }

    fn effect(&mut self, effect: &surface::Effect, lets: &mut Vec<String>, sight: Sight<'_>) -> Effect {
        let each = self.condition(effect.each.as_ref(), lets, sight);
        let mut bound = Vec::new();
        for (name, tree) in &effect.lets {
            if let Some(shape) = self.shape(&tree.value, lets, sight) {
                bound.push((name.clone(), shape));
            }
            lets.push(name.clone());
        }
        let when = self.condition(effect.when.as_ref(), lets, sight);
        let value = effect.value.as_ref().and_then(|tree| self.shape(tree, lets, sight));
        let verb = if let Some(path) = &effect.set {
            let path = self.path(path, lets, sight);
            path.zip(value).map(|(path, value)| Verb::Set { path, value })
        } else if let Some(path) = &effect.append {
            let unique = effect.unique.iter().map(|key| key.value.clone()).collect();
            let path = self.path(path, lets, sight);
            path.zip(value).map(|(path, value)| Verb::Append { path, unique, value })
        } else if let Some(path) = &effect.remove {
            self.path(path, lets, sight).map(|path| Verb::Remove { path })
        } else if let Some(event) = &effect.emit {
            self.template(event, lets, sight).map(|event| Verb::Emit { event, value })
        } else if let Some(key) = &effect.write {
            let key = self.template(key, lets, sight);
            key.zip(value).map(|(key, value)| Verb::Write { key, value })
        } else if let Some(remark) = &effect.remark {
            let text = effect.text.as_ref().and_then(|text| self.template(text, lets, sight));
            Some(Verb::Remark { remark: remark.value, text })
        } else {
            None
        };
        let nested = self.effects(&effect.effects, lets, sight);
        Effect {
            verb,
            when,
            each,
            lets: bound,
            new: effect.new.as_ref().map(|kind| kind.value.clone()),
            nested,
            at: effect.at,
        }
    }
}
