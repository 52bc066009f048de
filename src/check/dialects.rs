//! Dialects: can each dialect read an answer, and can each block be closed only at its end?
//!
//! In: the dialects of a program and its actions with their parameters.
//! Out: a finding for each dialect whose answers an earlier one always reads, for strategies for answers that no
//! dialect reads although one always does, for calls that name no action and actions that no call can name, for block
//! names that no grammar can read, for openers that count in prose, and for anything in a block that would close it too
//! early.
//! Never: reads a text.

use super::suppressions;
use crate::diagnostic::{Code, Defect, Diagnostic, nearest};
use crate::program::{Action, BlockBinding, Closer, Dialect, Family, Mode, NameSource, Param, Program, Types};
use crate::surface::{Anchor, Ending, Payload, Role, Trim};
use crate::text::{excerpt, glob};
use crate::value::Value;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for mode in program.modes.values() {
        let dialects: Vec<&Dialect> = program.asked_dialects_of(mode).collect();
        for (number, later) in dialects.iter().enumerate() {
            let Some(earlier) = dialects.iter().take(number).find(|earlier| outruns(earlier, later)) else { continue };
            let message =
                format!("`{}` never reads an answer: `{}` claims all of them first", later.name, earlier.name);
            found.push(
                Diagnostic::new(Code::PACK_SHADOWED_DIALECT, later.at, message)
                    .with_place(earlier.at, "this one comes first")
                    .with_help("give each its own `needs`, or take one out"),
            );
        }
    }
    never_unclaimed(program, found);
    never_fenced(program, found);
    // A fallback has the blocks of the dialect that it inherits from.
    for dialect in program.dialects.iter().filter(|dialect| dialect.fallback.is_none()) {
        own_closers(program, dialect, found);
        nameless_calls(program, dialect, found);
        untaken_texts(program, dialect, found);
        loose_openers(dialect, found);
        unread_names(dialect, found);
    }
    // A call that names no action may be meant for any action, unless a comment of the pack allows this finding.
    let nameless = |one: &Diagnostic| one.code == Code::PACK_NAMELESS_CALL && !suppressions::excuses(program, one);
    if !found.iter().any(nameless) {
        unaskable_actions(program, found);
    }
}

/// Reports strategies for answers that no dialect reads, if each mode that they apply to has only one dialect, which
/// reads every answer.
fn never_unclaimed(program: &Program, found: &mut Vec<Diagnostic>) {
    let has_one = |mode: &&Mode| program.asked_dialects_of(mode).count() == 1;
    let of_pack = std::iter::once(&program.degradation).filter(|_| program.modes.values().all(|mode| has_one(&mode)));
    let of_modes = program.modes.values().filter(has_one).map(|mode| &mode.degradation);
    for at in of_pack.chain(of_modes).filter_map(|answers| answers.place_of(Defect::NoDialect)) {
        let message = "`no-dialect` is never answered here: a sole dialect reads every answer";
        let help = "say what becomes of an answer without any block by `missing-message` or `missing-block`, which occur \
                    if `[reply]` requires the block";
        found.push(Diagnostic::new(Code::PACK_UNFIT_STRATEGY, at, message).with_help(help).into_warning());
    }
}

/// Reports strategies for blocks that only a fallback reads, if no mode has a fallback.
fn never_fenced(program: &Program, found: &mut Vec<Diagnostic>) {
    let has_fallback = |mode: &Mode| program.dialects_of(mode).any(|dialect| dialect.fallback.is_some());
    if program.modes.values().any(has_fallback) {
        return;
    }
    let blocks = program.dialects.iter().flat_map(|dialect| dialect.blocks.iter()).map(|block| &block.degradation);
    let modes = program.modes.values().map(|mode| &mode.degradation);
    let actions = program.actions.values().map(|action| &action.degradation);
    let all = std::iter::once(&program.degradation).chain(modes).chain(blocks).chain(actions);
    for at in all.filter_map(|answers| answers.place_of(Defect::FencedBlock)) {
        let message = "`fenced-block` is never answered here: no mode has a fallback";
        let help = "add one to its `dialects`: `[dialects.NAME]` with `like`, `quoted = []` and `fallback = true`";
        found.push(Diagnostic::new(Code::PACK_UNFIT_STRATEGY, at, message).with_help(help).into_warning());
    }
}

