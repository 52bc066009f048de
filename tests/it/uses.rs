//! Uses: is a name reported that refers to no file in scope, or to two, with a fix?

use rulebook::prompt::Request;
use rulebook::{Folder, Program};

const MARKS: &str = r#"open = { "[" ~ name ~ "]" }
name = @{ ASCII_ALPHA+ }
close = { "[/" ~ name ~ "]" }
"#;
const DIALECT: &str = "[dialects.NAME]\ngrammar = \"marks\"\nblocks.message = { role = \"message\" }\n";
const PROMPT: &str = "[prompts.NAME]\nlayers = [{ id = \"role\", template = \"prompt/role.md\" }, { id = \"m\", source = \"message\" }]\n";
const TIERS: &str = "[tiers.any]\ncontext = 8000\nreserve = 1000\n";

/// A pack with these tables and files. In the tables, `NAME` is the name of the pack.
fn pack(name: &str, uses: Vec<Folder>, tables: &[&str], files: &[(&str, &str)]) -> Folder {
    let paths: Vec<String> = uses.iter().map(|used| format!("../{}", used.name)).collect();
    let text = format!("[pack]\nname = \"{name}\"\nuse = {paths:?}\n{}", tables.concat().replace("NAME", name));
    let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).chain([("pack.toml", text)]);
    Folder { others: paths.iter().cloned().zip(uses).collect(), ..Folder::new(name, files) }
}

