//! Packs: which packs do these paths name, and can they run?
//!
//! In: paths that a user typed, and names that a pack has to declare.
//! Out: [`OpenedPack`]: a pack with its faults; the files of all packs below a folder; or the output for a folder
//! without packs.
//! Never: runs a program.

use super::output::{CommandOutput, Error, Format, Status};
use super::{input, parallel};
use rulebook::diagnostic::{alternatives, nearest};
use rulebook::text::excerpt;
use rulebook::{Checked, Code, Diagnostic, Folder, Program, Sources, Tools};
use rulebook_fs::{PackFiles, ReadError, folder_of, read_pack, search_packs};
use rulebook_report::Pen;
use std::path::{Path, PathBuf};

/// The largest list of tools that is read, in bytes.
const MAX_TOOLS: u64 = 1 << 26;

#[derive(Debug, Default, Clone, PartialEq, Eq, clap::Args)]
pub(super) struct ToolsArgument {
    /// The tools that the host has: a list as JSON, as for OpenAI, Anthropic, Gemini or MCP
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
}

impl ToolsArgument {
    pub(super) fn path(&self) -> Option<&Path> {
        self.tools.as_deref()
    }

    /// The list of tools, if one is given.
    pub(super) fn read(&self, format: Format) -> Result<Option<Tools>, Error> {
        self.path().map(|path| read_tools(path, format)).transpose()
    }
}

/// A pack from disk: its program, or every fault that prevents it from running.
pub(super) struct OpenedPack {
    pub(super) files: PackFiles,
    pub(super) loaded: Checked<Program>,
    pub(super) pen: Pen,
}

impl OpenedPack {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self::load(read_pack(path)?, rulebook::check::faults).or_below(path))
    }

    /// Opens a pack to judge answers as a host does, without the checks that only evaluate what answers could result
    /// in: these take as long as everything else.
    pub(super) fn to_judge(path: &Path, tools: Option<&Path>, format: Format) -> Result<Self, Error> {
        Self::load(read_pack(path)?, Program::open).or_below(path).take(tools, format)
    }

    /// Like [`OpenedPack::open`], for a host with the tools in this file, if there is one.
    pub(super) fn open_with(path: &Path, tools: Option<&Path>, format: Format) -> Result<Self, Error> {
        Self::open(path)?.take(tools, format)
    }

    /// Compiles the pack for a host with the tools in this file, if there is one. Faults of the tools are added to
    /// those of the pack.
    pub(super) fn take(mut self, tools: Option<&Path>, format: Format) -> Result<Self, Error> {
        if let Some(tools) = tools.map(|path| read_tools(path, format)).transpose()? {
            self.loaded = self.loaded.with_tools(&tools);
        }
        Ok(self)
    }

    /// Like [`OpenedPack::open`], with all diagnostics of `check`, including warnings.
    pub(super) fn review(path: &Path) -> Result<Self, Error> {
        Ok(Self::load(read_pack(path)?, rulebook::check::review).or_below(path))
    }

    /// If the folder is not a pack, names the packs below it in the help.
    fn or_below(mut self, path: &Path) -> Self {
        let mut found = self.loaded.diagnostics.iter_mut();
        if let Some(missing) = found.find(|one| one.code == Code::PACK_MISSING && one.at.is_none()) {
            let (mut below, _) = search_packs(path);
            // The folder itself may be listed: it may have a `pack.toml` without a `[pack]` table.
            below.retain(|below| *below != folder_of(path));
            let below: Vec<String> = below.iter().map(|one| one.display().to_string()).collect();
            missing.help = alternatives("", below.iter().map(String::as_str)).map(Into::into).or(missing.help.take());
        }
        self
    }

    pub(super) fn load(files: PackFiles, check: impl FnOnce(&Folder) -> Checked<Program>) -> Self {
        let loaded = check(&files.folder);
        let pen = Pen::new(files.paths.clone());
        Self { files, loaded, pen }
    }

    /// The program. If there is none, the error prints the faults of the pack: for programs, as the report of `check`.
    pub(super) fn program(&self, format: Format) -> Result<&Program, Error> {
        if let Some(program) = &self.loaded.value {
            return Ok(program);
        }
        let Checked { sources, diagnostics, .. } = &self.loaded;
        Err(Error::findings_in(&self.pen, sources, diagnostics, format, Status::Findings))
    }
}

/// The list of tools in a file.
pub(super) fn read_tools(path: &Path, format: Format) -> Result<Tools, Error> {
    let file = input::text(path, MAX_TOOLS)?;
    let tools = Tools::read_file(file.name(), file.text());
    tools.into_result().map_err(|faults| Error::findings(&faults.sources, &faults.diagnostics, format))
}

/// The files of the packs at or below each of `paths`, each once; and an error for each that cannot be read.
pub(super) fn packs(paths: &[PathBuf]) -> (Vec<PackFiles>, Vec<ReadError>) {
    let (mut packs, mut unread) = (Vec::new(), Vec::new());
    for path in paths {
        let (found, folders) = search_packs(path);
        unread.extend(folders);
        for pack in found {
            if !packs.contains(&pack) {
                packs.push(pack);
            }
        }
    }
    let mut files = Vec::new();
    for read in parallel::each("packs", &packs, |pack| read_pack(pack)) {
        match read {
            Ok(pack) => files.push(pack),
            Err(error) => unread.push(error),
        }
    }
    (files, unread)
}

/// The output if no pack was found, or none that could be read; `empty` is the report for programs.
pub(super) fn nothing(what: &str, paths: &[PathBuf], unread: &[ReadError], empty: String) -> CommandOutput {
    let wanted = "a pack is a folder with a `pack.toml`";
    match paths.iter().find_map(|path| misspelt_table(path)) {
        Some(name) => nothing_of(what, &format!("{wanted}, and here is `{name}`"), paths, unread, empty),
        None => nothing_of(what, wanted, paths, unread, empty),
    }
}

/// The name of a file in this folder that was probably meant to be its `pack.toml`.
#[expect(clippy::disallowed_methods, reason = "reads only the names of the files")]
fn misspelt_table(folder: &Path) -> Option<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| nearest(name, ["pack.toml"]).is_some()).min()
}

/// Like [`nothing`], with a text that names what is `wanted`.
pub(super) fn nothing_of(
    what: &str,
    wanted: &str,
    paths: &[PathBuf],
    unread: &[ReadError],
    empty: String,
) -> CommandOutput {
    if !unread.is_empty() {
        return CommandOutput::new(empty, Status::Trouble).without(unread);
    }
    let listed: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let listed = listed.join(", ");
    let err = Pen::default().trouble(&format!("nothing to {what} in {listed}: {wanted}"));
    CommandOutput { out: empty, err, status: Status::Nothing }
}

/// An error unless `name` is absent or declared, or no names are declared.
pub(super) fn declared<'n>(
    what: &str,
    name: Option<&str>,
    names: impl Iterator<Item = &'n str>,
    format: Format,
) -> Result<(), Error> {
    let names: Vec<&str> = names.collect();
    match name {
        Some(name) if !names.is_empty() && !names.contains(&name) => {
            let code = if what == "prompt" { Code::UNKNOWN_PROMPT } else { Code::SESSION_MISFIT };
            let message = format!("the pack has no {what} `{}`", excerpt(name, 60));
            let fault = Diagnostic::new(code, None, message).with_nearest(name, names);
            Err(Error::findings(&Sources::default(), &[fault], format))
        }
        _ => Ok(()),
    }
}
