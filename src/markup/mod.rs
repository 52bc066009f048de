//! Markup: how do values enter the text of a prompt without becoming part of its structure?
//!
//! In: whole files of templates, the text of values, and how the dialects of a pack open and close their blocks.
//! Out: [`TemplateDocument`], a file that is rendered with every value escaped for its place; [`Escape`], for other
//! texts.
//! Never: treats a dialect specially by its name, or reads an answer.

mod document;
mod escape;
mod pages;
mod place;
mod turn_labels;

pub(crate) use document::TemplateDocument;
pub(crate) use escape::{Escape, Guarding, Marking, MarkupStart};
pub(crate) use pages::Library;
pub(crate) use turn_labels::break_turn_labels;
