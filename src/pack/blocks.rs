//! Blocks: do the keys of a block suit its role and its grammar?
//!
//! In: a block, and its dialect.
//! Out: a diagnostic for each key that cannot take effect.
//! Never: judges whether a block is useful.

use super::dialects::check_opener;
use super::grammars::{Grammars, has_members};
use crate::diagnostic::{Code, Defect, Diagnostic, Message, Strategy, nearest};
use crate::grammar::Grammar;
use crate::json;
use crate::surface::{Anchor, Block, BlockLayout, Decoding, Dialect, ENTRIES, Ending, Payload, Role, Rung, WHOLE};
use crate::text::{Location, Spanned};
use std::sync::Arc;

/// A dialect, and what is known about it.
pub(super) struct DialectContext<'d> {
    dialect: &'d Dialect,
    grammars: &'d Grammars,
    /// Whether all of its grammars are known; without them, the parts of its blocks are unknown.
    pub(super) known: bool,
    /// Whether everything in it could be read. If not, a key that seems missing may be in the part with the fault.
    whole: bool,
    /// Whether its blocks are members of one object.
    pub(super) object: bool,
}

impl<'d> DialectContext<'d> {
    pub(super) fn of(dialect: &'d Dialect, grammars: &'d Grammars, whole: bool) -> Self {
        let names = &dialect.grammar.0;
        let known = (whole || !names.is_empty()) && names.iter().all(|name| grammars.get(name).is_some());
        let ground = Self { dialect, grammars, known, whole, object: false };
        let object = ground.spelling().any(has_members);
        Self { object, ..ground }
    }

    /// The grammar that a name in the dialect means, if the grammar could be read.
    fn grammar(&self, name: &Spanned<String>) -> Option<&'d Grammar> {
        self.grammars.get(name).map(Arc::as_ref)
    }

    /// Its grammars that could be read.
    fn spelling(&self) -> impl Iterator<Item = &'d Grammar> {
        self.grammars.of(self.dialect).map(Arc::as_ref)
    }
}

pub(super) fn bad(at: Location, message: impl Into<Message>, help: &str) -> Diagnostic {
    Diagnostic::new(Code::PACK_BLOCK, at, message).with_help(help)
}

/// Checks a block. In a `torn` block, a key that seems missing may be in the part with the fault.
pub(super) fn check(
    name: &str,
    block: &Spanned<Block>,
    torn: bool,
    ground: &DialectContext<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    check_block(block, torn, ground, diagnostics);
    if !torn && ground.known {
        check_lacks(name, block, ground.object, diagnostics);
    }
    if ground.object && !is_before(&block.value) {
        if !torn {
            check_member(name, &block.value, block.at, diagnostics);
        }
    } else {
        let within = check_within(name, block, torn, diagnostics);
        if ground.known {
            check_values(block, within, diagnostics);
        }
        check_spelling(block, ground, diagnostics);
    }
}

/// Checks keys that need blocks to be members of an object, or a payload that contains the call's name (`within`).
fn check_values(block: &Spanned<Block>, within: bool, diagnostics: &mut Vec<Diagnostic>) {
    let Spanned { value: block, at } = block;
    let call = block.role == Role::Call;
    // The text after the opener of such a call is a parameter.
    let text = call && block.payload.0.iter().any(|payload| payload.value == Payload::Text);
    // A section that sets `payload` has a value; other blocks whose text is emitted or stored are texts.
    let valued = match block.role {
        Role::Section => !block.payload.0.is_empty(),
        role => matches!(role, Role::Message | Role::Content | Role::Utterance),
    };
    let words = block.body.0.iter().filter(|_| !within && !text).chain(&block.text).map(|word| word.at);
    for at in words.chain(block.schema.as_ref().filter(|_| !valued).map(|_| *at)) {
        let help = match call {
            true => "a call has one whose payload is `text`, or names it: `name = \"@payload.MEMBER\"`",
            false => "take it out: its body is what is between its opener and its end",
        };
        diagnostics.push(bad(at, "this key is only for blocks that are members of an object", help));
    }
}

