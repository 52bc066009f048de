//! Spellings: does `check` report a name that could mean two things, or one that nothing reads?

use crate::texts::reviewed;

/// The findings of `check` for an action with these parameters, in a dialect with this `case`.
fn codes(case: &str, params: &str) -> Vec<String> {
    let pack = format!(
        "[pack]\nname = \"p\"\n[dialects.d]\ngrammar = \"tags\"\ncase = \"{case}\"\ntext = \"message\"\n\
         blocks = {{ pay = {{ role = \"call\", payload = \"tags\" }} }}\n[modes.m]\npermits = [\"pay\"]\n\
         [actions.pay]\neffects = [{{ emit = \"pay\", value = \"{{{{ params }}}}\" }}]\n[actions.pay.params]\n{params}\n"
    );
    reviewed([("pack.toml", pack)]).iter().map(|one| format!("{} {}", one.code, one.message)).collect()
}

#[track_caller]
fn check(case: &str, params: &str, expected: &[&str]) {
    let found = codes(case, params);
    let all = found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
    assert!(found.len() == expected.len() && all, "{found:#?}");
}

#[test]
fn a_spelling_means_one_parameter() {
    let clash = ["pack/duplicate-name `sum` already means a member"];
    check("sensitive", "a = { type = \"string\", names = [\"sum\"] }\nb = { type = \"string\" }", &[]);
    check("sensitive", "a = { type = \"string\", names = [\"sum\"] }\nsum = { type = \"string\" }", &clash);
    let two = "a = { type = \"string\", names = [\"sum\"] }\nb = { type = \"string\", names = [\"sum\"] }";
    check("sensitive", two, &clash);
    let case = "a = { type = \"string\", names = [\"sum\"] }\nb = { type = \"string\", names = [\"SUM\"] }";
    check("sensitive", case, &[]);
    check("insensitive", case, &["pack/duplicate-name `SUM` already means a member"]);
    let inner = "a = { type = \"object\", properties = { x = { names = [\"y\"] }, y = { type = \"string\" } } }";
    check("sensitive", inner, &["pack/duplicate-name `y` already means a member"]);
    check("sensitive", "a = { type = \"string\", names = [\" \"] }", &["pack/wrong-value a name of a member is empty"]);
}

#[test]
fn a_spelling_means_one_value() {
    check("sensitive", "a = { enum = [\"x\", { value = \"y\", names = [\"z\"] }] }", &[]);
    let clash = ["pack/duplicate-name `x` already means a value"];
    check("sensitive", "a = { enum = [\"x\", { value = \"y\", names = [\"x\"] }] }", &clash);
}

#[test]
fn a_spelling_that_nothing_reads_is_a_fault() {
    check("sensitive", "a = { type = \"array\", items = { names = [\"x\"] } }", &["pack/bad-schema other spellings"]);
    check("sensitive", "a = { type = \"string\", names = \"x\" }", &["pack/bad-schema `names` of a JSON Schema takes"]);
    let state = "a = { type = \"string\" }\n[state.s]\ntype = \"string\"\ndefault = \"\"\nnames = [\"x\"]";
    assert!(codes("sensitive", state).iter().any(|one| one.starts_with("pack/bad-schema other spellings")));
}
