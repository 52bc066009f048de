//! Statements: what does a template consist of, and where is each value of a document?
//!
//! In: the syntax tree of a template, or the text of a file with everything it includes.
//! Out: the same in Jinja for the engine, and as a [`Page`] if its parts are simple; how each value is printed.
//! Never: accepts a value of a document at a place where it is unclear how to escape it.

use super::{Binding, Library, Lower, Paper, bounded};
use crate::diagnostic::{Code, Diagnostic, alternatives};
use crate::expression::engine::GUARDED;
use crate::expression::escape::{Escape, Slot};
use crate::expression::lowered::{Each, Form, Lowered, Node, Page, Print};
use crate::expression::place::Place;
use crate::expression::reads::ENTRY;
use crate::expression::{Fault, filters};
use crate::text::{SourceId, Span};
use minijinja::machinery;
use minijinja::machinery::ast::{CallArg, EmitRaw, Expr, ForLoop, IfCond, Include, Set, Spanned, Stmt};
use minijinja::syntax::SyntaxConfig;
use std::fmt::Write as _;

/// The filter of documents that prints unescaped what the rules themselves write.
const MARKUP: &str = "markup";

/// The most files of one document.
const FILES: usize = 64;

/// Lowers a whole file, with included files inserted, and returns whether a value could form structure with the text
/// around it.
pub(in crate::expression) fn document(
    file: SourceId,
    library: &dyn Library,
    own: &[&str],
    escape: &Escape,
) -> Result<(Lowered, bool), Fault> {
    let source = library.text(file);
    let mut lower = Lower::new(source);
    lower.paper = Some(Paper {
        library,
        own,
        escape,
        place: Place::Text,
        file: None,
        open: vec![file],
        files: 1,
        joins: escape.joins(""),
    });
    let mut out = String::new();
    let page = lower.file(source, &mut out)?;
    let joins = lower.paper.as_ref().is_some_and(|paper| paper.joins);
    Ok((lower.finish(Form::Text(out, page)), joins))
}

/// The syntax of whole files: white space before a statement on its line is removed.
fn page_syntax() -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true).lstrip_blocks(true);
    syntax.build().unwrap_or_default()
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

