//! That expressions and templates mean the same as in minijinja.

use super::*;
use crate::text::SourceId;
use crate::value::values;
use proptest::prelude::*;

/// The starts of the openers of tags and brackets.
fn openers() -> [escape::Start; 2] {
    (*b"<[").map(escape::Start::byte)
}

/// Source of expressions over the values of these tests.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => prop::sample::select(vec![
            "params.key", "params.n", "params.f", "params.yes", "params.list", "params.title", "state.turns", "state.big",
            "state.profiles", "state.profiles.p1.pages", "state.work_order", "state.selected", "item.x", "item.title", "text",
        ]),
        2 => prop::sample::select(vec!["0", "1", "2", "-3", "1.5", "1e3", "''", "'a'", "'p1'", "true", "false", "[]", "[1, 'x']", "{}", "{'a': 1}"]),
        1 => prop::sample::select(vec!["none", "params.nil"]),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let binary = prop::sample::select(vec![
            "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or",
        ]);
        let suffix = prop::sample::select(vec![
            "| list",
            "| length",
            "| first",
            "| last",
            "| items",
            "| join",
            "| join(', ')",
            "| upper",
            "| lower",
            "| string",
            "| trim",
            "| title",
            "| capitalize",
            "| abs",
            "| int",
            "| float",
            "| round",
            "| round(1)",
            "| sort",
            "| unique",
            "| reverse",
            "| sum",
            "| min",
            "| max",
            "| dictsort",
            "| lines",
            "| split",
            "| split('a')",
            "| replace('a', 'bb')",
            "| map('string') | list",
            "| select('string') | list",
            "| reject('in', [1]) | list",
            "| list | first",
            "| items | map(attribute='0') | list",
            "| indent(2)",
            "| batch(2) | list",
            "| bool",
            "| zip([1, 2]) | list",
            "| chain([1]) | list",
            "is string",
            "is number",
            "is integer",
            "is float",
            "is none",
            "is mapping",
            "is even",
            "is startingwith('p')",
            "is not true",
            "is in [1, 'a']",
            "is eq 1",
            "[1:]",
            "[:-1]",
            "[::2]",
        ]);
        prop_oneof![
            4 => (inner.clone(), binary, inner.clone()).prop_map(|(one, op, other)| match op {
                // `none` is in nothing here, and the word `None` may be in a text there.
                "in" | "not in" => format!("(({one}) | default(0, true) {op} ({other}))"),
                _ => format!("{one} {op} {other}"),
            }),
            4 => (inner.clone(), suffix).prop_map(|(of, suffix)| format!("(({of}) {suffix})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            1 => inner.clone().prop_map(|of| format!("(not {of})")),
            1 => inner.clone().prop_map(|of| format!("({of})")),
            1 => (inner.clone(), inner).prop_map(|(one, other)| format!("[{one}, {other}]")),
        ]
    })
}

/// Source of templates over the same values, with loops and names of their own.
fn templates() -> impl Strategy<Value = String> {
    let named = prop::sample::select(vec![
        "x",
        "x.title",
        "x[1]",
        "k",
        "v",
        "v.title",
        "loop.index",
        "loop.first",
        "loop.last",
        "loop.length",
        "(x or '') | trim",
        "v is none",
        "state.profiles[k].title",
        "[x, k] | join('+')",
        "params.list | sort",
        "'optional' | shows(x)",
        "state.turns | int",
        "['7', 3] | map('int') | sort(reverse=true)",
    ]);
    let each = prop::sample::select(vec![
        "params.list",
        "state.profiles",
        "state.profiles | items",
        "state.work_order | items | selectattr('1.status', 'eq', 'open')",
        "state.profiles.p1.pages",
        "params.tags",
        "[1, 'a', none]",
        "x.pages",
        "v.pages",
        "item | list",
    ]);
    let value = || prop_oneof![2 => named.clone().prop_map(str::to_owned), 1 => expressions()];
    let leaf = prop_oneof![
        Just(" <&> ".to_owned()),
        value().prop_map(|value| format!("<a>{{{{ {value} }}}}</a>\n")),
        value().prop_map(|value| format!("<a b=\"{{{{ {value} }}}}\"/>")),
        value().prop_map(|value| format!("{{% set x = {value} %}}")),
        value().prop_map(|value| format!("{{% set k = {value} %}}\n")),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat());
        let value = prop_oneof![2 => named.clone().prop_map(str::to_owned), 1 => expressions()];
        prop_oneof![
            (value.clone(), body(), body())
                .prop_map(|(test, then, other)| format!("{{% if {test} %}}{then}{{% else %}}{other}{{% endif %}}")),
            (each.clone(), body()).prop_map(|(each, body)| format!("{{% for x in {each} %}}{body}{{% endfor %}}")),
            (each.clone(), value, body(), body()).prop_map(|(each, when, body, other)| {
                format!("{{% for k, v in {each} if {when} %}}{body}{{% else %}}{other}{{% endfor %}}")
            }),
        ]
    })
}