/// Reports blocks that only the next opener ends, although openers count even in the middle of a sentence.
fn loose_openers(dialect: &Dialect, found: &mut Vec<Diagnostic>) {
    let ends = |family: &Family| family.close.is_some() || family.payload.is_some() || family.empty.is_some();
    let loose = |family: &Family| !ends(family) && !family.starts_line;
    if dialect.families.iter().any(loose) {
        let message = format!("an opener of `{}` counts even in the middle of a sentence", dialect.name);
        let help = "say `anchor = \"line\"`: its blocks end at the next opener, even one that is part of their text";
        found.push(Diagnostic::new(Code::PACK_LOOSE_OPENER, dialect.at, message).with_help(help));
    }
}

/// Reports names of blocks that no grammar can read, so that they open nothing.
fn unread_names(dialect: &Dialect, found: &mut Vec<Diagnostic>) {
    let is_nameless = |family: &Family| {
        let first = family.grammar.first(family.name);
        first.empty && !first.bytes.contains(&true)
    };
    let help = match dialect.families.iter().all(is_nameless) {
        true => "the rule `name` of its grammar matches no text: call the block `\"*\"`, or let `name` match a word",
        false => "give the block another name, or use a grammar whose rule `name` takes these characters",
    };
    for block in dialect.blocks.iter() {
        for name in dialect.unread_names(block) {
            let message =
                format!("`{}` opens no block: no grammar of `{}` reads it as a name", excerpt(name, 60), dialect.name);
            let finding = Diagnostic::new(Code::PACK_BLOCK, block.at, message).with_help(help);
            found.push(finding.into_warning());
        }
    }
}

/// Reports calls whose name is fixed, and is not that of an action.
fn nameless_calls(program: &Program, dialect: &Dialect, found: &mut Vec<Diagnostic>) {
    // A pack that consists of dialects leaves the actions to the packs that use it.
    if program.actions.is_empty() {
        return;
    }
    for block in dialect.blocks.iter().filter(|block| block.role == Role::Call) {
        let name = match &block.called {
            NameSource::Own => block.names.first(),
            NameSource::Word(word) => Some(word),
            NameSource::Attribute(_) | NameSource::Around(..) | NameSource::Payload { .. } => None,
        };
        let Some(name) = name.map(|name| name.trim_end_matches("[]")) else { continue };
        if program.actions.iter().any(|(name, action)| dialect.may_call(block, name, action)) {
            continue;
        }
        let message = format!("every call of the block `{}` asks for `{name}`, which is not an action", block.name);
        let attribute = format!("did you mean `name = \"@{name}\"`? then its opener says which");
        let near = nearest(name, program.actions.iter().map(|(name, _)| name.as_str()));
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let help = match block.called {
            NameSource::Word(_) if matches!(name, "name" | "type" | "action" | "tool" | "id") => &attribute,
            NameSource::Own if block.names.len() > 1 => {
                "with several `names`, `@name` is always the block's own name: give each of them a block of its own"
            }
            _ => near.as_deref().unwrap_or("say where the action's name is, as in `name = \"@type\"`"),
        };
        found.push(Diagnostic::new(Code::PACK_NAMELESS_CALL, block.at, message).with_help(help));
    }
}

