//! The closed lists: which kinds of defects, strategies and remarks exist?
//!
//! In: nothing.
//! Out: [`Defect`], [`Strategy`] and [`Remark`], with the strategies that can be applied to each defect and the default
//! one.
//! Never: finds a defect, or applies a strategy.

use super::{Page, Severity};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Declares an enum whose variants each have a kebab-case name, and a page of that name in a folder below `docs/codes`.
/// `$area` is the prefix that turns the name into the code of the page.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident ($folder:literal, $area:literal) { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All variants, in the order of the table.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            pub(super) const PAGES: &'static [Page] = &[$(Page {
                code: concat!($area, $text),
                text: include_str!(concat!("../../docs/codes/", $folder, "/", $text, ".md")),
            },)*];

            /// The code of its page: its name with its area, if it has one.
            #[allow(dead_code, reason = "strategies have names, but no codes")]
            pub(crate) fn code(self) -> &'static str {
                match self { $($name::$variant => concat!($area, $text),)* }
            }

            /// The name in packs, messages and outcomes.
            #[doc(hidden)]
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The variant called `name`, if there is one.
            #[doc(hidden)]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                let names = || Self::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join("`, `");
                Self::from_name(&name).ok_or_else(|| {
                    D::Error::custom(format!("`{name}` is none of `{}`", names()))
                })
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
    /// A kind of defect in a response.
    Defect ("response", "response/") {
        /// No dialect of the mode recognised a block.
        NoDialect = "no-dialect",
        /// A block, field or payload that its own closer does not end.
        UnclosedBlock = "unclosed-block",
        /// A block that a closer of another name ends.
        WrongCloser = "wrong-closer",
        /// An unmatched closer.
        StrayCloser = "stray-closer",
        /// The start of an opener of a declared block that its grammar cannot read.
        MalformedOpener = "malformed-opener",
        /// A payload that cannot be read, or only with faults.
        MalformedPayload = "malformed-payload",
        /// Text outside every block, where the dialect does not allow text.
        StrayText = "stray-text",
        /// A declared block inside another one.
        NestedBlock = "nested-block",
        /// A block in a quoted region, such as a code fence, that only a fallback dialect reads.
        FencedBlock = "fenced-block",
        /// The host reports that the model ran out of tokens.
        Truncated = "truncated",
        /// More input, blocks or nesting than the limits allow.
        TooLarge = "too-large",
        /// Reading the response took more steps than its budget allows.
        TooCostly = "too-costly",
        /// No message where the reply must have one.
        MissingMessage = "missing-message",
        /// A block that the reply must have is missing.
        MissingBlock = "missing-block",
        /// More blocks of one name than `most` allows.
        DuplicateBlock = "duplicate-block",
        /// A block after one that should come after it.
        OutOfOrder = "out-of-order",
        /// A block that the reply may not have: its `most` is 0.
        ForbiddenBlock = "forbidden-block",
        /// A call of an action that the pack does not declare.
        UnknownAction = "unknown-action",
        /// A payload that is not valid against its schema.
        InvalidPayload = "invalid-payload",
        /// A parameter that the action does not declare.
        UnknownParam = "unknown-param",
        /// A call that no permit of the mode allows.
        ForbiddenCall = "forbidden-call",
        /// A content that the permits of the mode do not allow.
        ForbiddenContent = "forbidden-content",
        /// A call that is written in the text of a reply with native calls.
        SpelledCall = "spelled-call",
        /// A call beyond the number that the reply may have.
        ExtraCall = "extra-call",
        /// A key that is not a safe path below the root.
        UnsafePath = "unsafe-path",
        /// An edit without content, or a patch that cannot be read.
        InvalidEdit = "invalid-edit",
        /// Two texts for one file.
        DuplicateWrite = "duplicate-write",
        /// A change to a file that conflicts with another change, or with the file itself.
        EditConflict = "edit-conflict",
        /// An edit of a text, or of a file, that does not exist.
        EditNotFound = "edit-not-found",
        /// An edit of a text that occurs several times.
        EditAmbiguous = "edit-ambiguous",
        /// A guardrail that was tripped.
        Guardrail = "guardrail",
        /// A change to a mode whose gate is closed.
        GateClosed = "gate-closed",
        /// A speaker that the pack does not declare.
        UnknownSpeaker = "unknown-speaker",
        /// A speaker with the label of another one.
        WrongLabel = "wrong-label",
        /// An utterance beyond the limit of the discussion.
        TurnLimit = "turn-limit",
    }
}

