//! Testing: does `rulebook test` rewrite no more than it is asked to, and say what no case reaches?

use crate::command::{at_terminal, folder, outputs, rulebook};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const PACK: &str = r#"
[pack]
name = "p"
[dialects.tags]
grammar = "tags"
blocks = { message = { role = "message" }, action = { role = "call", name = "@type", payload = "tags" } }
[actions.go]
effects = [{ emit = "gone", when = "false" }]
[modes.m]
permits = [{ action = "go", when = "false" }]
[[inputs]]
class = "words"
[[inputs]]
class = "bye"
matches = 'bye'
[[rules]]
id = "part"
on = "input.words"
when = "text == 'x'"
effects = [{ emit = "parted" }]
[[guardrails]]
id = "shouting"
on = "message"
matches = '!!'
"#;

const FAILING: &str = "claim = \"c\" # a claim\r\n\n=== response ===\n<message>Hi</message><action type='go'/>\n=== expect ===\n\
    # what is shown\nmessage = 'Ho' # greets\ncalls = [\n  # the only one\n  { action = \"go\", verdict = \"accepted\" },\n]\n\
    codes = []\n\n=== user ===\ngood bye\n=== expect ===\nclass = \"bye\"\n";

#[test]
fn the_packs_at_hand_are_clean_and_do_what_their_cases_say() {
    let root = crate::root();
    for arguments in [&["check", "--strict"][..], &["test"], &["test", "--stream", "1"], &["test", "--stream", "7"]] {
        let arguments = [arguments, &["rules", "tests/packs"]].concat();
        outputs(root, &arguments, "", 0);
    }
}

fn pack(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir_all(folder.join("p/tests")).unwrap();
    fs::write(folder.join("p/pack.toml"), PACK).unwrap();
    fs::write(folder.join("p/tests/it-fails.case"), FAILING).unwrap();
    folder
}

#[track_caller]
fn test(folder: &Path, arguments: &[&str], status: i32) -> (String, String) {
    outputs(folder, &[&["test"], arguments].concat(), "", status)
}

