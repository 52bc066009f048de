//! Origins: where does an expression get a value from, and what is it compared with?
//!
//! In: parts of the tree being parsed, and the names bound by statements around them.
//! Out: the path of a part; each [`Noted`] path that is used, or compared with a constant.
//! Never: knows the values, or which values are possible.

use super::parse::{Arg, Parser};
use super::predicates::Test;
use super::reads::{Constant, ENTRY, Noted};
use super::resolve::{ReadStep, ScopeRead};
use super::tree::{ExprTree, Operation, Relation};
use crate::text::Span;
use crate::value::Value;

impl<'s> Parser<'s> {
    /// The path in the scope from which the value of a tree comes unchanged, with [`ENTRY`] for an index or a computed
    /// key; `None` if there is no such path.
    pub(super) fn origin(&self, tree: &ExprTree) -> Option<Vec<String>> {
        let (inside, step) = match (&tree.op, &*tree.parts) {
            (Operation::Read(read), _) => {
                let step = |step: &ReadStep| match step {
                    ReadStep::Key(key) => Some(key.clone()),
                    ReadStep::Index(_) | ReadStep::Of(_) => Some(ENTRY.to_owned()),
                    ReadStep::Length => None,
                };
                return std::iter::once(Some(read.name.clone())).chain(read.steps.iter().map(step)).collect();
            }
            (Operation::Local(number), _) => {
                let mut bindings = self.bindings.iter().filter(|(known, _)| known == number);
                let (_, path) = bindings.next().filter(|_| bindings.next().is_none())?;
                return path.clone();
            }
            (Operation::Item, [base, key]) => (base, Some(key.text().unwrap_or(ENTRY))),
            (Operation::Select(_), [base, ..]) => (base, None),
            // A default with members or entries may have others than the value that it replaces.
            (Operation::Filter(filter), [base, args @ ..])
                if !matches!(filter.name, "d" | "default") || args.iter().all(is_empty) =>
            {
                match filter.name {
                    "d" | "default" | "list" | "reverse" | "sort" | "unique" => (base, None),
                    "first" | "last" | "max" | "min" => (base, Some(ENTRY)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let mut path = self.origin(inside)?;
        path.extend(step.map(str::to_owned));
        Some(path)
    }

    /// Notes that `tree`, or a member of each of its entries, is read. The note is inserted at the index `mark`: before
    /// those that were made while the parts of `tree` were parsed.
    pub(super) fn look(&mut self, mark: usize, tree: &ExprTree, at: Span, member: Option<&str>) {
        let Some(path) = self.origin(tree) else { return };
        let path = match member {
            Some(member) => of_entries(path, member),
            None => path,
        };
        self.notes.inner.insert(mark, Noted { at, file: self.file, path, constant: None });
    }

    /// Notes a comparison of a path with constants.
    pub(super) fn compare(&mut self, relation: Relation, one: &ExprTree, other: &ExprTree) {
        let path = |tree: &ExprTree| {
            let is_path = matches!(tree.op, Operation::Read(_) | Operation::Local(_) | Operation::Item);
            self.origin(tree).filter(|_| is_path)
        };
        match relation {
            Relation::In | Relation::NotIn => {
                let (item, holder) = (path(one), path(other));
                if matches!(other.op, Operation::List) {
                    other.parts.iter().for_each(|constant| self.note(item.clone(), Relation::Equal, constant));
                }
                self.note(holder.map(|path| [path, vec![ENTRY.to_owned()]].concat()), Relation::Equal, one);
            }
            relation => {
                let paths = [(path(one), relation, other), (path(other), relation.turned(), one)];
                paths.into_iter().for_each(|(path, relation, constant)| self.note(path, relation, constant));
            }
        }
    }

    /// Notes that a member of each entry of `list` is compared, as in `selectattr('status', 'eq', 'open')`.
    pub(super) fn compare_entries(&mut self, list: &ExprTree, member: &str, args: &[Arg<'s>]) {
        let [_, Arg { name: None, value: test }, Arg { name: None, value: constant }] = args else { return };
        let relation = test.text().and_then(Test::of).and_then(|test| test.relation);
        if let Some(relation @ (Relation::Equal | Relation::Unequal)) = relation {
            self.note(self.origin(list).map(|path| of_entries(path, member)), relation, constant);
        }
    }

    /// Notes a constant of the pack that is used as patterns.
    pub(super) fn note_pattern(&mut self, read: &ScopeRead) {
        let keys = read.steps.iter().filter_map(|step| match step {
            ReadStep::Key(key) => Some(key.clone()),
            _ => None,
        });
        let path = std::iter::once(read.name.clone()).chain(keys).collect();
        self.notes.patterns.push(Noted { at: read.at, file: read.file, path, constant: None });
    }

    fn note(&mut self, path: Option<Vec<String>>, relation: Relation, tree: &ExprTree) {
        if let (Some(path), Some(constant)) = (path, tree.constant().and_then(Constant::of)) {
            let noted = Noted { at: tree.span, file: self.file, path, constant: Some(constant) };
            self.notes.compared.push((noted, relation));
        }
    }
}

/// The path of a member of each entry of the value at `path`.
fn of_entries(path: Vec<String>, member: &str) -> Vec<String> {
    path.into_iter().chain([ENTRY.to_owned()]).chain(member.split('.').map(str::to_owned)).collect()
}

/// The argument of a filter that names a member of each entry.
pub(super) fn member_of_entries<'t>(filter: &str, args: &'t [Arg<'_>]) -> Option<&'t ExprTree> {
    let by_place = matches!(filter, "selectattr" | "rejectattr");
    let names = |(number, arg): &(usize, &Arg<'_>)| match arg.name {
        Some(name) => name.text == "attribute",
        None => by_place && *number == 0,
    };
    args.iter().enumerate().filter(names).map(|(_, arg)| &arg.value).find(|value| value.text().is_some())
}

/// Whether an argument is a constant without members or entries.
fn is_empty(arg: &ExprTree) -> bool {
    arg.constant().is_some() || (matches!(arg.op, Operation::List) && arg.parts.is_empty())
}

impl Constant {
    /// The constant, if the value is a text, number or boolean.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Constant::Text((**text).to_owned())),
            Value::Number(number) => Some(Constant::Number(super::number::Num::from(number).to_string())),
            Value::Bool(truth) => Some(Constant::Truth(*truth)),
            _ => None,
        }
    }
}
