//! Whether the candidates of a tree are what would be made.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{File, FileId};

use crate::basis::{Basis, Choice, UpgradeOptions};
use crate::candidate::{Generated, Upgrade, generate};
use crate::next_version::Stage;
use crate::recorded::unrecorded;
use crate::refusal::Refusal;
use crate::upgrade_plan::UpgradePlan;
use crate::upgrade_policy::Closure;

/// What is wrong with a candidate.
pub enum Drift {
    /// The file that it is made from makes another one.
    Differs(FileId),
    /// No file makes it.
    Stale,
}

/// The candidates of a tree that are not what an upgrade makes.
pub fn drifts(basis: Basis<'_, '_>) -> Vec<(FileId, Drift)> {
    let candidates: BTreeMap<&str, File<'_>> =
        basis.standings.candidates(basis.tree).map(|it| (it.path(), it)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Ok(made) = remake(basis) else { return Vec::new() };
    let mut drifts: Vec<(FileId, Drift)> =
        made.stale.iter().map(|it| (*it, Drift::Stale)).collect();
    for file in &made.files {
        let Some(candidate) = candidates.get(file.path.as_str()) else { continue };
        if candidate.decl().source_text().is_some() && !is_made(*candidate, file) {
            drifts.push((candidate.id, Drift::Differs(file.from)));
        }
    }
    drifts.sort_by_key(|(file, _)| *file);
    drifts
}

/// Makes the candidates anew that are in the tree, by whatever closure they got
/// there; without those that nothing calls for.
pub(crate) fn remake(basis: Basis<'_, '_>) -> Result<Upgrade, Refusal> {
    let Basis { tree, standings, .. } = basis;
    let options = UpgradeOptions { packages: &[], closure: Some(Closure::Package) };
    let plan = |choice| UpgradePlan::of(basis, choice, Stage::Candidate);
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
