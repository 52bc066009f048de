//! New packs: how does a pack start?
//!
//! In: the path of a folder that does not exist yet.
//! Out: the folder of a small pack that checks clean, with cases that pass.
//! Never: changes what exists.
#![expect(clippy::disallowed_methods, reason = "a command that makes a folder")]

use crate::save::cannot_write;
use crate::{Error, Printed, Status};
use rulebook_report::schemas;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

const PACK: &str = include_str!("../scaffold/pack.toml");
const FILES: &[(&str, &str)] = &[
    ("tests/a-note-is-kept.case", include_str!("../scaffold/a-note-is-kept.case")),
    ("tests/an-unknown-action-is-dropped.case", include_str!("../scaffold/an-unknown-action-is-dropped.case")),
];

pub(super) fn make(folder: &Path) -> Result<Printed, Error> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(fits) {
        let message = format!("`{}` cannot name a pack: use a-z, 0-9 and hyphens between them", folder.display());
        return Err(Error::Usage(message));
    }
    if folder.symlink_metadata().is_ok() {
        return Err(Error::Usage(format!("`{}` is already there", folder.display())));
    }
    let schema = schemas::ALL.iter().find(|one| one.name == "pack").map(|one| one.text).unwrap_or_default();
    let own = [("pack.toml", PACK.replace("NAME", name)), ("pack.schema.json", schema.to_owned())];
    let own = own.iter().map(|(path, text)| (*path, text.as_str()));
    own.chain(FILES.iter().copied())
        .try_for_each(|(path, text)| write(folder, path, text))
        .map_err(|error| cannot_write(folder, &error))?;
    let shown = folder.display();
    Ok(Printed::new(format!("made `{shown}`; try `rulebook test {shown}`\n"), Status::Clean))
}

fn write(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
