//! Native dialect: how are the parts of a structured reply read that have no dialect?
//!
//! In: the names that can be keys in the payloads of calls.
//! Out: a [`Dialect`] without a grammar: its text is the message, and its blocks are native calls and reasoning.
//! Never: is a dialect of the pack: no mode has it, and no outcome names it.

use super::block::{BlockBinding, BlockId, Closer, NameSource};
use super::dialect::{Dialect, DialectId, MaskKinds, TextRole};
use super::names::BlockNames;
use super::params::ParamNames;
use super::prefilter::{Needles, Prefilter};
use super::{DegradationTable, Program};
use crate::surface::{Anchor, Payload, Role, Trim};
use crate::text::{Location, Span};
use std::sync::Arc;

impl BlockId {
    /// A native tool call.
    pub(crate) const CALL: BlockId = BlockId(u16::MAX);
    /// Reasoning that an API returned apart from the text.
    pub(crate) const THINKING: BlockId = BlockId(u16::MAX - 1);

    /// Whether this is a native block, and not a block of a dialect.
    pub(crate) fn is_native(self) -> bool {
        self >= Self::THINKING
    }
}

impl Program {
    /// The declaration of a native block; none for any other block.
    pub(crate) fn native_block(&self, id: BlockId) -> Option<&BlockBinding> {
        self.native.blocks.get(usize::from(u16::MAX - id.0))
    }
}

impl Dialect {
    /// The dialect of the native parts.
    pub(crate) fn native(params: Arc<ParamNames>) -> Self {
        let names = Arc::new(BlockNames::default());
        Dialect {
            id: DialectId(usize::MAX),
            name: String::new(),
            families: Arc::default(),
            outline: None,
            blocks: Arc::new(vec![block("call", Role::Call, &[Payload::Json]), block("thinking", Role::Thinking, &[])]),
            starts: Prefilter::new(&[], &names),
            names,
            structure: None,
            masks: MaskKinds::default(),
            mask_starts: Needles::None,
            wraps: false,
            by_line: false,
            text: TextRole::Message,
            between: Vec::new(),
            needs: Vec::new(),
            params,
            closer_starts: None,
            like: None,
            fallback: None,
            at: nowhere(),
        }
    }

    /// Whether this is the dialect of native parts, which no pack declares.
    pub(crate) fn is_native(&self) -> bool {
        self.id == DialectId(usize::MAX)
    }
}

fn block(name: &str, role: Role, payload: &[Payload]) -> BlockBinding {
    BlockBinding {
        name: name.to_owned(),
        names: Vec::new(),
        role,
        spelled: None,
        layout: None,
        starts: false,
        hidden: true,
        about: None,
        called: NameSource::Own,
        other_names: Vec::new(),
        key: None,
        body: None,
        other_bodies: Vec::new(),
        text: None,
        schema: None,
        required: false,
        payload: payload.to_vec(),
        field: None,
        fields: None,
        literals: false,
        forgives: Vec::new(),
        decode: None,
        holds: Vec::new(),
        anchor: Anchor::Anywhere,
        inside_words: false,
        close: Vec::new(),
        surest: Closer::LAST_TIER,
        ends: Vec::new(),
        trim: vec![Trim::WhiteSpace],
        field_trim: Vec::new(),
        trims_lines: false,
        degradation: DegradationTable::default(),
        at: nowhere(),
    }
}

/// An empty place: no pack declares a native block.
fn nowhere() -> Location {
    Location::response(Span::default())
}
