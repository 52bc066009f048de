//! Dialects: how may a response be written?
//!
//! In: `[dialects.NAME]`, as TOML.
//! Out: [`Dialect`], its [`Block`]s and the closed lists of words in them.
//! Never: knows a grammar, or which keys fit which role.

use super::declare::{table, words};
use super::decode::{Named, OneOrMore};
use super::degradation::Degradation;
use super::tree::Tree;
use crate::text::Spanned;

table! {
    /// One way a response may be written: a grammar and the binding of its blocks.
    Dialect {
        /// Another dialect, from which it differs in its `needs` alone: whatever else belongs to a dialect is taken from there.
        like: Option<Spanned<String>>,
        /// The grammar, or several of them: shipped ones or the pack's own `grammar/NAME.pest`.
        grammar: OneOrMore<Spanned<String>>,
        /// Whether names are compared as they are written (`sensitive`, the default) or in any case.
        case: Option<Case>,
        /// Where openers and closers are plain text.
        masks: Vec<Mask>,
        /// What is taken off when it surrounds the whole answer.
        wrapper: Option<Wrapper>,
        /// What text outside every block is: `stray` (the default), `message`, or `section:NAME`: what comes before the first block.
        text: Option<Spanned<String>>,
        /// What may stand around and between blocks without being text.
        between: Vec<Between>,
        /// Names of blocks, as an answer writes them; `*` stands for any run of bytes. Any one of them claims an answer for this dialect.
        needs: Vec<Spanned<String>>,
        /// The blocks by name; `*` stands for any run of bytes and `?` for one. Other names open no block.
        blocks: Named<Block>,
        /// A default for the blocks: where an opener or closer counts.
        anchor: Option<Anchor>,
        /// A default for the blocks: the names that close them.
        close: Vec<Spanned<String>>,
        /// A default for the blocks: where they may end, in order.
        ends: Vec<Rung>,
        /// A default for the blocks: what is taken off both ends of their bodies.
        trim: Option<Vec<Trim>>,
        /// A default for the blocks: what their text is decoded from.
        decode: Option<Decoding>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

impl Dialect {
    /// The keys of what it says of an answer, beside the needs that claim one.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("grammar", !self.grammar.0.is_empty()),
            ("case", self.case.is_some()),
            ("masks", !self.masks.is_empty()),
            ("wrapper", self.wrapper.is_some()),
            ("text", self.text.is_some()),
            ("between", !self.between.is_empty()),
            ("blocks", !self.blocks.is_empty()),
            ("anchor", self.anchor.is_some()),
            ("close", !self.close.is_empty()),
            ("ends", !self.ends.is_empty()),
            ("trim", self.trim.is_some()),
            ("decode", self.decode.is_some()),
        ];
        keys.into_iter().filter(|(_, stands)| *stands).map(|(key, _)| key)
    }
}

table! {
    /// What one block of a dialect means, and where it ends.
    Block {
        /// What the block is.
        role: Role,
        /// The names that open it, instead of its own; `*` and `?` as in its own.
        names: Vec<Spanned<String>>,
        /// Of a dialect with several grammars, the one that spells it; without it, any does.
        grammar: Option<Spanned<String>>,
        /// How its opener should be written, `@name` being its name; whatever else the grammar reads is understood, with the remark `field-form`.
        spelled: Option<Spanned<String>>,
        /// Whether it opens where the answer starts, with its opener or without it.
        starts: bool,
        /// What belongs in it, in a sentence for prompts.
        about: Option<String>,
        /// What it is called in the outcome: a word, or `@ATTRIBUTE` of its opener. A call's is its action; it may also be
        /// `@payload.MEMBER` of a payload that is JSON, or `@payload[].MEMBER` of one that is a list of calls.
        name: Option<Spanned<String>>,
        /// Of a content: what it is stored under, `@ATTRIBUTE` of its opener, `@WRAPPER.ATTRIBUTE` of the one around it, or a word; where members are blocks, a member.
        key: Option<Spanned<String>>,
        /// Where members are blocks: the member that is the body; of a call that its payload names, the one that holds the parameters;
        /// of one whose payload is `text`, the parameter that this is.
        body: Option<Spanned<String>>,
        /// Where members are blocks: the text that is made of the `value`.
        text: Option<Spanned<String>>,
        /// Where members are blocks: the JSON Schema of the value, for prompts and exports; `required = true` may stand in it.
        schema: Option<Tree>,
        /// Of a call, or of a section with a value: how its payload is read; of several readers the first that can read it.
        payload: OneOrMore<Spanned<Payload>>,
        /// Of a call whose fields are tags: `@TAG.ATTRIBUTE`, the tag that is a field and what in its opener says which, as in
        /// `<parameter name="x">`.
        field: Option<Spanned<String>>,
        /// Of a call whose fields are tags: the grammar that spells these, if it is none of a block.
        fields: Option<Spanned<String>>,
        /// What its text is decoded from.
        decode: Option<Decoding>,
        /// Blocks that are looked for inside it. They are `nested-block` all the same: the degradation says what becomes of them.
        holds: Vec<Spanned<String>>,
        /// Where its opener and closers count.
        anchor: Option<Anchor>,
        /// The names that close it: words, `@name` (its own, the default), `@ATTRIBUTE`, or, where none of those does, names with `*`.
        close: Vec<Spanned<String>>,
        /// Where it may end, in order; a list inside means whichever comes first. Every rung but the first is `unclosed-block`.
        ends: Vec<Rung>,
        /// What is taken off both ends of its body, and of its fields.
        trim: Option<Vec<Trim>>,
        /// What answers defects of this block.
        degradation: Degradation,
    }
}

