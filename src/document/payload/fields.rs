//! Fields: which tags of a payload pair up to fields?
//!
//! In: a text, and the grammar of its tags; any name is allowed here.
//! Out: its tags in pairs; for a body, the outermost fields in order, openers that are never closed, unmatched closers,
//! and the text between fields.
//! Never: looks into a field, because only a schema knows whether text or fields are expected there; or finds a field
//! inside a JSON string.
//!
//! An opener belongs to the closer that balances it among the tags of the same name, so a field may contain a field of
//! the same name, and stray tags of other names. One pass pairs all of them, however many are never closed.

use super::PayloadSource;
use crate::document::mark::{most_captures, opener};
use crate::document::quoted::tag_marks;
use crate::document::strings::{NextString, Strings};
use crate::document::trim::{by_lines, trimmed, verbatim};
use crate::document::{Attribute, AttributeKey, Attributes, Mask, Quotes};
use crate::grammar::{First, Machine, RuleId};
use crate::program::{BlockBinding, Dialect, Family, FieldName, Limits, Types, tag_family};
use crate::surface::Trim;
use crate::text::{Slice, Span, Stretch};
use smallvec::SmallVec;
use std::num::NonZeroU32;

/// Most bodies have at most this many fields.
const FEW_FIELDS: usize = 4;

/// The outermost fields of a body.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) list: SmallVec<[Field; FEW_FIELDS]>,
    /// Openers that are never closed. In a call, these start fields, too, which end at the next field.
    pub(crate) unclosed: Vec<Span>,
    /// Whether the last of them ends only at the end of the body.
    pub(crate) open_ended: bool,
    /// Closers that close no field.
    pub(crate) stray: Vec<Span>,
    /// The faults in openers that the grammar names, by the names of the rules.
    pub(crate) faults: Vec<(String, Span)>,
    /// Closers that are text, because a later closer of the same name ends the field around them.
    pub(crate) quoting: Vec<Span>,
    /// Text before, between and after the fields; empty if an opener is never closed, because the text may belong to
    /// that field.
    pub(crate) between: Vec<Span>,
    /// Tags of fields with parts besides the name, which are ignored.
    pub(crate) verbose: Vec<Span>,
    /// Whether there were more fields than the limits allow, which are left out.
    pub(crate) too_many: bool,
}

impl Fields {
    /// Whether the body contains fields, and nothing else.
    pub(crate) fn is_only_fields(&self) -> bool {
        !self.list.is_empty() && self.between.is_empty() && self.unclosed.is_empty() && self.stray.is_empty()
    }
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: Span,
    /// The whole field.
    pub(crate) span: Span,
    /// The span between its tags, after trimming.
    pub(crate) body: Span,
    pub(crate) form: ValueForm,
}

/// How the opener of a field declares its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ValueForm {
    /// Not at all: the schema decides.
    #[default]
    Typed,
    /// As a JSON literal.
    Json,
    /// As a text.
    Text,
}

/// A tag of any name.
#[derive(Debug)]
pub(crate) struct Tag {
    span: Stretch,
    name: Stretch,
    /// The index of the closer of an opener. It is never 0, because a closer is not the first tag.
    closer: Option<NonZeroU32>,
    kind: TagKind,
}

impl Tag {
    fn new(span: Span, name: Span, kind: TagKind) -> Self {
        Self { span: span.into(), name: name.into(), closer: None, kind }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.span()
    }

    pub(crate) fn name(&self) -> Span {
        self.name.span()
    }

    /// The index of the closer.
    pub(crate) fn closer(&self) -> Option<usize> {
        self.closer.map(|closer| closer.get() as usize)
    }

