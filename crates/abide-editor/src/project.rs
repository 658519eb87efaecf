//! The files of a tree that is edited, and what it is judged by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_lint::{Accepted, Config, FeatureFile, Lock, Options, Records, RuleScope};
use abide_schema::{FileDecl, FileKey, FileText, Outline, SourceFile, Tree};
use abide_upgrade::UpgradeClosure;
use jiff::civil::Date;
use rayon::prelude::*;

use crate::analysis::{ChosenFiles, TreeAnalysis, WholeCheck};

/// The inputs of a check besides the old tree.
#[derive(Clone, Debug)]
pub struct CheckInputs {
    /// The configuration, with the policy.
    pub config: Config,
    /// The content of `abide.lock`.
    pub lock: Option<Lock>,
    /// Its content in the tree of the last release, else in the old tree.
    pub released: Option<Lock>,
    /// The accepted findings.
    pub accepted: Option<Accepted>,
    /// The lists of features.
    pub features: Vec<FeatureFile>,
    /// True if only a part of a configured tree is judged.
    pub partial: bool,
    /// Today.
    pub as_of: Date,
    /// The day of the commit of the old tree, if that is known.
    pub baseline_day: Option<Date>,
}

impl CheckInputs {
    /// Judges by a configuration alone.
    pub fn new(config: Config, as_of: Date) -> CheckInputs {
        CheckInputs {
            config,
            lock: None,
            released: None,
            accepted: None,
            features: Vec::new(),
            partial: false,
            as_of,
            baseline_day: None,
        }
    }

    /// The options of the check that a command-line run makes.
    pub(crate) fn build_options<'a>(
        &'a self,
        baseline: Option<&'a Tree>,
        bump_baseline: Option<&'a Tree>,
        reached: Option<&'a BTreeSet<Box<str>>>,
    ) -> Options<'a> {
        Options {
            scope: RuleScope::Everything,
            baseline,
            baseline_day: self.baseline_day,
            bump_baseline,
            counts_bump: false,
            accepted: self.accepted.as_ref(),
            records: Records {
                version_in: self.config.version_in,
                lock: self.lock.as_ref(),
                released: self.released.as_ref(),
                ..Records::default()
            },
            versions: true,
            partial: self.partial,
            reached,
            features: &self.features,
            ..Options::on(self.as_of)
        }
    }

    /// Returns true if a part of the tree is never sure to have the findings of the whole one.
    pub(crate) fn needs_everything(&self) -> bool {
        let upgrade = &self.config.policy.upgrade;
        upgrade.closure == UpgradeClosure::All
            || !upgrade.packages.is_empty()
            || self.config.version_in == abide_lint::VersionIn::Option
    }
}

/// A file, with what decides which others it concerns.
#[derive(Clone, Debug)]
pub(crate) struct HeldFile {
    /// All that can be understood of its text.
    pub(crate) decl: Arc<FileDecl>,
    /// The inputs of its check: the same, if the text parses.
    pub(crate) judged: Arc<FileDecl>,
    pub(crate) outline: Arc<Outline>,
}

impl HeldFile {
    fn from_decl(decl: Arc<FileDecl>) -> HeldFile {
        let outline = Arc::new(Outline::from_decl(&decl));
        let mut judged = Arc::clone(&decl);
        if !decl.parses {
            Arc::make_mut(&mut judged).set_aside();
        }
        HeldFile { decl, judged, outline }
    }

    /// Returns true if the texts of two files differ.
    pub(crate) fn has_other_text(&self, other: &HeldFile) -> bool {
        !Arc::ptr_eq(&self.decl, &other.decl) && self.decl.source_text() != other.decl.source_text()
    }
}

pub(crate) type Files = BTreeMap<FileKey, HeldFile>;

pub(crate) fn get_key(decl: &FileDecl) -> FileKey {
    (decl.root, Arc::clone(&decl.path))
}

/// The files of a tree that is edited, the old tree, and the policy.
#[derive(Debug)]
pub struct Project {
    pub(crate) judge: Arc<CheckInputs>,
    pub(crate) files: Files,
    pub(crate) old: Option<Files>,
    released: Option<Vec<Arc<FileDecl>>>,
    open: BTreeSet<FileKey>,
    /// The roots, those of imports included.
    roots: BTreeSet<u32>,
    chosen: Option<ChosenFiles>,
    analysis: Option<TreeAnalysis>,
    is_stale: bool,
}

