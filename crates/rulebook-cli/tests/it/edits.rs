//! Edits: are edits, deletes and moves carried out exactly, all or none, and refused where they do not fit?

use crate::apply::{applied, contents, hostile_keys, root};
use crate::command::{at_terminal, ended, folder, rulebook};
use crate::texts::thorough;
use rulebook::outcome::{Edit, Effect, EffectRecord, Matching, MissKind};
use rulebook_fs::{Applied, Applying, Change, Root, apply, plan};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/packs/edits");

fn write(key: &str, text: &str) -> EffectRecord {
    Effect::Write { key: key.into(), text: text.into(), new: false, executable: false }.into()
}

fn new(key: &str, text: &str) -> EffectRecord {
    Effect::Write { key: key.into(), text: text.into(), new: true, executable: false }.into()
}

fn replacing(key: &str, find: &str, put: &str) -> Edit {
    Edit { key: key.into(), find: find.into(), put: put.into(), ..Edit::default() }
}

fn edit(key: &str, find: &str, put: &str) -> EffectRecord {
    Effect::Edit(Box::new(replacing(key, find, put))).into()
}

fn trimmed(key: &str, find: &str, put: &str) -> EffectRecord {
    let matching = vec![Matching::Exact, Matching::TrimmedLines];
    Effect::Edit(Box::new(Edit { matching, ..replacing(key, find, put) })).into()
}

fn delete(key: &str) -> EffectRecord {
    Effect::Delete { key: key.into(), text: None }.into()
}

fn moved(key: &str, to: &str) -> EffectRecord {
    Effect::Move { key: key.into(), to: to.into() }.into()
}

fn record(text: &str) -> EffectRecord {
    Effect::Record { key: "list.json".into(), path: "all".into(), value: text.into() }.into()
}

fn named(applied: &Applied) -> Vec<(&str, &str)> {
    applied.files.iter().map(|file| (file.key.as_str(), file.change.name())).collect()
}

fn missed(applied: &Applied) -> Vec<(usize, MissKind)> {
    applied.misses.iter().map(|miss| (miss.effect, miss.kind)).collect()
}

fn read(root: &Path, name: &str) -> String {
    String::from_utf8(fs::read(root.join(name)).unwrap()).unwrap()
}

#[test]
fn effects_see_one_another_and_all_are_carried_out() {
    let root = root("edits-all");
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/a.rs"), "fn one() {}\r\nfn two() {}").unwrap();
    fs::write(root.join("old.txt"), "old\n").unwrap();
    fs::write(root.join("gone.bin"), b"\xff\xfe").unwrap();
    fs::write(root.join("image.bin"), b"\xff\x00").unwrap();
    let effects = [
        edit("src/a.rs", "one", "three"),
        moved("src/a.rs", "lib/deep/b.rs"),
        edit("lib/deep/b.rs", "fn two() {}\n", "fn two() {}\nfn four() {}\n"),
        delete("gone.bin"),
        moved("image.bin", "image.png"),
        write("src/a.rs", "mod b;"),
        trimmed("old.txt", "  old  ", "new"),
        write("brief.txt", "x"),
        delete("brief.txt"),
    ];
    let done = applied(&root, &effects);
    assert!(done.misses.is_empty() && done.faults().next().is_none(), "{done:?}");
    let expected = [
        ("src/a.rs", "replaced"),
        ("lib/deep/b.rs", "created"),
        ("gone.bin", "deleted"),
        ("image.png", "moved"),
        ("old.txt", "replaced"),
    ];
    assert_eq!(named(&done), expected);
    assert_eq!(read(&root, "lib/deep/b.rs"), "fn three() {}\r\nfn two() {}\r\nfn four() {}");
    assert_eq!((read(&root, "src/a.rs"), read(&root, "old.txt")), ("mod b;\n".into(), "new\n".into()));
    assert_eq!(fs::read(root.join("image.png")).unwrap(), b"\xff\x00");
    let names: Vec<_> = contents(&root).into_keys().map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect();
    let all = ["", "image.png", "lib", "lib/deep", "lib/deep/b.rs", "old.txt", "src", "src/a.rs"];
    assert_eq!(names, all.map(std::path::PathBuf::from), "nothing of ours is left behind");
}

