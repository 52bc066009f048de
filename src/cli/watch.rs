//! Watching: what does a command say after each save?
//!
//! In: folders, and a command.
//! Out: what the command prints, at once and whenever a file below the folders has changed.
//! Never: ends by itself while somebody reads.

use super::kept::Kept;
use super::{Error, Printed, Status, tell};
use notify::{Event, EventKind, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// How long nothing more happens once a file is written. What comes later is only told once more.
const SETTLES: Duration = Duration::from_millis(5);

/// Runs the command, and again whenever something below a folder has changed; what it found of packs that stayed as they
/// were is kept. A command that cannot do its work says why and waits for the next save.
pub(super) fn watch<T>(
    paths: &[PathBuf],
    mut command: impl FnMut(&mut Kept<T>) -> Result<Printed, Error>,
) -> Result<Printed, Error> {
    let (sender, changes) = mpsc::channel();
    let cannot = |error: notify::Error| Error::Usage(format!("cannot watch: {error}"));
    let mut watcher = notify::recommended_watcher(move |event| drop(sender.send(event))).map_err(cannot)?;
    let mut watched = BTreeSet::new();
    let mut attend = |folders: &mut dyn Iterator<Item = PathBuf>| {
        folders
            .filter(|folder| watched.insert(folder.clone()))
            .try_for_each(|folder| watcher.watch(&folder, RecursiveMode::Recursive).map_err(cannot))
    };
    attend(&mut paths.iter().cloned())?;
    let mut kept = Kept::nothing();
    loop {
        let mut printed = command(&mut kept).unwrap_or_else(Printed::from);
        // What a pack uses may change with every save.
        attend(&mut kept.folders())?;
        printed.err += "watching; Ctrl-C ends it\n";
        if tell(&printed).is_err() {
            return Ok(Printed::new(String::new(), Status::Clean));
        }
        while !matches!(changes.recv(), Ok(Ok(event)) if counts(&event)) {}
        while changes.recv_timeout(SETTLES).is_ok() {}
    }
}

/// Whether an event may change what the command says: not reading, and not an editor's own files.
#[expect(clippy::disallowed_methods, reason = "a folder that came or went has no ending to go by")]
fn counts(event: &Event) -> bool {
    let known = |path: &Path| {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        matches!(end, "toml" | "pest" | "case" | "json" | "md" | "txt" | "xml")
    };
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(|path| known(path) || path.is_dir())
}
