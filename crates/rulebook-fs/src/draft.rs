//! Drafts: what is in each file after the effects of an answer?
//!
//! In: a [`Root`], and the effects of an outcome, in order.
//! Out: [`Draft`]: the new content of each path, with the digest of what was read; the effects that do not fit.
//! Never: writes anything.

use super::amend::{Addition, amend};
use super::contents::{Digest, like};
use super::edit::{MovedLines, edit};
use super::journal::{Journal, old};
use super::record::record;
use super::root::{AnchoredPath, QUOTED, Root, fault};
use cap_std::fs::Permissions;
use indexmap::IndexMap;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::outcome::{Amendment, Effect, EffectRecord, Miss, MissKind};
use rulebook::text::{FilePlace, excerpt};
use std::io::{self, ErrorKind};

/// The most bytes of a file that is read for an edit or a comparison.
pub(super) const MOST_READ: u64 = 16 << 20;

/// What the effects of an answer make of the files.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) slots: IndexMap<String, Slot>,
    pub(super) misses: Vec<Miss>,
}

/// One path, and what is there.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) cause: Option<FilePlace>,
    /// The file that is there now; none if there is none.
    pub(super) disk: Option<Digest>,
    /// The mode of that file.
    pub(super) permissions: Option<Permissions>,
    /// The file from which the effects start.
    original: Option<Original>,
    /// What the effects so far make of it.
    pub(super) content: Content,
    /// The path that was moved here.
    pub(super) from: Option<String>,
    /// Whether a new file becomes executable.
    pub(super) executable: bool,
    /// Paths between which files are moved are in one group: all of them change, or none.
    pub(super) group: usize,
    /// What to say about its edits, in order.
    pub(super) notes: Vec<String>,
    /// Why it cannot be written.
    pub(super) fault: Option<Diagnostic>,
    /// Things worth knowing about a file that is written.
    pub(super) remarks: Vec<Diagnostic>,
    /// Whether nothing can be said of further effects.
    closed: bool,
    moved: MovedLines,
}

/// The file from which the effects start: the one in the place, unless a run that was killed has already changed it.
#[derive(Debug, Clone)]
struct Original {
    digest: Digest,
    permissions: Permissions,
    /// The run that has put it aside.
    aside: Option<u32>,
}

/// What is in a path.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Nothing,
    /// The file that was at this key before the effects, as it was.
    Whole(String),
    /// A text, with the mode that the file at a key had before the effects.
    Text(String, Option<String>),
}

/// Why an effect is not carried out.
enum Stop {
    /// It does not fit the file.
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
    /// The files after all effects, in order. `past` is the journal of a run of the same effects that was killed.
    pub(super) fn new(root: &Root, effects: &[EffectRecord], past: Option<&Journal>) -> Self {
        let mut draft = Self { slots: IndexMap::new(), misses: Vec::new() };
        for (index, record) in effects.iter().enumerate() {
            let keys: Vec<&str> = record.effect.keys().collect();
            for key in &keys {
                draft.open(root, key, past).cause.clone_from(&record.cause);
            }
            let Some(key) = keys.first() else { continue };
            let is_closed = |key: &&&str| draft.slots.get(**key).is_none_or(|slot| slot.closed);
            if let Some(closed) = keys.iter().find(is_closed).copied() {
                // A path whose other side cannot be read is as unknown.
                draft.join(&keys, closed);
                if let (Effect::Write { text, .. }, Some(slot)) = (&record.effect, draft.slots.get_mut(*key)) {
                    // It is reported how long the text is that is not written.
                    slot.set_text(ended(text));
                }
                continue;
            }
            if let Err(stop) = draft.carry_out(root, index, key, record) {
                draft.stop(&keys, stop);
            }
        }
        draft
    }

    /// Looks at the path, if that has not been done.
    fn open(&mut self, root: &Root, key: &str, past: Option<&Journal>) -> &mut Slot {
        let group = self.slots.len();
        self.slots.entry(key.to_owned()).or_insert_with(|| {
            let mut slot = Slot::new(group);
            if let Err(fault) = slot.look(root, key, past) {
                (slot.fault, slot.closed) = (Some(*fault), true);
            }
            slot
        })
    }

    /// Takes note that an effect is not carried out.
    fn stop(&mut self, keys: &[&str], stop: Stop) {
        let Some(slot) = keys.first().and_then(|key| self.slots.get_mut(*key)) else { return };
        let goes_on =
            matches!(&stop, Stop::Miss(miss) if matches!(miss.kind, MissKind::NotFound | MissKind::Ambiguous));
        match stop {
            Stop::Miss(miss) => self.misses.push(miss),
            Stop::Fault(fault) => slot.fault = Some(*fault),
        }
        // Later edits of the same file are tried: whoever mends the answer wants to know all that is wrong.
        slot.closed |= !goes_on;
        if let [key, to] = *keys {
            self.join(&[key, to], key);
        }
    }

