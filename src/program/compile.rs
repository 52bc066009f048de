//! Compiling: a checked pack becomes a program.
//!
//! In: a [`Pack`].
//! Out: a [`Program`], and a diagnostic for each expression, pattern or name in one that cannot be used.
//! Never: stops at a fault; what is wrong is left out, and the caller throws the program away.

use super::dialect::Names;
use super::{
    Action, Answer, Answers, Block, BlockId, Called, Closer, Content, Count, Dialect, Effect, Family, Guardrail,
    Guardrails, Mode, ModeId, Outside, Permit, Places, Program, Reply, Schema, Set, Slot, Target, Verb,
};
use crate::diagnostic::{Code, Defect, Diagnostic, Severity};
use crate::expression::{Expression, PathTemplate, Shape, Template};
use crate::pack::Pack;
use crate::surface::{self, Anchor, Case, Ending, Level, Mask, Named, Role, Surface, Tree, Trim};
use crate::text::{Location, Spanned, glob};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The mode of a pack that declares none.
const ONLY_MODE: &str = "default";

pub(super) fn compile(pack: &Pack, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let surface = &pack.surface;
    let mut compiler = Compiler { surface, diagnostics, actions: Actions::of(surface), reads_reply: false };
    let dialects: Vec<Dialect> = surface
        .dialects
        .iter()
        .map(|(name, dialect)| compile_dialect(name, dialect, pack))
        .collect();
    let block_degradation = surface
        .dialects
        .values()
        .map(|dialect| dialect.value.blocks.values().map(|block| answers(&block.value.degradation)).collect())
        .collect();
    let actions = compiler.compile_actions();
    let modes = compiler.compile_modes(&dialects);
    let contents = compiler.compile_contents();
    let guardrails = compiler.compile_guardrails(&modes);
    let (slots, initial) = compiler.compile_state();
    let start = surface.about.as_ref().and_then(|about| about.start.as_ref());
    let start = start.and_then(|start| modes.get_index_of(&start.value)).unwrap_or(0);
    let data: Map<String, Value> = surface.data.iter().map(|(name, tree)| (name.clone(), tree.value.to_json())).collect();
    let reads_reply = compiler.reads_reply;
    let mut program = Program {
        name: surface.about.as_ref().map(|about| about.name.value.clone()).unwrap_or_default(),
        sources: surface.sources.clone(),
        dialects,
        actions,
        modes,
        start: ModeId(start),
        contents,
        guardrails,
        degradation: answers(&surface.degradation),
        block_degradation,
        slots,
        initial: Arc::new(Value::Object(initial)),
        data: Value::Object(data),
        limits: super::Limits::default(),
        reads_reply,
        places: Places::default(),
    };
    program.places = places(&program);
    program
}

/// The names of all places that outcomes may cite, computed once.
fn places(program: &Program) -> Places {
    let mut places = Vec::new();
    fn effects(list: &[Effect], places: &mut Vec<Location>) {
        for effect in list {
            places.push(effect.at);
            effects(&effect.nested, places);
        }
    }
    for action in program.actions.values() {
        places.push(action.at);
        effects(&action.effects, &mut places);
    }
    for content in program.contents.values() {
        effects(&content.effects, &mut places);
    }
    for mode in program.modes.values() {
        places.push(mode.at);
        places.extend(mode.permits.iter().flatten().map(|permit| permit.at));
        places.extend(mode.reply.counts.iter().map(|count| count.at));
        places.extend(mode.reply.order_at);
        places.extend(mode.reply.calls.map(|(_, at)| at));
    }
    for dialect in &program.dialects {
        places.push(dialect.at);
        places.extend(dialect.blocks.iter().map(|block| block.at));
    }
    places.extend(program.guardrails.rules.iter().map(|rule| rule.at));
    let name = |at: Location| Some((at, Arc::from(program.sources.place_name(at)?)));
    Places(places.into_iter().filter_map(name).collect())
}

