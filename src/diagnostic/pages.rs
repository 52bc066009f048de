//! Pages: what does `explain CODE` print?
//!
//! In: the Markdown files of `docs/codes`, which the tables of codes and names include.
//! Out: a [`Page`] for each code.
//! Never: runs the snippets of a page; a test does.

use super::{Defect, Remark, Strategy, codes};
use std::sync::LazyLock;

/// A page that explains a code or a strategy.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Page {
    /// What the page explains: a code with its area, or the name of a strategy.
    pub code: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

/// The page that all faults declared by grammars share.
const FAULT: Page = Page { code: "response/fault", text: include_str!("../../docs/codes/response/fault.md") };

static PAGES: LazyLock<Vec<Page>> =
    LazyLock::new(|| [codes::PAGES, Defect::PAGES, Remark::PAGES, &[FAULT], Strategy::PAGES].concat());

/// Every page, in the order of the tables.
pub fn pages() -> &'static [Page] {
    &PAGES
}

/// The page of `code`, if there is one. All faults that grammars declare share a page.
pub fn page(code: &str) -> Option<&'static Page> {
    let of_grammar = code.starts_with("response/fault-");
    let code = if of_grammar { FAULT.code } else { code };
    pages().iter().find(|page| page.code == code)
}
