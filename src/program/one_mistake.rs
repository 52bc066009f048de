//! One mistake: which findings follow from one wrong name?
//!
//! In: the tables of a pack, and the findings so far.
//! Out: the same findings, except that those which follow from one misspelt name, or from one table that is missing,
//! become one.
//! Never: looks for mistakes itself, or reads the pack again with another name. What else is wrong in a table with a
//! misspelt header is reported once the header is correct.

use crate::diagnostic::{Code, Diagnostic, Misnamed};
use crate::surface::places::{self, Alike, Mention};
use crate::surface::{Folder, Surface};
use crate::text::{Location, Source, Sources, Span, excerpt};
use indexmap::IndexMap;

/// How many of the other places a finding lists.
const MAX_PLACES: usize = 3;
/// How much of a name a message quotes.
const MAX_QUOTED_NAME: usize = 60;

/// Makes one finding of all unknown names of a kind whose table does not exist, at the first name.
pub(super) fn collapse_missing_tables(surface: &Surface, found: &mut Vec<Diagnostic>) {
    let tables = [
        (Code::PACK_UNKNOWN_ACTION, "an action", "actions", surface.actions.is_empty()),
        (Code::PACK_UNKNOWN_MODE, "a mode", "modes", surface.modes.is_empty()),
        (Code::PACK_UNKNOWN_MESSAGE, "a message", "messages", surface.messages.is_empty()),
        (Code::PACK_UNKNOWN_STATE, "a value of the state", "state", surface.state.is_empty()),
        (Code::PACK_UNKNOWN_TIER, "a tier", "tiers", surface.tiers.is_empty()),
    ];
    for (code, what, table, _) in tables.into_iter().filter(|(.., is_empty)| *is_empty) {
        let mut reported: Vec<Diagnostic> = found.extract_if(.., |one| one.code == code).collect();
        reported.sort_by_key(|one| one.at);
        reported.dedup_by_key(|one| one.at);
        if reported.len() > 1 {
            let more = reported.split_off(1);
            for first in &mut reported {
                let message = format!("{} places name {what}, and the pack has no `[{table}]`", more.len() + 1);
                let help =
                    "is a file missing, or in another folder? tables are read from the `.toml` files of the pack";
                let fault = Diagnostic::new(code.clone(), first.at, message).with_help(help);
                *first = with_places(fault, &more, "here, too");
            }
        }
        found.extend(reported);
    }
}

/// Makes one finding of all that follow from one misspelt name.
pub(super) fn collapse_misspelt_names(folder: &Folder, sources: &Sources, found: &mut Vec<Diagnostic>) {
    if !found.iter().any(Diagnostic::is_error) {
        return;
    }
    found.sort_by_key(|one| one.at);
    found.dedup();
    let files = FaultyPack { folder, sources };
    let alike = places::alike(folder);
    let headers: Vec<&Alike> = alike.iter().filter(|alike| !alike.below.is_empty()).collect();
    let faults: Vec<Diagnostic> = headers.iter().filter_map(|alike| files.misspelt_header(alike, found)).collect();
    let is_unknown_table = |one: &Diagnostic| {
        let at = one.at.filter(|_| one.code == Code::PACK_UNKNOWN_KEY && one.misnamed.is_some());
        at.is_some_and(|at| sources.get(at.source).is_some_and(|file| starts_header(file.text(), at.span)))
    };
    if !faults.is_empty() || found.iter().any(is_unknown_table) {
        // What the tables declare is unknown until their headers are correct. Other unknown names with a name that may
        // have been meant are mistakes of their own.
        let is_other = |one: &Diagnostic| {
            is_by_itself(one)
                || one.code == Code::PACK_UNKNOWN_KEY
                || (one.misnamed.is_some() && !headers.iter().any(|alike| files.is_about(alike, one)))
        };
        found.retain(|one| !one.is_error() || (is_other(one) && !faults.contains(one)));
        found.extend(faults);
    }
    files.collapse_unknown_names(found);
}

/// The files of a pack with faults, and the sources read from them.
struct FaultyPack<'f> {
    folder: &'f Folder,
    sources: &'f Sources,
}

