//! Program: what runs?
//!
//! In: the files of a pack.
//! Out: [`Loaded`], with a [`Program`] where no error stands in its way.
//! Never: reads a response. (Temporary stand-in.)

use crate::diagnostic::{Defect, Diagnostic, Severity, Strategy};
use crate::session::Session;
use crate::surface::{Folder, Surface, read};
use crate::text::Sources;
use serde_json::{Map, Value};

/// A pack that runs.
#[derive(Debug)]
pub struct Program {
    surface: Surface,
}

/// What loading a pack gives.
#[derive(Debug)]
pub struct Loaded {
    /// The files, for places.
    pub sources: Sources,
    /// The program, if no error stood in its way.
    pub program: Option<Program>,
    /// Everything found.
    pub diagnostics: Vec<Diagnostic>,
}

/// One row of the degradation table.
#[derive(Debug, Clone)]
pub struct DegradationRow {
    /// The defect.
    pub defect: Defect,
    /// `pack`, `mode X`, `action X`, `block D.X` or `default`.
    pub place: String,
    /// The strategies, of which the first that applies counts.
    pub strategies: Vec<Strategy>,
    /// `file:line:column`
    pub rule: Option<String>,
}

/// One cell of the matrix of permits.
#[derive(Debug, Clone)]
pub struct PermitCell {
    /// The action.
    pub action: String,
    /// The mode.
    pub mode: String,
    /// What the mode says.
    pub permit: Permit,
}

/// What a mode says about an action.
#[derive(Debug, Clone)]
pub enum Permit {
    /// No permit allows it.
    Forbidden,
    /// A permit allows every call.
    Always {
        /// `file:line:column`
        rule: String,
    },
    /// A permit allows calls for which the condition holds.
    When {
        /// The condition.
        condition: String,
        /// `file:line:column`
        rule: String,
    },
}

impl Program {
    /// Loads a pack.
    pub fn load(folder: &Folder) -> Loaded {
        let (surface, diagnostics) = read(folder);
        let broken = diagnostics.iter().any(|one| one.severity == Severity::Error);
        Loaded { sources: surface.sources.clone(), program: (!broken).then_some(Program { surface }), diagnostics }
    }

    /// The files, for places.
    pub fn sources(&self) -> &Sources {
        &self.surface.sources
    }

    /// The pack's name.
    pub fn name(&self) -> &str {
        self.surface.about.as_ref().map(|about| about.name.value.as_str()).unwrap_or_default()
    }

    /// The first session.
    pub fn session(&self) -> Session {
        Session::new(self.modes().next().unwrap_or("default"), Map::new())
    }

    /// A session from a partial one.
    ///
    /// # Errors
    ///
    /// What does not fit the pack.
    pub fn resume(&self, partial: &Value) -> Result<Session, Vec<Diagnostic>> {
        let mut session = self.session();
        if let Some(mode) = partial.get("mode").and_then(Value::as_str) {
            session.mode = mode.to_owned();
        }
        Ok(session)
    }

    /// The modes.
    pub fn modes(&self) -> impl Iterator<Item = &str> {
        self.surface.modes.keys().map(String::as_str)
    }

    /// The dialects.
    pub fn dialects(&self) -> impl Iterator<Item = &str> {
        self.surface.dialects.keys().map(String::as_str)
    }

    /// The actions.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.surface.actions.keys().map(String::as_str)
    }

    /// The degradation table as it stands.
    pub fn degradation_table(&self) -> Vec<DegradationRow> {
        Defect::ALL
            .iter()
            .map(|defect| DegradationRow {
                defect: *defect,
                place: "default".into(),
                strategies: vec![defect.default_strategy()],
                rule: None,
            })
            .collect()
    }

    /// The matrix of permits.
    pub fn permit_table(&self) -> Vec<PermitCell> {
        let mut cells = Vec::new();
        for action in self.actions() {
            for mode in self.modes() {
                cells.push(PermitCell { action: action.into(), mode: mode.into(), permit: Permit::Forbidden });
            }
        }
        cells
    }
}
