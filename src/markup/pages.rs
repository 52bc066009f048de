//! Pages: where is each value of a document, and how is it printed there?
//!
//! In: the statements of a file with everything it includes.
//! Out: the same statements, in which each printed value has a place; the [`EscapeMode`] of each place.
//! Never: accepts a value at a place where it is unclear how to escape it.

use super::escape::{Escape, EscapeSlot};
use super::place::MarkupContext;
use crate::diagnostic::{Code, Diagnostic, alternatives};
use crate::expression::{DocumentFiles, ExprTree, Operation, Print, Statement, SyntaxFault, no_filter};
use crate::text::{SourceId, Span};

/// The filter of documents that prints text of the rules themselves unescaped.
const MARKUP: &str = "markup";
/// The filter of documents that prints a value unescaped, except for lines that a dialect would take for structure.
const GUARDED: &str = "guarded";
/// The maximum number of files of one document.
const MAX_FILES: usize = 64;

/// The texts that a document may include. One name may mean different texts in different files.
pub(crate) trait Library {
    /// The text that `name` means in the file `from`.
    fn find(&self, name: &str, from: SourceId) -> Option<SourceId>;

    /// The text of a file.
    fn text(&self, source: SourceId) -> &str;

    /// The diagnostic for a `name` that means no text in the file `from`.
    fn missing(&self, name: &str, from: SourceId) -> Option<Diagnostic>;

    /// Whether a file is XML, so that special characters of values in it become entities.
    fn is_xml(&self, source: SourceId) -> bool;
}

/// The files of one document, while it is parsed.
pub(super) struct Included<'s> {
    library: &'s dyn Library,
    /// The document, and the files being inserted, from the outermost down.
    open: Vec<SourceId>,
    files: usize,
}

impl<'s> Included<'s> {
    pub(super) fn new(library: &'s dyn Library, document: SourceId) -> Self {
        Self { library, open: vec![document], files: 1 }
    }

    /// The fault for a name that means no text.
    fn missing(&self, name: &str, from: SourceId, at: Span) -> SyntaxFault {
        let missing = self.library.missing(name, from);
        let help = missing.as_ref().and_then(|missing| missing.help.as_ref()).map(ToString::to_string);
        let help = help.unwrap_or_else(|| "paths are relative to the pack's folder".to_owned());
        // Any other diagnostic is about the file and not about the name, so a message of its own replaces it.
        let fault = match missing.filter(|one| [Code::PACK_OUTSIDE, Code::PACK_DUPLICATE].contains(&one.code)) {
            Some(one) => SyntaxFault { code: one.code.clone(), ..SyntaxFault::new(at, one.message.to_string()) },
            None => SyntaxFault::new(at, format!("the pack has no file `{name}`")),
        };
        fault.help(help)
    }
}

impl<'s> DocumentFiles<'s> for Included<'s> {
    fn open(&mut self, name: &str, at: Span) -> Result<(SourceId, &'s str), SyntaxFault> {
        let from = self.open.last().copied().unwrap_or(SourceId::RESPONSE);
        let found = self.library.find(name, from);
        self.files += 1;
        if found.is_some_and(|found| self.open.contains(&found)) {
            return Err(SyntaxFault::new(at, format!("`{name}` includes itself")));
        }
        if self.files > MAX_FILES {
            return Err(SyntaxFault::new(at, format!("a document consists of at most {MAX_FILES} files")));
        }
        let source = found.ok_or_else(|| self.missing(name, from, at))?;
        self.open.push(source);
        Ok((source, self.library.text(source)))
    }

    fn close(&mut self) {
        self.open.pop();
    }

    fn prints(&self, filter: &str) -> bool {
        [MARKUP, GUARDED].contains(&filter)
    }
}

/// How a value is printed at a place of a document.
#[derive(Debug)]
pub(super) enum EscapeMode {
    /// Escaped.
    Escaped(EscapeSlot),
    /// Unescaped, except for lines that the dialect of this name would take for structure.
    Guarded(String),
}

/// How a value between tags is escaped in a file.
fn slot(library: &dyn Library, source: SourceId) -> EscapeSlot {
    if library.is_xml(source) { EscapeSlot::Text } else { EscapeSlot::Plain }
}

/// Walks through the statements of a document.
pub(super) struct DocumentWalk<'s> {
    library: &'s dyn Library,
    /// Names whose values never come from a user.
    own: &'s [&'s str],
    escape: &'s Escape,
    /// What surrounds the next value, and how a value between tags is escaped in the current file.
    place: MarkupContext,
    slot: EscapeSlot,
    /// Each visible name that statements bind, and whether its value never comes from a user.
    bindings: Vec<(usize, bool)>,
    pub(super) escape_modes: Vec<EscapeMode>,
    /// Whether a value could form an opener or closer together with the text around it.
    pub(super) joins: bool,
}