named! {
    /// What to do about a defect.
    Strategy ("strategy", "") {
        /// Changes nothing, and reports the defect.
        Keep = "keep",
        /// Removes the parameter, call, block or text with the defect.
        Drop = "drop",
        /// Replaces what a guardrail matches in a text or a parameter.
        Redact = "redact",
        /// Makes the block, as written, a part of the message.
        KeepAsText = "keep-as-text",
        /// Treats a block inside another one as if it were outside.
        Lift = "lift",
        /// Accepts a value that was read with faults, if every possible reading gives the same value.
        Repair = "repair",
        /// Accepts the part of a value that could be read, even if something was dropped or guessed.
        Salvage = "salvage",
        /// Converts a value to the declared type if no information is lost.
        Coerce = "coerce",
        /// Extracts the number, the boolean or a word of a closed list from a text that contains more.
        Interpret = "interpret",
        /// Uses the declared default for a value that is wrong or absent.
        Default = "default",
        /// Leaves out a value that is wrong or incomplete, if it is not required.
        Omit = "omit",
        /// Only the first of several counts.
        KeepFirst = "keep-first",
        /// Only the last of several counts.
        KeepLast = "keep-last",
        /// Joins several into one.
        Join = "join",
        /// Makes the text outside all blocks the message.
        TakeStrayText = "take-stray-text",
        /// Refuses the whole answer: no effects, and the session is unchanged.
        Refuse = "refuse",
        /// Refuses the answer, and returns a correction text for the model.
        AskAgain = "ask-again",
    }
}

named! {
    /// Something worth reporting that needs no strategy.
    Remark ("response", "response/") {
        /// Something inside a quoted region looks like a block, and is text.
        QuotedBlock = "quoted-block",
        /// The response uses another form than the declared one, which was understood.
        FieldForm = "field-form",
        /// A field for one value occurs several times; the last counts.
        RepeatedField = "repeated-field",
        /// A key occurs several times; the last counts.
        DuplicateKey = "duplicate-key",
        /// A list in the response does not agree with the blocks that it should name.
        ListMismatch = "list-mismatch",
        /// An optional part is absent, and the pack asks for a finding.
        MissingOptional = "missing-optional",
        /// An effect found nothing to act on.
        NoTarget = "no-target",
        /// A second change of mode in one event.
        SecondGo = "second-go",
        /// The response is not valid UTF-8.
        NotUtf8 = "not-utf-8",
        /// The reply has a part that nothing reads.
        UnknownPart = "unknown-part",
        /// The provider reports that the model refused, or stopped the answer itself.
        ProviderRefusal = "provider-refusal",
        /// Text that was escaped twice was read as if escaped once.
        Unescaped = "unescaped",
        /// A remark of the pack, with the pack's own text.
        Note = "note",
    }
}

use Strategy::{
    AskAgain, Coerce, Default, Drop, Interpret, Join, Keep, KeepAsText, KeepFirst, KeepLast, Lift, Omit, Redact,
    Refuse, Repair, Salvage, TakeStrayText,
};

