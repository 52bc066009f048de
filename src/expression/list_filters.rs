//! List filters: what can a filter do with items, or with the members of a table?
//!
//! In: an item to iterate over, and the arguments of the filter.
//! Out: other lists, or one of the items.
//! Never: compares items before the steps are charged.

use super::evaluator::{DottedPath, Evaluator, Made};
use super::filters::{MAX_BOUND, MemberPath, arg, flag, whole, word};
use super::item::{Item, NONE, SortClass};
use super::limits::{Halt, NODE_WEIGHT};
use super::predicates::rank;
use super::text_filters::changed;
use super::tree::Operator;
use crate::value::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The maximum number of items of a range.
const MAX_RANGE_ITEMS: u64 = 10_000;

/// The first item or character, or the last.
pub(super) fn end<'v>(run: &Evaluator<'v>, base: Item<'v>, last: bool) -> Made<'v> {
    match base.kind() {
        SortClass::Text | SortClass::List => Ok(base.at(if last { -1 } else { 0 }).unwrap_or(NONE)),
        SortClass::Table if !last => Ok(run.each(base)?.into_iter().next().unwrap_or(NONE)),
        kind => {
            let which = if last { "last" } else { "first" };
            Err(Halt::failed(format!("{} has no {which} item", kind.noun())))
        }
    }
}

pub(super) fn reverse<'v>(run: &Evaluator<'v>, base: Item<'v>, _: &[Item<'v>]) -> Made<'v> {
    if let Some(text) = base.text() {
        run.make(text.len())?;
        return Ok(text.chars().rev().collect::<String>().into());
    }
    let mut items = run.each(base)?;
    items.reverse();
    Ok(run.part(items))
}

/// A table as pairs of name and value.
pub(super) fn pairs<'v>(run: &Evaluator<'v>, base: Item<'v>) -> Result<Vec<Item<'v>>, Halt> {
    let SortClass::Table = base.kind() else {
        return Err(Halt::failed(format!("{} has no pairs of name and value", base.noun())));
    };
    let length = base.len().unwrap_or_default();
    run.step(length)?;
    if let Item::Ref(Value::Object(object)) = base {
        return Ok(object.members().iter().map(Item::Pair).collect());
    }
    run.make(4 * NODE_WEIGHT * length)?;
    Ok(base.members().into_iter().flatten().map(|(name, item)| run.part(vec![name, item])).collect())
}

/// Sorts items by their keys, stably. The steps are charged beforehand, by the number of items: how many comparisons
/// the sort makes depends on their order.
fn ordered<'v, T>(
    run: &Evaluator<'v>,
    items: &mut [T],
    key: impl Fn(&T) -> Cow<'_, Item<'v>>,
    (case, reverse): (bool, bool),
) -> Result<(), Halt> {
    let rounds = items.len().checked_ilog2().unwrap_or(0) as usize + 1;
    for item in items.iter() {
        run.step(rounds)?;
        compared(run, &key(item), rounds)?;
    }
    items.sort_by(|one, other| {
        let order = rank(&key(one), &key(other), case);
        if reverse { order.reverse() } else { order }
    });
    Ok(())
}

/// Charges the steps for comparing a value this many times.
fn compared(run: &Evaluator<'_>, item: &Item<'_>, times: usize) -> Result<(), Halt> {
    run.step(times)?;
    match item.kind() {
        SortClass::Text => run.search(item.text().map_or(0, str::len).saturating_mul(times)),
        SortClass::List => item.items().into_iter().flatten().try_for_each(|item| compared(run, &item, times)),
        SortClass::Table => item.members().into_iter().flatten().try_for_each(|(_, item)| compared(run, &item, times)),
        _ => Ok(()),
    }
}

