//! Releases v(N+1)alpha as v(N+1): candidates become stable, the versions they
//! replace are frozen, and their dependents are upgraded too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{
    DependencyLevel, Element, File, FileDecl, FileId, PackageVersion, PackageVersionStatus,
    SourceFile, Tree, format_api_name,
};

use crate::candidate::{
    CommentLinks, GeneratedFile, generate, matches_generated, rewrite_as_stable, rewrite_references,
};
use crate::edit::apply;
use crate::findings::{find_at_path, regenerate};
use crate::plan::{
    CandidateAdditions, FileRole, FileRoles, HandMaintained, NewestStable, NextVersion,
    PackageSelection, ReleaseStage, UpgradeClosure, UpgradeInputs, UpgradeOptions, UpgradePlan,
    UpgradeRefusal, UpgradeSettings, build_status_edit, check_source, collect_visible_files,
    find_field_type, find_leftover_candidates, is_addition_only, iter_extensions, refuse_overlap,
};

/// The result of a release.
#[derive(Clone, Debug, Default)]
pub struct ReleaseResult {
    /// The files of the next major versions, sorted by path.
    pub files: Vec<GeneratedFile>,
    /// Files that stay and change: frozen files, and files that refer to released
    /// ones, such as candidates that nothing calls for.
    pub edited: Vec<(FileId, Vec<u8>)>,
    /// The candidates that became stable.
    pub deleted: Vec<FileId>,
    /// Those of them that an interrupted release left behind and that differ from
    /// what would be made of their sources: maybe a person wrote them.
    pub unverified: Vec<FileId>,
    /// The released packages, sorted by name.
    pub promoted: Vec<PromotedPackage>,
}

impl ReleaseResult {
    /// The tree after the release.
    pub fn apply_to(&self, tree: &Tree) -> Tree {
        let mut decls: BTreeMap<(u32, Arc<str>), Arc<FileDecl>> = BTreeMap::new();
        let deleted: BTreeSet<FileId> = self.deleted.iter().copied().collect();
        for file in tree.files().filter(|it| !deleted.contains(&it.id)) {
            let decl = file.shared_decl();
            decls.insert((decl.root, Arc::clone(&decl.path)), Arc::clone(decl));
        }
        let made = self.files.iter().map(|it| (it.from, it.path.as_str(), &it.text));
        let edited = self.edited.iter().map(|(id, text)| (*id, tree.file(*id).path(), text));
        for (from, path, text) in made.chain(edited) {
            let from = tree.file(from).decl();
            let folder = from.display.strip_suffix(&*from.path).unwrap_or_default();
            let (display, path) = (format!("{folder}{path}").into(), Arc::<str>::from(path));
            let text = text.as_slice().into();
            let (root, imported) = (from.root, from.imported);
            let source = SourceFile { path: Arc::clone(&path), display, root, imported, text };
            decls.insert((root, path), Arc::new(FileDecl::parse(source)));
        }
        Tree::link(decls.into_values().collect())
    }
}

/// A released package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotedPackage {
    /// The old package.
    pub package: String,
    /// The packages that follow it; several if its files are split.
    pub next: Vec<String>,
    /// If it has no candidate of its own, the released package that it depends
    /// on.
    pub because: Option<String>,
}

/// Releases the candidates of a tree.
///
/// The stable versions are generated from the active versions. A candidate that
/// differs from what an upgrade generates is refused. A candidate that nothing
/// needs is left alone, and so is a tree without candidates.
///
/// An interrupted release is continued: files that it wrote must equal what would
/// be written now, and candidates that it did not delete are deleted.
pub fn release(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
) -> Result<ReleaseResult, UpgradeRefusal> {
    let (standings, graph) = (FileRoles::from_tree(tree, settings.policy), tree.build_graph());
    let basis = UpgradeInputs { tree, settings, roles: &standings, graph: Some(&graph) };
    let left: BTreeSet<FileId> = find_leftover_candidates(basis).into_iter().collect();
    let mut made = build_release(basis, &graph, &left)?;
    if !left.is_empty() {
        let present =
            UpgradePlan::build(basis, PackageSelection::Present(&[]), ReleaseStage::Candidate)?;
        let present = generate(&present)?;
        let is_as_made = |id: &FileId| {
            let file = tree.file(*id);
            find_at_path(&present, file.path()).is_some_and(|it| matches_generated(file, it))
        };
        made.unverified = left.iter().copied().filter(|id| !is_as_made(id)).collect();
    }
    made.deleted.extend(left);
    made.deleted.sort_unstable();
    made.deleted.dedup();
    Ok(made)
}