/// Checks the findings in a pack: places, codes, messages and helps.
#[track_caller]
fn check(folder: &Folder, expected: &[&str]) {
    let loaded = rulebook::check::review(folder);
    let found = loaded.diagnostics.iter().map(|one| {
        let at = one.at.and_then(|at| loaded.sources.place(at)).map(|place| place.to_string()).unwrap_or_default();
        let help = one.help.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{at} {}: {} ({help})", one.code, one.message)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn a_grammar_of_a_pack_that_is_not_used_is_unknown() {
    let has = pack("has", vec![], &[DIALECT], &[("grammar/marks.pest", MARKS)]);
    let lacks = pack("lacks", vec![], &[DIALECT], &[]);
    check(
        &pack("desk", vec![has, lacks.clone()], &[], &[]),
        &[
            "lacks/pack.toml:5:11 pack/unknown-grammar: there is no grammar `marks` (the pack `has` has one, but `lacks` \
           does not use it: add `has` to the `use` of `lacks`)",
        ],
    );
    check(
        &pack("desk", vec![lacks], &[DIALECT], &[("grammar/marks.pest", MARKS)]),
        &["lacks/pack.toml:5:11 pack/unknown-grammar: there is no grammar `marks` (the pack `desk` has one, but \
           `lacks` does not use it: add the file to `lacks`, or let `desk` replace the table that takes it)"],
    );
}

#[test]
fn a_text_of_a_pack_that_is_not_used_is_missing() {
    let dialect = DIALECT.replace("marks", "tags");
    let message = "[messages.shut]\ntemplate = \"prompt/shut.md\"\n[[rules]]\nid = \"shut\"\non = \"start\"\n\
                   effects = [{ say = \"shut\" }]\n";
    let files = [("prompt/role.md", "Be kind.\n{% include \"prompt/tone.md\" %}\n")];
    let lacks = pack("lacks", vec![], &[&dialect, TIERS, PROMPT, message], &files);
    let own = [("prompt/tone.md", "Softly.\n"), ("prompt/shut.md", "Shut.\n")];
    check(
        &pack("desk", vec![lacks], &[], &own),
        &[
            "lacks/pack.toml:13:12 pack/missing-file: the pack has no file `prompt/shut.md` (the pack `desk` has one, \
             but `lacks` does not use it: add the file to `lacks`, or let `desk` replace the table that takes it)",
            "lacks/prompt/role.md:2:12 pack/bad-expression: the pack has no file `prompt/tone.md` (the pack `desk` has \
             one, but `lacks` does not use it: add the file to `lacks`, or let `desk` replace the table that takes it)",
        ],
    );
}

#[test]
fn a_text_for_a_mode_of_the_using_pack_is_not_lent_to_the_used_one() {
    let dialect = DIALECT.replace("marks", "tags");
    let prompt = PROMPT.replace("role.md", "{{ mode }}.md");
    let house = pack("house", vec![], &[&dialect, TIERS, &prompt], &[("prompt/default.md", "Be kind.\n")]);
    let mode = "[modes.night]\n";
    check(
        &pack("desk", vec![house.clone()], &[mode], &[("prompt/night.md", "Be quiet.\n")]),
        &[
            "house/pack.toml:11:37 pack/missing-file: the pack has no file `prompt/night.md` (the pack `desk` has one, but \
           `house` does not use it: add the file to `house`, or let `desk` replace the table that takes it)",
        ],
    );
    let replaced = prompt.replace("NAME", "house") + "replace = true\n";
    check(&pack("desk", vec![house], &[mode, &replaced], &[("prompt/night.md", "Be quiet.\n")]), &[]);
}

#[test]
fn a_file_of_two_used_packs_is_ambiguous_until_one_uses_the_other() {
    let file = [("grammar/marks.pest", MARKS), ("prompt/tone.md", "Softly.\n")];
    let dialect = "[dialects.tags_NAME]\ngrammar = \"tags\"\nblocks.NAME = { role = \"message\" }\n";
    let one = pack("one", vec![], &[dialect], &file);
    let two = |uses: &[Folder]| pack("two", uses.to_vec(), &[dialect], &file);
    let own = ("prompt/role.md", "{% include \"prompt/tone.md\" %}\n");
    let desk = |two: Folder, files: &[(&str, &str)]| {
        pack("desk", vec![one.clone(), two], &[DIALECT, TIERS, PROMPT], &[&[own], files].concat())
    };
    check(
        &desk(two(&[]), &[]),
        &[
            "desk/pack.toml:5:11 pack/duplicate-name: `one` and `two` both have a `grammar/marks.pest`, and `desk` uses \
             both (add a `grammar/marks.pest` to `desk`, which then counts instead)",
            "desk/prompt/role.md:1:12 pack/duplicate-name: `one` and `two` both have a `prompt/tone.md`, and `desk` uses \
             both (add a `prompt/tone.md` to `desk`, which then counts instead)",
        ],
    );
    check(&desk(two(&[]), &file), &[]);
    // `two` uses `one`, so its own files take precedence.
    check(&desk(two(std::slice::from_ref(&one)), &[]), &[]);
}

#[test]
fn a_misspelt_name_is_near_one_in_scope_alone() {
    let has = pack("has", vec![], &[DIALECT], &[("grammar/marks.pest", MARKS)]);
    let typo = DIALECT.replace("marks", "mark");
    let near = "there is no grammar `mark` (did you mean `marks`?)";
    check(
        &pack("desk", vec![has.clone()], &[&typo], &[]),
        &[&format!("desk/pack.toml:5:11 pack/unknown-grammar: {near}")],
    );
    let other = pack("other", vec![], &[&typo], &[]);
    let found = rulebook::check::review(&pack("desk", vec![has, other], &[], &[])).diagnostics;
    assert!(
        found.iter().all(|one| one.help.as_ref().is_none_or(|help| !help.to_string().contains("`marks`"))),
        "{found:?}"
    );
}

#[test]
fn a_file_that_the_tables_of_a_used_pack_seem_to_take_is_unused() {
    let texts = [("prompt/role.md", "Be kind.\n"), ("grammar/marks.pest", MARKS)];
    let house = pack("house", vec![], &[DIALECT, TIERS, PROMPT], &texts);
    let desk = pack("desk", vec![house], &[], &[("prompt/role.md", "Be brief.\n"), ("grammar/marks.pest", MARKS)]);
    check(
        &desk,
        &[
            "desk/grammar/marks.pest:1:1 pack/unused-file: nothing uses `grammar/marks.pest` (the tables of `house` take \
             the `grammar/marks.pest` of their own pack: name it in the `grammar` of a dialect, or delete it)",
            "desk/prompt/role.md:1:1 pack/unused-file: nothing uses `prompt/role.md` (the tables of `house` take the \
             `prompt/role.md` of their own pack: use it in a layer, or delete it)",
        ],
    );
    let program = Program::load(&desk).into_result().unwrap();
    let prompt = program.prompt(&program.session(), &Request::default());
    assert_eq!(prompt.text, "Be kind.");
    assert_eq!(prompt.ledger.layers[0].source.as_deref(), Some("house/prompt/role.md"));
}

#[test]
fn a_text_may_include_one_of_its_own_name_in_a_used_pack() {
    // By name alone, the text of `house` would include itself through the text of `desk`.
    let house = [("prompt/base.md", "Base.\n{% include \"prompt/role.md\" %}\n"), ("prompt/role.md", "Be kind.\n")];
    let dialect = DIALECT.replace("marks", "tags");
    let house = pack("house", vec![], &[&dialect, TIERS], &house);
    let desk = [("prompt/role.md", "Be brief.\n{% include \"prompt/base.md\" %}\n")];
    let program = Program::load(&pack("desk", vec![house], &[PROMPT], &desk)).into_result().unwrap();
    let prompt = program.prompt(&program.session(), &Request::default());
    assert_eq!(prompt.text, "Be brief.\nBase.\nBe kind.");
}

#[test]
fn the_fields_of_a_call_are_written_in_the_grammar_of_its_pack() {
    let tables = "[dialects.NAME]\ngrammar = \"tags\"\nblocks.NAME = { role = \"call\", payload = \"tags\", fields = \"marks\" }\n\
                  [actions.NAME]\nparams = { text = { type = \"string\", required = true } }\neffects = [{ emit = \"NAME\" }]\n";
    let curly = MARKS.replace("\"[", "\"{").replace("]\"", "}\"");
    let used = |name, marks| pack(name, vec![], &[tables], &[("grammar/marks.pest", marks)]);
    let program = pack("desk", vec![used("square", MARKS), used("curly", &curly)], &[], &[]);
    let program = Program::load(&program).into_result().unwrap();
    for (name, field) in [("square", "[text]Tea[/text]"), ("curly", "{text}Tea{/text}")] {
        let outcome = program.run(&program.session(), &format!("<{name}>{field}</{name}>"));
        assert_eq!(outcome.calls[0].params.get("text"), Some(&"Tea".into()), "{outcome:?}");
    }
}

#[test]
fn a_pack_that_two_others_use_is_taken_once_with_its_own_files() {
    let base = |text| pack("base", vec![], &[&DIALECT.replace("marks", "tags"), TIERS], &[("prompt/base.md", text)]);
    let role = [("prompt/role.md", "{% include \"prompt/base.md\" %}\n")];
    let using = |name, text| pack(name, vec![base(text)], &[PROMPT], &role);
    check(&pack("desk", vec![using("one", "Same.\n"), using("two", "Same.\n")], &[], &[]), &[]);
    // Packs that differ only in a text are two packs.
    let found =
        rulebook::check::review(&pack("desk", vec![using("one", "This.\n"), using("two", "That.\n")], &[], &[]));
    assert!(found.diagnostics.iter().any(|one| one.code == "pack/duplicate-name"), "{:?}", found.diagnostics);
}

#[test]
fn an_excuse_of_a_used_pack_is_judged_with_that_pack_alone() {
    let prompt = |head: &str, layers: &str| {
        format!("{head}\nlayers = [{{ id = \"role\", text = \"prompt/role.md\" }}{layers}]\n")
    };
    let excused = prompt("# rulebook: allow(prompt/no-message) the host adds it\n[prompts.main]", "");
    let own = prompt("[prompts.main]\nreplace = true", ", { id = \"m\", source = \"message\" }");
    let dialect = DIALECT.replace("marks", "tags");
    let base = pack("base", vec![], &[&dialect, TIERS, &excused], &[("prompt/role.md", "You help.\n")]);
    check(&base, &[]);
    check(&pack("desk", vec![base], &[&own], &[]), &[]);
}