    /// Whether the tag is an opener that is never closed.
    pub(crate) fn is_left_open(&self) -> bool {
        self.kind == TagKind::Open && self.closer.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Open,
    Empty,
    Close,
}

/// The tags of one text in order: usually two for each of its fields.
pub(crate) type Tags = SmallVec<[Tag; 2 * FEW_FIELDS]>;

/// The most tags of one text that are examined.
pub(crate) const MAX_TAGS: usize = 20_000;

/// How the fields of a call are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSyntax<'b> {
    /// The family of its block.
    pub(crate) family: usize,
    /// The grammar of the fields, if their block names one.
    pub(crate) fields: Option<&'b Family>,
    /// The tag whose attribute is the name of a field, if there is one.
    pub(crate) named: Option<&'b FieldName>,
    /// What is trimmed from both ends of each field.
    pub(crate) trim: &'b [Trim],
    /// Whether the pack declares no trim: then texts of several lines lose only the blank lines around them.
    pub(crate) by_lines: bool,
    /// Whether a value that no schema describes counts as a JSON literal if it is one.
    pub(crate) literals: bool,
}

impl<'b> FieldSyntax<'b> {
    /// How the fields of a call are written, if the call's opener is of this family.
    pub(crate) fn of(family: usize, block: &'b BlockBinding) -> Self {
        Self {
            family,
            fields: block.fields.as_deref(),
            named: block.field.as_ref(),
            trim: &block.field_trim,
            by_lines: block.trims_lines,
            literals: block.literals,
        }
    }
}

