//! Search state: where is something in a text that is still arriving?
//!
//! In: how far the text has been searched, and what was found.
//! Out: [`SearchState`].
//! Never: searches.

/// The state of a search for an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchState {
    FoundAt(usize),
    /// It is not before this offset, where the search continues.
    NotBefore(usize),
}
