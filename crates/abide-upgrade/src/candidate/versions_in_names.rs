//! Names that contain the version of a package: packages of generated code, and
//! HTTP routes.

use abide_schema::value::Entry;
use abide_schema::{File, HttpBinding, PackageVersion, Stability};

/// A file option whose value follows the package, so that the generated code of two
/// versions does not end up in one place.
pub(crate) struct LanguagePackage {
    /// The name of the option.
    pub(crate) option: &'static str,
    form: ValueForm,
}

/// The spelling of a value.
#[derive(Clone, Copy)]
enum ValueForm {
    /// Components with this between them, as in the text of a file.
    Components { separator: &'static str, pascal: bool },
    /// One word in front of the name of every class.
    Prefix,
}

/// The namespace of C++, which is a custom option of edition 2026.
const CPP_NAMESPACE: &str = "(pb.file.cpp).namespace";

const fn with_components(
    option: &'static str,
    separator: &'static str,
    pascal: bool,
) -> LanguagePackage {
    LanguagePackage { option, form: ValueForm::Components { separator, pascal } }
}

pub(crate) const LANGUAGE_PACKAGES: &[LanguagePackage] = &[
    with_components(CPP_NAMESPACE, "::", false),
    with_components("csharp_namespace", ".", true),
    with_components("go_package", "/", false),
    with_components("java_package", ".", false),
    LanguagePackage { option: "objc_class_prefix", form: ValueForm::Prefix },
    with_components("php_metadata_namespace", "\\\\", true),
    with_components("php_namespace", "\\\\", true),
    with_components("ruby_package", "::", true),
    LanguagePackage { option: "swift_prefix", form: ValueForm::Prefix },
];

impl LanguagePackage {
    /// Its value in the options of a file.
    pub(crate) fn find_value<'t>(&self, file: File<'t>) -> Option<&'t Entry> {
        let options = file.options()?;
        match self.option {
            CPP_NAMESPACE => {
                let option = options.find_extension(file.tree, "pb.file.cpp")?;
                option.value.as_message()?.get(file.tree, "namespace")
            }
            name => options.get(file.tree, name),
        }
    }

    /// The value after the protobuf package changed. It is given as written, with
    /// escapes and without quotes.
    pub(crate) fn update_value(&self, value: &str, old: &str, new: &str) -> String {
        let (value, alias) = match value.split_once(';') {
            Some((path, alias)) => (path, Some(update_go_alias(alias, old, new))),
            None => (value, None),
        };
        let mut value = match self.form {
            ValueForm::Components { .. } => replace_package(value, old, new)
                .or_else(|| replace_version(value, old, new))
                .unwrap_or_else(|| self.append_version(value, new)),
            ValueForm::Prefix => replace_version_in_prefix(value, old, new)
                .unwrap_or_else(|| self.append_version(value, new)),
        };
        if let Some(alias) = alias {
            value.push(';');
            value.push_str(&alias);
        }
        value
    }

    /// A value that names no version gets one.
    fn append_version(&self, value: &str, package: &str) -> String {
        let Some(version) = PackageVersion::from_package(package).filter(|_| !value.is_empty())
        else {
            return value.to_owned();
        };
        match self.form {
            ValueForm::Prefix => format!("{value}{}", abbreviate_version(&version)),
            ValueForm::Components { separator, pascal } => {
                let version = if pascal { to_pascal_case(&version.text) } else { version.text };
                let value = value.strip_suffix(separator).unwrap_or(value);
                format!("{value}{separator}{version}")
            }
        }
    }
}

/// A value that spells the whole package, in the way of any language.
fn replace_package(value: &str, old: &str, new: &str) -> Option<String> {
    [".", "/", "\\\\", "::", "_"]
        .iter()
        .flat_map(|separator| [(*separator, false), (*separator, true)])
        .find_map(|(separator, pascal)| {
            let spelled = |package: &str| format_package(package, separator, pascal);
            let (from, to) = (spelled(old), spelled(new));
            find_whole_word(value, &from)
                .map(|at| format!("{}{to}{}", &value[..at], &value[at + from.len()..]))
        })
}

/// Returns true if a part of a text has no letter or digit next to it.
fn is_whole_word(text: &str, at: usize, part: &str) -> bool {
    let word = |c: char| c.is_alphanumeric();
    !text[..at].ends_with(word) && !text[at + part.len()..].starts_with(word)
}

/// Finds `part` in `text` without a letter or digit next to it.
fn find_whole_word(text: &str, part: &str) -> Option<usize> {
    text.match_indices(part).map(|(at, _)| at).find(|at| is_whole_word(text, *at, part))
}

/// A package as a language writes it.
fn format_package(package: &str, separator: &str, pascal: bool) -> String {
    let components =
        package.split('.').map(|it| if pascal { to_pascal_case(it) } else { it.to_owned() });
    components.collect::<Vec<_>>().join(separator)
}