#[test]
fn what_does_not_fit_changes_nothing_and_is_reported_whole() {
    let root = root("edits-misses");
    fs::write(root.join("a.txt"), "one\ntwo\none\n").unwrap();
    fs::write(root.join("b.txt"), "b\n").unwrap();
    fs::write(root.join("latin.txt"), b"caf\xe9\n").unwrap();
    let before = contents(&root);
    let effects = [
        write("new/c.txt", "c"),
        edit("a.txt", "three", "3"),
        edit("a.txt", "one", "1"),
        edit("none.txt", "x", "y"),
        delete("none.txt"),
        moved("b.txt", "a.txt"),
        edit("latin.txt", "caf", "tea"),
        new("latin.txt", "x"),
        moved("gone.txt", "there.txt"),
        edit("there.txt", "x", "y"),
        new("a.txt", "x"),
        Effect::Delete { key: "b.txt".into(), text: Some("c\n".into()) }.into(),
    ];
    let none = applied(&root, &effects);
    use MissKind::{Absent, Ambiguous, Exists, NotFound, NotUtf8};
    let expected = [(1, NotFound), (2, Ambiguous), (3, Absent), (5, Exists), (6, NotUtf8), (8, Absent)];
    assert_eq!(missed(&none), expected);
    assert_eq!(
        none.misses[1].at.iter().map(|lines| (lines.line, lines.text.as_str())).collect::<Vec<_>>(),
        [(1, "one"), (3, "one")]
    );
    assert!(none.files.iter().all(|file| file.change == Change::Left));
    assert_eq!(contents(&root), before);
    assert_eq!(missed(&applied(&root, &[new("a.txt", "x")])), [(0, Exists)]);
    assert_eq!(missed(&applied(&root, &[moved("a.txt", "a.txt")])), [(0, Exists)]);
    let how = Applying { partial: true, ..Applying::default() };
    let effects = [write("c.txt", "c"), moved("b.txt", "d.txt"), edit("d.txt", "x", "y")];
    let none = apply(&Root::open(&root).unwrap(), &effects, how);
    assert_eq!((missed(&none), contents(&root)), (vec![(2, NotFound)], before));
    // A file is moved as a whole or stays, and the other files are written.
    fs::create_dir(root.join("folder")).unwrap();
    let effects = [write("c.txt", "c"), moved("b.txt", "d.txt"), moved("d.txt", "folder")];
    let some = apply(&Root::open(&root).unwrap(), &effects, how);
    assert_eq!(named(&some), [("c.txt", "created"), ("b.txt", "left"), ("d.txt", "left"), ("folder", "left")]);
    assert!(root.join("b.txt").exists() && !root.join("d.txt").exists());
}

#[test]
fn a_plan_is_committed_only_onto_the_files_that_it_has_read() {
    let folder = root("edits-plan");
    fs::write(folder.join("a.txt"), "one\n").unwrap();
    fs::write(folder.join("b.txt"), "two\n").unwrap();
    fs::write(folder.join("same.txt"), "same\n").unwrap();
    let root = Root::open(&folder).unwrap();
    let effects = [edit("a.txt", "one", "1"), moved("b.txt", "c.txt"), write("same.txt", "same"), write("d.txt", "d")];
    for (name, text) in
        [("a.txt", "One\n"), ("b.txt", "Two\n"), ("same.txt", "other\n"), ("c.txt", "c\n"), ("d.txt", "D\n")]
    {
        let before = fs::read(folder.join(name)).ok();
        let plan = plan(&root, &effects).unwrap();
        assert_eq!(named(&plan.preview())[1], ("c.txt", "moved"));
        fs::write(folder.join(name), text).unwrap();
        let meanwhile = contents(&folder);
        let none = plan.commit();
        let faults: Vec<&str> = none.faults().map(|(file, _)| file.key.as_str()).collect();
        assert_eq!(faults, [name]);
        assert_eq!(contents(&folder), meanwhile);
        match before {
            Some(before) => fs::write(folder.join(name), before).unwrap(),
            None => fs::remove_file(folder.join(name)).unwrap(),
        }
    }
    // A file that was removed since it was read counts as changed, too.
    let made = plan(&root, &effects).unwrap();
    fs::remove_file(folder.join("a.txt")).unwrap();
    assert_eq!(made.commit().faults().count(), 1);
    fs::write(folder.join("a.txt"), "one\n").unwrap();
    assert_eq!(plan(&root, &effects).unwrap().commit().faults().count(), 0);
    assert_eq!(missed(&plan(&root, &effects).unwrap_err()), [(0, MissKind::NotFound), (1, MissKind::Absent)]);
}

