//! Releases v(N+1)alpha as v(N+1): candidates become stable, the versions they
//! replace are frozen, and their dependents are upgraded too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{
    DependencyLevel, Element, File, FileDecl, FileId, PackageVersion, PackageVersionStatus,
    SourceFile, Tree, format_api_name,
};

use crate::candidate::{Generated, Links, generate, is_made, repointed, stabilised};
use crate::edit::apply;
use crate::findings::{made_at, remake};
use crate::plan::{
    Additions, Basis, ByHand, Choice, Closure, NewestStable, Next, Refusal, Stage, Standing,
    Standings, UpgradeOptions, UpgradePlan, UpgradeSettings, check_source, extensions,
    field_target, is_added, left_behind, overlap, seen_through, status_edit,
};

/// The result of a release.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// The files of the next major versions, sorted by path.
    pub files: Vec<Generated>,
    /// Files that stay and change: frozen files, and files that refer to released
    /// ones, such as candidates that nothing calls for.
    pub edited: Vec<(FileId, Vec<u8>)>,
    /// The candidates that became stable.
    pub deleted: Vec<FileId>,
    /// Those of them that an interrupted release left behind and that differ from
    /// what would be made of their sources: maybe a person wrote them.
    pub unverified: Vec<FileId>,
    /// The released packages, sorted by name.
    pub risen: Vec<Risen>,
}

