//! Dialects, from tables to numbers: which name opens which block, and where does each block end?
//!
//! In: a dialect of the surface, and the pack's grammars.
//! Out: [`Dialect`], with the defaults of the dialect and of the language filled in.
//! Never: fails: the pack's checks have already reported every name that cannot be resolved.

use crate::json;
use crate::pack::Pack;
use crate::program::Prefilter;
use crate::program::names::{Binding, BlockNames};
use crate::program::{
    BlockBinding, BlockId, Closer, CloserStarts, DegradationTable, Dialect, DialectId, Family, FieldName, MaskKinds,
    NameSource, ObjectShape, Schema, Structure, TextRole,
};
use crate::surface::{self, Anchor, BlockLayout, Case, Ending, Mask, Role, Trim};
use crate::text::Spanned;
use std::sync::Arc;

pub(super) fn compile_dialect(own: DialectId, name: &str, dialect: &Spanned<surface::Dialect>, pack: &Pack) -> Dialect {
    let at = dialect.at;
    let dialect = &dialect.value;
    let grammars = || pack.grammars.of(dialect);
    let object = grammars().find(|grammar| ObjectShape::fit(grammar)).cloned();
    // In a dialect whose answer is one object, only the other grammars become families.
    let families = grammars().filter(|grammar| object.is_none() || !ObjectShape::fit(grammar));
    let mut families: Vec<Family> = families.cloned().filter_map(Family::new).collect();
    let spelled = |action: &surface::Action, name: &str| action.names.iter().any(|other| other.value == name);
    let is_action = |name: &str| {
        let actions = &pack.surface.actions;
        actions.contains_key(name) || actions.values().any(|action| spelled(&action.value, name))
    };
    // A fixed name that is not that of an action carries no information: `@name` then means the `name` attribute of the
    // opener.
    let says = object.is_some() || families.is_empty() || families.iter().any(|family| family.attribute.is_some());
    let names_itself = |name: &str, block: &surface::Block| {
        let mut names = block.opening_names(name);
        let only = names.next().filter(|_| names.next().is_none());
        !says || only.is_none_or(|only| only.contains(['*', '?']) || is_action(only))
    };
    let compiled = |(name, block): (&String, &Spanned<surface::Block>)| {
        let fields = block.value.fields.as_ref().and_then(|name| pack.grammars.get(name));
        let fields = fields.cloned().and_then(Family::new).map(Arc::new);
        BlockBinding { fields, ..compile_block(name, block, dialect, names_itself(name, &block.value)) }
    };
    let blocks: Vec<BlockBinding> = dialect.blocks.iter().map(compiled).collect();
    let bound_names = bindings(dialect, object.is_some(), pack);
    for (number, family) in families.iter_mut().enumerate() {
        let own = bound_names.iter().filter(|(_, bound)| bound.family.is_none_or(|family| family == number));
        family.bind(own.filter_map(|(_, bound)| Some((bound.id, blocks.get(usize::from(bound.id.0))?))));
    }
    let insensitive = dialect.case == Some(Case::Insensitive);
    let outline = object.clone().and_then(|grammar| ObjectShape::new(grammar, &blocks, insensitive));
    let family_of =
        |block: BlockId| bound_names.iter().find(|(_, bound)| bound.id == block).and_then(|(_, one)| one.family);
    let families_of: Vec<Option<usize>> = (0..).map(BlockId).take(blocks.len()).map(family_of).collect();
    let closers = blocks.iter().zip(families_of);
    let closers = closers.flat_map(|(block, own)| block.close.iter().map(move |closer| (closer, block.anchor, own)));
    let names = Arc::new(BlockNames::new(insensitive, bound_names.into_iter(), closers));
    let by_line = blocks.iter().all(|block| block.anchor != Anchor::Anywhere) && outline.is_none();
    let starts = Prefilter::new(&families, &names);
    let has = |mask: Mask| dialect.quoted().contains(&mask);
    let masks = MaskKinds {
        fences: has(Mask::CodeFence),
        spans: has(Mask::CodeSpan),
        block_quotes: has(Mask::BlockQuote),
        comments: has(Mask::Comment),
        cdata: has(Mask::Cdata),
        marks: has(Mask::QuotationMarks),
        around: dialect.around.is_some(),
        openers: has(Mask::CodeFence) && families.iter().any(|family| family.opens_fences() || family.holds_fences),
    };
    let mask_starts = masks.starts(&starts);
    let like = dialect.like.as_ref().and_then(|like| pack.surface.dialects.get_index_of(&like.value)).map(DialectId);
    Dialect {
        id: own,
        name: name.to_owned(),
        structure: by_line.then(|| Arc::new(Structure::new(&families, names.clone(), true))),
        by_line: starts.by_line
            || names.any_closes()
            || blocks.iter().any(|block| block.starts || block.anchor != Anchor::Anywhere),
        starts,
        outline: outline.map(Arc::new),
        masks,
        mask_starts,
        closer_starts: CloserStarts::of_all(&families).map(Arc::new),
        families: Arc::new(families),
        wraps: blocks.iter().any(|block| block.role == Role::Wrapper),
        text: outside(dialect.text.as_ref().map(|text| text.value.as_str())),
        between: dialect.between.clone(),
        like: like.filter(|_| !dialect.is_fallback()),
        fallback: like.filter(|_| dialect.is_fallback()),
        needs: dialect.needs.iter().map(|name| names.fold(&name.value).into_owned()).collect(),
        blocks: Arc::new(blocks),
        names,
        params: Arc::default(),
        at,
    }
}

