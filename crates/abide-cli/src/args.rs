//! The command line, as the user writes it.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::render::{
    GRAPHS, GraphFormat, HASHES, HISTORIES, HashFormat, HistoryFormat, PLANS, PlanFormat, REPORTS,
    RULE_LISTS, ReportFormat, RulesFormat, one_of,
};

fn sources() -> String {
    format!(
        "SOURCE is {}. Without it: the tree that the nearest abide.toml names, else the current \
         folder.",
        crate::source::help()
    )
}

const EXIT_STATUS: &str = "\
Exit status: 0 nothing at error level, 1 findings at error level, 2 the tool could not do its work.";

const ABOUT_HASHES: &str = "\
A hash changes when the meaning does: names, numbers, types, resolved features, options. Comments, \
layout, the order of declarations, notation and the file of a package that an element stands in do \
not enter it. `own` is an element's own meaning, `closure` that of everything reachable from it.

To see why a hash changed, compare what was hashed:
  diff <(abide hash git:main --facts acme.user.v1.User) <(abide hash --facts acme.user.v1.User)";

const ABOUT_HISTORY: &str = "\
The walk goes along first parents: a merge is judged as one change, against its first parent. Each \
commit is judged by the policy and the waivers of today, on the day it was committed. A version that \
the commit records (in abide.lock or as a file option) is shown as it is; else it is what the bumps \
of all commits before make of it.

Verdicts: none (same meaning), compatible, breaking (the policy allows it), refused (it does not), \
unlinked (it is not understood in full).

Exit status: 0 the history was walked, whatever it holds; 2 the tool could not do its work.";

/// Keeps protobuf APIs stable: reads a tree of `.proto` files as protoc does and enforces the
/// version policy on it.
#[derive(Debug, Parser)]
#[command(name = "abide", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Options that every command takes.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Read the configuration from FILE instead of the nearest abide.toml upward
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Start from a preset instead of the one that abide.toml names
    #[arg(long, global = true, value_name = "NAME", value_parser = presets())]
    pub(crate) preset: Option<String>,
    /// Write the report to FILE instead of standard output
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Judge as of DATE (YYYY-MM-DD) instead of today in UTC
    #[arg(long, global = true, value_name = "DATE", value_parser = date)]
    pub(crate) as_of: Option<jiff::civil::Date>,
    /// Use N threads; the result does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) jobs: Option<u16>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Show errors only: no warnings, notes, progress, nor a summary for people
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: why each finding has its severity, its fingerprint, and how long the work took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

fn presets() -> PossibleValuesParser {
    PossibleValuesParser::new(abide::Preset::ALL.iter().map(|preset| preset.name()))
}

fn surfaces() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_change::Surface::ALL.iter().map(|surface| surface.name()))
}

fn closures() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_upgrade::Closure::ALL.iter().map(|(name, _)| *name))
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Which commits of which tree.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Begin behind REV, an ancestor of HEAD [default: the first commit]
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// The folder of the tree, also one that is gone; of a configured tree the part to show
    /// [default: the configured tree, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<String>,
    /// A folder that imports resolve in; its files are linked but never judged (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// The form of the history
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = one_of(HISTORIES))]
    pub(crate) format: &'static HistoryFormat,
}

/// Which tree, and where its imports are.
#[derive(Args, Debug)]
pub(crate) struct TreeArgs {
    /// The tree: a folder, git:REV, a descriptor set or an archive [default: the configured tree]
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// A folder that imports resolve in; its files are linked but never judged (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
}

/// Arguments of the commands that judge.
#[derive(Args, Debug)]
pub(crate) struct JudgeArgs {
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The form of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = one_of(REPORTS))]
    pub(crate) format: &'static ReportFormat,
}

/// Arguments of the commands that compare.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// The old tree to compare with, such as git:main...
    #[arg(long, value_name = "SOURCE")]
    pub(crate) against: Option<String>,
    /// The last release, from which the required bump is counted [default: as --against]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) bump_against: Option<String>,
    /// Report compatible changes too, as notes
    #[arg(long)]
    pub(crate) changes: bool,
}

