//! Stories: does the explanation of an answer say what happened, and is its page safe to open?

use crate::command::{folder, outputs, rulebook};
use crate::texts::{cases, program};
use proptest::prelude::*;
use quick_xml::events::Event;
use rulebook::Options;
use rulebook::text::Source;
use rulebook_report::Pen;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACK: &str = r#"
[pack]
name = "desk"
start = "open"
dialects = ["tagged", "headed"]
[dialects.tagged]
grammar = "tags"
quoted = ["code-fence"]
needs = ["message"]
[dialects.tagged.blocks]
message = { role = "message" }
action = { role = "call", name = "@type", payload = "tags" }
[dialects.headed]
grammar = "headers"
needs = ["summary"]
[dialects.headed.blocks]
summary = { role = "section" }
[state.kept]
type = "integer"
default = 3
[actions.keep]
params = { text = { type = "string", required = true } }
effects = [{ emit = "keep", value = "{{ params.text }}" }]
[actions.burn]
[modes.open]
permits = [{ action = "keep", when = "params.text | length < 9 and state.kept < 4" }]
[degradation]
forbidden-call = "keep-as-text"
[[rules]]
id = "often"
on = "reply"
when = "state.kept > 2"
effects = [{ emit = "full" }]
"#;

const ANSWER: &str = "```\n<message>quoted</message>\n```\n<message>Kept.</message>\n\
                      <action type=\"keep\"><text>short</text></action>\n\
                      <action type=\"keep\"><text>much too long</text></action>\n<action type=\"burn\"/>\nstray\n";

fn files(name: &str, answer: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir(folder.join("desk")).unwrap();
    fs::write(folder.join("desk/pack.toml"), PACK).unwrap();
    fs::write(folder.join("answer.txt"), answer).unwrap();
    folder
}

#[track_caller]
fn explain(folder: &Path, more: &[&str]) -> String {
    let (out, err) = outputs(folder, &[&["explain", "desk", "answer.txt"], more].concat(), "", 0);
    assert_eq!(err, "");
    out
}

#[test]
fn a_story_has_every_decision_and_its_line() {
    let reported = explain(&files("story", ANSWER), &[]);
    for expected in [
        "dialect   `tagged` claims it with `message` at 4:1  desk/pack.toml:6:11",
        "dialect   `headed` needs `summary`, and found none before that  desk/pack.toml:13:11",
        "remark    quoted-block: `<message>` is quoted, so it is text",
        "block     message `message` counts",
        "permit    `open` permits `keep`  desk/pack.toml:26:",
        "condition `open` permits `keep` when: `params.text | length < 9 and state.kept < 4` does not hold",
        "params.text | length < 9 = false",
        "params.text | length = 13",
        "state.kept < 4 = true",
        "permit    no permit of `open` allows `burn`",
        "call      burn dropped",
        "answer  keep-as-text  desk/pack.toml:28:",
        "answer  drop, the default",
        "condition the rule `often` applies when: `state.kept > 2` holds",
        "rule      often",
        "effect    emit full",
    ] {
        assert!(reported.contains(expected), "no `{expected}` in\n{reported}");
    }
}

#[test]
fn every_form_of_a_story_has_the_same_steps() {
    let folder = files("story-forms", ANSWER);
    let outcome: Value = serde_json::from_str(&explain(&folder, &["--format", "json"])).unwrap();
    let steps = outcome["trace"].as_array().unwrap();
    let reported = explain(&folder, &[]);
    let plain = explain(&folder, &["--format", "plain"]);
    explain(&folder, &["--html", "out.html"]);
    let page = fs::read_to_string(folder.join("out.html")).unwrap();
    for step in steps.iter().filter(|step| step["step"] != "bytes") {
        let found = step["found"].as_str().unwrap();
        assert!(reported.contains(found), "{found}\n{reported}");
        assert!(plain.contains(found), "{found}\n{plain}");
        let words = found.split(['`', '<', '>', '\'']).max_by_key(|part| part.len()).unwrap();
        assert!(page.contains(words), "{words}\n{page}");
    }
    // The runs of bytes partition the answer and sum to the ledger.
    let mut at = 0;
    let mut sums = std::collections::BTreeMap::new();
    for step in steps.iter().filter(|step| step["step"] == "bytes") {
        let place = |end: usize| step["span"][end].as_u64().unwrap();
        assert_eq!(place(0), at);
        at = place(1);
        *sums.entry(step["found"].as_str().unwrap().split(':').next().unwrap().to_owned()).or_insert(0) +=
            at - place(0);
    }
    assert_eq!(at, ANSWER.len() as u64);
    for (part, bytes) in sums {
        assert_eq!(outcome["ledger"][&part], bytes, "{part}");
    }
}

