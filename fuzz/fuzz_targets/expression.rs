//! Any text is refused as a condition and as a template, or evaluates to the same value twice, within its budget of
//! steps and bytes. A NUL byte separates the text from the JSON of the values that it may read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::Value;
use rulebook::expression::{Expression, Scope, Template};
use rulebook::text::{Location, Span, Spanned};

fuzz_target!(|data: &str| {
    let (text, state) = data.split_once('\0').unwrap_or((data, r#"{"a": [1, "b", {"c": null}], "d": "e f"}"#));
    let state: Value = serde_json::from_str(state).unwrap_or_default();
    let scope = Scope::new().with("state", &state).with("item", &state);
    let text = Spanned::new(text.to_owned(), Location::response(Span::new(0, text.len())));
    if let Ok(condition) = Expression::parse(&text) {
        assert_eq!(condition.holds(&scope).is_ok(), condition.holds(&scope).is_ok());
        assert_eq!(format!("{:?}", condition.value(&scope)), format!("{:?}", condition.value(&scope)));
    }
    if let Ok(template) = Template::parse(&text) {
        assert_eq!(template.text(&scope).ok(), template.text(&scope).ok());
        assert_eq!(format!("{:?}", template.render(&scope)), format!("{:?}", template.render(&scope)));
    }
});
