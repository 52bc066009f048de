//! New packs: which files does a new pack have?
//!
//! In: the path of a folder that does not exist yet; optionally a shipped dialect, or a shipped pack to copy.
//! Out: the folder of a small pack without findings and with cases that pass, or of a copy of the shipped pack.
//! Never: changes existing files.
#![expect(clippy::disallowed_methods, reason = "the command creates the folder of the pack")]

use super::{NewPack, tools};
use crate::save::{cannot_write, save};
use crate::{CommandOutput, Error, Status};
use rulebook::schemas;
use rulebook::surface::{shipped_instead, shipped_pack, std_name};
use rulebook_report::Pen;
use std::fs;

const PACK: &str = include_str!("../scaffold/pack.toml");
const FILES: &[(&str, &str)] = &[
    ("tests/a-note-is-kept.case", include_str!("../scaffold/a-note-is-kept.case")),
    ("tests/an-unknown-action-is-dropped.case", include_str!("../scaffold/an-unknown-action-is-dropped.case")),
];

pub(super) fn make(pack: &NewPack) -> Result<CommandOutput, Error> {
    let folder = pack.folder.as_path();
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_allowed) {
        let message = format!("`{}` cannot name a pack: use a-z, 0-9 and hyphens between them", folder.display());
        return Err(Error::Failed(message));
    }
    if folder.symlink_metadata().is_ok() {
        return Err(Error::Failed(format!("`{}` is already there", folder.display())));
    }
    let mut left_out = Vec::new();
    let mut files = match (&pack.copy, &pack.dialect) {
        (Some(shipped), _) => copied(shipped, name)?,
        (None, Some(dialect)) => {
            let made = tools::pack(name, read_calls(shipped(dialect)?)?, pack.tools.as_deref())?;
            left_out = made.left_out;
            made.files
        }
        (None, None) => {
            let own = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            own.chain([("pack.toml".to_owned(), PACK.replace("NAME", name))]).collect()
        }
    };
    let schema = schemas::of("pack").map(|one| one.text).unwrap_or_default();
    files.push(("pack.schema.json".to_owned(), schema.to_owned()));
    let has_cases = files.iter().any(|(path, _)| path.ends_with(".case"));
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    save(folder, files)?;
    let displayed = folder.display();
    let next = if has_cases { "test" } else { "check" };
    let made = CommandOutput::new(format!("made `{displayed}`; try `rulebook {next} {displayed}`\n"), Status::Clean);
    Ok(CommandOutput { err: left_out.iter().map(|what| Pen::default().trouble(what)).collect(), ..made })
}

/// The name of a shipped pack without `std:`, which may be omitted.
fn shipped(name: &str) -> Result<&str, Error> {
    let bare = std_name(name).unwrap_or(name);
    if shipped_pack(bare).is_some() {
        return Ok(bare);
    }
    if rulebook::grammar::shipped(bare).is_some() {
        let help = "make the pack without `--dialect`, and name it in the `grammar` of its dialect";
        return Err(Error::Failed(format!("`{bare}` is a grammar, not a dialect: {help}")));
    }
    Err(Error::Failed(format!("no dialect called `{bare}` is shipped: {}", shipped_instead(bare))))
}

/// The name of a shipped pack, if its dialects read calls or files: others are only for dialects that include them.
fn read_calls(name: &str) -> Result<&str, Error> {
    let files = shipped_pack(name).map(|folder| &folder.files).into_iter().flatten();
    let mut tables = files.filter(|(path, _)| path.ends_with(".toml")).map(|(_, bytes)| String::from_utf8_lossy(bytes));
    match tables.any(|text| text.contains("\"call\"") || text.contains("\"content\"")) {
        true => Ok(name),
        false => {
            let help = format!("make the pack without `--dialect`, and `use` `std:{name}` in it");
            Err(Error::Failed(format!("`{name}` reads no calls: {help}")))
        }
    }
}

/// The files of a shipped pack, with another name in its `pack.toml`.
fn copied(from: &str, name: &str) -> Result<Vec<(String, String)>, Error> {
    let from = shipped(from)?;
    let files = shipped_pack(from).map(|folder| &folder.files).into_iter().flatten();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut files: Vec<(String, String)> = files.map(|(path, bytes)| (path.clone(), text(bytes))).collect();
    for (_, text) in files.iter_mut().filter(|(path, _)| path == "pack.toml") {
        let old = text.lines().find(|line| line.starts_with("name ")).unwrap_or_default().to_owned();
        *text = text.replacen(&old, &format!("name    = {name:?}"), 1);
        let schema = text.lines().find(|line| line.starts_with("#:schema ")).unwrap_or_default().to_owned();
        *text = text.replacen(&schema, "#:schema pack.schema.json", 1);
    }
    Ok(files)
}
