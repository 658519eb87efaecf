//! Decides which version of each type a client gets, by what it says about itself.
//!
//! The newest version that both sides know. Nothing here is ever given the name or the version of
//! the client's program: these say nothing about what it understands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{Message, Tree};

use crate::kind::{TYPE_URL_PREFIX, Types};

/// The number of types a client may list.
const MAX_LISTED: usize = 256;

/// The package that the second major kept the extensions of HTTP, network and listeners in.
const OLDER_EXTENSIONS: &str = "envoy.config.filter.";

/// An error of a client that cannot be served as it asks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NegotiationError {
    /// It lists more types than a client may.
    #[error("a client may list at most {MAX_LISTED} types")]
    TooManyTypes,
    /// It lists versions of a type, and none of them is served.
    #[error("no version of `{type_name}` that you list is served here")]
    NoCommonVersion {
        /// The full name of the message that it asked for.
        type_name: String,
    },
}

/// The version of a package, without the patch: a patch changes no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minor {
    /// The major version.
    pub major: u64,
    /// The minor version of that major.
    pub minor: u64,
}

/// The API of one release.
#[derive(Clone, Debug)]
pub struct Release<'t> {
    /// The schema of that API.
    pub tree: &'t Tree,
    /// The versions of its packages, as far as it says.
    versions: BTreeMap<String, Minor>,
    /// The number of fields it declares.
    size: usize,
}

/// The APIs that a server knows.
#[derive(Clone, Debug)]
pub struct Releases<'t> {
    newest: Release<'t>,
    older: Vec<Release<'t>>,
    /// The features that decide about something.
    features: BTreeSet<String>,
    types: Types,
}

/// A type as a client lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionedTypeUrl {
    /// The type URL; its package names the major.
    pub type_url: String,
    /// The newest minor that the client knows in full, or the oldest one that has all fields which
    /// it knows.
    pub most_recently_supported: Option<Minor>,
}

/// The versions and extensions that a client says it understands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The type URL that it asks for first.
    pub type_url: String,
    /// The versions of types that it understands.
    pub versions: Vec<VersionedTypeUrl>,
    /// The type URLs of the extensions that it has; none if it does not say.
    pub extensions: BTreeSet<String>,
    /// The features that it lists.
    pub features: BTreeSet<String>,
    /// The number of the release that the operator says it is of. It counts only where the client
    /// itself says nothing.
    pub operator_release: Option<usize>,
}

/// The versions that a client is served, by what it understands. Equal profiles are served alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientProfile {
    /// True if types are served in the second major if nothing says otherwise.
    is_second_major: bool,
    /// The number of its release: 0 is the newest.
    release: usize,
    /// The types that it lists, or asked for in another major than the first one, by their newest
    /// type URL.
    types: BTreeMap<Arc<str>, ResolvedVersion>,
    /// The packages that it has extensions of; `None` if it does not say.
    extensions: Option<BTreeSet<String>>,
    /// The features that it lists and that decide about something.
    features: BTreeSet<String>,
}

/// The version of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResolvedVersion {
    /// True if it is the second major, not the newest.
    pub(crate) is_second_major: bool,
    /// The number of the release whose fields it may have.
    pub(crate) release: usize,
    /// True if the client listed it; otherwise it gets what it asks for.
    is_listed: bool,
    /// True if client and server have a major in common.
    is_possible: bool,
}

impl<'t> Release<'t> {
    /// The API of a release, with the versions of its packages as far as they are known.
    pub fn new(tree: &'t Tree, versions: BTreeMap<String, Minor>) -> Release<'t> {
        let messages = tree.files().flat_map(|file| file.all_messages());
        Release { tree, versions, size: messages.map(|it| it.fields().count()).sum() }
    }
}

impl<'t> Releases<'t> {
    /// The newest release declares what is served; the older ones have any order. `features` are
    /// those that decide about something.
    pub fn new(
        newest: Release<'t>,
        older: Vec<Release<'t>>,
        features: BTreeSet<String>,
    ) -> Releases<'t> {
        Releases { newest, older, features, types: Types::default() }
    }

