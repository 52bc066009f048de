//! Effects: what does each entry of a list compile to?
//!
//! In: the effects of the surface, and what they may see.
//! Out: [`Effect`]s with one verb each.
//! Never: performs one.

use super::flow::mode_id;
use super::{PackCompiler, NameScope};
use crate::expression::ENTRY;
use crate::program::Shape;
use crate::program::{EffectRule, PathTemplate, Schema, Verb};
use crate::surface::{self, Matching};

impl PackCompiler<'_> {
    /// The effects of one list. Names bound by `let` and `new` are visible to later and nested effects, up to the end
    /// of the list, or of one round of an `each`.
    pub(super) fn effects<'c>(&mut self, list: &'c [surface::Effect], sight: &NameScope<'c>) -> Vec<EffectRule> {
        let mut sight = sight.clone();
        list.iter().map(|effect| self.effect(effect, &mut sight)).collect()
    }

    fn effect<'c>(&mut self, effect: &'c surface::Effect, sight: &mut NameScope<'c>) -> EffectRule {
        sight.open(self.surface.torn.contains(&effect.at));
        let before = sight.bounds();
        let each = self.condition(effect.each.as_ref(), sight);
        if let Some(each) = &each {
            let list = sight.resolved_path(each.reads_at().path());
            sight.bind("item", list.map(|list| [list, vec![ENTRY.to_owned()]].concat()));
        }
        let mut lets = Vec::new();
        for (name, tree) in &effect.lets {
            let shape = self.shape(Some(&tree.value), sight);
            let path = shape.as_ref().and_then(|shape| sight.resolved_path(shape.path()));
            lets.extend(shape.map(|shape| (name.clone(), shape)));
            sight.bind(name, path);
        }
        self.check_fit(effect, sight);
        let when = self.condition(effect.when.as_ref(), sight);
        effect.new.iter().for_each(|kind| sight.take_id(&kind.value));
        let value = self.shape(effect.value.as_ref(), sight);
        let effect = EffectRule {
            verb: self.verb(effect, value, sight),
            when,
            each,
            lets,
            new: effect.new.as_ref().map(|kind| kind.value.as_str().into()),
            nested: self.effects(&effect.effects, sight),
            at: effect.at,
        };
        if effect.each.is_some() {
            sight.forget(before);
        }
        effect
    }

    /// The verb of an effect; none if it has no verb, or if a part of it is faulty.
    fn verb(&mut self, effect: &surface::Effect, value: Option<Shape>, sight: &NameScope<'_>) -> Option<Verb> {
        if let Some(path) = &effect.set {
            let path = self.path(path, sight)?;
            return Some(Verb::Set { path, value: value? });
        }
        if let Some(path) = &effect.append {
            let unique = effect.unique.iter().map(|key| key.value.clone()).collect();
            let path = self.path(path, sight)?;
            return Some(Verb::Append { path, unique, value: value? });
        }
        if let Some(path) = &effect.remove {
            return self.path(path, sight).map(|path| Verb::Remove { path });
        }
        if let Some(event) = &effect.emit {
            return self.template(Some(event), sight).map(|event| Verb::Emit { event, value });
        }
        if let Some(key) = &effect.write {
            let key = self.template(Some(key), sight)?;
            let executable = effect.executable.as_ref().is_some_and(|flag| flag.value);
            return Some(Verb::Write { key, value: value?, executable });
        }
        if let Some(remark) = &effect.remark {
            let text = self.template(effect.text.as_ref(), sight);
            return Some(Verb::Remark { remark: remark.value, text });
        }
        if let Some(say) = &effect.say {
            let with = effect.with.iter();
            let with = with.filter_map(|(name, tree)| Some((name.clone(), self.shape(Some(&tree.value), sight)?)));
            let with = with.collect();
            let message = self.surface.messages.get_index_of(&say.value)?;
            return Some(Verb::Say { message, with });
        }
        if let Some(go) = &effect.go {
            let insist = self.condition(effect.insist.as_ref(), sight);
            return mode_id(self.surface, &go.value).map(|to| Verb::Go { to, insist });
        }
        if let Some(key) = &effect.amend {
            let key = self.template(Some(key), sight)?;
            let section = self.template(effect.section.as_ref(), sight)?;
            let marker = self.template(effect.marker.as_ref(), sight);
            let otherwise = self.template(effect.otherwise.as_ref(), sight);
            let done = self.template(effect.done.as_ref(), sight);
            let missing = self.template(effect.missing.as_ref(), sight);
            return Some(Verb::Amend { key, section, marker, otherwise, done, missing, value: value? });
        }
        if let Some(verb) = self.file_verb(effect, sight) {
            return verb;
        }
        let key = self.template(Some(effect.record.as_ref()?), sight)?;
        let path = self.parsed(PathTemplate::parse(effect.path.as_ref()?))?;
        self.see(path.reads(), sight);
        let schema = effect.schema.as_ref().map(|schema| Box::new(Schema::of_value(schema)));
        Some(Verb::Record { key, path, value: value?, schema })
    }

    /// A verb that changes a part of a file or its place. None if the effect has another verb; none inside if a part of it
    /// is faulty.
    fn file_verb(&mut self, effect: &surface::Effect, sight: &NameScope<'_>) -> Option<Option<Verb>> {
        let matching = || match effect.matching.0.as_slice() {
            [] => vec![Matching::Exact],
            ways => ways.iter().map(|way| way.value).collect(),
        };
        if let Some(key) = &effect.edit {
            let key = self.template(Some(key), sight);
            let (find, put) = (self.template(effect.find.as_ref(), sight), self.template(effect.put.as_ref(), sight));
            let all = self.shape(effect.all.as_ref(), sight);
            let parts = key.zip(find).zip(put);
            return Some(parts.map(|((key, find), put)| Verb::Edit { key, find, put, all, matching: matching() }));
        }
        if let Some(text) = &effect.patch {
            let text = self.template(Some(text), sight);
            let file = self.template(effect.file.as_ref(), sight);
            let executable = effect.executable.as_ref().is_some_and(|flag| flag.value);
            return Some(text.map(|text| Verb::Patch { text, file, matching: matching(), executable }));
        }
        if let Some(key) = &effect.delete {
            return Some(self.template(Some(key), sight).map(|key| Verb::Delete { key }));
        }
        let key = self.template(Some(effect.moves.as_ref()?), sight);
        let to = self.template(effect.to.as_ref(), sight);
        Some(key.zip(to).map(|(key, to)| Verb::Move { key, to }))
    }
}
