//! Token: which words and signs does a text consist of?
//!
//! In: the text of an expression, template or document.
//! Out: [`Token`]s with their places; text that is too large to process is refused.
//! Never: decides what may follow what.

use super::SyntaxFault;
use crate::text::{Present, Slice, Span};
use crate::value::Number;
use std::fmt;

/// The most tokens of an expression or template: its tree is processed recursively.
const MAX_TOKENS: usize = 4_000;
/// The most tokens of one expression or statement inside its braces.
const MAX_TOKENS_IN_BRACES: usize = 500;
/// The most `elif` branches in one template.
const MAX_ELIFS: usize = 64;
/// The most bytes of one text in quotes.
const MAX_QUOTED_BYTES: usize = 4 << 20;

/// The kind of braces around an expression or statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BraceKind {
    /// `{{` and `}}`.
    Value,
    /// `{%` and `%}`.
    Statement,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'s> {
    /// Text outside of braces, without the white space that adjacent braces remove.
    Outside(&'s str),
    Start(BraceKind),
    End(BraceKind),
    Name(&'s str),
    /// A text in quotes, as typed between them.
    Quoted(&'s str),
    Number(Number),
    Sign(&'static str),
    /// A text that is no token, and why.
    Wrong(&'static str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Token::Outside(_) => "text",
            Token::Start(BraceKind::Value) => "start of variable block",
            Token::End(BraceKind::Value) => "end of variable block",
            Token::Start(BraceKind::Statement) => "start of block",
            Token::End(BraceKind::Statement) => "end of block",
            Token::Name(_) => "identifier",
            Token::Quoted(_) => "string",
            Token::Number(number) if number.is_f64() => "float",
            Token::Number(_) => "integer",
            Token::Sign(sign) => return write!(f, "`{sign}`"),
            Token::Wrong(why) => why,
        })
    }
}

/// The syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// One expression without braces.
    Expression,
    /// Text with expressions and statements in braces.
    Template,
    /// A whole file: like a template, but the indentation of a statement that starts its line is removed.
    Page,
}

