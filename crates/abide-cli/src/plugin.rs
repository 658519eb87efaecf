//! Abide inside other tools: as a check plugin of buf, and as a plugin of protoc.

mod buf;
mod buf_rules;
pub(crate) mod host;
mod launcher;
mod messages;
mod pluginrpc;
mod policy;
mod protoc;

use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

pub use launcher::launch;

use abide_source::printable::escape_unprintable;

use crate::terminal::{eprint_block, eprint_line};

/// A tool that Abide is a plugin of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plugin {
    /// buf, which finds its plugins by any command.
    Buf,
    /// protoc, which starts programs by name and without arguments.
    Protoc,
}

impl Plugin {
    const ALL: [(&str, Plugin); 2] =
        [("buf-plugin-abide", Plugin::Buf), ("protoc-gen-abide", Plugin::Protoc)];

    /// The plugin whose name this process was started by, as through a link.
    pub(crate) fn from_program_name() -> Option<Plugin> {
        let program = std::env::args_os().next()?;
        let name = Path::new(&program).file_name()?.to_str()?;
        let name = name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(name);
        Plugin::ALL.into_iter().find(|(it, _)| *it == name).map(|(_, plugin)| plugin)
    }

    /// Does what the other tool asks for.
    pub(crate) fn run(self, args: &[String]) -> ExitCode {
        let output = match self {
            Plugin::Buf => pluginrpc::run(buf::PROCEDURES, args, read_input),
            Plugin::Protoc => protoc(args),
        };
        match output.and_then(|output| write_output(&output)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprint_line(&format!("error: {error}"));
                ExitCode::from(2)
            }
        }
    }
}

fn protoc(args: &[String]) -> Result<Vec<u8>, String> {
    if let Some(arg) = args.first() {
        return Err(format!(
            "unexpected argument `{arg}`: protoc starts this program, with `--abide_out=DIR`"
        ));
    }
    let answer = protoc::run(&read_input()?);
    for warning in &answer.warnings {
        eprint_block(&escape_unprintable(warning));
    }
    Ok(answer.response)
}

fn read_input() -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    Ok(bytes)
}

fn write_output(output: &[u8]) -> Result<(), String> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(output)
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("cannot write to standard output: {error}"))
}
