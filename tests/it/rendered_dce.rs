//! Known files and sections, written as models write them: are exactly these read back?
//!
//! Each answer is rendered in one of the dialects of the pack, with faults that occur in real answers, alone and
//! together.

use super::dice::Dice;
use super::texts::program;
use rulebook::{Options, Outcome};

const PATHS: &[&str] = &[
    "src/a.ts",
    "src/client/views/my.view/view.tsx",
    "src/Artifacts/A34. DCE - Vision & Requirements (Draft 1).md",
    "docs/read me.md",
    "src/.env",
    "src/styles/view.scss",
    "scripts/deploy/run.py",
];

const NAMES: &[&str] =
    &["A0. Master List.md", "deploy_scaffold.js", "A1-Vision & Goals (2).md", "package.json", "view.tsx"];

/// Bodies full of text that looks like the markup of a dialect. None starts with a fence.
const BODIES: &[&str] = &[
    "export const a = 1;",
    "",
    "const readme = `<file path=\"src/DCE_README.md\">\\n${text}\\n</file_artifact>`;\nexport default readme;",
    "# Title\n\nText.\n\n```sh\nnpm test\n```",
    "# Title\n\n### Course of Action\n\n1. Not a section.\n\n### Files Updated This Cycle:\n* `zzz.ts`",
    "<details>\n<summary>\nMore\n</summary>\n\nHidden.\n</details>",
    "    indented();\n\n\n  less();",
    "  in <file path=\"src/[Name]-A0.md\"></file_artifact> tags.\n\n## 1. Overview\n***\nend",
    "<motion.div>\n  <Tabs.Root>x</Tabs.Root>\n</motion.div>",
    "const close = '</file>'; // and </src/a.ts>\nconst open = '<summary>';",
    "a: 1\n---\nb: 2",
    "\u{1f642} ümläut — “quotes”",
];

const PLANS: &[&str] = &[
    "1.  **Fix it:**\n    *   Replace `</file>` by `</file_artifact>` in `a.ts`.",
    "1. One.\n2. Two, with <file path=\"x\"> in the middle.",
    "- Read `<summary>` and `<course_of_action>...</course_of_action>`.\n\nThen test:\n\n```sh\nnpm test\n```",
];

const SUMMARIES: &[&str] = &[
    "I have analyzed the feedback.",
    "I have analyzed the feedback.\n\nMy parser looks for `<file path=\"...\">` and for </file> tags.",
    "Two paragraphs:\n\n* one\n* two\n\nand an end.",
];

struct Known {
    summary: &'static str,
    plan: Option<&'static str>,
    list: bool,
    files: Vec<(&'static str, &'static str)>,
}

fn known(dice: &mut Dice, names: &[&'static str], paths: &[&'static str]) -> Known {
    let mut all: Vec<&'static str> = names.iter().chain(paths).copied().collect();
    let mut files = Vec::new();
    for _ in 0..1 + dice.below(4) {
        // The first file decides which dialect claims the answer, so it has a name that both dialects can write.
        let place =
            if files.is_empty() { dice.below(names.len().max(1).min(all.len())) } else { dice.below(all.len()) };
        files.push((all.remove(place), BODIES[dice.below(BODIES.len())]));
    }
    let plan = Some(dice.pick(PLANS)).filter(|_| !dice.one_in(5));
    Known { summary: dice.pick(SUMMARIES), plan, list: !dice.one_in(3), files }
}

fn gap(dice: &mut Dice) -> &'static str {
    dice.pick(&["\n", "\n\n", "\n***\n", "\n\n***\n\n", "\n---\n", " \n\t\n"])
}

/// A section in tags.
fn tagged(dice: &mut Dice, name: &str, text: &str) -> String {
    let shouted = name.to_uppercase();
    let name = if dice.one_in(6) { &shouted } else { name };
    match dice.below(4) {
        0 => format!("<{name}>{text}</{name}>"),
        1 => format!("<{name}>\n{text}</{name}>"),
        2 => format!("  <{name}>\n\n{text}\n\n  </{name}>"),
        _ => format!("<{name}>\n{text}\n</{name}>"),
    }
}

