//! New tables: where does one more action, mode, dialect or guardrail stand?
//!
//! In: its kind and name, and a pack without faults.
//! Out: the pack's file that holds its like with one table more, every list that has to name it, and a case.
//! Never: writes anything unless the pack checks as it did before and the case passes.

use super::{Kind, NewPart, case};
use crate::cases::{self, Case, CaseOptions, CaseVerdict};
use crate::cli::save::save;
use crate::cli::{Error, Format, OpenedPack, Printed, Status, parallel};
use crate::diagnostic::Diagnostic;
use crate::lint;
use crate::program::{LayerSource, Loaded, Program};
use crate::report::Pen;
use crate::surface::Folder;
use crate::text::{Location, Sources, saved_like};
use crate::workspace::{CaseFile, folder_of};
use std::collections::BTreeMap;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

pub(super) fn add(kind: Kind, part: &NewPart) -> Result<Printed, Error> {
    let name = part.name.as_str();
    check_name(kind, name)?;
    let opened = OpenedPack::review(&part.pack)?;
    let program = opened.program(Format::Human)?;
    if let Some(at) = declared(program, kind, name) {
        let place = program.sources().place_name(at).map(|place| opened.pen.shown(&place)).unwrap_or_default();
        return Err(Error::Usage(format!("the {} `{name}` is there already: {place}", kind.word())));
    }
    crate::cli::declared("mode", part.mode.as_deref(), program.modes(), Format::Human)?;
    let mode = part.mode.clone().unwrap_or_else(|| program.session().mode);
    let mut best: Option<(usize, Drafted)> = None;
    // A mode that nothing leads to is a fault in some packs and the whole of others. What leads there has a name that the
    // pack's grammars read, if there is one.
    let leads = if kind == Kind::Mode { leads_to(name).map(Some).into() } else { Vec::new() };
    for action in std::iter::once(None).chain(leads) {
        let mut drafting =
            Drafting { folder: &opened.files.folder, program, files: BTreeMap::new(), texts: BTreeMap::new() };
        drafting.declare(kind, name, part.mode.as_deref())?;
        drafting.name_it(kind, name, part.mode.as_deref(), &mode)?;
        if let Some(action) = action {
            if declared(program, Kind::Action, &action).is_some() {
                continue;
            }
            drafting.lead(name, &action, &mode)?;
        }
        let drafted = drafting.check(&opened.loaded.diagnostics);
        if best.as_ref().is_none_or(|(news, _)| drafted.news.len() < *news) {
            best = Some((drafted.news.len(), drafted));
        }
    }
    let Some((_, drafted)) = best else { return Err(Error::Usage("there is nothing to add".to_owned())) };
    finish(kind, part, &opened, &mode, drafted)
}

/// What the action may be called that leads to a mode.
fn leads_to(mode: &str) -> [String; 4] {
    let words = format!("enter-{mode}");
    let joined = |between: &str| words.replace(['-', '_'], between);
    [joined("-"), joined("_"), joined(""), joined("_").to_uppercase()]
}

/// Adds the case and writes everything, or says why the pack cannot have it.
fn finish(kind: Kind, part: &NewPart, opened: &OpenedPack, mode: &str, drafted: Drafted) -> Result<Printed, Error> {
    let Drafted { mut files, loaded, news } = drafted;
    let pen = Pen::new(opened.files.paths.clone());
    let broken = news.iter().any(Diagnostic::is_error);
    let told = pen.diagnostics(&loaded.sources, &news);
    let Some(program) = loaded.program.filter(|_| !broken) else {
        let fault = format!("with the new {} `{}` the pack would have faults", kind.word(), part.name);
        return Ok(Printed::refused(pen.trouble(&fault) + "\n" + &told, Status::Findings));
    };
    // A case claims nothing that nobody has seen.
    let mut unshown = String::new();
    match case::write(kind, &part.name, mode, &program)? {
        Ok((path, _)) if opened.files.cases.iter().any(|case| case.name.ends_with(&format!("/{path}"))) => {
            return Err(Error::Usage(format!("the pack has a case `{path}` already")));
        }
        Ok((path, text)) => drop(files.insert(path, text)),
        Err(why) => unshown = format!("no case shows it: {why}\n"),
    }
    let folder = folder_of(&part.pack);
    let pack = folder.display();
    let written: String = files.keys().map(|path| format!("  {pack}/{path}\n")).collect();
    save(&folder, files.into_iter().collect())?;
    let out = format!("added the {} `{}`:\n{written}{unshown}try `rulebook test {pack}`\n", kind.word(), part.name);
    let lost = opened.loaded.program.as_ref().map(|before| lost(&opened.files.cases, before, &program));
    let Some(lost) = lost.filter(|lost| !lost.is_empty()) else {
        // What is left to do, such as a word in a prompt.
        return Ok(Printed { out, err: told, status: Status::Clean });
    };
    let what = format!("with the new {} these cases no longer hold, look at each", kind.word());
    let names: String = lost.iter().map(|name| format!("  {}\n", pen.shown(name))).collect();
    Ok(Printed { out, err: told + &pen.trouble(&what) + &names, status: Status::Findings })
}

