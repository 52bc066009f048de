//! Surface: what do a pack's files say?
//!
//! In: the files of a folder, in memory.
//! Out: [`Surface`], every table as it was typed with its places, maybe wrong; and what could not be read.
//! Never: resolves a name, compiles a pattern, or opens a file.

pub(crate) mod decode;
pub(crate) mod syntax;

mod action;
mod ask_again;
mod degradation;
mod dialect;
mod flow;
mod guardrail;
mod mode;
mod pack;
mod prompt;
mod tree;

pub use action::{Action, ConditionalPermit, Content, ContentKey, Effect, Permit};
pub use ask_again::AskAgain;
pub use decode::{Named, OneOrMore};
pub use degradation::Degradation;
pub use dialect::{Anchor, Between, Block, Case, Decoding, Dialect, Ending, Mask, Payload, Role, Rung, Trim, Wrapper};
pub use flow::{Event, Exit, GatedExit, Input, Message, Rule, Speakers};
pub use guardrail::Guardrail;
pub use mode::{Count, Mode, Reply, Showing};
pub use pack::{About, Level, Levels, Origin, Slot};
pub use prompt::{Amount, Layer, Model, Origins, Prompt, Speaker, Tier, Trimming, Vocabulary};
pub use tree::Tree;

use crate::diagnostic::{Code, Diagnostic, Remark, Strategy};
use crate::text::{Location, Source, SourceId, Sources, Span, Spanned, authored};
use decode::{Decode, Reading, table};
use indexmap::IndexMap;
use std::collections::{BTreeMap, HashSet};
use toml::de::DeTable;

/// How the names of the texts end that prompts may be made of.
pub(crate) const TEXTS: &[&str] = &[".md", ".txt", ".xml"];

/// The files of one folder by their path below it, with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder {
    /// What messages call the folder.
    pub name: String,
    /// The bytes of each file.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Folders that it may use, by the path that its `use` names.
    pub others: BTreeMap<String, Folder>,
    /// Why something that belongs to it is not here: an error among these is one of the pack.
    pub faults: Vec<Diagnostic>,
}

impl Folder {
    /// A folder called `name` of `files`.
    pub fn new<P: Into<String>, T: Into<Vec<u8>>>(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.into(), text.into())).collect();
        Self { name: name.into(), files, ..Self::default() }
    }
}