#[test]
fn the_options_of_a_run_are_those_of_a_story() {
    let folder = files("story-options", ANSWER);
    fs::write(folder.join("session.json"), r#"{"state": {"kept": 4}}"#).unwrap();
    let reported = explain(&folder, &["--session", "session.json", "--dialect", "tagged"]);
    assert!(
        reported.contains("state.kept < 4 = false") && reported.contains("`tagged` reads it: no other is tried"),
        "{reported}"
    );
    assert!(reported.contains("`headed` is not tried in the mode `open`"), "{reported}");
    let status = |arguments: &[&str]| rulebook(&folder, arguments, b"").status.code();
    assert_eq!(status(&["explain", "desk", "answer.txt", "--mode", "shut"]), Some(2));
    assert_eq!(status(&["explain", "desk", "--mode", "open"]), Some(2));
    assert_eq!(status(&["explain", "forbidden-call", "--html", "x.html"]), Some(2));
    assert_eq!(status(&["explain", "desk", "answer.txt", "--html", "no/such/folder.html"]), Some(2));
    assert_eq!(status(&["explain", "desk", "answer.txt", "--html", "./answer.txt"]), Some(2));
    assert_eq!(fs::read_to_string(folder.join("answer.txt")).unwrap(), ANSWER, "the page took the place of the answer");
}

/// An answer that would act on the page if any part of it were markup.
const HOSTILE: &str = "<message><script>document.title='owned'</script></message>\n\
                       </title></style><img src=x onerror=\"document.title='owned'\">\n\
                       <action type=\"&quot; onmouseover=&quot;x\"><text>' \" </text></action>\n\u{0}\u{7}\u{1b}[31m\u{202e}\n";

#[test]
fn nothing_in_an_answer_becomes_markup_of_its_page() {
    let folder = files("story-hostile", HOSTILE);
    explain(&folder, &["--html", "out.html"]);
    let page = fs::read_to_string(folder.join("out.html")).unwrap();
    let mut reader = quick_xml::Reader::from_str(page.split("</head>").nth(1).unwrap());
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut elements = 0;
    loop {
        let element = match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => element,
            _ => continue,
        };
        let name = element.name();
        let known = "body header h1 p strong main section h2 div span fieldset legend label input b small code ul li a ol del \
                     details summary br dl dt dd pre";
        assert!(known.split(' ').any(|known| known == name.as_ref()), "{name:?}");
        for attribute in element.html_attributes() {
            let key = attribute.unwrap().key;
            assert!(!key.as_ref().starts_with("on"), "{key:?}");
        }
        elements += 1;
    }
    assert!(elements > 50, "{elements}");
    assert!(!page.contains(['\u{0}', '\u{7}', '\u{1b}', '\u{202e}']));
    assert!(!page.contains("http:") && !page.contains("https:"), "a page that needs something else");
    explain(&folder, &["--html", "again.html"]);
    assert_eq!(page, fs::read_to_string(folder.join("again.html")).unwrap());
}

#[test]
fn a_browser_shows_the_page_of_any_answer() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let Some(browser) = names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok()) else {
        // Not through the test harness, which hides the output of tests that pass.
        let skipped = "SKIPPED: no Chromium to look at the page of a story with (Debian: apt-get install chromium)";
        writeln!(std::io::stderr(), "{skipped}").unwrap();
        return;
    };
    let line = format!("<message>{}</message>\n<action type=\"burn\"/>\nstray\n", "A <b>tag</b> & signs.\n".repeat(60));
    for (name, answer) in [("story-page", HOSTILE.to_owned()), ("story-megabyte", line.repeat((1 << 20) / line.len()))]
    {
        let folder = files(name, &answer);
        explain(&folder, &["--html", "out.html"]);
        let mut chromium = Command::new(browser);
        chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]);
        chromium.arg(format!("--user-data-dir={}", folder.join("profile").display()));
        let output = chromium.arg(format!("file://{}", folder.join("out.html").display())).output().unwrap();
        let dom = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && dom.contains("What was found"),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!dom.contains("owned</title>"), "a script has run");
        let lines = answer.lines().count();
        assert_eq!(dom.matches("<span class=\"n\">").count(), lines);
        assert!(dom.contains(&format!("id=\"L{lines}\"")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_story_of_any_answer_is_whole_and_the_same_however_it_was_cut(
        (pack, mode, response) in cases(),
        chunk in 1..40_usize,
    ) {
        let program = program(pack);
        let session = program.resume(json!({ "mode": mode })).unwrap();
        let options = Options { trace: true, ..Options::default() };
        let outcome = program.run_with(&session, &response, &options);
        let cut = program.run_with(&session, &response, &Options { chunk: Some(chunk), ..options });
        prop_assert_eq!(&outcome.trace, &cut.trace);
        let source = Source::new("answer", String::from_utf8_lossy(&response));
        let mut at = 0;
        for step in outcome.trace.iter().flatten().filter(|step| step.step.word() == "bytes") {
            prop_assert_eq!(step.span.start, at);
            at = step.span.end;
        }
        prop_assert_eq!(at, source.text().len());
        let page = Pen::default().page_of_story(&outcome, &source, pack);
        prop_assert_eq!(page.matches("<span class=\"n\">").count(), source.text().split_inclusive('\n').count());
        prop_assert!(Pen::default().story(&outcome, &source).contains("dialects"));
    }
}
