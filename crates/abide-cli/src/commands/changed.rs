//! `--changed`: only what the change concerns is loaded, where that is sure to give the same
//! findings as the whole tree.

use std::path::Path;

use abide_lint::{Config, Lock, VersionIn};
use abide_source::NamedFile;
use abide_source::printable::escape_unprintable;
use abide_source::{
    ACCEPTED, CONFIG, ChangedFiles, ChangedRecords, LoadedTree, Progress, Reached, Source,
    load_both,
};
use abide_upgrade::UpgradeClosure;

use super::instances::{Api, InstanceSubject};
use crate::args::Global;
use crate::error::Error;
use crate::settings::Settings;

/// The old tree of `--changed` if nothing else is named.
pub(super) const LAST_COMMIT: &str = "git:HEAD";

/// The tree that is judged, and the old one that it is compared with.
pub(super) struct LoadedTrees {
    pub(super) loaded: LoadedTree,
    pub(super) baseline: Option<LoadedTree>,
    /// The packages to report on, if only those that the change reaches.
    pub(super) reached: Option<Reached>,
    /// True if only the files that the change concerns were loaded.
    pub(super) is_slice: bool,
    /// The reason why more was loaded, or is reported.
    pub(super) why: Option<String>,
}

impl LoadedTrees {
    /// Whole trees, on all of which there will be a report.
    pub(super) fn whole(loaded: LoadedTree, baseline: Option<LoadedTree>) -> LoadedTrees {
        LoadedTrees { loaded, baseline, reached: None, is_slice: false, why: None }
    }
}

/// The two trees of a run with `--changed`.
pub(super) struct TreeChange<'a> {
    pub(super) new: &'a Source,
    pub(super) old: &'a Source,
    pub(super) locks: [&'a Option<Lock>; 2],
    /// True if the old tree is a baseline; false if it only shows what changed.
    pub(super) is_compared: bool,
    /// True if another tree than the old one decides the bump.
    pub(super) has_release: bool,
    /// True if the tree is compared with more old trees.
    pub(super) has_older: bool,
    pub(super) settings: &'a Settings,
    pub(super) progress: &'a Progress,
}

