//! Parts: does `rulebook new` add a part that works to each shipped pack?

use crate::command::{folder, outputs};
use crate::guides::copy;
use crate::root;
use std::fs;

/// Adds a part to a copy of a pack. The pack is still clean, the new case passes, and of the other cases none but
/// `broken` is reported to fail. Returns the new case.
#[track_caller]
fn check(pack: &str, kind: &str, broken: &[&str]) -> String {
    let folder = folder(&format!("parts-{pack}-{kind}"));
    copy(&root().join("rules"), &folder.join("rules"));
    let place = format!("rules/{pack}");
    let status = i32::from(!broken.is_empty());
    let (out, err) = outputs(&folder, &["new", kind, "tidy-up", "--pack", &place], "", status);
    let lost: String = broken.iter().map(|name| format!("  {place}/tests/{name}.case\n")).collect();
    assert!(err.ends_with(&lost) && err.is_empty() == lost.is_empty(), "{err}");
    let case = out.lines().find_map(|line| line.trim().strip_suffix(".case")).unwrap_or_else(|| panic!("{out}"));
    outputs(&folder, &["check", "--strict", &place], "", 0);
    let claim = case.rsplit('/').next().unwrap();
    let (tested, _) = outputs(&folder, &["test", &place, "--filter", claim], "", 0);
    assert!(tested.starts_with("1 case in 1 pack: 1 passed"), "{tested}");
    fs::read_to_string(folder.join(format!("{case}.case"))).unwrap()
}

/// An answer asks for the action, which is carried out, and the prompt of its mode shows how.
#[track_caller]
fn check_action(pack: &str, name: &str, asked: &str, broken: &[&str]) {
    let case = check(pack, "action", broken);
    assert!(case.contains(asked) && case.contains(&format!("action = \"{name}\", verdict = \"accepted\"")), "{case}");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("parts-{pack}-action"));
    let (prompt, _) = outputs(&folder, &["prompt", &format!("rules/{pack}"), "--message", "Hello."], "", 0);
    assert!(prompt.contains(asked), "{prompt}");
}

#[test]
fn a_new_action_can_be_asked_for_in_every_pack() {
    check_action("couple-ai", "ACTION_TIDY_UP", "[ACTION_TIDY_UP]{}", &[]);
    // The layers of this prompt are one more.
    check_action("dce", "tidy-up", "<tidy-up/>", &["without-a-name-the-prompt-asks-for-an-answer"]);
    check_action("roundtable", "tidy-up", "<tidy-up/>", &[]);
    check_action("writers-factory", "tidy-up", "<action type=\"tidy-up\"", &[]);
}

#[test]
fn a_new_mode_is_judged_in_every_pack() {
    for pack in ["couple-ai", "dce", "roundtable", "writers-factory"] {
        let case = check(pack, "mode", &[]);
        assert!(case.contains("mode    = \"tidy-up\""), "{case}");
    }
}

#[test]
fn a_new_guardrail_is_tripped_in_every_pack() {
    for pack in ["couple-ai", "dce", "roundtable", "writers-factory"] {
        let case = check(pack, "guardrail", &[]);
        assert!(case.contains("the guardrail `tidy-up` is tripped"), "{case}");
    }
}
