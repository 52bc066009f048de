//! Parsing: what is the syntax tree of an expression?
//!
//! In: the text of an expression or template.
//! Out: the [`ExprTree`] that is evaluated, with [`Notes`] for the checks of a pack; a [`SyntaxFault`] at the first
//! unexpected word, or else at the first unknown name, filter or test, or invalid pattern.
//! Never: evaluates.

use super::SyntaxFault;
use super::calls::printing;
use super::predicates::Test;
use super::reads::Notes;
use super::resolve::{ReadStep, ScopeRead};
use super::statements::DocumentFiles;
use super::token::{BraceKind, Syntax, Token, tokens};
use super::tree::{ExprBody, ExprTree, Operation, Operator, Relation, Statement};
use crate::text::{SourceId, Span, unescaped};
use crate::value::Value;

/// The names of constants.
const CONSTANTS: [&str; 6] = ["true", "True", "false", "False", "none", "None"];

/// The deepest nesting of brackets, prefixes and statements.
const MAX_DEPTH: usize = 50;

/// The binary operators with their precedence; `~`, which joins texts, is no arithmetic.
pub(super) const OPERATORS: [(&str, usize, Option<Operator>); 8] = [
    ("+", 0, Some(Operator::Add)),
    ("-", 0, Some(Operator::Subtract)),
    ("~", 1, None),
    ("*", 2, Some(Operator::Multiply)),
    ("/", 2, Some(Operator::Divide)),
    ("//", 2, Some(Operator::FloorDivide)),
    ("%", 2, Some(Operator::Remainder)),
    ("**", 3, Some(Operator::Power)),
];

type ParseResult = Result<ExprTree, SyntaxFault>;

/// Parses an expression.
pub(super) fn expression(source: &str) -> Result<(ExprBody, Notes), SyntaxFault> {
    let mut parser = Parser::new(source, Syntax::Expression)?;
    let tree = parser.expression()?;
    match parser.next()? {
        Some(_) => Err(parser.fault("unexpected input after expression")),
        None => parser.finish(ExprBody::Value(tree)),
    }
}

/// Parses the text of a template.
pub(super) fn template(source: &str) -> Result<(ExprBody, Notes), SyntaxFault> {
    let mut parser = Parser::new(source, Syntax::Template)?;
    let mut page = parser.body(None, &[])?;
    match page.pop() {
        Some(Statement::Print(tree, _)) if page.is_empty() => parser.finish(ExprBody::Value(tree)),
        last => {
            page.extend(last);
            parser.finish(ExprBody::Text(page))
        }
    }
}

/// A word with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedWord<'s> {
    pub(super) text: &'s str,
    pub(super) span: Span,
}

/// An argument of a filter, test or function.
pub(super) struct Arg<'s> {
    pub(super) name: Option<PlacedWord<'s>>,
    pub(super) value: ExprTree,
}

