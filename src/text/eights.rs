//! Eights: where in a text is the next of these bytes, found eight at a time?
//!
//! In: bytes, and a predicate for eight of them at a time.
//! Out: the index of the first match.
//! Never: allocates, or knows what the bytes mean.
//!
//! Eight bytes in one number are compared at once. For runs of a few dozen bytes, such as strings and names, that is
//! faster than a vectorized search with its set-up; byte by byte, an answer whose calls are JSON takes a tenth more
//! instructions.

/// The lowest and the highest bit of each of eight bytes.
const LOWEST: u64 = u64::from_le_bytes([0x01; 8]);
const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);

/// Sets the highest bit of each of eight bytes that is less than `limit`, which is at most 128. Exact only up to the
/// first match, the lowest: a borrow from it can reach the bytes above it.
pub(crate) fn below(limit: u8, eight: u64) -> u64 {
    eight.wrapping_sub(LOWEST * u64::from(limit)) & !eight & HIGHEST
}

/// Sets the highest bit of each of eight bytes that equals `byte`. Exact only up to the first match, the lowest.
pub(crate) fn equal(byte: u8, eight: u64) -> u64 {
    below(1, eight ^ (LOWEST * u64::from(byte)))
}

/// The index of the first match: eight bytes at a time by `found`, the remaining ones by `is_found`.
pub(crate) fn first(bytes: &[u8], found: impl Fn(u64) -> u64, is_found: impl Fn(u8) -> bool) -> Option<usize> {
    let (eights, rest) = bytes.as_chunks();
    for (number, eight) in eights.iter().enumerate() {
        if let Some(place) = place_in(found(u64::from_le_bytes(*eight))) {
            return Some(8 * number + place);
        }
    }
    rest.iter().position(|byte| is_found(*byte)).map(|found| bytes.len() - rest.len() + found)
}

/// Like `first`, but uses `far` after the first 32 bytes.
pub(crate) fn near_or_far(
    bytes: &[u8],
    found: impl Fn(u64) -> u64,
    far: impl FnOnce(&[u8]) -> Option<usize>,
) -> Option<usize> {
    // Most runs are shorter than this: `memchr` pays for its set-up only in longer ones.
    const SHORT_RUN: usize = 4;
    let (eights, _) = bytes.as_chunks();
    let mut at = 0;
    for eight in eights.iter().take(SHORT_RUN) {
        if let Some(place) = place_in(found(u64::from_le_bytes(*eight))) {
            return Some(at + place);
        }
        at += eight.len();
    }
    Some(at + far(bytes.get(at..)?)?)
}

/// The index of the first of eight bytes whose highest bit is set.
fn place_in(bits: u64) -> Option<usize> {
    (bits != 0).then(|| bits.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eight_at_a_time_is_the_same_as_one_by_one(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'a')], 0..70),
            limit in 1_u8..=128,
            one in any::<u8>(),
        ) {
            let is_found = |byte: u8| byte < limit || byte == one;
            let found = |eight| below(limit, eight) | equal(one, eight);
            let slow = bytes.iter().position(|byte| is_found(*byte));
            prop_assert_eq!(first(&bytes, found, is_found), slow);
            let far = |far: &[u8]| far.iter().position(|byte| is_found(*byte));
            prop_assert_eq!(near_or_far(&bytes, found, far), slow);
        }
    }
}