#[test]
fn a_whole_new_text_is_written_as_the_file_was() {
    let root = root("edits-like");
    fs::write(root.join("crlf.txt"), "\u{feff}one\r\ntwo\r\n").unwrap();
    fs::write(root.join("latin.txt"), b"caf\xe9\n").unwrap();
    let done = applied(&root, &[write("crlf.txt", "one\nTWO"), write("latin.txt", "café")]);
    let codes: Vec<String> = done.faults().map(|(_, fault)| format!("{fault}")).collect();
    assert!(codes[0].contains("its byte order mark and its line breaks"), "{codes:?}");
    assert!(codes[1].contains("was not UTF-8"), "{codes:?}");
    assert_eq!((read(&root, "crlf.txt"), read(&root, "latin.txt")), ("\u{feff}one\r\nTWO\r\n".into(), "café\n".into()));
    // The same text with other line breaks is no change.
    assert_eq!(applied(&root, &[write("crlf.txt", "one\nTWO")]).count(Change::Unchanged), 1);
}

#[cfg(unix)]
#[test]
fn modes_stay_and_new_programs_are_executable() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let root = root("edits-modes");
    let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o777;
    let program = |key: &str| -> EffectRecord {
        Effect::Write { key: key.into(), text: "#!/bin/sh\n".into(), new: false, executable: true }.into()
    };
    for (name, bits) in [("kept.sh", 0o640), ("moved.sh", 0o750), ("edited.sh", 0o711)] {
        fs::write(root.join(name), "one\n").unwrap();
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(bits)).unwrap();
    }
    let number = fs::metadata(root.join("moved.sh")).unwrap().ino();
    let effects = [
        program("new.sh"),
        write("plain.sh", "#!/bin/sh"),
        program("kept.sh"),
        moved("moved.sh", "bin/moved.sh"),
        edit("edited.sh", "one", "two"),
        moved("edited.sh", "bin/edited.sh"),
    ];
    assert_eq!(applied(&root, &effects).faults().count(), 0);
    let plain = mode("plain.sh");
    assert_eq!(plain & 0o111, 0);
    // Everyone who may read the file may run it.
    assert_eq!(mode("new.sh"), plain | ((plain & 0o444) >> 2));
    assert_eq!((mode("kept.sh"), mode("bin/moved.sh"), mode("bin/edited.sh")), (0o640, 0o750, 0o711));
    assert_eq!(fs::metadata(root.join("bin/moved.sh")).unwrap().ino(), number, "the file itself is moved");
}

