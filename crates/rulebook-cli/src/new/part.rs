//! New tables: where is another action, mode, dialect or guardrail declared?
//!
//! In: its kind and name, and a pack without faults.
//! Out: the pack with the new table beside others of its kind, in every list that has to name it; and a case.
//! Never: writes anything if the pack would have new faults.

use super::edits::Edits;
use super::{NewPart, case};
use crate::save::save;
use crate::{CommandOutput, Error, Format, OpenedPack, Status, parallel};
use rulebook::cases::{self, Case, CaseOptions, CaseVerdict};
use rulebook::program::{DeclarationKind, Permission};
use rulebook::{Checked, Code, Diagnostic, Folder, Program, Role, Sources};
use rulebook_fs::{CaseFile, folder_of};
use rulebook_report::Pen;
use std::collections::BTreeMap;
use toml_edit::{Array, InlineTable, Item, Table, Value, value};

pub(super) fn add(kind: DeclarationKind, part: &NewPart) -> Result<CommandOutput, Error> {
    let name = part.name.as_str();
    check_name(kind, name)?;
    let opened = OpenedPack::review(&part.pack)?;
    let program = opened.program(Format::Human)?;
    if let Some(at) = program.declared_at(kind, name) {
        let place = program.sources().place(at).map(|place| opened.pen.display_name(&place)).unwrap_or_default();
        return Err(Error::Failed(format!("the {} `{name}` is there already: {place}", kind.word())));
    }
    crate::declared("mode", part.mode.as_deref(), program.modes(), Format::Human)?;
    if kind == DeclarationKind::Mode && !program.declares_modes() {
        let help = "first declare `[modes.default]`, the mode of every session so far";
        return Err(Error::Failed(format!("the pack declares no modes yet: {help}")));
    }
    let mode = part.mode.clone().unwrap_or_else(|| program.session().mode);
    let mut best: Option<(Drafted, Attempt)> = None;
    for attempt in attempts(kind, name, program.action_like(&mode, name)) {
        let folder = &opened.files.folder;
        let name = attempt.name.as_str();
        if program.declared_at(kind, name).is_some() {
            continue;
        }
        let mut drafting = Drafting { folder, program, edits: Edits::of(folder), texts: BTreeMap::new() };
        drafting.declare(kind, name, part.mode.as_deref())?;
        if name != part.name {
            drafting.edits.set(&[kind.table(), name, "about"], value(sentence(&part.name)));
        }
        drafting.name_it(kind, name, part.mode.as_deref(), &mode)?;
        if attempt.permits_shared {
            drafting.permit_shared(name);
        }
        let goes = match &attempt.reached_by {
            ReachedBy::Nothing => Ok(()),
            ReachedBy::Action(action) if program.declared_at(DeclarationKind::Action, action).is_some() => continue,
            ReachedBy::Action(action) => drafting.exit_by_action(name, action, &mode),
            ReachedBy::Words => drafting.exit_by_words(name, &mode),
            ReachedBy::Block if calls(program, &mode) => continue,
            ReachedBy::Block => drafting.bind(name, &mode),
        };
        // The error of the first attempt is the one to report. If a later attempt fails, the next one is tried.
        match goes {
            Err(error) if best.is_none() => return Err(error),
            Err(_) => continue,
            Ok(()) => {}
        }
        let before = &opened.loaded.diagnostics;
        let mut drafted = drafting.check(before);
        if kind == DeclarationKind::Action && drafted.news.iter().any(|one| one.code == Code::PROMPT_UNEXPLAINED) {
            drafting.explain(name, &mode, drafted.loaded.value.as_ref())?;
            drafted = drafting.check(before);
        }
        if drafting.forget_unused(&drafted) {
            drafted = drafting.check(before);
        }
        if best.as_ref().is_none_or(|(best, _)| drafted.news.len() < best.news.len()) {
            best = Some((drafted, attempt));
        }
        if best.as_ref().is_some_and(|(best, _)| best.news.is_empty()) {
            break;
        }
    }
    let Some((drafted, attempt)) = best else { return Err(Error::Failed("there is nothing to add".to_owned())) };
    finish(kind, part, &attempt, &opened, &mode, drafted)
}

