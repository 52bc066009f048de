//! Snippets: which fenced snippets does a page have, and which pack do they make?
//!
//! `docs/codes/README.md` explains how the snippets of a page are run.
#![allow(dead_code, reason = "shared by two test binaries")]

use rulebook::{Options, Outcome, Program};
use std::collections::BTreeMap;

/// The pack into which the snippets of pages are merged.
pub(crate) fn base() -> String {
    let readme = include_str!("../../docs/codes/README.md");
    snippets(readme).into_iter().find(|snippet| snippet.language == "toml").unwrap().text
}

/// The pack that the snippets make, file by file; and the pack against which answers are replayed.
pub(crate) fn files(snippets: &[&Snippet]) -> (BTreeMap<String, String>, String) {
    let mut files = BTreeMap::from([("pack.toml".to_owned(), base())]);
    let mut against = base();
    for snippet in snippets {
        match (snippet.language.as_str(), snippet.path()) {
            ("toml", _) if snippet.has("whole") => drop(files.insert("pack.toml".into(), snippet.text.clone())),
            ("toml", _) if snippet.has("against") => against = lay_over(&against, &snippet.text),
            ("toml", _) if snippet.has("beside") => drop(files.insert("page.toml".into(), snippet.text.clone())),
            ("toml", _) => {
                let laid = lay_over(&files["pack.toml"], &snippet.text);
                files.insert("pack.toml".into(), laid);
            }
            (_, Some(path)) => drop(files.insert(path.to_owned(), snippet.text.clone())),
            _ => {}
        }
    }
    (files, against)
}

/// One fenced snippet of a page.
pub(crate) struct Snippet {
    pub(crate) language: String,
    words: Vec<String>,
    pub(crate) text: String,
}

impl Snippet {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }

    pub(crate) fn path(&self) -> Option<&str> {
        self.words.iter().map(String::as_str).find(|word| word.contains('/'))
    }

    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    /// The outcome of the response in the snippet.
    pub(crate) fn run(&self, program: &Program) -> Outcome {
        let partial = match self.value("mode") {
            Some(mode) => serde_json::json!({ "mode": mode }),
            None => serde_json::json!({}),
        };
        let session = program.resume(&partial).unwrap();
        let options = Options { truncated: self.has("truncated"), ..Options::default() };
        let outcome = program.run_with(&session, &self.bytes(), &options);
        let Some(kind) = self.value("miss") else { return outcome };
        let miss = serde_json::from_value(serde_json::json!({ "effect": 0, "kind": kind })).unwrap();
        program.reject(&session, outcome, &[miss], &options)
    }

    /// The response in the snippet.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let times = self.value("times").map_or(1, |times| times.parse().unwrap());
        let text = self.text.repeat(times);
        if !self.has("escaped") {
            return text.into_bytes();
        }
        let mut parts = text.split("\\x");
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(&part.as_bytes()[2..]);
        }
        bytes
    }
}

/// The fenced snippets of a page in order, each without its last line break.
pub(crate) fn snippets(page: &str) -> Vec<Snippet> {
    let mut snippets = Vec::new();
    let mut open: Option<(&str, Snippet)> = None;
    for line in page.lines() {
        match &mut open {
            None => {
                let info = line.trim_start_matches('`');
                let fence = &line[..line.len() - info.len()];
                if fence.len() >= 3 {
                    let mut words = info.split(' ').map(str::to_owned);
                    let language = words.next().unwrap();
                    open = Some((fence, Snippet { language, words: words.collect(), text: String::new() }));
                }
            }
            Some((fence, _)) if line == *fence => {
                let (_, mut snippet) = open.take().unwrap();
                snippet.text.pop();
                snippets.push(snippet);
            }
            Some((_, snippet)) => snippet.text.extend([line, "\n"]),
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    snippets
}

/// `over` merged into `base`, table by table, with keys ordered by name; a list is replaced.
pub(crate) fn lay_over(base: &str, over: &str) -> String {
    fn merge(base: &mut toml::Table, over: toml::Table) {
        for (key, value) in over {
            match (base.get_mut(&key), value) {
                (Some(toml::Value::Table(base)), toml::Value::Table(over)) => merge(base, over),
                (_, value) => drop(base.insert(key, value)),
            }
        }
    }
    let mut table: toml::Table = base.parse().unwrap();
    merge(&mut table, over.parse().unwrap());
    toml::to_string(&table).unwrap()
}
