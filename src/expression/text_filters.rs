//! Text filters: what can a filter do with a text?
//!
//! In: an item, most often a text, and the arguments of the filter.
//! Out: another text, or its parts as a list.
//! Never: makes a text without charging its bytes.

use super::evaluator::{Evaluator, Made};
use super::filters::{MemberPath, arg, flag, whole, word};
use super::item::{Item, SortClass};
use super::limits::{Halt, NODE_WEIGHT};
use std::borrow::Cow;

/// Applies `change` to the text of a value. If the result is longer, the difference is charged afterwards: case
/// mappings and entities make a text at most six times as long.
pub(super) fn changed<'v>(run: &Evaluator<'v>, base: &Item<'v>, change: impl Fn(&str) -> String) -> Made<'v> {
    let text = run.written(base)?;
    run.search(text.len())?;
    run.make(text.len())?;
    let made = change(&text);
    run.make(made.len().saturating_sub(text.len()))?;
    Ok(made.into())
}

pub(super) fn text_of<'v>(run: &Evaluator<'v>, base: Item<'v>) -> Made<'v> {
    match base.kind() {
        SortClass::Text => Ok(base),
        _ => Ok(run.written(&base)?.into_owned().into()),
    }
}

pub(super) fn trim<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let chars = arg(args, 0);
    if let (Some(text), true) = (base.lasting_text(), chars.is_none()) {
        return Ok(Item::Text(text.trim()));
    }
    let text = run.written(&base)?;
    if chars.is_none() {
        return run.text(text.trim());
    }
    let chars: Vec<char> = run.written(chars)?.chars().collect();
    run.search(text.len().saturating_mul(chars.len().max(1)))?;
    run.make(text.len())?;
    Ok(text.trim_matches(chars.as_slice()).into())
}

pub(super) fn replace<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (text, from, to) = (run.written(&base)?, run.written(arg(args, 0))?, run.written(arg(args, 1))?);
    run.search(text.len())?;
    let found = text.matches(&*from).count();
    run.make(text.len().saturating_add(found.saturating_mul(to.len())))?;
    Ok(text.replace(&*from, &to).into())
}

pub(super) fn indent<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let width = whole::<usize>(args, 0)?.unwrap_or(4);
    let (first, blank) = (flag(args, 1)?, flag(args, 2)?);
    let text = run.written(&base)?;
    let text = without_line_end(&text);
    let lines = text.matches('\n').count() + 2;
    run.make(text.len().saturating_add(lines.saturating_mul(width)))?;
    let mut out = String::new();
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let is_blank = line.is_empty() || line == "\r";
        if (number > 0 || first) && (!is_blank || blank) {
            out.extend(std::iter::repeat_n(' ', width));
        }
        out.push_str(line);
    }
    out.truncate(without_line_end(&out).len());
    Ok(out.into())
}

fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// The parts of a text, as `split` finds them.
pub(super) fn parts<'v>(
    run: &Evaluator<'v>,
    base: &Item<'v>,
    split: impl for<'t> Fn(&'t str, &mut dyn FnMut(&'t str)),
) -> Made<'v> {
    let Some(text) = base.text() else { return Err(Halt::failed(format!("{} is no text", base.noun()))) };
    run.search(text.len())?;
    let mut count = 0;
    split(text, &mut |_| count += 1);
    run.step(count)?;
    let mut items = Vec::new();
    match base.lasting_text() {
        Some(text) => {
            run.make(NODE_WEIGHT * count)?;
            split(text, &mut |part| items.push(Item::Text(part)));
        }
        None => {
            run.make(2 * NODE_WEIGHT * count + text.len())?;
            split(text, &mut |part| items.push(part.into()));
        }
    }
    Ok(run.part(items))
}

pub(super) fn split<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (by, most) = (word(args, 0)?, whole::<i64>(args, 1)?);
    let most = most.and_then(|most| usize::try_from(most).ok()).map_or(usize::MAX, |most| most.saturating_add(1));
    parts(run, &base, |text, found| match by {
        Some(by) => text.splitn(most, by).for_each(found),
        None => {
            let (mut rest, mut left) = (text.trim(), most);
            while !rest.is_empty() {
                let end = rest.find(char::is_whitespace).filter(|_| left > 1).unwrap_or(rest.len());
                let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                found(part);
                (rest, left) = (after.trim_start(), left - 1);
            }
        }
    })
}

pub(super) fn join<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let (by, member) = (arg(args, 0), MemberPath::new(args, 1)?);
    let by = if by.is_none() { Cow::Borrowed("") } else { run.written(by)? };
    let mut out = String::new();
    for (number, item) in run.each(base)?.iter().enumerate() {
        run.push(if number == 0 { "" } else { &by }, &mut out)?;
        // An absent member adds no text.
        if let Some(part) = member.find(item) {
            run.write(&part, &mut out)?;
        }
    }
    Ok(out.into())
}