impl Project {
    /// A tree that has these files and those that they import.
    pub fn new(judge: CheckInputs, files: Vec<Arc<FileDecl>>) -> Project {
        let held: Vec<HeldFile> = files.into_par_iter().map(HeldFile::from_decl).collect();
        Project {
            judge: Arc::new(judge),
            roots: held.iter().map(|it| it.decl.root).collect(),
            files: held.into_iter().map(|it| (get_key(&it.decl), it)).collect(),
            old: None,
            released: None,
            open: BTreeSet::new(),
            chosen: None,
            analysis: None,
            is_stale: true,
        }
    }

    /// Compares with an old tree, which has these files.
    #[must_use]
    pub fn compare_with(mut self, files: Vec<Arc<FileDecl>>) -> Project {
        let hold = |decl: Arc<FileDecl>| match self.files.get(&get_key(&decl)) {
            Some(held) if Arc::ptr_eq(&held.decl, &decl) => held.clone(),
            _ => HeldFile::from_decl(decl),
        };
        let held: Vec<HeldFile> = files.into_par_iter().map(hold).collect();
        self.old = Some(held.into_iter().map(|it| (get_key(&it.decl), it)).collect());
        self
    }

    /// Counts the bump from another tree than the old one: that of the last release.
    #[must_use]
    pub fn count_bump_from(mut self, files: Vec<Arc<FileDecl>>) -> Project {
        self.released = Some(files);
        self
    }

    /// The inputs of the check.
    pub fn judge(&self) -> &CheckInputs {
        &self.judge
    }

