//! `rulebook explain`: what does this code mean, and what does this pack say?
//!
//! In: a code or a name of the closed lists; or a pack, maybe with a response.
//! Out: a page, a table, or the outcome of the response with its whole story.
//! Never: has an explanation of its own; pages and packs have them.

use super::{Error, Format, Opened, Printed, Status, run};
use crate::diagnostic::{Page, nearest, page, pages};
use crate::outcome::Options;
use crate::report::Pen;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rulebook explain [CODE]\n       rulebook explain PACK FILE\n       rulebook explain --degradation PACK\n       rulebook explain --permits PACK"
)]
pub(crate) struct Arguments {
    /// A code such as `response/forbidden-call`, a defect, a remark or a strategy; all of them without it
    #[arg(value_name = "CODE")]
    what: Option<String>,
    /// With a pack instead of a code: the response whose story is told, or `-`
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The degradation table of a pack as it stands
    #[arg(long, value_name = "PACK", conflicts_with_all = ["what", "permits"])]
    degradation: Option<PathBuf>,
    /// Which mode of a pack permits which action
    #[arg(long, value_name = "PACK", conflicts_with = "what")]
    permits: Option<PathBuf>,
}

pub(super) fn explain(arguments: &Arguments) -> Result<Printed, Error> {
    if let Some(pack) = &arguments.degradation {
        let opened = Opened::open(pack)?;
        return Ok(match opened.program(Format::Human) {
            Ok(program) => Printed::new(opened.pen.degradation(&program.degradation_table()), Status::Clean),
            Err(printed) => printed,
        });
    }
    if let Some(pack) = &arguments.permits {
        let opened = Opened::open(pack)?;
        return Ok(match opened.program(Format::Human) {
            Ok(program) => Printed::new(opened.pen.permits(&program.permit_table()), Status::Clean),
            Err(printed) => printed,
        });
    }
    match (&arguments.what, &arguments.file) {
        (Some(pack), Some(file)) => story(&PathBuf::from(pack), file),
        (Some(name), None) => {
            find(name).map(|page| Printed::new(Pen::default().page(page), Status::Clean)).ok_or_else(|| unknown(name))
        }
        (None, _) => Ok(Printed::new(Pen::default().contents(pages()), Status::Clean)),
    }
}

/// The outcome of a response in the first session, with its trace.
fn story(pack: &std::path::Path, file: &std::path::Path) -> Result<Printed, Error> {
    let opened = Opened::open(pack)?;
    let program = match opened.program(Format::Human) {
        Ok(program) => program,
        Err(printed) => return Ok(printed),
    };
    let (name, response) = run::response(Some(file))?;
    let options = Options { trace: true, ..Options::default() };
    let outcome = program.run_with(&program.session(), &response, &options);
    run::printed(&opened.pen, &outcome, name, &response, Format::Human)
}

/// The page of a whole code, of a bare name, or of a fault that a grammar names.
fn find(name: &str) -> Option<&'static Page> {
    let bare = name.strip_prefix("response/").unwrap_or(name);
    if bare.starts_with("fault_") {
        return page("response/fault");
    }
    let with_area = |area: &str| page(&format!("{area}/{name}"));
    page(name).or_else(|| ["response", "pack", "case", "workspace", "internal"].iter().find_map(|area| with_area(area)))
}

fn unknown(name: &str) -> Error {
    let codes = pages().iter().map(|page| page.code);
    let bare = pages().iter().filter_map(|page| page.code.split_once('/')).map(|(_, name)| name);
    let help = match nearest(name, codes.chain(bare)) {
        Some(code) => format!("did you mean `{code}`?"),
        None => "`rulebook explain` lists them".to_owned(),
    };
    Error::Usage(format!("there is no code `{name}`; {help}"))
}