/// A document without includes.
struct Alone<'t>(&'t str);

impl Library for Alone<'_> {
    fn find(&self, _: &str, _: SourceId) -> Option<SourceId> {
        None
    }

    fn text(&self, _: SourceId) -> &str {
        self.0
    }

    fn missing(&self, _: &str, _: SourceId) -> Option<crate::diagnostic::Diagnostic> {
        None
    }
}

/// minijinja with `none` in place of undefined values: as an empty list for `reverse` and `split`, and as an empty text
/// for the other text filters.
fn jinja() -> minijinja::Environment<'static> {
    use minijinja::value::{Kwargs, Rest};
    use minijinja::{State, Value as Jinja, filters};
    let none = |value: Jinja| if value.is_undefined() { Jinja::from(()) } else { value };
    let mut environment = minijinja::Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
    environment.add_filter("first", move |value: &Jinja| filters::first(value).map(none));
    environment.add_filter("last", move |value: Jinja| filters::last(value).map(none));
    environment
        .add_filter("min", move |state: &State, value: Jinja, keys: Kwargs| filters::min(state, value, keys).map(none));
    environment
        .add_filter("max", move |state: &State, value: Jinja, keys: Kwargs| filters::max(state, value, keys).map(none));
    environment.add_filter("reverse", |value: &Jinja| match value.is_none() {
        true => Ok(Jinja::from_object(Vec::<Jinja>::new())),
        false => filters::reverse(value),
    });
    for name in ["capitalize", "indent", "lines", "lower", "replace", "split", "string", "title", "trim", "upper"] {
        let own = minijinja::Environment::new();
        environment.add_filter(name, move |args: Rest<Jinja>| {
            let mut args = args.0;
            if name == "split" && args.first().is_some_and(Jinja::is_none) {
                return Ok(Jinja::from_object(Vec::<Jinja>::new()));
            }
            args.iter_mut().take(1).filter(|text| text.is_none()).for_each(|text| *text = Jinja::from(""));
            own.empty_state().apply_filter(name, &args)
        });
    }
    environment
}

#[test]
fn a_line_of_statements_alone_leaves_nothing() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let document = Document::parse(&Alone(text), SourceId::RESPONSE, &[], &Arc::new(Escape::new(openers())));
        let world = world();
        assert_eq!(document.ok().and_then(|document| document.render(&scope(&world)).ok()).as_deref(), Some(expected));
    }
    check("a\n{% if true %}\nb\n{% endif %}\nc\n", "a\nb\nc\n");
    check("{# said #}{% set x = 1 %}{% if x\n %}\t\r\nb\n  {% endif %}", "b\n");
    // The line break of any other line stays.
    check("a{% if true %} b{% endif %}\nc\n", "a b\nc\n");
    check("{% for x in [1, 2] %}{{ x }},{% endfor %}\n\nc", "1,2,\n\nc");
    check("a {# said #}\nb", "a \nb");
}

