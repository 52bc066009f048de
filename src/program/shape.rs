//! Shapes: which value do the templates inside a table or array produce together?
//!
//! In: a [`Tree`] as typed in a pack.
//! Out: [`Shape`], which renders to JSON.
//! Never: reads TOML.

use crate::diagnostic::Diagnostic;
use crate::expression::{Failure, Reads, Scope, Template};
use crate::surface::Tree;
use crate::value::{Members, Value};
use std::sync::Arc;

/// A value whose texts are templates. A member of a table that renders to `none` is left out.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    root: ShapePart,
    reads: Reads,
}

#[derive(Debug, Clone)]
enum ShapePart {
    Template(Template),
    Array(Vec<ShapePart>),
    Table(Vec<(Arc<str>, ShapePart)>),
    Constant(Value),
}

impl Shape {
    /// Reads the templates of `tree`.
    ///
    /// # Errors
    ///
    /// Every fault of every template, in order.
    pub(crate) fn parse(tree: &Tree) -> Result<Shape, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let mut reads = Reads::default();
        let root = part(tree, &mut faults, &mut reads);
        if faults.is_empty() { Ok(Shape { root, reads }) } else { Err(faults) }
    }

    /// The paths that its templates read from their scope.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// The path of its value, if it is copied unchanged from elsewhere.
    pub(crate) fn path(&self) -> Option<&[String]> {
        match &self.root {
            ShapePart::Template(template) => template.reads_at().path(),
            _ => None,
        }
    }

    /// Its templates, without the texts that contain no Jinja.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        let mut found = Vec::new();
        let mut left = vec![&self.root];
        while let Some(part) = left.pop() {
            match part {
                ShapePart::Template(template) => found.push(template),
                ShapePart::Array(items) => left.extend(items.iter().rev()),
                ShapePart::Table(members) => left.extend(members.iter().rev().map(|(_, part)| part)),
                ShapePart::Constant(_) => {}
            }
        }
        found
    }

    /// The names of the members that its value has at a path inside it; none if there is a list, or if they depend on a
    /// template.
    pub(crate) fn members(&self, path: &[String]) -> Option<Vec<&str>> {
        let mut part = &self.root;
        for name in path {
            let ShapePart::Table(members) = part else { return None };
            match members.iter().find(|(member, _)| **member == **name) {
                Some((_, member)) => part = member,
                None => return Some(Vec::new()),
            }
        }
        match part {
            ShapePart::Table(members) => Some(members.iter().map(|(name, _)| &**name).collect()),
            ShapePart::Constant(_) => Some(Vec::new()),
            ShapePart::Template(_) | ShapePart::Array(_) => None,
        }
    }

    /// Renders the value.
    ///
    /// # Errors
    ///
    /// The first template that fails.
    pub(crate) fn render(&self, scope: &Scope<'_>) -> Result<Value, Failure> {
        render(&self.root, scope)
    }
}

fn part(tree: &Tree, faults: &mut Vec<Diagnostic>, reads: &mut Reads) -> ShapePart {
    match tree {
        Tree::Text(text) => match Template::parse(text) {
            Ok(template) => {
                reads.join(template.reads_at());
                match template.plain() {
                    Some(text) => ShapePart::Constant(text.into()),
                    None => ShapePart::Template(template),
                }
            }
            Err(fault) => {
                faults.push(*fault);
                ShapePart::Constant(Value::Null)
            }
        },
        Tree::List(items, _) => ShapePart::Array(items.iter().map(|item| part(item, faults, reads)).collect()),
        Tree::Table(members, _) => ShapePart::Table(
            members.iter().map(|(key, value)| (key.value.as_str().into(), part(value, faults, reads))).collect(),
        ),
        Tree::Constant(value, _) => ShapePart::Constant(value.into()),
    }
}

fn render(part: &ShapePart, scope: &Scope<'_>) -> Result<Value, Failure> {
    Ok(match part {
        ShapePart::Template(template) => template.render(scope)?,
        ShapePart::Array(items) => items.iter().map(|item| render(item, scope)).collect::<Result<_, _>>()?,
        ShapePart::Table(members) => {
            let mut object = Members::with_capacity(members.len());
            for (key, value) in members {
                match render(value, scope)? {
                    Value::Null => {}
                    value => object.push(key.clone(), value),
                }
            }
            Value::Object(object.into())
        }
        ShapePart::Constant(value) => value.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Location, Span, Spanned};
    use crate::value::value as json;

    fn spanned(text: &str) -> Spanned<String> {
        Spanned::new(text.to_owned(), Location::response(Span::new(10, 12 + text.len())))
    }

    fn world() -> Value {
        json!({ "key": "k", "n": 3 })
    }

    #[test]
    fn a_shape_leaves_out_none_members() {
        let at = Location::response(Span::new(0, 0));
        let name = |name: &str| Spanned::new(name.to_owned(), at);
        let texts = |texts: &[&str]| Tree::List(texts.iter().map(|text| Tree::Text(spanned(text))).collect(), at);
        let members = vec![
            (name("title"), Tree::Text(spanned("{{ params.key }}"))),
            (name("gone"), Tree::Text(spanned("{{ params.page.title }}"))),
            (name("x"), Tree::Constant(100.into(), at)),
            (name("in"), texts(&["n{{ params.n }}", "plain"])),
        ];
        let tree = Tree::Table(members, at);
        let shape = Shape::parse(&tree).expect("a shape");
        let world = world();
        assert_eq!(
            shape.render(&Scope::new().with("params", &world)),
            Ok(json!({ "title": "k", "x": 100, "in": ["n3", "plain"] }))
        );
        assert_eq!(shape.reads().iter().count(), 3);
        assert_eq!(Shape::parse(&texts(&["{{", "{{"])).err().map(|faults| faults.len()), Some(2));
    }
}
