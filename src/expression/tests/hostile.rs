//! Hostile texts: can an expression or template exceed the limits of an evaluation?

use super::*;

/// Checks that the text ends in a failure or fault, because it exceeds a limit.
#[track_caller]
fn check_refused(text: &str) {
    assert!(rendered(text).is_err(), "{}", text.chars().take(80).collect::<String>());
}

#[test]
fn hostile_templates_end_in_failure() {
    check_refused("{% for i in range(9999999) %}x{% endfor %}");
    check_refused("{{ 'a' * 10**9 }}");
    check_refused("{{ [1] * 10**9 }}");
    check_refused("{{ 10 ** 10 ** 10 }}");
    check_refused("{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}");
    check_refused(&format!("{{% set x = 'aaaaaaaaaaaaaaaa' %}}{}", "{% set x = x ~ x %}".repeat(31)));
    check_refused(&format!("{{% set x = [1] %}}{}{{{{ x ~ '' }}}}", "{% set x = [x, x] %}".repeat(31)));
    check_refused(&format!("{{% set x = [1] %}}{}{{{{ x == x }}}}", "{% set x = [x, x] %}".repeat(31)));
    check_refused(&format!("{{% set x = [1] %}}{}{{{{ x | tojson }}}}", "{% set x = [x, x] %}".repeat(31)));
    check_refused(&format!("{{% set x = [1] %}}{}{{{{ x | sort }}}}", "{% set x = [x, x] %}".repeat(31)));
    check_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
    let long = "x".repeat(3000);
    check_refused(&format!("{{{{ '{long}' | replace('x', '{long}') | replace('x', '{long}') }}}}"));
    check_refused(&format!("{{{{ range(9000) | join('{long}') | length }}}}"));
    check_refused(&format!("{{{{ range(9999) | map('replace', '1', '{long}') | list | length }}}}"));
    check_refused("{{ range(9999) | map('indent', 1000, true) | join }}");
    check_refused("{{ 'a' | indent(10**9) }}");
    check_refused("{{ [1] | batch(10**9, 'x') }}");
    check_refused("{{ [1] | slice(10**9) }}");
    check_refused(&format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000)));
    check_refused(&format!("{{{{ {}1{} }}}}", "[".repeat(5000), "]".repeat(5000)));
    check_refused(&format!("{{{{ {}1 }}}}", "not ".repeat(5000)));
    check_refused(&format!("{{{{ {}1 }}}}", "-".repeat(5000)));
    check_refused(&format!("{{{{ 1{} }}}}", " + 1".repeat(5000)));
    check_refused(&format!("{{{{ a{} }}}}", ".a".repeat(5000)));
    check_refused(&format!("{{{{ a{} }}}}", "|list".repeat(5000)));
    check_refused(&format!("{{{{ a{} }}}}", " if a".repeat(5000)));
    check_refused(&format!("{{{{ a{} }}}}", " if a else a".repeat(5000)));
    check_refused(&format!("{}{}", "{% if 1 %}".repeat(5000), "{% endif %}".repeat(5000)));
    check_refused(&format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 1 %}".repeat(5000)).replace("{% endif %}", ""));
    check_refused(&format!("{{{{ '{}' }}}}", "x".repeat(WEIGHT)));
    check_refused("{{ [][::-1] }}");
    check_refused("{{ ''[::-1] }}");
    check_refused("{{ [1, 2][0:2:-1] }}");
    check_refused("{{ [1][::0] }}");
    check_refused("{{ [1][::-9223372036854775808] }}");
    check_refused("{{ [1]['a':] }}");
    check_refused("{{ range(0, 5, -9223372036854775808) | list }}");
    check_refused("{{ range(9223372036854775807, -9223372036854775808, -4611686018427387904) | list }}");
    check_refused("{{ 1 is divisibleby(0) }}");
    check_refused("{{ 1.5 is divisibleby(0.0) }}");
    check_template("{{ 1 is divisibleby(false) }}", json!(false));
    check_template("{{ (0 - 2**126 - 2**126) is divisibleby(-1) }}", json!(true));
    // Nested by operators of every level inside of nested brackets.
    let layer = |inner: String| format!("(1 or 1 or 1 and 1 and 1 < 1 + 1 ~ 1 * 1 ** {inner} | list | list)");
    check_refused(&format!("{{{{ {} }}}}", (0..60).fold("1".to_owned(), |inner, _| layer(inner))));
    // Every assignment nests the value of the one before it.
    check_refused(&format!(
        "{{% set x = 1 %}}{}",
        format!("{{% set x = {}x{} %}}", "[".repeat(60), "]".repeat(60)).repeat(30)
    ));
}

/// NaN would pass every limit in a condition: a sum that contains NaN is never greater than a number.
#[test]
fn a_text_is_no_number_that_passes_a_limit() {
    for number in ["nan", "-NaN", "inf", "-infinity", "1e999"] {
        check_fails(&format!("'{number}' | float <= 5"), "not finite");
        check_fails(&format!("'{number}' | int <= 5"), "not finite");
        check_fails(&format!("['{number}', '500'] | map('float') | sum > 5"), "not finite");
        check(&format!("'{number}' | float(7) <= 5"), json!(false));
        check(&format!("'{number}' | int(default=7) <= 5"), json!(false));
        check(&format!("'{number}' < 'z'"), json!(true));
    }
    check_fails("2.0 ** 1000 * 2.0 ** 1000 > 5", "not finite");
    check_fails("2.0 ** 1000 * 2.0 ** 1000 - 2.0 ** 1000 * 2.0 ** 1000 > 5", "not finite");
}

/// Expressions over large data: harmless ones work, others fail.
#[test]
fn hostile_expressions_over_large_data_end_in_failure() {
    let words = json!("word and\n".repeat(1 << 16));
    let items: Value = (0..20_000).map(|n| Value::from(format!("item {n}"))).collect();
    let scope = Scope::new().with("s", &words).with("l", &items);
    let value = |text: &str| Expression::parse(&spanned(text)).expect(text).value(&scope);
    for text in [
        "s * 1000",
        "s ~ s ~ s ~ s ~ s ~ s ~ s ~ s ~ s ~ s ~ s ~ s ~ s ~ s",
        "s | list",
        "s | split('')",
        "s | trim(s)",
        "s | replace('w', s)",
        "s | indent(100, true, true)",
        "[s, s, s, s, s, s, s, s, s, s, s, s, s, s] | tojson",
        "[s, s, s, s, s] | string | xml | xml",
        "l | join(s)",
        "l | select('in', l) | list",
        "l | map('replace', 'i', s) | list",
        "l | map('split', '') | list",
        "l | map('indent', 10000, true) | list",
        "l | batch(99999999, 'x')",
        "l | slice(99999999)",
        "l | chain(l, l, l, l, l, l, l) | list",
        "l | zip(l, l, l, l, l, l) | list",
    ] {
        assert!(value(text).is_err(), "{text}");
    }
    assert_eq!(value("l | length"), Ok(json!(20_000)));
    assert_eq!(value("'item 19999' in l and s is startingwith('word')"), Ok(json!(true)));
}
