//! The request of a run: the command line, and `abide.toml` where the command line is silent.

use std::path::Path;

use abide_change::Surface;
use abide_source::ForgeLinks;

use crate::args::{CompareArgs, FixArgs, Global, JudgeArgs};
use crate::commands::changed::LAST_COMMIT;
use crate::render::ReportOrigin;
use crate::settings::{Settings, today};

/// The rules of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum CheckMode {
    /// Those that need no old tree: `abide lint`.
    Lint,
    /// All that apply: `abide check`.
    Everything,
    /// Those about changes: `abide breaking`.
    Changes,
    /// The same since what runs: `abide drift`.
    Drift,
}

/// The use of the findings.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) enum CheckAction {
    /// They are reported.
    Report,
    /// They are recorded in `abide.accepted`, and the rest is reported.
    Accept,
    /// They are fixed, and the rest is reported; or the fixes are shown.
    Fix(FixArgs),
}

impl CheckAction {
    /// The action that these options ask for.
    pub(in crate::commands) fn from_args(fix: FixArgs) -> CheckAction {
        if fix.is_asked() { CheckAction::Fix(fix) } else { CheckAction::Report }
    }
}

/// The request of a run.
pub(in crate::commands) struct CheckRequest<'a> {
    pub(in crate::commands) global: &'a Global,
    pub(in crate::commands) judge: &'a JudgeArgs,
    pub(in crate::commands) settings: &'a Settings,
    pub(in crate::commands) mode: CheckMode,
    pub(in crate::commands) action: CheckAction,
    /// The old tree to compare with; of several the newest.
    pub(in crate::commands) against: Option<String>,
    /// The old trees besides it, the oldest first.
    pub(in crate::commands) older: Vec<String>,
    /// The last release, if it is another tree.
    pub(in crate::commands) bump_against: Option<&'a str>,
    /// The last release, if the command line names it.
    named_release: Option<String>,
    /// True to report compatible changes, too.
    pub(in crate::commands) changes: bool,
    /// The tree before a change, if only what the change reaches is reported.
    pub(in crate::commands) changed_since: Option<String>,
    /// The surfaces to report on; empty for all.
    pub(in crate::commands) surfaces: Vec<Surface>,
}

impl<'a> CheckRequest<'a> {
    /// A request that compares with no tree; `abide.toml` may name the one before a change.
    pub(in crate::commands) fn lint(
        global: &'a Global,
        judge: &'a JudgeArgs,
        settings: &'a Settings,
        fix: FixArgs,
    ) -> CheckRequest<'a> {
        let against = settings.list_old_trees(&[]).pop().filter(|spec| spec.starts_with("git:"));
        CheckRequest {
            global,
            judge,
            settings,
            mode: CheckMode::Lint,
            action: CheckAction::from_args(fix),
            against: None,
            older: Vec::new(),
            bump_against: None,
            named_release: None,
            changes: false,
            changed_since: find_change_start(judge, against),
            surfaces: Vec::new(),
        }
    }

    /// A request that compares with the old trees of the command line, else those of `abide.toml`.
    pub(in crate::commands) fn compare(
        global: &'a Global,
        judge: &'a JudgeArgs,
        compare: &'a CompareArgs,
        settings: &'a Settings,
        (mode, action): (CheckMode, CheckAction),
    ) -> CheckRequest<'a> {
        let config = &settings.config;
        let mut older = settings.list_old_trees(&compare.against);
        let against = older.pop();
        if config.policy.breaking.compares_newest_only() {
            older.clear();
        }
        let is_named = !compare.against.is_empty() && config.bump_against.is_none();
        let named = against.clone().filter(|_| is_named);
        CheckRequest {
            global,
            judge,
            settings,
            mode,
            action,
            against: against.clone(),
            older,
            bump_against: compare.bump_against.as_deref().or(config.bump_against.as_deref()),
            named_release: compare.bump_against.clone().or(named),
            changes: compare.changes,
            changed_since: find_change_start(judge, against),
            surfaces: Vec::new(),
        }
    }

    /// A request that compares with what runs: `target`.
    pub(in crate::commands) fn drift(
        global: &'a Global,
        judge: &'a JudgeArgs,
        settings: &'a Settings,
        target: &str,
    ) -> CheckRequest<'a> {
        CheckRequest {
            mode: CheckMode::Drift,
            against: Some(target.to_owned()),
            changes: true,
            changed_since: None,
            ..CheckRequest::lint(global, judge, settings, FixArgs { fix: false, diff: false })
        }
    }

    /// Returns true if only rules about changes run.
    pub(in crate::commands) fn is_of_changes(&self) -> bool {
        matches!(self.mode, CheckMode::Changes | CheckMode::Drift)
    }

    /// Returns true if the versions of packages are judged.
    pub(in crate::commands) fn has_versions(&self) -> bool {
        !matches!(self.mode, CheckMode::Lint | CheckMode::Drift)
    }

    /// Returns true if the instances of `abide.toml` are judged, too.
    pub(in crate::commands) fn has_instances(&self) -> bool {
        self.mode == CheckMode::Everything && self.judge.is_whole_tree()
    }

    /// Where the reports come from, if one of their formats says so.
    pub(in crate::commands) fn find_origin(&self) -> Option<ReportOrigin> {
        let CheckRequest { global, judge, settings, .. } = *self;
        let source = judge.tree.source.as_deref();
        let is_on_disk = source.is_none_or(|it| Path::new(it).exists());
        let old = self.older.iter().chain(&self.against).map(String::as_str);
        let mut old: Vec<String> = old.chain(self.bump_against).map(str::to_owned).collect();
        old.dedup();
        judge.formats().any(|it| it.links).then(|| ReportOrigin {
            source: source.unwrap_or("the configured tree").to_owned(),
            old,
            as_of: global.as_of.unwrap_or_else(today).to_string(),
            forge: ForgeLinks::discover(&settings.folder).filter(|_| is_on_disk),
        })
    }

    /// The command that records the versions of the same tree, since the same release.
    pub(in crate::commands) fn format_bump_command(&self) -> String {
        let CheckRequest { global, judge, .. } = self;
        let mut words = vec!["abide bump".to_owned()];
        let folder = judge.tree.source.iter().filter(|it| Path::new(it).is_dir());
        words.extend(folder.map(|it| quote_word(it)));
        words.extend(judge.tree.import_path.iter().map(|it| format!("-I {}", quote_word(it))));
        let config = global.config.iter().map(|it| it.display().to_string());
        words.extend(config.map(|it| format!("--config {}", quote_word(&it))));
        words.extend(global.preset.iter().map(|it| format!("--preset {it}")));
        words.push("--write".to_owned());
        let release = self.named_release.iter();
        words.extend(release.map(|it| format!("--against {}", quote_word(it))));
        words.join(" ")
    }
}

/// The tree before a change, if only what the change reaches is reported.
fn find_change_start(judge: &JudgeArgs, against: Option<String>) -> Option<String> {
    judge.changed.then(|| against.unwrap_or_else(|| LAST_COMMIT.to_owned()))
}

/// A word as a shell takes it.
fn quote_word(text: &str) -> String {
    match text.contains(|c: char| c.is_whitespace() || c == '\'') {
        true => format!("\"{text}\""),
        false => text.to_owned(),
    }
}
