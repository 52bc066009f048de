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
        /// The dialect from which this one differs only in its `needs`, and in what is `quoted` if it is a `fallback`;
        /// everything else is taken from there.
        like: Option<Spanned<String>> as "dialect",
        /// Dialects whose blocks this one has, too, each with its grammar; a block of the same name here takes
        /// precedence.
        include: Vec<Spanned<String>> as "dialect",
        /// Whether it reads only answers that no other dialect of the mode can read: it is `like` one of them, and less
        /// is `quoted` in it. Default: `false`.
        fallback: Option<Spanned<bool>>,
        /// The grammar, or several: shipped ones, or the pack's own `grammar/NAME.pest`. Default: none; required
        /// without `like`.
        grammar: OneOrMore<Spanned<String>> as "grammar",
        /// How names of blocks, attributes, fields and speakers are compared; `insensitive` ignores the case of ASCII
        /// letters. Default: `sensitive`.
        case: Option<Case>,
        /// Where openers and closers are plain text; each opener there is reported as `quoted-block`. Default:
        /// `["code-fence", "code-span", "block-quote"]`.
        quoted: Option<Spanned<Vec<Mask>>>,
        /// What is removed if it surrounds the whole answer, unless it opens a block.
        around: Option<Around>,
        /// What text outside every block is: `stray`, `message`, or `section:NAME` for the text before the first block.
        /// Default: `stray`.
        text: Option<Spanned<String>>,
        /// What may be around and between blocks without counting as text.
        between: Vec<Between>,
        /// Names of blocks, as an answer writes them, with `*` and `?`. The dialect is chosen for an
        /// answer with one of them; a fallback is tried after all others, and needs one. Default: any block.
        needs: Vec<Spanned<String>> as "name",
        /// The blocks, by the names that open them, at most 4,096; `*` matches any number of bytes and `?` one. Other
        /// names open no block. Default: none; required without `like`.
        blocks: Named<Block>,
        /// The `anchor` of blocks without one of their own.
        anchor: Option<Anchor>,
        /// The `close` of blocks without one of their own.
        close: Vec<Spanned<String>> as "name",
        /// The `ends` of blocks without any of their own.
        ends: Vec<Rung>,
        /// The `trim` of blocks without one of their own.
        trim: Option<Vec<Trim>>,
        /// The `decode` of blocks without one of their own.
        decode: Option<Decoding>,
        /// Whether it replaces the dialect of the same name in a used pack.
        replace: bool,
    }
}