/// Checks that the grammars have the rules that a block needs.
fn check_spelling(block: &Spanned<Block>, ground: &DialectContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Spanned { value: block, at } = block;
    let dialect = ground.dialect;
    let own = dialect.grammar.0.iter().filter(|name| block.grammar.as_ref().is_none_or(|own| own.value == name.value));
    // If a grammar could not be read, its rules are unknown.
    let own: Option<Vec<&Grammar>> = own.map(|name| ground.grammar(name)).collect();
    let own = own.unwrap_or_default();
    if block.starts && !own.is_empty() && own.iter().all(|grammar| grammar.rule("close").is_none()) {
        let message = "a block that opens only at the start of an answer needs a closer";
        diagnostics.push(bad(*at, message, "take `starts` out, or give its grammar the rule `close`"));
    }
    check_attributes(block, &own, diagnostics);
    let ladder = if block.ends.is_empty() { &dialect.ends } else { &block.ends };
    let ends = |rung: &&Rung| rung.0.iter().any(|ending| ending.value == Ending::End);
    if let Some(dead) = ladder.iter().skip_while(|rung| !ends(rung)).nth(1).and_then(|rung| rung.0.first()) {
        let message =
            format!("no block ends by `{}`: `end` comes before it, and an answer always ends", dead.value.word());
        diagnostics.push(bad(dead.at, message, "put `end` last"));
    }
    let mut all_spelled = true;
    for ending in ladder.iter().flat_map(|rung| &rung.0) {
        let Some(rule) = rule_of(ending.value) else { continue };
        let mut known = ground.spelling().peekable();
        if known.peek().is_some() && known.all(|grammar| grammar.rule(rule).is_none()) {
            let message =
                format!("no grammar of this dialect has the rule `{rule}` that `{}` needs", ending.value.word());
            diagnostics.push(bad(ending.at, message, "take the rung out, or add the rule to the grammar"));
            all_spelled = false;
        }
    }
    if all_spelled && block.role != Role::Wrapper {
        check_last(ladder, &own, diagnostics);
    }
    let opens = |grammar: &&Grammar| grammar.rule("open").is_some_and(|open| grammar.first(open).is_fence());
    let fence = ladder.iter().flat_map(|rung| &rung.0).find(|ending| ending.value == Ending::Fence);
    if let Some(fence) = fence.filter(|_| !own.is_empty() && own.iter().all(opens)) {
        let message =
            "no block ends by `fence` whose opener is the fence: it is for one around the opener, or right after it";
        let help =
            "give its grammar the rule `close`, and say `closer`; `quoted = [\"code-fence\"]` keeps fences in it apart";
        diagnostics.push(bad(fence.at, message, help).into_warning());
    }
}

/// The rule of a grammar that this kind of ending requires.
fn rule_of(ending: Ending) -> Option<&'static str> {
    match ending {
        ending if ending.is_closer() => Some("close"),
        Ending::Payload => Some("payload"),
        _ => None,
    }
}

/// Reports a block that only the next block ends: at the end of the answer it would always count as unclosed.
fn check_last(ladder: &[Rung], own: &[&Grammar], diagnostics: &mut Vec<Diagnostic>) {
    let spelled = |rule: &str| own.iter().any(|grammar| grammar.rule(rule).is_some());
    let Some((rung, first)) = ladder.first().and_then(|rung| rung.0.first().map(|first| (rung, first))) else { return };
    let ends = |ending: Ending| ending != Ending::NextBlock && rule_of(ending).is_none_or(spelled);
    if own.is_empty()
        || ["close", "payload", "empty"].into_iter().any(spelled)
        || rung.0.iter().any(|one| ends(one.value))
    {
        return;
    }
    let message = "at the end of an answer such a block is an `unclosed-block`: its grammar has no closer";
    let help = "say `ends = [[\"next-block\", \"end\"]]`: only a block that ends on the first rung is complete";
    diagnostics.push(bad(first.at, message, help).into_warning());
}

