//! Slips: is one name misspelt, and does everything else only follow from that?
//!
//! In: the findings of a pack, and the pack's files.
//! Out: the same findings, but those that only follow from one misspelt name are replaced by one, at that name.
//! Never: guesses: with the name corrected, all findings that it replaces must be gone, and no new ones may appear.

use crate::diagnostic::{Code, Diagnostic, Misnamed};
use crate::surface::Folder;
use crate::surface::places::{self, Alike, Mentions, Renamed};
use crate::text::{Location, Source, Sources, Span, excerpt};
use std::collections::HashSet;

/// How often a pack is built again at most.
const MOST_TRIALS: usize = 16;
/// A name at more places than this counts as used on purpose.
const MOST_PLACES: usize = 4;
/// How many uses of a name are shown.
const MOST_LISTED: usize = 3;

/// Replaces findings that follow from one name. `build` returns the sources of a folder's pack and its findings.
pub(super) fn collapse_misspelt_names(
    folder: &Folder,
    sources: &Sources,
    mut findings: Vec<Diagnostic>,
    build: impl Fn(&Folder) -> (Sources, Vec<Diagnostic>),
) -> Vec<Diagnostic> {
    if !findings.iter().any(Diagnostic::is_error) {
        return findings;
    }
    findings.sort_by_key(|one| one.at);
    findings.dedup();
    let files = PackFolder { folder, sources };
    let mut renamed = Renamed::default();
    let mut tried: HashSet<(Mentions, String)> = HashSet::new();
    // What has been told so is not found again where it is mended.
    let mut mended = Vec::new();
    let mut trials = MOST_TRIALS;
    // What explains some of the findings gives way to what explains more of them.
    let mut best: Option<Mending> = None;
    // Each of these may still be right when another name is corrected, too.
    let mut others = Vec::new();
    loop {
        let next = files.suspects(&findings).into_iter().find(|slip| !tried.contains(&slip.key()));
        let next = next.filter(|_| trials > 0 && best.as_ref().is_none_or(|best| best.errors() > 0));
        let Some(slip) = next else {
            let Some(taken) = best.take() else { break };
            tried.retain(|key| !others.contains(key));
            others.clear();
            findings = taken.remaining;
            mended.push(taken.instead);
            renamed = taken.renamed;
            continue;
        };
        tried.insert(slip.key());
        trials -= 1;
        let mut renamed_too = renamed.clone();
        renamed_too.add(&slip.mentions, &slip.name);
        let (other, found) = build(&renamed_too.within(folder));
        let other = PackFolder { folder, sources: &other };
        let found: HashSet<Fingerprint> = found.iter().map(|one| other.findings(one, Some(&renamed_too))).collect();
        let before: HashSet<Fingerprint> = findings.iter().map(|one| files.findings(one, None)).collect();
        if !found.is_subset(&before) {
            continue;
        }
        let remains = |one: &Diagnostic| found.contains(&files.findings(one, None));
        let (remaining, gone): (Vec<Diagnostic>, Vec<Diagnostic>) = findings.iter().cloned().partition(remains);
        let Some(instead) = files.instead(&slip, &gone) else { continue };
        let mending = Mending { instead, remaining, renamed: renamed_too };
        if best.as_ref().is_none_or(|best| mending.errors() < best.errors()) {
            best = Some(mending);
        }
        others.push(slip.key());
    }
    findings.extend(mended);
    findings
}

/// What becomes of the findings when one name is corrected.
struct Mending {
    /// The finding that replaces those that are gone.
    instead: Diagnostic,
    /// The findings that remain.
    remaining: Vec<Diagnostic>,
    renamed: Renamed,
}

impl Mending {
    fn errors(&self) -> usize {
        self.remaining.iter().filter(|one| one.is_error()).count()
    }
}

/// A name that may be misspelt, and the one that may be meant.
struct Slip {
    mentions: Mentions,
    name: String,
    /// How it is used.
    as_what: SlipKind,
}

impl Slip {
    fn key(&self) -> (Mentions, String) {
        (self.mentions.clone(), self.name.clone())
    }
}

enum SlipKind {
    /// It declares what is used under the other name.
    Declares(Misnamed),
    /// It uses what is declared under the other name, and other findings follow from that.
    Uses(Box<Diagnostic>),
    /// It declares a part of what goes by the other name; the place of that, and what it is.
    Parts(Location, &'static str),
}

/// What identifies a finding, to compare two packs that differ in a name.
#[derive(PartialEq, Eq, Hash)]
struct Fingerprint {
    code: Code,
    message: String,
    at: Option<(String, Span)>,
}

/// The files of a folder, and the sources read from them.
#[derive(Clone, Copy)]
struct PackFolder<'f> {
    folder: &'f Folder,
    sources: &'f Sources,
}

