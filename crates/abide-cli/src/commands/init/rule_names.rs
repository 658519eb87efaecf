//! The rules and categories that a `buf.yaml` can name.

use std::collections::BTreeSet;

use abide::{BufVersion, Config, Preset, buf_lint_rule, buf_lint_rules};

/// What Abide puts before the names of buf.
const PREFIX: &str = "buf:";

/// The categories of breaking rules, the widest first.
pub(super) const BREAKING_CATEGORIES: &[(&str, Preset)] = &[
    ("FILE", Preset::BufFile),
    ("PACKAGE", Preset::BufPackage),
    ("WIRE_JSON", Preset::BufWireJson),
    ("WIRE", Preset::BufWire),
];

/// The categories of lint rules, of all versions.
const LINT_CATEGORIES: &[&str] = &[
    "STANDARD",
    "DEFAULT",
    "BASIC",
    "MINIMAL",
    "COMMENTS",
    "UNARY_RPC",
    "FILE_LAYOUT",
    "PACKAGE_AFFINITY",
    "SENSIBLE",
    "STYLE_BASIC",
    "STYLE_STANDARD",
    "STYLE_DEFAULT",
    "OTHER",
];

/// Breaking rules that have another name since.
const RENAMED: &[(&str, &str)] = &[
    ("FIELD_SAME_CTYPE", "FIELD_SAME_CPP_STRING_TYPE"),
    ("FIELD_SAME_LABEL", "FIELD_SAME_CARDINALITY"),
    ("FILE_SAME_JAVA_STRING_CHECK_UTF8", "FIELD_SAME_JAVA_UTF8_VALIDATION"),
];

/// Rules that buf still knows by name but that no longer find anything.
const RETIRED: &[&str] =
    &["IMPORT_NO_WEAK", "FILE_SAME_PHP_GENERIC_SERVICES", "MESSAGE_SAME_MESSAGE_SET_WIRE_FORMAT"];

/// A section of `buf.yaml` that names rules.
#[derive(Clone, Copy)]
pub(super) enum Section {
    Lint,
    Breaking,
}

impl Section {
    pub(super) fn name(self) -> &'static str {
        match self {
            Section::Lint => "lint",
            Section::Breaking => "breaking",
        }
    }

    /// Whether buf has such a rule or category.
    pub(super) fn holds(self, version: BufVersion, name: &str) -> bool {
        is_retired(name)
            || match self {
                Section::Lint => !lint_rules(version, name).is_empty(),
                Section::Breaking => !breaking_rules(name).is_empty(),
            }
    }

    /// The names that a misspelt one may mean.
    pub(super) fn names(self, version: BufVersion) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        match self {
            Section::Lint => {
                for category in LINT_CATEGORIES {
                    let rules = buf_lint_rules(version, category);
                    names.extend(rules.first().map(|_| (*category).to_owned()));
                    names.extend(rules.iter().map(|rule| bare(rule)));
                }
            }
            Section::Breaking => {
                names.extend(BREAKING_CATEGORIES.iter().map(|(name, _)| (*name).to_owned()));
                let rules = BREAKING_CATEGORIES.iter().flat_map(|(_, preset)| of_preset(*preset));
                names.extend(rules.map(|rule| bare(&rule)));
            }
        }
        names
    }
}

/// The name of a rule as buf writes it.
fn bare(alias: &str) -> String {
    alias.trim_start_matches(PREFIX).to_owned()
}

/// Whether buf knows the name of a rule that no longer finds anything.
pub(super) fn is_retired(name: &str) -> bool {
    RETIRED.contains(&name)
}

/// The lint rules that a name stands for: those of a category, or one.
pub(super) fn lint_rules(version: BufVersion, name: &str) -> Vec<&'static str> {
    let rules = buf_lint_rules(version, name);
    if rules.is_empty() { buf_lint_rule(name).into_iter().collect() } else { rules }
}

/// The breaking rules that a name stands for: those of a category, or one.
pub(super) fn breaking_rules(name: &str) -> BTreeSet<String> {
    let category = BREAKING_CATEGORIES.iter().find(|(category, _)| *category == name);
    if let Some((_, preset)) = category {
        return of_preset(*preset);
    }
    let renamed = RENAMED.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
    let alias = format!("{PREFIX}{}", renamed.unwrap_or(name));
    let is_known =
        BREAKING_CATEGORIES.iter().any(|(_, preset)| of_preset(*preset).contains(&alias));
    is_known.then_some(alias).into_iter().collect()
}

/// The rules of buf that count in a preset.
pub(super) fn of_preset(preset: Preset) -> BTreeSet<String> {
    Config::of_preset(preset).policy.breaking.aliases.into_iter().collect()
}
