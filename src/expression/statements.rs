//! Statements: which statements does a template consist of?
//!
//! In: the text of a template, or of a whole file with the files that it includes.
//! Out: [`Statements`].
//! Never: decides how a document prints its values.

use super::SyntaxFault;
use super::filters::FilterSignature;
use super::parse::{Parser, PlacedWord};
use super::reads::{ENTRY, Notes};
use super::token::{BraceKind, Syntax, Token, tokens};
use super::tree::{Each, ExprBody, ExprTree, Operation, Print, Statement, Statements};
use crate::text::{Slice, SourceId, Span};

/// Names that no statement can bind.
const RESERVED: [&str; 8] = ["true", "True", "false", "False", "none", "None", "loop", "self"];

/// Statements of Jinja that templates of a pack cannot use.
const FOREIGN: [&str; 9] = ["with", "autoescape", "filter", "block", "extends", "include", "import", "from", "do"];

/// The files that a document can include, and the filters that only documents have.
pub(crate) trait DocumentFiles<'s> {
    /// Opens the file that an `include` at this place names.
    fn open(&mut self, name: &str, at: Span) -> Result<(SourceId, &'s str), SyntaxFault>;

    /// Closes the file that was opened last.
    fn close(&mut self);

    /// Whether a filter of this name decides how a value is printed.
    fn prints(&self, filter: &str) -> bool;
}

/// Parses the text of a whole file, with the files that it includes. An unknown name does not fail here; its fault is
/// in the notes, so that a caller can first report values at places where none may be printed.
pub(super) fn page<'s>(
    source: &'s str,
    files: Box<dyn DocumentFiles<'s> + 's>,
) -> Result<(ExprBody, Notes), SyntaxFault> {
    let mut parser = Parser::new(source, Syntax::Page)?;
    parser.files = Some(files);
    let page = parser.body(None, &[])?;
    Ok((ExprBody::Text(page), parser.notes))
}

impl<'s> Parser<'s> {
    /// Parses the statements up to one of the words `ends`, which end the statement `open`.
    pub(super) fn body(&mut self, open: Option<PlacedWord<'s>>, ends: &[&str]) -> Result<Statements, SyntaxFault> {
        let mut page = Vec::new();
        while let Some(token) = self.next()? {
            match token {
                Token::Outside(text) => {
                    let before = self.source.slice(..self.last.start);
                    let after_statements = self.syntax == Syntax::Page && ends_with_statements(before);
                    page.push(Statement::Text(if after_statements { behind_line(text) } else { text }.to_owned()));
                }
                Token::Start(BraceKind::Value) => {
                    self.printed = self.start();
                    page.push(Statement::Print(self.expression()?, Print::Value));
                    self.end(BraceKind::Value)?;
                }
                _ => {
                    if matches!(self.peek(), Some(Token::Name(word)) if ends.contains(word)) {
                        return Ok(page);
                    }
                    page.push(self.deeper(|parser| parser.statement(open))?);
                    self.end(BraceKind::Statement)?;
                }
            }
        }
        let Some(word) = open else { return Ok(page) };
        let what = if word.text == "for" { "what it repeats" } else { "what depends on it" };
        let fault = SyntaxFault::new(word.span, format!("this `{}` never ends", word.text));
        Err(fault.help(format!("put `{{% end{} %}}` after {what}", word.text)))
    }

