//! Forms: does a pack's own reader read what the model is told to write?

use rulebook::outcome::{Outcome, Verdict};
use rulebook::{Options, Program, workspace};
use std::path::Path;

fn packs() -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["rules", "tests/packs"].map(|folder| workspace::packs_below(&root.join(folder)).unwrap());
    let load = |path: std::path::PathBuf| Program::load(&workspace::read_pack(&path).unwrap().folder).program.unwrap();
    folders.into_iter().flatten().map(load).collect()
}

/// What comes of a text in a mode and a dialect.
fn read(program: &Program, mode: &str, dialect: Option<&str>, text: &str) -> Outcome {
    let session = program.resume(&serde_json::json!({ "mode": mode })).unwrap();
    let options = Options { dialect: dialect.map(str::to_owned), ..Options::default() };
    program.run_with(&session, text.as_bytes(), &options)
}

#[test]
fn the_form_of_an_answer_is_read_without_a_word() {
    let mut forms = 0;
    for program in packs() {
        for mode in program.modes().map(str::to_owned).collect::<Vec<_>>() {
            for form in program.forms(&mode) {
                let outcome = read(&program, &mode, Some(&form.dialect), &form.text);
                let what =
                    format!("{} {mode} {}:\n{}\n{:#?}", program.name(), form.dialect, form.text, outcome.diagnostics);
                assert!(outcome.diagnostics.iter().all(|finding| finding.code == "response/guardrail"), "{what}");
                let of = |role: &str| form.blocks.iter().filter(|block| block.role == role).count();
                let found =
                    [outcome.calls.len(), outcome.contents.len(), outcome.sections.len(), outcome.utterances.len()];
                assert_eq!(found, ["call", "content", "section", "utterance"].map(of), "{what}");
                assert_eq!(
                    (of("message") == 0, of("thinking")),
                    (outcome.message.is_empty(), outcome.thinking.len()),
                    "{what}"
                );
                forms += 1;
            }
        }
    }
    assert!(forms >= 6);
}

#[test]
fn the_example_of_every_permitted_action_is_accepted() {
    let mut actions = 0;
    for program in packs() {
        for mode in program.modes().map(str::to_owned).collect::<Vec<_>>() {
            for action in program.action_forms(&mode) {
                let Some(example) = &action.example else { continue };
                let outcome = read(&program, &mode, None, example);
                let what = format!("{} {mode}: {example}\n{:#?}", program.name(), outcome.diagnostics);
                assert_eq!(
                    (outcome.calls.len(), outcome.calls[0].action.as_str()),
                    (1, action.name.as_str()),
                    "{what}"
                );
                assert_eq!(outcome.calls[0].verdict, Verdict::Accepted, "{what}");
                actions += 1;
            }
        }
    }
    assert!(actions >= 20);
}
