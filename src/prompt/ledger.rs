//! The ledger of tokens: where does every token of a prompt come from?
//!
//! In: nothing; these are plain types.
//! Out: [`PromptMessage`], [`TokenLedger`] and [`Layer`], part of the contract of prompts.
//! Never: counts a token.

use crate::session::contract;
use crate::surface::Speaker;

contract! {
    /// One message of a prompt.
    pub struct PromptMessage {
        /// Who says it.
        role: Speaker,
        /// Its text.
        content: String,
    }

    /// The account of every token of a prompt.
    pub struct TokenLedger {
        /// The model, by its name in the pack; by the host's name if the pack does not declare it.
        model: String,
        /// The tier of the model.
        tier: String,
        /// The context window of the model, in tokens.
        context: usize,
        /// How many of these are reserved for the answer.
        reserve: usize,
        /// The most tokens that the prompt should have: the limit of the tier, but not more than the answer leaves.
        #[serde(skip)]
        input: usize,
        /// The tokens of the whole prompt, as one text.
        tokens: usize,
        /// Whether the numbers are estimates, because the model's vocabulary is unknown.
        estimated: bool,
        /// Every layer of the prompt, in order.
        layers: Vec<Layer>,
    }

    /// One layer of the prompt.
    pub struct Layer {
        /// Its name.
        id: String,
        /// The file of its text, after the folder of its pack if that is a used one; or `history`, `verdicts` or
        /// `message`.
        source: Option<String>,
        /// The tier whose variant was used; none for the layer's own text.
        variant: Option<String>,
        /// Its tokens.
        tokens: usize,
        /// The most tokens that it may have; none without a budget.
        budget: Option<usize>,
        /// What was left out and why. Each part starts with the word of the pack that caused it.
        trimmed: Option<String>,
    }
}
