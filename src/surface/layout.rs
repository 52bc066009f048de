//! Layouts: how is a whole block written, as its pack says?
//!
//! In: the `spelled` of a block.
//! Out: [`BlockLayout`]: the text of the block around its name, its attributes and what it holds.
//! Never: reads an answer: the grammar of the block does, whatever its layout is.

/// The text of a whole block, with places for what differs from block to block.
#[derive(Debug, Clone)]
pub(crate) struct BlockLayout {
    pieces: Vec<LayoutPiece>,
    /// Whether what it holds are fields whose values are on lines of their own.
    pub(crate) apart: bool,
}

#[derive(Debug, Clone)]
enum LayoutPiece {
    Text(String),
    /// The attribute of this name, or the name of the block.
    Place(String),
    Body,
}

/// The place of what a block holds.
const BODY: &str = "body";
/// The same place, if each field has its value on lines of its own.
const LINES: &str = "lines";
/// The place of the name that opens the block, unless an attribute is called so.
pub(crate) const NAME: &str = "name";
/// The place of the number of a call in its answer, from 0, unless an attribute is called so.
const INDEX: &str = "index";

impl BlockLayout {
    /// The layout that `spelled` says; none if it says only an opener: then its one place is the name.
    pub(crate) fn of(spelled: &str) -> Option<Self> {
        let (mut pieces, mut apart) = (Vec::new(), false);
        let mut rest = spelled;
        let mut text = String::new();
        while let Some((before, behind)) = rest.split_once('@') {
            text.push_str(before);
            let length = behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            let (place, after) = behind.split_at_checked(length).unwrap_or((behind, ""));
            if place.is_empty() {
                text.push('@');
            } else {
                pieces.push(LayoutPiece::Text(std::mem::take(&mut text)));
                apart |= place == LINES;
                pieces.push(if matches!(place, BODY | LINES) {
                    LayoutPiece::Body
                } else {
                    LayoutPiece::Place(place.to_owned())
                });
            }
            rest = after;
        }
        text.push_str(rest);
        pieces.push(LayoutPiece::Text(text));
        let is_whole = |piece: &LayoutPiece| match piece {
            LayoutPiece::Text(_) => false,
            LayoutPiece::Place(place) => place != NAME,
            LayoutPiece::Body => true,
        };
        pieces.iter().any(is_whole).then_some(Self { pieces, apart })
    }

    /// Whether an attribute has a place.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, LayoutPiece::Place(place) if place == key))
    }

    /// The places for attributes.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            LayoutPiece::Place(place) if place != NAME && place != INDEX => Some(place.as_str()),
            _ => None,
        })
    }

    /// A block with this body, in which all of these attributes have a place; none if one has not, or if a place has no
    /// attribute.
    pub(crate) fn write(&self, name: &str, index: usize, attributes: &[(&str, &str)], body: &str) -> Option<String> {
        if attributes.iter().any(|(key, _)| !self.has(key)) {
            return None;
        }
        let mut written = String::new();
        for piece in &self.pieces {
            match piece {
                // A body that is empty, or ends its line itself, is followed by no second line break.
                LayoutPiece::Text(text) if written.ends_with('\n') => {
                    written.push_str(text.strip_prefix('\n').unwrap_or(text))
                }
                LayoutPiece::Text(text) => written.push_str(text),
                LayoutPiece::Body => written.push_str(body),
                LayoutPiece::Place(place) => {
                    let known = attributes.iter().find(|(key, _)| key == place).map(|(_, value)| *value);
                    match (known, place.as_str()) {
                        (Some(value), _) => written.push_str(value),
                        (None, NAME) => written.push_str(name),
                        (None, INDEX) => written.push_str(&index.to_string()),
                        (None, _) => return None,
                    }
                }
            }
        }
        Some(written)
    }

    /// The texts before the first body, between two of them if there are two, and behind the last.
    fn around_bodies(&self, name: &str) -> (String, Option<String>, String) {
        let mut parts = vec![String::new()];
        for piece in &self.pieces {
            match (piece, parts.last_mut()) {
                (LayoutPiece::Text(text), Some(part)) => part.push_str(text),
                (LayoutPiece::Place(place), Some(part)) if place == NAME => part.push_str(name),
                // A wrapper is written without attributes.
                (LayoutPiece::Place(_), Some(_)) => {}
                (LayoutPiece::Body, _) | (_, None) => parts.push(String::new()),
            }
        }
        let mut parts = parts.into_iter();
        let (before, next) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        match parts.next_back() {
            Some(last) => (before, Some(next), last),
            None => (before, None, next),
        }
    }

    /// The texts of calls inside this wrapper: each in one of its own, or all in one if the layout has a second place
    /// to show what is between two.
    pub(crate) fn wrap(&self, name: &str, calls: &[&str]) -> Vec<String> {
        match self.around_bodies(name) {
            (before, Some(between), behind) => vec![format!("{before}{}{behind}", calls.join(&between))],
            (before, None, behind) => calls.iter().map(|call| format!("{before}{call}{behind}")).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BlockLayout;

    #[track_caller]
    fn check(spelled: &str, attributes: &[(&str, &str)], body: &str, expected: Option<&str>) {
        let layout = BlockLayout::of(spelled).unwrap();
        assert_eq!(layout.write("b", 2, attributes, body).as_deref(), expected);
    }

    #[test]
    fn a_layout_has_places_for_the_name_the_attributes_and_the_body() {
        check("<@name>\n@body\n</@name>", &[], "x", Some("<b>\nx\n</b>"));
        check("<@name>\n@body\n</@name>", &[], "", Some("<b>\n</b>"));
        check("<@name>\n@body\n</@name>", &[], "x\n", Some("<b>\nx\n</b>"));
        check("<call name=\"@name\">@body@", &[("name", "go")], "{}", Some("<call name=\"go\">{}@"));
        check("@path\n@body", &[("path", "a.py")], "x", Some("a.py\nx"));
        check("@tool:@index@body", &[("tool", "go")], "{}", Some("go:2{}"));
        // An attribute without a place would be lost, and a place without an attribute says nothing.
        check("<@name>@body", &[("path", "a.py")], "x", None);
        check("@path\n@body", &[], "x", None);
    }

    #[test]
    fn only_an_opener_is_no_layout() {
        assert!(BlockLayout::of("### @name").is_none() && BlockLayout::of("a @ b").is_none());
        assert_eq!(BlockLayout::of("@file: @body").unwrap().attributes().collect::<Vec<_>>(), ["file"]);
    }

    #[test]
    fn a_wrapper_contains_one_call_or_all_calls() {
        let wrap = |spelled: &str| BlockLayout::of(spelled).unwrap().wrap("w", &["a", "b", "c"]);
        assert_eq!(wrap("<@name>@body</@name>"), ["<w>a</w>", "<w>b</w>", "<w>c</w>"]);
        assert_eq!(wrap("[@body, @body]"), ["[a, b, c]"]);
        assert_eq!(wrap("@body@body"), ["abc"]);
    }
}
