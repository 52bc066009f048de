//! Applying: is each file old or new, all of an answer or none of it, and nothing ever outside the root?

use crate::command::{at_terminal, ended, folder, rulebook};
use crate::texts::thorough;
use rulebook::outcome::{Effect, EffectRecord};
use rulebook_fs::{Applied, Applying, Change, Root, apply};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/packs/files");

/// A root and, beside it, a folder into which nothing may be written.
pub(crate) fn root(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir(folder.join("root")).unwrap();
    fs::create_dir(folder.join("outside")).unwrap();
    fs::write(folder.join("outside/secret.txt"), "secret").unwrap();
    folder.join("root")
}

fn write(key: &str, text: &str) -> EffectRecord {
    let effect = Effect::Write { key: key.into(), text: text.into(), new: false, executable: false };
    EffectRecord { cause: "files/pack.toml:22:12".parse().ok(), ..EffectRecord::from(effect) }
}

pub(crate) fn applied(root: &Path, effects: &[EffectRecord]) -> Applied {
    apply(&Root::open(root).unwrap(), effects, Applying::default())
}

fn partly(root: &Path, effects: &[EffectRecord]) -> Applied {
    apply(&Root::open(root).unwrap(), effects, Applying { partial: true, ..Applying::default() })
}

fn changes(applied: &Applied) -> Vec<&str> {
    applied.files.iter().map(|file| file.change.name()).collect()
}

fn codes(applied: &Applied) -> Vec<String> {
    applied.faults().map(|(_, fault)| fault.code.to_string()).collect()
}

/// Every file below a folder with its bytes, and every link with its target.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    let held = |path: &PathBuf| match fs::read_link(path) {
        Ok(target) => target.to_string_lossy().into_owned().into_bytes(),
        Err(_) => fs::read(path).unwrap_or_default(),
    };
    files.map(|path| (path.clone(), held(&path))).collect()
}

/// An answer of files, in the dialect of the pack.
fn answer(files: &[(&str, &str)]) -> String {
    files.iter().map(|(path, text)| format!("<file path=\"{path}\">\n{text}\n</file>\n")).collect()
}

fn command(folder: &Path, arguments: &[&str], answer: &str) -> (i32, String, String) {
    ended(folder, &[&["apply", PACK, "-", "--root", "root"], arguments].concat(), answer)
}

#[test]
fn files_are_created_replaced_or_left_alone() {
    let root = root("apply-command");
    let folder = root.parent().unwrap();
    fs::write(root.join("same.txt"), "one\n").unwrap();
    fs::write(root.join("other.txt"), "old\r\n").unwrap();
    let answer = answer(&[("same.txt", "one"), ("other.txt", "a\r\nb"), ("A0. List & more (1)/new one.md", "text")]);
    let (status, out, err) = command(folder, &["--dry-run"], &answer);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("@@ -1 +1,2 @@\n-old\n+a\n+b\n"), "{out}");
    assert!(out.ends_with("3 files: 1 unchanged, 1 replaced, 1 created (dry run: nothing was written)\n"), "{out}");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2);

    let (status, out, _) = command(folder, &[], &answer);
    assert_eq!(status, 0);
    let expected = "unchanged same.txt (4 bytes)\nreplaced  other.txt (6 bytes)\n\
                    created   A0. List & more (1)/new one.md (5 bytes)\n3 files: 1 unchanged, 1 replaced, 1 created\n";
    assert_eq!(out, expected);
    assert_eq!(fs::read_to_string(root.join("other.txt")).unwrap(), "a\r\nb\r\n");
    assert_eq!(fs::read_to_string(root.join("A0. List & more (1)/new one.md")).unwrap(), "text\n");
    let (status, out, _) = command(folder, &["--format", "json"], &answer);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &report["files"][2]["change"]), (0, &Value::from("unchanged")));
    let schema = rulebook::schemas::of("apply").unwrap().schema().unwrap();
    assert!(jsonschema::draft202012::is_valid(&schema, &report), "{report}");
}

