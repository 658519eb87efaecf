//! The state of every package along the walk, and the row that each step adds for it.

use std::collections::{BTreeMap, BTreeSet};

use abide_hash::{Hashes, IncrementalHashes, PackageChange, SemanticHash};
use abide_lint::{Bump, Record, Severity, first_version, next_version, version_fits};
use abide_schema::{FileKey as Key, ProblemKind};
use semver::Version;

use super::judge::{FileFacts, JudgedStep, VerdictReason};
use super::record::Records;
use super::tree_state::StepChanges;

/// The changes of a package in one commit.
#[derive(Clone, Debug)]
pub(crate) struct PackageRow {
    /// Its name.
    pub(crate) package: String,
    /// The verdict on it.
    pub(crate) verdict: PackageVerdict,
    /// The bump that it required.
    pub(crate) required: Bump,
    /// Its version before; `None` if it did not exist.
    pub(crate) from: Option<Version>,
    /// Its version after; `None` if it was removed.
    pub(crate) to: Option<Version>,
    /// True if the commit itself records the version after.
    pub(crate) recorded: bool,
    /// True if one of the two versions is counted from the start of the walk, because the package
    /// is older than the walk and no version of it is recorded.
    pub(crate) counted: bool,
    /// Its hashes before.
    pub(crate) before: Option<Hashes>,
    /// Its hashes now.
    pub(crate) after: Option<Hashes>,
    /// The reasons, the most severe first.
    pub(crate) reasons: Vec<VerdictReason>,
}

/// The verdict on a package after a commit. The most severe is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PackageVerdict {
    /// Its meaning did not change.
    None,
    /// Its meaning changed, and nobody breaks.
    Compatible,
    /// There is a break, and the policy allows it.
    Breaking,
    /// There is a break, and the policy does not allow it.
    Refused,
    /// It has link errors.
    Unlinked,
}

impl PackageVerdict {
    /// All verdicts, in order.
    pub(crate) const ALL: [PackageVerdict; 5] = [
        PackageVerdict::None,
        PackageVerdict::Compatible,
        PackageVerdict::Breaking,
        PackageVerdict::Refused,
        PackageVerdict::Unlinked,
    ];

    /// Its name in reports.
    pub(crate) fn word(self) -> &'static str {
        match self {
            PackageVerdict::None => "none",
            PackageVerdict::Compatible => "compatible",
            PackageVerdict::Breaking => "breaking",
            PackageVerdict::Refused => "refused",
            PackageVerdict::Unlinked => "unlinked",
        }
    }
}

/// The state of one file.
struct FileState {
    package: String,
    version: Option<Version>,
    hash: Option<String>,
    errors: Vec<VerdictReason>,
}

/// The version and hash that a commit records about a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PackageRecords {
    in_lock: Option<Record>,
    in_files: BTreeSet<(Option<Version>, Option<String>)>,
}

/// The last state of a package that was removed.
struct RemovedPackage {
    version: Version,
    closure: Option<SemanticHash>,
}

/// The state of every package at one commit.
#[derive(Default)]
pub(super) struct PackageTracker {
    hashes: IncrementalHashes,
    files: BTreeMap<Key, FileState>,
    /// The files of the tree by package, without imported ones.
    packages: BTreeMap<String, BTreeSet<Key>>,
    versions: BTreeMap<String, Version>,
    /// The highest version that each package ever had; recorded versions may go down.
    highest: BTreeMap<String, Version>,
    /// The packages that were removed.
    gone: BTreeMap<String, RemovedPackage>,
    /// The packages that existed when the walk began, and have had no recorded version since.
    counted: BTreeSet<String>,
    recorded: Records,
    cyclic: BTreeSet<Key>,
}

impl PackageTracker {
    /// Sets the state before the first step.
    pub(super) fn begin(
        &mut self,
        facts: Vec<(Key, FileFacts)>,
        records: Option<Records>,
        cyclic: BTreeSet<Key>,
        is_own: impl Fn(&Key) -> bool,
    ) {
        self.cyclic = cyclic;
        self.recorded = records.unwrap_or_default();
        for (key, facts) in facts {
            self.set_file(key, facts, &is_own);
        }
        self.hashes.update();
        let packages: Vec<String> = self.packages.keys().cloned().collect();
        for package in packages {
            let version = self.find_recorded_version(&package).unwrap_or_else(|| {
                self.counted.insert(package.clone());
                first_version(&package)
            });
            self.set_version(package, version);
        }
    }

    fn set_version(&mut self, package: String, version: Version) {
        let highest = self.highest.entry(package.clone()).or_insert_with(|| version.clone());
        if *highest < version {
            highest.clone_from(&version);
        }
        self.versions.insert(package, version);
    }

    /// The files of a package that belong to the tree.
    pub(super) fn files_of(&self, package: &str) -> impl Iterator<Item = &Key> {
        self.packages.get(package).into_iter().flatten()
    }

