//! Faults: what is wrong with the text of an expression, and where?
//!
//! In: the bytes that are refused, and why.
//! Out: [`SyntaxFault`], and the diagnostic for it at its place in the file.
//! Never: detects a fault itself.

use crate::diagnostic::{Code, Diagnostic};
use crate::text::{Location, SourceId, Span, Spanned};

/// Signs and words of other languages, and what to write instead.
const FOREIGN: &[(&str, &str)] = &[
    ("&&", "say `and`"),
    ("&", "say `and`"),
    ("||", "say `or`"),
    ("!", "say `not`"),
    ("=", "`==` compares"),
    ("=~", "say `TEXT is matching('PATTERN')`"),
    ("~=", "say `TEXT is matching('PATTERN')`"),
    ("===", "`==` compares"),
    ("!==", "say `!=`"),
    ("<>", "say `!=`"),
    ("=>", "say `>=`"),
    ("=<", "say `<=`"),
    ("?", "say `A if CONDITION else B`"),
    ("??", "say `VALUE | default(OTHER)`"),
    ("AND", "say `and`"),
    ("OR", "say `or`"),
    ("NOT", "say `not`"),
    ("IN", "say `in`"),
    ("equals", "`==` compares"),
    ("elseif", "say `elif`"),
    ("elsif", "say `elif`"),
    ("foreach", "say `for`"),
    ("contains", "turn it round: `PART in WHOLE`"),
    ("then", "say `A if CONDITION else B`"),
];

/// A fault in the text of an expression: its bytes, what is wrong, and advice.
#[derive(Debug)]
pub(crate) struct SyntaxFault {
    pub(crate) code: Code,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// The file of the fault, if it is not the current one.
    pub(crate) file: Option<(SourceId, String)>,
}

impl SyntaxFault {
    pub(crate) fn new(span: impl Into<Span>, message: impl Into<String>) -> Self {
        Self { code: Code::PACK_EXPRESSION, span: span.into(), message: message.into(), help: None, file: None }
    }

    pub(crate) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    pub(crate) fn at(self, text: &Spanned<String>) -> Box<Diagnostic> {
        if let Some((source, other)) = self.file {
            let at = Location { source, span: Span::new(0, other.len()) };
            return SyntaxFault { file: None, ..self }.at(&Spanned::new(other, at));
        }
        let found = if self.help.is_none() { self.cause(&text.value) } else { None };
        let (span, message, help) = match found {
            Some((span, message, help)) => (span, message.unwrap_or(self.message), Some(help.to_owned())),
            None => (self.span, self.message, self.help),
        };
        let mut diagnostic = Diagnostic::new(self.code, text.place_of(span), message);
        diagnostic.help = help.map(Into::into);
        Box::new(diagnostic)
    }

    /// A likely cause of the fault: a sign or word of another language, or braces that are not closed. Returns its
    /// span, the message if it replaces that of the fault, and the help.
    fn cause(&self, text: &str) -> Option<(Span, Option<String>, &'static str)> {
        // The fault may be at the first or at the last character of such a sign or word.
        let (before, rest) = text.split_at_checked(self.span.start)?;
        let is_word = rest.starts_with(|c: char| c.is_ascii_alphabetic());
        let part = |c: char| if is_word { c.is_ascii_alphanumeric() || c == '_' } else { "&|!=<>?~".contains(c) };
        let start = before.trim_end_matches(part).len();
        let end = text.len() - rest.trim_start_matches(part).len();
        let word = text.get(start..end)?;
        if let Some((_, help)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
            return Some((Span::new(start, end), None, help));
        }
        let braces = [("{{", "}}", "close them with `}}`"), ("{%", "%}", "close them with `%}`")];
        let last = braces.iter().filter_map(|braces| Some((before.rfind(braces.0)?, braces))).max_by_key(|one| one.0);
        let (open, (_, closer, help)) = last?;
        let inside = text.get(open + 2..)?;
        let next = ["{{", "{%"].iter().filter_map(|other| inside.find(other)).min().unwrap_or(inside.len());
        let is_open = !inside.get(..next)?.contains(closer);
        is_open.then(|| (Span::new(open, open + 2), Some("these braces are never closed".to_owned()), *help))
    }
}
