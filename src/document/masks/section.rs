//! Sections: which comment or CDATA section of XML starts here, and where does it end?
//!
//! In: the response so far, and a `<` in it.
//! Out: the section, from the `<` to the first text that closes it.
//! Never: searches twice for a closer that does not exist.
//!
//! Comments and sections are as in XML 1.0 (§2.5, §2.7), except that a comment may contain `--`. One that is never
//! closed is not a mask.

use super::{Mask, MaskSearch, Masks, Quotes};
use crate::text::{Slice, Span};
use memchr::memmem;

/// The start and the end of a CDATA section.
pub(crate) const CDATA: (&str, &str) = ("<![CDATA[", "]]>");
const COMMENT: (&str, &str) = ("<!--", "-->");

/// The kinds of sections that are known to have no closer in the rest of the text.
#[derive(Debug, Default)]
pub(super) struct Sections {
    unclosed: [bool; 2],
}

impl Masks {
    /// The section that starts at `at`.
    pub(super) fn section_at(&mut self, bytes: &[u8], at: usize, complete: bool) -> MaskSearch {
        let rest = bytes.slice(at..);
        let all = [(self.kinds.comments, COMMENT), (self.kinds.cdata, CDATA)];
        let counted = all.iter().zip(&mut self.sections.unclosed).filter(|((counts, _), _)| *counts);
        for ((_, (open, close)), unclosed) in counted {
            if !complete && open.as_bytes().starts_with(rest) {
                return MaskSearch::Pending;
            }
            if *unclosed || !rest.starts_with(open.as_bytes()) {
                continue;
            }
            let from = (at + open.len()).max(self.resume);
            if let Some(offset) = memmem::find(bytes.slice(from..), close.as_bytes()) {
                return MaskSearch::Found(Mask::new(Span::new(at, from + offset + close.len()), Quotes::Section));
            }
            if !complete {
                // The last bytes that have arrived may be the start of the closer.
                self.resume = from.max(bytes.len().saturating_sub(close.len() - 1));
                return MaskSearch::Pending;
            }
            *unclosed = true;
            self.open_section.get_or_insert(at);
        }
        MaskSearch::Absent
    }
}
