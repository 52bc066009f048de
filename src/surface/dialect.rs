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
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

table! {
    /// One way to write a response: a grammar, and what its blocks mean.
    Dialect {
        /// Another dialect from which this one differs only in its `needs`, or in what is `quoted` if it is a
        /// `fallback`; everything else is taken from there.
        like: Option<Spanned<String>>,
        /// Dialects whose blocks this one has, too, each with its grammar; a block of the same name here takes precedence.
        include: Vec<Spanned<String>>,
        /// Whether it reads only an answer in which no other dialect of the mode finds a block: it is `like` one of
        /// them, and less is `quoted` in it.
        fallback: Option<Spanned<bool>>,
        /// The grammar, or a list of grammars: shipped ones, or the pack's own `grammar/NAME.pest`.
        grammar: OneOrMore<Spanned<String>>,
        /// Whether names are compared exactly (`sensitive`, the default) or in any case.
        case: Option<Case>,
        /// Where openers and closers are plain text; by default in code fences and code spans.
        quoted: Option<Spanned<Vec<Mask>>>,
        /// What is removed if it surrounds the whole answer.
        wrapper: Option<Wrapper>,
        /// What text outside every block is: `stray` (the default), `message`, or `section:NAME` for the text before
        /// the first block.
        text: Option<Spanned<String>>,
        /// What may be around and between blocks without counting as text.
        between: Vec<Between>,
        /// Names of blocks, as an answer writes them; `*` matches any bytes. An answer with any of them is read in this
        /// dialect, unless it is a fallback: that reads an answer only with any of them.
        needs: Vec<Spanned<String>>,
        /// The blocks by name; `*` matches any number of bytes and `?` one. Other names open no block.
        blocks: Named<Block>,
        /// Default for the blocks: where an opener or closer counts.
        anchor: Option<Anchor>,
        /// Default for the blocks: the names that close them.
        close: Vec<Spanned<String>>,
        /// Default for the blocks: where they may end, in order.
        ends: Vec<Rung>,
        /// Default for the blocks: what is removed from both ends of their bodies.
        trim: Option<Vec<Trim>>,
        /// Default for the blocks: what their text is decoded from.
        decode: Option<Decoding>,
        /// Whether it replaces the dialect of the same name in a used pack.
        replace: bool,
    }
}

impl Dialect {
    /// What is quoted if the pack does not say: what is only shown is never carried out.
    const QUOTED: &'static [Mask] = &[Mask::CodeFence, Mask::CodeSpan];

    /// What is quoted.
    pub(crate) fn quoted(&self) -> &[Mask] {
        self.quoted.as_ref().map_or(Self::QUOTED, |quoted| &quoted.value)
    }

    /// Whether it reads only what no other dialect of a mode can.
    pub(crate) fn is_fallback(&self) -> bool {
        self.fallback.as_ref().is_some_and(|fallback| fallback.value)
    }

    /// The keys that are set and say how an answer is read, which excludes `needs`.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("include", !self.include.is_empty()),
            ("grammar", !self.grammar.0.is_empty()),
            ("case", self.case.is_some()),
            ("quoted", self.quoted.is_some()),
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
        keys.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key)
    }
}

