//! Arguments about findings that can be fixed.

use clap::Args;

/// Arguments about findings that can be fixed.
#[derive(Args, Clone, Copy, Debug)]
#[group(multiple = false)]
pub(crate) struct FixArgs {
    /// Fix what can be fixed without breaking anybody, and report what remains
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print what --fix would change, as a patch; exit with status 1 if there is anything
    #[arg(long, conflicts_with_all = ["format", "limit", "statistics"])]
    pub(crate) diff: bool,
}

impl FixArgs {
    /// Returns true if fixes are written or shown.
    pub(crate) fn is_asked(self) -> bool {
        self.fix || self.diff
    }
}
