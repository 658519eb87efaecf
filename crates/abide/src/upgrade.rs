//! vN to v(N+1)alpha: what is deprecated goes, what is declared to migrate
//! migrates, and everything that names it follows.
//!
//! Candidates are made by edits of the source text, so that comments, order
//! and layout of what does not change stay as they are.

mod build_file;
mod imports;
pub(crate) mod judge;
mod layout;
mod links;
mod mapping;
mod payload;
mod plan;
mod promote;
mod record;
mod release;
mod rewrite;
mod scope;
pub(crate) mod standing;
mod versioned;

use std::collections::BTreeSet;

use abide_schema::{Element, File, FileId, PackageId, Tree};
use abide_syntax::Span;

pub use self::build_file::{BUILD_MARK, BuildFile, build_files, version_build_file};
pub use self::layout::canonical_layout;
use self::links::Links;
pub use self::mapping::{Mapping, mapping};
use self::plan::{Basis, Choice, Plan, Stage};
pub use self::release::{Release, Risen, release};
use self::rewrite::Rewritten;
use self::standing::Standings;
use crate::edit::Overlap;
use crate::policy::{Closure, Policy};

/// The rules whose findings in a file keep its candidate from being what is
/// meant, or from compiling.
pub(crate) const UPGRADE_RULES: &[&str] =
    &["deprecated-type-in-use", "migration-name-taken", "promotion-impossible"];

/// What is asked of an upgrade.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpgradeOptions<'a> {
    /// The packages that are upgraded, with what their closure drags along;
    /// none: all that need it.
    pub packages: &'a [String],
    /// What is upgraded together with a package; `None`: as the policy says.
    pub closure: Option<Closure>,
}

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
    /// Where its source names types that the next version does not have: then
    /// [`hindrances`](crate::hindrances) says so.
    pub dangling: Vec<Span>,
}

/// Why an upgrade was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such package.
    Unknown(String),
    /// The package is a candidate itself.
    Candidate(String),
    /// The package has a newer major version.
    Frozen(String),
    /// The package is an alpha or a beta, which may change in place.
    Unstable(String),
    /// Nothing tells the next version of the package.
    Unversioned(String),
    /// The package extends messages that do not rise with it.
    Extends(String),
    /// A file that stays names a type that the next version of its package does
    /// not have.
    Names(String, String),
    /// The file was read from a descriptor.
    NoSource(String),
    /// Two migrations want to change the same text of the file.
    Overlap(String),
    /// The candidate is not what an upgrade makes.
    Drifted(String),
    /// The place of what is released is taken.
    Taken(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unknown(name) => write!(f, "there is no package `{name}`"),
            Refusal::Candidate(name) => write!(
                f,
                "`{name}` is a candidate, which is made by machine: upgrade the package that it is \
                 made from"
            ),
            Refusal::Frozen(name) => {
                write!(f, "`{name}` is frozen: upgrade the newest version of its API")
            }
            Refusal::Unstable(name) => write!(
                f,
                "`{name}` is not stable and may change in place: only stable packages are upgraded"
            ),
            Refusal::Unversioned(name) => write!(
                f,
                "`{name}` has no version: name what follows it in `[upgrade.packages]` of abide.toml"
            ),
            Refusal::Extends(name) => write!(
                f,
                "`{name}` extends messages of other packages, and the numbers of its extensions \
                 cannot be taken twice: it has one version only"
            ),
            Refusal::NoSource(path) => {
                write!(f, "`{path}` was read from a descriptor: an upgrade edits source text")
            }
            Refusal::Names(path, name) => write!(
                f,
                "`{path}` names `{name}`, which is deprecated and not part of the next version: \
                 name another type"
            ),
            Refusal::Drifted(path) => write!(
                f,
                "the candidate `{path}` is not what an upgrade makes: run `abide upgrade --write` \
                 and look at what it changes"
            ),
            Refusal::Taken(path) => {
                write!(f, "`{path}` exists already, and a release overwrites nothing")
            }
            Refusal::Overlap(path) => {
                write!(f, "`{path}` cannot be upgraded: two migrations change the same text")
            }
        }
    }
}

