//! The command line, as the user writes it.

mod calendar;
mod common;
mod config;
mod deprecate;
mod deprecations;
mod deps;
mod drift;
mod edition;
mod examples;
mod fix;
mod format;
mod instance_diff;
mod lsp;
mod owners;
mod packaging;
mod plugin;
mod runtime;
mod translation;
mod usage;
mod waive;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::render::{
    GRAPHS, GraphFormat, HASHES, HISTORIES, HashFormat, HistoryFormat, PLANS, PlanFormat,
    RULE_LISTS, RULE_PAGES, RULE_TESTS, RulePagesFormat, RuleTestsFormat, RulesFormat,
    parse_format,
};

use self::examples::{
    ABOUT_HISTORY, BREAKING, BUILD, BUMP, CHANGED, CHECK, EXIT_STATUS, EXPLAIN, GRAPH, HASH, INIT,
    LINT, RELEASE, RULES, SERVE, START, UPGRADE,
};

pub(crate) use self::calendar::{CalendarArgs, CalendarCommand, SimulateArgs};
pub(crate) use self::common::{
    Color, CompareArgs, ExtraReport, Global, JudgeArgs, SelectArgs, TreeArgs,
};
pub(crate) use self::config::{ConfigArgs, ConfigCheckArgs, ConfigCommand, ConfigDeprecationsArgs};
pub(crate) use self::deprecate::DeprecateArgs;
pub(crate) use self::deprecations::DeprecationsArgs;
pub(crate) use self::deps::{DepsArgs, DepsCommand};
pub(crate) use self::drift::DriftArgs;
pub(crate) use self::edition::EditionArgs;
pub(crate) use self::fix::FixArgs;
pub(crate) use self::format::FormatArgs;
pub(crate) use self::instance_diff::ConfigDiffArgs;
pub(crate) use self::lsp::LspArgs;
pub(crate) use self::owners::OwnersArgs;
pub(crate) use self::packaging::{CompletionsArgs, ManArgs};
pub(crate) use self::plugin::{PluginArgs, PluginTool};
pub(crate) use self::runtime::{RuntimeArgs, RuntimeCommand, RuntimeShowArgs};
pub(crate) use self::translation::TranslationArgs;
pub(crate) use self::usage::UsageArgs;
pub(crate) use self::waive::WaiveArgs;

/// Lists the kinds of SOURCE for a help text, one a line.
fn describe_sources() -> String {
    format!(
        "SOURCE is one of:\n{}Without SOURCE: the tree that the nearest abide.toml names, else the \
         current folder.",
        abide_source::describe_kinds()
    )
}

/// Keep protobuf APIs stable: check a tree of `.proto` files, report what breaks users, and say
/// which version each package needs
#[derive(Debug, Parser)]
#[command(name = "abide", version, max_term_width = 100)]
#[command(after_help = format!("{START}\n\n{EXIT_STATUS}"))]
pub(crate) struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: Global,
}

/// The options of every command that some commands have no use for. They are accepted there, so
/// that a script may pass the same options to all, and are left out of the help.
const UNUSED: &[(&str, &[&str])] = &[
    ("build", &["as_of"]),
    (
        "completions",
        &["config", "preset", "as_of", "follow_links", "root", "jobs", "color", "quiet", "verbose"],
    ),
    ("explain", &["config", "preset", "as_of", "follow_links", "root", "jobs", "quiet", "verbose"]),
    ("graph", &["as_of", "verbose"]),
    ("hash", &["as_of", "verbose"]),
    ("init", &["config", "output", "as_of", "follow_links", "root", "jobs", "verbose"]),
    ("lsp", &["output", "color", "quiet", "verbose"]),
    (
        "man",
        &["config", "preset", "as_of", "follow_links", "root", "jobs", "color", "quiet", "verbose"],
    ),
    ("owners", &["as_of", "verbose"]),
    ("runtime", &["as_of", "jobs", "preset", "verbose"]),
    ("usage", &["as_of", "verbose"]),
    (
        "plugin",
        &[
            "config",
            "preset",
            "output",
            "as_of",
            "follow_links",
            "root",
            "jobs",
            "color",
            "quiet",
            "verbose",
        ],
    ),
    ("rules", &["as_of", "follow_links", "root", "jobs", "quiet", "verbose"]),
];

