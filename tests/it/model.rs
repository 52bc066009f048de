//! The model: may this call run? A slow and simple answer, from the public tables alone.
//!
//! It reads the TOML of the packs by itself and shares no code with the engine. A call counts if its action exists, if
//! the mode permits it, if its parameters match the declaration, if no strategy removed it because of a defect, and if
//! the number of calls before it is below the limit of the reply.

use rulebook::outcome::{Call, Finding, Status, Verdict};
use rulebook::program::Permission;
use rulebook::{Extent, Outcome, Program, Strategy};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The tables of a pack.
pub(crate) struct Model {
    tables: toml::Table,
    /// The action or content that is declared at each file and line.
    owners: BTreeMap<(String, usize), String>,
}

/// Defects whose strategy may remove a call.
const OF_CALLS: &[&str] = &[
    "unknown-action", "malformed-payload", "invalid-payload", "forbidden-call", "unclosed-block", "wrong-closer",
    "stray-closer", "extra-call", "fenced-block",
];

impl Model {
    pub(crate) fn new(pack: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(pack);
        let mut tables = toml::Table::new();
        let mut owners = BTreeMap::new();
        let mut files: Vec<_> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
            let text = std::fs::read_to_string(path).unwrap();
            let file = path.file_name().unwrap().to_str().unwrap();
            let mut owner = String::new();
            for (number, line) in text.lines().enumerate() {
                if let Some(header) = line.strip_prefix('[') {
                    let parts: Vec<&str> =
                        header.trim_start_matches('[').split(']').next().unwrap().split('.').collect();
                    owner = parts.iter().take(2).copied().collect::<Vec<_>>().join(".");
                }
                owners.insert((file.to_owned(), number + 1), owner.clone());
            }
            for (key, value) in text.parse::<toml::Table>().unwrap() {
                match (tables.get_mut(&key).and_then(toml::Value::as_table_mut), value) {
                    (Some(known), toml::Value::Table(more)) => known.extend(more),
                    (_, value) => drop(tables.insert(key, value)),
                }
            }
        }
        Self { tables, owners }
    }

    /// Whether the pack has rules, which apply even to an answer without a call or content.
    pub(crate) fn has_rules(&self) -> bool {
        self.tables.contains_key("rules")
    }

    /// The verdicts of an outcome that the model disagrees with.
    pub(crate) fn faults(&self, program: &Program, outcome: &Outcome) -> Vec<String> {
        let mut faults = Vec::new();
        let refused = outcome.status == Status::Refused;
        let most = self.most_calls(&outcome.mode);
        let dialect = outcome.dialect.clone().unwrap_or_default();
        let mut standing: Vec<bool> = Vec::new();
        for call in &outcome.calls {
            let permitted = self.permitted(program, &outcome.mode, call);
            let fits = self.fits(call);
            let findings: Vec<&Finding> = outcome.diagnostics.iter().filter(|found| concerns(found, call)).collect();
            let mut taken = false;
            for found in &findings {
                let defect = found.code.bare();
                let block = self.block_of(&dialect, &call.action);
                let allowed = strategies(program, defect, &outcome.mode, &dialect, &block, call);
                let chosen = found.strategy.map(|strategy| strategy.name().to_owned()).unwrap_or_default();
                // What another defect has dropped stays out of the text.
                let is_dropped =
                    || findings.iter().any(|other| other.code != found.code && other.strategy == Some(Strategy::Drop));
                let stays_out = chosen == "drop" && allowed.iter().any(|one| one == "keep-as-text") && is_dropped();
                if !allowed.contains(&chosen) && !stays_out {
                    faults.push(format!("{defect} of `{}` is answered by {chosen}, not by {allowed:?}", call.action));
                }
                taken |= defect != "extra-call" && matches!(chosen.as_str(), "drop" | "keep-as-text");
            }
            let has = |defect: &str| findings.iter().any(|found| found.code.bare() == defect);
            let known = program.actions().any(|name| name == call.action);
            // A quoted call has no other findings.
            let quoted = findings.iter().any(|found| {
                found.code.bare() == "fenced-block" && found.strategy.is_some_and(|strategy| strategy != Strategy::Keep)
            });
            if outcome.diagnostics.len() < 100 && quoted {
                standing.push(false);
            } else if outcome.diagnostics.len() < 100 {
                // The name of the call may be in the part that cannot be read: of it, or of the list that it is in.
                let is_broken = |found: &&Finding| found.code.bare() == "malformed-payload";
                let in_broken = outcome
                    .diagnostics
                    .iter()
                    .filter(is_broken)
                    .any(|found| found.span.start <= call.span.start && call.span.end <= found.span.end);
                let unread = call.action.is_empty() && (has("unclosed-block") || has("malformed-payload") || in_broken);
                // A name that is cut off is not completed, so its action is unknown without a finding.
                let cut = !known && has("unclosed-block") && call.verdict != Verdict::Accepted;
                if known == has("unknown-action") && !unread && !cut {
                    faults.push(format!("`{}` is known: {known}, yet unknown-action says otherwise", call.action));
                }
                if known && !self.ever_permitted(program, &outcome.mode, &call.action) && !has("forbidden-call") {
                    faults.push(format!("`{}` is forbidden, and nothing says so", call.action));
                }
                standing.push(known && permitted && fits && !taken);
            }
            if call.verdict == Verdict::Accepted && !(known && permitted && fits && !taken && !refused) {
                faults.push(format!(
                    "`{}` ran: known {known}, permitted {permitted}, fits {fits}, taken away {taken}, refused {refused}",
                    call.action
                ));
            }
        }
        if outcome.diagnostics.len() < 100 && !refused {
            let count = standing.iter().filter(|stands| **stands).count();
            let last = self.strategy_is(program, "extra-call", &outcome.mode, "keep-last");
            let mut seen = 0;
            for (call, stands) in outcome.calls.iter().zip(&standing) {
                seen += usize::from(*stands);
                let surplus = if last { count - seen >= most } else { seen > most };
                let expected = *stands && !surplus;
                if expected != (call.verdict == Verdict::Accepted) {
                    faults.push(format!("`{}` should count: {expected} ({call:?})", call.action));
                }
            }
        }
        self.effects(outcome, refused, &mut faults);
        faults
    }

    /// Checks that every effect comes from an accepted call of its action, from a content, or from a rule.
    fn effects(&self, outcome: &Outcome, refused: bool, faults: &mut Vec<String>) {
        if refused && !outcome.effects.is_empty() {
            faults.push("a refused answer has effects".to_owned());
        }
        for effect in &outcome.effects {
            let cause = effect.cause.as_ref().unwrap();
            let (file, line) = (cause.file.rsplit('/').next().unwrap().to_owned(), cause.line);
            let owner = self.owners.get(&(file, line)).cloned().unwrap_or_default();
            let stands = match owner.split_once('.') {
                Some(("actions", action)) => {
                    outcome.calls.iter().any(|call| call.action == action && call.verdict == Verdict::Accepted)
                }
                Some(("contents", name)) => outcome.contents.iter().any(|content| content.name == name),
                // Effects of rules need no call or content.
                _ => owner == "rules" || owner.starts_with("rules."),
            };
            if !stands {
                faults.push(format!("nothing that counts caused {effect:?} of {owner}"));
            }
        }
    }

    fn most_calls(&self, mode: &str) -> usize {
        let most = |table: Option<&toml::Value>| table?.get("reply")?.get("calls")?.get("most")?.as_integer();
        let mode = self.tables.get("modes").and_then(|modes| modes.get(mode));
        let whole = toml::Value::Table(self.tables.clone());
        most(mode).or(most(Some(&whole))).map_or(usize::MAX, |most| most as usize)
    }

    fn ever_permitted(&self, program: &Program, mode: &str, action: &str) -> bool {
        let mut cells = program.permit_table().into_iter();
        cells.any(|cell| cell.mode == mode && cell.name == action && cell.permission != Permission::Forbidden)
    }

    fn permitted(&self, program: &Program, mode: &str, call: &Call) -> bool {
        program.permit_table().into_iter().filter(|cell| cell.mode == mode && cell.name == call.action).any(|cell| {
            match cell.permission {
                Permission::Always { .. } => true,
                Permission::Forbidden => false,
                Permission::When { condition, .. } => match condition.as_str() {
                    "params.n < 3" => call.params.get("n").and_then(rulebook::Value::as_f64).is_some_and(|n| n < 3.0),
                    // The session of these tests has no written document yet.
                    other if other.starts_with("params.status != 'complete' or") => {
                        call.params.get("status").is_some_and(|status| status.as_str() != Some("complete"))
                    }
                    other => panic!("the model does not know the condition `{other}`"),
                },
            }
        })
    }

    fn fits(&self, call: &Call) -> bool {
        let params = self.tables.get("actions").and_then(|actions| actions.get(&call.action)?.get("params"));
        members_fit(&serde_json::Value::from(&call.params), params)
    }

    /// The block of this dialect that the call was written in: the one whose `names` have a prefix of the name of the
    /// call, or else the first block that is a call.
    fn block_of(&self, dialect: &str, action: &str) -> String {
        let dialects = self.tables.get("dialects").and_then(toml::Value::as_table);
        let dialect = dialects.and_then(|dialects| dialects.get(dialect));
        let like = dialect.and_then(|dialect| dialect.get("like")?.as_str()).and_then(|like| dialects?.get(like));
        let blocks = like.or(dialect).and_then(|dialect| dialect.get("blocks")?.as_table());
        let calls: Vec<_> = blocks
            .into_iter()
            .flatten()
            .filter(|(_, block)| block.get("role").and_then(|role| role.as_str()) == Some("call"))
            .collect();
        let named = |block: &toml::Value| {
            let names = block.get("names").and_then(toml::Value::as_array).into_iter().flatten();
            let mut starts = names.filter_map(|name| name.as_str()?.strip_suffix('*'));
            starts.any(|start| !start.is_empty() && action.starts_with(start))
        };
        let call = calls.iter().find(|(_, block)| named(block)).or(calls.first());
        call.map(|(name, _)| (*name).clone()).unwrap_or_default()
    }

    fn strategy_is(&self, program: &Program, defect: &str, mode: &str, strategy: &str) -> bool {
        let mut rows = program.degradation_table().into_iter();
        rows.any(|row| {
            row.defect.name() == defect
                && row.declared_by.to_string() == format!("mode {mode}")
                && row.strategies.first().is_some_and(|first| first.name() == strategy)
        })
    }
}

