//! Explained actions: do the prompts of a mode name everything that a model may ask for?
//!
//! In: the permits of a program, and the texts that a model reads in each mode.
//! Out: a finding for each permitted action that no text of the mode mentions, and for each block that a template
//! should print but no grammar can write.
//! Never: judges how well an action is explained.

use super::ModeTexts;
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{BlockBinding, Program};
use crate::prompt::PromptText;
use crate::text::Location;
use indexmap::IndexMap;

/// The actions found so far that some mode permits and none of its prompts names.
pub(super) type Unnamed<'p> = IndexMap<&'p str, Unexplained<'p>>;

/// An action that no prompt of these modes names.
pub(super) struct Unexplained<'p> {
    /// The permit of the first mode.
    at: Location,
    modes: Vec<&'p str>,
    /// The escaped form of the name, if a prompt contains only that.
    escaped: Option<String>,
}

/// Reports each of these actions once.
pub(super) fn report(unnamed: Unnamed<'_>, found: &mut Vec<Diagnostic>) {
    for (action, Unexplained { at, modes, escaped }) in unnamed {
        let message = match modes.as_slice() {
            [mode] => format!("no prompt of the mode `{mode}` names the action `{action}` that it permits"),
            modes => {
                format!("no prompt of the modes `{}` names the action `{action}` that they permit", modes.join("`, `"))
            }
        };
        let help = match escaped {
            Some(escaped) => {
                format!("it is printed as `{escaped}`, since an opener may start like that: print it with `| markup`")
            }
            None => "tell the model of it, print `actions` in a template, or take the permit out".to_owned(),
        };
        found.push(Diagnostic::new(Code::PROMPT_UNEXPLAINED, at, message).with_help(help));
    }
}

pub(super) fn check<'p>(
    program: &'p Program,
    reading: &ModeTexts,
    unnamed: &mut Unnamed<'p>,
    found: &mut Vec<Diagnostic>,
) {
    let Some((name, mode)) = program.modes.get_key_value(&reading.session.mode) else { return };
    if program.prompts.prompts.is_empty() {
        return;
    }
    // A prompt that prints `forms` describes every dialect completely; what it cannot print is reported elsewhere.
    let reads_forms = |one: &PromptText| program.prompts.template(one.source)?.reads().first_of("forms");
    if let Some(asked) = reading.texts.iter().find_map(reads_forms) {
        let nameless = |block: &BlockBinding| {
            found.iter().any(|one| one.code == Code::PACK_NAMELESS_CALL && one.at == Some(block.at))
        };
        let unspelled = program.unspelled(mode).into_iter().filter(|(_, block)| !nameless(block));
        for (dialect, block) in unspelled.collect::<Vec<_>>() {
            let message = format!("`forms` lacks `{}`: how `{}` spells it cannot be derived", block.name, dialect.name);
            found.push(
                Diagnostic::new(Code::PROMPT_UNSAID, block.at, message)
                    .with_place(asked, "the forms are asked for here")
                    .with_help("say how its opener is written with `spelled`, or show the whole block in the prompt"),
            );
        }
    }
    // A template may print the name only later in a session: search its source, too.
    let written = |one: &PromptText| program.sources().get(one.source).map(|source| source.text()).unwrap_or_default();
    let named =
        |action: &str| reading.texts.iter().any(|one| one.text.contains(action) || written(one).contains(action));
    for (action, _, permits) in program.permitted(mode) {
        if let Some(permit) = permits.first()
            && !named(action)
        {
            let escaped = program.prompts.escape.text(action);
            let is_escaped = escaped != *action && reading.texts.iter().any(|one| one.text.contains(&escaped));
            let known = unnamed.entry(action).or_insert_with(|| Unexplained {
                at: permit.at,
                modes: Vec::new(),
                escaped: is_escaped.then_some(escaped),
            });
            known.modes.push(name);
        }
    }
}
