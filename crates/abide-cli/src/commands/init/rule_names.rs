//! The rules and categories that a `buf.yaml` can name.

use std::collections::BTreeSet;

use abide_lint::{BufVersion, Config, Preset, buf_lint_rule, buf_lint_rules};

/// The prefix of the rules of buf in Abide.
const PREFIX: &str = "buf:";

/// The categories of breaking rules, the widest first.
pub(super) const BREAKING_CATEGORIES: &[(&str, Preset)] = &[
    ("FILE", Preset::BufFile),
    ("PACKAGE", Preset::BufPackage),
    (CSR, Preset::BufCsr),
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

/// Breaking rules of versions before v2, with those that replace them.
const RENAMED: &[(&str, &[&str])] = &[
    ("FIELD_SAME_CTYPE", &["FIELD_SAME_CPP_STRING_TYPE"]),
    (
        "FIELD_SAME_LABEL",
        &[
            "FIELD_SAME_CARDINALITY",
            "FIELD_WIRE_COMPATIBLE_CARDINALITY",
            "FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY",
        ],
    ),
    ("FILE_SAME_JAVA_STRING_CHECK_UTF8", &["FIELD_SAME_JAVA_UTF8_VALIDATION"]),
];

/// Breaking rules that only v2 has.
const SINCE_V2: &[&str] =
    &["EXTENSION_NO_DELETE", "PACKAGE_EXTENSION_NO_DELETE", "FIELD_SAME_DEFAULT"];

/// The category for registries of schemas, which only v2 has.
const CSR: &str = "CSR";

/// Rules that buf still knows by name but that no longer find anything, with the last version that
/// knows them.
const RETIRED: &[(&str, BufVersion)] = &[
    ("IMPORT_NO_WEAK", BufVersion::V2),
    ("FILE_SAME_PHP_GENERIC_SERVICES", BufVersion::V1),
    ("MESSAGE_SAME_MESSAGE_SET_WIRE_FORMAT", BufVersion::V2),
];

/// A section of `buf.yaml` that names rules.
#[derive(Clone, Copy)]
pub(super) enum RuleSection {
    Lint,
    Breaking,
}

impl RuleSection {
    pub(super) fn name(self) -> &'static str {
        match self {
            RuleSection::Lint => "lint",
            RuleSection::Breaking => "breaking",
        }
    }

    /// Returns true if buf has such a rule or category.
    pub(super) fn has_rule(self, version: BufVersion, name: &str) -> bool {
        is_retired(version, name)
            || match self {
                RuleSection::Lint => !resolve_lint_rules(version, name).is_empty(),
                RuleSection::Breaking => !resolve_breaking_rules(version, name).is_empty(),
            }
    }

    /// The names that a misspelt one may mean.
    pub(super) fn names(self, version: BufVersion) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        match self {
            RuleSection::Lint => {
                for category in LINT_CATEGORIES {
                    let rules = buf_lint_rules(version, category);
                    names.extend(rules.first().map(|_| (*category).to_owned()));
                    names.extend(rules.iter().map(|rule| strip_prefix(rule)));
                }
            }
            RuleSection::Breaking => {
                for (category, _) in BREAKING_CATEGORIES {
                    let rules = resolve_breaking_category(version, category);
                    names.extend(rules.first().map(|_| (*category).to_owned()));
                    names.extend(rules.iter().map(|rule| strip_prefix(rule)));
                }
            }
        }
        names
    }
}

/// The name of a rule as Abide writes it.
fn add_prefix(rule: &str) -> String {
    format!("{PREFIX}{rule}")
}

/// The name of a rule as buf writes it.
fn strip_prefix(alias: &str) -> String {
    alias.trim_start_matches(PREFIX).to_owned()
}

/// Returns true if buf knows the name of a rule that no longer finds anything.
pub(super) fn is_retired(version: BufVersion, name: &str) -> bool {
    RETIRED.iter().any(|(rule, last)| *rule == name && version <= *last)
}

/// The lint rules that a name stands for: those of a category, or one.
pub(super) fn resolve_lint_rules(version: BufVersion, name: &str) -> Vec<&'static str> {
    let rules = buf_lint_rules(version, name);
    if rules.is_empty() { buf_lint_rule(version, name).into_iter().collect() } else { rules }
}

/// The breaking rules that a name stands for: those of a category, one, or those that replace one.
pub(super) fn resolve_breaking_rules(version: BufVersion, name: &str) -> BTreeSet<String> {
    let rules = resolve_breaking_category(version, name);
    if !rules.is_empty() {
        return rules;
    }
    let renamed = RENAMED.iter().filter(|_| version < BufVersion::V2);
    let renamed = renamed.into_iter().find(|(old, _)| *old == name);
    let rules: &[&str] = renamed.map_or(std::slice::from_ref(&name), |(_, rules)| rules);
    rules
        .iter()
        .map(|rule| add_prefix(rule))
        .filter(|rule: &String| {
            let categories = BREAKING_CATEGORIES.iter();
            renamed.is_some()
                || categories
                    .into_iter()
                    .any(|it| resolve_breaking_category(version, it.0).contains(rule))
        })
        .collect()
}

/// The breaking rules of a category; none if the version has no such category.
fn resolve_breaking_category(version: BufVersion, name: &str) -> BTreeSet<String> {
    if name == CSR && version < BufVersion::V2 {
        return BTreeSet::new();
    }
    let preset = BREAKING_CATEGORIES.iter().find(|(category, _)| *category == name);
    let mut rules = preset.map_or_else(BTreeSet::new, |(_, preset)| collect_preset_rules(*preset));
    if version < BufVersion::V2 {
        rules.retain(|rule| !SINCE_V2.contains(&strip_prefix(rule).as_str()));
    }
    if version == BufVersion::V1Beta1 {
        rules.retain(|rule| name == "FILE" || *rule != add_prefix("FILE_SAME_PACKAGE"));
        // Types that have one encoding were not known yet.
        let before = rules.len();
        rules.retain(|rule| !rule.ends_with("_COMPATIBLE_TYPE"));
        if rules.len() < before {
            rules.extend(["FIELD_SAME_TYPE", "FIELD_SAME_CARDINALITY"].map(add_prefix));
        }
    }
    rules
}

/// The rules of buf that count in a preset.
pub(super) fn collect_preset_rules(preset: Preset) -> BTreeSet<String> {
    Config::of_preset(preset).policy.breaking.aliases.into_iter().collect()
}
