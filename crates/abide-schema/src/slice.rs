//! The part of a tree that a change concerns.
//!
//! A change *reaches* the packages of the files that changed, and of the files that import these,
//! directly or not. What a check finds in reached packages depends on more files than theirs:
//! [`Slice`] has all of them, so that the small tree gives the findings of the whole one.

mod claimed;

use std::collections::BTreeSet;
use std::ops::Index;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::outline::{Outline, claim};
use crate::problem::ProblemKind;
use crate::tree::Tree;
use crate::version::api_name;

pub use claimed::Claimed;

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
    /// Whether its text changed, or it came or went.
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
pub struct Slice {
    /// The packages that the change reaches, by their names on either side.
    pub reached: BTreeSet<Box<str>>,
    /// The files that decide what is found in them, as indices in order.
    pub files: Vec<usize>,
    /// Why only the whole tree is sure to give the same findings, if so.
    pub whole: Option<&'static str>,
}

impl Slice {
    /// The slice of a tree in which some files changed, and what is recorded about these packages.
    pub fn of(files: &[OutlinedFile<'_>], recorded: &BTreeSet<&str>) -> Slice {
        let places = Places::of(files);
        let mut reached = places.reached();
        let is_recorded = |package: &usize| recorded.contains(places.packages[*package]);
        reached.extend((0..places.packages.len()).filter(is_recorded));
        Slice::within(&places, &reached)
    }

    /// The slice that decides what is found in some packages and in those of the files that
    /// changed, but not in packages that only import these.
    pub fn around(files: &[OutlinedFile<'_>], packages: &BTreeSet<&str>) -> Slice {
        let places = Places::of(files);
        let changed = (0..files.len()).filter(|file| files[*file].changed);
        let mut asked: BTreeSet<usize> =
            changed.flat_map(|file| &places.packages_of[file]).copied().collect();
        let is_asked = |package: &usize| packages.contains(places.packages[*package]);
        asked.extend((0..places.packages.len()).filter(is_asked));
        Slice::within(&places, &asked)
    }

    /// Whether a small tree has the problems of the whole one in the packages of the slice. What a
    /// name or an import that is not found may mean, and where a duplicate or a circle is reported,
    /// depends on files that need not be in it.
    pub fn is_enough(&self, tree: &Tree) -> bool {
        use ProblemKind::{
            ImportCycle, ImportNotFound, NameDuplicated, NameNotFound, NumberDuplicated,
        };
        let is_local = |kind| {
            !matches!(kind, ImportNotFound | NameNotFound | NameDuplicated | NumberDuplicated)
        };
        tree.problems().iter().all(|it| {
            let package = tree.file(it.place.file).package().name();
            it.kind != ImportCycle && (is_local(it.kind) || !self.reached.contains(package))
        })
    }

    fn within(places: &Places<'_>, reached: &BTreeSet<usize>) -> Slice {
        let mut closure = Closure::new(places);
        for &package in reached {
            closure.add_package(package);
            for &file in &places.files_of[package] {
                // Rules about folders look at what lies side by side.
                closure.add_all(&places.in_folder[places.folder_of[file]]);
            }
        }
        let is_contested = closure.finish(reached);
        let roots: BTreeSet<u32> = places.files.iter().map(|it| it.root).collect();
        let whole = if is_contested && roots.len() > 1 {
            Some("files of several roots declare the same")
        } else if places.repeats(reached) {
            Some("a folder repeats another one")
        } else {
            None
        };
        Slice {
            reached: reached.iter().map(|it| places.packages[*it].into()).collect(),
            files: closure.files.ones().collect(),
            whole,
        }
    }
}

/// Numbers for the names of a tree, in the order in which they are first met.
#[derive(Default)]
struct Numbers<'a> {
    of: FxHashMap<&'a str, usize>,
    names: Vec<&'a str>,
}

impl<'a> Numbers<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        *self.of.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

/// Numbers in groups, each with a number itself.
struct Groups {
    /// Where each group begins, and the last one ends.
    starts: Vec<usize>,
    members: Vec<usize>,
}

impl Groups {
    /// The groups of pairs of group and member. In a group, members keep their order.
    fn of(count: usize, pairs: &[(usize, usize)]) -> Groups {
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
        Groups { starts, members }
    }

