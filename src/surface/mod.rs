//! Surface: what do a pack's files say?
//!
//! In: the files of a folder, in memory.
//! Out: [`Surface`]: every table as typed, with its places, possibly wrong; and diagnostics for what could not be read.
//! Never: resolves a name, compiles a pattern, or opens a file.

pub(crate) mod declare;
pub(crate) mod decode;
pub(crate) mod files;
pub(crate) mod syntax;

mod action;
mod ask_again;
mod degradation;
mod dialect;
mod flow;
mod groups;
mod guardrail;
mod layout;
mod mode;
mod pack;
pub(crate) mod places;
mod prompt;
mod shipped;
mod tools;
mod tree;

pub use action::{Action, Content, Effect, Matching, Permit};
pub use ask_again::AskAgain;
pub(crate) use ask_again::LEAST_CORRECTION_TOKENS;
pub use decode::{Named, OneOrMany, OneOrMore};
pub use degradation::Degradation;
pub use dialect::{
    Anchor, Around, Between, Block, Case, Decoding, Dialect, Ending, Mask, Payload, Role, Rung, Trim, Values,
};
pub(crate) use dialect::{ENTRIES, WHOLE};
#[doc(hidden)]
pub use flow::{Event, Exit, Input, Message, Rule, Speakers};
pub(crate) use groups::{group_named, is_about, is_pattern, literal_start, may_meet};
pub use guardrail::Guardrail;
pub(crate) use layout::{BlockLayout, NAME};
pub(crate) use mode::ONLY_MODE;
pub use mode::{Count, Hold, Mode, ReplyTable, Showing};
pub use pack::{About, Calls, Level, Levels, Origin, Sample, Slot, Waiting};
pub use prompt::{Amount, Layer, Model, Origins, Prompt, Speaker, Tier, Trimming, Vocabulary};
pub use shipped::{shipped_instead, shipped_pack, shipped_packs, std_name};
pub(crate) use tools::Tool;
pub use tools::Tools;
pub use tree::Tree;
pub(crate) use tree::plain_tables;

use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::text::{Location, Source, SourceId, Sources, Span, Spanned, authored};
#[cfg(feature = "schema")]
pub use declare::ORDER;
use declare::table;
use decode::{Decode, Decoder};
use files::{PackFiles, PackId, grammar_name, is_absolute, is_text};
use std::collections::{BTreeMap, HashSet};
use toml::de::DeTable;

/// The extensions of the files that prompts may name as texts.
pub(crate) const TEXTS: &[&str] = &[".md", ".txt", ".xml"];

/// The files of one folder by their path below it, with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder {
    /// The name of the folder in messages.
    pub name: String,
    /// The bytes of each file.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The folders of other packs, by the path that its `use` names.
    pub others: BTreeMap<String, Folder>,
    /// The paths of other files that are in the folder, from which `check` tells whether one was meant to be read: those
    /// with an extension that no pack uses, and of those among the tests the ones that are named or written like a
    /// case. The path of a folder without cases ends in `/`.
    pub unread: Vec<String>,
    /// Why files that belong to it are missing here. An error among these is an error of the pack.
    pub faults: Vec<Diagnostic>,
}

impl Folder {
    /// A folder called `name` with these `files`.
    pub fn new<P: Into<String>, T: Into<Vec<u8>>>(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.into(), text.into())).collect();
        Self { name: name.into(), files, ..Self::default() }
    }

    /// The shipped pack of this name in `use`, such as `std:hermes`.
    pub fn shipped(name: &str) -> Option<&'static Self> {
        std_name(name).and_then(shipped_pack)
    }

    /// The name in messages of the file at this path below it.
    #[doc(hidden)]
    pub fn called(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// The place of a file or folder below it that is not read: the start of an empty source.
    pub(crate) fn place_unread(&self, path: &str, sources: &mut Sources) -> Location {
        let source = sources.add(Source::new(self.called(path.trim_end_matches('/')), ""));
        Location { source, span: Span::default() }
    }
}

