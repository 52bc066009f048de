//! Messages: what is the text of a diagnostic, and which names and numbers does it contain?
//!
//! In: a form with placeholders, `{}`, and the arguments for them.
//! Out: [`Message`], whose text is composed when it is first read.
//! Never: composes the text before that: until then, each quotation can be examined by itself.

use super::{NameList, names};
use crate::text::{Slice, excerpt, one_line};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// One line of text that is composed when it is first read. It is used like a `&str`; in JSON it is a string.
///
/// ```
/// # use rulebook::{Folder, Program};
/// # let pack = "[pack]\nname = \"x\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }";
/// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).into_result()?;
/// let outcome = program.run(&program.session(), "<message>Hello.");
/// assert_eq!(outcome.diagnostics[0].message, "`message` is never closed");
/// assert!(outcome.diagnostics[0].message.ends_with("never closed"));
/// # Ok::<(), rulebook::Faults>(())
/// ```
#[derive(Clone)]
pub struct Message {
    /// INVARIANT: one line, so that the form of a message without arguments is its text.
    form: Cow<'static, str>,
    arguments: Vec<Argument>,
    /// The text, after it was first read. INVARIANT: every change of the form or of the arguments clears it.
    text: OnceLock<Box<str>>,
}

/// The argument for one placeholder of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument(MessageForm);

#[derive(Debug, Clone, PartialEq, Eq)]
enum MessageForm {
    /// A text that is printed as it is.
    Whole(String),
    /// A text of which at most this many characters are printed.
    Quote(String, usize),
    /// The advice for an unknown name: the name, and the names that exist.
    Nearest(String, KnownNames),
}

/// Names that exist, so that the nearest one is searched for only when the finding is read.
pub(crate) type KnownNames = Arc<NameList>;

/// A text of which a message prints at most `most` characters. Only one more is stored, which marks that the text was
/// cut: a quoted text may be the whole answer, once for each of a thousand findings.
pub(crate) fn quote(text: impl AsRef<str>, most: usize) -> Argument {
    let text = text.as_ref();
    let end = text.char_indices().nth(most + 1).map_or(text.len(), |(end, _)| end);
    Argument(MessageForm::Quote(text.slice(..end).to_owned(), most))
}

impl Argument {
    /// An argument that is printed as it is.
    pub(crate) fn whole(text: impl Into<String>) -> Self {
        Self(MessageForm::Whole(text.into()))
    }

    /// The text of the argument.
    fn text(&self) -> &str {
        match &self.0 {
            MessageForm::Whole(text) | MessageForm::Quote(text, _) | MessageForm::Nearest(text, _) => text,
        }
    }
}

/// A value that a placeholder accepts: one that is printed in full, or a [`quote`].
pub(crate) trait HoleFill {
    fn fill(self) -> Argument;
}

impl HoleFill for Argument {
    fn fill(self) -> Argument {
        self
    }
}

impl<T: fmt::Display + ?Sized> HoleFill for &T {
    fn fill(self) -> Argument {
        Argument::whole(self.to_string())
    }
}

/// `message!("`{}` closes `{}`", quote(closer, 40), &name)`: a form, and the arguments for its placeholders.
macro_rules! message {
    ($form:literal $(, $argument:expr)* $(,)?) => {
        $crate::diagnostic::Message::of($form, vec![$($crate::diagnostic::HoleFill::fill($argument)),*])
    };
}
pub(crate) use message;

impl Message {
    /// The message of this form. Placeholders without an argument stay empty.
    pub(crate) fn of(form: &'static str, arguments: Vec<Argument>) -> Self {
        debug_assert_eq!(form.matches("{}").count(), arguments.len(), "{form}");
        Self { form: Cow::Borrowed(form), arguments, text: OnceLock::new() }
    }

    /// The help for an unknown name: the nearest of `names`, or else as many of them as a line has room for. The names
    /// are compared when the help is read.
    pub(crate) fn nearest(typed: &str, names: KnownNames) -> Self {
        Self::of("{}", vec![Argument(MessageForm::Nearest(typed.to_owned(), names))])
    }

    /// Replaces by `with` each argument for which `holds` finds something to hide, and each quotation that is cut,
    /// since the cut may be in the middle of that. A message without arguments is replaced as a whole; `holds` gets
    /// `true` for such a message.
    pub(crate) fn redact(&mut self, holds: &dyn Fn(&str, bool) -> bool, with: &str) {
        self.prepare_to_hide();
        if self.arguments.is_empty() && holds(&self.form, true) {
            *self = with.into();
        }
        for Argument(kind) in &mut self.arguments {
            let (text, is_cut) = match kind {
                MessageForm::Whole(text) | MessageForm::Nearest(text, _) => (text, false),
                MessageForm::Quote(text, most) => {
                    let is_cut = text.chars().nth(*most).is_some();
                    (text, is_cut)
                }
            };
            if is_cut || holds(text, false) {
                with.clone_into(text);
            }
        }
    }

    /// Appends `form` and the arguments for its placeholders.
    pub(crate) fn push(&mut self, form: &str, arguments: impl IntoIterator<Item = Argument>) {
        self.text.take();
        self.form.to_mut().push_str(form);
        self.arguments.extend(arguments);
    }

