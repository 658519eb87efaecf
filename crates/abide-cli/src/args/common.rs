//! Arguments that several commands have.

use std::path::PathBuf;

use abide_lint::Compatibility;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::render::{REPORTS, ReportFormat, parse_format};

/// Options that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Read the configuration from FILE instead of the nearest abide.toml
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use this preset instead of the one that abide.toml names
    #[arg(long, global = true, value_name = "NAME", value_parser = parse_preset())]
    pub(crate) preset: Option<String>,
    /// Write the report to FILE instead of standard output
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Check as of DATE (YYYY-MM-DD) instead of today in UTC
    #[arg(long, global = true, value_name = "DATE", value_parser = parse_date)]
    pub(crate) as_of: Option<jiff::civil::Date>,
    /// Also read links that lead out of the tree if they lead into DIR (repeatable)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) follow_links: Vec<PathBuf>,
    /// Check the files below DIR, from which their imports start, instead of those in `roots` of
    /// abide.toml (repeatable)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Use N threads; the result is the same for any N
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) jobs: Option<u16>,
    /// Judge everything anew: read and keep no report in the folder of git. The environment variable
    /// ABIDE_CACHE=off does the same
    #[arg(long, global = true)]
    pub(crate) no_cache: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Show errors only: hide warnings, notes, progress and the summary line
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show more: why each finding has its severity, fingerprints, and how long each step took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

fn parse_preset() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_lint::Preset::ALL.iter().map(|preset| preset.name()))
}

/// The choice of colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Arguments that choose a tree and the folders of its imports.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TreeArgs {
    /// The tree: a folder, git:REV, a descriptor set or an archive [default: the configured tree]
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// Resolve imports in DIR; its files are linked but not checked (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
}

/// Arguments of the commands that report findings.
#[derive(Args, Debug)]
pub(crate) struct JudgeArgs {
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// More files and folders of the same tree: only these are checked
    #[arg(value_name = "PATH")]
    pub(crate) more: Vec<String>,
    /// Check PATH, a file of the tree, with the text on standard input
    #[arg(long, value_name = "PATH", conflicts_with = "changed")]
    pub(crate) stdin_filepath: Option<String>,
    /// Report only on packages that changed since the old tree, or else since the last commit, and
    /// on packages that import them; the rest of the tree is not read
    #[arg(long)]
    pub(crate) changed: bool,
    /// Run the plugins that abide.toml names: programs that come with the tree. The environment
    /// variable ABIDE_ALLOW_PLUGINS=1 does the same
    #[arg(long)]
    pub(crate) allow_plugins: bool,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(REPORTS))]
    pub(crate) format: &'static ReportFormat,
    /// Also write the report to FILE in another format, such as sarif=abide.sarif (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = parse_extra_report)]
    pub(crate) report: Vec<ExtraReport>,
    /// The findings to show.
    #[command(flatten)]
    pub(crate) show: SelectArgs,
}

/// A report that is written besides the one that `--format` and `--output` ask for.
#[derive(Clone, Debug)]
pub(crate) struct ExtraReport {
    /// Its format.
    pub(crate) format: &'static ReportFormat,
    /// Its file.
    pub(crate) path: PathBuf,
}

/// Parses the argument of `--report`.
pub(super) fn parse_extra_report(text: &str) -> Result<ExtraReport, String> {
    let names: Vec<&str> = REPORTS.iter().map(|it| it.name).collect();
    let (name, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or("write it as FORMAT=FILE, such as `sarif=abide.sarif`")?;
    let Some(format) = REPORTS.iter().find(|it| it.name == name) else {
        let near = abide_lint::find_nearest(name, names.iter().copied())
            .map_or(String::new(), |it| format!("; did you mean `{it}`?"));
        return Err(format!("no such format{near} (the formats are {})", names.join(", ")));
    };
    Ok(ExtraReport { format, path: PathBuf::from(path) })
}

impl JudgeArgs {
    /// Judges the configured tree as a whole.
    pub(crate) fn of_configured_tree(import_path: &[String]) -> JudgeArgs {
        JudgeArgs {
            tree: TreeArgs { source: None, import_path: import_path.to_vec() },
            more: Vec::new(),
            stdin_filepath: None,
            changed: false,
            allow_plugins: false,
            format: &REPORTS[0],
            report: Vec::new(),
            show: SelectArgs::default(),
        }
    }

    /// The formats of all reports of a run.
    pub(crate) fn formats(&self) -> impl Iterator<Item = &'static ReportFormat> {
        [self.format].into_iter().chain(self.report.iter().map(|it| it.format))
    }

    /// The parts of a tree that are named, the one on standard input last.
    pub(crate) fn parts(&self) -> Vec<&str> {
        let files = self.tree.source.iter().chain(&self.more).chain(&self.stdin_filepath);
        files.map(String::as_str).collect()
    }

    /// Returns true if the command line names no part of the tree.
    pub(crate) fn is_whole_tree(&self) -> bool {
        self.parts().is_empty()
    }
}

/// Arguments that choose the findings of a report.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SelectArgs {
    /// Report only this rule or group, by its name here or in another tool (repeatable, separated
    /// by commas)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// Leave out this rule or group, also where `--select` asks for it (repeatable, separated by
    /// commas)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Show only the N findings that weigh most; all of them still count. 0 shows all, also on a
    /// terminal, where the heaviest that fit on about 80 lines are shown
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show how often each rule reports, instead of the findings
    #[arg(long, conflicts_with = "limit")]
    pub(crate) statistics: bool,
    /// Show waived and accepted findings, too, with the reason; none of them counts
    #[arg(long, conflicts_with = "statistics")]
    pub(crate) waived: bool,
}

/// Arguments of the commands that compare.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Compare with this old tree (repeatable); git:main... is the merge base with main, and
    /// git:every(v1.*) all tags that match
    #[arg(long, value_name = "SOURCE")]
    pub(crate) against: Vec<String>,
    /// The last release, to count the required bump from [default: the newest of --against]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) bump_against: Option<String>,
    /// Which breaks are errors, as schema registries name it: `backward` if readers are upgraded
    /// first, `forward` if writers are, `full` for both. With `-transitive` all old trees count,
    /// without it only the newest
    #[arg(long, value_name = "MODE", value_parser = parse_compatibility())]
    pub(crate) compatibility: Option<String>,
    /// Report compatible changes too, as notes
    #[arg(long)]
    pub(crate) changes: bool,
}

fn parse_compatibility() -> PossibleValuesParser {
    PossibleValuesParser::new(Compatibility::ALL.iter().map(|it| it.0))
}

/// Arguments that choose what happens with an edit of one place.
#[derive(Args, Clone, Copy, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct EditTarget {
    /// Print what would change, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
    /// Edit the file
    #[arg(long)]
    pub(crate) write: bool,
    /// Exit with status 1 if there is anything left to edit
    #[arg(long)]
    pub(crate) check: bool,
}

/// Parses a day. The parser of dates would also take a date with a time, and drop the time.
pub(super) fn parse_date(text: &str) -> Result<jiff::civil::Date, &'static str> {
    let day = if text.len() == 10 { text.parse().ok() } else { None };
    day.ok_or("no such date: write one like 2026-06-30")
}

pub(super) fn parse_notation() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_instance::Notation::ALL.iter().map(|it| it.name()))
}

pub(super) fn parse_reader() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_instance::Dialect::ALL.iter().map(|it| it.name()))
}
