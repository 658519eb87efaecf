//! The formats of all output: one module writes each, and the lists here say which command has it.

mod calendar_note;
mod comment;
mod config_schema;
mod context;
mod dependency_list;
mod deprecation_report;
mod diff_report;
mod dotenv;
mod element_lives;
mod format;
mod github;
mod gitlab;
mod graph_page;
mod hash_list;
mod history_report;
mod html;
mod json_lines;
mod json_object;
mod junit;
mod man_page;
mod markdown;
mod markdown_text;
mod markup;
mod owner_list;
mod plan_report;
mod prose;
mod release_history;
mod rule_counts;
mod rule_examples;
mod rule_list;
mod rule_page;
mod runtime_report;
mod sarif;
mod simulation_report;
mod snippets;
mod sources;
mod translation_report;
mod usable_deprecations;
mod uses_report;
mod waiver_line;
mod workflow_command;

use abide_lint::{ExampleResult, GraphView, Report, Status, UsableDeprecation};
use abide_schema::DependencyGraph;

use crate::history::TreeHistory;

pub(crate) use context::{RenderContext, ReportOrigin, Style, TextFile, full_path};
pub(crate) use dependency_list::{DependencyList, ImportOrigin, ListedImport};
pub(crate) use deprecation_report::{
    DeprecationReport, TITLE as DEPRECATIONS_TITLE, is_of_tables,
    render_tables as deprecation_tables,
};
pub(crate) use diff_report::{DiffReport, DiffSide};
pub(crate) use format::{OutputFormat, parse_format};
pub(crate) use hash_list::{HashList, PrintedPackage};
pub(crate) use man_page::ManPage;
pub(crate) use owner_list::OwnerReport;
pub(crate) use plan_report::PlanReport;
pub(crate) use rule_counts::{count_table, render_counts_as_json_lines};
pub(crate) use rule_list::RuleList;
pub(crate) use rule_page::RulePages;
pub(crate) use runtime_report::{RuntimePlace, RuntimeReport};
pub(crate) use simulation_report::SimulationReport;
pub(crate) use snippets::render_config_errors;
pub(crate) use translation_report::TranslationReport;
pub(crate) use uses_report::{FileUses, UsesReport};

/// Of `abide check`, `abide lint` and `abide breaking`.
pub(crate) type ReportFormat = OutputFormat<fn(&Report, &RenderContext) -> Vec<u8>>;
/// The forms of a report.
pub(crate) const REPORTS: &[ReportFormat] = &[
    HUMAN,
    ReportFormat::plain(
        "json",
        "JSON Lines: one object per finding, then a summary",
        json_lines::render,
    )
    .showing_waived(),
    ReportFormat::plain(
        "sarif",
        "SARIF 2.1.0 for code scanning, with the page of every rule that reports",
        sarif::render,
    )
    .showing_waived(),
    OutputFormat::plain(
        "junit",
        "JUnit XML: one suite per file; findings at error level are failures",
        junit::render,
    ),
    ReportFormat::plain("github", "Annotations of GitHub Actions", github::render)
        .naming_packages(),
    ReportFormat::plain("gitlab", "A GitLab Code Quality report", gitlab::render).naming_packages(),
    ReportFormat::plain(
        "markdown",
        "By package: what changed since the old tree, or the findings without one",
        markdown::render,
    )
    .of_changes(),
    ReportFormat::plain(
        "comment",
        "A comment for a pull request, in Markdown: errors and warnings by owner, as many as fit",
        comment::render,
    )
    .naming_packages(),
    ReportFormat::plain(
        "dotenv",
        "Lines NAME=VALUE for later jobs: bump, breaks, errors, warnings, owners",
        dotenv::render,
    )
    .naming_packages(),
    ReportFormat::plain(
        "html",
        "One self-contained page: a summary, and the findings with both sides, by file or by weight",
        html::render,
    )
    .naming_packages()
    .linking(),
];

/// The format of findings that keep a command from its work.
pub(crate) const HUMAN: ReportFormat = ReportFormat::styled(
    "human",
    "For people: each finding with a snippet of its source",
    snippets::render,
)
.showing_waived();

