//! Draft: which text does each file have after the effects of an answer?
//!
//! In: a [`Root`], and the effects of an outcome, in order.
//! Out: [`Draft`]: the new content of each path, with the digest of the version that was read; the effects that do not
//! apply.
//! Never: writes anything.

use super::amend::{Addition, amend};
use super::contents::{Digest, like};
use super::cut::quoted;
use super::edit::{MovedLines, edit, require};
use super::journal::{Journal, old};
use super::record::record;
use super::root::{AnchoredPath, Root, fault};
use cap_std::fs::Permissions;
use indexmap::IndexMap;
use rulebook::outcome::{Amendment, Effect, EffectRecord, Miss, MissKind};
use rulebook::{Code, Diagnostic, FilePlace};
use std::io::{self, ErrorKind};

/// The largest file, in bytes, that is read for an edit or a comparison.
pub(super) const MAX_READ: u64 = 16 << 20;

/// The files of an answer after its effects, in memory.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) slots: IndexMap<String, Slot>,
    pub(super) misses: Vec<Miss>,
}

/// One path, with the file before and after the effects.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) cause: Option<FilePlace>,
    /// The file that is on disk now; `None` if there is none.
    pub(super) disk: Option<Digest>,
    /// The mode of that file.
    pub(super) permissions: Option<Permissions>,
    /// The file to which the effects apply.
    original: Option<Original>,
    /// The content after the effects so far.
    pub(super) content: Content,
    /// The path from which the content was moved.
    pub(super) from: Option<String>,
    /// Whether a new file becomes executable.
    pub(super) executable: bool,
    /// Paths between which a file is moved have one group: all files of a group change, or none.
    pub(super) group: usize,
    /// The notes of the pack about changes of this file, in order.
    pub(super) notes: Vec<String>,
    /// Why the file cannot be written.
    pub(super) fault: Option<Diagnostic>,
    /// Remarks about a file that is written.
    pub(super) remarks: Vec<Diagnostic>,
    /// Whether further effects are skipped, because the content is not known after a failed one.
    unknown: bool,
    moved: MovedLines,
}

/// The file to which the effects apply: the one on disk, unless a run that was killed has already replaced it.
#[derive(Debug, Clone)]
struct Original {
    digest: Digest,
    permissions: Permissions,
    /// The run that has put the old version aside; `None` if the file is in its place.
    aside: Option<u32>,
}

/// The content of a path.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Nothing,
    /// The unchanged file that was at this key before the effects.
    Whole(String),
    /// A text; and the key whose file, before the effects, had the mode to use.
    Text(String, Option<String>),
}

/// Why an effect is not carried out.
enum Stop {
    /// The effect does not apply to the file as it is.
    Miss(Miss),
    /// The file cannot be read, or must not be changed.
    Fault(Box<Diagnostic>),
}

impl From<Box<Diagnostic>> for Stop {
    fn from(fault: Box<Diagnostic>) -> Self {
        Stop::Fault(fault)
    }
}

impl Draft {
    /// The files after all effects, in order. `past` is the journal of a killed run of the same effects.
    pub(super) fn new(root: &Root, effects: &[EffectRecord], past: Option<&Journal>) -> Self {
        let mut draft = Self { slots: IndexMap::new(), misses: Vec::new() };
        for (index, record) in effects.iter().enumerate() {
            let keys: Vec<&str> = record.effect.keys().collect();
            for key in &keys {
                draft.open(root, key, past).cause.clone_from(&record.cause);
            }
            let Some(key) = keys.first() else { continue };
            let is_closed = |key: &&&str| draft.slots.get(**key).is_none_or(|slot| slot.unknown);
            if let Some(closed) = keys.iter().find(is_closed).copied() {
                // If one path of a move cannot be read, the content of the other is not known, either.
                draft.join(&keys, closed);
                if let (Effect::Write { text, new, .. }, Some(slot)) = (&record.effect, draft.slots.get_mut(*key)) {
                    // Reports contain the length of the text even if it is not written.
                    slot.set_text(text_of_write(text, *new));
                }
                continue;
            }
            if let Err(stop) = draft.carry_out(root, index, key, record) {
                draft.stop(&keys, stop);
            }
        }
        draft
    }

