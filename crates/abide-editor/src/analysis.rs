//! A linked tree and what is found in it: the part that decides what is found in open files, or
//! the whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_lint::{Finding, Location, Origin};
use abide_schema::{File, FileDecl, FileKey, Outline, OutlinedFile, Tree, TreeNames, TreeSlice};

use crate::project::{CheckInputs, Files, HeldFile, get_key};

/// A linked tree, the old one beside it, and what was found.
#[derive(Debug)]
pub struct TreeAnalysis {
    /// The tree that was judged.
    pub tree: Tree,
    /// The same with what can be understood of files that do not parse, if there are any.
    recovered: Option<Tree>,
    /// The old tree, if there is one to compare with.
    pub old: Option<Tree>,
    /// The findings, sorted by path, place and rule.
    pub findings: Vec<Finding>,
    /// True if the findings are sure to be those of the whole tree. The words of a finding may
    /// depend on files that no smaller tree has to hold.
    pub is_exact: bool,
    /// The source of the old tree.
    old_files: Arc<OldFiles>,
}

/// Files of the old tree, and whether each is another one there.
type OldFiles = Vec<(FileKey, bool)>;

impl TreeAnalysis {
    /// The tree to answer questions by, which knows more of a text that is being written than a
    /// judge may believe.
    pub fn get_readable(&self) -> &Tree {
        self.recovered.as_ref().unwrap_or(&self.tree)
    }

    /// The file of the readable tree with this key.
    pub fn find_file(&self, key: &FileKey) -> Option<File<'_>> {
        self.get_readable().files().find(|it| is_at(it.decl(), key))
    }

    /// The findings in a file of the tree: at places that it has, and about what is gone from it
    /// and has no other place than the old one.
    pub fn iter_findings_in<'a>(&'a self, key: &FileKey) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(move |it| match it.location.origin {
            Origin::Tree(of) => is_at(self.tree.file(of).decl(), key),
            Origin::Old(of) => self.old.as_ref().is_some_and(|old| is_at(old.file(of).decl(), key)),
            Origin::Config | Origin::Accepted | Origin::Features(_) | Origin::Instance(_) => false,
        })
    }

    /// The file that a place is in, if it is one of a tree, and whether of the old one.
    pub fn find_declaring_file(&self, location: &Location) -> Option<(&Arc<FileDecl>, bool)> {
        match location.origin {
            Origin::Tree(id) => Some((self.tree.file(id).shared_decl(), false)),
            Origin::Old(id) => Some((self.old.as_ref()?.file(id).shared_decl(), true)),
            Origin::Config | Origin::Accepted | Origin::Features(_) | Origin::Instance(_) => None,
        }
    }
}

/// Returns true if a file has this root and path.
fn is_at(decl: &FileDecl, key: &FileKey) -> bool {
    (decl.root, &decl.path) == (key.0, &key.1)
}

/// The files that decide what is found in some packages.
#[derive(Debug)]
pub(crate) struct ChosenFiles {
    slice: TreeSlice,
    claimed: TreeNames,
    /// In order.
    new: Vec<FileKey>,
    old: Arc<OldFiles>,
}

impl ChosenFiles {
    /// The files that decide what is found in these packages and in those that changed.
    pub(crate) fn choose_around(
        files: &Files,
        old: Option<&Files>,
        packages: &BTreeSet<String>,
    ) -> ChosenFiles {
        let keys: BTreeSet<&FileKey> =
            files.keys().chain(old.into_iter().flat_map(|it| it.keys())).collect();
        let outlined = keys.iter().map(|key| {
            let now = files.get(*key);
            let was = old.and_then(|it| it.get(*key));
            let changed = old.is_some()
                && match (was, now) {
                    (Some(was), Some(now)) => was.has_other_text(now),
                    _ => true,
                };
            OutlinedFile {
                root: key.0,
                path: &key.1,
                old: was.map(|it| &*it.outline),
                new: now.map(|it| &*it.outline),
                changed,
            }
        });
        let outlined: Vec<OutlinedFile<'_>> = outlined.collect();
        let slice = TreeSlice::around(&outlined, &packages.iter().map(String::as_str).collect());
        let keys: Vec<&FileKey> = keys.into_iter().collect();
        let wanted = slice.files.iter().filter_map(|at| Some((keys.get(*at)?, outlined.get(*at)?)));
        let wanted: Vec<_> = wanted.collect();
        let new = wanted.iter().filter(|(_, it)| it.new.is_some());
        let is_old = |it: &OutlinedFile<'_>| if it.changed { it.old } else { it.new }.is_some();
        let was = wanted.iter().filter(|(_, it)| old.is_some() && is_old(it));
        ChosenFiles {
            new: new.map(|(key, _)| (**key).clone()).collect(),
            old: Arc::new(was.map(|(key, it)| ((**key).clone(), it.changed)).collect()),
            claimed: TreeNames::count_names(&outlined),
            slice,
        }
    }