/// Whether the payload contains the name of the call; checks that the keys of the block allow that.
fn check_within(name: &str, block: &Spanned<Block>, torn: bool, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let block = &block.value;
    let is_path = |word: &&Spanned<String>| word.value.starts_with('@') && word.value.contains('.');
    let Some(word) = block.name.0.iter().find(is_path) else { return false };
    fn pointer_in(word: &Spanned<String>) -> Option<&str> {
        let (pointer, _) = Block::within(word)?;
        pointer.split('.').all(|step| !step.is_empty()).then_some(pointer)
    }
    if let Some(word) = block.name.0.iter().filter(is_path).find(|word| pointer_in(word).is_none()) {
        let help = "say `@ATTRIBUTE`, or of a call whose payload names it `@payload.MEMBER` or `@payload[].MEMBER`";
        diagnostics.push(bad(word.at, format!("`{}` cannot name a block", word.value), help));
        return false;
    }
    let Some(pointer) = pointer_in(word) else { return false };
    let each = block.name.0.iter().any(|word| Block::within(word).is_some_and(|(_, each)| each));
    let names = |one: &Spanned<Payload>| one.value == Payload::Json || (one.value == Payload::Tags && !each);
    let json = !block.payload.0.is_empty() && block.payload.0.iter().all(names);
    let unread = torn && block.payload.0.is_empty();
    if block.role != Role::Call || !json && !unread {
        let message = format!("the payload of `{name}` cannot name it");
        let help = match each {
            true => {
                "only that of a call can, and only as `payload = \"json\"`: of a list in tags each is a block in a wrapper"
            }
            false => "only that of a call can, and only as `payload = \"json\"` or `\"tags\"`",
        };
        diagnostics.push(bad(word.at, message, help));
    } else if pointer.contains('.') && block.body.0.is_empty() {
        let message = format!("no key names the member of the payload of `{name}` that contains the parameters");
        diagnostics.push(bad(word.at, message, "add `body = \"MEMBER\"`, with dots where it lies deeper"));
    }
    true
}

/// Checks that the grammars have the attributes that a block reads from its opener.
fn check_attributes(block: &Block, spelling: &[&Grammar], diagnostics: &mut Vec<Diagnostic>) {
    // A grammar without an opener has been reported already.
    let spells = |grammar: &&Grammar| grammar.rule("open").is_some() && grammar.rule("name").is_some();
    if spelling.is_empty()
        || !spelling.iter().all(spells)
        || spelling.iter().any(|grammar| grammar.rule("attribute").is_some())
    {
        return;
    }
    let rules = spelling.iter().flat_map(|grammar| {
        let inside = grammar.called_from(|name| name == "open");
        grammar.rules().filter(move |rule| inside.contains(rule)).map(|rule| grammar.rule_name(rule))
    });
    let known: Vec<&str> = rules.filter(|rule| !matches!(*rule, "open" | "empty")).collect();
    let layout = block.spelled.as_ref().and_then(|spelled| Some((BlockLayout::of(&spelled.value)?, spelled)));
    let places = layout.iter().flat_map(|(layout, word)| layout.attributes().map(move |place| (place, *word)));
    let words = block.name.0.iter().chain(&block.key).chain(&block.close);
    let named = words.filter_map(|word| Some((word.value.strip_prefix('@')?, word)));
    let named = named.filter(|(attribute, _)| !attribute.is_empty() && !attribute.contains('.'));
    for (attribute, word) in named.chain(places) {
        if !known.contains(&attribute) {
            let message = format!("no opener of this block has an attribute `{attribute}`");
            let mut diagnostic =
                Diagnostic::new(Code::PACK_BLOCK, word.at, message).with_nearest(attribute, known.iter().copied());
            let json = block.role == Role::Call && block.payload.0.iter().any(|one| one.value == Payload::Json);
            if json && block.name.0.iter().any(|name| std::ptr::eq(name, word)) {
                let help = diagnostic.help.map(|help| format!("{help}; ")).unwrap_or_default();
                diagnostic.help = Some(format!("{help}`@payload.{attribute}` is what the payload says there").into());
            }
            diagnostics.push(diagnostic);
        }
    }
}

