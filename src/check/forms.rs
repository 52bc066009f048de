//! Forms: is the form of a block in a prompt read as that block?
//!
//! In: the forms of answers and the examples of calls in the prompts of a mode, or in a correction.
//! Out: a finding for each block whose form the rules refuse, at its declaration.
//! Never: requires a form to be a whole answer, or a new session to be in the state that the form needs.

use super::ModeTexts;
use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::expression::Template;
use crate::outcome::{Finding, Options};
use crate::program::{Action, BlockBinding, Dialect, DialectId, ExampleMembers, Mode, Program, example};
use crate::prompt::{AnswerForm, BlockForm};
use crate::session::Session;
use crate::surface::Payload;
use crate::text::{Location, excerpt};
use std::collections::HashSet;

/// Defects of a form that is not read as the block, or that the mode does not accept.
const FAULTS: &[Defect] = &[
    Defect::NoDialect,
    Defect::UnclosedBlock,
    Defect::WrongCloser,
    Defect::StrayCloser,
    Defect::MalformedOpener,
    Defect::MalformedPayload,
    Defect::StrayText,
    Defect::NestedBlock,
    Defect::ForbiddenBlock,
];

/// Defects of a call that is not read correctly, if its parameters are valid against their schema.
const MISREAD: &[Defect] = &[Defect::InvalidPayload, Defect::UnknownParam];

/// How many characters of an example are quoted.
const MAX_EXCERPT_CHARACTERS: usize = 80;

/// The blocks already checked: a block that is read in one mode is read in all.
pub(super) type CheckedBlocks = HashSet<(DialectId, String)>;

pub(super) fn check(program: &Program, reading: &ModeTexts, known: &mut CheckedBlocks, found: &mut Vec<Diagnostic>) {
    let Some((name, mode)) = program.modes.get_key_value(&reading.session.mode) else { return };
    let printed = PrintedForms::of(program, reading, mode);
    let mut unexplained = Vec::new();
    if let Some(printed_by) = printed.forms {
        for form in program.forms(name) {
            let Some(dialect) = program.dialects.iter().find(|dialect| dialect.name == form.dialect) else { continue };
            let checker = FormChecker { program, session: &reading.session, dialect, printed_by };
            checker.form(&form, &mut |text| known.insert((dialect.id, text.to_owned())), &mut unexplained);
        }
    }
    if let Some(printed_by) = printed.calls {
        for dialect in program.asked_dialects_of(mode) {
            let checker = FormChecker { program, session: &reading.session, dialect, printed_by };
            for (name, action, _) in program.permitted(mode) {
                if known.insert((dialect.id, format!("call {name}"))) {
                    unexplained.extend(checker.call(mode, name, action));
                }
            }
        }
    }
    unexplained.extend(escaped(program, reading));
    for one in unexplained {
        if !found.iter().any(|other| (&other.code, other.at) == (&one.code, one.at)) {
            found.push(one);
        }
    }
}

/// Reports forms that a template escapes when printing, as if they were values of users.
fn escaped(program: &Program, reading: &ModeTexts) -> Option<Diagnostic> {
    let mode = &reading.session.mode;
    let mut spelled: Option<Vec<(&str, String)>> = None;
    reading.texts.iter().find_map(|prompt_text| {
        let document = program.prompts.template(prompt_text.source)?;
        let paths = || document.reads().inner().chain(document.reads().iter());
        let shows = |head: &str| paths().find(|(path, _)| starts(path, head));
        shows("forms").or_else(|| shows("actions"))?;
        let spelled = spelled.get_or_insert_with(|| {
            let forms = program.forms(mode).into_iter();
            let forms = forms.flat_map(|form| form.blocks.into_iter().map(|block| block.text).chain([form.text]));
            let calls = program.action_forms(mode).into_iter().filter_map(|action| action.example);
            forms.map(|text| ("forms", text)).chain(calls.map(|text| ("actions", text))).collect()
        });
        let is_written = |text: &str| {
            let escape = &program.prompts.escape;
            let is_there = |quoted: String| quoted != text && prompt_text.text.contains(quoted.trim());
            !prompt_text.text.contains(text.trim())
                && (is_there(escape.text(text)) || is_there(escape.spoken("", text)))
        };
        let (head, _) = spelled.iter().find(|(head, text)| shows(head).is_some() && is_written(text))?;
        let member = |path: &[String]| path.last().is_some_and(|name| matches!(name.as_str(), "text" | "example"));
        let of_head = |(path, _): &(&[String], Location)| starts(path, head) && member(path);
        let at = paths().find(of_head).or_else(|| shows(head)).map(|(_, at)| at);
        let message = format!("this prompt prints `{head}` escaped: a model that copies them writes no block");
        let help = "print it with the filter `markup`, as in `{{ form.text | markup }}`";
        Some(Diagnostic::new(Code::PROMPT_REFUSED_EXAMPLE, at, message).with_help(help).into_warning())
    })
}

