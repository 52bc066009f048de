//! Play: is input that is typed, piped or answered by a command one conversation, and is its case the same one?

use crate::command::{folder, outputs};
use std::fs;
use std::path::Path;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/packs/files");
const ROUNDTABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/roundtable");

#[track_caller]
fn play(folder: &Path, arguments: &[&str], typed: &str, status: i32) -> (String, String) {
    outputs(folder, &[&["play"], arguments].concat(), typed, status)
}

/// A talk from standard input: the framing, a question, an empty line, words to nobody, the end, the synthesis.
const TALK: &str = "E

Maya Chen (Business Analyst): Let's discuss: who waits for whom?

Two paragraphs, that is.
.
Alex, what about the cache?
/model reply.txt
/user
.
/user
/not a command,
but two lines
.
done\r
/model
### Elaboration Insights
It needs a cache.
";

#[test]
fn a_piped_talk_is_a_case_that_passes() {
    let folder = folder("play");
    fs::write(folder.join("reply.txt"), "Alex Rivera (Solutions Architect): It needs one.\n").unwrap();
    let session =
        r#"{"state": {"step": {"id": "01-03", "title": "Journeys", "outputs": ["spec.md"]}, "item": "sync"}}"#;
    fs::write(folder.join("s.json"), session).unwrap();
    let arguments = [ROUNDTABLE, "--session", "s.json"];
    // The end of the input ends the answer; nothing can be asked for after it.
    let (out, err) = play(&folder, &arguments, TALK, 0);
    assert_eq!(err, "");
    for shown in [
        "Topic: Journeys for sync\n",
        "user> Alex, what about the cache?\n",
        "address · persona \"Alex\" · mode discussion\n",
        "turns 4",
        "silence · mode discussion\n",
        "open · mode discussion\n",
        "exit · mode synthesis\n",
    ] {
        assert!(out.contains(shown), "{shown:?} is not in\n{out}");
    }
    let kept = "/save\n/case cases/a-piped-talk.case\n/state\n";
    fs::create_dir(folder.join("cases")).unwrap();
    let typed = TALK.replace("/model\n", kept).split_once("###").unwrap().0.to_owned();
    let (out, _) = play(&folder, &arguments, &typed, 0);
    assert!(out.contains("wrote `s.json`\n") && out.contains("\"mode\": \"synthesis\""), "{out}");
    let case = fs::read_to_string(folder.join("cases/a-piped-talk.case")).unwrap();
    assert!(case.starts_with("claim = \"a piped talk\"\nmode = \"menu\"\nnow = \"20"), "{case}");
    outputs(&folder, &["test", ROUNDTABLE, "--cases", "cases"], "", 0);
    // The conversation continues from the saved session, and its case starts there.
    let (out, _) = play(&folder, &arguments, "/case cases/later.case\ndone\n/case cases/later.case\n", 2);
    assert!(out.contains("mode synthesis · turns 4"), "{out}");
    let (tested, _) = outputs(&folder, &["test", ROUNDTABLE, "--cases", "cases"], "", 0);
    assert!(tested.starts_with("2 cases in 1 pack: 2 passed"));
}

#[test]
fn a_command_that_fails_does_not_end_the_talk() {
    let folder = folder("play-trouble");
    let line = "x".repeat(1 << 20);
    let typed = format!(
        "/sav\n/save\n/save none/s.json\n/case x.case\n/user\n=== user ===\n.\n/case x.case\n/model none\n{line}\nC\n/help\n/quit\nE\n"
    );
    let (out, err) = play(&folder, &[ROUNDTABLE], &typed, 2);
    for said in [
        "there is no `/sav`; /help shows what there is",
        "/save wants the name of a file",
        "cannot write `none/s.json`",
        "this talk cannot be a case: a text in it has a line that a case takes for a marker",
        "cannot read `none`",
    ] {
        assert!(err.contains(said), "{said:?} is not in\n{err}");
    }
    assert!(
        out.contains("emit   continue") && out.contains("/case FILE ") && !out.contains("ELABORATION MODE"),
        "{out}"
    );
    fs::write(folder.join("x.case"), "mine").unwrap();
    let (_, err) = play(&folder, &[ROUNDTABLE], "C\n/case x.case\n", 2);
    assert!(err.contains("`x.case` is already there") && fs::read(folder.join("x.case")).unwrap() == b"mine");
    let (_, err) = play(&folder, &[ROUNDTABLE, "--mode", "none"], "", 2);
    assert!(err.contains("the pack has no mode `none`"), "{err}");
}

