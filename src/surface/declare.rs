//! Declaring: how does a table of the pack language become a type?
//!
//! In: the fields of a table or the words of a list, each with its doc comment.
//! Out: `table!` and `words!`: the type, how it is decoded, and its part of the editors' schema.
//! Never: knows any particular table.

/// Declares a surface table: a struct, its decoder, and its part of the editors' schema.
///
/// Every field is a key, named like the field unless written `field = "key"`. A key is required if its type has no
/// `absent` value. `NAME or KEY` declares a table that can also be written as a string, the value of that key. `as
/// "WORD"` after a type names what its texts or values are, such as a condition: the `format` of the schema, and the
/// type in `docs/pack`. A last sentence `Default: …` of a doc comment says what a key is if it is left out.
macro_rules! table {
    (
        $(#[doc = $about:literal])*
        $name:ident or $short:ident ($form:literal) {
            $($(#[doc = $doc:literal])* $field:ident $(= $key:literal)? : $type:ty $(as $format:literal)?,)*
        }
    ) => {
        $crate::surface::declare::table! {
            @struct $(#[doc = $about])* $name { $($(#[doc = $doc])* $field $(= $key)? : $type $(as $format)?,)* }
            [|reading, node| reading.table_or_name(node, stringify!($short), $form)]
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let table = Self::table_schema(generator);
                schemars::json_schema!({ "anyOf": [{ "type": "string" }, table] })
            }
        }
    };
    (
        $(#[doc = $about:literal])*
        $name:ident { $($(#[doc = $doc:literal])* $field:ident $(= $key:literal)? : $type:ty $(as $format:literal)?,)* }
    ) => {
        $crate::surface::declare::table! {
            @struct $(#[doc = $about])* $name { $($(#[doc = $doc])* $field $(= $key)? : $type $(as $format)?,)* }
            [|reading, node| reading.table(node).map(std::borrow::Cow::Borrowed)]
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                Self::table_schema(generator)
            }
        }
    };
    (
        @struct
        $(#[doc = $about:literal])*
        $name:ident { $($(#[doc = $doc:literal])* $field:ident $(= $key:literal)? : $type:ty $(as $format:literal)?,)* }
        [|$reading:ident, $node:ident| $table:expr]
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone)]
        pub struct $name {
            $($(#[doc = $doc])* pub $field: $type,)*
            /// Where the table is.
            pub at: $crate::text::Location,
        }

        impl $name {
            /// The keys of the table.
            pub(crate) const KEYS: &'static [&'static str] = &[$($crate::surface::declare::key!($field $(= $key)?)),*];
        }

        impl $crate::surface::decode::Decode for $name {
            fn decode(
                $node: &$crate::surface::decode::TomlNode<'_>,
                $reading: &mut $crate::surface::decode::Decoder<'_>,
            ) -> Option<Self> {
                let mut table: std::borrow::Cow<'_, toml::de::DeTable<'_>> = $table?;
                let at = $reading.at($node.span());
                let mut guesses = $reading.known_keys(&mut table, Self::KEYS);
                $reading.enter(Self::KEYS);
                // Read every key before complaining about a missing one, so that one run shows every fault.
                $(let $field = $reading.field::<$type>(
                    &table,
                    $crate::surface::declare::key!($field $(= $key)?),
                    &mut guesses,
                    at,
                );)*
                $reading.leave();
                Some(Self { $($field: $field?,)* at })
            }
        }

        #[cfg(feature = "schema")]
        impl $name {
            fn table_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut schema = $crate::surface::declare::TableSchema::new(&[$($about),*]);
                $(schema.key(
                    $crate::surface::declare::key!($field $(= $key)?),
                    &[$($doc),*],
                    generator.subschema_for::<$type>(),
                    &[$($format),*],
                    <$type as $crate::surface::decode::Decode>::absent().is_none(),
                );)*
                schema.finish()
            }
        }
    };
}

/// The key of a field: its own name, unless another one is given.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident = $key:literal) => {
        $key
    };
}

/// Declares a closed list of words that a key takes.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* #[cfg_attr(feature = "schema", schemars(rename = $word))] $variant,)* }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word in a pack.
            #[doc(hidden)]
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl $crate::surface::decode::Decode for $name {
            fn decode(
                node: &$crate::surface::decode::TomlNode<'_>,
                reading: &mut $crate::surface::decode::Decoder<'_>,
            ) -> Option<Self> {
                let word = String::decode(node, reading)?;
                match word.as_str() {
                    $($word => return Some($name::$variant),)*
                    _ => {}
                }
                let at = reading.at(node.span());
                let meant = $crate::diagnostic::meant(&word, $name::WORDS);
                let fault = $crate::diagnostic::Diagnostic::new(
                    $crate::diagnostic::Code::PACK_WRONG_VALUE,
                    at,
                    format!("`{}` is none of the words this key takes", $crate::text::excerpt(&word, 60)),
                );
                reading.report(match meant {
                    Some(meant) => fault.with_help(format!("did you mean `{meant}`?")),
                    None => fault.with_nearest(&word, $name::WORDS.iter().copied()),
                });
                // Go on with the word that was probably meant.
                let meant = meant.or_else(|| $crate::diagnostic::nearest(&word, $name::WORDS.iter().copied()));
                match meant? {
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {key, table, words};

#[cfg(feature = "schema")]
pub use schema::ORDER;
#[cfg(feature = "schema")]
pub(crate) use schema::TableSchema;

#[cfg(feature = "schema")]
mod schema {
    use schemars::{Schema, json_schema};
    use serde_json::{Map, Value, json};

    /// The keyword with which the schema of a table lists its keys in order, for those who write it down.
    pub const ORDER: &str = "x-order";

    /// The schema of a table, key by key.
    pub(crate) struct TableSchema {
        about: String,
        keys: Map<String, Value>,
        required: Vec<&'static str>,
        order: Vec<&'static str>,
    }

    impl TableSchema {
        pub(crate) fn new(about: &[&str]) -> Self {
            Self { about: join(about), keys: Map::new(), required: Vec::new(), order: Vec::new() }
        }

        pub(crate) fn key(
            &mut self,
            key: &'static str,
            about: &[&str],
            schema: Schema,
            format: &[&str],
            required: bool,
        ) {
            let mut value = schema.to_value();
            format.iter().for_each(|format| set_format(&mut value, format));
            match &mut value {
                // A reference may be beside a description since draft 2019-09.
                Value::Object(members) => drop(members.insert("description".into(), join(about).into())),
                _ => value = json!({ "description": join(about) }),
            }
            self.keys.insert(key.to_owned(), value);
            self.order.push(key);
            if required {
                self.required.push(key);
            }
        }

        pub(crate) fn finish(self) -> Schema {
            json_schema!({
                "description": self.about, "type": "object", "additionalProperties": false,
                "properties": self.keys, "required": self.required, (ORDER): self.order
            })
        }
    }

    /// Names the format of the texts in a value, and of values of any type.
    fn set_format(schema: &mut Value, format: &str) {
        let Value::Object(keywords) = schema else { return };
        let is_text = match keywords.get("type") {
            Some(Value::Array(types)) => types.iter().any(|one| one == "string"),
            one => one.is_some_and(|one| one == "string"),
        };
        let is_any = keywords.len() == 1 && keywords.get("additionalProperties") == Some(&Value::Bool(true));
        if is_text || is_any {
            keywords.insert("format".into(), format.into());
            return;
        }
        if let Some(Value::Array(choices)) = keywords.get_mut("anyOf") {
            choices.iter_mut().for_each(|choice| set_format(choice, format));
        }
        for inner in ["items", "additionalProperties"] {
            if let Some(inner) = keywords.get_mut(inner) {
                set_format(inner, format);
            }
        }
    }

    fn join(lines: &[&str]) -> String {
        lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}