    fn set_file(&mut self, key: Key, facts: FileFacts, is_own: impl Fn(&Key) -> bool) {
        self.remove_file(&key);
        let package = facts.meaning.package().to_owned();
        self.hashes.set(&format_key(&key), Some(facts.meaning));
        if !is_own(&key) {
            return;
        }
        self.packages.entry(package.clone()).or_default().insert(key.clone());
        // `abide bump` reads it in the same way.
        let version: Option<Version> = facts.version.and_then(|text| text.parse().ok());
        let version = version.filter(|it| version_fits(it, &package));
        let (hash, errors) = (facts.hash, facts.errors);
        self.files.insert(key, FileState { package, version, hash, errors });
    }

    fn remove_file(&mut self, key: &Key) {
        let Some(before) = self.files.remove(key) else { return };
        if let Some(files) = self.packages.get_mut(&before.package) {
            files.remove(key);
            if files.is_empty() {
                self.packages.remove(&before.package);
            }
        }
    }

    /// The version that the commit records: in the lock, else in its files (the highest).
    pub(super) fn find_recorded_version(&self, package: &str) -> Option<Version> {
        self.recorded.get(package).map(|it| it.version.clone()).or_else(|| {
            let files = self.files_of(package).filter_map(|key| self.files.get(key));
            files.filter_map(|file| file.version.clone()).max()
        })
    }

    /// Collects the records about a package, in the lock and in its files.
    pub(super) fn collect_records(&self, package: &str) -> PackageRecords {
        let files = self.files_of(package).filter_map(|key| self.files.get(key));
        let in_files = files.map(|it| (it.version.clone(), it.hash.clone())).collect();
        PackageRecords { in_lock: self.recorded.get(package).cloned(), in_files }
    }

    /// Collects the records about every package.
    pub(super) fn collect_all_records(&self) -> BTreeMap<String, PackageRecords> {
        self.packages().map(|it| (it.to_owned(), self.collect_records(it))).collect()
    }

    /// The packages of the tree.
    pub(super) fn packages(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }

    fn collect_errors(&self, package: &str) -> Vec<VerdictReason> {
        let files = self.files_of(package).filter_map(|key| self.files.get(key));
        let errors = files.flat_map(|file| file.errors.iter().cloned());
        let circles = self.files_of(package).filter(|key| self.cyclic.contains(*key));
        let circles = circles.map(|(_, path)| VerdictReason {
            severity: Severity::Error,
            rule: ProblemKind::ImportCycle.id(),
            element: path.to_string(),
            message: format!("`{path}` imports itself, directly or through other files"),
            bump: None,
            breaks: false,
        });
        errors.chain(circles).collect()
    }

    /// Applies a step and returns a row for each package that it concerns.
    pub(super) fn apply_step(
        &mut self,
        moved: StepChanges,
        judged: Option<JudgedStep>,
        records: Option<Records>,
        is_own: impl Fn(&Key) -> bool,
    ) -> Vec<PackageRow> {
        let mut concerned: BTreeSet<String> = BTreeSet::new();
        let mut errors_before: BTreeMap<String, Vec<VerdictReason>> = BTreeMap::new();
        for (key, (before, now)) in &moved.touched {
            if is_own(key) {
                concerned.extend(before.iter().chain(now).cloned());
            }
        }
        if let Some(records) = records {
            let before = std::mem::replace(&mut self.recorded, records);
            let names = before.keys().chain(self.recorded.keys());
            let differ = names.filter(|name| {
                let [old, new] = [&before, &self.recorded].map(|records| records.get(*name));
                old.map(|it| &it.version) != new.map(|it| &it.version)
            });
            concerned.extend(differ.cloned());
        }
        let JudgedStep { mut changes, files } = judged.unwrap_or_default();
        for key in files.iter().map(|(key, _)| key).chain(&self.cyclic).chain(&moved.cyclic) {
            if let Some(state) = self.files.get(key) {
                let package = &state.package;
                if !errors_before.contains_key(package) {
                    errors_before.insert(package.clone(), self.collect_errors(package));
                }
            }
        }
        self.cyclic = moved.cyclic;
        for (key, (_, now)) in &moved.touched {
            if now.is_none() {
                self.remove_file(key);
                self.hashes.set(&format_key(key), None);
            }
        }
        for (key, facts) in files {
            self.set_file(key, facts, &is_own);
        }
        for (package, before) in errors_before {
            if self.collect_errors(&package) != before {
                concerned.insert(package);
            }
        }
        let hashes = self.hashes.update();
        concerned.extend(
            hashes
                .keys()
                .chain(changes.keys())
                .filter(|it: &&String| {
                    self.packages.contains_key(*it) || self.versions.contains_key(*it)
                })
                .cloned(),
        );
        concerned.retain(|it| self.packages.contains_key(it) || self.versions.contains_key(it));
        // Packages that only catch up come after the packages that they follow.
        let mut rows: Vec<PackageRow> = Vec::new();
        let (behind, ahead): (Vec<String>, Vec<String>) = concerned
            .into_iter()
            .partition(|it: &String| hashes.get(it).is_some_and(PackageChange::is_catch_up));
        for package in ahead.into_iter().chain(behind) {
            let now = self.hashes.package(&package);
            let unchanged = PackageChange { before: now, after: now, cause: None };
            let step = hashes.get(&package).unwrap_or(&unchanged);
            let mut reasons = changes.remove(&package).unwrap_or_default();
            if step.is_catch_up()
                && let Some(cause) = &step.cause
            {
                let origin = rows.iter().filter(|row| is_in(cause, &row.package));
                let origin = origin.max_by_key(|row| row.package.len());
                let bump = origin.map_or(Bump::Minor, |row| row.required.min(Bump::Minor));
                reasons.push(VerdictReason {
                    severity: Severity::Note,
                    rule: "catch-up",
                    message: format!("it depends on `{cause}`, which changed"),
                    element: cause.clone(),
                    bump: Some(bump),
                    breaks: false,
                });
            }
            rows.push(self.build_row(package, step, reasons));
        }
        rows.sort_by(|a, b| a.package.cmp(&b.package));
        rows
    }

