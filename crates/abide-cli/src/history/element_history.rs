//! The lives of elements along the walk: which version of their package first had them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_lint::{ElementHistory, ElementHistoryBuilder, FileElements, HistoryPoint};
use abide_schema::FileKey as Key;
use jiff::civil::Date;
use semver::Version;

use super::judge::FileFacts;
use super::package_history::{PackageRecords, PackageRow, PackageTracker};

/// The lives of the elements of a tree, up to one commit.
#[derive(Default)]
pub(super) struct ElementTracker {
    lives: ElementHistoryBuilder,
    /// The recorded version and hash of each package.
    recordings: BTreeMap<String, PackageRecords>,
}

/// The day and the commit of a step.
pub(super) struct StepMoment {
    pub(super) day: Date,
    pub(super) commit: Arc<str>,
}

/// The elements of the files that a step touched, taken out of what is known of the files.
pub(super) fn take_elements<'f>(
    touched: impl Iterator<Item = &'f Key>,
    files: &mut [(Key, FileFacts)],
) -> BTreeMap<String, FileElements> {
    let mut found: BTreeMap<&Key, FileElements> = touched.map(|key| (key, None)).collect();
    for (key, facts) in files {
        if let Some(entry) = found.get_mut(key) {
            let package = facts.meaning.package().to_owned();
            *entry = Some((package, std::mem::take(&mut facts.elements)));
        }
    }
    found.into_iter().map(|((root, path), it)| (format!("{root}/{path}"), it)).collect()
}

impl ElementTracker {
    /// Sets the state before the first step.
    pub(super) fn begin(&mut self, files: BTreeMap<String, FileElements>, ledger: &PackageTracker) {
        self.lives.begin(files);
        self.recordings = ledger.collect_all_records();
    }

    /// Applies a step, after the ledger did. `locked` says whether `abide.lock` changed.
    pub(super) fn apply_step(
        &mut self,
        step: &StepMoment,
        files: BTreeMap<String, FileElements>,
        rows: &[PackageRow],
        locked: bool,
        ledger: &PackageTracker,
    ) {
        let mut packages: BTreeSet<&str> = rows.iter().map(|it| it.package.as_str()).collect();
        if locked {
            packages.extend(ledger.packages());
        }
        // What is recorded anew holds all that happened so far, this step included.
        let mut anew: BTreeMap<&str, Version> = BTreeMap::new();
        for package in packages {
            let now = ledger.collect_records(package);
            let before = self.recordings.get(package);
            if before != Some(&now)
                && let Some(version) = ledger.find_recorded_version(package)
            {
                anew.insert(package, version);
            }
            self.recordings.insert(package.to_owned(), now);
        }
        let versions: BTreeMap<&str, &PackageRow> =
            rows.iter().map(|row| (row.package.as_str(), row)).collect();
        self.lives.step(files, |package: &str| {
            let counted = versions.get(package).filter(|row| !row.recorded);
            let counted = counted.and_then(|row| row.to.clone());
            let version = anew.get(package).cloned().or(counted);
            let is_there = ledger.files_of(package).next().is_some();
            HistoryPoint {
                unreleased: version.is_none() && is_there,
                version,
                day: Some(step.day),
                revision: Some(Arc::clone(&step.commit)),
            }
        });
        for (package, version) in anew {
            self.lives.record(package, &version);
        }
    }

    /// All lives, sorted by package and name.
    pub(super) fn finish(self) -> Vec<ElementHistory> {
        self.lives.finish()
    }
}