/// The files of the cases that held before and do not any more.
fn lost<'c>(files: &'c [CaseFile], before: &Program, after: &Program) -> Vec<&'c str> {
    let holds = |program: &Program, case: &Case| {
        cases::run(program, case, CaseOptions::default()).verdict == CaseVerdict::Passed
    };
    let breaks = parallel::each("cases", files, |file| {
        let case = cases::parse(&mut Sources::default(), &file.name, &file.bytes).value;
        case.is_some_and(|case| holds(before, &case) && !holds(after, &case))
    });
    files.iter().zip(breaks).filter(|(_, breaks)| *breaks).map(|(file, _)| file.name.as_str()).collect()
}

fn check_name(kind: Kind, name: &str) -> Result<(), Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits) && name.len() <= 60 {
        return Ok(());
    }
    let what = kind.word();
    Err(Error::Usage(format!("`{name}` cannot name a new {what}: use letters, digits, `_` and `-`, a letter first")))
}

fn declared(program: &Program, kind: Kind, name: &str) -> Option<Location> {
    match kind {
        Kind::Action => program.actions.get(name).map(|action| action.at),
        Kind::Mode => program.modes.get(name).map(|mode| mode.at),
        Kind::Dialect => program.dialects.iter().find(|dialect| dialect.name == name).map(|dialect| dialect.at),
        Kind::Guardrail => program.guardrails.rules.iter().find(|rule| rule.id == name).map(|rule| rule.at),
    }
}

/// Files of a pack as they will be.
struct Drafting<'d> {
    folder: &'d Folder,
    program: &'d Program,
    files: BTreeMap<String, DocumentMut>,
    /// Files that are new.
    texts: BTreeMap<String, String>,
}

/// The files that change, what the pack becomes with them, and what it has that it did not have before.
struct Drafted {
    files: BTreeMap<String, String>,
    loaded: Loaded,
    news: Vec<Diagnostic>,
}

