//! How long do conditions and templates take?

mod corpus;

use criterion::{Criterion, criterion_group, criterion_main};
use rulebook::expression::{Expression, Scope, Template};
use rulebook::text::{Location, Span, Spanned};
use std::hint::black_box;

fn spanned(text: &str) -> Spanned<String> {
    Spanned::new(text.to_owned(), Location::response(Span::new(0, text.len())))
}

fn expressions(c: &mut Criterion) {
    let (params, state) = corpus::scenarios::values();
    let scope = Scope::new().with("params", &params).with("state", &state);
    for text in corpus::scenarios::CONDITIONS {
        let expression = Expression::parse(&spanned(text)).unwrap_or_else(|fault| unreachable!("{fault:?}"));
        c.bench_function(&format!("condition: {text}"), |b| b.iter(|| expression.holds(black_box(&scope))));
    }
    for text in corpus::scenarios::TEMPLATES {
        let template = Template::parse(&spanned(text)).unwrap_or_else(|fault| unreachable!("{fault:?}"));
        c.bench_function(&format!("template: {text}"), |b| b.iter(|| template.render(black_box(&scope))));
    }
    let text = spanned(corpus::scenarios::CONDITION_TO_PARSE);
    c.bench_function("reading a condition", |b| b.iter(|| Expression::parse(black_box(&text))));
    let text = spanned(corpus::scenarios::TEMPLATE_TO_PARSE);
    c.bench_function("reading a template", |b| b.iter(|| Template::parse(black_box(&text))));
}

criterion_group!(benches, expressions);
criterion_main!(benches);
