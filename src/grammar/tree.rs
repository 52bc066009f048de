//! Grammar trees: what does the text of a grammar contain?
//!
//! In: the text of a `.pest` file.
//! Out: [`TypedRule`]s with the place of every part, or why the text cannot be parsed.
//! Never: checks whether the rules make sense together.

use super::limits;
use crate::diagnostic::{Code, Diagnostic, Message};
use crate::text::{Location, SourceId, Span, excerpt};
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;
use pest_meta::ast::RuleType;
use pest_meta::parser::{self, Rule as Token};

/// Why the stack operations of pest may not be used.
pub(super) const NO_STACK: &str = "a grammar only describes spelling: the reader pairs openers with closers itself";

/// A rule, as typed.
#[derive(Debug)]
pub(super) struct TypedRule {
    pub(super) name: String,
    pub(super) at: Span,
    pub(super) kind: RuleType,
    pub(super) body: RuleNode,
}

/// A part of a rule.
#[derive(Debug)]
pub(super) struct RuleNode {
    pub(super) what: NodeKind,
    pub(super) at: Span,
}

/// The kinds of parts.
#[derive(Debug)]
pub(super) enum NodeKind {
    Text(String),
    AnyCase(String),
    Range(char, char),
    Name(String),
    Sequence(Vec<RuleNode>),
    Choice(Vec<RuleNode>),
    Optional(Box<RuleNode>),
    Repeat(Box<RuleNode>, Times),
    And(Box<RuleNode>),
    Not(Box<RuleNode>),
    /// A part that was refused with a diagnostic; counts as any expression.
    Refused,
}

/// How often a part repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    Any,
    Some,
    Exactly(u32),
    AtLeast(u32),
    AtMost(u32),
    Between(u32, u32),
}

/// Parses the rules in `text`. They are incomplete if the diagnostics contain an error.
pub(super) fn read(source: SourceId, text: &str) -> (Vec<TypedRule>, Vec<Diagnostic>) {
    if let Some((at, message, help)) = limits::refusal(text) {
        return (Vec::new(), vec![fault(source, at, message).with_help(help)]);
    }
    let pairs = match parser::parse(Token::grammar_rules, text) {
        Ok(pairs) => pairs,
        Err(error) => return (Vec::new(), vec![syntax_error(source, text, &error)]),
    };
    let mut reader = GrammarReader { source, diagnostics: Vec::new() };
    let rules =
        pairs.filter(|pair| pair.as_rule() == Token::grammar_rule).filter_map(|pair| reader.rule(pair)).collect();
    (rules, reader.diagnostics)
}

/// The diagnostic for a fault of a grammar.
pub(super) fn fault(source: SourceId, at: Span, message: impl Into<Message>) -> Diagnostic {
    Diagnostic::new(Code::PACK_GRAMMAR, Location { source, span: at }, message)
}

fn syntax_error(source: SourceId, text: &str, error: &pest::error::Error<Token>) -> Diagnostic {
    let (start, end) = match error.location {
        InputLocation::Pos(at) => (at, at),
        InputLocation::Span((start, end)) => (start, end),
    };
    // Cover one character, so that the place is visible; at the very end there is none.
    let width = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let at = Span::new(start, end.max(start + width));
    let found = match text.get(start..).and_then(|rest| rest.split_whitespace().next()) {
        Some(word) => format!("`{}`", excerpt(word, 20)),
        None => "the end of the file".to_owned(),
    };
    match &error.variant {
        ErrorVariant::ParsingError { positives, .. } if !positives.is_empty() => {
            let mut expected: Vec<String> = positives.iter().map(spelled).collect();
            expected.sort();
            expected.dedup();
            expected.truncate(5);
            fault(source, at, format!("this cannot be read as a grammar: found {found}"))
                .with_help(format!("expected: {}", expected.join(", ")))
        }
        _ => fault(source, at, format!("this cannot be read as a grammar: found {found}"))
            .with_help("a rule reads `name = { expression }`"),
    }
}

fn spelled(token: &Token) -> String {
    match token {
        Token::sequence_operator => "`~`".to_owned(),
        Token::grammar_rule | Token::identifier => "a rule's name".to_owned(),
        Token::expression | Token::term => "an expression".to_owned(),
        Token::string => "a string".to_owned(),
        Token::line_doc | Token::grammar_doc => "a comment".to_owned(),
        Token::EOI => "the end of the file".to_owned(),
        token => parser::rename_meta_rule(token).replace('_', " "),
    }
}

