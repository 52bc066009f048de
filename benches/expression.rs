//! How long do conditions and templates take?

use criterion::{Criterion, criterion_group, criterion_main};
use rulebook::expression::{Expression, Scope, Template};
use rulebook::text::{Location, Span, Spanned};
use serde_json::json;
use std::hint::black_box;

fn spanned(text: &str) -> Spanned<String> {
    Spanned::new(text.to_owned(), Location::response(Span::new(0, text.len())))
}

fn expressions(c: &mut Criterion) {
    let params = json!({ "key": "fatal_flaw", "n": 3, "target": "Drafts/one.md" });
    let orders: serde_json::Map<_, _> =
        (0..20).map(|n| (format!("step{n}"), json!({ "status": "complete", "notes": "some words here" }))).collect();
    let knowledge: Vec<_> =
        (0..5000).map(|n| json!({ "key": format!("key {n}"), "value": "a sentence of a novel" })).collect();
    let state = json!({ "selected": "p1", "turns": 9, "work_order": orders, "knowledge": knowledge });
    let (params, state) = (params.into(), state.into());
    let scope = Scope::new().with("params", &params).with("state", &state);
    for text in [
        "params.key",
        "state.turns < 10 and params.n in [1, 2, 3]",
        "params.target is startingwith('Drafts/')",
        "state.work_order | items | selectattr('1.status', 'ne', 'complete') | list | length == 0",
        "state.knowledge | length > 100",
    ] {
        let expression = Expression::parse(&spanned(text)).unwrap_or_else(|fault| unreachable!("{fault:?}"));
        c.bench_function(&format!("condition: {text}"), |b| b.iter(|| expression.holds(black_box(&scope))));
    }
    for text in [
        "{{ params.key }}",
        "profiles/{{ params.key }}/{{ params.n }}.md",
        "{{ params.key | upper }} of {{ params.n + 1 }}",
        "{% for name, step in state.work_order | items %}{{ loop.index }}. {{ name }}: {{ step.status }}\n{% endfor %}",
    ] {
        let template = Template::parse(&spanned(text)).unwrap_or_else(|fault| unreachable!("{fault:?}"));
        c.bench_function(&format!("template: {text}"), |b| b.iter(|| template.render(black_box(&scope))));
    }
    let text = spanned("params.n in [1, 2] and not state.off");
    c.bench_function("reading a condition", |b| b.iter(|| Expression::parse(black_box(&text))));
    let text = spanned("a {{ params.key | upper }} {% if params.n %}b{% endif %}");
    c.bench_function("reading a template", |b| b.iter(|| Template::parse(black_box(&text))));
}

criterion_group!(benches, expressions);
criterion_main!(benches);
