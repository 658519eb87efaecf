//! Names that contain the version of a package: packages of generated code, and
//! HTTP routes.

use abide_schema::{HttpBinding, PackageVersion};

/// File options whose value follows the package.
pub(crate) const LANGUAGE_PACKAGES: &[&str] = &[
    "csharp_namespace",
    "go_package",
    "java_package",
    "php_metadata_namespace",
    "php_namespace",
    "ruby_package",
];

/// A package of generated code after its protobuf package changed. The value is
/// given as written, with escapes and without quotes.
pub(crate) fn language_package(value: &str, old: &str, new: &str) -> String {
    let (value, alias) = match value.split_once(';') {
        Some((path, alias)) => (path, Some(go_alias(alias, old, new))),
        None => (value, None),
    };
    let mut value = [".", "/", "\\\\", "::", "_"]
        .iter()
        .flat_map(|separator| [(*separator, false), (*separator, true)])
        .find_map(|(separator, pascal)| {
            let spelled = |package: &str| spelled(package, separator, pascal);
            let (from, to) = (spelled(old), spelled(new));
            find_components(value, &from)
                .map(|at| format!("{}{to}{}", &value[..at], &value[at + from.len()..]))
        })
        .unwrap_or_else(|| with_version(value, old, new));
    if let Some(alias) = alias {
        value.push(';');
        value.push_str(&alias);
    }
    value
}

/// Where `part` occurs in `text` without a letter or digit next to it.
fn find_components(text: &str, part: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric();
    text.match_indices(part)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with(word) && !text[at + part.len()..].starts_with(word))
}

/// A package as a language writes it.
fn spelled(package: &str, separator: &str, pascal: bool) -> String {
    let components =
        package.split('.').map(|it| if pascal { pascal_case(it) } else { it.to_owned() });
    components.collect::<Vec<_>>().join(separator)
}

/// `UserProfile` of `user_profile`, `V2Alpha1` of `v2alpha1`.
fn pascal_case(component: &str) -> String {
    let mut out = String::with_capacity(component.len());
    let is_version = PackageVersion::parse_component(component).is_some();
    let mut raise = true;
    for c in component.chars() {
        if c == '_' {
            raise = true;
            continue;
        }
        out.push(if raise { c.to_ascii_uppercase() } else { c });
        raise = is_version && c.is_ascii_digit();
    }
    out
}

/// The name of a Go package, which often consists of the last components.
fn go_alias(alias: &str, old: &str, new: &str) -> String {
    let (old_parts, new_parts): (Vec<&str>, Vec<&str>) =
        (old.split('.').collect(), new.split('.').collect());
    for count in (1..=old_parts.len().min(new_parts.len())).rev() {
        for separator in ["", "_"] {
            let last = |parts: &[&str]| parts[parts.len() - count..].join(separator);
            if alias == last(&old_parts) {
                return last(&new_parts);
            }
        }
    }
    with_version(alias, old, new)
}

/// Replaces the version of the old package with that of the new one, where it is a
/// whole component or the end of a word.
fn with_version(value: &str, old: &str, new: &str) -> String {
    let version = |package: &str| PackageVersion::of_package(package).map(|it| it.text);
    let (Some(old), Some(new)) = (version(old), version(new)) else { return value.to_owned() };
    for (from, to) in [(old.clone(), new.clone()), (pascal_case(&old), pascal_case(&new))] {
        if let Some(at) = find_components(value, &from) {
            return format!("{}{to}{}", &value[..at], &value[at + from.len()..]);
        }
        if let Some(before) = value.strip_suffix(&from) {
            return format!("{before}{to}");
        }
    }
    value.to_owned()
}

/// The route of a method after its package changed: the component with the old
/// version gets the new version. With `major`, only `post` routes that begin with
/// that major change.
pub(crate) fn route(
    binding: &HttpBinding<'_>,
    written: &str,
    old: &str,
    new: &str,
    major: Option<u32>,
) -> Option<String> {
    if let Some(major) = major {
        let rest = written.strip_prefix(&format!("\"/v{major}/"))?;
        return (binding.method == "POST").then(|| format!("\"/v{}/{rest}", major + 1));
    }
    let version = |package: &str| PackageVersion::of_package(package).map(|it| it.text);
    let (old, new) = (version(old)?, version(new)?);
    let mut route = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = find_components(rest, &old) {
        route.push_str(&rest[..at]);
        route.push_str(&new);
        rest = &rest[at + old.len()..];
    }
    (rest.len() < written.len()).then(|| route + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_languages_follow() {
        let to = |value: &str| language_package(value, "acme.user.v1", "acme.user.v2alpha");
        for (value, expected) in [
            ("com.acme.user.v1", "com.acme.user.v2alpha"),
            ("com.acme.users.v1", "com.acme.users.v2alpha"),
            (
                "example.com/gen/acme/user/v1;userv1",
                "example.com/gen/acme/user/v2alpha;userv2alpha",
            ),
            ("example.com/gen/acme/user/v1;users", "example.com/gen/acme/user/v2alpha;users"),
            ("example.com/user/apiv1/userpb;userpb", "example.com/user/apiv1/userpb;userpb"),
            ("Acme.User.V1", "Acme.User.V2Alpha"),
            ("Acme\\\\User\\\\V1", "Acme\\\\User\\\\V2Alpha"),
            ("Acme::User::V1", "Acme::User::V2Alpha"),
            ("Acme.Everything", "Acme.Everything"),
        ] {
            assert_eq!(to(value), expected);
        }
        let moved = language_package(
            "x.org/go/envoy/api/v2/core;envoy_api_v2_core",
            "envoy.api.v2.core",
            "envoy.config.core.v3",
        );
        assert_eq!(moved, "x.org/go/envoy/config/core/v3;envoy_config_core_v3");
    }
}
