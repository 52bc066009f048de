//! Parsing: which expression, or which statements, does a text say?
//!
//! In: the text of an expression or template.
//! Out: [`Expr`] or [`Stmt`]s; a [`Fault`] at the first word that does not fit.
//! Never: knows which names, filters or tests there are.

use super::Fault;
use super::syntax::{Arg, Call, Choice, Expr, For, If, Kind, Operator, Relation, Stmt, Word};
use super::token::{Braces, Syntax, Token, tokens, unescaped};
use crate::text::Span;
use crate::value::Value;

/// The deepest nesting of brackets, prefixes and statements.
const DEEPEST: usize = 50;

/// Names that no statement can bind.
const RESERVED: [&str; 8] = ["true", "True", "false", "False", "none", "None", "loop", "self"];

/// Statements of Jinja that templates of a pack cannot use.
const FOREIGN: [&str; 9] = ["with", "autoescape", "filter", "block", "extends", "include", "import", "from", "do"];

/// The binary operators of arithmetic, by how tightly they bind.
const OPERATORS: [&[(&str, Option<Operator>)]; 4] = [
    &[("+", Some(Operator::Plus)), ("-", Some(Operator::Minus))],
    &[("~", None)],
    &[
        ("*", Some(Operator::Times)),
        ("/", Some(Operator::Over)),
        ("//", Some(Operator::Floor)),
        ("%", Some(Operator::Rest)),
    ],
    &[("**", Some(Operator::Power))],
];

type Parsed<'s> = Result<Expr<'s>, Fault>;

/// Parses an expression.
pub(super) fn expression(source: &str) -> Parsed<'_> {
    let mut parser = Parser::new(source, Syntax::Expression)?;
    let tree = parser.expression()?;
    match parser.next()? {
        Some(_) => Err(parser.fault("unexpected input after expression")),
        None => Ok(tree),
    }
}

