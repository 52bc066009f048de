//! Effects: what does each entry of a list compile to?
//!
//! In: the effects of the surface, and what they may see.
//! Out: [`Effect`]s with one verb each.
//! Never: performs one.

use super::flow::mode_id;
use super::sight::Bound;
use super::{Compiler, Sight};
use crate::expression::{ENTRY, Shape};
use crate::program::{Effect, Schema, Verb};
use crate::surface;
use crate::text::Spanned;

impl Compiler<'_> {
    pub(super) fn effects(&mut self, list: &[surface::Effect], lets: &mut Vec<Bound>, sight: Sight<'_>) -> Vec<Effect> {
        let before = lets.len();
        let effects = list.iter().map(|effect| self.effect(effect, lets, sight)).collect();
        lets.truncate(before);
        effects
    }

    fn effect(&mut self, effect: &surface::Effect, lets: &mut Vec<Bound>, sight: Sight<'_>) -> Effect {
        self.check_fit(effect, sight);
        let each = self.condition(effect.each.as_ref(), lets, sight);
        let item = each.as_ref().map(|each| {
            let path = resolved(each.reads_at().path(), lets);
            let path = path.map(|path| [path, vec![ENTRY.to_owned()]].concat());
            lets.push(Bound { name: "item".to_owned(), path });
            lets.len() - 1
        });
        let mut bound = Vec::new();
        for (name, tree) in &effect.lets {
            let shape = self.shape(&tree.value, lets, sight);
            let path = shape.as_ref().and_then(|shape| resolved(shape.path(), lets));
            bound.extend(shape.map(|shape| (name.clone(), shape)));
            lets.push(Bound { name: name.clone(), path });
        }
        let when = self.condition(effect.when.as_ref(), lets, sight);
        let value = effect.value.as_ref().and_then(|tree| self.shape(tree, lets, sight));
        let verb = self.verb(effect, value, lets, sight);
        let nested = self.effects(&effect.effects, lets, sight);
        if let Some(item) = item {
            lets.remove(item);
        }
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
    /// The verb of an effect; none where it has no verb, or where a part of it cannot be used.
    fn verb(
        &mut self,
        effect: &surface::Effect,
        value: Option<Shape>,
        lets: &[Bound],
        sight: Sight<'_>,
    ) -> Option<Verb> {
        if let Some(path) = &effect.set {
            let path = self.path(path, lets, sight)?;
            return Some(Verb::Set { path, value: value? });
        }
        if let Some(path) = &effect.append {
            let unique = effect.unique.iter().map(|key| key.value.clone()).collect();
            let path = self.path(path, lets, sight)?;
            return Some(Verb::Append { path, unique, value: value? });
        }
        if let Some(path) = &effect.remove {
            return self.path(path, lets, sight).map(|path| Verb::Remove { path });
        }
        if let Some(event) = &effect.emit {
            return self.template(event, lets, sight).map(|event| Verb::Emit { event, value });
        }
        if let Some(key) = &effect.write {
            let key = self.template(key, lets, sight)?;
            return Some(Verb::Write { key, value: value? });
        }
        if let Some(remark) = &effect.remark {
            let text = effect.text.as_ref().and_then(|text| self.template(text, lets, sight));
            return Some(Verb::Remark { remark: remark.value, text });
        }
        if let Some(say) = &effect.say {
            let with = effect.with.iter();
            let with =
                with.filter_map(|(name, tree)| Some((name.clone(), self.shape(&tree.value, lets, sight)?))).collect();
            let message = self.surface.messages.get_index_of(&say.value)?;
            return Some(Verb::Say { message, with });
        }
        if let Some(go) = &effect.go {
            let insist = self.condition(effect.insist.as_ref(), lets, sight);
            return mode_id(self.surface, &go.value).map(|to| Verb::Go { to, insist });
        }
        if let Some(key) = &effect.amend {
            let key = self.template(key, lets, sight)?;
            let section = effect.section.as_ref().and_then(|section| self.template(section, lets, sight))?;
            let mut maybe =
                |text: &Option<Spanned<String>>| text.as_ref().and_then(|text| self.template(text, lets, sight));
            let (marker, otherwise) = (maybe(&effect.marker), maybe(&effect.otherwise));
            let (done, missing) = (maybe(&effect.done), maybe(&effect.missing));
            return Some(Verb::Amend { key, section, marker, otherwise, done, missing, value: value? });
        }
        let key = self.template(effect.record.as_ref()?, lets, sight)?;
        let path = effect.path.as_ref().and_then(|path| self.template(path, lets, sight))?;
        let schema = effect.schema.as_ref().map(Schema::of_value);
        Some(Verb::Record { key, path, value: value?, schema })
    }
}

/// A path as it leads from a name that all expressions see, through the names that effects bind.
fn resolved(path: Option<&[String]>, lets: &[Bound]) -> Option<Vec<String>> {
    let (head, inside) = path?.split_first()?;
    match lets.iter().rfind(|bound| bound.name == *head) {
        Some(bound) => Some([bound.path.as_deref()?, inside].concat()),
        None => path.map(<[String]>::to_vec),
    }
}