pub(super) fn sort<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (case, reverse, attribute) = (flag(args, 0)?, flag(args, 1)?, word(args, 2)?);
    let mut items = run.each(base)?;
    let names: Vec<Item<'_>> = attribute
        .into_iter()
        .flat_map(|names| names.split(',').map(str::trim))
        .filter(|name| !name.is_empty())
        .map(Item::Text)
        .collect();
    if names.is_empty() {
        ordered(run, &mut items, |item| Cow::Borrowed(item), (case, reverse))?;
        return Ok(run.part(items));
    }
    run.make(NODE_WEIGHT * items.len() * names.len())?;
    let paths: Vec<DottedPath<'_>> = names.iter().map(DottedPath::new).collect();
    let part = |path: &DottedPath<'_>, item: &Item<'v>| match path.of(item) {
        Some(part) if !case && part.text().is_some() => changed(run, &part, str::to_ascii_lowercase),
        part => Ok(part.unwrap_or(NONE)),
    };
    let mut keyed: Vec<(Item<'v>, Item<'v>)> = Vec::with_capacity(items.len());
    for item in items {
        let key = paths.iter().map(|path| part(path, &item)).collect::<Result<_, _>>()?;
        keyed.push((run.part(key), item));
    }
    ordered(run, &mut keyed, |(key, _)| Cow::Borrowed(key), (case, reverse))?;
    Ok(run.part(keyed.into_iter().map(|(_, item)| item).collect()))
}

pub(super) fn dictsort<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let place = i128::from(word(args, 0)? == Some("value"));
    let flags = (flag(args, 1)?, flag(args, 2)?);
    let mut pairs = pairs(run, base)?;
    ordered(run, &mut pairs, |pair| Cow::Owned(pair.at(place).unwrap_or(NONE)), flags)?;
    run.list(pairs)
}

/// The least item, and of several the first; or the greatest, and of several the last.
pub(super) fn most<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>], greatest: bool) -> Made<'v> {
    let (member, case) = (MemberPath::new(args, 0)?, flag(args, 1)?);
    let mut best: Option<(Item<'v>, Item<'v>)> = None;
    for item in run.each(base)? {
        let key = member.of(&item);
        compared(run, &key, 1)?;
        let replaces = best.as_ref().is_none_or(|(best, _)| (rank(&key, best, case) == Ordering::Less) != greatest);
        if replaces {
            best = Some((key, item));
        }
    }
    Ok(best.map_or(NONE, |(_, item)| item))
}

/// The items without those whose key equals that of an earlier one.
pub(super) fn unique<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (case, member) = (flag(args, 0)?, MemberPath::new(args, 1)?);
    let items = run.each(base)?;
    run.make(2 * NODE_WEIGHT * items.len())?;
    let mut keyed = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let key = member.of(item);
        keyed.push(match key.text() {
            Some(text) if !case => (run.text(text.to_lowercase())?, place),
            _ => (key, place),
        });
    }
    ordered(run, &mut keyed, |(key, _)| Cow::Borrowed(key), (true, false))?;
    keyed.dedup_by(|(key, _), (before, _)| rank(key, before, true).is_eq());
    keyed.sort_unstable_by_key(|(_, place)| *place);
    let mut items = items.into_iter().enumerate();
    let unique = keyed.iter().filter_map(|(_, first)| items.find(|(place, _)| place == first));
    Ok(run.part(unique.map(|(_, item)| item).collect()))
}

pub(super) fn sum<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let member = MemberPath::new(args, 0)?;
    let mut sum = match arg(args, 1) {
        start if start.is_none() => Item::from(0),
        start => start.clone(),
    };
    for item in run.each(base)? {
        let item = member.of(&item);
        sum = match (sum.number(), item.numeric()) {
            _ if item.is_none() && member.0.is_some() => continue,
            (Some(one), Some(other)) => {
                let failed = || Halt::failed(format!("unable to calculate {one} + {other}"));
                one.calculate(Operator::Add, other).map(Item::from).ok_or_else(failed)?
            }
            (Some(_), None) => return Err(Halt::failed(format!("a sum takes numbers, not {}", item.noun()))),
            _ => run.calculated(Operator::Add, sum, item)?,
        };
    }
    Ok(sum)
}

/// The argument `count`: the number of lists that `slice` makes, or the length of those that `batch` makes.
fn count(run: &Evaluator<'_>, args: &[Item<'_>]) -> Result<usize, Halt> {
    let count = whole::<usize>(args, 0)?.filter(|count| *count > 0);
    let count = count.ok_or_else(|| Halt::failed("the count is a whole number above 0"))?;
    run.make(2 * NODE_WEIGHT.saturating_mul(count))?;
    Ok(count)
}