impl Cli {
    /// The command line, in which the help of each command shows the options that it uses.
    pub(crate) fn build_documented() -> clap::Command {
        let mut cli = Cli::command();
        for (name, unused) in UNUSED {
            let global = cli.get_arguments().filter(|arg| unused.contains(&arg.get_id().as_str()));
            let hidden: Vec<clap::Arg> = global.map(|arg| arg.clone().hide(true)).collect();
            cli = cli.mut_subcommand(name, |command| command.args(hidden));
        }
        cli
    }
}

fn parse_surface() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_change::Surface::ALL.iter().map(|surface| surface.name()))
}

fn parse_closure() -> PossibleValuesParser {
    PossibleValuesParser::new(abide_upgrade::UpgradeClosure::ALL.iter().map(|(name, _)| *name))
}

/// Arguments that choose commits and a tree.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    /// Start after REV, an ancestor of HEAD [default: start at the first commit]
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// The folder of the tree, or the part to show of a configured tree; it need not exist today
    /// [default: the configured tree, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<String>,
    /// Resolve imports in DIR; its files are linked but not checked (repeatable)
    #[arg(short = 'I', long = "import-path", value_name = "DIR")]
    pub(crate) import_path: Vec<String>,
    /// Show for each field, enum value, method and type the version and the day in which it
    /// appeared, was deprecated, was disallowed by default, and was removed
    #[arg(long)]
    pub(crate) fields: bool,
    /// Judge each release, a tag that matches PATTERN, against all releases before it, instead of
    /// each commit against the one before
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["fields", "since"])]
    pub(crate) every: Option<String>,
    /// The format of the history
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(HISTORIES))]
    pub(crate) format: &'static HistoryFormat,
}

/// Arguments that choose where the candidates of an upgrade go.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct UpgradeTarget {
    /// Write the candidates to DIR, at their new paths; the tree is not touched
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the candidates into the tree, and delete those that are no longer needed
    #[arg(long)]
    pub(crate) write: bool,
    /// Print what would change, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
    /// Exit with status 1 if the candidates in the tree are out of date
    #[arg(long)]
    pub(crate) check: bool,
}

/// Arguments that choose what a release does.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct ReleaseTarget {
    /// Make the release in the tree
    #[arg(long)]
    pub(crate) write: bool,
    /// Print what would change, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
    /// Exit with status 1 if there is anything to release
    #[arg(long)]
    pub(crate) check: bool,
}

