//! Contracts: what does the engine return that a host reads member by member?
//!
//! In: outcomes, prompts, sessions and reports.
//! Out: [`Contract`], which is shared and never changes; the same from the JSON of another process.
//! Never: makes an object of Python before it is read.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rulebook::Session;
use rulebook::outcome::{Heard, Outcome, Prompt};
use rulebook_report::json::Checked;
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// A whole contract.
#[derive(Debug, Clone)]
pub(crate) enum Contract {
    Outcome(Arc<Outcome>),
    Heard(Arc<Heard>),
    Prompt(Arc<Prompt>),
    Session(Arc<Session>),
    Checked(Arc<(Checked, String)>),
}

/// What a contract has besides its JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Extra {
    #[serde(default)]
    text: String,
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    drawn: String,
}

impl Contract {
    /// The name of its class.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Outcome(_) => "Outcome",
            Self::Heard(_) => "Heard",
            Self::Prompt(_) => "Prompt",
            Self::Session(_) => "Session",
            Self::Checked(_) => "Checked",
        }
    }

    /// The member of this name, if it is a contract of its own: a session is passed on without becoming JSON.
    pub(crate) fn within(&self, name: &str) -> Option<Contract> {
        match self {
            Self::Outcome(outcome) if name == "session" => Some(Self::Session(Arc::new(outcome.session.clone()))),
            Self::Heard(heard) if name == "session" => Some(Self::Session(Arc::new(heard.session.clone()))),
            _ => None,
        }
    }

    /// What it has besides its JSON.
    pub(crate) fn extra(&self) -> Extra {
        match self {
            Self::Prompt(prompt) => {
                Extra { text: prompt.text.clone(), texts: prompt.texts.clone(), ..Extra::default() }
            }
            Self::Checked(checked) => Extra { drawn: checked.1.clone(), ..Extra::default() },
            Self::Outcome(_) | Self::Heard(_) | Self::Session(_) => Extra::default(),
        }
    }

    /// The contract of this name that another process wrote.
    pub(crate) fn read(name: &str, json: &str, extra: &str) -> PyResult<Self> {
        let extra: Extra = read(extra)?;
        Ok(match name {
            "Outcome" => Self::Outcome(Arc::new(read(json)?)),
            "Heard" => Self::Heard(Arc::new(read(json)?)),
            "Session" => Self::Session(Arc::new(read(json)?)),
            "Checked" => Self::Checked(Arc::new((read(json)?, extra.drawn))),
            "Prompt" => {
                let mut prompt: Prompt = read(json)?;
                (prompt.text, prompt.texts) = (extra.text, extra.texts);
                Self::Prompt(Arc::new(prompt))
            }
            _ => return Err(PyValueError::new_err(format!("{name} is no contract"))),
        })
    }
}

impl PartialEq for Contract {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Outcome(one), Self::Outcome(two)) => one == two,
            (Self::Heard(one), Self::Heard(two)) => one == two,
            (Self::Session(one), Self::Session(two)) => one == two,
            (Self::Checked(one), Self::Checked(two)) => one == two,
            // What a prompt has for reports of the engine, no other process has.
            (Self::Prompt(one), Self::Prompt(two)) => {
                one.messages == two.messages
                    && one.ledger == two.ledger
                    && one.diagnostics == two.diagnostics
                    && one.text == two.text
                    && one.texts == two.texts
            }
            _ => false,
        }
    }
}

impl Serialize for Contract {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Outcome(outcome) => outcome.serialize(serializer),
            Self::Heard(heard) => heard.serialize(serializer),
            Self::Prompt(prompt) => prompt.serialize(serializer),
            Self::Session(session) => session.serialize(serializer),
            Self::Checked(checked) => checked.0.serialize(serializer),
        }
    }
}

/// Reads JSON.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Writes JSON.
pub(crate) fn written(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
