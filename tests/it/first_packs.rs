//! First packs: does a typical beginner's mistake have exactly one finding, at the right word and with a fix?
//!
//! In: `tests/mistakes`: a small pack, and a list of mistakes in it, written down before they were tried.
//! Out: for each mistake the finding of `check`: its code, its line and column, and a word of its help.
//! Never: accepts a second finding for a mistake.

use super::root;
use rulebook::Folder;
use std::collections::BTreeMap;

/// The brackets around the word that a finding has to point at.
const MARKS: [char; 2] = ['⟦', '⟧'];

#[derive(serde::Deserialize)]
struct Mistakes {
    mistake: Vec<Mistake>,
}

#[derive(serde::Deserialize)]
struct Mistake {
    name: String,
    /// A text of `pack.toml`, and the text that replaces it.
    right: Option<String>,
    wrong: Option<String>,
    /// The text with the marked word, if that is not where the mistake is.
    at: Option<String>,
    /// The expected place, if no word of `pack.toml` is marked.
    place: Option<String>,
    /// Files to add to the pack.
    #[serde(default)]
    add: BTreeMap<String, String>,
    code: String,
    help: String,
}

impl Mistake {
    /// The files of the pack with this mistake, and the expected place: file, line and column.
    fn make(&self, pack: &Folder) -> (Folder, String) {
        let mut folder = pack.clone();
        let mut text = String::from_utf8(pack.files["pack.toml"].clone()).unwrap();
        let mut lay = |right: &str, wrong: &str| {
            assert!(text.contains(right), "{}: the pack has no `{right}`", self.name);
            text = text.replacen(right, wrong, 1);
        };
        self.right.iter().for_each(|right| lay(right, self.wrong.as_ref().unwrap()));
        self.at.iter().for_each(|at| lay(&at.replace(MARKS, ""), at));
        folder.files.insert("pack.toml".to_owned(), text.into_bytes());
        for (path, text) in &self.add {
            folder.files.insert(path.clone(), text.clone().into_bytes());
        }
        let mut place = self.place.clone().or(self.add.keys().next().cloned()).unwrap_or_default();
        for (path, bytes) in &mut folder.files {
            let text = String::from_utf8(bytes.clone()).unwrap();
            if let Some(mark) = text.find(MARKS[0]) {
                let before = &text[..mark];
                let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
                place = format!("{path}:{}:{column}", before.matches('\n').count() + 1);
                *bytes = text.replace(MARKS, "").into_bytes();
            }
        }
        (folder, place)
    }
}

#[test]
fn a_typical_mistake_is_one_finding_at_the_word_with_the_way_out() {
    let folder = root().join("tests/mistakes");
    let pack = rulebook_fs::read_pack(&folder.join("pack")).unwrap().folder;
    assert_eq!(found(&pack), [""; 0]);
    let list = std::fs::read_to_string(folder.join("first-packs.toml")).unwrap();
    let mistakes: Mistakes = toml::from_str(&list).unwrap();
    assert_eq!(mistakes.mistake.len(), 60);
    let mut unanswered = Vec::new();
    for mistake in &mistakes.mistake {
        let (folder, place) = mistake.make(&pack);
        let found = found(&folder);
        let start = format!("{place} {}: ", mistake.code);
        let is_answered = matches!(found.as_slice(), [one] if one.starts_with(&start)
            && one.split_once(" = ").is_some_and(|(_, help)| help.contains(&mistake.help)));
        if !is_answered {
            let found = found.iter().map(|one| format!("\n    {one}")).collect::<String>();
            unanswered.push(format!("{}: wanted {start}… = …{}{found}", mistake.name, mistake.help));
        }
    }
    let (count, list) = (unanswered.len(), unanswered.join("\n"));
    assert!(unanswered.is_empty(), "{count} of {} mistakes are not answered:\n{list}", mistakes.mistake.len());
}

/// Each finding as `FILE:LINE:COLUMN CODE: MESSAGE = HELP`.
fn found(folder: &Folder) -> Vec<String> {
    let checked = rulebook::check::review(folder);
    let said = checked.diagnostics.iter().map(|one| {
        let place = one.at.and_then(|at| checked.sources.place(at)).map(|place| place.to_string());
        let place = place.map(|place| place.trim_start_matches(&format!("{}/", folder.name)).to_owned());
        let help = one.help.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{} {}: {} = {help}", place.unwrap_or_default(), one.code, one.message)
    });
    said.collect()
}
