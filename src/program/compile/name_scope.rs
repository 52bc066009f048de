//! Name scope: is every name that an expression reads visible there?
//!
//! In: conditions, templates, shapes and paths, and the names that are visible where they are.
//! Out: the compiled expression, and a diagnostic for each name that is not visible.
//! Never: evaluates an expression.

use super::known::{UnknownPath, first_undeclared, is_list, never_is};
use super::{IdleComparison, PackCompiler, StateSlot};
use crate::diagnostic::{Code, Diagnostic, meant};
use crate::expression::{ENTRY, Expression, MatchPattern as ConstantPattern, Reads, Template, spelled};
use crate::markup::{Escape, TemplateDocument};
use crate::program::Pattern;
use crate::program::{PathTemplate, Shape};
use crate::surface::files::NameMeaning;
use crate::surface::{Case, Dialect, Named, Origin, Role, Tree};
use crate::text::{Location, Slice, SourceId, Spanned, excerpt};
use crate::value::Table;
use std::collections::HashSet;
use std::sync::Arc;

/// The names that expressions at one place may read.
#[derive(Clone)]
pub(super) struct NameScope<'s> {
    /// The names that the engine provides there.
    names: Vec<&'s str>,
    /// The names bound by `let`, or taken by a message.
    lets: Vec<BoundName<'s>>,
    /// The parameters of the call, if there is one.
    pub(super) params: Option<&'s Named<Tree>>,
    /// The names of the groups of a pattern; none if unknown.
    pub(super) captures: Option<Vec<String>>,
    /// The kinds of ids taken so far.
    pub(super) ids: Vec<&'s str>,
    /// Whether there may be more names, because their declarations could not be read.
    open: bool,
}

/// A bound name, and the path to its value, if it has one.
#[derive(Clone)]
struct BoundName<'s> {
    name: &'s str,
    path: Option<Vec<String>>,
}

impl<'s> NameScope<'s> {
    pub(super) fn of(names: &[&'s str]) -> Self {
        Self { names: names.to_vec(), lets: Vec::new(), params: None, captures: None, ids: Vec::new(), open: false }
    }

    /// Allows any name if the declarations of names are faulty (`torn`).
    pub(super) fn open(&mut self, torn: bool) {
        self.open |= torn;
    }

    pub(super) fn add(&mut self, names: &[&'s str]) {
        self.names.extend(names);
    }

    /// Adds the groups of these patterns to `captures`.
    pub(super) fn capture<'p>(&mut self, patterns: impl Iterator<Item = &'p Pattern>) {
        let groups = patterns.flat_map(Pattern::groups).map(str::to_owned);
        self.captures.get_or_insert_default().extend(groups);
    }

    pub(super) fn bind(&mut self, name: &'s str, path: Option<Vec<String>>) {
        self.lets.push(BoundName { name, path });
    }

    /// Adds an id of this kind, visible from here on.
    pub(super) fn take_id(&mut self, kind: &'s str) {
        self.ids.push(kind);
    }

    /// How many names are bound and how many ids are taken so far.
    pub(super) fn bounds(&self) -> (usize, usize) {
        (self.lets.len(), self.ids.len())
    }

    /// Removes the names and ids added since [`bounds`](Self::bounds) returned these numbers.
    pub(super) fn forget(&mut self, (lets, ids): (usize, usize)) {
        self.lets.truncate(lets);
        self.ids.truncate(ids);
    }

    fn bound(&self, name: &str) -> Option<&BoundName<'s>> {
        self.lets.iter().rfind(|bound| bound.name == name)
    }

    /// The path with bound names replaced by the paths of their values.
    pub(super) fn resolved_path(&self, path: Option<&[String]>) -> Option<Vec<String>> {
        let (head, inside) = path?.split_first()?;
        match self.bound(head) {
            Some(bound) => Some([bound.path.as_deref()?, inside].concat()),
            None => path.map(<[String]>::to_vec),
        }
    }
}

