//! Pages: what does `explain CODE` say?
//!
//! In: the Markdown files of `docs/codes`, embedded.
//! Out: [`Page`] by code.
//! Never: runs the snippets of a page; a test does.

use super::is_fault;

/// One page of explanation.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Page {
    /// What it explains: a code with its area, or the name of a strategy.
    pub code: &'static str,
    /// Its Markdown.
    pub text: &'static str,
}

/// Declares the pages: a code, and its file below `docs/codes` where that is called otherwise.
macro_rules! pages {
    (@file $code:literal) => { concat!("../../docs/codes/", $code, ".md") };
    (@file $code:literal $file:literal) => { concat!("../../docs/codes/", $file, ".md") };
    ($($code:literal $(= $file:literal)?,)*) => {
        /// Every page, in the order of the tables.
        pub fn pages() -> &'static [Page] {
            &[$(Page { code: $code, text: include_str!(pages!(@file $code $($file)?)) },)*]
        }
    };
}

pages! {
    "pack/syntax",
    "pack/unreadable",
    "pack/missing-pack",
    "pack/path-outside",
    "pack/unknown-key",
    "pack/missing-key",
    "pack/wrong-type",
    "pack/wrong-value",
    "pack/duplicate-name",
    "pack/unknown-action",
    "pack/unknown-mode",
    "pack/unknown-dialect",
    "pack/unknown-grammar",
    "pack/unknown-block",
    "pack/unknown-tier",
    "pack/unknown-layer",
    "pack/unknown-message",
    "pack/unknown-event",
    "pack/no-exit",
    "pack/shut-gate",
    "pack/unreachable-mode",
    "pack/dead-end",
    "pack/endless-rules",
    "pack/unknown-defect",
    "pack/unknown-strategy",
    "pack/unknown-remark",
    "pack/unfit-strategy",
    "pack/bad-grammar",
    "pack/bad-pattern",
    "pack/bad-expression",
    "pack/unknown-variable",
    "pack/unknown-state",
    "pack/bad-schema",
    "pack/remote-ref",
    "pack/bad-effect",
    "pack/bad-block",
    "pack/bad-layer",
    "pack/missing-file",
    "pack/failing-expression",
    "prompt/unsaid",
    "prompt/unsaid-condition",
    "prompt/no-object",
    "prompt/tool-name",
    "pack/use-cycle",
    "pack/unknown-section",
    "prompt/unknown-prompt",
    "prompt/unknown-model",
    "prompt/bad-history",
    "prompt/failing-template",
    "prompt/over-budget",
    "prompt/too-large",
    "prompt/refused-example",
    "prompt/accepted-example",
    "pack/unpermitted-action",
    "pack/shadowed-dialect",
    "pack/nameless-call",
    "pack/unaskable-action",
    "pack/loose-opener",
    "pack/misfit-example",
    "pack/own-closer",
    "pack/idle-guardrail",
    "pack/idle-permit",
    "pack/idle-comparison",
    "pack/repeated-guardrail",
    "pack/idle-spelling",
    "pack/costly-rule",
    "prompt/unexplained-action",
    "pack/unsatisfiable-schema",
    "pack/absent-property",
    "pack/unset-state",
    "pack/unread-state",
    "pack/shadowed-input",
    "pack/shadowed-exit",
    "pack/shadowed-rule",
    "pack/idle-rule",
    "pack/unsaid-message",
    "pack/idle-excuse",
    "case/syntax",
    "case/expects-nothing",
    "case/failed",
    "case/uncovered",
    "case/overlooked",
    "case/holds-now",
    "pack/session-misfit",
    "workspace/unsafe-key",
    "workspace/outside",
    "workspace/not-a-file",
    "workspace/not-a-folder",
    "workspace/same-file",
    "workspace/cannot-write",
    "workspace/no-document",
    "workspace/unreadable",
    "workspace/not-a-list",
    "workspace/not-additive",
    "workspace/broken-line",
    "workspace/differing-outcome",
    "internal/fault",
    "response/no-dialect",
    "response/unclosed-block",
    "response/wrong-closer",
    "response/stray-closer",
    "response/malformed-opener",
    "response/malformed-payload",
    "response/stray-text",
    "response/nested-block",
    "response/truncated",
    "response/too-large",
    "response/too-costly",
    "response/missing-message",
    "response/missing-block",
    "response/duplicate-block",
    "response/out-of-order",
    "response/forbidden-block",
    "response/unknown-action",
    "response/invalid-payload",
    "response/unknown-param",
    "response/forbidden-call",
    "response/extra-call",
    "response/unsafe-path",
    "response/guardrail",
    "response/gate-closed",
    "response/unknown-speaker",
    "response/wrong-label",
    "response/turn-limit",
    "response/masked-block",
    "response/field-form",
    "response/repeated-field",
    "response/duplicate-key",
    "response/list-mismatch",
    "response/missing-optional",
    "response/no-target",
    "response/second-go",
    "response/not-utf-8",
    "response/unescaped",
    "response/note",
    "response/fault",
    "keep" = "strategy/keep",
    "drop" = "strategy/drop",
    "keep-as-text" = "strategy/keep-as-text",
    "lift" = "strategy/lift",
    "repair" = "strategy/repair",
    "coerce" = "strategy/coerce",
    "default" = "strategy/default",
    "keep-first" = "strategy/keep-first",
    "keep-last" = "strategy/keep-last",
    "join" = "strategy/join",
    "take-stray-text" = "strategy/take-stray-text",
    "refuse" = "strategy/refuse",
    "ask-again" = "strategy/ask-again",
}

/// The page of `code`. The faults that grammars name share one.
pub fn page(code: &str) -> Option<&'static Page> {
    let of_grammar = code.strip_prefix("response/").is_some_and(is_fault);
    let code = if of_grammar { "response/fault" } else { code };
    pages().iter().find(|page| page.code == code)
}
