//! Statements: which statements does the text of a template say?
//!
//! In: the text of a template, or of a whole file with those that it includes.
//! Out: a [`Page`].
//! Never: decides how a document prints its values.

use super::Fault;
use super::filters::Takes;
use super::parse::{Parser, Word};
use super::reads::{ENTRY, Notes};
use super::token::{Braces, Syntax, Token, tokens};
use super::tree::{Body, Each, Node, Op, Page, Print, Tree};
use crate::text::{SourceId, Span};

/// Names that no statement can bind.
const RESERVED: [&str; 8] = ["true", "True", "false", "False", "none", "None", "loop", "self"];

/// Statements of Jinja that templates of a pack cannot use.
const FOREIGN: [&str; 9] = ["with", "autoescape", "filter", "block", "extends", "include", "import", "from", "do"];

/// What a document has besides the text of its file.
pub(crate) trait Files<'s> {
    /// Opens the file that an `include` at this place names.
    fn open(&mut self, name: &str, at: Span) -> Result<(SourceId, &'s str), Fault>;

    /// Closes the file that was opened last.
    fn close(&mut self);

    /// Whether a filter of this name says how a value is printed.
    fn prints(&self, filter: &str) -> bool;
}

/// Parses the text of a whole file, with what it includes. How it prints its values is checked before what they are:
/// a fault of a name is in the notes.
pub(super) fn page<'s>(source: &'s str, files: Box<dyn Files<'s> + 's>) -> Result<(Body, Notes), Fault> {
    let mut parser = Parser::new(source, Syntax::Page)?;
    parser.files = Some(files);
    let page = parser.body(None, &[])?;
    Ok((Body::Text(page), parser.notes))
}

impl<'s> Parser<'s> {
    /// The statements up to one of these words, which end the statement `open`.
    pub(super) fn body(&mut self, open: Option<Word<'s>>, ends: &[&str]) -> Result<Page, Fault> {
        let mut page = Vec::new();
        while let Some(token) = self.next()? {
            match token {
                Token::Outside(text) => {
                    let before = self.source.get(..self.last.start).unwrap_or_default();
                    let after_statements = self.syntax == Syntax::Page && ends_with_statements(before);
                    page.push(Node::Text(if after_statements { behind_line(text) } else { text }.to_owned()));
                }
                Token::Start(Braces::Value) => {
                    self.printed = self.start();
                    page.push(Node::Print(self.expression()?, Print::Value));
                    self.end(Braces::Value)?;
                }
                _ => {
                    if matches!(self.peek(), Some(Token::Name(word)) if ends.contains(word)) {
                        return Ok(page);
                    }
                    page.push(self.deeper(|parser| parser.statement(open))?);
                    self.end(Braces::Statement)?;
                }
            }
        }
        let Some(word) = open else { return Ok(page) };
        let what = if word.text == "for" { "what it repeats" } else { "what depends on it" };
        let fault = Fault::new(word.span, format!("this `{}` never ends", word.text));
        Err(fault.help(format!("put `{{% end{} %}}` after {what}", word.text)))
    }

    fn statement(&mut self, open: Option<Word<'s>>) -> Result<Node, Fault> {
        let name = match self.next()? {
            Some(Token::Name(text)) => Word { text, span: self.last },
            Some(token) => return Err(self.fault(format!("unknown {token}, expected statement"))),
            None => return Err(self.unexpected(None, "block keyword")),
        };
        match name.text {
            "if" => self.choice(name),
            "for" => self.each(name),
            "set" => self.set(name),
            "include" if self.syntax == Syntax::Page => {
                let file = self.expression()?;
                if self.is_word("ignore") || self.is_word("with") || self.is_word("without") {
                    return Err(Fault::new(file.span, "`include` takes the path of a file in quotes"));
                }
                self.include(&file)
            }
            "endif" | "endfor" => Err(match open {
                Some(around) => Fault::new(
                    name.span,
                    format!("`{}` ends nothing here: the `{}` before it is still open", name.text, around.text),
                )
                .help(format!("say `{{% end{} %}}`", around.text)),
                None => Fault::new(name.span, format!("`{}` ends nothing: no statement before it is open", name.text))
                    .help("take it out, or put the statement that it ends before it".to_owned()),
            }),
            foreign if FOREIGN.contains(&foreign) => Err(unusable(name.span)),
            other => Err(self.fault(format!("unknown statement {other}"))),
        }
    }

    /// What is after `if` or `elif`, up to the end of the statement.
    fn choice(&mut self, name: Word<'s>) -> Result<Node, Fault> {
        let test = self.or()?;
        self.end(Braces::Statement)?;
        let open = Word { text: "if", span: name.span };
        let then = self.body(Some(open), &["endif", "else", "elif"])?;
        let other = if self.word("elif") {
            vec![self.deeper(|parser| parser.choice(name))?]
        } else if self.word("else") {
            self.end(Braces::Statement)?;
            let other = self.body(Some(open), &["endif"])?;
            self.next()?;
            other
        } else {
            self.next()?;
            Vec::new()
        };
        Ok(Node::If(test, then, other))
    }

