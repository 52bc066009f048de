//! Paths: which member of the state does a dotted path name?
//!
//! In: a dotted path whose segments may contain templates, such as `profiles.{{ ids.profile }}.pages`.
//! Out: [`PathTemplate`], which renders to one key per segment.
//! Never: follows a path, or lets the value of a template add a segment.

use crate::diagnostic::Diagnostic;
use crate::expression::{Failure, Reads, Scope, SyntaxFault, Template};
use crate::text::{Slice, Spanned};
use crate::value::Value;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// One key of a path, written in the pack or rendered from a template.
#[derive(Debug, Clone)]
pub(crate) enum PathKey<'p> {
    Spelt(&'p str),
    Made(Arc<str>),
}

impl Deref for PathKey<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            PathKey::Spelt(key) => key,
            PathKey::Made(key) => key,
        }
    }
}

impl fmt::Display for PathKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// The keys of a path.
pub(crate) type Keys<'p> = SmallVec<[PathKey<'p>; 4]>;

/// A dotted path with templates in its segments. It is split once, at the dots outside `{{ }}`: a dot in the value of a
/// template is part of the key.
#[derive(Debug, Clone)]
pub(crate) struct PathTemplate {
    segments: Vec<Template>,
    reads: Reads,
}

impl PathTemplate {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// `pack/bad-expression` for an empty segment or a template that cannot be used.
    pub(crate) fn parse(text: &Spanned<String>) -> Result<PathTemplate, Box<Diagnostic>> {
        let mut segments = Vec::new();
        let mut reads = Reads::default();
        for range in split(&text.value) {
            let segment = text.value.slice(range.clone());
            if segment.is_empty() {
                return Err(SyntaxFault::new(range, "a path has no empty segments").at(text));
            }
            let at = text.place_of(range.into());
            let template = Template::parse(&Spanned::new(segment.to_owned(), at))?;
            reads.join(template.reads_at());
            segments.push(template);
        }
        Ok(PathTemplate { segments, reads })
    }

    /// The segments before the first one with a template: `profiles` of `profiles.{{ ids.profile }}.pages`.
    pub(crate) fn head(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().map_while(Template::plain)
    }

    /// Each segment; none for a segment with a template.
    pub(crate) fn segments(&self) -> impl Iterator<Item = Option<&str>> {
        self.segments.iter().map(Template::plain)
    }

    /// The path as typed.
    pub(crate) fn source(&self) -> String {
        self.segments.iter().map(Template::source).collect::<Vec<_>>().join(".")
    }

    /// The number of segments.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// What its templates read from their scope.
    pub(crate) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// One key per segment; a number is an index into a list.
    ///
    /// # Errors
    ///
    /// A template that fails, or whose value is not a number or a text that is not empty.
    pub(crate) fn render(&self, scope: &Scope<'_>) -> Result<Keys<'_>, Failure> {
        let mut keys = Keys::new();
        for segment in &self.segments {
            keys.push(key(segment, scope)?);
        }
        Ok(keys)
    }
}

fn key<'t>(segment: &'t Template, scope: &Scope<'_>) -> Result<PathKey<'t>, Failure> {
    if let Some(plain) = segment.plain().filter(|plain| !plain.is_empty()) {
        return Ok(PathKey::Spelt(plain));
    }
    let wrong = |what: &str| Err(Failure::new(format!("the path segment `{}` is {what}", segment.source())));
    match segment.render(scope)? {
        Value::String(text) if text.is_empty() => wrong("empty"),
        Value::String(text) => Ok(PathKey::Made(text)),
        Value::Number(number) => Ok(PathKey::Made(number.to_string().into())),
        Value::Null => Err(Failure::absent(format!("the path segment `{}` is none", segment.source()))),
        Value::Bool(_) => wrong("a truth"),
        Value::Array(_) => wrong("a list"),
        Value::Object(_) => wrong("a map"),
    }
}

/// The segments of a path: the parts between dots outside braces.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'{' => at += braces(text.slice(at..)),
            b'.' => {
                segments.push(start..at);
                at += 1;
                start = at;
            }
            _ => at += 1,
        }
    }
    segments.push(start..text.len());
    segments
}

/// The length of the `{{ … }}` that `text` starts with: up to the first `}}` after which the template can be parsed,
/// since a map may end in `}}`, too.
fn braces(text: &str) -> usize {
    let ends = || text.match_indices("}}").take(8).map(|(at, _)| at + 2).filter(|_| text.starts_with("{{"));
    let whole = |end: &usize| text.get(..*end).is_some_and(Template::is_one);
    ends().find(whole).or_else(|| ends().next()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Location, Span};
    use crate::value::value as json;
    use proptest::prelude::*;

    fn spanned(text: &str) -> Spanned<String> {
        Spanned::new(text.to_owned(), Location::response(Span::new(10, 12 + text.len())))
    }

    fn scope<'a>(params: &'a Value, ids: &'a Value) -> Scope<'a> {
        Scope::new().with("params", params).with("ids", ids)
    }

    #[test]
    fn a_path_is_split_outside_of_templates() {
        let (params, ids) = (json!({ "n": 3 }), json!({ "page": "page-1", "dotted": "a.b" }));
        let path = |text: &str| PathTemplate::parse(&spanned(text)).map_err(|fault| fault.message.to_string());
        let render = |text: &str| {
            let path = path(text)?;
            let keys = path.render(&scope(&params, &ids)).map_err(|failure| failure.message)?;
            Ok::<_, String>(keys.into_iter().map(|key| key.to_string()).collect::<Vec<_>>())
        };
        let keys = |keys: &[&str]| Ok(keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
        assert_eq!(render("profiles.{{ ids.page }}.pages"), keys(&["profiles", "page-1", "pages"]));
        assert_eq!(render("a.{{ ids.dotted }}.x-{{ params.n }}.0"), keys(&["a", "a.b", "x-3", "0"]));
        assert_eq!(render("turns"), keys(&["turns"]));
        assert!(render("a.{{ params.gone }}").is_err_and(|message| message.contains("is none")));
        assert!(path("a..b").is_err_and(|message| message.contains("empty")));
        let path = path("a.b.{{ ids.page }}.c").expect("a path");
        assert_eq!(path.head().collect::<Vec<_>>(), ["a", "b"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\n]{0,40}|(\\{\\{|\\}\\}|\\{%|%\\}|x|in|'|\"|[ .|()=1]){0,14}") {
            let _ = PathTemplate::parse(&spanned(&text));
        }
    }
}