impl PayloadSource<'_> {
    /// The outermost fields inside a field. A field inside it that is never closed has no value.
    pub(crate) fn fields_in(&self, body: Span) -> Fields {
        self.fields(body, None)
    }

    /// The outermost fields of a call's body. A field that is never closed ends at the next declared one.
    pub(crate) fn fields_of(&self, body: Span) -> Fields {
        let blank = |span: Span| span.of(self.text).len();
        let before = Span::new(self.within.start, body.start.max(self.within.start));
        let behind = Span::new(body.end, body.end.max(self.within.end));
        let start = body.start - (blank(before) - before.of(self.text).trim_end().len());
        let end = body.end + (blank(behind) - behind.of(self.text).trim_start().len());
        self.fields(Span::new(start, end), Some(self.declared))
    }

    fn fields(&self, body: Span, declared: Option<&Types>) -> Fields {
        let PayloadSource { text, masks, dialect, limits, spelled: FieldSyntax { family, fields: own, .. }, .. } =
            *self;
        let mut fields = Fields::default();
        let Some(family) = own.or_else(|| field_family(dialect, family)) else { return fields };
        let source = TagSource { text, body, masks, dialect, family, limits };
        let tags = source.tags(&source.strings());
        fields.too_many = tags.len() >= MAX_TAGS;
        let mut next = 0;
        let mut at = body.start;
        let mut between = |fields: &mut Fields, until: Span| {
            let gap = Span::new(at, until.start).trimmed(text);
            at = until.end;
            if !gap.is_empty() {
                fields.between.push(gap);
            }
        };
        while let Some(tag) = tags.get(next) {
            next += 1;
            if matches!(tag.kind, TagKind::Close | TagKind::Empty) {
                between(&mut fields, tag.span());
            }
            let last = self.last_of_verbatim(&tags, next - 1, &source, declared);
            match (tag.kind, last.or(tag.closer()).and_then(|closer| Some((closer, tags.get(closer)?)))) {
                // A line break that may close a field closes none on an empty line.
                (TagKind::Close, _) if tag.span().of(text).trim().is_empty() => {}
                (TagKind::Close, _) => fields.stray.push(tag.span()),
                (TagKind::Empty, _) => {
                    let end = Span::new(tag.span().end, tag.span().end);
                    let name = self.field_name(&source, tag, &mut fields);
                    let form = self.form(&source, tag);
                    fields.list.push(Field { name, span: tag.span(), body: end, form });
                }
                (TagKind::Open, None) => {
                    fields.unclosed.push(tag.span());
                    let Some(declared) = declared else { continue };
                    // Pairs of other tags in its text belong to it.
                    let ends = |other: &Tag| other.kind == TagKind::Close || self.is_declared(&source, other, declared);
                    while let Some(inner) = tags.get(next).filter(|other| !ends(other)) {
                        next = inner.closer().unwrap_or(next) + 1;
                    }
                    let end = tags.get(next).map_or(body.end, |other| other.span().start);
                    let whole = Span::new(tag.span().start, end);
                    between(&mut fields, whole);
                    fields.open_ended = end == body.end;
                    let name = self.field_name(&source, tag, &mut fields);
                    let body = self.body(Span::new(tag.span().end, end), name, declared);
                    let form = self.form(&source, tag);
                    fields.list.push(Field { name, span: whole, body, form });
                }
                (TagKind::Open, Some((closer, end))) => {
                    let further = || self.last_own_closer(&tags, closer, &source, declared);
                    let (closer, end) = match Some(()).filter(|()| last.is_none()).and_then(|()| further()) {
                        Some((last, further)) => {
                            fields.quoting.push(end.span());
                            (last, further)
                        }
                        None => (closer, end),
                    };
                    between(&mut fields, tag.span().to(end.span()));
                    let name = self.field_name(&source, tag, &mut fields);
                    let inner = Span::new(tag.span().end, end.span().start);
                    let body = self.body(inner, name, declared.unwrap_or(Types::unknown()));
                    let form = self.form(&source, tag);
                    fields.list.push(Field { name, span: tag.span().to(end.span()), body, form });
                    next = closer + 1;
                }
            }
            if fields.list.len() + fields.unclosed.len() + fields.stray.len() > limits.fields {
                fields.too_many = true;
                return fields;
            }
        }
        between(&mut fields, Span::new(body.end, body.end));
        if !fields.unclosed.is_empty() {
            fields.between.clear();
        }
        fields
    }

    /// The value of a field, from the text between its tags.
    fn body(&self, inner: Span, name: Span, declared: &Types) -> Span {
        match self.declared_as(name, declared) {
            Some(types) if types.verbatim => verbatim(inner, self.text),
            _ if self.spelled.by_lines => by_lines(inner, self.text),
            _ => trimmed(inner, self.text, self.spelled.trim),
        }
    }

    fn declared_as<'d>(&self, name: Span, declared: &'d Types) -> Option<&'d Types> {
        declared.called(name.of(self.text), &self.dialect.names).map(|(_, types)| types)
    }

    /// How the opener of a field declares its value.
    fn form(&self, source: &TagSource<'_>, tag: &Tag) -> ValueForm {
        let TagSource { family, .. } = *source;
        if family.json.is_none() && family.text.is_none() {
            return ValueForm::Typed;
        }
        let says = |one: &Attribute| match one.key {
            AttributeKey::Rule(rule) if Some(rule) == family.json => Some(ValueForm::Json),
            AttributeKey::Rule(rule) if Some(rule) == family.text => Some(ValueForm::Text),
            _ => None,
        };
        source.attributes(tag).iter().find_map(says).unwrap_or_default()
    }

    /// The index of the last closer of a verbatim field before the next field; `None` if the tag does not open a
    /// verbatim field. Tags inside such a field are text.
    fn last_of_verbatim(
        &self,
        tags: &Tags,
        opener: usize,
        source: &TagSource<'_>,
        declared: Option<&Types>,
    ) -> Option<usize> {
        let declared = declared.filter(|declared| declared.members().any(|(_, types)| types.verbatim))?;
        let tag = tags.get(opener).filter(|tag| tag.kind == TagKind::Open)?;
        // The faults of the tag are noted when the field is read.
        let name = self.field_name(source, tag, &mut Fields::default());
        self.declared_as(name, declared).filter(|types| types.verbatim)?;
        let own = tag.name().of(source.text);
        let mut last = None;
        for (number, tag) in tags.iter().enumerate().skip(opener + 1) {
            match tag.kind {
                TagKind::Close if self.dialect.names.same(tag.name().of(source.text), own) => last = Some(number),
                TagKind::Open | TagKind::Empty if last.is_some() && self.is_declared(source, tag, declared) => break,
                _ => {}
            }
        }
        last
    }

    /// The last further closer of a field before the next field: if there is one, the text after the first closer
    /// belongs to the field. A closer that is only written twice does not count as a further one.
    fn last_own_closer<'s>(
        &self,
        tags: &'s Tags,
        first: usize,
        source: &TagSource<'_>,
        declared: Option<&Types>,
    ) -> Option<(usize, &'s Tag)> {
        let TagSource { text, dialect, .. } = *source;
        let declared = declared?;
        let own = tags.get(first)?;
        let name = own.name().of(text);
        let (mut last, mut next) = (None, first + 1);
        let mut end = own.span().end;
        while let Some(tag) = tags.get(next) {
            match (tag.kind, tag.closer()) {
                (TagKind::Close, _) if dialect.names.same(tag.name().of(text), name) => {
                    if !Span::new(end, tag.span().start).of(text).trim().is_empty() {
                        last = Some((next, tag));
                    }
                    end = tag.span().end;
                }
                (TagKind::Close, _) => {}
                (TagKind::Open | TagKind::Empty, _) if self.is_declared(source, tag, declared) => break,
                (_, Some(closer)) => next = closer,
                (_, None) => {}
            }
            next += 1;
        }
        last
    }

    /// Whether a tag opens a field that the action declares, or any field of an action that declares none.
    fn is_declared(&self, source: &TagSource<'_>, tag: &Tag, declared: &Types) -> bool {
        let TagSource { text, dialect, .. } = *source;
        let is_named = |named: &FieldName| dialect.names.same(&named.tag, tag.name().of(text));
        declared.members().next().is_none()
            || self.spelled.named.is_some_and(is_named)
            || declared.called(tag.name().of(text), &dialect.names).is_some()
    }

    /// The name of the field that `tag` opens: the name of the tag, or an attribute. Notes the faults of a tag, and
    /// whether its attributes are ignored.
    fn field_name(&self, source: &TagSource<'_>, tag: &Tag, fields: &mut Fields) -> Span {
        let TagSource { text, dialect, family, .. } = *source;
        if !family.faults.is_empty() {
            let given = source.attributes(tag);
            let fault = |one: &Attribute| match one.key {
                AttributeKey::Rule(rule) if family.faults.contains(&rule) => Some((rule, one.value.span())),
                _ => None,
            };
            let named =
                given.iter().filter_map(fault).map(|(rule, at)| (family.grammar.rule_name(rule).to_owned(), at));
            fields.faults.extend(named);
        }
        let verbose = &mut fields.verbose;
        match self.spelled.named {
            Some(named) if dialect.names.same(&named.tag, tag.name().of(text)) => {
                let key = |key: AttributeKey| match key {
                    AttributeKey::Typed(key) => key.span().of(text),
                    AttributeKey::Rule(rule) => family.grammar.rule_name(rule),
                    AttributeKey::Payload => "",
                };
                let given = source.attributes(tag);
                let names = |one: &&Attribute| dialect.names.same(key(one.key), &named.attribute);
                if given.iter().any(|one| matches!(one.key, AttributeKey::Typed(_)) && !names(&one)) {
                    verbose.push(tag.span());
                }
                given
                    .iter()
                    .find(names)
                    .map(|given| given.value.span().trimmed(text))
                    .filter(|given| !given.is_empty())
                    .unwrap_or(tag.name())
            }
            _ => {
                let typed = |one: &Attribute| matches!(one.key, AttributeKey::Typed(_));
                let may_have = family.attribute.is_some() && tag.span().end > tag.name().end + 1;
                if may_have && source.attributes(tag).iter().any(typed) {
                    verbose.push(tag.span());
                }
                tag.name()
            }
        }
    }
}