table! {
    /// The meaning of one block of a dialect, and where it ends.
    Block {
        /// What the block means.
        role: Role,
        /// The names that open it, instead of its own; `*` and `?` as in its name.
        names: Vec<Spanned<String>>,
        /// If the dialect has several grammars: the one that spells the block; any of them by default.
        grammar: Option<Spanned<String>>,
        /// How its opener should be written, with `@name` for its name; any other spelling that the grammar reads gets
        /// the remark `field-form`. With `@body`, `@lines`, `@index` or `@ATTRIBUTE`, how prompts write the whole block; of
        /// a wrapper, how they write calls in it.
        spelled: Option<Spanned<String>>,
        /// Whether it opens at the start of the answer, with or without its opener.
        starts: bool,
        /// Whether prompts keep it to themselves: it is understood, and not asked for.
        hidden: bool,
        /// What belongs in it, in a sentence for prompts.
        about: Option<String>,
        /// Its name in the outcome: a word, or `@ATTRIBUTE` of its opener. For a call, this is the action; it may also
        /// be `@payload.MEMBER` of a JSON payload, or `@payload[].MEMBER` if the payload is a list of calls. Of several
        /// sources, the first that is there counts.
        name: OneOrMore<Spanned<String>>,
        /// For a content: the key to store it under: `@ATTRIBUTE` of its opener, `@WRAPPER.ATTRIBUTE` of the opener
        /// around it, or a word; if blocks are members of an object, the name of a member.
        key: Option<Spanned<String>>,
        /// If blocks are members of an object: the member that is the body. For a call named by its payload: the member
        /// with the parameters. For a call whose payload is `text`: the parameter that the text is. Of several members,
        /// the first that is there.
        body: OneOrMore<Spanned<String>>,
        /// If blocks are members of an object: a template that makes the text from the `value`.
        text: Option<Spanned<String>>,
        /// If blocks are members of an object: the JSON Schema of the value, for prompts and exports; `required = true`
        /// may be added.
        schema: Option<Tree>,
        /// For a call, or a section with a value: how its payload is read. Of several readers, the first that can read
        /// it does.
        payload: OneOrMore<Spanned<Payload>>,
        /// For a call whose fields are tags: `@TAG.ATTRIBUTE`, the tag of a field and the attribute with its name, as
        /// in `<parameter name="x">`.
        field: Option<Spanned<String>>,
        /// For a call whose fields are tags: the grammar of the fields, if it is not that of the block.
        fields: Option<Spanned<String>>,
        /// For a call: what a value without a schema is; with `json`, `null` counts wherever the schema allows it.
        values: Option<Values>,
        /// For a call whose payload is JSON: the faults that are only remarks, such as `trailing-comma`, in its parameters
        /// and in what is around them. Every reading of a text with such a fault must give the same value.
        forgives: Vec<Spanned<String>>,
        /// What its text is decoded from.
        decode: Option<Decoding>,
        /// Blocks to look for inside it. They still count as `nested-block`: the degradation table says what becomes of
        /// them.
        holds: Vec<Spanned<String>>,
        /// Where its opener and closers count.
        anchor: Option<Anchor>,
        /// The names that close it: words, `@name` (its own name, the default), `@ATTRIBUTE`, or names with `*`, which
        /// are tried last.
        close: Vec<Spanned<String>>,
        /// Where it may end, in order; in a list inside the list, whichever comes first. Any ending but the first is an
        /// `unclosed-block`.
        ends: Vec<Rung>,
        /// What is removed from both ends of its body and of its fields.
        trim: Option<Vec<Trim>>,
        /// The strategies for defects of this block.
        degradation: Degradation,
    }
}

/// The name of a block that is the whole object.
pub(crate) const WHOLE: &str = ".";
/// The name of a block that is each entry of a list of objects, which is the whole answer.
pub(crate) const ENTRIES: &str = "[]";

impl Block {
    /// The first `name`, which forms for a model are written with. Only a source can be one of several.
    pub(crate) fn name(&self) -> Option<&Spanned<String>> {
        self.name.0.first()
    }

    /// The first `body`, which forms for a model are written with.
    pub(crate) fn body(&self) -> Option<&Spanned<String>> {
        self.body.0.first()
    }

    /// The tag and the attribute in the `field` of the block.
    pub(crate) fn field_named_by(&self) -> Option<(&str, &str)> {
        let named = self.field.as_ref()?.value.strip_prefix('@')?.rsplit_once('.');
        named.filter(|(tag, attribute)| !tag.is_empty() && !attribute.is_empty())
    }

    /// The names that open it: its `own` name, unless it declares others.
    pub(crate) fn opening_names<'n>(&'n self, own: &'n str) -> impl Iterator<Item = &'n str> {
        let own = Some(own).filter(|_| self.names.is_empty());
        own.into_iter().chain(self.names.iter().map(|name| name.value.as_str()))
    }

    /// Of a name `@payload.WAY`, the path to it; of `@payload[].WAY`, the path in each entry of a payload that is a list of
    /// calls. The flag is true for the list.
    pub(crate) fn within(name: &Spanned<String>) -> Option<(&str, bool)> {
        let within = name.value.strip_prefix("@payload")?;
        let each = within.strip_prefix("[].").map(|pointer| (pointer, true));
        each.or_else(|| Some((within.strip_prefix('.')?, false)))
    }
}

words! {
    /// How names are compared.
    Case {
        /// Exactly as written.
        Sensitive = "sensitive",
        /// Ignoring case (ASCII letters only).
        Insensitive = "insensitive",
    }
}

