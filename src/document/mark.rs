//! Mark: what is known about one opener or closer?
//!
//! In: the captures of an opener.
//! Out: [`Mark`], which is small because there may be one every few bytes, and [`Opener`], which few marks need.
//! Never: stores text: both store only places.

use super::{Attribute, AttributeKey, Attributes};
use crate::grammar::{Capture, inside};
use crate::program::{BlockId, Dialect, Family, Limits};
use crate::text::{Slice, Span, Stretch};

/// A place where a block may open or close.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) span: Stretch,
    pub(super) name: Stretch,
    pub(super) kind: MarkKind,
    /// Whether it is inside a mask.
    pub(super) masked: bool,
    pub(super) starts: StartOf,
    /// Whether its opener contains only its name.
    pub(super) plain: bool,
}

/// The position of a mark in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartOf {
    Nothing,
    /// At the start of a line: only white space, code fences and closers come before it.
    Line,
    /// At the start of a line after a blank line, or at the start of the response.
    Paragraph,
}

/// The parts of an opener besides its name.
#[derive(Debug, Clone, Default)]
pub(super) struct Opener {
    pub(super) attributes: Attributes,
    /// Whether the block has no body.
    pub(super) empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkKind {
    Open {
        family: u8,
        id: BlockId,
        /// Whether the mark is the closer of a wrapper. As after the wrapper's opener, the text after it is outside
        /// every block.
        leaves: bool,
    },
    Close {
        family: u8,
    },
    /// The start of an opener with a declared name, the rest of which its grammar cannot read.
    Broken {
        id: BlockId,
    },
}

impl Mark {
    pub(super) fn span(&self) -> Span {
        self.span.span()
    }

    pub(super) fn name(&self) -> Span {
        self.name.span()
    }

    pub(super) fn start(&self) -> usize {
        self.span.start()
    }

    pub(super) fn starts_line(&self) -> bool {
        self.starts != StartOf::Nothing
    }

    pub(super) fn starts_paragraph(&self) -> bool {
        self.starts == StartOf::Paragraph
    }
}

/// The captures of an attribute, each with its index: its key and its value. A fault is neither, but contains one of
/// them or takes its place.
pub(super) fn parts_of<'c>(
    family: &'c Family,
    captures: &'c [Capture],
    index: usize,
) -> impl Iterator<Item = (usize, &'c Capture)> {
    let end = captures.get(index).map_or(0, Capture::next);
    let mut at = index + 1;
    std::iter::from_fn(move || {
        while captures.get(at).is_some_and(|one| at < end && family.faults.contains(&one.rule())) {
            at += 1;
        }
        let here = at;
        let capture = captures.get(here).filter(|_| here < end)?;
        at = capture.next().max(here + 1);
        Some((here, capture))
    })
}

/// Adds the attribute at `index`: its first capture is the key, the second the value.
fn attribute(family: &Family, captures: &[Capture], index: usize, attributes: &mut Attributes) {
    let mut parts = parts_of(family, captures, index).map(|(_, part)| part);
    let (key, value) = (parts.next(), parts.next());
    let inner = captures.get(index).map_or(0, Capture::next);
    let inner = captures.slice(index + 1..inner);
    let faults = || inner.iter().filter(|capture| family.faults.contains(&capture.rule()));
    if let Some(key) = key
        && let Some(value) = value.or_else(|| faults().next())
    {
        attributes.push(Attribute { key: AttributeKey::Typed(key.span().into()), value: value.span().into() });
    }
    attributes
        .extend(faults().map(|fault| Attribute { key: AttributeKey::Rule(fault.rule()), value: fault.span().into() }));
}

/// Reads the captures of an opener. An `attribute` has its own key; any other rule in the opener, or directly inside
/// the name, becomes an attribute with the name of the rule.
pub(super) fn opener(family: &Family, captures: &[Capture]) -> Opener {
    let mut opener = Opener::default();
    // Fast path: most openers contain only a name.
    if let [_, name] = captures
        && name.rule() == family.name
    {
        return opener;
    }
    // The outermost capture is the opener itself.
    for (index, capture) in inside(captures, Some(0)) {
        if Some(capture.rule()) == family.empty {
            opener.empty = true;
        } else if Some(capture.rule()) == family.attribute {
            attribute(family, captures, index, &mut opener.attributes);
        } else {
            // Rules inside the rule of the name become attributes.
            let parts = inside(captures, Some(index)).filter(|_| capture.rule() == family.name);
            let whole = std::iter::once((index, capture)).filter(|_| capture.rule() != family.name);
            let named = whole
                .chain(parts)
                .map(|(_, one)| Attribute { key: AttributeKey::Rule(one.rule()), value: one.span().into() });
            opener.attributes.extend(named);
        }
    }
    opener
}

/// The most captures of an opener: a name, and for each allowed attribute the attribute, its key and its value. If
/// attributes build values, each value has a few captures as well.
pub(super) fn most_captures(dialect: &Dialect, limits: &Limits) -> usize {
    let builds = dialect.families.iter().any(|family| family.builders.is_some());
    8 + 3 * limits.fields + if builds { 4 * limits.values } else { 0 }
}