    fn each(&mut self, name: Word<'s>) -> Result<Node, Fault> {
        let (names, alone) = self.targets("`for` takes names")?;
        self.expect(&Token::Name("in"))?;
        let items = self.or()?;
        let (outer, paths) = (self.bindings.len(), self.entries(&items, alone));
        let numbers: Vec<usize> = names.iter().map(|name| self.number(name.text)).collect();
        self.bindings.extend(numbers.iter().copied().zip(paths.into_iter().chain(std::iter::repeat(None))));
        self.locals.push(names.iter().map(|name| name.text).chain(["loop"]).collect());
        let when = if self.word("if") { Some(self.expression()?) } else { None };
        if self.word("recursive") {
            return Err(unusable(self.last));
        }
        self.end(Braces::Statement)?;
        let body = self.body(Some(name), &["endfor", "else"])?;
        self.locals.pop();
        self.bindings.truncate(outer);
        let otherwise = if self.word("else") {
            self.end(Braces::Statement)?;
            self.body(Some(name), &["endfor"])?
        } else {
            Vec::new()
        };
        self.next()?;
        Ok(Node::Each(Box::new(Each { items, names: numbers, alone, when, body, otherwise })))
    }

    /// The paths that the names of a loop stand for, as far as they are known.
    fn entries(&self, items: &Tree, alone: bool) -> Vec<Option<Vec<String>>> {
        let entry = |tree: &Tree| {
            let mut path = self.origin(tree)?;
            path.push(ENTRY.to_owned());
            Some(path)
        };
        match (&items.op, &*items.parts) {
            _ if alone => vec![entry(items)],
            (Op::Filter(filter), [base, ..]) if filter.takes == Takes::Pairs => vec![None, entry(base)],
            _ => Vec::new(),
        }
    }

    fn set(&mut self, name: Word<'s>) -> Result<Node, Fault> {
        let (names, alone) = self.targets("`set` takes one name")?;
        let target = match names.as_slice() {
            [target] if alone => *target,
            _ => return Err(self.fault("`set` takes one name")),
        };
        if self.is_sign(".") {
            return Err(Fault::new(target.span, "`set` takes one name"));
        }
        if matches!(self.peek(), Some(Token::End(_) | Token::Sign("|"))) {
            return Err(unusable(name.span));
        }
        match self.next()? {
            Some(Token::Sign("=")) => {}
            other => return Err(self.unexpected(other.as_ref(), "assignment operator")),
        }
        let start = self.start();
        let mut value = self.expression()?;
        if self.sign(",") {
            let mut items = vec![value];
            while !matches!(self.peek(), Some(Token::End(_))) {
                items.push(self.expression()?);
                if !self.sign(",") {
                    break;
                }
            }
            value = self.since(start, Op::List, items);
        }
        self.locals.last_mut().into_iter().for_each(|names| names.push(target.text));
        let (number, path) = (self.number(target.text), self.origin(&value));
        self.bindings.push((number, path));
        Ok(Node::Set(number, value))
    }

    /// The names that a statement binds, and whether it is one that is not unpacked.
    fn targets(&mut self, wrong: &str) -> Result<(Vec<Word<'s>>, bool), Fault> {
        let bracketed = self.sign("(");
        let (mut names, mut alone) = (Vec::new(), true);
        loop {
            if self.is_sign("(") {
                self.next()?;
                return Err(self.fault(wrong));
            }
            let name = self.identifier()?;
            if RESERVED.contains(&name.text) {
                return Err(self.fault(format!("cannot assign to reserved variable name {}", name.text)));
            }
            names.push(name);
            if !self.sign(",") {
                break;
            }
            alone = false;
            if self.is_sign(")") || self.is_word("in") {
                break;
            }
        }
        if bracketed {
            self.close(")")?;
        }
        Ok((names, alone))
    }

    /// Inserts the file that an `include` names.
    fn include(&mut self, file: &Tree) -> Result<Node, Fault> {
        let opened = match (file.text(), &mut self.files) {
            (Some(name), Some(files)) => files.open(name, file.span),
            _ => Err(Fault::new(file.span, "`include` takes the path of a file in quotes")),
        };
        let (source, text) = match opened {
            Ok(opened) => opened,
            Err(fault) => {
                self.refuse(fault);
                return Ok(Node::Text(String::new()));
            }
        };
        let located = |fault: Fault| match fault.file {
            None => Fault { file: Some((source, text.to_owned())), ..fault },
            Some(_) => fault,
        };
        let inner = tokens(text, Syntax::Page).map_err(located)?;
        let around = (self.source, self.file, std::mem::replace(&mut self.tokens, inner), self.at, self.last);
        (self.source, self.file, self.at, self.last) = (text, Some(source), 0, Span::default());
        let page = self.body(None, &[]).map_err(located)?;
        (self.source, self.file, self.tokens, self.at, self.last) = around;
        self.files.iter_mut().for_each(|files| files.close());
        Ok(Node::Part(source, page))
    }
}

/// Whether the last line of `before` holds only statements and comments, and at least one.
fn ends_with_statements(before: &str) -> bool {
    let mut rest = before.trim_end_matches([' ', '\t']);
    let mut any = false;
    loop {
        let open = match rest.get(rest.len().saturating_sub(2)..) {
            Some("%}") => "{%",
            Some("#}") => "{#",
            _ => return any && (rest.is_empty() || rest.ends_with('\n')),
        };
        let Some(start) = rest.rfind(open) else { return false };
        rest = rest.get(..start).unwrap_or_default().trim_end_matches([' ', '\t']);
        any = true;
    }
}

/// The text after the first line, if that line is blank.
fn behind_line(text: &str) -> &str {
    let rest = text.trim_start_matches([' ', '\t']);
    rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")).unwrap_or(text)
}

fn unusable(word: Span) -> Fault {
    Fault::new(word, "templates of a pack cannot use this statement")
        .help("the statements are `if`, `for` and `set NAME = VALUE`".to_owned())
}
