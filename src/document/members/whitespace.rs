//! White space: where does the next token start?
//!
//! In: the bytes of a response, and an offset in them.
//! Out: the next offset that is not white space, and whether a code fence is there.
//! Never: reads the text there.

use crate::text::{Slice, starts_fence};

/// Whether there is a code fence here.
pub(super) fn is_fence(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(starts_fence)
}

/// The next offset that is not white space, neither of JSON nor of Unicode.
pub(super) fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => 1,
            Some(byte) if !byte.is_ascii() && wide(bytes, at) > 0 => wide(bytes, at),
            _ => return at,
        };
    }
}

/// The length of the white space here that JSON does not allow, such as a no-break space; 0 if there is none.
pub(super) fn wide(bytes: &[u8], at: usize) -> usize {
    match bytes.slice(at..) {
        [0xC2, 0xA0, ..] => 2,
        [0xE2, 0x80, 0x80..=0x8B | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..]
        | [0xEF, 0xBB, 0xBF, ..] => 3,
        _ => 0,
    }
}
