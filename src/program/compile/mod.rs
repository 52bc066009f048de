//! Compiling: how does a checked pack become a program?
//!
//! In: a [`Pack`].
//! Out: a [`Program`], and a diagnostic for each expression, pattern or name in one that cannot be used.
//! Never: stops at a fault; faulty parts are left out, and the caller discards the program.

mod dialects;
mod effect_types;
mod effects;
mod flow;
mod guardrails;
mod known;
mod name_scope;
mod patterns;
mod permits;
mod prompts;
mod replies;

use super::{
    Action, ActionId, AskAgain, Content, DegradationTable, Dialect, DialectId, IdleComparison, Mode, ModeId,
    ModePermits, ModeView, Param, ParamNames, PlaceNames, Program, ReplyShape, Schema, StateSlot,
};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::expression::{Constant, Template};
use crate::pack::Pack;
use crate::surface::{self, ONLY_MODE, Surface, Tree, is_pattern};
use crate::text::{Location, Spanned, excerpt, portable};
use crate::value::Record;
use crate::value::Table;
use crate::value::{Object, Value, value};
use indexmap::IndexMap;
use name_scope::{
    ASK_AGAIN_NAMES, COMPUTE_NAMES, CONTENT_NAMES, EFFECT_NAMES, NameScope, REPLY_NAMES, Touched, VALUE_NAMES,
    from_host,
};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// How often a model is asked again about one answer by default.
const MAX_ATTEMPTS: usize = 2;
/// The only kind of key that is checked: a path below a root.
const PATH: &str = "path";
/// The most tokens of a correction text by default.
const MAX_TOKENS: usize = 600;

pub(super) fn compile(pack: &Pack, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let surface = &pack.surface;
    let data = surface.data.iter().map(|(name, tree)| (name.as_str(), tree.value.to_json()));
    let ids = surface.effects().into_iter().filter_map(|effect| Some(effect.new.as_ref()?.value.as_str()));
    let patterns = surface.actions.keys().enumerate().filter(|(_, name)| is_pattern(name));
    let mut compiler = PackCompiler {
        surface,
        diagnostics,
        tool_patterns: patterns.map(|(number, _)| number).collect(),
        ids: ids.collect(),
        data: Value::Object(data.collect()),
        effects_read: Vec::new(),
        touched: Touched::default(),
        keys: Vec::new(),
        plain: Vec::new(),
        comparisons: IndexMap::new(),
    };
    let mut dialects = compiler.compile_dialects(pack);
    let actions = compiler.compile_actions();
    let params = Arc::new(ParamNames::new(actions.values().map(|action| action.schema.with_spellings().clone())));
    dialects.iter_mut().for_each(|dialect| dialect.params = Arc::clone(&params));
    let modes = compiler.compile_modes(&dialects);
    let contents = compiler.compile_contents();
    let guardrails = compiler.compile_guardrails();
    let prompts = compiler.compile_prompts(&modes, &dialects);
    let (mut slots, initial) = compiler.compile_state();
    let ask_again = compiler.compile_ask_again();
    let start = surface.about.as_ref().and_then(|about| about.start.as_ref());
    let start = start.and_then(|start| modes.get_index_of(&start.value)).unwrap_or(0);
    let flows = compiler.compile_flows();
    let messages = compiler.compile_messages();
    let sample = compiler.compile_sample();
    compiler.touched.mark(&mut slots);
    compiler.join_plain();
    let levels = surface.check.iter().flat_map(surface::Levels::all);
    let PackCompiler { effects_read, comparisons, data, tool_patterns, .. } = compiler;
    let mut program = Program {
        name: surface.about.as_ref().map(|about| about.name.value.clone()).unwrap_or_default(),
        version: surface.about.as_ref().and_then(|about| Some(about.version.as_ref()?.value.clone())),
        sources: surface.sources.clone(),
        files: Arc::new(surface.files.clone()),
        dialects: Arc::new(dialects),
        native: Dialect::native(params),
        actions,
        tool_patterns: tool_patterns.into_iter().map(ActionId).collect(),
        spellings: Arc::default(),
        views: modes.iter().map(|_| ModeView::default()).collect(),
        modes: Arc::new(modes),
        start: ModeId(start),
        in_turn: surface.about.as_ref().is_some_and(|about| about.calls == Some(surface::Calls::InTurn)),
        keeps_pending: surface.about.as_ref().is_some_and(|about| about.pending == Some(surface::Waiting::Keep)),
        knows_tools: false,
        roots: Arc::new(roots(surface)),
        contents: Arc::new(contents),
        guardrails: Arc::new(guardrails),
        flows: Arc::new(flows),
        messages: Arc::new(messages),
        degradation: DegradationTable::new(&surface.degradation),
        ask_again: Arc::new(ask_again),
        slots: Arc::new(slots),
        initial,
        computed: OnceLock::new(),
        sample: Arc::new(sample),
        data,
        prompts: Arc::new(prompts),
        limits: super::Limits::default(),
        effects_read: Arc::new(effects_read),
        idle_comparisons: Arc::new(comparisons.into_values().flatten().collect()),
        places: Arc::default(),
        levels: Arc::new(levels.map(|(code, level)| (code.value.clone(), level)).collect()),
    };
    program.places = Arc::new(places(&program));
    program
}