/// Whether a finding is a defect of a call: one inside its block.
fn concerns(found: &Finding, call: &Call) -> bool {
    let (Extent { start, end, .. }, span) = (call.span, &found.span);
    // An empty body is at the end of its block, and that offset may also be the start of the next block.
    let empty = span.start == span.end;
    let inside = start <= span.start && span.end <= end && (if empty { span.start > start } else { span.start < end });
    inside && found.id.is_none() && OF_CALLS.iter().any(|defect| found.code.bare() == *defect)
}

/// The strategies that may answer a defect of a call: those of the nearest declaration, then the default.
fn strategies(program: &Program, defect: &str, mode: &str, dialect: &str, block: &str, call: &Call) -> Vec<String> {
    let rows = program.degradation_table();
    let said = |place: String| {
        let row = rows.iter().find(|row| row.defect.name() == defect && row.declared_by.to_string() == place)?;
        Some(row.strategies.iter().map(|strategy| strategy.name().to_owned()).collect::<Vec<_>>())
    };
    let nearest = said(format!("action {}", call.action))
        .or_else(|| said(format!("block {dialect}.{block}")))
        .or_else(|| said(format!("mode {mode}")))
        .or_else(|| said("pack".to_owned()))
        .unwrap_or_default();
    let default = said("default for calls".to_owned()).or_else(|| said("default".to_owned())).unwrap_or_default();
    // Whether these strategies apply depends on the call. Any other strategy always applies, so that those after it do
    // not matter. `keep` does not apply to a call in reasoning or a fence that is never closed, nor to a quoted one.
    let lossy = |strategy: &str| matches!(defect, "unclosed-block" | "fenced-block") && strategy == "keep";
    let depends = |strategy: &String| {
        matches!(strategy.as_str(), "repair" | "salvage" | "coerce" | "interpret" | "default" | "omit" | "keep-as-text")
            || lossy(strategy)
    };
    let all: Vec<String> = nearest.into_iter().chain(default).collect();
    let certain = all.iter().position(|strategy| !depends(strategy)).map_or(all.len(), |at| at + 1);
    all.into_iter().take(certain).collect()
}