/// A part of a response in which tags are read, and how they are written.
#[derive(Clone, Copy)]
pub(crate) struct TagSource<'t> {
    pub(crate) text: &'t str,
    pub(crate) body: Span,
    pub(crate) masks: &'t [Mask],
    pub(crate) dialect: &'t Dialect,
    pub(crate) family: &'t Family,
    pub(crate) limits: &'t Limits,
}

impl TagSource<'_> {
    /// The tags that do not start in the `data`, in order, at most [`MAX_TAGS`], each opener paired with the closer
    /// that balances it.
    pub(crate) fn tags(&self, data: &[Span]) -> Tags {
        let mut tags = self.read(data);
        pair(self.text, &mut tags, self.dialect);
        tags
    }

    /// The JSON strings in a body, in order: tags in them are not fields. If JSON can no longer be recognised after
    /// some offset, all text after it may be quoted.
    fn strings(&self) -> Vec<Span> {
        let TagSource { text, body, family, .. } = *self;
        let within = text.slice(..body.end);
        let mut strings = Strings::new(body.start);
        let mut found = Vec::new();
        loop {
            match strings.next(body.end, within, tag_marks(family), true) {
                NextString::String(string) => found.push(string),
                NextString::Torn(at) => {
                    found.push(Span::new(at, body.end));
                    return found;
                }
                NextString::Clear | NextString::Over | NextString::Waits => return found,
            }
        }
    }

    /// The attributes in the opener of a tag.
    fn attributes(&self, tag: &Tag) -> Attributes {
        let TagSource { text, dialect, family, limits, .. } = *self;
        let within = text.slice(..tag.span().end);
        let mut machine = Machine::new().capturing(most_captures(dialect, limits));
        let mut steps = limits.steps(tag.span().len());
        machine.match_at(&family.grammar, family.open, within, tag.span().start, &mut steps);
        opener(family, machine.captures()).attributes
    }

    /// All tags that do not start in the `data`, in order and unpaired.
    fn read(&self, data: &[Span]) -> Tags {
        let TagSource { text, body, masks, dialect, family, limits, .. } = *self;
        let mut machine = Machine::new().capturing(most_captures(dialect, limits));
        let mut steps = limits.steps(body.len());
        let within = text.slice(..body.end);
        let openers = family.grammar.first(family.open);
        let closers = family.close.map(|close| family.grammar.first(close));
        let first_byte = openers
            .only_first_byte()
            .filter(|first_byte| closers.is_none_or(|closers| closers.only_first_byte() == Some(*first_byte)));
        let starts = |byte: &u8| {
            let may = |first: &First| first.bytes.get(usize::from(*byte)).is_some_and(|may| *may);
            may(openers) || closers.is_some_and(may)
        };
        let next = |rest: &[u8]| match first_byte {
            Some(first_byte) => memchr::memchr(first_byte, rest),
            None => rest.iter().position(starts),
        };
        // If a fence is the opener of the call, the whole body is inside it. And the lines of a block quote are part of a
        // value, in which tags are paired.
        let shows_tags = |mask: &Mask| match mask.by {
            Quotes::Line => true,
            Quotes::Opener => mask.span().start <= body.start && body.end <= mask.span().end,
            Quotes::Fence | Quotes::Span | Quotes::Section | Quotes::Marks => false,
        };
        let mut mask = masks.partition_point(|mask| mask.span().end <= body.start);
        let mut data = data.iter().peekable();
        let mut tags = Tags::new();
        let mut at = body.start;
        while let Some(offset) = within.as_bytes().get(at..).and_then(next) {
            let start = at + offset;
            at = start + 1;
            if !within.is_char_boundary(start) {
                continue;
            }
            while masks.get(mask).is_some_and(|mask| mask.span().end <= start) {
                mask += 1;
            }
            let quotes = masks.get(mask).filter(|mask| mask.span().contains(start) && !shows_tags(mask));
            if let Some(mask) = quotes.map(|mask| mask.span()) {
                at = mask.end;
                continue;
            }
            while data.next_if(|data| data.end <= start).is_some() {}
            if let Some(data) = data.peek().filter(|data| data.contains(start)) {
                at = data.end;
                continue;
            }
            let mut run = |rule: RuleId| {
                let rules = (rule, family.name);
                let (span, name) = machine.match_named(&family.grammar, rules, within, start, &mut steps)?;
                let empty = machine.captures().iter().any(|capture| Some(capture.rule()) == family.empty);
                Some((span, name, empty))
            };
            let may_open = within.as_bytes().get(start..).is_some_and(|bytes| family.may_open(bytes) != Some(false));
            let tag = match Some(family.open).filter(|_| may_open).and_then(&mut run) {
                Some((span, Some(name), empty)) => {
                    Some(Tag::new(span, name, if empty { TagKind::Empty } else { TagKind::Open }))
                }
                _ => family.close.and_then(run).map(|(span, name, _)| {
                    Tag::new(span, name.unwrap_or(Span::new(span.start, span.start)), TagKind::Close)
                }),
            };
            if let Some(tag) = tag {
                at = tag.span().end;
                tags.push(tag);
                if tags.len() >= MAX_TAGS {
                    break;
                }
            }
        }
        tags
    }
}

