//! Sight: may this expression see what it reads?
//!
//! In: conditions, templates, shapes and paths, and the names at hand where they stand.
//! Out: the compiled expression, and a diagnostic for each name that it cannot see.
//! Never: evaluates one.

use super::known::{UnknownPath, lost, never_is};
use super::{Compiler, IdleComparison, Slot};
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{Document, ENTRY, Escape, Expression, PathTemplate, Reads, Shape, Template, spelled};
use crate::program::Pattern;
use crate::surface::{Action, Case, Dialect, Named, Origin, Role, Tree};
use crate::text::{Location, Spanned, excerpt};
use crate::value::Table;
use std::collections::HashSet;
use std::sync::Arc;

/// What the expressions at one place may see.
#[derive(Clone)]
pub(super) struct Sight<'s> {
    /// What there is by itself.
    names: Vec<&'s str>,
    /// What a `let` has named, or a message takes.
    lets: Vec<BoundName<'s>>,
    /// The parameters of the call, where there is one.
    pub(super) params: Option<&'s Named<Tree>>,
    /// The names of what a pattern captures; none where it is not known.
    pub(super) captures: Option<Vec<String>>,
    /// The kinds of ids that have been taken.
    pub(super) ids: Vec<&'s str>,
    /// Whether there may be more names than these, because what would give them could not be read.
    open: bool,
}

/// A name that is bound, and the path to its value, if there is one.
#[derive(Clone)]
struct BoundName<'s> {
    name: &'s str,
    path: Option<Vec<String>>,
}

