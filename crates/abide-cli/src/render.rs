//! The formats of all output: one module writes each, and the lists here say which command has it.

mod calendar_note;
mod comment;
mod deprecation_report;
mod diff_report;
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
mod rule_counts;
mod rule_list;
mod rule_page;
mod runtime_report;
mod sarif;
mod scene;
mod simulation_report;
mod snippets;
mod sources;
mod translation_report;
mod usable_deprecations;
mod workflow_command;

use abide_lint::{GraphView, Policy, Report, Status, UsableDeprecation};
use abide_schema::Graph;

use crate::history::History;

pub(crate) use deprecation_report::{
    DeprecationReport, TITLE as DEPRECATIONS_TITLE, is_of_tables, tables as deprecation_tables,
};
pub(crate) use diff_report::{DiffReport, Side};
pub(crate) use format::{Format, one_of};
pub(crate) use hash_list::{HashList, Told};
pub(crate) use man_page::ManPage;
pub(crate) use owner_list::OwnerReport;
pub(crate) use plan_report::PlanReport;
pub(crate) use rule_counts::{count_lines, count_table};
pub(crate) use rule_page::{family_page, laid_out, rule_page};
pub(crate) use runtime_report::{RuntimePlace, RuntimeReport};
pub(crate) use scene::{Look, Scene, TextFile, full_path};
pub(crate) use simulation_report::SimulationReport;
pub(crate) use snippets::config_errors;
pub(crate) use translation_report::{TranslationReport, line_and_column};