    /// Reads the path, unless an earlier effect has done so.
    fn open(&mut self, root: &Root, key: &str, past: Option<&Journal>) -> &mut Slot {
        let group = self.slots.len();
        self.slots.entry(key.to_owned()).or_insert_with(|| {
            let mut slot = Slot::new(group);
            if let Err(fault) = slot.look(root, key, past) {
                (slot.fault, slot.unknown) = (Some(*fault), true);
            }
            slot
        })
    }

    /// Records why an effect is not carried out.
    fn stop(&mut self, keys: &[&str], stop: Stop) {
        let Some(slot) = keys.first().and_then(|key| self.slots.get_mut(*key)) else { return };
        let goes_on =
            matches!(&stop, Stop::Miss(miss) if matches!(miss.kind, MissKind::NotFound | MissKind::Ambiguous));
        match stop {
            Stop::Miss(miss) => self.misses.push(miss),
            Stop::Fault(fault) => slot.fault = Some(*fault),
        }
        // Later edits of the same file are still tried, so that one run reports every edit that does not apply.
        slot.unknown |= !goes_on;
        if let [key, to] = *keys {
            self.join(&[key, to], key);
        }
    }

    /// Puts the paths of a move into one group. If the content of `first` is not known, that of the others is not,
    /// either.
    fn join(&mut self, keys: &[&str], first: &str) {
        let Some((group, closed)) = self.slots.get(first).map(|slot| (slot.group, slot.unknown)) else { return };
        for key in keys {
            let Some(other) = self.slots.get_mut(*key) else { continue };
            other.unknown |= closed;
            let other = other.group;
            if other != group {
                self.slots.values_mut().filter(|slot| slot.group == other).for_each(|slot| slot.group = group);
            }
        }
    }

    fn carry_out(&mut self, root: &Root, index: usize, key: &str, record: &EffectRecord) -> Result<(), Stop> {
        let miss = |kind| Err(Stop::Miss(Miss { effect: index, kind, at: Vec::new() }));
        let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
        let is_there = !matches!(slot.content, Content::Nothing);
        match &record.effect {
            Effect::Write { new: true, .. } if is_there => return miss(MissKind::Exists),
            Effect::Write { text, executable, new, .. } => {
                self.write(root, key, text_of_write(text, *new), *executable)?;
            }
            Effect::Edit(_) | Effect::Delete { .. } | Effect::Move { .. } if !is_there => {
                return miss(MissKind::Absent);
            }
            Effect::Edit(own) => {
                let Some(text) = self.text(root, key)? else { return miss(MissKind::NotUtf8) };
                let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
                match edit(&text, own, &mut slot.moved) {
                    Ok(text) => slot.set_text(text),
                    Err(missed) => {
                        slot.set_text(text);
                        return Err(Stop::Miss(missed.of(index)));
                    }
                }
            }
            Effect::Delete { text: Some(expected), .. } => {
                let Some(text) = self.text(root, key)? else { return miss(MissKind::NotUtf8) };
                require(&text, expected).map_err(|missed| Stop::Miss(missed.of(index)))?;
                let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
                slot.content = Content::Nothing;
            }
            Effect::Amend(_) | Effect::Record { .. } => self.add(root, key, &record.effect, is_there)?,
            Effect::Delete { text: None, .. } => slot.content = Content::Nothing,
            Effect::Move { to, .. } => {
                if self.slots.get(to).is_some_and(|to| !matches!(to.content, Content::Nothing)) {
                    return miss(MissKind::Exists);
                }
                self.rename(key, to);
            }
            _ => {}
        }
        Ok(())
    }