impl Defect {
    /// The strategies that can be applied to the defect; any other is an error of the pack. `refuse` and `ask-again`
    /// can be applied to every defect.
    #[doc(hidden)]
    pub fn applicable(self) -> &'static [Strategy] {
        match self {
            Defect::NoDialect => &[TakeStrayText, Drop, Refuse, AskAgain],
            Defect::UnclosedBlock => &[Keep, Drop, KeepAsText, Repair, Salvage, Omit, Refuse, AskAgain],
            Defect::WrongCloser => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::StrayCloser => &[Keep, Drop, Refuse, AskAgain],
            Defect::MalformedOpener => &[Keep, Drop, Refuse, AskAgain],
            Defect::MalformedPayload => &[Repair, Salvage, Omit, Drop, KeepAsText, Refuse, AskAgain],
            Defect::StrayText => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::NestedBlock => &[Keep, Drop, KeepAsText, Lift, Refuse, AskAgain],
            Defect::FencedBlock => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::Truncated => &[Keep, Refuse, AskAgain],
            Defect::TooLarge => &[Keep, Refuse, AskAgain],
            Defect::TooCostly => &[Keep, Refuse, AskAgain],
            Defect::MissingMessage => &[TakeStrayText, Keep, Refuse, AskAgain],
            Defect::MissingBlock => &[Keep, Refuse, AskAgain],
            Defect::DuplicateBlock => &[Keep, KeepFirst, KeepLast, Join, Drop, Refuse, AskAgain],
            Defect::OutOfOrder => &[Keep, Drop, Refuse, AskAgain],
            Defect::ForbiddenBlock => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::UnknownAction => &[Drop, KeepAsText, Refuse, AskAgain],
            Defect::InvalidPayload => &[Coerce, Interpret, Default, Omit, Drop, KeepAsText, Refuse, AskAgain],
            Defect::UnknownParam => &[Keep, Drop, Refuse, AskAgain],
            Defect::ForbiddenCall | Defect::ForbiddenContent => &[Drop, KeepAsText, Refuse, AskAgain],
            Defect::SpelledCall => &[Keep, Drop, KeepAsText, Refuse, AskAgain],
            Defect::ExtraCall => &[KeepFirst, KeepLast, Drop, KeepAsText, Refuse, AskAgain],
            Defect::UnsafePath => &[Drop, KeepAsText, Refuse, AskAgain],
            Defect::InvalidEdit | Defect::EditConflict => &[Drop, Refuse, AskAgain],
            Defect::DuplicateWrite => &[KeepFirst, KeepLast, Refuse, AskAgain],
            Defect::EditNotFound | Defect::EditAmbiguous => &[Refuse, AskAgain],
            Defect::Guardrail => &[Keep, Redact, Drop, Refuse, AskAgain],
            Defect::GateClosed => &[Keep, Drop, Refuse, AskAgain],
            Defect::UnknownSpeaker => &[Keep, Drop, Refuse, AskAgain],
            Defect::WrongLabel => &[Keep, Drop, Refuse, AskAgain],
            Defect::TurnLimit => &[Keep, Drop, Refuse, AskAgain],
        }
    }

    /// The strategy if the pack declares none. Deny by default: anything that could run by mistake is dropped.
    #[doc(hidden)]
    pub fn default_strategy(self) -> Strategy {
        match self {
            Defect::NoDialect | Defect::MissingMessage => TakeStrayText,
            Defect::MalformedPayload
            | Defect::UnknownAction
            | Defect::InvalidPayload
            | Defect::UnknownParam
            | Defect::ForbiddenCall
            | Defect::ForbiddenContent
            | Defect::SpelledCall
            | Defect::ForbiddenBlock
            | Defect::UnsafePath
            | Defect::StrayText
            | Defect::GateClosed => Drop,
            Defect::DuplicateBlock | Defect::ExtraCall => KeepFirst,
            Defect::DuplicateWrite => KeepLast,
            // The changes of an answer belong together: half of them may be worse than none.
            Defect::InvalidEdit | Defect::EditConflict | Defect::EditNotFound | Defect::EditAmbiguous => Refuse,
            Defect::UnclosedBlock
            | Defect::WrongCloser
            | Defect::StrayCloser
            | Defect::MalformedOpener
            | Defect::NestedBlock
            | Defect::FencedBlock
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

    /// The strategy for calls if the pack declares none: a call that may have been cut off must not run.
    #[doc(hidden)]
    pub fn default_for_calls(self) -> Strategy {
        match self {
            Defect::UnclosedBlock | Defect::StrayCloser | Defect::FencedBlock => Drop,
            other => other.default_strategy(),
        }
    }

    /// The strategy for contents if the pack declares none: a content that is only quoted must not be stored.
    #[doc(hidden)]
    pub fn default_for_contents(self) -> Strategy {
        match self {
            Defect::FencedBlock => Drop,
            other => other.default_strategy(),
        }
    }

    /// Whether the defect is about the action that a call asks for, or about its parameters.
    #[doc(hidden)]
    pub fn of_calls(self) -> bool {
        use Defect::{
            ExtraCall, ForbiddenCall, InvalidPayload, MalformedPayload, SpelledCall, UnknownAction, UnknownParam,
        };
        matches!(
            self,
            MalformedPayload | UnknownAction | InvalidPayload | UnknownParam | ForbiddenCall | SpelledCall | ExtraCall
        )
    }

    /// Whether a call of a known action can have the defect, so that the action may declare a strategy for it.
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

    /// Whether the defect can be in a block, so that the block may declare a strategy for it.
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
                | Defect::EditNotFound
                | Defect::EditAmbiguous
        )
    }

    /// The severity, unless the answer is refused because of the defect.
    #[doc(hidden)]
    pub fn severity(self) -> Severity {
        match self {
            Defect::NoDialect | Defect::TooLarge | Defect::TooCostly => Severity::Error,
            _ => Severity::Warning,
        }
    }
}

impl Strategy {
    /// Whether the strategy discards every effect of the answer.
    #[doc(hidden)]
    pub fn refuses(self) -> bool {
        matches!(self, Refuse | AskAgain)
    }

    /// Whether the strategy corrects single values, so that the next strategy is tried only for the remaining ones.
    pub(crate) fn corrects(self) -> bool {
        match self {
            Coerce | Interpret | Default | Omit => true,
            Keep | Drop | Redact | KeepAsText | Lift | Repair | Salvage | KeepFirst | KeepLast | Join
            | TakeStrayText | Refuse | AskAgain => false,
        }
    }

    /// Whether the strategy always applies to this defect, so that none after it in a list can act.
    pub(crate) fn always_answers(self, defect: Defect) -> bool {
        use Defect::{
            DuplicateBlock, ExtraCall, ForbiddenBlock, ForbiddenCall, ForbiddenContent, InvalidPayload,
            MalformedPayload, NoDialect, OutOfOrder, SpelledCall, StrayText, TurnLimit, UnknownAction, UnknownParam,
            UnknownSpeaker, WrongLabel,
        };
        match self {
            Keep | Refuse => true,
            KeepFirst | KeepLast => matches!(defect, DuplicateBlock | ExtraCall),
            Drop => matches!(
                defect,
                DuplicateBlock
                    | ExtraCall
                    | ForbiddenBlock
                    | ForbiddenCall
                    | ForbiddenContent
                    | InvalidPayload
                    | MalformedPayload
                    | NoDialect
                    | OutOfOrder
                    | SpelledCall
                    | StrayText
                    | TurnLimit
                    | UnknownAction
                    | UnknownParam
                    | UnknownSpeaker
                    | WrongLabel
            ),
            Redact | KeepAsText | Lift | Repair | Salvage | Coerce | Interpret | Default | Omit | Join
            | TakeStrayText | AskAgain => false,
        }
    }
}
