//! Filters: which filters are there, and what does each do?
//!
//! In: an item, and the arguments of the filter.
//! Out: [`FILTERS`], each with its parameters; the result of a filter.
//! Never: uses more steps or bytes than the evaluation has left.

use super::evaluator::{DottedPath, Evaluator, Made};
use super::item::{Item, NONE};
use super::limits::Halt;
use super::list_filters::{batch, chain, dictsort, end, most, pairs, reverse, slice, sort, sum, unique, zip};
use super::number_filters::{abs, float, int, round};
use super::predicates::holds_something;
use super::shell::command;
use super::text_filters::{changed, indent, join, parts, replace, split, text_of, trim};
use crate::text::{capitalized, entities, titled};
use crate::value::Value;

/// A filter.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) name: &'static str,
    pub(super) takes: FilterSignature,
    /// The names of its parameters; the first [`ordered`](Self::ordered) of them can be passed by position.
    pub(super) args: FilterNames,
    pub(super) ordered: usize,
    /// How many parameters, the first ones, are required.
    pub(super) needs: usize,
    apply: Apply,
}

type FilterNames = &'static [&'static str];
type Apply = for<'r, 'v> fn(&'r Evaluator<'v>, Item<'v>, &[Item<'v>]) -> Made<'v>;

/// What a filter takes, and what it takes `none` for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterSignature {
    Any,
    /// The text of any value; `none` is an empty text.
    Text,
    /// A text that becomes a list, which is empty for `none`.
    Words,
    /// A value with items; `none` is an empty list.
    Each,
    /// A value with a length; `none` is an empty list.
    Some,
    /// A table, which becomes pairs of name and value; `none` is an empty table.
    Pairs,
}

impl Filter {
    /// The filter of this name.
    pub(super) fn of(name: &str) -> Option<&'static Filter> {
        FILTERS.binary_search_by(|filter| filter.name.cmp(name)).ok().and_then(|place| FILTERS.get(place))
    }
}

const fn filter(
    name: &'static str,
    takes: FilterSignature,
    args: FilterNames,
    ordered: usize,
    needs: usize,
    apply: Apply,
) -> Filter {
    Filter { name, takes, args, ordered, needs, apply }
}

/// In alphabetical order.
pub(super) static FILTERS: [Filter; 45] = [
    filter("abs", FilterSignature::Any, &[], 0, 0, abs),
    filter("attr", FilterSignature::Any, &["key"], 1, 1, |_, base, args| Ok(base.get(arg(args, 0)).unwrap_or(NONE))),
    filter("batch", FilterSignature::Each, &["count", "fill_with"], 2, 1, batch),
    filter("bool", FilterSignature::Any, &[], 0, 0, |_, base, _| Ok(base.is_true().into())),
    filter("capitalize", FilterSignature::Text, &[], 0, 0, |run, base, _| changed(run, &base, capitalized)),
    filter("chain", FilterSignature::Each, &[], 0, 0, chain),
    filter("command", FilterSignature::Any, &["assignments", "redirects", "globs"], 0, 0, command),
    filter("count", FilterSignature::Some, &[], 0, 0, length),
    filter("d", FilterSignature::Any, &["default_value", "boolean"], 2, 0, default),
    filter("default", FilterSignature::Any, &["default_value", "boolean"], 2, 0, default),
    filter("dictsort", FilterSignature::Pairs, &["by", "case_sensitive", "reverse"], 0, 0, dictsort),
    filter("first", FilterSignature::Some, &[], 0, 0, |run, base, _| end(run, base, false)),
    filter("float", FilterSignature::Any, &["default"], 1, 0, float),
    filter("indent", FilterSignature::Text, &["width", "first", "blank"], 3, 0, indent),
    filter("int", FilterSignature::Any, &["default", "base"], 2, 0, int),
    filter("items", FilterSignature::Pairs, &[], 0, 0, |run, base, _| {
        pairs(run, base).and_then(|pairs| run.list(pairs))
    }),
    filter("join", FilterSignature::Each, &["d", "attribute"], 2, 0, join),
    filter("last", FilterSignature::Some, &[], 0, 0, |run, base, _| end(run, base, true)),
    filter("length", FilterSignature::Some, &[], 0, 0, length),
    filter("lines", FilterSignature::Words, &[], 0, 0, |run, base, _| {
        parts(run, &base, |text, found| text.lines().for_each(found))
    }),
    filter("list", FilterSignature::Each, &[], 0, 0, |run, base, _| run.each(base).map(|items| run.part(items))),
    filter("lower", FilterSignature::Text, &[], 0, 0, |run, base, _| changed(run, &base, str::to_lowercase)),
    filter("map", FilterSignature::Each, &["attribute", "default"], 0, 0, |_, base, _| Ok(base)),
    filter("max", FilterSignature::Each, &["attribute", "case_sensitive"], 0, 0, |run, base, args| {
        most(run, base, args, true)
    }),
    filter("min", FilterSignature::Each, &["attribute", "case_sensitive"], 0, 0, |run, base, args| {
        most(run, base, args, false)
    }),
    filter("reject", FilterSignature::Each, &[], 0, 0, |_, base, _| Ok(base)),
    filter("rejectattr", FilterSignature::Each, &[], 0, 0, |_, base, _| Ok(base)),
    filter("replace", FilterSignature::Text, &["from", "to"], 2, 2, replace),
    filter("reverse", FilterSignature::Some, &[], 0, 0, reverse),
    filter("round", FilterSignature::Any, &["precision", "method"], 2, 0, round),
    filter("select", FilterSignature::Each, &[], 0, 0, |_, base, _| Ok(base)),
    filter("selectattr", FilterSignature::Each, &[], 0, 0, |_, base, _| Ok(base)),
    filter("shows", FilterSignature::Any, &["held"], 1, 1, shows),
    filter("slice", FilterSignature::Each, &["count", "fill_with"], 2, 1, slice),
    filter("sort", FilterSignature::Each, &["case_sensitive", "reverse", "attribute"], 0, 0, sort),
    filter("split", FilterSignature::Words, &["by", "most"], 2, 0, split),
    filter("string", FilterSignature::Text, &[], 0, 0, |run, base, _| text_of(run, base)),
    filter("sum", FilterSignature::Each, &["attribute", "start"], 2, 0, sum),
    filter("title", FilterSignature::Text, &[], 0, 0, |run, base, _| changed(run, &base, titled)),
    filter("tojson", FilterSignature::Any, &[], 0, 0, |run, base, _| Ok(run.json(&base)?.into())),
    filter("trim", FilterSignature::Text, &["chars"], 1, 0, trim),
    filter("unique", FilterSignature::Each, &["case_sensitive", "attribute"], 0, 0, unique),
    filter("upper", FilterSignature::Text, &[], 0, 0, |run, base, _| changed(run, &base, str::to_uppercase)),
    filter("xml", FilterSignature::Text, &[], 0, 0, |run, base, _| changed(run, &base, entities)),
    filter("zip", FilterSignature::Each, &[], 0, 0, zip),
];