#[cfg(unix)]
#[test]
fn hostile_paths_in_every_verb_touch_nothing_outside_the_root() {
    use std::os::unix::fs::symlink;
    let folder = root("edits-hostile");
    let home = folder.parent().unwrap().to_owned();
    fs::create_dir(folder.join("deep")).unwrap();
    fs::write(folder.join("file.txt"), "secret\n").unwrap();
    let links = [
        ("out", "../outside"),
        ("up", ".."),
        ("deep/out", "../../outside"),
        ("chain", "deep/out"),
        ("circle", "circle"),
        ("nothing", "../outside/none"),
        ("secret", "../outside/secret.txt"),
    ];
    for (link, target) in links {
        symlink(target, folder.join(link)).unwrap();
    }
    symlink(home.join("outside"), folder.join("abs")).unwrap();
    let mut keys = hostile_keys();
    keys.extend(
        ["~", "~/x", "~root/.ssh/x", "c:x", "D:\\x", "FILE.txt ", "file.txt.", "file.txt/", "file.txt/x", "deep"]
            .map(str::to_owned),
    );
    keys.extend(
        [".x.0123456789abcdef01234567.old", ".rulebook.0123456789abcdef.journal", "a/.RULEBOOK.x.done"]
            .map(str::to_owned),
    );
    assert!(keys.len() >= 200, "{}", keys.len());
    let root = Root::open(&folder).unwrap();
    let before = contents(&home);
    for key in &keys {
        let tilde = key.starts_with('~');
        let verbs = [
            (write(key, "hostile"), false),
            (new(key, "hostile"), false),
            (edit(key, "secret", "hostile"), true),
            (delete(key), true),
            (moved(key, "stolen.txt"), true),
            (moved("file.txt", key), false),
            (Effect::Record { key: key.clone(), path: "a".into(), value: 1.into() }.into(), true),
        ];
        for (effect, needs) in verbs {
            // `~` is a name below the root like any other, so a new file of that name is allowed.
            if tilde && !needs {
                continue;
            }
            let effects = [write("good.txt", "good"), effect];
            for how in [Applying::default(), Applying { dry_run: true, ..Applying::default() }] {
                let done = apply(&root, &effects, how);
                let refused = !done.misses.is_empty() || done.faults().next().is_some();
                assert!(refused, "{key:?}: {effects:?}");
                _ = fs::remove_file(folder.join("good.txt"));
                assert_eq!(contents(&home), before, "{key:?}: {effects:?}");
            }
            // A missing document to add to does not keep the other files from being written.
            let adds = matches!(effects[1].effect, Effect::Record { .. });
            assert!(adds || plan(&root, &effects).is_err(), "{key:?}: {effects:?}");
        }
    }
}