struct GrammarReader {
    source: SourceId,
    diagnostics: Vec<Diagnostic>,
}

impl GrammarReader {
    fn refuse(&mut self, at: Span, message: impl Into<Message>, help: &str) -> RuleNode {
        self.diagnostics.push(fault(self.source, at, message).with_help(help));
        RuleNode { what: NodeKind::Refused, at }
    }

    /// Reads a rule; `None` for a documentation comment.
    fn rule(&mut self, pair: Pair<'_, Token>) -> Option<TypedRule> {
        let mut kind = RuleType::Normal;
        let mut name = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Token::identifier => name = Some((part.as_str().to_owned(), span(&part))),
                Token::silent_modifier => kind = RuleType::Silent,
                Token::atomic_modifier => kind = RuleType::Atomic,
                Token::compound_atomic_modifier => kind = RuleType::CompoundAtomic,
                Token::non_atomic_modifier => kind = RuleType::NonAtomic,
                Token::expression => {
                    let (name, at) = name?;
                    return Some(TypedRule { name, at, kind, body: self.expression(part, 0) });
                }
                _ => {}
            }
        }
        None
    }

    /// Reads alternatives of sequences of terms. Recursion is limited because `limits` has checked the
    /// nesting of parentheses.
    fn expression(&mut self, pair: Pair<'_, Token>, depth: usize) -> RuleNode {
        let at = span(&pair);
        let mut choices = Vec::new();
        let mut sequence = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                // The first alternative may have a bar before it, too.
                Token::choice_operator if !sequence.is_empty() => choices.push(joined(std::mem::take(&mut sequence))),
                Token::term => sequence.push(self.term(part, depth + 2)),
                _ => {}
            }
        }
        choices.push(joined(sequence));
        let long = |node: &RuleNode| matches!(&node.what, NodeKind::Sequence(terms) if terms.len() > limits::MAX_TERMS);
        if choices.len() > limits::MAX_TERMS || choices.iter().any(long) {
            let message = format!("more than {} alternatives or terms in one expression", limits::MAX_TERMS);
            return self.refuse(at, message, "split it into several rules");
        }
        let last = if choices.len() == 1 { choices.pop() } else { None };
        last.unwrap_or(RuleNode { what: NodeKind::Choice(choices), at })
    }

    fn term(&mut self, pair: Pair<'_, Token>, depth: usize) -> RuleNode {
        let at = span(&pair);
        let parts: Vec<Pair<'_, Token>> = pair.into_inner().collect();
        let depth = depth + parts.len();
        if depth > limits::MAX_DEPTH {
            return self.refuse(at, "an expression nested too deeply", "give its inner parts rules of their own");
        }
        let mut before = Vec::new();
        let mut node: Option<RuleNode> = None;
        let mut paren = at.start;
        for part in parts {
            let place = span(&part);
            match part.as_rule() {
                Token::tag_id => {
                    self.refuse(place, "labels are not used here", "name a rule instead, it becomes a capture");
                }
                Token::positive_predicate_operator | Token::negative_predicate_operator => {
                    before.push((part.as_rule() == Token::positive_predicate_operator, place));
                }
                Token::opening_paren => paren = place.start,
                Token::closing_paren => {
                    if let Some(node) = &mut node {
                        node.at = Span::new(paren, place.end);
                    }
                }
                Token::assignment_operator => {}
                Token::expression => node = Some(self.expression(part, depth)),
                _ => {
                    node = Some(match node.take() {
                        None => self.terminal(part),
                        Some(node) => self.repeated(node, part),
                    });
                }
            }
        }
        let mut node = node.unwrap_or(RuleNode { what: NodeKind::Refused, at });
        for (positive, place) in before.into_iter().rev() {
            let at = Span::new(place.start, node.at.end);
            let inner = Box::new(node);
            node = RuleNode { what: if positive { NodeKind::And(inner) } else { NodeKind::Not(inner) }, at };
        }
        node
    }

    fn terminal(&mut self, pair: Pair<'_, Token>) -> RuleNode {
        let at = span(&pair);
        let what = match pair.as_rule() {
            Token::identifier => NodeKind::Name(pair.as_str().to_owned()),
            Token::string => match unescaped(pair.as_str(), 1) {
                Some(text) => NodeKind::Text(text),
                None => return self.bad_escape(at),
            },
            Token::insensitive_string => {
                let written = pair.into_inner().next();
                match written.as_ref().and_then(|string| unescaped(string.as_str(), 1)) {
                    Some(text) => NodeKind::AnyCase(text),
                    None => return self.bad_escape(at),
                }
            }
            Token::range => {
                let ends: Vec<Option<char>> = pair
                    .into_inner()
                    .filter(|part| part.as_rule() == Token::character)
                    .map(|part| unescaped(part.as_str(), 1).and_then(|text| text.chars().next()))
                    .collect();
                match ends.as_slice() {
                    [Some(first), Some(last)] if first <= last => NodeKind::Range(*first, *last),
                    [Some(_), Some(_)] => {
                        return self.refuse(
                            at,
                            "a range whose end comes before its start",
                            "write the smaller character first",
                        );
                    }
                    _ => return self.bad_escape(at),
                }
            }
            Token::_push | Token::_push_literal | Token::peek_slice => {
                let name = pair.as_str().split(['(', '[', ' ']).next().unwrap_or_default().to_owned();
                return self.refuse(at, format!("`{name}` cannot be used here"), NO_STACK);
            }
            _ => NodeKind::Refused,
        };
        RuleNode { what, at }
    }

    fn bad_escape(&mut self, at: Span) -> RuleNode {
        self.refuse(
            at,
            "an escape for a character that does not exist",
            "write `\\u{…}` with the number of a character, at most 10FFFF",
        )
    }

    fn repeated(&mut self, node: RuleNode, pair: Pair<'_, Token>) -> RuleNode {
        let operator = span(&pair);
        let at = Span::new(node.at.start, operator.end);
        let times = match pair.as_rule() {
            Token::optional_operator => return RuleNode { what: NodeKind::Optional(Box::new(node)), at },
            Token::repeat_operator => Times::Any,
            Token::repeat_once_operator => Times::Some,
            kind => {
                let mut counts = Vec::new();
                for number in pair.into_inner().filter(|part| part.as_rule() == Token::number) {
                    match number.as_str().parse::<u32>() {
                        Ok(count) if count <= limits::MAX_COUNT => counts.push(count),
                        _ => {
                            let message = format!("a repetition of more than {}", limits::MAX_COUNT);
                            return self.refuse(
                                span(&number),
                                message,
                                "use `*` or `+`, and let the pack check the length",
                            );
                        }
                    }
                }
                match (kind, counts.as_slice()) {
                    (Token::repeat_exact, [count]) if *count > 0 => Times::Exactly(*count),
                    (Token::repeat_min, [least]) => Times::AtLeast(*least),
                    (Token::repeat_max, [most]) if *most > 0 => Times::AtMost(*most),
                    (Token::repeat_min_max, [least, most]) if least <= most && *most > 0 => {
                        Times::Between(*least, *most)
                    }
                    _ => {
                        return self.refuse(
                            operator,
                            "a repetition that can never happen",
                            "the second count is at least the first, and not 0",
                        );
                    }
                }
            }
        };
        RuleNode { what: NodeKind::Repeat(Box::new(node), times), at }
    }
}