table! {
    /// One TOML file of a pack. Any table may be in any file.
    File {
        /// What the pack is called, and where sessions start; only in `pack.toml`, where it is required.
        pack: Option<About>,
        /// How severe the findings of `check` are; only in `pack.toml`.
        check: Option<Levels>,
        /// A session for which examples in prompts are judged; only in `pack.toml`.
        sample: Option<Sample>,
        /// How a response may be written.
        dialects: Named<Dialect>,
        /// What a good reply consists of.
        reply: ReplyTable,
        /// What a session remembers: a JSON Schema for each value, with `default`, `compute` or `from`.
        state: Named<Tree>,
        /// Constants for conditions and templates.
        data: Named<Tree>,
        /// What a response may ask for.
        actions: Named<Action>,
        /// Names for several actions or contents, which permits call `@NAME`: names, patterns and other groups.
        groups: Named<OneOrMany> as "name",
        /// The modes of a session, and what each permits.
        modes: Named<Mode>,
        /// The strategies for each defect.
        degradation: Degradation,
        /// How a model is asked again.
        ask_again: Option<AskAgain>,
        /// Checks on texts or the reply; all in one file, in order.
        guardrails: Vec<Guardrail>,
        /// How content blocks are stored.
        contents: Named<Content>,
        /// What the words of a user mean; all in one file, in order.
        inputs: Vec<Input>,
        /// What follows from events; all in one file, in order.
        rules: Vec<Rule>,
        /// Texts that the pack says to its user.
        messages: Named<Message>,
        /// Who may speak in a reply.
        speakers: Option<Speakers>,
        /// What a model reads.
        prompts: Named<Prompt>,
        /// Classes of models that get the same prompt.
        tiers: Named<Tier>,
        /// Models, by their names or by a part that all their versions share.
        models: Named<Model>,
    }
}

/// Everything a pack's files say.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    /// The files, for places.
    pub sources: Sources,
    /// `[pack]`, if it could be read.
    pub about: Option<About>,
    /// `[check]`
    pub check: Option<Levels>,
    /// `[sample]`
    pub sample: Option<Sample>,
    /// `[dialects]`
    pub dialects: Named<Dialect>,
    /// `[reply]`
    pub reply: ReplyTable,
    /// `[state]`
    pub state: Named<Tree>,
    /// `[data]`
    pub data: Named<Tree>,
    /// `[actions]`
    pub actions: Named<Action>,
    /// `[groups]`
    pub groups: Named<OneOrMany>,
    /// `[modes]`
    pub modes: Named<Mode>,
    /// `[degradation]`
    pub degradation: Degradation,
    /// `[ask_again]`
    pub ask_again: Option<AskAgain>,
    /// `[[guardrails]]`
    pub guardrails: Vec<Guardrail>,
    /// `[contents]`
    pub contents: Named<Content>,
    /// `[[inputs]]`
    pub inputs: Vec<Input>,
    /// `[[rules]]`
    pub rules: Vec<Rule>,
    /// `[messages]`
    pub messages: Named<Message>,
    /// `[speakers]`
    pub speakers: Option<Speakers>,
    /// `[prompts]`
    pub prompts: Named<Prompt>,
    /// `[tiers]`
    pub tiers: Named<Tier>,
    /// `[models]`
    pub models: Named<Model>,
    /// The texts and grammars that tables may name.
    pub(crate) files: PackFiles,
    /// The places of things with faults: what seems missing in them may be due to a fault.
    pub torn: HashSet<Location>,
    /// The names of things that could not be read at all; they count as declared.
    pub unreadable: HashSet<String>,
    /// Whether a header occurs twice. A name that nothing declares may be meant by one of the two.
    pub(crate) doubled: bool,
    /// Whether some tables could not be read. What seems to be missing may be declared in them.
    pub partial: bool,
}

/// Reads every file of `folder` and of the packs it uses. Faults are reported; everything that can be read is kept.
pub fn read(folder: &Folder) -> (Surface, Vec<Diagnostic>) {
    let mut surface = Surface::default();
    let mut diagnostics = Vec::new();
    let _pack = surface.take_folder(folder, &mut Taking::default(), &mut diagnostics);
    (surface, diagnostics)
}

