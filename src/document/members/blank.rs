//! Blank: where does the next piece start?
//!
//! In: the bytes of a response, and a place in them.
//! Out: the next place that is not white space, and whether a fence is there.
//! Never: looks at anything else there.

/// Whether there is a code fence here.
pub(super) fn is_fence(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(b"```"))
}

/// The next place that is not white space.
pub(super) fn blank(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}