/// Reports calls whose text becomes a parameter that none of the actions declares which they may ask for.
fn untaken_texts(program: &Program, dialect: &Dialect, found: &mut Vec<Diagnostic>) {
    for block in dialect.blocks.iter().filter(|block| block.role == Role::Call && block.payload == [Payload::Text]) {
        let Some(param) = block.text_param() else { continue };
        let actions = program.actions.iter().filter(|(name, action)| dialect.may_call(block, name, action));
        let types: Vec<&Types> = actions.map(|(_, action)| action.schema.types()).collect();
        let takes = |types: &&Types| !types.is_closed() || types.called(param, &dialect.names).is_some();
        if types.is_empty() || types.iter().any(takes) {
            continue;
        }
        let message = format!(
            "the text of a `{}` is the parameter `{param}`, which no action that it may ask for has",
            block.name
        );
        let known = types.iter().flat_map(|types| types.members()).map(|(name, _)| &**name);
        let help = match nearest(param, known) {
            Some(near) => format!("did you mean `body = \"{near}\"`?"),
            None => "say which one it is by `body = \"PARAMETER\"`".to_owned(),
        };
        found.push(Diagnostic::new(Code::PACK_WRONG_VALUE, block.at, message).with_help(help).into_warning());
    }
}

/// Reports permitted actions that no block in the dialects of their modes can ask for.
fn unaskable_actions(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, action) in program.actions.iter().filter(|(_, action)| !action.is_pattern) {
        let permitting: Vec<&Mode> = program.modes.values().filter(|mode| mode.may_permit(name)).collect();
        let dialects = permitting.iter().flat_map(|mode| program.dialects_of(mode));
        let asks = |dialect: &Dialect| dialect.blocks.iter().any(|block| dialect.may_call(block, name, action));
        // In a mode without dialects, native calls ask for actions.
        let is_native = permitting.iter().any(|mode| program.dialects_of(mode).next().is_none());
        if permitting.is_empty() || is_native || dialects.clone().any(asks) {
            continue;
        }
        let own_name = |block: &BlockBinding| block.role == Role::Call && matches!(block.called, NameSource::Own);
        let calls: Vec<(&Dialect, &BlockBinding)> = dialects
            .flat_map(|dialect| dialect.blocks.iter().map(move |block| (dialect, block)))
            .filter(|(_, block)| own_name(block))
            .collect();
        // A block that takes any name, but whose grammar does not read this one as a name.
        let any = calls.iter().find(|(_, block)| block.names.iter().any(|taken| glob(taken, name)));
        let message = format!("no block can ask for the action `{name}` in a mode that permits it");
        let mut finding = Diagnostic::new(Code::PACK_UNASKABLE, action.at, message);
        match (any, calls.first()) {
            (Some((dialect, block)), _) => {
                let others = [name.to_uppercase(), name.to_lowercase()].map(|other| other.replace('-', "_"));
                let other = others.iter().find(|other| dialect.may_be_called(block, other));
                let other = other.map_or("the action by another name".to_owned(), |other| format!("it `{other}`"));
                let help = format!("call {other}, or let the rule `name` of the grammar take its characters");
                finding = finding.with_place(block.at, "its grammar does not read it as a name").with_help(help);
            }
            (None, Some((_, block))) => {
                let like = calls.iter().find_map(|(dialect, block)| dialect.called_like(block, name));
                let help = match like {
                    Some(other) => format!("call it `{other}`, or bind another call to it"),
                    None => format!("add `{name}` to the `names` of `{}`, or bind another call to it", block.name),
                };
                finding = finding.with_place(block.at, "this call has other names").with_help(help);
            }
            (None, None) => {
                let help = "bind a call that names its action, as with `name = \"@type\"`, or one of this name";
                finding = finding.with_help(help);
            }
        }
        found.push(finding);
    }
}