/// Where the files that an upgrade makes go.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct UpgradeTarget {
    /// Write them below DIR, at their new paths; the tree is not touched
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write them into the tree, and delete candidates of which nothing is left
    #[arg(long)]
    pub(crate) write: bool,
    /// Show how the tree would change
    #[arg(long)]
    pub(crate) diff: bool,
    /// Exit with status 1 unless the candidates of the tree are what would be written
    #[arg(long)]
    pub(crate) check: bool,
}

/// What is done about a release.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ReleaseTarget {
    /// Change the tree
    #[arg(long)]
    pub(crate) write: bool,
    /// Show how the tree would change
    #[arg(long)]
    pub(crate) diff: bool,
    /// Exit with status 1 if there is anything to release
    #[arg(long)]
    pub(crate) check: bool,
}

/// What `abide bump` does besides telling.
#[derive(Args, Clone, Copy, Debug)]
#[group(multiple = false)]
pub(crate) struct BumpAction {
    /// Record versions and hashes, in abide.lock or in the options of each file
    #[arg(long)]
    pub(crate) write: bool,
    /// Leave with status 1 if something is not recorded
    #[arg(long)]
    pub(crate) check: bool,
    /// Show what --write would write
    #[arg(long)]
    pub(crate) diff: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge a tree by everything that applies: the command for hooks and CI
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", sources()))]
    Check {
        /// What to judge.
        #[command(flatten)]
        judge: JudgeArgs,
        /// What it is compared with.
        #[command(flatten)]
        compare: CompareArgs,
        /// Record today's findings in abide.accepted, so that only later ones count
        #[arg(long)]
        accept: bool,
    },
    /// Judge a tree by the rules that need no other tree
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", sources()))]
    Lint {
        /// What to judge.
        #[command(flatten)]
        judge: JudgeArgs,
    },
    /// Show what changed since an old tree, and whom it breaks
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", sources()))]
    Breaking {
        /// What to judge.
        #[command(flatten)]
        judge: JudgeArgs,
        /// What it is compared with.
        #[command(flatten)]
        compare: CompareArgs,
        /// Judge these surfaces only: wire, json, text, rpc, rest, type-url, validation, source-cpp,
        /// source-go, … (repeatable, or separated by commas)
        #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = surfaces())]
        surface: Vec<String>,
    },
    /// Make the candidates of the next major version: vN becomes v(N+1)alpha
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", sources()))]
    Upgrade {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// Upgrade this package and what its closure drags along (repeatable) [default: all that
        /// need it]
        #[arg(long, value_name = "NAME")]
        package: Vec<String>,
        /// What is upgraded together with a package: those whose types refer to it, those that
        /// depend on it, or all that are active [default: as configured, else package]
        #[arg(long, value_name = "CLOSURE", value_parser = closures())]
        closure: Option<String>,
        /// Write what becomes of every type and member to FILE, a `VersionMapping` in binary
        /// (.binpb) or JSON (.json) (repeatable)
        #[arg(long, value_name = "FILE")]
        mapping: Vec<PathBuf>,
        /// What is done with the candidates.
        #[command(flatten)]
        target: UpgradeTarget,
    },
    /// Release the candidates: v(N+1)alpha becomes v(N+1), and what it replaces is frozen
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", sources()))]
    Release {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// What is done about it.
        #[command(flatten)]
        target: ReleaseTarget,
    },
    /// Tell which version each package needs since the last release, and why
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", sources()))]
    Bump {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// The last release, such as git:v1.4.0 [default: bump-against of abide.toml, else against]
        #[arg(long, value_name = "SOURCE")]
        against: Option<String>,
        /// What is done about it.
        #[command(flatten)]
        action: BumpAction,
        /// The form of the report
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = one_of(PLANS))]
        format: &'static PlanFormat,
    },
    /// Draw the package DAG with versions and stability
    #[command(after_help = sources())]
    Graph {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// The form of the graph
        #[arg(long, value_name = "FORMAT", default_value = "dot", value_parser = one_of(GRAPHS))]
        format: &'static GraphFormat,
        /// Show the packages of imported files too
        #[arg(long)]
        imports: bool,
    },
    /// Write a FileDescriptorSet with source info, equal to protoc's
    #[command(after_help = sources())]
    Build {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// Where to write it, as the name says: .binpb, .json or .txtpb, also .gz or .zst; `-` for
        /// standard output
        #[arg(short, value_name = "FILE", required_unless_present = "output")]
        #[arg(conflicts_with = "output")]
        out: Option<PathBuf>,
        /// Leave out the files that are only imported
        #[arg(long)]
        exclude_imports: bool,
        /// Leave out source info: lines, columns and comments
        #[arg(long)]
        exclude_source_info: bool,
    },
    /// Print the semantic hashes of files, messages and packages, which change when the meaning does
    #[command(after_help = format!("{ABOUT_HASHES}\n\n{}\n\n{EXIT_STATUS}", sources()))]
    Hash {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// This package alone, with its messages
        #[arg(long, value_name = "NAME")]
        package: Option<String>,
        /// Print what is hashed instead of the hash: of a package, the path of a file, a message,
        /// an enum, a service or an extension
        #[arg(long, value_name = "NAME", conflicts_with_all = ["package", "format"])]
        facts: Option<String>,
        /// The form of the list
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = one_of(HASHES))]
        format: &'static HashFormat,
    },
    /// Show what every commit did to every package: hash, version, required bump and verdict
    #[command(after_help = ABOUT_HISTORY)]
    History {
        /// Which commits.
        #[command(flatten)]
        args: HistoryArgs,
    },
    /// Print the page of a rule: what it checks, why, good and bad examples
    Explain {
        /// The id of the rule, such as stable-depends-on-unstable
        rule: String,
    },
    /// List the rules
    Rules {
        /// The form of the list
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = one_of(RULE_LISTS))]
        format: &'static RulesFormat,
    },
    /// Write an abide.toml to start from
    Init {
        /// Where to write it [default: the current folder]
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Take over what a buf.yaml (v1 or v2) says, as far as it can be said; the rest is told
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
}