fn header(dice: &mut Dice, name: &str) -> String {
    let name = match dice.below(4) {
        0 => name.to_lowercase(),
        1 => name.to_uppercase(),
        _ => name.to_owned(),
    };
    let colon = dice.pick(&["", ":"]);
    match dice.below(6) {
        0 => format!("**{name}{colon}**"),
        1 => format!("## {name}{colon}"),
        2 => format!("#### **{name}**{colon} "),
        3 => format!("# 2. {name}{colon} #"),
        _ => format!("### {name}{colon}"),
    }
}

fn list(dice: &mut Dice, files: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (path, _) in files {
        let shown = if dice.one_in(3) { path.rsplit('/').next().unwrap() } else { path };
        text += &match dice.below(4) {
            0 => format!("- {shown}\n"),
            1 => format!("*   `{shown}` (New)\n"),
            2 => format!("1. **{shown}** (Updated)\n"),
            _ => format!("*   `{shown}` (Updated)\n"),
        };
    }
    text
}

/// Whether a fence around a body is unambiguous.
fn may_be_fenced(body: &str) -> bool {
    body.matches("```").count().is_multiple_of(2)
}

/// A file between an opener and one of these closers.
fn file(dice: &mut Dice, opener: &str, closers: &[&str], body: &str, last: bool) -> String {
    let closer = dice.pick(closers);
    let fenced = may_be_fenced(body) && dice.one_in(2);
    let (start, end) = match (fenced, dice.below(4)) {
        (false, _) => ("\n".to_owned(), "\n".to_owned()),
        (true, 0) => ("```typescript\n".to_owned(), "\n```\n".to_owned()),
        (true, 1) => ("\n```typescript\n".to_owned(), "\n```".to_owned()),
        (true, _) => ("\n```markdown\n".to_owned(), "\n```\n".to_owned()),
    };
    let doubled = dice.one_in(6);
    let loose = !fenced && !body.is_empty() && dice.one_in(6);
    // In the middle of a line, a closer with another path does not close the file.
    let closer = if loose { closers[0] } else { closer };
    let cut = !last && !doubled && body.is_empty() && dice.one_in(8);
    if cut {
        return format!("{opener}{start}{body}{end}");
    }
    let end = if loose { String::new() } else { end };
    let again = if doubled { format!("\n</{closer}>") } else { String::new() };
    format!("{opener}{start}{body}{end}</{closer}>{again}")
}

fn element(dice: &mut Dice, path: &str, body: &str, last: bool) -> String {
    let opener = match dice.below(5) {
        0 => format!("<file path='{path}'>"),
        1 => format!("<file  path = \"{path}\" >"),
        2 => format!("<File path=\"{path}\">"),
        _ => format!("<file path=\"{path}\">"),
    };
    file(dice, &opener, &["file", "file", "file_artifact", "file_path", "filepath", "FILE", path], body, last)
}

/// A file in a tag of its own name, in a fence or not.
fn path_tag(dice: &mut Dice, path: &str, body: &str, last: bool) -> String {
    let opener = format!("<{path}>");
    // A similar closer at the start of a line closes a file that has no other closer.
    let base = path.rsplit('/').next().unwrap();
    let closers: &[&str] = if body.contains("</") { &[path] } else { &[path, path, "file", "file_artifact", base] };
    match dice.below(4) {
        0 if !body.contains("```") && !body.contains("</") => format!("```xml\n{opener}\n{body}\n```"),
        1 => file(dice, &opener, closers, body, last),
        _ => {
            let closer = dice.pick(closers);
            format!("```xml\n{opener}\n{body}\n</{closer}>\n```")
        }
    }
}

fn sections_in_headers(dice: &mut Dice, known: &Known) -> String {
    let mut text = known.summary.to_owned();
    if let Some(plan) = known.plan {
        text += &format!("\n\n{}\n\n{plan}", header(dice, "Course of Action"));
    }
    if known.list {
        text += &format!("\n\n{}\n{}", header(dice, "Files Updated This Cycle"), list(dice, &known.files));
    }
    text
}

