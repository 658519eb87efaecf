//! Chooses the roots and import paths of a tree by what its files say.
//!
//! An import says from which folder the path of the imported file counts, and a package that
//! repeats its folders says it too. Where these contradict each other, the layout in which most
//! imports resolve is chosen.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use abide_schema::find_known_repository;
use abide_source::{home_by_package, join};

use super::mentions::Mentions;

/// Folders in which people keep what others wrote.
const VENDORED: &[&str] = &["third_party", "thirdparty", "third-party", "vendor", "external"];

/// The folder of the files that Abide has built in.
const BUILT_IN: &str = "google/protobuf/";

/// More folders than these are not tried one by one.
const MAX_TRIED: usize = 100;

/// A key for prefixes has those that help at least one of so many files.
const RARE: usize = 10;

/// A file as the search sees it. Folders here are relative to the tree; "" is its top.
pub(super) struct ProtoFile {
    pub(super) path: String,
    pub(super) package: String,
    pub(super) imports: Vec<String>,
    pub(super) names: Mentions,
    /// The folder of the repository inside of this one that the file belongs to, if there is one.
    pub(super) repository: Option<String>,
}

/// The roots and import paths of a tree, and what they leave open.
#[derive(Default)]
pub(super) struct TreeLayout {
    /// The folders of the files to check.
    pub(super) roots: Vec<String>,
    /// The folders of files that others wrote.
    pub(super) import_paths: Vec<String>,
    /// The beginning of import paths that the roots leave out, because imports count from above.
    pub(super) import_prefix: String,
    /// Folders below the roots that packages do not have in their names.
    pub(super) folder_prefixes: Vec<String>,
    /// The beginnings of packages that folders do not have in their paths.
    pub(super) path_prefixes: Vec<String>,
    /// The files that are below no root.
    pub(super) outside: Vec<String>,
    /// The name that the folder of the tree needs for some imports, which count from above it, and
    /// one of these imports.
    pub(super) name_of_top: Option<(String, String)>,
    /// Imports that no file of the tree can be, with the number of files that have each.
    pub(super) missing: Vec<(String, usize)>,
    /// Two files with the same import path.
    pub(super) same_path: Option<(String, String)>,
}

impl TreeLayout {
    /// `top` is where the tree lies: the names of the folders on the way there, the last one first.
    pub(super) fn of(files: &[ProtoFile], top: &[String]) -> TreeLayout {
        let vendored = find_published_homes(files);
        let (others, own): (Vec<&ProtoFile>, Vec<&ProtoFile>) =
            files.iter().partition(|file: &&ProtoFile| {
                file.vendored_in().is_some()
                    || file.home_by_package().is_some_and(|home| vendored.contains(home))
                    || vendored.iter().any(|home| !home.is_empty() && is_below(&file.path, home))
            });
        // Without files of its own, a repository is there for those of others.
        let search = match own.is_empty() {
            true => LayoutSearch::new(others, Vec::new()),
            false => LayoutSearch::new(own, others),
        };
        search.layout(top)
    }
}

/// The folders in which most files are those that well-known repositories publish at these paths.
fn find_published_homes(files: &[ProtoFile]) -> BTreeSet<&str> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in files {
        if let Some(home) = file.home_by_package() {
            let path = strip_folder(&file.path, home).unwrap_or(&file.path);
            let (known, all) = counts.entry(home).or_default();
            *known += usize::from(find_known_repository(path).is_some());
            *all += 1;
        }
    }
    let mostly =
        counts.iter().filter(|(home, (known, all))| *known * 2 > *all + count_loose(files, home));
    mostly.map(|(home, _)| *home).filter(|home| !home.is_empty()).collect()
}

/// Counts the files in a folder that follow no package: they may be anybody's.
fn count_loose(files: &[ProtoFile], home: &str) -> usize {
    let loose = files.iter().filter(|file| file.home_by_package().is_none());
    loose.filter(|file| is_below(&file.path, home)).count()
}

