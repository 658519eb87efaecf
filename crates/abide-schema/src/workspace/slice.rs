//! The part of a tree that a change concerns.
//!
//! A change *reaches* the packages of the files that changed, and of the files that import these,
//! directly or not. What a check finds in reached packages depends on more files than theirs:
//! [`TreeSlice`] has all of them, so that the small tree gives the findings of the whole one.

mod tree_names;

use std::collections::BTreeSet;
use std::ops::Index;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decl::Part;
use crate::problem::ProblemKind;
use crate::tree::{Tree, format_api_name};
use crate::workspace::outline::{Outline, hash_name};

pub use tree_names::TreeNames;

/// The package of the well-known types.
const WELL_KNOWN: &str = "google.protobuf";

/// A path of a tree, as it was and as it is.
#[derive(Clone, Debug)]
pub struct OutlinedFile<'a> {
    /// The root that it is in.
    pub root: u32,
    /// The path that imports use.
    pub path: &'a str,
    /// Before the change, if it was there.
    pub old: Option<&'a Outline>,
    /// Now, if it is there.
    pub new: Option<&'a Outline>,
    /// True if its text changed, or it came or went.
    pub changed: bool,
}

impl<'a> OutlinedFile<'a> {
    /// The outlines of both sides; only one if they are the same.
    fn outlines(&self) -> impl Iterator<Item = &'a Outline> + use<'a> {
        let old = self.old.filter(|_| self.changed || self.new.is_none());
        self.new.into_iter().chain(old)
    }
}

/// The part of a tree that a change concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSlice {
    /// The packages that the change reaches, by their names on either side.
    pub reached: BTreeSet<Box<str>>,
    /// The files that decide what is found in them, as indices in order.
    pub files: Vec<usize>,
    /// The reason why only the whole tree is sure to give the same findings, if so.
    pub whole: Option<&'static str>,
}

