//! Slipped: does one typing mistake cause one error, wherever it is made?
//!
//! In every shipped pack, one key or value at a time is misspelt with two letters swapped, as in a typing mistake.

use rulebook::{Diagnostic, Folder};
use rulebook_fs::read_pack;
use std::collections::BTreeMap;
use std::path::Path;

/// One word in this many is tried.
const EACH: usize = 13;

/// A misspelt word: its file, its place, and its wrong spelling.
struct Slip {
    file: String,
    at: usize,
    word: String,
    wrong: String,
}

/// The word with two letters swapped; `None` if that would not change it.
fn swapped(word: &str) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    let at = (1..letters.len().saturating_sub(1)).find(|at| letters[*at] != letters[*at + 1])?;
    letters.swap(at, at + 1);
    Some(letters.into_iter().collect())
}

/// The names of tables, the keys, and the values that are a single quoted word.
fn slips(file: &str, text: &str) -> Vec<Slip> {
    let mut found = Vec::new();
    let (mut start, mut long, mut data) = (0, None, false);
    for line in text.split_inclusive('\n') {
        let (at, within) = (start, long.is_some());
        start += line.len();
        for quotes in ["'''", "\"\"\""] {
            let count = line.matches(quotes).count();
            if count % 2 == 1 && long.is_none_or(|open| open == quotes) {
                long = if long.is_some() { None } else { Some(quotes) };
            }
        }
        let trimmed = line.trim_start();
        if trimmed.starts_with('[') && !within {
            let header = trimmed.trim_start_matches('[');
            data = header.starts_with("data");
            let names = header.split(']').next().unwrap_or_default();
            let mut inside = at + line.len() - header.len();
            for name in names.split('.') {
                let (file, at, word) = (file.to_owned(), inside, name.to_owned());
                found.extend(swapped(name).map(|wrong| Slip { file, at, word, wrong }));
                inside += name.len() + 1;
            }
            continue;
        }
        if within || data || trimmed.starts_with('#') {
            continue;
        }
        let mut quoted = false;
        for (place, part) in line.split('"').scan(0, |place, part| {
            *place += part.len() + 1;
            Some((*place - part.len() - 1, part))
        }) {
            let (is_text, word) = (quoted, |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-'));
            quoted = !quoted;
            let mut words: Vec<(usize, &str)> = Vec::new();
            if is_text {
                words.extend(Some((0, part)).filter(|_| part.chars().all(word)));
            } else if !part.contains('\'') {
                for (equals, _) in part.match_indices('=') {
                    let key = part[..equals].trim_end();
                    let first = key.rfind(|c| !word(c)).map_or(0, |last| last + 1);
                    words.push((first, &key[first..]));
                }
            }
            for (inside, word) in words.into_iter().filter(|(_, word)| word.len() > 2) {
                let slip =
                    |wrong| Slip { file: file.to_owned(), at: at + place + inside, word: word.to_owned(), wrong };
                found.extend(swapped(word).map(slip));
            }
        }
    }
    found
}

fn errors(folder: &Folder) -> Vec<String> {
    let loaded = rulebook::check::faults(folder);
    let errors = loaded.diagnostics.iter().filter(|one| Diagnostic::is_error(one));
    errors.map(|one| format!("{} {}", one.code, one.message)).collect()
}

#[test]
fn one_slip_is_one_error() {
    let mut tried = 0;
    let mut several: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pack in ["couple-ai", "dce", "roundtable", "writers-factory"] {
        let folder = read_pack(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules").join(pack)).unwrap().folder;
        assert_eq!(errors(&folder), [""; 0]);
        let tables = folder.files.iter().filter(|(path, _)| path.ends_with(".toml"));
        let all: Vec<Slip> =
            tables.flat_map(|(path, bytes)| slips(path, std::str::from_utf8(bytes).unwrap())).collect();
        assert!(all.len() > 50, "{pack} has {}", all.len());
        for slip in all.iter().step_by(EACH) {
            let mut broken = folder.clone();
            let mut text = String::from_utf8(folder.files[&slip.file].clone()).unwrap();
            text.replace_range(slip.at..slip.at + slip.word.len(), &slip.wrong);
            broken.files.insert(slip.file.clone(), text.into_bytes());
            tried += 1;
            let errors = errors(&broken);
            if errors.len() > 1 {
                several.insert(format!("{pack}/{} `{}` at {}", slip.file, slip.wrong, slip.at), errors);
            }
        }
    }
    assert!(tried > 200, "{tried}");
    assert!(several.is_empty(), "{several:#?}");
}

/// Mistakes whose first explanation is not the best one, and mistakes that result in another valid name.
#[test]
fn a_slip_that_something_else_might_explain_is_one_error() {
    let slips = [
        ("writers-factory", "actions.toml", "[[actions.advance.effects]]", "[[actions.avdance.effects]]"),
        ("writers-factory", "actions.toml", "let  = { missing =", "let  = { msising ="),
        (
            "couple-ai",
            "actions.toml",
            "new = \"page\", effects = [\n    { set",
            "new = \"pgae\", effects = [\n    { set",
        ),
        ("roundtable", "modes.toml", "[modes.synthesis]", "[modes.snythesis]"),
    ];
    for (pack, file, right, wrong) in slips {
        let mut folder = read_pack(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules").join(pack)).unwrap().folder;
        let text = String::from_utf8(folder.files[file].clone()).unwrap();
        assert!(text.contains(right), "{pack}: {right}");
        folder.files.insert(file.to_owned(), text.replacen(right, wrong, 1).into_bytes());
        let errors = errors(&folder);
        assert_eq!(errors.len(), 1, "{pack}: {wrong}: {errors:#?}");
    }
}

/// Of a mode whose header is misspelt, the finding names the other header, and not what follows: that nothing reaches it.
#[test]
fn a_misspelt_header_is_reported_with_the_other_one() {
    let mut folder = read_pack(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/writers-factory")).unwrap().folder;
    let text = String::from_utf8(folder.files["modes.toml"].clone()).unwrap();
    folder.files.insert("modes.toml".to_owned(), text.replacen("[modes.director]", "[modes.dierctor]", 1).into_bytes());
    let errors = errors(&folder);
    let start = "pack/unreachable-mode `dierctor` here, but `director` in another header";
    assert!(errors.len() == 1 && errors[0].starts_with(start), "{errors:#?}");
}