/// The declared roots, each with a slash at its end.
fn roots(surface: &Surface) -> Vec<String> {
    let named = surface.about.iter().flat_map(|about| &about.root.0);
    let root = |root: &Spanned<String>| format!("{}/", portable(root.value.trim()).trim_end_matches('/'));
    named.map(root).collect()
}

/// The printed form of every place that outcomes may cite, built once.
fn places(program: &Program) -> PlaceNames {
    let mut places = Vec::new();
    places.extend(program.actions.values().map(|action| action.at));
    places.extend(program.effects().into_iter().map(|(_, effect)| effect.at));
    for mode in program.modes.values() {
        places.push(mode.at);
        places.extend(mode.actions.iter().chain(mode.contents.iter()).map(|permit| permit.at));
        places.extend(mode.reply.counts.iter().map(|count| count.at));
        places.extend(mode.reply.order_at);
        places.extend(mode.reply.calls.map(|(_, at)| at));
        places.extend(mode.reply.least_calls.map(|(_, at)| at));
        places.extend(mode.reply.calls_last);
        places.extend(mode.exits.iter().map(|exit| exit.at));
    }
    for dialect in program.dialects.iter() {
        places.push(dialect.at);
        places.extend(dialect.blocks.iter().map(|block| block.at));
    }
    places.extend(program.guardrails.rules.iter().map(|rule| rule.at));
    places.extend(program.flows.rules.iter().map(|rule| rule.at));
    places.extend(program.flows.inputs.iter().map(|input| input.at));
    places.extend(program.flows.speakers.iter().map(|speakers| speakers.at));
    places.extend(program.messages.values().map(|message| message.at));
    let name = |at: Location| Some((at, program.sources.place(at)?));
    places.into_iter().filter_map(name).collect()
}

struct PackCompiler<'c> {
    surface: &'c Surface,
    diagnostics: &'c mut Vec<Diagnostic>,
    data: Value,
    /// The kinds of ids that effects use.
    ids: Vec<&'c str>,
    /// The numbers of the actions whose name is a pattern for tools.
    tool_patterns: Vec<usize>,
    /// The paths in `reply` and `attributes` that effects read.
    effects_read: Vec<Vec<String>>,
    touched: Touched,
    /// The paths of the values that are keys of files as they are.
    keys: Vec<Vec<String>>,
    /// The places of texts that were probably meant as templates.
    plain: Vec<Location>,
    /// Each comparison of a path with a constant, and the fault if it is never true.
    comparisons: IndexMap<(Location, String, Constant), Option<IdleComparison>>,
}

impl<'c> PackCompiler<'c> {
    fn compile_dialects(&mut self, pack: &Pack) -> Vec<Dialect> {
        let mut compiled = Vec::new();
        for (name, declared) in &self.surface.dialects {
            let mut dialect = dialects::compile_dialect(DialectId(compiled.len()), name, declared, pack);
            let blocks = Arc::get_mut(&mut dialect.blocks).into_iter().flatten();
            for (block, declared) in blocks.zip(declared.value.blocks.values()) {
                block.text = self.template(declared.value.text.as_ref(), &NameScope::of(VALUE_NAMES));
            }
            compiled.push(dialect);
        }
        compiled
    }

    fn compile_actions(&mut self) -> Table<String, Arc<Action>> {
        let surface = self.surface;
        let mut actions = Table::default();
        for (name, action) in &surface.actions {
            let scope = self.scope_of_call(EFFECT_NAMES, name);
            self.keys.clear();
            let effects = self.effects(&action.value.effects, &scope);
            let keys = self.keys.iter().filter_map(|path| path.strip_prefix(&["params".to_owned()]));
            let keys: Arc<[Vec<String>]> = keys.map(<[String]>::to_vec).collect();
            let compiled = Action {
                about: action.value.about.clone(),
                names: action.value.names.iter().map(|name| name.value.clone()).collect(),
                schema: match is_pattern(name) && action.value.params.is_empty() {
                    // The parameters of a tool are known only when the host declares it.
                    true => Schema::new(value!({ "type": "object", "additionalProperties": true })),
                    false => Schema::of_params(&action.value.params),
                }
                .with_keys(Arc::clone(&keys)),
                returns: action.value.returns.as_ref().map(Schema::of_value),
                params: action.value.params.iter().map(|(name, param)| Param::of(name, param)).collect(),
                effects: Arc::new(effects),
                degradation: DegradationTable::new(&action.value.degradation),
                is_pattern: is_pattern(name),
                at: action.at,
            };
            actions.insert(name.clone(), Arc::new(compiled));
        }
        actions
    }