impl TreeSlice {
    /// The slice of a tree in which some files changed, and what is recorded about these packages.
    pub fn from_files(files: &[OutlinedFile<'_>], recorded: &BTreeSet<&str>) -> TreeSlice {
        let places = FileIndex::from_files(files);
        let mut reached = places.collect_reached();
        let is_recorded = |package: &usize| recorded.contains(places.packages[*package]);
        reached.extend((0..places.packages.len()).filter(is_recorded));
        TreeSlice::from_packages(&places, &reached)
    }

    /// The slice that decides what is found in some packages and in those of the files that
    /// changed, but not in packages that only import these.
    pub fn around(files: &[OutlinedFile<'_>], packages: &BTreeSet<&str>) -> TreeSlice {
        let places = FileIndex::from_files(files);
        let changed = (0..files.len()).filter(|file| files[*file].changed);
        let mut asked: BTreeSet<usize> =
            changed.flat_map(|file| &places.packages_of[file]).copied().collect();
        let is_asked = |package: &usize| packages.contains(places.packages[*package]);
        asked.extend((0..places.packages.len()).filter(is_asked));
        TreeSlice::from_packages(&places, &asked)
    }

    /// Returns true if a small tree has the problems of the whole one in the packages of the slice.
    /// What a name or an import that is not found may mean, and where a duplicate or a circle is
    /// reported, depends on files that need not be in it.
    pub fn is_enough(&self, tree: &Tree) -> bool {
        self.find_unresolved(tree).is_some_and(|it| it.is_empty())
    }

    /// The slice with the files that decide what is said in these trees of it about names and imports
    /// that are not found: the same slice if it has them. `None` if no part is sure to be enough.
    pub fn extend(&self, files: &[OutlinedFile<'_>], trees: [&Tree; 2]) -> Option<TreeSlice> {
        let mut unfound = UnresolvedNames::default();
        for tree in trees {
            unfound.append(self.find_unresolved(tree)?);
        }
        if unfound.is_empty() {
            return Some(self.clone());
        }
        let places = FileIndex::from_files(files);
        let is_reached = |package: &usize| self.reached.contains(places.packages[*package]);
        let reached = (0..places.packages.len()).filter(is_reached).collect();
        let mut asked = self.files.clone();
        asked.extend(unfound.collect_files(&places));
        let grown = TreeSlice::from_file_numbers(&places, &reached, &asked);
        grown.whole.is_none().then_some(grown)
    }

    /// Finds the names missing in the packages of the slice; `None` if there are problems that
    /// depend on more.
    fn find_unresolved(&self, tree: &Tree) -> Option<UnresolvedNames> {
        use ProblemKind::{
            ImportCycle, ImportNotFound, NameDuplicated, NameNotFound, NumberDuplicated,
        };
        let mut found = UnresolvedNames::default();
        for problem in tree.problems() {
            let file = tree.file(problem.place.file);
            let package = file.package().name();
            match problem.kind {
                ImportCycle => return None,
                _ if !self.reached.contains(package) => {}
                NameDuplicated | NumberDuplicated => return None,
                ImportNotFound => {
                    let import = file.import_at(Part::Name, problem.place.span)?;
                    found.imports.insert(import.decl.path.clone());
                }
                NameNotFound => {
                    let name = problem.place.span.of(file.decl().strings.text());
                    found.names.insert((package.into(), collect_identifiers(name)));
                }
                _ => {}
            }
        }
        Some(found)
    }

    fn from_packages(places: &FileIndex<'_>, reached: &BTreeSet<usize>) -> TreeSlice {
        TreeSlice::from_file_numbers(places, reached, &[])
    }

    /// The slice that decides what is found in some packages, with these files.
    fn from_file_numbers(
        places: &FileIndex<'_>,
        reached: &BTreeSet<usize>,
        files: &[usize],
    ) -> TreeSlice {
        let mut closure = SliceClosure::new(places);
        closure.add_all(files);
        for &package in reached {
            closure.add_package(package);
            for &file in &places.files_of[package] {
                // Rules about folders look at what lies side by side.
                closure.add_all(&places.in_folder[places.folder_of[file]]);
            }
        }
        let is_contested = closure.extend_to_fixpoint(reached);
        let roots: BTreeSet<u32> = places.files.iter().map(|it| it.root).collect();
        let whole = if is_contested && roots.len() > 1 {
            Some("files of several roots declare the same")
        } else if places.has_repeated_folder(reached) {
            Some("a folder repeats another one")
        } else {
            None
        };
        TreeSlice {
            reached: reached.iter().map(|it| places.packages[*it].into()).collect(),
            files: closure.files.ones().collect(),
            whole,
        }
    }
}

/// The names that are not found in the files of a slice.
#[derive(Default)]
struct UnresolvedNames {
    /// The paths of imports.
    imports: BTreeSet<Box<str>>,
    /// Packages in which something is named, and the parts of that name.
    names: BTreeSet<(Box<str>, Vec<Box<str>>)>,
}

impl UnresolvedNames {
    fn is_empty(&self) -> bool {
        self.imports.is_empty() && self.names.is_empty()
    }

    fn append(&mut self, mut other: UnresolvedNames) {
        self.imports.append(&mut other.imports);
        self.names.append(&mut other.names);
    }

    /// The files that decide what is said about it: those that have an import too, since all of them
    /// share one finding, those with a path like it, and those that declare a name in a package
    /// around the one that it stands in.
    fn collect_files(&self, places: &FileIndex<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for (path, at) in places.files.iter().map(|it| it.path).zip(0..) {
            let is_near = |import: &str| import.ends_with(path) || path.ends_with(import);
            if self.imports.iter().any(|it| is_near(it)) {
                found.push(at);
            }
        }
        let imports_it = |file: &usize| {
            let imports = places.files[*file].outlines().flat_map(|it| &it.imports);
            imports.into_iter().any(|it| self.imports.contains(&**it))
        };
        let all = 0..places.files.len();
        found.extend(all.clone().filter(imports_it));
        let mut names = NameFilter::default();
        for (package, parts) in &self.names {
            for around in iter_prefixes(package).chain([""]) {
                let mut name = around.to_owned();
                for part in parts {
                    name = if name.is_empty() { part.to_string() } else { name + "." + part };
                    names.add(hash_name(&name));
                }
            }
        }
        found.extend(all.filter(|file| places.iter_unique_names(*file).any(|it| names.has(*it))));
        found
    }
}

/// The identifiers in a text.
fn collect_identifiers(text: &[u8]) -> Vec<Box<str>> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let parts = text.split(|byte| !is_part(byte)).filter(|it| !it.is_empty());
    parts.map(|it| String::from_utf8_lossy(it).into()).collect()
}

/// A set of hashes of names that is asked about every name of a tree, and has few of them.
#[derive(Default)]
struct NameFilter {
    hashes: FxHashSet<u64>,
    /// A bit for the low bits of each, which nearly always says that a hash is not there.
    may_have: Vec<u64>,
}

impl NameFilter {
    const BITS: usize = 1 << 16;

    fn from_hashes(hashes: impl Iterator<Item = u64>) -> NameFilter {
        let mut all = NameFilter::default();
        hashes.for_each(|it| all.add(it));
        all
    }

    fn bit_position(hash: u64) -> (usize, u64) {
        let bit = hash as usize % NameFilter::BITS;
        (bit / 64, 1 << (bit % 64))
    }

    fn add(&mut self, hash: u64) {
        self.may_have.resize(NameFilter::BITS / 64, 0);
        let (at, bit) = NameFilter::bit_position(hash);
        self.may_have[at] |= bit;
        self.hashes.insert(hash);
    }

    fn has(&self, hash: u64) -> bool {
        let (at, bit) = NameFilter::bit_position(hash);
        self.may_have.get(at).is_some_and(|it| it & bit != 0) && self.hashes.contains(&hash)
    }
}

/// Numbers for the names of a tree, in the order in which they are first met.
#[derive(Default)]
struct NameNumbers<'a> {
    of: FxHashMap<&'a str, usize>,
    names: Vec<&'a str>,
    /// By the address of a shared name: kept outlines share what they repeat.
    shared: FxHashMap<usize, usize>,
}

impl<'a> NameNumbers<'a> {
    /// With room for so many names.
    fn with_capacity(count: usize) -> NameNumbers<'a> {
        NameNumbers {
            of: FxHashMap::with_capacity_and_hasher(count, Default::default()),
            names: Vec::with_capacity(count),
            shared: FxHashMap::default(),
        }
    }

