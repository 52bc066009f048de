//! Messages: what does a diagnostic say, and of which names and numbers?
//!
//! In: a form with holes, `{}`, and what stands in them.
//! Out: [`Message`], whose sentence is put together when it is read.
//! Never: joins anything before that: what a sentence quotes can be looked at by itself.

use crate::text::{excerpt, one_line};
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// A sentence with its arguments. It becomes one line, whatever the arguments hold.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Message {
    form: Cow<'static, str>,
    arguments: Vec<Argument>,
}

/// What stands in one hole of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Argument {
    text: String,
    /// The most characters of it that are shown; 0 for all.
    most: usize,
}

/// A text of which a message shows at most so many characters. No more than one beyond them is kept, which tells that there
/// are more: what is quoted may be the whole answer, once for each of a thousand findings.
pub(crate) fn quote(text: impl AsRef<str>, most: usize) -> Argument {
    let text = text.as_ref();
    let end = text.char_indices().nth(most + 1).map_or(text.len(), |(end, _)| end);
    Argument { text: text.get(..end).unwrap_or_default().to_owned(), most }
}

impl Argument {
    /// What is printed as it is.
    pub(crate) fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), most: 0 }
    }
}

/// What can stand in a hole: what is printed, whole, or a [`quote`].
pub(crate) trait Fill {
    fn fill(self) -> Argument;
}

impl Fill for Argument {
    fn fill(self) -> Argument {
        self
    }
}

impl<T: fmt::Display + ?Sized> Fill for &T {
    fn fill(self) -> Argument {
        Argument { text: self.to_string(), most: 0 }
    }
}

/// `message!("`{}` closes `{}`", quote(closer, 40), &name)`: a form, and what stands in each of its holes.
macro_rules! message {
    ($form:literal $(, $argument:expr)* $(,)?) => {
        $crate::diagnostic::Message::of($form, vec![$($crate::diagnostic::Fill::fill($argument)),*])
    };
}
pub(crate) use message;

impl Message {
    /// The message of this form. Holes without an argument stay empty.
    pub(crate) fn of(form: &'static str, arguments: Vec<Argument>) -> Self {
        debug_assert_eq!(form.matches("{}").count(), arguments.len(), "{form}");
        Self { form: Cow::Borrowed(form), arguments }
    }

    /// Puts `with` in place of each argument that `holds` something to hide, and of each quotation that is cut short: it may
    /// end in the midst of that. A sentence that was made as a whole is replaced as a whole; `holds` is told so.
    pub(crate) fn conceal(&mut self, holds: &dyn Fn(&str, bool) -> bool, with: &str) {
        if self.arguments.is_empty() && holds(&self.form, true) {
            *self = with.into();
        }
        for argument in &mut self.arguments {
            let is_cut = argument.most > 0 && argument.text.chars().nth(argument.most).is_some();
            if is_cut || holds(&argument.text, false) {
                with.clone_into(&mut argument.text);
            }
        }
    }

    /// Adds `form`, and what stands in its holes, to the end.
    pub(crate) fn push(&mut self, form: &str, arguments: impl IntoIterator<Item = Argument>) {
        self.form.to_mut().push_str(form);
        self.arguments.extend(arguments);
    }

    /// A message that ends in a list of others.
    pub(crate) fn listed(mut self, others: impl IntoIterator<Item = Message>) -> Self {
        for (index, other) in others.into_iter().enumerate() {
            self.form.to_mut().push_str(if index == 0 { "" } else { "; " });
            self.form.to_mut().push_str(&other.form);
            self.arguments.extend(other.arguments);
        }
        self
    }

    /// The sentence with `{}` in place of what differs from case to case.
    #[doc(hidden)]
    pub fn form(&self) -> &str {
        &self.form
    }

    /// What stands in the holes, as far as it may be shown.
    #[doc(hidden)]
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(|argument| argument.text.as_str())
    }

    /// Leaves out what it quotes: dots are in its place.
    pub(crate) fn hide_quotes(&mut self) {
        for argument in self.arguments.iter_mut().filter(|argument| argument.most > 0) {
            argument.text = "…".to_owned();
        }
    }

    /// The sentence.
    fn text(&self) -> Cow<'_, str> {
        if self.arguments.is_empty() {
            return one_line(&self.form);
        }
        let mut text = String::with_capacity(self.form.len() + 16 * self.arguments.len());
        let mut arguments = self.arguments.iter();
        for (number, piece) in self.form.split("{}").enumerate() {
            if let Some(argument) = (number > 0).then(|| arguments.next()).flatten() {
                _ = write!(text, "{argument}");
            }
            text.push_str(piece);
        }
        match one_line(&text) {
            Cow::Borrowed(_) => Cow::Owned(text),
            Cow::Owned(line) => Cow::Owned(line),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// As text, because people read it in failed tests.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            0 => f.write_str(&self.text),
            most => f.write_str(&excerpt(&self.text, most)),
        }
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self { form: Cow::Owned(text), arguments: Vec::new() }
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

impl PartialEq<str> for Message {
    fn eq(&self, text: &str) -> bool {
        self.text() == text
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, text: &&str) -> bool {
        self.text() == *text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_its_form_and_what_stands_in_it() {
        let said = message!("`{}` closes {} of `{}`", quote("a very long name", 6), &2, "x\ny");
        assert_eq!(said.to_string(), "`a very…` closes 2 of `x\\ny`");
        assert_eq!(said.form(), "`{}` closes {} of `{}`");
        assert_eq!(said.arguments().collect::<Vec<_>>(), ["a very ", "2", "x\ny"]);
        // A sentence that was made as a whole may hold braces.
        assert_eq!(Message::from("write `{}`"), "write `{}`");
    }
}
