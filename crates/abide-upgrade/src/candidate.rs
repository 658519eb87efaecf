//! The candidates of a tree.

use abide_schema::{FileId, PackageId, Tree};
use abide_syntax::Span;

use crate::basis::{Basis, Choice, UpgradeOptions};
use crate::links::Links;
use crate::next_version::Stage;
use crate::refusal::{Refusal, check_source};
use crate::rewrite::{RewrittenText, rewrite};
use crate::standing::Standings;
use crate::upgrade_plan::UpgradePlan;
use crate::upgrade_policy::UpgradeSettings;

/// What an upgrade makes.
#[derive(Clone, Debug, Default)]
pub struct Upgrade {
    /// The candidates, in the order of their paths.
    pub files: Vec<Generated>,
    /// The files of the tree that are candidates of nothing any more.
    pub stale: Vec<FileId>,
    /// The packages that would rise, and stay because they extend messages
    /// that do not: the number of an extension cannot be taken twice.
    pub staying: Vec<PackageId>,
}

/// A candidate.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The file that it is made from.
    pub from: FileId,
    /// Its path, relative to the root of that file.
    pub path: String,
    /// The package that it is part of.
    pub package: String,
    /// Its text.
    pub text: Vec<u8>,
    /// Where its source names types that the next version does not have.
    pub dangling: Vec<Span>,
}

/// Makes the candidates of a tree. Candidates in it are passed over: they are
/// made anew.
pub fn upgrade(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
    options: &UpgradeOptions<'_>,
) -> Result<Upgrade, Refusal> {
    let choice = Choice::Asked(options);
    let standings = Standings::of(tree);
    let basis = Basis { tree, settings, standings: &standings, graph: None };
    let plan = UpgradePlan::of(basis, choice, Stage::Candidate)?;
    let mut made = Upgrade {
        files: generate(&plan)?,
        stale: Vec::new(),
        staying: plan.staying.iter().copied().collect(),
    };
    // A candidate of a package that was not asked for is none of our business.
    if options.packages.is_empty() {
        let made_now =
            |path: &str| made.files.binary_search_by(|file| (*file.path).cmp(path)).is_ok();
        made.stale = standings
            .candidates(tree)
            .filter(|it| !made_now(it.path()) && standings.have_source(*it))
            .map(|it| it.id)
            .collect();
    }
    Ok(made)
}

/// What becomes of the files of a plan, in the order of paths.
pub(crate) fn generate(plan: &UpgradePlan<'_>) -> Result<Vec<Generated>, Refusal> {
    let links = Links::of(plan);
    let mut files = Vec::new();
    for file in plan.tree.files().filter(|file| plan.generates(file.id)) {
        let Some(next) = plan.next(file.id) else { continue };
        check_source(file)?;
        let RewrittenText { text, dangling } = rewrite(plan, &links, file, next)?;
        let (path, package) = (next.path.clone(), next.package.clone());
        files.push(Generated { from: file.id, path, package, text, dangling });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
