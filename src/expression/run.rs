//! Run: what does an expression evaluate to?
//!
//! In: [`Code`], the values that it reads, and the names bound by statements around it.
//! Out: its value as an [`Item`], which borrows what it can; or why there is none.
//! Never: reads a clock, uses randomness, loads anything, or goes on beyond a limit.

use super::Scope;
use super::code::{Asked, Code, Select, Turn};
use super::filters;
use super::item::{Item, Kind, List, NONE, Table};
use super::limits::{DEPTH, Halt, NODE, ROOM};
use super::list_filters;
use super::number::Num;
use super::predicates;
use super::resolve::{Read, resolve};
use super::syntax::Operator;
use crate::value::{Members, Value};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

pub(super) type Made<'v> = Result<Item<'v>, Halt>;

/// A few values, as those of arguments.
type Args<'v> = SmallVec<[Item<'v>; 3]>;

/// One evaluation.
pub(super) struct Run<'v> {
    pub(super) reads: &'v [Read],
    pub(super) scope: &'v Scope<'v>,
    /// The steps taken so far.
    pub(super) steps: Cell<u64>,
    /// The bytes made so far.
    pub(super) bytes: Cell<usize>,
    /// How many bytes it may make before it has to ask.
    pub(super) room: Cell<usize>,
    pub(super) size: OnceCell<usize>,
    /// The names bound by statements, the innermost loop last.
    pub(super) frames: RefCell<Vec<Frame<'v>>>,
}

/// The names bound in one loop, or outside all loops.
#[derive(Default)]
pub(super) struct Frame<'v> {
    names: Vec<(usize, Item<'v>)>,
    /// The index of the item, and the number of items.
    turn: Option<(usize, usize)>,
}

impl<'v> Frame<'v> {
    /// Starts the next turn of a loop: what the last one bound is gone.
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

impl<'v> Run<'v> {
    pub(super) fn new(reads: &'v [Read], scope: &'v Scope<'v>) -> Self {
        let (steps, bytes, room) = (Cell::default(), Cell::default(), Cell::new(ROOM));
        Self { reads, scope, steps, bytes, room, size: OnceCell::new(), frames: RefCell::default() }
    }

