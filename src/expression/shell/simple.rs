//! Simple commands: which programs does a line run, with which words?
//!
//! In: a line; or the words of one command that no shell parses.
//! Out: a [`Simple`] command for each program that runs.
//! Never: leaves out a program, or puts one in the place of another.

use super::lexer::{ShellFault, ShellToken, ShellWord, tokens};
use super::opaque::opaque;
use crate::text::{Present, Slice};

/// A program that runs, with its arguments, assignments and redirections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// As it is written, without quotes.
    pub(super) program: String,
    pub(super) args: Vec<String>,
    /// The program and its arguments as a shell command; quoted only where they have to be.
    pub(super) text: String,
    pub(super) assignments: Vec<(String, String)>,
    pub(super) redirects: Vec<Redirect>,
    /// The arguments with a pattern, which a shell replaces by the files that match.
    pub(super) globs: Vec<String>,
}

/// A redirection from or to a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) operator: &'static str,
    pub(super) target: String,
    pub(super) descriptor: Option<char>,
}

/// The simple commands of a line: at least one.
pub(super) fn simple_commands(line: &str) -> Result<Vec<Simple>, ShellFault> {
    let tokens = tokens(line)?;
    let mut commands = Vec::new();
    // Whether the last operator needs a command after it.
    let mut needed = false;
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        if *first == ShellToken::Operator("\n") {
            rest = rest.slice(1..);
            continue;
        }
        let end = rest.iter().position(|token| matches!(token, ShellToken::Operator(_))).unwrap_or(rest.len());
        let (command, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        if command.is_empty() {
            return Err("an operator without a command before it".into());
        }
        commands.push(simple(command)?);
        needed = matches!(after.first(), Some(ShellToken::Operator("&&" | "||" | "|")));
        rest = after.get(1..).unwrap_or_default();
    }
    if needed || commands.is_empty() {
        return Err(if needed { "an operator without a command behind it" } else { "no command" }.into());
    }
    Ok(commands)
}

/// The command with these words, which runs without a shell.
pub(super) fn given(words: Vec<String>) -> Result<Simple, ShellFault> {
    if words.iter().any(|word| word.contains('\0')) {
        return Err("a control character (U+0000)".into());
    }
    Simple { args: words, ..Simple::default() }.with_program(Vec::new())
}

fn simple(tokens: &[ShellToken<'_>]) -> Result<Simple, ShellFault> {
    let mut made = Simple::default();
    let mut words = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            ShellToken::Word(word) => words.push(word),
            ShellToken::Operator(operator) => return Err(format!("`{operator}` within a command").into()),
            ShellToken::Redirect(descriptor, operator) => {
                let Some(ShellToken::Word(target)) = tokens.next() else {
                    return Err("a redirection without a target".into());
                };
                made.redirects.extend(redirect(*descriptor, operator, target)?);
            }
        }
    }
    let assigned = words.iter().take_while(|word| assigned_name(word).is_some()).count();
    let (assignments, words) = words.split_at_checked(assigned).present();
    for word in assignments {
        let value = value_without_glob(word)?;
        made.assignments.extend(value.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    let mut spelled = Vec::with_capacity(words.len());
    for (place, word) in words.iter().enumerate() {
        let value = if place == 0 { value_without_glob(word)? } else { word.value()?.into_owned() };
        if word.glob.is_some() {
            check_glob(word, &value)?;
            let mut quoted = word.raw.split('\'').skip(1).step_by(2);
            if word.raw.contains(['"', '\\'])
                || quoted.any(|part| value.starts_with('-') || part.is_empty() || is_plain(part))
            {
                return Err("a pattern with quotes that it does not need".into());
            }
            made.globs.push(value.clone());
        }
        // A pattern is spelled as in the line: in quotes it would be no pattern.
        spelled.push(word.glob.map(|_| word.raw.to_owned()));
        made.args.push(value);
    }
    made.with_program(spelled)
}

impl Simple {
    /// About how many values the result of the filter has for this command.
    pub(super) fn values(&self) -> usize {
        16 + self.args.len() + 2 * self.assignments.len() + 7 * self.redirects.len() + self.globs.len()
    }

    /// Splits the words, which are still all in `args`, into the program and its arguments. `spelled` has the words
    /// that must not be quoted, as they are in the line.
    fn with_program(mut self, mut spelled: Vec<Option<String>>) -> Result<Self, ShellFault> {
        spelled.resize(self.args.len(), None);
        // `env` runs the program that follows its assignments.
        let mut skipped = 0;
        while let Some("env" | "/bin/env" | "/usr/bin/env") = self.args.get(skipped).map(String::as_str) {
            let words = self.args.slice(skipped + 1..);
            let names = words.iter().take_while(|word| assigned(word).is_some()).count();
            match words.get(names) {
                None if words.is_empty() => break,
                None => return Err("`env` without a program".into()),
                Some(option) if option.starts_with('-') => return Err("an option of `env`".into()),
                Some(_) => {}
            }
            self.assignments.extend(words.iter().take(names).filter_map(|word| assigned(word)));
            skipped += names + 1;
        }
        if skipped > 0 && spelled.iter().take(skipped + 1).any(Option::is_some) {
            return Err("a pattern in front of a program".into());
        }
        let spelled = spelled.split_off(skipped.min(spelled.len()));
        let mut words = self.args.split_off(skipped.min(self.args.len()));
        self.text = text(&words, &spelled);
        if words.is_empty() {
            return Err(match self.assignments.is_empty() {
                true => "a redirection without a program".into(),
                false => "an assignment without a program".into(),
            });
        }
        self.program = words.remove(0);
        self.args = words;
        check_program(&self.program)?;
        opaque(&self.program, &self.args)?;
        Ok(self)
    }
}

/// The last part of a path.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Checks that the name of a program has only characters that need no quotes and cannot be confused with others, and
/// that it is no option or folder.
fn check_program(program: &str) -> Result<(), ShellFault> {
    let is_plain = program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%+,-./:@_".contains(&byte));
    let starts = program.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c));
    let is_file = !matches!(base_name(program), "" | "." | "..");
    match program {
        "[" => Ok(()),
        _ if is_plain && starts && is_file => Ok(()),
        _ => Err("a program with an unusual name".into()),
    }
}