    fn add(&mut self, name: &'a str) -> usize {
        *self.of.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn add_shared(&mut self, name: &'a Arc<str>) -> usize {
        let address = name.as_ptr() as usize;
        if let Some(&number) = self.shared.get(&address) {
            return number;
        }
        let number = self.add(name);
        self.shared.insert(address, number);
        number
    }
}

/// Numbers in groups, each with a number itself.
struct IndexGroups {
    /// The start of each group, and the end of the last one.
    starts: Vec<usize>,
    members: Vec<usize>,
}

impl IndexGroups {
    /// The groups of pairs of group and member. In a group, members keep their order.
    fn from_pairs(count: usize, pairs: &[(usize, usize)]) -> IndexGroups {
        let mut starts = vec![0; count + 1];
        for (group, _) in pairs {
            starts[group + 1] += 1;
        }
        for group in 0..count {
            starts[group + 1] += starts[group];
        }
        let mut ends = starts.clone();
        let mut members = vec![0; pairs.len()];
        for &(group, member) in pairs {
            members[ends[group]] = member;
            ends[group] += 1;
        }
        IndexGroups { starts, members }
    }

    /// The groups of the same pairs the other way round.
    fn from_inverse_pairs(count: usize, pairs: &[(usize, usize)]) -> IndexGroups {
        let pairs: Vec<(usize, usize)> = pairs.iter().map(|(group, it)| (*it, *group)).collect();
        IndexGroups::from_pairs(count, &pairs)
    }
}

impl Index<usize> for IndexGroups {
    type Output = [usize];