    /// Evaluates an expression.
    pub(super) fn item(&self, code: &'v Code) -> Made<'v> {
        self.step(1)?;
        Ok(match code {
            Code::Constant(value) => Item::Ref(value),
            Code::Read(number) => match resolve(self.reads, *number, self.scope)? {
                Cow::Borrowed(value) => Item::Ref(value),
                Cow::Owned(value) => Item::Own(value),
            },
            Code::Local(name) => self.local(*name),
            Code::Loop(turn) => self.turn(*turn),
            Code::Not(inner) => (!self.item(inner)?.is_true()).into(),
            Code::And(parts) => return self.first(parts, false),
            Code::Or(parts) => return self.first(parts, true),
            Code::Choice(choice) => {
                let [test, then, other] = &**choice;
                return self.item(if self.item(test)?.is_true() { then } else { other });
            }
            Code::Relation(relation, sides) => {
                let [left, right] = &**sides;
                predicates::relate(self, *relation, &self.item(left)?, &self.item(right)?)?.into()
            }
            Code::Test(base, asked) => self.asked(&self.item(base)?, asked, &self.argument(asked)?)?.into(),
            Code::Item(parts) => {
                let [base, key] = &**parts;
                let (base, key) = (self.item(base)?, self.item(key)?);
                base.get(&key).unwrap_or(NONE)
            }
            Code::Filter(filter, base, args) => {
                return filters::apply(self, filter, self.item(base)?, &self.all::<Args<'v>>(args)?);
            }
            other => return self.made(other),
        })
    }

    /// Evaluates what makes a new value.
    fn made(&self, code: &'v Code) -> Made<'v> {
        match code {
            Code::List(items) => self.list(self.all(items)?),
            Code::Table(members) => self.tabled(members),
            Code::Slice(base, bounds) => self.slice(&self.item(base)?, bounds),
            Code::Negative(inner) => {
                let number = self.operand(&self.item(inner)?)?;
                let least = Num::Whole(0).calculate(Operator::Minus, number);
                Ok(match (number, least) {
                    (Num::Float(float), _) => Num::Float(-float).into(),
                    (_, Some(number)) => number.into(),
                    (_, None) => return Err(Halt::failed("overflow")),
                })
            }
            Code::Concat(parts) => {
                let mut text = String::new();
                for part in self.all::<Args<'v>>(parts)? {
                    self.write(&part, &mut text)?;
                }
                Ok(text.into())
            }
            Code::Calculation(operator, sides) => {
                let [left, right] = &**sides;
                self.calculated(*operator, self.item(left)?, self.item(right)?)
            }
            Code::Chain(first, rest) => {
                let mut left = self.item(first)?;
                for (relation, right) in rest {
                    let right = self.item(right)?;
                    if !predicates::relate(self, *relation, &left, &right)? {
                        return Ok(false.into());
                    }
                    left = right;
                }
                Ok(true.into())
            }
            Code::Map(base, filter, args) => {
                let (items, args) = (self.each(self.item(base)?)?, self.all::<Args<'v>>(args)?);
                let items = items.into_iter().map(|item| filters::apply(self, filter, item, &args));
                self.list(items.collect::<Result<_, _>>()?)
            }
            Code::Attribute(parts) => {
                let [base, attribute, other] = &**parts;
                let items = self.each(self.item(base)?)?;
                let (attribute, other) = (self.item(attribute)?, self.item(other)?);
                let path = Path::new(&attribute);
                let member = |item: &Item<'v>| match attribute.text() {
                    Some(_) => path.of(item),
                    None => item.get(&attribute),
                };
                self.step(items.len())?;
                self.list(items.iter().map(|item| member(item).unwrap_or_else(|| other.clone())).collect())
            }
            Code::Select(select) => self.select(select),
            Code::Range(bounds) => list_filters::range(self, &self.all::<Args<'v>>(bounds)?),
            other => self.item(other),
        }
    }

    pub(super) fn all<I: FromIterator<Item<'v>>>(&self, codes: &'v [Code]) -> Result<I, Halt> {
        codes.iter().map(|code| self.item(code)).collect()
    }

    /// The value of a name that statements bind; none before the first statement that does has run.
    fn local(&self, name: usize) -> Item<'v> {
        let frames = self.frames.borrow();
        let mut named = frames.iter().rev().flat_map(|frame| &frame.names);
        named.find(|(known, _)| *known == name).map_or(NONE, |(_, item)| item.clone())
    }

    fn turn(&self, turn: Turn) -> Item<'v> {
        let innermost = self.frames.borrow().iter().rev().find_map(|frame| frame.turn);
        let Some((index, length)) = innermost else { return NONE };
        match turn {
            Turn::Index => (index + 1).into(),
            Turn::Index0 => index.into(),
            Turn::First => (index == 0).into(),
            Turn::Last => (index + 1 == length).into(),
            Turn::Length => length.into(),
        }
    }