#[test]
fn writers_below_different_roots_of_one_tree_lose_nothing() {
    let outer = root("edits-writers");
    fs::create_dir(outer.join("inner")).unwrap();
    fs::write(outer.join("inner/list.json"), "{\"all\": []}\n").unwrap();
    let inner = outer.join("inner");
    let done = AtomicUsize::new(0);
    let rounds: usize = std::env::var("RULEBOOK_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    std::thread::scope(|scope| {
        for (writer, root, key) in
            [("a", &outer, "inner/list.json"), ("b", &inner, "list.json"), ("c", &outer, "inner/list.json")]
        {
            let done = &done;
            scope.spawn(move || {
                let root = Root::open(root).unwrap();
                for number in 0..rounds {
                    let mut one = record(&format!("{writer}{number}"));
                    if let Effect::Record { key: own, .. } = &mut one.effect {
                        *own = key.to_owned();
                    }
                    // A second file in another folder, so that a run has to lock two folders. Their order differs from
                    // run to run.
                    let also =
                        write(if number % 2 == 0 { "z/also.txt" } else { "also.txt" }, &format!("{writer}{number}"));
                    let applied = apply(&root, &[one, also], Applying::default());
                    assert_eq!(applied.faults().count(), 0, "{applied:?}");
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let list: serde_json::Value = serde_json::from_str(&read(&inner, "list.json")).unwrap();
    assert_eq!(list["all"].as_array().unwrap().len(), done.into_inner());
    let hidden = contents(&outer)
        .into_keys()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
    assert_eq!(hidden.count(), 0, "nothing of ours is left behind");
}

/// A call of the pack.
fn call(action: &str, params: &[(&str, &str)]) -> String {
    let params: String = params.iter().map(|(name, value)| format!("<{name}>{value}</{name}>")).collect();
    format!("<action type=\"{action}\">{params}</action>\n")
}

fn command(root: &Path, arguments: &[&str], answer: &str) -> (i32, String, String) {
    ended(root.parent().unwrap(), &[&["apply", PACK, "-", "--root", "root"], arguments].concat(), answer)
}

#[test]
fn a_dry_run_shows_the_difference_of_every_verb() {
    let root = root("edits-dry");
    for (name, text) in [("a.txt", "one\r\ntwo\r\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("d.txt", "d\r\nD\r\n")] {
        fs::write(root.join(name), text).unwrap();
    }
    fs::write(root.join("e.bin"), b"\xff").unwrap();
    let before = contents(&root);
    let answer = call("edit", &[("path", "a.txt"), ("old", "two"), ("new", "2")])
        + &call("move", &[("from", "b.txt"), ("to", "in/b.txt")])
        + &call("delete", &[("path", "c.txt")])
        + &call("delete", &[("path", "e.bin")])
        + "<file path=\"d.txt\">\nd\nnew\n</file>\n<file path=\"f.txt\">f</file>\n";
    let (status, out, err) = command(&root, &["--dry-run", "--format", "json"], &answer);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let diffs: Vec<&str> =
        report["files"].as_array().unwrap().iter().map(|file| file["diff"].as_str().unwrap()).collect();
    let expected = [
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n",
        "diff --git a/b.txt b/in/b.txt\nrename from b.txt\nrename to in/b.txt\n",
        "--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n",
        "Binary files a/e.bin and /dev/null differ\n",
        "--- a/d.txt\n+++ b/d.txt\n@@ -1,2 +1,2 @@\n d\r\n-D\r\n+new\r\n",
        "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+f\n",
    ];
    assert_eq!(diffs, expected);
    assert_eq!(contents(&root), before);
    let (status, out, _) = command(&root, &[], &answer);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("moved     b.txt to in/b.txt (2 bytes)\ndeleted   c.txt\n"), "{out}");
    assert!(out.contains("info[workspace/like-before]: `d.txt` keeps its line breaks"), "{out}");
    assert!(out.ends_with("6 files: 2 replaced, 1 moved, 2 deleted, 1 created\n"), "{out}");
    let schema = rulebook::schemas::of("apply").unwrap().schema().unwrap();
    assert!(jsonschema::draft202012::is_valid(&schema, &report), "{report}");
}

#[test]
fn an_answer_that_does_not_fit_is_rejected_by_the_rules_of_the_pack() {
    let root = root("edits-rejected");
    fs::write(root.join("a.txt"), "one two\ntwo\n").unwrap();
    let before = contents(&root);
    let answer = call("edit", &[("path", "a.txt"), ("old", "one tow"), ("new", "1")])
        + &call("edit", &[("path", "a.txt"), ("old", "two"), ("new", "2")])
        + &call("write", &[("path", "b.txt"), ("text", "b")]);
    for arguments in [&[][..], &["--dry-run"], &["--partial"]] {
        let (status, out, err) = command(&root, arguments, &answer);
        assert_eq!((status, err.as_str()), (1, ""), "{out}");
        assert!(
            out.contains("error[response/edit-not-found]") && out.contains("error[response/edit-ambiguous]"),
            "{out}"
        );
        assert!(out.contains("2 files: 2 left"), "{out}");
        assert_eq!(contents(&root), before);
    }
    let (status, out, _) = command(&root, &["--format", "json", "--mode", "patient"], &answer);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &report["outcome"]["status"]), (1, &"refused".into()), "{out}");
    assert_eq!(report["outcome"]["effects"], serde_json::json!([]));
    assert!(report["outcome"]["ask_again"].as_str().unwrap().contains("one two"), "{out}");
    let codes: Vec<&str> =
        report["diagnostics"].as_array().unwrap().iter().map(|row| row["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["response/edit-not-found", "response/edit-ambiguous"]);
}

/// A file keeps its line breaks, so an edit cannot change them, and says so.
#[test]
fn an_edit_of_nothing_but_line_breaks_is_refused() {
    let root = root("edits-breaks");
    fs::write(root.join("a"), "1\r\n2\r\n").unwrap();
    for (old, new) in [("\r\n", "\n"), ("1\r\n", "1\n"), ("1\n2", "1\r\n2"), ("\u{feff}1", "1")] {
        let params = serde_json::json!({ "edits": [{ "path": "a", "old": old, "new": new }] });
        let reply = serde_json::json!({ "content": [{ "type": "tool_use", "id": "1", "name": "edits", "input": params }], "role": "assistant" });
        let (status, out, err) = command(&root, &["--from", "anthropic"], &reply.to_string());
        assert_eq!((status, &*read(&root, "a")), (1, "1\r\n2\r\n"), "{old:?}: {out}{err}");
        assert!(format!("{out}{err}").contains("a file keeps its own"), "{old:?}: {out}{err}");
    }
}

#[test]
fn a_last_line_without_a_line_break_fits_only_at_the_end_of_the_file() {
    let root = root("edits-unended");
    let patch = |sign: &str| format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n{sign}+y\n\\ No newline at end of file\n");
    let carried_out = |before: &str, patch: &str| {
        fs::write(root.join("f"), before).unwrap();
        let (status, out, err) = command(&root, &[], &call("patch", &[("text", patch)]));
        (status, read(&root, "f"), out + &err)
    };
    for (before, removed) in [("x\n", ""), ("x", ""), ("x", "\\ No newline at end of file\n")] {
        let (status, after, printed) = carried_out(before, &patch(removed));
        assert_eq!((status, &*after), (0, "y"), "{before:?} {removed:?}: {printed}");
    }
    let (status, after, printed) = carried_out("x\nz\n", &patch(""));
    assert_eq!((status, &*after), (1, "x\nz\n"), "{printed}");
    assert!(printed.contains("the text to replace is not at the end of"), "{printed}");
    let ends = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n";
    assert_eq!(carried_out("x", ends).1, "x\n");
    let made = "--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
    assert_eq!(carried_out("x", made).0, 0);
    assert_eq!(read(&root, "g"), "x");
}

#[test]
fn an_answer_that_is_not_utf8_writes_no_file() {
    let root = root("edits-utf8");
    let home = root.parent().unwrap();
    let answer = b"Hi\n<file path=\"a.txt\">\ncaf\xe9\n</file>\n";
    let output = rulebook(home, &["apply", PACK, "-", "--root", "root"], answer);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("byte 26, at 3:4, is 0xe9, which is not UTF-8"), "{err}");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    // An answer that writes no file is judged as usual.
    let output = rulebook(home, &["apply", PACK, "-", "--root", "root"], b"caf\xe9");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let talk = [b"\n".as_slice(), answer, b"\n.\n"].concat();
    let output = rulebook(home, &["play", PACK, "--root", "root"], &talk);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("no file is written: what was said is not UTF-8"), "{err}");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn play_keeps_the_old_session_if_an_edit_cannot_be_applied() {
    let home = folder("edits-talk");
    fs::create_dir_all(home.join("root")).unwrap();
    fs::create_dir(home.join("p")).unwrap();
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.edit = { role = \"call\", payload = \"tags\" }\n\
                [state.edits]\ntype = \"integer\"\ndefault = 0\n[modes.default]\npermits = [\"*\"]\n[actions.edit]\n\
                params.old = { type = \"string\", required = true }\n\
                effects = [{ edit = \"a.txt\", find = \"{{ params.old }}\", put = \"new\" }, { set = \"edits\", value = \"{{ state.edits + 1 }}\" }]\n";
    fs::write(home.join("p/pack.toml"), pack).unwrap();
    fs::write(home.join("root/a.txt"), "old\n").unwrap();
    let talk = "\n<edit><old>none</old></edit>\n.\n\n<edit><old>old</old></edit>\n.\n\n<edit><old>old</old></edit>\n.\n/save s.json\n";
    let (status, out, err) = ended(&home, &["play", "p", "--root", "root"], talk);
    assert_eq!(err, "", "{out}");
    assert_eq!((status, fs::read_to_string(home.join("root/a.txt")).unwrap().as_str()), (0, "new\n"));
    let session: serde_json::Value = serde_json::from_slice(&fs::read(home.join("s.json")).unwrap()).unwrap();
    assert_eq!(session["state"]["edits"], 1, "{out}");
    assert_eq!(out.matches("error[response/edit-not-found]").count(), 2, "{out}");
}

/// The number of further files: with so many, moving all of them takes long enough for a run to be killed meanwhile.
const MANY: usize = 24;

/// An answer, and the files as they are after it; `None` for a file that does not exist then.
struct Version {
    answer: PathBuf,
    files: Vec<(String, Option<String>)>,
}

fn versions(home: &Path) -> [Version; 2] {
    let long = |name: &str| format!("{name} of a file\n").repeat(4_000);
    let edited = |version: &str| format!("{0}version: {version}\n{0}", long("line"));
    let edit = |path: &str, old: &str, new: &str| {
        call("edit", &[("path", path), ("old", &format!("version: {old}")), ("new", &format!("version: {new}"))])
    };
    let whole = |path: &str, text: &str| format!("<file path=\"{path}\">\n{text}</file>\n");
    let all =
        |old: &str, new: &str| edit("a/1.txt", old, new) + &edit("b/2.txt", old, new) + &whole("c/3.txt", &long(new));
    let many: Vec<String> = (0..MANY).map(|number| format!("h/{number}.txt")).collect();
    let all_of = |text: &str| many.iter().map(|name| whole(name, &format!("{text}\n"))).collect::<String>();
    let there = all("old", "new")
        + &call("delete", &[("path", "d/4.txt")])
        + &call("move", &[("from", "e/5.txt"), ("to", "f/deep/5.txt")])
        + &call("move", &[("from", "b/6.txt"), ("to", "b/7.txt")])
        + &edit("b/7.txt", "old", "new")
        + &whole("g/8.txt", "new\n")
        + &all_of("new");
    let back = all("new", "old")
        + &whole("d/4.txt", &long("fourth"))
        + &call("move", &[("from", "f/deep/5.txt"), ("to", "e/5.txt")])
        + &edit("b/7.txt", "new", "old")
        + &call("move", &[("from", "b/7.txt"), ("to", "b/6.txt")])
        + &call("delete", &[("path", "g/8.txt")])
        + &all_of("old");
    let files = |version: &str, is_new: bool| {
        let there = |text: String| is_new.then_some(text);
        let gone = |text: String| (!is_new).then_some(text);
        let many = many.iter().map(|name| (name.clone(), Some(format!("{version}\n"))));
        let files = [
            ("a/1.txt", Some(edited(version))),
            ("b/2.txt", Some(edited(version))),
            ("c/3.txt", Some(long(version))),
            ("d/4.txt", gone(long("fourth"))),
            ("e/5.txt", gone(long("fifth"))),
            ("f/deep/5.txt", there(long("fifth"))),
            ("b/6.txt", gone(edited(version))),
            ("b/7.txt", there(edited(version))),
            ("g/8.txt", there("new\n".to_owned())),
        ];
        files.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(many).collect()
    };
    [("back", back, "old", false), ("there", there, "new", true)].map(|(name, text, version, is_new)| {
        fs::write(home.join(name), text).unwrap();
        Version { answer: home.join(name), files: files(version, is_new) }
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "says how many runs were killed half way")]
fn a_killed_run_leaves_each_file_old_or_new_and_can_be_run_again() {
    let root = root("edits-kill");
    let home = root.parent().unwrap();
    let versions = versions(home);
    let found = |name: &str| fs::read(root.join(name)).ok().map(|bytes| String::from_utf8(bytes).unwrap());
    let is = |version: &Version| version.files.iter().all(|(name, text)| found(name) == *text);
    for (name, text) in &versions[0].files {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        if let Some(text) = text {
            fs::write(root.join(name), text).unwrap();
        }
    }
    let start = |version: &Version| -> Child {
        let arguments = ["apply", PACK, version.answer.to_str().unwrap(), "--root", "root"];
        at_terminal(home, &arguments).stdout(Stdio::null()).spawn().unwrap()
    };
    let hidden = || -> Vec<PathBuf> {
        let names = contents(&root).into_keys();
        names.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))).collect()
    };
    let journal =
        || fs::read_dir(&root).unwrap().any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".journal"));
    let moves = || {
        fs::read_dir(root.join("a"))
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".old"))
    };
    // How long the command takes in total, and for how long of that it writes.
    let clock = Instant::now();
    let mut child = start(&versions[1]);
    while !journal() && child.try_wait().unwrap().is_none() {}
    let begun = clock.elapsed();
    assert!(child.wait().unwrap().success());
    let (whole, writing) = (clock.elapsed(), clock.elapsed().saturating_sub(begun));
    let kills = thorough(40) as u32;
    let (mut killed, mut halves, mut at) = (0, 0, 1);
    // Some runs end before they are killed.
    for number in 0..kills * 3 {
        if killed == kills {
            break;
        }
        let (old, new) = (&versions[at], &versions[1 - at]);
        assert!(is(old), "run {number}");
        let part = f64::from(number % 100) / 100.0;
        let mut child = start(new);
        // Most kills come while it writes, and half of them while it moves files to their places.
        match number % 4 {
            0 => std::thread::sleep(whole.mul_f64(1.1 * part)),
            1 => {
                while !journal() && child.try_wait().unwrap().is_none() {}
                std::thread::sleep(writing.mul_f64(part));
            }
            _ => {
                while !moves() && child.try_wait().unwrap().is_none() {}
                std::thread::sleep(Duration::from_micros(u64::from(number % 8) * 100));
            }
        }
        _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());
        for ((name, old), (_, new)) in old.files.iter().zip(&new.files) {
            let found = found(name);
            assert!(found == *old || found == *new, "{name} is neither old nor new");
        }
        for (from, to) in [("e/5.txt", "f/deep/5.txt"), ("b/6.txt", "b/7.txt")] {
            assert!(found(from).is_some() || found(to).is_some(), "{from} is nowhere");
        }
        let done = is(new);
        halves += u32::from(!done && !is(old));
        let again = start(new).wait().unwrap();
        // The edits of an answer that has been carried out do not apply a second time.
        assert!(again.success() || done, "run {number}: {again}");
        assert!(is(new), "run {number}");
        assert_eq!(hidden(), Vec::<PathBuf>::new(), "run {number}");
        at = 1 - at;
    }
    println!("{killed} runs were killed, {halves} of them half way");
    assert_eq!(killed, kills);
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_answer_whatever_it_writes() {
    let root = root("edits-left");
    let home = root.parent().unwrap();
    let versions = versions(home);
    for (name, text) in &versions[0].files {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        if let Some(text) = text {
            fs::write(root.join(name), text).unwrap();
        }
    }
    let start = || {
        let arguments = ["apply", PACK, versions[1].answer.to_str().unwrap(), "--root", "root"];
        at_terminal(home, &arguments).stdout(Stdio::null()).spawn().unwrap()
    };
    let hidden = || {
        contents(&root)
            .into_keys()
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')))
            .count()
    };
    let mut child = start();
    while hidden() < 3 && child.try_wait().unwrap().is_none() {}
    _ = child.kill();
    _ = child.wait();
    assert!(hidden() > 0, "it was killed too late");
    // This answer writes into none of the folders of the killed run.
    assert_eq!(applied(&root, &[write("else/where.txt", "x")]).faults().count(), 0);
    assert_eq!(hidden(), 0);
}