/// Makes the candidates of a tree. Candidates in it are passed over: they are
/// made anew.
pub fn upgrade(
    tree: &Tree,
    policy: &Policy,
    options: &UpgradeOptions<'_>,
) -> Result<Upgrade, Refusal> {
    let choice = Choice::Asked(options);
    let standings = Standings::of(tree);
    let basis = Basis { tree, policy, standings: &standings, graph: None };
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
fn remake(basis: Basis<'_, '_>) -> Result<Upgrade, Refusal> {
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
fn generate(plan: &Plan<'_>) -> Result<Vec<Generated>, Refusal> {
    let links = Links::of(plan);
    let mut files = Vec::new();
    for file in plan.tree.files().filter(|file| plan.generates(file.id)) {
        let Some(next) = plan.next(file.id) else { continue };
        check_source(file)?;
        let Rewritten { text, dangling } = rewrite::rewrite(plan, &links, file, next)?;
        let (path, package) = (next.path.clone(), next.package.clone());
        files.push(Generated { from: file.id, path, package, text, dangling });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn check_source(file: File<'_>) -> Result<(), Refusal> {
    let source = file.decl().source_text().is_some() && file.decl().ast().is_some();
    if source { Ok(()) } else { Err(Refusal::NoSource(file.path().to_owned())) }
}

fn overlap(file: File<'_>, _: &Overlap) -> Refusal {
    Refusal::Overlap(file.path().to_owned())
}

/// Whether an element itself is deprecated.
fn deprecated(element: Element<'_>) -> bool {
    element.deprecated().is_some()
}

/// Whether an element is not part of the next version: it is deprecated, and
/// no other number takes the place of the zero of an enum; or nothing of a
/// oneof is left.
fn removed(element: Element<'_>) -> bool {
    match element {
        Element::Message(_) | Element::Enum(_) => deprecated(element),
        // No number of an extension can be reserved, so that it goes with its
        // type alone; and so does a method.
        Element::Field(field) if field.is_extension() => {
            let message = field.message_type().map(Element::Message);
            let ty = message.or(field.enum_type().map(Element::Enum));
            deprecated(element) && ty.is_some_and(gone)
        }
        Element::Field(_) => deprecated(element),
        Element::EnumValue(value) => {
            let live = |it: abide_schema::EnumValue<'_>| {
                it.number() == 0 && !deprecated(Element::EnumValue(it))
            };
            deprecated(element) && (value.number() != 0 || value.parent().values().any(live))
        }
        Element::Oneof(oneof) => oneof.fields().all(|field| removed(Element::Field(field))),
        Element::Method(method) => {
            let mut types = [method.input(), method.output()].into_iter().flatten();
            let deprecated = deprecated(element) || deprecated(Element::Service(method.service()));
            deprecated && types.any(|it| gone(Element::Message(it)))
        }
        Element::Service(_) => false,
    }
}

/// Whether an element, or what encloses it, is not part of the next version.
fn gone(element: Element<'_>) -> bool {
    removed(element) || element.parent().is_some_and(gone)
}

/// Whether a candidate is what an upgrade makes: the same but for white space,
/// for where a string is cut in pieces, since it may pass through a formatter,
/// and for the version and hash that are recorded in it afterwards.
pub fn is_made(candidate: File<'_>, made: &Generated) -> bool {
    let Some(text) = candidate.decl().source_text() else { return false };
    let equal = |a: &[u8], b: &[u8]| squeezed(a).eq(squeezed(b));
    let recorded = candidate.released_version().is_some() || candidate.released_hash().is_some();
    equal(text, &made.text)
        || recorded && equal(&record::unrecorded(text), &record::unrecorded(&made.text))
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
