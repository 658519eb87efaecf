//! `abide-remote completions` and `abide-remote man`, for packagers.

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::error::RemoteError;
use crate::output;

pub(crate) fn print_completions(args: &CompletionsArgs) -> Result<(), RemoteError> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "abide-remote", &mut bytes);
    output::write(None, &bytes)
}

/// Prints one page: the program, and below it `reflect`, which is all that people run.
pub(crate) fn print_man_page() -> Result<(), RemoteError> {
    let mut bytes = Vec::new();
    let mut command = Args::command();
    command.build();
    let render = |command: clap::Command, bytes: &mut Vec<u8>| {
        clap_mangen::Man::new(command).render(bytes).map_err(RemoteError::Output)
    };
    render(command.clone(), &mut bytes)?;
    if let Some(reflect) = command.find_subcommand("reflect") {
        let mut page = Vec::new();
        render(reflect.clone(), &mut page)?;
        // One title is enough.
        let page = String::from_utf8_lossy(&page).into_owned();
        let body = page.lines().skip_while(|it| !it.starts_with(".SH")).map(|it| format!("{it}\n"));
        bytes.extend(body.collect::<String>().into_bytes());
    }
    output::write(None, &bytes)
}