/// The name before `=` of a word that a shell takes for an assignment.
fn assigned_name<'l>(word: &ShellWord<'l>) -> Option<&'l str> {
    word.raw.split_once('=').map(|(name, _)| name).filter(|name| is_name(name))
}

/// The name and value of an argument of `env` that is an assignment.
fn assigned(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), value.to_owned()))
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn value_without_glob(word: &ShellWord<'_>) -> Result<String, ShellFault> {
    match word.glob {
        Some(_) => {
            Err("a pattern for a program, for the value of a variable, or for the target of a redirection".into())
        }
        None => word.value().map(Into::into),
    }
}

/// Checks that no file that a pattern matches can be taken for an option, or is outside of the folder that the pattern
/// names.
fn check_glob(word: &ShellWord<'_>, value: &str) -> Result<(), ShellFault> {
    let prefix = word.prefix()?;
    if prefix.is_empty() || prefix.starts_with('-') && !prefix.contains('=') {
        return Err("a pattern that may become an option".into());
    }
    let is_pattern = |part: &str| part.contains(['*', '?']);
    if value.split(['/', '=']).any(|part| part.starts_with('.') && is_pattern(part)) {
        return Err("a pattern that may become the folder above".into());
    }
    Ok(())
}

/// A redirection; `None` if it only joins standard streams, or its target is `/dev/null`.
fn redirect(
    descriptor: Option<char>,
    operator: &'static str,
    target: &ShellWord<'_>,
) -> Result<Option<Redirect>, ShellFault> {
    let target = value_without_glob(target)?;
    let is_stream = |stream: &str| matches!(stream, "0" | "1" | "2" | "-");
    match operator {
        ">&" | "<&" if is_stream(&target) && descriptor.is_none_or(|from| ('0'..='2').contains(&from)) => Ok(None),
        ">&" | "<&" => Err("a redirection to another stream than the standard ones".into()),
        _ if target.is_empty() => Err("a redirection without a target".into()),
        _ if target == "/dev/null" => Ok(None),
        _ => Ok(Some(Redirect { operator, target, descriptor })),
    }
}

/// The shell command with these words.
fn text(words: &[String], spelled: &[Option<String>]) -> String {
    let mut text = String::new();
    for (word, spelled) in words.iter().zip(spelled) {
        if !text.is_empty() {
            text.push(' ');
        }
        match spelled {
            Some(raw) => text.push_str(raw),
            None if is_plain(word) => text.push_str(word),
            // Only one style of quoting is used, so that the patterns of a pack have to match only this one. The start
            // of an option is not quoted, so that they see that it is one.
            None => {
                let starts = if word.starts_with('-') { plain_length(word) } else { 0 };
                let (start, rest) = word.split_at(starts);
                text.push_str(&format!("{start}'{}'", rest.replace('\'', r"'\''")));
            }
        }
    }
    text
}

/// The length of the start of a word that needs no quotes.
fn plain_length(word: &str) -> usize {
    word.find(|c: char| !(is_plain_char(c) || c == '=')).unwrap_or(word.len())
}

/// Whether a shell reads a character without quotes as it is, wherever in a word it is.
fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "%+,-./:@_".contains(c)
}

/// Whether a shell reads a word without quotes as it is.
fn is_plain(word: &str) -> bool {
    let inside = |c: char| is_plain_char(c) || "=^~".contains(c);
    let is_tilde = word.contains("=~") || word.contains(":~");
    matches!(word, "[" | "]") || word.starts_with(is_plain_char) && word.chars().all(inside) && !is_tilde
}
