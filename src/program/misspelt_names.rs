//! Misspelt names: is one name misspelt, so that other findings only follow from it?
//!
//! In: the findings of a pack, and the pack's files.
//! Out: the same findings, except that those which only follow from one misspelt name become one finding, at that name.
//! Never: guesses: with the name corrected, all findings that it replaces must be gone, and no new ones may appear. Nor
//! does it read a large pack again for every name: there, only the name that explains most findings is tried.

use crate::diagnostic::{Code, Diagnostic, Misnamed};
use crate::surface::places::{self, Alike, Mentions, NamePlaces, Renamed};
use crate::surface::{Folder, is_table};
use crate::text::{Location, Source, Sources, Span, excerpt};
use std::collections::{HashMap, HashSet};

/// The most times that a pack is built again.
const MOST_TRIALS: usize = 16;
/// The most bytes of tables that are read again in all. A larger pack is built again only once: a pack of 2.5 MB took
/// 16 times as long with a fault as without.
const MOST_BYTES: usize = 2 << 20;
/// A name at more places than this counts as used on purpose.
const MOST_PLACES: usize = 4;
/// How many uses of a name a finding lists.
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
    let clues = Clues::of(folder, &findings);
    let mut renamed = Renamed::default();
    let mut tried: HashSet<(Mentions, String)> = HashSet::new();
    // Findings that have replaced others. They are not found again in a pack where their name is corrected.
    let mut corrected = Vec::new();
    let mut trials = most_trials(folder);
    // The correction that explains most of the findings so far.
    let mut best: Option<Correction> = None;
    // Names whose correction would have helped. They are tried again after another name is corrected.
    let mut others = Vec::new();
    loop {
        let next = files.suspects(&findings, &clues).into_iter().find(|slip| !tried.contains(&slip.key()));
        let next = next.filter(|_| trials > 0 && best.as_ref().is_none_or(|best| best.errors() > 0));
        let Some(slip) = next else {
            let Some(taken) = best.take() else { break };
            tried.retain(|key| !others.contains(key));
            others.clear();
            findings = taken.remaining;
            corrected.push(taken.instead);
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
        let correction = Correction { instead, remaining, renamed: renamed_too };
        if best.as_ref().is_none_or(|best| correction.errors() < best.errors()) {
            best = Some(correction);
        }
        others.push(slip.key());
    }
    findings.extend(corrected);
    findings
}

/// The most times that this pack is built again.
fn most_trials(folder: &Folder) -> usize {
    let tables = folder.files.iter().filter(|(path, _)| is_table(path));
    let bytes: usize = tables.map(|(_, bytes)| bytes.len()).sum();
    (MOST_BYTES / bytes.max(1)).clamp(1, MOST_TRIALS)
}

/// What the files contain about names that may be misspelt; the same for every trial.
struct Clues {
    /// Where the names of the findings are mentioned.
    places: NamePlaces,
    /// Names that differ little from another one in the same table.
    alike: Vec<Alike>,
}

impl Clues {
    fn of(folder: &Folder, findings: &[Diagnostic]) -> Self {
        let misnamed = findings.iter().filter(|one| one.is_error()).filter_map(|one| one.misnamed.as_ref());
        let names = misnamed.flat_map(|one| [one.typed.as_str(), one.declared.as_str()]).collect();
        Self { places: NamePlaces::of(folder, &names), alike: places::alike(folder) }
    }
}

/// The findings after one name is corrected.
struct Correction {
    /// The finding that replaces those that are gone.
    instead: Diagnostic,
    /// The findings that remain.
    remaining: Vec<Diagnostic>,
    renamed: Renamed,
}

impl Correction {
    fn errors(&self) -> usize {
        self.remaining.iter().filter(|one| one.is_error()).count()
    }
}

/// A name that may be misspelt, and its probable correction.
struct Misspelling {
    mentions: Mentions,
    name: String,
    /// How the pack uses the name.
    as_what: MisspeltUse,
}

impl Misspelling {
    fn key(&self) -> (Mentions, String) {
        (self.mentions.clone(), self.name.clone())
    }
}