impl Release {
    /// The tree after the release.
    pub fn applied_to(&self, tree: &Tree) -> Tree {
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
pub struct Risen {
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
pub fn release(tree: &Tree, settings: UpgradeSettings<'_>) -> Result<Release, Refusal> {
    let (standings, graph) = (Standings::of(tree, settings.policy), tree.build_graph());
    let basis = Basis { tree, settings, standings: &standings, graph: Some(&graph) };
    let left: BTreeSet<FileId> = left_behind(basis).into_iter().collect();
    let mut made = release_all(basis, &graph, &left)?;
    if !left.is_empty() {
        let present = UpgradePlan::of(basis, Choice::Present(&[]), Stage::Candidate)?;
        let present = generate(&present)?;
        let is_as_made = |id: &FileId| {
            let file = tree.file(*id);
            made_at(&present, file.path()).is_some_and(|it| is_made(file, it))
        };
        made.unverified = left.iter().copied().filter(|id| !is_as_made(id)).collect();
    }
    made.deleted.extend(left);
    made.deleted.sort_unstable();
    made.deleted.dedup();
    Ok(made)
}

fn release_all<'t>(
    basis: Basis<'_, 't>,
    graph: &abide_schema::DependencyGraph<'t>,
    left: &BTreeSet<FileId>,
) -> Result<Release, Refusal> {
    let Basis { tree, standings, settings, .. } = basis;
    let made = remake(basis, &[Closure::Package])?;
    let by_hand = ByHand::of(tree, standings);
    if made.called.is_empty() && by_hand.is_empty() {
        return Ok(Release::default());
    }
    if let Some(stale) = made.stale(basis).iter().find(|id| !left.contains(id)) {
        return Err(Refusal::Drifted(tree.file(*stale).path().to_owned()));
    }
    if let Some((file, other)) = made.on_displaced(tree) {
        let path = |id: FileId| tree.file(id).path().to_owned();
        return Err(Refusal::Displaced(path(file), path(other)));
    }
    let candidates: BTreeMap<&str, File<'_>> =
        standings.candidates(tree).map(|it| (it.path(), it)).collect();
    let mut sources = BTreeSet::new();
    let mut replaced: BTreeMap<FileId, FileId> = BTreeMap::new();
    for file in &made.called {
        let candidate = candidates.get(file.path.as_str());
        let Some(candidate) = candidate.filter(|it| is_made(**it, file)) else {
            // It was released before others that it depends on were deleted.
            if candidate.is_some_and(|it| left.contains(&it.id)) {
                continue;
            }
            return Err(Refusal::Drifted(file.path.clone()));
        };
        replaced.insert(candidate.id, file.from);
        sources.insert(tree.file(file.from).package().full_name());
    }
    sources.extend(by_hand.replaced().map(|(before, _)| tree.package(before).full_name()));
    let sources: Vec<String> = sources.into_iter().collect();
    let options = UpgradeOptions { packages: &sources, closure: Some(Closure::Package) };
    let choice = if sources.is_empty() { Choice::Nothing } else { Choice::Asked(&options) };
    let mut plan = UpgradePlan::of(basis, choice, Stage::Stable)?;
    for (candidate, source) in &replaced {
        plan.becomes_that_of(*candidate, *source);
    }
    let released: BTreeSet<&str> = made.called.iter().map(|it| it.package.as_str()).collect();
    let added: Vec<File<'_>> = candidates
        .values()
        .copied()
        .filter(|it| released.contains(it.package().name()) && is_added(settings.policy, *it))
        .collect();
    for file in &added {
        plan.rises(file.id, Next::stable(settings, *file));
    }
    let extended = replaced.keys().map(|id| tree.file(*id));
    let extended = extended.filter(|it| Additions::of(settings.policy, *it).is_some());
    let by_people = by_hand.packages().flat_map(|it| tree.package(it).files());
    for file in by_people.chain(added.iter().copied()).chain(extended) {
        if let Some(name) = earlier_major_of_itself(&plan, file) {
            return Err(Refusal::OwnEarlierMajor(file.path().to_owned(), name));
        }
    }
    let mut files = generate(&plan)?;
    let links = Links::of(&plan);
    for (candidate, source) in &replaced {
        let candidate = tree.file(*candidate);
        if Additions::of(settings.policy, candidate).is_some() {
            let own = files.iter_mut().find(|it| it.from == *source);
            let Some((own, next)) = own.zip(plan.next(*source)) else { continue };
            let made = stabilised(&plan, &links, candidate, next)?;
            (own.from, own.text, own.dangling) = (candidate.id, made.text, made.dangling);
        }
    }
    for conflict in &plan.conflicts {
        let path = plan.next(conflict.file).map(|it| it.path.as_str()).unwrap_or_default();
        let text = tree.file(conflict.other).decl().source_text();
        if !files.iter().any(|it| it.path == path && text == Some(&it.text)) {
            return Err(Refusal::Taken(path.to_owned()));
        }
    }
    // A file that is not an alpha stays where it is.
    let stays = |id: &FileId| {
        let path = tree.file(*id).path();
        files.binary_search_by(|file| (*file.path).cmp(path)).is_ok()
    };
    let by_hand = by_hand.packages().flat_map(|it| tree.package(it).files());
    let kept = by_hand.chain(added).map(|it| it.id);
    let released: BTreeSet<FileId> =
        replaced.keys().copied().chain(kept).chain(left.iter().copied()).collect();
    Ok(Release {
        edited: edited(&plan, standings, &released)?,
        deleted: released.into_iter().filter(|id| !left.contains(id) && !stays(id)).collect(),
        files,
        unverified: Vec::new(),
        risen: risen(&plan, &sources, graph),
    })
}

/// The first type that a file names of another version of its own API, where a release would make
/// it that of the next version: what a person wrote would mean something else.
fn earlier_major_of_itself(plan: &UpgradePlan<'_>, file: File<'_>) -> Option<String> {
    let api = format_api_name(file.package().name())?;
    let is_earlier = |target: &Element<'_>| {
        let package = target.file().package();
        package.id != file.package().id
            && package.version().is_some_and(PackageVersion::is_stable)
            && plan.next(target.file().id).is_some()
            && format_api_name(package.name()).as_ref() == Some(&api)
    };
    let mut targets = file.elements().flat_map(named_types).flatten();
    targets.find(is_earlier).map(Element::full_name)
}

/// The types that a field or a method names.
fn named_types(element: Element<'_>) -> [Option<Element<'_>>; 2] {
    match element {
        Element::Field(field) => [field_target(field), None],
        Element::Method(it) => [it.input(), it.output()].map(|it| it.map(Element::Message)),
        _ => [None, None],
    }
}

/// Freezes the replaced files, and updates the references in all other files that
/// are not frozen, candidates that nothing calls for among them. What became stable
/// is `released`.
fn edited(
    plan: &UpgradePlan<'_>,
    standings: &Standings,
    released: &BTreeSet<FileId>,
) -> Result<Vec<(FileId, Vec<u8>)>, Refusal> {
    let links = Links::of(plan);
    let newest = NewestStable::of(plan.tree);
    let mut edited = Vec::new();
    for file in plan.tree.files() {
        let own = standings.file(file);
        if !matches!(own, Standing::Active | Standing::Apart | Standing::Candidate)
            || !file.is_judged()
            || released.contains(&file.id)
        {
            continue;
        }
        let rises =
            plan.is_replaced(file) || file.package().files().any(|it| plan.generates(it.id));
        let imports = file.imports().filter_map(|it| it.file).map(|it| it.id);
        let names = || {
            let mut seen = seen_through(plan.tree, imports).into_iter();
            seen.any(|it| plan.next(it).is_some())
        };
        let old = file.decl().source_text().unwrap_or_default();
        let text = if rises {
            let Some(edit) = status_edit(file, PackageVersionStatus::Frozen) else { continue };
            check_source(file)?;
            apply(old, vec![edit]).map_err(|it| overlap(file, &it))?
        } else if newest.supersedes(file.package()) || extends_what_stays(plan, file) {
            continue;
        } else if names() {
            check_source(file)?;
            let made = repointed(plan, &links, file)?;
            if let Some(span) = made.dangling.first() {
                let name = span.str(old);
                return Err(Refusal::Names(file.path().to_owned(), name.to_owned()));
            }
            made.text
        } else {
            apply(old, links.edits(old)).map_err(|it| overlap(file, &it))?
        };
        if file.decl().source_text().is_some_and(|it| it != &text[..]) {
            edited.push((file.id, text));
        }
    }
    Ok(edited)
}

/// Whether a file declares extensions of messages that are not released, such as
/// options: the frozen versions use them too and need the old types.
fn extends_what_stays(plan: &UpgradePlan<'_>, file: File<'_>) -> bool {
    let mut extendees = extensions(file).filter_map(|it| it.extendee());
    extendees.any(|it| plan.next(it.file().id).is_none())
}

fn risen(
    plan: &UpgradePlan<'_>,
    sources: &[String],
    graph: &abide_schema::DependencyGraph<'_>,
) -> Vec<Risen> {
    let rises =
        |package: abide_schema::Package<'_>| package.files().any(|file| plan.generates(file.id));
    let mut risen = Vec::new();
    for package in plan.tree.packages().filter(|it| rises(*it)) {
        let next: BTreeSet<String> = package
            .files()
            .filter(|file| plan.generates(file.id))
            .filter_map(|file| Some(plan.next(file.id)?.package.clone()))
            .collect();
        let mut edges = graph.edges_of(package);
        let is_new = |it: abide_schema::Package<'_>| {
            rises(it) || it.files().any(|file| plan.is_replaced(file))
        };
        let because =
            edges.find(|edge| edge.counts().has_any(&DependencyLevel::USED) && is_new(edge.to));
        let is_own = sources.binary_search_by(|it| (**it).cmp(package.name())).is_ok()
            || package.files().any(|file| plan.keeps(file));
        let because = because.filter(|_| !is_own);
        risen.push(Risen {
            package: package.full_name(),
            next: next.into_iter().collect(),
            because: because.map(|edge| edge.to.full_name()),
        });
    }
    risen
}
