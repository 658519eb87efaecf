//! The candidates of a tree.

use abide_schema::{File, FileId, PackageId, Tree};
use abide_syntax::Span;

use super::comment_links::CommentLinks;
use super::rewrite::{RewrittenText, rewrite, rewrite_as_stable};
use crate::edit::remove_recorded_facts;
use crate::plan::{
    CandidateAdditions, FileRoles, PackageSelection, PathConflict, ReleaseStage, TakenPath,
    UpgradeInputs, UpgradeOptions, UpgradePlan, UpgradePolicy, UpgradeRefusal, UpgradeSettings,
    check_source, find_taken_in_plan, is_addition_only, remove_statements_at,
};

/// The result of an upgrade.
#[derive(Clone, Debug, Default)]
pub struct UpgradeResult {
    /// The candidates, sorted by path.
    pub files: Vec<GeneratedFile>,
    /// The candidates of the tree that nothing calls for any more.
    pub stale: Vec<StaleCandidate>,
    /// The packages that need an upgrade but stay, because they extend messages
    /// that are not upgraded: an extension number cannot be used twice.
    pub pinned_by_extensions: Vec<PackageId>,
    /// The packages that have no candidate because people maintain their next major
    /// version, and that version.
    pub hand_maintained: Vec<(PackageId, PackageId)>,
    /// The files that need a candidate and get none, since its path is taken.
    pub taken_paths: Vec<TakenPath>,
}

/// A candidate that is in the tree, and that an upgrade does not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleCandidate {
    /// The candidate.
    pub file: FileId,
    /// The file that it would be made from, if anything called for it.
    pub from: Option<FileId>,
    /// True if it holds what would be made of that file now. Where it does not,
    /// the file may have changed since, or somebody edited the candidate.
    pub is_as_generated: bool,
}

/// A generated candidate.
#[derive(Clone, Debug)]
pub struct GeneratedFile {
    /// The file that it is made from.
    pub from: FileId,
    /// Its path, relative to the root of that file.
    pub path: String,
    /// Its package.
    pub package: String,
    /// Its text.
    pub text: Vec<u8>,
    /// The places where its source names types that the next version does not have.
    pub dangling: Vec<Span>,
}

/// Generates the candidates of a tree. Of existing candidates in it only their
/// additions count; everything else is generated again.
pub fn upgrade(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
    options: &UpgradeOptions<'_>,
) -> Result<UpgradeResult, UpgradeRefusal> {
    let choice = PackageSelection::Requested(options);
    let standings = FileRoles::from_tree(tree, settings.policy);
    let basis = UpgradeInputs { tree, settings, roles: &standings, graph: None };
    let plan = UpgradePlan::build(basis, choice, ReleaseStage::Candidate)?;
    let mut made = UpgradeResult {
        files: generate(&plan)?,
        stale: Vec::new(),
        pinned_by_extensions: plan.pinned_by_extensions.iter().copied().collect(),
        hand_maintained: plan.hand_maintained.iter_replaced().collect(),
        taken_paths: find_taken_in_plan(&plan)
            .into_iter()
            .filter(|it| !plan.is_source(it.file))
            .collect(),
    };
    // With a list of packages, candidates of other packages are left alone.
    if options.packages.is_empty() {
        let made_now = |it: File<'_>| find_generated(&made.files, it).is_some();
        let mut stale = standings
            .iter_candidates(tree)
            .filter(|it| !made_now(*it) && standings.has_active_source(*it))
            .filter(|it| !is_addition_only(settings.policy, *it))
            .peekable();
        if stale.peek().is_some() {
            let package = |it: PathConflict| tree.file(it.file).package().id;
            let displaced: Vec<PackageId> = plan.iter_displaced().map(package).collect();
            let plan = UpgradePlan::build(
                basis,
                PackageSelection::Present(&displaced),
                ReleaseStage::Candidate,
            )?;
            let present = generate(&plan).unwrap_or_default();
            made.stale = stale.map(|it| StaleCandidate::from_candidate(it, &present)).collect();
        }
    }
    Ok(made)
}

