//! The lint rules of buf by category, as `buf config ls-lint-rules` of buf 1.75 lists them.

/// The versions of `buf.yaml`. Each has its own categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum BufVersion {
    /// `version: v1beta1`.
    V1Beta1,
    /// `version: v1`.
    V1,
    /// `version: v2`.
    #[default]
    V2,
}

/// A lint rule of buf.
struct BufLintRule {
    id: &'static str,
    /// The smallest category that contains it in v1beta1, v1 and v2; `None` if none does, or if
    /// that version does not have the rule.
    categories: [Option<&'static str>; 3],
}

const fn rule(
    id: &'static str,
    v1beta1: Option<&'static str>,
    v1: Option<&'static str>,
    v2: Option<&'static str>,
) -> BufLintRule {
    BufLintRule { id, categories: [v1beta1, v1, v2] }
}

const MINIMAL: Option<&str> = Some("MINIMAL");
const BASIC: Option<&str> = Some("BASIC");
const STANDARD: Option<&str> = Some("STANDARD");
const COMMENTS: Option<&str> = Some("COMMENTS");
const UNARY_RPC: Option<&str> = Some("UNARY_RPC");
const FILE_LAYOUT: Option<&str> = Some("FILE_LAYOUT");
const PACKAGE_AFFINITY: Option<&str> = Some("PACKAGE_AFFINITY");
const SENSIBLE: Option<&str> = Some("SENSIBLE");
const STYLE_BASIC: Option<&str> = Some("STYLE_BASIC");
const STYLE_STANDARD: Option<&str> = Some("STYLE_STANDARD");

#[rustfmt::skip]
const RULES: &[BufLintRule] = &[
    rule("buf:COMMENT_ENUM", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:COMMENT_ENUM_VALUE", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:COMMENT_FIELD", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:COMMENT_MESSAGE", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:COMMENT_ONEOF", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:COMMENT_RPC", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:COMMENT_SERVICE", COMMENTS, COMMENTS, COMMENTS),
    rule("buf:DIRECTORY_SAME_PACKAGE", FILE_LAYOUT, MINIMAL, MINIMAL),
    rule("buf:ENUM_FIRST_VALUE_ZERO", Some("OTHER"), BASIC, BASIC),
    rule("buf:ENUM_NO_ALLOW_ALIAS", SENSIBLE, BASIC, BASIC),
    rule("buf:ENUM_PASCAL_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:ENUM_VALUE_PREFIX", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:ENUM_VALUE_UPPER_SNAKE_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:ENUM_ZERO_VALUE_SUFFIX", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:FIELD_LOWER_SNAKE_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:FIELD_NOT_REQUIRED", None, None, BASIC),
    rule("buf:FIELD_NO_DESCRIPTOR", SENSIBLE, None, None),
    rule("buf:FILE_LOWER_SNAKE_CASE", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:IMPORT_NO_PUBLIC", SENSIBLE, BASIC, BASIC),
    rule("buf:IMPORT_USED", None, BASIC, BASIC),
    rule("buf:MESSAGE_PASCAL_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:ONEOF_LOWER_SNAKE_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:PACKAGE_DEFINED", SENSIBLE, MINIMAL, MINIMAL),
    rule("buf:PACKAGE_DIRECTORY_MATCH", FILE_LAYOUT, MINIMAL, MINIMAL),
    rule("buf:PACKAGE_LOWER_SNAKE_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:PACKAGE_NO_IMPORT_CYCLE", None, None, MINIMAL),
    rule("buf:PACKAGE_SAME_CSHARP_NAMESPACE", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_SAME_DIRECTORY", FILE_LAYOUT, MINIMAL, MINIMAL),
    rule("buf:PACKAGE_SAME_GO_PACKAGE", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_SAME_JAVA_MULTIPLE_FILES", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_SAME_JAVA_PACKAGE", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_SAME_PHP_NAMESPACE", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_SAME_RUBY_PACKAGE", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_SAME_SWIFT_PREFIX", PACKAGE_AFFINITY, BASIC, BASIC),
    rule("buf:PACKAGE_VERSION_SUFFIX", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:PROTOVALIDATE", None, STANDARD, STANDARD),
    rule("buf:RPC_NO_CLIENT_STREAMING", UNARY_RPC, UNARY_RPC, UNARY_RPC),
    rule("buf:RPC_NO_SERVER_STREAMING", UNARY_RPC, UNARY_RPC, UNARY_RPC),
    rule("buf:RPC_PASCAL_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:RPC_REQUEST_RESPONSE_UNIQUE", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:RPC_REQUEST_STANDARD_NAME", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:RPC_RESPONSE_STANDARD_NAME", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:SERVICE_PASCAL_CASE", STYLE_BASIC, BASIC, BASIC),
    rule("buf:SERVICE_SUFFIX", STYLE_STANDARD, STANDARD, STANDARD),
    rule("buf:STABLE_PACKAGE_NO_IMPORT_UNSTABLE", None, None, None),
    rule("buf:SYNTAX_SPECIFIED", None, BASIC, BASIC),
];

/// The categories of lint rules in v2, which settings may name. Those that contain others come
/// first.
pub(crate) const BUF_LINT_CATEGORIES: &[&str] =
    &["buf:STANDARD", "buf:BASIC", "buf:MINIMAL", "buf:COMMENTS", "buf:UNARY_RPC"];

/// The lint rules of buf in a category, as aliases such as `buf:ENUM_PASCAL_CASE`. The name of a
/// category has no prefix. Empty if the version has no such category.
pub fn buf_lint_rules(version: BufVersion, category: &str) -> Vec<&'static str> {
    let v1beta1 = version == BufVersion::V1Beta1;
    let smallest: &[&str] = match category {
        "MINIMAL" if v1beta1 => &["FILE_LAYOUT", "PACKAGE_AFFINITY", "SENSIBLE"],
        "BASIC" if v1beta1 => &["FILE_LAYOUT", "PACKAGE_AFFINITY", "SENSIBLE", "STYLE_BASIC"],
        "STANDARD" | "DEFAULT" if v1beta1 => {
            &["FILE_LAYOUT", "PACKAGE_AFFINITY", "SENSIBLE", "STYLE_BASIC", "STYLE_STANDARD"]
        }
        "STYLE_STANDARD" | "STYLE_DEFAULT" if v1beta1 => &["STYLE_BASIC", "STYLE_STANDARD"],
        "BASIC" => &["MINIMAL", "BASIC"],
        "STANDARD" | "DEFAULT" => &["MINIMAL", "BASIC", "STANDARD"],
        category => &[category],
    };
    let in_category = |it: &&BufLintRule| {
        it.categories[version as usize].is_some_and(|it| smallest.contains(&it))
    };
    RULES.iter().filter(in_category).map(|it| it.id).collect()
}

/// A lint rule of buf by its id without a prefix, as an alias; `None` if the version does not have
/// it.
pub fn buf_lint_rule(version: BufVersion, id: &str) -> Option<&'static str> {
    let rule = RULES.iter().find(|it| it.id.strip_prefix("buf:") == Some(id))?;
    // One rule is in no category.
    let is_apart = version == BufVersion::V2 && rule.categories == [None; 3];
    (is_apart || rule.categories[version as usize].is_some()).then_some(rule.id)
}

/// The lint rules of buf that a comment ignores: buf compares only as many letters as the id of a
/// rule has, so `COMMENT_ENUM_VALUE` also ignores `COMMENT_ENUM`.
pub(crate) fn ignored_by(text: &str) -> impl Iterator<Item = &'static str> {
    RULES
        .iter()
        .map(|it| it.id)
        .filter(move |it| it.strip_prefix("buf:").is_some_and(|id| text.starts_with(id)))
}

/// How stable buf takes the last component of a package to be: `v0` is no version, and leading
/// zeros are allowed. `None` if it is not a version to buf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufStability {
    Stable,
    Unstable,
}

impl BufStability {
    pub(crate) fn of_package(package: &str) -> Option<BufStability> {
        // buf wants a component before the version.
        let (_, last) = package.rsplit_once('.')?;
        let (rest, _) = number(last.strip_prefix('v')?)?;
        if rest.is_empty() {
            return Some(BufStability::Stable);
        }
        if rest.starts_with("test") {
            return Some(BufStability::Unstable);
        }
        let rest = match rest.strip_prefix('p') {
            Some(rest) => number(rest)?.0,
            None => rest,
        };
        let rest = rest.strip_prefix("alpha").or_else(|| rest.strip_prefix("beta"))?;
        let is_whole = rest.is_empty() || number(rest).is_some_and(|(rest, _)| rest.is_empty());
        is_whole.then_some(BufStability::Unstable)
    }
}

/// Returns what follows a number of at least 1, and the number.
fn number(text: &str) -> Option<(&str, u32)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    let number: u32 = digits.parse().ok()?;
    (number > 0).then_some((rest, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_have_as_many_rules_as_in_buf() {
        use BufVersion::{V1, V1Beta1, V2};
        for (version, category, rules) in [
            (V2, "MINIMAL", 5),
            (V2, "BASIC", 26),
            (V2, "STANDARD", 35),
            (V2, "COMMENTS", 7),
            (V2, "UNARY_RPC", 2),
            (V1, "MINIMAL", 4),
            (V1, "DEFAULT", 33),
            (V1Beta1, "MINIMAL", 14),
            (V1Beta1, "BASIC", 22),
            (V1Beta1, "STANDARD", 30),
            (V1Beta1, "OTHER", 1),
            (V2, "OTHER", 0),
        ] {
            assert_eq!(buf_lint_rules(version, category).len(), rules, "{version:?} {category}");
        }
    }

    /// Verdicts of buf 1.75.
    #[test]
    fn versions_are_those_of_buf() {
        use BufStability::{Stable, Unstable};
        for (package, stability) in [
            ("a.v1", Some(Stable)),
            ("a.v01", Some(Stable)),
            ("a.v1test", Some(Unstable)),
            ("a.v1testfoo_b", Some(Unstable)),
            ("a.v1p1alpha", Some(Unstable)),
            ("a.v1alpha01", Some(Unstable)),
            ("a.v0", None),
            ("a.v1p1", None),
            ("a.v1beta0", None),
            ("a.v1p0beta1", None),
            ("a.v1.b", None),
        ] {
            assert_eq!(BufStability::of_package(package), stability, "{package}");
        }
    }
}