impl Surface {
    /// The names of the modes; a pack without modes has the mode `default`.
    pub(crate) fn mode_names(&self) -> impl Iterator<Item = &str> {
        let only = self.modes.is_empty().then_some(ONLY_MODE);
        self.modes.keys().map(String::as_str).chain(only)
    }

    /// Whether there is a mode of this name.
    pub(crate) fn has_mode(&self, name: &str) -> bool {
        self.modes.contains_key(name) || (self.modes.is_empty() && name == ONLY_MODE)
    }

    /// The dialects that are read where nothing lists any: all but those of used packs that have only reasoning and
    /// wrappers. They are there for others to include, and would claim an answer at its reasoning. If there are no
    /// others, these are read.
    pub(crate) fn unlisted_dialects(&self) -> Vec<&str> {
        let serves = |dialect: &&Spanned<Dialect>| {
            let blocks = &dialect.value.blocks;
            let is_part = blocks.values().any(|block| block.value.role.is_answer());
            !self.files.is_own(dialect.at.source) && !blocks.is_empty() && !is_part
        };
        let all = || self.dialects.iter().map(|(name, dialect)| (name.as_str(), dialect));
        let read: Vec<&str> = all().filter(|(_, dialect)| !serves(dialect)).map(|(name, _)| name).collect();
        if read.is_empty() { all().map(|(name, _)| name).collect() } else { read }
    }