    fn compile_contents(&mut self) -> Table<String, Content> {
        let surface = self.surface;
        let mut contents = Table::default();
        for (name, content) in &surface.contents {
            let path = content.value.key.as_ref().is_some_and(|key| key.value == PATH);
            if let Some(key) = content.value.key.as_ref().filter(|_| !path)
                && nearest(&key.value, [PATH]).is_some()
            {
                let message =
                    format!("keys of the kind `{}` are not checked for unsafe paths", excerpt(&key.value, 60));
                let help = format!("did you mean `{PATH}`? any other word is for readers alone");
                let finding = Diagnostic::new(Code::PACK_WRONG_VALUE, key.at, message).with_help(help);
                self.diagnostics.push(finding.into_warning());
            }
            self.keys.clear();
            let effects = self.effects(&content.value.effects, &NameScope::of(CONTENT_NAMES));
            let path = path || self.keys.iter().any(|path| path == &["key"]);
            let example = content.value.example.as_ref().or(content.value.key.as_ref()).cloned();
            let exemplified = content.value.example.is_some();
            let unique = content.value.unique;
            contents.insert(name.clone(), Content { path, unique, example, exemplified, effects });
        }
        contents
    }

    fn compile_modes(&mut self, dialects: &[Dialect]) -> Table<String, Mode> {
        let surface = self.surface;
        let id = |name: &Spanned<String>| Some(dialects.iter().find(|dialect| dialect.name == name.value)?.id);
        let all: Vec<DialectId> = match surface.about.as_ref().and_then(|about| about.dialects.as_ref()) {
            Some(names) => names.iter().filter_map(id).collect(),
            None => {
                let names = surface.unlisted_dialects();
                dialects.iter().filter(|one| names.contains(&one.name.as_str())).map(|one| one.id).collect()
            }
        };
        let mut modes = Table::default();
        for (name, mode) in &surface.modes {
            let compiled = Mode {
                actions: self.compile_permits(&mode.value, false),
                contents: self.compile_permits(&mode.value, true),
                title: mode.value.title.as_deref().unwrap_or(name).into(),
                sections: {
                    let sections = mode.value.sections.iter();
                    let sections: Object =
                        sections.map(|(section, word)| (section.clone(), word.value.word().into())).collect();
                    sections.into()
                },
                at: mode.at,
                declared: true,
                dialects: match &mode.value.dialects {
                    Some(names) => names.iter().filter_map(id).collect(),
                    None => all.clone(),
                },
                reply: self.compile_reply(Some(&mode.value.reply), dialects),
                exits: self.compile_exits(&mode.value),
                degradation: DegradationTable::new(&mode.value.degradation),
            };
            modes.insert(name.clone(), compiled);
        }
        if modes.is_empty() {
            let at = surface.about.as_ref().map_or(Location::response(Default::default()), |about| about.name.at);
            let mode = Mode {
                // Deny by default: where nothing is permitted, nothing may run.
                actions: ModePermits::default(),
                contents: ModePermits::default(),
                title: ONLY_MODE.into(),
                sections: Object::new().into(),
                at,
                declared: false,
                dialects: all,
                reply: self.compile_reply(None, dialects),
                exits: Vec::new(),
                degradation: DegradationTable::default(),
            };
            modes.insert(ONLY_MODE.to_owned(), mode);
        }
        modes
    }

    fn compile_reply(&mut self, of_mode: Option<&surface::ReplyTable>, dialects: &[Dialect]) -> ReplyShape {
        let of_pack = &self.surface.reply;
        let refused = of_mode.and_then(|mode| mode.refused.as_ref()).or(of_pack.refused.as_ref());
        let refused = self.template(refused, &NameScope::of(COMPUTE_NAMES));
        ReplyShape { refused, ..replies::compile_reply(of_pack, of_mode, dialects) }
    }

    fn compile_ask_again(&mut self) -> AskAgain {
        let surface = self.surface;
        let asks = surface.ask_again.as_ref();
        let words = asks.and_then(|asks| asks.text.as_ref());
        AskAgain {
            most: asks.and_then(|asks| asks.most).map_or(MAX_ATTEMPTS, |most| most.value),
            tokens: asks.and_then(|asks| asks.tokens).map_or(MAX_TOKENS, |tokens| tokens.value),
            words: self.template(words, &NameScope::of(ASK_AGAIN_NAMES)),
        }
    }

