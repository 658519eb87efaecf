//! Versions in package names.

use std::cmp::Ordering;
use std::fmt;

/// The stability that a package promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stability {
    /// `alpha`, `test` and `v0`: anything may change.
    Alpha,
    /// `beta`: little will change.
    Beta,
    /// No suffix: nothing breaks.
    Stable,
}

impl Stability {
    /// The word with its article, for a sentence: "an alpha".
    pub fn with_article(self) -> &'static str {
        match self {
            Stability::Alpha => "an alpha",
            Stability::Beta => "a beta",
            Stability::Stable => "a stable package",
        }
    }
}

impl fmt::Display for Stability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stability::Alpha => "alpha",
            Stability::Beta => "beta",
            Stability::Stable => "stable",
        })
    }
}

/// The version component of a package name, such as `v3`, `v3alpha`,
/// `v1beta1`, `v2alpha1`, `v1p1beta1` or `v1test`.
///
/// The order is by major, then minor (`p1`), then stability, then the number
/// behind the stability; `v3alpha` stands before `v3alpha1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackageVersion {
    /// The major version.
    pub major: u32,
    /// The number behind `p`, as in `v1p1beta1`.
    pub minor: Option<u32>,
    /// Alpha, beta or stable.
    pub stability: Stability,
    /// The number after `alpha` or `beta`.
    pub revision: Option<u32>,
    /// The component as it is written.
    pub text: String,
    /// The index of its component in the package name.
    pub position: usize,
}

impl PackageVersion {
    /// The forms that a version component can have: `N` is the major version, `P` the
    /// minor one, and `M` the number after the stability. The major version 0 promises
    /// nothing, so it is a form of its own.
    pub const FORMS: &[&str] = &[
        "v0",
        "vN",
        "vNalpha",
        "vNalphaM",
        "vNbeta",
        "vNbetaM",
        "vNtest",
        "vNpPalpha",
        "vNpPalphaM",
        "vNpPbeta",
        "vNpPbetaM",
        "vNpPtest",
    ];

    /// The one of `FORMS` that it has.
    pub fn version_pattern(&self) -> String {
        if self.major == 0 {
            return "v0".to_owned();
        }
        let minor = if self.minor.is_some() { "pP" } else { "" };
        let label = ["alpha", "beta", "test"].into_iter().find(|it| self.text.contains(it));
        let revision = if self.revision.is_some() { "M" } else { "" };
        format!("vN{minor}{}{revision}", label.unwrap_or_default())
    }

    /// Reads one component of a package name; `None` where it is no version.
    pub fn parse_component(component: &str) -> Option<PackageVersion> {
        let (major, rest) = parse_number(component.strip_prefix('v')?)?;
        let (minor, rest) = match rest.strip_prefix('p') {
            Some(rest) => parse_number(rest).map(|(minor, rest)| (Some(minor), rest))?,
            None => (None, rest),
        };
        let (stability, rest) = if let Some(rest) = rest.strip_prefix("alpha") {
            (Stability::Alpha, rest)
        } else if let Some(rest) = rest.strip_prefix("beta") {
            (Stability::Beta, rest)
        } else if let Some(rest) = rest.strip_prefix("test") {
            // Whatever follows `test` is a label, as buf reads it.
            if !rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return None;
            }
            (Stability::Alpha, "")
        } else {
            (Stability::Stable, rest)
        };
        let (revision, rest) = match parse_number(rest) {
            Some((revision, rest)) => (Some(revision), rest),
            None => (None, rest),
        };
        if !rest.is_empty() || (stability == Stability::Stable && minor.is_some()) {
            return None;
        }
        let stability = if major == 0 { Stability::Alpha } else { stability };
        Some(PackageVersion {
            major,
            minor,
            stability,
            revision,
            text: component.to_owned(),
            position: 0,
        })
    }

    /// The version in a package name: the last component that is one.
    pub fn from_package(package: &str) -> Option<PackageVersion> {
        let mut position = package.split('.').count();
        package.rsplit('.').find_map(|component| {
            position -= 1;
            let version = PackageVersion::parse_component(component)?;
            Some(PackageVersion { position, ..version })
        })
    }

    /// Returns true if the package promises that nothing breaks.
    pub fn is_stable(&self) -> bool {
        self.stability == Stability::Stable
    }

    fn sort_key(&self) -> (u32, u32, Stability, u32) {
        (self.major, self.minor.unwrap_or(0), self.stability, self.revision.unwrap_or(0))
    }
}

/// A decimal number without leading zeros, and what follows it.
fn parse_number(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

impl PartialOrd for PackageVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PackageVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort_key()
            .cmp(&other.sort_key())
            .then_with(|| self.text.cmp(&other.text))
            .then_with(|| self.position.cmp(&other.position))
    }
}

impl fmt::Display for PackageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The name of the API that a package is a version of: the package name with
/// `*` for its version component. `None` where it has no version.
pub fn format_api_name(package: &str) -> Option<String> {
    let version = PackageVersion::from_package(package)?;
    let mut components: Vec<&str> = package.split('.').collect();
    components[version.position] = "*";
    Some(components.join("."))
}