impl<'s> DocumentWalk<'s> {
    pub(super) fn new(library: &'s dyn Library, source: SourceId, own: &'s [&'s str], escape: &'s Escape) -> Self {
        let (place, joins, escape_modes) = (MarkupContext::Text, escape.joins(""), Vec::new());
        let slot = slot(library, source);
        Self { library, own, escape, place, slot, bindings: Vec::new(), escape_modes, joins }
    }

    pub(super) fn page(&mut self, page: &mut [Statement]) -> Result<(), SyntaxFault> {
        page.iter_mut().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &mut Statement) -> Result<(), SyntaxFault> {
        match node {
            Statement::Text(text) => {
                self.place = self.place.behind(text);
                self.joins |= self.escape.joins(text);
            }
            Statement::Print(tree, print) => *print = self.printed(tree)?,
            Statement::Set(name, _) => self.bindings.push((*name, false)),
            Statement::If(test, then, other) => {
                let before = self.place;
                self.page(then)?;
                let after = std::mem::replace(&mut self.place, before);
                self.page(other)?;
                self.same_place(after, test)?;
            }
            Statement::Each(each) => {
                let (outer, own) = (self.bindings.len(), self.is_own(&each.items));
                self.bindings.extend(each.names.iter().map(|name| (*name, own)));
                let before = self.place;
                self.page(&mut each.body)?;
                self.bindings.truncate(outer);
                self.same_place(before, &each.items)?;
                self.page(&mut each.otherwise)?;
                self.same_place(before, &each.items)?;
            }
            Statement::Part(source, page) => {
                let located = |fault: SyntaxFault| match fault.file {
                    None => SyntaxFault { file: Some((*source, self.library.text(*source).to_owned())), ..fault },
                    Some(_) => fault,
                };
                let outer = std::mem::replace(&mut self.slot, slot(self.library, *source));
                self.page(page).map_err(located)?;
                self.slot = outer;
            }
        }
        Ok(())
    }

    /// Checks that all branches of a statement end at the same kind of place: otherwise it is unclear how to escape the
    /// next value.
    fn same_place(&self, other: MarkupContext, tree: &ExprTree) -> Result<(), SyntaxFault> {
        if self.place == other {
            return Ok(());
        }
        let fault = SyntaxFault::new(tree.span, "one branch of this ends inside a tag, another does not");
        Err(fault.help("write the whole tag, or the whole value of an attribute, into each branch".to_owned()))
    }

    /// How a value is printed: escaped for its place, guarded, or as markup of the rules. The filter that decides this
    /// is removed from the tree.
    fn printed(&mut self, tree: &mut ExprTree) -> Result<Print, SyntaxFault> {
        let printing = if let Operation::Printing(name, at) = &tree.op { Some((name.clone(), *at)) } else { None };
        match (printing, self.place) {
            (Some((name, at)), MarkupContext::Text) if *name == *GUARDED || tree.parts.len() == 1 => {
                let own = Span::new(at.start, tree.span.end);
                let mut parts = std::mem::take(&mut tree.parts).into_vec();
                let args = parts.split_off(1);
                parts.into_iter().for_each(|base| *tree = base);
                if *name == *GUARDED { self.guarded(own, &args) } else { self.markup(own, tree) }
            }
            (Some((name, at)), MarkupContext::Text | MarkupContext::Quoted(_)) => Err(no_filter(&name, at)),
            (_, MarkupContext::Text) => {
                // Whether a value without entities forms an opener can only be decided in the whole text.
                self.joins |= self.slot == EscapeSlot::Plain;
                Ok(self.escape_mode(EscapeMode::Escaped(self.slot), true))
            }
            (_, MarkupContext::Quoted(_)) => Ok(self.escape_mode(EscapeMode::Escaped(EscapeSlot::Quoted), true)),
            // A whole number needs no escaping anywhere: it cannot form markup.
            (_, MarkupContext::Tag) if matches!(tree.op, Operation::Filter(filter) if filter.name == "int") => {
                Ok(Print::Value)
            }
            (_, MarkupContext::Tag) => {
                let fault = SyntaxFault::new(tree.span, "a value cannot be inside a tag");
                let help =
                    "put it between tags, or into the quotes of an attribute; a whole number may be there: `| int`";
                Err(fault.help(help.to_owned()))
            }
        }
    }

    fn escape_mode(&mut self, escape_mode: EscapeMode, json: bool) -> Print {
        self.escape_modes.push(escape_mode);
        Print::Placed { place: self.escape_modes.len() - 1, json }
    }

    fn markup(&mut self, at: Span, tree: &ExprTree) -> Result<Print, SyntaxFault> {
        if !self.is_own(tree) {
            let fault = SyntaxFault::new(at, "`markup` is only for what the rules themselves write");
            let own = self.own.join("`, `");
            return Err(fault.help(format!("`markup` takes a path that starts at `{own}`, or an item of one")));
        }
        self.joins = true;
        Ok(Print::Text)
    }

    fn guarded(&mut self, at: Span, args: &[ExprTree]) -> Result<Print, SyntaxFault> {
        let [Some(name)] = args.iter().map(ExprTree::text).collect::<Vec<_>>()[..] else {
            return Err(SyntaxFault::new(at, format!("`{GUARDED}` takes the name of a dialect in quotes")));
        };
        let known: Vec<&str> = self.escape.guards().collect();
        if !known.contains(&name) {
            let message = format!("there is no dialect `{name}` whose openers count only at the start of a line");
            let help = alternatives(name, known).or(Some("give the dialect `anchor = \"line\"`".to_owned()));
            return Err(SyntaxFault::new(at, message).help(help));
        }
        Ok(self.escape_mode(EscapeMode::Guarded(name.to_owned()), false))
    }

    /// Whether the value of a path never comes from a user: the path starts at one of the `own` names.
    fn is_own(&self, tree: &ExprTree) -> bool {
        match (&tree.op, &*tree.parts) {
            (Operation::Local(name), _) => {
                let mut bindings = self.bindings.iter().filter(|(known, _)| known == name).peekable();
                bindings.peek().is_some() && bindings.all(|(_, own)| *own)
            }
            (Operation::Read(read), _) => read.head().is_some_and(|head| self.own.contains(&head)),
            (Operation::Item, [base, _]) => self.is_own(base),
            _ => false,
        }
    }
}
