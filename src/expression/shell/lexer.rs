//! Lexer: what are the words and operators of a shell line?
//!
//! In: a line, or several.
//! Out: its [`ShellToken`]s; or why it is refused: shells could parse it differently, or replace a part of it.
//! Never: expands anything, recurses, or looks at a character more than a few times.
//!
//! A line is accepted only if every POSIX shell, bash and zsh parse it alike, interactive or not. This is an
//! allow-list: syntax that is not known here is refused.

use crate::text::Slice;
use std::borrow::Cow;

/// A token of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShellToken<'l> {
    Word(ShellWord<'l>),
    /// `;`, `&`, `&&`, `||`, `|` or a line break.
    Operator(&'static str),
    /// A redirection without its target, such as `2>`: the descriptor and the operator.
    Redirect(Option<char>, &'static str),
}

/// A word as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellWord<'l> {
    pub(super) raw: &'l str,
    /// The index of the first `*` or `?` that shells take for a pattern.
    pub(super) glob: Option<usize>,
    /// Whether a part of it is quoted or escaped.
    pub(super) quoted: bool,
}

impl<'l> ShellWord<'l> {
    /// The word without its quotes and escapes.
    pub(super) fn value(&self) -> Result<Cow<'l, str>, ShellFault> {
        if self.quoted { unquoted(self.raw).map(Cow::Owned) } else { Ok(Cow::Borrowed(self.raw)) }
    }

    /// The start of the word, up to its first pattern, without quotes and escapes.
    pub(super) fn prefix(&self) -> Result<String, ShellFault> {
        match self.raw.get(..self.glob.unwrap_or(self.raw.len())) {
            None | Some("") => Ok(String::new()),
            Some(raw) => unquoted(raw),
        }
    }
}

/// Why a line is refused, as the end of the message `this command cannot be split: it has …`.
pub(super) type ShellFault = Cow<'static, str>;

const HISTORY: ShellFault = Cow::Borrowed("`!`, which recalls a command in some shells");

fn unquoted(raw: &str) -> Result<String, ShellFault> {
    let words = shlex::split(raw).unwrap_or_default();
    <[String; 1]>::try_from(words).map(|[word]| word).map_err(|_| "a word that can be read in two ways".into())
}

/// The longest line that is split, in bytes.
const MAX_LINE: usize = 32 << 10;

/// The tokens of a line.
pub(super) fn tokens(line: &str) -> Result<Vec<ShellToken<'_>>, ShellFault> {
    if line.len() > MAX_LINE {
        return Err(format!("more than {MAX_LINE} bytes").into());
    }
    let mut lexer = ShellLexer { line, at: 0, open: None, tokens: Vec::new() };
    while let Some(c) = lexer.peek() {
        lexer.read(c)?;
    }
    lexer.end_word();
    Ok(lexer.tokens)
}

struct ShellLexer<'l> {
    line: &'l str,
    at: usize,
    /// The current word, if there is one.
    open: Option<OpenQuote>,
    tokens: Vec<ShellToken<'l>>,
}

#[derive(Debug, Clone, Copy)]
struct OpenQuote {
    start: usize,
    glob: Option<usize>,
    quoted: bool,
}

impl<'l> ShellLexer<'l> {
    fn peek(&self) -> Option<char> {
        self.line.get(self.at..)?.chars().next()
    }

    /// The character after the current one, which is ASCII.
    fn next(&self) -> Option<char> {
        self.line.get(self.at + 1..)?.chars().next()
    }

    /// The character before the current one.
    fn before(&self) -> Option<char> {
        self.line.get(..self.at)?.chars().next_back()
    }

    fn starts_with(&self, part: &str) -> bool {
        self.line.get(self.at..).is_some_and(|rest| rest.starts_with(part))
    }

    /// Adds this many bytes to the current word, and starts one if there is none.
    fn take(&mut self, bytes: usize) -> &mut OpenQuote {
        let start = self.at;
        self.at += bytes;
        self.open.get_or_insert(OpenQuote { start, glob: None, quoted: false })
    }

    fn end_word(&mut self) {
        let Some(OpenQuote { start, glob, quoted }) = self.open.take() else { return };
        let raw = self.line.slice(start..self.at);
        self.tokens.push(ShellToken::Word(ShellWord { raw, glob: glob.map(|glob| glob - start), quoted }));
    }