fn answers(degradation: &surface::Degradation) -> Answers {
    let mut answers: Vec<Option<Answer>> = Vec::new();
    if !degradation.0.is_empty() {
        answers.resize(Defect::ALL.len(), None);
    }
    for (defect, strategies) in &degradation.0 {
        if let Some(slot) = answers.get_mut(defect.value as usize) {
            let strategies = strategies.iter().map(|strategy| strategy.value).collect();
            *slot = Some(Answer { strategies, at: defect.at });
        }
    }
    Answers(answers)
}

fn compile_dialect(name: &str, dialect: &Spanned<surface::Dialect>, pack: &Pack) -> Dialect {
    let at = dialect.at;
    let dialect = &dialect.value;
    let families: Vec<Family> = dialect
        .grammar
        .0
        .iter()
        .filter_map(|grammar| Family::new(pack.grammars.get(&grammar.value)?.clone()))
        .collect();
    let id = |name: &Spanned<String>| dialect.blocks.get_index_of(&name.value).map(|index| BlockId(index as u16));
    let blocks: Vec<Block> = dialect
        .blocks
        .iter()
        .map(|(name, block)| compile_block(name, block, dialect, &families, &id))
        .collect();
    let closers: Vec<&str> = blocks
        .iter()
        .flat_map(|block| &block.close)
        .filter_map(|closer| match closer {
            Closer::Word(word) => Some(word.as_str()),
            _ => None,
        })
        .collect();
    let any = blocks.iter().any(|block| block.close.contains(&Closer::Any));
    let insensitive = dialect.case == Some(Case::Insensitive);
    let names = Names::new(insensitive, dialect.blocks.keys().map(String::as_str), closers.into_iter(), any);
    let text = match dialect.text.as_ref().map(|text| text.value.as_str()) {
        Some("message") => Outside::Message,
        Some(text) => match text.strip_prefix("section:") {
            Some(section) => Outside::Section(section.to_owned()),
            None => Outside::Stray,
        },
        None => Outside::Stray,
    };
    Dialect {
        name: name.to_owned(),
        families,
        names,
        fences: dialect.masks.contains(&Mask::CodeFence),
        spans: dialect.masks.contains(&Mask::CodeSpan),
        wrapper: dialect.wrapper.is_some(),
        text,
        needs: dialect.needs.iter().filter_map(id).collect(),
        blocks,
        at,
    }
}

fn compile_block(
    name: &str,
    block: &Spanned<surface::Block>,
    dialect: &surface::Dialect,
    families: &[Family],
    id: &dyn Fn(&Spanned<String>) -> Option<BlockId>,
) -> Block {
    let at = block.at;
    let block = &block.value;
    let called = |word: &Spanned<String>| match word.value.strip_prefix('@') {
        Some("name") => Called::Own,
        Some(attribute) => Called::Attribute(attribute.to_owned()),
        None => Called::Word(word.value.clone()),
    };
    let close = if block.close.is_empty() { &dialect.close } else { &block.close };
    let mut close: Vec<Closer> = close
        .iter()
        .map(|word| match word.value.as_str() {
            "@name" => Closer::Own,
            "*" => Closer::Any,
            word => Closer::Word(word.to_owned()),
        })
        .collect();
    if close.is_empty() {
        close.push(Closer::Own);
    }
    let ends = if block.ends.is_empty() { &dialect.ends } else { &block.ends };
    let mut ends: Vec<Vec<Ending>> =
        ends.iter().map(|rung| rung.0.iter().map(|ending| ending.value).collect()).collect();
    if ends.is_empty() {
        let closes = families.iter().any(|family| family.close.is_some());
        let first = if closes { Ending::Closer } else { Ending::Payload };
        let has_first = closes || families.iter().any(|family| family.payload.is_some());
        ends.extend(has_first.then(|| vec![first]));
        ends.extend([vec![Ending::NextBlock], vec![Ending::End]]);
    }
    Block {
        name: name.to_owned(),
        role: block.role,
        called: block.name.as_ref().map_or(Called::Own, called),
        key: block.key.as_ref().map(called),
        payload: block.payload.0.iter().map(|reader| reader.value).collect(),
        entities: Block::decodes(block.decode.or(dialect.decode)),
        holds: block.holds.iter().filter_map(id).collect(),
        anchor: block.anchor.or(dialect.anchor).unwrap_or(Anchor::Anywhere),
        close,
        ends,
        trim: block.trim.clone().or_else(|| dialect.trim.clone()).unwrap_or_else(|| vec![Trim::WhiteSpace]),
        at,
    }
}

