//! `rulebook test`: do packs meet the expectations of their cases?
//!
//! In: folders of packs, with their own cases or those of another folder.
//! Out: every failed expectation at its line; on request, cases rewritten to expect the actual results.
//! Never: rewrites a case where nobody can review the change.

use super::cache::PackCache;
use super::packs::ToolsArgument;
use super::save::save;
use super::watch::watch;
use super::{CommandOutput, Error, Format, OpenedPack, Status, nothing, nothing_of, packs, parallel};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use rulebook::cases::{self, Case, CaseOptions, CaseRun, CaseVerdict, Coverage, TurnResult, updated};
use rulebook::diagnostic::{alternatives, nearest};
use rulebook::text::saved_like;
use rulebook::{Program, Sources, Tools};
use rulebook_fs::{CaseFile, PackFiles, cases_below};
use rulebook_report::{Pen, TestedPack, json, junit};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rulebook test rules/dce --filter summary\n  rulebook test rules --format junit")]
pub(crate) struct Arguments {
    /// The folders of packs; a folder without `pack.toml` means all packs below it
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    /// A folder of cases instead of the packs' own
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Only run cases whose name or claim contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// List the cases without running them
    #[arg(long, conflicts_with_all = ["update", "coverage", "min_coverage", "format"])]
    list: bool,
    /// Rewrite the failed expectations of cases to what came, and fill in empty `=== expect ===` parts; everything else
    /// stays
    #[arg(long)]
    update: bool,
    /// Show which declarations of the packs no case exercised, and why
    #[arg(long)]
    coverage: bool,
    /// Fail if the cases of a pack exercise less than this percentage of it
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,
    #[command(flatten)]
    tools: ToolsArgument,
    /// Feed each answer in pieces of this many bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    stream: Option<u32>,
    /// Keep running, and test again after every save
    #[arg(long, conflicts_with_all = ["list", "update"])]
    watch: bool,
    /// The format of the results
    #[arg(long, value_enum, default_value_t)]
    format: TestFormat,
}

/// The format of test results: that of a report of findings, or JUnit for CI services.
#[derive(Debug, Clone, Copy)]
enum TestFormat {
    Report(Format),
    Junit,
}

impl Default for TestFormat {
    fn default() -> Self {
        TestFormat::Report(Format::default())
    }
}

impl ValueEnum for TestFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<TestFormat>> = LazyLock::new(|| {
            let reports = Format::value_variants().iter().copied().map(TestFormat::Report);
            reports.chain([TestFormat::Junit]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            TestFormat::Report(format) => format.to_possible_value(),
            TestFormat::Junit => Some(PossibleValue::new("junit").help("Test results for CI services")),
        }
    }
}

pub(super) fn test(arguments: &Arguments) -> Result<CommandOutput, Error> {
    if arguments.update && is_watched_by_nobody() {
        let message = "`--update` rewrites cases, and `CI` is set: run it where the change can be reviewed";
        return Err(Error::Failed(message.to_owned()));
    }
    match arguments.watch {
        true => watch(&arguments.read(), |pack_cache| once(arguments, pack_cache)),
        false => once(arguments, &mut PackCache::nothing()),
    }
}

fn once(arguments: &Arguments, pack_cache: &mut PackCache<TestedPack>) -> Result<CommandOutput, Error> {
    let (mut packs, unread) = packs(&arguments.packs);
    if packs.is_empty() {
        return Ok(nothing("test", &arguments.packs, &unread, arguments.write(&[])?));
    }
    if let Some(cases) = &arguments.cases {
        let cases = cases_below(cases)?;
        packs.iter_mut().for_each(|pack| pack.cases.clone_from(&cases));
    }
    if arguments.list {
        return Ok(list(arguments, &packs).without(&unread));
    }
    let named = names(&packs);
    let mut err = String::new();
    let tested = pack_cache.renew(packs, |packs| run(arguments, &packs, &mut err))?;
    if tested.iter().all(TestedPack::is_idle) {
        let mut nothing = arguments.nothing(&named, arguments.write(&[])?);
        nothing.err.extend(tested.iter().map(TestedPack::overlooked));
        return Ok(nothing.without(&unread));
    }
    let status = Status::of(tested.iter().any(TestedPack::has_failed));
    Ok(CommandOutput { out: arguments.write(tested)?, err, status }.without(&unread))
}

fn list(arguments: &Arguments, packs: &[PackFiles]) -> CommandOutput {
    let listed: String = packs.iter().map(|pack| Testing::new(pack, arguments, None).list()).collect();
    if listed.is_empty() {
        arguments.nothing(&names(packs), String::new())
    } else {
        CommandOutput::new(listed, Status::Clean)
    }
}

