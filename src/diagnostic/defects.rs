//! The closed lists: which kinds of wrongness, which answers to them, which remarks are there?
//!
//! In: nothing.
//! Out: [`Defect`], [`Strategy`] and [`Remark`], with which strategies fit a defect and which answer it by default.
//! Never: finds a defect, or carries a strategy out.

use super::{Page, Severity};
use std::fmt;

/// Declares an enum whose variants have one kebab-case name each, and a page of that name in a folder below `docs/codes`; the
/// page is found under the name behind `$area`.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident ($folder:literal, $area:literal) { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All of them, in the order of the table.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            pub(super) const PAGES: &'static [Page] = &[$(Page {
                code: concat!($area, $text),
                text: include_str!(concat!("../../docs/codes/", $folder, "/", $text, ".md")),
            },)*];

            /// Its name in packs, messages and outcomes.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one called `name`.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named! {
    /// A kind of wrongness in a response.
    Defect ("response", "response/") {
        /// No dialect of the mode recognised a block.
        NoDialect = "no-dialect",
        /// A block, field or payload that its closer does not end.
        UnclosedBlock = "unclosed-block",
        /// A block ended by a closer of another name.
        WrongCloser = "wrong-closer",
        /// A closer that closes nothing.
        StrayCloser = "stray-closer",
        /// The start of a bound block that its grammar cannot read.
        MalformedOpener = "malformed-opener",
        /// A payload that none of its readers can read, or only with faults.
        MalformedPayload = "malformed-payload",
        /// Text outside every block where the dialect has no place for it.
        StrayText = "stray-text",
        /// A bound block inside another.
        NestedBlock = "nested-block",
        /// The host says that the model ran out of tokens.
        Truncated = "truncated",
        /// More input, blocks or nesting than the limits allow.
        TooLarge = "too-large",
        /// The step budget is spent.
        TooCostly = "too-costly",
        /// No message where the reply must have one.
        MissingMessage = "missing-message",
        /// A block that the reply must have is absent.
        MissingBlock = "missing-block",
        /// More blocks of a name than `most` allows.
        DuplicateBlock = "duplicate-block",
        /// A block that stands behind one that should come after it.
        OutOfOrder = "out-of-order",
        /// A block of a name that the reply may not have.
        ForbiddenBlock = "forbidden-block",
        /// A call of an action that no pack declares.
        UnknownAction = "unknown-action",
        /// A payload that its schema refuses.
        InvalidPayload = "invalid-payload",
        /// A parameter that the action does not declare.
        UnknownParam = "unknown-param",
        /// A call that no permit of the mode allows.
        ForbiddenCall = "forbidden-call",
        /// A call beyond the most that the reply may have.
        ExtraCall = "extra-call",
        /// A key that is no safe path below the workspace root.
        UnsafePath = "unsafe-path",
        /// A guardrail that was tripped.
        Guardrail = "guardrail",
        /// A way to another mode whose gate is shut.
        GateClosed = "gate-closed",
        /// A speaker whom no pack declares.
        UnknownSpeaker = "unknown-speaker",
        /// A speaker with another's label.
        WrongLabel = "wrong-label",
        /// An utterance beyond the turns of the discussion.
        TurnLimit = "turn-limit",
    }
}

named! {
    /// What is done about a defect.
    Strategy ("strategy", "") {
        /// Leaves it as it is, with the diagnostic.
        Keep = "keep",
        /// Removes what the defect is about: parameter, call, block or text.
        Drop = "drop",
        /// The raw block becomes part of the message.
        KeepAsText = "keep-as-text",
        /// A block inside another counts as if it stood outside.
        Lift = "lift",
        /// Accepts a value that was read with faults.
        Repair = "repair",
        /// Turns a value into the declared type where that loses nothing.
        Coerce = "coerce",
        /// Takes the declared default instead of what is wrong or absent.
        Default = "default",
        /// The first of several counts.
        KeepFirst = "keep-first",
        /// The last of several counts.
        KeepLast = "keep-last",
        /// Several become one.
        Join = "join",
        /// The text outside all blocks becomes the message.
        TakeStrayText = "take-stray-text",
        /// No effects, and the session stays as it was.
        Refuse = "refuse",
        /// Refuses, with a correction text for the model.
        AskAgain = "ask-again",
    }
}