table! {
    /// One TOML file of a pack: every table may stand in any file.
    File {
        /// Who the pack is; in `pack.toml`.
        pack: Option<About>,
        /// How much findings of `check` matter that keep no pack from running; in `pack.toml`.
        check: Option<Levels>,
        /// The ways in which a response may be written.
        dialects: Named<Dialect>,
        /// The shape of a good reply.
        reply: Reply,
        /// What a session remembers: a JSON Schema for each value, with `default`, `compute` or `from`.
        state: Named<Tree>,
        /// Constants for conditions and templates.
        data: Named<Tree>,
        /// What a response may ask for.
        actions: Named<Action>,
        /// The states of a session and what each permits.
        modes: Named<Mode>,
        /// Which strategy answers which defect.
        degradation: Degradation,
        /// How a model is asked again.
        ask_again: Option<AskAgain>,
        /// Checks on text or reply; in one file, in order.
        guardrails: Vec<Guardrail>,
        /// What content blocks point to.
        contents: Named<Content>,
        /// What the words of a user mean; in one file, in order.
        inputs: Vec<Input>,
        /// What follows on events; in one file, in order.
        rules: Vec<Rule>,
        /// The pack's words to its user.
        messages: Named<Message>,
        /// Who may speak in a reply.
        speakers: Option<Speakers>,
        /// What a model reads.
        prompts: Named<Prompt>,
        /// Classes of models.
        tiers: Named<Tier>,
        /// Models, by their names or what all their versions share.
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
    /// `[dialects]`
    pub dialects: Named<Dialect>,
    /// `[reply]`
    pub reply: Reply,
    /// `[state]`
    pub state: Named<Tree>,
    /// `[data]`
    pub data: Named<Tree>,
    /// `[actions]`
    pub actions: Named<Action>,
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
    /// The texts that prompts may name, by their paths below the pack: a source, or from which byte on they are not UTF-8.
    pub texts: BTreeMap<String, Result<SourceId, usize>>,
    /// The pack's own grammars by name.
    pub grammars: IndexMap<String, SourceId>,
    /// Where things stand in which something is wrong, so that nothing can be said of what they seem to lack.
    pub torn: HashSet<Location>,
}

/// Reads every file of `folder` and of the packs it uses. What is wrong is reported; what can be read is kept.
pub fn read(folder: &Folder) -> (Surface, Vec<Diagnostic>) {
    let mut surface = Surface::default();
    let mut diagnostics = Vec::new();
    surface.take_folder(folder, &mut Vec::new(), &mut diagnostics);
    (surface, diagnostics)
}

impl Surface {
    fn take_folder(&mut self, folder: &Folder, above: &mut Vec<String>, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.extend_from_slice(&folder.faults);
        let mut files = Vec::new();
        let mut grammars = Vec::new();
        for (path, bytes) in &folder.files {
            let grammar = path.strip_prefix("grammar/").and_then(|rest| rest.strip_suffix(".pest"));
            let of_pack = !path.starts_with("tests/");
            let is_table = path.ends_with(".toml") && of_pack;
            let is_text = TEXTS.iter().any(|end| path.ends_with(end)) && of_pack;
            if !is_table && !is_text && grammar.is_none() {
                continue;
            }
            let name = format!("{}/{path}", folder.name);
            let text = match std::str::from_utf8(bytes) {
                Ok(text) => text,
                // What no prompt names may be as it likes.
                Err(error) if is_text => {
                    self.texts.insert(path.clone(), Err(error.valid_up_to()));
                    continue;
                }
                Err(error) => {
                    let message = format!("`{name}` is not UTF-8 from byte {} on", error.valid_up_to());
                    diagnostics.push(
                        Diagnostic::new(Code::PACK_UNREADABLE, None, message).with_help("save the file as UTF-8"),
                    );
                    continue;
                }
            };
            let text = authored(text);
            let source = self.sources.add(Source::new(name, text.as_ref()));
            match grammar {
                _ if is_text => drop(self.texts.insert(path.clone(), Ok(source))),
                Some(grammar) => grammars.push((grammar.to_owned(), source)),
                None => {
                    let mut reading = Reading::new(source, &text, diagnostics);
                    files.extend(parse(&mut reading, &text, source).map(|file| (path.as_str(), file)));
                    self.torn.extend(reading.torn);
                }
            }
        }
        let first = files.iter_mut().find(|(path, _)| *path == "pack.toml");
        let (about, check) = first.map(|(_, file)| (file.pack.take(), file.check.take())).unwrap_or_default();
        for (_, file) in &files {
            let strays = [
                ("pack", file.pack.as_ref().map(|table| table.at)),
                ("check", file.check.as_ref().map(|table| table.at)),
            ];
            for (name, at) in strays.into_iter().filter(|(_, at)| at.is_some()) {
                let message = format!("`[{name}]` belongs into `pack.toml` alone");
                diagnostics.push(Diagnostic::new(Code::PACK_DUPLICATE, at, message).with_help("move its keys there"));
            }
        }
        if about.is_none() && above.is_empty() && !folder.files.contains_key("pack.toml") {
            let message = format!("`{}` has no `pack.toml`", folder.name);
            diagnostics.push(
                Diagnostic::new(Code::PACK_MISSING, None, message)
                    .with_help("a pack is a folder with a `pack.toml`; `rulebook new pack NAME` makes one"),
            );
        } else if about.is_none() && above.is_empty() && diagnostics.is_empty() {
            let message = format!("`{}/pack.toml` has no `[pack]` table", folder.name);
            diagnostics.push(
                Diagnostic::new(Code::PACK_MISSING, None, message)
                    .with_help("add `[pack]` with a `name` at the top of the file"),
            );
        }
        // What is used comes first, so that this pack's own tables are seen to stand in for it.
        above.push(folder.name.clone());
        for used in about.iter().flat_map(|about| &about.uses) {
            match folder.others.get(&used.value) {
                Some(other) if above.contains(&other.name) => diagnostics.push(Diagnostic::new(
                    Code::PACK_USE_CYCLE,
                    used.at,
                    format!("`{}` uses this pack in turn", used.value),
                )),
                Some(other) => self.take_folder(other, above, diagnostics),
                None if is_absolute(&used.value) => diagnostics.push(
                    Diagnostic::new(
                        Code::PACK_OUTSIDE,
                        used.at,
                        format!("`{}` starts at the root of a disk", used.value),
                    )
                    .with_help("paths in `use` are relative to the pack's folder: a pack works on every machine"),
                ),
                None => diagnostics.push(
                    Diagnostic::new(Code::PACK_UNREADABLE, used.at, format!("there is no pack at `{}`", used.value))
                        .with_help("`use` names folders with a `pack.toml`, relative to this pack's"),
                ),
            }
        }
        above.pop();
        if above.is_empty() {
            self.about = about;
            self.check = check;
        }
        self.grammars.extend(grammars);
        let used = Used::of(self);
        let mut lists = OneFile::default();
        for (_, file) in files {
            self.merge(file, &used, &mut lists, diagnostics);
        }
    }

    fn merge(&mut self, file: File, used: &Used, lists: &mut OneFile, diagnostics: &mut Vec<Diagnostic>) {
        join("dialect", &mut self.dialects, file.dialects, |one| one.replace, &used.dialects, diagnostics);
        join("action", &mut self.actions, file.actions, |one| one.replace, &used.actions, diagnostics);
        join("mode", &mut self.modes, file.modes, |one| one.replace, &used.modes, diagnostics);
        join("content", &mut self.contents, file.contents, |one| one.replace, &used.contents, diagnostics);
        join("message", &mut self.messages, file.messages, |one| one.replace, &used.messages, diagnostics);
        join("prompt", &mut self.prompts, file.prompts, |one| one.replace, &used.prompts, diagnostics);
        join("tier", &mut self.tiers, file.tiers, |one| one.replace, &used.tiers, diagnostics);
        join("model", &mut self.models, file.models, |one| one.replace, &used.models, diagnostics);
        join("value of the state", &mut self.state, file.state, |_| false, &[], diagnostics);
        join("value of the data", &mut self.data, file.data, |_| false, &[], diagnostics);
        join("count of the reply", &mut self.reply.counts, file.reply.counts, |_| true, &used.counts, diagnostics);
        if let Some(order) = file.reply.order {
            self.reply.order = Some(order);
        }
        if let Some(shows) = file.reply.shows {
            self.reply.shows = Some(shows);
        }
        for (defect, strategies) in file.degradation.0 {
            match self.degradation.0.iter_mut().find(|(known, _)| known.value == defect.value) {
                Some(known) if known.0.at.source == defect.at.source || used.sources.contains(&known.0.at.source) => {
                    *known = (defect, strategies);
                }
                Some(known) => {
                    diagnostics.push(twice("answer to the defect", defect.value.name(), defect.at, known.0.at))
                }
                None => self.degradation.0.push((defect, strategies)),
            }
        }
        if let Some(own) = file.ask_again {
            lists.take("ask_again", Some(own.at), diagnostics);
            self.ask_again = Some(own);
        }
        lists.take("guardrails", file.guardrails.first().map(|first| first.at), diagnostics);
        lists.take("inputs", file.inputs.first().map(|first| first.at), diagnostics);
        lists.take("rules", file.rules.first().map(|first| first.at), diagnostics);
        join_list("guardrail", &mut self.guardrails, file.guardrails, |one| (&one.id, one.replace), diagnostics);
        join_list("rule", &mut self.rules, file.rules, |one| (&one.id, one.replace), diagnostics);
        self.inputs.extend(file.inputs);
        match (&self.speakers, file.speakers) {
            // This pack's own word stands over a used one's.
            (Some(known), Some(more)) if !used.speakers => {
                let message = "the table `[speakers]` stands twice";
                diagnostics.push(
                    Diagnostic::new(Code::PACK_DUPLICATE, more.at, message).with_place(known.at, "first declared here"),
                );
            }
            (_, Some(more)) => self.speakers = Some(more),
            (_, None) => {}
        }
    }
}

/// Whether a path names one machine's disk, on whatever system this runs.
fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\', '~']) || path.chars().nth(1) == Some(':')
}

