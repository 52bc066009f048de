//! Chunked vectors: how can a long list grow without being moved?
//!
//! In: items in order.
//! Out: [`ChunkedVec`], a list that allocates chunk by chunk, and frees its first chunks when they are no longer
//! needed.
//! Never: uses more memory than its items and one more chunk need.
//!
//! While a list that doubles its capacity is moved, it needs three times its size: too much if there is an item every
//! few bytes.

use std::collections::VecDeque;

/// The items of a chunk. The first chunk starts smaller, with up to this many bytes, and grows like any list.
const ITEMS_PER_CHUNK: usize = 256;
const FIRST_CHUNK_BYTES: usize = 768;

/// A list in chunks. When the first items are dropped, the others retain their indexes.
#[derive(Debug)]
pub(crate) struct ChunkedVec<T> {
    /// The first chunk that has not been dropped; most lists have no other.
    first: Vec<T>,
    further: VecDeque<Vec<T>>,
    /// The number of dropped items: always those of whole chunks.
    forgotten: usize,
    len: usize,
}

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        Self { first: Vec::new(), further: VecDeque::new(), forgotten: 0, len: 0 }
    }
}

impl<T> ChunkedVec<T> {
    /// The number of items, including dropped ones.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item at this index, unless it has been dropped.
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let index = index.checked_sub(self.forgotten)?;
        if index < ITEMS_PER_CHUNK { self.first.get(index) } else { self.further(index) }
    }

    /// The item at this index, counted after the dropped ones, if it is not in the first chunk.
    #[cold]
    #[inline(never)]
    fn further(&self, index: usize) -> Option<&T> {
        self.further.get(index / ITEMS_PER_CHUNK - 1)?.get(index % ITEMS_PER_CHUNK)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let index = index.checked_sub(self.forgotten)?;
        if index < ITEMS_PER_CHUNK {
            return self.first.get_mut(index);
        }
        self.further.get_mut(index / ITEMS_PER_CHUNK - 1)?.get_mut(index % ITEMS_PER_CHUNK)
    }

    pub(crate) fn push(&mut self, one: T) {
        if self.len.is_multiple_of(ITEMS_PER_CHUNK) && self.len > self.forgotten {
            self.further.push_back(Vec::with_capacity(ITEMS_PER_CHUNK));
        }
        let last = self.further.back_mut().unwrap_or(&mut self.first);
        if last.capacity() == 0 {
            last.reserve(if self.len == 0 { FIRST_CHUNK_BYTES / size_of::<T>().max(1) } else { ITEMS_PER_CHUNK });
        }
        last.push(one);
        self.len += 1;
    }

    /// Removes and returns the last item, unless it has been dropped.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let one = match self.further.back_mut() {
            Some(last) => last.pop(),
            None => self.first.pop(),
        };
        if self.further.back().is_some_and(Vec::is_empty) {
            self.further.pop_back();
        }
        self.len -= usize::from(one.is_some());
        one
    }

    /// The items that have not been dropped, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.further.iter().flatten())
    }

    /// The items from `first` on, with their indexes.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = (usize, &T)> {
        (first..self.len).map_while(|index| Some((index, self.get(index)?)))
    }

    /// The first index from `from` on whose item is not `before`. The items that are `before` must come first in the
    /// list; dropped ones count as `before`.
    pub(crate) fn partition_point(&self, from: usize, before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (from.max(self.forgotten), self.len.max(from));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).is_some_and(&before) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Drops the items before `index`, as far as they fill whole chunks.
    pub(crate) fn forget(&mut self, index: usize) {
        while self.forgotten + ITEMS_PER_CHUNK <= index.min(self.len) {
            self.first = self.further.pop_front().unwrap_or_default();
            self.forgotten += ITEMS_PER_CHUNK;
        }
    }
}

impl<T> FromIterator<T> for ChunkedVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(list: I) -> Self {
        let mut pieces = Self::default();
        list.into_iter().for_each(|one| pieces.push(one));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_items_keep_their_indexes() {
        let mut pieces: ChunkedVec<usize> = (0..3 * ITEMS_PER_CHUNK).collect();
        pieces.forget(2 * ITEMS_PER_CHUNK - 1);
        assert_eq!(pieces.len(), 3 * ITEMS_PER_CHUNK);
        assert_eq!(pieces.get(ITEMS_PER_CHUNK - 1), None);
        assert_eq!(pieces.get(ITEMS_PER_CHUNK), Some(&ITEMS_PER_CHUNK));
        assert_eq!(pieces.partition_point(0, |one| *one < 10), ITEMS_PER_CHUNK);
        assert_eq!(pieces.partition_point(0, |one| *one < 2 * ITEMS_PER_CHUNK + 3), 2 * ITEMS_PER_CHUNK + 3);
        pieces.forget(3 * ITEMS_PER_CHUNK);
        assert_eq!(pieces.iter().count(), 0);
        pieces.push(7);
        assert_eq!(pieces.from(3 * ITEMS_PER_CHUNK).next(), Some((3 * ITEMS_PER_CHUNK, &7)));
    }
}