named! {
    /// Something worth saying that needs no strategy.
    Remark ("response", "response/") {
        /// What looks like a block stands in a mask and is text.
        MaskedBlock = "masked-block",
        /// Another form than the declared one was understood.
        FieldForm = "field-form",
        /// A field of one value stands several times; the last counts.
        RepeatedField = "repeated-field",
        /// A key stands several times; the last counts.
        DuplicateKey = "duplicate-key",
        /// A list in the response differs from the blocks it should name.
        ListMismatch = "list-mismatch",
        /// An optional part is absent where the pack wants to say so.
        MissingOptional = "missing-optional",
        /// An effect had no target.
        NoTarget = "no-target",
        /// A second change of mode in one event.
        SecondGo = "second-go",
        /// The response is not UTF-8.
        NotUtf8 = "not-utf-8",
        /// Text that was escaped twice was read as escaped once.
        Unescaped = "unescaped",
        /// A pack's own remark, with its text.
        Note = "note",
    }
}

use Strategy::{
    AskAgain, Coerce, Default, Drop, Join, Keep, KeepAsText, KeepFirst, KeepLast, Lift, Refuse, Repair, TakeStrayText,
};

impl Defect {
    /// The strategies that fit it; any other is a fault of the pack. `refuse` and `ask-again` fit every defect.
    pub fn fits(self) -> &'static [Strategy] {
        match self {
            Defect::NoDialect => &[TakeStrayText, Drop, Refuse, AskAgain],
            Defect::UnclosedBlock => &[Keep, Drop, KeepAsText, Repair, Refuse, AskAgain],
            Defect::WrongCloser => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::StrayCloser => &[Keep, Drop, Refuse, AskAgain],
            Defect::MalformedOpener => &[Keep, Drop, Refuse, AskAgain],
            Defect::MalformedPayload => &[Repair, Drop, KeepAsText, Refuse, AskAgain],
            Defect::StrayText => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::NestedBlock => &[Keep, Drop, KeepAsText, Lift, Refuse, AskAgain],
            Defect::Truncated => &[Keep, Refuse, AskAgain],
            Defect::TooLarge => &[Keep, Refuse, AskAgain],
            Defect::TooCostly => &[Keep, Refuse, AskAgain],
            Defect::MissingMessage => &[TakeStrayText, Keep, Refuse, AskAgain],
            Defect::MissingBlock => &[Keep, Refuse, AskAgain],
            Defect::DuplicateBlock => &[Keep, KeepFirst, KeepLast, Join, Drop, Refuse, AskAgain],
            Defect::OutOfOrder => &[Keep, Drop, Refuse, AskAgain],
            Defect::ForbiddenBlock => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::UnknownAction => &[Drop, KeepAsText, Refuse, AskAgain],
            Defect::InvalidPayload => &[Coerce, Default, Drop, KeepAsText, Refuse, AskAgain],
            Defect::UnknownParam => &[Keep, Drop, Refuse, AskAgain],
            Defect::ForbiddenCall => &[Drop, KeepAsText, Refuse, AskAgain],
            Defect::ExtraCall => &[KeepFirst, KeepLast, Drop, KeepAsText, Refuse, AskAgain],
            Defect::UnsafePath => &[Drop, KeepAsText, Refuse, AskAgain],
            Defect::Guardrail => &[Keep, Drop, Refuse, AskAgain],
            Defect::GateClosed => &[Keep, Drop, Refuse, AskAgain],
            Defect::UnknownSpeaker => &[Keep, Drop, Refuse, AskAgain],
            Defect::WrongLabel => &[Keep, Drop, Refuse, AskAgain],
            Defect::TurnLimit => &[Keep, Drop, Refuse, AskAgain],
        }
    }

    /// What answers it where no pack says otherwise. Deny by default: what could run by mistake is dropped.
    pub fn default_strategy(self) -> Strategy {
        match self {
            Defect::NoDialect | Defect::MissingMessage => TakeStrayText,
            Defect::MalformedPayload
            | Defect::UnknownAction
            | Defect::InvalidPayload
            | Defect::UnknownParam
            | Defect::ForbiddenCall
            | Defect::ForbiddenBlock
            | Defect::UnsafePath
            | Defect::StrayText
            | Defect::GateClosed => Drop,
            Defect::DuplicateBlock | Defect::ExtraCall => KeepFirst,
            Defect::UnclosedBlock
            | Defect::WrongCloser
            | Defect::StrayCloser
            | Defect::MalformedOpener
            | Defect::NestedBlock
            | Defect::Truncated
            | Defect::TooLarge
            | Defect::TooCostly
            | Defect::MissingBlock
            | Defect::OutOfOrder
            | Defect::Guardrail
            | Defect::UnknownSpeaker
            | Defect::WrongLabel
            | Defect::TurnLimit => Keep,
        }
    }

    /// What answers it for calls where no pack says otherwise: one that was cut off, or of which a field may be, must not run.
    pub fn default_for_calls(self) -> Strategy {
        match self {
            Defect::UnclosedBlock | Defect::StrayCloser => Drop,
            other => other.default_strategy(),
        }
    }

    /// Whether it is about what a call asks for.
    pub fn of_calls(self) -> bool {
        use Defect::{ExtraCall, ForbiddenCall, InvalidPayload, MalformedPayload, UnknownAction, UnknownParam};
        matches!(self, MalformedPayload | UnknownAction | InvalidPayload | UnknownParam | ForbiddenCall | ExtraCall)
    }

    /// Whether a call of a known action may have it, so that its action may say what answers it.
    pub(crate) fn is_of_actions(self) -> bool {
        !matches!(
            self,
            Defect::NoDialect
                | Defect::MalformedOpener
                | Defect::StrayText
                | Defect::NestedBlock
                | Defect::Truncated
                | Defect::TooLarge
                | Defect::TooCostly
                | Defect::MissingMessage
                | Defect::MissingBlock
                | Defect::UnknownAction
                | Defect::UnsafePath
                | Defect::UnknownSpeaker
                | Defect::WrongLabel
                | Defect::TurnLimit
        )
    }

    /// Whether one block may have it, or stand around it, so that its declaration may say what answers it.
    pub(crate) fn is_of_blocks(self) -> bool {
        !matches!(
            self,
            Defect::NoDialect
                | Defect::StrayText
                | Defect::Truncated
                | Defect::TooLarge
                | Defect::TooCostly
                | Defect::MissingMessage
                | Defect::MissingBlock
        )
    }

    /// How much it matters while nothing refuses the answer.
    pub fn severity(self) -> Severity {
        match self {
            Defect::NoDialect | Defect::TooLarge | Defect::TooCostly => Severity::Error,
            _ => Severity::Warning,
        }
    }
}

impl Strategy {
    /// Whether it takes every effect from the answer.
    pub fn refuses(self) -> bool {
        matches!(self, Refuse | AskAgain)
    }

    /// Whether it applies to this defect wherever that is, so that nothing behind it in a list ever answers.
    pub(crate) fn always_answers(self, defect: Defect) -> bool {
        use Defect::{DuplicateBlock, ForbiddenBlock, ForbiddenCall, InvalidPayload, UnknownAction, UnknownParam};
        match self {
            Keep | Refuse => true,
            KeepFirst | KeepLast => defect == DuplicateBlock,
            Drop => matches!(
                defect,
                DuplicateBlock | ForbiddenBlock | ForbiddenCall | InvalidPayload | UnknownAction | UnknownParam
            ),
            _ => false,
        }
    }
}