    fn index(&self, group: usize) -> &[usize] {
        &self.members[self.starts[group]..self.starts[group + 1]]
    }
}

/// The files of a tree by path, folder and package, with their imports. Everything is a number.
struct FileIndex<'a> {
    files: &'a [OutlinedFile<'a>],
    packages: Vec<&'a str>,
    /// By file.
    packages_of: IndexGroups,
    imports_of: IndexGroups,
    path_of: Vec<usize>,
    folder_of: Vec<usize>,
    /// By package.
    files_of: IndexGroups,
    /// By API: the packages that are versions of it.
    versions: FxHashMap<String, Vec<usize>>,
    /// By path: the files of all roots that have it, and those that import it.
    at_path: IndexGroups,
    importers: IndexGroups,
    /// By folder.
    in_folder: IndexGroups,
}

impl<'a> FileIndex<'a> {
    fn from_files(files: &'a [OutlinedFile<'a>]) -> FileIndex<'a> {
        let count = files.len();
        let by_path = || {
            let mut paths = NameNumbers::with_capacity(count);
            let path_of: Vec<usize> = files.iter().map(|it| paths.add(it.path)).collect();
            let mut imports = Vec::new();
            for (file, it) in files.iter().enumerate() {
                for import in it.outlines().flat_map(|it| &it.imports) {
                    imports.push((file, paths.add_shared(import)));
                }
            }
            let at: Vec<(usize, usize)> = path_of.iter().copied().zip(0..).collect();
            let paths = paths.names.len();
            let importers = IndexGroups::from_inverse_pairs(paths, &imports);
            (
                path_of,
                IndexGroups::from_pairs(paths, &at),
                IndexGroups::from_pairs(count, &imports),
                importers,
            )
        };
        let by_folder = || {
            let mut folders = NameNumbers::default();
            let folder = |it: &OutlinedFile<'a>| it.path.rsplit_once('/').map_or("", |it| it.0);
            let folder_of: Vec<usize> = files.iter().map(|it| folders.add(folder(it))).collect();
            let within: Vec<(usize, usize)> = folder_of.iter().copied().zip(0..).collect();
            (folder_of, IndexGroups::from_pairs(folders.names.len(), &within))
        };
        let by_package = || {
            let mut packages = NameNumbers::default();
            let mut members = Vec::new();
            for (file, it) in files.iter().enumerate() {
                for outline in it.outlines() {
                    members.push((file, packages.add_shared(&outline.package)));
                }
            }
            let NameNumbers { names: packages, .. } = packages;
            let mut versions: FxHashMap<String, Vec<usize>> = FxHashMap::default();
            for (package, name) in packages.iter().enumerate() {
                if let Some(api) = format_api_name(name) {
                    versions.entry(api).or_default().push(package);
                }
            }
            let files_of = IndexGroups::from_inverse_pairs(packages.len(), &members);
            (packages, versions, IndexGroups::from_pairs(count, &members), files_of)
        };
        let (
            (path_of, at_path, imports_of, importers),
            ((folder_of, in_folder), (packages, versions, packages_of, files_of)),
        ) = rayon::join(by_path, || (by_folder(), by_package()));
        FileIndex {
            files,
            packages,
            packages_of,
            imports_of,
            path_of,
            folder_of,
            files_of,
            versions,
            at_path,
            importers,
            in_folder,
        }
    }

    /// The packages of the files that changed, and of those that import them, directly or not.
    fn collect_reached(&self) -> BTreeSet<usize> {
        let mut seen = FixedBitSet::with_capacity(self.files.len());
        let mut open: Vec<usize> =
            (0..self.files.len()).filter(|file| self.files[*file].changed).collect();
        let mut reached = BTreeSet::new();
        while let Some(file) = open.pop() {
            if !seen.put(file) {
                reached.extend(&self.packages_of[file]);
                open.extend(&self.importers[self.path_of[file]]);
            }
        }
        reached
    }

    fn iter_unique_names(&self, file: usize) -> impl Iterator<Item = &'a u64> + use<'a> {
        self.files[file].outlines().flat_map(|it| &it.claims)
    }

    fn iter_strings(&self, file: usize) -> impl Iterator<Item = &'a Arc<str>> + use<'a> {
        self.files[file].outlines().flat_map(|it| &it.strings).filter(|it| it.contains('.'))
    }

    /// The files that name these packages, or packages that they name, in a string.
    fn find_files_naming(&self, packages: &BTreeSet<usize>) -> Vec<usize> {
        let known: FxHashSet<&str> = self.packages.iter().copied().collect();
        let files = packages.iter().flat_map(|it| &self.files_of[*it]);
        let named = files.flat_map(|it| self.iter_strings(*it)).flat_map(|it| iter_prefixes(it));
        let named = named.filter(|it| known.contains(it));
        let own = packages.iter().map(|it| self.packages[*it]);
        // Everyone names the well-known types, and nothing was made from them.
        let is_asked = |it: &&str| !it.is_empty() && *it != WELL_KNOWN;
        let asked: FxHashSet<&str> = own.chain(named).filter(is_asked).collect();
        // Most names stand in many files, which share them.
        let names_one = |answers: &mut FxHashMap<usize, bool>, file: usize| {
            self.iter_strings(file).any(|name| {
                let answer = || iter_prefixes(name).any(|it| asked.contains(it));
                *answers.entry(name.as_ptr() as usize).or_insert_with(answer)
            })
        };
        let found = |answers: &mut _, file| names_one(answers, file).then_some(file);
        let all = (0..self.files.len()).into_par_iter();
        all.map_init(FxHashMap::default, found).flatten_iter().collect()
    }

    /// Returns true if a file of these packages may be in a folder that repeats another one of its
    /// root: files of one package with the same path below the folders.
    fn has_repeated_folder(&self, packages: &BTreeSet<usize>) -> bool {
        let files = packages.iter().flat_map(|it| &self.files_of[*it]);
        let above: FxHashSet<&str> =
            files.flat_map(|it| iter_folders_above(self.files[*it].path)).collect();
        let place = |file: usize, package: usize| {
            let path = self.files[file].path;
            let (above, below) = path.split_at(find_package_folder(path, self.packages[package])?);
            Some((above.trim_end_matches('/'), below))
        };
        let members = |package: usize| self.files_of[package].iter().map(move |it| (package, *it));
        (0..self.packages.len()).flat_map(members).any(|(package, file)| {
            let Some((folder, below)) = place(file, package) else { return false };
            above.contains(folder)
                && self.files_of[package].iter().any(|&twin| {
                    self.files[twin].root == self.files[file].root
                        && place(twin, package).is_some_and(|it| it.0 != folder && it.1 == below)
                })
        })
    }
}