    /// The blocks of all dialects, with their names.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&String, &Spanned<Block>)> + Clone {
        self.dialects.values().flat_map(|dialect| &dialect.value.blocks)
    }

    /// Every degradation table: the pack's own, and those of its modes, actions and blocks.
    pub(crate) fn degradations(&self) -> impl Iterator<Item = &Degradation> {
        let modes = self.modes.values().map(|mode| &mode.value.degradation);
        let actions = self.actions.values().map(|action| &action.value.degradation);
        let blocks = self.blocks().map(|(_, block)| &block.value.degradation);
        std::iter::once(&self.degradation).chain(modes).chain(actions).chain(blocks)
    }

    /// Every effect of actions, contents and rules; each before those nested in it.
    pub(crate) fn effects(&self) -> Vec<&Effect> {
        let actions = self.actions.values().flat_map(|action| &action.value.effects);
        let contents = self.contents.values().flat_map(|content| &content.value.effects);
        let rules = self.rules.iter().flat_map(|rule| &rule.effects);
        let mut all = Vec::new();
        for effect in actions.chain(contents).chain(rules) {
            let mut rest = vec![effect];
            while let Some(effect) = rest.pop() {
                all.push(effect);
                rest.extend(effect.effects.iter().rev());
            }
        }
        all
    }

    fn take_folder<'f>(
        &mut self,
        folder: &'f Folder,
        taking: &mut Taking<'f>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> PackId {
        self.partial |= folder.faults.iter().any(Diagnostic::is_error);
        diagnostics.extend_from_slice(&folder.faults);
        let pack = self.files.add_pack(&folder.name);
        let mut files = self.read_files(folder, pack, diagnostics);
        let first = files.iter_mut().find(|own| own.path == "pack.toml").map(|own| &mut own.file);
        let taken = first.map(|file| (file.pack.take(), file.check.take(), file.sample.take()));
        let (about, check, sample) = taken.unwrap_or_default();
        for OwnFile { file, .. } in &files {
            let strays = [
                ("pack", file.pack.as_ref().map(|table| table.at)),
                ("check", file.check.as_ref().map(|table| table.at)),
                ("sample", file.sample.as_ref().map(|table| table.at)),
            ];
            for (name, at) in strays.into_iter().filter(|(_, at)| at.is_some()) {
                let message = format!("`[{name}]` belongs in `pack.toml` and nowhere else");
                diagnostics.push(Diagnostic::new(Code::PACK_DUPLICATE, at, message).with_help("move its keys there"));
            }
        }
        if about.is_none() && taking.above.is_empty() {
            let fault = missing_pack(folder, diagnostics);
            let file = self.sources.find(&folder.called("pack.toml"));
            let at = file.map(|(source, _)| Location { source, span: Span::default() });
            diagnostics.extend(fault.map(|fault| Diagnostic { at, ..fault }));
        }
        if let Some(about) = &about {
            self.files.rename(pack, &about.name.value);
        }
        // Used packs come first, so that this pack's own tables can replace theirs.
        taking.above.push(&folder.name);
        for used in about.iter().flat_map(|about| &about.uses) {
            match self.take_used(folder, used, taking, diagnostics) {
                Some(used) => self.files.add_use(pack, used),
                None => self.partial = true,
            }
        }
        taking.above.pop();
        if taking.above.is_empty() {
            self.about = about;
            self.check = check;
            self.sample = sample;
        }
        let own = files.iter().map(|file| file.source).collect();
        let mut merging = Merging { own, partial: self.partial, lists: Vec::new(), diagnostics };
        files.into_iter().for_each(|own| self.merge(own.file, &mut merging));
        pack
    }

    /// Reads the files of a folder, and returns its tables.
    fn read_files<'f>(
        &mut self,
        folder: &'f Folder,
        pack: PackId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<OwnFile<'f>> {
        let mut tables = Vec::new();
        for (path, bytes) in &folder.files {
            let is_named = is_text(path) || grammar_name(path).is_some();
            if !is_table(path) && !is_named {
                continue;
            }
            let name = folder.called(path);
            let text = match std::str::from_utf8(bytes) {
                Ok(text) => authored(text),
                Err(error) => {
                    if is_named {
                        self.files.add(pack, path, Err(error.valid_up_to()));
                    }
                    // Only a text that is used has to be UTF-8: decide that later.
                    if !is_text(path) {
                        self.partial |= !is_named;
                        let message = format!("`{name}` is not UTF-8 from byte {} on", error.valid_up_to());
                        let at = self.sources.add_broken(&name, bytes, error);
                        let fault = Diagnostic::new(Code::PACK_UNREADABLE, at, message);
                        diagnostics.push(fault.with_help("save the file as UTF-8"));
                    }
                    continue;
                }
            };
            let source = self.sources.add(Source::new(name, text.as_ref()));
            self.files.add_source(pack, source);
            if is_named {
                self.files.add(pack, path, Ok(source));
            } else {
                let mut reading = Decoder::new(source, &text, diagnostics);
                tables.extend(parse(&mut reading, &text, source).map(|file| OwnFile { path, source, file }));
                self.torn.extend(reading.torn);
                self.unreadable.extend(reading.unreadable);
                self.doubled |= reading.doubled;
            }
        }
        tables
    }

    /// Takes over the tables of a used pack, once; none if there is no such pack, which is reported.
    fn take_used<'f>(
        &mut self,
        folder: &'f Folder,
        used: &Spanned<String>,
        taking: &mut Taking<'f>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<PackId> {
        let path = &used.value;
        let shipped = Folder::shipped(path);
        let fault = match shipped.or_else(|| folder.others.get(path)) {
            Some(other) if taking.above.contains(&other.name.as_str()) => {
                Diagnostic::new(Code::PACK_USE_CYCLE, used.at, format!("`{path}` uses this pack in turn"))
            }
            // Two packs that this one uses may use the same one, by paths of their own.
            Some(other) => {
                if let Some((_, known)) = taking.done.iter().find(|(done, _)| is_same(done, other)) {
                    return Some(*known);
                }
                let pack = self.take_folder(other, taking, diagnostics);
                taking.done.push((other, pack));
                return Some(pack);
            }
            None if std_name(path).is_some() => {
                let name = std_name(path).unwrap_or_default();
                Diagnostic::new(Code::PACK_UNREADABLE, used.at, format!("no pack called `{name}` is shipped"))
                    .with_help(shipped_instead(name))
            }
            None if is_absolute(path) => {
                Diagnostic::new(Code::PACK_OUTSIDE, used.at, format!("`{path}` starts at the root of a disk"))
                    .with_help("paths in `use` are relative to the pack's folder: a pack works on every machine")
            }
            None => Diagnostic::new(Code::PACK_UNREADABLE, used.at, format!("there is no pack at `{path}`"))
                .with_help("`use` names folders with a `pack.toml`, relative to this pack's"),
        };
        diagnostics.push(fault);
        None
    }

    fn merge(&mut self, file: File, merging: &mut Merging<'_>) {
        // Actions may be listed one level too deep, which is reported: their names are not reported as unknown, too.
        let listed = file.actions.values().filter_map(|action| action.value.listed());
        let listed = listed.filter_map(|listed| match &listed.value {
            Tree::Table(members, _) => Some(members.iter().map(|(name, _)| name.value.clone())),
            _ => None,
        });
        self.unreadable.extend(listed.flatten());
        merging.table("dialect", &mut self.dialects, file.dialects, |one| Replaces::Says(one.replace));
        merging.table("action", &mut self.actions, file.actions, |one| Replaces::Says(one.replace));
        merging.table("mode", &mut self.modes, file.modes, |one| Replaces::Says(one.replace));
        merging.table("content", &mut self.contents, file.contents, |one| Replaces::Says(one.replace));
        merging.table("message", &mut self.messages, file.messages, |one| Replaces::Says(one.replace));
        merging.table("prompt", &mut self.prompts, file.prompts, |one| Replaces::Says(one.replace));
        merging.table("tier", &mut self.tiers, file.tiers, |one| Replaces::Says(one.replace));
        merging.table("model", &mut self.models, file.models, |one| Replaces::Says(one.replace));
        merging.table("value of the state", &mut self.state, file.state, |_| Replaces::Never);
        merging.table("value of the data", &mut self.data, file.data, |_| Replaces::Never);
        merging.table("group", &mut self.groups, file.groups, |_| Replaces::Never);
        merging.table("count of the reply", &mut self.reply.counts, file.reply.counts, |_| Replaces::Always);
        self.reply.order = file.reply.order.or(self.reply.order.take());
        self.reply.shows = file.reply.shows.or(self.reply.shows.take());
        self.reply.separator = file.reply.separator.or(self.reply.separator.take());
        self.reply.refused = file.reply.refused.or(self.reply.refused.take());
        self.reply.hold = file.reply.hold.or(self.reply.hold.take());
        for (defect, strategies) in file.degradation.0 {
            match self.degradation.0.iter_mut().find(|(known, _)| known.value == defect.value) {
                Some(known) if merging.is_used(known.0.at) => *known = (defect, strategies),
                Some(known) => {
                    let fault = twice("answer to the defect", defect.value.name(), defect.at, known.0.at);
                    merging.diagnostics.push(fault);
                }
                None => self.degradation.0.push((defect, strategies)),
            }
        }
        if let Some(own) = file.ask_again {
            merging.in_one_file("ask_again", Some(own.at));
            self.ask_again = Some(own);
        }
        merging.in_one_file("guardrails", file.guardrails.first().map(|first| first.at));
        merging.in_one_file("inputs", file.inputs.first().map(|first| first.at));
        merging.in_one_file("rules", file.rules.first().map(|first| first.at));
        merging.list("guardrail", &mut self.guardrails, file.guardrails, |one| (&one.id, one.replace));
        merging.list("rule", &mut self.rules, file.rules, |one| (&one.id, one.replace));
        self.inputs.extend(file.inputs);
        match (&self.speakers, file.speakers) {
            (Some(known), Some(more)) if !merging.is_used(known.at) => {
                let fault = Diagnostic::new(Code::PACK_DUPLICATE, more.at, "the table `[speakers]` is declared twice");
                merging.diagnostics.push(fault.with_place(known.at, "first declared here"));
            }
            (_, Some(more)) => self.speakers = Some(more),
            (_, None) => {}
        }
    }
}

