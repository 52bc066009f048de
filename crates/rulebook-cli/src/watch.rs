//! Watch: when does a command run again?
//!
//! In: folders and files, and a command.
//! Out: the output of the command, at once and after each change below a folder.
//! Never: ends by itself while standard output is open.

use super::cache::PackCache;
use super::{CommandOutput, Error, Status, print};
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// How long to wait for further changes after a file was written. A later change only causes another run.
const SETTLES: Duration = Duration::from_millis(5);
/// How often to check whether a removed folder exists again.
const LOOKS: Duration = Duration::from_millis(200);

/// Runs the command, and again whenever something below a folder has changed. Results for unchanged packs are cached.
/// If the command fails, its error is printed, and the next change is waited for.
pub(super) fn watch<T>(
    paths: &[PathBuf],
    mut command: impl FnMut(&mut PackCache<T>) -> Result<CommandOutput, Error>,
) -> Result<CommandOutput, Error> {
    let (sender, changes) = mpsc::channel();
    let cannot = |error: notify::Error| Error::Failed(format!("cannot watch: {error}"));
    let watcher = notify::recommended_watcher(move |event| drop(sender.send(event))).map_err(cannot)?;
    let mut watched = Watched { watcher, changes, folders: BTreeMap::new() };
    watched.watch_also(paths.iter().cloned()).map_err(cannot)?;
    let mut pack_cache = PackCache::nothing();
    loop {
        let mut printed = command(&mut pack_cache).unwrap_or_else(CommandOutput::from);
        // The `use` of a pack may have changed.
        watched.watch_also(pack_cache.folders()).map_err(cannot)?;
        printed.err += "watching; Ctrl-C ends it\n";
        if print(&printed).is_err() {
            return Ok(CommandOutput::new(String::new(), Status::Clean));
        }
        watched.wait();
    }
}

/// The folders to watch, and the events about them.
struct Watched {
    watcher: RecommendedWatcher,
    changes: Receiver<notify::Result<Event>>,
    /// Each folder, with whether it is watched: a removed folder is not, until it exists again.
    folders: BTreeMap<PathBuf, bool>,
}

impl Watched {
    /// Watches these folders as well. A folder that is already known need not exist.
    fn watch_also(&mut self, folders: impl Iterator<Item = PathBuf>) -> notify::Result<()> {
        for folder in folders {
            if !self.folders.contains_key(&folder) {
                self.watcher.watch(&folder, RecursiveMode::Recursive)?;
                self.folders.insert(folder, true);
            }
        }
        Ok(())
    }

    /// Returns once something below a folder has changed, or a removed folder exists again.
    fn wait(&mut self) {
        loop {
            if self.rewatch() {
                break;
            }
            let unwatched = self.folders.values().any(|watched| !watched);
            let event =
                if unwatched { self.changes.recv_timeout(LOOKS) } else { self.changes.recv().map_err(Into::into) };
            match event {
                Ok(Ok(event)) => {
                    if self.forget_removed(&event) || counts(&event) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(Err(_)) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        while let Ok(event) = self.changes.recv_timeout(SETTLES) {
            _ = event.is_ok_and(|event| self.forget_removed(&event));
        }
        self.rewatch();
    }

    /// Watches the removed folders that exist again. Returns whether there was one.
    fn rewatch(&mut self) -> bool {
        let mut any = false;
        for (folder, watched) in self.folders.iter_mut().filter(|(_, watched)| !**watched) {
            *watched = self.watcher.watch(folder, RecursiveMode::Recursive).is_ok();
            any |= *watched;
        }
        any
    }

    /// Stops watching folders that were removed or renamed: a new folder at the same path is another one. Returns
    /// whether there was one.
    fn forget_removed(&mut self, event: &Event) -> bool {
        if !matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
            return false;
        }
        let mut any = false;
        for (folder, watched) in self.folders.iter_mut().filter(|(_, watched)| **watched) {
            let path_for_events = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            if event.paths.contains(&path_for_events) {
                // A folder that was moved away would otherwise be watched at its new path.
                _ = self.watcher.unwatch(folder);
                *watched = false;
                any = true;
            }
        }
        any
    }
}

/// Whether an event may change the output of the command: not one for reading, and not one for an editor's temporary
/// files.
#[expect(clippy::disallowed_methods, reason = "a changed folder has no extension: only the disk knows what it is")]
fn counts(event: &Event) -> bool {
    let known = |path: &Path| {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        matches!(end, "toml" | "pest" | "case" | "json" | "md" | "txt" | "xml")
    };
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(|path| known(path) || path.is_dir())
}