impl<'s> Sight<'s> {
    pub(super) fn of(names: &[&'s str]) -> Self {
        Self { names: names.to_vec(), lets: Vec::new(), params: None, captures: None, ids: Vec::new(), open: false }
    }

    /// As [`Sight::of`], where a call of an action is at hand.
    pub(super) fn of_call(names: &[&'s str], action: &'s Action) -> Self {
        Self { params: Some(&action.params), ..Self::of(names) }
    }

    /// Where something is wrong with what gives names (`torn`), any of them may be there.
    pub(super) fn open(&mut self, torn: bool) {
        self.open |= torn;
    }

    pub(super) fn add(&mut self, names: &[&'s str]) {
        self.names.extend(names);
    }

    /// Sees what these patterns capture.
    pub(super) fn capture<'p>(&mut self, patterns: impl Iterator<Item = &'p Pattern>) {
        let groups = patterns.flat_map(Pattern::groups).map(str::to_owned);
        self.captures.get_or_insert_default().extend(groups);
    }

    pub(super) fn bind(&mut self, name: &'s str, path: Option<Vec<String>>) {
        self.lets.push(BoundName { name, path });
    }

    /// Sees an id of this kind from here on.
    pub(super) fn take_id(&mut self, kind: &'s str) {
        self.ids.push(kind);
    }

    /// How much has been bound and taken.
    pub(super) fn bounds(&self) -> (usize, usize) {
        (self.lets.len(), self.ids.len())
    }

    /// Forgets what was bound and taken beyond that.
    pub(super) fn forget(&mut self, (lets, ids): (usize, usize)) {
        self.lets.truncate(lets);
        self.ids.truncate(ids);
    }

    fn bound(&self, name: &str) -> Option<&BoundName<'s>> {
        self.lets.iter().rfind(|bound| bound.name == name)
    }

    /// A path as it leads from what there is by itself, through the names that are bound.
    pub(super) fn leads(&self, path: Option<&[String]>) -> Option<Vec<String>> {
        let (head, inside) = path?.split_first()?;
        match self.bound(head) {
            Some(bound) => Some([bound.path.as_deref()?, inside].concat()),
            None => path.map(<[String]>::to_vec),
        }
    }
}

/// Which values of the state the pack reads and changes.
#[derive(Default)]
pub(super) struct Touched {
    /// Each path, from the value's name on, with the place where it stands; empty for the state as a whole.
    read: Vec<(Vec<String>, Location)>,
    changed: HashSet<String>,
}

impl Touched {
    pub(super) fn mark(&self, slots: &mut Table<String, Slot>) {
        for (name, slot) in slots {
            let inside = |(path, at): &(Vec<String>, Location)| match path.split_first() {
                Some((head, inside)) => (head == name).then(|| (inside.to_vec(), *at)),
                None => Some((Vec::new(), *at)),
            };
            slot.reads = self.read.iter().filter_map(inside).collect();
            slot.changed = self.changed.contains(name);
            slot.given |= slot.changed;
        }
    }
}

/// What conditions on a call may see.
pub(super) const CALL_NAMES: &[&str] = &["params", "state", "data", "mode", "reply", "now"];
/// What effects of actions may see.
pub(super) const EFFECT_NAMES: &[&str] = &["params", "state", "data", "mode", "reply", "ids", "now"];
/// What effects of contents may see.
pub(super) const CONTENT_NAMES: &[&str] =
    &["key", "text", "name", "attributes", "state", "data", "mode", "reply", "ids", "now"];
/// What guardrails may see.
pub(super) const REPLY_NAMES: &[&str] = &["state", "data", "mode", "reply", "now"];
/// What templates of prompts may see.
const PROMPT_NAMES: &[&str] =
    &["state", "data", "mode", "title", "tier", "model", "sections", "actions", "forms", "now"];
/// What templates of prompts may print as markup: it comes from the rules alone.
const MARKUP_NAMES: &[&str] = &["actions", "forms", "data"];
/// What the text of a value may see.
pub(super) const VALUE_NAMES: &[&str] = &["value", "state", "data", "mode", "now"];
/// What computed values of the state may see.
pub(super) const COMPUTE_NAMES: &[&str] = &["state", "data", "mode", "now"];
/// What the words of a correction may see.
pub(super) const ASK_AGAIN_NAMES: &[&str] = &["defects", "form", "permitted", "mode", "data"];
/// What rules may see, whatever they follow on.
pub(super) const RULE_NAMES: &[&str] = &["state", "data", "mode", "reply", "ids", "now"];
/// What rules on an input see, too.
pub(super) const INPUT_NAMES: &[&str] = &["captures", "text"];
/// What rules on an utterance see, too.
pub(super) const UTTERANCE_NAMES: &[&str] = &["speaker", "label", "text"];
/// What conditions of layers may see.
pub(super) const LAYER_NAMES: &[&str] = &["state", "data", "mode", "title", "tier", "model", "now"];
/// What stands in patterns may see.
pub(super) const PATTERN_NAMES: &[&str] = &["data"];

/// A path in which each number is an entry.
fn entered(mut path: Vec<String>) -> Vec<String> {
    path.iter_mut().filter(|part| part.parse::<usize>().is_ok()).for_each(|part| ENTRY.clone_into(part));
    path
}

/// Whether a value of the state comes from the host alone.
pub(super) fn from_host(slot: &Tree) -> bool {
    slot.text("from").is_some_and(|from| from.value == Origin::Host.word())
}

impl Compiler<'_> {
    /// Reports every name that an expression reads and cannot see.
    pub(super) fn see(&mut self, reads: &Reads, sight: &Sight<'_>) {
        self.compare(reads, sight);
        let mut told: Vec<Vec<String>> = Vec::new();
        for (path, at) in reads.iter().chain(reads.looks()) {
            let Some((head, inside)) = path.split_first() else { continue };
            // The engine makes these only if an effect reads them; effects are known by the `ids` that they alone see.
            let is_made = head == "reply" || head == "attributes";
            if is_made && sight.names.contains(&"ids") && !self.effects_read.iter().any(|known| known == path) {
                self.effects_read.push(path.to_vec());
            }
            // A bound name was checked where it was bound; only what is read inside of it is new.
            let before = match sight.bound(head) {
                Some(bound) => bound.path.as_deref(),
                None => Some(std::slice::from_ref(head)),
            };
            let Some(before) = before else { continue };
            let path = entered([before, inside].concat());
            if let [head, member @ ..] = path.as_slice()
                && head == "state"
                && sight.names.contains(&"state")
            {
                self.touched.read.push((member.to_vec(), at));
            }
            let Some((unseen, upto)) = self.unseen(&path, at, sight) else { continue };
            let is_new = sight.bound(head).is_none() || upto.len() > before.len();
            if is_new && !told.iter().any(|told| told == upto) {
                told.push(upto.to_vec());
                self.diagnostics.push(unseen);
            }
        }
    }