/// Each name that opens a block, with the block and its family. In a dialect of one object, only blocks before the
/// object have a family.
fn bindings<'d>(dialect: &'d surface::Dialect, is_object: bool, pack: &Pack) -> Vec<(&'d str, Binding)> {
    let spells = |name: &&Spanned<String>| {
        !is_object || pack.grammars.get(name).is_some_and(|grammar| !ObjectShape::fit(grammar))
    };
    let mut names = Vec::new();
    for (id, (name, block)) in (0..).map(BlockId).zip(&dialect.blocks) {
        let families = dialect.grammar.0.iter().filter(spells);
        let family = block
            .value
            .grammar
            .as_ref()
            .and_then(|own| families.map(|one| &one.value).position(|one| *one == own.value));
        names.extend(block.value.opening_names(name).map(|name| (name, Binding { id, family })));
    }
    names
}

/// What the text outside every block counts as.
fn outside(word: Option<&str>) -> TextRole {
    match word.map(|word| (word, word.strip_prefix("section:"))) {
        Some(("message", _)) => TextRole::Message,
        Some((_, Some(section))) => TextRole::Section(section.to_owned()),
        _ => TextRole::Stray,
    }
}

/// What closes a block: its own `close`, or else that of the dialect, or else its own name.
fn closers(block: &surface::Block, dialect: &surface::Dialect) -> Vec<Closer> {
    // The `close` of a dialect is for the blocks in a wrapper, and does not close the wrapper itself.
    let inherited: &[Spanned<String>] = if block.role == Role::Wrapper { &[] } else { &dialect.close };
    let close = if block.close.is_empty() { inherited } else { block.close.as_slice() };
    let closer = |word: &Spanned<String>| match (word.value.as_str(), word.value.strip_prefix('@')) {
        ("@name", _) => Closer::Own,
        (_, Some(attribute)) => Closer::Attribute(attribute.to_owned()),
        (word, None) if !word.contains(['*', '?']) => Closer::Word(word.to_owned()),
        (word, None) if dialect.case == Some(Case::Insensitive) => Closer::Pattern(word.to_ascii_lowercase()),
        (word, None) => Closer::Pattern(word.to_owned()),
    };
    if close.is_empty() { vec![Closer::Own] } else { close.iter().map(closer).collect() }
}

/// The tier of closers after which the search for a closer stops.
fn surest(ends: &[Vec<Ending>], close: &[Closer]) -> usize {
    // If a rule that looks at the following text precedes all closers, no closer may stop the search.
    let looks_on = |ending: &Ending| matches!(ending, Ending::Fence | Ending::NextBlock | Ending::End);
    match ends.iter().flatten().find(|ending| **ending == Ending::Closer || looks_on(ending)) {
        Some(first) if looks_on(first) => Closer::LAST_TIER,
        _ => close.iter().map(Closer::tier).min().unwrap_or_default(),
    }
}

