//! Contents: which version of a file is this, and in which style is a new one written?
//!
//! In: the bytes of files.
//! Out: a [`Digest`] that distinguishes versions of a file; a new text with the line breaks and byte order mark of the
//! old one.
//! Never: loads a whole file to compute its digest.

use super::edit::unmarked;
use super::haystack::{broken, line_break};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, ErrorKind, Read, Write};

/// A hash and a length, which distinguish one version of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digest {
    length: u64,
    hash: u64,
}

impl Digest {
    /// The digest of all bytes of a reader.
    pub(super) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut hash = HashWriter::default();
        let length = io::copy(&mut from, &mut hash)?;
        Ok(Self { length, hash: hash.finish() })
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut hash = HashWriter::default();
        hash.put(bytes);
        Self { length: bytes.len() as u64, hash: hash.finish() }
    }

    pub(super) fn length(self) -> u64 {
        self.length
    }
}

/// A writer that hashes its input. How the input is cut into pieces makes no difference.
#[derive(Debug, Default)]
pub(super) struct HashWriter {
    hasher: DefaultHasher,
}

impl HashWriter {
    fn put(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
    }

    pub(super) fn finish(&self) -> u64 {
        self.hasher.finish()
    }
}

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All bytes of a reader; an error if there are more than `most`.
pub(super) fn read_all(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if length as u64 > most { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// A new text in the style of the old one: with `\r\n` if most line breaks of the old one are, and with its byte order
/// mark. Also returns, in words, which of the two was taken over; an empty text if neither.
pub(super) fn like(old: &str, new: &str) -> (String, &'static str) {
    let (mark, body) = unmarked(old);
    let marks = !mark.is_empty() && unmarked(new).0.is_empty();
    let breaks = !new.contains('\r') && new.contains('\n') && line_break(body) == Some("\r\n");
    let text = if breaks { broken(new, "\r\n") } else { new.to_owned() };
    match (marks, breaks) {
        (false, false) => (text, ""),
        (false, true) => (text, r"its line breaks, which are `\r\n`"),
        (true, false) => (format!("{mark}{text}"), "its byte order mark"),
        (true, true) => (format!("{mark}{text}"), r"its byte order mark and its line breaks, which are `\r\n`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_same_however_the_bytes_come() {
        struct Drops<'b>(&'b [u8]);
        impl Read for Drops<'_> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let size = into.len().min(3);
                self.0.read(&mut into[..size])
            }
        }
        let bytes: Vec<u8> = (0..100_000_u32).map(|number| (number % 251) as u8).collect();
        for length in [0, 1, 7, 8, 9, 65_536, 100_000] {
            let part = &bytes[..length];
            assert_eq!(Digest::read(part).unwrap(), Digest::of(part));
            assert_eq!(Digest::read(Drops(part)).unwrap(), Digest::of(part));
        }
        assert_ne!(Digest::of(b"a"), Digest::of(b"b"));
    }

    #[test]
    fn a_new_text_is_written_as_the_old_one() {
        assert_eq!(like("a\r\nb\r\n", "c\nd\n").0, "c\r\nd\r\n");
        assert_eq!(like("\u{feff}a\n", "c\n").0, "\u{feff}c\n");
        for (old, new) in [("a\n", "c\r\n"), ("a", "c\n"), ("a\r\n", "c\r\nd\n"), ("\u{feff}a", "\u{feff}c"), ("", "")]
        {
            assert_eq!(like(old, new), (new.to_owned(), ""));
        }
    }
}