/// A day without a time, which the parser of a date would drop.
fn date(text: &str) -> Result<jiff::civil::Date, &'static str> {
    let day = if text.len() == 10 { text.parse().ok() } else { None };
    day.ok_or("there is no such day: write one as in 2026-06-30")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::*;
    use crate::render::Format;

    /// The help of a command, in full.
    fn help(command: &str) -> String {
        let mut cli = Cli::command();
        let found = cli.find_subcommand_mut(command).expect("there is such a command");
        found.render_long_help().to_string()
    }

    fn is_in_help<W>(command: &str, formats: &[Format<W>]) {
        let help = help(command);
        assert!(!formats.is_empty());
        for format in formats {
            let line = help
                .lines()
                .find(|line| line.trim_start().starts_with(&format!("- {}:", format.name)));
            let line = line.unwrap_or_else(|| panic!("`{}` is not in:\n{help}", format.name));
            let said = line.split_once(':').map_or("", |(_, said)| said.trim());
            assert!(!said.is_empty() && format.help.starts_with(said), "{line}");
        }
    }

    #[test]
    fn every_format_is_in_the_help_of_its_commands() {
        for command in ["check", "lint", "breaking"] {
            is_in_help(command, REPORTS);
        }
        is_in_help("bump", PLANS);
        is_in_help("graph", GRAPHS);
        is_in_help("hash", HASHES);
        is_in_help("rules", RULE_LISTS);
        is_in_help("history", HISTORIES);
    }

    #[test]
    fn every_format_of_a_report_is_documented_and_has_a_golden() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let manual = std::fs::read_to_string(root.join("README.md")).expect("it is readable");
        for format in REPORTS {
            assert!(manual.contains(&format!("`{}`", format.name)), "README.md: {}", format.name);
            let suffix = match format.name {
                "human" => "txt",
                "markdown" => "md",
                name => name,
            };
            let golden = root.join(format!("testdata/cli/changes.{suffix}"));
            assert!(golden.is_file(), "{}", golden.display());
        }
    }

    #[test]
    fn every_kind_of_source_is_in_the_help() {
        let help = help("check").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&crate::source::help()), "{help}");
    }
}
