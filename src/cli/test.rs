//! `rulebook test`: do the packs do what their cases say?
//!
//! In: folders of packs, with their cases or others.
//! Out: every expectation that does not hold, at its line.
//! Never: writes a case.

use super::{Error, Format, Opened, Printed, Status, nothing, packs};
use crate::cases::{self, Case, CaseOptions, CaseRun, Coverage, Told};
use crate::report::{Pen, TestedPack, json, junit};
use crate::text::Sources;
use crate::workspace::{CaseFile, cases_below};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folders of packs; of a folder without `pack.toml`, every pack below it
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    /// A folder of cases instead of the packs' own
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Only cases whose name or claim holds this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Say what of the packs no case exercised
    #[arg(long)]
    coverage: bool,
    /// Feed each response in pieces of so many bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    stream: Option<u32>,
    /// How the results are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn test(arguments: &Arguments) -> Result<Printed, Error> {
    let others = arguments.cases.as_deref().map(cases_below).transpose()?;
    let mut tested = Vec::new();
    for path in packs(&arguments.packs)? {
        let opened = Opened::open(&path)?;
        tested.push(test_pack(opened, others.as_deref(), arguments));
    }
    let idle = |pack: &TestedPack| pack.runs.is_empty() && pack.broken.is_empty() && pack.faults.is_none();
    if tested.iter().all(idle) {
        return Ok(nothing("test", &arguments.packs));
    }
    let status = if tested.iter().any(TestedPack::has_failed) { Status::Findings } else { Status::Clean };
    let rows = || tested.iter().flat_map(TestedPack::rows).collect();
    let drawn = || tested.iter().map(TestedPack::human).collect();
    let sum = Pen::default().tested_sum(&tested);
    let out = match arguments.format {
        Format::Junit => junit(&tested),
        other => other.write(rows, drawn, &sum, |_| serde_json::to_string_pretty(&json::Tested::new(&tested)))?,
    };
    Ok(Printed::new(out, status))
}

fn test_pack(opened: Opened, others: Option<&[CaseFile]>, arguments: &Arguments) -> TestedPack {
    let Opened { files, loaded, pen } = opened;
    let mut tested = TestedPack {
        name: files.folder.name,
        pen,
        faults: None,
        sources: Sources::default(),
        broken: Vec::new(),
        runs: Vec::new(),
        coverage: None,
    };
    let Some(program) = loaded.program else {
        tested.faults = Some((loaded.sources, loaded.diagnostics));
        return tested;
    };
    let options = CaseOptions { chunk: arguments.stream.map(|bytes| bytes as usize), trace: arguments.coverage };
    for file in others.unwrap_or(&files.cases) {
        let parsed = cases::parse(&mut tested.sources, &file.name, &file.bytes);
        let wanted = |case: &Case| match &arguments.filter {
            Some(text) => case.name.contains(text) || case.header.claim.value.contains(text),
            None => true,
        };
        match parsed.value {
            Some(case) if wanted(&case) => {
                let run = cases::run(&program, &case, options);
                tested.runs.push((case, run));
            }
            Some(_) => {}
            None => tested.broken.extend(parsed.diagnostics),
        }
    }
    if arguments.coverage {
        let told: Vec<&Told> = tested.runs.iter().flat_map(|(_, run): &(Case, CaseRun)| &run.told).collect();
        tested.coverage = Some(Coverage::of(&program, &told));
    }
    tested
}