/// The tokens of a text, each with its place.
pub(super) fn tokens(source: &str, syntax: Syntax) -> Result<Vec<(Token<'_>, Span)>, SyntaxFault> {
    let mut lexer = Lexer { source, at: 0, brackets: 0, trim: false, syntax, tokens: Vec::new() };
    let mut braces = (syntax == Syntax::Expression).then_some(BraceKind::Value);
    let (mut together, mut elifs) = (0, 0);
    while lexer.at < source.len() {
        let before = lexer.tokens.len();
        braces = match braces {
            Some(kind) => lexer.inside(kind),
            None if syntax == Syntax::Expression => {
                lexer.wrong("unexpected input after end of variable block");
                None
            }
            None => lexer.outside(),
        };
        for (token, span) in lexer.tokens.slice(before..) {
            match token {
                Token::Wrong(_) => return Ok(lexer.tokens),
                Token::Start(_) => together = 0,
                Token::Name("elif") => elifs += 1,
                _ => {}
            }
            together += 1;
            let long = matches!(token, Token::Quoted(text) if text.len() >= MAX_QUOTED_BYTES);
            if lexer.tokens.len() > MAX_TOKENS || together > MAX_TOKENS_IN_BRACES || elifs > MAX_ELIFS || long {
                let fault = SyntaxFault::new(*span, "this is too long");
                return Err(fault.help("split it, or keep what it says under `data`".to_owned()));
            }
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// The number of open brackets: inside them, closing braces do not end the expression or statement.
    brackets: isize,
    /// Whether the white space that follows is removed.
    trim: bool,
    syntax: Syntax,
    tokens: Vec<(Token<'s>, Span)>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.slice(self.at..)
    }

    /// Adds a token of this length.
    fn add(&mut self, token: Token<'s>, length: usize) {
        self.tokens.push((token, Span::new(self.at, self.at + length)));
        self.at += length;
    }

    fn wrong(&mut self, why: &'static str) {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.add(Token::Wrong(why), length);
    }

    /// Reads text up to the next braces, and the braces; returns their kind, if an expression or statement follows.
    fn outside(&mut self) -> Option<BraceKind> {
        if std::mem::take(&mut self.trim) {
            self.at += self.rest().len() - self.rest().trim_start().len();
        }
        let rest = self.rest();
        let opens = |at: &usize| rest.as_bytes().get(at + 1).is_some_and(|next| b"{%#".contains(next));
        let Some(start) = memchr::memchr_iter(b'{', rest.as_bytes()).find(opens) else {
            self.text(rest, rest.len());
            return None;
        };
        let (before, marked) = rest.split_at_checked(start).present();
        let sign = marked.as_bytes().get(2).copied();
        let is_statement = !marked.starts_with("{{");
        let text = match sign {
            Some(b'-') => before.trim_end(),
            Some(b'+') => before,
            _ if is_statement && self.syntax == Syntax::Page && self.starts_line(before) => unindented(before),
            _ => before,
        };
        self.text(text, start);
        let length = 2 + usize::from(matches!(sign, Some(b'-' | b'+')));
        let inner = marked.slice(length..);
        if marked.starts_with("{#") {
            match inner.find("#}") {
                Some(end) => {
                    self.trim = inner.get(..end).is_some_and(|inner_text| inner_text.ends_with('-'));
                    self.at += length + end + 2;
                }
                None => self.add(Token::Wrong("this comment is never closed: `#}` is missing"), 2),
            }
            return None;
        }
        if let (true, Some((end, trim))) = (is_statement, tag(inner, "raw")) {
            self.at += length + end;
            self.raw(trim);
            return None;
        }
        let braces = if is_statement { BraceKind::Statement } else { BraceKind::Value };
        self.add(Token::Start(braces), length);
        Some(braces)
    }

    /// Adds a token for text outside of braces, and skips `bytes` bytes of the source.
    fn text(&mut self, text: &'s str, bytes: usize) {
        if !text.is_empty() {
            self.tokens.push((Token::Outside(text), Span::new(self.at, self.at + text.len())));
        }
        self.at += bytes;
    }

    /// Whether only indentation is before the end of `text` on its line.
    fn starts_line(&self, text: &str) -> bool {
        let line = self.source.slice(..self.at + text.len()).trim_end_matches(is_indent);
        line.is_empty() || line.ends_with(['\n', '\r'])
    }

    /// Reads text up to `{% endraw %}`.
    fn raw(&mut self, trim: bool) {
        let rest = self.rest();
        let found = rest.match_indices("{%").find_map(|(at, _)| {
            let inner = rest.get(at + 2..)?;
            let signless = inner.strip_prefix(['-', '+']).unwrap_or(inner);
            let (end, trims) = tag(signless, "endraw")?;
            Some((at, inner.chars().next(), at + 2 + inner.len() - signless.len() + end, trims))
        });
        let Some((end, sign, next, trims)) = found else {
            return self.wrong("this `raw` is never closed: `{% endraw %}` is missing");
        };
        let mut text = rest.slice(..end);
        text = if trim { text.trim_start() } else { text };
        text = match sign {
            Some('-') => text.trim_end(),
            Some('+') => text,
            _ if self.syntax == Syntax::Page => unindented(text),
            _ => text,
        };
        self.text(text, next);
        self.trim = trims;
    }

    /// Reads one token inside of braces; returns the braces, unless they end here.
    fn inside(&mut self, braces: BraceKind) -> Option<BraceKind> {
        self.at += self.rest().bytes().take_while(u8::is_ascii_whitespace).count();
        let rest = self.rest();
        let end = if braces == BraceKind::Value { "}}" } else { "%}" };
        let signless = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        if self.brackets == 0 && signless.starts_with(end) {
            self.trim = rest.starts_with('-');
            self.add(Token::End(braces), rest.len() - signless.len() + end.len());
            return None;
        }
        const SIGNS: [&str; 25] = [
            "//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", ".", ",", ":", "~", "|", "=", ">", "<", "(",
            ")", "[", "]", "{", "}",
        ];
        match rest.as_bytes().first() {
            None => {}
            Some(quote @ (b'\'' | b'"')) => self.quoted(*quote),
            Some(b'0'..=b'9') => self.number(),
            Some(first) if first.is_ascii_alphabetic() || *first == b'_' => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let length = rest.bytes().take_while(is_part).count();
                self.add(Token::Name(rest.slice(..length)), length);
            }
            Some(_) => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    self.brackets += match *sign {
                        "(" | "[" | "{" => 1,
                        ")" | "]" | "}" => -1,
                        _ => 0,
                    };
                    self.add(Token::Sign(sign), sign.len());
                }
                None => self.wrong("unexpected character"),
            },
        }
        Some(braces)
    }

    fn quoted(&mut self, quote: u8) {
        let rest = self.rest().as_bytes();
        let mut end = 1;
        while let Some(byte) = rest.get(end).filter(|byte| **byte != quote) {
            end += 1 + usize::from(*byte == b'\\');
        }
        if rest.get(end).is_none() {
            self.at = self.source.len();
            return self.wrong("unexpected end of string");
        }
        let text = self.rest().slice(1..end);
        self.add(Token::Quoted(text), end + 1);
    }

    fn number(&mut self) {
        let rest = self.rest();
        // After a dot it is an index, which has no fraction: `a.1.0` is the first item of `a[1]`.
        let is_index = self.source.get(..self.at).is_some_and(|before| before.ends_with('.'));
        let (radix, digits) = match rest.get(..2) {
            Some("0b" | "0B") => (2, 2),
            Some("0o" | "0O") => (8, 2),
            Some("0x" | "0X") => (16, 2),
            _ => (10, 0),
        };
        let byte = |at: usize| rest.as_bytes().get(at).copied().unwrap_or_default();
        let (mut at, mut fraction, mut exponent) = (digits, false, false);
        loop {
            let is_exponent = matches!(byte(at), b'e' | b'E') && radix == 10 && !exponent;
            match byte(at) {
                b'0'..=b'9' | b'_' => {}
                b'a'..=b'f' | b'A'..=b'F' if radix == 16 => {}
                b'.' if !is_index && radix == 10 && !fraction && !exponent => {
                    let power =
                        matches!(byte(at + 1), b'e' | b'E') && matches!(byte(at + 2), b'+' | b'-' | b'0'..=b'9');
                    if !power && (byte(at + 1).is_ascii_alphabetic() || byte(at + 1) == b'_') {
                        break;
                    }
                    fraction = true;
                }
                _ if is_exponent => {
                    exponent = true;
                    at += usize::from(matches!(byte(at + 1), b'+' | b'-'));
                }
                _ => break,
            }
            at += 1;
        }
        let text = rest.slice(..at);
        let number = text.slice(digits..).replace('_', "");
        let token = if text.ends_with('_') {
            Token::Wrong("'_' may not occur at end of number")
        } else if fraction || exponent {
            match number.parse().map(Number::from_f64) {
                Ok(Some(number)) => Token::Number(number),
                Ok(None) => Token::Wrong("a number is not finite"),
                Err(_) => Token::Wrong("invalid float"),
            }
        } else {
            u64::from_str_radix(&number, radix)
                .map_or(Token::Wrong("this number is too large"), |n| Token::Number(n.into()))
        };
        self.add(token, at);
    }
}

fn is_indent(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\n' | '\r')
}

/// The text before a statement, without the indentation of the statement if that is all that is before it on its line.
fn unindented(text: &str) -> &str {
    let trimmed = text.trim_end_matches(is_indent);
    if trimmed.is_empty() || trimmed.ends_with('\n') { trimmed } else { text }
}

/// If `text`, after the start of a statement, is only this word and the end of the statement: the length of both, and
/// whether the white space that follows is removed.
fn tag(text: &str, word: &str) -> Option<(usize, bool)> {
    let rest = text.trim_ascii_start().strip_prefix(word)?.trim_ascii_start();
    let signless = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let end = signless.strip_prefix("%}")?;
    Some((text.len() - end.len(), rest.starts_with('-')))
}