impl Dialect {
    /// What is quoted if the pack does not say: what is only shown is never carried out.
    const QUOTED: &'static [Mask] = &[Mask::CodeFence, Mask::CodeSpan, Mask::BlockQuote];

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
            ("around", self.around.is_some()),
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
        /// The names that open it, with `*` and `?`. Default: its own name.
        names: Vec<Spanned<String>> as "name",
        /// The grammar that spells it, if the dialect has several. Default: any of the dialect's.
        grammar: Option<Spanned<String>> as "grammar",
        /// How its opener should be written, with `@name` for its name; any other spelling that the grammar reads gets
        /// the remark `field-form`. With `@body`, `@lines`, `@index` or `@ATTRIBUTE`, how prompts write the whole
        /// block; of a wrapper, how they write calls in it. Default: by grammar.
        spelled: Option<Spanned<String>>,
        /// Whether it opens the answer, with or without its opener; later it opens at the start of a line.
        starts: bool,
        /// Whether prompts leave it out: it is understood, and not asked for.
        hidden: bool,
        /// What belongs in it, in a sentence for the model.
        about: Option<String>,
        /// Its name in the outcome; for a call, the name of the action. A word, or `@ATTRIBUTE` of its opener; for a
        /// call also `@payload.MEMBER` of a JSON payload, or `@payload[].MEMBER` if the payload is a list of calls. Of
        /// several sources, the first that is there counts. Default: its own name.
        name: OneOrMore<Spanned<String>>,
        /// For a content, where it is required: the key under which it is stored. A word, `@ATTRIBUTE` of its opener,
        /// or `@WRAPPER.ATTRIBUTE` of the opener around it; if blocks are members of an object, the name of a member.
        key: Option<Spanned<String>>,
        /// If blocks are members of an object: the member that is the body. For a call named by its payload: the member
        /// with the parameters. For a call whose payload is `text`: the parameter that gets the text, `text` if none is
        /// named. Of several, the first that is there counts. Default: the value itself.
        body: OneOrMore<Spanned<String>>,
        /// If blocks are members of an object: makes the text from the `value`. Default: the value itself.
        text: Option<Spanned<String>> as "template",
        /// The schema of its value if blocks are members of an object, or for a section with a `payload`; of its text
        /// for a message, content or utterance. `required = true` may be added. Default: a text.
        schema: Option<Tree> as "schema",
        /// For a call, where it is required, or a section with a value: how its body is read. Of several readers, the
        /// first that can read it does.
        payload: OneOrMore<Spanned<Payload>>,
        /// For a call with `payload = "tags"`: `@TAG.ATTRIBUTE`, the tag of a field and the attribute with its name, as
        /// in `<parameter name="x">`. Default: every tag, by its own name.
        field: Option<Spanned<String>>,
        /// For a call with `payload = "tags"`: the grammar in which its fields are written. Default: its own, or
        /// `tags`.
        fields: Option<Spanned<String>> as "grammar",
        /// For a call: what a value without a schema is. With `json`, it is a JSON literal if it can be one, and `null`
        /// counts wherever the schema allows it. Default: `text`.
        values: Option<Values>,
        /// For a call with `payload = "json"`: faults that are only remarks, such as `trailing-comma`, in the
        /// parameters and around them. Every reading of a text with such a fault must give the same value.
        forgives: Vec<Spanned<String>> as "fault",
        /// What is decoded in its text. Default: the dialect's.
        decode: Option<Decoding>,
        /// Blocks that are looked for inside it. Each one found is a `nested-block`; the degradation table says what
        /// becomes of it.
        holds: Vec<Spanned<String>> as "block",
        /// Where its opener and closers count. Default: the dialect's, or `anywhere`.
        anchor: Option<Anchor>,
        /// The names that close it: words, `@name` (its own name), `@ATTRIBUTE`, or names with `*`, which are tried
        /// last. Default: the dialect's, or `["@name"]`.
        close: Vec<Spanned<String>> as "name",
        /// Where it may end, in order; in a list inside the list, whichever comes first. Any ending but the first is an
        /// `unclosed-block`. Default: the dialect's, or by grammar.
        ends: Vec<Rung>,
        /// What is removed from both ends of its body and of its fields, in order. Default: the dialect's, or
        /// `["white-space"]`.
        trim: Option<Vec<Trim>>,
        /// The strategies for defects of this block. Default: the mode's.
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

    /// Of a name `@payload.WAY`, the path to it; of `@payload[].WAY`, the path in each entry of a payload that is a
    /// list of calls. The flag is true for the list.
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
        /// In the lines of a block quote of Markdown, `> …`.
        BlockQuote = "block-quote",
        /// In a closed comment of XML, `<!-- … -->`.
        Comment = "comment",
        /// In a closed CDATA section of XML, `<![CDATA[…]]>`.
        Cdata = "cdata",
        /// Around a whole block: a quotation mark directly before its opener, and its partner directly behind its end,
        /// in one paragraph.
        QuotationMarks = "quotation-marks",
    }
}

words! {
    /// What may surround a whole answer.
    Around {
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

// Each `match` has an arm for every kind, so that the compiler asks what a new one does.
impl Payload {
    /// Whether it accepts any text: such a payload never fails.
    pub(crate) fn accepts_any_text(self) -> bool {
        match self {
            Payload::Bullets | Payload::Text => true,
            Payload::Json | Payload::Tags | Payload::Attributes => false,
        }
    }

    /// Whether its strings or attributes may quote a delimiter.
    pub(crate) fn may_quote(self) -> bool {
        match self {
            Payload::Json | Payload::Tags => true,
            Payload::Attributes | Payload::Bullets | Payload::Text => false,
        }
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
        /// As `line`, and only between the opener and the closer of a wrapper; an opener also counts directly behind
        /// the block before it.
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
        /// A text, as it is written.
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
