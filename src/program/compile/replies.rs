//! Replies, from names to blocks: how often may each block stand, and in which order?
//!
//! In: `[reply]` of the pack and of a mode.
//! Out: [`Reply`], a mode's own words over the pack's.
//! Never: fails: what does not resolve has been reported by the pack's checks.

use crate::program::{BlockId, Called, Count, Dialect, Outside, Reply};
use crate::surface::{self, Role};
use crate::text::Spanned;

/// The shape of a reply: a mode's own words over the pack's.
pub(super) fn compile_reply(pack: &surface::Reply, mode: Option<&surface::Reply>, dialects: &[Dialect]) -> Reply {
    let blocks_called = |name: &str| -> Vec<(usize, BlockId)> {
        let mut blocks = Vec::new();
        for (number, dialect) in dialects.iter().enumerate() {
            for (index, block) in dialect.blocks.iter().enumerate() {
                if block.name == name || block.called == Called::Word(name.to_owned()) {
                    blocks.push((number, BlockId(index as u16)));
                }
            }
        }
        blocks
    };
    let shows = mode.and_then(|mode| mode.shows.as_ref()).or(pack.shows.as_ref()).map(|shows| shows.value.clone());
    let mut reply = Reply { shows: shows.clone(), ..Reply::default() };
    let own = mode.map(|mode| &mode.counts);
    let names = pack.counts.keys().chain(own.into_iter().flat_map(|own| own.keys()));
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        let base = pack.counts.get(name);
        let over = own.and_then(|own| own.get(name));
        let pick = |count: Option<&Spanned<surface::Count>>| count.map(|count| count.value.clone());
        let (base_count, over_count) = (pick(base), pick(over));
        let most = over_count
            .as_ref()
            .and_then(|count| count.most)
            .or_else(|| base_count.as_ref().and_then(|count| count.most))
            .map(|most| most.value);
        let required = over_count
            .as_ref()
            .and_then(|count| count.required)
            .or_else(|| base_count.as_ref().and_then(|count| count.required))
            .is_some_and(|required| required.value);
        let keys = [&over_count, &base_count].into_iter().flatten().find(|count| !count.keys.0.is_empty());
        let keys = keys.map(|count| count.keys.0.iter().map(|key| key.value.clone()).collect()).unwrap_or_default();
        let lists = [&over_count, &base_count].into_iter().flatten().find_map(|count| count.lists.clone());
        let lists = lists.map(|lists| lists.value);
        let Some(at) = over.or(base).map(|count| count.at) else { continue };
        if name == "calls" {
            reply.calls = most.map(|most| (most, at));
            continue;
        }
        let blocks = blocks_called(name);
        let shown = shows.as_ref().is_some_and(|shows| shows == name);
        let outside = name == "message" && dialects.iter().any(|dialect| dialect.text == Outside::Message);
        let message = shown
            || outside
            || blocks.iter().any(|(dialect, block)| {
                let block = dialects.get(*dialect).and_then(|dialect| dialect.blocks.get(usize::from(block.0)));
                block.is_some_and(|block| block.role == Role::Message)
            });
        reply.counts.push(Count { name: name.clone(), blocks, message, required, most, keys, lists, at });
    }
    let order = mode.and_then(|mode| mode.order.as_ref()).or(pack.order.as_ref());
    if let Some(names) = order {
        reply.order = names.iter().map(|name| blocks_called(&name.value)).collect();
        reply.order_at = names.first().map(|name| name.at);
    }
    reply
}
