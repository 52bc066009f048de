//! Shell: which programs does a line of a shell run?
//!
//! In: the line, as an item.
//! Out: the filter `command`: a list with the program, the arguments and the text of each simple command of the line.
//! Never: returns only some of them: if one cannot be known for certain, the filter fails, and the condition denies.

mod lexer;
mod opaque;
mod simple;

use super::evaluator::{Evaluator, Made};
use super::filters::flag;
use super::item::{Item, SortClass};
use super::limits::{Halt, NODE_WEIGHT};
use crate::value::{Object, Value};
use simple::{Simple, base_name, given, simple_commands};

/// The simple commands of a line. Assignments, redirections and patterns are refused unless the pack asks for them, so
/// that they cannot bypass a condition that checks only programs and arguments.
pub(super) fn command<'v>(run: &Evaluator<'v>, base: Item<'v>, args: &[Item<'v>]) -> Made<'v> {
    let asked = [flag(args, 0)?, flag(args, 1)?, flag(args, 2)?];
    let cannot =
        |fault: std::borrow::Cow<'_, str>| Halt::failed(format!("this command cannot be split: it has {fault}"));
    let commands = match base.kind() {
        SortClass::Text => {
            let line = base.text().unwrap_or_default();
            run.step(line.len())?;
            // Each word is allocated twice: by itself, and, perhaps in quotes, in the text of its command.
            run.make(line.len().saturating_mul(4))?;
            simple_commands(line).map_err(cannot)?
        }
        SortClass::List => vec![given(words(run, base)?).map_err(cannot)?],
        kind => return Err(Halt::unfit(&base, format!("a command is a text or a list of texts, not {}", kind.noun()))),
    };
    for command in &commands {
        run.make(NODE_WEIGHT * command.values())?;
        let found = [!command.assignments.is_empty(), !command.redirects.is_empty(), !command.globs.is_empty()];
        let parts = [("an assignment", "assignments"), ("a redirection", "redirects"), ("a pattern of files", "globs")];
        for ((part, name), (found, asked)) in parts.into_iter().zip(found.into_iter().zip(asked)) {
            if found && !asked {
                return Err(cannot(format!("{part}, and `{name}=true` is not given").into()));
            }
        }
    }
    Ok(Value::from(commands.into_iter().map(value).collect::<Vec<_>>()).into())
}

/// The words of a command that is given as a list, which no shell parses.
fn words<'v>(run: &Evaluator<'v>, base: Item<'v>) -> Result<Vec<String>, Halt> {
    let items = run.each(base)?;
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        let Some(word) = item.text() else {
            return Err(Halt::failed(format!("a command is a list of texts, not of {}", item.noun())));
        };
        run.make(NODE_WEIGHT + word.len().saturating_mul(4))?;
        words.push(word.to_owned());
    }
    Ok(words)
}

fn value(command: Simple) -> Value {
    let texts = |texts: Vec<String>| Value::from(texts.into_iter().map(Value::from).collect::<Vec<_>>());
    let assignments: Object = command.assignments.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    let redirects = command.redirects.into_iter().map(|redirect| {
        let descriptor = redirect.descriptor.and_then(|digit| digit.to_digit(10)).map_or(Value::Null, Value::from);
        object([("operator", redirect.operator.into()), ("target", redirect.target.into()), ("descriptor", descriptor)])
    });
    object([
        ("name", base_name(&command.program).into()),
        ("program", command.program.into()),
        ("args", texts(command.args)),
        ("text", command.text.into()),
        ("assignments", assignments.into()),
        ("redirects", Value::from(redirects.collect::<Vec<_>>())),
        ("globs", texts(command.globs)),
    ])
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
