//! Shared by the rules about dependencies: which packages are versions of one
//! API, and how to describe a path.

use std::collections::BTreeMap;

use abide_schema::{
    DependencyEvidence, DependencyLevel, DependencyStep, Element, File, Package, PackageVersion,
    Part, ReachTable, Stability,
};
use abide_syntax::ImportKind;

use super::buf_lint::BufStability;
use crate::finding::Finding;
use crate::rule::{Context, Sink};

/// The rule of buf about imports of unstable packages.
pub(crate) const UNSTABLE_IMPORT: &str = "buf:STABLE_PACKAGE_NO_IMPORT_UNSTABLE";

/// Which packages are versions of one API.
pub(crate) struct ApiVersions<'c, 't> {
    /// By package: its API. Packages without a version have none.
    of: Vec<Option<usize>>,
    /// By API: its versions, the oldest first.
    versions: Vec<&'c [Package<'t>]>,
    /// By API: its newest stable version.
    newest_stable: Vec<Option<Package<'t>>>,
}

impl<'c, 't> ApiVersions<'c, 't> {
    pub(crate) fn new(context: &'c Context<'t>) -> ApiVersions<'c, 't> {
        let versions: Vec<&[Package<'t>]> = context.apis().values().map(Vec::as_slice).collect();
        let mut of = vec![None; context.tree.packages().len()];
        for (api, packages) in versions.iter().enumerate() {
            for package in *packages {
                of[package.id.0 as usize] = Some(api);
            }
        }
        let is_released = |it: Package<'_>| !context.is_candidate(it);
        let is_stable = |it: Package<'_>| stability(it) == Some(Stability::Stable);
        let newest_stable = versions.iter().map(|versions| {
            let newest_first = versions.iter().rev().copied();
            newest_first.into_iter().find(|it| is_stable(*it) && is_released(*it))
        });
        let newest_stable = newest_stable.collect();
        ApiVersions { of, versions, newest_stable }
    }

    /// The API that the package is a version of.
    pub(crate) fn of(&self, package: Package<'t>) -> Option<usize> {
        self.of[package.id.0 as usize]
    }

    /// The versions of each API.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'c [Package<'t>]> {
        self.versions.iter().copied()
    }

    /// Returns true if both are versions of the same API.
    pub(crate) fn same(&self, a: Package<'t>, b: Package<'t>) -> bool {
        self.of(a).is_some() && self.of(a) == self.of(b)
    }

    /// The newest stable version of the API that the package is a version of. Candidates do not
    /// count.
    pub(crate) fn newest_stable(&self, package: Package<'t>) -> Option<Package<'t>> {
        self.newest_stable[self.of(package)?]
    }

    /// Returns true if its API has a newer stable version.
    pub(crate) fn is_outdated(&self, package: Package<'t>) -> bool {
        self.newest_stable(package).is_some_and(|newest| is_earlier_major(package, newest))
    }
}

/// The stability of a package; `None` if it has no version.
pub(crate) fn stability(package: Package<'_>) -> Option<Stability> {
    package.version().map(|version| version.stability)
}

/// Returns true if `other` is an earlier major than `package`.
pub(crate) fn is_earlier_major(other: Package<'_>, package: Package<'_>) -> bool {
    let major = |version: &PackageVersion| version.major;
    other.version().map(major) < package.version().map(major)
}

/// The checked files of a package.
pub(crate) fn judged<'t>(package: Package<'t>) -> impl Iterator<Item = File<'t>> {
    package.files().filter(|file| file.is_judged())
}

/// The packages that files reach without passing through a versioned package.
pub(crate) fn unversioned_reach<'g, 't>(context: &'g Context<'t>) -> ReachTable<'g, 't> {
    context.graph().compute_reach(&DependencyLevel::ALL, |package| package.version().is_none())
}