/// What prints the forms of answers, and examples of calls, in a mode, if anything does.
struct PrintedForms {
    forms: Option<PrintedBy>,
    calls: Option<PrintedBy>,
}

#[derive(Debug, Clone, Copy)]
enum PrintedBy {
    /// An expression of the pack.
    Pack(Location),
    /// The engine's own correction text.
    Engine,
}

impl PrintedForms {
    fn of(program: &Program, reading: &ModeTexts, mode: &Mode) -> Self {
        let documents = || reading.texts.iter().filter_map(|prompt_text| program.prompts.template(prompt_text.source));
        let paths = || documents().flat_map(|document| document.reads().iter().chain(document.reads().inner()));
        let forms = paths().find(|(path, _)| starts(path, "forms")).map(|(_, at)| PrintedBy::Pack(at));
        let example = |path: &[String]| path.len() == 3 && path.last().is_some_and(|name| name == "example");
        let calls =
            paths().find(|(path, _)| starts(path, "actions") && example(path)).map(|(_, at)| PrintedBy::Pack(at));
        // The pack's own correction text may leave the form out.
        let words = program.ask_again.words.as_ref();
        let says = |words: &Template| words.reads_at().first_of("form").is_some();
        let asks = asks_again(program, mode) && words.is_none_or(says);
        let corrected = asks.then(|| words.map_or(PrintedBy::Engine, |words| PrintedBy::Pack(words.at())));
        Self { forms: forms.or(corrected), calls: calls.or(corrected) }
    }
}

fn starts(path: &[String], name: &str) -> bool {
    path.first().is_some_and(|head| head == name)
}

/// Whether the pack can ask a model again in this mode.
fn asks_again(program: &Program, mode: &Mode) -> bool {
    let blocks = program.dialects.iter().flat_map(|dialect| dialect.blocks.iter()).map(|block| &block.degradation);
    let actions = program.actions.values().map(|action| &action.degradation);
    let tables = [&program.degradation, &mode.degradation].into_iter().chain(blocks).chain(actions);
    let guardrails = program.guardrails.rules.iter().filter_map(|rule| rule.strategy);
    tables
        .flat_map(|table| table.rows().map(|(_, strategy, _)| strategy))
        .chain(guardrails)
        .any(|one| one == Strategy::AskAgain)
}

/// A dialect of a mode, whose forms are checked.
struct FormChecker<'p> {
    program: &'p Program,
    session: &'p Session,
    dialect: &'p Dialect,
    printed_by: PrintedBy,
}

