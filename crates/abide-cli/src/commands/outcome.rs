//! The results of commands.

use std::path::PathBuf;

use abide_source::printable;

/// The result of a command.
pub(super) struct CommandOutcome {
    /// The report for the file that `--output` names, else for standard output.
    pub(super) report: Option<Vec<u8>>,
    /// Further reports, with the files that they go to.
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
    /// True if it found something at error level.
    pub(super) failed: bool,
    /// Parts of the work that could not be done, one phrase each. Any of them means exit status 2.
    pub(super) troubles: Vec<String>,
}

impl CommandOutcome {
    /// A report, in which texts of others are texts.
    pub(super) fn of(report: impl Into<Vec<u8>>) -> CommandOutcome {
        CommandOutcome::verbatim(printable::report(report.into()))
    }

    /// A text that keeps its bytes: a file, or a patch of files.
    pub(super) fn verbatim(text: impl Into<Vec<u8>>) -> CommandOutcome {
        CommandOutcome { report: Some(text.into()), ..CommandOutcome::nothing(false) }
    }

    pub(super) fn nothing(failed: bool) -> CommandOutcome {
        CommandOutcome { report: None, files: Vec::new(), failed, troubles: Vec::new() }
    }
}