impl PackFolder<'_> {
    fn findings(self, one: &Diagnostic, renamed: Option<&Renamed>) -> Fingerprint {
        let place = |at: Location| {
            let name = self.sources.get(at.source).map(Source::name).unwrap_or_default();
            let span = self.own(name).zip(renamed).map_or(at.span, |(path, renamed)| renamed.original(path, at.span));
            (name.to_owned(), span)
        };
        Fingerprint { code: one.code.clone(), message: one.message.to_string(), at: one.at.map(place) }
    }

    /// The path below the folder of the source with this name.
    fn own(self, name: &str) -> Option<&str> {
        name.strip_prefix(self.folder.name.as_str()).and_then(|path| path.strip_prefix('/'))
    }

    fn place(self, mentions: &Mentions) -> Option<Location> {
        let (source, _) = self.sources.find(&self.folder.called(&mentions.path))?;
        Some(Location { source, span: *mentions.spans.first()? })
    }

    /// Every name that may be misspelt; those that explain most findings first.
    fn suspects(self, findings: &[Diagnostic]) -> Vec<Slip> {
        let errors: Vec<&Diagnostic> = findings.iter().filter(|one| one.is_error()).collect();
        let mut slips = Vec::new();
        if errors.len() > 1 {
            // The keys of tables are declared by no pack.
            let named = errors.iter().filter(|one| one.code != Code::PACK_UNKNOWN_KEY);
            let misnamed: Vec<&Misnamed> = named.filter_map(|one| one.misnamed.as_ref()).collect();
            let times = |name: &Misnamed| misnamed.iter().filter(|other| **other == name).count();
            let mut names = misnamed.clone();
            names.sort_by_key(|name| std::cmp::Reverse(times(name)));
            names.dedup();
            for misnamed in names {
                let places = places::find(self.folder, &misnamed.declared);
                let few = places.len() <= MOST_PLACES;
                slips.extend(places.into_iter().filter(|_| few).map(|mentions| Slip {
                    mentions,
                    name: misnamed.typed.clone(),
                    as_what: SlipKind::Declares(misnamed.clone()),
                }));
            }
            slips.extend(errors.iter().filter_map(|one| self.use_in(one)));
        }
        let below = |part: &Alike| {
            let Some(below) = &part.below else { return true };
            let mut places = errors.iter().filter_map(|one| one.at);
            places.any(|at| {
                let path = self.sources.get(at.source).and_then(|source| self.own(source.name()));
                path == Some(&part.mentions.path) && below.iter().any(|below| below.covers(at.span))
            })
        };
        let parts = if errors.is_empty() { Vec::new() } else { places::alike(self.folder) };
        slips.extend(parts.into_iter().filter(below).filter_map(|part| {
            let as_what = SlipKind::Parts(self.place(&part.beside)?, part.within);
            Some(Slip { mentions: part.mentions, name: part.other, as_what })
        }));
        slips
    }

    fn use_in(self, one: &Diagnostic) -> Option<Slip> {
        let (misnamed, at) = (one.misnamed.as_ref()?, one.at?);
        let source = self.sources.get(at.source)?;
        let path = self.own(source.name())?;
        let start = at.span.start + at.span.of(source.text()).find(&misnamed.typed)?;
        let here = |mentions: &Mentions| mentions.path == path && mentions.spans.iter().any(|span| span.start == start);
        let mentions = places::find(self.folder, &misnamed.typed).into_iter().find(here).unwrap_or_else(|| Mentions {
            path: path.to_owned(),
            spans: vec![Span::new(start, start + misnamed.typed.len())],
        });
        Some(Slip { mentions, name: misnamed.declared.clone(), as_what: SlipKind::Uses(Box::new(one.clone())) })
    }

    /// The finding that replaces those that are `gone` once the slip is corrected; none if it is no better.
    fn instead(self, slip: &Slip, gone: &[Diagnostic]) -> Option<Diagnostic> {
        let (at, name) = (self.place(&slip.mentions)?, excerpt(&slip.name, 60));
        let source = self.sources.get(at.source)?;
        let mentions = excerpt(at.span.of(source.text()), 60);
        let help = format!("did you mean `{name}`?");
        match &slip.as_what {
            SlipKind::Declares(misnamed) => {
                let is_use = |one: &&Diagnostic| one.misnamed.as_ref().is_some_and(|one| one.typed == misnamed.typed);
                let uses: Vec<&Diagnostic> = gone.iter().filter(is_use).collect();
                let first = uses.first().filter(|_| gone.len() > 1)?;
                let message = format!("what is declared here is `{mentions}`, and what is used is `{name}`");
                let fault = Diagnostic::new(first.code.clone(), at, message).with_help(help);
                let listed = uses.iter().filter_map(|one| one.at).take(MOST_LISTED);
                Some(listed.fold(fault, |fault, at| fault.with_place(at, "used here")))
            }
            SlipKind::Uses(one) => (gone.len() > 1 && gone.contains(one)).then(|| one.as_ref().clone()),
            SlipKind::Parts(other, within) => {
                let errors: Vec<&Diagnostic> = gone.iter().filter(|one| one.is_error()).collect();
                let first = errors.first()?;
                // One error at the name itself explains itself.
                if errors.iter().all(|one| one.at == Some(at)) && errors.len() == 1 {
                    return None;
                }
                let message = format!("`{mentions}` here, but `{name}` in {within}: {}", first.message);
                let fault = Diagnostic::new(first.code.clone(), at, message).with_help(help);
                Some(fault.with_place(*other, "the other name"))
            }
        }
    }
}