/// What the used packs declared, before this pack's own files are read.
struct Used {
    dialects: Vec<String>,
    actions: Vec<String>,
    modes: Vec<String>,
    contents: Vec<String>,
    prompts: Vec<String>,
    tiers: Vec<String>,
    models: Vec<String>,
    counts: Vec<String>,
    messages: Vec<String>,
    speakers: bool,
    sources: Vec<SourceId>,
}

impl Used {
    fn of(surface: &Surface) -> Self {
        Self {
            dialects: surface.dialects.keys().cloned().collect(),
            actions: surface.actions.keys().cloned().collect(),
            modes: surface.modes.keys().cloned().collect(),
            contents: surface.contents.keys().cloned().collect(),
            prompts: surface.prompts.keys().cloned().collect(),
            tiers: surface.tiers.keys().cloned().collect(),
            models: surface.models.keys().cloned().collect(),
            counts: surface.reply.counts.keys().cloned().collect(),
            messages: surface.messages.keys().cloned().collect(),
            speakers: surface.speakers.is_some(),
            sources: surface.degradation.0.iter().map(|(defect, _)| defect.at.source).collect(),
        }
    }
}

/// Where what belongs into one file was found, per folder.
#[derive(Default)]
struct OneFile(Vec<(&'static str, Location)>);

impl OneFile {
    /// Notes where a list starts, and reports it if it has started in another file.
    fn take(&mut self, list: &'static str, here: Option<Location>, diagnostics: &mut Vec<Diagnostic>) {
        let Some(here) = here else { return };
        match self.0.iter().find(|(known, _)| *known == list) {
            Some((_, before)) => diagnostics.push(
                Diagnostic::new(Code::PACK_DUPLICATE, here, format!("`{list}` stands in two files"))
                    .with_place(*before, "it starts here")
                    .with_help("keep it in one file: what it holds is ordered, or one thing"),
            ),
            None => self.0.push((list, here)),
        }
    }
}

/// Adds to an ordered list whose entries have a name each.
fn join_list<T>(
    what: &str,
    known: &mut Vec<T>,
    more: Vec<T>,
    named: impl Fn(&T) -> (&Spanned<String>, bool),
    diagnostics: &mut Vec<Diagnostic>,
) {
    for entry in more {
        let (id, replaces) = named(&entry);
        match known.iter_mut().find(|known| named(known).0.value == id.value) {
            Some(before) if replaces => *before = entry,
            Some(before) => diagnostics.push(twice(what, &id.value, id.at, named(before).0.at)),
            None => known.push(entry),
        }
    }
}

fn join<T>(
    what: &str,
    known: &mut Named<T>,
    more: Named<T>,
    replaces: impl Fn(&T) -> bool,
    used: &[String],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (name, entry) in more {
        match known.get_mut(&name) {
            Some(before) if used.contains(&name) && replaces(&entry.value) => *before = entry,
            Some(before) => {
                let mut diagnostic = twice(what, &name, entry.at, before.at);
                if used.contains(&name) {
                    diagnostic = diagnostic.with_help("to stand in for the used pack's, say `replace = true`");
                }
                diagnostics.push(diagnostic);
            }
            None => {
                known.insert(name, entry);
            }
        }
    }
}

fn twice(what: &str, name: &str, here: Location, before: Location) -> Diagnostic {
    Diagnostic::new(Code::PACK_DUPLICATE, here, format!("the {what} `{name}` is declared twice"))
        .with_place(before, "first declared here")
        .with_help("rename one of them, or take it out")
}

/// One file as tables; every syntax error is reported, and what stands around them is still read.
fn parse(reading: &mut Reading<'_>, text: &str, source: SourceId) -> Option<File> {
    let (table, errors) = DeTable::parse_recoverable(text);
    // A bracket that is never closed makes the rest of the file look wrong: the first faults and that one say enough.
    let telling = |(number, error): &(usize, &toml::de::Error)| *number < 3 || error.message().starts_with("unclosed");
    for (_, error) in errors.iter().enumerate().filter(telling) {
        reading.report(syntax::fault(error, table.get_ref(), text, Location { source, span: Span::default() }));
    }
    let span = table.span();
    let node = toml::Spanned::new(span, toml::de::DeValue::Table(table.into_inner()));
    File::decode(&node, reading)
}

/// The words that a remark or a strategy may be, for the editors' schema.
#[doc(hidden)]
pub fn closed_words() -> (&'static [Remark], &'static [Strategy]) {
    (Remark::ALL, Strategy::ALL)
}