/// The values of the state that the pack reads and changes.
#[derive(Default)]
pub(super) struct Touched {
    /// Each path, starting with the name of the value, and its place; empty for the whole state.
    read: Vec<(Vec<String>, Location)>,
    changed: HashSet<String>,
}

impl Touched {
    pub(super) fn mark(&self, slots: &mut Table<String, StateSlot>) {
        for (path, at) in &self.read {
            match path.split_first() {
                Some((head, inside)) => {
                    slots.get_mut(head).into_iter().for_each(|slot| slot.reads.push((inside.to_vec(), *at)));
                }
                None => slots.values_mut().for_each(|slot| slot.reads.push((Vec::new(), *at))),
            }
        }
        for (name, slot) in slots {
            slot.changed = self.changed.contains(name);
            slot.given |= slot.changed;
        }
    }
}

/// The names for conditions on a call.
pub(super) const CALL_NAMES: &[&str] = &["action", "params", "state", "data", "mode", "title", "reply", "now"];
/// The names for conditions on a content.
pub(super) const CONTENT_PERMIT_NAMES: &[&str] =
    &["key", "text", "name", "attributes", "state", "data", "mode", "title", "reply", "now"];
/// The names for effects of actions.
pub(super) const EFFECT_NAMES: &[&str] = &["action", "params", "state", "data", "mode", "reply", "ids", "now"];
/// The names for effects of contents.
pub(super) const CONTENT_NAMES: &[&str] =
    &["key", "text", "name", "attributes", "state", "data", "mode", "reply", "ids", "now"];
/// The names for guardrails.
pub(super) const REPLY_NAMES: &[&str] = &["state", "data", "mode", "reply", "now"];
/// The names for templates of prompts.
const PROMPT_NAMES: &[&str] =
    &["state", "data", "mode", "title", "tier", "model", "sections", "actions", "forms", "now"];
/// The names for `markup` in templates of prompts: their values come from the rules alone.
const MARKUP_NAMES: &[&str] = &["actions", "forms", "data"];
/// The names for the text of a value.
pub(super) const VALUE_NAMES: &[&str] = &["value", "state", "data", "mode", "now"];
/// The names for computed values of the state.
pub(super) const COMPUTE_NAMES: &[&str] = &["state", "data", "mode", "now"];
/// The names for the text of a correction.
pub(super) const ASK_AGAIN_NAMES: &[&str] = &["defects", "form", "permitted", "mode", "data"];
/// The names for rules on any event.
pub(super) const RULE_NAMES: &[&str] = &["state", "data", "mode", "reply", "ids", "now"];
/// Further names for rules on an input.
pub(super) const INPUT_NAMES: &[&str] = &["captures", "text"];
/// Further names for rules on an utterance.
pub(super) const UTTERANCE_NAMES: &[&str] = &["speaker", "label", "text"];
/// The names for conditions of layers.
pub(super) const LAYER_NAMES: &[&str] = &["state", "data", "mode", "title", "tier", "model", "now"];
/// The names for values in patterns.
pub(super) const PATTERN_NAMES: &[&str] = &["data"];

/// A path with each number replaced by the placeholder for any entry.
fn entered(mut path: Vec<String>) -> Vec<String> {
    path.iter_mut().filter(|part| part.parse::<usize>().is_ok()).for_each(|part| ENTRY.clone_into(part));
    path
}

/// Whether only the host sets a value of the state.
pub(super) fn from_host(slot: &Tree) -> bool {
    slot.text("from").is_some_and(|from| from.value == Origin::Host.word())
}

