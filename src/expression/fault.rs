//! Faults: what is wrong with the text of an expression, and where?
//!
//! In: the bytes that are refused, and why.
//! Out: [`Fault`], and the diagnostic for it at its place in the file.
//! Never: finds a fault itself.

use crate::diagnostic::{Code, Diagnostic};
use crate::text::{Location, SourceId, Span, Spanned};

/// Words of other languages, and what to write instead.
const FOREIGN: &[(&str, &str)] = &[
    ("&&", "say `and`"),
    ("||", "say `or`"),
    ("!", "say `not`"),
    ("=", "`==` compares"),
    ("?", "say `A if CONDITION else B`"),
];

/// A fault in the text of an expression: its bytes, what is wrong, and advice.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// The file of the fault, if it is not the current one.
    pub(crate) file: Option<(SourceId, String)>,
}

impl Fault {
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
            return Fault { file: None, ..self }.at(&Spanned::new(other, at));
        }
        // A fault stands at the first or at the last sign of such a word.
        let start = self.span.start;
        let foreign = || {
            FOREIGN.iter().find(|(word, _)| {
                let at = |place: usize| {
                    let (before, rest) = text.value.split_at_checked(place).unwrap_or_default();
                    let whole = rest.starts_with("==") || before.ends_with(['=', '!', '<', '>']);
                    rest.starts_with(word) && !(*word == "=" && whole)
                };
                at(start) || start.checked_sub(word.len() - 1).is_some_and(at)
            })
        };
        let mut diagnostic = Diagnostic::new(self.code, text.place_of(self.span), self.message);
        diagnostic.help = self.help.or_else(|| foreign().map(|(_, help)| (*help).to_owned())).map(Into::into);
        Box::new(diagnostic)
    }
}
