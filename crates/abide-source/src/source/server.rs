//! APIs of running servers, which `abide-remote` reads: Abide itself never uses the network.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use abide_lint::is_server;
use jiff::SignedDuration;

use super::contents::DescriptorFormat;
use super::failure::SourceError;
use super::imports::place_imports;
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::roots::RootLayout;
use crate::printable::escape_unprintable;
use crate::program_call::{CallError, CallLimits, call_program};

pub(super) const KIND: SourceKind = SourceKind {
    help: "\
grpc://HOST:PORT     what a server says of itself by reflection; `abide-remote` asks it
grpcs://HOST:PORT    the same over TLS",
    brief: "a server, as `grpc://HOST:PORT`",
    is_spelled: |spec| is_server(spec),
    is_found: |_, _| false,
    is_packed: true,
    open,
};

/// The program that uses the network.
const PROGRAM: &str = "abide-remote";
/// The time that it takes by itself before it gives up, and the time that it gets on top.
const USUAL_TIME: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(30);
/// Nobody waits for longer.
const MOST_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The variable with which users give it another time. It reads that itself.
const TIMEOUT: &str = "ABIDE_REMOTE_TIMEOUT";
/// The most bytes of a set: sixteen times what the program takes of a server unless it is told to.
const MAX_SET: usize = 1 << 30;

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let mut notes = Vec::new();
    let imports = place_imports(asked.options, |_| None, None, &mut layout, &mut notes);
    Ok(OpenedSource { source: Box::new(Server(asked.name.to_owned())), layout, imports, notes })
}

/// A server, as the user names it.
struct Server(String);

impl OpenSource for Server {
    fn read(&self, _layout: &RootLayout, name: &str) -> Result<SourceData, SourceError> {
        let limits = CallLimits { time: find_time_limit(), answer: MAX_SET, memory: None };
        let mut programs = list_programs().into_iter();
        let output = loop {
            let Some(program) = programs.next() else {
                return Err(SourceError::unusable(name, NOT_INSTALLED));
            };
            let mut command = Command::new(program);
            command.arg("reflect").arg("--").arg(&self.0);
            match call_program(command, Vec::new(), &limits) {
                Err(CallError::Start(error)) if error.kind() == io::ErrorKind::NotFound => {}
                output => break output,
            }
        };
        let output =
            output.map_err(|error| SourceError::unusable(name, describe_failure(&error)))?;
        if output.stdout.is_empty() {
            return Err(SourceError::unusable(
                name,
                format!("`{PROGRAM}` wrote no descriptor set"),
            ));
        }
        let notes = output.stderr.lines().filter_map(|it| it.strip_prefix("note: "));
        let notes = notes.map(escape_unprintable).collect();
        let (bytes, format) = (output.stdout, DescriptorFormat::Binary);
        Ok(SourceData::DescriptorSet { bytes, format, notes })
    }

    fn is_running(&self) -> bool {
        true
    }
}

const NOT_INSTALLED: &str = "`abide` never uses the network itself, and `abide-remote`, which asks servers for it, is neither \
     on the PATH nor beside `abide`: install it with `pip install abide-remote` or, in a clone, \
     `cargo install --path crates/abide-remote`";

/// The programs to try: the one in the PATH, then the one beside this program.
fn list_programs() -> Vec<OsString> {
    let own = env::current_exe().and_then(|it| it.canonicalize()).ok();
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let beside = own.and_then(|it| Some(it.parent()?.join(name)));
    [PathBuf::from(PROGRAM)].into_iter().chain(beside).map(PathBuf::into_os_string).collect()
}

/// How long the program may take.
fn find_time_limit() -> Duration {
    let named = env::var(TIMEOUT).ok().and_then(|text| match text.parse::<u32>() {
        Ok(seconds) => Some(SignedDuration::from_secs(seconds.into())),
        Err(_) => text.parse().ok(),
    });
    let named = named.and_then(|it| Duration::try_from(it).ok());
    named.unwrap_or(USUAL_TIME).min(MOST_TIME) + GRACE
}

/// Says why the program gave no set: as it says itself, if it does.
fn describe_failure(error: &CallError) -> String {
    let said = match error {
        CallError::Failed { stderr, .. } => {
            stderr.lines().find_map(|it| it.strip_prefix("error: "))
        }
        _ => None,
    };
    match said {
        Some(said) => escape_unprintable(said),
        None => escape_unprintable(&format!("`{PROGRAM}` failed: {error}")),
    }
}