pub(super) fn batch<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (count, fill) = (count(run, args)?, arg(args, 1));
    let items = run.each(base)?;
    run.make(2 * NODE_WEIGHT * items.len())?;
    let mut batches: Vec<Vec<Item<'v>>> = items.chunks(count).map(<[Item<'v>]>::to_vec).collect();
    if let (Some(last), false) = (batches.last_mut(), fill.is_none()) {
        last.resize(count, fill.clone());
    }
    run.list(batches.into_iter().map(|batch| run.part(batch)).collect())
}

pub(super) fn slice<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (count, fill) = (count(run, args)?, arg(args, 1));
    let items = run.each(base)?;
    run.make(NODE_WEIGHT * items.len())?;
    let (length, longer) = (items.len() / count, items.len() % count);
    let mut rest = items.into_iter();
    let slices = (0..count).map(|number| {
        let mut part: Vec<Item<'v>> = rest.by_ref().take(length + usize::from(number < longer)).collect();
        if number >= longer && !fill.is_none() {
            part.push(fill.clone());
        }
        run.part(part)
    });
    run.list(slices.collect())
}

pub(super) fn chain<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let all: Vec<Item<'v>> = std::iter::once(base).chain(args.iter().cloned()).collect();
    if all.iter().all(|item| item.kind() == SortClass::Table) {
        let length = all.iter().filter_map(Item::len).sum::<usize>();
        run.step(length)?;
        run.make(2 * NODE_WEIGHT * length)?;
        // The members are sorted by name; of members with the same name, the last one is used.
        let members: BTreeMap<String, Item<'v>> = all
            .iter()
            .flat_map(|item| item.members().unwrap_or_default())
            .filter_map(|(name, item)| Some((name.text()?.to_owned(), item)))
            .collect();
        return run.table(members.into_iter().map(|(name, item)| (name.into(), item)).collect());
    }
    let mut items = Vec::new();
    for list in all {
        items.extend(run.each(list)?);
    }
    run.list(items)
}

pub(super) fn zip<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let mut lists = vec![run.each(base)?.into_iter()];
    for list in args {
        lists.push(run.each(list.clone())?.into_iter());
    }
    let length = lists.iter().map(ExactSizeIterator::len).min().unwrap_or_default();
    run.make((lists.len() + 2).saturating_mul(NODE_WEIGHT).saturating_mul(length))?;
    let rows = (0..length).map(|_| run.part(lists.iter_mut().filter_map(Iterator::next).collect()));
    run.list(rows.collect())
}

/// The numbers of a range.
pub(super) fn range<'v>(run: &Evaluator<'v>, bounds: &[Item<'v>]) -> Made<'v> {
    let near = |bound: Option<i64>| match bound {
        Some(bound) if bound.unsigned_abs() > MAX_BOUND => Err(Halt::new("the bounds of this range are too large")),
        bound => Ok(bound),
    };
    let (lower, upper) = (near(whole(bounds, 0)?)?, near(whole(bounds, 1)?)?);
    let step = near(whole(bounds, 2)?)?.unwrap_or(1);
    let lower = lower.ok_or_else(|| Halt::failed("a range takes whole numbers"))?;
    let (from, to) = upper.map_or((0, lower), |upper| (lower, upper));
    if step == 0 {
        return Err(Halt::new("cannot create range with step of 0"));
    }
    if from.abs_diff(to) / step.unsigned_abs() > MAX_RANGE_ITEMS {
        return Err(Halt::new(format!("a range has at most {MAX_RANGE_ITEMS} items")));
    }
    let is_inside = |number: &i64| if step > 0 { *number < to } else { *number > to };
    let numbers: Vec<Item<'v>> = std::iter::successors(Some(from), |number| number.checked_add(step))
        .take_while(is_inside)
        .map(Item::from)
        .collect();
    run.step(numbers.len())?;
    run.list(numbers)
}
