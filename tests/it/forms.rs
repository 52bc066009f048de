//! Forms: does a pack read the forms and examples that its prompts have for the model?

use crate::texts::{program_of, reviewed};
use rulebook::outcome::Verdict;
use rulebook::{Options, Outcome, Program};
use std::path::Path;

fn packs() -> Vec<Program> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["rules", "tests/packs"].map(|folder| rulebook_fs::packs_below(&root.join(folder)).unwrap());
    let load = |path: std::path::PathBuf| Program::load(&rulebook_fs::read_pack(&path).unwrap().folder).value.unwrap();
    folders.into_iter().flatten().map(load).collect()
}

/// The outcome of a text in a mode and a dialect, with what is withheld if the text is refused.
fn read(program: &Program, mode: &str, dialect: Option<&str>, text: &str) -> Outcome {
    let session = program.resume(serde_json::json!({ "mode": mode })).unwrap();
    let options = Options { dialect: dialect.map(str::to_owned), withheld: true, ..Options::default() };
    let mut outcome = program.run_with(&session, text.as_bytes(), &options);
    if let Some(withheld) = outcome.withheld.take() {
        (outcome.message, outcome.thinking) = (withheld.message, withheld.thinking);
        (outcome.sections, outcome.contents) = (withheld.sections, withheld.contents);
        (outcome.utterances, outcome.calls) = (withheld.utterances, withheld.calls);
    }
    outcome
}

#[test]
fn the_form_of_an_answer_is_read_without_a_word() {
    let mut forms = 0;
    for program in packs() {
        for mode in program.modes().map(str::to_owned).collect::<Vec<_>>() {
            for form in program.forms(&mode) {
                // The members of an object are described by its schema, not by a form.
                if form.blocks.is_empty() {
                    continue;
                }
                let outcome = read(&program, &mode, Some(&form.dialect), &form.text);
                let what =
                    format!("{} {mode} {}:\n{}\n{:#?}", program.name(), form.dialect, form.text, outcome.diagnostics);
                let of = |role: &str| form.blocks.iter().filter(|block| block.role.word() == role).count();
                // Guardrails read the session, which is empty here; and the speaker in a form is a placeholder.
                let mut fine = vec!["response/guardrail", "response/note"];
                // The template of the model writes the id of a call beside the parameters.
                if program.name() == "std-cohere" {
                    fine.push("response/field-form");
                }
                if of("utterance") > 0 {
                    // If the answer has utterances, it needs no message.
                    fine.extend(["response/unknown-speaker", "response/wrong-label", "response/missing-message"]);
                }
                assert!(outcome.diagnostics.iter().all(|finding| fine.contains(&finding.code.as_str())), "{what}");
                let found =
                    [outcome.calls.len(), outcome.contents.len(), outcome.sections.len(), outcome.utterances.len()];
                assert_eq!(found, ["call", "content", "section", "utterance"].map(of), "{what}");
                // A section may also be the message.
                let shown = outcome.sections.iter().any(|section| section.text == outcome.message);
                assert_eq!(
                    (of("message") == 0 && !shown, of("thinking")),
                    (outcome.message.is_empty(), outcome.thinking.len()),
                    "{what}"
                );
                forms += 1;
            }
        }
    }
    assert!(forms >= 6);
}

#[test]
fn a_block_that_cannot_be_spelled_is_reported_where_forms_are_shown() {
    let grammar =
        "open = ${ \"[\" ~ name ~ \"]\" }\nname = @{ \"step\" ~ ASCII_DIGIT | \"end\" }\nclose = { \"[/]\" }\n";
    let pack = "[pack]\nname = 'p'\n[dialects.d]\ngrammar = 'steps'\n[dialects.d.blocks]\n'step?' = { role = 'section' }\n\
                end = { role = 'message' }\n[prompts.main]\nlayers = [{ id = 'forms', template = 'forms.md' }, { id = 'm', source = 'message' }]\n\
                [tiers.any]\ncontext = 9000\nreserve = 1000\n";
    let found = |template: &str| {
        let files = [("pack.toml", pack), ("grammar/steps.pest", grammar), ("forms.md", template)];
        reviewed(files).iter().map(|one| format!("{} {}", one.code, one.word)).collect::<Vec<_>>()
    };
    assert_eq!(found("{% for form in forms %}{{ form.text | markup }}{% endfor %}"), ["prompt/unsaid 'step?'"]);
    assert_eq!(found("Say it."), [""; 0]);
}

