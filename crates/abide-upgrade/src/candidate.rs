//! The candidates of a tree.

use std::collections::BTreeSet;

use abide_schema::{File, FileId, PackageId, Tree};
use abide_syntax::Span;

use crate::links::Links;
use crate::plan::{Basis, Choice, Plan, Stage, UpgradeOptions};
use crate::record::unrecorded;
use crate::refusal::{Refusal, check_source};
use crate::rewrite::{Rewritten, rewrite};
use crate::settings::{Closure, Settings};
use crate::standing::Standings;

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
    settings: Settings<'_>,
    options: &UpgradeOptions<'_>,
) -> Result<Upgrade, Refusal> {
    let choice = Choice::Asked(options);
    let standings = Standings::of(tree);
    let basis = Basis { tree, settings, standings: &standings, graph: None };
    let plan = Plan::of(basis, choice, Stage::Candidate)?;
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

/// Makes the candidates anew that are in the tree, by whatever closure they got
/// there; without those that nothing calls for.
pub(crate) fn remake(basis: Basis<'_, '_>) -> Result<Upgrade, Refusal> {
    let Basis { tree, standings, .. } = basis;
    let options = UpgradeOptions { packages: &[], closure: Some(Closure::Package) };
    let plan = |choice| Plan::of(basis, choice, Stage::Candidate);
    let called = plan(Choice::Asked(&options))?;
    let mut files = generate(&plan(Choice::Present)?)?;
    files.retain(|file| called.generates(file.from) || called.resumed.contains(&file.from));
    let packages: BTreeSet<&str> = files.iter().map(|file| file.package.as_str()).collect();
    let made = |path: &str| files.binary_search_by(|file| (*file.path).cmp(path)).is_ok();
    let stale = standings
        .candidates(tree)
        .filter(|it| packages.contains(it.package().name()) && !made(it.path()))
        .map(|it| it.id)
        .collect();
    Ok(Upgrade { stale, files, staying: Vec::new() })
}

/// What becomes of the files of a plan, in the order of paths.
pub(crate) fn generate(plan: &Plan<'_>) -> Result<Vec<Generated>, Refusal> {
    let links = Links::of(plan);
    let mut files = Vec::new();
    for file in plan.tree.files().filter(|file| plan.generates(file.id)) {
        let Some(next) = plan.next(file.id) else { continue };
        check_source(file)?;
        let Rewritten { text, dangling } = rewrite(plan, &links, file, next)?;
        let (path, package) = (next.path.clone(), next.package.clone());
        files.push(Generated { from: file.id, path, package, text, dangling });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Whether a candidate is what an upgrade makes: the same but for white space,
/// for where a string is cut in pieces, since it may pass through a formatter,
/// and for the version and hash that are recorded in it afterwards.
pub fn is_made(candidate: File<'_>, made: &Generated) -> bool {
    let Some(text) = candidate.decl().source_text() else { return false };
    let equal = |a: &[u8], b: &[u8]| squeezed(a).eq(squeezed(b));
    let recorded = candidate.released_version().is_some() || candidate.released_hash().is_some();
    equal(text, &made.text) || recorded && equal(&unrecorded(text), &unrecorded(&made.text))
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