/// Of `abide config upgrade` and `abide config downgrade`.
pub(crate) type TranslationFormat =
    OutputFormat<fn(&TranslationReport<'_>, &RenderContext) -> Vec<u8>>;
/// The forms of a report about translated files.
pub(crate) const TRANSLATIONS: &[TranslationFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: what has no place",
        translation_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per document and finding, then a summary",
        translation_report::render_json,
    ),
];

/// Of `abide bump`.
pub(crate) type PlanFormat = OutputFormat<fn(&PlanReport<'_>, Style) -> Vec<u8>>;
/// The forms of a plan of versions.
pub(crate) const PLANS: &[PlanFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each package with the version it needs, and why",
        plan_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per package, then a summary",
        plan_report::render_json,
    ),
];

/// Of `abide hash`.
pub(crate) type HashFormat = OutputFormat<fn(&HashList<'_>, Style) -> String>;
/// The forms of a list of hashes.
pub(crate) const HASHES: &[HashFormat] = &[
    OutputFormat::styled("human", "For people", hash_list::render_human),
    OutputFormat::plain("json", "JSON Lines: one object per entry", hash_list::render_json),
];

/// Of `abide config diff`.
pub(crate) type DiffFormat = OutputFormat<fn(&DiffReport<'_>, Style) -> String>;
/// The forms of a difference.
pub(crate) const DIFFS: &[DiffFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each change with its places and cost",
        diff_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per change, then a summary",
        diff_report::json,
    ),
    OutputFormat::plain("markdown", "A table for a pull request", diff_report::render_markdown),
];

/// Of `abide runtime show`.
pub(crate) type RuntimeFormat = OutputFormat<fn(&RuntimeReport<'_>, Style) -> String>;
/// The forms of a runtime.
pub(crate) const RUNTIMES: &[RuntimeFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each key with its value and layer",
        runtime_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per key, then a summary",
        runtime_report::render_json,
    ),
];

/// Of `abide config deprecations`.
pub(crate) type UsableDeprecationFormat =
    OutputFormat<fn(&[UsableDeprecation<'_>], Style) -> String>;
/// The forms of what instances can use and is deprecated.
pub(crate) const USABLE_DEPRECATIONS: &[UsableDeprecationFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each element with its replacement",
        usable_deprecations::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per element",
        usable_deprecations::render_json,
    ),
];

/// Of `abide rules`.
pub(crate) type RulesFormat = OutputFormat<fn(&RuleList<'_>) -> String>;
/// The forms of the list of rules.
pub(crate) const RULE_LISTS: &[RulesFormat] = &[
    OutputFormat::plain("human", "For people", rule_list::render_human),
    OutputFormat::plain("json", "JSON Lines: one object per entry", rule_list::render_json),
];

/// Of `abide deps list`.
pub(crate) type DependencyListFormat = OutputFormat<fn(&DependencyList) -> String>;
/// The forms of a list of dependencies.
pub(crate) const DEPENDENCY_LISTS: &[DependencyListFormat] = &[
    OutputFormat::plain("human", "For people", dependency_list::render_human),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per dependency and import, then a summary",
        dependency_list::render_json,
    ),
];

/// Of `abide rules test`.
pub(crate) type RuleTestsFormat = OutputFormat<fn(&[ExampleResult], Option<&TextFile>) -> String>;
/// The forms of what the examples of rules showed.
pub(crate) const RULE_TESTS: &[RuleTestsFormat] = &[
    OutputFormat::plain("human", "For people", rule_examples::render_human),
    OutputFormat::plain("json", "JSON Lines: one object per example", rule_examples::render_json),
];

/// Of `abide explain`.
pub(crate) type RulePagesFormat = OutputFormat<fn(&RulePages, Style) -> String>;
/// The forms of pages.
pub(crate) const RULE_PAGES: &[RulePagesFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: Markdown, laid out on a terminal",
        rule_page::render_human,
    ),
    OutputFormat::plain("json", "JSON Lines: one object per page", rule_page::render_json),
];

/// Of `abide graph`.
pub(crate) type GraphFormat = OutputFormat<fn(GraphView<'_>, &DependencyGraph<'_>) -> String>;
/// The forms of a graph.
pub(crate) const GRAPHS: &[GraphFormat] = &[
    OutputFormat::plain("dot", "Graphviz", |view, graph| view.dot(graph)),
    OutputFormat::plain("mermaid", "Mermaid, which GitHub renders", |view, graph| {
        view.mermaid(graph)
    }),
    OutputFormat::plain(
        "json",
        "JSON: packages, and edges with the declarations behind them",
        |view, graph| view.json(graph),
    ),
    OutputFormat::plain("svg", "A drawing for browsers and documents", |view, graph| {
        view.svg(graph)
    }),
    OutputFormat::plain(
        "html",
        "One self-contained page: the drawing with zoom, filter and focus",
        graph_page::render_html,
    ),
];

/// Of `abide history`.
pub(crate) type HistoryFormat = OutputFormat<fn(&TreeHistory, Style) -> Vec<u8>>;
/// The forms of a history.
pub(crate) const HISTORIES: &[HistoryFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: a table, newest commit first",
        history_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per commit and package, oldest first, then a summary",
        history_report::render_json,
    ),
    OutputFormat::plain(
        "html",
        "One self-contained page: the timeline of every package",
        history_report::render_html,
    ),
];