    /// The same with these types of resource.
    #[must_use]
    pub fn with_types(self, types: Types) -> Releases<'t> {
        Releases { types, ..self }
    }

    /// The types of resource that are served.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// The release that declares what is served.
    pub fn newest(&self) -> &Release<'t> {
        &self.newest
    }

    /// A release by its number; 0 is the newest.
    pub fn get(&self, number: usize) -> Option<&Release<'t>> {
        self.all().nth(number)
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Release<'t>> + Clone {
        std::iter::once(&self.newest).chain(&self.older)
    }

    /// Decides what a client is served.
    ///
    /// # Errors
    /// More types than a client may list.
    pub fn resolve_profile(
        &self,
        claims: &ClientCapabilities,
    ) -> Result<ClientProfile, NegotiationError> {
        let release = match claims.extensions.is_empty() {
            true => claims.operator_release.filter(|&it| self.get(it).is_some()).unwrap_or(0),
            false => self.recognized(&claims.extensions),
        };
        let terms = ClientProfile {
            is_second_major: find_major(&self.types, &claims.type_url) == Some(2),
            release,
            types: BTreeMap::new(),
            extensions: self.packages(&claims.extensions),
            features: self.features.intersection(&claims.features).cloned().collect(),
        };
        self.add_versions(&terms, &claims.versions)
    }

    /// The same terms for a client that lists these versions as well: a later request of a stream
    /// may list those of another type.
    ///
    /// # Errors
    /// More types than a client may list.
    pub fn add_versions(
        &self,
        terms: &ClientProfile,
        versions: &[VersionedTypeUrl],
    ) -> Result<ClientProfile, NegotiationError> {
        let mut listed: BTreeMap<Arc<str>, Vec<&VersionedTypeUrl>> = BTreeMap::new();
        for versioned in versions {
            listed.entry(self.types.newest_url(&versioned.type_url)).or_default().push(versioned);
        }
        let mut terms = terms.clone();
        for (url, versions) in listed.into_iter().filter(|(url, _)| self.is_served(url)) {
            let deal = self.resolve_version(&url, &versions, terms.release);
            terms.types.insert(url, deal);
        }
        if versions.len() > MAX_LISTED || terms.types.len() > MAX_LISTED {
            return Err(NegotiationError::TooManyTypes);
        }
        Ok(terms)
    }

    fn declares(&self, type_url: &str) -> bool {
        self.declared(type_url).is_some()
    }

    /// Returns true if a type is declared in any of its majors.
    fn is_served(&self, newest: &str) -> bool {
        let older = self.types.of(newest).and_then(|(ty, _)| ty.type_url(2));
        self.declares(newest) || older.is_some_and(|it| self.declares(&it))
    }

    fn declared(&self, type_url: &str) -> Option<Message<'t>> {
        self.newest.tree.message_named(strip_type_url(type_url))
    }

    /// The newest version of a type that the client lists and the server has.
    fn resolve_version(
        &self,
        newest: &str,
        listed: &[&VersionedTypeUrl],
        release: usize,
    ) -> ResolvedVersion {
        let served = listed.iter().filter(|it| self.declares(&it.type_url));
        let is_newest = |it: &VersionedTypeUrl| it.type_url == newest;
        let best = served.max_by_key(|it| (is_newest(it), it.most_recently_supported));
        let Some(best) = best else {
            return ResolvedVersion {
                is_second_major: false,
                release,
                is_listed: true,
                is_possible: false,
            };
        };
        let package = self.declared(&best.type_url).map(|it| it.package().name());
        let minor = best.most_recently_supported;
        let capped = package.zip(minor).and_then(|(package, minor)| self.of_minor(package, minor));
        ResolvedVersion {
            is_second_major: !is_newest(best),
            release: capped.unwrap_or(release),
            is_listed: true,
            is_possible: true,
        }
    }

    /// The release with the newest version of a package that is not newer than this one, or the
    /// one with the oldest version; `None` if no release says versions of that package.
    fn of_minor(&self, package: &str, supported: Minor) -> Option<usize> {
        let stated = self
            .all()
            .enumerate()
            .filter_map(|(number, release)| Some((number, *release.versions.get(package)?)));
        let covered = stated.clone().filter(|&(_, minor)| minor <= supported);
        let newest = covered.max_by_key(|&(number, minor)| (minor, std::cmp::Reverse(number)));
        let found = newest.or_else(|| stated.min_by_key(|&(_, minor)| minor));
        found.map(|(number, _)| number)
    }

    /// The release that declares the most of what a client has; of several the smallest, so that
    /// nothing is sent that the client may not know.
    fn recognized(&self, extensions: &BTreeSet<String>) -> usize {
        let fit = |release: &Release<'_>| {
            let declares = |it: &&String| release.tree.message_named(strip_type_url(it)).is_some();
            (extensions.iter().filter(declares).count(), std::cmp::Reverse(release.size))
        };
        let fits = self.all().map(fit).enumerate();
        fits.max_by_key(|&(number, fit)| (fit, std::cmp::Reverse(number))).map_or(0, |it| it.0)
    }

    /// The packages that extensions are of, as far as any type in them is known.
    fn packages(&self, extensions: &BTreeSet<String>) -> Option<BTreeSet<String>> {
        let declared = extensions.iter().filter_map(|it| self.declared(it));
        let packages: BTreeSet<String> =
            declared.map(|it| it.package().name().to_owned()).collect();
        (!packages.is_empty()).then_some(packages)
    }
}

