//! The ledger of tokens: where does every token of a prompt come from?
//!
//! In: nothing; these are plain types.
//! Out: [`Message`], [`TokenLedger`] and [`Layer`], a part of the contract of prompts.
//! Never: counts a token.

use crate::session::contract;
use crate::surface::Speaker;

contract! {
    /// One message.
    pub struct Message {
        /// Who speaks.
        role: Speaker,
        /// The text.
        content: String,
    }

    /// The account of every token.
    pub struct TokenLedger {
        /// The model as the pack declares it; as the host names it where no table does.
        model: String,
        /// The tier of the model.
        tier: String,
        /// How many tokens the model takes in.
        context: usize,
        /// How many of them are kept for the answer.
        reserve: usize,
        /// How many the whole prompt should use at most, as far as the tier says or the answer leaves room.
        #[serde(skip)]
        input: usize,
        /// How many the whole prompt uses, written as one text.
        tokens: usize,
        /// Whether the model's vocabulary is unknown and the numbers are an estimate.
        estimated: bool,
        /// Every layer that the pack declares, in order.
        layers: Vec<Layer>,
    }

    /// One named part of the prompt.
    pub struct Layer {
        /// Its name.
        id: String,
        /// The file of its text, `history` or `message`.
        source: Option<String>,
        /// The tier whose variant of it was taken; none for the layer's own text.
        variant: Option<String>,
        /// How many tokens it uses.
        tokens: usize,
        /// How many it may use.
        budget: Option<usize>,
        /// What was left out of it, and why; each part starts with the word of the pack that did it.
        trimmed: Option<String>,
    }
}
