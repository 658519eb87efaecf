//! The files of a tree, and the file that each import means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_syntax::ImportKind;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decl::{FileDecl, Part, SourceFile};
use crate::ids::FileId;
use crate::link::known_sources::describe_how_to_get;
use crate::problem::{Place, Problem, ProblemKind, find_nearest, normalize_path, suggest_word};
use crate::protobuf::{BUILT_IN, DESCRIPTOR_PROTO, built_in_paths, find_built_in};

/// The paths that files import and that no file has, in the order of paths:
/// what a caller may read from elsewhere and add before linking. Well-known
/// types that stay missing are added by [`Tree::link`](crate::Tree::link).
pub fn find_missing_imports(files: &[Arc<FileDecl>]) -> Vec<Box<str>> {
    let known: FxHashSet<&str> = files.iter().map(|file| &*file.path).collect();
    let mut missing: Vec<Box<str>> = files
        .par_iter()
        .flat_map_iter(|file| &file.imports)
        .map(|import| &import.path)
        .filter(|path| !known.contains(&***path))
        .cloned()
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// Adds the well-known types that the tree needs and does not have.
pub(super) fn add_well_known(files: &mut Vec<Arc<FileDecl>>) {
    let imported = files.par_iter().flat_map_iter(|file| &file.imports);
    let mut wanted: BTreeMap<&str, &str> =
        imported.filter_map(|import| find_built_in(&import.path)).collect();
    wanted.extend(find_built_in(DESCRIPTOR_PROTO));
    let mut known: BTreeSet<&str> =
        files.iter().filter_map(|file| find_built_in(&file.path)).map(|(path, _)| path).collect();
    while let Some((path, text)) = wanted.pop_first() {
        if !known.insert(path) {
            continue;
        }
        let file = FileDecl::parse(SourceFile {
            path: path.into(),
            display: path.into(),
            root: BUILT_IN,
            imported: true,
            text: text.as_bytes().into(),
        });
        wanted.extend(file.imports.iter().filter_map(|import| find_built_in(&import.path)));
        files.push(Arc::new(file));
    }
}

/// Keeps the first of two files with the same path under the same root.
pub(super) fn drop_duplicates(files: &mut Vec<Arc<FileDecl>>, problems: &mut Vec<Problem>) {
    let mut at = 0;
    let mut last: Option<(u32, Arc<str>)> = None;
    files.retain(|file| {
        let key = (file.root, Arc::clone(&file.path));
        if last.as_ref() == Some(&key) {
            problems.push(Problem {
                kind: ProblemKind::NameDuplicated,
                place: Place { file: FileId(at - 1), span: abide_syntax::Span::default() },
                message: format!("the file `{}` is given twice, and the two differ", file.path),
                element: Some(file.path.to_string()),
                labels: Vec::new(),
                help: Some("remove one of them; only the first is checked".to_owned()),
            });
            return false;
        }
        at += 1;
        last = Some(key);
        true
    });
}

/// Finds the file that each import of each file means; a file of the same root
/// wins over one of another.
pub(super) fn resolve_imports(
    files: &[Arc<FileDecl>],
    problems: &mut Vec<Problem>,
) -> Vec<Vec<Option<FileId>>> {
    let mut by_path: FxHashMap<&str, Vec<FileId>> = FxHashMap::default();
    for (index, file) in files.iter().enumerate() {
        by_path.entry(&file.path).or_default().push(FileId(index as u32));
    }
    let mut near = None;
    let mut found: FxHashMap<&str, Option<&str>> = FxHashMap::default();
    let mut resolved = Vec::with_capacity(files.len());
    for (index, file) in files.iter().enumerate() {
        let targets = file.imports.iter().map(|import| {
            let candidates = by_path.get(&*import.path)?;
            let same_root = candidates.iter().find(|id| files[id.0 as usize].root == file.root);
            same_root.or(candidates.first()).copied()
        });
        let targets: Vec<Option<FileId>> = targets.collect();
        for (import, target) in file.imports.iter().zip(&targets) {
            // protoc also refuses a weak import of a missing file.
            if target.is_none() {
                let place =
                    Place { file: FileId(index as u32), span: file.span(import.node, Part::Name) };
                let near = near.get_or_insert_with(|| NearPaths::of(files));
                // With a wrong root, many files have the same import.
                let near = *found.entry(&*import.path).or_insert_with(|| near.find(&import.path));
                problems.push(Problem {
                    kind: ProblemKind::ImportNotFound,
                    place,
                    message: format!("the import `{}` was not found", import.path),
                    element: Some(file.path.to_string()),
                    labels: Vec::new(),
                    help: Some(match near {
                        Some(path) => suggest_word(path),
                        None => describe_how_to_get(&import.path),
                    }),
                });
            }
        }
        resolved.push(targets);
    }
    resolved
}

/// Finds a known path that is spelled another way than a wanted one, that ends in it or the reverse,
/// because the usual mistake is a wrong root, or that differs in a few letters of one part.
struct NearPaths<'p> {
    known: FxHashSet<&'p str>,
    /// By how it is spelled plainly: the first known path.
    by_spelling: FxHashMap<String, &'p str>,
    /// By every end of several parts: the first known path that has it.
    by_end: FxHashMap<&'p str, &'p str>,
    /// By the folder, and by the name of the file.
    by_part: FxHashMap<&'p str, Vec<&'p str>>,
}