/// Whether everything that claims an answer for `later` claims it for `earlier` at the same place.
fn outruns(earlier: &Dialect, later: &Dialect) -> bool {
    let same_grammars = earlier.families.len() == later.families.len()
        && earlier
            .families
            .iter()
            .zip(later.families.iter())
            .all(|(one, other)| std::sync::Arc::ptr_eq(&one.grammar, &other.grammar));
    let same_masks = earlier.masks == later.masks;
    let claims = |dialect: &Dialect| match dialect.needs.as_slice() {
        [] => {
            dialect.blocks.iter().flat_map(|block| &block.names).map(|name| dialect.names.fold(name).into()).collect()
        }
        needs => needs.to_vec(),
    };
    let theirs: Vec<String> = claims(earlier);
    // A name in another case opens nothing in a dialect that compares names exactly.
    let same_case = earlier.names.in_any_case() || !later.names.in_any_case();
    same_grammars
        && same_masks
        && same_case
        && claims(later).iter().all(|name| {
            let blocks = [earlier, later].map(|one| one.names.find(name, None).and_then(|id| one.block(id)));
            let [Some(first), Some(other)] = blocks else { return false };
            // With only one grammar, a pattern for any name matches the same openers.
            let is_alike = first.name == other.name || (first.name.contains('*') && earlier.families.len() == 1);
            // The earlier block counts wherever the later one does.
            let is_as_loose = looseness(first.anchor) >= looseness(other.anchor)
                && (first.inside_words || !other.inside_words)
                && first.starts == other.starts;
            theirs.iter().any(|their| earlier.names.matches_name(their, name)) && is_alike && is_as_loose
        })
}

/// A rank for how many places an opener counts at.
fn looseness(anchor: Anchor) -> usize {
    match anchor {
        Anchor::Anywhere => 2,
        Anchor::Line => 1,
        Anchor::Paragraph | Anchor::Wrapper => 0,
    }
}

/// Reports anything that a block may contain, by the pack's declarations, that would close it too early.
fn own_closers(program: &Program, dialect: &Dialect, found: &mut Vec<Diagnostic>) {
    let mut families = dialect.families.iter().enumerate();
    let Some((number, family)) = families.find(|(_, family)| family.close.is_some()) else { return };
    // Members have no closers.
    let closes = |block: &&BlockBinding| dialect.outline.is_none() || block.starts;
    for block in dialect.blocks.iter().filter(closes) {
        if !dialect.ladder(block, number).first().is_some_and(|rung| rung.contains(&Ending::Closer)) {
            continue;
        }
        let closers = Closers { dialect, block, mark: &family.close_prefix.literal };
        closers.opaque(found);
        for inner in block.holds.iter().filter_map(|id| dialect.block(*id)) {
            closers.inner(inner, found);
        }
        for (action, declared) in program.actions.iter().filter(|_| block.role == Role::Call) {
            closers.payload(action, declared, found);
        }
    }
}

/// The closers of a block.
struct Closers<'d> {
    dialect: &'d Dialect,
    block: &'d BlockBinding,
    /// The text before the name in a closer.
    mark: &'d str,
}