impl Block {
    /// The tag that is a field of the call, and its attribute that says which, of `@TAG.ATTRIBUTE`.
    pub(crate) fn field_named_by(&self) -> Option<(&str, &str)> {
        let named = self.field.as_ref()?.value.strip_prefix('@')?.rsplit_once('.');
        named.filter(|(tag, attribute)| !tag.is_empty() && !attribute.is_empty())
    }

    /// The names that open it: its `own`, unless it says others.
    pub(crate) fn opening_names<'n>(&'n self, own: &'n str) -> impl Iterator<Item = &'n str> {
        let own = Some(own).filter(|_| self.names.is_empty());
        own.into_iter().chain(self.names.iter().map(|name| name.value.as_str()))
    }

    /// The way in the payload to what the call is called by, of `@payload.WAY`, and of `@payload[].WAY`, where the payload is a
    /// list and each of its entries a call.
    pub(crate) fn named_within(&self) -> Option<(&str, bool)> {
        let within = self.name.as_ref()?.value.strip_prefix("@payload")?;
        let each = within.strip_prefix("[].").map(|way| (way, true));
        each.or_else(|| Some((within.strip_prefix('.')?, false)))
    }
}

words! {
    /// How names are compared.
    Case {
        /// As they are written.
        Sensitive = "sensitive",
        /// In any case (ASCII).
        Insensitive = "insensitive",
    }
}

words! {
    /// Where openers and closers are plain text.
    Mask {
        /// A closed code fence of Markdown.
        CodeFence = "code-fence",
        /// A closed code span of Markdown.
        CodeSpan = "code-span",
        /// A closed comment of XML, `<!-- … -->`.
        Comment = "comment",
        /// A closed CDATA section of XML, `<![CDATA[…]]>`.
        Cdata = "cdata",
    }
}

words! {
    /// What may surround a whole answer.
    Wrapper {
        /// One code fence, from the first line to the last.
        CodeFence = "code-fence",
    }
}

words! {
    /// What may stand around and between blocks without being text.
    Between {
        /// A line of a code fence that is open or closed there.
        Fence = "fence",
        /// A thematic break of Markdown: `***`, `---`.
        Rule = "rule",
        /// A closer that closes nothing.
        Closer = "closer",
    }
}

words! {
    /// What a block means.
    Role {
        /// Text for the user.
        Message = "message",
        /// The model's reasoning; nothing in it counts.
        Thinking = "thinking",
        /// A request for an action.
        Call = "call",
        /// Opaque text under a key.
        Content = "content",
        /// A named part of the reply.
        Section = "section",
        /// What one speaker says.
        Utterance = "utterance",
        /// Tags around other blocks: what stands between them stands outside.
        Wrapper = "wrapper",
    }
}

impl Role {
    /// Whether it is part of an answer: reasoning and wrappers stand before and around one.
    pub(crate) fn is_answer(self) -> bool {
        !matches!(self, Role::Thinking | Role::Wrapper)
    }
}

words! {
    /// How a payload is read.
    Payload {
        /// As what its opener says beside its name: every attribute is a field. Behind it stands what the other readers read.
        Attributes = "attributes",
        /// As fields: every tag in it is one.
        Tags = "tags",
        /// As one JSON object.
        Json = "json",
        /// As its text, under the name `text`.
        Text = "text",
        /// Of a section: as a list of what its bullets say.
        Bullets = "bullets",
    }
}

words! {
    /// What a text is decoded from.
    Decoding {
        /// The five entities of XML and character references, once.
        Entities = "entities",
        /// Lines that look like structure, each with a backslash before it.
        Guarded = "guarded",
        /// The escapes of strings, such as `\n` and `\"`.
        Escapes = "escapes",
    }
}

words! {
    /// Where an opener or closer counts.
    Anchor {
        /// Anywhere.
        Anywhere = "anywhere",
        /// Only where nothing but white space, a fence mark or another closer stands before it on its line; a closer also on
        /// the line of its opener.
        Line = "line",
        /// As `line`, and an opener only behind a blank line or where the answer starts.
        Paragraph = "paragraph",
    }
}

words! {
    /// What is taken off both ends of a body.
    Trim {
        /// All white space.
        WhiteSpace = "white-space",
        /// Lines that hold nothing but white space.
        BlankLines = "blank-lines",
        /// A code fence that opens first and closes last.
        WrappingFence = "wrapping-fence",
        /// A CDATA section around all of it; entities in it stay as they are.
        WrappingCdata = "wrapping-cdata",
        /// The line break behind its opener, and the one before its closer.
        LineBreaks = "line-breaks",
        /// Rules at both ends, and a fence that opens last and belongs to what follows.
        Between = "between",
    }
}

words! {
    /// One place where a block may end.
    Ending {
        /// At its closer.
        Closer = "closer",
        /// At its first closer inside a mask.
        MaskedCloser = "masked-closer",
        /// At its last closer before the next block, wherever that stands on its line.
        LastLooseCloser = "last-loose-closer",
        /// Where the code fence around it or right inside it closes last.
        Fence = "fence",
        /// At the end of its payload.
        Payload = "payload",
        /// Where the next bound block opens.
        NextBlock = "next-block",
        /// At the first blank line after its opener.
        BlankLine = "blank-line",
        /// At the end of the response.
        End = "end",
    }
}

/// One step of a ladder: an ending, or several of which the first to come counts.
pub type Rung = OneOrMore<Spanned<Ending>>;