/// Merges two lists of tags, in order; each tag stays paired as it was.
pub(crate) fn merged(one: Tags, other: Tags) -> Tags {
    // Of two tags at the same offset, the one of the first list comes first.
    let moved = |list: &Tags, beside: &Tags, behind: usize| -> Vec<Option<NonZeroU32>> {
        let closer = |tag: &Tag| {
            let closer = tag.closer?;
            let place = list.get(closer.get() as usize)?.span().start + behind;
            closer.checked_add(beside.partition_point(|tag| tag.span().start < place) as u32)
        };
        list.iter().map(closer).collect()
    };
    let closers = moved(&one, &other, 0).into_iter().chain(moved(&other, &one, 1));
    let both = one.into_iter().chain(other).zip(closers);
    let mut tags: Tags = both.map(|(tag, closer)| Tag { closer, ..tag }).collect();
    tags.sort_by_key(|tag| tag.span().start);
    tags
}

/// The family that defines how the fields of a family are written: its own if its grammar has closers, otherwise the
/// shipped one for tags.
pub(crate) fn field_family(dialect: &Dialect, family: usize) -> Option<&Family> {
    let own = dialect.families.get(family).filter(|family| family.close.is_some());
    #[expect(clippy::redundant_closure, reason = "the shipped family lives longer than the dialect's own")]
    own.or_else(|| tag_family())
}

