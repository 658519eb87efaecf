//! The candidates of a tree.

use abide_schema::{File, FileId, PackageId, Tree};
use abide_syntax::Span;

use super::comment_links::Links;
use super::rewrite::{RewrittenText, rewrite, stabilised};
use crate::edit::unrecorded;
use crate::plan::{
    Additions, Basis, Choice, Conflict, Refusal, Stage, Standings, Taken, UpgradeOptions,
    UpgradePlan, UpgradePolicy, UpgradeSettings, check_source, is_added, taken_in, without,
};

/// The result of an upgrade.
#[derive(Clone, Debug, Default)]
pub struct Upgrade {
    /// The candidates, sorted by path.
    pub files: Vec<Generated>,
    /// The candidates of the tree that nothing calls for any more.
    pub stale: Vec<StaleCandidate>,
    /// The packages that need an upgrade but stay, because they extend messages
    /// that are not upgraded: an extension number cannot be used twice.
    pub staying: Vec<PackageId>,
    /// The packages that have no candidate because people maintain their next major
    /// version, and that version.
    pub by_hand: Vec<(PackageId, PackageId)>,
    /// The files that need a candidate and get none, since its path is taken.
    pub taken: Vec<Taken>,
}

/// A candidate that is in the tree, and that an upgrade does not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleCandidate {
    /// The candidate.
    pub file: FileId,
    /// The file that it would be made from, if anything called for it.
    pub from: Option<FileId>,
    /// Whether it holds what would be made of that file now. Where it does not,
    /// the file may have changed since, or somebody edited the candidate.
    pub as_made: bool,
}

/// A generated candidate.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The file that it is made from.
    pub from: FileId,
    /// Its path, relative to the root of that file.
    pub path: String,
    /// Its package.
    pub package: String,
    /// Its text.
    pub text: Vec<u8>,
    /// Where its source names types that the next version does not have.
    pub dangling: Vec<Span>,
}

/// Generates the candidates of a tree. Of existing candidates in it only their
/// additions count; everything else is generated again.
pub fn upgrade(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
    options: &UpgradeOptions<'_>,
) -> Result<Upgrade, Refusal> {
    let choice = Choice::Asked(options);
    let standings = Standings::of(tree, settings.policy);
    let basis = Basis { tree, settings, standings: &standings, graph: None };
    let plan = UpgradePlan::of(basis, choice, Stage::Candidate)?;
    let mut made = Upgrade {
        files: generate(&plan)?,
        stale: Vec::new(),
        staying: plan.staying.iter().copied().collect(),
        by_hand: plan.by_hand.replaced().collect(),
        taken: taken_in(&plan).into_iter().filter(|it| !plan.generates(it.file)).collect(),
    };
    // With a list of packages, candidates of other packages are left alone.
    if options.packages.is_empty() {
        let made_now = |it: File<'_>| made_for(&made.files, it).is_some();
        let mut stale = standings
            .candidates(tree)
            .filter(|it| !made_now(*it) && standings.have_source(*it))
            .filter(|it| !is_added(settings.policy, *it))
            .peekable();
        if stale.peek().is_some() {
            let package = |it: Conflict| tree.file(it.file).package().id;
            let displaced: Vec<PackageId> = plan.displaced().map(package).collect();
            let plan = UpgradePlan::of(basis, Choice::Present(&displaced), Stage::Candidate)?;
            let present = generate(&plan).unwrap_or_default();
            made.stale = stale.map(|it| StaleCandidate::of(it, &present)).collect();
        }
    }
    Ok(made)
}

impl StaleCandidate {
    /// A candidate, among those that would be made if all in the tree were
    /// called for.
    fn of(candidate: File<'_>, present: &[Generated]) -> StaleCandidate {
        let own = made_for(present, candidate);
        StaleCandidate {
            file: candidate.id,
            from: own.map(|it| it.from),
            as_made: own.is_some_and(|it| is_made(candidate, it)),
        }
    }
}

/// What is generated at the place of a candidate, of files sorted by path.
fn made_for<'g>(made: &'g [Generated], candidate: File<'_>) -> Option<&'g Generated> {
    let path = candidate.path();
    let first = made.partition_point(|file| *file.path < *path);
    let in_place = made.get(first..)?.iter().take_while(|file| file.path == path);
    let root = |file: FileId| candidate.tree.file(file).decl().root;
    in_place.into_iter().find(|file| root(file.from) == candidate.decl().root)
}

/// Generates the candidates of a plan, sorted by path.
pub(crate) fn generate(plan: &UpgradePlan<'_>) -> Result<Vec<Generated>, Refusal> {
    let links = Links::of(plan);
    let mut files = Vec::new();
    for file in plan.tree.files().filter(|file| plan.generates(file.id)) {
        let Some(next) = plan.next(file.id) else { continue };
        check_source(file)?;
        let rewrite = if plan.keeps(file) { stabilised } else { rewrite };
        let RewrittenText { mut text, dangling } = rewrite(plan, &links, file, next)?;
        let candidate = plan.candidate(file, &next.path).filter(|_| plan.stage == Stage::Candidate);
        if let Some(additions) = candidate.and_then(|it| Additions::of(plan.policy, it)) {
            text = additions.carry(text);
        }
        let (path, package) = (next.path.clone(), next.package.clone());
        files.push(Generated { from: file.id, path, package, text, dangling });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Whether a candidate equals what an upgrade generates. White space and the
/// splitting of strings do not count, since a formatter may change them, nor do
/// what is recorded in it later: version, hash and days.
pub fn is_made(candidate: File<'_>, made: &Generated) -> bool {
    let Some(text) = candidate.decl().source_text() else { return false };
    let equal = |a: &[u8], b: &[u8]| squeezed(a).eq(squeezed(b));
    let facts = [candidate.released_version(), candidate.released_hash(), candidate.introduced()];
    let recorded = facts.iter().any(Option::is_some);
    equal(text, &made.text) || recorded && equal(&unrecorded(text), &unrecorded(&made.text))
}

/// The part of a text that an upgrade answers for: two texts of a candidate with the
/// same essence differ only in what [`is_made`] does not count, and in the additions
/// of the candidate that is in the tree.
pub fn essence(policy: &UpgradePolicy, candidate: Option<File<'_>>, text: &[u8]) -> Vec<u8> {
    let additions = candidate.and_then(|it| Additions::of(policy, it));
    let paths = additions.map(|it| it.paths()).unwrap_or_default();
    squeezed(&without(&unrecorded(text), &paths)).collect()
}

/// The bytes of a text that are not white space, without `""`.
fn squeezed(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
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