/// `UserProfile` of `user_profile`, `V2Alpha1` of `v2alpha1`.
fn to_pascal_case(component: &str) -> String {
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
fn update_go_alias(alias: &str, old: &str, new: &str) -> String {
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
    replace_version(alias, old, new).unwrap_or_else(|| alias.to_owned())
}

/// Replaces the version of the old package with that of the new one: where it is
/// attached to `api` or to the name before it, as in `apiv1`, else the last one that
/// is a whole component, else at the end of a word. Other versions in a Go path may
/// be those of the module.
fn replace_version(value: &str, old: &str, new: &str) -> Option<String> {
    let (from, to) = (PackageVersion::from_package(old)?, PackageVersion::from_package(new)?);
    let named = from.position.checked_sub(1).and_then(|at| old.split('.').nth(at));
    let spellings = [
        (["api", named.unwrap_or("api")].map(str::to_owned), from.text.clone(), to.text.clone()),
        (
            ["Api", named.unwrap_or("api")].map(to_pascal_case),
            to_pascal_case(&from.text),
            to_pascal_case(&to.text),
        ),
    ];
    let replaced = |at: usize, from: &str, to: &str| {
        format!("{}{to}{}", &value[..at], &value[at + from.len()..])
    };
    let attached = spellings.iter().find_map(|(names, from, to)| {
        let at = names.iter().find_map(|name| find_attached(value, name, from))?;
        Some(replaced(at, from, to))
    });
    let whole = || {
        spellings.iter().find_map(|(_, from, to)| {
            let mut places = value.rmatch_indices(from.as_str()).map(|(at, _)| at);
            Some(replaced(places.find(|at| is_whole_word(value, *at, from))?, from, to))
        })
    };
    let ending = || {
        spellings.iter().find_map(|(_, from, to)| {
            value.strip_suffix(from.as_str()).map(|before| format!("{before}{to}"))
        })
    };
    attached.or_else(whole).or_else(ending)
}

/// Finds a version that follows a name that starts a word, last: `v1` in `apiv1` and
/// `apiv1main`, but not in `apiv10` and `apiv1beta1`.
fn find_attached(text: &str, name: &str, version: &str) -> Option<usize> {
    let both = format!("{name}{version}");
    let is_whole = |at: usize| {
        let rest = &text[at + both.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let longer = format!("{version}{}", &rest[..end]).to_ascii_lowercase();
        !text[..at].ends_with(char::is_alphanumeric)
            && (end == 0 || PackageVersion::parse_component(&longer).is_none())
    };
    let mut places = text.rmatch_indices(&both).map(|(at, _)| at);
    Some(places.find(|at| is_whole(*at))? + name.len())
}

/// Replaces the version in a prefix of class names: `GMPSV1` becomes `GMPSV2A` in
/// `v2alpha` and `GMPSV2` in `v2`.
fn replace_version_in_prefix(value: &str, old: &str, new: &str) -> Option<String> {
    let (from, to) = (PackageVersion::from_package(old)?, PackageVersion::from_package(new)?);
    let spelled = |spell: fn(&PackageVersion) -> String| (spell(&from), spell(&to));
    let long = [spelled(|it| to_pascal_case(&it.text)), spelled(|it| it.text.to_ascii_uppercase())];
    let is_long = from.stability != Stability::Stable;
    let mut spellings = long.into_iter().filter(|_| is_long).chain([spelled(abbreviate_version)]);
    spellings.find_map(|(from, to)| {
        let ends = |at: &usize| !value[at + from.len()..].starts_with(|c: char| c.is_ascii_digit());
        let at = value.rmatch_indices(from.as_str()).map(|(at, _)| at).find(ends)?;
        Some(format!("{}{to}{}", &value[..at], &value[at + from.len()..]))
    })
}

/// `V2` of `v2`, `V2A` of `v2alpha`, `V1P1B3` of `v1p1beta3`.
fn abbreviate_version(version: &PackageVersion) -> String {
    let stability = match version.stability {
        Stability::Alpha => "A",
        Stability::Beta => "B",
        Stability::Stable => "",
    };
    let number = |letter: &str, it: Option<u32>| it.map(|it| format!("{letter}{it}"));
    let minor = number("P", version.minor).unwrap_or_default();
    let revision = number("", version.revision).unwrap_or_default();
    format!("V{}{minor}{stability}{revision}", version.major)
}

/// The route of a method after its package changed: the components with a version that is
/// `replaced` get the new version. Routes need not name the stability of the package.
pub(crate) fn update_route(
    written: &str,
    new: &str,
    replaced: impl Fn(&PackageVersion) -> bool,
) -> Option<String> {
    let mut route = String::with_capacity(written.len());
    for word in written.split_inclusive(|it: char| !it.is_alphanumeric()) {
        let component = word.trim_end_matches(|it: char| !it.is_alphanumeric());
        let is_old = PackageVersion::parse_component(component).is_some_and(|it| replaced(&it));
        route.push_str(if is_old { new } else { component });
        route.push_str(&word[component.len()..]);
    }
    (route != written).then_some(route)
}

/// The route of a method of a candidate, if only those of one major change: a `post`
/// route that begins with it gets the next one.
pub(crate) fn update_route_of_major(
    binding: &HttpBinding<'_>,
    written: &str,
    major: u32,
) -> Option<String> {
    let rest = written.strip_prefix(&format!("\"/v{major}/"))?;
    (binding.method == "POST").then(|| format!("\"/v{}/{rest}", major + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(option: &str, value: &str, old: &str, new: &str) -> String {
        let found = LANGUAGE_PACKAGES.iter().find(|it| it.option == option);
        found.expect("a known option").update_value(value, old, new)
    }

    #[test]
    fn packages_of_languages_follow() {
        let to =
            |option: &str, value: &str| after(option, value, "acme.user.v1", "acme.user.v2alpha");
        for (option, value, expected) in [
            ("java_package", "com.acme.user.v1", "com.acme.user.v2alpha"),
            ("java_package", "com.acme.users.v1", "com.acme.users.v2alpha"),
            ("java_package", "com.acme.user.proto", "com.acme.user.proto.v2alpha"),
            (
                "go_package",
                "example.com/gen/acme/user/v1;userv1",
                "example.com/gen/acme/user/v2alpha;userv2alpha",
            ),
            (
                "go_package",
                "example.com/gen/acme/user/v1;users",
                "example.com/gen/acme/user/v2alpha;users",
            ),
            (
                "go_package",
                "example.com/user/apiv1/userpb;userpb",
                "example.com/user/apiv2alpha/userpb;userpb",
            ),
            // The version of a module is not that of the API.
            (
                "go_package",
                "example.com/user/v1/apiv1/userpb;userpb",
                "example.com/user/v1/apiv2alpha/userpb;userpb",
            ),
            (
                "go_package",
                "example.com/user/v2/apiv1/userpb;userpb",
                "example.com/user/v2/apiv2alpha/userpb;userpb",
            ),
            (
                "go_package",
                "example.com/user/apiv1/v1/userpb",
                "example.com/user/apiv2alpha/v1/userpb",
            ),
            ("go_package", "example.com/v1/users/v1;users", "example.com/v1/users/v2alpha;users"),
            (
                "go_package",
                "example.com/user/apiv1main/userpb;userpb",
                "example.com/user/apiv2alphamain/userpb;userpb",
            ),
            ("go_package", "example.com/userv1/gen", "example.com/userv2alpha/gen"),
            (
                "go_package",
                "example.com/apiv10/apiv1beta1",
                "example.com/apiv10/apiv1beta1/v2alpha",
            ),
            ("go_package", "example.com/users;users", "example.com/users/v2alpha;users"),
            ("go_package", "./;users", "./v2alpha;users"),
            ("csharp_namespace", "Acme.User.V1", "Acme.User.V2Alpha"),
            ("csharp_namespace", "Acme.UserV1.Types", "Acme.UserV2Alpha.Types"),
            ("csharp_namespace", "Acme.Everything", "Acme.Everything.V2Alpha"),
            ("php_namespace", "Acme\\\\User\\\\V1", "Acme\\\\User\\\\V2Alpha"),
            ("php_namespace", "Acme\\\\User", "Acme\\\\User\\\\V2Alpha"),
            ("ruby_package", "Acme::User::V1", "Acme::User::V2Alpha"),
            ("ruby_package", "Acme::User", "Acme::User::V2Alpha"),
            ("objc_class_prefix", "AUSR", "AUSRV2A"),
            ("objc_class_prefix", "AUSRV1", "AUSRV2A"),
            ("objc_class_prefix", "AUSRV10", "AUSRV10V2A"),
            ("objc_class_prefix", "", ""),
            ("swift_prefix", "AcmeUserV1_", "AcmeUserV2A_"),
        ] {
            assert_eq!(to(option, value), expected);
        }
        let moved = after(
            "go_package",
            "x.org/go/envoy/api/v2/core;envoy_api_v2_core",
            "envoy.api.v2.core",
            "envoy.config.core.v3",
        );
        assert_eq!(moved, "x.org/go/envoy/config/core/v3;envoy_config_core_v3");
    }

    #[test]
    fn a_candidate_that_becomes_stable_is_named_as_if_made_from_its_source() {
        for (option, value) in [
            ("csharp_namespace", "Acme.User"),
            ("go_package", "example.com/user/v2/apiv1/userpb;userpb"),
            ("go_package", "example.com/users;users"),
            ("java_package", "com.acme.user.v1"),
            ("objc_class_prefix", "AUSRV1"),
            ("objc_class_prefix", "AUSR"),
            ("php_namespace", "Acme\\\\User\\\\V1"),
            ("ruby_package", "Acme::User::V1"),
        ] {
            let candidate = after(option, value, "acme.user.v1", "acme.user.v2alpha");
            let stable = after(option, &candidate, "acme.user.v2alpha", "acme.user.v2");
            assert_eq!(stable, after(option, value, "acme.user.v1", "acme.user.v2"), "{option}");
        }
    }
}