#[test]
fn a_write_that_fails_is_reported_at_its_block() {
    let root = root("apply-fault");
    let folder = root.parent().unwrap();
    fs::create_dir(root.join("docs")).unwrap();
    let answer = answer(&[("new.txt", "text"), ("docs", "text")]);
    let (status, out, _) = command(folder, &[], &answer);
    assert_eq!(status, 1);
    assert!(out.contains("error[workspace/not-a-file]: `docs` is a folder"), "{out}");
    assert!(out.contains("standard input:4:1"), "{out}");
    assert!(out.contains("written by") && out.contains("files/pack.toml:22:12"), "{out}");
    assert!(out.ends_with("2 files: 2 left\n"), "{out}");
    assert!(!root.join("new.txt").exists());
    let (status, out, _) = command(folder, &["--partial"], &answer);
    assert_eq!(status, 1);
    assert!(out.ends_with("2 files: 1 created, 1 left\n"), "{out}");
    assert!(root.join("new.txt").exists());

    let call = "<action type=\"save\"><path>../up</path><text>x</text></action>";
    let (status, out, _) = command(folder, &[], call);
    assert!(status == 0 && out.contains("response/unsafe-path"), "{out}");
    let output = rulebook(folder, &["apply", PACK, "-", "--root", "nowhere"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "rulebook: cannot read `nowhere`: there is no such file or folder\n"
    );
    assert_eq!(command(folder, &[], "<message>Nothing to do.</message>").1, "no file to write\n");
}

/// The time in a written file is the time of writing, not the time at which the session was saved.
#[test]
fn the_time_is_that_of_the_clock_unless_an_argument_gives_it() {
    let root = root("apply-now");
    let folder = root.parent().unwrap();
    let pack = "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.log = { role = \"call\", payload = \"tags\" }\n\
                [modes.default]\npermits = [\"*\"]\n[actions.log]\neffects = [{ write = \"log.md\", value = \"{{ now }}\" }]\n";
    fs::create_dir(folder.join("p")).unwrap();
    fs::write(folder.join("p/pack.toml"), pack).unwrap();
    fs::write(folder.join("s.json"), r#"{"now": "2020-01-01T00:00:00Z"}"#).unwrap();
    let log = |arguments: &[&str]| {
        let arguments = [&["apply", "p", "-", "--root", "root", "--session", "s.json"], arguments].concat();
        assert!(rulebook(folder, &arguments, b"<log></log>").status.success());
        fs::read_to_string(root.join("log.md")).unwrap()
    };
    assert!(!log(&[]).contains("2020"));
    assert_eq!(log(&["--now", "2020-02-02"]), "2020-02-02\n");
    // Commands that use no clock take the time of the session.
    let output = rulebook(folder, &["run", "p", "--session", "s.json", "--format", "json"], b"<log></log>");
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"text\": \"2020-01-01T00:00:00Z\""));
}

#[test]
fn an_answer_that_is_refused_writes_nothing() {
    let root = root("apply-refused");
    fs::write(root.parent().unwrap().join("strict.toml"), "").unwrap();
    let (status, out, _) = command(root.parent().unwrap(), &[], "<file path=\"a.txt\">cut off");
    assert!(status == 0 && out.contains("so it has no effect"), "{out}");
    assert!(!root.join("a.txt").exists());
    // A file that the end of the answer cuts off is not written in any mode.
    let (status, ..) = command(root.parent().unwrap(), &["--mode", "lenient"], "<file path=\"a.txt\">cut off");
    assert!(status == 0 && !root.join("a.txt").exists());
}

