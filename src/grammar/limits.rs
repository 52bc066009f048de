//! Limits: can this text be given to a recursive parser?
//!
//! In: the text of a grammar, whatever it contains.
//! Out: the first place at which it is larger, longer or deeper than grammars need to be.
//! Never: checks what the rules mean.

use crate::text::Span;

/// The most bytes of a grammar.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// The most rules of a grammar.
pub(super) const MAX_RULES: usize = 512;
/// The most alternatives of a choice, and the most terms of a sequence.
pub(super) const MAX_TERMS: usize = 200;
/// The deepest nesting of a rule.
pub(super) const MAX_DEPTH: usize = 160;
/// The highest count of a repetition.
pub(super) const MAX_COUNT: u32 = 64;
/// The most parts, and the most instructions, of a grammar with its repetitions unrolled.
pub(super) const MAX_SIZE: usize = 20_000;
/// The deepest nesting of a rule with its repetitions unrolled.
pub(super) const MAX_UNROLLED_DEPTH: usize = 500;
const MAX_PARENTHESES: usize = 40;
const MAX_COMMENTS: usize = 8;
const MAX_ESCAPES: usize = 100;

type Refusal = (Span, String, &'static str);

/// Why `text` is refused before it is parsed, if it is. The scan knows just enough of the notation to recognise
/// comments and strings. Where it could disagree with the parser, the parser fails anyway.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    if text.len() > MAX_BYTES {
        let message = format!("a grammar of {} bytes, more than {MAX_BYTES}", text.len());
        return Some((Span::default(), message, "split the dialect into several grammars"));
    }
    scan(text.as_bytes()).err()
}

fn scan(bytes: &[u8]) -> Result<(), Refusal> {
    let next = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let (mut at, mut depth) = (0, 0);
    while at < bytes.len() {
        match (next(at), next(at + 1)) {
            (b'/', b'/') => at = find(bytes, at, b'\n').unwrap_or(bytes.len()),
            (b'/', b'*') => at = comment_end(bytes, at)?,
            (b'"', _) => at = string_end(bytes, at)?,
            // An escaped character ends at the next quote, any other one after its single byte and quote.
            (b'\'', b'\\') => at = find(bytes, at + 3, b'\'').map_or(bytes.len(), |quote| quote + 1),
            (b'\'', b'"' | b'/' | b'(' | b')' | b'{' | b'}' | b'\'') => at += 3,
            (b'(' | b'{', _) => {
                depth += 1;
                if depth > MAX_PARENTHESES {
                    return Err(refused(
                        at,
                        "parentheses nested too deeply",
                        "give the inner parts rules of their own",
                    ));
                }
                at += 1;
            }
            (b')' | b'}', _) => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// The end of the comment that starts at `from`, including nested comments.
fn comment_end(bytes: &[u8], from: usize) -> Result<usize, Refusal> {
    let (mut at, mut depth) = (from, 0);
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"/*" => {
                depth += 1;
                if depth > MAX_COMMENTS {
                    return Err(refused(at, "comments nested too deeply", "close the comment before the next one"));
                }
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => at += 1,
        }
    }
    Err(refused(from, "a comment that is never closed", "close it with `*/`"))
}

/// The end of the string that starts at `from`.
fn string_end(bytes: &[u8], from: usize) -> Result<usize, Refusal> {
    let (mut at, mut escapes) = (from + 1, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => {
                escapes += 1;
                at += 2;
            }
            _ => at += 1,
        }
        if escapes > MAX_ESCAPES {
            return Err(refused(from, "a string with too many escapes", "split it: `\"…\" ~ \"…\"`"));
        }
    }
    Err(refused(from, "a string that is never closed", "close it with `\"`"))
}

fn find(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    memchr::memchr(byte, bytes.get(from..)?).map(|at| from + at)
}

fn refused(at: usize, message: &str, help: &'static str) -> Refusal {
    (Span::new(at, at + 1), message.to_owned(), help)
}