/// Whether a block precedes an answer that is one object: it is not a member, and has its own grammar.
pub(super) fn is_before(block: &Block) -> bool {
    block.starts && block.grammar.is_some()
}

/// Checks the keys of a block that is a member, and its name, which is a path.
fn check_member(name: &str, block: &Block, at: Location, diagnostics: &mut Vec<Diagnostic>) {
    let whole = |part: &str| {
        let word = part.trim_end_matches("[]");
        !word.is_empty() && !word.contains(['[', ']'])
    };
    let pointer = name.strip_prefix("[].").unwrap_or(name);
    if !matches!(name, WHOLE | ENTRIES) && !pointer.split('.').all(whole) {
        let message = format!("`{name}` is not a path to a member");
        diagnostics.push(bad(at, message, "say `member`, `member.inner` or, for each entry of a list, `member[]`; the whole object is `.`, each entry of a \
             list of objects `[]`"));
    }
    let named = block.name.0.iter().map(|word| ("name", word)).chain(block.key.iter().map(|word| ("key", word)));
    for (key, word) in named.chain(block.body.0.iter().map(|word| ("body", word))) {
        let says = word.value.trim_start_matches('@');
        // A `name` without `@` is a fixed name, and not a path.
        if let Some((pointer, last)) = says.rsplit_once('.').filter(|_| key != "name" || word.value.starts_with('@')) {
            let help = format!("write the name of the block there, as in `\"{name}.{pointer}\"`, and `{last}` here");
            let message = format!("`{says}` is not the name of a member: members inside others are not searched");
            diagnostics.push(bad(word.at, message, &help));
        }
    }
    let marks = [
        ("payload", !block.payload.0.is_empty()),
        ("field", block.field.is_some()),
        ("fields", block.fields.is_some()),
        ("holds", !block.holds.is_empty()),
        ("anchor", block.anchor.is_some()),
        ("close", !block.close.is_empty()),
        ("ends", !block.ends.is_empty()),
        ("trim", block.trim.is_some()),
        ("decode", block.decode.is_some()),
        ("starts", block.starts),
    ];
    for (key, _) in marks.into_iter().filter(|(_, is_set)| *is_set) {
        diagnostics.push(bad(at, format!("a member has no `{key}`: its grammar determines it"), "take it out"));
    }
}

/// Checks that a block has the keys that it needs.
fn check_lacks(name: &str, block: &Spanned<Block>, object: bool, diagnostics: &mut Vec<Diagnostic>) {
    let Spanned { value: block, at } = block;
    if block.role == Role::Call && !object && block.payload.0.is_empty() {
        let help = "say how its payload is read: `tags`, `json`, `attributes` or `text`";
        diagnostics.push(bad(*at, format!("the call `{name}` has no `payload`"), help));
    }
    if block.role == Role::Content && block.key.is_none() {
        let help = "say what it is stored under: `@name`, or `@ATTRIBUTE`";
        diagnostics.push(bad(*at, format!("the content `{name}` has no `key`"), help));
    }
}