impl Closers<'_> {
    /// Whether a closer of this name ends the block wherever it occurs inside; of several closers, those of the lowest
    /// tier count. `action` is the action of the call.
    fn takes(&self, name: &str, action: Option<&str>) -> bool {
        let surest = self.block.close.iter().map(Closer::tier).min();
        self.block.close.iter().filter(|closer| Some(closer.tier()) == surest).any(|closer| match closer {
            Closer::Own => self.dialect.names.same(&self.block.name, name),
            Closer::Word(closer) => self.dialect.names.same(closer, name),
            Closer::Pattern(pattern) => self.dialect.names.matches_name(pattern, name),
            Closer::Attribute(attribute) => {
                let asked = self.block.called == NameSource::Attribute(attribute.clone());
                action.is_some_and(|action| asked && self.dialect.names.same(action, name))
            }
        })
    }

    /// Checks a block whose text may be anything, with no escape for closers.
    fn opaque(&self, found: &mut Vec<Diagnostic>) {
        let block = self.block;
        // A call may encode its closer as entities; the text of a content is used as it is.
        let is_opaque = match block.role {
            Role::Content => true,
            Role::Call => block.payload.contains(&Payload::Text) && block.decode.is_none(),
            _ => false,
        };
        // If prompts ask for the text in a CDATA section, the text may quote anything.
        let in_section = self.dialect.masks.cdata && block.trim.contains(&Trim::WrappingCdata);
        if is_opaque && !in_section && block.anchor == Anchor::Anywhere {
            let message = format!(
                "a text that quotes the closer of the block `{}` ends it: it counts anywhere on a line",
                block.name
            );
            found.push(
                Diagnostic::new(Code::PACK_OWN_CLOSER, block.at, message)
                    .with_help("`anchor = \"line\"` lets it count at the start of a line alone"),
            );
        }
    }

    /// Checks a block that is read inside this one.
    fn inner(&self, inner: &BlockBinding, found: &mut Vec<Diagnostic>) {
        let names = inner.close.iter().filter_map(|closer| match closer {
            Closer::Own => Some(&inner.name),
            Closer::Word(word) => Some(word),
            Closer::Attribute(_) | Closer::Pattern(_) => None,
        });
        let Some(name) = names.into_iter().find(|name| self.takes(name, None)) else { return };
        let message =
            format!("what closes the block `{}` closes the block `{}` that contains it", inner.name, self.block.name);
        found.push(
            Diagnostic::new(Code::PACK_OWN_CLOSER, self.block.at, message)
                .with_place(inner.at, format!("closed by `{name}`"))
                .with_help("take it out of the `close` of one of them"),
        );
    }

    /// Checks the parameters of an action: fields with the name of a closer, and values that contain one.
    fn payload(&self, action: &str, declared: &Action, found: &mut Vec<Diagnostic>) {
        for Param { name: param, at, .. } in &declared.params {
            let schema = declared.schema.property(param).unwrap_or(&Value::Null);
            let (mut names, mut values) = (vec![param.as_str()], Vec::new());
            inside(schema, &mut names, &mut values);
            let field = names.into_iter().find(|name| self.takes(name, Some(action)));
            let field = field.filter(|_| self.block.payload.contains(&Payload::Tags));
            let holds = |value: &&str| {
                let mut closers = value.match_indices(self.mark).filter_map(|(at, mark)| value.get(at + mark.len()..));
                let name = |text: &str| {
                    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'))
                        .next()
                        .map(str::to_owned)
                };
                closers.any(|text| name(text).is_some_and(|name| self.takes(&name, Some(action))))
            };
            let value = values.into_iter().find(holds).filter(|_| !self.block.entities() && !self.mark.is_empty());
            let (what, help) = match (field, value) {
                (Some(field), _) => (format!("the field `{field}`"), "call the parameter something else"),
                (None, Some(value)) => {
                    (format!("the value `{}`", excerpt(value, 40)), "let the block `decode` entities")
                }
                (None, None) => continue,
            };
            let message = format!("{what} of `{action}` would close the block `{}` that contains it", self.block.name);
            found.push(
                Diagnostic::new(Code::PACK_OWN_CLOSER, *at, message)
                    .with_place(self.block.at, "this block")
                    .with_help(help),
            );
        }
    }
}

/// Collects the names of all members in a schema, and the texts that it lists as values.
fn inside<'s>(schema: &'s Value, names: &mut Vec<&'s str>, values: &mut Vec<&'s str>) {
    for (key, part) in schema.as_object().into_iter().flatten() {
        match (key, part) {
            ("properties", Value::Object(members)) => {
                for (name, member) in members {
                    names.push(name);
                    inside(member, names, values);
                }
            }
            ("items" | "additionalProperties", schema) => inside(schema, names, values),
            ("enum" | "examples", Value::Array(texts)) => values.extend(texts.iter().filter_map(Value::as_str)),
            ("const" | "default", Value::String(text)) => values.push(text),
            _ => {}
        }
    }
}