    fn build_row(
        &mut self,
        package: String,
        step: &PackageChange,
        mut reasons: Vec<VerdictReason>,
    ) -> PackageRow {
        let from = self.versions.remove(&package);
        let is_there = self.packages.contains_key(&package);
        // Files that are only imported may belong to the same package.
        let before = step.before.filter(|_| from.is_some());
        let after = step.after.filter(|_| is_there);
        let changed = before.map(|it| it.closure) != after.map(|it| it.closure);
        let needed = reasons.iter().filter_map(|it| it.bump).max().unwrap_or_default();
        let refused = needed == Bump::Major;
        // A package that comes back continues from the highest version that it had, because no
        // version may stand for two meanings. If its meaning is the last one, so is its version.
        let back = self.gone.remove(&package).map(|gone| {
            let is_as_it_was = gone.closure == after.map(|it| it.closure);
            match self.highest.get(&package) {
                Some(highest) if !is_as_it_was => (highest.clone(), Bump::Minor),
                _ => (gone.version, Bump::None),
            }
        });
        let required = match (&from, is_there) {
            // A change of meaning that no rule names counts as a minor.
            (Some(_), true) if changed && needed == Bump::None => Bump::Minor,
            // Some breaks do not change the hash, such as moving an element to another file.
            (Some(_), true) => needed,
            // A removal that breaks nobody needs no version.
            (Some(_), false) if refused => Bump::Major,
            (Some(_), false) => Bump::None,
            (None, _) => back.as_ref().map_or(Bump::None, |it| it.1),
        };
        let breaks = reasons.iter().any(|it| it.breaks);
        let errors = self.collect_errors(&package);
        let verdict = match () {
            () if !errors.is_empty() => PackageVerdict::Unlinked,
            () if refused => PackageVerdict::Refused,
            () if breaks => PackageVerdict::Breaking,
            () if changed => PackageVerdict::Compatible,
            () => PackageVerdict::None,
        };
        let record = self.find_recorded_version(&package).filter(|_| is_there);
        let recorded = record.is_some();
        let counted = self.counted.contains(&package) && (from.is_some() || !recorded);
        if recorded {
            self.counted.remove(&package);
        }
        let to = is_there.then(|| {
            record.unwrap_or_else(|| match from.as_ref().or(back.as_ref().map(|it| &it.0)) {
                Some(last) => next_version(last, required),
                None => first_version(&package),
            })
        });
        match (&from, &to) {
            (_, Some(to)) => self.set_version(package.clone(), to.clone()),
            (Some(from), None) => {
                let gone =
                    RemovedPackage { version: from.clone(), closure: before.map(|it| it.closure) };
                self.gone.insert(package.clone(), gone);
            }
            (None, None) => {}
        }
        reasons.extend(errors);
        // The most severe first; among equals, breaks first.
        reasons.sort_by(|a, b| {
            let [a_rank, b_rank] = [a, b].map(|it| (it.severity, it.breaks, it.bump));
            b_rank.cmp(&a_rank).then_with(|| a.cmp(b))
        });
        PackageRow {
            package,
            verdict,
            required,
            from,
            to,
            recorded,
            counted,
            before,
            after,
            reasons,
        }
    }
}

/// Returns true if the package of a type may be this one, judging by its name.
fn is_in(full_name: &str, package: &str) -> bool {
    let rest = full_name.strip_prefix(package);
    package.is_empty() || rest.is_some_and(|rest| rest.starts_with('.'))
}

/// The name of a file in the hashes.
fn format_key((root, path): &Key) -> String {
    format!("{root}/{path}")
}