fn joined(mut sequence: Vec<RuleNode>) -> RuleNode {
    match (sequence.len(), sequence.first(), sequence.last()) {
        (2.., Some(first), Some(last)) => {
            let at = Span::new(first.at.start, last.at.end);
            RuleNode { what: NodeKind::Sequence(sequence), at }
        }
        _ => sequence.pop().unwrap_or(RuleNode { what: NodeKind::Refused, at: Span::default() }),
    }
}

fn span(pair: &Pair<'_, Token>) -> Span {
    // The span of pest may include white space after the part.
    let start = pair.as_span().start();
    Span::new(start, start + pair.as_str().trim_end().len())
}

/// The text of a literal without its quotes, which take `quote` bytes at either end; `None` for an invalid escape.
fn unescaped(literal: &str, quote: usize) -> Option<String> {
    let mut chars = literal.get(quote..literal.len().checked_sub(quote)?)?.chars();
    let mut text = String::new();
    while let Some(character) = chars.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        text.push(match chars.next()? {
            'r' => '\r',
            'n' => '\n',
            't' => '\t',
            '0' => '\0',
            'x' => char::from_u32(u32::from_str_radix(&chars.by_ref().take(2).collect::<String>(), 16).ok()?)?,
            'u' => {
                let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            quoted => quoted,
        });
    }
    Some(text)
}