/// Whether a dialect of the mode has a block that is a call.
fn calls(program: &Program, mode: &str) -> bool {
    program.forms(mode).iter().flat_map(|form| &form.blocks).any(|block| block.role == Role::Call)
}

/// One attempt to add the new table: its name, and what refers to it.
struct Attempt {
    /// Its name in the pack.
    name: String,
    reached_by: ReachedBy,
    /// Whether a new mode permits every action that all other modes permit: prompts may have examples of these in every
    /// mode.
    permits_shared: bool,
}

/// What refers to the new table.
#[derive(Clone)]
enum ReachedBy {
    /// Nothing but the lists of its mode.
    Nothing,
    /// For a mode: an action of this name changes to it.
    Action(String),
    /// For a mode: words of the user change to it.
    Words,
    /// For an action: a block of its own.
    Block,
}

/// The attempts, the simplest first. Some packs need a transition to every mode, by an action whose name their grammars
/// can read, or by words of the user; others need none. If no answer can contain the name of an action, `like` is the
/// name in the form of those that answers can contain.
fn attempts(kind: DeclarationKind, name: &str, like: Option<String>) -> Vec<Attempt> {
    let plain = |reached_by| Attempt { name: name.to_owned(), reached_by, permits_shared: false };
    match kind {
        DeclarationKind::Mode => {
            let actions = entering_actions(name).into_iter().map(ReachedBy::Action);
            let all: Vec<ReachedBy> =
                std::iter::once(ReachedBy::Nothing).chain(actions).chain([ReachedBy::Words]).collect();
            let attempts = |permits_shared| {
                all.iter().map(move |reached_by| Attempt { permits_shared, ..plain(reached_by.clone()) })
            };
            attempts(false).chain(attempts(true)).collect()
        }
        DeclarationKind::Action => {
            let other = like.map(|name| Attempt { name, ..plain(ReachedBy::Nothing) });
            [plain(ReachedBy::Nothing)].into_iter().chain(other).chain([plain(ReachedBy::Block)]).collect()
        }
        DeclarationKind::Dialect | DeclarationKind::Guardrail => vec![plain(ReachedBy::Nothing)],
    }
}

/// Possible names for the action that changes to a mode.
fn entering_actions(mode: &str) -> [String; 4] {
    let words = format!("enter-{mode}");
    let joined = |between: &str| words.replace(['-', '_'], between);
    [joined("-"), joined("_"), joined(""), joined("_").to_uppercase()]
}

/// Adds the case and writes all files, or prints why the pack cannot have the table.
fn finish(
    kind: DeclarationKind,
    part: &NewPart,
    attempt: &Attempt,
    opened: &OpenedPack,
    mode: &str,
    drafted: Drafted,
) -> Result<CommandOutput, Error> {
    let Drafted { mut files, loaded, news } = drafted;
    let name = attempt.name.as_str();
    let pen = Pen::new(opened.files.paths.clone());
    let broken = news.iter().any(Diagnostic::is_error);
    let findings = pen.diagnostics(&loaded.sources, &news);
    let Some(program) = loaded.value.filter(|_| !broken) else {
        let fault = format!("with the new {} `{name}` the pack would have faults", kind.word());
        return Ok(CommandOutput::refused(pen.trouble(&fault) + "\n" + &findings, Status::Findings));
    };
    // The author decides about a claim, so a case is written only if an answer exercises the table.
    let mut unshown = String::new();
    match case::write(kind, name, mode, &program)? {
        Ok((path, _)) if opened.files.cases.iter().any(|case| case.name.ends_with(&format!("/{path}"))) => {
            return Err(Error::Failed(format!("the pack has a case `{path}` already")));
        }
        Ok((path, text)) => drop(files.insert(path, text)),
        Err(why) => unshown = format!("no case shows it: {why}\n"),
    }
    let folder = folder_of(&part.pack);
    let pack = folder.display();
    let written: String = files.keys().map(|path| format!("  {pack}/{path}\n")).collect();
    save(&folder, files.into_iter().collect())?;
    let renamed = match name == part.name {
        true => String::new(),
        false => format!(", since no answer could ask for `{}`", part.name),
    };
    let goes = match &attempt.reached_by {
        ReachedBy::Action(action) => format!(", and the action `{action}`, permitted in `{mode}`, which goes there"),
        ReachedBy::Words => format!(", and a rule by which words of the user go there from `{mode}`"),
        ReachedBy::Nothing | ReachedBy::Block => String::new(),
    };
    let kind = kind.word();
    let out = format!("added the {kind} `{name}`{renamed}{goes}:\n{written}{unshown}try `rulebook test {pack}`\n");
    let broken_cases = opened.loaded.value.as_ref().map(|before| broken_cases(&opened.files.cases, before, &program));
    let Some(broken_cases) = broken_cases.filter(|broken_cases| !broken_cases.is_empty()) else {
        // Warnings that the author may resolve, such as a text that a prompt needs.
        return Ok(CommandOutput { out, err: findings, status: Status::Clean });
    };
    let what = format!("with the new {} these cases fail, look at each", kind);
    let names: String = broken_cases.iter().map(|name| format!("  {}\n", pen.display_name(name))).collect();
    Ok(CommandOutput { out, err: findings + &pen.trouble(&what) + &names, status: Status::Findings })
}