/// The names of the cases of packs.
fn names(packs: &[PackFiles]) -> Vec<String> {
    let files = packs.iter().flat_map(|pack| &pack.cases);
    let name = |file: &CaseFile| Some(file.name.rsplit('/').next()?.strip_suffix(".case")?.to_owned());
    files.filter_map(name).collect()
}

/// Runs the cases of packs in parallel. Notes about rewritten cases are added to `err`.
fn run(arguments: &Arguments, packs: &[PackFiles], err: &mut String) -> Result<Vec<TestedPack>, Error> {
    let tools = arguments.tools.read(Format::Human)?;
    let packs = parallel::each("packs", packs, |pack| Testing::new(pack, arguments, tools.as_ref()));
    let jobs: Vec<(&Program, &Case)> = packs.iter().flat_map(Testing::jobs).collect();
    let options = arguments.options();
    let mut runs = parallel::each("cases", &jobs, |(program, case)| cases::run(program, case, options)).into_iter();
    packs.into_iter().map(|pack| pack.finish(&mut runs, arguments, err)).collect()
}

#[expect(clippy::disallowed_methods, reason = "CI services announce themselves in the environment")]
fn is_watched_by_nobody() -> bool {
    std::env::var("CI").is_ok_and(|word| !matches!(word.as_str(), "" | "0" | "false"))
}

impl Arguments {
    /// Every file and folder that `--watch` watches.
    fn read(&self) -> Vec<PathBuf> {
        self.packs.iter().chain(&self.cases).cloned().collect()
    }

    fn covers(&self) -> bool {
        self.coverage || self.min_coverage.is_some()
    }

    fn options(&self) -> CaseOptions {
        CaseOptions { chunk: self.stream.map(|bytes| bytes as usize), trace: self.covers() }
    }

    /// The results of these packs. If there are none, the text for people is empty.
    fn write(&self, tested: &[TestedPack]) -> Result<String, Error> {
        let rows = || tested.iter().flat_map(TestedPack::rows).collect();
        let drawn = || tested.iter().map(TestedPack::human).collect();
        let sum = if tested.is_empty() { String::new() } else { Pen::default().tested_sum(tested) };
        match self.format {
            TestFormat::Junit => Ok(junit(tested)),
            TestFormat::Report(format) => format.write(rows, drawn, &sum, |_| json::Tested::new(tested)),
        }
    }

    /// The output if no case ran; `empty` is the report for programs.
    fn nothing(&self, named: &[String], empty: String) -> CommandOutput {
        match self.filter.as_ref().filter(|_| !named.is_empty()) {
            None => {
                let read = self.cases.as_ref().map_or(&*self.packs, std::slice::from_ref);
                let place = if self.cases.is_some() { "" } else { "tests/" };
                nothing_of("test", &format!("a case is a file `{place}CLAIM.case`"), read, &[], empty)
            }
            Some(filter) => {
                let help = likely(filter, named).map(|help| format!("; {help}")).unwrap_or_default();
                let message = format!("no case has `{filter}` in its name or claim{help}");
                CommandOutput { out: empty, err: Pen::default().trouble(&message), status: Status::Nothing }
            }
        }
    }

    fn wants(&self, case: &Case) -> bool {
        let holds = |text: &String| case.name.contains(text) || case.header.claim.value.contains(text);
        self.filter.as_ref().is_none_or(holds)
    }
}

/// The help for a filter that matches nothing: names with a similar word, or else any names.
fn likely(filter: &str, named: &[String]) -> Option<String> {
    let words: Vec<&str> = filter.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
    let is_near = |name: &&String| words.iter().any(|word| nearest(word, name.split('-')).is_some());
    let near: Vec<String> = named.iter().filter(is_near).take(5).map(|name| format!("`{name}`")).collect();
    if near.is_empty() {
        return alternatives(filter, named.iter().map(String::as_str));
    }
    Some(format!("did you mean {}?", near.join(" or ")))
}

/// A pack whose cases are about to be run.
struct Testing {
    program: Option<Program>,
    files: Vec<CaseFile>,
    cases: Vec<Case>,
    /// Cases whose empty expectations were filled in: the name of the file, and the new text.
    filled: Vec<(String, String)>,
    tested: TestedPack,
}

