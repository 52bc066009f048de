//! Packs whose values grow without bound, and answers that make them grow.

/// A name, a `pack.toml`, and a function that makes an answer of about so many bytes.
pub(crate) type Pack = (&'static str, fn() -> String, fn(usize) -> String);

const HEAD: &str = r#"
[pack]
name = "greedy"
[dialects.tagged]
grammar = "tags"
text    = "message"
blocks  = { action = { role = "call", name = "@type", payload = "tags" } }
[modes.default]
permits = ["*"]
"#;

/// Packs in each of which short answers make long values.
pub(crate) const PACKS: &[Pack] = &[
    ("a diary that every call adds to", diary, calls),
    ("computed values that double", computed, calls),
    ("rules that double a value", doubling, calls),
    ("rules that append a list to itself", appending, calls),
    ("lets that double a value", lets, calls),
    ("messages that say the whole state", messages, calls),
    ("computed values that nobody reads", unread, calls),
    ("advice that repeats a long text", advice, calls),
];

/// A pack with a prompt whose layers are all the same long text, as its files.
pub(crate) fn layers() -> [(&'static str, String); 2] {
    let layer = |n: usize| format!("[[prompts.main.layers]]\nid = \"l{n}\"\ntemplate = \"prompt/long.md\"\n");
    let text = "x".repeat(100_000);
    let head = format!(
        "{HEAD}\n[state.s]\ndefault = \"{text}\"\n[state.n]\ndefault = 0\n[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n[tiers.all]\ncontext = 1000000000\nreserve = 1\n"
    );
    let pack = head + &(0..40).map(layer).collect::<String>();
    [("pack.toml", pack), ("prompt/long.md", "{% for n in range(30) %}{{ state.s }}{% endfor %}".to_owned())]
}

/// Computed values that are within the budget in a new session, but not once a call has set the state that they are
/// computed from.
fn chain() -> String {
    let rows = (1..15).map(|n| format!("[state.s{n}]\ncompute = \"{{{{ state.s{} ~ state.s{} }}}}\"\n", n - 1, n - 1));
    format!("[state.s0]\ndefault = \"x\"\n{}", rows.collect::<String>())
}

fn unread() -> String {
    format!(
        "{HEAD}\n{}[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n\
         effects = [{{ set = \"s0\", value = \"{{{{ params.text }}}}\" }}]\n",
        chain()
    )
}

fn advice() -> String {
    let permit = "[{ action = \"*\", when = \"params.text | length < 5\", advice = \"{{ state.s }}\" }]";
    format!(
        "{}\n[state.s]\ndefault = \"{}\"\n[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n",
        HEAD.replace("[\"*\"]", permit),
        "x".repeat(100_000)
    )
}

/// As many calls of a kilobyte as an answer may have.
fn calls(size: usize) -> String {
    let call = format!("<action type=\"note\"><text>{}</text></action>\n", "x".repeat(1_000));
    call.repeat((size / call.len()).clamp(1, 1_000))
}

fn diary() -> String {
    format!(
        "{HEAD}\n[state.diary]\ndefault = \"\"\n[actions.note]\nparams = {{ text = {{ type = \"string\", required = true }} }}\n\
         effects = [{{ set = \"diary\", value = \"{{{{ state.diary }}}}{{{{ params.text }}}}\" }}]\n"
    )
}

fn computed() -> String {
    let rows = (1..46).map(|n| format!("[state.s{n}]\ncompute = \"{{{{ state.s{} ~ state.s{} }}}}\"\n", n - 1, n - 1));
    format!(
        "{HEAD}\n[state.s0]\ndefault = \"sixteen bytes ok\"\n{}[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n\
         effects = [{{ set = \"s0\", value = \"{{{{ params.text }}}}\" }}]\n",
        rows.collect::<String>()
    )
}

fn doubling() -> String {
    let rules = (0..27).map(|n| {
        format!(
            "[[rules]]\nid = \"r{n}\"\non = \"reply\"\neffects = [{{ set = \"s\", value = \"{{{{ state.s ~ state.s }}}}\" }}]\n"
        )
    });
    format!(
        "{HEAD}\n[state.s]\ndefault = \"x\"\n[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n\
         effects = [{{ set = \"s\", value = \"{{{{ params.text }}}}\" }}]\n{}",
        rules.collect::<String>()
    )
}

fn appending() -> String {
    let rules = (0..6).map(|n| {
        format!("[[rules]]\nid = \"r{n}\"\non = \"reply\"\neffects = [{{ each = \"state.l\", append = \"l\", value = \"{{{{ item }}}}\" }}]\n")
    });
    format!(
        "{HEAD}\n[state.l]\ntype = \"array\"\ndefault = []\n[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n\
         effects = [{{ append = \"l\", value = \"{{{{ params.text }}}}\" }}]\n{}",
        rules.collect::<String>()
    )
}

fn lets() -> String {
    let lets = (1..28).map(|n| format!("a{n} = \"{{{{ a{} ~ a{} }}}}\"", n - 1, n - 1)).collect::<Vec<_>>().join(", ");
    format!(
        "{HEAD}\n[state.s]\ndefault = \"x\"\n[actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n\
         effects = [{{ let = {{ a0 = \"{{{{ params.text }}}}\", {lets} }}, set = \"s\", value = \"{{{{ a27 }}}}\" }}]\n"
    )
}

fn messages() -> String {
    format!(
        "{HEAD}\n[state.l]\ntype = \"array\"\ndefault = []\n[messages.all]\nsays = \"All: {{{{ state.l }}}}\"\n\
         [actions.note]\nparams = {{ text = {{ type = \"string\" }} }}\n\
         effects = [{{ append = \"l\", value = \"{{{{ params.text }}}}\" }}, {{ say = \"all\" }}]\n"
    )
}
