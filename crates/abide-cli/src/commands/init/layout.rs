//! Which folders of a tree are roots and which are import paths, by what its files say.
//!
//! An import says from which folder the path of the imported file counts, and a package that
//! repeats its folders says it too. Where these contradict each other, the layout in which most
//! imports resolve is chosen.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Folders in which people keep what others wrote.
const VENDORED: &[&str] = &["third_party", "thirdparty", "third-party", "vendor", "external"];

/// Where Abide has files of its own.
const BUILT_IN: &str = "google/protobuf/";

/// More folders than these are not tried one by one.
const MAX_TRIED: usize = 100;

/// A file as the search sees it. Folders here are relative to the tree; "" is its top.
pub(super) struct ProtoFile {
    pub(super) path: String,
    pub(super) package: String,
    pub(super) imports: Vec<String>,
    /// The folder of the repository inside of this one that the file belongs to, if there is one.
    pub(super) repository: Option<String>,
}

/// The roots and import paths of a tree, and what they leave open.
#[derive(Default)]
pub(super) struct Layout {
    /// The folders of the files to check.
    pub(super) roots: Vec<String>,
    /// The folders of files that others wrote.
    pub(super) import_paths: Vec<String>,
    /// Folders below the roots that packages do not have in their names.
    pub(super) folder_prefixes: Vec<String>,
    /// How many files are below no root.
    pub(super) outside: usize,
    /// Imports that no file of the tree can be, with the number of files that have each.
    pub(super) missing: Vec<(String, usize)>,
    /// Two files with the same import path.
    pub(super) same_path: Option<(String, String)>,
}

impl Layout {
    pub(super) fn of(files: &[ProtoFile]) -> Layout {
        let (others, own): (Vec<&ProtoFile>, Vec<&ProtoFile>) =
            files.iter().partition(|file| file.vendored_in().is_some());
        // Without files of its own, a repository is there for those of others.
        let search = match own.is_empty() {
            true => Search::new(others, Vec::new()),
            false => Search::new(own, others),
        };
        search.layout()
    }
}

impl ProtoFile {
    fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The folder from which the path of the file follows its package.
    fn home_by_package(&self) -> Option<&str> {
        let folder = self.folder();
        let starts = folder.match_indices('/').map(|(at, _)| at + 1);
        let homes = [0].into_iter().chain(starts).filter_map(|start| {
            let (home, rest) = (folder.get(..start)?, folder.get(start..)?);
            let follows = !rest.is_empty() && rest.replace('/', ".") == self.package;
            follows.then(|| home.trim_end_matches('/'))
        });
        homes.into_iter().next()
    }

    /// The folder of what others wrote that the file is in.
    fn vendored_in(&self) -> Option<&str> {
        if let Some(repository) = &self.repository {
            return Some(repository);
        }
        // A part of the package's name says nothing of who wrote the file.
        let home = self.home_by_package().unwrap_or(self.folder());
        let mut end = 0;
        home.split('/').find_map(|name| {
            let folder = home.get(..end + name.len());
            end += name.len() + 1;
            folder.filter(|_| VENDORED.contains(&name))
        })
    }
}

/// An import that files of the tree can be.
#[derive(Default)]
struct Import<'f> {
    /// The folders in which it is a file, with that file.
    homes: Vec<(&'f str, &'f ProtoFile)>,
    /// The files that import it: of those to check, and of others.
    own_uses: usize,
    other_uses: usize,
}

/// How good some roots are; what counts most comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Imports of files to check that resolve.
    resolved: usize,
    /// Files to check that are also imported by another path, which makes them two files.
    doubled: Reverse<usize>,
    checked: usize,
    /// Files whose path follows their package.
    in_package: usize,
    resolved_of_others: usize,
    roots: Reverse<usize>,
}

struct Search<'f> {
    own: Vec<&'f ProtoFile>,
    others: Vec<&'f ProtoFile>,
    imports: BTreeMap<&'f str, Import<'f>>,
    /// By the path of a file: the folders that imports say it counts from, with their number.
    votes: BTreeMap<&'f str, BTreeMap<&'f str, usize>>,
}

