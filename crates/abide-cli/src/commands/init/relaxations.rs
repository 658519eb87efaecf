//! What a tree with users cannot mend: the name of a package and its folder are part of what others
//! compile and call. `abide init` turns off the rules about them, for the packages that are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use abide_lint::{
    Config, MENDED_BY_BREAKS, OF_FOLDERS, Options, Preset, Report, Severity, VERSION_MISSING,
    backtick, check, pluralize,
};
use abide_schema::Tree;
use abide_source::{Progress, Source, SourceOptions, load};
use serde_json::json;

use crate::settings::today;

/// The rules that a new `abide.toml` turns off, and where.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Relaxations {
    /// Packages outside the version scheme.
    unversioned: BTreeSet<String>,
    /// Files without a package.
    nameless: BTreeSet<String>,
    /// True if nearly no file is in the folder of its package.
    ignores_folders: bool,
    /// By rule: the packages that it is off for.
    by_package: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Relaxations {
    /// Checks the tree of an `abide.toml` that is not written yet. A tree that cannot be read has
    /// none: `abide check` says why.
    pub(super) fn find(folder: &Path, text: &str, progress: &Progress) -> Relaxations {
        let Ok(config) = Config::parse(text, None) else { return Relaxations::default() };
        let options = SourceOptions {
            roots: &config.roots,
            import_paths: &config.import_paths,
            ..SourceOptions::new(folder)
        };
        let loaded = Source::open(None, &options).ok().and_then(|it| load(&it, progress).ok());
        let Some(loaded) = loaded else { return Relaxations::default() };
        let report = check(&loaded.tree, &config.policy, Options::on(today()));
        Relaxations::of(&loaded.tree, &report)
    }

    fn of(tree: &Tree, report: &Report) -> Relaxations {
        let mut found = Relaxations::default();
        let mut misplaced = BTreeSet::new();
        for finding in report.findings.iter().filter(|it| it.severity > Severity::Note) {
            let file = finding.location.place().map(|it| tree.file(it.file));
            let package = finding.package.clone();
            if finding.rule == VERSION_MISSING.id {
                match package.is_empty() {
                    true => found.nameless.extend(file.map(|it| it.decl().display.to_string())),
                    false => drop(found.unversioned.insert(package)),
                }
            } else if MENDED_BY_BREAKS.iter().any(|(it, _)| it.id == finding.rule) {
                misplaced.extend(file.filter(|_| finding.rule == OF_FOLDERS[0].id).map(|it| it.id));
                found.by_package.entry(finding.rule).or_default().insert(package);
            }
        }
        let judged = tree.files().filter(|it| it.is_judged() && !it.package().name().is_empty());
        // More files out of place than in place: folders mean something else here.
        found.ignores_folders = misplaced.len() * 2 > judged.count();
        if found.ignores_folders {
            found.by_package.retain(|rule, _| OF_FOLDERS.iter().all(|it| it.id != *rule));
        }
        found
    }

    /// The line of `[packages]` for packages without a version; the preset may have some already.
    pub(super) fn render_unversioned(&self, preset: Preset) -> String {
        if self.unversioned.is_empty() {
            return String::new();
        }
        let of_preset = Config::of_preset(preset).policy.packages.unversioned;
        let mut names: BTreeSet<String> = of_preset.iter().map(|it| it.text().to_owned()).collect();
        names.extend(self.unversioned.iter().cloned());
        format!(
            "# These packages have no version in their names. A new name breaks who uses them.\n\
             unversioned = {}\n",
            json!(names)
        )
    }

    /// The table of rules that are off for the whole tree; an example without any.
    pub(super) fn render_rules(&self) -> String {
        if !self.ignores_folders {
            return "# [rules]\n# one-definition = \"warning\"\n".to_owned();
        }
        let off = OF_FOLDERS.iter().map(|rule| format!("{} = \"off\"\n", rule.id));
        let off: String = off.collect();
        format!("[rules]\n# Most files are in other folders than their packages say.\n{off}")
    }

    /// The tables of rules that are off for some packages and files.
    pub(super) fn render_overrides(&self) -> String {
        let mut text = String::new();
        if !self.nameless.is_empty() {
            let _ = write!(
                text,
                "\n# These files declare no package. A package breaks who uses them.\n\
                 [[override]]\nfiles = {}\nrules = {{ {} = \"off\" }}\n",
                json!(self.nameless),
                VERSION_MISSING.id
            );
        }
        for (rule, why) in MENDED_BY_BREAKS {
            let rule = rule.id;
            let Some(packages) = self.by_package.get(rule) else { continue };
            let _ = write!(
                text,
                "\n# {why}\n[[override]]\npackages = {}\nrules = {{ {rule} = \"off\" }}\n",
                json!(packages)
            );
        }
        text
    }

    /// A note about what is off, and how to have it on.
    pub(super) fn describe(&self) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        if self.ignores_folders {
            parts.extend(OF_FOLDERS.iter().map(|rule| backtick(rule.id)));
        }
        let unversioned = self.unversioned.len() + self.nameless.len();
        if unversioned > 0 {
            let names = match (self.unversioned.len(), self.nameless.len()) {
                (packages, 0) => pluralize(packages, "package"),
                (0, files) => pluralize(files, "file"),
                (packages, files) => {
                    format!("{} and {}", pluralize(packages, "package"), pluralize(files, "file"))
                }
            };
            parts.push(format!("`{}` for {names}", VERSION_MISSING.id));
        }
        parts.extend(self.by_package.iter().map(|(rule, packages)| {
            format!("`{rule}` for {}", pluralize(packages.len(), "package"))
        }));
        (!parts.is_empty()).then(|| {
            format!(
                "off, because users would break if it were mended: {}; `abide init --strict` leaves \
                 it on",
                parts.join(", ")
            )
        })
    }
}