/// Checks the keys that any block may have. In a `torn` block, the role may not be the one that the author meant.
fn check_block(spanned: &Spanned<Block>, torn: bool, ground: &DialectContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Spanned { value: block, at } = spanned;
    let dialect = ground.dialect;
    for word in block.name.0.iter().chain(&block.key).chain(&block.close).filter(|word| word.value == "@") {
        diagnostics.push(bad(word.at, "`@` is the name of no attribute", "say which one: `@ATTRIBUTE`"));
    }
    if let Some(word) = block.name.0.iter().find(|word| block.name.0.len() > 1 && !word.value.starts_with('@')) {
        let message = format!("`{}` is a fixed name, so the other names in this list are never used", word.value);
        diagnostics.push(bad(
            word.at,
            message,
            "of several names, each is a source: `@ATTRIBUTE` or `@payload.MEMBER`",
        ));
    }
    if !torn {
        check_role(block, diagnostics);
    }
    if !torn && !ground.object {
        check_nested(block, diagnostics);
    }
    if !ground.object {
        check_field(block, ground, diagnostics);
    }
    check_wrapper(block, ground, diagnostics);
    let is_wrapper = |one: &Spanned<Block>| one.value.role == Role::Wrapper && !std::ptr::eq(one, spanned);
    if block.anchor.or(dialect.anchor) == Some(Anchor::Wrapper)
        && ground.whole
        && !dialect.blocks.values().any(is_wrapper)
    {
        let message = "the dialect has no wrapper in which this block could open";
        diagnostics.push(bad(*at, message, "declare a block with `role = \"wrapper\"`, or say `anchor = \"line\"`"));
    }
    if block.role == Role::Content && block.decode == Some(Decoding::Entities) {
        let message = "no entity in a content is decoded: its text is taken as it is";
        diagnostics.push(bad(*at, message, "take `decode` out").into_warning());
    }
    let anywhere = |one: &Block| matches!(one.anchor.or(dialect.anchor), None | Some(Anchor::Anywhere));
    if block.decode.or(dialect.decode) == Some(Decoding::Guarded)
        && ground.whole
        && (ground.object || dialect.blocks.values().any(|one| anywhere(&one.value)))
    {
        let message = "only what counts at the start of a line alone can be guarded";
        diagnostics.push(bad(*at, message, "say `anchor = \"line\"` on the dialect"));
    }
}

/// Reports strategies for blocks inside a block without `holds`: an opener inside such a block is only text.
fn check_nested(block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    if block.role == Role::Wrapper || !block.holds.is_empty() {
        return;
    }
    let rows = block.degradation.0.iter().filter(|(defect, _)| defect.value == Defect::NestedBlock);
    let moves = |one: &&Spanned<Strategy>| matches!(one.value, Strategy::Lift | Strategy::Drop | Strategy::KeepAsText);
    if let Some(strategy) = rows.flat_map(|(_, strategies)| strategies).find(moves) {
        let message =
            format!("`{}` finds no block in this one, which `holds` none: its text stays as it is", strategy.value);
        let help = match block.role {
            Role::Call | Role::Content => "say `keep`, `refuse` or `ask-again`",
            _ => "name the blocks in `holds`, or say `keep`, `refuse` or `ask-again`",
        };
        let finding = Diagnostic::new(Code::PACK_UNFIT_STRATEGY, strategy.at, message).with_help(help);
        diagnostics.push(finding.into_warning());
    }
}

/// Reports keys that blocks of this role do not have.
fn check_role(block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    let role = block.role.word();
    check_payload(block, diagnostics);
    check_forgives(block, diagnostics);
    if let Some(key) = block.key.as_ref().filter(|_| block.role != Role::Content) {
        diagnostics.push(bad(key.at, format!("a block of the role `{role}` has no key"), "only contents have one"));
    }
    if let (Role::Call | Role::Content | Role::Thinking, Some(inner_block)) = (block.role, block.holds.first()) {
        let message = format!("a block of the role `{role}` holds no blocks: what is in it is opaque");
        diagnostics.push(bad(inner_block.at, message, "take `holds` out"));
    }
}