#[test]
fn a_speaker_that_needs_a_label_is_spelled_with_one() {
    let pack = "[pack]\nname = 'p'\n[dialects.d]\ngrammar = 'transcript'\nanchor = 'line'\nblocks = { '*' = { role = 'utterance' } }\n";
    let program = program_of(pack);
    let texts: Vec<String> = program.forms("default").into_iter().map(|form| form.text).collect();
    assert_eq!(texts, ["Name (Label): Text"]);
}

/// The findings of `check` for a pack whose dialect has these blocks, with this template in a prompt: severity, code,
/// and the marked text.
fn reported(blocks: &str, more: &str, template: &str) -> Vec<String> {
    let pack = format!(
        "[pack]\nname = 'p'\n[dialects.d]\ngrammar = 'tags'\nanchor = 'line'\n[dialects.d.blocks]\n{blocks}\n{more}\n\
         [prompts.main]\nlayers = [{{ id = 'forms', template = 'forms.md' }}, {{ id = 'm', source = 'message' }}]\n[tiers.any]\ncontext = 9000\nreserve = 1000\n"
    );
    let found = reviewed([("pack.toml", pack.as_str()), ("forms.md", template)]);
    found.iter().map(|one| format!("{} {} {}", one.severity, one.code, one.word)).collect()
}

const SHOWN: &str = "{% for form in forms %}{{ form.text | markup }}{% endfor %}";

#[test]
fn the_shown_form_of_a_block_is_read_as_that_block() {
    let refused = |blocks: &str, word: &str| {
        let expected = [format!("error prompt/refused-example {word}")];
        assert_eq!(reported(blocks, "", SHOWN), expected, "{blocks}");
        // No prompt contains the form, so it is not reported.
        assert_eq!(reported(blocks, "", "Hello"), [""; 0], "{blocks}");
        // A correction contains it.
        let asks = "[degradation]\nstray-text = 'ask-again'";
        assert_eq!(reported(blocks, asks, "Hello"), expected, "{blocks}");
        assert_eq!(reported(blocks, &format!("{asks}\n[ask_again]\ntext = 'Again.'"), "Hello"), [""; 0], "{blocks}");
    };
    refused("note = { role = 'section', spelled = '<nota>' }", "note");
    refused("a = { role = 'section' }\nb = { role = 'section', spelled = '<a>', close = ['a'] }", "b");
    refused("note = { role = 'section', about = \"It ends with\\n</note>\" }", "note");
    refused("a = { role = 'section', ends = ['end'] }\nb = { role = 'section', ends = ['end'] }", "b");
    for block in [
        "note = { role = 'section', close = ['@id'] }",
        "a = { role = 'section', ends = ['end'] }\nb = { role = 'section' }",
        "file = { role = 'content', key = '@path', ends = ['end'] }",
        "file = { role = 'content', key = '@path', ends = ['fence'] }",
        "file = { role = 'content', key = '@path', close = ['@path', 'file'] }",
        "file = { role = 'content', key = '@path' }\n[reply]\nfile = { keys = ['notes/*.md'] }",
    ] {
        assert_eq!(reported(block, "", SHOWN), [""; 0], "{block}");
    }
}

#[test]
fn the_shown_example_of_a_call_is_read_as_that_call() {
    let call = |params: &str| {
        let actions = format!(
            "[actions.dim]\nparams = {{ level = {params} }}\neffects = [{{ emit = 'dim' }}]\n[modes.default]\npermits = ['*']"
        );
        let template = "{% for action in actions %}{{ action.example | markup }}{% endfor %}";
        reported("act = { role = 'call', name = '@type', payload = 'attributes' }", &actions, template)
    };
    assert_eq!(call("{ type = 'integer', required = true }"), [""; 0]);
    let list = "{ type = 'array', required = true, items = { type = 'object', properties = { a = { type = 'object' } } }, minItems = 1 }";
    assert!(call(list).iter().all(|one| one == "error prompt/refused-example dim"), "{:?}", call(list));
}

