//! SARIF: how do code scanners and editors read findings?
//!
//! In: rows.
//! Out: one SARIF 2.1.0 log, with the page of each code as its rule, and fingerprints that stay the same when lines
//! move.
//! Never: writes a member that the standard does not define.
//!
//! The standard: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

use rulebook::diagnostic::Row;
use rulebook::diagnostic::page;
use rulebook::value::value;
use rulebook::{Object, Severity, Value};
use std::collections::HashMap;

/// The log with these findings.
pub fn sarif(rows: &[Row]) -> Value {
    let mut codes: Vec<&str> = rows.iter().map(|row| row.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut seen = HashMap::new();
    let results: Vec<Value> = rows.iter().map(|row| result(row, &codes, &mut seen)).collect();
    value!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rulebook",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: &str) -> Value {
    let mut rule = value!({ "id": code });
    if let (Some(page), Some(rule)) = (page(code), rule.as_object_mut()) {
        let mut paragraphs = page.text.split("\n\n").filter(|paragraph| !paragraph.starts_with('#'));
        let first = paragraphs.next().unwrap_or_default().replace('\n', " ");
        rule.insert("shortDescription", value!({ "text": first }));
        let help = format!("`rulebook explain {code}` prints this page.");
        rule.insert("help", value!({ "text": help, "markdown": page.text }));
    }
    rule
}

fn result(row: &Row, codes: &[&str], seen: &mut HashMap<u64, usize>) -> Value {
    let text = match &row.help {
        Some(help) => format!("{} (help: {help})", row.message),
        None => row.message.clone(),
    };
    let mut result = value!({
        "ruleId": (row.code.as_str()),
        "ruleIndex": codes.binary_search(&row.code.as_str()).unwrap_or_default(),
        "level": match row.severity { Severity::Error => "error", Severity::Warning => "warning", Severity::Info => "note" },
        "message": { "text": text },
        "partialFingerprints": { "rulebookFinding/v1": fingerprint(row, seen) },
    });
    let Some(members) = result.as_object_mut() else { return result };
    if let Some(file) = &row.file {
        members.insert("locations", value!([location(file, place(row), row.label.as_deref())]));
    }
    let related: Vec<Value> = row
        .labels
        .iter()
        .filter_map(|label| {
            let place = [label.line, label.column, label.end_line, label.end_column];
            Some(location(label.file.as_ref()?, place, Some(&label.text)))
        })
        .collect();
    if !related.is_empty() {
        members.insert("relatedLocations", related.into());
    }
    result
}

fn place(row: &Row) -> [Option<usize>; 4] {
    [row.line, row.column, row.end_line, row.end_column]
}

fn location(file: &str, place: [Option<usize>; 4], text: Option<&str>) -> Value {
    let mut physical = Object::new();
    physical.insert("artifactLocation", value!({ "uri": uri(file) }));
    let region = ["startLine", "startColumn", "endLine", "endColumn"].into_iter().zip(place);
    let region: Object = region.filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect();
    if !region.is_empty() {
        physical.insert("region", region.into());
    }
    let mut location = value!({ "physicalLocation": physical });
    if let (Some(text), Some(members)) = (text, location.as_object_mut()) {
        members.insert("message", value!({ "text": text }));
    }
    location
}

/// The path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// The fingerprint of a finding, which stays the same when lines move: a hash of its code, its file and the text of its
/// line, and its number among findings with that hash.
fn fingerprint(row: &Row, seen: &mut HashMap<u64, usize>) -> String {
    let file = row.file.as_deref().unwrap_or_default();
    let hash = fnv([row.code.as_str(), file, row.context.as_str()]);
    let number = seen.entry(hash).or_default();
    *number += 1;
    format!("{hash:016x}:{number}")
}

/// The 64-bit FNV-1a hash of the parts, each followed by a byte that UTF-8 never contains. Unlike the hashes of the
/// standard library, it is the same on every machine and in every version.
fn fnv<'t>(parts: impl IntoIterator<Item = &'t str>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