impl FaultyPack<'_> {
    /// The finding for a header that is probably misspelt; none if no error is below it, below the other header, or
    /// about its name.
    fn misspelt_header(&self, alike: &Alike, found: &[Diagnostic]) -> Option<Diagnostic> {
        let ((at, text), (other, _)) = (self.place(&alike.mention)?, self.place(&alike.beside)?);
        let first = found.iter().find(|one| one.is_error() && self.is_about(alike, one))?;
        // An error about the name itself is enough; one about a mode that is not reached only follows from it.
        let is_own =
            |one: &&Diagnostic| one.is_error() && one.at == Some(at) && (one.misnamed.is_some() || is_by_itself(one));
        if let Some(own) = found.iter().find(is_own) {
            return Some(own.clone());
        }
        let (name, other_name) =
            (excerpt(at.span.of(text.text()), MAX_QUOTED_NAME), excerpt(&alike.other, MAX_QUOTED_NAME));
        let message = format!("`{name}` here, but `{other_name}` in {}: {}", alike.within, first.message);
        let fault = Diagnostic::new(first.code.clone(), at, message).with_help(format!("did you mean `{other_name}`?"));
        Some(fault.with_place(other, "the other name"))
    }

    /// Whether a finding is below one of the two headers, or about the name of the first.
    fn is_about(&self, alike: &Alike, one: &Diagnostic) -> bool {
        let is_below = |at: Location| {
            let in_file = self.place(&alike.mention).is_some_and(|(place, _)| place.source == at.source);
            in_file && alike.below.iter().any(|below| below.covers(at.span))
        };
        one.misnamed.as_ref().is_some_and(|one| one.typed == alike.name) || one.at.is_some_and(is_below)
    }

    /// Makes one finding of all errors that have the same unknown name, if nothing uses the declared name that was
    /// probably meant: the finding is at that declaration, which is probably misspelt.
    fn collapse_unknown_names(&self, found: &mut Vec<Diagnostic>) {
        let mut times: IndexMap<Misnamed, usize> = IndexMap::new();
        // An unknown key of a table is not a name of the pack, and the file for a mode may just be missing.
        let others = [Code::PACK_UNKNOWN_KEY, Code::PACK_MISSING_FILE];
        let is_use = |one: &Diagnostic| one.is_error() && !others.contains(&one.code);
        for misnamed in found.iter().filter(|one| is_use(one)).filter_map(|one| one.misnamed.as_ref()) {
            *times.entry(misnamed.clone()).or_default() += 1;
        }
        times.retain(|_, times| *times > 1);
        let declared = times.keys().map(|misnamed| misnamed.declared.as_str()).collect();
        let mentions = places::mentions(self.folder, &declared);
        for misnamed in times.keys() {
            let Some([mention]) = mentions.get(&misnamed.declared).map(Vec::as_slice) else { continue };
            let Some((at, _)) = self.place(mention) else { continue };
            let is_same = |one: &mut Diagnostic| is_use(one) && one.misnamed.as_ref() == Some(misnamed);
            let uses: Vec<Diagnostic> = found.extract_if(.., is_same).collect();
            let Some(first) = uses.first() else { continue };
            let [declared, typed] = [&misnamed.declared, &misnamed.typed].map(|name| excerpt(name, MAX_QUOTED_NAME));
            let message = format!("what is declared here is `{declared}`, and what is used is `{typed}`");
            let fault = Diagnostic::new(first.code.clone(), at, message).with_help(format!("did you mean `{typed}`?"));
            found.push(with_places(fault, &uses, "used here"));
        }
    }

    /// Where the name is, without its quotes, and the file.
    fn place(&self, mention: &Mention) -> Option<(Location, &Source)> {
        let (source, file) = self.sources.find(&self.folder.called(&mention.path))?;
        let quotes = mention.span.of(file.text()).chars().take_while(|c| matches!(c, '"' | '\'')).count();
        let span = Span::new(mention.span.start + quotes, mention.span.end - quotes);
        Some((Location { source, span }, file))
    }
}

/// Whether the name at this place is the first one of a header.
fn starts_header(text: &str, name: Span) -> bool {
    text.get(..name.start).is_some_and(|before| before.ends_with('['))
}

fn with_places(fault: Diagnostic, others: &[Diagnostic], label: &str) -> Diagnostic {
    let listed = others.iter().filter_map(|one| one.at).take(MAX_PLACES);
    listed.fold(fault, |fault, at| fault.with_place(at, label))
}

/// Whether a finding is about its place alone, whatever else the pack declares.
pub(super) fn is_by_itself(one: &Diagnostic) -> bool {
    let codes = [
        Code::PACK_EXPRESSION,
        Code::PACK_PATTERN,
        Code::PACK_SCHEMA,
        Code::PACK_REMOTE_REF,
        Code::PACK_UNFIT_STRATEGY,
    ];
    one.is_error() && codes.contains(&one.code)
}
