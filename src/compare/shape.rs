//! Shapes: which parts may an answer have?
//!
//! In: two programs.
//! Out: a [`DeclarationChange`] for each call and content that a mode accepts now or no longer accepts, for each limit
//! on these and on speakers, and for each quoted region and thinking block, in which nothing counts.
//! Never: compares how a block is written: a different form is another dialect, and neither wider nor narrower.

use super::permissions::trips;
use super::rows::{RowDirections, Rows, pair, reach, together};
use super::{DeclarationChange, Direction};
use crate::program::{Dialect, MaskKinds, Mode, Program};
use crate::surface::Role;
use std::cmp::Ordering;

pub(super) fn changes(old: &Program, new: &Program) -> Vec<DeclarationChange> {
    let mut changes = Vec::new();
    let same = |(): &(), (): &()| None;
    let (allowing, restricting) = (RowDirections::ALLOWING, RowDirections::RESTRICTING);
    pair("block", &blocks(old), &blocks(new), allowing, &mut changes, same);
    pair("thinking", &thoughts(old, new), &thoughts(new, old), restricting, &mut changes, same);
    pair("limit", &limits(old, new), &limits(new, old), restricting, &mut changes, Limit::direction);
    let limited = |old: &String, new: &String| {
        (old != new).then(|| trips(old, new)).map(|(direction, how)| (direction, vec![how]))
    };
    pair("limit", &speech(old), &speech(new), restricting, &mut changes, limited);
    pair("mask", &masks(old, new), &masks(new, old), restricting, &mut changes, same);
    pair("path", &paths(old, new), &paths(new, old), restricting, &mut changes, same);
    changes
}

/// The calls and contents that answers may have, by mode.
fn blocks(program: &Program) -> Rows<()> {
    let mut rows: Rows<()> = Vec::new();
    for (mode, rules) in program.modes.iter() {
        for block in program.dialects_of(rules).flat_map(|dialect| dialect.blocks.iter()) {
            let name = format!("{} in {mode}", block.name);
            if matches!(block.role, Role::Call | Role::Content) && !rows.iter().any(|(known, ..)| *known == name) {
                rows.push((name, (), program.place(block.at)));
            }
        }
    }
    rows
}

/// How many of a block there may be, and with which keys; empty for any key.
struct Limit {
    most: Option<usize>,
    keys: Vec<String>,
}

impl Limit {
    fn direction(&self, new: &Self) -> Option<(Direction, Vec<String>)> {
        let number =
            |most: Option<usize>| most.map_or_else(|| "any number".to_owned(), |most| format!("at most {most}"));
        let order = new.most.unwrap_or(usize::MAX).cmp(&self.most.unwrap_or(usize::MAX));
        let most =
            order.is_ne().then(|| (Direction::of(order), format!("{} → {}", number(self.most), number(new.most))));
        let keys = match reach(&new.keys, &self.keys) {
            Some(Ordering::Equal) => None,
            Some(Ordering::Greater) => Some((Direction::Widened, "it may have more keys")),
            Some(Ordering::Less) => Some((Direction::Narrowed, "it may have fewer keys")),
            None => Some((Direction::Changed, "it may have other keys")),
        };
        let keys = keys.map(|(direction, how)| (direction, how.to_owned()));
        together([most, keys].into_iter().flatten().collect())
    }
}

/// The limits on calls and blocks, in the modes that `other` also has.
fn limits(program: &Program, other: &Program) -> Rows<Limit> {
    let mut rows = Vec::new();
    let modes = program.modes.iter().filter(|(mode, _)| other.modes.contains_key(*mode));
    for (mode, Mode { reply, .. }) in modes {
        if let Some((most, at)) = reply.calls {
            let limit = Limit { most: Some(most), keys: Vec::new() };
            rows.push((format!("calls in {mode}"), limit, program.place(at)));
        }
        for count in reply.counts.iter().filter(|count| count.most.is_some() || !count.keys.is_empty()) {
            let limit = Limit { most: count.most, keys: count.keys.clone() };
            rows.push((format!("{} in {mode}", count.name), limit, program.place(count.at)));
        }
    }
    rows
}

/// The condition that ends a discussion of speakers.
fn speech(program: &Program) -> Rows<String> {
    let speakers = program.flows.speakers.iter();
    let limits = speakers.filter_map(|speakers| Some((speakers.limit.as_ref()?, speakers.at)));
    limits.map(|(limit, at)| ("of speakers".to_owned(), limit.source().to_owned(), program.place(at))).collect()
}

/// The dialects that `other` also has.
fn shared<'p>(program: &'p Program, other: &Program) -> impl Iterator<Item = &'p Dialect> {
    let is_known = |name: &str| other.dialects.iter().any(|dialect| dialect.name == name);
    program.dialects.iter().filter(move |dialect| is_known(&dialect.name))
}

/// The openers of blocks that contain only reasoning.
fn thoughts(program: &Program, other: &Program) -> Rows<()> {
    let blocks = shared(program, other).flat_map(|dialect| dialect.blocks.iter().map(move |block| (dialect, block)));
    let thinking = blocks.filter(|(_, block)| block.role == Role::Thinking);
    let rows = thinking.flat_map(|(dialect, block)| {
        block.names.iter().map(move |name| (format!("{name} in {}", dialect.name), (), program.place(block.at)))
    });
    rows.collect()
}

/// The kinds of quoted regions in the dialects that `other` also has.
fn masks(program: &Program, other: &Program) -> Rows<()> {
    let rows = shared(program, other).flat_map(|dialect| {
        let MaskKinds { fences, spans, block_quotes, comments, cdata, marks, around: _, openers: _ } = dialect.masks;
        let quoted = [
            ("code-fence", fences),
            ("code-span", spans),
            ("block-quote", block_quotes),
            ("comment", comments),
            ("cdata", cdata),
            ("quotation-marks", marks),
        ];
        let place = program.place(dialect.at);
        let row = move |mask| (format!("{mask} in {}", dialect.name), (), place.clone());
        quoted.into_iter().filter(|(_, is_on)| *is_on).map(move |(mask, _)| row(mask))
    });
    rows.collect()
}

/// The contents whose keys are paths below a root, among those that `other` also has.
fn paths(program: &Program, other: &Program) -> Rows<()> {
    let paths = program.contents.iter().filter(|(name, content)| content.path && other.contents.contains_key(*name));
    paths.map(|(name, _)| (format!("of {name}"), (), None)).collect()
}