/// Arguments that choose what `abide bump` does besides its report.
#[derive(Args, Clone, Copy, Debug)]
#[group(multiple = false)]
pub(crate) struct BumpAction {
    /// Record versions and hashes in abide.lock, or versions in the options of each file
    #[arg(long)]
    pub(crate) write: bool,
    /// Exit with status 1 if something is not recorded
    #[arg(long)]
    pub(crate) check: bool,
    /// Print what --write would write, as a patch
    #[arg(long)]
    pub(crate) diff: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write an abide.toml to start from
    #[command(after_help = INIT)]
    Init {
        /// The folder to write it to [default: the current folder]
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Take over the settings of a buf.yaml, buf.work.yaml, proto.lock or the configuration of
        /// api-linter; lists every setting that was dropped
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Keep every rule of the preset, also where the tree could only follow it by breaking its
        /// users, as in the names and folders of packages
        #[arg(long, conflicts_with = "from")]
        strict: bool,
        /// Write Abide's annotations to DIR instead, where protoc finds them with -I DIR; Abide has
        /// them built in
        #[arg(long, value_name = "DIR", conflicts_with_all = ["dir", "from", "strict"])]
        annotations: Option<PathBuf>,
    },
    /// Run every check that applies; the command for hooks and CI
    #[command(after_help = format!("{CHECK}\n\n{CHANGED}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Check {
        /// The files to check.
        #[command(flatten)]
        judge: JudgeArgs,
        /// The old trees.
        #[command(flatten)]
        compare: CompareArgs,
        /// Record today's findings in abide.accepted; from then on only new ones count
        #[arg(long, conflicts_with_all = ["select", "fix", "diff"])]
        accept: bool,
        /// The handling of findings that can be fixed.
        #[command(flatten)]
        fix: FixArgs,
    },
    /// Run only the rules that need no old tree
    #[command(after_help = format!("{LINT}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Lint {
        /// The files to check.
        #[command(flatten)]
        judge: JudgeArgs,
        /// The handling of findings that can be fixed.
        #[command(flatten)]
        fix: FixArgs,
    },
    /// Report what changed since an old tree, and whom it breaks
    #[command(after_help = format!("{BREAKING}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Breaking {
        /// The files to check.
        #[command(flatten)]
        judge: JudgeArgs,
        /// The old trees.
        #[command(flatten)]
        compare: CompareArgs,
        /// Report only breaks on these surfaces, such as wire,json (repeatable, or separated by
        /// commas)
        #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_surface())]
        surface: Vec<String>,
    },
    /// Compare what runs with the tree: who is behind, and what deploying the tree would break
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", drift::HELP, describe_sources()))]
    Drift(DriftArgs),
    /// Lay out files anew: the same tokens and comments, in the layout of `buf format`
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", format::HELP, describe_sources()))]
    Format(FormatArgs),
    /// Show which version each package needs since the last release, and why
    #[command(after_help = format!("{BUMP}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Bump {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// The last release, such as git:v1.4.0 [default: bump-against of abide.toml, else against]
        #[arg(long, value_name = "SOURCE")]
        against: Option<String>,
        /// The action.
        #[command(flatten)]
        action: BumpAction,
        /// Take from git what is not recorded: the version that the bumps of all commits add up to,
        /// when the package first appeared, and when the successor of a frozen one became stable
        #[arg(long)]
        from_history: bool,
        /// The format of the report
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(PLANS))]
        format: &'static PlanFormat,
    },
    /// Mark an element as deprecated, with what to use instead
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", deprecate::HELP, describe_sources()))]
    Deprecate(DeprecateArgs),
    /// Waive a finding of `abide check`, with a reason
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", waive::HELP, describe_sources()))]
    Waive(WaiveArgs),
    /// Carry files to a later edition without a change of meaning
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", edition::HELP, describe_sources()))]
    Edition(EditionArgs),
    /// List what is deprecated: since when, what replaces it, and when it goes
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", deprecations::HELP, describe_sources()))]
    Deprecations(DeprecationsArgs),
    /// List where code in Go, Java, Python and C++ uses elements of the tree
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", usage::HELP, describe_sources()))]
    Usage(UsageArgs),
    /// Generate the candidates of the next major version: vN becomes v(N+1)alpha
    #[command(after_help = format!("{UPGRADE}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Upgrade {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// Upgrade only this package and what must follow it (repeatable) [default: every package
        /// that needs it]
        #[arg(long, value_name = "NAME")]
        package: Vec<String>,
        /// Which packages are upgraded with a package: those whose types use its types (type),
        /// those that depend on it (package), or all active ones (all) [default: as configured,
        /// else package]
        #[arg(long, value_name = "CLOSURE", value_parser = parse_closure())]
        closure: Option<String>,
        /// Write where each type and member went to FILE, a `VersionMapping` as .binpb or .json
        /// (repeatable)
        #[arg(long, value_name = "FILE")]
        mapping: Vec<PathBuf>,
        /// The place of the candidates.
        #[command(flatten)]
        target: UpgradeTarget,
        /// Also replace or delete files that a person may have written
        #[arg(long)]
        overwrite: bool,
    },
    /// Release the candidates: v(N+1)alpha becomes v(N+1), and vN is frozen
    #[command(after_help = format!("{RELEASE}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Release {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// The action.
        #[command(flatten)]
        target: ReleaseTarget,
        /// Release even outside the window for new majors that `api-releases` sets
        #[arg(long)]
        outside_window: bool,
        /// Also replace or delete files that a person may have written
        #[arg(long)]
        overwrite: bool,
    },
    /// Show the next releases, windows and phases, or simulate them
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", calendar::HELP, describe_sources()))]
    Calendar(CalendarArgs),
    /// Show hash, version, required bump and verdict of every package at every commit
    #[command(after_help = ABOUT_HISTORY)]
    History {
        /// The commits.
        #[command(flatten)]
        args: HistoryArgs,
    },
    /// Draw the dependencies between packages, with versions and stability
    #[command(after_help = format!("{GRAPH}\n\n{}", describe_sources()))]
    Graph {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// The format of the graph [default: what the name of --output asks for, such as .svg, else
        /// dot]
        #[arg(long, value_name = "FORMAT", value_parser = parse_format(GRAPHS))]
        format: Option<&'static GraphFormat>,
        /// Show the packages of imported files too
        #[arg(long)]
        imports: bool,
    },
    /// List where imports come from, and bring what is missing
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", deps::HELP))]
    Deps(DepsArgs),
    /// Print who owns each package, by CODEOWNERS
    #[command(after_help = format!("{}\n\n{}\n\n{EXIT_STATUS}", owners::HELP, describe_sources()))]
    Owners(OwnersArgs),
    /// List every rule with its severity in the configured tree, and what sets it
    #[command(after_help = RULES, args_conflicts_with_subcommands = true)]
    Rules {
        #[command(subcommand)]
        command: Option<RulesCommand>,
        /// The format of the list
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(RULE_LISTS))]
        format: &'static RulesFormat,
    },
    /// Print the page of a rule: what it checks, why, bad and good examples, how to fix it; or the
    /// rules of a group; or how waivers are written
    #[command(after_help = EXPLAIN)]
    Explain {
        /// The id of the rule, or its name in another tool; or a group such as dependencies, or a
        /// category of lint rules in buf such as COMMENTS; or `waivers`, or `abide.toml` [default: what there is to
        /// explain]
        rule: Option<String>,
        /// Print the pages of all rules
        #[arg(long, conflicts_with = "rule")]
        all: bool,
        /// The format of the pages
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(RULE_PAGES))]
        format: &'static RulePagesFormat,
    },
    /// Write a FileDescriptorSet with source info, equal to protoc's
    #[command(after_help = format!("{BUILD}\n\n{}", describe_sources()))]
    Build {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// Write to FILE; its name chooses the format: .binpb, .json or .txtpb, also with .gz or
        /// .zst. `-` is standard output
        #[arg(short, value_name = "FILE", required_unless_present = "output")]
        #[arg(conflicts_with = "output")]
        out: Option<PathBuf>,
        /// Leave out files that are only imported
        #[arg(long)]
        exclude_imports: bool,
        /// Leave out source info: lines, columns and comments
        #[arg(long)]
        exclude_source_info: bool,
    },
    /// Print semantic hashes of packages, files and messages
    #[command(after_help = format!("{HASH}\n\n{}\n\n{EXIT_STATUS}", describe_sources()))]
    Hash {
        /// The tree.
        #[command(flatten)]
        tree: TreeArgs,
        /// Print only this package, with its messages
        #[arg(long, value_name = "NAME")]
        package: Option<String>,
        /// Print what is hashed instead of the hash. NAME is a package, the path of a file, a
        /// message, an enum, a service or an extension
        #[arg(long, value_name = "NAME", conflicts_with_all = ["package", "format"])]
        facts: Option<String>,
        /// List the elements instead of hashes: number, deprecation version, and whether disallowed
        /// by default. `abide history --fields` shows more
        #[arg(long, conflicts_with = "facts")]
        fields: bool,
        /// The format of the list
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(HASHES))]
        format: &'static HashFormat,
    },
    /// Check configuration files and other values of messages
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", config::HELP))]
    Config(ConfigArgs),
    /// Show what the runtime layers of a bootstrap say
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", runtime::HELP))]
    Runtime(RuntimeArgs),
    /// Serve resources to clients of several versions: runs abide-serve from the PATH
    #[command(disable_help_flag = true, after_help = SERVE)]
    Serve {
        /// Its arguments: see `abide serve --help`
        #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Answer an editor: a language server on standard input and output
    #[command(after_help = format!("{}\n\n{EXIT_STATUS}", lsp::HELP))]
    Lsp(LspArgs),
    /// Answer buf or protoc, as one of their plugins
    #[command(after_help = plugin::HELP)]
    Plugin(PluginArgs),
    /// Print what makes a shell complete commands, options and rules
    #[command(after_help = packaging::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write all pages to a folder
    #[command(after_help = packaging::MAN)]
    Man(ManArgs),
}

