//! Ends: which statement of a template has no end, or the end of another statement?
//!
//! In: the text of a template that cannot be parsed, and where the parser stopped.
//! Out: the fault at the word to correct, if that is the problem.
//! Never: parses the inside of a statement.

use super::Fault;
use super::filters;
use crate::text::Span;
use minijinja::machinery::{self, Token};

/// The fault of an `if` or `for` or its end, if the parser stopped because of it: at the end of the text, or at the
/// word `stopped`.
pub(super) fn fault(source: &str, stopped: Span) -> Option<Fault> {
    let mut open: Vec<(&str, Span)> = Vec::new();
    let mut tokens = machinery::tokenize(source, false, filters::syntax()).map_while(Result::ok).peekable();
    while let Some((token, _)) = tokens.next() {
        let (Token::BlockStart, Some((Token::Ident(word), span))) = (token, tokens.peek()) else { continue };
        let (word, span) = (*word, Span::new(span.start_offset as usize, span.end_offset as usize));
        match (word, open.last().map(|(word, _)| *word)) {
            ("if" | "for", _) => open.push((word, span)),
            ("endif", Some("if")) | ("endfor", Some("for")) => drop(open.pop()),
            ("endif" | "endfor", around) => {
                let is_here = span.start <= stopped.end && stopped.start <= span.end;
                return is_here.then(|| match around {
                    Some(around) => {
                        Fault::new(span, format!("`{word}` ends nothing here: the `{around}` before it is still open"))
                            .help(format!("say `{{% end{around} %}}`"))
                    }
                    None => Fault::new(span, format!("`{word}` ends nothing: no statement before it is open"))
                        .help("take it out, or put the statement that it ends before it".to_owned()),
                });
            }
            _ => {}
        }
    }
    let (word, span) = open.pop().filter(|_| source.get(stopped.end..).is_some_and(|rest| rest.trim().is_empty()))?;
    let what = if word == "for" { "what it repeats" } else { "what depends on it" };
    Some(Fault::new(span, format!("this `{word}` never ends")).help(format!("put `{{% end{word} %}}` after {what}")))
}