/// Parses the text of a template, or of a whole page.
pub(super) fn statements(source: &str, syntax: Syntax) -> Result<Vec<Stmt<'_>>, Fault> {
    Parser::new(source, syntax)?.body(None, &[])
}

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<(Token<'s>, Span)>,
    /// The index of the next token.
    at: usize,
    /// The place of the token before it.
    last: Span,
    depth: usize,
    syntax: Syntax,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, syntax: Syntax) -> Result<Self, Fault> {
        Ok(Self { source, tokens: tokens(source, syntax)?, at: 0, last: Span::default(), depth: 0, syntax })
    }

    fn peek(&self) -> Option<&Token<'s>> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// The next token; what is no token is a fault.
    fn next(&mut self) -> Result<Option<Token<'s>>, Fault> {
        let Some((token, span)) = self.tokens.get(self.at) else { return Ok(None) };
        (self.at, self.last) = (self.at + 1, *span);
        match token {
            Token::Wrong(why) => Err(self.fault(*why)),
            token => Ok(Some(token.clone())),
        }
    }

    /// A fault at the last token.
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.last, message)
    }

    fn unexpected(&self, token: Option<&Token<'s>>, expected: &str) -> Fault {
        match token {
            Some(token) => self.fault(format!("unexpected {token}, expected {expected}")),
            None => self.fault(format!("unexpected end of input, expected {expected}")),
        }
    }

    /// Where the next token starts.
    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.last.end, |(_, span)| span.start)
    }

    /// A part that started here and ends at the last token.
    fn since(&self, start: usize, kind: Kind<'s>) -> Expr<'s> {
        Expr { span: Span::new(start, self.last.end), kind }
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(next)) if *next == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(next)) if *next == word)
    }

    /// Passes over this sign, if it is next.
    fn sign(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        if is_next {
            self.last = self.tokens.get(self.at).map_or(self.last, |(_, span)| *span);
            self.at += 1;
        }
        is_next
    }

    /// Passes over this word, if it is next.
    fn word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        if is_next {
            self.last = self.tokens.get(self.at).map_or(self.last, |(_, span)| *span);
            self.at += 1;
        }
        is_next
    }

    fn expect(&mut self, wanted: &Token<'_>, called: &str) -> Result<(), Fault> {
        match self.next()? {
            Some(token) if token == *wanted => Ok(()),
            other => Err(self.unexpected(other.as_ref(), called)),
        }
    }

    fn close(&mut self, sign: &'static str) -> Result<(), Fault> {
        self.expect(&Token::Sign(sign), &format!("`{sign}`"))
    }

    fn end(&mut self, braces: Braces) -> Result<(), Fault> {
        let wanted = Token::End(braces);
        self.expect(&wanted, &wanted.to_string())
    }

    fn identifier(&mut self) -> Result<Word<'s>, Fault> {
        match self.next()? {
            Some(Token::Name(text)) => Ok(Word { text, span: self.last }),
            other => Err(self.unexpected(other.as_ref(), "identifier")),
        }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(Span::new(0, self.source.len()), "this is nested too deeply"));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Any expression, up to `a if b else c`.
    fn expression(&mut self) -> Parsed<'s> {
        let start = self.start();
        let mut tree = self.deeper(Self::or)?;
        let mut choices = 0;
        while self.word("if") {
            let test = self.or()?;
            let other = if self.word("else") { Some(self.deeper(Self::expression)?) } else { None };
            tree = self.since(start, Kind::Choice(Box::new(Choice { then: tree, test, other })));
            choices += 1;
            if choices > DEEPEST {
                return Err(Fault::new(Span::new(0, self.source.len()), "this is nested too deeply"));
            }
        }
        Ok(tree)
    }

    fn or(&mut self) -> Parsed<'s> {
        self.joined("or", Self::and, Kind::Or)
    }

    fn and(&mut self) -> Parsed<'s> {
        self.joined("and", Self::not, Kind::And)
    }

    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Parsed<'s>,
        kind: fn(Vec<Expr<'s>>) -> Kind<'s>,
    ) -> Parsed<'s> {
        let start = self.start();
        let first = part(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.word(word) {
            parts.push(part(self)?);
        }
        Ok(self.since(start, kind(parts)))
    }

    fn not(&mut self) -> Parsed<'s> {
        let start = self.start();
        if !self.word("not") {
            return self.comparison();
        }
        let inner = self.deeper(Self::not)?;
        Ok(self.since(start, Kind::Not(Box::new(inner))))
    }

    fn relation(&mut self) -> Result<Option<Relation>, Fault> {
        let relation = match self.peek() {
            Some(Token::Sign("==")) => Relation::Equal,
            Some(Token::Sign("!=")) => Relation::Unequal,
            Some(Token::Sign("<")) => Relation::Less,
            Some(Token::Sign("<=")) => Relation::AtMost,
            Some(Token::Sign(">")) => Relation::More,
            Some(Token::Sign(">=")) => Relation::AtLeast,
            Some(Token::Name("in")) => Relation::In,
            Some(Token::Name("not")) => {
                self.next()?;
                return self.expect(&Token::Name("in"), "in").map(|()| Some(Relation::NotIn));
            }
            _ => return Ok(None),
        };
        self.next()?;
        Ok(Some(relation))
    }

    fn comparison(&mut self) -> Parsed<'s> {
        let start = self.start();
        let first = self.arithmetic(0)?;
        let mut rest = Vec::new();
        while let Some(relation) = self.relation()? {
            rest.push((relation, self.arithmetic(0)?));
        }
        if rest.len() > 1 {
            return Ok(self.since(start, Kind::Chain(Box::new(first), rest)));
        }
        let Some((relation, second)) = rest.pop() else { return Ok(first) };
        let pair = Box::new([first, second]);
        Ok(match relation {
            Relation::NotIn => {
                let inner = self.since(start, Kind::Comparison(Relation::In, pair));
                self.since(start, Kind::Not(Box::new(inner)))
            }
            relation => self.since(start, Kind::Comparison(relation, pair)),
        })
    }

    /// Arithmetic of operators that bind at least as tightly as this level.
    fn arithmetic(&mut self, level: usize) -> Parsed<'s> {
        let Some(operators) = OPERATORS.get(level) else { return self.filtered() };
        let start = self.start();
        let mut left = self.arithmetic(level + 1)?;
        while let Some(Token::Sign(sign)) = self.peek()
            && let Some((_, operator)) = operators.iter().find(|(known, _)| known == sign)
        {
            self.next()?;
            let right = self.arithmetic(level + 1)?;
            let kind = match (operator, left.kind) {
                (Some(operator), kind) => {
                    Kind::Calculation(*operator, Box::new([Expr { span: left.span, kind }, right]))
                }
                (None, Kind::Concat(mut parts)) if left.span.start == start => {
                    parts.push(right);
                    Kind::Concat(parts)
                }
                (None, kind) => Kind::Concat(vec![Expr { span: left.span, kind }, right]),
            };
            left = self.since(start, kind);
        }
        Ok(left)
    }

    /// An operand with its filters and tests, which bind tighter than `not` and all operators but an unary minus.
    fn filtered(&mut self) -> Parsed<'s> {
        let start = self.start();
        let mut base = self.operand()?;
        loop {
            if self.sign("|") {
                let name = self.identifier()?;
                let args = if self.is_sign("(") { self.args()? } else { Vec::new() };
                base = self.since(start, Kind::Filter(Box::new(Call { base, name, args })));
            } else if self.word("is") {
                let negated = self.word("not");
                let name = self.identifier()?;
                let args = self.test_args()?;
                base = self.since(start, Kind::Test(Box::new(Call { base, name, args })));
                if negated {
                    base = self.since(start, Kind::Not(Box::new(base)));
                }
            } else {
                return Ok(base);
            }
        }
    }

    /// The arguments of a test: in brackets, or one operand without.
    fn test_args(&mut self) -> Result<Vec<Arg<'s>>, Fault> {
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

    /// A primary expression with what follows it directly, maybe with a minus before.
    fn operand(&mut self) -> Parsed<'s> {
        let start = self.start();
        if self.sign("-") {
            let inner = self.deeper(Self::operand)?;
            return Ok(self.since(start, Kind::Negative(Box::new(inner))));
        }
        let mut tree = self.primary()?;
        loop {
            if self.sign(".") {
                let kind = match self.next()? {
                    Some(Token::Name(text)) => Kind::Member(Box::new(tree), Word { text, span: self.last }),
                    Some(Token::Number(index)) if !index.is_f64() => {
                        let index = Expr { span: self.last, kind: Kind::Const(Value::Number(index)) };
                        Kind::Item(Box::new([tree, index]))
                    }
                    other => return Err(self.unexpected(other.as_ref(), "identifier or integer")),
                };
                tree = self.since(start, kind);
            } else if self.sign("[") {
                let kind = self.subscript(tree)?;
                tree = self.since(start, kind);
            } else if self.is_sign("(") {
                let args = self.args()?;
                tree = self.since(start, Kind::Call(Box::new(tree), args));
            } else {
                return Ok(tree);
            }
        }
    }

    fn subscript(&mut self, base: Expr<'s>) -> Result<Kind<'s>, Fault> {
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
            (0, [Some(key), ..]) => Ok(Kind::Item(Box::new([base, key]))),
            (0, _) => Err(self.fault("empty subscript")),
            (_, bounds) => Ok(Kind::Slice(Box::new(base), Box::new(bounds))),
        }
    }

    fn args(&mut self) -> Result<Vec<Arg<'s>>, Fault> {
        self.next()?;
        let mut args: Vec<Arg<'s>> = Vec::new();
        self.items(")", |parser| {
            if parser.is_sign("*") || parser.is_sign("**") {
                parser.next()?;
                return Err(parser.fault("arguments are written out one by one"));
            }
            let value = parser.expression()?;
            let name = value.name().filter(|_| parser.is_sign("=")).map(|text| Word { text, span: value.span });
            if name.is_none() && args.last().is_some_and(|last| last.name.is_some()) {
                return Err(parser.fault("non-keyword arg after keyword arg"));
            }
            let value = if name.is_some() && parser.sign("=") { parser.expression()? } else { value };
            args.push(Arg { name, value });
            Ok(())
        })?;
        Ok(args)
    }

    /// Expressions between commas, up to this closing bracket.
    fn expressions(&mut self, closer: &'static str, mut items: Vec<Expr<'s>>) -> Result<Kind<'s>, Fault> {
        self.items(closer, |parser| {
            items.push(parser.expression()?);
            Ok(())
        })?;
        Ok(Kind::List(items))
    }

    /// Items between commas, up to this closing bracket; a last comma may be left.
    fn items(
        &mut self,
        closer: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
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

    fn primary(&mut self) -> Parsed<'s> {
        let start = self.start();
        let token = self.next()?;
        let kind = match token {
            Some(Token::Name("true" | "True")) => Kind::Const(true.into()),
            Some(Token::Name("false" | "False")) => Kind::Const(false.into()),
            Some(Token::Name("none" | "None")) => Kind::Const(Value::Null),
            Some(Token::Name(name)) => Kind::Name(name),
            Some(Token::Number(number)) => Kind::Const(Value::Number(number)),
            Some(Token::Quoted(first)) => {
                let mut text = unescaped(first);
                while let (Some(Token::Quoted(more)), Some(text)) = (self.peek(), &mut text) {
                    text.push_str(&unescaped(more).ok_or_else(|| self.fault("bad string escape"))?);
                    self.next()?;
                }
                Kind::Const(text.ok_or_else(|| self.fault("bad string escape"))?.into())
            }
            Some(Token::Sign("(")) => return self.bracketed(start),
            Some(Token::Sign("[")) => self.expressions("]", Vec::new())?,
            Some(Token::Sign("{")) => {
                let mut members = Vec::new();
                self.items("}", |parser| {
                    let key = parser.expression()?;
                    parser.close(":")?;
                    members.push([key, parser.expression()?]);
                    Ok(())
                })?;
                Kind::Table(members)
            }
            Some(token) => return Err(self.fault(format!("unexpected {token}"))),
            None => return Err(self.unexpected(None, "expression")),
        };
        Ok(self.since(start, kind))
    }

    /// What is in round brackets: an expression, or a list if there is a comma.
    fn bracketed(&mut self, start: usize) -> Parsed<'s> {
        if self.sign(")") {
            return Ok(self.since(start, Kind::List(Vec::new())));
        }
        let first = self.expression()?;
        if !self.is_sign(",") {
            self.close(")")?;
            return Ok(first);
        }
        self.sign(",");
        let kind = self.expressions(")", vec![first])?;
        Ok(self.since(start, kind))
    }

    /// The statements up to one of these words, which end the statement `open`.
    fn body(&mut self, open: Option<Word<'s>>, ends: &[&str]) -> Result<Vec<Stmt<'s>>, Fault> {
        let mut statements = Vec::new();
        while let Some(token) = self.next()? {
            match token {
                Token::Outside(text) => statements.push(Stmt::Text(text, self.last.start)),
                Token::Start(Braces::Value) => {
                    statements.push(Stmt::Print(self.expression()?));
                    self.end(Braces::Value)?;
                }
                _ => {
                    if matches!(self.peek(), Some(Token::Name(word)) if ends.contains(word)) {
                        return Ok(statements);
                    }
                    statements.push(self.deeper(|parser| parser.statement(open))?);
                    self.end(Braces::Statement)?;
                }
            }
        }
        match open {
            None => Ok(statements),
            Some(word) => {
                let what = if word.text == "for" { "what it repeats" } else { "what depends on it" };
                let fault = Fault::new(word.span, format!("this `{}` never ends", word.text));
                Err(fault.help(format!("put `{{% end{} %}}` after {what}", word.text)))
            }
        }
    }

    fn statement(&mut self, open: Option<Word<'s>>) -> Result<Stmt<'s>, Fault> {
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
                Ok(Stmt::Include(file))
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
    fn choice(&mut self, name: Word<'s>) -> Result<Stmt<'s>, Fault> {
        let test = self.or()?;
        self.end(Braces::Statement)?;
        let open = Word { text: "if", span: name.span };
        let then = self.body(Some(open), &["endif", "else", "elif"])?;
        let other = if self.word("elif") {
            let again = Word { text: "if", span: name.span };
            vec![self.deeper(|parser| parser.choice(again))?]
        } else if self.word("else") {
            self.end(Braces::Statement)?;
            let other = self.body(Some(open), &["endif"])?;
            self.next()?;
            other
        } else {
            self.next()?;
            Vec::new()
        };
        Ok(Stmt::If(Box::new(If { test, then, other })))
    }

    fn each(&mut self, name: Word<'s>) -> Result<Stmt<'s>, Fault> {
        let (names, alone) = self.targets("`for` takes names")?;
        self.expect(&Token::Name("in"), "in")?;
        let items = self.or()?;
        let when = if self.word("if") { Some(self.expression()?) } else { None };
        if self.word("recursive") {
            return Err(unusable(self.last));
        }
        self.end(Braces::Statement)?;
        let body = self.body(Some(name), &["endfor", "else"])?;
        let otherwise = if self.word("else") {
            self.end(Braces::Statement)?;
            self.body(Some(name), &["endfor"])?
        } else {
            Vec::new()
        };
        self.next()?;
        Ok(Stmt::For(Box::new(For { names, alone, items, when, body, otherwise })))
    }

    fn set(&mut self, name: Word<'s>) -> Result<Stmt<'s>, Fault> {
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
        self.expect(&Token::Sign("="), "assignment operator")?;
        let start = self.start();
        let first = self.expression()?;
        if !self.sign(",") {
            return Ok(Stmt::Set(target, first));
        }
        let mut items = vec![first];
        while !matches!(self.peek(), Some(Token::End(_))) {
            items.push(self.expression()?);
            if !self.sign(",") {
                break;
            }
        }
        Ok(Stmt::Set(target, self.since(start, Kind::List(items))))
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
}

fn unusable(word: Span) -> Fault {
    Fault::new(word, "templates of a pack cannot use this statement")
        .help("the statements are `if`, `for` and `set NAME = VALUE`".to_owned())
}