impl Drafting<'_> {
    /// Puts the table of the new name behind the last of its like, for one mode `only` where that is asked.
    fn declare(&mut self, kind: Kind, name: &str, only: Option<&str>) -> Result<(), Error> {
        let path = self.file_of(kind.table());
        let modes = &self.program.modes;
        let only = only.filter(|mode| modes.contains_key(*mode));
        let mut replies =
            modes.iter().filter(|(mode, _)| only.is_none_or(|only| only == *mode)).map(|(_, mode)| &mode.reply);
        let message = replies.find_map(|reply| reply.counts.iter().find(|count| count.message && count.required));
        let message = message.map(|count| count.name.clone()).filter(|message| message != name);
        let document = self.document(&path)?;
        if kind == Kind::Guardrail {
            let list = document.entry(kind.table()).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            let mut entry = guardrail(name, only);
            match list {
                Item::ArrayOfTables(tables) => {
                    entry.decor_mut().set_prefix("\n");
                    tables.push(entry);
                }
                Item::Value(Value::Array(entries)) => entries.push(entry.into_inline_table()),
                _ => return Err(unexpected(&path, kind.table())),
            }
            return Ok(());
        }
        let mut table = match kind {
            Kind::Action => action(name),
            Kind::Mode => mode(),
            _ => dialect(name, message.as_deref()),
        };
        table.decor_mut().set_prefix("\n");
        let all = document.entry(kind.table()).or_insert_with(|| {
            let mut all = Table::new();
            all.set_implicit(true);
            Item::Table(all)
        });
        match all {
            Item::Table(all) => drop(all.insert(name, Item::Table(table))),
            Item::Value(Value::InlineTable(all)) => {
                drop(all.insert(name, Value::InlineTable(table.into_inline_table())))
            }
            _ => return Err(unexpected(&path, kind.table())),
        }
        Ok(())
    }

    /// Writes the new name into the lists without which it would mean nothing.
    fn name_it(&mut self, kind: Kind, name: &str, only: Option<&str>, mode: &str) -> Result<(), Error> {
        match kind {
            Kind::Action if !self.program.modes.is_empty() => self.push(&["modes", mode, "permits"], name, true),
            Kind::Mode => {
                self.texts = self.texts_of(name, mode);
                Ok(())
            }
            Kind::Dialect => match only.and_then(|only| self.program.modes.get(only)) {
                Some(own) => {
                    let program = self.program;
                    let known: Vec<&str> = program.dialects_of(own).map(|dialect| dialect.name.as_str()).collect();
                    let all: Vec<&str> = program.dialects().collect();
                    // Without a list, the pack reads all that there are, and the mode what the pack reads.
                    self.list(&["pack", "dialects"], Some(&all), None)?;
                    self.list(&["modes", mode, "dialects"], Some(&known), Some(name))
                }
                None => {
                    self.push(&["pack", "dialects"], name, false)?;
                    self.push(&["modes", mode, "dialects"], name, false)
                }
            },
            _ => Ok(()),
        }
    }

    /// Makes a way into a new mode: an exit of another, and an action that goes there. There it may end.
    fn lead(&mut self, name: &str, action: &str, mode: &str) -> Result<(), Error> {
        let mut go = InlineTable::new();
        go.insert("go", name.into());
        self.push(&["modes", mode, "exits"], name, true)?;
        self.declare(Kind::Action, action, None)?;
        self.set(&["actions", action, "effects"], value(Array::from_iter([go])))?;
        self.set(&["modes", name, "final"], value(true))?;
        self.push(&["modes", mode, "permits"], action, true)
    }

    /// A text for each that the prompts have for one mode alone.
    fn texts_of(&self, name: &str, mode: &str) -> BTreeMap<String, String> {
        let number = self.program.mode_id(mode);
        let layers = self.program.prompts.prompts.values().flat_map(|prompt| &prompt.layers);
        let variants = layers.flat_map(|layer| match &layer.holds {
            LayerSource::Files { variants, .. } => variants.as_slice(),
            _ => &[],
        });
        let texts = variants.filter_map(|variant| variant.texts.get(number?.0).copied().flatten());
        let paths = texts.filter_map(|text| Some(self.program.prompts.texts.get(text)?.path.as_str()));
        let own = paths.filter(|path| path.rsplit('/').next().is_some_and(|file| file.starts_with(mode)));
        own.map(|path| (path.replace(mode, name), format!("The mode is {name}.\n"))).collect()
    }

    fn set(&mut self, keys: &[&str], item: Item) -> Result<(), Error> {
        let [parents @ .., key] = keys else { return Ok(()) };
        for document in self.files.values_mut() {
            let mut place: Option<&mut dyn TableLike> = Some(document.as_table_mut());
            for parent in parents {
                place = place.and_then(|table| table.get_mut(parent)).and_then(Item::as_table_like_mut);
            }
            if let Some(table) = place {
                table.insert(key, item);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds a word to the list at `keys`; without a list, makes one where that is wanted.
    fn push(&mut self, keys: &[&str], word: &str, makes: bool) -> Result<(), Error> {
        self.list(keys, Some(&[][..]).filter(|_| makes), Some(word))
    }

    /// Adds a word to the list at `keys`; without a list, makes one of these words, if any, and that.
    fn list(&mut self, keys: &[&str], made: Option<&[&str]>, word: Option<&str>) -> Result<(), Error> {
        let [parents @ .., key] = keys else { return Ok(()) };
        for path in self.tables() {
            let document = self.document(&path)?;
            let mut place: Option<&mut dyn TableLike> = Some(document.as_table_mut());
            for parent in parents {
                place = place.and_then(|table| table.get_mut(parent)).and_then(Item::as_table_like_mut);
            }
            let Some(table) = place else { continue };
            match table.get_mut(key).map(Item::as_array_mut) {
                Some(Some(list)) => word.into_iter().for_each(|word| append(list, word)),
                Some(None) => return Err(unexpected(&path, key)),
                None => {
                    let made = made.map(|made| made.iter().copied().chain(word).collect::<Array>());
                    made.into_iter().for_each(|made| drop(table.insert(key, value(made))));
                }
            }
            return Ok(());
        }
        match word.filter(|_| made.is_some()) {
            None => Ok(()),
            Some(word) => {
                let table = parents.join(".");
                Err(Error::Usage(format!("`{table}` stands in no file of this pack: add `{word}` there by hand")))
            }
        }
    }

    /// The TOML files of the pack, those that were touched first.
    fn tables(&self) -> Vec<String> {
        let own = self.folder.files.keys().filter(|path| path.ends_with(".toml"));
        self.files.keys().chain(own).cloned().collect()
    }

    /// The file that holds tables of this kind: the last of them, else `pack.toml`.
    fn file_of(&self, table: &str) -> String {
        let holds = |path: &&String| {
            let document = self.text(path).and_then(|text| text.parse::<DocumentMut>().ok());
            document.is_some_and(|document| document.contains_key(table))
        };
        let tables = self.tables();
        tables.iter().rev().find(holds).cloned().unwrap_or_else(|| "pack.toml".to_owned())
    }

    fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.folder.files.get(path)?).ok()
    }

    fn document(&mut self, path: &str) -> Result<&mut DocumentMut, Error> {
        let text = self.text(path).unwrap_or_default();
        let parsed = match self.files.contains_key(path) {
            true => DocumentMut::new(),
            false => text.parse().map_err(|error| Error::Usage(format!("cannot read `{path}`: {error}")))?,
        };
        Ok(self.files.entry(path.to_owned()).or_insert(parsed))
    }

    /// What the pack becomes.
    fn check(self, before: &[Diagnostic]) -> Drafted {
        let mut folder = self.folder.clone();
        let mut files = BTreeMap::new();
        for (path, document) in &self.files {
            let old = self.text(path).unwrap_or_default();
            let new = saved_like(old, &document.to_string());
            if new != old {
                folder.files.insert(path.clone(), new.clone().into_bytes());
                files.insert(path.clone(), new);
            }
        }
        for (path, text) in self.texts.iter().filter(|(path, _)| !self.folder.files.contains_key(*path)) {
            folder.files.insert(path.clone(), text.clone().into_bytes());
            files.insert(path.clone(), text.clone());
        }
        let loaded = lint::check(&folder);
        let known = |one: &Diagnostic| before.iter().any(|old| (&old.code, &old.message) == (&one.code, &one.message));
        let news = loaded.diagnostics.iter().filter(|one| !known(one)).cloned().collect();
        Drafted { files, loaded, news }
    }
}

fn unexpected(path: &str, key: &str) -> Error {
    Error::Usage(format!("`{key}` in `{path}` has a shape that this cannot add to: do it by hand"))
}

/// Adds a word to a list, on a line of its own where the others stand so.
fn append(list: &mut Array, word: &str) {
    let prefix = list.iter().last().and_then(|last| last.decor().prefix()).and_then(|prefix| prefix.as_str());
    let mut value = Value::from(word);
    let prefix = prefix.filter(|prefix| prefix.contains('\n') && prefix.trim().is_empty());
    match prefix {
        Some(prefix) => value.decor_mut().set_prefix(prefix),
        None if !list.is_empty() => value.decor_mut().set_prefix(" "),
        None => {}
    }
    list.push_formatted(value);
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

/// `counts_as` is what the shape of a reply calls the message.
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

/// The words of a name as the start of a sentence.
fn sentence(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
