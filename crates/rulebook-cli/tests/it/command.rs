//! The command: does it end with the status that its page promises, and survive what users do?

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) use crate::scratch::folder;

/// The command as a user at a terminal starts it, wherever the tests run: variables of a CI machine would change what
/// it does.
pub(crate) fn at_terminal(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rulebook"));
    command.args(arguments).current_dir(folder);
    for name in ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn rulebook(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = at_terminal(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it.
    _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Runs the command; returns its status, and its standard output and standard error as texts.
pub(crate) fn ended(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let Output { status, stdout, stderr } = rulebook(folder, arguments, input.as_bytes());
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// The standard output and standard error of a command that has to end with this status.
#[track_caller]
pub(crate) fn outputs(folder: &Path, arguments: &[&str], input: &str, status: i32) -> (String, String) {
    let (ended, out, err) = ended(folder, arguments, input);
    assert_eq!(ended, status, "{arguments:?}: {out}{err}");
    (out, err)
}

#[track_caller]
fn check(folder: &Path, arguments: &[&str], status: i32, out: &str, err: &str) {
    let (found, trouble) = outputs(folder, arguments, "", status);
    assert!(found.contains(out), "{found}");
    assert!(trouble.contains(err), "{trouble}");
    assert!(!found.contains('\u{1b}') && !trouble.contains('\u{1b}'), "colours where there is no terminal");
}

#[test]
fn a_decision_of_a_person_can_be_traced() {
    let folder = folder("confirmed");
    let pack = crate::root().join("tests/packs/confirming");
    let pack = pack.to_str().unwrap();
    let answer = "<tool name=\"spend\"><amount>60</amount></tool>";
    let (asked, _) = outputs(&folder, &["run", pack, "-", "--format", "json"], answer, 0);
    let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
    std::fs::write(folder.join("session.json"), asked["session"].to_string()).unwrap();
    let decide = ["run", pack, "--session", "session.json", "--trace"];
    check(&folder, &[&decide[..], &["--confirm", "p-1"]].concat(), 0, "once a person has confirmed it", "");
    check(&folder, &[&decide[..], &["--decline", "p-1"]].concat(), 0, "a person has declined `spend`", "");
}

#[test]
fn a_new_pack_checks_clean_and_its_cases_pass() {
    let folder = folder("new");
    check(&folder, &["new", "pack", "notes"], 0, "made `notes`", "");
    check(&folder, &["explain", "--permits", "."], 1, "", "has no `pack.toml`\n = help: there is `./notes`");
    check(&folder, &["check", "notes"], 0, "1 pack: clean", "");
    check(&folder, &["check", "--strict", "."], 0, "1 pack: clean", "");
    check(&folder, &["test", "notes"], 0, "2 cases in 1 pack: 2 passed", "");
    check(&folder, &["test", "notes", "--stream", "1"], 0, "2 cases in 1 pack: 2 passed", "");
    check(&folder, &["new", "pack", "notes"], 2, "", "`notes` is already there");
    check(&folder, &["new", "pack", "No tes"], 2, "", "cannot name a pack");
    check(&folder, &["new", "pack", "--", "-notes"], 2, "", "cannot name a pack");
    let ledger = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/couple-ai");
    check(&folder, &["prompt", ledger, "--against", "notes"], 1, "before:", "prompt/unknown-prompt");
    check(
        &folder,
        &["prompt", ledger, "--prompt", "nope"],
        2,
        "",
        "error[prompt/unknown-prompt]: the pack has no prompt `nope`",
    );
    for other in [["--against", "notes"], ["--against-model", "gpt-4o"]] {
        let arguments = [&["prompt", ledger, "--format", "messages"][..], &other].concat();
        check(&folder, &arguments, 2, "", "changes are printed as a table of the layers, not as messages");
    }
    check(&folder, &["prompt", ledger, "--mode", "nope"], 2, "", "the pack has no mode `nope`");
}

#[test]
fn a_missing_pack_is_reported_in_one_line() {
    let folder = folder("absent");
    for arguments in [&["check", "x"][..], &["test", "x"], &["run", "x"], &["explain", "--degradation", "x"]] {
        let (_, trouble) = outputs(&folder, arguments, "", 2);
        assert_eq!(trouble, "rulebook: cannot read `x`: there is no such file or folder\n");
    }
    check(&folder, &["check", "."], 3, "", "nothing to check in `.`: a pack is a folder with a `pack.toml`");
    check(&folder, &["test", "."], 3, "", "nothing to test in `.`");
    check(&folder, &["check", ".", "--format", "json"], 3, "\"packs\": 0", "nothing to check in `.`");
    std::fs::write(folder.join("Pack.tml"), "").unwrap();
    check(&folder, &["check", "."], 3, "", "a pack is a folder with a `pack.toml`, and here is `Pack.tml`");
    check(&folder, &["test", ".", "--format", "json"], 3, "\"cases\": []", "nothing to test in `.`");
    check(&folder, &["test", ".", "--format", "junit"], 3, "<testsuites", "nothing to test in `.`");
    let pack =
        "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks = { message = { role = \"message\" } }\n";
    std::fs::create_dir_all(folder.join("silent")).unwrap();
    std::fs::write(folder.join("silent/pack.toml"), pack).unwrap();
    check(&folder, &["test", "silent"], 3, "", "nothing to test in `silent`: a case is a file `tests/CLAIM.case`");
    // A format that only `test` writes is refused before anything is done.
    check(&folder, &["apply", "x", "--root", ".", "--format", "junit"], 2, "", "invalid value 'junit' for '--format");
    check(&folder, &["prompt", ".", "--format", "messages"], 1, "\"pack/missing-pack\"", "");
    check(&folder, &["nonsense"], 2, "", "unrecognized subcommand");
    check(&folder, &["--help"], 0, "Usage: rulebook", "");
}

#[test]
fn a_broken_pack_is_reported_whole_and_ends_with_one() {
    let folder = folder("broken");
    std::fs::create_dir(folder.join("p")).unwrap();
    std::fs::write(folder.join("p/pack.toml"), "[pack]\nname = 'p'\nstrat = 'x'\n[modes.a]\npermit = []\n").unwrap();
    for format in ["human", "json"] {
        check(&folder, &["check", "p", "--format", format], 1, "pack/unknown-key", "");
    }
    check(&folder, &["check", "p"], 1, "p/pack.toml:3:1", "");
    check(&folder, &["check", "p"], 1, "p/pack.toml:5:1", "");
    check(&folder, &["test", "p"], 1, "pack/unknown-key", "");
    check(&folder, &["run", "p"], 1, "", "pack/unknown-key");
}

#[test]
fn a_file_that_is_not_utf_8_is_shown_where_it_ceases_to_be() {
    let folder = folder("not-utf-8");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let case = folder.join("notes/tests/it-greets.case");
    std::fs::write(&case, b"claim = 'c'\n=== response ===\nh\xe9 \xe9\n=== expect ===\ncodes = []\n").unwrap();
    let reported = "notes/tests/it-greets.case:3:2: error[case/syntax]: `notes/tests/it-greets.case` is not UTF-8 from byte 30 on \
                (help: save the file as UTF-8)\n";
    for command in ["check", "test"] {
        check(&folder, &[command, "notes", "--format", "plain"], 1, reported, "");
    }
    std::fs::write(folder.join("notes/more.toml"), b"# caf\xe9\n").unwrap();
    check(&folder, &["check", "notes"], 1, "  ┌─ notes/more.toml:1:6\n1 │ # caf\u{fffd}\n  │      ^\n", "");
    std::fs::remove_file(folder.join("notes/more.toml")).unwrap();
    std::fs::write(folder.join("notes/pack.toml"), "").unwrap();
    check(&folder, &["run", "notes"], 1, "", "has no `[pack]` table\n ┌─ notes/pack.toml:1:1\n");
}

#[test]
fn a_dialect_has_no_more_than_the_reader_can_number() {
    let folder = folder("most");
    std::fs::create_dir(folder.join("many")).unwrap();
    let check_blocks = |grammars: usize, blocks: usize, reported: &str| {
        let blocks: String = (0..blocks).map(|number| format!("b{number} = {{ role = \"thinking\" }}\n")).collect();
        let grammar = "\"tags\", ".repeat(grammars);
        let pack =
            format!("[pack]\nname = \"many\"\n[dialects.d]\ngrammar = [{grammar}]\n[dialects.d.blocks]\n{blocks}");
        std::fs::write(folder.join("many/pack.toml"), pack).unwrap();
        check(&folder, &["check", "many"], i32::from(!reported.contains("clean")), reported, "");
    };
    check_blocks(64, 1, "1 pack: clean");
    check_blocks(65, 1, "the dialect names more than 64 grammars");
    check_blocks(1, 4097, "the dialect binds more than 4096 blocks");
}

#[test]
fn a_case_that_fails_shows_its_line() {
    let folder = folder("failing");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let case = "claim = 'it greets'\n=== response ===\n<message>Hello.</message>\n=== expect ===\nmode = 'chat'\nmessage = 'Hi.'\n";
    std::fs::write(folder.join("notes/tests/it-greets.case"), case).unwrap();
    check(&folder, &["test", "notes"], 1, "notes/tests/it-greets.case:6:1", "");
    check(&folder, &["test", "notes"], 1, "expected \"Hi.\", got \"Hello.\"", "");
    check(&folder, &["test", "notes", "--format", "json"], 1, "\"line\": 6", "");
    check(&folder, &["test", "notes", "--filter", "note-is-kept"], 0, "1 passed", "");
    check(&folder, &["test", "notes", "--filter", "nothing like it"], 3, "", "no case has `nothing like it`");
    check(&folder, &["test", "notes", "--filter", "greats"], 3, "", "did you mean `it-greets`?");
    let astray = case.replace("claim", "mode = 'chta'\ndialect = 'nothing'\nclaim");
    std::fs::write(folder.join("notes/tests/it-greets.case"), astray).unwrap();
    std::fs::write(folder.join("notes/tests/it-greets.cases"), case).unwrap();
    check(&folder, &["check", "notes"], 1, "the pack has no mode `chta`", "");
    check(&folder, &["check", "notes"], 1, "the pack has no dialect `nothing`", "");
    check(&folder, &["check", "notes"], 1, "`tests/it-greets.cases` looks like a case", "");
    std::fs::remove_file(folder.join("notes/tests/it-greets.cases")).unwrap();
    std::fs::write(folder.join("notes/tests/it-greets.case"), format!("todo = true\n{case}")).unwrap();
    check(&folder, &["test", "notes"], 0, "1 to do", "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_may_have_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("no-text");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let named = std::ffi::OsStr::from_bytes(b"no\xfftes");
    std::fs::rename(folder.join("notes"), folder.join(named)).unwrap();
    std::fs::write(folder.join("answer"), "<message>Hello.</message>").unwrap();
    let commands: [&[&str]; 5] = [&["check"], &["test"], &["explain", "--permits"], &["run"], &["explain"]];
    for command in commands {
        let mut started = at_terminal(&folder, command);
        let needs_answer = matches!(command, ["run" | "explain"]);
        let output = started.arg(named).args(needs_answer.then_some("answer")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}: {output:?}");
    }
}

#[test]
fn a_response_comes_from_a_file_or_from_standard_input() {
    let folder = folder("input");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let answer = b"<message>Hello.</message>";
    std::fs::write(folder.join("answer.txt"), answer).unwrap();
    let from_file = rulebook(&folder, &["run", "notes", "answer.txt", "--format", "json"], b"");
    for arguments in [&["run", "notes", "--format", "json"][..], &["run", "notes", "-", "--format", "json"]] {
        assert_eq!(rulebook(&folder, arguments, answer).stdout, from_file.stdout);
    }
    assert_eq!(from_file.status.code(), Some(0));
    let outcome: serde_json::Value = serde_json::from_slice(&from_file.stdout).unwrap();
    assert_eq!(outcome["message"], "Hello.");
    assert_eq!(rulebook(&folder, &["run", "notes"], b"\xff\xfe\x00").status.code(), Some(0));
    check(
        &folder,
        &["run", "notes", "answer.txt", "--mode", "caht"],
        2,
        "",
        "error[pack/session-misfit]: the pack has no mode `caht`\n = help: did you mean `chat`?",
    );
    check(&folder, &["run", "notes", "answer.txt", "--session", "none.json"], 2, "", "cannot read `none.json`");
}

#[test]
fn a_code_is_explained_and_a_misspelt_one_is_guessed() {
    let folder = folder("explain");
    check(&folder, &["explain", "response/forbidden-call"], 0, "it may be `drop`, `keep-as-text`", "");
    check(&folder, &["explain", "forbidden-call"], 0, "No permit of the mode allows the call", "");
    check(&folder, &["explain", "unclosed-block"], 0, "answered by `keep`, of a call by `drop`; it may be", "");
    check(&folder, &["explain"], 0, "back to the schema that contains it, and so says nothing.\n", "");
    check(&folder, &["explain", "fault-comma"], 0, "fault_…", "");
    check(&folder, &["explain", "keep-as-text"], 0, "It may answer", "");
    check(&folder, &["explain", "forbiden-call"], 2, "", "did you mean");
    check(&folder, &["explain", "forbidden-call", "--mode", "chat"], 2, "", "FILE is missing");
    check(&folder, &["explain", "--permits", ".", "--truncated"], 2, "", "FILE is missing");
    check(&folder, &["explain", "."], 2, "", "FILE is missing");
    check(&folder, &["schema", "outcome"], 0, "outcome.schema.json", "");
    check(&folder, &["completions", "bash"], 0, "_rulebook", "");
}

#[test]
fn paths_outside_a_pack_and_bad_schemas_of_returns_are_errors() {
    let folder = folder("outside");
    let pack = "[pack]\nname = \"x\"\nuse = [\"/etc\"]\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }\n";
    std::fs::write(folder.join("pack.toml"), pack).unwrap();
    check(&folder, &["check", "."], 1, "error[pack/path-outside]", "");
    let pack = pack.replace("use = [\"/etc\"]\n", "") + "[actions.a]\nreturns = { type = \"boolen\" }\n";
    std::fs::write(folder.join("pack.toml"), &pack).unwrap();
    check(&folder, &["check", "."], 1, "error[pack/bad-schema]: `boolen` is no type of JSON Schema", "");
    // A folder that is not a pack is not searched, however many files it contains.
    let pack = pack.replace("name = \"x\"\n", "name = \"x\"\nuse = [\"..\"]\n");
    std::fs::write(folder.join("pack.toml"), pack).unwrap();
    check(&folder, &["check", "."], 1, "error[pack/unreadable]: there is no pack at `..`", "");
}

#[test]
fn a_new_part_checks_clean_and_its_case_passes() {
    let folder = folder("new-parts");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    for (kind, name) in
        [("action", "close_notes"), ("mode", "quiet"), ("dialect", "plainer"), ("guardrail", "in-short")]
    {
        let before = std::fs::read_to_string(folder.join("notes/pack.toml")).unwrap();
        check(&folder, &["new", kind, name, "--pack", "notes"], 0, "added the", "");
        check(&folder, &["check", "--strict", "notes"], 0, "1 pack: clean", "");
        let after = std::fs::read_to_string(folder.join("notes/pack.toml")).unwrap();
        // Lists get one more entry; all other lines stay as they were.
        for line in before.lines().filter(|line| !line.starts_with("permits") && !line.starts_with("dialects")) {
            assert!(after.lines().any(|one| one == line), "{kind}: {line}");
        }
        check(&folder, &["new", kind, name, "--pack", "notes"], 2, "", "already: notes/pack.toml:");
        check(&folder, &["new", kind, "No Name", "--pack", "notes"], 2, "", "cannot name");
    }
    check(&folder, &["test", "notes"], 0, "6 cases in 1 pack: 6 passed", "");
    check(&folder, &["new", "action", "by_file", "--pack", "notes/pack.toml"], 0, "  notes/pack.toml\n", "");
    check(&folder, &["new", "action", "x", "--in", "nowhere", "--pack", "notes"], 2, "", "no mode `nowhere`");
    let files = || std::fs::read_dir(folder.join("notes/tests")).unwrap().count();
    let (before, pack) = (files(), folder.join("notes/pack.toml"));
    std::fs::write(&pack, std::fs::read_to_string(&pack).unwrap() + "[modes.b]\npermits = [\"nothing\"]\n").unwrap();
    check(&folder, &["new", "action", "x", "--pack", "notes"], 1, "", "pack/unknown-action");
    assert_eq!(files(), before);
}

#[test]
fn a_new_part_for_a_mode_is_for_no_other() {
    let folder = folder("new-in");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    check(&folder, &["new", "mode", "quiet", "--pack", "notes"], 0, "", "");
    let new = |kind, name| ["new", kind, name, "--pack", "notes", "--in", "quiet"];
    check(&folder, &new("dialect", "plainer"), 0, "added the dialect", "");
    check(&folder, &new("guardrail", "in-short"), 0, "added the guardrail", "");
    check(&folder, &["check", "--strict", "notes"], 0, "1 pack: clean", "");
    check(&folder, &["test", "notes"], 0, "passed", "");
    let case = std::fs::read_to_string(folder.join("notes/tests/an-answer-is-read-as-plainer.case")).unwrap();
    assert!(case.contains("mode    = \"quiet\"\n"), "{case}");
    let pack: toml::Table = std::fs::read_to_string(folder.join("notes/pack.toml")).unwrap().parse().unwrap();
    let plainer = "plainer".into();
    assert!(!pack["pack"]["dialects"].as_array().unwrap().contains(&plainer));
    assert_eq!(pack["modes"]["quiet"]["dialects"].as_array().unwrap().last(), Some(&plainer));
    assert_eq!(pack["guardrails"].as_array().unwrap().last().unwrap()["in"].as_str(), Some("quiet"));
    // The folder of the pack is not a positional argument here.
    check(&folder, &["new", "action", "more", "notes"], 2, "", "[--pack <PACK>]");
}

#[test]
fn a_part_that_no_answer_could_show_has_no_case() {
    let folder = folder("new-unasked");
    let pack = crate::root().join("tests/packs/script-lines");
    let path = folder.join("lines/pack.toml");
    std::fs::create_dir_all(folder.join("lines/grammar")).unwrap();
    std::fs::create_dir(folder.join("lines/prompt")).unwrap();
    for file in ["pack.toml", "prompt/orders.md", "grammar/orders.pest", "grammar/speech.pest"] {
        std::fs::copy(pack.join(file), folder.join("lines").join(file)).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap();
    // The grammar takes only letters in a name.
    let added = "  lines/pack.toml\nno case shows it: no answer can ask for it yet\ntry";
    let reported = "help: call the action by another name, or let the rule `name` of the grammar take its characters";
    check(&folder, &["new", "action", "look-up", "--pack", "lines"], 0, added, reported);
    assert!(!folder.join("lines/tests").exists());
    std::fs::write(&path, &before).unwrap();
    check(&folder, &["new", "action", "look", "--pack", "lines"], 0, "added the action", "");
    check(&folder, &["new", "mode", "camp", "--pack", "lines"], 0, "added the mode", "");
    assert!(std::fs::read_to_string(&path).unwrap().contains("[actions.entercamp]"));
    check(&folder, &["check", "--strict", "lines"], 0, "1 pack: clean", "");
    let named = before.replace(
        "grammar = \"orders\", names = [\"*\"]",
        "grammar = \"orders\", names = [\"roll\", \"go\", \"fight\"]",
    );
    std::fs::write(&path, named).unwrap();
    let reported = "help: add `wait` to the `names` of `order`";
    check(&folder, &["new", "action", "wait", "--pack", "lines"], 0, added, reported);
    // The grammar reads only names in capitals: the action that changes to a new mode gets such a name. A new action
    // with another name is added, with advice.
    let grammar = std::fs::read_to_string(pack.join("grammar/orders.pest")).unwrap();
    let loud = grammar.replace("ASCII_ALPHA_LOWER+", "(ASCII_ALPHA_UPPER | \"_\")+");
    std::fs::write(folder.join("lines/grammar/orders.pest"), loud).unwrap();
    let prompt = folder.join("lines/prompt/orders.md");
    let mut quiet = std::fs::read_to_string(&prompt).unwrap();
    let mut pack = before.clone();
    for name in ["roll", "go", "fight"] {
        for text in [&mut pack, &mut quiet] {
            *text = text.replace(&format!("\"{name}\""), &format!("\"{}\"", name.to_uppercase()));
            *text = text.replace(&format!("actions.{name}"), &format!("actions.{}", name.to_uppercase()));
            *text = text.replace(&format!("::{name}"), &format!("::{}", name.to_uppercase()));
        }
    }
    std::fs::remove_dir_all(folder.join("lines/tests")).unwrap();
    std::fs::write(&prompt, quiet).unwrap();
    std::fs::write(&path, pack).unwrap();
    check(&folder, &["check", "--strict", "lines"], 0, "1 pack: clean", "");
    let reported = "help: call it `LOOK_UP`, or let the rule `name` of the grammar take its characters";
    check(&folder, &["new", "action", "look-up", "--pack", "lines"], 0, added, reported);
    check(&folder, &["new", "mode", "night", "--pack", "lines"], 0, "added the mode", "");
    assert!(std::fs::read_to_string(&path).unwrap().contains("[actions.ENTER_NIGHT]"));
}

#[test]
fn the_last_line_has_the_next_mode_of_an_answer() {
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/packs/script-lines");
    let output = rulebook(&folder("new-place"), &["run", pack, "-"], b"::fight\n");
    let reported = String::from_utf8(output.stdout).unwrap();
    assert!(reported.ends_with("clean · mode road → combat · dialect script\n"), "{reported}");
}

#[test]
fn a_new_part_says_which_cases_it_breaks() {
    let folder = folder("new-breaks");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let case = "claim = 'a dialect alone reads what holds no block'\n=== response ===\n<plainer>Hello.</plainer>\n\
                === expect ===\ndialect = 'tagged'\n";
    let path = folder.join("notes/tests/a-dialect-alone-reads-what-holds-no-block.case");
    std::fs::write(path, case).unwrap();
    check(&folder, &["test", "notes"], 0, "3 passed", "");
    let reported = "with the new dialect these cases fail, look at each\n  notes/tests/a-dialect-alone";
    check(&folder, &["new", "dialect", "plainer", "--pack", "notes"], 1, "added the dialect", reported);
    check(&folder, &["test", "notes"], 1, "1 failed", "");
}

#[test]
fn a_pack_without_modes_permits_a_new_action() {
    let folder = folder("new-without-modes");
    let pack = "[pack]\nname = 'bare'\n[dialects.tags]\ngrammar = 'tags'\n[dialects.tags.blocks]\n\
                message = { role = 'message' }\naction = { role = 'call', name = '@type', payload = 'tags' }\n[actions.go]\n";
    std::fs::create_dir(folder.join("bare")).unwrap();
    std::fs::write(folder.join("bare/pack.toml"), pack).unwrap();
    check(&folder, &["new", "action", "stay", "--pack", "bare"], 0, "added the action", "");
    check(&folder, &["test", "bare"], 0, "1 passed", "");
    let text = std::fs::read_to_string(folder.join("bare/pack.toml")).unwrap();
    assert!(text.contains("[modes.default]\npermits = [\"stay\"]"), "{text}");
}

#[test]
fn new_parts_are_added_to_shipped_packs() {
    let folder = folder("new-parts-shipped");
    let shipped =
        ["reasoning", "writers-factory", "couple-ai", "roundtable", "dce"].map(|name| format!("rules/{name}"));
    for path in shipped.into_iter().chain(["tests/packs/one-object".to_owned()]) {
        let root = crate::root().join(path);
        let name = root.file_name().unwrap();
        for entry in
            walkdir::WalkDir::new(&root).into_iter().filter_map(Result::ok).filter(|one| one.file_type().is_file())
        {
            let to = folder.join(name).join(entry.path().strip_prefix(&root).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
    let grows = |pack: &str, kind: &str, file: &str| {
        check(&folder, &["new", kind, "brand-new", "--pack", pack], 0, file, "");
        check(&folder, &["check", pack], 0, "", "");
        check(&folder, &["test", pack], 0, "", "");
    };
    grows("writers-factory", "action", "writers-factory/actions.toml");
    grows("writers-factory", "guardrail", "writers-factory/guardrails.toml");
    // Examples in its prompts call actions that every mode permits, so the new mode permits these, too.
    grows("writers-factory", "mode", "writers-factory/prompt/modes/brand-new.md");
    // Its discussions have no calls: words of the user change to the new mode, and the new action gets a block.
    grows("roundtable", "mode", "roundtable/inputs.toml");
    grows("roundtable", "action", "roundtable/pack.toml");
    grows("couple-ai", "action", "couple-ai/actions.toml");
    // Its case has everything else that the form of an answer requires.
    grows("one-object", "action", "one-object/pack.toml");
    grows("roundtable", "guardrail", "roundtable/guardrails.toml");
    grows("dce", "dialect", "dce/");
    grows("dce", "mode", "dce/prompt/modes/brand-new.md");
    // A text whose name only starts with the name of the mode is not a text of the mode, so there is no copy of it.
    assert!(folder.join("dce/prompt/cycles.xml").exists() && !folder.join("dce/prompt/brand-news.xml").exists());
    for entry in
        walkdir::WalkDir::new(&folder).into_iter().filter_map(Result::ok).filter(|one| one.file_type().is_file())
    {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        assert!(!text.starts_with("modes = {}") && !text.contains("\nmodes = {}"), "{}", entry.path().display());
    }
}

#[test]
fn a_watched_pack_is_reported_again_after_each_save() {
    let folder = folder("watched");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let mut watching = Running(
        at_terminal(&folder, &["check", "notes", "--watch"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let (out, err) = (watching.0.stdout.take().unwrap(), watching.0.stderr.take().unwrap());
    let (sender, lines) = std::sync::mpsc::channel();
    let streams: [Box<dyn std::io::Read + Send>; 2] = [Box::new(out), Box::new(err)];
    for stream in streams {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in std::io::BufRead::lines(std::io::BufReader::new(stream)) {
                _ = sender.send(line.unwrap());
            }
        });
    }
    // Long enough for any machine: the expected output comes, or never does.
    let next = |wanted: &str| loop {
        let line = lines.recv_timeout(std::time::Duration::from_secs(60)).expect(wanted);
        if line.contains(wanted) {
            break;
        }
    };
    next("1 pack: clean");
    let pack = folder.join("notes/pack.toml");
    let text = std::fs::read_to_string(&pack).unwrap();
    std::fs::write(&pack, text.replace("\"keep_note\"", "\"keep_nte\"")).unwrap();
    next("error[pack/unknown-action]");
    std::fs::write(&pack, &text).unwrap();
    next("1 pack: clean");
    // To the system, a folder that is removed and created again is a new one. It must still be watched.
    for later in [0, 300] {
        std::fs::remove_dir_all(folder.join("notes")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(later));
        check(&folder, &["new", "pack", "notes"], 0, "", "");
        next("1 pack: clean");
        std::fs::write(&pack, text.replace("\"keep_note\"", "\"keep_nte\"")).unwrap();
        next("error[pack/unknown-action]");
        std::fs::write(&pack, &text).unwrap();
        next("1 pack: clean");
    }
    // A folder that is moved away is reported at once, and watched again when it is moved back.
    std::fs::rename(folder.join("notes"), folder.join("away")).unwrap();
    next("there is no such file or folder");
    std::fs::rename(folder.join("away"), folder.join("notes")).unwrap();
    next("1 pack: clean");
}

#[test]
fn a_warning_is_a_finding_where_that_is_asked() {
    let folder = folder("strict");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    std::fs::write(folder.join("answer.txt"), "<message>Hi</message> and more").unwrap();
    std::fs::write(folder.join("clean.txt"), "<message>Hi</message>").unwrap();
    for format in ["human", "plain", "json", "sarif", "github"] {
        let run = |answer: &str, strict: &[&str], status| {
            check(&folder, &[&["run", "notes", answer, "--format", format], strict].concat(), status, "", "");
        };
        run("answer.txt", &[], 0);
        run("answer.txt", &["--strict"], 1);
        run("clean.txt", &["--strict"], 0);
    }
    check(&folder, &["hear", "notes", "--strict", "--", "hello"], 0, "", "");
    let prompt = ["prompt", concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/couple-ai"), "--model", "unheard-of"];
    check(&folder, &prompt, 0, "", "no table declares the model");
    check(&folder, &[&prompt[..], &["--strict"]].concat(), 1, "", "no table declares the model");
}

#[test]
fn an_unreadable_pack_does_not_keep_others_from_being_checked() {
    let folder = folder("unread");
    check(&folder, &["new", "pack", "a"], 0, "", "");
    check(&folder, &["check", "nope", "a"], 2, "1 pack: clean", "cannot read `nope`");
    check(&folder, &["test", "nope", "a"], 2, "2 passed", "cannot read `nope`");
    check(&folder, &["test", "--list", "nope", "a"], 2, "a/tests", "cannot read `nope`");
    check(&folder, &["check", "nope"], 2, "", "cannot read `nope`");
    #[cfg(unix)]
    {
        check(&folder, &["new", "pack", "b"], 0, "", "");
        std::os::unix::fs::symlink("nowhere", folder.join("b/more.toml")).unwrap();
        check(&folder, &["check", "."], 2, "1 pack: clean", "more.toml`");
    }
}

/// A command that is killed when the test ends, even if the test fails.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn a_file_of_the_host_that_cannot_be_read_says_where_and_what_to_do() {
    let here = folder("host-files");
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/writers-factory");
    let trouble = |name: &str, text: &[u8], option: &str| {
        std::fs::write(here.join(name), text).unwrap();
        let output = rulebook(&here, &["prompt", pack, option, name], b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = trouble("s.json", b"{\"state\": {\n  \"project\": }}", "--session");
    assert!(said.contains("error[pack/session-misfit]: this is not JSON: expected value"), "{said}");
    assert!(said.contains("s.json:2:14") && said.contains("= help: a session is `{\"mode\""), "{said}");
    let said =
        trouble("s.json", br#"{"state": {"work_order": {"theme": {"missing": [3]}}, "reminded": 1}}"#, "--session");
    assert!(said.contains("`state.work_order.theme.missing.0`: 3 is not of type \"string\""), "{said}");
    assert!(said.contains("`state.reminded`: 1 is not of type"), "{said}");
    assert!(said.contains("s.json:1:49") && said.contains("s.json:1:67"), "{said}");
    let said = trouble("s.json", b"[1]", "--session");
    assert!(said.contains("a session is one JSON object") && said.contains("s.json:1:1"), "{said}");
    let said = trouble("s.json", br#"{"mode": 3, "state": [], "now": {}, "ids": "x"}"#, "--session");
    for fault in [
        "`mode` of the session is not a text",
        "`state` of the session is not an object",
        "`now` of the session is not a text",
    ] {
        assert!(said.contains(fault), "{said}");
    }
    // A counter at its maximum would give the same id twice.
    let said = trouble("s.json", br#"{"ids": {"page": 18446744073709551615}}"#, "--session");
    assert!(said.contains("`ids.page` is not a whole number below 9007199254740992"), "{said}");
    let said = trouble("h.jsonl", b"{\"role\": \"user\", \"content\": \"a\"}\n {\"role\": user}\n[]\n", "--history");
    assert!(said.contains("error[prompt/bad-history]: this is not JSON: expected value\n"), "{said}");
    assert!(said.contains("h.jsonl:2:11") && !said.contains("at line"), "{said}");
    assert!(said.contains("a turn is a JSON object") && said.contains("h.jsonl:3:1"), "{said}");
    for option in ["--session", "--history"] {
        let said = trouble("latin", b"{\"role\":\n\"us\xe9r\"}", option);
        assert_eq!(
            said,
            "rulebook: cannot read `latin`: byte 12, at 2:4, is 0xe9, which is not UTF-8; save it as UTF-8\n"
        );
    }
}

#[test]
fn a_session_that_does_not_fit_is_marked_for_people_and_for_programs() {
    let here = folder("host-session");
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/writers-factory");
    let text = "\u{feff}{\r\n \"state\": {\r\n  \"reminded\": [\r\n   1],\r\n  \"knowlege\": []\r\n }\r\n}\r\n";
    std::fs::write(here.join("s.json"), text).unwrap();
    std::fs::write(here.join("answer.txt"), "<message>Hello.</message>").unwrap();
    let drawn = "error[pack/session-misfit]: the pack's state has no `knowlege`\n  ┌─ s.json:5:3\n5 │   \"knowlege\": []\n  \
                 │   ^^^^^^^^^^\n  = help: did you mean `knowledge`?\n";
    check(&here, &["run", pack, "answer.txt", "--session", "s.json"], 2, "", drawn);
    check(&here, &["prompt", pack, "--session", "s.json"], 2, "", drawn);
    for command in [&["run", pack, "answer.txt"][..], &["hear", pack, "hello"], &["explain", pack, "answer.txt"]] {
        let command = [command, &["--session", "s.json", "--format"]].concat();
        let reported = |format| rulebook(&here, &[&command[..], &[format]].concat(), b"");
        let output = reported("json");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(2), 0));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let places: Vec<(u64, u64, u64)> = report["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                let number = |name: &str| one[name].as_u64().unwrap();
                (number("line"), number("column"), number("end_column"))
            })
            .collect();
        assert_eq!(places, [(3, 3, 13), (5, 3, 13)]);
        let plain = String::from_utf8(reported("plain").stdout).unwrap();
        assert!(
            plain.starts_with("s.json:3:3: error[pack/session-misfit]: `state.reminded`: [1] is not of type"),
            "{plain}"
        );
    }
}

#[test]
fn standard_input_is_one_file_of_a_command() {
    let here = folder("host-input");
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/writers-factory");
    std::fs::write(here.join("answer.txt"), "<message>Hello.</message>").unwrap();
    let session = "\u{feff}{\"mode\": \"editor\"}";
    std::fs::write(here.join("s.json"), session).unwrap();
    let turns = "{\"role\": \"user\", \"content\": \"Hello there\"}\n";
    std::fs::write(here.join("h.jsonl"), turns).unwrap();
    let cases: [(&[&str], &str, &str); 6] = [
        (&["run", pack, "answer.txt", "--session"], "s.json", session),
        (&["hear", pack, "hello", "--session"], "s.json", session),
        (&["explain", pack, "answer.txt", "--session"], "s.json", session),
        (&["prompt", pack, "--session"], "s.json", session),
        (&["prompt", pack, "--against", pack, "--session"], "s.json", session),
        (&["prompt", pack, "--history"], "h.jsonl", turns),
    ];
    for (command, file, input) in cases {
        let reported = |file: &str| rulebook(&here, &[command, &[file]].concat(), input.as_bytes());
        assert_eq!(reported(file).status.code(), Some(0), "{command:?}");
        assert_eq!(reported("-").stdout, reported(file).stdout, "{command:?}");
    }
    let twice: [&[&str]; 5] = [
        &["run", pack, "--session", "-"],
        &["apply", pack, "-", "--root", ".", "--session", "-"],
        &["explain", pack, "-", "--session", "-"],
        &["prompt", pack, "--session", "-", "--history", "-"],
        &["play", pack, "--session", "-"],
    ];
    for command in twice {
        check(&here, command, 2, "", "rulebook: standard input cannot be the ");
    }
    let output = rulebook(&here, &["prompt", pack, "--history", "-"], b"\xff");
    let trouble = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        trouble,
        "rulebook: cannot read standard input: byte 0, at 1:1, is 0xff, which is not UTF-8; save it as UTF-8\n"
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_hosts_file() {
    let here = folder("host-marks");
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/writers-factory");
    std::fs::write(here.join("s.json"), "\u{feff}{\"mode\": \"editor\"}").unwrap();
    std::fs::write(here.join("h.jsonl"), "\u{feff}{\"role\": \"user\", \"content\": \"Hello there\"}\n").unwrap();
    check(&here, &["prompt", pack, "--session", "s.json", "--history", "h.jsonl"], 0, "Hello there", "");
}

/// Opening a pipe blocks until it has a writer, and a name that is not Unicode cannot be printed: both must be
/// reported.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_odd_names_are_reported_and_not_waited_for() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("no-files");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let tests = folder.join("notes/tests");
    for pipe in [folder.join("notes/more.toml"), tests.join("wait.case")] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    std::fs::write(folder.join("notes").join(std::ffi::OsStr::from_bytes(b"gr\xfcn.toml")), "").unwrap();
    check(&folder, &["check", "notes"], 1, "`notes/more.toml` is not a file", "");
    check(&folder, &["check", "notes"], 1, "`notes/tests/wait.case` is not a file", "");
    check(&folder, &["check", "notes"], 1, "the name of `notes/gr\u{fffd}n.toml` is not Unicode", "");
    check(&folder, &["test", "notes"], 1, "`notes/tests/wait.case` is not a file", "");
}

/// Without its modes a pack would permit everything, so a pack that was not read completely must not run.
#[cfg(unix)]
#[test]
fn a_pack_that_was_not_read_whole_does_not_run() {
    let folder = folder("left-of");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let guards =
        "[[guardrails]]\nid = 'loud'\non = 'message'\nmatches = '!'\nseverity = 'error'\nstrategy = 'refuse'\n";
    std::fs::write(folder.join("guards.toml"), guards).unwrap();
    std::os::unix::fs::symlink("../guards.toml", folder.join("notes/guards.toml")).unwrap();
    check(&folder, &["check", "notes"], 1, "`notes/guards.toml` is a link out of the pack", "");
    for command in ["run", "hear", "play", "prompt"] {
        check(&folder, &[command, "notes"], 1, "", "`notes/guards.toml` is a link out of the pack");
    }
    check(&folder, &["test", "notes"], 1, "`notes/guards.toml` is a link out of the pack", "");
    let pack = rulebook_fs::read_pack(&folder.join("notes")).unwrap();
    assert!(rulebook::Program::load(&pack.folder).value.is_none());
}

/// Linked folders and folders that are too deep are not read. They might contain a guardrail, so this is reported.
#[cfg(unix)]
#[test]
fn folders_that_are_not_read_are_reported() {
    let folder = folder("unwalked");
    check(&folder, &["new", "pack", "notes"], 0, "", "");
    let notes = folder.join("notes");
    std::fs::create_dir(folder.join("shared")).unwrap();
    for apart in [".git", "node_modules"] {
        std::os::unix::fs::symlink("../shared", notes.join(apart)).unwrap();
    }
    check(&folder, &["check", "notes"], 0, "", "");
    std::os::unix::fs::symlink("../shared", notes.join("guards")).unwrap();
    check(&folder, &["run", "notes"], 1, "", "`notes/guards` is a link to a folder, so nothing in it is read");
    std::fs::remove_file(notes.join("guards")).unwrap();
    let deep = "a/".repeat(16);
    std::fs::create_dir_all(notes.join(&deep)).unwrap();
    check(&folder, &["run", "notes"], 1, "", "lies 16 folders deep, so nothing in it is read");
}

/// Each of these packs uses two others, and both of these use the two of the next level.
#[test]
fn packs_that_lead_to_very_many_others_are_refused_at_once() {
    let folder = folder("diamonds");
    for level in 0..16 {
        for side in ["a", "b"] {
            let pack = folder.join(format!("{side}{level}"));
            std::fs::create_dir(&pack).unwrap();
            let next = level + 1;
            let uses = if level < 15 { format!("use = ['../a{next}', '../b{next}']\n") } else { String::new() };
            std::fs::write(
                pack.join("pack.toml"),
                format!("[pack]\nname = '{side}{level}'\n{uses}[actions.ping]\nreplace = true\n"),
            )
            .unwrap();
        }
    }
    check(&folder, &["check", "a0"], 2, "", "its `use` leads to more than 1000 folders");
    check(&folder, &["check", "a9"], 0, "", "");
}

#[test]
fn the_name_of_a_file_neither_breaks_a_line_nor_steers_a_terminal() {
    let here = folder("names");
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/writers-factory");
    let colours = |name: &str| {
        let run = Command::new(env!("CARGO_BIN_EXE_rulebook"))
            .args(["run", pack, name])
            .current_dir(&here)
            .env("CLICOLOR_FORCE", "1")
            .output();
        let output = run.unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let said = colours("no\u{1b}[2J\nanswer.txt");
    assert!(said.contains(r"`no\u{1b}[2J\nanswer.txt`") && said.lines().count() == 1, "{said}");
    #[cfg(unix)]
    {
        std::fs::write(here.join("an\u{1b}[2J\nanswer.txt"), "Hi <message>x</message>").unwrap();
        let said = colours("an\u{1b}[2J\nanswer.txt");
        assert!(said.contains(r"an\u{1b}[2J\nanswer.txt:1:1"), "{said}");
    }
}

#[test]
fn an_outcome_is_printed_byte_for_byte() {
    let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/couple-ai");
    let output = rulebook(Path::new("."), &["run", pack, "-", "--format", "json"], b"a\x7fb \xc2\x9b c\x1b[1m");
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["message"], "a\x7fb \u{9b} c\x1b[1m");
}