/// A text being parsed.
pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    /// The included file that is being parsed; `None` for the text itself.
    pub(super) file: Option<SourceId>,
    pub(super) tokens: Vec<(Token<'s>, Span)>,
    /// The index of the next token.
    pub(super) at: usize,
    /// The span of the last token that was taken.
    pub(super) last: Span,
    depth: usize,
    pub(super) syntax: Syntax,
    pub(super) notes: Notes,
    /// The names bound by statements, one list per `for`.
    pub(super) locals: Vec<Vec<&'s str>>,
    /// Each bound name once; its number is its index.
    names: Vec<&'s str>,
    /// Each visible binding of a local name: the number of the name, and the path of the value, if it is known.
    pub(super) bindings: Vec<(usize, Option<Vec<String>>)>,
    pub(super) files: Option<Box<dyn DocumentFiles<'s> + 's>>,
    /// The position at which the last printed value starts.
    pub(super) printed: usize,
}

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str, syntax: Syntax) -> Result<Self, SyntaxFault> {
        Ok(Self {
            source,
            file: None,
            tokens: tokens(source, syntax)?,
            at: 0,
            last: Span::default(),
            depth: 0,
            syntax,
            notes: Notes::default(),
            locals: vec![Vec::new()],
            names: Vec::new(),
            bindings: Vec::new(),
            files: None,
            printed: 0,
        })
    }

    pub(super) fn finish(mut self, body: ExprBody) -> Result<(ExprBody, Notes), SyntaxFault> {
        if let Some(fault) = self.notes.fault {
            return Err(fault);
        }
        if let ExprBody::Value(tree) = &body {
            self.notes.path = self.origin(tree);
        }
        Ok((body, self.notes))
    }

    /// Notes a fault that is not one of syntax, and continues with `none` in its place, so that faults of syntax are
    /// reported first.
    pub(super) fn refuse(&mut self, fault: SyntaxFault) -> (Operation, Vec<ExprTree>) {
        let file = self.file.map(|file| (file, self.source.to_owned()));
        self.notes.fault.get_or_insert(SyntaxFault { file, ..fault });
        (Operation::Constant(Value::Null), Vec::new())
    }

    /// The number of a name bound by a statement.
    pub(super) fn number(&mut self, name: &'s str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// Whether a statement around this place binds the name.
    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().flatten().any(|local| *local == name)
    }

    pub(super) fn peek(&self) -> Option<&Token<'s>> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// Takes the next token; [`Token::Wrong`] is a fault.
    pub(super) fn next(&mut self) -> Result<Option<Token<'s>>, SyntaxFault> {
        let Some((token, span)) = self.tokens.get(self.at) else { return Ok(None) };
        (self.at, self.last) = (self.at + 1, *span);
        match token {
            Token::Wrong(why) => Err(self.fault(*why)),
            token => Ok(Some(token.clone())),
        }
    }

    /// A fault at the last token.
    pub(super) fn fault(&self, message: impl Into<String>) -> SyntaxFault {
        SyntaxFault::new(self.last, message)
    }

    pub(super) fn unexpected(&self, token: Option<&Token<'s>>, expected: &str) -> SyntaxFault {
        match token {
            Some(token) => self.fault(format!("unexpected {token}, expected {expected}")),
            None => self.fault(format!("unexpected end of input, expected {expected}")),
        }
    }

    /// Where the next token starts.
    pub(super) fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.last.end, |(_, span)| span.start)
    }

    /// A tree that starts at `start` and ends at the last token.
    pub(super) fn since(&self, start: usize, op: Operation, parts: impl Into<Box<[ExprTree]>>) -> ExprTree {
        ExprTree { op, parts: parts.into(), span: Span::new(start, self.last.end) }
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(next)) if *next == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(next)) if *next == word)
    }

    /// Skips the next token if `is_next`.
    fn pass(&mut self, is_next: bool) -> bool {
        if is_next {
            self.last = self.tokens.get(self.at).map_or(self.last, |(_, span)| *span);
            self.at += 1;
        }
        is_next
    }

    /// Skips this sign, if it is next.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        self.pass(self.is_sign(sign))
    }

    /// Skips this word, if it is next.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.pass(self.is_word(word))
    }

    pub(super) fn expect(&mut self, wanted: &Token<'_>) -> Result<(), SyntaxFault> {
        match (self.next()?, wanted) {
            (Some(token), wanted) if token == *wanted => Ok(()),
            (other, Token::Name(word)) => Err(self.unexpected(other.as_ref(), word)),
            (other, wanted) => Err(self.unexpected(other.as_ref(), &wanted.to_string())),
        }
    }

    pub(super) fn close(&mut self, sign: &'static str) -> Result<(), SyntaxFault> {
        self.expect(&Token::Sign(sign))
    }

    pub(super) fn end(&mut self, braces: BraceKind) -> Result<(), SyntaxFault> {
        self.expect(&Token::End(braces))
    }

    pub(super) fn identifier(&mut self) -> Result<PlacedWord<'s>, SyntaxFault> {
        match self.next()? {
            Some(Token::Name(text)) => Ok(PlacedWord { text, span: self.last }),
            other => Err(self.unexpected(other.as_ref(), "identifier")),
        }
    }

    pub(super) fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxFault>,
    ) -> Result<T, SyntaxFault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxFault::new(Span::new(0, self.source.len()), "this is nested too deeply"));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Any expression, up to `a if b else c`.
    pub(super) fn expression(&mut self) -> ParseResult {
        let start = self.start();
        let mut tree = self.deeper(Self::or)?;
        let mut choices = 0;
        while self.word("if") {
            let test = self.or()?;
            let other = if self.word("else") { self.deeper(Self::expression)? } else { ExprTree::none() };
            tree = self.since(start, Operation::Conditional, [tree, test, other]);
            choices += 1;
            if choices > MAX_DEPTH {
                return Err(SyntaxFault::new(Span::new(0, self.source.len()), "this is nested too deeply"));
            }
        }
        Ok(tree)
    }

    pub(super) fn or(&mut self) -> ParseResult {
        self.joined("or", Self::and, Operation::Or)
    }

    fn and(&mut self) -> ParseResult {
        self.joined("and", Self::not, Operation::And)
    }

    fn joined(&mut self, word: &str, part: fn(&mut Self) -> ParseResult, op: Operation) -> ParseResult {
        let start = self.start();
        let first = part(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.word(word) {
            parts.push(part(self)?);
        }
        Ok(self.since(start, op, parts))
    }

    fn not(&mut self) -> ParseResult {
        let start = self.start();
        if !self.word("not") {
            return self.comparison();
        }
        let inner = self.deeper(Self::not)?;
        Ok(self.since(start, Operation::Not, [inner]))
    }

    fn relation(&mut self) -> Result<Option<Relation>, SyntaxFault> {
        let relation = match self.peek() {
            Some(Token::Sign(word) | Token::Name(word @ "in")) => Test::of(word).and_then(|test| test.relation),
            Some(Token::Name("not")) => {
                self.next()?;
                return self.expect(&Token::Name("in")).map(|()| Some(Relation::NotIn));
            }
            _ => None,
        };
        if relation.is_some() {
            self.next()?;
        }
        Ok(relation)
    }

    fn comparison(&mut self) -> ParseResult {
        let start = self.start();
        let mut last = self.arithmetic(0)?;
        let (mut parts, mut relations) = (Vec::new(), Vec::new());
        while let Some(relation) = self.relation()? {
            let next = self.arithmetic(0)?;
            self.compare(relation, &last, &next);
            relations.push(relation);
            parts.push(std::mem::replace(&mut last, next));
        }
        if relations.is_empty() {
            return Ok(last);
        }
        parts.push(last);
        Ok(match relations.as_slice() {
            [Relation::NotIn] => {
                let inner = self.since(start, Operation::Comparison(Relation::In), parts);
                self.since(start, Operation::Not, [inner])
            }
            [relation] => self.since(start, Operation::Comparison(*relation), parts),
            _ => self.since(start, Operation::Chain(relations.into()), parts),
        })
    }

    /// Parses operators whose precedence is at least `least`.
    fn arithmetic(&mut self, least: usize) -> ParseResult {
        let start = self.start();
        let mut left = self.filtered()?;
        while let Some(Token::Sign(sign)) = self.peek()
            && let Some((_, binds, operator)) =
                OPERATORS.iter().find(|(known, binds, _)| known == sign && *binds >= least)
        {
            self.next()?;
            let right = self.arithmetic(binds + 1)?;
            let parts = match (operator, left) {
                (None, ExprTree { op: Operation::Concat, parts, span }) if span.start == start => {
                    parts.into_iter().chain([right]).collect()
                }
                (_, left) => vec![left, right],
            };
            left = self.since(start, operator.map_or(Operation::Concat, Operation::Arithmetic), parts);
        }
        Ok(left)
    }

    /// An operand with its filters and tests, which bind tighter than `not` and all operators but a unary minus.
    fn filtered(&mut self) -> ParseResult {
        let (start, mark) = (self.start(), self.notes.inner.len());
        let mut base = self.operand()?;
        loop {
            if self.sign("|") {
                let name = self.identifier()?;
                let args = if self.is_sign("(") { self.args()? } else { Vec::new() };
                let is_last = start == self.printed && matches!(self.peek(), Some(Token::End(BraceKind::Value)));
                let filtered = match self.files.as_ref().is_some_and(|files| is_last && files.prints(name.text)) {
                    true => Ok(printing(base, name, args)),
                    false => self.filter(base, name, args, mark),
                };
                let (op, parts) = filtered.unwrap_or_else(|fault| self.refuse(fault));
                base = self.since(start, op, parts);
            } else if self.word("is") {
                let negated = self.word("not");
                let name = self.identifier()?;
                let args = self.test_args()?;
                let (op, parts) = self.test(base, name, args).unwrap_or_else(|fault| self.refuse(fault));
                base = self.since(start, op, parts);
                if negated {
                    base = self.since(start, Operation::Not, [base]);
                }
            } else {
                return Ok(base);
            }
        }
    }

    /// The arguments of a test: in brackets, or one operand without.
    fn test_args(&mut self) -> Result<Vec<Arg<'s>>, SyntaxFault> {
        let follows = match self.peek() {
            Some(Token::Sign("(")) => return self.args(),
            Some(Token::Name(word)) => !matches!(*word, "and" | "or" | "else" | "is"),
            Some(Token::Sign(sign)) => matches!(*sign, "+" | "-" | "[" | "{"),
            other => matches!(other, Some(Token::Quoted(_) | Token::Number(_))),
        };
        if !follows {
            return Ok(Vec::new());
        }
        Ok(vec![Arg { name: None, value: self.operand()? }])
    }

    /// A primary expression with its members, subscripts and calls; a minus may be before it.
    fn operand(&mut self) -> ParseResult {
        let (start, mark) = (self.start(), self.notes.inner.len());
        if self.sign("-") {
            let inner = self.deeper(Self::operand)?;
            return Ok(self.since(start, Operation::Negate, [inner]));
        }
        let mut word = self.bare_name();
        let mut tree = self.primary()?;
        loop {
            let name = word.take();
            if self.sign(".") {
                let key = match self.next()? {
                    Some(Token::Name(text)) if self.is_sign("(") => {
                        let name = PlacedWord { text, span: self.last };
                        let args = self.args()?;
                        let fault = self.no_method(&tree, name, &args);
                        let (op, parts) = self.refuse(fault);
                        tree = self.since(start, op, parts);
                        continue;
                    }
                    Some(Token::Name(text)) => text.into(),
                    Some(Token::Number(index)) if !index.is_f64() => Value::Number(index),
                    other => return Err(self.unexpected(other.as_ref(), "identifier or integer")),
                };
                tree = self.item(tree, ExprTree::leaf(Operation::Constant(key), self.last), start, mark);
            } else if self.sign("[") {
                tree = self.subscript(tree, start, mark)?;
            } else if self.is_sign("(") {
                let args = self.args()?;
                let span = Span::new(start, self.last.end);
                let (op, parts) = self.call(name, span, args).unwrap_or_else(|fault| self.refuse(fault));
                tree = self.since(start, op, parts);
            } else {
                return Ok(tree);
            }
        }
    }

    /// The next token, if it is a name and no constant.
    fn bare_name(&self) -> Option<PlacedWord<'s>> {
        let (Token::Name(text), span) = self.tokens.get(self.at)? else { return None };
        (!CONSTANTS.contains(text)).then_some(PlacedWord { text, span: *span })
    }

    /// A member or item of a value. Paths whose keys are constants, or paths themselves, become one read.
    fn item(&mut self, base: ExprTree, key: ExprTree, start: usize, mark: usize) -> ExprTree {
        let span = Span::new(start, self.last.end);
        let step = match &key.op {
            Operation::Constant(Value::String(key)) => Some(ReadStep::Key((**key).to_owned())),
            Operation::Constant(key) => key.as_i64().map(ReadStep::Index),
            Operation::Read(read) => Some(ReadStep::Of(read.clone())),
            _ => None,
        };
        match (base, step) {
            (ExprTree { op: Operation::Read(mut read), parts, .. }, Some(step)) => {
                read.at = read.at.to(span);
                read.steps.push(step);
                ExprTree { op: Operation::Read(read), parts, span }
            }
            (base, _) => {
                let tree = ExprTree { op: Operation::Item, parts: Box::new([base, key]), span };
                self.look(mark, &tree, span, None);
                tree
            }
        }
    }

    fn subscript(&mut self, base: ExprTree, start: usize, mark: usize) -> ParseResult {
        let mut bounds = [None, None, None];
        let mut colons = 0;
        for bound in &mut bounds {
            if !self.is_sign(":") && !self.is_sign("]") {
                *bound = Some(self.expression()?);
            }
            if colons == 2 || !self.sign(":") {
                break;
            }
            colons += 1;
        }
        self.close("]")?;
        match (colons, bounds) {
            (0, [Some(key), ..]) => Ok(self.item(base, key, start, mark)),
            (0, _) => Err(self.fault("empty subscript")),
            (_, [from, to, step]) => {
                let step = step.unwrap_or_else(|| ExprTree::leaf(Operation::Constant(1.into()), Span::default()));
                let parts = [base, from.unwrap_or_else(ExprTree::none), to.unwrap_or_else(ExprTree::none), step];
                Ok(self.since(start, Operation::Slice, parts))
            }
        }
    }

    fn args(&mut self) -> Result<Vec<Arg<'s>>, SyntaxFault> {
        self.next()?;
        let mut args: Vec<Arg<'s>> = Vec::new();
        self.items(")", |parser| {
            if parser.is_sign("*") || parser.is_sign("**") {
                parser.next()?;
                return Err(parser.fault("arguments are written out one by one"));
            }
            let is_named = matches!(parser.tokens.get(parser.at + 1), Some((Token::Sign("="), _)));
            let name = parser.bare_name().filter(|name| is_named && name.text != "not");
            if name.is_some() {
                parser.next()?;
                parser.next()?;
            }
            let value = parser.expression()?;
            if name.is_none() && args.last().is_some_and(|last| last.name.is_some()) {
                return Err(parser.fault("an argument without a name comes after one with a name"));
            }
            args.push(Arg { name, value });
            Ok(())
        })?;
        Ok(args)
    }

    /// Expressions between commas, up to this closing bracket.
    fn expressions(&mut self, closer: &'static str, mut items: Vec<ExprTree>) -> Result<Vec<ExprTree>, SyntaxFault> {
        self.items(closer, |parser| {
            items.push(parser.expression()?);
            Ok(())
        })?;
        Ok(items)
    }

    /// Items between commas, up to this closing bracket; a trailing comma is allowed.
    fn items(
        &mut self,
        closer: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<(), SyntaxFault>,
    ) -> Result<(), SyntaxFault> {
        let mut first = true;
        while !self.sign(closer) {
            if !std::mem::take(&mut first) {
                self.close(",")?;
                if self.sign(closer) {
                    break;
                }
            }
            item(self)?;
        }
        Ok(())
    }

    fn primary(&mut self) -> ParseResult {
        let start = self.start();
        let (op, parts) = match self.next()? {
            Some(Token::Name("true" | "True")) => (Operation::Constant(true.into()), Vec::new()),
            Some(Token::Name("false" | "False")) => (Operation::Constant(false.into()), Vec::new()),
            Some(Token::Name("none" | "None")) => (Operation::Constant(Value::Null), Vec::new()),
            Some(Token::Name("loop")) if self.is_local("loop") => {
                let turn = self.turn().map(|turn| (turn, Vec::new()));
                turn.unwrap_or_else(|fault| self.refuse(fault))
            }
            Some(Token::Name(name)) if self.is_local(name) => (Operation::Local(self.number(name)), Vec::new()),
            Some(Token::Name(name)) => {
                let read = ScopeRead { at: self.last, file: self.file, name: name.to_owned(), steps: Vec::new() };
                (Operation::Read(Box::new(read)), Vec::new())
            }
            Some(Token::Number(number)) => (Operation::Constant(Value::Number(number)), Vec::new()),
            Some(Token::Quoted(first)) => {
                let mut text = unescaped(first);
                while let (Some(Token::Quoted(more)), Some(text)) = (self.peek(), &mut text) {
                    text.push_str(&unescaped(more).ok_or_else(|| self.fault("bad string escape"))?);
                    self.next()?;
                }
                (Operation::Constant(text.ok_or_else(|| self.fault("bad string escape"))?.into()), Vec::new())
            }
            Some(Token::Sign("(")) => return self.bracketed(start),
            Some(Token::Sign("[")) => (Operation::List, self.expressions("]", Vec::new())?),
            Some(Token::Sign("{")) => {
                let mut parts = Vec::new();
                self.items("}", |parser| {
                    parts.push(parser.expression()?);
                    parser.close(":")?;
                    parts.push(parser.expression()?);
                    Ok(())
                })?;
                (Operation::Table, parts)
            }
            Some(token) => return Err(self.fault(format!("unexpected {token}"))),
            None => return Err(self.unexpected(None, "expression")),
        };
        Ok(self.since(start, op, parts))
    }

    /// The content of round brackets: an expression, or a list if there is a comma or nothing.
    fn bracketed(&mut self, start: usize) -> ParseResult {
        if self.sign(")") {
            return Ok(self.since(start, Operation::List, []));
        }
        let first = self.expression()?;
        if !self.is_sign(",") {
            self.close(")")?;
            return Ok(first);
        }
        self.sign(",");
        let items = self.expressions(")", vec![first])?;
        Ok(self.since(start, Operation::List, items))
    }
}