    /// The reached elements, as the whole tree has them.
    pub(crate) fn reached(&self) -> &BTreeSet<Box<str>> {
        &self.slice.reached
    }

    /// Returns true if these files still decide everything after one of them was edited, which is
    /// then taken over. `keys_of` are the files of both trees that a path may mean.
    pub(crate) fn update_if_enough(
        &mut self,
        key: &FileKey,
        outlines: (&Outline, &Outline),
        old: Option<&Outline>,
        keys_of: impl Fn(&str) -> Vec<FileKey>,
    ) -> bool {
        let new = &self.new;
        let has = |key: &FileKey| new.binary_search(key).is_ok();
        has(key) && self.claimed.replace(outlines, old, |path| keys_of(path).iter().all(has))
    }

    /// Links and judges these files. What the last tree has in common with this one is taken over.
    pub(crate) fn check(
        &self,
        files: &Files,
        old: Option<&Files>,
        judge: &CheckInputs,
        last: Option<TreeAnalysis>,
    ) -> TreeAnalysis {
        let decl = |files: &Files, key: &FileKey| files.get(key).map(|it| Arc::clone(&it.judged));
        let new: Vec<Arc<FileDecl>> = self.new.iter().filter_map(|key| decl(files, key)).collect();
        let (tree, kept) = match last {
            Some(last) => {
                let tree = Tree::link_again(new, &last.tree);
                (tree, last.old.filter(|_| last.old_files == self.old))
            }
            None => (Tree::link(new), None),
        };
        let old = kept.or_else(|| {
            let old = old?;
            let side = |(key, changed): &(FileKey, bool)| {
                let own = if *changed { old.get(key) } else { files.get(key) };
                own.map(|it| Arc::clone(&it.judged))
            };
            Some(Tree::link_beside(self.old.iter().filter_map(side).collect(), &tree))
        });
        let options = judge.build_options(old.as_ref(), None, Some(&self.slice.reached));
        let report = abide_lint::check(&tree, &judge.config.policy, options);
        let trees = [Some(&tree), old.as_ref()];
        let is_exact = !report.depends_on_everything
            && self.slice.whole.is_none()
            && !judge.needs_everything()
            && trees.into_iter().flatten().all(|it| self.slice.is_enough(it));
        let whole: Vec<&HeldFile> = self.new.iter().filter_map(|key| files.get(key)).collect();
        let recovered = whole.iter().any(|it| !it.decl.parses).then(|| {
            Tree::link_again(whole.iter().map(|it| Arc::clone(&it.decl)).collect(), &tree)
        });
        let old_files = Arc::clone(&self.old);
        TreeAnalysis { findings: report.findings, tree, recovered, old, is_exact, old_files }
    }
}

/// A check of a whole tree that was not made yet. It can be sent to another thread.
#[derive(Debug)]
pub struct WholeCheck {
    pub(crate) judge: Arc<CheckInputs>,
    pub(crate) files: Vec<Arc<FileDecl>>,
    pub(crate) old: Option<Vec<Arc<FileDecl>>>,
    pub(crate) released: Option<Vec<Arc<FileDecl>>>,
}

impl WholeCheck {
    /// Links and judges the tree. `is_wanted` is asked between the steps; if it is no longer, there
    /// is no result.
    pub fn check(self, is_wanted: impl Fn() -> bool) -> Option<TreeAnalysis> {
        let WholeCheck { judge, files, old, released } = self;
        let (tree, old) = match old {
            Some(old) => {
                let (tree, old) = Tree::link_both(files, old);
                (tree, Some(old))
            }
            None => (Tree::link(files), None),
        };
        if !is_wanted() {
            return None;
        }
        let released = released.map(|it| Tree::link_beside(it, &tree));
        let options = judge.build_options(old.as_ref(), released.as_ref(), None);
        let report = abide_lint::check(&tree, &judge.config.policy, options);
        let old_files = Arc::default();
        let recovered = None;
        Some(TreeAnalysis {
            findings: report.findings,
            tree,
            recovered,
            old,
            is_exact: true,
            old_files,
        })
    }

    /// The keys of the files.
    pub fn keys(&self) -> impl Iterator<Item = FileKey> {
        self.files.iter().map(|it| get_key(it))
    }
}