/// The largest bound of a range or slice.
pub(super) const MAX_BOUND: u64 = 1 << 53;

/// Applies a filter to a value.
pub(super) fn apply<'v>(run: &Evaluator<'v>, filter: &'static Filter, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    run.step(1)?;
    let base = match filter.takes {
        FilterSignature::Any => base,
        _ if !base.is_none() => base,
        FilterSignature::Text => return Ok(Item::Text("")),
        FilterSignature::Words => return Ok(run.part(Vec::new())),
        FilterSignature::Pairs => Value::Object(Default::default()).into(),
        _ => run.part(Vec::new()),
    };
    (filter.apply)(run, base, args)
}

/// An argument; `none` if it is left out.
pub(super) fn arg<'i, 'v>(args: &'i [Item<'v>], place: usize) -> &'i Item<'v> {
    args.get(place).unwrap_or(&NONE)
}

/// An argument that is true or false.
pub(super) fn flag(args: &[Item<'_>], place: usize) -> Result<bool, Halt> {
    let flag = arg(args, place);
    match flag.truth() {
        Some(truth) => Ok(truth),
        None if flag.is_none() => Ok(false),
        None => Err(Halt::failed(format!("this argument is true or false, not {}", flag.noun()))),
    }
}

/// An argument that is a whole number; `None` if it is left out.
pub(super) fn whole<T: TryFrom<i128>>(args: &[Item<'_>], place: usize) -> Result<Option<T>, Halt> {
    let whole = arg(args, place);
    if whole.is_none() {
        return Ok(None);
    }
    let wrong = || Halt::failed(format!("this argument is a whole number, not {}", whole.noun()));
    whole.whole().and_then(|whole| T::try_from(whole).ok()).map(Some).ok_or_else(wrong)
}

/// An argument that is a text; `None` if it is left out.
pub(super) fn word<'i>(args: &'i [Item<'_>], place: usize) -> Result<Option<&'i str>, Halt> {
    let word = arg(args, place);
    match word.text() {
        None if !word.is_none() => Err(Halt::failed(format!("this argument is a text, not {}", word.noun()))),
        text => Ok(text),
    }
}

/// The argument `attribute`: the path to a member of each item. Without it, the path is that of the item itself.
pub(super) struct MemberPath<'t>(pub(super) Option<DottedPath<'t>>);

impl<'t> MemberPath<'t> {
    pub(super) fn new(args: &'t [Item<'_>], place: usize) -> Result<Self, Halt> {
        word(args, place).map(|word| Self(word.map(|_| DottedPath::new(arg(args, place)))))
    }

    pub(super) fn find<'v>(&self, item: &Item<'v>) -> Option<Item<'v>> {
        self.0.as_ref().map_or_else(|| Some(item.clone()), |path| path.of(item))
    }

    pub(super) fn of<'v>(&self, item: &Item<'v>) -> Item<'v> {
        self.find(item).unwrap_or(NONE)
    }
}

fn default<'v>(_: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let absent = base.is_none() || (flag(args, 1)? && !base.is_true());
    match arg(args, 0) {
        _ if !absent => Ok(base),
        // `default(none)` means the same as `default` without a value.
        other if other.is_none() => Ok(Item::Text("")),
        other => Ok(other.clone()),
    }
}

fn length<'v>(_: &Evaluator<'v>, base: Item<'v>, _: &[Item<'v>]) -> Made<'v> {
    base.len().map(Item::from).ok_or_else(|| Halt::failed(format!("{} has no length", base.noun())))
}

/// Whether a section of a prompt appears: `always`, `hidden`, or else if the argument contains anything.
fn shows<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    Ok(match base.text() {
        Some("always") => true,
        Some("hidden") => false,
        _ => holds_something(run, arg(args, 0))?,
    }
    .into())
}