/// The folders being taken over, to find packs that use themselves.
#[derive(Default)]
struct Taking<'f> {
    /// The names of the folders from the pack down to the current one.
    above: Vec<&'f str>,
    /// The folders that have been taken over.
    done: Vec<(&'f Folder, PackId)>,
}

/// One of a folder's own TOML files.
struct OwnFile<'f> {
    path: &'f str,
    source: SourceId,
    file: File,
}

/// Whether the file at this path below a pack is one of its tables.
pub(crate) fn is_table(path: &str) -> bool {
    path.ends_with(".toml") && !is_test(path)
}

/// Whether two folders, which may have been read by different paths, are the same pack.
fn is_same(one: &Folder, other: &Folder) -> bool {
    let uses_same =
        || one.others.iter().zip(&other.others).all(|(one, other)| one.0 == other.0 && is_same(one.1, other.1));
    one.files == other.files && one.others.len() == other.others.len() && uses_same()
}

/// Whether the file belongs to the tests of the pack.
pub(crate) fn is_test(path: &str) -> bool {
    path.starts_with("tests/")
}

/// The diagnostic for a folder without a `[pack]` table; none if faults in `known` may have hidden it.
fn missing_pack(folder: &Folder, known: &[Diagnostic]) -> Option<Diagnostic> {
    let (message, help) = if !folder.files.contains_key("pack.toml") {
        let help = "a pack is a folder with a `pack.toml`; `rulebook new pack NAME` makes one";
        (format!("`{}` has no `pack.toml`", folder.name), help)
    } else if known.is_empty() {
        let help = "add `[pack]` with a `name` at the top of the file";
        (format!("`{}/pack.toml` has no `[pack]` table", folder.name), help)
    } else {
        return None;
    };
    Some(Diagnostic::new(Code::PACK_MISSING, None, message).with_help(help))
}