/// The actions by name, for permits.
struct Actions<'s>(Vec<&'s str>);

impl<'s> Actions<'s> {
    fn of(surface: &'s Surface) -> Self {
        Self(surface.actions.keys().map(String::as_str).collect())
    }
}

struct Compiler<'c> {
    surface: &'c Surface,
    diagnostics: &'c mut Vec<Diagnostic>,
    actions: Actions<'c>,
    /// Whether any expression reads `reply`.
    reads_reply: bool,
}

/// What the expressions at one place may see.
#[derive(Clone, Copy)]
struct Sight<'s> {
    names: &'s [&'s str],
    params: Option<&'s Named<Tree>>,
}

/// What conditions on a call may see.
const CALL_NAMES: &[&str] = &["params", "state", "data", "mode", "reply", "now"];
/// What effects may see.
const EFFECT_NAMES: &[&str] = &["params", "state", "data", "mode", "reply", "ids", "item", "now"];
const CONTENT_NAMES: &[&str] = &["key", "text", "name", "state", "data", "mode", "reply", "ids", "item", "now"];
const REPLY_NAMES: &[&str] = &["state", "data", "mode", "reply", "now"];
const COMPUTE_NAMES: &[&str] = &["state", "data", "mode", "now"];

impl Compiler<'_> {
    /// Reports every name that an expression reads and cannot see.
    fn see(&mut self, reads: &[Vec<String>], lets: &[String], sight: Sight<'_>, at: Location) {
        for path in reads {
            let Some(head) = path.first() else { continue };
            self.reads_reply |= head == "reply";
            if lets.contains(head) {
                continue;
            }
            if !sight.names.contains(&head.as_str()) {
                let names = sight.names.iter().copied().chain(lets.iter().map(String::as_str));
                let message = format!("there is no `{head}` to see here");
                let diagnostic = Diagnostic::new(Code::PACK_UNKNOWN_VARIABLE, at, message).with_nearest(head, names);
                self.diagnostics.push(diagnostic);
                continue;
            }
            let Some(member) = path.get(1) else { continue };
            let (code, what, declared): (Code, &str, Vec<&str>) = match head.as_str() {
                "state" => (Code::PACK_UNKNOWN_STATE, "state", self.surface.state.keys().map(String::as_str).collect()),
                "data" => (Code::PACK_UNKNOWN_VARIABLE, "data", self.surface.data.keys().map(String::as_str).collect()),
                "params" => match sight.params {
                    Some(params) => {
                        (Code::PACK_UNKNOWN_VARIABLE, "action", params.keys().map(String::as_str).collect())
                    }
                    None => continue,
                },
                _ => continue,
            };
            if !declared.contains(&member.as_str()) {
                let message = format!("the {what} has no `{member}`");
                self.diagnostics.push(Diagnostic::new(code, at, message).with_nearest(member, declared));
            }
        }
    }

    fn condition(&mut self, text: Option<&Spanned<String>>, lets: &[String], sight: Sight<'_>) -> Option<Expression> {
        let text = text?;
        match Expression::parse(text) {
            Ok(expression) => {
                self.see(expression.reads(), lets, sight, text.at);
                Some(expression)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    fn template(&mut self, text: &Spanned<String>, lets: &[String], sight: Sight<'_>) -> Option<Template> {
        match Template::parse(text) {
            Ok(template) => {
                self.see(template.reads(), lets, sight, text.at);
                Some(template)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    fn shape(&mut self, tree: &Tree, lets: &[String], sight: Sight<'_>) -> Option<Shape> {
        match Shape::parse(tree) {
            Ok(shape) => {
                self.see(shape.reads(), lets, sight, tree.at());
                Some(shape)
            }
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
        }
    }

    /// A path into the state, whose first part must be declared, and may not come from the host alone.
    fn path(&mut self, text: &Spanned<String>, lets: &[String], sight: Sight<'_>) -> Option<PathTemplate> {
        let path = match PathTemplate::parse(text) {
            Ok(path) => path,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return None;
            }
        };
        self.see(path.reads(), lets, sight, text.at);
        let head = path.head().next().map(str::to_owned);
        let Some(head) = head else {
            let message = "a path starts with a value of the state";
            self.diagnostics.push(
                Diagnostic::new(Code::PACK_UNKNOWN_STATE, text.at, message)
                    .with_help("templates may stand in its further parts"),
            );
            return None;
        };
        match self.surface.state.get(&head) {
            Some(slot) => {
                let host = matches!(slot.value.get("from"), Some(Tree::Text(from)) if from.value == "host");
                if host || slot.value.get("compute").is_some() {
                    let whose = if host { "comes from the host" } else { "is computed" };
                    let message = format!("`{head}` {whose}: no effect can change it");
                    let diagnostic =
                        Diagnostic::new(Code::PACK_EFFECT, text.at, message).with_place(slot.at, "declared here");
                    self.diagnostics.push(diagnostic);
                }
            }
            None => {
                let declared = self.surface.state.keys().map(String::as_str);
                let message = format!("the state has no `{head}`");
                let diagnostic =
                    Diagnostic::new(Code::PACK_UNKNOWN_STATE, text.at, message).with_nearest(&head, declared);
                self.diagnostics.push(diagnostic);
            }
        }
        Some(path)
    }

    fn effects(&mut self, list: &[surface::Effect], lets: &mut Vec<String>, sight: Sight<'_>) -> Vec<Effect> {
        let before = lets.len();
        let effects = list.iter().map(|effect| self.effect(effect, lets, sight)).collect();
        lets.truncate(before);
        effects
    }

    fn effect(&mut self, effect: &surface::Effect, lets: &mut Vec<String>, sight: Sight<'_>) -> Effect {
        let each = self.condition(effect.each.as_ref(), lets, sight);
        let mut bound = Vec::new();
        for (name, tree) in &effect.lets {
            if let Some(shape) = self.shape(&tree.value, lets, sight) {
                bound.push((name.clone(), shape));
            }
            lets.push(name.clone());
        }
        let when = self.condition(effect.when.as_ref(), lets, sight);
        let value = effect.value.as_ref().and_then(|tree| self.shape(tree, lets, sight));
        let verb = if let Some(path) = &effect.set {
            let path = self.path(path, lets, sight);
            path.zip(value).map(|(path, value)| Verb::Set { path, value })
        } else if let Some(path) = &effect.append {
            let unique = effect.unique.iter().map(|key| key.value.clone()).collect();
            let path = self.path(path, lets, sight);
            path.zip(value).map(|(path, value)| Verb::Append { path, unique, value })
        } else if let Some(path) = &effect.remove {
            self.path(path, lets, sight).map(|path| Verb::Remove { path })
        } else if let Some(event) = &effect.emit {
            self.template(event, lets, sight).map(|event| Verb::Emit { event, value })
        } else if let Some(key) = &effect.write {
            let key = self.template(key, lets, sight);
            key.zip(value).map(|(key, value)| Verb::Write { key, value })
        } else if let Some(remark) = &effect.remark {
            let text = effect.text.as_ref().and_then(|text| self.template(text, lets, sight));
            Some(Verb::Remark { remark: remark.value, text })
        } else {
            None
        };
        let nested = self.effects(&effect.effects, lets, sight);
        Effect { verb, when, each, lets: bound, new: effect.new.as_ref().map(|kind| kind.value.clone()), nested, at: effect.at }
    }

    fn compile_actions(&mut self) -> IndexMap<String, Action> {
        let surface = self.surface;
        let mut actions = IndexMap::new();
        for (name, action) in &surface.actions {
            let sight = Sight { names: EFFECT_NAMES, params: Some(&action.value.params) };
            let effects = self.effects(&action.value.effects, &mut Vec::new(), sight);
            let compiled = Action {
                schema: Schema::of_params(&action.value.params),
                params: action.value.params.iter().map(|(name, param)| (name.clone(), param.at)).collect(),
                effects,
                degradation: answers(&action.value.degradation),
                at: action.at,
            };
            actions.insert(name.clone(), compiled);
        }
        actions
    }

    fn compile_contents(&mut self) -> IndexMap<String, Content> {
        let surface = self.surface;
        let mut contents = IndexMap::new();
        for (name, content) in &surface.contents {
            let sight = Sight { names: CONTENT_NAMES, params: None };
            let path = content.value.key.as_ref().is_some_and(|key| key.value == "path");
            let effects = self.effects(&content.value.effects, &mut Vec::new(), sight);
            contents.insert(name.clone(), Content { path, effects });
        }
        contents
    }

    fn compile_modes(&mut self, dialects: &[Dialect]) -> IndexMap<String, Mode> {
        let surface = self.surface;
        let number = |name: &Spanned<String>| dialects.iter().position(|dialect| dialect.name == name.value);
        let all: Vec<usize> = match surface.about.as_ref().and_then(|about| about.dialects.as_ref()) {
            Some(names) => names.iter().filter_map(number).collect(),
            None => (0..dialects.len()).collect(),
        };
        let mut modes = IndexMap::new();
        for (name, mode) in &surface.modes {
            let mut permits: Vec<Vec<Permit>> = Vec::new();
            permits.resize_with(surface.actions.len(), Vec::new);
            for permit in &mode.value.permits {
                for (action, slot) in self.actions.0.clone().iter().zip(&mut permits) {
                    if glob(&permit.action.value, action) {
                        let params = surface.actions.get(*action).map(|action| &action.value.params);
                        let when = self.condition(permit.when.as_ref(), &[], Sight { names: CALL_NAMES, params });
                        slot.push(Permit { when, at: permit.action.at });
                    }
                }
            }
            let compiled = Mode {
                permits,
                at: mode.at,
                dialects: match &mode.value.dialects {
                    Some(names) => names.iter().filter_map(number).collect(),
                    None => all.clone(),
                },
                reply: compile_reply(&surface.reply, Some(&mode.value.reply), dialects),
                degradation: answers(&mode.value.degradation),
            };
            modes.insert(name.clone(), compiled);
        }
        if modes.is_empty() {
            let at = surface.about.as_ref().map_or(Location::response(Default::default()), |about| about.name.at);
            let permits = surface.actions.values().map(|_| vec![Permit { when: None, at }]).collect();
            let reply = compile_reply(&surface.reply, None, dialects);
            let mode = Mode { permits, at, dialects: all, reply, degradation: Answers::default() };
            modes.insert(ONLY_MODE.to_owned(), mode);
        }
        modes
    }

    fn compile_guardrails(&mut self, modes: &IndexMap<String, Mode>) -> Guardrails {
        let surface = self.surface;
        let mut guardrails = Guardrails::default();
        for guardrail in &surface.guardrails {
            let given = [&guardrail.matches, &guardrail.unless].into_iter().flatten().next();
            let mut pattern = None;
            if let Some(text) = given {
                match regex::RegexBuilder::new(&text.value).size_limit(1 << 20).build() {
                    Ok(regex) => pattern = Some(regex),
                    Err(error) => self.bad_pattern(text, &error),
                }
            }
            if let (Some(_), Some(unless)) = (&guardrail.matches, &guardrail.unless) {
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_PATTERN, unless.at, "a guardrail has `matches` or `unless`, not both")
                        .with_help("make it two guardrails"),
                );
            }
            if given.is_none() && guardrail.when.is_none() {
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_MISSING_KEY, guardrail.id.at, "nothing says when this guardrail trips")
                        .with_help("add `matches`, `unless` or `when`"),
                );
            }
            let target = target(&guardrail.on.value, surface);
            if target == Target::Reply && given.is_some() {
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_PATTERN, guardrail.on.at, "a pattern cannot look at the whole reply")
                        .with_help("name a role or a block, or use `when`"),
                );
            }
            let when = self.condition(guardrail.when.as_ref(), &[], Sight { names: REPLY_NAMES, params: None });
            guardrails.rules.push(Guardrail {
                id: guardrail.id.value.clone(),
                target,
                pattern,
                inverted: guardrail.matches.is_none(),
                when,
                modes: guardrail.modes.0.iter().filter_map(|mode| modes.get_index_of(&mode.value).map(ModeId)).collect(),
                advice: guardrail.advice.clone(),
                severity: match guardrail.severity {
                    Some(Level::Info) => Severity::Info,
                    Some(Level::Error) => Severity::Error,
                    Some(Level::Warning) | None => Severity::Warning,
                },
                strategy: guardrail.strategy.as_ref().map(|strategy| strategy.value),
                at: guardrail.id.at,
            });
        }
        self.compile_sets(&mut guardrails);
        guardrails
    }

    /// One set of patterns for each target.
    fn compile_sets(&mut self, guardrails: &mut Guardrails) {
        let mut targets: Vec<Target> = Vec::new();
        for (index, rule) in guardrails.rules.iter().enumerate() {
            match (&rule.pattern, targets.contains(&rule.target)) {
                (Some(_), false) => targets.push(rule.target.clone()),
                (Some(_), true) => {}
                (None, _) => guardrails.conditions.push(index),
            }
        }
        for target in targets {
            let with_pattern = |rule: &&Guardrail| rule.target == target && rule.pattern.is_some();
            let rules: Vec<usize> = guardrails
                .rules
                .iter()
                .enumerate()
                .filter(|(_, rule)| with_pattern(rule))
                .map(|(index, _)| index)
                .collect();
            let texts = rules.iter().filter_map(|index| guardrails.rules.get(*index)?.pattern.as_ref()).map(regex::Regex::as_str);
            match regex::RegexSetBuilder::new(texts).size_limit(16 << 20).build() {
                Ok(patterns) => guardrails.sets.push(Set { target, patterns, rules }),
                Err(error) => {
                    let at = rules.first().and_then(|index| guardrails.rules.get(*index)).map(|rule| rule.at);
                    let message = format!("the patterns of one target are too large together: {error}");
                    self.diagnostics.push(Diagnostic::new(Code::PACK_PATTERN, at, message));
                }
            }
        }
    }

    fn bad_pattern(&mut self, text: &Spanned<String>, error: &regex::Error) {
        let (message, help) = match error {
            regex::Error::CompiledTooBig(_) => {
                ("the pattern is too large".to_owned(), "bound its repetitions, or split it".to_owned())
            }
            other => {
                let text = other.to_string();
                let last = text.lines().last().unwrap_or_default();
                let reason = last.strip_prefix("error: ").unwrap_or(last).to_owned();
                (format!("the pattern cannot be used: {reason}"), "patterns are those of the `regex` crate: no look-around, no back-references".to_owned())
            }
        };
        self.diagnostics.push(Diagnostic::new(Code::PACK_PATTERN, text.at, message).with_help(help));
    }

    fn compile_state(&mut self) -> (IndexMap<String, Slot>, Map<String, Value>) {
        let surface = self.surface;
        let mut slots = IndexMap::new();
        let mut initial = Map::new();
        for (name, tree) in &surface.state {
            let compute = match tree.value.get("compute") {
                Some(Tree::Text(text)) => {
                    self.template(text, &[], Sight { names: COMPUTE_NAMES, params: None })
                }
                _ => None,
            };
            if let Some(from) = tree.value.get("from")
                && !matches!(from, Tree::Text(from) if matches!(from.value.as_str(), "host" | "effects"))
            {
                let message = "`from` is `host` or `effects`";
                self.diagnostics.push(Diagnostic::new(Code::PACK_WRONG_VALUE, from.at(), message));
            }
            initial.insert(name.clone(), tree.value.get("default").map(Tree::to_json).unwrap_or_default());
            slots.insert(name.clone(), Slot { schema: Schema::of_value(&tree.value), compute, at: tree.at });
        }
        (slots, initial)
    }
}