impl ClientProfile {
    /// The type URL of the answers to a request for this one.
    ///
    /// # Errors
    /// A type of which client and server have no major in common.
    pub fn type_url(&self, types: &Types, asked: &str) -> Result<Arc<str>, NegotiationError> {
        let newest = types.newest_url(asked);
        match self.types.get(&newest) {
            Some(deal) if !deal.is_possible => Err(NegotiationError::NoCommonVersion {
                type_name: strip_type_url(asked).to_owned(),
            }),
            Some(deal) if deal.is_listed => Ok(choose_served_url(types, &newest, deal)),
            _ => Ok(asked.into()),
        }
    }

    /// The same terms for a client that now asks for this type as well, if that changes them: one
    /// stream may have types of both majors.
    #[must_use]
    pub fn asking(&self, types: &Types, type_url: &str) -> Option<ClientProfile> {
        let major = find_major(types, type_url)?;
        let newest = types.newest_url(type_url);
        if self.types.contains_key(&newest) || (major == 2) == self.is_second_major {
            return None;
        }
        let deal = ResolvedVersion { is_second_major: major == 2, ..self.deal(&newest) };
        let mut terms = self.clone();
        terms.types.insert(newest, deal);
        Some(terms)
    }

    /// Returns true if these clients are served what there is, as it is.
    pub fn is_whole(&self, releases: &Releases<'_>) -> bool {
        let is_newest = |it: &ResolvedVersion| it.release == 0 && !it.is_second_major;
        self.release == 0
            && !self.is_second_major
            && self.types.values().all(is_newest)
            && self.extensions.is_none()
            && releases.features == self.features
    }

    /// The number of the release whose fields the answers to requests for a type may have; 0 is
    /// the newest.
    pub fn release_of(&self, types: &Types, type_url: &str) -> usize {
        self.deal(&types.newest_url(type_url)).release
    }

    /// The version of a type, by its newest type URL.
    pub(crate) fn deal(&self, newest: &str) -> ResolvedVersion {
        let default = ResolvedVersion {
            is_second_major: self.is_second_major,
            release: self.release,
            is_listed: false,
            is_possible: true,
        };
        self.types.get(newest).copied().unwrap_or(default)
    }

    /// The type URL that a type has for these clients, by its newest one.
    pub(crate) fn url(&self, types: &Types, newest: &Arc<str>) -> Arc<str> {
        choose_served_url(types, newest, &self.deal(newest))
    }

    /// The features that these clients list.
    pub(crate) fn features(&self) -> &BTreeSet<String> {
        &self.features
    }

    /// Returns true if these clients lack the extension that a type configures.
    pub(crate) fn lacks(&self, ty: Message<'_>) -> bool {
        let package = ty.package().name();
        let is_extension = package.split('.').any(|it| it == "extensions")
            || package.starts_with(OLDER_EXTENSIONS);
        is_extension && self.extensions.as_ref().is_some_and(|it| !it.contains(package))
    }

    /// Returns true if these clients say that they have the extension that a type configures.
    pub(crate) fn claims_extension(&self, ty: Message<'_>) -> bool {
        self.extensions.as_ref().is_some_and(|it| it.contains(ty.package().name()))
    }
}

/// The full name of the message that a type URL names. Clients leave the prefix out where they
/// name the types of extensions.
fn strip_type_url(type_url: &str) -> &str {
    type_url.strip_prefix(TYPE_URL_PREFIX).unwrap_or(type_url)
}

/// The major of a type of the protocol.
fn find_major(types: &Types, type_url: &str) -> Option<u8> {
    types.of(type_url).map(|(_, major)| major)
}

/// The type URL that a type has in the major of a deal.
fn choose_served_url(types: &Types, newest: &Arc<str>, deal: &ResolvedVersion) -> Arc<str> {
    let ty = types.of(newest).filter(|_| deal.is_second_major);
    ty.and_then(|(ty, _)| ty.type_url(2)).unwrap_or_else(|| Arc::clone(newest))
}