impl Testing {
    fn new(pack: &PackFiles, arguments: &Arguments, tools: Option<&Tools>) -> Self {
        let OpenedPack { files, mut loaded, pen } = OpenedPack::load(pack.clone(), rulebook::check::faults);
        if let Some(tools) = tools {
            loaded = loaded.with_tools(tools);
        }
        let mut tested = TestedPack {
            name: files.folder.name.clone(),
            pen,
            faults: None,
            sources: Sources::default(),
            broken: Vec::new(),
            overlooked: Vec::new(),
            runs: Vec::new(),
            coverage: None,
            least: arguments.min_coverage.map(usize::from),
            lists: arguments.coverage,
        };
        tested.overlooked = cases::overlooked_cases(&files.folder, &mut tested.sources);
        let (mut cases, mut filled) = (Vec::new(), Vec::new());
        if let Some(program) = &loaded.value {
            for file in &files.cases {
                let mut parsed = cases::parse(&mut tested.sources, &file.name, &file.bytes);
                if parsed.value.is_none()
                    && arguments.update
                    && let Some(text) = cases::filled(program, &file.name, &file.bytes)
                {
                    parsed = cases::parse(&mut tested.sources, &file.name, text.as_bytes());
                    if parsed.value.as_ref().is_some_and(|case| arguments.wants(case)) {
                        filled.push((file.name.clone(), text));
                    }
                }
                match parsed.value {
                    Some(case) if arguments.wants(&case) => cases.push(case),
                    Some(_) => {}
                    None => tested.broken.extend(parsed.diagnostics),
                }
            }
        } else {
            tested.faults = Some((loaded.sources, loaded.diagnostics));
        }
        Self { program: loaded.value, files: files.cases, cases, filled, tested }
    }

    fn jobs(&self) -> impl Iterator<Item = (&Program, &Case)> {
        self.program.iter().flat_map(|program| self.cases.iter().map(move |case| (program, case)))
    }

    fn list(&self) -> String {
        let line = |case: &Case| {
            let todo = if case.header.todo.is_some() { " (to do)" } else { "" };
            format!("{}: {}{todo}\n", self.path(case), case.header.claim.value)
        };
        self.cases.iter().map(line).collect()
    }

    /// The path of a case file, as the user typed it.
    fn path(&self, case: &Case) -> String {
        self.tested
            .sources
            .get(case.source)
            .map(|source| self.tested.pen.display_name(source.name()))
            .unwrap_or_default()
    }

    /// The results of the cases. With `--update`, files are rewritten first.
    fn finish(
        mut self,
        runs: &mut impl Iterator<Item = CaseRun>,
        arguments: &Arguments,
        err: &mut String,
    ) -> Result<TestedPack, Error> {
        for (name, text) in &self.filled {
            self.rewrite(name, text)?;
            *err += &format!("filled `{}`\n", self.tested.pen.display_name(name));
        }
        for case in std::mem::take(&mut self.cases) {
            let Some(run) = runs.next() else { break };
            let better = if arguments.update { self.update(&case, &run, arguments)? } else { None };
            if better.is_some() {
                *err += &format!("updated `{}`\n", self.path(&case));
            }
            let (case, run) = better.unwrap_or((case, run));
            if arguments.update && run.verdict == CaseVerdict::Failed && !run.failures.is_empty() {
                let paths: Vec<String> = run.failures.iter().map(|failure| format!("`{}`", failure.path)).collect();
                let (paths, file) = (paths.join(", "), self.path(&case));
                *err += &format!("left {paths} in `{file}`: the result does not show what to expect instead\n");
            }
            self.tested.runs.push((case, run));
        }
        if let Some(program) = self.program.as_ref().filter(|_| arguments.covers()) {
            let turns: Vec<&TurnResult> =
                self.tested.runs.iter().flat_map(|(_, run): &(Case, CaseRun)| &run.results).collect();
            self.tested.coverage = Some(Coverage::of(program, &turns));
        }
        Ok(self.tested)
    }

    /// Rewrites a failed case to expect the actual results, and saves it. `None` if it would not fail less.
    fn update(&mut self, case: &Case, run: &CaseRun, arguments: &Arguments) -> Result<Option<(Case, CaseRun)>, Error> {
        let (Some(program), CaseVerdict::Failed) = (&self.program, run.verdict) else { return Ok(None) };
        let Some(source) = self.tested.sources.get(case.source) else { return Ok(None) };
        let text = updated(source.text(), case, &run.failures);
        let name = source.name().to_owned();
        // The new text is run before it is written: it is written only if it fails less.
        let Some(better) = cases::parse(&mut self.tested.sources, &name, text.as_bytes()).value else {
            return Ok(None);
        };
        let again = cases::run(program, &better, arguments.options());
        if again.failures.len() >= run.failures.len() {
            return Ok(None);
        }
        Ok(if self.rewrite(&name, &text)? { Some((better, again)) } else { None })
    }

    /// Replaces the text of a case file. Returns whether there is such a file.
    fn rewrite(&self, name: &str, text: &str) -> Result<bool, Error> {
        let Some(CaseFile { path, bytes, .. }) = self.files.iter().find(|file| file.name == name) else {
            return Ok(false);
        };
        let saved = std::str::from_utf8(bytes).unwrap_or_default();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        save(folder, vec![(file, saved_like(saved, text))])?;
        Ok(true)
    }
}
