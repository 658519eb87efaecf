//! The formats of all output: one module writes each, and the lists here say which command has it.

mod calendar_note;
mod element_lives;
mod format;
mod github;
mod gitlab;
mod hash_list;
mod history_report;
mod html;
mod json_lines;
mod junit;
mod markdown;
mod markup;
mod plan_report;
mod rule_list;
mod sarif;
mod scene;
mod snippets;
mod sources;

use abide::{GraphView, Report};
use abide_schema::Graph;

use crate::history::History;

pub(crate) use format::{Format, one_of};
pub(crate) use hash_list::{HashList, Told};
pub(crate) use plan_report::PlanReport;
pub(crate) use scene::{Look, Scene, TextFile};
pub(crate) use snippets::config_errors;

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
    Format::plain("github", "Annotations of GitHub Actions", github::render),
    Format::plain("gitlab", "A GitLab Code Quality report", gitlab::render),
    ReportFormat::plain(
        "markdown",
        "A changelog by package, with compatible changes",
        markdown::render,
    )
    .of_changes(),
    Format::plain(
        "html",
        "One self-contained page: the findings by file, with a filter",
        html::render,
    ),
];

/// What every command says to people of findings that keep it from its work.
pub(crate) const HUMAN: ReportFormat = Format::styled(
    "human",
    "For people: each finding with a snippet of its source",
    snippets::render,
);

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

/// Of `abide rules`.
pub(crate) type RulesFormat = Format<fn() -> String>;
/// The forms of the list of rules.
pub(crate) const RULE_LISTS: &[RulesFormat] = &[
    Format::plain("human", "For people", rule_list::human),
    Format::plain("json", "JSON Lines: one object per entry", rule_list::json),
];

/// Of `abide graph`.
pub(crate) type GraphFormat = Format<fn(GraphView, &Graph<'_>) -> String>;
/// The forms of a graph.
pub(crate) const GRAPHS: &[GraphFormat] = &[
    Format::plain("dot", "Graphviz", GraphView::dot),
    Format::plain("mermaid", "Mermaid, which GitHub renders", GraphView::mermaid),
    Format::plain(
        "json",
        "JSON: packages, and edges with the declarations behind them",
        GraphView::json,
    ),
    Format::plain("svg", "A drawing for browsers and documents", GraphView::svg),
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