impl<'s> Lower<'s> {
    /// Writes the code of statements, and returns them as a page if their parts are simple.
    pub(super) fn statements(&mut self, statements: &[Stmt<'s>], out: &mut String) -> Result<Option<Page>, Fault> {
        let mut page = Some(Page::new());
        for statement in statements {
            let node = self.statement(statement, out)?;
            page = page.zip(node).map(|(page, node)| page.with(node));
        }
        Ok(page)
    }

    fn statement(&mut self, statement: &Stmt<'s>, out: &mut String) -> Result<Option<Node>, Fault> {
        match statement {
            Stmt::EmitRaw(raw) => Ok(Some(self.raw(raw, out))),
            Stmt::EmitExpr(emit) => self.emit(&emit.expr, out),
            Stmt::IfCond(choice) => self.choice(choice, out),
            Stmt::Set(set) => self.set(set, out),
            Stmt::ForLoop(each) if !each.recursive => self.each(each, out),
            Stmt::Include(include) if self.paper.is_some() => Ok(self.include(include, out)?.map(Node::Part)),
            other => {
                let fault = Fault::new(self.word_of(other), "templates of a pack cannot use this statement");
                Err(fault.help("the statements are `if`, `for` and `set NAME = VALUE`".to_owned()))
            }
        }
    }

    /// Writes text between statements; in a document, a blank line that only statements stood on is left out.
    fn raw(&mut self, raw: &Spanned<EmitRaw<'s>>, out: &mut String) -> Node {
        let start = raw.span().start_offset as usize;
        let mut raw = raw.raw;
        if let Some(paper) = &mut self.paper {
            if self.source.get(..start).is_some_and(ends_with_statements) {
                raw = behind_line(raw);
            }
            paper.place = paper.place.behind(raw);
            paper.joins |= paper.escape.joins(raw);
        }
        let text = self.constant(raw.into());
        let _ = write!(out, "{{{{ {text} }}}}");
        Node::Text(raw.to_owned())
    }

    fn emit(&mut self, tree: &Expr<'s>, out: &mut String) -> Result<Option<Node>, Fault> {
        let (base, form) = self.printed(tree)?;
        if let (Some(paper), Print::Markup) = (&mut self.paper, &form) {
            paper.joins = true;
        }
        let code = self.expr(base)?;
        let filter = match &form {
            Print::Jinja => String::new(),
            Print::Markup => "|string".to_owned(),
            Print::Slot(Slot::Text) => "|slot".to_owned(),
            Print::Slot(Slot::Quoted) => "|quoted".to_owned(),
            Print::Guarded(dialect) => format!("|{GUARDED}({})", self.constant(dialect.as_str().into())),
        };
        let _ = write!(out, "{{{{ {code}{filter} }}}}");
        Ok(self.quick(base).map(|quick| Node::Print(quick, form)))
    }

    fn choice(&mut self, choice: &IfCond<'s>, out: &mut String) -> Result<Option<Node>, Fault> {
        let test = self.expr(&choice.expr)?;
        let quick = self.quick(&choice.expr);
        let before = self.place();
        let _ = write!(out, "{{% if {test} %}}");
        let then = self.statements(&choice.true_body, out)?;
        out.push_str("{% else %}");
        let after = self.place();
        self.put(before);
        let other = self.statements(&choice.false_body, out)?;
        out.push_str("{% endif %}");
        self.same_place(after, &choice.expr)?;
        Ok(quick.zip(then).zip(other).map(|((test, then), other)| Node::If(test, then, other)))
    }

    fn set(&mut self, set: &Set<'s>, out: &mut String) -> Result<Option<Node>, Fault> {
        let Expr::Var(target) = &set.target else {
            return Err(self.refuse(&set.target, "`set` takes one name"));
        };
        let code = self.expr(&set.expr)?;
        let quick = self.quick(&set.expr);
        let _ = write!(out, "{{% set l_{} = {code} %}}", target.id);
        self.locals.last_mut().into_iter().for_each(|names| names.push(target.id));
        let path = self.leads(&set.expr);
        self.items.push(Binding { name: target.id, own: false, path });
        let name = self.name(target.id);
        Ok(quick.map(|quick| Node::Set(name, quick)))
    }

    fn each(&mut self, each: &ForLoop<'s>, out: &mut String) -> Result<Option<Node>, Fault> {
        let items = self.expr(&each.iter)?;
        let quick = self.quick(&each.iter);
        let mut names = Vec::new();
        self.targets(&each.target, &mut names)?;
        let targets: Vec<String> = names.iter().map(|name| format!("l_{name}")).collect();
        let numbers = names.iter().map(|name| self.name(name)).collect();
        let outer = self.items.len();
        let own = self.is_own(&each.iter);
        let paths = self.paths(each);
        let bindings = names.iter().zip(paths.into_iter().chain(std::iter::repeat(None)));
        self.items.extend(bindings.map(|(name, path)| Binding { name, own, path }));
        self.locals.push([names, vec!["loop"]].concat());
        let _ = write!(out, "{{% for {} in {items}{}", targets.join(", "), filters::EACH);
        let mut when = Some(None);
        if let Some(filter) = &each.filter_expr {
            let code = self.expr(filter)?;
            when = self.quick(filter).map(Some);
            let _ = write!(out, " if {code}");
        }
        out.push_str(" %}");
        let before = self.place();
        let body = self.statements(&each.body, out)?;
        self.locals.pop();
        self.items.truncate(outer);
        self.same_place(before, &each.iter)?;
        out.push_str("{% else %}");
        let otherwise = self.statements(&each.else_body, out)?;
        self.same_place(before, &each.iter)?;
        out.push_str("{% endfor %}");
        let parts = quick.zip(when).zip(body).zip(otherwise);
        Ok(parts.map(|(((items, when), body), otherwise)| {
            let alone = matches!(each.target, Expr::Var(_));
            Node::Each(Box::new(Each { items, names: numbers, alone, when, body, otherwise }))
        }))
    }

    /// The paths that the names of a loop stand for, if known.
    fn paths(&self, each: &ForLoop<'s>) -> Vec<Option<Vec<String>>> {
        let entry = |tree: &Expr<'s>| {
            let mut path = self.leads(tree)?;
            path.push(ENTRY.to_owned());
            Some(path)
        };
        match (&each.target, &each.iter) {
            (Expr::Var(_), iter) => vec![entry(iter)],
            (_, Expr::Filter(filter)) if filters::gives_pairs(filter.name) => {
                vec![None, filter.expr.as_ref().and_then(entry)]
            }
            _ => Vec::new(),
        }
    }

