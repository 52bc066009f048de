//! Teaching: does `check` report examples in a prompt that the rules do not accept, and layers that exceed the context?

use crate::texts::reviewed;

const PACK: &str = r#"
[pack]
name = "taught"
[check]
allow = ["prompt/unexplained-action"]
[dialects.tagged]
grammar = "tags"
blocks = { message = { role = "message" }, action = { role = "call", name = "@type", payload = "tags" } }
[reply]
message = { required = true }
[actions.note]
params = { text = { type = "string", required = true, minLength = 1 } }
[actions.leave]
effects = [{ emit = "left" }]
[modes.early]
permits = ["note", "leave"]
[modes.late]
permits = ["leave"]
[tiers.large]
context = 9000
reserve = 1000
[tiers.small]
context = 900
reserve = 500
[prompts.main]
layers = [{ id = "text", text = "text.md", in = "early" }, { id = "template", template = "template.md" }, { id = "m", source = "message" }]
"#;

/// The findings of `check` for these texts: the code, and the marked text.
fn found(pack: &str, text: &str, template: &str) -> Vec<String> {
    let found = reviewed([("pack.toml", pack), ("text.md", text), ("template.md", template)]);
    found.iter().map(|one| format!("{} {}", one.code, one.word).trim().to_owned()).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(found(PACK, text, "Hello"), expected, "{text}");
}

const LEAVE: &str = "<action type=\"leave\"/>";
const EMPTY: &str = "<action type=\"note\"><text></text></action>";

#[test]
fn an_example_is_what_the_rules_take() {
    check(&format!("```xml\n<message>Hi</message>\n{LEAVE}\n```"), &[]);
    check(&format!("```xml\n<message>Hi</message>\n{EMPTY}\n```"), &["prompt/refused-example <text></text>"]);
    check(&format!("~~~ json\n{EMPTY}\n~~~"), &["prompt/refused-example <text></text>"]);
    check(&format!("1. so:\n   ```xml\n   {EMPTY}\n   ```"), &["prompt/refused-example <text></text>"]);
    // A fence in the example that is never closed may quote the rest of it.
    check(&format!("````xml\n```\n{EMPTY}\n````"), &["prompt/refused-example <action type=\"note\">"]);
    // A nested fence with a language of its own is part of the example.
    check(&format!("```xml\n<message>\n```py\n1\n```\n</message>\n{LEAVE}\n```"), &[]);
    check(
        &format!("```xml\n<message>\n```py\n1\n```\n</message>\n{EMPTY}\n```"),
        &["prompt/refused-example <text></text>"],
    );
    // An example may be a part of an answer, but not text outside all blocks.
    check(
        &format!("```xml\n<mesage>Hi</mesage>\n{LEAVE}\n```"),
        &[&format!("prompt/refused-example <mesage>Hi</mesage>\n{LEAVE}")],
    );
    // Fences in other languages, and fences that are never closed, are not examples.
    check(&format!("```text\n{EMPTY}\n```\n```\n{EMPTY}\n```\n```xml\n{EMPTY}"), &[]);
}

#[test]
fn a_counter_example_is_what_they_refuse() {
    check(&format!("```xml refused\n{EMPTY}\n```"), &[]);
    check(&format!("```xml refused\n{LEAVE}\n```"), &[&format!("prompt/accepted-example {LEAVE}")]);
}

#[test]
fn a_template_is_read_as_each_mode_and_tier_says_it() {
    let note = "<action type=\"note\"><text>in {{ mode }}</text></action>";
    let by_mode = format!("```xml\n{note}\n```");
    // The mode `late` does not permit the call.
    assert_eq!(found(PACK, "", &by_mode), ["prompt/refused-example <action type=\"note\">"]);
    let spelled = "```xml\n{{ '<' }}action type=\"go\"/>\n<action type=\"{{ mode }}\"/>\n```";
    assert_eq!(found(PACK, "", spelled), ["prompt/refused-example ```xml"]);
    let second = format!("```xml\n{LEAVE}\n```\n```xml\n<message>{{{{ mode }}}}</message>\n<action type=\"go\"/>\n```");
    assert_eq!(found(PACK, "", &second), ["prompt/refused-example <action type=\"go\"/>"]);
    let in_early = format!("{{% if mode == 'early' %}}\n{by_mode}\n{{% endif %}}");
    assert_eq!(found(PACK, "", &in_early), [""; 0]);
    let in_small = "{% if tier == 'small' %}\n```xml\n<action type=\"go\"/>\n```\n{% endif %}";
    assert_eq!(found(PACK, "", in_small), ["prompt/refused-example <action type=\"go\"/>"]);
}

#[test]
fn examples_in_the_words_for_asking_again_are_checked() {
    let asks = "[degradation]\nunknown-action = [\"ask-again\", \"drop\"]";
    let more = format!("{PACK}\n{asks}\n[ask_again]\ntext = '''\nWrite:\n```xml\n<action type=\"go\"/>\n```\n'''\n");
    assert_eq!(found(&more, "", "Hello"), ["prompt/refused-example <action type=\"go\"/>"]);
}

#[test]
fn a_prompt_that_fits_no_tier_is_reported_for_a_new_session() {
    let layers = |more: &str| PACK.replace("text = \"text.md\", in = \"early\"", &format!("text = \"text.md\"{more}"));
    let says = |pack: &str, text: &str| {
        let found = reviewed([("pack.toml", pack), ("text.md", text), ("template.md", "Hello")]);
        found.iter().map(|one| format!("{} {}", one.code, one.message)).collect::<Vec<_>>()
    };
    let text = "word ".repeat(300);
    assert_eq!(
        says(&layers(""), &text),
        ["prompt/too-large for the tier `small` in the mode `early`: the prompt `main` has 503 tokens, 103 more than \
         the model takes in beside its answer (400)"]
    );
    assert_eq!(says(&layers(", trim = \"drop\""), &text), [""; 0]);
    assert_eq!(
        says(&layers(", budget = { small = 100 }, in = \"late\""), "word ".repeat(70).as_str()),
        [
            "prompt/over-budget for the tier `small` in the mode `late`: the layer `text` has 117 tokens; its budget is 100"
        ]
    );
}