    /// The files, in the order of root and path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Arc<FileDecl>> {
        self.files.values().map(|it| &it.decl)
    }

    /// The files of the old tree.
    pub fn old_files(&self) -> impl Iterator<Item = &Arc<FileDecl>> {
        self.old.iter().flat_map(|it| it.values()).map(|it| &it.decl)
    }

    /// A file, parsed.
    pub fn file(&self, key: &FileKey) -> Option<&Arc<FileDecl>> {
        self.files.get(key).map(|it| &it.decl)
    }

    /// Adds a file, or replaces its text.
    pub fn set(&mut self, file: SourceFile) {
        let key = (file.root, Arc::clone(&file.path));
        if self.file(&key).is_some_and(|it| it.is_of(&file)) {
            return;
        }
        // A text that is what it was in the old tree is not parsed again.
        let old = self.old.as_ref().and_then(|it| it.get(&key)).filter(|it| it.decl.is_of(&file));
        let held = match old {
            Some(old) => old.clone(),
            None => HeldFile::from_decl(Arc::new(FileDecl::parse_recovering(file))),
        };
        self.chosen = self.chosen.take().and_then(|it| self.keep_chosen(it, &key, &held));
        self.roots.insert(key.0);
        self.files.insert(key, held);
        self.is_stale = true;
    }

    /// The chosen files, if they also decide everything once a file is replaced.
    fn keep_chosen(
        &self,
        mut chosen: ChosenFiles,
        key: &FileKey,
        held: &HeldFile,
    ) -> Option<ChosenFiles> {
        let was = self.files.get(key)?;
        let old = self.old.as_ref().and_then(|it| it.get(key));
        let is_known = |key: &FileKey| {
            self.files.contains_key(key) || self.old.as_ref().is_some_and(|it| it.contains_key(key))
        };
        let keys_of = |path: &str| {
            let keys = self.roots.iter().map(|root| (*root, Arc::from(path)));
            keys.filter(is_known).collect()
        };
        let is_same = was.outline == held.outline;
        let stays = self.is_changed(key, was) == self.is_changed(key, held)
            && (is_same || {
                let outlines = (&*was.outline, &*held.outline);
                chosen.update_if_enough(key, outlines, old.map(|it| &*it.outline), keys_of)
            });
        stays.then_some(chosen)
    }

    /// Takes a file out of the tree.
    pub fn remove(&mut self, key: &FileKey) {
        if self.files.remove(key).is_some() {
            self.chosen = None;
            self.is_stale = true;
        }
    }

    /// The files of all roots that imports of this path may mean.
    pub(crate) fn find_files(&self, path: &str) -> impl Iterator<Item = &FileDecl> {
        let keys = self.roots.iter().map(move |root| (*root, Arc::from(path)));
        keys.filter_map(|key| Some(&*self.files.get(&key)?.decl))
    }

    /// The paths that a file imports and that no file of the tree has.
    pub fn missing_imports(&self, key: &FileKey) -> Vec<String> {
        let Some(held) = self.files.get(key) else { return Vec::new() };
        let is_known =
            |path: &str| abide_schema::is_built_in(path) || self.find_files(path).next().is_some();
        let paths = held.decl.imports.iter().map(|it| &*it.path);
        paths.filter(|it| !is_known(it)).map(str::to_owned).collect()
    }

    /// Says which files are open: those whose findings are wanted first.
    pub fn open(&mut self, files: BTreeSet<FileKey>) {
        if self.open != files {
            self.open = files;
            self.chosen = None;
            self.is_stale = true;
        }
    }

    /// Returns true if the file is not what it was in the old tree.
    fn is_changed(&self, key: &FileKey, held: &HeldFile) -> bool {
        let old = self.old.as_ref();
        old.is_some_and(|it| it.get(key).is_none_or(|was| was.has_other_text(held)))
    }

    /// The smallest tree with all findings of the open files, and these.
    pub fn analyze(&mut self) -> &TreeAnalysis {
        let chosen = match self.chosen.take() {
            Some(chosen) => chosen,
            None => {
                self.is_stale = true;
                let packages = self.open.iter().filter_map(|key| self.files.get(key));
                let packages = packages.map(|it| it.decl.package_name().to_owned());
                ChosenFiles::choose_around(&self.files, self.old.as_ref(), &packages.collect())
            }
        };
        let analysis = match self.analysis.take() {
            Some(analysis) if !self.is_stale => analysis,
            last => {
                let mut made = chosen.check(&self.files, self.old.as_ref(), &self.judge, last);
                made.is_exact &= self.released.is_none();
                made
            }
        };
        self.is_stale = false;
        self.chosen = Some(chosen);
        self.analysis.insert(analysis)
    }

    /// The last analysis that was made.
    pub fn last_analysis(&self) -> Option<&TreeAnalysis> {
        self.analysis.as_ref()
    }

    /// The elements that the last analysis counts as reached from stable packages.
    pub(crate) fn reached(&self) -> Option<&BTreeSet<Box<str>>> {
        self.chosen.as_ref().map(ChosenFiles::reached)
    }

    /// Everything that a check of the whole tree takes, to be made elsewhere.
    pub fn build_whole_check(&self) -> WholeCheck {
        let all = |files: &Files| files.values().map(|it| Arc::clone(&it.judged)).collect();
        WholeCheck {
            judge: Arc::clone(&self.judge),
            files: all(&self.files),
            old: self.old.as_ref().map(all),
            released: self.released.clone(),
        }
    }

    /// The tree of some files and all that they import, in which their names are linked.
    pub(crate) fn link_tree(&self, keys: impl IntoIterator<Item = FileKey>) -> Tree {
        let mut open: Vec<FileKey> = keys.into_iter().collect();
        let mut chosen: BTreeMap<FileKey, Arc<FileDecl>> = BTreeMap::new();
        let mut by_path: BTreeMap<&str, Vec<&FileKey>> = BTreeMap::new();
        for key in self.files.keys() {
            by_path.entry(&key.1).or_default().push(key);
        }
        while let Some(key) = open.pop() {
            let Some(held) = self.files.get(&key).filter(|_| !chosen.contains_key(&key)) else {
                continue;
            };
            for import in &held.decl.imports {
                let known = by_path.get(&*import.path).into_iter().flatten();
                open.extend(known.map(|it| (*it).clone()));
            }
            chosen.insert(key, Arc::clone(&held.decl));
        }
        Tree::link(chosen.into_values().collect())
    }

    /// The same project with other texts of some files, to see what would follow.
    pub(crate) fn with_texts(&self, texts: Vec<(FileKey, Vec<u8>)>) -> Project {
        let mut other = Project {
            judge: Arc::clone(&self.judge),
            files: self.files.clone(),
            old: self.old.clone(),
            released: self.released.clone(),
            open: self.open.clone(),
            roots: self.roots.clone(),
            chosen: None,
            analysis: None,
            is_stale: true,
        };
        for (key, text) in texts {
            let Some(held) = self.files.get(&key) else { continue };
            let decl = &held.decl;
            other.set(SourceFile {
                path: Arc::clone(&decl.path),
                display: Arc::clone(&decl.display),
                root: decl.root,
                imported: decl.imported,
                text: FileText::from(text),
            });
            other.open.insert(key);
        }
        other
    }
}