    fn statement(&mut self, open: Option<PlacedWord<'s>>) -> Result<Statement, SyntaxFault> {
        let name = match self.next()? {
            Some(Token::Name(text)) => PlacedWord { text, span: self.last },
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
                    return Err(SyntaxFault::new(file.span, "`include` takes the path of a file in quotes"));
                }
                self.include(&file)
            }
            "endif" | "endfor" => Err(match open {
                Some(around) => SyntaxFault::new(
                    name.span,
                    format!("`{}` ends nothing here: the `{}` before it is still open", name.text, around.text),
                )
                .help(format!("say `{{% end{} %}}`", around.text)),
                None => {
                    SyntaxFault::new(name.span, format!("`{}` ends nothing: no statement before it is open", name.text))
                        .help("take it out, or put the statement that it ends before it".to_owned())
                }
            }),
            foreign if FOREIGN.contains(&foreign) => Err(unusable(name.span)),
            other => {
                let message = format!("unknown statement `{other}`: there is `if`, `for` and `set`");
                Err(SyntaxFault::new(name.span, message))
            }
        }
    }

    /// Parses what follows `if` or `elif`, up to the end of the statement.
    fn choice(&mut self, name: PlacedWord<'s>) -> Result<Statement, SyntaxFault> {
        let test = self.or()?;
        self.end(BraceKind::Statement)?;
        let open = PlacedWord { text: "if", span: name.span };
        let then = self.body(Some(open), &["endif", "else", "elif"])?;
        let other = if self.word("elif") {
            vec![self.deeper(|parser| parser.choice(name))?]
        } else if self.word("else") {
            self.end(BraceKind::Statement)?;
            let other = self.body(Some(open), &["endif"])?;
            self.next()?;
            other
        } else {
            self.next()?;
            Vec::new()
        };
        Ok(Statement::If(test, then, other))
    }

    fn each(&mut self, name: PlacedWord<'s>) -> Result<Statement, SyntaxFault> {
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
        self.end(BraceKind::Statement)?;
        let body = self.body(Some(name), &["endfor", "else"])?;
        self.locals.pop();
        self.bindings.truncate(outer);
        let otherwise = if self.word("else") {
            self.end(BraceKind::Statement)?;
            self.body(Some(name), &["endfor"])?
        } else {
            Vec::new()
        };
        self.next()?;
        Ok(Statement::Each(Box::new(Each { items, names: numbers, alone, when, body, otherwise })))
    }

    /// The paths of the values that the names of a loop are bound to, as far as they are known.
    fn entries(&self, items: &ExprTree, alone: bool) -> Vec<Option<Vec<String>>> {
        let entry = |tree: &ExprTree| {
            let mut path = self.origin(tree)?;
            path.push(ENTRY.to_owned());
            Some(path)
        };
        match (&items.op, &*items.parts) {
            _ if alone => vec![entry(items)],
            (Operation::Filter(filter), [base, ..]) if filter.takes == FilterSignature::Pairs => {
                vec![None, entry(base)]
            }
            _ => Vec::new(),
        }
    }

    fn set(&mut self, name: PlacedWord<'s>) -> Result<Statement, SyntaxFault> {
        let (names, alone) = self.targets("`set` takes one name")?;
        let target = match names.as_slice() {
            [target] if alone => *target,
            _ => return Err(self.fault("`set` takes one name")),
        };
        if self.is_sign(".") {
            return Err(SyntaxFault::new(target.span, "`set` takes one name"));
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
            value = self.since(start, Operation::List, items);
        }
        self.locals.last_mut().into_iter().for_each(|names| names.push(target.text));
        let (number, path) = (self.number(target.text), self.origin(&value));
        self.bindings.push((number, path));
        Ok(Statement::Set(number, value))
    }

    /// The names that a statement binds, and whether a single name gets the whole value, without unpacking.
    fn targets(&mut self, wrong: &str) -> Result<(Vec<PlacedWord<'s>>, bool), SyntaxFault> {
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
    fn include(&mut self, file: &ExprTree) -> Result<Statement, SyntaxFault> {
        let opened = match (file.text(), &mut self.files) {
            (Some(name), Some(files)) => files.open(name, file.span),
            _ => Err(SyntaxFault::new(file.span, "`include` takes the path of a file in quotes")),
        };
        let (source, text) = match opened {
            Ok(opened) => opened,
            Err(fault) => {
                self.refuse(fault);
                return Ok(Statement::Text(String::new()));
            }
        };
        let located = |fault: SyntaxFault| match fault.file {
            None => SyntaxFault { file: Some((source, text.to_owned())), ..fault },
            Some(_) => fault,
        };
        let inner = tokens(text, Syntax::Page).map_err(located)?;
        let around = (self.source, self.file, std::mem::replace(&mut self.tokens, inner), self.at, self.last);
        (self.source, self.file, self.at, self.last) = (text, Some(source), 0, Span::default());
        let page = self.body(None, &[]).map_err(located)?;
        (self.source, self.file, self.tokens, self.at, self.last) = around;
        self.files.iter_mut().for_each(|files| files.close());
        Ok(Statement::Part(source, page))
    }
}

/// Whether the last line of `before` consists of statements and comments alone, and has at least one.
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
        rest = rest.slice(..start).trim_end_matches([' ', '\t']);
        any = true;
    }
}

/// The text without its first line, if that is a blank line.
fn behind_line(text: &str) -> &str {
    let rest = text.trim_start_matches([' ', '\t']);
    rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")).unwrap_or(text)
}

fn unusable(word: Span) -> SyntaxFault {
    SyntaxFault::new(word, "templates of a pack cannot use this statement")
        .help("the statements are `if`, `for` and `set NAME = VALUE`".to_owned())
}