impl ProtoFile {
    fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The folder from which the path of the file follows its package.
    fn home_by_package(&self) -> Option<&str> {
        home_by_package(self.folder(), &self.package)
    }

    /// The folder from which the path of the file follows the end of its package.
    fn home_by_end_of_package(&self) -> Option<&str> {
        let begins = self.package.match_indices('.').map(|(at, _)| at + 1);
        begins.into_iter().find_map(|at| home_by_package(self.folder(), self.package.get(at..)?))
    }

    /// The beginning of its package that its folder in a root leaves out.
    fn left_out_of(&self, root: &str) -> Option<&str> {
        let folder =
            strip_folder(self.folder(), root).filter(|it| !it.is_empty())?.replace('/', ".");
        self.package.strip_suffix(folder.as_str())?.strip_suffix('.')
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
struct ImportedPath<'f> {
    /// The folders in which it is a file, with that file.
    homes: Vec<(&'f str, &'f ProtoFile)>,
    /// The files that import it: of those to check, and of others.
    own_uses: usize,
    other_uses: usize,
}

/// The place above the tree from which an import counts.
enum PlaceAbove {
    /// This folder, from the top of the tree.
    Folder(String),
    /// A folder that would hold the tree, if that had this name.
    Name(String),
}

/// Leaves out the files that only end like an import: a file that declares nothing of what those
/// who import that path name, and that has another path by its package or by other imports.
fn remove_namesakes<'f>(
    imports: &mut BTreeMap<&'f str, ImportedPath<'f>>,
    importers: &BTreeMap<&'f str, Vec<&'f ProtoFile>>,
) {
    // Who imports a file by a longer path as well has its names from there.
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (import, found) in imports.iter() {
        for (_, file) in &found.homes {
            paths.entry(&file.path).or_default().push(import);
        }
    }
    let is_used = |import: &str, file: &ProtoFile| {
        let others = paths.get(file.path.as_str()).into_iter().flatten();
        let others: Vec<&str> = others.copied().filter(|it| it.len() > import.len()).collect();
        importers[import].iter().any(|importer| {
            importer.names.can_mean(&file.names)
                && !importer.imports.iter().any(|it| others.contains(&it.as_str()))
        })
    };
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (import, found) in imports.iter() {
        for (home, file) in found.homes.iter().filter(|(_, file)| is_used(import, file)) {
            used.entry(&file.path).or_default().insert(home);
        }
    }
    for (import, found) in imports.iter_mut() {
        found.homes.retain(|(home, file)| {
            let has_other = used.get(file.path.as_str()).is_some_and(|it| !it.contains(home));
            let in_package = file.home_by_package().is_some_and(|it| is_below(home, it));
            is_used(import, file) || !(has_other || in_package)
        });
    }
}

/// Prefixes, with the number of files that each helps.
#[derive(Default)]
struct PrefixCounts<'f>(BTreeMap<&'f str, usize>);

impl<'f> PrefixCounts<'f> {
    fn extend(&mut self, prefix: Option<&'f str>) {
        if let Some(prefix) = prefix {
            *self.0.entry(prefix).or_default() += 1;
        }
    }

    /// Those that help more than a rare file.
    fn select_frequent(self, files: usize) -> Vec<String> {
        let often = self.0.into_iter().filter(|(_, count)| count * RARE >= files);
        often.map(|(prefix, _)| prefix.to_owned()).collect()
    }
}

/// Ranks a choice of roots; the fields that count most come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RootsScore {
    /// No import is worth a file of the user that nobody checks.
    checked: usize,
    /// Imports of files to check that resolve.
    resolved: usize,
    /// Files to check that are also imported by another path, which makes them two files.
    doubled: Reverse<usize>,
    /// Files whose path follows their package.
    in_package: usize,
    resolved_of_others: usize,
    roots: Reverse<usize>,
}