    /// The first part that is true, or false, or else the last part.
    fn first(&self, parts: &'v [Code], wanted: bool) -> Made<'v> {
        let mut item = NONE;
        for part in parts {
            item = self.item(part)?;
            if item.is_true() == wanted {
                break;
            }
        }
        Ok(item)
    }

    /// A list of these items.
    pub(super) fn list(&self, items: Vec<Item<'v>>) -> Made<'v> {
        self.make(NODE * items.len())?;
        let depth = self.deeper(items.iter())?;
        Ok(Item::List(Rc::new(List { items, depth })))
    }

    /// A part of a list, which is nested no deeper than the list.
    pub(super) fn part(&self, items: Vec<Item<'v>>) -> Item<'v> {
        let depth = items.iter().map(Item::depth).max().unwrap_or_default() + 1;
        Item::List(Rc::new(List { items, depth }))
    }

    fn deeper<'i>(&self, items: impl Iterator<Item = &'i Item<'v>>) -> Result<u8, Halt>
    where
        'v: 'i,
    {
        match items.map(Item::depth).max().unwrap_or_default() {
            DEPTH.. => Err(Halt::new(format!("values are nested at most {DEPTH} deep"))),
            depth => Ok(depth + 1),
        }
    }

    fn tabled(&self, members: &'v [[Code; 2]]) -> Made<'v> {
        self.make(2 * NODE * members.len())?;
        let mut table = Members::with_capacity(members.len());
        for [key, value] in members {
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

    /// A table with these members.
    pub(super) fn table(&self, members: Members<Item<'v>>) -> Made<'v> {
        let depth = self.deeper(members.as_slice().iter().map(|(_, item)| item))?;
        Ok(Item::Table(Rc::new(Table { members, depth })))
    }

    /// The items of a list, the characters of a text, or the names of a table; `none` has none.
    pub(super) fn each(&self, base: Item<'v>) -> Result<Vec<Item<'v>>, Halt> {
        let length = match base.kind() {
            Kind::None => return Ok(Vec::new()),
            Kind::Text | Kind::List | Kind::Table => base.len().unwrap_or_default(),
            Kind::Number | Kind::Truth => return Err(Halt::unfit(&base, format!("{} has no items", base.noun()))),
        };
        self.step(length)?;
        if let (Some(text), owned) = (base.text(), base.lasting_text()) {
            self.make(2 * NODE * length)?;
            return Ok(match owned {
                Some(text) => text.split("").filter(|c| !c.is_empty()).map(Item::Text).collect(),
                None => text.chars().map(|c| String::from(c).into()).collect(),
            });
        }
        if !matches!(base, Item::List(_)) {
            self.make(NODE * length)?;
        }
        match base.kind() {
            Kind::Table => Ok(base.members().into_iter().flatten().map(|(name, _)| name).collect()),
            _ => Ok(base.into_items().unwrap_or_default()),
        }
    }

    fn operand(&self, item: &Item<'v>) -> Result<Num, Halt> {
        let unfit = || Halt::unfit(item, format!("this calculation takes numbers, not {}", item.noun()));
        item.number().ok_or_else(unfit)
    }

    pub(super) fn calculated(&self, operator: Operator, left: Item<'v>, right: Item<'v>) -> Made<'v> {
        if operator == Operator::Plus {
            for side in [&left, &right] {
                if !matches!(side.kind(), Kind::Number | Kind::Text | Kind::List) {
                    return Err(Halt::unfit(side, format!("`+` takes numbers, texts or lists, not {}", side.noun())));
                }
            }
            match (left.kind(), right.kind()) {
                (Kind::Text, Kind::Text) => {
                    let mut text = String::new();
                    self.write(&left, &mut text)?;
                    self.write(&right, &mut text)?;
                    return Ok(text.into());
                }
                (Kind::List, Kind::List) => {
                    let (mut items, more) = (self.each(left)?, self.each(right)?);
                    items.extend(more);
                    return self.list(items);
                }
                (Kind::Number, Kind::Number) => {}
                (one, other) => {
                    return Err(Halt::failed(format!(
                        "`+` takes two of a kind, not {} and {}",
                        one.noun(),
                        other.noun()
                    )));
                }
            }
        }
        let (one, other) = (self.operand(&left)?, self.operand(&right)?);
        let sign = match operator {
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Over => "/",
            Operator::Floor => "//",
            Operator::Rest => "%",
            Operator::Power => "**",
        };
        let failed = || Halt::failed(format!("unable to calculate {one} {sign} {other}"));
        one.calculate(operator, other).map(Item::from).ok_or_else(failed)
    }

    fn slice(&self, base: &Item<'v>, bounds: &'v [Option<Code>; 3]) -> Made<'v> {
        let bound = |code: &'v Option<Code>| -> Result<Option<i64>, Halt> {
            let Some(code) = code else { return Ok(None) };
            let item = self.item(code)?;
            let wrong = || Halt::unfit(&item, "the bounds of a slice are whole numbers");
            let is_near = |bound: &i64| bound.unsigned_abs() <= filters::FARTHEST;
            if item.is_none() {
                return Ok(None);
            }
            item.whole().and_then(|bound| i64::try_from(bound).ok()).filter(is_near).map(Some).ok_or_else(wrong)
        };
        let [start, stop, step] = bounds;
        let step = match step {
            None => 1,
            Some(code) => {
                let item = self.item(code)?;
                let step = item.whole().and_then(|step| usize::try_from(step).ok()).filter(|step| *step > 0);
                let words = "the step of a slice is a whole number above 0; `| reverse` turns a list around";
                step.ok_or_else(|| Halt::unfit(&item, words))?
            }
        };
        let (start, stop) = (bound(start)?, bound(stop)?);
        let length = match base.kind() {
            Kind::None => return Ok(self.part(Vec::new())),
            Kind::Text | Kind::List => base.len().unwrap_or_default(),
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
        self.make(NODE * length)?;
        let items = base.items().unwrap_or_default();
        Ok(self.part(items.into_iter().skip(start).take(count).step_by(step).collect()))
    }

    /// The value of the argument of a test.
    fn argument(&self, asked: &'v Asked) -> Made<'v> {
        match asked {
            Asked::Test(_, argument) => self.item(argument),
            Asked::IsTrue | Asked::Matches(_) => Ok(NONE),
        }
    }

    /// Whether an item passes a test with this argument.
    fn asked(&self, item: &Item<'v>, asked: &Asked, argument: &Item<'v>) -> Result<bool, Halt> {
        match asked {
            Asked::IsTrue => Ok(item.is_true()),
            Asked::Test(test, _) => (test.holds)(self, item, argument),
            Asked::Matches(_) if item.is_none() => Ok(false),
            Asked::Matches(pattern) => {
                let text = match item.text() {
                    Some(text) => Cow::Borrowed(text),
                    None => Cow::Owned(self.json(item)?),
                };
                self.search(text.len())?;
                Ok(pattern.is_match(&text))
            }
        }
    }

    fn select(&self, select: &'v Select) -> Made<'v> {
        let mut items = self.each(self.item(&select.items)?)?;
        let path = select.path.as_ref().map(|path| self.item(path)).transpose()?;
        let path = path.as_ref().map(Path::new);
        let argument = self.argument(&select.asked)?;
        let mut halted = Ok(());
        items.retain(|item| {
            if halted.is_err() {
                return false;
            }
            let passes = match &path {
                None => self.asked(item, &select.asked, &argument),
                Some(path) => self.asked(&path.of(item).unwrap_or(NONE), &select.asked, &argument),
            };
            passes.map(|passes| passes == select.wanted).unwrap_or_else(|halt| {
                halted = Err(halt);
                false
            })
        });
        halted?;
        Ok(self.part(items))
    }
}

/// The path to a member of an item, as a text such as `1.status`.
pub(super) struct Path<'t>(Vec<(&'t str, Option<usize>)>);

impl<'t> Path<'t> {
    pub(super) fn new(text: &'t Item<'_>) -> Self {
        Self(text.text().unwrap_or_default().split('.').map(|step| (step, step.parse().ok())).collect())
    }

    /// The value at its end, if there is one.
    pub(super) fn of<'v>(&self, item: &Item<'v>) -> Option<Item<'v>> {
        let step = |item: &Item<'v>, (name, index): &(&str, Option<usize>)| match index {
            Some(index) => item.at(*index as i128),
            None => item.member(name),
        };
        let mut steps = self.0.iter();
        let first = step(item, steps.next()?)?;
        steps.try_fold(first, |item, next| step(&item, next))
    }
}
