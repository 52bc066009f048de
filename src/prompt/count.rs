//! Counting: how many tokens does a text have?
//!
//! In: a text, and the vocabulary of a model or its bytes per token.
//! Out: a number, exact or estimated.
//! Never: loads a vocabulary that is not needed, or one twice.

use crate::surface::Vocabulary;

/// Counts tokens. A host that knows the vocabulary of its model can bring its own counter.
///
/// ```
/// use rulebook::prompt::Counter;
///
/// struct Words;
/// impl Counter for Words {
///     fn count(&self, text: &str) -> usize {
///         text.split_whitespace().count()
///     }
/// }
/// assert_eq!(Words.count("two words"), 2);
/// ```
pub trait Counter: Send + Sync {
    /// The number of tokens in `text`. It need not be the sum of the counts of its parts.
    fn count(&self, text: &str) -> usize;

    /// Whether the number is an estimate.
    fn is_estimate(&self) -> bool {
        false
    }
}

/// An estimate from this number of bytes per token.
pub(super) struct Estimate(pub(super) f64);

impl Counter for Estimate {
    fn count(&self, text: &str) -> usize {
        (text.len() as f64 / self.0).ceil() as usize
    }

    fn is_estimate(&self) -> bool {
        true
    }
}

/// The counter for a vocabulary, if this build has it.
#[cfg(feature = "tokens")]
pub(super) fn vocabulary(vocabulary: Vocabulary) -> Option<&'static dyn Counter> {
    use super::exact::Exact;
    static O200K: Exact = Exact::new(bpe_openai::o200k_base);
    static CL100K: Exact = Exact::new(bpe_openai::cl100k_base);
    Some(match vocabulary {
        Vocabulary::O200k => &O200K,
        Vocabulary::Cl100k => &CL100K,
    })
}

/// Builds without the vocabularies always estimate.
#[cfg(not(feature = "tokens"))]
pub(super) fn vocabulary(_: Vocabulary) -> Option<&'static dyn Counter> {
    None
}
