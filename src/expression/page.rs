//! Pages: what does a template with only simple parts render to, without the engine?
//!
//! In: the lowered statements of a template, and a scope.
//! Out: [`Page`], and its text; none if only the engine can tell.
//! Never: fails, or differs from the engine.

use super::escape::{Escape, Places};
use super::held::Held;
use super::lowered::{Each, Form, Lowered, Node, Page, Print};
use super::run::{Frame, Run};
use super::scale::{self, OUTPUT};
use super::{Scope, engine};
use crate::value::Value;
use std::borrow::Cow;

/// The text of a template, and the places of values in it; none if only the engine can tell.
pub(super) fn text(lowered: &Lowered, scope: &Scope<'_>, escape: Option<&Escape>) -> Option<(String, Places)> {
    let Form::Text(_, page) = &lowered.form else { return None };
    let mut sheet =
        Sheet { run: Run::new(&lowered.reads, scope), escape, out: String::new(), places: Places::default() };
    sheet.run.frames.borrow_mut().push(Frame::default());
    sheet.page(page.as_ref()?)?;
    Some((sheet.out, sheet.places))
}

/// A page being written.
struct Sheet<'j> {
    run: Run<'j>,
    escape: Option<&'j Escape>,
    out: String,
    places: Places,
}

impl<'j> Sheet<'j> {
    fn page(&mut self, page: &'j Page) -> Option<()> {
        page.0.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'j Node) -> Option<()> {
        self.run.take(1)?;
        match node {
            Node::Text(text) => self.out.push_str(text),
            Node::Print(quick, form) => {
                let value = self.run.value(quick)?;
                self.print(&value, form)?;
            }
            Node::If(test, then, other) => {
                let holds = self.run.value(test)?.is_true();
                self.page(if holds { then } else { other })?;
            }
            Node::Set(name, quick) => {
                let value = self.run.value(quick)?;
                self.set(*name, value);
            }
            Node::Each(each) => self.each(each)?,
            Node::Part(page) => self.page(page)?,
        }
        let length = self.out.len();
        (length <= OUTPUT || length <= scale::output(self.run.size())).then_some(())
    }

    fn set(&mut self, name: usize, value: Held<'j>) {
        if let Some(frame) = self.run.frames.get_mut().last_mut() {
            frame.set(name, value);
        }
    }

    fn each(&mut self, each: &'j Each) -> Option<()> {
        let items = match self.run.value(&each.items)? {
            Held::Value(Cow::Borrowed(Value::Object(members))) => {
                self.run.take(members.len())?;
                members.keys().map(Held::Text).collect()
            }
            list => self.run.items(list)?,
        };
        self.run.frames.get_mut().push(Frame::default());
        let items = match &each.when {
            None => items,
            Some(when) => {
                let mut kept = Vec::new();
                for item in items {
                    self.bind(each, item.clone())?;
                    if self.run.value(when)?.is_true() {
                        kept.push(item);
                    }
                }
                // The names of the loop's filter are gone before its first turn.
                self.run.frames.get_mut().pop();
                self.run.frames.get_mut().push(Frame::default());
                kept
            }
        };
        let length = items.len();
        for (index, item) in items.into_iter().enumerate() {
            if let Some(frame) = self.run.frames.get_mut().last_mut() {
                frame.turn = Some((index, length));
            }
            self.bind(each, item)?;
            self.page(&each.body)?;
        }
        self.run.frames.get_mut().pop();
        if length == 0 { self.page(&each.otherwise) } else { Some(()) }
    }

    /// Binds the names of a loop to an item.
    fn bind(&mut self, each: &'j Each, item: Held<'j>) -> Option<()> {
        if let (true, [name]) = (each.alone, each.names.as_slice()) {
            self.set(*name, item);
            return Some(());
        }
        let parts = match item {
            Held::Pair(key, value) => vec![Held::Text(key), Held::Value(Cow::Borrowed(value))],
            Held::List(parts) => parts,
            Held::Value(Cow::Borrowed(Value::Array(parts))) => {
                parts.iter().map(|part| Held::Value(Cow::Borrowed(part))).collect()
            }
            _ => return None,
        };
        if parts.len() != each.names.len() {
            return None;
        }
        each.names.iter().zip(parts).for_each(|(name, part)| self.set(*name, part));
        Some(())
    }

    fn print(&mut self, value: &Held<'j>, form: &Print) -> Option<()> {
        let start = self.out.len();
        match (form, self.escape) {
            (Print::Markup, _) if value.is_none() => {}
            (Print::Jinja | Print::Markup, _) => self.out.push_str(&written(value)?),
            (Print::Slot(slot), Some(escape)) => match value.text() {
                Some(text) => escape.write(text, *slot, &mut self.out),
                None => self.out.push_str(&written(value)?),
            },
            (Print::Guarded(dialect), Some(escape)) => self.out.push_str(&escape.guarded(dialect, &written(value)?)?),
            (Print::Slot(_) | Print::Guarded(_), None) => return None,
        }
        if let Print::Slot(_) | Print::Guarded(_) = form {
            self.places.add(start..self.out.len(), matches!(form, Print::Guarded(_)));
        }
        Some(())
    }
}

/// A value as it is printed; none for lists and tables, whose size only the engine limits.
fn written<'v>(value: &'v Held<'_>) -> Option<Cow<'v, str>> {
    if let Some(text) = value.text() {
        return Some(Cow::Borrowed(text));
    }
    match value {
        none if none.is_none() => Some(Cow::Borrowed("")),
        Held::Value(json) => match &**json {
            Value::Bool(truth) => Some(Cow::Borrowed(if *truth { "true" } else { "false" })),
            Value::Number(_) => engine::written(json).map(Cow::Owned),
            _ => None,
        },
        _ => None,
    }
}