/// The files of the cases that passed before and no longer do.
fn broken_cases<'c>(files: &'c [CaseFile], before: &Program, after: &Program) -> Vec<&'c str> {
    let holds = |program: &Program, case: &Case| {
        cases::run(program, case, CaseOptions::default()).verdict == CaseVerdict::Passed
    };
    let breaks = parallel::each("cases", files, |file| {
        let case = cases::parse(&mut Sources::default(), &file.name, &file.bytes).value;
        case.is_some_and(|case| holds(before, &case) && !holds(after, &case))
    });
    files.iter().zip(breaks).filter(|(_, breaks)| *breaks).map(|(file, _)| file.name.as_str()).collect()
}

fn check_name(kind: DeclarationKind, name: &str) -> Result<(), Error> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_allowed) && name.len() <= 60 {
        return Ok(());
    }
    let what = kind.word();
    Err(Error::Failed(format!("`{name}` cannot name a new {what}: use letters, digits, `_` and `-`, a letter first")))
}

/// A pack with the edits so far.
struct Drafting<'d> {
    folder: &'d Folder,
    program: &'d Program,
    edits: Edits<'d>,
    /// New files by their paths.
    texts: BTreeMap<String, String>,
}

/// The files that change, the resulting pack, and its new findings.
struct Drafted {
    files: BTreeMap<String, String>,
    loaded: Checked<Program>,
    news: Vec<Diagnostic>,
}