impl<'p> NearPaths<'p> {
    fn of(files: &'p [Arc<FileDecl>]) -> NearPaths<'p> {
        let mut known: FxHashSet<&str> = files.iter().map(|file| &*file.path).collect();
        known.extend(built_in_paths().map(|it| -> &'p str { it }));
        let mut sorted: Vec<&str> = known.iter().copied().collect();
        sorted.sort_unstable();
        let mut by_spelling = FxHashMap::default();
        let mut by_end = FxHashMap::default();
        let mut by_part: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for path in sorted {
            by_spelling.entry(normalize_path(path)).or_insert(path);
            for end in ends(path) {
                by_end.entry(end).or_insert(path);
            }
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            by_part.entry(folder).or_default().push(path);
            by_part.entry(name).or_default().push(path);
        }
        NearPaths { known, by_spelling, by_end, by_part }
    }

    fn find(&self, wanted: &str) -> Option<&'p str> {
        let spelled = self.by_spelling.get(&normalize_path(wanted)).copied();
        spelled
            .or_else(|| {
                let shorter = ends(wanted).filter_map(|end| self.known.get(end).copied());
                shorter.chain(self.by_end.get(wanted).copied()).min()
            })
            .or_else(|| {
                let (folder, name) = wanted.rsplit_once('/').unwrap_or(("", wanted));
                let alike = [folder, name].into_iter().filter_map(|it| self.by_part.get(it));
                let is_near = |it: &&str| {
                    let parts = find_differing_part(wanted, it);
                    parts.is_some_and(|(wanted, it)| {
                        find_nearest(wanted, std::iter::once(it)).is_some()
                    })
                };
                find_nearest(wanted, alike.flatten().copied().filter(is_near))
            })
    }
}

/// The only parts in which two paths of equal length differ, without the ending.
fn find_differing_part<'p>(one: &'p str, other: &'p str) -> Option<(&'p str, &'p str)> {
    let stem = |path: &'p str| path.strip_suffix(".proto").unwrap_or(path).split('/');
    let mut apart = stem(one).zip(stem(other)).filter(|(one, other)| one != other);
    let first = apart.next().filter(|_| stem(one).count() == stem(other).count());
    first.filter(|_| apart.next().is_none())
}

/// The ends of a path that have several parts, without the path itself.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    ends.filter(|end| end.contains('/'))
}

/// Reports every cycle of imports once, at its first file. Iterative: chains
/// of imports may be long.
pub(super) fn import_cycles(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    problems: &mut Vec<Problem>,
) {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        New,
        Open,
        Done,
    }
    let mut states = vec![VisitState::New; files.len()];
    for root in 0..files.len() {
        if states[root] != VisitState::New {
            continue;
        }
        // Each entry is a file and the index of its next import to visit.
        let mut path = vec![(root, 0)];
        states[root] = VisitState::Open;
        while let Some((file, next)) = path.last_mut() {
            let (at, import) = (*file, *next);
            let Some(target) = imports[at].get(import) else {
                states[at] = VisitState::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(target) = target.map(|id| id.0 as usize) else { continue };
            match states[target] {
                VisitState::New => {
                    states[target] = VisitState::Open;
                    path.push((target, 0));
                }
                VisitState::Open => {
                    let start = path
                        .iter()
                        .position(|&(file, _)| file == target)
                        .expect("an open file is on the path");
                    problems.push(describe_cycle(files, &path[start..]));
                }
                VisitState::Done => {}
            }
        }
    }
}

fn describe_cycle(files: &[Arc<FileDecl>], cycle: &[(usize, usize)]) -> Problem {
    let place = |&(file, next): &(usize, usize)| Place {
        file: FileId(file as u32),
        // The import that was followed is the one before the next.
        span: files[file].span(files[file].imports[next - 1].node, Part::Name),
    };
    let imported = |&(file, next): &(usize, usize)| &files[file].imports[next - 1].path;
    let first = &files[cycle[0].0].path;
    let steps: Vec<&str> = cycle.iter().map(|step| &**imported(step)).collect();
    let message = if cycle.len() == 1 {
        format!("`{first}` imports itself")
    } else {
        format!("`{first}` imports itself through `{}`", steps[..steps.len() - 1].join("`, `"))
    };
    Problem {
        kind: ProblemKind::ImportCycle,
        place: place(&cycle[0]),
        message,
        element: Some(first.to_string()),
        labels: cycle[1..]
            .iter()
            .map(|step| (place(step), format!("imports `{}`", imported(step))))
            .collect(),
        help: Some("move what the files share into a separate file".to_owned()),
    }
}

pub(super) fn find_public_importers(files: &[Arc<FileDecl>]) -> Vec<FileId> {
    let is_public = |file: &FileDecl| file.imports.iter().any(|it| it.kind == ImportKind::Public);
    let found = (0..).zip(files).filter(|(_, file)| is_public(file));
    found.map(|(index, _)| FileId(index)).collect()
}