/// The commands below `abide rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Run the examples of each [[rule]] in abide.toml: exit status 1 if one fails
    Test {
        /// The format of the results
        #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(RULE_TESTS))]
        format: &'static RuleTestsFormat,
    },
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::render::{CALENDARS, DEPRECATIONS, OWNER_LISTS, OutputFormat, REPORTS, USES};

    /// The help of a command, in full.
    fn help(command: &str) -> String {
        let mut cli = Cli::build_documented();
        // Options of every command are known to each only then.
        cli.build();
        let found = cli.find_subcommand_mut(command).expect("there is such a command");
        found.render_long_help().to_string()
    }

    fn is_in_help<W>(command: &str, formats: &[OutputFormat<W>]) {
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
        for command in ["check", "lint", "breaking", "drift"] {
            is_in_help(command, REPORTS);
        }
        is_in_help("bump", PLANS);
        is_in_help("graph", GRAPHS);
        is_in_help("hash", HASHES);
        is_in_help("rules", RULE_LISTS);
        is_in_help("deprecations", DEPRECATIONS);
        is_in_help("calendar", CALENDARS);
        is_in_help("owners", OWNER_LISTS);
        is_in_help("history", HISTORIES);
        is_in_help("usage", USES);
    }

    #[test]
    fn every_command_is_in_the_readme_and_has_examples() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let readme = std::fs::read_to_string(root.join("README.md")).expect("it is readable");
        let cli = Cli::command();
        let commands = cli.get_subcommands().map(|it| it.get_name().to_owned());
        let commands: Vec<String> = commands.filter(|name| name != "help").collect();
        assert!(!commands.is_empty());
        for name in commands {
            let rows = readme.lines().filter(|line| line.starts_with("| `abide "));
            let is_named = |row: &str| {
                let cell = row.split('|').nth(1).unwrap_or_default();
                cell.split('`').any(|it| it.split(' ').take(2).eq(["abide", name.as_str()]))
            };
            assert!(rows.into_iter().any(is_named), "README.md has no row for `abide {name}`");
            let has_examples = help(&name).contains(&format!("  abide {name}"));
            assert!(has_examples, "the help of `abide {name}` has no example");
        }
    }

    #[test]
    fn every_format_of_a_report_is_documented_and_has_a_golden() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let manual = root.join("crates/abide-cli/book/formats.md");
        let manual = std::fs::read_to_string(manual).expect("it is readable");
        for format in REPORTS {
            assert!(manual.contains(&format!("`{}`", format.name)), "formats.md: {}", format.name);
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
    fn an_option_that_a_command_does_not_use_is_accepted_and_not_shown() {
        for (name, unused) in UNUSED {
            let help = help(name);
            for id in *unused {
                let option = format!("--{}", id.replace('_', "-"));
                assert!(!help.contains(&format!("{option} <")), "{name} {option}: {help}");
            }
        }
        let args = ["abide", "explain", "--jobs", "3", "FIELD_NO_DELETE"];
        let matches = Cli::build_documented().try_get_matches_from(args).expect("it is accepted");
        assert_eq!(matches.get_one::<u16>("jobs"), Some(&3));
        assert!(help("check").contains("--as-of <DATE>"));
    }

    #[test]
    fn every_kind_of_source_is_in_the_help() {
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = help("check");
        assert!(words(shown.clone()).contains(&words(abide_source::describe_kinds())), "{shown}");
        // A list below its heading.
        let list = shown.lines().skip_while(|line| *line != "SOURCE is one of:").skip(1);
        let list: Vec<&str> = list.take_while(|line| !line.starts_with("Without")).collect();
        assert!(list.len() > 5 && list.iter().all(|line| line.starts_with("  ")), "{shown}");
    }
}
