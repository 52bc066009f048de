//! Pages: what does `explain CODE` say?
//!
//! In: the Markdown files of `docs/codes`, embedded.
//! Out: [`Page`] by code.
//! Never: runs the snippets of a page; a test does.

/// One page of explanation.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The code it explains.
    pub code: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

/// Every page, by code.
pub fn pages() -> &'static [Page] {
    &[]
}

/// The page of `code`.
pub fn page(code: &str) -> Option<&'static Page> {
    pages().iter().find(|page| page.code == code)
}
