//! Patches: do the edits of a patch result in the text that the patch was made for?

use crate::texts::program_of;
use proptest::prelude::*;
use rulebook::outcome::{Edit, Effect};
use rulebook::{Options, Outcome, Program, Provider, Reply};
use rulebook_report::unified;
use serde_json::json;
use std::sync::LazyLock;

const PACK: &str = r#"
    [pack]
    name = "patches"
    [actions.patch]
    params  = { text = { type = "string", verbatim = true } }
    effects = [{ patch = "{{ params.text }}" }]
    [modes.code]
    permits = ["patch"]
"#;

static PROGRAM: LazyLock<Program> = LazyLock::new(|| program_of(PACK));

fn run(patch: &str) -> Outcome {
    let arguments = json!({ "text": patch }).to_string();
    let call = json!({ "id": "c", "type": "function", "function": { "name": "patch", "arguments": arguments } });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let reply = Reply::read(Provider::Openai, &message.to_string()).into_result().unwrap();
    PROGRAM.judge(&PROGRAM.session(), &reply, &Options::default())
}

/// The text after an edit of whole lines, at the line that it names or at the only place that matches.
fn edited(text: &str, edit: &Edit, by_line: bool) -> Option<String> {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let fits = |at: &usize| {
        let rest = &text[*at..];
        rest.starts_with(&edit.find) && (edit.find.ends_with('\n') || rest.len() == edit.find.len())
    };
    let at = if by_line {
        starts.get(usize::try_from(edit.line?).ok()? - 1).copied().filter(fits)?
    } else {
        let mut places = starts.into_iter().filter(fits);
        let at = places.next()?;
        if places.next().is_some() {
            return None;
        }
        at
    };
    Some([&text[..at], &edit.put, &text[at + edit.find.len()..]].concat())
}

fn patched(text: &str, outcome: &Outcome, by_line: bool) -> Option<String> {
    outcome.effects.iter().try_fold(text.to_owned(), |text, record| match &record.effect {
        Effect::Edit(edit) if edit.lines => edited(&text, edit, by_line),
        _ => None,
    })
}

/// A text of a few lines, many of which are equal or look like parts of a diff.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-d]",
        1 => Just(String::new()),
        1 => Just(" ".to_owned()),
        1 => Just("-- a/x".to_owned()),
        1 => Just("++ b/x".to_owned()),
        1 => Just("@@ -1 +1 @@".to_owned()),
        1 => Just("*** End Patch".to_owned()),
        1 => Just("\\ No newline at end of file".to_owned()),
        1 => Just("```".to_owned()),
    ];
    (prop::collection::vec(line, 1..24), any::<bool>()).prop_map(|(lines, ended)| {
        let text = lines.join("\n");
        if ended { text + "\n" } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_edits_of_a_diff_give_the_new_text(old in text(), new in text(), wrong in "[0-9]{1,3}") {
        prop_assume!(old != new && !old.is_empty());
        let diff = unified("x", Some(&old), &new);
        let outcome = run(&diff);
        let found = patched(&old, &outcome, true);
        prop_assert_eq!(found.as_deref(), Some(&*new), "{}\n{:?}", diff, outcome.diagnostics);

        // Wrong counts change only the hint for the line; other line breaks in the patch change nothing.
        let miscounted: String = diff.split_inclusive('\n').map(|line| match line.strip_prefix("@@ -") {
            Some(_) => format!("@@ -{wrong},{wrong} +{wrong},1 @@\n"),
            None => line.to_owned(),
        }).collect();
        for other in [miscounted.replace('\n', "\r\n"), miscounted] {
            let outcome = run(&other);
            if let Some(found) = patched(&old, &outcome, false) {
                prop_assert_eq!(&found, &new, "{}", other);
            }
            prop_assert!(outcome.diagnostics.is_empty(), "{}\n{:?}", other, outcome.diagnostics);
        }
    }

    #[test]
    fn any_text_is_a_patch_or_a_finding(text in "(@@|@@ -1 \\+1 @@|[-+ \\\\]|--- a|\\+\\+\\+ b|\\*\\*\\* |Begin Patch|End Patch|Update File: a|Add File: b|Move to: c|diff --git a/x b/x|rename from |new file mode 100755|\"a\\\\303|```|x|\n|\r|é|\t){0,40}") {
        let outcome = run(&text);
        let keys = outcome.effects.iter().flat_map(|record| record.effect.keys());
        for key in keys {
            prop_assert_eq!(rulebook::text::unsafe_because(key), None);
        }
    }
}
