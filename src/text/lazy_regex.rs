//! Lazy regexes: how is a pattern compiled only when a search first needs it?
//!
//! In: a pattern of the `regex` crate, and the largest size that it may have.
//! Out: [`LazyRegex`], or the error with which the crate would refuse the pattern.
//! Never: accepts a pattern that cannot be compiled: one that may be too large is compiled at once.
//!
//! An answer needs few of the patterns of a pack, and compiling one takes ten times as long as parsing it: of the 416
//! million instructions to load the pack `writers-factory`, compiling all patterns took 245.

use super::regex_size::largest_size;
use regex::{Error, Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind, LookSet};
use std::sync::{Arc, OnceLock};

/// A pattern that is compiled when it is first needed; clones share the compiled one.
#[derive(Debug, Clone)]
pub(crate) struct LazyRegex(Arc<RegexCell>);

#[derive(Debug)]
struct RegexCell {
    source: Box<str>,
    /// The names of its groups, in order.
    groups: Vec<Box<str>>,
    /// The bound on the size of the compiled pattern, in bytes.
    size: usize,
    /// The assertions in the pattern, such as word boundaries.
    assertions: LookSet,
    /// INVARIANT: `Some`, once it is set.
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    /// The pattern, if it can be compiled within `largest` bytes.
    pub(crate) fn new(source: &str, largest: usize) -> Result<Self, Error> {
        Ok(Self::with_hir(source, largest)?.0)
    }

    /// Like `new`, but also returns the syntax tree, because parsing takes as long as the rest of loading a pattern.
    /// The tree is `None` if only the `regex` crate can parse the pattern.
    pub(crate) fn with_hir(source: &str, largest: usize) -> Result<(Self, Option<Hir>), Error> {
        let hir = regex_syntax::parse(source).ok();
        let size = hir.as_ref().map_or(usize::MAX, |hir| largest_size(hir, largest));
        let compiled = OnceLock::new();
        if size > largest {
            // The `regex` crate decides: the pattern may be small enough, too large, or no pattern at all.
            _ = compiled.set(Some(RegexBuilder::new(source).size_limit(largest).build()?));
        }
        let groups = hir.as_ref().map(groups).unwrap_or_default();
        let assertions = hir.as_ref().map(|hir| hir.properties().look_set()).unwrap_or_default();
        let inner = RegexCell { source: source.into(), groups, size: size.min(largest), assertions, compiled };
        Ok((Self(Arc::new(inner)), hir))
    }

    /// The compiled pattern. It is `Some` for every pattern that `new` accepted.
    pub(crate) fn get(&self) -> Option<&Regex> {
        let compiled = self.0.compiled.get_or_init(|| {
            let built = RegexBuilder::new(&self.0.source).size_limit(usize::MAX).build();
            debug_assert!(built.is_ok(), "{}", self.0.source);
            built.ok()
        });
        compiled.as_ref()
    }

    /// The pattern as it is written.
    pub(crate) fn source(&self) -> &str {
        &self.0.source
    }

    /// The names of its groups, in order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.0.groups.iter().map(|name| &**name)
    }

    /// The bound on the size of the compiled pattern, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.size
    }

    /// The assertions in the pattern, such as word boundaries.
    pub(crate) fn assertions(&self) -> LookSet {
        self.0.assertions
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.get().is_some_and(|regex| regex.is_match(text))
    }
}

/// The names of the groups of a pattern, in the order in which they open.
fn groups(hir: &Hir) -> Vec<Box<str>> {
    let mut names = Vec::new();
    add_groups(hir, &mut names);
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|(_, name)| name).collect()
}

fn add_groups(hir: &Hir, names: &mut Vec<(u32, Box<str>)>) {
    if hir.properties().explicit_captures_len() == 0 {
        return;
    }
    match hir.kind() {
        HirKind::Capture(capture) => {
            names.extend(capture.name.clone().map(|name| (capture.index, name)));
            add_groups(&capture.sub, names);
        }
        HirKind::Repetition(repetition) => add_groups(&repetition.sub, names),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().for_each(|part| add_groups(part, names)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: usize = 1 << 20;

    #[track_caller]
    fn check(source: &str) {
        let expected = RegexBuilder::new(source).size_limit(LARGEST).build();
        match (LazyRegex::new(source, LARGEST), expected) {
            (Ok(lazy), Ok(expected)) => {
                assert!(lazy.groups().eq(expected.capture_names().flatten()), "{source}");
                assert!(lazy.get().is_some_and(|compiled| compiled.as_str() == expected.as_str()), "{source}");
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected.to_string(), "{source}"),
            (lazy, expected) => panic!("{source}: {:?}, {:?}", lazy.err(), expected.err()),
        }
    }

    #[test]
    fn what_is_refused_is_refused_at_once() {
        for source in
            ["(", "a{2,1}", "(?<a>x)(?<a>y)", "\\w{5000}", "(?:\\w{50}){50}", "a{60000}", "\\p{Nothing}", "(?=a)"]
        {
            check(source);
        }
    }

    #[test]
    fn groups_are_those_of_the_compiled_pattern() {
        for source in [
            "",
            "(a)",
            "(?<x>a)(b)(?P<y>c)",
            "(?<x>a){0}(?<y>b)",
            "(?:(?<x>a)|(?<y>b))+",
            "(?<x>(?<y>a){2})",
            "(?<x>)|[a&&b](?<y>c)",
            "(?<x>a){3,7}?",
            "(?i)(?<große>s)",
        ] {
            check(source);
        }
    }
}