fn build_release<'t>(
    basis: UpgradeInputs<'_, 't>,
    graph: &abide_schema::DependencyGraph<'t>,
    left: &BTreeSet<FileId>,
) -> Result<ReleaseResult, UpgradeRefusal> {
    let UpgradeInputs { tree, roles: standings, settings, .. } = basis;
    let made = regenerate(basis, &[UpgradeClosure::Package])?;
    let by_hand = HandMaintained::find(tree, standings);
    if made.needed.is_empty() && by_hand.is_empty() {
        return Ok(ReleaseResult::default());
    }
    if let Some(stale) = made.find_stale(basis).iter().find(|id| !left.contains(id)) {
        return Err(UpgradeRefusal::StaleCandidate(tree.file(*stale).path().to_owned()));
    }
    if let Some((file, other)) = made.find_use_of_displaced(tree) {
        let path = |id: FileId| tree.file(id).path().to_owned();
        return Err(UpgradeRefusal::Displaced(path(file), path(other)));
    }
    let candidates: BTreeMap<&str, File<'_>> =
        standings.iter_candidates(tree).map(|it| (it.path(), it)).collect();
    let mut sources = BTreeSet::new();
    let mut replaced: BTreeMap<FileId, FileId> = BTreeMap::new();
    for file in &made.needed {
        let candidate = candidates.get(file.path.as_str());
        let Some(candidate) = candidate.filter(|it| matches_generated(**it, file)) else {
            // It was released before others that it depends on were deleted.
            if candidate.is_some_and(|it| left.contains(&it.id)) {
                continue;
            }
            return Err(UpgradeRefusal::StaleCandidate(file.path.clone()));
        };
        replaced.insert(candidate.id, file.from);
        sources.insert(tree.file(file.from).package().full_name());
    }
    sources.extend(by_hand.iter_replaced().map(|(before, _)| tree.package(before).full_name()));
    let sources: Vec<String> = sources.into_iter().collect();
    let options = UpgradeOptions { packages: &sources, closure: Some(UpgradeClosure::Package) };
    let choice = if sources.is_empty() {
        PackageSelection::Nothing
    } else {
        PackageSelection::Requested(&options)
    };
    let mut plan = UpgradePlan::build(basis, choice, ReleaseStage::Stable)?;
    for (candidate, source) in &replaced {
        plan.redirect_to_successor(*candidate, *source);
    }
    let released: BTreeSet<&str> = made.needed.iter().map(|it| it.package.as_str()).collect();
    let added: Vec<File<'_>> = candidates
        .values()
        .copied()
        .filter(|it| {
            released.contains(it.package().name()) && is_addition_only(settings.policy, *it)
        })
        .collect();
    for file in &added {
        plan.set_released(file.id, NextVersion::find_stable(settings, *file));
    }
    let extended = replaced.keys().map(|id| tree.file(*id));
    let extended = extended.filter(|it| CandidateAdditions::find(settings.policy, *it).is_some());
    let by_people = by_hand.iter_packages().flat_map(|it| tree.package(it).files());
    for file in by_people.chain(added.iter().copied()).chain(extended) {
        if let Some(name) = find_own_earlier_major(&plan, file) {
            return Err(UpgradeRefusal::OwnEarlierMajor(file.path().to_owned(), name));
        }
    }
    let mut files = generate(&plan)?;
    let links = CommentLinks::new(&plan);
    for (candidate, source) in &replaced {
        let candidate = tree.file(*candidate);
        if CandidateAdditions::find(settings.policy, candidate).is_some() {
            let own = files.iter_mut().find(|it| it.from == *source);
            let Some((own, next)) = own.zip(plan.next(*source)) else { continue };
            let made = rewrite_as_stable(&plan, &links, candidate, next)?;
            (own.from, own.text, own.dangling) = (candidate.id, made.text, made.dangling);
        }
    }
    for conflict in &plan.conflicts {
        let path = plan.next(conflict.file).map(|it| it.path.as_str()).unwrap_or_default();
        let text = tree.file(conflict.other).decl().source_text();
        if !files.iter().any(|it| it.path == path && text == Some(&it.text)) {
            return Err(UpgradeRefusal::PathTaken(path.to_owned()));
        }
    }
    // A file that is not an alpha stays where it is.
    let stays = |id: &FileId| {
        let path = tree.file(*id).path();
        files.binary_search_by(|file| (*file.path).cmp(path)).is_ok()
    };
    let by_hand = by_hand.iter_packages().flat_map(|it| tree.package(it).files());
    let kept = by_hand.chain(added).map(|it| it.id);
    let released: BTreeSet<FileId> =
        replaced.keys().copied().chain(kept).chain(left.iter().copied()).collect();
    Ok(ReleaseResult {
        edited: edit_remaining_files(&plan, standings, &released)?,
        deleted: released.into_iter().filter(|id| !left.contains(id) && !stays(id)).collect(),
        files,
        unverified: Vec::new(),
        promoted: promoted(&plan, &sources, graph),
    })
}