impl Drafting<'_> {
    /// Adds the table after the last one of its kind; if `only` names a mode, for that mode.
    fn declare(&mut self, kind: DeclarationKind, name: &str, only: Option<&str>) -> Result<(), Error> {
        let only = only.filter(|mode| self.program.modes().any(|known| known == *mode));
        let message = self.program.required_message(only).filter(|message| *message != name);
        match kind {
            DeclarationKind::Action => self.edits.insert(kind.table(), name, action(name)),
            DeclarationKind::Mode => self.edits.insert(kind.table(), name, mode()),
            DeclarationKind::Dialect => self.edits.insert(kind.table(), name, dialect(name, message)),
            DeclarationKind::Guardrail => self.edits.append(kind.table(), guardrail(name, only)),
        }
    }

    /// Adds the name to the lists that it has to be in to take effect.
    fn name_it(&mut self, kind: DeclarationKind, name: &str, only: Option<&str>, mode: &str) -> Result<(), Error> {
        match kind {
            // A pack without modes permits nothing, so its implicit mode is declared with the permit.
            DeclarationKind::Action if !self.program.declares_modes() => {
                let mut table = self::mode();
                table.insert("permits", value(Array::from_iter([name])));
                self.edits.insert(DeclarationKind::Mode.table(), mode, table)
            }
            DeclarationKind::Action => self.edits.push(&["modes", mode, "permits"], name, true),
            DeclarationKind::Mode => {
                self.texts = self.texts_of(name, mode);
                self.edits.layers_of_modes(name)
            }
            DeclarationKind::Dialect => match only.filter(|only| self.program.modes().any(|mode| mode == *only)) {
                Some(own) => {
                    let program = self.program;
                    let known = program.dialects_in(own);
                    let is_read = |name: &&str| program.modes().any(|mode| program.dialects_in(mode).contains(name));
                    let all: Vec<&str> = program.dialects().filter(is_read).collect();
                    // Without a list, a mode reads the dialects of the pack. Both lists are written, so that only this
                    // mode reads the new dialect.
                    self.edits.list(&["pack", "dialects"], Some(&all), None)?;
                    self.edits.list(&["modes", mode, "dialects"], Some(&known), Some(name))
                }
                None => {
                    self.edits.push(&["pack", "dialects"], name, false)?;
                    self.edits.push(&["modes", mode, "dialects"], name, false)
                }
            },
            _ => Ok(()),
        }
    }

    /// Adds a transition to a new mode: an exit of the mode `mode`, and an action that takes it. A session may end in
    /// the new mode.
    fn exit_by_action(&mut self, name: &str, action: &str, mode: &str) -> Result<(), Error> {
        let mut go = InlineTable::new();
        go.insert("go", name.into());
        self.edits.push(&["modes", mode, "exits"], name, true)?;
        self.declare(DeclarationKind::Action, action, None)?;
        self.edits.set(&["actions", action, "effects"], value(Array::from_iter([go])));
        self.edits.set(&["modes", name, "final"], value(true));
        self.edits.push(&["modes", mode, "permits"], action, true)
    }

    /// Permits in a new mode every action that all other modes permit.
    fn permit_shared(&mut self, name: &str) {
        let mut shared: BTreeMap<String, bool> = BTreeMap::new();
        for cell in self.program.permit_table() {
            *shared.entry(cell.name).or_insert(true) &= !matches!(cell.permission, Permission::Forbidden);
        }
        let all = shared.into_iter().filter(|(_, permitted)| *permitted).map(|(action, _)| action);
        self.edits.set(&["modes", name, "permits"], value(all.collect::<Array>()));
    }

    /// Adds a transition to a new mode by words of the user: an input before all others, a rule, and an exit of the
    /// mode `mode`. A session may end in the new mode.
    fn exit_by_words(&mut self, name: &str, mode: &str) -> Result<(), Error> {
        let mut input = Table::new();
        input.insert("class", value(name));
        input.insert("in", value(mode));
        let words: Vec<&str> = name.split(['-', '_']).collect();
        let pattern = format!("'(?i)\\A\\W*{}\\W*\\z'", words.join("\\W"));
        input.insert("matches", pattern.parse::<Value>().map_or_else(|_| value(name), Item::Value));
        self.edits.prepend("inputs", input)?;
        let mut go = InlineTable::new();
        go.insert("go", name.into());
        let mut rule = Table::new();
        rule.insert("id", value(format!("enter-{name}")));
        rule.insert("on", value(format!("input.{name}")));
        rule.insert("effects", value(Array::from_iter([go])));
        self.edits.append("rules", rule)?;
        self.edits.set(&["modes", name, "final"], value(true));
        self.edits.push(&["modes", mode, "exits"], name, true)
    }

    /// Adds a block that calls a new action, written in tags, to the first dialect of a mode.
    fn bind(&mut self, name: &str, mode: &str) -> Result<(), Error> {
        let dialects = self.program.dialects_in(mode);
        let Some(dialect) = dialects.first() else { return Ok(()) };
        self.edits.list(&["dialects", dialect, "grammar"], Some(&[]), Some("tags"))?;
        let mut block = InlineTable::new();
        block.insert("role", "call".into());
        block.insert("grammar", "tags".into());
        block.insert("payload", "tags".into());
        self.edits.set(&["dialects", dialect, "blocks", name], value(block));
        Ok(())
    }

    /// A file for the new mode for each file of the prompts that has the name of the other mode.
    fn texts_of(&self, name: &str, mode: &str) -> BTreeMap<String, String> {
        let paths = self.program.prompt_files_in(mode).into_iter();
        // A file or folder that has the name of the mode, with any extension.
        let called = |part: &str| part.strip_prefix(mode).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let own = paths.filter(|path| path.rsplit('/').next().is_some_and(called));
        let named = |part: &str| if called(part) { part.replacen(mode, name, 1) } else { part.to_owned() };
        let path = |path: &str| path.split('/').map(named).collect::<Vec<_>>().join("/");
        own.map(|own| (path(own), format!("The mode is {name}.\n"))).collect()
    }

    /// Adds an example of a new action to the pack's first prompt: a layer with a file of its own.
    fn explain(&mut self, name: &str, mode: &str, drafted: Option<&Program>) -> Result<(), Error> {
        let (Some(prompt), Some(drafted)) = (self.program.own_prompt(), drafted) else { return Ok(()) };
        let example =
            drafted.action_forms(mode).into_iter().find(|form| form.name == name).and_then(|form| form.example);
        let Some(example) = example else { return Ok(()) };
        let files = drafted.prompt_files_in(mode);
        let folder = files.iter().find_map(|file| file.split_once('/')).map_or("prompt", |(folder, _)| folder);
        let path = format!("{folder}/{}.md", name.to_lowercase());
        let mut layer = Table::new();
        layer.insert("id", value(name));
        layer.insert("text", value(&path));
        if self.program.modes().nth(1).is_some() {
            layer.insert("in", value(Array::from_iter([mode])));
        }
        self.edits.layer(prompt, layer)?;
        self.texts.insert(path, format!("## {name}\n\n{}:\n\n```\n{example}\n```\n", sentence(name)));
        Ok(())
    }

    /// Removes the new files that no prompt uses. Returns whether there were any.
    fn forget_unused(&mut self, drafted: &Drafted) -> bool {
        let known = self.texts.len();
        let unused: Vec<&Diagnostic> = drafted.news.iter().filter(|one| one.code == Code::PACK_UNUSED_FILE).collect();
        let names = |path: &String| unused.iter().any(|one| one.message.to_string().contains(&format!("`{path}`")));
        self.texts.retain(|path, _| !names(path));
        self.texts.len() < known
    }

    /// The resulting pack, with its findings that are not among those `before`.
    fn check(&self, before: &[Diagnostic]) -> Drafted {
        let is_new = |(path, _): &(&String, &String)| !self.folder.files.contains_key(*path);
        let texts = self.texts.iter().filter(is_new).map(|(path, text)| (path, text.clone()));
        let files: BTreeMap<String, String> =
            self.edits.texts().chain(texts).map(|(path, text)| (path.clone(), text)).collect();
        let mut folder = self.folder.clone();
        folder.files.extend(files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())));
        let loaded = rulebook::check::review(&folder);
        let known = |one: &Diagnostic| before.iter().any(|old| (&old.code, &old.message) == (&one.code, &one.message));
        let news = loaded.diagnostics.iter().filter(|one| !known(one)).cloned().collect();
        Drafted { files, loaded, news }
    }
}

