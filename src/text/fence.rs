//! Fence: does a text start with a code fence?
//!
//! In: the rest of a text.
//! Out: yes or no.
//! Never: decides whether the fence opens, closes or quotes anything.

/// Whether a text starts with the marks of a code fence, as CommonMark has them: three backticks or tildes.
pub(crate) fn starts_fence(rest: &[u8]) -> bool {
    rest.starts_with(b"```") || rest.starts_with(b"~~~")
}