impl TreeChange<'_> {
    /// Loads the trees as far as the change concerns them; whole, if the settings changed.
    pub(super) fn load(&self, global: &Global, reads_features: bool) -> Result<LoadedTrees, Error> {
        if !self.old.has_blobs() {
            return Err(Error::Usage(format!(
                "`--changed` finds changed files with git, and `{}` is not a revision: name one with \
                 `--against git:REV`",
                self.old.name()
            )));
        }
        if let Some(name) = self.find_changed_settings(global, reads_features)? {
            return self.load_everything(format!("{name} changed"));
        }
        let found = self.find()?;
        if let Some(folder) = found.untracked() {
            return self.load_everything(format!(
                "`{}` is not tracked by git",
                escape_unprintable(folder)
            ));
        }
        if !found.parses() {
            return self.load_everything("some files do not parse".to_owned());
        }
        let why = self.find_reason_for_whole().or(found.whole());
        if let Some(why) = why {
            return self.whole(&found, why);
        }
        let reached = Some(found.find_reached());
        match found.load(self.progress)? {
            Some((loaded, baseline)) => {
                Ok(LoadedTrees { reached, is_slice: true, ..self.pair_trees(loaded, baseline) })
            }
            None => self.whole(&self.find()?, "it has errors that depend on other files"),
        }
    }

    /// Finds the instances that changed, and leaves out the files whose API did not change if none
    /// of them did.
    pub(super) fn narrow(
        &self,
        subjects: &mut Vec<InstanceSubject>,
        reached: &Reached,
    ) -> Result<(), Error> {
        for subject in subjects.iter_mut() {
            let mut is_same = true;
            for api in &subject.apis {
                is_same &= self.is_unchanged(api, reached)?;
            }
            if !is_same {
                continue;
            }
            subject.changed = Some(
                subject
                    .files
                    .iter()
                    .map(|file: &NamedFile| self.is_changed(&self.settings.folder.join(&file.name)))
                    .collect::<Result<_, _>>()?,
            );
        }
        subjects.retain(|it| it.changed.as_ref().is_none_or(|changed| changed.contains(&true)));
        Ok(())
    }

    /// Returns true if an API surely did not change. Nothing is known of a folder in the checkout,
    /// and files outside of it count as unchanged.
    fn is_unchanged(&self, api: &Api, reached: &Reached) -> Result<bool, Error> {
        let Some(source) = &api.source else { return Ok(reached.is_empty()) };
        for name in api.import_path.iter().chain([source]) {
            let path = Path::new(name);
            let changed = match path.is_dir() {
                true => self.old.contains_path(path),
                false => path.exists() && self.is_changed(path)?,
            };
            if changed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Loads the whole trees after those of the change alone.
    pub(super) fn load_whole(&self) -> Result<LoadedTrees, Error> {
        self.whole(
            &self.find()?,
            "a renamed type or a name that is not found may be like any other",
        )
    }

    /// Loads the whole trees, on all of which there will be a report.
    fn load_everything(&self, why: String) -> Result<LoadedTrees, Error> {
        let (loaded, baseline) = load_both(self.new, self.old, self.progress)?;
        let why = Some(format!("{why}, so everything is reported"));
        Ok(LoadedTrees { why, ..self.pair_trees(loaded, baseline) })
    }

    fn find(&self) -> Result<ChangedFiles<'_>, Error> {
        Ok(ChangedFiles::find(self.new, self.old, &self.compare_records(), self.progress)?)
    }

    fn whole(&self, found: &ChangedFiles<'_>, why: &str) -> Result<LoadedTrees, Error> {
        let (mut loaded, baseline) = load_both(self.new, self.old, self.progress)?;
        loaded.notes.extend(found.note().cloned());
        let reached =
            Some(found.find_reached_in(&loaded.tree, &baseline.tree, &self.compare_records()));
        let why = Some(format!("the whole tree was read: {why}"));
        Ok(LoadedTrees { reached, why, ..self.pair_trees(loaded, baseline) })
    }

    fn pair_trees(&self, loaded: LoadedTree, baseline: LoadedTree) -> LoadedTrees {
        LoadedTrees::whole(loaded, Some(baseline).filter(|_| self.is_compared))
    }

    /// Collects the packages and files that `abide.lock` records differently than before.
    fn compare_records(&self) -> ChangedRecords<'_> {
        static NOTHING: std::sync::LazyLock<Lock> = std::sync::LazyLock::new(Lock::default);
        let [new, old] = self.locks.map(|it| it.as_ref().unwrap_or(&NOTHING));
        ChangedRecords { packages: new.packages_unlike(old), made: new.made_unlike(old) }
    }

    /// Returns the reason why a part of the tree may have other findings than the whole, if there
    /// is one.
    fn find_reason_for_whole(&self) -> Option<&'static str> {
        let Config { policy, version_in, .. } = &self.settings.config;
        if policy.upgrade.closure == UpgradeClosure::All {
            Some("an upgrade of any package is one of all")
        } else if !policy.upgrade.packages.is_empty() {
            Some("an upgrade may turn a package into any other")
        } else if *version_in == VersionIn::Option {
            Some("versions are recorded in its files")
        } else if self.has_older {
            Some("several old trees are compared")
        } else if self.has_release {
            Some("all packages count for the bump since the last release")
        } else {
            None
        }
    }

    /// The first of the settings that are not what they were.
    fn find_changed_settings(
        &self,
        global: &Global,
        reads_features: bool,
    ) -> Result<Option<String>, Error> {
        let settings = self.settings;
        let config = global.config.clone().unwrap_or_else(|| settings.folder.join(CONFIG));
        let accepted = settings.accepted_path();
        let named = global.config.as_ref().map(|it| it.display().to_string());
        let config_name = named.unwrap_or_else(|| CONFIG.to_owned());
        // The configuration of a folder below may have been removed: this one applies instead.
        let nearer = settings.passed.iter().map(|it| (CONFIG.to_owned(), it));
        let own = [(config_name, &config), (ACCEPTED.to_owned(), &accepted)];
        for (name, path) in own.into_iter().chain(nearer) {
            if self.is_changed(path)? {
                return Ok(Some(name));
            }
        }
        if !reads_features {
            return Ok(None);
        }
        let named = settings.config.features.as_deref();
        let [new, old] = [self.new, self.old].map(|source| {
            let lists = source.read_features(named).ok()?;
            Some(lists.into_iter().map(|it| (it.path, it.text)).collect::<Vec<_>>())
        });
        Ok((new != old).then(|| "a list of features".to_owned()))
    }

    /// Returns true if a file in the repository changed, line ends aside.
    fn is_changed(&self, path: &Path) -> Result<bool, Error> {
        if !self.old.contains_path(path) {
            return Ok(false);
        }
        let old: Option<Vec<u8>> = self.old.read_at_revision(path)?.map(|it| without_returns(&it));
        let new: Option<Vec<u8>> = self.settings.read_bytes(path).map(|it| without_returns(&it));
        Ok(old != new)
    }
}

/// A text without carriage returns: git may add them at a checkout.
fn without_returns(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}
