//! Sheets: which text do the statements of a template write?
//!
//! In: a [`Page`], a scope, and how values are escaped in a document.
//! Out: the text, and the places of values in it.
//! Never: writes more than the evaluation may make.

use super::code::{Each, Node, Page, Print};
use super::escape::{Escape, Places};
use super::item::{Item, Kind};
use super::limits::Halt;
use super::resolve::Read;
use super::run::{Frame, Run};
use super::{Failure, Scope};
use std::borrow::Cow;

/// The text of a page, which may have about so many bytes, and the places of values in it.
pub(super) fn text(
    page: &Page,
    reads: &[Read],
    scope: &Scope<'_>,
    escape: Option<&Escape>,
    length: usize,
) -> Result<(String, Places), Failure> {
    let run = Run::new(reads, scope);
    let mut sheet = Sheet { run, escape, out: String::with_capacity(length), places: Places::default() };
    sheet.page(page).map_err(|halt| halt.outside(reads, scope))?;
    Ok((sheet.out, sheet.places))
}

/// A text being written.
struct Sheet<'v> {
    run: Run<'v>,
    escape: Option<&'v Escape>,
    out: String,
    places: Places,
}

impl<'v> Sheet<'v> {
    fn page(&mut self, page: &'v Page) -> Result<(), Halt> {
        page.0.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'v Node) -> Result<(), Halt> {
        self.run.step(1)?;
        match node {
            Node::Text(text) => self.run.push(text, &mut self.out),
            Node::Print(code, print) => {
                let item = self.run.item(code)?;
                self.print(&item, print)
            }
            Node::If(test, then, other) => {
                let holds = self.run.item(test)?.is_true();
                self.page(if holds { then } else { other })
            }
            Node::Set(name, code) => {
                let item = self.run.item(code)?;
                self.set(*name, item);
                Ok(())
            }
            Node::Each(each) => self.each(each),
            Node::Part(page) => self.page(page),
        }
    }

    fn set(&mut self, name: usize, item: Item<'v>) {
        let frames = self.run.frames.get_mut();
        if frames.is_empty() {
            frames.push(Frame::default());
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
            self.run.frames.get_mut().push(Frame::default());
            for item in items {
                self.bind(each, item.clone())?;
                if self.run.item(when)?.is_true() {
                    wanted.push(item);
                }
            }
            // The names of the loop's filter are gone before its first turn.
            self.run.frames.get_mut().pop();
            items = wanted;
        }
        let length = items.len();
        self.run.frames.get_mut().push(Frame::default());
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
        if !matches!(item.kind(), Kind::List | Kind::Table) {
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

    fn print(&mut self, item: &Item<'v>, print: &Print) -> Result<(), Halt> {
        let start = self.out.len();
        let escape = self.escape;
        let (slot, dialect) = match print {
            Print::Value => return self.run.print(item, &mut self.out),
            Print::Markup if item.is_none() => return Ok(()),
            Print::Markup => return self.run.write(item, &mut self.out),
            Print::Slot(slot) => (*slot, None),
            Print::Guarded(dialect) => (super::escape::Slot::Text, Some(dialect)),
        };
        let text = match item.kind() {
            Kind::None => Cow::Borrowed(""),
            Kind::Truth => Cow::Borrowed(if item.is_true() { "true" } else { "false" }),
            Kind::Text | Kind::Number => self.run.written(item)?,
            Kind::List | Kind::Table if dialect.is_some() => self.run.written(item)?,
            Kind::List | Kind::Table => Cow::Owned(self.run.json(item)?),
        };
        let is_bare = matches!(item.kind(), Kind::Truth | Kind::Number);
        self.run.make(text.len())?;
        match (escape, dialect) {
            (Some(escape), Some(dialect)) => {
                self.out.push_str(&escape.guarded(dialect, &text).unwrap_or_default());
            }
            (Some(escape), None) if !is_bare => escape.write(&text, slot, &mut self.out),
            _ => self.out.push_str(&text),
        }
        self.run.make((self.out.len() - start).saturating_sub(text.len()))?;
        self.places.add(start..self.out.len(), dialect.is_some());
        Ok(())
    }
}