/// What a guardrail looks at: a role's word means the role, any other name the blocks that bear it.
fn target(on: &str, surface: &Surface) -> Target {
    if on == "reply" {
        return Target::Reply;
    }
    if let Some(name) = on.strip_suffix(".key") {
        return Target::Key(name.to_owned());
    }
    let bound = surface.dialects.values().any(|dialect| dialect.value.blocks.contains_key(on));
    let roles = [Role::Message, Role::Thinking, Role::Call, Role::Content, Role::Section, Role::Utterance];
    match roles.into_iter().find(|role| role.word() == on) {
        Some(role @ (Role::Message | Role::Thinking)) => Target::Role(role),
        Some(role) if !bound => Target::Role(role),
        _ => Target::Block(on.to_owned()),
    }
}

/// The shape of a reply: a mode's own words over the pack's.
fn compile_reply(pack: &surface::Reply, mode: Option<&surface::Reply>, dialects: &[Dialect]) -> Reply {
    let blocks_called = |name: &str| -> Vec<(usize, BlockId)> {
        let mut blocks = Vec::new();
        for (number, dialect) in dialects.iter().enumerate() {
            for (index, block) in dialect.blocks.iter().enumerate() {
                if block.name == name || block.called == Called::Word(name.to_owned()) {
                    blocks.push((number, BlockId(index as u16)));
                }
            }
        }
        blocks
    };
    let mut reply = Reply::default();
    let own = mode.map(|mode| &mode.counts);
    let names = pack.counts.keys().chain(own.into_iter().flat_map(|own| own.keys()));
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        let base = pack.counts.get(name);
        let over = own.and_then(|own| own.get(name));
        let pick = |count: Option<&Spanned<surface::Count>>| count.map(|count| count.value.clone());
        let (base_count, over_count) = (pick(base), pick(over));
        let most = over_count
            .as_ref()
            .and_then(|count| count.most)
            .or_else(|| base_count.as_ref().and_then(|count| count.most))
            .map(|most| most.value);
        let required = over_count
            .as_ref()
            .and_then(|count| count.required)
            .or_else(|| base_count.as_ref().and_then(|count| count.required))
            .is_some_and(|required| required.value);
        let Some(at) = over.or(base).map(|count| count.at) else { continue };
        if name == "calls" {
            reply.calls = most.map(|most| (most, at));
            continue;
        }
        let blocks = blocks_called(name);
        let message = blocks.iter().any(|(dialect, block)| {
            let block = dialects.get(*dialect).and_then(|dialect| dialect.blocks.get(usize::from(block.0)));
            block.is_some_and(|block| block.role == Role::Message)
        });
        reply.counts.push(Count { name: name.clone(), blocks, message, required, most, at });
    }
    let order = mode.and_then(|mode| mode.order.as_ref()).or(pack.order.as_ref());
    if let Some(names) = order {
        reply.order = names.iter().map(|name| blocks_called(&name.value)).collect();
        reply.order_at = names.first().map(|name| name.at);
    }
    reply
}
