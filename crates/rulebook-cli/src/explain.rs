//! `rulebook explain`: what does a code mean, what does a pack declare, and how did an answer become its outcome?
//!
//! In: a code or another name that has a page; or a pack, and optionally an answer.
//! Out: a page, a table, or the story of the answer, on the terminal or as a page of HTML.
//! Never: has explanations of its own: all texts come from pages and packs.

use super::judging::{JudgeArguments, Judged};
use super::save::{cannot_write, create};
use super::{CommandOutput, Error, Format, OpenedPack, Status};
use rulebook::Options;
use rulebook::diagnostic::{Page, nearest, page, pages};
use rulebook::surface::{shipped_instead, shipped_pack, std_name};
use rulebook_report::{Pen, status};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  rulebook explain response/forbidden-call\n  rulebook explain rules/dce answer.txt --html story.html",
    override_usage = "rulebook explain [CODE]\n       rulebook explain [OPTIONS] PACK FILE\n       rulebook explain --degradation PACK\n       rulebook explain --permits PACK\n       rulebook explain --stream PACK"
)]
pub(crate) struct Arguments {
    /// A code such as `response/forbidden-call`, the name of a defect, remark or strategy, or a shipped pack such as
    /// `std:hermes`; lists all codes by default
    #[arg(value_name = "CODE")]
    what: Option<OsString>,
    /// If a pack is given instead of a code: the answer to explain; `-` for standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    judging: JudgeArguments,
    /// The format of the story
    #[arg(long, value_enum, default_value_t, requires = "file")]
    format: Format,
    /// Write the story as a self-contained page of HTML
    #[arg(long, value_name = "OUT", requires = "file", conflicts_with = "format")]
    html: Option<PathBuf>,
    /// Show the complete degradation table of a pack
    #[arg(long, value_name = "PACK", conflicts_with_all = ["what", "permits"])]
    degradation: Option<PathBuf>,
    /// Show which mode of a pack permits which action
    #[arg(long, value_name = "PACK", conflicts_with = "what")]
    permits: Option<PathBuf>,
    /// Show when a stream emits each text of a pack, and for what it waits
    #[arg(long, value_name = "PACK", conflicts_with_all = ["what", "permits", "degradation"])]
    stream: Option<PathBuf>,
}

#[expect(clippy::disallowed_methods, reason = "asks whether a folder is given in place of a code")]
pub(super) fn explain(arguments: &Arguments) -> Result<CommandOutput, Error> {
    if arguments.file.is_none() && !arguments.judging.are_none_but_tools() {
        return Err(without_answer());
    }
    if let Some(pack) = &arguments.degradation {
        let opened = OpenedPack::open(pack)?;
        let rows = opened.program(Format::Human)?.degradation_table();
        return Ok(CommandOutput::new(opened.pen.degradation(&rows), Status::Clean));
    }
    let tools = arguments.judging.tools.path();
    if let Some(pack) = &arguments.permits {
        let opened = OpenedPack::open_with(pack, tools, Format::Human)?;
        let program = opened.program(Format::Human)?;
        let drawn = opened.pen.permits(&program.permit_table(), &program.content_permit_table());
        return Ok(CommandOutput::new(drawn, Status::Clean));
    }
    if let Some(pack) = &arguments.stream {
        let opened = OpenedPack::open(pack)?;
        let rows = opened.program(Format::Human)?.wait_table();
        return Ok(CommandOutput::new(opened.pen.waits(&rows), Status::Clean));
    }
    match (&arguments.what, &arguments.file) {
        (Some(pack), Some(file)) => story(Path::new(pack), file, arguments),
        (Some(name), None) => {
            let word = &*name.to_string_lossy();
            if let Some(pack) = std_name(word) {
                return shipped(pack);
            }
            let missing = || if Path::new(name).is_dir() { without_answer() } else { unknown(word) };
            find(word).map(|page| CommandOutput::new(Pen::default().page(page), Status::Clean)).ok_or_else(missing)
        }
        (None, _) => Ok(CommandOutput::new(Pen::default().contents(pages()), Status::Clean)),
    }
}

/// The files of a shipped pack.
fn shipped(name: &str) -> Result<CommandOutput, Error> {
    let Some(folder) = shipped_pack(name) else {
        return Err(Error::Failed(format!("no pack called `{name}` is shipped: {}", shipped_instead(name))));
    };
    let mut text = String::new();
    // Tables come before the grammars that they name.
    let (tables, grammars): (Vec<_>, Vec<_>) = folder.files.iter().partition(|(path, _)| path.ends_with(".toml"));
    for (path, bytes) in tables.into_iter().chain(grammars) {
        text += &format!("# {}\n{}\n", folder.called(path), String::from_utf8_lossy(bytes));
    }
    Ok(CommandOutput::new(text, Status::Clean))
}

/// The story of an answer.
fn story(pack: &Path, file: &Path, arguments: &Arguments) -> Result<CommandOutput, Error> {
    let opened = OpenedPack::open_with(pack, arguments.judging.tools.path(), arguments.format)?;
    let program = opened.program(arguments.format)?;
    let options = Options { trace: true, ..Options::default() };
    let judged = arguments.judging.judge(program, file, options, arguments.format, None)?;
    let Judged { response, outcome, .. } = &judged;
    let drawn_outcome = judged.drawn();
    let pen = &opened.pen;
    let sum = status(outcome);
    let out = match (&arguments.html, arguments.format) {
        (Some(path), _) => {
            let page = pen.page_of_story(drawn_outcome, response, program.name());
            create(path, file)?.write_all(page.as_bytes()).map_err(|error| cannot_write(path, &error))?;
            format!("wrote `{}`\n{sum}", path.display())
        }
        (None, Format::Plain) => pen.plain_story(drawn_outcome, response),
        (None, format) => {
            let rows = || pen.rows(drawn_outcome, response);
            let drawn = || pen.story(drawn_outcome, response);
            format.write(rows, drawn, &sum, |_| outcome)?
        }
    };
    Ok(CommandOutput::new(out, Status::of(outcome.has_errors())))
}

/// The page of a code, of a code without its area, or of another name that has a page.
fn find(name: &str) -> Option<&'static Page> {
    let with_area = |area: &str| page(&format!("{area}/{name}"));
    page(name).or_else(|| {
        ["response", "pack", "prompt", "case", "workspace", "internal"].iter().find_map(|area| with_area(area))
    })
}

fn without_answer() -> Error {
    Error::Failed("FILE is missing: `rulebook explain PACK FILE` explains an answer".to_owned())
}

fn unknown(name: &str) -> Error {
    let codes = pages().iter().map(|page| page.code);
    let bare = pages().iter().filter_map(|page| page.code.split_once('/')).map(|(_, name)| name);
    let help = match nearest(name, codes.chain(bare)) {
        None if ["permits", "degradation", "stream"].contains(&name) => {
            return Error::Failed(format!("that is a table of a pack: `rulebook explain --{name} PACK`"));
        }
        Some(code) => format!("did you mean `{code}`?"),
        None => "`rulebook explain` lists them".to_owned(),
    };
    Error::Failed(format!("there is no code `{name}`; {help}"))
}