    /// Puts paths between which something is moved into one group. If one of them is unknown, so are all.
    fn join(&mut self, keys: &[&str], first: &str) {
        let Some((group, closed)) = self.slots.get(first).map(|slot| (slot.group, slot.closed)) else { return };
        for key in keys {
            let Some(other) = self.slots.get_mut(*key) else { continue };
            other.closed |= closed;
            let other = other.group;
            if other != group {
                self.slots.values_mut().filter(|slot| slot.group == other).for_each(|slot| slot.group = group);
            }
        }
    }

    fn carry_out(&mut self, root: &Root, index: usize, key: &str, record: &EffectRecord) -> Result<(), Stop> {
        let miss = |kind| Err(Stop::Miss(Miss::new(index, kind)));
        let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
        let is_there = !matches!(slot.content, Content::Nothing);
        match &record.effect {
            Effect::Write { new: true, .. } if is_there => return miss(MissKind::Exists),
            Effect::Write { text, executable, .. } => self.write(root, key, text, *executable)?,
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
                        let mut miss = Miss::new(index, missed.kind);
                        miss.at = missed.at;
                        return Err(Stop::Miss(miss));
                    }
                }
            }
            Effect::Amend(_) | Effect::Record { .. } => self.add(root, key, &record.effect, is_there)?,
            Effect::Delete { .. } => slot.content = Content::Nothing,
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

    /// Gives the path a whole new text.
    fn write(&mut self, root: &Root, key: &str, text: &str, executable: bool) -> Result<(), Stop> {
        let mut text = ended(text);
        let old = match self.slots.get(key).map(|slot| &slot.content) {
            None | Some(Content::Nothing) => Ok(None),
            // Too large to be compared: the new text is taken as it is.
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

    /// Adds to a document.
    fn add(&mut self, root: &Root, key: &str, effect: &Effect, is_there: bool) -> Result<(), Stop> {
        if !is_there {
            if let (Effect::Amend(amendment), Some(slot)) = (effect, self.slots.get_mut(key)) {
                slot.say(&amendment.missing);
            }
            let message = format!("there is no document `{}`", excerpt(key, QUOTED));
            return Err(Box::new(Diagnostic::new(Code::WORKSPACE_NO_DOCUMENT, None, message)).into());
        }
        let text = self.text(root, key)?.ok_or_else(|| Box::new(unreadable(key, "it is not UTF-8")))?;
        let Some(slot) = self.slots.get_mut(key) else { return Ok(()) };
        match effect {
            Effect::Amend(amendment) => {
                let Amendment { section, marker, text: addition, otherwise, done, .. } = &**amendment;
                let addition = Addition { section, otherwise, marker, text: addition };
                let amended = amend(&text, &addition).ok_or_else(|| {
                    let message = format!("what is added to `{}` would hide what comes after it", excerpt(key, QUOTED));
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
                    let (path, instead) = (excerpt(path, QUOTED), excerpt(&instead, QUOTED));
                    let message = format!(
                        "`{path}` of `{}` was no list: a list takes the place of `{instead}`",
                        excerpt(key, QUOTED)
                    );
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

    /// The text of the path as the effects so far leave it; none if it is not UTF-8.
    fn text(&self, root: &Root, key: &str) -> Result<Option<String>, Box<Diagnostic>> {
        match self.slots.get(key).map(|slot| &slot.content) {
            Some(Content::Text(text, _)) => Ok(Some(text.clone())),
            Some(Content::Whole(own)) => {
                let bytes = self.source(root, own).and_then(|place| place.read(MOST_READ));
                Ok(String::from_utf8(bytes.map_err(|error| fault(key, &error))?).ok())
            }
            _ => Ok(None),
        }
    }

    /// Where the file is that was at this key before the effects.
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

    /// The digest of a content; none for nothing.
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
            closed: false,
            moved: MovedLines::default(),
        }
    }

    /// Takes in what is on disk.
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

    /// Sets the text; the file keeps the mode that it has.
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

    /// Takes note of something worth knowing, once.
    fn remark(&mut self, code: Code, key: &str, what: &str, worth: bool) {
        if worth && self.remarks.iter().all(|remark| remark.code != code) {
            self.remarks.push(Diagnostic::new(code, None, format!("`{}` {what}", excerpt(key, QUOTED))));
        }
    }
}

fn unreadable(key: &str, why: &str) -> Diagnostic {
    let message = format!("cannot add to `{}`: {}", excerpt(key, QUOTED), excerpt(why, QUOTED));
    Diagnostic::new(Code::WORKSPACE_UNREADABLE, None, message).with_help("mend the document; it is never overwritten")
}

/// The text, ending with a line break of the kind that it uses; an empty text stays empty.
fn ended(text: &str) -> String {
    let ending = match text {
        text if text.is_empty() || text.ends_with('\n') => "",
        text if text.rsplit_once('\n').is_some_and(|(before, _)| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    };
    format!("{text}{ending}")
}