    /// This message, followed by a list of others.
    pub(crate) fn listed(mut self, others: impl IntoIterator<Item = Message>) -> Self {
        for (index, other) in others.into_iter().enumerate() {
            self.push(if index == 0 { "" } else { "; " }, []);
            self.push(&other.form, other.arguments);
        }
        self
    }

    /// The text with `{}` in place of each argument.
    #[doc(hidden)]
    pub fn form(&self) -> &str {
        &self.form
    }

    /// The arguments, without those that must be hidden.
    #[doc(hidden)]
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(Argument::text)
    }

    /// Replaces its quotations by `…`.
    pub(crate) fn hide_quotes(&mut self) {
        self.prepare_to_hide();
        for Argument(kind) in &mut self.arguments {
            if let MessageForm::Quote(text, _) = kind {
                *text = "…".to_owned();
            }
        }
    }

    /// Prepares for hiding. Discards the composed text. Advice depends on a name of the answer without quoting it, so a
    /// message with advice becomes one without arguments. Then no copy remains of what is hidden afterwards.
    fn prepare_to_hide(&mut self) {
        if self.arguments.iter().any(|argument| matches!(argument.0, MessageForm::Nearest(..))) {
            *self = self.as_str().into();
        }
        self.text.take();
    }

    /// The text.
    #[doc(hidden)]
    pub fn as_str(&self) -> &str {
        match self.arguments.is_empty() {
            true => &self.form,
            false => self.text.get_or_init(|| self.joined()),
        }
    }

    fn joined(&self) -> Box<str> {
        let mut text = String::with_capacity(self.form.len() + 16 * self.arguments.len());
        let mut arguments = self.arguments.iter();
        for (number, piece) in self.form.split("{}").enumerate() {
            if let Some(argument) = (number > 0).then(|| arguments.next()).flatten() {
                _ = write!(text, "{argument}");
            }
            text.push_str(piece);
        }
        match one_line(&text) {
            Cow::Borrowed(_) => text.into(),
            Cow::Owned(line) => line.into(),
        }
    }
}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Message {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Prints the text, since users read it in failed tests.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            MessageForm::Whole(text) => f.write_str(text),
            MessageForm::Quote(text, most) => f.write_str(&excerpt(text, *most)),
            MessageForm::Nearest(typed, names) => f.write_str(&names::advice_of(typed, names).unwrap_or_default()),
        }
    }
}

/// Two messages are equal if their texts are: one that was deserialised has no arguments.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        (self.form == other.form && self.arguments == other.arguments) || self.as_str() == other.as_str()
    }
}

impl Eq for Message {}

impl Hash for Message {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        let line = match one_line(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(line) => line,
        };
        Self { form: Cow::Owned(line), arguments: Vec::new(), text: OnceLock::new() }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        match message.arguments.is_empty() {
            true => message.form.into_owned(),
            false => message.text.get().cloned().unwrap_or_else(|| message.joined()).into(),
        }
    }
}

impl PartialEq<str> for Message {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == text
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_its_form_and_arguments() {
        let composed = message!("`{}` closes {} of `{}`", quote("a very long name", 6), &2, "x\ny");
        assert_eq!(composed, "`a very…` closes 2 of `x\\ny`");
        assert_eq!(composed.form(), "`{}` closes {} of `{}`");
        assert_eq!(composed.arguments().collect::<Vec<_>>(), ["a very ", "2", "x\ny"]);
        // A message without arguments may contain braces.
        assert_eq!(Message::from("write `{}`"), "write `{}`");
    }

    fn names(names: &[&str]) -> KnownNames {
        Arc::new(names.iter().map(|name| Arc::from(*name)).collect())
    }

    #[test]
    fn what_is_read_back_is_equal_to_what_was_written() {
        for composed in [
            message!("`{}` closes {}", quote("a\tb", 9), "x\ny"),
            message!("nothing"),
            Message::nearest("nto", names(&["note", "wait"])),
            "one\nline".into(),
        ] {
            let json = serde_json::to_string(&composed).unwrap();
            let back: Message = serde_json::from_str(&json).unwrap();
            assert_eq!((&back, String::from(back.clone())), (&composed, String::from(composed.clone())));
            assert_eq!(serde_json::to_string(&back).unwrap(), json);
        }
        assert_ne!(message!("`{}`", "a"), message!("`{}`", "b"));
    }

    #[test]
    fn what_is_hidden_is_in_no_part_of_a_message_even_if_it_has_been_read() {
        let secret = |text: &str, _: bool| text.contains("S3CRET");
        let hidden = |mut composed: Message, all: bool| {
            _ = composed.as_str();
            if all {
                composed.hide_quotes()
            } else {
                composed.redact(&secret, "[…]")
            };
            let parts = composed.arguments().chain([composed.form(), composed.as_str()]).collect::<Vec<_>>().join(" ");
            assert!(!parts.contains("S3CRET"), "{parts}");
            composed.to_string()
        };
        for all in [false, true] {
            let dots = if all { "…" } else { "[…]" };
            assert_eq!(hidden(message!("`{}` is {}", quote("a S3CRET", 20), &1), all), format!("`{dots}` is 1"));
            assert_eq!(hidden(message!("`{}`", quote("a long text S3CRET", 3)), all), format!("`{dots}`"));
            assert_eq!(hidden(Message::nearest("S3CRETT", names(&["S3CRE"])), all), "did you mean `S3CRE`?");
        }
        assert_eq!(hidden("the S3CRET".into(), false), "[…]");
    }
}
