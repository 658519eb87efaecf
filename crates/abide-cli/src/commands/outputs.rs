//! Files that a command writes because the user names them.
//!
//! A typo must not cost a source: a report, a descriptor set or a mapping replaces neither what the
//! run reads nor what people write.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::args::{Cli, Command, ConfigCommand};
use crate::error::Error;

/// Endings of sources and of settings, which no output has.
const SOURCES: &[&str] = &["proto", "toml", "lock", "accepted"];

/// Endings of what trees are read from, which no report has.
const DESCRIPTORS: &[&str] = &["binpb", "pb", "tar", "tgz", "zip"];

/// An output that the user names.
struct OutputFile<'a> {
    path: &'a Path,
    /// The option, as the user writes it.
    option: &'static str,
    is_report: bool,
    /// True if it may be one of the files that are read.
    is_in_place: bool,
}

impl<'a> OutputFile<'a> {
    /// A file that is no report.
    fn file(path: &'a Path, option: &'static str) -> OutputFile<'a> {
        OutputFile { path, option, is_report: false, is_in_place: false }
    }
}

/// Fails if an output would be written over what the run reads, or is named as a source is.
pub(super) fn check_outputs(cli: &Cli, matches: &ArgMatches) -> Result<(), Error> {
    let outputs = collect_outputs(cli);
    if outputs.is_empty() {
        return Ok(());
    }
    let inputs = collect_inputs(matches);
    let mut paths = BTreeSet::new();
    if let Some(twice) = outputs.iter().find(|it| !paths.insert(it.path)) {
        let path = twice.path.display();
        return Err(Error::Usage(format!("two reports would go to `{path}`: choose another name")));
    }
    for output in outputs {
        let path = output.path.display();
        let ending = output.path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let lower = ending.to_ascii_lowercase();
        let is_source = SOURCES.contains(&lower.as_str());
        if is_source || output.is_report && DESCRIPTORS.contains(&lower.as_str()) {
            return Err(Error::Usage(format!(
                "`{} {path}` names a source: choose a name without the ending `.{ending}`",
                output.option
            )));
        }
        if let Some(input) =
            inputs.iter().find(|it| !output.is_in_place && is_same_file(it, output.path))
        {
            return Err(Error::Usage(format!(
                "`{}` would overwrite `{}`, which this command reads: choose another name",
                output.option,
                input.display()
            )));
        }
    }
    Ok(())
}

/// Fails if the report would be written over one of these files, which the run reads.
pub(super) fn check_report_path<'n>(
    output: Option<&Path>,
    files: impl IntoIterator<Item = &'n Path>,
) -> Result<(), Error> {
    let Some(output) = output else { return Ok(()) };
    match files.into_iter().find(|it| is_same_file(it, output)) {
        None => Ok(()),
        Some(input) => Err(Error::Usage(format!(
            "`--output` would overwrite `{}`, which this command reads: choose another name",
            input.display()
        ))),
    }
}

fn collect_outputs(cli: &Cli) -> Vec<OutputFile<'_>> {
    let mut outputs = Vec::new();
    let is_set = matches!(cli.command, Command::Build { .. });
    if let Some(path) = cli.global.output.as_deref() {
        outputs.push(OutputFile {
            path,
            option: "--output",
            is_report: !is_set,
            is_in_place: false,
        });
    }
    if let Command::Check { judge, .. }
    | Command::Lint { judge, .. }
    | Command::Breaking { judge, .. } = &cli.command
    {
        outputs.extend(
            judge
                .report
                .iter()
                .map(|it| OutputFile { is_report: true, ..OutputFile::file(&it.path, "--report") }),
        );
    }
    match &cli.command {
        Command::Build { out: Some(path), .. } => outputs.push(OutputFile::file(path, "-o")),
        Command::Upgrade { mapping, .. } => {
            outputs.extend(mapping.iter().map(|path| OutputFile::file(path, "--mapping")));
        }
        Command::Config(args) => {
            if let ConfigCommand::Upgrade(args) | ConfigCommand::Downgrade(args) = &args.command {
                outputs.extend(args.target.out.iter().map(|path| OutputFile {
                    is_in_place: true,
                    ..OutputFile::file(path, "--out")
                }));
            }
        }
        _ => {}
    }
    outputs.retain(|it| it.path != Path::new("-"));
    outputs
}

/// Collects the arguments that are not outputs: some of them are files.
fn collect_inputs(matches: &ArgMatches) -> Vec<PathBuf> {
    let mut inputs = Vec::new();
    let mut level = Some(matches);
    let mut outputs = vec!["output", "out", "report"];
    if matches.subcommand_name() == Some("upgrade") {
        outputs.push("mapping");
    }
    while let Some(matches) = level {
        for id in matches.ids().map(clap::Id::as_str).filter(|it| !outputs.contains(it)) {
            if matches.value_source(id) == Some(ValueSource::CommandLine)
                && let Ok(Some(values)) = matches.try_get_raw(id)
            {
                inputs.extend(values.map(PathBuf::from));
            }
        }
        level = matches.subcommand().map(|it| it.1);
    }
    inputs
}

/// Returns true if two names lead to one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    a.is_file() && a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