/// A folder's own tables, being merged into those of the packs that it uses.
struct Merging<'m> {
    /// Its own sources: what is declared elsewhere comes from a used pack.
    own: Vec<SourceId>,
    /// Whether some declarations could not be read.
    partial: bool,
    /// Where each list starts that must be in one file.
    lists: Vec<(&'static str, Location)>,
    diagnostics: &'m mut Vec<Diagnostic>,
}

/// Whether an entry replaces the one of its name in a used pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replaces {
    Never,
    /// If its `replace` is true.
    Says(bool),
    Always,
}

impl Merging<'_> {
    /// Whether what is declared here comes from a used pack.
    fn is_used(&self, at: Location) -> bool {
        !self.own.contains(&at.source)
    }

    /// Adds entries to a table. Each may replace the one of its name in a used pack.
    fn table<T>(&mut self, what: &str, known: &mut Named<T>, more: Named<T>, replaces: impl Fn(&T) -> Replaces) {
        let used: Vec<String> =
            known.iter().filter(|(_, one)| self.is_used(one.at)).map(|(name, _)| name.clone()).collect();
        for (name, entry) in more {
            let replaces = replaces(&entry.value);
            let Some(before) = known.get_mut(&name) else {
                if replaces == Replaces::Says(true) {
                    self.replaces_nothing(what, &name, entry.at, used.iter().map(String::as_str));
                }
                known.insert(name, entry);
                continue;
            };
            match replaces {
                Replaces::Always | Replaces::Says(true) if self.is_used(before.at) => *before = entry,
                Replaces::Says(false) if self.is_used(before.at) => {
                    self.diagnostics.push(twice(what, &name, entry.at, before.at).with_help(STAND_IN));
                    // What else this pack says is about its own entry.
                    *before = entry;
                }
                _ => self.diagnostics.push(twice(what, &name, entry.at, before.at)),
            }
        }
    }

    /// Adds entries to an ordered list. Each has a name and may replace the one of its name in a used pack.
    fn list<T>(
        &mut self,
        what: &str,
        known: &mut Vec<T>,
        more: Vec<T>,
        named: impl Fn(&T) -> (&Spanned<String>, bool),
    ) {
        let ids = known.iter().map(|one| named(one).0).filter(|id| self.is_used(id.at));
        let used: Vec<String> = ids.map(|id| id.value.clone()).collect();
        for entry in more {
            let (id, replaces) = named(&entry);
            if replaces && !used.contains(&id.value) {
                self.replaces_nothing(what, &id.value, id.at, used.iter().map(String::as_str));
            }
            match known.iter_mut().find(|known| named(known).0.value == id.value) {
                Some(before) if replaces && self.is_used(named(before).0.at) => *before = entry,
                Some(before) => {
                    let fault = twice(what, &id.value, id.at, named(before).0.at);
                    let is_used = self.is_used(named(before).0.at);
                    self.diagnostics.push(if is_used { fault.with_help(STAND_IN) } else { fault });
                }
                None => known.push(entry),
            }
        }
    }

    /// Reports an entry with `replace` for which no used pack has one of that name.
    fn replaces_nothing<'n>(&mut self, what: &str, name: &str, at: Location, used: impl Iterator<Item = &'n str>) {
        // The replaced entry may be in what could not be read.
        if self.partial {
            return;
        }
        let message = format!("no used pack has the {what} `{name}` that this would replace");
        let finding = Diagnostic::new(Code::PACK_WRONG_VALUE, at, message).with_help("take `replace` out");
        let finding = match nearest(name, used) {
            Some(known) => finding.with_help(format!("did you mean `{known}`? else take `replace` out")),
            None => finding,
        };
        self.diagnostics.push(finding.into_warning());
    }

    /// Notes where a list starts, and reports it if it has already started in another file.
    fn in_one_file(&mut self, list: &'static str, here: Option<Location>) {
        let Some(here) = here else { return };
        match self.lists.iter().find(|(known, _)| *known == list) {
            Some((_, before)) => self.diagnostics.push(
                Diagnostic::new(Code::PACK_DUPLICATE, here, format!("`{list}` is in two files"))
                    .with_place(*before, "it starts here")
                    .with_help("keep it in one file: its entries are ordered, or it is one value"),
            ),
            None => self.lists.push((list, here)),
        }
    }
}

