//! Evaluator: what does an expression evaluate to?
//!
//! In: an [`ExprTree`], the values that it reads, and the names bound by statements around it.
//! Out: its value as an [`Item`], which borrows from the scope where possible; or a [`Halt`].
//! Never: reads a clock, uses randomness, loads anything, or continues beyond a limit.

use super::Scope;
use super::filters;
use super::item::{ComputedTable, Item, List, NONE, SortClass};
use super::limits::{BYTES_BETWEEN_CHECKS, Halt, MAX_VALUE_DEPTH, NODE_WEIGHT};
use super::list_filters;
use super::number::Num;
use super::parse::OPERATORS;
use super::predicates;
use super::resolve::ScopeRead;
use super::tree::{ExprBody, ExprTree, Operation, Operator, Select, Tested};
use crate::value::{Members, Value};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

pub(super) type Made<'v> = Result<Item<'v>, Halt>;

/// The values of arguments, stored inline: most filters and tests have at most three.
type Args<'v> = SmallVec<[Item<'v>; 3]>;

/// One evaluation.
pub(super) struct Evaluator<'v> {
    /// The whole body that is evaluated: the values that it reads decide the limits.
    pub(super) body: &'v ExprBody,
    pub(super) scope: &'v Scope<'v>,
    /// The steps taken so far.
    pub(super) steps: Cell<u64>,
    /// The bytes allocated so far.
    pub(super) bytes: Cell<usize>,
    /// How many bytes may be allocated in all before the limits are checked again.
    pub(super) room: Cell<usize>,
    pub(super) size: OnceCell<usize>,
    /// The names bound by statements, the innermost loop last.
    pub(super) frames: RefCell<Vec<LoopFrame<'v>>>,
}

/// The names bound in one loop, or outside all loops.
#[derive(Default)]
pub(super) struct LoopFrame<'v> {
    names: Vec<(usize, Item<'v>)>,
    /// The index of the item, and the number of items.
    turn: Option<(usize, usize)>,
}

impl<'v> LoopFrame<'v> {
    /// Starts the next iteration of a loop, and unbinds the names of the last one.
    pub(super) fn start(&mut self, index: usize, length: usize) {
        self.names.clear();
        self.turn = Some((index, length));
    }

    pub(super) fn set(&mut self, name: usize, item: Item<'v>) {
        match self.names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = item,
            None => self.names.push((name, item)),
        }
    }
}

impl<'v> Evaluator<'v> {
    pub(super) fn new(body: &'v ExprBody, scope: &'v Scope<'v>) -> Self {
        let (steps, bytes, room) = (Cell::default(), Cell::default(), Cell::new(BYTES_BETWEEN_CHECKS));
        Self { body, scope, steps, bytes, room, size: OnceCell::new(), frames: RefCell::default() }
    }