/// The folders that a path is in, without its root.
fn iter_folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Finds the start of the folder of a package in a path, if the path is in such a folder.
fn find_package_folder(path: &str, package: &str) -> Option<usize> {
    let (folder, _) = path.rsplit_once('/')?;
    let at = folder.len().checked_sub(package.len()).filter(|_| !package.is_empty())?;
    let own = folder.as_bytes()[at..].iter().map(|it| if *it == b'/' { b'.' } else { *it });
    let is_whole = at == 0 || folder.as_bytes()[at - 1] == b'/';
    (is_whole && own.eq(package.bytes())).then_some(at)
}

/// Files to which all are added that they depend on.
struct SliceClosure<'a> {
    places: &'a FileIndex<'a>,
    files: FixedBitSet,
    packages: FixedBitSet,
    open: Vec<usize>,
}

impl<'a> SliceClosure<'a> {
    fn new(places: &'a FileIndex<'a>) -> SliceClosure<'a> {
        SliceClosure {
            places,
            files: FixedBitSet::with_capacity(places.files.len()),
            packages: FixedBitSet::with_capacity(places.packages.len()),
            open: Vec::new(),
        }
    }

    fn add_all(&mut self, files: &[usize]) {
        for &file in files {
            if !self.files.put(file) {
                self.open.push(file);
            }
        }
    }

    fn add_package(&mut self, package: usize) {
        if self.packages.put(package) {
            return;
        }
        let places = self.places;
        self.add_all(&places.files_of[package]);
        // Whether a version is the latest one depends on the others.
        let versions =
            format_api_name(places.packages[package]).and_then(|it| places.versions.get(&it));
        for &version in versions.into_iter().flatten() {
            self.add_package(version);
        }
    }

    /// Adds imports and whole packages until nothing is missing, and then those who claim the same
    /// as one of these, or that one of these names in a string. Whether any claim the same.
    fn extend_to_fixpoint(&mut self, reached: &BTreeSet<usize>) -> bool {
        let places = self.places;
        let mut is_contested = false;
        self.add_all(&places.find_files_naming(reached));
        loop {
            while let Some(file) = self.open.pop() {
                for &package in &places.packages_of[file] {
                    self.add_package(package);
                }
                for &path in &places.imports_of[file] {
                    self.add_all(&places.at_path[path]);
                }
            }
            let rivals = self.find_rivals();
            let named = self.find_named();
            if rivals.is_empty() && named.is_empty() {
                return is_contested;
            }
            is_contested |= !rivals.is_empty();
            self.add_all(&rivals);
            self.add_all(&named);
        }
    }

    /// The files outside that claim what one of the files claims.
    fn find_rivals(&self) -> Vec<usize> {
        let places = self.places;
        let around = |package: usize| iter_prefixes(places.packages[package]).map(hash_name);
        let types = NameFilter::from_hashes(
            self.files.ones().flat_map(|it| places.iter_unique_names(it)).copied(),
        );
        let packages = NameFilter::from_hashes(self.packages.ones().flat_map(around));
        let is_within = |package| around(package).any(|it| types.has(it));
        let is_within: Vec<bool> = (0..places.packages.len()).map(is_within).collect();
        let is_rival = |file: usize| {
            places.iter_unique_names(file).any(|it| types.has(*it) || packages.has(*it))
                || places.packages_of[file].iter().any(|it| is_within[*it])
        };
        self.find_outside(is_rival)
    }

    /// The files outside that one of the files names in a string: by their packages, or by what
    /// they declare. The name of an element may leave out the package that it is written in.
    fn find_named(&self) -> Vec<usize> {
        let places = self.places;
        let (mut names, mut inner) = <(NameFilter, NameFilter)>::default();
        for outline in self.files.ones().flat_map(|it| places.files[it].outlines()) {
            for name in outline.strings.iter().flat_map(|it| iter_prefixes(it)) {
                names.add(hash_name(name));
                inner.add(hash_name(&format!("{}.{name}", outline.package)));
            }
        }
        let packages: Vec<bool> =
            places.packages.iter().map(|package| names.has(hash_name(package))).collect();
        let is_named = |file: usize| {
            places.iter_unique_names(file).any(|it| names.has(*it) || inner.has(*it))
                || places.packages_of[file].iter().any(|it| packages[*it])
        };
        self.find_outside(is_named)
    }

    /// The files that were not added yet and are wanted, in their order.
    fn find_outside(&self, is_wanted: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
        let all = (0..self.places.files.len()).into_par_iter();
        all.filter(|it| !self.files.contains(*it) && is_wanted(*it)).collect()
    }
}

/// A name, and what is left of it up to each of its dots.
fn iter_prefixes(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
    ends.map(|end| &name[..end])
}
