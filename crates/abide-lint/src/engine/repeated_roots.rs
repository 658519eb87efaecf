//! Folders that repeat the files of another folder under the same root.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{File, ProblemKind, Tree};

use crate::finding::{Finding, Location, package_name};
use crate::rules::{FOLDER_RULES, NAME_DUPLICATED};
use crate::wording::pluralize;

/// A folder whose files have the packages, and the paths below it, of files of
/// another folder. It is meant to be a root of its own.
#[derive(Clone)]
struct RepeatedRoot<'t> {
    /// The root that both are in.
    root: u32,
    /// The folder, without a slash at its end.
    folder: &'t str,
    /// The folder that it repeats; empty for the root.
    original: &'t str,
    /// The first file that both have, in each of them.
    first: (File<'t>, File<'t>),
}

/// Replaces the findings that come from such a folder with one finding each: every name
/// in it is declared twice, and no file is in the folder of its package.
pub(super) fn join_repeated_roots(tree: &Tree, findings: &mut Vec<Finding>) {
    if !findings.iter().any(|it| it.rule == NAME_DUPLICATED.id) {
        return;
    }
    let repeated = RepeatedRoot::all(tree);
    if repeated.is_empty() {
        return;
    }
    findings.retain(|it| !repeated.iter().any(|root| root.explains(tree, it)));
    let roots = roots(tree, &repeated);
    findings.extend(repeated.iter().map(|it| it.finding(tree, &roots)));
}

impl<'t> RepeatedRoot<'t> {
    /// The repeated roots of a tree, by the names that are declared twice in it.
    fn all(tree: &'t Tree) -> Vec<RepeatedRoot<'t>> {
        let mut found: BTreeMap<(u32, &str), RepeatedRoot<'t>> = BTreeMap::new();
        for problem in tree.problems().iter().filter(|it| it.kind == ProblemKind::NameDuplicated) {
            let Some((label, _)) = problem.labels.first() else { continue };
            let one = RepeatedRoot::of(tree.file(problem.place.file), tree.file(label.file));
            if let Some(one) = one {
                let known = found.entry((one.root, one.folder)).or_insert_with(|| one.clone());
                if one.first.0.path() < known.first.0.path() {
                    *known = one;
                }
            }
        }
        found.into_values().collect()
    }

    /// The folder that the paths of two files differ by, if both are of one package and
    /// that folder is not part of its name.
    fn of(a: File<'t>, b: File<'t>) -> Option<RepeatedRoot<'t>> {
        let package = a.package().name();
        let is_same = a.decl().root == b.decl().root && package == b.package().name();
        let (above_a, above_b) = (above(a, package)?, above(b, package)?);
        let below = |file: File<'t>, above: &str| file.path().get(above.len()..);
        let name = |file: File<'t>, above: &str| {
            below(file, above).map(|it| it.strip_prefix('/').unwrap_or(it))
        };
        if !is_same || above_a == above_b || name(a, above_a) != name(b, above_b) {
            return None;
        }
        // The root itself is the original, or else what comes first.
        let in_order = above_a < above_b;
        let (original, folder) = if in_order { (above_a, above_b) } else { (above_b, above_a) };
        let first = if in_order { (b, a) } else { (a, b) };
        Some(RepeatedRoot { root: a.decl().root, folder, original, first })
    }

    /// Returns true if a finding would not exist if the folder were a root of its own.
    fn explains(&self, tree: &Tree, finding: &Finding) -> bool {
        let Some(place) = finding.location.place() else { return false };
        let file = tree.file(place.file);
        let is_within = |file: File<'_>| self.below(file).is_some();
        if finding.rule == NAME_DUPLICATED.id {
            let mut others = finding.labels.iter().filter_map(|it| it.location.place());
            return others.any(|it| is_within(tree.file(it.file)) != is_within(file));
        }
        FOLDER_RULES.iter().any(|it| it.id == finding.rule)
            && self.below(file).is_some_and(|path| is_in_its_folder(path, file.package().name()))
    }

    /// The path of a file below the folder.
    fn below<'f>(&self, file: File<'f>) -> Option<&'f str> {
        let path = Some(file.path()).filter(|_| file.decl().root == self.root)?;
        path.strip_prefix(self.folder)?.strip_prefix('/')
    }

    fn finding(&self, tree: &'t Tree, roots: &str) -> Finding {
        let (file, twin) = self.first;
        let folder = self.folder;
        let paths: BTreeSet<&str> =
            tree.files().filter(|it| it.decl().root == self.root).map(|it| it.path()).collect();
        let repeats = |it: &File<'_>| {
            let original = self.below(*it).map(|path| match self.original {
                "" => path.to_owned(),
                original => format!("{original}/{path}"),
            });
            original.is_some_and(|it| paths.contains(it.as_str()))
        };
        let count = pluralize(tree.files().filter(repeats).count(), "file");
        let message = match self.original {
            "" => format!("the folder `{folder}` repeats {count} of the folder that it is in"),
            original => format!("the folder `{folder}` repeats {count} of `{original}`"),
        };
        let own = root_as_written(file, folder);
        let package = file.package().name();
        let place = Location::tree(package_name(file));
        let mut finding = Finding::new(NAME_DUPLICATED.id, place, package, own.clone(), message);
        finding
            .label(package_name(twin), "the same file in the other folder")
            .why("files of one root are linked together, so every name in both is declared twice")
            .help(format!(
                "to check both, each on its own, set `roots = [{roots}]` in `abide.toml`; to leave \
                 `{own}` out, list it in a file `.ignore`"
            ))
            .fact(self.original)
            .fact(folder);
        finding
    }
}

/// Returns what `roots` should be, as `abide.toml` writes it: the folders that repeat another one,
/// what they repeat, and those of the roots that have other files.
fn roots(tree: &Tree, repeated: &[RepeatedRoot<'_>]) -> String {
    // Those that there are keep their order.
    let mut roots: BTreeSet<(bool, u32, String)> = BTreeSet::new();
    for file in tree.files().filter(|it| it.is_judged()) {
        let index = file.decl().root;
        let own = repeated.iter().filter(|it| it.root == index);
        let folders = own.flat_map(|it| [it.original, it.folder]);
        let is_below = |it: &str| it.is_empty() || file.path().starts_with(&format!("{it}/"));
        let within = folders.filter(|it| is_below(it)).max_by_key(|it| it.len());
        let folder = within.unwrap_or_default();
        roots.insert((!folder.is_empty(), index, root_as_written(file, folder)));
    }
    let quoted: Vec<String> = roots.iter().map(|(_, _, it)| format!("\"{it}\"")).collect();
    quoted.join(", ")
}

/// A folder of the root of a file, from the folder of `abide.toml`.
fn root_as_written(file: File<'_>, folder: &str) -> String {
    let above = file.decl().display.strip_suffix(file.path()).unwrap_or_default();
    match format!("{above}{folder}").trim_end_matches('/') {
        "" => ".".to_owned(),
        root => root.to_owned(),
    }
}

/// The folder above that of the package; `None` if the file is not in the folder of its
/// package.
fn above<'t>(file: File<'t>, package: &str) -> Option<&'t str> {
    let (folder, _) = file.path().rsplit_once('/')?;
    let above = folder.strip_suffix(&package.replace('.', "/")).filter(|_| !package.is_empty())?;
    if above.is_empty() { Some(above) } else { above.strip_suffix('/') }
}

fn is_in_its_folder(path: &str, package: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, _)| folder == package.replace('.', "/"))
}