    /// The groups of the same pairs the other way round.
    fn inverse(count: usize, pairs: &[(usize, usize)]) -> Groups {
        let pairs: Vec<(usize, usize)> = pairs.iter().map(|(group, it)| (*it, *group)).collect();
        Groups::of(count, &pairs)
    }
}

impl Index<usize> for Groups {
    type Output = [usize];

    fn index(&self, group: usize) -> &[usize] {
        &self.members[self.starts[group]..self.starts[group + 1]]
    }
}

/// Who is where in a tree, and who imports whom. Everything is a number.
struct Places<'a> {
    files: &'a [OutlinedFile<'a>],
    packages: Vec<&'a str>,
    /// By file.
    packages_of: Groups,
    imports_of: Groups,
    path_of: Vec<usize>,
    folder_of: Vec<usize>,
    /// By package.
    files_of: Groups,
    /// By API: the packages that are versions of it.
    versions: FxHashMap<String, Vec<usize>>,
    /// By path: the files of all roots that have it, and those that import it.
    at_path: Groups,
    importers: Groups,
    /// By folder.
    in_folder: Groups,
}

impl<'a> Places<'a> {
    fn of(files: &'a [OutlinedFile<'a>]) -> Places<'a> {
        let (mut paths, mut packages, mut folders) = <(Numbers, Numbers, Numbers)>::default();
        let (mut at, mut within) = (Vec::new(), Vec::new());
        for (file, it) in files.iter().enumerate() {
            at.push((file, paths.number(it.path)));
            let folder = it.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            within.push((file, folders.number(folder)));
        }
        let (mut imports, mut members) = (Vec::new(), Vec::new());
        for (file, it) in files.iter().enumerate() {
            for outline in it.outlines() {
                members.push((file, packages.number(&outline.package)));
                imports.extend(outline.imports.iter().map(|it| (file, paths.number(it))));
            }
        }
        let mut versions: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (package, name) in packages.names.iter().enumerate() {
            if let Some(api) = api_name(name) {
                versions.entry(api).or_default().push(package);
            }
        }
        let (count, paths) = (files.len(), paths.names.len());
        Places {
            files,
            packages_of: Groups::of(count, &members),
            files_of: Groups::inverse(packages.names.len(), &members),
            imports_of: Groups::of(count, &imports),
            importers: Groups::inverse(paths, &imports),
            at_path: Groups::inverse(paths, &at),
            in_folder: Groups::inverse(folders.names.len(), &within),
            path_of: at.into_iter().map(|(_, path)| path).collect(),
            folder_of: within.into_iter().map(|(_, folder)| folder).collect(),
            packages: packages.names,
            versions,
        }
    }

    /// The packages of the files that changed, and of those that import them, directly or not.
    fn reached(&self) -> BTreeSet<usize> {
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

    fn claims(&self, file: usize) -> impl Iterator<Item = &'a u64> + use<'a> {
        self.files[file].outlines().flat_map(|it| &it.claims)
    }

    /// The files that name these packages, or packages that they name, in a string.
    fn namers(&self, packages: &BTreeSet<usize>) -> Vec<usize> {
        let names = |file: usize| {
            let strings = self.files[file].outlines().flat_map(|it| &it.strings);
            strings.filter(|it| it.contains('.')).flat_map(|it| prefixes(it))
        };
        let known: FxHashSet<&str> = self.packages.iter().copied().collect();
        let files = packages.iter().flat_map(|it| &self.files_of[*it]);
        let named = files.flat_map(|it| names(*it)).filter(|it| known.contains(it));
        let own = packages.iter().map(|it| self.packages[*it]);
        // Everyone names the well-known types, and nothing was made from them.
        let is_asked = |it: &&str| !it.is_empty() && *it != WELL_KNOWN;
        let asked: FxHashSet<&str> = own.chain(named).filter(is_asked).collect();
        (0..self.files.len()).filter(|it| names(*it).any(|it| asked.contains(it))).collect()
    }

    /// Whether a file of these packages may be in a folder that repeats another one of its root:
    /// files of one package with the same path below the folders.
    fn repeats(&self, packages: &BTreeSet<usize>) -> bool {
        let files = packages.iter().flat_map(|it| &self.files_of[*it]);
        let above: FxHashSet<&str> =
            files.flat_map(|it| folders_above(self.files[*it].path)).collect();
        let place = |file: usize, package: usize| {
            let path = self.files[file].path;
            let (above, below) = path.split_at(above_package(path, self.packages[package])?);
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
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Where the folder of a package begins in a path, if the path is in such a folder.
fn above_package(path: &str, package: &str) -> Option<usize> {
    let (folder, _) = path.rsplit_once('/')?;
    let at = folder.len().checked_sub(package.len()).filter(|_| !package.is_empty())?;
    let own = folder.as_bytes()[at..].iter().map(|it| if *it == b'/' { b'.' } else { *it });
    let is_whole = at == 0 || folder.as_bytes()[at - 1] == b'/';
    (is_whole && own.eq(package.bytes())).then_some(at)
}

/// Files to which all are added that they depend on.
struct Closure<'a> {
    places: &'a Places<'a>,
    files: FixedBitSet,
    packages: FixedBitSet,
    open: Vec<usize>,
}

impl<'a> Closure<'a> {
    fn new(places: &'a Places<'a>) -> Closure<'a> {
        Closure {
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
        let versions = api_name(places.packages[package]).and_then(|it| places.versions.get(&it));
        for &version in versions.into_iter().flatten() {
            self.add_package(version);
        }
    }

    /// Adds imports and whole packages until nothing is missing, and then those who claim the same
    /// as one of these, or that one of these names in a string. Whether any claim the same.
    fn finish(&mut self, reached: &BTreeSet<usize>) -> bool {
        let places = self.places;
        let mut is_contested = false;
        self.add_all(&places.namers(reached));
        loop {
            while let Some(file) = self.open.pop() {
                for &package in &places.packages_of[file] {
                    self.add_package(package);
                }
                for &path in &places.imports_of[file] {
                    self.add_all(&places.at_path[path]);
                }
            }
            let rivals = self.rivals();
            let named = self.named();
            if rivals.is_empty() && named.is_empty() {
                return is_contested;
            }
            is_contested |= !rivals.is_empty();
            self.add_all(&rivals);
            self.add_all(&named);
        }
    }

    /// The files outside that claim what one of the files claims.
    fn rivals(&self) -> Vec<usize> {
        let places = self.places;
        let around = |package: usize| prefixes(places.packages[package]).map(claim);
        let types = self.files.ones().flat_map(|it| places.claims(it));
        let types: FxHashSet<u64> = types.copied().collect();
        let packages: FxHashSet<u64> = self.packages.ones().flat_map(around).collect();
        let is_rival = |file: &usize| {
            let mut own = places.packages_of[*file].iter();
            places.claims(*file).any(|it| types.contains(it) || packages.contains(it))
                || own.any(|it| around(*it).any(|it| types.contains(&it)))
        };
        self.files.zeroes().filter(is_rival).collect()
    }

    /// The files outside that one of the files names in a string: by their packages, or by what
    /// they declare. The name of an element may leave out the package that it is written in.
    fn named(&self) -> Vec<usize> {
        let places = self.places;
        let (mut names, mut inner) = (FxHashSet::default(), FxHashSet::default());
        for outline in self.files.ones().flat_map(|it| places.files[it].outlines()) {
            for name in &outline.strings {
                names.extend(prefixes(name).map(claim));
                inner.extend(prefixes(name).map(|it| claim(&format!("{}.{it}", outline.package))));
            }
        }
        let is_named = |file: &usize| {
            let mut own = places.packages_of[*file].iter();
            places.claims(*file).any(|it| names.contains(it) || inner.contains(it))
                || own.any(|it| names.contains(&claim(places.packages[*it])))
        };
        self.files.zeroes().filter(is_named).collect()
    }
}

/// A name, and what is left of it up to each of its dots.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
    ends.map(|end| &name[..end])
}