    /// Reads the character `c`, and the rest of the operator, quote or escape that it starts.
    fn read(&mut self, c: char) -> Result<(), ShellFault> {
        control(c)?;
        match c {
            ' ' | '\t' => {
                self.end_word();
                self.at += 1;
            }
            '\n' => self.operator("\n"),
            ';' => self.operator(";"),
            '&' if self.starts_with("&>") => return Err("`&>`, which shells read in two ways".into()),
            '&' => self.operator(if self.starts_with("&&") { "&&" } else { "&" }),
            '|' => self.operator(if self.starts_with("||") { "||" } else { "|" }),
            '<' | '>' => self.redirect()?,
            '\'' => self.single()?,
            '"' => self.double()?,
            '\\' => self.escape()?,
            '*' | '?' => {
                let at = self.at;
                self.take(1).glob.get_or_insert(at);
            }
            '[' | ']' if self.open.is_none() && self.next().is_none_or(ends_word) => drop(self.take(1)),
            '!' if self.is_history() => return Err(HISTORY),
            '!' if self.before() == Some('>') => return Err("`>!`, which shells read in two ways".into()),
            '~' | '=' | '#' | '^' if self.open.is_none() => {
                return Err(format!("`{c}` at the start of a word, which some shells replace or skip").into());
            }
            '~' if matches!(self.before(), Some('=' | ':')) => return Err("`~` for a folder".into()),
            c if c.is_ascii_alphanumeric() || "%+,-./:=@_~#^!".contains(c) => drop(self.take(1)),
            '$' => return Err("`$`: a variable, a substitution or a way of quoting".into()),
            '`' => return Err("a substitution".into()),
            c if c.is_ascii() => return Err(format!("`{c}` outside of quotes").into()),
            // In some locales, a shell may take a byte of the character for white space.
            c => return Err(format!("`{c}` outside of quotes, which is not ASCII").into()),
        }
        Ok(())
    }

    fn operator(&mut self, operator: &'static str) {
        self.end_word();
        self.tokens.push(ShellToken::Operator(operator));
        self.at += operator.len();
    }

    /// An operator of redirection. A digit directly before it is its descriptor.
    fn redirect(&mut self) -> Result<(), ShellFault> {
        const OPERATORS: [&str; 7] = [">>", ">|", ">&", "<>", "<&", ">", "<"];
        if self.starts_with("<<") {
            return Err("a here-document".into());
        }
        let behind = self.line.slice(self.at + 1..);
        if self.starts_with("<") && behind.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('-') {
            return Err("`<-`, which zsh takes for a range of numbers".into());
        }
        let raw = self.open.filter(|open| !open.quoted).and_then(|open| self.line.get(open.start..self.at));
        let descriptor = match raw.filter(|raw| raw.bytes().all(|byte| byte.is_ascii_digit())).map(str::as_bytes) {
            None => None,
            Some([digit]) => Some(char::from(*digit)),
            Some(_) => return Err("a descriptor of several digits, which shells read in two ways".into()),
        };
        if descriptor.is_some() {
            self.open = None
        } else {
            self.end_word()
        }
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.starts_with(operator)) else {
            return Err("an unknown redirection".into());
        };
        self.tokens.push(ShellToken::Redirect(descriptor, operator));
        self.at += operator.len();
        Ok(())
    }

    fn single(&mut self) -> Result<(), ShellFault> {
        let inside = self.line.get(self.at + 1..).and_then(|rest| rest.split_once('\'')).map(|(inside, _)| inside);
        let inside = inside.ok_or(ShellFault::Borrowed("a quote that is not closed"))?;
        inside.chars().try_for_each(control)?;
        self.take(inside.len() + 2).quoted = true;
        Ok(())
    }

    fn double(&mut self) -> Result<(), ShellFault> {
        self.take(1).quoted = true;
        loop {
            let c = self.peek().ok_or(ShellFault::Borrowed("a quote that is not closed"))?;
            control(c)?;
            match c {
                '"' => break,
                '$' => return Err("`$` in double quotes: a variable or a substitution".into()),
                '`' => return Err("a substitution".into()),
                '!' if self.is_history() => return Err(HISTORY),
                '\\' if self.next() == Some('\n') => return Err("a line that is continued within quotes".into()),
                '\\' if matches!(self.next(), Some('$' | '`' | '"' | '\\')) => drop(self.take(2)),
                c => drop(self.take(c.len_utf8())),
            }
        }
        self.take(1);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), ShellFault> {
        match self.next() {
            // Between words, an escaped line break is white space. Elsewhere it joins the characters around it, which
            // may make an operator.
            Some('\n') if self.open.is_none() && matches!(self.before(), None | Some(' ' | '\t')) => self.at += 2,
            Some('\n') => return Err("a line that is continued within a word".into()),
            Some(c) if c.is_ascii() => {
                control(c)?;
                self.take(2).quoted = true;
            }
            Some(c) => return Err(format!("`{c}` outside of quotes, which is not ASCII").into()),
            None => return Err("a backslash at the end".into()),
        }
        Ok(())
    }

    /// Whether an interactive shell takes the `!` here for a command of its history.
    fn is_history(&self) -> bool {
        !matches!(self.next(), None | Some(' ' | '\t' | '\n' | '='))
    }
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|')
}

/// Fails for control characters, which terminals and shells treat differently.
fn control(c: char) -> Result<(), ShellFault> {
    match c {
        '\t' | '\n' => Ok(()),
        c if c.is_control() => Err(format!("a control character (U+{:04X})", u32::from(c)).into()),
        _ => Ok(()),
    }
}