impl FormChecker<'_> {
    /// Checks each block on its own, if it is new; then all of them together.
    fn form(&self, form: &AnswerForm, is_new: &mut dyn FnMut(&str) -> bool, found: &mut Vec<Diagnostic>) {
        let before = found.len();
        let block = |form: &BlockForm| self.dialect.blocks.iter().find(|block| block.name == form.name);
        for (one, block) in form.blocks.iter().filter_map(|one| Some((one, block(one)?))) {
            if is_new(&one.text) {
                let fault = self.faults(&one.text, FAULTS).into_iter().next();
                let why = fault
                    .map(|fault| FormFault::Refused(Box::new(fault)))
                    .or_else(|| (!self.read(&one.text).contains(&block.at)).then_some(FormFault::UnreadAlone));
                found.extend(why.map(|why| self.finding(block, &why)));
            }
        }
        if found.len() > before {
            return;
        }
        if let Some(fault) = self.faults(&form.text, FAULTS).into_iter().next() {
            let holds = |one: &&BlockForm| {
                let text = one.text.trim_end();
                form.text.find(text).is_some_and(|start| (start..start + text.len()).contains(&fault.span.start))
            };
            let at_fault = form.blocks.iter().find(holds).or(form.blocks.first());
            found.extend(
                at_fault.and_then(block).map(|block| self.finding(block, &FormFault::Refused(Box::new(fault)))),
            );
            return;
        }
        let read = self.read(&form.text);
        let unread = form.blocks.iter().filter_map(block).find(|block| !read.contains(&block.at));
        found.extend(unread.map(|block| self.finding(block, &FormFault::UnreadTogether)));
    }

    /// Checks the example of a call.
    fn call(&self, mode: &Mode, name: &str, action: &Action) -> Option<Diagnostic> {
        let (block, text) = self.program.call_example(mode, self.dialect, name, action)?;
        let block = self.dialect.block(block)?;
        if let Some(fault) = self.faults(&text, FAULTS).into_iter().next() {
            return Some(self.finding(block, &FormFault::Refused(Box::new(fault))));
        }
        // Values that are not valid have been reported where they are declared.
        let is_example = |action: &Action| {
            let sample: crate::value::Value = example(action.schema.json(), ExampleMembers::Exemplified);
            action.schema.validator().is_ok_and(|validator| validator.is_valid(&sample))
        };
        let fault = self.faults(&text, MISREAD).into_iter().next().filter(|_| is_example(action))?;
        let written = excerpt(text.trim(), MAX_EXCERPT_CHARACTERS);
        let message =
            format!("the example of a call of `{name}`, `{written}`, is not read as it was meant: {}", fault.message);
        let finding = Diagnostic::new(Code::PROMPT_REFUSED_EXAMPLE, action.at, message)
            .with_place(block.at, "spelled as this block")
            .with_help("give the block a `payload` that can hold these parameters, or declare them differently");
        Some(self.with_source_place(finding))
    }

    /// The findings about a text that have one of these defects.
    fn faults(&self, text: &str, of: &[Defect]) -> Vec<Finding> {
        let options = Options { dialect: Some(self.dialect.name.clone()), ..Options::default() };
        let found = self.program.run_with(self.session, text.as_bytes(), &options).diagnostics;
        let is_of = |finding: &Finding| matches!(finding.code, Code::Defect(defect) if of.contains(&defect));
        found.into_iter().filter(is_of).collect()
    }

    /// The declarations of the blocks that are read from a text, by their places.
    fn read(&self, text: &str) -> Vec<Location> {
        let read = self.program.blocks_read(self.session, &self.dialect.name, text);
        read.into_iter().filter_map(|id| Some(self.dialect.block(id)?.at)).collect()
    }

    fn finding(&self, block: &BlockBinding, why: &FormFault) -> Diagnostic {
        let name = &block.name;
        let (message, help) = match why {
            FormFault::Refused(fault) => (
                format!("the form of `{name}` that a model is shown is refused: {}", fault.message),
                help(block, fault),
            ),
            FormFault::UnreadAlone => (
                format!("the form of `{name}` that a model is shown is not read as this block"),
                match (&block.spelled, &block.layout) {
                    (Some(_), _) => "make `spelled` an opener of this block, or take it out",
                    (None, Some(_)) => FIX_LAYOUT,
                    (None, None) => {
                        "make sure that no other block opens with it and no mask of the dialect quotes it, or set `spelled`"
                    }
                },
            ),
            FormFault::UnreadTogether => (
                format!("after the other blocks of an answer, the form of `{name}` is not read as this block"),
                "fix the `ends` of the block that swallows it, or put that block last in the `order` of `[reply]`",
            ),
        };
        self.with_source_place(Diagnostic::new(Code::PROMPT_REFUSED_EXAMPLE, block.at, message).with_help(help))
    }

    fn with_source_place(&self, finding: Diagnostic) -> Diagnostic {
        match self.printed_by {
            PrintedBy::Pack(at) => finding.with_place(at, "the forms are asked for here"),
            PrintedBy::Engine => finding,
        }
    }
}

/// The help for a block whose whole layout the pack declares.
const FIX_LAYOUT: &str = "fix `spelled`, so that the grammar reads it as this block, or take it out";

/// The fault of the form of a block.
enum FormFault {
    Refused(Box<Finding>),
    /// Alone, it opens another block, or none.
    UnreadAlone,
    /// It is read alone, but not after other blocks.
    UnreadTogether,
}

fn help(block: &BlockBinding, fault: &Finding) -> &'static str {
    let is = |defect: Defect| fault.code == Code::Defect(defect);
    if is(Defect::ForbiddenBlock) {
        "let the `reply` of the mode allow the blocks that it is shown with"
    } else if is(Defect::MalformedPayload) && block.payload.contains(&Payload::Tags) && block.fields.is_none() {
        "set the grammar of its fields, such as `fields = \"tags\"`"
    } else if block.spelled.is_some() {
        "make `spelled` an opener of this block, or take it out"
    } else if block.layout.is_some() {
        FIX_LAYOUT
    } else if block.about.is_some() {
        "fix its `close`, its `ends`, or markup in its `about`"
    } else {
        "fix its `close` or `ends`, so that it ends before the blocks that it is shown with"
    }
}
