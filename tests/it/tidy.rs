//! Tidiness: do modules import only from lower floors, say what they do, and know no pack?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The floors of `src/`: a module imports only from those before it.
const FLOORS: &[&str] = &[
    "text", "value", "json", "diagnostic", "provider", "surface", "grammar", "expression", "markup", "pack", "program",
    "document", "session", "judge", "flow", "prompt", "outcome", "host", "cases", "check", "compare", "schemas",
];

/// The crates below the engine, and the members of the workspace that each may use.
const CRATES: &[(&str, &[&str])] = &[
    ("rulebook-report", &["rulebook"]),
    ("rulebook-fs", &["rulebook"]),
    ("rulebook-cli", &["rulebook", "rulebook_fs", "rulebook_report"]),
];

#[test]
fn a_module_imports_only_from_the_floors_above_it() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let Some(own) = floor(&path) else { continue };
        for (number, line) in code(&text).lines().enumerate() {
            for imported in imports(line) {
                match FLOORS.iter().position(|floor| *floor == imported) {
                    Some(other) if other > own => {
                        faults.push(format!("{}:{}: {} imports {imported}", path.display(), number + 1, FLOORS[own]));
                    }
                    Some(_) => {}
                    None => faults.push(format!("{}:{}: {imported} is no floor", path.display(), number + 1)),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The drawing of the floors in `docs/architecture.md` has an arrow to each floor that another one imports, unless a
/// path of other arrows has the same ends. `UPDATE=1` draws it again.
#[test]
fn the_drawing_shows_what_each_floor_imports() {
    let mut imported = vec![BTreeSet::new(); FLOORS.len()];
    for (path, text) in sources() {
        let Some(own) = floor(&path) else { continue };
        let names = code(&text).lines().flat_map(imports).collect::<Vec<_>>();
        imported[own].extend(names.iter().filter_map(|name| FLOORS.iter().position(|floor| floor == name)));
        imported[own].remove(&own);
    }
    let mut reached: Vec<BTreeSet<usize>> = Vec::new();
    let mut drawing = String::from("```mermaid\nflowchart BT\n");
    for (own, direct) in imported.iter().enumerate() {
        let beyond: BTreeSet<usize> = direct.iter().flat_map(|other| reached[*other].iter().copied()).collect();
        for other in direct.difference(&beyond) {
            drawing += &format!("    {} --> {}\n", FLOORS[own], FLOORS[*other]);
        }
        reached.push(direct | &beyond);
    }
    drawing += "```\n";
    let path = crate::root().join("docs/architecture.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- floors -->\n").unwrap();
    let (drawn, after) = rest.split_once("<!-- /floors -->").unwrap();
    if drawn != drawing && std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, format!("{before}<!-- floors -->\n{drawing}<!-- /floors -->{after}")).unwrap();
        return;
    }
    assert_eq!(drawn, drawing, "UPDATE=1 draws it anew");
}

#[test]
fn a_module_says_what_it_answers_and_what_it_never_does() {
    let mut faults = Vec::new();
    let engine = sources().into_iter().filter(|(path, _)| floor(path).is_some());
    let crates = CRATES.iter().flat_map(|(name, _)| below(&format!("crates/{name}/src")));
    for (path, text) in engine.chain(crates.filter(|(path, _)| !path.ends_with("main.rs"))) {
        let docs: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        let first = docs.first().unwrap_or(&"");
        if !(first.contains(": ") && first.contains('?')) {
            faults.push(format!("{}: the first line is a noun, a colon, a question", path.display()));
        }
        for word in [" In: ", " Out: ", " Never: "] {
            if !docs.iter().any(|line| line.starts_with(word)) {
                faults.push(format!("{}: no line says `{}`", path.display(), word.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The methods of a program for hosts are in one file; public methods elsewhere are hidden from the documentation.
#[test]
fn the_methods_for_hosts_are_in_one_place() {
    let mut faults = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| path != Path::new("host.rs")) {
        let code = code(&text);
        let blocks = code.split("\nimpl Program {\n").skip(1).map(|rest| rest.split("\n}\n").next().unwrap());
        for block in blocks {
            let mut hidden = false;
            for line in block.lines() {
                if line.starts_with("    pub fn ") && !hidden {
                    faults.push(format!("{}: {}", path.display(), line.trim()));
                }
                hidden = line.starts_with("    #[") && (hidden || line.contains("doc(hidden)"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The modules of the engine that are public without the feature `unstable`.
const PUBLIC: &[&str] = &["cases", "outcome", "prompt"];

#[test]
fn examples_and_guides_use_the_public_face_alone() {
    let readme = std::fs::read_to_string(crate::root().join("README.md")).unwrap();
    let mut texts = vec![(PathBuf::from("README.md"), readme)];
    for folder in ["examples", "docs"] {
        for entry in walkdir::WalkDir::new(crate::root().join(folder)).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
                texts.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut faults = Vec::new();
    let mut uses = 0;
    for (path, text) in &texts {
        for (number, line) in text.lines().enumerate() {
            for (at, _) in line.match_indices("rulebook::") {
                let module =
                    line[at + "rulebook::".len()..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                uses += 1;
                if FLOORS.contains(&module) && !PUBLIC.contains(&module) {
                    faults.push(format!("{}:{}: `{module}` needs the feature `unstable`", path.display(), number + 1));
                }
            }
        }
    }
    assert!(faults.is_empty() && uses > 40, "{uses} uses\n{}", faults.join("\n"));
    // A host that keeps packs on disk, or carries effects out there, builds without it, too.
    let manifest = std::fs::read_to_string(crate::root().join("crates/rulebook-fs/Cargo.toml")).unwrap();
    assert!(!manifest.contains("unstable"), "rulebook-fs would switch `unstable` on for every host that uses it");
}

#[test]
fn a_crate_uses_only_those_above_it() {
    for (name, may) in CRATES {
        let manifest = std::fs::read_to_string(crate::root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let uses = manifest["dependencies"].as_table().unwrap().keys().map(|key| key.replace('-', "_"));
        let members: Vec<String> = uses.filter(|key| key.starts_with("rulebook")).collect();
        assert_eq!(&members, may, "{name}");
    }
}

/// What `cargo tree` prints: one line for each dependency.
fn tree(arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--prefix", "none"]).args(arguments).current_dir(crate::root());
    let tree = command.output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    String::from_utf8(tree.stdout).unwrap()
}

/// The engine has no files, no terminal, no argument parser and no clock.
#[test]
fn the_tree_of_the_engine_holds_no_io() {
    let tree = tree(&["--package", "rulebook", "--edges", "normal", "--all-features"]);
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("rulebook") && names.contains("regex"), "{names:?}");
    for absent in ["walkdir", "cap-std", "clap", "anstream", "annotate-snippets", "notify", "humantime", "tempfile"] {
        assert!(!names.contains(absent), "{absent} is in the tree of the engine");
    }
}

/// A first run of the command has to compile its dependencies, so schemas are files in it, and not derived.
#[test]
fn the_command_derives_no_schemas() {
    let tree = tree(&["--package", "rulebook-cli", "--edges", "normal"]);
    assert!(tree.contains("rulebook-report ") && !tree.contains("schemars "), "{tree}");
}

/// Cargo unifies the features of everything that is built together, so a feature of the engine's dependencies could
/// change a host's own code.
#[test]
fn the_engine_leaves_the_features_of_shared_crates_alone() {
    let tree = tree(&["--package", "rulebook", "--edges", "features,normal", "--all-features"]);
    assert!(tree.contains("serde_json feature \"std\""), "{tree}");
    for absent in ["preserve_order", "arbitrary_precision", "unbounded_depth", "raw_value"] {
        for shared in ["serde_json", "toml", "schemars"] {
            assert!(!tree.contains(&format!("{shared} feature \"{absent}\"")), "{shared}/{absent}");
        }
    }
}

/// CONTRIBUTING.md names files: every word of it that looks like a path of this repository is one.
#[test]
fn the_map_of_the_source_names_what_there_is() {
    let root = crate::root();
    let map = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let recipes = map.split("## Where a change goes").nth(1).unwrap().split("## How the code reads").next().unwrap();
    let words = recipes.split('`').skip(1).step_by(2);
    let paths: Vec<&str> =
        words.filter(|word| (word.contains('/') && !word.contains(' ')) || *word == "grammar").collect();
    let missing: Vec<&&str> = paths.iter().filter(|path| !root.join(path).exists()).collect();
    assert!(paths.len() > 40 && missing.is_empty(), "{} paths, {missing:?}", paths.len());
}

/// The workflows repeat values of the manifests, which they cannot read.
#[test]
fn the_workflows_name_the_minimum_version_and_the_targets_of_fuzzing() {
    let read = |path: &str| std::fs::read_to_string(crate::root().join(path)).unwrap();
    let table = |path: &str| read(path).parse::<toml::Table>().unwrap();
    let version = table("Cargo.toml")["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    assert_eq!(read(".github/workflows/ci.yml").matches(&format!("[stable, \"{version}\"]")).count(), 2);
    assert!(read("README.md").contains(&format!("minimum supported Rust version is {version}")));
    let fuzz = table("fuzz/Cargo.toml");
    let mut targets: Vec<&str> =
        fuzz["bin"].as_array().unwrap().iter().map(|bin| bin["name"].as_str().unwrap()).collect();
    targets.sort_unstable();
    assert!(read(".github/workflows/nightly.yml").contains(&format!("target: [{}]", targets.join(", "))));
}

#[test]
fn no_name_of_a_pack_is_in_the_engine() {
    let names = names_of_packs();
    let mut faults = Vec::new();
    for (path, text) in sources() {
        if floor(&path).is_none() {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            for literal in literals(line) {
                if names.contains(literal) {
                    faults.push(format!("{}:{}: `{literal}` is a pack's name", path.display(), number + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The glossary lists words with too many meanings: no name in the engine or in its crates contains one, or its plural.
#[test]
fn names_are_words_of_the_trade() {
    let glossary = std::fs::read_to_string(crate::root().join("docs/glossary.md")).unwrap();
    let table = glossary.split("| not | but |").nth(1).unwrap().lines().skip(2).take_while(|row| row.starts_with('|'));
    let refused: BTreeSet<String> =
        table.flat_map(|row| row.split('|').nth(1).unwrap().split(',').map(|word| word.trim().to_owned())).collect();
    assert!(refused.len() > 10, "{refused:?}");
    let crates = CRATES.iter().map(|(name, _)| format!("crates/{name}/src")).chain(["bindings/python/src".to_owned()]);
    let texts = regex::Regex::new(r##"(?s)r#".*?"#|'(\\.|[^'\\])'|"(\\.|[^"\\])*"|//[^\n]*"##).unwrap();
    let mut faults = Vec::new();
    for (path, text) in crates.flat_map(|folder| below(&folder)).chain(sources()) {
        if path.iter().any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        let code = texts.replace_all(&code(&text), " ").into_owned();
        let names: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let is_refused =
            |word: &String| refused.contains(word) || word.strip_suffix('s').is_some_and(|word| refused.contains(word));
        let refused = names.iter().filter(|name| words(name).iter().any(is_refused));
        faults.extend(refused.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// One type name is one type, so that nobody has to ask which `Block` is meant. The types `Arguments` of the command,
/// one in each of its files, are always used with their module.
#[test]
fn a_type_has_a_name_of_its_own() {
    let declares = regex::Regex::new(r"(?m)^(?:pub(?:\([a-z :]+\))? )?(?:struct|enum|trait|type|union) (\w+)").unwrap();
    let mut faults = Vec::new();
    for folder in ["src", "crates/rulebook-fs/src", "crates/rulebook-report/src", "bindings/python/src"] {
        let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
        for (path, text) in below(folder) {
            let code = code(&text);
            for name in declares.captures_iter(&code).map(|found| found[1].to_owned()) {
                if let Some(other) = known.insert(name.clone(), path.clone()) {
                    faults.push(format!("{folder}: {name} in {} and {}", other.display(), path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The words of an identifier, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        words.last_mut().unwrap().extend(Some(c).filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()));
        before = c;
    }
    words
}

/// Every file of the engine.
fn sources() -> Vec<(PathBuf, String)> {
    below("src")
}

/// Every file below a folder, with its path there. `tests.rs` and folders `tests` have only unit tests, and are left
/// out.
fn below(folder: &str) -> Vec<(PathBuf, String)> {
    let root = crate::root().join(folder);
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.unwrap();
        let is_code = entry.path().extension().is_some_and(|extension| extension == "rs");
        let path = entry.path().strip_prefix(&root).unwrap();
        if is_code && !path.ends_with("tests.rs") && !path.iter().any(|folder| folder == "tests") {
            found.push((path.to_owned(), std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    assert!(!found.is_empty());
    found
}

/// The floor of a file; `None` for `lib.rs` and `main.rs`.
fn floor(path: &Path) -> Option<usize> {
    let first = path.iter().next().unwrap().to_str().unwrap();
    let name = first.strip_suffix(".rs").unwrap_or(first);
    if matches!(name, "lib" | "main") {
        return None;
    }
    let floor = FLOORS.iter().position(|floor| *floor == name);
    assert!(floor.is_some(), "src/{name} is no floor: give it a place in the list");
    floor
}

/// The text without comments and without its unit tests, which may import from any floor.
fn code(text: &str) -> String {
    let mut code = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            // The item may have other attributes before it, and ends with its own line or with its closing brace.
            let indent = &line[..line.len() - line.trim_start().len()];
            let ends = [format!("{indent}}}"), format!("{indent}}};")];
            let mut item = lines
                .by_ref()
                .inspect(|_| code.push(String::new()))
                .skip_while(|line| line.trim_start().starts_with("#[") || !(line.ends_with(['{', ';'])));
            if item.next().is_some_and(|first| first.ends_with('{')) {
                item.find(|line| ends.iter().any(|end| line == end));
            }
            code.push(String::new());
        } else {
            code.push(if line.trim_start().starts_with("//") { String::new() } else { line.to_owned() });
        }
    }
    code.join("\n")
}

/// The lists of floors that people read are those that the test above reads.
#[test]
fn the_floors_are_listed_in_order() {
    let rows = |text: &str, margin: &str| -> Vec<String> {
        let (_, table) = text.split_once(&format!("{margin}| floor |")).unwrap();
        let rows = table.lines().skip(2).map_while(|line| line.strip_prefix(margin)?.strip_prefix("| "));
        let name =
            |row: &str| row.chars().skip_while(|c| !c.is_alphabetic()).take_while(|c| c.is_alphabetic()).collect();
        rows.map(name).collect()
    };
    let read = |path: &str| std::fs::read_to_string(crate::root().join(path)).unwrap();
    assert_eq!(rows(&read("src/lib.rs"), "//! "), FLOORS);
    assert_eq!(rows(&read("docs/architecture.md"), ""), FLOORS);
}

/// The floors that a line names after `crate::`, alone or in braces; a macro's `$crate` counts as well.
fn imports(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match rest.strip_prefix('{') {
            Some(list) => found.extend(list.split(['}', ';']).next().unwrap().split(',').map(|one| word(one.trim()))),
            None => found.push(word(rest)),
        }
    }
    found.retain(|name| name.starts_with(char::is_lowercase));
    found
}

/// The string literals of a line, found well enough for these tests.
fn literals(line: &str) -> Vec<&str> {
    line.split('"').skip(1).step_by(2).collect()
}

/// The names that the packs below `rules/` declare, without those that are also words of the engine.
fn names_of_packs() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let root = crate::root().join("rules");
    for entry in walkdir::WalkDir::new(&root).into_iter().filter_map(Result::ok) {
        let is_table = entry.path().extension().is_some_and(|extension| extension == "toml");
        // The names in `rules/dialects` are those of models and servers, of which the engine reads some in replies of
        // APIs.
        if !is_table || entry.path().iter().any(|part| part == "tests" || part == "dialects") {
            continue;
        }
        let table: toml::Table = std::fs::read_to_string(entry.path()).unwrap().parse().unwrap();
        for kind in ["modes", "actions", "dialects", "contents", "state"] {
            names.extend(
                table.get(kind).and_then(toml::Value::as_table).into_iter().flat_map(|table| table.keys().cloned()),
            );
        }
        for dialect in
            table.get("dialects").and_then(toml::Value::as_table).into_iter().flat_map(|table| table.values())
        {
            let blocks = dialect.get("blocks").and_then(toml::Value::as_table);
            names.extend(blocks.into_iter().flat_map(|blocks| blocks.keys().cloned()));
        }
        for guardrail in table.get("guardrails").and_then(toml::Value::as_array).into_iter().flatten() {
            names.extend(guardrail.get("id").and_then(toml::Value::as_str).map(str::to_owned));
        }
    }
    // A pattern with `*` is not a name.
    names.retain(|name| !name.contains('*') && !is_own_word(name));
    names
}

/// Words of the engine: tables and keys of packs, closed lists, members of contracts, filters, shipped grammars, and
/// the variables of conditions.
fn is_own_word(name: &str) -> bool {
    use rulebook::{Defect, Remark, Strategy};
    let word = |schema: &serde_json::Value| schema.to_string().contains(&format!("\"{name}\""));
    Defect::from_name(name).is_some()
        || Strategy::from_name(name).is_some()
        || Remark::from_name(name).is_some()
        || name == "action"
        || name == "item"
        || name == "precision" // an argument of the filter `round`, as in Jinja
        || rulebook::grammar::shipped(name).is_some()
        || !name.contains(char::is_alphanumeric)
        || rulebook::expression::filters().any(|filter| filter == name)
        || rulebook::schemas::ALL.iter().any(|described| word(&described.schema().unwrap()))
}