enum MisspeltUse {
    /// It declares a name that is used under the other spelling.
    Declares(Misnamed),
    /// It uses a name that is declared under the other spelling, and other findings follow from that.
    Uses(Box<Diagnostic>),
    /// It declares a part of what has the other name; the place of that, and what it is.
    Parts(Location, &'static str),
}

/// What identifies a finding, to compare the findings of two packs that differ in a name.
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
    fn suspects(self, findings: &[Diagnostic], clues: &Clues) -> Vec<Misspelling> {
        let errors: Vec<&Diagnostic> = findings.iter().filter(|one| one.is_error()).collect();
        let mut slips = Vec::new();
        if errors.len() > 1 {
            // An unknown key of a table is not a name of the pack, and is never renamed.
            let named = errors.iter().filter(|one| one.code != Code::PACK_UNKNOWN_KEY);
            let mut names: Vec<&Misnamed> = named.filter_map(|one| one.misnamed.as_ref()).collect();
            let mut times: HashMap<&Misnamed, usize> = HashMap::new();
            names.iter().for_each(|name| *times.entry(name).or_default() += 1);
            names.sort_by_key(|name| std::cmp::Reverse(times.get(name).copied()));
            names.dedup();
            for misnamed in names {
                let places = clues.places.all(&misnamed.declared);
                let few = places.len() <= MOST_PLACES;
                slips.extend(places.iter().filter(|_| few).map(|mentions| Misspelling {
                    mentions: mentions.clone(),
                    name: misnamed.typed.clone(),
                    as_what: MisspeltUse::Declares(misnamed.clone()),
                }));
            }
            slips.extend(errors.iter().filter_map(|one| self.use_in(one, clues)));
        }
        if errors.is_empty() {
            return slips;
        }
        // Sorted, so that the findings within a range are found without looking at all of them.
        let mut places: HashMap<&str, Vec<Span>> = HashMap::new();
        for at in errors.iter().filter_map(|one| one.at) {
            if let Some(path) = self.sources.get(at.source).and_then(|source| self.own(source.name())) {
                places.entry(path).or_default().push(at.span);
            }
        }
        places.values_mut().for_each(|spans| spans.sort_unstable());
        let holds_error = |below: &Span, spans: &[Span]| {
            let from = spans.partition_point(|span| span.start < below.start);
            let mut inside = spans.iter().skip(from).take_while(|span| span.start <= below.end);
            inside.any(|span| below.covers(*span))
        };
        let below = |part: &&Alike| {
            let Some(below) = &part.below else { return true };
            places.get(part.mentions.path.as_str()).is_some_and(|spans| below.iter().any(|one| holds_error(one, spans)))
        };
        slips.extend(clues.alike.iter().filter(below).filter_map(|part| {
            let as_what = MisspeltUse::Parts(self.place(&part.beside)?, part.within);
            Some(Misspelling { mentions: part.mentions.clone(), name: part.other.clone(), as_what })
        }));
        slips
    }

    fn use_in(self, one: &Diagnostic, clues: &Clues) -> Option<Misspelling> {
        let (misnamed, at) = (one.misnamed.as_ref()?, one.at?);
        let source = self.sources.get(at.source)?;
        let path = self.own(source.name())?;
        let start = at.span.start + at.span.of(source.text()).find(&misnamed.typed)?;
        let mentions = clues.places.starting_at(&misnamed.typed, path, start).cloned().unwrap_or_else(|| Mentions {
            path: path.to_owned(),
            spans: vec![Span::new(start, start + misnamed.typed.len())],
        });
        Some(Misspelling {
            mentions,
            name: misnamed.declared.clone(),
            as_what: MisspeltUse::Uses(Box::new(one.clone())),
        })
    }

    /// The finding that replaces those that are `gone` after the correction; none if it would be no clearer.
    fn instead(self, slip: &Misspelling, gone: &[Diagnostic]) -> Option<Diagnostic> {
        let (at, name) = (self.place(&slip.mentions)?, excerpt(&slip.name, 60));
        let source = self.sources.get(at.source)?;
        let mentions = excerpt(at.span.of(source.text()), 60);
        let help = format!("did you mean `{name}`?");
        match &slip.as_what {
            MisspeltUse::Declares(misnamed) => {
                let is_use = |one: &&Diagnostic| one.misnamed.as_ref().is_some_and(|one| one.typed == misnamed.typed);
                let uses: Vec<&Diagnostic> = gone.iter().filter(is_use).collect();
                let first = uses.first().filter(|_| gone.len() > 1)?;
                let message = format!("what is declared here is `{mentions}`, and what is used is `{name}`");
                let fault = Diagnostic::new(first.code.clone(), at, message).with_help(help);
                let listed = uses.iter().filter_map(|one| one.at).take(MOST_LISTED);
                Some(listed.fold(fault, |fault, at| fault.with_place(at, "used here")))
            }
            MisspeltUse::Uses(one) => (gone.len() > 1 && gone.contains(one)).then(|| one.as_ref().clone()),
            MisspeltUse::Parts(other, within) => {
                let errors: Vec<&Diagnostic> = gone.iter().filter(|one| one.is_error()).collect();
                let first = errors.first()?;
                // A single error at the name itself needs no replacement.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: usize, expected: usize) {
        let files = [("pack.toml", "#".repeat(bytes)), ("prompts/long.md", "a".repeat(MOST_BYTES))];
        assert_eq!(most_trials(&Folder::new("p", files)), expected, "{bytes}");
    }

    #[test]
    fn a_large_pack_is_built_again_once() {
        check(0, MOST_TRIALS);
        check(100_000, MOST_TRIALS);
        check(MOST_BYTES / 4, 4);
        check(MOST_BYTES, 1);
        check(2 * MOST_BYTES, 1);
    }
}