#[test]
fn none_prints_nothing_in_a_document() {
    let world = world();
    for filter in ["", "| markup", "| upper", "| string"] {
        let text = format!("<a>{{{{ params.absent {filter} }}}}{{{{ params.nil {filter} }}}}</a>");
        let document =
            Document::parse(&Alone(&text), SourceId::RESPONSE, &["params"], &Arc::new(Escape::new(openers())))
                .expect(&text);
        assert_eq!(document.render(&scope(&world)).as_deref(), Ok("<a></a>"), "{text}");
        assert!(document.is_page_of_engine(&scope(&world)), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// If both give a value it is the same, typed and as text. Ours may fail where minijinja does not; the reverse
    /// happens only if `none` is involved.
    #[test]
    fn an_expression_means_what_minijinja_makes_of_it(text in expressions()) {
        let environment = jinja();
        let world = world();
        let compiled = environment.compile_expression(&text);
        let ours = Expression::parse(&spanned(&text));
        prop_assert_eq!(ours.is_ok(), compiled.is_ok(), "{}: {:?}", text, ours.err());
        let (Ok(ours), Ok(compiled)) = (ours, compiled) else { return Ok(()) };
        let context = scale::jinja_of(&world);
        let (value, theirs) = (ours.value(&scope(&world)), compiled.eval(&context));
        if let (Ok(value), Ok(theirs)) = (&value, &theirs)
            // A pair is a tuple there and prints in parentheses.
            && !theirs.to_string().contains('(')
            && let Ok(theirs) = scale::value_of(theirs)
        {
            prop_assert_eq!(value, &theirs, "{}", text);
            let shown = format!("<{{{{ {text} }}}}>");
            let printed = environment.render_str(&shown, &context);
            let own = Template::parse(&spanned(&shown)).expect("it parsed before").text(&scope(&world));
            // Anything else prints as JSON here, and what is absent as nothing.
            if let (Ok(printed), Ok(own)) = (printed, own)
                && matches!(value, Value::String(_) | Value::Number(_))
            {
                prop_assert_eq!(printed, own, "{}", text);
            }
        }
    }

    /// Reading a path without the engine gives the same as the engine.
    #[test]
    fn a_path_alone_means_what_it_means_in_an_expression(v in values()) {
        let scope = Scope::new().with("v", &v);
        for (alone, evaluated) in [("v", "[v] | first"), ("v.a", "([v] | first).a"), ("v[0]", "([v] | first)[0]")] {
            let parse = |text: &str| Expression::parse(&spanned(text)).expect(text);
            prop_assert_eq!(parse(alone).value(&scope), parse(evaluated).value(&scope));
            prop_assert_eq!(parse(alone).holds(&scope), parse(evaluated).holds(&scope));
            let print = |text: &str| Template::parse(&spanned(&format!("<{{{{ {text} }}}}>"))).expect(text).text(&scope);
            prop_assert_eq!(print(alone), print(evaluated));
        }
    }

    /// A template without the engine gives the same as the engine.
    #[test]
    fn a_page_says_what_the_engine_says(text in templates()) {
        let world = world();
        let scope = scope(&world);
        if let Ok(template) = Template::parse(&spanned(&text))
            && let Body::Text(lowered, environment) = &template.0.body
            && let Some(page) = page::text(lowered, &scope, None)
        {
            prop_assert_eq!(Ok(page), engine::render(environment, lowered, &scope), "{}", text);
        }
        if let Ok(document) = Document::parse(&Alone(&text), SourceId::RESPONSE, &[], &Arc::new(Escape::new(openers()))) {
            let whole = document.render(&scope);
            prop_assert!(document.is_page_of_engine(&scope), "{} says {:?}", text, whole);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n]{0,40}|(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}|for|if|x|in|end|set|raw|else|-|'|\"|\\\\u|[ .|()=1]){0,14}") {
        let world = world();
        if let Ok(template) = Template::parse(&spanned(&text)) {
            let _ = template.render(&scope(&world));
        }
        if let Ok(expression) = Expression::parse(&spanned(&text)) {
            let _ = expression.value(&scope(&world));
        }
        let _ = PathTemplate::parse(&spanned(&text));
    }
}