    /// The span of the keyword of a statement, or of the whole text if the statement does not record its place.
    fn word_of(&self, statement: &Stmt<'s>) -> Span {
        let start = match statement {
            Stmt::Include(one) => one.span(),
            Stmt::Block(one) => one.span(),
            Stmt::Import(one) => one.span(),
            Stmt::FromImport(one) => one.span(),
            Stmt::Extends(one) => one.span(),
            Stmt::WithBlock(one) => one.span(),
            Stmt::Do(one) => one.span(),
            _ => return Span::new(0, self.source.len()),
        };
        let start = start.start_offset as usize;
        let rest = self.source.get(start..).unwrap_or_default();
        Span::new(start, start + rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len()))
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
        let fault = self.refuse(tree, "one branch of this ends inside a tag, another does not");
        Err(fault.help("write the whole tag, or the whole value of an attribute, into each branch".to_owned()))
    }

    /// What is printed, and how: in a document either a value escaped for its place, or markup from the rules.
    fn printed<'t>(&self, tree: &'t Expr<'s>) -> Result<(&'t Expr<'s>, Print), Fault> {
        let Some(place) = self.place() else { return Ok((tree, Print::Jinja)) };
        if let Expr::Filter(filter) = tree
            && let (MARKUP, Some(base), [], Place::Text) = (filter.name, &filter.expr, filter.args.as_slice(), place)
        {
            if !self.is_own(base) {
                let fault = self.refuse(tree, "`markup` is only for what the rules themselves write");
                let own = self.paper.as_ref().map(|paper| paper.own.join("`, `")).unwrap_or_default();
                return Err(fault.help(format!("`markup` takes a path that starts at `{own}`, or an item of one")));
            }
            return Ok((base, Print::Markup));
        }
        if let Expr::Filter(filter) = tree
            && let (GUARDED, Some(base), Place::Text) = (filter.name, &filter.expr, place)
        {
            return Ok((base, self.guarded(tree, &filter.args)?));
        }
        // A whole number needs no escaping anywhere: it cannot form markup.
        let is_whole = matches!(tree, Expr::Filter(filter) if filter.name == "int");
        match place {
            Place::Tag if is_whole => Ok((tree, Print::Jinja)),
            Place::Text => Ok((tree, Print::Slot(Slot::Text))),
            Place::Quoted(_) => Ok((tree, Print::Slot(Slot::Quoted))),
            Place::Tag => {
                let fault = self.refuse(tree, "a value cannot stand inside a tag");
                let help =
                    "put it between tags, or into the quotes of an attribute; a whole number may stand there: `| int`";
                Err(fault.help(help.to_owned()))
            }
        }
    }

    /// How a value is printed unescaped, except for lines that a dialect would take for structure.
    fn guarded(&self, tree: &Expr<'s>, args: &[CallArg<'s>]) -> Result<Print, Fault> {
        let name = match args {
            [CallArg::Pos(Expr::Const(name))] => name.value.as_str(),
            _ => None,
        };
        let Some(name) = name else {
            return Err(self.refuse(tree, &format!("`{GUARDED}` takes the name of a dialect in quotes")));
        };
        let known: Vec<&str> = self.paper.iter().flat_map(|paper| paper.escape.guards()).collect();
        if !known.contains(&name) {
            let message = format!("there is no dialect `{name}` whose openers count only at the start of a line");
            let help = alternatives(name, known).or(Some("give the dialect `anchor = \"line\"`".to_owned()));
            return Err(self.refuse(tree, &message).help(help));
        }
        Ok(Print::Guarded(name.to_owned()))
    }

    /// Whether the value of a path never comes from a user, wherever the path leads.
    fn is_own(&self, tree: &Expr<'s>) -> bool {
        match tree {
            Expr::Var(var) if self.is_local(var.id) => {
                let mut bindings = self.items.iter().filter(|binding| binding.name == var.id).peekable();
                bindings.peek().is_some() && bindings.all(|binding| binding.own)
            }
            Expr::Var(var) => self.paper.as_ref().is_some_and(|paper| paper.own.contains(&var.id)),
            Expr::GetAttr(get) => self.is_own(&get.expr),
            Expr::GetItem(get) => self.is_own(&get.expr),
            _ => false,
        }
    }

    /// Inserts the text of a file.
    fn file(&mut self, source: &'s str, out: &mut String) -> Result<Option<Page>, Fault> {
        bounded(source, false)?;
        let tree = machinery::parse(source, "template", page_syntax());
        let tree = tree.map_err(|error| Fault::of_template(&error, source))?;
        let Stmt::Template(tree) = &tree else { return Err(Fault::new(0..source.len(), "this is not a template")) };
        self.statements(&tree.children, out)
    }

    /// Inserts the file that an `include` names.
    fn include(&mut self, include: &Include<'s>, out: &mut String) -> Result<Option<Page>, Fault> {
        let name = match &include.name {
            Expr::Const(name) => name.value.as_str().map(str::to_owned),
            _ => None,
        };
        let Some(name) = name.filter(|_| !include.ignore_missing) else {
            return Err(self.refuse(&include.name, "`include` takes the path of a file in quotes"));
        };
        let Some(paper) = &mut self.paper else { return Ok(None) };
        let Some(from) = paper.open.last().copied() else { return Ok(None) };
        let library = paper.library;
        let found = library.find(&name, from);
        let again = found.is_some_and(|found| paper.open.contains(&found));
        paper.files += 1;
        if again || paper.files > FILES {
            let message = format!("a document consists of at most {FILES} files");
            let message = if again { format!("`{name}` includes itself") } else { message };
            return Err(self.refuse(&include.name, &message));
        }
        let Some(source) = found else {
            let missing = library.missing(&name, from);
            // Other faults are not about the name, but about the file.
            let of_name = |one: &&Diagnostic| [Code::PACK_OUTSIDE, Code::PACK_DUPLICATE].contains(&one.code);
            let of_name = missing.as_ref().filter(of_name);
            let message =
                of_name.map_or_else(|| format!("the pack has no file `{name}`"), |one| one.message.to_string());
            let fault = self.refuse(&include.name, &message);
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
        let page = self.file(text, out).map_err(|fault| match fault.file {
            None => Fault { file: Some((source, text.to_owned())), ..fault },
            Some(_) => fault,
        })?;
        self.source = around;
        if let Some(paper) = &mut self.paper {
            paper.open.pop();
            paper.file = above;
        }
        Ok(page)
    }

    fn targets(&self, target: &Expr<'s>, names: &mut Vec<&'s str>) -> Result<(), Fault> {
        match target {
            Expr::Var(var) => names.push(var.id),
            Expr::Tuple(tuple) if names.is_empty() => {
                tuple.items.iter().try_for_each(|item| self.targets(item, names))?;
            }
            Expr::List(list) if names.is_empty() => {
                list.items.iter().try_for_each(|item| self.targets(item, names))?;
            }
            other => return Err(self.refuse(other, "`for` takes names")),
        }
        Ok(())
    }
}