    /// Checks that a computed value reads neither itself nor a later one.
    fn check_order(&mut self, name: &str, compute: &Template) {
        let place = |name: &str| self.surface.state.get_index_of(name);
        let is_computed =
            |read: &str| self.surface.state.get(read).is_some_and(|slot| slot.value.get("compute").is_some());
        let mut reported = HashSet::new();
        let later = compute.reads_at().iter().filter_map(|(path, at)| match path {
            [head, read, ..] if head == "state" && is_computed(read) && place(read) >= place(name) => Some((read, at)),
            _ => None,
        });
        for (read, at) in later.filter(|(read, _)| reported.insert(read.as_str())) {
            let (message, help) = match read == name {
                true => ("a computed value does not see itself".to_owned(), "say what it is computed from".to_owned()),
                false => {
                    let message = format!("`{read}` is computed below `{name}`, which does not see it");
                    (message, format!("let `[state.{read}]` stand above `[state.{name}]`"))
                }
            };
            self.diagnostics.push(Diagnostic::new(Code::PACK_UNKNOWN_STATE, at, message).with_help(help));
        }
    }

    /// Checks `from` and `compute` of a value of the state.
    fn check_slot(&mut self, name: &str, slot: &Tree) {
        if let Some(from) = slot.get("from")
            && !matches!(from, Tree::Text(from) if matches!(from.value.as_str(), "host" | "effects"))
        {
            let message = "`from` is `host` or `effects`";
            self.diagnostics.push(Diagnostic::new(Code::PACK_WRONG_VALUE, from.at(), message));
        }
        if let Some(computed) = slot.get("compute") {
            let fault = match computed {
                Tree::Text(_) if from_host(slot) => {
                    Some(("what is computed does not come from the host", "take one of them out"))
                }
                Tree::Text(_) => None,
                _ => Some(("`compute` is a template", "a template is a text: put it in quotes")),
            };
            self.diagnostics.extend(fault.map(|(message, help)| {
                Diagnostic::new(Code::PACK_WRONG_VALUE, computed.at(), message).with_help(help)
            }));
        }
        if let (Some(_), Some(default)) = (slot.get("compute"), slot.get("default")) {
            let message = format!("`{name}` is computed, so that it never has this value");
            let finding = Diagnostic::new(Code::PACK_WRONG_VALUE, default.at(), message);
            self.diagnostics.push(finding.with_help("take `default` or `compute` out").into_warning());
        }
    }

    /// The values of the state with which examples are judged.
    fn compile_sample(&mut self) -> Vec<(String, Value, Location)> {
        let surface = self.surface;
        let mut sample = Vec::new();
        for (name, value) in surface.sample.iter().flat_map(|sample| &sample.state) {
            match surface.state.get(name) {
                Some(slot) if slot.value.get("compute").is_some() => {
                    let message = format!("`{name}` is computed: a sample cannot give it a value");
                    let finding = Diagnostic::new(Code::PACK_WRONG_VALUE, value.at, message);
                    let finding = finding.with_place(slot.at, "declared here");
                    self.diagnostics.push(finding.with_help("give a value to what it is computed from"));
                }
                Some(_) => sample.push((name.clone(), value.value.to_json(), value.value.at())),
                None if surface.unreadable.contains(name) => {}
                None => {
                    let finding = name_scope::no_state(name, value.at);
                    self.diagnostics.push(finding.with_nearest(name, surface.state.keys().map(String::as_str)));
                }
            }
        }
        sample
    }

    fn compile_state(&mut self) -> (Table<String, StateSlot>, Record) {
        let surface = self.surface;
        let mut slots = Table::default();
        let mut initial = Record::default();
        for (name, tree) in &surface.state {
            let compute = self.template(tree.value.text("compute"), &NameScope::of(COMPUTE_NAMES));
            if let Some(compute) = &compute {
                self.check_order(name, compute);
            }
            self.check_slot(name, &tree.value);
            *initial.entry(name) = tree.value.get("default").map(Tree::to_json).into();
            let host = from_host(&tree.value);
            let given = host || compute.is_some() || tree.value.get("default").is_some();
            let schema = Schema::of_value(&tree.value);
            let rule = compute.as_ref().and_then(|compute| StateSlot::rule_for_all(name, compute, &self.data));
            let default = tree.value.get("default").map(Tree::at);
            let slot = StateSlot {
                schema,
                compute,
                rule,
                host,
                reads: Vec::new(),
                given,
                changed: false,
                at: tree.at,
                default,
            };
            slots.insert(name.clone(), slot);
        }
        (slots, initial)
    }
}
