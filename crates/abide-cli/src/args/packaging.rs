//! The arguments of `abide completions` and `abide man`, which packagers run.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

pub(super) const COMPLETIONS: &str = "\
Examples:
  abide completions bash --output ~/.local/share/bash-completion/completions/abide
  abide completions zsh --output ~/.zfunc/_abide        if ~/.zfunc is in fpath
  abide completions fish --output ~/.config/fish/completions/abide.fish
  abide completions powershell >> $PROFILE";

pub(super) const MAN: &str = "\
Examples:
  abide man | man -l -                   read the page of abide
  abide man check | man -l -             read the page of a command
  abide man --out ~/.local/share/man/man1
                                         write every page, for man";

/// Arguments of `abide completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads them
    pub(crate) shell: Shell,
}

/// Arguments of `abide man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command, such as `calendar simulate` [default: abide itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of abide and of every command to DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["command", "output"])]
    pub(crate) out: Option<PathBuf>,
}