/// A saved session has started already; what a host puts into a session is there when it starts. The time is always the
/// current one.
#[test]
fn a_session_that_was_kept_goes_on() {
    let folder = folder("play-goes-on");
    fs::create_dir(folder.join("p")).unwrap();
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "tags"
        blocks.message = { role = "message" }
        [state.n]
        type = "integer"
        default = 0
        [messages.hello]
        says = "Hello, {{ state.n }}!"
        [[rules]]
        id = "begins"
        on = "start"
        effects = [{ set = "n", value = "{{ state.n + 1 }}" }, { say = "hello" }]
    "#;
    fs::write(folder.join("p/pack.toml"), pack).unwrap();
    fs::write(folder.join("s.json"), r#"{"state": {"n": 5}, "now": "2020-01-01T00:00:00Z"}"#).unwrap();
    for hellos in [1, 0, 0] {
        let (out, _) = play(&folder, &["p", "--session", "s.json"], "/save\n", 0);
        assert_eq!(out.matches("Hello, 6!").count(), hellos, "{out}");
        let kept = fs::read_to_string(folder.join("s.json")).unwrap();
        assert!(kept.contains("\"n\": 6") && !kept.contains("2020-01"), "{kept}");
    }
    let (out, _) = play(&folder, &["p", "--session", "s.json", "--now", "noon"], "/state\n", 0);
    assert!(out.contains("\"now\": \"noon\""), "{out}");
}

/// A process that exceeds the limit on file size is killed while it writes: the session stays as it was, and the next
/// process removes the temporary file.
#[cfg(unix)]
#[test]
fn a_session_that_cannot_be_written_stays_as_it_was() {
    let folder = folder("play-full");
    let old = "{\"mode\": \"menu\"}\n";
    fs::write(folder.join("s.json"), old).unwrap();
    let full = format!(
        "ulimit -c 0; ulimit -f 0; printf '/save\\n' | '{}' play '{ROUNDTABLE}' --session s.json",
        env!("CARGO_BIN_EXE_rulebook")
    );
    let status = std::process::Command::new("sh").args(["-c", &full]).current_dir(&folder).output().unwrap().status;
    assert!(!status.success());
    assert_eq!(fs::read_to_string(folder.join("s.json")).unwrap(), old);
    std::os::unix::fs::symlink("s.json", folder.join("link.json")).unwrap();
    let (out, _) = play(&folder, &[ROUNDTABLE, "--session", "link.json"], "/save\n", 0);
    assert!(out.contains("wrote `link.json`"), "{out}");
    assert!(fs::read_to_string(folder.join("s.json")).unwrap().contains("\"state\""));
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["link.json", "s.json"]);
}

#[cfg(unix)]
#[test]
fn a_command_answers_for_the_model_and_is_asked_again() {
    let folder = folder("play-command");
    fs::create_dir_all(folder.join("p/prompt")).unwrap();
    let pack = r#"
        [pack]
        name = "p"
        [dialects.d]
        grammar = "tags"
        blocks.message = { role = "message" }
        [reply]
        message = { required = true, most = 1 }
        [degradation]
        missing-message = ["ask-again", "keep"]
        [[prompts.main.layers]]
        id = "rules"
        text = "prompt/rules.md"
        [[prompts.main.layers]]
        id = "history"
        source = "history"
        [[prompts.main.layers]]
        id = "message"
        source = "message"
        lead = "USER: "
        [tiers.all]
        context = 8000
        reserve = 1000
    "#;
    fs::write(folder.join("p/pack.toml"), pack).unwrap();
    fs::write(folder.join("p/prompt/rules.md"), "Be brief.\n").unwrap();
    // A command as the model: it writes the form of an answer only after a correction.
    let model = "prompt=$(cat); case \"$prompt\" in *'<message>'*) echo '<message>Again.</message>';; *'Be brief.'*'USER: Hello') echo Hi;; esac";
    let (out, err) = play(&folder, &["p", "--command", model], "Hello\n\n/case a.case\n/prompt\n", 0);
    assert!(out.contains("the model is asked again") && out.contains("\nAgain.\n"), "{out}{err}");
    assert!(out.ends_with("Be brief.\n\nUSER: Hello\n\nASSISTANT: <message>\nAgain.\n</message>\n\nuser> \n"), "{out}");
    outputs(&folder, &["test", "p", "--cases", "."], "", 0);
    // A command that reads nothing, one that fails, one that does not exist, one that writes much before it reads.
    for (model, status, said) in [
        ("printf '<message>Deaf.</message>'", 0, "Deaf."),
        ("exit 3", 2, "gave no answer: exit status: 3"),
        ("no-such-model-anywhere", 2, "gave no answer: exit status: 127"),
        ("yes '<message>x</message>' | head -c 300000; cat >/dev/null", 0, "duplicate-block"),
    ] {
        let (out, err) = play(&folder, &["p", "--command", model], "Hello\n\n", status);
        assert!((out + &err).contains(said), "{model}: {err}");
    }
}