impl<'f> Search<'f> {
    fn new(own: Vec<&'f ProtoFile>, others: Vec<&'f ProtoFile>) -> Search<'f> {
        let mut imports: BTreeMap<&str, Import<'_>> = BTreeMap::new();
        for (files, is_own) in [(&own, true), (&others, false)] {
            for import in files.iter().flat_map(|file| &file.imports) {
                let import = imports.entry(import).or_default();
                let uses = if is_own { &mut import.own_uses } else { &mut import.other_uses };
                *uses += 1;
            }
        }
        for file in own.iter().chain(&others).copied() {
            let inner = file.path.match_indices('/').map(|(at, _)| at + 1);
            for start in [0].into_iter().chain(inner) {
                let (home, path) = file.path.split_at(start);
                if let Some(import) = imports.get_mut(path) {
                    import.homes.push((home.trim_end_matches('/'), file));
                }
            }
        }
        let mut votes: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for importer in own.iter().chain(&others) {
            for import in &importer.imports {
                let homes = imports.get(import.as_str()).map_or(&[][..], |it| &it.homes);
                // Of several, the one nearest to who imports it.
                let near = |home: &str| is_below(&importer.path, home).then_some(home.len());
                let nearest = homes.iter().max_by_key(|(home, _)| (near(home), Reverse(*home)));
                if let Some((home, file)) = nearest {
                    *votes.entry(&file.path).or_default().entry(home).or_default() += 1;
                }
            }
        }
        Search { own, others, imports, votes }
    }

    /// The folder that the path of a file most likely counts from.
    fn home(&self, file: &'f ProtoFile) -> Option<&'f str> {
        let by_package = file.home_by_package();
        let votes = self.votes.get(file.path.as_str()).into_iter().flatten();
        let best = votes
            .max_by_key(|(home, count)| (**count, Some(**home) == by_package, Reverse(home.len())));
        best.map(|(home, _)| *home).or(by_package)
    }

    fn layout(&self) -> Layout {
        let roots = self.roots();
        let placed = Placed::of(&roots, &self.own);
        let import_paths = self.import_paths(&placed);
        let shown =
            |folder: &str| if folder.is_empty() { ".".to_owned() } else { folder.to_owned() };
        let mut prefixes = BTreeSet::new();
        let mut paths: BTreeMap<&str, &ProtoFile> = BTreeMap::new();
        let mut same_path = None;
        for (file, root) in self.own.iter().zip(&placed.roots_of_files) {
            let Some(root) = *root else { continue };
            let rest = file.home_by_package().and_then(|home| below(home, root));
            prefixes.extend(rest.filter(|rest| !rest.is_empty()).map(str::to_owned));
            let path = below(&file.path, root).unwrap_or(&file.path);
            if let Some(first) = paths.insert(path, file) {
                same_path = same_path.or(Some((first.path.clone(), file.path.clone())));
            }
        }
        let missing = self.imports.iter().filter(|(path, import)| {
            import.homes.is_empty() && import.own_uses > 0 && !path.starts_with(BUILT_IN)
        });
        Layout {
            roots: roots.into_iter().map(shown).collect(),
            import_paths: import_paths.into_iter().map(shown).collect(),
            folder_prefixes: prefixes.into_iter().collect(),
            outside: placed.roots_of_files.iter().filter(|root| root.is_none()).count(),
            missing: missing.map(|(path, it)| ((*path).to_owned(), it.own_uses)).collect(),
            same_path,
        }
    }

    /// The best roots that changing one of them at a time leads to.
    fn roots(&self) -> BTreeSet<&'f str> {
        let mut roots: BTreeSet<&str> =
            self.own.iter().filter_map(|file| self.home(file)).collect();
        if roots.is_empty() {
            return BTreeSet::from([""]);
        }
        let mut tried = roots.clone();
        tried.extend(self.own.iter().filter_map(|file| file.home_by_package()));
        let voted = self.own.iter().filter_map(|file| self.votes.get(file.path.as_str()));
        tried.extend(voted.flat_map(|homes| homes.keys()));
        // Only a folder that contains another one can take its files.
        let all = tried.clone();
        tried.retain(|it| {
            all.iter().any(|one| one != it && (is_below(one, it) || is_below(it, one)))
        });
        let mut best = self.score(&roots);
        while tried.len() <= MAX_TRIED {
            let one_changed = |folder: &&'f str| {
                let mut other = roots.clone();
                if !other.remove(folder) {
                    other.insert(folder);
                }
                (!other.is_empty()).then(|| (self.score(&other), other))
            };
            let found = tried.iter().filter_map(one_changed).max_by(|a, b| a.0.cmp(&b.0));
            match found {
                Some((score, other)) if score > best => (roots, best) = (other, score),
                _ => break,
            }
        }
        roots
    }

    fn score(&self, roots: &BTreeSet<&'f str>) -> Score {
        let placed = Placed::of(roots, &self.own);
        let import_paths = self.needed(&placed);
        let mut score = Score {
            resolved: 0,
            doubled: Reverse(0),
            checked: placed.folders.len(),
            in_package: 0,
            resolved_of_others: 0,
            roots: Reverse(roots.len()),
        };
        let mut doubled: BTreeSet<&str> = BTreeSet::new();
        let mut direct: BTreeSet<&str> = BTreeSet::new();
        // The roots from which imports name more folders than packages do.
        let mut longer: BTreeSet<&str> = BTreeSet::new();
        for import in self.imports.values() {
            let files = import.homes.iter();
            let mut named = files.clone().filter(|(home, file)| placed.is_named_from(file, home));
            if let Some((home, file)) = named.next() {
                direct.insert(&file.path);
                longer.extend(file.home_by_package().filter(|it| it != home).map(|_| *home));
                score.resolved += import.own_uses;
                score.resolved_of_others += import.other_uses;
                continue;
            }
            let mut found = files.filter(|(home, _)| import_paths.contains(home));
            if let Some((_, file)) = found.next() {
                doubled.extend(placed.root_of(file).map(|_| file.path.as_str()));
                score.resolved += import.own_uses;
                score.resolved_of_others += import.other_uses;
            }
        }
        // A file that is imported by both paths declares everything twice.
        score.resolved = score.resolved.saturating_sub(doubled.intersection(&direct).count());
        score.doubled = Reverse(doubled.len());
        let follows = |(file, root): &(&&ProtoFile, &Option<&str>)| {
            let (Some(root), Some(home)) = (root, file.home_by_package()) else { return false };
            home == *root || longer.contains(root) && is_below(home, root)
        };
        score.in_package = self.own.iter().zip(&placed.roots_of_files).filter(follows).count();
        score
    }

    /// The fewest import paths with which all imports resolve that can.
    fn needed(&self, placed: &Placed<'f>) -> BTreeSet<&'f str> {
        let mut paths = BTreeSet::new();
        let mut open: Vec<&Import<'_>> = self
            .imports
            .values()
            .filter(|it| !it.homes.iter().any(|(home, file)| placed.is_named_from(file, home)))
            .collect();
        loop {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for import in &open {
                let homes: BTreeSet<&str> = import.homes.iter().map(|(home, _)| *home).collect();
                let usable = homes.into_iter().filter(|home| placed.may_hold_imports(home));
                usable.for_each(|home| *counts.entry(home).or_default() += 1);
            }
            let best = counts.into_iter().max_by_key(|(home, count)| (*count, Reverse(*home)));
            let Some((best, _)) = best else { return paths };
            paths.insert(best);
            open.retain(|import| !import.homes.iter().any(|(home, _)| *home == best));
        }
    }

    /// The import paths: those that imports need, and the folders of what others wrote, which is
    /// not checked.
    fn import_paths(&self, placed: &Placed<'f>) -> BTreeSet<&'f str> {
        let mut paths = self.needed(placed);
        let homes = self.others.iter().filter_map(|file| self.home(file));
        let fits = |home: &&str| !home.is_empty() && placed.may_hold_imports(home);
        paths.extend(homes.filter(fits).filter(|home| !placed.is_root(home)));
        for file in &self.others {
            let known = paths.iter().any(|path| !path.is_empty() && is_below(&file.path, path));
            let folder = file.vendored_in().filter(fits);
            paths.extend(folder.filter(|_| !known));
        }
        paths
    }
}

/// The files to check, each in its root.
struct Placed<'f> {
    /// The deepest root that holds each file.
    roots_of_files: Vec<Option<&'f str>>,
    /// The root of each file that is below one, by path.
    folders: BTreeMap<&'f str, &'f str>,
    roots: BTreeSet<&'f str>,
    /// The folders between files and their roots. As import paths they would take the files.
    between: BTreeSet<&'f str>,
}