    /// Evaluates a tree.
    pub(super) fn item(&self, tree: &'v ExprTree) -> Made<'v> {
        self.step(1)?;
        Ok(match (&tree.op, &*tree.parts) {
            (Operation::Constant(value), _) => Item::Ref(value),
            (Operation::Read(read), _) => return self.read(read),
            (Operation::Local(name), _) => self.local(*name),
            (Operation::Loop(member), _) => self.turn(member),
            (Operation::Not, [inner]) => (!self.operand(inner)?.is_true()).into(),
            (Operation::And, parts) => return self.first(parts, false),
            (Operation::Or, parts) => return self.first(parts, true),
            (Operation::Conditional, [then, test, other]) => {
                return self.item(if self.item(test)?.is_true() { then } else { other });
            }
            (Operation::Comparison(relation), [left, right]) => {
                predicates::relate(self, *relation, &self.operand(left)?, &self.operand(right)?)?.into()
            }
            (Operation::Test(test), [base, argument @ ..]) => {
                let argument = argument.first().map_or(Ok(NONE), |argument| self.operand(argument));
                self.passes(&self.operand(base)?, test, &argument?)?.into()
            }
            (Operation::Item, [base, key]) => {
                let (base, key) = (self.item(base)?, self.item(key)?);
                base.get(&key).unwrap_or(NONE)
            }
            (Operation::Filter(filter), [base, args @ ..]) => {
                return filters::apply(self, filter, self.operand(base)?, &self.all::<Args<'v>>(args)?);
            }
            _ => return self.made(tree),
        })
    }

    /// Fast path of [`item`](Self::item): most operands are constants or reads, which need no recursion.
    #[inline]
    fn operand(&self, tree: &'v ExprTree) -> Made<'v> {
        match &tree.op {
            Operation::Constant(value) => self.step(1).map(|()| Item::Ref(value)),
            Operation::Read(read) => {
                self.step(1)?;
                self.read(read)
            }
            _ => self.item(tree),
        }
    }

    #[inline]
    fn read(&self, read: &ScopeRead) -> Made<'v> {
        Ok(match read.resolve(self.scope)? {
            Cow::Borrowed(value) => Item::Ref(value),
            Cow::Owned(value) => Item::Own(value),
        })
    }

    /// Evaluates the operations that build a new value.
    fn made(&self, tree: &'v ExprTree) -> Made<'v> {
        match (&tree.op, &*tree.parts) {
            (Operation::List, items) => self.list(self.all(items)?),
            (Operation::Table, members) => self.tabled(members),
            (Operation::Slice, [base, bounds @ ..]) => {
                let base = self.item(base)?;
                self.slice(&base, &self.all::<Args<'v>>(bounds)?)
            }
            (Operation::Negate, [inner]) => {
                let negative = match self.number(&self.item(inner)?)? {
                    Num::Float(float) => Some(Num::Float(-float)),
                    Num::Whole(whole) => whole.checked_neg().map(Num::Whole),
                };
                negative.map(Item::from).ok_or_else(|| Halt::failed("overflow"))
            }
            (Operation::Concat, parts) => {
                let mut text = String::new();
                for part in self.all::<Args<'v>>(parts)? {
                    self.write(&part, &mut text)?;
                }
                Ok(text.into())
            }
            (Operation::Arithmetic(operator), [left, right]) => {
                self.calculated(*operator, self.item(left)?, self.item(right)?)
            }
            (Operation::Chain(relations), [first, rest @ ..]) => {
                let mut left = self.item(first)?;
                for (relation, right) in relations.iter().zip(rest) {
                    let right = self.item(right)?;
                    if !predicates::relate(self, *relation, &left, &right)? {
                        return Ok(false.into());
                    }
                    left = right;
                }
                Ok(true.into())
            }
            (Operation::Map(filter), [base, args @ ..]) => {
                let (items, args) = (self.each(self.item(base)?)?, self.all::<Args<'v>>(args)?);
                let items = items.into_iter().map(|item| filters::apply(self, filter, item, &args));
                self.list(items.collect::<Result<_, _>>()?)
            }
            (Operation::Attribute, [base, attribute, other]) => {
                let items = self.each(self.item(base)?)?;
                let (attribute, other) = (self.item(attribute)?, self.item(other)?);
                let path = DottedPath::new(&attribute);
                let member = |item: &Item<'v>| match attribute.text() {
                    Some(_) => path.of(item),
                    None => item.get(&attribute),
                };
                self.step(items.len())?;
                self.list(items.iter().map(|item| member(item).unwrap_or_else(|| other.clone())).collect())
            }
            (Operation::Select(select), [items, path, argument]) => {
                let items = self.each(self.item(items)?)?;
                self.select(select, items, &self.item(path)?, &self.item(argument)?)
            }
            (Operation::Range, bounds) => list_filters::range(self, &self.all::<Args<'v>>(bounds)?),
            (op, parts) => {
                debug_assert!(false, "{op:?} of {} parts", parts.len());
                Ok(NONE)
            }
        }
    }

    fn all<I: FromIterator<Item<'v>>>(&self, trees: &'v [ExprTree]) -> Result<I, Halt> {
        trees.iter().map(|tree| self.operand(tree)).collect()
    }

    /// The value of a name that statements bind; `none` if no statement has bound it yet.
    fn local(&self, name: usize) -> Item<'v> {
        let frames = self.frames.borrow();
        let mut named = frames.iter().rev().flat_map(|frame| &frame.names);
        named.find(|(known, _)| *known == name).map_or(NONE, |(_, item)| item.clone())
    }

    fn turn(&self, member: &str) -> Item<'v> {
        let innermost = self.frames.borrow().iter().rev().find_map(|frame| frame.turn);
        match (innermost, member) {
            (Some((index, _)), "index") => (index + 1).into(),
            (Some((index, _)), "index0") => index.into(),
            (Some((index, _)), "first") => (index == 0).into(),
            (Some((index, length)), "last") => (index + 1 == length).into(),
            (Some((_, length)), "length") => length.into(),
            _ => NONE,
        }
    }

    /// The first part whose truth is `wanted`, or else the last part.
    fn first(&self, parts: &'v [ExprTree], wanted: bool) -> Made<'v> {
        let mut item = NONE;
        for part in parts {
            item = self.item(part)?;
            if item.is_true() == wanted {
                break;
            }
        }
        Ok(item)
    }

    /// A new list of these items.
    pub(super) fn list(&self, items: Vec<Item<'v>>) -> Made<'v> {
        self.make(NODE_WEIGHT * items.len())?;
        let depth = self.deeper(items.iter())?;
        Ok(Item::List(Rc::new(List { items, depth })))
    }

    /// A list of items that come from one list. It is nested no deeper than that list, so no limit is checked.
    pub(super) fn part(&self, items: Vec<Item<'v>>) -> Item<'v> {
        let depth = items.iter().map(Item::depth).max().unwrap_or_default() + 1;
        Item::List(Rc::new(List { items, depth }))
    }

    fn deeper<'i>(&self, items: impl Iterator<Item = &'i Item<'v>>) -> Result<u8, Halt>
    where
        'v: 'i,
    {
        match items.map(Item::depth).max().unwrap_or_default() {
            MAX_VALUE_DEPTH.. => Err(Halt::new(format!("values are nested at most {MAX_VALUE_DEPTH} deep"))),
            depth => Ok(depth + 1),
        }
    }

    fn tabled(&self, members: &'v [ExprTree]) -> Made<'v> {
        self.make(NODE_WEIGHT * members.len())?;
        let mut table = Members::with_capacity(members.len() / 2);
        for (key, value) in members.iter().step_by(2).zip(members.iter().skip(1).step_by(2)) {
            let key = self.item(key)?;
            let Some(name) = key.text() else { return Err(Halt::unfit(&key, "the keys of a map must be texts")) };
            let name = match &key {
                Item::Ref(Value::String(name)) => name.clone(),
                _ => name.into(),
            };
            table.insert(name, self.item(value)?);
        }
        self.table(table)
    }

    /// A new table with these members.
    pub(super) fn table(&self, members: Members<Item<'v>>) -> Made<'v> {
        let depth = self.deeper(members.as_slice().iter().map(|(_, item)| item))?;
        Ok(Item::Table(Rc::new(ComputedTable { members, depth })))
    }

    /// The items of a list, the characters of a text, or the names of a table; `none` has none.
    pub(super) fn each(&self, base: Item<'v>) -> Result<Vec<Item<'v>>, Halt> {
        let length = match base.kind() {
            SortClass::None => return Ok(Vec::new()),
            SortClass::Text | SortClass::List | SortClass::Table => base.len().unwrap_or_default(),
            SortClass::Number | SortClass::Truth => {
                return Err(Halt::unfit(&base, format!("{} has no items", base.noun())));
            }
        };
        self.step(length)?;
        if let (Some(text), owned) = (base.text(), base.lasting_text()) {
            self.make(2 * NODE_WEIGHT * length)?;
            return Ok(match owned {
                Some(text) => text.split("").filter(|c| !c.is_empty()).map(Item::Text).collect(),
                None => text.chars().map(|c| String::from(c).into()).collect(),
            });
        }
        if !matches!(base, Item::List(_)) {
            self.make(NODE_WEIGHT * length)?;
        }
        match base.kind() {
            SortClass::Table => Ok(base.members().into_iter().flatten().map(|(name, _)| name).collect()),
            _ => Ok(base.into_items().unwrap_or_default()),
        }
    }

    fn number(&self, item: &Item<'v>) -> Result<Num, Halt> {
        let unfit = || Halt::unfit(item, format!("this calculation takes numbers, not {}", item.noun()));
        item.number().ok_or_else(unfit)
    }

    pub(super) fn calculated(&self, operator: Operator, left: Item<'v>, right: Item<'v>) -> Made<'v> {
        match (operator, left.kind(), right.kind()) {
            (Operator::Add, SortClass::Text, SortClass::Text) => {
                let mut text = String::new();
                self.write(&left, &mut text)?;
                self.write(&right, &mut text)?;
                return Ok(text.into());
            }
            (Operator::Add, SortClass::List, SortClass::List) => {
                let (mut items, more) = (self.each(left)?, self.each(right)?);
                items.extend(more);
                return self.list(items);
            }
            (Operator::Add, one, other) if one != other || one != SortClass::Number => {
                let is_unfit =
                    |side: &&Item<'v>| !matches!(side.kind(), SortClass::Number | SortClass::Text | SortClass::List);
                return Err(match [&left, &right].into_iter().find(is_unfit) {
                    Some(side) => Halt::unfit(side, format!("`+` takes numbers, texts or lists, not {}", side.noun())),
                    None => Halt::failed(format!("`+` takes two of a kind, not {} and {}", one.noun(), other.noun())),
                });
            }
            _ => {}
        }
        let (one, other) = (self.number(&left)?, self.number(&right)?);
        let sign = OPERATORS.iter().find(|(.., known)| *known == Some(operator)).map_or("", |(sign, ..)| *sign);
        let failed = || Halt::failed(format!("unable to calculate {one} {sign} {other}"));
        one.calculate(operator, other).map(Item::from).ok_or_else(failed)
    }

    /// A part of a text or list, with these bounds and this step.
    fn slice(&self, base: &Item<'v>, bounds: &[Item<'v>]) -> Made<'v> {
        let bound = |place: usize| match filters::arg(bounds, place) {
            item if item.is_none() => Ok(None),
            item => {
                let is_near = |bound: &i64| bound.unsigned_abs() <= filters::MAX_BOUND;
                let near = item.whole().and_then(|bound| i64::try_from(bound).ok()).filter(is_near);
                near.map(Some).ok_or_else(|| Halt::unfit(item, "the bounds of a slice are whole numbers"))
            }
        };
        let step = filters::arg(bounds, 2);
        let words = "the step of a slice is a whole number above 0; `| reverse` turns a list around";
        let whole = step.whole().and_then(|step| usize::try_from(step).ok()).filter(|step| *step > 0);
        let step = whole.ok_or_else(|| Halt::unfit(step, words))?;
        let (start, stop) = (bound(0)?, bound(1)?);
        let length = match base.kind() {
            SortClass::None => return Ok(self.part(Vec::new())),
            SortClass::Text | SortClass::List => base.len().unwrap_or_default(),
            _ => return Err(Halt::failed(format!("{} cannot be sliced", base.noun()))),
        };
        let place = |bound: i64| match usize::try_from(bound) {
            Ok(place) => place,
            Err(_) => length.saturating_sub(usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX)),
        };
        let start = start.map_or(0, place);
        let count = stop.map_or(length, place).min(length).saturating_sub(start);
        self.step(length)?;
        if let Some(text) = base.text() {
            self.make(text.len())?;
            return Ok(text.chars().skip(start).take(count).step_by(step).collect::<String>().into());
        }
        self.make(NODE_WEIGHT * length)?;
        let items = base.items().unwrap_or_default();
        Ok(self.part(items.into_iter().skip(start).take(count).step_by(step).collect()))
    }

    /// Whether an item passes a test with this argument.
    fn passes(&self, item: &Item<'v>, test: &Tested, argument: &Item<'v>) -> Result<bool, Halt> {
        match test {
            Tested::IsTrue => Ok(item.is_true()),
            Tested::Test(named) => (named.test)(self, item, argument),
            Tested::Matches(_) if item.is_none() => Ok(false),
            Tested::Matches(pattern) => {
                let text = match item.text() {
                    Some(text) => Cow::Borrowed(text),
                    None => Cow::Owned(self.json(item)?),
                };
                self.search(text.len())?;
                Ok(pattern.is_match(&text))
            }
            Tested::MatchesAny(_) if item.is_none() => Ok(false),
            Tested::MatchesAny(patterns) => {
                let text = match item.text() {
                    Some(text) => Cow::Borrowed(text),
                    None => Cow::Owned(self.json(item)?),
                };
                let patterns = patterns.of(argument).map_err(Halt::failed)?;
                for pattern in patterns {
                    self.search(text.len())?;
                    if pattern.is_match(&text) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn select(&self, select: &'v Select, items: Vec<Item<'v>>, path: &Item<'v>, argument: &Item<'v>) -> Made<'v> {
        let path = select.by_member.then(|| DottedPath::new(path));
        let passes = |item: &Item<'v>| match &path {
            None => self.passes(item, &select.test, argument),
            Some(path) => self.passes(&path.of(item).unwrap_or(NONE), &select.test, argument),
        };
        let selected = items.into_iter().filter_map(|item| match passes(&item) {
            Ok(passes) => (passes == select.wanted).then_some(Ok(item)),
            Err(halt) => Some(Err(halt)),
        });
        Ok(self.part(selected.collect::<Result<_, _>>()?))
    }
}

/// The path to a member of an item, as a text such as `1.status`.
pub(super) struct DottedPath<'t>(Vec<(&'t str, Option<usize>)>);

impl<'t> DottedPath<'t> {
    pub(super) fn new(text: &'t Item<'_>) -> Self {
        Self(text.text().unwrap_or_default().split('.').map(|step| (step, step.parse().ok())).collect())
    }

    /// The value at the end of the path, if there is one.
    pub(super) fn of<'v>(&self, item: &Item<'v>) -> Option<Item<'v>> {
        let step = |item: &Item<'v>, (name, index): &(&str, Option<usize>)| match index {
            Some(index) => item.nth(*index),
            None => item.member(name),
        };
        let mut steps = self.0.iter();
        let first = step(item, steps.next()?)?;
        steps.try_fold(first, |item, next| step(&item, next))
    }
}