#[test]
fn a_file_keeps_its_mode_and_a_line_break_ends_it() {
    let root = root("apply-mode");
    fs::write(root.join("run.sh"), "old").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    }
    let effects = [write("run.sh", "new"), write("empty", ""), write("twice", "first\n"), write("twice", "second\n")];
    assert_eq!(changes(&applied(&root, &effects)), ["replaced", "created", "created"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(root.join("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    }
    let read = |name| fs::read_to_string(root.join(name)).unwrap();
    assert_eq!((read("run.sh"), read("empty"), read("twice")), ("new\n".into(), String::new(), "second\n".into()));
    assert_eq!(fs::read_dir(&root).unwrap().count(), 3, "nothing of ours is left behind");
}

#[test]
fn one_bad_file_holds_back_all_others() {
    let root = root("apply-all");
    fs::write(root.join("kept"), "old\n").unwrap();
    fs::write(root.join("locked"), "old\n").unwrap();
    let mut permissions = fs::metadata(root.join("locked")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(root.join("locked"), permissions).unwrap();
    let before = contents(&root);
    for (key, code) in [
        ("locked", "workspace/cannot-write"),
        ("kept/below", "workspace/not-a-folder"),
        ("new/file", "workspace/not-a-folder"),
        ("KEPT", "workspace/same-file"),
        ("a//b", "response/unsafe-path"),
        ("./a", "response/unsafe-path"),
    ] {
        let effects = [write("kept", "new"), write("new", "new"), write("deep/er/file", "new"), write(key, "new")];
        let none = applied(&root, &effects);
        assert_eq!((changes(&none), codes(&none)), (vec!["left"; 4], vec![code.to_owned()]), "{key}");
        assert_eq!(contents(&root), before, "{key}");
    }
    let some = partly(&root, &[write("kept", "new"), write("locked", "new")]);
    assert_eq!((changes(&some), some.count(Change::Left)), (vec!["replaced", "left"], 1));
}

#[cfg(unix)]
#[test]
fn paths_that_meet_through_a_link_are_one_file() {
    let root = root("apply-links");
    fs::create_dir(root.join("a")).unwrap();
    std::os::unix::fs::symlink("a", root.join("b")).unwrap();
    std::os::unix::fs::symlink("a/x", root.join("link")).unwrap();
    let both = [write("a/x", "one"), write("b/x", "two")];
    let none = applied(&root, &both);
    assert_eq!(codes(&none), ["workspace/same-file"]);
    assert_eq!(fs::read_dir(root.join("a")).unwrap().count(), 0);
    assert_eq!(changes(&partly(&root, &both)), ["created", "left"]);
    // One file by two paths: deleted by its own path, and written through a link with the text that it has already.
    let gone = Effect::Delete { key: "a/x".into(), text: None }.into();
    let before = contents(&root);
    assert_eq!(codes(&applied(&root, &[gone, write("b/x", "one\n")])), ["workspace/same-file"]);
    assert_eq!(contents(&root), before);
    assert_eq!(codes(&applied(&root, &[write("link", "x")])), ["workspace/not-a-file"]);
    assert_eq!(changes(&applied(&root, &[write("b/y", "x")])), ["created"], "links inside the root are followed");
}

/// The folder of a repository is below the root, but holds programs that Git runs.
#[cfg(unix)]
#[test]
fn no_link_leads_to_a_place_that_no_key_may_name() {
    use rulebook::outcome::Edit;
    let root = root("apply-git");
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::create_dir_all(root.join("deep")).unwrap();
    fs::write(root.join(".git/hooks/old"), "old\n").unwrap();
    fs::write(root.join("a"), "a\n").unwrap();
    for (target, link) in [(".git", "l"), ("../.git/hooks", "deep/h"), ("l", "chain")] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let before = contents(&root);
    for key in ["l/hooks/old", "l/hooks/new", "l/new/deep/file", "l/config", "deep/h/old", "chain/hooks/old"] {
        let edit = Edit { key: key.into(), find: "old".into(), put: "new".into(), ..Edit::default() };
        let effects: [EffectRecord; 6] = [
            write(key, "new"),
            Effect::Edit(Box::new(edit)).into(),
            Effect::Delete { key: key.into(), text: None }.into(),
            Effect::Move { key: key.into(), to: "b".into() }.into(),
            Effect::Move { key: "a".into(), to: key.into() }.into(),
            Effect::Record { key: key.into(), path: "all".into(), value: 1.into() }.into(),
        ];
        for effect in effects {
            assert!(codes(&applied(&root, &[effect])).contains(&"response/unsafe-path".to_owned()), "{key}");
            assert_eq!(contents(&root), before, "{key}");
        }
    }
}

/// More than two hundred keys that try to leave the root, or to reach something that is not a file.
pub(crate) fn hostile_keys() -> Vec<String> {
    let mut keys: Vec<String> = [
        "", " ", ".", "...", "/", "\\", "CON", "nul.txt", "aux/a", "a/com1", "lpt¹", "a.", "a ", "a\0b", "a\nb",
        "a\u{1b}[31m",
    ]
    .map(str::to_owned)
    .to_vec();
    let ups =
        ["..", ".. ", "..\\..", "./..", "a/../..", "a/./../..", "a/b/../../..", "%2e%2e/..", "..;/..", "....//.."];
    let targets = ["outside/secret.txt", "outside/new.txt", "/etc/passwd", "C:\\x", "new", ".", ""];
    for up in ups {
        keys.extend(targets.iter().map(|target| format!("{up}/{target}")));
    }
    let absolute =
        ["/", "//", "///", "\\", "\\\\?\\", "\\\\server\\share\\", "C:", "C:/", "file:///", "/proc/self/root/"];
    for start in absolute {
        keys.extend(targets.iter().map(|target| format!("{start}{target}")));
    }
    // Links that the root has before the answer: to the outside, to each other in circles, or to nothing.
    for link in ["out", "up", "abs", "deep/out", "chain", "circle", "nothing", "secret", "out/../out"] {
        keys.extend(["/x", "/secret.txt", "/sub/x", "/sub/deeper/x", ""].iter().map(|end| format!("{link}{end}")));
    }
    keys.extend(["x".repeat(300), "x/".repeat(600), "a".repeat(2000), format!("{}/x", "é".repeat(200))]);
    keys
}

#[cfg(unix)]
#[test]
fn hostile_paths_write_nothing_outside_the_root() {
    use std::os::unix::fs::symlink;
    let root = root("apply-hostile");
    let home = root.parent().unwrap().to_owned();
    fs::create_dir(root.join("deep")).unwrap();
    for (link, target) in [
        ("out", "../outside"),
        ("up", ".."),
        ("deep/out", "../../outside"),
        ("chain", "deep/out"),
        ("circle", "circle"),
        ("nothing", "../outside/none"),
        ("secret", "../outside/secret.txt"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(home.join("outside"), root.join("abs")).unwrap();
    let before = contents(&home);
    let keys = hostile_keys();
    assert!(keys.len() >= 200, "{}", keys.len());
    for key in &keys {
        for apply in [applied, partly] {
            let effects = [write(key, "hostile"), write("good.txt", "good")];
            let done = apply(&root, &effects);
            assert!(done.files[0].fault.is_some(), "{key:?} was written");
        }
        _ = fs::remove_file(root.join("good.txt"));
        assert_eq!(contents(&home), before, "{key:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_comes_and_goes_writes_nowhere() {
    let root = root("apply-race");
    let outside = root.parent().unwrap().join("outside");
    let before = contents(&outside);
    let stop = AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        // A thread keeps swapping a folder of the root for a link to the outside, as fast as it can.
        scope.spawn(|| {
            let swap = root.join("swap");
            while !stop.load(Ordering::Relaxed) {
                _ = fs::create_dir(&swap);
                _ = fs::remove_dir_all(&swap);
                _ = std::os::unix::fs::symlink("../outside", &swap);
                _ = fs::remove_file(&swap);
            }
        });
        for number in 0..400 {
            let text = format!("{number}");
            match applied(&root, &[write("swap/secret.txt", &text), write("swap/deep/er.txt", &text)]).faults().count()
            {
                0 => written += 1,
                _ => refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(contents(&outside), before);
    assert!(refused > 0, "{written} were written, and the race never met one");
}

/// How often a run is killed.
pub(crate) fn kills() -> u32 {
    thorough(200) as u32
}

/// How long the command takes: the shortest of a few runs, since the first has to load it and others may share the
/// machine.
pub(crate) fn whole_run(start: impl Fn() -> Child) -> Duration {
    let time = |_| {
        let clock = Instant::now();
        assert!(start().wait().unwrap().success());
        clock.elapsed()
    };
    (0..5).map(time).min().unwrap()
}

#[test]
fn a_kill_at_any_moment_leaves_each_file_old_or_new() {
    let root = root("apply-kill");
    let home = root.parent().unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("folder {number}/file.txt")).collect();
    let text = |version: &str, name: &str| format!("{version} of {name}\n").repeat(4_000);
    for version in ["old", "new"] {
        let texts: Vec<String> = names.iter().map(|name| text(version, name)).collect();
        let files: Vec<(&str, &str)> =
            names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.trim_end())).collect();
        fs::write(home.join(version), answer(&files)).unwrap();
    }
    let start = |version: &str| {
        at_terminal(home, &["apply", PACK, version, "--root", "root"]).stdout(Stdio::null()).spawn().unwrap()
    };
    let whole = whole_run(|| start("old"));
    let kills = kills();
    let (mut versions, mut killed) = (["new", "old"].iter().cycle(), 0);
    for number in 0..kills {
        let mut child = start(versions.next().unwrap());
        std::thread::sleep(whole.mul_f64(1.1 * f64::from(number) / f64::from(kills)).max(Duration::from_millis(1)));
        _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());
        for name in &names {
            let found = fs::read_to_string(root.join(name)).unwrap();
            assert!(found == text("old", name) || found == text("new", name), "{name} is neither old nor new");
        }
    }
    assert!(killed > 0);
    // Temporary files of killed processes are removed with the next answer; files that only look alike stay.
    let foreign = root.join("folder 0/.file.txt.0123456789abcdef01234567.tmp");
    fs::write(&foreign, "mine").unwrap();
    for version in ["new", "old"] {
        assert!(start(version).wait().unwrap().success());
    }
    let hidden = |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    assert_eq!(contents(&root).keys().filter(hidden).collect::<Vec<_>>(), [&foreign]);
}
