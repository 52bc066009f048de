//! Pages: what does a template consist of, and where is each value of a document?
//!
//! In: the statements of a template, or the text of a file with everything it includes.
//! Out: a [`Page`], with how each value is printed.
//! Never: accepts a value of a document at a place where it is unclear how to escape it.

use super::code::{Body, Compiled, Each, Node, Page, Print};
use super::compile::{Binding, Compiler};
use super::escape::{Escape, Slot};
use super::filters::{Filter, Takes};
use super::place::Place;
use super::reads::ENTRY;
use super::syntax::{Arg, Expr, For, If, Kind, Stmt};
use super::token::Syntax;
use super::{Fault, parse};
use crate::diagnostic::{Code, Diagnostic, alternatives};
use crate::text::{SourceId, Span};

/// The filter of documents that prints unescaped what the rules themselves write.
const MARKUP: &str = "markup";
/// The filter of documents that prints a value without escaping, except for lines that a dialect would take for
/// structure.
const GUARDED: &str = "guarded";
/// The most files of one document.
const FILES: usize = 64;

/// The texts that a document may include. One name may mean different texts in different files.
pub(crate) trait Library {
    /// The text that `name` means in the file `from`.
    fn find(&self, name: &str, from: SourceId) -> Option<SourceId>;

    /// The text of a file.
    fn text(&self, source: SourceId) -> &str;

    /// The diagnostic for a `name` that means no text in the file `from`.
    fn missing(&self, name: &str, from: SourceId) -> Option<Diagnostic>;
}

/// What compiling a document needs besides.
pub(super) struct Paper<'s> {
    library: &'s dyn Library,
    /// Names whose values never come from a user.
    own: &'s [&'s str],
    escape: &'s Escape,
    /// The place of the next value.
    place: Place,
    /// The file being inserted; none for the document itself.
    pub(super) file: Option<SourceId>,
    /// The document, and the files being inserted, from the outermost down.
    open: Vec<SourceId>,
    files: usize,
    /// Whether a value could form a mark together with the text around it.
    joins: bool,
}

