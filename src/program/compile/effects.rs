//! Effects: what does each entry of a list compile to?
//!
//! In: the effects of the surface, and the names that they may read.
//! Out: [`EffectRule`]s with one [`Verb`] each.
//! Never: performs an effect.

use super::flow::{message_id, mode_id};
use super::{NameScope, PackCompiler};
use crate::expression::{ENTRY, Template};
use crate::program::Shape;
use crate::program::{EffectRule, PathTemplate, Schema, Verb};
use crate::surface::{self, Matching};
use crate::text::Spanned;

impl PackCompiler<'_> {
    /// The effects of one list. Names bound by `let` and `new` are visible to later and nested effects, up to the end
    /// of the list, or of one round of an `each`.
    pub(super) fn effects<'c>(&mut self, list: &'c [surface::Effect], scope: &NameScope<'c>) -> Vec<EffectRule> {
        let mut scope = scope.clone();
        list.iter().map(|effect| self.effect(effect, &mut scope)).collect()
    }

    fn effect<'c>(&mut self, effect: &'c surface::Effect, scope: &mut NameScope<'c>) -> EffectRule {
        scope.open(self.surface.torn.contains(&effect.at));
        let before = scope.bounds();
        let each = self.expression(effect.each.as_ref(), scope);
        if let Some(each) = &each {
            let list = scope.resolved_path(each.reads_at().path());
            scope.bind("item", list.map(|list| [list, vec![ENTRY.to_owned()]].concat()));
        }
        let mut lets = Vec::new();
        for (name, tree) in &effect.lets {
            let shape = self.shape(Some(&tree.value), scope);
            let path = shape.as_ref().and_then(|shape| scope.resolved_path(shape.path()));
            lets.extend(shape.map(|shape| (name.clone(), shape)));
            scope.bind(name, path);
        }
        self.check_fit(effect, scope);
        let when = self.condition(effect.when.as_ref(), scope);
        effect.new.iter().for_each(|kind| scope.take_id(&kind.value));
        let value = self.shape(effect.value.as_ref(), scope);
        let effect = EffectRule {
            verb: self.verb(effect, value, scope),
            when,
            each,
            lets,
            new: effect.new.as_ref().map(|kind| kind.value.as_str().into()),
            nested: self.effects(&effect.effects, scope),
            at: effect.at,
        };
        if effect.each.is_some() {
            scope.forget(before);
        }
        effect
    }

    /// The verb of an effect; none if it has no verb, or if a part of it is faulty.
    fn verb(&mut self, effect: &surface::Effect, value: Option<Shape>, scope: &NameScope<'_>) -> Option<Verb> {
        if let Some(path) = &effect.set {
            let path = self.path(path, scope)?;
            return Some(Verb::Set { path, value: value? });
        }
        if let Some(path) = &effect.append {
            let unique = effect.unique.iter().map(|key| key.value.clone()).collect();
            let path = self.path(path, scope)?;
            return Some(Verb::Append { path, unique, value: value? });
        }
        if let Some(path) = &effect.remove {
            return self.path(path, scope).map(|path| Verb::Remove { path });
        }
        if let Some(event) = &effect.emit {
            return self.template(Some(event), scope).map(|event| Verb::Emit { event, value });
        }
        if let Some(key) = &effect.write {
            let key = self.key(Some(key), scope)?;
            let executable = effect.executable.as_ref().is_some_and(|flag| flag.value);
            return Some(Verb::Write { key, value: value?, executable });
        }
        if let Some(remark) = &effect.remark {
            let text = self.template(effect.text.as_ref(), scope);
            return Some(Verb::Remark { remark: remark.value, text });
        }
        if let Some(say) = &effect.say {
            let with = effect.with.iter();
            let with = with.filter_map(|(name, tree)| Some((name.clone(), self.shape(Some(&tree.value), scope)?)));
            let with = with.collect();
            let message = message_id(self.surface, &say.value)?;
            return Some(Verb::Say { message, with });
        }
        if let Some(go) = &effect.go {
            let insist = self.condition(effect.insist.as_ref(), scope);
            return mode_id(self.surface, &go.value).map(|to| Verb::Go { to, insist });
        }
        if let Some(key) = &effect.amend {
            let key = self.key(Some(key), scope)?;
            let section = self.template(effect.section.as_ref(), scope)?;
            let marker = self.template(effect.marker.as_ref(), scope);
            let otherwise = self.template(effect.otherwise.as_ref(), scope);
            let done = self.template(effect.done.as_ref(), scope);
            let missing = self.template(effect.missing.as_ref(), scope);
            return Some(Verb::Amend { key, section, marker, otherwise, done, missing, value: value? });
        }
        if [&effect.edit, &effect.patch, &effect.delete, &effect.moves].into_iter().any(Option::is_some) {
            return self.file_verb(effect, scope);
        }
        let key = self.key(Some(effect.record.as_ref()?), scope)?;
        let path = self.parsed(PathTemplate::parse(effect.path.as_ref()?))?;
        self.see(path.reads(), scope);
        let schema = effect.schema.as_ref().map(|schema| Box::new(Schema::of_value(schema)));
        Some(Verb::Record { key, path, value: value?, schema })
    }

    /// A verb that changes a part of a file, or its key; none if a part of it is faulty.
    fn file_verb(&mut self, effect: &surface::Effect, scope: &NameScope<'_>) -> Option<Verb> {
        let matching = || match effect.matching.0.as_slice() {
            [] => vec![Matching::Exact],
            words => words.iter().map(|word| word.value).collect(),
        };
        if let Some(key) = &effect.edit {
            let key = self.key(Some(key), scope);
            let (find, put) = (self.template(effect.find.as_ref(), scope), self.template(effect.put.as_ref(), scope));
            let all = self.shape(effect.all.as_ref(), scope);
            let parts = key.zip(find).zip(put);
            return parts.map(|((key, find), put)| Verb::Edit { key, find, put, all, matching: matching() });
        }
        if let Some(text) = &effect.patch {
            let text = self.template(Some(text), scope);
            let file = self.key(effect.file.as_ref(), scope);
            let executable = effect.executable.as_ref().is_some_and(|flag| flag.value);
            return text.map(|text| Verb::Patch { text, file, matching: matching(), executable });
        }
        if let Some(key) = &effect.delete {
            return self.key(Some(key), scope).map(|key| Verb::Delete { key });
        }
        let key = self.key(Some(effect.moves.as_ref()?), scope);
        let to = self.key(effect.to.as_ref(), scope);
        key.zip(to).map(|(key, to)| Verb::Move { key, to })
    }

    /// The template of a key of a file. If the key is an unchanged value, the path of the value is noted: permits have
    /// to see the value in the form that the effect has.
    fn key(&mut self, key: Option<&Spanned<String>>, scope: &NameScope<'_>) -> Option<Template> {
        self.plain_text(key?, true, scope);
        let key = self.template(key, scope)?;
        self.keys.extend(scope.resolved_path(key.reads_at().path()));
        Some(key)
    }
}
