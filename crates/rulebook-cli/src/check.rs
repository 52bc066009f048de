//! `rulebook check`: are these packs valid?
//!
//! In: folders of packs, or folders that contain them.
//! Out: every diagnostic of every pack and of its case files.
//! Never: runs a case.

use super::cache::PackCache;
use super::packs::ToolsArgument;
use super::watch::watch;
use super::{CommandOutput, Error, Format, OpenedPack, Status, nothing, packs, parallel};
use rulebook::Tools;
use rulebook::cases;
use rulebook::program::PermitCell;
use rulebook_fs::PackFiles;
use rulebook_report::{Row, Tally, checked_sum, json};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook check --strict rules")]
pub(crate) struct Arguments {
    /// The folders of packs; a folder without `pack.toml` means all packs below it
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    tools: ToolsArgument,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Keep running, and check again after every save
    #[arg(long)]
    watch: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn check(arguments: &Arguments) -> Result<CommandOutput, Error> {
    match arguments.watch {
        true => watch(&arguments.packs, |pack_cache| once(arguments, pack_cache)),
        false => once(arguments, &mut PackCache::nothing()),
    }
}

/// The findings about one pack.
struct Reviewed {
    rows: Vec<Row>,
    /// The permits of its modes for actions and tools, if the host's tools are given.
    permits: Vec<PermitCell>,
    /// The findings as text for people.
    drawn: String,
}

fn once(arguments: &Arguments, pack_cache: &mut PackCache<Reviewed>) -> Result<CommandOutput, Error> {
    let (packs, unread) = packs(&arguments.packs);
    if packs.is_empty() {
        let empty = arguments.format.write(Vec::new, String::new, "", |rows| json::Checked::new(rows, 0))?;
        return Ok(nothing("check", &arguments.packs, &unread, empty));
    }
    let tools = arguments.tools.read(arguments.format)?;
    let reviewed =
        pack_cache.renew(packs, |packs| Ok(parallel::each("packs", &packs, |pack| review(pack, tools.as_ref()))))?;
    let rows = || reviewed.iter().flat_map(|pack| pack.rows.clone()).collect::<Vec<Row>>();
    let severities = || reviewed.iter().flat_map(|pack| &pack.rows).map(|row| row.severity);
    let sum = checked_sum(reviewed.len(), Tally::of(severities()));
    let drawn = || reviewed.iter().map(|pack| pack.drawn.as_str()).collect();
    let out = arguments.format.write(rows, drawn, &sum, |rows| {
        let permits = reviewed.iter().flat_map(|pack| &pack.permits);
        json::Checked::new(rows, reviewed.len()).with_permits(permits)
    })?;
    Ok(CommandOutput::new(out, Status::of_findings(severities(), arguments.strict)).without(&unread))
}

fn review(pack: &PackFiles, tools: Option<&Tools>) -> Reviewed {
    let mut opened = OpenedPack::load(pack.clone(), rulebook::check::review);
    if let Some(tools) = tools {
        opened.loaded = opened.loaded.with_tools(tools);
    }
    let files = opened.files.cases.iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
    let (case_sources, case_faults) = cases::faults(opened.loaded.value.as_ref(), files);
    let of_pack = opened.loaded.diagnostics.iter().map(|one| (&opened.loaded.sources, one));
    let mut reviewed = Reviewed { rows: Vec::new(), permits: Vec::new(), drawn: String::new() };
    for (sources, diagnostic) in of_pack.chain(case_faults.iter().map(|one| (&case_sources, one))) {
        reviewed.rows.push(opened.pen.row(sources, diagnostic));
        reviewed.drawn += &(opened.pen.diagnostic(sources, diagnostic) + "\n");
    }
    if let (Some(program), Some(_)) = (&opened.loaded.value, tools) {
        reviewed.permits = program.permit_table();
        reviewed.drawn += &(opened.pen.permits(&reviewed.permits, &[]) + "\n");
    }
    reviewed
}