/// Of `abide deprecations`.
pub(crate) type DeprecationFormat = OutputFormat<fn(&DeprecationReport<'_, '_>, Style) -> Vec<u8>>;
/// The forms of the list of what is deprecated.
pub(crate) const DEPRECATIONS: &[DeprecationFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each element with its phase, and what comes next",
        deprecation_report::render_human,
    ),
    OutputFormat::plain(
        "markdown",
        "The list that --write writes: tables by package, with dates only",
        deprecation_report::render_markdown,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per element, then a summary",
        deprecation_report::render_json,
    ),
];

/// Of `abide calendar`.
pub(crate) type CalendarFormat = OutputFormat<fn(&Status<'_>, Style) -> Vec<u8>>;
/// The forms of the calendar.
pub(crate) const CALENDARS: &[CalendarFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: the next releases, and what happens to old elements and majors",
        calendar_note::render_report,
    ),
    OutputFormat::plain("json", "One JSON object", calendar_note::render_line),
];

/// Of `abide calendar simulate`.
pub(crate) type SimulationFormat = OutputFormat<fn(&SimulationReport<'_>, Style) -> Vec<u8>>;
/// The forms of a simulation.
pub(crate) const SIMULATIONS: &[SimulationFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: the answer, how it was counted, and a timeline",
        simulation_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: the answer, then fleets, bounds and lives",
        simulation_report::render_json,
    ),
    OutputFormat::plain(
        "html",
        "One self-contained page without a script",
        simulation_report::render_html,
    ),
];

/// Of `abide usage`.
pub(crate) type UsesFormat = OutputFormat<fn(&UsesReport<'_>, Style) -> Vec<u8>>;
/// The forms of a list of uses.
pub(crate) const USES: &[UsesFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each place with the element that it uses",
        uses_report::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per place, then a summary",
        uses_report::render_json,
    ),
    OutputFormat::plain(
        "jsonl",
        "A file for `[usage] files`: one object per element and client",
        uses_report::render_lines,
    ),
];

/// Of `abide owners`.
pub(crate) type OwnersFormat = OutputFormat<fn(&OwnerReport<'_>, Style) -> Vec<u8>>;
/// The forms of a list of owners.
pub(crate) const OWNER_LISTS: &[OwnersFormat] = &[
    OutputFormat::styled(
        "human",
        "For people: each package with its owners",
        owner_list::render_human,
    ),
    OutputFormat::plain(
        "json",
        "JSON Lines: one object per package, then a summary",
        owner_list::render_json,
    ),
    OutputFormat::plain(
        "markdown",
        "A table for a comment on a pull request",
        owner_list::render_markdown,
    ),
    OutputFormat::plain(
        "github",
        "Annotations of GitHub Actions: the owners, and packages without one",
        owner_list::render_github,
    ),
];
