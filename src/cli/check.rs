//! `rulebook check`: can these packs be trusted?
//!
//! In: folders of packs, or folders above them.
//! Out: every diagnostic of every pack and of its case files.
//! Never: runs a case.

use super::watch::watch;
use super::{Error, Format, Opened, Printed, Status, folders, nothing, packs, parallel};
use crate::cases;
use crate::diagnostic::{Diagnostic, Severity};
use crate::report::{Row, checked_sum, json};
use crate::text::Sources;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folders of packs; of a folder without `pack.toml`, every pack below it
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    /// Warnings count as errors
    #[arg(long)]
    strict: bool,
    /// Stay, and say it again after each save
    #[arg(long)]
    watch: bool,
    /// How the diagnostics are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn check(arguments: &Arguments) -> Result<Printed, Error> {
    match arguments.watch {
        true => watch(|| folders(&arguments.packs), || once(arguments)),
        false => once(arguments),
    }
}

fn once(arguments: &Arguments) -> Result<Printed, Error> {
    let packs = packs(&arguments.packs)?;
    if packs.is_empty() {
        return Ok(nothing("check", &arguments.packs));
    }
    let mut drawn = String::new();
    let mut rows = Vec::new();
    for opened in parallel::each("packs", &packs, |pack| Opened::review(pack)) {
        let opened = opened?;
        let (case_sources, case_faults) = case_faults(&opened);
        let of_pack = opened.loaded.diagnostics.iter().map(|one| (&opened.loaded.sources, one));
        for (sources, diagnostic) in of_pack.chain(case_faults.iter().map(|one| (&case_sources, one))) {
            rows.push(Row::of_diagnostic(&opened.pen, sources, diagnostic));
            if arguments.format == Format::Human {
                drawn += &(opened.pen.diagnostic(sources, diagnostic) + "\n");
            }
        }
    }
    let of = |severity| rows.iter().filter(|row| row.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let found = errors > 0 || (arguments.strict && warnings > 0);
    let sum = checked_sum(packs.len(), errors, warnings);
    let report = |rows| serde_json::to_string_pretty(&json::Checked::new(rows, packs.len()));
    let out = arguments.format.write(|| rows, || drawn, &sum, report)?;
    Ok(Printed::new(out, if found { Status::Findings } else { Status::Clean }))
}

/// What is wrong with the case files themselves.
fn case_faults(opened: &Opened) -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let mut faults = Vec::new();
    for file in &opened.files.cases {
        faults.extend(cases::parse(&mut sources, &file.name, &file.bytes).diagnostics);
    }
    (sources, faults)
}
