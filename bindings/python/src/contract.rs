//! Contract: which results of the engine does a host read member by member?
//!
//! In: outcomes, prompts, sessions and reports.
//! Out: [`Contract`], which is shared and immutable; and one that is read from the JSON of another process.
//! Never: makes a Python object for a member that is not read.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rulebook::outcome::{Heard, Prompt};
use rulebook::{Outcome, Session};
use rulebook_report::json::Checked;
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// A result of the engine as a whole.
#[derive(Debug, Clone)]
pub(crate) enum Contract {
    Outcome(Arc<Outcome>),
    Heard(Arc<Heard>),
    Prompt(Arc<Prompt>),
    Session(Arc<Session>),
    Checked(Arc<(Checked, String)>),
}

/// The members of a contract that are not in its JSON.
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

    /// The member of this name, if it is a contract of its own. So a session is passed on without a conversion to JSON.
    pub(crate) fn within(&self, name: &str) -> Option<Contract> {
        match self {
            Self::Outcome(outcome) if name == "session" => Some(Self::Session(Arc::new(outcome.session.clone()))),
            Self::Heard(heard) if name == "session" => Some(Self::Session(Arc::new(heard.session.clone()))),
            _ => None,
        }
    }

    /// The members that are not in the JSON.
    pub(crate) fn extra(&self) -> Extra {
        match self {
            Self::Prompt(prompt) => {
                Extra { text: prompt.text.clone(), texts: prompt.texts.clone(), ..Extra::default() }
            }
            Self::Checked(checked) => Extra { drawn: checked.1.clone(), ..Extra::default() },
            Self::Outcome(_) | Self::Heard(_) | Self::Session(_) => Extra::default(),
        }
    }

    /// Reads the contract of this name that another process has written.
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
            // `found` is for reports of the engine, and is missing in a prompt from another process, so it is not
            // compared.
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

/// Parses JSON.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Serializes a value as JSON.
pub(crate) fn written(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
