//! Engine: which pack and mode judge the answers of a row?
//!
//! In: the repository and the name of a row.
//! Out: programs, with and without their guardrails, and sessions.
//! Never: measures.

use rulebook::{Folder, Program, Session};
use std::path::Path;

/// A row of the table: the answers, and the pack and the mode that judge them.
pub struct Row {
    /// The name of the row, and of its file in the corpus.
    pub name: &'static str,
    /// The folder of the pack, below the repository, or below this folder if the pack is not a shipped one.
    pub pack: &'static str,
    /// The mode of the session.
    pub mode: &'static str,
    /// The byte that opens a block: counting it is the least work that any reader has to do.
    pub opener: u8,
    /// Whether the peers that read tool calls also read its answers.
    pub calls: bool,
}

const fn row(name: &'static str, pack: &'static str, mode: &'static str, opener: u8) -> Row {
    Row { name, pack, mode, opener, calls: false }
}

const fn calls(name: &'static str, pack: &'static str) -> Row {
    Row { name, pack, mode: "chat", opener: b'<', calls: true }
}

/// All rows, in the order of the tables.
pub const ROWS: [Row; 10] = [
    row("brackets", "rules/couple-ai", "chat", b'['),
    row("transcript-3", "rules/roundtable", "discussion", b'\n'),
    row("transcript-20", "rules/roundtable", "discussion", b'\n'),
    row("tags-fit", "rules/writers-factory", "director", b'<'),
    row("tags-unfit", "rules/writers-factory", "director", b'<'),
    row("json-valid", "rules/dce", "cycle", b'"'),
    row("json-broken", "rules/dce", "cycle", b'"'),
    row("files", "rules/dce", "cycle", b'<'),
    calls("hermes", "packs/hermes"),
    calls("qwen-xml", "packs/qwen-xml"),
];

/// The files of a pack: those of shipped packs from the repository, and others from this folder.
pub fn folder(repository: &Path, pack: &str) -> Folder {
    let place = if pack.starts_with("rules/") { repository } else { Path::new(env!("CARGO_MANIFEST_DIR")) };
    rulebook_fs::read_pack(&place.join(pack)).unwrap_or_else(|fault| panic!("{pack}: {fault:?}")).folder
}

/// The program of a pack.
pub fn program(folder: &Folder) -> Program {
    let loaded = Program::load(folder);
    loaded.value.unwrap_or_else(|| panic!("{}: {:#?}", folder.name, loaded.diagnostics))
}

/// The program of the pack without its guardrails; `None` if it has none.
pub fn unguarded(folder: &Folder) -> Option<Program> {
    let mut folder = folder.clone();
    folder.files.remove("guardrails.toml")?;
    Program::load(&folder).value
}

/// A new session in this mode.
pub fn session(program: &Program, mode: &str) -> Session {
    let mut session = program.session();
    mode.clone_into(&mut session.mode);
    session
}

/// The answers of a row, which `corpus/generate` separates with U+001E.
pub fn answers(corpus: &Path, row: &str) -> Vec<String> {
    let path = corpus.join(row).with_extension("txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    text.split('\u{1e}').map(str::to_owned).collect()
}
