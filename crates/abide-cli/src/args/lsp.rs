//! The arguments of `abide lsp`.

use clap::Args;

pub(super) const HELP: &str = "\
An editor starts this command and talks to it; the book shows how to set up VS Code, Neovim, Helix \
and others. It shows what `abide check` reports, while you type: syntax and link errors, the policy, \
lint, and breaking changes against the old tree. It also answers hover, go to definition, \
references, rename, completion, symbols, quick fixes and formatting.

The tree of a file is the one that the nearest abide.toml names, else the folder that is open in the \
editor, else the file alone.

Examples:
  abide lsp                              the command that an editor starts
  abide lsp --against git:main...        compare with the merge base with main";

/// Arguments of `abide lsp`.
#[derive(Args, Debug)]
pub(crate) struct LspArgs {
    /// Compare with this old tree [default: against of abide.toml]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) against: Option<String>,
    /// Accepted for editors that pass it: the server always uses standard input and output
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}
