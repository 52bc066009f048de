//! Lines: how is a file read line by line that may be larger than memory?
//!
//! In: any reader.
//! Out: one line after the other; a line that is too long without its bytes.
//! Never: has more than one line in memory.

use std::io::{self, BufRead};

/// The lines of a reader, one by one.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    most: usize,
    number: usize,
    bytes: u64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its bytes without the line break; `None` if there are more than the limit.
    pub bytes: Option<Vec<u8>>,
    /// The offset in the input at which it ends, in bytes.
    pub end: u64,
}

impl<R: BufRead> LineReader<R> {
    /// Reads lines from `reader`, each of at most `most` bytes.
    pub fn new(reader: R, most: usize) -> Self {
        Self { reader, most, number: 0, bytes: 0 }
    }

    /// Reads the next line; `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// Any error of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<InputLine>> {
        let mut line = Vec::new();
        let (mut whole, mut any) = (true, false);
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let at = memchr::memchr(b'\n', buffer);
            let piece = buffer.get(..at.unwrap_or(buffer.len())).unwrap_or_default();
            any |= !buffer.is_empty();
            whole &= line.len() + piece.len() <= self.most;
            if whole {
                line.extend_from_slice(piece);
            } else {
                // The bytes of a line that is too long are freed, and not collected any further.
                line = Vec::new();
            }
            let ended = at.is_some() || buffer.is_empty();
            let used = piece.len() + usize::from(at.is_some());
            self.reader.consume(used);
            self.bytes += used as u64;
            if ended {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(InputLine { number: self.number, bytes: Some(line).filter(|_| whole), end: self.bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Option<&str>]) {
        for buffer in [1, 2, 3, 64] {
            let mut lines = LineReader::new(io::BufReader::with_capacity(buffer, text.as_bytes()), 4);
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                assert_eq!(line.number, found.len() + 1);
                found.push(line.bytes.map(|bytes| String::from_utf8(bytes).unwrap()));
            }
            assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "{buffer}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_alone() {
        check("", &[]);
        check("a", &[Some("a")]);
        check("a\n", &[Some("a")]);
        check("\n\nabcd\nabcde\nf", &[Some(""), Some(""), Some("abcd"), None, Some("f")]);
        check("abcdefghijkl", &[None]);
    }
}