struct LayoutSearch<'f> {
    own: Vec<&'f ProtoFile>,
    own_paths: HashSet<&'f str>,
    others: Vec<&'f ProtoFile>,
    imports: BTreeMap<&'f str, ImportedPath<'f>>,
    /// By the path of a file: the folders that imports say it counts from, with their number.
    votes: BTreeMap<&'f str, BTreeMap<&'f str, usize>>,
}

impl<'f> LayoutSearch<'f> {
    fn new(own: Vec<&'f ProtoFile>, others: Vec<&'f ProtoFile>) -> LayoutSearch<'f> {
        let mut imports: BTreeMap<&str, ImportedPath<'_>> = BTreeMap::new();
        let mut importers: BTreeMap<&str, Vec<&ProtoFile>> = BTreeMap::new();
        for (files, is_own) in [(&own, true), (&others, false)] {
            for (importer, path) in
                files.iter().flat_map(|file| file.imports.iter().map(move |it| (file, it)))
            {
                let import = imports.entry(path).or_default();
                let uses = if is_own { &mut import.own_uses } else { &mut import.other_uses };
                *uses += 1;
                importers.entry(path).or_default().push(importer);
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
        remove_namesakes(&mut imports, &importers);
        let mut votes: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for importer in own.iter().chain(&others) {
            for import in &importer.imports {
                let homes = imports.get(import.as_str()).map_or(&[][..], |it| &it.homes);
                // Of several, one that declares what it needs, and then the one nearest to it.
                let nearest = homes.iter().max_by_key(|(home, file)| {
                    let depth = is_below(&importer.path, home).then_some(home.len());
                    (importer.names.can_mean(&file.names), depth, Reverse(*home))
                });
                if let Some((home, file)) = nearest {
                    *votes.entry(&file.path).or_default().entry(home).or_default() += 1;
                }
            }
        }
        let own_paths = own.iter().map(|it| it.path.as_str()).collect();
        LayoutSearch { own, own_paths, others, imports, votes }
    }

    /// The folder that the path of a file most likely counts from.
    fn home(&self, file: &'f ProtoFile) -> Option<&'f str> {
        let by_package = file.home_by_package();
        let votes = self.votes.get(file.path.as_str()).into_iter().flatten();
        let best = votes
            .max_by_key(|(home, count)| (**count, Some(**home) == by_package, Reverse(home.len())));
        best.map(|(home, _)| *home).or(by_package).or_else(|| file.home_by_end_of_package())
    }

    fn layout(&self, top: &[String]) -> TreeLayout {
        let import_prefix = self.find_prefix_above();
        let roots = match &import_prefix {
            Some(_) => BTreeSet::from([""]),
            None => self.roots(),
        };
        let placed = PlacedFiles::of(&roots, &self.own);
        let import_paths = self.import_paths(&placed);
        let (mut in_folders, mut in_packages) = (PrefixCounts::default(), PrefixCounts::default());
        let mut paths: BTreeMap<&str, &ProtoFile> = BTreeMap::new();
        let mut same_path = None;
        for (file, root) in self.own.iter().zip(&placed.roots_of_files) {
            let Some(root) = *root else { continue };
            let rest = file.home_by_package().and_then(|home| strip_folder(home, root));
            in_folders.extend(rest.filter(|rest| !rest.is_empty()));
            in_packages.extend(file.left_out_of(root));
            let path = strip_folder(&file.path, root).unwrap_or(&file.path);
            if let Some(first) = paths.insert(path, file) {
                same_path = same_path.or(Some((first.path.clone(), file.path.clone())));
            }
        }
        // Of a file that has another path here, the finding about the import names that path.
        let missing = self.imports.iter().filter(|(path, import)| {
            import.homes.is_empty() && import.own_uses > 0 && !path.starts_with(BUILT_IN)
        });
        let mut missing: Vec<(String, usize)> =
            missing.map(|(path, it)| ((*path).to_owned(), it.own_uses)).collect();
        let mut import_paths: Vec<String> = import_paths.into_iter().map(folder_or_dot).collect();
        let mut name_of_top = None;
        if let Some(prefix) = &import_prefix {
            missing.retain(|(path, _)| !self.is_own_below(path, prefix));
        }
        missing.retain(|(path, _)| match self.find_place_above(path, top) {
            Some(PlaceAbove::Folder(folder)) => {
                if !import_paths.contains(&folder) {
                    import_paths.push(folder);
                }
                false
            }
            Some(PlaceAbove::Name(name)) => {
                name_of_top.get_or_insert((name, path.clone()));
                true
            }
            None => true,
        });
        let outside = self.own.iter().zip(&placed.roots_of_files);
        let mut folder_prefixes = in_folders.select_frequent(self.own.len());
        let import_prefix = import_prefix.unwrap_or_default();
        for prefix in &mut folder_prefixes {
            *prefix = join(&import_prefix, prefix);
        }
        TreeLayout {
            roots: roots.into_iter().map(folder_or_dot).collect(),
            import_paths,
            import_prefix,
            folder_prefixes,
            path_prefixes: in_packages.select_frequent(self.own.len()),
            outside: outside
                .filter(|(_, root)| root.is_none())
                .map(|(file, _)| file.path.clone())
                .collect(),
            missing,
            name_of_top,
            same_path,
        }
    }

    /// Finds the beginning of import paths that all files leave out: most imports of files of the
    /// tree count from the same place above it.
    fn find_prefix_above(&self) -> Option<String> {
        let (mut direct, mut above) = (0, BTreeMap::<&str, usize>::new());
        for (path, import) in &self.imports {
            if import.homes.iter().any(|(_, file)| self.own_paths.contains(file.path.as_str())) {
                direct += import.own_uses;
            } else if let Some(prefix) = self.find_above(path) {
                *above.entry(prefix).or_default() += import.own_uses;
            }
        }
        let (prefix, uses) = above.into_iter().max_by_key(|(it, uses)| (*uses, Reverse(*it)))?;
        (uses > direct).then(|| prefix.to_owned())
    }

    /// The part of an import before the path of a file of the tree.
    fn find_above<'i>(&self, import: &'i str) -> Option<&'i str> {
        let mut starts = import.match_indices('/').map(|(at, _)| at + 1);
        let start = starts.find(|start: &usize| {
            import.get(*start..).is_some_and(|path| self.own_paths.contains(path))
        })?;
        import.get(..start - 1)
    }

