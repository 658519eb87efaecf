//! The command line, as the user writes it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const SOURCES: &str = "\
SOURCE is a folder, `git:REV[:SUBDIR]` (`git:main...` for the merge base), a descriptor set \
(.binpb, .pb, .json, .txtpb, also .gz or .zst; `-` for standard input) or an archive (.tar, \
.tar.gz, .tar.zst, .zip). Without it: the tree that the nearest abide.toml names, else the \
current folder.";

const EXIT_STATUS: &str = "\
Exit status: 0 nothing at error level, 1 findings at error level, 2 the tool could not do its work.";

/// Keeps protobuf APIs stable: reads a tree of `.proto` files as protoc does and enforces the
/// version policy on it.
#[derive(Debug, Parser)]
#[command(name = "abide", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
}

/// Options that every command takes.
#[derive(Args, Debug)]
pub struct Global {
    /// Read the configuration from FILE instead of the nearest abide.toml upward
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Start from a preset instead of the one that abide.toml names
    #[arg(long, global = true, value_name = "NAME")]
    pub preset: Option<String>,
    /// Write the report to FILE instead of standard output
    #[arg(long, global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Judge as of DATE (YYYY-MM-DD) instead of today
    #[arg(long, global = true, value_name = "DATE")]
    pub as_of: Option<jiff::civil::Date>,
    /// Use N threads; the result does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Show errors only, and no summary
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: why each finding has its severity, what was waived or accepted, timings
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: a snippet for each finding.
    Human,
    /// JSON Lines: an object for each finding, then a summary.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
}

/// The form of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Mermaid, which GitHub draws.
    Mermaid,
    /// JSON.
    Json,
}

/// Which tree, and where its imports are.
#[derive(Args, Debug)]
pub struct TreeArgs {
    /// The tree: a folder, git:REV, a descriptor set or an archive [default: the configured tree]
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,
    /// A folder that imports resolve in; its files are linked but never judged (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub import_path: Vec<String>,
}

/// Arguments of the commands that judge.
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// The tree.
    #[command(flatten)]
    pub tree: TreeArgs,
    /// The form of the report
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: Format,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge a tree by everything that applies: the command for hooks and CI
    #[command(after_help = format!("{SOURCES}\n\n{EXIT_STATUS}"))]
    Check {
        /// What to judge.
        #[command(flatten)]
        judge: JudgeArgs,
        /// The old tree to compare with, such as git:main...
        #[arg(long, value_name = "SOURCE")]
        against: Option<String>,
        /// Record today's findings in abide.accepted, so that only later ones count
        #[arg(long)]
        accept: bool,
    },
    /// Judge a tree by the rules that need no other tree
    #[command(after_help = format!("{SOURCES}\n\n{EXIT_STATUS}"))]
    Lint {
        /// What to judge.
        #[command(flatten)]
        judge: JudgeArgs,
    },
    /// Draw the package DAG with versions and stability
    #[command(after_help = SOURCES)]
    Graph {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// The form of the graph
        #[arg(long, value_name = "FORMAT", default_value = "dot")]
        format: GraphFormat,
        /// Show the packages of imported files too
        #[arg(long)]
        imports: bool,
    },
    /// Write a FileDescriptorSet with source info, equal to protoc's
    #[command(after_help = SOURCES)]
    Build {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// Where to write it; `-` for standard output
        #[arg(short = 'o', value_name = "FILE", required = true)]
        out: PathBuf,
        /// Leave out the files that are only imported
        #[arg(long)]
        exclude_imports: bool,
        /// Leave out source info: lines, columns and comments
        #[arg(long)]
        exclude_source_info: bool,
    },
    /// Print the page of a rule: what it checks, why, good and bad examples
    Explain {
        /// The id of the rule, such as stable-depends-on-unstable
        rule: String,
    },
    /// List the rules
    Rules {
        /// The form of the list
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Format,
    },
    /// Write an abide.toml to start from
    Init {
        /// Where to write it [default: the current folder]
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}