    /// Replaces the content of the path with a text.
    fn write(&mut self, root: &Root, key: &str, mut text: String, executable: bool) -> Result<(), Stop> {
        let old = match self.slots.get(key).map(|slot| &slot.content) {
            None | Some(Content::Nothing) => Ok(None),
            // A file that is too large to read has no style to take over.
            Some(_) => match self.text(root, key) {
                Err(fault) if fault.code == Code::WORKSPACE_CANNOT_WRITE => Ok(None),
                Err(fault) => Err(fault),
                Ok(Some(old)) => Ok(Some(Some(old))),
                Ok(None) => Ok(Some(None)),
            },
        }?;
        let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
        match old {
            Some(Some(old)) => {
                let (like, stays) = like(&old, &text);
                text = like;
                slot.remark(Code::WORKSPACE_LIKE_BEFORE, key, &format!("keeps {stays}"), !stays.is_empty());
            }
            Some(None) => slot.remark(Code::WORKSPACE_NOT_TEXT, key, "was not UTF-8: a text takes its place", true),
            None => {}
        }
        let new = matches!(slot.content, Content::Nothing);
        slot.set_text(text);
        slot.executable = if new { executable } else { slot.executable };
        Ok(())
    }

    /// Adds to a document: a text to a section of it, or an entry to a list in it.
    fn add(&mut self, root: &Root, key: &str, effect: &Effect, is_there: bool) -> Result<(), Stop> {
        if !is_there {
            if let (Effect::Amend(amendment), Some(slot)) = (effect, self.slots.get_mut(key)) {
                slot.say(&amendment.missing);
            }
            let message = format!("there is no document `{}`", quoted(key));
            return Err(Box::new(Diagnostic::new(Code::WORKSPACE_NO_DOCUMENT, None, message)).into());
        }
        let text = self.text(root, key)?.ok_or_else(|| Box::new(unreadable(key, "it is not UTF-8")))?;
        let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
        match effect {
            Effect::Amend(amendment) => {
                let Amendment { section, marker, text: addition, otherwise, done, .. } = &**amendment;
                let addition = Addition { section, otherwise, marker, text: addition };
                let amended = amend(&text, &addition).ok_or_else(|| {
                    let message = format!("what is added to `{}` would hide what comes after it", quoted(key));
                    let fault = Diagnostic::new(Code::WORKSPACE_NOT_ADDITIVE, None, message);
                    Box::new(fault.with_help("a code fence or comment in the text is not closed"))
                })?;
                slot.say(&done.replace("{section}", &amended.section));
                slot.set_text(amended.text);
            }
            Effect::Record { path, value, .. } => {
                let recorded = record(&text, path, value).map_err(|why| Box::new(unreadable(key, &why)))?;
                slot.set_text(recorded.text);
                if let Some(instead) = recorded.instead {
                    let (path, instead) = (quoted(path), quoted(&instead));
                    let message =
                        format!("`{path}` of `{}` was no list: a list takes the place of `{instead}`", quoted(key));
                    slot.remarks.push(Diagnostic::new(Code::WORKSPACE_NOT_A_LIST, None, message));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rename(&mut self, key: &str, to: &str) {
        self.join(&[key, to], key);
        let Some(from) = self.slots.get_mut(key) else { return };
        let content = std::mem::replace(&mut from.content, Content::Nothing);
        let (origin, moved) = (from.from.take(), std::mem::take(&mut from.moved));
        let (remarks, executable) = (std::mem::take(&mut from.remarks), from.executable);
        if let Some(slot) = self.slots.get_mut(to) {
            (slot.content, slot.moved, slot.executable) = (content, moved, executable);
            slot.from = Some(origin.unwrap_or_else(|| key.to_owned()));
            slot.remarks.extend(remarks);
        }
    }

    /// The text of the path after the effects so far; `None` if it is not UTF-8 or there is no file.
    fn text(&self, root: &Root, key: &str) -> Result<Option<String>, Box<Diagnostic>> {
        match self.slots.get(key).map(|slot| &slot.content) {
            Some(Content::Text(text, _)) => Ok(Some(text.clone())),
            Some(Content::Whole(own)) => {
                let bytes = self.source(root, own).and_then(|place| place.read(MAX_READ));
                Ok(String::from_utf8(bytes.map_err(|error| fault(key, &error))?).ok())
            }
            _ => Ok(None),
        }
    }

    /// The place of the file that was at this key before the effects.
    pub(super) fn source(&self, root: &Root, key: &str) -> io::Result<AnchoredPath> {
        match self.original(key).and_then(|original| original.aside) {
            Some(run) => old(root, key, run),
            None => root.place(key)?.ok_or_else(|| ErrorKind::NotFound.into()),
        }
    }

    fn original(&self, key: &str) -> Option<&Original> {
        self.slots.get(key)?.original.as_ref()
    }

    /// The mode of the file that was at this key before the effects.
    pub(super) fn mode(&self, key: &str) -> Option<&Permissions> {
        self.original(key).map(|original| &original.permissions)
    }

    /// The digest of a content; `None` if there is no file.
    pub(super) fn digest(&self, content: &Content) -> Option<Digest> {
        match content {
            Content::Nothing => None,
            Content::Whole(key) => self.original(key).map(|original| original.digest),
            Content::Text(text, _) => Some(Digest::of(text.as_bytes())),
        }
    }
}

impl Slot {
    fn new(group: usize) -> Self {
        Self {
            cause: None,
            disk: None,
            permissions: None,
            original: None,
            content: Content::Nothing,
            from: None,
            executable: false,
            group,
            notes: Vec::new(),
            fault: None,
            remarks: Vec::new(),
            unknown: false,
            moved: MovedLines::default(),
        }
    }

    /// Reads the file on disk; after a killed run, the version before that run.
    fn look(&mut self, root: &Root, key: &str, past: Option<&Journal>) -> Result<(), Box<Diagnostic>> {
        let failed = |error: io::Error| Box::new(fault(key, &error));
        if let Some((place, metadata)) = root.look(key)? {
            self.disk = Some(place.digest().map_err(failed)?);
            self.permissions = Some(metadata.permissions());
        }
        self.original = self.disk.zip(self.permissions.clone()).map(|(digest, permissions)| Original {
            digest,
            permissions,
            aside: None,
        });
        if let Some(entry) = past.and_then(|past| past.changed(key, self.disk)) {
            let aside = || {
                let place = old(root, key, entry.run).ok()?;
                let permissions = place.dir.symlink_metadata(&place.name).ok()?.permissions();
                let digest = place.digest().ok().filter(|digest| Some(*digest) == entry.before)?;
                Some(Original { digest, permissions, aside: Some(entry.run) })
            };
            match entry.before {
                None => self.original = None,
                Some(_) => self.original = aside().or(self.original.take()),
            }
        }
        if self.original.is_some() {
            self.content = Content::Whole(key.to_owned());
        }
        Ok(())
    }

    /// Sets the text. The key whose mode to use remains the same.
    fn set_text(&mut self, text: String) {
        let mode = match std::mem::replace(&mut self.content, Content::Nothing) {
            Content::Nothing => None,
            Content::Whole(key) => Some(key),
            Content::Text(_, mode) => mode,
        };
        self.content = Content::Text(text, mode);
    }

    fn say(&mut self, sentence: &str) {
        self.notes.extend((!sentence.is_empty()).then(|| sentence.to_owned()));
    }

    /// Adds a remark if `worth` is set, and only one for each code.
    fn remark(&mut self, code: Code, key: &str, what: &str, worth: bool) {
        if worth && self.remarks.iter().all(|remark| remark.code != code) {
            self.remarks.push(Diagnostic::new(code, None, format!("`{}` {what}", quoted(key))));
        }
    }
}

fn unreadable(key: &str, why: &str) -> Diagnostic {
    let message = format!("cannot add to `{}`: {}", quoted(key), quoted(why));
    Diagnostic::new(Code::WORKSPACE_UNREADABLE, None, message).with_help("fix the document; it is not overwritten")
}

/// The text that a `write` puts into its file. A patch, which adds a `new` file, says of each line whether it has a line
/// break; from any other text, models leave out the last one.
fn text_of_write(text: &str, new: bool) -> String {
    if new { text.to_owned() } else { ended(text) }
}

/// The text with a line break at its end, of the kind that the text uses. An empty text stays empty.
fn ended(text: &str) -> String {
    let ending = match text {
        text if text.is_empty() || text.ends_with('\n') => "",
        text if text.rsplit_once('\n').is_some_and(|(before, _)| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    };
    format!("{text}{ending}")
}