/// The help for an entry whose name a used pack has declared.
const STAND_IN: &str = "rename it, or write `replace = true` to replace that of the used pack";

fn twice(what: &str, name: &str, here: Location, before: Location) -> Diagnostic {
    Diagnostic::new(Code::PACK_DUPLICATE, here, format!("the {what} `{name}` is declared twice"))
        .with_place(before, "first declared here")
        .with_help("rename one of them, or take it out")
}

/// The tables of one file. Every syntax error is reported, and what is around it is still read.
fn parse(reading: &mut Decoder<'_>, text: &str, source: SourceId) -> Option<File> {
    let (table, errors) = DeTable::parse_recoverable(text);
    // A bracket that is never closed makes the rest of the file look wrong: the first faults and that one say enough.
    let is_informative =
        |(number, error): &(usize, &toml::de::Error)| *number < 3 || error.message().starts_with("unclosed");
    for (_, error) in syntax::first_errors(&errors, text).into_iter().enumerate().filter(is_informative) {
        let fault = syntax::fault(error, table.get_ref(), text, Location { source, span: Span::default() });
        reading.doubled |= syntax::is_header_twice(error, text);
        // One wrong header can give the same fault at every right one: report it once.
        let same = |one: &Diagnostic| one.labels == fault.labels && one.message == fault.message;
        if fault.labels.is_empty() || !reading.diagnostics.iter().any(same) {
            reading.report(fault);
        }
    }
    let span = table.span();
    let node = toml::Spanned::new(span, toml::de::DeValue::Table(table.into_inner()));
    let file = File::decode(&node, reading);
    // A list whose headers are in single brackets has the same header twice, too: that it is a list is the fault.
    let line = |one: &Diagnostic| {
        let at = one.at.filter(|at| at.source == source)?;
        Some(syntax::line_of(text, at.span.start).trim()).filter(|line| line.starts_with('['))
    };
    let is_wrong = |one: &&Diagnostic| one.code == Code::PACK_WRONG_TYPE;
    let wrong: HashSet<&str> = reading.diagnostics.iter().filter(is_wrong).filter_map(line).collect();
    let is_list = |one: &Diagnostic| line(one).is_some_and(|line| wrong.contains(line));
    reading.diagnostics.retain(|one| one.code != Code::PACK_DUPLICATE || !is_list(one));
    file
}