impl StaleCandidate {
    /// A candidate, among those that would be made if all in the tree were
    /// called for.
    fn from_candidate(candidate: File<'_>, present: &[GeneratedFile]) -> StaleCandidate {
        let own = find_generated(present, candidate);
        StaleCandidate {
            file: candidate.id,
            from: own.map(|it| it.from),
            is_as_generated: own.is_some_and(|it| matches_generated(candidate, it)),
        }
    }
}

/// The candidates generated at a path, from files sorted by path.
fn find_generated<'g>(made: &'g [GeneratedFile], candidate: File<'_>) -> Option<&'g GeneratedFile> {
    let path = candidate.path();
    let first = made.partition_point(|file| *file.path < *path);
    let in_place = made.get(first..)?.iter().take_while(|file| file.path == path);
    let root = |file: FileId| candidate.tree.file(file).decl().root;
    in_place.into_iter().find(|file| root(file.from) == candidate.decl().root)
}

/// Generates the candidates of a plan, sorted by path.
pub(crate) fn generate(plan: &UpgradePlan<'_>) -> Result<Vec<GeneratedFile>, UpgradeRefusal> {
    let links = CommentLinks::new(plan);
    let mut files = Vec::new();
    for file in plan.tree.files().filter(|file| plan.is_source(file.id)) {
        let Some(next) = plan.next(file.id) else { continue };
        check_source(file)?;
        let rewrite = if plan.is_kept(file) { rewrite_as_stable } else { rewrite };
        let RewrittenText { mut text, dangling } = rewrite(plan, &links, file, next)?;
        let candidate =
            plan.find_candidate(file, &next.path).filter(|_| plan.stage == ReleaseStage::Candidate);
        if let Some(additions) = candidate.and_then(|it| CandidateAdditions::find(plan.policy, it))
        {
            text = additions.insert_into(text);
        }
        let (path, package) = (next.path.clone(), next.package.clone());
        files.push(GeneratedFile { from: file.id, path, package, text, dangling });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns true if a candidate equals what an upgrade generates. White space and the
/// splitting of strings do not count, since a formatter may change them, nor do
/// what is recorded in it later: version, hash and days.
pub fn matches_generated(candidate: File<'_>, made: &GeneratedFile) -> bool {
    let Some(text) = candidate.decl().source_text() else { return false };
    let equal = |a: &[u8], b: &[u8]| strip_layout(a).eq(strip_layout(b));
    let facts = [candidate.released_version(), candidate.released_hash(), candidate.introduced()];
    let recorded = facts.iter().any(Option::is_some);
    equal(text, &made.text)
        || recorded && equal(&remove_recorded_facts(text), &remove_recorded_facts(&made.text))
}

/// The part of a text that an upgrade answers for: two texts of a candidate with the
/// same text here differ only in what [`matches_generated`] does not count, and in the additions
/// of the candidate that is in the tree.
pub fn extract_comparable_text(
    policy: &UpgradePolicy,
    candidate: Option<File<'_>>,
    text: &[u8],
) -> Vec<u8> {
    let additions = candidate.and_then(|it| CandidateAdditions::find(policy, it));
    let paths = additions.map(|it| it.collect_paths()).unwrap_or_default();
    strip_layout(&remove_statements_at(&remove_recorded_facts(text), &paths)).collect()
}

/// The bytes of a text that are not white space, without `""`.
fn strip_layout(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut bytes = text.iter().copied().filter(|it| !it.is_ascii_whitespace()).peekable();
    std::iter::from_fn(move || {
        loop {
            let byte = bytes.next()?;
            if byte != b'"' || bytes.next_if_eq(&b'"').is_none() {
                return Some(byte);
            }
        }
    })
}
