//! The semantic versions of packages (semver.org 2.0.0).

use abide_schema::PackageVersion;
use semver::{BuildMetadata, Prerelease, Version};

use crate::finding::Bump;

/// The first version of a package: `3.0.0` for `v3`, `3.0.0-alpha.1` for
/// `v3alpha`, `3.1.0-beta.2.1` for `v3p1beta2`, and `1.0.0` without a version
/// in its name.
pub fn first(package: &str) -> Version {
    let Some(version) = PackageVersion::from_package(package) else { return Version::new(1, 0, 0) };
    let minor = version.minor.unwrap_or(0);
    let mut first = Version::new(version.major.into(), minor.into(), 0);
    // `v0` has no label: the semantic version 0 needs none.
    let label = ["alpha", "beta", "test"].into_iter().find(|it| version.text.contains(it));
    if let Some(label) = label {
        let revision = version.revision.map(|it| format!(".{it}")).unwrap_or_default();
        first.pre = prerelease(&format!("{label}{revision}"), 1);
    }
    first
}

/// The version after this one. A pre-release counts up for every change. The
/// major version of a package never changes.
pub fn next(version: &Version, bump: Bump) -> Version {
    let mut next = version.clone();
    if bump == Bump::None {
        return next;
    }
    if let Some((label, count)) = counted(version) {
        next.pre = prerelease(label, count.saturating_add(1));
        return next;
    }
    next.build = BuildMetadata::EMPTY;
    if bump == Bump::Patch {
        next.patch = next.patch.saturating_add(1);
    } else {
        (next.minor, next.patch) = (next.minor.saturating_add(1), 0);
    }
    next
}

/// Returns true if a package may have this version: its major version and kind must be
/// those of the first version, and its numbers fit into the 32 bits that protos of versions have
/// for them. Any other version does not count as a record.
pub fn fits(version: &Version, package: &str) -> bool {
    if [version.major, version.minor, version.patch].iter().any(|it| u32::try_from(*it).is_err()) {
        return false;
    }
    let first = first(package);
    let same_kind = match (counted(version), counted(&first)) {
        (Some((label, _)), Some((wanted, _))) => {
            let core = |it: &Version| (it.major, it.minor, it.patch);
            label == wanted && core(version) == core(&first)
        }
        (None, None) => version.pre.is_empty(),
        _ => false,
    };
    let has_major = PackageVersion::from_package(package).is_some();
    same_kind && version.build.is_empty() && (!has_major || version.major == first.major)
}

/// The version that an annotation names, `1.4` for `1.4.0`. No version of the
/// major 0 is a promise, and none has metadata of a build.
pub(crate) fn dated(text: &str) -> Option<Version> {
    let whole = Version::parse(text).or_else(|_| Version::parse(&format!("{text}.0")));
    whole.ok().filter(|it| it.major > 0 && it.build.is_empty())
}

/// The label and the count of a pre-release.
fn counted(version: &Version) -> Option<(&str, u64)> {
    let (label, count) = version.pre.as_str().rsplit_once('.')?;
    Some((label, count.parse().ok()?))
}

fn prerelease(label: &str, count: u64) -> Prerelease {
    Prerelease::new(&format!("{label}.{count}")).expect("words and numbers without leading zeros")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_begins_and_goes_on_in_its_own_way() {
        let rows = [
            ("acme.v3", "3.0.0", "3.0.1", "3.1.0"),
            ("acme.v3alpha", "3.0.0-alpha.1", "3.0.0-alpha.2", "3.0.0-alpha.2"),
            ("acme.v3beta", "3.0.0-beta.1", "3.0.0-beta.2", "3.0.0-beta.2"),
            ("acme.v3alpha2", "3.0.0-alpha.2.1", "3.0.0-alpha.2.2", "3.0.0-alpha.2.2"),
            ("acme.v1p1beta1", "1.1.0-beta.1.1", "1.1.0-beta.1.2", "1.1.0-beta.1.2"),
            ("acme.v1test", "1.0.0-test.1", "1.0.0-test.2", "1.0.0-test.2"),
            ("acme.v0", "0.0.0", "0.0.1", "0.1.0"),
            ("acme.type", "1.0.0", "1.0.1", "1.1.0"),
            ("", "1.0.0", "1.0.1", "1.1.0"),
        ];
        for (package, start, patch, minor) in rows {
            let begin = first(package);
            assert_eq!(begin.to_string(), start, "{package}");
            assert_eq!(next(&begin, Bump::None), begin, "{package}");
            assert_eq!(next(&begin, Bump::Patch).to_string(), patch, "{package}");
            assert_eq!(next(&begin, Bump::Minor).to_string(), minor, "{package}");
            for bump in [Bump::Patch, Bump::Minor, Bump::Major] {
                let risen = next(&begin, bump);
                assert!(risen > begin && fits(&risen, package), "{package} {risen}");
            }
        }
        assert_eq!(next(&Version::new(3, 4, 5), Bump::Minor), Version::new(3, 5, 0));
        assert_eq!(next(&Version::new(3, 4, 5), Bump::Major), Version::new(3, 5, 0));
        let ten: Version = "3.0.0-alpha.9".parse().expect("a version");
        assert_eq!(next(&ten, Bump::Minor).to_string(), "3.0.0-alpha.10");
        assert!(next(&ten, Bump::Minor) > ten, "counts are compared as numbers");
    }

    #[test]
    fn a_version_of_another_package_does_not_fit() {
        for (package, version) in [
            ("acme.v3", "2.0.0"),
            ("acme.v3", "3.0.0-alpha.1"),
            ("acme.v3", "3.0.0+built"),
            ("acme.v3alpha", "3.0.0"),
            ("acme.v3alpha", "3.0.0-beta.1"),
            ("acme.v3alpha", "3.0.0-alpha.1.1"),
            ("acme.v3alpha", "3.1.0-alpha.1"),
            ("acme.v3alpha1", "3.0.0-alpha.2.1"),
            ("acme.type", "1.0.0-alpha.1"),
        ] {
            let version: Version = version.parse().expect("a version");
            assert!(!fits(&version, package), "{package} {version}");
        }
        assert!(fits(&Version::new(2, 0, 0), "acme.type"), "its major is free");
    }
}
