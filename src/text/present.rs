//! Present: what is certainly there, unless Rulebook has a defect?
//!
//! In: a text or list and a range that lies in it, or an option that has a value.
//! Out: the part, or the value.
//! Never: stops a release: where a test would stop, that continues with an empty part or a default.

use std::fmt::Debug;
use std::slice::SliceIndex;

/// The part at a range that lies in a text or list.
pub(crate) trait Slice<R> {
    /// The part at this range. A range that is not inside is a defect of Rulebook: tests stop there, and a release
    /// continues with an empty part.
    fn slice(&self, range: R) -> &Self;
}

impl<R: SliceIndex<str, Output = str> + Debug + Clone> Slice<R> for str {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn slice(&self, range: R) -> &str {
        debug_assert!(self.get(range.clone()).is_some(), "{range:?} of {} bytes", self.len());
        self.get(range).unwrap_or_default()
    }
}

impl<T, R: SliceIndex<[T], Output = [T]> + Debug + Clone> Slice<R> for [T] {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn slice(&self, range: R) -> &[T] {
        debug_assert!(self.get(range.clone()).is_some(), "{range:?} of {} items", self.len());
        self.get(range).unwrap_or_default()
    }
}

/// A value that is certainly there.
pub(crate) trait Present<T> {
    /// The value. Without one, Rulebook has a defect: tests stop there, and a release continues with the default.
    fn present(self) -> T;
}

impl<T: Default> Present<T> for Option<T> {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn present(self) -> T {
        debug_assert!(self.is_some(), "there is no {}", std::any::type_name::<T>());
        self.unwrap_or_default()
    }
}

impl<T: Default, E: Debug> Present<T> for Result<T, E> {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn present(self) -> T {
        debug_assert!(self.is_ok(), "there is no {}", std::any::type_name::<T>());
        self.unwrap_or_default()
    }
}