impl PackCompiler<'_> {
    /// Reports every name that an expression reads but that is not visible.
    pub(super) fn see(&mut self, reads: &Reads, scope: &NameScope<'_>) {
        self.compare(reads, scope);
        self.check_patterns(reads);
        let mut reported: Vec<Vec<String>> = Vec::new();
        for (path, at) in reads.iter().chain(reads.inner()) {
            let Some((head, inside)) = path.split_first() else { continue };
            // The engine provides these only if an effect reads them; only the scopes of effects have `ids`.
            let is_made = head == "reply" || head == "attributes";
            if is_made && scope.names.contains(&"ids") && !self.effects_read.iter().any(|known| known == path) {
                self.effects_read.push(path.to_vec());
            }
            // A bound name was checked where it was bound; only what is read inside its value is new.
            let before = match scope.bound(head) {
                Some(bound) => bound.path.as_deref(),
                None => Some(std::slice::from_ref(head)),
            };
            let Some(before) = before else { continue };
            let path = entered([before, inside].concat());
            if let [head, member @ ..] = path.as_slice()
                && head == "state"
                && scope.names.contains(&"state")
            {
                self.touched.read.push((member.to_vec(), at));
            }
            let Some((unseen, upto)) = self.unseen(&path, at, scope) else { continue };
            let is_new = scope.bound(head).is_none() || upto.len() > before.len();
            if is_new && !reported.iter().any(|reported| reported == upto) {
                reported.push(upto.to_vec());
                self.diagnostics.push(unseen);
            }
        }
    }

    /// Checks the constants of the pack that are used as patterns: texts, or lists of texts.
    fn check_patterns(&mut self, reads: &Reads) {
        let surface = self.surface;
        for (path, used_at) in reads.patterns() {
            let inside = path.slice(2..);
            let found = path.get(1).and_then(|name| surface.data.get(name));
            let found = found.and_then(|found| inside.iter().try_fold(&found.value, |tree, key| tree.get(key)));
            let Some(found) = found else { continue };
            let items = if let Tree::List(items, _) = found { items.iter().collect() } else { vec![found] };
            for item in items {
                let fault = match item {
                    Tree::Text(text) => ConstantPattern::new(&text.value).err().map(|(message, help)| {
                        Diagnostic::new(Code::PACK_PATTERN, text.at, message).with_help(help.to_owned())
                    }),
                    other => {
                        let message = format!("`{}` is used as a pattern, and this is no text", spelled(path));
                        Some(Diagnostic::new(Code::PACK_PATTERN, other.at(), message))
                    }
                };
                let Some(fault) = fault else { continue };
                // A permit for several actions is checked for each of them: report the same fault only once.
                if !self.diagnostics.iter().any(|one| one.code == fault.code && one.at == fault.at) {
                    self.diagnostics.push(fault.with_place(used_at, "used as a pattern here"));
                }
            }
        }
    }

    /// Records every comparison with a constant that never succeeds.
    fn compare(&mut self, reads: &Reads, scope: &NameScope<'_>) {
        for compared in reads.compared() {
            let Some(path) = scope.resolved_path(Some(&compared.path)).map(entered) else { continue };
            let never = never_is(compared, &path, self.surface, scope);
            let (path, constant) = (spelled(&path), &compared.constant);
            let key = (constant.at, path.clone(), constant.value.clone());
            // A permit for several actions is read once for each: no finding if the comparison may succeed for one of
            // them.
            match never {
                None => drop(self.comparisons.insert(key, None)),
                Some(why) => {
                    let idle = IdleComparison { path, relation: compared.relation, constant: constant.clone(), why };
                    self.comparisons.entry(key).or_insert(Some(idle));
                }
            }
        }
    }

    /// The fault of a path, and the part of the path up to the fault.
    fn unseen<'p>(
        &self,
        path: &'p [String],
        at: Location,
        scope: &NameScope<'_>,
    ) -> Option<(Diagnostic, &'p [String])> {
        let unknown = |message: String| Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message);
        let head = path.first()?.as_str();
        if !scope.names.contains(&head) {
            if scope.open {
                return None;
            }
            let lets = scope.lets.iter().map(|bound| bound.name);
            let names = scope.names.iter().copied().chain(lets.clone());
            let unseen = unknown(format!("`{head}` is not defined here"));
            let unseen = match (head, self.around(head, scope)) {
                ("null" | "nil" | "undefined", _) => unseen.with_help("say `none`"),
                // The name may be a misspelt `let` name that happens to equal the name of a parameter.
                (_, Some(around)) => unseen.misnaming(head, lets).with_help(format!("say `{around}.{head}`")),
                _ => match meant(head, scope.names.as_slice()) {
                    Some(meant) => unseen.with_help(format!("did you mean `{meant}`?")),
                    None => unseen.with_nearest(head, names),
                },
            };
            return Some((unseen, path.get(..1)?));
        }
        if let Some(unseen) = self.capital(path, at) {
            return Some(unseen);
        }
        let UnknownPath { number, known } = first_undeclared(path, self.surface, scope)?;
        let (around, inside) = path.split_at(number);
        // A member whose declaration could not be read is not reported.
        let member = inside.first().filter(|member| !self.surface.unreadable.contains(*member))?;
        let unseen = match (head, number) {
            ("state", 1) => no_state(member, at),
            ("params", 1) => unknown(format!("the action has no `{member}`")),
            ("ids", 1) if scope.open => return None,
            ("ids", 1) if self.ids.contains(&member.as_str()) => {
                let unseen = unknown(format!("no id `{member}` has been taken here"));
                let help = "`new` takes it after the `let` and `when` of its effect: the rest of that effect and the effects after it can use it";
                let others = self.ids.iter().copied().filter(|other| other != member);
                return Some((unseen.misnaming(member, others).with_help(help), path.get(..=number)?));
            }
            ("ids", 1) => {
                let unseen = unknown(format!("no effect takes an id with `new = \"{member}\"`"));
                return Some((unseen.with_nearest(member, self.ids.iter().copied()), path.get(..=number)?));
            }
            ("captures", _) => unknown(format!("the pattern captures no `{member}`")),
            (_, 1) => unknown(format!("the {head} has no `{member}`")),
            _ => unknown(format!("`{}` has no `{member}`", spelled(around))),
        };
        let unseen = match member.as_str() {
            _ if number == 1 || !known.is_empty() => unseen.with_nearest(member, known),
            "length" | "len" | "size" | "count" => unseen.with_help(format!("say `{} | length`", spelled(around))),
            _ if is_list(around) => unseen.with_help("it is a list: go through it, or count with `selectattr`"),
            _ => unseen.with_help("it has no members"),
        };
        Some((unseen, path.get(..=number)?))
    }

    /// The visible table that declares this name, if there is one.
    fn around(&self, name: &str, scope: &NameScope<'_>) -> Option<&'static str> {
        let declares = |table: &&str| match *table {
            "params" => scope.params.is_some_and(|params| params.contains_key(name)),
            "state" => self.surface.state.contains_key(name),
            "data" => self.surface.data.contains_key(name),
            _ => false,
        };
        ["params", "state", "data"].into_iter().filter(|table| scope.names.contains(table)).find(declares)
    }

    /// Reports a capital letter in the name of an attribute, since names of attributes are in lower case.
    fn capital<'p>(&self, path: &'p [String], at: Location) -> Option<(Diagnostic, &'p [String])> {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let (name, number) = match words.as_slice() {
            ["attributes", name, ..] => (*name, 1),
            ["reply", "contents", ENTRY, "attributes", name, ..] => (*name, 4),
            _ => return None,
        };
        let dialects = self.surface.dialects.values().map(|dialect| &dialect.value);
        let mut giving = dialects.filter(|dialect| dialect.blocks.values().any(|one| one.value.role == Role::Content));
        let lowers = |dialect: &Dialect| {
            // An attribute from a rule of a pack's own grammar has the name of the rule, case included.
            let files = &self.surface.files;
            let is_shipped =
                |name: &Spanned<String>| files.grammar(&name.value, name.at.source) == NameMeaning::Missing;
            dialect.case == Some(Case::Insensitive) && dialect.grammar.0.iter().all(is_shipped)
        };
        if !name.contains(|c: char| c.is_ascii_uppercase()) || !giving.all(lowers) {
            return None;
        }
        let message =
            format!("no attribute is called `{name}`: with `case = \"insensitive\"` their names are in lower case");
        let help = format!("did you mean `{}`?", name.to_ascii_lowercase());
        Some((Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message).with_help(help), path.get(..=number)?))
    }

    /// Returns the parsed value, or reports the fault.
    pub(super) fn parsed<T>(&mut self, parsed: Result<T, Box<Diagnostic>>) -> Option<T> {
        parsed.map_err(|diagnostic| self.diagnostics.push(*diagnostic)).ok()
    }

    /// An expression that is true or false.
    pub(super) fn condition(&mut self, text: Option<&Spanned<String>>, scope: &NameScope<'_>) -> Option<Expression> {
        self.seen(Expression::condition(text?), scope)
    }

    /// An expression for a value.
    pub(super) fn expression(&mut self, text: Option<&Spanned<String>>, scope: &NameScope<'_>) -> Option<Expression> {
        self.seen(Expression::parse(text?), scope)
    }

    fn seen(&mut self, parsed: Result<Expression, Box<Diagnostic>>, scope: &NameScope<'_>) -> Option<Expression> {
        let expression = self.parsed(parsed)?;
        self.see(expression.reads_at(), scope);
        Some(expression)
    }

    pub(super) fn template(&mut self, text: Option<&Spanned<String>>, scope: &NameScope<'_>) -> Option<Template> {
        let template = self.parsed(Template::parse(text?))?;
        self.see(template.reads_at(), scope);
        Some(template)
    }

    pub(super) fn document(&mut self, source: SourceId, escape: &Arc<Escape>) -> Option<TemplateDocument> {
        let document = self.parsed(TemplateDocument::parse(self.surface, source, MARKUP_NAMES, escape))?;
        self.see(document.reads(), &NameScope::of(PROMPT_NAMES));
        Some(document)
    }

    pub(super) fn shape(&mut self, tree: Option<&Tree>, scope: &NameScope<'_>) -> Option<Shape> {
        let shape = Shape::parse(tree?).map_err(|diagnostics| self.diagnostics.extend(diagnostics)).ok()?;
        self.see(shape.reads(), scope);
        self.plain_texts(tree?, scope);
        Some(shape)
    }

    /// Reports plain texts of a value that are only a path, and were probably meant as a template.
    fn plain_texts(&mut self, tree: &Tree, scope: &NameScope<'_>) {
        let text = match tree {
            Tree::List(items, _) => return items.iter().for_each(|item| self.plain_texts(item, scope)),
            Tree::Table(members, _) => return members.iter().for_each(|(_, one)| self.plain_texts(one, scope)),
            Tree::Text(text) => text,
            Tree::Constant(..) => return,
        };
        self.plain_text(text, false, scope);
    }

    /// Reports a text that is only a path, or the one name of a value where `names` says that a name is one.
    pub(super) fn plain_text(&mut self, text: &Spanned<String>, names: bool, scope: &NameScope<'_>) {
        if text.value.contains("{{") {
            return;
        }
        let typed = text.value.trim();
        let bare = typed.strip_prefix('$').unwrap_or(typed);
        let inside = bare.strip_prefix('{').and_then(|typed| typed.strip_suffix('}')).unwrap_or(bare).trim();
        // The other names are of records, and a file may be called as one of them.
        let is_name = || matches!(inside, "key" | "text" | "name") && scope.names.contains(&inside);
        if self.is_value(inside, text, scope) || (names && is_name()) {
            let message = format!("this is the text `{}`, and not the value of `{inside}`", excerpt(typed, 60));
            let finding = Diagnostic::new(Code::PACK_EXPRESSION, text.at, message);
            self.diagnostics.push(finding.with_help(format!("put it in braces: `{{{{ {inside} }}}}`")).into_warning());
            self.plain.push(text.at);
        }
    }

    /// If a text was probably meant as a template, do not also report that it is not valid as a text.
    pub(super) fn join_plain(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        let is_plain = |one: &Diagnostic| one.at.is_some_and(|at| plain.contains(&at));
        let is_misfit = |one: &Diagnostic| one.code == Code::PACK_EFFECT && is_plain(one);
        let misfits: Vec<Option<Location>> =
            self.diagnostics.iter().filter(|one| is_misfit(one)).map(|one| one.at).collect();
        self.diagnostics.retain(|one| !is_misfit(one));
        for one in self.diagnostics.iter_mut().filter(|one| misfits.contains(&one.at) && is_plain(one)) {
            one.severity = one.code.severity();
        }
    }

    /// Whether a text without braces is the path of a visible value, or an expression that reads one.
    fn is_value(&self, inside: &str, text: &Spanned<String>, scope: &NameScope<'_>) -> bool {
        let is_known = |path: &[String]| {
            let head = path.first().map(String::as_str).unwrap_or_default();
            match (head, path.len()) {
                ("params", 1) => scope.params.is_some(),
                ("params" | "state" | "data" | "ids" | "captures", 2..) => {
                    scope.names.contains(&head) && first_undeclared(path, self.surface, scope).is_none()
                }
                _ => false,
            }
        };
        let path: Vec<String> = inside.split('.').map(str::to_owned).collect();
        let calculates = || {
            // A sentence may contain a path; a text that is entirely an expression was meant as one.
            let parsed = Expression::parse(&Spanned::new(inside.to_owned(), text.at));
            parsed.is_ok_and(|parsed| !parsed.reads().is_empty() && parsed.reads().iter().all(|path| is_known(path)))
        };
        is_known(&path) || (inside.contains('.') && calculates())
    }

    /// Parses a path into the state. Its first segment must be declared, and effects must be allowed to change it.
    pub(super) fn path(&mut self, text: &Spanned<String>, scope: &NameScope<'_>) -> Option<PathTemplate> {
        let path = self.parsed(PathTemplate::parse(text))?;
        self.see(path.reads(), scope);
        let Some(head) = path.head().next().map(str::to_owned) else {
            let message = "a path starts with a value of the state";
            self.diagnostics.push(
                Diagnostic::new(Code::PACK_UNKNOWN_STATE, text.at, message)
                    .with_help("templates may be in its further parts"),
            );
            return None;
        };
        let unchangeable = self.unchangeable(&head, &text.value, text.at);
        self.diagnostics.extend(unchangeable);
        self.touched.changed.insert(head);
        Some(path)
    }

    /// Why effects cannot change a value of the state.
    fn unchangeable(&self, name: &str, whole: &str, at: Location) -> Option<Diagnostic> {
        if self.surface.unreadable.contains(name) {
            return None;
        }
        let Some(slot) = self.surface.state.get(name) else {
            if name == "state" {
                let rest = whole.trim().strip_prefix("state.").unwrap_or("NAME");
                let help = format!("say `{rest}`: a path starts with the name of a value of the state");
                return Some(no_state(name, at).with_help(help));
            }
            return Some(no_state(name, at).with_nearest(name, self.surface.state.keys().map(String::as_str)));
        };
        let (whose, key) = match from_host(&slot.value) {
            true => ("comes from the host", "from"),
            false if slot.value.get("compute").is_some() => ("is computed", "compute"),
            false => return None,
        };
        let message = format!("`{name}` {whose}: no effect can change it");
        let help = format!("take its `{key}` out, or let the effect change another value");
        Some(Diagnostic::new(Code::PACK_EFFECT, at, message).with_place(slot.at, "declared here").with_help(help))
    }
}

pub(super) fn no_state(name: &str, at: Location) -> Diagnostic {
    Diagnostic::new(Code::PACK_UNKNOWN_STATE, at, format!("the state has no `{name}`"))
}