/// The form of a reply in a pack with two actions, whose dialect has these blocks.
fn form_with(blocks: &str) -> String {
    let pack = format!(
        "[pack]\nname = 'p'\n[dialects.d]\ngrammar = 'tags'\ntext = 'message'\n[dialects.d.blocks]\n{blocks}\n\
         [actions.dim.params]\nlevel = {{ type = 'integer', required = true, example = 3 }}\n\
         rooms = {{ type = 'array', items = {{ type = 'string' }}, example = ['a', 'b'] }}\n\
         [actions.ping]\n[modes.default]\npermits = ['*']\n"
    );
    program_of(pack).forms("default").pop().unwrap().text
}

#[test]
fn a_pack_says_how_a_whole_call_is_written() {
    let params = r#"{"level": 3, "rooms": ["a", "b"]}"#;
    let form = form_with(
        r#"act = { role = 'call', name = '@type', payload = 'json', spelled = '<act type="@type">@body</act>' }"#,
    );
    assert_eq!(form, format!(r#"<act type="dim">{params}</act>"#));
    // `@body` is the whole payload if that names the call, or else only the parameters.
    let named = "act = { role = 'call', name = '@payload.tool', body = 'args', payload = 'json'";
    let form = form_with(&format!("{named}, spelled = '<act>@body</act>' }}"));
    assert_eq!(form, format!(r#"<act>{{"tool": "dim", "args": {params}}}</act>"#));
    let form = form_with(&format!(r#"{named}, spelled = '<act>{{"args": @body, "tool": "@name"}}</act>' }}"#));
    assert_eq!(form, format!(r#"<act>{{"args": {params}, "tool": "dim"}}</act>"#));
    let fields = "act = { role = 'call', name = '@type', payload = 'tags', field = '@p.key'";
    let form = form_with(&format!(r#"{fields}, spelled = "<act type='@type'>\n@body\n</act>" }}"#));
    assert_eq!(form, "<act type='dim'>\n<p key=\"level\">3</p>\n<p key=\"rooms\">[\"a\", \"b\"]</p>\n</act>");
    let form = form_with(&format!(r#"{fields}, spelled = "<act type='@type'>\n@lines\n</act>" }}"#));
    assert!(form.contains("<p key=\"level\">\n3\n</p>\n<p"), "{form}");
    // `@body` is only the parameters that are not in the opener already.
    let opener = "act = { role = 'call', name = '@type', payload = 'attributes'";
    let form = form_with(&format!(r#"{opener}, spelled = "<act type='@type' @body/>" }}"#));
    assert_eq!(form, "<act type='dim' level=\"3\" rooms=\"[&quot;a&quot;,&quot;b&quot;]\"/>");
}

#[test]
fn a_pack_says_which_wrapper_calls_are_written_in() {
    let call =
        r#"act = { role = 'call', name = '@type', payload = 'json', spelled = '<act type="@type">@body</act>' }"#;
    let form = form_with(&format!("{call}\nacts = {{ role = 'wrapper', spelled = '<acts>@body, @body</acts>' }}"));
    assert_eq!(form, r#"<acts><act type="dim">{"level": 3, "rooms": ["a", "b"]}</act></acts>"#);
    // A wrapper without `spelled` is understood, but not part of the form.
    assert_eq!(
        form_with(&format!("{call}\nacts = {{ role = 'wrapper' }}")),
        &form["<acts>".len()..form.len() - "</acts>".len()]
    );
}

#[test]
fn a_whole_block_that_the_rules_do_not_read_is_reported() {
    let act = "act = { role = 'call', name = '@type', payload = 'json', spelled = ";
    let actions =
        "[actions.dim]\nparams = { level = { type = 'integer', required = true } }\n[modes.default]\npermits = ['*']";
    let refused = ["error prompt/refused-example act"];
    assert_eq!(reported(&format!("{act} '<act type=\"@type\">@body</act>' }}"), actions, SHOWN), [""; 0]);
    assert_eq!(reported(&format!("{act} '<act type=\"@type\">@body' }}"), actions, SHOWN), refused);
    assert_eq!(reported(&format!("{act} '[act type=\"@type\"]@body[/act]' }}"), actions, SHOWN), refused);
}

#[test]
fn a_content_shows_a_key_that_its_reply_takes() {
    let form = |contents: &str, keys: &str| {
        let keys = if keys.is_empty() { String::new() } else { format!("keys = [{keys}]") };
        let pack = format!(
            "[pack]\nname = 'p'\n[dialects.d]\ngrammar = 'tags'\nanchor = 'line'\n[dialects.d.blocks]\n\
             file = {{ role = 'content', key = '@path' }}\n[contents.file]\nkey = 'path'\n{contents}\n[reply]\nfile = {{ {keys} }}\n"
        );
        let found: Vec<String> = reviewed([("pack.toml", pack.as_str())]).into_iter().map(|one| one.code).collect();
        let text = program_of(pack).forms("default").remove(0).text;
        (text.lines().next().unwrap_or_default().to_owned(), found)
    };
    let no: Vec<String> = Vec::new();
    assert_eq!(form("example = 'a.md'", ""), ("<file path=\"a.md\">".to_owned(), no.clone()));
    assert_eq!(form("example = 'a.md'", "'b', '*.md'"), ("<file path=\"a.md\">".to_owned(), no.clone()));
    assert_eq!(form("", "'notes/*.md', 'b'"), ("<file path=\"notes/name.md\">".to_owned(), no));
    let misfit = vec!["pack/misfit-example".to_owned()];
    assert_eq!(form("example = 'a.md'", "'notes/*'"), ("<file path=\"notes/name\">".to_owned(), misfit));
}

#[test]
fn what_the_rules_spell_is_printed_as_markup() {
    let blocks = "message = { role = 'message' }\nact = { role = 'call', name = '@type', payload = 'tags' }";
    let actions = "[actions.dim]\neffects = [{ emit = 'dim' }]\n[modes.default]\npermits = ['*']";
    let found = |template: &str| reported(blocks, actions, template);
    let escaped = |word: &str| [format!("warning prompt/refused-example {word}")];
    let forms = |print: &str| format!("{{% for form in forms %}}{{{{ {print} }}}}{{% endfor %}} dim");
    assert_eq!(found(&forms("form.text | markup")), [""; 0]);
    assert_eq!(found(&forms("form.text")), escaped("form.text"));
    assert_eq!(found(&forms("form.text | length")), [""; 0]);
    assert_eq!(found("{{ forms[0].text }} dim"), escaped("forms[0].text"));
    let actions = "{% for one in actions %}{{ one.name }}\n{{ one.example }}{% endfor %}";
    assert_eq!(found(actions), escaped("one.example"));
    // No block can start in the middle of a line, so nothing is escaped there.
    assert_eq!(found(&actions.replace('\n', " ")), [""; 0]);
    assert_eq!(found(&actions.replace("example", "example | markup")), [""; 0]);
}

#[test]
fn the_example_of_every_permitted_action_is_accepted() {
    let mut actions = 0;
    for program in packs() {
        for mode in program.modes().map(str::to_owned).collect::<Vec<_>>() {
            for action in program.action_forms(&mode) {
                let Some(example) = &action.example else { continue };
                let outcome = read(&program, &mode, None, example);
                let what = format!("{} {mode}: {example}\n{:#?}", program.name(), outcome.diagnostics);
                assert_eq!(
                    (outcome.calls.len(), outcome.calls[0].action.as_str()),
                    (1, action.name.as_str()),
                    "{what}"
                );
                assert_eq!(outcome.calls[0].verdict, Verdict::Accepted, "{what}");
                actions += 1;
            }
        }
    }
    assert!(actions >= 20);
}

/// A pack that asks again for every defect, in at most this many tokens.
fn asking(tokens: usize, words: &str) -> Program {
    let mut pack: toml::Table = crate::snippets::base().parse().unwrap();
    let defects =
        ["unknown-action", "forbidden-call", "invalid-payload", "stray-text", "unclosed-block", "duplicate-block"];
    let row = |defect: &str| (defect.to_owned(), toml::Value::from("ask-again"));
    pack.insert("degradation".into(), toml::Value::Table(defects.map(row).into_iter().collect()));
    let over = format!("[ask_again]\ntokens = {tokens}\n{words}\n[reply]\nmessage = {{ required = true, most = 1 }}");
    pack.extend(over.parse::<toml::Table>().unwrap());
    program_of(pack.to_string())
}

#[test]
fn a_correction_names_each_kind_of_defect_and_keeps_its_cap() {
    let bad = "<action type=\"forget\"/>\n<action type=\"clear_notes\"/>\nstray\n<action type=\"keep_note\"><x>1</x></action>\n";
    let kinds =
        ["no action `forget`", "does not permit `clear_notes`", "outside every block", "does not match its schema"];
    let mut lengths = Vec::new();
    for times in [1, 5, 20] {
        let program = asking(300, "");
        let outcome = program.run(&program.session(), &(bad.repeat(times) + "<message>Hello</message>"));
        let text = outcome.ask_again.unwrap();
        assert!(text.len() <= 900, "{text}");
        assert!(kinds.iter().all(|kind| text.contains(kind)), "{text}");
        assert!(text.contains("<action type=\"keep_note\">\n  <text>") && text.contains("<message>"), "{text}");
        lengths.push(text.len());
    }
    // Further defects of a kind are counted, and not listed.
    assert!(lengths[2] <= lengths[1] + 20, "{lengths:?}");
    for tokens in [0, 1, 20, 60, 90, 140] {
        let program = asking(tokens, "");
        let text = program.run(&program.session(), bad).ask_again.unwrap();
        assert!(text.len() <= (3 * tokens).max(80), "{tokens}: {text}");
    }
}

#[test]
fn text_outside_every_block_can_be_a_message_that_is_required() {
    let pack = "[pack]\nname = 'p'\n[dialects.d]\ngrammar = 'brackets'\ntext = 'message'\nblocks.'*' = { role = 'call', payload = 'json' }\n\
                [reply]\nmessage = { required = true }\n[modes.default]\npermits = ['*']\n[actions.ACT]\n";
    let program = program_of(pack);
    let codes = |answer: &str| {
        let found = program.run(&program.session(), answer).diagnostics.into_iter();
        found.map(|one| one.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(codes("Hello\n[ACT]{}"), [""; 0]);
    assert_eq!(codes(" \n[ACT]{}\n"), ["response/missing-message"]);
}

#[test]
fn a_correction_shows_the_call_that_was_wrong() {
    let program = asking(300, "");
    let mut session = program.session();
    session.mode = "tidy".to_owned();
    let text = program.run(&session, "<message>Hello</message><action type=\"clear_notes\">").ask_again.unwrap();
    assert!(text.contains("<action type=\"clear_notes\"") && !text.contains("keep_note\">"), "{text}");
}

#[test]
fn a_pack_has_its_own_words_for_a_correction() {
    let words = "text = '''{{ mode }}: {% for d in defects %}{{ d.defect }} x{{ d.times }} {% endfor %}{{ permitted | join('+') }}'''";
    let program = asking(600, words);
    let outcome = program.run(&program.session(), "<action type=\"forget\"/><message>Hello</message>");
    assert_eq!(outcome.ask_again.as_deref(), Some("chat: unknown-action x1 keep_note"));
    // If the template of the pack fails for these values, the engine's own text is used.
    let program = asking(600, "text = '{{ 1 + defects }}'");
    let outcome = program.run(&program.session(), "<action type=\"forget\"/><message>Hello</message>");
    assert!(outcome.ask_again.unwrap().starts_with("Your last answer was not used"));
}
