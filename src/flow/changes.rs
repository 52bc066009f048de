//! Changes: is a change to a file valid, by itself and together with the others of the answer?
//!
//! In: effects on files, before the host sees them; the text of a patch.
//! Out: the valid effects; `unsafe-path`, `invalid-edit`, `duplicate-write` and `edit-conflict`, answered by
//! strategies.
//! Never: reads a file: whether it contains a text is known only when the host carries the effects out.

use super::effect::{Edit, Effect};
use super::files::AddedEffect;
use super::patch::{self, FileChange, FilePatch};
use super::turn::{Bindings, Flow, Performed};
use crate::diagnostic::{Code, Defect, Diagnostic, Message, Remark, Strategy, message, quote};
use crate::expression::Failure;
use crate::program::Verb;
use crate::surface::Matching;
use crate::text::{Location, unsafe_because};
use std::borrow::Cow;

impl Flow<'_> {
    /// Whether a change is valid by itself; a defect in it is answered.
    pub(super) fn is_sound(&mut self, effect: &Effect, at: Location) -> bool {
        if let Some((key, why)) = effect.keys().find_map(|key| Some((key, unsafe_because(key)?))) {
            self.fault(Defect::UnsafePath, message!("`{}` is not a safe path: {}", quote(key, 60), &why), at);
            return false;
        }
        let (what, key, why) = match effect {
            Effect::Edit(edit) if plain(&edit.find).is_empty() => {
                ("edit of", &edit.key, "the text to replace is empty")
            }
            Effect::Edit(edit) if edit.find == edit.put => {
                ("edit of", &edit.key, "the text to replace and the new text are the same")
            }
            Effect::Edit(edit) if plain(&edit.find) == plain(&edit.put) => {
                let why = "the two texts differ in their kind of line breaks or in a byte order mark, and a file keeps its own";
                ("edit of", &edit.key, why)
            }
            Effect::Move { key, to } if key == to => ("move of", key, "the file is there already"),
            _ => return true,
        };
        self.fault(Defect::InvalidEdit, message!("the {} `{}` changes nothing: {}", &what, quote(key, 60), &why), at);
        false
    }

    /// Gives the key of a file the form of a path below the root. If a value of the answer is why it had another form,
    /// permits have not seen this path, and the effect is not carried out.
    pub(super) fn resolve_key(
        &mut self,
        key: &mut String,
        (verb, bound): (&Verb, &Bindings<'_>),
        at: Location,
    ) -> bool {
        let own = self.program.below_root(key).into_owned();
        let is_sound = own == *key || !self.may_be_read_otherwise(verb, bound);
        if is_sound {
            *key = own;
        } else {
            let (key, own) = (quote(&*key, 60), quote(&own, 60));
            let message = message!("`{}` is not a safe path: it is another way to write `{}`", key, own);
            self.fault(Defect::UnsafePath, message, at);
        }
        is_sound
    }

    /// Adds a valid change to the effects, unless it contradicts earlier ones. Effects of rules are not compared: the
    /// pack decides their order.
    pub(super) fn ask_host(&mut self, effect: Effect, at: Location) {
        if !self.of_answer {
            return self.push_effect(effect, at);
        }
        match self.files.relation_to_earlier(&effect, &self.done) {
            AddedEffect::Follows => {
                self.files.record(&effect, self.done.len());
                self.push_effect(effect, at);
            }
            AddedEffect::Same => {
                let key = effect.keys().next().unwrap_or_default();
                let message = message!("`{}` is written twice in this answer, with the same text", quote(key, 60));
                self.note(Remark::DuplicateKey, message, at);
            }
            AddedEffect::Written(place) => {
                let key = effect.keys().next().unwrap_or_default();
                let message = message!("`{}` is written twice in this answer, with two texts", quote(key, 60));
                if self.fault(Defect::DuplicateWrite, message, at) == Strategy::KeepLast
                    && let Some(done) = self.done.get_mut(place)
                {
                    *done = Performed { effect, cause: at, span: self.span };
                }
            }
            AddedEffect::Contradicts(why) => _ = self.fault(Defect::EditConflict, why, at),
        }
    }

    /// Adds the effects of a whole patch, or none of them.
    pub(super) fn patch(
        &mut self,
        text: &str,
        file: Option<&str>,
        (matching, executable): (&[Matching], bool),
        at: Location,
    ) -> Result<(), Failure> {
        let files = match patch::parse(text, file) {
            Ok(files) => files,
            Err(fault) => {
                self.fault(Defect::InvalidEdit, message!("the patch cannot be read: {}", &fault), at);
                return Ok(());
            }
        };
        let mut effects = Vec::new();
        for FilePatch { key, change, to } in files {
            let key = self.program.below_root(&key).into_owned();
            let to = to.map(|to| self.program.below_root(&to).into_owned());
            let hunks = if let FileChange::Update(hunks) = &change { hunks.len() } else { 1 };
            let moved = usize::from(to.is_some());
            if self.done.len() + effects.len() + hunks + moved > self.program.limits.effects {
                return Err(Failure::new(format!("more than {} effects", self.program.limits.effects)));
            }
            match change {
                FileChange::Add { text, executable: declared } => {
                    self.charge_texts(&[&key, &text])?;
                    let is_executable = declared || is_script(&text);
                    if declared && !executable {
                        let message =
                            message!("`{}` does not become executable: the pack does not say so", quote(&key, 60));
                        self.note(Remark::Note, message, at);
                    }
                    let executable = executable && is_executable;
                    effects.push(Effect::Write { key: key.clone(), text, new: true, executable });
                }
                FileChange::Delete { text } => {
                    self.charge_texts(&[&key, text.as_deref().unwrap_or_default()])?;
                    effects.push(Effect::Delete { key: key.clone(), text });
                }
                FileChange::Update(hunks) => {
                    for hunk in hunks {
                        self.charge_texts(&[&key, &hunk.find, &hunk.put])?;
                        effects.push(Effect::Edit(Box::new(Edit {
                            key: key.clone(),
                            find: hunk.find,
                            put: hunk.put,
                            all: false,
                            lines: true,
                            matching: matching.to_vec(),
                            line: hunk.line,
                            after: hunk.after,
                            end: hunk.end,
                        })));
                    }
                }
            }
            effects.extend(to.map(|to| Effect::Move { key, to }));
        }
        // A patch may add lines without context; only an edit that a call asks for needs a text to replace.
        let is_sound = |flow: &mut Self, effect: &Effect| match effect {
            Effect::Edit(edit) if edit.find.is_empty() => {
                flow.is_sound(&Effect::Delete { key: edit.key.clone(), text: None }, at)
            }
            effect => flow.is_sound(effect, at),
        };
        for effect in &effects {
            if !is_sound(self, effect) {
                return Ok(());
            }
        }
        effects.into_iter().for_each(|effect| self.ask_host(effect, at));
        Ok(())
    }

    /// Answers a defect in a change that a call or content asks for.
    fn fault(&mut self, defect: Defect, message: Message, at: Location) -> Strategy {
        let finding = Diagnostic::new(Code::Defect(defect), Location::response(self.span), message);
        self.answer(defect, finding.with_rule(Some(at)))
    }
}

/// A text as an edit compares it with a file, which keeps its line breaks and its byte order mark.
fn plain(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// Whether a text is a script: its first line names an interpreter.
pub(super) fn is_script(text: &str) -> bool {
    text.starts_with("#!")
}
