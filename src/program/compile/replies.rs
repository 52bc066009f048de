//! Replies, from names to ids: how often may each block occur, and in which order?
//!
//! In: `[reply]` of the pack and of a mode.
//! Out: [`ReplyShape`], with the mode's settings on top of the pack's.
//! Never: fails: the pack's checks have already reported every name that cannot be resolved.

use crate::program::{BlockBinding, BlockId, Count, Dialect, DialectId, NameSource, ReplyShape, TextRole};
use crate::surface::{self, Role};
use indexmap::IndexSet;

/// The shape of a reply: the mode's settings on top of the pack's.
pub(super) fn compile_reply(
    pack: &surface::ReplyTable,
    mode: Option<&surface::ReplyTable>,
    dialects: &[Dialect],
) -> ReplyShape {
    let blocks_called = |name: &str| -> Vec<(DialectId, BlockId)> {
        let is_called = |block: &BlockBinding| block.name == name || block.called == NameSource::Word(name.to_owned());
        let of_dialect = |dialect: &Dialect| {
            let blocks = dialect.blocks_by_id().filter(|(_, block)| is_called(block));
            blocks.map(|(id, _)| (dialect.id, id)).collect::<Vec<_>>()
        };
        dialects.iter().flat_map(of_dialect).collect()
    };
    let shows = mode.and_then(|mode| mode.shows.as_ref()).or(pack.shows.as_ref()).map(|shows| shows.value.clone());
    let separator = mode.and_then(|mode| mode.separator.as_ref()).or(pack.separator.as_ref());
    let separator = separator.map(|separator| separator.value.clone());
    let hold = mode.and_then(|mode| mode.hold.as_ref()).or(pack.hold.as_ref()).map(|hold| (hold.value, hold.at));
    let mut reply = ReplyShape { shows: shows.clone(), separator, hold, ..ReplyShape::default() };
    let tables: Vec<_> = mode.into_iter().chain([pack]).map(|reply| &reply.counts).collect();
    let names: IndexSet<&String> = tables.iter().rev().flat_map(|counts| counts.keys()).collect();
    for name in names {
        // A mode's own row comes first; the pack's row fills in what the mode leaves out.
        let rows = || tables.iter().filter_map(|counts| counts.get(name));
        let named = || rows().map(|row| &row.value);
        let Some(at) = rows().next().map(|row| row.at) else { continue };
        let most = named().find_map(|count| count.most.as_ref()).map(|most| most.value);
        let required = named().find_map(|count| count.required.as_ref()).is_some_and(|required| required.value);
        let keys = named().map(|count| &count.keys.0).find(|keys| !keys.is_empty());
        let keys = keys.into_iter().flatten().map(|key| key.value.clone()).collect();
        let lists = named().find_map(|count| count.lists.as_ref()).map(|lists| lists.value.clone());
        if name == "calls" {
            reply.calls = most.map(|most| (most, at));
            reply.least_calls = named().find_map(|count| count.least.as_ref()).map(|least| (least.value, at));
            reply.calls_last = named().find_map(|count| count.last.as_ref()).filter(|last| last.value).map(|_| at);
            continue;
        }
        let blocks = blocks_called(name);
        let is_message = shows.as_ref().is_some_and(|shows| shows == name);
        let outside = name == "message" && dialects.iter().any(|dialect| dialect.text == TextRole::Message);
        let message = is_message
            || outside
            || blocks.iter().any(|(dialect, block)| {
                let block = dialect.of(dialects).and_then(|dialect| dialect.block(*block));
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