fn members_fit(value: &Value, declared: Option<&toml::Value>) -> bool {
    let empty = toml::Table::new();
    let declared = declared.and_then(toml::Value::as_table).unwrap_or(&empty);
    declared.iter().all(|(name, schema)| match value.get(name) {
        Some(member) => fits(member, schema),
        None => schema.get("required").and_then(toml::Value::as_bool) != Some(true),
    })
}

fn fits(value: &Value, schema: &toml::Value) -> bool {
    let word = |key: &str| schema.get(key).and_then(toml::Value::as_str);
    let number = |key: &str| schema.get(key).and_then(toml::Value::as_integer);
    let typed = match (word("type"), value) {
        (Some("string"), Value::String(_)) | (Some("boolean"), Value::Bool(_)) | (None, _) => true,
        (Some("integer"), Value::Number(number)) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        (Some("number"), Value::Number(_)) => true,
        (Some("array"), Value::Array(items)) => {
            items.iter().all(|item| schema.get("items").is_none_or(|schema| fits(item, schema)))
        }
        (Some("object"), Value::Object(_)) => members_fit(value, schema.get("properties")),
        _ => false,
    };
    let length = value.as_str().map(|text| text.chars().count() as i64);
    let long_enough = length.is_none_or(|length| number("minLength").is_none_or(|least| length >= least));
    let great_enough = value.as_f64().is_none_or(|value| number("minimum").is_none_or(|least| value >= least as f64));
    let words = schema.get("enum").and_then(toml::Value::as_array);
    let listed = words.is_none_or(|words| words.iter().any(|word| word.as_str() == value.as_str()));
    let holds = schema
        .get("contains")
        .is_none_or(|schema| value.as_array().is_none_or(|items| items.iter().any(|item| fits(item, schema))));
    // All patterns of the packs are for URLs.
    let pattern = word("pattern").is_none_or(|_| {
        let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        rest.is_some_and(|rest| {
            !rest.is_empty() && !rest.starts_with(['/', '?', '#']) && !rest.contains(char::is_whitespace)
        })
    });
    typed && long_enough && great_enough && listed && holds && pattern
}