/// Compiles a block. If the block `names_itself`, the name in the response counts; otherwise always the declared name.
fn compile_block(
    name: &str,
    block: &Spanned<surface::Block>,
    dialect: &surface::Dialect,
    names_itself: bool,
) -> BlockBinding {
    let at = block.at;
    let block = &block.value;
    let called = |word: &Spanned<String>| match word.value.strip_prefix('@') {
        Some("name") if names_itself => NameSource::Own,
        Some(attribute) => NameSource::Attribute(attribute.to_owned()),
        None => NameSource::Word(word.value.clone()),
    };
    let source = |word: &Spanned<String>| match surface::Block::within(word) {
        Some((pointer, each)) => NameSource::Payload { pointer: pointer.split('.').map(str::to_owned).collect(), each },
        None => called(word),
    };
    let mut names = block.name.0.iter().map(source);
    let mut bodies = block.body.0.iter().map(|body| body.value.trim_start_matches('@').to_owned());
    let id = |name: &Spanned<String>| dialect.blocks.get_index_of(&name.value).map(|index| BlockId(index as u16));
    let close = closers(block, dialect);
    let ends = if block.ends.is_empty() { &dialect.ends } else { &block.ends };
    let ends: Vec<Vec<_>> = ends.iter().map(|rung| rung.0.iter().map(|ending| ending.value).collect()).collect();
    let schema = block.schema.as_ref().map(Schema::of_member);
    let trim = block.trim.clone().or_else(|| dialect.trim.clone()).unwrap_or_else(|| vec![Trim::WhiteSpace]);
    let layout = block.spelled.as_ref().and_then(|spelled| BlockLayout::of(&spelled.value));
    BlockBinding {
        name: name.to_owned(),
        names: block.opening_names(name).map(str::to_owned).collect(),
        role: block.role,
        spelled: block.spelled.as_ref().map(|spelled| spelled.value.clone()).filter(|_| layout.is_none()),
        layout,
        starts: block.starts,
        hidden: block.hidden,
        about: block.about.clone(),
        called: names.next().unwrap_or(NameSource::Own),
        other_names: names.collect(),
        key: block.key.as_ref().map(|key| match key.value.strip_prefix('@').and_then(|word| word.split_once('.')) {
            // Where members are the blocks, the key is a member, too.
            _ if block.body().is_some() => NameSource::Attribute(key.value.trim_start_matches('@').to_owned()),
            Some((wrapper, attribute)) => NameSource::Around(wrapper.to_owned(), attribute.to_owned()),
            None => called(key),
        }),
        body: bodies.next(),
        other_bodies: bodies.collect(),
        text: None,
        required: schema.as_ref().is_some_and(|(_, required)| *required),
        schema: schema.map(|(schema, _)| schema),
        payload: block.payload.0.iter().map(|reader| reader.value).collect(),
        field: block
            .field_named_by()
            .map(|(tag, attribute)| FieldName { tag: tag.into(), attribute: attribute.into() }),
        fields: None,
        literals: block.values == Some(surface::Values::Json),
        forgives: block.forgives.iter().filter_map(|fault| json::worded(&fault.value)).collect(),
        decode: block.decode.or(dialect.decode),
        holds: block.holds.iter().filter_map(id).collect(),
        anchor: block.anchor.or(dialect.anchor).unwrap_or(Anchor::Anywhere),
        inside_words: block.anchor.or(dialect.anchor) == Some(Anchor::Anywhere),
        surest: surest(&ends, &close),
        close,
        ends,
        trims_lines: block.trim.is_none() && dialect.trim.is_none(),
        field_trim: trim
            .iter()
            .filter(|trim| !matches!(trim, Trim::WrappingFence | Trim::EnclosingTag | Trim::Between))
            .copied()
            .collect(),
        trim,
        degradation: DegradationTable::new(&block.degradation),
        at,
    }
}