/// Of `abide check`, `abide lint` and `abide breaking`.
pub(crate) type ReportFormat = Format<fn(&Report, &Scene) -> Vec<u8>>;
/// The forms of a report.
pub(crate) const REPORTS: &[ReportFormat] = &[
    HUMAN,
    Format::plain("json", "JSON Lines: one object per finding, then a summary", json_lines::render),
    Format::plain(
        "sarif",
        "SARIF 2.1.0 for code scanning, with the page of every rule that reports",
        sarif::render,
    ),
    Format::plain(
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
    Format::plain(
        "html",
        "One self-contained page: the findings by file, with a filter",
        html::render,
    ),
];

/// The format of findings that keep a command from its work.
pub(crate) const HUMAN: ReportFormat = Format::styled(
    "human",
    "For people: each finding with a snippet of its source",
    snippets::render,
);

/// Of `abide config upgrade` and `abide config downgrade`.
pub(crate) type TranslationFormat = Format<fn(&TranslationReport<'_>, &Scene) -> Vec<u8>>;
/// The forms of a report about translated files.
pub(crate) const TRANSLATIONS: &[TranslationFormat] = &[
    Format::styled("human", "For people: what has no place", translation_report::human),
    Format::plain(
        "json",
        "JSON Lines: one object per document and finding, then a summary",
        translation_report::json,
    ),
];

/// Of `abide bump`.
pub(crate) type PlanFormat = Format<fn(&PlanReport<'_>, Look) -> Vec<u8>>;
/// The forms of a plan of versions.
pub(crate) const PLANS: &[PlanFormat] = &[
    Format::styled(
        "human",
        "For people: each package with the version it needs, and why",
        plan_report::human,
    ),
    Format::plain("json", "JSON Lines: one object per package, then a summary", plan_report::json),
];

/// Of `abide hash`.
pub(crate) type HashFormat = Format<fn(&HashList<'_>, Look) -> String>;
/// The forms of a list of hashes.
pub(crate) const HASHES: &[HashFormat] = &[
    Format::styled("human", "For people", hash_list::human),
    Format::plain("json", "JSON Lines: one object per entry", hash_list::lines),
];

/// Of `abide config diff`.
pub(crate) type DiffFormat = Format<fn(&DiffReport<'_>, Look) -> String>;
/// The forms of a difference.
pub(crate) const DIFFS: &[DiffFormat] = &[
    Format::styled("human", "For people: each change with its places and cost", diff_report::human),
    Format::plain("json", "JSON Lines: one object per change, then a summary", diff_report::json),
    Format::plain("markdown", "A table for a pull request", diff_report::markdown),
];

/// Of `abide runtime show`.
pub(crate) type RuntimeFormat = Format<fn(&RuntimeReport<'_>, Look) -> String>;
/// The forms of a runtime.
pub(crate) const RUNTIMES: &[RuntimeFormat] = &[
    Format::styled("human", "For people: each key with its value and layer", runtime_report::human),
    Format::plain("json", "JSON Lines: one object per key, then a summary", runtime_report::json),
];

/// Of `abide config deprecations`.
pub(crate) type UsableDeprecationFormat = Format<fn(&[UsableDeprecation<'_>], Look) -> String>;
/// The forms of what instances can use and is deprecated.
pub(crate) const USABLE_DEPRECATIONS: &[UsableDeprecationFormat] = &[
    Format::styled(
        "human",
        "For people: each element with its replacement",
        usable_deprecations::human,
    ),
    Format::plain("json", "JSON Lines: one object per element", usable_deprecations::json),
];

/// Of `abide rules`.
pub(crate) type RulesFormat = Format<fn(&Policy) -> String>;
/// The forms of the list of rules.
pub(crate) const RULE_LISTS: &[RulesFormat] = &[
    Format::plain("human", "For people", rule_list::human),
    Format::plain("json", "JSON Lines: one object per entry", rule_list::json),
];

/// Of `abide graph`.
pub(crate) type GraphFormat = Format<fn(GraphView<'_>, &Graph<'_>) -> String>;
/// The forms of a graph.
pub(crate) const GRAPHS: &[GraphFormat] = &[
    Format::plain("dot", "Graphviz", |view, graph| view.dot(graph)),
    Format::plain("mermaid", "Mermaid, which GitHub renders", |view, graph| view.mermaid(graph)),
    Format::plain(
        "json",
        "JSON: packages, and edges with the declarations behind them",
        |view, graph| view.json(graph),
    ),
    Format::plain("svg", "A drawing for browsers and documents", |view, graph| view.svg(graph)),
    Format::plain(
        "html",
        "One self-contained page: the drawing with zoom, filter and focus",
        graph_page::html,
    ),
];

/// Of `abide history`.
pub(crate) type HistoryFormat = Format<fn(&History, Look) -> Vec<u8>>;
/// The forms of a history.
pub(crate) const HISTORIES: &[HistoryFormat] = &[
    Format::styled("human", "For people: a table, newest commit first", history_report::human),
    Format::plain(
        "json",
        "JSON Lines: one object per commit and package, oldest first, then a summary",
        history_report::json,
    ),
    Format::plain(
        "html",
        "One self-contained page: the timeline of every package",
        history_report::html,
    ),
];

/// Of `abide deprecations`.
pub(crate) type DeprecationFormat = Format<fn(&DeprecationReport<'_, '_>, Look) -> Vec<u8>>;
/// The forms of the list of what is deprecated.
pub(crate) const DEPRECATIONS: &[DeprecationFormat] = &[
    Format::styled(
        "human",
        "For people: each element with its phase, and what comes next",
        deprecation_report::human,
    ),
    Format::plain(
        "markdown",
        "The list that --write writes: tables by package, with dates only",
        deprecation_report::markdown,
    ),
    Format::plain(
        "json",
        "JSON Lines: one object per element, then a summary",
        deprecation_report::json,
    ),
];

/// Of `abide calendar`.
pub(crate) type CalendarFormat = Format<fn(&Status<'_>, Look) -> Vec<u8>>;
/// The forms of the calendar.
pub(crate) const CALENDARS: &[CalendarFormat] = &[
    Format::styled(
        "human",
        "For people: the next releases, and what happens to old elements and majors",
        calendar_note::report,
    ),
    Format::plain("json", "One JSON object", calendar_note::line),
];

/// Of `abide calendar simulate`.
pub(crate) type SimulationFormat = Format<fn(&SimulationReport<'_>, Look) -> Vec<u8>>;
/// The forms of a simulation.
pub(crate) const SIMULATIONS: &[SimulationFormat] = &[
    Format::styled(
        "human",
        "For people: the answer, how it was counted, and a timeline",
        simulation_report::human,
    ),
    Format::plain(
        "json",
        "JSON Lines: the answer, then fleets, bounds and lives",
        simulation_report::json,
    ),
    Format::plain("html", "One self-contained page without a script", simulation_report::html),
];

/// Of `abide owners`.
pub(crate) type OwnersFormat = Format<fn(&OwnerReport<'_>, Look) -> Vec<u8>>;
/// The forms of a list of owners.
pub(crate) const OWNER_LISTS: &[OwnersFormat] = &[
    Format::styled("human", "For people: each package with its owners", owner_list::human),
    Format::plain("json", "JSON Lines: one object per package, then a summary", owner_list::json),
    Format::plain("markdown", "A table for a comment on a pull request", owner_list::markdown),
    Format::plain(
        "github",
        "Annotations of GitHub Actions: the owners, and packages without one",
        owner_list::github,
    ),
];