    /// Keeps every constant that is compared with what never is that.
    fn compare(&mut self, reads: &Reads, sight: &Sight<'_>) {
        for (path, constant) in reads.compared() {
            let Some(path) = sight.leads(Some(path)).map(entered) else { continue };
            let never = never_is(&path, &constant.value, self.surface, sight);
            let path = spelled(&path);
            let key = (constant.at, path.clone(), constant.value.clone());
            // A permit for several actions is read once for each: it is enough if the comparison can hold for one.
            match never {
                None => drop(self.comparisons.insert(key, None)),
                Some(why) => {
                    let idle = IdleComparison { path, constant: constant.clone(), why };
                    self.comparisons.entry(key).or_insert(Some(idle));
                }
            }
        }
    }

    /// What is wrong with a path, and up to where it leads: its head, the name behind it, or further inside.
    fn unseen<'p>(&self, path: &'p [String], at: Location, sight: &Sight<'_>) -> Option<(Diagnostic, &'p [String])> {
        let unknown = |message: String| Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message);
        let head = path.first()?.as_str();
        if !sight.names.contains(&head) {
            if sight.open {
                return None;
            }
            let names = sight.names.iter().copied().chain(sight.lets.iter().map(|bound| bound.name));
            let unseen = unknown(format!("there is no `{head}` to see here"));
            let unseen = match head {
                "null" | "nil" | "undefined" => unseen.with_help("say `none`"),
                _ => unseen.with_nearest(head, names),
            };
            return Some((unseen, path.get(..1)?));
        }
        if let Some(unseen) = self.capital(path, at) {
            return Some(unseen);
        }
        let UnknownPath { number, known } = lost(path, self.surface, sight)?;
        let (around, inside) = path.split_at(number);
        // Its declaration could not be read.
        let member = inside.first().filter(|member| !self.surface.lost.contains(*member))?;
        let unseen = match (head, number) {
            ("state", 1) => no_state(member, at),
            ("params", 1) => unknown(format!("the action has no `{member}`")),
            ("ids", 1) if sight.open => return None,
            ("ids", 1) if self.ids.contains(&member.as_str()) => {
                let unseen = unknown(format!("no id `{member}` has been taken here"));
                let help = "`new` takes it once `let` and `when` of its effect are through, for what its effect does and for those behind it";
                return Some((unseen.with_help(help), path.get(..=number)?));
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
            _ => unseen.with_help("it has no members"),
        };
        Some((unseen, path.get(..=number)?))
    }

    /// That an attribute is asked for by a name with capitals, where all have names in lower case.
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
            // What a rule of a pack's own grammar is called, its attribute is called, too.
            let is_shipped = |name: &Spanned<String>| !self.surface.grammars.contains_key(&name.value);
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

    /// What was parsed, or a fault more.
    fn parsed<T>(&mut self, parsed: Result<T, Box<Diagnostic>>) -> Option<T> {
        parsed.map_err(|diagnostic| self.diagnostics.push(*diagnostic)).ok()
    }

    pub(super) fn condition(&mut self, text: Option<&Spanned<String>>, sight: &Sight<'_>) -> Option<Expression> {
        let expression = self.parsed(Expression::parse(text?))?;
        self.see(expression.reads_at(), sight);
        Some(expression)
    }

    pub(super) fn template(&mut self, text: Option<&Spanned<String>>, sight: &Sight<'_>) -> Option<Template> {
        let template = self.parsed(Template::parse(text?))?;
        self.see(template.reads_at(), sight);
        Some(template)
    }

    pub(super) fn document(&mut self, path: &str, escape: &Arc<Escape>) -> Option<Document> {
        let document = self.parsed(Document::parse(self.surface, path, MARKUP_NAMES, escape))?;
        self.see(document.reads(), &Sight::of(PROMPT_NAMES));
        Some(document)
    }

    pub(super) fn shape(&mut self, tree: Option<&Tree>, sight: &Sight<'_>) -> Option<Shape> {
        let shape = Shape::parse(tree?).map_err(|diagnostics| self.diagnostics.extend(diagnostics)).ok()?;
        self.see(shape.reads(), sight);
        self.plain_texts(tree?, sight);
        Some(shape)
    }

    /// Says which texts of a value spell a path, and are nothing but that text.
    fn plain_texts(&mut self, tree: &Tree, sight: &Sight<'_>) {
        let text = match tree {
            Tree::List(items, _) => return items.iter().for_each(|item| self.plain_texts(item, sight)),
            Tree::Table(members, _) => return members.iter().for_each(|(_, one)| self.plain_texts(one, sight)),
            Tree::Text(text) if !text.value.contains("{{") => text,
            Tree::Text(_) | Tree::Constant(..) => return,
        };
        let typed = text.value.trim();
        let inside = typed.strip_prefix('{').and_then(|typed| typed.strip_suffix('}')).unwrap_or(typed).trim();
        let path: Vec<String> = inside.split('.').map(str::to_owned).collect();
        let head = path.first().map(String::as_str).unwrap_or_default();
        let is_value = match (head, path.len()) {
            ("params", 1) => sight.params.is_some(),
            ("params" | "state" | "data" | "ids" | "captures", 2..) => {
                sight.names.contains(&head) && lost(&path, self.surface, sight).is_none()
            }
            _ => false,
        };
        if is_value {
            let message = format!("this is the text `{}`, and not what `{inside}` stands for", excerpt(typed, 60));
            let finding = Diagnostic::new(Code::PACK_EXPRESSION, text.at, message);
            self.diagnostics.push(finding.with_help(format!("put it in braces: `{{{{ {inside} }}}}`")).into_warning());
        }
    }

    /// A path into the state, whose first part must be declared, and may not come from the host alone.
    pub(super) fn path(&mut self, text: &Spanned<String>, sight: &Sight<'_>) -> Option<PathTemplate> {
        let path = self.parsed(PathTemplate::parse(text))?;
        self.see(path.reads(), sight);
        let Some(head) = path.head().next().map(str::to_owned) else {
            let message = "a path starts with a value of the state";
            self.diagnostics.push(
                Diagnostic::new(Code::PACK_UNKNOWN_STATE, text.at, message)
                    .with_help("templates may stand in its further parts"),
            );
            return None;
        };
        let unchangeable = self.unchangeable(&head, text.at);
        self.diagnostics.extend(unchangeable);
        self.touched.changed.insert(head);
        Some(path)
    }

    /// Why an effect cannot change a value of the state.
    fn unchangeable(&self, name: &str, at: Location) -> Option<Diagnostic> {
        if self.surface.lost.contains(name) {
            return None;
        }
        let Some(slot) = self.surface.state.get(name) else {
            if name == "state" {
                let help = "leave `state.` out: the path starts with the name of a value of the state";
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

fn no_state(name: &str, at: Location) -> Diagnostic {
    Diagnostic::new(Code::PACK_UNKNOWN_STATE, at, format!("the state has no `{name}`"))
}