/// Compiles a whole file, with included files inserted, and returns whether a value could form structure with the text
/// around it.
pub(super) fn document(
    file: SourceId,
    library: &dyn Library,
    own: &[&str],
    escape: &Escape,
) -> Result<(Compiled, bool), Fault> {
    let source = library.text(file);
    let mut compiler = Compiler::new(source);
    compiler.paper = Some(Paper {
        library,
        own,
        escape,
        place: Place::Text,
        file: None,
        open: vec![file],
        files: 1,
        joins: escape.joins(""),
    });
    let page = compiler.page(&parse::statements(source, Syntax::Page)?)?;
    let joins = compiler.paper.as_ref().is_some_and(|paper| paper.joins);
    Ok((compiler.finish(Body::Text(page)), joins))
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

impl<'s> Compiler<'s> {
    pub(super) fn page(&mut self, statements: &[Stmt<'s>]) -> Result<Page, Fault> {
        statements.iter().map(|statement| self.statement(statement)).collect::<Result<_, _>>().map(Page)
    }

    fn statement(&mut self, statement: &Stmt<'s>) -> Result<Node, Fault> {
        Ok(match statement {
            Stmt::Text(text, start) => self.outside(text, *start),
            Stmt::Print(tree) => {
                let (base, print) = self.printed(tree)?;
                if let (Some(paper), Print::Markup) = (&mut self.paper, &print) {
                    paper.joins = true;
                }
                Node::Print(self.code(base)?, print)
            }
            Stmt::If(choice) => self.choice(choice)?,
            Stmt::Set(target, tree) => {
                let code = self.code(tree)?;
                self.locals.last_mut().into_iter().for_each(|names| names.push(target.text));
                let path = self.origin(tree);
                self.bindings.push(Binding { name: target.text, own: false, path });
                Node::Set(self.name(target.text), code)
            }
            Stmt::For(each) => self.each(each)?,
            Stmt::Include(file) => self.include(file)?,
        })
    }

    /// Text outside of braces; in a document, a blank line that only statements stood on is left out.
    fn outside(&mut self, mut text: &'s str, start: usize) -> Node {
        if let Some(paper) = &mut self.paper {
            if self.source.get(..start).is_some_and(ends_with_statements) {
                text = behind_line(text);
            }
            paper.place = paper.place.behind(text);
            paper.joins |= paper.escape.joins(text);
        }
        Node::Text(text.to_owned())
    }

    fn choice(&mut self, choice: &If<'s>) -> Result<Node, Fault> {
        let test = self.code(&choice.test)?;
        let before = self.place();
        let then = self.page(&choice.then)?;
        let after = self.place();
        self.put(before);
        let other = self.page(&choice.other)?;
        self.same_place(after, &choice.test)?;
        Ok(Node::If(test, then, other))
    }

    fn each(&mut self, each: &For<'s>) -> Result<Node, Fault> {
        let items = self.code(&each.items)?;
        let numbers = each.names.iter().map(|name| self.name(name.text)).collect();
        let outer = self.bindings.len();
        let own = self.is_own(&each.items);
        let paths = self.paths(each).into_iter().chain(std::iter::repeat(None));
        let bindings = each.names.iter().zip(paths).map(|(name, path)| Binding { name: name.text, own, path });
        self.bindings.extend(bindings.collect::<Vec<_>>());
        self.locals.push(each.names.iter().map(|name| name.text).chain(["loop"]).collect());
        let when = each.when.as_ref().map(|when| self.code(when)).transpose()?;
        let before = self.place();
        let body = self.page(&each.body)?;
        self.locals.pop();
        self.bindings.truncate(outer);
        self.same_place(before, &each.items)?;
        let otherwise = self.page(&each.otherwise)?;
        self.same_place(before, &each.items)?;
        Ok(Node::Each(Box::new(Each { items, names: numbers, alone: each.alone, when, body, otherwise })))
    }

    /// The paths that the names of a loop stand for, if known.
    fn paths(&self, each: &For<'s>) -> Vec<Option<Vec<String>>> {
        let entry = |tree: &Expr<'s>| {
            let mut path = self.origin(tree)?;
            path.push(ENTRY.to_owned());
            Some(path)
        };
        match &each.items.kind {
            _ if each.alone => vec![entry(&each.items)],
            Kind::Filter(call) if Filter::of(call.name.text).is_some_and(|filter| filter.takes == Takes::Pairs) => {
                vec![None, entry(&call.base)]
            }
            _ => Vec::new(),
        }
    }

    fn place(&self) -> Option<Place> {
        self.paper.as_ref().map(|paper| paper.place)
    }

    fn put(&mut self, place: Option<Place>) {
        if let (Some(paper), Some(place)) = (&mut self.paper, place) {
            paper.place = place;
        }
    }

    /// Checks that all branches of a statement end at the same kind of place: otherwise it is unclear how to escape the
    /// next value.
    fn same_place(&self, other: Option<Place>, tree: &Expr<'s>) -> Result<(), Fault> {
        if self.place() == other {
            return Ok(());
        }
        let fault = Fault::new(tree.span, "one branch of this ends inside a tag, another does not");
        Err(fault.help("write the whole tag, or the whole value of an attribute, into each branch".to_owned()))
    }

    /// What is printed, and how: in a document either a value escaped for its place, or markup from the rules.
    fn printed<'t>(&self, tree: &'t Expr<'s>) -> Result<(&'t Expr<'s>, Print), Fault> {
        let Some(place) = self.place() else { return Ok((tree, Print::Value)) };
        let filter = if let Kind::Filter(call) = &tree.kind { Some(&**call) } else { None };
        match filter.map(|call| (call.name.text, call)) {
            Some((MARKUP, call)) if call.args.is_empty() && place == Place::Text => {
                if !self.is_own(&call.base) {
                    let fault = Fault::new(call.own(tree.span), "`markup` is only for what the rules themselves write");
                    let own = self.paper.as_ref().map(|paper| paper.own.join("`, `")).unwrap_or_default();
                    return Err(fault.help(format!("`markup` takes a path that starts at `{own}`, or an item of one")));
                }
                return Ok((&call.base, Print::Markup));
            }
            Some((GUARDED, call)) if place == Place::Text => {
                return Ok((&call.base, self.guarded(call.own(tree.span), &call.args)?));
            }
            _ => {}
        }
        match place {
            // A whole number needs no escaping anywhere: it cannot form markup.
            Place::Tag if filter.is_some_and(|call| call.name.text == "int") => Ok((tree, Print::Value)),
            Place::Text => Ok((tree, Print::Slot(Slot::Text))),
            Place::Quoted(_) => Ok((tree, Print::Slot(Slot::Quoted))),
            Place::Tag => {
                let fault = Fault::new(tree.span, "a value cannot stand inside a tag");
                let help =
                    "put it between tags, or into the quotes of an attribute; a whole number may stand there: `| int`";
                Err(fault.help(help.to_owned()))
            }
        }
    }

    /// How a value is printed unescaped, except for lines that a dialect would take for structure.
    fn guarded(&self, at: Span, args: &[Arg<'s>]) -> Result<Print, Fault> {
        let name = match args {
            [Arg { name: None, value }] => value.text(),
            _ => None,
        };
        let Some(name) = name else {
            return Err(Fault::new(at, format!("`{GUARDED}` takes the name of a dialect in quotes")));
        };
        let known: Vec<&str> = self.paper.iter().flat_map(|paper| paper.escape.guards()).collect();
        if !known.contains(&name) {
            let message = format!("there is no dialect `{name}` whose openers count only at the start of a line");
            let help = alternatives(name, known).or(Some("give the dialect `anchor = \"line\"`".to_owned()));
            return Err(Fault::new(at, message).help(help));
        }
        Ok(Print::Guarded(name.to_owned()))
    }

    /// Whether the value of a path never comes from a user, wherever the path leads.
    fn is_own(&self, tree: &Expr<'s>) -> bool {
        match &tree.kind {
            Kind::Name(name) if self.is_local(name) => {
                let mut bindings = self.bindings.iter().filter(|binding| binding.name == *name).peekable();
                bindings.peek().is_some() && bindings.all(|binding| binding.own)
            }
            Kind::Name(name) => self.paper.as_ref().is_some_and(|paper| paper.own.contains(name)),
            Kind::Member(base, _) => self.is_own(base),
            Kind::Item(parts) => {
                let [base, _] = &**parts;
                self.is_own(base)
            }
            _ => false,
        }
    }

    /// Inserts the file that an `include` names.
    fn include(&mut self, file: &Expr<'s>) -> Result<Node, Fault> {
        let refuse = |message: String| Fault::new(file.span, message);
        let Some(paper) = &mut self.paper else { return Ok(Node::Part(Page::default())) };
        let Some(name) = file.text() else {
            return Err(refuse("`include` takes the path of a file in quotes".to_owned()));
        };
        let Some(from) = paper.open.last().copied() else { return Ok(Node::Part(Page::default())) };
        let library = paper.library;
        let found = library.find(name, from);
        paper.files += 1;
        if found.is_some_and(|found| paper.open.contains(&found)) {
            return Err(refuse(format!("`{name}` includes itself")));
        }
        if paper.files > FILES {
            return Err(refuse(format!("a document consists of at most {FILES} files")));
        }
        let Some(source) = found else {
            let missing = library.missing(name, from);
            // Other faults are not about the name, but about the file.
            let of_name = |one: &&Diagnostic| [Code::PACK_OUTSIDE, Code::PACK_DUPLICATE].contains(&one.code);
            let of_name = missing.as_ref().filter(of_name);
            let message =
                of_name.map_or_else(|| format!("the pack has no file `{name}`"), |one| one.message.to_string());
            let fault = refuse(message);
            let code = of_name.map_or(fault.code.clone(), |one| one.code.clone());
            let help = missing.and_then(|missing| missing.help);
            let help = help
                .map(|help| help.to_string())
                .unwrap_or_else(|| "paths are relative to the pack's folder".to_owned());
            return Err(Fault { code, ..fault }.help(help));
        };
        let text = library.text(source);
        paper.open.push(source);
        let above = paper.file.replace(source);
        let around = std::mem::replace(&mut self.source, text);
        let page = parse::statements(text, Syntax::Page).and_then(|statements| self.page(&statements));
        let page = page.map_err(|fault| match fault.file {
            None => Fault { file: Some((source, text.to_owned())), ..fault },
            Some(_) => fault,
        })?;
        self.source = around;
        if let Some(paper) = &mut self.paper {
            paper.open.pop();
            paper.file = above;
        }
        Ok(Node::Part(page))
    }
}
