//! Blank: where does what follows start?
//!
//! In: the bytes of a response, and a place in them.
//! Out: the next place that is no white space, and whether a fence stands there.
//! Never: looks at what stands there otherwise.

/// Whether a code fence stands here.
pub(super) fn is_fence(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(b"```"))
}

/// The next place that is no white space.
pub(super) fn blank(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}