    /// Returns true if an import is a file of the tree below a prefix.
    fn is_own_below(&self, import: &str, prefix: &str) -> bool {
        let inner = strip_folder(import, prefix);
        inner.is_some_and(|path| self.own_paths.contains(path))
    }

    /// Finds the place above the tree from which an import counts: `shop/api/a.proto` is
    /// `api/a.proto` in a tree that is called `shop`.
    fn find_place_above(&self, import: &str, top: &[String]) -> Option<PlaceAbove> {
        let above = self.find_above(import)?;
        let names = above.split('/').rev();
        Some(match names.clone().zip(top).all(|(name, folder)| name == folder) {
            true => PlaceAbove::Folder(vec![".."; names.count()].join("/")),
            false => PlaceAbove::Name(above.to_owned()),
        })
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
        let mut best = self.compute_score(&roots);
        while tried.len() <= MAX_TRIED {
            let found = tried
                .iter()
                .filter_map(|folder: &&'f str| {
                    let mut other = roots.clone();
                    if !other.remove(folder) {
                        other.insert(folder);
                    }
                    (!other.is_empty()).then(|| (self.compute_score(&other), other))
                })
                .max_by(|a, b| a.0.cmp(&b.0));
            match found {
                Some((score, other)) if score > best => (roots, best) = (other, score),
                _ => break,
            }
        }
        roots
    }

    fn compute_score(&self, roots: &BTreeSet<&'f str>) -> RootsScore {
        let placed = PlacedFiles::of(roots, &self.own);
        let import_paths = self.find_needed_import_paths(&placed);
        let mut score = RootsScore {
            checked: placed.folders.len(),
            resolved: 0,
            doubled: Reverse(0),
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
        score.in_package = self
            .own
            .iter()
            .zip(&placed.roots_of_files)
            .filter(|(file, root): &(&&ProtoFile, &Option<&str>)| {
                let (Some(root), Some(home)) = (root, file.home_by_package()) else { return false };
                home == *root || longer.contains(root) && is_below(home, root)
            })
            .count();
        score
    }

    /// The fewest import paths with which all imports resolve that can. A file to check that is
    /// imported from its root has no second path.
    fn find_needed_import_paths(&self, placed: &PlacedFiles<'f>) -> BTreeSet<&'f str> {
        let mut paths = BTreeSet::new();
        let (direct, mut open): (Vec<&ImportedPath<'_>>, Vec<&ImportedPath<'_>>) = self
            .imports
            .values()
            .partition(|it| it.homes.iter().any(|(home, file)| placed.is_named_from(file, home)));
        let direct: BTreeSet<&str> = direct
            .iter()
            .flat_map(|it| it.homes.iter().filter(|(home, file)| placed.is_named_from(file, home)))
            .map(|(_, file)| file.path.as_str())
            .collect();
        loop {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for import in &open {
                let homes = import.homes.iter().filter(|(_, file)| !direct.contains(&*file.path));
                let homes: BTreeSet<&str> = homes.map(|(home, _)| *home).collect();
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
    fn import_paths(&self, placed: &PlacedFiles<'f>) -> BTreeSet<&'f str> {
        let mut paths = self.find_needed_import_paths(placed);
        for file in &self.others {
            let known = paths.iter().any(|path| !path.is_empty() && is_below(&file.path, path));
            let folder =
                file.vendored_in().or_else(|| file.home_by_package()).filter(|home: &&str| {
                    !home.is_empty() && placed.may_hold_imports(home) && !placed.is_root(home)
                });
            paths.extend(folder.filter(|_| !known));
        }
        paths
    }
}

/// The files to check, each in its root.
struct PlacedFiles<'f> {
    /// The deepest root that holds each file.
    roots_of_files: Vec<Option<&'f str>>,
    /// The root of each file that is below one, by path.
    folders: BTreeMap<&'f str, &'f str>,
    roots: BTreeSet<&'f str>,
    /// The folders between files and their roots. As import paths they would take the files.
    between: BTreeSet<&'f str>,
}

impl<'f> PlacedFiles<'f> {
    fn of(roots: &BTreeSet<&'f str>, own: &[&'f ProtoFile]) -> PlacedFiles<'f> {
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
        PlacedFiles { roots_of_files, folders, roots: roots.clone(), between }
    }

    fn is_root(&self, folder: &str) -> bool {
        self.roots.contains(folder)
    }

    fn root_of(&self, file: &ProtoFile) -> Option<&'f str> {
        self.folders.get(file.path.as_str()).copied()
    }

    /// Returns true if the path of a file to check counts from this folder.
    fn is_named_from(&self, file: &ProtoFile, home: &str) -> bool {
        self.root_of(file) == Some(home)
    }

    /// Returns true if a folder can be an import path without taking files from the roots.
    fn may_hold_imports(&self, folder: &str) -> bool {
        !self.between.contains(folder)
    }
}

/// A folder as `abide.toml` names it.
fn folder_or_dot(folder: &str) -> String {
    if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }
}

/// The folder around a folder; `None` for the top.
fn parent(folder: &str) -> Option<&str> {
    (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(around, _)| around))
}

/// The rest of a path below a folder, or of the folder itself.
fn strip_folder<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    match folder {
        "" => Some(path),
        _ => match path.strip_prefix(folder)? {
            "" => Some(""),
            rest => rest.strip_prefix('/'),
        },
    }
}

pub(super) fn is_below(path: &str, folder: &str) -> bool {
    strip_folder(path, folder).is_some_and(|rest| !rest.is_empty())
}
