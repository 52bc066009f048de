//! Strategies: does each do what its page promises, for every defect that it may answer?
//!
//! The snippet that triggers a defect is from its page, or from the page of the strategy if that one is about the
//! defect.

use crate::snippets::{Snippet, files, lay_over, snippets};
use crate::texts::{ledger_is_exact, program_of, program_with};
use rulebook::diagnostic::page;
use rulebook::outcome::{Effect, EffectRecord, Status, Verdict};
use rulebook::{Code, Defect, Options, Outcome, Provider, Reply, ReplyPart, Strategy};

/// The outcome of an answer with a defect for which these strategies are declared.
struct Run {
    outcome: Outcome,
    initial: serde_json::Value,
    text: String,
}

fn run(defect: Defect, strategies: &[Strategy]) -> Run {
    let names: Vec<&str> = strategies.iter().map(|strategy| strategy.name()).collect();
    let about = |code: &str| snippets(page(code).unwrap().text);
    let of_strategy = about(names[0]);
    let is_about = |snippet: &Snippet| snippet.language == "toml" && snippet.text.contains(&format!("{defect} = "));
    let snippets = match of_strategy.iter().any(is_about) {
        true => of_strategy,
        false => about(&format!("response/{defect}")),
    };
    let own: Vec<&Snippet> = snippets.iter().filter(|one| one.has("trigger") || one.has("pack")).collect();
    let (mut files, _) = files(&own);
    let table = format!("[degradation]\n{defect} = {names:?}");
    files.insert("pack.toml".to_owned(), lay_over(&files["pack.toml"], &table));
    let program = program_with(files);
    let initial = serde_json::to_value(&program.session().state).unwrap();
    if let Some(reply) = own.iter().find(|one| one.language == "openai") {
        let reply = Reply::read(Provider::Openai, &reply.text).into_result().unwrap();
        let outcome = program.judge(&program.session(), &reply, &Options::default());
        let arguments = reply.parts.iter().filter_map(|part| match part {
            ReplyPart::Call { arguments, .. } => Some(arguments.as_str()),
            _ => None,
        });
        return Run { outcome, initial, text: reply.text() + &arguments.collect::<String>() };
    }
    let answer = own.iter().find(|one| one.language == "text").unwrap();
    let text = String::from_utf8_lossy(&answer.bytes()).into_owned();
    Run { outcome: answer.run(&program), initial, text }
}

impl Run {
    /// The broken promise as a text; `None` if the strategy keeps its promise.
    fn broken(&self, defect: Defect, strategy: Strategy) -> Option<String> {
        let Self { outcome, initial, text } = self;
        let Some(finding) = outcome.diagnostics.iter().find(|one| one.code == Code::Defect(defect)) else {
            return Some("nothing is found".to_owned());
        };
        if finding.strategy != Some(strategy) {
            return Some(format!("{:?} answers it", finding.strategy));
        }
        let state = serde_json::to_value(&outcome.session.state).unwrap();
        let raw = text.get(finding.span.start..finding.span.end).unwrap_or_default().trim();
        ledger_is_exact(outcome, text);
        let ledger = &outcome.ledger;
        // One cause may have a second finding, to which the default strategy applies.
        let only_kept = outcome.diagnostics.iter().all(|one| matches!(one.strategy, None | Some(Strategy::Keep)));
        let kept = match strategy {
            Strategy::Refuse | Strategy::AskAgain => {
                outcome.status == Status::Refused
                    && outcome.effects.is_empty()
                    && state == *initial
                    && outcome.calls.iter().all(|call| call.verdict == Verdict::Dropped)
            }
            Strategy::Keep => outcome.status == if only_kept { Status::Clean } else { Status::Degraded },
            _ => outcome.status == Status::Degraded,
        };
        let kept = kept && (strategy == Strategy::AskAgain) == outcome.ask_again.is_some();
        let kept = kept
            && match strategy {
                // A change of mode is not text of the answer, and the ledger counts a payload as it was written.
                Strategy::Drop if defect == Defect::GateClosed => true,
                Strategy::Drop if defect == Defect::UnknownParam => {
                    outcome.calls.iter().all(|call| call.params.get("urgent").is_none())
                }
                // One effect of a call is left out; the call itself remains accepted.
                Strategy::Drop if matches!(defect, Defect::InvalidEdit | Defect::EditConflict) => {
                    outcome.effects.len() + 1 == outcome.calls.len()
                }
                Strategy::KeepFirst | Strategy::KeepLast if defect == Defect::DuplicateWrite => {
                    let counts = if strategy == Strategy::KeepFirst { "one" } else { "two" };
                    let writes =
                        |record: &EffectRecord| matches!(&record.effect, Effect::Write { text, .. } if text == counts);
                    outcome.effects.len() == 1 && outcome.effects.iter().all(writes)
                }
                Strategy::Drop => ledger.dropped > 0,
                Strategy::Keep => !only_kept || ledger.dropped == 0,
                Strategy::KeepFirst | Strategy::KeepLast => ledger.dropped > 0,
                Strategy::KeepAsText => outcome.message.contains(raw) && ledger.dropped == 0,
                Strategy::Join => outcome.message.contains("\n\n") && ledger.dropped == 0,
                Strategy::TakeStrayText => ledger.stray == 0 && ledger.message > 0,
                Strategy::Lift | Strategy::Repair | Strategy::Coerce | Strategy::Default => ledger.dropped == 0,
                _ => true,
            };
        (!kept).then(|| format!("{outcome:#?}"))
    }
}

