//! Edits: how are tables and list entries added to the TOML files of a pack?
//!
//! In: the files, and the tables and words to add.
//! Out: the text of each file that changes; everything else in it stays as it is.
//! Never: interprets a table, or writes a file.

use crate::Error;
use rulebook::Folder;
use rulebook::text::saved_like;
use std::collections::BTreeMap;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value, value};

/// The TOML files of a pack with the changes so far.
pub(super) struct Edits<'f> {
    folder: &'f Folder,
    /// The files that have been edited.
    files: BTreeMap<String, DocumentMut>,
}

impl<'f> Edits<'f> {
    pub(super) fn of(folder: &'f Folder) -> Self {
        Self { folder, files: BTreeMap::new() }
    }

    /// Adds a table at the end of the list `all`.
    pub(super) fn append(&mut self, all: &str, mut entry: Table) -> Result<(), Error> {
        let path = self.file_of(all);
        let list = self.document(&path)?.entry(all).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        match list {
            Item::ArrayOfTables(tables) => {
                entry.decor_mut().set_prefix("\n");
                tables.push(entry);
            }
            Item::Value(Value::Array(entries)) => entries.push(entry.into_inline_table()),
            _ => return Err(unexpected(&path, all)),
        }
        Ok(())
    }

    /// Adds a table at the start of the list `all`. The head of the file stays above the new table; a comment directly
    /// above the entry that was first stays with that entry.
    pub(super) fn prepend(&mut self, all: &str, mut entry: Table) -> Result<(), Error> {
        let path = self.file_of(all);
        let Some(Item::ArrayOfTables(tables)) = self.document(&path)?.get_mut(all) else {
            return self.append(all, entry);
        };
        let Some(first) = tables.iter_mut().next() else { return self.append(all, entry) };
        entry.set_position(first.position());
        let above = first.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned();
        let own = above.rfind("\n\n").map_or(above.len(), |blank| blank + 1);
        let (head, own) = above.split_at_checked(own).unwrap_or((&above, ""));
        entry.decor_mut().set_prefix([head, "\n"].concat());
        first.decor_mut().set_prefix(if own.is_empty() { "\n" } else { own });
        let rest: Vec<Table> = std::mem::take(tables).into_iter().collect();
        tables.push(entry);
        rest.into_iter().for_each(|table| tables.push(table));
        Ok(())
    }

    /// Adds a named table after the last one in the table `all`.
    pub(super) fn insert(&mut self, all: &str, name: &str, mut table: Table) -> Result<(), Error> {
        let path = self.file_of(all);
        table.decor_mut().set_prefix("\n");
        let tables = self.document(&path)?.entry(all).or_insert_with(|| {
            let mut tables = Table::new();
            tables.set_implicit(true);
            Item::Table(tables)
        });
        match tables {
            Item::Table(tables) => drop(tables.insert(name, Item::Table(table))),
            Item::Value(Value::InlineTable(tables)) => {
                drop(tables.insert(name, Value::InlineTable(table.into_inline_table())))
            }
            _ => return Err(unexpected(&path, all)),
        }
        Ok(())
    }

    /// Adds a mode to the `in` of each layer whose file has `{{mode}}` in its name, if the layer has a list of modes.
    pub(super) fn layers_of_modes(&mut self, mode: &str) -> Result<(), Error> {
        let own = |layer: &dyn TableLike| {
            let text = ["text", "template"].into_iter().find_map(|key| layer.get(key)?.as_str());
            text.is_some_and(|text| text.replace(' ', "").contains("{{mode}}"))
        };
        for path in self.tables() {
            let Some(prompts) = table_at(self.document(&path)?, &["prompts"]) else { continue };
            for (_, prompt) in prompts.iter_mut() {
                let layers: Vec<&mut dyn TableLike> =
                    match prompt.as_table_like_mut().and_then(|it| it.get_mut("layers")) {
                        Some(Item::ArrayOfTables(layers)) => {
                            layers.iter_mut().map(|one| one as &mut dyn TableLike).collect()
                        }
                        Some(Item::Value(Value::Array(layers))) => layers
                            .iter_mut()
                            .filter_map(|one| one.as_inline_table_mut().map(|one| one as &mut dyn TableLike))
                            .collect(),
                        _ => continue,
                    };
                for layer in layers.into_iter().filter(|one| own(*one)) {
                    layer.get_mut("in").and_then(Item::as_array_mut).into_iter().for_each(|list| add_word(list, mode));
                }
            }
        }
        Ok(())
    }

