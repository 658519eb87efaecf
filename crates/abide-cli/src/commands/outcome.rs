//! What commands hand back.

use std::path::PathBuf;

/// What a command that did its work says.
pub(super) struct Outcome {
    /// What is written; `None` leaves everything as it is.
    pub(super) report: Option<Vec<u8>>,
    /// Where it is written, if the command itself says so: else the file that `--output` names, or
    /// standard output.
    pub(super) target: Option<PathBuf>,
    /// Whether it found something at error level.
    pub(super) failed: bool,
    /// Parts of the work that could not be done, one phrase each: exit status 2.
    pub(super) troubles: Vec<String>,
}

impl Outcome {
    pub(super) fn of(report: impl Into<Vec<u8>>) -> Outcome {
        Outcome { report: Some(report.into()), ..Outcome::nothing(false) }
    }

    pub(super) fn nothing(failed: bool) -> Outcome {
        Outcome { report: None, target: None, failed, troubles: Vec::new() }
    }
}