#[test]
fn every_strategy_keeps_its_promise_for_every_defect_that_it_fits() {
    let mut broken = Vec::new();
    for defect in Defect::ALL {
        for strategy in defect.applicable() {
            let run = run(*defect, &[*strategy]);
            broken.extend(run.broken(*defect, *strategy).map(|why| format!("{defect} = {strategy}: {why}")));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_stray_closer_that_is_dropped_leaves_the_prose_around_it() {
    let over =
        "[dialects.tagged]\ntext = \"message\"\n[degradation]\nstray-closer = \"drop\"\nmalformed-opener = \"drop\"";
    let pack = lay_over(&crate::snippets::base(), over);
    let program = program_of(pack);
    let answer = "Hello,\n</action>\nand <action type=\"x bye</file>.\n<action type=\"keep_note\"><text>x</text></action>\nDone.";
    for pieces in [answer.len(), 1] {
        let mut reader = program.reader(&program.session(), &Default::default());
        for piece in answer.as_bytes().chunks(pieces) {
            reader.push(piece);
        }
        let (outcome, _) = reader.finish();
        assert_eq!(outcome.message, "Hello,\nand .\nDone.");
        assert_eq!(outcome.ledger.dropped, "</action><action type=\"x bye</file>".len());
        assert_eq!(outcome.calls.len(), 1);
    }
}

#[test]
fn every_finding_names_its_declaration() {
    let check = |pack: &str, answer: &str, reported: &[(&str, &str)]| {
        let program = program_of(pack);
        let outcome = program.run(&program.session(), answer);
        let found = outcome.diagnostics.iter();
        let found: Vec<_> = found
            .map(|one| (one.code.as_str(), one.rule.as_ref().map(ToString::to_string).unwrap_or_default()))
            .collect();
        let reported: Vec<_> = reported.iter().map(|(code, place)| (*code, (*place).to_owned())).collect();
        assert_eq!(found, reported);
    };
    check(
        "[pack]\nname = \"p\"\n[dialects.one]\ngrammar = \"json\"\n[dialects.one.blocks]\nsay = { role = \"message\" }\n\
         steps = { role = \"section\" }\n",
        "{\"say\": \"one line\\\\nand another\\\\n\", \"steps\": \"c\", \"steps\": \"d\",}",
        &[
            ("response/unescaped", "p/pack.toml:6:1"),
            ("response/duplicate-key", "p/pack.toml:7:1"),
            ("response/fault-trailing-comma", "p/pack.toml:3:11"),
        ],
    );
    check(
        "[pack]\nname = \"p\"\n[dialects.one]\ngrammar = \"tags\"\nquoted = [\"code-span\"]\n[dialects.one.blocks]\n\
         do = { role = \"call\", payload = \"json\" }\n[actions.do.params.x]\n[modes.default]\npermits = [\"*\"]\n[degradation]\nmalformed-payload = \"repair\"\n",
        "`<do/>` <do>{\"x\": 1,}</do>",
        &[
            ("response/stray-text", "p/pack.toml:3:11"),
            ("response/quoted-block", "p/pack.toml:3:11"),
            ("response/malformed-payload", "p/pack.toml:7:1"),
            ("response/fault-trailing-comma", "p/pack.toml:7:1"),
        ],
    );
    check(
        "[pack]\nname = \"p\"\n[dialects.one]\ngrammar = \"tags\"\ntext = \"message\"\n[dialects.one.blocks]\nsay = { role = \"message\" }\n\
         do = { role = \"call\", payload = \"json\" }\n[actions.do]\n[modes.default]\npermits = [\"*\"]\n",
        "<say>Hi <do/></say> there</do> <do x=\"",
        &[
            ("response/nested-block", "p/pack.toml:7:1"),
            ("response/stray-closer", "p/pack.toml:3:11"),
            ("response/malformed-opener", "p/pack.toml:3:11"),
        ],
    );
}