/// No text that is typed, printed on request or saved controls the terminal.
#[test]
fn nothing_controls_the_terminal() {
    let folder = folder("play-controls");
    fs::create_dir(folder.join("p")).unwrap();
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }\n\
                [state]\nnote = { type = \"string\", default = \"a\\u009bb\\u202ec\" }\n[tiers.all]\ncontext = 8000\nreserve = 1000\n\
                [prompts.main]\nlayers = [{ id = \"task\", text = \"task.md\" }, { id = \"message\", source = \"message\" }]\n";
    fs::write(folder.join("p/pack.toml"), pack).unwrap();
    fs::write(folder.join("p/task.md"), "Be \u{9b}31m\u{200f} brief.\n").unwrap();
    let typed = "say \u{9b}2J\u{2066}x\n/prompt\n/state\n";
    let (out, _) = play(&folder, &["p"], typed, 0);
    let raw = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{200f}' | '\u{202e}' | '\u{2066}');
    assert!(!out.contains(raw), "{out:?}");
    assert!(out.contains(r"a\u009bb\u202ec"), "{out}");
}

/// An answer that writes a file, one that writes another where a link leads out of the root, and one that adds to a
/// document.
const WRITES: &str = "
<file path=\"notes/a.md\">
one
</file>
.

<file path=\"b.md\">
two
</file>
<file path=\"away/c.md\">
three
</file>
.

<action type=\"insight\"><file>plan.md</file><section>Risks</section><text>It may rain.</text></action>
.
";

#[test]
fn a_turn_shows_the_files_that_it_would_write() {
    let folder = folder("play-unwritten");
    let (out, _) = play(&folder, &[FILES], WRITES, 0);
    for shown in [
        "write  notes/a.md (1 line, 3 bytes)",
        "\n1 file not written: no --root is given\n",
        "\n2 files not written: no --root is given\n",
        "amend  plan.md section \"Risks\" (1 line, 12 bytes)",
    ] {
        assert!(out.contains(shown), "{shown:?} is not in\n{out}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// All files of a turn are written or none, by the same code as those of `rulebook apply`.
#[cfg(unix)]
#[test]
fn a_turn_writes_below_the_root_all_of_its_files_or_none() {
    let folder = folder("play-root");
    fs::create_dir_all(folder.join("root")).unwrap();
    fs::create_dir_all(folder.join("outside")).unwrap();
    std::os::unix::fs::symlink("../outside", folder.join("root/away")).unwrap();
    fs::write(folder.join("root/plan.md"), "# Plan\n\n## Risks\n\n## Costs\n").unwrap();
    let (out, _) = play(&folder, &[FILES, "--root", "root"], WRITES, 2);
    for shown in [
        "\ncreated   notes/a.md (4 bytes)\n",
        "error[workspace/outside]: `away/c.md` is outside the root",
        "\nleft      b.md (4 bytes)\nleft      away/c.md (6 bytes)\n",
        "\nUpdated plan.md, section \"Risks\": added 12 characters.\nreplaced  plan.md (",
    ] {
        assert!(out.contains(shown), "{shown:?} is not in\n{out}");
    }
    assert_eq!(fs::read_to_string(folder.join("root/notes/a.md")).unwrap(), "one\n");
    assert!(!folder.join("root/b.md").exists() && fs::read_dir(folder.join("outside")).unwrap().count() == 0);
    let plan = fs::read_to_string(folder.join("root/plan.md")).unwrap();
    assert!(plan.contains("It may rain.\n\n## Costs\n"), "{plan}");
    // If there is no document, the message of the pack is printed, and the conversation still ends with the status 0.
    fs::remove_file(folder.join("root/plan.md")).unwrap();
    let typed = format!("\n{}", WRITES.rsplit_once("\n\n").unwrap().1);
    let (out, _) = play(&folder, &[FILES, "--root", "root"], &typed, 0);
    assert!(out.contains("\nplan.md could not be updated.\nleft      plan.md ("), "{out}");
    let (_, err) = play(&folder, &[FILES, "--root", "none"], "", 2);
    assert!(err.contains("cannot read `none`"), "{err}");
}

#[test]
fn play_begins_by_explaining_how_a_turn_ends() {
    let folder = folder("play-ends");
    let (out, err) = play(&folder, &[ROUNDTABLE], ".\n", 2);
    let opening =
        "a line is what the user says; an empty line begins the model's answer, which a line that is a single `.` ends";
    assert!(out.contains(opening), "{out}");
    assert!(err.contains("there is nothing for a `.` to end"), "{err}");
    let (out, _) = play(&folder, &[ROUNDTABLE, "--command", "cat"], "", 0);
    assert!(out.contains("an empty line lets the command answer as the model; /help shows more"), "{out}");
}