    /// Adds a layer to a prompt, before the first layer with a `source`, such as the history.
    pub(super) fn layer(&mut self, prompt: &str, mut layer: Table) -> Result<(), Error> {
        for path in self.tables() {
            let Some(table) = table_at(self.document(&path)?, &["prompts", prompt]) else { continue };
            match table.get_mut("layers") {
                Some(Item::ArrayOfTables(layers)) => {
                    let all: Vec<Table> = std::mem::take(layers).into_iter().collect();
                    let place = all.iter().position(|one| one.contains_key("source")).unwrap_or(all.len());
                    layer.decor_mut().set_prefix("\n");
                    layer.set_position(all.get(place).or(all.last()).and_then(Table::position));
                    for (number, one) in all.into_iter().enumerate() {
                        if number == place {
                            layers.push(layer.clone());
                        }
                        layers.push(one);
                    }
                    if place == layers.len() {
                        layers.push(layer);
                    }
                }
                Some(Item::Value(Value::Array(layers))) => {
                    let says = |one: &Value| one.as_inline_table().is_some_and(|one| one.contains_key("source"));
                    let place = layers.iter().position(says).unwrap_or(layers.len());
                    layers.insert(place, layer.into_inline_table());
                }
                _ => return Err(unexpected(&path, "layers")),
            }
            return Ok(());
        }
        Ok(())
    }

    /// Sets the value at the path `keys`, in the first edited file that has its table.
    pub(super) fn set(&mut self, keys: &[&str], item: Item) {
        let Some((key, parents)) = keys.split_last() else { return };
        if let Some(table) = self.files.values_mut().find_map(|document| table_at(document, parents)) {
            table.insert(key, item);
        }
    }

    /// Adds a word to the list at `keys`. If there is no list and `makes` is set, a new one has only this word.
    pub(super) fn push(&mut self, keys: &[&str], word: &str, makes: bool) -> Result<(), Error> {
        self.list(keys, Some(&[][..]).filter(|_| makes), Some(word))
    }

    /// Adds a word to the list at `keys`. If there is no list and `made` is given, a new one has the words of `made`
    /// and this word.
    pub(super) fn list(&mut self, keys: &[&str], made: Option<&[&str]>, word: Option<&str>) -> Result<(), Error> {
        let Some((key, parents)) = keys.split_last() else { return Ok(()) };
        for path in self.tables() {
            let Some(table) = table_at(self.document(&path)?, parents) else { continue };
            match table.get_mut(key).map(Item::as_array_mut) {
                Some(Some(list)) if word.is_some_and(|word| list.iter().any(|one| one.as_str() == Some(word))) => {}
                Some(Some(list)) => word.into_iter().for_each(|word| add_word(list, word)),
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
                Err(Error::Failed(format!("`{table}` is in no file of this pack: add `{word}` there by hand")))
            }
        }
    }

    /// The files whose text has changed.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&String, String)> {
        self.files.iter().filter_map(|(path, document)| {
            let old = self.text(path).unwrap_or_default();
            let new = saved_like(old, &document.to_string());
            (new != old).then_some((path, new))
        })
    }

    /// The TOML files of the pack, the edited ones first.
    fn tables(&self) -> Vec<String> {
        let own = self.folder.files.keys().filter(|path| path.ends_with(".toml"));
        self.files.keys().chain(own).cloned().collect()
    }

    /// The last file that has the key `table` at the top level, or else `pack.toml`.
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
            false => text.parse().map_err(|error| Error::Failed(format!("cannot read `{path}`: {error}")))?,
        };
        Ok(self.files.entry(path.to_owned()).or_insert(parsed))
    }
}

/// The table at the path `keys`.
fn table_at<'d>(document: &'d mut DocumentMut, keys: &[&str]) -> Option<&'d mut dyn TableLike> {
    let root: &mut dyn TableLike = document.as_table_mut();
    keys.iter().try_fold(root, |table, key| table.get_mut(key)?.as_table_like_mut())
}

fn unexpected(path: &str, key: &str) -> Error {
    Error::Failed(format!("`{key}` in `{path}` has a shape that this cannot add to: do it by hand"))
}

/// Adds a word to a list, on its own line if the others are.
fn add_word(list: &mut Array, word: &str) {
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