/// Up to this many tags are paired by searching backwards.
const FEW_TAGS: usize = 32;

/// Pairs each opener with the closer that balances it among the tags of the same name; a closer without a name closes
/// the last opener.
fn pair(text: &str, tags: &mut [Tag], dialect: &Dialect) {
    if tags.len() <= FEW_TAGS || tags.iter().any(|tag| tag.kind == TagKind::Close && tag.name().is_empty()) {
        pair_backwards(text, tags, dialect);
    } else {
        pair_by_name(text, tags, dialect);
    }
}

/// Searches backwards from each closer among the last openers that are still open.
fn pair_backwards(text: &str, tags: &mut [Tag], dialect: &Dialect) {
    let mut open: SmallVec<[u32; FEW_TAGS]> = SmallVec::new();
    for number in 0..tags.len() as u32 {
        let Some(tag) = tags.get(number as usize) else { continue };
        match tag.kind {
            TagKind::Open => open.push(number),
            TagKind::Close => {
                let name = tag.name().of(text);
                let opener = |opener: u32| tags.get(opener as usize).map_or("", |opener| opener.name().of(text));
                let closes = |one: &u32| name.is_empty() || dialect.names.same(opener(*one), name);
                let Some(back) = open.iter().rev().take(FEW_TAGS).position(closes) else { continue };
                let opener = open.remove(open.len() - 1 - back);
                if let Some(opener) = tags.get_mut(opener as usize) {
                    opener.closer = NonZeroU32::new(number);
                }
            }
            TagKind::Empty => {}
        }
    }
}

/// Pairs the tags of each name separately.
fn pair_by_name(text: &str, tags: &mut [Tag], dialect: &Dialect) {
    let name = |tag: u32| tags.get(tag as usize).map_or("", |tag| tag.name().of(text));
    let mut by_name: Vec<u32> = (0..tags.len() as u32).collect();
    by_name.sort_by(|one, other| dialect.names.order(name(*one), name(*other)));
    let mut open: Vec<u32> = Vec::new();
    let mut closers: Vec<(u32, u32)> = Vec::new();
    for alike in by_name.chunk_by(|one, other| dialect.names.same(name(*one), name(*other))) {
        open.clear();
        for number in alike {
            match tags.get(*number as usize).map(|tag| tag.kind) {
                Some(TagKind::Open) => open.push(*number),
                Some(TagKind::Close) => closers.extend(open.pop().map(|opener| (opener, *number))),
                Some(TagKind::Empty) | None => {}
            }
        }
    }
    for (opener, closer) in closers {
        if let Some(opener) = tags.get_mut(opener as usize) {
            opener.closer = NonZeroU32::new(closer);
        }
    }
}
