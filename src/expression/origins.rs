//! Origins: where does an expression get a value from, and what is it compared with?
//!
//! In: parts of the tree being compiled, and the names bound by statements around them.
//! Out: the path of a part; each [`Look`] at a path, and each constant that is [`Compared`] with one.
//! Never: knows which values are there, or may be.

use super::code::{Compared, Constant, Look};
use super::compile::{Compiler, is_equality};
use super::filters::{Filter, Kept};
use super::predicates::Test;
use super::reads::ENTRY;
use super::syntax::{Arg, Expr, Kind, Relation};
use crate::text::Span;
use crate::value::Value;

impl<'s> Compiler<'s> {
    /// The path of a tree, with [`ENTRY`] for any entry of the list or table before it.
    pub(super) fn origin(&self, tree: &Expr<'s>) -> Option<Vec<String>> {
        let (inside, step) = match &tree.kind {
            Kind::Name(name) if self.is_local(name) => {
                let mut bindings = self.bindings.iter().filter(|binding| binding.name == *name);
                let only = bindings.next().filter(|_| bindings.next().is_none())?;
                return only.path.clone();
            }
            Kind::Name(name) => return Some(vec![(*name).to_owned()]),
            Kind::Member(base, key) => (&**base, Some(key.text)),
            Kind::Item(parts) => {
                let [base, key] = &**parts;
                (base, Some(key.text().unwrap_or(ENTRY)))
            }
            // A default may be of another kind than the value it stands in for.
            Kind::Filter(call) if !matches!(call.name.text, "d" | "default") || call.args.iter().all(is_empty) => {
                let step = match Filter::kept(call.name.text)? {
                    Kept::Entries => None,
                    Kept::Entry => Some(ENTRY),
                };
                (&call.base, step)
            }
            _ => return None,
        };
        let mut path = self.origin(inside)?;
        path.extend(step.map(str::to_owned));
        Some(path)
    }

    /// Notes that `tree`, or a member of its entries, is used, unless it is a read of the scope.
    pub(super) fn look(&mut self, tree: &Expr<'s>, at: Span, member: Option<&str>) {
        let is_part = matches!(tree.kind, Kind::Member(..) | Kind::Item(_));
        let Some(mut path) = self.origin(tree).filter(|_| is_part || member.is_some()) else { return };
        if let Some(member) = member {
            path.push(ENTRY.to_owned());
            path.extend(member.split('.').map(str::to_owned));
        }
        self.looks.push(Look { at, file: self.own_file(), path });
    }

    /// Notes a comparison of a path with constants.
    pub(super) fn compare(&mut self, relation: Relation, one: &Expr<'s>, other: &Expr<'s>) {
        match relation {
            Relation::Equal | Relation::Unequal => {
                for (path, constant) in [(one, other), (other, one)] {
                    if let Some(path) = self.origin(path).filter(|_| path.is_path()) {
                        self.note_compared(&path, constant);
                    }
                }
            }
            Relation::In | Relation::NotIn => {
                if let (Some(path), Kind::List(items)) = (self.origin(one).filter(|_| one.is_path()), &other.kind) {
                    items.iter().for_each(|item| self.note_compared(&path, item));
                }
                if let Some(mut path) = self.origin(other).filter(|_| other.is_path()) {
                    path.push(ENTRY.to_owned());
                    self.note_compared(&path, one);
                }
            }
            _ => {}
        }
    }

    /// Notes that a member of each entry of `list` is compared, as in `selectattr('status', 'eq', 'open')`.
    pub(super) fn compare_entries(&mut self, list: &Expr<'s>, member: &str, args: &[Arg<'s>]) {
        let [_, Arg { name: None, value: test }, Arg { name: None, value: constant }] = args else { return };
        let relation = test.text().and_then(Test::of).and_then(|test| test.relation);
        if relation.is_some_and(is_equality)
            && let Some(mut path) = self.origin(list)
        {
            path.push(ENTRY.to_owned());
            path.extend(member.split('.').map(str::to_owned));
            self.note_compared(&path, constant);
        }
    }

    fn note_compared(&mut self, path: &[String], tree: &Expr<'s>) {
        let Some(constant) = tree.constant().and_then(Constant::of) else { return };
        self.compared.push(Compared { at: tree.span, file: self.own_file(), path: path.to_vec(), constant });
    }
}

/// Whether an argument is a constant without members or entries.
fn is_empty(arg: &Arg<'_>) -> bool {
    match &arg.value.kind {
        Kind::Const(_) => arg.name.is_none(),
        Kind::List(items) => arg.name.is_none() && items.is_empty(),
        _ => false,
    }
}

impl Constant {
    /// The constant, if the value is a text, number or boolean.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Constant::Text((**text).to_owned())),
            Value::Number(number) => Some(Constant::Number(super::number::Num::from(number).to_string())),
            Value::Bool(truth) => Some(Constant::Truth(*truth)),
            _ => None,
        }
    }
}