/// The first type that a file names of another version of its own API, where a release would make
/// it that of the next version: what a person wrote would mean something else.
fn find_own_earlier_major(plan: &UpgradePlan<'_>, file: File<'_>) -> Option<String> {
    let api = format_api_name(file.package().name())?;
    let is_earlier = |target: &Element<'_>| {
        let package = target.file().package();
        package.id != file.package().id
            && package.version().is_some_and(PackageVersion::is_stable)
            && plan.next(target.file().id).is_some()
            && format_api_name(package.name()).as_ref() == Some(&api)
    };
    let mut targets = file.elements().flat_map(collect_named_types).flatten();
    targets.find(is_earlier).map(Element::full_name)
}

/// The types that a field or a method names.
fn collect_named_types(element: Element<'_>) -> [Option<Element<'_>>; 2] {
    match element {
        Element::Field(field) => [find_field_type(field), None],
        Element::Method(it) => [it.input(), it.output()].map(|it| it.map(Element::Message)),
        _ => [None, None],
    }
}

/// Freezes the replaced files, and updates the references in all other files that
/// are not frozen, candidates that nothing calls for among them. What became stable
/// is `released`.
fn edit_remaining_files(
    plan: &UpgradePlan<'_>,
    standings: &FileRoles,
    released: &BTreeSet<FileId>,
) -> Result<Vec<(FileId, Vec<u8>)>, UpgradeRefusal> {
    let links = CommentLinks::new(plan);
    let newest = NewestStable::from_tree(plan.tree);
    let mut edited = Vec::new();
    for file in plan.tree.files() {
        let own = standings.get(file);
        if !matches!(own, FileRole::Active | FileRole::Excluded | FileRole::Candidate)
            || !file.is_judged()
            || released.contains(&file.id)
        {
            continue;
        }
        let rises =
            plan.is_replaced(file) || file.package().files().any(|it| plan.is_source(it.id));
        let imports = file.imports().filter_map(|it| it.file).map(|it| it.id);
        let names = || {
            let mut seen = collect_visible_files(plan.tree, imports).into_iter();
            seen.any(|it| plan.next(it).is_some())
        };
        let old = file.decl().source_text().unwrap_or_default();
        let text = if rises {
            let Some(edit) = build_status_edit(file, PackageVersionStatus::Frozen) else {
                continue;
            };
            check_source(file)?;
            apply(old, vec![edit]).map_err(|it| refuse_overlap(file, &it))?
        } else if newest.has_superseded(file.package()) || extends_unreleased(plan, file) {
            continue;
        } else if names() {
            check_source(file)?;
            let made = rewrite_references(plan, &links, file)?;
            if let Some(span) = made.dangling.first() {
                let name = span.str(old);
                return Err(UpgradeRefusal::UsesRemoved(file.path().to_owned(), name.to_owned()));
            }
            made.text
        } else {
            apply(old, links.collect_edits(old)).map_err(|it| refuse_overlap(file, &it))?
        };
        if file.decl().source_text().is_some_and(|it| it != &text[..]) {
            edited.push((file.id, text));
        }
    }
    Ok(edited)
}

/// Returns true if a file declares extensions of messages that are not released, such as
/// options: the frozen versions use them too and need the old types.
fn extends_unreleased(plan: &UpgradePlan<'_>, file: File<'_>) -> bool {
    let mut extendees = iter_extensions(file).filter_map(|it| it.extendee());
    extendees.any(|it| plan.next(it.file().id).is_none())
}

fn promoted(
    plan: &UpgradePlan<'_>,
    sources: &[String],
    graph: &abide_schema::DependencyGraph<'_>,
) -> Vec<PromotedPackage> {
    let rises =
        |package: abide_schema::Package<'_>| package.files().any(|file| plan.is_source(file.id));
    let mut promoted = Vec::new();
    for package in plan.tree.packages().filter(|it| rises(*it)) {
        let next: BTreeSet<String> = package
            .files()
            .filter(|file| plan.is_source(file.id))
            .filter_map(|file| Some(plan.next(file.id)?.package.clone()))
            .collect();
        let mut edges = graph.edges_of(package);
        let is_new = |it: abide_schema::Package<'_>| {
            rises(it) || it.files().any(|file| plan.is_replaced(file))
        };
        let because =
            edges.find(|edge| edge.counts().has_any(&DependencyLevel::USED) && is_new(edge.to));
        let is_own = sources.binary_search_by(|it| (**it).cmp(package.name())).is_ok()
            || package.files().any(|file| plan.is_kept(file));
        let because = because.filter(|_| !is_own);
        promoted.push(PromotedPackage {
            package: package.full_name(),
            next: next.into_iter().collect(),
            because: because.map(|edge| edge.to.full_name()),
        });
    }
    promoted
}
