//! Roundtable: does a whole discussion, from its menu back to the menu, write the right text into a real workspace?

use crate::scratch::folder;
use rulebook::cases::{Talk, TurnResult};
use rulebook::outcome::Effect;
use rulebook::{Options, Program};
use rulebook_fs::{Applying, Change, Root, apply, read_pack};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/roundtable");
const SPEC: &str =
    "# Requirements\n\n## User Journeys & Experience\n\n* one\n\n```\n## no heading\n```\n\n### Details\n\nLater.\n";
const IMPACT: &str = "# Impact\r\n\r\nNothing yet.";
const META: &str = "{\n\t\"source\": \"GH-21\",\n\t\"depth_overrides\": {},\n\t\"version\": 1.50\n}\n";
const MARKER: &str = "<!-- Elaboration: step 01-03, 2026-02-20T14:30:00.000Z -->";
const INSIGHTS: &str =
    "- [Maya/Alex] Offline mode needs a local cache\n- [User/Jordan] Sync returns a list of conflicts";
/// The texts that are added to the documents besides the insights.
const OTHERS: &str =
    "- Decision: Last write wins: simple\n- Open question: How large is the cache: Alex asks operations";

fn workspace(name: &str) -> PathBuf {
    let root = folder(name);
    for (file, text) in [("requirements-spec.md", SPEC), ("impact-analysis.md", IMPACT), ("meta.json", META)] {
        fs::write(root.join(file), text).unwrap();
    }
    root
}

/// Carries out the effects of a turn. Returns the messages for the user, and the notes on the updates that were
/// written.
fn done(reported: &TurnResult, root: &Path) -> Vec<String> {
    let applied = apply(&Root::open(root).unwrap(), reported.effects(), Applying::default());
    assert!(applied.files.iter().all(|file| file.change != Change::Unchanged));
    let said = reported.effects().iter().filter_map(|record| match &record.effect {
        Effect::Say { text, .. } => Some(text.clone()),
        _ => None,
    });
    said.chain(applied.files.into_iter().flat_map(|file| file.notes)).collect()
}

/// Checks a discussion: `talk` is the part between the introduction and the synthesis. Then the documents and
/// `meta.json` are compared.
#[track_caller]
fn check(name: &str, talk: &[&str], turns: u64, exit: &str, last: &str) {
    let pack = read_pack(Path::new(PACK)).unwrap();
    let program = Program::load(&pack.folder).value.unwrap();
    let root = workspace(name);
    let state = json!({
        "item": "offline mode feature",
        "elaboration_config": { "max_turns": 5 },
        "step": {
            "id": "01-03",
            "title": "User Experience & Journeys",
            "outputs": ["requirements-spec.md", "impact-analysis.md", "none.md"],
        },
    });
    let session = program.resume(json!({ "now": "2026-02-20T14:30:00.000Z", "state": state })).unwrap();
    let mut table = Talk::new(&program, session, Options::default());
    let menu = done(&table.start(), &root);
    assert!(menu[0].contains("[E] Elaboration Mode"));
    let introduction = done(&table.hear("E"), &root);
    assert!(introduction[0].contains("Topic: User Experience & Journeys for offline mode feature"));
    let mut said = Vec::new();
    for (number, words) in talk.iter().enumerate() {
        let reported = if number % 2 == 0 { table.answer(words) } else { table.hear(words) };
        said = done(&reported, &root);
        assert_eq!(
            reported.diagnostics().iter().filter(|one| one.code != "response/turn-limit").count(),
            0,
            "{reported:?}"
        );
        for (file, text) in [("requirements-spec.md", SPEC), ("impact-analysis.md", IMPACT), ("meta.json", META)] {
            assert_eq!(fs::read_to_string(root.join(file)).unwrap(), text, "nothing is written during the talk");
        }
    }
    assert_eq!(said.last().map(String::as_str).unwrap_or_default(), last);
    assert_eq!(table.session().mode, "synthesis");

    let head = "### Elaboration Insights (Step 01-03: User Experience & Journeys)\n\n**Participants**: Maya Chen (BA), Alex Rivera (Architect), Jordan Park (Designer)";
    let rest = format!(
        "#### Key Insights\n{INSIGHTS}\n\n#### Decisions Made\n- Last write wins: simple\n\n#### Open Questions\n- How large is the cache: Alex asks operations"
    );
    let synthesis = format!("{head}\n**Turns**: {turns} | **Exit**: {exit}\n\n{rest}");
    // The first attempt has no heading, so none of it counts.
    let refused = table.answer(&synthesis.replace("#### Open Questions\n", ""));
    assert!(done(&refused, &root).is_empty() && table.correction().is_some());
    assert_eq!(fs::read_to_string(root.join("meta.json")).unwrap(), META);
    let said = done(&table.answer(&synthesis), &root);
    let updates = [
        "Updated requirements-spec.md, section \"User Journeys & Experience\": added 2 insights, 1 decision and 1 open question from the roundtable discussion.",
        "Updated impact-analysis.md, section \"Additional Insights from Elaboration\": added 2 insights, 1 decision and 1 open question from the roundtable discussion.",
        "none.md could not be updated: there is no such document.",
    ];
    assert_eq!(said, [&[synthesis.as_str(), menu[0].as_str()][..], &updates].concat());
    assert_eq!(table.session().mode, "menu");

    let spec = SPEC.replace("```\n\n###", &format!("```\n\n{MARKER}\n{INSIGHTS}\n{OTHERS}\n\n###"));
    assert_eq!(fs::read_to_string(root.join("requirements-spec.md")).unwrap(), spec);
    let insights = format!("{INSIGHTS}\n{OTHERS}").replace('\n', "\r\n");
    let impact = format!("{IMPACT}\r\n\r\n### Additional Insights from Elaboration\r\n\r\n{MARKER}\r\n{insights}\r\n");
    assert_eq!(fs::read_to_string(root.join("impact-analysis.md")).unwrap(), impact);
    let record = format!(
        r#"{{
  "source": "GH-21",
  "depth_overrides": {{}},
  "version": 1.50,
  "elaborations": [
    {{
      "step_id": "01-03",
      "turn_count": {turns},
      "personas_active": [
        "business-analyst",
        "solutions-architect",
        "system-designer"
      ],
      "timestamp": "2026-02-20T14:30:00.000Z",
      "synthesis_summary": "Offline mode needs a local cache"
    }}
  ]
}}
"#
    );
    assert_eq!(fs::read_to_string(root.join("meta.json")).unwrap(), record);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 3, "nothing else is left behind");
}

const FRAMING: &str = "Maya Chen (Business Analyst): Let's discuss: what does the user see during sync?

Alex Rivera (Solutions Architect): I see two approaches here.";

#[test]
fn a_discussion_that_the_user_ends_is_written_down() {
    let talk = [FRAMING, "Alex, what about scalability?", "Alex Rivera (Solutions Architect): It holds.", "done"];
    check("roundtable-done", &talk, 4, "user-initiated", "");
}

#[test]
fn a_discussion_that_ends_at_its_limit_is_written_down() {
    let beyond = "Alex Rivera (Solutions Architect): It holds.

Maya Chen (Business Analyst): For whom?

Jordan Park (System Designer): One word too many.";
    let last = "Maya Chen (Business Analyst): We have had a thorough discussion. Let me
synthesize the key points from our conversation.";
    let talk = [FRAMING, "Alex, what about scalability?", beyond];
    check("roundtable-limit", &talk, 5, "turn-limit", last);
}