fn action(name: &str) -> Table {
    let mut effect = InlineTable::new();
    effect.insert("emit", name.into());
    let mut table = Table::new();
    table.insert("about", value(sentence(name)));
    table.insert("effects", value(Array::from_iter([effect])));
    table
}

fn mode() -> Table {
    let mut table = Table::new();
    table.insert("permits", value(Array::new()));
    table
}

/// The table of a dialect. `counts_as` is the name of the message block, if replies require one of that name.
fn dialect(name: &str, counts_as: Option<&str>) -> Table {
    let mut message = InlineTable::new();
    message.insert("role", "message".into());
    counts_as.into_iter().for_each(|word| drop(message.insert("name", word.into())));
    let mut blocks = InlineTable::new();
    blocks.insert(name, Value::InlineTable(message));
    let mut table = Table::new();
    table.insert("grammar", value("tags"));
    table.insert("needs", value(Array::from_iter([name])));
    table.insert("blocks", value(blocks));
    table
}

fn guardrail(name: &str, only: Option<&str>) -> Table {
    let mut table = Table::new();
    table.insert("id", value(name));
    table.insert("on", value("message"));
    only.into_iter().for_each(|mode| drop(table.insert("in", value(mode))));
    let words: Vec<&str> = name.split(['-', '_']).collect();
    let pattern = format!("'(?i)\\b{}\\b'", words.join("\\W"));
    table.insert("matches", pattern.parse::<Value>().map_or_else(|_| value(name), Item::Value));
    table.insert("advice", value("say it in other words"));
    table
}

/// The words of a name, with a capital letter at the start.
fn sentence(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
