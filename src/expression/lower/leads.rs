//! Leads: where does an expression get a value from, and what is it compared with?
//!
//! In: parts of the syntax tree being lowered, and the names bound by statements around them.
//! Out: the path of a part; each [`Look`] at a path, and each constant that is [`Compared`] with one.
//! Never: knows which values are there, or may be.

use super::{Lower, span};
use crate::expression::filters::{self, Kept};
use crate::expression::lowered::{Compared, Constant, Look};
use crate::expression::quick::{Test, two_sided};
use crate::expression::reads::ENTRY;
use minijinja::machinery::ast::{CallArg, Expr};

impl<'s> Lower<'s> {
    /// The path of a tree, with [`ENTRY`] for any entry of the list or table before it.
    pub(super) fn leads(&self, tree: &Expr<'s>) -> Option<Vec<String>> {
        let (inside, step) = match tree {
            Expr::Var(var) if self.is_local(var.id) => {
                let mut bindings = self.items.iter().filter(|binding| binding.name == var.id);
                let only = bindings.next().filter(|_| bindings.next().is_none())?;
                return only.path.clone();
            }
            Expr::Var(var) => return Some(vec![var.id.to_owned()]),
            Expr::GetAttr(get) => (&get.expr, Some(get.name)),
            Expr::GetItem(get) => match &get.subscript_expr {
                Expr::Const(key) => (&get.expr, Some(key.value.as_str().unwrap_or(ENTRY))),
                _ => (&get.expr, Some(ENTRY)),
            },
            // A default may be of another kind than the value it stands in for.
            Expr::Filter(filter) if !matches!(filter.name, "d" | "default") || filter.args.iter().all(is_empty) => {
                let step = match filters::kept_by(filter.name)? {
                    Kept::Entries => None,
                    Kept::Entry => Some(ENTRY),
                };
                (filter.expr.as_ref()?, step)
            }
            _ => return None,
        };
        let mut path = self.leads(inside)?;
        path.extend(step.map(str::to_owned));
        Some(path)
    }

    /// Notes that `tree`, or a member of its entries, is used, unless it is a read of the scope.
    pub(super) fn look(&mut self, tree: &Expr<'s>, shown: &Expr<'s>, member: Option<&str>) {
        let is_path = matches!(tree, Expr::GetAttr(_) | Expr::GetItem(_));
        let Some(mut path) = self.leads(tree).filter(|_| is_path || member.is_some()) else { return };
        if let Some(member) = member {
            path.push(ENTRY.to_owned());
            path.extend(member.split('.').map(str::to_owned));
        }
        self.looks.push(Look { at: span(shown), file: self.own_file(), path });
    }

    /// Notes the comparison of two trees, if one is a path and the other a constant.
    pub(super) fn compare(&mut self, one: &Expr<'s>, other: &Expr<'s>) {
        for (path, text) in [(one, other), (other, one)] {
            if let Some(path) = self.leads_plainly(path) {
                self.note_compared(&path, text);
            }
        }
    }

    /// Notes the test whether `one` is in `many`, if one is a path and the other holds constants.
    pub(super) fn compare_among(&mut self, one: &Expr<'s>, many: &Expr<'s>) {
        if let (Some(path), Expr::List(list)) = (self.leads_plainly(one), many) {
            list.items.iter().for_each(|text| self.note_compared(&path, text));
        }
        if let Some(mut path) = self.leads_plainly(many) {
            path.push(ENTRY.to_owned());
            self.note_compared(&path, one);
        }
    }

    /// Notes the comparison that a test makes, by its name.
    pub(super) fn compare_by(&mut self, test: &str, one: &Expr<'s>, other: &Expr<'s>) {
        match two_sided(test) {
            Some(Test::Equal | Test::Unequal) => self.compare(one, other),
            Some(Test::In) => self.compare_among(one, other),
            _ => {}
        }
    }

    /// Notes that a member of each entry of `list` is compared, as in `selectattr('status', 'eq', 'open')`.
    pub(super) fn compare_entries(&mut self, list: &Expr<'s>, member: &str, args: &[CallArg<'s>]) {
        let [_, CallArg::Pos(Expr::Const(test)), CallArg::Pos(text)] = args else { return };
        if matches!(test.value.as_str().and_then(two_sided), Some(Test::Equal | Test::Unequal))
            && let Some(mut path) = self.leads(list)
        {
            path.push(ENTRY.to_owned());
            path.extend(member.split('.').map(str::to_owned));
            self.note_compared(&path, text);
        }
    }

    /// The path of a tree, if the tree can have no other value.
    fn leads_plainly(&self, tree: &Expr<'s>) -> Option<Vec<String>> {
        let is_path = matches!(tree, Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_));
        self.leads(tree).filter(|_| is_path)
    }

    fn note_compared(&mut self, path: &[String], tree: &Expr<'s>) {
        let Expr::Const(value) = tree else { return };
        let Some(constant) = Constant::of(&value.value) else { return };
        self.compared.push(Compared { at: span(tree), file: self.own_file(), path: path.to_vec(), constant });
    }
}

/// Whether an argument is a constant without members or entries.
fn is_empty(arg: &CallArg<'_>) -> bool {
    match arg {
        CallArg::Pos(Expr::Const(_)) => true,
        CallArg::Pos(Expr::List(list)) => list.items.is_empty(),
        _ => false,
    }
}