#[test]
fn an_update_changes_the_values_that_failed_and_nothing_else() {
    let folder = pack("test-update");
    test(&folder, &["p"], 1);
    let (_, err) = test(&folder, &["p", "--update"], 0);
    assert_eq!(err, "updated `p/tests/it-fails.case`\n");
    let expected = FAILING
        .replace("'Ho'", "\"Hi\"")
        .replace("\"accepted\"", "\"dropped\"")
        .replace("codes = []", "codes = [\"response/forbidden-call\"]")
        .replace("class = \"bye\"", "class = \"words\"");
    assert_eq!(fs::read_to_string(folder.join("p/tests/it-fails.case")).unwrap(), expected);
    let (_, err) = test(&folder, &["p", "--update"], 0);
    assert_eq!(err, "");
    assert_eq!(fs::read_dir(folder.join("p/tests")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn an_update_fills_expectations_that_are_empty() {
    let folder = pack("test-update-empty");
    let file = folder.join("p/tests/it-fails.case");
    let case = |first: &str, last: &str| {
        format!(
            "claim = 'c'\n\n[classes]\nbye = ['bye']\n=== response ===\n<message>Hi</message><action type='go'/>\n=== expect ===\n{first}\
             # nothing else\n\n=== user ===\ngood bye\n=== expect ===\nclass = 'words'\n=== user ===\nOh\n=== expect ==={last}"
        )
    };
    fs::write(&file, case("", "")).unwrap();
    test(&folder, &["p"], 1);
    let (_, err) = test(&folder, &["p", "--update", "--filter", "another"], 3);
    assert!(!err.contains("filled"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), case("", ""));
    let (_, err) = test(&folder, &["p", "--update"], 1);
    assert!(err.starts_with("filled `p/tests/it-fails.case`\n"), "{err}");
    let first = "status = \"degraded\"\nmessage = \"Hi\"\ncalls = [\n  { action = \"go\", verdict = \"dropped\" },\n]\n\
        codes = [\"response/forbidden-call\"]\nsession = { mode = \"m\" }\n";
    let last = "\nclass = \"words\"\ncodes = []\nsession = { mode = \"m\" }\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), case(first, last));

    // Other faults and failures of a case are left to its author, and so are expectations of a prompt.
    for text in [
        "claim = 'c'\n=== response ===\nHi\n",
        "claim = 'c'\nmood = 'm'\n=== response ===\nHi\n=== expect ===\n",
        "claim = 'c'\nmode = 'n'\n=== response ===\nHi\n=== expect ===\n",
        "claim = 'c'\ntodo = 'soon'\n=== response ===\nHi\n=== expect ===\n",
        "claim = 'c'\n=== prompt ===\nHi\n=== expect ===\n",
    ] {
        fs::write(&file, text).unwrap();
        test(&folder, &["p", "--update"], 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn update_is_refused_in_ci() {
    let folder = pack("test-update-ci");
    let output = at_terminal(&folder, &["test", "p", "--update"]).env("CI", "true").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.join("p/tests/it-fails.case")).unwrap(), FAILING);
}

#[test]
fn a_state_that_does_not_fit_is_marked_where_it_is() {
    let folder = pack("test-state");
    let declared =
        "[state]\nturns = { type = \"integer\" }\nnotes = { type = \"array\", items = { type = \"string\" } }\n";
    fs::write(folder.join("p/state.toml"), declared).unwrap();
    let case = "claim = \"c\"\nstate = { turns = 1, notes = [\"a\", 2], trns = 3 }\n=== response ===\nHi\n=== expect ===\ncodes = []\n";
    fs::write(folder.join("p/tests/it-fails.case"), case).unwrap();
    let (out, _) = test(&folder, &["p", "--format", "plain"], 1);
    let at = "p/tests/it-fails.case:2:";
    assert!(out.contains(&format!("{at}36: error[pack/session-misfit]: `state.notes.1`: 2 is not of type")), "{out}");
    assert!(out.contains(&format!("{at}40: error[pack/session-misfit]: the pack's state has no `trns`")), "{out}");
}

#[test]
fn an_impossible_expectation_suggests_the_nearest_word() {
    let folder = pack("test-meant");
    let reported = |said: &str, expected: &str, help: &str| {
        let case = format!("claim = \"c\"\n{said}\n=== expect ===\n{expected}\n");
        fs::write(folder.join("p/tests/it-fails.case"), case).unwrap();
        let (out, _) = test(&folder, &["p"], 1);
        assert!(out.contains(help), "{expected}: {out}");
    };
    let answer = "=== response ===\n<message>Hi</message><action type='go'/>";
    reported(answer, "calls = [{ verdict = \"accept\" }]", "did you mean `accepted`?");
    reported(answer, "calls = [{ verdct = \"accepted\" }]", "did you mean `verdict`?");
    reported(answer, "session = { stat = {} }", "did you mean `state`?");
    reported(answer, "calls = [{ name = \"go\" }]", "there is `action`, `params`, `verdict`");
    reported("=== user ===\nx", "say = \"x\"", "it is a list: put it in brackets");
    reported(answer, "codes = [\"forbidden-call\"]", "did you mean `response/forbidden-call`?");
    reported(answer, "mode = \"n\"", "where it leads is `session = { mode = … }`");
    let words = "=== user ===\nHello";
    reported(words, "mode = \"m\"", "what comes of it is `session = { mode = … }`");
    reported("=== user ===\nx", "effects = [{ kind = \"emmit\" }]", "did you mean `emit`?");
    fs::write(folder.join("p/state.toml"), "[state.twice]\ncompute = \"{{ 2 }}\"\n").unwrap();
    let computed = format!("state = {{ twice = 3 }}\n{answer}");
    reported(&computed, "message = \"Hi\"", "`state.twice` is computed");
    let prompts = "[prompts.p]\nlayers = [{ id = \"m\", source = \"message\" }]\n[tiers.any]\ncontext = 9000\nreserve = 1000\n\
                   [models.\"large-one\"]\ntier = \"any\"\n";
    fs::write(folder.join("p/prompts.toml"), prompts).unwrap();
    let prompt = "model = \"lagre-one\"\n=== prompt ===\nHello";
    reported(prompt, "contains = [\"Hello\", \"Bye\"]", "the prompt does not contain this");
    let output = rulebook(&folder, &["check", "--strict", "p"], b"");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(
        out.contains("no table declares the model `lagre-one`") && out.contains("did you mean `large-one`?"),
        "{out}"
    );
}

#[test]
fn cases_are_listed_and_not_run() {
    let folder = pack("test-list");
    let (out, _) = test(&folder, &["p", "--list"], 0);
    assert_eq!(out, "p/tests/it-fails.case: c\n");
    test(&folder, &["p", "--list", "--filter", "no such"], 3);
}

#[test]
fn uncovered_declarations_have_a_reason() {
    let folder = pack("test-coverage");
    test(&folder, &["p", "--update"], 0);
    test(&folder, &["p", "--min-coverage", "20"], 0);
    for format in ["human", "plain", "json", "sarif", "github", "junit"] {
        test(&folder, &["p", "--min-coverage", "100", "--format", format], 1);
    }
    let (plain, _) = test(&folder, &["p", "--min-coverage", "100", "--format", "plain"], 1);
    assert!(
        plain.contains("p/pack.toml:22:6: error[case/uncovered]: no case exercises the guardrail `shouting`"),
        "{plain}"
    );
    let (plain, _) = test(&folder, &["p", "--coverage", "--format", "plain"], 0);
    assert!(plain.contains("p/pack.toml:22:6: info[case/uncovered]"), "{plain}");
    let report: Value = serde_json::from_str(&test(&folder, &["p", "--coverage", "--format", "json"], 0).0).unwrap();
    let rows = report["coverage"].as_array().unwrap();
    let reason = |kind: &str| {
        let of = |row: &&Value| row["kind"] == kind && row["hits"] == 0;
        rows.iter().find(of).map(|row| row["reason"].as_str().unwrap())
    };
    assert_eq!(reason("dialect"), None);
    assert_eq!(reason("action"), Some("reached, but no call was accepted"));
    assert_eq!(reason("permit"), Some("reached, but its condition was false"));
    assert_eq!(reason("rule"), Some("reached, but its condition was false"));
    assert_eq!(reason("input"), Some("reached, but `words` in m came first each time"));
    assert_eq!(reason("guardrail"), Some("never reached"));
}

#[test]
fn the_cases_of_the_shipped_packs_exercise_all_of_them() {
    let rules = crate::root().join("rules");
    // The cases of the dialects are those of the packs in `tests/packs` that use them.
    let packs = ["couple-ai", "dce", "reasoning", "roundtable", "writers-factory"];
    test(&rules, &[packs.as_slice(), &["--min-coverage", "100"]].concat(), 0);
}

#[test]
fn a_pack_on_top_of_a_shipped_one_passes() {
    let examples = crate::root().join("examples");
    test(&examples, &["writers-factory-today", "dce-today"], 0);
    let check = rulebook(&examples, &["check", "--strict", "writers-factory-today", "dce-today"], b"");
    assert!(check.status.success(), "{check:?}");
}

/// The files are saved as editors and version control on Windows do: with `\r\n` at the end of every line.
#[test]
fn a_pack_is_the_same_however_its_files_were_saved() {
    let root = folder("saved-otherwise");
    // `reasoning` comes first, because the other packs use it.
    for name in ["reasoning", "roundtable", "dce"] {
        let from = crate::root().join("rules").join(name);
        for entry in walkdir::WalkDir::new(&from).into_iter().filter_map(Result::ok).filter(|one| one.path().is_file())
        {
            let to = root.join(name).join(entry.path().strip_prefix(&from).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, fs::read_to_string(entry.path()).unwrap().replace('\n', "\r\n")).unwrap();
        }
        test(&root, &[name], 0);
        let diff = rulebook(&root, &["diff", from.to_str().unwrap(), name], b"");
        assert!(String::from_utf8(diff.stdout).unwrap().contains("nothing changed"));
    }
}

#[test]
fn an_update_preserves_line_breaks_and_byte_order_mark() {
    let folder = pack("test-update-saved");
    let file = folder.join("p/tests/it-fails.case");
    let saved = |message: &str| {
        let case = "claim = 'c'\n=== response ===\n<message>One\ntwo</message>\n=== expect ===\nmessage = SAID # so\n";
        format!("\u{feff}{}", case.replace("SAID", message)).replace('\n', "\r\n")
    };
    fs::write(&file, saved("'Three'")).unwrap();
    test(&folder, &["p", "--update"], 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), saved("\"\"\"\nOne\ntwo\"\"\""));
}

#[test]
fn an_update_leaves_what_a_prompt_should_hold_or_lack() {
    let folder = pack("test-update-lacks");
    let file = folder.join("p/tests/it-fails.case");
    let prompt = "[prompts.main]\nlayers = [{ id = 'rules', template = 'rules.md' }, { id = 'message', source = 'message' }]\n\
        [tiers.any]\ncontext = 8000\nreserve = 1000\n";
    fs::write(folder.join("p/rules.md"), "Please say it.\n").unwrap();
    fs::write(folder.join("p/pack.toml"), format!("{PACK}{prompt}")).unwrap();
    let case = |tokens: &str| {
        format!(
            "claim = 'c'\n=== prompt ===\nHi\n=== expect ===\nlacks = [\"sing\", \"say\"]\ncontains = \"shout\"\n{tokens}"
        )
    };
    for (tokens, updated) in [("", ""), ("layers = []\n", "layers = [\"rules\", \"message\"]\n")] {
        fs::write(&file, case(tokens)).unwrap();
        let (out, err) = test(&folder, &["p", "--update"], 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), case(updated));
        assert!(out.contains("unexpected: it contains \"say\""), "{out}");
        assert!(!out.contains("sing`"), "{out}");
        assert!(out.contains("the prompt does not contain this"), "{out}");
        let left =
            "left `lacks[1]`, `contains` in `p/tests/it-fails.case`: the result does not show what to expect instead\n";
        assert!(err.ends_with(left), "{err}");
    }
}

#[test]
fn an_unknown_status_or_code_comes_with_advice() {
    let folder = pack("test-unknown-words");
    let help = |expected: &str| {
        let case = format!("claim = 'c'\n=== response ===\n<message>Hi</message>\n=== expect ===\n{expected}\n");
        fs::write(folder.join("p/tests/it-fails.case"), case).unwrap();
        let (out, _) = test(&folder, &["p"], 1);
        out.lines().find_map(|line| line.split_once("help: ")).map(|(_, help)| help.to_owned()).unwrap_or_default()
    };
    assert_eq!(help("status = \"ok\""), "there is `clean`, `degraded`, `refused`");
    assert_eq!(help("codes = [\"response/forbiden-call\"]"), "did you mean `response/forbidden-call`?");
    assert_eq!(help("remarks = [\"response/not\"]"), "did you mean `response/note`?");
    // These words exist. Grammars may name any other `response/fault-…`.
    assert_eq!(help("status = \"refused\""), "");
    assert_eq!(help("codes = [\"response/forbidden-call\"]"), "");
    assert_eq!(help("remarks = [\"response/fault-notes\"]"), "");
}

#[test]
fn white_space_that_differs_is_shown_in_quotes() {
    let folder = pack("test-white-space");
    let case = "claim = \"c\"\n=== response ===\n<message>Hi\nyou</message>\n=== expect ===\nmessage = \"Hi you\"\n";
    fs::write(folder.join("p/tests/it-fails.case"), case).unwrap();
    let (out, err) = test(&folder, &["p"], 1);
    assert!((out + &err).contains(r#"expected "Hi you", got "Hi\nyou""#));
}

/// A file that looks like a case but has another name is reported by `check` and `test`.
#[test]
fn a_case_by_another_name_is_pointed_out() {
    let folder = folder("overlooked-case");
    fs::create_dir_all(folder.join("p/tests")).unwrap();
    let pack =
        "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }\n[modes.m]\n";
    fs::write(folder.join("p/pack.toml"), pack).unwrap();
    let case = "claim = \"x\"\n\n=== response ===\n<message>Hi</message>\n=== expect ===\nmessage = \"no\"\n";
    fs::write(folder.join("p/tests/a-greeting.toml"), case).unwrap();
    fs::write(folder.join("p/tests/notes.txt"), "no case").unwrap();
    let help = "the cases of a pack are `tests/CLAIM.case`: call it `tests/a-greeting.case`";
    let (out, _) = outputs(&folder, &["check", "p", "--format", "github"], "", 0);
    assert!(
        out.contains("::warning file=p/tests/a-greeting.toml,line=1,")
            && out.contains("title=case/overlooked::")
            && out.contains(help),
        "{out}"
    );
    assert_eq!(out.matches("case/overlooked").count(), 1, "{out}");
    let (_, err) = outputs(&folder, &["test", "p"], "", 3);
    assert!(err.contains("nothing to test") && err.contains(help), "{err}");
    fs::write(folder.join("p/tests/a-case.case"), case.replace("\"no\"", "\"Hi\"")).unwrap();
    let (out, _) = outputs(&folder, &["test", "p", "--format", "plain"], "", 0);
    assert!(out.contains("p/tests/a-greeting.toml:1:1: warning[case/overlooked]"), "{out}");
    // The format for workflows prints a line even if nothing is wrong, so that a log shows that something ran.
    fs::remove_file(folder.join("p/tests/a-greeting.toml")).unwrap();
    assert_eq!(outputs(&folder, &["check", "p", "--format", "github"], "", 0).0, "1 pack: clean\n");
    assert_eq!(outputs(&folder, &["test", "p", "--format", "github"], "", 0).0, "1 case in 1 pack: 1 passed\n");
}

/// The reason why a condition denied a call is beside the verdict that was not expected.
#[test]
fn a_failing_case_says_why_a_condition_denies() {
    let folder = folder("why-denied");
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\n\
                blocks = { message = { role = \"message\" }, tool = { role = \"call\", name = \"@name\", payload = \"json\" } }\n\
                [actions.pay]\nparams = { n = { type = \"number\" } }\n[modes.m]\npermits = [{ action = \"pay\", when = \"params.n < 100\" }]\n";
    let case = "claim = \"x\"\n\n=== response ===\n<message>Hi</message>\n<tool name=\"pay\">{\"n\": 200}</tool>\n=== expect ===\n\
                calls = [{ verdict = \"accepted\" }]\n";
    fs::create_dir_all(folder.join("p/tests")).unwrap();
    fs::write(folder.join("p/pack.toml"), pack).unwrap();
    fs::write(folder.join("p/tests/a-call-is-paid.case"), case).unwrap();
    for format in ["human", "plain", "github"] {
        let (out, _) = outputs(&folder, &["test", "p", "--format", format], "", 1);
        assert!(out.contains("`params.n < 100`"), "{format}: {out}");
    }
}