impl<'f> Placed<'f> {
    fn of(roots: &BTreeSet<&'f str>, own: &[&'f ProtoFile]) -> Placed<'f> {
        let mut between = BTreeSet::new();
        let mut folders = BTreeMap::new();
        let mut roots_of_files = Vec::new();
        for file in own {
            let mut folder = Some(file.folder());
            let mut passed = Vec::new();
            while let Some(it) = folder.filter(|it| !roots.contains(it)) {
                passed.push(it);
                folder = parent(it);
            }
            if let Some(root) = folder {
                between.extend(passed);
                folders.insert(file.path.as_str(), root);
            }
            roots_of_files.push(folder);
        }
        Placed { roots_of_files, folders, roots: roots.clone(), between }
    }

    fn is_root(&self, folder: &str) -> bool {
        self.roots.contains(folder)
    }

    fn root_of(&self, file: &ProtoFile) -> Option<&'f str> {
        self.folders.get(file.path.as_str()).copied()
    }

    /// Whether the path of a file to check counts from this folder.
    fn is_named_from(&self, file: &ProtoFile, home: &str) -> bool {
        self.root_of(file) == Some(home)
    }

    /// Whether a folder can be an import path without taking files from the roots.
    fn may_hold_imports(&self, folder: &str) -> bool {
        !self.between.contains(folder)
    }
}

/// The folder around a folder; `None` for the top.
fn parent(folder: &str) -> Option<&str> {
    (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(around, _)| around))
}

/// The rest of a path below a folder, or of the folder itself.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    match folder {
        "" => Some(path),
        _ => match path.strip_prefix(folder)? {
            "" => Some(""),
            rest => rest.strip_prefix('/'),
        },
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    below(path, folder).is_some_and(|rest| !rest.is_empty())
}