/// Returns which of the `targets` the checked files of each package reach, in the order of
/// packages; packages that reach none are left out.
pub(crate) fn find_reached<'t>(
    reach: &ReachTable<'_, 't>,
    packages: &[Package<'t>],
    targets: &[Package<'t>],
) -> BTreeMap<Package<'t>, Vec<Package<'t>>> {
    let mut reached: BTreeMap<Package<'t>, Vec<Package<'t>>> = BTreeMap::new();
    for strip in reach.split_targets(targets.chunks(1)) {
        for &package in packages {
            let columns = strip.collect_reached(judged(package));
            if !columns.is_clear() {
                let found = columns.ones().filter_map(|it| strip.targets().get(it));
                reached.entry(package).or_default().extend(found);
            }
        }
    }
    reached
}

/// Reports every checked package of stability `promised` that depends on a less
/// stable package, once for each such package, with a shortest path. No path leads
/// through another checked package that is at least as stable: that one has its
/// own finding.
pub(crate) fn report_less_stable(context: &Context<'_>, sink: &mut Sink, promised: Stability) {
    let mut reach =
        context.graph().compute_reach(&DependencyLevel::ALL, |package| match stability(package) {
            None => true,
            Some(stability) => stability >= promised && !package.is_judged(),
        });
    let promises_less = |it: &Package<'_>| stability(*it).is_some_and(|it| it < promised);
    let packages_that = |is: &dyn Fn(&Package<'_>) -> bool| -> Vec<Package<'_>> {
        context.tree.packages().filter(is).collect()
    };
    // A candidate promises nothing before its release, whatever its name says.
    let promises =
        |it: &Package<'_>| stability(*it) == Some(promised) && !context.is_candidate(*it);
    let promising = packages_that(&promises);
    let less = packages_that(&promises_less);
    for (package, targets) in find_reached(&reach, &promising, &less) {
        for (target, path) in reach.find_paths(judged(package), &targets) {
            let Some(less) = stability(target) else { continue };
            let message = format!(
                "{promised} package `{}` depends on {less} package `{}`{}",
                package.name(),
                target.name(),
                describe_path(&path),
            );
            if let Some(finding) = report(sink, package, &path, message) {
                finding.fact(target.name());
                // buf looks at direct imports only, and whoever follows it has one for each.
                if path.len() > 1 || context.policy.follows(UNSTABLE_IMPORT) {
                    finding.aliases(&[]);
                }
                finding.why(format!(
                    "{less} packages may change or disappear at any time, and users of `{}` are \
                     affected too",
                    package.name(),
                ));
                finding.help(format!(
                    "use a {promised} version of it, or copy what you need into a {promised} \
                     package",
                ));
            }
        }
    }
}

/// Reports every import of an unstable package by a file of a stable one, as buf does: only direct
/// imports, and only packages whose last component is a version.
pub(crate) fn report_unstable_imports(context: &Context<'_>, sink: &mut Sink) {
    let is =
        |package: Package<'_>, wanted| BufStability::of_package(package.name()) == Some(wanted);
    let judged = context.tree.files().filter(|it| it.is_judged());
    for file in judged.filter(|it| is(it.package(), BufStability::Stable)) {
        for import in file.imports() {
            let target = import.file.map(File::package);
            let Some(target) = target.filter(|it| is(*it, BufStability::Unstable)) else {
                continue;
            };
            let (from, to) = (file.package().name(), target.name());
            let message = format!("stable package `{from}` imports unstable package `{to}`");
            sink.report(file.place_of(import.decl.node, Part::Whole), from, from, message)
                .why("unstable packages may change or disappear at any time")
                .fact(&*import.decl.path)
                .aliases(&[UNSTABLE_IMPORT]);
        }
    }
}

/// Reports a finding at the first step of a path, with labels for the other steps.
/// `None` if the path is empty.
pub(crate) fn report<'s>(
    sink: &'s mut Sink,
    package: Package<'_>,
    path: &[DependencyStep<'_>],
    message: String,
) -> Option<&'s mut Finding> {
    let (first, rest) = path.split_first()?;
    let finding = sink.report(first.used.place(), package.name(), package.name(), message);
    finding.at(describe_use(&first.used));
    add_import_label(finding, first);
    add_step_labels(finding, rest, "");
    Some(finding)
}

/// Adds a label for each step of a path, each with a prefix.
pub(crate) fn add_step_labels(finding: &mut Finding, path: &[DependencyStep<'_>], prefix: &str) {
    for step in path {
        finding.label(step.used.place(), format!("{prefix}{}", describe_use(&step.used)));
        add_import_label(finding, step);
    }
}

fn add_import_label(finding: &mut Finding, step: &DependencyStep<'_>) {
    for import in &step.imports {
        finding.label(import.place(), format!("visible because {}", describe_use(import)));
    }
}

/// The packages that a path passes through, for the end of a message.
pub(crate) fn describe_path(path: &[DependencyStep<'_>]) -> String {
    let mut names: Vec<String> = path
        .iter()
        .skip(1)
        .map(|step| {
            let name = step.used.file().package().name();
            if name.is_empty() {
                format!("`{}`", step.used.file().path())
            } else {
                format!("`{name}`")
            }
        })
        .collect();
    names.dedup();
    if names.is_empty() { String::new() } else { format!(" through {}", names.join(", ")) }
}

/// A piece of evidence in words.
pub(crate) fn describe_use(used: &DependencyEvidence<'_>) -> String {
    let (user, target) = (used.user(), used.target());
    match used {
        DependencyEvidence::Import { import, .. } => match import.decl.kind {
            ImportKind::Public => format!("`{user}` imports `{target}` publicly"),
            ImportKind::Plain | ImportKind::Weak | ImportKind::Option => {
                format!("`{user}` imports `{target}`")
            }
        },
        DependencyEvidence::Type { user: element, part, .. } => match (element, part) {
            (_, Part::Extendee) => format!("`{user}` extends `{target}`"),
            (Element::Method(_), Part::Input) => format!("`{user}` takes `{target}`"),
            (Element::Method(_), _) => format!("`{user}` returns `{target}`"),
            _ => format!("`{user}` has type `{target}`"),
        },
        DependencyEvidence::Option { .. } => format!("`{user}` sets option `({target})`"),
    }
}
