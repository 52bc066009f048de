//! Seeds: does a case test each statement of the documents that the packs were written from?

use std::collections::BTreeSet;
use std::path::Path;

/// The rows of the tables of a page that have an id: the id, and the cases or files for the statement.
fn rows(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    let rows = cells.map(|cells| match cells.as_slice() {
        [id, _, shown] => (*id, *shown),
        _ => panic!("a row has three cells: {cells:?}"),
    });
    rows.filter(|(id, _)| *id != "id").collect()
}

/// The names between backticks: cases, and lines of files of the pack.
fn names(shown: &str) -> Vec<&str> {
    shown.split('`').skip(1).step_by(2).collect()
}

/// What is wrong with a row, if anything.
fn fault(pack: &Path, shown: &str) -> Option<String> {
    if let Some(reason) = shown.strip_prefix("host: ") {
        return (reason.len() < 10).then(|| "it gives no reason".to_owned());
    }
    let missing = |name: &&str| match name.split_once(": ") {
        Some((file, line)) => ![pack, crate::root()]
            .iter()
            .any(|folder| std::fs::read_to_string(folder.join(file)).is_ok_and(|text| text.contains(line))),
        None => !pack.join(format!("tests/{name}.case")).is_file(),
    };
    let names = names(shown);
    if names.is_empty() {
        return Some("nothing shows it".to_owned());
    }
    names.into_iter().find(missing).map(|name| format!("there is no `{name}`"))
}

#[test]
fn each_row_of_a_seed_page_names_a_case_or_a_line() {
    let mut faults = Vec::new();
    for (name, least) in [("couple-ai", 39), ("dce", 37), ("roundtable", 168), ("writers-factory", 252)] {
        let page = std::fs::read_to_string(crate::root().join(format!("docs/seeds/{name}.md"))).unwrap();
        let pack = crate::root().join("rules").join(name);
        let rows = rows(&page);
        assert!(rows.len() >= least, "docs/seeds/{name}.md has {} rows", rows.len());
        let mut ids = BTreeSet::new();
        for (id, shown) in rows {
            let twice = (!ids.insert(id)).then(|| "the id stands twice".to_owned());
            let found = twice.or_else(|| fault(&pack, shown));
            faults.extend(found.map(|fault| format!("docs/seeds/{name}.md: {id}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_row_without_evidence_is_reported() {
    let pack = crate::root().join("rules/couple-ai");
    assert_eq!(fault(&pack, "`the-first-valid-action-counts` `pack.toml: calls = { most = 1 }`"), None);
    assert_eq!(fault(&pack, "host: the application draws the canvas"), None);
    assert!(fault(&pack, "`no-such-case`").is_some());
    assert!(fault(&pack, "`pack.toml: no such line`").is_some());
    assert!(fault(&pack, "").is_some());
    assert!(fault(&pack, "host: ").is_some());
}