fn joined(dice: &mut Dice, start: String, files: Vec<String>) -> String {
    let mut text = start;
    for file in files {
        text += gap(dice);
        text += &file;
    }
    text + dice.pick(&["", "\n", "\n```", "\n***\n", "\n```\n"])
}

fn render(dice: &mut Dice, dialect: &str, known: &Known) -> String {
    let count = known.files.len();
    let last = |index: usize| index + 1 == count;
    let files = known.files.iter().enumerate();
    match dialect {
        "xml" => {
            let mut start = tagged(dice, "summary", known.summary);
            if let Some(plan) = known.plan {
                start += gap(dice);
                start += &tagged(dice, "course_of_action", plan);
            }
            let files = files.map(|(index, (path, body))| element(dice, path, body, last(index))).collect();
            joined(dice, start, files)
        }
        "header" => {
            let start = sections_in_headers(dice, known);
            let files = files.map(|(index, (path, body))| element(dice, path, body, last(index))).collect();
            joined(dice, start, files)
        }
        _ => {
            let start = sections_in_headers(dice, known);
            let files = files.map(|(index, (path, body))| path_tag(dice, path, body, last(index))).collect();
            joined(dice, start, files)
        }
    }
}

#[track_caller]
fn check(text: &str, outcome: &Outcome, dialect: &str, known: &Known) {
    let read: Vec<(&str, &str)> =
        outcome.contents.iter().map(|content| (content.key.as_str(), content.text.trim_matches('\n'))).collect();
    assert_eq!(read, known.files, "{text}\n{:#?}", outcome.diagnostics);
    let mut sections = vec![("summary", known.summary)];
    sections.extend(known.plan.map(|plan| ("course_of_action", plan)));
    let read: Vec<(&str, &str)> = outcome
        .sections
        .iter()
        .filter(|section| section.name != "files_updated")
        .map(|section| (section.name.as_str(), section.text.as_str()))
        .collect();
    assert_eq!(read, sections, "{text}\n{:#?}", outcome.diagnostics);
    assert_eq!((outcome.dialect.as_deref(), outcome.message.as_str()), (Some(dialect), known.summary), "{text}");
    assert_eq!(outcome.effects.len(), known.files.len(), "{text}\n{:#?}", outcome.diagnostics);
    // A summary may mention a tag in the middle of a line.
    let mentioned = "quoted-block";
    let expected =
        ["unclosed-block", "wrong-closer", "stray-closer", "field-form", "fault-artifact", "guardrail", mentioned];
    for found in &outcome.diagnostics {
        let code = found.code.bare();
        assert!(expected.contains(&code), "{code}: {}\n{text}", found.message);
    }
}

#[test]
fn what_was_rendered_is_read_back() {
    let program = program("rules/dce");
    let session = program.session();
    let mut dice = Dice(7);
    for round in 0..4_000 {
        let dialect = ["xml", "header", "path-tag", "filename-tag"][round % 4];
        let known = match dialect {
            "path-tag" => known(&mut dice, PATHS, NAMES),
            "filename-tag" => known(&mut dice, NAMES, PATHS),
            _ => known(&mut dice, &[], &[PATHS, NAMES].concat()),
        };
        let mut text = render(&mut dice, dialect, &known);
        let windows = dice.one_in(5);
        if windows {
            text = text.replace('\n', "\r\n");
        }
        let chunk = Some(1 + dice.below(40)).filter(|_| dice.one_in(4));
        let options = Options { chunk, ..Options::default() };
        let mut outcome = program.run_with(&session, text.as_bytes(), &options);
        if windows {
            outcome.message = outcome.message.replace("\r\n", "\n");
            outcome.sections.iter_mut().for_each(|section| section.text = section.text.replace("\r\n", "\n"));
            outcome.contents.iter_mut().for_each(|content| content.text = content.text.replace("\r\n", "\n").into());
        }
        check(&text, &outcome, dialect, &known);
    }
}