/// Checks the faults that a block tolerates: only those of JSON that do not change the value.
fn check_forgives(block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    let reads_json = block.payload.0.iter().any(|payload| payload.value == Payload::Json);
    let known = json::certain_words();
    for fault in &block.forgives {
        if block.role != Role::Call || !reads_json {
            let message = format!("a block of the role `{}` forgives nothing", block.role.word());
            diagnostics.push(bad(fault.at, message, "only a call whose payload is `json` has faults to forgive"));
        } else if !known.contains(&fault.value) {
            let message = match json::worded(&fault.value) {
                Some(_) => format!("`{}` may lose something, so it cannot be forgiven", fault.value),
                None => format!("JSON has no fault `{}`", fault.value),
            };
            let near = nearest(&fault.value, known.iter().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is `{}`", known.join("`, `")),
            };
            diagnostics.push(bad(fault.at, message, &help));
        }
    }
}

/// Checks the readers of the payload.
fn check_payload(block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    let role = block.role.word();
    let (call, section) = (block.role == Role::Call, block.role == Role::Section);
    if !call && !section {
        diagnostics.extend(block.payload.0.first().map(|payload| {
            let message = format!("a block of the role `{role}` has no payload");
            bad(payload.at, message, "only calls and sections have one")
        }));
        return;
    }
    if block.values.is_some() && !call {
        diagnostics.extend(block.payload.0.first().map(|payload| {
            bad(payload.at, "the values of a section have no schema", "take `values` out: only calls have it")
        }));
    }
    for payload in &block.payload.0 {
        let is_allowed = match payload.value {
            Payload::Bullets => section,
            Payload::Attributes | Payload::Tags | Payload::Text => call,
            Payload::Json => true,
        };
        if !is_allowed {
            let message = format!("`{}` reads no payload of the role `{role}`", payload.value.word());
            let help = "calls have `tags`, `json`, `attributes` or `text`, sections `bullets` or `json`";
            diagnostics.push(bad(payload.at, message, help));
        }
    }
}

/// Checks the names of the fields, and the grammar that the fields are written in.
fn check_field(block: &Block, ground: &DialectContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let tags = block.payload.0.iter().any(|payload| payload.value == Payload::Tags);
    if block.role != Role::Call || !tags {
        for key in block.field.iter().chain(&block.fields) {
            let message = "the block has no fields that are tags";
            diagnostics.push(bad(key.at, message, "only a call with `payload = \"tags\"` has some"));
        }
        return;
    }
    if let Some((name, grammar)) = block.fields.as_ref().and_then(|name| Some((name, ground.grammar(name)?)))
        && let Some(rule) = ["open", "name", "close"].into_iter().find(|rule| grammar.rule(rule).is_none())
    {
        let message = format!("the grammar `{}` has no rule `{rule}`", name.value);
        let help = "what spells fields has `open`, with the `name` of one inside, and `close`";
        diagnostics.push(bad(name.at, message, help));
    }
    if let Some((name, grammar)) = block.fields.as_ref().and_then(|name| Some((name, ground.grammar(name)?))) {
        check_opener(name, grammar, diagnostics);
    }
    let Some(field) = &block.field else { return };
    if block.field_named_by().is_none() {
        let message = format!("`{}` names no field", field.value);
        let help = "say `@TAG.ATTRIBUTE`: of `<parameter name=\"x\">`, `@parameter.name`";
        diagnostics.push(bad(field.at, message, help));
    }
}

/// Checks the wrapper whose attribute is the key.
fn check_wrapper(block: &Block, ground: &DialectContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(key) = &block.key else { return };
    let Some((wrapper, _)) = key.value.strip_prefix('@').and_then(|key| key.split_once('.')) else { return };
    let wrappers = ground.dialect.blocks.iter().filter(|(_, one)| one.value.role == Role::Wrapper);
    let known = wrappers.map(|(name, _)| name.as_str());
    if !known.clone().any(|known| known == wrapper) && (ground.whole || ground.dialect.blocks.contains_key(wrapper)) {
        let message = format!("the dialect has no wrapper `{wrapper}`");
        diagnostics.push(Diagnostic::new(Code::PACK_UNKNOWN_BLOCK, key.at, message).with_nearest(wrapper, known));
    }
}
