//! Renderer: which text do the statements of a template write?
//!
//! In: [`Statements`], a scope, and a callback that writes the values of a document.
//! Out: the text.
//! Never: writes more bytes than the evaluation may allocate.

use super::evaluator::{Evaluator, LoopFrame};
use super::item::{Item, SortClass};
use super::limits::Halt;
use super::tree::{Each, ExprBody, Print, Statement, Statements};
use super::{Failure, Scope};
use std::borrow::Cow;

/// Renders a body of statements. `length` is the expected length of the text, in bytes.
pub(super) fn text<'v>(
    body: &'v ExprBody,
    scope: &'v Scope<'v>,
    length: usize,
    place: PlaceWriter<'_>,
) -> Result<String, Failure> {
    let mut sheet = Renderer { run: Evaluator::new(body, scope), place, out: String::with_capacity(length) };
    if let ExprBody::Text(page) = body {
        sheet.page(page).map_err(|halt| halt.outside(body, scope))?;
    }
    Ok(sheet.out)
}

/// Appends a value that is printed at the document's place with this index.
pub(crate) type PlaceWriter<'p> = &'p mut dyn FnMut(usize, &Printed<'_>, &mut String);

/// A value that is printed at a place.
pub(crate) struct Printed<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Whether it is a boolean or a number, which needs no escaping anywhere.
    pub(crate) is_bare: bool,
}

/// Writes the text of statements.
struct Renderer<'v, 'p> {
    run: Evaluator<'v>,
    place: PlaceWriter<'p>,
    out: String,
}

impl<'v> Renderer<'v, '_> {
    fn page(&mut self, page: &'v Statements) -> Result<(), Halt> {
        page.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'v Statement) -> Result<(), Halt> {
        self.run.step(1)?;
        match node {
            Statement::Text(text) => self.run.push(text, &mut self.out),
            Statement::Print(tree, print) => {
                let item = self.run.item(tree)?;
                self.print(&item, *print)
            }
            Statement::If(test, then, other) => {
                let holds = self.run.item(test)?.is_true();
                self.page(if holds { then } else { other })
            }
            Statement::Set(name, tree) => {
                let item = self.run.item(tree)?;
                self.set(*name, item);
                Ok(())
            }
            Statement::Each(each) => self.each(each),
            Statement::Part(_, page) => self.page(page),
        }
    }

    fn set(&mut self, name: usize, item: Item<'v>) {
        let frames = self.run.frames.get_mut();
        if frames.is_empty() {
            frames.push(LoopFrame::default());
        }
        if let Some(frame) = frames.last_mut() {
            frame.set(name, item);
        }
    }

    fn each(&mut self, each: &'v Each) -> Result<(), Halt> {
        let items = self.run.item(&each.items)?;
        let mut items = self.run.each(items)?;
        if let Some(when) = &each.when {
            let mut wanted = Vec::new();
            self.run.frames.get_mut().push(LoopFrame::default());
            for item in items {
                self.bind(each, item.clone())?;
                if self.run.item(when)?.is_true() {
                    wanted.push(item);
                }
            }
            // The names that were bound for the condition are unbound before the first iteration.
            self.run.frames.get_mut().pop();
            items = wanted;
        }
        let length = items.len();
        self.run.frames.get_mut().push(LoopFrame::default());
        for (index, item) in items.into_iter().enumerate() {
            if let Some(frame) = self.run.frames.get_mut().last_mut() {
                frame.start(index, length);
            }
            self.bind(each, item)?;
            self.page(&each.body)?;
        }
        self.run.frames.get_mut().pop();
        if length == 0 { self.page(&each.otherwise) } else { Ok(()) }
    }

    /// Binds the names of a loop to an item.
    fn bind(&mut self, each: &'v Each, item: Item<'v>) -> Result<(), Halt> {
        if let (true, [name]) = (each.alone, each.names.as_slice()) {
            self.set(*name, item);
            return Ok(());
        }
        // Fast path: most loops with two names iterate over the members of a table.
        if let (Item::Pair((name, value)), [first, second]) = (&item, each.names.as_slice()) {
            self.set(*first, Item::Text(name));
            self.set(*second, Item::Ref(value));
            return self.run.step(2);
        }
        if !matches!(item.kind(), SortClass::List | SortClass::Table) {
            return Err(Halt::failed(format!("{} has no parts for the names of the loop", item.noun())));
        }
        let parts = self.run.each(item)?;
        if parts.len() != each.names.len() {
            let (names, parts) = (each.names.len(), parts.len());
            return Err(Halt::failed(format!("sequence of wrong length (expected {names}, got {parts})")));
        }
        each.names.iter().zip(parts).for_each(|(name, part)| self.set(*name, part));
        Ok(())
    }

    fn print(&mut self, item: &Item<'v>, print: Print) -> Result<(), Halt> {
        let (place, json) = match print {
            Print::Value => return self.run.print(item, &mut self.out),
            Print::Text if item.is_none() => return Ok(()),
            Print::Text => return self.run.write(item, &mut self.out),
            Print::Placed { place, json } => (place, json),
        };
        let text = match item.kind() {
            SortClass::None => Cow::Borrowed(""),
            SortClass::Truth => Cow::Borrowed(if item.is_true() { "true" } else { "false" }),
            SortClass::List | SortClass::Table if json => Cow::Owned(self.run.json(item)?),
            _ => self.run.written(item)?,
        };
        let (start, length) = (self.out.len(), text.len());
        self.run.make(length)?;
        let is_bare = matches!(item.kind(), SortClass::Truth | SortClass::Number);
        (self.place)(place, &Printed { text, is_bare }, &mut self.out);
        self.run.make((self.out.len() - start).saturating_sub(length))
    }
}
