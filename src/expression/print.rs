//! Printing: how is a value written as text?
//!
//! In: an [`Item`].
//! Out: its text as Jinja or JSON writes it, or its value.
//! Never: writes more bytes than the evaluation may still allocate.

use super::evaluator::{Evaluator, Made};
use super::item::{Item, SortClass};
use super::limits::{Halt, NODE_WEIGHT};
use super::number::Num;
use crate::text::quoted;
use crate::value::{Members, Value};
use std::borrow::Cow;
use std::fmt::Write as _;

impl<'v> Evaluator<'v> {
    /// The text of a value as Jinja writes it: that of `none` is `None`, and texts inside a list are in quotes.
    pub(super) fn written<'i>(&self, item: &'i Item<'_>) -> Result<Cow<'i, str>, Halt> {
        if let Some(text) = item.text() {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = String::new();
        self.write(item, &mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Appends the text of a value.
    pub(super) fn write(&self, item: &Item<'_>, out: &mut String) -> Result<(), Halt> {
        match (item.text(), item.number()) {
            (Some(text), _) => self.push(text, out),
            (_, Some(number)) => {
                let before = out.len();
                let _ = write!(out, "{number}");
                self.make(out.len() - before)
            }
            _ => self.quote(item, out),
        }
    }

    pub(super) fn push(&self, text: &str, out: &mut String) -> Result<(), Halt> {
        self.make(text.len())?;
        out.push_str(text);
        Ok(())
    }

    /// Appends a value as it is written inside a list.
    fn quote(&self, item: &Item<'_>, out: &mut String) -> Result<(), Halt> {
        self.step(1)?;
        match item.kind() {
            SortClass::None => self.push("None", out),
            SortClass::Truth => self.push(if item.is_true() { "True" } else { "False" }, out),
            SortClass::Number => match item.number() {
                Some(Num::Float(float)) => self.push(&format!("{float:?}"), out),
                number => self.push(&number.unwrap_or(Num::Whole(0)).to_string(), out),
            },
            SortClass::Text => {
                let text = item.text().unwrap_or_default();
                self.make(text.len())?;
                let before = out.len();
                quoted(text, out);
                self.make((out.len() - before).saturating_sub(text.len()))
            }
            SortClass::List => {
                self.push("[", out)?;
                self.make(NODE_WEIGHT * item.len().unwrap_or_default())?;
                for (number, item) in item.items().into_iter().flatten().enumerate() {
                    self.push(if number == 0 { "" } else { ", " }, out)?;
                    self.quote(&item, out)?;
                }
                self.push("]", out)
            }
            SortClass::Table => {
                self.push("{", out)?;
                self.make(2 * NODE_WEIGHT * item.len().unwrap_or_default())?;
                for (number, (name, item)) in item.members().into_iter().flatten().enumerate() {
                    self.push(if number == 0 { "" } else { ", " }, out)?;
                    self.quote(&name, out)?;
                    self.push(": ", out)?;
                    self.quote(&item, out)?;
                }
                self.push("}", out)
            }
        }
    }

    /// Appends a value as a template prints it: `none` as nothing, and anything but texts and numbers as JSON.
    pub(super) fn print(&self, item: &Item<'_>, out: &mut String) -> Result<(), Halt> {
        match item.kind() {
            SortClass::None => Ok(()),
            SortClass::Text | SortClass::Number => self.write(item, out),
            SortClass::Truth => self.push(if item.is_true() { "true" } else { "false" }, out),
            SortClass::List | SortClass::Table => self.json(item).map(|json| out.push_str(&json)),
        }
    }

    /// The JSON of a value.
    pub(super) fn json(&self, item: &Item<'_>) -> Result<String, Halt> {
        let mut out = JsonPrinter { bytes: Vec::new(), run: self, halt: None };
        let value;
        let written = match item {
            Item::Ref(value) => serde_json::to_writer(&mut out, value),
            Item::Own(value) => serde_json::to_writer(&mut out, value),
            other => {
                value = self.value(other.clone())?;
                serde_json::to_writer(&mut out, &value)
            }
        };
        match (out.halt, written) {
            (Some(halt), _) => Err(halt),
            (None, Err(error)) => Err(Halt::new(error.to_string())),
            (None, Ok(())) => String::from_utf8(out.bytes).map_err(|error| Halt::new(error.to_string())),
        }
    }

    /// The value of an item.
    pub(super) fn value(&self, item: Item<'_>) -> Result<Value, Halt> {
        Ok(match item {
            Item::Ref(value) => value.clone(),
            Item::Own(value) => value,
            Item::Text(text) => {
                self.make(NODE_WEIGHT + text.len())?;
                text.into()
            }
            Item::Wide(number) => {
                let words = match *number {
                    Num::Whole(_) => "a number is too large for 64 bits",
                    Num::Float(_) => "a number is not finite",
                };
                return Err(Halt::new(words));
            }
            Item::Table(ref table) => {
                self.make(2 * NODE_WEIGHT * table.members.as_slice().len())?;
                let mut members = Members::with_capacity(table.members.as_slice().len());
                for (name, item) in table.members.as_slice() {
                    members.push(name.clone(), self.value(item.clone())?);
                }
                Value::Object(members.into())
            }
            list => {
                self.make(NODE_WEIGHT * list.len().unwrap_or_default())?;
                let items = list.into_items().unwrap_or_default();
                items.into_iter().map(|item| self.value(item)).collect::<Result<_, _>>()?
            }
        })
    }

    /// The value of an item as the result of the evaluation: its bytes are charged to the budget of the occasion.
    pub(super) fn owned_value(&self, item: Item<'_>) -> Result<Value, Halt> {
        let (made, before) = (item.made(), self.bytes.get());
        let value = self.value(item)?;
        self.charge_stored(made + self.bytes.get() - before)?;
        Ok(value)
    }

    /// A new text, whose bytes are charged.
    pub(super) fn text(&self, text: impl Into<String>) -> Made<'v> {
        let text: String = text.into();
        self.make(text.len())?;
        Ok(text.into())
    }
}

/// A writer of JSON that stops when a limit is reached.
struct JsonPrinter<'r, 'v> {
    bytes: Vec<u8>,
    run: &'r Evaluator<'v>,
    halt: Option<Halt>,
}

impl std::io::Write for JsonPrinter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Err(halt) = self.run.make(bytes.len()) {
            self.halt = Some(halt);
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