words! {
    /// Where openers and closers are plain text.
    Mask {
        /// In a closed code fence of Markdown.
        CodeFence = "code-fence",
        /// In a closed code span of Markdown.
        CodeSpan = "code-span",
        /// In a closed comment of XML, `<!-- … -->`.
        Comment = "comment",
        /// In a closed CDATA section of XML, `<![CDATA[…]]>`.
        Cdata = "cdata",
        /// Around a whole block: a quotation mark directly before its opener, and its partner directly behind its end, in
        /// one paragraph.
        QuotationMarks = "quotation-marks",
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
    /// What may be around and between blocks without counting as text.
    Between {
        /// The opening or closing line of a code fence.
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
        /// The model's reasoning; nothing in it has an effect.
        Thinking = "thinking",
        /// A request for an action.
        Call = "call",
        /// Text to be stored under a key.
        Content = "content",
        /// A named part of the reply.
        Section = "section",
        /// What one speaker says.
        Utterance = "utterance",
        /// Tags around other blocks. Everything between them counts as if it were outside.
        Wrapper = "wrapper",
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let roles =
            [Role::Message, Role::Thinking, Role::Call, Role::Section, Role::Content, Role::Utterance, Role::Wrapper];
        let role = roles.into_iter().find(|role| role.word() == word);
        role.ok_or_else(|| D::Error::custom(format!("`{word}` is none of `{}`", Role::WORDS.join("`, `"))))
    }
}

impl Role {
    /// Whether such a block is part of an answer: reasoning and wrappers are not.
    pub(crate) fn is_answer(self) -> bool {
        !matches!(self, Role::Thinking | Role::Wrapper)
    }
}

words! {
    /// How a payload is read.
    Payload {
        /// As the attributes of its opener: each is a field. The body is read by the other readers.
        Attributes = "attributes",
        /// As tags: each is a field.
        Tags = "tags",
        /// As a JSON object.
        Json = "json",
        /// As plain text, under the name `text`.
        Text = "text",
        /// For a section: as a list with the text of each bullet.
        Bullets = "bullets",
    }
}

words! {
    /// What a text is decoded from.
    Decoding {
        /// XML: the five entities and character references are decoded once.
        Entities = "entities",
        /// Guards: the backslash before a line that looks like structure is removed.
        Guarded = "guarded",
        /// Strings: escapes such as `\n` and `\"` are decoded.
        Escapes = "escapes",
    }
}

words! {
    /// Where an opener or closer counts.
    Anchor {
        /// Anywhere.
        Anywhere = "anywhere",
        /// Only if nothing but white space, a fence mark or another closer is before it on its line. A closer also
        /// counts on the line of its opener.
        Line = "line",
        /// As `line`; an opener also needs a blank line before it, or the start of the answer.
        Paragraph = "paragraph",
        /// As `line`, and only between the opener and the closer of a wrapper; an opener also counts directly behind the
        /// block before it.
        Wrapper = "wrapper",
    }
}

words! {
    /// What is removed from both ends of a body.
    Trim {
        /// All white space.
        WhiteSpace = "white-space",
        /// Lines with only white space.
        BlankLines = "blank-lines",
        /// A code fence that surrounds the whole body.
        WrappingFence = "wrapping-fence",
        /// A CDATA section around all of it, in which nothing is decoded.
        WrappingCdata = "wrapping-cdata",
        /// A tag that is around all of it and opens no block.
        EnclosingTag = "enclosing-tag",
        /// The line break after the opener, and the one before the closer.
        LineBreaks = "line-breaks",
        /// Thematic breaks at both ends, and a fence opened at the end that belongs to what follows.
        Between = "between",
    }
}

words! {
    /// What a value is that no schema describes.
    Values {
        /// A text, as it stands.
        Text = "text",
        /// A JSON literal if it is one, else a text.
        Json = "json",
    }
}

words! {
    /// A place where a block may end.
    Ending {
        /// At its closer.
        Closer = "closer",
        /// At the closer that balances its opener among those of its own name.
        BalancedCloser = "balanced-closer",
        /// At its first closer inside a mask.
        QuotedCloser = "quoted-closer",
        /// At its first closer, wherever on its line that is.
        LooseCloser = "loose-closer",
        /// At its last closer before the next block, wherever on its line that is.
        LastLooseCloser = "last-loose-closer",
        /// Where the code fence around it, or directly inside it, closes last.
        Fence = "fence",
        /// At the end of its payload.
        Payload = "payload",
        /// Where the next declared block opens.
        NextBlock = "next-block",
        /// At the first blank line after its opener.
        BlankLine = "blank-line",
        /// At the end of the response.
        End = "end",
    }
}

impl Ending {
    /// Whether a closer ends the block there.
    pub(crate) fn is_closer(self) -> bool {
        self.is_loose() || matches!(self, Ending::Closer | Ending::BalancedCloser | Ending::QuotedCloser)
    }

    /// Whether that may be a closer where closers do not count.
    pub(crate) fn is_loose(self) -> bool {
        matches!(self, Ending::LooseCloser | Ending::LastLooseCloser)
    }
}

/// One step of a ladder: an ending, or several of which the first to come counts.
pub type Rung = OneOrMore<Spanned<Ending>>;
